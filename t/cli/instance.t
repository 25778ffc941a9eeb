#!/usr/bin/perl
# export, plan and apply: the instance as files (doc/design/instance.md), on the database and over the API.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my %way   = ( database => [ [], $env ], API => [ [ '--server', $stack->base ], $far ] );
my $json  = JSON::PP->new->canonical->utf8;

my $rule = qq{package custom.issue\n\ndeny contains "closed" if {\n\tinput.client.id == "closed"\n}\n};

sub slurp { open my $in, '<:raw', $_[0] or die "$_[0]: $!"; local $/ = undef; return readline $in }

sub spew {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    return close $out;
}

# All files of a directory, as one text.
sub whole {
    my ($dir) = @_;
    return Authz::Process->run(
        name    => 'files',
        command => [ "sh", "-c", "cd '$dir' && find . -type f | sort | xargs sha256sum" ] );
}

# A directory of an owner with these objects, KIND/KEY => {...}, and files below policy.
sub instance {
    my ( $owner, %file ) = @_;
    return tree(
        'instance.json' => $json->encode( { format => 1, owner => $owner } ),
        map { $_ => ref $file{$_} ? $json->encode( $file{$_} ) : $file{$_} } keys %file );
}

sub client { my ($id) = @_; return $stack->admin( GET => "/admin/api/clients/$id" ) }

for my $way ( sort keys %way ) {
    my ( $more, $set ) = @{ $way{$way} };
    my $p   = lc $way;
    my $run = sub {
        my ( $status, $name, @words ) = @_;
        return ctl_is( $status, [ @words, @$more ], "$way: $name", env => $set );
    };
    my $dir = instance(
        "$p-team",
        "clients/$p-shop.json" =>
          { clientType => 'confidential', clientName => 'Shop', redirectUris => ['https://shop.example/cb'] },
        "policy/custom/$p.rego"                      => $rule =~ s/custom[.]issue/custom.$p/r,
        'policy/data/svc.entitlements.bindings.json' =>
          { clients => { "$p-shop" => { grants => ['client_credentials'], scopes => ['read'] } } } );
    my $plan = $run->( 2, 'plan --check tells what would change (F6)', 'plan', '--check', $dir );
    like( $plan->{out}, qr/^create client $p-shop$/m,                                        '... the client' );
    like( $plan->{out}, qr/^create entry svc[.]entitlements[.]bindings\/clients\/$p-shop$/m, '... its binding' );
    is( client("$p-shop")->status, 404, '... and changes nothing' );
    my $done = $run->( 0, 'apply (F7)', 'apply', $dir );
    like(
        $done->{out}, qr/^client $p-shop: clientSecret (\S+) \(shown this once\)$/m,
        '... shows the secret of a new client (F4)' );
    my ($secret) = $done->{out} =~ /clientSecret (\S+)/;
    is( $stack->token( "$p-shop", $secret, scope => 'read' )->status, 200, '... the client works, with its binding' );
    my $after = $run->( 0, 'plan_after_apply_empty (F6)', 'plan', '--check', $dir );
    like(
        $after->{out}, qr/\A0 to create, 0 to change, 0 to adopt, 0 to approve, 0 stray, 3 same\n\z/,
        '... has no step' );

    my $one = Authz::Process::directory() . "/$p-one";
    $run->( 0, 'export (F2)', 'export', '--owner', "$p-all", $one );
    ok( !-e "$one/clients/$p-shop.json", '... leaves the objects of other owners out' );
    $run->( 0, 'export of the owner', 'export', '--owner', "$p-team", "$one-a" );
    $run->( 0, 'export again',        'export', '--owner', "$p-team", "$one-b" );
    is( whole("$one-a"), whole("$one-b"), "$way: export_twice_equal (F2)" );
    unlike(
        slurp("$one-a/clients/$p-shop.json"), qr/Secret"|"id"|registrationType/,
        '... without secrets and what the service sets' );
}

done_testing;

#!/usr/bin/perl
# entitle and unentitle: they write the binding of one client, on the database or over the API, and lose no word of another.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start;
my $url   = $stack->base;
my $env   = $stack->settings;
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my %way   = ( database => [ [], $env ], API => [ [ '--server', $url ], $far ] );
my $row   = 'svc.entitlements.bindings';

sub binding {
    my ($client) = @_;
    return ctl( [ qw(policy data get), $row ], env => $env )->{json}{clients}{$client};
}

for my $way ( sort keys %way ) {
    my ( $more, $set ) = @{ $way{$way} };
    my $app = lc "$way-app";
    my ( $id, $secret ) = $stack->make_client($app);
    my $run = sub {
        my ( $status, $words, $name, @in ) = @_;
        return ctl_is( $status, [ split( / /, $words =~ s/APP/$app/r ), @$more, @in ], "$way: $name", env => $set );
    };

    is( $stack->token( $id, $secret, scope => 'read' )->member('error'), 'unauthorized_client',
        "$way: a new client gets nothing" );
    my $first = $run->( 0, 'entitle APP --grant client_credentials --scope read --scope write', 'entitle' );
    like( $first->{out}, qr/\A[0-9a-f]{32} confirmed\n\z/, '... prints the revision, which is active' );
    is( $stack->token( $id, $secret, scope => 'read' )->status, 200, '... so the next line can get a token' );
    is_deeply(
        binding($app), { grants => ['client_credentials'], scopes => [ 'read', 'write' ] },
        '... and the binding has the words' );
    $run->( 0, 'entitle APP --resource https://a.example --endpoint introspect', 'more' );
    is_deeply(
        binding($app),
        {   grants    => ['client_credentials'], scopes => [ 'read', 'write' ], resources => ['https://a.example'],
            endpoints => ['introspect'] },
        '... is added to what is there' );
    my $same = $run->( 0, 'entitle APP --scope read', 'a right that the client has' );
    like( $same->{out}, qr/\Anothing to change: client \S+ has these rights already\n\z/, '... is not written again' );
    is( $run->( 0, 'entitle APP --scope read --json', 'the same with --json' )->{json}{changed} ? 1 : 0, 0,
        '... says so' );

    my $bad = $run->( 1, 'entitle APP --grant password', 'a grant type that is none' );
    like( $bad->{err}, qr{^authzctl: entitle: /clients/\Q$app\E/grants[^\n]+$}m, '... is refused with its path' );
    like( $bad->{err}, qr/nothing was changed\n\z/,                              '... and nothing changes' );
    $run->( 1, 'entitle nobody --scope read', 'a client that does not exist' );
    is( binding('nobody'), undef, '... gets no binding' );
    $run->( 64, 'entitle APP',                      'no right at all' );
    $run->( 64, 'unentitle APP',                    'unentitle without a right' );
    $run->( 64, 'unentitle APP --all --scope read', 'unentitle with --all and a right' );

    $run->( 0, 'unentitle APP --scope write --endpoint introspect', 'unentitle' );
    is_deeply(
        binding($app), { grants => ['client_credentials'], scopes => ['read'], resources => ['https://a.example'] },
        '... removes the words, and a list that becomes empty' );
    is( $stack->token( $id, $secret, scope => 'write' )->member('error'), 'invalid_scope', '... at once' );
    is( $stack->token( $id, $secret, scope => 'read' )->status,           200,             '... and nothing else' );
    like(
        $run->( 0, 'unentitle APP --scope other', 'a right that the client has not' )->{out},
        qr/\Anothing to change/, '... is no change' );
    my $alone = $run->( 0, 'entitle APP --gateway-scope github:*', 'scopes of managed resources' );
    like(
        $alone->{err}, qr/^authzctl: entitle: warning: .*`authzctl entitle \Q$app\E --resource urn:svc:gateway`$/m,
        '... without the resource that they need: a warning' );
    my @gateway = ( resource => "$url/gateway/mcp/github", scope => 'github:read' );
    like(
        $stack->token( $id, $secret, @gateway )->member('error_description'),
        qr/gateway_scopes, but not the resource urn:svc:gateway/,
        '... and the token request says which entry is missing' );
    is( $run->( 0, 'entitle APP --gateway-scope * --resource urn:svc:gateway', 'both' )->{err}, '', '... no warning' );
    is_deeply( binding($app)->{gateway_scopes}, [ 'github:*', '*' ], '... and both are stored' );
    is( $stack->token( $id, $secret, @gateway )->status, 200, '... and there is a token' );
    $run->( 1, 'entitle APP --gateway-scope github:read', 'a scope without an asterisk' );
    $run->( 0, 'unentitle APP --all',                     'unentitle --all' );
    is( binding($app), undef, '... removes the binding' );
}

# Several at once: each reads, changes and writes, and none may undo another.
my @clients = map {"race$_"} 1 .. 3;
$stack->make_client($_) for @clients;
my @child;
for my $turn ( 1 .. 6 ) {
    my $client = $clients[ $turn % 2 ];    # three of them on the same client
    my ( $more, $set ) = @{ $way{ $turn % 3 ? 'database' : 'API' } };
    my $pid = fork // die "fork: $!";
    if ( $pid == 0 ) {
        delete @ENV{ grep {/^SVC_/} keys %ENV };
        @ENV{ keys %$set } = values %$set;
        open STDOUT, '>', '/dev/null' or exit 9;
        exec Authz::Path::program('authzctl'), 'entitle', $client, '--scope', "s$turn", @$more or exit 9;
    }
    push @child, $pid;
}
my @status = map { waitpid $_, 0; $? >> 8 } @child;
is_deeply( \@status,                                 [ (0) x 6 ],    'six entitle at once all succeed' );
is_deeply( [ sort @{ binding('race2')->{scopes} } ], [qw(s1 s3 s5)], '... and lose no word of the one client' );
is_deeply( [ sort @{ binding('race1')->{scopes} } ], [qw(s2 s4 s6)], '... nor of the other' );

done_testing;

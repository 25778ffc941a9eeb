# Trials of policy that people ask for have places (policy.md 7.3): many at once, as an auditor's key may ask for, leave the workers
# of the pool that serves sign-ins, and those of /token, free. A save needs no place.
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Check;
use Authz::Mcp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $WORKERS = 8;                             # of the pool web
my $PLACES  = $WORKERS / 4;                  # TRIAL_PLACE_WORKERS
my $dir     = Authz::Process::directory();
my ( $opa, $begun, $go ) = map {"$dir/$_"} qw(opa begun go);

# The program of the trials: an engine begins when the test says so, and counts.
my $real = Authz::Path::opa();
open my $out, '>', $opa or die "$opa: $!";
print {$out} <<"END";
#!/bin/sh
if [ "\$1" = run ]; then
    echo begun >>'$begun'
    while [ ! -e '$go' ]; do /bin/sleep 0.05; done
fi
exec '$real' "\$@"
END
close $out or die "$opa: $!";
chmod 0755, $opa or die "$opa: $!";

my $stack  = Authz::Stack->start( gateway => 1, settings => { SVC_OPA_BINARY => $opa } );
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my $client = $stack->client;
my $auditor =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'audit', role => 'auditor' } )->member('key');
my $where   = '/admin/api/policy-rules/evaluate';
my %trial   = ( path    => 'svc/decision/issue', input => {} );
my %changes = ( changes => { rules => [ { path => 'custom/a.rego', content => "package custom.a\n\na := 1\n" } ] } );
my $tool    = '/admin/api/managed-resources/crm/tools/find/try';
my %call    = ( clientId => 'agent', arguments => {} );
Authz::Mcp->new($stack)->resource(
    'crm',
    upstreamType => 'REST', upstreamUrl => 'https://crm.example',
    routes       => [ { id   => 'find', path  => '/find' } ],
    tools        => [ { name => 'find', route => 'find', inputSchema => { type => 'object' } } ] );
is( scalar( $stack->workers('web') ), $WORKERS, 'the pool has so many workers' );

sub ask { my ( $target, $body ) = @_; return $stack->admin( POST => $target, json => $body, key => $auditor ) }

sub begin_trial {
    return $client->begin(
        $client->octets(
            POST    => $where, json => \%trial,
            headers => [ 'X-Admin-API-Key' => $auditor ],
            close   => 1 ) );
}

sub begun {
    open my $in, '<', $begun or return 0;
    return scalar( () = <$in> );
}

sub is_refused {
    my ( $answer, $name ) = @_;
    admin_error(
        $answer, 503, $name,
        error   => 'temporarily_unavailable',
        members => { error_description => 'Other trials of policy are under way; try again' } );
    return ok( $answer->header('Retry-After'), '... with Retry-After' );
}

my @under_way = map { begin_trial() } 1 .. $PLACES;
ok( defined Authz::Process::until_true( 8, sub { begun() == $PLACES } ),
    "as many trials as there are places: $PLACES" );
is_refused( ask( $where, \%trial ),              'limit: one more is 503' );
is_refused( ask( $where, { %trial, %changes } ), '... of a change too' );
is_refused(
    ask( '/admin/api/policy-bundle/deploy', { mode => 'dry-run', %{ $changes{changes} } } ),
    '... a rehearsal' );
is_refused( ask( '/admin/api/policy-impact', $changes{changes} ), '... and a measurement' );
is_refused( ask( $tool,                      \%call ),            '... and of a tool' );
is_refused( $client->end( $_, 'POST' ), '... each of many at once' ) for map { begin_trial() } 1 .. 2 * $WORKERS;
my $longest = 0;
for my $n ( 1 .. 20 ) {
    my $began = time;
    my @got   = ( $stack->token(@crm)->status, $stack->http->get('/authorize')->status );
    $longest = time - $began if time - $began > $longest;
    is( "@got", '200 400', "/token and /authorize answer meanwhile, $n" );
}
is( begun(), $PLACES, '... while the trials are under way' );
note("the longest pair took $longest s");
is( $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path?path=custom/b.rego',
        json => { path => 'custom/b.rego', kind => 'rego', version => '1', content => "package custom.b\n\nb := 1\n" }
    )->status,
    201,
    '... and a save needs no place: no auditor keeps an operator from it' );
open $out, '>', $go or die "$go: $!";
close $out;
is( $client->end( $_, 'POST' )->status, 200, 'a trial ends' ) for @under_way;
is( ask( $where, \%trial )->status,              200, '... and its place is free' );
is( ask( $where, { %trial, %changes } )->status, 200, '... for a change' );
is( ask( $tool,  \%call )->status,               200, '... for a tool' );
is( ask( '/admin/api/policy-bundle/deploy', { mode => 'dry-run', %{ $changes{changes} } } )->status,
    200, '... and for a rehearsal' );

# ---- a trial that hangs or eats memory ends in a process of its own

my @before = sort { $a <=> $b } $stack->workers('web');
for my $case (
    [ 'hangs'       => 'deny contains "x" if bits.lsh(1, 2000000000) < 0' ],
    [ 'eats memory' => 'deny contains "x" if count([x | x := numbers.range(1, 100000000)[_]]) < 0' ],
  )
{
    my ( $name, $line ) = @$case;
    my $content = "package custom.issue\n\n$line\n";
    my $answer =
      ask( $where, { %trial, changes => { rules => [ { path => 'custom/issue/x.rego', content => $content } ] } } );
    admin_error(
        $answer, 422, "a change that $name is answered with rule and line",
        error   => 'evaluation_failed',
        members => { error_description => qr{\Acustom/issue/x\.rego:3: } } );
    is( $stack->token(@crm)->status, 200, '... and decisions go on' );
}
is_deeply( [ sort { $a <=> $b } $stack->workers('web') ], \@before, 'no worker ended' );

done_testing;

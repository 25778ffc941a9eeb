# Calls at once to a resource whose shared token expired: one worker fetches, the others wait for it (gateway-admin.md 3.3).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 10,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $gateway = Authz::Managed->new($stack);
$gateway->resource(
    'machine',
    upstreamUrl  => $peer->url,
    upstreamAuth => {
        type         => 'client_credentials', tokenEndpoint => $peer->url('/token'), clientId => 'gw',
        clientSecret => 's3cret-s3cret-s3cret' },
    routes => [ { id => 'all', methods => ['GET'], path => '/**' } ] );
$peer->set( '/who' => { body => 'you' } );

$gateway->token('machine');

# The statuses of eight calls at once, as text.
sub eight_calls {
    my @call = map {
        Authz::Process->start(
            name => "call$_",
            code => sub { print $gateway->ask( GET => 'machine', '/who' )->status, "\n" } )
    } 1 .. 8;
    $_->wait(60) for @call;
    return join ' ', map { ( $_->log_lines )[-1] // '-' } @call;
}

my $all = join ' ', (200) x 8;
my @good =
  map { { delay => 0.5, body => { access_token => "up-$_", token_type => 'Bearer', expires_in => 3600 } } } 1 .. 9;
$peer->set( '/token' => \@good );
is( eight_calls(),         $all, 'eight calls at once without a token are all served' );
is( $peer->hits('/token'), 1,    '... by one request to the token endpoint' );
$stack->sql(q{UPDATE upstream_token SET expires_at = now()});
is( eight_calls(),         $all, 'so are eight at once with an expired one' );
is( $peer->hits('/token'), 2,    '... by one more' );

$stack->sql(q{UPDATE upstream_token SET expires_at = now(), fetching_until = now() + interval '2 seconds'});
is( $gateway->ask( GET => 'machine', '/who' )->status, 200, 'a lease of a process that died ends' );
is( $peer->hits('/token'),                             3,   '... and the next call fetches' );

$stack->sql(q{UPDATE upstream_token SET expires_at = now()});
$peer->set( '/token' => { status => 503, body => 'busy' } );
is( $gateway->ask( GET => 'machine', '/who' )->status, 502, 'a token endpoint that fails: 502' );
is( $stack->sql(q{SELECT count(*) FROM upstream_token WHERE fetching_until IS NOT NULL}),
    0, '... and the lease is given back' );
$peer->set( '/token' => \@good );
is( $gateway->ask( GET => 'machine', '/who' )->status, 200, '... for the next call' );

done_testing;

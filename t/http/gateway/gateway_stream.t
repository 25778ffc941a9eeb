# A stream of an upstream ends with the token that opened it (gateway-admin.md 3.2 "Times").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost' } );
my $gate  = Authz::Managed->new($stack);
$gate->resource( 'events', upstreamUrl => $peer->url, routes => [ { id => 'all', path => '/**' } ] );
$peer->set( '/slow' => { type => 'text/event-stream', body => "data: x\n\n" x 100, drip => 0.02 } );

# Access tokens of four seconds.
$stack->bind( 'agent', { ttl => 4 } );
$gate->token('events');
my $began = time;
$gate->ask( GET => 'events', '/slow' );
my $took = time - $began;
cmp_ok( $took, '<', 9,   'a stream of 18 s ends when its token expires' );
cmp_ok( $took, '>', 1.5, '... and not before' );
is( $gate->ask( GET => 'events', '/slow' )->status, 401, '... which opens no other' );

done_testing;

# A stream of an upstream ends with the token that opened it, and when the caller would not be let in any more (gateway-admin.md
# 3.2 "Times").
use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start( gateway => 12, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost' } );
my $gate  = Authz::Managed->new($stack);
my @route = ( routes => [ { id => 'all', path => '/**' } ] );
$gate->resource( 'events', upstreamUrl => $peer->url, @route );
$peer->set(
    '/slow' => { type => 'text/event-stream', body => "data: x\n\n" x 100, drip => 0.02 },
    '/long' => { type => 'text/event-stream', body => "data: x\n\n" x 100, drip => 0.06 } );

# Each case has a client and a resource of its own, because each has a share of the places. The resource is looked at every 20 s.
my %case = map {
    my $own = Authz::Managed->new( $stack, client => "agent-$_" );
    $own->resource( $_, upstreamUrl => $peer->url, @route );
    $own->token($_);
    ( $_ => { gate => $own } );
} qw(kept revoked client entitlement resource rule changed redacted);

sub open_stream {
    my ($name) = @_;
    my $one    = $case{$name};
    my $token  = $one->{gate}->token($name);
    $one->{socket} = IO::Socket::INET->new( PeerAddr => $stack->base =~ s{\Ahttp://}{}r ) or die "connect: $!";
    print { $one->{socket} } "GET /gateway/$name/long HTTP/1.1\r\nHost: "
      . ( $stack->base =~ s{\Ahttp://}{}r )
      . "\r\nAuthorization: Bearer $token\r\nConnection: close\r\n\r\n";
    return;
}
open_stream($_) for sort keys %case;

# Reads until each stream has begun, or has ended, or the time is over.
sub drain {
    my ( $seconds, $begun ) = @_;
    my $until = time + $seconds;
    while ( time < $until ) {
        my @open = grep { !$_->{ended} && !( $begun && ( $_->{text} // '' ) =~ /data: x/ ) } values %case;
        last if !@open || ( @open == 1 && !$begun );    # one is kept
        for my $socket ( IO::Select->new( map { $_->{socket} } @open )->can_read(0.5) ) {
            my ($one) = grep { $_->{socket} == $socket } @open;
            my $got   = sysread $socket, my $part, 65536;
            $one->{text} .= $part // '';
            $one->{ended} = time if !$got;
        }
    }
    return;
}
drain( 10, 1 );
like( $case{$_}{text}, qr/\AHTTP\S+ 200 .*data: x/s, "$_: the stream runs" ) for sort keys %case;

my $began = time;
$stack->revoke( @{ $case{revoked}{gate}{client} }, token => $case{revoked}{gate}->token('revoked') );
my $document = $stack->admin( GET => '/admin/api/clients/agent-client' )->json;
is( $stack->admin( PUT => '/admin/api/clients/agent-client', json => { %$document, enabled => JSON::PP::false() } )
      ->status,
    200, 'a client is disabled' );
$stack->bind( 'agent-entitlement', { scopes => undef, resources => undef } );
$gate->resource( 'resource', upstreamUrl => $peer->url, @route, enabled => JSON::PP::false() );
$gate->resource(
    'changed', upstreamUrl => $peer->url,
    routes => [ { id => 'all', path => '/**', scopes => ['other'] } ] );
my $rule = "package custom.gateway\n\ndeny contains \"not_now\" if input.resource.name == \"rule\"\n"
  . "obligations := {\"redact\": [\"/body/x\"]} if input.resource.name == \"redacted\"\n";
like(
    $stack->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
            content => $rule } )->status,
    qr/\A201\z/,
    'a rule of the operator' );

# A stream has 54 s; looks are 20 s apart.
drain( 40, 0 );
for my $name (qw(revoked client entitlement resource rule changed redacted)) {
    ok( $case{$name}{ended} && $case{$name}{ended} - $began < 32, "$name: the stream was ended" );
    unlike( $case{$name}{text}, qr/(?:data: x\s+){99}/, '... before the upstream did' );
    next if $name eq 'redacted';    # the next answer is redacted
    is( $case{$name}{gate}->ask( GET => $name, '/long' )->status =~ /\A40[134]\z/ ? 1 : 0, 1,
        '... and opens no other' );
}
ok( !$case{kept}{ended}, 'a stream of a caller who may still call goes on' );
$case{kept}{socket}->close;

# Access tokens of four seconds.
$stack->bind( 'agent', { ttl => 4 } );
$gate->token('events');
$began = time;
$gate->ask( GET => 'events', '/slow' );
my $took = time - $began;
cmp_ok( $took, '<', 9,   'a stream of 18 s ends when its token expires' );
cmp_ok( $took, '>', 1.5, '... and not before' );
is( $gate->ask( GET => 'events', '/slow' )->status, 401, '... which opens no other' );

done_testing;

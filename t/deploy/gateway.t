# Requests to managed resources behind each web server: raw paths, large bodies, answers that stream, and callers that leave
# (gateway-admin.md 7.2).
use strict;
use warnings;

use IO::Socket::INET ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $peer  = Authz::Peer->start;
my $large = join( '', map { chr( 33 + $_ % 90 ) } 1 .. 1024 ) x 10_240;

# Send a request with the token and return the connection.
sub opened {
    my ( $stack, $gateway, $name, $rest ) = @_;
    my $socket = IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $stack->{port}, Proto => 'tcp' )
      or die "connect: $!";
    print {$socket} 'GET ', $gateway->target( $name, $rest ), " HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ",
      $gateway->token($name), "\r\nConnection: close\r\n\r\n";
    return $socket;
}

# Read from a connection until the text has what the pattern says; the seconds that took, undef at the end of the connection.
sub read_until {
    my ( $socket, $text, $pattern ) = @_;
    my $began = time;
    while ( $$text !~ $pattern ) { sysread( $socket, $$text, 65536, length $$text ) or return }
    return time - $began;
}

$peer->set(
    '/a%2Fb/c~.inc' => { type    => 'text/plain', body => 'raw' },
    '/up'           => { body    => { ok => 1 } },
    '/large'        => { type    => 'application/octet-stream', body    => $large },
    '/drip'         => { type    => 'text/event-stream',        endless => 1, body => "data: 1\n\n", drip => 0.01 },
    '/stall'        => { type    => 'text/plain',               body    => 'x' x 10,  stall   => 4 },
    '/silent'       => { type    => 'text/event-stream',        body    => 'data: 1', chunked => 1, stall => 0 },
    '/endless'      => { endless => 1,                          body    => 'x' x 5000 },
    '/orders'       => {
        type    => 'text/plain', body => 'hello',
        headers => [
            'X-Sendfile' => '/etc/passwd', 'X-LIGHTTPD-send-file' => '/etc/passwd', Location => '/health/live',
            Status       => '404' ] },
);

for my $web (qw(lighttpd apache apache-fcgid)) {
    my $stack = Authz::Stack->start(
        web      => $web, workers => 4, $web =~ /fcgid/ ? ( not_ready => 1 ) : ( gateway => 12 ),
        settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost', SVC_GATEWAY_RESPONSE_TIMEOUT => '20s' } );
    if ( $web =~ /fcgid/ ) {
        sleep 0.05 while !-S $stack->{opa_socket};
        Authz::Web::give_to_apache( $stack->{opa_socket} );
        $stack->await_ready;
    }
    my $gateway = Authz::Managed->new($stack);
    $gateway->resource(
        'up', upstreamUrl => $peer->url,
        routes => [ { id => 'all', path => '/**', methods => [ 'GET', 'POST' ] } ] );

    my $answer = $gateway->ask( GET => 'up', '/a%2Fb/c~.inc' );
    is( $answer->body, 'raw', "$web: an encoded slash and names that the server usually denies arrive as they are" )
      or diag $answer->text;
    $answer = $gateway->ask( GET => 'up', '/orders' );
    is_deeply(
        [ $answer->status, $answer->body ], [ 200, 'hello' ],
        "$web: an upstream gives no commands to the web server" );
    $answer = $gateway->ask( POST => 'up', '/up', headers => [ 'Content-Type' => 'a/b' ], body => $large );
    is( $answer->status, 200, "$web: a body of 10 MB" ) or diag $answer->text;
    ok( ( $peer->requests('/up') )[-1]{body} eq $large, "$web: ... arrives" );
    my $hits = $peer->hits('/up');
    is( $gateway->ask( POST => 'up', '/up', headers => [ 'Content-Type' => 'a/b' ], body => "${large}x" )->status, 413,
        "$web: one octet more: 413" );
    is( $peer->hits('/up'), $hits, "$web: ... and the upstream sees nothing of it" );
    $peer->forget;
    $answer = $gateway->ask( GET => 'up', '/large' );
    ok( $answer->body eq $large, "$web: an answer of 10 MB" );

    my $text   = '';
    my $socket = opened( $stack, $gateway, 'up', '/stall' );
    my $took   = read_until( $socket, \$text, qr/\r\n\r\n.*xxxx/s );
    ok( defined $took && $took < 10, "$web: what an upstream has sent arrives before the rest is there" ) or diag $text;
    close $socket;

    # Apache holds the head back until the first octet of the body.
    if ( $web eq 'lighttpd' ) {
        $text   = '';
        $socket = opened( $stack, $gateway, 'up', '/silent' );
        $took   = read_until( $socket, \$text, qr/\r\n\r\n/ );
        ok( defined $took && $took < 10, "$web: the head of a stream of events arrives before the first event" )
          or diag $text;
        close $socket;
    }
    $text   = '';
    $socket = opened( $stack, $gateway, 'up', '/endless' );
    1 while sysread $socket, $text, 65536, length $text;
    my $body = length( ( split /\r\n\r\n/, $text, 2 )[1] // '' );
    ok( $body > 9_000_000 && $body < 11_000_000, "$web: an endless answer is cut off at the limit" ) or diag $body;

    # mod_fcgid ends an answer that a worker cut off as if it were complete.
    unlike( $text, qr/\r\n0\r\n\r\n\z/, "$web: ... and does not look complete" ) if $web !~ /fcgid/;

    # A web server notices a client that has left when it passes something on.
    if ( $web !~ /fcgid/ ) {
        my $before = () = $stack->{service}->log_text =~ /the reader of the answer has gone/g;
        $text   = '';
        $socket = opened( $stack, $gateway, 'up', '/drip' );
        read_until( $socket, \$text, qr/\r\n\r\n.{20}/s );
        close $socket;
        my $seconds = Authz::Process::until_true(
            15,
            sub {
                my $after = () =
                  $stack->{service}->log_text =~ /the reader of the answer has gone|the caller has gone/g;
                return $after > $before;
            } );
        ok( defined $seconds, "$web: a caller that leaves ends the request to the upstream" );
    }
    $_->stop for grep {defined} @{$stack}{qw(opa service server)};
}

done_testing;

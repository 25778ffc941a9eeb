# One exchange of the gateway with an upstream that misbehaves: addresses, time and size limits, framing, connections
# (gateway-admin.md 3.2, decisions.md "Gateway", RFC 9112; SSRF: CVE-2026-1180).
use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Path    ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Server  ();
use Authz::Stack   ();
use Authz::Web     ();

my $peer  = Authz::Peer->start;
my $base  = Authz::Stack::base_settings('postgresql:///none');
my %local = ( SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' );

# Sends requests by one worker; the results. An option `env` in the first one holds for the process.
sub sent {
    my @plan = @_;
    my $env  = delete $plan[0]{env} // \%local;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'upstreamer', env => { %$base, %$env },
        command => [
            Authz::Path::program('t/http/upstreamer'),
            map { JSON::PP->new->canonical->encode( { origin => $peer->url, %$_ } ) } @plan ] );
    die "upstreamer: $status $text" if $status != 0;
    my @answer = map { JSON::PP::decode_json($_) } grep {/^\{/} split /\n/, $text;
    return wantarray ? @answer : $answer[0];
}

sub fails {
    my ( $plan, $error, $name, $detail ) = @_;
    my $seen = sent($plan);
    my $good = is( $seen->{error}, $error, $name );
    $good &&= like( $seen->{detail}, $detail, '... and says why' ) if $detail;
    diag( $seen->{detail} )                                        if !$good;
    return $seen;
}

my ( $UNREACHABLE, $INVALID, $TIMEOUT ) = qw(upstream_unreachable upstream_invalid_response upstream_timeout);

# ---- an answer

$peer->set(
    '/a' => {
        type    => 'text/plain; charset=utf-8', body => 'hello',
        headers => [ ETag => '"1"', 'Set-Cookie' => 'a=b', 'X-Sendfile' => '/etc/passwd' ] },
    '/none'     => { status => 204, type    => '' },
    '/redirect' => { status => 302, headers => [ Location => 'https://other.example/' ], body => '' },
    '/error'    => { status => 500, body    => 'x' },
);
my $seen = sent( { target => '/a?b=%2F', fields => [ [ 'X-One' => 'two' ] ] } );
is_deeply(
    [ @{$seen}{qw(error http type body octets announced)} ], [ '', 200, 'text/plain', 'hello', 5, 5 ],
    'an answer: status, type, body and length' );
is_deeply( [ sort map { $_->[0] } @{ $seen->{fields} } ], ['ETag'], '... and the fields that may pass' );
my ($asked) = $peer->requests('/a');
is( $asked->{target}, '/a?b=%2F', 'the target is sent as it was built' );
is_deeply(
    [ sort keys %{ $asked->{headers} } ], [qw(host user-agent x-one)],
    'a request has Host, User-Agent and the fields that were given, nothing else' );
like( $asked->{headers}{'user-agent'}, qr{\Aauthz/\S+\z}, 'User-Agent names the product' );
is_deeply( [ @{ sent( { target => '/none' } ) }{qw(http octets)} ], [ 204, 0 ], 'an answer without a body' );
$seen = sent( { target => '/redirect' } );
is_deeply(
    [ $seen->{http}, $seen->{fields} ], [ 302, [ [ Location => 'https://other.example/' ] ] ],
    'a redirect is returned and not followed' );
is( sent( { target => '/error' } )->{http}, 500, 'an error of the upstream is an answer' );
is_deeply(
    [ @{ sent( { target => '/a', method => 'HEAD', max_answer => 1 } ) }{qw(error http octets announced)} ],
    [ '', 200, 0, 5 ], 'HEAD has a length but no body' );

# ---- bodies up

$peer->set( '/up' => { body => 'ok' } );
sub last_up { return ( $peer->requests('/up') )[-1] }
for my $method (qw(POST PUT PATCH DELETE)) {
    sent( { target => '/up', method => $method, body => 'abc', fields => [ [ 'Content-Type' => 'x/y' ] ] } );
    is_deeply(
        [ last_up()->{method}, last_up()->{body}, @{ last_up()->{headers} }{qw(content-type content-length expect)} ],
        [ $method, 'abc', 'x/y', 3, undef ], "a body in memory is sent with $method" );
}
sent( { target => '/up', method => 'POST' } );
is_deeply(
    [ @{ last_up()->{headers} }{qw(content-length content-type transfer-encoding)} ], [ 0, undef, undef ],
    'POST without a body has length 0 and no Content-Type (RFC 9110 8.6)' );
sent( { target => '/up', method => 'DELETE' } );
is( last_up()->{headers}{'content-length'}, undef, 'DELETE without a body has no length' );
my $large = 'x' x 50_000;
sent( { target => '/up', method => 'PUT', stream => $large, announced => 50_000 } );
is_deeply(
    [ last_up()->{body} eq $large, last_up()->{headers}{'content-length'} ], [ 1, 50_000 ],
    'a stream of announced length is sent with that length' );
sent( { target => '/up', method => 'PUT', stream => $large } );
is_deeply(
    [ last_up()->{body} eq $large, last_up()->{headers}{'transfer-encoding'} ], [ 1, 'chunked' ],
    '... and one of unknown length in chunks' );
$seen = sent( { target => '/up', method => 'PUT', stream => $large, max_body => 50_000 } );
is( $seen->{error}, '', 'the largest body passes' );
my $hits = $peer->hits('/up');
fails(
    { target => '/up', method => 'PUT', stream => $large, max_body => 49_999 },
    'invalid_request', 'one octet more is refused: 413', qr/passed the limit/ );
fails(
    { target => '/up', method => 'PUT', stream => $large, announced => 50_001 },
    'invalid_request', 'a stream that ends early is refused' );
fails(
    { target => '/up', method => 'PUT', stream => $large, short => JSON::PP::true() },
    'invalid_request', '... and one whose sender goes' );
is( $peer->hits('/up'), $hits, '... and the upstream never takes a part for the whole' );

# ---- whom we ask

my $port = $peer->port;
my $shut = Authz::Web::free_port();
fails( { target => '/a', env => {} }, $UNREACHABLE, 'a private address is refused', qr/private or other special/ );
for my $host ( '127.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0', '10.0.0.1', '100.64.0.1', '192.168.0.1' ) {
    fails(
        { origin => "http://$host:$port", env => {} }, $UNREACHABLE, "$host is refused",
        qr/private or other special/ );
}
for my $host (
    '169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]', '[fd00:ec2::254]', '168.63.129.16',
    '100.100.100.200' )
{
    fails(
        {   origin => "http://$host:$port", connect_ms => 300,
            env    => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => $host } },
        $UNREACHABLE,
        "$host is refused although it is listed",
        qr/private or other special/ );
}
is( sent( { origin => "http://127.0.0.1:$port", target => '/a' } )->{http}, 200, 'a listed private address is asked' );
$seen = fails( { origin => "http://127.0.0.1:$shut" }, $UNREACHABLE, 'refused: 502' );
ok( !$seen->{connected}, '... and it is known that nothing was sent' );
fails( { origin => 'http://nowhere.invalid' }, $UNREACHABLE, 'a name without an address: 502' );
is( sent(
        {   target => '/a',
            env    => { %local, http_proxy => "http://127.0.0.1:$shut", ALL_PROXY => "http://127.0.0.1:$shut" } }
    )->{http},
    200,
    'proxy variables are ignored' );
my $tls = Authz::Peer->start( tls => 1 );
$tls->set( '/a' => { body => 'tls' } );
my %ca = ( %local, SVC_SAFE_HTTP_CA_FILE => Authz::Peer::ca_file() );
is( sent( { origin => $tls->url, target => '/a', env => \%ca } )->{body}, 'tls',
    'TLS with a certificate of the authority' );
fails( { origin => $tls->url, target => '/a' }, $UNREACHABLE, 'another certificate: 502', qr/certificate/i );

# ---- hostile heads

my %raw = (
    'a CR in a value'        => "HTTP/1.1 200 OK\r\nX: a\rSet-Cookie: b\r\n\r\n",
    'NUL in a value'         => "HTTP/1.1 200 OK\r\nX: a\0b\r\nContent-Length: 0\r\n\r\n",
    'a folded line'          => "HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
    'a line without a colon' => "HTTP/1.1 200 OK\r\nhello\r\nContent-Length: 0\r\n\r\n",
    'two lengths'            => "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    'length and chunks'      => "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    'an unknown coding'      => "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
    'HTTP/0.9'               => "hello\r\n",
    'an upgrade'             => "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n",
    'an endless head'        => "HTTP/1.1 200 OK\r\n" . ( "X: " . 'a' x 1000 . "\r\n" ) x 40 . "\r\n",
    'too many fields'        => "HTTP/1.1 200 OK\r\n" . join( '', map {"X-$_: a\r\n"} 1 .. 65 ) . "\r\n",
    'a head that ends'       => "HTTP/1.1 200 OK\r\nX: a\r\n",
    'no answer'              => '',
);
for my $name ( sort keys %raw ) {
    $peer->set( '/raw' => length $raw{$name} ? { raw => $raw{$name} } : { close => 1 } );
    fails( { target => '/raw' }, $INVALID, "$name: 502" );
}
$peer->set( '/reset' => { reset => 1 } );
fails( { target => '/reset' }, $INVALID, 'a connection that is reset: 502' );
$peer->set( '/smuggle' =>
      { raw => "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil" } );
my @both = sent( { target => '/smuggle' }, { target => '/a' } );
is_deeply(
    [ map { $_->{body} } @both ], [ 'ok', 'hello' ],
    'what an upstream sends after an answer is not the answer to the next request' );

# ---- sizes down

$peer->set(
    '/ten'     => { body    => 'x' x 10 }, '/chunks' => { chunked => 1, body => 'x' x 10 },
    '/endless' => { endless => 1, body => 'x' x 5000 }, '/cut' => { body => 'x' x 10, truncate => 4 },
    '/bomb'    => { headers => [ 'Content-Encoding' => 'gzip' ], body => 'not unpacked' },
    '/closing' => { raw     => "HTTP/1.1 200 OK\r\n\r\n" . 'x' x 10 } );
is( sent( { target => '/ten', max_answer => 10 } )->{error}, '', 'the largest announced answer passes' );
$seen = fails(
    { target => '/ten', max_answer => 9 }, $INVALID, 'one octet more: 502, before anything is passed on',
    qr/too large/ );
is( $seen->{http}, undef, '... with nothing of it' );
for my $path ( '/chunks', '/closing' ) {
    is( sent( { target => $path, max_answer => 10 } )->{error}, '',
        "the largest answer of unknown length passes ($path)" );
    $seen = fails( { target => $path, max_answer => 9 }, $INVALID, '... one octet more is cut off', qr/too large/ );
    is( $seen->{octets}, 9, '... at the limit' );
}
$seen = fails( { target => '/endless', max_answer => 100_000_000 }, $INVALID, 'an endless stream ends at the limit' );
is( $seen->{octets}, 100_000_000, '... exactly' );
$seen = fails( { target => '/cut' }, $INVALID, 'an answer that breaks off is no answer' );
is( $seen->{octets},                       4,              '... after what came' );
is( sent( { target => '/bomb' } )->{body}, 'not unpacked', 'a content coding is not unpacked' );
$seen = sent( { target => '/endless', stop => 7000 } );
ok( $seen->{stopped} && $seen->{error} eq '', 'a sink that has enough ends the exchange' );

# ---- times

$peer->set(
    '/hang' => { delay => 8 }, '/slow' => { drip => 0.2, body => 'abc' }, '/stall' => { body => 'x' x 10, stall => 4 },
    '/pauses' => { raw => '' } );
$seen = fails( { target => '/hang', timeout_ms => 700, connect_ms => 100 }, $TIMEOUT, 'no head in time: 504' );
ok( $seen->{took} < 5000, '... after that time' );
fails( { target => '/slow', timeout_ms => 700, connect_ms => 100 }, $TIMEOUT, 'a head octet by octet: 504 too' );
$seen = fails( { target => '/stall', timeout_ms => 700 }, $TIMEOUT, 'a body that stops ends after the same time' );
is( $seen->{octets}, 4, '... with what came' );
$seen = fails( { target => '/hang', gone_ms => 300 }, 'invalid_request', 'a caller that goes ends the exchange' );
ok( $seen->{took} < 10_000, '... at once' );
my $full = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 1, Proto => 'tcp' );
my @fill = map { IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0 ) } 1 .. 8;
$seen = fails(
    { origin => 'http://127.0.0.1:' . $full->sockport, connect_ms => 500 }, $UNREACHABLE,
    'no connection in time: 502, not 504' );
ok( !$seen->{connected}, '... nothing was sent' );

# ---- connections

# A server whose answers say the number of their connection, and that closes each after so many requests.
sub counting {
    my ($each)  = @_;
    my $listen  = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 8, Proto => 'tcp' ) or die "listen: $!";
    my $process = Authz::Process->start(
        name => 'counting',
        code => sub {
            my ( $number, %of, %left ) = (0);
            my $select = IO::Select->new($listen);
            while ( my @ready = $select->can_read ) {
                for my $socket (@ready) {
                    if ( $socket == $listen ) {
                        my $client = $listen->accept or next;
                        $select->add($client);
                        ( $of{$client}, $left{$client} ) = ( ++$number, $each );
                        next;
                    }
                    my $request = Authz::Server::read_message($socket);
                    Authz::Server::put(
                        $socket,
                        sprintf( "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length $of{$socket}, $of{$socket} )
                    ) if $request;
                    next if $request && --$left{$socket} > 0;
                    $select->remove($socket);
                    close $socket;
                }
            }
        } );
    return ( 'http://127.0.0.1:' . $listen->sockport, $process );
}
my ( $origin, $counting ) = counting(100);

sub numbers {
    return join ' ', map { $_->{body} } sent( map { { origin => $origin, %$_ } } @_ );
}
is( numbers( {}, {}, {} ), '1 1 1', 'a connection is used again' );
is( numbers( {}, { private => JSON::PP::true() }, { private => JSON::PP::true() } ),
    '2 3 4', 'a request with a credential of the caller has one of its own (answers of one must not reach another)' );
like(
    numbers( {}, { method => 'POST' }, { method => 'PATCH' }, { method => 'PUT' }, {} ),
    qr{\A5 6 7 [567] [567]\z}, 'POST and PATCH have a new one, so that they are sent once (RFC 9110 9.2.2)' );
my $number = 8;
for my $method (qw(POST PUT PATCH DELETE)) {
    for my $body ( { body => 'a' }, { stream => 'a', announced => 1 }, { stream => 'a' } ) {
        my %with = ( method => $method, %$body );
        is( numbers( {}, \%with, {}, \%with, {} ),
            join( ' ', map { $number + $_ } 0, 1, 0, 2, 0 ),
            "$method with a body has a new one, and leaves it to nobody" );
        $number += 3;
    }
}
$counting->stop;
( $origin, $counting ) = counting(1);
is( numbers( {}, {}, { method => 'PUT' } ), '1 2 3', 'a kept connection that was closed is replaced' );
$counting->stop;

# ---- an upstream that answers without reading a body takes its octets for the next request (CWE-444)

# Such a server: it keeps to Connection: close (RFC 9112 9.6) if it is polite. Returns its origin, its process, and a function for the
# request lines that it read.
sub unread {
    my ($polite) = @_;
    my $listen   = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 64, Proto => 'tcp' ) or die "listen: $!";
    my $log      = Authz::Process::directory() . '/unread' . $listen->sockport;
    my $process  = Authz::Process->start(
        name => 'unread' . $listen->sockport,
        code => sub {
            Authz::Server::accept_each(
                $listen,
                sub {
                    my ($socket) = @_;
                    my $rest = '';
                    while (1) {
                        while ( $rest !~ /\r\n\r\n/ ) { sysread( $socket, $rest, 65536, length $rest ) or return }
                        $rest =~ s/\A(.*?)\r\n\r\n//s or return;
                        my ( $line, $fields ) = split /\r\n/, $1, 2;
                        my ($key) = ( $fields // '' ) =~ /^X-Key: (\w+)/mi;
                        open my $out, '>>', $log or die "$log: $!";
                        print {$out} "$line " . ( $key // '-' ) . "\n";
                        close $out or die "$log: $!";
                        my ($target) = $line =~ /\A\S+ (\S+)/;
                        Authz::Server::put(
                            $socket,        sprintf "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s",
                            length $target, $target );
                        return if $polite && ( $fields // '' ) =~ /^Connection: close\r?$/mi;
                    }
                } );
        } );
    my $lines = sub {
        open my $in, '<', $log or return;
        return map { s/ HTTP.1.1//r =~ s/\n//r } <$in>;
    };
    return ( 'http://127.0.0.1:' . $listen->sockport, $process, $lines );
}
my $hidden = "GET /admin HTTP/1.1\r\nHost: u\r\nX-Swallow: ";
for my $polite ( 1, 0 ) {
    my ( $at, $server, $lines ) = unread($polite);
    my @key = ( fields => [ [ 'X-Key' => 'shared' ] ] );
    my @seen;
    for my $method (qw(PUT DELETE POST PATCH)) {
        my %with = ( origin => $at, target => "/$method", method => $method, @key );
        push @seen, map { $_->{body} } sent(
            { %with, body => $hidden x 2 },
            { origin => $at, target => '/own', @key },
            { %with, stream => $hidden x 2, announced => length $hidden x 2 },
            { origin => $at, target => '/own', @key } );
    }
    is_deeply(
        \@seen, [ map { ( "/$_", '/own' ) x 2 } qw(PUT DELETE POST PATCH) ],
        'each caller gets the answer to its own request from an upstream that reads no body' );
    my @key_gone_astray = grep {m{ /admin shared}} $lines->();
    is_deeply( \@key_gone_astray, [], '... and our credential is in no request of such a body' );
    is_deeply(
        [ grep {m{/admin}} $lines->() ], [],
        '... which is no request to an upstream that keeps to Connection: close' ) if $polite;
    $server->stop;
}

done_testing;

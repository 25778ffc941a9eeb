# Requests to other servers, against one that misbehaves: allowed addresses, time and size limits, and the headers that are sent
# (architecture.md 7, specification 5.6, oauth.md 3.1 J8 and 3.2 CIMD; SSRF: CVE-2026-1180, CVE-2026-4366).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Path    ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my %local = ( SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true' );
my $peer  = Authz::Peer->start;
my $base  = Authz::Stack::base_settings('postgresql:///none');
my $shut  = Authz::Web::free_port();

sub command {
    my ( $word, %option ) = @_;
    return (
        name    => 'fetcher',
        env     => { %$base, $option{bare} ? () : %local, %{ $option{env} // {} } },
        command => [ Authz::Path::program('t/http/fetcher'), $option{workers} // 8, @$word ],
    );
}

# fetch(url, max => ..., timeout => ..., hosts => ..., env => {...}, bare => 1: without the switch for local hosts, more => [form, authorization])
sub fetch {
    my ( $url, %option ) = @_;
    my $start = time;
    my ( $status, $text ) = Authz::Process->run(
        command(
            [   fetch => $option{hosts} // 'safe', $url, $option{max} // 1000,
                $option{timeout} // 20 * Authz::Process::patience(),
                @{ $option{more} // [] } ],
            %option ) );
    die "fetcher: $status $text" if $status != 0;
    return { %{ JSON::PP::decode_json($text) }, took => time - $start };
}

sub fault_is {
    my ( $url, $fault, $name, %option ) = @_;
    my $seen = fetch( $url, %option );
    my $good = is( $seen->{fault}, $fault, $name ) or diag( $seen->{detail} );
    return $seen;
}

# ---- an answer

$peer->set(
    '/a' => {
        type => 'Application/JSON; charset=utf-8', headers => [ 'Cache-Control' => 'max-age=60, public' ],
        body => '{"a":1}' },
    '/error' => { status => 500, type => 'text/plain', body => 'x' },
    '/none'  => { status => 204, type => '' },
    '/post'  => { body   => { token => 1 } },
);
my $a = fetch( $peer->url('/a') );
is_deeply(
    [ @{$a}{qw(fault http type body max_age)} ], [ 'ok', 200, 'application/json', '{"a":1}', 60 ],
    'a good answer: status, type, body and age' );
my ($asked) = $peer->requests('/a');
is_deeply(
    [ sort keys %{ $asked->{headers} } ], [qw(accept host user-agent)],
    'a request has Accept and User-Agent, but no cookie and no Accept-Encoding' );
is( $asked->{headers}{accept}, 'application/json', 'Accept: application/json' );
$a = fetch( $peer->url('/error') );
is_deeply( [ @{$a}{qw(fault http type max_age)} ], [ 'ok', 500, 'text/plain', -1 ], 'an HTTP error is an answer' );
$a = fetch( $peer->url('/none') );
is_deeply( [ @{$a}{qw(fault http type body)} ], [ 'ok', 204, '', '' ], 'an answer without a body and type' );
$a = fetch( $peer->url('/post'), more => [ 'grant_type=x&code=c%20d', 'Basic c2VjcmV0' ] );
($asked) = $peer->requests('/post');
is_deeply(
    [ $asked->{method}, $asked->{body}, @{ $asked->{headers} }{qw(authorization content-type expect)} ],
    [ 'POST', 'grant_type=x&code=c%20d', 'Basic c2VjcmV0', 'application/x-www-form-urlencoded', undef ],
    'a form is posted, with its authorization' );

# ---- whom we ask

my $port  = $peer->port;
my $tls   = Authz::Peer->start( tls => 1 );
my %ca    = ( SVC_SAFE_HTTP_CA_FILE => Authz::Peer::ca_file() );
my $tport = $tls->port;
$tls->set( '/a' => { body => {} } );
fault_is( $peer->url('/a'), 'url', 'http is refused without the switch (specification 5.6)', bare => 1 );
fault_is(
    $peer->url('/a'), 'url', 'http is refused for a host outside the list',
    env => { SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => 'idp.example,127.0.0.1' } );
fault_is( $peer->url('/a'), 'url', 'the list of the fetcher holds not for client metadata', hosts => 'cimd' );
fault_is(
    $peer->url('/a'), 'ok', 'which has its own', hosts => 'cimd', bare => 1,
    env => { SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true' } );
fault_is(
    $peer->url('/a'), 'url', 'and that holds not for the others', bare => 1,
    env => { SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true' } );
fault_is( "http://LOCALHOST:$port/a", 'ok', 'host names have no case' );
fault_is( "http://127.0.0.1:$port/a", 'ok', 'an address in the list' );
fault_is(
    $peer->url('/a'), 'ok', 'blanks in the list',
    env => { SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => 'a, localhost ,b' } );

for my $list ( 'localhos', 'localhost.', 'xlocalhost', 'localhostx', '*', '', ',', 'localhost:' . $port ) {
    fault_is(
        $peer->url('/a'), 'url', "the list `$list` does not hold localhost",
        env => { SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => $list } );
}
for my $url (
    '', 'x', 'https://', 'https:///a', 'ftp://localhost/a', 'file:///etc/passwd', "http://localhost:$port\@127.0.0.1/",
    "http://u\@localhost:$port/a", "http://localhost:$port/a#f",
    "http://localhost.:$port/a",   "http://localhost%2e:$port/a", "http://localhost;x:$port/a",
    "http://localhost:$port/a b",  'gopher://localhost/',         "http://sub.localhost:$port/a" )
{
    fault_is( $url, 'url', "no URL of ours: `$url`" );
}
my $before = $tls->hits;
fault_is( $tls->url('/a'), 'address', 'https to loopback is refused without the switch', bare => 1, env => \%ca );
for my $host (
    '127.0.0.1', '127.1', '2130706433', '0x7f000001', '017700000001', '[::1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]',
    '0.0.0.0',   '0',     '[::]',       'evil.localhost', '10.0.0.1', '169.254.169.254',
    '[fd00:ec2::254]', '[64:ff9b::7f00:1]' )
{
    fault_is(
        "https://$host:$tport/a", 'address', "https://$host is at a special address (CVE-2026-4366)",
        env => { %ca, SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => 'localhost' } );
}
is( $tls->hits, $before, '... and no connection was made' );
fault_is( "https://localhost:$tport/a", 'ok', 'an address is special but for the hosts of the list', env => \%ca );

my $six = eval { Authz::Peer->start( address => '::1', host => '[::1]' ) };
SKIP: {
    skip 'no IPv6 here', 2 if !$six;
    $six->set( '/a' => { body => {} } );
    fault_is( $six->url('/a'), 'ok', 'IPv6 stands in the list in brackets' );
    fault_is( $six->url('/a'), 'url', 'and nowhere else', env => { SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => '::1' } );
}

# ---- TLS

for my $case (
    [ { days    => -1 }, 'that is over' ], [ { name => 'other.example' }, 'of another host' ],
    [ { foreign => 1 },  'of no CA' ] )
{
    my $bad = Authz::Peer->start( tls => $case->[0] );
    $bad->set( '/a' => { body => {} } );
    fault_is( $bad->url('/a'), 'tls', "a certificate $case->[1] is refused", env => \%ca );
    is( $bad->hits, 0, '... before anything is asked' );
}
fault_is( $tls->url('/a'),              'tls', 'a CA that no setting names is not believed' );
fault_is( "https://127.0.0.1:$tport/a", 'ok',  'an address in the certificate', env => \%ca );
fault_is( "https://localhost:$port/a",  'tls', 'a server without TLS',          env => \%ca );
fault_is(
    $tls->url('/a'), 'ours', 'a CA file that is not there is our failure',
    env => { SVC_SAFE_HTTP_CA_FILE => '/nonexistent' } );

# ---- where the way does not lead

my $trap = Authz::Peer->start;
$trap->set( '/trap' => { body => {} } );
my @status = ( 301, 302, 303, 307, 308 );
$peer->set( map { ( "/to$_" => { status => $_, headers => [ Location => $trap->url('/trap') ], body => '{}' } ) }
      @status );
is( fetch( $peer->url("/to$_") )->{http}, $_, "a redirect is an answer, and not followed: $_" ) for @status;
my %proxy = map { ( $_ => $trap->url, uc $_ => $trap->url ) } qw(http_proxy https_proxy all_proxy);
fault_is(
    $peer->url('/a'), 'ok', 'no proxy variable is honoured (decisions.md "No proxy variable is honoured")',
    env => { %proxy, no_proxy => '' } );
fault_is( $tls->url('/a'), 'ok', 'nor for https', env => { %ca, %proxy, no_proxy => '' } );
is( $trap->hits, 0, '... it got no request' );
my $home = Authz::Stack::runtime_dir('home');
Authz::Web::write_file( "$home/.netrc",  "machine localhost login me password secret\n" );
Authz::Web::write_file( "$home/.curlrc", "header = \"X-Mine: 1\"\n" );
$peer->forget;
fetch( $peer->url('/a'), env => { HOME => $home, CURL_HOME => $home } );
($asked) = $peer->requests('/a');
is_deeply( [ grep {/authorization|x-mine/} keys %{ $asked->{headers} } ], [], "no file of the user's adds anything" );

# ---- how much

my %size = ( pad => 998, body => '{}' );
$peer->set(
    '/at'           => {%size}, '/past' => { %size, pad => 999 }, '/chunked' => { %size, chunked => 1 },
    '/chunked-past' => { %size, pad => 999, chunked => 1 } );
is( length fetch( $peer->url('/at') )->{body},      1000, 'a body of max_octets' );
is( length fetch( $peer->url('/chunked') )->{body}, 1000, '... in chunks' );
fault_is( $peer->url('/past'),         'size', 'one octet more is refused' );
fault_is( $peer->url('/chunked-past'), 'size', '... in chunks' );
$peer->set(
    '/endless' => { endless => 1, body => 'x' x 10_000 },
    '/claim' => { raw => "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{}" }
);
cmp_ok(
    fault_is( $peer->url('/endless'), 'size', 'a body without end is cut off', max => 100_000, timeout => 20 )->{took},
    '<', 10, '... as soon as it is too long' );
fault_is( $peer->url('/claim'), 'size', 'so is one that says so' );
my $bomb = do { require Compress::Zlib; Compress::Zlib::memGzip( 'x' x 50_000_000 ) };
$peer->set( '/bomb' => { headers => [ 'Content-Encoding' => 'gzip' ], body => $bomb } );
$peer->set(
    '/bomb'    => { headers => [ 'Content-Encoding' => 'gzip' ], body => $bomb },
    '/te-bomb' => { raw     => "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n$bomb" } );
cmp_ok(
    fault_is(
        $peer->url('/te-bomb'), 'size', 'a bomb in the transfer coding goes off within the limit', max => 1_000_000
    )->{took},
    '<', 5,
    '... and soon' );
my $small = Compress::Zlib::memGzip('{}');
$peer->set( '/gzip' => { headers => [ 'Content-Encoding' => 'gzip' ], body => $small } );
is( fetch( $peer->url('/gzip') )->{length}, length $small, 'a coding that was not asked for is not undone' );
is( fetch( $peer->url('/bomb'), max => 100_000 )->{length}, length $bomb, '... so that a bomb stays one' );

my $line = 'X-Filler: ' . ( 'x' x 986 ) . "\r\n";        # 998 octets
my $head = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n";
$peer->set(
    '/head'      => { raw => $head . $line x 16 . "\r\n{}" },
    '/head-past' => { raw => $head . $line x 17 . "\r\n{}" },
    '/interim'   => { raw => "HTTP/1.1 100 Continue\r\n\r\n" x 10_000 },
    '/trailers'  =>
      { raw => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" . $line x 100 . "\r\n" },
);
fault_is( $peer->url('/head'),      'ok',   'a head of 16 kB' );
fault_is( $peer->url('/head-past'), 'http', 'a longer one is refused' );
fault_is( $peer->url('/interim'),   'http', 'interim answers count too' );
fault_is( $peer->url('/trailers'),  'http', 'trailers as well' );

# ---- how long

$peer->set(
    '/late'  => { delay => 20,    body  => '{}' },
    '/stall' => { body  => '{ }', stall => 1 },
    '/drip'  => { body  => '{}',  drip  => 0.3 },
);
for my $case (
    [ '/late', 'an answer that does not come' ], [ '/stall', 'one that does not end' ],
    [ '/drip', 'one that comes octet by octet' ] )
{
    my $seen = fault_is( $peer->url( $case->[0] ), 'timeout', "$case->[1]: the time is over", timeout => 1 );
    cmp_ok( $seen->{took}, '<',  4, '... in a second, and what the machine takes' );
    cmp_ok( $seen->{took}, '>=', 1, '... and not before' );
}
my $deaf = IO::Socket::IP->new( LocalHost => '127.0.0.1', Listen => 8 ) or die $@;
fault_is(
    'https://localhost:' . $deaf->sockport . '/', 'timeout', 'a handshake that is not answered: the same time',
    timeout => 1 );

# A queue that is full: the kernel drops what asks for a connection.
my $full    = IO::Socket::IP->new( LocalHost => '127.0.0.1', Listen => 1 ) or die $@;
my @filler  = map { IO::Socket::IP->new( PeerHost => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0 ) } 1 .. 8;
my $unmet   = 'http://127.0.0.1:' . $full->sockport . '/';
my %cimd    = ( timeout => 6, hosts => 'cimd', env => { SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true' } );
my $connect = fault_is(
    $unmet, 'timeout', 'a connection to a host of client metadata takes too long (decisions.md "CIMD documents")',
    %cimd );
cmp_ok( $connect->{took}, '>=', 3,   '... after FETCH_CLIENT_CONNECT_SECONDS' );
cmp_ok( $connect->{took}, '<',  5.5, '... and long before the time of the whole transfer' );
cmp_ok(
    fault_is( $unmet, 'timeout', '... one to a provider', timeout => 5 )->{took},
    '>=', 5, '... may take the whole time' );
$peer->set( '/slow' => { delay => 4, body => {} } );
fault_is( $peer->url('/slow'), 'ok', 'a host of client metadata that is connected may answer later', %cimd );

# ---- what is no answer

$peer->set(
    '/reset'    => { reset => 1 },
    '/close'    => { close => 1 },
    '/cut'      => { body  => '{"a":1}', truncate => 3 },
    '/garbage'  => { raw   => "hello\r\n\r\n" },
    '/chunks'   => { raw   => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}" },
    '/no-chunk' => { raw   => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n" },
);
fault_is( "http://localhost:$shut/", 'connect', 'a refused connection' );
like(
    fetch( 'https://no-such.invalid/', timeout => 2 )->{fault}, qr/\A(?:connect|timeout)\z/,
    'a name that does not exist (RFC 6761 6.4), or a name server that does not answer' );
fault_is( $peer->url('/reset'),    'connect', 'a reset' );
fault_is( $peer->url('/close'),    'connect', 'an end without an answer' );
fault_is( $peer->url('/cut'),      'http',    'a body that is cut off' );
fault_is( $peer->url('/no-chunk'), 'http',    '... in chunks' );
fault_is( $peer->url('/garbage'),  'http',    'no HTTP' );
fault_is( $peer->url('/chunks'),   'http',    'no chunks' );
my $secret = fetch( "http://localhost:$shut/p?q=secret1", more => [ 'code=secret2', 'Bearer secret3' ] );
is( $secret->{fault}, 'connect', 'a failure with secrets about' );
like( $secret->{detail}, qr{\Afetch of http://localhost:$shut/p: }, '... names the URL without its query' );
unlike( $secret->{detail} . $secret->{public},                 qr/secret/, '... and tells none of them' );
unlike( fetch('https://user:secret4@host.example/')->{detail}, qr/secret/, 'nor what stands before the @' );

# ---- half of the pool

$peer->forget;
$peer->set( '/held' => { body => '{ }', stall => 1 } );
my @held =
  map { Authz::Process->start( command( [ fetch => 'safe', $peer->url('/held'), 1000, 60 ], workers => 4 ) ) } 1, 2;
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/held') == 2 } ),
    'two of four workers fetch from a host that does not answer' );
my $busy =
  fault_is( $peer->url('/a'), 'busy', 'a third is refused (decisions.md "Half of the pool fetches")', workers => 4 );
cmp_ok( $busy->{took}, '<', 2, '... at once' );
isnt(
    $busy->{status}, fetch("http://localhost:$shut/")->{status},
    '... and not as unreachable: no request was sent' );
like( $busy->{public}, qr/try again/, '... it may come again' );
kill 'KILL', $held[0]->pid;
$held[0]->wait(5);
fault_is( $peer->url('/a'), 'ok', 'a worker that was killed by -9 holds no place', workers => 4 );
$_->stop for @held;

done_testing;

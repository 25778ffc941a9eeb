# A real web server (lighttpd) as the upstream of a REST resource: files, a CGI, ranges, conditions, HEAD, chunks, kept
# connections, large files; and path tricks and header smuggling, judged by what its access log says it received (RFC 9110, RFC
# 9112; gateway-admin.md 3.2).
use strict;
use warnings;

use Digest::SHA      qw(sha256_hex);
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Client  ();
use Authz::Managed ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $limit = 1_048_576;
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => {
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1', SVC_GATEWAY_MAX_BODY_SIZE => '1MB',
        SVC_GATEWAY_RESPONSE_TIMEOUT       => '5s' } );
my $gate = Authz::Managed->new($stack);

# ---- the server

my $root = Authz::Process::directory() . '/origin';
my $port = Authz::Web::free_port();
mkdir $root;
mkdir "$root/dir";
my $random = join '', map { sha256_hex($_) } 1 .. $limit / 64;
Authz::Web::write_file( "$root/dir/a b.txt",      "spaced\n" );
Authz::Web::write_file( "$root/dir/index.html",   "<p>index\n" );
Authz::Web::write_file( "$root/a.json",           '{"a":1}' );
Authz::Web::write_file( "$root/large.bin",        $random );
Authz::Web::write_file( "$root/larger.bin",       "${random}x" );
Authz::Web::write_file( "$root/../origin-secret", "outside of the document root\n" );
open my $sparse, '>', "$root/huge.bin" or die "huge: $!";
truncate $sparse, 100 * 1024 * 1024 or die "truncate: $!";
close $sparse;
Authz::Web::write_file( "$root/env.cgi", <<'END', 0755 );
#!/usr/bin/perl
use JSON::PP; binmode STDIN; local $/; my $body = <STDIN> // '';
my %env = map { $_ => $ENV{$_} } grep { /^(?:HTTP_|REQUEST_|CONTENT_|QUERY_|REMOTE_PORT)/ } keys %ENV;
print "Content-Type: application/json\r\n\r\n", JSON::PP->new->canonical->utf8->encode( { env => \%env, body => $body } );
END
Authz::Web::write_file( "$root/parts.cgi", <<'END', 0755 );
#!/usr/bin/perl
$| = 1; print "Content-Type: text/plain\r\nX-Part: yes\r\n\r\n";
for ( 1 .. 5 ) { print "part $_\n"; select undef, undef, undef, 0.05 }
END
Authz::Web::write_file( "$root/endless.cgi", <<'END', 0755 );
#!/usr/bin/perl
$| = 1; print "Content-Type: text/plain\r\n\r\n"; $SIG{PIPE} = 'DEFAULT';
print 'x' x 8192 for 1 .. 12_800;
END
my $log = "$root.access";
Authz::Web::write_file( "$root.conf", <<"END" );
server.modules = ( "mod_indexfile", "mod_accesslog", "mod_cgi" )
server.bind = "127.0.0.1"
server.port = $port
server.document-root = "$root"
server.errorlog = "$root.error"
server.upload-dirs = ( "/tmp" )
server.stream-response-body = 2
server.max-keep-alive-requests = 1000
index-file.names = ( "index.html" )
mimetype.assign = ( ".json" => "application/json", ".txt" => "text/plain; charset=utf-8", ".html" => "text/html" )
cgi.assign = ( ".cgi" => "" )
accesslog.filename = "$log"
accesslog.format = "%r\\t%s\\t%{remote}p\\t%{Host}i\\t%{X-Note}i\\t%{Content-Length}i\\t%{Transfer-Encoding}i\\t%{Authorization}i\\t%{Cookie}i"
END
my $origin =
  Authz::Process->start( name => 'origin', command => [ Authz::Path::lighttpd(), '-D', '-f', "$root.conf" ] );
my $until = time + 30 * Authz::Process::patience();
sleep 0.05 until IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $port ) || time > $until;

my $value = 'credential-of-the-gateway-0123';
$gate->resource(
    'origin',
    upstreamUrl => "http://127.0.0.1:$port", upstreamAuth => { type => 'static_header', value => $value },
    routes      => [
        {   id => 'all', path => '/**', methods => [ 'GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS' ],
            forwardHeaders => ['X-Note'] } ] );
my $sent = 0;    # requests that the server must have seen

sub ask {
    my ( $method, $path, @more ) = @_;
    $sent++;
    return $gate->ask( $method => 'origin', $path, @more );
}

# ---- files

my $answer = ask( GET => '/a.json' );
is_deeply(
    [ $answer->status, $answer->header('Content-Type'), $answer->header('Content-Length'), $answer->body ],
    [ 200,             'application/json',              7,                                 '{"a":1}' ],
    'a file' ) or diag $answer->text, $origin->log_text;
my ( $etag, $date ) = map { $answer->header($_) } qw(ETag Last-Modified);
ok( $etag && $date, '... with its validators' );
is( ask( GET => '/dir/a%20b.txt' )->body, "spaced\n",   'a name with a space' );
is( ask( GET => '/dir/' )->body,          "<p>index\n", 'the index of a folder' );
$answer = ask( GET => '/dir' );
is( $answer->status,               301, 'a redirect is returned, not followed' );
is( ask( GET => '/none' )->status, 404, 'no such file' );
$answer = ask( HEAD => '/a.json' );
is_deeply(
    [ $answer->status, $answer->header('Content-Length'), $answer->body ], [ 200, 7, '' ],
    'HEAD (RFC 9110 9.3.2)' );

for my $case ( [ 'If-None-Match' => $etag ], [ 'If-Modified-Since' => $date ] ) {
    $answer = ask( GET => '/a.json', headers => $case );
    is_deeply( [ $answer->status, $answer->body, $answer->header('ETag') ], [ 304, '', $etag ], "$case->[0]: 304" );
}
is( ask( GET => '/env.cgi', headers => [ 'If-Match' => '"other"' ] )->json->{env}{HTTP_IF_MATCH}, '"other"',
    'If-Match arrives' );
for my $case (
    [ 'bytes=2-4',  206, 'a":', 'bytes 2-4/7' ],
    [ 'bytes=-2',   206, '1}',  'bytes 5-6/7' ],
    [ 'bytes=9-10', 416, undef, undef ] )
{
    my ( $range, $status, $body, $content ) = @$case;
    $answer = ask( GET => '/a.json', headers => [ Range => $range ] );
    is_deeply(
        [ $answer->status, scalar $answer->header('Content-Range') ], [ $status, $content ],
        "Range $range (RFC 9110 14)" );
    is( $answer->body, $body, '... has that part' ) if defined $body;
}
$answer = ask( GET => '/a.json', headers => [ Range => 'bytes=0-1', 'If-Range' => '"old"' ] );
is( $answer->status, 200, 'If-Range with an old validator: the whole' );
$answer = ask( OPTIONS => '/a.json' );
is( $answer->status, 200, 'OPTIONS' ) or diag $answer->text;

# ---- large answers

$answer = ask( GET => '/large.bin' );
is( sha256_hex( $answer->body ), sha256_hex($random), 'a file of the largest size arrives whole' );
$answer = ask( GET => '/large.bin', headers => [ Range => 'bytes=1000000-' ] );
is( sha256_hex( $answer->body ),
    sha256_hex($random), '... also for a Range, which does not reach an upstream that sees a shared credential' );
for my $name (qw(larger.bin huge.bin)) {
    my $began = time;
    $answer = ask( GET => "/$name" );
    is_deeply(
        [ $answer->status, $answer->member('error') ], [ 502, 'upstream_invalid_response' ],
        "$name: too large" );
    cmp_ok( time - $began, '<', 4 * Authz::Process::patience(), '... and not read' );
}
$answer = ask( GET => '/endless.cgi' );
is( $answer->failure, 'cut off',          'a stream of 100 MB without length is cut off (SVC_GATEWAY_MAX_BODY_SIZE)' );
is( ask( GET => '/a.json' )->status, 200, '... and the worker serves on' );

# ---- a CGI: bodies and chunks

$answer = ask( GET => '/parts.cgi' );
is( $answer->body,             join( '', map {"part $_\n"} 1 .. 5 ), 'an answer in chunks' );
is( $answer->header('X-Part'), 'yes',                                '... with its fields' );
for my $method (qw(POST PUT PATCH DELETE)) {
    $answer = ask( $method => '/env.cgi?x=1&y=%2F', body => 'a body', headers => [ 'Content-Type' => 'text/x-test' ] );
    my $env = $answer->json->{env} // {};
    is_deeply(
        [ @$env{qw(REQUEST_METHOD CONTENT_TYPE CONTENT_LENGTH)}, $answer->json->{body} ],
        [ $method, 'text/x-test', 6, 'a body' ], "$method with a body" );
}
my $big = substr $random, 0, 300_000;
$answer = ask( POST => '/env.cgi', body => $big, headers => [ 'Content-Type' => 'text/plain' ] );
is( sha256_hex( $answer->json->{body} ), sha256_hex($big), 'a body beyond what is kept for a second try' );

# ---- kept connections

my %ports = map { $_ => 1 } map { ask( GET => "/env.cgi?$_" )->json->{env}{REMOTE_PORT} } 1 .. 8;
is( keys %ports, 1, 'one connection serves requests one after the other' ) or diag explain \%ports;
my $before = ( keys %ports )[0];
my $after  = ask( POST => '/env.cgi', body => 'x', headers => [ 'Content-Type' => 'a/b' ] )->json->{env}{REMOTE_PORT};
isnt( $after, $before, 'POST has a new one: a closed one would make it be sent twice (RFC 9110 9.2.2)' );

# ---- path tricks

# What the server may receive for each: undef, nothing.
for my $case (
    ['/../origin-secret'], ['/dir/../../origin-secret'], ['/%2e%2e/origin-secret'], ['/dir/..%2f..%2forigin-secret'],
    ['/dir/%2e%2e%2f%2e%2e%2forigin-secret'], ['/..%5corigin-secret'], ['/dir\\..\\..\\origin-secret'],
    ['/a.json%00.txt'],
    ['/%c0%ae%c0%ae/origin-secret'], ['/%c0%af'], ['/%e0%80%af'], ['/a%0d%0aX-Note:%20evil'],
    ['/a%0aHost:%20evil'],           ['/%zz'],    ['/%'],         ['/./a.json'],
    ['/%2e/a.json'],
    [ '/dir%2fa%20b.txt',       '/dir%2Fa%20b.txt' ],
    [ '/%252e%252e/x',          '/%252e%252e/x' ],
    [ '/dir/%2561',             '/dir/%2561' ],
    [ '//a.json',               '//a.json' ],
    [ '/a.json;x=../../secret', undef ],
    [ '/a.json%3fx=1',          '/a.json%3Fx=1' ],
    [ '/a.json%23x',            '/a.json%23x' ] )
{
    my ( $path, $seen ) = @$case;
    my $got =
      $stack->http->raw( "GET /gateway/origin$path HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
          . $gate->token('origin')
          . "\r\nConnection: close\r\n\r\n", 'GET' );
    unlike( $got->text, qr/outside of the document root/, "path $path: nothing outside" );
    push @{ our $tried }, [ $path, $seen, $got->status ];
}

# ---- header smuggling

my $show = 'Authorization: Bearer ' . $gate->token('origin');
my $line = 'GET /gateway/origin/env.cgi HTTP/1.1';
my $more = 'POST /gateway/origin/env.cgi HTTP/1.1';
my $evil = "GET /smuggled HTTP/1.1\r\nHost: evil\r\n\r\n";
for my $case (
    [       'two Content-Lengths' => "$more\r\nHost: a\r\n$show\r\nContent-Length: 0\r\nContent-Length: "
          . length($evil)
          . "\r\n\r\n$evil" ],
    [   'Content-Length beside chunked' =>
          "$more\r\nHost: a\r\n$show\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n$evil" ],
    [   'a Transfer-Encoding in disguise' =>
          "$more\r\nHost: a\r\n$show\r\nContent-Length: 5\r\nTransfer_Encoding: chunked\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n$evil"
    ],
    [ 'a body of GET'          => "$line\r\nHost: a\r\n$show\r\nContent-Length: " . length($evil) . "\r\n\r\n$evil" ],
    [ 'a folded field'         => "$line\r\nHost: a\r\n$show\r\nX-Note: a\r\n Cookie: evil\r\n\r\n" ],
    [ 'a bare line feed'       => "$line\r\nHost: a\r\n$show\r\nX-Note: a\nCookie: evil\r\n\r\n" ],
    [ 'a bare carriage return' => "$line\r\nHost: a\r\n$show\r\nX-Note: a\rCookie: evil\r\n\r\n" ],
    [ 'a NUL'                  => "$line\r\nHost: a\r\n$show\r\nX-Note: a\0b\r\n\r\n" ],
    [   'names in disguise' =>
          "$line\r\nHost: a\r\n$show\r\nAuthorization_: x\r\nX_Note: evil\r\nContent_Length: 5\r\nX-Note : evil\r\n\r\n"
    ],
    [   'an absolute target' =>
          "GET http://evil.example/gateway/origin/env.cgi HTTP/1.1\r\nHost: evil.example\r\n$show\r\n\r\n" ],
    [   'fields of proxies' =>
          "$line\r\nHost: a\r\n$show\r\nX-Forwarded-Host: evil\r\nX-Original-URL: /smuggled\r\nX-HTTP-Method-Override: DELETE\r\nForwarded: for=evil\r\n\r\n"
    ],
    [   'fields named in Connection' =>
          "$line\r\nHost: a\r\n$show\r\nConnection: close, X-Note, Authorization\r\nX-Note: evil\r\n\r\n" ] )
{
    my ( $what, $octets ) = @$case;
    my $got    = $stack->http->raw( $octets =~ s/\r\n\r\n/\r\nConnection: close\r\n\r\n/r, 'GET' );
    my $status = $got->status // 'no answer';
    like( $status, qr/\A(?:200|400|404|411|no answer|0)\z/, "$what: $status" );
    my $env = $status eq '200' ? $got->json->{env} : {};
    is_deeply(
        [ grep {/evil|smuggled/} map {"$_=$env->{$_}"} grep { $_ ne 'HTTP_X_NOTE' } keys %$env ], [],
        '... nothing of it is in another field' );
}
is( ask( GET => '/a.json' )->status, 200, 'the connections are whole after that' );

# ---- what the server received

$origin->stop;
open my $in, '<', $log or die "$log: $!";
my @line = map { chomp; [ split /\t/, $_, -1 ] } readline $in;
close $in;
cmp_ok( @line, '>=', $sent, 'the access log has the requests' );
is_deeply(
    [ grep { $_->[0] !~ m{\A(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) /\S* HTTP/1\.1\z} } @line ], [],
    'each is one request of HTTP/1.1' );
is_deeply( [ grep { $_->[0] =~ /smuggled|evil/ } @line ],   [], 'no request was smuggled in' );
is_deeply( [ grep { $_->[3] ne "127.0.0.1:$port" } @line ], [], 'Host is that of upstreamUrl (RFC 9112 3.2)' );
is_deeply(
    [ grep { $_->[5] ne '-' && $_->[6] ne '-' } @line ], [],
    'no request has Content-Length and Transfer-Encoding' );
is_deeply( [ grep { $_->[7] ne "Bearer $value" } @line ], [], 'each has the credential of the gateway, and no token' );
is_deeply( [ grep { $_->[8] ne '-' } @line ],             [], 'none has a cookie' );
my %target = map { ( $_->[0] =~ / (\S*) / )[0] => $_ } @line;

for my $case ( @{ our $tried } ) {
    my ( $path, $seen, $status ) = @$case;
    my $sent = $seen // $path;
    my $came = exists $target{$sent} ? $sent : undef;
    if ( $path =~ /;/ ) {
        ok( !defined $came || $came eq $path, "path $path: as it was, or not at all ($status)" );
        next;
    }
    is( $came, $seen,
        "path $path: "
          . ( defined $seen ? 'received in its canonical form (RFC 3986 6.2.2)' : 'not received' )
          . " ($status)" );
}
is_deeply(
    [ grep {m{(?:^|/)\.\.?(?:/|$)|\\|%5c|%00|%c0|%0[ad]|origin-secret}i} keys %target ], [],
    'no target has dot segments, backslashes, NUL, overlong UTF-8 or line ends' );

done_testing;

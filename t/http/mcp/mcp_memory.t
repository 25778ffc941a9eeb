# A hostile MCP server and the memory of a worker: what is read of it is bounded, and given back when the request is over
# (gateway-admin.md 1.5).
use strict;
use warnings;

use IO::Socket::IP ();
use JSON::PP       ();
use Test::More;

use Authz::Check;
use Authz::Mcp     ();
use Authz::Process ();
use Authz::Server  ();
use Authz::Stack   ();

# Growth of a worker that is allowed, in kB: while it reads, and after the request.
my ( $PEAK, $KEPT ) = ( 96 * 1024, 16 * 1024 );

# Seconds for a worker to free a request: its memory goes after the answer, its line of log and its audit row (http/serve/dispatch.c).
my $FREED = 15;

# A server that answers each request with the file of the moment, because an answer has some megabytes.
my $file   = Authz::Process::directory() . '/answer';
my $listen = IO::Socket::IP->new( LocalHost => '127.0.0.1', LocalPort => 0, Listen => 16 ) or die "listen: $@";
my $server = Authz::Process->start(
    name => 'hostile',
    code => sub {
        Authz::Server::accept_each(
            $listen,
            sub {
                my ($socket) = @_;
                while ( Authz::Server::read_message($socket) ) {
                    open my $in, '<', $file or die "$file: $!";
                    local $/ = undef;
                    Authz::Server::put( $socket, scalar readline $in ) or last;
                }
            } );
    } );
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '20s' } );
my $mcp = Authz::Mcp->new($stack);

sub says {
    my ( $body, $type ) = @_;
    open my $out, '>', "$file.new" or die "$file: $!";
    print {$out} "HTTP/1.1 200 OK\r\nContent-Type: ", $type // 'application/json', "\r\nContent-Length: ", length $body,
      "\r\n\r\n", $body;
    close $out or die "$file: $!";
    rename "$file.new", $file or die "$file: $!";
    return;
}

sub result { my ($members) = @_; return qq({"jsonrpc":"2.0","id":1,"result":{$members}}) }

# Good for every method.
my $good =
  result(
    q("supportedVersions":["2026-07-28"],"tools":[{"name":"echo","inputSchema":{"type":"object"}}],"content":[{"type":"text","text":"done"}])
  );
says($good);
$mcp->resource( 'up', upstreamType => 'MCP', upstreamUrl => 'http://127.0.0.1:' . $listen->sockport );
sub sync_up { return $stack->admin( POST => '/admin/api/managed-resources/up/sync' ) }
is( sync_up()->status, 200, 'a resource' );

sub call {
    my ( $body, $type ) = @_;
    says( $body, $type );
    my $answer = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => 'up' );
    return $mcp->result($answer)->{content}[0]{text} // '';
}

sub memory {
    my ( $pool, $word ) = @_;
    my ($pid) = $stack->workers($pool);
    open my $in, '<', "/proc/$pid/status" or die "status: $!";
    local $/ = undef;
    return readline($in) =~ /^$word:\s+(\d+)/m ? $1 : die "no $word";
}

sub is_sanitized {
    my ($pid) = $stack->workers('web');
    open my $in, '<', "/proc/$pid/maps" or die "maps: $!";
    local $/ = undef;
    return readline($in) =~ /libasan/;
}

sub grows_little {
    my ( $name, $pool, $run ) = @_;
    my $before = memory( $pool, 'VmRSS' );
    $run->() for 1 .. 2;
    Authz::Process::until_true( $FREED, sub { memory( $pool, 'VmRSS' ) - $before < $KEPT } );
    my ( $after, $most ) = ( memory( $pool, 'VmRSS' ), memory( $pool, 'VmHWM' ) );
    note "$name: $before kB before, $after kB after, $most kB at most";
  SKIP: {
        skip 'the worker runs under a sanitizer', 2 if is_sanitized();
        cmp_ok( $after - $before, '<', $KEPT, "$name: the worker gives the memory back" ) or diag $most;
        cmp_ok( $most - $before,  '<', $PEAK, '... and takes a bounded part of the host meanwhile' );
    }
    return;
}

my $sse = 'text/event-stream';
is( call( "data: $good\n\n", $sse ), 'done', 'a call' ) for 1, 2;

for my $part ( '{}', '[]', '{"a":[]}', '1' ) {
    my $count  = $part =~ /a/ ? 30_000 : $part eq '1' ? 90_000 : 45_000;
    my $values = join ',', ($part) x $count;
    my $event  = qq(data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":[$values]}}\n\n);
    my $events = int( 9_500_000 / length $event );
    grows_little(
        "$events events full of $part",
        gateway => sub { call( $event x $events . "data: $good\n\n", $sse ) } );
    grows_little(
        "a result full of $part",
        gateway => sub { call( result(qq("content":[],"structuredContent":{"a":[$values]})) ) } );
}
my $small = qq(data: {"jsonrpc":"2.0","method":"notifications/message","params":{}}\n\n);
grows_little( 'many small events', gateway => sub { call( $small x 9_900 . "data: $good\n\n", $sse ) } );
my $text = 'x' x 9_000_000;
grows_little(
    'one large text',
    gateway => sub { call( result(qq("content":[{"type":"text","text":"$text"}])) ) } );
is( call($good), 'done', 'a call after all of that' );

# A sync reads up to 100 pages.
my $fill = join ',', ('{}') x 45_000;
grows_little(
    'pages full of what is no tool',
    web => sub { says( result(qq("tools":[$fill],"nextCursor":"more")) ); sync_up() } );
my $enum  = join ',', ('{}') x 8_000;
my $tools = join ',', map {qq({"name":"t$_","inputSchema":{"type":"object","enum":[$enum]}})} 1 .. 5;
grows_little(
    'pages full of large tools',
    web => sub { says( result(qq("tools":[$tools],"nextCursor":"more")) ); sync_up() } );

done_testing;

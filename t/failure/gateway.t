# A hanging upstream occupies the workers of the gateway alone (architecture.md 3, issue 14): tokens and sign-in go on.
use strict;
use warnings;

use IO::Socket::UNIX ();
use JSON::PP         ();
use Socket           qw(SOCK_STREAM);
use List::Util       qw(min);
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Managed ();
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $WORKERS = 5;                     # four may wait for upstreams, two of them for one client or resource
my $SHARE   = 2;
my $LIMIT   = 60;                    # seconds of an upstream: more than all that is looked at while upstreams hang
my $peer    = Authz::Peer->start;
my $stack   = Authz::Stack->start(
    gateway  => $WORKERS,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost', SVC_GATEWAY_RESPONSE_TIMEOUT => "${LIMIT}s" } );
my $gateway = Authz::Managed->new($stack);
my $other   = Authz::Managed->new( $stack, client => 'other' );
$gateway->resource( $_, upstreamUrl => $peer->url, routes => [ { id => 'all', path => '/**' } ] ) for qw(slow slower);
$peer->set( '/hang' => { held => 1, body => {} }, '/gone' => { held => 1 }, '/good' => { body => { ok => 1 } } );
is( $gateway->ask( GET => 'slow', '/good' )->status, 200, 'the gateway serves' );

$gateway->resource(
    'here',
    upstreamType => 'STATIC',
    routes       => [ { id => 'all', path => '/good', response => { status => 200, json => { ok => 1 } } } ] );
my $client = $stack->client;

sub begin_one {
    my ( $path, $name, $who ) = ( @_, 'slow', $gateway );
    return $client->begin(
        $client->octets(
            GET     => $gateway->target( $name, $path ),
            headers => [ Authorization => 'Bearer ' . $who->token($name) ],
            close   => 1 ) );
}

# A rush that is over soon is none of the cases below: it waits.
$peer->set( '/slow' => { delay => 0.2, body => { ok => 1 } } );
my @rush = map { begin_one('/slow') } 1 .. 12;
is_deeply(
    [ map { $client->end( $_, 'GET' )->status } @rush ],
    [ (200) x 12 ],
    'more requests than workers wait for their turn while upstreams answer' );

# One client has half of the places, at any resource.
my @waiting = map { begin_one('/hang') } 1 .. 2;
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/hang') == 2 } ), 'two requests of a client wait' );
for my $name (qw(slow slower)) {
    my $refused = $gateway->ask( GET => $name, '/good' );
    is( $refused->status,                503, "a third one is 503: $name" ) or diag $refused->text;
    is( $refused->header('Retry-After'), 1,   '... with Retry-After' );
}
is( $other->ask( GET => 'slower', '/good' )->status, 200, '... and another client is served' ) for 1 .. 5;
is( $other->ask( GET => 'slow',   '/good' )->status, 503, '... but for the resource, which has its share too' );
push @waiting, map { begin_one( '/hang', 'slower', $other ) } 1 .. 2;
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/hang') == $WORKERS - 1 } ),
    'all workers of the gateway but one wait for an upstream' );

# The last one tells the others, in place of a wait for the slowest upstream.
for my $time ( 'a request beyond them', 'the next one' ) {
    my $began   = time;
    my $refused = $gateway->ask( GET => 'slow', '/good' );
    is( $refused->status,                503,                       "$time is 503" ) or diag $refused->text;
    is( $refused->header('Retry-After'), 1,                         '... and says when to come again' );
    is( $refused->member('error'),       'temporarily_unavailable', '... and why' );
    cmp_ok( time - $began, '<', $LIMIT / 4, '... soon' );
}
my @took = map {
    my $began = time;
    $gateway->ask( GET => 'slow', '/good' );
    time - $began
} 1 .. 5;
cmp_ok( min(@took), '<', 0.9, '... and those after it do not wait the second that the first one waited' );
is( $gateway->ask( GET => 'here', '/good' )->status, 200,          'what needs no upstream is served' );
is( $peer->hits('/hang'),                            $WORKERS - 1, '... while the others still wait' );

my ( $good, $longest ) = ( 0, 0 );
for ( 1 .. 50 ) {
    my $began  = time;
    my $answer = $stack->token( @{ $gateway->{client} }, scope => 'use', resource => "$stack->{base}/gateway/slow" );
    my $took   = time - $began;
    $longest = $took if $took > $longest;
    $good++ if $answer->status == 200;
}
is( $good, 50, '... and /token answers all requests' );
ok( $longest < $LIMIT / 4, '... without a wait for them' ) or diag "$longest s";
is( $stack->http->get('/.well-known/openid-configuration')->status,      200, '... discovery too' );
is( $stack->admin( GET => '/admin/api/managed-resources/slow' )->status, 200, '... the admin API' );
is( $stack->http->get('/gateway/link')->status, 400, '... and the pool of the pages of account links' );

$peer->let_go('/hang');
is_deeply(
    [ map { $client->end( $_, 'GET' )->status } @waiting ], [ (200) x @waiting ],
    'the upstream answers at last' );
ok( defined Authz::Process::until_true( 20, sub { $gateway->ask( GET => 'slow', '/good' )->status == 200 } ),
    '... and the gateway serves again' );

# A caller that closes only its own side may still read (RFC 9112 9.6): lighttpd goes on, and so does the gateway.
$peer->set( '/soon' => { delay => 1, body => { late => 1 } } );
my $half = begin_one('/soon');
shutdown $half, 1;
is( $client->end( $half, 'GET' )->status, 200, 'a caller that has closed its own side gets its answer' );

# A web server that sees that its caller has gone closes the connection to the worker, which is free long before the time of the
# upstream is over. This test is the web server, because lighttpd does not always see it, and Apache only when it writes.
my $mcp = Authz::Mcp->new( $stack, client => 'talker' );
$mcp->resource(
    'tooled',
    upstreamType => 'REST', upstreamUrl => $peer->url,
    routes       => [ { id   => 'hang', methods => ['GET'], path        => '/gone' } ],
    tools        => [ { name => 'hang', route   => 'hang',  inputSchema => { type => 'object' } } ] );
my $sound = sub { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } };
$peer->set(
    '/peer' => [
        $sound->( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } } ),
        $sound->( { tools      => [ { name => 'far', inputSchema => { type => 'object' } } ] } ),
        { held => 1 } ] );
$mcp->resource( 'server', upstreamType => 'MCP', upstreamUrl => $peer->url('/peer') );
is( $stack->admin( POST => '/admin/api/managed-resources/server/sync' )->status, 200, 'the tools of an MCP server' );

# FastCGI 1.0 section 3.3: a record of a type.
sub record { my ( $type, $content ) = @_; return pack( 'CCnnCC', 1, $type, 1, length $content, 0, 0 ) . $content }

# Send a request to a worker of the gateway, as a web server does; the connection.
sub begin_as_server {
    my ( $method, $path, $token, $body ) = @_;
    my %value = (
        REQUEST_METHOD => $method,      REQUEST_URI     => $path,      SCRIPT_NAME        => $path,
        REMOTE_ADDR    => '127.0.0.1',  SERVER_PROTOCOL => 'HTTP/1.1', HTTP_AUTHORIZATION => "Bearer $token",
        CONTENT_LENGTH => length $body, $body ? ( CONTENT_TYPE => 'application/json' ) : () );
    my $head = join '',
      map { pack( 'CN', length $_, 0x80000000 | length $value{$_} ) . $_ . $value{$_} } sort keys %value;
    my $socket = IO::Socket::UNIX->new( Peer => "$stack->{dir}/gateway.sock", Type => SOCK_STREAM )
      or die "gateway.sock: $!";
    syswrite $socket,
      record( 1, pack 'nCx5', 1, 0 )
      . record( 4, $head )
      . record( 4, '' )
      . ( $body ? record( 5, $body ) : '' )
      . record( 5, '' );
    return $socket;
}

sub begin_tool {
    my ( $at, $name ) = @_;
    my %call = ( jsonrpc => '2.0', id => 1, method => 'tools/call', params => { name => $name, arguments => {} } );
    return begin_as_server( POST => "/gateway/mcp/$at", $mcp->{token}, JSON::PP->new->encode( \%call ) );
}
my $all_left = 0;
for my $case (
    [   '/gone', sub { begin_as_server( GET => '/gateway/slow/gone', $gateway->token('slow'), '' ) },
        'a proxied request' ],
    [ '/gone', sub { begin_tool( 'tooled', 'hang' ) }, 'a tool of a route' ],
    [ '/peer', sub { begin_tool( 'server', 'far' ) },  'a tool of an MCP server' ] )
{
    my ( $path, $begin, $name ) = @$case;
    my $before  = $peer->hits($path);
    my @leaving = map { $begin->() } 1 .. $SHARE;
    ok( defined Authz::Process::until_true( 20, sub { $peer->hits($path) == $before + $SHARE } ),
        "$name occupies the share of a client" );
    my $began = time;
    close $_ for @leaving;
    my $ended = sub {
        grep {/the caller has gone/} $stack->{service}->log_lines;
    };
    ok( defined Authz::Process::until_true( 20, sub { $ended->() >= $all_left + $SHARE } ),
        '... the callers go, and the requests end' );
    cmp_ok( time - $began, '<', $LIMIT / 2, '... before the time of the upstream is over' );
    $all_left += $SHARE;
    is( $gateway->ask( GET => 'slow', '/good' )->status, 200, '... and the gateway serves' );
}

# Without its workers the gateway fails alone.
kill 'KILL', grep { workers_pool($_) eq 'gateway' } $stack->{service}->children;
is( $stack->token( @{ $gateway->{client} } )->status, 200,
    'workers of the gateway that are killed leave the others alone' );
ok( defined Authz::Process::until_true( 20, sub { $gateway->ask( GET => 'slow', '/good' )->status == 200 } ),
    '... and are replaced' );

# The time of an upstream ends.
$stack->restart_service( settings => { SVC_GATEWAY_RESPONSE_TIMEOUT => '2s' } );
is( $client->end( begin_one('/gone'), 'GET' )->status, 504, 'a waiting request ends after its time: 504' );
is( $gateway->ask( GET => 'slow', '/good' )->status,   200, '... and the gateway serves' );

$peer->let_go($_) for '/gone', '/peer';

# The pool of a worker, by the socket that it still has.
sub workers_pool {
    my ($pid) = @_;
    my %inode;
    open my $in, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    while ( my $line = readline $in ) { $inode{$1} = $2 if $line =~ m{ (\d+) \S*/(\w+)\.sock$} }
    my @socket =
      grep {defined} map { ( readlink($_) // '' ) =~ /\Asocket:\[(\d+)\]/ ? $inode{$1} : undef } glob "/proc/$pid/fd/*";
    my %has = map { ( $_ => 1 ) } grep {/\A(?:core|web|bundles|gateway)\z/} @socket;
    return join ',', sort keys %has;
}

done_testing;

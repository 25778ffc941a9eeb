# What is sent is the request of the route that policy was asked about, and of no closer one, disabled ones too, by the proxy, tools,
# reads and at doors (gateway-admin.md 3.2); routes and paths at random, asked on both sides. AUTHZ_SEED repeats a run.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Client  ();
use Authz::Managed ();
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => {
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_RATE_LIMIT_REQUESTS      => 100_000,
        SVC_CHECK_RATE_LIMIT_REQUESTS      => 100_000,               SVC_GATEWAY_RESPONSE_TIMEOUT => '20s' } );
my ( $true, $false ) = ( JSON::PP::true(), JSON::PP::false() );
my $mcp     = Authz::Mcp->new( $stack, client => 'tools' );
my $gateway = Authz::Managed->new($stack);
my $public  = 'https://orders.example';
my @caller  = $stack->make_client(
    'caller',
    {   grants    => ['client_credentials'], scopes => [ 'mcp', 'export' ], gateway_scopes => ['*'],
        resources => [ 'urn:svc:gateway', $public ] } );
my @door = $stack->make_client( 'door', { endpoints => ['check'], resources => [$public] } );

my %name   = ( type => 'object', properties => { id => { type => 'string' } }, required => ['id'] );
my @routes = (
    { id => 'get',    path => '/orders/{id}',   methods => [ 'GET', 'HEAD' ], mcpResource => { name => 'order' } },
    { id => 'export', path => '/orders/export', scopes  => ['export'],        mcpResource => { name => 'export' } },
    { id => 'off',    path => '/orders/off',               enabled      => $false },
    { id => 'line',   path => '/orders/{id}/lines/{line}', encodedSlash => $true },
    { id => 'totals', path => '/orders/{id}/lines/totals', scopes       => ['export'] },
    { id => 'person', path => '/people/{id}',              upstreamPath => '/user/{id}' },
    { id => 'out',    path => '/sign-out',                 upstreamPath => '/user/logout', scopes => ['export'] },
    { id => 'files',  path => '/files/**' },
    { id => 'file',   path => '/files/{id}/versions', scopes => ['export'] } );
my %orders = (
    upstreamType => 'REST', upstreamUrl => $peer->url('/api'), publicUrls => [$public], routes => \@routes,
    tools        =>
      [ map { { name => "call_$_", route => $_, args => { path => ['id'] }, inputSchema => \%name } } qw(get person) ]
);
$mcp->resource( 'orders', %orders );
$peer->set( map { ( "/api$_" => { body => { sent => $_ } } ) }
      qw(/orders/7 /orders/export /orders/off /user/ann /files/a/b) );

my %token = map {
    my ( $place, $resource ) = @$_;
    ( $place => $stack->token_text( @caller, scope => 'mcp', resource => $resource ) )
} [ proxy => "$stack->{base}/gateway/orders" ], [ door => $public ], [ mcp => "$stack->{base}/gateway/mcp/orders" ];

# Ways to ask; each returns true if the request was let through.
sub by_proxy {
    my ( $path, $method ) = @_;
    my $before = $peer->hits;
    $gateway->ask( $method // 'GET', 'orders', $path, token => $token{proxy} );
    return $peer->hits > $before;
}

sub at_door {
    my ($path) = @_;
    my ( undef, $credential ) = Authz::Client::basic(@door);
    return $stack->http->request(
        GET     => '/auth/check',
        headers => [
            'X-Forwarded-Method' => 'GET', 'X-Forwarded-Proto' => 'https', 'X-Forwarded-Host' => 'orders.example',
            'X-Forwarded-Uri'    => $path, Authorization       => "Bearer $token{door}",
            'X-Authz-Proxy-Authorization' => $credential ] )->status == 200;
}

sub by_read {
    my ($path) = @_;
    return
      defined $mcp->result(
        $mcp->modern( 'resources/read', { uri => "res://orders$path" }, at => 'orders', token => $token{mcp} ) );
}

sub by_tool {
    my ( $tool, $id ) = @_;
    my $result = $mcp->result(
        $mcp->modern(
            'tools/call', { name => $tool, arguments => { id => $id } }, at => 'orders', token => $token{mcp} ) );
    return defined $result && !$result->{isError};
}

# ---- controls: the values that a variable is for

ok( by_proxy('/orders/7'),           '/orders/{id} by the proxy' );
ok( by_proxy( '/orders/7', 'HEAD' ), '... with HEAD' );
ok( by_proxy('/people/ann'),         '... and with another path at the upstream' );
ok( by_proxy('/files/a/b'),          '/files/** by the proxy' );
ok( at_door('/orders/7'),            '/orders/{id} at a door' );
ok( by_read('/orders/7'),            '... as an MCP resource' );
ok( by_tool( call_get => '7' ),      '... and as a tool' );
ok( by_tool( call_person => 'ann' ), 'a tool whose route has another path at the upstream' );
ok( !by_proxy('/orders/export'),     'the closer route needs another scope' );

# ---- the attacks: each is of a token that may use the wide route alone

my $hits = $peer->hits;
for my $path (
    '/orders/EXPORT',           '/orders/Export', '/orders/export;a', '/orders/export%3Ba', '/orders/export;',
    '/orders/off',              '/orders/OFF',                 '/orders/off;x=1',    '/orders/7/lines/TOTALS',
    '/orders/7/lines/totals;a', '/orders/7/lines/%74otals%3B', '/files/1/versions/', '/files//1/versions',
    '/files/1/VERSIONS',
    '/files/1/versions;a', '/files/1%2Fversions', '/files/%31/versions%2F' )
{
    ok( !by_proxy($path), "$path is not sent by the proxy" );
    ok( !at_door($path),  '... not let through at a door' );
    ok( !by_read($path),  '... and not read' );
}
ok( !by_proxy( '/orders/export', 'HEAD' ), 'HEAD of a path whose GET is a closer route (RFC 9110 9.3.2)' );
for my $path ( '/people/logout', '/people/LOGOUT', '/people/logout;a', '/people/logout%3Ba' ) {
    ok( !by_proxy($path), "$path, which is another route at the upstream, is not sent" );
}
for my $id ( 'export', 'EXPORT', 'export;a', 'off', 'Off', 'off;' ) {
    ok( !by_tool( call_get => $id ), "call_get {id: $id} is isError" );
}
ok( !by_tool( call_person => $_ ), "a tool: $_, which is another route at the upstream, is isError" )
  for qw(logout Logout logout;a);
is( $peer->hits, $hits, '... and the upstream sees none of them' );
is( $gateway->ask( GET => 'orders', '/orders/off', token => $token{proxy} )->status, 404, 'a disabled route is 404' );
$mcp->resource( 'orders', %orders, routes => [ grep { $_->{id} ne 'off' } @routes ] );
ok( by_proxy('/orders/off'), '... and a route that was removed is none' );

# ---- a document that has such a pair

my %user     = ( name => 'username', in => 'path', required => $true, schema => { type => 'string' } );
my $document = {
    openapi => '3.0.0',
    info    => { title => 'Users', version => '1' },
    servers => [ { url => $peer->url('/v2') } ],
    paths   => {
        '/user/logout'     => { get => { operationId => 'logoutUser' } },
        '/user/{username}' => { get => { operationId => 'getUserByName', parameters => [ \%user ] } } } };
my $installed = $stack->admin(
    POST => '/admin/api/connectors/generic-openapi/install',
    json => { createResources => $true, name => 'users', settings => { document => $document, secret => 'k' x 20 } } );
is( $installed->status, 201, 'a document with /user/{username} beside /user/logout is installed' )
  or diag $installed->text;
$peer->set( map { ( "/v2/user/$_" => { body => { name => $_ } } ) } qw(ann logout LOGOUT) );
my $users = $mcp->token('mcp openapi:read');
for my $case ( [ ann => 0, 1 ], [ logout => 1, 0 ], [ LOGOUT => 1, 0 ], [ 'logout;a' => 1, 0 ] ) {
    my ( $name, $error, $sent ) = @$case;
    my $before = $peer->hits;
    my $answer = $mcp->modern(
        'tools/call', { name => 'users__getUserByName', arguments => { username => $name } },
        token => $users );
    is( ( ( $mcp->result($answer) // {} )->{isError} // $false ) ? 1 : 0, $error, "getUserByName {username: $name}" )
      or diag $answer->text;
    is( $peer->hits - $before, $sent, $sent ? '... is sent' : '... is not sent' );
}

# ---- routes and paths at random: the upstream says which route was decided on, two models which one they serve

my $seed = $ENV{AUTHZ_SEED} // time;
diag("AUTHZ_SEED=$seed");
srand $seed;
my @word = qw(a b A ab);
sub one_of { return $_[ rand @_ ] }

sub drawn_route {
    my ($id) = @_;
    my @part = map { rand() < .4 ? "{v$_}" : one_of(@word) } 1 .. 1 + rand 3;
    push @part, '**' if rand() < .25;
    return {
        id      => $id, path => join( '', map {"/$_"} @part ), requestHeaders => { 'X-Route' => $id },
        enabled => rand() < .8 ? $true : $false };
}

sub drawn_path {
    my ($pattern) = @_;
    my @part =
      map { /[{*]/ ? one_of( @word, 'x', 'a;b', 'B%3Bx', 'a%2Fb' ) : rand() < .1 ? uc : $_ } grep {length} split m{/},
      $pattern;
    return join( '', map { ( rand() < .1 ? '//' : '/' ) . $_ } @part ) . ( rand() < .1 ? '/' : '' );
}

# The id of the route that a server serves: the most literals, no asterisks, the fewest variables, the first one.
sub served {
    my ( $path, $careless, @route ) = @_;
    my $text = $careless ? lc( $path =~ s/%2F/\//gir ) =~ s/(?:;|%3b)[^\/]*//gr : $path;
    $text =~ s{/+}{/}g, $text =~ s{(.)/\z}{$1} if $careless;
    my @found;
    for my $i ( 0 .. $#route ) {
        my @part    = split m{/}, substr( $careless ? lc $route[$i]{path} : $route[$i]{path}, 1 );
        my $rest    = $part[-1] eq '**' ? pop @part : '';
        my $pattern = join '', map { /\{/ ? '/[^/]+' : "/\Q$_\E" } @part;
        $pattern .= '(?:/.*)?' if $rest;
        my $variables = grep {/\{/} @part;
        push @found, [ @part - $variables, $rest ? 0 : 1, -$variables, -$i ] if $text =~ m{\A$pattern\z};
    }
    my ($best) =
      sort { $b->[0] <=> $a->[0] || $b->[1] <=> $a->[1] || $b->[2] <=> $a->[2] || $b->[3] <=> $a->[3] } @found;
    return $best ? $route[ -$best->[3] ] : undef;
}

my ( $sent, $apart ) = ( 0, 0 );
for my $round ( 1 .. 8 ) {
    my @drawn = map { drawn_route("r$_") } 1 .. 2 + rand 5;
    $mcp->resource( 'orders', %orders, tools => [], routes => \@drawn );
    $peer->forget;
    by_proxy( drawn_path( one_of(@drawn)->{path} ) ) for 1 .. 30;
    for my $request ( $peer->requests ) {
        my $id        = $request->{headers}{'x-route'};
        my ($decided) = grep { $_->{id} eq $id } @drawn;
        my $path      = $request->{target} =~ s{\A/api}{}r;
        $sent++;
        for my $careless ( 0, 1 ) {
            my $route = served( $path, $careless, @drawn );
            next
              if !$route
              || $route == $decided
              || lc( $route->{path} =~ s/\{v\d\}/{}/gr ) eq lc( $decided->{path} =~ s/\{v\d\}/{}/gr );
            $apart++;
            diag( "$path: decided $decided->{path}, served $route->{path}"
                  . ( $careless ? ' by a careless server' : '' ) );
        }
    }
}
ok( $sent > 10, "requests at random are sent ($sent)" );
is( $apart, 0, '... and no server serves another route than the one that was decided on' );

done_testing();

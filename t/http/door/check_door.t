# /auth/check: a web server in front of an upstream asks about each request (gateway-admin.md 1.8).
use strict;
use warnings;

use IO::Socket::INET ();
use IO::Socket::UNIX ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Dpop    ();
use Authz::FastCgi ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack  = Authz::Stack->start( settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $base   = $stack->base;
my $public = 'https://shop.example/api';

sub save {
    my ( $name, $urls, %more ) = @_;
    return $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name         => $name, displayName => $name, upstreamType => 'STATIC', enabled => Authz::Check::true(),
            defaultScope => "$name:read", publicUrls => $urls,
            routes       => [
                { id => 'one', path => '/orders/{id}', response => { status => 200 } },
                {   id       => 'list', path => '/orders', action => 'list_orders', query => { repeat => ['tag'] },
                    response => { status => 200 } },
                {   id       => 'find', path => '/find', query => { allow => [ 'role', 'ids[]' ] },
                    response => { status => 200 } },
                {   id       => 'make', path => '/orders', methods => ['POST'], scopes => ["$name:write"],
                    response => { status => 200 } },
                {   id       => 'secret', path => '/secret', obligations => { redact => ['/body/a'] },
                    response => { status => 200, json => { a => 1 } } } ],
            %more } );
}
is( save( 'shop', [ $public, 'https://shop.example:8443/api' ] )->status, 201, 'a resource with public addresses' );
is( save( 'root', ['https://shop.example'] )->status, 201, '... another that has the rest of the host' );
is( save( 'off', ['https://off.example'], enabled => Authz::Check::false() )->status, 201, '... and a disabled one' );
is( save( 'twice', [$public] )->status,               409, 'an address of another resource is refused' );
is( save( 'twice', ['https://off.example'] )->status, 409, '... of a disabled one too' );
for my $url (
    'http://shop.example',        'https://shop.example/',   'https://Shop.example', 'https://shop.example:443',
    'https://shop.example/a?',    'https://shop.example/a#', 'https://shop.example/a/../b',
    'https://shop.example/%61',   'https://u@shop.example',  'https://shop.example//a', 'https://shop.example/a;b',
    'https://shop.example/a%2Fb', 'shop.example',            'ftp://shop.example' )
{
    is( save( 'bad', [$url] )->status, 400, "refused: publicUrls $url" );
}
is( save( 'bad', [ map {"https://h$_.example"} 1 .. 17 ] )->status, 400, 'refused: 17 addresses' );
is( save( 'bad', ['https://mcp.example'], upstreamType => 'MCP', upstreamUrl => 'https://up.example', routes => undef )
      ->status, 400, 'refused: publicUrls of an MCP resource' );

my %all = (
    grants         => ['client_credentials'], scopes => [qw(mcp shop:read root:read)],
    gateway_scopes => ['*'], resources => [ 'urn:svc:gateway', $public, 'https://shop.example', 'https://else.example' ]
);
my @app   = $stack->make_client( 'app', \%all );
my @proxy = $stack->make_client(
    'nginx',
    { endpoints => ['check'], resources => [ $public, "$base/gateway/shop" ] } );
my @alien = $stack->make_client( 'alien', { grants    => ['client_credentials'], scopes    => ['mcp'] } );
my @asker = $stack->make_client( 'asker', { endpoints => ['introspect'],         resources => [$public] } );
my @other =
  $stack->make_client( 'other', { endpoints => ['check'], resources => ['https://else.example'] } );

sub token {
    my ( $scope, $resource ) = @_;
    return $stack->token_text( @app, scope => $scope, resource => $resource // $public );
}

sub credential {
    my ( $id,   $secret ) = @_;
    my ( undef, $value )  = Authz::Client::basic( $id, $secret );
    return ( 'X-Authz-Proxy-Authorization' => $value );
}

# A question as a web server sends it; undef leaves a field out.
sub check {
    my ( $uri, %option ) = @_;
    my %field  = ( Method => 'GET', Proto => 'https', Host => 'shop.example', Uri => $uri, %{ $option{field} // {} } );
    my @header = map { defined $field{$_} ? ( "X-Forwarded-$_" => $field{$_} ) : () } sort keys %field;
    push @header, exists $option{credential} ? @{ $option{credential} } : credential(@proxy);
    push @header, Authz::Client::bearer( $option{token} ) if defined $option{token};
    return $stack->http->request(
        $option{method} // 'GET', '/auth/check',
        headers => [ @header, @{ $option{header} // [] } ] );
}
my $token = token('shop:read');

# ---- what a request gets that may be served

my $answer = check( '/api/orders/7?a=1&tag=x', token => $token );
is( $answer->status,                  200,        'a request that policy allows' ) or diag $answer->text;
is( $answer->header('Cache-Control'), 'no-store', '... whose answer no cache keeps' );
is_deeply(
    { map { $_ => $answer->header("X-Authz-$_") } qw(Subject Subject-Type Idp Client Scopes Acr Resource Route) },
    {   Subject  => 'app',  'Subject-Type' => 'client', Idp => '-', Client => 'app', Scopes => 'shop:read', Acr => '-',
        Resource => 'shop', Route          => 'one' },
    '... says for whom, with - for what is absent' );
like( $answer->header('X-Authz-Request-Id'), qr/\A[0-9a-f-]{36}\z/, '... and the id of the question' );
is( $answer->text =~ /\r?\n\r?\n(.*)\z/s ? $1 : '',                    '',  '... without a body' );
is( check( '/api/orders', method => 'HEAD', token => $token )->status, 200, 'a question by HEAD' );
is( check( '/api/orders', token => $token, field => { Host => 'SHOP.example:443' } )->status, 200,
    'the host in another case, with the port of the scheme (RFC 3986 6.2.3)' );
like(
    check( '/api/orders', field => { Host => 'shop.example:8443' } )->header('WWW-Authenticate'),
    qr{/doors/shop/1"}, 'the other address of the resource' );
is( check( '/api/%6Frders', token => $token )->status, 200, 'an encoded unreserved character (RFC 3986 6.2.2.2)' );
is( check( '/api/orders', token => token( 'shop:read', "$base/gateway/shop" ) )->status, 200,
    'a token for the resource at the gateway' );
my ($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/auth/check&size=1' )->json->{content} // [] };
is_deeply(
    [ @$row{qw(clientId subjectId outcome)}, @{ $row->{requestSummary} // {} }{qw(door resource route method)} ],
    [ 'app', 'app', 'allowed', 'nginx', 'shop', 'list', 'GET' ],
    'the audit row has the request and the web server' ) or diag explain $row;

# ---- the web server's credential

for my $case (
    [ 'no credential',                       [] ],
    [ 'a wrong secret',                      [ credential( $proxy[0], 'wrong' ) ] ],
    [ 'an unknown client',                   [ credential( 'unknown', 'secret' ) ] ],
    [ 'another scheme',                      [ 'X-Authz-Proxy-Authorization' => "Bearer $token" ] ],
    [ 'two credentials',                     [ credential(@proxy), credential(@proxy) ] ],
    [ 'one in Authorization',                [ Authz::Client::basic(@proxy) ] ],
    [ 'one with an underscore that is none', [ 'X-Authz-Proxy-Authorization-' => 'Basic eDp5' ] ],
  )
{
    my ( $what, $credential ) = @$case;
    $answer = check( '/api/orders', credential => $credential, token => $what =~ /in Auth/ ? undef : $token );
    is( $answer->status,                     403,   "$what is 403" ) or diag $answer->text;
    is( $answer->header('WWW-Authenticate'), undef, '... without a challenge, which would reach people' );
}
is( check( '/api/orders', credential => [ credential(@alien) ], token => $token )->status, 403,
    'a client that may not introspect' );
is( check( '/api/orders', credential => [ credential(@alien) ], token => 'dead' )->status, 403,
    '... learns nothing of a dead token either' );
is( check( '/api/orders', credential => [ credential(@asker) ], token => $token )->status, 403,
    '... nor /introspect alone' );
is( check( '/api/orders', credential => [ credential(@other) ], token => $token )->status, 403,
    'a web server of other resources' );
is( check( '/api/orders', credential => [], token => $token, header => [ 'X-Authz-Subject' => 'root' ] )->status, 403,
    'fields of the caller stand for nothing' );

# ---- the request that it is about

for my $name (qw(Method Proto Host Uri)) {
    $answer = check( '/api/orders', token => $token, field => { $name => undef } );
    is( $answer->status, 400, "X-Forwarded-$name is missing" );
    like( $answer->text, qr/door_request_incomplete.*X-Forwarded-$name/, '... and the answer names it' );
}
for my $case (
    [ Method => 'GET, GET' ], [ Method => 'G E' ], [ Method => 'A' x 21 ], [ Proto => 'https, https' ],
    [ Proto  => 'ftp' ],
    [ Host   => 'shop.example, shop.example' ], [ Host => 'shop.example:0443' ], [ Host => 'shop.example:' ],
    [ Host   => 'shop.example.' ],              [ Host => 'u@shop.example' ],    [ Host => 'a' x 261 ],
    [ Uri    => 'https://shop.example/api' ],
    [ Uri    => 'api' ], [ Uri => '*' ] )
{
    my ( $name, $value ) = @$case;
    $answer = check( '/api/orders', token => $token, field => { $name => $value } );
    is( $answer->status, 400, 'malformed: X-Forwarded-' . "$name: " . substr $value, 0, 30 ) or diag $answer->text;
}
$answer = check( '/api/orders', token => $token, header => [ 'X-Forwarded-Uri' => '/api/orders' ] );
isnt( $answer->status, 200, 'a field that comes twice' );
for my $case (
    [ 'another host',                   '/api/orders', { Host  => 'evil.example' } ],
    [ 'another port',                   '/api/orders', { Host  => 'shop.example:8444' } ],
    [ 'another scheme',                 '/api/orders', { Proto => 'http' } ],
    [ 'a disabled resource',            '/orders',     { Host  => 'off.example' } ],
    [ 'a host that begins with it',     '/api/orders', { Host  => 'shop.example.evil.example' } ],
    [ 'no route',                       '/api/nothing' ],
    [ 'no route of the method',         '/api/orders', { Method => 'DELETE' } ],
    [ 'a method in another case',       '/api/orders', { Method => 'get' } ],
    [ 'an encoded slash',               '/api%2Forders' ],
    [ 'an encoded slash in lower case', '/api/orders%2f7' ],
    [ 'an encoded backslash',           '/api%5Corders' ],
    [ 'an empty segment',               '//api/orders' ],
    [ '... in the middle',              '/api//orders' ],
    [ 'a dot segment',                  '/x/../api/orders' ],
    [ '... encoded',                    '/x/%2e%2e/api/orders' ],
    [ '... at the end',                 '/api/orders/..' ],
    [ 'a single dot',                   '/./api/orders' ],
    [ 'a path parameter',               '/api/orders;x=1' ],
    [ 'the address in another case',    '/API/orders' ],
    [ 'a NUL',                          '/api/orders%00' ],
    [ 'octets that are no UTF-8',       '/api/orders/%C0%AF' ],
    [ 'a semicolon in the query',       '/api/orders?a=1;role=admin' ],
    [ '... at its end',                 '/api/orders?a=1;' ],
    [ '... in a reference of HTML',     '/api/orders?a=1&amp;role=admin' ],
    [ 'what query.allow does not name', '/api/find?role=user&x=1' ],
    [ '... in another case',            '/api/find?ROLE=admin' ],
    [ '... as a list',                  '/api/find?role%5B%5D=admin' ],
  )
{
    my ( $what, $uri, $field ) = @$case;
    $answer = check( $uri, token => $token, field => $field // {} );
    is( $answer->status, 403, "refused: $what" ) or diag $answer->text;
}

# A request that is malformed itself is 400, and the answer says what is wrong with it: it was 403 "no such request" before.
for my $case (
    [ 'a backslash',                  '/api\\orders' ],
    [ 'a fragment',                   '/api/orders#x' ],
    [ 'a parameter that comes twice', '/api/orders?a=1&a=2' ],
    [ '... in another case',          '/api/orders?a=1&A=2' ],
    [ '... as a list',                '/api/orders?a=1&a%5B%5D=2' ],
    [ '... with an index',            '/api/orders?a=1&a%5B0%5D=2' ],
    [ '... with a blank',             '/api/orders?a=1&a%20=2' ],
    [ 'a list alone',                 '/api/orders?role%5B%5D=admin' ],
    [ 'an index alone',               '/api/orders?role%5B0%5D=admin' ],
    [ 'a name in brackets',           '/api/orders?%5Brole%5D=admin' ],
    [ 'a blank before a name',        '/api/orders?%20role=admin' ],
    [ 'too many parameters',          '/api/orders?' . join '&', map {"p$_=1"} 1 .. 65 ],
  )
{
    my ( $what, $uri ) = @$case;
    $answer = check( $uri, token => $token );
    is( $answer->status, 400, "malformed: $what" ) or diag $answer->text;
    like( $answer->text, qr/"invalid_request"/, '... and the answer says so' );
}
is( check( '/api/orders?tag=1&tag=2', token => $token )->status, 200, 'a parameter that may be repeated' );
is( check( '/api/orders?page%5Bsize%5D=1&page%5Bnumber%5D=2&a=x%3By', token => $token )->status, 200,
    'two members of one name (JSON:API), and an encoded semicolon' );
is( check( '/api/find?role=user&ids%5B%5D=1', token => $token )->status, 200, 'what query.allow names' );
is( check( '/api/find',                       token => $token )->status, 200, '... and no parameter' );

# ---- tokens

my $metadata = "$base/.well-known/oauth-protected-resource/doors/shop/0";
$answer = check('/api/orders');
is( $answer->status, 401, 'no token' );
is_deeply(
    [ $answer->headers('WWW-Authenticate') ],
    [ qq{Bearer resource_metadata="$metadata", scope="shop:read"}, 'DPoP algs="ES256 RS256"' ],
    '... gets the challenge of the public address' );
is( $stack->http->get( $metadata =~ s/\A\Q$base\E//r )->json->{resource}, $public,    '... whose metadata name it' );
is( $stack->http->get("/.well-known/oauth-protected-resource/doors/$_")->status, 404, "no metadata: $_" )
  for qw(shop/2 shop/00 shop/x off/0 unknown/0);
for my $case (
    [ 'dead',                 'dead' ],
    [ 'for another resource', token( 'mcp',       'https://else.example' ), 403 ],
    [ 'for another address',  token( 'root:read', 'https://shop.example' ), 403 ],
    [ 'of the web server\'s resource', $token, 403, '/orders' ],
  )
{
    my ( $what, $text, $status, $uri ) = @$case;
    $answer = check( $uri // '/api/orders', token => $text );
    ok( $answer->status == 401 || ( $status // 0 ) == $answer->status, "a token $what is refused" )
      or diag $answer->status, $answer->text;
}
for my $uri ( '/orders', '/apiorders', '/x/api/orders' ) {
    $answer = check( $uri, token => $token );
    is( $answer->status, 401, "a token for another address of the host: $uri" );
    like( $answer->header('WWW-Authenticate'), qr{/doors/root/0"}, '... which ends at a segment' );
}

# A shorter address whose route takes every path, and a longer one below it.
my $wide = 'https://wide.example';
my %rest = ( routes => [ { id => 'rest', path => '/**', response => { status => 200 } } ] );
is( save( 'wide',   [$wide],              %rest )->status, 201, 'a resource with the whole of a host' );
is( save( 'narrow', ["$wide/admin/keys"], %rest )->status, 201, '... and one with an address below it' );
my @user = $stack->make_client(
    'user',
    { grants => ['client_credentials'], scopes => ['wide:read'], gateway_scopes => ['*'], resources => [$wide] } );
my @owner = $stack->make_client(
    'owner',
    {   grants    => ['client_credentials'], scopes => ['narrow:read'], gateway_scopes => ['*'],
        resources => ["$wide/admin/keys"] } );
my @door  = $stack->make_client( 'door', { endpoints => ['check'], resources => [ $wide, "$wide/admin/keys" ] } );
my %about = (
    credential => [ credential(@door) ], token => $stack->token_text( @user, scope => 'wide:read', resource => $wide ),
    field      => { Host => 'wide.example' } );
for my $uri ( '/', '/x', '/admin', '/admin/keysx', '/administrator/keys', '/x/admin/keys', '/admin%3Bkeys' ) {
    is( check( $uri, %about )->status, 200, "the shorter address has $uri" );
}
for my $uri (
    '/admin/keys/1',     '/ADMIN/keys/1', '/admin/KEYS', '/admin/Keys/', '/admin/keys%3Bx=1/1', '/admin/keys%3b',
    '/admin%3Bx/keys/1', '/Admin%3bx/keys%3b' )
{
    ok( check( $uri, %about )->status =~ /\A40[13]\z/,
        "... and not $uri, which a server may read as the longer one (gateway-admin.md 1.8)" );
}
is( $stack->admin(
        PUT  => '/admin/api/managed-resources/narrow',
        json => {
            displayName  => 'narrow',      upstreamType => 'STATIC',             enabled => Authz::Check::false(),
            defaultScope => 'narrow:read', publicUrls   => ["$wide/admin/keys"], %rest } )->status,
    200,
    'the longer one is disabled' );
for my $uri ( '/admin/keys', '/admin/keys/1', '/ADMIN/keys/1' ) {
    is( check( $uri, %about )->status, 403, "... and the shorter one does not take its place: $uri" );
}
$stack->sql(
    q{UPDATE managed_resource SET enabled = true, version = nextval('managed_resource_version_seq'), document = (document::jsonb || '{"routes": "none"}')::json WHERE name = 'narrow'}
);
ok( check( '/admin/keys/1', %about )->status =~ /\A40[13]\z/,
    '... nor that of one whose definition cannot be read' );
is( check(
        '/admin/keys/1', %about,
        token => $stack->token_text( @owner, scope => 'narrow:read', resource => "$wide/admin/keys" ) )->status,
    403,
    '... which serves none of them' );
is( check( '/x', %about )->status, 200, '... and has the rest as before' );

$answer = check( '/api/orders', token => $token, field => { Method => 'POST' } );
is( $answer->status, 403, 'a token without the scope' );
like(
    $answer->header('WWW-Authenticate'),
    qr/\ABearer error="insufficient_scope", resource_metadata="\Q$metadata\E", scope="shop:write"/,
    '... gets the challenge with the scope' );
$answer = check( '/api/secret', token => $token );
is( $answer->status, 403, 'an obligation that a web server cannot meet denies' ) or diag $answer->text;

# ---- DPoP (RFC 9449 7): the proof is about the public address

my $key   = Authz::Dpop->new;
my $shown = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic(@app), $key->show( $stack, '/token' ) ],
    form    => [ grant_type => 'client_credentials', scope => 'shop:read', resource => $public ]
)->member('access_token');

# The header fields of a request with a new proof for the public address.
sub proof {
    my (%claim) = @_;
    return [ $key->show( $stack, '', htm => 'GET', htu => "$public/orders", token => $shown, %claim ) ];
}

sub proved {
    my (%claim) = @_;
    return check( '/api/orders?x=1', header => proof(%claim) )->status;
}
is( proved(),                            200, 'a proof for the public address and the method of the request' );
is( proved( htu => "$base/auth/check" ), 401, 'a proof for our own address' );
is( proved( htm => 'POST' ),             401, 'a proof for another method' );
is( check( '/api/orders', token => $shown )->status, 401, 'a bound token without a proof' );
my $proof = proof();
is_deeply( [ map { check( '/api/orders', header => $proof )->status } 1, 2 ], [ 200, 401 ], 'a proof counts once' );

# ---- what the upstream is told (gateway-admin.md 1.8)

# The answer to a question about a token whose subject is replaced by an expression of SQL.
sub named {
    my ($subject) = @_;
    my $text = token('shop:read');
    $stack->sql("UPDATE access_token SET subject = $subject WHERE id = (SELECT max(id::text)::uuid FROM access_token)");
    return check( '/api/orders/7', token => $text );
}
$answer = named(q{E'a\r\nX-Authz-Client: root'});
is( $answer->header('X-Authz-Subject'), 'a%0D%0AX-Authz-Client:%20root', 'a line feed in a subject begins no field' );
is( $answer->header('X-Authz-Client'),  'app',                           '... and the client is that of the token' );
is( named(q{repeat('x', 1024)})->header('X-Authz-Subject'), 'x' x 1024,  'the longest subject' );
$answer = named(q{repeat('x', 1025)});
is( $answer->status,                    403,   '... one octet more is 403' );
is( $answer->header('X-Authz-Subject'), undef, '... without a part of it' );

# ---- the role of an authorizer (FastCGI 6.3): a question about the request itself

# The answer to a request of a role on a connection.
sub fastcgi {
    my ( $socket, $role, %more ) = @_;
    my %variable = (
        REQUEST_METHOD => 'GET', REQUEST_SCHEME => 'https', REQUEST_URI => '/api/orders/7', HTTP_HOST => 'shop.example',
        REMOTE_ADDR    => '127.0.0.1', SERVER_PROTOCOL => 'HTTP/1.1', HTTP_AUTHORIZATION => "Bearer $token", %more );
    Authz::FastCgi::send_request( $socket, role => $role, variables => \%variable );
    return Authz::FastCgi::answer($socket);
}
my ( $RESPONDER, $AUTHORIZER ) = ( $Authz::FastCgi::RESPONDER, $Authz::FastCgi::AUTHORIZER );
my @by      = ( HTTP_X_AUTHZ_PROXY_AUTHORIZATION => ( credential(@proxy) )[1] );
my $on_unix = sub { return IO::Socket::UNIX->new("$stack->{dir}/core.sock") // die "core.sock: $!" };
like(
    fastcgi( $on_unix->(), $AUTHORIZER, @by ), qr/^Variable-AUTHZ_SUBJECT: app\r$/m,
    'an authorizer with a credential' );
like( fastcgi( $on_unix->(), $AUTHORIZER ), qr/^Status: 403/m, '... and without one' );
for my $uri ( '/health', '/auth/check' ) {
    unlike(
        fastcgi( $on_unix->(), $AUTHORIZER, @by, REQUEST_URI => $uri ),
        qr/^Status: 200|\A(?!Status:)/m, "... about $uri, which a row of ours would answer" );
}
unlike(
    fastcgi( $on_unix->(), $RESPONDER, @by, FCGI_ROLE => 'AUTHORIZER' ),
    qr/AUTHZ_SUBJECT/, 'a variable with the name of the role is none' );
like(
    fastcgi( $on_unix->(), $AUTHORIZER, @by, HTTP_X_REWRITE_URL => '/x' ),
    qr/^Status: 403/m, 'a field that states another request' );

# The rights of a UNIX socket may stand for the credential; the loopback address is everybody's on the host.
my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 8, ReuseAddr => 1 ) // die "listen: $@";
my $socket = IO::Socket::UNIX->new( Local     => "$stack->{dir}/of_nginx.sock", Listen => 8 ) // die "listen: $!";
for my $case ( [ tcp => $listen ], [ unix => $socket ] ) {
    my ( $name, $at ) = @$case;
    Authz::Process->start(
        name => $name, env => { %{ $stack->settings }, SVC_CHECK_SOCKET_CLIENT => 'nginx' },
        code => sub {
            open STDIN, '<&', $at or die "descriptor 0: $!";
            exec Authz::Path::program('authz.fcgi') or die "authz.fcgi: $!";
        } );
}
my $on_tcp = sub { return IO::Socket::INET->new( PeerAddr => '127.0.0.1:' . $listen->sockport ) // die "connect: $@" };
like( fastcgi( $on_tcp->(), $AUTHORIZER ), qr/^Status: 403/m, 'by TCP SVC_CHECK_SOCKET_CLIENT is no credential' );
like( fastcgi( $on_tcp->(), $AUTHORIZER, @by ), qr/^Variable-AUTHZ_SUBJECT: app\r$/m, '... and the field is one' );
my $by_socket = sub {
    return fastcgi( IO::Socket::UNIX->new("$stack->{dir}/of_nginx.sock") // die("of_nginx.sock: $!"), $AUTHORIZER );
};
like( $by_socket->(), qr/^Variable-AUTHZ_SUBJECT: app\r$/m, 'by a UNIX socket it is one' );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'nginx'});
like( $by_socket->(), qr/^Status: 403/m, '... and none while the client is disabled' ) for 1 .. 2;
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'nginx'});
like(
    $by_socket->(), qr/^Variable-AUTHZ_SUBJECT: app\r$/m,
    '... and one as soon as it is enabled: a remembered row refuses nothing' );

# ---- policy

is( $stack->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => Authz::Check::true(),
            content => <<'REGO' } )->status, 201, 'a rule' );
package custom.gateway

deny contains "no_seven" if {
	input.request.endpoint == "/auth/check"
	input.action.kind == "http"
	input.arguments.path.id == "7"
}

deny contains "no_list" if {
	input.action.name == "list_orders"
	input.arguments.query.a == "x"
}
REGO
is( check( '/api/orders/7',       token => $token )->status, 403, 'a rule about the path' );
is( check( '/api/orders/8',       token => $token )->status, 200, '... denies no other' );
is( check( '/api/orders?a=x',     token => $token )->status, 403, 'a rule about the query' );
is( check( '/api/orders?%61=%78', token => $token )->status, 403, '... however it is encoded' );
done_testing;

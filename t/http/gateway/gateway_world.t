# The gateway and its doors with what stock clients send (decisions.md "Gateway").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client  ();
use Authz::Dpop    ();
use Authz::Idp     ();
use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', Authz::Idp->settings } );
my $gateway = Authz::Managed->new($stack);
my $public  = 'https://shop.example/api';
my @routes  = (
    { id => 'items', path => '/items' },
    { id => 'item',  path => '/items/{id}' },
    { id => 'find',  path => '/find', query => { allow => ['ids[]'] } },
    { id => 'rest',  path => '/any/**' } );

# The target that reached the upstream last.
sub reached { return ( ( $peer->requests )[-1] // {} )->{target} // 'nothing' }

# ---- G3: raw characters

$gateway->resource( 'api', upstreamUrl => $peer->url, routes => \@routes );
$gateway->resource(
    'shop',
    upstreamType => 'STATIC', publicUrls => [$public],
    routes       => [
        map {
            { %$_, response => { status => 200 } }
        } @routes ] );
$stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => Authz::Check::true(),
        content => <<'REGO' } )->status == 201 or die 'no rule';
package custom.gateway

deny contains "no_closed" if {
	input.action.kind == "http"
	input.arguments.query["filter[status]"] == "closed"
}

deny contains "no_pipe" if {
	input.arguments.path.id == "x|y"
}

deny contains "no_path" if {
	input.action.path == "/items/p%5Eq"
}
REGO
my @proxy = $stack->make_client(
    'door',
    { endpoints => ['check'], resources => [ $public, $stack->base . '/gateway/shop' ] } );
my @app = $stack->make_client(
    'app',
    {   grants    => ['client_credentials'], scopes => ['use'], gateway_scopes => ['*'],
        resources => [ 'urn:svc:gateway', $public ] } );
my $token = $stack->token_text( @app, scope => 'use', resource => $public );

sub door {
    my ($uri) = @_;
    my ( undef, $secret ) = Authz::Client::basic(@proxy);
    return $stack->http->get(
        '/auth/check',
        headers => [
            'X-Forwarded-Method' => 'GET',      'X-Forwarded-Proto' => 'https', 'X-Forwarded-Host' => 'shop.example',
            'X-Forwarded-Uri'    => "/api$uri", 'X-Authz-Proxy-Authorization' => $secret, Authz::Client::bearer($token)
        ] );
}

my @good = (
    [ '/items?filter[status]=open', '/items?filter%5Bstatus%5D=open', 'brackets in a query' ],
    [ '/items?q={"a":[1]}',         '/items?q=%7B%22a%22:%5B1%5D%7D', 'JSON in a query' ],
    [ '/items?a=b\\c',              '/items?a=b%5Cc',                 'a backslash in a query' ],
    [ '/items?a=<`^>',              '/items?a=%3C%60%5E%3E',          'the others' ],
    [ '/items/a|b',                 '/items/a%7Cb',                   'pipe_in_path: a pipe in a segment' ],
    [ '/any/[1]/{x}?a|b=1',         '/any/%5B1%5D/%7Bx%7D?a%7Cb=1',   'below an open end' ],
);
for my $case (@good) {
    my ( $raw, $sent, $what ) = @$case;
    my $path = $sent =~ s/\?.*//r;
    $peer->set( $path => { body => {} } );
    is( $gateway->ask( GET => 'api', $raw )->status,              200,        "G3: $what" );
    is( reached(),                                                $sent,      'G3: ... the upstream gets it encoded' );
    is( $gateway->ask( GET => 'api', $sent )->status . reached(), "200$sent", 'G3: ... and nothing is encoded twice' );
    is( door($raw)->status,                                       200, 'G3 door_same_text: a door takes it too' );
}
for my $case (
    [ '/items?filter[status]=closed', 'brackets_seen_by_rule' ],
    [ '/items/x|y',                   'pipe_in_path: a rule about the value of a path' ],
    [ '/items/p^q',                   'a rule about the path that is sent' ] )
{
    my ( $raw, $what ) = @$case;
    my $hits = $peer->hits;
    is( $gateway->ask( GET => 'api', $raw )->status, 403,   "G3 $what" );
    is( $peer->hits,                                 $hits, 'G3: ... nothing is sent' );
    is( door($raw)->status,                          403,   'G3: ... at a door too' );
}
for my $case (
    [ '/items/a\\b',        'backslash_path: a backslash in a path' ],
    [ '/any/..\\..\\x',     'a backslash after dots' ],
    [ '/items?a=1&a=2',     'a repeated parameter' ],
    [ '/items?a[b=1&a_b=2', 'two names that PHP takes for one' ],
    [ '/items/[1]?x=%',     'half an encoding' ] )
{
    my ( $raw, $what ) = @$case;
    my $hits = $peer->hits;
    is( $gateway->ask( GET => 'api', $raw )->status, 400,   "G3: refused: $what" );
    is( $peer->hits,                                 $hits, 'G3: ... nothing is sent' );
    is( door($raw)->status,                          400,   'G3: ... 400 at a door' );
}
for my $case (
    [ '/find?ids[]=1&ids[]=2', 'The parameter ids[] comes more than once' ],
    [ '/items?role[]=1',       'The parameter role[] has a name that servers take for another one' ],
    [ '/items?a.b=1&a_b=2',    'Two parameters have names that servers take for one: a.b and a_b' ],
    [ '/items?' . 'n' x 99 . '=1&' . 'n' x 99 . '=2', 'The parameter ' . 'n' x 64 . ' comes more than once' ],
    [ '/items?a%22%5Cb=1&a%22%5Cb=2',                 'The parameter a??b comes more than once' ] )
{
    my ( $raw, $text ) = @$case;
    is( $gateway->ask( GET => 'api', $raw )->member('error_description'), $text, 'G3 repeated_named: ' . substr $text,
        0, 60 );
    is( door($raw)->member('error_description'), $text, 'G3: ... at a door too' );
}
like(
    door('/items/a\\b')->member('error_description'),
    qr/a character that an address does not have/, 'G3: a door says what is wrong with the request' );

# ---- G4: a slash behind our own addresses

my @agent = $stack->make_client(
    'agent2',
    {   grants    => ['client_credentials'], scopes => [ 'mcp', 'use' ], gateway_scopes => ['*'],
        resources => ['urn:svc:gateway'] } );
my $list = { jsonrpc => '2.0', id => 1, method => 'tools/list', params => {} };

sub list {
    my ( $path, @header ) = @_;
    return $stack->http->request(
        POST    => $path,
        body    => JSON::PP::encode_json($list),
        headers => [ 'Content-Type' => 'application/json', Accept => 'application/json, text/event-stream', @header ] );
}

my @reader = $stack->make_client(
    'reader',
    { endpoints => ['introspect'], resources => [ map { $stack->base . $_ } '/gateway/mcp', '/gateway/mcp/shop' ] } );

sub bound_token {
    my ( $resource, @header ) = @_;
    return $stack->http->post(
        '/token',
        headers => [ Authz::Client::basic(@agent), @header ],
        form    => [ grant_type => 'client_credentials', scope => 'mcp', resource => $resource ] );
}

for my $path ( '/gateway/mcp', '/gateway/mcp/shop' ) {
    my $address = $stack->base . $path;
    my $given   = bound_token("$address/");
    is( $given->status, 200, "G4 slash_resource: a token for $path/" ) or diag $given->text;
    my $shown = $given->member('access_token');
    is( $stack->introspect( @reader, $shown )->member('aud'), $address, 'G4: ... names the address without it' );
    for my $to ( $path, "$path/" ) {
        my $answer = list( $to, Authz::Client::bearer($shown) );
        is( $answer->status, 200, "G4 own_slash: a call of $to" ) or diag $answer->text;
    }
    is( list( "$path//", Authz::Client::bearer($shown) )->status, 404, 'G4: two slashes are another address' );
    my $answer = list("$path/");
    is( $answer->status, 401, 'G4: a call without a token, with the slash' );
    like(
        $answer->header('WWW-Authenticate'),
        qr{resource_metadata="\Q$stack->{base}\E/\.well-known/oauth-protected-resource\Q$path\E"},
        'G4: ... is sent to the document of this address, which names no slash' );
    is( $answer->header('Location'), undef, 'G4: ... and never redirected' );
    my $key   = Authz::Dpop->new;
    my $bound = bound_token( $address, $key->show( $stack, '/token' ) )->member('access_token');
    my %by    = ( token => $bound );
    my @proof = ( [ $path, $address ], [ $path, "$address/" ], [ "$path/", $address ], [ "$path/", "$address/" ] );
    is( list( $_->[0], $key->show( $stack, $path, %by, htu => $_->[1] ) )->status,
        200, "G4 htu_slash: a call of $_->[0] with the htu $_->[1]" ) for @proof;
    is( list( $path, $key->show( $stack, $path, %by, htu => "$address//" ) )->status,
        401, 'G4: ... another htu is refused' );
    my @once = $key->show( $stack, $path, %by );
    is( list( $path,    @once )->status, 200, 'G4: a proof is good once' );
    is( list( "$path/", @once )->status, 401, 'G4: ... also by the other spelling' );
}

my @slashed = $stack->make_client(
    'slashed',
    { grants => ['client_credentials'], scopes => ['mcp'], resources => [ $stack->base . '/gateway/mcp/' ] } );
for my $end ( '', '/' ) {
    my $got = $stack->token( @slashed, scope => 'mcp', resource => $stack->base . "/gateway/mcp$end" );
    is( $got->status, 200, "G4 slash_resource: a client whose row has the slash may ask with '$end'" );
    is( list( '/gateway/mcp', Authz::Client::bearer( $got->member('access_token') ) )->status,
        200, 'G4: ... for a token that is good there' );
}
is( $stack->token( @slashed, scope => 'mcp', resource => $stack->base . '/gateway/mcp/shop' )->member('error'),
    'invalid_target', 'G4: ... and for nothing below' );

# ---- G1: pages of other origins at the proxy

my $page = 'https://app.example';
my @preflight =
  ( 'Access-Control-Request-Method' => 'POST', 'Access-Control-Request-Headers' => 'authorization, if-match' );
$gateway->resource(
    'cors',
    upstreamUrl => $peer->url,
    routes      => [ { id => 'any', path => '/any/**', methods => [qw(GET POST OPTIONS)] } ],
    cors        =>
      { origins => [ $page, 'http://localhost:3000' ], headers => ['If-Match'], expose => ['X-Total'], maxAge => 30 } );
$peer->set(
    '/any/a' => {
        body    => 'hello',
        headers =>
          [ 'Access-Control-Allow-Origin' => '*', 'Access-Control-Allow-Credentials' => 'true', 'X-Total' => 7 ] } );

# The fields of an answer that a browser reads, and its status.
sub cors_of {
    my ( $answer, @name ) = @_;
    return join '|', $answer->status, map { $answer->header("Access-Control-$_") // '-' } @name;
}

# A request by a page of this origin.
sub by_page {
    my ( $method, $rest, $origin, %option ) = @_;
    my @headers = @{ delete $option{headers} // [] };
    return $gateway->ask(
        $method => delete $option{resource} // 'cors',
        $rest, %option, headers => [ ( defined $origin ? ( Origin => $origin ) : () ), @headers ] );
}
my $seen   = @{ [ $peer->requests ] };
my $asked  = by_page( OPTIONS => '/any/a', $page, token => undef, headers => \@preflight );
my @answer = qw(Allow-Origin Allow-Methods Allow-Headers Max-Age);
is( cors_of( $asked, @answer, 'Allow-Credentials' ),
    "204|$page|GET, HEAD, POST, PUT, PATCH, DELETE|Authorization, Content-Type, DPoP, If-Match|30|-",
    'preflight_no_token: a preflight is answered without a token, and without credentials (Fetch, world.md G1)' );
is( $asked->header('Vary'),   'Origin', '... for this origin alone' );
is( @{ [ $peer->requests ] }, $seen,    '... and the upstream was not asked' );
is( cors_of(
        by_page( OPTIONS => '/any/a', 'http://localhost:3000', token => undef, headers => \@preflight ), 'Allow-Origin'
    ),
    '204|http://localhost:3000',
    'the second origin of the list' );
for my $other ( 'https://evil.example', 'https://app.example.evil.example', 'null', 'HTTPS://app.example', "$page/" ) {
    is( cors_of( by_page( OPTIONS => '/any/a', $other, token => undef, headers => \@preflight ), @answer ),
        '204|-|-|-|-', "the page of $other reads nothing" );
}
is( by_page( OPTIONS => '/any/a', undef, token => undef, headers => \@preflight )->status,
    401, 'options_call_decided: OPTIONS without Origin is a call like others' );
is( by_page( OPTIONS => '/any/a', $page, token => undef )->status, 401,
    '... and without Access-Control-Request-Method' );
is( by_page( OPTIONS => '/items', $page, token => undef, headers => \@preflight, resource => 'api' )->status,
    401, '... and of a resource without cors' );
is( by_page( OPTIONS => '/any/a', $page, token => undef, headers => \@preflight, resource => 'none' )->status,
    404, '... and a resource that is not there is none' );
is( by_page( OPTIONS => '/any/a', $page )->status, 200, 'with a token OPTIONS is decided and passed on' );
my $got = by_page( GET => '/any/a', $page );
is( cors_of( $got, qw(Allow-Origin Expose-Headers Allow-Credentials) ),
    "200|$page|WWW-Authenticate, DPoP-Nonce, ETag, Retry-After, X-Request-ID, X-Total|-",
    'the page reads the answer; the fields of the upstream are replaced' );
is( cors_of( by_page( GET => '/any/a', 'https://evil.example' ), 'Allow-Origin' ), '200|-',
    '... and another page does not' );
is( cors_of( by_page( GET => '/any/a', undef ), 'Allow-Origin' ), '200|-',  '... and without Origin nobody is named' );
is( by_page( GET => '/any/a', undef )->header('Vary'),            'Origin', '... but caches keep answers apart' );
for my $case ( [ 'no token', token => undef ], [ 'a bad token', token => 'x' ] ) {
    my ( $name, @option ) = @$case;
    my $refused = by_page( GET => '/any/a', $page, @option );
    like(
        cors_of( $refused, qw(Allow-Origin Expose-Headers) ), qr{\A401\|\Q$page\E\|WWW-Authenticate,},
        "refusal_readable: the page reads the refusal, $name" );
    ok( $refused->header('WWW-Authenticate'), '... with its challenge' );
}
is( cors_of( by_page( GET => '/none', $page ), 'Allow-Origin' ), "404|$page", '... and that there is no route' );
is( cors_of( by_page( GET => '/items', $page, resource => 'api' ), 'Allow-Origin' ),
    '200|-', 'a resource without cors names nobody' );
is( cors_of( by_page( GET => '/any/a', $page, token => undef, resource => 'api' ), 'Allow-Origin' ),
    '401|-', '... nor does its refusal' );

# ---- G5: no resource

my @rs   = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
my $row  = 'svc.operator.controls.public_client_policy';
my $back = 'https://app.example/cb';
my $mcp  = $stack->base . '/gateway/mcp';
my $idp  = Authz::Idp->start;
$idp->register($stack);
$stack->patch_row( $row, { dcr => { allowed_grant_types => [qw(client_credentials authorization_code)] } } );
my %may = (
    grants         => [qw(client_credentials authorization_code)], scopes    => [qw(mcp email)],
    gateway_scopes => ['*'],                                       resources => ['urn:svc:gateway'] );
$stack->patch_row( 'svc.entitlements.bindings', { registrations => { DCR => \%may } } );
my $made = $stack->http->post(
    '/register',
    json => { redirect_uris => [$back], grant_types => [qw(client_credentials authorization_code)] } );
my @self  = map { $made->member($_) } qw(client_id client_secret);
my @bound = $stack->make_client( 'bound', \%may, redirectUris => [$back] );

# The resource of the next token.
sub resource_of {
    my ( $client, @asked ) = @_;
    my $answer = $stack->token( @$client, @asked );
    return $answer->text if $answer->status != 200;
    return $stack->sql(q{SELECT coalesce(resource, 'none') FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1});
}
is( resource_of( \@self, scope => 'mcp' ),
    $mcp,
    'a client that registered itself asks for mcp without resource: the token is for the MCP endpoint (world.md G5)' );
is( resource_of( \@self, scope => 'email' ), 'none', '... and for no resource without mcp' );
is( resource_of( \@self, scope => 'mcp', resource => "$mcp/api" ), "$mcp/api",
    '... and for the resource that it names' );
is( resource_of( \@bound, scope => 'mcp' ), 'none', 'a client of an administrator gets what it asks for' );

# The page of consent.
sub page_of {
    my ( $id, %more ) = @_;
    my %param = (
        response_type         => 'code', client_id => $id,       redirect_uri => $back, code_challenge => 'A' x 43,
        code_challenge_method => 'S256', prompt    => 'consent', %more );
    my $address = $stack->base . '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
    return ( Authz::Browser->new->follow( $address, stop => qr{\A\Q$back\E} ) )[-1]->body;
}
like( page_of( $self[0], scope => 'mcp' ), qr{\Q$mcp\E}, 'at /authorize the page of consent shows the MCP endpoint' );
unlike( page_of( $self[0], scope => 'email' ), qr{\Q$mcp\E}, '... and does not without mcp' );
$stack->patch_row( $row, { default_gateway_resource => JSON::PP::false() } );
is( resource_of( \@self, scope => 'mcp' ), 'none', 'default_gateway_resource false: the request asks for no resource' );
unlike( page_of( $self[0], scope => 'mcp' ), qr{\Q$mcp\E}, '... at /authorize too' );

done_testing;

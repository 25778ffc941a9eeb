# Who may call the gateway (gateway-admin.md 1.2 to 1.4, 3.1, 3.8; decisions.md "Gateway").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { SVC_GATEWAY_ALLOWED_ORIGINS => 'https://inspector.example' } );
my $base  = $stack->base;

sub resource {
    my ( $name, %more ) = @_;
    my $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name         => $name, displayName => $name, upstreamType => 'STATIC', enabled => Authz::Check::true(),
            defaultScope => "$name:read",
            routes       => [
                { id => 'read', path => '/status', response => { status => 200, json => { ok => 1 } } },
                {   id       => 'write', path => '/status', methods => ['POST'], scopes => ["$name:write"],
                    response => { status => 200, json => { ok => 1 } } } ],
            %more } );
    is( $answer->status, 201, "the resource $name" ) or diag $answer->text;
    return;
}
resource('notes');
resource( 'off', enabled => Authz::Check::false() );

my %right = (
    grants         => [qw(client_credentials authorization_code)], scopes => [qw(openid mcp introspection)],
    gateway_scopes => ['*'], resources => [ 'urn:svc:gateway', $base, "$base/gateway", 'https://other.example' ] );
my @app = $stack->make_client( 'app', \%right );
my $url = "$base/gateway/notes";

sub text {
    my ( $resource, $scope ) = @_;
    return $stack->token_text( @app, scope => $scope, defined $resource ? ( resource => $resource ) : () );
}

sub call {
    my ( $method, $path, @header ) = @_;
    return $stack->http->request( $method, $path, headers => \@header );
}

sub get { my ($token) = @_; return call( GET => '/gateway/notes/status', Authz::Client::bearer($token) ) }

sub metadata { return "$base/.well-known/oauth-protected-resource$_[0]" }

# A failure outside MCP: {error, error_description, request_id} (gateway-admin.md 3.1).
sub failed {
    my ( $answer, $status, $error, $rule ) = @_;
    is( $answer->status, $status, $rule ) or diag $answer->text;
    my $body = $answer->json // {};
    is( $body->{error},      $error,                          "... $error" );
    is( $body->{request_id}, $answer->header('X-Request-ID'), '... with the id of the request' );
    ok( length( $body->{error_description} // '' ), '... and a description' );
    return $body;
}

sub challenged {
    my ( $answer, $params, $dpop, $rule ) = @_;
    failed( $answer, 401, 'invalid_token', $rule );
    is_deeply(
        [ $answer->headers('WWW-Authenticate') ],
        [ "Bearer $params", "DPoP $dpop" . 'algs="ES256 RS256"' ],
        '... Bearer first, then DPoP (gateway-admin.md 1.3)' );
    return;
}

# ---- without a token

my $none = 'resource_metadata="' . metadata('/gateway/notes') . '", scope="notes:read"';
my $bad  = "error=\"invalid_token\", $none";
challenged(
    call( GET => '/gateway/notes/status' ), $none, '',
    'no token: a challenge without an error (RFC 6750 3.1)' );
challenged( call( GET => '/gateway/notes' ), $none, '', 'no token at the resource itself' );
challenged(
    call( GET => '/gateway/notes/status', Authorization => 'Basic YTpi' ),
    $none, '', 'another scheme' );

# A challenge for what does not exist would lead a client through registration and sign-in to a token of no use.
sub unknown {
    my ( $answer, $rule ) = @_;
    my $got = failed( $answer, 404, 'not_found', $rule );
    is_deeply( [ $answer->headers('WWW-Authenticate') ], [], '... without a challenge (decisions.md "Gateway")' );
    is( $got->{error_description},
        "There is no such resource here. Check the name in the address; $base/gateway/mcp has the tools of all that you may use",
        '... which leads to all resources, and names none' );
    return;
}
unknown( call( GET => "/gateway/$_->[0]" ), "no token, $_->[1]: 404" )
  for [ 'nothing/x', 'unknown resource' ], [ 'off/status', 'disabled resource' ],
  [ 'a%22,x=%22b/x', 'a path that is no name' ], [ 'mcp/nothing', 'unknown resource of MCP' ];
unknown( call( GET => '/gateway/nothing/x', Authz::Client::bearer('at_nonsense') ), 'a bad token, unknown resource' );
unknown(
    call( GET => '/gateway/nothing/x', Authz::Client::bearer( text( "$base/gateway/notes", 'notes:read' ) ) ),
    'a token for another resource, unknown resource' );
is( call( GET => '/.well-known/oauth-protected-resource/gateway/nothing' )->status,
    404, 'the metadata document that a challenge would name is not there either' );

# ---- tokens that are no good

challenged( get('at_nonsense'), $bad, '', 'a text that is no token' );
challenged( get( text( undef, 'openid' ) ), $bad, '', 'a token without a resource (gateway-admin.md 1.4)' );
challenged( get( text( 'https://other.example', 'openid' ) ), $bad, '', 'a token for another server' );
challenged(
    get( text( "$base/gateway/other", 'notes:read' ) ), $bad, '',
    'a token for another resource of the gateway' );
challenged( get( text( "$base/gateway/mcp", 'notes:read' ) ), $bad, '', 'a token for the MCP endpoint at the proxy' );
challenged( get( text( "$url/status",       'notes:read' ) ), $bad, '', 'a token for a path below the resource' );
my $ended = text( $url, 'notes:read' );
is( get($ended)->status, 200, 'a token' );
$stack->revoke( @app, token => $ended );
challenged( get($ended), $bad, '', '... after it was revoked' );
my @once = $stack->make_client( 'once', { %right, jit_single_use => Authz::Check::true() } );
my $once = $stack->token_text( @once, scope => 'notes:read', resource => $url );
challenged( get($once), $bad, '', 'a single-use token (decisions.md "Gateway")' );

# ---- tokens that are good

for my $good (
    [ $url            => 'the resource itself' ],
    [ "$base/gateway" => 'the gateway' ],
    [ $base           => 'the issuer' ],
    [ "$base/"        => 'the issuer with a slash, as URL.href has it' ] )
{
    my ( $resource, $rule ) = @$good;
    my $token  = text( $resource, $resource =~ /notes/ ? 'notes:read' : 'openid' );
    my $answer = get($token);
    isnt( $answer->status, 401, "a token for $rule" ) or diag $answer->text;
}
is( get( text( $url, 'notes:read' ) )->status, 200, 'with the scope of the operation' );

# ---- scopes

my $reader = text( $url, 'notes:read' );
my $write  = call( POST => '/gateway/notes/status', Authz::Client::bearer($reader) );
my $body   = failed( $write, 403, 'insufficient_scope', 'a missing scope' );
is( $body->{scope}, 'notes:write', '... which the body names' );
my $step = 'error="insufficient_scope", resource_metadata="' . metadata('/gateway/notes') . '", scope="notes:write"';
is_deeply(
    [ $write->headers('WWW-Authenticate') ],
    [ "Bearer $step", 'DPoP algs="ES256 RS256"' ],
    '... and the challenge (MCP authorization, step-up)' );
is( call( POST => '/gateway/notes/status', Authz::Client::bearer( text( $url, 'notes:read notes:write' ) ) )->status,
    200, '... which a wider token has' );

# ---- unknown and disabled resources, with a good token

my $wide = text( "$base/gateway", 'openid' );
failed( call( GET => "/gateway/$_", Authz::Client::bearer($wide) ), 404, 'not_found', "404 with a good token: $_" )
  for qw(nothing nothing/x off off/status link/x mcp/notes/x);

# ---- DPoP

my $key   = Authz::Dpop->new;
my $bound = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@app), $key->show( $stack, '/token' ) ],
    form => [ grant_type => 'client_credentials', scope => 'notes:read', resource => $url ] )->member('access_token');
my $show = sub {
    my ( $by, %claims ) = @_;
    return call(
        GET => '/gateway/notes/status',
        $by->show( $stack, '/gateway/notes/status', htm => 'GET', token => $bound, %claims ) );
};
is( $show->($key)->status, 200, 'a bound token with a proof (RFC 9449 7.1)' );
my $raw = '/gateway/notes/%73tatus';
isnt(
    call( GET => $raw, $key->show( $stack, $raw, htm => 'GET', token => $bound ) )->status,
    401, 'htu is the raw address of the request (gateway-admin.md 3.1)' );
challenged( get($bound), $bad, '', 'a bound token with the scheme Bearer' );
my $told = "$bad, " =~ s/, \z//r . ', ';
challenged( $show->( Authz::Dpop->new ), $bad, $told, '... with a proof by another key' );
challenged( $show->( $key, ath => Authz::Dpop::b64( 'x' x 32 ) ), $bad, $told, '... with the ath of another token' );
challenged( $show->( $key, htu => "$url/other" ), $bad, $told, '... with the proof of another address' );
challenged( $show->( $key, htm => 'POST' ),       $bad, $told, '... of another method' );

# ---- policy

$stack->bind( 'app', { gateway_scopes => undef } );
challenged( get($reader), $bad, '', 'a token of which policy grants nothing any more (decisions.md "Gateway")' );
$stack->bind( 'app', \%right );
$stack->patch_row( 'svc.operator.controls.environment', { deny_cidrs => ['127.0.0.0/8'] } );
my $denied = failed( get($reader), 403, 'access_denied', 'a token that policy denies now: a new one would not help' );
is_deeply(
    [ map { $_->{code} } @{ $denied->{deny_reasons} } ],
    ['ip_not_allowed'], '... with the reasons' ) or diag explain $denied;
ok( !exists $denied->{deny_reasons}[0]{detail}, '... without their details' );
is( $stack->sql("SELECT outcome FROM audit_log WHERE endpoint LIKE '/gateway/%' ORDER BY id DESC LIMIT 1"),
    'denied', '... and an audit row' );
$stack->patch_row( 'svc.operator.controls.environment', { deny_cidrs => undef } );

my $rule = sub {
    my ($content) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => Authz::Check::true(),
            content => $content } );
    like( $answer->status, qr/\A20[01]\z/, 'an operator rule' ) or diag $answer->text;
};
$rule->("package custom.gateway\n\ndeny contains \"not_now\" if input.resource.name == \"notes\"\n");
$denied = failed( get($reader), 403, 'access_denied', 'an operator rule denies' );
is_deeply(
    $denied->{deny_reasons}, [ { code => 'not_now', category => 'policy', message => 'not_now' } ],
    '... with its code' );
$rule->("package custom.gateway\n\nobligations[\"log\"] := true\n");
$denied = failed( get($reader), 403, 'access_denied', 'an unknown obligation denies (gateway-admin.md 3.8)' );
is( $denied->{deny_reasons}[0]{code}, 'obligation_unknown', '... and says so' );
$rule->("package custom.gateway\n\ndeny contains \"not_here\" if input.action.path == \"/status\"\n");
failed( get($reader), 403, 'access_denied', 'a rule about a path denies' );
failed(
    call( GET => '/gateway/notes/%73tat%75s', Authz::Client::bearer($reader) ),
    403, 'access_denied', '... an equal path too (RFC 3986 6.2.2.2)' );
$rule->("package custom.gateway\n\ndeny contains \"not_two\" if \"b\" in input.arguments.query.tag\n");
failed(
    call( GET => '/gateway/notes/status?tag=a&tag=b', Authz::Client::bearer($reader) ),
    400, 'invalid_request', 'a parameter that comes twice is refused before any rule is asked' );
$rule->("package custom.gateway\n");
is( get($reader)->status, 200, 'without the rule it is let in' );

# ---- the audit row

my $row = $stack->sql(
    "SELECT endpoint, client_id, outcome, encode(policy_input, 'hex') FROM audit_log ORDER BY id DESC LIMIT 1");
my ( $endpoint, $client, $outcome, $input ) = split /[|\t]/, $row;
is( $endpoint, '/gateway/{name}/**', 'the audit row: the pattern of the route (decisions.md "Gateway")' );
is( $client,   'app',                '... the client' );
is( $outcome,  'allowed',            '... the outcome' );
is( Authz::Check::decode_packed($input)->{evaluation},   'gateway', '... the question to policy' );
is( Authz::Check::decode_packed($input)->{action}{path}, undef,     '... without the values of the path' );

# ---- MCP: the door and the Origin of pages

my $mcp = text( "$base/gateway/mcp", 'mcp' );
challenged(
    call( POST => '/gateway/mcp' ), 'resource_metadata="' . metadata('/gateway/mcp') . '", scope="mcp"',
    '',                             '/gateway/mcp without a token' );
challenged(
    call( POST => '/gateway/mcp/notes' ),
    'resource_metadata="' . metadata('/gateway/mcp/notes') . '", scope="notes:read"',
    '', '/gateway/mcp/{name} without a token' );
challenged(
    call( POST => '/gateway/mcp', Authz::Client::bearer($reader) ),
    'error="invalid_token", resource_metadata="' . metadata('/gateway/mcp') . '", scope="mcp"',
    '', 'a token for the proxy at the MCP endpoint' );
isnt( call( POST => '/gateway/mcp', Authz::Client::bearer($mcp) )->status, 401, 'a token for the MCP endpoint' );
isnt(
    call( POST => '/gateway/mcp/notes', Authz::Client::bearer($mcp) )->status, 401,
    '... is good for a resource there' );
isnt(
    call( POST => '/gateway/mcp', Authz::Client::bearer( text( "$base/gateway/mcp", 'notes:read' ) ) )->status,
    401, 'a token without the base scope is let in (decisions.md "Gateway")' );

for my $origin ( $base, 'https://inspector.example' ) {
    my $answer = call( POST => '/gateway/mcp', Origin => $origin );
    is( $answer->status,                                401,     "Origin $origin may call" );
    is( $answer->header('Access-Control-Allow-Origin'), $origin, '... and reads the answer' );
    like( $answer->header('Access-Control-Expose-Headers'), qr/WWW-Authenticate/, '... and the challenge' );
    my $flight = call(
        OPTIONS => '/gateway/mcp', Origin => $origin, 'Access-Control-Request-Method' => 'POST',
        'Access-Control-Request-Headers' => 'authorization,mcp-param-region' );
    is( $flight->status, 204, '... after a preflight' );
    like(
        $flight->header('Access-Control-Allow-Headers'),
        qr/Mcp-Method, Mcp-Name.*mcp-param-region/, '... with the headers of MCP' );
}
for my $origin ( 'https://evil.example', 'null', "$base.evil.example" ) {
    for my $method (qw(POST OPTIONS)) {
        my $answer = call( $method => '/gateway/mcp', Origin => $origin, Authz::Client::bearer($mcp) );
        is( $answer->status,                                403,   "Origin $origin: $method is 403 (DNS rebinding)" );
        is( $answer->header('Access-Control-Allow-Origin'), undef, '... and not for that page to read' );
    }
}
my $wrong = call( GET => '/gateway/mcp', Authz::Client::bearer($mcp) );
is( $wrong->status,          405, 'GET /gateway/mcp without a session is 405 (gateway-admin.md 1.1)' );
is( $wrong->header('Allow'), 'POST, DELETE, OPTIONS', '... with Allow' );

# ---- a client that registered itself

my $made = $stack->http->post(
    '/register',
    json => {
        redirect_uris              => ['https://app.example/cb'], scope => 'mcp',
        token_endpoint_auth_method => 'client_secret_basic' } );
is( $made->status, 201, 'a client registers the scope of the challenge, as the SDK does' ) or diag $made->text;
my @self = ( $made->member('client_id'), $made->member('client_secret') );
Authz::Grant->people($stack);
my $granted = sub {
    my ( $resource, $scope ) = @_;
    my $code = Authz::Grant->code(
        $stack, client => $self[0], scope => $scope, resource => $resource,
        redirect_uri => 'https://app.example/cb' );
    my $answer = $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@self) ],
        form => [ Authz::Grant->redemption( $code, redirect_uri => 'https://app.example/cb', resource => $resource ) ]
    );
    return $answer->member('scope') // $answer->member('error');
};
is( $granted->( "$base/gateway/mcp", 'mcp notes:read' ), 'mcp', 'the shipped policy grants it the base scope' );
$stack->patch_row( 'svc.entitlements.bindings', { registrations => { DCR => { gateway_scopes => ['notes:*'] } } } );
is( $granted->( "$base/gateway/mcp", 'mcp notes:read' ), 'mcp notes:read',
    'its registered scope is no ceiling behind the gateway (decisions.md "Gateway")' );
is( $granted->( "$base/gateway/mcp", 'mcp other:read' ),           'mcp',        '... but policy is' );
is( $granted->( "$base/gateway/mcp", 'notes:read introspection' ), 'notes:read', '... no scope of our endpoints' );
is( $granted->( undef,               'mcp notes:read' ), 'mcp', '... and elsewhere the registered scope is one' );

# ---- a client of an administrator

for my $case (
    [ unbound => [], 'mcp notes:read',      'a client of an administrator without a scope gets what policy grants' ],
    [ bound   => [ scope => 'mcp' ], 'mcp', '... and a registered scope is its ceiling behind the gateway too' ] )
{
    my ( $id, $scope, $gets, $name ) = @$case;
    my @client = $stack->make_client(
        $id,
        {   grants    => ['client_credentials'], scopes => ['mcp'], gateway_scopes => ['notes:*'],
            resources => ['urn:svc:gateway'] },
        @$scope );
    my $answer = $stack->token( @client, scope => 'mcp notes:read', resource => "$base/gateway/mcp" );
    is( $answer->member('scope'), $gets, $name ) or diag $answer->text;
}

# ---- every question to policy has the documented form (etc/policy/inputs)

inputs_ok($stack);

# ---- the gateway is off, and policy does not answer

my $off =
  Authz::Stack->start( beside => $stack, settings => { SVC_GATEWAY_ENABLED => 'false', SVC_OIDC_ISSUER => $base } );
for my $path (qw(/gateway /gateway/mcp /gateway/mcp/notes /gateway/notes /gateway/notes/status /gateway/link)) {
    is( $off->http->request( $_ => $path, headers => [ Authz::Client::bearer($mcp) ] )->status,
        404, "off: $_ $path is 404 (specification 1)" ) for qw(GET POST OPTIONS);
}
my $lied = Authz::Stack->start(
    beside   => $stack, fake_opa => 1, workers => 1,
    settings => { SVC_POLICY_TIMEOUT_MS => 500, SVC_OIDC_ISSUER => $base } );
for my $lie (
    [ 'an engine that does not answer'                               => 'close' ],
    [ 'an engine that is too slow'                                   => delay => 2 ],
    [ 'an engine without policy'                                     => drop  => ['result'] ],
    [ 'an allow that is no boolean'                                  => set   => { 'result.allow'         => 'true' } ],
    [ 'an answer that evaluation 2 can have, and the gateway cannot' => set   => { 'result.argument_mode' => 'all' } ],
    [ 'an answer of a revision that may not decide' => set => { 'provenance.bundles.svc.revision' => 'r0-0' } ] )
{
    my ( $rule, @order ) = @$lie;
    $lied->fake->tell(@order);
    my $lost = $lied->http->get( '/gateway/notes/status', headers => [ Authz::Client::bearer($reader) ] );
    failed( $lost, 503, 'policy_unavailable', "$rule: 503, never allow (gateway-admin.md 3.8)" );
}
$lied->fake->tell('pass');
is( $lied->http->get( '/gateway/notes/status', headers => [ Authz::Client::bearer($reader) ] )->status,
    200, '... and with the real answer it is let in' );

done_testing;

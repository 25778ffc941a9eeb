# POST /register without a software statement (specification 2.2, 4.7, 8; oauth.md 3.5; policy.md 6.5; RFC 7591).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { SVC_MAX_REDIRECT_URIS => 3 } );
my $uri   = 'https://app.example/cb';
my $row   = 'svc.operator.controls.public_client_policy';

sub post { my ( $json, %option ) = @_; return $stack->http->post( '/register', json => $json, %option ) }
sub register { my (%member) = @_; return post( { redirect_uris => [$uri], %member } ) }

sub raw {
    my ( $body, @header ) = @_;
    return $stack->http->post(
        '/register',
        headers => [ @header ? @header : ( 'Content-Type' => 'application/json' ) ], body => $body );
}
sub sql { return $stack->sql( $_[0] ) =~ s{\n\z}{}r =~ tr/\t/|/r }

# 201, no-store, and the members given; undef means absent.
sub registered {
    my ( $answer, $members, $name ) = @_;
    my $good = is( $answer->status, 201, $name );
    $good &&= members_are( $answer->json, $members, "... $name: its members" );
    diag( $answer->text ) if !$good;
    return $answer->json // {};
}

# ---- what comes back (specification 2.2)

my $made = registered(
    register(),
    {   client_id                  => qr/\A[A-Za-z0-9._~-]{20,}\z/, client_secret  => qr/\A[A-Za-z0-9._~-]{43,}\z/,
        client_secret_expires_at   => 0,                            redirect_uris  => [$uri],
        grant_types                => ['authorization_code'],       response_types => ['code'],
        token_endpoint_auth_method => 'client_secret_basic',        scope          => 'openid profile email',
        client_name => undef, software_statement => undef, dpop_bound_access_tokens => undef, jwks => undef,
    },
    'redirect_uris alone: 201 with the defaults of RFC 7591 2, and default_scopes of the policy row' );
my $answer = register();
is( $answer->header('Cache-Control'), 'no-store', 'the answer holds a secret: no-store' );
like( $answer->header('Content-Type'), qr{\Aapplication/json\b}, 'it is JSON' );
like( $answer->body, qr/"client_id_issued_at":\s*\d{10}[,}]/,    'client_id_issued_at is a number of seconds' );
like( $answer->body, qr/"client_secret_expires_at":\s*0[,}]/,    'client_secret_expires_at is the number 0' );
unlike( $answer->body, qr/:\s*null\b/, 'no member is null' );
is( join( ' ', sort keys %{ $answer->json } ),
    'client_id client_id_issued_at client_secret client_secret_expires_at grant_types redirect_uris response_types scope token_endpoint_auth_method',
    'and there are no other members' );
isnt( $answer->member('client_id'), $made->{client_id}, 'each client has a name of its own' );
unlike( $made->{client_id}, qr{\Ahttps?:}, 'a generated client_id is no address (CIMD draft 6.7)' );
cmp_ok( abs( time - $made->{client_id_issued_at} ), '<', 60, 'client_id_issued_at is now' );

my $bye    = 'https://app.example/bye';
my $leaver = registered(
    register( post_logout_redirect_uris => [ $bye, $bye ] ), { post_logout_redirect_uris => [$bye] },
    'post_logout_redirect_uris are registered and come back (OpenID Connect RP-Initiated Logout 3.1)' );
is( sql("SELECT post_logout_redirect_uris FROM client WHERE client_id = '$leaver->{client_id}'"), "{$bye}",
    '... stored' );
oauth_error(
    register( post_logout_redirect_uris => [ map {"$bye/$_"} 1 .. 4 ] ), 400, 'invalid_client_metadata',
    '... at most SVC_MAX_REDIRECT_URIS' );
my %leave = ( client_id => $leaver->{client_id}, post_logout_redirect_uri => $bye );
my $left  = $stack->http->get( '/logout?' . Authz::Client::form(%leave) );
is( $left->header('Location'), undef, '... and a logout does not redirect there by itself (RFC 9700 4.11.2)' );
like( $left->body, qr/<a href="\Q$bye\E">/, '... but has a link' );

my %full = (
    client_name => "Caf\x{e9}", client_uri => 'https://app.example', logo_uri => 'https://app.example/l.png',
    tos_uri     => 'https://app.example/tos', policy_uri => 'https://app.example/p',
    contacts    => ['ops@app.example'],       jwks_uri   => 'http://app.example/jwks', scope => 'openid orders.read',
    software_id                => 'soft',                                 software_version         => '1.2',
    grant_types                => [qw(authorization_code refresh_token)], response_types           => ['code'],
    token_endpoint_auth_method => 'client_secret_post',                   dpop_bound_access_tokens => true,
);
my $full = registered( register(%full), {%full}, 'every member of specification 2.2 is echoed' );
registered( register( jwks => { keys => [] } ), { jwks => { keys => [] }, jwks_uri => undef }, 'so is jwks' );
registered(
    register(
        client_id => 'mine', client_secret => 'mine', client_id_issued_at          => 5, client_secret_expires_at => 5,
        registration_access_token => 'x', registration_client_uri => 'x', nonsense => [1], application_type => 'web' ),
    {   client_id => qr/\A(?!mine)/,       client_secret => qr/\A(?!mine)/,    client_id_issued_at => sub { $_[0] > 5 },
        client_secret_expires_at => 0,     registration_access_token => undef, registration_client_uri => undef,
        nonsense                 => undef, application_type          => undef },
    'unknown members, and what is ours to say, are ignored and not echoed (oauth.md 3.5)' );
my $public = registered(
    register( token_endpoint_auth_method => 'none' ),
    { client_secret => undef, client_secret_expires_at => undef, token_endpoint_auth_method => 'none' },
    'a public client gets no secret' );

# The registration that MCP clients send (gateway-admin.md 1.3).
my $mcp = registered(
    post(
        {   redirect_uris              => ['http://127.0.0.1:33418/callback'],    client_name    => 'MCP Inspector',
            grant_types                => [qw(authorization_code refresh_token)], response_types => ['code'],
            token_endpoint_auth_method => 'none', scope => 'openid', application_type => 'native' } ),
    {   grant_types => [qw(authorization_code refresh_token)], redirect_uris => ['http://127.0.0.1:33418/callback'],
        scope       => 'openid' },
    'an MCP client: native, loopback, no secret' );
registered(
    post( { redirect_uris => [ 'http://localhost:1/cb', 'http://[::1]/cb' ], token_endpoint_auth_method => 'none' } ),
    {}, 'and without application_type' );

# ---- what is stored

is( sql("SELECT client_type, registration_type, auth_method, enabled, secret_sealed IS NULL FROM client WHERE client_id = '$public->{client_id}'"
    ),
    'public|DCR|none|t|t',
    'stored: a public client without secret' );
is( sql("SELECT client_type, registration_type, auth_method, scope, grant_types, response_types, contacts, software_id, tos_uri, dpop_bound FROM client WHERE client_id = '$full->{client_id}'"
    ),
    'confidential|DCR|client_secret_post|openid orders.read|{authorization_code,refresh_token}|{code}|{ops@app.example}|soft|https://app.example/tos|t',
    'stored: every member' );
my $sealed = pack 'H*', sql("SELECT encode(secret_sealed, 'hex') FROM client WHERE client_id = '$made->{client_id}'");
ok( length $sealed > 40 && index( $sealed, $made->{client_secret} ) < 0,
    'stored: the secret is sealed (specification 5.5)' );
is( $stack->token( $made->{client_id}, $made->{client_secret} )->member('error'), 'unauthorized_client',
    'the secret authenticates at once; what the client may do is for bindings to say' );
is( $stack->token( $made->{client_id}, 'x' )->member('error'), 'invalid_client', 'and another does not' );
my $dto = $stack->admin( GET => "/admin/api/clients/$made->{client_id}" );
admin_ok(
    $dto, 200, { registrationType => 'DCR', redirectUris => [$uri], clientSecret => undef },
    'the administrator sees it' );

# ---- audit

my $audit = sql(
    "SELECT endpoint, operation, http_status, outcome, policy_input IS NOT NULL, policy_decision IS NOT NULL, request_summary::json->>'mode' FROM audit_log WHERE client_id = '$made->{client_id}' AND endpoint = '/register'"
);
is( $audit, '/register|register|201|allowed|t|t|plain',
    'audit: one row, with question and answer (decisions.md "Audited")' );
unlike(
    sql(q{SELECT string_agg(request_summary, ' ') FROM audit_log}), qr/\Q$made->{client_secret}\E/,
    'audit: no secret' );

# ---- every refusal of oauth.md 3.5

my $before = sql('SELECT count(*) FROM client');
my $md     = 'invalid_client_metadata';
oauth_error( post( {} ),                           400, 'invalid_redirect_uri', 'no redirect_uris' );
oauth_error( register( redirect_uris => $_->[0] ), 400, 'invalid_redirect_uri', "redirect_uris: $_->[1]" )
  for [ [], 'none' ], [ undef, 'null' ], [ $uri, 'a string' ], [ [5], 'a number' ], [ ['/cb'], 'a relative one' ],
  [ ['https://app.example/#f'], 'a fragment' ], [ ['https://u@app.example/'], 'a user' ],
  [ ['http://app.example/cb'],  'http' ],       [ ['JAVASCRIPT:alert(1)'],    'javascript' ], [ ['data:,x'], 'data' ],
  [ ['file:///x'],              'file' ],       [ [ $uri, 'https://app.example/?state=x' ], 'a parameter of ours' ],
  [ [ map {"https://app.example/$_"} 1 .. 4 ], 'one more than SVC_MAX_REDIRECT_URIS' ];
oauth_error(
    register( application_type => 'web', redirect_uris => ['http://127.0.0.1/cb'] ), 400,
    'invalid_redirect_uri',                                                          'loopback for application_type web'
);
oauth_error( register( %{ $_->[0] } ), 400, $md, $_->[1] )
  for [ { client_name => 5 }, 'a number for a string' ], [ { contacts => 'x' }, 'a string for a list' ],
  [ { jwks             => [] }, 'a list for jwks' ], [ { client_name => 'x' x 257 }, 'client_name of 257 characters' ],
  [ { scope            => 'a' x 1025 }, 'scope of 1025 characters' ],
  [ { software_version => 'x' x 65 },   'software_version of 65 characters' ],
  [ { client_uri       => 'javascript:alert(1)' }, 'a link that runs script' ],
  [ { jwks             => { keys => [] }, jwks_uri => 'https://app.example/k' }, 'jwks and jwks_uri' ],
  [ { jwks             => { keys => [ { kty => 'oct', k => 'AAAA' } ] } }, 'jwks with a secret' ],
  [ { token_endpoint_auth_method => 'private_key_jwt' }, 'private_key_jwt without keys' ],
  [ { token_endpoint_auth_method => 'private_key_jwt', jwks_uri => 'http://app.example/k' },
    'private_key_jwt with an http jwks_uri' ],
  [ { token_endpoint_auth_method => 'private_key_jwt', jwks => { keys => [] } }, 'private_key_jwt with an empty set' ],
  [ { token_endpoint_auth_method => 'magic' }, 'an unknown method' ],
  [ { response_types => ['token'] }, 'response_types token' ],
  [ { response_types => [ 'code', 'code id_token' ] }, 'a hybrid response type' ],
  [ { response_types => [] }, 'authorization_code without response' ],
  [ { grant_types => ['implicit'] }, 'the implicit grant' ], [ { grant_types => ['password'] }, 'the password grant' ],
  [ { grant_types => [] }, 'no grant' ],
  [ { grant_types => ['urn:ietf:params:oauth:grant-type:token-exchange'] },
    'token exchange, which the shipped row does not allow' ],
  [ { grant_types => [$Authz::Ciba::GRANT] }, 'CIBA, which the shipped row does not allow' ],
  [ { application_type => 'other' }, 'another application_type' ], [ { scope => qq{a"b} }, 'a quote in scope' ];
oauth_error( raw( $_->[0] ), 400, $md, "the body is $_->[1]" )
  for [ '', 'empty' ], [ '[]', 'an array' ], [ '"x"', 'a string' ], [ '{', 'broken' ],
  [ '{"redirect_uris":["https://a.example"],"redirect_uris":["https://b.example"]}', 'with a repeated name' ],
  [ qq({"redirect_uris":["$uri"],"client_name":"\xff"}),                             'not UTF-8' ],
  [ qq({"redirect_uris":["$uri"],"client_name":"a\\u0000"}),                         'with NUL' ],
  [ '{"a":' . '[' x 40 . ']' x 40 . '}', 'nested too deeply' ];
oauth_error(
    raw( qq({"redirect_uris":["$uri"]}), @$_ ), 415, 'invalid_request',
    'the content type ' . ( $_->[1] // 'is absent' ) )
  for [ 'Content-Type' => 'text/plain' ], [ 'Content-Type' => 'application/x-www-form-urlencoded' ],
  [ 'Content-Type' => 'application/jsonp' ], [ 'X-None' => 'x' ];
is( raw( qq({"redirect_uris":["$uri"]}), 'Content-Type' => 'Application/JSON; charset=utf-8' )->status, 201,
    'the content type in another case, with a parameter' );
is( sql('SELECT count(*) FROM client') - $before,    1,      'nothing that was refused is stored' );
is( $stack->http->get('/register')->status,          405,    'GET is 405' );
is( $stack->http->get('/register')->header('Allow'), 'POST', 'with Allow' );
my $padded = sub {
    my ($size) = @_;
    my $body = qq({"redirect_uris":["$uri"],"x":""});
    return qq({"redirect_uris":["$uri"],"x":") . 'y' x ( $size - length $body ) . '"}';
};
is( raw( $padded->(65536) )->status, 201, 'limit: a body of 64 KiB is taken' );
oauth_error( raw( $padded->(65537) ), 413, 'invalid_request', 'limit: one octet more is 413 (oauth.md 3.5)' );
is( sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/register' AND http_status = 413}), 0,
    'audit: a refusal before policy is asked leaves no row (decisions.md "Audited")' );

# ---- policy (specification 4.7; policy.md 6.5)

sub policy { my ($patch) = @_; return $stack->patch_row( $row, $patch ) }
$before = sql('SELECT count(*) FROM client');
oauth_error(
    register( grant_types => ['client_credentials'] ), 400, $md,
    'a grant type that dcr.allowed_grant_types does not list' );
oauth_error(
    register( grant_types => [qw(authorization_code client_credentials)] ), 400, $md,
    'also beside one that it lists' );
is( sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'denied',
    'audit: policy said no' );
registered(
    register( redirect_uris => ['com.example.app:/cb'], token_endpoint_auth_method => 'none' ),
    { redirect_uris => ['com.example.app:/cb'] },
    'a private scheme with a dot is taken as shipped (decisions.md "Private-scheme redirect URIs"; RFC 8252 7.1)' );
oauth_error( register( redirect_uris => [$_] ), 400, 'invalid_redirect_uri', "$_ is refused as shipped" )
  for 'myapp:/cb', 'javascript:alert(1)', 'JavaScript://a.example/%0aalert(1)', 'data:text/html,x', 'vbscript:x',
  'file:///etc/passwd', 'blob:https://a.example/x', 'about:blank', 'http://app.example/cb', 'http://127.0.0.2/cb',
  'ftp://app.example/cb', 'com.example.app:/cb#f';
policy( { redirect => { allowed_schemes => ['com.example.other'] } } );
oauth_error(
    register( redirect_uris => ['com.example.app:/cb'] ), 400, 'invalid_redirect_uri',
    'a private scheme that redirect.allowed_schemes does not list' );
policy( { redirect => { allowed_schemes => [ 'myapp', 'javascript', 'http' ] } } );
oauth_error(
    register( redirect_uris => [$_] ), 400, 'invalid_redirect_uri',
    "$_ is refused, whatever redirect.allowed_schemes lists"
) for 'myapp:/cb', 'javascript:alert(1)', 'http://app.example/cb';

# Schemes without a dot of known programs (world.md G7).
my $cursor = 'cursor://anysphere.cursor-retrieval/oauth/user-agent-callback';
policy( { redirect => { allowed_schemes => ['com.example.app'], dotless_schemes => undef } } );
oauth_error(
    register( redirect_uris => [$cursor] ), 400, 'invalid_redirect_uri',
    'G7: a row from before that lists schemes allows none without a dot' );
policy( { redirect => { allowed_schemes => undef } } );
registered(
    register( redirect_uris => [$_], token_endpoint_auth_method => 'none', application_type => 'web' ),
    { redirect_uris => [$_] },
    "G7 cursor_registers: $_, as shipped, although it says web" )
  for $cursor, 'vscode://vscode.github-authentication/did-authenticate', 'vscode-insiders://x/cb',
  'windsurf://codeium.windsurf/cb';
oauth_error(
    register( redirect_uris => [ $cursor, 'myapp:/cb' ], token_endpoint_auth_method => 'none' ),
    400, 'invalid_redirect_uri',
    'G7: one bad URI refuses all, and is named',
    members => {
        error_description => 'redirect_uris[1] must use https, or a private scheme with a dot such as '
          . 'com.example.app' } );
oauth_error(
    register( redirect_uris => [$cursor], post_logout_redirect_uris => ['myapp:/bye'] ),
    400, 'invalid_redirect_uri', 'G7: ... also one for the return from a logout' );
oauth_error(
    register( redirect_uris => [ 'com.example.app:/cb', $cursor ], application_type => 'web' ),
    400, 'invalid_redirect_uri',
    'G7: a scheme with a dot is not for application_type web',
    members => { error_description => 'redirect_uris[0] must use https for application_type web' } );
my @never = qw(javascript data file vbscript blob about intent http httpx ws wss ftp view-source);
policy( { redirect => { dotless_schemes => \@never } } );
oauth_error(
    register( redirect_uris => ["$_://app.example/cb"] ), 400, 'invalid_redirect_uri',
    "G7 javascript_listed: $_ is refused, whatever redirect.dotless_schemes lists" ) for @never;
oauth_error( register( redirect_uris => [$cursor] ), 400, 'invalid_redirect_uri', 'G7: ... and cursor, not listed' );
policy( { redirect => { dotless_schemes => ['myapp'] } } );
registered(
    register( redirect_uris => [ 'myapp:/cb', 'com.example.app:/cb' ], token_endpoint_auth_method => 'none' ), {},
    'G7: a scheme that the row lists is taken, beside one with a dot' );
policy( { redirect => { dotless_schemes => undef } } );
policy(
    {   dcr      => { allowed_grant_types => ['client_credentials'], default_scopes      => [] },
        redirect => { allowed_schemes     => ['com.example.app'],    allow_http_loopback => false } } );
my $service = registered(
    register( grant_types => ['client_credentials'] ),
    { grant_types => ['client_credentials'], response_types => [], scope => undef },
    'a listed grant type is taken; without default_scopes none is registered' );
oauth_error( register(), 400, $md, 'and one that is not listed any more is refused' );
registered(
    register( grant_types => ['client_credentials'], redirect_uris => ['com.example.app:/cb'] ), {},
    'a listed scheme is taken' );
oauth_error(
    register( grant_types => ['client_credentials'], redirect_uris => ['http://127.0.0.1/cb'] ), 400,
    'invalid_redirect_uri', 'loopback is refused where the row says so' );
oauth_error(
    register( grant_types => ['client_credentials'], token_endpoint_auth_method => 'none' ), 400, $md,
    'client_credentials without a secret is refused, whatever the row says' );
policy( { dcr => { allowed_grant_types => [ $Authz::Ciba::GRANT, 'refresh_token' ] } } );
registered(
    register( grant_types => [ $Authz::Ciba::GRANT, 'refresh_token' ] ),
    { grant_types => [ $Authz::Ciba::GRANT, 'refresh_token' ], response_types => [] },
    'the CIBA grant is taken once the row lists it' );
oauth_error(
    register( grant_types => [$Authz::Ciba::GRANT], token_endpoint_auth_method => 'none' ), 400, $md,
    '... and not without a secret: only a confidential client can use it (specification 4.3)' );
policy(
    {   dcr => {
            allowed_grant_types  => [ 'authorization_code', 'refresh_token' ], default_scopes => ['openid'],
            allowed_auth_methods => ['none'] },
        redirect => { allowed_schemes => [], allow_http_loopback => true } } );
oauth_error( register(), 400, $md, 'a method that dcr.allowed_auth_methods does not list' );
registered( register( token_endpoint_auth_method => 'none' ), { scope => 'openid' }, 'one that it lists' );
policy( { dcr => { allowed_auth_methods => undef, require_statement => true } } );
oauth_error(
    register(), 400, $md,
    'require_statement: 400 invalid_client_metadata (decisions.md "Registration refused")' );
policy( { dcr => { require_statement => false }, enabled => false } );
oauth_error( register(), 403, 'access_denied', 'switched off: 403 access_denied' );
is( register()->header('WWW-Authenticate'), undef, 'without a challenge: registration takes no credentials' );
oauth_error(
    register( grant_types => ['client_credentials'] ), 403, 'access_denied',
    'switched off speaks before other reasons' );
policy( { enabled => true } );
is( sql('SELECT count(*) FROM client') - $before, 10, 'nothing that policy denied is stored' );

# An operator's own rule.
my $rule = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/register.rego', kind => 'rego', version => '1', enabled => true,
        content =>
          qq{package custom.register\ndeny contains "names like this are taken" if input.registration.client_name == "Bank"\n}
    } );
is( $rule->status, 201, 'an operator rule is saved' ) or diag( $rule->text );
$answer = register( client_name => 'Bank' );
oauth_error( $answer, 400, $md, 'custom.register.deny denies' );
is( $answer->member('error_description'), 'names like this are taken', 'with its own words' );
registered( register( client_name => 'Shop' ), {}, 'and only what it names' );

# ---- the registered grants are a ceiling (decisions.md "Unregistered grants")

my %all = ( grants => [qw(client_credentials authorization_code refresh_token)], scopes => ['orders.read'] );
$stack->bind( $_->{client_id}, \%all ) for $made, $service;
oauth_ok( $stack->token( @$service{qw(client_id client_secret)} ), {}, 'a client that registered client_credentials' );
$answer = $stack->token( @$made{qw(client_id client_secret)} );
oauth_error( $answer, 400, 'unauthorized_client', 'one that did not, although a binding allows it' );
is( $answer->member('error_description'), 'The client is not registered for this grant type', '... is told so' );
my ( $admins, $secret ) = $stack->make_client( 'unregistered', \%all );
oauth_ok(
    $stack->token( $admins, $secret ), {},
    "the administrator's clients register no grants: the binding decides" );

# ---- names

$stack->sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://idp.example', 'ann')});
admin_error(
    $stack->admin( POST => '/admin/api/clients', json => { clientId => 'ann', clientType => 'public' } ), 409,
    'a client cannot be made with the name of a subject (decisions.md "Subject identifiers")', error => 'conflict' );
is( sql(q{SELECT count(*) FROM client WHERE client_id = 'ann'}), 0, 'and is not stored' );
is( $stack->admin( POST => '/admin/api/clients', json => { clientId => 'bob', clientType => 'public' } )->status, 201,
    'another name is free' );

# ---- rate limit (specification 8)

my $limited = Authz::Stack->start(
    beside   => $stack,
    settings => { SVC_RATE_LIMIT_ENABLED => 'true', SVC_RATE_LIMIT_REQUESTS => 2, SVC_RATE_LIMIT_WINDOW => 3600 } );
my @status = map { $limited->http->post( '/register', json => { redirect_uris => [$uri] } )->status } 1 .. 3;
is( "@status", '201 201 429', '/register is rate limited per client address (specification 8)' );

# ---- no more than SVC_DYNAMIC_CLIENTS_MAX (oauth.md 3.5, 5: rate limit, cap and reaper; client_room.t has the rest)

my $held = sql(q{SELECT count(*) FROM client WHERE registration_type = 'DCR'});
sql('UPDATE client SET registered_from = NULL');    # the share of one address does not count here
$stack->restart_service( settings => { SVC_DYNAMIC_CLIENTS_MAX => $held + 2 } );
registered( register(), {}, 'cap: one below' );
my $last = registered( register(), {}, 'cap: the last one' );
$answer = register();
oauth_error( $answer, 503, 'temporarily_unavailable', 'cap: one more is 503' );
like(
    $answer->member('error_description'), qr/\AThe maximum number of self-registered clients is reached/,
    '... which says why' );
like( $answer->header('Retry-After'), qr/\A\d+\z/, '... and to come back' );
is( sql(q{SELECT outcome, client_id FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'error|',
    '... audited, without a client' );
is( sql(q{SELECT count(*) FROM client WHERE registration_type = 'DCR'}), $held + 2, '... and stores nothing' );
oauth_error(
    register( grant_types => ['client_credentials'] ), 400, $md,
    '... what policy refuses is refused as ever' );
my ( $own_id, $own_secret ) = $stack->make_client( 'admins', undef );
ok( defined $own_secret, 'cap: the administrator makes clients all the same' );
oauth_error(
    $stack->token( @$full{qw(client_id client_secret)} ), 400, 'unauthorized_client',
    '... and those that are there are served' );
sql("UPDATE client SET registration_type = 'ADMIN' WHERE client_id = '$last->{client_id}'");
registered( register(), {}, "cap: the administrator's do not count" );
oauth_error( register(), 503, 'temporarily_unavailable', '... and it is full again' );
sql("DELETE FROM client WHERE client_id = '$public->{client_id}'");
registered( register(), {}, 'cap: where one goes there is room' );
my @crowd = Authz::Client::together(
    map {
        [ $stack->http, $stack->http->octets( POST => '/register', json => { redirect_uris => [$uri] }, close => 1 ) ]
    } 1 .. 40 );
is( scalar( grep { $_->status == 503 } @crowd ), 40, 'cap: 40 at once are all refused' );
$stack->restart_service( settings => { SVC_DYNAMIC_CLIENTS_MAX => $held + 12, SVC_TRUSTED_PROXY_COUNT => 1 } );
@crowd = Authz::Client::together(
    map {
        my @from = ( 'X-Forwarded-For' => "192.0.2.$_" );
        my %json = ( redirect_uris     => [$uri] );
        [ $stack->http, $stack->http->octets( POST => '/register', headers => \@from, json => \%json, close => 1 ) ]
    } 1 .. 40 );
is( scalar( grep { $_->status == 201 } @crowd ), 10, 'cap: of 40 at once with room for 10, 10 are taken' );
is( scalar( grep { $_->status != 201 && $_->status != 503 } @crowd ), 0, '... and the others hear 503' );
is( sql('SELECT count(DISTINCT client_id) FROM client'), sql('SELECT count(*) FROM client'),
    '... each with a name of its own' );

# ---- a worker remembers clients, but not without end

my $memory =
  Authz::Stack->start( beside => $stack, web_workers => 1, settings => { SVC_DYNAMIC_CLIENTS_MAX => 100_000 } );
my ($worker) = $memory->workers('web');
my $resident = sub {
    open my $in, '<', "/proc/$worker/status" or die "status: $!";
    local $/ = undef;
    return readline($in) =~ /^VmRSS:\s+(\d+)/m ? $1 : die 'no VmRSS';
};
my @large = map {
    my $n = $_;
    $memory->http->post(
        '/register',
        json => {
            token_endpoint_auth_method => 'none',
            redirect_uris              => [ map { "https://a$n.example/$_/" . 'x' x 2000 } 1 .. 25 ] }
    )->member('client_id')
} 1 .. 150;
$memory->http->get('/authorize?client_id=x&redirect_uri=y') for 1 .. 5;
my $size = $resident->();
$memory->http->get("/authorize?client_id=$_&redirect_uri=https://evil.example/") for @large;
SKIP: {
    # ASan keeps what was freed for a while.
    skip 'the worker runs under a sanitizer', 1
      if do { open my $in, '<', "/proc/$worker/maps" or die "maps: $!"; local $/ = undef; readline($in) =~ /libasan/ };
    cmp_ok(
        $resident->() - $size, '<', 4096,
        'a worker that looked at 150 clients of 50 kB each keeps some of them, not all' );
}

my $counted = $stack->http->get('/metrics')->body;
like(
    $counted, qr/^svc_decisions_total\{evaluation="register",outcome="$_",/m,
    "a registration's decision is counted: $_ (gateway-admin.md 7.1)" ) for qw(allowed denied);

done_testing;

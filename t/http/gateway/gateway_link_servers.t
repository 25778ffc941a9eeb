# Accounts that people link to managed resources (gateway-admin.md 3.5): answers of upstreams and their authorization servers,
# secrets that people type, Disconnect, keys, and that no secret is shown anywhere. gateway_link.t has the link itself.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Linking;
use Authz::Peer     ();
use Authz::Upstream ();

my $at = linking_start();
linking_begin();
my ( $stack, $upstream, $base ) = @$at{qw(stack upstream base)};
resource( notes => $upstream->auth );
my ( $ann, $eve ) = map { browser_of($_) } qw(ann eve);

my %as_form = ( type => 'application/x-www-form-urlencoded' );

# ---- hostile answers

for my $case (
    [ { token => { status => 500, body => '<html>' } }, qr/upstream_invalid_response/, 'a token endpoint that fails' ],
    [   { token => { status => 400, error => 'invalid_grant', access_token => undef } }, qr/upstream_invalid_response/,
        'a code that it refuses' ],
    [ { token => { body => '[1]' } }, qr/upstream_invalid_response/, 'an answer that is no object' ],
    [   { token => { body => '{"access_token":"a","access_token":"b"}' } }, qr/upstream_invalid_response/,
        'an answer with a member twice' ],
    [   { token => { access_token => "a\r\nX-Evil: 1" } }, qr/upstream_invalid_response/,
        'a token that would begin a header' ],
    [ { token => { access_token  => '' } },         qr/upstream_invalid_response/, 'an empty token' ],
    [ { token => { access_token  => 'x' x 8001 } }, qr/upstream_invalid_response/, 'a token beyond the limit' ],
    [ { token => { token_type    => 'DPoP' } },     qr/upstream_invalid_response/, 'a token of another type' ],
    [ { token => { refresh_token => 7 } },          qr/upstream_invalid_response/, 'a refresh token that is no text' ],
    [   { token => { %as_form, status => 200, body => 'access_token=a&access_token=b' } },
        qr/upstream_invalid_response/,
        'M7: a form with a parameter twice' ],
    [   { token => { status => 200, type => 'text/html', body => 'access_token=a' } }, qr/upstream_invalid_response/,
        'M7: a form of another media type' ],
    [ { token => { error => 'slow_down' } },  qr/upstream_invalid_response/, 'an error with status 200' ],
    [ { token => { body  => ' ' x 70_000 } }, qr/upstream_unreachable/,      'an answer beyond the limit' ],
    [ { token => { close => 1 } },            qr/upstream_unreachable/,      'no answer' ],
    [   { authorize => { error => 'server_error' } }, qr/upstream_invalid_response/,
        'an error of the authorization endpoint' ],
    [ { authorize => { error => 'access_denied' } }, qr/No access was given/, 'a person who declines there' ],
    [ { authorize => { code  => undef } },           qr/link_invalid/,        'neither code nor error' ],
  )
{
    $stack->sql('DELETE FROM gateway_connection');
    my $url = credential( 'ann', 'notes' )->{url};
    $upstream->misbehave( %{ $case->[0] } );
    my $end = connect_by( $ann, $url );
    like( $end->body, $case->[1], "$case->[2]: refused" );
    is( rows(), 0, '... and nothing is stored' );
    $upstream->behave;
}

# ---- answers as stock servers give them (M7)

for my $case (
    [ { refresh_token => '', id_token => '', scope => '', expires_in => '' }, 'empty_refresh: "" is absent' ],
    [ {%as_form},                                                             'a form is read by its type' ],
    [ { %as_form, refresh_token => '', scope => '' },                         'empty_refresh: also in a form' ] )
{
    $stack->sql('DELETE FROM gateway_connection');
    $upstream->misbehave( token => $case->[0] );
    ok( reconnect($ann), "M7 $case->[1]: connected" );
    my $got = credential( 'ann', 'notes' );
    is( $got->{error}, '', '... a call has its credential' );
    is_deeply( $got->{missing} // [], [], '... and lacks no scope' );
    $upstream->behave;
}

# ---- the issuer of the answer (RFC 9207)

resource( issued => $upstream->auth( issuer => $upstream->url ) );
for my $case (
    [ 'https://other.example', qr/link_invalid/,  'the iss of another server: refused' ],
    [ $upstream->url,          qr/<h1>Connected/, 'the right iss: accepted' ] )
{
    my $url = credential( 'ann', 'issued' )->{url};
    $upstream->misbehave( authorize => { iss => $case->[0] } );
    like( connect_by( $ann, $url )->body, $case->[1], $case->[2] );
}
$upstream->behave;

# ---- discovery and registration

resource(
    found => $upstream->auth(
        discovery => 'prm', registration => 'dcr',
        map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint) ) );
$upstream->forget;
ok( reconnect( $ann, 'found' ), 'endpoints by RFC 9728 and RFC 8414, client by RFC 7591' );
my ($registered) = $upstream->seen('register');
is_deeply(
    $registered->{redirect_uris}, ["$base/gateway/connect/callback/found"],
    '... registered with the redirect_uri of the resource' );
is( ( $upstream->seen('authorize') )[0]{resource}, $upstream->url('/api'), '... and resource is sent (RFC 8707)' );
like(
    ( $upstream->seen('token') )[0]{'header:authorization'}, qr/\ABasic /,
    '... with the secret that the server gave' );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect( $ann, 'found' ), 'a second link' );
is( scalar $upstream->seen('register'), 1,     '... uses the same registration' );
is( $registered->{application_type}, 'native', '... as a native client, since the issuer is on http (MCP, RFC 7591)' );

# Servers that refuse the parameter resource (M4).
my %usual =
  map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint);
for my $case ( [ never => undef, undef ], [ authorize_only => $upstream->url('/api'), undef ] ) {
    my ( $param, @sent ) = @$case;
    resource( found => $upstream->auth( discovery => 'prm', registration => 'dcr', resourceParam => $param, %usual ) );
    $stack->sql('DELETE FROM gateway_connection');
    ok( reconnect( $ann, 'found' ), "M4 resource_$param: connected" );
    is_deeply(
        [ map { ( $upstream->seen($_) )[-1]{resource} } qw(authorize token) ],
        \@sent, 'M4: ... resource is sent where the setting says' );
}
$stack->sql('DELETE FROM gateway_connection');
for my $place ( { authorize => { error => 'invalid_target' } }, { token => { error => 'invalid_target' } } ) {
    my $url = credential( 'ann', 'found' )->{url};
    $upstream->misbehave(%$place);
    like( connect_by( $ann, $url )->body, qr/target_refused/, 'M4: invalid_target is named on the page' );
    $upstream->behave;
}

# A server that does not announce PKCE (M5), and issuers with and without the lone slash of an empty path (M3).
for my $case (
    [ 'S256',  qr/upstream_invalid_response/, 'M5: S256 that is not announced is refused' ],
    [ 'force', qr/<h1>Connected/,             'M5 force_s256: ... and goes with pkce force' ] )
{
    my ( $pkce, $page, $what ) = @$case;
    $upstream->misbehave( metadata => { code_challenge_methods_supported => undef, issuer => $upstream->url . '/' } );
    $stack->sql('DELETE FROM fetched_document');
    $stack->restart_service;
    resource( found => $upstream->auth( discovery => 'prm', registration => 'dcr', pkce => $pkce, %usual ) );
    $stack->sql('DELETE FROM gateway_connection');
    my $url = credential( 'ann', 'found' )->{url};
    like( ( $pkce eq 'S256' ? $ann->get($url) : connect_by( $ann, $url ) )->body, $page, $what );
}
is( ( $upstream->seen('authorize') )[-1]{code_challenge_method}, 'S256', 'M5: ... with a challenge' );
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
resource( found => $upstream->auth( discovery => 'prm', registration => 'dcr', %usual ) );

# A configured issuer that the upstream does not name (M3).
my $mcp  = Authz::Peer->start( host => '127.0.0.1' );
my $none = {
    jsonrpc => '2.0', id => 1,
    result  => { resultType => 'complete', tools => [], supportedVersions => ['2026-07-28'] } };
$mcp->set( '/mcp' => { body => $none } );
for my $case (
    [ 'https://other.example', qr/does not name upstreamAuth\.issuer/, 'configured_issuer: it wins over the list' ],
    [ $upstream->url . '/',    undef,                                  'one that is named but for the lone slash' ] )
{
    my ( $named, $warns, $what ) = @$case;
    $mcp->set( '/.well-known/oauth-protected-resource/mcp' =>
          { body => { resource => $mcp->url('/mcp'), authorization_servers => [$named] } } );
    resource(
        tools        => $upstream->auth( discovery => 'prm', issuer => $upstream->url, registration => 'dcr', %usual ),
        upstreamType => 'MCP', upstreamUrl => $mcp->url('/mcp') );
    $stack->sql("DELETE FROM $_") for qw(gateway_connection fetched_document);
    $stack->restart_service;
    ok( reconnect( $ann, 'tools' ), "M3 $what" );
    my $synced = $stack->admin(
        POST => '/admin/api/managed-resources/tools/sync',
        json => { subject => 'ann', idp => 'corp' } );
    is( $synced->status, 200, 'M3: ... a sync succeeds' ) or diag $synced->text;
    like( $synced->json->{warning} // '', $warns // qr/\A\z/, 'M3: ... and warns if it is not named' );
}
like( $stack->{service}->log_text, qr/tools: its upstream does not name upstreamAuth/, 'M3: ... in the log too' );

# Where the metadata is, and what to ask for, as the upstream's challenge says (RFC 9728 5.1).
my %found =
  map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint scopes);
$upstream->misbehave( resource => { scopes_supported => [ 'notes.list', 'bad scope', 7 ] } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
resource( found => $upstream->auth( discovery => 'prm', registration => 'dcr', %found ) );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect( $ann, 'found' ), 'a resource without configured scopes' );
is( ( $upstream->seen('authorize') )[-1]{scope}, 'notes.list', '... asks for scopes_supported of the metadata' );
$upstream->misbehave(
    resource => { status    => 404 },
    api      => { challenge => 'Bearer resource_metadata="' . $upstream->url('/named') . '", scope="notes.call"' } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect( $ann, 'found' ), 'an upstream whose metadata is where its 401 says' );
is( ( $upstream->seen('authorize') )[-1]{scope}, 'notes.call', '... is asked for the scopes of the challenge' );
for my $case (
    [ 'http://192.0.2.1/named',           'an address that may not be asked' ],
    [ $upstream->url('/named?elsewhere'), 'a document of another resource' ] )
{
    $upstream->misbehave(
        resource => { status    => 404 }, named => { resource => 'https://elsewhere.example/' },
        api      => { challenge => qq{Bearer resource_metadata="$case->[0]"} } );
    $stack->sql('DELETE FROM gateway_connection');
    like(
        $ann->get( credential( 'ann', 'found' )->{url} )->body,
        qr/upstream_unreachable/, "$case->[1] does not count" );
}
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
resource(
    found => $upstream->auth(
        discovery => 'prm', registration => 'dcr',
        map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint) ) );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect( $ann, 'found' ), 'back at the usual place' );

# The upstream names another authorization server than the one that the person chose.
my $other = Authz::Upstream->start;
$upstream->misbehave( resource => { authorization_servers => [ $other->url ] } );
$stack->sql('DELETE FROM fetched_document');
is( credential( 'ann', 'found' )->{error}, '', 'an upstream that names another server: the token still works' );
$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
is( credential( 'ann', 'found' )->{error}, 'link_required', '... and when it ends, the person has to choose again' );
is( scalar $other->seen('token'),          0, '... and the refresh token did not go to the other server' );
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
is( credential( 'ann', 'found' )->{error}, '', 'back at the first one, the refresh token is good' );
$stack->sql('DELETE FROM gateway_connection');
my @way = $ann->submit(
    $ann->get( credential( 'ann', 'found' )->{url} ),
    button => [ decision => 'connect' ],
    stop   => qr{/gateway/connect/callback} );
$upstream->misbehave( resource => { authorization_servers => [ $other->url ] } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;    # it remembers documents
@way = $ann->follow( Authz::Browser::location( $way[-1] ) );
like( $way[-1]->body, qr/link_expired/, 'it names another one while the person is away: the link is refused' );
is( scalar $other->seen('token'), 0, '... and the code did not go to the other server (RFC 9700 4.4)' );
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;

my $document = $stack->http->get('/.well-known/svc-gateway-client.json');
is( $document->status,              200, 'the client metadata document of resources that share a redirect address' );
is( $document->member('client_id'), "$base/.well-known/svc-gateway-client.json", '... names itself as client_id' );
is_deeply( $document->member('redirect_uris'), ["$base/gateway/connect/callback"], '... with the shared redirect_uri' );

# ---- the differences between providers

resource(
    odd => $upstream->auth(
        tokenAuthMethod    => 'client_secret_post', clientSecret => 'secret-' . 'e' x 32, tokenBodyFormat => 'json',
        pkce               => 'none',
        scopes             => [ 'a', 'b' ],    scopeSeparator => ',', scopeParam => 'user_scope',
        authorizeParams    => { team => 'x' }, tokenParams    => { extra => 'y' },
        accessTokenPointer => '/person/access_token' ) );
$upstream->forget;
$upstream->misbehave(
    token => { person => { access_token => 'at-' . 'f' x 32, scope => 'a,b', token_type => 'user' } } );
ok( reconnect( $ann, 'odd' ), 'a provider that differs' );
my ($asked) = $upstream->seen('authorize');
is_deeply(
    [ @{$asked}{qw(user_scope team)} ], [ 'a,b', 'x' ],
    '... gets scopeParam, scopeSeparator and authorizeParams' );
ok( !exists $asked->{scope} && !exists $asked->{code_challenge}, '... no scope, and no PKCE' );
my ($redeemed) = $upstream->seen('token');
is_deeply(
    [ @{$redeemed}{qw(header:content-type client_secret extra)} ], [ 'application/json', 'secret-' . 'e' x 32, 'y' ],
    '... and JSON with client_secret_post and tokenParams' );
is( credential( 'ann', 'odd' )->{value}, 'Bearer at-' . 'f' x 32, '... and its token stands at accessTokenPointer' );
$upstream->behave;

# ---- a secret that the person types

resource(
    keyed => {
        type => 'user_secret', header => 'X-Key', scheme => '', label => 'Key of The keyed',
        help => 'Make one in your settings.', validate => { method => 'GET', path => '/me' } } );
my $typed = $ann->get( credential( 'ann', 'keyed' )->{url} );
unlike( $typed->body, qr/<input[^>]*type="password"/, 'user_secret: the first page asks for no secret' );
( my $field ) = $ann->submit( $typed, button => [ decision => 'connect' ] );
like( $field->body, qr/<input[^>]*type="password".*Cancel/s,             'after Connect there is a field' );
like( $field->body, qr/Key of The keyed.*|Make one in your settings\./s, '... with its label and help' );

sub type_in {
    my ( $shown, $secret ) = @_;
    my %own = fields($shown);
    return $ann->post( "$base/gateway/link", form => [ %own, secret => $secret, decision => 'save' ] );
}
my $wrong = type_in( $field, 'bad-key' );
like( $wrong->body, qr/It was refused/, 'a secret that the upstream refuses (validate): the page asks again' );
unlike( $wrong->body, qr/bad-key/, '... without showing it' );
like( type_in( $field, 'a b' )->body, qr/a space/, 'a secret with a space: refused' );
is( type_in( $field, 'good-key' )->status, 303, 'a good secret: stored' );
is( type_in( $field, 'good-key' )->status, 410, '... once' );
my $got = credential( 'ann', 'keyed' );
is_deeply( [ @{$got}{qw(error header value)} ], [ '', 'X-Key', 'good-key' ], '... and it is the credential' );
is( credential( 'ann', 'keyed', 'good-key' )->{error}, 'link_required', 'once the upstream refuses it: link_required' );

# ---- Cancel, return_to

my $cancel = $ann->get( credential( 'ann', 'keyed' )->{url} );
my @hop    = $ann->submit( $cancel, button => [ decision => 'cancel' ] );
like( $hop[-1]->body, qr/<h1>Not connected/, 'Cancel connects nothing' );
$stack->sql('DELETE FROM gateway_connection');
my $own = $ann->get("$base/gateway/connect/notes?return_to=/portal/x%3Fa=1");
is( $own->status, 303, 'connecting without a client leads to the page of the link' );
is( connect_by( $ann, $own->header('Location') ) && $ann->url, "$base/portal/x?a=1",
    '... and at the end to return_to' );

for my $evil ( 'https://evil.example/', '//evil.example/', '/\\evil.example/', 'evil', '/a%0Ab', 'javascript:alert(1)' )
{
    is( $ann->get("$base/gateway/connect/notes?return_to=$evil")->status, 400, "return_to $evil: 400" );
}
is( $ann->get("$base/gateway/connect/none")->status, 400, 'an unknown resource: 400' );
resource( plain => { type => 'none' } );
is( $ann->get("$base/gateway/connect/plain")->status, 400, 'a resource without accounts of people: 400' );

# ---- Disconnect

my $list = $ann->get("$base/gateway/connect");
my %gone = fields($list);
is( $ann->post( "$base/gateway/connect/notes/disconnect", form => [ token => 'x' x 43 ] )->status, 400,
    'Disconnect with another token: 400' );
is( $eve->post( "$base/gateway/connect/notes/disconnect", form => [%gone] )->status, 400,
    q{... with another person's: 400} );
is( rows(), 1, '... and nothing is disconnected' );
$upstream->forget;
is( $ann->post( "$base/gateway/connect/notes/disconnect", form => [%gone] )->status, 303, 'Disconnect' );
is( rows(),                                                                          0, '... deletes the connection' );
like(
    ( $upstream->seen('revoke') )[0]{token}, qr/\Art-/,
    '... and revokes the refresh token at the upstream (RFC 7009)' );
like( audit(), qr/\Adisconnect allowed 303 ann .*"disconnected"/, '... with an audit row' );

# ---- expiry, rotation of the secret

my %form = fields( $ann->get( credential( 'ann', 'notes' )->{url} ) );
$stack->sql(q{UPDATE gateway_link_request SET expires_at = now() - interval '1 second'});
refused(
    $ann->post( "$base/gateway/link", form => [ %form, decision => 'connect' ] ), 410, qr/link_expired/,
    'a link whose time is over: 410' );
$stack->{settings}{SVC_GATEWAY_LINK_STATE_SECRET} = 'first-link-state-secret';
$stack->restart_service;
my $first = credential( 'ann', 'notes' )->{url};
is( $ann->get($first)->status, 200, 'a link of SVC_GATEWAY_LINK_STATE_SECRET' );
@{ $stack->{settings} }{qw(SVC_GATEWAY_LINK_STATE_SECRET SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS)} =
  ( 'second-link-state-secret', 'first-link-state-secret' );
$stack->restart_service;
is( $ann->get($first)->status, 200, 'after a rotation the previous secret is accepted' );
isnt( credential( 'ann', 'notes' )->{url}, $first, '... and new links are signed with the new one' );
delete $stack->{settings}{SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS};
$stack->restart_service;
is( $ann->get($first)->status, 400, '... and without the previous one the link is refused' );

# ---- the administrator

ok( reconnect($ann), 'a connection' );
my $admin = $stack->admin( GET => '/admin/api/managed-resources/notes/connections' );
is( $admin->status, 200, 'the administrator lists the connections of a resource' );
is_deeply(
    [ map {"$_->{subject} $_->{idpId} $_->{status} @{$_->{scopes}}"} @{ $admin->json } ],
    ['ann corp active notes.read'], '... with person, provider, status and scopes' );
unlike( $admin->body, qr/at-[0-9a-f]|rt-[0-9a-f]/, '... without tokens' );
is( $stack->admin( GET => '/admin/api/managed-resources/none/connections' )->status, 404,
    'of an unknown resource: 404' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections' )->status, 400,
    'DELETE without subject: 400' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections?subject=ann' )->status, 204,
    'DELETE of a person: 204' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections?subject=ann' )->status, 404, '... once' );
ok( reconnect($ann), 'a connection' );
like(
    ( $stack->authzctl(qw(resource connections notes)) )[1], qr/^ann +corp +active /m,
    'authzctl resource connections' );
is( ( $stack->authzctl(qw(resource disconnect notes --subject ann --yes)) )[0], 0, 'authzctl resource disconnect' );
is( rows(q{SELECT count(*) FROM gateway_connection WHERE resource = 'notes'}),  0, '... deletes the connection' );
ok( reconnect($ann), 'a connection' );
$stack->sql(q{DELETE FROM managed_resource WHERE name = 'notes'});
is( rows(q{SELECT count(*) FROM gateway_connection WHERE resource = 'notes'}), 0,
    'a deleted resource takes its connections with it' );
resource( notes => $upstream->auth );

# ---- secrets stay secret

ok( reconnect($ann), 'a connection' );
my $secrets = qr/(?:at|rt)-[0-9a-f]{32}|good-key|secret-[0-9a-f]{32}/;
unlike(
    $stack->sql('SELECT string_agg(a::text, chr(10)) FROM audit_log a'), $secrets,
    'no audit row has a token or a secret' );
unlike(
    $stack->sql('SELECT string_agg(c::text, chr(10)) FROM gateway_connection c'), $secrets,
    '... no row shows one' );
unlike( join( "\n", $stack->{service}->log_lines ), $secrets, '... no line of the log' );
unlike( $ann->get("$base/gateway/connect")->body,   $secrets, '... and no page' );
like(
    $stack->http->get('/metrics')->body, qr/^svc_link_total\{type="oauth_link",result="connected"\} [1-9]/m,
    'events are counted (svc_link_total)' );

# ---- another credential key

my ( $old_key, $new_key ) = ( $stack->settings->{SVC_CREDENTIAL_KEY}, 'the-credential-key-of-tomorrow' );

# Run `authzctl secrets reseal` with these keys, and return the exit status and "resealed unreadable" by kind.
sub reseal {
    my ( $key, $previous ) = @_;
    local @{ $stack->{settings} }{qw(SVC_CREDENTIAL_KEY SVC_CREDENTIAL_KEY_PREVIOUS)} = ( $key, $previous );
    my ( $status, $text ) = $stack->authzctl(qw(secrets reseal --json));
    my %count = map { ( $_->{kind} => "$_->{resealed} $_->{unreadable}" ) }
      @{ JSON::PP::decode_json( $text =~ /(\[.*\])/s ? $1 : '[]' ) };
    return ( $status, \%count );
}
my ( $status, $count ) = reseal( $old_key, '' );
is( $status,                                          0,  'secrets reseal with the key that sealed everything' );
is( join( ' ', grep { $_ ne '0 0' } values %$count ), '', '... has nothing to do' );
( $status, $count ) = reseal( $new_key, '' );
is( $status, 1, 'with another key and no previous one: exit status 1' );
like( $count->{connections}, qr/\A0 [1-9]/, '... the secrets are unreadable and stay as they are' );
is( $ann->get("$base/gateway/connect")->status, 200, '... and the service still opens them' );
@{ $stack->{settings} }{qw(SVC_CREDENTIAL_KEY SVC_CREDENTIAL_KEY_PREVIOUS)} = ( $new_key, $old_key );
$stack->restart_service;
is( credential( 'ann', 'notes' )->{error}, '', 'a service with the new key opens what the previous one sealed' );
( $status, $count ) = reseal( $new_key, $old_key );
is( $status, 0, 'secrets reseal with both keys' );
like( $count->{$_}, qr/\A[1-9]\d* 0\z/, "... has sealed all of: $_" )
  for 'client secrets', 'admin keys', 'signing keys', 'identity providers', 'browser sessions', 'managed resources',
  'connections';
( $status, $count ) = reseal( $new_key, $old_key );
is( join( ' ', grep { $_ ne '0 0' } values %$count ), '', 'a second run has nothing to do' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS};
$stack->restart_service;
is( credential( 'ann', 'notes' )->{error}, '', 'then the new key alone opens the connection' );
is( ( reseal( $old_key, '' ) )[0],         1,  '... and the old one does not' );
$stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS} = 'too-short';
is( ( $stack->authzctl(qw(config check)) )[0], 78, 'a previous key of less than 16 octets is refused at start' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS};

# ---- the compromise, and the switch

$stack->{settings}{SVC_CREDENTIAL_KEY_DISCARD_PER_USER} = 'true';
$stack->restart_service;
$stack->http->get('/health');
is( rows(), 0, 'SVC_CREDENTIAL_KEY_DISCARD_PER_USER deletes the connections' );
is( rows('SELECT count(*) FROM gateway_link_request'), 0, '... and the links' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_DISCARD_PER_USER};
$stack->{settings}{SVC_GATEWAY_ENABLED} = 'false';
$stack->restart_service;
is( $ann->get("$base/gateway/$_")->status, 404, "with SVC_GATEWAY_ENABLED=false /gateway/$_ is 404" )
  for 'link?state=x', 'connect', 'connect/notes', 'connect/callback?state=x';
done_testing;

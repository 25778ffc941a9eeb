# The schemas of policy's input documents (etc/policy/inputs): each real input matches, and each member that a schema describes is
# in a real input (policy.md 6.2; doc/policy-guide.md, section 2).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Inputs;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $idp = Authz::Idp->start;

# A claim of the person is elsewhere, and so incomplete.
my %elsewhere = ( _claim_names => { teams => 's' } );
$idp->user(
    { sub => 'ann', email => 'ann@example.org', groups => ['staff'], acr => 'urn:loa:1', amr => ['pwd'], %elsewhere } );
my $stack = Authz::Stack->start(
    settings => { Authz::Idp::settings(), SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
$idp->register($stack);
$stack->patch_row( 'svc.operator.controls.claims', { incomplete => 'allow' } );
$stack->patch_row(
    'svc.operator.controls.trust',
    { statement_issuers => [ $idp->issuer ], trusted_issuers => [ $idp->issuer ] } );
my $name    = 'https://api.example/orders';
my $details = JSON::PP->new->encode( [ { type => 'payment', actions => ['initiate'] } ] );
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource => { types => { 'urn:r:orders' => { scopes  => ['orders.read'], indicator => $name } } },
        rar      => { types => { payment        => { actions => ['initiate'] } } } } );
my %all = (
    grants => [qw(client_credentials authorization_code refresh_token urn:ietf:params:oauth:grant-type:token-exchange)],
    scopes => [qw(openid orders.read introspection authzen)], resource_types => ['urn:r:orders'], resources => [$name],
    authorization_details => ['payment'],
    endpoints             => [qw(introspect authzen)],
    ttl                   => 600 );
my $cb   = 'https://app.example/cb';
my @shop = $stack->make_client( 'shop', \%all,                            redirectUris => [$cb] );
my @once = $stack->make_client( 'once', { %all, jit_single_use => true }, scope        => 'openid orders.read' );
my @none = $stack->make_client( 'none', undef );
Authz::Grant->people( $stack, idp => 'grants', claims => { 'urn:svc:claims_incomplete' => ['teams'] } );
my @agent = ( 'User-Agent' => 'curl/8.5.0' );

sub post {
    my ( $path, $who, %form ) = @_;
    my @header = ref $who ? Authz::Client::basic(@$who) : Authz::Client::bearer($who);
    return $stack->http->post(
        $path, headers => [ @header, @agent ],
        form => [ map { ( $_ => $form{$_} ) } sort keys %form ] );
}

# ---- issuance, with all that a request may have

my %own   = ( grant_type => 'client_credentials' );
my $token = post(
    '/token', \@shop, %own, scope => 'orders.read', resource => $name, resource_types => 'urn:r:orders',
    authorization_details => $details );
oauth_ok( $token, { scope => 'orders.read' }, 'a client for itself, with resource, types and details' );
oauth_ok( post( '/token', \@shop, %own ),                               {}, 'without scope' );
oauth_ok( post( '/token', \@once, %own, scope => 'orders.read other' ), {}, 'with a ceiling, and a token for one use' );
oauth_error( post( '/token', \@none, %own ), 400, 'unauthorized_client', 'a refused one' );

my $code = Authz::Grant->code(
    $stack, client => 'shop', scope => 'openid orders.read', nonce => 'n', acr => 'urn:loa:2', amr => ['pwd'],
    idp => 'grants' );
my $user = post( '/token', \@shop, Authz::Grant->redemption($code) );
oauth_ok( $user, {}, 'a code' );
my $refresh = $user->member('refresh_token');
my $bound   = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@shop), Authz::Dpop->new->show( $stack, '/token' ), @agent ],
    form => [%own] );
oauth_ok( $bound, { token_type => 'DPoP' }, 'a DPoP proof' );
oauth_ok(
    post( '/token', \@shop, grant_type => 'refresh_token', refresh_token => $refresh, scope => 'openid' ),
    {}, 'a refresh token' );

$stack->make_client( 'open', \%all, clientType => 'public' );
my $lone = Authz::Grant->redeem( $stack, 'open', Authz::Grant->code( $stack, client => 'open' ) );
oauth_ok( Authz::Grant->refresh( $stack, 'open', $lone->member('refresh_token') ), {}, 'one that is replaced' );

my $browser = Authz::Browser->new;
my $address = $stack->base . '/authorize?' . Authz::Client::form(
    response_type => 'code', client_id => 'shop', redirect_uri => $cb, scope => 'openid', state => 's',
    idp_hint      => 'corp' );
like(
    Authz::Browser::location( ( $browser->follow( $address, stop => qr{\Ahttps://} ) )[-1] ) // '',
    qr/[?&]code=/, 'a sign-in, with its preview' );

# ---- registration

sub register {
    my (%more) = @_;
    return $stack->http->post(
        '/register', headers => \@agent,
        json => { redirect_uris => [$cb], client_name => 'App', scope => 'openid', %more } );
}
my $publish = sub {
    my (%more) = @_;
    return $idp->id_token( { iss => $idp->issuer, iat => int time, %more } );
};
is( register()->status, 201, 'a plain registration' );
$stack->patch_row(
    'svc.entitlements.bindings',
    { software => { crm => { %all, scopes => [qw(openid orders.read)] } } } );
my $stated = register(
    software_statement => $publish->(
        software_id => 'crm', software_version => '2', grants => ['client_credentials'], resources => [$name],
        scope       => 'orders.read' ),
    grant_types => ['client_credentials'] );
is( $stated->status, 201, 'one with a statement' ) or diag $stated->text;
my @stated = ( $stated->member('client_id'), $stated->member('client_secret') );
my $theirs = post( '/token', \@stated, %own, scope => 'orders.read' );
oauth_ok( $theirs, {}, 'a token of that client' );

# ---- introspection

sub ask { my ( $who, $text, %more ) = @_; return post( '/introspect', $who, token => $text, %more ) }
my $text = $token->member('access_token');
oauth_ok(
    ask( \@shop, $text, context => '{"scopes":["orders.read"],"purpose":"test"}' ), { active => true },
    'a token' );
oauth_ok( ask( \@shop, $theirs->member('access_token') ), { active => true }, 'one of a client with a statement' );
my $owner = $stack->token_text(
    $stack->make_client(
        'owner', { grants => ['client_credentials'], scopes => [qw(uma_protection delegation_management)] } ),
    scope => 'uma_protection delegation_management' );
my @owner = ( headers => [ Authz::Client::bearer($owner), @agent ] );
my $album = $stack->http->post(
    '/resource_registration/resource', @owner,
    json => { type => 'urn:r:album', resource_scopes => ['view'] } )->member('_id');
my $key = $stack->sql(q{SELECT id FROM client WHERE client_id = 'shop'});
$stack->sql(q{UPDATE client SET software_id = 'owned' WHERE client_id = 'owner'});
my $given = $stack->http->post(
    '/delegation', @owner,
    json => {
        grantee_type => 'client', grantee_client_id => $key, resource_id => $album, scopes => ['view'],
        expires_at   => '2035-01-01T00:00:00Z' } );
is( $given->status, 201, '(a delegation)' ) or diag $given->text;
oauth_ok( ask( \@shop, $text ), { active => true }, 'one of a client to which a resource is delegated' );

sub exchange {
    my ( $subject, $kind, @more ) = @_;
    my $urn = 'urn:ietf:params:oauth';
    return post(
        '/token', \@shop,
        grant_type         => "$urn:grant-type:token-exchange", subject_token => $subject,
        subject_token_type => "$urn:token-type:$kind",          @more );
}
oauth_ok(
    ask( \@shop, exchange( $text, 'access_token' )->member('access_token') ), { active => true },
    'one that was exchanged for a token of a client to which a resource is delegated' );
my $chained = exchange(
    $idp->id_token(
        {   iss => $idp->issuer, sub => 'bea', exp => time + 600, may_act => { sub => 'shop' },
            act => { sub => 'before' } } ),
    'id_token' )->member('access_token');
oauth_ok(
    ask( \@shop, exchange( $chained, 'access_token' )->member('access_token') ), { active => true },
    'one of a chain that began with an ID token' );
ok( ask( \@stated, $text )->status != 500, 'a caller with a statement' );
oauth_ok( ask( \@shop, $user->member('access_token') ),  { active => true }, 'one of a user' );
oauth_ok( ask( \@shop, $refresh ),                       { active => true }, 'a refresh token' );
oauth_ok( ask( \@shop, $bound->member('access_token') ), { active => true }, 'one that is bound to a key' );
inactive( ask( \@shop, $text =~ s/.{6}\z/AAAAAA/r ), 'invalid_token', 'an unknown one' );
my $bearer = post( '/token', \@shop, %own, scope => 'introspection', resource => $name )->member('access_token');
ok( ask( $bearer, $text )->status < 500, 'a caller with a token' );
is( $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer( $user->member('access_token') ), @agent ] )
      ->status,
    200, 'the service itself asks, for /userinfo' );

# ---- access decisions

my $asker = post(
    '/token', \@shop, %own, scope => 'authzen', resource => $name,
    resource_types => 'urn:r:orders' )->member('access_token');
for my $who ( [ Authz::Client::basic(@stated) ], [ Authz::Client::bearer($asker) ] ) {
    my $answer = $stack->http->post(
        '/access/v1/evaluation', headers => [ @$who, @agent ],
        json => {
            subject  => { type  => 'user',  id         => 'ann', properties => { team => 'a' } },
            action   => { name  => 'read',  properties => { deep => true } },
            resource => { type  => 'order', id         => '7', properties => { open => false } },
            context  => { place => 'shop' } } );
    is( $answer->status, 200, 'an access decision' ) or diag $answer->text;
}

# The form of a JWT access token, and why another one is opaque (world.md T1, T3).
my $form = 'https://form.example';
$stack->patch_row( 'svc.registry.jwt_resources', { $form => { claims => ['acr'] } } );
my @form = $stack->make_client(
    'form',
    {   grants    => ['client_credentials'], scopes => [qw(orders.read authzen)], resources => [$form],
        endpoints => ['introspect'] } );
for my $scope ( 'orders.read', 'orders.read authzen' ) {
    my $got = post( '/token', \@form, %own, scope => $scope, resource => $form );
    oauth_ok(
        ask( \@form, $got->member('access_token') ), { active => true },
        "a token of a resource with JWTs: $scope" );
}

# Operator's rules fill the rest of the baseline.
my $rule = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        rules => [
            {   path    => 'custom/issue.rego',
                content => "package custom.issue\n\nclaims.tenant := \"acme\"\n\nobligations.log := [\"all\"]\n\n"
                  . "extensions.x := {\"y\": 1}\n\nblock_scopes contains \"openid\"\n\n"
                  . "deny contains {\"code\": \"none\", \"detail\": {\"x\": 1}} if input.client.id == \"none\"\n" } ] }
);
is( $rule->status, 200, 'a rule that adds to the answer' ) or diag $rule->text;
my $full = post( '/token', \@once, %own, scope => 'openid orders.read', authorization_details => $details );
oauth_ok( ask( \@shop, $full->member('access_token') ), { active => true }, 'a token with all that policy can add' );
$code = Authz::Grant->code(
    $stack, client => 'shop', scope => 'openid orders.read', idp => 'grants',
    details => JSON::PP->new->decode($details), resource_types => ['urn:r:orders'] );
$user = post( '/token', \@shop, Authz::Grant->redemption($code) );
ok( ask( \@shop, $user->member($_) )->status == 200, "introspection of its $_" ) for qw(access_token refresh_token);

# ---- the gateway

my $mcp       = Authz::Mcp->new($stack);
my $installed = $stack->admin(
    POST => '/admin/api/connectors/static-demo/install',
    json => { createResources => JSON::PP::true(), name => 'demo' } );
is( $installed->status, 201, 'a resource of a connector' ) or diag $installed->text;
$installed = $stack->admin(
    POST => '/admin/api/connectors/github/install',
    json =>
      { createResources => JSON::PP::true(), settings => { clientId => 'id', clientSecret => 'a secret of github' } } );
is( $installed->status, 201, '... and one of which a scope implies another' ) or diag $installed->text;
$mcp->resource(
    'linked',
    upstreamType => 'REST', upstreamUrl => 'https://upstream.example', resourceType => 'urn:r:linked',
    routes       => [ { id   => 'list', path  => '/list' } ],
    tools        => [ { name => 'list', route => 'list', inputSchema => { type => 'object' }, annotations => {} } ],
    upstreamAuth => { type => 'user_secret', header => 'X-Key' } );
sub call { return $mcp->modern( 'tools/call', {@_}, token => $mcp->token('mcp demo:read') )->status }
is( $mcp->modern( 'tools/list', {} )->status, 200, 'a list of tools' );
is( call( name => 'demo__get_status' ),       200, 'a call' );
is( call(
        name =>
          ( grep {/^github__/} map { $_->{name} } @{ $mcp->result( $mcp->modern( 'tools/list', {} ) )->{tools} } )[0] ),
    403,
    'a call for which the token lacks the scope' );
is( call( name => 'linked__list' ), 200, 'a call that needs an account' );
my $peer = Authz::Peer->start;

sub peer_answers {
    my ($result) = @_;
    return { body => { jsonrpc => '2.0', id => 1, result => { resultType => 'complete', %$result } } };
}
$mcp->resource(
    'files',
    upstreamType => 'MCP', upstreamUrl => $peer->url('/files'), mcpResources => 'live', mcpPrompts => 'pinned',
    interaction  => { roots => JSON::PP::true() } );
my %file = ( uri => 'file:///a', name => 'a', mimeType => 'text/plain' );

sub ask_files {
    my ( $method, $params, $result ) = @_;
    $peer->set( '/files' => peer_answers( { supportedVersions => [$Authz::Mcp::MODERN], %$result } ) );
    return $mcp->modern( $method, $params, at => 'files' )->status;
}

sub ask_all_files {
    is( ask_files( 'resources/list', {}, { resources => [ \%file ] } ), 200, 'a list of MCP resources' );
    is( ask_files(
            'resources/templates/list', {}, { resourceTemplates => [ { uriTemplate => 'file:///{a}', name => 'a' } ] }
        ),
        200,
        '... of their templates' );
    is( ask_files( 'resources/read', { uri => 'file:///a' }, { contents => [ { uri => 'file:///a', text => 'a' } ] } ),
        200, '... a read' );
    is( ask_files( 'prompts/list', {}, {} ), 200, '... a list of prompts' );
    is( ask_files( 'prompts/get', { name => 'review', arguments => { code => 'x' } }, { messages => [] } ),
        200, '... a get of one' );
    is( ask_files(
            'completion/complete',
            { ref        => { type => 'ref/prompt', name => 'review' }, argument => { name => 'code', value => 'x' } },
            { completion => { values => [] } } ),
        200,
        '... a completion for it' );
    my $ref = { type => 'ref/resource', uri => 'file:///{a}' };
    return is(
        ask_files(
            'completion/complete', { ref => $ref, argument => { name => 'a', value => 'x' } },
            { completion => { values => [] } } ),
        200,
        '... a completion' );
}
$peer->set( '/files' =>
      peer_answers( { supportedVersions => [$Authz::Mcp::MODERN], tools => [], prompts => [ { name => 'review' } ] } )
);
is( $stack->admin( POST => '/admin/api/managed-resources/files/sync' )->status, 200, 'prompts are read' );
ask_all_files();

# A read of which the upstream asks the client for its roots first. A question that policy allows leaves no row.
sub ask_for_roots {
    my %may = ( at => 'files', capabilities => { roots => {} } );
    $peer->set(
        '/files' => peer_answers(
            {   supportedVersions => [$Authz::Mcp::MODERN],
                resultType        => 'input_required', inputRequests => { r => { method => 'roots/list' } } } ) );
    my $asked = $mcp->result( $mcp->modern( 'resources/read', { uri => 'file:///a' }, %may ) );
    is( $asked->{resultType}, 'input_required', 'a question of the upstream' );
    my %answers = ( inputResponses => { r => { roots => [] } }, requestState => $asked->{requestState} );
    is( $mcp->modern( 'resources/read', { uri => 'file:///a', %answers }, %may )->status, 200, '... and the answer' );
    my $denied = $mcp->modern( 'resources/read', { uri => 'file:///no' }, %may );
    like( $denied->text, qr/Denied: no_roots/, '... and a question that policy denies, which the row has' );
    return;
}
my $no_roots =
  "package custom.gateway\n\ndeny contains \"no_roots\" if {\n\tinput.action.kind == \"roots\"\n\tinput.call.name == \"file:///no\"\n}\n";
is( $stack->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', content => $no_roots,
            enabled => JSON::PP::true() } )->status,
    201,
    'a rule about questions' );
ask_for_roots();
is( call( name => 'demo__get_status', arguments => { text => 'x' x 530_000 } ),
    200, 'a call with arguments that are too long for policy, which is denied' );
$stack->bind( 'shop', { %all, gateway_scopes => ['*'], resources => ['urn:svc:gateway'] } );
my $acting = exchange(
    $idp->id_token(
        {   iss => $idp->issuer, sub => 'bea', exp => time + 600, may_act => { sub => 'shop' },
            act => { sub => 'before' } } ),
    'id_token',
    resource => $mcp->address,
    scope    => 'demo:read' );
oauth_ok( $acting, {}, 'a token of a chain for the gateway' );
my @acting = ( token => $acting->member('access_token') );
is( $mcp->modern( 'tools/list', {},                             @acting )->status, 200, '... a list of tools' );
is( $mcp->modern( 'tools/call', { name => 'demo__get_status' }, @acting )->status, 200, '... and a call' );
$stack->patch_row( 'svc.operator.controls.audit', { argument_mode => 'full' } );
my $proxied =
  $stack->token_text( @{ $mcp->{client} }, scope => 'demo:read', resource => $stack->base . '/gateway/demo' );
is( $stack->http->get( '/gateway/demo/status?a=1', headers => [ Authz::Client::bearer($proxied), @agent ] )->status,
    200, 'a proxied request' );
ask_all_files();
ask_for_roots();

# ---- requests to the admin API, of which the refused ones keep the question

my $no_admin =
  'package custom.admin' . "\n\n" . 'deny contains "frozen" if input.action.operation == "deleteClient"' . "\n";
$rule = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        rules => [ { path => 'custom/admin.rego', content => $no_admin } ],
        data  => [
            {   dataKey => 'svc.operator.controls.console',
                payload =>
                  { people => [ { idp => 'corp', claim => 'groups', values => ['staff'], role => 'operator' } ] } } ] }
);
is( $rule->status, 200, 'a rule about admin requests' ) or diag $rule->text;
my $operator =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'op', role => 'operator' } )->member('key');
is( $stack->admin( DELETE => '/admin/api/clients/none', key => $operator, headers => \@agent )->status,
    403, 'a request with a key that it refuses' );
my $person = Authz::Browser->new;
$idp->user( { sub => 'ann', groups => ['staff'], %elsewhere } );
$person->follow( $stack->base . '/admin/session/start?idp=corp', stop => qr{/portal/\z} );
is( $person->request(
        DELETE  => $stack->base . '/admin/api/clients/none',
        headers => [ 'X-Authz-Console' => 1, 'Sec-Fetch-Site' => 'same-origin', @agent ] )->status,
    403,
    '... and one of a person in the console' );

# ---- both directions

my @inputs = Authz::Inputs::stored($stack);
inputs_ok($stack);

# The gateway asks about tokens as introspection does. What the two describe alike, by the same definitions, is looked for in the
# inputs of introspection.
# A list of more than 2,000 tools alone has `grouped` (t/policy/gateway-t.c).
my %rare  = ( gateway_tools => 'grouped' );
my %alike = map { ( $_ => 1 ) } Authz::Inputs::described('introspect');
for my $name ( Authz::Inputs::names() ) {
    my @mine    = grep { Authz::Inputs::name_of($_) eq $name } @inputs;
    my %seen    = map  { ( $_ => 1 ) } map { Authz::Inputs::members($_) } @mine;
    my @own     = grep { $name !~ /^gateway/ || !$alike{$_} } Authz::Inputs::described($name);
    my @phantom = grep { !$seen{$_} && $_ ne ( $rare{$name} // '' ) } @own;
    is( "@phantom", '', "$name: each member that the schema describes is in one of " . @mine . ' real inputs' );
}

# ---- the schemas are closed: a member more, anywhere but where the parties choose names, does not match

# The engine's type checker takes the members that an open object names for all that it has.
sub open_with_members {
    my ($schema) = @_;
    return map { open_with_members($_) } @$schema if ref $schema eq 'ARRAY';
    return                                        if ref $schema ne 'HASH';
    my $more = $schema->{additionalProperties};
    return ( $more && $schema->{properties} ? join( ' ', sort keys %{ $schema->{properties} } ) : () ),
      map { open_with_members($_) } values %$schema;
}
is( join( ', ', open_with_members( Authz::Inputs::schema($_) ) ), '',
    "$_: an object with members of any name lists none" ) for Authz::Inputs::names();

my $open =
  qr{\A(?:act|annotations|answers|arguments|claims|context|detail|may_act|obligations|extensions|authorization_details|properties)\z};

sub widened {
    my ( $value, $path ) = @_;
    my @found;
    if ( ref $value eq 'ARRAY' ) {
        push @found, widened( $value->[0], $path ) if @$value;
    }
    elsif ( ref $value eq 'HASH' && ( $path // '' ) !~ $open ) {
        push @found, $value, map { widened( $value->{$_}, $_ ) } sort keys %$value;
    }
    return @found;
}
my ( @more, %done );
for my $input (@inputs) {
    next if $done{ join ' ', Authz::Inputs::members($input) }++;
    for my $n ( 0 .. widened($input) - 1 ) {
        my $copy = JSON::PP->new->decode( JSON::PP->new->encode($input) );
        ( widened($copy) )[$n]{'x-unknown'} = 1;
        push @more, $copy;
    }
}
cmp_ok( scalar @more, '>', 50, 'inputs with one unknown member' );
is( scalar( Authz::Inputs::faults(@more) ), scalar @more, '... and none of them matches' );

# ---- one definition, one meaning: rules that look at any input are checked against all schemas at once

my %definition;
for my $name ( Authz::Inputs::names() ) {
    my $all = Authz::Inputs::schema($name)->{'$defs'};
    push @{ $definition{$_} }, JSON::PP->new->canonical->encode( $all->{$_} ) for keys %$all;
}
for my $name ( sort keys %definition ) {
    my %text = map { ( $_ => 1 ) } @{ $definition{$name} };
    is( scalar keys %text, 1, "the definition $name is the same in all schemas" );
}

done_testing;

# private_key_jwt, DPoP, CIBA, authorization_details, resource and ES256 ID tokens together: each has a test of its own, this
# one tests that no two of them get in each other's way (oauth.md J1 to J7, D; gateway-admin.md 4.2; decisions.md "Details
# narrow", "ID tokens by ES256").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Inputs;
use Authz::Jwt   ();
use Authz::Stack ();

my $stack = Authz::Stack->start(
    settings => { Authz::Idp->settings, SVC_OIDC_ID_TOKEN_ALGS => 'RS256,ES256', SVC_OIDC_JWKS_CACHE_SECONDS => 0 } );
my $issuer = $stack->base;
my $json   = JSON::PP->new->canonical;
my $orders = 'https://api.example/orders';
my $stock  = 'https://api.example/stock';
my $ec     = Authz::Jwt->key( 'ES256', kid => 'ec' );
my %may    = (
    grants                => [ $Authz::Ciba::GRANT, qw(authorization_code refresh_token) ],
    scopes                => [qw(openid orders.read)], resources => [ $orders, $stock ],
    authorization_details => ['payment'], endpoints => ['introspect'] );
my %keyed = (
    tokenEndpointAuthMethod  => 'private_key_jwt', jwks => Authz::Jwt::set($ec),
    idTokenSignedResponseAlg => 'ES256' );
$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => {} }, rar => { types => { payment => { actions => [qw(initiate status refund)] } } } } );
$stack->make_client( 'till', {%may}, %keyed );
$stack->make_client( 'peer', {%may}, %keyed );
$stack->make_client(
    'spa', {%may}, clientType => 'public', redirectUris => [$Authz::Grant::REDIRECT],
    idTokenSignedResponseAlg => 'ES256' );
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'], resources => [ $orders, $stock ] } );
Authz::Grant->people($stack);
my $provider = Authz::Ciba::told( $stack, 'corp' );
my ( $key, $other ) = ( Authz::Dpop->new, Authz::Dpop->new );
my @pay = ( { type => 'payment', actions => [qw(initiate status)] }, { type => 'payment', actions => ['refund'] } );
my $one = [ { type => 'payment', actions => ['status'] } ];

# ---- requests

my @answers;

sub post {
    my ( $path, $headers, @form ) = @_;
    push @answers, $stack->http->post( $path, headers => $headers, form => \@form );
    return $answers[-1];
}
sub jwt   { my (%claims) = @_; return $ec->assertion( 'till', $issuer, %claims ) }
sub show  { my ( $by, @more )     = @_; return [ $by->show( $stack, '/token', @more ) ] }
sub shown { my ( $answer, @more ) = @_; return $stack->introspect( @rs, $answer->member('access_token'), @more ) }
sub text  { my ($details) = @_; return ( authorization_details => $json->encode($details) ) }
sub ask   { my ( $jwt, @form ) = @_; return post( '/bc-authorize', [], Authz::Jwt::form($jwt), @form ) }

sub begin {
    my (@form) = @_;
    my $answer = ask( jwt(), login_hint => 'alice', scope => 'openid orders.read', @form );
    return $answer->member('auth_req_id') // die $answer->text;
}

sub poll {
    my ( $jwt, $id, $headers, @form ) = @_;
    return post(
        '/token', $headers, Authz::Jwt::form($jwt), grant_type => $Authz::Ciba::GRANT, auth_req_id => $id,
        @form );
}

sub approve {
    is( Authz::Ciba::inform( $stack, $provider, { status => 'approved' } )->status, 200, 'approved' );
    return;
}
sub rest { $stack->sql(q{UPDATE ciba_request SET polled_at = now() - interval '61 seconds'}); return }

sub refresh {
    my ( $answer, $headers, @form ) = @_;
    return post(
        '/token', $headers, grant_type => 'refresh_token', refresh_token => $answer->member('refresh_token'),
        @form );
}

sub es256 {
    my ( $answer, $client ) = @_;
    my ( $header, $claims ) = Authz::Grant->jwt( $answer->member('id_token') // die $answer->text );
    is( "$header->{alg} $header->{typ} $claims->{aud} $claims->{sub}", "ES256 JWT $client alice",
        '... with an ID token by ES256' );
    my ($published) =
      grep { $_->{kid} eq $header->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->member('keys') };
    is( $published->{alg}, 'ES256', '... of a published key' );
    return $claims;
}

# ---- CIBA by private_key_jwt: each request has an assertion of its own (RFC 7523 3; oauth.md J6, J7)

for my $aud ( $issuer, "$issuer/token", "$issuer/bc-authorize" ) {
    oauth_ok(
        ask( jwt( aud => $aud ), login_hint => 'alice' ),
        { auth_req_id => qr/\Aar_/ },
        "bc-authorize: aud $aud (J6; CIBA Core 7.1)" );
}
for my $aud ( "$issuer/introspect", "$issuer/revoke", [ $issuer, "$issuer/bc-authorize" ], 'https://evil.example' ) {
    oauth_error(
        ask( jwt( aud => $aud ), login_hint => 'alice' ),
        401, 'invalid_client', 'bc-authorize: aud ' . ( ref $aud ? 'of two values' : $aud ) . ' is 401 (J6)' );
}
$stack->sql('DELETE FROM ciba_request');
my $used = jwt();
oauth_ok( ask( $used, login_hint => 'alice' ), {}, 'bc-authorize: an assertion for the first time' );
oauth_error( ask( $used, login_hint => 'alice' ), 401, 'invalid_client', '... is refused the second time (J7)' );
my $id = begin();
oauth_error( poll( $used, $id, [] ), 401, 'invalid_client', '... and at a poll: one memory for all endpoints' );
is( $stack->sql('SELECT count(*) FROM ciba_request WHERE polled_at IS NOT NULL'), 0, '... which counts for no poll' );
my $polled = jwt( aud => "$issuer/token" );
oauth_error( poll( $polled, $id, [] ), 400, 'authorization_pending', 'poll: an assertion of its own' );
rest();
oauth_error( poll( $polled, $id, [] ), 401, 'invalid_client', '... not again at the next poll (J7)' );
oauth_error(
    poll( jwt( aud => "$issuer/bc-authorize" ), $id, [] ),
    401, 'invalid_client', 'poll: aud /bc-authorize is not the endpoint that is called (J6)' );
oauth_error(
    poll( $ec->assertion( 'peer', $issuer ), $id, [] ),
    400, 'invalid_grant', q{poll: another client's assertion with the same key: invalid_grant} );
oauth_error(
    post( '/token', [], client_id => 'till', grant_type => $Authz::Ciba::GRANT, auth_req_id => $id ),
    401, 'invalid_client', 'poll: no assertion (C12)' );
oauth_error(
    post( '/token', [], grant_type => $Authz::Ciba::GRANT, client_assertion => jwt(), auth_req_id => $id ),
    400, 'invalid_request', 'poll: half an assertion (J1)' );

# A client that changed since a worker cached it authenticates twice in one request; its jti is used once (J7).
for my $round ( 1 .. 4 ) {
    $stack->sql('DELETE FROM ciba_request');
    $id = begin();
    approve();
    $stack->sql(q{UPDATE client SET version = version + 1 WHERE client_id = 'till'});
    oauth_ok( ask( jwt(), login_hint => 'alice' ), {}, "the client changed: bc-authorize ($round)" );
    $stack->sql(q{UPDATE client SET version = version + 1 WHERE client_id = 'till'});
    my $again = jwt();
    oauth_ok(
        poll( $again, $id, show($key) ), { token_type => 'DPoP' },
        '... and a poll, whose proof is used once too' );
    oauth_error( poll( $again, $id, [] ), 401, 'invalid_client', '... its assertion is used up' );
}

# ---- CIBA with details, resource, DPoP and ES256

oauth_error(
    ask( jwt(), login_hint => 'alice', text( [ { type => 'payment', actions => ['delete'] } ] ) ),
    400, 'invalid_authorization_details', 'bc-authorize: an action that the registry does not have (RFC 9396 5)' );
oauth_error(
    ask( jwt(), login_hint => 'alice', text( [ { type => 'other' } ] ) ),
    400, 'invalid_authorization_details', '... an unknown type' );
oauth_error(
    ask( jwt(), login_hint => 'alice', authorization_details => '{}' ),
    400, 'invalid_request', '... no array (oauth.md C15)' );
oauth_error(
    ask( jwt(), login_hint => 'alice', resource => 'https://evil.example' ),
    400, 'invalid_target', '... a resource that is not entitled (RFC 8707 2)' );

sub approved { my $asked = begin( resource => $orders, text( \@pay ), @_ ); approve(); return $asked }
$id = approved();
my $message = $json->decode( ( $provider->requests('/ciba') )[-1]{body} );
is_deeply(
    [ @$message{qw(authorization_details resource)} ], [ \@pay, $orders ],
    'the provider, and so the person, sees details and resource' );
my $all = poll( jwt(), $id, show($key) );
oauth_ok(
    $all,
    { token_type => 'DPoP', authorization_details => \@pay, scope => 'openid orders.read', refresh_token => qr/\Art_/ },
    'a poll with a proof: a bound token with the details' );
oauth_ok(
    shown($all),
    {   active   => true,    token_type => 'DPoP',  cnf       => { jkt => $key->jkt }, authorization_details => \@pay,
        resource => $orders, aud        => $orders, client_id => 'till',               sub                   => 'alice'
    },
    '... which introspection shows, and the resource' );
es256( $all, 'till' );
my $plain = refresh( $all, [], Authz::Jwt::form( jwt() ) );
oauth_ok(
    $plain, { token_type => 'Bearer', authorization_details => \@pay },
    'its refresh token is bound to the assertions, so a refresh needs no proof (RFC 9449 5)' );
es256( $plain, 'till' );
my $few = refresh( $all, show($other), Authz::Jwt::form( jwt() ), text($one) );
oauth_ok( $few, { token_type => 'DPoP', authorization_details => $one }, '... another key, and fewer details' );
oauth_ok(
    shown($few), { cnf => { jkt => $other->jkt }, authorization_details => $one, resource => $orders },
    '... at introspection too' );
oauth_error( refresh( $all, show($key) ), 401, 'invalid_client', '... but never without an assertion' );

$id = approved();
for my $case (
    [ 'details beyond the approved ones', 'invalid_authorization_details', text( [ { type => 'payment' } ] ) ],
    [ 'another resource',                 'invalid_target', resource => $stock ],
    [ 'a resource that is no URI',        'invalid_target', resource => 'x' ],
  )
{
    my ( $name, $error, @form ) = @$case;
    oauth_error( poll( jwt(), $id, show($key), @form ), 400, $error, "poll: $name is $error" );
}
my $used_proof = show($key);
my $narrow     = poll( jwt(), $id, $used_proof, text($one), resource => $orders );
oauth_ok(
    $narrow, { token_type => 'DPoP', authorization_details => $one },
    '... and consumes nothing; fewer are given' );
oauth_ok(
    refresh( $narrow, $used_proof, Authz::Jwt::form( jwt() ) ),
    { token_type => 'Bearer', authorization_details => \@pay },
    'a proof that was used is ignored; the family keeps what was approved (decisions.md "Details narrow")' );

# A right that policy has taken since the approval is not given.
$id = approved();
$stack->bind( 'till', { authorization_details => [] } );
oauth_error(
    poll( jwt(), $id, [] ), 400, 'invalid_authorization_details',
    'poll: details that policy does not grant any more' );
$stack->bind( 'till', { authorization_details => ['payment'] } );
oauth_ok( poll( jwt(), $id, [] ), { token_type => 'Bearer' }, '... nothing is consumed by that' );

# ---- the code flow of a public client with dpop_jkt, details, resource and ES256

sub code_of {
    return Authz::Grant->code(
        $stack, client => 'spa', scope => 'openid orders.read', resource => $orders, details => \@pay,
        dpop_jkt => $key->jkt, nonce => 'n-1', @_ );
}

sub redeem {
    my ( $code, $headers, %form ) = @_;
    return post( '/token', $headers, client_id => 'spa', Authz::Grant->redemption( $code, %form ) );
}
my $code = code_of();
for my $case (
    [ 'no proof',                  'invalid_grant',                 [] ],
    [ 'the proof of another key',  'invalid_grant',                 show($other) ],
    [ 'another resource',          'invalid_target',                show($key), resource => $stock ],
    [ 'wider details',             'invalid_authorization_details', show($key), text( [ { type => 'payment' } ] ) ],
    [ 'details that are no array', 'invalid_request',               show($key), authorization_details => '1' ],
  )
{
    my ( $name, $error, $headers, %form ) = @$case;
    oauth_error( redeem( $code, $headers, %form ), 400, $error, "code with dpop_jkt: $name is $error" );
}
my $spa = redeem( $code, show($key), resource => $orders );
oauth_ok( $spa, { token_type => 'DPoP', authorization_details => \@pay }, '... and none of those used it up' );
oauth_ok(
    shown($spa), { cnf => { jkt => $key->jkt }, resource => $orders, authorization_details => \@pay },
    '... at introspection' );
is( es256( $spa, 'spa' )->{nonce}, 'n-1', '... and the nonce' );
my @spa = ( client_id => 'spa' );
for my $case (
    [ 'without proof',       'invalid_grant',  [] ],
    [ 'with another key',    'invalid_grant',  show($other) ],
    [ 'to another resource', 'invalid_target', show($key), resource => $stock ],
    [ 'to more scopes',      'invalid_scope',  show($key), scope    => 'openid orders.read admin' ],
    [ 'to wider details',    'invalid_authorization_details', show($key), text( [ { type => 'payment' } ] ) ],
  )
{
    my ( $name, $error, $headers, @form ) = @$case;
    oauth_error( refresh( $spa, $headers, @spa, @form ), 400, $error, "refresh of a public client $name is $error" );
}
$few = refresh( $spa, show($key), @spa, text($one) );
oauth_ok( $few, { token_type => 'DPoP', authorization_details => $one }, '... with its key, to fewer details' );
es256( $few, 'spa' );
oauth_ok(
    refresh( $few, show($key), @spa ),
    { authorization_details => \@pay },
    '... and later to all of them (decisions.md "Details narrow")' );
oauth_error( redeem( $code, show($key) ), 400, 'invalid_grant', 'the code once more' );
inactive( shown($spa), '... ends the family (RFC 6749 4.1.2)' );

# ---- registration and discovery agree

my $metadata = $stack->http->get('/.well-known/openid-configuration')->json;

sub offers {
    my ( $name, @value ) = @_;
    my %has = map { ( $_ => 1 ) } @{ $metadata->{$name} // [] };
    return ok( !( grep { !$has{$_} } @value ), "discovery: $name has @value" );
}
offers( "${_}_endpoint_auth_methods_supported",            'private_key_jwt' )           for qw(token introspection);
offers( "${_}_endpoint_auth_signing_alg_values_supported", qw(RS256 PS256 ES256 EdDSA) ) for qw(token introspection);
offers( 'grant_types_supported', $Authz::Ciba::GRANT, 'urn:ietf:params:oauth:grant-type:token-exchange' );
offers( 'id_token_signing_alg_values_supported', qw(RS256 ES256) );
offers( 'dpop_signing_alg_values_supported',     qw(RS256 ES256) );
is_deeply(
    $metadata->{authorization_details_types_supported}, ['payment'],
    'discovery: authorization_details_types_supported (RFC 9396 10)' );
$stack->patch_row(
    'svc.entitlements.bindings',
    { registrations => { DCR => { map { ( $_ => $may{$_} ) } qw(grants scopes resources authorization_details) } } } );
my %wish = (
    redirect_uris                => [$Authz::Grant::REDIRECT],
    grant_types                  => [ 'authorization_code', 'refresh_token' ],
    token_endpoint_auth_method   => 'private_key_jwt', jwks => Authz::Jwt::set($ec), dpop_bound_access_tokens => true,
    id_token_signed_response_alg => 'ES256' );
my $made = $stack->http->post( '/register', json => {%wish} );
is( $made->status, 201, 'a client registers for all of it' ) or diag $made->text;
members_are( $made->json, { %wish, client_secret => undef }, '... and the answer has it' );
for my $bad (
    [ id_token_signed_response_alg => 'ES384' ],
    [ token_endpoint_auth_method   => 'client_secret_jwt' ],
    [ grant_types                  => ['password'] ],
    [ jwks                         => undef ],
  )
{
    oauth_error(
        $stack->http->post(
            '/register',
            json => {
                map { ( $_->[0] => $_->[1] ) }
                grep { defined $_->[1] } map { [ $_ => ( $_ eq $bad->[0] ? $bad->[1] : $wish{$_} ) ] } keys %wish } ),
        400,
        'invalid_client_metadata',
        "... not with $bad->[0] " . ( ref $bad->[1] ? "@{$bad->[1]}" : $bad->[1] // 'absent' ) );
}
my $dcr = $made->member('client_id');
sub own { return ( Authz::Jwt::form( $ec->assertion( $dcr, $issuer ) ), @_ ) }
$code =
  Authz::Grant->code( $stack, client => $dcr, scope => 'openid orders.read', details => \@pay, resource => $orders );
oauth_error(
    post( '/token', [], own( Authz::Grant->redemption($code) ) ),
    400, 'invalid_request', 'the registered client redeems a code without proof' );
my $first = post( '/token', show($key), own( Authz::Grant->redemption($code) ) );
oauth_ok( $first, { token_type => 'DPoP', authorization_details => \@pay }, '... with one' );
es256( $first, $dcr );
oauth_error( refresh( $first, [], own() ), 400, 'invalid_request', '... and a refresh without proof' );
oauth_ok( refresh( $first, show($other), own() ), { token_type => 'DPoP' }, '... with a proof of any key' );

# ---- nonces for DPoP proofs (RFC 9449 8): a challenge costs the assertion alone

$stack->restart_service( settings => { SVC_DPOP_NONCE_ENABLED => 'true' } );
$id = approved();
my $without   = jwt();
my $challenge = poll( $without, $id, show($key) );
oauth_error( $challenge, 400, 'use_dpop_nonce', 'a poll without nonce' );
my $nonce = $challenge->header('DPoP-Nonce') // '';
oauth_error(
    poll( $without, $id, show( $key, nonce => $nonce ) ),
    401, 'invalid_client', '... the same assertion with the nonce is 401: its jti was used (J7)' );
oauth_error(
    post( '/token', show( $key, nonce => $nonce ), grant_type => $Authz::Ciba::GRANT, auth_req_id => $id ),
    401, 'invalid_client', '... and so is none' );
oauth_ok(
    poll( jwt(), $id, show( $key, nonce => $nonce ) ),
    { token_type => 'DPoP', authorization_details => \@pay },
    '... another one gets the tokens: the challenge consumed no approval' );
$code = code_of();
oauth_error( redeem( $code, show($key) ), 400, 'use_dpop_nonce', 'a code with dpop_jkt without nonce' );
oauth_ok(
    redeem( $code, show( $key, nonce => $nonce ) ),
    { token_type => 'DPoP' },
    '... is redeemed with one: it was not used up' );

# ---- no answer and no audit row has the one code that is not ours (specification 4.4)

is( scalar( grep { $_->text =~ /invalid_dpop_proof/ } @answers ), 0,
    'invalid_dpop_proof is in none of ' . @answers . ' answers' );
is( $stack->sql(q{SELECT count(*) FROM audit_log a WHERE a::text LIKE '%invalid_dpop_proof%'}), 0,
    '... nor in the audit log' );
is( $stack->sql(q{SELECT count(*) FROM audit_log a WHERE a::text LIKE '%eyJ%'}), 0,
    'no assertion and no proof is in the audit log' );
inputs_ok($stack);

done_testing;

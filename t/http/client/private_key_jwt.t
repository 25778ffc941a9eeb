# Client authentication by a signed assertion (private_key_jwt) at /token, /introspect and /revoke: RFC 7521 4.2, RFC 7523 3,
# OpenID Connect Core 9; oauth.md C9 to C13, J1 to J7; decisions.md "Keys of clients".
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Inputs;
use Authz::Jwt   ();
use Authz::Stack ();

my $stack  = Authz::Stack->start( pg_proxy => 1 );
my $issuer = $stack->base;
my $rsa    = Authz::Jwt->key( 'RS256', kid => 'rsa' );
my $ec     = Authz::Jwt->key( 'ES256', kid => 'ec' );
my %also =
  map { ( $_ => Authz::Jwt->key( $_, kid => lc $_ ) ) } qw(ES384 ES512 EdDSA);
my $stranger = Authz::Jwt->key( 'ES256', kid => 'ec' );
my %cc       = ( grants                  => ['client_credentials'], scopes => ['orders.read'] );
my %keyed    = ( tokenEndpointAuthMethod => 'private_key_jwt' );
my $keys     = Authz::Jwt::set( $rsa, $ec, values %also );

my $created = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'app', clientType => 'confidential', %keyed, jwks => $keys } );
is( $created->status, 201, 'a client with private_key_jwt and keys is created' ) or diag( $created->text );
is( $created->member('clientSecret'),            undef,             '... and gets no secret' );
is( $created->member('tokenEndpointAuthMethod'), 'private_key_jwt', '... its method is shown' );
$stack->bind( app => { %cc, scopes => [ 'orders.read', 'introspection' ], endpoints => ['introspect'] } );
my @crm = $stack->make_client( 'crm', \%cc, jwks => $keys );
$stack->make_client( 'spa', \%cc, clientType => 'public', jwks => $keys );
$stack->make_client( 'off', \%cc, %keyed, jwks => $keys, enabled => false );

# POST a form with more parameters; the grant is client_credentials unless the form says otherwise.
sub ask {
    my (@pairs) = @_;
    my %has = @pairs;
    return $stack->http->post(
        '/token',
        form => [ exists $has{grant_type} ? () : ( grant_type => 'client_credentials' ), @pairs ] );
}

# Each from another address: the log has a limited number of lines without a proof for each address and minute.
sub send_jwt {
    my ($jwt) = @_;
    our $senders++;
    return Authz::Client->new( port => $stack->{port}, from => '127.0.1.' . ( 1 + $senders % 250 ) )
      ->post( '/token', form => [ grant_type => 'client_credentials', Authz::Jwt::form($jwt) ], close => 1 );
}
sub jwt { return $ec->assertion( 'app', $issuer, @_ ) }

sub accepted {
    my ( $jwt, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_ok( send_jwt($jwt), { access_token => qr/\Aat_/ }, "accepted: $name" );
}

# Refused with invalid_client; the log says why.
my $body;

sub refused {
    my ( $jwt, $why, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = send_jwt($jwt);
    oauth_error( $answer, 401, 'invalid_client', "refused: $name" );
    $body //= $answer->body;
    is( $answer->body, $body, '... with the same body as every other one (C9)' );
    like( $stack->log_line($answer), qr/client assertion: .*$why/, '... and the log says why' );
    return;
}

# ---- J1: the parameters

accepted( jwt(), 'an assertion (RFC 7523 2.2)' );
oauth_error( ask( client_assertion => jwt() ), 400, 'invalid_request', 'J1: an assertion without its type is 400' );
my %form = Authz::Jwt::form( jwt() );
oauth_error(
    ask( client_assertion_type => $form{client_assertion_type} ),
    400, 'invalid_request', 'J1: a type without an assertion is 400' );
oauth_error(
    ask( %{ { %form, client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:saml2-bearer' } } ),
    400, 'invalid_request', 'J1: a type that is not supported is 400' );
oauth_error(
    ask( %{ { %form, client_assertion => '' } } ), 400, 'invalid_request',
    'J1: an empty assertion counts as absent' );
oauth_error(
    ask( %form, client_id => 'app', client_secret => 's' ),
    400, 'invalid_request', 'C10: a secret beside it is 400' );
oauth_error(
    $stack->http->post(
        '/token',
        headers => [ Authz::Client::basic( 'app', 's' ) ],
        form    => [ grant_type => 'client_credentials', %form ] ),
    400,
    'invalid_request',
    'C10: Basic beside it is 400' );
oauth_error(
    $stack->http->post( '/token?' . Authz::Client::form(%form), form => [ grant_type => 'client_credentials' ] ),
    401, 'invalid_client', 'C3: an assertion in the URI never counts' );
oauth_ok( ask(%form), {}, '... and none of those used it up (J7)' );

# ---- J2: the token

refused( $_->[0], $_->[1], "$_->[2] (J2)" )
  for [ 'x', 'compact JWS', 'no JWT' ],
  [ 'a.b.c', 'compact JWS', 'three parts of nothing' ],
  [ jwt() . '.AAAA', 'compact JWS', 'four parts' ],
  [ jwt( pad    => 'x' x 16_384 ), 'too long', 'more than 16 KiB' ],
  [ jwt( header => { crit => ['exp'], exp => 1 } ), 'crit', 'crit' ],
  [ jwt( header => { zip  => 'DEF' } ), 'crit', 'zip' ],
  [ jwt( header => { b64  => true() } ), 'crit', 'b64' ],
  [ jwt( header => { typ  => 'dpop+jwt' } ),            'typ', 'the typ of a DPoP proof' ],
  [ jwt( header => { typ  => 'at+jwt' } ),              'typ', 'the typ of an access token' ],
  [ jwt( header => { typ  => 'logout+jwt' } ),          'typ', 'the typ of a logout token' ],
  [ jwt( header => { typ  => 'oauth-authz-req+jwt' } ), 'typ', 'the typ of a request object' ],
  [ $ec->sign('[]'),                                    'JSON', 'a payload that is an array' ],
  [ $ec->sign('{"iss":"app","iss":"app","sub":"app"}'), 'JSON', 'a claim twice' ];
accepted( jwt( header => { typ => $_ } ), "the typ $_" ) for 'JWT', 'client-authentication+jwt';
my $evil = 'https://evil.invalid/keys';
refused(
    $stranger->assertion(
        'app', $issuer,
        header => { jku => $evil, x5u => $evil, jwk => $stranger->jwk, x5c => ['AAAA'] } ),
    'signature',
    "a stranger's signature with jku, x5u, jwk and x5c, which are ignored (J2)" );
accepted(
    jwt( header => { jku => $evil, x5u => $evil, jwk => $stranger->jwk, x5c => ['AAAA'] } ),
    '... as they are beside a good signature (oauth.md J2)' );

# ---- J3: algorithms and keys

accepted( $rsa->assertion( 'app', $issuer, alg => $_ ), "$_ (J3)" ) for qw(RS256 RS384 RS512 PS256 PS384 PS512);
accepted( $also{$_}->assertion( 'app', $issuer ),       "$_ (J3)" ) for sort keys %also;
accepted( jwt( header => { kid => undef } ),            'no kid: the keys that fit are tried (J3)' );
refused( $_->[0], $_->[1], "$_->[2] (J3)" )
  for [ jwt( alg => 'none' ), 'compact JWS', 'alg none' ],
  [ jwt( alg => 'none', sign_as => 'ES256' ), 'alg', 'alg none with a signature' ],
  [ $rsa->assertion( 'app', $issuer, alg => 'HS256' ), 'alg', 'HS256 by the text of a public key' ],
  [ jwt( header => { alg => 'ES256K' } ), 'alg',    'an algorithm that is not used' ],
  [ jwt( header => { kid => 'rsa' } ),    'no key', 'the kid of a key of another kind' ],
  [ jwt( header => { kid => 'es384' } ),  'no key', 'the kid of a key of another curve' ],
  [ jwt( header => { kid => 'other' } ),  'no key', 'an unknown kid' ],
  [ $rsa->assertion( 'app', $issuer, alg => 'PS256', sign_as => 'RS256' ), 'signature',
    'PS256 with the signature of RS256' ],
  [ $stranger->assertion( 'app', $issuer ), 'signature', "a stranger's key with the right kid" ],
  [ $stranger->assertion( 'app', $issuer, header => { kid => undef } ), 'signature', "... and without kid" ],
  [ jwt( tamper => 1 ), 'signature', 'a signature with another last bit' ],
  [ $rsa->assertion( 'app', $issuer, tamper => 1 ), 'signature', '... of RSA' ],
  [ $also{EdDSA}->assertion( 'app', $issuer, tamper => 1 ), 'signature', '... of EdDSA' ];

# ---- J4: who

oauth_ok( ask( client_id => 'app', Authz::Jwt::form( jwt() ) ), {}, 'J4: an equal client_id in the form' );
oauth_error(
    ask( client_id => 'crm', Authz::Jwt::form( jwt() ) ),
    401, 'invalid_client', 'J4: another client_id in the form is 401' );
refused( $_->[0], $_->[1], "$_->[2] (J4)" )
  for [ jwt( iss => undef ), 'iss', 'no iss' ],
  [ jwt( sub => undef ), 'sub', 'no sub' ],
  [ jwt( iss => 'crm' ), 'iss', 'another iss' ],
  [ jwt( sub => 'crm' ), 'iss', 'another sub' ],
  [ jwt( iss => $issuer ), 'iss', 'the server as iss' ],
  [ $ec->assertion( 'nobody', $issuer ), 'unknown client',  'an unknown client' ],
  [ $ec->assertion( 'off', $issuer ),    'disabled client', 'a disabled client' ],
  [ $ec->assertion( 'crm', $issuer ),    'not registered',  'a client with a secret, which has keys too (C12)' ],
  [ $ec->assertion( 'spa', $issuer ),    'not registered',  'a public client, which has keys too (C12)' ];
oauth_error( ask( client_id => 'app' ), 401, 'invalid_client', 'C12: no credentials of a client with keys are 401' );
oauth_error(
    ask( client_id => 'app', client_secret => 'a-secret-of-any-kind' ),
    401, 'invalid_client', 'C12: a secret of one is 401' );
is( $stack->token(@crm)->status, 200, '... and a client with a secret goes on with it' );

# ---- J5: times

my $now = int time;
accepted( jwt( @{ $_->[0] } ), "$_->[1] (J5)" )
  for [ [ exp => $now + 3590 ], 'exp almost an hour ahead' ], [ [ exp => $now - 5 ], 'exp 5 s ago' ],
  [ [ nbf => $now + 30, iat => $now + 30 ], 'nbf and iat half a minute ahead' ],
  [ [ iat => $now - 86_400 ], 'iat of yesterday' ], [ [ exp => $now + 60.5 ], 'an exp with a fraction' ];
refused( jwt( @{ $_->[0] } ), $_->[1], "$_->[2] (J5)" )
  for [ [ exp => undef ], 'exp', 'no exp' ],
  [ [ exp => $now - 11 ], 'expired', 'exp 11 s ago' ],
  [ [ exp => $now + 3700 ], 'too far', 'exp more than an hour ahead' ],
  [ [ exp => "$now" ], 'malformed', 'exp as a text' ],
  [ [ nbf => $now + 120 ], 'nbf', 'nbf two minutes ahead' ],
  [ [ iat => $now + 120 ], 'iat', 'iat two minutes ahead' ];

# ---- J6: for whom

accepted( jwt( aud => $_->[0] ), "aud is $_->[1] (J6)" )
  for [ $issuer, 'the issuer' ], [ [$issuer], 'an array of it' ], [ "$issuer/token", 'the token endpoint' ];
refused( jwt( aud => $_->[0] ), 'aud', "aud is $_->[1] (J6)" )
  for [ undef, 'absent' ], [ [], 'empty' ], [ 'https://other.example', 'another server' ],
  [ [ $issuer, 'https://other.example' ], 'a foreign one too' ], [ [ $issuer, "$issuer/token" ], 'two of ours' ],
  [ "$issuer/", 'the issuer with a slash' ], [ "$issuer/introspect", 'another endpoint than the called one' ],
  [ 'app', 'the client itself' ];

# ---- J7: once

refused( jwt( jti => undef ), 'jti', 'no jti (J7)' );
refused( jwt( jti => '' ),    'jti', 'an empty jti (J7)' );
my $once = jwt();
accepted( $once, 'an assertion for the first time' );
refused( $once, 'used before', 'the same once more (J7)' );
my %jti = ( jti => "same-$$" );
accepted( jwt(%jti), 'a jti for the first time' );
refused( jwt( %jti, exp => $now + 90 ), 'used before', 'another assertion with its jti (J7)' );
my $burnt = "burnt-$$";
refused( $stranger->assertion( 'app', $issuer, jti => $burnt ), 'signature', "a stranger's assertion" );
refused( jwt( jti => $burnt, aud => 'https://other.example' ),  'aud',       'one for another server' );
accepted( jwt( jti => $burnt ), "... and neither used up the client's jti (J7)" );
$stack->make_client( 'app2', \%cc, %keyed, jwks => $keys );
accepted( $ec->assertion( 'app2', $issuer, %jti ), "another client's own assertion with that jti" );
my $rows = $stack->sql('SELECT count(*) FROM client_assertion');
refused( jwt( aud => 'x' ), 'aud', 'a bad one' );
is( $stack->sql('SELECT count(*) FROM client_assertion'), $rows, '... leaves no row' );
is( $stack->sql('SELECT count(*) FROM client_assertion WHERE expires_at > now() + interval \'61 minutes\''),
    0, 'no assertion is remembered for longer than it is accepted' );
is( $stack->sql(
        q{SELECT count(*) FROM audit_log WHERE endpoint = '/token' AND client_id = 'app' AND http_status = 401}),
    2,
    'only those that the client had signed and used before are in the audit log' );

# Many at the same moment, at two hosts: one wins, in whichever process.
my $other  = Authz::Stack->start( beside => $stack, settings => { SVC_OIDC_ISSUER => $issuer } );
my $rounds = 8;
my @wins   = map {
    my @form = ( grant_type => 'client_credentials', Authz::Jwt::form( jwt() ) );
    my @host = map { [ $_, $_->octets( 'POST', '/token', form => \@form, close => 1 ) ] } $stack->client,
      $other->client;
    my %by;
    $by{ $_->status }++ for Authz::Client::together( map {@host} 1 .. 8 );
    join ', ', map {"$_ x $by{$_}"} sort keys %by;
} 1 .. $rounds;
is_deeply(
    \@wins, [ ('200 x 1, 401 x 15') x $rounds ],
    'J7: of 16 requests at the same moment exactly one gets a token' );
$other->stop;

# A client that changes after it was cached authenticates again with the same assertion, which is used up once.
accepted( jwt(), 'an assertion, by a worker that has cached the client' ) for 1 .. 8;
$stack->admin(
    PUT  => '/admin/api/clients/app',
    json => { clientId => 'app', clientType => 'confidential', %keyed, jwks => $keys, clientName => "Name $_" } ),
  accepted( jwt(), 'an assertion, after the client changed (decisions.md "Refusals on a cached row")' ) for 1 .. 4;

# A new key works at once in every worker, and the old one no longer.
my $next = Authz::Jwt->key( 'ES256', kid => 'next' );
$stack->admin(
    PUT  => '/admin/api/clients/app',
    json => { clientId => 'app', clientType => 'confidential', %keyed, jwks => Authz::Jwt::set($next) } );
accepted( $next->assertion( 'app', $issuer ), 'a key that was just registered' ) for 1 .. 4;
refused( jwt(), 'no key', 'a key that is not registered any more' ) for 1 .. 4;
$stack->admin(
    PUT  => '/admin/api/clients/app',
    json => { clientId => 'app', clientType => 'confidential', %keyed, jwks => $keys } );
accepted( jwt(), 'the first key again' );

# ---- the other endpoints

sub form_post { my ( $path, @form ) = @_; return $stack->http->post( $path, form => \@form ) }
my $token = send_jwt( jwt() )->member('access_token');
oauth_ok(
    form_post( '/introspect', token => $token, Authz::Jwt::form( jwt( aud => $_->[0] ) ), @{ $_->[1] } ),
    { active => sub { $_[0] }, client_id => 'app' },
    "introspect: aud $_->[0], @{$_->[1]} (specification 4.5)" )
  for [ $issuer, [] ], [ "$issuer/introspect", [] ], [ "$issuer/token", [ token_type_hint => 'access_token' ] ],
  [ $issuer, [ token_type_hint => 'refresh_token' ] ], [ $issuer, [ token_type_hint => 'of-another-kind' ] ];
oauth_error(
    form_post( '/introspect', token => $token, Authz::Jwt::form( jwt( aud => "$issuer/revoke" ) ) ),
    401, 'invalid_client', 'introspect: aud of another endpoint is 401 (J6)' );
oauth_error(
    form_post( '/introspect', token => $token, Authz::Jwt::form( $stranger->assertion( 'app', $issuer ) ) ),
    401, 'invalid_client', "introspect: a stranger's assertion is 401" );
oauth_error(
    $stack->http->post(
        '/introspect',
        headers => [ Authz::Client::bearer($token) ],
        form    => [ token => $token, Authz::Jwt::form( jwt() ) ] ),
    400,
    'invalid_request',
    'introspect: a token and an assertion are 400 (C10)' );
oauth_error(
    $stack->http->post(
        '/introspect',
        headers => [ Authz::Client::bearer($token) ],
        form    => [ token => $token, client_assertion_type => 'x' ] ),
    400,
    'invalid_request',
    'introspect: ... and half of an assertion too' );
$once = jwt();
oauth_ok( form_post( '/introspect', token => $token, Authz::Jwt::form($once) ), {}, 'introspect: an assertion' );
oauth_error( send_jwt($once), 401, 'invalid_client', '... is used up for every endpoint (J7)' );

oauth_error(
    form_post( '/revoke', token => $token, Authz::Jwt::form( $stranger->assertion( 'app', $issuer ) ) ),
    401, 'invalid_client', "revoke: a stranger's assertion is 401 (decisions.md \"/revoke\")" );
oauth_error(
    form_post( '/revoke', token => $token, Authz::Jwt::form('x') ),
    401, 'invalid_client', 'revoke: an assertion that is no JWT is 401' );
oauth_error(
    form_post( '/revoke', token => $token, client_assertion => jwt() ),
    401, 'invalid_client', 'revoke: an assertion without its type is 401' );
oauth_ok(
    form_post( '/introspect', token => $token, Authz::Jwt::form( jwt() ) ),
    { active => sub { $_[0] } }, '... and none of the three revoked the token' );
my $revoked = form_post( '/revoke', token => $token, Authz::Jwt::form( jwt( aud => "$issuer/revoke" ) ) );
is( $revoked->status, 200, 'revoke: by an assertion for that endpoint' );
oauth_ok(
    form_post( '/introspect', token => $token, Authz::Jwt::form( jwt() ) ),
    { active => sub { !$_[0] } }, '... the token is revoked' );

# ---- policy, trips and housekeeping

send_jwt( jwt() );
is( ( Authz::Inputs::stored($stack) )[-1]{client}{auth_method},
    'private_key_jwt', 'policy sees the method (policy.md 6.3)' );
inputs_ok($stack);

my @cold = $stack->proxy->trips( sub { send_jwt( jwt() ) for 1 .. 8 } );
my @trip = grep {/client_assertion_use|token_insert/} $stack->proxy->trips( sub { send_jwt( jwt() ) for 1 .. 4 } );
is( scalar @trip, 8, 'a token by private_key_jwt costs one trip more than by Basic, which is one' )
  or diag( map {"$_\n"} @trip );
is( scalar( grep {/client_assertion/} $stack->proxy->trips( sub { $stack->token(@crm) for 1 .. 4 } ) ),
    0, '... and other clients pay nothing' );
$stack->sql(q{UPDATE client_assertion SET expires_at = now() - interval '240 seconds'});
$stack->authzctl('maintain');
isnt(
    $stack->sql('SELECT count(*) FROM client_assertion'), 0,
    'an assertion is remembered 5 minutes longer than accepted' );
$stack->sql(q{UPDATE client_assertion SET expires_at = now() - interval '301 seconds'});
$stack->authzctl('maintain');
is( $stack->sql('SELECT count(*) FROM client_assertion'), 0, '... and removed then' );

# ---- SVC_CLIENT_ASSERTION_STRICT_AUD

$stack->restart_service( settings => { SVC_CLIENT_ASSERTION_STRICT_AUD => 'true' } );
accepted( jwt(),                   'strict: the issuer' );
accepted( jwt( aud => [$issuer] ), 'strict: an array of it' );
refused( jwt( aud => "$issuer/token" ), 'aud', 'strict: the token endpoint (RFC 10070)' );
oauth_error(
    form_post( '/introspect', token => 'x', Authz::Jwt::form( jwt( aud => "$issuer/introspect" ) ) ),
    401, 'invalid_client', 'strict: the called endpoint' );

done_testing;

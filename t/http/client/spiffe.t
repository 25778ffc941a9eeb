# Workloads that authenticate with JWT-SVIDs (SPIFFE; draft-ietf-oauth-spiffe-client-auth): oauth.md J9; specification 8;
# decisions.md "Workloads". The claims themselves are tried in t/oauth/svid-t.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Check;
use Authz::Client ();
use Authz::Jwt    ();
use Authz::Peer   ();
use Authz::Stack  ();

my $peer   = Authz::Peer->start( tls => 1 );
my %http   = ( SVC_SAFE_HTTP_CA_FILE => Authz::Peer::ca_file(), SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true' );
my $stack  = Authz::Stack->start( settings => \%http );
my $issuer = $stack->base;
my $trust  = 'svc.operator.controls.trust';
my $id     = 'spiffe://example.org/ns/prod/sa/billing';
my %cc     = ( grants                  => ['client_credentials'], scopes => ['orders.read'] );
my %svid   = ( tokenEndpointAuthMethod => 'spiffe_jwt' );
my %use    = ( use                     => 'jwt-svid' );
my $ec     = Authz::Jwt->key( 'ES256', kid => 'ec',     %use );
my $rsa    = Authz::Jwt->key( 'RS256', kid => 'rsa',    %use );
my $second = Authz::Jwt->key( 'ES256', kid => 'second', %use );
my $third  = Authz::Jwt->key( 'ES256', kid => 'third',  %use );
my $x509   = Authz::Jwt->key( 'ES256', kid => 'x509',   use => 'x509-svid' );
my $plain  = Authz::Jwt->key( 'ES256', kid => 'plain' );
my $evil   = Authz::Jwt->key( 'ES256', kid => 'ec', %use );
my $type   = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';

# ---- the bundle's host, and requests

sub serve {
    my ( $path, $member, @key ) = @_;
    my %set = %{ Authz::Jwt::set(@key) };
    push @{ $set{keys} }, { kty => 'other', use => 'jwt-svid' }, { use => 'x509-svid', x5c => ['AAAA'] };
    $peer->set( $path => { body => { %set, %$member } } );
    return $peer->url($path);
}

# A JWT-SVID has no iss and no jti.
sub svid {
    my ( $key, %more ) = @_;
    my %how = map { ( $_ => delete $more{$_} ) } grep { exists $more{$_} } qw(header alg tamper);
    return $key->sign( { sub => $id, aud => [$issuer], exp => time + 300, %more }, %how );
}

# Each from another address: the log has a limited number of lines without a proof for each address and minute.
sub http {
    our $senders++;
    return Authz::Client->new( port => $stack->{port}, from => '127.0.1.' . ( 1 + $senders % 250 ) );
}

sub send_svid {
    my ( $svid, @form ) = @_;
    return http()->post(
        '/token',
        form => [
            grant_type       => 'client_credentials', client_assertion_type => $type,
            client_assertion => $svid,                @form ],
        close => 1 );
}

sub accepted {
    my ( $svid, $name, @form ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = send_svid( $svid, @form );
    oauth_ok( $answer, { access_token => qr/\Aat_/ }, "accepted: $name" ) or diag( $stack->log_line($answer) );
    return $answer;
}
my $body;

sub refused {
    my ( $svid, $why, $name, @form ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = send_svid( $svid, @form );
    oauth_error( $answer, 401, 'invalid_client', "refused: $name" );
    $body //= $answer->body;
    is( $answer->body, $body, '... with the same body as every other one (C9)' );
    like( $stack->log_line($answer), qr/client assertion: .*$why/, '... and the log says why' );
    return;
}

# The clock of the database, by which a bundle grows old. A worker's own memory of it ends with the worker.
sub age {
    my ($seconds) = @_;
    $stack->sql(
        'UPDATE fetched_document SET failed_until = NULL, ' . join ', ',
        map {"$_ = $_ - interval '$seconds seconds'"} qw(fetched_at forced_at expires_at failing_since) );
    $stack->restart_service;
    return;
}
sub kept { return $stack->sql( "SELECT $_[0] FROM fetched_document WHERE url = '" . $peer->url( $_[1] ) . q{'} ) }

sub methods {
    my $document = $stack->http->get('/.well-known/oauth-authorization-server')->json;
    return join ' ', map {
        scalar grep { $_ eq 'spiffe_jwt' }
          @{ $document->{$_} // [] }
    } qw(token_endpoint_auth_methods_supported introspection_endpoint_auth_methods_supported revocation_endpoint_auth_methods_supported);
}

sub readiness {
    select undef, undef, undef, 1.1;
    my $answer = $stack->http->get('/health/ready');
    my ($check) = grep { $_->{name} eq 'spiffe_trust_bundle' } @{ $answer->json->{checks} };
    return ( join( ' ', $answer->status, $answer->json->{status}, $check->{status} ), $check->{detail} );
}

# ---- registration

sub create {
    my (%member) = @_;
    return $stack->admin( POST => '/admin/api/clients', json => { clientType => 'confidential', %svid, %member } );
}
my $made = create( clientId => $id );
is( $made->status, 201, 'admin: a client with spiffe_jwt whose clientId is a SPIFFE ID' ) or diag( $made->text );
is( $made->member('clientSecret'),            undef,        '... gets no secret' );
is( $made->member('tokenEndpointAuthMethod'), 'spiffe_jwt', '... its method is shown' );
$stack->bind( $id => { %cc, scopes => [ 'orders.read', 'introspection' ], endpoints => ['introspect'] } );
my $at = '/admin/api/clients/' . Authz::Client::escape($id);
is( $stack->admin( PUT  => $at, json => $stack->admin( GET => $at )->json )->status, 200, '... and is taken back' );
is( $stack->admin( POST => "$at/rotate-secret" )->status, 400, '... it has no secret to rotate' );

for my $case (
    [ { clientId => 'billing' },                                'clientId',     'a clientId that is no SPIFFE ID' ],
    [ { clientId => 'spiffe://example.org/a/../b' },            'clientId',     'one with a dot segment' ],
    [ { clientId => 'spiffe://Example.org/b' },                 'clientId',     'one with a capital' ],
    [ { clientId => "$id/1", clientSecret => 'x' x 20 },        'clientSecret', 'a secret' ],
    [ { clientId => "$id/1", jwks => Authz::Jwt::set($ec) },    'jwks',         'keys of its own' ],
    [ { clientId => "$id/1", jwksUri => 'https://a.example/' }, 'jwksUri',      'an address of keys' ],
    [ { clientId => "$id/1", clientType => 'public' },          'tokenEndpointAuthMethod', 'a public client' ],
    [   { clientId => "$id/1", tokenEndpointAuthMethod => 'private_key_jwt', jwks => Authz::Jwt::set($plain) },
        'jwks', 'private_key_jwt with keys, which would never count' ] )
{
    my ( $member, $field, $name ) = @$case;
    my $answer = create(%$member);
    is( $answer->status, 400, "admin: refused: spiffe_jwt and $name" );
    ok( $answer->json->{fieldErrors}{$field}, "... at $field" ) or diag( $answer->text );
}
oauth_error(
    $stack->http->post(
        '/register',
        json => { redirect_uris => ['https://app.example/cb'], token_endpoint_auth_method => 'spiffe_jwt' } ),
    400,
    'invalid_client_metadata',
    'register: spiffe_jwt is refused, because a client that registers itself gets its id from the service' );

# ---- no bundle, no workload

is( methods(), '0 0 0', 'metadata: spiffe_jwt is not advertised without a bundle' );
refused( svid($ec), 'no spiffe_trust_bundle_url', 'no address of a bundle is set' );
is( ( readiness() )[0], '200 UP UP', 'readiness: without a bundle there is nothing to check' );
my $url = serve( '/bundle', { spiffe_sequence => 5, spiffe_refresh_hint => 120 }, $ec, $rsa, $x509, $plain );
$stack->patch_row( $trust, { spiffe_trust_bundle_url => $url } );
is( methods(), '1 1 0', 'metadata: ... and is while one is set, where the specification fixes no list' );

# ---- accepted

my $svid  = svid($ec);
my $token = accepted( $svid, 'a JWT-SVID' )->member('access_token');
is( $peer->hits('/bundle'), 1, '... with one fetch of the bundle' );
accepted( $svid, 'the same again: workloads show theirs until it ends' ) for 1 .. 8;
is( $peer->hits('/bundle'),                               1, '... from what is kept, in every worker' );
is( $stack->sql('SELECT count(*) FROM client_assertion'), 0, '... and nothing is remembered of it' );
accepted( svid( $rsa, aud => $issuer ),                              'RS256, aud as a string' );
accepted( svid( $rsa, alg => 'PS384', header => { typ => 'JOSE' } ), 'PS384, typ JOSE' );
accepted( svid( $ec, header => { kid => undef, typ => 'JWT' } ),     'without kid' );
accepted( svid( $ec, exp => time - 50 ),                             'within 60 s after its end' );
accepted( svid( $ec, exp => time + 3_590 ),                          'an hour before its end' );
accepted( svid( $ec, iss => 'https://spire.example', jti => '1' ),   'an iss and a jti, which do not matter' );
accepted( $svid,                                                     'client_id equal to sub', client_id => $id );
my %bearer = Authz::Jwt::form($svid);
oauth_ok(
    http()->post( '/token', form => [ grant_type => 'client_credentials', %bearer ] ),
    {}, 'accepted: as jwt-bearer, because sub begins with spiffe://' );
is( $stack->sql(
        "SELECT count(*) FROM audit_log WHERE client_id = '$id' AND endpoint = '/token' AND outcome = 'allowed'") > 0,
    1,
    '... and its audit rows name the workload' );
my ($asked) = $peer->requests('/bundle');
is( $asked->{headers}{authorization} // $asked->{headers}{cookie}, undef, '... nothing of ours was sent to the host' );

my @with = ( client_assertion_type => $type, client_assertion => $svid );
my $seen = $stack->http->post( '/introspect', form => [ token => $token, @with ] );
is( $seen->status, 200, 'a workload introspects with its JWT-SVID' ) or diag( $seen->text );
ok( $seen->json->{active}, '... the token is active' );
is( $seen->json->{client_id}, $id, '... and is the workload\'s' );
is( $stack->http->post( '/revoke', form => [ token => $token, @with ] )->status, 200, 'it revokes' );
ok( !$stack->http->post( '/introspect', form => [ token => $token, @with ] )->json->{active}, '... and that counts' );
oauth_error(
    $stack->http->post( '/revoke', form => [ token => 'x', @with[ 0, 1 ], client_assertion => svid($evil) ] ),
    401, 'invalid_client', '/revoke refuses a JWT-SVID by a stranger' );
oauth_error(
    $stack->http->post(
        '/introspect', form => [ token => 'x', @with[ 0, 1 ], client_assertion => svid( $ec, aud => 'x' ) ] ),
    401,
    'invalid_client',
    '/introspect refuses one for another audience' );

# Policy sees the method.
my $control = 'svc.operator.controls.client';
$stack->patch_row( $control, { allowed_auth_methods => ['private_key_jwt'] } );
oauth_error( send_svid($svid), 400, 'unauthorized_client', 'policy sees spiffe_jwt as the method: it can refuse it' );
$stack->patch_row( $control, { allowed_auth_methods => ['spiffe_jwt'] } );
accepted( $svid, '... and accept it alone' );
$stack->patch_row( $control, { allowed_auth_methods => undef } );

# The answer at /bc-authorize is about what is missing, once the client is known.
my @ciba = ( '/bc-authorize', form => [ scope => 'openid', @with ] );
isnt( $stack->http->post(@ciba)->member('error'), 'invalid_client', '/bc-authorize knows the workload' );
$ciba[-1] = [ scope => 'openid', @with[ 0, 1 ], client_assertion => svid($evil) ];
oauth_error( $stack->http->post(@ciba), 401, 'invalid_client', '... and refuses a JWT-SVID by a stranger' );

# ---- refused

refused( svid( $_->[0], @{ $_->[1] } ), $_->[2], $_->[3] )
  for [ $ec, [ aud => [ $issuer, 'https://db.example' ] ], 'aud', 'two audiences, of which the other could replay it' ],
  [ $ec,    [ aud => "$issuer/token" ], 'aud', 'the token endpoint as audience' ],
  [ $ec,    [ exp => undef ],           'exp', 'no exp' ],
  [ $ec,    [ exp => time - 62 ], 'expired', 'more than 60 s after its end' ],
  [ $ec,    [ exp => time + 3_610 ], 'too far', 'more than an hour before its end' ],
  [ $ec,    [ tamper => 1 ], 'signature', 'another signature' ],
  [ $evil,  [], 'signature', 'a stranger with a kid of the bundle' ],
  [ $x509,  [], 'no key',    'a key of the bundle with the use x509-svid' ],
  [ $plain, [], 'no key',    'a key of the bundle without a use' ],
  [ $ec,    [ header => { typ => 'at+jwt' } ], 'typ', 'the typ of an access token' ],
  [ $ec,    [ alg    => 'HS256' ],     'alg',            'HS256' ],
  [ $ec,    [ alg    => 'none' ],      'compact JWS',    'alg none, without a signature' ],
  [ $ec,    [ sub    => "$id/other" ], 'unknown client', 'a SPIFFE ID that is no client' ],
  [ $ec,    [ sub    => uc $id ], 'SPIFFE ID', 'the SPIFFE ID in capitals' ],
  [ $ec,    [ sub    => 'billing' ], 'SPIFFE ID', 'a sub that is no SPIFFE ID' ];
refused( $svid, 'client_id', 'another client_id beside it', client_id => "$id/other" );
create( clientId => "$id/off", enabled => JSON::PP::false() );
refused( svid( $ec, sub => "$id/off" ), 'disabled client', 'a disabled client' );
$stack->make_client( "$id/secret", \%cc );
refused( svid( $ec, sub => "$id/secret" ), 'not registered', 'a client that is registered for a secret' );
oauth_error( $stack->token( $id, 'x' x 20 ), 401, 'invalid_client', 'C12: a workload gets in by no secret' );
oauth_error(
    http()->post( '/token', form => [ grant_type => 'client_credentials', client_id => $id ] ),
    401, 'invalid_client', '... nor by its name' );
oauth_error(
    http()->post(
        '/token',
        form => [ grant_type => 'client_credentials', Authz::Jwt::form( $plain->assertion( $id, $issuer ) ) ] ),
    401,
    'invalid_client',
    '... nor by an assertion of private_key_jwt' );
is( create( clientId => "$id/keyless", tokenEndpointAuthMethod => 'private_key_jwt' )->status,
    201, 'admin: private_key_jwt without keys, for a SPIFFE ID' );
$stack->bind( "$id/keyless" => \%cc );
accepted( svid( $ec, sub => "$id/keyless" ), 'a workload that is registered for private_key_jwt without keys' );
$stack->sql( "UPDATE client SET jwks = '"
      . JSON::PP::encode_json( Authz::Jwt::set($plain) )
      . "' WHERE client_id = '$id/keyless'" );
refused( svid( $ec, sub => "$id/keyless" ), 'not registered', '... and one that has keys, however they came there' );

# Trust domains.
my $foreign = 'spiffe://other.example/billing';
$stack->make_client( $foreign, \%cc, %svid );
accepted( svid( $ec, sub => $foreign ), 'any domain of a registered client, without a list of domains' );
$stack->patch_row( $trust, { spiffe_trust_domains => ['example.org'] } );
refused( svid( $ec, sub => $foreign ), 'trust domain', 'a domain that is not in spiffe_trust_domains' );
accepted( $svid, '... and one that is' );

# ---- keys that change

is( $peer->hits('/bundle'), 2,
    'of all those, one whose key is not for JWT-SVIDs fetched the bundle again, and only once' );
serve( '/bundle', { spiffe_sequence => 6, spiffe_refresh_hint => 120 }, $ec, $second );
age(31);
accepted( svid($second), 'a key that was added: an unknown kid fetches the bundle before its time' );
my $hits = $peer->hits('/bundle');
is( kept( 'round(extract(epoch FROM expires_at - fetched_at))', '/bundle' ), 120,
    'spiffe_refresh_hint shortens its life' );
serve( '/bundle', { spiffe_sequence => 7, spiffe_refresh_hint => 1 }, $ec, $second, $third );
refused( svid($third), 'no key', 'a further key within 30 s' ) for 1 .. 4;
is( $peer->hits('/bundle'), $hits, '... fetches nothing: once per 30 s' );
age(31);
accepted( svid($third), 'the same after 30 s' );
is( $peer->hits('/bundle'),                                                  $hits + 1, '... with one fetch' );
is( kept( 'round(extract(epoch FROM expires_at - fetched_at))', '/bundle' ), 30, 'a hint of less than 30 s is 30 s' );
serve( '/bundle', { spiffe_sequence => 8, spiffe_refresh_hint => 100_000 }, $ec );
age(31);
accepted( $svid, 'after its life the bundle is fetched anyway' );
refused( svid($second), 'no key', 'a key that was withdrawn' );
is( kept( 'round(extract(epoch FROM expires_at - fetched_at))', '/bundle' ), 300,
    'a hint beyond SVC_SPIFFE_TRUST_BUNDLE_REFRESH_SECONDS does not count' );

serve( '/bundle', { spiffe_sequence => 7 }, $ec, $second );
age(301);
refused( svid($second), 'no key', 'a key of an older bundle: a lower spiffe_sequence is ignored' );
accepted( $svid, '... and the newer one that is kept still serves' );
like( kept( 'failure', '/bundle' ), qr/older than the one that is kept/, '... the operator can see why' );

# ---- a host that fails

my $number = 0;
for my $case (
    [ { status => 500, body => {} },                        'HTTP status 500' ],
    [ { status => 302, headers => [ Location => $url ] },   'HTTP status 302' ],
    [ { body => 'keys' },                                   'JSON' ],
    [ { body => { keys => {} } },                           'array named keys' ],
    [ { body => { keys => [], spiffe_sequence => 'new' } }, 'spiffe_sequence' ],
    [ { body => { keys => [] }, type => 'text/html' },      'media type' ],
    [ { body => { keys => [] }, pad => 1_048_576 },         'more than|large' ],
    [ { close => 1 },                                       '.' ] )
{
    my ( $answer, $why ) = @$case;
    $peer->set( '/bundle' => $answer );
    age(301);
    accepted( $svid, "the last good bundle serves while its host fails: $why" );
    my $path = '/bad' . ++$number;
    $peer->set( $path => $answer );
    $stack->patch_row( $trust, { spiffe_trust_bundle_url => $peer->url($path) } );
    refused( $svid, $why, 'a new address that fails so: nothing of the old one is used' );
    $stack->patch_row( $trust, { spiffe_trust_bundle_url => $url } );
    $stack->sql(
        q{UPDATE fetched_document SET expires_at = now() + interval '1 minute', fetched_at = now() WHERE body IS NOT NULL}
    );
}
for my $bad (
    [ 'https://10.0.0.1/bundle',     'private or other special address' ],
    [ 'http://spire.example/bundle', 'not an https URL' ] )
{
    $stack->patch_row( $trust, { spiffe_trust_bundle_url => $bad->[0] } );
    refused( $svid, $bad->[1], "an address that is not fetched from: $bad->[0]" );
}
my $large = $peer->url('/large');
$peer->set( '/large' => { body => { %{ Authz::Jwt::set($ec) }, spiffe_sequence => 1, x => 'x' x 1_000_000 } } );
$stack->patch_row( $trust, { spiffe_trust_bundle_url => $large } );
accepted( $svid, 'a bundle of almost 1 MiB' );

# How long it serves, and what the operator sees.
$peer->set( '/bundle' => { status => 500, body => {} } );
$stack->patch_row( $trust, { spiffe_trust_bundle_url => $url } );
$stack->sql(
    q{UPDATE fetched_document SET fetched_at = now() - interval '301 seconds', expires_at = now() - interval '1 second', failing_since = NULL, failed_until = NULL}
);
$stack->restart_service;
accepted( $svid, 'the host fails once' );
is( ( readiness() )[0], '200 UP UP', 'readiness: one failure is none of the service' );
$hits = $peer->hits('/bundle');
accepted( $svid, 'within 30 s of a failure' ) for 1 .. 4;
is( $peer->hits('/bundle'), $hits, '... the host is not asked again' );
age(590);
is( ( readiness() )[0], '200 UP UP', 'readiness: just under 3 intervals' );
age(20);
my ( $ready, $detail ) = readiness();
is( $ready, '200 DEGRADED DEGRADED',
    'readiness: degraded after 3 intervals, and still 200: other clients do not need it' );
ok( ( grep {/"msg":"degraded","check":"spiffe_trust_bundle"/} $stack->{service}->log_lines ) > 0, '... and logged' );
like( $detail, qr/succeeded since 20\S+Z: .*HTTP status 500/, '... with the reason' );
accepted( $svid, 'the bundle serves' );
age( 86_400 - 700 );
accepted( $svid, 'for almost a day' );
age(400);
refused( $svid, 'HTTP status 500', 'a bundle that could not be refreshed for more than a day' );
serve( '/bundle', { spiffe_sequence => 1 }, $ec );
age(0);
accepted( $svid, 'then the host is well again, with a lower sequence: there is nothing to compare it with' );
is( ( readiness() )[0], '200 UP UP', 'readiness: up again' );

# ---- the operator takes it away

$stack->patch_row( $trust, { spiffe_trust_bundle_url => undef } );
refused( $svid, 'no spiffe_trust_bundle_url', 'the address is gone: at once, whatever is kept' );
is( methods(), '0 0 0', 'metadata: ... and spiffe_jwt is not advertised' );

# ---- an audience of its own

$stack->stop;
$stack  = Authz::Stack->start( settings => { %http, SVC_SPIFFE_AUDIENCE => 'https://workloads.example' } );
$issuer = $stack->base;
$stack->make_client( $id, \%cc, %svid );
$stack->patch_row( $trust, { spiffe_trust_bundle_url => $url } );
accepted( svid( $ec, aud => ['https://workloads.example'] ), 'SVC_SPIFFE_AUDIENCE is the audience' );
refused( svid( $ec, aud => [$issuer] ), 'aud', '... and the issuer is not' );

done_testing;

# The keys of clients that authenticate with private_key_jwt: registered by an administrator or by the client itself, at a
# jwks_uri, or in a metadata document (oauth.md J8, S12; specification 2.2, 4.2, 4.7; decisions.md "Keys of clients").
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Jwt    ();
use Authz::Peer   ();
use Authz::Stack  ();

my $peer  = Authz::Peer->start( tls => 1 );
my $stack = Authz::Stack->start(
    settings => {
        Authz::Idp->settings,
        SVC_SAFE_HTTP_CA_FILE             => Authz::Peer::ca_file(),
        SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true' } );
my $issuer = $stack->base;
my %cc     = ( grants                  => ['client_credentials'], scopes => ['orders.read'] );
my %keyed  = ( tokenEndpointAuthMethod => 'private_key_jwt' );
my $first  = Authz::Jwt->key( 'ES256', kid => 'first' );
my $second = Authz::Jwt->key( 'ES256', kid => 'second' );
my $third  = Authz::Jwt->key( 'ES256', kid => 'third' );
my $bare   = Authz::Jwt->key('ES256');

sub serve {
    my ( $path, @key ) = @_;
    $peer->set( $path => { body => Authz::Jwt::set(@key) } );
    return $peer->url($path);
}

# Each from another address: the log has a limited number of lines without a proof for each address and minute.
sub token {
    my ( $client_id, $key, @form ) = @_;
    our $senders++;
    return Authz::Client->new( port => $stack->{port}, from => '127.0.1.' . ( 1 + $senders % 250 ) )->post(
        '/token',
        form =>
          [ grant_type => 'client_credentials', Authz::Jwt::form( $key->assertion( $client_id, $issuer ) ), @form ],
        close => 1 );
}

sub accepted {
    my ( $client_id, $key, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_ok( token( $client_id, $key ), { access_token => qr/\Aat_/ }, "accepted: $name" );
}

sub refused {
    my ( $client_id, $key, $why, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = token( $client_id, $key );
    oauth_error( $answer, 401, 'invalid_client', "refused: $name" );
    like( $stack->log_line($answer), qr/client assertion: .*$why/, '... and the log says why' );
    return;
}

# The clock of the database, by which a fetched key set grows old.
sub age {
    $stack->sql(
        "UPDATE fetched_document SET fetched_at = fetched_at - interval '$_[0] seconds', forced_at = forced_at - interval '$_[0] seconds', expires_at = expires_at - interval '$_[0] seconds', failed_until = NULL"
    );
    return;
}

# A worker's own memory of a key set lasts a minute; the next one does not have it.
sub forget { $stack->restart_service; return }

# ---- an administrator's client with a jwks_uri

$stack->make_client( 'app', \%cc, %keyed, jwksUri => serve( '/keys', $first ) );
accepted( 'app', $first, 'a key at the jwks_uri' );
is( $peer->hits('/keys'), 1, '... which was fetched once' );
accepted( 'app', $first, 'the same again' ) for 1 .. 8;
is( $peer->hits('/keys'), 1, '... from what is kept, in every worker' );
my ($asked) = $peer->requests('/keys');
is( $asked->{headers}{authorization} // $asked->{headers}{cookie}, undef, '... and nothing of ours was sent' );

serve( '/keys', $first, $second );
accepted( 'app', $second, 'a key that was added: an unknown kid fetches the set again' );
is( $peer->hits('/keys'), 2, '... once' );
serve( '/keys', $first, $second, $third );
refused( 'app', $third, 'no key', 'a second key within the minute' ) for 1 .. 4;
is( $peer->hits('/keys'), 2, '... and the set is not fetched again for it: once a minute at most (J8)' );
age(61);
forget();
accepted( 'app', $third, 'the key, a minute later' );
is( $peer->hits('/keys'), 3, '... fetched again' );
my $stranger = Authz::Jwt->key( 'ES256', kid => 'first' );
age(61);
forget();
refused( 'app', $stranger, 'signature', "a stranger's signature with a known kid" );
is( $peer->hits('/keys'), 3, '... is no reason to fetch' );
age(3600);
forget();
serve( '/keys', $second );
accepted( 'app', $second, 'after an hour the set is fetched anyway' );
refused( 'app', $first, 'no key', 'a key that is not in it any more' );

serve( '/bare', $bare );
$stack->make_client( 'bare', \%cc, %keyed, jwksUri => $peer->url('/bare') );
accepted( 'bare', $bare, 'a key without kid' );
my $newer = Authz::Jwt->key('ES256');
serve( '/bare', $newer );
accepted( 'bare', $newer, 'without kid a wrong signature fetches the set again' );

# ---- hosts that do not deliver

my $number = 0;
for my $case (
    [ { status => 404, body => {} }, 'HTTP status 404', 'a status of 404' ],
    [   { status => 302, headers => [ Location => $peer->url('/keys') ] }, 'HTTP status 302',
        'a redirect, which is not followed' ],
    [ { body => 'keys' },                                        'not.* JSON|JSON',  'no JSON' ],
    [ { body => { keys => {} } },                                'array named keys', 'no list of keys' ],
    [ { type => 'text/html', body => { keys => [] } },           'media type',       'another media type' ],
    [ { body => { keys => [] }, pad => 65_536 },                 'more than|large',  'more than 64 KiB' ],
    [ { body => { keys => [] } },                                'no key',           'an empty set' ],
    [ { body => { keys => [ { kty => 'oct', k => 'AAAA' } ] } }, 'no key',           'a shared secret' ],
    [ { close => 1 },                                            '.',                'no answer' ] )
{
    my ( $answer, $why, $name ) = @$case;
    my $path = '/bad' . ++$number;
    $peer->set( $path => $answer );
    $stack->make_client( "bad$number", \%cc, %keyed, jwksUri => $peer->url($path) );
    refused( "bad$number", $first, $why, "$name at the jwks_uri" );
}
$stack->make_client( 'private', \%cc, %keyed, jwksUri => 'https://10.0.0.1/keys' );
refused( 'private', $first, 'private or other special address', 'a private address (CVE-2026-1180)' );
$stack->make_client( 'nobody', \%cc, %keyed, jwksUri => 'https://nobody.invalid/keys' );
refused( 'nobody', $first, '.', 'a host that does not exist' );
$stack->make_client( 'plain', \%cc, %keyed, jwksUri => 'https://app.example/keys' );
$stack->sql("UPDATE client SET jwks_uri = 'http://app.example/keys' WHERE client_id = 'plain'");
refused( 'plain', $first, 'not an https URL', 'an http address, however it came into the row' );

# http for jwks_uri (decisions.md "http for jwks_uri"): refused with private_key_jwt, also for the hosts of SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS.
my $open = Authz::Peer->start( host => '127.0.0.1' );
$open->set( '/keys' => { body => Authz::Jwt::set($first) } );
my $http_keys = $open->url('/keys') =~ s/\Ahttps/http/r;
$stack->sql("UPDATE client SET jwks_uri = '$http_keys' WHERE client_id = 'plain'");
refused( 'plain', $first, 'not an https URL', 'one of a host that SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS names' );
is( $stack->admin(
        POST => '/admin/api/clients',
        json => { clientId => 'open', clientType => 'confidential', enabled => JSON::PP::true(), %$_ } )->status,
    $_->{tokenEndpointAuthMethod} eq 'private_key_jwt' ? 400 : 201,
    "... $_->{tokenEndpointAuthMethod} with it at the admin API (oauth.md S12)" )
  for { %keyed, jwksUri => $http_keys }
, { tokenEndpointAuthMethod => 'client_secret_basic', jwksUri => $http_keys };
is( register( jwks_uri => $http_keys, token_endpoint_auth_method => 'client_secret_basic' )->status,
    201, '... and a registration with a secret may name it' );
$peer->set( '/keys' => { status => 500, body => {} } );
age(3601);
forget();
accepted( 'app', $second, 'a set that was good serves for a day more while its host fails' );

# ---- cheap checks come first

$peer->forget;
serve( '/first', $first );
$stack->make_client( 'cheap', \%cc, %keyed, jwksUri => $peer->url('/first') );
my $send = sub {
    return $stack->http->post( '/token', form => [ grant_type => 'client_credentials', Authz::Jwt::form(@_) ] )->status;
};
is( $send->( $first->assertion( 'cheap', $issuer, @$_ ) ), 401, "refused: @{[ map { $_ // 'undef' } @$_ ]}" )
  for [ exp => time - 60 ], [ aud => 'https://other.example' ], [ jti => undef ], [ header => { typ => 'at+jwt' } ],
  [ header => { alg => 'HS256' } ], [ iss => 'other' ];
$stack->sql("UPDATE client SET enabled = false WHERE client_id = 'cheap'");
is( $send->( $first->assertion( 'cheap', $issuer ) ), 401, 'refused: a disabled client' );
is( $peer->hits('/first'),                            0,   '... and for none of them was the set fetched (J8)' );

# ---- a client that registers itself

sub register {
    my (%member) = @_;
    return $stack->http->post( '/register', json => { redirect_uris => ['https://app.example/cb'], %member } );
}
my %method = ( token_endpoint_auth_method => 'private_key_jwt' );
my $made   = register( %method, jwks => Authz::Jwt::set($first) );
is( $made->status, 201, 'register: private_key_jwt with keys (specification 2.2)' ) or diag( $made->text );
is( $made->member('client_secret'),              undef,             '... gives no secret' );
is( $made->member('client_secret_expires_at'),   undef,             '... nor an end of one (RFC 7591 3.2.1)' );
is( $made->member('token_endpoint_auth_method'), 'private_key_jwt', '... and echoes the method' );
is_deeply( $made->json->{jwks}, Authz::Jwt::set($first), '... and the keys' );
my $id = $made->member('client_id');
$stack->bind( $id => \%cc );
$stack->sql("UPDATE client SET grant_types = NULL WHERE client_id = '$id'");
accepted( $id, $first, 'its assertion' );
refused( $id, $second, 'no key', 'one by another key' );
oauth_error( $stack->token( $id, 'x' x 20 ),    401, 'invalid_client',          '... and a secret' );
oauth_error( register( %method, @{ $_->[0] } ), 400, 'invalid_client_metadata', "register: $_->[1] is refused" )
  for [ [], 'no keys' ], [ [ jwks => { keys => [] } ], 'an empty set' ],
  [ [ jwks => Authz::Jwt::set($first), jwks_uri => 'https://app.example/k' ], 'keys in two places' ],
  [ [ jwks_uri => 'http://app.example/k' ], 'an http jwks_uri (specification 4.7)' ],
  [ [ jwks_uri => 'http://localhost/k' ],
    'one of a host in SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS (decisions.md "http for jwks_uri")' ],
  [ [ jwks => { keys => [ { %{ $first->jwk }, d   => 'AAAA' } ] } ], 'a private key' ],
  [ [ jwks => { keys => [ { %{ $first->jwk }, use => 'enc' } ] } ],  'a key for encryption alone' ];
$made = register( %method, jwks_uri => serve( '/own', $second ) );
is( $made->status, 201, 'register: private_key_jwt with a jwks_uri' );
$id = $made->member('client_id');
$stack->bind( $id => \%cc );
$stack->sql("UPDATE client SET grant_types = NULL WHERE client_id = '$id'");
accepted( $id, $second, 'its assertion' ) for 1 .. 4;
is( $peer->hits('/own'), 1, '... with one fetch' );
is( $stack->sql("SELECT kind FROM fetched_document WHERE url = '@{[ $peer->url('/own') ]}'"),
    'client_keys', '... kept apart from what the administrator names' );

# ---- a client with a metadata document

my $idp = Authz::Idp->start;
$idp->register($stack);
my $back      = 'https://app.example/cb';
my $verifier  = 'v' x 43;
my $challenge = MIME::Base64::encode_base64url( Digest::SHA::sha256($verifier) );

sub document {
    my ( $path, %member ) = @_;
    $peer->set( $path => { body => { client_id => $peer->url($path), redirect_uris => [$back], %member } } );
    return $peer->url($path);
}

sub code_for {
    my ($client_id) = @_;
    my $browser     = Authz::Browser->new;
    my %query       = (
        response_type  => 'code',     client_id             => $client_id, redirect_uri => $back, scope => 'openid',
        code_challenge => $challenge, code_challenge_method => 'S256' );
    my @hop =
      $browser->follow( "$issuer/authorize?" . Authz::Client::form(%query), stop => qr{\Ahttps://app\.example/} );
    @hop = $browser->submit( $hop[-1], button => [ decision => 'allow' ], stop => qr{\Ahttps://app\.example/} )
      if $hop[-1]->status == 200;
    my %param = Authz::Browser::query( $browser->url );
    return $param{code} // 'error ' . ( $param{error} // $hop[-1]->status . ' ' . $hop[-1]->body );
}

sub redeem {
    my ( $client_id, $code, @form ) = @_;
    return $stack->http->post(
        '/token',
        form => [
            grant_type   => 'authorization_code', client_id     => $client_id, code => $code,
            redirect_uri => $back,                code_verifier => $verifier,  @form ] );
}
my $cimd = document( '/client.json', %method, jwks => Authz::Jwt::set($first) );
my $code = code_for($cimd);
like( $code, qr/\A\S{40,}\z/, 'a document that declares private_key_jwt: a code is issued' );
is( $stack->sql("SELECT client_type, auth_method FROM client WHERE client_id = '$cimd'"),
    "public\tprivate_key_jwt", '... to a public client (specification 4.2) with that method' );
oauth_error(
    redeem( $cimd, $code ), 401, 'invalid_client',
    '... without an assertion nobody redeems it: that would be a downgrade' );
oauth_error(
    redeem( $cimd, $code, Authz::Jwt::form( $second->assertion( $cimd, $issuer ) ) ),
    401, 'invalid_client', '... nor with one by another key' );
my $tokens = redeem( $cimd, $code, Authz::Jwt::form( $first->assertion( $cimd, $issuer ) ) );
oauth_ok( $tokens, { access_token => qr/\Aat_/, refresh_token => qr/\Art_/ }, '... with one the code is good' );
my $refresh = $tokens->member('refresh_token');
my $renew   = sub {
    my ( $key, $token ) = @_;
    return $stack->http->post(
        '/token',
        form => [
            grant_type => 'refresh_token', refresh_token => $token,
            $key ? Authz::Jwt::form( $key->assertion( $cimd, $issuer ) ) : ( client_id => $cimd ) ] );
};
oauth_error( $renew->( undef, $refresh ), 401, 'invalid_client', 'a refresh token needs an assertion too' );
$tokens = $renew->( $first, $refresh );
oauth_ok( $tokens, { refresh_token => qr/\Art_/ }, '... and is good with one' );
document( '/client.json', %method, jwks => Authz::Jwt::set($second) );
age(61);
$tokens = $renew->( $second, $tokens->member('refresh_token') );
oauth_ok( $tokens, {}, 'a key that the document has now: the client need not sign in again' );
is( $stack->sql(
        "SELECT count(*) FROM audit_log WHERE operation = 'clientMetadataChanged' AND client_id = '$cimd' AND endpoint = '/token'"
    ),
    1,
    '... and an audit row tells that the document changed (oauth.md 3.2)' );
is( $stack->http->post(
        '/introspect', form => [ token => 'x', Authz::Jwt::form( $second->assertion( $cimd, $issuer ) ) ] )->status,
    401,
    'a public client cannot introspect (decisions.md "Introspection callers")' );
my $dto = $stack->admin( GET => '/admin/api/clients/' . Authz::Client::escape($cimd) )->json;
is( $dto->{tokenEndpointAuthMethod}, 'private_key_jwt', 'the admin API shows the method' );
is( $stack->admin( PUT => '/admin/api/clients/' . Authz::Client::escape($cimd), json => $dto )->status,
    200, '... and takes back what it shows' );
$dto->{tokenEndpointAuthMethod} = 'none';
is( $stack->admin( PUT => '/admin/api/clients/' . Authz::Client::escape($cimd), json => $dto )->status,
    400, '... but not another method than that of the document' );
oauth_error(
    $renew->( undef, $tokens->member('refresh_token') ), 401, 'invalid_client',
    '... so the assertion stays required' );

my $remote = document( '/remote.json', %method, jwks_uri => serve( '/remote-keys', $first ) );
$code = code_for($remote);
oauth_ok(
    redeem( $remote, $code, Authz::Jwt::form( $first->assertion( $remote, $issuer ) ) ),
    { access_token => qr/\Aat_/ },
    'a document with a jwks_uri' );

# A document that declares keys later: the next code asks for them.
my $later = document( '/later.json', token_endpoint_auth_method => 'none' );
oauth_ok( redeem( $later, code_for($later) ), {}, 'a document without keys: no assertion is asked for' );
oauth_error(
    redeem( $later, code_for($later), Authz::Jwt::form( $first->assertion( $later, $issuer ) ) ),
    401, 'invalid_client', '... and none is accepted (C12)' );
document( '/later.json', %method, jwks => Authz::Jwt::set($first) );
$stack->sql(q{UPDATE fetched_document SET expires_at = now() WHERE kind = 'client_metadata'});
$code = code_for($later);
oauth_error( redeem( $later, $code ), 401, 'invalid_client', 'when it declares them, the next code needs one' );
oauth_ok(
    redeem( $later, $code, Authz::Jwt::form( $first->assertion( $later, $issuer ) ) ), {},
    '... and is good with it' );

done_testing;

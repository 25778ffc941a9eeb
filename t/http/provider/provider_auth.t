# How this service authenticates at a provider, and what is told of the end of its secret there (world.md U9; RFC 6749 2.3, RFC 7523 3).
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Jwt     ();
use Authz::Stack   ();

my $stack        = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base         = $stack->base;
my $redirect_uri = 'https://app.example/cb';
my $path         = '/admin/api/identity-providers';
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$redirect_uri] );

# Sign in with a new browser; return what comes back to the client, and the last page.
sub sign_in {
    my ($hint)  = @_;
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $redirect_uri, scope => 'openid',
            code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method => 'S256',
            idp_hint       => $hint ),
        stop => qr{\A\Q$redirect_uri\E} );
    return ( $browser->url =~ /\A\Q$redirect_uri\E/ ? Authz::Browser::query( $browser->url ) : (), page => $hop[-1] );
}

sub refused {
    my ( $hint, $code, $name ) = @_;
    my %got = sign_in($hint);
    is( $got{page}->status, 502, $name ) or diag( $got{page}->text );
    return like( $got{page}->body, qr{<code>$code</code>}, "... $code" );
}

# ---- each method, at a provider that refuses every other one

my @methods = qw(client_secret_basic client_secret_post private_key_jwt none);
my $keys    = $stack->http->get('/.well-known/jwks.json')->json->{keys};
my %at;
for my $method (@methods) {
    my $idp = $at{$method} = Authz::Idp->start( method => $method );
    $idp->trusts($keys);
    my $row = $idp->register( $stack, idpId => $method, tokenAuthMethod => $method );
    is( $row->{tokenAuthMethod}, $method, "$method: the row has it" );
    my %got = sign_in($method);
    ok( defined $got{code}, "... and a sign-in goes on (U9)" ) or diag( $got{page}->text );
    my $seen = $idp->seen('token');
    is( $seen->{auth_method}, $method, '... by it' );
    ok( !( grep { $_ ne 'client_secret' && ( $seen->{$_} // '' ) =~ /up-s3cr3t/ } keys %$seen ), '... and no other' );

    for my $other ( grep { $_ ne $method } @methods ) {
        my $id = "$method-as-$other";
        $stack->admin( DELETE => "$path/$method" );
        $idp->register( $stack, idpId => $id, tokenAuthMethod => $other );
        refused( $id, 'client_refused', "$method is not met by $other" );
        $stack->admin( DELETE => "$path/$id" );
        $idp->register( $stack, idpId => $method, tokenAuthMethod => $method );
    }
}

# none beside a stored secret: kept, not sent
my ($none) = $at{none}->seen('token');
is( $none->{client_secret},          undef, 'none: the stored secret is not sent in the form' );
is( $none->{'header:authorization'}, undef, '... nor in the header' );
ok( $stack->admin( GET => "$path/none" )->json->{clientSecretSet}, '... and it is kept' );

# private_key_jwt
my ($signed) = $at{private_key_jwt}->seen('token');
my ($key)    = grep { $_->{kid} eq ( Authz::Jwt::parts( $signed->{client_assertion} ) )[0]{kid} } @$keys;
ok( Authz::Jwt::verifies( $signed->{client_assertion}, $key ), 'private_key_jwt: signed by a key of our key set' );
is( $signed->{client_secret}, undef, '... and the stored secret is not sent' );
my $other_alg = Authz::Idp->start( method => 'private_key_jwt' );
$other_alg->trusts($keys);
$other_alg->misbehave( discovery => { token_endpoint_auth_signing_alg_values_supported => ['PS512'] } );
$other_alg->register( $stack, idpId => 'alg', tokenAuthMethod => 'private_key_jwt' );
ok( defined { sign_in('alg') }->{code}, 'private_key_jwt: RS256 where nothing else fits' );
$at{private_key_jwt}->trusts( [] );
refused( 'private_key_jwt', 'client_refused', 'a provider that does not know our keys' );
my $ours = Authz::Idp->start( method => 'private_key_jwt', client_id => $base );
$ours->trusts($keys);
my %self = ( issuer => $ours->issuer, clientId => $base, tokenAuthMethod => 'private_key_jwt' );
is( $stack->admin( POST => $path, json => \%self )->status,
    400, 'private_key_jwt with our issuer as clientId is refused' );
$ours->register( $stack, idpId => 'ours' );
$stack->sql(q{UPDATE identity_provider SET token_auth_method = 'private_key_jwt' WHERE idp_id = 'ours'});
is( { sign_in('ours') }->{error}, 'server_error', '... and in a row: no assertion has our issuer as iss and sub' );
is( scalar( () = $ours->seen('token') ), 0,       '... and nothing is sent: it would be an ID token of ours' );

# ---- what a save refuses

my $n = 0;

sub create {
    my (%more) = @_;
    return $stack->admin( POST => $path, json => { issuer => 'https://i' . ++$n . '.example', %more } );
}
for my $method (qw(client_secret_basic client_secret_post)) {
    my $answer = create( idpId => "no-$method", tokenAuthMethod => $method );
    is( $answer->status, 400, "$method without a secret is refused" );
    like( $answer->body, qr/tokenAuthMethod.*needs clientSecret/s, '... which says what it needs' );
    is( create( idpId => "no-$method", tokenAuthMethod => $method, clientSecret => 'x' )->status, 201, '... with one' );
    is( $stack->admin(
            PUT => "$path/no-$method", json => { issuer => "https://i$n.example", tokenAuthMethod => $method }
        )->status,
        200,
        '... which a PUT keeps' );
}
is( create( tokenAuthMethod => $_ )->status, 400, "tokenAuthMethod $_ is refused" )
  for qw(apple client_secret_jwt tls_client_auth), '';

# ---- the end of a secret

sub ending {
    return join ' ', sort map { $_->{name} }
      grep { $_->{kind} eq 'secret_ending' } @{ $stack->admin( GET => '/admin/api/attention' )->json };
}

sub at {
    my ($days) = @_;
    my @t = gmtime( time + $days * 86_400 );
    return sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $t[5] + 1900, $t[4] + 1, @t[ 3, 2, 1, 0 ];
}

sub jwt {
    my ($claims) = @_;
    return join '.', map { MIME::Base64::encode_base64url($_) } '{"alg":"ES256"}', JSON::PP->new->encode($claims),
      'sig';
}
is( ending(), '', 'no secret ends' );
my $made = create( idpId => 'in29', clientSecret => 'x', clientSecretExpiresAt => at(29.9) );
like( $made->json->{clientSecretExpiresAt}, qr/\A\d{4}-\d\d-\d\dT/, 'the row tells the end' );
create( idpId => 'in31',     clientSecret => 'x', clientSecretExpiresAt => at(30.1) );
create( idpId => 'past',     clientSecret => 'x', clientSecretExpiresAt => at(-1) );
create( idpId => 'jwt29',    clientSecret => jwt( { exp => time + 29 * 86_400 } ) );
create( idpId => 'jwt31',    clientSecret => jwt( { exp => time + 31 * 86_400 } ) );
create( idpId => 'jwt-none', clientSecret => jwt( { sub => 'x' } ) );
create( idpId => 'jwt-said', clientSecret => jwt( { exp => time + 86_400 } ), clientSecretExpiresAt => at(90) );
create( idpId => 'off',    clientSecret => 'x', clientSecretExpiresAt => at(1), enabled         => JSON::PP::false() );
create( idpId => 'unused', clientSecret => 'x', clientSecretExpiresAt => at(1), tokenAuthMethod => 'none' );
is( ending(), 'in29 jwt29 past', 'secret_ending: from 30 days before the end, as told or by the exp of a JWT (U9)' );
my %jwt29 = ( issuer => $stack->admin( GET => "$path/jwt29" )->json->{issuer} );
$stack->admin( PUT => "$path/jwt29", json => {%jwt29} );
is( ending(), 'in29 jwt29 past', '... and the exp stays with a secret that a PUT keeps' );
$stack->admin( PUT => "$path/jwt29", json => { %jwt29, clientSecret => 'y' } );
is( ending(),                                      'in29 past', '... and goes with it' );
is( create( clientSecretExpiresAt => $_ )->status, 400,         "clientSecretExpiresAt $_ is refused" )
  for 'soon', '2030-02-30T00:00:00Z', '2030-01-01', '';

my $ended = Authz::Idp->start;
my %own   = ( idpId => 'ended', clientSecret => 'wrong', clientSecretExpiresAt => at(-1) );
$ended->register( $stack, %own );
refused( 'ended', 'secret_ended', 'a provider that refuses a secret whose end has passed' );
is( (   grep { $_->{kind} eq 'provider_fault' && $_->{name} eq 'ended' }
          @{ $stack->admin( GET => '/admin/api/attention' )->json } )[0]{detail},
    'secret_ended',
    '... as the attention list says, too' );
$stack->admin(
    PUT  => "$path/ended",
    json => { issuer => $ended->issuer, clientId => 'authz', clientSecret => 'wrong', clientSecretExpiresAt => at(1) }
);
refused( 'ended', 'client_refused', '... and one that has not ended is another fault' );
$stack->admin(
    PUT  => "$path/ended",
    json => {
        issuer                => $ended->issuer, clientId => 'authz', clientSecret => $ended->{client_secret},
        clientSecretExpiresAt => at(-1) } );
ok( defined { sign_in('ended') }->{code}, 'a secret that the provider takes is used, whatever its end is said to be' );

done_testing;

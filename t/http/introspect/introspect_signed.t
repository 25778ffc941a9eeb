# Signed answers of /introspect (RFC 9701): for the caller alone, and of no use as a token.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Jwt    ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $type  = 'application/token-introspection+jwt';
my @crm   = $stack->make_client(
    'crm',
    { grants => ['client_credentials'], scopes => [qw(orders.read openid)], endpoints => ['introspect'] } );
my @rs    = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
my $token = $stack->token_text( @crm, scope => 'orders.read' );

sub ask {
    my ( $text, $accept, @caller ) = @_;
    return $stack->http->post(
        '/introspect',
        headers => [ Authz::Client::basic( @caller ? @caller : @rs ), defined $accept ? ( Accept => $accept ) : () ],
        form    => [ token => $text ] );
}

sub body { my ($answer) = @_; return $answer->text =~ /\r?\n\r?\n(.*)\z/s ? $1 : $answer->text }

my $answer = ask( $token, $type );
is( $answer->status, 200, 'a signed answer' ) or diag $answer->text;
like( $answer->header('Content-Type'), qr{\A\Q$type\E\b}, '... has the media type of RFC 9701 8' );
is( $answer->header('Cache-Control'), 'no-store', '... and is kept by no cache' );
my $jwt = body($answer);
my ( $head, $claims ) = Authz::Jwt::parts($jwt);
is_deeply(
    [ @$head{qw(typ alg)} ], [ 'token-introspection+jwt', 'RS256' ],
    '... with the type and algorithm of section 5' );
my ($key) = grep { $_->{kid} eq $head->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} };
is( $key->{kty}, 'RSA', '... and a key of the key set' );
ok( Authz::Jwt::verifies( $jwt, $key ), '... whose signature OpenSSL verifies with that key' );
for my $other ( grep { $_->{kid} ne $head->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} } ) {
    ok( !Authz::Jwt::verifies( $jwt, $other ), '... and with no other' );
}
my ( $first, $second, $third ) = split /[.]/, $jwt;
my $forged = Authz::Jwt::b64( JSON::PP->new->encode( { %$claims, aud => 'another' } ) );
ok( !Authz::Jwt::verifies( "$first.$forged.$third", $key ), '... nor for other claims' );
is_deeply(
    [ sort keys %$claims ], [qw(aud iat iss token_introspection)],
    '... the claims of section 5, without sub and exp' );
is_deeply( [ @$claims{qw(iss aud)} ], [ $stack->base, 'rs' ], '... for its caller' );
my $plain = ask($token)->json;
is_deeply( $claims->{token_introspection}, $plain, '... the answer itself is that of RFC 7662' )
  or diag explain $claims;
is( ( Authz::Jwt::parts( body( ask( $token, $type, @crm ) ) ) )[1]{aud}, 'crm', 'another caller is another audience' );

for my $text ( 'dead', $token . 'x', '' ) {
    $answer = ask( $text eq '' ? 'a.b' : $text, $type );
    is_deeply(
        ( Authz::Jwt::parts( body($answer) ) )[1]{token_introspection}, { active => JSON::PP::false() },
        'of a token that is not active it says nothing more (section 5)' ) or diag $answer->text;
}

# ---- who gets none

for my $accept ( undef, 'application/json', '*/*', "application/json, $type", "${type}x", 'application/jwt' ) {
    $answer = ask( $token, $accept );
    like( $answer->header('Content-Type'), qr{\Aapplication/json\b}, 'plain: Accept ' . ( $accept // 'is absent' ) );
}
like( ask( $token, $_ )->header('Content-Type'), qr{\A\Q$type\E\b}, "signed: Accept $_" )
  for "$type, application/json;q=0.5", "$type;q=1", uc $type;
is( ask( $token, $type, 'rs', 'wrong' )->status, 401, 'refused: a caller without a good credential (section 4)' );
is( ask( $token, $type, $stack->make_client('stranger') )->status, 403, 'refused: one that is not entitled' );

# ---- it is no token

is( $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer($jwt) ] )->status, 401,
    'a signed answer is refused as a bearer token (RFC 9701 8.1)' );
inactive( ask($jwt), 'it is inactive at /introspect' );
for my $kind (qw(access_token id_token jwt)) {
    $answer = $stack->token(
        @crm,
        grant_type         => 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token => $jwt,
        subject_token_type => "urn:ietf:params:oauth:token-type:$kind" );
    isnt( $answer->status, 200, "... and as the subject of an exchange: $kind" );
}
is_deeply(
    $stack->http->get('/.well-known/oauth-authorization-server')->json->{introspection_signing_alg_values_supported},
    ['RS256'], 'the metadata name the algorithm (section 7)' );
done_testing;

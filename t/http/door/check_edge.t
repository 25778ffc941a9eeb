# The signed JWT that an upstream behind a web server gets: edgeJwt of a managed resource (gateway-admin.md 1.8).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Door   ();
use Authz::Jwt    ();

my $door = Authz::Door->start(
    'edge',
    settings => {
        SVC_OIDC_ID_TOKEN_ALGS                         => 'RS256,ES256', SVC_OIDC_JWKS_CACHE_SECONDS => 0,
        SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS => 250 } );
my $stack = $door->stack;
my $host  = '127.0.0.1:' . $door->port;
my $aud   = 'https://shop.example/api';

# Change the resource; the answer.
sub save {
    my (%member) = @_;
    my $now = $stack->admin( GET => '/admin/api/managed-resources/shop' )->json;
    delete @$now{
        qw(edgeJwt status statusReason statusChangedAt lastProbe toolCount syncedAt createdAt updatedAt version)};
    return $stack->admin( PUT => '/admin/api/managed-resources/shop', json => { %$now, %member } );
}

sub check {
    my ( $token, $target, $method ) = @_;
    return $stack->http->get(
        '/auth/check',
        headers => [
            'X-Authz-Proxy-Authorization' => 'Basic ' . $door->credential, 'X-Forwarded-Method' => $method // 'GET',
            'X-Forwarded-Proto' => 'http', 'X-Forwarded-Host' => $host, 'X-Forwarded-Uri' => $target // '/api/orders/7',
            Authz::Client::bearer($token) ] );
}

# The JWT of an answer, its header and claims, and the key of the key set that it names.
sub jwt {
    my ($answer) = @_;
    my $text = $answer->header('X-Authz-Jwt') // die $answer->text;
    my ( $head, $claims ) = Authz::Jwt::parts($text);
    my ($key) = grep { $_->{kid} eq $head->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} };
    return ( $text, $head, $claims, $key );
}

# ---- what a resource may say

my $token = $door->token('shop:read');
is( check($token)->header('X-Authz-Jwt'), '-', 'a resource without edgeJwt: there is none' );
for my $case (
    [ 'no audience',                 {} ],
    [ 'an audience that is no URI',  { audience => 'shop' } ],
    [ 'an audience with a fragment', { audience => "$aud#x" } ],
    [ 'too short a lifetime',        { audience => $aud, lifetime => 9 } ],
    [ 'too long a lifetime',         { audience => $aud, lifetime => 301 } ],
    [ 'a member that it has not',    { audience => $aud, alg      => 'none' } ],
    [ 'no object',                   $aud ] )
{
    my ( $what, $value ) = @$case;
    my $answer = save( edgeJwt => $value );
    is( $answer->status, 400, "refused: $what" ) or diag $answer->text;
    like( $answer->text, qr/edgeJwt/, '... by its name' );
}
my $answer = save( edgeJwt => { audience => $aud }, publicUrls => [] );
is( $answer->status, 400, 'refused: a resource without publicUrls' ) or diag $answer->text;
for my $case ( [ 10, 10, 10 ], [ 300, 1, 250 ] ) {
    my ( $seconds, $least, $most ) = @$case;
    is( save( edgeJwt => { audience => $aud, lifetime => $seconds } )->status, 200, "a lifetime of $seconds seconds" );
    my ( undef, undef, $claims ) = jwt( check($token) );
    my $lives = $claims->{exp} - $claims->{iat};
    ok( $lives >= $least && $lives <= $most, '... is that of the JWT, but it never outlives the token' ) or diag $lives;
}
is( save( edgeJwt => { audience => $aud } )->status, 200, 'a resource whose upstream gets a JWT' );

# ---- what the upstream reads

$answer = check( $token, '/api/orders/7?a=1' );
is( $answer->status, 200, 'a request that policy allows' ) or diag $answer->text;
my ( $text, $head, $claims, $key ) = jwt($answer);
is( $head->{typ}, 'authz-edge+jwt', 'its type is its own (RFC 8725 3.11)' );
like( $head->{alg}, qr/\A[ER]S256\z/, '... its algorithm one of the key set' );
ok( Authz::Jwt::verifies( $text, $key ), '... and OpenSSL verifies it with the key' );
is_deeply(
    { map { $_ => $claims->{$_} } qw(iss aud sub client_id scope htm htu) },
    {   iss => $stack->base, aud => $aud, sub => 'app', client_id => 'app', scope => 'shop:read', htm => 'GET',
        htu => "http://$host/api/orders/7" },
    'it says who, what for, and which request' ) or diag explain $claims;
is( $claims->{exp} - $claims->{iat}, 60, '... for a minute' );
my ( undef, undef, $again ) = jwt( check($token) );
isnt( $again->{jti}, $claims->{jti}, '... and each has an id of its own' );
is( check( $token, '/api/orders', 'POST' )->header('X-Authz-Jwt'), undef, 'a refusal has none' );

# ---- it is good for nothing here

is( $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer($text) ] )->status, 401,
    'refused at /userinfo' );
is( check($text)->status, 401, '... at /auth/check' );
is( $stack->http->get( '/gateway/shop/orders', headers => [ Authz::Client::bearer($text) ] )->status, 401,
    '... at the gateway' );
my @asker = $stack->make_client( 'asker', { endpoints => ['introspect'] } );
inactive( $stack->introspect( @asker, $text ), '... at /introspect' );
for my $kind (qw(access_token id_token jwt)) {
    isnt(
        $stack->token(
            @{ $door->{app} },
            grant_type         => 'urn:ietf:params:oauth:grant-type:token-exchange', subject_token => $text,
            subject_token_type => "urn:ietf:params:oauth:token-type:$kind" )->status,
        200,
        "... as the subject of an exchange: $kind" );
}
isnt(
    $stack->http->post(
        '/token', form => [ grant_type => 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion => $text ] )->status,
    200,
    '... as an assertion' );
done_testing;

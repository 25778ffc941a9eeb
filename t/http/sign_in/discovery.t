# The discovery documents: what works is advertised, the rest is absent (specification 4.1; oauth.md 3.5; decisions.md
# "What works is advertised").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack  = Authz::Stack->start;
my $issuer = $stack->base;
my @paths  = qw(/.well-known/openid-configuration /.well-known/oauth-authorization-server);
my @answer = map { $stack->http->get($_) } @paths;
my $sorted = sub { return join ' ', sort @{ $_[0] // [] } };

for my $i ( 0, 1 ) {
    is( $answer[$i]->status, 200, "discovery: $paths[$i] is 200 without authentication" );
    like( $answer[$i]->header('Content-Type'), qr{\Aapplication/json\b}, "discovery: $paths[$i] is application/json" );
    is( $answer[$i]->header('Access-Control-Allow-Origin'), '*',
        "discovery: $paths[$i] may be read from any origin (oauth.md 3.5)" );
    ok( defined $answer[$i]->header('ETag'), "discovery: $paths[$i] has an ETag" );
}
is_deeply( $answer[1]->json, $answer[0]->json, 'discovery: both documents are the same (specification 4.1)' );

my $document = $answer[0]->json;
is( $document->{issuer}, $issuer, 'discovery: issuer is SVC_OIDC_ISSUER octet for octet (RFC 8414 3.3)' );
my %endpoint = (
    authorization_endpoint => '/authorize', token_endpoint => '/token', registration_endpoint => '/register',
    userinfo_endpoint      => '/userinfo',
    introspection_endpoint => '/introspect', revocation_endpoint => '/revoke', end_session_endpoint => '/logout',
    backchannel_authentication_endpoint => '/bc-authorize',
    jwks_uri                            => '/.well-known/jwks.json',
);
is( $document->{$_}, $issuer . $endpoint{$_}, "discovery: $_ is built from the issuer" ) for sort keys %endpoint;
my %list = (
    grant_types_supported =>
      'authorization_code client_credentials refresh_token urn:ietf:params:oauth:grant-type:token-exchange '
      . 'urn:openid:params:grant-type:ciba',
    backchannel_token_delivery_modes_supported       => 'poll',
    response_types_supported                         => 'code',
    ui_locales_supported                             => 'de en',
    response_modes_supported                         => 'query',
    subject_types_supported                          => 'public',
    id_token_signing_alg_values_supported            => 'RS256',
    scopes_supported                                 => 'email openid profile',
    claims_supported                                 => 'email email_verified name preferred_username sub',
    code_challenge_methods_supported                 => 'S256',
    prompt_values_supported                          => 'consent login none select_account',
    token_endpoint_auth_methods_supported            => 'client_secret_basic client_secret_post none private_key_jwt',
    revocation_endpoint_auth_methods_supported       => 'client_secret_basic client_secret_post',
    introspection_signing_alg_values_supported       => 'RS256',
    introspection_endpoint_auth_methods_supported    => 'client_secret_basic client_secret_post private_key_jwt',
    token_endpoint_auth_signing_alg_values_supported =>
      'ES256 ES384 ES512 Ed25519 EdDSA PS256 PS384 PS512 RS256 RS384 RS512',
    introspection_endpoint_auth_signing_alg_values_supported =>
      'ES256 ES384 ES512 Ed25519 EdDSA PS256 PS384 PS512 RS256 RS384 RS512',
);
is( $sorted->( $document->{$_} ), $list{$_}, "discovery: $_ holds what works (specification 4.1)" ) for sort keys %list;
for my $flag (qw(authorization_response_iss_parameter_supported client_id_metadata_document_supported)) {
    ok( $document->{$flag}, "discovery: $flag is true" );
}
for my $flag (
    qw(request_parameter_supported request_uri_parameter_supported claims_parameter_supported backchannel_user_code_parameter_supported)
  )
{
    ok( defined $document->{$flag} && !$document->{$flag},
        "discovery: $flag is false, not absent (OpenID Connect Discovery 3)" );
}
is( scalar( () = $answer[0]->body =~ /:\s*null/g ), 0, 'discovery: no member is null' );

# Every advertised endpoint answers; an endpoint that is not built yet is not advertised.
for my $name ( grep {/_endpoint\z|_uri\z/} sort keys %$document ) {
    like( $document->{$name}, qr/\A\Q$issuer\E\//, "discovery: $name lies below the issuer" );
    my $path = substr $document->{$name}, length $issuer;
    isnt( $stack->http->get($path)->status, 404, "discovery: $name is served" );
}

my $etag = $answer[0]->header('ETag') // 'none';
is( $stack->http->get( $paths[0], headers => [ 'If-None-Match' => $etag ] )->status, 304,
    'discovery: If-None-Match with the ETag is 304 (RFC 9110 13.1.2)' );
is( $stack->http->get( $paths[0], headers => [ 'If-None-Match' => '"other"' ] )->status, 200,
    'discovery: with another it is 200' );
for my $method (qw(POST PUT DELETE)) {
    my $wrong = $stack->client->request( $method, $paths[0], body => '' );
    is( $wrong->status, 405, "C1: $method of the document is 405" );
    like( $wrong->header('Allow') // '', qr/\bGET\b/, "C1: with Allow: GET" );
}
my $evil = $stack->client->raw("GET $paths[0] HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n");
is_deeply( $evil->json, $document, 'discovery: addresses come from the issuer, never from Host' );

# authorization_details_types_supported: the keys of the registry row, as they are now.
ok( ref $document->{authorization_details_types_supported} eq 'ARRAY',
    'discovery: authorization_details_types_supported is a list' );
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource => { types => { 'urn:r:orders' => { scopes => ['orders.read'] } } },
        rar      => { types => { payment        => {} } } } );
my $follows = 0;
for ( 1 .. 8 ) {
    $follows++
      if $sorted->( $stack->client->get( $paths[0], close => 1 )->json->{authorization_details_types_supported} ) eq
      'payment urn:r:orders';
}
is( $follows, 8,
    'discovery: authorization_details_types_supported follows the registry row in every worker (specification 4.1)' );
is( $stack->http->get( $paths[0], headers => [ 'If-None-Match' => $etag ] )->status, 200,
    'discovery: and the ETag changes with it' );

done_testing;

# JWT access tokens (RFC 9068) for the resources that the row svc.registry.jwt_resources names (world.md T1 to T4).
use strict;
use warnings;

use Digest::SHA ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Jwt    ();
use Authz::Stack  ();

my $stack    = Authz::Stack->start( gateway => 1 );
my $row      = 'svc.registry.jwt_resources';
my $exchange = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $type     = 'urn:ietf:params:oauth:token-type:';
my ( $api, $rsa, $few, $other ) =
  ( 'https://api.example/orders', 'https://rsa.example', 'https://few.example/x', 'https://other.example/x' );
my %reach = (
    resources => [ $api, $rsa, "$rsa/", $few, $other, 'https://jit.example' ],
    scopes    => [qw(openid orders.read introspection mcp uma_protection)], authorization_details => ['payment'] );
$stack->patch_row(
    'svc.registry.resource_types',
    { rar => { types => { payment => { actions => [qw(initiate status)] } } } } );
$stack->patch_row(
    $row,
    {   $api => { ttl     => 300,     claims => [qw(acr auth_time amr)] },
        $rsa => { alg     => 'RS256', ttl    => 600 },
        $few => { clients => ['gate'] } } );
Authz::Grant->people($stack);
my @web = $stack->make_client(
    'web',
    { grants => [ qw(authorization_code refresh_token client_credentials), $exchange ], %reach, ttl => 1800 },
    redirectUris => [$Authz::Grant::REDIRECT] );
my @gate = $stack->make_client( 'gate', { grants => [ 'client_credentials', $exchange ], %reach } );
my @once =
  $stack->make_client( 'once', { grants => ['client_credentials'], %reach, jit_single_use => JSON::PP::true() } );
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'], resources => [ $api, $rsa, $few, $other ] } );

sub ask {
    my (%form) = ( scope => 'orders.read', @_ );
    return $stack->token( @web, map { ( $_ => $form{$_} ) } sort keys %form );
}
sub text   { my ($answer) = @_; return $answer->member('access_token') // die $answer->text }
sub token  { return text( ask(@_) ) }
sub opened { my ($token) = @_; return Authz::Grant->jwt($token) }

sub key_of {
    my ($token)  = @_;
    my ($header) = opened($token);
    my ($key)    = grep { $_->{kid} eq $header->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} };
    return $key // die 'no key';
}

sub summary {
    my $text =
      $stack->sql(q{SELECT request_summary FROM audit_log WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1}) =~
      s/\n\z//r;
    return $text eq '' ? {} : JSON::PP::decode_json($text);
}

# The token of an answer is opaque, and the audit row says why; undef: nothing.
sub is_opaque {
    my ( $answer, $why, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    like( text($answer), qr/\Aat_/, $name );
    is( summary()->{opaque}, $why, '... audited as requestSummary.opaque' );
    return;
}

# ---- what nobody named

is_opaque( ask( resource => $other ), undef, 'a resource that the row does not name has opaque tokens' );
is_opaque( ask(),                     undef, 'so has a request without resource' );
is_opaque( ask( resource => $few ),   undef, 'so has a client that `clients` does not list' );
oauth_ok(
    $stack->token( @gate, scope => 'orders.read', resource => $few ),
    { access_token => qr/\AeyJ/, expires_in => 60 },
    '... and one that is listed has JWTs, which live 60 s' );

# ---- a JWT

my $answer = ask( resource => $api );
oauth_ok(
    $answer,
    { access_token => qr/\AeyJ/, token_type => 'Bearer', scope => 'orders.read', expires_in => 300 },
    'a named resource: the access token is a JWT, and lives for the ttl of the row' );
my $token = text($answer);
my ( $header, $claims ) = opened($token);
my $key = key_of($token);
is( "@{$header}{qw(typ alg)}",       'at+jwt ES256', 'header: typ at+jwt (RFC 9068 2.1), ES256' );
is( join( ' ', sort keys %$header ), 'alg kid typ',  '... and nothing else but the kid' );
is( $key->{use},                     'sig',          'its key is in the key set' );
ok( Authz::Jwt::verifies( $token, $key ), '... and verifies it' );
is( join( ' ', sort keys %$claims ), 'aud client_id exp iat iss jti scope sub', 'claims of RFC 9068 2.2' );
is_deeply(
    { map { $_ => $claims->{$_} } qw(iss sub aud client_id scope) },
    { iss => $stack->base, sub => 'web', aud => $api, client_id => 'web', scope => 'orders.read' },
    '... with the values of the request; the client is its own subject' );
is( $claims->{exp} - $claims->{iat}, 300, '... exp is the ttl' );
is( $stack->sql(qq{SELECT encode(secret_hash, 'hex') FROM access_token WHERE resource = '$api'}) =~ s/\s+\z//r,
    Digest::SHA::sha256_hex($token), 'stored: the hash of the whole text (T4)' );
my %shown = ( active => true, client_id => 'web', scope => 'orders.read' );
oauth_ok( $stack->introspect( @rs, $token ), { %shown, exp => $claims->{exp} }, 'introspection knows the text (T4)' );
my $slash = ( opened( token( resource => "$rsa/" ) ) )[1];
is( $slash->{aud}, "$rsa/",
    'the slash of an empty path does not matter, and aud is the text that was asked for (oauth.md 2.7)' );
my $long = token( resource => $rsa );
is( ( opened($long) )[0]{alg}, 'RS256', 'RS256 where the row says so' );
ok( Authz::Jwt::verifies( $long, key_of($long) ), '... by a key of the set' );
is( ( opened($long) )[1]{exp} - ( opened($long) )[1]{iat}, 600, '... and the life is the least of ttl and policy' );
is( key_of($long)->{kid} eq $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'}) =~
      s/\s+\z//r ? 1 : 0,
    0, 'the key is none of ID tokens (T2)' );

# ---- a person

my $code = Authz::Grant->code(
    $stack, client => 'web', scope => 'openid orders.read', resource => $api, acr => 'gold',
    amr => [qw(pwd otp)] );
my $user   = Authz::Grant->redeem( $stack, \@web, $code );
my $person = text($user);
$claims = ( opened($person) )[1];
is_deeply(
    { map { $_ => $claims->{$_} } qw(sub acr amr) },
    { sub => 'alice', acr => 'gold', amr => [qw(pwd otp)] },
    'a person: sub, and the claims that the row names' );
like( $claims->{auth_time}, qr/\A\d+\z/, '... auth_time too' );
ok( !exists $claims->{email}, '... and no other claim of the person' );
my $id_token = $user->member('id_token');
is( ( opened($id_token) )[1]{at_hash},
    Authz::Grant::base64url( substr Digest::SHA::sha256($person), 0, 16 ),
    'the ID token beside it: at_hash is of the JWT (OpenID Connect Core 3.1.3.6)' );
my $renewed = Authz::Grant->refresh( $stack, \@web, $user->member('refresh_token') );
like( text($renewed), qr/\AeyJ/, 'a refresh gives a JWT again' );
ok( ( opened( text($renewed) ) )[1]{jti} ne $claims->{jti}, '... another one' );

my $dpop  = Authz::Dpop->new;
my $bound = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@web), $dpop->show( $stack, '/token' ) ],
    form => [ grant_type => 'client_credentials', scope => 'orders.read', resource => $api ] );
is( ( opened( text($bound) ) )[1]{cnf}{jkt}, $dpop->jkt, 'cnf_present: a bound token names its key (RFC 9449 6.1)' );
is( $bound->member('token_type'),            'DPoP',     '... and is of type DPoP' );
my $pay      = [ { type => 'payment', actions => ['initiate'] } ];
my $detailed = ask( resource => $api, authorization_details => JSON::PP::encode_json($pay) );
is_deeply(
    ( opened( text($detailed) ) )[1]{authorization_details}, $pay,
    'details_present: authorization_details are in the token (RFC 9396 9.1)' );

# ---- exchange

sub exchanged {
    my ( $subject, %form ) = @_;
    %form = ( subject_token_type => "${type}access_token", resource => $api, scope => 'orders.read', %form );
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@gate) ],
        form => [ grant_type => $exchange, subject_token => $subject, map { ( $_ => $form{$_} ) } sort keys %form ] );
}
my $delegated = exchanged($person);
is_deeply(
    ( opened( text($delegated) ) )[1]{act}, { sub => 'gate' },
    'exchange: the text is a subject token, and act is in the new one (T4)' );
is( ( opened( text($delegated) ) )[1]{sub}, 'alice', '... for the same person' );

# ---- what it is not

sub unknown { my ( $text, $name ) = @_; return inactive( $stack->introspect( @rs, $text ), $name ) }
my ( $head, $body, $mark ) = split /[.]/, $token;
my $swap = sub { my ( $part, $at ) = @_; substr( $part, $at, 1 ) =~ tr/A-Za-z0-9_-/B-ZAb-za1-90\-_/; return $part };
unknown( join( '.', $swap->( $head, 5 ), $body, $mark ),  'changed_octet: of the header, unknown' );
unknown( join( '.', $head, $swap->( $body, 20 ), $mark ), 'changed_octet: of the payload, unknown' );
unknown( join( '.', $head, $body, $swap->( $mark, 9 ) ),  'changed_octet: of the signature, unknown' );
unknown( join( '.', $head, $body, '' ),                   'changed_octet: without a signature, unknown' );
unknown( "$token.",                                       'changed_octet: with one more octet, unknown' );
unknown( Authz::Grant::base64url('{"alg":"none","typ":"at+jwt"}') . ".$body.", 'one with alg none is unknown' );
unknown( $id_token,              'id_token_as_access: an ID token is no access token' );
unknown( 'eyJ' . ( 'x' x 5000 ), 'a text of 5,003 octets is unknown' );
oauth_error( exchanged($id_token), 400, 'invalid_request', 'id_token_as_access: nor a subject token of that type' );
oauth_error(
    exchanged( $person, subject_token_type => "${type}id_token" ),
    400, 'invalid_grant', 'as_id_token: a JWT access token is no ID token' );
my $hint = sub { return $stack->http->get("/logout?client_id=nobody&id_token_hint=$_[0]")->status };
is( $hint->($id_token), 400, 'an ID token as id_token_hint is compared with client_id' );
is( $hint->($person),   200, 'as_id_token: a JWT access token counts as no hint, as any text does' );

sub refused {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, 401, $name );
    like( $answer->header('WWW-Authenticate') // '', qr/invalid_token/, '... invalid_token (T4)' );
    return;
}
my @bearer = Authz::Client::bearer($person);
refused( $stack->http->get( '/userinfo', headers => \@bearer ), 'at_userinfo: a JWT is no credential' );
refused(
    $stack->http->post(
        '/gateway/mcp', headers => [@bearer],
        json => { jsonrpc => '2.0', id => 1, method => 'tools/list', params => {} } ),
    'at_gateway: nor here' );
refused(
    $stack->http->post( '/introspect', headers => [@bearer], form => [ token => $token ] ),
    'nor for introspection' );
refused( $stack->http->get( '/resource_registration/resource', headers => [@bearer] ), 'nor at the protection API' );
is( $stack->admin( GET => '/admin/api/clients', key => undef, headers => [@bearer] )->status,
    401, 'nor at the admin API' );

# ---- opaque all the same (T3)

is_opaque(
    $stack->token( @once, scope => 'orders.read', resource => $api ), 'jit_single_use',
    'jit_opaque: a single-use token' );
is_opaque( ask( resource => $api, scope => "orders.read $_" ), 'scope', "a token with our own scope $_" )
  for qw(introspection mcp uma_protection);
my $wide = [ { type => 'payment', actions => ['initiate'], note => 'x' x 4000 } ];
is_opaque(
    ask( resource => $api, authorization_details => JSON::PP::encode_json($wide) ),
    'too_long', 'too_long: a token that would exceed 4 KiB' );
my $rule = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/form.rego', kind => 'rego', version => '1',
        content =>
          qq{package custom.issue\n\nobligations["log"] := [{"id": "o1", "type": "log"}] if input.client.id == "gate"\n\nopaque contains "partner" if input.resource.indicator == "$rsa"\n}
    } );
is( $rule->status, 201, 'a rule with an obligation, and one that keeps tokens opaque' ) or diag $rule->text;
is_opaque(
    $stack->token( @gate, scope => 'orders.read', resource => $few ), 'obligation',
    'obligation_opaque: any obligation' );
is_opaque( ask( resource => $rsa ), 'partner', 'custom.issue.opaque: the reason of a rule' );
like( token( resource => $api ), qr/\AeyJ/, '... and no other resource is concerned' );

# ---- the row (T1)

# Save the row with more resources; the answer.
sub save {
    my (%more) = @_;
    return $stack->admin( PATCH => "/admin/api/policy-data/by-key?dataKey=$row", json => {%more} );
}

sub not_saved {
    my ( $answer, $why, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, 422, $name );
    like( $answer->text, $why, '... which says why' );
    return;
}
my $base    = $stack->base;
my $service = qr/is an address of this service/;
not_saved( save( "https://t.example/$_" => { ttl => $_ } ), qr/ttl/, "ttl_601: a life of $_ s" ) for 9,  601;
is( save( "https://t.example/$_" => { ttl => $_ } )->status, 200, "a life of $_ s is saved" )    for 10, 600;
not_saved( save( 'https://t.example/a'  => { alg => 'HS256' } ), qr/alg/,  'another algorithm' );
not_saved( save( $base                  => {} ),                 $service, 'below_issuer: the issuer itself' );
not_saved( save( "$base$_"              => {} ), $service, "below_issuer: $_" ) for qw(/ /gateway/mcp /userinfo ?x);
not_saved( save( uc($base) . '/gateway' => {} ), $service, 'below_issuer: in another spelling' );
is( save( "${base}9/x" => {} )->status, 200, 'an address that begins like the issuer is another server' );
not_saved(
    save( "$rsa/" => {} ), qr/is equal to another resource/,
    'a resource that is there with a slash (oauth.md 2.7)' );
not_saved( save( 'HTTPS://rsa.example:443' => {} ), qr/is equal to another resource/, '... or in another spelling' );
is( save( "$api/" => {} )->status, 200, 'the slash behind a path makes another resource' );
my $page = 'https://page.example';
$stack->make_client( $_, undef ) for "$page/", 'https://meta.example/client.json';
my $named = qr/is the client_id of a client/;
not_saved( save( $_ => {} ), $named, "aud_is_client_id: $_" ) for $page, "$page/", 'https://meta.example/client.json';
is( save( "$page/x" => {} )->status, 200, '... and a resource below it is none' );
for my $id ( $rsa, "$rsa/", $api ) {
    is( $stack->admin( POST => '/admin/api/clients', json => { clientId => $id, clientType => 'public' } )->status,
        409, "aud_is_client_id: a client that would be named $id later" );
}
is( $stack->admin( POST => '/admin/api/clients', json => { clientId => "$api/y", clientType => 'public' } )->status,
    201, '... and another name is free' );
my $deployed = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => { data => [ { dataKey => $row, payload => { "$base/x" => {} } } ] } );
not_saved( $deployed, $service, 'below_issuer: by a deploy' );
my %many = map { ( "https://n$_.example" => {} ) } 1 .. 101;
my %none = map { ( $_                    => undef ) }
  keys %{ JSON::PP::decode_json( $stack->sql(qq{SELECT payload FROM policy_data WHERE data_key = '$row'}) ) };
not_saved( save( %none, %many ), qr/is one more than 100 resources/, 'a row of 101 resources' );
my $door = $stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name        => 'shop', displayName => 'Shop', upstreamType => 'REST', defaultScope => 'use',
        upstreamUrl => 'https://shop-internal.example/', publicUrls => ['https://shop.example/api'],
        routes      => [ { id => 'all', path => '/**', methods => ['GET'] } ] } );
is( $door->status, 201, 'a resource with a door' ) or diag $door->text;
not_saved( save( $_ => {} ), qr/is an address in publicUrls/, "an address of a door: $_" )
  for 'https://shop.example/api', 'https://SHOP.example:443/api';

# ---- revoked (T4)

my $mine = token( resource => $api );
is( $stack->revoke( @web, token => $mine )->status, 200, 'revoked: /revoke takes the text' );
unknown( $mine, '... and introspection does not show the token any more' );
my $asked = $stack->admin( POST => '/admin/api/tokens/introspect', json => { token => $person } );
is( $asked->status,           200,  'the admin API takes the text' ) or diag $asked->text;
is( $asked->member('active'), true, '... and knows the token' );
my $gone = $stack->admin( POST => '/admin/api/tokens/revoke', json => { token => $person } );
is( $gone->status, 200, 'revoked: by an administrator' ) or diag $gone->text;
unknown( $person, '... it is gone' );
oauth_error( exchanged($person), 400, 'invalid_request', '... for an exchange too' );
my $last = token( resource => $api );
oauth_ok( $stack->introspect( @rs, $last ), {%shown}, 'a fresh token is shown' );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'web'});
unknown( $last, 'a disabled client: evaluation 2 shows nothing, whatever the signature says' );

done_testing;

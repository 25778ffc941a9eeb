# POST /revoke: the matrix of specification 3 and 4.6, and decisions.md "/revoke": 200 with an empty body to everything but
# a failed authentication.
use strict;
use warnings;

use Compress::Raw::Zlib ();
use MIME::Base64        qw(encode_base64);
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',   \%cc );
my @alien = $stack->make_client( 'alien', \%cc );
my @rs    = $stack->make_client( 'rs',    { endpoints => ['introspect'] } );
my @off   = $stack->make_client( 'off',   \%cc );
my @spa   = $stack->make_client( 'spa',   { endpoints => ['introspect'] } );
my @form  = ( 'Content-Type' => 'application/x-www-form-urlencoded' );

sub new_token { return $stack->token_text(@crm) }

sub type_is {
    my ( $id, $type ) = @_;
    return $stack->sql("UPDATE client SET client_type = '$type' WHERE client_id = '$id'");
}
sub active { my ($token) = @_; return $stack->introspect( @rs, $token )->member('active') ? 'active' : 'dead' }

sub empty_200 {
    my ( $answer, $name ) = @_;
    my $good =
         $answer->status == 200
      && $answer->body eq ''
      && ( $answer->header('Cache-Control') // '' ) eq 'no-store'
      && ( $answer->header('Pragma')        // '' ) eq 'no-cache';
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( $good, $name ) or diag( $answer->text );
    return;
}

# Each row: what is sent, as whom, and what becomes of the token of crm.
my $token = new_token();
empty_200(
    $stack->revoke( @crm, token => $token ),
    'revoke: the issuing client gets 200 with an empty body, no-store and no-cache (specification 3)' );
is( active($token), 'dead', 'revoke: and the token is dead' );
empty_200( $stack->revoke( @crm, token => $token ), 'revoke: a second time is 200 (RFC 7009 2.2)' );

$token = new_token();
empty_200( $stack->revoke( @alien, token => $token ), 'revoke: another confidential client gets 200' );
is( active($token), 'active', 'revoke: and the token lives (specification 4.6)' );
empty_200( $stack->http->post( '/revoke', form => [ token => $token ] ), 'revoke: no credentials get 200' );
is( active($token), 'active', "revoke: and a confidential client's token lives (specification 3)" );
empty_200(
    $stack->http->post( '/revoke', form => [ token => $token, client_id => 'crm' ] ),
    'revoke: a bare client_id of a confidential client is no credential: 200' );
is( active($token), 'active', 'revoke: and the token lives' );
empty_200(
    $stack->revoke( @crm, token => $token, token_type_hint => 'refresh_token' ),
    'revoke: a wrong token_type_hint is 200' );
is( active($token), 'dead', 'revoke: and does not keep the token alive (RFC 7009 2.1)' );
$token = new_token();
empty_200(
    $stack->http->post( '/revoke', form => [ token => $token, client_id => $crm[0], client_secret => $crm[1] ] ),
    'revoke: client_secret_post works' );
is( active($token), 'dead', 'revoke: and revokes' );

# Tokens of a public client: a caller that holds one may revoke it without credentials (specification 3). No grant gives
# public clients tokens yet, so the client is made public for the revocations, and confidential again to look at the
# tokens.
$stack->bind( 'spa', {%cc} );
my @public = map { $stack->token_text(@spa) } 1 .. 4;
type_is( 'spa', 'public' );
empty_200(
    $stack->http->post( '/revoke', form => [ token => $public[0] ] ),
    "revoke: no credentials and a public client's token get 200" );
empty_200(
    $stack->http->post( '/revoke', form => [ token => $public[1], client_id => 'spa' ] ),
    'revoke: a public client names itself: 200' );
empty_200(
    $stack->revoke( @alien, token => $public[2] ),
    "revoke: a confidential client with a public client's token gets 200" );
oauth_error(
    $stack->http->post( '/revoke', form => [ token => $public[3], client_id => 'spa', client_secret => 'x' ] ),
    401, 'invalid_client', 'revoke: a public client that shows a secret is 401 (C12)' );
type_is( 'spa', 'confidential' );
is( join( ' ', map { active($_) } @public ), 'dead dead active active',
    "revoke: without credentials and by itself the public client's token is dead, for others it lives (specification 3, 4.6)"
);

# A header that holds no client's credentials is none: 200 (decisions.md "/revoke").
for my $header ( 'Bearer x', "Bearer $token", 'Bearer', 'Digest username="crm"', 'DPoP x', 'Negotiate' ) {
    my $live = new_token();
    empty_200(
        $stack->http->post( '/revoke', headers => [ Authorization => $header ], form => [ token => $live ] ),
        "revoke: Authorization: $header is no credential: 200" );
    is( active($live), 'active', "revoke: and the confidential client's token lives" );
}
my @held   = map { new_token() } 1 .. 3;
my @bearer = ( Authorization => "Bearer $held[0]" );
empty_200(
    $stack->http->post(
        '/revoke', headers => \@bearer, form => [ token => $held[1], client_id => $crm[0], client_secret => $crm[1] ] ),
    'revoke: beside a Bearer header the form authenticates' );
oauth_error(
    $stack->http->post(
        '/revoke', headers => \@bearer, form => [ token => $held[2], client_id => $crm[0], client_secret => 'wrong' ] ),
    401,
    'invalid_client',
    'revoke: and a wrong secret in it is 401' );
is( join( ' ', map { active($_) } @held ), 'active dead active', 'revoke: the Bearer header itself ends nothing' );
oauth_error(
    $stack->http->post(
        '/revoke', headers => [ Authorization => 'Basic ' . encode_base64( 'crm:wrong', '' ) ],
        form => [ token => $held[2] ] ),
    401,
    'invalid_client',
    'revoke: Basic with a wrong secret stays 401' );

# The id of a token finds its row, and its secret alone opens it: another secret under a right checksum.
sub with_secret {
    my ( $text, $octet, $bit ) = @_;
    my $raw = MIME::Base64::decode_base64url( substr $text, 3, -6 );
    vec( $raw, length($raw) - 32 + $octet, 8 ) ^= $bit;
    my $forged = 'at_' . MIME::Base64::encode_base64url($raw);
    my ( $crc, $check ) = ( Compress::Raw::Zlib::crc32($forged), '' );
    for ( 1 .. 6 ) { $check = ( 0 .. 9, 'A' .. 'Z', 'a' .. 'z' )[ $crc % 62 ] . $check; $crc = int( $crc / 62 ) }
    return $forged . $check;
}
$token = new_token();
is( with_secret( $token, 0, 0 ), $token, 'a token is put together as the service does' );
for my $case ( [ 0, 1, 'first' ], [ 31, 128, 'last' ] ) {
    my $forged = with_secret( $token, $case->[0], $case->[1] );
    empty_200(
        $stack->revoke( @crm, token => $forged ),
        "revoke: a token whose secret differs in a bit of its $case->[2] octet gets 200" );
    is( active($forged), 'dead', 'revoke: it introspects inactive' );
}
is( active($token), 'active', 'revoke: and the token lives' );
empty_200( $stack->revoke( @crm, token => $token ), 'revoke: the right one' );
is( active($token), 'dead', 'revoke: ends it' );

# Whatever is no revocation is 200 all the same.
$token = new_token();
empty_200(
    $stack->http->post( '/revoke', headers => [ Authz::Client::basic(@crm), @form ], body => $_->[0] ),
    "revoke: $_->[1] is 200" ) for [ '', 'no parameters' ], [ 'x=1', 'no token' ], [ 'token=', 'an empty token' ],
  [ "token=$token&token=$token", 'a repeated token' ], [ "token=%zz$token", 'a bad escape' ],
  [ "token=$token%00", 'a NUL' ], [ 'token=%ff%fe', 'bad UTF-8' ], [ 'token=garbage', 'garbage' ],
  [ "token=${token}x", 'a token with an octet more' ];
empty_200(
    $stack->http->post(
        '/revoke', headers => [ Authz::Client::basic(@crm), 'Content-Type' => $_ ], body => "token=$token" ),
    "revoke: content type $_ is 200" ) for 'application/json', 'text/plain', 'multipart/form-data; boundary=x';
empty_200(
    $stack->http->post( "/revoke?token=$token", headers => [ Authz::Client::basic(@crm), @form ], body => '' ),
    'revoke: a token in the URI is 200' );
is( active($token), 'active', 'revoke: and none of those revoked anything (decisions.md "/revoke")' );
like(
    $stack->{service}->log_text,
    qr/"route":"\/revoke".*"detail":"form ignored: [^"]*application\/x-www-form-urlencoded/,
    'revoke: the log says of a request that its form is ignored' );

# Requests that are not answered with 200.
oauth_error(
    $stack->revoke( 'crm', 'wrong', token => $token ), 401, 'invalid_client',
    'revoke: a wrong secret is 401 invalid_client (specification 4.6)' );
oauth_error(
    $stack->http->post( '/revoke', form => [ token => $token, client_id => 'crm', client_secret => 'wrong' ] ),
    401, 'invalid_client', 'revoke: in the form too' );
oauth_error(
    $stack->revoke( 'nobody', 'x', token => $token ), 401, 'invalid_client',
    'revoke: credentials of an unknown client are 401' );
$stack->admin(
    PUT  => '/admin/api/clients/off',
    json => { clientId => 'off', clientType => 'confidential', enabled => false } );
oauth_error(
    $stack->revoke( @off, token => $token ), 401, 'invalid_client',
    'revoke: credentials of a disabled client are 401' );
oauth_error(
    $stack->http->post(
        '/revoke',
        form => [
            token => $token, client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
            client_assertion => 'a.b.c' ] ),
    401,
    'invalid_client',
    'revoke: a bad assertion is 401' );
for my $case (
    [ 'Basic and a client_secret',   [@crm], client_id        => 'crm', client_secret => $crm[1] ],
    [ 'Basic and an assertion',      [@crm], client_assertion => 'a.b.c' ],
    [ 'Basic and another client_id', [@crm], client_id        => 'alien' ],
    [   'a client_secret and an assertion', undef, client_id => 'crm', client_secret => $crm[1],
        client_assertion => 'a.b.c' ],
    [ 'a client_assertion without a type', undef, client_id => 'crm', client_assertion => 'a.b.c' ],
  )
{
    my ( $name, $basic, @form ) = @$case;
    oauth_error(
        $stack->http->post(
            '/revoke', headers => [ $basic ? Authz::Client::basic(@$basic) : () ], form => [ token => $token, @form ] ),
        401,
        'invalid_client',
        "revoke: $name is 401, for 200 would say that the token is revoked (decisions.md \"/revoke\")" );
}
is( active($token), 'active', 'revoke: and none of those revoked anything' );
my $get = $stack->client->get('/revoke');
is( $get->status,          405,    'revoke: GET is 405 (oauth.md 3.4)' );
is( $get->header('Allow'), 'POST', 'revoke: with Allow: POST' );
is( $stack->client->post( '/revoke', headers => \@form, body => 'token=' . 'x' x 65531 )->status, 413,
    'revoke: a body of 64 KiB and one octet is 413' );
empty_200(
    $stack->client->post( '/revoke', headers => \@form, body => 'token=' . 'x' x 65530 ),
    'revoke: a body of 64 KiB is 200' );

# A revocation is for good, on every instance and after a change of the client.
$token = new_token();
$stack->revoke( @crm, token => $token );
$stack->bind( 'crm', { scopes => [ 'orders.read', 'more' ] } );
is( active($token), 'dead', 'revoke: later policy changes do not revive a token' );
is( $stack->sql('SELECT count(*) FROM access_token WHERE revoked_at IS NOT NULL') > 3, 1, 'revoke: the rows say when' );

done_testing;

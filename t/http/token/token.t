# POST /token, client_credentials: the issued token, and client authentication (specification 2.12, 4.4; oauth.md 3.1,
# 3.3).
use strict;
use warnings;

use MIME::Base64 qw(encode_base64);
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my %cc    = ( grants => ['client_credentials'] );
my @crm   = $stack->make_client( 'crm', { %cc, scopes => [ 'orders.read', 'orders.write' ] } );
my @odd =
  $stack->make_client( 'a+b c%d', { %cc, scopes => ['orders.read'] }, clientSecret => 'p:w+d %41&=, and so on' );
$stack->make_client( 'spa', { %cc, scopes => ['orders.read'] }, clientType => 'public' );
my @off = $stack->make_client( 'off', { %cc, scopes => ['orders.read'] } );
$stack->admin(
    PUT  => '/admin/api/clients/off',
    json => { clientId => 'off', clientType => 'confidential', enabled => false } );
my @jwt = $stack->make_client( 'jwt', { %cc, scopes => ['orders.read'] } );
$stack->sql("UPDATE client SET auth_method = 'private_key_jwt' WHERE client_id = 'jwt'");

my @form = ( 'Content-Type' => 'application/x-www-form-urlencoded' );

# Sends a form with the given headers; the grant is client_credentials unless the form says otherwise.
sub ask {
    my ( $headers, @pairs ) = @_;
    my %has = @pairs;
    return $stack->http->post(
        '/token', headers => $headers,
        form => [ exists $has{grant_type} ? () : ( grant_type => 'client_credentials' ), @pairs ] );
}

sub basic_raw { return [ Authorization => 'Basic ' . encode_base64( $_[0], '' ) ] }

# The statuses of so many requests at the same moment, each on its own connection: 401 x 12.
sub statuses {
    my ( $client, $count ) = @_;
    my $http   = $stack->client;
    my $octets = $http->octets(
        'POST', '/token', headers => [ Authz::Client::basic(@$client) ],
        form => [ grant_type => 'client_credentials' ], close => 1 );
    my %by;
    $by{ $_->status }++ for Authz::Client::together( map { [ $http, $octets ] } 1 .. $count );
    return join ', ', map {"$_ x $by{$_}"} sort keys %by;
}

# ---- what is issued

my $answer = $stack->token( @crm, scope => 'orders.read' );
oauth_ok(
    $answer,
    {   access_token  => qr/\Aat_[A-Za-z0-9_-]+\z/, token_type => 'Bearer', expires_in => sub { $_[0] == 3600 },
        scope         => 'orders.read',
        refresh_token => undef, id_token => undef, issued_token_type => undef, authorization_details => undef },
    'token: client_credentials gives an opaque Bearer token and no refresh or ID token (specification 2.12, oauth.md 3.3)'
);
like( $answer->body,                   qr/"expires_in":\s*3600\b/, 'token: expires_in is a number (RFC 6749 5.1)' );
like( $answer->header('Content-Type'), qr{\Aapplication/json}, 'token: the answer is application/json (oauth.md C8)' );
my %seen = map { ( $stack->token_text(@crm) => 1 ) } 1 .. 20;
is( scalar keys %seen, 20, 'token: no two tokens are the same' );
like( ( keys %seen )[0], qr/\A[^\s"\\]{60,}\z/, 'token: the secret part is long (decisions.md \"Format\")' );
oauth_ok(
    $stack->token(@crm), { scope => '' },
    'token: no scope asked and none registered gives an empty scope (decisions.md "Omitted scope")' );

# ---- client_secret_basic (C11)

oauth_ok(
    ask( [ Authorization => 'bAsIc ' . encode_base64( "crm:$crm[1]", '' ) ] ), {},
    'C11: the scheme Basic is case-insensitive (RFC 9110 11.1)' );
oauth_ok(
    ask( basic_raw( Authz::Client::escape('a+b c%d') . ':' . Authz::Client::escape('p:w+d %41&=, and so on') ) ),
    {}, 'C11: form-encoded id and secret (RFC 6749 2.3.1)' );
oauth_ok(
    ask( basic_raw( 'a%2Bb+c%25d:' . Authz::Client::escape('p:w+d %41&=, and so on') ) ), {},
    'C11: + is a space in form-encoded credentials' );
oauth_ok(
    ask( basic_raw('a+b c%d:p:w+d %41&=, and so on') ), {},
    'C11: the raw pair is tried too; the first colon separates' );
my $no_base64 = ask( [ Authorization => 'Basic %%%' ] );
oauth_error( $no_base64, 401, 'invalid_client', 'C11: Basic that is not base64 is 401 invalid_client' );
like(
    $no_base64->header('WWW-Authenticate'), qr/\ABasic realm="\Q@{[ $stack->base ]}\E"/,
    'C9: WWW-Authenticate names the realm (RFC 6749 5.2)' );
oauth_error( ask( basic_raw('crm') ),             401, 'invalid_client', 'C11: Basic without a colon is 401' );
oauth_error( ask( basic_raw(":$crm[1]") ),        401, 'invalid_client', 'C11: Basic with an empty id is 401' );
oauth_error( ask( basic_raw("crm\0x:$crm[1]") ),  401, 'invalid_client', 'C11: Basic with a NUL is 401' );
oauth_error( ask( basic_raw("crm:$crm[1]\0") ),   401, 'invalid_client', 'C11: a NUL after the secret is 401' );
oauth_error( ask( basic_raw("crm:") ),            401, 'invalid_client', 'C11: Basic with an empty secret is 401' );
oauth_error( ask( [ Authorization => 'Basic' ] ), 401, 'invalid_client', 'C11: Basic without credentials is 401' );
oauth_error( ask( [ Authorization => 'Digest username="crm"' ] ), 401, 'invalid_client', 'C11: another scheme is 401' );
oauth_error(
    ask( basic_raw( "crm:" . substr $crm[1], 0, -1 ) ), 401, 'invalid_client',
    'C9: a secret that lacks its last octet is wrong' );
oauth_error( ask( basic_raw("crm:$crm[1]x") ),     401, 'invalid_client', 'C9: a secret with one octet more is wrong' );
oauth_error( ask( basic_raw( 'CRM:' . $crm[1] ) ), 401, 'invalid_client', 'C9: client ids are case-sensitive' );

# ---- client_secret_post, and one way only (C10, C12, C13)

oauth_ok(
    ask( [], client_id => 'crm', client_secret => $crm[1] ), {},
    'C12: client_secret_post works for the same client' );
oauth_ok(
    ask( [], client_id => 'a+b c%d', client_secret => 'p:w+d %41&=, and so on' ), {},
    'C12: form credentials are decoded once' );
oauth_error(
    ask( [], client_id => 'crm', client_secret => 'wrong' ), 401, 'invalid_client',
    'specification 7.1: a wrong client secret is 401 invalid_client' );
oauth_error(
    ask( [], client_id => 'crm' ), 401, 'invalid_client',
    'C12: a confidential client without a secret is 401' );
oauth_error(
    ask( [], client_id => 'crm', client_secret => '' ), 401, 'invalid_client',
    'C12: an empty client_secret counts as absent' );
oauth_error( ask( [], client_secret => $crm[1] ), 401, 'invalid_client', 'C13: a secret without client_id is 401' );
oauth_error( ask( [] ),                           401, 'invalid_client', 'C13: no client identification is 401' );
my @good = Authz::Client::basic(@crm);
oauth_error(
    ask( [@good], client_id => 'crm', client_secret => $crm[1] ), 400, 'invalid_request',
    'C10: Basic and client_secret together are 400' );
oauth_error(
    ask([@good], client_assertion => 'x.y.z',
        client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' ),
    400,
    'invalid_request',
    'C10: Basic and an assertion together are 400' );
oauth_error(
    ask([], client_id => 'crm', client_secret => $crm[1], client_assertion => 'x',
        client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' ),
    400,
    'invalid_request',
    'C10: a secret and an assertion together are 400' );
oauth_ok( ask( [@good], client_id => 'crm' ), {}, 'C10: Basic with an equal client_id is fine' );
oauth_error( ask( [@good], client_id => 'odd' ), 400, 'invalid_request', 'C10: Basic with another client_id is 400' );
oauth_error(
    $stack->http->post( "/token?client_id=crm&client_secret=$crm[1]", form => [ grant_type => 'client_credentials' ] ),
    401, 'invalid_client', 'C3: credentials in the URI never count' );
oauth_error(
    $stack->http->post( '/token?grant_type=client_credentials', headers => [ @good, @form ], body => 'x=1' ),
    400, 'invalid_request', 'C3: query parameters of a POST are ignored' );
oauth_error(
    ask( [], client_id => 'jwt', client_secret => $jwt[1] ), 401, 'invalid_client',
    'C12: a client registered private_key_jwt does not get in with a secret' );

# ---- unknown, disabled, deleted: one answer for all (C9)

my @refused = map { ask( [], client_id => $_->[0], client_secret => $_->[1] ) } [ 'nobody', 'x' ], [ 'off', $off[1] ],
  [ 'off', 'x' ], [ 'crm', 'x' ];
is( scalar( () = grep { $_->status == 401 && $_->body eq $refused[0]->body } @refused ),
    4, 'C9: unknown, disabled and wrong secret get the same 401 and body' );
my @gone = $stack->make_client( 'gone', { %cc, scopes => ['orders.read'] } );
oauth_ok( $stack->token(@gone), {}, 'a client that was just created gets a token' );
$stack->admin( DELETE => '/admin/api/clients/gone' );
is( statuses( \@gone, 12 ), '401 x 12',
    'a deleted client is refused at once by every worker, whatever it has cached (architecture.md 4)' );
my @rotated = $stack->make_client( 'rotated', { %cc, scopes => ['orders.read'] } );
$stack->token_text(@rotated) for 1 .. 8;
my $new = $stack->admin( POST => '/admin/api/clients/rotated/rotate-secret' )->member('clientSecret');
is( statuses( \@rotated, 12 ), '401 x 12',
    'a rotated secret is dead in every worker at once (decisions.md "rotate-secret")' );
oauth_ok(
    $stack->token( 'rotated', $new ), {},
    'the new secret works in the same moment: a refusal is given only after a fresh read (decisions.md "Refusals on a cached row")'
);

# ---- public clients (C14)

oauth_error(
    ask( [], client_id => 'spa' ), 400, 'unauthorized_client',
    'C14: a public client may not use client_credentials (specification 4.4)' );
oauth_error(
    ask( [], client_id => 'spa', client_secret => '' ), 400, 'unauthorized_client',
    'C12: an empty secret of a public client counts as absent' );
oauth_error(
    ask( [], client_id => 'spa', client_secret => 'x' ), 401, 'invalid_client',
    'C12: a public client that shows a secret is 401' );
oauth_error( ask( basic_raw('spa:x') ), 401, 'invalid_client', 'C12: a public client with Basic and a secret is 401' );
$stack->make_client( 'gone-spa', { %cc, scopes => ['orders.read'] }, clientType => 'public' );
ask( [], client_id => 'gone-spa' ) for 1 .. 8;    # every worker has the row by now
$stack->admin( DELETE => '/admin/api/clients/gone-spa' );
oauth_error(
    ask( [], client_id => 'gone-spa' ), 401, 'invalid_client',
    'a public client that was deleted is unknown at once, whatever a worker remembers' ) for 1 .. 4;

# ---- the grant type (C13, S15)

oauth_error(
    ask( [@good], grant_type => $_ ), 400, 'unsupported_grant_type',
    "S15: grant_type=$_ is 400 unsupported_grant_type" )
  for 'password', 'urn:ietf:params:oauth:grant-type:uma-ticket', 'implicit', 'CLIENT_CREDENTIALS',
  'client_credentials ';
oauth_error(
    ask( [], grant_type => 'password' ), 400, 'unsupported_grant_type',
    'C13: an unsupported grant is answered before client authentication' );
oauth_error(
    ask( basic_raw('crm:wrong'), grant_type => 'password' ), 400, 'unsupported_grant_type',
    'C13: also with a wrong secret' );
oauth_error(
    $stack->http->post( '/token', headers => \@good, form => [ scope => 'orders.read' ] ), 400,
    'invalid_request', 'C13: no grant_type is 400 invalid_request' );
oauth_error( ask( [@good], grant_type => '' ), 400, 'invalid_request', 'C4: an empty grant_type is an absent one' );

# ---- methods (C1)

for my $method (qw(GET PUT DELETE PATCH HEAD)) {
    my $wrong = $stack->client->request( $method, '/token', body => '' );
    is( $wrong->status,                405,    "C1: $method /token is 405" );
    is( $wrong->header('Allow') // '', 'POST', "C1: the 405 of $method has Allow: POST" );
}
for my $path (qw(/token /introspect /revoke)) {
    my $wrong = $stack->client->get($path);
    is( join( ', ', map { $wrong->header($_) // 'none' } 'Cache-Control', 'Pragma' ), 'no-store, no-cache',
        "C8: the 405 of GET $path is not stored (specification 1)" );
    oauth_error( $wrong, 405, 'invalid_request', "C1: and is {error, error_description}" );
}
my $elsewhere = $stack->client->post('/health/live');
is( join( ', ', map { $elsewhere->header($_) // 'none' } 'Cache-Control', 'Pragma' ), 'no-store, none',
    'C1: the 405 of another path has the cache headers of that path' );

done_testing;

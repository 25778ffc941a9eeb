# POST /token: scope, resource, resource types, authorization details, and policy's answers
# (oauth.md 3.1 C14, C15, 3.3; decisions.md "/token outcomes", "Entitlements").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start;
my %cc     = ( grants => ['client_credentials'] );
my $orders = 'https://api.example/orders';
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource => {
            types => {
                'urn:r:orders' => { scopes => [ 'orders.read', 'orders.write' ], indicator => $orders },
                'urn:r:bare'   => { scopes => ['bare.read'] } } },
        rar => { types => { payment => { actions => [ 'initiate', 'cancel' ] } } } } );
my @crm = $stack->make_client(
    'crm',
    {   %cc, scopes => [ 'orders.read', 'orders.write' ],
        resources => [ 'https://plain.example', 'https://deep.example/a/' ], authorization_details => ['payment'] } );
my @typed = $stack->make_client(
    'typed',
    { %cc, scopes => [ 'orders.read', 'orders.write', 'other' ], resource_types => ['urn:r:orders'] } );
my @idle = $stack->make_client('idle');
my @cut  = $stack->make_client( 'cut', { %cc, scopes => [ 'a', 'b', 'c' ] } );
$stack->sql("UPDATE client SET scope = 'a b z' WHERE client_id = 'cut'");

sub ask { my ( $client, @form ) = @_; return $stack->token( @$client, @form ) }

# ---- scope

oauth_ok(
    ask( \@crm, scope => 'orders.read orders.write' ), { scope => same_words('orders.read orders.write') },
    'scope: all that is entitled is granted' );
oauth_ok(
    ask( \@crm, scope => 'orders.read admin' ), { scope => 'orders.read' },
    'scope: partial grants succeed with fewer scopes (decisions.md "Policy deny at /token")' );
oauth_ok(
    ask( \@crm, scope => 'orders.read orders.read' ), { scope => 'orders.read' },
    'scope: a repeated word counts once' );
oauth_error(
    ask( \@crm, scope => 'admin' ), 400, 'invalid_scope',
    'C15: all requested scopes removed is 400 invalid_scope' );
oauth_error(
    ask( \@crm, scope => 'Orders.read' ), 400, 'invalid_scope',
    'scope: words are case-sensitive (RFC 6749 3.3)' );
oauth_error(
    ask( \@crm, scope => $_->[0] ), 400, 'invalid_scope',
    "scope: $_->[1] is 400 invalid_scope (RFC 6749 3.3, NQCHAR)" )
  for [ 'a"b', 'a quote' ], [ 'a\\b', 'a backslash' ], [ "a\tb", 'a tab' ], [ "a\nb", 'a newline' ],
  [ "a\x7f", 'DEL' ], [ "\xc3\xa9", 'a letter beyond ASCII' ];
oauth_ok( ask( \@crm, scope => '' ), { scope => '' }, 'C4: an empty scope is an absent one' );
oauth_ok(
    ask( \@crm, scope => ( 'orders.read ' x 80 ) ), { scope => 'orders.read' },
    'scope: the length of the field is allowed up to its maximum' );
oauth_error( ask( \@crm, scope => 'x' x 5000 ), 400, 'invalid_scope', 'scope: a text of 5,000 octets is refused' );
oauth_ok(
    ask( \@cut, scope => 'a c' ), { scope => 'a' },
    'scope: a registered scope is a ceiling above the binding (decisions.md "What is stored")' );
oauth_ok(
    ask( \@cut ), { scope => same_words('a b') },
    'scope: omitted, the registered one is asked for, and the binding cuts it (decisions.md "Omitted scope")' );
oauth_error(
    ask( \@cut, scope => 'c' ), 400, 'invalid_scope',
    'scope: nothing within the registered scope is 400 invalid_scope' );

# ---- resource (RFC 8707)

oauth_ok( ask( \@crm, resource => $_->[0], scope => 'orders.read' ), { scope => 'orders.read' }, "resource: $_->[1]" )
  for [ 'https://plain.example', 'an entitled resource' ],
  [ 'https://plain.example/',  'the slash after an empty path does not matter (oauth.md 2.7)' ],
  [ 'https://deep.example/a/', 'an entitled resource with a path' ];
oauth_error(
    ask( \@crm, resource => $_->[0], scope => 'orders.read' ), 400, 'invalid_target',
    "resource: $_->[1] is 400 invalid_target" ) for [ 'https://other.example', 'one that is not entitled' ],
  [ 'https://deep.example/a',             'a slash less after a path' ],
  [ 'https://plain.example/x',            'a path below an entitled one' ],
  [ 'https://plain.example.evil.example', 'a longer host' ],
  [ 'https://plain.example#f', 'a fragment (RFC 8707 2)' ], [ 'plain.example',            'a relative reference' ],
  [ '/orders',                 'a path alone' ],            [ 'https://plain.example/ x', 'a space' ],
  [ 'http://plain.example',    'another scheme' ];
oauth_ok(
    $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@crm) ],
        form => [ grant_type => 'client_credentials', ( resource => 'https://plain.example' ) x 2 ] ),
    {},
    'C3: resource may be repeated; equal repetitions count once (decisions.md "Resource")' );
oauth_ok(
    $stack->http->post(
        '/token',
        headers => [ Authz::Client::basic(@crm) ],
        form    => [
            grant_type => 'client_credentials', resource => 'https://plain.example',
            resource   => 'https://plain.example/' ] ),
    {},
    'resource: both forms of one resource are one' );
oauth_error(
    ask( \@crm, resource => 'https://plain.example', resource => 'https://deep.example/a/' ), 400,
    'invalid_target', 'resource: two different ones are 400 invalid_target (decisions.md "Resource")' );

# ---- resource types

oauth_ok(
    ask( \@typed, resource_types => 'urn:r:orders', scope => 'orders.read other' ),
    { scope => 'orders.read' },
    'resource_types: a named type gives those scopes of the binding that the registry lists for it (policy.md 6.5)' );
oauth_ok(
    ask( \@typed, resource => $orders, scope => 'orders.write' ), { scope => 'orders.write' },
    "resource: a type's indicator names the type (policy.md 6.5)" );
oauth_error(
    ask( \@typed, resource_types => 'urn:r:bare', scope => 'orders.read' ), 400, 'invalid_target',
    'resource_types: one that is not entitled is 400 invalid_target' );
oauth_error(
    ask( \@typed, resource_types => 'urn:r:unknown', scope => 'orders.read' ), 400, 'invalid_target',
    'resource_types: an unknown one is 400 invalid_target' );
oauth_error(
    ask( \@typed, resource_types => 'no-uri', scope => 'orders.read' ), 400, 'invalid_request',
    'resource_types: a text that is no URI is 400 invalid_request (oauth.md 3.2)' );

# ---- authorization details (RFC 9396; C15)

my $payment = '[{"type":"payment","actions":["initiate"],"amount":50}]';
oauth_ok(
    ask( \@crm, authorization_details => $payment ),
    { authorization_details => [ { type => 'payment', actions => ['initiate'], amount => 50 } ] },
    'authorization_details: an entitled entry comes back in the token response (specification 2.12)' );
oauth_error(
    ask( \@crm, authorization_details => $_->[0] ), 400, 'invalid_request',
    "C15: authorization_details that is $_->[1] is 400 invalid_request" )
  for [ '{"type":"payment"}', 'an object' ], [ 'payment', 'no JSON' ], [ '[{"type":"payment"}', 'cut off' ],
  [ '[{"type":"payment","type":"payment"}]', 'JSON with a repeated name' ],
  [ '[' x 40 . ']' x 40, 'nested 40 deep' ], [ '"x"', 'a string' ];
oauth_error(
    ask( \@crm, authorization_details => $_->[0] ), 400, 'invalid_authorization_details',
    "C15: authorization_details with $_->[1] is 400 invalid_authorization_details" )
  for [ '[{"type":"account"}]', 'an unknown type' ], [ '[{"actions":["initiate"]}]', 'an entry without type' ],
  [ '["payment"]',                                'an entry that is no object' ],
  [ '[{"type":5}]',                               'a type that is a number' ],
  [ '[{"type":"payment","actions":["destroy"]}]', 'an action the registry does not list' ],
  [ '[{"type":"payment"},{"type":"account"}]',    'one bad entry among good ones' ];
oauth_error(
    ask( \@typed, authorization_details => $payment ), 400, 'invalid_authorization_details',
    'C15: a type the client is not entitled to' );

# ---- policy says no

oauth_error(
    ask( \@idle ), 400, 'unauthorized_client',
    'C14: a client without the grant is 400 unauthorized_client; admin-managed clients get nothing until a binding names them'
);
$stack->bind( 'idle', { grants => ['refresh_token'], scopes => ['orders.read'] } );
oauth_error(
    ask( \@idle, scope => 'orders.read' ), 400, 'unauthorized_client',
    'C14: another grant in the binding does not help' );
my $both = ask( \@idle, scope => 'nothing' );
oauth_error(
    $both, 400, 'unauthorized_client',
    'of two reasons the one whose category comes first speaks, grant before scope (decisions.md "Order of reasons")' );
$stack->bind( 'idle', { %cc, scopes => ['orders.read'] } );
oauth_ok(
    ask( \@idle, scope => 'orders.read' ), { scope => 'orders.read' },
    'a PATCH that answers confirmed: the token in the next line is issued (decisions.md "Data rows stay")' );
$stack->bind( 'idle', undef );
oauth_error(
    ask( \@idle, scope => 'orders.read' ), 400, 'unauthorized_client',
    'and taken away again it is refused at once' );

$stack->patch_row( 'svc.operator.controls.environment', { deny_cidrs => ['127.0.0.0/8'] } );
oauth_error( ask( \@crm ), 400, 'access_denied', 'C15: an environment reason is 400 access_denied' );
$stack->patch_row( 'svc.operator.controls.environment', { deny_cidrs           => undef } );
$stack->patch_row( 'svc.operator.controls.client',      { allowed_auth_methods => ['private_key_jwt'] } );
oauth_error( ask( \@crm ), 400, 'unauthorized_client', 'C15: a client reason is 400 unauthorized_client' );
$stack->patch_row( 'svc.operator.controls.client', { allowed_auth_methods => undef } );
oauth_ok( ask( \@crm ), {}, 'and without those rows the token is issued again' );

# ---- lifetime (decisions.md "Lifetimes")

$stack->bind( 'crm', { ttl => 60 } );
oauth_ok( ask( \@crm ), { expires_in => 60 }, "lifetime: the binding's ttl overrides the configured one" );
$stack->bind( 'crm', { ttl => 7200 } );
oauth_ok( ask( \@crm ), { expires_in => 7200 }, 'lifetime: upwards too (decisions.md "Lifetimes")' );
$stack->bind( 'crm', { ttl => 1_000_000 } );
oauth_ok( ask( \@crm ), { expires_in => 86400 }, 'lifetime: more than 86400 is cut to 86400' );
$stack->patch_row( 'svc.operator.controls.lifetime', { max_ttl => 90 } );
oauth_ok( ask( \@crm ), { expires_in => 90 }, 'lifetime: max_ttl caps it' );
$stack->bind( 'crm', { ttl => undef } );
oauth_ok(
    ask( \@crm ), { expires_in => 90 },
    'lifetime: max_ttl caps the configured lifetime when nothing else applies (policy.md 6.5)' );
$stack->patch_row( 'svc.operator.controls.lifetime', { max_ttl => undef } );

# ---- request ids, and what every answer carries (decisions.md "X-Request-ID")

for my $id ( 'a', 'A-Za.z0_9', 'x' x 128 ) {
    is( $stack->http->post( '/token', headers => [ 'X-Request-ID' => $id ], form => [ grant_type => 'password' ] )
          ->header('X-Request-ID'),
        $id, 'X-Request-ID: a well-formed one of ' . length($id) . ' characters is echoed on an error' );
}
for my $id ( 'x' x 129, 'a b', 'a/b', "caf\xc3\xa9", 'a;b', '"' ) {
    my $echo = $stack->http->get( '/nowhere', headers => [ 'X-Request-ID' => $id ] )->header('X-Request-ID');
    ok( defined $echo && $echo ne $id && $echo =~ /\A[A-Za-z0-9._-]{1,128}\z/,
        'X-Request-ID: a malformed one is replaced, also on a 404: ' . substr $id, 0, 20 );
}
my $plain = $stack->token(@crm);
like( $plain->header('X-Request-ID'), qr/\A[A-Za-z0-9._-]{16,128}\z/, 'X-Request-ID: one is made when none is sent' );
is( $stack->http->get( '/nowhere', headers => [ 'X-Request-ID' => 'mine' ] )->status, 404, 'an unknown path is 404' );

done_testing;

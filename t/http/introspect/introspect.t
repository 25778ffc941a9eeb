# POST /introspect: callers, the audience rule, and evaluation 2 (specification 2.13, 3, 4.5;
# oauth.md 3.4; decisions.md "Introspection has an audience").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client ();
use Authz::Inputs;
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start;
my %cc    = ( grants => ['client_credentials'] );
my $api   = 'https://api.example';
my @crm   = $stack->make_client(
    'crm',
    { %cc, scopes => [ 'orders.read', 'orders.write' ], resources => [ $api, 'https://two.example' ] } );
my @rs = $stack->make_client(
    'rs',
    { %cc, scopes => [ 'introspection', 'uma_protection', 'other' ], endpoints => ['introspect'], resources => [$api] }
);
my @deaf = $stack->make_client( 'deaf', { %cc, scopes => [ 'orders.read', 'introspection' ] } );
my @far  = $stack->make_client( 'far',  { endpoints => ['introspect'], resources => ['https://far.example'] } );
$stack->make_client( 'spa', { endpoints => ['introspect'] }, clientType => 'public' );

sub ask { my ( $token, @more ) = @_; return $stack->introspect( @rs, $token, @more ) }

# With a Bearer token as the caller's credential.
sub ask_bearer {
    my ( $bearer, $token, @more ) = @_;
    return $stack->http->post(
        '/introspect', headers => [ Authz::Client::bearer($bearer) ],
        form => [ token => $token, @more ] );
}

my $token = $stack->token_text( @crm, scope => 'orders.read orders.write' );

# ---- a live token

my $now = time;
oauth_ok(
    ask($token),
    {   active    => sub { JSON::PP::is_bool( $_[0] ) && $_[0] }, scope => same_words('orders.read orders.write'),
        client_id => 'crm',  sub => 'crm',                            token_type => 'Bearer',
        iss => $stack->base, iat => sub { abs( $_[0] - $now ) < 10 }, exp => sub { abs( $_[0] - $now - 3600 ) < 10 },
        inactive_reason => undef, resource => undef,                  act => undef, cnf => undef },
    'introspect: an active token is shown with scope, client_id, sub, iss, iat, exp (specification 2.13)' );
like( ask($token)->body, qr/"exp":\s*\d+[,}]/, 'introspect: exp and iat are integers (RFC 7662 2.2)' );
oauth_ok(
    ask($token), { matched_segments => ['binding:clients/crm'] },
    'introspect: matched_segments names what granted it (policy.md 6.5)' );
oauth_ok(
    ask( $token, token_type_hint => $_ ), { active => true },
    "introspect: token_type_hint=$_ does not hide an access token (oauth.md 3.4)"
) for qw(access_token refresh_token nonsense);
oauth_ok(
    $stack->http->post( '/introspect', form => [ token => $token, client_id => $rs[0], client_secret => $rs[1] ] ),
    { active => true }, 'introspect: client_secret_post works as Basic does (C12)' );

# ---- who may ask

oauth_error(
    $stack->introspect( @deaf, $token ), 403, 'access_denied',
    'introspect: Basic of a client that is not entitled is 403 access_denied (decisions.md "Caller not entitled")' );
oauth_error(
    $stack->introspect( @deaf, 'garbage' ), 403, 'access_denied',
    'introspect: 403 for a dead token too, so that the difference tells nothing (policy.md 6.5)' );
oauth_error(
    $stack->introspect( 'rs', 'wrong', $token ), 401, 'invalid_client',
    'introspect: a wrong secret is 401 invalid_client' );
oauth_error(
    $stack->introspect( 'nobody', 'x', $token ), 401, 'invalid_client',
    'introspect: an unknown client is 401 invalid_client' );
oauth_error(
    $stack->http->post( '/introspect', form => [ token => $token ] ), 401, 'invalid_client',
    'introspect: no credential is 401' );
oauth_error(
    $stack->http->post( '/introspect', form => [ token => $token, client_id => 'spa' ] ), 401,
    'invalid_client', 'introspect: public clients cannot introspect (decisions.md "Introspection callers")' );
for my $scope (qw(introspection uma_protection)) {
    oauth_ok(
        ask_bearer( $stack->token_text( @rs, scope => $scope ), $token ), { active => true },
        "introspect: Bearer with scope $scope may ask (specification 4.5)" );
}
my $other = ask_bearer( $stack->token_text( @rs, scope => 'other' ), $token );
oauth_error( $other, 401, 'invalid_token', 'introspect: Bearer without the scope is 401 (RFC 7662 2.3)' );
like(
    $other->header('WWW-Authenticate'), qr/\ABearer .*error="invalid_token"/,
    'introspect: the 401 has WWW-Authenticate: Bearer error="invalid_token"' );
oauth_error( ask_bearer( $_->[0], $token ), 401, 'invalid_token', "introspect: Bearer that is $_->[1] is 401" )
  for [ 'garbage', 'garbage' ], [ substr( $token, 0, -1 ) . 'x', 'a token with another checksum' ],
  [ $token, 'a token without the scope' ];
my $revoked = $stack->token_text( @rs, scope => 'introspection' );
$stack->revoke( @rs, token => $revoked );
oauth_error( ask_bearer( $revoked, $token ), 401, 'invalid_token', 'introspect: a revoked Bearer is 401' );

# The caller is checked before the body: its 401 comes before the 400 of the body, for every kind of credential (oauth.md 3.4).
my %caller = (
    'a Bearer that is no token of ours'    => [ Authorization => 'Bearer zzz' ],
    'an empty Bearer'                      => [ Authorization => 'Bearer  ' ],
    'a Bearer in the form of another kind' => [ Authz::Client::bearer( 'rt' . substr $token, 2 ) ],
    'a revoked Bearer'                     => [ Authz::Client::bearer($revoked) ],
    'a Bearer without the scope'           => [ Authz::Client::bearer( $stack->token_text( @rs, scope => 'other' ) ) ],
);
my @bad_body = (
    [ 'x=1',                                         'without token' ], [ 'token=', 'with an empty token' ],
    [ "token=$token&context=x",                      'with a context that is no JSON' ],
    [ "token=$token&context=%7B%22scopes%22%3A5%7D", 'with context.scopes of another type' ] );
my @urlencoded = ( 'Content-Type' => 'application/x-www-form-urlencoded' );
for my $who ( sort keys %caller ) {
    for my $body (@bad_body) {
        my $answer =
          $stack->http->post( '/introspect', headers => [ @{ $caller{$who} }, @urlencoded ], body => $body->[0] );
        oauth_error( $answer, 401, 'invalid_token', "introspect: $who, $body->[1]: 401 first (oauth.md 3.4)" );
        like(
            $answer->header('WWW-Authenticate'), qr/\ABearer .*error="invalid_token"/,
            'introspect: and it says why' );
    }
}
my @may =
  ( [ Authz::Client::bearer( $stack->token_text( @rs, scope => 'introspection' ) ) ], [ Authz::Client::basic(@rs) ] );
for my $headers (@may) {
    oauth_error(
        $stack->http->post( '/introspect', headers => [ @$headers, @urlencoded ], body => $_->[0] ), 400,
        'invalid_request', "introspect: an entitled caller, $_->[1]: 400" ) for @bad_body;
}
oauth_error(
    $stack->http->post(
        '/introspect', headers => [ Authz::Client::basic( $rs[0], 'wrong' ), @urlencoded ], body => 'x=1' ),
    401,
    'invalid_client',
    'introspect: a wrong secret, without token: 401 first' );

oauth_error(
    $stack->http->post(
        '/introspect', headers => [ Authz::Client::bearer( $stack->token_text( @rs, scope => 'introspection' ) ) ],
        form => [ token => $token, client_id => $rs[0], client_secret => $rs[1] ] ),
    400,
    'invalid_request',
    'introspect: Bearer and a client secret together are 400 (C10)' );

# ---- bad requests

oauth_error(
    $stack->http->post( '/introspect', headers => [ Authz::Client::basic(@rs) ], form => [ x => 1 ] ), 400,
    'invalid_request', 'introspect: no token is 400 invalid_request (oauth.md 3.4)' );
oauth_error( ask(''), 400, 'invalid_request', 'introspect: an empty token is an absent one (C4)' );
oauth_error(
    ask( $token, context => $_->[0] ), 400, 'invalid_request',
    "introspect: context that is $_->[1] is 400 invalid_request" )
  for [ '[]', 'an array' ], [ 'x', 'no JSON' ], [ '"x"', 'a string' ],
  [ '{"a":1,"a":2}', 'JSON with a repeated name' ], [ '{"scopes":5}', 'an object with scopes 5' ],
  [ '{"scopes":["a",5]}', 'an object with a number among the scopes' ],
  [ '{"a":' x 17 . '1' . '}' x 17, 'nested 17 deep' ];
oauth_ok(
    ask( $token, context => '{"a":' x 15 . '{}' . '}' x 15 ), { active => true },
    'introspect: a context nested 16 deep is allowed (decisions.md "Introspection callers")' );
oauth_ok(
    ask( $token, context => '{"x":"' . 'y' x ( 16384 - 8 ) . '"}' ), { active => true },
    'introspect: a context of 16 KiB is allowed (oauth.md 3.4)' );
oauth_error(
    ask( $token, context => '{"x":"' . 'y' x ( 16384 - 7 ) . '"}' ), 400, 'invalid_request',
    'introspect: a context of 16 KiB and one octet is 400' );

# ---- dead tokens

inactive( ask( $_->[0] ), "introspect: $_->[1] is exactly inactive (RFC 7662 2.2)" )
  for [ 'garbage', 'garbage' ], [ 'eyJhbGciOiJub25lIn0.e30.', 'a JWT' ],
  [ $token . 'x', 'a token with an octet more' ],
  [ substr( $token, 0, 40 ) . ( substr( $token, 40, 1 ) eq 'A' ? 'B' : 'A' ) . substr( $token, 41 ),
    'a token with an octet changed' ],
  [ 'rt_' . substr( $token, 3 ), 'an access token dressed as a refresh token' ],
  [ ' ' . $token, 'a token after a space' ], [ 'a' x 20000, '20,000 letters' ],
  [ "at_\xc3\xa9", 'a token beyond ASCII' ];
my $dead = $stack->token_text(@crm);
$stack->revoke( @crm, token => $dead );
inactive( ask($dead), 'introspect: a revoked token is inactive (specification 4.5)' );
my $ttl = 4 * Authz::Process::patience();
$stack->bind( 'crm', { ttl => $ttl } );
my $short = $stack->token_text( @crm, scope => 'orders.read' );
my $until;
oauth_ok(
    ask($short), { active => true, exp => sub { $until = $_[0]; $until - time <= $ttl } },
    "introspect: a token with a ttl of $ttl s lives" );
$stack->bind( 'crm', { ttl => undef } );
Authz::Process::sleep_until( $until + 1.1 );    # exp has no fractions
inactive( ask($short), "introspect: and is inactive after $ttl s (TTL override, specification 3)" );

# ---- the audience

my $for_api = $stack->token_text( @crm, scope => 'orders.read', resource => $api );
oauth_ok(
    ask($for_api), { active => true, resource => $api, aud => $api },
    'audience: the client whose binding holds the resource is shown the token' );
inactive(
    $stack->introspect( @far, $for_api ),
    'audience: any other entitled caller gets exactly inactive (decisions.md "Introspection has an audience")' );
oauth_ok(
    $stack->introspect( @far, $token ), { active => true },
    'audience: a token without a resource is shown to any entitled caller' );
$stack->bind( 'crm', { endpoints => ['introspect'], resources => ['https://two.example'] } );
inactive(
    ask( $stack->token_text( @crm, scope => 'orders.read', resource => 'https://two.example' ) ),
    'audience: a resource of another server is not shown' );
oauth_ok(
    $stack->introspect( @crm, $stack->token_text( @crm, scope => 'orders.read', resource => 'https://two.example' ) ),
    { active => true }, "audience: the token's own client is shown it" );
$stack->bind( 'crm', { resources => [ $api, 'https://two.example' ] } );
$stack->patch_row( 'svc.operator.controls.introspection', { require_audience => false } );
oauth_ok(
    $stack->introspect( @far, $for_api ), { active => true },
    'audience: the switch require_audience=false opens it' );
$stack->patch_row( 'svc.operator.controls.introspection', { require_audience => true } );
$stack->patch_row( 'svc.operator.controls.introspection', { allow_callers    => ['far'] } );
oauth_error(
    ask($token), 403, 'access_denied',
    'introspect: a caller outside allow_callers is 403 access_denied (decisions.md "Introspection callers")' );
$stack->patch_row( 'svc.operator.controls.introspection', { allow_callers => undef } );

# ---- the context narrows, and never overwrites

oauth_ok(
    ask( $token, context => '{"scopes":["orders.read"]}' ), { scope => 'orders.read' },
    'context: scopes narrow (policy.md 6.5)' );
oauth_ok(
    ask( $token, context => '{"scopes":"orders.write other"}' ), { scope => 'orders.write' },
    'context: scopes may be one text' );
oauth_ok(
    ask( $token, context => '{"scopes":["orders.read","root"]}' ), { scope => 'orders.read' },
    'context: scopes never widen' );
my $none = ask( $token, context => '{"scopes":["root"]}' );
oauth_ok(
    $none,
    {   active       => false, inactive_reason => 'policy_denied', scope => undef, sub => undef, client_id => undef,
        deny_reasons => sub { $_[0][0]{code} eq 'scope_not_in_token' } },
    'context: scopes with nothing in common deny (policy.md 6.5)' );
oauth_ok(
    ask($token), { scope => same_words('orders.read orders.write') },
    'context: the token itself is not changed by it' );
oauth_ok(
    ask($token,
        context =>
          '{"client":{"id":"root"},"token":null,"baseline":{"scopes":["root"]},"caller":{"client_id":"crm"},"evaluation":"issue"}'
    ),
    { client_id => 'crm', scope => same_words('orders.read orders.write') },
    "context: the caller's words never overwrite ours (CVE-2026-18572)" );
oauth_ok(
    ask( $for_api, context => '{"resource":"https://two.example"}' ),
    { active => false, inactive_reason => 'policy_denied' }, 'context: another resource than the token names denies' );
oauth_ok(
    ask( $for_api, context => '{"resource":"https://api.example/"}' ), { active => true },
    'context: the same resource with the slash is the same' );

# ---- policy now: narrowing and denial after a data change (evaluation 2)

$stack->bind( 'crm', { scopes => ['orders.read'] } );
oauth_ok(
    ask($token), { active => true, scope => 'orders.read' },
    'evaluation 2: a scope taken from the binding is gone at once from a live token' );
$stack->bind( 'crm', { scopes => [ 'orders.read', 'orders.write', 'root' ] } );
oauth_ok(
    ask($token), { scope => same_words('orders.read orders.write') },
    'evaluation 2: a scope given later never widens the token' );
$stack->bind( 'crm', { scopes => [] } );
oauth_ok(
    ask($token),
    {   active       => false, inactive_reason => 'policy_denied', reason => qr/./,
        deny_reasons => sub { ref $_[0] eq 'ARRAY' && @{ $_[0] } }, scope => undef, sub => undef, client_id => undef,
        exp          => undef },
    'evaluation 2: denied now is {active:false, inactive_reason:policy_denied, reason, deny_reasons} and no subject or scope (decisions.md "Introspection denied now")'
);
$stack->bind( 'crm', { scopes => [ 'orders.read', 'orders.write' ], grants => [] } );
oauth_ok(
    ask($token), { active => false, inactive_reason => 'policy_denied' },
    'evaluation 2: the grant taken away denies' );
$stack->bind( 'crm', { grants => ['client_credentials'] } );
oauth_ok(
    ask($token), { active => true, scope => same_words('orders.read orders.write') },
    'evaluation 2: given back, the same token is active again' );

# ---- disabled and deleted clients (decisions.md "Disabled or deleted client")

my @temp  = $stack->make_client( 'temp', { %cc, scopes => ['orders.read'] } );
my $temps = $stack->token_text(@temp);
my %dto   = ( clientId => 'temp', clientType => 'confidential' );
$stack->admin( PUT => '/admin/api/clients/temp', json => { %dto, enabled => false } );
inactive( ask($temps), 'a disabled client: its tokens introspect inactive' );
$stack->admin( PUT => '/admin/api/clients/temp', json => { %dto, enabled => true } );
oauth_ok(
    ask($temps), { active => true },
    'enabled again: unexpired ones are active again (oauth.md 5 "Transitions")' );
$stack->admin( DELETE => '/admin/api/clients/temp' );
inactive( ask($temps), 'a deleted client: its tokens introspect inactive' );
$stack->make_client( 'temp', { %cc, scopes => ['orders.read'] } );
inactive( ask($temps), 'a client of the same name, made later, does not revive them' );

inputs_ok($stack);

done_testing;

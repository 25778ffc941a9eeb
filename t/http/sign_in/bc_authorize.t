# POST /bc-authorize (specification 4.3; gateway-admin.md 4.2; OpenID Connect CIBA Core 1.0 sections 7 and 13):
# who may ask, whom for, what is asked, and what the identity provider is told.
use strict;
use warnings;
use utf8;

use Test::More;

use Authz::Check;
use Authz::Ciba  ();
use Authz::Grant ();
use Authz::Idp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my %may =
  ( grants => [$Authz::Ciba::GRANT], scopes => [ 'openid', 'orders.read' ], resources => ['https://api.example/'] );
my @till = $stack->make_client( 'till', {%may}, clientName => 'The till' );
my @none = $stack->make_client( 'none', { grants => ['client_credentials'], scopes => ['openid'] } );
$stack->make_client( 'spa', {%may}, clientType => 'public' );
Authz::Grant->people($stack);
Authz::Grant->people( $stack, subject => 'bob',   claims => { email => 'bob@example.org', email_verified => false } );
Authz::Grant->people( $stack, subject => 'carol', claims => { email => 'shared@example.org' } );
Authz::Grant->people( $stack, subject => 'dan',   claims => { email => 'Shared@example.org' } );
Authz::Grant->people( $stack, subject => 'eve',   idp    => 'gone', claims => { email => 'eve@example.org' } );

sub ask           { my (@form) = @_; return Authz::Ciba::ask( $stack, \@till, @form ) }
sub open_requests { return $stack->sql('SELECT count(*) FROM ciba_request') }
sub forget        { $stack->sql('DELETE FROM ciba_request'); return }

# ---- the answer

my $answer = ask( login_hint => 'alice', scope => 'openid orders.read', binding_message => 'W4SCT' );
oauth_ok(
    $answer,
    { auth_req_id => qr/\Aar_[A-Za-z0-9_-]{77}\z/, expires_in => 300, interval => 5 },
    'a request is answered with auth_req_id, expires_in and interval, and no-store (specification 4.3)' );
is( join( ' ', sort keys %{ $answer->json } ), 'auth_req_id expires_in interval', '... and nothing else' );
is( $stack->sql(
        q{SELECT count(*) FROM ciba_request WHERE secret_hash::text LIKE '%ar\_%' OR length(secret_hash) <> 32}),
    '0',
    'the auth_req_id is stored as a hash' );
is( $stack->sql(
        q{SELECT client_id, subject_id, outcome, http_status, policy_input IS NOT NULL FROM audit_log WHERE operation = 'bcAuthorize'}
    ),
    "till\talice\tallowed\t200\tt",
    'it is audited, with what policy was asked' );
is( decode_packed( $stack->sql(q{SELECT encode(policy_input, 'hex') FROM audit_log WHERE operation = 'bcAuthorize'}) )
      ->{evaluation},
    'preview', 'policy is asked by a preview (decisions.md "Early gate")' );
forget();

# ---- hints

for my $hint ( 'alice', 'corp:alice', 'alice@example.org', 'Alice@Example.org' ) {
    oauth_ok( ask( login_hint => $hint ), {}, "login_hint $hint leads to alice (gateway-admin.md 4.2)" );
    is( $stack->sql('SELECT string_agg(subject, \' \') FROM ciba_request'), 'alice', '... and to nobody else' );
    forget();
}
for my $case (
    [ 'nobody',             'that nobody has' ],
    [ 'corp:nobody',        'of nobody at a provider' ],
    [ 'gone:alice',         'of another provider' ],
    [ ':alice',             'with an empty provider' ],
    [ 'corp:',              'with an empty sub' ],
    [ 'bob@example.org',    'that is an address which is not verified' ],
    [ 'shared@example.org', 'that is the address of two people' ],
    [ 'x' x 321,            'longer than 320 octets' ],
  )
{
    oauth_error( ask( login_hint => $case->[0] ), 400, 'unknown_user_id', "a login_hint $case->[1]: unknown_user_id" );
}
oauth_ok( ask( login_hint => 'eve@example.org' ), {}, 'a person of a second provider is found' );
$stack->sql("UPDATE identity_provider SET enabled = false WHERE idp_id = 'gone'");
oauth_error(
    ask( login_hint => $_ ), 400, 'unknown_user_id',
    "$_: refused once the provider is disabled (oauth.md 5)" ) for 'eve', 'gone:eve', 'eve@example.org';
forget();
oauth_error( ask(), 400, 'invalid_request', 'no hint: invalid_request' );
for my $other ( 'id_token_hint', 'login_hint_token' ) {
    for my $with ( [], [ login_hint => 'alice' ] ) {
        my $refused = ask( @$with, $other => 'x' );
        oauth_error( $refused, 400, 'invalid_request', "$other: invalid_request (specification 4.3)" );
        is( $refused->member('error_description'), 'Only login_hint is supported', '... with the specified text' );
    }
}
oauth_error(
    ask( login_hint => 'alice', login_hint => 'bob' ), 400, 'invalid_request',
    'a hint sent twice: invalid_request' );

# ---- clients

oauth_error(
    Authz::Ciba::ask( $stack, 'spa', login_hint => 'alice' ),
    400, 'unauthorized_client', 'a public client: unauthorized_client (specification 4.3)' );
oauth_error(
    Authz::Ciba::ask( $stack, [ 'till', 'wrong' ], login_hint => 'alice' ),
    401, 'invalid_client', 'a wrong secret: invalid_client' );
oauth_error(
    Authz::Ciba::ask( $stack, [ 'nil', 'wrong' ], login_hint => 'alice' ), 401, 'invalid_client',
    'an unknown client' );
for my $hint ( 'alice', 'nobody' ) {
    oauth_error(
        Authz::Ciba::ask( $stack, \@none, login_hint => $hint ),
        400, 'unauthorized_client', "a client without the grant learns nothing about $hint: unauthorized_client" );
}
$stack->sql(q{UPDATE client SET grant_types = '{client_credentials}' WHERE client_id = 'till'});
oauth_error(
    ask( login_hint => 'alice' ), 400, 'unauthorized_client',
    'a client that registered other grants: unauthorized_client' );
$stack->sql(q{UPDATE client SET grant_types = NULL WHERE client_id = 'till'});
is( open_requests(), '0', 'no refusal leaves a request' );

# ---- parameters

my %limit = (
    binding_message => [
        [ 'x' x 64,      undef,                     '64 characters' ],
        [ "\x{e9}" x 64, undef,                     '64 characters of two octets' ],
        [ 'x' x 65,      'invalid_binding_message', '65 characters' ],
        [ "a\x{7}b",     'invalid_binding_message', 'a control character' ],
        [ "a\x{202e}b",  'invalid_binding_message', 'a character that reorders text' ],
        [ "a\nb",        'invalid_binding_message', 'a line break' ],
    ],
    requested_expiry => [
        [ '30',  undef, 'the smallest' ],
        [ '600', undef, 'the largest' ],
        map { [ $_, 'invalid_request', $_ ] } '0', '-30', '30.5', 'soon',
    ],
    authorization_details => [
        map { [ $_, 'invalid_request', $_ ] } '{', '{"type":"a"}', 'null', '"a"',
    ],
    scope => [ [ "a\"b", 'invalid_scope', 'a quote' ], [ 'admin', 'invalid_scope', 'one that policy does not grant' ] ],
    resource => [
        [ 'api',                   'invalid_target', 'no URI' ],
        [ 'https://other.example', 'invalid_target', 'one that is not the client\'s' ] ],
);
for my $name ( sort keys %limit ) {
    for my $case ( @{ $limit{$name} } ) {
        my ( $value, $error, $what ) = @$case;
        utf8::encode($value);
        my $got = ask( login_hint => 'alice', $name => $value );
        defined $error
          ? oauth_error( $got, 400, $error, "$name with $what: $error" )
          : oauth_ok( $got, {}, "$name with $what" );
        forget();
    }
}
oauth_ok(
    ask( login_hint => 'alice', requested_expiry => 45 ),
    { expires_in => 45 },
    'requested_expiry is honoured (CIBA Core 7.1)' );
for my $case ( [ 29, 30 ], [ 1, 30 ], [ 601, 600 ], [ '99999999999999999999', 600 ] ) {
    my ( $asked, $given ) = @$case;
    oauth_ok(
        ask( login_hint => 'alice', requested_expiry => $asked ),
        { expires_in => $given },
        "requested_expiry $asked is cut to $given: the server decides the lifetime (CIBA Core 7.1)" );
    forget();
}
oauth_error(
    ask( login_hint => 'alice', resource => 'https://api.example', resource => 'https://other.example' ),
    400, 'invalid_target', 'two resources: invalid_target' );
oauth_ok( ask( login_hint => 'alice', scope => 'openid admin' ), {}, 'a scope that policy does not grant is left out' );
is( $stack->sql(q{SELECT scope FROM ciba_request ORDER BY created_at DESC LIMIT 1}), 'openid',
    '... of what the person is shown' );
forget();

# ---- at most ten at a time

oauth_ok( ask( login_hint => 'alice' ), {}, "request $_ of 10 waits" ) for 1 .. 10;
my $full = ask( login_hint => 'alice' );
oauth_error( $full, 400, 'access_denied', 'an eleventh open request: access_denied (gateway-admin.md 4.2)' );
oauth_ok( ask( login_hint => 'bob' ), {}, '... for another person it is accepted' );
$stack->sql(
    "UPDATE ciba_request SET expires_at = now() WHERE id = (SELECT id FROM ciba_request WHERE subject = 'alice' LIMIT 1)"
);
oauth_ok( ask( login_hint => 'alice' ), {}, '... and for her again when one has expired' );
forget();

# ---- what the provider is told (channel A)

my $peer = Authz::Ciba::told( $stack, 'corp' );
$answer = ask(
    login_hint => 'alice@example.org', scope => 'openid', binding_message => 'W4SCT',
    resource   => 'https://api.example' );
oauth_ok( $answer, {}, 'a request for a person whose provider is told' );
my ($message) = $peer->requests('/ciba');
my $body      = JSON::PP->new->utf8->decode( $message->{body} );
my $id        = $stack->sql('SELECT id FROM ciba_request');
is( $message->{method} . ' ' . $message->{headers}{'content-type'}, 'POST application/json',
    'the provider gets JSON by POST' );
members_are(
    $body,
    {   request_id   => $id, login_hint => 'alice@example.org', sub => 'alice', client_id => 'till',
        client_name  => 'The till',
        scope        => 'openid', resource => 'https://api.example', binding_message => 'W4SCT', expires_in => 300,
        approval_url => $stack->base . "/authorize/ciba?request=$id&idp_hint=corp",
        callback_url => $stack->base . '/bc-authorize/callback', authorization_details => undef,
    },
    '... with the members of gateway-admin.md 4.2' );
unlike( $message->{body}, qr/\bar_/, '... and without the auth_req_id' );
my ( $header, $claims ) = Authz::Grant->jwt( $message->{headers}{authorization} =~ s/\ABearer //r );
members_are(
    $header, { alg => 'RS256', typ => 'ciba-request+jwt', kid => qr/./ },
    'its bearer is our RS256 JWT of a type of its own (RFC 8725 3.11)' );
members_are(
    $claims, { iss => $stack->base, aud => 'https://corp.example', jti => $id, azp => 'till', sub => undef },
    '... for the provider and this request' );
is( $claims->{exp} - $claims->{iat}, 300, '... and ends with it' );
is( $stack->sql(q{SELECT count(*) FROM ciba_request WHERE callback_hash IS NOT NULL AND length(callback_hash) = 32}),
    '1', 'of the bearer a hash is stored' );

$peer->forget;
$peer->set( '/ciba' => [ { status => 503 }, { status => 201 } ] );
oauth_ok( ask( login_hint => 'alice' ), {}, 'a provider that fails once' );
is( $peer->hits('/ciba'), 2, '... is told again, once' );
$peer->forget;
$peer->set( '/ciba' => { status => 500 } );
$answer = ask( login_hint => 'alice' );
oauth_ok( $answer, {}, 'a provider that cannot be told: the request waits on our page' );
is( $peer->hits('/ciba'), 2, '... after two tries' );
$peer->forget;
$peer->set( '/ciba' => { status => 400 } );
oauth_ok( ask( login_hint => 'alice' ), {}, 'a provider that refuses the message' );
is( $peer->hits('/ciba'), 1, '... is not asked again' );
$stack->sql(
    "UPDATE identity_provider SET backchannel_notification_endpoint = 'http://192.0.2.1/ciba' WHERE idp_id = 'corp'");
oauth_ok( ask( login_hint => 'alice' ), {}, 'an endpoint without TLS is not asked (specification 5.6)' );
ok( Authz::Process::until_true(
        10,
        sub {
            grep {/was not notified of request .*https/} $stack->{service}->log_lines;
        } ),
    '... and the log says so' );
$peer->stop;

# ---- the engine is away

$stack->restart_service( settings => { SVC_POLICY_ENGINE => 'opa' } );
$stack->{opa}->stop;
oauth_error(
    ask( login_hint => 'bob' ),
    503, 'temporarily_unavailable',
    'without the engine: 503 temporarily_unavailable (decisions.md "Engine down, slow or answering nonsense")' );
done_testing;

# The CIBA grant at POST /token, poll mode (specification 4.4; gateway-admin.md 4.2, the state table;
# OpenID Connect CIBA Core 1.0 sections 10.1 and 11).
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

# So many requests at once may wait for the engine for long on a busy machine, which is no error of ours.
my %set   = ( Authz::Idp->settings, SVC_POLICY_TIMEOUT_MS => 20_000 );
my $stack = Authz::Stack->start( settings => {%set} );
my $two   = Authz::Stack->start( beside   => $stack, settings => {%set} );
my %may   = ( grants => [ $Authz::Ciba::GRANT, 'refresh_token' ], scopes => [ 'openid', 'orders.read' ] );
my @till  = $stack->make_client( 'till',  {%may} );
my @other = $stack->make_client( 'other', {%may} );
my @plain = $stack->make_client( 'plain', { %may, grants => [$Authz::Ciba::GRANT] } );
$stack->make_client( 'spa', {%may}, clientType => 'public' );
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
Authz::Grant->people($stack);
my $peer = Authz::Ciba::told( $stack, 'corp' );

sub poll    { my ( $id, @more ) = @_; return Authz::Ciba::poll( $stack, \@till, $id, @more ) }
sub approve { return Authz::Ciba::inform( $stack, $peer, { status => 'approved', @_ } ) }
sub begin { return Authz::Ciba::id_of( $stack, \@till, login_hint => 'alice', scope => $_[0] // 'openid orders.read' ) }
sub uuid  { return $stack->sql('SELECT id FROM ciba_request ORDER BY created_at DESC LIMIT 1') }
sub row   { return $stack->sql( "SELECT $_[0] FROM ciba_request WHERE id = '" . uuid() . q{'} ) }
sub set   { $stack->sql( "UPDATE ciba_request SET $_[0] WHERE id = '" . uuid() . q{'} ); return }
sub rest  { set(q{polled_at = now() - interval '61 seconds'});                           return }

# ---- pending

my $id = begin();
oauth_error( poll($id), 400, 'authorization_pending', 'pending: authorization_pending (CIBA Core 11)' );
oauth_error( poll($id), 400, 'slow_down',             'polled before the interval has passed: slow_down' );
is( row('interval_seconds'), 10, '... and the interval is 5 s longer' );
set(q{polled_at = now() - interval '9 seconds'});
oauth_error( poll($id), 400, 'slow_down', '... which the client must keep: 9 s are too few' );
set(q{polled_at = now() - interval '15 seconds'});
oauth_error( poll($id), 400, 'authorization_pending', '... and 15 s are enough after the second one' );
set('interval_seconds = 58');
oauth_error( poll($id), 400, 'slow_down', 'at 58 s' );
is( row('interval_seconds'), 60, '... the interval grows to 60 s' );
oauth_error( poll($id), 400, 'slow_down', '... and at 60 s' );
is( row('interval_seconds'), 60, '... no further' );
my $polled = row('polled_at');
oauth_error( Authz::Ciba::poll( $stack, \@other, $id ), 400, 'invalid_grant', q{another client's: invalid_grant} );
is( row('polled_at'), $polled, '... and it does not move the clock of the request' );

# ---- approved

is( approve()->status, 200, 'the person approves' );
my $tokens = poll($id);
oauth_ok(
    $tokens,
    {   access_token  => qr/\Aat_/, token_type => 'Bearer', expires_in => 3600, scope => 'openid orders.read',
        refresh_token => qr/\Art_/, id_token   => qr/[.]/,
    },
    'approved: tokens, also to a poll that comes early (gateway-admin.md 4.2)' );
my ( $header, $claims ) = Authz::Grant->jwt( $tokens->member('id_token') );
members_are(
    $claims,
    {   iss => $stack->base, sub => 'alice', aud => 'till', nonce => undef, sid => undef, auth_time => undef,
        acr => undef },
    'the ID token is of the person, without a session, and without a sign-in that nobody told of' );
my $shown = $stack->introspect( @rs, $tokens->member('access_token') );
oauth_ok(
    $shown, { active => true, sub => 'alice', client_id => 'till', scope => 'openid orders.read' },
    'the access token is of the person' );
is( $stack->sql(q{SELECT count(DISTINCT flow_id) FROM audit_log WHERE client_id = 'till'}), '1',
    'one flow id ties its audit rows together' );
oauth_error( poll($id), 400, 'invalid_grant', 'consumed: invalid_grant' );
oauth_ok(
    $stack->introspect( @rs, $tokens->member('access_token') ), { active => true },
    '... and the tokens live on' );
my $fresh = Authz::Grant->refresh( $stack, \@till, $tokens->member('refresh_token') );
oauth_ok(
    $fresh, { scope => 'openid orders.read', id_token => qr/[.]/ },
    'the refresh token works (decisions.md "Refresh tokens")' );
$stack->revoke( @till, token => $tokens->member('refresh_token') );
inactive( $stack->introspect( @rs, $tokens->member('access_token') ), '... and its revocation ends the family' );

$id = begin();
approve( acr => 'urn:loa:2', auth_time => time - 20, sub => 'alice' );
$tokens = poll($id);
( $header, $claims ) = Authz::Grant->jwt( $tokens->member('id_token') );
is( $claims->{acr}, 'urn:loa:2', 'what the provider tells of the sign-in is in the ID token: acr' );
ok( abs( $claims->{auth_time} - ( time - 20 ) ) < 10, '... and auth_time' );

my $bare = Authz::Ciba::id_of( $stack, \@plain, login_hint => 'alice', scope => 'orders.read' );
approve();
oauth_ok(
    Authz::Ciba::poll( $stack, \@plain, $bare ),
    { refresh_token => undef, id_token => undef, scope => 'orders.read' },
    'without openid no ID token, without the grant refresh_token no refresh token' );

# ---- the other states

$id = begin();
is( Authz::Ciba::inform( $stack, $peer, { status => 'denied' } )->status, 200, 'the person denies' );
oauth_error( poll($id), 400, 'access_denied', 'denied: access_denied' );
oauth_error( poll($id), 400, 'access_denied', '... for good' );

$id = begin();
set('expires_at = now()');
oauth_error( poll($id), 400, 'expired_token', 'expired: expired_token' );
is( approve()->status, 403, '... and it cannot be approved any more' );
$id = begin();
approve();
set('expires_at = now()');
oauth_error( poll($id), 400, 'expired_token', 'approved and not collected in time: expired_token' );

for my $case (
    [ 'ar_unknown',                                  'not one of ours' ],
    [ ( Authz::Grant->token( 'ar', time + 60 ) )[0], 'unknown' ],
    [ $tokens->member('access_token'),               'an access token' ],
  )
{
    oauth_error( poll( $case->[0] ), 400, 'invalid_grant', "an auth_req_id that is $case->[1]: invalid_grant" );
}
oauth_error( poll(undef), 400, 'invalid_request', 'no auth_req_id: invalid_request' );
oauth_error(
    Authz::Ciba::poll( $stack, 'spa', $id ), 400, 'unauthorized_client',
    'a public client: unauthorized_client' );

# The id with another secret; the checksum is right.
sub forged {
    my ( $kind, $text ) = @_;
    my $octets = MIME::Base64::decode_base64url( substr $text, 3, 71 );
    return Authz::Grant::token_of( $kind, substr( $octets, 0, 21 ) . ( $_[2] // Authz::Grant::_random(32) ) );
}
$id = begin();
approve();
oauth_error( poll( forged( 'ar', $id ) ), 400, 'invalid_grant', 'a known id with another secret: invalid_grant' );
my $as_code = forged( 'ac', $id, substr( MIME::Base64::decode_base64url( substr $id, 3, 71 ), 21 ) );
for my $uri ( $Authz::Grant::REDIRECT, '' ) {
    my $got = Authz::Grant->redeem( $stack, \@till, $as_code, redirect_uri => $uri, code_verifier => undef );
    oauth_error(
        $got, 400, 'invalid_grant|invalid_request|unauthorized_client',
        "an auth_req_id in the form of a code is no code ($uri)" );
}
oauth_ok( poll($id), {}, '... and is not consumed by that' );

# ---- with a DPoP key (RFC 9449)

my $key = Authz::Dpop->new;

sub poll_by {
    my ( $by, $asked ) = @_;
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@till), $by->show( $stack, '/token' ) ],
        form => [ grant_type => $Authz::Ciba::GRANT, auth_req_id => $asked ] );
}
$id = begin();
oauth_error( poll_by( $key, $id ), 400, 'authorization_pending', 'a poll with a proof' );
approve();
$tokens = poll_by( $key, $id );
oauth_ok( $tokens, { token_type => 'DPoP' }, '... gets a bound token' );
oauth_ok(
    $stack->introspect( @rs, $tokens->member('access_token') ),
    { active => true, cnf => { jkt => $key->jkt } },
    '... of the key of the proof' );
$stack->sql(q{UPDATE client SET dpop_bound = true WHERE client_id = 'till'});
$id = begin();
approve();
oauth_error( poll($id), 400, 'invalid_request', 'a client that registered dpop_bound_access_tokens needs one' );
oauth_ok( poll_by( $key, $id ), { token_type => 'DPoP' }, '... and its poll without one consumes nothing' );
$stack->sql(q{UPDATE client SET dpop_bound = false WHERE client_id = 'till'});

# ---- what changes between approval and redemption

sub refused {
    my ( $before, $after, $status, $error, $name ) = @_;
    my $asked = begin();
    approve();
    $stack->sql($before);
    oauth_error( poll($asked), $status, $error, $name );
    $stack->sql($after);
    return $asked;
}
refused(
    q{UPDATE client SET enabled = false WHERE client_id = 'till'},
    q{UPDATE client SET enabled = true WHERE client_id = 'till'},
    401, 'invalid_client', 'a client that is disabled after the approval: 401 (CVE-2026-9798)' );
refused(
    'UPDATE identity_provider SET enabled = false', 'UPDATE identity_provider SET enabled = true', 400, 'invalid_grant',
    'a provider that is disabled after the approval: invalid_grant' );
refused(
    q{DELETE FROM subject WHERE subject = 'alice'}, 'SELECT 1', 400, 'invalid_grant',
    'a person who is deleted after the approval: invalid_grant' );
Authz::Grant->people($stack);
$id = begin();
approve();
$stack->bind( 'till', { %may, grants => ['refresh_token'] } );
oauth_error( poll($id), 400, 'unauthorized_client', 'policy is asked again at the redemption: the grant is gone' );
$stack->bind( 'till', { %may, scopes => ['openid'] } );
oauth_ok( poll($id), { scope => 'openid' }, '... a denial consumes nothing, and a scope that is gone is left out' );
$stack->bind( 'till', {%may} );
$id = begin('openid');
approve();
oauth_ok(
    poll( $id, scope => 'openid orders.read' ), { scope => 'openid' },
    'a poll cannot ask for more than the person saw' );

# ---- 64 at once (performance.md R11)

for my $round ( 1 .. 3 ) {
    $id = begin();
    approve();
    my $octets = $stack->http->octets(
        'POST', '/token', headers => [ Authz::Client::basic(@till) ],
        form => [ grant_type => $Authz::Ciba::GRANT, auth_req_id => $id ], close => 1 );
    my @answer = Authz::Client::together( map { [ ( $_ % 2 ? $stack : $two )->client, $octets ] } 1 .. 64 );
    my %count;
    $count{ $_->status == 200 ? 'good' : $_->status == 400 ? $_->member('error') : $_->failure // $_->status }++
      for @answer;
    is( join( ', ', map {"$_ $count{$_}"} sort keys %count ), 'good 1, invalid_grant 63',
        "64 polls at once on two instances: one set of tokens, and no 5xx (round $round)" );
    my ($won) = grep { $_->status == 200 } @answer;
    oauth_ok(
        $stack->introspect( @rs, $won->member('access_token') ), { active => true },
        '... which live: a late poll is no replay' );
}

# ---- discovery, registration, housekeeping

my $metadata = $stack->http->get('/.well-known/openid-configuration')->json;
members_are(
    $metadata,
    {   backchannel_authentication_endpoint        => $stack->base . '/bc-authorize',
        backchannel_token_delivery_modes_supported => ['poll'], backchannel_user_code_parameter_supported => false,
    },
    'discovery advertises the endpoint, poll mode and no user code (specification 4.1)' );
ok( ( grep { $_ eq $Authz::Ciba::GRANT } @{ $metadata->{grant_types_supported} } ), '... and the grant' );

begin();
set(q{expires_at = now() - interval '61 minutes'});
begin();
set(q{expires_at = now() - interval '59 minutes'});
my $before = $stack->sql('SELECT count(*) FROM ciba_request');
$stack->authzctl('maintain');
is( $stack->sql('SELECT count(*) FROM ciba_request'), $before - 1,
    'housekeeping removes a request that ended more than an hour ago, no other' );
done_testing;

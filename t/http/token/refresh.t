# POST /token with a refresh token (RFC 6749 6, RFC 9700 4.14; oauth.md 3.3; decisions.md "Tokens").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { SVC_REFRESH_REUSE_WINDOW_SECONDS => 2 } );
my %code  = (
    grants => [ 'authorization_code', 'refresh_token' ],
    scopes => [ 'openid', 'email', 'orders.read', 'orders.write' ], resources => ['https://api.example'] );
my @web   = $stack->make_client( 'web',   { %code, endpoints => ['introspect'] } );
my @other = $stack->make_client( 'other', {%code} );
my @rs    = $stack->make_client( 'rs',    { endpoints => ['introspect'] } );
$stack->make_client( $_, {%code}, clientType => 'public' ) for qw(spa app);
Authz::Grant->people($stack);

# A family of a client; its first refresh token and access token.
sub family {
    my ( $who, %option ) = @_;
    my $code = Authz::Grant->code(
        $stack, client => ref $who ? $who->[0] : $who, scope => 'openid orders.read orders.write',
        %option );
    my $answer = Authz::Grant->redeem( $stack, $who, $code );
    die $answer->text if $answer->status != 200;
    return ( $answer->member('refresh_token'), $answer->member('access_token'), $answer );
}
sub refresh { my ( $who, $token, @more ) = @_; return Authz::Grant->refresh( $stack, $who, $token, @more ) }

sub refused {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_error( $answer, 400, 'invalid_grant', $name );
}

# ---- a confidential client keeps its token

my ( $kept, $first ) = family( \@web );
for my $time ( 1 .. 3 ) {
    oauth_ok(
        refresh( \@web, $kept ),
        {   access_token => qr/\Aat_/, refresh_token => $kept, token_type => 'Bearer',
            scope        => same_words('openid orders.read orders.write'), id_token => qr/./ },
        "refresh: a confidential client keeps its refresh token (decisions.md \"Refresh tokens\"), time $time" );
}
oauth_ok( $stack->introspect( @rs, $first ), { active => true }, 'refresh: the access token of before stays' );
is( $stack->sql('SELECT idle_expires_at > code_expires_at + interval \'29 days\' FROM token_grant'), 't',
    'refresh: the idle end has moved' );

# ---- a public one gets another

my ($old) = family('spa');
my $answer = refresh( 'spa', $old );
oauth_ok(
    $answer,
    {   refresh_token => sub { $_[0] =~ /\Art_/ && $_[0] ne $old },
        scope         => same_words('openid orders.read orders.write') },
    'refresh: a public client gets another refresh token (RFC 9700 4.14.2)' );
my $next = $answer->member('refresh_token');
for my $time ( 1 .. 3 ) {
    oauth_ok(
        refresh( 'spa', $old ), { refresh_token => sub { $_[0] ne $old && $_[0] ne $next } },
        "refresh: the old one again within the window gives a sibling, time $time of three" );
}
oauth_ok( refresh( 'spa', $next ), {}, 'refresh: ... and its successor is good all the while' );
refused( refresh( 'spa', $old ),  'refresh: a fourth time is refused' );
refused( refresh( 'spa', $next ), '... and the family is dead' );

my ( $slow, $access ) = family('spa');
my $after = refresh( 'spa', $slow )->member('refresh_token');
sleep 2.1;
oauth_ok( refresh( 'spa', $after ), { refresh_token => qr/./ }, 'refresh: the successor after the window' );
refused( refresh( 'spa', $slow ),  'refresh: the old one after the window is refused' );
refused( refresh( 'spa', $after ), '... the family is dead, its lately rotated token too' );
inactive( $stack->introspect( @rs, $access ), '... and its access tokens' );
is( $stack->sql(
        q{SELECT request_summary::json->>'family' FROM audit_log WHERE endpoint = '/token' AND outcome = 'rejected' AND request_summary::json->>'family' IS NOT NULL ORDER BY id DESC LIMIT 1}
    ),
    'revoked',
    '... which the audit row says' );

# ---- what is no good, and changes nothing

my ($good) = family( \@web );
refused( refresh( \@other, $good ),                                               "refresh: another client's" );
refused( refresh( 'app',   $good ),                                               '... also for a public one' );
refused( refresh( \@web,   'garbage' ),                                           'refresh: none of ours' );
refused( refresh( \@web,   $first ),                                              'refresh: an access token is none' );
refused( refresh( \@web, ( Authz::Grant->token( 'rt', time + 80 * 86400 ) )[0] ), 'refresh: well-formed, but unknown' );
refused(
    refresh( \@web, ( Authz::Grant->token( 'rt', time + 4000 * 86400 ) )[0] ),
    'refresh: of a day that no family ends on' );
refused( refresh( \@web, ( Authz::Grant->token( 'rt', time - 2 * 86400 ) )[0] ), 'refresh: of a day that has passed' );
oauth_error( refresh( \@web,              undef ), 400, 'invalid_request', 'refresh: refresh_token missing' );
oauth_error( refresh( [ 'web', 'wrong' ], $good ), 401, 'invalid_client',  'refresh: a wrong secret' );
oauth_error(
    refresh( \@web, $good, scope => 'openid admin' ), 400, 'invalid_scope',
    'refresh: a scope beyond the original (RFC 6749 6)' );
oauth_error( refresh( \@web, $good, scope => 'email' ), 400, 'invalid_scope', '... also one that the client may have' );
oauth_error( refresh( \@web, $good, scope => "a\tb" ),  400, 'invalid_scope', '... or with a forbidden character' );
oauth_error(
    refresh( \@web, $good, resource => 'https://api.example' ), 400, 'invalid_target',
    'refresh: a resource that was not authorized' );
oauth_ok(
    refresh( \@web, $good, scope => 'orders.read' ), { scope => 'orders.read', id_token => undef },
    'refresh: fewer scopes, and so no ID token' );
oauth_ok(
    refresh( \@web, $good, scope => 'orders.read offline_access' ), { scope => 'orders.read' },
    'refresh: offline_access, which the family never had, is left out (decisions.md "Scopes at refresh")' );
oauth_error(
    refresh( \@web, $good, scope => 'orders.read profile' ), 400, 'invalid_scope',
    '... but no other scope beyond the original' );
oauth_ok(
    refresh( \@web, $good ), { scope => same_words('openid orders.read orders.write') },
    'refresh: an absent scope is the original one, not the last' );

my ($targeted) = family( \@web, resource => 'https://api.example' );
oauth_ok( refresh( \@web, $targeted ), {}, 'refresh: the resource stays' );
is( $stack->sql('SELECT resource FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1'), 'https://api.example',
    '... without being named' );
oauth_ok( refresh( \@web, $targeted, resource => 'https://api.example/' ), {}, '... or named' );
oauth_error(
    refresh( \@web, $targeted, resource => 'https://two.example' ), 400, 'invalid_target',
    '... but not another' );

# The granted scope bounds a refresh, not the requested one.
my $partial =
  Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web', scope => 'orders.read later' ) )
  ->member('refresh_token');
$stack->bind( 'web', { scopes => [ 'openid', 'orders.read', 'orders.write', 'later' ] } );
oauth_ok(
    refresh( \@web, $partial ), { scope => 'orders.read' },
    'refresh: a scope that was not granted at the redemption does not come later' );
oauth_error( refresh( \@web, $partial, scope => 'later' ), 400, 'invalid_scope', '... nor when it is asked for' );

# ---- policy, people and providers as they are now

$stack->bind( 'web', { scopes => [ 'openid', 'orders.read' ] } );
oauth_ok(
    refresh( \@web, $good ), { scope => same_words('openid orders.read') },
    'refresh: policy is asked again (specification 3)' );
$stack->bind( 'web', { grants => ['authorization_code'] } );
oauth_error( refresh( \@web, $good ), 400, 'unauthorized_client', 'refresh: the grant was taken away' );
$stack->bind( 'web', { grants => [ 'authorization_code', 'refresh_token' ] } );
oauth_ok( refresh( \@web, $good ), {}, '... and given back: a denial consumes nothing' );
$stack->sql("UPDATE client SET scope = 'openid' WHERE client_id = 'web'");
oauth_ok( refresh( \@web, $good ), { scope => 'openid' }, 'refresh: a registered scope is a ceiling now, too' );
$stack->sql("UPDATE client SET scope = NULL, grant_types = '{authorization_code}' WHERE client_id = 'web'");
oauth_error(
    refresh( \@web, $good ), 400, 'unauthorized_client',
    'refresh: a client that is not registered for it (any more)' );
$stack->sql("UPDATE client SET grant_types = NULL WHERE client_id = 'web'");
$stack->sql('UPDATE identity_provider SET enabled = false');
refused( refresh( \@web, $good ), 'refresh: the identity provider is disabled (oauth.md 3.3)' );
$stack->sql('UPDATE identity_provider SET enabled = true');
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'web'});
oauth_error( refresh( \@web, $good ), 401, 'invalid_client', 'refresh: the client is disabled' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'web'});
oauth_ok( refresh( \@web, $good ), {}, '... and all of that can be undone' );
my ($gone) = family( \@web, subject => 'alice' );
Authz::Grant->people( $stack, subject => 'bob' );
my ($bob) = family( \@web, subject => 'bob' );
$stack->sql(q{DELETE FROM subject WHERE subject = 'bob'});
refused( refresh( \@web, $bob ), 'refresh: the subject was deleted' );

# ---- ends

my ($idle) = family( \@web );
$stack->sql(
    q{UPDATE token_grant SET idle_expires_at = now() - interval '1 second' WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)}
);
refused( refresh( \@web, $idle ), 'refresh: unused for too long' );
my ($ended) = family( \@web );
$stack->sql(
    q{UPDATE token_grant SET expires_at = now() - interval '1 second' WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)}
);
refused( refresh( \@web, $ended ), 'refresh: past the end of its family' );
is( $stack->sql(
        'SELECT count(*) FROM refresh_token r JOIN token_grant g ON g.id = r.grant_id WHERE r.expires_at > now() + interval \'90 days\''
    ),
    0,
    'refresh: no family lives longer than 90 days' );

# ---- revocation (RFC 7009; specification 3)

my ( $dead, $dead_access ) = family( \@web );
is( $stack->revoke( @other, token => $dead )->status, 200, "revoke: another client's refresh token: 200" );
oauth_ok( refresh( \@web, $dead ), {}, '... and nothing happens' );
is( $stack->http->post( '/revoke', form => [ token => $dead ] )->status, 200,
    'revoke: a confidential client\'s token without credentials: 200' );
oauth_ok( refresh( \@web, $dead ), {}, '... and nothing happens' );
is( $stack->revoke( @web, token => $dead_access )->status, 200, 'revoke: an access token' );
inactive( $stack->introspect( @rs, $dead_access ), '... which is dead' );
my $alive = refresh( \@web, $dead );
oauth_ok( $alive, {}, '... and the refresh token lives (oauth.md 3.4)' );
is( $stack->revoke( @web, token => $dead, token_type_hint => 'access_token' )->status, 200,
    'revoke: the refresh token, whatever the hint' );
refused( refresh( \@web, $dead ), '... which is dead' );
inactive( $stack->introspect( @rs, $alive->member('access_token') ), '... and its access tokens' );
my ($public) = family('spa');
is( $stack->http->post( '/revoke', form => [ token => $public ] )->status, 200,
    "revoke: a public client's refresh token without credentials (oauth.md S2)" );
refused( refresh( 'spa', $public ), '... it is dead' );

# The last access token of a family may outlive it by a day: so long its refresh token is good for revoking.
my ( undef, $outliving ) = family( \@web );
my $grant = $stack->sql('SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1');
my ( $past, $past_id, $past_hash ) = Authz::Grant->token( 'rt', time - 86400, time - 2 * 86400 );
my $yesterday = int( ( time - 86400 - $Authz::Grant::EPOCH ) / 86400 );
$stack->sql(<<"SQL");
SELECT partition_create('refresh_token', $yesterday);
INSERT INTO refresh_token (id, expires_at, secret_hash, grant_id, issued_at) VALUES ('$past_id', now() - interval '1 day', '\\x$past_hash', '$grant', now() - interval '2 days');
UPDATE token_grant SET expires_at = now() - interval '1 day' WHERE id = '$grant';
SQL
sleep 1.1;    # a process looks for new partitions at most once a second, and it may have looked just now
refused( refresh( \@web, $past ), 'refresh: of a family that ended yesterday' );
inactive( $stack->introspect( @web, $past ), '... which introspects inactive' );
oauth_ok( $stack->introspect( @rs,  $outliving ), { active => true }, '... though an access token of it still lives' );
is( $stack->revoke( @web, token => $past )->status, 200, 'revoke: the refresh token of a family that ended' );
inactive( $stack->introspect( @rs, $outliving ), '... ends its access tokens (oauth.md 3.4)' );

# ---- introspection of refresh tokens, by their own client (introspect_refresh.t has the others)

my ($shown) = family( \@web );
my $seen = $stack->introspect( @web, $shown, token_type_hint => 'access_token' );
oauth_ok(
    $seen,
    {   active     => true,  client_id => 'web', sub => 'alice', scope => same_words('openid orders.read'),
        token_type => undef, exp       => sub { $_[0] > time + 29 * 86400 && $_[0] <= time + 30 * 86400 } },
    'introspect: a refresh token (oauth.md 3.4), with what of its scopes is left now' );
oauth_ok( $stack->introspect( @web, $shown ), { active => true }, '... as often as one likes' );
inactive( $stack->introspect( @web, $dead ), 'introspect: of a revoked family' );
my ($turned) = family('spa');
$stack->bind( 'spa', { scopes => [ @{ $code{scopes} }, 'introspection' ] } );
my @bearer = Authz::Client::bearer( ( family( 'spa', scope => 'introspection' ) )[1] );
my $ask    = sub { return $stack->http->post( '/introspect', headers => [@bearer], form => [ token => $_[0] ] ) };
oauth_ok(
    $ask->($turned), { active => true, client_id => 'spa' },
    'introspect: of a public client, which shows a token of its own' );
refresh( 'spa', $turned );
inactive( $ask->($turned), '... which was replaced by another' );
$stack->sql('UPDATE identity_provider SET enabled = false');
inactive( $stack->introspect( @web, $shown ), 'introspect: its provider is disabled' );
$stack->sql('UPDATE identity_provider SET enabled = true');
$stack->patch_row( 'svc.operator.controls.environment', { allow_cidrs => ['127.0.0.0/8'] } );
oauth_ok(
    $stack->introspect( @web, $shown ), { active => true },
    'introspect: a row for addresses is for those that refresh, each time' );
oauth_ok( refresh( \@web, $shown ), {}, '... from one that it allows' );
$stack->patch_row( 'svc.operator.controls.environment', { allow_cidrs => ['192.0.2.0/24'] } );
oauth_error( refresh( \@web, $shown ), 400, 'access_denied', '... but not from another' );
$stack->patch_row( 'svc.operator.controls.environment', { allow_cidrs => undef } );
$stack->bind( 'web', { jit_single_use => true } );
oauth_ok( $stack->introspect( @web, $shown ), { active => true }, 'introspect: a binding for single-use tokens' );
oauth_ok(
    $stack->introspect( @web, $shown ), { active => true },
    '... is no matter for refresh tokens (oauth.md 3.4)' );

# ---- no second chance

$stack->restart_service( settings => { SVC_REFRESH_REUSE_WINDOW_SECONDS => 0 } );
my ($strict) = family('spa');
my $strict_next = refresh( 'spa', $strict )->member('refresh_token');
refused( refresh( 'spa', $strict ),      'refresh: a window of 0 allows no second use (oauth.md 3.3)' );
refused( refresh( 'spa', $strict_next ), '... and ends the family' );

# A family's day need not have a partition yet.
$stack->restart_service( settings => { SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 40 * 86400 } );
my ($early) = family( \@other );
oauth_ok( refresh( \@other, $early ), {}, 'refresh: the partition of a day is made when it is missing' );

my $counted = $stack->http->get('/metrics')->body;
like(
    $counted, qr/^svc_tokens_issued_total\{grant="$_"\} [1-9]/m,
    "tokens are counted by grant: $_ (gateway-admin.md 7.1)" ) for qw(authorization_code refresh_token);
inputs_ok($stack);

done_testing;

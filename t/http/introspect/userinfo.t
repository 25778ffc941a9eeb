# GET and POST /userinfo (specification 4.8; OpenID Connect Core 5.3; oauth.md 3.4 and S10; decisions.md "Our own
# endpoints").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Stack ();

my $stack = Authz::Stack->start( fake_opa => 1 );
my %code  = (
    grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    scopes => [qw(openid profile email orders.read)], resources => ['https://api.example'] );
my @web  = $stack->make_client( 'web',  {%code} );
my @once = $stack->make_client( 'once', { %code, jit_single_use => true } );
my @rs   = $stack->make_client( 'rs',   { endpoints             => ['introspect'] } );
Authz::Grant->people($stack);

# The answer to a redemption with these scopes.
sub tokens {
    my ( $scope, %option ) = @_;
    return Authz::Grant->redeem(
        $stack, \@web,
        Authz::Grant->code( $stack, client => 'web', scope => $scope, %option ) );
}
sub token { return tokens(@_)->member('access_token') // die 'no token' }

sub get {
    my ($token) = @_;
    return $stack->http->get( '/userinfo', headers => [ defined $token ? Authz::Client::bearer($token) : () ] );
}
sub post { my (@form) = @_; return $stack->http->post( '/userinfo', form => \@form ) }

# 401 with the challenge, whatever the fault.
sub refused {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 401, 'invalid_token', $name );
    my $challenge = $answer->header('WWW-Authenticate') // 'none';
    return is( $challenge, 'Bearer error="invalid_token"', '... with the challenge (specification 4.8)' );
}

# ---- claims by scope (OpenID Connect Core 5.4)

my %all = (
    sub => 'alice', name => "Alice \x{c9}xample", preferred_username => 'alice.ex', email => 'alice@example.org',
    email_verified => true );
my %want = (
    'openid'               => ['sub'],
    'openid profile'       => [qw(sub name preferred_username)],
    'openid email'         => [qw(sub email email_verified)],
    'openid email profile' => [ keys %all ],
    'openid orders.read'   => ['sub'],
);
for my $scope ( sort keys %want ) {
    my %members = map { $_ => undef } keys %all, 'groups';
    @members{ @{ $want{$scope} } } = @all{ @{ $want{$scope} } };
    oauth_ok( get( token($scope) ), \%members, "userinfo: with $scope: @{[ sort @{ $want{$scope} } ]}" );
}
my $full = token('openid email profile');
oauth_ok( post( access_token => $full ), {%all}, 'userinfo: POST with the token in the form (RFC 6750 2.2)' );
oauth_ok(
    $stack->http->post( '/userinfo', headers => [ Authz::Client::bearer($full) ] ), {%all},
    'userinfo: POST with the token in the header' );
oauth_ok(
    $stack->http->get( '/userinfo', headers => [ Authorization => "bearer   $full" ] ), {%all},
    'userinfo: the scheme in any case' );
oauth_ok(
    get( token( 'openid', resource => 'https://api.example' ) ), { sub => 'alice' },
    'userinfo: a token for a resource, too: we issued it' );
$stack->patch_row( 'svc.operator.controls.introspection', { allow_callers => ['rs'], require_context => true } );
oauth_ok( get($full), {%all}, 'userinfo: whom the introspection row lets ask does not keep the service out' );
$stack->patch_row( 'svc.operator.controls.introspection', { allow_callers => undef, require_context => undef } );
Authz::Grant->people( $stack, claims => { name => 'Alice B', email => undef } );
oauth_ok(
    get($full), { name => 'Alice B', email => undef, email_verified => true },
    'userinfo: the claims of the last sign-in; what is null is left out' );
Authz::Grant->people($stack);

my $audit = $stack->sql(
    q{SELECT client_id, subject_id, outcome, http_status, policy_decision IS NOT NULL FROM audit_log WHERE endpoint = '/userinfo' ORDER BY id DESC LIMIT 1}
);
is( $audit, "web\talice\tallowed\t200\tt", 'userinfo: the audit row' );

# ---- every failure is 401

refused( get(undef),     'userinfo: no token' );
refused( get('garbage'), 'userinfo: none of ours' );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/userinfo' AND http_status = 401}), 0,
    '... and no write: nothing was proved (decisions.md "Audited")' );
refused( get("${full}x"), 'userinfo: a token with a character more' );
refused( $stack->http->get( '/userinfo', headers => [ Authz::Client::basic(@web) ] ), 'userinfo: Basic credentials' );
refused( $stack->http->get("/userinfo?access_token=$full"), 'userinfo: a token in the query does not count' );
refused( $stack->http->post( "/userinfo?access_token=$full", form => [] ),               '... nor with POST' );
refused( $stack->http->get( '/userinfo', headers => [ Authorization => "DPoP $full" ] ), 'userinfo: another scheme' );
refused(
    $stack->http->post( '/userinfo', headers => [ Authz::Client::bearer($full) ], form => [ access_token => $full ] ),
    'userinfo: in the header and in the form' );
refused( post( access_token => $full, access_token => $full ),                 'userinfo: twice in the form' );
refused( $stack->http->post( '/userinfo', json => { access_token => $full } ), 'userinfo: in a JSON body' );
refused( get( token('profile email') ),                    'userinfo: without the scope openid (specification 7)' );
refused( get( tokens('openid')->member('refresh_token') ), 'userinfo: a refresh token' );
refused( get( $stack->token_text( @web, scope => 'openid profile' ) ), 'userinfo: a token of a client itself' );
my $single =
  Authz::Grant->redeem( $stack, \@once, Authz::Grant->code( $stack, client => 'once' ) )->member('access_token');
refused( get($single), 'userinfo: a single-use token is no credential (decisions.md "Our own endpoints")' );
oauth_ok( $stack->introspect( @rs, $single ), { active => true }, '... and is not consumed by it' );
refused( get( ( Authz::Grant->token( 'at', time + 1800 ) )[0] ), 'userinfo: well-formed, but unknown' );
my $revoked = token('openid');
$stack->revoke( @web, token => $revoked );
refused( get($revoked), 'userinfo: revoked' );
my $replayed = Authz::Grant->code( $stack, client => 'web' );
my $of_dead  = Authz::Grant->redeem( $stack, \@web, $replayed )->member('access_token');
Authz::Grant->redeem( $stack, \@web, $replayed );
refused( get($of_dead), 'userinfo: of a family that died' );
my $ended = token('openid');
$stack->sql(
    q{DELETE FROM token_grant WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)});
refused( get($ended), 'userinfo: of a family that is gone' );

# ---- evaluation 2: what the token is worth now

$stack->bind( 'web', { scopes => [qw(openid email orders.read)] } );
oauth_ok(
    get($full), { name => undef, email => 'alice@example.org' },
    'userinfo: a scope that was taken away gives nothing' );
$stack->bind( 'web', { scopes => ['orders.read'] } );
refused( get($full), 'userinfo: openid taken away' );
$stack->bind( 'web', { grants => ['client_credentials'] } );
refused( get($full), 'userinfo: the grant taken away' );
is( $stack->sql(
        q{SELECT outcome || ' ' || http_status FROM audit_log WHERE endpoint = '/userinfo' ORDER BY id DESC LIMIT 1}),
    'denied 401',
    '... and the audit row says that policy said no' );
$stack->bind( 'web', { grants => $code{grants} } );
$stack->bind( 'web', { scopes => [qw(openid profile email orders.read)] } );
oauth_ok( get($full), {%all}, '... and given back' );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'web'});
refused( get($full), 'userinfo: its client is disabled' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'web'});
$stack->fake->tell('close');
oauth_error(
    get($full), 503, 'temporarily_unavailable',
    'userinfo: without an engine it is no answer, and no word on the token' );
$stack->fake->tell('pass');
oauth_ok( get($full), {%all}, '... afterwards it is' );
my $down = $stack->sql(
    q{SELECT DISTINCT http_status || ' ' || outcome FROM audit_log WHERE endpoint = '/userinfo' AND http_status <> 200 ORDER BY 1}
);
is( $down, "401 denied\n401 rejected\n503 error",                'userinfo: the audit rows of the refusals' );
is( $stack->http->request( 'DELETE', '/userinfo' )->status, 405, 'userinfo: another method' );

inputs_ok($stack);

done_testing;

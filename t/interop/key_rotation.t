# Rotating the signing keys of both algorithms under load breaks no verifier, however long it keeps the key set within its
# max-age: a key is published that long before it signs, and after (the issue's "Signing keys"; dex#2759 is how it goes otherwise).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Check;
use Authz::Idp     ();
use Authz::Interop ();
use Authz::Process ();
use Authz::Stack   ();

Authz::Interop::need();

my $CACHE   = 2;
my $SECONDS = 16;
my $stack   = Authz::Stack->start(
    settings => {
        Authz::Idp->settings,
        SVC_OIDC_JWKS_CACHE_SECONDS     => $CACHE,
        SVC_OIDC_KEY_RETIREMENT_SECONDS => 3600,
        SVC_OIDC_ID_TOKEN_ALGS          => 'RS256,ES256' } );
my $idp = Authz::Idp->start;
$idp->register($stack);
my $back = 'http://127.0.0.1:9/callback';
my %code = ( grants => [qw(authorization_code refresh_token)], scopes => ['openid'] );

# ES256 begins when its first key has been published for the max-age, and is begun by the housekeeping.
sub begun {
    $stack->authzctl('maintain');
    return $stack->sql(q{SELECT count(*) FROM signing_key WHERE use = 'oidc' AND alg = 'ES256' AND state = 'active'})
      == 1;
}
ok( defined Authz::Process::until_true( 15, \&begun ),
    'ES256 on a service that has keys: its first key becomes active' );

# A relying party for each algorithm; a person signs in once.
my $browser = Authz::Browser->new;
my @party;
for my $alg (qw(RS256 ES256)) {
    my $id = lc "web-$alg";
    my @web =
      $stack->make_client( $id, {%code}, redirectUris => [$back], idTokenSignedResponseAlg => $alg );
    $browser->follow(
            $stack->base
          . '/authorize?'
          . Authz::Client::form(
            response_type => 'code', client_id => $id, redirect_uri => $back, scope => 'openid', state => 's' ),
        stop => qr{\A\Q$back\E} );
    my %came   = Authz::Browser::query( $browser->url );
    my $answer = $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@web) ],
        form => [ grant_type => 'authorization_code', code => $came{code}, redirect_uri => $back ] );
    oauth_ok( $answer, {}, "a person signs in, and the client of $alg gets a refresh token" );
    push @party,
      Authz::Interop::start(
        'verifier', ISSUER => $stack->base, CLIENT_ID => $id, CLIENT_SECRET => $web[1], ALG => $alg,
        REFRESH_TOKEN => $answer->member('refresh_token') // '', SECONDS => $SECONDS, KIDS => 4 );
}
my ( $until, $rotated, $early ) = ( time + $SECONDS - 1, 0, 0 );
while ( time < $until ) {
    my ( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
    if ( $status == 0 ) { $rotated++ }
    else {
        $early++;
        like(
            $text, qr/Not all verifiers know the next key yet/,
            'rotation: a key that is not yet known to all is not used' ) if $early == 1;
    }
    sleep 0.5;
}
cmp_ok( $rotated, '>=', 4, "rotation: the keys were rotated $rotated times meanwhile" );
Authz::Interop::results( $_, 'verifier' ) for @party;
is( $stack->sql(
        q{SELECT count(DISTINCT count) FROM (SELECT count(*) FROM signing_key WHERE use = 'oidc' GROUP BY alg) c}),
    1,
    'rotation: both algorithms had as many keys' );

done_testing;

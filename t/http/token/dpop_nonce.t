# Nonces of the server in DPoP proofs (RFC 9449 8, 9; decisions.md "DPoP nonces"): at /token and at our own resource endpoints.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Stack  ();

my %nonces = ( SVC_DPOP_NONCE_ENABLED => 'true' );
my $stack  = Authz::Stack->start( settings => {%nonces} );
my %issuer = ( SVC_OIDC_ISSUER => $stack->base );
my $other  = Authz::Stack->start( beside => $stack, settings => { %nonces, %issuer } );
my $short  = Authz::Stack->start( beside => $stack, settings => { %nonces, %issuer, SVC_DPOP_NONCE_TTL_SECONDS => 2 } );
my %code   = (
    grants => [qw(client_credentials authorization_code refresh_token)], scopes => [qw(openid introspection authzen)],
    endpoints => [qw(introspect authzen)] );
my @web = $stack->make_client( 'web', {%code} );
$stack->make_client( 'spa', {%code}, clientType => 'public' );
Authz::Grant->people($stack);
my $key = Authz::Dpop->new;

sub ask {
    my ( $at, %claims ) = @_;
    return $at->http->post(
        '/token', headers => [ Authz::Client::basic(@web), $key->show( $stack, '/token', %claims ) ],
        form => [ grant_type => 'client_credentials', scope => 'introspection authzen' ] );
}

# 400 with a nonce; returns it.
sub challenged {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 400, 'use_dpop_nonce', $name );
    my $nonce = $answer->header('DPoP-Nonce') // '';
    like( $nonce, qr/\A[A-Za-z0-9_-]{43}\z/, '... with DPoP-Nonce (RFC 9449 8.2)' );
    return $nonce;
}

# ---- POST /token

my $nonce = challenged( ask($stack), 'a good proof without a nonce, of a client that need not use DPoP (RFC 9449 8)' );
my $first = ask( $stack, nonce => $nonce );
oauth_ok( $first, { token_type => 'DPoP' }, '... with the nonce: a bound token' );
like( $first->header('DPoP-Nonce') // '', qr/\A[A-Za-z0-9_-]{43}\z/, '... and DPoP-Nonce on 200 too (RFC 9449 8.2)' );
like(
    $first->header('Access-Control-Expose-Headers') // '', qr/\bDPoP-Nonce\b/,
    '... which pages of other origins may read' );
oauth_ok( ask( $stack, nonce => $nonce ), { token_type => 'DPoP' }, 'a nonce is good for many proofs' );
oauth_ok( ask( $other, nonce => $nonce ), { token_type => 'DPoP' }, '... on every host (decisions.md "DPoP nonces")' );
challenged( ask( $stack, nonce => $_->[0] ), "a nonce: $_->[1]" )
  for [ 'x', 'of one character' ], [ 'A' x 43, 'of our form' ], [ '', 'that is empty' ],
  [ $nonce . 'A', 'and one character' ];
my $bad = ask( $stack, htm => 'GET' );
oauth_ok(
    $bad, { token_type => 'Bearer' },
    'a proof that is bad otherwise is ignored without a challenge (oauth.md S1)' );
ok( defined $bad->header('DPoP-Nonce'), '... but the answer has a nonce' );
my $plain = $stack->token( @web, scope => 'introspection' );
oauth_ok( $plain, { token_type => 'Bearer' }, 'no proof: nothing is asked for' );
is( $plain->header('DPoP-Nonce'),                    undef, '... and no nonce is sent' );
is( $stack->sql(q{SELECT count(*) FROM dpop_proof}), 3,     'a challenge does not use a proof up' );

my $old = challenged( ask($short), 'a service with a short SVC_DPOP_NONCE_TTL_SECONDS' );
sleep 3.1;
my $new = challenged( ask( $short, nonce => $old ), 'a nonce after SVC_DPOP_NONCE_TTL_SECONDS' );
isnt( $new, $old, '... gives another one' );
oauth_ok( ask( $short, nonce => $new ), { token_type => 'DPoP' }, '... which is good' );

# ---- a code is not used up by the challenge, and a client that must send proofs is challenged too

my $spa  = Authz::Grant->code( $stack, client => 'spa' );
my @form = ( client_id => 'spa', Authz::Grant->redemption($spa) );
challenged(
    $stack->http->post( '/token', headers => [ $key->show( $stack, '/token' ) ], form => \@form ),
    'a code of a public client' );
$stack->sql(q{UPDATE client SET dpop_bound = true WHERE client_id = 'spa'});
challenged(
    $stack->http->post( '/token', headers => [ $key->show( $stack, '/token' ) ], form => \@form ),
    '... that must send proofs' );
oauth_error( $stack->http->post( '/token', form => \@form ), 400, 'invalid_request', '... none: no challenge' );
my $answer =
  $stack->http->post( '/token', headers => [ $key->show( $stack, '/token', nonce => $nonce ) ], form => \@form );
oauth_ok( $answer, { token_type => 'DPoP', refresh_token => qr/./ }, '... and redeems the same code with the nonce' );

# ---- our own resource endpoints (RFC 9449 9)

my $token  = $answer->member('access_token');
my $caller = $first->member('access_token');

sub user {
    my (%claims) = @_;
    return $stack->http->get(
        '/userinfo',
        headers => [ $key->show( $stack, '/userinfo', htm => 'GET', token => $token, %claims ) ] );
}

sub inspect {
    my (%claims) = @_;
    return $stack->http->post(
        '/introspect', headers => [ $key->show( $stack, '/introspect', token => $caller, %claims ) ],
        form => [ token => $caller ] );
}

sub evaluate {
    my (%claims) = @_;
    my $path = '/access/v1/evaluation';
    return $stack->http->post(
        $path, headers => [ $key->show( $stack, $path, token => $caller, %claims ) ],
        json => {
            subject => { type => 'user', id => 'a' }, action => { name => 'b' }, resource => { type => 'c', id => 'd' }
        } );
}
for my $case ( [ '/userinfo', \&user ], [ '/introspect', \&inspect ], [ '/access/v1/evaluation', \&evaluate ] ) {
    my ( $path, $call ) = @$case;
    my $no = $call->();
    is( $no->status, 401, "$path: a good proof without a nonce (RFC 9449 9)" ) or diag $no->text;
    is_deeply(
        [ $no->headers('WWW-Authenticate') ], ['DPoP error="use_dpop_nonce", algs="ES256 RS256"'],
        "$path: ... with this one challenge" );
    is( $no->member('error'), 'use_dpop_nonce', "$path: ... and the error in the body" );
    my $yes = $call->( nonce => $no->header('DPoP-Nonce') );
    is( $yes->status, 200, "$path: ... with the nonce of that answer" ) or diag $yes->text;
    ok( defined $yes->header('DPoP-Nonce'), "$path: ... and the next one with the answer" );
    is( $call->( nonce => 'x' )->status, 401, "$path: another nonce" );
}

done_testing;

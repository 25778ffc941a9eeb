# Bound tokens at our own endpoints (RFC 9449 7; oauth.md 3.3 D; decisions.md "Our own endpoints"): the scheme DPoP with a proof
# by the token's key, or 401.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $off =
  Authz::Stack->start( beside => $stack, settings => { SVC_DPOP_ENABLED => 'false', SVC_OIDC_ISSUER => $stack->base } );
my %all = (
    grants    => [qw(client_credentials authorization_code)],
    scopes    => [qw(openid introspection authzen uma_protection delegation_management)],
    endpoints => [qw(introspect authzen)] );
my @web = $stack->make_client( 'web', {%all} );
Authz::Grant->people($stack);
my ( $key, $other ) = ( Authz::Dpop->new, Authz::Dpop->new );
my $scope = join ' ', @{ $all{scopes} };
my $code  = Authz::Grant->code( $stack, client => 'web', scope => $scope );
my $bound = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@web), $key->show( $stack, '/token' ) ],
    form => [ Authz::Grant->redemption($code) ] )->member('access_token') // die 'no token';
my $plain = Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web', scope => $scope ) )
  ->member('access_token') // die 'no token';

my $decide =
  { subject => { type => 'user', id => 'a' }, action => { name => 'b' }, resource => { type => 'c', id => 'd' } };
my @call = (
    [ GET  => '/userinfo' ],
    [ POST => '/userinfo' ],
    [ POST => '/introspect',            form => [ token => $plain ] ],
    [ POST => '/access/v1/evaluation',  json => $decide ],
    [ POST => '/access/v1/evaluations', json => { evaluations => [$decide] } ],
    [ GET  => '/resource_registration/resource' ],
    [ POST => '/resource_registration/resource', json => { resource_scopes => ['read'] }, status => 201 ],
    [ GET  => '/delegation' ],
);
my $bearer = 'Bearer error="invalid_token"';
my $algs   = 'algs="ES256 RS256"';

for my $call (@call) {
    my ( $method, $path, %body ) = @$call;
    my $status = delete $body{status} // 200;
    my $ask    = sub { my (@header) = @_; return $stack->http->request( $method, $path, headers => \@header, %body ) };
    my $show =
      sub { my ( $by, %claims ) = @_; return $by->show( $stack, $path, htm => $method, token => $bound, %claims ) };
    my $name   = "$method $path";
    my $refuse = sub {
        my ( $rule, $dpop, @header ) = @_;
        my $answer = $ask->(@header);
        is( $answer->status, 401, "$name: $rule" ) or diag $answer->text;
        is_deeply(
            [ $answer->headers('WWW-Authenticate') ], [ $bearer, $dpop ],
            "$name: ... with both challenges (RFC 9449 7.1)" );
    };
    is( $ask->( Authz::Client::bearer($plain) )->status, $status, "$name: a bearer token as ever" );
    my $good = $ask->( $show->($key) );
    is( $good->status, $status, "$name: a bound token with a proof (RFC 9449 7.1)" ) or diag $good->text;
    $refuse->( 'a bound token with the scheme Bearer (RFC 9449 7.2)', "DPoP $algs", Authz::Client::bearer($bound) );
    $refuse->( '... also with a proof', "DPoP $algs", Authz::Client::bearer($bound), ( $show->($key) )[ 2, 3 ] );
    my $told = "DPoP error=\"invalid_token\", $algs";
    $refuse->( 'no proof',               $told, Authorization => "DPoP $bound" );
    $refuse->( 'a proof by another key', $told, $show->($other) );
    $refuse->(
        'no ath', $told, Authorization => "DPoP $bound",
        DPoP => $key->proof( claims => { htm => $method, htu => $stack->base . $path } ) );
    $refuse->( 'the ath of another token',     $told, $show->( $key, ath => Authz::Dpop::b64( 'x' x 32 ) ) );
    $refuse->( 'the proof of another method',  $told, $show->( $key, htm => 'PUT' ) );
    $refuse->( 'the proof of another address', $told, $show->( $key, htu => $stack->base . '/token' ) );
    $refuse->( 'an old proof',                 $told, $show->( $key, iat => time - 90 ) );
    my @once = $show->($key);
    is( $ask->(@once)->status, $status, "$name: a proof is good" );
    $refuse->( '... once', $told, @once );
    $refuse->(
        'a bearer token with the scheme DPoP',
        $told, $key->show( $stack, $path, htm => $method, token => $plain ) );
    $refuse->( 'an unknown token', $told, Authorization => 'DPoP x', ( $show->($key) )[ 2, 3 ] );
    is( $off->http->request( $method, $path, headers => [ $show->($key) ], %body )->status,
        401, "$name: with SVC_DPOP_ENABLED=false a bound token is refused" );
    is( $off->http->request( $method, $path, headers => [ Authz::Client::bearer($bound) ], %body )->status,
        401, "$name: ... also as Bearer" );
}

my @twice = $key->show( $stack, '/userinfo', token => $bound );
is( $stack->http->post( '/userinfo', headers => \@twice, form => [ access_token => $bound ] )->status,
    401, '/userinfo: a token in the header and in the form' );
is( $stack->http->post( '/userinfo', headers => [ @twice[ 2, 3 ] ], form => [ access_token => $bound ] )->status,
    401, '/userinfo: a bound token in the form, for which there is no scheme (RFC 9449 7.2)' );
my $delete = $stack->http->post(
    '/resource_registration/resource', headers => [ Authz::Client::bearer($plain) ],
    json => { resource_scopes => ['read'] } )->member('_id');
my $path = "/resource_registration/resource/$delete";
is( $stack->http->request(
        'DELETE', $path, headers => [ $key->show( $stack, $path, htm => 'DELETE', token => $bound ) ] )->status,
    204,
    'htu is the address with its id' );
my $none = $stack->http->get('/resource_registration/resource');
is_deeply(
    [ $none->headers('WWW-Authenticate') ], [ 'Bearer', "DPoP $algs" ],
    'no token: both schemes without an error (RFC 6750 3.1)' );
my $little = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@web), $key->show( $stack, '/token' ) ],
    form => [ grant_type => 'client_credentials', scope => 'openid' ] )->member('access_token');
my $scoped = $stack->http->get(
    '/delegation',
    headers => [ $key->show( $stack, '/delegation', htm => 'GET', token => $little ) ] );
oauth_error( $scoped, 403, 'insufficient_scope', 'a bound token without the scope' );
is_deeply(
    [ $scoped->headers('WWW-Authenticate') ],
    [   'Bearer error="insufficient_scope", scope="delegation_management"',
        "DPoP error=\"insufficient_scope\", scope=\"delegation_management\", $algs" ],
    '... with both challenges' );

# A copy of a request at the same moment on two hosts (RFC 9449 11.1).
my $same   = Authz::Stack->start( beside => $stack, settings => { SVC_OIDC_ISSUER => $stack->base } );
my @header = $key->show( $stack, '/userinfo', htm => 'GET', token => $bound );
my @job    = map { [ $_, $_->octets( 'GET', '/userinfo', headers => \@header, close => 1 ) ] } $stack->client,
  $same->client;
my %count;
$count{ $_->failure // $_->status }++ for Authz::Client::together( map { $job[ $_ % 2 ] } 1 .. 16 );
is_deeply( \%count, { 200 => 1, 401 => 15 }, '16 copies at once on two instances: exactly one is answered' );

done_testing;

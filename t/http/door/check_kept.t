# For how long a web server may keep an answer of /auth/check, and how many questions about one caller it may ask
# (gateway-admin.md 1.8).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Door   ();
use Authz::Dpop   ();
use Authz::Policy ();

my $MOST = 5;
my $door = Authz::Door->start(
    'kept',
    settings => {
        SVC_RATE_LIMIT_ENABLED        => 'true', SVC_RATE_LIMIT_WINDOW => 86400, SVC_RATE_LIMIT_REQUESTS => 100_000,
        SVC_CHECK_RATE_LIMIT_REQUESTS => $MOST,  SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS => 3600 } );
my $stack  = $door->stack;
my $policy = Authz::Policy->new($stack);
my $host   = '127.0.0.1:' . $door->port;
my $turn   = 0;

# A question about a request; each is about another caller, unless one is named.
sub check {
    my ( $token, %option ) = @_;
    my $from = exists $option{from} ? $option{from} : '192.0.2.' . ++$turn;
    return $stack->http->get(
        '/auth/check',
        headers => [
            'X-Authz-Proxy-Authorization' => $option{credential} // 'Basic ' . $door->credential,
            'X-Forwarded-Method'          => $option{method}     // 'GET', 'X-Forwarded-Proto' => 'http',
            'X-Forwarded-Host'            => $host, 'X-Forwarded-Uri' => '/api/orders/7',
            defined $from ? ( 'X-Forwarded-For' => $from ) : (),
            defined $token ? ( Authz::Client::bearer($token) ) : (), @{ $option{headers} // [] } ] );
}

sub rule {
    my ($rego) = @_;
    my $saved =
      $policy->deploy( rules => { 'custom/gateway.rego' => "package custom.gateway\n\nimport rego.v1\n\n$rego\n" } );
    is( $saved->status, 200, "the rule $rego" ) or diag $saved->text;
    return;
}

# The cache fields of an answer: that it is not kept, or for how long.
sub kept {
    my ($answer) = @_;
    return join ' | ', map { join ', ', $answer->headers($_) } qw(Cache-Control Pragma Vary);
}
my $NOT  = 'no-store | no-cache | ';
my $VARY = 'Authorization, DPoP, X-Authz-Proxy-Authorization, X-Forwarded-Method, X-Forwarded-Proto, '
  . 'X-Forwarded-Host, X-Forwarded-Uri, X-Forwarded-For, User-Agent';
sub for_seconds { my ($seconds) = @_; return "private, max-age=$seconds |  | $VARY" }

# ---- answers that are kept

my $token = $door->token('shop:read');
is( kept( check($token) ), $NOT, 'without a rule no answer is kept' );
rule('cache_seconds := 30');
my $answer = check($token);
is( $answer->status,                                     200,             'a request that policy allows' );
is( kept($answer),                                       for_seconds(30), '... is kept for as long as the rule says' );
is( kept( check( $token, method => 'POST' ) ),           $NOT,            'a denial is not kept' );
is( kept( check('dead') ),                               $NOT,            '... nor a bad token' );
is( kept( check(undef) ),                                $NOT,            '... nor a request without one' );
is( kept( check( $token, credential => 'x' ) ),          $NOT,            '... nor an answer to a stranger' );
is( kept( check( $token, headers => [ DPoP => 'x' ] ) ), $NOT,            '... nor a request with a proof (RFC 9449)' );

my $key   = Authz::Dpop->new;
my $bound = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic( @{ $door->{app} } ), $key->show( $stack, '/token' ) ],
    form    => [ grant_type => 'client_credentials', scope => 'shop:read', resource => $door->{url} ]
)->member('access_token');
my @proof = $key->show( $stack, '', htm => 'GET', htu => "$door->{url}/orders/7", token => $bound );
$answer = check( undef, headers => \@proof );
is( $answer->status, 200,  'a token that is bound to a key, with its proof' ) or diag $answer->text;
is( kept($answer),   $NOT, '... is not kept: each request has a proof of its own' );

my $now = $stack->admin( GET => '/admin/api/managed-resources/shop' )->json;
delete @$now{qw(status statusReason statusChangedAt lastProbe toolCount syncedAt createdAt updatedAt version)};
is( $stack->admin(
        PUT  => '/admin/api/managed-resources/shop',
        json => { %$now, edgeJwt => { audience => $door->{url}, lifetime => 20 } } )->status,
    200,
    'the API gets a JWT that lives for 20 seconds' );
is( kept( check($token) ), for_seconds(10), '... and the answer is kept for half of that' );
$stack->admin( PUT => '/admin/api/managed-resources/shop', json => { %$now, edgeJwt => undef } );

rule("cache_seconds := 30\n\nobligations := {\"approve_by_ciba\": false}");
is( kept( check($token) ), $NOT, 'an answer with obligations is not kept' );
rule('cache_seconds := 31');
is( check($token)->status, 403, '31 seconds are no answer: the rule denies (gateway-admin.md 1.8)' );
rule('cache_seconds := 1.5');
is( check($token)->status, 403, '... nor is a fraction' );
$answer = $policy->deploy(
    rules => { 'custom/gateway.rego' => "package custom.gateway\n\nimport rego.v1\n\ncache_seconds := \"30\"\n" } );
is( $answer->status, 422, 'a text as cache_seconds is refused at the save' );
like( $answer->text, qr/cache_seconds/, '... by its name' );
rule('cache_seconds := 0');
is( kept( check($token) ), $NOT, 'no seconds: no answer is kept' );

# ---- questions about one caller

is_deeply(
    [ map { check( $token, from => '198.51.100.7' )->status } 1 .. $MOST + 1 ],
    [ (200) x $MOST, 429 ],
    "$MOST questions about one caller, and one more (SVC_CHECK_RATE_LIMIT_REQUESTS)" );
$answer = check( $token, from => '10.0.0.1, 198.51.100.7' );
is( $answer->status, 429, 'the last entry of X-Forwarded-For counts, whatever the caller wrote before it' );
ok( $answer->header('Retry-After') > 0, '... and the answer says when to ask again' );
is( check( $token, from => '198.51.100.8' )->status, 200, 'another caller is not counted for it' );
is( check( $token, from => '198.51.100.7', credential => 'Basic eDp5' )->status, 403,
    'a stranger learns nothing of the counts' );
is_deeply(
    [ map { check( $token, from => '198.51.100.9', credential => 'Basic eDp5' )->status } 1 .. $MOST + 1 ],
    [ (403) x ( $MOST + 1 ) ],
    '... and cannot use up the turns of a caller' );
is( check( $token, from => '198.51.100.9' )->status, 200, '... who is served' );
is( $stack->http->post( '/revoke', form => [ token => 'x' ], headers => [ 'X-Forwarded-For' => '198.51.100.7' ] )
      ->status, 200, 'the requests of an address to the service itself are counted apart' );
is_deeply(
    [ map { check( $token, from => undef )->status } 1 .. $MOST + 1 ],
    [ (200) x $MOST, 429 ],
    'callers without an address share one count' );
$stack->restart_service( settings => { SVC_CHECK_PROXY_COUNT => 0 } );
is_deeply(
    [ map { check( $token, from => undef )->status } 1 .. $MOST + 1 ],
    [ (200) x ( $MOST + 1 ) ],
    'without SVC_CHECK_PROXY_COUNT nothing is counted: the address would be the web server\'s' );
done_testing;

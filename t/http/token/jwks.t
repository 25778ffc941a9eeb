# /.well-known/jwks.json and the signing key behind it (specification 4.1, 8; oauth.md 2 "Key rotation", 3.5).
use strict;
use warnings;

use MIME::Base64 qw(decode_base64url);
use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack  = Authz::Stack->start( settings => { SVC_OIDC_JWKS_CACHE_SECONDS => 120 } );
my $answer = $stack->http->get('/.well-known/jwks.json');
is( $answer->status, 200, 'jwks: 200 without authentication' );
like( $answer->header('Content-Type'), qr{\Aapplication/(?:json|jwk-set\+json)\b}, 'jwks: JSON' );
like(
    $answer->header('Cache-Control'), qr/\bmax-age=120\b/,
    'jwks: max-age is SVC_OIDC_JWKS_CACHE_SECONDS (specification 8)' );
is( $answer->header('Access-Control-Allow-Origin'), '*', 'jwks: may be read from any origin (oauth.md 3.5)' );

my $keys = $answer->json->{keys};
is( join( ' ', keys %{ $answer->json } ), 'keys', 'jwks: the set has the member keys alone' );
my $active = $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'");
my ($key) = grep { $_->{kid} eq $active } @$keys;
ok( $key, 'jwks: the active key is published after the first start' );
is( scalar @$keys, $stack->sql(q{SELECT count(*) FROM signing_key WHERE use <> 'audit'}),
    'jwks: and the next one, before it signs, and those of software statements (oauth.md 2 "Key rotation"; decisions.md "Clients and registration")'
);
is( join( ' ', sort keys %$key ), 'alg e kid kty n use',
    'jwks: public members only, with use and alg (RFC 7517 4; oauth.md 3.5)' );
is( "$key->{kty} $key->{alg} $key->{use}", 'RSA RS256 sig', 'jwks: an RS256 signing key' );
ok( length( decode_base64url( $key->{n} ) ) >= 256, 'jwks: of at least 2048 bits (architecture.md 7)' );
like( $key->{n}, qr/\A[A-Za-z0-9_-]+\z/, 'jwks: base64url without padding (RFC 7518 6.3.1)' );

# The key is made once, for all instances, and lies sealed.
my $second = Authz::Stack->start( beside => $stack );
is_deeply(
    $second->http->get('/.well-known/jwks.json')->json, $answer->json,
    'jwks: a second instance shows the same key (oauth.md 2 "Key rotation")' );
$stack->restart_service;
is_deeply( $stack->http->get('/.well-known/jwks.json')->json, $answer->json, 'jwks: a restart keeps the key' );
my $sealed = pack 'H*',
  $stack->sql("SELECT encode(private_sealed, 'hex') FROM signing_key WHERE use = 'oidc' AND state = 'active'");
ok( length $sealed > 1000, 'jwks: the private key is stored' );
unlike( $sealed, qr/\x30\x82..\x02\x01\x00/s, 'jwks: and not as plain PKCS#8 or PKCS#1 (specification 5.5)' );

# Rotation: the next key is published before it signs, the retired one stays (oauth.md 2 "Key rotation").
$stack->{settings}{SVC_OIDC_JWKS_CACHE_SECONDS} = 3600;    # the cluster's template made the keys some minutes ago
my ( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 1, 'keys rotate: refused while caches may lack the next key' ) or diag($text);
is( $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'"), $active,
    'keys rotate: and then changes nothing' );
$stack->{settings}{SVC_OIDC_JWKS_CACHE_SECONDS} = 0;
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 0, 'keys rotate: done when caches have had time' ) or diag($text);
isnt(
    $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'"), $active,
    'keys rotate: another key is active' );
is( $stack->sql("SELECT state FROM signing_key WHERE kid = '$active'"), 'retired',
    'keys rotate: the old one is retired' );
my %kid = map { ( $_->{kid} => 1 ) } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} };
ok( $kid{$active}, 'jwks: the retired key is still published (SVC_OIDC_KEY_RETIREMENT_SECONDS)' );
ok( $kid{ $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = '$_'") }, "jwks: so is the $_ one" )
  for qw(active next);
( $status, $text ) = $stack->authzctl(qw(keys list));
is( $status, 0, 'keys list: exit status 0' ) or diag($text);
like( $text, qr/\Q$_\E/, 'keys list: names every key' ) for sort keys %kid;

# Statement keys rotate by themselves and stay published longer: statements live a year.
my %of =
  map { ( $_ => $stack->sql("SELECT kid FROM signing_key WHERE use = 'statement' AND state = '$_'") ) } qw(active next);
my $oidc = $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'");
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes --use statement));
is( $status, 0, 'keys rotate --use statement: done' ) or diag($text);
is( $stack->sql("SELECT kid FROM signing_key WHERE use = 'statement' AND state = 'active'"), $of{next},
    'keys rotate --use statement: its next key signs' );
is( $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'"), $oidc,
    'keys rotate --use statement: and the key of ID tokens stays' );

# Keys of JWT access tokens (world.md T2).
sub access {
    return $stack->sql(
        q{SELECT string_agg(alg || ' ' || state, ', ' ORDER BY alg, state) FROM signing_key WHERE use = 'access'});
}
my $both = 'ES256 active, ES256 next, RS256 active, RS256 next';
is( access(), $both, 'access keys: the first start makes both algorithms usable at once (world.md T2)' );
my %access = map  { ( $_ => 1 ) } split /\n/, $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'access'});
my @access = grep { $access{ $_->{kid} } } @$keys;
is( join( ' ', sort map {"$_->{alg}=$_->{use}"} @access ),
    'ES256=sig ES256=sig RS256=sig RS256=sig',
    'access keys: they are in the key set with use sig, each with a kid of its own (world.md T2)' );
is( $keys->[0]{kid}, $active, 'access keys: the first key of the set is still the one of ID tokens' );
$of{access} = $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'access' AND alg = 'ES256' AND state = 'next'});
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes --use access));
is( $status, 0, 'keys rotate --use access: done' ) or diag($text);
is( $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'access' AND alg = 'ES256' AND state = 'active'}),
    $of{access}, 'keys rotate --use access: its next key signs' );
is( $stack->sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND state = 'active'"),
    $oidc, 'keys rotate --use access: and the key of ID tokens stays' );

# A service that has run without these keys: verifiers hold a key set that lacks them.
$stack->{settings}{SVC_OIDC_JWKS_CACHE_SECONDS} = 120;
$stack->sql(q{DELETE FROM signing_key WHERE use = 'access'});
$stack->restart_service;
is( access(), 'ES256 next, RS256 next',              'access keys: after an upgrade none is active (world.md T2)' );
is( $stack->http->get('/health/ready')->status, 200, '... and the service is ready without one' );
$stack->sql(q{UPDATE signing_key SET created_at = now() - interval '115 seconds' WHERE use = 'access'});
$stack->authzctl('maintain');
is( access(), 'ES256 next, RS256 next', '... nor while caches may lack them' );
$stack->sql(q{UPDATE signing_key SET created_at = now() - interval '121 seconds' WHERE use = 'access'});
$stack->authzctl('maintain');
is( access(), $both, 'access keys: they are active once they are SVC_OIDC_JWKS_CACHE_SECONDS old (world.md T2)' );
$stack->{settings}{SVC_OIDC_JWKS_CACHE_SECONDS} = 0;

( $status, $text ) = $stack->authzctl(qw(keys rotate --yes --use other));
is( $status, 64, 'keys rotate --use: another word is a usage error' ) or diag($text);

sub published {
    return { map { ( $_->{kid} => 1 ) } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} } };
}
$stack->sql("UPDATE signing_key SET retired_at = now() - interval '86390 seconds' WHERE state = 'retired'");
ok( published()->{$_}, 'jwks: retired keys stay for 86400 s (specification 8)' ) for $active, $of{active};
$stack->sql("UPDATE signing_key SET retired_at = now() - interval '86410 seconds' WHERE state = 'retired'");
ok( !published()->{$active},      'jwks: then a key of ID tokens goes (SVC_OIDC_KEY_RETIREMENT_SECONDS)' );
ok( published()->{ $of{active} }, 'jwks: and one of statements stays (SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS)' );
$stack->sql("UPDATE signing_key SET retired_at = now() - interval '34559990 seconds' WHERE state = 'retired'");
( $status, $text ) = $stack->authzctl(qw(maintain));
is( $stack->sql("SELECT string_agg(use, ' ') FROM signing_key WHERE state = 'retired'"), 'statement',
    'maintain: removes what is not published any more, and no more' ) or diag($text);
ok( published()->{ $of{active} }, 'jwks: for 34560000 s' );
$stack->sql("UPDATE signing_key SET retired_at = now() - interval '34560010 seconds' WHERE state = 'retired'");
ok( !published()->{ $of{active} }, 'jwks: and no longer' );

done_testing;

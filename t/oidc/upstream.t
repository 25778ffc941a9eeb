# The service as a relying party of an identity provider: the redirect to it, redeeming its code, and every way in
# which it may misbehave (oauth.md 5 "Upstream callback"; OpenID Connect Core 3.1; RFC 9207; RFC 9700 4.4).
# oidc/upstream/upstream.h by t/oidc/redeemer.
use strict;
use warnings;

use Digest::SHA  ();
use JSON::PP     ();
use MIME::Base64 ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Browser ();
use Authz::Check;
use Authz::Idp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start(
    settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 2 }, not_ready => 1,
    workers  => 2 );
my $json   = JSON::PP->new->utf8->canonical;
my $idp    = Authz::Idp->start;
my $corp   = $idp->register($stack);
my $issuer = $stack->base;

my $VERIFIER  = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';    # RFC 7636 appendix B
my $CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

sub redeemer {
    my ( $verb, $idp_id, $given, %env ) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'redeemer', env => { %{ $stack->settings }, %env },
        command => [ Authz::Path::program('t/oidc/redeemer'), $verb, $idp_id, $json->encode($given) ],
    );
    $text =~ s/^[{]"ts":.*\n//mg;    # its log
    return eval { $json->decode($text) } // { error => "exit $status: $text" };
}

sub url_of {
    my ( $idp_id, %request ) = @_;
    return redeemer( url => $idp_id, { state => 's-1', nonce => 'n-1', code_challenge => $CHALLENGE, %request } );
}

# Sign in at the provider and return the result of upstream_redeem. Options change the answer; redirect => 1 returns the
# redirect.
sub sign_in {
    my ( $idp_id, %option ) = @_;
    my $browser = Authz::Browser->new;
    my $url     = url_of( $idp_id, %{ delete $option{request} // {} } )->{url} // return { error => 'no address' };
    my $nonce   = { Authz::Browser::query($url) }->{nonce};
    $browser->follow( $url, stop => qr{/authorize/callback/} );
    my %back = Authz::Browser::query( $browser->url );
    return redeemer(
        redeem => $idp_id,
        { verifier => $VERIFIER, nonce => $nonce, code => $back{code}, iss => $back{iss}, %option } );
}

sub refused {
    my ( $got, $error, $why, $name ) = @_;
    my $good = ok( $got->{error} eq $error && !exists $got->{sub} && ( $got->{detail} // '' ) =~ $why, $name );
    diag( $json->encode($got) ) if !$good;
    return $good;
}

# ---- sending the browser there

my $there = url_of('corp');
my %sent  = Authz::Browser::query( $there->{url} // '' );
like(
    $there->{url}, qr{\A\Q$idp->{issuer}\E/authorize\?},
    'an empty endpoint is taken from the discovery document (oauth.md 5 "Identity provider PUT")' );
is_deeply(
    \%sent,
    {   response_type  => 'code', client_id             => 'authz', redirect_uri => "$issuer/authorize/callback/corp",
        scope          => 'openid profile email', state => 's-1',   nonce        => 'n-1',
        code_challenge => $CHALLENGE,             code_challenge_method => 'S256' },
    'code, our client there, our callback of this provider, state, nonce and PKCE, and no other parameter' );
%sent = Authz::Browser::query(
    url_of(
        'corp', login_hint => 'ann@x.example', acr_values => 'gold silver', ui_locales => 'de',
        prompt_login => JSON::PP::true(), max_age => 0 )->{url} );
is_deeply(
    [ @sent{qw(login_hint acr_values ui_locales prompt max_age)} ],
    [ 'ann@x.example', 'gold silver', 'de', 'login', '0' ],
    'login_hint, acr_values, ui_locales, prompt=login and max_age are passed on' );

my $other = Authz::Idp->start;
$other->register(
    $stack, idpId => 'tuned', authorizationEndpoint => 'https://other.example/a?tenant=1', scopes => [qw(groups email)],
    authorizeParams => { prompt => 'select_account', hd => 'x y&z' } );
my $url = url_of('tuned')->{url};
like(
    $url, qr{\Ahttps://other\.example/a\?tenant=1&response_type=code&},
    'a stored endpoint wins, and keeps its query' );
%sent = Authz::Browser::query($url);
is( $sent{scope}, 'openid groups email', 'scopes of the row, and openid always' );
is_deeply( [ @sent{qw(prompt hd)} ], [ 'select_account', 'x y&z' ], 'authorizeParams are appended' );
$url = url_of( 'tuned', prompt_login => JSON::PP::true() )->{url};
is( join( ' ', $url =~ /[?&]prompt=(\w+)/g ), 'login', '... but do not stand beside what the request asks for' );

# ---- redeeming the code

my $who = sign_in('corp');
is( $who->{error}, 'none', 'a good sign-in' ) or diag( $json->encode($who) );
is( $who->{sub},   'ann',  'sub is that of the ID token' );
is_deeply(
    $who->{claims}, { name => 'Ann Example', email => 'ann@example.org' },
    'claims without those of the protocol' );
cmp_ok( abs( $who->{auth_time} - time ), '<', 60, 'auth_time is the provider\'s' );
my $seen = $idp->seen('token');
is( $seen->{auth_method},   'client_secret_basic',             'client_secret_basic by default (RFC 6749 2.3.1)' );
is( $seen->{code_verifier}, $VERIFIER,                         'the PKCE verifier is sent' );
is( $seen->{redirect_uri},  "$issuer/authorize/callback/corp", 'and the callback of this provider' );
ok( !exists $seen->{client_id} && !exists $seen->{client_secret}, 'the secret is in the header alone' );

$idp->user(
    {   sub => 'ann', acr => 'gold', amr => [ 'pwd', 'otp' ], sid => 's-77', name => 'Ann', auth_time => int(time) - 5,
        userinfo => { name => 'Other', groups => ['staff'], acr => 'forged' } } );
$who = sign_in('corp');
is_deeply(
    $who->{claims}, { name => 'Ann', groups => ['staff'] },
    'userinfo adds what the ID token has not; the signed claim stays' );
is_deeply( [ @$who{qw(acr sid)} ], [ 'gold', 's-77' ], 'acr and sid are of the ID token alone' );
is_deeply( $who->{amr},            [ 'pwd',  'otp' ],  'amr too' );
$idp->user( { sub => 'ann' } );

is( sign_in( 'corp', max_age => 60 )->{error}, 'none', 'max_age and a fresh sign-in' );
$idp->user( { sub => 'ann', auth_time => int(time) - 1000 } );
refused(
    sign_in( 'corp', max_age => 60 ), 'access_denied', qr/older than max_age/,
    'max_age and an old sign-in is refused' );
refused(
    sign_in( 'corp', prompt_login => JSON::PP::true(), asked_at => int time ), 'access_denied', qr/new sign-in/,
    'prompt=login and an old sign-in is refused' );
$idp->user( { sub => 'ann' } );

for my $alg (qw(PS256 ES256)) {
    $idp->misbehave( id_token => { alg => $alg } );
    is( sign_in('corp')->{error}, 'none', "an ID token by $alg is taken" );
}
$idp->behave;

# ---- ID tokens that are refused (OpenID Connect Core 3.1.3.7)

my $now = int time;
my @lie = (
    [ { aud => 'x' },                 qr/aud/, 'another aud' ],
    [ { aud => undef },               qr/aud/, 'no aud' ],
    [ { aud => [ 'authz', 'x' ] },    qr/azp/, 'several aud without azp' ],
    [ { azp => 'x' },                 qr/azp/, 'another azp' ],
    [ { iss => 'https://x.example' }, qr/iss/, 'another iss' ],
    [   { iss => "$idp->{issuer}/" }, qr/iss/,
        'id_token_slash: iss with a slash more, which M3 allows issuers of upstreams alone' ],
    [ { nonce    => 'other' },                   qr/nonce/,          'another nonce' ],
    [ { nonce    => undef },                     qr/nonce/,          'no nonce' ],
    [ { exp      => $now - 3600 },               qr/expired/,        'expired' ],
    [ { exp      => undef },                     qr/no exp/,         'no exp' ],
    [ { iat      => $now - 7200 },               qr/too old/,        'issued long ago' ],
    [ { iat      => $now + 3600 },               qr/future/,         'issued in the future' ],
    [ { sub      => undef },                     qr/no sub/,         'no sub' ],
    [ { sub      => '' },                        qr/no sub/,         'an empty sub' ],
    [ { at_hash  => 'AAAAAAAAAAAAAAAAAAAAAA' },  qr/at_hash/,        'at_hash of another access token' ],
    [ { alg      => 'none' },                    qr/compact/,        'alg none' ],
    [ { alg      => 'HS256' },                   qr/alg/,            'alg HS256 with our client secret' ],
    [ { kid      => 'unknown' },                 qr/no key matches/, 'an unknown kid' ],
    [ { stranger => 1 },                         qr/signature/,      'signed by a stranger with a known kid' ],
    [ { stranger => 1, kid => undef },           qr/signature/,      'signed by a stranger, no kid' ],
    [ { tamper   => 1 },                         qr/signature/,      'a changed signature' ],
    [ { header   => { typ => 'at+jwt' } },       qr/typ/,            'typ of an access token' ],
    [ { header   => { crit => ['x'], x => 1 } }, qr/crit/,           'a critical extension' ],
    [ { raw      => 'a.b.c' },                   qr/compact|header/, 'no token at all' ],
);
for my $lie (@lie) {
    $idp->misbehave( id_token => $lie->[0] );
    refused( sign_in('corp'), 'access_denied', $lie->[1], "refused: $lie->[2]" );
}

# What this service can never read is a fault of the settings there, and names itself (world.md W2).
sub not_set_up {
    my ( $got, $code, $name ) = @_;
    return ok( $got->{error} eq 'server_error'
          && $got->{http} == 502
          && !exists $got->{sub}
          && $got->{public} =~ /: $code\z/
          && $got->{detail} =~ /\($code\)/, "$name: $code (W2)" )
      || diag( $json->encode($got) );
}
$idp->misbehave( id_token => { raw => 'x' x 20_000 } );
not_set_up( sign_in('corp'), 'id_token_too_large', 'an ID token of 20 kB' );
$idp->misbehave( id_token => { raw => 'a.b.c.d.e' } );
not_set_up( sign_in('corp'), 'encrypted', 'an ID token of five parts' );
$idp->misbehave( id_token => { raw => 'a.b.c.d.e.f' } );
refused( sign_in('corp'), 'access_denied', qr/compact/, 'an ID token of six parts is refused' );
$idp->behave;
is( sign_in('corp')->{error}, 'none', 'and afterwards a good one is taken again' );

# ---- the answer of the browser (RFC 9207)

refused(
    sign_in( 'corp', iss => 'https://evil.example' ), 'access_denied', qr/another issuer/,
    'iss of another issuer: refused (RFC 9207 2.4)' );
my $asked = () = $idp->seen('token');
refused(
    sign_in( 'corp', iss => undef ), 'access_denied', qr/no iss/,
    'no iss though the provider says it sends one: refused' );
is( scalar( () = $idp->seen('token') ), $asked, '... and the code was not given away' );
refused(
    sign_in( 'corp', code => 'made-up' ), 'access_denied', qr/refused the code/,
    'a code that the provider does not know' );
refused( sign_in( 'corp', code => undef ), 'access_denied', qr/no code/, 'no code' );
refused(
    sign_in( 'corp', code => 'x' x 4097 ), 'access_denied', qr/too long/,
    'a code of 4097 octets is refused unasked' );
refused(
    sign_in( 'corp', verifier => 'x' x 43 ), 'access_denied', qr/refused the code/,
    'another verifier: the provider refuses (RFC 7636)' );
refused( sign_in( 'corp', nonce => 'n-2' ), 'access_denied', qr/nonce/, 'another nonce than the sign-in\'s' );

# ---- the provider away, slow, huge, redirecting, or sending malformed answers: never an identity (specification 5.6)

my $trap = Authz::Idp->start;
my @bad  = (
    [ { status => 500 },                                       'an error of the server' ],
    [ { status => 401, body => '{"error":"invalid_client"}' }, 'our client refused' ],
    [ { body   => 'not JSON' },                                'no JSON' ],
    [ { body   => '[]' },                                      'an array' ],
    [ { body   => '{"a":' . '[' x 40 . ']' x 40 . '}' },       'nested too deep' ],
    [ { huge   => 70_000 },                                    'an answer of 70 kB' ],
    [ { close  => 1 },                                         'no answer' ],
    [ { delay  => 4 },                                         'an answer after the time' ],
    [ { drip   => 1 },                                         'an answer octet by octet' ],
);
for my $endpoint (qw(token userinfo)) {
    my %left_out = map { $_ => 1 } 'our client refused',
      $endpoint eq 'userinfo' ? ( 'no JSON', 'an array', 'nested too deep', 'an answer of 70 kB' ) : ();
    for my $how ( grep { !$left_out{ $_->[1] } } @bad ) {
        $idp->misbehave( $endpoint => $how->[0] );
        my $start = time;
        my $got   = sign_in('corp');
        refused( $got, 'temporarily_unavailable', qr/./, "$endpoint: $how->[1] is temporarily_unavailable" );
        cmp_ok( time - $start, '<', 10, '... and does not take long' ) if $how->[0]{delay} || $how->[0]{drip};
    }
    $idp->misbehave( $endpoint => { redirect => "$trap->{issuer}/$endpoint" } );
    my $got = sign_in('corp');
    if ( $endpoint eq 'token' ) {
        refused( $got, 'temporarily_unavailable', qr/302/, 'token: a redirect is not followed' );
    }
    else { is( $got->{error}, 'none', 'userinfo: a redirect is not followed, and the ID token stands alone (U1)' ) }
    is( scalar( () = $trap->seen($endpoint) ), 0, '... and the other host saw nothing of it' );
}

# What userinfo may send that cannot be used (world.md U1).
for my $how ( grep { $_->[1] =~ /our client refused|no JSON|an array|nested|70 kB/ } @bad ) {
    $idp->misbehave( userinfo => $how->[0] );
    my $got = sign_in('corp');
    is( $got->{error}, 'none', "userinfo: $how->[1]: the ID token stands alone (U1)" );
    is_deeply( $got->{claims}, {}, '... with its claims' );
}
for my $how (
    [ 401, 'invalid_client',        'client_refused' ],
    [ 400, 'invalid_client',        'client_refused' ],
    [ 400, 'unauthorized_client',   'client_refused' ],
    [ 400, 'invalid_scope',         'scope_refused' ],
    [ 400, 'redirect_uri_mismatch', 'redirect_refused' ],
    [ 400, 'invalid_request',       'request_refused' ],
    [ 400, 'x' x 100,               'request_refused' ], [ 200, 'a_word_of_its_own', 'request_refused' ],
    [ 401, '',                      'client_refused' ], )
{
    $idp->misbehave( token => { status => $how->[0], body => $json->encode( { error => $how->[1] } ) } );
    my $got = sign_in('corp');
    not_set_up( $got, $how->[2], "token: $how->[0] $how->[1]" );
    unlike( $got->{detail}, qr/x{65}/, '... and at most 64 octets of the code are in the log (W3)' )
      if length $how->[1] > 64;
}
for my $how (
    [ 500, 'invalid_client' ], [ 429, 'invalid_client' ], [ 400, 'temporarily_unavailable' ],
    [ 400, 'server_error' ] )
{
    $idp->misbehave( token => { status => $how->[0], body => $json->encode( { error => $how->[1] } ) } );
    refused( sign_in('corp'), 'temporarily_unavailable', qr/./, "token: $how->[0] $how->[1] heals (W1)" );
}
$idp->misbehave( token => { id_token => undef } );
refused( sign_in('corp'), 'access_denied', qr/no ID token/, 'token: no ID token' );
$idp->misbehave( token => { access_token => "a\r\nX-Evil: 1" } );
refused(
    sign_in('corp'), 'temporarily_unavailable', qr/token endpoint/,
    'token: an access token that would end a header is not sent' );
$idp->misbehave( token => { token_type => 'mac' } );
is( sign_in('corp')->{error}, 'none',
    'token: another token_type is not used (RFC 6749 7.1); the ID token stands alone' );
$idp->misbehave( userinfo => { sub => 'eve' } );
refused( sign_in('corp'), 'access_denied', qr/different subs/, 'userinfo: another sub (OIDC Core 5.3.2)' );
$idp->misbehave( userinfo => { sub => undef } );
is( sign_in('corp')->{error}, 'none', 'userinfo: no sub: the ID token stands alone (U1)' );
$idp->misbehave( userinfo => { sub => ['ann'] } );
refused( sign_in('corp'), 'access_denied', qr/different subs/, 'userinfo: sub that is no text' );
$idp->behave;

# ---- discovery

sub fresh_idp {
    my ( $name, %how ) = @_;
    my %option = %{ delete $how{start} // {} };
    my %field  = %{ delete $how{field} // {} };
    my $made   = Authz::Idp->start(%option);
    $made->misbehave(%how);
    $made->register( $stack, idpId => $name, %field );
    return $made;
}
my $count = 0;
for my $how (
    [ { issuer                 => undef },                                              'no issuer' ],
    [ { status                 => 404, body => 'none' },                                'no document' ],
    [ { body                   => 'x' },                                                'no JSON' ],
    [ { huge                   => 70_000 },                                             'a document of 70 kB' ],
    [ { redirect               => "$trap->{issuer}/.well-known/openid-configuration" }, 'a redirect' ],
    [ { authorization_endpoint => 'javascript:alert(1)' }, 'an endpoint that is no web address' ],
    [ { token_endpoint         => ['x'] },                 'an endpoint that is no text' ],
  )
{
    my $name = 'bad-' . ++$count;
    my $made = fresh_idp( $name, discovery => $how->[0] );
    my $got  = url_of($name);
    ok( $got->{error} eq 'temporarily_unavailable' && !exists $got->{url},
        "discovery: $how->[1] is temporarily_unavailable" ) or diag( $json->encode($got) );
}
my $evil = fresh_idp( 'evil', discovery => { issuer => 'https://evil.example' } );
for my $again ( 1, 2 ) {
    my $got = url_of('evil');
    ok( $got->{http} == 502 && $got->{detail} =~ /issuer_other/ && !exists $got->{url},
        "discovery: another issuer (OIDC Discovery 4.3) is not set up: issuer_other (W2), look $again"
    ) or diag( $json->encode($got) );
}
my $slash = Authz::Idp->start;
$slash->misbehave( discovery => { issuer => "$slash->{issuer}" } );
$slash->register( $stack, idpId => 'slash', issuer => "$slash->{issuer}/" );
not_set_up(
    url_of('slash'), 'issuer_other',
    'discovery: an issuer that differs by a slash at the end is another: byte for byte' );
fresh_idp( 'no-token', discovery => { token_endpoint => undef } );
refused(
    sign_in('no-token'), 'server_error', qr/token_endpoint is missing/,
    'an endpoint that is nowhere is our operator\'s fault' );

my $stored = Authz::Idp->start;
$stored->misbehave( discovery => { status => 404, body => 'none' } );
$stored->register(
    $stack, idpId => 'stored', authorizationEndpoint => "$stored->{issuer}/authorize",
    tokenEndpoint => "$stored->{issuer}/token", jwksUri => "$stored->{issuer}/jwks" );
is( sign_in('stored')->{error},               'none', 'a provider without discovery works by its stored endpoints' );
is( scalar( () = $stored->seen('userinfo') ), 0,      '... and without userinfo' );

my $post = fresh_idp( 'post', discovery => { token_endpoint_auth_methods_supported => ['client_secret_post'] } );
is( sign_in('post')->{error},            'none',               'a provider that takes client_secret_post alone' );
is( $post->seen('token')->{auth_method}, 'client_secret_post', '... gets it' );
my $public = fresh_idp( 'public', start => { public => 1 } );
is( sign_in('public')->{error}, 'none', 'without a secret we are a public client' );
is_deeply( [ @{ $public->seen('token') }{qw(auth_method code_verifier)} ], [ 'none', $VERIFIER ], '... with PKCE' );
my $silent = fresh_idp(
    'silent', discovery => { authorization_response_iss_parameter_supported => JSON::PP::false() },
    authorize => { iss => undef } );
is( sign_in('silent')->{error}, 'none', 'no iss from a provider that does not say it sends one' );
$silent->register(
    $stack, idpId => 'nobody', issuer => 'https://nobody.example', clientId => undef,
    authorizationEndpoint => 'https://nobody.example/a' );
not_set_up( url_of('nobody'), 'client_refused', 'a provider without our clientId cannot be used' );

is( redeemer( end_session => 'corp',  {} )->{url}, "$idp->{issuer}/end_session", 'end_session_endpoint by discovery' );
is( redeemer( end_session => 'bad-1', {} )->{url}, undef,                        '... or none, and no failure' );

# ---- keys

my $turning = fresh_idp('turning');
is( sign_in('turning')->{error}, 'none', 'a first sign-in fetches the keys' );

$turning->rotate;
is( sign_in('turning')->{error}, 'none',
    'a new kid makes us fetch the keys once more, a moment after they were fetched in the ordinary way, too' );
my $fetched = () = $turning->seen('jwks');
is( $fetched, 2, '... once' );
$turning->misbehave( id_token => { kid => 'unknown' } );
refused( sign_in('turning'), 'access_denied', qr/no key matches/, 'a kid that stays unknown is refused' ) for 1 .. 3;
is( scalar( () = $turning->seen('jwks') ), $fetched,
    '... and does not make us fetch them again and again (oauth.md 3.1 J8)' );
$stack->sql(
    "UPDATE fetched_document SET forced_at = forced_at - interval '61 s', fetched_at = fetched_at - interval '61 s' WHERE url = '$turning->{issuer}/jwks'"
);
refused( sign_in('turning'), 'access_denied', qr/no key matches/, '... but once a minute' ) for 1 .. 2;
is( scalar( () = $turning->seen('jwks') ), $fetched + 1, '... really' );

for my $how (
    [ { keys => [] }, 'an empty set' ], [ { keys => undef }, 'no set' ], [ { status => 500 }, 'an error' ],
    [ { redirect => "$trap->{issuer}/jwks" }, 'a redirect' ] )
{
    my $name = 'keys-' . ++$count;
    fresh_idp( $name, jwks => $how->[0] );
    refused( sign_in($name), 'temporarily_unavailable', qr/./, "keys: $how->[1] is temporarily_unavailable" );
}
is( scalar( () = $trap->seen('jwks') ), 0, 'no redirect for keys was followed' );

# ---- hosts and addresses that may be asked

my $strict = redeemer(
    url                                    => 'corp', { state => 's', nonce => 'n', code_challenge => $CHALLENGE },
    SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'false' );
is( $strict->{error}, 'none', 'a kept discovery document is used' );
my $got = redeemer(
    redeem => 'corp', { verifier => $VERIFIER, nonce => 'n', code => 'c', iss => $idp->{issuer} },
    SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'false' );
refused(
    $got, 'temporarily_unavailable', qr/./,
    'http and loopback are refused at the fetch unless SVC_SAFE_HTTP allows them' );

# ---- secrets

my $secret = $idp->{client_secret};
unlike(
    $stack->sql('SELECT coalesce(string_agg(p::text, chr(10)), \'\') FROM identity_provider p'), qr/\Q$secret\E/,
    'the secret is not in the database' );
$stack->sql(
    "UPDATE identity_provider SET secret_sealed = (SELECT secret_sealed FROM identity_provider WHERE idp_id = 'corp') WHERE idp_id = 'post'"
);
refused(
    sign_in('post'), 'server_error', qr/cannot be decrypted/,
    'a sealed secret moved to another row does not open' );

done_testing;

# Sign-in through an upstream identity provider: the callback, the browser's two cookies and its session (oauth.md 5
# "Upstream callback"; decisions.md "Browser side"; specification 5.7 and 8).
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SESSION_TIMEOUT => '10m' } );
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $base = $stack->base;
my $back = 'https://app.example/cb';
my $code = qr/\A\Q$back\E\?(?:.*&)?code=ac_/;
for my $id (qw(crm wiki)) {
    $stack->make_client( $id, { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );
}

sub request_of {
    my %param =
      ( response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid', state => 'st&1', @_ );
    return "$base/authorize?" . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

sub authorize {
    my ( $browser, %more ) = @_;
    return $browser->follow( request_of(%more), stop => qr{\A\Q$back\E} );
}

# Sign in up to the provider's answer. Return the address that it sends the browser back to, not yet requested.
sub half_way {
    my ( $browser, %more ) = @_;
    $browser->follow( request_of(%more), stop => qr{/authorize/callback/} );
    return $browser->url;
}

sub back_of { my ($browser) = @_; return { Authz::Browser::query( $browser->url ) } }

sub sessions { return $stack->sql('SELECT count(*) FROM browser_session') }

# Those that wait: what was taken stays until it expires, without what its callback needs (world.md F2).
sub sign_ins { return $stack->sql('SELECT count(*) FROM sign_in WHERE taken_at IS NULL') }

sub audit {
    return $stack->sql("SELECT $_[0] FROM audit_log WHERE operation = 'authorizeCallback' ORDER BY id DESC LIMIT 1");
}

sub is_page {
    my ( $answer, $name, $text ) = @_;
    return subtest $name => sub {
        is( $answer->status, 400, 'status' );
        like( $answer->header('Content-Type'), qr{\Atext/html}, 'a page' );
        is( $answer->header('Location'), undef, 'no redirect' );
        like( $answer->body, $text // qr/unknown, already used or expired/, 'it says why' );
        is( $answer->header('Cache-Control'), 'no-store', 'no-store' );
        like( $answer->header('Content-Security-Policy') // '', qr/frame-ancestors 'none'/, 'it cannot be framed' );
    };
}

# ---- the way in, and the cookies

my $ann = Authz::Browser->new;
my @hop = authorize($ann);
my %got = %{ back_of($ann) };
like( $ann->url, $code, 'sign-in ends with a code at the client (specification 4.2)' )
  or diag( map { $_->text } $hop[-1] );
is( $got{state}, 'st&1', '... with its state' );
is( $got{iss},   $base,  '... and iss (RFC 9207)' );
my $session = $ann->cookie( $base, 'svc_sid' );
my $mark    = $ann->cookie( $base, 'svc_browser' );
ok( $session && $mark, 'two cookies: session and mark' ) or BAIL_OUT('no session');

for my $cookie ( $session, $mark ) {
    like( $cookie->{value}, qr/\A[A-Za-z0-9_-]{43}\z/, "$cookie->{name}: 256 bits" );
    like( $cookie->{text},  qr/; HttpOnly/,            '... HttpOnly' );
    like( $cookie->{text},  qr/; SameSite=Lax/,        '... SameSite=Lax' );
    like( $cookie->{text},  qr{; Path=/(?:;|\z)},      '... Path=/' );
    unlike(
        $cookie->{text}, qr/Secure|Domain/i,
        '... not Secure by default (specification 5.7), and of no other host' );
}
unlike( $session->{text}, qr/Max-Age|Expires/i, 'the session cookie ends with the browser' );
like( $mark->{text}, qr/; Max-Age=660(?:;|\z)/, 'the mark outlives the sign-in by a minute' );
my $hash = Digest::SHA::sha256_hex( MIME::Base64::decode_base64url( $session->{value} ) );
is( $stack->sql("SELECT subject FROM browser_session WHERE encode(id_hash, 'hex') = '$hash'"), 'ann',
    "the row holds the cookie's hash; the home issuer's subject keeps its sub (decisions.md \"Subject identifiers\")" );
is( $stack->sql("SELECT claims ->> 'email' FROM subject WHERE subject = 'ann'"), 'ann@example.org',
    'the claims are kept (decisions.md "Subject identifiers")' );
unlike(
    $stack->sql("SELECT string_agg(s::text, ' ') FROM browser_session s"), qr/ey[A-Za-z0-9_-]{10,}\./,
    "the provider's ID token is sealed" );
is( sign_ins(), 0, 'the sign-in was taken away' );
is( audit('outcome || http_status || client_id || subject_id'), 'allowed302crmann',
    'the callback is audited with client and subject' );
is( $stack->sql('SELECT count(DISTINCT flow_id) FROM audit_log WHERE flow_id IS NOT NULL'), 1,
    '... and one flow ties it to the request' );
is( $idp->seen('authorize')->{redirect_uri}, "$base/authorize/callback/corp",
    'each provider has a callback path of its own (RFC 9700 4.4)' );

# ---- single sign-on

my $asked = () = $idp->seen('authorize');
@hop = authorize( $ann, client_id => 'wiki' );
like( $ann->url, $code, 'single sign-on: the second client gets a code' );
is( scalar @hop,                            1,      '... with one redirect' );
is( scalar( () = $idp->seen('authorize') ), $asked, '... and the provider is not asked' );
is( sessions(),                             1,      '... and it is the one session' );

# ---- the state is the browser's, the provider's, and good once

my $eve = Authz::Browser->new;
my $way = half_way( my $bob = Authz::Browser->new );
is( sign_ins(), 1, 'a sign-in waits' );
is_page( $eve->get($way), 'a state in a browser without the mark is refused (RFC 9700 4.7)' );
half_way($eve);
is( sign_ins(), 2, 'another browser begins its own' );
is_page( $eve->get($way), "... with its own mark it cannot end the first one's" );
is( sign_ins(), 2, '... and nothing was deleted' );
my $other = Authz::Idp->start;
$other->register( $stack, idpId => 'other' );
is_page(
    $bob->get( $way =~ s{/callback/corp}{/callback/other}r ),
    "another provider's path is refused (mix-up, RFC 9700 4.4)" );
is_page( $bob->get( $way =~ s{/callback/corp}{/callback/nobody}r ), 'a path of no provider is refused' );
is_page( $bob->get( $way =~ s/state=[^&]+/state=AAAA/r ),           'an unknown state is refused' );
is_page( $bob->get( $way =~ s/state=[^&]+&?//r ),                   'no state is refused' );
is_page( $bob->get("$way&state=x"), 'a state that comes twice is refused', qr/state is repeated/ );
is( sign_ins(), 2, '... none of which deleted anything' );
my $before = sessions();
like(
    ( $bob->follow( $way, stop => qr{\A\Q$back\E} ) )[-1]->header('Location'), $code,
    'the browser that began it ends it' );
is( sessions(),              $before + 1, '... with a session' );
is( $bob->get($way)->status, 303,         'replay: the state is good once; it begins the request again (world.md F2)' );
is_page( $bob->get($way), '... and only once' );
is( sessions(), $before + 1, '... no second session' );
is( $stack->admin(
        PUT => '/admin/api/identity-providers/other', json => { issuer => $other->issuer, enabled => JSON::PP::false() }
    )->status,
    200,
    '(the other provider is disabled)' );

$way = half_way( my $late = Authz::Browser->new );
is( $stack->sql('SELECT extract(epoch FROM max(expires_at) - now()) BETWEEN 580 AND 600 FROM sign_in'), 't',
    'a sign-in lives ten minutes (oauth.md 5 "Upstream callback")' );
$stack->sql("UPDATE sign_in SET expires_at = now() - interval '1 second'");
is_page( $late->get($way), '... and is refused after that' );

my ( $tab1, $tab2 );
my $tabs = Authz::Browser->new;
( $tab1, $tab2 ) = ( half_way($tabs), half_way( $tabs, client_id => 'wiki' ) );
like(
    ( $tabs->follow( $_, stop => qr{\A\Q$back\E} ) )[-1]->header('Location'), $code,
    'two tabs of one browser sign in beside each other' ) for $tab1, $tab2;

# Requests at the same moment, [path, mark] each, as browsers send them: who is told to come again does so (Refresh). Their last
# answers, and how many were told.
sub at_once {
    my @asked = map { { path => $_->[0], mark => $_->[1] } } @_;
    my $told  = 0;
    for ( 1 .. 60 ) {
        my @open   = grep { !$_->{answer} } @asked or last;
        my @answer = Authz::Client::together(
            map {
                [   $stack->client,
                    $stack->client->octets( GET => $_->{path}, headers => [ Cookie => "svc_browser=$_->{mark}" ] ) ]
            } @open );
        for my $i ( 0 .. $#open ) {
            if ( defined $answer[$i]->header('Refresh') ) { is_busy( $answer[$i] ) if !$told++ }
            else                                          { $open[$i]{answer} = $answer[$i] }
        }
        sleep 1 if grep { !$_->{answer} } @asked;
    }
    return ( $told, map { $_->{answer} // Authz::Response->failed('it never ends') } @asked );
}

sub is_busy {
    my ($answer) = @_;
    return subtest 'while half of the workers fetch: a page that asks again' => sub {
        is( $answer->status,                503, 'status' );
        is( $answer->header('Retry-After'), 1,   'Retry-After' );
        like( $answer->body, qr/One moment/, 'what it says' );
        is( $answer->header('Location'),      undef,      'the client hears nothing' );
        is( $answer->header('Set-Cookie'),    undef,      'no session' );
        is( $answer->header('Cache-Control'), 'no-store', 'no-store' );
        like( $answer->header('Content-Security-Policy') // '', qr/default-src 'none'/, 'nothing is loaded' );
    };
}
sub path_of { my ($url)     = @_; return $url =~ s{\Ahttp://[^/]+}{}r }
sub mark_of { my ($browser) = @_; return $browser->cookie( $base, 'svc_browser' )->{value} }

# Sixteen at the same moment with one state.
$way    = half_way( my $many = Authz::Browser->new );
$before = sessions();
my ( $told, @answer ) = at_once( map { [ path_of($way), mark_of($many) ] } 1 .. 16 );
is( scalar( grep { $_->status == 302 && $_->header('Location') =~ $code } @answer ), 1,
    'sixteen callbacks at the same moment: one code' );
is( scalar( grep { $_->status == 400 } @answer ), 15,          '... and fifteen error pages' );
is( sessions(),                                   $before + 1, '... and one session' );

# ---- a new id at each sign-in

my $old = $ann->cookie( $base, 'svc_sid' )->{value};
authorize( $ann, prompt => 'login' );
like( $ann->url, $code, 'prompt=login signs in again' );
my $new = $ann->cookie( $base, 'svc_sid' )->{value};
isnt( $new, $old, 'session fixation: a new id at sign-in (oauth.md 5 "Transitions")' );
my $thief = Authz::Browser->new;
$thief->set_cookie( $base, "svc_sid=$old; Path=/" );
authorize( $thief, prompt => 'none' );
is( back_of($thief)->{error}, 'login_required', '... and the old one is over' );
my $planted = MIME::Base64::encode_base64url( 'x' x 32 );
$thief->forget($base);
$thief->set_cookie( $base, "svc_sid=$planted; Path=/" );
authorize($thief);
isnt(
    $thief->cookie( $base, 'svc_sid' )->{value}, $planted,
    'an id that an attacker put into the browser never becomes a session' );

# ---- which cookies count

sub none_with {
    my ($header) = @_;
    my $query = Authz::Client::form(
        response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid',
        prompt        => 'none' );
    my $answer = $stack->http->get( "/authorize?$query", headers => [ Cookie => $header ] );
    my %query  = Authz::Browser::query( $answer->header('Location') // '?' );
    return $query{error} // ( $query{code} ? 'code' : 'nothing' );
}
is( none_with("svc_sid=$new"),           'code', 'the session cookie is the session' );
is( none_with("a=1; svc_sid=$new; b=2"), 'code', '... among others' );
is( none_with("svc_sid=$new; svc_sid=$new"), 'login_required',
    'two cookies of the name are none: one may be a neighbour\'s' );
is( none_with("svc_sid=\"$new\""),                'login_required', 'not in quotes' );
is( none_with("svc_sid=${new}A"),                 'login_required', 'not one character more' );
is( none_with( 'svc_sid=' . substr $new, 0, 42 ), 'login_required', 'not one less' );
is( none_with("svc_browser=$new"),                'login_required', 'not under the other name' );
is( none_with("__Host-svc_sid=$new"),             'login_required', 'not with a prefix that is not ours here' );

# ---- the end of a session moves with use

my $sid = Digest::SHA::sha256_hex( MIME::Base64::decode_base64url($new) );

sub left {
    return $stack->sql(
        "SELECT round(extract(epoch FROM expires_at - now())) FROM browser_session WHERE encode(id_hash, 'hex') = '$sid'"
    );
}

sub set_left {
    return $stack->sql(
        "UPDATE browser_session SET expires_at = now() + interval '$_[0] seconds' WHERE encode(id_hash, 'hex') = '$sid'"
    );
}
set_left(560);
none_with("svc_sid=$new");
cmp_ok( left(), '<=', 560, 'the end is not written before a tenth of SVC_SESSION_TIMEOUT has passed' );
set_left(530);
none_with("svc_sid=$new");
cmp_ok( left(), '>', 590, '... and moves after it' );
set_left(5000);
none_with("svc_sid=$new");
cmp_ok( left(), '<=', 600, 'a shorter timeout shortens it' );
set_left(-1);
is( none_with("svc_sid=$new"), 'login_required', 'a session that was not used for the timeout is over' );

# ---- a provider that refuses, or is disabled in mid-flow

for my $row (
    [ login_required   => 'login_required' ],   [ interaction_required => 'interaction_required' ],
    [ consent_required => 'consent_required' ], [ access_denied        => 'access_denied' ] )
{
    my ( $sent, $seen ) = @$row;
    $idp->misbehave( authorize => { error => $sent, error_description => 'INTERNAL: <b>of the provider' } );
    authorize( my $browser = Authz::Browser->new );
    is( back_of($browser)->{error}, $seen,
        "upstream error $sent is $seen for the client (oauth.md 5 \"Upstream callback\")" );
    unlike( $browser->url, qr/INTERNAL|%3C|%27/, '... without the words of the provider' );
}
for my $row ( [ server_error => 503 ], [ invalid_scope => 502 ], [ "x'<script>" => 502 ] ) {
    my ( $sent, $status ) = @$row;
    $idp->misbehave( authorize => { error => $sent, error_description => 'INTERNAL: <b>of the provider' } );
    my @hop = authorize( Authz::Browser->new );
    is( $hop[-1]->status, $status, "upstream error $sent is a page with status $status (world.md W1)" );
    unlike( $hop[-1]->body, qr/INTERNAL|<script>/, '... without the words of the provider' );
}
$idp->misbehave( authorize => { error => 'login_required', iss => 'https://evil.example' } );
authorize( my $mixed = Authz::Browser->new );
is( back_of($mixed)->{error}, 'server_error', "an error with another issuer's iss says nothing (RFC 9207 2.4)" );
$idp->misbehave( authorize => { code => undef } );
authorize( $mixed = Authz::Browser->new );
is( back_of($mixed)->{error},           'server_error', 'neither code nor error: server_error' );
is( $mixed->cookie( $base, 'svc_sid' ), undef,          '... and no session' );
$idp->behave;

$way = half_way( my $mid = Authz::Browser->new );
my $row = $stack->admin( GET => '/admin/api/identity-providers/corp' )->json;

sub enable {
    my ($on) = @_;
    return $stack->admin(
        PUT  => '/admin/api/identity-providers/corp',
        json => { %$row, enabled => $on ? JSON::PP::true() : JSON::PP::false() } );
}
authorize( my $in = Authz::Browser->new );
my $live = $in->cookie( $base, 'svc_sid' )->{value};
is( none_with("svc_sid=$live"), 'code', '(a session of the provider)' );
is( enable(0)->status,          200,    '(the provider is disabled)' );
my $calls = () = $idp->seen('token');
$mid->follow( $way, stop => qr{\A\Q$back\E} );
is( back_of($mid)->{error}, 'access_denied',
    'no sign-in through a provider that was disabled in mid-flow (oauth.md 5 "Transitions")' );
is( scalar( () = $idp->seen('token') ), $calls, '... and is not asked' );
is( audit(q{outcome || ' ' || request_summary}),
    'rejected {"error":"access_denied","reason":"The identity provider has been disabled","idpId":"corp"}',
    '... and the audit says why' );
is( none_with("svc_sid=$live"), 'login_required', 'sessions of a disabled provider are over' );
is( enable(1)->status,          200,              '(and enabled again)' );

# ---- a misbehaving provider never yields a code (the rules one by one: t/oidc/upstream.t)

my %bad = (
    'a wrong audience'          => { id_token  => { aud      => 'somebody-else' } },
    'a wrong nonce'             => { id_token  => { nonce    => 'x' } },
    'no nonce'                  => { id_token  => { nonce    => undef } },
    'a wrong issuer'            => { id_token  => { iss      => 'https://evil.example' } },
    'an expired ID token'       => { id_token  => { exp      => time - 3600, iat => time - 7200 } },
    'no sub'                    => { id_token  => { sub      => undef } },
    'algorithm none'            => { id_token  => { alg      => 'none' } },
    'HS256'                     => { id_token  => { alg      => 'HS256' } },
    'an unknown kid'            => { id_token  => { kid      => 'nobody' } },
    'an unknown key'            => { id_token  => { stranger => 1 } },
    'a broken signature'        => { id_token  => { tamper   => 1 } },
    'another iss parameter'     => { authorize => { iss      => 'https://evil.example' } },
    'a token endpoint with 500' => { token     => { status   => 500 } },
    'one that redirects'        => { token     => { redirect => 'https://evil.example/' } },
    'one that sends too much'   => { token     => { huge     => 4_000_000 } },
    'one that hangs up'         => { token     => { close    => 1 } },
    'no JSON'                   => { token     => { body     => '<html>' } },
    'no ID token'               => { token     => { id_token => undef } },
);
for my $what ( sort keys %bad ) {
    $idp->misbehave( %{ $bad{$what} } );
    my $browser = Authz::Browser->new;
    $before = sessions();
    my $end = ( authorize($browser) )[-1];
    my $got = back_of($browser);

    # A provider that cannot be reached is a page; its way back tells the client (oauth.md "Upstream callback").
    my ($leave) = $end->body =~ m{<a href="([^"]+)">Return to}g;
    $got = { Authz::Browser::query( $leave =~ s/&amp;/&/gr ) } if $end->status == 503 && defined $leave;
    ok( !defined $got->{code} && ( $got->{error} // '' ) =~ /\A(?:access_denied|temporarily_unavailable)\z/,
        "the provider sends $what: no code" ) or diag( $browser->url );
    is( $end->status, 503,     '... and a page offers other providers' ) if $what eq 'a token endpoint with 500';
    is( sessions(),   $before, '... and no session' );
    is( $browser->cookie( $base, 'svc_sid' ), undef, '... and no cookie' );
}
$idp->behave;

# ---- subjects: one per (issuer, sub), named once, never shared (decisions.md "Subject identifiers")

sub signed_in_as {
    my ( $provider, $sub, %more ) = @_;
    my $browser = Authz::Browser->new;
    $provider->user( { sub => $sub, %more } );
    authorize( $browser, idp_hint => $provider == $other ? 'other' : 'corp' );
    my $value = ( $browser->cookie( $base, 'svc_sid' ) // return 'nobody: ' . $browser->url )->{value};
    my $hex   = Digest::SHA::sha256_hex( MIME::Base64::decode_base64url($value) );
    return $stack->sql("SELECT subject FROM browser_session WHERE encode(id_hash, 'hex') = '$hex'");
}
$stack->admin(
    PUT  => '/admin/api/identity-providers/other',
    json => { issuer => $other->issuer, clientId => 'authz', enabled => JSON::PP::true() } );

sub hashed {
    my ( $provider, $sub ) = @_;
    return MIME::Base64::encode_base64url( Digest::SHA::sha256( $provider->issuer . "\0$sub" ) );
}
is( signed_in_as( $other, 'ann' ), 'other|ann', "another provider's ann is another person" );
is( signed_in_as( $idp,   'ann' ), 'ann',       "... than the home issuer's" );
is( signed_in_as( $idp, 'other|bob' ), hashed( $idp, 'other|bob' ),
    "a sub that reads like another provider's person is hashed" );
is( signed_in_as( $other, 'bob' ), 'other|bob',           '... and that person has the name' );
is( signed_in_as( $idp, 'crm' ),   hashed( $idp, 'crm' ), 'a sub that is a client_id is hashed: no token names two' );
is( signed_in_as( $idp, 'crm' ),   hashed( $idp, 'crm' ), '... also at the second sign-in' );
is( signed_in_as( $idp, "zo\x{eb}" ), hashed( $idp, "zo\xc3\xab" ), 'a sub that is not ASCII is hashed' );
is( signed_in_as( $idp, 'ann', email => 'new@example.org' ), 'ann', 'a name never changes' );
is( $stack->sql("SELECT claims ->> 'email' FROM subject WHERE subject = 'ann'"), 'new@example.org',
    '... its claims are those of the last sign-in' );
$stack->sql("INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('carol', 'https://old.example', 'carol')");
is( signed_in_as( $idp, 'carol' ), hashed( $idp, 'carol' ), 'a name that is taken is not shared' );
is( $stack->sql(
        'SELECT count(*) = count(DISTINCT subject) AND count(*) = count(DISTINCT (issuer, upstream_sub)) FROM subject'),
    't',
    'each subject is one person' );

# Eight first sign-ins of one person at the same moment.
$idp->user( { sub => 'dave' } );
$idp->misbehave( token => { delay => 0.3 } );
my @ways =
  map { my $browser = Authz::Browser->new; [ path_of( half_way( $browser, idp_hint => 'corp' ) ), mark_of($browser) ] }
  1 .. 8;
my $rows = $stack->sql(q{SELECT count(*) FROM audit_log WHERE operation = 'authorizeCallback'});
( $told, @answer ) = at_once(@ways);
$idp->behave;
is( scalar( grep { $_->status == 302 && $_->header('Location') =~ $code } @answer ), 8,
    'eight first sign-ins of one person at the same moment, with as many web workers as there are by default: eight codes'
) or diag( map { $_->text } @answer );
cmp_ok( $told, '>', 0, "... $told times the page that asks again" );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE operation = 'authorizeCallback'}), $rows + 8,
    '... and eight audit rows: a request that is sent away leaves none' );
is( $stack->sql("SELECT count(*) || min(subject) FROM subject WHERE upstream_sub = 'dave'"), '1dave',
    '... and one subject' );

# ---- Secure, and a path of the issuer

authorize( my $last = Authz::Browser->new, idp_hint => 'corp' );
$live = $last->cookie( $base, 'svc_sid' )->{value};
$stack->restart_service( settings => { SVC_SESSION_COOKIE_SECURE => 'true' } );
my $secure = $stack->http->get(
    '/authorize?'
      . Authz::Client::form(
        response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid', idp_hint => 'corp' ) );
like(
    join( ' ', $secure->headers('Set-Cookie') ),
    qr{\A__Host-svc_browser=[A-Za-z0-9_-]{43}; Path=/; Max-Age=660; HttpOnly; SameSite=Lax; Secure __Host-svc_flow_},
    'SVC_SESSION_COOKIE_SECURE: Secure, and the prefix __Host- (oauth.md 5 "Upstream callback")' );
is( none_with("svc_sid=$live"),        'login_required', '... and a cookie without the prefix is none' );
is( none_with("__Host-svc_sid=$live"), 'code',           '... with it, it is the session' );

# One worker has one place, and what a sign-in has to ask is all asked in it: discovery, keys, code and userinfo.
my $below =
  Authz::Stack->start( beside => $stack, path => '/auth', web_workers => 1, settings => { Authz::Idp->settings } );
$stack->sql('DELETE FROM fetched_document');
$stack->sql(q{UPDATE identity_provider SET authorization_endpoint = issuer || '/authorize' WHERE idp_id = 'corp'});
my $there = Authz::Browser->new;
( my $address = request_of( idp_hint => 'corp' ) ) =~ s{\A\Q$base\E}{$below->{base}/auth};
$there->follow( $address, stop => qr{\A\Q$back\E} );
like( $there->url, $code, 'an issuer with a path signs in, too, with one worker and nothing fetched before' );
is( $stack->sql(q{SELECT string_agg(kind, ' ' ORDER BY kind) FROM fetched_document}), 'discovery keys',
    '... which was fetched on the way back' );
is( join( ' ', map { $_->{path} } $there->cookies( $below->base ) ), '/auth /auth',
    '... and its cookies go nowhere else' );
$below->restart_service( settings => { SVC_SESSION_COOKIE_SECURE => 'true' } );
( my $path_of = $address ) =~ s{\Ahttp://[^/]+}{};
like(
    join( ' ', $below->http->get($path_of)->headers('Set-Cookie') ),
    qr{\A__Secure-svc_browser=[A-Za-z0-9_-]{43}; Path=/auth; Max-Age=660; HttpOnly; SameSite=Lax; Secure __Secure-svc_flow_},
    '... __Host- cannot be there (RFC 6265bis 4.1.3.2), __Secure- can' );

done_testing;

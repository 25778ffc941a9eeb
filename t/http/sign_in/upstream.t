# Sign-in through an identity provider that misbehaves, as a browser sees it: the client gets an error at its
# redirect_uri, never a code, and the browser no session (oauth.md 5 "Upstream callback"; OpenID Connect Core 3.1.3.7;
# RFC 9700 4.4).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 2 } );
my $base  = $stack->base;
my $idp   = Authz::Idp->start;
my $trap  = Authz::Idp->start;
$idp->register($stack);
my $redirect_uri = 'https://app.example/cb';
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$redirect_uri] );

sub address {
    my (%more) = @_;
    return "$base/authorize?" . Authz::Client::form(
        response_type  => 'code', client_id => 'app', redirect_uri => $redirect_uri, state => 'st', scope => 'openid',
        code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method => 'S256', %more );
}

# The whole way; what came back to the client, and the browser. A person leaves the page of a provider that is away by its link to
# the client.
sub sign_in {
    my ( $browser, %more ) = @_;
    my @hop     = $browser->follow( address(%more) );
    my ($leave) = $hop[-1]->status =~ /\A50[23]\z/ ? $hop[-1]->body =~ m{<li><a href="([^"]+)">Return} : ();
    my $end     = defined $leave ? $leave =~ s/&amp;/&/gr : $browser->url;
    my %back    = Authz::Browser::query($end);
    $back{at}   = ( split /\?/, $end )[0];
    $back{text} = $hop[-1]->text;
    return %back;
}

sub is_error {
    my ( $back, $error, $name ) = @_;
    my $good =
         $back->{at} eq $redirect_uri
      && !exists $back->{code}
      && ( $back->{error} // '' ) =~ /\A(?:$error)\z/
      && ( $back->{state} // '' ) eq 'st'
      && ( $back->{iss}   // '' ) eq $base;
    ok( $good, "$name: $error at the client's redirect_uri, with state and iss, no code" ) or diag( explain($back) );
    return $good;
}

# Return the number of sessions and codes in the database.
sub traces {
    return $stack->sql('SELECT (SELECT count(*) FROM browser_session) || \' \' || (SELECT count(*) FROM token_grant)');
}

my $browser = Authz::Browser->new;
my %back    = sign_in($browser);
ok( defined $back{code} && $back{at} eq $redirect_uri && $back{state} eq 'st' && $back{iss} eq $base,
    'a good sign-in ends with a code' ) or diag( explain( \%back ) );
is( traces(), '1 1', '... a session and a family' );
is( scalar $idp->seen('authorize')->{redirect_uri}, "$base/authorize/callback/corp",
    'the callback is the provider\'s own (RFC 9700 4.4)' );

my $now  = int time;
my @lies = (
    [ 'access_denied',              'another aud',               id_token  => { aud      => 'x' } ],
    [ 'access_denied',              'another issuer',            id_token  => { iss      => 'https://x.example' } ],
    [ 'access_denied',              'another nonce',             id_token  => { nonce    => 'x' } ],
    [ 'access_denied',              'expired',                   id_token  => { exp      => $now - 3600 } ],
    [ 'access_denied',              'alg none',                  id_token  => { alg      => 'none' } ],
    [ 'access_denied',              'alg HS256',                 id_token  => { alg      => 'HS256' } ],
    [ 'access_denied',              'an unknown kid',            id_token  => { kid      => 'unknown' } ],
    [ 'access_denied',              'a stranger\'s signature',   id_token  => { stranger => 1 } ],
    [ 'access_denied',              'no sub',                    id_token  => { sub      => undef } ],
    [ 'access_denied',              'no ID token',               token     => { id_token => undef } ],
    [ 'access_denied',              'userinfo of another',       userinfo  => { sub      => 'eve' } ],
    [ 'access_denied',              'a made-up code',            authorize => { code     => 'made-up' } ],
    [ 'temporarily_unavailable',    'a server error',            token     => { status   => 500 } ],
    [ 'temporarily_unavailable',    'slow',                      token     => { delay    => 4 } ],
    [ 'temporarily_unavailable',    'huge',                      token     => { huge     => 70_000 } ],
    [ 'temporarily_unavailable',    'no answer',                 token     => { close    => 1 } ],
    [ 'temporarily_unavailable',    'no JSON',                   token     => { body     => '<html>' } ],
    [ 'temporarily_unavailable',    'redirecting',               token     => { redirect => "$trap->{issuer}/token" } ],
    [ 'temporarily_unavailable',    'userinfo away',             userinfo  => { status   => 503 } ],
    [ 'access_denied|server_error', 'iss of another (RFC 9207)', authorize => { iss      => 'https://x.example' } ],
    [ 'access_denied|server_error', 'no iss',                    authorize => { iss      => undef } ],
    [ 'access_denied',              'the user refused',          authorize => { error    => 'access_denied' } ],
    [ 'temporarily_unavailable',    'an error of the provider',  authorize => { error    => 'server_error' } ],
    [ 'server_error',               'an error with words of its own', authorize => { error => 'no"such<error>' } ],
    [ 'server_error',               'neither code nor error',         authorize => { code  => undef } ],
);
for my $lie (@lies) {
    my ( $error, $name, %how ) = @$lie;
    my $fresh = Authz::Browser->new;
    $idp->misbehave(%how);
    my %got = sign_in($fresh);
    is_error( \%got, $error, $name );
    is( join( ' ', grep { $_->{name} =~ /session/i } $fresh->cookies($base) ), '',
        '... and the browser got no session' );
}
$idp->behave;
is( traces(),                            '1 1', 'and nothing of them is left in the database' );
is( scalar( () = $trap->seen('token') ), 0,     'no redirect was followed' );

# ---- an answer that is not of this sign-in

my $victim = Authz::Browser->new;
my @hop    = $victim->follow( address(), stop => qr{/authorize/callback/} );
my $answer = $victim->url;
is( Authz::Browser->new->get($answer)->status, 400,
    'an answer in another browser is refused: it knows no such sign-in (login CSRF)' );
my ($cross) = map {s{callback/corp}{callback/other}r} $answer;
$trap->register( $stack, idpId => 'other' );
is( $victim->get($cross)->status, 400, 'an answer at another provider\'s callback is refused (mix-up, RFC 9700 4.4)' );
@hop  = $victim->follow($answer);
%back = Authz::Browser::query( $victim->url );
ok( defined $back{code}, '... and neither used the sign-in up' ) or diag( $hop[-1]->text );
is( $victim->get($answer)->status, 303, 'an answer is taken once; then the request begins again (world.md F2)' );
is( $victim->get($answer)->status, 400, '... once' );
is( $victim->get( $answer =~ s/state=[^&]*/state=x/r )->status, 400, 'a made-up state is refused' );
is( $victim->get( $answer =~ s/state=[^&]*&?//r )->status,      400, 'no state is refused' );

# ---- a provider disabled, or gone, in mid-flow

for my $how ( [ PUT => 'disabled' ], [ DELETE => 'deleted' ] ) {
    my ( $method, $word ) = @$how;
    my $late = Authz::Browser->new;
    $late->follow( address( idp_hint => 'corp', prompt => 'login' ), stop => qr{/authorize/callback/} );
    my $asked = () = $idp->seen('token');
    $stack->admin(
        $method => '/admin/api/identity-providers/corp',
        $method eq 'PUT' ? ( json => { issuer => $idp->{issuer}, enabled => JSON::PP::false() } ) : () );
    my @late = $late->follow( $late->url );
    my %got  = ( Authz::Browser::query( $late->url ), at => ( split /\?/, $late->url )[0] );
    if ( $method eq 'PUT' ) { is_error( \%got, 'access_denied', "a provider that was $word in mid-flow" ) }
    else {
        is( $late[-1]->status, 400, "a provider that was $word in mid-flow: its sign-ins went with it, an error page" );
    }
    is( scalar( () = $idp->seen('token') ), $asked, '... and is not asked' );
    is( $stack->sql(
            q{SELECT count(*) FROM browser_session s LEFT JOIN identity_provider p ON p.id = s.idp WHERE p.enabled IS NOT TRUE}
        ),
        0,
        '... and its sessions are over' );
    $stack->admin(
        PUT  => '/admin/api/identity-providers/corp',
        json => { issuer => $idp->{issuer}, clientId => 'authz', enabled => JSON::PP::true() } );
}

done_testing;

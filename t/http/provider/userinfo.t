# What stock providers send at a sign-in, and what a person's claims are then (world.md U1, U2, U8).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 2 } );
my $base  = $stack->base;
my $json  = JSON::PP->new->utf8->canonical;
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $redirect_uri = 'https://app.example/cb';
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$redirect_uri] );

# Sign in with a new browser. Return what came back to the client (nothing if the browser is not there), the last page and its
# status.
sub sign_in {
    my (%more)  = @_;
    my $browser = Authz::Browser->new;
    my %form    = (
        response_type  => 'code', client_id => 'app', redirect_uri => $redirect_uri, state => 'st', scope => 'openid',
        code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method => 'S256', idp_hint => 'corp', %more );
    my @hop  = $browser->follow( "$base/authorize?" . Authz::Client::form(%form), stop => qr{\A\Q$redirect_uri\E} );
    my %back = $browser->url =~ /\A\Q$redirect_uri\E/ ? Authz::Browser::query( $browser->url ) : ();
    return ( %back, text => $hop[-1]->body, status => $hop[-1]->status );
}

sub claims_of {
    my ($sub) = @_;
    return $json->decode( $stack->sql("SELECT claims FROM subject WHERE upstream_sub = '$sub'") || '{}' );
}

sub goes_on {
    my ( $name, %more ) = @_;
    my %got = sign_in(%more);
    return ok( defined $got{code}, $name ) || diag( explain( \%got ) );
}

# ---- members that are null or empty (U8)

my @null = (
    [ null_endpoint  => discovery => { null                 => ['end_session_endpoint'] } ],
    [ empty_endpoint => discovery => { end_session_endpoint => '', userinfo_endpoint => '' } ],
    [ null_methods   => discovery => { null                 => ['token_endpoint_auth_methods_supported'] } ],
    [   null_in_key => jwks => {
            keys => [
                map {
                    { %$_, alg => undef, use => '' }
                } @{ $idp->published } ] } ],
    [ empty_refresh_token => token => { refresh_token => '', scope      => '', null => ['expires_in'] } ],
    [ empty_expires_in    => token => { refresh_token => '', expires_in => '' } ],
    [ form => token => { type => 'application/x-www-form-urlencoded; charset=utf-8', refresh_token => '' } ],
);
my $number = 0;
for my $row (@null) {
    my ( $name, $endpoint, $how ) = @$row;
    my $fresh = Authz::Idp->start;
    my $id    = 'null-' . ++$number;
    $fresh->misbehave( $endpoint => $how );
    $fresh->register( $stack, idpId => $id );
    goes_on( "$name: null and \"\" are absent (U8), and a form is read by its type (M7)", idp_hint => $id );
}
$idp->user( { sub => 'nil', userinfo => { nickname => '', department => 'x' } } );
$idp->misbehave( userinfo => { null => ['locale'] } );
goes_on('null and "" of userinfo are absent (U8)');
is_deeply( claims_of('nil'), { department => 'x' }, '... and are no claims' );
$idp->misbehave( token => { refresh_token => 7 } );
is( { sign_in() }->{code}, undef, 'a refresh token that is a number stays malformed' );
my $number_there = Authz::Idp->start;
$number_there->misbehave( discovery => { end_session_endpoint => 7 } );
$number_there->register( $stack, idpId => 'seven' );
is( { sign_in( idp_hint => 'seven' ) }->{code}, undef, 'an endpoint that is a number stays a bad document' );

# ---- an access token without token_type (U1)

$idp->user( { sub => 'typed', userinfo => { department => 'x' } } );
$stack->sql('DELETE FROM provider_userinfo');
$idp->misbehave( token => { token_type => 'DPoP' } );
my $before = () = $idp->seen('userinfo');
goes_on('a token answer of another token_type');
is( scalar( () = $idp->seen('userinfo') ), $before, '... whose token is not sent (RFC 6749 7.1)' );
for my $how ( [ undef, 'no_token_type' ], [ '', 'an empty token_type' ] ) {
    $stack->sql('DELETE FROM subject');
    $idp->misbehave( token => { token_type => $how->[0] } );
    goes_on("$how->[1]: the access token counts as Bearer (U1)");
    is( claims_of('typed')->{department}, 'x', '... and userinfo is joined' );
}

# ---- answers of userinfo (U1)

my %own = ( name => 'Corp', issuer => $idp->issuer, clientId => 'authz', clientSecret => $idp->{client_secret} );

sub mode {
    my ($mode) = @_;
    my $answer = $stack->admin( PUT => '/admin/api/identity-providers/corp', json => { %own, userinfo => $mode } );
    return $answer->json->{userinfo};
}

# Nothing of userinfo was joined before.
sub first_day {
    $stack->sql('DELETE FROM subject');
    $stack->sql('DELETE FROM provider_userinfo');
    return $idp->user( { sub => 'dan', name => 'Dan', userinfo => { department => 'x' } } );
}

sub signed {
    my ( $claims, %how ) = @_;
    return { type => 'application/jwt', body => $idp->id_token( { department => 'signed', %$claims }, %how ) };
}
my %good = ( sub => 'dan', iss => $idp->issuer, aud => 'authz' );

# [name, what userinfo sends, what becomes of it: joined, alone, heals, refused; the code where userinfo is required]
my @answers = (
    [ 'a JSON object'                    => {},                                                              'joined' ],
    [ 'jwt_good'                         => signed( \%good ),                                                'joined' ],
    [ 'jwt_good, without iss and aud'    => signed( { sub => 'dan' } ),                                      'joined' ],
    [ 'jwt_good, aud is a list'          => signed( { %good, aud => [ 'x', 'authz' ] } ),                    'joined' ],
    [ 'jwt_good, ES256, as another type' => { %{ signed( \%good, alg => 'ES256' ) }, type => 'text/plain' }, 'joined' ],
    [ 'jwt_other_key'                    => signed( \%good, stranger => 1 ),                 'refused' ],
    [ 'jwt_tampered'                     => signed( \%good, tamper => 1 ),                   'refused' ],
    [ 'jwt_alg_none'                     => signed( \%good, alg => 'none' ),                 'refused' ],
    [ 'jwt_hs256'                        => signed( \%good, alg => 'HS256' ),                'refused' ],
    [ 'jwt_other_aud'                    => signed( { %good, aud => 'x' } ),                 'refused' ],
    [ 'jwt_other_iss'                    => signed( { %good, iss => 'https://x.example' } ), 'refused' ],
    [ 'jwt_expired'                      => signed( { %good, exp => time - 3600 } ),         'refused' ],
    [ 'jwt_other_sub'                    => signed( { %good, sub => 'eve' } ),               'refused' ],
    [ 'other_sub'                        => { sub => 'eve' },                                'refused' ],
    [ 'a sub of no text'                 => { sub => ['dan'] },                              'refused' ],
    [ 'jwe'       => { type => 'application/jwt', body => 'a.b.c.d.e' }, 'alone', 'encrypted' ],
    [ 'no sub'    => { sub  => undef },                                  'alone', 'userinfo_unusable' ],
    [ 'ok: false' => { ok   => JSON::PP::false() },                      'alone', 'userinfo_unusable' ],
    [ 'no object' => { body => '<html>' },                               'alone', 'userinfo_unusable' ],
    [ 'an array'  => { body => '[]' },                                   'alone', 'userinfo_unusable' ],
    [   'a signed answer over 16 KiB' => { type => 'application/jwt', body => 'a.' . 'b' x 20_000 . '.c' }, 'alone',
        'userinfo_unusable' ],
    [ 'over 64 KiB' => { huge     => 70_000 },                 'alone', 'userinfo_unusable' ],
    [ 'a redirect'  => { redirect => 'http://127.0.0.1:9/x' }, 'alone', 'userinfo_unusable' ],
    (   map { [ "status $_" => { status => $_, body => '{}' }, 'alone', 'userinfo_refused' ] } 401, 403, 404, 405, 406,
        410 ),
    [ '503_heals'  => { status => 503 }, 'heals' ],
    [ 'status 429' => { status => 429 }, 'heals' ],
    [ 'no answer'  => { close  => 1 },   'heals' ],
);

sub came_of {
    my %got = sign_in();
    return $got{status} == 503 ? 'heals' : $got{error} // 'no code' if !defined $got{code};
    my $department = claims_of('dan')->{department};
    return defined $department ? 'joined' : 'alone';
}
is( mode('auto'), 'auto', 'userinfo is auto' );
for my $row (@answers) {
    my ( $name, $how, $becomes ) = @$row;
    first_day();
    $idp->misbehave( userinfo => $how );
    is( came_of(), $becomes eq 'refused' ? 'access_denied' : $becomes, "auto: $name: $becomes (U1)" );
    ok( !exists claims_of('dan')->{'urn:svc:claims_incomplete'},
        '... first_day_401_is_whole: no claim is missing (U2)' ) if $becomes eq 'alone';
}

# Keycloak makes a key when it signs with it for the first time: the keys that the ID token was judged by are too old by then.
my $lazy = Authz::Idp->start;
$lazy->misbehave(
    jwks     => { lazy => 1 },
    userinfo => {
        type => 'application/jwt', body => $lazy->id_token( { sub => 'lia', department => 'signed' }, alg => 'ES256' ) }
);
$lazy->register( $stack, idpId => 'lazy' );
$lazy->user( { sub => 'lia' } );
goes_on( 'jwt_good, by a key that is made when userinfo is asked', idp_hint => 'lazy' );
is( claims_of('lia')->{department}, 'signed', '... is joined (U1)' );

is( mode('required'), 'required', 'userinfo is required' );
for my $row (@answers) {
    my ( $name, $how, $becomes, $code ) = @$row;
    first_day();
    $idp->misbehave( userinfo => $how );
    my %got = sign_in();
    if ( $becomes eq 'alone' ) {
        is( $got{status}, 502, "required_says_why: $name (U1)" );
        like( $got{text}, qr{<code>$code</code>}, "... $code" );
    }
    else { is( defined $got{code}, $becomes eq 'joined', "required: $name: $becomes (U1)" ) }
}
first_day();
$idp->misbehave( token => { token_type => 'DPoP' } );
is( sign_in() && { sign_in() }->{status}, 502,   'required: no access token of type Bearer is no sign-in' );
is( mode('off'),                          'off', 'userinfo is off' );
first_day();
$idp->behave;
my $count = () = $idp->seen('userinfo');
is( came_of(),                             'alone', 'off: the ID token alone' );
is( scalar( () = $idp->seen('userinfo') ), $count,  '... and userinfo is not asked' );
is( $stack->admin( PUT => '/admin/api/identity-providers/corp', json => { %own, userinfo => 'never' } )->status,
    400, 'another word is refused' );

# ---- a fallback must not lose claims (U2)

sub marks { return claims_of('dan')->{'urn:svc:claims_incomplete'} }
mode('auto');
first_day();
$stack->sql('DELETE FROM provider_fault');
is( came_of(), 'joined', 'userinfo is joined' );
like(
    $stack->admin( GET => '/admin/api/identity-providers/corp' )->json->{userinfoAt}, qr/\A20\d\d-/,
    '... which the provider tells' );
for my $how ( { status => 401, body => '{}' }, { huge => 70_000 }, { body => '<html>' } ) {
    $idp->misbehave( userinfo => $how );
    my %got = sign_in();
    is( $got{error}, 'access_denied',
        'later_401_marks_star, person_revokes_in_between: the shipped policy denies (U2, U7)'
    ) or diag( explain( \%got ) );
    is_deeply( marks(), ['*'], '... as any claim may be missing' );
}
my @faults = map { $_->{code} } @{ $stack->admin( GET => '/admin/api/identity-providers/corp' )->json->{faults} };
is_deeply( \@faults, [qw(userinfo_refused userinfo_unusable)], '... and the operator learns of it' );
$idp->misbehave( token => { token_type => 'DPoP' } );
is( { sign_in() }->{error}, 'access_denied', 'no access token of type Bearer is a fallback as well' );
$idp->behave;
is( came_of(), 'joined', 'a good answer is joined again' );
is( marks(),   undef,    '... and nothing is missing' );
my $gone = Authz::Idp->start;
$gone->misbehave( discovery => { userinfo_endpoint => '' } );
$gone->register( $stack, idpId => 'gone' );
goes_on( 'a provider that never had a userinfo endpoint: the ID token is whole', idp_hint => 'gone' );
$stack->sql(q{INSERT INTO provider_userinfo SELECT id, now() FROM identity_provider WHERE idp_id = 'gone'});
is( { sign_in( idp_hint => 'gone' ) }->{error},
    'access_denied', 'endpoint_gone: one whose document names the endpoint no longer marks its claims (U2)' );

# A row with endpoints of its own but that of userinfo, while discovery fails.
my $silent = Authz::Idp->start;
$silent->misbehave( discovery => { status => 503 } );
$silent->register(
    $stack,
    idpId                 => 'silent',                       userinfo      => 'auto',
    authorizationEndpoint => $silent->issuer . '/authorize', tokenEndpoint => $silent->issuer . '/token',
    jwksUri               => $silent->issuer . '/jwks' );
goes_on( 'discovery_fails: with endpoints of the row the ID token is whole on the first day', idp_hint => 'silent' );
$stack->sql(q{INSERT INTO provider_userinfo SELECT id, now() FROM identity_provider WHERE idp_id = 'silent'});
my %silent = sign_in( idp_hint => 'silent' );
is( $silent{status}, 503, '... heals where userinfo was joined before: 503, and no incomplete claims (U2, W1)' );
like( $silent{text}, qr/Try again/, '... with a link to try again' );
mode('off');
mode('auto');
$idp->misbehave( userinfo => { status => 401, body => '{}' } );
is( came_of(), 'alone', 'off begins anew: the ID token is whole' );
$idp->behave;
is( came_of(), 'joined', 'joined again' );
$stack->admin( PUT => '/admin/api/identity-providers/corp', json => { %own, scopes => ['openid'] } );
is( $stack->sql(
        'SELECT count(*) FROM provider_userinfo p JOIN identity_provider i ON i.id = p.idp WHERE i.idp_id = \'corp\''),
    0,
    'so do other scopes' );

done_testing;

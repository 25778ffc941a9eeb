# Keycloak as the identity provider of people, as it is: its login page, groups, signed userinfo, its two host names, its faults, and
# its sign-out (world.md W1 to W4, U1 to U9, F2, F3).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser  ();
use Authz::Client   ();
use Authz::Grant    ();
use Authz::Idp      ();
use Authz::Keycloak ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

my $keycloak = Authz::Keycloak->start;
my $stack    = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base     = $stack->base;
my $back     = 'https://app.example/cb';
my $bye      = 'https://app.example/bye';
diag( "Keycloak " . Authz::Keycloak::version() );

# A realm whose client is our provider of the realm's name. Its groups are in ID tokens and in userinfo, or in the latter alone.
sub realm {
    my ( $name, $groups_at, %attribute ) = @_;
    $keycloak->realm(
        $name,
        groups => [ { name => 'staff' }, { name => 'contractors' } ],
        users  => [
            Authz::Keycloak::person( 'ann',  groups => ['/staff'] ),
            Authz::Keycloak::person( 'carl', groups => [ '/staff', '/contractors' ], emailVerified => \0 ),
            Authz::Keycloak::person('nobody') ],
        clients => [
            {   clientId                => 'authz', secret => "secret of $name", standardFlowEnabled => \1,
                clientAuthenticatorType => $attribute{'use.jwks.url'} ? 'client-jwt' : 'client-secret',
                redirectUris            => ["$base/authorize/callback/$name"],
                attributes              => { 'post.logout.redirect.uris' => "$base/logout/return", %attribute },
                protocolMappers         => [
                    {   name           => 'groups', protocol => 'openid-connect',
                        protocolMapper => 'oidc-group-membership-mapper',
                        config         => {
                            'claim.name'     => 'groups', 'full.path' => 'false', 'userinfo.token.claim' => 'true',
                            'id.token.claim' => $groups_at eq 'both' ? 'true' : 'false' } } ] } ] );
    return;
}

# Make it our provider. Return the answer.
sub provider {
    my ( $name, %more ) = @_;
    return $stack->admin(
        POST => '/admin/api/identity-providers',
        json => {
            idpId        => $name, name => "Keycloak $name", issuer => $keycloak->issuer($name), clientId => 'authz',
            clientSecret => "secret of $name", scopes => [qw(openid profile email)], enabled => JSON::PP::true(), %more
        } );
}

my $SIGNED = 'user.info.response.signature.alg';
my @realm  = (
    [ 'plain',  'both' ],
    [ 'signed', 'both',     [ $SIGNED => 'RS256' ], userinfo => 'required' ],
    [ 'thin',   'userinfo', [ $SIGNED => 'ES256' ], userinfo => 'required' ] );
for my $row (@realm) {
    my ( $name, $groups_at, $attribute, %more ) = @$row;
    realm( $name, $groups_at, @{ $attribute // [] } );
    my $made = provider( $name, %more );
    is( $made->status, 201, "a realm of Keycloak is our provider $name" ) or diag( $made->text );
}
my @app = $stack->make_client(
    'app', { grants => ['authorization_code'], scopes => [qw(openid profile email)] },
    redirectUris => [$back], postLogoutRedirectUris => [$bye] );

# Begin a sign-in. Return the last page.
sub begin {
    my ( $browser, $name, %more ) = @_;
    return (
        $browser->follow(
            "$base/authorize?" . Authz::Client::form(
                response_type  => 'code', client_id => 'app', redirect_uri => $back, state => 'st', scope => 'openid',
                code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
                idp_hint       => $name,                                            %more ),
            stop => qr{\A\Q$back\E} ) )[-1];
}

# What came back to the application, and the last page.
sub ended {
    my ( $browser, $page ) = @_;
    return (
        page => $page, browser => $browser,
        $browser->url =~ /\A\Q$back\E/ ? Authz::Browser::query( $browser->url ) : () );
}

# Sign in with a new browser.
sub sign_in {
    my ( $realm, $name ) = @_;
    my $browser = Authz::Keycloak::browser();
    my $page    = begin( $browser, $realm );
    return ended( $browser, ( $keycloak->login( $browser, $page, $name, stop => qr{\A\Q$back\E} ) )[-1] );
}

sub claims_of {
    my ($name) = @_;
    my $text = $stack->sql("SELECT claims FROM subject WHERE claims->>'preferred_username' = '$name'");
    return JSON::PP->new->utf8->decode( $text || '{}' );
}

# ---- sign-in, groups, and userinfo of each kind

for my $row (@realm) {
    my $realm = $row->[0];
    $stack->sql('DELETE FROM subject');
    my %got = sign_in( $realm, 'carl' );
    ok( defined $got{code}, "$realm: a person signs in at Keycloak's own page" ) or diag( $got{page}->text );
    my $claims = claims_of('carl');
    is_deeply(
        [ sort @{ $claims->{groups} // [] } ], [qw(contractors staff)],
        '... with all groups, wherever they come from (U1)' );
    is( $claims->{email}, 'carl@corp.example', '... and the address' );
    ok( !$claims->{email_verified}, '... which Keycloak has not proved (U3)' );
    is( $claims->{'urn:svc:claims_incomplete'}, undef, '... and nothing is incomplete (U5)' );
}
is( $stack->sql(
        q{SELECT string_agg(p.idp_id, ' ' ORDER BY p.idp_id) FROM provider_userinfo u, identity_provider p WHERE p.id = u.idp}
    ),
    'plain signed thin',
    'each userinfo was joined: JSON, signed by RS256, signed by ES256 (U1)' );
my %nobody = sign_in( 'plain', 'nobody' );
ok( defined $nobody{code}, 'a person without groups signs in' );
is( claims_of('nobody')->{groups}, undef, '... and Keycloak sends no claim groups then' );

# ---- a deny by group

my $rule = Authz::Process::directory() . '/issue.rego';
Authz::Web::write_file( $rule, <<'END' );
package custom.issue

deny contains "no_contractors" if "contractors" in input.subject.claims.groups
END
my ( $status, $text ) = $stack->authzctl( qw(policy rule set custom/issue.rego), $rule );
is( $status, 0, 'a rule that denies a group' ) or diag($text);
$stack->await_plan;
my %ann = sign_in( 'thin', 'ann' );
ok( defined $ann{code}, '... lets others in' ) or diag( $ann{page}->text );
my %carl = sign_in( 'thin', 'carl' );
is( $carl{error}, 'access_denied', '... and denies the group, which signed userinfo alone names' )
  or diag( $carl{page}->text );

# ---- faults that operators make, by Keycloak's own answers

sub fault_of {
    my ( $realm, $name ) = @_;
    my %got = sign_in( $realm, 'ann' );
    is( $got{page}->status, 502, "$name: it will not heal by itself (W1)" ) or diag( $got{page}->text );
    return $got{page}->body =~ m{<code>(\w+)</code>} ? $1 : '';
}

sub change {
    my ( $realm, %more ) = @_;
    my $answer = $stack->admin(
        PUT  => "/admin/api/identity-providers/$realm",
        json => {
            name         => "Keycloak $realm", issuer => $keycloak->issuer($realm), clientId => 'authz',
            clientSecret => "secret of $realm",
            scopes       => [qw(openid profile email)], %more } );
    is( $answer->status, 200, 'the provider is changed' ) or diag( $answer->text );
}
change( 'plain', clientSecret => 'another secret' );
is( fault_of( 'plain', 'a secret that Keycloak does not know' ), 'client_refused', '... with its code (W2)' );
change('plain');
change( 'plain', scopes => [qw(openid orders)] );
my $browser = Authz::Keycloak::browser();
my $page    = begin( $browser, 'plain' );
is( $page->status, 502, 'a scope that Keycloak does not know: it will not heal by itself (W1)' ) or diag( $page->text );
like( $page->body, qr{<code>scope_refused</code>}, '... with its code (W2)' );
change('plain');

# ---- Keycloak says its outer host name to all, and answers at an inner one too

my $inner = provider( 'inner', issuer => $keycloak->inner('plain') );
is( $inner->status, 201, 'a provider by the inner host name' );
like(
    "@{ $inner->json->{warnings} // [] }", qr/names another issuer/,
    '... is warned of: the document names the outer one' );
realm( 'two', 'both' );
my $two = provider( 'two', discoveryUrl => $keycloak->inner('two') . '/.well-known/openid-configuration' );
is( $two->status, 201, 'a provider by the outer name, whose document is fetched by the inner one' )
  or diag( $two->text );
is( $two->json->{warnings}, undef, '... needs no warning (U8)' );
my %two = sign_in( 'two', 'ann' );
ok( defined $two{code}, '... and a person signs in' ) or diag( $two{page}->text );

# ---- our key in place of a secret

realm( 'keyed', 'both', 'use.jwks.url' => 'true', 'jwks.url' => "$base/.well-known/jwks.json" );
my $keyed = provider( 'keyed', clientSecret => undef, tokenAuthMethod => 'private_key_jwt' );
is( $keyed->status, 201, 'a provider at which we sign (U9)' ) or diag( $keyed->text );
my %keyed = sign_in( 'keyed', 'ann' );
ok( defined $keyed{code}, '... and Keycloak takes our key (RFC 7523)' ) or diag( $keyed{page}->text );

# ---- the sign-out ends the session there too

$stack->authzctl(qw(policy rule delete --yes custom/issue.rego));
$stack->await_plan;
my %signed = sign_in( 'plain', 'ann' );
$browser = $signed{browser};
my $token = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic(@app) ],
    form    => [
        grant_type    => 'authorization_code', code => $signed{code}, redirect_uri => $back,
        code_verifier => $Authz::Grant::VERIFIER ] );

sub stays_there {
    my $there = Authz::Keycloak::browser();
    $there->{jar}{"127.0.0.1:$keycloak->{port}"} = $browser->{jar}{"127.0.0.1:$keycloak->{port}"};
    begin( $there, 'plain' );
    return $there->url =~ /\A\Q$back\E.*code=/;
}
ok( stays_there(), 'Keycloak knows a browser that signed in' );
$browser->follow(
    "$base/logout?"
      . Authz::Client::form( id_token_hint => $token->member('id_token'), post_logout_redirect_uri => $bye ),
    stop => qr{\A\Q$bye\E} );
like( $browser->url, qr{\A\Q$bye\E}, 'a sign-out goes through Keycloak and comes back' ) or diag( $token->text );
ok( !stays_there(), '... and its session is over (OpenID Connect RP-Initiated Logout 2)' );

# ---- a login page that another tab has left behind. Keycloak forgets it a minute after the sign-in; a browser without its cookies is as late.

sub left_behind {
    my ( $name, $forgets, $state ) = @_;
    my $late   = Authz::Keycloak::browser();
    my $first  = begin( $late, 'plain' );
    my $second = begin( $late, 'plain' );
    $keycloak->login( $late, $second, 'ann', stop => qr{\A\Q$back\E} );
    like( $late->url, qr/\A\Q$back\E.*code=/, "$name: the second of two tabs signs in" );
    my $jar = $late->{jar}{"127.0.0.1:$keycloak->{port}"};
    delete @$jar{ grep {/\A(?:$forgets) /} keys %$jar };
    my @hop = $keycloak->login( $late, $first, 'ann', stop => qr{\A\Q$back\E} );
    ok( ( grep { $_->{url} =~ m{/authorize/callback/plain\?} && $_->{url} =~ $state } @hop ),
        '... Keycloak answers so' ) or diag( map {"$_->{url}\n"} @hop );
    like( $late->url, qr/\A\Q$back\E.*code=/, '... and the first gets its code, without a password' )
      or diag( $hop[-1]->text );
    return;
}
left_behind( 'expired_once (F3)', 'AUTH_SESSION_ID|KC_RESTART',   qr/error_description=authentication_expired/ );
left_behind( 'the answer of another tab (F2)', 'AUTH_SESSION_ID', qr/[?&]code=/ );

done_testing;

# npm `oidc-provider` as the identity provider of people, bent as stock providers are (world.md U1 to U5, U7).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Interop ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $back  = 'https://app.example/cb';
my $json  = JSON::PP->new->utf8->canonical;
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => [qw(openid profile email)] },
    redirectUris => [$back] );

# Start a provider that is bent so, and make it ours. Return its port.
sub provider {
    my ( $bend, %more ) = @_;
    my $port = Authz::Web::free_port();
    Authz::Interop::serve(
        'bent_provider',
        PORT         => $port, CLIENT_ID => 'authz', CLIENT_SECRET => 'a secret of ours at the provider', BEND => $bend,
        REDIRECT_URI => "$base/authorize/callback/$bend" );
    my $made = $stack->admin(
        POST => '/admin/api/identity-providers',
        json => {
            idpId        => $bend, name => $bend, issuer => "http://127.0.0.1:$port", clientId => 'authz',
            clientSecret => 'a secret of ours at the provider', scopes => [qw(openid profile email)],
            enabled      => JSON::PP::true(),                   %more } );
    is( $made->status, 201, "oidc-provider, bent: $bend" ) or diag( $made->text );
    return $port;
}

# Sign in with a new browser. Return what came back to the application, and the last page.
sub sign_in {
    my ($idp)   = @_;
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $back, state => 'st', scope => 'openid',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
            idp_hint       => $idp ),
        stop => qr{\A\Q$back\E} );
    return ( page => $hop[-1], $browser->url =~ /\A\Q$back\E/ ? Authz::Browser::query( $browser->url ) : () );
}

sub signs_in {
    my ( $idp, $name ) = @_;
    $stack->sql('DELETE FROM subject');
    my %got = sign_in($idp);
    ok( defined $got{code}, $name ) or diag( $got{page}->text );
    return $json->decode( $stack->sql('SELECT claims FROM subject') || '{}' );
}

sub bend {
    my ( $port, %how ) = @_;
    return Authz::Client->new( port => $port, foreign => 1 )->post( '/bend', json => \%how );
}

# ---- texts for a boolean and for a list

provider('texts');
my $claims = signs_in( 'texts', 'texts: a person signs in' );
ok( JSON::PP::is_bool( $claims->{email_verified} ) && $claims->{email_verified},
    '... email_verified "True" is true (U4)' );
is_deeply( $claims->{groups}, ['staff'], '... and one group is a list of one (U4)' );

# ---- thin ID tokens and userinfo as a signed token

provider( 'jwt', userinfo => 'required' );
$claims = signs_in( 'jwt', 'thin ID tokens, userinfo is a signed token: a person signs in (U1)' );
is_deeply( $claims->{groups}, [qw(staff contractors)], '... with the groups of userinfo' );
is( $claims->{'urn:svc:claims_incomplete'}, undef, '... and nothing is incomplete (U5)' );

# ---- userinfo as an encrypted token

provider( 'jwe', userinfo => 'required' );
my %got = sign_in('jwe');
is( $got{page}->status, 502, 'userinfo is encrypted, and required: 502 (U1)' );
like( $got{page}->body, qr{<code>encrypted</code>}, '... and the page says why (W2)' );

# ---- fat ID tokens, and a userinfo that answers 401

my $port = provider('fat');
bend( $port, userinfo => 401 );
$claims = signs_in( 'fat', 'userinfo answers 401 from the first day: the ID token is whole (U2)' );
is_deeply( $claims->{groups}, [qw(staff contractors)], '... with its groups' );
is( $claims->{'urn:svc:claims_incomplete'}, undef, '... and nothing is incomplete' );
bend($port);
signs_in( 'fat', 'userinfo answers' );
bend( $port, userinfo => 401 );
%got = sign_in('fat');
is( $got{error}, 'access_denied', '... and 401 later: the shipped policy denies, as any claim may be missing (U2, U7)' )
  or diag( $got{page}->text );
bend( $port, userinfo => 503 );
%got = sign_in('fat');
is( $got{page}->status, 503, 'userinfo answers 503: it heals (W1)' );
done_testing;

# A person links an account at npm `oidc-provider`: found by RFC 8414, registered by RFC 7591, PKCE and iss checked by them and us,
# refresh tokens that rotate, revocation (gateway-admin.md 3.5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Interop ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();
my $stack =
  Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp' );
my $port   = Authz::Web::free_port();
my $issuer = "http://127.0.0.1:$port";
my $server = Authz::Interop::serve( 'upstream', PORT => $port, SUB => 'ann-upstream' );

my $made = $stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name         => 'notes', displayName => 'Notes', upstreamType => 'REST', upstreamUrl => "$issuer/api",
        defaultScope => 'notes:read',
        upstreamAuth => {
            type => 'oauth_link', discovery => 'issuer', issuer => $issuer, registration => 'dcr',
            scopes => [ 'openid', 'offline_access', 'notes.read' ], authorizeParams => { prompt => 'consent' } } } );
is( $made->status, 201, 'a managed resource whose accounts are at oidc-provider' );

sub credential {
    my ( $status, $text ) = Authz::Process->run(
        name    => 'linker', env => $stack->settings,
        command => [ Authz::Path::program('t/gateway/linker'), 'ann', 'notes' ] );
    die "linker: $status $text" if $status != 0;
    return JSON::PP::decode_json( ( grep {/\A\{/} split /\n/, $text )[-1] );
}

# Return whose token it is, as the server says.
sub whose {
    my ($value) = @_;
    my $answer = Authz::Client->new( port => $port )->get( '/me', headers => [ Authorization => $value ] );
    return $answer->status == 200 ? $answer->member('sub') : $answer->status;
}

my $browser = Authz::Browser->new;
$browser->follow( $stack->base . '/gateway/connect' );
my $needed = credential();
is( $needed->{error}, 'link_required', 'the person must link an account' );
my @hop = $browser->submit( $browser->get( $needed->{url} ), button => [ decision => 'connect' ] );
like( $hop[-1]->body, qr/<h1>Connected</, 'the person links an account at oidc-provider' )
  or diag( join "\n", $server->log_text, $hop[-1]->body );
is( $stack->sql(q{SELECT auth_method || ' ' || (secret_sealed IS NOT NULL) FROM gateway_registration}),
    'client_secret_basic true', 'we registered ourselves there' );
my %other = (
    SVC_CREDENTIAL_KEY          => 'another-credential-key',
    SVC_CREDENTIAL_KEY_PREVIOUS => $stack->settings->{SVC_CREDENTIAL_KEY} );
for my $key (
    \%other,
    {   SVC_CREDENTIAL_KEY          => $other{SVC_CREDENTIAL_KEY_PREVIOUS},
        SVC_CREDENTIAL_KEY_PREVIOUS => $other{SVC_CREDENTIAL_KEY} } )
{
    local @{ $stack->{settings} }{ keys %$key } = values %$key;
    like(
        ( $stack->authzctl(qw(secrets reseal)) )[1], qr/^registrations +1 +0 +0$/m,
        'secrets reseal: the secret of our registration, to another key and back' );
}
my $first = credential();
is( $first->{error},          '',             'there is a credential' );
is( whose( $first->{value} ), 'ann-upstream', '... a token of the account' );

for my $turn ( 1 .. 2 ) {
    $stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
    my $next = credential();
    isnt( $next->{value}, $first->{value}, "refresh $turn gives another token" );
    is( whose( $next->{value} ), 'ann-upstream', '... of the account' );
    $first = $next;
}

my $page = $browser->get( $stack->base . '/gateway/connect' );
my ($form) = Authz::Browser::forms($page);
is( $browser->post( $stack->base . '/gateway/connect/notes/disconnect', form => $form->{fields} )->status,
    303, 'the person disconnects it' );
is( whose( $first->{value} ), 401, '... and the token is revoked at oidc-provider' );
done_testing;

# mod_auth_openidc, the certified relying party of Apache httpd, against the whole service: a page behind it is reached through
# a sign-in and names the user, and logout ends both sessions.
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Idp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $modules = Authz::Path::apache_modules() // '';
plan skip_all => 'Apache httpd with mod_auth_openidc is not here (contrib/check installs it)'
  if !Authz::Path::apache() || !-e "$modules/mod_auth_openidc.so";

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp' );
$idp->user(
    {   sub                => 'alice', name => 'Alice Example', email => 'alice@corp.example', email_verified => true,
        preferred_username => 'alice' } );

my $port = Authz::Web::free_port();
my $site = "http://127.0.0.1:$port";
my @web  = $stack->make_client(
    'portal',
    { grants => [qw(authorization_code refresh_token)], scopes => [qw(openid profile email)] },
    redirectUris           => ["$site/private/callback"],
    postLogoutRedirectUris => ["$site/bye"],
);

my $dir = Authz::Process::directory() . '/rp';
mkdir $_, 0755 or die "$_: $!" for $dir, "$dir/htdocs", "$dir/htdocs/private";
Authz::Web::write_file(
    "$dir/htdocs/private/index.shtml",
    '<p>sub=<!--#echo var="OIDC_CLAIM_sub" --> name=<!--#echo var="OIDC_CLAIM_name" --> email=<!--#echo var="OIDC_CLAIM_email" --></p>'
);
Authz::Web::write_file( "$dir/htdocs/bye", 'bye' );
my $user    = Authz::Path::unprivileged();
my @account = defined $user ? ( "User $user", 'Group ' . ( getgrgid( ( getpwnam $user )[3] ) )[0] ) : ();
Authz::Web::write_file( "$dir/httpd.conf", join "\n", @account, <<"END" );
ServerRoot $dir
ServerName 127.0.0.1
PidFile $dir/pid
ErrorLog $dir/error.log
LogLevel warn auth_openidc:info
Listen 127.0.0.1:$port
LoadModule mpm_prefork_module $modules/mod_mpm_prefork.so
LoadModule authn_core_module $modules/mod_authn_core.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule authz_user_module $modules/mod_authz_user.so
LoadModule dir_module $modules/mod_dir.so
LoadModule mime_module $modules/mod_mime.so
LoadModule filter_module $modules/mod_filter.so
LoadModule include_module $modules/mod_include.so
LoadModule auth_openidc_module $modules/mod_auth_openidc.so
TypesConfig /dev/null
DocumentRoot $dir/htdocs
DirectoryIndex index.shtml
OIDCProviderMetadataURL @{[ $stack->base ]}/.well-known/openid-configuration
OIDCClientID $web[0]
OIDCClientSecret $web[1]
OIDCRedirectURI $site/private/callback
OIDCCryptoPassphrase a-passphrase-of-the-tests
OIDCScope "openid profile email"
OIDCPKCEMethod S256
OIDCProviderTokenEndpointAuth client_secret_basic
OIDCUserInfoRefreshInterval 60
OIDCSSLValidateServer Off
OIDCCookieSameSite On
OIDCDefaultLoggedOutURL $site/bye
<Directory $dir/htdocs>
    Options +Includes
    AddType text/html .shtml
    AddOutputFilter INCLUDES .shtml
    Require all granted
</Directory>
<Location /private>
    AuthType openid-connect
    Require valid-user
</Location>
END
my $rp = Authz::Process->start(
    name    => 'rp',
    command => [ Authz::Path::apache(), '-X', '-d', $dir, '-f', "$dir/httpd.conf" ] );
Authz::Process::until_true(
    30,
    sub { IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp' ) } );

my $browser = Authz::Browser->new;
my ($page) = reverse $browser->follow("$site/private/");
is( $page->status, 200, 'mod_auth_openidc: a sign-in through us and the identity provider reaches the page' )
  or diag $page->text, $rp->log_text, scalar `tail -n 20 $dir/error.log`;
like(
    $page->text, qr/sub=alice name=Alice Example email=alice\@corp\.example/,
    'mod_auth_openidc: ... whose claims are those of the ID token and of /userinfo' );
my ($again) = reverse $browser->follow("$site/private/");
is( $again->status, 200, 'mod_auth_openidc: its own session lasts' );
my ($out) = reverse $browser->follow( "$site/private/callback?logout=" . Authz::Client::escape("$site/bye") );
is( $out->body, 'bye', 'mod_auth_openidc: logout goes through our end_session_endpoint and comes back' )
  or diag $out->text;
is( $stack->sql('SELECT count(*) FROM browser_session'), '0',
    'mod_auth_openidc: ... and our session is over (OpenID Connect RP-Initiated Logout 2)' );

done_testing;

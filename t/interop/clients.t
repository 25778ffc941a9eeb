# Clients we did not write against the whole service, with npm `oidc-provider` as the upstream identity provider: the certified
# openid-client, the strict oauth4webapi, oidc-client-ts, and the MCP TypeScript SDK by client metadata document and by dynamic registration. The
# sample of doc/sign-in.md runs as it is printed.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Interop ();
use Authz::Path    ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();

my $dir   = Authz::Process::directory();
my $stack = Authz::Stack->start(
    settings => {
        SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true',
        SVC_SAFE_HTTP_CA_FILE                  => "$dir/cimd/cert.pem",
        SVC_CIMD_ALLOW_INSECURE_LOCALHOST      => 'true',
        SVC_OIDC_ID_TOKEN_ALGS                 => 'RS256,ES256',
        SVC_OIDC_JWKS_CACHE_SECONDS            => 0,                      # ES256 signs at once
    } );
Authz::Interop::provider( $stack, qw(openid profile email) );

# Nobody listens there: the address a browser is sent to is all that counts.
my $back    = 'http://127.0.0.1:9/callback';
my $bye     = 'http://127.0.0.1:9/bye';
my $binding = {
    grants    => [qw(authorization_code refresh_token)], scopes => [qw(openid profile email)],
    endpoints => ['introspect'] };
my @secret = $stack->make_client( 'web', $binding, redirectUris => [$back], postLogoutRedirectUris => [$bye] );
$stack->make_client(
    'spa', $binding, clientType => 'public', redirectUris => [$back],
    postLogoutRedirectUris => [$bye] );
my %common = ( ISSUER => $stack->base, REDIRECT_URI => $back );

my @elliptic = $stack->make_client(
    'elliptic', $binding, redirectUris => [$back], postLogoutRedirectUris => [$bye],
    idTokenSignedResponseAlg => 'ES256' );
for my $as ( [ @secret, 'RS256' ], [ 'spa', '', 'RS256' ], [ @elliptic, 'ES256' ] ) {
    Authz::Interop::tests(
        'openid_client', %common, POST_LOGOUT_URI => $bye, CLIENT_ID => $as->[0], CLIENT_SECRET => $as->[1],
        ALG => $as->[2] );
}
Authz::Interop::tests( 'oauth4webapi', %common );
Authz::Interop::tests( 'oidc_client_ts', %common, CLIENT_ID => 'spa', POST_LOGOUT_URI => $bye );

# The sample of doc/sign-in.md, with its client. What the page leaves to the reader is a browser.
my @shop = $stack->make_client( 'shop-front', $binding, redirectUris => ['https://shop.example/callback'] );
my ($sample) = Authz::Web::edit( Authz::Path::source( 'doc', 'sign-in.md' ) ) =~ /^```js\n(.*?)^```$/ms;
$sample =~
  s{^// at /callback.*$}{const request_url = await new Browser().follow(url.href, 'https://shop.example/callback');}m
  or die "doc/sign-in.md has no callback\n";
Authz::Web::write_file( "$dir/node-interop/sign_in.mjs", <<"END" );
import { Browser } from './browser.mjs';
import { ok, run } from './tap.mjs';
$sample
await run(async () => ok(person, 'doc/sign-in.md: the sample signs a person in, over http as on the trial'));
END
Authz::Interop::tests( 'sign_in', BASE_URL => $stack->base, SECRET => $shop[1] );

# The operator decides what a self-registered client may do at this resource.
my $mcp = Authz::Web::free_port();
my $may = { grants => $binding->{grants}, scopes => $binding->{scopes}, resources => ["http://127.0.0.1:$mcp/mcp"] };
$stack->patch_row( 'svc.entitlements.bindings', { registrations => { DCR => $may, CIMD => $may } } );
Authz::Interop::tests( 'mcp', %common, RESOURCE_PORT => $mcp, CIMD_URL => '' );

# The SDK wants https for the metadata document.
mkdir "$dir/cimd" or die "mkdir: $!";
my $https = Authz::Web::free_port();
my $url   = "https://localhost:$https/client.json";
is( system(
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout $dir/cimd/key.pem -out $dir/cimd/cert.pem 2>/dev/null"
    ),
    0,
    'a certificate for the host of the document' );
Authz::Interop::serve(
    'document', PORT => $https, KEY => "$dir/cimd/key.pem", CERT => "$dir/cimd/cert.pem",
    URL => $url, REDIRECT_URI => $back );
Authz::Interop::tests( 'mcp', %common, RESOURCE_PORT => $mcp, CIMD_URL => $url );
is( $stack->sql("SELECT registration_type, client_type FROM client WHERE client_id = '$url'"), "CIMD\tpublic",
    'the metadata client has a row of its own, public (specification 4.2)' );

done_testing;

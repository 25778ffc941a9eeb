# Tools that need the person, with a client that we did not write: the MCP TypeScript SDK 2.x opens the page of a link and of an
# approval, and repeats the call (MCP 2026-07-28, multi round-trip requests; gateway-admin.md 1.1, 3.5, 3.8).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser  ();
use Authz::Grant    ();
use Authz::Idp      ();
use Authz::Interop  ();
use Authz::Mcp      ();
use Authz::Stack    ();
use Authz::Upstream ();

Authz::Interop::need();

my $stack =
  Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'Corp accounts' );
my $upstream = Authz::Upstream->start;
my $mcp      = Authz::Mcp->new($stack);
my $cb       = 'https://app.example/cb';
my @host     = $stack->make_client(
    'host',
    {   grants    => ['authorization_code'], scopes => [ 'openid', 'mcp' ], gateway_scopes => ['*'],
        resources => ['urn:svc:gateway'] },
    redirectUris => [$cb] );
my %shape = (
    upstreamType => 'REST', upstreamUrl => $upstream->url('/api'),
    routes       => [ { id => 'get', path => '/items/{id}' } ],
    tools        => [
        map { { name => $_, route => 'get', args => { path => ['id'] }, inputSchema => { type => 'object' } } }
          qw(get erase) ] );
$mcp->resource( 'notes', %shape, upstreamAuth => $upstream->auth );
$mcp->resource(
    'open', %shape,
    upstreamAuth => { type => 'static_header', header => 'X-Key', scheme => '', value => 'good-key' } );
is( $stack->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
            content =>
              "package custom.gateway\n\nobligations.approve_by_ciba := true if input.action.name == \"erase\"\n" }
    )->status,
    201,
    'a rule demands an approval' );

$idp->user( { sub => 'ann', name => 'Ann', email => 'ann@example.org' } );
my $browser = Authz::Browser->new;
$browser->follow( $stack->base . '/gateway/connect' );
my $code = Authz::Grant->code(
    $stack, client => 'host', subject => 'ann', scope => 'mcp', resource => $mcp->address,
    redirect_uri => $cb );
my $token =
  Authz::Grant->redeem( $stack, \@host, $code, redirect_uri => $cb, resource => $mcp->address )->member('access_token');
my %person = (
    URL     => $mcp->address, TOKEN => $token,
    COOKIES => join( '; ', map {"$_->{name}=$_->{value}"} $browser->cookies( $stack->base ) ) );

Authz::Interop::tests( 'mcp_person', %person, TOOL => 'notes__get', DECISION => 'connect', EXPECT => 'done' );
Authz::Interop::tests(
    'mcp_person', %person, TOOL => 'open__erase', DECISION => 'approve', EXPECT => 'done',
    AGAIN => 1 );
is( $stack->sql('SELECT count(*) FROM ciba_request'), 0, 'each approval was used' );
Authz::Interop::tests( 'mcp_person', %person, TOOL => 'open__erase', DECISION => 'deny', EXPECT => 'refused' );
is( scalar $upstream->seen('api'), 4, 'the upstream got the calls that the person agreed to, and no other' );
done_testing;

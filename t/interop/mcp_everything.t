# The example server of the protocol as an upstream: it can be synced, and its tools answer through the gateway as they do
# directly (gateway-admin.md 1.5).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Interop ();
use Authz::Mcp     ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();

my $stack =
  Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $port = Authz::Web::free_port();
Authz::Interop::serve( 'mcp_everything_server', PORT => $port );
my $mcp = Authz::Mcp->new($stack);
$mcp->resource( 'everything', upstreamType => 'MCP', upstreamUrl => "http://127.0.0.1:$port/mcp" );
my $answer = $stack->admin( POST => '/admin/api/managed-resources/everything/sync' );
is( $answer->status, 200, 'server-everything can be synced' ) or diag $answer->text;
cmp_ok( scalar @{ $answer->json->{added} }, '>=', 12, '... with its tools' );
Authz::Interop::tests(
    'mcp_everything',
    DIRECT => "http://127.0.0.1:$port/mcp", URL => $mcp->address('everything'), TOKEN => $mcp->{token} );
done_testing;

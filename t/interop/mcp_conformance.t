# The conformance suite of the protocol at the endpoint of one MCP upstream: what each revision requires of a server
# (gateway-admin.md 1.1, 1.5 to 1.7). Scenarios that fail are named here, with the rule by which they do.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Interop ();
use Authz::Mcp     ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();

my $front = Authz::Web::free_port();
my $stack = Authz::Stack->start(
    gateway  => 4,
    settings => {
        SVC_GATEWAY_ALLOWED_ORIGINS        => "http://127.0.0.1:$front",
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $port = Authz::Web::free_port();
Authz::Interop::serve( 'mcp_fixture', PORT => $port );
my $mcp = Authz::Mcp->new($stack);
$mcp->resource(
    'conf',
    upstreamType => 'MCP',  upstreamUrl => "http://127.0.0.1:$port/mcp",
    mcpResources => 'live', mcpPrompts  => 'pinned', subscriptions => JSON::PP::true(),
    interaction  => { map { ( $_ => JSON::PP::true() ) } qw(form sampling roots) } );

# The person who is asked.
my $person = $mcp->person('alice');
my $answer = $stack->admin( POST => '/admin/api/managed-resources/conf/sync' );
is( $answer->status, 200, 'the server that the suite expects can be synced' ) or diag $answer->text;

# The rules of the specification by which a scenario fails.
my %expected = ( '2025-11-25' => {}, '2026-07-28' => {} );
for my $revision ( sort keys %expected ) {
    Authz::Interop::tests(
        'mcp_conformance',
        REVISION => $revision, URL => $mcp->address('conf'), TOKEN => $person, PORT => $front,
        EXPECTED => JSON::PP->new->utf8->canonical->encode( $expected{$revision} ) );
}
done_testing;

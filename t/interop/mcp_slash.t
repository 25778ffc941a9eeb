# MCP servers at /mcp/, with the slash that web frameworks put there, as upstreams: FastMCP, and the MCP SDKs for Python and for
# TypeScript in both lines. The address as written is asked, and a redirect is named (decisions.md "Gateway").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Interop ();
use Authz::Mcp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();
my $python = Authz::Path::pypi('python');
plan skip_all => 'no packages of t/pypi: run contrib/check once'
  if !defined $python || system("'$python' -c 'import fastmcp, mcp' >/dev/null 2>&1") != 0;

my $stack =
  Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp = Authz::Mcp->new($stack);

# Start a server. Return its port.
sub python {
    my ($kind)  = @_;
    my $port    = Authz::Web::free_port();
    my $process = Authz::Process->start(
        name    => $kind, env => { KIND => $kind, PORT => $port },
        command => [ $python, Authz::Path::source(qw(t interop mcp_python.py)) ] );
    my $listens = sub { IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp' ) };
    Authz::Process::until_true( 60 * Authz::Process::patience(), $listens ) or die "$kind: " . $process->log_text;
    return $port;
}

sub typescript {
    my ($line) = @_;
    my $port = Authz::Web::free_port();
    Authz::Interop::serve( 'mcp_upstream', PORT => $port, LINE => $line, AT => '/mcp/' );
    return $port;
}

sub sync {
    my ( $name, $url ) = @_;
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $url );
    return $stack->admin( POST => "/admin/api/managed-resources/$name/sync" );
}

my %server = (
    fastmcp => sub { python('fastmcp') },
    sdk     => sub { python('sdk') },
    ts1     => sub { typescript(1) },
    ts2     => sub { typescript(2) } );
for my $name ( sort keys %server ) {
    my $url    = 'http://127.0.0.1:' . $server{$name}->() . '/mcp';
    my $answer = sync( $name, "$url/" );
    is( $answer->status, 200, "$name: a server at /mcp/ is read (M1)" ) or diag( $answer->text );
    my $list = $mcp->result( $mcp->modern( 'tools/list', {}, at => $name ) )->{tools};
    ok( ( grep { $_->{name} eq 'echo' } @$list ), '... its tools are served' ) or diag( explain($list) );
    my $said =
      $mcp->result( $mcp->modern( 'tools/call', { name => 'echo', arguments => { text => 'same' } }, at => $name ) );
    is( $said->{content}[0]{text}, 'same', '... and called' ) or diag( explain($said) );
    $answer = sync( "$name-bare", $url );
    is( $answer->status, 502, "$name: by /mcp, which is redirected, the server is not read (M2)" );
    is( $answer->member('error_description'),
        "The upstream redirects to $url/: change upstreamUrl",
        '... and the answer names the cure' );
}
done_testing;

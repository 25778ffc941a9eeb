# Errors of an upstream whose text is cut within a character: the worker lives, and the text is whole (gateway-admin.md 1.5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp = Authz::Mcp->new($stack);

# Octets of such a text (peer_message.h).
my $MAX = 1000;

sub answer { my (%said) = @_; return { body => { jsonrpc => '2.0', id => 1, %said } } }
my $tool = { name => 'echo', inputSchema => { type => 'object' } };
my %by   = (
    '"server/discover"' => answer(
        result => { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } } ),
    '"tools/list"' => answer( result => { tools => [$tool] } ) );
$peer->set( '/long' => { instead => \%by, status => 404, body => '{}' } );
$mcp->resource( 'long', upstreamType => 'MCP', upstreamUrl => $peer->url('/long') );
is( $stack->admin( POST => '/admin/api/managed-resources/long/sync' )->status, 200, 'a resource' );

# Return the part of a text that fits, of whole characters.
sub start_of {
    my ($text) = @_;
    my $start = '';
    for my $char ( split //, $text ) {
        my $more = $start . $char;
        utf8::encode( my $octets = $more );
        return $start if length $octets > $MAX;
        $start = $more;
    }
    return $start;
}

sub call {
    my ($text) = @_;
    $by{'"tools/call"'} = answer( error => { code => -32000, message => $text } );
    $peer->set( '/long' => { instead => \%by, status => 404, body => '{}' } );
    my $result = $mcp->result( $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => 'long' ) );
    return $result->{isError} && $result->{content}[0]{text};
}

# A character of each length at each place about the limit, one that ends there, and texts far behind it.
for my $char ( 'e', "\x{e9}", "\x{20ac}", "\x{1f600}" ) {
    my @wrong;
    for my $letters ( 0, 985 .. 1004, 4100 ) {
        my $text = 'a' x $letters . $char x 40;
        my $said = call($text) // 'no answer';
        push @wrong, "$letters letters: $said"
          if $said ne 'The upstream answered with error -32000: ' . start_of($text);
    }
    is_deeply( \@wrong, [], sprintf 'errors with U+%04X about the limit are cut between two characters', ord $char );
}
unlike(
    $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    '... and no worker ends by them' );

done_testing;

package Authz::Events;

# A stream of events (text/event-stream) that a test reads while it goes on.
#
#   my $one = open_events( $stack, $octets, qr/^data: /m );   # sends a request, and reads until the pattern or a refusal came
#   read_on( $one, qr/list_changed/ ) or diag $one->{text};   # true if it came; $one->{ended}: the server closed the connection
#   is( status($one), 200 ); is_deeply( [ events($one) ], [...] );

use strict;
use warnings;

use Exporter         qw(import);
use IO::Socket::INET ();
use JSON::PP         ();

use Authz::Process ();

our @EXPORT = qw(open_events read_on status events);

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub open_events {
    my ( $stack, $octets, $begun ) = @_;
    my $one = { text => '', socket => IO::Socket::INET->new( PeerAddr => "127.0.0.1:$stack->{port}" ) };
    $one->{socket} or die "connect: $@";
    print { $one->{socket} } $octets;
    read_on( $one, qr/$begun|\A\S+ (?!200)/m );
    return $one;
}

# Read what has come, until it has the pattern, or for so many seconds; true if it has it.
sub read_on {
    my ( $one, $pattern, $seconds ) = @_;
    Authz::Process::until_true(
        $seconds // 30,
        sub {
            $one->{socket}->blocking(0);
            my $got = $one->{ended} ? 0 : sysread $one->{socket}, my $part, 65536;
            $one->{text} .= $part if $got;
            $one->{ended} = 1     if defined $got && $got == 0;
            return $one->{text} =~ $pattern || $one->{ended};
        } );
    return $one->{text} =~ $pattern;
}
sub status { my ($one) = @_; return $one->{text} =~ m{\AHTTP/1\.1 (\d+)} ? $1 : 0 }

sub events {
    my ($one) = @_;
    return map { $json->decode($_) } $one->{text} =~ /^data: (.*)$/mg;
}

1;

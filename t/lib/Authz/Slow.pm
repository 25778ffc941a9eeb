package Authz::Slow;

# A host with slow connections: each sends a part of a request, then an octet now and then, and a connection that the
# server closes is opened again. It works in processes of its own, so that its connections do not count against the
# descriptors of the test.

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use Time::HiRes      qw(sleep time);

use Authz::Process ();

# Below the 1,024 descriptors that a process has by default.
my $PER_PROCESS = 350;

# Parts of a request: nothing, a part of the headers, a part of the body.
my @BEGUN = (
    '', "POST /token HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
    "POST /token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na"
);

# start(from => '127.0.0.2', port => 8080, count => 1400)
sub start {
    my ( $class, %option ) = @_;
    my $self = bless { %option, process => [] }, $class;
    for my $left ( map { $option{count} - $_ * $PER_PROCESS } 0 .. ( $option{count} - 1 ) / $PER_PROCESS ) {
        my $count = $left < $PER_PROCESS ? $left : $PER_PROCESS;
        push @{ $self->{process} },
          Authz::Process->start(
            name => 'slow' . ++( our $processes ),
            code => sub { _hold( $count, %option ) } );
    }
    return $self;
}

sub stop { my ($self) = @_; $_->stop('KILL') for @{ $self->{process} }; return }

sub _open {
    my ( $number, %option ) = @_;
    my $socket = IO::Socket::INET->new(
        PeerAddr => '127.0.0.1', PeerPort => $option{port}, LocalAddr => $option{from},
        Proto    => 'tcp',       Timeout  => 5 ) or return;
    $socket->blocking(0);
    syswrite $socket, $BEGUN[ $number % @BEGUN ];
    return $socket;
}

sub _hold {
    my ( $count, %option ) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my ( @socket, $next_octet );
    while (1) {
        $socket[$_] //= _open( $_, %option ) for 0 .. $count - 1;
        my $closed = IO::Select->new( grep {defined} @socket );
        my %gone   = map { ( fileno($_) => 1 ) } $closed->can_read(0.5);
        for my $socket ( grep { defined && $gone{ fileno $_ } } @socket ) {
            close $socket if !sysread $socket, my $answer, 4096;
        }
        @socket = map { defined && defined fileno $_ ? $_ : undef } @socket;
        next if time < ( $next_octet //= time + 4 );
        $next_octet = time + 4;
        for my $number ( grep { defined $socket[$_] && $_ % @BEGUN } 0 .. $count - 1 ) {
            syswrite $socket[$number], 'a';
        }
    }
    return;
}

# Return how many of its connections the kernel knows as established.
sub established {
    my ($self) = @_;
    my ( $from, $port ) = ( _hex( $self->{from} ), sprintf '%04X', $self->{port} );
    open my $in, '<', '/proc/net/tcp' or die "/proc/net/tcp: $!";
    return scalar grep {/^ *\d+: $from:[0-9A-F]{4} [0-9A-F]{8}:$port 01 /} readline $in;
}

sub _hex { my ($address) = @_; return sprintf '%08X', unpack 'L', pack 'C4', split /[.]/, $address }

1;

# The head of a FastCGI request may come in pieces, as Apache sends it: a stop signal between two pieces does not cut it off, and a
# head that ends between two pieces is no request (architecture.md 3; FastCGI 1.0 section 5.2).
use strict;
use warnings;

use IO::Socket::UNIX ();
use Socket           qw(SOCK_STREAM);
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( workers => 1 );
my $kept  = 1;                                     # FCGI_KEEP_CONN

sub record { my ( $type, $content ) = @_; return pack( 'CCnnCC', 1, $type, 1, length $content, 0, 0 ) . $content }

sub parameters {
    my (%value) = @_;
    return record( 4, join '', map { pack( 'CC', length $_, length $value{$_} ) . $_ . $value{$_} } sort keys %value );
}

# GET /health/live, which a head without its second half would ask for as well.
sub pieces {
    my ($flags) = @_;
    return (
        record( 1, pack 'nCx5', 1, $flags ),
        parameters( REQUEST_METHOD => 'GET', REQUEST_URI => '/health/live', SCRIPT_NAME => '/health/live' ),
        parameters( REMOTE_ADDR    => '127.0.0.1', SERVER_PROTOCOL => 'HTTP/1.1' ), record( 4, '' ), record( 5, '' ) );
}
my @piece = pieces(0);
my @name  = ( 'nothing', 'the begin record', 'half of the parameters', 'the parameters without their end', 'the head' );

# A connection that a worker has accepted, with the first pieces sent and read.
sub begun {
    my ($count) = @_;
    my $socket = IO::Socket::UNIX->new( Peer => "$stack->{dir}/core.sock", Type => SOCK_STREAM ) or die "core.sock: $!";
    syswrite $socket, $_ for @piece[ 0 .. $count - 1 ];
    defined Authz::Process::until_true( 20, sub { $stack->accepted('core') } ) or die "nobody accepts\n";
    sleep 0.3;
    return $socket;
}

sub answer { my ($socket) = @_; local $/ = undef; return readline($socket) // '' }

sub replaced {
    my @old = @_;
    return Authz::Process::until_true(
        30,
        sub {
            my %now = map { ( $_ => 1 ) } $stack->workers('core');
            keys %now == 1 && !grep { $now{$_} } @old;
        } );
}

local $SIG{PIPE} = 'IGNORE';
for my $count ( 0 .. $#piece ) {
    my $socket = begun($count);
    kill 'TERM', my @asked = $stack->workers('core');
    sleep 0.3;
    syswrite $socket, $_ for @piece[ $count .. $#piece ];
    like( answer($socket), qr/"UP"/, "SIGTERM when $name[$count] has come: the request is answered" );
    ok( defined replaced(@asked), '... and then the worker ends' );
}

# Return the number of logged requests, without those of the engine and of the harness.
sub requests {
    return scalar grep { /"msg":"request"/ && !m{"/bundles/|"/health/ready"} } $stack->{service}->log_lines;
}

my $before = requests();
cmp_ok( $before, '>=', scalar @piece, 'the log has those requests' );
for my $count ( 0 .. 3 ) {
    close begun($count);
    defined Authz::Process::until_true( 20, sub { !$stack->accepted('core') } )
      or die "the worker keeps the connection\n";
    sleep 0.3;
    is( requests(), $before, "cut off when $name[$count] has come: no request" );
}

my ( $socket, $start ) = ( begun(2), time );
is( answer($socket), '', 'a head that stops coming is no request' );
ok( time - $start > 3 && time - $start < 20, '... and holds a worker for 5 s' );
is( requests(), $before, '... nor is it one later' );

# A web server may keep its connection (FastCGI 1.0 section 5.1).
$socket = IO::Socket::UNIX->new( Peer => "$stack->{dir}/core.sock", Type => SOCK_STREAM ) or die "core.sock: $!";
for my $pause ( 0, 0.2, 6 ) {
    sleep $pause;
    syswrite $socket, join '', pieces($kept);
    my $got = '';
    until ( $got =~ /\x01\x03\x00\x01/ ) { sysread( $socket, $got, 65536, length $got ) or last }
    like( $got, qr/"UP"/, "a kept connection: a request after $pause s is answered" );
}
my @asked = $stack->workers('core');
kill 'TERM', @asked;
ok( defined replaced(@asked), '... and a worker that waits on one ends when it is asked to' );

done_testing;

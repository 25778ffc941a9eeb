#!/usr/bin/perl
# Record what the service sends: taps.pl DIR POSTGRES-DIR OPA-SOCKET
#
# A proxy between the service and its database (DIR/.s.PGSQL.5432; each round trip is a line in DIR/pg-trips, see
# Authz::PgProxy) and between the service and its policy engine (DIR/opa.sock; requests are appended unchanged to
# DIR/opa-requests). Runs until it receives a signal.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../../t/lib";

use IO::Select       ();
use IO::Socket::UNIX ();
use POSIX            ();
use Socket           qw(SOCK_STREAM);

use Authz::PgProxy ();

use constant POSTGRES_PORT => 5432;

my ( $dir, $postgres, $opa ) = @ARGV;
die "usage: taps.pl DIR POSTGRES-DIR OPA-SOCKET\n" if @ARGV != 3;

my $listen = IO::Socket::UNIX->new( Local => "$dir/opa.sock", Listen => 64, Type => SOCK_STREAM )
  or die "$dir/opa.sock: $!\n";
open my $record, '>>', "$dir/opa-requests" or die "$dir/opa-requests: $!\n";
my $proxy = Authz::PgProxy->start( $dir, $postgres, POSTGRES_PORT );
$SIG{CHLD} = 'IGNORE';
while (1) {
    my $client = $listen->accept or next;
    my $pid    = fork // die "fork: $!\n";
    next if $pid != 0;
    $SIG{TERM} = $SIG{INT} = 'DEFAULT';
    serve($client);
    POSIX::_exit(0);
}

# Copy octets in both directions until one side ends.
sub serve {
    my ($client) = @_;
    my $server   = IO::Socket::UNIX->new( Peer => $opa, Type => SOCK_STREAM ) or return;
    my $select   = IO::Select->new( $client, $server );
    while (1) {
        for my $from ( $select->can_read ) {
            sysread( $from, my $octets, 65536 ) or return;
            syswrite $record, $octets if $from == $client;
            my $to = $from == $client ? $server : $client;
            for ( my $at = 0 ; $at < length $octets ; ) {
                $at += syswrite( $to, $octets, length($octets) - $at, $at ) // return;
            }
        }
    }
    return;
}

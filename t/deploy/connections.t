# The packet filter limits the connections of an address: etc/nftables/authz.nft, in a network of its own
# (gateway-admin.md 7.2).
use strict;
use warnings;

use IO::Socket::IP ();
use Test::More;

use Authz::Path ();

my $nft = Authz::Path::on_path('nft');
plan skip_all => 'nft is not installed'         if !defined $nft;
plan skip_all => 'only root can make a network' if $> != 0;
plan skip_all => 'ip is not installed'          if system('ip -V >/dev/null 2>&1') != 0;
plan skip_all => 'no network can be made'       if system('unshare --net true 2>/dev/null') != 0;
exec 'unshare', '--net', $^X, ( map {"-I$_"} @INC ), $0, 'inside' if !@ARGV;

plan skip_all => 'the kernel has no nftables' if system("$nft add table inet probe 2>/dev/null") != 0;
system('ip link set lo up') == 0 or die "lo does not come up\n";
my $file = Authz::Path::source(qw(etc nftables authz.nft));
is( system( $nft, '-f', $file ), 0, 'the file is loaded' );
is( system( $nft, '-f', $file ), 0, '... also when it is loaded already' );

# Return how many of the connections from this address are made.
sub made {
    my ( $to, $from, $count, @keep ) = @_;
    for ( 1 .. $count ) {
        push @keep, IO::Socket::IP->new( PeerAddr => $to, PeerPort => 443, LocalAddr => $from, Timeout => 5 ) // ();
    }
    return @keep;
}

for my $family ( [ '127.0.0.1', '127.0.0.2', '127.0.0.3' ], [ '::1', '2001:db8::1', '2001:db8:0:1::1' ] ) {
    my ( $server, $host, $other ) = @$family;
    if ( $server eq '::1' ) {
        system("ip addr add $_/64 dev lo nodad") == 0 or die "$_ is not added\n" for $host, '2001:db8::2', $other;
    }
    my $listen = IO::Socket::IP->new( LocalAddr => $server, LocalPort => 443, Listen => 512, ReuseAddr => 1 )
      or die "listen: $@";
    my @first = made( $server, $host, 101 );
    is( scalar @first, 100, "$host: 100 connections are made, and the next is refused" );
    is( scalar( made( $server, '2001:db8::2', 1 ) ), 0, '... also from the same /64' ) if $server eq '::1';
    is( scalar( made( $server, $other,        1 ) ), 1, '... but not from another address' );
    close shift @first;
    close $listen->accept;
    is( scalar( made( $server, $host, 1 ) ), 1, '... and one more when one is closed' );
}

done_testing;

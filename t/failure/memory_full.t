# The file system of the shared files is full, and that of the bodies that strangers send: no worker ends by a signal, and tokens are
# issued (security-operations H1). A service that starts without room says so and ends. Both are a tmpfs in a mount namespace of this test, which only root can make; lighttpd has the
# line of contrib/containers/web/lighttpd.conf.
use strict;
use warnings;

use Test::More;

# In a namespace the mount ends with the last process of the test.
if ( !$ENV{AUTHZ_TEST_NAMESPACE} ) {
    plan skip_all => 'not root: no mount namespace' if $> != 0;
    plan skip_all => 'no mount namespace here'
      if system('unshare -m mount -t tmpfs -o size=1m tmpfs /mnt >/dev/null 2>&1') != 0;
    $ENV{AUTHZ_TEST_NAMESPACE} = 1;
    exec 'unshare', '-m', $^X, ( map {"-I$_"} @INC ), $0 or die "unshare: $!";
}
require Authz::Path;
require Authz::Process;
require Authz::Stack;
require Authz::Web;

# Each octet that a sender of a large body gives costs room; the senders stop before the end.
my $SENDERS = 12;
my $BODY    = 10_000_000;

my ($own) =
  Authz::Web::edit( Authz::Path::source(qw(contrib containers web lighttpd.conf)) ) =~ /^(server\.upload-dirs.*)$/m;
my $dir  = Authz::Process::directory();
my %size = ( shared => '16m', uploads => '32m' );
for my $name ( sort keys %size ) {
    mkdir "$dir/$name", 0700 or die "$name: $!";
    system( 'mount', '-t', 'tmpfs', '-o', "size=$size{$name},mode=0700", 'tmpfs', "$dir/$name" ) == 0
      or die "mount: $?";
}
$own =~ s{ = }{ := };
$own =~ s{"[^"]+"}{"$dir/uploads"} or die "lighttpd.conf names no directory of bodies\n";
my $stack = Authz::Stack->start( settings => { SVC_RUNTIME_DIR => "$dir/shared" }, web_more => "$own\n" );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my $used  = 0;
$used += ( stat $_ )[7] for grep {-f} glob "$dir/shared/*";
note "$used octets of shared files";
cmp_ok( $used, '<', 8 << 20, 'the shared files fit twice into the room that the manifests give them' );

sub free_of {
    my ($name) = @_;
    my ($free) = readpipe("df --output=avail -B1 $dir/$name") =~ /(\d+)\s*\z/;
    return $free;
}

sub tokens_are_issued {
    my ($name) = @_;
    my %status;
    $status{ $stack->token( @crm, scope => 'orders.read' )->status }++ for 1 .. 40;
    is_deeply( \%status, { 200 => 40 }, "$name: tokens are issued" );
    unlike( $stack->{service}->log_text, qr/worker ended/, "$name: no worker ends" );
    return;
}

# Before any worker has written to most pages of the shared files.
open my $filler, '>', "$dir/shared/filler" or die "filler: $!";
1 while syswrite $filler, "\0" x 65_536;
1 while syswrite $filler, "\0" x 4096;
is( free_of('shared'), 0, 'the file system of the shared files is full' );
tokens_are_issued('no room for shared files');
close $filler;
unlink "$dir/shared/filler";

# Strangers send large bodies to a path that takes them, and do not finish.
my @sender = map {
    my $socket = IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $stack->{port}, Proto => 'tcp' ) or die $!;
    syswrite $socket,
      "POST /gateway/x HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: $BODY\r\n\r\n";
    $socket->blocking(0);
    $socket
} 1 .. $SENDERS;
my $least = free_of('uploads');
ok( Authz::Process::until_true(
        30,
        sub {
            syswrite $_, 'x' x 262_144 for @sender;
            my $free = free_of('uploads');
            $least = $free if $free < $least;
            return $least < 1 << 20;
        } ),
    'senders of large bodies take the file system of the bodies' ) or note $least;
cmp_ok( free_of('shared'), '>', 8 << 20, '... and no other' );
tokens_are_issued('no room for bodies');
close $_ for @sender;
ok( Authz::Process::until_true( 30, sub { free_of('uploads') > 30 << 20 } ), '... until they go' );

# ---- at start: what is mapped needs its room before a request comes, or a worker would end by SIGBUS later

$stack->{service}->stop;
unlink glob "$dir/shared/*";
Authz::Process::until_true( 30, sub { free_of('shared') > 15 << 20 } ) // die "a process has the shared files\n";
open $filler, '>', "$dir/shared/filler" or die "filler: $!";
for my $left ( 0, 4096, 65_536 ) {
    1 while syswrite $filler, "\0" x 65_536;
    1 while syswrite $filler, "\0" x 4096;
    truncate $filler, ( -s $filler ) - $left or die $!;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'start', env => $stack->settings, timeout => 60,
        command => [
            Authz::Path::program('authz.fcgi'), qw(--workers 1 --web 1 --bundles 1 --gateway 1),
            map { ( '--listen', "$_=unix:$dir/start-$_.sock" ) } qw(core web bundles gateway) ] );
    ok( $status > 0 && $status < 128, "a start with room for $left octets ends by itself" )
      or diag "status $status\n$text";
    like( $text, qr/SVC_RUNTIME_DIR[^\n]*(?:No space left|no room)/, '... and names the directory' ) or diag $text;
    unlike( $text, qr/signal/, '... and no process of it by a signal' );
    unlink grep { !/filler/ } glob "$dir/shared/*";
}
close $filler;
unlink glob "$dir/shared/*";
$stack->start_service;
tokens_are_issued('with room again');
done_testing;

#!/usr/bin/perl
# The group of the sockets (decisions.md "The group of the sockets"): the web servers take it as their own by the shipped files, it has no
# members, and a group that systemd would give their unit alone is lost when they give up root.
use strict;
use warnings;

use IO::Socket::UNIX ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

plan skip_all => 'only root can give itself up' if $> != 0;
my $account = 'www-data';
my ( $uid, $gid ) = ( getpwnam $account )[ 2, 3 ];
plan skip_all => "no account $account" if !defined $uid;

sub text_of { return Authz::Web::edit( Authz::Path::source(@_), qr/\A/ => '' ) }

# ---- one name everywhere

my $GROUP = 'authz-web';
for my $pool (qw(core web bundles gateway)) {
    like(
        text_of( 'etc', 'systemd', "authz-$pool.socket" ), qr/^SocketGroup=$GROUP$/m,
        "$pool.sock has the group $GROUP" );
}
my $accounts = text_of(qw(etc systemd sysusers.conf));
like( $accounts, qr/^g $GROUP -$/m, 'sysusers.d makes the group' );
unlike( $accounts, qr/^m \S+ $GROUP$/m, '... without members' );
my %file = (
    lighttpd => [ text_of(qw(etc lighttpd authz-group.conf)), qr/^server\.groupname := "$GROUP"$/m ],
    apache   => [ text_of(qw(etc apache authz-group.conf)),   qr/^Group $GROUP$/m ] );
like( $file{$_}[0],                $file{$_}[1], "$_: authz-group.conf has it" ) for sort keys %file;
like( text_of(qw(cli setup-host)), qr/$_/,       "setup enables it: $_" )
  for qr/^ +for name in authz authz-group /m, qr/^ +a2enconf -q .*\bauthz-group$/m;

# ---- the real servers, with groups that this machine has in place of $GROUP and of one that a drop-in would give

my ( $own, $lent ) = map { ( getgrnam $_ )[2] // BAIL_OUT("no group $_") } qw(daemon games);
my $dir = Authz::Process::directory();
chmod 0755, $dir or die $!;
my $port    = Authz::Web::free_port();
my $modules = '/usr/lib/apache2/modules';
my %program = (
    lighttpd => Authz::Path::on_path('lighttpd') // '/usr/sbin/lighttpd',
    apache   => Authz::Path::on_path('apache2')  // '/usr/sbin/apache2' );
my %plain = (
    lighttpd => qq{server.document-root = "$dir"\nserver.bind = "127.0.0.1"\nserver.port = $port\n}
      . qq{server.username = "$account"\nserver.groupname = "$account"\n},
    apache =>
      "ServerRoot $dir\nPidFile $dir/pid\nErrorLog $dir/error.log\nListen 127.0.0.1:$port\nServerName localhost\n"
      . "LoadModule mpm_event_module $modules/mod_mpm_event.so\n"
      . "LoadModule authz_core_module $modules/mod_authz_core.so\nStartServers 1\nUser $account\nGroup $account\n" );
my %words = ( lighttpd => [qw(-D -f)], apache => [qw(-DFOREGROUND -f)] );

# The group and the supplementary groups of the process of a server that has the account.
sub groups_of {
    my ( $web, $text ) = @_;
    Authz::Web::write_file( "$dir/$web.conf", $text );
    my $server = Authz::Process->start(
        name    => $web,
        command => [ 'setpriv', '--groups', $lent, $program{$web}, @{ $words{$web} }, "$dir/$web.conf" ] );
    my @found;
    Authz::Process::until_true(
        20,
        sub {
            for my $status ( glob '/proc/[0-9]*/status' ) {
                my $about = eval { Authz::Web::edit( $status, qr/\A/ => '' ) } // next;
                my ($pid) = $status =~ m{(\d+)};
                next if $about                           !~ /^Uid:\t$uid\t/m;
                next if $pid != $server->{pid} && $about !~ /^PPid:\t$server->{pid}$/m;
                my ($main) = $about =~ /^Gid:\t(\d+)/m;
                @found = ( $main, $about =~ /^Groups:\t([\d ]*?) *$/m );
                return 1;
            }
            return;
        } );
    $server->stop;
    return @found;
}

for my $web ( sort keys %program ) {
  SKIP: {
        skip "no $web", 4 if !-x $program{$web};
        my ( $main, $more ) = groups_of( $web, $plain{$web} );
        is( $main, $gid, "$web without the file has the group of its account" );
        unlike( " $more ", qr/ $lent /, '... and has lost the group of its unit (initgroups(3))' );
        ( $main, $more ) = groups_of( $web, $plain{$web} . $file{$web}[0] =~ s/$GROUP(?="|$)/daemon/mr );
        is( $main, $own, "$web with the file has its group" );
        unlike( " $more ", qr/ $lent /, '... and no other that it was given' );
    }
}

# ---- who may ask: the web server, and no other program of its account

my $socket = IO::Socket::UNIX->new( Local => "$dir/core.sock", Listen => 5 ) or die "$dir/core.sock: $!";
chown 0, $own, "$dir/core.sock" or die $!;
chmod 0660, "$dir/core.sock" or die $!;
my $connect = 'use IO::Socket::UNIX; exit !IO::Socket::UNIX->new(Peer => shift)';
for my $case ( [ 0, 'the web server, with the group', $own ], [ 1, 'another program of its account', $gid ] ) {
    my ( $status, $who, $group ) = @$case;
    my ($have) = Authz::Process->run(
        name    => 'ask',
        command =>
          [ 'setpriv', '--reuid', $uid, '--regid', $group, '--clear-groups', $^X, '-e', $connect, "$dir/core.sock" ] );
    is( $have, $status, ( $status ? 'refused: ' : 'may ask: ' ) . $who );
}

done_testing;

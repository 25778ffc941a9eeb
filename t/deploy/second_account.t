#!/usr/bin/perl
# A second account of the host against a service: its settings, shared files, locks, sockets, memory and command lines (security-model.md).
# The service runs as one account, without systemd around it; the other one tries. t/cli/bundle.t has the locks of authzctl,
# t/contrib/quickstart.t that of quickstart, t/http/startup.t a runtime directory that somebody else made.
use strict;
use warnings;

use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

plan skip_all => 'only root is two accounts' if $> != 0;
my ( $OWN, $OTHER ) = qw(daemon games);
for my $name ( $OWN, $OTHER ) {
    plan skip_all => "no account $name" if !defined getpwnam $name;
}
my ( $uid, $gid ) = ( getpwnam $OWN )[ 2, 3 ];

my $postgres = Authz::Postgres->shared_or_new;
my $dir      = Authz::Process::directory();
chmod 0755, $dir or die $!;
my $run = "$dir/theirs";
mkdir $run,           0700 or die $!;
mkdir "$dir/sockets", 0755 or die $!;
my %set = (
    %{ Authz::Stack::base_settings( $postgres->url( $postgres->database ) ) },
    SVC_RUNTIME_DIR => $run, SVC_OPA_URL => 'unix:/nonexistent/opa.sock' );
my $secret = $set{SVC_ADMIN_API_KEY};
my $conf   = Authz::Web::write_file(
    "$dir/authz.conf",
    join( '', map {"$_=$set{$_}\n"} grep { $_ ne 'SVC_CONFIG' } sort keys %set ), 0600 );
chown $uid, $gid, $conf, $run, "$dir/sockets" or die $!;

my @pool    = qw(core web bundles gateway);
my $service = Authz::Process->start(
    name    => 'service', user => $OWN, env => { SVC_CONFIG => $conf },
    command => [
        Authz::Path::program('authz.fcgi'), qw(--workers 1 --web 1 --bundles 1 --gateway 1),
        map { ( '--listen', "$_=unix:$dir/sockets/$_.sock" ) } @pool ] );
ok( Authz::Process::until_true(
        60,
        sub {
            $service->log_text =~ /"msg":"started"/ && !grep { !-S "$dir/sockets/$_.sock" } @pool;
        } ),
    "the service runs as $OWN" ) or BAIL_OUT( $service->log_text );

# Run Perl as an account; the status.
sub status_as {
    my ( $account, $code, @word ) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'other', user => $account,
        command => [ $^X, '-MFcntl=:flock', '-MIO::Socket::UNIX', '-e', $code, @word ] );
    return $status;
}
my %attempt = (
    read    => 'open my $f, "<", shift or exit 1; sysread $f, my $text, 1 or exit 1; exit 0',
    lock    => 'open my $f, "<", shift or exit 1; exit !flock $f, LOCK_EX | LOCK_NB',
    list    => 'opendir my $d, shift or exit 1; exit 0',
    write   => 'open my $f, ">>", shift or exit 1; exit 0',
    make    => 'open my $f, ">", shift . "/x" or exit 1; exit 0',
    connect => 'exit !IO::Socket::UNIX->new(Peer => shift)',
    signal  => 'exit !kill 0, shift',
    stop    => 'exit !kill "STOP", shift',
);

sub refused_to {
    my ( $what, @path ) = @_;
    my @done = grep { status_as( $OTHER, $attempt{$what}, $_ ) == 0 } @path;
    is( "@done", '',
        "refused: $OTHER may $what " . ( @path == 1 ? $path[0] =~ s{\A\Q$dir\E/}{}r : "one of @{[ scalar @path ]}" ) );
    return;
}

# ---- files, locks and sockets

refused_to( $_, $conf ) for qw(read write lock);
refused_to( $_, $run )  for qw(list make lock);
my @shared = grep {-f} glob "$run/*";
cmp_ok( scalar @shared, '>', 2, 'the service has shared files' );
refused_to( $_, @shared ) for qw(read write lock);
is( scalar( grep { ( stat $_ )[2] & 0066 } grep { !/audit-signed/ } @shared ), 0,
    '... whose own modes keep others out, too' );
refused_to( connect => "$dir/sockets/$_.sock" ) for @pool;
is( status_as( $OWN, $attempt{connect}, "$dir/sockets/core.sock" ), 0, "... and $OWN may" );

# ---- processes: what they were started with and what they know

my @process = ( $service->{pid}, $service->children );
cmp_ok( scalar @process, '>=', 5, 'the processes of the service are found' );
for my $file (qw(environ maps mem)) {
    refused_to( read => map {"/proc/$_/$file"} @process );
    my @own = grep { status_as( $OWN, $attempt{read}, "/proc/$_/$file" ) == 0 } @process;
    is( "@own", '', "... nor may another process of $OWN: no process of the service is dumpable (prctl(2))" );
}
refused_to( $_, @process ) for qw(signal stop);
for my $pid (@process) {
    my $words = Authz::Web::edit( "/proc/$pid/cmdline", qr/\A/ => '' );
    unlike( $words, qr/postgresql:|\Q$secret\E/, 'no command line has a secret or the address of the database' );
}
unlike( $service->log_text, qr/\Q$secret\E/, '... nor has the log' );

# ---- authzctl: as another account it has no settings, and no option takes a secret that a command line would show

my ( $status, $text ) = Authz::Process->run(
    name    => 'ctl', user => $OTHER, env => { SVC_CONFIG => $conf },
    command => [ Authz::Path::program('authzctl'), qw(client list) ] );
is( $status, 78, 'authzctl as another account is refused' );
like( $text, qr/SVC_CONFIG: cannot read \Q$conf\E: Permission denied/, '... because it cannot read the settings' );
my $page  = Authz::Web::edit( Authz::Path::source(qw(doc reference cli.md)), qr/\A/ => '' );
my %takes = map { ( $_ => 1 ) } $page =~ /(--[a-z-]+ (?:SECRET|PASSWORD|TOKEN|KEY|PEPPER))\b/g;
delete $takes{'--data KEY'};    # a key of policy data
is( join( ' ', sort keys %takes ), '', 'no option of authzctl takes a secret as a word' );

$service->stop;
done_testing;

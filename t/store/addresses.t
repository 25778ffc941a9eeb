# SVC_DATABASE_URL and SVC_DATABASE_DIRECT_URL lead to two servers: for some seconds of a failover a start waits, and then it serves; if
# that lasts, it ends with status 78 (doc/high-availability.md "A pooler").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $BOUND    = 60;
my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $database = $postgres->database;
my $copy     = $postgres->copy;
my $dir      = Authz::Process::directory() . '/moves';
mkdir $dir or die "$dir: $!";

# An address that leads to a server until it is told to lead to another, as HAProxy does.
sub lead_to {
    my ($server) = @_;
    my $name = ".s.PGSQL.$Authz::Postgres::PORT";
    symlink "${\$server->socket}/$name", "$dir/new" or die "$dir/new: $!";
    rename "$dir/new", "$dir/$name" or die "$dir/$name: $!";
    return;
}

my %settings = (
    %{ Authz::Stack::base_settings( $postgres->url( $database, $dir ) ) },
    SVC_RUNTIME_DIR         => Authz::Stack::runtime_dir('addresses'),
    SVC_DATABASE_DIRECT_URL => $postgres->url($database) );
my $program = Authz::Path::program('authz.fcgi');
my @workers =
  ( qw(--workers 1 --web 1 --bundles 1), map { ( '--listen', "$_=unix:$dir/$_.sock" ) } qw(core web bundles) );
my $apart = qr/SVC_DATABASE_DIRECT_URL leads to another database than SVC_DATABASE_URL, or to another server/;

sub service {
    my ($name) = @_;
    return Authz::Process->start( name => $name, env => \%settings, command => [ $program, @workers ] );
}

sub says {
    my ( $service, $wanted ) = @_;
    return defined Authz::Process::until_true( $BOUND, sub { $service->log_text =~ $wanted } );
}

lead_to($copy);
my $start = time;
my ( $status, $said ) =
  Authz::Process->run( name => 'check', env => \%settings, command => [ $program, '--check' ] );
is( $status, 78, 'the addresses lead to two servers: --check refuses them' );
like( $said, $apart, '... and says so' );
cmp_ok( time - $start, '<', 5 * Authz::Process::patience(), '... at its first look' );

my $service = service('waits');
ok( says( $service, qr/database checked again.*$apart/ ), 'a start looks again' ) or diag( $service->log_text );
lead_to($postgres);
ok( says( $service, qr/"started"/ ), '... and serves when they lead to one server' ) or diag( $service->log_text );
$service->signal('TERM');
is( $service->wait($BOUND), 0, '... until it is stopped' );

lead_to($copy);
$start   = time;
$service = service('ends');
is( $service->wait($BOUND), 78, 'the addresses keep leading to two servers: refused with status 78' );
cmp_ok( time - $start, '>=', 10, '... after three looks within 10 s' );
is( scalar( () = $service->log_text =~ /database checked again/g ), 2, '... of which the log tells' );
like( $service->log_text, qr/^authz\.fcgi: $apart/m, '... and the last line says what to change' );

done_testing;

# A pooler before PostgreSQL, by pgbouncer itself (doc/high-availability.md "A pooler"): one that forgets prepared statements, is named
# without PostgreSQL itself, or leads to another server than that, is refused at start with a text that names the settings; through one
# that keeps them everything works, with fewer sessions than workers, and a server behind it that takes no writes, or is a former primary,
# is not believed.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Load     ();
use Authz::Path     ();
use Authz::PgProxy  ();
use Authz::Pooler   ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

# ---- the oldest version

# What contrib/check says of a pgbouncer of that version, and the exit status.
sub got {
    my ($version) = @_;
    my $program = Authz::Process::directory() . "/pgbouncer-$version";
    Authz::Web::write_file(
        $program, "#!/bin/sh\nprintf 'PgBouncer %s\\nlibevent 2.1.12-stable\\n' '$version'\n",
        0755 );
    return Authz::Process->run(
        name    => 'got', env => { AUTHZ_PGBOUNCER => $program },
        command => [
            'bash',    '-uc', '. "$1"; note() { echo "$1"; }; pgbouncer_get',
            'version', Authz::Path::source( 'contrib', 'lib', 'pgbouncer.sh' ) ] );
}
for my $version (qw(1.21 1.21.0 1.24.1 1.100.0 2.0.0)) {
    is( ( got($version) )[0], 0, "contrib/check uses pgbouncer $version" );
}
for my $version (qw(0.99.0 1.3 1.18.0 1.20.1)) {
    my ( $status, $said ) = got($version);
    is( $status, 1, "contrib/check refuses pgbouncer $version" );
    like( $said, qr/AUTHZ_PGBOUNCER: .*-\Q$version\E is not pgbouncer 1\.21 or newer/, '... and says what is needed' );
}
if ( !defined Authz::Pooler::program() ) {
  SKIP: { skip 'pgbouncer is not here: AUTHZ_PGBOUNCER names one', 1 }
    done_testing;
    exit;
}

my $keeps    = Authz::Pooler::keeps();
my $postgres = Authz::Postgres->shared_or_new( private => $keeps );
my $database = $postgres->database;
my $dir      = Authz::Process::directory();
my $direct   = $postgres->url($database);

# ---- what is refused at start

sub checked {
    my (%env) = @_;
    return Authz::Process->run(
        name    => 'check', env => { %{ Authz::Stack::base_settings($direct) }, %env },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
}

sub refused {
    my ( $name, $wanted, %env ) = @_;
    my ( $status, $said ) = checked(%env);
    is( $status, 78, "$name: refused at start" ) or diag($said);
    like( $said, $wanted, "$name: ... and the text says what to do" );
    return;
}
my $alone = qr/leads to a pooler such as pgbouncer, .*: name PostgreSQL itself in SVC_DATABASE_DIRECT_URL/;
my %lax   = ( ignore_startup_parameters => 'options' );
my %pool  = (
    strict    => Authz::Pooler->start( "$dir/strict",    $postgres ),
    lax       => Authz::Pooler->start( "$dir/lax",       $postgres, %lax ),
    session   => Authz::Pooler->start( "$dir/session",   $postgres, %lax, pool_mode => 'session' ),
    forgetful => Authz::Pooler->start( "$dir/forgetful", $postgres, $keeps ? ( max_prepared_statements => 0 ) : () ) );
my %url = map { ( $_ => $postgres->url( $database, $pool{$_}->socket ) ) } keys %pool;
refused( "a pooler alone, $_", $alone, SVC_DATABASE_URL => $url{$_} ) for qw(strict lax session);
refused(
    'a pooler that forgets prepared statements',
    qr/does not keep prepared statements: use pgbouncer 1\.21 or newer with pool_mode = transaction and max_prepared_statements/,
    SVC_DATABASE_URL => $url{forgetful}, SVC_DATABASE_DIRECT_URL => $direct );
my $lossy = Authz::PgProxy->start( $dir, $pool{forgetful}->socket, $Authz::Postgres::PORT );
my %lossy = ( SVC_DATABASE_URL => $postgres->url( $database, $dir ), SVC_DATABASE_DIRECT_URL => $direct );
$lossy->cut( before => 'authz_probe' );
is( ( checked(%lossy) )[0], 0,
    'a connection that is lost meanwhile, as in a failover, does not tell that: not refused' );
ok( $lossy->cut_done, '... it was lost' );
refused( '... which the next one tells', qr/does not keep prepared statements/, %lossy );
my $apart =
  qr/SVC_DATABASE_DIRECT_URL leads to another database than SVC_DATABASE_URL, or to another server: let it name/;
refused(
    'two addresses, of two databases',
    $apart,
    SVC_DATABASE_URL => $direct, SVC_DATABASE_DIRECT_URL => $postgres->url( $postgres->database ) );

# Another server, whose database has the same name and number, and neither tells its identifier.
my $other = Authz::Postgres->new;
my $oid   = $postgres->sql("SELECT oid FROM pg_database WHERE datname = '$database'");
$other->sql("CREATE DATABASE $database OID = $oid");
$_->sql( 'ALTER FUNCTION pg_control_system() RENAME TO pg_control_system_hidden', $database ) for $postgres, $other;
refused(
    'two addresses, of two servers',
    $apart, SVC_DATABASE_URL => $other->url($database), SVC_DATABASE_DIRECT_URL => $direct );
is( ( checked( SVC_DATABASE_DIRECT_URL => $direct ) )[0], 0, 'a server that does not tell its identifier is accepted' );
$_->sql( 'ALTER FUNCTION pg_control_system_hidden() RENAME TO pg_control_system', $database ) for $postgres, $other;
$other->stop('immediate');
refused(
    'an address that cannot be read',
    qr/SVC_DATABASE_DIRECT_URL: has a \[ without \]; write it as postgresql:/,
    SVC_DATABASE_URL => $url{strict}, SVC_DATABASE_DIRECT_URL => 'postgresql://[SECRET/d' );
is( ( checked( SVC_DATABASE_DIRECT_URL => $direct ) )[0], 0, 'two addresses without a pooler are no mistake' );

if ( !$keeps ) {
    note('this pgbouncer is older than 1.21: nothing runs through it');
    done_testing;
    exit;
}
refused(
    'both addresses lead to a pooler',
    qr/SVC_DATABASE_DIRECT_URL leads to a pooler such as pgbouncer, too: name PostgreSQL itself there/,
    SVC_DATABASE_URL => $url{strict}, SVC_DATABASE_DIRECT_URL => $url{lax} );
is( ( checked( SVC_DATABASE_URL => $url{strict}, SVC_DATABASE_DIRECT_URL => $direct ) )[0],
    0, 'pgbouncer with prepared statements, and PostgreSQL itself: accepted' );

my $copy  = $postgres->copy;
my $leads = Authz::Pooler->start( "$dir/leads", $copy );
refused(
    'the pooler leads to a copy of the server, with its identifier and timeline',
    $apart,
    SVC_DATABASE_URL        => $postgres->url( $database, $leads->socket ),
    SVC_DATABASE_DIRECT_URL => $direct );
refused(
    'PostgreSQL itself is the copy',
    $apart, SVC_DATABASE_URL => $url{strict}, SVC_DATABASE_DIRECT_URL => $copy->url($database) );
$copy->stop('immediate');

# ---- what runs through it

my $stack = Authz::Stack->start(
    postgres => $postgres, database => $database, workers => 6,
    pooler   => { default_pool_size => 2 } );
my %cc   = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm  = $stack->make_client( 'crm',  \%cc );
my @once = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs   = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
sub token { return $stack->token( @crm, scope => 'orders.read' ) }
sub comes { my ($test) = @_; return defined Authz::Process::until_true( 40, $test ) }

my $load = Authz::Load->start( $stack, crm => \@crm, once => \@once, rs => \@rs, clients => 6 );
ok( comes( sub { 300 <= ( () = $load->ledger ) } ), 'six clients are served' );
my $sessions = $stack->sql(
    q{SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%access_token%' AND pid <> pg_backend_pid()}
);
$load->stop;
is( join( ' ',  sort keys %{ $load->outcomes } ), '200', '... each with an answer' );
is( join( "\n", $load->wrong ),                   '',    '... that holds' );
cmp_ok( $sessions, '<=', 2, '... on two sessions of PostgreSQL' );

my $answer = token();
my $exp    = $stack->introspect( @rs, $answer->member('access_token') )->member('exp');
my $bucket = int( ( $exp - 1_767_225_600 ) / 3600 );
$stack->sql("DROP TABLE access_token_p$_") for $bucket, $bucket + 1;
oauth_ok( token(), {}, 'a partition that is missing is made, and the statement that failed is prepared again' )
  for 1 .. 8;
is( $stack->admin( GET => '/admin/api/audit-logs/export?format=ndjson' )->status, 200, 'audit rows are exported' );
my ( $status, $text ) = $stack->authzctl('maintain');
is( $status, 0, 'authzctl works past it' ) or diag($text);

# ---- servers behind it

my $standby = $postgres->standby;
my $held    = token()->member('access_token');

# A role that may not ask for the timeline, as at some hosts.
$stack->sql('ALTER FUNCTION pg_control_system() RENAME TO pg_control_system_hidden');
$stack->restart_service;
oauth_ok( token(), {}, 'PostgreSQL does not tell its timeline: served' );
$stack->{pooler}->lead_to($standby);
ok( comes( sub { $stack->introspect( @rs, $held )->status == 503 } ), '... the pooler leads to a standby: 503' );
is( $stack->introspect( @rs, $held )->status, 503, '... for each read' ) for 1 .. 6;
$stack->{pooler}->lead_to($postgres);
$stack->sql('ALTER FUNCTION pg_control_system_hidden() RENAME TO pg_control_system');
$stack->restart_service;
oauth_ok( $stack->introspect( @rs, $held ), { active => true }, '... and to the primary again: served' );

my $waits = sub {
    my ($wanted) = @_;
    return comes( sub { token()->status == $wanted } );
};
$stack->{pooler}->lead_to($standby);
ok( $waits->(503), 'the pooler leads to a standby: 503' );
is( $stack->introspect( @rs, $held )->status, 503, '... for reads too, which may be of the past' ) for 1 .. 6;
$standby->sql('SELECT pg_promote()');
ok( $waits->(200), 'the standby is promoted: served' );
$postgres->sql($_) for q{ALTER SYSTEM SET synchronous_standby_names = ''}, 'SELECT pg_reload_conf()';
$stack->{pooler}->lead_to($postgres);
ok( $waits->(503), 'the pooler leads to the former primary, which takes writes still: 503' );
is( scalar( grep { token()->status != 503 } 1 .. 12 ), 0, '... each time' );
$stack->{pooler}->lead_to($standby);
ok( $waits->(200), 'and to the primary again: served' );

done_testing;

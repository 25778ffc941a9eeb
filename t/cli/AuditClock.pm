package AuditClock;

# A service whose audit rows are sealed by programs with a clock that is days behind.

use strict;
use warnings;

use Exporter 'import';
use File::Temp ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

our @EXPORT_OK = qw(run seal_rows);

# The seals of last year are made by a program whose clock is so many seconds behind.
my $dir   = File::Temp->newdir;
my $clock = <<'END';
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *ret)
{
    const char *behind = getenv("CLOCK_BEHIND");
    int status = (int) syscall(SYS_clock_gettime, id, ret);
    if (status == 0 && id == CLOCK_REALTIME && behind != NULL)
        ret->tv_sec -= atol(behind);
    return status;
}
time_t time(time_t *ret)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (ret != NULL)
        *ret = now.tv_sec;
    return now.tv_sec;
}
END
my ( $stack, $env );

sub directory   { return $dir }
sub environment { return $env }

# The settings with which the next run of housekeeping drops old rows.
sub short { return ( SVC_AUDIT_RETENTION_DAYS => 1, SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 86400 ) }

# Start the service, and give it; the test is left out if no program can have such a clock.
sub start {
    my $source = put_file( $dir, 'clock.c', $clock );
    plan skip_all => 'no C compiler' if system("cc -shared -fPIC -o $dir/clock.so $source 2> $dir/cc") != 0;
    my ($works) = Authz::Process->run(
        name    => 'preload', env => { LD_PRELOAD => "$dir/clock.so" },
        command => [ Authz::Path::program('authzctl'), '--version' ] );
    plan skip_all => 'the program cannot be given another clock' if $works != 0;
    $stack = Authz::Stack->start;
    $env   = { %{ $stack->settings }, SVC_AUDIT_RETENTION_DAYS => 0 };
    return $stack;
}

# Run authzctl, with a clock so many days behind.
sub run {
    my ( $status, $words, $name, %option ) = @_;
    my %behind =
      $option{days} ? ( LD_PRELOAD => "$dir/clock.so", CLOCK_BEHIND => 86400 * $option{days} ) : ();
    return ctl_is( $status, [ split / /, $words ], $name, env => { %$env, %behind, %{ $option{env} // {} } } );
}

# Rows of a day, which is made if it is missing; then a checkpoint of so many days ago.
sub seal_rows {
    my ( $count, $day, $days ) = @_;
    $stack->sql("SELECT partition_create('audit_log', $day)");
    $stack->sql(
        "INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome) SELECT nextval('audit_id_seq'), timestamptz '2026-01-01 12:00:00+00' + $day * interval '1 day', 'made', '/token', 'token', 'POST', 200, 'allowed' FROM generate_series(1, $count)"
    );
    run( 0, 'audit seal --quiet', "$count rows are sealed $days days ago", days => $days );
    $stack->sql(
        "UPDATE audit_checkpoint SET made_at = now() - interval '$days days' WHERE size = (SELECT size FROM audit_log_state)"
    );
    return $stack->sql('SELECT size FROM audit_log_state');
}

1;

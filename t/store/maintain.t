# Housekeeping and first set-up by several processes at once: what each reports is what it did (architecture.md 4).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Path ();
use Authz::Postgres ();
use Authz::Process ();
use Authz::Stack ();

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database;
my $url      = $postgres->url($database);

sub sql { return $postgres->sql( $_[0], $database ) }

sub settings {
    my ($at) = @_;
    return { %{ Authz::Stack::base_settings($at) }, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 200, SVC_OPA_URL => 'unix:/nonexistent/opa.sock' };
}

sub maintain {
    return Authz::Process->run( name => 'maintain', env => settings($url), command => [ Authz::Path::program('authzctl'), 'maintain' ] );
}

# ---- run by hand

my $jobs = q{SELECT count(*) FROM job WHERE due_at > now() AND ran_at > now() - interval '1 minute' AND outcome IS NOT NULL};
my ( $status, $text ) = maintain();
is( $status, 0, 'maintain: runs' ) or diag($text);
is( sql($jobs), sql('SELECT count(*) FROM job'), 'maintain: each job has its time and its outcome recorded' );
is( sql('SELECT count(*) FROM job'), 3, '... all three' );
sql(q{UPDATE job SET ran_at = now() - interval '1 hour', due_at = now() + interval '5 minutes', outcome = 'old'});
( $status, $text ) = maintain();
is( $status, 0, 'maintain: runs what is not due' );
is( sql("$jobs AND outcome <> 'old'"), 3, '... and records that' );

# ---- while another host is at it: 6 is LOCK_JOBS of store/locks.h

my $holder = Authz::Process->start(
    name    => 'holder',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $postgres->socket, '-p', $Authz::Postgres::PORT, '-d', $database, '-c',
        q{SELECT pg_advisory_lock(6, hashtext('partitions')), pg_sleep(60)}
    ]
);
my $held  = q{SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 6 AND granted};
my $until = time + 10;
sleep 0.02 while sql($held) == 0 && time < $until;
sql(q{UPDATE job SET ran_at = now() - interval '1 hour', outcome = 'old'});
( $status, $text ) = maintain();
is( $status, 1, 'maintain: a job that another process is at is no success' );
like( $text, qr/^authzctl: maintain: partitions: not run, [^\n]*another process[^\n]*; run this again later$/m, '... and is named' );
unlike( $text, qr/housekeeping: done/, '... it does not say done' );
is( sql(q{SELECT outcome FROM job WHERE name = 'partitions'}), 'old', '... nothing is recorded for it' );
is( sql("$jobs AND outcome <> 'old'"), 2, '... the others ran' );
$holder->stop;
sql(q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 6});
$until = time + 10;
sleep 0.02 while sql($held) > 0 && time < $until;
is( ( maintain() )[0], 0, 'maintain: afterwards it runs' );

# ---- set up by four at once

my $empty = $postgres->database( empty => 1 );
my $count = sub { return $postgres->sql( $_[0], $empty ) };
my @at    = map {
    Authz::Process->start( name => "migrate$_", env => settings( $postgres->url($empty) ), command => [ Authz::Path::program('authzctl'), qw(db migrate) ] )
} 1 .. 4;
$until = time + 60;
sleep 0.05 while grep( { $_->alive } @at ) && time < $until;
my ( $made, $keys ) = ( 0, 0 );
for my $one (@at) {
    my $said = $one->log_text;
    like( $said, qr/^policy: /m, 'db migrate by four at once: it succeeds' );
    $made += $1 if $said =~ /^partitions: (\d+) made/m;
    $keys++ if $said =~ /^signing keys: made/m;
}
is( $made, $count->('SELECT count(*) FROM pg_inherits WHERE inhparent IN (\'access_token\'::regclass, \'audit_log\'::regclass)'), 'partitions: each is counted by the one that made it' );
ok( $keys == 1 || $keys == 2, 'signing keys: who says that it made one did: no more of them than keys' ) or diag( "$keys say so\n", map { $_->log_text } @at );
is( $count->(q{SELECT string_agg(state, ' ' ORDER BY state) FROM signing_key}), 'active next', '... and each is there once' );

done_testing;

# Housekeeping, and first set-up by several processes at once: each process reports only its own work, and nothing is dropped that
# is not due (architecture.md 4).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database;
my $url      = $postgres->url($database);

sub sql { return $postgres->sql( $_[0], $database ) }

sub settings {
    my ($at) = @_;
    return {
        %{ Authz::Stack::base_settings($at) }, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 200,
        SVC_OPA_URL => 'unix:/nonexistent/opa.sock' };
}

sub maintain {
    my (%setting) = @_;
    return Authz::Process->run(
        name    => 'maintain', env => { %{ settings($url) }, %setting },
        command => [ Authz::Path::program('authzctl'), 'maintain' ] );
}

# ---- run by hand

my $jobs =
  q{SELECT count(*) FROM job WHERE due_at > now() AND ran_at > now() - interval '1 minute' AND outcome IS NOT NULL};
my ( $status, $text ) = maintain();
is( $status,    0,                               'maintain: runs' ) or diag($text);
is( sql($jobs), sql('SELECT count(*) FROM job'), 'maintain: each job has its time and its outcome recorded' );
my $jobs_there = sql('SELECT count(*) FROM job');
cmp_ok( $jobs_there, '>=', 5, '... all of them' );
sql(q{UPDATE job SET ran_at = now() - interval '1 hour', due_at = now() + interval '5 minutes', outcome = 'old'});
( $status, $text ) = maintain();
is( $status,                           0,           'maintain: runs what is not due' );
is( sql("$jobs AND outcome <> 'old'"), $jobs_there, '... and records that' );

# ---- while another host holds the lock: 6 is LOCK_JOBS of store/db/keep/locks.h

my $holder = Authz::Process->start(
    name    => 'holder',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $postgres->socket, '-p', $Authz::Postgres::PORT, '-d',
        $database, '-c',
        q{SELECT pg_advisory_lock(6, hashtext('partitions')), pg_sleep(60)} ] );
my $held =
  q{SELECT count(*) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 6 AND granted};
my $until = time + 30;
sleep 0.02 while sql($held) == 0 && time < $until;
sql(q{UPDATE job SET ran_at = now() - interval '1 hour', outcome = 'old'});
( $status, $text ) = maintain();
is( $status, 1, 'maintain: a job that another process is running is a failure' );
like(
    $text, qr/^authzctl: maintain: partitions: not run, [^\n]*another process[^\n]*; try again later$/m,
    '... and is named' );
unlike( $text, qr/housekeeping: done/, '... it does not print done' );
is( sql(q{SELECT outcome FROM job WHERE name = 'partitions'}), 'old',           '... nothing is recorded for it' );
is( sql("$jobs AND outcome <> 'old'"),                         $jobs_there - 1, '... the others ran' );
$holder->stop;
sql(q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 6}
);
$until = time + 30;
sleep 0.02 while sql($held) > 0 && time < $until;
is( ( maintain() )[0], 0, 'maintain: afterwards it runs' );

# ---- partitions that an administrator has detached

sub there { my ($table) = @_; return sql("SELECT to_regclass('$table') IS NOT NULL") }
my $day = int( ( time - 1767225600 ) / 86400 );    # PARTITION_EPOCH of store/db/keep/partitions.h
sub detached_day { my ($table) = @_; sql("CREATE TABLE IF NOT EXISTS $table (LIKE audit_log)"); return $table }
my ($attached) = split /\n/,
  sql(q{SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = 'audit_log'::regclass ORDER BY 1});
sql("ALTER TABLE audit_log DETACH PARTITION $attached");
my ( $old, $due, $kept ) = map { detached_day("audit_log_p$_") } 0, $day - 91, $day - 90;
( $status, $text ) = maintain( SVC_AUDIT_RETENTION_DAYS => 0 );
is( $status, 0, 'audit: kept for ever (SVC_AUDIT_RETENTION_DAYS=0)' ) or diag($text);
is( there($_), 't',
    "audit: ... then a detached day stays, whatever its age: it is the operator's archive (architecture.md 4)"
) for $attached, $old, $due, $kept;
is( ( maintain( SVC_AUDIT_RETENTION_DAYS => 90 ) )[0], 0, 'audit: kept for 90 days' );
is( there($_), 't', 'audit: a detached day that is not due stays' ) for $attached,                                $kept;
is( there($_), 'f', 'audit: an older detached day is dropped, like one whose removal was interrupted' ) for $due, $old;

# ---- refresh tokens: by the day on which their family ends

my %number = ( past => $day - 2, yesterday => $day - 1, today => $day, ahead => $day + 20 );
sql("SELECT partition_create('refresh_token', $_)") for values %number;
( $status, $text ) = maintain( SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 30 * 86400 );
is( $status,                               0,   'refresh tokens: maintain runs' ) or diag($text);
is( there("refresh_token_p$number{past}"), 'f', 'refresh tokens: a day that has passed is dropped' );
is( there("refresh_token_p$number{$_}"),   't', "refresh tokens: $_ is kept" ) for qw(yesterday today ahead);
is( there( 'refresh_token_p' . ( $day + 30 + $_ ) ), 't',
    "refresh tokens: the end of what is issued in $_ days is made ahead" ) for 0 .. 2;
is( there( 'refresh_token_p' . ( $day + 33 ) ), 'f', '... and no more' );

# Families are removed once none of their tokens can be live.
sql(<<'SQL');
INSERT INTO identity_provider (idp_id, issuer) VALUES ('corp', 'https://corp.example');
INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('alice', 'https://corp.example', 'alice');
INSERT INTO client (client_id, client_type) VALUES ('web', 'confidential');
INSERT INTO token_grant (id, code_hash, code_expires_at, client, subject, idp, sid, flow_id, redirect_uri, auth_time, with_auth_time, created_at, idle_expires_at, expires_at)
SELECT gen_random_uuid(), '', now(), c.id, 'alice', p.id, e.name, gen_random_uuid(), 'x', now(), false, now(), now() - interval '40 days', now() - e.age
  FROM client c, identity_provider p, (VALUES ('long', interval '49 hours'), ('lately', interval '47 hours'), ('live', interval '-1 day')) e(name, age);
SQL
is( ( maintain() )[0], 0, 'families: maintain runs' );
is( sql('SELECT string_agg(sid, \' \' ORDER BY sid) FROM token_grant'), 'lately live',
    'families: one is removed two days after its end, when its last access token has ended too' );

# ---- a bundle that is published while another is confirmed

# Return a statement from the source of the service, its macros expanded.
sub statement {
    my ( $file, $name ) = @_;
    my $text = join '',
      map { Authz::Web::edit( Authz::Path::source( 'fcgi', 'store', 'policy', "$file.$_" ), qr/\A/ => '' ) } qw(h c);
    $text =~ s/\\\n\s*/ /g;
    my %macro = $text =~ /^#define (\w+)[ ]+(["A-Z].*)$/mg;
    my $expand;
    $expand = sub {
        return join '',
          map { /\A"(.*)"\z/s ? $1 : $expand->( $macro{$_} // die "no $_\n" ) } $_[0] =~ /"(?:[^"\\]|\\.)*"|[A-Z_]+/g;
    };
    my ($parts) = $text =~ /"$name",((?:\s*(?:"(?:[^"\\]|\\.)*"|[A-Z_]+))+)/ or die "no $name\n";
    return $expand->($parts);
}

sub publish {
    my ($revision) = @_;
    return
      "INSERT INTO bundle (revision, etag, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys) VALUES ('$revision', '$revision', 'published', 't', 't', 0, '{}', '{}');"
      . " UPDATE bundle_state SET served = (SELECT id FROM bundle WHERE revision = '$revision'), acceptable = array_append(acceptable, '$revision')";
}

sub psql_of {
    my ( $name, $sql ) = @_;
    return Authz::Process->start(
        name    => $name,
        env     => { PGAPPNAME => $name },
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $postgres->socket, '-p', $Authz::Postgres::PORT,
            '-d', $database, '-c', $sql ] );
}

sub comes {
    my ($condition) = @_;
    my $exists = "SELECT EXISTS (SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND $condition)";
    my ( $end, $seen ) = time + 30;
    sleep 0.02 while ( $seen = sql($exists) ) ne 't' && time < $end;
    return $seen;
}

my $settle =
    "PREPARE settle (text, boolean, double precision) AS "
  . statement( 'engines', 'engines_settle' )
  . '; EXECUTE settle(NULL, true, 2000)';
my $acceptable = 'SELECT acceptable FROM bundle_state';
sql( publish('r900-a') );
sql(q{DELETE FROM engine_instance; INSERT INTO engine_instance (instance, active_revision, code, message, reported_at, asked_at) VALUES ('e1', 'r900-a', '', '', now(), now())}
);
like( sql($acceptable), qr/,r900-a\}/, 'bundle: until one is confirmed the earlier ones may decide' );
sql($settle);
is( sql($acceptable), '{r900-a}', 'bundle: once every engine has it, only it may decide' );
sql(q{UPDATE bundle_state SET acceptable = '{r899-z,r900-a}'});

# Before it commits, the publisher waits for a lock that is released once the settler waits for the publisher.
my $gate = psql_of( 'gate', 'SELECT pg_advisory_lock(42), pg_sleep(60)' );
comes(q{application_name = 'gate' AND wait_event = 'PgSleep'});
my $publisher = psql_of( 'publisher', 'BEGIN; ' . publish('r901-b') . '; SELECT pg_advisory_xact_lock(42); COMMIT' );
comes(q{application_name = 'publisher' AND wait_event = 'advisory'});
my $settler = psql_of( 'settler', $settle );
is( comes(q{application_name = 'settler' AND wait_event_type = 'Lock'}), 't',
    'bundle: a report confirms the previous one while the next is being published' );
sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'gate' AND datname = current_database()}
);
is( join( ' ', map { $_->wait(30) // 'late' } $publisher, $settler ), '0 0', '... both succeed' );
is( sql('SELECT revision FROM bundle_state s JOIN bundle b ON b.id = s.served'), 'r901-b',
    '... the new one is served' );
is( sql($acceptable), '{r899-z,r900-a,r901-b}',
    '... and may decide: the late confirmation takes nothing away (decisions.md "Which revisions may decide")' );

# ---- set up by four at once

my $empty = $postgres->database( empty => 1 );
my $count = sub { return $postgres->sql( $_[0], $empty ) };
my @at    = map {
    Authz::Process->start(
        name    => "migrate$_",
        env     => { %{ settings( $postgres->url($empty) ) }, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 30_000 },
        command => [ Authz::Path::program('authzctl'), qw(db migrate) ] )
} 1 .. 4;
$until = time + 60;
sleep 0.05 while grep( { $_->alive } @at ) && time < $until;
my ( $made, $keys ) = ( 0, 0 );
for my $one (@at) {
    my $said = $one->log_text;
    like( $said, qr/^policy: /m, 'db migrate by four at once: it succeeds' );
    $made += $1 if $said =~ /^partitions: (\d+) created/m;
    $keys++ if $said =~ /^signing keys: created/m;
}
is( $made,
    $count->(
        'SELECT count(*) FROM pg_inherits WHERE inhparent IN (\'access_token\'::regclass, \'audit_log\'::regclass, \'refresh_token\'::regclass)'
    ),
    'partitions: each is counted by the one that made it' );
ok( $keys >= 1 && $keys <= 10, 'signing keys: a process that reports a new key made one: no more reports than keys' )
  or diag( "$keys say so\n", map { $_->log_text } @at );
is( $count->(q{SELECT string_agg(use || ' ' || state, ', ' ORDER BY use, state) FROM signing_key}),
    'access active, access active, access next, access next, audit active, audit next, oidc active, oidc next, statement active, statement next',
    '... and each is there once' );

done_testing;

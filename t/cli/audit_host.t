#!/usr/bin/perl
# The log over all audit rows when hosts, clocks and days change (decisions.md "Audit proof"): a clock that went back, a host that lost
# its files, and a day that retention drops while the log is verified.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use Test::More;

use Authz::Check    ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authzctl;

my $stack  = Authz::Stack->start;
my $dir    = File::Temp->newdir;
my $env    = { %{ $stack->settings }, SVC_AUDIT_CHECKPOINT_FILE => "$dir/filed" };
my $signed = "$env->{SVC_RUNTIME_DIR}/audit-signed";
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my @tables = qw(log_state tile note checkpoint);

sub sql { return $stack->sql( $_[0] ) }
sub run { return ctl_is( $_[0], [ split / /, $_[1] ], $_[2], env => $env ) }

# Rows as the service writes them, with these times.
sub make_rows {
    my ( $count, $at ) = @_;
    sql("INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome) SELECT nextval('audit_id_seq'), $at, 'made', '/token', 'token', 'POST', 200, 'allowed' FROM generate_series(1, $count)"
    );
    return;
}

sub copy_log { my ($name) = @_; sql("CREATE TABLE ${name}_$_ AS SELECT * FROM audit_$_") for @tables; return }

# Statements that put the log back as it was copied.
sub put_back {
    my ($name) = @_;
    return map { ( "DELETE FROM audit_$_", "INSERT INTO audit_$_ SELECT * FROM ${name}_$_" ) } @tables;
}

new_audit_log($stack);
run( 0, 'audit seal', 'the log begins' );

# ---- clock_back: ids give the order, whatever the clocks of hosts say

my $today = sql(q{SELECT (now() AT TIME ZONE 'UTC')::date - date '2026-01-01'});
sql("SELECT partition_create('audit_log', $today - $_)") for 1, 2;
make_rows( 3, q{now()} );
make_rows( 3, q{now() - interval '26 hours'} );
make_rows( 3, q{now() + interval '10 minutes'} );
make_rows( 3, q{now()} );
make_rows( 1, q{date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' - interval '1 millisecond'} ); # midnight
sql(q{SELECT nextval('audit_id_seq')});   # deferred_row_killed_host: an id that was given out, and a row that never was
make_rows( 1, q{date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC'} );
run(0, 'audit seal',
    'clock_back, midnight: rows of a clock that went back by a day, of one that is ahead, and of the end of a day' );
my $report = run( 0, 'audit verify --json --quiet', '... audit verify' )->{json};
cmp_ok( $report->{rows}, '>=', 14, '... has them all' );
my $row = sql(q{SELECT id FROM audit_log WHERE created_at < now() - interval '25 hours' ORDER BY id LIMIT 1});
like( run( 0, "audit prove $row", '... audit prove' )->{out}, qr/^index \d+$/m, '... proves one' );
sql("UPDATE audit_log SET created_at = created_at + interval '1 hour' WHERE id = $row");
is_deeply(
    run( 1, 'audit verify --json --quiet', '... a time that was changed after the seal' )->{json}{first},
    [ { fault => 'changed row', at => $row } ], '... is found' );
sql("UPDATE audit_log SET created_at = created_at - interval '1 hour' WHERE id = $row");

# ---- what is no change of a row, and a day that is dropped without a note

$stack->token( @crm, scope => 'orders.read' );
run( 0, 'audit seal', 'a decision' );
sql(q{CREATE TABLE asked AS SELECT * FROM audit_log WHERE policy_input IS NOT NULL ORDER BY id DESC LIMIT 1});
my $text   = Authz::Check::unpack_text( sql(q{SELECT encode(policy_input, 'hex') FROM asked}) );
my $packed = Authz::Check::pack_text($text);
isnt( $packed, sql(q{SELECT encode(policy_input, 'hex') FROM asked}), 'its question, packed in another way' );
sql("UPDATE audit_log SET policy_input = decode('$packed', 'hex') WHERE id = (SELECT id FROM asked)");

sub first_faults {
    my ( $status, $name ) = @_;
    return [ map {"$_->{fault} $_->{at}"} @{ run( $status, 'audit verify --json --quiet', $name )->{json}{first} } ];
}
is_deeply( first_faults( 0, 'other_dictionary: audit verify' ), [], '... finds no change: the leaf is of the text' );
sql('UPDATE audit_log SET policy_input = asked.policy_input FROM asked WHERE audit_log.id = asked.id');
my $yesterday = $today - 1;
sql("CREATE TABLE kept_day AS SELECT * FROM audit_log_p$yesterday");
my $first_of_day = sql(
    q{SELECT min(id) FROM kept_day WHERE id > (SELECT (line::json -> 'begin' ->> 'upTo')::bigint FROM audit_note WHERE leaf = 0)}
);
sql("DROP TABLE audit_log_p$yesterday");
is( first_faults( 1, 'dropped_by_hand: a day that was dropped without a note' )->[0],
    "missing row $first_of_day",
    '... misses its first row' );
sql($_) for "SELECT partition_create('audit_log', $yesterday)", 'INSERT INTO audit_log SELECT * FROM kept_day',
  'DROP TABLE kept_day, asked';
is_deeply( first_faults( 0, '... put back' ), [], '... is whole' );

# ---- writers and hosts beside one another

is( sql(q{SELECT seqcache FROM pg_sequence WHERE seqrelid = 'audit_id_seq'::regclass}),
    1, 'seq_cache_1: no session keeps ids, so a smaller one is never given out later (decisions.md "Audit proof")' );

sub session {
    my ( $name, $statements ) = @_;
    return Authz::Process->start(
        name    => $name,
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -v ON_ERROR_STOP=1 -h), $stack->{postgres}->socket,
            '-p', $Authz::Postgres::PORT, '-d', $stack->{database}, '-c', $statements ] );
}

sub is_held {
    my ($granted) = @_;
    return Authz::Process::until_true(
        60,
        sub {
            sql(    q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4712 AND database = }
                  . "(SELECT oid FROM pg_database WHERE datname = current_database()) AND granted = '$granted'" ) > 0;
        } );
}
my $gate = session( 'gate', 'SELECT pg_advisory_lock(4712), pg_sleep(600)' );
ok( is_held('t'), 'a gate' );
my $insert =
  q{INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome) SELECT nextval('audit_id_seq'), now(), 'late', '/token', 'token', 'POST', 200, 'allowed'};
my $writer = session( 'writer', "$insert; SELECT pg_advisory_lock(4712)" );
ok( is_held('f'), 'a writer that has an id and does not commit' );
make_rows( 2, q{now()} );
my $sealer = Authz::Process->start(
    name    => 'sealer', env => $env,
    command => [ Authz::Path::program('authzctl'), qw(audit seal) ] );
ok( defined Authz::Process::until_true(
        60,
        sub {
            sql(q{SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database() AND query LIKE '%virtualtransaction = ANY%'}
            ) > 0;
        } ),
    'late_writer_waits: a seal looks for it' );
is( sql(q{SELECT count(*) FROM audit_log_state WHERE up_to >= (SELECT max(id) - 2 FROM audit_log)}),
    0, '... and takes no row with a later id' );
sql(q{SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND objid = 4712 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())}
);
$gate->stop;
is( $writer->wait(60), 0, '... until it commits' );
is( $sealer->wait(60), 0, '... the seal ends' );
run( 0, 'audit seal', '... or the next one' );
is( sql(q{SELECT (SELECT up_to FROM audit_log_state) >= max(id) FROM audit_log}), 't', '... takes them all' );
is_deeply( first_faults( 0, '... and audit verify' ), [], '... misses none' );

my $elsewhere = File::Temp->newdir;
mkdir "$elsewhere/$_" or die "$elsewhere: $!" for 1, 2;
for my $round ( 1 .. 3 ) {
    make_rows( 5, q{now()} );
    my @host = map {
        Authz::Process->start(
            name    => "host $_", env => { %$env, SVC_RUNTIME_DIR => $_, SVC_AUDIT_CHECKPOINT_FILE => "$_/filed" },
            command => [ Authz::Path::program('authzctl'), qw(audit seal) ] )
    } map {"$elsewhere/$_"} 1, 2;
    my @status = map { $_->wait(60) } @host;
    ok( ( grep { $_ == 0 } @status ) > 0, "two_hosts: one of them seals, or both after one another, round $round" );
}
is_deeply( first_faults( 0, '... audit verify' ), [], '... finds each row once' );
unlink $signed;
unlink "$dir/filed";
run( 0, 'audit seal', '... and the first host goes on' );

SKIP: {
    skip 'no /dev/full', 3 if !-c '/dev/full';
    make_rows( 1, q{now()} );
    like(
        ctl_is( 1, [qw(audit seal)], 'file_disk_full', env => { %$env, SVC_AUDIT_CHECKPOINT_FILE => '/dev/full' } )
          ->{err},
        qr/SVC_AUDIT_CHECKPOINT_FILE: .*No space left on device/, '... is said' );
    run( 0, 'audit seal', '... and the checkpoint is written when there is room' );
}

# ---- a host that lost its files, and a log that was cut back meanwhile

my $old_size = sql('SELECT size FROM audit_log_state');
copy_log('old');
make_rows( 3, q{now()} );
run( 0, 'audit seal', 'a later checkpoint' );
copy_log('new');
my $cut = "UPDATE audit_log_state SET size = $old_size, up_to = (SELECT up_to FROM old_log_state)";

sub seals_not {
    my ( $why, $name ) = @_;
    my $before = sql('SELECT count(*) FROM audit_checkpoint');
    like( run( 1, 'audit seal', $name )->{err}, qr/not sealed: \Q$why\E; run `authzctl audit verify`/, '... says why' );
    is( sql('SELECT count(*) FROM audit_checkpoint'), $before, '... and signs nothing' );
    return;
}
unlink $signed;
rename "$dir/filed", "$dir/away" or die "filed: $!";
sql($cut);
seals_not(
    'the newest checkpoint is not of the log in the database',
    'a host without its files, and a log that is shorter than its newest checkpoint' );
rename "$dir/away", "$dir/filed" or die "away: $!";
sql($_) for put_back('old');
seals_not(
    'the database no longer has the end of SVC_AUDIT_CHECKPOINT_FILE',
    'a host without SVC_RUNTIME_DIR, and a log that was cut back to an earlier checkpoint' );
sql($_) for map {"DELETE FROM audit_$_"} @tables;
seals_not( 'the database no longer has the end of SVC_AUDIT_CHECKPOINT_FILE', '... one that was taken away' );
put_file(
    $dir, 'filed',
    do { local ( @ARGV, $/ ) = "$dir/filed"; <> }
      . "other.example/audit\n99\n" . 'A' x 43 . "=\n\n\xe2\x80\x94 other.example/audit AAAA\ncut" );
seals_not(
    'the database no longer has the end of SVC_AUDIT_CHECKPOINT_FILE',
    '... with a checkpoint of others, and an end that was cut, behind ours' );
sql($_) for put_back('new');
run( 0, 'audit seal', '... until the log is as it was' );
sql($_) for put_back('old');
unlink $signed;
run( 0, 'audit seal --new-epoch restored', 'audit seal --new-epoch: the file ends with the new epoch' );
make_rows( 1, q{now()} );
unlink $signed;
run( 0, 'audit seal', '... so the host goes on, also without SVC_RUNTIME_DIR' );
like( run( 0, 'audit checkpoint', 'audit checkpoint' )->{out}, qr{\A\S+/audit/2\n}, '... in the new epoch' );

sql($_) for put_back('new');
seals_not(
    'the database no longer has what this host signed last',
    'restored_backup: a database that was restored to a time before the epoch' );
unlink $signed;
seals_not(
    'the database no longer has the end of SVC_AUDIT_CHECKPOINT_FILE',
    '... also without SVC_RUNTIME_DIR' );

# ---- the number of an epoch is above every one that was told: two logs of one name could not be told apart

sub epoch_is {
    my ( $epoch, $words, $name ) = @_;
    run( 0, "audit seal --new-epoch restored$words", $name );
    like(
        run( 0, 'audit checkpoint', '... audit checkpoint' )->{out}, qr{\A\S+/audit/$epoch\n},
        "... is epoch $epoch" );
    return;
}
epoch_is( 3, '', 'a new epoch of a database that does not know the second one, which the file has' );
is_deeply(
    run( 0, 'audit verify --json --quiet', 'audit verify' )->{json}{first},
    [], '... takes a number that a restore lost, as the first note says' );
sql($_) for put_back('new');
unlink "$dir/filed";
epoch_is( 4, '', '... of one that does not know the third one, which SVC_RUNTIME_DIR has' );
sql($_) for put_back('new');
unlink "$dir/filed", $signed;
epoch_is( 8,  ' --after 7', 'audit seal --after: epochs that are known elsewhere' );
epoch_is( 9,  ' --after 3', '... a smaller number does not matter' );
epoch_is( 10, '',           '... and the database has those since' );
sql('UPDATE audit_log_state SET epoch = 9');
sql("DELETE FROM audit_$_ WHERE epoch = 10") for qw(tile note);
unlink "$dir/filed", $signed;
epoch_is( 11, '', '... also where a checkpoint alone tells of it' );
sql('DELETE FROM audit_note WHERE epoch = 8');
like(
    run( 1, 'audit verify --json --quiet', 'an epoch whose notes were taken away' )->{json}{first}[0]{fault},
    qr/missing begin of epoch/, '... is missed: the next one names it' );
for my $wrong ( '-1', 'x', '1000000', '' ) {
    ctl_is( 64, [ qw(audit seal --new-epoch restored --after), $wrong ], "refused: --after '$wrong'", env => $env );
}
run( 64, 'audit seal --after 3', 'refused: --after without --new-epoch' );
epoch_is( 1_000_000, ' --after 999999', 'the last number' );
like(
    run( 1, 'audit seal --new-epoch restored', 'refused: a number behind it' )->{err},
    qr/number up to 1000000: .*SVC_AUDIT_CHECKPOINT_FILE/, '... says where to look' );

# ---- dropped_during_verify

new_audit_log($stack);
unlink "$dir/filed";
sql( 'DROP TABLE ' . join ', ', map { ( "old_$_", "new_$_" ) } @tables );
run( 0, 'audit seal', 'the log begins again' );
my $day = $today - 3;
sql("SELECT partition_create('audit_log', $day)");
make_rows( 3, q{now() - interval '3 days'} );
run( 0, 'audit seal', 'rows of an older day are sealed' );
copy_log('old');
sql("CREATE TABLE kept AS SELECT * FROM audit_log_p$day");
my %retain = ( SVC_AUDIT_RETENTION_DAYS => 1, SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 86400 );
ctl_is( 0, ['maintain'], 'retention drops the day', env => { %$env, %retain } );
sql(q{UPDATE job SET due_at = now() + interval '1 day' WHERE name = 'audit_seal'});
SKIP: {
    skip 'the day has changed', 4 if sql("SELECT to_regclass('audit_log_p$day')") ne '';
    copy_log('new');
    sql($_)
      for put_back('old'), "SELECT partition_create('audit_log', $day)", 'INSERT INTO audit_log SELECT * FROM kept';

    # While verify waits for its first tile, the day goes, with its note and checkpoint.
    my $wait = q{DO $$ BEGIN FOR i IN 1 .. 2000 LOOP EXIT WHEN EXISTS (SELECT 1 FROM pg_locks WHERE relation = }
      . q{'audit_tile'::regclass AND NOT granted); PERFORM pg_sleep(0.01); END LOOP; END $$};
    my $holder = Authz::Process->start(
        name    => 'holder',
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -v ON_ERROR_STOP=1 -h), $stack->{postgres}->socket,
            '-p',      $Authz::Postgres::PORT, '-d', $stack->{database}, '-c',
            join '; ', 'LOCK TABLE audit_tile IN ACCESS EXCLUSIVE MODE', $wait, put_back('new'),
            "DROP TABLE audit_log_p$day" ] );
    Authz::Process::until_true(
        20,
        sub {
            sql(q{SELECT count(*) FROM pg_locks WHERE relation = 'audit_tile'::regclass AND granted AND mode = 'AccessExclusiveLock'}
            ) eq '1';
        } );
    $report = run( 0, 'audit verify --json --quiet', 'dropped_during_verify: audit verify begins again' )->{json};
    is( $holder->wait(20),                                            0, '... after the day was dropped' );
    is( $report->{dropped},                                           3, '... and has its rows as dropped' );
    is( sql('SELECT count(*) FROM audit_log l JOIN kept USING (id)'), 0, '... which are gone' );
}

done_testing;

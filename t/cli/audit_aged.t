#!/usr/bin/perl
# SVC_AUDIT_PROOF_DAYS: the hashes of old audit rows are no longer kept, and what is left still proves the rest (decisions.md "Audit
# proof").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use AuditClock qw(run seal_rows);
use Authzctl;

my $stack = AuditClock::start();
my $env   = AuditClock::environment();
my %short = AuditClock::short();
my $dir   = AuditClock::directory();
my $today = sql(q{SELECT (now() AT TIME ZONE 'UTC')::date - date '2026-01-01'});

sub sql { return $stack->sql( $_[0] ) }

sub count { my ( $table, $where ) = @_; return sql("SELECT count(*) FROM audit_$table WHERE $where") }

# What verify finds, with this file of checkpoints.
sub verify {
    my ( $faults, $name, $file ) = @_;
    my $report = run( @$faults ? 1 : 0, "audit verify --json --quiet --checkpoint $file", $name )->{json};
    my @first  = map {"$_->{fault} $_->{at}"} @{ $report->{first} };
    is_deeply( $first[0], $faults->[0], '... with its first fault' );
    return $report;
}

sub checkpoint { return run( 0, 'audit checkpoint', 'audit checkpoint' )->{out} }

# ---- a log of which the first leaves are old

new_audit_log($stack);
sql(q{UPDATE job SET due_at = now() + interval '1 day'});
sql('DELETE FROM audit_log');
unlink "$env->{SVC_RUNTIME_DIR}/audit-signed";
run( 0, 'audit seal --quiet', 'the log begins' );
seal_rows( 900, $today - 6, 412 );
my $kept = checkpoint();
seal_rows( 300, $today - 6, 411 );
my $same_day = checkpoint();
seal_rows( 305, $today - 6, 411 );
seal_rows( 300, $today - 5, 405 );
my $last_old = seal_rows( 290, $today - 4, 402 );
my $younger  = seal_rows( 300, $today - 4, 300 );
seal_rows( 300, $today, 0 );
my $newest = checkpoint();
my $aged   = int( ( $last_old - 1 ) / 256 ) * 256;
my $files  = put_file( $dir, 'kept', $kept . $same_day . $newest );
is( verify( [], 'the log as it is', $files )->{aged}, 0, '... has no aged leaf' );

run( 0, 'maintain', 'while rows of the old days are there', env => { SVC_AUDIT_PROOF_DAYS => 400 } );
is( count( 'note', q(line LIKE '{"v":1,"aged"%') ), 0, '... their hashes stay' );
run( 0, 'maintain', 'SVC_AUDIT_PROOF_DAYS=0', env => { %short, SVC_AUDIT_PROOF_DAYS => 0 } );
run( 0, 'maintain', '... again',              env => { %short, SVC_AUDIT_PROOF_DAYS => 0 } );
is( count( 'note', q(line LIKE '{"v":1,"aged"%') ), 0, '... keeps all' );
my $tiles = count( 'tile', 'level = 0' );
my $upper = sql(
    'SELECT string_agg(t::text, chr(10) ORDER BY level, n) FROM audit_tile t WHERE level > 0 AND n = 0 AND width = 256'
);

# ---- the owner of the database, before: what a tile says of a leaf is in no hash, and could let another row be removed later

my $spot = q{position('\x0400040004000400'::bytea in leaves)};
for my $case (
    [ 'is a note',                      "set_byte(leaves, $spot - 1, 5)" ],
    [ 'is of a day that no note drops', "set_byte(set_byte(leaves, $spot, 6), $spot + 2, 5)" ] )
{
    my ( $what, $forged ) = @$case;
    sql('CREATE TABLE honest AS SELECT * FROM audit_tile WHERE level = 0 AND n = 1');
    sql("UPDATE audit_tile SET leaves = $forged WHERE level = 0 AND n = 1");
    my $said = ctl( ['maintain'], env => { %$env, %short, SVC_AUDIT_PROOF_DAYS => 400 } );
    like(
        "$said->{out}$said->{err}", qr/tile 1 of epoch 1 of the audit log is not what its notes say/,
        "a tile that says a row $what" );
    is( count( 'note', q(line LIKE '{"v":1,"aged"%') ), 0, '... does not age' );
    sql('UPDATE audit_tile t SET leaves = h.leaves FROM honest h WHERE t.level = 0 AND t.n = 1');
    sql('DROP TABLE honest');
}
run( 0, 'maintain', 'SVC_AUDIT_PROOF_DAYS=400', env => { %short, SVC_AUDIT_PROOF_DAYS => 400 } );
sql(q{UPDATE job SET due_at = now() + interval '1 day'});

# ---- what is left

like(
    sql(q(SELECT line FROM audit_note WHERE line LIKE '{"v":1,"aged"%')),
    qr/\A\{"v":1,"aged":\{"days":400,"epochs":\[\{"epoch":1,"leaves":$aged,"gone":\[/,
    'a note says of which epoch which leaves have aged' );
is( count(
        'tile',
        "level = 0 AND n > 0 AND n < $aged / 256 AND NOT EXISTS (SELECT 1 FROM audit_checkpoint WHERE (size - 1) / 256 = n)"
    ),
    0,
    '... their tiles are gone, but for those that a checkpoint ends in' );
cmp_ok( count( 'tile', 'level = 0' ), '<', $tiles, '... so there are fewer' );
is( count( 'tile',       "level = 0 AND n = $aged / 256" ), 1, '... the tile of the seal stays' );
is( count( 'note',       "leaf > 0 AND leaf < $aged" ),     0, '... their notes are gone' );
is( count( 'checkpoint', "size <= $last_old" ),             4, '... one checkpoint a day stays' );
my $report = verify( [], 'audit verify', $files );
is( $report->{aged},            $aged, '... says how many leaves it does not check' );
is( $report->{agedCheckpoints}, 1,     '... and that a checkpoint from elsewhere cannot be compared' );
is_deeply(
    [ map {"$_->{rows} $_->{missing}"} @{ $report->{droppedDays} } ],
    [ map {"$_->{rows} $_->{rows}"} @{ $report->{droppedDays} } ],
    '... no note of a dropped day lets further rows pass' );
is( scalar @{ $report->{droppedDays} }, 3, '... of the three days' );
like(
    run( 0, 'audit verify --quiet', 'audit verify' )->{out}, qr/^aged         $aged leaves, not checked/m,
    '... as text too' );
my $row = sql('SELECT max(id) FROM audit_log');
like( run( 0, "audit prove $row", 'audit prove: a row of today' )->{out}, qr/^index \d+$/m, '... is proved' );
run( 1, 'audit prove 1', '... an old one is not' );
like( run( 1, 'audit lines', 'audit lines' )->{err}, qr/SVC_AUDIT_PROOF_DAYS/, '... says why it cannot' );
run( 0, 'maintain', 'a second run', env => { %short, SVC_AUDIT_PROOF_DAYS => 400 } );
sql(q{UPDATE job SET due_at = now() + interval '1 day'});
is( count( 'note', q(line LIKE '{"v":1,"aged"%') ), 1, '... finds nothing more' );
seal_rows( 3, $today, 0 );
verify( [], 'the log goes on', $files );

# ---- the owner of the database

sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for qw(log tile note checkpoint);

sub tampered {
    my ( $changes, $faults, $name ) = @_;
    sql($_) for @$changes;
    verify( $faults, $name, $files );
    for my $table (qw(log tile note checkpoint)) {
        sql("DELETE FROM audit_$table");
        sql("INSERT INTO audit_$table SELECT * FROM kept_$table");
    }
    return;
}
my $note = sql(q(SELECT leaf FROM audit_note WHERE line LIKE '{"v":1,"aged"%'));
tampered( ["DELETE FROM audit_log WHERE id = $row"], ["missing row $row"], 'a row that was removed' );
tampered(
    [   "DELETE FROM audit_log WHERE id = $row",
        qq(INSERT INTO audit_note VALUES (1, 5, '{"v":1,"dropped":{"day":$today,"date":"2026-01-01","rows":99}}')) ],
    ["missing row $row"],
    'a note of a dropped day among the aged leaves excuses nothing' );
my $beyond = $aged + 256;
tampered(
    [qq(UPDATE audit_note SET line = replace(line, '"leaves":$aged', '"leaves":$beyond') WHERE leaf = $note)],
    ["changed or missing note at leaf $note"],
    'a note that says that more leaves have aged' );
tampered(
    [   "DELETE FROM audit_log WHERE id = $row",
        qq(INSERT INTO audit_note VALUES (1, 1000000, '{"v":1,"dropped":{"day":$today,"date":"2026-01-01","rows":99}}')),
        q{INSERT INTO audit_checkpoint (epoch, size, note) VALUES (1, 1000001, 'x')} ],
    ["missing row $row"],
    'a note of a dropped day behind the log excuses nothing, with a checkpoint of its size' );
tampered(
    ["DELETE FROM audit_note WHERE leaf = $note"], ['forged or missing tile at leaf 256'],
    'without the note the hashes are missing' );
tampered(
    ["DELETE FROM audit_tile WHERE level = 0 AND n = $aged / 256"],
    ["forged or missing tile at leaf $aged"],
    'a tile behind the aged leaves' );
my $daily = sql('SELECT min(size) FROM audit_checkpoint');
tampered(
    [   "UPDATE audit_checkpoint SET note = (SELECT note FROM audit_checkpoint WHERE size = $younger) WHERE size = $daily"
    ],
    ["forged checkpoint of size $daily"],
    'the checkpoint of an old day' );
tampered(
    [   "INSERT INTO audit_log SELECT created_at, (SELECT (line::json -> 'begin' ->> 'upTo')::bigint + 1 FROM audit_note WHERE leaf = 0), request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, outcome FROM audit_log WHERE id = $row"
    ],
    [ 'added row ' . ( sql(q{SELECT (line::json -> 'begin' ->> 'upTo')::bigint + 1 FROM audit_note WHERE leaf = 0}) ) ],
    'a row among the aged ones' );
verify( [], 'everything is as it was', $files );

# ---- the first seal of a log, while it is under way: rows and no seal yet

new_audit_log($stack);
sql('DELETE FROM audit_log');
run( 0, 'audit seal --quiet', 'a log begins' );
seal_rows( 5, $today, 0 );
my $rows = sql(q{SELECT size - 3 FROM audit_log_state});
sql('DELETE FROM audit_checkpoint');
sql(q{DELETE FROM audit_note WHERE leaf > 0});
sql('UPDATE audit_log_state SET size = size - 2, kid = NULL');
my $young = run( 0, 'audit verify --json --quiet', 'audit verify during the first seal' )->{json};
is_deeply( $young->{first}, [], '... misses no checkpoint' );
is( $young->{unsealed}, $rows, '... and says that the rows are not sealed' );
my $late = run( 1, 'audit verify --json --quiet', '... a day later', days => -1 )->{json};
is( $late->{first}[0]{fault}, 'missing checkpoint of size', '... its checkpoint is missing' );
$late = run( 1, 'audit verify --json --quiet', '... by a clock that is a day behind', days => 1 )->{json};
is( $late->{first}[0]{fault}, 'missing checkpoint of size', '... too' );

# ---- a log that begins has its first note at once

sql(q{CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'refused'; END$$});
sql('CREATE TRIGGER refuse BEFORE INSERT ON audit_note EXECUTE FUNCTION refuse()');
new_audit_log($stack);
run( 1, 'audit seal --quiet', 'a log whose first note cannot be stored' );
is( sql('SELECT count(*) FROM audit_log_state'), 0, '... has not begun' );
sql('DROP TRIGGER refuse ON audit_note');

# ---- a clock that went back: the order is that of sizes

new_audit_log($stack);
sql('DELETE FROM audit_log');
run( 0, 'audit seal --quiet', 'the log begins' );
my @size      = map { seal_rows( 300, $today - 6, $_ ) } 430, 429, 430, 429, 430, 428;
my $kept_size = seal_rows( 300, $today - 6, 300 );
seal_rows( 300, $today - 6, 420 );
sql('UPDATE audit_checkpoint SET made_at = now()');
$newest = checkpoint();
$files  = put_file( $dir, 'back', $newest );
run( 0, 'maintain', 'the rows are dropped',     env => { %short, SVC_AUDIT_PROOF_DAYS => 0 } );
run( 0, 'maintain', 'SVC_AUDIT_PROOF_DAYS=400', env => { %short, SVC_AUDIT_PROOF_DAYS => 400 } );
my $end = int( ( $size[-1] - 1 ) / 256 ) * 256;
is( verify( [], 'audit verify', $files )->{aged}, $end, 'the seal of a clock that went back lets nothing younger age' );
is( sql("SELECT string_agg(size::text, ' ' ORDER BY size) FROM audit_checkpoint WHERE size <= $kept_size"),
    "$size[0] $size[4] $size[5] $kept_size",
    '... and begins no day again: one checkpoint a day stays, whatever made_at says' );

# ---- the setting

my $checked =
  ctl( [qw(config check --offline)], env => { %$env, SVC_AUDIT_RETENTION_DAYS => 90, SVC_AUDIT_PROOF_DAYS => 89 } );
like(
    "$checked->{out}$checked->{err}", qr/SVC_AUDIT_PROOF_DAYS: 89 days are shorter than SVC_AUDIT_RETENTION_DAYS/,
    'SVC_AUDIT_PROOF_DAYS shorter than the retention is refused' );

done_testing;

#!/usr/bin/perl
# The log over all audit rows and those who write rows, keys and files (decisions.md "Audit proof"): late transactions, ids without a row,
# two hosts, a rotated key, a full disk, and a database that lost rows.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp   ();
use MIME::Base64 ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authzctl;

my $stack = Authz::Stack->start;
my $dir   = File::Temp->newdir;
my $env   = $stack->settings;
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub sql { return $stack->sql( $_[0] ) }

sub run {
    my ( $status, $words, $name, %more ) = @_;
    return ctl_is( $status, [ split / /, $words ], $name, env => { %$env, %more } );
}
sub size { return sql('SELECT size FROM audit_log_state') }

sub insert {
    my ( $count, $at ) = @_;
    return
      "INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome) SELECT nextval('audit_id_seq'), $at, 'made', '/token', 'token', 'POST', 200, 'allowed' FROM generate_series(1, $count)";
}
sub make_rows { my ( $count, $at ) = @_; return sql( insert( $count, $at // 'now()' ) ) }

# Verify, with these faults.
sub faults_are {
    my ( $wanted, $name, $more ) = @_;
    my $report = run( @$wanted ? 1 : 0, 'audit verify --json --quiet' . ( $more // '' ), $name )->{json};
    is_deeply( [ map {"$_->{fault} $_->{at}"} @{ $report->{first} } ], $wanted, '... with its faults' );
    return $report;
}

new_audit_log($stack);
$stack->token( @crm, scope => 'orders.read' ) for 1 .. 3;
sql('DELETE FROM audit_log WHERE policy_input IS NULL');
run( 0, 'audit seal', 'the log begins' );
my $begin = sql(q{SELECT line::json -> 'begin' ->> 'upTo' FROM audit_note WHERE leaf = 0});

# ---- seq_cache_1

is( sql(q{SELECT seqcache FROM pg_sequence WHERE seqrelid = 'audit_id_seq'::regclass}),
    1, 'seq_cache_1: no session takes ids that it may use later' );
sql('ALTER SEQUENCE audit_id_seq CACHE 20');
like(
    run( 1, 'audit seal', '... another cache' )->{err},
    qr/audit_id_seq has CACHE 20.*ALTER SEQUENCE audit_id_seq CACHE 1/,
    '... is refused, with what to do' );
sql('ALTER SEQUENCE audit_id_seq CACHE 1');

# ---- late_writer_waits: a row whose transaction commits after rows with larger ids

sub psql {
    my ( $name, @statements ) = @_;
    return Authz::Process->start(
        name    => $name,
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
            $Authz::Postgres::PORT,        '-d', $stack->{database}, map { ( '-c', $_ ) } @statements ] );
}

sub waits {
    my ($what) = @_;
    my $found =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND $what";
    return Authz::Process::until_true( 60, sub { sql($found) > 0 } ) // die "nothing waits: $what\n";
}
my $gate = psql( 'gate', 'SELECT pg_advisory_lock(4711, 1)', 'SELECT pg_sleep(600)' );
waits(q{query LIKE '%pg_sleep(600)%'});
my $late = psql( 'late', 'BEGIN', insert( 1, 'now()' ), 'SELECT pg_advisory_xact_lock(4711, 1)', 'COMMIT' );
waits(q{wait_event = 'advisory'});
my $before = size();
my $rows   = sql('SELECT count(*) FROM audit_log');
make_rows(3);
run( 0, 'audit seal', 'late_writer_waits: a row that is not committed' );
is( size(), $before, '... holds the rows with larger ids back' );
sql(q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()}
);
Authz::Process::until_true( 60, sub { sql('SELECT count(*) FROM audit_log') == $rows + 4 } );
$_->stop for $gate, $late;
run( 0, 'audit seal', '... once it is committed' );
cmp_ok( size(), '>=', $before + 4, '... all are sealed' );
faults_are( [], '... in the order of ids' );

# ---- midnight, and a deferred row that died with its host

my $today = sql(q{SELECT (now() AT TIME ZONE 'UTC')::date - date '2026-01-01'});
my $start = "timestamptz '2026-01-01 00:00:00+00' + $today * interval '1 day'";
sql("SELECT partition_create('audit_log', $today - $_)") for 1, 2;
make_rows( 2, $start );
make_rows( 2, "$start - interval '1 millisecond'" );
sql(q{SELECT nextval('audit_id_seq') FROM generate_series(1, 5)});
make_rows( 2, $start );
run( 0, 'audit seal', 'midnight: rows of the day before, after rows of the day' );
my $report = faults_are( [], '... and deferred_row_killed_host: ids that no row has' );
my ($row)  = split /\n/, sql("SELECT id FROM audit_log WHERE created_at < $start ORDER BY id DESC LIMIT 1");
like( run( 0, "audit prove $row", '... audit prove' )->{out}, qr/^index \d+$/m, '... of the day before' );

# ---- other_dictionary: a document that another version packed

my ($packed) = split /\n/,
  sql("SELECT id FROM audit_log WHERE policy_input IS NOT NULL AND id > $begin ORDER BY id LIMIT 1");
SKIP: {
    skip 'no row with a question', 5 if !$packed;
    my ($extra) = run( 0, "audit prove $packed", 'a row with a question' )->{out} =~ /^extra (\S+)$/m;
    my ($input) = MIME::Base64::decode_base64($extra)                             =~ /"input":(\{.*\}),"decision":/s;
    my ( $length, $octets ) = ( length $input, '' );
    for ( ; $length >= 0x80 ; $length >>= 7 ) { $octets .= chr( 0x80 | $length & 0x7f ) }
    $octets .= chr $length;
    my $left = length($input) - 15;
    my $lz4  = "\xf0" . "\xff" x int( $left / 255 ) . chr( $left % 255 ) . $input;

    for my $name ( sort { $a <=> $b } 0 .. 1 ) {
        sql(    "UPDATE audit_log SET policy_input = decode('"
              . unpack( 'H*', chr($name) . $octets . $lz4 )
              . "', 'hex') WHERE id = $packed" );
        faults_are( [], "other_dictionary: the same text, packed with the dictionary $name" );
    }
}

# ---- two_hosts: one log, whoever seals

my $second = "$dir/run";
mkdir $second;
my %other = ( SVC_RUNTIME_DIR => $second );
make_rows(2);
run( 0, 'audit seal', 'two_hosts: one seals' );
make_rows(2);
run( 0, 'audit seal', '... another one goes on', %other );
make_rows(200);
my @both = map {
    my $its = $_;
    my $pid = fork // die "fork: $!";
    if ( !$pid ) { ctl( [qw(audit seal)], env => { %$env, %$its } ); require POSIX; POSIX::_exit(0) }
    $pid
} {}, \%other;
waitpid $_, 0 for @both;
run( 0, 'audit seal', '... and after both at once the first', %$_ ) for { }
, \%other;
$report = faults_are( [], '... the log is one' );
is( $report->{unsealed}, 0, '... with all rows' );

# ---- rotated_key

my $old = put_file( $dir, 'old', run( 0, 'audit keys', 'the keys of now' )->{out} );
sql(q{UPDATE signing_key SET created_at = created_at - interval '1 day' WHERE use = 'audit'});
run( 0, 'keys rotate --yes --use audit', 'rotated_key: keys rotate' );
make_rows(2);
run( 0, 'audit seal', '... the next seal' );
like(
    sql(q{SELECT line FROM audit_note ORDER BY epoch DESC, leaf DESC LIMIT 1 OFFSET 1}), qr/\A\{"v":1,"key":\{/,
    '... comes after a note with the key' );
my $new = put_file( $dir, 'new', run( 0, 'audit keys', '... audit keys' )->{out} );
faults_are( [], '... all that ever signed', " --keys $new" );
my $kept = put_file( $dir, 'kept', run( 0, 'audit checkpoint', '... a checkpoint' )->{out} );
faults_are( [], '... which verify takes', " --keys $new --checkpoint $kept" );
my ($keys) = map { local ( @ARGV, $/ ) = $_; <> } $old;
if ( $keys !~ /\Q@{[ sql(q{SELECT kid FROM signing_key WHERE use = 'audit' AND state = 'active'}) ]}\E/ ) {
    faults_are( [ 'forged checkpoint of size ' . size() ], '... and not with the keys of before', " --keys $old" );
}

# ---- file_disk_full

make_rows(1);
like(
    run( 1, 'audit seal', 'file_disk_full', SVC_AUDIT_CHECKPOINT_FILE => '/dev/full' )->{err},
    qr/SVC_AUDIT_CHECKPOINT_FILE: \/dev\/full: No space left on device; the checkpoints are appended when/,
    '... is told' );
is( sql('SELECT count(*) FROM audit_checkpoint WHERE filed_at IS NULL AND size = (SELECT size FROM audit_log_state)'),
    1, '... the checkpoint waits' );
run( 0, 'audit seal', '... until there is room', SVC_AUDIT_CHECKPOINT_FILE => "$dir/filed" );
my $size = size();
like(
    do { local ( @ARGV, $/ ) = "$dir/filed"; <> }, qr{/audit\n$size\n[^\n]+\n\n\S+ [^\n]+\n\z},
    '... and is in the file' );

# ---- dropped_by_hand, and restored_backup

my @tables = qw(log log_state tile note checkpoint);
sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for @tables;
my @gone = split /\n/,
  sql("SELECT id FROM audit_log WHERE created_at < $start AND id > $begin ORDER BY id");
my $partition = 'audit_log_p' . ( $today - 1 );
sql("ALTER TABLE audit_log DETACH PARTITION $partition");
faults_are( [ map {"missing row $_"} @gone ], 'dropped_by_hand: a day without a note of it' );
sql("DROP TABLE $partition");
sql("SELECT partition_create('audit_log', $today - 1)");
sql("INSERT INTO audit_log SELECT * FROM kept_log WHERE created_at < $start AND created_at >= $start - interval '1 day'"
);
faults_are( [], '... until its rows are back' );

make_rows(3);
run( 0, 'audit seal', 'rows after the backup' );
my $lost = put_file( $dir, 'lost', run( 0, 'audit checkpoint', '... and a checkpoint elsewhere' )->{out} );
my $last = size();
for my $table (@tables) {
    sql("DELETE FROM audit_$table");
    sql("INSERT INTO audit_$table SELECT * FROM kept_$table");
}
my $count = sql('SELECT count(*) FROM audit_checkpoint');
like(
    run( 1, 'audit seal', 'restored_backup: a host that signed more' )->{err},
    qr/the database no longer has what this host signed last.*--new-epoch REASON/, '... signs nothing' );
is( sql('SELECT count(*) FROM audit_checkpoint'), $count, '... and there is no checkpoint' );
faults_are(
    ["the log was rolled back behind the checkpoint of size $last"],
    '... and the checkpoint from elsewhere shows it', " --keys $new --checkpoint $lost" );
run( 0, 'audit seal --new-epoch restored', '... a new epoch goes on' );
make_rows(2);
run( 0, 'audit seal', '... and is sealed' );
faults_are( [], '... without a fault of its own' );

done_testing;

# The first line of each migration says what it does to a database in use: its kind, the locks that it takes on tables that were
# there, and whether rows are read or rewritten (store/schema/migration_plan.h). Each is held to what PostgreSQL does. Then `authzctl db plan`
# and the refusal of `authzctl db migrate` (doc/install.md).
use strict;
use warnings;

use Digest::SHA ();
use IO::Handle  ();
use IO::Pipe    ();
use JSON::PP    ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database( empty => 1 );
my @file     = sort glob Authz::Path::source('sql') . '/*.sql';

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/ = undef;
    return readline $in;
}
my %text = map { ( m{/([^/]+)\z} => slurp($_) ) } @file;

# The tables and their files, indexes and constraints before a migration; temporary tables, so none of them is seen below.
my $BEFORE = <<'SQL';
BEGIN;
CREATE TEMP TABLE was ON COMMIT DROP AS SELECT oid, relname, relfilenode FROM pg_class
  WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace;
CREATE TEMP TABLE had ON COMMIT DROP AS SELECT indexrelid AS oid FROM pg_index UNION ALL SELECT oid FROM pg_constraint;
SQL
my $AFTER = <<'SQL';
SELECT 'locks', relname, substring(string_agg(mode, ' ' ORDER BY array_position(ARRAY['AccessExclusiveLock', 'ExclusiveLock',
    'ShareRowExclusiveLock', 'ShareLock'], mode)) FROM '^(\w+)Lock')
  FROM was JOIN pg_locks ON relation = was.oid AND pid = pg_backend_pid()
  WHERE mode IN ('AccessExclusiveLock', 'ExclusiveLock', 'ShareRowExclusiveLock', 'ShareLock')
    AND EXISTS (SELECT 1 FROM pg_class c WHERE c.oid = was.oid) GROUP BY relname
UNION ALL SELECT 'rewrites', was.relname, '' FROM was JOIN pg_class c ON c.oid = was.oid
  WHERE c.relfilenode <> was.relfilenode
UNION ALL SELECT DISTINCT 'reads', relname, '' FROM was WHERE EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = was.oid
    AND i.indexrelid NOT IN (SELECT oid FROM had)) OR EXISTS (SELECT 1 FROM pg_constraint c WHERE c.conrelid = was.oid AND
    c.contype IN ('c', 'f') AND c.convalidated AND c.oid NOT IN (SELECT oid FROM had))
ORDER BY 1, 2;
COMMIT;
SQL

# Rows that statements of the file itself write or read, which an empty database does not show.
sub of_text {
    my ( $text, %was ) = @_;
    $text =~ s/--.*//g;
    $text =~ s/\$\$.*?\$\$//gs;    # bodies of functions do not run
    my %found;
    $found{rewrites}{$_} = '' for grep { $was{$_} } $text =~ /^\s*(?:UPDATE|DELETE FROM)\s+(\w+)/gm;
    for my $insert ( $text =~ /^\s*INSERT INTO[^;]*;/gm ) {
        $found{reads}{$_} = '' for grep { $was{$_} } $insert =~ /\b(?:FROM|JOIN)\s+(\w+)/g;
    }
    return %found;
}

for my $name ( sort keys %text ) {
    my %was =
      map { ( $_ => 1 ) } split /\n/,
      $postgres->sql(
        q{SELECT relname FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace = 'public'::regnamespace},
        $database );
    my %found = of_text( $text{$name}, %was );
    for my $line ( split /\n/, $postgres->sql( "$BEFORE $text{$name}\n;$AFTER", $database ) ) {
        my ( $part, $table, $mode ) = split /\t/, $line, -1;
        $found{$part}{$table} = $mode if defined $mode && $part =~ /\A(?:locks|reads|rewrites)\z/;
    }
    my ($kind) = $text{$name} =~ /\A-- plan: (expand|contract)\b/;
    my $wanted = '-- plan: ' . join '; ', $kind // 'expand', map {
        my $of = $found{$_};
        $of ? "$_ " . join( ', ', map { $of->{$_} eq '' ? $_ : "$_ $of->{$_}" } sort keys %$of ) : ()
    } qw(locks reads rewrites);
    is( ( split /\n/, $text{$name} )[0], $wanted, "$name: its first line says what it does" );
}

# ---- the program

my $name = $postgres->database( empty => 1 );
my $env  = Authz::Stack::base_settings( $postgres->url($name) );
my $data = Authz::Process::directory() . '/data2';
mkdir $data or die "$data: $!";
symlink Authz::Stack::data_dir() . "/$_", "$data/$_" or die "symlink: $!" for qw(policy connectors www);
mkdir "$data/sql" or die "$data/sql: $!";

sub put {
    my ( $file, $text ) = @_;
    open my $out, '>:raw', "$data/sql/$file" or die "$file: $!";
    print {$out} $text;
    close $out or die "$file: $!";
    return;
}

sub ctl {
    my (@words) = @_;
    return Authz::Process->run(
        name => 'authzctl',
        env  => {
            %$env, SVC_DATA_DIR => $data, SVC_OPA_URL => 'unix:/nonexistent/opa.sock',
            SVC_BUNDLE_CONFIRM_ACTIVATION => 'false', SVC_OIDC_ISSUER => 'http://127.0.0.1:8080' },
        command => [ Authz::Path::program('authzctl'), @words ] );
}
put( $_, $text{$_} ) for keys %text;
my ( $status, $out ) = ctl(qw(db plan));
is( $status, 0, 'db plan: an empty database has no rows to lock' ) or diag($out);
like( $out, qr/^1 +expand +0 +0 +false .*0001_foundation\.sql/m, '... and lists what is missing' );
like(
    $out,
    qr/order: `authzctl db migrate` once, while the programs of the previous release run on, then restart each host with this release/,
    '... and tells the order' );
is( ( ctl(qw(db migrate)) )[0], 0, 'db migrate' );
is( $postgres->sql( 'SELECT checksum FROM schema_migration WHERE version = 1', $name ),
    Digest::SHA::sha256_hex( $text{'0001_foundation.sql'} =~ s/\A-- plan: .*\n//r ),
    'the checksum leaves the first line out: files got it after they were applied' );
unlike( ( ctl(qw(db plan)) )[1], qr/sql|order/, 'db plan: nothing is missing' );

# 200 ms are 200,000 rows that are read, or 20,000 that are rewritten; the statistics say how many there are.
my $next = 900;
for my $case (
    [ 'reads',    200_999, 0, 'at the limit' ],
    [ 'reads',    201_000, 2, 'one past it' ],
    [ 'rewrites', 20_099,  0, 'at the limit' ],
    [ 'rewrites', 20_100,  2, 'one past it' ],
  )
{
    my ( $part, $rows, $wanted, $text ) = @$case;
    my $file = sprintf '%04d_test.sql', ++$next;
    put( $file, "-- plan: expand; locks client AccessExclusive; $part client\nSELECT 1;\n" );
    $postgres->sql( "UPDATE pg_class SET reltuples = $rows WHERE oid = 'client'::regclass", $name );
    ( $status, $out ) = ctl(qw(db plan --json));
    is( $status, $wanted, "db plan: $rows rows that a migration $part: $text" ) or diag($out);
    my $row = JSON::PP::decode_json($out)->[0];
    is( "$row->{name} $row->{kind} $row->{locks} $row->{rows}", "$file expand client AccessExclusive $rows",
        '... as JSON' );
    ( $status, $out ) = ctl(qw(db migrate));
    my $applied = sub { $postgres->sql( "SELECT count(*) FROM schema_migration WHERE name = '$file'", $name ) };
    if ( $wanted == 0 ) { is( $applied->(), 1, 'db migrate: it is applied' ) or diag($out); next }
    isnt( $status, 0, 'db migrate: it is refused' );
    like(
        $out, qr/\Q$file\E would hold client AccessExclusive for some \d+ s .*`authzctl db migrate --offline`/,
        '... with what to do' );
    is( $applied->(), 0, '... and nothing is applied' );
    ( $status, $out ) = ctl(qw(db migrate --offline));
    is( $applied->(), 1, 'db migrate --offline applies it' ) or diag( $status, $out );
}

# Another transaction that has read a table: whoever asks for the table waits behind a migration that waits for it.
sub is_applied {
    my ($file) = @_;
    return $postgres->sql( "SELECT count(*) FROM schema_migration WHERE name = '$file'", $name );
}
put('0950_wait.sql',
    "-- plan: expand; locks client AccessExclusive\nALTER TABLE client ADD COLUMN plan_wait text;\n" );
my $reader = IO::Pipe->new;
local $ENV{PGOPTIONS} = '-c client_min_messages=warning';
$reader->writer( Authz::Path::postgres('psql'), '-qX', '-d', $postgres->url($name) );
$reader->autoflush(1);
print {$reader} "BEGIN; SELECT count(*) FROM client \\g /dev/null\n";
my $reads = q{SELECT count(*) FROM pg_locks WHERE relation = 'client'::regclass AND mode = 'AccessShareLock'};
Authz::Process::until_true( 10, sub { $postgres->sql( $reads, $name ) > 0 } ) or die 'no lock';
( $status, $out ) = ctl(qw(db migrate));
isnt( $status, 0, 'db migrate: it does not wait for longer than 2 s for a table that another transaction has read' );
like(
    $out,
    qr/0950_wait\.sql is not applied: another transaction held a table .*idle in transaction.*; run it again/,
    '... and says whom it waited for' );
is( is_applied('0950_wait.sql'), 0, '... nothing is applied' );
print {$reader} "COMMIT;\n";
$reader->close;
is( ( ctl(qw(db migrate)) )[0],  0, '... and it is applied when that has ended' );
is( is_applied('0950_wait.sql'), 1, '... once' );

# A migration that breaks the programs that run, and one that does not say what it does.
for my $case ( [ contract => "-- plan: contract\n" ], [ unknown => '' ] ) {
    my ( $kind, $line ) = @$case;
    my $file = sprintf '%04d_%s.sql', $next = $next < 960 ? 960 : $next + 1, $kind;
    put( $file, "${line}SELECT 1;\n" );
    ( $status, $out ) = ctl(qw(db plan));
    is( $status, 2, "db plan: a migration of the kind $kind" );
    like( $out, qr/^\d+ +$kind +0 +0 +true/m, '... needs --offline' );
    ( $status, $out ) = ctl(qw(db migrate));
    like( $out, qr/\Q$file\E is of the kind $kind, .*`authzctl db migrate --offline`/, 'db migrate: it is refused' );
    is( is_applied($file), 0, '... and not applied' );
    ctl(qw(db migrate --offline));
    is( is_applied($file), 1, 'db migrate --offline applies it' );
}

put( sprintf( '%04d_many.sql', $_ ), "-- plan: expand\nSELECT 1;\n" ) for 2000 .. 3000;
like( ( ctl(qw(db plan)) )[1], qr/more than 999 migrations in /, 'db plan: more files than 999 are refused' );

done_testing;

# A migration of a database with rows reads and writes those of the tables that its first line names, and of no others: the numbers
# of `authzctl db plan` are made of that line (store/schema/migration_plan.h). t/store/plan.t holds the line to locks and files on an empty
# database. By hand, AUTHZ_PLAN_ROWS=1000000 shows how long each holds its locks.
use strict;
use warnings;

use Test::More;

use Authz::Path     ();
use Authz::Postgres ();

my $ROWS = $ENV{AUTHZ_PLAN_ROWS} // 20_000;

# The schema that the rows below are for: their columns are those of then.
my $FILLED = 40;

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database( empty => 1 );
my @file     = sort glob Authz::Path::source('sql') . '/*.sql';

sub sql { my ($text) = @_; return $postgres->sql( $text, $database ) }

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/ = undef;
    return readline $in;
}
sub number_of { return 0 + ( $_[0] =~ m{/(\d+)_[^/]*\z} )[0] }

sql( slurp($_) ) for grep { number_of($_) <= $FILLED } @file;
sql($_)
  for q{INSERT INTO identity_provider (idp_id, issuer) VALUES ('corp', 'https://corp.example')},
  "INSERT INTO subject (subject, issuer, upstream_sub, idp_id)"
  . " SELECT 's' || n, 'https://corp.example', 's' || n, 'corp' FROM generate_series(1, $ROWS) n",
  'INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, expires_at)'
  . ' SELECT sha256(s.subject::bytea), s.subject, s.subject, p.id, now(), now() FROM subject s, identity_provider p',
  "INSERT INTO client (client_id, client_type) SELECT 'c' || n, 'confidential' FROM generate_series(1, $ROWS) n",
  'INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)'
  . q{ SELECT 'c' || n % 1000, current_date - n / 1000 % 80, '/e' || n / 80000, 'allowed', true, 1}
  . " FROM generate_series(1, $ROWS) n",
  q{INSERT INTO admin_key (label, managed_by, lookup, sealed) SELECT 'k', 'admin', sha256(n::text::bytea), ''}
  . " FROM generate_series(1, $ROWS) n",
  q{INSERT INTO managed_resource (name, upstream_type, document, status) VALUES ('crm', 'MCP', '{}', 'active')},
  'INSERT INTO gateway_listing (resource_id, kind, key, entry, seen_sha256, listed, seen_at)'
  . " SELECT id, 'prompt', 'p' || n, '{}', '', true, now() FROM managed_resource, generate_series(1, $ROWS) n",
  q{INSERT INTO bundle (revision, etag, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys)}
  . " SELECT n, n, 'confirmed', 'rule', 'k', 1, '{}', '{}' FROM generate_series(1, 200) n",
  'ANALYZE';

# The tables of before that are read or written by a migration, with the numbers of rows, and the milliseconds of its transaction.
my $COUNTED = <<'SQL';
SELECT relname, seq_tup_read + coalesce(idx_tup_fetch, 0), n_tup_ins + n_tup_upd + n_tup_del FROM pg_stat_xact_user_tables
  WHERE relname IN (SELECT name FROM was) ORDER BY relname;
SELECT 'ms', round(extract(epoch FROM clock_timestamp() - now()) * 1000), 0;
COMMIT;
SQL

# The tables of a part of the first line.
sub part_of {
    my ( $line, $part ) = @_;
    my ($list) = $line =~ /; $part ([^;]*)/;
    return map { ( split ' ' )[0] => 1 } split /, /, $list // '';
}

for my $path ( grep { number_of($_) > $FILLED } @file ) {
    my ($name) = $path =~ m{/([^/]+)\z};
    my $text   = slurp($path);
    my ($line) = split /\n/, $text;
    my %reads  = part_of( $line, 'reads' );
    my %writes = part_of( $line, 'rewrites' );
    sql(q{DROP TABLE IF EXISTS was; CREATE TABLE was AS SELECT relname::text AS name FROM pg_class WHERE relkind IN ('r', 'p')}
          . q{ AND relnamespace = 'public'::regnamespace} );
    my ( %read, %written, $ms );
    for my $row ( split /\n/, sql("BEGIN;\n$text\n;$COUNTED") ) {
        my ( $table, $count, $changed ) = split /\t/, $row;
        next if !defined $changed;
        if ( $table eq 'ms' ) { $ms = $count; next }
        $read{$table}    = $count   if $count > 0;
        $written{$table} = $changed if $changed > 0;
    }
    is( join( ' ', grep { !$reads{$_} && !$writes{$_} } sort keys %read ),
        '', "$name: it reads rows of no table that its first line does not name" ) or diag( explain( \%read ) );
    is( join( ' ', grep { !$writes{$_} } sort keys %written ), '', '... and writes none' );
    is( join( ' ', grep { !$read{$_} && sql("SELECT count(*) FROM $_") > 0 } sort keys %reads ),
        '', '... and reads those that it names' );
    note( "$name: $ms ms, rows read: " . ( join( ', ', map {"$_ $read{$_}"} sort keys %read ) || 'none' ) );
}

done_testing;

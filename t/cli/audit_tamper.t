#!/usr/bin/perl
# The owner of the database against audit verify with a checkpoint that was kept elsewhere (decisions.md "Audit proof"): what no hash
# covers (ids, days and kinds of leaves, rows of the notes that are no leaves) hides nothing.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Digest::SHA ();
use File::Temp  ();
use POSIX       ();
use Test::More;

use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my $dir   = File::Temp->newdir;
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub sql { return $stack->sql( $_[0] ) }

sub run { return ctl_is( $_[0], [ split / /, $_[1] ], $_[2], env => $env ) }

sub put { return put_file( $dir, @_ ) }

# Housekeeping seals no more; the log begins again, and has a second checkpoint that an auditor keeps.
new_audit_log($stack);
run( 0, 'audit seal', 'the log begins' );
$stack->token( @crm, scope => 'orders.read' ) for 1 .. 8;
run( 0, 'audit seal', 'rows are sealed' );
my $keys = put( 'keys', run( 0, 'audit keys',       'the keys are kept' )->{out} );
my $kept = put( 'kept', run( 0, 'audit checkpoint', '... and a checkpoint' )->{out} );
my $size = sql('SELECT size FROM audit_log_state');
sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for qw(log tile note);
my ( $row, $day ) = split /\t/,
  sql(
    q{SELECT id, (created_at AT TIME ZONE 'UTC')::date - date '2026-01-01' FROM audit_log WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1 OFFSET 3}
  );
my $leaf = sql(
    "SELECT count(*) FROM audit_log WHERE id < $row AND id > (SELECT (line::json -> 'begin' ->> 'upTo')::bigint FROM audit_note WHERE leaf = 0)"
) + 1;

# Change something with all rights, look at the faults, and change it back.
sub tampered {
    my ( $changes, $wanted, $name ) = @_;
    sql($_) for @$changes;
    my $result = run( @$wanted ? 1 : 0, "audit verify --json --quiet --keys $keys --checkpoint $kept", $name );
    is_deeply( [ map {"$_->{fault} $_->{at}"} @{ $result->{json}{first} } ], $wanted, '... and verify says it' );
    for my $table (qw(log tile note)) {
        sql("DELETE FROM audit_$table");
        sql("INSERT INTO audit_$table SELECT * FROM kept_$table");
    }
    return $result->{json};
}

# The list of leaves of the first tile with one leaf changed, as octets in hex (store/audit/proof/tiles.c).
sub leaves_with {
    my ( $number, $change ) = @_;
    my @octets = unpack 'C*', pack 'H*', sql(q{SELECT encode(leaves, 'hex') FROM audit_tile WHERE level = 0 AND n = 0});
    my ( @leaves, %before );
    while (@octets) {
        my %leaf;
        my ( $id, $day_step ) = map { take_number( \@octets ) } 1 .. 2;
        %leaf = (
            note => $id & 1, id => ( $before{id} // 0 ) + unzigzag( $id >> 1 ),
            day => ( $before{day} // 0 ) + unzigzag($day_step) );
        %before = %leaf;
        push @leaves, \%leaf;
    }
    $change->( $leaves[$number] );
    my ( $out, %last ) = ( '', id => 0, day => 0 );
    for my $one (@leaves) {
        $out .= put_number( zigzag( $one->{id} - $last{id} ) << 1 | $one->{note} );
        $out .= put_number( zigzag( $one->{day} - $last{day} ) );
        %last = %$one;
    }
    return "UPDATE audit_tile SET leaves = decode('" . unpack( 'H*', $out ) . "', 'hex') WHERE level = 0 AND n = 0";
}

sub take_number {
    my ($octets) = @_;
    my ( $number, $shift ) = ( 0, 0 );
    while ( defined( my $octet = shift @$octets ) ) {
        $number |= ( $octet & 0x7f ) << $shift;
        return $number if $octet < 0x80;
        $shift += 7;
    }
    die "a number without an end\n";
}

sub put_number {
    my ($number) = @_;
    my $out = '';
    for ( ; $number >= 0x80 ; $number >>= 7 ) { $out .= chr( 0x80 | $number & 0x7f ) }
    return $out . chr $number;
}

sub unzigzag { my ($number) = @_; return $number & 1 ? -( $number >> 1 ) - 1 : $number >> 1 }
sub zigzag   { my ($number) = @_; return $number < 0 ? -2 * $number - 1      : 2 * $number }

sub note_of_drop {
    my ( $number, $rows ) = @_;
    return qq({"v":1,"dropped":{"day":$number,"date":"2026-01-01","rows":$rows}});
}

tampered( [], [], 'a log that was not touched' );

# ---- days that retention is said to have dropped

tampered(
    [   "DELETE FROM audit_log WHERE id = $row",
        "INSERT INTO audit_note VALUES (1, 1000000, '" . note_of_drop( $day, 99 ) . q{')} ],
    ["missing row $row"],
    'a note of a dropped day beyond the log does not excuse a missing row' );
tampered(
    [   "DELETE FROM audit_log WHERE id = $row",
        "INSERT INTO audit_note VALUES (1, $leaf, '" . note_of_drop( $day, 99 ) . q{')} ],
    ["changed or missing note at leaf $leaf"],
    'a note of a dropped day at the leaf of a row is a fault' );

# ---- what a leaf is said to be

my $line = run( 0, "audit prove $row", 'the line of a row' )->{out};
my ($extra) = $line =~ /^extra (\S+)$/m;
is( ( $line =~ /^index (\d+)$/m )[0], $leaf, 'the number of its leaf' );
tampered(
    [   "INSERT INTO audit_note VALUES (1, $leaf, convert_from(decode('$extra', 'base64'), 'UTF8'))",
        leaves_with( $leaf, sub { $_[0]{note} = 1 } ),
        "DELETE FROM audit_log WHERE id = $row" ],
    ["changed or missing note at leaf $leaf"],
    'a row that was removed and put among the notes is found' );
my $columns =
    'request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, outcome, ip, user_agent, '
  . 'request_summary, policy_input, policy_decision';
my $first = sql(
    'SELECT min(id) FROM audit_log WHERE id > (SELECT (line::json -> \'begin\' ->> \'upTo\')::bigint FROM audit_note WHERE leaf = 0)'
);
my $begin = sql(q{SELECT (line::json -> 'begin' ->> 'upTo')::bigint FROM audit_note WHERE leaf = 0});

# ---- rows that are added where no leaf looks

sub copy_of {
    my ( $id, $at ) = @_;
    return "INSERT INTO audit_log SELECT $at, $id, $columns FROM kept_log WHERE id = $row";
}

tampered(
    [ copy_of( -7, q{now() + interval '2 hours'} ) ], ['added row -7'],
    'a row that is younger than the log with an id before it' );
my $high = 1 << 60;
tampered( [ copy_of( $high, 'now()' ) ], ["added row $high"], 'a row with an id that was never given out' );

# ---- one line for two rows

sql(q{CREATE TABLE audit_log_bc PARTITION OF audit_log FOR VALUES FROM ('3000-01-01 BC') TO ('1000-01-01 BC')});
tampered(
    [   "DELETE FROM audit_log WHERE id = $row",
        copy_of(
            $row,
            q{(SELECT (to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00 BC')::timestamptz FROM kept_log WHERE id = }
              . "$row)" ) ],
    ["changed row $row"],
    'a row that was moved to a year before Christ' );
sql('DROP TABLE audit_log_bc');
tampered(
    ["UPDATE audit_log SET ip = set_masklen(ip, 8) WHERE id = $row"], ["changed row $row"],
    'an address that became a network' );

# ---- a page of rows that ends between two rows with one id

sql('DROP TABLE kept_log, kept_tile, kept_note');
my $at = q{(SELECT created_at FROM audit_log WHERE id = } . "$row)";
sql("INSERT INTO audit_log SELECT $at, nextval('audit_id_seq'), $columns FROM audit_log, generate_series(1, 600) WHERE id = $row"
);
run( 0, 'audit seal', 'more rows than one statement reads' );
sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for qw(log tile note);
my $last   = sql("SELECT id FROM audit_log WHERE id > $begin ORDER BY id LIMIT 1 OFFSET 511");
my $before = $day - 3;
sql("SELECT partition_create('audit_log', $before)");
tampered(
    [ copy_of( $last, q{now() - interval '3 days'} ) ], [ "changed row $last", "added row $last" ],
    'a second row with the id of the last row that a statement reads' );

# ---- days that were dropped with a note of it

sql( copy_of( q{nextval('audit_id_seq')}, q{now() - interval '3 days'} ) ) for 1 .. 2;
my $youngest = sql('SELECT max(id) FROM audit_log');
run( 0, 'audit seal', 'rows of an older day are sealed' );
sql( copy_of( $row, q{now() - interval '3 days'} ) );
ctl_is(
    0, ['maintain'], 'retention of one day',
    env => { %$env, SVC_AUDIT_RETENTION_DAYS => 1, SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 86400 } );
sql(q{UPDATE job SET due_at = now() + interval '1 day' WHERE name = 'audit_seal'});
SKIP: {
    skip 'the day has changed', 10 if sql("SELECT to_regclass('audit_log_p$before')") ne '';
    like(
        sql(q{SELECT line FROM audit_note WHERE line LIKE '%dropped%'}), qr/"rows":2\}/,
        'the note of the day has the leaves in it, without a row that was added' );
    is( sql(q{SELECT count(*) FROM audit_checkpoint c JOIN audit_note n ON c.size = n.leaf + 1 WHERE n.line LIKE '%dropped%'}
        ),
        1,
        '... and a checkpoint' );
    sql('DROP TABLE kept_log, kept_tile, kept_note');
    sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for qw(log tile note);
    my $dropped = tampered( [], [], 'a day that retention dropped is no fault' );
    is( $dropped->{dropped}, 2, '... and its rows are counted' );
    my $date = POSIX::strftime( '%Y-%m-%d', gmtime( 1767225600 + 86400 * $before ) );
    is_deeply( $dropped->{droppedDays}, [ { day => $date, rows => 2, missing => 2 } ], '... and the day is told' );
    like(
        run( 0, 'audit verify --quiet', 'audit verify' )->{out},
        qr/^dropped day  $date, 2 rows, of which 2 are missing$/m,
        '... also as text' );
    tampered(
        [ "DELETE FROM audit_log WHERE id = $row", leaves_with( $leaf, sub { $_[0]{day} = $before } ) ],
        ["missing row $youngest"],
        'a row that is said to be of that day is one too many' );
}

# ---- a file of lines after retention

SKIP: {
    skip 'the day has changed', 5 if sql("SELECT to_regclass('audit_log_p$before')") ne '';
    my $text    = run( 0, 'audit lines', 'audit lines after retention' )->{out};
    my $newest  = put( 'newest', run( 0, 'audit checkpoint', 'the newest checkpoint' )->{out} );
    my @offline = ( qw(audit verify-export --json --keys), $keys, '--checkpoint', $newest );
    my $told    = ctl_is( 0, [ @offline, put( 'lines', $text ) ], 'verify-export takes the file', env => $env )->{json};
    is( $told->{dropped}, 2, '... in which two rows were dropped' );
    my ($line) = $text =~ /^(\{"v":1,"id":$row,.*)$/m;
    my $gone = '{"v":1,"gone":"' . Digest::SHA::sha256_hex("\0$line") . '"}';
    $told = ctl_is( 1, [ @offline, put( 'lines', $text =~ s/^\Q$line\E$/$gone/mr ) ], 'one more', env => $env )->{json};
    is( $told->{first}[0]{fault}, 'rows left out that no note of a dropped day has:', '... is a fault' );
}

# ---- what this host signed last (decisions.md "Audit proof"): nothing is signed upon a log that was changed behind it

my $signed = $stack->settings->{SVC_RUNTIME_DIR} . '/audit-signed';

sub is_ready {
    my ($want) = @_;
    return Authz::Process::until_true(
        30,
        sub { ( $stack->http->get('/health/ready')->member('status') // '' ) eq $want } );
}

sub backup { sql("CREATE TABLE b_$_ AS SELECT * FROM audit_$_") for qw(log_state tile note checkpoint); return }

sub put_back {
    for my $table (qw(log_state tile note checkpoint)) {
        sql("DELETE FROM audit_$table");
        sql("INSERT INTO audit_$table SELECT * FROM b_$table");
        sql("DROP TABLE b_$table");
    }
    return;
}

# Try to seal after a change; nothing may be signed.
sub seals_not {
    my ( $changes, $why, $name ) = @_;
    $stack->token( @crm, scope => 'orders.read' );
    backup();
    sql($_) for @$changes;
    my $before = sql('SELECT count(*) FROM audit_checkpoint');
    like(
        run( 1, 'audit seal', "$name: not sealed" )->{err}, qr/not sealed: \Q$why\E; run `authzctl audit verify`/,
        '... which is said' );
    is( sql('SELECT count(*) FROM audit_checkpoint'), $before, '... and no checkpoint is made' );
    ok( defined is_ready('DEGRADED'), '... and readiness is degraded' );
    put_back();
    run( 0, 'audit seal', '... until the log is as it was' );
    return;
}

# The end of the log with one more leaf, as the service writes it: a line that is a note or not, in the open tile of level 0.
sub with_leaf {
    my ( $line, $is_note ) = @_;
    my $hash   = Digest::SHA::sha256_hex("\0$line");
    my $octets = unpack 'H*', put_number( zigzag(0) << 1 | $is_note ) . put_number( zigzag(0) );
    return (
        "INSERT INTO audit_note SELECT epoch, size, '$line' FROM audit_log_state",
        "UPDATE audit_tile SET width = width + 1, hashes = hashes || decode('$hash', 'hex'), leaves = leaves || "
          . "decode('$octets', 'hex') WHERE level = 0 AND n = (SELECT size / 256 FROM audit_log_state)",
        'UPDATE audit_log_state SET size = size + 1' );
}
run( 0, 'audit seal', 'the log is sealed' );
ok( -s $signed, 'the checkpoint that was signed last is kept in SVC_RUNTIME_DIR' );
seals_not(
    [ with_leaf( note_of_drop( $day, 99 ), 1 ) ],
    'a leaf that was not signed is no audit row',
    'a false note of a dropped day behind the last checkpoint' );
seals_not(
    [ with_leaf( note_of_drop( $day, 99 ), 0 ) ],
    'a leaf that was not signed is no audit row',
    '... also as a leaf that is said to be a row' );
my $last_size = sql('SELECT size FROM audit_log_state');
seals_not(
    [   'UPDATE audit_tile SET hashes = overlay(hashes PLACING decode(repeat($$00$$, 32), $$hex$$) FROM 33) WHERE level = 0 AND n = '
          . int( $last_size / 256 ) ],
    'the database no longer has what this host signed last',
    'a leaf that was changed before it' );
seals_not(
    [   "UPDATE audit_log_state SET size = $size, up_to = (SELECT (line::json -> 'seal' ->> 'upTo')::bigint FROM audit_note WHERE epoch = 1 AND leaf = $size - 1)",
        "DELETE FROM audit_checkpoint WHERE size > $size" ],
    'the database no longer has what this host signed last',
    'a log that was cut' );
seals_not(
    [ map {"DELETE FROM audit_$_"} qw(log_state tile note checkpoint) ],
    'the database no longer has what this host signed last',
    'a log that was taken away' );
ok( defined is_ready('UP'), 'readiness is up again' );

# Days are not dropped then, but partitions are made: without them no token could be stored two days later.
my @retain =
  ( env => { %$env, SVC_AUDIT_RETENTION_DAYS => 1, SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS => 86400 } );
my ( $ahead, $older ) = ( $day + 2, $day - 4 );
sql("SELECT partition_create('audit_log', $older)");
sql( copy_of( q{nextval('audit_id_seq')}, q{now() - interval '4 days'} ) );
run( 0, 'audit seal', 'a row of an older day is sealed' );
backup();
sql($_) for with_leaf( note_of_drop( $day, 99 ), 1 ), "DROP TABLE audit_log_p$ahead";
ctl_is( 1, ['maintain'], 'maintain, while the log is not sealed', @retain );
SKIP: {
    skip 'the day has changed', 2 if sql(q{SELECT (now() AT TIME ZONE 'UTC')::date - date '2026-01-01'}) ne $day;
    ok( sql("SELECT to_regclass('audit_log_p$older')") ne '', '... drops no day' );
    ok( sql("SELECT to_regclass('audit_log_p$ahead')") ne '', '... and makes those of the next days' );
}
put_back();
ctl_is( 0, ['maintain'], '... and when it is sealed again', @retain );
sql(q{UPDATE job SET due_at = now() + interval '1 day' WHERE name = 'audit_seal'});
is( sql("SELECT to_regclass('audit_log_p$older')"), '', '... drops it' );

# A host without that memory: the newest checkpoint of the database is good if we signed it.
unlink $signed or die "$signed: $!";
seals_not(
    [ with_leaf( note_of_drop( $day, 99 ), 1 ) ],
    'a leaf that was not signed is no audit row',
    'a host that was started again: a false note of a dropped day' );

# ---- keys that were retired long ago

sql(q{UPDATE signing_key SET created_at = now() - interval '10 years' WHERE use = 'audit'});
run( 0, 'keys rotate --yes --use audit', 'rotated_key: the key is rotated' );
unlink $signed or die "$signed: $!";
$stack->token( @crm, scope => 'orders.read' );
run( 0, 'audit seal', '... and a host that was started again takes a checkpoint of the old one' );
sql(q{UPDATE signing_key SET retired_at = now() - interval '9 years' WHERE use = 'audit' AND state = 'retired'});
my $seen = sql(q{SELECT count(*) FROM signing_key WHERE use = 'audit'});
my $all  = run( 0, 'audit keys', 'audit keys' )->{out};
is( scalar( () = $all =~ /"kid"/g ), $seen, '... has all keys, the retired one too' );
is_deeply(
    run( 0, 'audit verify --json --quiet', 'checkpoints of a retired key are good' )->{json}{first},
    [], '... none is forged' );
my $set = $stack->http->get('/.well-known/jwks.json')->body;
ok( !grep( { $set =~ /\Q$_\E/ } $all =~ /"kid": ?"([^"]+)"/g ), '... and the key set has neither' );

# ---- checkpoints of another log

ctl_is(
    1,                             [ qw(audit verify --quiet --keys), $keys, '--checkpoint', put( 'empty', '' ) ],
    'a file without a checkpoint', env => $env );
my $all_notes = sql('SELECT string_agg(note, $$$$ ORDER BY size) FROM audit_checkpoint');
$all_notes =~ s/\n*\z/\n/;
my $ended = sql('SELECT size FROM audit_log_state');
run( 0, 'audit seal --new-epoch hidden', 'a new epoch' );
$stack->token( @crm, scope => 'orders.read' );
run( 0, 'audit seal', '... is sealed' );
put( 'keys', run( 0, 'audit keys', '... by the new key' )->{out} );
put( 'both', $all_notes . run( 0, 'audit checkpoint', '... with a checkpoint' )->{out} );
my $verify = "audit verify --json --quiet --keys $keys --checkpoint";
my $both   = run( 0, "$verify $dir/both", 'checkpoints of both epochs: each is verified' )->{json};
is_deeply(
    [ map { $_->{origin} =~ s{.*/audit}{}r } $both, @{ $both->{earlier} } ],
    [ '/2',                                         '' ],
    '... under its origin' );
is( $both->{earlier}[0]{leaves}, $ended, '... the first one up to its last seal' );
cmp_ok( $both->{earlier}[0]{checkpoints}, '>', 2, '... with its checkpoints' );
my ($of_first) = sql("SELECT id FROM audit_log WHERE id > $begin AND endpoint = '/token' ORDER BY id LIMIT 1");
sql("UPDATE audit_log SET outcome = 'denied' WHERE id = $of_first");
is_deeply(
    run( 1, "$verify $dir/both", 'a row of the first epoch that was changed' )->{json}{earlier}[0]{first},
    [ { fault => 'changed row', at => $of_first } ],
    '... is found' );
sql("UPDATE audit_log SET outcome = 'allowed' WHERE id = $of_first");
my $second = put( 'second', run( 0, 'audit lines', 'audit lines' )->{out} );
ctl_is(
    0, [ qw(audit verify-export --keys), $keys, '--checkpoint', "$dir/both", $second ],
    '... verify-export takes both checkpoints', env => $env );
ctl_is(
    1, [ qw(audit verify-export --keys), $keys, '--checkpoint', $kept, $second ],
    '... and not those of the first epoch alone', env => $env );
sql(    'DELETE FROM audit_note WHERE epoch = 1 AND leaf >= '
      . "(SELECT max(leaf) FROM audit_note WHERE epoch = 1 AND line LIKE '{\"v\":1,\"seal\"%')" );
like(
    run( 1, "$verify $dir/both", 'the first epoch without its last seal' )->{out}, qr/rolled back/,
    '... is found by its checkpoint' );
sql('DELETE FROM audit_note WHERE epoch = 1');
my @gone = map { $_->{fault} } @{ run( 1, "$verify $dir/both", 'an epoch without notes' )->{json}{first} };
is( $gone[0], 'missing begin of epoch', '... is missed' );
is( $gone[1], 'another issuer, or an epoch that is not there, has the checkpoint of size',
    '... also by its checkpoints' );

done_testing();

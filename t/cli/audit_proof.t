#!/usr/bin/perl
# The log over all audit rows: audit seal, verify, prove, consistency, lines and verify-export (decisions.md "Audit proof").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Digest::SHA  ();
use File::Temp   ();
use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Path    ();
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

# Rows are written after an answer; the seal waits for none of them.
sub make_rows { my ($count) = @_; $stack->token( @crm, scope => 'orders.read' ) for 1 .. $count; return }

# Run verify, and hold its faults against those that are expected.
sub faults_are {
    my ( $wanted, $name, $more ) = @_;
    my $result = run( @$wanted ? 1 : 0, 'audit verify --json --quiet' . ( $more // '' ), $name );
    my @first  = map {"$_->{fault} $_->{at}"} @{ $result->{json}{first} };
    is_deeply( \@first, $wanted, '... and says it' );
    return $result->{json};
}

# Change something, look at the faults, and change it back.
sub tampered {
    my ( $change, $back, $wanted, $name ) = @_;
    sql($change);
    faults_are( $wanted, $name );
    sql($back);
    return;
}

# ---- the log begins

# Housekeeping of the service has begun a log; from here on the test alone seals.
new_audit_log($stack);

run( 1, 'audit verify',     'audit verify without a log fails' );
run( 1, 'audit checkpoint', '... and so does audit checkpoint' );
make_rows(3);
run( 0, 'audit seal', 'audit seal begins a log' );
is( sql(q{SELECT count(*) FROM audit_tile WHERE width > 0}), 1, '... with a note' );
like(
    sql(q{SELECT line FROM audit_note WHERE leaf = 0}), qr/\A\{"v":1,"begin":\{"epoch":1,"why":"first"/,
    '... that begins it' );
make_rows(5);
run( 0, 'audit seal', 'audit seal appends rows' );
my $report = faults_are( [], 'audit verify: a log that was not touched' );
cmp_ok( $report->{rows}, '>=', 5, '... has the rows' );
is( $report->{checkpoints}, 1, '... and a checkpoint' );
my $first_note = run( 0, 'audit checkpoint', 'audit checkpoint' )->{out};
like(
    $first_note, qr{\A\S+/audit\n\d+\n\S{44}\n\n\xe2\x80\x94 \S+/audit \S+\n\z},
    '... is a signed note (C2SP tlog-checkpoint)' );
my $keys = put( 'keys', run( 0, 'audit keys', 'audit keys' )->{out} );
my $kid  = JSON::PP::decode_json(
    do { local ( @ARGV, $/ ) = $keys; <> }
)->{keys}[0]{kid};
unlike(
    $stack->http->get('/.well-known/jwks.json')->body, qr/\Q$kid\E/,
    'the key of the log is not in the key set of ID tokens' );

# ---- more than a tile, and several checkpoints

make_rows(300);
run( 0, 'audit seal', 'audit seal over a full tile' );
cmp_ok( sql(q{SELECT count(*) FROM audit_tile WHERE level = 1}), '==', 1, '... makes a tile of level 1' );
my $second_note = run( 0, 'audit checkpoint', 'the second checkpoint' )->{out};
faults_are( [], 'audit verify: after a full tile' );
my $rows = sql(q{SELECT up_to FROM audit_log_state});
run( 0, 'audit seal', 'audit seal without new rows' );
is( run( 0, 'audit checkpoint', 'audit checkpoint' )->{out}, $second_note, '... makes no checkpoint' );

# ---- what was changed is found

my ($row) = split /\n/,
  sql(q{SELECT id FROM audit_log WHERE endpoint = '/token' AND client_id = 'crm' ORDER BY id DESC LIMIT 1});
my $day = sql("SELECT tableoid::regclass FROM audit_log WHERE id = $row");
tampered(
    "UPDATE audit_log SET outcome = 'denied' WHERE id = $row",
    "UPDATE audit_log SET outcome = 'allowed' WHERE id = $row",
    ["changed row $row"], 'changed_row: a column' );
tampered(
    "UPDATE audit_log SET client_id = NULL WHERE id = $row", "UPDATE audit_log SET client_id = 'crm' WHERE id = $row",
    ["changed row $row"],                                    '... one set to NULL' );
sql("CREATE TABLE kept AS SELECT * FROM audit_log WHERE id = $row");
tampered(
    "UPDATE audit_log SET policy_input = '\\x00' WHERE id = $row",
    "UPDATE audit_log SET policy_input = (SELECT policy_input FROM kept) WHERE id = $row",
    ["changed row $row"], '... a document that cannot be unpacked' );
tampered(
    "DELETE FROM audit_log WHERE id = $row", 'INSERT INTO audit_log SELECT * FROM kept',
    ["missing row $row"],                    'deleted_row: a row that was removed' );
my $gap = sql(
    "SELECT min(g) FROM generate_series((SELECT min(id) FROM audit_log WHERE endpoint = '/token' AND id > (SELECT (line::json -> 'begin' ->> 'upTo')::bigint FROM audit_note WHERE leaf = 0)), $row) g WHERE NOT EXISTS (SELECT 1 FROM audit_log WHERE id = g)"
);
SKIP: {
    skip 'no id was left out', 2 if $gap eq '';
    tampered(
        "INSERT INTO audit_log SELECT created_at, $gap, request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, outcome, ip, user_agent, request_summary, policy_input, policy_decision FROM kept",
        "DELETE FROM audit_log WHERE id = $gap", ["added row $gap"],
        'row_in_id_gap: a row that was added between others' );
}
tampered(
    q{UPDATE audit_note SET line = replace(line, 'first', 'other') WHERE leaf = 0},
    q{UPDATE audit_note SET line = replace(line, 'other', 'first') WHERE leaf = 0},
    ['changed or missing note at leaf 0'], 'a changed note' );
sql('CREATE TABLE kept_checkpoint AS SELECT * FROM audit_checkpoint ORDER BY size LIMIT 1');
my $size = sql('SELECT size FROM kept_checkpoint');
tampered(
    "DELETE FROM audit_checkpoint WHERE size = $size", 'INSERT INTO audit_checkpoint SELECT * FROM kept_checkpoint',
    ["missing checkpoint of size $size"],              'checkpoint_removed' );
tampered(
    "UPDATE audit_checkpoint SET note = (SELECT note FROM audit_checkpoint ORDER BY size DESC LIMIT 1) WHERE size = $size",
    "UPDATE audit_checkpoint SET note = (SELECT note FROM kept_checkpoint) WHERE size = $size",
    ["forged checkpoint of size $size"], 'checkpoint_forged: the note of another size' );
sql('CREATE TABLE kept_tile AS SELECT * FROM audit_tile');
tampered(
    q{UPDATE audit_tile SET hashes = overlay(hashes PLACING '\\x00000000'::bytea FROM 1) WHERE level = 1},
    q{UPDATE audit_tile t SET hashes = k.hashes FROM kept_tile k WHERE t.level = 1 AND k.level = 1},
    ['forged or missing tile at leaf 256'], 'tile_forged: of an upper level' );
sql(q{DELETE FROM audit_tile WHERE level = 0 AND n = 1});
faults_are( ['forged or missing tile at leaf 256'], 'a tile that is missing' );
sql(q{INSERT INTO audit_tile SELECT * FROM kept_tile WHERE level = 0 AND n = 1});

# Whoever may write to the database changes a row, its hash, and all tiles: the checkpoint does not fit any more.
my $index = ( split /\n/, run( 0, "audit prove $row", 'audit prove' )->{out} )[2] =~ s/\Aindex //r;
sql("UPDATE audit_log SET outcome = 'denied' WHERE id = $row");
my $at     = 1 + 32 * ( $index % 256 );
my $forged = forged_leaf($row);
sql( "UPDATE audit_tile SET hashes = overlay(hashes PLACING decode('$forged', 'hex') FROM $at) WHERE level = 0 AND n = "
      . int( $index / 256 ) );
my $after = run( 1, 'audit verify --json --quiet', 'a row that was changed together with its hash' )->{json};
like( $after->{first}[0]{fault}, qr/forged/, '... is found by the checkpoint' );
sql("UPDATE audit_log SET outcome = 'allowed' WHERE id = $row");
sql(q{UPDATE audit_tile t SET hashes = k.hashes FROM kept_tile k WHERE t.level = k.level AND t.n = k.n});
faults_are( [], 'everything is as it was' );

# The hash of the row as the service writes its line, by another program.
sub forged_leaf {
    my ($id) = @_;
    my $line = MIME::Base64::decode_base64(
        ( split /\n/, run( 0, "audit prove $id", 'audit prove' )->{out} )[1] =~ s/\Aextra //r );
    return Digest::SHA::sha256_hex( "\0" . $line );
}

# ---- proofs

my $proof = run( 0, "audit prove $row", 'audit prove' )->{out};
like(
    $proof, qr{\Ac2sp\.org/tlog-proof\@v1\nextra \S+\nindex \d+\n(?:\S{44}\n)+\n\S+/audit\n},
    '... has the form of C2SP tlog-proof' );
is( tree_root($proof), ( split /\n/, ( split /\n\n/, $proof, 2 )[1] )[2],
    '... and leads to the root of the checkpoint' );
my $line = MIME::Base64::decode_base64( ( split /\n/, $proof )[1] =~ s/\Aextra //r );
my $read = JSON::PP::decode_json($line);
is( "$read->{v} $read->{id} $read->{client} $read->{endpoint}", "1 $row crm /token", '... of the line of the row' );
is( $read->{input}{client}{id} // $read->{input}{client_id} // 'crm', 'crm',         '... with its policy input' );

for my $wrong ( [ 'audit prove x', 64, 'no number' ], [ 'audit prove 999999999', 1, 'a row that is not there' ] ) {
    run( $wrong->[1], $wrong->[0], "audit prove: $wrong->[2]" );
}
make_rows(1);
my ($unsealed) = sql('SELECT max(id) FROM audit_log');
like(
    run( 1, "audit prove $unsealed", 'audit prove of a row that is not sealed' )->{err}, qr/not sealed yet/,
    '... says so' );
my ( $old_size, $new_size ) = map { ( split /\n/ )[1] } $first_note, $second_note;
like(
    run( 0, "audit consistency $old_size $new_size", 'audit consistency' )->{out},
    qr/\A\Q$first_note\E\n\Q$second_note\E\n(?:\S{44}\n)+\z/,
    '... has both checkpoints and hashes' );
run( 1, "audit consistency $new_size $old_size", 'audit consistency the wrong way round' );
run( 1, "audit consistency 1 $new_size",         'audit consistency of a size without a checkpoint' );

# A stranger's program, with a key alone.
sub stranger_is {
    my ( $status, $proof_text, $keys_file, $name ) = @_;
    my $file = put( 'proof', $proof_text );
    my ( $got, $text ) = Authz::Process->run(
        name    => 'verify_audit', env => { PATH => $ENV{PATH} },
        command => [ 'python3', "$ENV{AUTHZ_SRCDIR}/doc/verify_audit.py", $file, $keys_file ] );
    is( $got, $status, "offline_python: $name" ) or diag($text);
    return $text;
}
like( stranger_is( 0, $proof, $keys, 'verify_audit.py accepts a proof' ), qr/"id":$row,/, '... and prints the row' );
like(
    stranger_is( 1, $proof =~ s/index \d/index 9/r, $keys, 'another index' ), qr/not in the log|too (?:short|long)/,
    '... is refused' );
my $other_line = MIME::Base64::encode_base64( $line =~ s/crm/crn/r, '' );
like(
    stranger_is( 1, $proof =~ s/extra \S+/extra $other_line/r, $keys, 'another line' ), qr/not in the log/,
    '... is refused' );
put( 'empty', '{"keys":[]}' );
like( stranger_is( 1, $proof, "$dir/empty", 'no key' ), qr/none of the keys/, '... is refused' );

# RFC 9162 2.1.3.2, by another program.
sub tree_root {
    my ($text) = @_;
    my ( $head, $note ) = split /\n\n/, $text, 2;
    my ( undef, $extra, $place, @path ) = split /\n/, $head;
    my $hash = Digest::SHA::sha256( "\0" . MIME::Base64::decode_base64( $extra =~ s/\Aextra //r ) );
    my $node = $place =~ s/\Aindex //r;
    my $last = ( split /\n/, $note )[1] - 1;
    for my $beside ( map { MIME::Base64::decode_base64($_) } @path ) {
        if ( $node & 1 || $node == $last ) {
            $hash = Digest::SHA::sha256("\1$beside$hash");
            ( $node, $last ) = ( $node >> 1, $last >> 1 ) while !( $node & 1 ) && $node;
        }
        else { $hash = Digest::SHA::sha256("\1$hash$beside") }
        ( $node, $last ) = ( $node >> 1, $last >> 1 );
    }
    return MIME::Base64::encode_base64( $hash, '' );
}

# ---- checkpoints that were kept elsewhere

my $kept = put( 'checkpoints', $first_note . $second_note );
faults_are( [], 'checkpoints from elsewhere', " --keys $keys --checkpoint $kept" );
my $stranger = put( 'stranger', $second_note =~ s/\n(\S)(\S{43})\n/"\n" . ( $1 eq 'A' ? 'B' : 'A' ) . "$2\n"/er );
like(
    run( 1, "audit verify --quiet --keys $keys --checkpoint $stranger", 'a checkpoint that was changed' )->{err},
    qr/no valid signature/,
    '... is refused' );
put( 'empty', '{"keys":[]}' );
run( 1, "audit verify --quiet --keys $dir/empty --checkpoint $kept", 'a checkpoint of another key is refused' );

# ---- a file of lines, without the database

my $lines   = put( 'lines', run( 0, 'audit lines', 'audit lines' )->{out} );
my $nothing = { SVC_CONFIG => '/dev/null' };
my @offline = ( 'audit', 'verify-export', $lines, '--keys', $keys, '--checkpoint', $kept );
ctl_is( 0, \@offline, 'audit verify-export: without settings and database', env => $nothing );
{
    local ( @ARGV, $/ ) = $lines;
    my $text = <>;
    put( 'lines', $text =~ s/"client":"crm"/"client":"crn"/r );
    like( ctl_is( 1, \@offline, '... a changed line', env => $nothing )->{out}, qr/forged checkpoint/, '... is found' );
    put( 'lines', $text =~ s/\A(.*\n)(.*\n)/$1/r );
    ctl_is( 1, \@offline, '... a missing line', env => $nothing );
    put( 'lines', substr $text, 0, 2000 );
    like( ctl_is( 1, \@offline, '... a file that was cut', env => $nothing )->{out}, qr/rolled back/, '... is found' );
}

# ---- SVC_AUDIT_CHECKPOINT_FILE

sql('UPDATE audit_checkpoint SET filed_at = now() WHERE filed_at IS NULL');
make_rows(1);
my %filing = ( env => { %$env, SVC_AUDIT_CHECKPOINT_FILE => "$dir/missing/file" } );
like(
    ctl_is( 1, [qw(audit seal)], 'a file of checkpoints that cannot be written', %filing )->{err},
    qr/SVC_AUDIT_CHECKPOINT_FILE: .*No such file or directory/, '... is named' );
make_rows(1);
$filing{env}{SVC_AUDIT_CHECKPOINT_FILE} = "$dir/filed";
ctl_is( 0, [qw(audit seal)], 'SVC_AUDIT_CHECKPOINT_FILE: a file', %filing );
ctl_is( 0, [qw(audit seal)], '... without new rows',              %filing );
my $filed = do { local ( @ARGV, $/ ) = "$dir/filed"; <> };
is( scalar( () = $filed =~ /^\xe2\x80\x94 /mg ), 2, '... gets the checkpoint that waited and the new one, once each' );
faults_are( [], '... and verify takes it', " --keys $keys --checkpoint $dir/filed" );

# ---- the database lost its end: a new epoch

sql("UPDATE audit_log_state SET size = $old_size, up_to = (SELECT (line::json -> 'seal' ->> 'upTo')::bigint FROM audit_note WHERE leaf = $old_size - 1)"
);
sql("DELETE FROM audit_checkpoint WHERE size > $old_size");
sql("DELETE FROM audit_note WHERE leaf >= $old_size");
like(
    run( 1, "audit verify --quiet --keys $keys --checkpoint $kept", 'foreign_larger: a log that was rolled back' )
      ->{out},
    qr/rolled back behind the checkpoint of size $new_size/, '... is found by a checkpoint from elsewhere' );
run( 0, 'audit seal --new-epoch restored', 'audit seal --new-epoch' );
make_rows(2);
run( 0, 'audit seal', '... goes on' );
like( run( 0, 'audit checkpoint', 'audit checkpoint' )->{out}, qr{\A\S+/audit/2\n}, '... under another origin' );
my $renewed = run(
    1, "audit verify --json --quiet --keys $keys --checkpoint $kept",
    'audit verify: the new epoch, and the one that lost rows' )->{json};
is_deeply( $renewed->{first}, [], '... a checkpoint of the first epoch is no fault of the new one' );
is_deeply(
    [ map {"$_->{fault} $_->{at}"} @{ $renewed->{earlier}[0]{first} } ],
    ["the log was rolled back behind the checkpoint of size $new_size"],
    '... but of the first' );

done_testing();

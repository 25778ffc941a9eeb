#!/usr/bin/perl
# SVC_AUDIT_PROOF_DAYS with several epochs of the audit log: they age in their order, and what is left still proves the rest (decisions.md
# "Audit proof").
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
my $today = sql(q{SELECT (now() AT TIME ZONE 'UTC')::date - date '2026-01-01'});
sql(q{UPDATE job SET due_at = now() + interval '1 day'});

sub sql { return $stack->sql( $_[0] ) }

sub count { my ( $table, $where ) = @_; return sql("SELECT count(*) FROM audit_$table WHERE $where") }

# The faults of all epochs, each with its number.
sub faults_are {
    my ( $wanted, $name ) = @_;
    my $report = run( @$wanted ? 1 : 0, 'audit verify --json --quiet', $name )->{json};
    my @epochs = ( @{ $report->{earlier} }, $report );
    my @faults;
    for my $i ( 0 .. $#epochs ) {
        push @faults, map {"$i: $_->{fault} $_->{at}"} @{ $epochs[$i]{first} };
    }
    is_deeply( \@faults, $wanted, '... with its faults' );
    return [ map {"$_->{aged}/$_->{leaves}"} @epochs ];
}

sub age {
    my ( $days, $name ) = @_;
    return run( 0, 'maintain', $name, env => { %short, SVC_AUDIT_PROOF_DAYS => $days } );
}

sub newest_aged {
    return sql(q(SELECT line FROM audit_note WHERE line LIKE '{"v":1,"aged"%' ORDER BY epoch DESC, leaf DESC LIMIT 1));
}

# An epoch with rows whose seals are 412 and then so many days old.
sub two_seals {
    my ($days) = @_;
    return map { seal_rows( 300, $today - 6, $_ ) } 412, $days;
}

sub begin_anew {
    new_audit_log($stack);
    sql('DELETE FROM audit_log');
    unlink "$env->{SVC_RUNTIME_DIR}/audit-signed";
    return run( 0, 'audit seal --quiet', 'the log begins' );
}
begin_anew();
two_seals(300);
run( 0, 'audit seal --new-epoch restored', 'another epoch', days => 410 );
seal_rows( 300, $today - 5, 405 );
run( 0, 'maintain', 'rows of the first epoch are there', env => { SVC_AUDIT_PROOF_DAYS => 400 } );
is( newest_aged(), '', '... and nothing ages' );
age( 0,   'the rows are dropped' ) for 1 .. 2;
age( 400, 'an epoch with a seal that is not old enough' );
my $end_of_notes = sql('SELECT size FROM audit_log_state');
like( newest_aged(), qr/"epochs":\[\{"epoch":1,"leaves":256,"gone":/, '... ages up to it' );
unlike( newest_aged(), qr/"epoch":2/, '... and lets no later epoch age' );
is_deeply( faults_are( [], 'audit verify' ), [ '256/604', "0/$end_of_notes" ], '... accepts that' );

begin_anew();
my ( undef, $end_of_first ) = two_seals(411);
run( 0, 'audit seal --new-epoch restored', 'a second epoch', days => 410 );
seal_rows( 300, $today - 5, 405 );
age( 0, 'the rows of both are dropped, and the notes are in the second' ) for 1 .. 2;
my $end_of_second = seal_rows( 300, $today - 4, 300 );
run( 0, 'audit seal --new-epoch again', 'a third epoch', days => 200 );
seal_rows( 300, $today - 3, 150 );
seal_rows( 300, $today,     0 );
sql('CREATE TABLE forged AS SELECT * FROM audit_checkpoint WHERE epoch = 1');
sql("UPDATE audit_checkpoint SET note = replace(note, '/audit', '/other') WHERE epoch = 1 AND size = $end_of_first");
my $said = ctl( ['maintain'], env => { %$env, %short, SVC_AUDIT_PROOF_DAYS => 400 } );
like(
    "$said->{out}$said->{err}", qr/the seal of size $end_of_first in epoch 1 of the audit log is not what was signed/,
    'an epoch whose last checkpoint was forged' );
is( newest_aged(), '', '... does not age, nor does a later one' );
sql('UPDATE audit_checkpoint c SET note = f.note FROM forged f WHERE c.epoch = 1 AND c.size = f.size');
age( 400, 'a seal of the second epoch is old enough' );
my $up_to =
  sql(qq(SELECT line::json -> 'seal' ->> 'upTo' FROM audit_note WHERE epoch = 1 AND leaf = $end_of_first - 1));
like(
    newest_aged(), qr/"epochs":\[\{"epoch":1,"leaves":$end_of_first,"upTo":$up_to,"gone":\[\{"day":\d+,"rows":600\}/,
    '... so the first ages as a whole, which a note of the third says' );
like( newest_aged(), qr/\},\{"epoch":2,"leaves":256,"gone":/, '... and the second up to that seal' );
my $ages = faults_are( [], 'audit verify' );
is_deeply( [ @$ages[ 0, 1 ] ], [ "$end_of_first/$end_of_first", "256/$end_of_second" ], '... accepts both' );
age( 170, 'a seal of the third epoch is old enough' );
$ages = faults_are( [], 'audit verify' );
is_deeply(
    [ @$ages[ 0, 1 ] ], [ "$end_of_first/$end_of_first", "$end_of_second/$end_of_second" ],
    '... accepts two whole epochs' );
age( 100, 'the third epoch' );
like(
    newest_aged(), qr/"epoch":1,"leaves":$end_of_first,.*"epoch":2,"leaves":$end_of_second,.*"epoch":3,"leaves":256,/,
    '... ages too, and the note says all' );
age( 100, 'again' );
is( count( 'note', q(epoch = 3 AND line LIKE '{"v":1,"aged"%') ), 3, '... nothing more' );
is_deeply( faults_are( [], 'audit verify' )->[2] =~ s/\/.*//r, 256, '... accepts it' );

sql("CREATE TABLE kept_$_ AS SELECT * FROM audit_$_") for qw(log tile note checkpoint);
my $aged_leaf = sql(q(SELECT max(leaf) FROM audit_note WHERE epoch = 3 AND line LIKE '{"v":1,"aged"%'));
my $inside    = $up_to - 1;
for my $case (
    [   [ map {"DELETE FROM audit_$_ WHERE epoch = 1"} qw(note tile checkpoint) ],
        ['1: missing begin of epoch 1'], 'an epoch that has aged and was removed' ],
    [   [ map {"DELETE FROM audit_$_ WHERE epoch = 2"} qw(note tile checkpoint) ],
        ['1: missing begin of epoch 2'], 'one between two others' ],
    [   ["DELETE FROM audit_checkpoint WHERE epoch = 1 AND size = $end_of_first"],
        ["0: missing checkpoint of size $end_of_first"], 'the last checkpoint of an epoch that has aged' ],
    [   ['DELETE FROM audit_tile WHERE epoch = 1 AND level = 1'],
        [ map {"0: forged checkpoint of size $_"} 303, $end_of_first ], 'the upper tiles of such an epoch' ],
    [   [   "INSERT INTO audit_checkpoint (epoch, size, note) SELECT 1, size + 1, note FROM audit_checkpoint WHERE epoch = 1"
        ],
        [ map {"0: forged checkpoint of size $_"} 304, $end_of_first + 1 ],
        'a checkpoint behind its end' ],
    [   [   "INSERT INTO audit_log SELECT created_at, $inside, request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, outcome FROM audit_log ORDER BY id LIMIT 1"
        ],
        [ map {"$_: added row $inside"} 0 .. 2 ],
        'a row in an epoch that has aged' ],
    [   [   "UPDATE audit_note SET line = replace(line, '\"epoch\":1,', '\"epoch\":9,') WHERE epoch = 3 AND leaf = $aged_leaf"
        ],
        undef,
        'a note that names another epoch' ],
    [   ['DELETE FROM audit_log WHERE id = (SELECT max(id) FROM audit_log)'],
        [ '2: missing row ' . sql('SELECT max(id) FROM audit_log') ], 'a row of the present epoch' ] )
{
    my ( $changes, $faults, $name ) = @$case;
    sql($_) for @$changes;
    if ($faults) { faults_are( $faults, "refused: $name" ) }
    else         { run( 1, 'audit verify --quiet', "refused: $name" ) }
    for my $table (qw(log tile note checkpoint)) {
        sql("DELETE FROM audit_$table");
        sql("INSERT INTO audit_$table SELECT * FROM kept_$table");
    }
}
faults_are( [], 'everything is as it was' );

# Many epochs age in one run, and what an earlier run left is deleted: it may have ended behind its note.
begin_anew();
my $last = 4;
for my $epoch ( 1 .. $last ) {
    run( 0, 'audit seal --new-epoch again', "epoch $epoch", days => 400 - 50 * $epoch ) if $epoch > 1;
    seal_rows( 300, $today - 6, 390 - 50 * $epoch - $_ ) for 0, 5;
}
seal_rows( 300, $today, 0 );
age( 0, "the rows of $last epochs are dropped" ) for 1 .. 2;
my $aged = sprintf 'epoch < %d AND leaf BETWEEN 1 AND 511', $last;
isnt( count( 'note', $aged ), 0, '... and their notes are there' );
age( 30, "$last epochs age at once" );
is( () = newest_aged() =~ /"upTo"/g, $last - 1, '... all but the present one as a whole' );
is( count( 'note', $aged ),          0,         '... and their notes are deleted' );
faults_are( [], 'audit verify accepts it' );
my $sizes = sql('SELECT count(*), sum(size) FROM audit_checkpoint');
sql(q(INSERT INTO audit_note (epoch, leaf, line) VALUES (1, 7, '{"v":1,"key":{}}')));
age( 30, 'the next run' );
is( count( 'note', $aged ),                                  0,      '... deletes what is left' );
is( sql('SELECT count(*), sum(size) FROM audit_checkpoint'), $sizes, '... and no checkpoint that was kept' );
faults_are( [], 'audit verify accepts that' );

done_testing;

#!/usr/bin/perl
# Several things help the author of a policy: counts before a deploy, the difference between a directory and what is stored, a message in
# the history, a deploy after one revision only, an example in a new directory, and a save that says what it waits for.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;
use Time::HiRes qw(time);

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my @env   = ( env => $env );
sub sql     { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }
sub served  { return sql('SELECT b.revision FROM bundle b JOIN bundle_state s ON s.served = b.id') }
sub history { return ctl( [qw(bundle history --json)], @env )->{json} }

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/ = undef;
    return readline $in;
}

sub put {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    return;
}
my $rule = qq{package custom.issue\n\ndeny contains "closed" if input.client.id == "closed"\n};

# ---- pull into an empty directory

my $first = tree();
my $dir   = "$first/policy";
my ( $draft, $example_test ) = map {"custom/$_"} qw(example_draft_test.rego example_test.rego);
my $pull = ctl_is( 0, [ qw(bundle pull), $dir ], 'pull into a new directory', @env );
ok( -e "$dir/$_", "... adds $_" ) for $draft, $example_test;
like( $pull->{out}, qr/^\Q$draft\E is an example, which is not deployed; it says how to use it$/m, '... says so' );
like( slurp("$dir/$draft"), qr/^# .*has no effect.*rename this file to example\.rego/ms, '... the file says how' );
my $revision = served();
like( $pull->{out}, qr/, revision $revision\n\z/, '... and pull prints the revision' );
is( ctl( [ qw(bundle pull --json), tree() ], @env )->{json}{revision}, $revision, '... also with --json' );
SKIP: {
    skip 'no engine program', 3 if !$ENV{AUTHZ_OPA};
    my @data =
      ( env => { SVC_CONFIG => '/dev/null', AUTHZ_OPA => $ENV{AUTHZ_OPA}, SVC_DATA_DIR => Authz::Stack::data_dir() } );
    my $tested = ctl_is( 0, [ qw(policy test), $dir ], '... policy test passes', @data );
    like( $tested->{out}, qr/PASS: 2\/2/, '... and has run the tests of the example' );
    my $broken = tree(
        $draft        => slurp("$dir/$draft") =~ s/== "example"/== "nobody"/r,
        $example_test => slurp("$dir/$example_test") );
    ctl_is( 1, [ qw(policy test), $broken ], '... which test the rule', @data );
}
my $all = ctl_is( 0, [ qw(bundle deploy --mode replace), $dir ], 'deploy of what was pulled with the example', @env );
like( $all->{out}, qr/^rules: 0 added, 0 changed, 0 removed, 0 unchanged, \d+ protected$/m, '... deploys no rule' );
is( served(),                                                  $revision, '... and changes nothing' );
is( sql('SELECT count(*) FROM policy_rule WHERE NOT shipped'), 0,         '... nothing is stored, not even disabled' );
ctl_is( 0, [ qw(bundle diff --dir), $dir ], '... nor does it count as a difference', @env );
unlink "$dir/$draft", "$dir/$example_test" or die "unlink: $!";
like(
    ctl( [ qw(bundle pull), $dir ], @env )->{out}, qr/\A\d+ files, 0 written, revision $revision\n\z/,
    '... who deleted it does not get it again with the next pull' );
ok( !-e "$dir/$draft", '... it stays away' );
my $hidden = tree( '.git/config' => 'x' );
ctl_is( 0, [ qw(bundle pull -q), $hidden ], 'pull into a directory with hidden files alone', @env );
ok( -e "$hidden/$draft", '... is one into an empty directory' );
my $readme = tree( 'README' => 'x' );
ctl_is( 0, [ qw(bundle pull -q), $readme ], 'pull beside a README', @env );
ok( !-e "$readme/$draft", '... is not' );
rename "$hidden/$draft", "$hidden/custom/example.rego" or die "rename: $!";
like(
    ctl_is( 0, [ qw(bundle deploy), $hidden ], 'deploy after the file was renamed', @env )->{out},
    qr/^rules: 1 added/m, '... deploys the rule' );
ctl_is( 0, [ qw(bundle deploy -q --mode replace), $dir ], 'back to no rule', @env );

# ---- a row as policy data set stores it, white space and order of members as they were given

ctl_is( 0, [qw(policy data set -q my.set)], 'policy data set', @env, in => qq({"z": 1,\n "a" : [1 , 2.50]}\n) );
ctl_is( 0, [ qw(bundle pull -q), $dir ], '... pull', @env );
for my $mode (qw(merge replace)) {
    like(
        ctl_is( 0, [ qw(bundle deploy --dry-run --mode), $mode, $dir ], "... deploy --mode $mode", @env )->{out},
        qr/^data rows: 0 added, 0 changed, 0 removed, \d+ unchanged, 0 protected$/m,
        '... of what was pulled counts no row as changed' );
}
put( "$dir/data/my.set.json", '{"a":[1,2.50000000000000000001],"z":1}' );
like(
    ctl_is( 0, [ qw(bundle deploy --dry-run), $dir ], '... of a number that is the same double', @env )->{out},
    qr/^data rows: 0 added, 1 changed/m,
    '... counts as changed' );
ctl_is( 0, [qw(policy data delete --yes -q my.set)], '(the row is deleted)', @env );
unlink "$dir/data/my.set.json" or die "unlink: $!";

# ---- counts, before and after

my $work = tree(
    'custom/issue.rego' => $rule, 'custom/off.rego' => "package custom.off\n",
    'custom/same.rego'  => "package custom.same\n",
    'data/my.row.json'  => '{"a": 1, "b": 2}', 'data/my.other.json' => '1',
    'bundle.json'       => '{"disabled": ["custom/off.rego"]}' );
like(
    ctl_is( 0, [ qw(bundle deploy --dry-run), $work ], 'dry run of new rules and rows', @env )->{out},
    qr/^rules: 3 added, 0 changed, 0 removed, 0 unchanged, 0 protected\ndata rows: 2 added, 0 changed, 0 removed, 0 unchanged, 0 protected\n/m,
    '... counts them as added' );
ctl_is( 0, [ qw(bundle deploy -q), $work ], 'their deploy', @env );
put( "$work/custom/issue.rego", "$rule# more\n" );
put( "$work/custom/new.rego",   "package custom.new\n" );
put( "$work/data/my.row.json",  qq({\n "b": 2,\n "a": 1}\n) );
put( "$work/bundle.json",       '{"disabled": []}' );
unlink "$work/data/my.other.json" or die "unlink: $!";
my $counts =
  "rules: 1 added, 2 changed, 0 removed, 1 unchanged, 0 protected\ndata rows: 0 added, 0 changed, 0 removed, 1 unchanged, 0 protected\n";
my $dry = ctl_is( 0, [ qw(bundle deploy --dry-run), $work ], 'dry run with changes', @env );
like(
    $dry->{out}, qr/^\Q$counts\E/m,
    '... a text and a switch are changes; members of a row in another order are not' );
my $dry_replace =
  ctl_is( 0, [ qw(bundle deploy --dry-run --json --mode replace), $work ], '... and with replace', @env )->{json};
is( join( ' ', map { $dry_replace->{"data$_"} } qw(Added Changed Unchanged Upserted Deleted) ), '0 0 1 1 1',
    '... what is not listed is removed' );
is( served(), history()->[0]{revision}, '... and nothing was saved' );

# ---- bundle diff --dir

sub difference {
    my ( $status, $name, @more ) = @_;
    return ctl_is( $status, [ qw(bundle diff --dir), @more ], $name, @env );
}
my $standing = served();
my $diff     = difference( 1, 'diff of a directory that differs: status 1', $work );
like( $diff->{out}, qr/^rule added: custom\/new\.rego$/m, '... a rule that a deploy would add' );
like(
    $diff->{out}, qr/^rule changed: custom\/issue\.rego\n--- a\/.*\n\+\+\+ b\/.*\n@@.*\n(?:.*\n)*?\+# more$/m,
    '... the unified diff of a text, from what is stored to the directory' );
like( $diff->{out}, qr/^rule changed: custom\/off\.rego \(becomes enabled\)$/m, '... a switch alone' );
like( $diff->{out}, qr/^data row removed: my\.other$/m, '... a row that the directory does not have' );
like(
    $diff->{out}, qr/^not in \Q$work\E: 1; `bundle deploy` keeps them, and deletes them with --mode replace$/m,
    '... and what becomes of it' );
unlike( $diff->{out}, qr/my\.row|same\.rego|svc/, '... nothing of what is the same, or shipped' );
is( $diff->{err}, '', '... and no error' );
my $as_json = difference( 1, 'the same with --json', $work, '--json' )->{json};
is_deeply( $as_json->{rules}{added}, ['custom/new.rego'], '... added' );
is_deeply(
    [ map { $_->{enabled} ? "$_->{path} $_->{enabled}[1]" : () } @{ $as_json->{rules}{changed} } ],
    ['custom/off.rego 1'], '... enabled: [before, after]' );
is( served(), $standing, '... and nothing was saved' );
ctl_is( 0, [ qw(bundle deploy -q --mode replace), $work ], 'the deploy', @env );
is( difference( 0, 'afterwards there is no difference: status 0', $work )->{out}, '', '... and no output' );
my $copy = tree();
ctl_is( 0, [ qw(bundle pull -q), "$copy/x" ], 'a pull', @env );
is( difference( 0, 'what was pulled does not differ', "$copy/x" )->{out}, '', '... at all' );
put( "$copy/x/data/svc.operator.controls.consent.json", '{"mode": "always"}' );
like(
    difference( 1, 'a shipped row that the directory changes', "$copy/x" )->{out},
    qr/^data row changed: svc\.operator\.controls\.consent\n--- /m, '... is a difference' );
sql(q{UPDATE policy_data SET in_bundle = false WHERE data_key = 'my.row'});
unlink "$copy/x/data/my.row.json", "$copy/x/data/svc.operator.controls.consent.json" or die "unlink: $!";
like(
    difference( 0, 'a row outside the bundle', "$copy/x" )->{out}, qr/^data rows outside the bundle, not compared: 1$/m,
    '... is counted' );
sql(q{UPDATE policy_data SET in_bundle = true WHERE data_key = 'my.row'});
for my $case (
    [ 1,  ['/nonexistent/dir'],             qr/No such file/,                     'a directory that does not exist' ],
    [ 1,  [ tree() ],                       qr/contains no rule and no data row/, 'an empty directory' ],
    [ 1,  [ tree( 'data/a.json' => '{' ) ], qr/data\/a\.json/,                    'a row that is no JSON' ],
    [ 64, [ $work, 1 ],                     qr/--dir compares with what is stored; omit FROM and TO/, 'an id too' ],
  )
{
    my ( $status, $words, $why, $name ) = @$case;
    like( difference( $status, "diff --dir: $name", @$words )->{err}, $why, '... is refused' );
}
like(
    ctl_is( 64, [qw(bundle diff)], 'bundle diff without anything', @env )->{err},
    qr/missing argument: FROM, or --dir DIR/,
    '... says what it needs' );

# ---- a message

my $turn = 0;
sub changed { put( "$work/custom/new.rego", "package custom.new\n\nx := " . ++$turn . "\n" ); return $work }
my $text = 'Ticket 17: no tokens for shop';
ctl_is( 0, [ qw(bundle deploy -q -m), $text, changed() ], 'deploy -m MESSAGE', @env );
is( history()->[0]{message}, $text, '... keeps it' );
like(
    ctl( [qw(bundle history)], @env )->{out}, qr/\AID .* MESSAGE\n\d+ .* \Q$text\E\n/,
    '... and the history shows it' );
my ( $id, $before ) = map { $_->{id} } @{ history() };
ctl_is( 0, [ qw(bundle rollback -q -mback), $before ], 'rollback -mMESSAGE', @env );
is( history()->[0]{message}, 'back', '... keeps it' );

for my $case (
    [ 'policy rule set',    [ 'custom/m.rego', '-' ], "package custom.m\n" ],
    [ 'policy rule delete', [qw(--yes custom/m.rego)] ],
    [ 'policy data set',    [ 'my.m', '-' ], '1' ],
    [ 'policy data set',    [ 'my.m', '-', '--patch' ], '{"a":1}' ],
    [ 'policy data delete', [qw(--yes my.m)] ] )
{
    my ( $verb, $words, $in ) = @$case;
    ctl_is( 0, [ split( / /, $verb ), @$words, '--message', "by $verb" ], "$verb @$words --message", @env, in => $in );
    is( history()->[0]{message}, "by $verb", '... keeps it' );
}
ctl_is( 0, [ qw(bundle deploy -q), changed() ], 'deploy without a message', @env );
ok( !exists history()->[0]{message}, '... has none' );
like(
    ctl_is( 0, [ qw(bundle deploy -m again), $work ], 'a message for a deploy that changes nothing', @env )->{out},
    qr/^the bundle did not change, so the message was not kept$/m, '... is not kept, and that is said' );
unlike(
    ctl_is( 0, [ qw(bundle deploy --dry-run -m again), $work ], '... but of a dry run', @env )->{out}, qr/kept/,
    '... nothing is said' );
ctl_is( 0, [ qw(bundle deploy -q -m), 'x' x 500, changed() ], 'a message of 500 octets', @env );
is( history()->[0]{message}, 'x' x 500, '... is kept' );
my $last = served();
for my $case (
    [ 'x' x 501,              qr/--message must have at most 500 octets; give one short line/, '501 octets' ],
    [ "\xc3\xa9" x 250 . 'x', qr/at most 500 octets/,                                          '501 octets of UTF-8' ],
    [ "a\nb",                 qr/--message must not have control/,                             'two lines' ],
    [ "\e[31m",               qr/--message must not have control/,                             'an escape sequence' ],
    [ "\xff",                 qr/--message must be UTF-8/,                                     'what is not UTF-8' ],
    [ ' ',                    qr/--message /,                                                  'blanks alone' ],
    [ '',                     qr/--message requires a value: MESSAGE/,                         'nothing' ] )
{
    my ( $message, $why, $name ) = @$case;
    like(
        ctl_is( 64, [ qw(bundle deploy -m), $message, changed() ], "refused: a message of $name", @env )->{err}, $why,
        '... in words' );
}
for my $case (
    [ [ 'bundle', 'deploy', $work, '-m' ], qr/--message requires a value/ ],
    [ [ qw(bundle deploy -m a -m b),        $work ], qr/--message was given twice/ ],
    [ [ qw(bundle deploy -qma --message=b), $work ], qr/--message was given twice/ ],
    [ [ qw(bundle pull -m x),               $work ], qr/unknown option -m/ ] )
{
    like( ctl_is( 64, $case->[0], "authzctl @{$case->[0]}", @env )->{err}, $case->[1], '... is a wrong command line' );
}
is( served(), $last, 'after these refusals the revision is as it was' );

# ---- --if-revision

my $older = history()->[1]{revision};
my $no    = ctl_is( 1, [ qw(bundle deploy --if-revision), $older, changed() ], 'deploy after another revision', @env );
like(
    $no->{err},
    qr/^authzctl: bundle deploy: the active revision is $last, not $older, so nothing was changed; pull it, merge your change and run this again\n\z/,
    '... is refused with both' );
is( served(), $last, '... and nothing is changed' );
ctl_is( 1, [ qw(bundle deploy --dry-run --if-revision), $older, $work ], '... a dry run too',                @env );
ctl_is( 0, [ qw(bundle deploy -q --if-revision),        $last,  $work ], 'deploy after the active revision', @env );

# Two who deploy at once after the same revision: the check is made under the lock of the save, so one of them is refused.
my $program = Authz::Path::program('authzctl');
my @lost;
for my $round ( 1 .. 8 ) {
    my $now = served();
    my @who = map {
        my $mine = tree( 'custom/race.rego' => "package custom.race\n\nv := \"$round-$_\"\n" );
        Authz::Process->start(
            name    => "racer$round-$_",
            env     => $env,
            command => [ $program, qw(bundle deploy --quiet --if-revision), $now, $mine ] )
    } 1 .. 3;
    $_->wait(60) for @who;
    my @won = grep { $_->log_text =~ /^[0-9a-f]{32} confirmed$/m } @who;
    my @no  = grep { $_->log_text =~ /the active revision is [0-9a-f]{32}, not $now/ } @who;
    push @lost, "round $round: " . @won . ' won, ' . @no . ' refused' if @won != 1 || @no != 2;
}
is( join( "\n", @lost ), '',
    'of three deploys at once after the same revision, one wins and two are refused, 8 times' );

# ---- a save that waits says so on a terminal; script(1) makes one

# Start the program on a terminal; its output is read from the handle.
sub on_terminal {
    my ( $script, $settings, @words ) = @_;
    local %ENV = ( PATH => $ENV{PATH}, %$settings );
    my $pid = open my $out, '-|', $script, '-qec', join( ' ', $program, @words ), '/dev/null' or die "script: $!";
    return { pid => $pid, out => $out, text => '' };
}

# Read until the text matches or the program ends.
sub read_until {
    my ( $run, $pattern ) = @_;
    while ( $run->{text} !~ $pattern && sysread( $run->{out}, my $more, 4096 ) ) { $run->{text} .= $more }
    return $run->{text};
}
SKIP: {
    my $script = Authz::Path::on_path('script');
    skip 'no script(1)', 14 if !defined $script;
    my $engine = sql('SELECT instance FROM engine_instance');
    for my $words (
        "bundle deploy $work", "policy data set my.w $work/data/my.row.json", "bundle rollback $before",
        "policy rule set custom/w.rego $work/custom/new.rego" )
    {
        changed();
        $stack->{opa}->signal('STOP');
        my $start = time;
        my $run   = on_terminal( $script, $env, $words );
        like(
            read_until( $run, qr/waiting for.*\n/ ),
            qr/^authzctl: \w+ [a-z ]+: waiting for \Q$engine\E to confirm revision [0-9a-f]{32}, for at most 25 s\r?$/m,
            "$words: names the engine that it waits for, the revision and the limit" );
        cmp_ok( time - $start, '>=', 1, '... after a second' );
        $stack->{opa}->signal('CONT');
        read_until( $run, qr/\0/ );
        like( $run->{text}, qr/^[0-9a-f]{32} confirmed\r?$/m, '... and is confirmed when that engine comes back' );
        is( () = $run->{text} =~ /waiting for \Q$engine\E/g, 1, '... the line is printed once' );
    }
    my %hasty = ( %$env, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 3000 );
    $stack->{opa}->signal('STOP');
    changed();
    unlike(
        read_until( on_terminal( $script, \%hasty, "bundle deploy --quiet $work" ), qr/\0/ ),
        qr/waiting for \Q$engine\E to/,
        '--quiet: nothing is said' );
    my $piped = ctl( [ qw(bundle deploy), $work ], env => \%hasty );
    isnt( $piped->{status}, 0, 'without a terminal: the save ran out of time' );
    unlike( "$piped->{out}$piped->{err}", qr/waiting for \Q$engine\E to/, '... and did not say what it waits for' );
    $stack->{opa}->signal('CONT');

    my $holder = Authz::Process->start(
        name    => 'holder',
        command => [
            Authz::Path::postgres('psql'), '-X', '-d', $stack->database_url, '-c', 'SELECT pg_advisory_lock(4, 0)',
            '-c',
            'SELECT pg_sleep(120)' ],
    );
    my $locks =
      q{FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 4 AND granted};
    Authz::Process::until_true( 20, sub { sql("SELECT count(*) $locks") > 0 } );
    my $run = on_terminal( $script, $env, "bundle deploy $work" );
    like(
        read_until( $run, qr/waiting for.*\n/ ), qr/: waiting for another policy save to end, for at most 30 s\r?$/m,
        'a save behind another one says that' );
    sql("SELECT pg_terminate_backend(pid) $locks");
    $holder->stop;
    like( read_until( $run, qr/\0/ ), qr/^[0-9a-f]{32} confirmed\r?$/m, '... and goes on when that has ended' );
}

done_testing;

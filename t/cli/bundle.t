#!/usr/bin/perl
# bundle deploy, pull, history, diff, rollback: a directory holds the policy, so that it can live in git. They run on the real
# engine, because its refusals must be shown with the line that they name (policy.md 2.4, specification 2.6 and 7.2).
use strict;
use warnings;

use Fcntl   qw(LOCK_EX);
use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = { %{ $stack->settings }, AUTHZ_OPA => Authz::Path::opa() };

# Without the engine's program it is the engine of the service that refuses a rule.
my $away = { %$env, AUTHZ_OPA => '/nonexistent/opa' };
sub sql     { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }
sub slurp   { open my $in, '<:raw', $_[0] or die "$_[0]: $!"; local $/ = undef; return readline $in }
sub served  { return sql('SELECT b.revision FROM bundle b JOIN bundle_state s ON s.served = b.id') }
sub bundles { return sql(q{SELECT count(*) FROM bundle WHERE status IN ('published', 'confirmed')}) }

my $hex   = qr/[0-9a-f]{32}/;
my $rule  = qq{package custom.issue\n\ndeny contains "closed" if {\n\tinput.client.id == "closed"\n}\n};
my $draft = qq{package custom.draft\n\nallow := this is no rego\n};
my $test  = qq{package custom.issue_test\n\ntest_it if count(data.custom.issue.deny) >= 0\n};
my $row   = "{\n  \"b\": 0.1,\n  \"a\": [ 1, \"\\u00e9{\", {} ]\n}\n";

# ---- deploy: what is accepted

my %good = (
    'custom/issue.rego'      => $rule,
    'custom/draft.rego'      => $draft,
    'custom/issue_test.rego' => $test,
    'data/my.row.json'       => $row,
    'bundle.json'            => '{"disabled": ["custom/draft.rego"]}',
    'README'                 => 'read me',
    'custom/README.md'       => 'read me too',
    'Makefile'               => 'all:',
    'custom/notes.json'      => '{',
    '.git/config'            => 'x',
    '.git/x.rego'            => 'not rego',
);
my $dir = tree(%good);
my $dry = ctl_is( 0, [ qw(bundle deploy --dry-run), $dir ], 'a dry run', env => $env );
like( $dry->{out}, qr/^rules: 2 added, 0 changed, 0 removed, 0 unchanged, 0 protected$/m,     '... counts rules' );
like( $dry->{out}, qr/^data rows: 1 added, 0 changed, 0 removed, 0 unchanged, 0 protected$/m, '... and rows' );
like( $dry->{out}, qr/^$hex dry-run\n\z/m, '... and says what it was' );
is( sql(q{SELECT count(*) FROM policy_rule WHERE path LIKE 'custom/%'}), 0, '... and writes nothing' );

my $done = ctl_is( 0, [ qw(bundle deploy), "$dir/" ], 'deploy of a directory', env => $env );
like(
    $done->{out},
    qr/^rules: 2 added, 0 changed, 0 removed, 0 unchanged, 0 protected\ndata rows: 1 added, 0 changed, 0 removed, 0 unchanged, 0 protected\n$hex confirmed\n\z/m,
    '... prints counts, revision and activation' );
is( $done->{err}, '', '... and no error' );
is( join( ',', sort $done->{out} =~ /^ignored: (.*)$/mg ), 'Makefile,README,custom/README.md,custom/notes.json',
    '... names what it ignored, but not what is hidden' );
is( sql(q{SELECT string_agg(path || '=' || enabled, ',' ORDER BY path) FROM policy_rule WHERE NOT shipped}),
    'custom/draft.rego=false,custom/issue.rego=true',
    'rules are stored, tests are not, bundle.json disables (no rego in it is no matter)' );
is( sql(q{SELECT content FROM policy_rule WHERE path = 'custom/issue.rego'}) . "\n", $rule, '... octet by octet' );
is( sql(q{SELECT payload FROM policy_data WHERE data_key = 'my.row'}), q({"b":0.1,"a":[1,"\u00e9{",{}]}),
    'a payload loses only its white space' );
is( sql(q{SELECT b.trigger_source || ' ' || b.triggered_by FROM bundle b JOIN bundle_state s ON s.served = b.id}),
    'deploy authzctl', 'the bundle says where it came from' );

my ( $revision, $count ) = ( served(), bundles() );
my $quiet = ctl_is( 0, [ qw(bundle deploy --quiet), $dir ], 'the same again', env => $env );
is( $quiet->{out}, "$revision confirmed\n", '... has the same revision, and --quiet prints that alone' );
is( bundles(),     $count,                  '... and publishes nothing' );

my $json = ctl_is( 0, [ qw(bundle deploy --json --mode=replace), $dir ], 'with --json', env => $env )->{json};
is( join( ' ', sort keys %$json ),
    'activation dataAdded dataChanged dataDeleted dataProtected dataUnchanged dataUpserted mode newEtag previousEtag revision rulesAdded rulesChanged rulesDeleted rulesProtected rulesUnchanged rulesUpserted',
    '... the members of PolicyBundleDeployResult (specification 2.6), with ours' );
is( "$json->{mode} $json->{revision} $json->{rulesUpserted} $json->{dataUpserted}", "replace $revision 2 1",
    '... hold what was done' );
is( ctl( [ qw(bundle deploy --json --dry-run), $dir ], env => $env )->{json}{mode}, 'dry-run',
    '... and of a dry run its mode is that' );

# ---- pull, and back

my $empty = tree();
my $pull  = ctl_is( 0, [ qw(bundle pull), "$empty/new" ], 'pull into a directory that is to be made', env => $env );
like( $pull->{out}, qr{^written: custom/issue\.rego$}m, '... names what it writes' );
is( slurp("$empty/new/custom/$_.rego"), { issue => $rule, draft => $draft }->{$_},
    "... custom/$_.rego as it was given" ) for qw(issue draft);
is_deeply(
    JSON::PP->new->decode( slurp("$empty/new/bundle.json") ), { disabled => ['custom/draft.rego'] },
    '... what is disabled' );
is( slurp("$empty/new/data/my.row.json"), qq({\n  "b": 0.1,\n  "a": [\n    1,\n    "\\u00e9{",\n    {}\n  ]\n}\n),
    '... a payload with one member to a line, its numbers as they were' );
ok( !-e "$empty/new/svc", '... no shipped rule' );
ok( -e "$empty/new/data/svc.operator.controls.lifetime.json",
    '... but the shipped rows: their payload is the operator\'s' );
is( ctl_is( 0, [ qw(bundle deploy -q --mode replace), "$empty/new" ], 'deploy of what was pulled', env => $env )->{out},
    "$revision confirmed\n", '... changes nothing' );
is( bundles(), $count, '... and publishes nothing' );
is( sql(q{SELECT payload FROM policy_data WHERE data_key = 'my.row'}), q({"b":0.1,"a":[1,"\u00e9{",{}]}),
    '... nor writes a payload in another layout' );
like(
    ctl_is( 0, [ qw(bundle pull), "$empty/new" ], 'pull again', env => $env )->{out},
    qr/\A\d+ files, 0 written, revision $revision\n\z/, '... writes nothing' );

my $mine =
  tree( '.git/config' => 'x', 'README.md' => 'x', 'custom/issue_test.rego' => $test, 'custom/issue.rego' => 'old' );
ctl_is( 0, [ qw(bundle pull -q), $mine ], 'pull beside hidden files, README and tests', env => $env );
is( slurp("$mine/custom/issue.rego") . slurp("$mine/custom/issue_test.rego"), "$rule$test",
    '... brings rules up to date and leaves tests' );

for my $stranger ( 'custom/other.rego', 'notes.txt', 'data/other.json', 'data/x/y' ) {
    my $full    = tree( $stranger => 'mine' );
    my $refused = ctl_is( 1, [ qw(bundle pull), $full ], "pull beside $stranger", env => $env );
    like(
        $refused->{err}, qr/\Q$full\/$stranger\E: is not part of the policy; name an empty directory, or use --force/,
        '... is refused' );
    ok( !-e "$full/custom/issue.rego", '... with nothing written' );
    my $forced = ctl_is( 0, [ qw(bundle pull --force), $full ], '... but not with --force', env => $env );
    is( slurp("$full/$stranger"), 'mine', '... which leaves it there' );
    is( scalar( $forced->{out} =~ /^kept: \Q$stranger\E, /m ), $stranger =~ /rego\z|^data\/other/ ? 1 : '',
        '... and says so of what a deploy would take' );
}
is( ctl( [ qw(bundle pull --json), tree() ], env => $env )->{json}{rowsOutsideBundle}, 0, 'pull --json counts' );

# Nothing is written outside the directory, whatever it or the database contains.
my $outside = tree( 'issue.rego' => 'theirs' );
my $linked  = tree( 'x'          => '' );
unlink "$linked/x";
symlink $outside, "$linked/custom" or die "symlink: $!";
like(
    ctl_is( 1, [ qw(bundle pull --force), $linked ], 'pull where a folder of the path is a link', env => $env )->{err},
    qr{\Q$linked\E/custom}, '... names it' );
is( slurp("$outside/issue.rego"), 'theirs', '... and does not follow it' );
my $file_link = tree( 'custom/x' => '' );
unlink "$file_link/custom/x";
symlink "$outside/issue.rego", "$file_link/custom/issue.rego" or die "symlink: $!";
like(
    ctl_is( 1, [ qw(bundle pull --force), $file_link ], 'pull where a file is a link', env => $env )->{err},
    qr{issue\.rego: is a symbolic link or not a regular file; remove it}, '... names it' );
is( slurp("$outside/issue.rego"), 'theirs', '... and does not follow it' );

for my $hostile (
    '../escape.rego',     '/tmp/escape.rego', 'a/../../escape.rego', '.git/hooks/x.rego', 'custom/.x.rego',
    'custom/a_test.rego', "custom/a\nb.rego", 'custom/x',            'x' x 508 . '.rego' )
{
    my $quoted = $hostile =~ s/\n/'||chr(10)||'/r;
    sql("INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('$quoted', 'rego', 'package x', 'x', false)"
    );
    my $target = tree();
    my $got    = ctl_is(
        1,                                                                    [ qw(bundle pull), "$target/in" ],
        'pull with a rule called ' . substr( $hostile =~ s/\n/\\n/r, 0, 30 ), env => $env );
    like( $got->{err}, qr/rename the rule|would skip a file of this name/, '... says what to do' );
    is( join( ',', glob "$target/{*,.[a-z]*,in/*}" ), '', '... and writes nothing' );
    sql("DELETE FROM policy_rule WHERE digest = 'x'");
}
my $stem = 'k' x 250;
for my $case (
    [   q{INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('custom/%s.rego', 'rego', 'package x', 'x', false)},
        'r' x 251, qr/r\.rego: a file name has at most 255 octets/,
        'a rule whose name is one octet too long for a file' ],
    [   q{INSERT INTO policy_data (data_key, payload, digest) VALUES ('%s', '1', 'x')}, 'k' x 251,
        qr/k\.json: a file name has at most 255 octets/,                                'a row whose key is' ],
    [   q{INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('custom/issue.rego/%s.rego', 'rego', 'package x', 'x', false)},
        'x', qr{custom/issue\.rego/x\.rego: the name of another rule or row is the directory of this one},
        'a rule below another rule' ],
    [   q{INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('data/my.row.json/%s.rego', 'rego', 'package x', 'x', false)},
        'x', qr{is the directory of this one}, 'a rule below the file of a row' ],
  )
{
    my ( $insert, $name, $why, $what ) = @$case;
    sql( sprintf $insert, $name );
    my $target = tree();
    like( ctl_is( 1, [ qw(bundle pull), "$target/in" ], "pull with $what", env => $env )->{err}, $why, '... names it' );
    is( join( ',', glob "$target/*" ), '', '... and writes nothing: half a policy would be deployed as the whole' );
    sql("DELETE FROM $_ WHERE digest = 'x'") for qw(policy_rule policy_data);
}
sql( sprintf q{INSERT INTO policy_data (data_key, payload, digest) VALUES ('%s', '1', 'x')}, $stem );
my $fits = tree();
ctl_is( 0, [ qw(bundle pull -q), $fits ], 'pull with a row whose key just fits', env => $env );
ok( -e "$fits/data/$stem.json", '... writes it' );
sql(q{DELETE FROM policy_data WHERE digest = 'x'});

# Two pulls into one directory at the same time would mix their files. Whoever can read the directory can lock that, so the lock is a
# file that no other account can open.
my $shared = tree();
open my $stranger, '<', $shared or die "$shared: $!";
flock $stranger, LOCK_EX or die "flock: $!";
ctl_is( 0, [ qw(bundle pull -q), $shared ], 'a lock on the directory holds nobody up', env => $env );
ok( !-e "$shared/.authzctl.lock", '... and the lock of a pull is deleted' );
is_deeply(
    [ grep { ( stat "$shared/$_" )[2] & 077 } map {s{\A\Q$shared\E/}{}r} glob "$shared/* $shared/*/* $shared/*/*/*" ],
    [], '... what is pulled is for its owner alone' );
close $stranger;
$shared = tree();
open my $locked, '>', "$shared/.authzctl.lock" or die "$shared: $!";
flock $locked, LOCK_EX or die "flock: $!";
like(
    ctl_is( 1, [ qw(bundle pull), $shared ], 'pull while another one writes there', env => $env )->{err},
    qr/\Q$shared\E: another bundle pull is writing to it; wait for it to finish/, '... is refused' );
is( join( ',', glob "$shared/*" ), '', '... and writes nothing' );
close $locked;
ctl_is( 0, [ qw(bundle pull -q), $shared ], '... and works when that has ended', env => $env );
SKIP: {
    skip 'only root can make a file of another account', 1 if $> != 0;
    open my $other, '>', "$shared/.authzctl.lock" or die "$shared: $!";
    chown 4321, 4321, $other or die $!;
    like(
        ctl_is( 1, [ qw(bundle pull), $shared ], 'a lock of another account', env => $env )->{err},
        qr/\Q$shared\E: its file \.authzctl\.lock belongs to another account; delete it/, '... is named' );
    unlink "$shared/.authzctl.lock" or die $!;
}

sql(q{INSERT INTO policy_data (data_key, payload, digest) VALUES ('../x', '1', 'x')});
like(
    ctl_is( 1, [ qw(bundle pull), tree() ], 'pull with a row whose key is no key', env => $env )->{err},
    qr{\.\./x: the data key must be words}, '... is refused' );
sql(q{DELETE FROM policy_data WHERE digest = 'x'});
sql(q{UPDATE policy_data SET in_bundle = false WHERE data_key = 'my.row'});
my $partly = tree();
like(
    ctl_is( 0, [ qw(bundle pull), $partly ], 'pull with a row outside the bundle', env => $env )->{out},
    qr/^data rows outside the bundle, not written: 1;/m, '... says so' );
ok( !-e "$partly/data/my.row.json", '... and leaves it out' );
sql(q{UPDATE policy_data SET in_bundle = true WHERE data_key = 'my.row'});

# ---- deploy: what is refused, with nothing changed

my $broken = tree(
    %good,
    'custom/more/issue.rego' =>
      "package custom.more\n\nimport data.x\n\ndeny contains \"\\u001b[31m\" if {\n\tcount(input.a, input.b) == 1\n}\n"
);
my $no = ctl_is( 1, [ qw(bundle deploy), $broken ], 'deploy that the engine refuses', env => $away );
like(
    $no->{err},
    qr{^authzctl: bundle deploy: bundle_not_activated: custom/more/issue\.rego:6: [^\n]*count[^\n]*; nothing was changed; correct it and run this again\n}m,
    '... its message with file and row (specification 7.2)' );
like(
    $no->{err}, qr{^ +6 \| \tcount\(input\.a, input\.b\) == 1\n +\| \Q$broken\E/custom/more/issue\.rego\n\z}m,
    '... then the line, and the file under it' );
is( $no->{out} =~ /confirmed/ ? 1 : 0, 0, '... and no success' );
ctl_is(
    0,
    [   qw(bundle deploy -q),
        tree(
            'custom/f.rego' => "package custom.f\n\nf(x) := x\n",
            'lib/use.rego'  => "package custom.use\n\n# calls it\ng := data.custom.f.f(1)\n" ) ],
    'a library and its user',
    env => $env );
my $other = ctl_is(
    1,
    [   qw(bundle deploy),
        tree(
            'custom/f.rego' => "package custom.f\n\nf(x, y) := x\n",
            'use.rego'      => "package custom.h\n\n# innocent\nh := 1\n" ) ],
    'deploy that breaks a stored rule',
    env => $away );
like(
    $other->{err},
    qr{bundle_not_activated: lib/use\.rego:4: [^\n]*\n +4 \| g := data\.custom\.f\.f\(1\)\n +\| lib/use\.rego \(stored\)\n\z},
    '... shows its line, and not that of a file whose name is the end of its path' );
my $wide = ctl_is(
    1,
    [ qw(bundle deploy), tree( 'custom/w.rego' => "package custom.w\n\nx := y # " . "\xc3\xa9" x 100000 . "\n" ) ],
    'a line of 200,000 octets', env => $away );
like( $wide->{err}, qr/^ +3 \| x := y # (?:\xc3\xa9){195} \.\.\.\n/m, '... is cut, between two characters' );
ctl_is( 0, [ qw(bundle deploy -q --mode replace), $dir ], 'back to what was', env => $env );
my $body = ctl_is( 1, [ qw(bundle deploy --json), $broken ], 'the same with --json', env => $away )->{json};
is( join( ' ', sort keys %$body ), 'activeRevision error error_description expectedRevision rolledBack',
    '... the members of the 422 (specification 7.2)' );
is( "$body->{error} $body->{activeRevision} $body->{rolledBack}", "bundle_not_activated $revision 1",
    '... with what is active' );
my $escape = ctl_is(
    1, [ qw(bundle deploy), tree( 'custom/e.rego' => "package custom.e\n\nx := \e[31m\n" ) ],
    'a line with an escape sequence', env => $env );
unlike( $escape->{err}, qr/\e/, '... does not reach the terminal' );

my $schema =
  tree( 'data/svc.operator.controls.lifetime.json' => qq({"zzz": 1,\n"yyy": 2}), 'custom/issue.rego' => $rule );
my $unfit = ctl_is( 1, [ qw(bundle deploy), $schema ], 'a row that breaks its schema twice', env => $env );
like(
    $unfit->{err}, qr{^authzctl: \Q$schema\E/data/svc\.operator\.controls\.lifetime\.json: /$_: }m,
    "... names the file and /$_" ) for qw(zzz yyy);
my $failures = ctl( [ qw(bundle deploy --json), $schema ], env => $env )->{json};
is_deeply(
    [ $failures->{dataKey}, sort map { $_->{path} } @{ $failures->{failures} } ],
    [ 'svc.operator.controls.lifetime', '/yyy', '/zzz' ], '... with --json as the 422 (specification 7.2)' );

my @entry = (
    [ 'svc/mine.rego', "package custom.x\n", qr/Paths below svc belong to the service/,  'a rule below svc' ],
    [ 'custom/x.rego', "package svc.mine\n", qr/The package svc belongs to the service/, 'a rule in package svc' ],
    [   'custom/x.rego', "package system.authz\n", qr/The package system belongs to the policy engine/,
        'a rule in package system' ],
    [ 'data/svc.no.json', '{}', qr/Keys below svc belong to the service/,        'a row below svc' ],
    [ 'data/system.json', '{}', qr/The key system belongs to the policy engine/, 'a row of the engine' ],
    [   'custom/x.cedar', "permit(principal,action,resource)\nwhen { x };", qr{custom/x\.cedar:2:8: },
        'a Cedar rule with an error' ],
    [   'custom/x.cedar', "permit(principal,action,resource);\n// \xff\n", qr/x\.cedar:2: is not UTF-8/,
        'one not in UTF-8' ],
    [ 'custom/x.cedar', "permit(principal,action,resource);\0", qr/x\.cedar:1: [^\n]*NUL/, 'one with a NUL' ],
    [   'custom/x.cedar', '//' . 'x' x 524287, qr/is too large; it must be a readable file of at most 524288 octets/,
        'one an octet too large' ],
    [ 'custom/x.rego', '', qr/must not be empty/, 'an empty rule' ],
    [   'custom/x.rego', '# ' . 'x' x 524287, qr/is too large; it must be a readable file of at most 524288 octets/,
        'a rule one octet too large' ],
    [   'custom/x.rego', "package x\n# \xff\n", qr/x\.rego:2: is not UTF-8 text or contains a NUL/,
        'a rule that is not UTF-8' ],
    [ 'custom/x.rego', "package x\n\n# \0\n", qr/x\.rego:3: is not UTF-8 text or contains a NUL/, 'a rule with a NUL' ],
    [   "custom/x\xff.rego", "package x\n", qr/custom\/x\?\.rego: the path of a rule must be UTF-8/,
        'a name that is not UTF-8' ],
    [   "custom/x\n.rego", "package x\n", qr/the path of a rule must not have backslashes or control characters/,
        'a name with a line feed' ],
    [ 'data/a b.json', '{}', qr/a b\.json: the data key must be words/, 'a key that is none' ],
    [   'data/a.json', "{\n\"a\": 1,\n\"b\" 2}", qr/data\/a\.json:3: [^\n]*; it must be one JSON value/,
        'JSON that is wrong in line 3' ],
    [   'data/a.json', "{\"a\":1,\n\n\"a\":2}", qr/data\/a\.json:3: [^\n]*; it must be one JSON value/, 'a member twice'
    ],
    [ 'data/a.json', '',                  qr/data\/a\.json(?::1)?: [^\n]*; it must be one JSON value/, 'an empty row' ],
    [ 'data/a.json', '[' x 33 . ']' x 33, qr/data\/a\.json: [^\n]*; it must be one JSON value/, 'nesting of 33' ],
    [   'data/a.json', '"' . 'x' x 8388607 . '"', qr/data\/a\.json: is larger than 8 MiB/,
        'a payload one octet too large' ],
    [   'bundle.json', '{"disabled": ["nope.rego"]}',
        qr/disabled\[0\] names nope\.rego, which is not a rule in this directory/,
        'bundle.json that names no rule' ],
    [   'bundle.json', '{"disable": []}', qr/must have the form \{"disabled": \[PATH\.\.\.\]\}/,
        'bundle.json with a misspelt member' ],
    [ 'bundle.json', '{"disabled": "x"}', qr/must have the form/,             'bundle.json without a list' ],
    [ 'bundle.json', '{"disabled": [1]}', qr/disabled\[0\] must be a string/, 'bundle.json with a number' ],
);
for my $case (@entry) {
    my ( $path, $text, $why, $what ) = @$case;
    my $bad   = tree( 'custom/issue.rego' => $rule, $path => $text );
    my $got   = ctl_is( 1, [ qw(bundle deploy), $bad ], "deploy of $what", env => $env );
    my $named = quotemeta( $path =~ s/[\n\xff]/?/r );
    like( $got->{err}, qr{\Q$bad\E/$named}, '... names the file' );
    like( $got->{err}, $why,                '... and says what is wrong' );
}

my $long = join( '/', ('d') x 250 ) . '/' . 'x' x 7;    # 499 + 1 + 7
ctl_is(
    0, [ qw(bundle deploy --dry-run), tree( "$long.rego" => "package custom.long\n" ) ], 'a path of 512 octets',
    env => $env );
like(
    ctl_is(
        1, [ qw(bundle deploy), tree( "${long}y.rego" => "package custom.long\n" ) ], 'a path of 513 octets',
        env => $env )->{err},
    qr/the path of a rule must have at most 512 octets/,
    '... is refused' );

my $special = tree( 'custom/issue.rego' => $rule );
system 'mkfifo', "$special/custom/fifo.rego";
like(
    ctl_is( 1, [ qw(bundle deploy), $special ], 'a FIFO among the rules', env => $env )->{err},
    qr{custom/fifo\.rego: is a symbolic link or not a regular file; replace it},
    '... is refused without waiting for a writer' );
for my $link ( 'custom/link.rego', 'data/link.json', 'folder', 'bundle.json' ) {
    my $with = tree( 'custom/issue.rego' => $rule, 'data/a.json' => '1' );
    symlink $link eq 'folder' ? $outside : "$outside/issue.rego", "$with/$link" or die "symlink: $!";
    like(
        ctl_is( 1, [ qw(bundle deploy --mode replace), $with ], "a symbolic link called $link", env => $env )->{err},
        qr{\Q$link\E: is a symbolic link}, '... is refused: what it leads to would be lost' );
}
my $readme = tree( 'custom/issue.rego' => $rule );
symlink "$outside/issue.rego", "$readme/README" or die "symlink: $!";
ctl_is( 0, [ qw(bundle deploy --dry-run), $readme ], 'a link called README', env => $env );
SKIP: {
    skip 'root reads everything', 2 if $> == 0;
    my $closed = tree( 'custom/issue.rego' => $rule );
    chmod 0, "$closed/custom/issue.rego";
    like(
        ctl_is( 1, [ qw(bundle deploy), $closed ], 'a file that cannot be read', env => $env )->{err},
        qr/Permission denied/, '... says so' );
}
for my $case (
    [ '/nonexistent/dir', qr/No such file/ ],         [ "$dir/README",                  qr/Not a directory/ ],
    [ tree(), qr/contains no rule and no data row/ ], [ tree( 'a_test.rego' => $test ), qr/contains no rule/ ],
    [ '',     qr/No such file/ ] )
{
    like(
        ctl_is( 1, [ qw(bundle deploy --mode replace --), $case->[0] ], "deploy of `$case->[0]`", env => $env )->{err},
        $case->[1], '... is refused' );
}
for my $case (
    [ [ qw(bundle deploy --mode dry-run), $dir ], qr/--mode must be merge or replace, not 'dry-run'/ ],
    [ [ 'bundle', 'deploy' ], qr/missing argument: DIR;/ ], [ [qw(bundle deploy a b)], qr/unexpected argument 'b';/ ],
    [ [qw(bundle diff x)],     qr/'x' is not the id of a bundle/ ],
    [ [qw(bundle rollback 0)], qr/'0' is not/ ], [ [qw(bundle rollback 99999999999999999999)], qr/is not the id/ ],
    [ [qw(bundle rollback -- -1)],      qr/is not the id/ ],
    [ [qw(bundle history --limit 0)],   qr/--limit must be a number from 1 to 201/ ],
    [ [qw(bundle history --limit 202)], qr/1 to 201/ ], [ [qw(bundle history --limit 1x)], qr/not '1x';/ ] )
{
    like(
        ctl_is( 64, $case->[0], "authzctl @{$case->[0]}", env => $env )->{err}, $case->[1],
        '... is a wrong command line' );
}
is( served(), $revision, 'after all these the revision is as it was' );
is( sql(q{SELECT string_agg(path, ',' ORDER BY path) FROM policy_rule WHERE NOT shipped}),
    'custom/draft.rego,custom/issue.rego', '... and so are the rules' );
is( sql(q{SELECT count(*) FROM policy_data WHERE NOT shipped}), 1, '... and the rows' );

# ---- history, diff, rollback

my $first = sql('SELECT served FROM bundle_state');
ctl_is(
    0,
    [   qw(bundle deploy -q --mode replace),
        tree( 'custom/issue.rego' => $rule =~ s/closed/shut/gr, 'custom/new.rego' => "package custom.new\n" ) ],
    'another policy in its place',
    env => $env );
is( sql(q{SELECT string_agg(path, ',' ORDER BY path) FROM policy_rule WHERE NOT shipped}),
    'custom/issue.rego,custom/new.rego', 'replace deletes what is not listed' );
is( sql(q{SELECT count(*) FROM policy_data WHERE shipped}) > 5, 1, '... but not what is shipped' );
my $second  = sql('SELECT served FROM bundle_state');
my $history = ctl_is( 0, [qw(bundle history)], 'history', env => $env );
like(
    $history->{out},
    qr/\AID +CREATED +REVISION.*\n$second +[^ ]+ +\Q${\served()}\E +deploy +authzctl +\d+ +\d+ *\n$first /,
    '... newest first' );
is( scalar @{ ctl( [qw(bundle history --json --limit 1)], env => $env )->{json} }, 1, '... and --limit' );
my $diff = ctl_is( 0, [ qw(bundle diff), $first ], 'diff of a bundle and the newest', env => $env );
like( $diff->{out}, qr/^rule added: custom\/new\.rego$/m, '... what was added' );
like( $diff->{out}, qr/^data row removed: my\.row$/m,     '... what was removed' );
like(
    $diff->{out},
    qr/^rule changed: custom\/issue\.rego\n--- .*\n\+\+\+ .*\n@@.*\n(?:.*\n)*?-deny contains "closed" if \{\n/m,
    '... and how a rule changed' );
is( ctl( [ qw(bundle diff), $first, $second ], env => $env )->{out}, $diff->{out}, '... the same with both ids' );
like(
    ctl( [ qw(bundle diff), $second, $first ], env => $env )->{out}, qr/^rule removed: custom\/new\.rego$/m,
    '... and the other way round' );
is( ctl( [ qw(bundle diff), $first, $first ], env => $env )->{out}, '', '... a bundle does not differ from itself' );
is_deeply( ctl( [ qw(bundle diff --json), $first ], env => $env )->{json}{data}{removed}, ['my.row'], '... as JSON' );

for my $words ( [ 'diff', 999999 ], [ 'diff', $first, 999999 ], [ 'rollback', 999999 ] ) {
    like(
        ctl_is( 1, [ 'bundle', @$words ], "@$words", env => $env )->{err},
        qr/bundle 999999 does not exist or its rows are no longer stored/, '... is no bundle' );
}
sql(q{INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('custom/kept.rego', 'rego', 'package kept', 'x', false)}
);
my $back = ctl_is( 0, [ qw(bundle rollback), $first ], 'rollback', env => $env );
like( $back->{out}, qr/^$revision confirmed\n\z/m, '... has the revision of those rows' );
is( sql(q{SELECT string_agg(path || '=' || enabled, ',' ORDER BY path) FROM policy_rule WHERE NOT shipped}),
    'custom/issue.rego=true,custom/kept.rego=false',
    '... brings back what was in the bundle and leaves what was in none' );
is( sql(q{SELECT trigger_source FROM bundle b JOIN bundle_state s ON s.served = b.id}), 'rollback',
    '... and is called so' );

my $lifetime = 'svc.operator.controls.lifetime';
my $shape    = sql("SELECT schema FROM policy_schema WHERE data_key = '$lifetime'");
my $standing = served();
sql(qq(UPDATE policy_schema SET schema = '{"type":"string"}' WHERE data_key = '$lifetime'));
my $unfit_now =
  ctl_is( 1, [ qw(bundle rollback), $second ], 'rollback to a row that no longer fits its schema', env => $env );
like(
    $unfit_now->{err},
    qr/^authzctl: \Q$lifetime\E: \(whole payload\): [^\n]*\n[^\n]*does not match the schema of \Q$lifetime\E; nothing was changed\n\z/m,
    '... is refused, naming the row' );
is( served(), $standing, '... and nothing is changed' );
$stack->{postgres}->sql(
    "UPDATE policy_schema SET schema = '" . $shape =~ s/'/''/gr . "' WHERE data_key = '$lifetime'",
    $stack->{database} );

# ---- a save in progress, an engine that is away

my $holder = Authz::Process->start(
    name    => 'holder',
    command => [
        Authz::Path::postgres('psql'), '-X', '-d', $stack->database_url, '-c', 'SELECT pg_advisory_lock(4, 0)', '-c',
        'SELECT pg_sleep(120)' ],
);
my $locks =
  q{FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 4 AND granted};
select undef, undef, undef, 0.05 for grep { sql("SELECT count(*) $locks") == 0 } 1 .. 200;
my %hasty = ( env => { %$env, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 1000 } );
like(
    ctl_is( 1, [ qw(bundle deploy), $dir ], 'deploy while another host saves', %hasty )->{err},
    qr/Another policy save is running; wait until it has finished and run this again/, '... says so' );
sql("SELECT pg_terminate_backend(pid) $locks");
$holder->stop;

# A database that no engine fetches from.
my $alone = $stack->{postgres}->database;
my %away  = ( env => settings( $stack->{postgres}->url($alone) ) );
my $new   = tree( 'custom/away.rego' => "package custom.away\n" );
my $none  = ctl_is( 69, [ qw(bundle deploy), $new ], 'deploy while the engine is away', %away );
like(
    $none->{err},
    qr/opa_unreachable: [^\n]*; nothing was changed; check that the policy engine is running and that SVC_OPA_URL is right\n\z/,
    '... says what to do' );
is( ctl( [ qw(bundle deploy --json), $new ], %away )->{json}{error}, 'opa_unreachable', '... as JSON' );
is( $stack->{postgres}->sql( 'SELECT count(*) FROM policy_rule WHERE NOT shipped', $alone ) + 0, 0,
    '... and everything is as before' );
my $trusted = ctl_is(
    0, [ qw(bundle deploy -q), $new ], 'deploy without waiting for the engines',
    env => { %{ $away{env} }, SVC_BUNDLE_CONFIRM_ACTIVATION => 'false' } );
like( $trusted->{out}, qr/\A$hex unconfirmed\n\z/, '... is unconfirmed (decisions.md "Deploy modes")' );

done_testing;

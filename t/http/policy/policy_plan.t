#!/usr/bin/perl
# The plan of a policy that is saved, with SVC_POLICY_ENGINE=embedded (decisions.md "Plans"): one for each set of modules,
# made by opa build in a process with limits, which a save never depends on.
use strict;
use warnings;

use Compress::Zlib ();
use JSON::PP       ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $dir   = Authz::Process::directory();
my $tmp   = "$dir/tmp";
my $opa   = "$dir/opa";
my $shown = "$dir/shown";
mkdir $tmp or die "$tmp: $!";

# The program that plans: OPA itself, or a shell script in its place.
sub program {
    my ($script) = @_;
    unlink $opa;
    return symlink( Authz::Path::opa(), $opa ) if !defined $script;
    open my $out, '>', $opa or die "$opa: $!";
    print {$out} "#!/bin/sh\n$script\n";
    close $out or die "$opa: $!";
    return chmod 0755, $opa;
}

program();
local $ENV{TMPDIR} = $tmp;
my $stack    = Authz::Stack->start( settings => { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => $opa } );
my $policy   = Authz::Policy->new($stack);
my ($serial) = (0);

sub answer_is {
    my ( $got, $status, $name ) = @_;
    return is( $got->status, $status, $name ) || diag $got->text;
}

# Return the plan and the note of the policy that is served: its size unpacked is not looked at.
sub served {
    return split /\|/, $stack->sql(
        q{SELECT coalesce(length(p.plan), 0) || '|' || coalesce(p.note, '') FROM bundle_state s JOIN bundle b ON b.id = s.served
        LEFT JOIN policy_plan p ON p.modules = b.modules} ),
      2;
}
sub plans { return $stack->sql('SELECT count(*) FROM policy_plan') }

sub deploy {
    my ($text) = @_;
    return $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'replace', rules => [ { path => 'custom/plan.rego', content => $text } ] } );
}

# The warning of a save without that about a package that nothing reads, which these rules are (t/http/policy/policy_warnings.t).
sub warning_of {
    my ($answer) = @_;
    my $text = $answer->header('X-Policy-Warning') // '';
    $text =~ s/(?:\. )?custom\/plan\.rego: nothing reads the package .*//;
    return $text eq '' ? undef : $text;
}

sub leftovers {
    opendir my $in, $tmp or die "$tmp: $!";
    return grep {/^authz-plan/} readdir $in;
}

# Run the upkeep until there is a plan: a process of the service may have the lock of the job.
sub plan_of_upkeep {
    my @row;
    for ( 1 .. 50 ) {
        $stack->authzctl('maintain');
        @row = served();
        last if $row[0] > 0;
        sleep 0.1;
    }
    return @row;
}

# A rule that no earlier one is the same as.
sub rule { $serial++; return "package custom.plan$serial\n\n$_[0]\n" }

my ( $size, $note ) = plan_of_upkeep();
cmp_ok( $size, '>', 10_000, 'the upkeep plans the policy that is served' );
is( $note, '', '... of which the machine lacks nothing' );

# ---- when a plan is made

my $before = plans();
my $answer = deploy( rule('a := 1') );
answer_is( $answer, 200, 'a deploy' );
is( plans(),             $before + 1, '... makes a plan of its modules' );
is( warning_of($answer), undef,       '... and says nothing when the machine decides everything' );
answer_is(
    $stack->admin(
        POST => '/admin/api/policy-data',
        json => { dataKey => 'custom.row', payload => '{"a":1}' } ),
    201,
    'a row of data' );
is( plans(), $before + 1, '... makes none: a plan depends on the modules alone' );
cmp_ok( ( served() )[0], '>', 10_000, '... and its bundle has one' );
my $first = $stack->sql('SELECT max(id) FROM bundle');
answer_is( deploy( rule('a := 2') ), 200, 'another deploy' );
is( plans(), $before + 2, '... makes another plan' );
answer_is( $stack->admin( POST => "/admin/api/bundle-audit/$first/rollback", json => {} ), 200, 'a rollback' );
is( plans(), $before + 2, '... finds the plan of its modules' );
cmp_ok( ( served() )[0], '>', 10_000, '... and its bundle has one' );
my $refused = deploy("package custom.plan\n\na := data.custom.plan.b\n\nb := data.custom.plan.a\n");
answer_is( $refused, 422, 'a deploy that OPA refuses' );
is( plans(), $before + 2, '... leaves no plan' );
is_deeply( [ leftovers() ], [], '... and no directory' );

# ---- what the machine lacks

$answer = deploy("package custom.issue\n\ndeny contains {} if trace(input.client.id)\n");
answer_is( $answer, 200, 'a rule with a builtin that the machine lacks is saved' );
like(
    warning_of($answer) // '',
    qr{\AOpen Policy Agent decides the questions for which a rule calls trace\z},
    '... and the answer says what OPA decides, and why' );
like( ( served() )[1], qr/trace/, '... as does the row' );
$answer = deploy("package custom.issue\n\ndeny contains {} if trace(input.client.id)\n");
like( warning_of($answer) // '-', qr/\A(?:-|.*trace)\z/, '... and the same rule again is no other' );

# ---- a program that misbehaves

# One octet more than a plan may have, which the program could not write itself.
my $large = "$dir/large";
open my $made, '>', $large or die "$large: $!";
truncate $made, 64 * 1024**2 + 1 or die "$large: $!";
close $made or die "$large: $!";

my @bad = (
    [ 'no such file'   => undef,    qr/is not the absolute path of an executable file \(SVC_OPA_BINARY\)/ ],
    [ 'fails silently' => 'exit 3', qr/: opa build failed: no message\b/ ],
    [ 'writes no plan' => 'exit 0', qr/: opa build wrote no plan/ ],
    [   'writes nonsense' => 'echo nonsense >plan.tar.gz',
        qr/: the plan has more than 64 MiB, or the archive of opa build cannot be read/ ],
    [   'writes another tar' => 'touch x; tar czf plan.tar.gz x; rm x',
        qr/: the plan has more than 64 MiB, or the archive of opa build cannot be read/ ],
    [   'writes 64 MiB' => 'truncate -s 67108864 plan.tar.gz',
        qr/: the plan has more than 64 MiB, or the archive of opa build cannot be read/ ],
    [   'leaves a file of one octet more' => "ln '$large' plan.tar.gz",
        qr/: opa build wrote no plan, or a plan that is too large\b/ ],
    [   'leaves a symbolic link' => "ln -s '$large' plan.tar.gz",
        qr/: opa build wrote no plan, or a plan that is too large\b/ ],
    [ 'has control characters' => 'printf "a\033[2J" >&2; exit 1', qr/: opa build failed: an unreadable message\b/ ],
    [   'writes a plan of another kind' => 'echo {} >plan.json; tar czf plan.tar.gz plan.json; rm plan.json',
        qr/decides by this policy: the plan lacks an entrypoint\b/ ],
);
for my $case (@bad) {
    my ( $name, $script, $warning ) = @$case;
    defined $script ? program($script) : unlink $opa;
    $answer = deploy( rule('a := 3') );
    answer_is( $answer, 200, "opa build $name: the save goes on" );
    like( warning_of($answer) // '', $warning, '... and its answer says that OPA decides' );
    is( ( served() )[0], 0, '... without a plan' );
    is_deeply( [ leftovers() ], [], '... and nothing is left behind' );
}

# What it says against the policy, and a limit that it reaches, refuse the save: the engine would do the same, or hang (policy.md
# 7.3).
my @refused = (
    [ 'fails'         => 'echo "rego_type_error: no" >&2; exit 1', qr/\Arego_type_error: no\z/ ],
    [ 'is killed'     => 'kill -9 $$', qr{\Acustom/plan\.rego: .* cannot be compiled: opa build was stopped} ],
    [ 'writes no end' => 'cat /dev/zero >plan.tar.gz; kill -9 $$', qr{\Acustom/plan\.rego: .* opa build was stopped} ],
);
for my $case (@refused) {
    my ( $name, $script, $why ) = @$case;
    my $served = $stack->sql('SELECT served FROM bundle_state');
    program($script);
    $answer = deploy( rule('a := 3') );
    answer_is( $answer, 422, "opa build $name: the save is refused" );
    like( $answer->member('error_description'), $why, '... and its answer says why' );
    is( $stack->sql('SELECT served FROM bundle_state'), $served, '... and nothing was published' );
    is_deeply( [ leftovers() ], [], '... and nothing is left behind' );
}

# ---- the process

my $runs = "$dir/runs";
program(
    "echo \$1 >>'$runs'; [ \"\$1\" = build ] || exit 1; env | sort >'$shown'; pwd >>'$shown'; ls -l /proc/self/fd | grep -c socket >>'$shown'; ulimit -d >>'$shown'; exit 1"
);
answer_is( deploy( rule('a := 4') ), 200, 'a program that looks around' );
open my $in, '<', $shown or die "$shown: $!";
my @lines = grep { !/\A(?:PWD|_|SHLVL|OLDPWD)=/ } map {s/\n\z//r} <$in>;
close $in or die "$shown: $!";
is_deeply(
    [ splice @lines, 0, 3 ],
    [qw(GOGC=off GOMAXPROCS=1 GOMEMLIMIT=1GiB)],
    '... has none of our environment, but what makes it fast' );
like( $lines[0], qr{\A\Q$tmp\E/authz-plan\.\w+\z}, '... has a directory of its own' );
is( $lines[1], 0,           '... no connection of ours' );
is( $lines[2], 2 * 1024**2, '... and a limit of memory' );
open $in, '<', $runs or die "$runs: $!";
is( join( '', <$in> ), "build\nrun\n",
    'one opa build is for the trial and for what is stored; OPA is asked without it' );
close $in or die "$runs: $!";

# ---- later

program();
answer_is( deploy( rule('a := 5') ), 200, 'OPA back in its place' );
cmp_ok( ( served() )[0], '>', 10_000, '... plans again' );

# A reason that is gone: the same modules are planned again.
my ( $one, $two ) = map { rule("a := $_") } 6, 7;
program('echo "too busy" >&2; exit 1');
for my $text ( $one, $two ) {
    like( warning_of( deploy($text) ) // '', qr/too busy\b/, 'opa build fails' );
}
program();
$answer = deploy($one);
answer_is( $answer, 200, 'opa build works again: a save of the same rules' );
is( warning_of($answer), undef, '... has no warning' );
cmp_ok( ( served() )[0], '>', 10_000, '... and a plan' );
is( ( served() )[1], '', '... and the reason is forgotten' );
program('echo "too busy" >&2; exit 1');
my $three = rule('a := 8');
deploy($three);
is( ( served() )[0], 0, 'the policy that is served has no plan' );
program();
is( warning_of( deploy($three) ), undef, '... a save that changes nothing makes it' );
cmp_ok( ( served() )[0], '>', 10_000, '... which is stored' );
program('echo "too busy" >&2; exit 1');
deploy( rule('a := 9') );
program();
( $size, $note ) = plan_of_upkeep();
cmp_ok( $size, '>', 10_000, 'the upkeep tries again, too' );
is( $note, '', '... and the reason is forgotten' );

# ---- a stored plan that is damaged

my $damage = sub { $stack->sql(q{UPDATE policy_plan SET plan = substring(plan FROM 1 FOR 2000)}) };
my $kept   = rule('a := 9');
$damage->();
answer_is( deploy($kept), 200, 'a save whose stored plan is damaged' );
cmp_ok( ( served() )[0], '>', 10_000, '... makes it again' );
is( ( served() )[1], '', '... whole' );
$damage->();
answer_is( deploy( rule('a := 10') ), 200, 'a save after a revision whose plan is damaged' );
$damage->();
answer_is(
    $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { data => [ { dataKey => 'custom.plan', payload => { a => 1 } } ] } ),
    200,
    'a save of data alone' );
cmp_ok( ( served() )[0], '>', 10_000, '... makes it again, too' );
$damage->();
$stack->restart_service;
is( $stack->http->get('/health/live')->status, 200, 'a start with a damaged plan' );
$stack->http->get('/health/ready');
cmp_ok( ( plan_of_upkeep() )[0], '>', 10_000, '... which the next upkeep makes again' );

$stack->sql('DELETE FROM policy_plan');
$stack->sql('UPDATE bundle SET modules = NULL');
is( ( served() )[0], 0, 'a bundle from before plans has none' );
cmp_ok( ( plan_of_upkeep() )[0], '>', 10_000, '... until the next upkeep' );

# ---- a plan of the release before, which asks one thing less (doc/upgrade.md 5)

my $old = "$dir/old.tar.gz";
program(
    'for word; do shift; case $word in svc/decision/admin/*) word=svc/decision/issue/result;; esac; set -- "$@" "$word"; done;'
      . " '${\Authz::Path::opa()}' \"\$@\" && cp plan.tar.gz '$old'" );
my $key =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'operator', role => 'operator' } )->member('key');
my $asks = sub { return $stack->admin( GET => "/admin/api/$_[0]", key => $key )->status };

# A save by a host of the release before: requests for the path are refused.
sub older_saves {
    my ($path) = @_;
    my $saved = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => {
            path    => 'custom/admin.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
            content => qq(package custom.admin\n\ndeny contains "not now" if input.action.path == "/admin/api/$path"\n)
        } );
    like( $saved->status, qr/\A20[01]\z/, "a rule about $path" ) or diag $saved->text;
    my $plan = unpack 'H*', Compress::Zlib::memGzip( scalar qx{tar -xzOf '$old' /plan.json} );
    $stack->sql($_)
      for 'DROP TABLE IF EXISTS part', 'CREATE TABLE part (n int GENERATED ALWAYS AS IDENTITY, text text)',
      ( map {"INSERT INTO part (text) VALUES ('$_')"} $plan =~ /(.{1,50000})/g ),
      q{UPDATE policy_plan SET plan = decode((SELECT string_agg(text, '' ORDER BY n) FROM part), 'hex'), note = NULL}
      . ' WHERE modules = (SELECT b.modules FROM bundle_state s JOIN bundle b ON b.id = s.served)';
    return;
}
older_saves('clients');
$stack->restart_service;
like(
    $stack->http->get('/health/ready')->text,
    qr{OPA decides some of svc/decision/admin: the plan does not have it},
    'a plan without an entrypoint: readiness says what OPA decides' );
is( join( ' ', map { $asks->($_) } qw(clients policy-rules) ), '403 200', '... by the rule that was saved with it' );
older_saves('policy-rules');
is( join( ' ', map { $asks->($_) } qw(clients policy-rules) ), '200 403', '... and by the next one from its save on' );
$stack->{opa}->signal('STOP');
is( $asks->('clients'), 503, '... and refuses while OPA does not answer' );
$stack->{opa}->signal('CONT');

done_testing();

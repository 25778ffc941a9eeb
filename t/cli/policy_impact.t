# authzctl policy impact, and limits of authzctl bundle deploy: what a change would have decided, for people and for CI (policy.md
# C1, C2).
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $dir = Authz::Process::directory();
mkdir "$dir/policy"        or die "$dir: $!";
mkdir "$dir/policy/custom" or die "$dir: $!";

sub write_file {
    my ( $name, $text ) = @_;
    open my $out, '>', "$dir/$name" or die "$name: $!";
    print {$out} $text;
    close $out or die "$name: $!";
    return;
}

sub write_rule {
    my ($when) = @_;
    return write_file(
        'policy/custom/issue.rego',
        qq{package custom.issue\n\ndeny contains {"code": "no_way", "category": "policy"} if $when\n} );
}

my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
my $env   = $stack->settings;
$stack->token( @crm, scope => $_ ) for 'read write', 'read', 'read';
write_rule('"write" in input.scopes.requested');

my $shown = ctl( [ qw(policy impact), "$dir/policy" ], env => $env );
is( $shown->{status}, 0, 'policy impact: without limits the exit status is 0 (policy.md C2)' ) || diag $shown->{err};
like( $shown->{out}, qr/^revision \w+  candidate \w+ .* 3 decisions, all looked at$/m, '... the decisions' );
like( $shown->{out}, qr/^same 2   newly denied 1   newly allowed 0 /m,                 '... the classes' );
like( $shown->{out}, qr/^  crm +newly denied 1 /m,                                     '... the clients' );
like( $shown->{out}, qr{^audit \d+  newlyDenied  /token  crm  allow -> deny$}m,        '... and examples' );

my $json = ctl( [ qw(policy impact --json), "$dir/policy" ], env => $env );
is( $json->{json}{newlyDenied}, 1, '--json prints the answer of the API' );

for my $case ( [ '0' => 2 ], [ '1' => 0 ], [ '5%' => 2 ], [ '50%' => 0 ], [ 'x' => 64 ], [ '101%' => 64 ] ) {
    my ( $limit, $status ) = @$case;
    my $run = ctl( [ qw(policy impact --max-newly-denied), $limit, "$dir/policy" ], env => $env );
    is( $run->{status}, $status, "--max-newly-denied $limit: the exit status is $status (policy.md C2)" )
      || diag $run->{err};
    like( $run->{err}, qr/newly denied 1 of 3, at most \Q$limit\E: REFUSED/, '... and says why' ) if $status == 2;
}

# ---- a deploy with limits

my @deploy  = ( qw(bundle deploy --max-newly-denied 0), "$dir/policy" );
my $refused = ctl( \@deploy, env => $env );
is( $refused->{status}, 2, 'bundle deploy beyond a limit: the exit status is 2' ) || diag $refused->{err};
like( $refused->{err}, qr/1 decisions would be newlyDenied, at most 0/, '... with the numbers' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and nothing is saved' );
my $saved = ctl( [ qw(bundle deploy --since 24h --max-newly-denied 1), "$dir/policy" ], env => $env );
is( $saved->{status}, 0, '... and within its limit it is saved' ) || diag $saved->{err};
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 1, '... with its rule' );

# ---- one rule, one row, and filters

my $one = [ qw(policy impact --json --rule custom/issue.rego --max-newly-denied 0), "$dir/policy/custom/issue.rego" ];
write_rule('true');
my $rule = ctl( $one, env => $env );
is( $rule->{status}, 2, 'policy impact --rule PATH FILE: the exit status is that of a limit (policy.md C1)' );
is( $rule->{json}{newlyDenied}, 2, '... and it is measured against the rule that is saved' );
write_file( 'row.json', '{"max_ttl": 60}' );
my @row = ( qw(policy impact --json --data svc.operator.controls.lifetime), "$dir/row.json" );
my $row = ctl( \@row, env => $env );
is( $row->{json}{other}, 2, '--data KEY FILE: a data row' ) || diag $row->{err};
$row = ctl( [ @row, qw(--filter clientId=crm --filter evaluation=issue --examples 1) ], env => $env );
is( $row->{json}{looked},                                                     3, '--filter: all are of this client' );
is( scalar @{ $row->{json}{examples}{other} // [] },                          1, '--examples 1: one of them' );
is( ctl( [ @row, qw(--filter clientId=desk) ], env => $env )->{json}{looked}, 0, '... and none of another' );

for my $case (
    [ '--filter',    'clientId', 'a filter without a value' ],
    [ '--examples',  'few',      'a number that is none' ],
    [ '--decisions', '-1',       'a negative number' ],
    [ '--rule',      'a.rego',   'a rule and a row' ],
  )
{
    is( ctl( [ @row, @$case[ 0, 1 ] ], env => $env )->{status}, 64, "$case->[2]: the exit status is 64" );
}

# ---- the verbs that save

my $bindings = 'svc.entitlements.bindings';
write_file( 'patch.json', '{"clients": {"crm": {"scopes": ["write"]}}}' );
for my $case (
    [   [ qw(policy rule set custom/issue.rego --max-newly-denied 1), "$dir/policy/custom/issue.rego" ],
        'newly denied 2 of 3, at most 1' ],
    [ [qw(policy rule delete custom/issue.rego --yes --max-newly-allowed 0)], 'newly allowed 1 of 3, at most 0' ],
    [   [ qw(policy data set --patch --max-newly-denied 1), $bindings, "$dir/patch.json" ],
        'newly denied 2 of 3, at most 1' ],
    [ [qw(unentitle crm --scope read --max-newly-denied 1)], 'newly denied 2 of 3, at most 1' ],
  )
{
    my ( $words, $says ) = @$case;
    my $run = ctl( $words, env => $env );
    is( $run->{status}, 2, "@$words[0 .. 2]: a limit that is passed" ) || diag $run->{err};
    like( $run->{err}, qr/limit: \Q$says\E: REFUSED/, '... with the numbers' );
}
is( ctl( [qw(policy rule delete custom/issue.rego --yes --max-newly-allowed 1 -m Back)], env => $env )->{status},
    0, '... and one that is not' );
is( $stack->sql(q{SELECT message FROM bundle ORDER BY id DESC LIMIT 1}), 'Back', '... with its message' );

# What was measured is said by each verb with --impact.
my $told = ctl( [ qw(policy rule set custom/issue.rego --impact), "$dir/policy/custom/issue.rego" ], env => $env );
like(
    $told->{err}, qr/measured: id=\d+; newlyDenied=\d; newlyAllowed=0$/m,
    'policy rule set --impact says what changes' );
my $back = ctl( [qw(policy rule delete custom/issue.rego --yes)], env => $env );
is( $back->{status}, 0, '... and a save without it' );
unlike( $back->{err}, qr/measured/, '... says nothing' );

# ---- plan

# plan --impact shows what the rules and rows of the files would change (instance.md F6).
my $write = qq{package custom.issue\n\ndeny contains "no" if "write" in input.scopes.requested\n};
my $files = tree( 'instance.json' => '{"format": 1, "owner": "ci"}', 'policy/custom/issue.rego' => $write );
my $api   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my %way   = ( database => [ [], $env ], API => [ [ '--server', $stack->base ], $api ] );
for my $way ( sort keys %way ) {
    my ( $server, $set ) = @{ $way{$way} };
    my $plan = ctl( [ 'plan', '--impact', @$server, $files ], env => $set );
    is( $plan->{status}, 0, "$way: plan --impact" ) or diag $plan->{err};
    like( $plan->{out}, qr/^create rule custom\/issue[.]rego$/m,                      '... shows the steps' );
    like( $plan->{out}, qr/^revision \w+  candidate \w+ .* 3 decisions, all looked/m, '... and what was looked at' );
    like( $plan->{out}, qr/^same 2   newly denied 1   newly allowed 0 /m,             '... and the counts' );
    my $shown = ctl( [ 'plan', '--impact', '--json', @$server, $files ], env => $set )->{json};
    is_deeply(
        [ @{ $shown->{impact} // {} }{qw(looked same newlyDenied newlyAllowed)} ], [ 3, 2, 1, 0 ],
        '... and --json has the measurement' );
    is( scalar @{ $shown->{steps} }, 1, '... beside the steps' );
    $plan = ctl( [ 'plan', @$server, $files ], env => $set );
    unlike( $plan->{out}, qr/newly denied/, "$way: plan without it measures nothing" );
    $plan = ctl( [ 'plan', '--max-newly-denied', 0, @$server, $files ], env => $set );
    is( $plan->{status}, 2, "$way: plan with a limit that is passed (instance.md F1)" );
    like( $plan->{err}, qr/limit: newly denied 1 of 3, at most 0: REFUSED/, '... with the numbers' );
    $plan = ctl( [ 'plan', '--max-newly-denied', '', @$server, $files ], env => $set );
    is( $plan->{status}, 64, "$way: plan with an empty limit is refused" );
    like( $plan->{err}, qr{--max-newly-denied requires a value}, '... which is named' );
}
my $kept = Authz::Process::directory() . '/refused.json';
my $two =
  qq{package custom.issue\n\nclaims := {"a": 1} if input.client.id == "crm"\n\nclaims := {"a": 2} if input.client.id != "x"\n};
my $clash   = tree( 'instance.json' => '{"format": 1, "owner": "ci"}', 'policy/custom/issue.rego' => $two );
my $clashes = ctl( [ 'plan', '--max-failing', 0, '--out', $kept, $clash ], env => $env );
isnt( $clashes->{status}, 0, 'plan --out of rules that fail, with a limit for that' );
ok( !-e $kept, '... writes no plan (instance.md F1)' );
my $none = tree( 'instance.json' => '{"format": 1, "owner": "nobody"}' );
like(
    ctl( [ 'plan', '--impact', $none ], env => $env )->{out}, qr/^nothing to measure: no rule or row would change$/m,
    'plan --impact of files without rules says that nothing is measured' );
my $saved_plan = Authz::Process::directory() . '/with-impact.json';
is( ctl( [ 'plan', '--impact', '--out', $saved_plan, $files ], env => $env )->{status}, 0, 'a plan that is kept' );
is( ctl( [ 'apply', $saved_plan ],                             env => $env )->{status}, 0, '... can be applied' );
is( ctl( [qw(policy rule delete custom/issue.rego --yes)],     env => $env )->{status}, 0, '... and taken back' );

# ---- guards

write_file( 'guards.json', '{"guards": [{"name": "none", "limits": {"newlyDenied": 0}}]}' );
my $changes = 'svc.operator.controls.changes';
is( ctl( [ qw(policy data set), $changes, "$dir/guards.json" ], env => $env )->{status}, 0, 'guards are saved' );
my @guarded = ( qw(policy rule set custom/issue.rego), "$dir/policy/custom/issue.rego" );
for my $words ( [@guarded], [ qw(policy impact), "$dir/policy" ] ) {
    my $run = ctl( $words, env => $env );
    is( $run->{status}, 2, "@$words[0 .. 1]: a guard holds without an option" ) || diag $run->{err};
    like( $run->{err}, qr/guard none: newly denied 3 of 3, at most 0: REFUSED/, '... and is named' );
}
my $json_refusal = ctl( [ @guarded, '--json' ], env => $env );
is_deeply(
    [ $json_refusal->{status}, $json_refusal->{json}{error}, $json_refusal->{json}{refused}[0]{guard} ],
    [ 2,                       'impact_refused',             'none' ],
    '--json is the refusal of the API' );
my $passed = ctl( [ @guarded, '--override', 'CHG-7' ], env => $env );
is( $passed->{status}, 0, '--override REASON passes it' ) || diag $passed->{err};
is( $stack->sql(q{SELECT override_by || ' ' || override_reason FROM bundle ORDER BY id DESC LIMIT 1}),
    'authzctl CHG-7', '... and the history says who and why' );
write_file( 'guards.json', '{}' );
my @away = ( qw(policy data set), $changes, "$dir/guards.json" );
is( ctl( \@away,                          env => $env )->{status}, 2, 'guards do not go without it' );
is( ctl( [ @away, qw(--override CHG-8) ], env => $env )->{status}, 0, '... and with it they do' );
write_rule('"write" in input.scopes.requested');
is( ctl( \@guarded, env => $env )->{status}, 0, '... and the rule is as before' );

# ---- over the admin API

write_rule('false');
my $far = {
    SVC_CONFIG   => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
    SVC_DATA_DIR => Authz::Stack::data_dir() };
my $remote = ctl( [ qw(policy impact --max-newly-allowed 0 --server), $stack->base, "$dir/policy" ], env => $far );
is( $remote->{status}, 2, 'with --server: the same' ) || diag $remote->{err};
like( $remote->{out}, qr/newly allowed 1 /, '... with the counts' );

# ---- a shadow (policy.md 7.2)

write_rule('"read" in input.scopes.requested');
my $none = ctl( [qw(policy shadow status)], env => $env );
is( $none->{status}, 1, 'policy shadow status without a shadow: the exit status is 1' );
like( $none->{err}, qr/there is no shadow/, '... and it says so' );
is( ctl( [ qw(policy shadow set --rate), $_, "$dir/policy" ], env => $env )->{status}, 64, "--rate $_ is refused" )
  for 0, 1_000_001, 'x';
my @set = ( qw(policy shadow set --rate 1 --until 24h -m tried), "$dir/policy" );
my $set = ctl( \@set, env => $env );
is( $set->{status}, 0, 'policy shadow set' ) || diag $set->{err};
like( $set->{out}, qr/^shadow 1 active  revision \w+  candidate \w+  1 of 1 until /m, '... prints the shadow' );
is( ctl( \@set, env => $env )->{status}, 1, '... of which there is one' );
my $again = ctl( [ @set, qw(--replace --yes --server), $stack->base ], env => $far );
like( $again->{out}, qr/^shadow \d+ active /m, '... unless --replace ends it, with --server too' )
  || diag $again->{err};

# Until a host says that it compares, decisions are not looked at.
Authz::Process::until_true(
    60,
    sub { $stack->sql(q{SELECT 1 FROM policy_shadow WHERE state = 'active' AND reported_at IS NOT NULL}) } );
$stack->token( @crm, scope => 'read' );
my $status;
Authz::Process::until_true(
    60,
    sub {
        $status = ctl( [qw(policy shadow status)], env => $env );
        return $status->{out} =~ /^1 decisions/m;
    } );
like( $status->{out}, qr/^same 0   newly denied 1 /m, 'policy shadow status prints the counts' );
like( $status->{out}, qr{^request \S+  newlyDenied  /token  crm  allow -> deny$}m, '... and examples' );
my @promote = qw(policy shadow promote --yes);
is( ctl( [ @promote, qw(--max-newly-denied 0) ], env => $env )->{status}, 2,
    'policy shadow promote beyond a limit: the exit status is 2' );
my $promoted = ctl( \@promote, env => $env );
is( $promoted->{status}, 0, '... and without limits it is promoted' ) || diag $promoted->{err};
like( $promoted->{out}, qr/^\w+ confirmed$/m, '... and confirmed' );
is( ctl( [qw(policy shadow drop --yes)], env => $env )->{status}, 1, 'policy shadow drop when there is none' );
write_rule('false');
is( ctl( \@set,                          env => $env )->{status}, 0, 'another shadow' );
is( ctl( [qw(policy shadow drop --yes)], env => $env )->{status}, 0, '... is dropped' );

# ---- a rule that cannot be planned

write_file( 'policy/custom/issue.rego', "package custom.issue\n\na := undefined_name\n" );
my $broken = ctl( [ qw(policy impact), "$dir/policy" ], env => $env );
is( $broken->{status}, 1, 'a rule that does not compile: the exit status is 1' );
like( $broken->{err}, qr{custom/issue\.rego}, '... and says where' );

done_testing();

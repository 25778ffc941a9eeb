#!/usr/bin/perl
# policy test: the tests of a directory, with the shipped policy beside them, by the engine's own program. No database.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes ();

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $opa     = Authz::Path::opa();
my $program = Authz::Path::program('authzctl');
my $temp    = tree();
my %env     = (
    SVC_CONFIG => '/dev/null', SVC_DATA_DIR => Authz::Stack::data_dir(), AUTHZ_OPA => $opa, TMPDIR => $temp,
    HOME       => '/nonexistent' );
sub left { return join ',', glob "$temp/{*,.[a-z]*}" }

my $rule = qq{package custom.issue\n\ndeny contains "closed" if input.client.id == "closed"\n};
my $test =
  qq{package custom.issue_test\n\ntest_deny if data.custom.issue.deny["closed"] with input as {"client": {"id": "closed"}}\n};

# The whole decision, as shipped, with a row of the operator's.
my $whole = <<'REGO';
package custom.whole_test

question(id) := {
	"schema": 1, "evaluation": "issue", "issuer": "https://as.example",
	"request": {
		"id": "req-1", "flow_id": "flow-1", "endpoint": "/token", "grant_type": "client_credentials",
		"token_type": "access_token", "default_ttl": 3600,
		"now": 1795172400, "time_ns": 1795172400000000000, "time": "2026-11-20T11:00:00Z",
	},
	"client": {"id": id, "type": "confidential", "registration": "ADMIN", "auth_method": "client_secret_basic", "enabled": true},
	"subject": {"type": "client", "id": id},
	"scopes": {"requested": ["orders.read"], "default": []},
	"environment": {"ip": "192.0.2.7", "dpop": {"present": false, "valid": false, "required": false}},
	"baseline": null,
}

test_allowed if data.svc.decision.issue.result.allow == true with input as question("crm")

test_denied if data.svc.decision.issue.result.allow == false with input as question("closed")

test_reason_names_its_rule if {
	some reason in data.svc.decision.issue.result.deny_reasons with input as question("closed")
	reason.code == "closed"
	reason.detail == {"path": "custom/issue.rego", "line": 3}
}

test_stranger if data.svc.decision.issue.result.allow == false with input as question("stranger")

test_row if data.svc.entitlements.bindings.clients.crm.scopes == ["orders.read"]

test_shipped_row if is_object(data.svc.operator.controls.lifetime)
REGO
my $bindings =
  '{"clients": {"crm": {"grants": ["client_credentials"], "scopes": ["orders.read"]}, "closed": {"grants": ["client_credentials"], "scopes": ["orders.read"]}}}';
my %good = (
    'custom/issue.rego' => $rule, 'custom/issue_test.rego' => $test, 'custom/whole_test.rego' => $whole,
    'data/svc.entitlements.bindings.json' => $bindings, 'README' => 'x' );
my $dir = tree(%good);

my $pass = ctl_is( 0, [ qw(policy test), $dir ], 'tests that pass', env => \%env );
like( $pass->{out}, qr{^PASS: 7/7$}m, '... on rules, shipped rules and rows' ) or diag $pass->{out}, $pass->{err};
like( $pass->{out}, qr/^ignored: README$/m, '... names what it ignored' );
is( left(), '', '... and leaves nothing behind' );
ctl_is(
    0,
    [   qw(policy test),
        tree(
            %good,
            'data/svc.cedar_data.a.json' => '[{"uid":{"type":"A","id":"x"},"parents":[{"type":"A","id":"y"}]}]',
            'data/svc.cedar_data.b.json' => '[{"uid":{"type":"A","id":"y"}}]',
            'custom/entity_test.rego'    =>
              qq{package custom.entity_test\n\ntest_united if data.svc.cedar_data.entities["A::\\"x"].anc == {"A::\\"y": true}\n}
        ) ],
    'entities of Cedar are united as in the bundle',
    env => \%env );
my $json = ctl_is( 0, [ qw(policy test --json), $dir ], 'with --json', env => \%env )->{json};
is( scalar( grep { $_->{package} eq 'data.custom.whole_test' } @$json ), 6, '... the engine\'s own document' );

my $fail = ctl_is(
    1,
    [ qw(policy test), tree( %good, 'custom/more_test.rego' => "package custom.more_test\n\ntest_no if false\n" ) ],
    'a test that fails', env => \%env );
like(
    $fail->{out}, qr{^custom/more_test\.rego:3:\n(?:.*\n)*?data\.custom\.more_test\.test_no: FAIL}m,
    '... is named with its file' );
is( left(), '', '... and leaves nothing behind' );
my $broken = ctl_is(
    1,                        [ qw(policy test), tree( %good, 'custom/bad.rego' => "package custom.bad\n\nx := \n" ) ],
    'a rule that is no rego', env => \%env );
like(
    $broken->{err}, qr{^authzctl: policy test: \S+/custom/bad\.rego:4: rego_parse_error}m,
    '... is named with its row' );
unlike( $broken->{out}, qr/PASS|FAIL/, '... and no test runs' );

# A rule that nothing reads is refused (policy.md 6.5), and so is a name of a Cedar rule that the service does not have.
for my $case (
    [   'a package with a slip', 'custom/typo.rego',
        qq{package custom.isue\n\ndeny contains "x" if input.client.id == "a"\n},
        qr{/custom/typo\.rego: nothing reads the package custom\.isue; did you mean 'custom\.issue'\?$}m ],
    [   'a hook that is none', 'custom/typo.rego',
        qq{package custom.issue\n\ndenies contains "x" if input.client.id == "a"\n},
        qr{/custom/typo\.rego:3: nothing reads custom\.issue\.denies; the service reads deny, block_scopes}m ],
    [   'a type of Cedar', 'a.cedar', 'forbid (principal == Clinet::"shop", action, resource);',
        qr{/a\.cedar:1:22: there is no entity of the type Clinet; did you mean 'Client'\?$}m ],
    [   'an action of Cedar', 'a.cedar', 'forbid (principal, action == Action::"isue:scope:a", resource);',
        qr{/a\.cedar:1:30: there is no action "isue:scope:a"}m ],
    [   'a member of context.svc', 'a.cedar',
        'forbid (principal, action, resource) when { context.svc.endpont == "/token" };',
        qr{/a\.cedar:1:57: context\.svc has no member endpont; did you mean 'endpoint'\?$}m ] )
{
    my ( $name, $path, $text, $error ) = @$case;
    my $got = ctl_is( 1, [ qw(policy test), tree( %good, $path => $text ) ], "$name is refused", env => \%env );
    like( $got->{err}, $error, '... with its place and what is meant' );
    unlike( $got->{out}, qr/PASS/, '... and no test runs' );
}
my $warned = ctl_is(
    0,
    [   qw(policy test),
        tree(
            %good,
            'acme/own.rego' => qq{package acme.own\n\nx := 1\n},
            'a.cedar'       => 'permit (principal, action, resource == Photo::"1");' ) ],
    'what another program or an access request can reach is tested',
    env => \%env );
like(
    $warned->{err}, qr{warning: \S+/acme/own\.rego: nothing in the service reads the package acme\.own}m,
    '... with a warning' );
like( $warned->{err}, qr{warning: \S+/a\.cedar:1:40: the service has no entity of the type Photo}m, '... for each' );

# Rules are checked in a directory without tests, too, and tests are found as the engine finds them.
my $untested = ctl_is(
    1,                      [ qw(policy test), tree( 'custom/bad.rego' => "package custom.issue\n\ndeny contains\n" ) ],
    'rules without a test', env => \%env );
like( $untested->{err}, qr{/custom/bad\.rego:\d+: rego_parse_error}m, '... are compiled first' );
unlike( $untested->{err}, qr/contains no test/, '... and their error is the only one' );
like(
    ctl_is(
        0, [ qw(policy test), tree( 'custom/issue.rego' => $rule ) ],
        'good rules without a test are no failure',
        env => \%env )->{out},
    qr/^1 rule compiled and checked; no test: a test is a rule test_\.\.\. in a file that ends in _test\.rego$/m,
    '... and it is said that nothing was tested' );
like(
    ctl_is(
        0, [ qw(policy test), tree( %good, 'custom/issue_test.rego' => $test =~ s/^/    /gmr ) ],
        'a test whose lines are indented', env => \%env )->{out},
    qr{^PASS: 7/7$}m,
    '... runs' );

# --coverage shows the lines that no test evaluates.
my %half = ( %good, 'custom/half.rego' =>
      qq{package custom.register\n\ndeny contains "x" if {\n\tinput.environment.ip == "192.0.2.1"\n}\n} );
my $covered = ctl_is( 0, [ qw(policy test --coverage), tree(%half) ], 'policy test --coverage', env => \%env );
like( $covered->{out}, qr{^RULE +% +NOT COVERED$}m,          '... prints a table' );
like( $covered->{out}, qr{^custom/issue\.rego +100\.0 *$}m,  '... with rules that the tests cover' );
like( $covered->{out}, qr{^custom/half\.rego +0\.0 +3, 4$}m, '... and with the lines that they do not' );
unlike( $covered->{out}, qr{^svc/}m, '... of the directory alone' );
is( left(), '', '... and leaves nothing behind' );

# Disabled rules and tests are left out, as in a deploy.
my $without = ctl_is(
    0,
    [   qw(policy test),
        tree(
            %good, 'custom/bad.rego' => 'no rego',
            'custom/bad_test.rego' => "package custom.bad_test\n\ntest_x if false\n",
            'bundle.json'          => '{"disabled": ["custom/bad.rego"]}' ) ],
    'a disabled rule',
    env => \%env );
like(
    $without->{out}, qr{^skipped \(disabled\): custom/bad\.rego\nskipped \(disabled\): custom/bad_test\.rego$}m,
    '... is skipped, its test too' );
my $hidden = ctl_is(
    0,
    [   qw(policy test -q),
        tree( %good, '.git/x.rego' => 'no rego', 'data/other/x.json' => '{', 'x.json' => '{', 'x.yaml' => "a: [\n" ) ],
    'files that are no part of a bundle',
    env => \%env );
is( $hidden->{out}, "PASS: 7/7\n", '... are not looked at' );

# The engine sees no setting of ours: they hold secrets, and a rule may read the environment.
my $spy = tree( 'opa' => "#!/bin/sh\nexec env\n" );
chmod 0755, "$spy/opa";
my $told = ctl_is(
    0, [ qw(policy test -q --opa), "$spy/opa", $dir ], 'an engine that tells its environment',
    env => { %env, SVC_CREDENTIAL_KEY => 'crd-5a8e01f7c93b4d62a4fb', PGPASSWORD => 'secret' } );
like( $told->{out}, qr/^PATH=/m, '... has what programs need' );
unlike( $told->{out}, qr/SVC_|PGPASSWORD|crd-5a8e/, '... and no setting' );

# Directories that are refused before the engine is asked.
my @refused = (
    [   { 'custom/issue.rego' => $rule, 'custom/issue_test.rego' => $test =~ s/test_deny/tets_deny/r },
        qr/contains no test; a test is a rule test_\.\.\. in a file that ends in _test\.rego/,
        'a directory whose only test is misspelt' ],
    [ {}, qr/contains no test/, 'an empty directory' ],
    [   { %good, 'svc/mine.rego' => "package svc.mine\n" }, qr{svc/mine\.rego: Paths below svc belong to the service},
        'a rule below svc' ],
    [   { %good, 'custom/mine.rego' => "package svc.mine\n" },
        qr{custom/mine\.rego: The package svc belongs to the service}, 'a rule in package svc' ],
    [   { %good, 'custom/mine.rego' => "package system.log\n" },
        qr{custom/mine\.rego: The package system belongs to the policy engine}, 'a rule in package system' ],
    [   { %good, 'custom/mine.cedar' => "permit(principal, action, resource)\n" },
        qr{/custom/mine\.cedar:2:1: expected `when`, `unless` or `;`}, 'a Cedar rule with an error' ],
    [   { %good, 'data/svc.cedar_data.a.json' => '[{"uid":{"type":"A","id":"x"},"attrs":{"n":0.5}}]' },
        qr{data/svc\.cedar_data\.a\.json: /0: a number is a Long}, 'an entity with a fraction' ],
    [   {   %good,
            'data/svc.cedar_data.a.json' => '[{"uid":{"type":"A","id":"x"},"parents":[{"type":"A","id":"y"}]}]',
            'data/svc.cedar_data.b.json' => '[{"uid":{"type":"A","id":"y"},"parents":[{"type":"A","id":"x"}]}]' },
        qr{data/svc\.cedar_data\.b\.json: /0/parents: is a cycle: A::"x" in A::"y" in A::"x"},
        'a cycle through two rows' ],
    [   { %good, 'data/svc.mine.json' => '{}' },
        qr{data/svc\.mine\.json: keys below svc and system are reserved}, 'a row below svc' ],
    [   { %good, 'data/system.json' => '{}' }, qr{data/system\.json: keys below svc and system are reserved},
        'a row of the engine' ],
    [   { %good, 'data/svc.entitlements.bindings.json' => '{"clients": 1}' },
        qr{data/svc\.entitlements\.bindings\.json: /clients: }, 'a row that breaks its shipped schema' ],
    [   { %good, 'data/a.json' => '1', 'data/a.b.json' => '2' },
        qr{the key of another row is the beginning of this one},
        'a row below another' ],
    [ { %good, 'data/a.json' => "{\n}x" }, qr{data/a\.json:2: }, 'a row that is no JSON' ],
);
for my $case (@refused) {
    my ( $file, $why, $what ) = @$case;
    my $got = ctl_is( 1, [ qw(policy test), tree(%$file) ], "test of $what", env => \%env );
    like( $got->{err}, $why, '... says so' );
    unlike( $got->{out}, qr/PASS/, '... and runs nothing' );
    is( left(), '', '... and leaves nothing behind' );
}
ctl_is( 1, [qw(policy test /nonexistent)], 'test of a directory that is not there', env => \%env );
like(
    ctl_is(
        1, [ qw(policy test), $dir ], 'test without the shipped policy', env => { %env, SVC_DATA_DIR => '/nonexistent' }
    )->{err},
    qr{/nonexistent/policy/svc: No such file[^\n]*; check SVC_DATA_DIR},
    '... says so' );
like(
    ctl_is(
        1, [ qw(policy test), $dir ], 'test without a temporary directory', env => { %env, TMPDIR => '/nonexistent' }
    )->{err},
    qr/set TMPDIR to another directory/,
    '... says so' );

# The choice of the engine's program.
my %bare = %env;
delete $bare{AUTHZ_OPA};
local $ENV{PATH} = '/nonexistent';
delete local $ENV{AUTHZ_OPA};
delete local $ENV{XDG_CACHE_HOME};
my $none = ctl_is( 69, [ qw(policy test), $dir ], 'no engine at all', env => \%bare );
like(
    $none->{err}, qr/no opa program found; put an opa 1\.x on PATH, or name it with --opa FILE or AUTHZ_OPA\n\z/,
    '... says what to do' );

for my $case (
    [ [ '--opa', '/nonexistent/opa' ], 'that is not there' ],
    [ [ '--opa', "$dir/README" ], 'that cannot be run' ], [ [ '--opa', $dir ], 'that is a directory' ] )
{
    like(
        ctl_is( 69, [ qw(policy test), @{ $case->[0] }, $dir ], "--opa $case->[1]", env => \%env )->{err},
        qr/--opa: \Q$case->[0][1]\E is not an executable file/, '... is not replaced by another one' );
}
like(
    ctl_is(
        69, [ qw(policy test), $dir ], 'AUTHZ_OPA that is not there', env => { %env, AUTHZ_OPA => '/nonexistent/opa' }
    )->{err},
    qr/AUTHZ_OPA: \/nonexistent\/opa is not an executable file/,
    '... neither' );
ctl_is(
    0, [ qw(policy test -q --opa), $opa, $dir ], '--opa wins over AUTHZ_OPA',
    env => { %env, AUTHZ_OPA => '/nonexistent/opa' } );
my $bin = tree( 'authz/bin/x' => '' );
symlink $opa, "$bin/opa"           or die "symlink: $!";
symlink $opa, "$bin/authz/bin/opa" or die "symlink: $!";
{
    local $ENV{PATH} = "/nonexistent:$bin";
    ctl_is( 0, [ qw(policy test -q), $dir ], 'one on PATH', env => \%bare );
    chdir $bin or die "chdir: $!";
    local $ENV{PATH} = '.:';
    ctl_is(
        69, [ qw(policy test -q), $dir ], 'one in the directory we are in, by a relative PATH, is not run',
        env => \%bare );
    chdir '/' or die "chdir: $!";
}
ctl_is( 0, [ qw(policy test -q), $dir ], 'the one that quickstart keeps', env => { %bare, XDG_CACHE_HOME => $bin } );
my $false = tree( 'opa' => "#!/bin/sh\nexit 3\n" );
chmod 0755, "$false/opa";
ctl_is( 1, [ qw(policy test --opa), "$false/opa", $dir ], 'any status but 0 is a failure', env => \%env );
my $killed = tree( 'opa' => "#!/bin/sh\nkill -9 \$\$\n" );
chmod 0755, "$killed/opa";
like(
    ctl_is( 1, [ qw(policy test --opa), "$killed/opa", $dir ], 'an engine that is killed', env => \%env )->{err},
    qr/was killed/, '... is a failure' );

# Stopped half-way: the directory is removed, the engine ends, and so do we.
my $slow = tree( 'opa' => "#!/bin/sh\npwd >$bin/place\nexec /bin/sleep 60\n" );
chmod 0755, "$slow/opa";
my $pid = fork // die "fork: $!";
if ( $pid == 0 ) {
    open STDOUT, '>', '/dev/null';
    %ENV = ( %ENV, %env );
    exec {$program} 'authzctl', qw(policy test --opa), "$slow/opa", $dir or die "exec: $!";
}
my $place = '';
for ( 1 .. 400 ) {
    if ( -s "$bin/place" ) { open my $in, '<', "$bin/place" or die; chomp( $place = readline $in ); last }
    Time::HiRes::sleep(0.05);
}
ok( -d $place, 'a run half-way has its directory' );
is( ( stat $place )[2] & 0777, 0700, '... which no other account can read' );
kill 'TERM', $pid;
waitpid $pid, 0;
is( $? & 127, 15, 'SIGTERM ends it by that signal' );
is( left(),   '', '... with the directory removed' );

done_testing;

#!/usr/bin/perl
# bundle deploy, pull, diff and rollback, policy rule and policy test with rules in Cedar: they are rules like those in Rego
# (decisions.md "Cedar rules").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Digest::SHA qw(sha256_hex);
use JSON::PP    qw(encode_json);
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = { %{ $stack->settings }, AUTHZ_OPA => Authz::Path::opa() };
my $far   = {
    SVC_CONFIG   => '/dev/null',              AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
    SVC_DATA_DIR => Authz::Stack::data_dir(), AUTHZ_OPA       => Authz::Path::opa() };
my @server = ( '--server', $stack->base );
sub sql   { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }
sub slurp { open my $in, '<:raw', $_[0] or die "$_[0]: $!"; local $/ = undef; return readline $in }

sub state {
    return sql(
        q{SELECT (SELECT md5(string_agg(to_jsonb(r)::text, ',' ORDER BY id)) FROM policy_rule r) || ' ' || served FROM bundle_state}
    );
}

my $hex   = qr/[0-9a-f]{32}/;
my $doors = <<'CEDAR';
@id("staff")
permit (principal is User, action, resource) // caf√©
when { context.staff };

@id("curfew")
forbid (principal, action, resource)
when { context.hour >= 22 };
CEDAR
my $package = 'data.svc.cedar.policies.r' . substr sha256_hex('acme/doors.cedar'), 0, 16;
my $test    = <<"REGO";
package acme.doors_test

person := {"__entity": {"type": "User", "id": "alice"}}

asked(context) := {"cedar": {"principal": person, "action": person, "resource": person, "context": context, "entities": {}}}

test_staff if {
	r := $package.result with input as asked({"staff": true, "hour": 9})
	r == {"permits": {"staff"}, "forbids": set(), "errors": set()}
}

test_curfew if $package.forbids == {"curfew"} with input as asked({"staff": true, "hour": 22})

test_error if $package.errors == {"curfew"} with input as asked({"staff": true})

test_path if $package.path == "acme/doors.cedar"
REGO
my %good = (
    'acme/doors.cedar'     => $doors,
    'acme/doors_test.rego' => $test,
    'acme/draft.cedar'     => 'permit (',
    'acme/draft_test.rego' => 'no rego',
    'custom/issue.rego'    => "package custom.issue\n\ndeny contains \"never\" if input.client.id == \"x\"\n",
    'bundle.json'          => '{"disabled": ["acme/draft.cedar"]}' );
my $dir = tree(%good);

# ---- test

my $tested = ctl_is( 0, [ qw(policy test), $dir ], 'policy test of Cedar rules', env => $env );
like( $tested->{out}, qr/^PASS: 4\/4$/m, '... runs tests of what they are compiled to' );
like(
    $tested->{out}, qr{^skipped \(disabled\): acme/draft_test\.rego$}m,
    '... but not the test of one that is switched off' );
my $wrong = ctl_is(
    1, [ qw(policy test), tree( %good, 'acme/doors.cedar' => $doors =~ s/22/23/r ) ], '... and of other policies',
    env => $env );
like( $wrong->{out}, qr/test_curfew: FAIL/, '... fails' );
like(
    ctl_is(
        1, [ qw(policy test), tree( %good, 'acme/doors.cedar' => "permit;\n" ) ], '... with an error', env => $env
    )->{err},
    qr{^authzctl: policy test: \S+/acme/doors\.cedar:1:7: expected `\(`, found `;`$}m,
    '... says file, line and column' );

# ---- deploy, pull, diff

my $dry = ctl_is( 0, [ qw(bundle deploy --dry-run), $dir ], 'a dry run', env => $env );
like( $dry->{out}, qr/^rules: 3 added, 0 changed, 0 removed, 0 unchanged, 0 protected$/m, '... counts Cedar rules' );
my $done = ctl_is( 0, [ qw(bundle deploy), $dir ], 'deploy', env => $env );
like( $done->{out}, qr/^$hex confirmed$/m, '... is active' );
is( sql(q{SELECT string_agg(concat_ws(' ', path, kind, enabled), ',' ORDER BY path) FROM policy_rule WHERE NOT shipped}
    ),
    'acme/doors.cedar cedar t,acme/draft.cedar cedar f,custom/issue.rego rego t',
    '... and stored by suffix' );
my ($revision) = $done->{out} =~ /^($hex) confirmed$/m;
is( ctl_is( 0, [ qw(bundle deploy -q --mode replace), $dir ], 'the same again', env => $env )->{out},
    "$revision confirmed\n", '... changes nothing' );
is( ctl_is( 0, [ qw(bundle deploy -q), $dir, @server ], '... nor over the API', env => $far )->{out},
    "$revision confirmed\n", '... either' );
my $empty = tree();
ctl_is( 0, [ qw(bundle pull), $empty ], 'pull', env => $env );
is( slurp("$empty/acme/doors.cedar"), $doors,     '... writes the source octet by octet' );
is( slurp("$empty/acme/draft.cedar"), 'permit (', '... of drafts too' );
ok( !-e "$empty/cedar", '... and no module' );
is( ctl_is( 0, [ qw(policy rule get acme/doors.cedar), @server ], 'policy rule get', env => $far )->{out}, $doors,
    '... prints the source' );

my $later = tree( %good, 'acme/doors.cedar' => $doors =~ s/22/23/r );
like(
    ctl( [ qw(bundle diff --dir), $later ], env => $env )->{out},
    qr/^-when \{ context\.hour >= 22 \};\n\+when \{ context\.hour >= 23 \};$/m,
    'bundle diff --dir compares sources' );
ctl_is( 0, [ qw(bundle deploy -q), $later ], 'another hour', env => $env );
my $history = ctl_is( 0, [qw(bundle history --json)], 'bundle history', env => $env )->{json};
my ( $now, $then ) = map { $_->{id} } @$history;
like(
    ctl_is( 0, [ qw(bundle diff), $then, $now ], 'bundle diff of two bundles', env => $env )->{out},
    qr{^rules? changed: acme/doors\.cedar\n.*^-when \{ context\.hour >= 22 \};$}ms,
    '... compares sources' );
is( ctl_is( 0, [ qw(bundle rollback -q), $then ], 'bundle rollback', env => $env )->{out}, "$revision confirmed\n",
    '... gives the bundle of then' );
is( sql(q{SELECT content FROM policy_rule WHERE path = 'acme/doors.cedar'}) . "\n", $doors, '... and its source' );

# ---- try

my $request = {
    principal => 'User::"alice"', action => 'Action::"open"', resource => 'Door::"7"',
    context   => { staff => JSON::PP::true(), hour => 22 } };
my $asked = tree( 'alice.json' => encode_json($request), 'empty.json' => '{}', 'list.json' => '[]' );
for my $case ( [ 'on the database', $env ], [ 'over the API', $far, @server ] ) {
    my ( $where, $with, @more ) = @$case;
    my @try = ( qw(policy try), @more );
    is_deeply(
        ctl_is(
            0, [ @try, '--json', 'acme/doors.cedar', '--input', "$asked/alice.json" ], "policy try $where", env => $with
        )->{json}{result},
        { permits => ['staff'], forbids => ['curfew'], errors => [] },
        '... prints the policies that are satisfied' );
    like(
        ctl_is(
            0, [ @try, 'acme/doors.cedar', '--input', '-' ], '... as text', env => $with, in => encode_json($request)
        )->{out},
        qr/^result +\{.*"curfew"/m,
        '... in a row' );
    is( ctl_is(
            0, [ @try, '--json', 'svc/decision/issue', '--input', "$asked/empty.json" ], '... of a decision',
            env => $with )->{json}{result}{allow} ? 1 : 0,
        0,
        '... prints its result' );
    like(
        ctl_is( 1, [ @try, 'acme/doors.cedar', '--input', "$asked/empty.json" ], '... of no request', env => $with )
          ->{err},
        qr/input \(--input\) is no request of Cedar: an entity is an object with the strings `type` and `id`/,
        '... says why' );
    like(
        ctl_is( 1, [ @try, 'acme/doors.cedar', '--input', "$asked/list.json" ], '... of a list', env => $with )->{err},
        qr/--input: is not an object; give one JSON object/, '... says so' );
    ctl_is( 64, [ @try, 'acme/doors.cedar' ], '... without an input', env => $with );
}

# ---- refusals name file, line and column, and lose nothing

my %bad    = ( %good, 'acme/other.cedar' => "permit (principal, action, resource);\n\nforbid (principal, action)\n" );
my $bad    = tree(%bad);
my $before = state();
for my $case ( [ 'on the database', $env ], [ 'over the API', $far, @server ] ) {
    my ( $where, $with, @more ) = @$case;
    for my $mode ( '--mode=merge', '--mode=replace', '--dry-run' ) {
        my $got =
          ctl_is( 1, [ qw(bundle deploy), $mode, $bad, @more ], "a bad Cedar file, $mode, $where", env => $with );
        like(
            $got->{err},
            qr{^authzctl: bundle deploy: bundle_not_activated: acme/other\.cedar:3:26: expected `==`, `in` or `,`, found `\)`; nothing was changed; correct it and run this again\n +3 \| forbid \(principal, action\)\n +\| \Q$bad\E/acme/other\.cedar\n}m,
            '... is refused by path, line and column, with the line' );
        is( state(), $before, '... and nothing changed' );
    }
    my $one = ctl_is(
        1, [ qw(policy rule set acme/doors.cedar), @more ], "a bad Cedar rule, $where",
        env => $with,
        in  => "permit (principal == ?principal, action, resource);\n" );
    like(
        $one->{err}, qr{bundle_not_activated: acme/doors\.cedar:1:22: templates are not supported.*\n +1 \| permit}m,
        '... is refused in the same way' );
    is( state(), $before, '... and the old one stays' );
}

# An error of the engine in a compiled rule is shown at the line of the policy, here of a stored rule.
$stack->sql(
    q{UPDATE policy_rule SET content = replace(content, 'attr(x, name)', 'unattr(x, name)') WHERE path = 'svc/cedar/rt.rego'}
);
my $away   = { %$env, AUTHZ_OPA => '/nonexistent/opa' };
my $engine = ctl_is(
    1, [qw(policy rule set custom/x.rego)], 'a runtime that lacks a function', env => $away,
    in => "package custom.x\n" );
like(
    $engine->{err},
    qr{bundle_not_activated: acme/doors\.cedar:1: [^\n]*undefined function [^\n]*\n +1 \| \@id\("staff"\)\n +\| acme/doors\.cedar \(stored\)\n},
    '... is an error of the stored Cedar rule, at its policy' );

done_testing;

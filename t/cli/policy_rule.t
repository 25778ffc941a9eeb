#!/usr/bin/perl
# policy rule: one rule listed, printed, saved and deleted, on the real engine: a save is active or changes nothing
# (policy.md 2.4).
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start;

# The engine of the service judges here; opa_check.t has the check that authzctl makes before.
my $env = { %{ $stack->settings }, AUTHZ_OPA => '/nonexistent/opa' };
sub sql { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }

sub own {
    return sql(
        q{SELECT coalesce(string_agg(path || '=' || enabled, ',' ORDER BY path), '') FROM policy_rule WHERE NOT shipped}
    );
}

my $hex  = qr/[0-9a-f]{32}/;
my $path = 'custom/issue.rego';
my $rule = "package custom.issue\n\n# caf\xc3\xa9\ndeny contains \"closed\" if input.client.id == \"closed\"\n";

# set
my $set = ctl_is( 0, [ qw(policy rule set), $path ], 'set from standard input', env => $env, in => $rule );
like( $set->{out}, qr/\A$hex confirmed\n\z/, '... prints revision and activation' );
is( own(), "$path=true", '... and the rule is stored' );
is( sql(q{SELECT trigger_source || ' ' || triggered_by FROM bundle b JOIN bundle_state s ON s.served = b.id}),
    'policy-rule authzctl', '... by authzctl' );
my $file = tree( 'draft' => 'this is no rego' ) . '/draft';
my $json = ctl_is(
    0, [ qw(policy rule set --json --disabled custom/draft.rego), $file ], 'set of a disabled rule from a file',
    env => $env )->{json};
is_deeply( [ $json->{path}, $json->{activation} ], [ 'custom/draft.rego', 'confirmed' ], '... as JSON' );
is( own(), "custom/draft.rego=false,$path=true", '... is stored, though it is no rego' );

# get, list
is( ctl_is( 0, [ qw(policy rule get), $path ], 'get', env => $env )->{out}, $rule,
    '... prints the text octet by octet' );
is( ctl( [ qw(policy rule get --json), $path ], env => $env )->{json}{kind}, 'rego',
    'get --json prints the whole rule' );
my $list = ctl_is( 0, [qw(policy rule list)], 'list', env => $env )->{out};
like( $list, qr/\APATH +KIND +ENABLED +UPDATED\n/,           '... has headings' );
like( $list, qr{^custom/draft\.rego +rego +false +20\d\d-}m, '... and a line for each rule' );
like( $list, qr{^svc/decision/issue\.rego +rego +true }m,    '... shipped ones too' );
is( scalar( grep { $_->{path} eq $path } @{ ctl( [qw(policy rule list --json)], env => $env )->{json} } ), 1,
    '... as JSON' );

# A refused save changes nothing.
my $served = sql('SELECT served FROM bundle_state');
my $bad    = ctl_is(
    1, [ qw(policy rule set), $path, '-' ], 'set that the engine refuses', env => $env,
    in => "package custom.issue\n\ndeny contains x if {\n\tx := count(1, 2)\n}\n" );
like(
    $bad->{err},
    qr{^authzctl: policy rule set: bundle_not_activated: custom/issue\.rego:4: [^\n]*; nothing was changed; correct it and run this again\n}m,
    '... its message (specification 7.2)' );
like(
    $bad->{err}, qr{^ +4 \| \tx := count\(1, 2\)\n +\| standard input\n\z}m,
    '... with the line, and where it stands' );
is( ctl( [ qw(policy rule set --json), $path ], env => $env, in => "package custom.issue\n\nx\n" )->{json}{rolledBack},
    1, '... as JSON' );
my @refused = (
    [ $path, '', qr/standard input: is empty; give the text of a rule/, 'no text' ],
    [   $path, "package x\n# \xff\n", qr/standard input: line 2 is not UTF-8 text or contains a NUL/,
        'text that is not UTF-8' ],
    [ $path, "package x\n\0", qr/line 2 is not UTF-8 text or contains a NUL/, 'a NUL' ],
    [ $path, '#' x 524289,    qr/is larger than 512 KiB/,                     'one octet too many' ],
    [   $path,                                                                           "package svc.decision.issue\n",
        qr/standard input: The package svc belongs to the service; nothing was changed/, 'a package of ours' ],
    [ $path, "package system.main\n", qr/The package system belongs to the policy engine/, 'a package of the engine' ],
    [   'svc/mine.rego', "package custom.mine\n", qr/svc\/mine\.rego belongs to the service and cannot be changed/,
        'a path of ours' ],
    [ 'svc/decision/issue.rego', "package custom.mine\n", qr/belongs to the service/, 'a shipped rule' ],
    [   'custom/x.cedar', "permit(principal, action, resource)\nwhen { 1 = 1 };\n",
        qr{bundle_not_activated: [^\n]*custom/x\.cedar:2:10: Cedar has no assignment; compare by `==`; nothing was changed},
        'a Cedar rule with an error' ],
);
for my $case (@refused) {
    my ( $name, $text, $why, $what ) = @$case;
    like(
        ctl_is( 1, [ qw(policy rule set), $name ], "set refuses $what", env => $env, in => $text )->{err}, $why,
        '... and says why' );
}
like( ctl_is( 1, [ qw(policy rule set), $path, '/nonexistent/file' ], 'set from a file that is not there', env => $env )
      ->{err}, qr{/nonexistent/file: No such file}, '... names it' );
for my $name (
    '', '/x.rego', 'x', '../x.rego', 'a//x.rego', "a\nb.rego", '.rego', 'a\\b.rego', 'x' x 508 . '.rego',
    "\xff.rego" )
{
    for my $verb (qw(set get delete)) {
        my $got = ctl_is(
            64, [ 'policy', 'rule', $verb, $verb eq 'delete' ? '--yes' : (), '--', $name ],
            "$verb of a path that none can have: " . substr( $name =~ s/[\n\xff]/?/gr, 0, 20 ), env => $env,
            in => $rule );
        like( $got->{err}, qr/the path of a rule must [^\n]*; correct it\n\z/, '... says why' );
    }
}
for my $verb (qw(get delete)) {
    like(
        ctl_is(
            1, [ 'policy', 'rule', $verb, $verb eq 'delete' ? '--yes' : (), 'custom/none.rego' ],
            "$verb of an unknown rule", env => $env )->{err},
        qr/rule 'custom\/none\.rego' does not exist; see `authzctl policy rule list`/,
        '... says so' );
}
ctl_is( 1, [ qw(policy rule get), "x' OR 'a'='a.rego" ], 'get with a quote', env => $env );
like(
    ctl_is( 1, [qw(policy rule delete --yes svc/decision/issue.rego)], 'delete of a shipped rule', env => $env )->{err},
    qr/belongs to the service/, '... is refused' );
is( own(), "custom/draft.rego=false,$path=true",     'after all these the rules are as they were' );
is( sql('SELECT served FROM bundle_state'), $served, '... and so is the bundle' );

# A rule that another needs cannot go.
ctl_is(
    0, [qw(policy rule set custom/lib.rego)], 'a library', env => $env,
    in => "package custom.lib\n\nf(x) := x + 1\n" );
ctl_is(
    0, [qw(policy rule set custom/user.rego)], 'a rule that calls it', env => $env,
    in => "package custom.user\n\ny := data.custom.lib.f(1)\n" );
like(
    ctl_is( 1, [qw(policy rule delete --yes custom/lib.rego)], 'delete of the library', env => $env )->{err},
    qr{bundle_not_activated: custom/user\.rego:3: }, '... is refused by the engine, naming the rule that needs it' );
like(
    ctl( [qw(policy rule delete --yes custom/lib.rego)], env => $env )->{err},
    qr{^ +3 \| y := data\.custom\.lib\.f\(1\)\n +\| custom/user\.rego \(stored\)\n\z}m, '... with its line' );
like( own(), qr/custom\/lib\.rego=true/, '... and it is there still' );

# The stored text may break again when it is enabled.
like( ctl_is( 1, [ qw(policy rule set custom/draft.rego), $file ], 'set of the draft without --disabled', env => $env )
      ->{err}, qr{custom/draft\.rego:1: }, '... is refused' );
is( sql(q{SELECT enabled FROM policy_rule WHERE path = 'custom/draft.rego'}), 'f', '... and it stays disabled' );
like(
    ctl_is( 0, [qw(policy rule delete --yes custom/draft.rego)], 'delete', env => $env )->{out},
    qr/\A$hex confirmed\n\z/,
    '... prints revision and activation' );
is( sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/draft.rego'}), 0, '... and the rule is gone' );

done_testing;

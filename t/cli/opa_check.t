#!/usr/bin/perl
# bundle deploy and policy test let the program of the policy engine compile the rules and check them against the schemas of the
# input documents (policy.md 6.2).
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Copy ();
use File::Path ();
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authzctl;

my $opa   = Authz::Path::opa();
my $temp  = tree();
my $stack = Authz::Stack->start;
my %env = ( %{ $stack->settings }, AUTHZ_OPA => $opa, TMPDIR => $temp, HOME => '/nonexistent', PATH => '/nonexistent' );
delete $env{XDG_CACHE_HOME};
sub left    { return join ',', glob "$temp/{*,.[a-z]*}" }
sub bundles { return $stack->sql('SELECT last_value FROM bundle_id_seq') }

my $test = "package custom.a_test\n\ntest_a if true\n";

# Standard error without the warnings about rules that nothing reads, which are about something else (t/http/policy/policy_warnings.t).
sub but_unread {
    my ($text) = @_;
    return $text =~ s/^authzctl: [a-z ]+: warning: [^\n]*(?:nothing reads|nothing in the service reads)[^\n]*\n//mgr;
}

# Deploy and policy test of a directory that both refuse: exit status 1, every line in the error, and nothing is published.
sub refused {
    my ( $files, $lines, $name ) = @_;
    my $dir    = tree( %$files, 'custom/a_test.rego' => $test );
    my $before = bundles();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    for my $verb ( 'policy test', 'bundle deploy --dry-run', 'bundle deploy' ) {
        my $got  = ctl_is( 1, [ split( / /, $verb ), $dir ], "$name: $verb", env => \%env );
        my $path = $verb =~ s/ --.*//r;
        like( $got->{err}, qr/^authzctl: \Q$path\E: \Q$dir\E\/$_/m, '... says where and why' ) for @$lines;
        unlike( $got->{out}, qr/PASS|upserted/, '... and goes no further' );
    }
    is( bundles(), $before, '... and no bundle is published' );
    is( left(),    '',      '... and nothing is left behind' );
    return $dir;
}

sub taken {
    my ( $files, $name, %more ) = @_;
    my $dir = tree( %$files, 'custom/a_test.rego' => $test );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    for my $verb ( 'policy test', 'bundle deploy --dry-run --mode=replace', 'bundle deploy --mode=replace' ) {
        my $got = ctl_is( 0, [ split( / /, $verb ), $dir ], "$name: $verb", env => { %env, %more } );
        is( but_unread( $got->{err} ), '', '... without a word' );
    }
    return $dir;
}

# ---- members that no input has

my $request = 'default_ttl, endpoint, flow_id, grant_type, id, now, time, time_ns, token_type';

# The service does not look into an else, so that it takes this rule where authzctl has no program to check it.
my $wrong = "package custom.issue\n\n# The scopes.\nv := 1 if { 1 == 2 } else := 2 if \"x\" in input.request.scopes\n";
my $dir   = refused(
    { 'custom/a.rego' => $wrong },
    [qr{custom/a\.rego:4: there is no input\.request\.scopes; input\.request has \Q$request\E\n}],
    'a rule that reads input.request.scopes is refused with what is there' );
my $got = ctl( [ qw(bundle deploy), $dir ], env => \%env );
like(
    $got->{err},
    qr{^ +4 \| v := 1 if \{ 1 == 2 \} else := 2 if "x" in input\.request\.scopes\n +\| \Q$dir\E/custom/a\.rego$}m,
    '... the line is shown' );
like(
    $got->{err}, qr{^authzctl: bundle deploy: 1 error, found by `\Q$opa\E check`; correct it and run this again$}m,
    '... and who says so' );
my $json = ctl( [ qw(bundle deploy --json), $dir ], env => \%env )->{json};
is_deeply(
    $json,
    {   error  => 'policy_check_failed',
        errors => [
            {   file    => "$dir/custom/a.rego", row => 4,
                message => "there is no input.request.scopes; input.request has $request" } ] },
    '... with --json as a document' );

refused(
    {   'custom/a.rego' =>
          "package custom.introspect\n\ndeny contains \"a\" if input.scopes\n\ndeny contains \"b\" if input.caller.id\n",
        'custom/b.rego' => "package custom.register\n\ndeny contains \"a\" if input.client.id\n" },
    [   qr{custom/a\.rego:3: there is no input\.scopes; input has baseline, caller, client, },
        qr{custom/a\.rego:5: there is no input\.caller\.id; input\.caller has auth_method, client_id, },
        qr{custom/b\.rego:3: there is no input\.client; input has environment, evaluation, issuer, registration, request, }
    ],
    'each package sees the members of its own evaluation' );
refused(
    {   'lib/a.rego' =>
          "package custom.lib[\"a-b\"].c\n\na if input.caller.token.scopes\n\nb if input.registration.mode\n\nc if input.client.name\n"
    },
    [qr{lib/a\.rego:7: there is no input\.client\.name; input\.client has auth_method, enabled, id, }],
    'another package below custom sees the members of all' );
refused(
    {   'custom/a.rego' =>
          "package custom.issue\n\ndeny contains \"a\" if input.issuer.name\n\ndeny contains \"b\" if input.request.now == \"noon\"\n\ndeny contains \"c\" if input[\"x y\"]\n"
    },
    [   qr{custom/a\.rego:3: there is no input\.issuer\.name; the type of input\.issuer is string\n},
        qr{custom/a\.rego:5: a value of type number never equals one of type string\n},
        qr{custom/a\.rego:7: there is no input\["x y"\]; } ],
    'members of a text, and comparisons that never hold' );

taken(
    {   'lib/a.rego' => "package acme.lib\n\na if input.path == \"/x\"\n",
        'lib/b.rego' => "package customs\n\na if input.path\n" },
    'a package elsewhere, which other users of the engine may ask, is not checked against them' );

# The author's own annotations are left out, as the engine leaves them out, and the rows are those of his file.
my $annotations = "# METADATA\n# scope: %s\n# title: Mine\n# schemas:\n#   - input: %s\npackage custom.issue\n\n";
for my $case (
    [ 'package',     'schema.mine',                            'a schema that is not there' ],
    [ 'package',     '{}',                                     'a schema without members' ],
    [ 'subpackages', '{}',                                     'the scope subpackages' ],
    [ 'package',     '{"$ref": "http://127.0.0.1:1/x.json"}',  'a schema on a server' ],
    [ 'package',     '{"$ref": "file:///nonexistent/x.json"}', 'a schema in a file' ],
    [ 'nonsense',    '[',                                      'no YAML' ],
  )
{
    my ( $scope, $schema, $name ) = @$case;
    my $head = sprintf $annotations, $scope, $schema;
    my $dir  = tree( 'custom/a.rego' => "${head}a := 1\n", 'custom/a_test.rego' => $test );
    is( but_unread( ctl_is( 0, [ qw(bundle deploy --dry-run), $dir ], "annotations with $name", env => \%env )->{err} ),
        '', '... are not read' );
    $dir = tree( 'custom/a.rego' => "${head}deny contains \"a\" if input.scope\n", 'custom/a_test.rego' => $test );
    like(
        ctl_is( 1, [ qw(bundle deploy --dry-run), $dir ], '... and a rule below them', env => \%env )->{err},
        qr{^authzctl: bundle deploy: \Q$dir\E/custom/a\.rego:8: there is no input\.scope; }m,
        '... is refused with its row' );
}

# Objects whose member names the parties of a request choose are open: the check accepts any member.
taken(
    { 'custom/a.rego' => <<'REGO', 'custom/b.rego' => <<'REGO' }, 'members whose names others choose, and real ones' );
package custom.issue

deny contains "a" if input.subject.claims.tenant.name == "x"

deny contains "b" if input.client.statement.claims.level > 3

deny contains "c" if {
	some entry in input.authorization_details
	entry.amount > 100
}

deny contains "d" if input.scopes.requested[_] in data.acme.scopes

deny contains "e" if input.baseline == null

claims.tenant := input.subject.claims.tenant.name
REGO
package custom.introspect

deny contains "a" if input.context.purpose.code != 7

deny contains "b" if input.baseline.claims.tenant != input.issued.subject.claims.tenant

deny contains "c" if input.baseline == null

obligations := {"tenant": "acme"}
REGO

# ---- compilation

refused(
    { 'custom/a.rego' => "package custom.issue\n\nx := count(1, 2)\n" },
    [qr{custom/a\.rego:3: rego_type_error: count: }], 'a rule that does not compile' );
refused(
    { 'custom/a.rego' => "package custom.issue\n\nx := \n" },
    [qr{custom/a\.rego:4: rego_parse_error: }], 'a rule that is no Rego' );
refused(
    {   'custom/a.rego' => "package custom.issue\n\ndeny := [\"x\"] if input.client.id == \"a\"\n",
        'custom/b.rego' => "package custom.introspect\n\ndeny := true\n",
        'custom/c.rego' => "package custom.issue\n\nclaims contains \"x\"\n" },
    [   qr{custom/a\.rego, \S+/custom/c\.rego: custom\.issue\.deny must be a set, not an array: write deny contains VALUE\n},
        qr{custom/a\.rego, \S+/custom/c\.rego: custom\.issue\.claims must be an object, not a set: write claims\[NAME\] := VALUE\n},
        qr{custom/b\.rego: custom\.introspect\.deny must be a set, not a boolean: } ],
    'hooks of the wrong type are named' );
taken(
    {   'custom/a.rego'   => "package custom.issue\n\ndeny contains \"x\" if input.client.id == \"x\"\n",
        'custom/off.rego' => 'no rego',
        'bundle.json'     => '{"disabled": ["custom/off.rego"]}' },
    'a rule that is disabled is not compiled' );

# A deploy that merges is compiled with the stored rules that stay.
my $library = tree( 'lib/f.rego' => "package lib.f\n\nf(x) := x\n" );
ctl_is( 0, [ qw(bundle deploy -q), $library ], 'a library', env => \%env );
my $user = tree( 'custom/a.rego' => "package custom.issue\n\nx := data.lib.f.f(1)\n" );
ctl_is( 0, [ qw(bundle deploy --dry-run), $user ], 'its user alone, beside it', env => \%env );
like(
    ctl_is( 1, [ qw(bundle deploy --dry-run --mode replace), $user ], '... and instead of it', env => \%env )->{err},
    qr{\Q$user\E/custom/a\.rego:3: rego_type_error: undefined function data\.lib\.f\.f$}m,
    '... which is refused' );
like(
    ctl_is(
        1,
        [   qw(bundle deploy --dry-run),
            tree(
                'custom/b.rego' => "package custom.b\n\nx := data.lib.f.f(1)\n",
                'lib/f.rego'    => "package lib.f\n\nf(x, y) := x\n" ) ],
        'a library that changes with one user',
        env => \%env )->{err},
    qr{/custom/b\.rego:3: },
    '... is refused' );

# A stored rule that reads a member which is not there keeps nobody from deploying others.
my %none = ( %env, AUTHZ_OPA => '/nonexistent/opa' );
my $old  = tree( 'custom/old.rego' => "package custom.issue\n\nv := 1 if { 1 == 2 } else := input.request.scopes\n" );
ctl_is( 0, [ qw(bundle deploy -q), $old ], 'a rule of former times', env => \%none );
my $beside = ctl_is(
    0,                        [ qw(bundle deploy), tree( 'custom/new.rego' => "package custom.issue\n\nx := 1\n" ) ],
    'another rule beside it', env => \%env );
like(
    $beside->{err},
    qr{^authzctl: bundle deploy: warning: custom/old\.rego \(stored\):3: there is no input\.request\.scopes; }m,
    '... is deployed with a warning' );

# One rule is checked as a directory is, with the stored rules that stay.
my $acton = "package custom.issue\n\ndeny contains \"x\" if input.acton.name == \"x\"\n";
my $alone = tree( 'a.rego' => $acton );
my $kept  = bundles();
for my $how ( [ "$alone/a.rego", "\Q$alone\E/a\\.rego" ], [ '-', 'standard input', in => $acton ] ) {
    my ( $file, $name, @in ) = @$how;
    my $got =
      ctl_is( 1, [ qw(policy rule set custom/one.rego), $file ], "policy rule set of $file", env => \%env, @in );
    like(
        $got->{err},
        qr/^authzctl: policy rule set: $name:3: there is no input\.acton; did you mean 'actor'\? input has [^\n]*\bact, actor\b/m,
        '... is refused where it reads a member that no input has, and says which is near and which there are' );
    is( bundles(), $kept, '... and nothing is published' );
}
ctl_is(
    0, [ qw(policy rule set --disabled custom/one.rego), "$alone/a.rego" ], '... but stored if it is disabled',
    env => \%env );

# ---- without the program

my $good = tree( 'custom/a.rego' => $wrong, 'custom/a_test.rego' => $test );
for my $case (
    [   { AUTHZ_OPA => '' },
        qr/no opa program found; put an opa 1\.x on PATH, or name it with --opa FILE or AUTHZ_OPA$/m, 'no program' ],
    [   { AUTHZ_OPA => '/nonexistent/opa' }, qr{AUTHZ_OPA: /nonexistent/opa is not an executable file},
        'a program that is not there' ],
    [   { AUTHZ_OPA => script('exit 3') }, qr/ gave no report of errors; name an opa 1\.x program/,
        'a program that reports nothing' ],
    [   { AUTHZ_OPA => script('echo usage; exit 1') }, qr/ gave no report of errors: usage; name an opa/,
        'a program that is another one' ],
    [ { AUTHZ_OPA => script('kill -9 $$') }, qr/was killed/, 'a program that is killed' ],
  )
{
    my ( $change, $why, $name ) = @$case;
    for my $verb ( 'bundle deploy --dry-run', 'bundle deploy' ) {
        my $got = ctl_is( 0, [ split( / /, $verb ), $good ], "$name: $verb goes on", env => { %env, %$change } );
        like( $got->{err}, $why, '... says why' );
        like(
            $got->{err},
            qr/^authzctl: bundle deploy: the rules were not compiled here and not checked against the input schemas/m,
            '... and what was left out' );
    }
    my $got = ctl( [ qw(policy test), $good ], env => { %env, %$change } );
    isnt( $got->{status}, 0, "$name: policy test fails" );
    like( $got->{err}, $why, '... says why' );
}
ctl_is( 1, [ qw(bundle deploy --opa), $opa, $good ], 'with --opa the rule is refused', env => \%none );

# The program sees no setting.
my $spy = script(qq{env >$temp.spy; exec "$opa" "\$@"});
ctl_is(
    1, [ qw(bundle deploy --opa), $spy, $good ], 'a program that tells its environment',
    env => { %none, PATH => $ENV{PATH} } );
my $told = do { open my $in, '<', "$temp.spy" or die "$temp.spy: $!"; local $/ = undef; readline $in };
like( $told, qr/^PATH=/m, '... has what programs need' );
unlike( $told, qr/SVC_|PGPASSWORD/, '... and no setting' );

# Without schemas nothing is said to be checked.
my $bare = tree( map { ( $_ => Authz::Path::source("etc/policy/$_") ) } () );
File::Path::make_path("$bare/policy");
symlink Authz::Path::source("etc/policy/$_"), "$bare/policy/$_" for qw(svc data schemas controls.json);
symlink Authz::Stack::data_dir() . "/$_",     "$bare/$_" for grep { -e Authz::Stack::data_dir() . "/$_" } qw(sql www);
my $blind = ctl( [ qw(policy test), $good ], env => { %env, SVC_DATA_DIR => $bare } );
isnt( $blind->{status}, 0, 'SVC_DATA_DIR without policy/inputs: policy test fails' );
like( $blind->{err}, qr{/policy/inputs.*check SVC_DATA_DIR}, '... says so' );
is( left(), '', 'nothing is left behind' );

sub script {
    my ($text) = @_;
    my $in = tree( 'opa' => "#!/bin/sh\n$text\n" );
    chmod 0755, "$in/opa";
    return "$in/opa";
}

done_testing;

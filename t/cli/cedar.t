#!/usr/bin/perl
# cedar authorize, format and test: Cedar without the service.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Process ();
use Authzctl;

my $vectors = "$FindBin::Bin/../vectors/cedar";

my $dir = tree(
        'p.cedar' => qq{\@id("own") permit (principal, action, resource)\nwhen { principal == resource.owner };\n}
      . qq{forbid (principal, action, resource) when { context.blocked };\n},
    'e.json' =>
      '[{"uid": {"type": "Doc", "id": "1"}, "attrs": {"owner": {"__entity": {"type": "User", "id": "alice"}}}, "parents": []}]',
    'alice.json' => '{"principal": "User::\"alice\"", "action": {"type": "Action", "id": "view"},'
      . ' "resource": {"type": "Doc", "id": "1"}, "context": {"blocked": false}}',
    'blocked.json' => '{"principal": "User::\"alice\"", "action": "Action::\"view\"", "resource": "Doc::\"1\"",'
      . ' "context": {"blocked": true}}',
    'bare.json' =>
      '{"principal": "User::\"alice\"", "action": "Action::\"view\"", "resource": "Doc::\"1\"", "context": {}}',
    'bad.cedar'     => "permit (principal, action, resource)\nwhen { 1 = 1 };\n",
    'slot.cedar'    => "permit (principal == ?principal, action, resource);\n",
    'null.json'     => '[{"uid": {"type": "Doc", "id": "1"}, "attrs": {"a": null}}]',
    'no-json.json'  => "[\n  1,,\n]",
    'no-such.cedar' => '' );

sub authorize {
    my ( $status, $name, %with ) = @_;
    my %file = ( policies => 'p.cedar', entities => 'e.json', request => 'alice.json', %with );
    return ctl_is( $status, [ 'cedar', 'authorize', map { ( "--$_", "$dir/$file{$_}" ) } sort keys %file ], $name );
}

is( authorize( 0, 'a permit is satisfied' )->{out}, qq({"decision":"allow","reason":["own"],"errors":[]}\n),
    'decision, reason and errors are printed' );
is( authorize( 0, 'a forbid is satisfied', request => 'blocked.json' )->{out},
    qq({"decision":"deny","reason":["policy1"],"errors":[]}\n), 'a forbid overrides the permit' );
is( authorize( 0, 'a forbid errors', request => 'bare.json' )->{out},
    qq({"decision":"allow","reason":["own"],"errors":["policy1"]}\n), 'a policy that errors is listed and skipped' );
like(
    authorize( 1, 'a syntax error', policies => 'bad.cedar' )->{err},
    qr{bad\.cedar:2:10: Cedar has no assignment; compare by `==`}, 'a syntax error names line and column' );
like(
    authorize( 1, 'a template', policies => 'slot.cedar' )->{err}, qr{slot\.cedar:1:22: templates are not supported},
    'a template is refused with line and column' );
like(
    authorize( 1, 'an attribute that is null', entities => 'null.json' )->{err}, qr{null\.json: Cedar has no null},
    'a value that Cedar has not is refused' );
like(
    authorize( 1, 'entities that are no JSON', entities => 'no-json.json' )->{err},
    qr{no-json\.json:2:5: expected a JSON value}, 'a fault of JSON names line and column' );
like( authorize( 1, 'an empty file', policies => 'no-such.cedar' )->{err}, qr{is empty}, 'an empty file is refused' );
ctl_is( 64, [ 'cedar', 'authorize', '--policies', "$dir/p.cedar" ], 'entities and request are required' );

my $text = ctl_is( 0, [ 'cedar', 'format', "$dir/p.cedar" ], 'format' )->{out};
is( $text, <<'CEDAR', 'canonical text is printed' );
@id("own")
permit (principal, action, resource)
when { principal == resource.owner };

forbid (principal, action, resource)
when { context.blocked };
CEDAR

# The cases of Cedar's own integration tests.
is( ctl_is( 0, [ 'cedar', 'test', $vectors ], 'hand-written cases' )->{out}, "22 passed, 0 failed, 0 refused\n",
    'all hand-written cases pass' );
is( ctl_is( 0, [ 'cedar', 'test', "$vectors/corpus-tenth.tar.xz" ], 'a tenth of the corpus' )->{out},
    "624 passed, 0 failed, 0 refused\n", 'decision, reason and errors are equal in a tenth of the corpus' );

# A case whose answers are wrong in turn: decision, reason and errors are all compared.
sub wrong {
    my ( $decision, $reason, $errors, $policies ) = @_;
    return tree(
        'p.cedar' => $policies // 'permit (principal, action, resource);',
        'e.json'  => '[]',
        'c.json'  =>
          '{"policies": "p.cedar", "entities": "e.json", "requests": [{"description": "the\nrequest", "principal": {"type": "U", "id": "a"},'
          . ' "action": {"type": "Action", "id": "a"}, "resource": {"type": "R", "id": "a"}, "context": {},'
          . qq( "decision": "$decision", "reason": [$reason], "errors": [$errors]}]}) );
}
is( ctl_is( 0, [ 'cedar', 'test', wrong( 'allow', '"policy0"', '' ) ], 'the right answer' )->{out},
    "1 passed, 0 failed, 0 refused\n", 'the right answer passes' );
my $failed = ctl_is( 1, [ 'cedar', 'test', wrong( 'deny', '"policy0"', '' ) ], 'another decision' )->{out};
is( $failed, <<'OUT', 'a failure has case, request, expected and seen' );
failed: c.json: request 0 (the?request)
  expected: {"decision":"deny","reason":["policy0"],"errors":[]}
  seen:     {"decision":"allow","reason":["policy0"],"errors":[]}
0 passed, 1 failed, 0 refused
OUT
ctl_is( 1, [ 'cedar', 'test', wrong( 'allow', '"policy1"', '' ) ],          'another reason fails' );
ctl_is( 1, [ 'cedar', 'test', wrong( 'allow', '',          '' ) ],          'a missing reason fails' );
ctl_is( 1, [ 'cedar', 'test', wrong( 'allow', '"policy0"', '"policy0"' ) ], 'another error fails' );
is( ctl_is( 1, [ 'cedar', 'test', wrong( 'allow', '', '', 'permit (principal, action, resource' ) ], 'a refused case' )
      ->{out},
    "refused: c.json: policies: line 1, column 36: expected `==`, `in`, `is` or `)`, found the end of the file\n0 passed, 0 failed, 1 refused\n",
    'a refused case is printed with its reason' );
like(
    ctl_is( 1, [ 'cedar', 'test', tree( 'a.json' => '{}' ) ], 'no case' )->{err}, qr{no case was found},
    'a directory without cases is an error' );
like(
    ctl_is( 1, [ 'cedar', 'test', "$dir/p.cedar" ], 'no archive' )->{err}, qr{is not an archive that tar can read},
    'a file that is no archive is refused' );
ctl_is( 1, [ 'cedar', 'test', "$dir/none" ], 'a missing file is refused' );

done_testing;

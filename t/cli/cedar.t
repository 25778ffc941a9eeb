#!/usr/bin/perl
# cedar authorize, format and test: Cedar without the service.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $vectors = "$FindBin::Bin/../vectors/cedar";
my %opa =
  ( env => { SVC_CONFIG => '/dev/null', SVC_DATA_DIR => Authz::Stack::data_dir(), AUTHZ_OPA => Authz::Path::opa() } );

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
    'mimic.cedar'   => "permit (principal, action, resource)\nwhen { {__entity: 1} == context };\n",
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
is( ctl_is( 0, [ 'cedar', 'test', "$vectors/corpus.tar.xz" ], 'the corpus' )->{out},
    "6233 passed, 0 failed, 0 refused\n", 'decision, reason and errors are equal in all cases of the corpus' );

# The same by the policy engine.
is( ctl_is( 0, [ 'cedar', 'test', '--engine', 'opa', $vectors ], 'hand-written cases by OPA', %opa )->{out},
    "22 passed, 0 failed, 0 refused\n", 'OPA: all hand-written cases pass' );
is( ctl_is(
        0,
        [   'cedar', 'authorize', '--engine=opa', map { ( "--$_->[0]", "$dir/$_->[1]" ) } [ policies => 'p.cedar' ],
            [ entities => 'e.json' ], [ request => 'bare.json' ] ],
        'authorize by OPA',
        %opa )->{out},
    qq({"decision":"allow","reason":["own"],"errors":["policy1"]}\n),
    'OPA: a policy that errors is listed and skipped' );

# Every tenth case; contrib/check --cedar takes all of them.
my $all = "$vectors/corpus.tar.xz";

sub tenth {
    my $dir = Authz::Process::directory() . '/corpus-tenth';
    open my $list, '-|', 'tar', '-tf', $all or die "tar: $!";
    my @json = sort grep {m{/[^/.]+\.json\z}} map { chomp; $_ } <$list>;
    close $list or die "tar: $?";
    mkdir $dir  or die "$dir: $!";
    my @part = map {
        my $case = $json[ 10 * $_ ] =~ s{\.json\z}{}r;
        map {"$case.$_"} qw(cedar entities.json json)
    } 0 .. $#json / 10;
    system( 'tar', '-xf', $all, '-C', $dir, @part ) == 0 or die "tar: $?";
    return $dir;
}
my ( $part, $cases_of_part ) = $ENV{AUTHZ_CEDAR_ALL} ? ( $all, 6233 ) : ( tenth(), 624 );
my $by_opa = ctl( [ 'cedar', 'test', '--engine', 'opa', $part ], %opa );
is( $by_opa->{status}, 0, 'OPA: the corpus' ) or diag $by_opa->{err};
is( $by_opa->{out}, "$cases_of_part passed, 0 failed, 0 refused\n",
    'OPA: decision, reason and errors are equal in the corpus' );

# Constructors of arguments that are no literals are functions of the runtime; a literal becomes a value when it is
# compiled. Both must be one value, and have one for the same texts.
my %good = (
    ip => [
        qw(1.2.3.4 1.2.3.4/0 1.2.3.4/8 255.255.255.255/31 0.0.0.0 :: ::1 1:: ::1/128 ::1/0 1:2:3:4:5:6:7:8 1:2:3:4:5:6:7::
          ::2:3:4:5:6:7:8 1::3:4:5:6:7:8 ABCD:ef01::/17 fe80::1/10 2001:db8:0:0:0:0:0:1/33 1:2:3:4:5:6:7:8/127),
        '0000:0000:0000:0000:0000:0000:0000:0001/128' ],
    decimal  => [qw(0.0 -0.0 1.5 -1.5 00012.3400 922337203685477.5807 -922337203685477.5808 -0.0001)],
    duration => [
        qw(0ms 1d 1h 1m 1s 1ms 1m1ms 1d2h3m4s5ms -1d2h3m4s5ms 9223372036854775807ms -9223372036854775808ms 106751991167d
          -106751991167d7h12m55s808ms 106751991167d7h12m55s807ms 00001s -0d) ],
    datetime => [
        qw(1970-01-01 2024-02-29 2000-02-29 0000-01-01 0000-02-29 9999-12-31 2024-01-01T00:00:00Z 2024-01-01T23:59:59.999Z
          2024-01-01T00:00:00+0130 2024-01-01T00:00:00-2359 2024-01-01T00:00:00.500-0100 1969-12-31T23:59:59.999Z 2024-03-01
          2023-12-31 0000-01-01T00:00:00+2359) ] );
my %bad = (
    ip => [
        qw(256.1.1.1 1.2.3 1.2.3.4.5 01.2.3.4 1.2.3.4/33 1.2.3.4/08 1.2.3.4/ /8 1.2.3.4/8/9 ::1/129 1:2:3:4:5:6:7:8::
          1:2:3:4:5:6:7:8::zz 1:2:3:4:5:6:7:8:9 1::2::3 ::: 1:::2 :1::2 1::2: 12345:: g:: ::ffff:1.2.3.4 00000::1 999.1.1.1
          1.2.3.4/032 1.2.3.4\0),
        '', '1.2.3.4 ', ' 1.2.3.4', '1.2.3.4\n', '::\n' ],
    decimal => [
        qw(1.50000 1 1. .1 -.1 +1.0 922337203685477.5808 -922337203685477.5809 99999999999999999999999999999.0 1.2.3
          0.00001 1e1 --1.0), '', '1,2', '1.0 ', '1.0\n' ],
    duration => [
        qw(- 1ms1m 1 1x 1d1d 1h1d 9223372036854775808ms -9223372036854775809ms 106751991168d
          -106751991167d7h12m55s809ms 106751991167d7h12m55s808ms +1s --1s 1.5s 99999999999999999999999d), '', '1s ',
        '1s\n' ],
    datetime => [
        qw(2023-02-29 1900-02-29 2024-13-01 2024-00-01 2024-01-00 2024-01-32 2024-04-31 2024-1-1 2024-01-01T24:00:00Z
          2024-01-01T00:60:00Z 2024-01-01T00:00:60Z 2024-01-01T00:00:00 2024-01-01T00:00:00.1Z 2024-01-01T00:00:00.1234Z
          2024-01-01T00:00:00+2400 2024-01-01T00:00:00+0060 2024-01-01T00:00:00+01:30 2024-01-01t00:00:00z -2024-01-01
          12024-01-01), '', '2024-01-01 ', '2024-01-01\n' ] );
my %made = ( 'e.json' => '[]' );
for my $good ( 1, 0 ) {
    my $texts = $good ? \%good : \%bad;
    for my $type ( sort keys %$texts ) {
        for my $text ( @{ $texts->{$type} } ) {
            my $name = ( $good ? 'good' : 'bad' ) . "-$type-" . keys %made;
            my $answer =
              $good
              ? '"allow", "reason": ["policy1"], "errors": []'
              : '"deny", "reason": [], "errors": ["policy0", "policy1"]';
            $made{"$name.cedar"} = "permit (principal, action, resource) when { $type(context.s) == 1 };\n"
              . qq{permit (principal, action, resource) when { $type(context.s) == $type("$text") };\n};
            my $json = $text =~ s{\\0}{\\u0000}r;
            $made{"$name.json"} =
              qq({"policies": "$name.cedar", "entities": "e.json", "requests": [{"description": "$name", "decision": $answer,)
              . qq( "principal": "U::\\"a\\"", "action": "Action::\\"a\\"", "resource": "R::\\"a\\"", "context": {"s": "$json"}}]});
        }
    }
}
my $made  = tree(%made);
my $cases = int( keys(%made) / 2 );
is( ctl( [ 'cedar', 'test', $made ] )->{out}, "$cases passed, 0 failed, 0 refused\n",
    'constructors take what they must, and no more' );
is( ctl( [ 'cedar', 'test', '--engine', 'opa', $made ], %opa )->{out}, "$cases passed, 0 failed, 0 refused\n",
    'OPA: the same' );

# The engine checks types when it loads a module, and Cedar when it evaluates a policy: the module must load.
my $types = tree(
    'p.cedar' => join(
        '',
        map {"permit (principal, action, resource) when { $_ };\n"} (
            '!1', '![]', '!{a: 1}', '!ip("::1")', '!"a"', '[] != [] || !User::"a"', '[]', '1 + "a" == 2', '"a" < true',
            '1 in []',         '1 is User',
            '1 has a',         '[] like "*"', '(1).contains(2)', '("a").isIpv4()', 'if [] then true else true',
            'ip(1) == ip([])', '-"a" == 1',   '[1].hasTag("t")' ) ),
    'e.json' => '[]',
    'r.json' => '{"principal": "U::\"a\"", "action": "Action::\"a\"", "resource": "R::\"a\"", "context": {}}' );
my @typed = map { ( "--$_->[0]", "$types/$_->[1]" ) } [ policies => 'p.cedar' ], [ entities => 'e.json' ],
  [ request => 'r.json' ];
my $errors = ctl_is( 0, [ 'cedar', 'authorize', @typed ], 'wrong types' )->{out};
is( () = $errors =~ /policy\d+/g, 19, 'each policy with an operand of a wrong type errors' );
is( ctl_is( 0, [ 'cedar', 'authorize', '--engine=opa', @typed ], 'wrong types by OPA', %opa )->{out},
    $errors, 'OPA: the same, and the types of a module are not checked when it is loaded' );

# Long chains are no nesting for Cedar; the engine parses calls, and walks through rules, by recursion.
my $chained = tree(
        'p.cedar' => 'permit (principal, action, resource) when { '
      . join( ' + ', ('context.n') x 1000 )
      . ' == 1000 && '
      . join( ' && ', ('context.t') x 1000 ) . ' && ('
      . join( ' || ', ('context.f') x 1000, 'context.t', 'context.none' ) . ') } '
      . ( 'when { context.t } unless { context.f } ' x 300 ) . ';'
      . 'permit (principal, action, resource) when { '
      . join( ' && ', ('context.t') x 250, 'context.none' ) . ' };'
      . 'permit (principal, action, resource) when { '
      . join( ' && ', ('context.t') x 250, 'context.f', 'context.none' ) . ' };'
      . 'permit (principal, action, resource) when { '
      . join( ' - ', (1) x 250 )
      . ' == -248 };',
    'e.json' => '[]',
    'r.json' =>
      '{"principal": "U::\"a\"", "action": "Action::\"a\"", "resource": "R::\"a\"", "context": {"n": 1, "t": true, "f": false}}'
);
for my $engine (qw(builtin opa)) {
    is( ctl_is(
            0,
            [   'cedar', 'authorize', "--engine=$engine",
                map { ( "--$_->[0]", "$chained/$_->[1]" ) } [ policies => 'p.cedar' ],
                [ entities => 'e.json' ], [ request => 'r.json' ] ],
            "long chains, $engine",
            %opa )->{out},
        qq({"decision":"allow","reason":["policy0","policy3"],"errors":["policy1"]}\n),
        "$engine: chains of thousands of operands" );
}

like(
    ctl_is( 0, [ 'cedar', 'compile', "$dir/p.cedar" ], 'compile' )->{out},
    qr{^package\ svc\.cedar\.rule\n.*^\#\ line\ 1\n.*^\#\ line\ 3\n}msx, 'the module has the lines of the policies' );
my $sample = Authz::Path::source('etc/policy/tests_cedar');
my ($module) =
  ctl_is( 0, [ 'cedar', 'compile', "$sample/effect.cedar" ], 'compile the sample' )->{out} =~ /\n(\n.*)\z/s;
open my $kept, '<', "$sample/effect_module.rego" or die "$sample: $!";
is( join( '', <$kept> ) =~ /\n(\n.*)\npath := "acme\/effect\.cedar"\n\z/s ? $1 : undef,
    $module, 'the module of the tests of policy is the one that is made of its rules' );
like(
    ctl_is( 1, [ 'cedar', 'compile', "$dir/mimic.cedar" ], 'compile what has no Rego' )->{err},
    qr{mimic\.cedar:2:19: a record with the member `__entity` cannot be compiled},
    'what cannot be compiled is refused with line and column' );
ctl_is( 64, [ 'cedar', 'test', '--engine', 'wasm', $vectors ], 'another engine is refused' );
ctl_is(
    69, [ 'cedar', 'test', '--engine', 'opa', $vectors ], 'an engine that does not exist',
    env => { SVC_CONFIG => '/dev/null', AUTHZ_OPA => '/nonexistent/opa' } );

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

# What a change of a policy can reach (policy.md I7): an entrypoint whose functions and look-ups are equal on both sides answers
# alike. Small policies show what counts as equal; then random questions to the shipped policy with other rows and rules are put
# to both sides, and those that are called unreached must have the same answers.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path      ();
use Authz::Process   ();
use Authz::Questions ();
use Authz::Web       ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir  = Authz::Process::directory();

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 120 * Authz::Process::patience(), command => \@command );
    die "$name: $text" if $status != 0;
    return $text;
}

# Compile a policy to a plan in a file of this name.
sub plan_of {
    my ( $file, $entrypoints, @source ) = @_;
    run('opa', Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz", map( { ( '-e', $_ ) } @$entrypoints ),
        @source );
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    rename "$dir/plan.json", "$dir/$file" or die "$file: $!";
    return "$dir/$file";
}

sub ask {
    my ( $one, $other, @line ) = @_;
    Authz::Web::write_file( "$dir/lines", join '', map {"$_\n"} @line );
    return map { $json->decode($_) } split /\n/,
      run(
        'plans', 'sh',   '-c', 'exec "$0" "$1" "$2" <"$3" 2>/dev/null', Authz::Path::program('t/rego/plans'),
        $one,    $other, "$dir/lines" );
}

# ---- small policies

my $p = "package p\n\n";
my $q = "package q\n\nr := input.n + 1\n";

# Modules, data; modules, data of the other side; unreached.
my @cases = (
    [ 'the same'                     => [ $p . 'r := 1' ], {}, [ $p . 'r := 1' ],   {}, 1 ],
    [ 'another constant'             => [ $p . 'r := 1' ], {}, [ $p . 'r := 2' ],   {}, 0 ],
    [ 'another spelling of a number' => [ $p . 'r := 1' ], {}, [ $p . 'r := 1.0' ], {}, 0 ],
    [   'other names and places' => [ $p . 'r := f(1)' . "\n\nf(a) := a" ], {}, [ $p . "\n\ng(b) := b\n\nr := g(1)" ],
        {},                                                                     1 ],
    [ 'a rule that is not reached' => [ $p . 'r := 1', $q ],    {}, [ $p . 'r := 1', $q =~ s/1/2/r ],        {}, 1 ],
    [ 'a rule that is reached' => [ $p . 'r := data.q.r', $q ], {}, [ $p . 'r := data.q.r', $q =~ s/1/2/r ], {}, 0 ],

    # The planner uses the locals of one body again in the next: what one reads there says nothing of the other's look-ups.
    [   'another row, beside a scan and a negation' => [
            $p . join "\n",
            'r contains x if { some k, x in data.d.list; k > 0 }',
            'r contains 2 if { not data.d.empty == {} }',
            'r contains 3 if { some y in data.d.other; y.a == data.d.c.e }' ],
        { d => { list => [1], z => 1 } },
        [   $p . join "\n",
            'r contains x if { some k, x in data.d.list; k > 0 }',
            'r contains 2 if { not data.d.empty == {} }',
            'r contains 3 if { some y in data.d.other; y.a == data.d.c.e }' ],
        { d => { list => [1], z => 2 } },
        1 ],
    [   '... and a row that the negation reads' => [ $p . 'r contains 2 if { not data.d.empty == {} }' ],
        { d => { empty => {} } },
        [ $p . 'r contains 2 if { not data.d.empty == {} }' ],
        { d => { empty => { a => 1 } } }, 0 ],
    [   '... and one that the scan reads' => [ $p . 'r contains x if { some k, x in data.d.list; k > 0 }' ],
        { d => { list => [ 1, 2 ] } },
        [ $p . 'r contains x if { some k, x in data.d.list; k > 0 }' ],
        { d => { list => [ 1, 3 ] } }, 0 ],
    [   'one more rule elsewhere' => [ $p . 'r := data.q.r', $q ], {},
        [ $p . 'r := data.q.r', $q, "package a\n\nr := 1" ], {}, 1 ],
    [ 'a builtin in place of another' => [ $p . 'r := upper("a")' ], {}, [ $p . 'r := lower("a")' ], {},            0 ],
    [ 'data that is looked up'        => [ $p . 'r := data.d.x' ], { d => { x => 1 } }, undef, { d => { x => 2 } }, 0 ],
    [   'data beside it' => [ $p . 'r := data.d.x' ], { d => { x => 1, y => 1 } }, undef, { d => { x => 1, y => 2 } }, 1
    ],
    [ 'data below it'          => [ $p . 'r := data.d' ], { d => { x => 1 } }, undef, { d => { x => 1, y => 2 } }, 0 ],
    [ 'data that is there now' => [ $p . 'r if data.d.x' ],       {}, undef, { d => { x => 1 } },  0 ],
    [ 'an object on the way'   => [ $p . 'r if not data.d.x.y' ], {}, undef, { d => { x => {} } }, 0 ],
    [   'a local with data' => [ $p . 'r := 1 if { a := data.d; a.x == 1 }' ], { d => { x => 1 } }, undef,
        { d => { x => 2 } },                                                                        0 ],
    [   'dynamic_lookup_is_reached' => [ $p . 'r := data.d[input.n]' ], { d => { x => 1, y => 1 } }, undef,
        { d => { x => 1, y => 2 } },                                                                 0 ],
    [   '... below the constant part' => [ $p . 'r := data.d.e[input.n]' ], { d => { e => {}, f => 1 } }, undef,
        { d => { e => {}, f => 2 } },                                                                     1 ],
    [ '... a scan'             => [ $p . 'r := [v | some v in data.d]' ], { d => [1] }, undef, { d => [ 1, 2 ] }, 0 ],
    [ '... data that is a key' => [ $p . 'r := input.o[data.k]' ],        { k => 'x' }, undef, { k => 'y' },      0 ],
    [   '... data that is an argument' => [ $p . 'r := f(data.d)' . "\n\nf(a) := a.x" ], { d => { x => 1 } }, undef,
        { d => { x => 2 } },                                                                                  0 ],
    [ '... data in a builtin' => [ $p . 'r := count(data.d)' ], { d => [] }, undef, { d => [1] }, 0 ],
    [   'a key that each call gives' => [ $p . 'r := f("x")' . "\n\nf(k) := data.d[k].v" ],
        { d => { x => { v => 1 }, y => 1 } }, undef, { d => { x => { v => 1 }, y => 2 } }, 1 ],
    [   '... through another function' => [ $p . 'r := g("x")' . "\n\ng(k) := f(k)\n\nf(k) := data.d[k]" ],
        { d => { x => 1, y => 1 } }, undef, { d => { x => 1, y => 2 } }, 1 ],
    [   '... but not the same' => [ $p . 'r := [f("x"), f("y")]' . "\n\nf(k) := data.d[k]" ],
        { d => { x => 1, y => 1 } }, undef, { d => { x => 1, y => 2 } }, 0 ],
    [   '... and changed' => [ $p . 'r := f("x")' . "\n\nf(k) := data.d[k]" ], { d => { x => 1 } }, undef,
        { d => { x => 2 } },                                                                        0 ],
    [   '... in two bodies' => [
                $p
              . 'r := f("x")'
              . "\n\nf(k) := data.d[k].v if {\n\ttrue\n} else := data.d[k].w if {\n\ttrue\n} else := {}" ],
        { d => {} },
        undef,
        { d => { y => 1 } },
        1 ],
    [   '... of which one is changed' => [
                $p
              . 'r := f("x")'
              . "\n\nf(k) := data.d[k].v if {\n\ttrue\n} else := data.d[k].w if {\n\ttrue\n} else := {}" ],
        { d => { x => { w => 1 } } },
        undef,
        { d => { x => { w => 2 } } },
        0 ],
    [ 'an index of an array' => [ $p . 'r := data.d["1"]' ], { d => [ 1, 2 ] }, undef, { d => [ 1, 3 ] }, 0 ],
    [   'data that is replaced' => [ $p . 'r := v if { v := s with data.d.x as 5 }' . "\n\ns := data.d.y" ],
        { d => { y => 1 } },
        undef, { d => { y => 2 } }, 0 ],
    [   'a rule that is called by name' => [ $p . 'r := data.q[input.rule]', $q . "s := 1\n" ], {},
        [ $p . 'r := data.q[input.rule]', $q . "s := 2\n" ], {}, 0 ],
    [   'rules and data under one name' => [ $p . 'r := data.q', $q ], { q => { z => 1 } }, undef, { q => { z => 2 } },
        0 ],
);
for my $case (@cases) {
    my ( $name, $modules, $data, $others, $other, $unreached ) = @$case;
    my @side = map {
        my ( $side, $list ) = @$_;
        my @file = map {"$dir/$side$_.rego"} 0 .. $#$list;
        Authz::Web::write_file( $file[$_], $list->[$_] ) for 0 .. $#$list;
        plan_of( "$side.json", ['p/r'], @file );
    } [ one => $modules ], [ other => $others // $modules ];
    my @question = map { $json->encode( { entrypoint => 'p/r', data => $data, other => $other, input => $_ } ) }
      { n => 'x', rule => 'r', o => { x => 1, y => 2 } }, { n => 'y', rule => 's' }, {};
    my @got  = ask( @side, @question );
    my $same = !grep { !$_->{same} } @got;
    ok( ( $got[0]{unreached} ? 1 : 0 ) == $unreached && ( $same || !$unreached ),
        "$name: " . ( $unreached ? 'unreached' : 'reached' ) ) or diag explain \@got;
}

# ---- the shipped policy

my $svc    = Authz::Path::source(qw(etc policy svc));
my @asked  = qw(issue introspect authzen authzen_batch gateway gateway_tools register admin);
my $source = Authz::Questions->new( Authz::Questions::fixture() );
my @rules  = (
    [ 'no rule'                   => undef ],
    [ 'a rule of the gateway'     => "package custom.gateway\n\ndeny contains \"no\" if input.arguments.a == 1\n" ],
    [ 'a rule of issuance'        => "package custom.issue\n\ndeny contains \"no\" if input.client.id == \"crm\"\n" ],
    [ 'a rule of access requests' => "package custom.authzen\n\nallow if input.authzen.action.name == \"read\"\n" ],
);
my $base = plan_of( 'base.json', [ map {"svc/decision/$_/result"} @asked ], $svc );
my %unreached;
for my $n ( 0 .. $#rules ) {
    my ( $name, $text ) = @{ $rules[$n] };
    Authz::Web::write_file( "$dir/custom.rego", $text // "package custom.none\n" );
    my $plan = plan_of( 'candidate.json', [ map {"svc/decision/$_/result"} @asked ], $svc, "$dir/custom.rego" );
    my @line;
    for my $world ( 1 .. 12 ) {    # fixed, so that a run does not fail by chance
        $source->seed( 100 * $n + $world );
        my ( $rows, $others ) = ( $source->rows, $source->rows );
        my %changed = map { ( $_ => $rows->{$_} ) } keys %$rows;
        my @path    = sort keys %$rows;
        my $path    = $path[ $world % @path ];
        $changed{$path} = $others->{$path} if exists $others->{$path};    # one row is another one
        my ( $data, $other ) = map {
            my $side = $_;
            '{"svc":{'
              . join( ',', map { '"' . s{\Asvc/}{}r . '":' . Authz::Questions::text( $side->{$_} ) } sort keys %$side )
              . '}}'
        } $rows, \%changed;
        for ( 1 .. 25 ) {
            my ( $entrypoint, $input ) = $source->ask;
            push @line, qq({"entrypoint":"svc/decision/$entrypoint/result","data":$data,"other":$other,"input":)
              . Authz::Questions::text($input) . '}';
        }
    }
    my @got   = ask( $base, $plan, @line );
    my @wrong = grep { $got[$_]{unreached} && !$got[$_]{same} } 0 .. $#got;
    is( scalar @got, scalar @line, "$name: all are answered" );
    ok( !@wrong, "unreached_equals_evaluated: $name" ) or diag "$line[ $wrong[0] ]\n", explain $got[ $wrong[0] ];
    for my $i ( 0 .. $#got ) {
        my ($entrypoint) = $line[$i] =~ m{svc/decision/(\w+)/};
        $unreached{$name}{$entrypoint}++ if $got[$i]{unreached};
    }
}
ok( $unreached{'a rule of the gateway'}{issue},          'a rule of the gateway reaches no issuance' );
ok( $unreached{'a rule of issuance'}{gateway},           '... and the reverse' );
ok( !$unreached{'a rule of issuance'}{issue},            'a rule of issuance reaches each issuance' );
ok( !$unreached{'a rule of the gateway'}{gateway_tools}, 'a rule of the gateway reaches lists of tools' );
note explain \%unreached;

done_testing();

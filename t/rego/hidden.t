# Values that a stored question lacks (policy.md I10): the machine says whether an answer depends on one. What it calls exact must
# be the answer whatever the value is, so each rule is asked again with values of every type in its place.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $json   = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir    = Authz::Process::directory();
my $hidden = { '(hidden)' => JSON::PP::true };

# Rules of package h about the input {a: {x: hidden, y: 5, in: {z: 1}}, list: [1, 2]}; the answer where it is exact.
my @rules = (
    [ 'a known member beside it'                    => 'NAME := input.a.y',                       5 ],
    [ 'a member that is not there'                  => 'NAME := "none" if not input.a.absent',    'none' ],
    [ 'an object within what contains it'           => 'NAME := input.a.in.z',                    1 ],
    [ 'the names of what contains it'               => 'NAME := [k | some k, _ in input.a]',      [qw(in x y)] ],
    [ 'what contains it as a local'                 => 'NAME := 1 if { y := input.a; y.y == 5 }', 1 ],
    [ 'what contains it as an argument'             => 'NAME := f(input.a)',                      5 ],
    [ 'the value as an argument that is not read'   => 'NAME := g(input.a.x)',                    7 ],
    [ 'an object with it, of which another is read' => 'NAME := o.k if { o := {"v": input.a.x, "k": 2} }',  2 ],
    [ 'another member is replaced'                  => 'NAME := v if { v := z with input.a.z as 2 }',       2 ],
    [ 'the value is replaced'                       => 'NAME := v if { v := x with input.a.x as 3 }',       3 ],
    [ 'a choice that does not ask for it'           => 'NAME := 1 if { input.a.y == 5 } else := input.a.x', 1 ],
    [ 'the value is the answer'                     => 'NAME := input.a.x' ],
    [ 'what contains it is the answer'              => 'NAME := input.a' ],
    [ 'an answer that contains it'                  => 'NAME := {"v": [input.a.x]}' ],
    [ 'whether it is true'                          => 'NAME if input.a.x' ],
    [ 'whether it is not true'                      => 'NAME if not input.a.x' ],
    [ 'a comparison'                                => 'NAME if input.a.x == 1' ],
    [ 'a comparison of what contains it'            => 'NAME if input.a != {}' ],
    [ 'a builtin with it'                           => 'NAME if is_string(input.a.x)' ],
    [ 'a builtin with what contains it'             => 'NAME := count(input.a)' ],
    [ 'an item of a set'                            => 'NAME contains input.a.x' ],
    [ 'a key'                                       => 'NAME := {input.a.x: 1}' ],
    [ 'an item of a comprehension'                  => 'NAME := {v | v := input.a.x}' ],
    [ 'a member of it'                              => 'NAME := 1 if input.a.x.deep' ],
    [ 'a scan of it'                                => 'NAME := 1 if { some v in input.a.x; v > 0 }' ],
    [ 'a look-up by it'                             => 'NAME := input.list[input.a.x]' ],
    [ 'a member is put into it'                     => 'NAME := v if { v := x with input.a.x.z as 2 }' ],
    [ 'what contains it is scanned, and compared'   => 'NAME := [k | some k, v in input.a; v == 5]' ],
    [ 'the text of what contains it'                => 'NAME := json.marshal(input)' ],
    [ 'an argument that is compared'                => 'NAME := h(input.a.x)' ],
    [ 'two values of one rule'                      => "NAME := input.a.x if input.list\n\nNAME := 1 if input.a.y" ],
    [ 'a value that decides which rule is asked'    => 'NAME := {"s": 1}[input.a.x]' ],
);
my $module = "package h\n\nf(a) := a.y\n\ng(a) := 7\n\nh(a) := 1 if a == 1\n\nx := input.a.x\n\nz := input.a.z\n\n";
$module .= $rules[$_][1] =~ s/NAME/r$_/gr . "\n\n" for 0 .. $#rules;
Authz::Web::write_file( "$dir/h.rego", $module );

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 120 * Authz::Process::patience(), command => \@command );
    die "$name: $text" if $status != 0;
    return $text;
}

sub plan_of {
    my ( $entrypoints, @source ) = @_;
    run('opa', Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz", map( { ( '-e', $_ ) } @$entrypoints ),
        @source );
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    return "$dir/plan.json";
}

# The outcomes of some questions.
sub ask {
    my ( $plan, @question ) = @_;
    Authz::Web::write_file( "$dir/lines", join '', map { $json->encode($_) . "\n" } @question );
    return map { $json->decode($_) } split /\n/,
      run(
        'plans', 'sh', '-c', 'exec "$0" "$1" <"$2" 2>/dev/null', Authz::Path::program('t/rego/plans'), $plan,
        "$dir/lines" );
}

sub input { my ($x) = @_; return { a => { x => $x, y => 5, in => { z => 1 } }, list => [ 1, 2 ] } }

my @any = (
    undef, JSON::PP::true, JSON::PP::false, 0, 1, 's', 'y', [], [1], [ 1, [2] ], {}, { deep => 1 },
    { z => { z => 1 } } );
my $plan = plan_of( [ map {"h/r$_"} 0 .. $#rules ], "$dir/h.rego" );
my @got  = ask( $plan, map { { entrypoint => "h/r$_", input => input($hidden) } } 0 .. $#rules );
for my $i ( 0 .. $#rules ) {
    my ( $name, undef, $exact ) = @{ $rules[$i] };
    my $case = defined $exact ? "hidden_untouched_exact: $name" : "hidden_touched: $name";
    is( $got[$i]{outcome}, defined $exact ? 'done' : 'touched', $case ) || diag explain $got[$i];
    next if !defined $exact;
    my @answer = map { $_->{value} } $got[$i], ask( $plan, map { { entrypoint => "h/r$i", input => input($_) } } @any );
    is_deeply( \@answer, [ ($exact) x ( 1 + @any ) ], '... which is the answer for any value' );
}

# ---- the shipped rules

my @asked = map { { entrypoint => 'svc/decision/gateway/result', %$_ } } map {
    {   data  => { svc => {} },
        input => {
            evaluation => 'gateway', resource => { status => $_ }, token => { scopes => ['read'] },
            action     => { kind => 'http', path => $hidden, requiredScopes => ['read'] },
            arguments  => { path => { id => $hidden }, query => {} } } }
} qw(active disabled);
my @shipped = ask( plan_of( ['svc/decision/gateway/result'], Authz::Path::source(qw(etc policy svc)) ), @asked );
is_deeply(
    [ map { [ $_->{outcome}, $_->{value}{allow} ? 1 : 0 ] } @shipped ],
    [ [ 'done', 1 ], [ 'done', 0 ] ],
    'the shipped rules of the gateway read neither the arguments nor the path' ) || diag explain \@shipped;

done_testing();

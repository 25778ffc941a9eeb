package Authz::Differential;

# This module makes random modules of Rego whose rules read an input, and random inputs for them, for t/rego/differential.t.
#   my $source = Authz::Differential->new($seed);
#   my $rule   = $source->rule(7);     {name => 'r7', kind => 'concat', text => '...', fields => {...}}: a rule named r7, which reads
#                                      members of the input that begin with r7_
#   my $fields = $source->fields($rule)   JSON texts of these members
#   $source->base                      a base document that the rules read as data.base, as JSON
#   Authz::Differential::module(@rule) the module of some rules
#   Authz::Differential::helpers()     more modules that they read
#   $source->mutated( $text, 3 )       a module with three changes, which OPA may refuse
#
# A rule is a call of a builtin, or one of the language (Authz::Calls). Numbers come in by all ways: JSON, to_number(),
# json.unmarshal(), constants and arithmetic; sets and objects with any keys are made of lists.

use strict;
use warnings;

use Authz::Calls ();

# The part of the rules that are calls of builtins.
my $CALLS = 0.55;

sub _one_of { return $_[ rand @_ ] }

sub new {
    my ( $class, $seed ) = @_;
    srand $seed;
    return bless {}, $class;
}

# Return the place of a new member of the input, whose values are of a kind.
sub _field {
    my ( $rule, $kind ) = @_;
    my $name = "$rule->{name}_" . keys %{ $rule->{fields} };
    $rule->{fields}{$name} = $kind;
    return "input.$name";
}

# Return a list of the input as a set.
sub _set_of {
    my ( $rule, $kind ) = @_;
    my $item = 'e' . ++$rule->{items};
    return "{$item | some $item in " . _field( $rule, $kind ) . '}';
}

# Return a number that came in by one of the ways.
sub _number {
    my ( $rule, $kind ) = @_;
    my $way = rand;
    return _field( $rule, $kind )                                                                    if $way < 0.55;
    return 'to_number(' . _field( $rule, "text of $kind" ) . ')'                                     if $way < 0.7;
    return 'json.unmarshal(' . _field( $rule, "text of $kind" ) . ')'                                if $way < 0.8;
    return _field( $rule, $kind ) . ' ' . _one_of(qw(+ - * / %)) . ' ' . _field( $rule, $kind ) . '' if $way < 0.85;
    return Authz::Calls::argument_of($kind);
}

sub _value {
    my ($rule) = @_;
    my $way = rand;
    return _field( $rule, 'x' )                                            if $way < 0.55;
    return _set_of( $rule, 'a' )                                           if $way < 0.7;
    return '{p[0]: p[1] | some p in ' . _field( $rule, 'pairs' ) . '}'     if $way < 0.78;
    return _number( $rule, 'n' )                                           if $way < 0.88;
    return 'json.unmarshal(' . _field( $rule, 'J' ) . ')'                  if $way < 0.92;
    return '[' . _number( $rule, 'n' ) . ', ' . _field( $rule, 'x' ) . ']' if $way < 0.96;
    return '{"a": ' . _number( $rule, 'n' ) . ', "b": ' . _field( $rule, 'x' ) . '}';
}

# Make an argument of a kind that Authz::Calls names by a letter. Few are constants: a constant is the same for all inputs.
my %argument = (
    (   map {
            my $kind = $_;
            ( $kind => sub { _number( $_[0], $kind ) } )
        } qw(n i E Y B) ),
    (   map {
            my $kind = $_;
            ( $kind => sub { rand() < 0.4 ? _set_of( $_[0], $kind ) : _field( $_[0], $kind ) } )
        } qw(l C N I T K P) ),
    S => sub { _set_of( $_[0], 'a' ) },
    Z => sub { '{{y | some y in z} | some z in ' . _field( $_[0], 'lists' ) . '}' },
    H => sub { rand() < 0.2 ? '{p[0]: p[1] | some p in ' . _field( $_[0], 'pairs' ) . '}' : _field( $_[0], 'H' ) },
    o => sub { rand() < 0.2 ? '{p[0]: p[1] | some p in ' . _field( $_[0], 'pairs' ) . '}' : _field( $_[0], 'o' ) },
    x => \&_value );

sub _argument {
    my ( $rule, $letter, $plain ) = @_;
    return _field( $rule, $letter ) if $plain;
    my $odd = rand;
    return _value($rule)                      if $odd < 0.04;
    return Authz::Calls::argument_of($letter) if $odd < 0.08;
    return ( $argument{$letter} // sub { _field( $_[0], $letter ) } )->($rule);
}

my %deprecated = map  { ( $_ => 1 ) } qw(cast_array cast_set re_match net.cidr_overlap);
my @builtins   = grep { !$deprecated{$_} } Authz::Calls::names();

sub _call {
    my ( $rule, $depth ) = @_;
    my $name  = _one_of(@builtins);
    my $plain = $name =~ /\Anumbers[.]/;    # OPA itself knows no bound of these
    my @arg   = map { _argument( $rule, $_, $plain ) } Authz::Calls::letters_of($name);
    $rule->{kind} = $name;
    if ( $depth > 0 && !$plain && rand() < 0.1 ) {
        $arg[ rand @arg ] = _call( $rule, $depth - 1 );
        $rule->{kind} = $name;
    }
    return "[w | walk($arg[0], w)]"  if $name eq 'walk';
    return "($arg[0] $name $arg[1])" if $name =~ /\A\W/;
    return "$name(" . join( ', ', @arg ) . ')';
}

# The type is shown, so that a set is no array.
sub _call_rule {
    my ($rule) = @_;
    my $shown = _one_of(
        ('x') x 3, ('[type_name(x), x]') x 4, 'sprintf("%v", [x])', '[y | y := x[_]]', '{x, 1, "a"}', '{"k": x}',
        'json.marshal(x)', '[x, count(x)]', '[x == 1, x < 2, x]' );
    return "RULE := $shown if {\n\tx := " . _call( $rule, 2 ) . "\n}";
}

# Rules beside those of Authz::Calls. T is a text.
my @more = (
    [ 'base',    'RULE := data.base[T]' ],
    [ 'base',    'RULE := [[k, v] | some k, v in data.base; v != V]' ],
    [ 'base',    'RULE := [v | v := data.base[_][_]; v == V]' ],
    [ 'base',    'RULE := x if { x := data.base[T].a }' ],
    [ 'base',    'RULE := x if { x := data.base[S] with data.base.a as V }' ],
    [ 'base',    'RULE := data.base.list[N]' ],
    [ 'base',    'RULE := object.union(data.base, {T: V})' ],
    [ 'base',    'RULE := count(data.base) + count(V)' ],
    [ 'dynamic', 'RULE := data.dynamic[T].p' ],
    [ 'dynamic', 'RULE := [v | v := data.dynamic[_].p]' ],
    [ 'dynamic', 'RULE := [[k, v] | v := data.dynamic[k][_]]' ],
    [ 'dynamic', 'RULE := data.dynamic[T].q[S]' ],
    [ 'dynamic', 'RULE := x if { x := data.dynamic[T].p with input as V }' ],
    [ 'dynamic', 'RULE := data.dynamic' ],
    [ 'deep',    'RULE := [[a, b, c] | some a in V; some b in V; c := {a, b}; count(c) == 1]' ],
    [ 'deep',    "RULE contains x if { some x in V; not RULE_d[x] }\n\nRULE_d contains x if some x in V" ],
    [ 'deep',    'RULE := {k: count(v) | some k, v in V; is_array(v)}' ],
    [ 'deep',    'RULE := {a: b | some [a, b] in V}' ],
    [ 'deep',    'RULE if { some k; V[k] == V[k]; k != V }' ],
    [   'deep',
        "RULE := x if { x := RULE_e(V, V) } else := y if { y := RULE_e(V, S) }\n\nRULE_e(a, b) := [a, b] if a != b" ],
    [   'deep',
        "RULE := [RULE_t(N), RULE_t(N)]\n\nRULE_t(1) := \"one\"\n\nRULE_t(2) := \"two\"\n\nRULE_t(x) := x if x > 2" ],
    [ 'twins',      'RULE := json.marshal({N, N, N})' ],
    [ 'twins',      'RULE := json.marshal([x | some x in {[N], [N]}])' ],
    [ 'twins',      'RULE := {[N, V], [N, V]}' ],
    [ 'twins',      'RULE := {{"a": N}, {"a": N}}' ],
    [ 'twins',      'RULE := {N: "a"}[N]' ],
    [ 'twins',      'RULE := object.get({"a": N}, "a", 0) == N' ],
    [ 'twins',      'RULE := [x | x := [N, N][_]; x == N]' ],
    [ 'twins',      'RULE := sort({N, N, S} | {N, S})' ],
    [ 'twins',      'RULE := [{N, S} & {N, S}, {N, S} - {N, S}, union({{N}, {N}})]' ],
    [ 'twins',      'RULE := N in [N, N, N]' ],
    [ 'twins',      'RULE := object.union({"a": N}, {"a": N, "b": N})' ],
    [ 'twins',      'RULE := sprintf("%v %d %s", [N, N, V])' ],
    [ 'arithmetic', 'RULE := [N + N, N * N]' ],
    [ 'arithmetic', 'RULE := json.marshal([N - N, N / N])' ],
    [ 'arithmetic', 'RULE := N % N' ],
    [ 'arithmetic', 'RULE := [round(N), ceil(N), floor(N), abs(N)]' ],
    [ 'arithmetic', 'RULE := [sum([N, N]), product([N, N]), max([N, N]), min([N, N])]' ],
    [ 'arithmetic', 'RULE := to_number(sprintf("%v", [N]))' ],
    [ 'arithmetic', 'RULE := format_int(N, 10)' ],
    [ 'texts',      'RULE := [upper(T), lower(T), count(T), substring(T, 1, -1)]' ],
    [ 'texts',      'RULE := [T < T, T == T, concat(T, [T, T]), split(T, "")]' ],
    [ 'texts',      'RULE := [indexof(T, T), trim(T, T), replace(T, T, T), strings.reverse(T)]' ],
    [ 'texts',      'RULE := {T: 1, T: 1}' ],
    [ 'texts',      'RULE := sort([T, T, T, V])' ],
    [ 'texts',      'RULE := json.marshal({T: T})' ],
    [ 'texts',      'RULE := [startswith(T, T), endswith(T, T), contains(T, T), T in T]' ],
);

# V, S, N, O and T are values of the input or made of them; C and M are constants.
my %make = (
    V     => \&_value,
    S     => sub { _field( $_[0], 'small' ) },
    N     => sub { _number( $_[0], rand() < 0.5 ? 'i' : 'n' ) },
    O     => sub { _argument( $_[0], 'o' ) },
    F     => sub { _field( $_[0], 'x' ) },
    T     => sub { _field( $_[0], rand() < 0.6 ? 's' : 'z' ) },
    V_SET => sub { _argument( $_[0], 'S' ) },
    C     => sub { Authz::Calls::argument_of('small') },
    M     => sub { Authz::Calls::argument_of('n') } );

sub _language_rule {
    my ($rule) = @_;
    my ( $kind, $text ) = @{ rand() < 0.4 ? _one_of(@more) : Authz::Calls::rule_template() };
    $rule->{kind} = $kind;

    # OPA's planner leaves out a comprehension that is a whole expression, which its evaluator runs, conflicts included.
    $text =~ s/((?:\bif|\bnot|\{|;) )V(?=\n|\s*\z|\s*\}|;|\s+else)/$1F/g;
    my $places = qr/(?<![\w"])(V_SET|V|S|N|O|T|F|C|M)(?![\w"])/;
    $text =~ s/$places/$make{$1}->($rule)/ge;
    return $text;
}

sub rule {
    my ( $self, $number ) = @_;
    my $rule = { name => "r$number", fields => {} };
    my $text = rand() < $CALLS ? _call_rule($rule) : _language_rule($rule);
    $rule->{text} = $text =~ s/(?<![a-z])RULE/$rule->{name}/gr;
    return $rule;
}

# Return pairs of keys and values as JSON: the keys are any values, few of them equal.
sub _pairs {
    my %key = map { ( _one_of( qw(1 1.0 0 -0 true null "1" "a" "b" [1] [] 2 1e0), '{"a": 1}', '[1, "a"]' ) => 1 ) }
      1 .. 1 + int rand 3;
    return '[' . join( ', ', map { "[$_, " . Authz::Calls::json_of('x') . ']' } sort keys %key ) . ']';
}

sub _field_text {
    my ($kind) = @_;
    return Authz::Calls::json_of($kind)                      if $kind =~ /\A[Ry]\z/;
    return Authz::Calls::json_of( rand() < 0.3 ? 'n' : 'x' ) if rand() < 0.02;         # of another type
    return _pairs()                                          if $kind eq 'pairs';
    return '[' . join( ', ', map { Authz::Calls::json_of('a') } 1 .. int rand 4 ) . ']' if $kind eq 'lists';
    if ( my ($number) = $kind =~ /\Atext of (.)\z/ ) {
        return Authz::Calls::json_of('number text') if rand() < 0.3;
        return '"' . Authz::Calls::json_of($number) . '"';
    }
    return Authz::Calls::json_of($kind);
}

sub fields {
    my ( $self, $rule ) = @_;
    return join ',', map { "\"$_\":" . _field_text( $rule->{fields}{$_} ) } sort keys %{ $rule->{fields} };
}

sub base {
    return
        '{'
      . join( ', ', map { "\"$_\": " . Authz::Calls::json_of('x') } qw(a b c 0 1) )
      . ', "list": '
      . Authz::Calls::json_of('a') . '}';
}

sub module {
    return "package calls\n\n" . join "\n\n", map { $_->{text} } @_;
}

sub helpers {
    return (
        a => "package dynamic.a\n\np := input\n\nq contains x if some x in [1, 1.0, \"a\", null]\n",
        b => "package dynamic.b\n\np contains k if some k, _ in input\n\nq[k] := 1 if some k in [1, \"a\", [1]]\n" );
}

# ---- mutated rules

# Operators, builtins and numbers that stand in for one another.
my @alike = (
    [ ' == ', ' != ', ' in ' ],
    [ ' < ',  ' <= ', ' > ', ' >= ' ],
    [ ' + ',  ' - ',  ' * ', ' / ', ' % ' ],
    [ map {"$_("} qw(startswith endswith contains) ],
    [ map {"$_("} qw(count sum max min) ],
    [ map {"$_("} qw(lower upper trim_space) ],
    [ map {"$_("} qw(is_string is_number is_array is_object is_set) ],
    [ ' & ', ' | ', ' - ' ],
    [qw(true false null)] );
my @numbers = qw(0 1 -1 1.0 1e0 2 0.5 9007199254740993 9223372036854775807 9223372036854775808 1e19 -0);

# Change one thing in one of the lines of a rule. Return nothing if there is nothing to change.
sub _mutated_line {
    my ( $line, @word ) = @_;
    my $way = rand;
    if ( $way < 0.25 ) {
        my $list = _one_of(@alike);
        my @here = grep { index( $line, $_ ) >= 0 } @$list;
        return if !@here;
        my ( $from, $to ) = ( _one_of(@here), _one_of(@$list) );
        return $line =~ s/\Q$from\E/$to/r;
    }
    return $line =~ s/\A\t\K/not /r if $way < 0.35 && $line =~ /\A\t\w/ && $line !~ /\A\tnot|:=/;
    return $line =~ s/\A\t+\Knot //r                                if $way < 0.4;
    return $line =~ s/(?<![\w."])\d+(?![\w."])/_one_of(@numbers)/er if $way < 0.5;
    return $line =~ s/"[^"]*"/_one_of(@word)/er                     if $way < 0.65;
    return $line =~ s/\A(\t.*)\z/\t# $1/r                           if $way < 0.8;
    return $line =~ s/(\w)\.\w+\b(?!\()/$1/r                        if $way < 0.9;
    return $line =~ s/([\w.]+(?:\[\w+\])?) (==|in) /to_number($1) $2 /r;
}

# Return the text of a module with some of its lines changed.
sub mutated {
    my ( $self, $text, $changes ) = @_;
    my @line = split /\n/, $text;
    my @word = $text =~ /("[^"\\\n]*")/g;
    for ( 1 .. 40 ) {
        last if $changes == 0;
        my $at = int rand @line;
        next if $line[$at] =~ /\A(?:package|import|#|$)/ || !@word;
        my $new = _mutated_line( $line[$at], @word ) // next;
        next if $new eq $line[$at];
        $line[$at] = $new;
        $changes--;
    }
    return join( "\n", @line ) . "\n";
}

1;

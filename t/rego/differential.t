# The machine of fcgi/rego against OPA, question by question: random modules with random inputs (Authz::Differential). Both get the
# same rules and inputs; the machine may leave a question to OPA, but never answers otherwise, to the spelling of a number
# (decisions.md "The engines must not differ"). Each state of the machine and of the generator has a seed of its own, which a run
# prints, so that a run that failed fails again; AUTHZ_REGO_SEED=new draws one. A round has the seed of the run and its number,
# so that AUTHZ_REGO_SEED of a difference repeats it as the first round.
use strict;
use warnings;

use Digest::SHA ();
use HTTP::Tiny  ();
use JSON::PP    ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Calls        ();
use Authz::Differential ();
use Authz::Path         ();
use Authz::Process      ();
use Authz::Questions    ();
use Authz::Web          ();

# Answers to compare: contrib/check --differential N is a long run.
my $answers = $ENV{AUTHZ_DIFFERENTIAL} // 10_000;
my $seed    = $ENV{AUTHZ_REGO_SEED}    // seed_of_sources();
$seed = ( int( time * 1000 ) ^ $$ << 20 ) % 1_000_000_000 if $seed eq 'new';
diag "AUTHZ_REGO_SEED=$seed";

# Rules of a module, and questions that each of them gets.
my $RULES     = 50;
my $QUESTIONS = 160;

# Questions to a rule of which one is an error: they are asked in parts.
my $DOUBTFUL = 24;

# A mutated policy gets so many questions, a part of them with the same rows; one round in so many is of one.
my $ASKED     = 600;
my $SAME_ROWS = 100;
my $SHIPPED   = 3;

# Rounds between two lines about the state of a long run.
my $TELL = 5;

# Return a number below 2^28 that another machine, builtin or generator changes.
sub seed_of_sources {
    my $sha = Digest::SHA->new(256);
    $sha->addfile($_)
      for sort glob join ' ',
      map { Authz::Path::source( split m{/} ) }
      qw(fcgi/rego/*.[ch] fcgi/rego/builtin/*.[ch] t/lib/Authz/Differential.pm t/lib/Authz/Questions.pm);
    return hex substr $sha->hexdigest, 0, 7;
}

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir  = Authz::Process::directory();
my ( %count, %left, %kind, @different, @again );
our $opa;

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 120 * Authz::Process::patience(), command => \@command );
    die "$name: " . substr $text, 0, 2000 if $status != 0;
    return $text;
}

# ---- OPA

# Start OPA with some modules.
sub start_opa {
    my (@source) = @_;
    my $port     = Authz::Web::free_port();
    my $base     = "http://127.0.0.1:$port";
    my $new      = {
        base    => "$base/v1",
        http    => HTTP::Tiny->new( timeout => 30 * Authz::Process::patience() ),
        process => Authz::Process->start(
            name    => 'opa', env => { GOGC => 400, GOMEMLIMIT => '512MiB', GOMAXPROCS => 1 },
            command => [
                Authz::Path::opa(),
                qw(run --server --log-level error --skip-version-check --optimize-store-for-read-speed --max-errors 100),
                '--addr', "127.0.0.1:$port", @source ] ) };
    defined Authz::Process::until_true( 60, sub { $new->{http}->get("$base/health")->{success} } )
      or die "OPA does not start\n";
    return $new;
}

# Start OPA for the random modules.
sub start_random {
    $opa = start_opa();
    my %helper = Authz::Differential::helpers();
    for my $name ( sort keys %helper ) {
        put_opa( "policies/dynamic_$name", $helper{$name} );
        Authz::Web::write_file( "$dir/dynamic_$name.rego", $helper{$name} );
    }
    return;
}

sub send_opa {
    my ( $method, $path, $text ) = @_;
    return $opa->{http}->request( $method, "$opa->{base}/$path", { content => $text } );
}

sub put_opa {
    my ( $path, $text ) = @_;
    my $answer = send_opa( PUT => $path, $text );
    die "OPA refuses $path: $answer->{status} $answer->{content}\n" if !$answer->{success};
    return;
}

sub errors_of {
    my ($text) = @_;
    my $answer = eval { $json->decode($text) };
    return @{ ref $answer eq "HASH" ? $answer->{errors} // [] : [] };
}

# Return the rules that OPA compiles; it has them then.
sub put_rules {
    my (@rule) = @_;
    for ( 1 .. 20 ) {
        my $answer = send_opa( PUT => 'policies/calls', Authz::Differential::module(@rule) );
        return @rule if $answer->{success};
        my $row   = 3;
        my @begin = map {
            my $at = $row;
            $row += 2 + ( $_->{text} =~ tr/\n// );
            $at
        } @rule;
        my %refused;
        for my $error ( errors_of( $answer->{content} ) ) {
            my $at = $error->{location}{row} // next;
            my ($i) = grep { $begin[$_] <= $at } reverse 0 .. $#rule;
            next                                               if !defined $i;
            note "refused: $error->{message}: $rule[$i]{text}" if $ENV{AUTHZ_REGO_REFUSED};
            $refused{$i} = 1;
        }
        die "OPA refuses the rules: $answer->{content}\n" if !%refused;
        $count{refused} += keys %refused;
        @rule = @rule[ grep { !$refused{$_} } 0 .. $#rule ];
    }
    return @rule;
}

# Return OPA's answers to some questions to a rule, each as JSON: [value], [] for undefined, or null for an error. An error ends
# a whole request, so that it is halved.
sub answers_of {
    my ( $name, $from, $to ) = @_;
    my $answer = send_opa( POST => "data/ask/$name", qq({"input":{"from":$from,"to":$to}}) );
    return $1     if $answer->{success} && $answer->{content} =~ /\A\{"result":\[(.*)\]\}\s*\z/s;
    return 'null' if $from == $to       && $answer->{status} == 500;
    die { late => $name, why => $answer->{content} } if $answer->{status} != 500;
    if ( $to - $from >= $DOUBTFUL ) { $to = $from + $DOUBTFUL - 1 }
    my $middle = int( ( $from + $to ) / 2 );
    return answers_of( $name, $from, $middle ) . ',' . answers_of( $name, $middle + 1, $to );
}

sub ask_module {
    my (@rule) = @_;
    return "package ask\n\n" . join "\n", map {
            "$_->{name} := [[v | v := data.calls.$_->{name} with input as data.q[i]] | "
          . 'some i in numbers.range(input.from, input.to)]'
    } @rule;
}

# ---- shrinking

# A number is a text with this mark, because Perl changes its spelling.
my $NUMBER = "\x{e001}";

sub decoded {
    my ($text) = @_;
    $text =~ s/("(?:[^"\\]|\\.)*+")|(-?\d[-+.\deE]*)/$1 \/\/ "\"\\ue001$2\""/ge;
    return $json->decode($text);
}
sub encoded { my ($value) = @_; return $json->encode($value) =~ s/"\xee\x80\x81([^"]*)"/$1/gr }

# Return what is one step smaller than a value.
sub smaller {
    my ($value) = @_;
    if ( ref $value eq 'HASH' ) {
        my @made;
        for my $name ( sort keys %$value ) {
            my %rest = %$value;
            my $part = delete $rest{$name};
            push @made, {%rest}, map {
                { %rest, $name => $_ }
            } smaller($part);
        }
        return @made;
    }
    if ( ref $value eq 'ARRAY' ) {
        my @made;
        for my $i ( 0 .. $#$value ) {
            my @before = @$value[ 0 .. $i - 1 ];
            my @after  = @$value[ $i + 1 .. $#$value ];
            push @made, [ @before, @after ], map { [ @before, $_, @after ] } smaller( $value->[$i] );
        }
        return @made;
    }
    return                                             if ref $value || !defined $value || $value eq '';
    return map {"$NUMBER$_"} grep { $_ ne $1 } qw(0 1) if $value =~ /\A$NUMBER(.*)/s;
    my $half = int( length($value) / 2 );
    return ( '', substr( $value, 0, $half ), substr( $value, $half ), substr( $value, 1 ) );
}

# Return the texts of a rule with one of its parts alone.
sub smaller_rules {
    my ($rule) = @_;
    my ( $before, $list, $after ) = $rule->{text} =~ /\A(\w+ := )\[([^\n|]*)\]((?: if |\n).*|)\z/s or return;
    my ( $depth, @part ) = ( 0, '' );
    for my $piece ( split /("(?:[^"\\]|\\.)*"|[\[\](){},])/, $list ) {
        if ( $piece eq ',' && $depth == 0 ) { push @part, ''; next }
        $depth += $piece =~ /\A[\[({]\z/ ? 1 : $piece =~ /\A[\])}]\z/ ? -1 : 0;
        $part[-1] .= $piece;
    }
    return @part > 1
      ? map {
        { %$rule, text => "$before$_$after" }
      } @part
      : ();
}

# Make a difference smaller, as long as it stays one: return its rule, the input and the line that compare printed.
sub shrunk {
    my ( $base, $rule, $input, $line ) = @_;
    my %mine  = map { ( $_ => 1 ) } keys %{ $rule->{fields} };
    my $all   = decoded($input);
    my $value = { map { ( $_ => $all->{$_} ) } grep { $mine{$_} } keys %$all };
    for my $less ( smaller_rules($rule) ) {
        put_rules($less);
        my ( undef, $still ) = compare( $base, [ encoded($value) ], $less );
        if ($still) { ( $rule, $line ) = ( $less, $still ); last }
    }
    put_rules($rule);
    for ( 1 .. 20 ) {
        my @try = map { encoded($_) } smaller($value);
        last if !@try;
        my ( undef, @still ) = compare( $base, \@try, $rule );
        my ($best) = sort { length $a->[0] <=> length $b->[0] }
          map { [ $try[ ( /"question":(\d+)/ ? $1 : 0 ) ], $_ ] } @still;
        last if !$best;
        ( $value, $line ) = ( decoded( $best->[0] ), $best->[1] );
    }
    return ( $rule, encoded($value), $line );
}

# ---- both

# Let both engines answer; return the counts and the differences.
sub compare {
    my ( $base, $inputs, @rule ) = @_;
    put_opa( 'policies/ask', ask_module(@rule) );
    put_opa( 'data/q',       '[' . join( ',', @$inputs ) . ']' );
    put_opa( 'data/base',    $base );
    my @want = map { "\"$_->{name}\":[" . answers_of( $_->{name}, 0, $#$inputs ) . ']' } @rule;
    Authz::Web::write_file( "$dir/answers.json", '{"result":{' . join( ',', @want ) . '}}' );
    my @asked = map {qq({"name":"$_->{name}","entrypoint":"calls/$_->{name}"})} @rule;
    Authz::Web::write_file(
        "$dir/questions.json",
        "{\"data\":{\"base\":$base},\"asked\":[" . join( ',', @asked ) . '],"inputs":[' . join( ',', @$inputs ) . ']}'
    );
    Authz::Web::write_file( "$dir/calls.rego", Authz::Differential::module(@rule) );
    run('opa build', Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz",
        map( { ( '-e', "calls/$_->{name}" ) } @rule ),
        map {"$dir/$_.rego"} qw(calls dynamic_a dynamic_b) );
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    return compared();
}

sub compared {
    note_kinds();
    my @line = split /\n/, run(
        'compare', Authz::Path::program('t/rego/compare'),
        map {"$dir/$_.json"} qw(plan questions answers) );
    my $counts = $json->decode( pop @line );
    return ( $counts, @line );
}

# Note a difference of the round with this seed.
sub differs {
    my ( $at, $text ) = @_;
    push @different, substr "AUTHZ_REGO_SEED=$at, $text", 0, 6000;
    diag "differs: $different[-1]";
    push @again, "contrib/check --differential 1 --seed $at" if !@again || $again[-1] !~ / $at\z/;
    return;
}

sub random_round {
    my ($at)   = @_;
    my $source = Authz::Differential->new($at);
    my @rule   = map { $source->rule($_) } 0 .. $RULES - 1;
    my $base   = $source->base;
    @rule = put_rules(@rule);
    my @inputs = map {
        '{' . join( ',', grep {length} map { $source->fields($_) } @rule ) . '}'
    } 1 .. $QUESTIONS;
    my ( $counts, @found );

    while ( !$counts ) {
        ( $counts, @found ) = eval { compare( $base, \@inputs, @rule ) };
        next if $counts;
        if ( !ref $@ ) {
            diag "AUTHZ_REGO_SEED=$at is left out: $@";
            $count{skipped}++;
            return {};
        }
        my $late = $@->{late};
        my ($rule) = grep { $_->{name} eq $late } @rule;
        diag "AUTHZ_REGO_SEED=$at: OPA gives no answer to $rule->{text}: $@->{why}";
        $count{late}++;
        @rule = grep { $_ != $rule } @rule;
        $opa->{process}->stop('KILL');
        start_random();
        put_rules(@rule);
    }
    my %rule = map { ( $_->{name} => $_ ) } @rule;
    $kind{ $_->{kind} }++ for @rule;
    my %shown;
    for my $line (@found) {
        my ( $name, $number ) = $line =~ /\A\{"rule":"(\w+)","question":(\d+)/ or die "difference $line\n";
        next if $shown{$name}++;    # one of each rule
        my ( $rule, $input, $less ) = eval { shrunk( $base, $rule{$name}, $inputs[$number], $line ) };
        if ( !$rule ) {
            ( $rule, $input, $less ) = ( $rule{$name}, $inputs[$number], $line );
            $opa->{process}->stop('KILL');
            start_random();
        }
        differs( $at, "$rule->{text}\n  $input\n  $less" );
    }
    return $counts;
}

# ---- what differed once

my @once = (
    [ 'to_number(input.a)',                                               '{"a":"1e400"}' ],
    [ '["read", "write"][to_number(input.a)]',                            '{"a":"1e0"}' ],
    [ 'json.marshal(to_number(input.a) / to_number(input.b))',            '{"a":"0","b":"-5"}' ],
    [ 'net.cidr_contains_matches(input.a, input.b)',                      '{"a":{"x":1},"b":[]}' ],
    [ '{x | some x in input.a}[to_number(input.b)]',                      '{"a":[1,2],"b":"1.0"}' ],
    [ '{x | some x in input.a} & {x | some x in input.b}',                '{"a":[0,2],"b":[-0,2]}' ],
    [ 'intersection({{x | some x in input.a}, {x | some x in input.b}})', '{"a":[1.0],"b":[1]}' ],
    [ '[x | some x in {input.a, input.b}]',                               '{"a":2,"b":1}' ],
    [ '[x | some x in {[10], [to_number(input.a)]}]',                     '{"a":"5"}' ],
    [ 'count([x | some x in {input.a, input.b}])',                        '{"a":1,"b":1}' ],
    [ '[k | some k, _ in {input.a: 1, input.b: 2}]',                      '{"a":"b","b":"a"}' ],
    [ '{input.a, input.b}',                                               '{"a":-0,"b":0}' ],
    [ '{x: y | some x in [1]; some y in [input.a, input.b]}',             '{"a":1.0,"b":1}' ],
    [ '[once_value(input.a), once_value(input.b)]',                       '{"a":1,"b":1.0}' ],
    [ 'once_two(input.a, input.b)',                                       '{"a":1,"b":1.0}' ],
    [ '[max([input.a, input.b]), min([input.a, input.b])]',               '{"a":1.0,"b":1}' ],
    [ '[1 | not {p[0]: p[1] | some p in input.a} == input.b]',            '{"a":[[0,1],[0,2]]}' ],
    [ 'data.base.list[input.a]',                                          '{"a":"1"}' ],
    [ 'object.filter({input.a: 1}, [input.b])',                           '{"a":1e0,"b":1}' ],
    [ '{x: 1 | some x in [input.a, input.b, input.a]}[input.b]',          '{"a":[],"b":null}' ],
    [ 'object.union(input.a, input.b)',                                   '{"a":{"x":[1.0]},"b":{"x":[1]}}' ],
    [ 'union({{input.a}, {input.b}})',                                    '{"a":"x","b":2.50}' ],
    [ '{k: v | some [k, v] in [[input.a, []], [input.b, ""]]}',           '{"a":[1.0],"b":"[1]"}' ],
);

sub once_round {
    my $functions = "once_value(x) := x\n\nonce_two(1, x) := x\n\nonce_two(_, _) := 1";
    my @rule = map { { name => "once$_", kind => 'once', text => "once$_ := $once[$_][0]", fields => {} } } 0 .. $#once;
    $rule[0]{text} .= "\n\n$functions";
    my @kept = put_rules(@rule);
    is( scalar @kept, scalar @once, 'OPA compiles what differed once' );
    my ( $counts, @found ) = compare( '{"list":[0,[true,0]]}', [ map { $_->[1] } @once ], @rule );
    is( join( "\n", @found ), '', 'what differed once does not' );
    return;
}

# Note which statements the plan has, and which builtins it calls.
my ( %statement, %builtin );

sub note_kinds {
    my $plan = Authz::Web::edit("$dir/plan.json");
    $statement{$1} = 1 while $plan =~ /"type":\s*"(\w+)Stmt"/g;
    $builtin{$1}   = 1 while $plan =~ /"func":\s*"([^"]+)"/g;
    return;
}

# ---- mutated policies

my @asked = qw(issue introspect authzen authzen_batch gateway gateway_tools register admin);
my @more  = (
    [], [ glob Authz::Path::source(qw(t rego operator)) . '/*.rego' ],
    [ Authz::Path::source(qw(etc policy tests_cedar effect_module.rego)) ] );
my $questions;

# Write the shipped policy with a few changes; true if OPA can plan it.
sub write_mutated {
    my ( $source, @with ) = @_;
    my @file  = split /\n/, run( 'find', 'find', Authz::Path::source(qw(etc policy svc)), '-name', '*.rego' );
    my %text  = map { ( $_ => Authz::Web::edit($_) ) } @with, @file;
    my @names = sort keys %text;
    for ( 1 .. 1 + int rand 3 ) {
        my $name = $names[ rand @names ];
        $text{$name} = $source->mutated( $text{$name}, 1 + int rand 4 );
    }
    Authz::Process->run( name => 'rm', command => [ 'rm', '-rf', "$dir/mutated" ] );
    mkdir "$dir/mutated" or die "$dir/mutated: $!";
    for my $i ( 0 .. $#names ) { Authz::Web::write_file( "$dir/mutated/m$i.rego", $text{ $names[$i] } ) }
    my ($status) = Authz::Process->run(
        name    => 'opa build', timeout => 120 * Authz::Process::patience(),
        command => [
            Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz",
            map( { ( '-e', "svc/decision/$_/result" ) } @asked ), "$dir/mutated" ] );
    return if $status != 0;
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    return 1;
}

# Ask both engines about random rows and inputs.
sub ask_mutated {
    my ($at) = @_;
    my $rows = $questions->rows;
    my ( @part, %input );
    for my $path ( sort keys %$rows ) {
        my $text = Authz::Questions::text( $rows->{$path} ) =~ s/\\u0000/\\u0001/gr;
        put_opa( "data/$path", $text );
        push @part, '"' . ( $path =~ s{\Asvc/}{}r ) . '":' . $text;
    }
    for ( 1 .. $SAME_ROWS ) {
        my ( $entrypoint, $input ) = $questions->ask;
        push @{ $input{$entrypoint} }, Authz::Questions::text($input) =~ s/\\u0000/\\u0001/gr;
    }
    my @name = sort keys %input;
    my %list = map { ( $_ => '[' . join( ',', @{ $input{$_} } ) . ']' ) } @name;
    put_opa( 'data/q', '{' . join( ',', map {"\"$_\":$list{$_}"} @name ) . '}' );
    my @want = map { "\"$_\":[" . answers_of( $_, 0, $#{ $input{$_} } ) . ']' } @name;
    Authz::Web::write_file( "$dir/answers.json", '{"result":{' . join( ',', @want ) . '}}' );
    my $question = join ',',
      map {qq({"name":"$_","entrypoint":"svc/decision/$_/result","inputs":$list{$_}})} @name;
    Authz::Web::write_file(
        "$dir/questions.json",
        '{"data":{"svc":{' . join( ',', @part ) . '}},"asked":[' . $question . ']}' );
    my ( $counts, @found ) = compared();
    for my $line (@found) {
        my ( $name, $number ) = $line =~ /\A\{"rule":"(\w+)","question":(\d+)/ or die "difference $line\n";
        differs( $at, "mutated policy, $input{$name}[$number]\n  $line" );
    }
    return $counts;
}

sub mutated_round {
    my ($at)   = @_;
    my $source = Authz::Differential->new($at);
    my @with   = @{ $more[ rand @more ] };
    $questions //= Authz::Questions->new( Authz::Questions::fixture() );
    my $tries = 0;
    while ( !write_mutated( $source, @with ) ) { die "OPA refuses all mutated policies\n" if ++$tries == 40 }
    local $opa = start_opa("$dir/mutated");
    put_opa(
        'policies/ask',
        "package ask\n\n" . join "\n",
        map {
            "$_ := [[v | v := data.svc.decision.$_.result with input as data.q.$_\[i]] | some i in numbers.range(input.from, input.to)]"
        } @asked );
    for ( 1 .. $ASKED / $SAME_ROWS ) {
        my $counts = eval { ask_mutated($at) };
        if    ($counts)  { add($counts);   $count{mutated} += $counts->{same} + $counts->{undefined} }
        elsif ( ref $@ ) { $count{late}++; last }

        # OPA plans a function that is named without arguments as a call without them; such a plan is refused, and OPA decides.
        elsif ( $@ =~ /has too few arguments/ ) { $count{unread}++; last }
        else                                    { die $@ }
    }
    $opa->{process}->stop;
    return;
}

sub add {
    my ($counts) = @_;
    $count{$_} += $counts->{$_} for grep { !ref $counts->{$_} } keys %$counts;
    for my $why ( keys %{ $counts->{left} } ) {
        $left{ $why =~ s{\A\S+:\d+: }{}r } += $counts->{left}{$why};
        $count{left} += $counts->{left}{$why};
    }
    return;
}

sub compared_so_far {
    return ( $count{same} // 0 ) + ( $count{undefined} // 0 ) + ( $count{failed} // 0 ) + ( $count{different} // 0 );
}

sub show_counts {
    my $all = compared_so_far() + ( $count{left} // 0 );
    diag join ', ', map {"$_ $count{$_}"} sort keys %count;
    diag sprintf '%5.2f %% left to OPA: %s', 100 * $left{$_} / $all, $_
      for sort { $left{$b} <=> $left{$a} || $a cmp $b } keys %left;
    return;
}

start_random();
once_round();
for ( my $round = 0 ; compared_so_far() < $answers ; $round++ ) {
    add( random_round( $seed + $round ) );
    mutated_round( $seed + $round ) if $round % $SHIPPED == 0;
    show_counts()                   if $answers > 100_000 && $round % $TELL == $TELL - 1;
    last                            if @different >= ( $ENV{AUTHZ_REGO_SHOWN} // 20 );
}
$opa->{process}->stop;
is( join( "\n\n", @different ), '', "no other answer than OPA's (AUTHZ_REGO_SEED=$seed)" );
show_counts();
cmp_ok( $count{skipped} // 0, '<', 3 + $answers / 100_000, 'few rounds are left out' );
my ($kinds) = Authz::Web::edit( Authz::Path::source(qw(fcgi rego plan_statement.c)) ) =~ /plan_rows\[\] = \{(.*?)\};/s;
my @statements = ( $kinds =~ /"(\w+)Stmt"/g, qw(Call CallDynamic MakeNull MakeNumberRef MakeNumberInt Block Break) );

# What OPA's planner does not write: an integer that is assigned, a length, and nothing.
my %unwritten = map  { ( $_ => 1 ) } qw(Len Nop AssignInt);
my @unseen    = grep { !$statement{$_} && !$unwritten{$_} } @statements;

# OPA refuses these in modules of the present language, and has another name for the last one in plans.
my %uncallable = map  { ( $_ => 1 ) } qw(cast_array cast_set re_match net.cidr_overlap eq);
my @uncalled   = grep { !$builtin{$_} && !$uncallable{$_} } Authz::Calls::names_of_reference();
SKIP: {
    skip 'the run is short', 2 if $answers < 1_000_000;
    is( "@unseen",   '', 'each statement of plans was run' );
    is( "@uncalled", '', 'each builtin of the machine was called' );
}
diag "not seen in plans: @unseen; builtins not called: " . @uncalled;

# What differed first stands at the end of the log, with the commands that repeat each difference.
diag 'first: ', $different[0] =~ s/\n */ /gr if @different;
diag "again: $_" for @again;
done_testing();

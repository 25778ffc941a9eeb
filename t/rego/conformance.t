# The machine of fcgi/rego against OPA's own conformance cases (v1/test/cases of its sources): OPA plans each case, the machine
# runs the plan, and the answer must be the one that the case names. A case that needs a builtin which the machine lacks ends
# with a word of it, and never with another answer.
use strict;
use warnings;

use Digest::SHA ();
use File::Find  ();
use JSON::PP    ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();

# One case in so many is planned and run; AUTHZ_REGO_STRIDE=1 runs all, which takes two minutes.
my $stride = $ENV{AUTHZ_REGO_STRIDE} // 4;

# Cases whose answers are the right ones at least; those of 1.20.2 are some 1,550 (bits, units and semver are left to OPA).
my $right_at_least = 1550 / $stride * 0.95;

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir   = Authz::Process::directory();
my $cases = $ENV{AUTHZ_OPA_CASES} // ( $ENV{XDG_CACHE_HOME} // ( $ENV{HOME} // '' ) . '/.cache' ) . '/authz/opa-cases';
plan skip_all => "no conformance cases of OPA in $cases: contrib/check keeps them when it builds OPA" if !-d $cases;

sub write_text {
    my ( $path, $text ) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    return $path;
}

sub read_text {
    my ($path) = @_;
    open my $in, '<:raw', $path or return;
    local $/ = undef;
    return scalar readline $in;
}

# All files as one document: OPA reads the YAML.
sub load_cases {
    my @file;
    File::Find::find( sub { push @file, $File::Find::name if /\.yaml\z/ }, $cases );
    @file = sort @file;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'opa', timeout => 300,
        command => [
            Authz::Path::opa(), qw(eval --format raw data.cases),
            map { ( '--data', "cases.p$_:$file[$_]" ) } 0 .. $#file ] );
    die "opa eval: $text" if $status != 0;
    my $loaded = $json->decode($text);
    my @case;
    for my $i ( 0 .. $#file ) {
        my ($family) = $file[$i] =~ m{([^/]+)/[^/]+\z};
        push @case, map {
            { %$_, family => $family }
        } @{ $loaded->{"p$i"}{cases} };
    }
    return @case;
}

# The names that the answers have, and a module that collects all answers of the query.
sub question_of {
    my ($case) = @_;
    my %name = map { ( $_ => 1 ) } map { keys %$_ } @{ $case->{want_result} // [] };
    if ( !%name && $case->{query} =~ /\Adata\.[\w.]+\s*=\s*(\w+)\z/ ) { $name{$1} = 1 }
    my $row = %name ? '{' . join( ',', map {qq("$_": $_)} sort keys %name ) . '}' : 'true';
    return ( "package authz_case\n\nresult := [$row | $case->{query}]\n", !%name );
}

# The plan of a case in a file; undef if OPA does not compile it as an entrypoint.
sub plan_of {
    my ( $case, $question ) = @_;
    my $at   = "$dir/case";
    my @file = write_text( "$at-q.rego", $question );
    my $i    = 0;
    push @file, write_text( "$at-" . $i++ . '.rego', $_ ) for @{ $case->{modules} // [] };
    my ( $status, $text ) = Authz::Process->run(
        name    => 'opa',
        command => [ Authz::Path::opa(), qw(build -t plan -e authz_case/result -o), "$at.tar.gz", @file ] );
    return if $status != 0;
    ( $status, $text ) =
      Authz::Process->run( name => 'tar', command => [ 'tar', '-xzf', "$at.tar.gz", '-C', $dir, '/plan.json' ] );
    return $status == 0 ? "$dir/plan.json" : undef;
}

# Numbers by value and lists as sets, if the case says so.
sub plain {
    my ( $value, $sorted ) = @_;
    if ( ref $value eq 'ARRAY' ) {
        my @item = map { plain( $_, $sorted ) } @$value;
        @item = sort { $json->encode($a) cmp $json->encode($b) } @item if $sorted;
        return \@item;
    }
    return { map { ( $_ => plain( $value->{$_}, $sorted ) ) } keys %$value } if ref $value eq 'HASH';
    return !defined $value || ref $value || $value !~ /\A-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\z/ ? $value : $value + 0;
}

# undef if the answer is right, else what is wrong.
sub quarrel {
    my ( $case, $answer, $unnamed ) = @_;
    my $error = $case->{want_error} // $case->{want_error_code};
    if ( defined $error ) {
        return if $answer->{outcome} eq 'conflict';
        return if $answer->{outcome} eq 'done' && ( !defined $answer->{value} || $case->{strict_error} );
        return "wanted the error $error";
    }
    return "$answer->{outcome}: $answer->{why}" if $answer->{outcome} ne 'done';
    my $got  = $answer->{value} // [];
    my $want = $case->{want_result};
    if ( !defined $want ) {
        return if !defined $case->{want_defined} || !@$got == !$case->{want_defined};
        return 'is ' . ( @$got ? 'defined' : 'undefined' );
    }
    my ( $seen, $wanted ) = map { $json->encode( plain( $_, 1 ) ) } ( $unnamed ? [ map { {} } @$got ] : $got ), $want;
    return $seen eq $wanted ? undef : "gives $seen instead of $wanted";
}

# The outcome of one case: right, wrong (with the reason), or left to OPA (with the reason).
sub outcome_of {
    my ($case) = @_;
    return ( 'left', 'an input that is no JSON' ) if defined $case->{input_term};
    my ( $question, $unnamed ) = question_of($case);
    my $plan = plan_of( $case, $question ) // return ( 'left', 'no plan' );
    my %ask  = ( entrypoint => 'authz_case/result', data => $case->{data} // {} );
    $ask{input} = $case->{input} if exists $case->{input};
    my $line = write_text( "$dir/ask", $json->encode( \%ask ) . "\n" );
    my ( $status, $text ) =
      Authz::Process->run( name => 'plans', command =>
          [ 'sh', '-c', 'exec "$0" "$1" <"$2" 2>/dev/null', Authz::Path::program('t/rego/plans'), $plan, $line ] );
    return ( 'wrong', "status $status" ) if $status != 0;
    my $answer = $json->decode($text);
    return ( 'left', $answer->{why} ) if $answer->{outcome} eq 'give_up';
    my $why = quarrel( $case, $answer, $unnamed );
    return defined $why ? ( 'wrong', $why ) : ('right');
}

my ( %count, %left, %family );
my @all = load_cases();
for my $case ( @all[ grep { $_ % $stride == 0 } 0 .. $#all ] ) {
    my ( $outcome, $why ) = outcome_of($case);
    $count{$outcome}++;
    $left{$why}++ if $outcome eq 'left';
    push @{ $family{ $case->{family} } }, $outcome eq 'wrong' ? "$case->{note}: $why" : ();
}
for my $name ( sort keys %family ) {
    is( join( "\n", @{ $family{$name} } ), '', "cases of OPA: $name" );
}
cmp_ok( $count{right}, '>=', $right_at_least, "cases of OPA: $count{right} answers are right" );
note "$left{$_} left to OPA: $_" for sort { $left{$b} <=> $left{$a} || $a cmp $b } keys %left;
done_testing();

# The machine of fcgi/rego against OPA: random calls of every builtin with arguments at their edges, and random rules of the
# language. The calls of a round are the rules of one module, each an entrypoint: OPA plans it once, and evaluates it. The
# machine gives OPA's answer or leaves the call to OPA; where OPA fails, the machine fails too or leaves the call to it.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Calls   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

# AUTHZ_REGO_CALLS=50000 is a long run. The seed is fixed, so that a run of the suite does not fail by chance.
my $calls = $ENV{AUTHZ_REGO_CALLS} // 1500;
my $seed  = $ENV{AUTHZ_REGO_SEED}  // 1;

# Calls of one module, and the part of them that are rules of the language.
my $AT_ONCE  = 250;
my $LANGUAGE = 0.3;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir  = Authz::Process::directory();

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 300 * Authz::Process::patience(), command => \@command );
    die "$name: " . substr $text, 0, 2000 if $status != 0;
    return $text;
}

# Numbers as texts that are the same for equal ones: equal numbers in a set, or in the arguments of a function, come out in one of
# their spellings, and OPA's order decides which.
sub plain_number {
    my ($text) = @_;
    my ( $minus, $whole, $part, $power ) = $text =~ /\A(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?\z/
      or die "number $text\n";
    my $digits = $whole . ( $part // '' );
    $power = ( $power // 0 ) - length( $part // '' );
    $digits =~ s/\A0+//;
    $power += length $1 if $digits =~ s/(0+)\z//;
    return length $digits ? "\x01$minus${digits}e$power" : "\x010";
}

# The value of a JSON text in one form; keys that are JSON texts too have other spaces and another order in OPA's.
sub plain {
    my ($text) = @_;
    $text =~ s/("(?:[^"\\]|\\.)*+")|(-?\d[-+.\deE]*)/$1 \/\/ $json->encode( plain_number($2) )/ge;
    return plain_keys( $json->decode($text) );
}

sub plain_keys {
    my ($value) = @_;
    return [ map { plain_keys($_) } @$value ] if ref $value eq 'ARRAY';
    return $value                             if ref $value ne 'HASH';
    my %plain;
    for my $name ( keys %$value ) {    # JSON does not tell the keys 1, 1.0 and "1" apart
        my $key = plain_key($name);
        $plain{$key} = exists $plain{$key} ? 'one of several' : plain_keys( $value->{$name} );
    }
    return \%plain;
}

sub plain_key {
    my ($key) = @_;
    utf8::encode( my $text = $key );
    my $plain = $key =~ /\A[\[\{\d-]/ ? eval { $json->encode( plain($text) ) } : undef;
    return $plain // $key;
}

sub exact { my ($text) = @_; return defined $text ? $json->encode( plain($text) ) : undef }

# Return OPA's answers by name: undef for an error; undefined ones are missing. An error of one rule ends the whole evaluation, so
# that the rules are halved then.
sub opa_answers {
    my (@name) = @_;
    Authz::Web::write_file( "$dir/names.json", $json->encode( { names => \@name } ) );
    my ( $status, $text ) = Authz::Process->run(
        name    => 'opa', timeout => 60 * Authz::Process::patience(),
        command => [
            Authz::Path::opa(), qw(eval --format raw),
            map( { ( '--data', "$dir/$_" ) } qw(calls.rego ask.rego names.json) ),
            'data.ask.all' ] );
    if ( $status == 0 ) {
        my $result = plain($text);
        return map { ( $_ => $json->encode( $result->{$_} ) ) } keys %$result;
    }
    die "OPA: $text"             if @name == 1 && $text !~ /eval_\w+_error|invalid number literal/;
    return ( $name[0] => undef ) if @name == 1;
    my @half = splice @name, 0, @name / 2;
    return ( opa_answers(@half), opa_answers(@name) );
}

my ( %count, %of, %left, @different );

# Give OPA a module of the rules: return those that it compiles.
sub put_rules {
    my ( $help, @rule ) = @_;
    my ( $module, @row );
    for ( 1 .. 20 ) {
        $module = "package calls\n\n$help\n";
        @row    = ();
        for my $i ( 0 .. $#rule ) {
            $row[$i] = 1 + ( $module =~ tr/\n// );
            $module .= ( $rule[$i][1] =~ s/(?<![a-z])RULE/r$i/gr ) . "\n";
        }
        Authz::Web::write_file( "$dir/calls.rego", $module );
        my ( $status, $text ) = Authz::Process->run(
            name    => 'opa', timeout => 60 * Authz::Process::patience(),
            command => [ Authz::Path::opa(), qw(check --format json --max-errors 100), "$dir/calls.rego" ] );
        last if $status == 0;
        $text =~ s/\A[^{]*//;
        my @errors = @{ $json->decode($text)->{errors} };
        my %refused;
        for my $error ( grep { $_->{location} && $_->{location}{row} } @errors ) {
            my ($i) = grep { $row[$_] <= $error->{location}{row} } reverse 0 .. $#rule;
            die "OPA refuses the functions: $error->{message}\n" if !defined $i;
            note "refused: $error->{message}: $rule[$i][1]"      if $ENV{AUTHZ_REGO_REFUSED};
            $refused{$i} = 1;
        }
        die "OPA refuses the rules: $text\n" if !%refused;
        $count{refused} += keys %refused;
        @rule = @rule[ grep { !$refused{$_} } 0 .. $#rule ];
    }
    return @rule;
}

# Compare the machine with OPA on some rules. Each is [the builtin or the kind of rule, its text].
sub compare {
    my ( $help, @rule ) = @_;
    @rule = put_rules( $help, @rule );
    run('opa', Authz::Path::opa(), qw(build -t plan -o), "$dir/calls.tar.gz",
        map( { ( '-e', "calls/r$_" ) } 0 .. $#rule ),
        "$dir/calls.rego" );
    run( 'tar', 'tar', '-xzf', "$dir/calls.tar.gz", '-C', $dir, '/plan.json' );
    my %want = opa_answers( map {"r$_"} 0 .. $#rule );
    Authz::Web::write_file( "$dir/lines", join '', map {qq({"entrypoint":"calls/r$_"}\n)} 0 .. $#rule );
    my @answer = split /\n/,
      run(
        'plans',          'sh', '-c', 'exec "$0" "$1" <"$2" 2>"$1.log"', Authz::Path::program('t/rego/plans'),
        "$dir/plan.json", "$dir/lines" );
    die @answer . ' outcomes of ' . @rule . " calls\n" if @answer != @rule;

    for my $i ( 0 .. $#rule ) {
        my ( $outcome, $why, $value ) =
          $answer[$i] =~ /\A\{"outcome":"([^"]*)"(?:,"why":"([^"]*)")?(?:,"value":(.*))?\}\z/s
          or die "outcome $answer[$i]\n";
        my $name = $rule[$i][0];
        $of{$name}{all}++;
        if ( $outcome eq 'give_up' ) {
            $count{left}++;
            $of{$name}{left}++;
            $left{$why}++;
            next;
        }
        my ( $got, $want ) = ( exact($value), $want{"r$i"} );
        my $agree =
          exists $want{"r$i"} && !defined $want
          ? $outcome eq 'conflict'
          : $outcome eq 'done' && ( $got // 'undefined' ) eq ( $want // 'undefined' );
        $count{ $agree ? 'same' : 'different' }++;
        $of{$name}{ defined $want ? 'defined' : 'undefined' }++ if $agree;
        next if $agree;
        my @shown = map { defined $_ ? substr( $_, 0, 600 ) : 'undefined' } $rule[$i][1], $got, $want;
        $shown[2] = 'an error' if exists $want{"r$i"} && !defined $want;
        push @different, "$shown[0]\n  gives $outcome $why $shown[1]\n  instead of $shown[2]";
    }
    return;
}

my $source = Authz::Calls->new($seed);
Authz::Web::write_file( "$dir/ask.rego", "package ask\n\nall[name] := data.calls[name] if some name in data.names\n" );
my @missing = grep { !$source->knows($_) } Authz::Calls::names_of_reference();
is( "@missing", '', 'each builtin of the machine has random arguments' );
for ( my $done = 0 ; $done < $calls ; $done += $AT_ONCE ) {
    compare( $source->help, map { rand() < $LANGUAGE ? $source->rule : $source->call } 1 .. $AT_ONCE );
}
is( join( "\n\n", splice @different, 0, $ENV{AUTHZ_REGO_SHOWN} // 10 ), '',
    "no other answer than OPA's (AUTHZ_REGO_SEED=$seed)" );
cmp_ok( $count{left} // 0, '<', 0.5 * $calls, "most is decided by the machine (@{[ %count ]})" );
for my $name ( sort keys %of ) {
    note "$name: ", join ', ', map {"$_ $of{$name}{$_}"} sort keys %{ $of{$name} };
}
note "$left{$_} left to OPA: $_" for sort { $left{$b} <=> $left{$a} || $a cmp $b } keys %left;
done_testing();

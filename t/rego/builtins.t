# The builtins of fcgi/rego against OPA's on random arguments: patterns, globs, networks, times and schemas. The
# machine may leave a call to OPA, but never answers otherwise. A difference names its seed: AUTHZ_REGO_SEED=N repeats the run.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();

# Calls of each family; AUTHZ_REGO_CALLS=20000 is a long run.
my $calls = $ENV{AUTHZ_REGO_CALLS} // 300;
my $seed  = $ENV{AUTHZ_REGO_SEED}  // time;
srand $seed;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir  = Authz::Process::directory();

sub one_of { return $_[ rand @_ ] }

sub some_of {
    my ( $most, @word ) = @_;
    return join '', map { one_of(@word) } 1 .. int rand( $most + 1 );
}

# A regular expression of the kind that policies have, and worse.
sub pattern {
    my ($depth) = @_;
    my $atom = sub {
        my $kind = int rand( $depth > 0 ? 9 : 6 );
        return one_of(qw(a b c a b . \\d \\w \\s \\. \\b ^ $ - _ é)) if $kind < 4;
        return one_of( '[abc]', '[^a]', '[a-c]', '[^\\d]', '[[:alpha:]-]', '[\\w.-]', '[]a]', '[a-]' ) if $kind < 6;
        return one_of( '(', '(?:', '(?P<n>', '(?i:', '(?s:', '(?m:' ) . pattern( $depth - 1 ) . ')';
    };
    my $part =
      sub { return $atom->() . one_of( '', '', '', '*', '+', '?', '*?', '+?', '??', '{2}', '{1,3}', '{2,}?', '{0}' ) };
    return join '|', map {
        join '',
          map { $part->() } 1 .. int rand 4
    } 1 .. one_of( 1, 1, 1, 2, 3 );
}

sub subject { return some_of( 8, qw(a b c A B . - _ 0 1), ' ', "\n", 'ab', "\x{e9}" ) }

sub glob_of {
    my $part = sub {
        return some_of( 5, '*', '**', '?', qw(a b . / a b), '[ab]', '[!ab]', '[a-c]', 'ab', 'ba', '\\*', ']' );
    };

    # Alternatives that begin or end alike can end OPA's library with a panic.
    return rand() < 0.2 ? '{a' . $part->() . 'b,b' . $part->() . 'a}' : $part->();
}

sub address {
    return rand() < 0.7
      ? join( '.', map { one_of( 0, 1, 2, 3, 128, 255 ) } 1 .. 4 )
      : one_of( '2001:db8::', '2001:db8:0:1::', 'fe80::1', '::', '2001:db8::ff00' );
}

sub network {
    my $address = address();
    return $address =~ /:/ ? $address . '/' . one_of( 16, 32, 47, 48, 63, 64, 127, 128 ) : $address . '/' . int rand 33;
}

sub nanoseconds {
    return int( ( rand(4e9) - 1e9 ) ) * 1_000_000_000 + one_of( 0, 1, 500_000_000, 123_456_789 );
}

sub moment {
    return one_of(
        nanoseconds(),
        [ nanoseconds(), one_of( '', 'UTC' ), one_of( 'RFC3339', '2006-01-02', 'RFC1123', '' ) ] );
}

sub small_value {
    my ($depth) = @_;
    my $kind = int rand( $depth > 0 ? 8 : 6 );
    return one_of( 0, 1, 2, 5, -1, 1.5 )                         if $kind < 2;
    return one_of( '', 'a', 'ab', 'b', "\x{e9}", "\x{e9}ab", 1 ) if $kind < 4;
    return one_of( undef, JSON::PP::true, JSON::PP::false )      if $kind < 6;
    return [ map { small_value( $depth - 1 ) } 1 .. rand 4 ]     if $kind < 7;
    return { map { ( $_ => small_value( $depth - 1 ) ) } grep { rand() < 0.5 } qw(a b c) };
}

# A schema whose keywords often say nothing about a value; some are none.
sub schema {
    my ($depth) = @_;
    my @type    = qw(null boolean number integer string array object);
    my $inner   = sub { return rand() < 0.15 ? one_of( JSON::PP::true, JSON::PP::false ) : schema( $depth - 1 ) };
    my $list    = sub {
        return [ map { $inner->() } 1 .. rand 3 ];
    };
    my $count = sub { return one_of( 0, 0, 1, 1, 2, 3, ( rand() < 0.03 ? ( -1, 1.5, 'x' ) : () ) ) };
    my $bound = sub { return one_of( -1, 0, 1, 2, 5, ( rand() < 0.03 ? ( 0.5, 'x' ) : () ) ) };
    my %value = (
        type => sub {
            return rand() < 0.4
              ? one_of( @type, ( rand() < 0.03 ? 'any' : () ) )
              : [ map { one_of(@type) } 1 .. 1 + rand 4 ];
        },
        enum => sub {
            return [ map { small_value(0) } 1 .. rand 5 ];
        },
        required => sub {
            return [ grep { rand() < 0.4 } qw(a b c) ];
        },
        properties => sub {
            return { map { ( $_ => $inner->() ) } grep { rand() < 0.5 } qw(a b c) };
        },
        pattern => sub { return one_of( 'a', '^a', 'b$', '^.?$', '[ab]', ( rand() < 0.03 ? '(' : () ) ) },
        const   => sub { return small_value(0) },
        (   map {
                ( $_ => sub { return one_of( JSON::PP::true, JSON::PP::false ) } )
            } qw(uniqueItems) ),
        ( map { ( $_ => $inner ) } qw(additionalProperties items not) ),
        ( map { ( $_ => $list ) } qw(allOf anyOf oneOf) ),
        ( map { ( $_ => $count ) } qw(minLength maxLength minItems maxItems minProperties maxProperties) ),
        ( map { ( $_ => $bound ) } qw(minimum maximum exclusiveMinimum exclusiveMaximum) ),
        (   map {
                ( $_ => sub { return one_of( 'x', ( rand() < 0.03 ? 1 : () ) ) } )
            } qw(title description $comment) ),
    );
    my @deep = qw(properties additionalProperties items not allOf anyOf oneOf);
    my @name = sort keys %value;
    @name = grep {
        my $name = $_;
        !grep { $_ eq $name } @deep
    } @name if $depth <= 0;
    return { map { ( $_ => $value{$_}->() ) } map { one_of(@name) } 1 .. rand 4 };
}

# Each family: the name of the call, its expression and its arguments.
my %family = (
    match      => [ 'regex.match(a[0], a[1])', sub { [ pattern(2), subject() ] } ],
    submatches =>
      [ 'regex.find_all_string_submatch_n(a[0], a[1], a[2])', sub { [ pattern(2), subject(), one_of( -1, 1, 2 ) ] } ],
    find    => [ 'regex.find_n(a[0], a[1], -1)', sub { [ pattern(2), subject() ] } ],
    split   => [ 'regex.split(a[0], a[1])',      sub { [ pattern(2), subject() ] } ],
    replace => [
        'regex.replace(a[0], a[1], a[2])',
        sub { [ subject(), pattern(2), some_of( 3, '<', '$1', '${n}', '$$', '$', '${1}x', '$0', '$n_', '>' ) ] } ],
    glob => [
        'glob.match(a[0], a[1], a[2])',
        sub { [ glob_of(), one_of( undef, [], ['.'], ['/'], [ '.', '/' ] ), some_of( 6, qw(a b c ab ba . / a b *) ) ] }
    ],
    quote_meta => [ 'glob.quote_meta(a[0])', sub { [ glob_of() ] } ],
    cidr_merge => [
        'net.cidr_merge(a)',
        sub {
            [ map { network() } 1 .. 1 + rand 5 ]
        }
    ],
    cidr_contains => [ 'net.cidr_contains(a[0], a[1])', sub { [ network(), one_of( address(), network() ) ] } ],
    cidr_matches  =>
      [ 'net.cidr_contains_matches(a[0], a[1])', sub { [ [ network(), network() ], [ address(), network() ] ] } ],

    # An operand whose item names no address is an error, even if the other operand is empty.
    cidr_matches_of => [
        'net.cidr_contains_matches(a[0], a[1])',
        sub {
            [   one_of( { a => 1 }, [ [] ], [ [1] ], { a => '10.0.0.0/8' }, [1], {}, [], 'x', '10.0.0.0/8' ),
                one_of( [], {}, { b => '10.1.1.1' }, [1], [ [] ], ['10.1.1.1'] ) ]
        }
    ],
    number_in_set => [
        'json.marshal({x | some x in a[0]}[to_number(a[1])])',
        sub { [ [ 1, 2, 10 ], one_of( '1', '1.0', '2', '2.00', '10.0', '3' ) ] } ],
    array_in_set => [
        'json.marshal({x | some x in a[0]}[[to_number(a[1])]])',
        sub { [ [ [1], [2] ], one_of( '1', '1.0', '2', '2.00', '3' ) ] } ],
    number_of_text => [
        'to_number(a[0])',
        sub { [ one_of( qw(1.8e308 1e309 1e400 -1e400 1e308 1e2 12 -0), '9' x 300, '9' x 309, '9' x 400 ) ] } ],
    number_as_index => [ '["read", "write"][to_number(a[0])]', sub { [ one_of(qw(0 1 1e0 1.0 0.0 1e2 -0 0e0 1.5)) ] } ],
    division        => [
        'json.marshal(to_number(a[0]) / to_number(a[1]))',
        sub { [ one_of(qw(0 0 1 6 -6)), one_of(qw(-5 -1 1 2 3 0)) ] } ],
    cidr_expand => [
        'net.cidr_expand(a[0])',
        sub { [ one_of( '10.0.0.255/', '255.255.255.255/', '1.2.3.4/' ) . one_of( 24, 28, 30, 32 ) ] } ],
    add_date => [
        'time.add_date(a[0], a[1], a[2], a[3])',
        sub {
            [ moment(), map { int rand(80) - 40 } 1 .. 3 ]
        }
    ],
    format_time    => [ 'time.format(a[0])', sub { [ moment() ] } ],
    parse_duration =>
      [ 'time.parse_duration_ns(a[0])', sub { [ some_of( 4, qw(1h 30m 5s 10ms 2us 7ns 1d 2w 1y 1.5h -) ) ] } ],
    parse_time => [
        'time.parse_ns(a[0], a[1])',
        sub {
            [   one_of( 'RFC3339',    '2006-01-02' ),
                one_of( '2024-02-29', '2023-02-29', '2024-01-02T03:04:05.6Z', '1600-01-01' ) ]
        }
    ],
    format_text => [
        'sprintf(a[0], [a[1]])',
        sub {
            [       'x%'
                  . one_of( '', '0', '00', '03', '02', '04', '4', '-4', '012', '+', ' ', '#' )
                  . one_of(qw(d x s v X q d x)),
                one_of( 0, 1, 7, 10, 255, 4096, -1, -255, 9223372036854775807, 1.5, 'a', '10', undef ) ]
        }
    ],
    replace_n => [
        'strings.replace_n(a[0], a[1])',
        sub {
            [ { map { ( some_of( 2, qw(a b ab) ) => some_of( 2, qw(x y) ) ) } 1 .. 3 }, subject() ]
        }
    ],

    schema => [
        'json.match_schema(a[0], a[1])',
        sub {
            my $document = { map { ( $_ => small_value(2) ) } grep { rand() < 0.5 } qw(a b c) };
            return [ rand() < 0.7 ? $document : [ map { small_value(2) } 1 .. rand 4 ], schema(3) ];
        }
    ],
    uuid => [
        'uuid.parse(a[0])',
        sub {
            [ join '-', map { some_of_digits($_) } 8, 4, 4, 4, 12 ]
        }
    ],
    digests => [
        '[crypto.md5(a[0]), crypto.sha1(a[0]), crypto.sha256(a[0]), crypto.hmac.sha256(a[0], a[1])]',
        sub { [ subject(), subject() ] } ],
);

sub some_of_digits {
    my ($count) = @_;
    return join '', map { one_of( 0 .. 9, 'a' .. 'f', 1, 2 ) } 1 .. $count;
}

sub write_text {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    return $path;
}

# OPA answers all calls of a family at once; the machine each by itself, so that it can leave one out.
sub compare {
    my ( $name, $expression, @call ) = @_;
    my $module = write_text( "$dir/calls.rego", <<"REGO" );
package calls

answer(a) := $expression

one := [answer(input)]

all[sprintf("%d", [i])] := [answer(a)] if some i, a in input
REGO
    my $input = write_text( "$dir/input.json", $json->encode( \@call ) );
    my ( $status, $text ) = Authz::Process->run(
        name    => 'opa', timeout => 60,
        command => [ Authz::Path::opa(), qw(eval --format raw --data), $module, '--input', $input, 'data.calls.all' ] );
    die "$name: " . substr $text, 0, 500 if $status != 0;
    my $right = $json->decode($text);
    ( $status, $text ) = Authz::Process->run(
        name    => 'opa',
        command => [ Authz::Path::opa(), qw(build -t plan -e calls/one -o), "$dir/calls.tar.gz", $module ] );
    die "$name: " . substr $text, 0, 500 if $status != 0;
    ( $status, $text ) =
      Authz::Process->run( name => 'tar', command => [ 'tar', '-xzf', "$dir/calls.tar.gz", '-C', $dir, '/plan.json' ] );
    die "$name: " . substr $text, 0, 500 if $status != 0;
    my $lines = write_text(
        "$dir/lines",
        join '', map { $json->encode( { entrypoint => 'calls/one', input => $_ } ) . "\n" } @call );
    ( $status, $text ) = Authz::Process->run(
        name    => 'plans', timeout => 60,
        command => [
            'sh', '-c', 'exec "$0" "$1" <"$2" 2>/dev/null', Authz::Path::program('t/rego/plans'), "$dir/plan.json",
            $lines ] );
    die "$name: status $status" if $status != 0;
    my ( $left, $i, @wrong ) = ( 0, 0 );
    for my $line ( split /\n/, $text ) {
        my $answer = $json->decode($line);
        my ( $got, $want ) = map { $json->encode($_) } $answer->{value}, $right->{$i};
        $left++ if $answer->{outcome} eq 'give_up';
        push @wrong, $json->encode( $call[$i] ) . " gives $answer->{outcome} $got instead of $want"
          if $answer->{outcome} ne 'give_up' && ( $answer->{outcome} ne 'done' || $got ne $want );
        $i++;
    }
    is( $i,                                scalar @call, "$name: each call has an outcome" );
    is( join( "\n", splice @wrong, 0, 5 ), '',           "$name: no other answer than OPA's (AUTHZ_REGO_SEED=$seed)" );
    cmp_ok( $left, '<', 0.95 * @call, "$name: not all is left to OPA ($left of $i)" );
    return;
}

for my $name ( sort keys %family ) {
    my ( $expression, $arguments ) = @{ $family{$name} };
    compare( $name, $expression, map { $arguments->() } 1 .. $calls );
}
done_testing();

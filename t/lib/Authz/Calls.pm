package Authz::Calls;

# This module makes random rules of Rego for t/rego/calls.t: calls of the builtins that fcgi/rego has, with arguments at their
# edges and of wrong types, and expressions of the language.
#   my $source = Authz::Calls->new($seed);
#   $source->help;                        the functions that the rules need: one for each builtin, whose arguments have no type
#   my ( $name, $text ) = @{ $source->call };   a rule named RULE
#   my ( $kind, $text ) = @{ $source->rule };
#   $source->knows('sprintf');            true if calls of it are made
#   Authz::Calls::names_of_reference();   the builtins of doc/reference
#   Authz::Calls::letters_of('concat');   the kinds of its arguments, and
#   Authz::Calls::json_of('s');           a JSON text of such an argument, for an input
#   Authz::Calls::argument_of('s');       the same as Rego, for a constant

use strict;
use warnings;

use JSON::PP ();

use Authz::Path ();

# Texts are written without letters beyond ASCII, so that no editor or reader can change them.
my $ascii = JSON::PP->new->ascii->allow_nonref;

sub one_of { return $_[ rand @_ ] }
sub any_of { return one_of(@_)->() }

sub some_of {
    my ( $most, @word ) = @_;
    return join '', map { one_of(@word) } 1 .. int rand( $most + 1 );
}

# True while values are made for an input, which has no sets, no keys but texts, no calls and no NUL.
our $as_json = 0;

# A text as Rego. The service reads plans without NUL, so that a text with one is made by a call.
sub quoted {
    my $text = $ascii->encode( '' . $_[0] );
    return $text =~ s/\\u0000/\\u0001/gr if $as_json;
    return $text =~ /\\u0000/ ? 'json.unmarshal(' . $ascii->encode($text) . ')' : $text;
}

my @letters = ( qw(a b c A B Z 0 1 9 . - _ / : * ? % $ { } [ ] < > & \\ " ' = + ~ @), ' ', ',' );
my @odd     = (
    "\x{0}",    "\n",       "\t",       "\r",       "\x{7f}",   "\x{85}",   "\x{a0}",    "\x{e9}",
    "e\x{301}", "\x{df}",   "\x{130}",  "\x{131}",  "\x{17f}",  "\x{212a}", "\x{1f600}", "\x{10ffff}",
    "\x{200b}", "\x{feff}", "\x{2028}", "\x{2029}", "\x{fffd}", "\x{660}",  "\x{1f468}\x{200d}\x{1f469}" );

sub letters {
    my ($most) = @_;
    my $kind = rand;
    return ''                                 if $kind < 0.1;
    return some_of( $most, @letters )         if $kind < 0.5;
    return some_of( $most, @letters, @odd )   if $kind < 0.7;
    return some_of( $most, qw(a b ab a b c) ) if $kind < 0.97;
    return one_of(qw(a ab é)) x one_of( 50, 100, 300 );
}

sub text { return quoted( letters(8) ) }

# A raw text of Rego cannot be invalid, but JSON texts within it can.
my @numbers =
  qw(0 1 2 3 7 10 -1 -2 -10 255 1.0 1.5 -1.5 0.5 0.1 0.2 0.30000000000000004 1e2 1E+2 1e-2 100 1.00 -0 -0.0 0e0 0.0
  1e400 -1e400 1e-400 9007199254740992 9007199254740993 -9007199254740993 9007199254740993.0 9223372036854775807
  9223372036854775808 -9223372036854775808 -9223372036854775809 18446744073709551615 18446744073709551616
  18446744073709551617 1e19 9.223372036854775807e18 9223372036854775807.0 36893488147419103233
  0.1000000000000000055511151231257827 0.1000000000000000055511151231257828 1.0000000000000000000001 1e18 1e3
  123456789012345678901234567890 123456789012345678901234567891 3.0000000000000000001 2147483648 4294967296 64 63);

sub integer {
    return rand() < 0.6
      ? one_of( -3 .. 12 )
      : one_of(
        qw(100 63 64 65 -64 9223372036854775807 -9223372036854775808 2147483647 2147483648 -2147483648
          4294967295 4294967296 4294967297 1.0 2.0 1e1 1.5 -0 9007199254740993 1e2) );
}
sub number { return rand() < 0.5 ? one_of(@numbers) : integer() }

sub scalar_value {
    my $kind = rand;
    return one_of(qw(null true false)) if $kind < 0.2;
    return $kind < 0.6 ? number() : text();
}

# Small values that are often equal.
sub small {
    return one_of( qw(1 1.0 2 "a" "b" "1" null true [] {} 0 -1 [1] [1.0] "" 0.1 1e0 -0 false), '{"a": 1}', '[1, 2]' )
      if $as_json;
    return one_of( qw(1 1.0 2 "a" "b" "1" null true [] {} set() 0 -1 [1] {1} "" 0.1 1e0 false), '{"a": 1}', '[1, 2]' );
}

sub array {
    my ($depth) = @_;
    return '[' . join( ', ', map { value($depth) } 1 .. int rand 5 ) . ']';
}

sub set {
    my ($depth) = @_;
    my @item = map { value($depth) } 1 .. int rand 5;
    return '[' . join( ', ', @item ) . ']' if $as_json;
    return @item ? '{' . join( ', ', @item ) . '}' : 'set()';
}

# Keys that are equal to others are refused when the policy is compiled, so that their texts differ enough.
sub object {
    my ($depth) = @_;
    my %key =
      map { ( rand() < 0.7 ? quoted( one_of( qw(a b c d), '', 'a/b', '~', '0', '1', 'é' ) ) : key($depth) ) => 1 }
      1 .. int rand 5;
    return '{' . join( ', ', map { "$_: " . value($depth) } sort keys %key ) . '}';
}

sub key {
    return one_of( qw("1" "0" "a" "b" "" "null" "[1]"), text() ) if $as_json;
    return one_of( qw(1 0 null true 2 -1 [1] [] "1" "a" {1} 1.5 10 9), '{"a": 1}', text() );
}

sub value {
    my ($depth) = @_;
    $depth //= 3;
    return rand() < 0.5 ? small() : scalar_value() if $depth <= 0 || rand() < 0.6;
    return one_of( \&array, \&set, \&object )->( $depth - 1 );
}

sub list_of {
    my ( $make, $most ) = @_;
    my @item = map { $make->() } 1 .. int rand( 1 + ( $most // 5 ) );
    return '[' . join( ', ', @item ) . ']' if $as_json || rand() < 0.6 || !@item;
    return '{' . join( ', ', @item ) . '}';
}

sub array_of {
    my ( $make, $most ) = @_;
    return '[' . join( ', ', map { $make->() } 1 .. int rand( 1 + ( $most // 5 ) ) ) . ']';
}

sub pattern_text {
    my ($depth) = @_;
    my @atom = (
        qw(a b c . \\d \\w \\s \\D \\W \\S \\. \\b \\B ^ $ \\A \\z - _ é \\x41 \\x{1F600} \\pL \\p{Greek} \\Qa.b\\E \\t \\n \\- \\/ a b),
        '[abc]', '[^a]',   '[a-c]', '[^\\d]', '[[:alpha:]-]', '[\\w.-]', '[]a]', '[a-]', '[[:^digit:]]', '[^]a]',
        '[é-ü]', '[\\pL]', '[z-a]', '[a',     '\\', '\\8', '\\Z', '\\C', "\x{1f600}", '[^\\x00-\\x7f]', "\n", '\\a',
        '[\\]]', ',' );
    my $atom = sub {
        return one_of(@atom) if rand() < 0.8 || $depth <= 0;
        return one_of(
            '(', '(?:', '(?P<n>', '(?<m>', '(?i:', '(?s:', '(?m:', '(?U:', '(?i)(', '(?=', '(?-s:',
            '(?ims:' ) . pattern_text( $depth - 1 ) . ')';
    };
    my $part = sub {
        return $atom->() . one_of(
            ('') x 12, '*',  '+',   '?', '*?', '+?', '??', '{2}', '{1,3}', '{2,}?', '{0}', '{,2}', '{1001}',
            '{3,1}',   '**', '{a}', '{' );
    };
    return join '|', map {
        join '',
          map { $part->() } 1 .. int rand 4
    } 1 .. one_of( 1, 1, 1, 2, 3 );
}
sub pattern { return quoted( pattern_text(2) ) }

sub subject {
    return quoted(
        some_of( 8, qw(a b c A B . - _ 0 1), ' ', "\n", 'ab', "\x{e9}", "\x{1f600}", 'K', "\x{212a}", "\x{0}" ) );
}

sub template {
    return quoted(
        some_of( 4, '<', '$1', '${n}', '$$', '$', '${1}x', '$0', '$n_', '>', '\\1', '${', '${}', '$é', '$2', '${m}' ) );
}

sub glob_text {
    my $part = sub {
        return some_of(
            5,           '*', '**', '?', qw(a b . / a b), '[ab]', '[!ab]', '[a-c]', 'ab', 'ba', '\\*', ']', "\x{e9}",
            "\x{1f600}", '-', ',' );
    };
    return rand() < 0.2 ? '{a' . $part->() . 'b,b' . $part->() . 'a}' : $part->();
}
sub glob { return quoted( glob_text() ) }

sub delimiters {
    return one_of(
        'null', '[]', '["."]', '["/"]', '[".", "/"]', '["é"]', '[":"]', '[""]', '["ab"]',
        '["\ud83d\ude00"]' );
}
sub glob_subject { return quoted( some_of( 6, qw(a b c ab ba . / a b * :), "\x{e9}", "\x{1f600}" ) ) }

sub address_text {
    return join '.', map { one_of( 0, 1, 2, 3, 10, 128, 255 ) } 1 .. 4 if rand() < 0.5;
    return one_of(
        '2001:db8::', '2001:db8:0:1::', 'fe80::1', '::', '::1', '2001:db8::ff00', '::ffff:1.2.3.4', '::ffff:102:304',
        'fe80::1%eth0',
        '1.2.3', '01.2.3.4', '256.1.1.1', '1.2.3.4.5', '', 'a', '::1::', '12345::', '::ffff:0:0', '1:2:3:4:5:6:7:8',
        '1:2:3:4:5:6:1.2.3.4',
        "1.2.3.4\x{0}", ' 1.2.3.4', '0:0:0:0:0:0:0:0', '2001:DB8::A' );
}

sub network_text {
    my $address = address_text();
    return $address . '/'
      . one_of( 0, 8, 16, 24, 30, 31, 32, 32, 33, '', '08', '+8', '-1', 64, 127, 128, 129, 96, 120 );
}
sub address { return quoted( address_text() ) }
sub network { return quoted( network_text() ) }
sub range   { return rand() < 0.7 ? network() : address() }

# Small ones: a network of thousands of addresses makes a long answer.
sub small_network {
    return quoted( one_of( '10.0.0.255/', '255.255.255.255/', '1.2.3.4/' ) . one_of( 28, 30, 31, 32 ) ) if rand() < 0.7;
    return quoted( one_of( '2001:db8::ff/', '::ff/' ) . one_of( 124, 126, 127, 128 ) );
}

sub quantity {
    return quoted(
        some_of( 1, '-', '+', ' ' ) . one_of(
            int rand 3000,         rand 100, '.5', '1.', '0.1', '1e3', '1.5E2', '0', '100', '', '1e', '00', '1_0',
            '9223372036854775807', '1e-1' )
          . one_of( '', qw(k K Ki m M mi Mi MB kb KiB g G Gi t T Ti e E Ei p P Z n u), ' k' ) );
}

sub moment_number {
    return int( ( rand(1.7e10) - 8.5e9 ) ) . one_of( '000000000', '000000001', '500000000', '123456789' )
      if rand() < 0.7;
    return one_of(
        qw(0 -1 1 1709210096000000000 951782400000000000 9223372036854775807 -9223372036854775808 1.5 1e18
          9223372036854775808 -62135596800000000000 1.0 -0.0), number() );
}

sub moment {
    return moment_number() if rand() < 0.5;
    return '[' . join(
        ', ',
        moment_number(),
        one_of( qw("" "UTC" "UTC" "Local" "utc" "Europe/Berlin" "x" 1 "GMT"), quoted("UTC\x{0}") ),
        ( rand() < 0.5 ? layout() : () ) ) . one_of( ']', ']', ']', ', 1]', ', "x"]' );
}

sub layout {
    return one_of(
        map { quoted($_) } qw(RFC3339 RFC3339Nano 2006-01-02 RFC1123 ANSIC), '', 'x', '2006-01-02T15:04:05Z07:00',
        'RFC822',       'Kitchen',
        "RFC3339\x{0}", '2006-01-02 15:04:05', '02/01/06', "2006-01-02\x{0}" );
}

sub time_text {
    my $date = sprintf '%s-%s-%s',
      one_of( '2024', '2023', '1900', '2000', '1970', '1677', '2262', '9999', '0000', '0001', '24', '12024', '1600' ),
      one_of( '01', '02', '02', '12', '13', '00', '4', '06' ), one_of( '01', '28', '29', '30', '31', '32', '00', '1' );
    return quoted($date) if rand() < 0.3;
    return quoted(
            $date
          . one_of( 'T',        'T',        'T',        't',          ' ' )
          . one_of( '00:00:00', '23:59:59', '23:59:60', '24:00:00',   '12:34',       '1:02:03', '12:60:00', '03:04:05' )
          . one_of( '',         '',         '.5',       '.123456789', '.1234567891', ',5',      '.',        '.000' )
          . one_of(
            'Z', 'Z', 'Z', '+00:00', '-00:00', '+02:00', '-23:59', '+24:00', '+0200', 'z', '', 'Zx', '+14:60', "Z\x{0}"
          ) );
}

sub duration {
    return quoted(
        some_of(
            4, qw(1h 30m 5s 10ms 2us 7ns 1d 2w 1y 1.5h - + .5s 1. 0 999999999h 2562047h 9223372036s h 1µs 00s),
            '9223372036854775807ns', ' ', "\x{0}" ) );
}

sub version {
    return quoted(
        join '', one_of( '', '', '', 'v', '=' ),
        join(
            '.',
            map { one_of( 0, 1, 2, 10, '01', '', 'x', '18446744073709551616', '9223372036854775808', '-1' ) x 1 }
              1 .. one_of( 1, 2, 3, 3, 3, 3, 4 ) ),
        one_of(
            '', '', '-', '-alpha', '-alpha.1', '-alpha.beta', '-1', '-01', '-rc.1', '-a..b', '-rc.10',
            '-99999999999999999999', '-é', '-0', '-A', '-a-b', '--' ),
        one_of( '', '', '', '+', '+b', '+b.1', '+b+c', '+01' ) );
}

sub plain_version {
    return rand() < 0.5
      ? version()
      : quoted(
            join( '.', map { one_of( 0, 1, 2, 10 ) } 1 .. 3 )
          . one_of( '', '', '-alpha', '-alpha.1', '-alpha.beta', '-1', '-rc.1', '-rc.10', '-2', '-A', '-a-b' )
          . one_of( '', '+b' ) );
}

sub json_text {
    my $text = rand() < 0.6 ? value() : one_of(
        '{"a":1,"a":2}', '[1,]', '01', '1.', '.5', '-', '+1', '1e5', '1e400', '-0', '"\\ud800"', '"\\ud83d\\ude00"',
        '"\\x"',         '"\\u0000"', "\"\n\"",
        'nul',           'true ', "\x{feff}1", '[1] 2', '', ' ', '{"a":}', '"' . "\x{1f600}" . '"', '[' x 50 . ']' x 50,
        "\x{a0}1",       '1e+05', '1E5',       'NaN',   '/**/1',
        '"\\/"',         '"\\udc00\\ud800"', '{"a":1,}', "'a'", '12345678901234567890', '0.10', '1.0',
        '100000000000000000000000.5', '[1,2.50,3e2]', ( $as_json ? '1e9999' : '1e99999' ),
        '[' x 12000 . ']' x 12000,    '"\\u00e9"', "\t[\r\n1 ]\x{b}" );
    return quoted($text);
}

sub base64_text {
    return quoted(
        one_of(
            'YQ==', 'YQ', 'YWI=', 'YWJj', 'YR==', "YQ==\n", "YW\nJj", '', '=', '====', 'Y', '_-8=', '/+8=', '4pi6',
            '_w',   '/w==',     '8J-YgA', '8J+YgA==', 'YQ=',      'YQ===', "YQ==\x{0}",
            'AAAA', 'YWJjZA==', "YW Jj",  'é',        "Y\r\nWJj", 'YWJj=', letters(6) ) );
}

sub hex_text {
    return quoted(
        one_of( '', '6', '61', '6A6a', 'ff', 'f09f9880', '00', 'g0', '6 1', '0x61', 'C3A9', '616', letters(4) ) );
}

sub query_text {
    return quoted( some_of( 5, qw(a b % %2 %20 + %41 %zz & = ; %00 %F0%9F%98%80 %ff %c3%a9), "\x{e9}", ' ' ) );
}

sub pointer {
    my $path = some_of(
        4,     '/', '/a', '/b', '/0', '/1', '/~1', '/~01', '/-', 'a', '/é', '//', '/a/b', '/c', '/a~1b', '/~',
        '/00', '/a/0' );
    return rand() < 0.7 ? quoted($path) : '[' . join( ', ', map { key(0) } 1 .. int rand 4 ) . ']';
}
sub pointers { return list_of( \&pointer, 4 ) }

sub document {
    return one_of(
        '{"a": {"b": [1, 2, {"c": 3}], "d": "x"}, "e": [], "f": null}',
        '{"a": [1, {"b": 2}], "0": {"1": 2}, "1": [[1], [2]]}', object(3) ) if $as_json;
    return one_of(
        '{"a": {"b": [1, 2, {"c": 3}], "d": "x"}, "e": [], "f": null}',
        '{"a": [1, {"b": 2}], "0": {"1": 2}, "1": [[1], [2]]}',
        '{"a": {1, 2, {"b": 1}}, "b": {1: 2, "1": 3}, "": 1}', object(3), object(3), value() );
}

# t/rego/builtins.t has more of these.
sub schema {
    return one_of(
        '{"type": "object"}', '{"required": ["a"]}', '{"properties": {"a": {"type": ["number", "array", "object"]}}}',
        '{"type": "array", "maxItems": 3}',
        '{"additionalProperties": {"minLength": 1}}', '{"minProperties": 1, "maxProperties": 3}',
        '{"not": {"required": ["b"]}}', '{"enum": [1]}', object(2) );
}

sub operation {
    my @part = (
        '"op": ' . quoted( one_of( qw(add remove replace move copy test add remove), 'x' ) ),
        '"path": '
          . one_of(
            map { quoted($_) }
              qw(/a /a/b /a/b/0 /a/b/2/c /a/b/- /a/b/3 /a/b/4 /e/- /e/0 /x /x/y /f /a/b/01 /a/d/q a/d /a/b/x /a/b/-1) )
    );
    push @part, '"value": ' . value(1)                                                         if rand() < 0.9;
    push @part, '"from": ' . one_of( map { quoted($_) } qw(/a /a/b /a/b/0 /a/b/2/c /e /f /x) ) if rand() < 0.6;
    return '{' . join( ', ', @part ) . '}';
}

sub format_text {
    my $verb = sub {
        return
            '%'
          . some_of( 2, '', '', '0', '-', '+', ' ', '#' )
          . one_of( '', '', '', '', 3, 10, '03', '.2', '5.1', '*', '[1]', '[2]', '1000', '.', '6.3', '02' )
          . one_of( qw(d d s s v v x X q o b c e E f g G t T U p % z O w F), 'é', '', "\x{1f600}" );
    };
    return quoted( join '', map { rand() < 0.6 ? $verb->() : letters(2) } 1 .. 1 + rand 3 );
}

sub graph {
    my @node = $as_json ? qw("a" "b" "c" "d" "1") : qw("a" "b" "c" "d" 1 1.5 null);
    my %key  = map { ( one_of(@node) => 1 ) } 1 .. int rand 6;
    return '{' . join(
        ', ',
        map {
            "$_: " . one_of( list_of( sub { one_of(@node) }, 3 ), 'null', '"a"', '{"b": 1}', '[]' )
        } sort keys %key ) . '}';
}

sub token_text {
    my $part = sub {
        return one_of(
            'eyJhbGciOiJIUzI1NiJ9', 'eyJzdWIiOiJhIn0',     'e30',          'bnVsbA',             'W10', '', 'x', 'YQ',
            'eyJhIjoxLCJhIjoyfQ',   'eyJhbGciOiJub25lIn0', 'eyJhIjoxLjB9', 'eyJjdHkiOiJKV1QifQ', 'eyJlbmMiOiJ4In0',
            'e30=',                 'eyJhIjoxZTQwMH0' );
    };
    return quoted( join '.', map { $part->() } 1 .. one_of( 3, 3, 3, 3, 2, 4, 5, 1 ) );
}

sub uuid_text {
    my $text = join '-', map {
        my $n = $_;
        join '', map { one_of( 0 .. 9, 'a' .. 'f', 'A', 1, 4, 7 ) } 1 .. $n
    } 8, 4, one_of( 4, 4, 4, 3 ), 4, 12;
    return quoted(
        one_of(
            $text, $text, $text, "{$text}", "urn:uuid:$text", $text =~ s/-//gr, "URN:UUID:$text", "$text ",
            '00000000-0000-0000-0000-000000000000' ) );
}

# The arguments of a call: a letter of %argument each. A value of any type stands in for one of them now and then.
my %argument = (
    s => \&text,         n => \&number, i => \&integer, x => \&value, p => \&pattern, j => \&subject, t => \&template,
    g => \&glob,         d => \&delimiters,
    G => \&glob_subject, a => sub { array(2) }, o => sub { object(2) }, S => sub { set(2) },
    l => sub { rand() < 0.5 ? array(2) : set(2) },
    c => \&network, r => \&range, C => sub { list_of( \&range ) }, N => sub { list_of( \&number ) },
    I => sub { list_of( \&integer ) },
    T => sub { list_of( \&text ) }, U => \&small_network, q => \&quantity, m => \&moment, L => \&layout,
    M => \&time_text,   D => \&duration,    v => \&plain_version,
    J => \&json_text,   b => \&base64_text, h => \&hex_text, u => \&query_text, P => \&pointers, O => \&document,
    f => \&format_text, F => sub { array_of( \&value, 4 ) },
    H => \&graph, k => \&token_text, w => \&uuid_text, V => sub { version() }, Q => sub { array_of( \&operation, 2 ) },
    W => sub {
        '{' . join(
            ', ',
            map    {"$_->[0]: $_->[1]"}
              sort { $a->[0] cmp $b->[0] }
              values %{ { map { ( $_ => [ $_, text() ] ) } map { quoted( some_of( 2, qw(a b ab) ) ) } 1 .. 1 + rand 3 }
              } ) . '}';
    },
    B => sub { one_of( 2, 8, 10, 16, 3, 10.0, '1e1', 0 ) },
    A => sub {
        array_of( sub { object(2) }, 3 );
    },
    Z => sub {
        list_of( sub { set(1) }, 4 );
    },
    y             => sub { one_of( 1, 2, 3, 0, -1, 1.0, 100 ) },
    E             => sub { one_of( 0 .. 9, -5, 63, 64, 1.5, 100 ) },
    K             => sub { list_of( \&key ) },
    z             => sub { quoted( one_of( 'a', 'b', '', 'ab', '.', '/', "\x{e9}", ',' ) ) },
    e             => \&schema, X => sub { array(3) },
    Y             => sub { one_of( -1, 0, 1, 2, 3, 1.0, 1.5, 10 ) },
    R             => sub { one_of( -5 .. 20 ) },
    small         => \&small,
    'number text' => \&number_text );

my %call = (
    'abs' => 'n', 'array.concat' => 'aa', 'array.flatten' => 'X', 'array.reverse' => 'a', 'array.slice' => 'aii',
    'base64.decode'           => 'b', 'base64.encode' => 's', 'base64.is_valid' => 'b', 'base64url.decode' => 'b',
    'base64url.encode'        => 's',
    'base64url.encode_no_pad' => 's',
    'ceil'               => 'n',  'concat'          => 'sT', 'contains'         => 'sz', 'count'              => 'x',
    'crypto.hmac.equal'  => 'ss', 'crypto.hmac.md5' => 'ss', 'crypto.hmac.sha1' => 'ss', 'crypto.hmac.sha256' => 'ss',
    'crypto.hmac.sha512' => 'ss',
    'crypto.md5'         => 's', 'crypto.sha1' => 's', 'crypto.sha256' => 's', 'endswith' => 'sz', 'floor' => 'n',
    'format_int'         => 'nB',
    'glob.match'         => 'gdG', 'glob.quote_meta' => 'g', 'graph.reachable' => 'HK', 'hex.decode' => 'h',
    'hex.encode'         => 's',
    'indexof'            => 'sz', 'indexof_n' => 'sz', 'intersection' => 'Z', 'io.jwt.decode' => 'k', 'is_array' => 'x',
    'is_boolean'         => 'x',  'is_null'   => 'x',
    'is_number'          => 'x',  'is_object' => 'x',    'is_set' => 'x', 'is_string' => 'x', 'json.filter' => 'OP',
    'json.is_valid'      => 'J',  'json.marshal' => 'x', 'json.match_schema' => 'Oe',
    'json.patch' => 'OQ', 'json.remove' => 'OP', 'json.unmarshal' => 'J', 'lower' => 's', 'max' => 'l', 'min' => 'l',
    'net.cidr_contains'         => 'cr',
    'net.cidr_contains_matches' => 'CC', 'net.cidr_expand'    => 'U', 'net.cidr_intersects' => 'cc',
    'net.cidr_is_valid'         => 'c',  'net.cidr_merge'     => 'C',
    'numbers.range'             => 'RR', 'numbers.range_step' => 'RRy', 'object.filter' => 'oK', 'object.get' => 'oxx',
    'object.keys'               => 'o',
    'object.remove' => 'oK', 'object.subset' => 'xx', 'object.union' => 'oo', 'object.union_n' => 'A', 'product' => 'N',
    'regex.find_all_string_submatch_n' => 'pjY', 'regex.find_n'             => 'pjY', 'regex.is_valid'  => 'p',
    'regex.match'                      => 'pj',  'regex.replace'            => 'jpt', 'regex.split'     => 'pj',
    'replace'                          => 'szs', 'round'                    => 'n',   'sort'            => 'l',
    'split'                            => 'sz',  'sprintf'                  => 'fF',  'startswith'      => 'sz',
    'strings.any_prefix_match'         => 'TT',  'strings.any_suffix_match' => 'TT',  'strings.count'   => 'sz',
    'strings.replace_n'                => 'Ws',  'strings.reverse'          => 's',   'strings.split_n' => 'szY',
    'substring'     => 'sii', 'sum' => 'N', 'time.add_date' => 'miii', 'time.clock' => 'm', 'time.date' => 'm',
    'time.format'   => 'm',   'time.parse_duration_ns' => 'D',
    'time.parse_ns' => 'LM',  'time.parse_rfc3339_ns' => 'M', 'time.weekday' => 'm', 'to_number' => 'x', 'trim' => 'ss',
    'trim_left'     => 'ss',  'trim_prefix'           => 'sz', 'trim_right'  => 'ss',
    'trim_space'    => 's',   'trim_suffix'           => 'sz', 'type_name'   => 'x', 'union' => 'Z',
    'upper'         => 's',   'urlquery.decode'       => 'u',
    'urlquery.encode' => 's', 'uuid.parse'            => 'w', 'walk' => 'x',

    # Operators, which have names in plans.
    '+'  => 'nn', '-' => 'xx', '*'  => 'nn', '/' => 'nn', '%'  => 'ii', '&' => 'SS', '|' => 'SS', '==' => 'xx',
    '!=' => 'xx', '<' => 'xx', '<=' => 'xx', '>' => 'xx', '>=' => 'xx' );
my @operators = grep {/\A\W/} sort keys %call;

# OPA refuses these in modules of the present language.
my %deprecated = map { ( $_ => 1 ) } qw(cast_array cast_set re_match net.cidr_overlap);
my @all        = sort keys %call;

sub letters_of { my ($name) = @_; return split //, $call{$name} }

sub argument_of { my ($letter) = @_; return $argument{$letter}->() }

sub json_of {
    my ($letter) = @_;
    local $as_json = 1;
    return $argument{$letter}->();
}

sub names { return @all }

sub names_of_reference {
    open my $in, '<', Authz::Path::source(qw(doc reference builtins.md)) or die "builtins.md: $!";
    return grep { $_ ne 'time.now_ns' } map {/\A\| `([^`]+)`/} <$in>;
}

sub new {
    my ( $class, $seed ) = @_;
    srand $seed;
    return bless {}, $class;
}

sub knows { my ( $self, $name ) = @_; return exists $call{$name} || exists $deprecated{$name} }

sub function_of {
    my ($name) = @_;
    my ($i)    = grep { $all[$_] eq $name } 0 .. $#all;
    return "f$i";
}

# OPA remembers what a function gave for equal arguments, and 1.0 equals 1, so that an answer could have the spelling of
# another call. So each call has a number.
my $number_of_call = 0;
sub untyped { my ($text) = @_; return 'any_type([' . ++$number_of_call . ", $text])[1]" }

sub help {
    my $text = "any_type(x) := x\n\n";
    for my $name (@all) {
        my @any  = map {"any_type([a[0], $_, a[$_]])[2]"} 1 .. length $call{$name};
        my $body = $name =~ /\A\W/ ? "$any[0] $name $any[1]" : "$name(" . join( ', ', @any ) . ')';
        if ( $name eq 'walk' ) { $body = "[p | walk($any[0], p)]" }
        $text .= function_of($name) . "(a) := $body\n\n";
    }
    return $text;
}

sub number_text {
    return quoted(
        one_of(
            @numbers, '', ' 1', '1 ', '01', '1_0', '0x1', 'Inf', '-inf', 'nan', 'NaN', '+1', '1.', '.5', '1e', '--1',
            "1\x{0}", "\x{661}", '0b1', 'infinity', '1e+5', '-01', '0x1p-2' ) );
}

# A call with its arguments; deep of calls within calls.
sub expression {
    my ($depth) = @_;
    my $name    = rand() < 0.12 ? one_of(@operators) : one_of(@all);
    my @arg     = map { $argument{$_}->() } split //, $call{$name};
    if ( $name eq 'to_number' && rand() < 0.6 ) { $arg[0] = number_text() }
    if ( $name =~ /\A(?:[-<>=!])/ && rand() < 0.5 ) {
        @arg = rand() < 0.5 ? ( number(), number() ) : ( set(2), set(2) );
    }
    if ( $name eq 'object.subset' && rand() < 0.7 ) {
        my $kind = one_of( \&object, \&array, \&set );
        @arg = ( $kind->(2), rand() < 0.2 ? set(1) : $kind->(1) );
    }
    if ( $name eq 'sprintf' && rand() < 0.5 ) {
        $arg[1] = array_of( one_of( \&number, \&integer, \&text, \&scalar_value ), 3 );
    }

    # OPA itself knows no bound of these.
    my $plain = $name =~ /\Anumbers\./;
    for my $i ( 0 .. $#arg ) {
        my $odd = $plain ? 1 : rand;
        if    ( $odd < 0.05 )               { $arg[$i] = value(2) }
        elsif ( $odd < 0.09 && $depth > 0 ) { $arg[$i] = ( expression( $depth - 1 ) )[1] }
    }
    return ( $name, function_of($name) . '([' . join( ', ', ++$number_of_call, @arg ) . '])' );
}

# The type is shown, so that a set is no array. Texts of sets within are seen through sprintf now and then.
sub call {
    my ( $name, $text ) = expression(2);
    my $shown = one_of(
        ('[type_name(x), x]') x 4, 'sprintf("%v", [x])',
        '[y | y := any_type([' . ++$number_of_call . ', x])[1][_]]', '{x, 1, "a"}', '{x: 1}', 'json.marshal(x)' );
    return [ $name, "RULE := $shown if {\n\tx := $text\n}\n" ];
}

# Rules of the language. V in a text is a random value; each use is another one.
my @rules = (
    [ 'comprehension', 'RULE := [[x, y] | some x in V; y := x; x != V]' ],
    [ 'comprehension', 'RULE := {x | some x in V; some y in V; x == y}' ],
    [ 'comprehension', 'RULE := {k: v | some k, v in V}' ],
    [ 'comprehension', 'RULE := {k: v | some v; k := V[v]}' ],
    [ 'comprehension', 'RULE := {x: y | some x in V; some y in V}' ],
    [ 'comprehension', 'RULE := [z | z := {a | some a in [V, V, V]; b := [c | some c in V; c == a]; count(b) > 0}]' ],
    [ 'some',          'RULE := [k, v] if { some k, v in [V]; v == V }' ],
    [ 'some',          'RULE contains [k, v] if { some k, v in V }' ],
    [ 'some',          'RULE contains x if { some [x, C] in [V, [V, C], [1, 2], [V, 1]] }' ],
    [ 'some',          'RULE contains x if { some {"a": x} in [V, {"a": V}, {"a": V, "b": 1}] }' ],
    [ 'some',          'RULE := count({x | some x; V[x]})' ],
    [ 'in',            'RULE := [V in V, V in {V, V}, V, V in {V: V}]' ],
    [ 'in',            'RULE if { V in V }' ],
    [ 'in',            'RULE if { not V in V }' ],
    [ 'every',         'RULE if { every x in V { x != V } }' ],
    [ 'every',         'RULE if { every k, v in V { k != v; v != V } }' ],
    [ 'every',         'RULE if { not V == V } else := 2 if { every x in V { is_number(x) } } else := 3' ],
    [ 'every',         'RULE := [every1 | every1 := 1; every x in V { some y in V; x == y }]' ],
    [ 'with',          'RULE := answer if { answer := input with input as V }' ],
    [ 'with',          'RULE := answer if { answer := input.a with input.a as V }' ],
    [ 'with',          'RULE := answer if { answer := input with input.a.b as V with input.a.c as V }' ],
    [ 'with',          'RULE := answer if { answer := [x | x := input.a[_] with input as {"a": V}] }' ],
    [ 'with',          'RULE := answer if { answer := [input.a, input.b.c] with input as V with input.b.c as V }' ],
    [ 'with',          'RULE := answer if { answer := data.other with data.other as V }' ],
    [ 'with',          'RULE := answer if { answer := data.other.x with data.other.x.y as V }' ],
    [   'with',
        "RULE := [RULE_h, x, RULE_h] if { x := RULE_h with input as V }\n\ndefault RULE_h := 0\n\nRULE_h := input" ],
    [ 'with', "RULE := answer if { answer := f_RULE(1) with f_RULE as V }\n\nf_RULE(x) := x" ],
    [ 'with', 'RULE := answer if { answer := count(V) with count as V }' ],
    [ 'with', "RULE := answer if { answer := time.now_ns() with time.now_ns as V }" ],
    [ 'else', 'RULE := V if { V == V } else := V if { V < V } else := V' ],
    [ 'else', 'RULE := V if { not V } else := V if { V } else := V' ],
    [   'else',
        "RULE := [f_RULE(V), f_RULE(V), f_RULE(1)]\n\nf_RULE(x) := 1 if { x == V } else := 2 if { x < V } else := 3" ],
    [ 'else',           "RULE := RULE_b\n\nRULE_b if { V } else := null if { V == 1 } else := false" ],
    [ 'partial set',    "RULE contains V\n\nRULE contains V if V\n\nRULE contains x if some x in V" ],
    [ 'partial object', "RULE[V] := V\n\nRULE[V] := V if V\n\nRULE[k] := v if some k, v in V" ],
    [ 'partial object', "RULE[S] := S\n\nRULE[S] := S" ],
    [ 'partial object', "RULE.a.b := V\n\nRULE.a.c := V if V\n\nRULE.d[C] := V if V" ],
    [ 'partial object', "RULE.a[x] contains y if { some x in [S, S]; some y in V }" ],
    [ 'partial object', "RULE[x].b[y] := 1 if { some x in [S, S]; some y in V }" ],
    [ 'reference',      "RULE := [RULE_p[S], RULE_p[_]]\n\nRULE_p[C] := S\n\nRULE_p.a := V" ],
    [ 'reference',      "RULE := [x | RULE_p[x]]\n\nRULE_p contains V\n\nRULE_p contains S" ],
    [ 'reference',      "RULE if RULE_p[S]\n\nRULE_p contains V\n\nRULE_p contains S" ],
    [ 'reference',      "RULE := RULE_p[i][j] if { i := S; j := S }\n\nRULE_p := V" ],
    [ 'reference',      "RULE := [[i, j, x] | x := RULE_p[i][j]]\n\nRULE_p := V" ],
    [   'reference',
        "RULE := answer if { answer := [x | some i; x := input[i].a] with input as [V, {\"a\": V}, {\"a\": {S}}] }" ],
    [ 'reference',   "RULE := answer if { answer := input[S] with input as V }" ],
    [ 'reference',   "RULE := answer if { i := S; answer := input[i] with input as V }" ],
    [ 'reference',   "RULE := answer if { answer := input[S][S] with input as [V, V] }" ],
    [ 'default',     "default RULE := C\n\nRULE := V if V" ],
    [ 'default',     "default RULE := false\n\nRULE if { V < V; V }" ],
    [ 'default',     "RULE := [f_RULE(V), f_RULE(S)]\n\ndefault f_RULE(_) := 7\n\nf_RULE(x) := x.a" ],
    [ 'conflict',    "RULE := V if V\n\nRULE := V" ],
    [ 'conflict',    "RULE := S\n\nRULE := S" ],
    [ 'conflict',    "RULE := f_RULE(S, S)\n\nf_RULE(C, x) := x\n\nf_RULE(x, C) := x\n\nf_RULE(_, _) := 1 if V" ],
    [ 'conflict',    "RULE := f_RULE(V)\n\nf_RULE([x, C]) := x\n\nf_RULE({\"a\": x}) := x\n\nf_RULE(C) := 1" ],
    [ 'conflict',    'RULE := {x: y | some x in {S, S}; some y in {S, S}}' ],
    [ 'not',         'RULE if { not V }' ],
    [ 'not',         'RULE if { x := V; not x == V; not x.a }' ],
    [ 'not',         'RULE := [x | some x in V; not x]' ],
    [ 'not',         "RULE if { not RULE_n }\n\nRULE_n := V if V" ],
    [ 'not',         'RULE := count([1 | x := [V, V][_]; not x[0] == V])' ],
    [ 'sets',        'RULE := [V_SET | V_SET, V_SET & V_SET, V_SET - V_SET, V_SET == V_SET]' ],
    [ 'sets',        'RULE := {V, V, V} | {V, V} & {V, V, S} - {S}' ],
    [ 'sets',        'RULE := count({V, V, V, S, S, S})' ],
    [ 'comparison',  'RULE := [V < V, V <= V, V > V, V >= V, V == V, V != V]' ],
    [ 'comparison',  'RULE := [S < S, S <= S, S > S, S >= S, S == S, S != S]' ],
    [ 'comparison',  'RULE := sort([V, V, V, V, V])' ],
    [ 'comparison',  'RULE := [max({V, V, V}), min({V, V, V})]' ],
    [ 'comparison',  'RULE := {[V, V]: 1, [S, S]: 2}' ],
    [ 'unification', 'RULE := [x, y] if { [x, y] = V }' ],
    [ 'unification', 'RULE := [x, y] if { [x, {"a": y}] = [V, {"a": V}] }' ],
    [ 'unification', 'RULE := x if { [x, S] = [S, x] }' ],
    [ 'unification', 'RULE := x if { {"a": x, "b": S} = {"a": V, "b": S} }' ],
    [ 'unification', 'RULE := x if { V = x; x = V }' ],
    [ 'unification', 'RULE := [i, j] if { V[i] = V[j] }' ],
    [ 'unification', 'RULE := [[i, j] | [V, S][i] = [S, V][j]]' ],
    [ 'unification', 'RULE if { V = V }' ],
    [ 'unification', 'RULE := [x | {C: x} = V]' ],
    [ 'keys',        'RULE := O[S]' ],
    [ 'keys',        'RULE := O[C]' ],
    [ 'constants',   'RULE := [C, [C, {C, C}, {C: C}]]' ],
    [ 'constants',   'RULE := [x | some x in [C, C, {C}, {C: C}]; x != V]' ],
    [ 'constants',   'RULE := answer if { answer := input.a[C] with input as {"a": V} }' ],
    [ 'constants',   'RULE := answer if { answer := [input[C], data.nothing] with input as {C: V} }' ],
    [ 'constants',   'RULE := {M, M, M}' ],
    [ 'constants',   'RULE := [{M, M}, [M], M]' ],

    [ 'keys',     'RULE := {x: 1 | some x in [V, V, V]}[S]' ],
    [ 'keys',     'RULE := object.keys({x: 1 | some x in [V, S, S]})' ],
    [ 'template', 'RULE := $"x{V}y{S}z"' ],
    [ 'number',   'RULE := [N + N, N - N, N * N]' ],
    [ 'number',   'RULE := [N / N, N % N]' ],
    [ 'number',   'RULE := [N == N, N < N, N <= N, {N, N, N}, [N, N][N]]' ],
    [ 'number',   'RULE := {M: 1, M: 2}' ],
    [ 'number',   'RULE := [count({N, N, N}), sort([N, N, N]), max([N, N])]' ],
    [ 'number',   'RULE := x if { x := {y: 1 | some y in [N, N]}[N] }' ],
    [ 'number',   'RULE := N in {N, N, N}' ],
    [ 'number',   'RULE := {N, N} - {N}' ],
    [ 'number',   'RULE := object.get({y: 1 | some y in [N, N]}, N, 0)' ],
    [ 'number',   "RULE := f_RULE(N)\n\nf_RULE(M) := 1\n\nf_RULE(M) := 2\n\nf_RULE(x) := 3 if x == N" ],
);

# A rule of the language before its values are put in: [its kind, its text].
sub rule_template { return one_of(@rules) }

# V, S and N are values whose type the compiler does not see: any ones, small ones and numbers. C and M are constants.
sub rule {
    my ( $kind, $text ) = @{ one_of(@rules) };
    my %make = (
        V     => sub { untyped( value(2) ) },
        S     => sub { untyped( small() ) },
        N     => sub { untyped( number() ) },
        O     => sub { untyped( object(2) ) },
        V_SET => sub { untyped( set(2) ) },
        C     => \&small,
        M     => \&number );
    $text =~ s/(?<![\w"])(V_SET|V|S|N|O|C|M)(?![\w"])/$make{$1}->()/ge;
    return [ $kind, "$text\n" ];
}

1;

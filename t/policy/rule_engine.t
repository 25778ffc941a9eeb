# rule_package() must read the same package from a Rego text as the engine does: an operator's rule that got into package svc or
# system unnoticed would count as one of ours (fcgi/policy/rows/rule.h). The engine may refuse a text that we accept; it must not
# accept one in which we read no package or another name.
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();

# AUTHZ_SEED=N tries other texts.
my $seed   = $ENV{AUTHZ_SEED} // 1;
my $reader = Authz::Path::program('t/policy/rule-t');
my $dir    = Authz::Process::directory();

sub write_octets {
    my ( $path, $octets ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $octets or die;
    close $out           or die "$path: $!";
    return $path;
}

# Our reading of each text: 'none', 'unread' or 'named NAME'.
sub ours {
    my $path = write_octets( "$dir/texts", join '', map {"$_\0"} @_ );
    open my $in, '-|', $reader, 'read', $path or die "$reader: $!";
    chomp( my @line = readline $in );
    close $in or die "$reader: $?";
    return @line;
}

# The engine's: the package's words as one text with blanks between, '' for what it refuses.
sub engines {
    my @text  = map { MIME::Base64::encode_base64( $_, '' ) } @_;
    my $input = write_octets( "$dir/input.json", JSON::PP->new->utf8->encode( \@text ) );
    my $query =
      '{i: p | m := rego.parse_module("rule.rego", base64.decode(input[i])); p := [t.value | t := m["package"].path[_]]}';
    open my $in, '-|', Authz::Path::opa(), 'eval', '--format', 'raw', '--input', $input, $query or die "opa: $!";
    my $answer = do { local $/ = undef; readline $in };
    close $in or die "opa eval: $?\n$answer";
    my $name = JSON::PP->new->utf8->decode($answer);
    return map {
        my $words = $name->{$_};
        $words ? do { shift @$words; $words } : undef
    } 0 .. $#text;
}

sub show {
    return join '', map { /[\x20-\x7e]/ ? $_ : sprintf '<%02x>', ord } split //, $_[0];
}

# undef where they agree, else what is wrong.
sub quarrel {
    my ( $ours, $engines ) = @_;
    return                      if !$engines || $ours eq 'unread';
    return 'we read no package' if $ours eq 'none';
    my ($name) = $ours =~ /\Anamed (.*)\z/ or return "we say $ours";
    return if JSON::PP->new->encode( [ split /\./, $name, -1 ] ) eq JSON::PP->new->encode($engines);
    return "we read $name, the engine @$engines";
}

# ---- the table of rule-t.c

open my $in, '-|', $reader, 'table' or die "$reader: $!";
my @table = map {s/\0\z//r} do { local $/ = "\0"; readline $in };
close $in or die "$reader: $?";
my ( @ours, @engines ) = ();
@ours    = ours(@table);
@engines = engines(@table);
cmp_ok( scalar @table, '>', 90, 'the table is there' );
is( scalar @ours, scalar @table, 'each text of it is read' );

for my $i ( 0 .. $#table ) {
    my $wrong = quarrel( $ours[$i], $engines[$i] );
    ok( !$wrong, 'the engine agrees: ' . show( $table[$i] ) =~ s/#/<23>/gr ) or diag($wrong);
}

# The same by the engine's own parser of files, for what it takes: builtin and loader are one.
for my $i ( grep { $engines[$_] } 0 .. $#table ) {
    my $path = write_octets( "$dir/rule.rego", $table[$i] );
    open my $parse, '-|', Authz::Path::opa(), 'parse', '--format', 'json', $path or die "opa: $!";
    my $module = eval {
        JSON::PP->new->utf8->decode( do { local $/ = undef; readline $parse } );
    };
    close $parse;
    is_deeply(
        [ map { $_->{value} } @{ $module->{package}{path} // [] } ], [ 'data', @{ $engines[$i] } ],
        'opa parse: ' . show( $table[$i] ) =~ s/#/<23>/gr );
}

# ---- texts made at random of the pieces that matter

my @blank = ( ' ', "\n", "\t", "\r\n", "#c\n", "# package a\n", "#\r", '', '' );
my @word  = (
    qw(svc system a b svcs data input package default if in null true contains every not and or _ _svc x1 Svc),
    "svc\xd9\xa3", "s\xc3\xa9", '1a', '' );
my @text = (
    '"svc"', '"b"', '"b-c"', '"b.c"', '""', '"s\\u0076c"', '"\\"b"', '`svc`', '`b\\`', '$"b"', '("b")', '"b" "c"', 'b',
    '1',     '"b' );
my @other = (
    '(',        ')', '(1)', ';', ':=', '{', '}', '[', ']', '.', ',', '=', '!', '$', '"', '`', '\\', '-', "\xef\xbb\xbf",
    "\xc2\xa0", "\xd9\xa3", "\xff", "\x01", "\x0b", 'x := 1', 'import data.a', 'package', ' package svc' );
my @tail = (
    '', '', "\n", "\nx := 1\n", " # end\n", ' x := 1', "\n\nimport data.a\n\nallow if true\n", "\npackage svc", "\n.b",
    "\n[\"b\"]", "\n(x)" );

sub pick { return $_[ rand @_ ] }

sub member { return rand() < 0.6 ? '.' . pick(@word) : '[' . pick(@blank) . pick(@text) . pick(@blank) . ']' }

sub declaration {
    my $text = join '', pick( '', '', '', "\xef\xbb\xbf", "\x0b" ), pick(@blank),
      pick( ('package') x 12, 'Package', "package\xc2\xa0", '' ), pick( ' ', ' ', "\n", '#c' . "\n", @blank );
    $text .= pick(@blank) . pick(@word);
    $text .= member() for 1 .. rand 4;
    $text .= pick(@tail);

    # Sometimes one piece in an odd place.
    substr $text, rand( length($text) + 1 ), 0, pick( @other, @blank, @word ) if rand() < 0.3;
    return $text;
}

srand $seed;
my %seen;
my @random = grep { !/\0/ && !$seen{$_}++ } map { declaration() } 1 .. 20_000;
@ours    = ours(@random);
@engines = engines(@random);
my ( $taken, $same, @wrong ) = ( 0, 0 );
for my $i ( 0 .. $#random ) {
    my $wrong = quarrel( $ours[$i], $engines[$i] );
    push @wrong, show( $random[$i] ) . ": $wrong" if $wrong;
    $taken++ if $engines[$i];
    $same++  if $engines[$i] && $ours[$i] =~ /\Anamed/;
}
is( join( "\n", @wrong ), '',
    'of '
      . @random
      . " texts made at random (seed $seed) the engine takes none that we read as nothing or as another name" );
cmp_ok( $taken, '>', 1000, "... and it takes $taken of them" );
cmp_ok( $same,  '>', 1000, "... of which we read $same as it does" );

done_testing;

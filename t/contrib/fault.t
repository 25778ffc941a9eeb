# The programme of faults (contrib/fault/programme; performance.md 4.2): each of R1 to R20 has a line, and each test that it names is
# there.
use strict;
use warnings;

use Test::More;

use Authz::Path ();

my $file = Authz::Path::source(qw(contrib fault programme));
open my $in, '<', $file or die "$file: $!";
my @row = map { chomp; [ split /\|/ ] } grep { !/\A#/ } readline $in;
is( join( ' ', map { $_->[0] } @row ), join( ' ', map {"R$_"} 1 .. 20 ), 'each fault has one line, in order' );
is( join( ' ', map { $_->[0] } grep { @$_ != 4 } @row ), '',
    'each line says what is done, what must hold and what does it' );
for my $row (@row) {
    my ( $name, undef, undef, $how ) = @$row;
    my ($tests) = $how =~ /\A(.*?)\s*(?:\b(?:by|open)\b.*)?\z/;
    my @missing = grep { !-e Authz::Path::source($_) && !-e Authz::Path::source("$_.c") } split ' ', $tests;
    is( "@missing", '', "$name: its tests are there" );
    ok( $tests ne '' || $how =~ /\A(?:by|open)/, "$name: has a test, or says what else does it" );
}

# Run by its own words.
my $run = Authz::Path::source(qw(contrib fault run));
my $all = `$^X $run --list`;
is( $?,                                0,  'contrib/fault/run --list' );
is( scalar( () = $all =~ /^R\d+ /mg ), 20, '... prints them all' );
my $said = `$^X $run R99 2>&1`;
isnt( $?, 0, 'a fault that is not there' );
is( $said, "contrib/fault/run: R99 is no fault; --list prints them\n", '... is named' );

done_testing;

# doc/how-authz-is-tested.md: its numbers are those of the source, rounded down by at most a fifth, and the modes of contrib/check
# that it names are there.
use strict;
use warnings;

use Test::More;

use Authz::Path ();
use Authz::Web  ();

my $top  = Authz::Path::source('.');
my $page = Authz::Web::edit( Authz::Path::source( 'doc', 'how-authz-is-tested.md' ) );

my %count = (
    'Perl files'         => [ map {glob} "$top/t/*/*.t", "$top/t/*/*/*.t" ],
    'C programs'         => [ split /\n/,                qx(find $top/t -name '*-t.c') ],
    'Programs of t/fuzz' => [ glob "$top/t/fuzz/fuzz_*.c" ],
    'Browser, client'    => [ map {glob} "$top/t/interop/*.mjs", "$top/t/deploy/*.t" ],
);
for my $row ( sort keys %count ) {
    my ($said) = $page =~ /^\| \Q$row\E[^|]*\| (\d+) \|$/m;
    my $is = @{ $count{$row} };
    ok( defined $said && $said <= $is && $is <= $said * 1.2, "$row: at least the number of the page" )
      or diag "the page says " . ( $said // 'nothing' ) . ", there are $is";
}

my $check = Authz::Web::edit( Authz::Path::source( 'contrib', 'check' ) );
my %mode  = map { ( $_ => 1 ) } $page =~ /(?<=`)(?:contrib\/check )?(--[a-z-]+)/g;
cmp_ok( scalar keys %mode, '>', 5, 'modes of contrib/check are named' );
is( join( ' ', grep { $_ ne '--help' && $check !~ /^  \Q$_\E\b/m } sort keys %mode ), '', '... and each exists' );

done_testing;

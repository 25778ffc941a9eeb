# contrib/plant/faults: each row applies to the tree as it stands, so that the judge of the core (contrib/plant/README) can plant it.
use strict;
use warnings;

use Test::More;

use Authz::Path ();

my $run = Authz::Path::source(qw(contrib plant run));
is( `$^X $run --check`, '', 'the old lines of each fault stand exactly once in its file' );
is( $?,                 0,  '... says contrib/plant/run --check' );

open my $in, '<', Authz::Path::source(qw(contrib plant faults)) or die $!;
my @id = map { /\A([ao][0-9]{2}) (?:fcgi|cli)\/\S+\n\z/ ? $1 : () } readline $in;
is( "@id", join( ' ', map { sprintf 'a%02d', $_ } 1 .. 20 ) . ' ' . join( ' ', map { sprintf 'o%02d', $_ } 1 .. 20 ),
    'there are 40 faults, half of them in authorization' );

my $said = `$^X $run --minutes 0 / 2>&1`;
isnt( $?, 0, 'no minutes are a wrong command line' );
like( $said, qr/\Ausage: /, '... which is shown' );

done_testing;

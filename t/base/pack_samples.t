# The dictionaries of packed documents are what build-aux/pack-samples writes, and each is a row of JSON documents.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path ();

my $script = Authz::Path::source(qw(build-aux pack-samples));
open my $in, '<', Authz::Path::source(qw(fcgi base pack_dictionaries.c)) or die "pack_dictionaries.c: $!";
is( do { local $/ = undef; readline $in }, scalar qx($^X $script),
    'build-aux/pack-samples writes pack_dictionaries.c' );

my %dictionary = Authz::Check::dictionaries();
is( join( ' ', sort keys %dictionary ), '4 5 6', 'there are three' );
for my $number ( sort keys %dictionary ) {
    my $parser = JSON::PP->new->utf8;
    $parser->incr_parse( $dictionary{$number} );
    my $count = 0;
    $count++ while $parser->incr_parse;
    is( $count,             4,  "dictionary $number: four documents" );
    is( $parser->incr_text, '', '... and nothing else' );
}
done_testing();

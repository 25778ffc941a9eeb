# The questions that come with the program for the trial of a save (fcgi/policy/trial/samples.c; policy.md 7.3): each is one that
# the service could ask, and there is one for each evaluation.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Inputs ();
use Authz::Path   ();
use Authz::Web    ();

my $source = Authz::Web::edit( Authz::Path::source(qw(fcgi policy trial samples.c)) );
my %seen;
while ( $source =~ /^ +\{"([^"]+)", "(\w+)",\n((?: +"(?:[^"\\]|\\.)*"\n?)+)\},/mg ) {
    my ( $name, $hooks, $lines ) = ( $1, $2, $3 );
    my $text  = join '', map {s/\\(.)/$1/gr} $lines =~ /^ +"(.*)"$/mg;
    my $asked = JSON::PP->new->decode($text);
    $seen{ $asked->{evaluation} }++;
    my $batch = $asked->{evaluation} eq 'authzen_batch' ? $asked->{authzen}{evaluations} : undef;
    my @asked = $batch
      ? map {
        { %$asked, evaluation => 'authzen', authzen => $_ }
      } @$batch
      : $asked;
    is( join( "\n", Authz::Inputs::faults(@asked) ), '', "$name: it fits the schema of its evaluation" );
    like( $asked->{evaluation}, $hooks eq 'issue' ? qr/\A(?:issue|preview)\z/ : qr/\A\Q$hooks\E/, "$name: its hooks" );
}
is( join( ' ', sort keys %seen ),
    'admin authzen authzen_batch gateway gateway_tools introspect issue preview register',
    'each evaluation has a sample' );
done_testing;

# The shipped Cedar schema is one that cedar-wasm, the reference implementation, takes, and its two forms are the same; rules that
# doc/cedar.md shows are valid by it, and rules with a slip are not.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Interop ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

Authz::Interop::need();

my $file = Authz::Path::source( 'etc', 'policy', 'service.cedarschema' );
my ( $node, @script ) = Authz::Node::command( 'interop', 'cedar_schema.mjs', $file );
my $process = Authz::Process->start( name => 'cedar-schema', command => [ $node, @script ] );
is( $process->wait(60), 0, 'cedar-wasm takes the schema' ) or diag $process->log_text;
my $told = JSON::PP->new->utf8->decode( $process->log_text =~ /^(\{.*\})$/m ? $1 : '{}' );
is_deeply(
    $told->{schema}, JSON::PP->new->utf8->decode( Authz::Web::edit("$file.json") ),
    'service.cedarschema.json is service.cedarschema' );
is( $told->{faults}{good},   0, 'rules as in doc/cedar.md are valid' );
is( $told->{faults}{$_} > 0, 1, "a rule with a slip in $_ is not valid" ) for qw(type action member);
done_testing;

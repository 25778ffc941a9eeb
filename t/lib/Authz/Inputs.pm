package Authz::Inputs;

# The schemas of policy's input documents (etc/policy/inputs) against the documents that decisions stored.
#   inputs_ok($stack);                          a test: every stored input of this service matches its schema
#   my @all = Authz::Inputs::stored($stack);    those inputs, decoded
#   Authz::Inputs::faults(@documents);          what the engine's own validator says of them, one text each
#   Authz::Inputs::described($name);            paths of all members that a schema describes: request.id, redirect_uris[].uri
#   Authz::Inputs::members($document);          paths of all members of a document

use strict;
use warnings;
use Exporter 'import';

use JSON::PP   ();
use Test::More ();

use Authz::Check   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

our @EXPORT = qw(inputs_ok);

my $json = JSON::PP->new->utf8->canonical;

sub directory { return Authz::Path::source( 'etc', 'policy', 'inputs' ) }

sub names {
    return map {m{([^/]+)\.json\z}} sort glob directory() . '/*.json';
}

sub schema {
    my ($name) = @_;
    return $json->decode( Authz::Web::edit( directory() . "/$name.json" ) );
}

# The schema of a document: that of its evaluation; a preview is an issuance.
sub name_of {
    my ($document) = @_;
    my $evaluation = $document->{evaluation} // '';
    return $evaluation eq 'preview' ? 'issue' : $evaluation;
}

sub stored {
    my ($stack) = @_;
    my $rows =
      $stack->sql("SELECT encode(policy_input, 'hex') FROM audit_log WHERE policy_input IS NOT NULL ORDER BY id");
    return map { Authz::Check::decode_packed($_) } split ' ', $rows;
}

# Validate with the engine: its validator is none of ours, and knows the whole of JSON Schema.
sub faults {
    my (@documents) = @_;
    my $dir         = Authz::Process::directory();
    my %schema      = map { ( $_ => schema($_) ) } names();
    Authz::Web::write_file( "$dir/schemas.json", $json->encode( { schema => \%schema } ) );
    Authz::Web::write_file(
        "$dir/documents.json",
        $json->encode( [ map { { schema => name_of($_), document => $_ } } @documents ] ) );
    Authz::Web::write_file( "$dir/faults.rego", <<'REGO' );
package faults

all contains sprintf("%d (%s): %v", [i, entry.schema, errors]) if {
	some i, entry in input
	[false, errors] = json.match_schema(entry.document, data.schema[entry.schema])
}

all contains sprintf("%d: no schema %s", [i, entry.schema]) if {
	some i, entry in input
	not data.schema[entry.schema]
}
REGO
    open my $out, '-|', Authz::Path::opa(), qw(eval --format raw --data), "$dir/schemas.json", '--data',
      "$dir/faults.rego", '--input', "$dir/documents.json", 'data.faults.all'
      or die "opa: $!";
    my $text = do { local $/ = undef; readline $out };
    close $out or die "opa eval failed: $text\n";
    return @{ $json->decode($text) };
}

# A reference, or the definition that it names.
sub _follow {
    my ( $root, $schema ) = @_;
    my ($name) = ( $schema->{'$ref'} // return $schema ) =~ m{\A\#/\$defs/(\w+)\z}
      or die "reference $schema->{'$ref'}\n";
    return _follow( $root, $root->{'$defs'}{$name} // die "no definition $name\n" );
}

sub _described {
    my ( $root, $schema, $path ) = @_;
    my $at    = _follow( $root, $schema );
    my @parts = map { _described( $root, $_, $path ) } @{ $at->{anyOf} // [] };
    push @parts, _described( $root, $at->{items}, "${path}[]" ) if $at->{items};
    for my $name ( sort keys %{ $at->{properties} // {} } ) {
        my $member = $path eq '' ? $name : "$path.$name";
        push @parts, $member, _described( $root, $at->{properties}{$name}, $member );
    }
    return @parts;
}

sub described {
    my ($name) = @_;
    my $root = schema($name);
    return _described( $root, $root, '' );
}

sub members {
    my ( $value, $path ) = @_;
    $path //= '';
    return map { members( $_, "${path}[]" ) } @$value if ref $value eq 'ARRAY';
    return                                            if ref $value ne 'HASH';
    return map { my $at = $path eq '' ? $_ : "$path.$_"; ( $at, members( $value->{$_}, $at ) ) } sort keys %$value;
}

sub inputs_ok {
    my ($stack) = @_;
    my @all     = stored($stack);
    my @faults  = faults(@all);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return Test::More::ok(
        @all && !@faults,
        'the ' . @all . ' inputs of the decisions here match the shipped schemas (policy.md 6.2)'
    ) || Test::More::diag( join "\n", @faults[ 0 .. ( @faults > 20 ? 19 : $#faults ) ] );
}

1;

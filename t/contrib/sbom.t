# build-aux/sbom: what authz is made of, as CycloneDX 1.5: each library that configure asks for, the engine, and each package and file of
# the console's bundles, with versions, licences and checksums (doc/release.md).
use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $json = JSON::PP->new->utf8;

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

sub sbom {
    my ( $top, @words ) = @_;
    return Authz::Process->run(
        name    => 'sbom', env => { SOURCE_DATE_EPOCH => 1_000_000_000 },
        command => [ "$top/build-aux/sbom", @words ] );
}

my $top = Authz::Path::source('.');
my ( $status, $text ) = sbom( $top, '0.65.0' );
is( $status, 0, 'build-aux/sbom' ) or do { diag $text; done_testing; exit };
my $bom = $json->decode($text);
is( ( sbom( $top, '0.65.0' ) )[1],           $text,                  '... prints the same octets again' );
is( "$bom->{bomFormat} $bom->{specVersion}", 'CycloneDX 1.5',        '... in CycloneDX 1.5' );
is( $bom->{metadata}{timestamp},             '2001-09-09T01:46:40Z', '... with the time of SOURCE_DATE_EPOCH' );
is( $bom->{metadata}{component}{version},    '0.65.0',               '... and the version' );
isnt(
    $json->decode( ( sbom( $top, '0.66.0' ) )[1] )->{serialNumber}, $bom->{serialNumber},
    'another content has another number' );

my %component = map { ( $_->{name} => $_ ) } @{ $bom->{components} };
is( join( ' ', grep { !$component{$_}{licenses} && $component{$_}{type} ne 'file' } sort keys %component ),
    '', 'each component has a licence' );

my $configure = text_of('configure.ac');
my @library   = ( 'fcgi', $configure =~ /^PKG_CHECK_MODULES\(\[\w+\], \[(\w+)/mg );
cmp_ok( scalar @library, '>=', 8, 'configure.ac: the libraries' );
is( join( ' ', grep { !$component{$_} } @library ), '', '... each is a component' );
my %dev =
  map { ( $_ => 1 ) } map { split /[|]/ } text_of( 'build-aux', 'packages' ) =~ /^build\s+(lib\S+-dev\S*|zlib1g-dev)/mg;
delete $dev{'libc6-dev'};
my %named = map { ( $_ => 1 ) } map { ( $_->{purl} // '' ) =~ m{\Apkg:deb/debian/([^@]+)} } values %component;
is( join( ' ', grep { !$dev{$_} } sort keys %named ), '', '... of a package of build-aux/packages' );

my @manifest = grep { !/^#/ } split /\n/, text_of(qw(etc portal vendor MANIFEST));
is( join( ' ', grep { !$component{$_} && !$component{"etc/portal/vendor/$_"} } map {/^(\S+)/} @manifest ),
    '', 'each package and file of MANIFEST is a component' );
my %hashed = map { ( $_ => 1 ) } grep { $component{$_}{hashes} } keys %component;
is( scalar keys %hashed,      scalar @manifest,         '... with its checksum' );
is( $component{preact}{purl}, 'pkg:npm/preact@10.29.8', 'the package URL of a package' )
  if $component{preact}{version} eq '10.29.8';
like( $component{'@codemirror/view'}{purl}, qr{\Apkg:npm/%40codemirror/view\@[\d.]+\z}, '... of one with a scope' );
like( $component{opa}{version},             qr/\A\d+[.]\d+[.]\d+\z/,                    'the engine has its version' );

my %ref = map { ( $_->{'bom-ref'} => 1 ) } @{ $bom->{components} }, $bom->{metadata}{component};
is( scalar keys %ref, 1 + @{ $bom->{components} }, 'each component has a reference of its own' );
is( join( ' ', grep { !$ref{$_} } map { ( $_->{ref}, @{ $_->{dependsOn} } ) } @{ $bom->{dependencies} } ),
    '', '... and the dependencies name them' );

# ---- refused

isnt( ( sbom($top) )[0],           0, 'refused: no version' );
isnt( ( sbom( $top, 'x; y' ) )[0], 0, 'refused: a text that is no version' );
my $copy = Authz::Process::directory() . '/copy';
my ($copied) = Authz::Process->run(
    name    => 'copy',
    command => [ 'sh', '-euc', <<'END', 'copy', $top, $copy ] );
mkdir -p "$2/build-aux" "$2/etc/portal"
cp "$1/configure.ac" "$2"
cp "$1/build-aux/sbom" "$1/build-aux/opa.sh" "$2/build-aux"
cp -R "$1/etc/portal/vendor" "$2/etc/portal"
END
is( $copied,                        0,     'a copy' );
is( ( sbom( $copy, '0.65.0' ) )[1], $text, '... says the same' );
chmod oct 644, "$copy/etc/portal/vendor/preact.js";
Authz::Web::write_file(
    "$copy/etc/portal/vendor/preact.js",
    Authz::Web::edit("$copy/etc/portal/vendor/preact.js") . "\n" );
( $status, $text ) = sbom( $copy, '0.65.0' );
ok( $status != 0 && $text =~ /preact[.]js is not what MANIFEST says/, 'refused: a vendored file that was changed' )
  or diag $text;

# ---- the schema, as the Python package of CycloneDX has it

SKIP: {
    my $python = ( $ENV{AUTHZ_PYPI} // '' ) . '/bin/python';
    skip 'no Python packages: run contrib/check once', 2 if !-x $python;
    skip 'the package with the schema is not there', 2
      if ( Authz::Process->run( name => 'python', command => [ $python, '-c', 'import cyclonedx.schema' ] ) )[0] != 0;
    my $dir   = Authz::Process::directory();
    my $check = <<'END';
import json, pathlib, sys
import cyclonedx.schema, jsonschema, referencing
folder = pathlib.Path(cyclonedx.schema.__file__).parent / '_res'
read = lambda name: json.loads((folder / name).read_text())
where = 'http://cyclonedx.org/schema/'
registry = referencing.Registry().with_resources(
    (where + name, referencing.Resource.from_contents(read(name), default_specification=referencing.jsonschema.DRAFT7))
    for name in ('spdx.SNAPSHOT.schema.json', 'jsf-0.82.SNAPSHOT.schema.json'))
judge = jsonschema.Draft7Validator(read('bom-1.5.SNAPSHOT.schema.json'), registry=registry,
                                   format_checker=jsonschema.Draft7Validator.FORMAT_CHECKER)
faults = [f'{list(fault.path)}: {fault.message}' for fault in judge.iter_errors(json.load(open(sys.argv[1])))]
print('\n'.join(faults))
sys.exit(1 if faults else 0)
END
    my %case = (
        'the schema of CycloneDX 1.5 takes it' => [ 0, $bom ],
        '... and refuses an unknown licence'   => [
            1,
            {   %$bom, components => [ { %{ $component{jansson} }, licenses => [ { license => { id => 'NONE-1' } } ] } ]
            } ] );
    for my $name ( sort { $b cmp $a } keys %case ) {
        my ( $want, $document ) = @{ $case{$name} };
        Authz::Web::write_file( "$dir/bom.json", $json->encode($document) );
        my ( $is, $said ) = Authz::Process->run(
            name    => 'schema',
            command => [ $python, '-c', "import referencing.jsonschema\n$check", "$dir/bom.json" ] );
        is( $is, $want, $name ) or diag $said;
    }
}

done_testing;

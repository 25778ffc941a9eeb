#!/usr/bin/perl
# contrib/middleware: each package has the form in which it is published, and the length that its README promises. The lines of
# doc/middleware.md install it into an application, where the examples of the page run. What the packages do is checked by
# t/contrib/middleware.t, middleware_answers.t and middleware_paths.t.
use strict;
use warnings;

use File::Copy ();
use File::Path ();
use JSON::PP   ();
use Test::More;

use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $dir  = Authz::Process::directory();
my $here = Authz::Path::source( 't', 'contrib', 'middleware' );
my $mine = Authz::Path::source( 'contrib', 'middleware' );

# Run a command in a folder; it must end well. Returns what it prints.
sub runs {
    my ( $name, $folder, $command, %env ) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'tool', timeout => 240 * Authz::Process::patience(), env => \%env,
        command => [ 'sh', '-c', 'cd "$1" && shift && exec "$@"', 'sh', $folder, @$command ] );
    ok( $status == 0, $name ) or diag $text;
    return $text;
}

# A copy of a package in a folder of its own, for tools that write beside what they read.
sub copy_of {
    my ( $package, @folder ) = @_;
    mkdir "$dir/$_" or die "$dir/$_: $!" for $package, map {"$package/$_"} @folder;
    for my $folder ( '', map {"$_/"} @folder ) {
        -f and File::Copy::copy( $_, "$dir/$package/$folder" ) || die "$_: $!" for glob "$mine/$package/$folder*";
    }
    return "$dir/$package";
}

# ---- length

# A docstring of Python is a comment, too.
sub lines_of_code {
    my ($text) = @_;
    $text =~ s/^\s*""".*?"""\n//msg;
    return grep { /\S/ && !m{^\s*(?:#|//|/\*|\*)} } split /\n/, $text;
}

my %most = ( 'node/*.js' => 320, 'python/authz_middleware/*.py' => 320, 'go/*.go' => 520 );
for my $files ( sort keys %most ) {
    my @file  = glob "$mine/$files";
    my $count = map { lines_of_code( Authz::Web::edit($_) ) } @file;
    ok( $count > 100 && $count <= $most{$files}, "$files has at most $most{$files} lines of code" ) or diag $count;
    my @wide = grep { length s/\t/    /gr > 120 } map { split /\n/, Authz::Web::edit($_) } @file;
    is( "@wide", '', '... of at most 120 characters' );
}

# ---- Node.js

my $json      = JSON::PP->new;
my $package   = $json->decode( Authz::Web::edit("$mine/node/package.json") );
my ($version) = Authz::Web::edit( Authz::Path::source('configure.ac') ) =~ /^AC_INIT\(\[authz\], \[([^\]]+)\]/m;
is( $package->{version}, $version, 'node: the version is that of authz' );

SKIP: {
    skip 'no npm', 2 if !Authz::Path::on_path('npm');
    my $said =
      runs( 'npm packs the package', copy_of('node'), [qw(npm pack --dry-run --json --ignore-scripts --offline)] );
    my ($list) = $said =~ /^(\[.*\])/ms;
    my @packed = map { $_->{path} } map { @{ $_->{files} } } @{ $json->decode( $list // '[]' ) };
    is_deeply( [ sort @packed ], [ sort 'package.json', @{ $package->{files} } ], '... with the files that it names' );
}

SKIP: {
    my $why = Authz::Node::missing()
      // ( -d Authz::Node::modules() . '/typescript' ? undef : 'no typescript: run contrib/check once' );
    skip $why, 1 if defined $why;
    mkdir "$dir/ts" or die "$dir/ts: $!";
    symlink Authz::Node::modules(), "$dir/ts/node_modules" or die "symlink: $!";
    File::Copy::copy( "$here/consumer.ts", "$dir/ts" ) or die "consumer.ts: $!";
    my %options = (
        strict    => JSON::PP::true(), noEmit => JSON::PP::true(), target => 'es2022', module => 'nodenext',
        types     => ['node'],
        typeRoots => ['node_modules/@types'],
        paths     => {
            map { ( "\@authz/middleware$_->[0]" => ["$mine/node/$_->[1].d.ts"] ) } [ '', 'index' ],
            [ '/express', 'express' ], [ '/fastify', 'fastify' ] } );
    Authz::Web::write_file( "$dir/ts/package.json", '{"type":"module"}' );
    Authz::Web::write_file(
        "$dir/ts/tsconfig.json",
        $json->encode( { compilerOptions => \%options, files => ['consumer.ts'] } ) );
    runs(
        'TypeScript takes the types, and refuses what they do not permit', "$dir/ts",
        [ Authz::Node::node(), 'node_modules/typescript/bin/tsc' ] );
}

# What the guard does not know is refused: a misspelled option would leave a check out.
SKIP: {
    my $why = Authz::Node::missing();
    skip $why, 1 if defined $why;
    my $options =
      q({ issuer: 'https://auth.example', clientId: 'a', clientSecret: 'b', resource: 'https://api.example' });
    my $wrong =
      q({ nonceKey: 'k' }, { obligation: [] }, { obligations: 'tenant' }, { scopesSupported: 'a' }, { clientId: '' });
    my $said = runs(
        'node: a guard is asked for',
        $dir,
        [ Authz::Node::node(), '--input-type=module', '--eval', <<"END" ] );
import { createGuard } from '$mine/node/index.js';
createGuard($options);
for (const wrong of [$wrong, { issuer: 'http://auth.example' }]) {
  try {
    createGuard({ ...$options, ...wrong });
    console.log('taken');
  } catch (fault) {
    console.log(`\${fault.name} \${fault.message}`);
  }
}
END
    my @said = $said =~ /^(TypeError .*|taken)$/mg;
    my @text = (
        'there is no option nonceKey',              'there is no option obligation', 'obligations: must be a list',
        'scopesSupported: must be a list of words', 'clientId and clientSecret: must be set', 'issuer: must be https' );
    is_deeply(
        \@said, [ map {"TypeError $_"} @text ],
        '... and refuses options that it does not know, or that are wrong' );
}

# ---- Python

my $project = Authz::Web::edit("$mine/python/pyproject.toml");
like( $project, qr/^version = "\Q$version\E"$/m, 'python: the version is that of authz' );
my ($python) =
  grep {
    defined
      && system(
        "'$_' -c 'import setuptools, sys; sys.exit(int(setuptools.__version__.split(\".\")[0]) < 61)' >/dev/null 2>&1")
      == 0
  } ( defined $ENV{AUTHZ_PYPI} ? "$ENV{AUTHZ_PYPI}/bin/python" : undef ), map { Authz::Path::on_path($_) } 'python3';
SKIP: {
    skip 'no python3 with setuptools 61', 3 if !defined $python;
    my $folder = copy_of( 'python', 'authz_middleware' );
    runs(
        'setuptools builds the package', $folder,
        [ $python, '-c', 'import setuptools.build_meta as build; build.build_sdist("dist")' ] );
    my $list = runs(
        '... which unpacks', $folder,
        [ 'sh', '-c', 'tar -tf dist/*.tar.gz && tar -xOf dist/*.tar.gz --wildcards "*/PKG-INFO" "*/requires.txt"' ] );
    my @lacking = grep { $list !~ m{^(?:[^/\n]+/)?\Q$_\E$}m }
      qw(authz_middleware/__init__.py authz_middleware/py.typed LICENSE README.md),
      'Name: authz-middleware', "Version: $version", 'Requires-Python: >=3.9', 'pyjwt[crypto]>=2.6';
    is( "@lacking", '', '... and has the files and what it needs' ) or diag $list;
}

# ---- the page: its lines install the packages, without a registry, and its examples run with the names that it leaves to the reader

my $page    = Authz::Web::edit( Authz::Path::source( 'doc', 'middleware.md' ) );
my %sources = ( AUTHZ => "$dir/sources" );
File::Path::make_path("$dir/sources/contrib");
is( system( 'cp', '-R', $mine, "$dir/sources/contrib/middleware" ), 0, 'a copy of the sources' );

sub example {
    my ($language) = @_;
    my ($text)     = $page =~ /^```$language\n(.*?)^```$/ms or die "doc/middleware.md has no example of $language\n";
    return $text;
}

# Install a package by the line of the page for a tool, in a folder of an application with one file.
sub installs {
    my ( $tool, $file, $text, %env ) = @_;
    my ($line) = $page =~ /^ {4}($tool .*)$/m or die "doc/middleware.md has no line of $tool\n";
    mkdir "$dir/with-$tool" or die "$dir/with-$tool: $!";
    Authz::Web::write_file( "$dir/with-$tool/$file", $text );
    runs( "doc/middleware.md: $line", "$dir/with-$tool", [ 'sh', '-c', $line ], %sources, %env );
    return "$dir/with-$tool";
}

SKIP: {
    my $why = Authz::Node::missing() // ( Authz::Path::on_path('npm') ? undef : 'no npm' );
    skip $why, 3 if defined $why;
    my %env = ( npm_config_offline => 'true', npm_config_cache => "$dir/npm", npm_config_update_notifier => 'false' );
    my $folder = installs( npm => 'package.json', '{"private": true, "type": "module"}', %env );
    ok( !-l "$folder/node_modules/\@authz/middleware", '... as a copy' );
    my $names = "const clientSecret = 'secret', pay = () => {}, app = { use() {}, get() {}, post() {} };\n";
    Authz::Web::write_file( "$folder/example.mjs", $names . example('js') );
    runs( '... and the example runs', $folder, [ Authz::Node::node(), 'example.mjs' ] );
}

SKIP: {
    my $needs = 'import cryptography, jwt, setuptools, sysconfig; print(sysconfig.get_path("purelib"))';
    my $path  = defined $python ? `'$python' -c '$needs' 2>/dev/null` : '';
    chomp $path;
    skip 'no python3 with cryptography, jwt and setuptools: run contrib/check once', 3 if $path eq '';

    # pip looks at no index: what it needs is in the environment of the tests.
    my %env = ( PYTHONPATH => $path, PYTHONDONTWRITEBYTECODE => 1, PATH => "$dir/bin:$ENV{PATH}" );
    runs( 'an environment of Python', $dir, [ $python, '-m', 'venv', "$dir/venv" ] );
    mkdir "$dir/bin" or die "$dir/bin: $!";
    my $pip =
      "#!/bin/sh\nshift\nexec '$dir/venv/bin/python' -m pip install -q --no-index --no-build-isolation \"\$@\"\n";
    Authz::Web::write_file( "$dir/bin/pip", $pip, 0755 );
    my $text =
      "import types\napp, client_secret = types.SimpleNamespace(wsgi_app=None), 'secret'\n" . example('python') =~
      s/^(app = .*)$/asgi = app\n$1\napp = asgi/mr;
    my $folder = installs( pip => 'example.py', $text, %env );
    runs( '... and the example runs', $folder, [ "$dir/venv/bin/python", 'example.py' ], %env );
}

SKIP: {
    my $go = Authz::Path::on_path('go');
    skip 'no go', 4 if !$go;
    my %env = (
        GOTOOLCHAIN => 'local', GOPROXY => 'off', GOFLAGS => '-mod=mod', CGO_ENABLED => 0,
        GOCACHE     => $ENV{GOCACHE} // ( defined $ENV{HOME} ? "$ENV{HOME}/.cache/go-build" : "$dir/go-cache" ) );
    runs( 'go vet finds nothing', copy_of('go'), [ $go, 'vet', './...' ], %env );
    my $folder = installs( go => 'go.mod', "module example.test/api\n\ngo 1.19\n", %env );
    my ( $import, $rest ) = example('go') =~ /\A(import .*\n)\n(.*)\z/s;
    my $text =
        "package main\n\nimport (\n\t\"log\"\n\t\"net/http\"\n)\n\n$import\n"
      . "func main() {\n\tissuer, secret, orders := \"\", \"\", http.NotFoundHandler()\n$rest\tlog.Print(err)\n}\n";
    Authz::Web::write_file( "$folder/main.go", $text );
    runs( '... and the example is in order', $folder, [ $go, 'vet', '.' ], %env );
    is( runs( 'gofmt ends well', $folder, [ 'gofmt', '-l', "$mine/go", $here ] ), '', '... and would change nothing' );
}

done_testing;

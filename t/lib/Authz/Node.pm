package Authz::Node;

# Programs of Node.js with the npm packages of t/npm, and the browser they drive. AUTHZ_NODE and AUTHZ_NODE_MODULES come
# from contrib/check; without them PATH and the cache that contrib/check fills are looked at.

use strict;
use warnings;

use Digest::SHA ();
use File::Copy  ();

use Authz::Path    ();
use Authz::Process ();

sub _cache { return ( $ENV{XDG_CACHE_HOME} // ( $ENV{HOME} // '' ) . '/.cache' ) . '/authz/npm' }

sub node {
    return $ENV{AUTHZ_NODE} // (
        grep { ( `"$_" --version` // '' ) =~ /\Av(\d+)/ && $1 >= 20 } grep {defined} Authz::Path::on_path('node'),
        glob _cache() . '/node-*/node_modules/node-linux-*/bin/node' )[0];
}

sub modules {
    return $ENV{AUTHZ_NODE_MODULES} if defined $ENV{AUTHZ_NODE_MODULES};
    my $list = Authz::Path::source( 't', 'npm', 'package-lock.json' );
    my $at   = _cache() . '/' . substr( Digest::SHA->new(256)->addfile($list)->hexdigest, 0, 16 ) . '/node_modules';
    return -d $at ? $at : undef;
}

sub chromium { return Authz::Path::on_path('chromium') }

# Return why Node.js programs cannot run here, or undef. With browser => 1 Chromium is needed too.
sub missing {
    my (%option) = @_;
    return 'no Node.js 20 or newer: run contrib/check once' if !defined node();
    return 'no npm packages: run contrib/check once'        if !defined modules();
    return 'no chromium'                                    if $option{browser} && !defined chromium();
    return;
}

# The command that runs a module of t/: command('pages', 'pages.mjs', arguments). Node.js looks for packages beside the file
# itself, so the .mjs files of the folder, and browser.mjs of t/pages, are copied to where node_modules is.
sub command {
    my ( $folder, $file, @argument ) = @_;
    my $dir = Authz::Process::directory() . "/node-$folder";
    if ( !-d $dir ) {
        mkdir $dir or die "$dir: $!";
        symlink modules(), "$dir/node_modules" or die "symlink: $!";
        for my $module (
            Authz::Path::source( 't', 'pages', 'browser.mjs' ),
            glob Authz::Path::source( 't', $folder ) . '/*.mjs' )
        {
            File::Copy::copy( $module, $dir ) or die "$module: $!";
        }
    }
    return ( node(), "$dir/$file", @argument );
}

# Environment with a new key and an untrusted certificate, for a test's https servers.
sub tls {
    my $dir = Authz::Process::directory();
    my ( $status, $text ) = Authz::Process->run(
        name    => 'openssl',
        command => [
            qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=app.example -keyout),
            "$dir/tls.key", '-out', "$dir/tls.pem" ] );
    die "openssl: $text\n" if $status != 0;
    return ( AUTHZ_TLS_KEY => "$dir/tls.key", AUTHZ_TLS_CERT => "$dir/tls.pem" );
}

# Runs a module that prints TAP as the rest of this test, and ends with it.
sub run_tap {
    my ( $command, %env )  = @_;
    my ( $status,  $text ) = Authz::Process->run(
        name    => 'node', timeout => 300, env => { AUTHZ_CHROMIUM => chromium(), %env },
        command => $command );
    print $text;
    if ( $text !~ /^1\.\.\d+$/m ) {

        # The module died: its last lines say where, and prove shows standard error alone.
        my @last = grep { !/^ok / } split /\n/, $text;
        splice @last, 0, -30 if @last > 30;
        print {*STDERR} "# $_\n" for @last, "the module ended with status $status before its plan";
    }
    exit( $status == 0 ? 0 : 1 );
}

1;

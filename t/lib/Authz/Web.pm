package Authz::Web;

# The web servers in front of the service, each with its configuration from etc/, paths and port changed.

use strict;
use warnings;

use IO::Socket::INET ();
use IO::Socket::UNIX ();
use Socket           qw(SOCK_STREAM);
use Time::HiRes      qw(sleep time);

use Authz::Path    ();
use Authz::Process ();

sub write_file {
    my ( $path, $text, $mode ) = @_;
    open my $out, '>', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    chmod $mode, $path if defined $mode;
    return $path;
}

# The text of a file with substitutions; each must match, so that a changed file is noticed.
sub edit {
    my ( $path, @change ) = @_;
    open my $in, '<', $path or die "$path: $!";
    my $text = do { local $/ = undef; readline $in };
    while ( my ( $find, $put ) = splice @change, 0, 2 ) {
        $text =~ s/$find/$put/g or die "$path: nothing matches $find\n";
    }
    return $text;
}

# Ports that the kernel gives to nobody (net.ipv4.ip_local_port_range is 32768 to 60999), so that no outgoing connection of
# another test takes one between this choice and its use.
my ( $FIRST_PORT, $PORTS ) = ( 20_000, 12_000 );

# Return a port of 127.0.0.1 that belongs to this test until it ends, also when many runs share the machine: a socket with an
# abstract name claims it, which the kernel removes with the process.
sub free_port {
    our @claim;
    for ( 1 .. 1000 ) {
        my $port  = $FIRST_PORT + int rand $PORTS;
        my $claim = IO::Socket::UNIX->new( Local => "\0authz-test-port-$port", Type => SOCK_STREAM, Listen => 1 )
          or next;
        IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => $port, Proto => 'tcp', Listen => 1 ) or next;
        push @claim, $claim;
        return $port;
    }
    die "no free port: $!\n";
}

my %shape = (
    'lighttpd'              => \&_lighttpd,
    'lighttpd-spawn'        => \&_lighttpd_spawn,
    'lighttpd-cgi'          => \&_lighttpd_cgi,
    'apache'                => \&_apache,
    'apache-streams'        => \&_apache_streams,
    'apache-fcgid'          => \&_apache_fcgid,
    'apache-cgi'            => \&_apache_cgi,
    'apache-htaccess-fcgid' => \&_apache_htaccess_fcgid,
    'apache-htaccess-cgi'   => \&_apache_htaccess_cgi,
);

# Starts a server in front of a stack; the process.
sub start {
    my ( $class, $name, $stack ) = @_;
    my $process = $shape{$name}->($stack);
    my $until   = time + 60 * Authz::Process::patience();
    while ( !IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $stack->{port}, Proto => 'tcp' ) ) {
        die "$name does not start\n" if time > $until || !$process->alive;
        sleep 0.02;
    }
    return $process;
}

# Settings in a file, for the shapes where the web server starts the program.
sub settings_file {
    my ($stack) = @_;
    my $settings = $stack->settings;
    delete $settings->{SVC_CONFIG};
    return write_file(
        "$stack->{dir}/authz.conf", join( '', map {"$_=$settings->{$_}\n"} sort keys %$settings ),
        0600 );
}

# The settings of Debian's lighttpd.conf, without paths and accounts; our file is read after them.
my $LIGHTTPD_STOCK = <<'END';
server.feature-flags += ( "server.h2proto" => "enable", "server.h2c" => "enable", "server.graceful-shutdown-timeout" => 5 )
server.http-parseopts = ( "header-strict" => "enable", "host-strict" => "enable", "host-normalize" => "enable",
    "url-normalize-unreserved" => "enable", "url-normalize-required" => "enable", "url-ctrls-reject" => "enable",
    "url-path-2f-decode" => "enable", "url-path-dotseg-remove" => "enable" )
index-file.names = ( "index.php", "index.html" )
url.access-deny = ( "~", ".inc" )
static-file.exclude-extensions = ( ".php", ".pl", ".fcgi" )
END

# A shipped file with its variables as an operator would set them; each must be there.
sub _shipped {
    my ( $server, $file, %variable ) = @_;
    my @change;
    for my $name ( sort keys %variable ) {
        my ( $find, $put ) =
          $server eq 'lighttpd'
          ? ( qr/^var\.authz_\L$name\E = .*$/m, "var.authz_\L$name\E = " )
          : ( qr/^Define AUTHZ_$name .*$/m, "Define AUTHZ_$name " );
        push @change, $find, $put . ( $variable{$name} =~ /\A\d+\z/ ? $variable{$name} : qq{"$variable{$name}"} );
    }
    return edit( Authz::Path::source( 'etc', $server, $file ), @change );
}

sub _run_lighttpd {
    my ( $stack, $modules, $text ) = @_;
    my $dir = $stack->{dir};
    write_file( "$dir/authz-limits.conf", edit( Authz::Path::source(qw(etc lighttpd authz-limits.conf)) ) );
    my $head = join "\n",
      "server.modules = ( \"mod_indexfile\", \"mod_access\", \"mod_alias\", \"mod_redirect\", $modules )",
      'server.bind = "127.0.0.1"',
      "server.port = $stack->{port}", "server.document-root = \"$dir\"", "server.errorlog = \"$dir/lighttpd.log\"",
      "server.upload-dirs = ( \"$dir\" )", $LIGHTTPD_STOCK;
    $stack->{web_config} = write_file( "$dir/lighttpd.conf", $head . $text . ( $stack->{web_more} // '' ) );
    return Authz::Process->start(
        name    => "lighttpd$stack->{number}",
        command => [ Authz::Path::lighttpd(), '-D', '-f', "$dir/lighttpd.conf" ] );
}

sub _lighttpd {
    my ($stack) = @_;
    return _run_lighttpd(
        $stack, '"mod_fastcgi"',
        _shipped( 'lighttpd', 'authz.conf', SOCKETS => $stack->{dir}, PATH => "$stack->{path}/" ) );
}

sub _lighttpd_spawn {
    my ($stack) = @_;
    my %variable = (
        PROGRAM => Authz::Path::program('authz.fcgi'), CONFIG => settings_file($stack), SOCKETS => $stack->{dir},
        WORKERS => $stack->{workers},
        PATH    => "$stack->{path}/" );
    return _run_lighttpd( $stack, '"mod_fastcgi"', _shipped( 'lighttpd', 'authz-spawn.conf', %variable ) );
}

sub _lighttpd_cgi {
    my ($stack) = @_;
    my %variable =
      ( PROGRAM => Authz::Path::program('authz.fcgi'), CONFIG => settings_file($stack), PATH => "$stack->{path}/" );
    return _run_lighttpd( $stack, '"mod_cgi"', _shipped( 'lighttpd', 'authz-cgi.conf', %variable ) );
}

sub _run_apache {
    my ( $stack, $modules, $text ) = @_;
    my $dir  = $stack->{dir};
    my $from = Authz::Path::apache_modules();
    my @load = map {"LoadModule ${_}_module $from/mod_$_.so"} qw(mpm_event authz_core reqtimeout), @$modules;
    my $mpm  = edit( Authz::Path::source(qw(etc apache authz-mpm.conf)) );
    my $user = $> == 0 ? "User www-data\nGroup www-data\n" : '';
    $stack->{web_config} = write_file(
        "$dir/apache.conf", join "\n", @load, "ServerRoot $dir", "Listen 127.0.0.1:$stack->{port}",
        'ServerName localhost',
        "PidFile $dir/apache.pid", "DefaultRuntimeDir $dir", "Mutex file:$dir default", "ErrorLog $dir/apache.log",
        'LogLevel warn',           $mpm,                     $user,                     $text );
    return Authz::Process->start(
        name    => "apache$stack->{number}",
        command => [ Authz::Path::apache(), '-D', 'FOREGROUND', '-f', "$dir/apache.conf" ] );
}

# Apache's account is in the group of the sockets, as the socket units have it.
sub open_sockets {
    my ($stack) = @_;
    give_to_apache( map {"$stack->{dir}/$_.sock"} qw(core web bundles gateway) );
    return;
}

sub _run_apache_proxy {
    my ( $stack, $text ) = @_;
    open_sockets($stack);
    return _run_apache(
        $stack, [ qw(alias buffer setenvif proxy proxy_fcgi), @{ $stack->{web_modules} // [] } ],
        "<VirtualHost 127.0.0.1:$stack->{port}>\n$text" . ( $stack->{web_more} // '' ) . "</VirtualHost>\n" );
}

sub _apache_text {
    my ($stack) = @_;
    return _shipped( 'apache', 'authz.conf', SOCKETS => $stack->{dir}, PATH => "$stack->{path}/" );
}

sub _apache { my ($stack) = @_; return _run_apache_proxy( $stack, _apache_text($stack) ) }

# A web server that passes bodies on as they arrive: the shipped file without the line that prevents it.
sub _apache_streams {
    my ($stack) = @_;
    my $text = _apache_text($stack);
    $text =~ s/^ *SetEnvIf .* proxy-sendcl=1\n//m or die "authz.conf has no proxy-sendcl\n";
    return _run_apache_proxy( $stack, $text );
}

# A directory of the account that the workers run as, when Apache starts them.
sub directory_of_apache {
    my ( $stack, $name ) = @_;
    my $dir = "$stack->{dir}/$name";
    mkdir $dir, 0700 or die "$dir: $!";
    give_to_apache($dir);
    return $dir;
}

sub give_to_apache {
    my @path = @_;
    return if $> != 0;
    my ( $uid, $gid ) = ( getpwnam 'www-data' )[ 2, 3 ];
    chown $uid, $gid, @path or die "chown: $!";
    return;
}

# Apache's account must get to the program; a build below a home directory is out of its reach.
sub _apache_variables {
    my ($stack) = @_;
    mkdir "$stack->{dir}/bin"                                                               or die "mkdir: $!";
    system( 'cp', Authz::Path::program('authz.fcgi'), "$stack->{dir}/bin/authz.fcgi" ) == 0 or die 'cp failed';
    chmod 0755, "$stack->{dir}/bin/authz.fcgi";
    my $file = settings_file($stack);
    give_to_apache( $file, $stack->settings->{SVC_RUNTIME_DIR} );
    return ( PROGRAMS => "$stack->{dir}/bin", CONFIG => $file, PATH => "$stack->{path}/" );
}

sub _apache_fcgid {
    my ($stack) = @_;
    my $text    = _shipped( 'apache', 'authz-fcgid.conf', _apache_variables($stack) );
    my $dir     = directory_of_apache( $stack, 'fcgid' );
    return _run_apache( $stack, [qw(alias fcgid)], "FcgidIPCDir $dir\nFcgidProcessTableFile $dir/shm\n$text" );
}

sub _apache_cgi {
    my ($stack) = @_;
    my $text = _shipped( 'apache', 'authz-cgi.conf', _apache_variables($stack) );
    return _run_apache( $stack, [qw(alias cgid env)], "ScriptSock $stack->{dir}/cgid.sock\n$text" );
}

# Shared hosting: the server's configuration is the host's, and .htaccess may change what such hosts allow. The program in the
# document root is the one that README shows.
my $SHARED_HOST = 'AllowOverride AuthConfig FileInfo Indexes Limit Options';

sub _apache_htaccess {
    my ( $stack, $handler, $modules, $host ) = @_;
    my %own   = _apache_variables($stack);
    my $root  = directory_of_apache( $stack, 'public_html' );
    my ($run) = edit( Authz::Path::source(qw(etc apache README)) ) =~ m{^    (#!/bin/sh\n(?:    .*\n)+)}m
      or die "README shows no program\n";
    $run =~ s/^    //mg;
    $run =~ s{/home/you/authz/authz\.conf}{$own{CONFIG}} or die "README sets no SVC_CONFIG\n";
    $run =~ s{/home/you/authz/libexec/authz/authz\.fcgi}{$own{PROGRAMS}/authz.fcgi} or die "README runs no program\n";
    write_file( "$root/authz.fcgi", $run, 0755 );
    write_file(
        "$root/.htaccess",
        edit( Authz::Path::source(qw(etc apache htaccess)), qr/SetHandler fcgid-script/ => "SetHandler $handler" ) );
    mkdir "$root/.well-known"                or die "mkdir: $!";
    mkdir "$root/.well-known/acme-challenge" or die "mkdir: $!";
    write_file( "$root/.well-known/acme-challenge/proof", "proof\n" );
    write_file( "$root/token",                            "a file of the document root\n" );
    my $text =
      "DocumentRoot $root\n<Directory \"$root\">\n    $SHARED_HOST\n    Require all granted\n</Directory>\n$host";
    return _run_apache( $stack, [ qw(dir negotiation autoindex rewrite), @$modules ], $text );
}

sub _apache_htaccess_fcgid {
    my ($stack) = @_;
    my $dir = directory_of_apache( $stack, 'fcgid' );
    return _apache_htaccess( $stack, 'fcgid-script', ['fcgid'], "FcgidIPCDir $dir\nFcgidProcessTableFile $dir/shm\n" );
}

# A host that has set AllowEncodedSlashes; without it no .htaccess can.
sub _apache_htaccess_cgi {
    my ($stack) = @_;
    return _apache_htaccess(
        $stack, 'cgi-script', ['cgid'],
        "ScriptSock $stack->{dir}/cgid.sock\nAllowEncodedSlashes NoDecode\n" );
}

1;

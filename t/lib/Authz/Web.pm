package Authz::Web;

# The web servers in front of the service, each with its configuration from etc/, paths and port changed.

use strict;
use warnings;

use IO::Socket::INET ();
use Time::HiRes qw(sleep time);

use Authz::Path ();
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

sub free_port {
    my $socket = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 1 ) or die "no port: $!";
    return $socket->sockport;
}

my %shape = (
    'lighttpd'       => \&_lighttpd,
    'lighttpd-spawn' => \&_lighttpd_spawn,
    'lighttpd-cgi'   => \&_lighttpd_cgi,
    'apache'         => \&_apache,
    'apache-fcgid'   => \&_apache_fcgid,
    'apache-cgi'     => \&_apache_cgi,
);

# Starts a server in front of a stack; the process.
sub start {
    my ( $class, $name, $stack ) = @_;
    my $process = $shape{$name}->($stack);
    my $until   = time + 15;
    while ( !IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $stack->{port}, Proto => 'tcp' ) ) {
        die "$name does not start\n" if time > $until || !$process->alive;
        sleep 0.02;
    }
    return $process;
}

# Settings in a file, for the shapes where the web server starts the program.
sub _settings_file {
    my ($stack)  = @_;
    my $settings = $stack->settings;
    delete $settings->{SVC_CONFIG};
    return write_file( "$stack->{dir}/authz.conf", join( '', map {"$_=$settings->{$_}\n"} sort keys %$settings ), 0600 );
}

sub _run_lighttpd {
    my ( $stack, $modules, $text ) = @_;
    my $dir = $stack->{dir};
    my $head = join "\n", "server.modules = ( $modules )", 'server.bind = "127.0.0.1"', "server.port = $stack->{port}",
        "server.document-root = \"$dir\"", "server.errorlog = \"$dir/lighttpd.log\"", "server.upload-dirs = ( \"$dir\" )", '';
    write_file( "$dir/lighttpd.conf", $head . $text );
    return Authz::Process->start( name => "lighttpd$stack->{number}", command => [ Authz::Path::lighttpd(), '-D', '-f', "$dir/lighttpd.conf" ] );
}

sub _lighttpd {
    my ($stack) = @_;
    my $text = edit( Authz::Path::source(qw(etc lighttpd authz.conf)), qr{/run/authz/} => "$stack->{dir}/" );
    return _run_lighttpd( $stack, '"mod_fastcgi"', $text );
}

sub _lighttpd_spawn {
    my ($stack) = @_;
    my $text = edit(
        Authz::Path::source(qw(etc lighttpd authz-spawn.conf)),
        qr{/usr/libexec/authz/authz\.fcgi} => Authz::Path::program('authz.fcgi'),
        qr{/run/lighttpd/}                 => "$stack->{dir}/",
        qr{/etc/authz/authz\.conf}         => _settings_file($stack),
        qr{"max-procs" => \d+}             => '"max-procs" => ' . $stack->{workers},
    );
    return _run_lighttpd( $stack, '"mod_fastcgi"', $text );
}

sub _lighttpd_cgi {
    my ($stack) = @_;
    my $text = edit(
        Authz::Path::source(qw(etc lighttpd authz-cgi.conf)),
        qr{/usr/libexec/authz/authz\.fcgi} => Authz::Path::program('authz.fcgi'),
        qr{/etc/authz/authz\.conf}         => _settings_file($stack),
        qr{alias\.url = \( ""}             => "alias.url = ( \"$stack->{path}\"",
    );
    return _run_lighttpd( $stack, '"mod_alias", "mod_cgi", "mod_setenv"', $text );
}

sub _run_apache {
    my ( $stack, $modules, $text ) = @_;
    my $dir  = $stack->{dir};
    my $from = Authz::Path::apache_modules();
    my @load = map {"LoadModule ${_}_module $from/mod_$_.so"} qw(mpm_event authz_core), @$modules;
    my $user = $> == 0 ? "User www-data\nGroup www-data\n" : '';
    write_file( "$dir/apache.conf", join "\n", @load, "ServerRoot $dir", "Listen 127.0.0.1:$stack->{port}", 'ServerName localhost',
        "PidFile $dir/apache.pid", "DefaultRuntimeDir $dir", "Mutex file:$dir default", "ErrorLog $dir/apache.log", 'LogLevel warn', $user, $text );
    return Authz::Process->start( name => "apache$stack->{number}", command => [ Authz::Path::apache(), '-D', 'FOREGROUND', '-f', "$dir/apache.conf" ] );
}

sub _apache {
    my ($stack) = @_;
    chmod 0666, map {"$stack->{dir}/$_.sock"} qw(core web bundles gateway);
    my $text = edit( Authz::Path::source(qw(etc apache authz.conf)), qr{/run/authz/} => "$stack->{dir}/" );
    return _run_apache( $stack, [qw(proxy proxy_fcgi)], $text );
}

# The worker runs as Apache's account: it reads the settings and owns the runtime directory.
sub _hand_over {
    my ($stack) = @_;
    my $file = _settings_file($stack);
    if ( $> == 0 ) {
        my ( $uid, $gid ) = ( getpwnam 'www-data' )[ 2, 3 ];
        chown $uid, $gid, $file, $stack->settings->{SVC_RUNTIME_DIR} or die "chown: $!";
    }
    return $file;
}

# Apache's account must get to the program; a build below somebody's home directory is out of its reach.
sub _reachable_program {
    my ($stack) = @_;
    mkdir "$stack->{dir}/bin" or die "mkdir: $!";
    my $copy = "$stack->{dir}/bin/authz.fcgi";
    system( 'cp', Authz::Path::program('authz.fcgi'), $copy ) == 0 or die 'cp failed';
    chmod 0755, $copy;
    return $copy;
}

sub _apache_fcgid {
    my ($stack) = @_;
    my $program = _reachable_program($stack);
    my $text = edit(
        Authz::Path::source(qw(etc apache authz-fcgid.conf)),
        qr{/usr/libexec/authz/authz\.fcgi} => $program,
        qr{/usr/libexec/authz}             => "$stack->{dir}/bin",
        qr{/etc/authz/authz\.conf}         => _hand_over($stack),
    );
    return _run_apache( $stack, [qw(alias fcgid)], "FcgidIPCDir $stack->{dir}\nFcgidProcessTableFile $stack->{dir}/fcgid_shm\n$text" );
}

sub _apache_cgi {
    my ($stack) = @_;
    my $program = _reachable_program($stack);
    my $text = edit(
        Authz::Path::source(qw(etc apache authz-cgi.conf)),
        qr{/usr/libexec/authz/authz\.fcgi} => $program,
        qr{/usr/libexec/authz}             => "$stack->{dir}/bin",
        qr{/etc/authz/authz\.conf}         => _hand_over($stack),
        qr{ScriptAlias "/"}                => 'ScriptAlias "' . ( $stack->{path} eq '' ? '/' : $stack->{path} ) . '"',
    );
    $text =~ s{(ScriptAlias "/.+?" "[^"]+)/"}{$1"} if $stack->{path} ne '';
    return _run_apache( $stack, [qw(alias cgid env)], "ScriptSock $stack->{dir}/cgid.sock\n$text" );
}

1;

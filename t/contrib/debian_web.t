#!/usr/bin/perl
# The scripts of the packages for lighttpd, in a copy of /etc/lighttpd that they alone see: a removal leaves a server that starts, an
# upgrade brings the next rules into force, and the path of the issuer is in no file of a package. contrib/check --packages does the
# same with packages and both web servers.
use strict;
use warnings;

use Digest::MD5 ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $lighttpd = Authz::Path::on_path('lighttpd') // '/usr/sbin/lighttpd';
plan skip_all => 'only root has a copy of /etc/lighttpd of its own' if $> != 0;
plan skip_all => 'lighttpd of Debian is not installed'
  if !-x $lighttpd || !-x '/usr/sbin/lighty-disable-mod' || !-d '/etc/lighttpd/conf-available';

my $dir = Authz::Process::directory();
my $etc = "$dir/etc-lighttpd";

sub text_of { return Authz::Web::edit( Authz::Path::source(@_), qr/\A/ => '' ) }
sub put     { return Authz::Web::write_file(@_) }

my %package = (    # package => its files: name in conf-available => file of etc/lighttpd
    map {
        my $name = $_;
        (   $name => {
                reverse text_of(qw(debian rules)) =~
                  m{install -D -m 644 etc/lighttpd/(\S+) debian/$name/etc/lighttpd/conf-available/(\S+)}g } )
    } qw(authz-lighttpd authz-portal) );
%package = map { ( $_ => { reverse %{ $package{$_} } } ) } keys %package;
is_deeply(
    { map { ( $_ => [ sort values %{ $package{$_} } ] ) } keys %package },
    {   'authz-lighttpd' => [qw(50-authz.conf 52-authz-tls.conf 53-authz-names.conf 54-authz-group.conf)],
        'authz-portal'   => ['51-authz-portal.conf'] },
    'debian/rules: the files of the packages are found' );

# Programs of the host in the place of which the scripts find these, which write down how they were called.
mkdir "$dir/bin" or die $!;
for my $name (qw(invoke-rc.d deb-systemd-invoke usermod)) {
    put( "$dir/bin/$name", "#!/bin/sh\necho \"$name \$*\" >>'$dir/called'\n", 0755 );
}
put("$dir/bin/dpkg-query",
    "#!/bin/sh\nprintf 'x\\n %s %s\\n' /etc/lighttpd/conf-available/50-authz.conf \"\$(cat '$dir/md5')\"\n", 0755 );

# Run words of a shell where /etc/lighttpd is the copy; the status and what was printed.
sub runs {
    my (@words) = @_;
    return Authz::Process->run(
        name    => 'scripts',
        env     => { SVC_CONFIG => "/etc/authz/authz.conf", PATH => "$dir/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
        command => [ 'unshare', '-m', 'sh', '-euc', 'mount --bind "$0" /etc/lighttpd; exec "$@"', $etc, @words ] );
}
sub script { my ( $name, @word ) = @_; return runs( 'sh', Authz::Path::source( 'debian', $name ), @word ) }

# A host with lighttpd of Debian and the files of the packages, with this text in place of that of authz.conf. The file for TLS needs
# a certificate, and those of the console and of names need modules, so these are in short; that of the group has one of every machine.
sub host {
    my ($text) = @_;
    Authz::Process->run( name => 'rm', command => [ 'rm', '-rf', $etc, "$dir/called" ] );
    mkdir $_ or die "$_: $!" for $etc, "$etc/conf-available", "$etc/conf-enabled";
    put("$etc/lighttpd.conf",
        qq{server.document-root = "$dir"\nserver.port = 18080\ninclude "/etc/lighttpd/conf-enabled/*.conf"\n} );
    put( "$etc/authz-limits.conf",              text_of(qw(etc lighttpd authz-limits.conf)) );
    put( "$etc/conf-available/10-fastcgi.conf", qq{server.modules += ( "mod_fastcgi" )\n} );
    put( "$etc/conf-available/50-authz.conf",   $text // text_of(qw(etc lighttpd authz.conf)) );
    put("$etc/conf-available/51-authz-portal.conf",
        qq{\$HTTP["url"] =~ "^" + var.authz_path + "portal" { server.tag = "" }\n} );
    put( "$etc/conf-available/52-authz-tls.conf",   qq{server.tag = "tls"\n} );
    put( "$etc/conf-available/53-authz-names.conf", qq{var.authz_names = "x"\n} );
    put("$etc/conf-available/54-authz-group.conf",
        text_of(qw(etc lighttpd authz-group.conf)) =~ s/"authz-web"/"daemon"/r );
    put( "$dir/md5", Digest::MD5::md5_hex( text_of(qw(etc lighttpd authz.conf)) ) );
    return;
}

sub enabled {
    return join ' ', sort map {s{.*/}{}r} grep { -l $_ } glob "$etc/conf-enabled/*authz*";
}
sub called { return -e "$dir/called" ? Authz::Web::edit("$dir/called") : '' }

sub starts {
    my ($what) = @_;
    my ( $status, $text ) = runs( $lighttpd, '-tt', '-f', '/etc/lighttpd/lighttpd.conf' );
    return is( $status, 0, "... and lighttpd starts$what" ) || diag($text);
}
my @all = ( '/usr/sbin/lighty-enable-mod', 'authz', 'authz-portal', 'authz-tls', 'authz-names', 'authz-group' );

# ---- everything enabled, removed and purged

for my $first (qw(authz-lighttpd authz-portal)) {
    host();
    is( ( runs(@all) )[0], 0, "all files are enabled, and $first is removed first" );
    starts('');
    for my $name ( $first, grep { $_ ne $first } sort keys %package ) {
        my ( $status, $text ) = script( "$name.prerm", 'remove' );
        is( $status, 0, "$name: prerm remove" ) or diag $text;
        my @left = grep { -l "$etc/conf-enabled/$_" } values %{ $package{$name} };
        is( "@left", '', '... disables each file that the package has' );
        starts(' with the files of a removed package');
        unlink "$etc/conf-available/$_" or die $! for values %{ $package{$name} };
        is( ( script( "$name.postrm", 'purge' ) )[0], 0, "$name: postrm purge" );
        starts(' without them');
    }
    is( enabled(), '', '... and nothing of authz is enabled' );
    like( called(), qr/^invoke-rc[.]d lighttpd restart$/m, '... and lighttpd was restarted' );
}

# dpkg --purge of a package that is unpacked alone runs no prerm: the links stay, and their files are gone.
host();
runs(@all);
unlink glob "$etc/conf-available/5*" or die $!;
script( "$_.postrm", 'purge' ) for sort keys %package;
is( enabled(), '', 'a purge without a removal leaves no link to a file that is gone' );
starts('');
host();
runs(@all);
script( "$_.prerm", 'upgrade', '1' ) for sort keys %package;
is( enabled(), '50-authz.conf 51-authz-portal.conf 52-authz-tls.conf 53-authz-names.conf 54-authz-group.conf',
    'an upgrade disables nothing' );

# ---- an upgrade brings the next rules into force

for my $case ( [ 'authz-lighttpd', 'authz' ], [ 'authz-portal', 'authz authz-portal' ] ) {
    my ( $name, $modules ) = @{$case};
    host();
    script( "$name.postinst", 'configure', '1' );
    is( called(), '', "$name: postinst, not enabled: lighttpd is left alone" );
    runs( '/usr/sbin/lighty-enable-mod', split / /, $modules );
    script( "$name.postinst", 'configure' );
    is( called(), '', '... a first installation too' );
    script( "$name.postinst", 'configure', '1' );
    like(
        called(), qr/^(?:invoke-rc[.]d lighttpd restart|deb-systemd-invoke try-restart lighttpd[.]service)\n\z/,
        '... an upgrade restarts it' );
    unlink "$dir/called";
    put( "$etc/lighttpd.conf", Authz::Web::edit("$etc/lighttpd.conf") . "nonsense\n" );
    my ( $status, $text ) = script( "$name.postinst", 'configure', '1' );
    is( $status, 0, '... and goes through if lighttpd refuses its configuration' );
    like( $text, qr/^\Q$name\E: lighttpd refuses its configuration and was not restarted/m, '... says so' );
    is( called(), '', '... and leaves the running one' );
}

# ---- the path of the issuer

my $setup = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); ISSUER=$1 AUTHZ_DATADIR=/nonexistent; web_lighttpd};
my $conf  = text_of(qw(etc lighttpd authz.conf));
my $path =
  sub { ( runs( $lighttpd, '-p', '-f', '/etc/lighttpd/lighttpd.conf' ) )[1] =~ /authz_path\s+= "(.*)"/ ? $1 : 'none' };
my $sets = sub { return runs( 'bash', '-c', $setup, Authz::Path::source(qw(cli setup-host)), @_ ) };
for my $case ( [ 'https://example.org/auth', '/auth/' ], [ 'https://example.org', '/' ] ) {
    my ( $issuer, $want ) = @{$case};
    host();
    my ( $status, $text ) = $sets->($issuer);
    is( $status,   0,     "setup with $issuer" ) or diag $text;
    is( $path->(), $want, "... lighttpd has the path $want" );
    is( Authz::Web::edit("$etc/conf-available/50-authz.conf"), $conf,
        '... and the file of the package stays as it was' );
    $sets->('https://example.org/other');
    is( $path->(), '/other/', '... and another path can follow' );
    script( 'authz-lighttpd.postrm', 'purge' );
    ok( !-e "$etc/authz-path.conf", '... and a purge deletes the file of setup' );
}

# What an earlier setup left: the path in the file of the package, which had no include.
my $old    = $conf =~ s/^include "authz-path.*\n//mr;
my $edited = $old  =~ s{^(var[.]authz_path = ).*}{$1"/auth/"}mr;
for my $case (
    [ $edited,           $old,              'and nothing else was changed' ],
    [ "$edited# mine\n", "$edited# mine\n", 'beside another change' ] )
{
    my ( $before, $after, $what ) = @{$case};
    host($before);
    put( "$dir/md5", Digest::MD5::md5_hex($old) );
    my ( $status, $text ) = script( 'authz-lighttpd.preinst', 'upgrade', '1' );
    is( $status, 0, "an upgrade, the path is in the file of the package $what" ) or diag $text;
    is( Authz::Web::edit("$etc/conf-available/50-authz.conf"), $after,
        $before eq $after
        ? '... it stays as it is'
        : '... it is again the one that the package had, which dpkg replaces' );
    put( "$etc/conf-available/50-authz.conf", $conf );
    runs(@all);
    is( $path->(), '/auth/', '... and the next one has the path' );
    is_deeply( [ glob "$etc/conf-available/*dpkg-tmp*" ], [], '... and nothing is left over' );
}
host($edited);
is( ( $sets->('https://example.org/auth') )[0], 0,        'setup with a file of before, which an administrator kept' );
is( $path->(),                                  '/auth/', '... has the path' );

# ---- Apache: the names alone, because its helper belongs to the package apache2

my $rules  = text_of(qw(debian rules));
my ($loop) = $rules =~ /for name in ([\w -]+); do.*\n.*etc\/apache\//;
my $prerm  = text_of(qw(debian authz-apache2.prerm));
like( $prerm, qr/for name in [\w -]*\b$_\b[\w -]*; do apache2_invoke disconf/, "authz-apache2: prerm disables $_" )
  for split / /, $loop;
like( $prerm, qr/apache2_invoke dissite authz /, '... and the site of setup' );
like(
    text_of(qw(debian authz-apache2.postrm)), qr{conf-enabled/$_[.]conf},
    "... and a purge deletes a dead link to $_" ) for split / /, $loop;
like(
    text_of( 'debian', "$_.postinst" ), qr/apache2ctl -t .*\n.*invoke-rc[.]d apache2 reload/,
    "$_: an upgrade checks and reloads Apache" ) for qw(authz-apache2 authz-portal);
done_testing;

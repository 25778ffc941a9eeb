# The Debian packages: each part that `make install` puts into pkgdatadir is in one package, and each has the configurations of
# etc/ that it names (gateway-admin.md 7.3). contrib/check --packages builds and uses them.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

my $make    = text_of('Makefile.am');
my @parts   = ( $make =~ /^\w+dir = \$\(pkgdatadir\)\/([\w-]+)$/mg, $make =~ /\$\(DESTDIR\)\$\(pkgdatadir\)\/(\w+)"/g );
my ($files) = $make =~ /^dist_pkgdata_DATA = (.*)$/m;
push @parts, map {s{.*/}{}r} split / /, $files;
my %part = map { ( $_ => 1 ) } @parts;
cmp_ok( scalar keys %part, '>=', 9, 'Makefile.am: the parts of pkgdatadir are found' );

my %package;
for my $file ( glob Authz::Path::source( 'debian', '*.install' ) ) {
    my ($name) = $file =~ m{([^/]+)\.install\z};
    push @{ $package{$_} }, $name for Authz::Web::edit($file) =~ m{^usr/share/authz/(\S+)$}mg;
}
is_deeply( [ sort keys %package ], [ sort keys %part ], 'each part of pkgdatadir is in a package' );
is_deeply( [ grep { @{ $package{$_} } > 1 } sort keys %package ], [],               '... and in one alone' );
is_deeply( $package{portal},                                      ['authz-portal'], 'the console is in authz-portal' );

my $rules   = text_of( 'debian', 'rules' );
my %control = text_of( 'debian', 'control' ) =~ /^Package: (\S+)\n((?:.+\n)+)/mg;
my %place   = (
    lighttpd => 'etc/lighttpd/conf-available/51-authz-portal.conf',
    apache   => 'etc/apache2/conf-available/authz-portal.conf' );
for my $web ( sort keys %place ) {
    like(
        $rules, qr{install -D -m 644 etc/$web/authz-portal[.]conf debian/authz-portal/\Q$place{$web}\E$}m,
        "authz-portal has the configuration of $web" );
    like( text_of( 'cli', 'setup-host' ), qr{=/\Q$place{$web}\E$}m, '... where authzctl setup looks for it' );
    like(
        text_of( 'etc', $web, 'authz-portal.conf' ),
        qr{"/usr/share/authz/portal"}, '... and which names the directory of the package' );
}
like( $control{'authz-portal'}, qr/^Architecture: all$/m, 'authz-portal is for every architecture' );
like(
    $control{'authz-lighttpd'},
    qr/lighttpd-mod-deflate\b/, 'authz-lighttpd brings the module that the configuration of the console loads' );
like( text_of('.gitignore'), qr{^/debian/\Q$_\E/$}m, "git ignores what the build of $_ makes" ) for sort keys %control;

# lighttpd of Debian 13 refuses to start with more, that of Debian 12 takes any number.
for my $file (qw(authz.conf authz-spawn.conf)) {
    my ($requests) = text_of( 'etc', 'lighttpd', $file ) =~ /^server[.]max-keep-alive-requests = (\d+)$/m;
    cmp_ok( $requests // 65_536, '<=', 65_535, "lighttpd: $file: requests of a connection are a 16-bit number" );
}

my $remove = text_of( 'debian', 'authz-portal.prerm' );
like( $remove, qr/lighty-disable-mod authz-portal\b/, 'a removal of authz-portal disables its configuration' );
my $inside = text_of(qw(contrib debs inside));
ok( index( $inside, "/debs/$_" ) >= 0, "contrib/debs uses $_" )
  for map {"${_}_*.deb"} grep { !/lighttpd|apache2/ } sort keys %control;

# The keyring of Ubuntu comes without TLS, so nothing reads it before its checksum is right.
my $dir = Authz::Process::directory();
mkdir "$dir/bin" or die "$dir/bin: $!";
my %stand_in = (
    curl       => 'while [ "$1" != -o ]; do shift; done; printf changed >"$2"',
    'dpkg-deb' => ": >'$dir/unpacked'",
    gpg        => ": >'$dir/imported'" );
Authz::Web::write_file( "$dir/bin/$_", "#!/bin/sh\n$stand_in{$_}\n", 0755 ) for sort keys %stand_in;
my ( $status, $said ) = Authz::Process->run(
    name    => 'keyring',
    env     => { PATH => "$dir/bin:$ENV{PATH}", WORK => $dir },
    command => [ 'bash', '-uc', '. "$1"; root_ubuntu_key', 'keyring', Authz::Path::source(qw(contrib debs root.sh)) ] );
isnt( $status, 0, 'contrib/debs: a keyring of Ubuntu with another checksum is refused' );
like( $said, qr/keyring[.]deb: FAILED/, '... and named' );
is( scalar( grep { -e "$dir/$_" } qw(unpacked imported) ), 0, '... and neither unpacked nor imported' );
done_testing;

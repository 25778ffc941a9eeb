package Authz::Path;

# Paths of the programs under test and of what they need. AUTHZ_BUILDDIR and AUTHZ_SRCDIR come from make check; a tree that is
# installed under AUTHZ_PREFIX works too.

use strict;
use warnings;

use Cwd            ();
use File::Basename ();
use File::Spec     ();

sub source {
    my @part = @_;
    my $top  = $ENV{AUTHZ_SRCDIR} // File::Spec->catdir( File::Basename::dirname(__FILE__), '..', '..', '..' );
    return File::Spec->catfile( Cwd::abs_path($top), @part );
}

# A program of this machine, also of the directories of administrators, which PATH need not have; undef: it is not there.
sub on_path {
    my ( $name, @more ) = @_;
    for my $dir ( split( /:/, $ENV{PATH} // '' ), '/usr/sbin', '/usr/local/sbin', '/sbin', @more ) {
        return "$dir/$name" if $dir ne '' && -x "$dir/$name" && !-d _;
    }
    return;
}

# authz.fcgi or authzctl as built, else as installed.
sub program {
    my ($name) = @_;
    my @at;
    push @at, Cwd::abs_path( $ENV{AUTHZ_BUILDDIR} ) . "/$name"                         if defined $ENV{AUTHZ_BUILDDIR};
    push @at, map {"$ENV{AUTHZ_PREFIX}/$_/$name"} qw(bin sbin libexec/authz lib/authz) if defined $ENV{AUTHZ_PREFIX};
    push @at, Cwd::getcwd() . "/$name", source($name) if !@at;
    for my $file (@at) {
        return $file if -x $file;
    }
    die "$name is not built: looked for @at (set AUTHZ_BUILDDIR)\n";
}

# A program of t/pypi; undef if it is not installed.
sub pypi {
    my ($name) = @_;
    my $dir = $ENV{AUTHZ_PYPI} // ( glob( ( $ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache" ) . '/authz/pypi/*' ) )[0]
      // return;
    return -x "$dir/bin/$name" ? "$dir/bin/$name" : undef;
}

sub opa {
    my $cache = ( $ENV{XDG_CACHE_HOME} // ( $ENV{HOME} // '' ) . '/.cache' ) . '/authz/bin';
    my $found = $ENV{AUTHZ_OPA} // on_path( 'opa', $cache );
    die "no opa: set AUTHZ_OPA, or run contrib/check once\n" if !defined $found || !-x $found;
    return $found;
}

# The newest PostgreSQL's own programs; Debian keeps them off PATH, and its psql on PATH is a slow wrapper.
sub postgres {
    my ($name) = @_;
    my %version = map { ( $_ => m{/(\d+)/bin\z} ? $1 : 0 ) } glob '/usr/lib/postgresql/[0-9]*/bin';
    for my $dir ( sort { $version{$b} <=> $version{$a} } keys %version ) {
        return "$dir/$name" if -x "$dir/$name";
    }
    return on_path($name) // die "PostgreSQL's $name is not installed\n";
}

sub lighttpd { return on_path('lighttpd') // die "lighttpd is not installed\n" }

# A web server in front of other people's software, for /auth/check: nginx, haproxy or caddy; or undef.
sub door { my ($name) = @_; return on_path($name) }

# undef when Apache, or one of its modules, is not here: the deployment tests are skipped then.
sub apache { return on_path('apache2') // on_path('httpd') }

# promtool of Prometheus, or undef. contrib/check installs it and names it, so that no test is skipped there.
sub promtool { return $ENV{AUTHZ_PROMTOOL} // on_path('promtool') }

sub apache_modules {
    return ( grep { -d $_ } '/usr/lib/apache2/modules', '/usr/lib64/httpd/modules' )[0];
}

# Whom PostgreSQL runs as, since it refuses root; undef when we are not root ourselves.
sub unprivileged {
    return if $> != 0;
    for my $name (qw(postgres nobody)) {
        return $name if defined getpwnam $name;
    }
    die "no unprivileged account for PostgreSQL\n";
}

1;

package Authz::Pooler;

# pgbouncer between the service and PostgreSQL, on a UNIX socket: the program that AUTHZ_PGBOUNCER names, or that of PATH.

use strict;
use warnings;

use File::Copy ();

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Web      ();

# The program; nothing if there is none.
sub program {
    my @place = ( $ENV{AUTHZ_PGBOUNCER} // (), map {"$_/pgbouncer"} split( /:/, $ENV{PATH} ), '/usr/sbin' );
    my ($found) = grep {-x} @place;
    return $found;
}

# True if it keeps prepared statements of the protocol in transaction mode.
sub keeps {
    my $program = program() // return;
    my ( undef,  $text )  = Authz::Process->run( name => 'pgbouncer-version', command => [ $program, '--version' ] );
    my ( $major, $minor ) = $text =~ /PgBouncer (\d+)[.](\d+)/;
    return $major > 1 || $minor >= 21;
}

# Settings that the page tells operators to write, so that these are what is tested.
sub _page {
    my $page    = Authz::Web::edit( Authz::Path::source( 'doc', 'high-availability.md' ) );
    my ($lines) = $page =~ /^ *\[pgbouncer\]\n((?: *\w.*\n)+)/m or die "doc/high-availability.md: no [pgbouncer]\n";
    my %setting = $lines =~ /^ *(\w+) = (\S+)$/mg;
    delete $setting{max_prepared_statements} if !keeps();
    return %setting;
}

# start($dir, $postgres, name => 'value'...): more settings of pgbouncer.ini may follow. The directory is that of its socket.
sub start {
    my ( $class, $dir, $postgres, %setting ) = @_;
    my $self = bless { dir => $dir, setting => \%setting }, $class;
    mkdir $dir, 0755 or die "$dir: $!";
    my $user = Authz::Path::unprivileged();
    if ( defined $user ) { chown( ( getpwnam $user )[ 2, 3 ], $dir ) or die "chown $dir: $!" }
    $self->_configure($postgres);

    # The account of the server may not reach the program where it is.
    File::Copy::copy( program(), "$dir/pgbouncer" ) && chmod 0755, "$dir/pgbouncer" or die "$dir/pgbouncer: $!";
    $self->{process} = Authz::Process->start(
        name    => 'pgbouncer', user => $user,
        command => [ "$dir/pgbouncer", "$dir/pgbouncer.ini" ] );
    Authz::Process::until_true( 20, sub { -S "$dir/.s.PGSQL.$Authz::Postgres::PORT" } )
      // die "pgbouncer does not start\n";
    return $self;
}

sub _configure {
    my ( $self, $postgres ) = @_;
    my %setting = (
        _page(),
        max_client_conn => 400, default_pool_size => 20, auth_type => 'any', unix_socket_dir => $self->{dir},
        listen_port     => $Authz::Postgres::PORT, unix_socket_mode => '0777',
        %{ $self->{setting} } );
    Authz::Web::write_file(
        "$self->{dir}/pgbouncer.ini",
        join '',         "[databases]\n* = host=${\$postgres->socket} port=$Authz::Postgres::PORT user=postgres\n",
        "[pgbouncer]\n", map {"$_ = $setting{$_}\n"} sort keys %setting );
    chmod 0644, "$self->{dir}/pgbouncer.ini";
    return;
}

# Lead to another server from now on.
sub lead_to {
    my ( $self, $postgres ) = @_;
    $self->_configure($postgres);
    kill 'HUP', $self->{process}->pid;
    return;
}

sub socket { return $_[0]{dir} }

1;

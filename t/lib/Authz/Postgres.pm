package Authz::Postgres;

# A private PostgreSQL cluster on a UNIX socket, with one template database that holds the migrated schema and the shipped
# policy. Each test file gets a copy. A run of many files shares one cluster (AUTHZ_TEST_CLUSTER, set by t/run).

use strict;
use warnings;

use POSIX       ();
use Time::HiRes qw(sleep time);

use Authz::Path    ();
use Authz::Process ();

our $TEMPLATE = 'authz_template';
our $PORT     = 5432;

# The cluster that this test may use; private => 1 for a test that stops it.
sub shared_or_new {
    my ( $class, %option ) = @_;
    if ( defined $ENV{AUTHZ_TEST_CLUSTER} && !$option{private} ) {
        return bless { socket => $ENV{AUTHZ_TEST_CLUSTER} }, $class;
    }
    my $self = $class->new( settings => $option{settings} );
    $self->make_template;
    return $self;
}

# below: a directory for its files, in place of that of the test. settings => ['name=value', ...] are added to those below.
sub new {
    my ( $class, %option ) = @_;
    my $self = _place( $class, $option{below} );
    $self->{settings} = $option{settings};
    $self->_run_program( 'initdb', '-D', $self->{data}, qw(-A trust -U postgres -E UTF8 --locale=C.UTF-8 --no-sync) );
    $self->start;
    return $self;
}

sub _place {
    my ( $class, $below ) = @_;
    my $number = ++( our $clusters );
    my $self   = bless { user => Authz::Path::unprivileged(), number => $number }, $class;
    $self->{dir}  = $self->{socket} = $self->make_directory( ( $below // Authz::Process::directory() ) . "/pg$number" );
    $self->{data} = "$self->{dir}/data";
    return $self;
}

# Make a directory of the account of the server, and return its path.
sub make_directory {
    my ( $self, $dir ) = @_;
    mkdir $dir, 0755 or die "$dir: $!";
    if ( defined $self->{user} ) { chown( ( getpwnam $self->{user} )[ 2, 3 ], $dir ) or die "chown $dir: $!" }
    return $dir;
}

sub _run_program {
    my ( $self, $program, @argument ) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => $program, user => $self->{user},
        command => [ Authz::Path::postgres($program), @argument ] );
    die "$program: $text" if $status != 0;
    return;
}

# Take a base backup while the server runs.
sub base_backup {
    my ( $self, $data, @argument ) = @_;
    return $self->_run_program(
        'pg_basebackup', '-h', $self->{socket}, '-p', $PORT, qw(-U postgres --checkpoint=fast --no-sync -D), $data,
        @argument );
}

# A standby that the server waits for at each commit. From then on url() names both servers. env: added to that of its processes.
sub standby {
    my ( $self, %option ) = @_;
    my $standby = _place( ref $self );
    $standby->{env} = $option{env};
    $self->base_backup( $standby->{data}, '-R' );
    $standby->start;
    $self->sql(q{ALTER SYSTEM SET synchronous_standby_names = '*'});
    $self->sql('SELECT pg_reload_conf()');
    Authz::Process::until_true(
        30,
        sub { $self->sql(q{SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'}) }
    ) // die "the standby is not synchronous\n";
    push @{ $self->{peers} }, $standby;
    return $standby;
}

# A copy of the whole server that takes writes too: its identifier, its timeline and its databases are the same.
sub copy {
    my ($self) = @_;
    my $copy = _place( ref $self );
    $self->base_backup( $copy->{data} );
    return $copy->start;
}

# fsync off: a test kills processes, never the machine, so what the kernel has is safe. max_connections is for 8 tests at a
# time, some with several services of 10 workers.
sub start {
    my ($self) = @_;
    $self->{process} = Authz::Process->start(
        name    => "postgres$self->{number}",
        user    => $self->{user},
        signal  => 'INT',
        env     => $self->{env},
        command => [
            Authz::Path::postgres('postgres'),        '-D',        $self->{data}, '-k', $self->{socket}, '-p', $PORT,
            map { ( '-c', $_ ) } 'listen_addresses=', 'fsync=off', 'full_page_writes=off', 'max_connections=400',
            'shared_buffers=64MB', 'timezone=UTC', 'autovacuum=off', 'log_line_prefix=%m [%p] %d ', 'jit=off',
            @{ $self->{settings} // [] } ],
    );
    $self->await(30);
    return $self;
}

sub await {
    my ( $self, $seconds ) = @_;
    my $until = time + $seconds * Authz::Process::patience();
    while ( !$self->try('SELECT 1') ) {
        die "PostgreSQL does not start\n" if time > $until || !$self->{process}->alive;
        sleep 0.05;
    }
    return;
}

# immediate: as a crash, without a checkpoint.
sub stop {
    my ( $self, $how ) = @_;
    return $self->{process}->stop( ( $how // 'fast' ) eq 'immediate' ? 'QUIT' : 'INT', 30 );
}

sub process { return $_[0]{process} }
sub socket  { return $_[0]{socket} }

sub url {
    my ( $self, $database, $socket, $role ) = @_;
    my @peer = @{ $self->{peers} // [] };
    return sprintf 'postgresql:///%s?host=%s&port=%d&user=%s%s', $database,
      $socket // join( ',', $self->{socket}, map { $_->{socket} } @peer ), $PORT,
      $role // 'postgres',
      @peer ? '&target_session_attrs=read-write' : '';
}

sub _psql {
    my ( $self, $sql, $database ) = @_;
    my @command = (
        Authz::Path::postgres('psql'), '-X', '-q', '-A', '-t', '-F', "\t", '-v', 'ON_ERROR_STOP=1', '-h',
        $self->{socket}, '-p', $PORT, '-U', 'postgres',
        '-d',            $database // 'postgres', '-c', $sql );
    local $ENV{PGOPTIONS} = '--client-min-messages=warning';
    my $pid = open( my $out, '-|' ) // die "fork: $!";
    if ( $pid == 0 ) {
        open STDERR, '>&', \*STDOUT;
        exec { $command[0] } @command or POSIX::_exit(127);
    }
    local $/ = undef;
    my $text = readline($out) // '';
    close $out;
    $text =~ s/\n\z//;
    return ( $? == 0, $text );
}

sub try { my ( $self, $sql, $database ) = @_; return ( $self->_psql( $sql, $database ) )[0] }

# Output of a statement: rows by line, columns by tab. Where transactions are serializable, one that the service was in the way of
# is sent again.
sub sql {
    my ( $self, $sql, $database ) = @_;
    my ( $good, $text );
    for ( 1 .. 10 ) {
        ( $good, $text ) = $self->_psql( $sql, $database );
        last if $good || $text !~ /ERROR:  could not serialize access/;
    }
    die "psql: $text\nin $sql\n" if !$good;
    return $text;
}

# The template every test file's database is copied from.
sub make_template {
    my ($self) = @_;
    require Authz::Stack;
    $self->sql("CREATE DATABASE $TEMPLATE");
    my ( $status, $text ) = Authz::Process->run(
        name    => 'migrate',
        command => [ Authz::Path::program('authzctl'), 'db', 'migrate' ],
        env     => Authz::Stack::base_settings( $self->url($TEMPLATE) ),
    );
    die "authzctl db migrate: exit status $status\n$text" if $status != 0;
    return;
}

# Let a database refuse what other PostgreSQLs refuse (decisions.md "Other PostgreSQLs"): transactions are serializable, and
# NOTIFY and locks of sessions are not supported. Functions of the schema `strict` hide those of PostgreSQL; a test that needs such
# a lock itself names pg_catalog.pg_advisory_lock.
sub make_strict {
    my ( $self, $name ) = @_;
    my $refuse = q{RETURNS void LANGUAGE plpgsql AS $$ BEGIN RAISE feature_not_supported; END $$};
    my @lock   = map {"pg_$_"}
      qw(advisory_lock advisory_lock_shared try_advisory_lock try_advisory_lock_shared advisory_unlock advisory_unlock_shared);
    $self->sql(
        join(
            '; ',
            'CREATE SCHEMA strict',
            "CREATE FUNCTION strict.pg_notify(text, text) $refuse",
            map({ ( "CREATE FUNCTION strict.$_(integer, integer) $refuse", "CREATE FUNCTION strict.$_(bigint) $refuse" )
                } @lock ),
            "ALTER DATABASE $name SET search_path = public, strict, pg_catalog",
            "ALTER DATABASE $name SET default_transaction_isolation = 'serializable'" ),
        $name );
    return;
}

# Let a role of the service use a database, and no more (decisions.md "Two roles"); its name.
sub grant {
    my ( $self, $database, $role ) = @_;
    $role //= 'authz_service';
    $self->try("CREATE ROLE $role LOGIN");    # other tests of the cluster have it too
    require Authz::Stack;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'grant',
        command => [ Authz::Path::program('authzctl'), 'db', 'grant', $role ],
        env     => Authz::Stack::base_settings( $self->url($database) ) );
    die "authzctl db grant: exit status $status\n$text" if $status != 0;
    return $role;
}

# A fresh database; its name. strict: it refuses what make_strict says.
sub database {
    my ( $self, %option ) = @_;
    my $name = sprintf 't%d_%d_%d', $^T, $$, ++( our $databases );    # a long run uses process ids again
    $self->sql( "CREATE DATABASE $name" . ( $option{empty} ? '' : " TEMPLATE $TEMPLATE" ) );
    push @{ $self->{databases} }, $name;
    $self->make_strict($name) if $option{strict} || ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'strict';
    return $name;
}

1;

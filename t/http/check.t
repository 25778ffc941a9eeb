# authz.fcgi --check and authzctl config check read and connect, and change nothing (decisions.md "Start-up check").
use strict;
use warnings;

use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $stack    = Authz::Stack->start;
my $postgres = Authz::Postgres->shared_or_new;
my $other    = 'another-admin-key-5b0e';
my %checks   = (
    'authz.fcgi --check'    => [ Authz::Path::program('authz.fcgi'), '--check' ],
    'authzctl config check' => [ Authz::Path::program('authzctl'),   'config', 'check' ] );

sub run {
    my ( $what, %set ) = @_;
    return Authz::Process->run( name => 'check', env => \%set, command => $checks{$what} );
}

# Every row of every table, and every sequence of a database.
sub dump_of {
    my ($database) = @_;
    my @table      = split /\n/, $postgres->sql(
        q{SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema') ORDER BY 1},
        $database );
    my $sequences = 'SELECT sequencename, last_value FROM pg_sequences ORDER BY 1';
    return join "\n", ( map { "$_: " . $postgres->sql( "SELECT t::text FROM $_ t ORDER BY 1", $database ) } @table ),
      $postgres->sql( $sequences, $database );
}

# Names, numbers (inodes), modes and sizes of what is below a directory. A running service counts its requests in these files, so
# their times change by themselves.
sub tree_of {
    my ($dir) = @_;
    return join "\n", map { join ' ', $_, ( lstat $_ )[ 1, 2, 7 ] } $dir, sort glob "$dir/*";
}

# ---- a running service

my %running = %{ $stack->settings };
my $keys    = q{SELECT to_jsonb(k) - 'last_used_at' FROM admin_key k ORDER BY id};
my $before  = $stack->sql($keys);
my $shared  = tree_of( $running{SVC_RUNTIME_DIR} );
is( $stack->admin( GET => '/admin/api/admin-keys' )->status, 200, 'the configured key works before' );
for my $what ( sort keys %checks ) {
    my ( $status, $text ) = run( $what, %running, SVC_ADMIN_API_KEY => $other );
    is( $status, 0, "$what with another admin key passes" ) or diag($text);
    is( $stack->sql($keys), $before,
        "$what registers and revokes no admin key (decisions.md \"Start-up check\")" );
    is( $stack->admin( GET => '/admin/api/admin-keys' )->status, 200,
        "$what does not lock out the key of the running service" );
    is( $stack->admin( GET => '/admin/api/admin-keys', key => $other )->status, 401,
        "$what does not let the other key in" );
    is( tree_of( $running{SVC_RUNTIME_DIR} ), $shared, "$what leaves the runtime directory alone" );
}

# ---- databases that no service uses: nothing at all changes

for my $case ( [ 'with signing keys' => 'SELECT 1' ], [ 'without signing keys' => 'DELETE FROM signing_key' ] ) {
    my ( $name, $sql ) = @$case;
    my $database = $postgres->database;
    $postgres->sql( $sql, $database );
    my $dump = dump_of($database);
    my $dir  = Authz::Process::directory() . "/run-$database";
    my %set  = (
        %running,
        SVC_ADMIN_API_KEY                   => $other,
        SVC_DATABASE_URL                    => $postgres->url($database),
        SVC_DATABASE_DIRECT_URL             => '',
        SVC_RUNTIME_DIR                     => $dir,
        SVC_CREDENTIAL_KEY_DISCARD_PER_USER => 'true' );
    for my $what ( sort keys %checks ) {
        my ( $status, $text ) = run( $what, %set );
        is( $status,            0,     "$what: a database $name passes" ) or diag($text);
        is( dump_of($database), $dump, "$what: no row and no sequence of a database $name changes" );
        ok( !-e $dir, "$what: a runtime directory that is missing is not made" );
    }
}

# ---- what the check still finds

my ( $status, $text ) = run( 'authz.fcgi --check', %running, SVC_CREDENTIAL_KEY => 'another-credential-key' );
ok( $status == 78 && $text =~ /SVC_CREDENTIAL_KEY/, 'a credential key that does not open the signing keys is found' )
  or diag( $status, $text );
( $status, $text ) =
  run( 'authz.fcgi --check', %running, SVC_RUNTIME_DIR => Authz::Process::directory() . '/none/run' );
ok( $status == 78 && $text =~ /SVC_RUNTIME_DIR.*cannot be created/, 'a runtime directory that cannot be made is found' )
  or diag( $status, $text );
for my $dir ( Authz::Process::directory() . '/later', Authz::Process::directory() . '/later//' ) {
    ( $status, $text ) = run( 'authz.fcgi --check', %running, SVC_RUNTIME_DIR => $dir );
    is( $status, 0, "a runtime directory that can be made passes: $dir" ) or diag($text);
}
my $empty = $postgres->database( empty => 1 );
( $status, $text ) =
  run( 'authz.fcgi --check', %running, SVC_DATABASE_URL => $postgres->url($empty), SVC_DATABASE_DIRECT_URL => '' );
ok( $status == 78 && $text =~ /authzctl db migrate/, 'a database without schema is found' ) or diag( $status, $text );
is( dump_of($empty), '', 'and stays empty' );

done_testing;

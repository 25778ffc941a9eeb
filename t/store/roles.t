#!/usr/bin/perl
# Two roles of the database: the owner of the tables, and one of the service, which cannot change the schema or the audit log
# (decisions.md "Two roles").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my ( $OWNER, $SERVICE ) = ( "own_$$", "svc_$$" );
my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database( empty => 1 );
$postgres->sql("CREATE ROLE $OWNER LOGIN");
$postgres->sql("ALTER DATABASE $database OWNER TO $OWNER");

# authzctl as a role; its status and everything that it printed.
sub ctl {
    my ( $role, @words ) = @_;
    return Authz::Process->run(
        name => 'ctl', command => [ Authz::Path::program('authzctl'), @words ],
        env  => {
            %{ Authz::Stack::base_settings( $postgres->url( $database, undef, $role ) ) },
            SVC_OPA_URL => 'unix:/nonexistent/opa.sock' } );
}

# A statement of a session that the role itself began.
sub as_role {
    my ( $role,   $sql )  = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'psql',
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -A -t -v ON_ERROR_STOP=1 -h), $postgres->socket, '-p',
            $Authz::Postgres::PORT, '-U', $role, '-d', $database, '-c', $sql ] );
    return ( $status == 0, $text );
}

my ( $status, $text ) = ctl( $OWNER, qw(db migrate) );
is( $status, 0, 'an owner that is no superuser makes the schema' ) or diag $text;

# ---- refused: roles that could do more

for my $case (
    [ 'nobody_of_this_name', undef,                                                 qr/does not exist/ ],
    [ $OWNER,                undef,                                                 qr/is the owner of the tables/ ],
    [ 'postgres',            undef,                                                 qr/is a superuser/ ],
    [ $SERVICE,              "CREATE ROLE $SERVICE LOGIN CREATEROLE",               qr/may create roles/ ],
    [ $SERVICE, "ALTER ROLE $SERVICE NOCREATEROLE; GRANT $OWNER TO $SERVICE",       qr/or may become it/ ],
    [ $SERVICE, "REVOKE $OWNER FROM $SERVICE; GRANT pg_write_all_data TO $SERVICE", qr/can change the audit log/ ],
  )
{
    my ( $role, $before, $why ) = @{$case};
    $postgres->sql($before) if defined $before;
    ( $status, $text ) = ctl( $OWNER, qw(db grant), $role );
    isnt( $status, 0, "db grant refused: $role" . ( $before ? ": $before" : '' ) );
    like( $text, $why, '... with the reason' );
}
is( ( as_role( $SERVICE, 'SELECT 1 FROM client' ) )[0], q{}, 'a refused grant gives nothing' );
$postgres->sql("REVOKE pg_write_all_data FROM $SERVICE");
( $status, $text ) = ctl( $OWNER, qw(db grant), $SERVICE );
is( $status, 0, 'db grant' ) or diag $text;
( $status, $text ) = ctl( $SERVICE, qw(db grant), $SERVICE );
isnt( $status, 0, 'the role of the service gives no rights' );
like( $text, qr/does not own the tables/, '... and is told why' );

( $status, $text ) = ctl( $SERVICE, qw(db migrate) );
is( $status, 1, '... nor migrates' ) or diag $text;
like( $text, qr/does not own the tables: run db migrate as their owner/, '... and is told who does' );

# ---- the service works

my $stack = Authz::Stack->start( postgres => $postgres, database => $database, role => $SERVICE );
my @crm   = $stack->make_client(
    'crm',
    { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );
my $token = $stack->token_text( @crm, scope => 'a' );
ok( $stack->introspect( @crm, $token )->member('active'),
    'the service issues and reads tokens under it, and saves policy' );
is( $stack->sql(
        qq{SELECT DISTINCT usename FROM pg_stat_activity WHERE datname = '$database' AND usename <> 'postgres'}),
    $SERVICE,
    '... with no other role' );
( $status, $text ) = ctl( $SERVICE, 'maintain' );
is( $status, 0, 'housekeeping passes under it' ) or diag $text;
unlike( $text, qr/permission denied/, '... and tries nothing that is refused' );
cmp_ok( $stack->sql('SELECT count(*) FROM audit_tile'), '>', 0, '... it seals audit rows' );
( $status, $text ) = ctl( $SERVICE, 'maintain' );
is( $status, 0, '... and again, so tiles grow' ) or diag $text;
my $list = q{SELECT count(*) FROM pg_inherits WHERE inhparent = 'access_token'::regclass};
$stack->sql( 'DROP TABLE '
      . $stack->sql(q{SELECT max(inhrelid::regclass::text) FROM pg_inherits WHERE inhparent = 'access_token'::regclass})
);
my $there = $stack->sql($list);
ctl( $SERVICE, 'maintain' );
is( $stack->sql($list), $there + 1, '... it makes a partition that is missing' );

( $status, $text ) = ctl( $SERVICE, qw(config check) );
unlike( $text, qr/owns the tables/, 'config check: no warning under the role of the service' ) or diag $text;
( $status, $text ) = ctl( $OWNER, qw(config check) );
like( $text, qr/^authzctl: warning: the role of SVC_DATABASE_URL owns the tables/m, '... and one under the owner' );

# ---- and cannot change the audit log or the schema

my ($day) = $stack->sql(q{SELECT tableoid::regclass FROM audit_log LIMIT 1});
for my $sql (
    'DELETE FROM audit_log',              q{UPDATE audit_log SET outcome = 'denied'},
    'TRUNCATE audit_log',                 "DELETE FROM $day",
    "UPDATE $day SET outcome = 'denied'", "DROP TABLE $day",
    "ALTER TABLE audit_log DETACH PARTITION $day",
    'DELETE FROM audit_note',             q{UPDATE audit_note SET line = ''},
    'DELETE FROM audit_checkpoint',       q{UPDATE audit_checkpoint SET note = ''},
    'DELETE FROM audit_tile',             q{UPDATE audit_tile SET hashes = '\x00'},
    'UPDATE audit_tile SET n = n + 1000', 'DROP TABLE audit_checkpoint, audit_tile, audit_note',
    'DELETE FROM audit_log_state',        'ALTER TABLE client ADD COLUMN mine text',
    'CREATE TABLE mine (a text)',         'CREATE SCHEMA mine',
    'ALTER FUNCTION partition_create(text, integer) SECURITY INVOKER',
    'CREATE FUNCTION mine() RETURNS trigger LANGUAGE plpgsql AS $f$ BEGIN RETURN NULL; END $f$',
    'CREATE TRIGGER mine BEFORE INSERT ON admin_key FOR EACH ROW EXECUTE FUNCTION client_touch()',
    'ALTER TABLE audit_tile DISABLE TRIGGER audit_tile_grows',
    q{SELECT partition_create('client', 1)}, q{INSERT INTO schema_migration VALUES (1, '', '')},
    q{SELECT setval('audit_id_seq', 1)},     "SET ROLE $OWNER",
  )
{
    my ( $good, $said ) = as_role( $SERVICE, $sql );
    ok( !$good, "refused: $sql" );
    like(
        $said, qr/permission denied|must be owner|a tile of the audit log only grows|no partitioned table/,
        '... by PostgreSQL' );
}
$stack->stop if $stack->can('stop');

# ---- the owner drops and prunes, and gives new tables

$postgres->sql( q{SELECT partition_create('access_token', 1)}, $database );
ctl( $SERVICE, 'maintain' );
my $old = q{SELECT to_regclass('access_token_p1') IS NOT NULL};
is( $postgres->sql( $old, $database ), 't', 'the service drops no partition' );
( $status, $text ) = ctl( $SERVICE, 'maintain' );
like( $text, qr/partitions are not dropped.*run authzctl maintain as their owner/, '... and the log says who must' );
( $status, $text ) = ctl( $OWNER, 'maintain' );
is( $status,                           0,   'authzctl maintain as the owner' ) or diag $text;
is( $postgres->sql( $old, $database ), 'f', '... drops it' );
$postgres->sql( "SET ROLE $OWNER; CREATE TABLE of_next_version (a text)", $database );
is( ( as_role( $SERVICE, 'SELECT * FROM of_next_version' ) )[0], q{}, 'a table of a new migration' );
( $status, $text ) = ctl( $OWNER, qw(db migrate) );
like( $text, qr/^roles of the service: 1 granted$/m, '... db migrate grants again' );
is( ( as_role( $SERVICE, 'SELECT * FROM of_next_version' ) )[0], 1, '... so that the service has it' );

# ---- one command for both: db migrate --grant

$postgres->sql("CREATE ROLE new_$$ LOGIN");
( $status, $text ) = ctl( $OWNER, qw(db migrate --grant), "new_$$" );
is( $status, 0, 'db migrate --grant' ) or diag $text;
is( ( as_role( "new_$$", 'SELECT count(*) >= 0 FROM client' ) )[1], "t\n",
    '... lets the role do what the service does' );
ok( !( as_role( "new_$$", 'DELETE FROM audit_log' ) )[0], '... and no more' );
for my $case ( [ 'nobody_of_this_name', qr/does not exist/ ], [ $OWNER, qr/is the owner of the tables/ ] ) {
    ( $status, $text ) = ctl( $OWNER, qw(db migrate --grant), $case->[0] );
    is( $status, 1, "refused: db migrate --grant $case->[0]" );
    like( $text, $case->[1], '... with the reason' );
}
done_testing;

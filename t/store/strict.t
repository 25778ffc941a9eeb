# Conflicts of transactions, and databases that refuse NOTIFY and locks of sessions (decisions.md "Other PostgreSQLs").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

# DB_CONFLICTS_MAX of store/db/db.h.
my $MOST = 10;

my $stack = Authz::Stack->start( strict => 1, workers => 4 );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
pass('without NOTIFY and locks of sessions a policy save is confirmed');
like( $stack->{service}->log_text, qr/"notifications refused"/, '... and the log says so' );

sub rows { return $stack->sql('SELECT count(*) FROM access_token') }

is( $stack->sql('SHOW transaction_isolation'), 'serializable', 'the transactions are serializable' );
for my $case ( [ \@crm, 'a token' ], [ \@once, 'a single-use token' ] ) {
    my ( $client, $name ) = @$case;
    my $token  = $stack->token_text( @$client, scope => 'orders.read' );
    my @answer = Authz::Client::together(
        map {
            [   $stack->client,
                $stack->client->octets(
                    POST => '/introspect', headers => [ Authz::Client::basic(@rs) ], form => [ token => $token ] ) ]
        } 1 .. 8 );
    is( scalar( grep { $_->status == 200 } @answer ), 8, "$name: eight introspections at once are answered" );
    is( scalar( grep { $_->member('active') } @answer ),
        $client == \@once ? 1 : 8, "$name: " . ( $client == \@once ? 'and one has it (R11)' : 'and all see it' ) );
}

Authz::Grant->people( $stack, subject => 'alice' );
my @web = $stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$Authz::Grant::REDIRECT] );
my $code   = Authz::Grant->code( $stack, client => 'web' );
my @answer = Authz::Client::together(
    map {
        [   $stack->client,
            $stack->client->octets(
                POST => '/token', headers => [ Authz::Client::basic(@web) ], form => [ Authz::Grant->redemption($code) ]
            ) ]
    } 1 .. 6 );
is( join( ' ', sort map { $_->status } @answer ),
    '200 400 400 400 400 400', 'six redemptions of a code at once: one succeeds, the others are refused (R11)' );

# ---- a conflict, forced: the trigger raises it so many times. A sequence is not rolled back.

# Let the next so many inserts of tokens fail, at once or when they commit.
sub fail_next {
    my ( $times, $state, $when ) = @_;
    $stack->sql( <<"SQL" );
DROP TRIGGER IF EXISTS fail ON access_token;
DROP SEQUENCE IF EXISTS failures;
CREATE SEQUENCE failures;
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN IF nextval('failures') <= $times THEN RAISE SQLSTATE '$state'; END IF; RETURN NEW; END \$\$;
CREATE @{[ $when eq 'commit' ? 'CONSTRAINT TRIGGER fail AFTER' : 'TRIGGER fail BEFORE' ]} INSERT ON access_token
  @{[ $when eq 'commit' ? 'DEFERRABLE INITIALLY DEFERRED' : '' ]} FOR EACH ROW EXECUTE FUNCTION fail();
SQL
    return;
}
for my $case (
    [ 1,         '40001', 'at once', 200, 'a serialization failure' ],
    [ $MOST,     '40001', 'at once', 200, "$MOST of them" ],
    [ $MOST + 1, '40001', 'at once', 503, 'one more' ],
    [ 1,         '40P01', 'at once', 200, 'a deadlock' ],
    [ $MOST + 1, '40P01', 'at once', 503, 'more of them than are tried again' ],
    [ 1,         '40001', 'commit',  200, 'a serialization failure at the commit' ],
    [ $MOST + 1, '40001', 'commit',  503, 'more of them at the commit' ],
    [ 1,         '23514', 'at once', 500, 'another failure is not tried again' ],
    [ 1,         '23514', 'commit',  500, 'nor at the commit' ],
  )
{
    my ( $times, $state, $when, $status, $name ) = @$case;
    fail_next( $times, $state, $when );
    my $before = rows();
    my $answer = $stack->token( @crm, scope => 'orders.read' );
    is( $answer->status, $status, "$name: $status" ) or diag( $answer->text );
    is( rows() - $before, $status == 200 ? 1 : 0,
        "$name: " . ( $status == 200 ? 'written once' : 'nothing is written' ) );
}
$stack->sql('DROP TRIGGER fail ON access_token');

# An audit row that is sent and not waited for.
$stack->sql(<<"SQL");
DROP SEQUENCE failures;
CREATE SEQUENCE failures;
CREATE OR REPLACE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS \$\$
BEGIN IF NEW.endpoint = '/introspect' AND nextval('failures') <= $MOST THEN RAISE SQLSTATE '40001'; END IF; RETURN NEW; END \$\$;
CREATE TRIGGER fail BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fail();
SQL
sub audited { return $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/introspect'}) }
my $before = audited();
is( $stack->introspect( @rs, 'x' )->status, 200, 'an introspection whose audit row meets conflicts' );
ok( defined Authz::Process::until_true( 20, sub { audited() > $before } ), '... has the row all the same' );
is( audited() - $before, 1, '... once' );
unlike( $stack->{service}->log_text, qr/audit row lost/, '... and none is lost' );
$stack->sql('DROP TRIGGER fail ON audit_log');
oauth_ok( $stack->token( @crm, scope => 'orders.read' ), {}, 'the same processes serve on' );
unlike( $stack->{service}->log_text, qr/worker ended/, '... without a new worker' );

# ---- a transaction of several trips, which cannot be sent again

# The other transaction commits when something waits for it.
my %mark = ( owner => 'files', marks => [ { kind => 'client', key => 'crm', digest => '0' x 64 } ] );
is( $stack->admin( PUT => '/admin/api/object-owners', json => \%mark )->status, 204, 'an object is marked' );
my $other = Authz::Process->start(
    name    => 'other',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
        $Authz::Postgres::PORT, '-d', $stack->{database}, '-c', <<'SQL' ] );
DO $$ BEGIN
UPDATE object_owner SET updated_at = now();
WHILE NOT EXISTS (SELECT FROM pg_locks WHERE transactionid = pg_current_xact_id()::xid AND NOT granted) LOOP
  PERFORM pg_sleep(0.02);
END LOOP;
END $$
SQL
ok( defined Authz::Process::until_true(
        20,
        sub {
            $stack->sql(
                q{SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'object_owner'::regclass AND mode = 'RowExclusiveLock')}
            ) eq 't';
        } ),
    'another transaction changes the mark' );
is( $stack->admin( PUT => '/admin/api/object-owners', json => \%mark )->status,
    204, '... and the one that waits for it succeeds (decisions.md "Other PostgreSQLs")' );
is( $other->wait(20), 0, '... after the other one' );

# Save a rule in a process of its own, which ends with 0 if it was made, 3 for 503, or 1.
sub saves {
    my ($name) = @_;
    my %rule = (
        path    => "custom/$name.rego", kind => 'rego', version => '1', content => "package custom.$name\n",
        enabled => true );
    return Authz::Process->start(
        name => $name,
        code => sub {
            $stack->{http} = $stack->client;
            my $answer = $stack->admin( POST => '/admin/api/policy-rules', json => \%rule );
            note $answer->text;
            exit( $answer->status == 201 ? 0 : $answer->status == 503 ? 3 : 1 );
        } );
}

# ---- a save after one that died with its candidate

# No engine gets an answer meanwhile: a request for the bundle withdraws the candidate too.
my @fetching = $stack->workers('bundles');
kill STOP => @fetching;
$stack->sql(<<'SQL');
WITH b AS (SELECT b.* FROM bundle b JOIN bundle_state s ON s.served = b.id),
 dead AS (INSERT INTO bundle (revision, etag, previous_etag, previous, body, content, status, trigger_source, triggered_by, size_octets,
   rule_paths, data_keys, modules, created_at) SELECT 'dead', 'dead', etag, id, body, content, 'pending', trigger_source, triggered_by,
   size_octets, rule_paths, data_keys, modules, clock_timestamp() FROM b RETURNING id)
UPDATE bundle_state SET served = (SELECT id FROM dead)
SQL
my $saver = saves('next');
ok( defined Authz::Process::until_true(
        20,
        sub {
            $stack->sql('SELECT max(id) FROM bundle') > $stack->sql(q{SELECT id FROM bundle WHERE revision = 'dead'});
        } ),
    'a save begins while the candidate of one that died is served' );
is( $stack->sql(q{SELECT status FROM bundle WHERE revision = 'dead'}), 'withdrawn',
    '... and withdraws that first, although its own lock is held by a connection beside' );
kill CONT => @fetching;
$saver->wait(60);
is( $stack->sql(q{SELECT status FROM bundle ORDER BY id DESC LIMIT 1}), 'confirmed', '... and is confirmed' );

# ---- a save whose lock ends: the connection beside is lost, that of the save is not

# Return the sessions that hold a lock, or wait for it, by its class of fcgi/store/db/keep/locks.h.
sub holders {
    my ( $class, $granted ) = @_;
    return $stack->sql( 'SELECT count(*) FROM pg_locks WHERE locktype = \'advisory\' AND objsubid = 2 AND '
          . "classid = $class AND granted = $granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    );
}
sub until_held { return ok( defined Authz::Process::until_true( 20, $_[0] ), $_[1] ) }
my $candidate = q{SELECT count(*) FROM bundle WHERE status = 'pending'};
$stack->{opa}->signal('STOP');
my $first = saves('first');
until_held( sub { $stack->sql($candidate) == 1 }, 'a save waits for the engine' );
is( holders( 4, 'true' ), 1, '... with the lock on a connection beside' );
$stack->{postgres}->sql(
    q{SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4 AND objsubid = 2 AND granted}
);
is( $first->wait(20), 3, '... and is refused (503) when that connection is lost' );
like( $stack->{service}->log_text, qr/the session with the save lock was lost/, '... which the log tells' );
is( $stack->sql($candidate), 0, '... and its candidate is withdrawn' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/first.rego'}), 0,
    '... and its rule not stored' );
$stack->{opa}->signal('CONT');

# The second key is lock_number("").
my $keep = Authz::Process->start(
    name    => 'keep',
    env     => { PGAPPNAME => 'keep' },
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
        $Authz::Postgres::PORT,        '-d',                     $stack->{database},         '-c',
        'BEGIN', '-c', 'SELECT pg_catalog.pg_advisory_xact_lock(17, -2128831035)',           '-c', 'SELECT pg_sleep(60)'
    ] );
until_held( sub { holders( 17, 'true' ) == 1 }, 'a transaction of another save goes on' );
my $second = saves('second');
until_held( sub { holders( 17, 'false' ) == 1 }, '... and the next save, which has the lock, waits for its end' );
is( $stack->sql($candidate), 0, '... before it publishes anything' );
$stack->{postgres}->sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keep'});
$keep->wait(20);
is( $second->wait(60), 0, '... and is confirmed then' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/second.rego'}), 1, '... with its rule' );

# ---- jobs of the host

my ( $status, $text ) = $stack->authzctl('maintain');
is( $status, 0, 'housekeeping runs without locks of sessions' ) or diag($text);
my $export = $stack->admin( GET => '/admin/api/audit-logs/export?format=ndjson' );
is( $export->status, 200, 'so does an export' ) or diag( $export->text );
is( $stack->admin( GET => '/admin/api/audit-logs/export?format=ndjson' )->status,
    200, 'and the next one finds the lock free' );

done_testing;

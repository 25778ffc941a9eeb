# A policy that moves while a save is measured: what is saved is what was measured (policy.md G6). The test holds each measurement
# at its end, by a lock that a trigger waits for, so that it decides what happens meanwhile.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
$stack->token( @crm, scope => 'write' ) for 1 .. 2;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( 60, $test ) }

# ---- gates: the measurement with the id N ends when the lock (4711, N) is free

$stack->sql(
    q{CREATE FUNCTION gate() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN PERFORM pg_advisory_xact_lock(4711, NEW.id::integer); RETURN NEW; END';
    CREATE TRIGGER gate BEFORE UPDATE OF state ON policy_impact FOR EACH ROW EXECUTE FUNCTION gate()}
);
my $database = q{database = (SELECT oid FROM pg_database WHERE datname = current_database())};

sub gate_is {
    my ( $id, $granted ) = @_;
    return $stack->sql(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4711 AND objid = $id AND $database AND "
          . ( $granted ? 'granted' : 'NOT granted' ) ) > 0;
}

# Close the gate of a measurement that is not yet begun. Stop the process to open it.
sub close_gate {
    my ($id) = @_;
    my $holder = Authz::Process->start(
        name    => "gate $id",
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
            $Authz::Postgres::PORT,        '-d',                     $stack->{database},         '-c',
            "SELECT pg_catalog.pg_advisory_lock(4711, $id), pg_sleep(600)" ] );
    until_true( sub { gate_is( $id, 1 ) } ) or die "no gate\n";
    return $holder;
}

sub open_gate {
    my ( $holder, $id ) = @_;
    $stack->sql(
        "SELECT count(pg_terminate_backend(pid)) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4711 AND objid = $id AND granted AND $database"
    );
    $holder->stop;
    return;
}
sub last_run { return $stack->sql('SELECT coalesce(max(id), 0) FROM policy_impact') }

sub saves_wait {
    return $stack->sql(
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4 AND granted AND $database") > 0;
}

# ---- the saves

sub rule {
    my ( $name, $text ) = @_;
    return { path => "custom/$name.rego", kind => 'rego', version => '1', content => $text };
}
my $deny =
  rule( issue =>
      qq{package custom.issue\n\ndeny contains {"code": "no", "category": "policy"} if "write" in input.scopes.requested\n}
  );

# Save with a limit in a process of its own, which prints the answer.
sub save_beside {
    my ($most) = @_;
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";
    if ( $pid == 0 ) {
        close $in;
        local $Authz::Client::TIMEOUT = 240;    # it waits for all that the test does meanwhile
        my $answer = $stack->client->request(
            PUT     => "$stack->{path}/admin/api/policy-rules/by-path?impact=24h&maxNewlyDenied=$most",
            json    => $deny,
            headers => [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ] );
        print {$out} join ' ', $answer->status, $answer->header('X-Policy-Impact') // $answer->member('error') // '';
        close $out;
        require POSIX;
        POSIX::_exit(0);
    }
    close $out;
    return sub { local $/ = undef; my $text = readline $in; waitpid $pid, 0; return $text };
}

# Another save, without limits: a module that nothing reads.
sub move {
    my ($number) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => rule( "move$number", "package custom.move$number\n\nv := $number\n" ) );
    return $answer->status;
}

# The revision that the last measurement began with, and the one before that which is served.
sub measured_base { return $stack->sql( 'SELECT base FROM policy_impact WHERE id = ' . last_run() ) }

sub replaced {
    return $stack->sql(
        'SELECT p.revision FROM bundle_state s JOIN bundle b ON b.id = s.served JOIN bundle p ON p.id = b.previous');
}

# ---- revision_moves_between

my $first = last_run() + 1;
my $held  = close_gate($first);
my $saved = save_beside(2);
ok( until_true( sub { gate_is( $first, 0 ) } ), 'a save is measured' );
ok( !saves_wait(),                              '... without the save lock' );
is( move(1), 201, '... so another save does not wait for it, and moves the revision' );
open_gate( $held, $first );
like( $saved->(), qr/\A201 id=\d+; newlyDenied=2/, 'revision_moves_between: the save is measured again, and made' );
is( last_run(),      $first + 1, '... by a second measurement' );
is( measured_base(), replaced(), '... of the revision that it replaces' );

# ---- third_time_under_lock

$stack->admin( POST => '/admin/api/policy-bundle/deploy', json => { deleteRules => ['custom/issue.rego'] } );
$stack->sql(q{UPDATE policy_impact SET made_at = made_at - interval '1 hour'});    # a run that is not old counts
my $next = last_run();
my @held = map { close_gate( $next + $_ ) } 1 .. 3;
$saved = save_beside(2);
for my $time ( 1, 2 ) {
    ok( until_true( sub { gate_is( $next + $time, 0 ) } ), "measurement $time" );
    ok( !saves_wait(),                                     '... without the save lock' );
    is( move( 1 + $time ), 201, '... while the revision moves' );
    open_gate( $held[ $time - 1 ], $next + $time );
}
ok( until_true( sub { gate_is( $next + 3, 0 ) } ), 'third_time_under_lock: the third measurement' );
ok( saves_wait(),                                  '... holds the save lock, so that the revision stays' );
open_gate( $held[2], $next + 3 );
like( $saved->(), qr/\A201 id=\d+; newlyDenied=2/, '... and the save is made' );
is( last_run(),      $next + 3,  '... by that measurement' );
is( measured_base(), replaced(), '... of the revision that it replaces' );
ok( !saves_wait(), '... and the lock is free' );

done_testing();

# A save waits SVC_BUNDLE_CONFIRM_TIMEOUT_MS for the engines and asks them every SVC_BUNDLE_CONFIRM_POLL_MS, or does not wait at
# all (SVC_BUNDLE_CONFIRM_ACTIVATION=false); it waits five seconds longer for another save to end (policy.md 2.4).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Policy   ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $BOUND = 60;

# Hosts on one engine that differ in their settings: as the others do; with a short time; without waiting.
my $stack = Authz::Stack->start;
my %host  = (
    plain => $stack,
    other => Authz::Stack->start( beside => $stack ),
    short => Authz::Stack->start( beside => $stack, settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 500 } ),

    # Without the program that tries a candidate, the engine gets what it refuses (policy.md 7.3).
    loose => Authz::Stack->start(
        beside   => $stack,
        settings => { SVC_BUNDLE_CONFIRM_ACTIVATION => 'false', SVC_OPA_BINARY => '/nonexistent' } ),
);
my %policy = map { ( $_ => Authz::Policy->new( $host{$_} ) ) } keys %host;
my $policy = $policy{plain};
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub rule       { my ( $name, $text ) = @_; return { "custom/$name.rego" => "package custom.$name\n\nv := $text\n" } }
sub timed      { my ($do)   = @_; my $start = time; my $answer = $do->(); return ( time - $start, $answer ) }
sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub issues {
    return until_true( sub { $stack->token( @crm, scope => 'orders.read' )->status == 200 } );
}
sub stored { my ($name) = @_; return $stack->sql("SELECT count(*) FROM policy_rule WHERE path = 'custom/$name.rego'") }

# A session that keeps the save lock for so long (class 4 of fcgi/store/db/keep/locks.h).
sub lock_for {
    my ($seconds) = @_;
    my $holder = Authz::Process->start(
        name    => 'holder',
        env     => { PGAPPNAME => 'holder' },
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
            $Authz::Postgres::PORT,        '-d', $stack->{database},
            '-c',                          "SELECT pg_advisory_lock(4, 0), pg_sleep($seconds)" ] );
    until_true(
        sub {
            $stack->sql(
                'SELECT count(*) FROM pg_locks WHERE locktype = \'advisory\' AND classid = 4 AND objsubid = 2 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())'
            ) > 0;
        } ) or die "no lock\n";
    return $holder;
}

# Return how often the engine was asked for its status, as the engine counts.
sub status_asked {
    my $sum = 0;
    for my $line ( split /\n/, $policy->ask_engine('/metrics')->body ) {
        $sum += $1 if $line =~ m{^http_request_duration_seconds_count\{[^\}]*handler="v1/status"[^\}]*\} (\d+)};
    }
    return $sum;
}

# ---- SVC_BUNDLE_CONFIRM_TIMEOUT_MS, SVC_BUNDLE_CONFIRM_POLL_MS: an engine on another host that fetches
# the bundle and never says that it has it

# The most memory that any worker of the host had, in kB.
sub largest {
    my ($stack) = @_;
    my $most = 0;
    for my $pid ( $stack->workers ) {
        open my $in, '<', "/proc/$pid/status" or next;
        while ( my $line = readline $in ) { $most = $1 if $line =~ /^VmHWM:\s+(\d+)/ && $1 > $most }
    }
    return $most;
}

sub ghost {
    return $stack->sql(
        q{INSERT INTO engine_instance (instance, active_revision, code, message, reported_at, asked_at) VALUES ('ghost', 'another', '', '', now(), now() + interval '1 hour') ON CONFLICT (instance) DO UPDATE SET reported_at = now()}
    );
}

for my $case ( [ 2000, 100, 3, 45 ], [ 2000, 1000, 1, 12 ], [ 500, 50, 2, 25 ] ) {
    my ( $timeout, $poll, $least, $most ) = @$case;
    $host{short}->restart_service(
        settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => $timeout, SVC_BUNDLE_CONFIRM_POLL_MS => $poll } );
    ghost();
    my ( $asked, $before ) = ( status_asked(), largest( $host{short} ) );
    my ( $took,  $answer ) = timed( sub { $policy{short}->deploy( rules => rule( ghost => $timeout + $poll ) ) } );
    $asked = status_asked() - $asked;
    admin_error(
        $answer, 422, "time-out $timeout ms: refused", error => 'bundle_not_activated',
        members => { error_description => qr/\b$timeout ms\b/, rolledBack => true } );
    cmp_ok( $took, '>=', $timeout / 1000,      "time-out $timeout ms: it is waited for" );
    cmp_ok( $took, '<',  $timeout / 1000 + 15, "time-out $timeout ms: and no longer" );
    ok( $asked >= $least && $asked <= $most,
        "poll $poll ms: the engine beside is asked so often, and at its own reports" ) or diag("$asked times");
    cmp_ok(
        largest( $host{short} ) - $before, '<', 20_000,
        "poll $poll ms: what was read for a look is not kept until the end (kB)" );
}
$stack->sql(q{DELETE FROM engine_instance WHERE instance = 'ghost'});
is( $policy->agree($BOUND), '', 'time-out: afterwards rows, bundle and engine agree' );

# ---- SVC_BUNDLE_CONFIRM_ACTIVATION=false

$stack->{opa}->signal('STOP');
my ( $took, $answer ) = timed( sub { $policy{loose}->deploy( rules => rule( loose => 1 ) ) } );
admin_ok(
    $answer, 200, { activation => 'unconfirmed' },
    'not confirmed: 200 unconfirmed while the engine stands still' );
is( $answer->header('X-Policy-Activation'), 'unconfirmed', 'not confirmed: X-Policy-Activation says so too' );
cmp_ok( $took, '<', 20, 'not confirmed: it does not wait for the time-out of 25 s' );
is( stored('loose'), 1, 'not confirmed: the row is stored' );
$stack->{opa}->signal('CONT');
is( $policy->agree($BOUND), '', 'not confirmed: the engine takes it when it can, and then it alone may decide' );
admin_ok(
    $policy{loose}->deploy( rules => rule( loose => 'no_such_function(1)' ) ), 200,
    { activation => 'unconfirmed' }, 'not confirmed: a rule that cannot be compiled is stored too' );
ok( until_true( sub { ( $policy->status->{code} // '' ) eq 'bundle_error' } ), 'not confirmed: the engine refuses it' );
ok( issues(), 'not confirmed: and decides by the one before, which may decide still' );
is( $stack->sql('SELECT cardinality(acceptable) FROM bundle_state'), 2,
    'not confirmed: both may decide, the one that is active and the one that is served' );
admin_error(
    $policy->deploy( rules => rule( beside => 1 ) ), 422,
    'on top of a served bundle that is refused, a confirmed save is refused with its message',
    error => 'bundle_not_activated', members => { error_description => qr{custom/loose\.rego:3} } );
ok( issues(), 'and the one before decides on' );
admin_ok(
    $policy->deploy( rules => rule( loose => 2 ) ), 200, { activation => 'confirmed' },
    'the corrected rule stands' );
is( $policy->agree($BOUND), '', 'the corrected rule is the only one that may decide' );

# ---- two savers

sub send_deploy {
    my ( $name, %what ) = @_;
    my $socket = $host{$name}->client->_connect or die "connect: $!\n";
    syswrite $socket, $policy{$name}->deploy_octets(%what);
    return $socket;
}
sub answer_of { my ($socket) = @_; return Authz::Client::_exchange( $socket, '', 'POST', $BOUND ) }

$stack->{opa}->signal('STOP');
my $earlier = send_deploy( plain => rules => rule( earlier => 1 ) );
ok( until_true( sub { $stack->sql(q{SELECT count(*) FROM bundle WHERE status = 'pending'}) == 1 } ),
    'two hosts save: the first one waits for the engine' );
my $later = send_deploy( other => rules => rule( later => 1 ) );
ok( until_true( sub { $host{other}->busy('web') == 1 } ), 'two hosts save: the second one waits for the first' );
is( stored('earlier') + stored('later'), 0, 'two hosts save: neither is stored yet' );
$stack->{opa}->signal('CONT');
is( join( ' ', map { answer_of($_)->status } $earlier, $later ), '200 200', 'two hosts save: both succeed' );
is( stored('earlier') + stored('later'),                         2,         'two hosts save: both stand' );
is( $policy->agree($BOUND),                                      '',        'two hosts save: one bundle has both' );

my @sockets = map { send_deploy( $_ % 2 ? 'plain' : 'other', rules => rule( "many$_", 1 ) ) } 1 .. 4;
is( join( ' ', map { answer_of($_)->status } @sockets ), '200 200 200 200', 'four savers on two hosts: all succeed' );
is( $policy->agree($BOUND),                              '', 'four savers on two hosts: one bundle has all' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path LIKE 'custom/many%'}), 4,
    'four savers on two hosts: all stand' );

# ---- SVC_BUNDLE_CONFIRM_TIMEOUT_MS and five seconds for the lock

$host{short}->restart_service( settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 500 * Authz::Process::patience() } );
my $holder = lock_for(600);
( $took, $answer ) = timed( sub { $policy{short}->deploy( rules => rule( locked => 1 ) ) } );
admin_error( $answer, 409, 'the lock is kept longer than the time-out and 5 s: 409', error => 'save_in_progress' );
cmp_ok( $took, '>=', 5.4, 'the lock is kept: it was waited for' );
cmp_ok( $took, '<',  25,  'the lock is kept: and no longer' );
my $data = $host{short}->admin(
    PUT  => '/admin/api/policy-data/by-key?dataKey=acme.locked',
    json => { dataKey => 'acme.locked', payload => '{}' } );
admin_error(
    $data, 409, 'the lock is kept: a data row is not written either (policy.md 2.4, step 1)',
    error => 'save_in_progress' );
is( $stack->sql(
        q{SELECT (SELECT count(*) FROM policy_rule WHERE path = 'custom/locked.rego') + (SELECT count(*) FROM policy_data WHERE data_key = 'acme.locked')}
    ),
    0,
    'the lock is kept: nothing is stored' );
ok( issues(), 'the lock is kept: tokens are issued' );
$holder->stop('KILL');
$stack->sql(
    q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder' AND datname = current_database()}
);
$holder = lock_for(2);
admin_ok(
    $policy{short}->deploy( rules => rule( locked => 1 ) ), 200, undef,
    'the lock is kept for less: the save goes through' );
$holder->stop('KILL');
is( $policy->agree($BOUND), '', 'after all rows, bundle and engine agree' );

done_testing;

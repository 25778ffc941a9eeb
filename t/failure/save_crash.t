# A policy save is interrupted between any two of its steps: the saver is killed, PostgreSQL restarts, the engine is stopped or
# killed. Rows, served bundle and engine agree again without help, tokens are issued, and no decision was ever made with a
# bundle that was withdrawn (policy.md 2.4; decisions.md "Which revisions may decide").
use strict;
use warnings;

use IO::Select ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client   ();
use Authz::Load     ();
use Authz::Path     ();
use Authz::Policy   ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Response ();
use Authz::Stack    ();

# Seconds in which all is well again; a busy machine is slow.
my $BOUND = 60;

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $stack    = Authz::Stack->start( postgres => $postgres );
my $policy   = Authz::Policy->new($stack);
$stack->sql('CHECKPOINT')
  ;    # a database copied from a template forgets what its sequences gave out when it crashes before one
my %cc     = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm    = $stack->make_client( 'crm',  \%cc );
my @once   = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs     = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
my $rule   = 'custom/crash.rego';
my $number = 0;
my ( $holder, @stopped );

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub quietly {
    my ($sql) = @_;
    return eval { $stack->sql($sql) } // '';
}

# ---- the means of stopping a save at a step

# Another session that takes locks and keeps them.
sub hold {
    my ($sql) = @_;
    $holder = Authz::Process->start(
        name    => 'holder',
        env     => { PGAPPNAME => 'holder' },
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $postgres->socket, '-p', $Authz::Postgres::PORT,
            '-d', $stack->{database},
            '-c', "BEGIN; $sql; SELECT pg_sleep(600)" ] );
    until_true(
        sub {
            quietly(
                q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'})
              eq '1';
        } ) or die "no lock\n";
    return;
}

sub pause {
    my (@pid) = @_;
    kill 'STOP', @pid;
    push @stopped, @pid;
    return;
}

# The engine stands still with a long poll out, which is answered when there is a candidate: not while it waits before it asks
# again, after PostgreSQL was away.
sub pause_poll {
    until_true(
        sub {
            $stack->busy('bundles') && do { sleep 0.3; $stack->busy('bundles') }
        } ) or die "no long poll\n";
    $stack->{opa}->signal('STOP');
    push @stopped, $stack->{opa}->pid;
    return;
}

# Whatever holds the save lets go.
sub let_go {
    kill 'CONT', splice @stopped;
    return if !$holder;
    quietly(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
    $holder->stop('KILL');
    undef $holder;
    return;
}

sub rules_locked { return hold('LOCK TABLE policy_rule IN SHARE ROW EXCLUSIVE MODE') }

sub saver_waits {
    my ($for) = @_;
    return quietly(
        "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'authz' AND wait_event_type = 'Lock' AND query ~ '$for'"
    ) eq '1';
}
sub pending { my ($more) = @_; return quietly("SELECT count(*) FROM bundle WHERE status = 'pending' $more") eq '1' }
sub fetched { return pending('AND fetched_ms IS NOT NULL') }

sub stored {
    my ($n) = @_;
    return quietly("SELECT count(*) FROM policy_rule WHERE path = '$rule' AND content LIKE '%v := $n!%'") eq '1';
}

# Steps: what is done before the save begins, what must have come about then (with what is done on the way), and whether the
# rows are changed when the save is cut off there.
my @steps = (
    {   name    => 'while it waits for the lock',
        before  => sub { hold('SELECT pg_advisory_lock(4, 0)') },
        reached => sub {
            quietly(
                q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'authz' AND query LIKE 'SELECT pg_try_advisory_lock(%' AND query_start > now() - interval '1 second'}
            ) ne '0';
        },
    },
    {   name    => 'while it rehearses', before => \&rules_locked,
        reached => sub { saver_waits('policy_rule') && !pending('') } },
    {   name    => 'after the candidate is published, before an engine fetches it',
        before  => sub { pause( $stack->workers('bundles') ) },
        reached => sub { pending('AND fetched_ms IS NULL') },
    },
    { name => 'after the engine fetched it, before the verdict', before => \&pause_poll, reached => \&fetched },
    {   name    => 'after the verdict, before the change is applied',
        before  => \&pause_poll,
        reached => sub { fetched() },
        then    => sub {
            rules_locked();
            kill 'CONT', splice @stopped;
            until_true( sub { saver_waits('policy_rule') } );
        },
    },
    {   name    => 'while it applies the change, before the commit',
        before  => \&pause_poll,
        reached => sub { fetched() },
        then    => sub {
            hold('SELECT 1 FROM bundle_state FOR UPDATE');
            kill 'CONT', splice @stopped;
            until_true( sub { saver_waits('won AS') } );
        },
    },
    {   name    => 'after the commit, before the answer',
        before  => sub { hold('LOCK TABLE audit_log IN SHARE ROW EXCLUSIVE MODE') },
        reached => sub { stored($number) },
        done    => 1,
    },
);

# ---- what cuts it off

sub kill_saver { my ($saver) = @_; kill 'KILL', $saver; return }

sub restart_postgres {
    $postgres->stop('immediate');
    let_go();
    $postgres->start;
    $postgres->await($BOUND);
    return;
}

sub pause_engine {
    pause( $stack->{opa}->pid );
    sleep 1;
    let_go();
    return;
}

sub kill_engine {
    kill 'CONT', $stack->{opa}->pid;
    $stack->{opa}->stop('KILL');
    let_go();
    $stack->start_opa;
    return;
}

my @events = (
    { name => 'the saver is killed',                  do => \&kill_saver, lost => 1 },
    { name => 'PostgreSQL restarts',                  do => \&restart_postgres },
    { name => 'the engine stands still for a second', do => \&pause_engine, goes_on => 1 },
    { name => 'the engine is killed and started',     do => \&kill_engine },
);

# ---- the sweep

# Sends the request and does not wait for the answer.
sub send_save {
    my ($n)    = @_;
    my $client = $stack->client;
    my $socket = $client->_connect or die "connect: $!\n";
    syswrite $socket, $policy->deploy_octets( rules => { $rule => "package custom.crash\n\nv := $n\n\n# v := $n!\n" } );
    return $socket;
}

sub answer_of { my ($socket) = @_; return Authz::Client::_exchange( $socket, '', 'POST', $BOUND ) }

sub content { return $stack->sql("SELECT content FROM policy_rule WHERE path = '$rule'") }

# Check that the stored rows agree with the answer that was given.
sub check_rows {
    my ( $step, $event, $answer, $old, $name ) = @_;
    my $now = content();
    my $is  = $now eq $old ? 'old' : stored($number) ? 'new' : 'neither';
    my $may =
        $event->{lost}         ? ( $step->{done} ? 'new' : 'old' )
      : $answer->status == 200 ? 'new'
      : $answer->status == 422 ? 'old'
      :                          'old or new';
    like( $may, qr/\b$is\b/, "$name: the change is there as a whole or not at all, as was answered" )
      or diag( $now, $answer->text );

    # An engine that fetched a candidate may activate the candidate after it was withdrawn. Nothing is decided by it then
    # (decisions.md "Which revisions may decide"), and the next poll takes it away.
    my ($value) = $now =~ /v := (\d+)\n/;
    until_true( sub { $policy->engine('/v1/data/custom/crash/v') eq $value } );
    is( $policy->engine('/v1/data/custom/crash/v'), $value, "$name: the engine decides by the rule that is stored" );
    return;
}

# Sends the save until it stands at its step. A worker that used its connection a moment before PostgreSQL restarted says 503
# once; that is tried again.
sub send_to_step {
    my ($step) = @_;
    for ( 1 .. 5 ) {
        my $socket = send_save($number);
        my $answered;
        my $there = until_true(
            sub {
                $answered = IO::Select->new($socket)->can_read(0);
                $answered || ( $stack->busy('web') && $step->{reached}->() );
            } );
        return $socket                   if $there && !$answered;
        diag( answer_of($socket)->text ) if $answered;
    }
    return;
}

sub try_step {
    my ( $step, $event ) = @_;
    my $name = "$event->{name} $step->{name}";
    my $old  = content();
    $number++;
    $step->{before}->();
    my $socket = send_to_step($step);
    my $there  = $socket && ( !$step->{then} || $step->{then}->() );
    my @saver  = $stack->busy('web');
    ok( $there && @saver == 1, "$name: the save came so far" )
      or diag(
        "workers with a request: @saver",
        quietly(q{SELECT status, fetched_ms FROM bundle ORDER BY id DESC LIMIT 2}),
        quietly(q{SELECT pid, wait_event, left(query, 60) FROM pg_stat_activity}) );
    my $start = time;
    $event->{do}->(@saver);
    let_go();
    my $answer = $socket ? answer_of($socket) : Authz::Response->failed('the save did not come so far');
    is( $policy->agree($BOUND), '', "$name: rows, bundle and engine agree again (policy.md 2.4)" );
    ok( until_true( sub { $stack->token( @crm, scope => 'orders.read' )->status == 200 } ),
        "$name: tokens are issued again" );
    note( sprintf '%s: %.1f s', $name, time - $start );
    check_rows( $step, $event, $answer, $old, $name );
    is( $answer->status, 200, "$name: the save goes on" ) or diag( $answer->text ) if $event->{goes_on};
    isnt( $answer->status, 200, "$name: the caller was not told that it is done" ) if $event->{lost};
    return;
}

is( $policy->deploy( rules => { $rule => "package custom.crash\n\nv := 0\n" } )->status, 200,
    'a save that nothing disturbs' );
my $load = Authz::Load->start( $stack, crm => \@crm, once => \@once, rs => \@rs, clients => 2, pause => 0.1 );
for my $event (@events) {
    try_step( $_, $event ) for @steps;
}

# ---- a saver that hangs: its host sleeps, or lost power and the connection does not show it

$number++;
pause_poll();
my $old    = content();
my $before = $policy->state->{acceptable};
my $socket = send_save($number);
ok( until_true( \&fetched ), 'a saver that hangs: the engine fetched its candidate' );
my ($saver) = $stack->busy('web');
kill 'STOP', $saver;
let_go();
ok( until_true( sub { my $active = $policy->active; $active ne '' && $active ne $before } ),
    'a saver that hangs: the engine has its candidate active' );
ok( until_true( sub { !pending('') } ), 'a saver that hangs: it is taken back (policy.md 2.4, step 6)' );
ok( until_true( sub { $stack->token( @crm, scope => 'orders.read' )->status == 200 } ),
    'a saver that hangs: tokens are issued' );
is( $policy->deploy( rules => { 'custom/other.rego' => "package custom.other\n\nv := 1\n" } )->status, 200,
    'a saver that hangs: others can save' );
kill 'CONT', $saver;
isnt(
    answer_of($socket)->status, 200,
    'a saver that hangs: when it goes on, it changes nothing more (policy.md 2.4, "Step 5 is fenced")' );
is( content(),              $old, 'a saver that hangs: its change is not there' );
is( $policy->agree($BOUND), '',   'a saver that hangs: rows, bundle and engine agree' );

# ---- what was recorded meanwhile

is( $policy->deploy( rules => { $rule => "package custom.crash\n\nv := 99\n" } )->status, 200,
    'after all that a save succeeds' );
is( $policy->agree($BOUND), '', 'after all that rows, bundle and engine agree' );
$load->stop;
cmp_ok( scalar $policy->withdrawn, '>', 5,  'candidates were taken back, whose revisions are known' );
cmp_ok( scalar $policy->decisions, '>', 50, 'decisions were recorded meanwhile' );
is( join( "\n", $policy->wrong_decisions ), '',
    'no decision names a revision that was taken back (decisions.md "Which revisions may decide")' );
is( join( "\n", $load->wrong ), '', 'what was acknowledged to clients meanwhile holds' );
is( join( ' ', grep { !/\A(?:200|5\d\d|0 )/ } sort keys %{ $load->outcomes } ), '',
    'and every answer was 200 or 5xx' );

done_testing;

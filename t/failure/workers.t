# Workers that are killed or stopped under load: nothing acknowledged is lost, single use stays single, counters go on,
# killed workers are replaced, and a worker that is asked to stop finishes its request (architecture.md 3; specification 8
# "Graceful shutdown wait"; performance.md R1, R11, R14, R15).
use strict;
use warnings;

use IO::Socket::UNIX ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Load    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start;
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
my %who   = ( crm => \@crm, once => \@once, rs => \@rs );
my $pools = 4 + 4 + 2;    # workers of the core pool, of the web pool and of the bundles pool

sub until_true { return Authz::Process::until_true(@_) }

# True if a process has ended, whether or not its parent has waited for it.
sub gone {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/stat" or return 1;
    my $line = readline($in) // return 1;
    return $line =~ /\) Z /;
}

# True if all pools are full and none of the given processes is left in them.
sub replaced {
    my ( $where, @old ) = @_;
    my %now = map { ( $_ => 1 ) } $where->workers;
    return keys %now >= $pools && !grep { $now{$_} } @old;
}

# Signals a random child of the service every so often, for longer when that or the load has not yet done much; how many were
# hit.
sub hit {
    my ( $where, $signal, $seconds, $pause, $under ) = @_;
    my ( $until, $hits ) = ( time + $seconds, 0 );
    while ( time < $until || ( $under && time < $until + 60 && ( $hits <= 10 || 400 > ( () = $under->ledger ) ) ) ) {
        my @worker = $where->workers;
        $hits += kill $signal, $worker[ rand @worker ] if @worker;
        sleep $pause;
    }
    return $hits;
}

# The load's outcomes other than 200: how many, and which.
sub failures {
    my ($load)   = @_;
    my $outcomes = $load->outcomes;
    my $good     = delete $outcomes->{200} // 0;
    my $bad      = 0;
    $bad += $_ for values %$outcomes;
    return ( $good, $bad, join ', ', map {"$_: $outcomes->{$_}"} sort keys %$outcomes );
}

sub holds {
    my ( $load, $name ) = @_;
    my @entry   = $load->ledger;
    my $tokens  = grep { $_->{what} =~ /token|once/ && $_->{status} == 200 } @entry;
    my $revoked = grep { $_->{what} eq 'revoke'     && $_->{status} == 200 } @entry;
    my $single  = grep { $_->{what} eq 'show'       && $_->{active} } @entry;
    ok( $tokens > 50 && $revoked > 10 && $single > 5,
        "$name: the ledger has $tokens tokens, $revoked revocations, $single single uses" );
    my @wrong = $load->wrong;
    is( scalar @wrong, 0,
        "$name: every acknowledged token is active, every revocation stands, single use is single, then and afterwards"
    ) or diag( map {"$_\n"} @wrong[ 0 .. ( @wrong > 20 ? 19 : $#wrong ) ] );
    return;
}

# ---- kill -9 under load (R1, R11)

my $load  = Authz::Load->start( $stack, %who );
my $kills = hit( $stack, 'KILL', 4, 0.1, $load );
kill 'KILL', my @victims = $stack->workers;
my $all = until_true( 30, sub { replaced( $stack, @victims ) } );
ok( defined $all, 'kill -9 of all workers at once: all are replaced' );
note( sprintf 'replaced after %.3f s', $all // -1 );
sleep 0.3;
$load->stop;
my ( $good, $bad, $which ) = failures($load);
cmp_ok( $kills, '>', 10,             "kill -9: $kills random workers and then all of them, under load" );
cmp_ok( $bad, '<=', $kills + $pools, "kill -9: at most one request fails for each worker killed (R1)" ) or diag($which);
note("$good good answers, others: $which");
unlike( $which, qr/no answer/, 'kill -9: the web server answers for the dead' );
holds( $load, 'kill -9' );

my ($victim) = $stack->workers;
kill 'KILL', $victim;
my $one = until_true( 30, sub { replaced( $stack, $victim ) } );
ok( defined $one && $one < 8, 'kill -9 of one worker: it is replaced' );
note( sprintf 'replaced after %.3f s', $one // -1 );
like(
    $stack->{service}->log_text, qr/"msg":"worker ended","detail":"pool \w+, pid $victim, signal 9"/,
    'and the log says so' );

# ---- counters in shared memory (R14)

my $limit   = 300;
my $limited = Authz::Stack->start(
    beside   => $stack,
    settings => {
        SVC_RATE_LIMIT_ENABLED  => 'true', SVC_RATE_LIMIT_REQUESTS => $limit, SVC_RATE_LIMIT_WINDOW => 86400,
        SVC_TRUSTED_PROXY_COUNT => 1 } );
my $killer = Authz::Process->start( name => 'killer', code => sub { hit( $limited, 'KILL', 60, 0.04 ) } );
my %count  = ( in => 0, out => 0, lost => 0 );
for my $round ( 1 .. 200 ) {
    last if $round > 25 && $count{out} > 0;    # requests that reach no worker are not counted
    my $http   = $limited->client;
    my $octets = $http->octets(
        'POST', '/revoke', form => [ token => 'x' ], headers => [ 'X-Forwarded-For' => '192.0.2.1' ],
        close => 1 );
    $count{ $_->status == 200 ? 'in' : $_->status == 429 ? 'out' : 'lost' }++
      for Authz::Client::together( map { [ $http, $octets ] } 1 .. 20 );
}
$killer->stop;
ok( defined until_true( 30, sub { replaced($limited) } ), 'rate limit: the workers killed meanwhile are back' );
ok( $count{in} <= $limit && $count{in} + $count{lost} >= $limit,
    "rate limit $limit, with workers killed all the time: $count{in} let in, $count{out} refused, $count{lost} without answer (R14)"
);
is( $limited->http->post( '/revoke', form => [ token => 'x' ], headers => [ 'X-Forwarded-For' => '192.0.2.1' ] )
      ->status, 429, 'rate limit: the count is not forgotten' );
is( $limited->http->post( '/revoke', form => [ token => 'x' ], headers => [ 'X-Forwarded-For' => '192.0.2.2' ] )
      ->status, 200, 'rate limit: and other addresses are not counted for it' );
$limited->stop;

# ---- SIGTERM to workers under load: no request fails (R15)

my $calm  = Authz::Load->start( $stack, %who );
my $stops = hit( $stack, 'TERM', 3, 0.08, $calm );
sleep 0.2;
$calm->stop;
( $good, $bad, $which ) = failures($calm);
cmp_ok( $stops, '>', 10, "SIGTERM: $stops workers were stopped under load" );
is( $bad, 0, 'SIGTERM: and no request failed' ) or diag("$good good answers, others: $which");
holds( $calm, 'SIGTERM' );

# ---- stopping the service (specification 8 "Graceful shutdown wait")

my $slow = Authz::Stack->start( beside => $stack, fake_opa => 1, settings => { SVC_POLICY_TIMEOUT_MS => 20_000 } );

# Requests for a token in the hands of workers, whose engine takes so many seconds: their sockets.
sub in_flight {
    my ( $count, $seconds ) = @_;
    my $http   = $slow->client;
    my $octets = $http->octets(
        'POST', '/token', headers => [ Authz::Client::basic(@crm) ],
        form => [ grant_type => 'client_credentials', scope => 'orders.read' ], close => 1 );
    my $asked = $slow->fake->asked;
    $slow->fake->tell( delay => $seconds );
    my @socket = map { $http->_connect } 1 .. $count;
    syswrite $_, $octets for @socket;
    defined until_true( 30, sub { $slow->fake->asked >= $asked + $count } )
      or die "the questions do not reach the engine\n";
    $slow->fake->tell('pass');
    return @socket;
}

sub answers {
    return map { Authz::Client::_exchange( $_, '', 'POST', 20 ) } @_;
}
sub issued { return $stack->sql('SELECT count(*) FROM access_token') }

sub stops {
    my ( $name, $how ) = @_;
    my @before = $slow->workers;
    my $rows   = issued();
    my @socket = in_flight( 3, 1 );
    my $start  = time;
    my $status = $how->();
    my @answer = answers(@socket);
    is( join( ' ', map { $_->status } @answer ), '200 200 200', "$name: requests in hand are finished" )
      or diag( map { $_->text } @answer );
    is( issued() - $rows, 3, "$name: and no other token is issued" );
    my $took = until_true(
        10,
        sub {
            !grep { !gone($_) } @before;
        } );
    ok( defined $took && time - $start < 10, "$name: no worker is left" );
    return ( $status, map { $_->member('access_token') } @answer );
}

sub starts {
    my ( $name, @token ) = @_;
    $slow->start_service;
    until_true( 30, sub { replaced($slow) } );    # sockets left behind by a killed parent are no sign of a start
    ok( $slow->await_ready(60), "$name: started again, it serves on the same sockets" );
    is( scalar( grep { ( $slow->introspect( @rs, $_ // '' )->member('active') ) } @token ), scalar @token,
        "$name: the tokens issued last are active" );
    return;
}

my ( $status, @token ) = stops( 'SIGTERM to the service', sub { $slow->{service}->stop( 'TERM', 15 ) } );
is( $status, 0, 'SIGTERM to the service: it ends with status 0' );
is( scalar( grep { -e "$slow->{dir}/$_.sock" } qw(core web bundles) ), 0,
    'SIGTERM to the service: its sockets are gone' );
cmp_ok( $slow->token(@crm)->status, '>=', 500, 'SIGTERM to the service: no worker answers any more' );
starts( 'SIGTERM to the service', @token );
( $status, @token ) = stops( 'SIGINT to the service', sub { $slow->{service}->stop( 'INT', 15 ) } );
is( $status, 0, 'SIGINT to the service: it ends with status 0' );
starts( 'SIGINT to the service', @token );
( undef, @token ) = stops( 'kill -9 of the parent', sub { $slow->{service}->stop('KILL') } );
starts( 'kill -9 of the parent', @token );

# A worker that is asked to stop takes no new request, but the one it has.
my @socket = in_flight( 4, 1 );
kill 'TERM', my @asked = $slow->workers;
is( join( ' ', map { $_->status } answers(@socket) ), '200 200 200 200',
    'SIGTERM to all workers: requests in hand are finished' );
ok( defined until_true( 30, sub { replaced( $slow, @asked ) } ), 'SIGTERM to all workers: they are replaced' );
oauth_ok( $slow->token( @crm, scope => 'orders.read' ), {}, 'SIGTERM to all workers: and the service goes on' );

# A hangup is no order to stop: what reads HUP at all would read its settings again (gateway-admin.md 7.4).
my @was = $slow->workers;
@socket = in_flight( 2, 1 );
$slow->{service}->signal('HUP');
kill 'HUP', @was;
is( join( ' ', map { $_->status } answers(@socket) ), '200 200',
    'SIGHUP to all processes: requests in hand are finished' );
oauth_ok( $slow->token( @crm, scope => 'orders.read' ), {}, 'SIGHUP to the service: it issues tokens' );
ok( $slow->{service}->alive, 'SIGHUP to the service: and goes on' );

# SHUTDOWN_PHASE_TIMEOUT: a worker with a request in hand gets that time, however many others end meanwhile.
$slow->restart_service( settings => { SHUTDOWN_PHASE_TIMEOUT => '5s' } );
@socket = in_flight( 2, 2.5 );
my $parent = $slow->{service};
my $noise  = Authz::Process->start(
    name => 'noise',
    code => sub {
        while ( $parent->signal('CHLD') ) { sleep 0.01 }
    } );
$parent->stop( 'TERM', 15 );
$noise->stop('KILL');
is( join( ' ', map { $_->status } answers(@socket) ), '200 200',
    'SHUTDOWN_PHASE_TIMEOUT=5s: requests of 2.5 s are finished, also when many children end meanwhile' );

# A request that does not end is killed, but not before SHUTDOWN_PHASE_TIMEOUT.
$slow->{settings}{SHUTDOWN_PHASE_TIMEOUT} = '1s';
starts('SHUTDOWN_PHASE_TIMEOUT=5s');
my $rows  = issued();
my @stuck = in_flight( 2, 6 );
my $start = time;
$status = $slow->{service}->stop( 'TERM', 15 );
my $took = time - $start;
is( $status, 0, 'SHUTDOWN_PHASE_TIMEOUT=1s, an engine that takes 6 s: the service ends' );
ok( $took > 0.95 && $took < 5.5, 'SHUTDOWN_PHASE_TIMEOUT=1s: after that time, not before' ) or diag("$took s");
is( scalar( grep { $_->status == 200 } answers(@stuck) ), 0,
    'SHUTDOWN_PHASE_TIMEOUT=1s: the requests cut short were not answered as done' );
sleep 0.1 while time < $start + 6.2;
is( issued(), $rows, 'SHUTDOWN_PHASE_TIMEOUT=1s: nor were they done' );
starts('SHUTDOWN_PHASE_TIMEOUT=1s');

done_testing;

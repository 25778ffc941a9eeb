# A table that another session has locked, and /revoke while the database is away: the answer is 503, the request does not take
# effect later, and 200 is given only for what was done (specification 3; oauth.md 3.4; performance.md R2).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $stack    = Authz::Stack->start( postgres => $postgres );
my @crm      = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs       = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );
my @auth     = Authz::Client::basic(@crm);
my @grant    = ( grant_type => 'client_credentials' );

# Seconds: lock_timeout of our sessions is 5, and 10 is when we no longer wait for an answer.
my ( $least, $most ) = ( 4, 9.5 );

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( 30, $test ) }

# Locks the tokens for so many seconds, as a migration or an operator does; returns when it has them.
sub lock_tokens {
    my ($seconds) = @_;
    my $holder = Authz::Process->start(
        name    => 'holder',
        env     => { PGAPPNAME => 'holder' },
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $postgres->socket, '-p', $Authz::Postgres::PORT,
            '-d', $stack->{database}, '-c',
            "LOCK TABLE access_token IN ACCESS EXCLUSIVE MODE; SELECT pg_sleep($seconds)" ] );
    until_true(
        sub {
            $stack->sql(
                q{SELECT count(*) FROM pg_locks WHERE relation = 'access_token'::regclass AND mode = 'AccessExclusiveLock' AND granted}
            ) > 0;
        } ) or die "no lock\n";
    return $holder;
}

sub release {
    my ($holder) = @_;
    $stack->sql(q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holder'});
    $holder->wait(10);
    return;
}

sub tokens { return $stack->sql('SELECT count(*) FROM access_token') }

sub waiting {
    return $stack->sql(
        q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'authz' AND wait_event_type = 'Lock'});
}

# ---- a locked table

my $held  = $stack->token_text(@crm);
my $short = lock_tokens(1);
oauth_ok( $stack->token(@crm), {}, 'a table locked for a second: the request waits and is answered' );
$short->wait(10);

my $before = tokens();
my $holder = lock_tokens(60);
my $start  = time;
my @answer = Authz::Client::together(
    map { [ $stack->client, $stack->client->octets( POST => $_->[0], headers => \@auth, form => $_->[1] ) ] }
      [ '/token', \@grant ], [ '/revoke', [ token => $held ] ] );
my $took = time - $start;
oauth_error( $answer[0], 503, 'temporarily_unavailable', 'a locked table: /token is 503 (R2)' );
oauth_error(
    $answer[1], 503, 'temporarily_unavailable',
    'a locked table: /revoke is 503, not 200 for what was not done (specification 3)' );
cmp_ok( $took, '>', $least, 'a locked table: the lock was waited for' );
cmp_ok( $took, '<', $most,  'a locked table: the session gives up before we stop listening to it' );
is( waiting(), 0, 'a locked table: no session is left behind that waits on' );
release($holder);
sleep 0.5;
is( tokens(), $before, 'the lock is free: no token is written for the caller that was told 503' );
oauth_ok( $stack->introspect( @rs, $held ), { active => true }, 'the lock is free: nor is the revocation done late' );
is( $stack->revoke( @crm, token => $held )->status, 200, 'the lock is free: the same processes serve on' );
inactive( $stack->introspect( @rs, $held ), 'and a revocation that is acknowledged is done' );

# ---- /revoke while the database is away: one worker, so that we know what it has read

$stack->{workers} = 1;
$stack->restart_service;
my $live = $stack->token_text(@crm);
oauth_ok( $stack->introspect( @rs, $live ), { active => true }, 'a token that is active' );

# Its list of partitions is of the connection before this one, and cannot be read again.
$postgres->stop('immediate');
$postgres->start;
$postgres->await(20);
ok( until_true( sub { $stack->http->get('/.well-known/jwks.json')->status == 200 } ),
    'a new connection, on which no token was looked at' );
$postgres->stop('immediate');
oauth_error(
    $stack->revoke( @crm, token => $live ), 503, 'temporarily_unavailable',
    'database away: /revoke is 503 where the partitions cannot be read again (specification 3)' );
oauth_error(
    $stack->http->post( '/revoke', form => [ token => $live ] ), 503, 'temporarily_unavailable',
    'database away: without credentials too' );

# A worker that has read nothing yet.
my %old = map { ( $_ => 1 ) } $stack->workers;
kill 'KILL', keys %old;
ok( until_true(
        sub {
            my @now = $stack->workers;
            @now == keys %old && !grep { $old{$_} } @now;
        } ),
    'fresh workers' );
oauth_error(
    $stack->http->post( '/revoke', form => [ token => $live ] ), 503, 'temporarily_unavailable',
    'database away: /revoke at a fresh worker is 503' );
$postgres->start;
$postgres->await(20);
ok( until_true( sub { $stack->introspect( @rs, $live )->status == 200 } ), 'database back' );
oauth_ok(
    $stack->introspect( @rs, $live ), { active => true },
    'database back: the token that could not be revoked is active' );
is( $stack->revoke( @crm, token => $live )->status, 200, 'database back: it can be revoked' );
inactive( $stack->introspect( @rs, $live ), 'database back: and is dead' );

done_testing;

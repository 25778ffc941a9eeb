# GET /health/ready is open and its checks are dear: each process keeps their result for a second. Strangers learn no detail; the
# log has it for the operator (gateway-admin.md 7.1).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Process ();
use Authz::Stack   ();

# One worker, so that each answer comes from the same process.
my $stack = Authz::Stack->start( workers => 1, settings => { SVC_POLICY_ENGINE => 'opa' } );
my $log   = $stack->{service};
my $asked = 0;

# Ask for readiness: the answer, and the trips to the database that its line in the log names.
sub ready {
    my (@header) = @_;
    my $id       = 'ready-' . ++$asked;
    my $answer   = $stack->http->get( '/health/ready', headers => [ 'X-Request-ID' => $id, @header ] );
    my $trips;
    Authz::Process::until_true(
        20,
        sub {
            my ($line) = grep {/"request_id":"$id"/} $log->log_lines;
            ($trips) = ( $line // '' ) =~ /"sql_trips":(\d+)/;
            return defined $line;
        } );
    return ( $answer, $trips // 0 );
}

sub lines {
    my ($pattern) = @_;
    return scalar grep {/$pattern/} $log->log_lines;
}

# Return the number of answers, out of many in a bit more than two seconds, for which the database was asked.
sub made {
    my ($status) = @_;
    my ( $until, $made, $all, $wrong ) = ( time + 2.2, 0, 0, 0 );
    while ( time < $until ) {
        my ( $answer, $trips ) = ready();
        $all++;
        $made++  if $trips > 0;
        $wrong++ if $answer->status != $status;
    }
    return ( $made, $all, $wrong );
}

# ---- kept for a second

my ( $made, $all, $wrong ) = made(200);
cmp_ok( $all, '>', 10, 'readiness is asked for often' );
is( $wrong, 0, '... and the answer is 200 each time' );
ok( $made >= 1 && $made <= 3, 'the checks run once in a second and process, whoever asks and however often' )
  or diag("$made of $all");
sleep 1.05;
my ( undef, $trips ) = ready();
cmp_ok( $trips, '>', 0, 'a result older than a second is made anew' );
( undef, $trips ) = ready();
is( $trips, 0, 'the next answer needs no trip to the database' );

# ---- what a failure tells, and whom

my $opa    = qr/"msg":"not ready","check":"opa","detail":"policy engine: [^"]+opa\.sock/;
my $before = lines(qr/"msg":"not ready"/);
my $named  = lines($opa);                                                                   # while the engine started
$stack->{opa}->stop('KILL');
my $answer = $stack->ready_as(503);
is( $answer->status, 503, 'without an engine: 503 within a second' );
is( join( ' ', map { $_->{name} } grep { $_->{detail} } @{ $answer->member('checks') } ),
    'opa bundle', 'a local caller sees the details' );
($answer) = ready( 'X-Forwarded-For' => '203.0.113.9' );
is( $answer->status, 503, 'a caller behind a proxy gets the same status' );
is( join( ' ', map { $_->{name} } grep { exists $_->{detail} } @{ $answer->member('checks') } ),
    '', '... and no details, kept or not' );
( $made, $all, $wrong ) = made(503);
ok( $wrong == 0 && $made <= 3, 'a failure is kept for a second too' ) or diag("$made of $all, $wrong wrong");
is( lines(qr/"msg":"not ready"/) - $before, 2,
    'the log has one line for each failed check, however often somebody asks' );
is( lines($opa) - $named, 1, '... with the detail, so that the operator finds the cause' );
my $ready = lines(qr/"msg":"ready"/);
$stack->start_opa;
is( $stack->ready_as(200)->status,     200, 'with an engine: ready again' );
is( lines(qr/"msg":"ready"/) - $ready, 1,   '... which is logged too' );

done_testing;

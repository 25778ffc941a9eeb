# PostgreSQL crashes and restarts under load: 503 meanwhile, never a wrong answer; afterwards everything that was
# acknowledged holds, and the same processes serve on (architecture.md 3, 4; performance.md R2, R4, R17).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Load     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $stack    = Authz::Stack->start( postgres => $postgres );
my %cc       = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm      = $stack->make_client( 'crm',  \%cc );
my @once     = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs       = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
my %who      = ( crm => \@crm, once => \@once, rs => \@rs );

# Seconds: how long a request may take while the database is away (R2), and until all is well after it accepts again: a worker
# tries to connect at least once a second; the rest is for a busy machine.
my ( $most, $back ) = ( 2, 15 );

sub token   { return $stack->token( @crm, scope => 'orders.read' ) }
sub look_at { return $stack->introspect( @rs, $_[0] ) }

# Seconds until so many tokens in a row are issued, each on another connection, so that several workers are asked.
sub recovers {
    my ($since) = @_;
    my ( $row, $http ) = ( 0, $stack->http );
    while ( $row < 12 && time < $since + 40 ) {
        my $answer = $http->post(
            '/token', headers => [ Authz::Client::basic(@crm) ],
            form => [ grant_type => 'client_credentials' ], close => 1 );
        $row = $answer->status == 200 ? $row + 1 : 0;
        sleep 0.02 if !$row;
    }
    return time - $since;
}

# ---- restarts under load

my $load = Authz::Load->start( $stack, %who );
my ( @down, @kept, @ended, @shown );

# The answer that is 200: a worker that was not asked since the last crash may not have its connection back yet.
sub served {
    my ($ask) = @_;
    my $answer;
    defined Authz::Process::until_true( 20, sub { ( $answer = $ask->() )->status == 200 } )
      or die 'not served: ' . $answer->text;
    return $answer;
}

# Acknowledged in the last moment before a crash (R4).
sub last_moment {
    my ( $keep, $end, $show ) = map {
        my $client = $_;
        served( sub { $stack->token( @$client, scope => 'orders.read' ) } )->member('access_token')
    } \@crm, \@crm, \@once;
    push @kept,  $keep;
    push @shown, $show if served( sub { look_at($show) } )->member('active');
    push @ended, $end  if served( sub { $stack->revoke( @crm, token => $end ) } );
    return;
}

for my $case ( [ 'immediate', 0.6 ], [ 'immediate', 0.1 ], [ 'fast', 0.6 ], [ 'immediate', 1.6 ], [ 'immediate', 0 ] ) {
    my ( $how, $seconds ) = @$case;
    sleep 0.7;
    last_moment();
    $postgres->stop($how);
    my $from = time;
    sleep $seconds;
    Authz::Process::until_true(
        30,
        sub {
            12 < grep { $_->{start} > $from } $load->ledger;
        } ) if $seconds > 1;
    push @down, [ $from, time ];
    $postgres->start;
    my $took = recovers(time);
    cmp_ok( $took, '<', $back, "stopped ($how) for $seconds s: serving again (R2)" );
    note( sprintf 'serving %.2f s after it accepts', $took );
}

# One backend dies: PostgreSQL ends all sessions and recovers by itself.
for ( 1 .. 2 ) {
    sleep 0.7;
    last_moment();
    my $ends = () = $postgres->process->log_text =~ /all server processes terminated/g;
    Authz::Process::until_true(
        20,
        sub {
            kill 'KILL',
              $stack->sql("SELECT pid FROM pg_stat_activity WHERE application_name = 'authz' ORDER BY random() LIMIT 1")
              || return;
        } );
    Authz::Process::until_true(
        30,
        sub { $ends < ( () = $postgres->process->log_text =~ /all server processes terminated/g ) }
    ) // die "PostgreSQL does not notice\n";
    $postgres->await(30);
    cmp_ok( recovers(time), '<', $back, 'a backend killed (kill -9): serving again' );
}

# Sessions ended one by one, as an administrator or a failover does.
for ( 1 .. 3 ) {
    sleep 0.3;
    $stack->sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authz'");
}
cmp_ok( recovers(time), '<', $back, 'all sessions terminated: serving again' );
sleep 0.5;
Authz::Process::until_true( 60, sub { 400 <= ( () = $load->ledger ) } );
$load->stop;

# ---- what was answered meanwhile

my @entry  = $load->ledger;
my %inside = map {
    my ( $from, $to ) = @$_;
    map { ( $_ => $_ ) } grep { $_->{start} > $from && $_->{end} < $to } @entry;
} @down;
my @inside = values %inside;
cmp_ok( scalar @inside, '>', 12, 'while it was down, requests were answered' );
is( join( ', ', sort keys %{ $load->outcomes(@inside) } ), '503 temporarily_unavailable',
    'while it was down, only with 503 temporarily_unavailable (R2)' );
my ($slow) = sort { $b <=> $a } map { $_->{end} - $_->{start} } @inside;
cmp_ok( $slow, '<', $most + 2, "while it was down, within $most s (R2), and some for a busy machine" );
my $outcomes = $load->outcomes(@entry);
is( join( ', ', grep { $_ ne '200' && $_ ne '503 temporarily_unavailable' } sort keys %$outcomes ), '',
    'all the time 200 or 503 temporarily_unavailable: never 500, never no answer' ) or diag( explain($outcomes) );
my @late = grep { $_->{end} - $_->{start} > $most + 6 } @entry;
is( scalar @late, 0, 'all the time no request hung' ) or diag( explain( \@late ) );
note(
    sprintf '%d requests, %d refused, the slowest while down took %.3f s', scalar @entry,
    $outcomes->{'503 temporarily_unavailable'} // 0,                       $slow );

# ---- what holds afterwards

my $tokens  = grep { $_->{what} =~ /token|once/ && $_->{status} == 200 } @entry;
my $revoked = grep { $_->{what} eq 'revoke'     && $_->{status} == 200 } @entry;
my $single  = grep { $_->{what} eq 'show'       && $_->{active} } @entry;
ok( $tokens > 50 && $revoked > 10 && $single > 5,
    "the ledger has $tokens tokens, $revoked revocations, $single single uses" );
my @wrong = $load->wrong;
is( scalar @wrong, 0,
    'every acknowledged token is active, every revocation and single use stands, then and afterwards (R2, R17)'
) or diag( map {"$_\n"} @wrong[ 0 .. ( @wrong > 20 ? 19 : $#wrong ) ] );
is( scalar( grep { look_at($_)->member('active') } @kept ), scalar @kept,
    'a token acknowledged in the moment before a crash is active (R4)' );
ok( @ended >= 5 && @shown >= 5, 'in those moments tokens were revoked and shown too' );
is( scalar( grep { look_at($_)->body !~ /"inactive_reason":"invalid_token"/ } @ended, @shown ), 0,
    'and the revoked and the used ones stay so (R4)' );

# ---- away for a while, also at start

my ( $held, $gone, $jit ) = (
    $stack->token_text( @crm,  scope => 'orders.read' ), $stack->token_text( @crm, scope => 'orders.read' ),
    $stack->token_text( @once, scope => 'orders.read' ) );

sub refuses {
    my ($name) = @_;
    my $start = time;
    oauth_error( token(),     503, 'temporarily_unavailable', "$name: /token is 503" );
    oauth_error( look_at($_), 503, 'temporarily_unavailable', "$name: /introspect is 503, never inactive" )
      for $held, 'garbage';
    oauth_error( look_at($jit), 503, 'temporarily_unavailable', "$name: a single-use token is not shown" );
    oauth_error(
        $stack->revoke( @crm, token => $gone ), 503, 'temporarily_unavailable',
        "$name: /revoke is 503, not 200 for what was not done" );
    oauth_error(
        $stack->token( 'crm', 'wrong' ), 503, 'temporarily_unavailable',
        "$name: a wrong secret is not refused on a cached row (decisions.md \"Refusals on a cached row\")" );
    is( $stack->admin( GET => '/admin/api/clients' )->status, 503, "$name: the admin API is 503" );
    is( $stack->http->get('/health/live')->status,            200, "$name: the service is alive" );
    is( $stack->http->get("/.well-known/$_")->status,         503, "$name: $_ comes from the database and is 503" )
      for qw(openid-configuration jwks.json);
    cmp_ok( time - $start, '<', 5 * $most, "$name: none of this waits" );
    is( $stack->ready_as(503)->status, 503, "$name: and not ready" );
    return;
}

sub serves {
    my ($name) = @_;
    cmp_ok( recovers(time), '<', $back, "$name: serving again" );
    oauth_ok( look_at($held), { active => true }, "$name: the token from before is active" );
    oauth_ok( look_at($gone), { active => true }, "$name: the one that could not be revoked is" );
    ok( $stack->await_ready(60), "$name: ready" );
    return;
}

unlike(
    $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    'all of it by the same processes' );
$postgres->stop('immediate');
refuses('database away');
$postgres->start;
serves('database back');
unlike( $stack->{service}->log_text, qr/worker ended/, 'database back: still the same processes' );
$stack->{service}->stop;
$postgres->stop('fast');
$stack->start_service;
refuses('started without database');
$postgres->start;
serves('database there at last');
oauth_ok( look_at($jit), { active => true }, 'the single-use token was not used up by the refusals' );
inactive( look_at($jit), 'and is now' );
is( $stack->revoke( @crm, token => $gone )->status, 200, 'what could not be revoked is now' );
inactive( look_at($gone), 'and is dead' );

done_testing;

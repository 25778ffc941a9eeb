# Decisions in process go on without OPA: it is dead, stopped, or tries a candidate; saves are refused and readiness names it.
# Workers that are killed in the middle of a switch, and saves each second, cost no decision and let none be stale (decisions.md
# "Decisions in process", "Which revisions may decide").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND = 60;

# By hand: AUTHZ_TEST_WORKERS=64.
my $WORKERS = $ENV{AUTHZ_TEST_WORKERS} // 8;
my $SAVES   = $WORKERS > 8 ? 10 : 6;

# A decision in process takes a millisecond, and some 50 when it loads a plan. A machine that is busy takes longer, but no wait for
# OPA (SVC_POLICY_TIMEOUT_MS here) hides below this.
my $SOON  = 5;
my $stack = Authz::Stack->start(
    workers  => $WORKERS,
    bundles  => 4,
    settings => {
        SVC_POLICY_ENGINE             => 'embedded', SVC_OPA_BINARY        => Authz::Path::opa(),
        SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 3000,       SVC_POLICY_TIMEOUT_MS => 10_000 } );
my $policy = Authz::Policy->new($stack);
my %cc     = ( grants => ['client_credentials'], scopes => ['a'] );
my @crm    = $stack->make_client( 'crm', \%cc );
my @rs     = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );
my $serial = 0;
my $cut    = 0;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub statuses {
    my ($answer) = @_;
    return { map { $_->{name} => $_->{status} } @{ $answer->member('checks') // [] } };
}

ok( $stack->await_plan, 'the plan is there' );
my $token = $stack->token_text( @crm, scope => 'a' );

# Requests one after the other until `do` has returned, in processes of their own: [request, status, seconds, ...].
sub during {
    my ( $do, $clients ) = @_;
    my $dir = Authz::Process::directory() . '/during' . ++( our $times );
    mkdir $dir or die "$dir: $!";
    my @load = map {
        my $number = $_;
        Authz::Process->start(
            name => "load$number",
            code => sub {
                my $stopped = 0;
                $SIG{TERM} = sub { $stopped = 1 };
                $stack->{http} = $stack->client;
                open my $out, '>', "$dir/$number" or die "$dir: $!";
                until ($stopped) {
                    my $start  = time;
                    my $issued = $stack->token( @crm, scope => 'a' );
                    my $middle = time;
                    my $shown  = $stack->introspect( @rs, $token );
                    printf {$out} "%d %.3f %d %.3f %s\n", $issued->status, $middle - $start, $shown->status,
                      time - $middle,
                      $shown->member('active') ? 'active' : 'inactive';
                    $out->flush;
                    sleep 0.005;
                }
                close $out or die "$dir: $!";
            } )
    } 1 .. $clients // 1;
    until_true(
        sub {
            !grep { !-s "$dir/$_" } 1 .. @load;
        } ) or die "no answer\n";
    my $result = $do->();
    sleep 0.3;
    $_->stop('TERM') for @load;
    my ( %status, $slowest, $count );
    for my $number ( 1 .. @load ) {
        open my $in, '<', "$dir/$number" or die "$dir: $!";
        while ( my $line = readline $in ) {
            my ( $issued, $took, $shown, $looked, $active ) = split ' ', $line;
            $status{"$issued $shown $active"}++;
            for ( $took, $looked ) { $slowest = $_ if $_ > ( $slowest // 0 ) }
            $count++;
        }
    }
    return { result => $result, status => join( ', ', sort keys %status ), slowest => $slowest, count => $count };
}

sub goes_on {
    my ( $seen, $name ) = @_;
    is( $seen->{status}, '200 200 active',
        "$name: each token is issued, each introspection answered ($seen->{count})"
    ) or diag grep {/"status":5/} map {"$_\n"} $stack->{service}->log_lines;
    cmp_ok( $seen->{slowest}, '<', $SOON, "$name: ... without a wait for OPA" );
    return;
}

sub row {
    $serial++;
    return $stack->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=acme.embedded',
        json => { dataKey => 'acme.embedded', payload => qq({"v":$serial}) } );
}

sub rule {
    my ($text) = @_;
    $serial++;
    return $policy->deploy(
        rules => { 'custom/embedded.rego' => "package custom.embedded\n\nv := " . ( $text // $serial ) . "\n" } );
}

# ---- a candidate on trial

my $seen = during( sub { rule() }, 2 );
like( $seen->{result}->status, qr/\A20[01]\z/, 'a save' ) or diag $seen->{result}->text;
goes_on( $seen, 'a candidate on trial' );
my $before = $policy->state->{revision};
$seen = during( sub { rule('no_such_function(1)') }, 2 );
is( $seen->{result}->status, 422, 'a candidate that OPA refuses' );
goes_on( $seen, 'a candidate that is refused' );

# ---- OPA is stopped

$stack->{opa}->signal('STOP');
$seen = during( sub { rule() } );
like( $seen->{result}->status, qr/\A(?:422|503)\z/, 'a stopped OPA: a save is refused' ) or diag $seen->{result}->text;
goes_on( $seen, 'a stopped OPA' );
is( $policy->state->{acceptable}, $before, '... and what was confirmed decides' );
my $ready;
until_true( sub { $ready = $stack->http->get('/health/ready'); statuses($ready)->{opa} eq 'DEGRADED' } );
is( $ready->status, 200, 'a stopped OPA: the service is ready' );
is( join( ' ', map { statuses($ready)->{$_} } qw(plan opa bundle) ), 'UP DEGRADED DEGRADED',
    '... and readiness names OPA' );
$stack->{opa}->signal('CONT');
is( $policy->agree($BOUND), '', 'an OPA that continues: all agree again' );

# ---- OPA is dead

$stack->{opa}->stop('KILL');
$seen = during( sub { rule() } );
like( $seen->{result}->status, qr/\A(?:422|503)\z/, 'a dead OPA: a save is refused' ) or diag $seen->{result}->text;
goes_on( $seen, 'a dead OPA' );
$seen = during( sub { row() } );
goes_on( $seen, 'a row of data without OPA' );
is( ( split ' ', $policy->state->{acceptable} )[0], $before, '... and what OPA has confirmed decides' );
kill 'KILL', $stack->workers('core');
ok( until_true( sub { $stack->workers('core') == $WORKERS } ), 'all workers are killed and replaced' );
goes_on( during( sub { sleep 0.5 } ), 'new workers without OPA' );
$stack->start_opa;
is( $policy->agree($BOUND), '', 'a new OPA: all agree again' );
is( $stack->ready_as(200)->member('status') =~ /UP|DEGRADED/ ? 'ready' : 'not', 'ready',
    '... and the service is ready' );

# ---- saves each second, and workers killed while they switch

# Let the client have one scope more than 'a', in place of the one of the save before.
sub bound {
    my ($scope) = @_;
    return $stack->bind( 'crm', { scopes => [ 'a', $scope ] } );
}

# Ask for a token, again if the web server answers itself, because the worker was killed with the request in hand.
sub ask {
    my ($scope) = @_;
    my $answer;
    for ( 1 .. $WORKERS ) {
        $answer = $stack->token( @crm, scope => $scope );
        last if $answer->status < 500 || ( $answer->header('Content-Type') // '' ) =~ /json/;
        $cut++;
    }
    return $answer;
}

# Ask each worker about the scope of now and that of before. Return what was answered wrongly.
sub wrong_after {
    my ( $now, $before ) = @_;
    my $wrong = '';
    for ( 1 .. $WORKERS ) {
        my $given   = ask($now);
        my $refused = ask($before);
        $wrong .= "$now: " . $given->text if $given->status != 200;
        $wrong .= "$before: " . $refused->text
          if $refused->status != 400 || $refused->member('error') ne 'invalid_scope';
    }
    return $wrong;
}

my $wrong = '';
bound('s0');
$seen = during(
    sub {
        for my $save ( 1 .. $SAVES ) {
            my $until = time + 1;
            bound("s$save");
            $wrong .= wrong_after( "s$save", 's' . ( $save - 1 ) );
            Authz::Process::sleep_until($until);
        }
        return;
    },
    2 );
goes_on( $seen, "a save each second, $WORKERS workers" );
is( $wrong, '',
    'a save each second: each decision after its answer is by what was saved, and none by what was before' );

$wrong = '';
bound('k0');
for my $save ( 1 .. 5 ) {
    bound("k$save");

    # Each worker switches with its next decision: they die before, meanwhile and after.
    my @worker = $stack->workers('core');
    my $killer = Authz::Process->start(
        name => "kill$save",
        code => sub {
            for (@worker) { kill 'KILL', $_; sleep 0.01 }
        } );
    $wrong .= wrong_after( "k$save", 'k' . ( $save - 1 ) );
    $killer->wait($BOUND);
    ok( until_true( sub { $stack->workers('core') == $WORKERS } ), "kill $save: all workers are replaced" );
    $wrong .= wrong_after( "k$save", 'k' . ( $save - 1 ) );
}
is( $wrong, '', 'workers killed while they switch: those that live and those that are new decide by what stands' );
note "requests that were in the hands of a killed worker: $cut";
is( join( ', ', $policy->wrong_decisions ), '', 'no decision was ever made by what was withdrawn' );

done_testing;

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

# A decision in process takes a millisecond, and some 50 when it loads a plan. A machine that is busy takes longer, but no wait for
# OPA (SVC_POLICY_TIMEOUT_MS here) hides below this.
my $SOON  = 5;
my $stack = Authz::Stack->start(
    workers  => 8,
    bundles  => 4,
    settings => {
        SVC_POLICY_ENGINE             => 'embedded', SVC_OPA_BINARY        => Authz::Path::opa(),
        SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 3000,       SVC_POLICY_TIMEOUT_MS => 10_000 } );
my $policy = Authz::Policy->new($stack);
my %cc     = ( grants => ['client_credentials'], scopes => ['a'] );
my @crm    = $stack->make_client( 'crm', \%cc );
my @rs     = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );
my $serial = 0;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub statuses {
    my ($answer) = @_;
    return { map { $_->{name} => $_->{status} } @{ $answer->member('checks') // [] } };
}

ok( until_true( sub { statuses( $stack->http->get('/health/ready') )->{plan} eq 'UP' } ), 'the plan is there' );
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
        "$name: each token is issued, each introspection answered ($seen->{count})" );
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
ok( until_true( sub { $stack->workers('core') == 8 } ), 'all workers are killed and replaced' );
goes_on( during( sub { sleep 0.5 } ), 'new workers without OPA' );
$stack->start_opa;
is( $policy->agree($BOUND), '', 'a new OPA: all agree again' );
is( $stack->ready_as(200)->member('status') =~ /UP|DEGRADED/ ? 'ready' : 'not', 'ready',
    '... and the service is ready' );

# ---- saves each second, and workers killed while they switch

sub bound {
    my ($scope) = @_;
    return $stack->bind( 'crm', { scopes => [ 'a', $scope ] } );
}
my $wrong = '';
$seen = during(
    sub {
        for my $save ( 1 .. 6 ) {
            my $until  = time + 1;
            my $answer = bound("s$save");
            for ( 1 .. 16 ) {
                my $got = $stack->token( @crm, scope => "s$save" );
                $wrong .= "$save: " . $got->text if $got->status != 200;
            }
            Authz::Process::sleep_until($until) if time < $until;
        }
        return;
    },
    2 );
goes_on( $seen, 'a save each second' );
is( $wrong, '', 'a save each second: no decision after an answer is by what was before' );
$wrong = '';
for my $save ( 1 .. 5 ) {
    bound("k$save");

    # Each worker is about to switch, or does so now.
    my $load = Authz::Process->start(
        name => "switch$save",
        code => sub { my $http = $stack->{http} = $stack->client; $stack->token(@crm) for 1 .. 8; } );
    my @worker = $stack->workers('core');
    kill 'KILL', @worker[ 0 .. 3 ];
    $load->wait($BOUND);
    ok( until_true( sub { $stack->workers('core') == 8 } ), "kill $save: the workers are replaced" );
    for ( 1 .. 16 ) {
        my $got = $stack->token( @crm, scope => "k$save" );
        $wrong .= "$save: " . $got->text if $got->status != 200;
    }
}
is( $wrong, '', 'workers killed while they switch: those that live and those that are new decide by what stands' );
is( join( ', ', $policy->wrong_decisions ), '', 'no decision was ever made by what was withdrawn' );

done_testing;

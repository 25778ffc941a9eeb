# Saves while one of two engines is dead or stopped, and saves against somebody who has the bundle key: an engine counts from
# its own fetches, one that is silent is not waited for, and the other decides on meanwhile (decisions.md "Engines", "Which
# revisions may decide"; policy.md 2.4).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND = 60;

# The grace is the longest one here, because a busy machine must not use it up for living engines. A save beside a dead engine
# takes little longer, and far less than the 25 s of SVC_BUNDLE_CONFIRM_TIMEOUT_MS.
my $GRACE = 5;
my $SHORT = 15;
my %grace = ( settings => { SVC_BUNDLE_FETCH_GRACE_MS => 1000 * $GRACE, SVC_POLICY_ENGINE => 'opa' } );

my $first  = Authz::Stack->start( bundles => 4,      %grace );
my $second = Authz::Stack->start( beside  => $first, own_opa => 1, %grace );
my ( $one, $two ) = map { Authz::Policy->new($_) } $first, $second;
my @crm    = $first->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my @key    = ( 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY} );
my $number = 0;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

# Tokens of a host, one after the other, in a process of its own: how often each status was answered.
sub tokens_during {
    my ( $stack, $do ) = @_;
    my $file = Authz::Process::directory() . '/tokens' . ++( our $files );
    my $code = sub {
        my $stopped = 0;
        $SIG{TERM} = sub { $stopped = 1 };
        $stack->{http} = $stack->client;
        open my $out, '>', $file or die "$file: $!";
        while ( !$stopped ) {
            print {$out} $stack->token( @crm, scope => 'orders.read' )->status, "\n";
            $out->flush;
            sleep 0.005;
        }
        close $out or die "$file: $!";
        return;
    };
    my $load = Authz::Process->start( name => 'tokens', code => $code );
    until_true( sub { -s $file } ) or die "no token\n";
    my $start  = time;
    my $answer = $do->();
    my $took   = time - $start;
    $load->stop('TERM');
    open my $in, '<', $file or die "$file: $!";
    my %status;
    $status{ $_ + 0 }++ for readline $in;
    return { answer => $answer, took => $took, status => \%status };
}

sub save {
    my ( $policy, $text ) = @_;
    $number++;
    return $policy->deploy(
        rules => { 'custom/silent.rego' => "package custom.silent\n\nv := " . ( $text // $number ) . "\n" } );
}

sub row {
    my ($policy) = @_;
    $number++;
    return $policy->{stack}->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=acme.silent',
        json => { dataKey => 'acme.silent', payload => qq({"v":$number}) } );
}

# The save stands, soon, and the living engine issues tokens all the time.
sub goes_on {
    my ( $seen, $name ) = @_;
    like( $seen->{answer}->status, qr/\A20[01]\z/, "$name: the save stands" ) or diag( $seen->{answer}->text );
    my $told = $seen->{answer}->member('activation') // $seen->{answer}->header('X-Policy-Activation');
    is( $told, 'confirmed', "$name: it is confirmed, the silent engine is not waited for" );
    cmp_ok( $seen->{took}, '<', $SHORT, "$name: the save takes little more than SVC_BUNDLE_FETCH_GRACE_MS" );
    is( join( ' ', sort keys %{ $seen->{status} } ), '200', "$name: the other engine decides all the time, no 503" );
    return;
}

sub counts {
    my ($name) = @_;
    return $first->sql(
        "SELECT count(*) FROM engine_instance WHERE instance = '$name' AND asked_at > reported_at - interval '1 minute' AND reported_at > '-infinity'"
    );
}

sub both {
    my ($name) = @_;
    is( join( '', map { $_->agree($BOUND) } $one, $two ), '', "$name: both engines agree" );
    return;
}

ok( until_true( sub { counts('test-1') && counts('test-2') } ), 'both engines have asked and reported' );
my $plain = tokens_during( $first, sub { save($one) } );
is( $plain->{answer}->member('activation'), 'confirmed', 'with two living engines a save is confirmed' );
cmp_ok( $plain->{took}, '<', $GRACE, '... before the grace is over: both answered the call' );
both('two living engines');

# ---- stopped

$second->{opa}->signal('STOP');
goes_on( tokens_during( $first, sub { save($one) } ), 'a stopped engine' );
is( $one->state->{acceptable}, $one->active, 'a stopped engine: only the new revision may decide' );
my $again = tokens_during( $first, sub { save($one) } );
goes_on( $again, 'a second save' );
cmp_ok( $again->{took}, '<', $GRACE, 'a second save: an engine that did not answer the last call is not called again' );
my $issued = $first->sql('SELECT count(*) FROM access_token');
oauth_error(
    $second->token( @crm, scope => 'orders.read' ),
    503, 'temporarily_unavailable', 'a stopped engine: its own host issues no token' );
is( $first->sql('SELECT count(*) FROM access_token'), $issued, 'a stopped engine: ... and none is stored' );
$second->{opa}->signal('CONT');
both('a stopped engine that continues');
ok( until_true( sub { $second->token( @crm, scope => 'orders.read' )->status == 200 } ), 'it decides again' );

$second->{opa}->signal('STOP');
goes_on( tokens_during( $first, sub { row($one) } ), 'a data row beside a stopped engine' );
is( $one->state->{acceptable}, $one->active, 'a data row: the engine that is stopped may not decide by the old row' );
$second->{opa}->signal('CONT');
both('after a data row');

$second->{opa}->signal('STOP');
goes_on( tokens_during( $first, sub { save($two) } ), 'saved on the host of the stopped engine' );
$second->{opa}->signal('CONT');
both('saved on the host of the stopped engine');

# ---- dead, and what is refused beside it

$second->{opa}->stop('KILL');
my $served = $one->state->{revision};
my $seen   = tokens_during( $first, sub { save( $one, 'no_such_function(1)' ) } );
admin_error(
    $seen->{answer}, 422, 'a dead engine: a rule that the living one refuses is refused',
    error => 'bundle_not_activated', members => { error_description => qr{custom/silent\.rego:3}, rolledBack => true }
);
is( join( ' ', sort keys %{ $seen->{status} } ), '200',   'a dead engine: no 503 during the refusal' );
is( $one->state->{revision},                     $served, 'a dead engine: what was served is served again' );
$second->start_opa;
both('a dead engine that is started again');
$second->{opa}->stop('KILL');
goes_on( tokens_during( $first, sub { save($one) } ), 'a dead engine' );
$second->start_opa;
both('a dead engine that comes back');

# ---- somebody with the bundle key

sub push_status {
    my ( $instance, %status ) = @_;
    return $first->client->post(
        '/bundles/status', headers => [@key],
        json => {
            labels  => { instance => $instance },
            bundles =>
              { svc => { name => 'svc', active_revision => $served, last_request => '2026-01-01T00:00:00Z', %status } }
        } );
}
sub fetch_as { my ( $instance, @more ) = @_; return $one->fetch( 'X-Bundle-Instance' => $instance, @more ) }

is( push_status("made-up-$_")->status, 200, "a status push under a made-up name ($_)" ) for 1 .. 3;
$seen = tokens_during( $first, sub { save($one) } );
goes_on( $seen, 'made-up reports' );
cmp_ok(
    $seen->{took}, '<', $GRACE,
    'made-up reports: a status push makes no save wait, an engine counts from its own fetches' );
is( fetch_as('never-reports')->status, 200, 'a fetch under a made-up name that never reports' );
$seen = tokens_during( $first, sub { save($one) } );
goes_on( $seen, 'a made-up fetch' );
cmp_ok( $seen->{took}, '<', $GRACE, 'a made-up fetch: what never reported makes no save wait' );
$first->sql(q{UPDATE bundle_state SET called_at = now()});
push_status('refuses');
push_status( 'refuses', code => 'bundle_error', message => 'a lie', last_request => '2099-01-01T00:00:00Z' );
goes_on( tokens_during( $first, sub { save($one) } ), 'a refusal under a made-up name that fetches nothing' );

# One that does everything but say that it has the candidate: it asks, and reports what it had.
my $liar = Authz::Process->start(
    name => 'liar',
    code => sub {
        $first->{http} = $first->client;
        while (1) {
            fetch_as('liar');
            push_status('liar');
            sleep 0.05;
        }
    } );
ok( until_true( sub { counts('liar') } ), 'an engine that fetches each bundle and has none active' );
my $start  = time;
my $answer = save($one);
admin_ok( $answer, 200, { activation => 'confirmed' }, 'it makes no save fail' );
cmp_ok(
    time - $start, '<', $SHORT,
    '... and is waited for no longer than SVC_BUNDLE_FETCH_GRACE_MS after the engine beside the saver has the bundle' );
$answer = row($one);
is( $answer->status . ' ' . $answer->header('X-Policy-Activation'), '200 confirmed',
    '... nor does it keep a data row pending' );
$liar->stop('KILL');
both('after the liar');
is( join( "\n", $one->wrong_decisions ), '', 'no decision names a revision that was taken back' );

done_testing;

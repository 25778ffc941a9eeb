# Saves with several engines, one of which refuses, is dead, is stopped, is late, or cannot write its disk: a save stands if every
# engine that reports has it; otherwise everything is as before, and no decision was made with the withdrawn bundle (policy.md 2.4;
# decisions.md "Which revisions may decide"; specification 7.2).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Load    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND = 60;

# Two hosts with an engine each. The second engine takes no file as large as `too_large`. `hasty` is on the first host's
# engine, and waits for a short time only.
my $GRACE = 5;    # seconds; the longest, because a busy machine must not use it up for living engines

# Without the program that tries a candidate, the engines get what they refuse (policy.md 7.3).
my %untried = ( SVC_OPA_BINARY => '/nonexistent' );
my %grace   = ( settings       => { SVC_BUNDLE_FETCH_GRACE_MS => 1000 * $GRACE, %untried } );
my $first   = Authz::Stack->start(%grace);
my $limit   = 30_000 + $first->sql(
    'SELECT greatest((SELECT max(octet_length(content)) FROM policy_rule), (SELECT sum(octet_length(payload) + octet_length(data_key)) FROM policy_data))'
);
my $second = Authz::Stack->start(
    beside   => $first, own_opa => 1, %grace,
    opa_edit => [ qr{^ +resource: svc$}m => "    resource: svc\n    size_limit_bytes: $limit" ] );
my $hasty = Authz::Stack->start( beside => $first, settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 1500, %untried } );
my ( $one, $two, $quick ) = map { Authz::Policy->new($_) } $first, $second, $hasty;
my @hosts = ( $first, $second );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $first->make_client( 'crm',  \%cc );
my @once  = $first->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $first->make_client( 'rs',   { endpoints           => ['introspect'] } );
my $path  = 'custom/engines.rego';
my $count = 0;

sub rule       { my ( $n, $more ) = @_; return { $path => "package custom.engines\n\nv := $n\n" . ( $more // '' ) } }
sub too_large  { my ($n) = @_; return rule( $n, '# ' . 'x' x $limit . "\n" ) }
sub broken     { my ($n) = @_; return rule( $n, "w := no_such_function_$n(1)\n" ) }
sub stored     { return $first->sql("SELECT content FROM policy_rule WHERE path = '$path'") }
sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub issues {
    my ($stack) = @_;
    return until_true( sub { $stack->token( @crm, scope => 'orders.read' )->status == 200 } );
}

# Rows and both engines agree, and both hosts issue tokens.
sub all_well {
    my ($name) = @_;
    is( join( '', map { $_->agree($BOUND) } $one, $two ), '', "$name: rows, bundle and both engines agree" );
    is( join( ' ', map { issues($_) ? 'yes' : 'no' } @hosts ), 'yes yes', "$name: both hosts issue tokens" );
    return;
}

sub saved {
    my ( $policy, $name ) = @_;
    $count++;
    admin_ok( $policy->deploy( rules => rule($count) ), 200, { activation => 'confirmed' }, $name );
    is( join( ' ', map { $_->engine('/v1/data/custom/engines/v') // 'none' } $one, $two ), "$count $count",
        "$name: both engines decide by it at once" );
    return;
}

# 422 with everything as before: {error, error_description, expectedRevision, activeRevision, rolledBack}.
sub refused {
    my ( $policy, $rules, $error, $why, $name ) = @_;
    my ( $old, $served ) = ( stored(), $policy->state->{revision} );
    my $start  = time;
    my $answer = $policy->deploy( rules => $rules );
    my $took   = time - $start;
    admin_error(
        $answer, 422, $name,
        error   => $error,
        members => {
            error_description => $why, rolledBack => true,
            expectedRevision  => sub { defined $_[0] && $_[0] =~ /\A[0-9a-f]{32}\z/ && $_[0] ne $served },
        } );
    is( stored(),                   $old,    "$name: the rows are as before" );
    is( $policy->state->{revision}, $served, "$name: the bundle before it is served" );
    return ( $took, $answer );
}

is( $first->sql('SELECT count(*) FROM engine_instance'), 2, 'two engines report' );
saved( $_, 'a good rule saved on the ' . ( $_ == $one ? 'first' : 'second' ) . ' host' ) for $one, $two;
my @load =
  map { Authz::Load->start( $_, crm => \@crm, once => \@once, rs => \@rs, clients => 1, pause => 0.1 ) } @hosts;

# ---- one of two refuses

for my $round ( 1 .. 3 ) {
    my ( $policy, $host ) = $round % 2 ? ( $one, 'first' ) : ( $two, 'second' );
    my $served = $policy->state->{revision};
    my ( undef, $answer ) = refused(
        $policy, too_large( 1000 + $round ), 'bundle_not_activated', qr/size_limit_bytes/,
        "one of two engines refuses (saved on the $host host)" );
    is( $answer->member('activeRevision'), $served, 'one of two engines refuses: activeRevision is what it has' );
    all_well('one of two engines refuses');
    saved( $policy, 'and a good rule after it' );
}
like(
    $first->{service}->log_text,
    qr/size_limit_bytes[^\n]*; refused by test-2"/,
    'the log names the engine that refused, for whoever has the bundle key may refuse in its name' );
refused(
    $two, broken(2000), 'bundle_not_activated', qr{custom/engines\.rego:4: .*no_such_function_2000},
    'both engines refuse: the message names file and row' );
all_well('both engines refuse');

# ---- an old error is not taken for the new candidate's

my @wrong;
for my $round ( 1 .. 30 ) {
    my ( $bad, $good ) =
      ( $one->deploy( rules => broken( 3000 + $round ) ), $two->deploy( rules => rule( 4000 + $round ) ) );
    push @wrong, "round $round, bad: " . $bad->text
      if $bad->status != 422
      || ( $bad->member('error_description') // '' ) !~ /no_such_function_@{[ 3000 + $round ]}\b/;
    push @wrong, "round $round, good: " . $good->text if $good->status != 200;
}
is( join( "\n", @wrong ), '', '30 times a bad rule and at once a good one: each is answered for itself' );
all_well('30 times a bad rule and a good one');

# ---- one that is dead: called while it was heard of within the last minute, and not after that (save_silent.t has the rest)

# Make the second engine one that was heard of so long ago, and that no call has missed yet.
sub heard {
    my ($seconds) = @_;
    $first->sql(q{UPDATE bundle_state SET called_at = '-infinity'});
    return $first->sql(
        "UPDATE engine_instance SET reported_at = now() - interval '$seconds seconds', asked_at = now() - interval '$seconds seconds' WHERE instance = 'test-2'"
    );
}

$second->{opa}->stop('KILL');
for my $case ( [ 0, 1 ], [ 50, 1 ], [ 61, 0 ] ) {
    my ( $silent, $called ) = @$case;
    heard($silent);
    my $start = time;
    admin_ok(
        $one->deploy( rules => rule( 5000 + $silent ) ), 200, { activation => 'confirmed' },
        "a dead engine, silent for $silent s: a save stands" );
    my $took = time - $start;
    if ($called) { cmp_ok( $took, '>=', $GRACE, "silent for $silent s: called, and given SVC_BUNDLE_FETCH_GRACE_MS" ) }
    else         { cmp_ok( $took, '<', $GRACE, "silent for $silent s: not called (ENGINE_SILENT_AFTER)" ) }
    is( $one->state->{acceptable}, $one->active, "silent for $silent s: only the new revision may decide" );
}
is( $one->agree($BOUND), '', 'a dead engine: the living one has what is served' );
ok( issues($first), 'a dead engine: the other host issues tokens' );

# ---- late: the time is up before the only engine that lives has it

$first->{opa}->signal('STOP');
my ( $took, $answer ) =
  refused( $quick, rule(6000), 'opa_unreachable', qr/1500 ms/, 'an engine that stands still: refused for time' );
cmp_ok( $took, '>=', 1.5, 'SVC_BUNDLE_CONFIRM_TIMEOUT_MS is waited for' );
cmp_ok( $took, '<',  20,  '... and not much longer' );
$first->{opa}->signal('CONT');
$second->start_opa;
my $candidate = $answer->member('expectedRevision');
all_well('an engine that activates late: it heals itself (policy.md 2.4)');
is( $first->sql("SELECT count(*) FROM bundle WHERE revision = '$candidate' AND body IS NOT NULL"), 0,
    'an engine that activates late: what was refused is kept no longer' );
admin_ok(
    $two->deploy( rules => rule(6000) ), 200, { activation => 'confirmed', revision => $candidate },
    'the same rule saved again stands, under the same revision' );
all_well('the same rule saved again');

# ---- an engine that has the bundle active and says that it has not: it could not write it to its disk

my $disk = "$first->{dir}/opa";
rename $disk, "$disk.away" or die "rename: $!";
Authz::Web::write_file( $disk, 'in the way' );
refused(
    $one, rule(7000), 'bundle_not_activated', qr/not a directory/,
    'an engine that cannot keep the bundle: refused' );
ok( issues($first),
    'an engine that cannot keep the bundle: it is given the one before it again, and its host issues tokens' );
unlink $disk;
rename "$disk.away", $disk or die "rename: $!";
all_well('an engine that can keep bundles again');

# ---- none answers

$_->{opa}->stop('KILL') for @hosts;
( undef, $answer ) =
  refused( $quick, rule(8000), 'opa_unreachable', qr/\S/, 'all engines are gone: opa_unreachable (specification 7.2)' );
$_->start_opa for @hosts;
all_well('all engines are back');
saved( $one, 'and a rule is saved' );

# ---- what was recorded meanwhile

$_->stop for @load;
cmp_ok( scalar $one->withdrawn, '>', 30, 'candidates were taken back, whose revisions are known' );
cmp_ok( scalar $one->decisions, '>', 50, 'decisions were recorded meanwhile' );
is( join( "\n", $one->wrong_decisions ), '',
    'no decision on any host names a revision that was taken back (decisions.md "Which revisions may decide")' );
is( join( "\n", map { $_->wrong } @load ), '', 'what was acknowledged to clients meanwhile holds' );

done_testing;

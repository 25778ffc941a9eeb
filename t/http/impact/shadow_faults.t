# Shadows of the policy that meet what cannot be decided, another base, or the end of their process or their time: no answer of the
# service is another (policy.md 7.2).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Shadow   qw(rule deny shadow save_rule served shown await await_looked await_report);
use Authz::Stack    ();

my $where = '/admin/api/policy-shadow';
my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );

Authz::Shadow::of($stack);

# ---- another base

is( save_rule( 'limit := 1', 'custom/other.rego' )->status, 201, 'a rule is stored' );
my $first = shadow( { rules => [ deny('true') ] } );
is( $first->status, 201, 'a shadow' );
await_report();
is( save_rule( 'limit := 2', 'custom/other.rego' )->status, 200, 'another change is saved' );
my $moved = await( sub { $_[0]{baseRevision} eq served() } );
is( $moved->{state}, 'active', 'the shadow is made of the new base (policy.md S2)' );
isnt( $moved->{candidateRevision}, $first->member('candidateRevision'), '... with another revision' );
my $deletes =
  shadow( { deleteRules => ['custom/other.rego'] }, 'If-Match' => $stack->admin( GET => $where )->header('ETag') );
is( $deletes->status, 201, 'a shadow that deletes a rule' );
await_report();
is( $stack->admin(
        DELETE => '/admin/api/policy-rules/'
          . $stack->sql(q{SELECT id FROM policy_rule WHERE path = 'custom/other.rego'}) )->status,
    204,
    '... which is deleted meanwhile' );
my $stale = await( sub { $_[0]{state} eq 'stale' } );
like( $stale->{note}, qr/deleteRules\[0\].*stored/, 'stale_after_base: it says why it cannot be compared' );
is( $stack->token( @crm, scope => 'write' )->status, 200, '... and tokens are issued' );
admin_error(
    $stack->admin(
        POST    => "$where/promote",
        headers => [ 'If-Match' => $stack->admin( GET => $where )->header('ETag') ] ),
    412,
    'promote_refused: another revision is active (policy.md S5)' );

# ---- a policy that does not end, and a process that is lost

$stack->admin( DELETE => $where );
my $endless = <<'REGO';
deny contains {"code": "never", "category": "policy"} if {
	some i in numbers.range(1, 30000)
	some j in numbers.range(1, 30000)
	i * j == -1
}
REGO
is( shadow( { rules => [ rule($endless) ] } )->status, 201, 'a shadow that does not end' );
await_report();
is( $stack->token( @crm, scope => 'read' )->status, 200, '... tokens are issued' );
my $result = await_looked(1)->{result};
is_deeply( [ @$result{qw(newlyDenied failing)} ], [ 1, 1 ], '... and it gives no decision (policy.md I9)' );

sub shadow_process {
    for my $pid ( $stack->{service}->children ) {
        open my $in, '<', "/proc/$pid/comm" or next;
        return $pid if ( readline($in) // '' ) =~ /\Aauthz-shadow/;
    }
    return;
}
my $lost = shadow_process();
ok( $lost, 'a process of its own compares' );
kill KILL => $lost if $lost;
is( $stack->token( @crm, scope => 'read' )->status, 200, '... and when it is killed, tokens are issued' ) for 1 .. 3;
ok( defined Authz::Process::until_true( 60, sub { my $pid = shadow_process(); $pid && $pid != $lost } ),
    '... and another one takes its place' );
is( await_looked(4)->{result}{failing}, 4, '... which adds to the same result' );
$stack->admin( DELETE => $where );
is( shown()->{state},           'dropped', 'a shadow is dropped' );
is( shown()->{result}{failing}, 4,         '... and its result stays' );

# ---- a promote that meets another change of the shadow, which holds the row until the promote waits for it

sub psql {
    my ( $name, $statements ) = @_;
    return Authz::Process->start(
        name    => $name,
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
            $Authz::Postgres::PORT,        '-d', $stack->{database}, map { ( '-c', $_ ) } @$statements ] );
}

sub waits {
    my ($what) = @_;
    my $found =
      "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND $what";
    return Authz::Process::until_true( 60, sub { $stack->sql($found) > 0 } ) // die "nothing waits: $what\n";
}

# Promote the shadow in a process of its own while another transaction changes it, and return the answer.
sub promote_meets {
    my ($change) = @_;
    my $tag      = $stack->admin( GET => $where )->header('ETag');
    my $gate     = psql( 'gate', [ 'SELECT pg_catalog.pg_advisory_lock(4711, 1)', 'SELECT pg_sleep(600)' ] );
    waits(q{query LIKE '%pg_sleep(600)%'});
    my $changer = psql( 'change', [ 'BEGIN', $change, 'SELECT pg_advisory_xact_lock(4711, 1)', 'COMMIT' ] );
    waits(q{wait_event = 'advisory'});
    pipe my $in, my $out or die "pipe: $!";
    my $pid = fork // die "fork: $!";

    if ( $pid == 0 ) {
        close $in;
        my $answer = $stack->client->request(
            POST    => "$stack->{path}$where/promote",
            headers => [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY}, 'If-Match' => $tag ] );
        print {$out} $answer->status . ' ' . ( $answer->member('error_description') // $answer->text );
        close $out;
        require POSIX;
        POSIX::_exit(0);
    }
    close $out;
    waits(q{wait_event = 'transactionid' AND query LIKE '%promoted%'});
    $stack->sql(
        q{SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()}
    );
    local $/ = undef;
    my $text = readline $in;
    waitpid $pid, 0;
    $_->stop for $gate, $changer;
    return $text;
}
my $served = served();
for my $case (
    [ q{UPDATE policy_shadow SET base = repeat('f', 32) WHERE state = 'active'}, 'made of another revision' ],
    [   q{UPDATE policy_shadow SET state = 'dropped', ended_by = 'other', ended_at = now() WHERE state = 'active'},
        'dropped' ] )
{
    my ( $change, $name ) = @$case;
    is( shadow( { rules => [ deny('true') ] } )->status, 201, 'a shadow' );
    like(
        promote_meets($change), qr/\A409 The shadow was dropped, replaced or made of another revision/,
        "refused: a shadow that is $name while it is promoted (policy.md S5)" );
    is( served(), $served,                                                              '... and nothing is saved' );
    is( $stack->sql(q{SELECT count(*) FROM policy_shadow WHERE state = 'promoted'}), 0, '... nor said to be promoted' );
    $stack->admin( DELETE => $where );
}
is( $stack->token( @crm, scope => 'read' )->status, 200, '... and tokens are issued' );

# ---- the end of its time

is( shadow( { rules => [ deny('true') ] } )->status, 201, 'a shadow' );
$stack->sql(q{UPDATE policy_shadow SET ends_at = now() WHERE state = 'active'});
is( shown()->{state}, 'expired', '... ends by itself' );
admin_error( $stack->admin( POST => "$where/promote" ), 404, '... and is not promoted then' );

# ---- nothing that plans

my $other = Authz::Stack->start( beside => $stack, settings => { SVC_OPA_BINARY => '/nonexistent/opa' } );
admin_error(
    $other->admin( PUT => $where, json => { rules => [ deny('false') ] } ),
    503, 'without a plan there is no shadow', error => 'impact_unavailable' );

done_testing();

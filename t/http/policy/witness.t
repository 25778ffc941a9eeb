#!/usr/bin/perl
# The witness (decisions.md "Witness"): OPA is asked again about decisions of the machine, after their answers. A
# difference is logged, counted and audited, and OPA decides that entrypoint until the next revision.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $metrics_token = 'metrics-token-of-mine-61d0';
my $stack         = Authz::Stack->start(
    fake_opa => 1,
    settings => {
        SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => Authz::Path::opa(), SVC_POLICY_WITNESS_RATE => 1,
        SVC_METRICS_TOKEN => $metrics_token } );
my @crm =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );

# The value of a result in the metric.
sub counted {
    my ($result) = @_;
    my $page = $stack->http->get( '/metrics', headers => [ Authorization => "Bearer $metrics_token" ] )->body;
    return $page =~ /^svc_policy_witness_total\{result="$result"\} (\d+)$/m ? $1 : 'none';
}

# Wait until the metric has counted so many of a result since the start; the count.
sub counts {
    my ( $result, $number ) = @_;
    Authz::Process::until_true( 5, sub { counted($result) >= $number } );
    return counted($result);
}

# Ask until OPA has confirmed one decision more, or found another one: on a busy machine it may be too late for the first. True
# if it has.
sub found {
    my ( $result, $ask ) = @_;
    my $was = counted($result);
    $was = 0 if $was eq 'none';
    Authz::Process::until_true( 60, sub { $ask->(); counts( $result => $was + 1 ) > $was } );
    return counted($result) > $was;
}

# The engine of the newest decision of an endpoint.
sub decided_by {
    my ($endpoint) = @_;
    my $rows       = $stack->admin( GET => "/admin/api/audit-logs?size=1&endpoint=$endpoint" );
    my $row        = $stack->admin( GET => '/admin/api/audit-logs/' . $rows->json->{content}[0]{id} )->json;
    return $row->{policyDecision}{engine} // '';
}

# Ask for a token, which must come; the engine that decided.
sub token_by {
    my $answer = $stack->token( @crm, scope => 'a' );
    return 'no token: ' . $answer->text if $answer->status != 200;
    return decided_by('/token');
}

# A save that changes nothing but the revision.
my $saves = 0;
sub save { return $stack->bind( 'of-save-' . ++$saves, { scopes => ['a'] } ) }

sub rows_of_witness {
    return $stack->sql("SELECT count(*) FROM audit_log WHERE operation = 'policyWitness'");
}

# The entries of attention of a kind.
sub waiting {
    my ($kind) = @_;
    return grep { $_->{kind} eq $kind } @{ $stack->admin( GET => '/admin/api/attention' )->json };
}

# Ask for tokens until the machine decides, which takes a moment after a start or a save; its name.
sub machine_decides {
    my $engine;
    $stack->await_plan;
    Authz::Process::until_true( 30, sub { ( $engine = token_by() ) =~ /\Aembedded/ } );
    return $engine;
}

# ---- the same answer

# A worker that is behind decides again by the present revision, and both decisions are asked about.
machine_decides();
token_by() for 1 .. 20;
sleep 1;    # OPA is asked after the answer
my ( $before, $requests, $engine ) = ( $stack->fake->asked, 0 );
ok( found( same => sub { $engine = token_by(); $requests++ } ),
    'OPA, which is asked after the answer, decides the same' );
like( $engine, qr{\Aembedded/}, '... as the machine' );
cmp_ok( $stack->fake->asked - $before, '<=', $requests, '... in one question' );
my $token = $stack->token_text( @crm, scope => 'a' );
ok( found( same => sub { sleep 2; $stack->introspect( @crm, $token ) } ),    # WITNESS_PAUSE_MS after a failure
    'an introspection is confirmed too' );
like( decided_by('/introspect'), qr{\Aembedded/}, '... which the machine decided' );
my $failed = counted('failed');
$failed = 0 if $failed eq 'none';

# ---- OPA away

$stack->fake->tell('close');
like( token_by(), qr{\Aembedded/}, 'without OPA the machine decides' );
is( counts( failed => $failed + 1 ), $failed + 1, '... and the question without an answer is counted' );
$stack->fake->tell('pass');
like( token_by(), qr{\Aembedded/}, '... and changes nothing' );
ok( found( same => sub { sleep 2; token_by() } ), '... until OPA is asked again' );    # WITNESS_PAUSE_MS

# ---- another answer

is( rows_of_witness(), 0, 'no audit row of the witness so far' );
$stack->fake->tell( set => { 'result.added' => 61 } );
my $answer;
ok( found( differs => sub { $answer = $stack->token( @crm, scope => 'a' ) } ), 'a decision that OPA makes otherwise' );
is( $answer->status, 200, '... is counted; the answer is sent before OPA is asked' );
my ($line) = grep {/policy engines differ/} $stack->{service}->log_lines;
my $said   = JSON::PP::decode_json( $line // '{}' );
my ($now)  = $stack->sql('SELECT acceptable[1] FROM bundle_state');
is_deeply(
    [ @$said{qw(level entrypoint revision request_id)} ],
    [ 'error', 'svc/decision/issue', $now, $answer->header('X-Request-ID') ],
    '... an error in the log names entrypoint, revision and request' );
unlike( $line, qr/\Q$crm[1]\E|scope|allow/, '... and neither secrets nor answers' );
Authz::Process::until_true( 5, sub { rows_of_witness() > 0 } );
is( rows_of_witness(), 1, '... and an audit row' );
my $id  = $stack->sql("SELECT id FROM audit_log WHERE operation = 'policyWitness'");
my $row = $stack->admin( GET => "/admin/api/audit-logs/$id" )->json;
is_deeply(
    [ $row->{requestId}, $row->{outcome}, @{ $row->{requestSummary} }{qw(operation entrypoint revision)} ],
    [ $answer->header('X-Request-ID'), 'error', 'policyWitness', 'svc/decision/issue', $now ],
    '... of the same request' );
is( $row->{policyDecision}{opa}{added}, 61, '... holds the answer of OPA' );
ok( $row->{policyDecision}{embedded}{allow},         '... and that of the machine' );
ok( !exists $row->{policyDecision}{embedded}{added}, '... which is another one' );
is( $row->{policyInput}, undef, '... and counts as no decision for a client: it has no question' );
$stack->fake->tell('pass');
my %engine;
$engine{ token_by() =~ s{/.*}{}r }++ for 1 .. 12;
is_deeply( \%engine, { opa => 12 }, 'from now on OPA decides that entrypoint, in all processes' );
$stack->introspect( @crm, $token );
like( decided_by('/introspect'), qr{\Aembedded/}, '... and no other' );
$stack->restart_service;
like( token_by(), qr{\Aopa/}, '... also after a restart' );
is( $stack->ready_as(200)->member('status'), 'DEGRADED', '... and the service is ready, but degraded' );
my @degraded = grep {/"check":"plan"/} $stack->{service}->log_lines;
like( $degraded[-1], qr{OPA decides svc/decision/issue by revision}, '... which the log explains' );
my ($check) = waiting('not_ready');
is_deeply( [ @$check{qw(name status)} ], [ 'plan', 'DEGRADED' ], 'attention lists the check, on this host' );
my ($entry) = waiting('engines_differ');
is_deeply(
    [ @$entry{qw(name count detail)} ],
    [ 'svc/decision/issue', 1, $now ],
    '... and the difference, on every host' );
is_deeply( [ grep { $_->{name} eq '(witness)' } waiting('errors') ], [], '... which is no error of a request' );
save();
like( machine_decides(), qr{\Aembedded/}, 'with the next revision the machine decides again' );
is( $stack->ready_as(200)->member('status'), 'UP', '... the service is not degraded' );
is( scalar waiting('engines_differ'),        1,    '... and attention still lists the difference' );

# ---- a machine that is wrong: its plan is that of the policy before

sub deploy {
    my (@rules) = @_;
    my $done = $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => {
            mode  => 'merge',
            rules => [ map { { path => $_->[0], content => $_->[1], enabled => JSON::PP::true() } } @rules ],
            data  => [] } );
    is( $done->status, 200, 'a deploy' ) or diag $done->text;
    return;
}
deploy( [ 'custom/other.rego', "package custom.other\n\nnumber := 1\n" ] );
is( $stack->token( @crm, scope => 'a' )->status, 200, 'a policy that allows' );
my $other = $stack->sql('SELECT max(id) FROM bundle');
deploy(
    [ 'custom/other.rego', qq{package custom.issue\n\ndeny contains "crm_may_not" if input.client.id == "crm"\n} ] );
is( $stack->token( @crm, scope => 'a' )->status, 400, '... one that denies' );
$stack->sql(
    "UPDATE bundle SET modules = (SELECT modules FROM bundle WHERE id = $other) WHERE id = (SELECT max(id) FROM bundle)"
);
$stack->restart_service;
ok( found( differs => sub { $answer = $stack->token( @crm, scope => 'a' ) } ),
    '... and a machine that does not know it' );
is( $answer->status,                             200, '... are told apart' );
is( $stack->token( @crm, scope => 'a' )->status, 400, '... after which OPA denies' );
deploy( [ 'custom/other.rego', "package custom.other\n\nnumber := 2\n" ] );
like( machine_decides(), qr{\Aembedded/}, '... until the next revision' );

# ---- rate 0

$stack->restart_service( settings => { SVC_POLICY_WITNESS_RATE => 0 } );
machine_decides();
$before = $stack->fake->asked;
like( token_by(), qr{\Aembedded/}, 'SVC_POLICY_WITNESS_RATE=0' ) for 1 .. 20;
is( $stack->fake->asked, $before, '... asks OPA about no decision' );
done_testing;

# Decisions in process (SVC_POLICY_ENGINE=embedded): by OPA's plan of what OPA has confirmed, in every worker from the answer to a
# save on; what the machine cannot promise goes to OPA, and bounds are failures (decisions.md "Decisions in process", "Which revisions
# may decide").
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

my $SAVES = 12;
my $BOUND = 30;
my $stack = Authz::Stack->start(
    workers  => 6,
    settings => {
        SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => Authz::Path::opa(),
        SVC_METRICS_ALLOW => '127.0.0.1' } );
my $policy   = Authz::Policy->new($stack);
my %cc       = ( grants => ['client_credentials'], endpoints => ['introspect'] );
my @crm      = $stack->make_client( 'crm',   { %cc, scopes => ['s0'] } );
my @big      = $stack->make_client( 'big',   { %cc, scopes => ['a'] } );
my @slow     = $stack->make_client( 'slow',  { %cc, scopes => ['a'] } );
my @large    = $stack->make_client( 'large', { %cc, scopes => ['a'] } );
my @twice    = $stack->make_client( 'twice', { %cc, scopes => ['a'] } );
my $EMBEDDED = qr{\Aembedded/};

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

# The decision that a token was issued by: {engine, revision, ...}.
sub decided {
    my ($token) = @_;
    return Authz::Check::decode_packed(
        $stack->sql('SELECT encode(pdp_output, \'hex\') FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1') );
}

# The decision in the audit row of an answer.
sub audited {
    my ($answer) = @_;
    my $id = $answer->header('X-Request-ID');
    my $hex;
    until_true(
        sub {
            $hex = $stack->sql("SELECT encode(policy_decision, 'hex') FROM audit_log WHERE request_id = '$id'");
            return $hex ne '';
        } ) or return {};
    return Authz::Check::decode_packed($hex);
}

sub metric {
    my ($line) = @_;
    return $stack->http->get('/metrics')->body =~ /^\Q$line\E (\d+)$/m ? $1 : 'none';
}

sub check_named {
    my ( $answer, $name ) = @_;
    my ($check) = grep { $_->{name} eq $name } @{ $answer->member('checks') };
    return $check // {};
}
sub readiness { return $stack->http->get('/health/ready') }

sub deploy {
    my (%rule) = @_;
    return $policy->deploy( rules => { map { ( "custom/$_.rego" => $rule{$_} ) } keys %rule } );
}

# Deploy rules that the trial of a save refuses (policy.md 7.3).
sub force {
    my (%rule) = @_;
    my @rules = map { { path => "custom/$_.rego", content => $rule{$_} } } keys %rule;
    return $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'merge', rules => \@rules, impact => { override => 'a test of what fails' } } );
}

# True if each worker has read the plan of the present rules, which it does after an answer.
sub caught_up {
    return until_true(
        sub {
            !grep { audited( $stack->token(@crm) )->{engine} !~ $EMBEDDED } 1 .. 8;
        } );
}

sub lines {
    my ($pattern) = @_;
    return scalar grep {/$pattern/} $stack->{service}->log_lines;
}

# ---- who decides

ok( $stack->await_plan, 'readiness: the plan is there' ) or diag readiness()->text;
ok( until_true( sub { audited( $stack->token(@crm) )->{engine} =~ $EMBEDDED } ),
    'the machine decides, and audit rows name it' );
my $shown = $stack->introspect( @crm, $stack->token_text(@crm) );
like( audited($shown)->{engine}, $EMBEDDED, '... also about introspection' );
is( audited($shown)->{revision}, $policy->state->{revision}, '... with the revision that it decided by' );

# ---- the first decision after a save

my ( $stale, $by_opa ) = ( 0, 0 );
for my $save ( 1 .. $SAVES ) {
    my $answer = $stack->bind( 'crm', { scopes => ["s$save"] } );
    for ( 1 .. 8 ) {
        my $token = $stack->token( @crm, scope => "s$save" );
        my $row   = audited($token);
        $stale++
          if $token->status != 200 || ( $row->{revision} // '' ) ne $answer->header('X-Policy-Revision');
        $by_opa++ if $row->{engine} !~ $EMBEDDED;
    }
}
is( $stale, 0,
    "$SAVES saves of data: each decision after the answer is by the new revision, whichever worker makes it" );
is( $by_opa, 0, '... and made in process' );

my $old = $stack->token_text( @crm, scope => "s$SAVES" );
$stack->bind( 'crm', { scopes => ['none'] } );
my @seen = map { $stack->introspect( @crm, $old )->member('active') ? 1 : 0 } 1 .. 8;
is( "@seen", '0 0 0 0 0 0 0 0', 'after a save that takes a scope away, no worker shows the token as active' );
$stack->bind( 'crm', { scopes => ['a'] } );

my $rule =
  sub { my ($name) = @_; return qq{package custom.issue\n\ndeny contains "$name" if input.client.id == "crm"\n} };
my $why = '';
for my $save ( 1 .. 3 ) {
    my $answer = deploy( embedded => $rule->("rule $save") );
    like( $answer->status, qr/\A20[01]\z/, "rule $save is saved" ) or diag $answer->text;
    for ( 1 .. 8 ) {
        my $token = $stack->token(@crm);
        $why .= $token->text if $token->text !~ /rule $save/;
    }
}
is( $why, '', '3 saves of rules: each decision after the answer is by the new rule, whichever worker makes it' );
ok( caught_up(), '... and each worker reads the plan in its turn (decisions.md "Decisions in process")' );

# ---- what was refused never decides

my $before = $policy->state->{revision};
admin_error(
    deploy( embedded => "package custom.issue\n\ndeny contains no_such_function(1)\n" ), 422,
    'a rule that OPA refuses' );
admin_error( deploy( embedded => "package custom.issue\n\ndeny := [\"x\"]\n" ), 422, 'a hook of the wrong type' );
my %by = map { ( audited( $stack->token(@crm) )->{revision} => 1 ) } 1 .. 8;
is( join( ' ',  keys %by ),                 $before, 'no candidate that was refused decides' );
is( join( ', ', $policy->wrong_decisions ), '',      '... nor has one ever' );

# ---- what the machine gives up

my $saved = deploy( embedded => <<'END' );
package custom.issue

deny contains "big" if {
    input.client.id == "big"
    9223372036854775807 + count(input.client.id) < 0
}

deny contains "slow" if {
    input.client.id == "slow"
    all := {n | some n in numbers.range(1, 300)}
    some i in all
    some j in all
    some k in all
    is_string(i)
}

deny contains "large" if {
    input.client.id == "large"
    some i in numbers.range(1, 500)
    count([[i, n] | some n in numbers.range(1, 20000)]) == 0
}

two := x if {
    input.client.id == "twice"
    some x in [1, 2]
}

deny contains "two" if two == 3
END
is( $saved->status, 200, 'rules that are hard to evaluate are saved' ) or diag $saved->text;
ok( caught_up(), '... and each worker reads their plan' );
my ( $opa, $gave_up ) = (
    metric('svc_policy_engine_total{engine="opa",outcome="answered"}'),
    metric('svc_policy_give_ups_total{entrypoint="svc/decision/issue"}') );
my @answer = map { $stack->token(@big) } 1 .. 12;
is( join( ' ', map { $_->status } @answer ), join( ' ', (200) x 12 ), 'a number beyond 64 bits: OPA decides' );
is( ( grep { audited($_)->{engine} !~ m{\Aopa/} } @answer ), 0,       '... and the audit rows name it' );
is( metric('svc_policy_engine_total{engine="opa",outcome="answered"}') - $opa, 12,
    '... the metrics count its answers' );
is( metric('svc_policy_give_ups_total{entrypoint="svc/decision/issue"}') - $gave_up, 12,
    '... and what the machine gave up' );
my $told = lines(qr/gave up.*"entrypoint":"svc\/decision\/issue".*"detail":"[^"]+/);
ok( $told >= 1 && $told <= 6, '... the log has the reason once for each worker' ) or diag $told;
like( audited( $stack->token(@crm) )->{engine}, $EMBEDDED, '... other questions are decided in process' );

# ---- bounds and contradictions

my $late = $stack->token(@slow);
oauth_error( $late, 503, 'temporarily_unavailable', 'a rule beyond the bound on statements' );
like( $stack->log_line($late),  qr/more than 20000000 statements/, '... whose reason the operator reads' );
like( audited($late)->{engine}, $EMBEDDED,                         '... and OPA is not asked in its place' );
my $large = $stack->token(@large);
oauth_error( $large, 503, 'temporarily_unavailable', 'a rule beyond the bound on memory' );
like( $stack->log_line($large), qr/more than 67108864 octets/, '... whose reason the operator reads' );
my $both = $stack->token(@twice);
oauth_error( $both, 503, 'temporarily_unavailable', 'a rule with two values, as with OPA' );
like( $stack->log_line($both), qr/evaluation failed/, '... whose reason the operator reads' );
is( $stack->token(@crm)->status, 200, 'other decisions go on' );

# ---- a failure by a revision that decides no longer

# Each worker fails by the rule, and none decides anything by another revision meanwhile.
my $contradicts = force( embedded => <<'END' );
package custom.issue

two := x if {
    some x in [1, 2]
    input.client.id
}

deny contains "two" if two == 3
END
is( $contradicts->status, 200, 'a rule that contradicts itself for every question' ) or diag $contradicts->text;
my %failed = map { ( $stack->token(@crm)->status => 1 ) } 1 .. 24;
is( join( ' ', keys %failed ), '503', '... and each decision fails' );
ok( until_true( sub { ( check_named( readiness(), 'rules' )->{status} // '' ) eq 'DEGRADED' } ),
    '... readiness says so' );
like(
    check_named( readiness(), 'rules' )->{detail},
    qr{contradict themselves for questions to svc/decision/issue}, '... with the questions that are concerned' );
is( deploy( embedded => "package custom.issue\n" )->status, 200, 'the rule is withdrawn' );
my %after = map { ( $stack->token(@crm)->status => 1 ) } 1 .. 24;
is( join( ' ', keys %after ), '200',
    'a worker whose decisions failed decides by the new revision from the answer to the save on' );
ok( until_true( sub { ( check_named( readiness(), 'rules' )->{status} // '' ) eq 'UP' } ), '... readiness is UP' );
is( deploy( embedded => <<'END' )->status, 200, 'a rule whose answers are refused' );
package custom.issue

claims[input.client.id] := "x"

claims.sub := "x" if input.client.id
END
$stack->token(@crm) for 1 .. 24;
is( deploy( embedded => "package custom.issue\n" )->status, 200, '... is withdrawn' );
%after = map { ( $stack->token(@crm)->status => 1 ) } 1 .. 24;
is( join( ' ', keys %after ), '200', '... and no worker keeps it' );

done_testing;

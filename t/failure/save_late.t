# A rule that keeps the engine busy for longer than a save waits is refused, names its file and says how to go on; the policy
# before it stays the one that may decide, readiness tells of an engine that does not come back, and its restart ends that
# (decisions.md "Rules that take too long").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND  = 90;
my @engine = (
    [ 'OPA',        {} ],
    [ 'in process', { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => Authz::Path::opa() } ] );

# Nothing cancels this: OPA makes a text of a number of two thousand million bits.
my $ENDLESS = "package custom.issue\n\ndeny contains \"x\" if bits.lsh(1, 2000000000) < 0\n";

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

sub status_of {
    my ( $answer, $name ) = @_;
    my ($check) = grep { $_->{name} eq $name } @{ $answer->member('checks') // [] };
    return $check->{status} // 'none';
}

sub try_engine {
    my ( $name, $settings ) = @_;
    my $stack    = Authz::Stack->start( settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 20_000, %$settings } );
    my $policy   = Authz::Policy->new($stack);
    my @crm      = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
    my $embedded = keys %$settings > 0;
    ok( !$embedded || $stack->await_plan, "$name: the service is ready" );
    my $quick = $policy->deploy( rules =>
          { 'custom/quick.rego' => "package custom.issue\n\ndeny contains \"y\" if input.client.id == \"none\"\n" } );
    is( $quick->status, 200, "$name: a rule is saved" ) or diag $quick->text;
    my $before = $policy->state->{revision};
    my $answer = $stack->admin(
        POST => '/admin/api/policy-rules',
        json => { path => 'custom/late.rego', kind => 'rego', version => '1', content => $ENDLESS } );
    admin_error(
        $answer, 422,
        "$name: a rule that takes too long is refused",
        error   => 'bundle_not_activated',
        members => {
            error_description =>
              qr{\Acustom/late\.rego: the policy engine gave no answer within 5 s .*; make .*\. .* restart it\z} } );
    is( $policy->state->{acceptable}, $before, "$name: ... the policy before it is the one that may decide" );
    is( $stack->admin( GET => '/admin/api/policy-rules' )->text =~ /late\.rego/ ? 'stored' : 'not stored',
        'not stored', "$name: ... the rule is not stored" );
    my $ready;
    my $told = until_true(
        sub {
            $ready = $stack->http->get('/health/ready');
            return status_of( $ready, 'bundle' ) ne 'UP';
        } );
    ok( $told, "$name: readiness tells that the engine does not take the policy back" ) or diag $ready->text;
    is( $ready->member('status'),    $embedded ? 'DEGRADED' : 'DOWN', "$name: ... as what that means for decisions" );
    is( $stack->token(@crm)->status, $embedded ? 200        : 503, "$name: ... and decides nothing by the candidate" );
    $stack->{opa}->stop('KILL');
    $stack->start_opa;
    is( $policy->agree($BOUND), '', "$name: a restarted engine takes it back" );
    ok( until_true( sub { $stack->token(@crm)->status == 200 } ), "$name: ... and tokens are issued" );
    my $next = $stack->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path    => 'custom/late.rego', kind => 'rego', version => '1',
            content => "package custom.late\n\na := 1\n" } );
    is( $next->status, 201, "$name: ... and rules can be saved" ) or diag $next->text;
    return;
}

try_engine(@$_) for @engine;
done_testing;

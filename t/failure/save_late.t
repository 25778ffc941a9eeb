# A rule that never ends (decisions.md "Rules that take too long"): the save is refused and names its file and line, and nobody
# feels it, because processes that can be ended try it before the engine gets it (policy.md 7.3). Without the program that tries
# rules, one that calls such a builtin is refused for that. If a question that was not tried hangs the engine all the same,
# readiness tells, and names the process; a restart of the engine ends that.
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
my @engine = ( [ 'OPA', { SVC_POLICY_ENGINE => 'opa' } ], [ 'in process', { SVC_POLICY_ENGINE => 'embedded' } ] );

# Nothing cancels this: OPA makes a text of a number of two thousand million bits.
my $ENDLESS = "package custom.issue\n\ndeny contains \"x\" if bits.lsh(1, 2000000000) < 0\n";

sub until_true { my ( $test, $bound ) = @_; return defined Authz::Process::until_true( $bound // $BOUND, $test ) }

sub status_of {
    my ( $answer, $name ) = @_;
    my ($check) = grep { $_->{name} eq $name } @{ $answer->member('checks') // [] };
    return $check->{status} // 'none';
}

# Processor time of a process so far, in seconds.
sub processor_time {
    my ($pid) = @_;
    open my $in, '<', "/proc/$pid/stat" or die "/proc/$pid/stat: $!";
    my @field = split / /, <$in> =~ s/\A.*\) //sr;
    return ( $field[11] + $field[12] ) / 100;
}

sub create {
    my ( $stack, $content, $query ) = @_;
    return $stack->admin(
        POST => '/admin/api/policy-rules' . ( $query // '' ),
        json => { path => 'custom/late.rego', kind => 'rego', version => '1', content => $content } );
}

# Ask for tokens in another process until the save has its answer; return the answer and the statuses that the tokens had.
sub with_tokens {
    my ( $stack, $crm, $save ) = @_;
    pipe my $out, my $in or die "pipe: $!";
    my $child = fork // die "fork: $!";
    if ( !$child ) {
        close $out;
        my %seen;
        my $end = 0;
        local $SIG{TERM} = sub { $end = 1 };
        $seen{
            $stack->client->post(
                '/token', headers => [ Authz::Client::basic(@$crm) ], form => [ grant_type => 'client_credentials' ]
            )->status }++
          while !$end;
        print {$in} join ' ', sort keys %seen;
        close $in;
        require POSIX;
        POSIX::_exit(0);
    }
    close $in;
    my $answer = $save->();
    kill TERM => $child;
    my $seen = <$out>;
    waitpid $child, 0;
    return ( $answer, $seen );
}

sub try_engine {
    my ( $name, $settings ) = @_;
    my $stack    = Authz::Stack->start( settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 20_000, %$settings } );
    my $policy   = Authz::Policy->new($stack);
    my @crm      = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
    my $embedded = $settings->{SVC_POLICY_ENGINE} eq 'embedded';
    ok( !$embedded || $stack->await_plan, "$name: the service is ready" );
    my $quick = $policy->deploy( rules =>
          { 'custom/quick.rego' => "package custom.issue\n\ndeny contains \"y\" if input.client.id == \"none\"\n" } );
    is( $quick->status, 200, "$name: a rule is saved" ) or diag $quick->text;
    my $before = $policy->state->{revision};
    my $used   = processor_time( $stack->{opa}->pid );
    my ( $answer, $seen ) = with_tokens( $stack, \@crm, sub { create( $stack, $ENDLESS ) } );
    admin_error(
        $answer, 422,
        "$name: a rule that never ends is refused",
        error   => 'bundle_not_activated',
        members => {
            error_description =>
              qr{\Acustom/late\.rego:3: Open Policy Agent gives no answer: .*the hooks of custom\.issue},
            overridable => JSON::PP::false() } );
    is( $seen,                        200,     "$name: ... and each token that was asked for meanwhile was issued" );
    is( $policy->state->{acceptable}, $before, "$name: ... the policy before it is the one that may decide" );
    is( $stack->admin( GET => '/admin/api/policy-rules' )->text =~ /late\.rego/ ? 'stored' : 'not stored',
        'not stored', "$name: ... the rule is not stored" );
    is( $stack->http->get('/health/ready')->member('status'), 'UP', "$name: ... readiness is UP" );
    cmp_ok( processor_time( $stack->{opa}->pid ) - $used, '<', 4, "$name: ... and the engine did not get it" );

    admin_error(
        create( $stack, $ENDLESS, '?impactOverride=we%20know' ),
        422,
        "$name: ... whoever asks: the engine would be asked the same",
        error   => 'bundle_not_activated',
        members => { overridable => JSON::PP::false() } );

    # ---- a rule that ends for all questions that were tried

    my @hang = $stack->make_client( 'hang', { grants => ['client_credentials'], scopes => ['a'] } );
    my $ready;
    my $passed = create( $stack, $ENDLESS =~ s/ if (.*)/ if { input.client.id == "hang"; $1 }/r );
    is( $passed->status, 201, "$name: a rule that ends for all questions that were tried" ) or diag $passed->text;
    is( $stack->token(@hang)->status, 503, "$name: ... does not end for another one" );

    # OPA takes no policy in while an evaluation runs, and answers nothing while a policy waits.
    my $after = $policy->deploy( rules => { 'custom/quick.rego' => "package custom.other\n\na := 1\n" } );
    is( $after->status, 422, "$name: ... then the engine takes no other policy in" ) or diag $after->text;
    my $told = until_true( sub { ( $ready = $stack->http->get('/health/ready') )->member('status') ne 'UP' } );
    ok( $told, "$name: ... readiness tells that the engine does not answer" ) or diag $ready->text;
    is( $ready->member('status'),    $embedded ? 'DEGRADED' : 'DOWN', "$name: ... as what that means for decisions" );
    is( $stack->token(@crm)->status, $embedded ? 200        : 503,    "$name: ... which other decisions feel as well" );
    $stack->{opa}->stop('KILL');
    $stack->start_opa;
    is( $policy->agree($BOUND), '', "$name: a restarted engine has the policy" );
    ok( until_true( sub { $stack->token(@crm)->status == 200 } ), "$name: ... and tokens are issued" );
    my $next = $policy->deploy( rules => { 'custom/late.rego' => "package custom.late\n\na := 1\n" } );
    is( $next->status, 200, "$name: ... and rules can be saved" ) or diag $next->text;
    return;
}

try_engine(@$_) for @engine;

# ---- without the program

my $stack   = Authz::Stack->start( settings => { SVC_OPA_BINARY => '/nonexistent/opa' } );
my @crm     = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
my $untried = qr{SVC_OPA_BINARY};
admin_error(
    create( $stack, $ENDLESS ),
    422,
    'without the program that tries rules: one that calls a builtin which cannot be cancelled is refused',
    error   => 'bundle_not_activated',
    members => { error_description => qr{\Acustom/late\.rego:3: bits\.lsh: .* cannot be tried: .*$untried} } );
is( $stack->token(@crm)->status, 200, '... and decisions go on' );
my $other = create( $stack, "package custom.issue\n\ndeny contains \"y\" if input.client.id == \"none\"\n" );
is( $other->status, 201, '... any other is saved' ) or diag $other->text;
like( $other->header('X-Policy-Warning') // '', qr{was not tried .*$untried}, '... with a warning' );

# ---- with a program that does not take the policy in

# The machine leaves questions of this rule to OPA.
my $LEFT = "package custom.issue\n\ndeny contains \"z\" if { trace(input.client.id); input.client.id == \"none\" }\n";

# Write the program: an OPA that ends as said when it is started with a bundle that has a text.
sub end_with {
    my ( $path, $text, $end ) = @_;
    my $real = Authz::Path::opa();
    open my $out, '>', $path or die "$path: $!";
    print {$out} <<"END";
#!/bin/sh
PATH=/usr/bin:/bin
if test "\$1" = run && tar -xzOf bundle.tar.gz | grep -q '$text'; then $end; fi
exec '$real' "\$@"
END
    close $out or die "$path: $!";
    chmod 0755, $path or die "$path: $!";
    return;
}

my $program = Authz::Process::directory() . '/opa-ends';
my $crash   = 'echo "fatal error: runtime: out of memory" >&2; exit 2';
end_with( $program, 'trace(', $crash );
$stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => $program } );
@crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
for my $case ( [ 'a limit ends', 'kill -s XCPU $$' ], [ 'ends without memory', $crash ] ) {
    end_with( $program, 'trace(', $case->[1] );
    admin_error(
        create( $stack, $LEFT ),
        422,
        "a policy with which OPA $case->[0], and the one before not, is refused (policy.md 7.3 T4)",
        error   => 'bundle_not_activated',
        members => { error_description => qr{Open Policy Agent takes too much time or memory.*sample question} } );
    is( $stack->token(@crm)->status, 200, '... and decisions go on' );
}
for my $case ( [ 'it runs with no policy', '.', 'exit 1' ], [ 'the policy before ends it, too', '.', $crash ] ) {
    end_with( $program, @$case[ 1, 2 ] );
    my $saved = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path?path=custom/late.rego',
        json => { path => 'custom/late.rego', kind => 'rego', version => '1', content => "$LEFT# $case->[0]\n" } );
    like( $saved->status, qr/\A20[01]\z/, "if $case->[0], a policy is saved" ) or diag $saved->text;
    like( $saved->header('X-Policy-Warning') // '', qr{was not tried .*Open Policy Agent}, '... with a warning' );
}
done_testing;

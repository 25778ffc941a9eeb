#!/usr/bin/perl
# The default engine on a new instance (decisions.md "The default engine"): the service decides by the plan that db migrate made. Until
# there is a plan, and where it cannot be loaded, OPA decides; without OPA nobody does. SVC_POLICY_ENGINE=opa keeps OPA.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

local $ENV{AUTHZ_TEST_ENGINE};
delete $ENV{AUTHZ_TEST_ENGINE};

my $serial = 0;

# A new instance, without settings of the engine, whose plan is changed by `sql` before its first start.
sub instance {
    my ( $sql, %option ) = @_;
    my $postgres = Authz::Postgres->shared_or_new;
    my $database = $postgres->database;
    $postgres->sql( $sql, $database ) if defined $sql;
    my $stack = Authz::Stack->start( database => $database, postgres => $postgres, not_ready => 1, %option );
    $stack->await_ready;
    return $stack;
}

# A client that may have tokens.
sub client {
    my ($stack) = @_;
    return $stack->make_client( 'crm' . ++$serial, { grants => ['client_credentials'], scopes => ['a'] } );
}

# Let a client have tokens: who decided, each engine once.
sub decided_by {
    my ( $stack, @client ) = @_;
    for ( 1 .. 6 ) {
        my $answer = $stack->token( @client, scope => 'a' );
        return $answer->text if $answer->status != 200;
    }
    my $rows = $stack->admin( GET => '/admin/api/audit-logs?size=6&endpoint=/token' )->json->{content};
    my @row  = map { $stack->admin( GET => "/admin/api/audit-logs/$_->{id}" )->json } @$rows;
    my %engine;
    $engine{ $_->{policyDecision}{engine} =~ s{/.*}{}r }++ for @row;
    return join ' ', sort keys %engine;
}

# The check `plan` of readiness: its status and detail.
sub plan_check {
    my ($stack) = @_;
    my ($check) = grep { $_->{name} eq 'plan' } @{ $stack->http->get('/health/ready')->member('checks') };
    return $check // { status => 'none' };
}

# Decisions while there is no plan that can be loaded.
sub without_plan {
    my ( $stack, $client, $name, $why ) = @_;
    is( decided_by( $stack, @$client ), 'opa', "$name: OPA decides" );
    my $check = plan_check($stack);
    is( $check->{status}, 'DEGRADED', '... which readiness tells' );
    like( $check->{detail}, $why, '... with the reason' );
    $stack->{opa}->signal('STOP');
    is( $stack->token( @$client, scope => 'a' )->status, 503, '... and without OPA there is no token' );
    $stack->{opa}->signal('CONT');
    return;
}

# ---- as it is installed

my $stack = instance();
ok( $stack->await_plan, 'db migrate has made the plan of the shipped policy' );
my @crm = client($stack);
is( decided_by( $stack, @crm ), 'embedded', '... by which a new instance decides from its first client on' );
my $rule = $stack->admin(
    PUT  => '/admin/api/policy-rules/by-path',
    json => {
        path    => 'custom/first.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
        content => qq(package custom.issue\n\ndeny contains "not_now" if input.client.id == "late"\n) } );
is( $rule->status,                        201,         'the first rule is saved' ) or diag $rule->text;
is( $rule->header('X-Policy-Activation'), 'confirmed', '... after OPA has confirmed it' );
my @late = $stack->make_client( 'late', { grants => ['client_credentials'], scopes => ['a'] } );
is( $stack->token( @late, scope => 'a' )->status, 400,        '... decides at once' );
is( decided_by( $stack, @crm ),                   'embedded', '... in process' );

# ---- a plan that cannot be loaded

$stack->sql(q{UPDATE policy_plan SET plan = '\x00'});
$stack->restart_service;
without_plan( $stack, \@crm, 'a damaged plan', qr/what is stored of it is damaged|the stored plan was damaged/ );

# ---- a policy that has no plan

my $opa = Authz::Process::directory() . '/opa';
open my $out, '>', $opa or die "$opa: $!";
print {$out} "#!/bin/sh\necho 'not now' >&2\nexit 1\n" or die "$opa: $!";
close $out                                             or die "$opa: $!";
chmod 0755, $opa or die "$opa: $!";
my $bare = instance( 'DELETE FROM policy_plan', settings => { SVC_OPA_BINARY => $opa } );
my @bare = client($bare);
without_plan( $bare, \@bare, 'no plan', qr/no plan is stored|opa build/ );
unlink $opa or die "$opa: $!";
symlink Authz::Path::opa(), $opa or die "$opa: $!";
ok( defined Authz::Process::until_true( 60, sub { $bare->authzctl('maintain'); plan_check($bare)->{status} eq 'UP' } ),
    '... until the upkeep has made the plan' );

# A worker that found no plan a moment before looks again a second later.
ok( defined Authz::Process::until_true( 10, sub { decided_by( $bare, @bare ) eq 'embedded' } ),
    '... by which each worker decides then' );

# ---- OPA each time

my $asked = instance( undef, settings => { SVC_POLICY_ENGINE => 'opa' } );
is( decided_by( $asked, client($asked) ), 'opa',  'SVC_POLICY_ENGINE=opa: OPA decides, although there is a plan' );
is( plan_check($asked)->{status},         'none', '... and readiness has no check of plans' );
done_testing;

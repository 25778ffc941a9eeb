# A save of which a step is slow, as on a busy host: the session that holds the save lock is kept from falling silent and the save
# stands. A process that hangs in such a step loses the lock (policy.md 2.4, step 1).
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

# Seconds: PostgreSQL ends a session that holds the lock and is silent for 10 s and SVC_BUNDLE_CONFIRM_POLL_MS; one answer of the
# engine is awaited for 5 s, and opa build for 30 s.
my ( $BUILD, $ANSWER ) = ( 13, 4 );

my $opa = Authz::Process::directory() . '/opa';

sub program {
    my ($seconds) = @_;
    open my $out, '>', "$opa.new" or die "$opa: $!";
    printf {$out} "#!/bin/sh\nsleep %d\nexec '%s' \"\$@\"\n", $seconds, Authz::Path::opa();
    close $out or die "$opa: $!";
    chmod 0755, "$opa.new" or die "$opa: $!";
    rename "$opa.new", $opa or die "$opa: $!";
    return;
}

sub rule { my ( $name, $text ) = @_; return { "custom/$name.rego" => "package custom.$name\n\nv := $text\n" } }

sub saves {
    my ( $policy, $rules, $least, $name ) = @_;
    my $start  = time;
    my $answer = $policy->deploy( rules => $rules );
    admin_ok( $answer, 200, { activation => 'confirmed' }, "$name: the save stands" );
    cmp_ok( time - $start, '>=', $least, "$name: ... and was as slow as that" );
    unlike( $answer->text, qr/decides by this policy/, "$name: ... with its plan" );
    is( $policy->agree($BOUND), '', "$name: ... and rows, bundle and engine agree" );
    return;
}

# ---- the engine answers slowly what types the hooks have

my $asked = Authz::Stack->start( fake_opa => 1 );
$asked->fake->tell( delay => $ANSWER, at => '/v1/query' );
saves( Authz::Policy->new($asked), rule( slow => 1 ), 2 * $ANSWER, 'each of two questions about hooks takes 4 s' );

# ---- opa build

program(0);
my $stack  = Authz::Stack->start( settings => { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => $opa } );
my $policy = Authz::Policy->new($stack);
ok( $stack->await_plan, 'opa build: the service is ready' );
program($BUILD);
saves( $policy, rule( slow => 1 ), $BUILD, 'opa build takes longer than a session may be silent' );

my $socket = $stack->client->_connect or die "connect: $!\n";
syswrite $socket, $policy->deploy_octets( rules => rule( hangs => 1 ) );
my $waits =
  sub { $stack->sql(q{SELECT count(*) FROM bundle WHERE status = 'pending' AND fetched_ms IS NOT NULL}) eq '1' };
ok( defined Authz::Process::until_true( $BOUND, $waits ),
    'a saver hangs while opa build runs: its candidate is published' );
my @saver = $stack->busy('web');
kill 'STOP', @saver;
program(0);
my $start = time;
admin_ok( $policy->deploy( rules => rule( other => 1 ) ), 200, undef, 'a saver hangs: another save goes through' );
cmp_ok( time - $start, '<', 25, 'a saver hangs: ... before it has waited for the lock as long as a save does' );
kill 'CONT', @saver;
isnt(
    Authz::Client::_exchange( $socket, '', 'POST', $BOUND )->status,
    200, 'a saver hangs: when it goes on, its caller is not told that it is done' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/hangs.rego'}),
    0, 'a saver hangs: ... and its change is not there' );
is( $policy->agree($BOUND), '', 'a saver hangs: rows, bundle and engine agree' );

done_testing;

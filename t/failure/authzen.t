# AuthZEN without a decision: the engine away, slow or lying, or a revision that may not decide, is 500 and never a permit
# (decisions.md "Engine down, slow or answering nonsense"; policy.md 6.2 "C rules").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( fake_opa => 1, workers => 1 );
my $json  = JSON::PP->new->utf8->canonical;
my @pep   = $stack->make_client( 'pep', { endpoints => ['authzen'] } );
my ( $one, $many ) = qw(/access/v1/evaluation /access/v1/evaluations);
my $revision = $stack->sql('SELECT acceptable[1] FROM bundle_state');
my $good     = {
    subject  => { type => 'user', id => 'alice' }, action => { name => 'read' },
    resource => { type => 'todo', id => 't1' } };

sub ask {
    my ( $path, $body, @header ) = @_;
    return $stack->http->post( $path, headers => [ Authz::Client::basic(@pep), @header ], json => $body );
}
sub ask_batch { my (@header) = @_; return ask( $many, { evaluations => [ $good, $good ] }, @header ) }

# The text of an answer of the engine.
sub result {
    my ($result) = @_;
    return $json->encode( { provenance => { bundles => { svc => { revision => $revision } } }, result => $result } );
}

# Answers with a result; undef: without one.
sub lie { my ($result) = @_; $stack->fake->tell( text => result($result), status => 200 ); return }

# The error has no members beside its own, so it has no decision.
sub refused {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_error( $answer, 500, 'server_error', $name );
}

lie( { allow => true } );
oauth_ok( ask( $one, $good ), { decision => true }, 'the honest answer is a permit' );
for my $case (
    [ 'allow is a text',         { allow => 'true' } ],
    [ 'allow is a number',       { allow => 1 } ],
    [ 'allow is absent',         {} ],
    [ 'the result is no object', [true] ],
    [ 'the result is true',      true ],
    [ 'context is a text',       { allow => true,  context      => 'x' } ],
    [ 'context is an array',     { allow => true,  context      => [] } ],
    [ 'reasons are an object',   { allow => false, deny_reasons => {} } ],
    [ 'a reason has no code',    { allow => false, deny_reasons => [ {} ] } ],
  )
{
    my ( $what, $result ) = @$case;
    lie($result);
    refused( ask( $one, $good ), "$what: 500" );
    lie( { allow => true, evaluations => [ { allow => true }, $result ] } );
    refused( ask_batch(), "$what, in a batch: 500" );
}
for my $case (
    [ 'evaluations are absent',             { allow => true } ],
    [ 'evaluations are an object',          { allow => true, evaluations => {} } ],
    [ 'a decision is missing',              { allow => true, evaluations => [ { allow => true } ] } ],
    [ 'there is a decision too many',       { allow => true, evaluations => [ ( { allow => true } ) x 3 ] } ],
    [ 'a decision is null',                 { allow => true, evaluations => [ { allow => true }, undef ] } ],
    [ 'the answer is that of a single one', { allow => true, context     => {} } ],
  )
{
    lie( $case->[1] );
    refused( ask_batch(), "$case->[0]: 500" );
}
lie( { allow => false, evaluations => [ ( { allow => true } ) x 2 ] } );
oauth_error( ask_batch(), 403, 'access_denied', 'a batch whose caller may not ask shows no decision' );

# One call of the engine for all evaluations of a request (performance.md 3.6).
$stack->fake->tell('pass');
my $asked = $stack->fake->asked;
oauth_ok( ask( $many, { evaluations => [ ($good) x 20 ] } ), {}, 'a batch of 20' );
is( $stack->fake->asked - $asked, 1, '... is one call of the engine' );

# ---- transport

$stack->fake->tell( text => '{}', status => 200 );
refused( ask( $one, $good ), 'an undefined decision: 500' );
$stack->fake->tell( text => '{"code":"internal_error","message":"x"}', status => 500 );
refused( ask( $one, $good ), 'an engine that fails: 500' );
$stack->fake->tell('close');
refused( ask( $one, $good, 'X-Request-ID' => 'gone' ), 'an engine that is away: 500' );
refused( ask_batch(),                                  'an engine that is away, in a batch: 500' );
my $before = time;
$stack->fake->tell( delay => 10 );
refused( ask( $one, $good ), 'a slow engine: 500' );
cmp_ok( time - $before, '<', 8 * ( $ENV{AUTHZ_PATIENCE} // 1 ), '... after SVC_POLICY_TIMEOUT_MS' );
$stack->fake->tell( set => { 'provenance.bundles.svc.revision' => 'refused0' } );
refused( ask( $one, $good ), 'a revision that may not decide: 500' );

# A request without a decision has its row, with the question and the error.
my ( $status, $outcome, $input, $decision );
for ( 1 .. 200 ) {
    ( $status, $outcome, $input, $decision ) = split /\t/,
      $stack->sql(
        q{SELECT http_status, outcome, encode(policy_input, 'hex'), encode(policy_decision, 'hex') FROM audit_log WHERE request_id = 'gone'}
      );
    last if defined $decision;
    sleep 0.02;
}
is( "$status $outcome", '500 error', 'the audit row says error (decisions.md "Audited")' );
is_deeply( decode_packed($input)->{authzen}, $good, '... with the question' );
my $stored = decode_packed($decision);
ok( exists $stored->{error} && !exists $stored->{allow}, '... and the error in place of a decision (policy.md 6.6)' );
lie( { allow => true, evaluations => [ { allow => true } ] } );
ask_batch( 'X-Request-ID' => 'short' );
my $kept;

for ( 1 .. 200 ) {
    $kept = $stack->sql(q{SELECT encode(policy_decision, 'hex') FROM audit_log WHERE request_id = 'short'});
    last if $kept ne '';
    sleep 0.02;
}
is_deeply(
    [ sort grep { !/\A(?:engine|eval_us|revision)\z/ } keys %{ decode_packed($kept) } ], [qw(deny_reasons error)],
    'nothing of a refused answer is kept that a reader could take for a decision' );
is( join( ' ', map { $_->{code} } @{ decode_packed($kept)->{deny_reasons} } ),
    'output_invalid', '... and its reason is that of the control system (policy.md 6.4)' );
$stack->fake->tell('pass');
oauth_ok( ask( $one, $good ), { decision => false }, 'when the engine is back, it decides' );

done_testing;

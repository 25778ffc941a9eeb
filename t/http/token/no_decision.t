#!/usr/bin/perl
# Without a decision of policy the log line, the audit row and the metrics say why, with a code of the control system; the caller
# learns nothing of it (policy.md 6.4 and 6.6; decisions.md "Engine down, slow or answering nonsense").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

# On the real engine; beside it an instance whose engine misbehaves as the test says.
my $stack = Authz::Stack->start;
my $lied =
  Authz::Stack->start( beside => $stack, fake_opa => 1, workers => 1, settings => { SVC_POLICY_TIMEOUT_MS => 500 } );
my $json  = JSON::PP->new->utf8->canonical;
my @crm   = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints => [ 'introspect', 'authzen' ] } );
my $token = $stack->token_text( @crm, scope => 'orders.read' );

my $access = {
    subject  => { type => 'user', id => 'alice' },
    action   => { name => 'read' },
    resource => { type => 'todo', id => 't1' } };
my @basic = ( headers => [ Authz::Client::basic(@rs) ] );
my %ask   = (
    '/token'      => sub { return $lied->token( @crm, scope => 'orders.read' ) },
    '/introspect' => sub { return $lied->introspect( @rs, $token ) },
    '/register'   =>
      sub { return $lied->http->post( '/register', json => { redirect_uris => ['https://a.example/b'] } ) },
    '/access/v1/evaluation'  => sub { return $lied->http->post( '/access/v1/evaluation', json => $access, @basic ) },
    '/access/v1/evaluations' => sub {
        return $lied->http->post( '/access/v1/evaluations', json => { evaluations => [ $access, $access ] }, @basic );
    },
);
my @routes = sort keys %ask;

my $catalogue = $stack->admin( GET => '/admin/api/controls/system' )->json;
my %listed    = map { $_->{code} => $_ } @{ $catalogue->{reasons} };

# The stored row of an answer, with its documents; it may be written after the answer.
sub stored {
    my ($answer) = @_;
    my ( $id, $row ) = $answer->header('X-Request-ID');
    Authz::Process::until_true(
        30,
        sub {
            my $page = $stack->admin( GET => "/admin/api/audit-logs?requestId=$id" )->json;
            $row = $page->{content}[0];
        } );
    return $stack->admin( GET => "/admin/api/audit-logs/$row->{id}" )->json;
}

# The questions that count as errors of category system, by evaluation.
sub errors {
    my $page = $lied->http->get('/metrics')->body;
    return { $page =~ /^svc_decisions_total\{evaluation="(\w+)",outcome="error",reason_category="system"\} (\d+)$/mg };
}

# Those that were answered by a decision.
sub decided {
    my ( $page, $sum ) = ( $lied->http->get('/metrics')->body, 0 );
    $sum += $1 while $page =~ /^svc_decisions_total\{[^}]*outcome="(?:allowed|denied)"[^}]*\} (\d+)$/mg;
    return $sum;
}

# The member `evaluation` of the question of a route, and the errors that were counted so far.
my %evaluation = (
    '/token'                 => 'issue', '/introspect' => 'introspect', '/register' => 'register',
    '/access/v1/evaluation'  => 'authzen',
    '/access/v1/evaluations' => 'authzen_batch' );
my %failed;

# An order for the engine, and what must be told.
sub told {
    my ( $name, $code, $routes, @order ) = @_;
    $lied->fake->tell(@order);
    for my $route (@$routes) {
        my $answer = $ask{$route}->();
        my $status = $route =~ /access/ ? 500 : 503;
        is( $answer->status, $status, "$name: $route answers $status" );
        unlike( $answer->body, qr/$code|policy engine/, '... and the caller does not learn the reason' );
        my $line = $json->decode( $lied->log_line($answer) );
        is( $line->{deny_codes}, $code,   "... the log line has $code" ) or diag explain $line;
        is( $line->{outcome},    'error', '... and the outcome error' );
        my $row = stored($answer);
        is( $row->{requestSummary}{denyCodes}, $code, '... so has the summary of the audit row' ) or diag explain $row;
        is_deeply(
            $row->{policyDecision}{deny_reasons}, [ { %{ $listed{$code} // {} }, control => 'system' } ],
            '... and its policy decision has the reason as the catalogue describes it'
        ) or diag explain $row->{policyDecision};
        ok( !exists $row->{policyDecision}{allow} && length $row->{policyDecision}{error},
            '... which is no decision, and says in words what happened' );
    }
    $failed{ $evaluation{$_} }++ for @$routes;
    is_deeply( errors(), \%failed, "$name: each question is one error in the metrics" );
    is( decided(), 0, '... and no decision' );
    $lied->fake->tell('pass');
    return;
}

my $revision = $stack->sql('SELECT acceptable[1] FROM bundle_state');

sub answer {
    my ( $of, @result ) = @_;
    return ( text => $json->encode( { provenance => { bundles => { svc => { revision => $of } } }, @result } ) );
}

is_deeply( errors(), {}, 'no question has failed yet' );
told( 'the connection ends without an answer', 'engine_unreachable', \@routes,   'close' );
told( 'the engine is too slow',                'engine_unreachable', ['/token'], 'hold' );
told( 'the answer is cut in the middle',       'engine_unreachable', ['/token'], truncate => 20 );
told( 'the entrypoint is undefined',           'policy_undefined',   \@routes,   answer($revision) );
told( 'the engine has no bundle',              'policy_undefined',   \@routes,   text => '{}' );
told( 'allow is a text',         'output_invalid', \@routes,   answer( $revision, result => { allow => 'true' } ) );
told( 'the engine answers 500',  'output_invalid', \@routes,   text => '{}', status => 500 );
told( 'the answer is not JSON',  'output_invalid', ['/token'], text => 'no' );
told( 'the answer is not HTTP',  'output_invalid', ['/token'], raw  => "+PONG\r\n\r\n" );
told( 'the answer is too large', 'output_invalid', ['/token'], text => '{}', pad => 1_000_000 );
told(
    'the answer widens the request', 'output_invalid', ['/token'],
    answer( $revision, result => { allow => JSON::PP::true(), scopes => ['orders.write'] } ) );
told(
    'a batch without decisions', 'output_invalid', ['/access/v1/evaluations'],
    answer( $revision, result => { allow => JSON::PP::true(), evaluations => [] } ) );
told(
    'no grant types', 'output_invalid', ['/register'],
    answer( $revision, result => { allow => JSON::PP::true(), grant_types => 'all' } ) );

# A revision that may not decide: the answer stays in the row, with the reason after its own.
$lied->fake->tell(
    answer(
        'f' x 32,
        result => {
            allow        => JSON::PP::false(),
            deny_reasons => [ { code => 'scope_not_entitled', category => 'scope', control => 'entitlements' } ] } ) );
for my $route ( '/token', '/introspect' ) {
    my $answer = $ask{$route}->();
    is( $answer->status, 503, "a revision that may not decide: $route answers 503" );
    my $row = stored($answer);
    is( $row->{requestSummary}{denyCodes}, 'scope_not_entitled output_invalid', '... and the row says why' )
      or diag explain $row;
    is( $row->{outcome}, 'error', '... with the outcome error' );
    $failed{ $evaluation{$route} }++;
    is_deeply( errors(), \%failed, '... which the metrics have once, although the engine was asked again and again' );
    is( decided(), 0, '... and not as a denial' );
}
$lied->fake->tell('pass');

# A denial and an ordinary answer have none of these codes.
my $denied = $lied->token( @crm, scope => 'orders.write' );
is( $json->decode( $lied->log_line($denied) )->{deny_codes}, 'scope_not_entitled', 'a denial has its own code alone' );
my $good = $ask{'/token'}->();
is( $good->status, 200, 'the engine is back: 200' );
is( decided(),     2,   '... and the denial and this are decisions in the metrics' );
ok( !exists $json->decode( $lied->log_line($good) )->{deny_codes}, '... and no code' );

done_testing;

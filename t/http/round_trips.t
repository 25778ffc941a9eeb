# Round trips to PostgreSQL per request, counted on the wire (performance.md 3.6; architecture.md 4). A trip is a Sync or simple
# Query message of the client, whether or not the answer is waited for. Warm: the worker has prepared its statements and cached
# the client. Cold: the first request of a worker, which may cost more.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

plan skip_all => 'a conflict costs a trip' if ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'strict';
my $stack = Authz::Stack->start( pg_proxy => 1, workers => 1 );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { %cc, scopes => ['introspection'], endpoints => ['introspect'] } );
my $proxy = $stack->proxy;

sub trips { return $proxy->request_trips(@_) }

# The trips of one request once the worker is warm.
sub warm {
    my ( $code, $what, $most, $name ) = @_;
    $code->() for 1 .. 3;
    my @trip = trips($code);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( @trip <= $most && @trip > 0, $name ) or diag( "$what took " . @trip . " trips:", map {"\n  $_"} @trip );
    note( "$what: ", join ' | ', @trip );
    return;
}

my $indicated = 'https://api.example/orders';
my @typed     = $stack->make_client( 'typed', { %cc, resource_types => [ 'urn:r:orders', 'urn:r:more' ] } );

# The registry with the type's indicator; the policy is active when this returns.
sub register {
    my (%indicator) = @_;
    my %type = map { $_ => { scopes => ['orders.read'], indicator => $indicator{$_} } } keys %indicator;
    return $stack->patch_row( 'svc.registry.resource_types', { resource => { types => \%type } } );
}
register( 'urn:r:orders' => $indicated, 'urn:r:more' => $indicated );
my $token  = $stack->token_text( @crm, scope => 'orders.read' );
my $bearer = $stack->token_text( @rs,  scope => 'introspection' );
warm(
    sub { oauth_ok( $stack->token( @crm, scope => 'orders.read' ), {}, 'a token is issued' ) }, '/token', 1,
    '/token: one trip for client_credentials, token and audit row together' );
warm(
    sub { oauth_error( $stack->token( @crm, scope => 'no' ), 400, 'invalid_scope', 'a token is denied' ) },
    '/token denied', 1, '/token: one trip for a denial and its audit row' );
my $typed = sub {
    oauth_ok(
        $stack->token( @typed, scope => 'orders.read', resource => $indicated ), {},
        'a token for a resource is issued' );
};
warm(
    $typed, '/token with resource=', 1,
    "/token: one trip when the resource is the indicator of types, however many: the registry's row is kept (policy.md 6.4)"
);

# A change of the registry is followed at once: the row is read again, once, and what it no longer ties is not granted.
register( 'urn:r:orders' => $indicated, 'urn:r:more' => 'https://api.example/more' );
my @changed = trips($typed);
is( scalar @changed, $stack->decides_in_process ? 5 : 2,
    '/token: the first answer of another revision reads the registry again, and in process the plan, and decides again'
) or diag("@changed");
warm( $typed, '/token with resource= after a change', 1, '/token: ... and the next do not' );
register( 'urn:r:orders' => 'https://api.example/elsewhere' );
oauth_error(
    $stack->token( @typed, scope => 'orders.read', resource => $indicated ), 400, 'invalid_target',
    '/token: an indicator that was taken away names nothing any more' );
register( 'urn:r:orders' => $indicated );
$typed->();
my $discovery = sub { $stack->http->get('/.well-known/openid-configuration') };
warm(
    $discovery, 'discovery', 2,
    'discovery: two trips: the registry, and the providers, for prompt=create (world.md F5)' );
warm(
    sub { oauth_ok( $stack->introspect( @rs, $token ), { active => true }, 'a token is introspected' ) },
    '/introspect', 2, '/introspect: at most two trips: the read, and the audit row' );
warm(
    sub { inactive( $stack->introspect( @rs, 'garbage' ), 'garbage is introspected' ) }, '/introspect garbage', 2,
    '/introspect: at most two trips for garbage' );
warm(
    sub {
        oauth_ok(
            $stack->http->post(
                '/introspect', headers => [ Authz::Client::bearer($bearer) ], form => [ token => $token ] ),
            { active => true },
            'a Bearer introspects' );
    },
    '/introspect Bearer',
    2,
    '/introspect: at most two trips with a Bearer token as credential' );
warm(
    sub {
        oauth_error(
            $stack->http->post( '/introspect', headers => [ Authz::Client::bearer($bearer) ], form => [ x => 1 ] ),
            400, 'invalid_request', 'a Bearer asks nothing' );
    },
    '/introspect Bearer, bad body',
    2,
    '/introspect: at most two trips for a bad body: the caller, and the audit row' );
my @pep   = $stack->make_client( 'pep', { %cc, scopes => ['authzen'], endpoints => ['authzen'] } );
my @shown = ( Authz::Client::bearer( $stack->token_text( @pep, scope => 'authzen' ) ) );
my %asked = (
    subject  => { type => 'user', id => 'a' }, action => { name => 'read' },
    resource => { type => 'todo', id => 't' } );
for my $how ( [ 'Basic', Authz::Client::basic(@pep) ], [ 'Bearer', @shown ] ) {
    my ( $what, @header ) = @$how;
    warm(
        sub {
            oauth_ok(
                $stack->http->post( '/access/v1/evaluation', headers => \@header, json => \%asked ),
                { decision => false }, "an access decision with $what" );
        },
        "/access/v1/evaluation with $what",
        2,
        "/access/v1/evaluation: at most two trips with $what: the read, and the audit row (performance.md 3.6)" );
    warm(
        sub {
            my @batch = ( \%asked ) x 20;
            is( scalar @{
                    $stack->http->post(
                        '/access/v1/evaluations', headers => \@header, json => { evaluations => \@batch }
                    )->member('evaluations') },
                20,
                "20 access decisions with $what" );
        },
        "/access/v1/evaluations with $what",
        2,
        "/access/v1/evaluations: at most two trips for 20 decisions with $what" );
}
my @jit = map { $stack->token_text( @once, scope => 'orders.read' ) } 1 .. 4;
warm(
    sub { oauth_ok( $stack->introspect( @rs, shift @jit ), { active => true }, 'a single-use token is consumed' ) },
    '/introspect single use', 2,
    '/introspect: at most two trips when a single-use token is consumed' );
my @kill = map { $stack->token_text(@crm) } 1 .. 4;
warm(
    sub { is( $stack->revoke( @crm, token => shift @kill )->status, 200, 'a token is revoked' ) }, '/revoke', 1,
    '/revoke: one trip' );

# UMA and delegation: the token is looked up as at introspection, and a write and its audit row are one trip.
my $owner = $stack->token_text(
    $stack->make_client( 'drive', { %cc, scopes => [qw(uma_protection delegation_management)] } ),
    scope => 'uma_protection delegation_management' );
my $call = sub {
    my ( $method, $path, $body, $status ) = @_;
    my $answer = $stack->http->request(
        $method, $path,
        headers => [ Authz::Client::bearer($owner) ],
        $body ? ( json => $body ) : () );
    is( $answer->status, $status, "$method $path" ) or diag( $answer->text );
    return $answer;
};
my $thing = $call->( POST => '/resource_registration/resource', { resource_scopes => ['view'] }, 201 )->member('_id');
my $permitted = { resource_id  => $thing, resource_scopes => ['view'] };
my $delegated = { grantee_type => 'subject', grantee_subject_id => 'bob', resource_id => $thing };
warm(
    sub { $call->( POST => '/resource_registration/resource', {}, 201 ) }, 'registration', 2,
    'UMA: two trips to register' );
warm( sub { $call->( POST => '/permission', $permitted, 201 ) }, '/permission', 2, 'UMA: two trips for a ticket' );
warm(
    sub { $call->( POST => '/delegation', $delegated, 201 ) }, '/delegation', 2,
    'delegation: two trips for a new one' );
warm(
    sub { $call->( GET => "/resource_registration/resource/$thing", undef, 200 ) }, 'reading a resource', 3,
    'UMA: three trips to read: the token, the resource, and the audit row, which the answer does not wait for' );
$call->(
    POST => '/delegation',
    {   %$delegated, grantee_type => 'client', grantee_subject_id => undef,
        grantee_client_id => $stack->sql(q{SELECT id FROM client WHERE client_id = 'crm'}) },
    201 );
warm(
    sub {
        oauth_ok( $stack->introspect( @rs, $token ), { active => true }, 'a token with delegations is introspected' );
    },
    '/introspect with delegations',
    2,
    '/introspect: no trip more with delegations (policy.md 6.5)' );
my @none = trips( sub { is( $stack->http->get('/health/live')->status, 200, 'liveness' ) } );
is( scalar @none, 0, '/health/live: no trip' ) or diag("@none");

# Cold: a fresh worker, the client not in its cache.
$stack->restart_service;
my @cold =
  trips( sub { oauth_ok( $stack->token( @crm, scope => 'orders.read' ), {}, 'the first token of a worker' ) } );
ok( @cold >= 1, 'cold: counted' );
note( 'cold /token: ', join ' | ', @cold );

done_testing;

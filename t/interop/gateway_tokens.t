# The gateway as a client of npm `oidc-provider`: private_key_jwt with each algorithm (RFC 7523 3), client_credentials, and token
# exchange (RFC 8693), where that server introspects the subject token here with `oauth4webapi` (gateway-admin.md 3.3).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Grant   ();
use Authz::Interop ();
use Authz::Jwt     ();
use Authz::Managed ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();
my $stack  = Authz::Stack->start( gateway => 1, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
my $port   = Authz::Web::free_port();
my $issuer = "http://127.0.0.1:$port";
my $urn    = 'urn:ietf:params:oauth:grant-type:token-exchange';
my @judge  = $stack->make_client( 'upstream-as', { endpoints => ['introspect'], resources => [$issuer] } );
my @app    = $stack->make_client(
    'app',
    { grants => [ 'authorization_code', $urn ], scopes => ['use'], resources => [ 'urn:svc:gateway', $issuer ] } );
Authz::Grant->people( $stack, subject => $_ ) for qw(alice bob);
my %key    = map { $_ => Authz::Jwt->key( $_, kid => "k-$_" ) } qw(RS256 PS256 ES256 EdDSA);
my $server = Authz::Interop::serve(
    'exchange_server',
    PORT             => $port, ISSUER => $stack->base, CLIENT_ID => $judge[0], CLIENT_SECRET => $judge[1],
    NODE_NO_WARNINGS => 1,
    CLIENTS          => JSON::PP::encode_json(
        [ map { { id => "gw-$_", alg => $_, jwks => Authz::Jwt::set( $key{$_} ) } } sort keys %key ] ) );
my $gate = Authz::Managed->new($stack);

sub behind {
    my ( $name, $alg, %auth ) = @_;
    open my $in, '<', $key{ $auth{by} // $alg }->file or die 'key';
    my $pem = join '', readline $in;
    delete $auth{by};
    $gate->resource(
        $name,
        upstreamUrl  => $issuer,
        upstreamAuth => {
            tokenEndpoint => "$issuer/token", clientId => "gw-$alg", scopes => ['orders.read'],
            privateKeyJwt => { kid => "k-$alg", alg => $alg, key => $pem }, %auth },
        routes => [ { id => 'api', path => '/api' } ] );
    return;
}

for my $alg ( sort keys %key ) {
    behind( "m-\L$alg", $alg, type => 'client_credentials' );
    my $answer = $gate->ask( GET => "m-\L$alg", '/api' );
    is_deeply(
        $answer->json, { client => "gw-$alg", scope => 'orders.read' },
        "oidc-provider accepts our client assertion ($alg)" ) or diag $answer->text, $server->log_text;
}

sub token_of {
    my ( $subject, $name ) = @_;
    my $code = Authz::Grant->code(
        $stack, client => 'app', subject => $subject, scope => 'use',
        resource => $stack->base . "/gateway/$name" );
    return Authz::Grant->redeem( $stack, \@app, $code )->member('access_token') // die 'no token';
}
behind( 'crm', 'ES256', type => 'token_exchange', issuer => $issuer );
for my $who (qw(alice bob alice)) {
    my $answer = $gate->ask( GET => 'crm', '/api', token => token_of( $who, 'crm' ) );
    is_deeply(
        $answer->json, { sub => $who, client => 'gw-ES256', scope => 'orders.read' },
        "$who is known there by the exchange" ) or diag $answer->text, $server->log_text;
}
behind( 'other', 'ES256', type => 'token_exchange', issuer => "$issuer/other" );
$stack->bind( 'app', { resources => [ 'urn:svc:gateway', $issuer, "$issuer/other" ] } );
my $answer = $gate->ask( GET => 'other', '/api', token => token_of( 'alice', 'other' ) );
is_deeply(
    [ $answer->status, $answer->member('error') ], [ 502, 'upstream_auth' ],
    'a subject token for another server is refused there' ) or diag $answer->text;
isnt(
    $stack->admin( GET => '/admin/api/managed-resources/other' )->member('status'), 'error',
    '... and the resource stays' );

done_testing;

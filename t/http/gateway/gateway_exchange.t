# upstreamAuth of type token_exchange (gateway-admin.md 3.3, decisions.md "Gateway", RFC 8693): the authorization server of the
# upstream gets a token that is made for it, never the caller's; the token that comes back is kept for one person, and replaced
# once if the upstream refuses it. Also private_key_jwt, judged by the token endpoint of a real authorization server: ours.
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use Authz::Client  ();
use Authz::Grant   ();
use Authz::Jwt     ();
use Authz::Managed ();
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer = Authz::Peer->start;
my $stack =
  Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $base   = $stack->base;
my $server = $peer->url;                                          # the issuer of the upstream's authorization server
my $urn    = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $type   = 'urn:ietf:params:oauth:token-type:';
my $manage = Authz::Managed->new( $stack, client => 'robot' );
my %bound =
  ( scopes => [ 'use', 'orders.read' ], resources => [ 'urn:svc:gateway', $server ], endpoints => ['introspect'] );
my @app = $stack->make_client( 'app', { %bound, grants => [ 'authorization_code', $urn ] } );
my @plain =
  $stack->make_client( 'plain', { %bound, grants => ['authorization_code'], resources => ['urn:svc:gateway'] } );
my @judge = $stack->make_client( 'judge', { endpoints => ['introspect'], resources => [$server] } );
Authz::Grant->people( $stack, subject => $_ ) for qw(alice bob);

# An access token of a person for a resource behind the gateway.
sub token_of {
    my ( $who, $subject, $name ) = @_;
    my $code = Authz::Grant->code(
        $stack, client => $who->[0], subject => $subject, scope => 'use',
        resource => "$base/gateway/$name" );
    my $answer = Authz::Grant->redeem( $stack, $who, $code );
    return $answer->member('access_token') // die $answer->text;
}

# What a token endpoint answers, the nth time.
sub issues {
    my ( $path, @more ) = @_;
    my @answer = map {
        {   body => {
                access_token      => "exchanged-$path-$_-0123456789", token_type => 'Bearer', expires_in => 3600,
                issued_token_type => "${type}access_token",           @more } }
    } 1 .. 9;
    $peer->set( "/$path" => \@answer );
    return;
}

sub exchanges {
    my ( $name, %more ) = @_;
    my %auth = (
        type => 'token_exchange', tokenEndpoint => $peer->url("/$name-token"), issuer   => $server, clientId => 'gw',
        clientSecret => 'secret-of-the-gateway', scopes => ['read'],           audience => 'https://api.example', %more
    );
    $manage->resource(
        $name,
        upstreamUrl => $peer->url, upstreamAuth => \%auth,
        routes      => [ { id => 'all', path => '/**', methods => [ 'GET', 'POST' ] } ] );
    return;
}
sub last_of { my ($path) = @_; return ( $peer->requests($path) )[-1] }
sub status  { my ($name) = @_; return $stack->admin( GET => "/admin/api/managed-resources/$name" )->member('status') }

sub form {
    my ($request) = @_;
    return {
        map {
            map { tr/+/ /r =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ger } split /=/, $_, 2
        } split /&/,
        $request->{body} };
}

# ---- one exchange

issues('crm-token');
exchanges('crm');
$peer->set( '/who' => { body => {} } );
my $alice  = token_of( \@app, 'alice', 'crm' );
my $answer = $manage->ask( GET => 'crm', '/who', token => $alice );
is( $answer->status, 200, 'a call with an exchanged token' ) or diag $answer->text, $stack->{service}->log_text;
is( last_of('/who')->{headers}{authorization}, 'Bearer exchanged-crm-token-1-0123456789',
    '... which the upstream gets' );
my $seen  = last_of('/crm-token');
my $asked = form($seen);
my $shown = delete $asked->{subject_token};
is_deeply(
    $asked,
    {   grant_type => $urn, subject_token_type => "${type}access_token", scope => 'read',
        audience   => 'https://api.example' },
    'the server gets an exchange with scope and audience (RFC 8693 2.1)' );
is( $seen->{headers}{authorization}, 'Basic ' . encode_base64( 'gw:secret-of-the-gateway', '' ), '... and our proof' );
isnt( $shown, $alice, 'the subject token is not the token of the caller' );
my $facts = $stack->introspect( @judge, $shown )->json;
is_deeply(
    { map { $_ => $facts->{$_} } qw(active sub client_id resource scope) },
    { active => JSON::PP::true(), sub => 'alice', client_id => 'app', resource => $server, scope => '' },
    '... it says who calls, for that server, and has no scope' );
cmp_ok( $facts->{exp} - $facts->{iat}, '<=', 60, '... and lives for a minute' );
is( $stack->http->get( '/userinfo', headers => [ Authorization => "Bearer $shown" ] )->status, 401,
    '... and opens nothing of ours' ) or diag 'userinfo';
is( $manage->ask( GET => 'crm', '/who', token => $shown )->status, 401, '... the gateway neither' );

# ---- who shares a token

$manage->ask( GET => 'crm', '/who', token => $alice, headers => [ Range => 'bytes=3-9', 'If-Range' => '"1"' ] )
  for 1 .. 4;
is_deeply(
    [ @{ last_of('/who')->{headers} }{qw(range if-range)} ], [ undef, undef ],
    'Range is not passed on with the credential of a person (gateway-admin.md 3.3)' );
is( $peer->hits('/crm-token'), 1, 'the token is kept, for all workers' );
$manage->ask( GET => 'crm', '/who', token => token_of( \@app, 'alice', 'crm' ) );
is( $peer->hits('/crm-token'), 1, '... and for another token of the person' );
$manage->ask( GET => 'crm', '/who', token => token_of( \@app, 'bob', 'crm' ) );
is( $peer->hits('/crm-token'), 2, 'another person gets another one' );
is( last_of('/who')->{headers}{authorization}, 'Bearer exchanged-crm-token-2-0123456789',
    '... which the upstream gets' );
$manage->ask( GET => 'crm', '/who', token => $alice );
is( last_of('/who')->{headers}{authorization}, 'Bearer exchanged-crm-token-1-0123456789',
    '... and the first one keeps his own' );
my $stored =
  $stack->sql(q{SELECT string_agg(encode(token_sealed, 'escape') || encode(owner, 'escape'), ' ') FROM upstream_token});
unlike( $stored, qr/exchanged|alice|bob/, 'the rows name neither token nor person' );
is( $stack->sql('SELECT max(expires_at) <= now() + interval \'3600 s\' FROM upstream_token'), 't',
    '... and end within an hour' );
$stack->sql(
    q{UPDATE upstream_token a SET token_sealed = b.token_sealed FROM upstream_token b WHERE b.owner <> a.owner});
$peer->forget;
issues('crm-token');
$manage->ask( GET => 'crm', '/who', token => $_ ) for $alice, token_of( \@app, 'bob', 'crm' );
is( $peer->hits('/crm-token'), 2, 'a sealed token that was moved to another person does not open' );

# ---- the upstream refuses

$stack->sql('DELETE FROM upstream_token');
$peer->forget;
$peer->set(
    '/once'   => [ { status => 401, body => '' }, { body => {} } ], '/never' => { status => 401, body => '' },
    '/denied' => { status => 403, body => '' } );
$answer =
  $manage->ask( POST => 'crm', '/once', token => $alice, headers => [ 'Content-Type' => 'a/b' ], body => 'abc' );
is( $answer->status, 200, 'a refused token is replaced once' );
is_deeply(
    [ map { [ $_->{headers}{authorization},               $_->{body} ] } $peer->requests('/once') ],
    [ map { [ "Bearer exchanged-crm-token-$_-0123456789", 'abc' ] } 1, 2 ],
    '... and the request is sent again' );
$answer = $manage->ask( GET => 'crm', '/never', token => $alice );
is_deeply( [ $answer->status, $answer->member('error') ], [ 502, 'upstream_auth' ], '... but not a third time' );
is( $peer->hits('/never'), 2, '... indeed' );
my $hits = $peer->hits('/crm-token');
is( $manage->ask( GET => 'crm', '/denied', token => $alice )->status, 502,   '403 is 502' );
is( $peer->hits('/crm-token'),                                        $hits, '... and no reason for a new token' );
is( status('crm'), 'active', 'what one person is refused does not take the resource from the others' );

# ---- the authorization server refuses, or answers something else

for my $case (
    [   'norow', 400, { error => 'invalid_grant' }, 502, 'upstream_auth', 'active|pending',
        'it does not know the person' ],
    [   'noclient', 401, { error => 'invalid_client' }, 502, 'upstream_auth', 'error',
        'it does not know us: the operator must act' ],
    [   'notype', 200, { access_token => 'x' x 20, token_type => 'Bearer' }, 502, 'upstream_invalid_response',
        'active|pending',
        'no issued_token_type (RFC 8693 2.2.1)' ],
    [   'refresh',                                                                                         200,
        { access_token => 'x' x 20, token_type => 'Bearer', issued_token_type => "${type}refresh_token" }, 502,
        'upstream_invalid_response', 'active|pending', 'a refresh token' ],
    [   'na', 200, { access_token => 'x' x 20, token_type => 'N_A', issued_token_type => "${type}access_token" }, 502,
        'upstream_invalid_response', 'active|pending', 'no access token (N_A)' ],
    [   'gone', 500, {}, 502, 'upstream_unreachable|upstream_invalid_response', 'active|pending',
        'an error of the server' ] )
{
    my ( $name, $status, $body, $wanted, $error, $after, $what ) = @$case;
    exchanges($name);
    $peer->set( "/$name-token" => { status => $status, body => $body } );
    my $calls = $peer->hits('/who');
    $answer = $manage->ask( GET => $name, '/who', token => token_of( \@app, 'alice', $name ) );
    is( $answer->status, $wanted, $what ) or diag $answer->text;
    like( $answer->member('error'), qr/\A(?:$error)\z/, '... with its code' );
    like( status($name),            qr/\A(?:$after)\z/, '... and its status' );
    is( $peer->hits('/who'), $calls, '... and the upstream is not asked' );
}
exchanges( 'typed', requestedTokenType => "${type}jwt" );
issues( 'typed-token', issued_token_type => "${type}jwt" );
is( $manage->ask( GET => 'typed', '/who', token => token_of( \@app, 'alice', 'typed' ) )->status, 200,
    'requestedTokenType' );
is( form( last_of('/typed-token') )->{requested_token_type}, "${type}jwt", '... is asked for' );

# ---- who gets no token

my $calls = $peer->requests;
$answer = $manage->ask( GET => 'crm', '/who', token => $manage->token('crm') );
is_deeply(
    [ $answer->status, $answer->member('error') ], [ 403, 'user_required' ],
    'a token of a client itself names no person' );
$answer = $manage->ask( GET => 'crm', '/who', token => token_of( \@plain, 'alice', 'crm' ) );
is_deeply(
    [ $answer->status, $answer->member('error') ], [ 403, 'access_denied' ],
    'a client whom policy allows no token for that server' );
is( scalar( my @now = $peer->requests ), $calls, '... and nothing was sent anywhere' );
is( $stack->sql(
        qq{SELECT count(*) FROM audit_log WHERE outcome = 'denied' AND client_id = 'plain' AND policy_input IS NOT NULL}
    ) > 0,
    1,
    '... the audit row says why' );
exchanges( 'noissuer', issuer => undef );
is( $stack->admin( GET => '/admin/api/managed-resources/noissuer' )->member('statusReason'),
    'upstreamAuth.issuer is missing', 'without the issuer the resource is not complete'
) or diag $stack->admin( GET => '/admin/api/managed-resources/noissuer' )->text;

# ---- private_key_jwt: our own token endpoint is the judge

my %key = map { $_ => Authz::Jwt->key( $_, kid => "k-$_" ) } qw(RS256 PS256 ES256 EdDSA);
for my $alg ( sort keys %key ) {
    my $id = "machine-\L$alg";
    $stack->make_client(
        $id, { grants => ['client_credentials'], scopes => ['orders.read'] },
        tokenEndpointAuthMethod => 'private_key_jwt', jwks => Authz::Jwt::set( $key{$alg} ) );
    open my $in, '<', $key{$alg}->file or die 'key';
    my $pem = join '', readline $in;
    close $in;
    my %auth = (
        type => 'client_credentials', tokenEndpoint => "$base/token", clientId => $id, scopes => ['orders.read'],
        privateKeyJwt => { kid => "k-$alg", alg => $alg, key => $pem } );
    $manage->resource(
        $id,
        upstreamUrl => $peer->url, upstreamAuth => \%auth, routes => [ { id => 'all', path => '/**' } ] );
    $peer->set( "/$id" => [ { body => {} }, { status => 401, body => '' }, { body => {} } ] );
    is( $manage->ask( GET => $id, "/$id" )->status, 200, "private_key_jwt with $alg" )
      or diag $stack->{service}->log_text;
    my ($first) = last_of("/$id")->{headers}{authorization} =~ /\ABearer (\S+)\z/;
    is( $manage->ask( GET => $id, "/$id" )->status, 200, '... a refused token is renewed with a new assertion' );
    isnt( last_of("/$id")->{headers}{authorization}, "Bearer $first", '... by another token' );
    my $view = $stack->admin( GET => "/admin/api/managed-resources/$id" )->text;
    unlike( $view, qr/PRIVATE KEY/, '... and the key is never shown' );
}
my $wrong = Authz::Jwt->key( 'ES256', kid => 'k-ES256' );
open my $in, '<', $wrong->file or die 'key';
my $pem      = join '', readline $in;
my $document = $stack->admin( GET => '/admin/api/managed-resources/machine-es256' )->json;
$manage->resource(
    'stranger',
    upstreamUrl  => $peer->url, routes => [ { id => 'all', path => '/**' } ],
    upstreamAuth =>
      { %{ $document->{upstreamAuth} }, privateKeyJwt => { kid => 'k-ES256', alg => 'ES256', key => $pem } } );
$answer = $manage->ask( GET => 'stranger', '/who' );
is_deeply(
    [ $answer->status, $answer->member('error') ], [ 502, 'upstream_auth' ],
    'another key is refused by the server' );
is( status('stranger'), 'error', '... and the operator must act' );

# ---- an MCP tool

issues('tools-token');
exchanges('tools');
$manage->resource(
    'tools',
    upstreamUrl  => $peer->url,
    upstreamAuth => { %{ $stack->admin( GET => '/admin/api/managed-resources/tools' )->json->{upstreamAuth} } },
    routes       => [ { id   => 'who', path => '/who' } ],
    tools        => [ { name => 'who', description => 'x', route => 'who', inputSchema => { type => 'object' } } ] );
my $mcp    = Authz::Mcp->new($stack);
my $result = $mcp->result(
    $mcp->modern(
        'tools/call', { name => 'who', arguments => {} }, at => 'tools',
        token => token_of( \@app, 'alice', 'mcp/tools' ) ) );
ok( $result && !$result->{isError}, 'a tool of such a resource' ) or diag explain $result;
is( last_of('/who')->{headers}{authorization}, 'Bearer exchanged-tools-token-1-0123456789',
    '... calls with an exchanged token' );

# ---- somebody who acts for the person (RFC 8693 4.1)

issues('acted-token');
exchanges('acted');
my $plain = token_of( \@app, 'alice', 'acted' );
my $acted = token_of( \@app, 'alice', 'acted' );
$stack->sql(
    q{UPDATE access_token SET act = '{"sub":"agent"}' WHERE id = (SELECT id FROM access_token ORDER BY id DESC LIMIT 1)}
);
for my $case (
    [ $plain, 1, 'a token of the person alone' ],
    [ $acted, 2, 'one that an agent uses for the person is exchanged by itself: the server may give it less' ],
    [ $plain, 1, '... and the exchanged tokens do not replace each other' ] )
{
    is( $manage->ask( GET => 'acted', '/who', token => $case->[0] )->status, 200, $case->[2] );
    is( last_of('/who')->{headers}{authorization},
        "Bearer exchanged-acted-token-$case->[1]-0123456789",
        '... with its token' );
}

# ---- nothing leaks

my $log = $stack->{service}->log_text;
unlike( $log, qr/\Q$_\E/, 'no token is in the log' )
  for $alice, $shown, 'exchanged-', 'secret-of-the-gateway', 'PRIVATE KEY';
my $sent = join "\n", map { JSON::PP::encode_json($_) } $peer->requests;
unlike( $sent, qr/\Q$alice\E/, 'the token of the caller went nowhere' );
my $rows = $stack->sql(q{SELECT string_agg(t::text, ' ') FROM audit_log t});
unlike( $rows, qr/\Q$_\E/, '... and no token is in an audit row' ) for $alice, $shown, 'exchanged-crm';

done_testing;

# Token exchange together with private_key_jwt, DPoP, CIBA, authorization_details and resource: what the exchanged token keeps
# of its subject token, where it is accepted, and what ends it (RFC 8693; decisions.md "Token exchange", "Bound subject
# tokens", "End of an exchanged token"); all kinds of tokens at /introspect and /revoke, whatever the hint (RFC 7009 2.1, RFC
# 7662 2.1).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Inputs;
use Authz::Jwt   ();
use Authz::Stack ();

my $stack  = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $issuer = $stack->base;
my $json   = JSON::PP->new->canonical;
my $urn    = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $at     = 'urn:ietf:params:oauth:token-type:access_token';
my $orders = 'https://api.example/orders';
my $stock  = 'https://api.example/stock';
my $scopes = 'openid orders.read uma_protection delegation_management';
my $ec     = Authz::Jwt->key( 'ES256', kid => 'ec' );
my %reach  = (
    scopes                => [ split / /, $scopes ], resources => [ $orders, $stock ],
    authorization_details => ['payment'],            endpoints => ['introspect'] );
my %keyed = ( tokenEndpointAuthMethod => 'private_key_jwt', jwks => Authz::Jwt::set($ec) );
$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => {} }, rar => { types => { payment => { actions => [qw(initiate status refund)] } } } } );
my @grants = ( $Authz::Ciba::GRANT, qw(authorization_code refresh_token client_credentials) );
$stack->make_client( 'web',  { %reach, grants => [@grants] },                      %keyed );
$stack->make_client( 'gate', { %reach, grants => [ $urn, 'client_credentials' ] }, %keyed );
$stack->make_client( 'deep', { %reach, grants => [$urn] },                         %keyed );
$stack->make_client( 'rs',   { endpoints => ['introspect'], resources => [ $orders, $stock ] }, %keyed );
Authz::Grant->people($stack);
Authz::Grant->people( $stack, subject => 'bob' );
my $provider = Authz::Ciba::told( $stack, 'corp' );
my ( $key, $thief ) = ( Authz::Dpop->new, Authz::Dpop->new );
my @pay = ( { type => 'payment', actions => [qw(initiate status)] }, { type => 'payment', actions => ['refund'] } );
my $one = [ { type => 'payment', actions => ['status'] } ];

# ---- requests; each has an assertion of its own

my @answers;

sub post {
    my ( $path, $who, $headers, @form ) = @_;
    my @assertion = Authz::Jwt::form( $ec->assertion( $who, $issuer ) );
    push @answers, $stack->http->post( $path, headers => $headers, form => [ @assertion, @form ] );
    return $answers[-1];
}
sub proof { my ($by)      = @_; return [ $by->show( $stack, '/token' ) ] }
sub text  { my ($details) = @_; return ( authorization_details => $json->encode($details) ) }

sub exchange {
    my ( $who, $token, $headers, @form ) = @_;
    return post(
        '/token', $who, $headers, grant_type => $urn, subject_token => $token, subject_token_type => $at,
        @form );
}
sub token_of  { my ($answer) = @_; return $answer->member('access_token') // die $answer->text }
sub exchanged { return token_of( exchange(@_) ) }
sub shown     { my ( $token, @more ) = @_; return post( '/introspect', 'rs', [], token => $token, @more ) }

sub signed_in {
    my ( $headers, %option ) = @_;
    my $code = Authz::Grant->code( $stack, client => 'web', scope => $scopes, %option );
    return post( '/token', 'web', $headers, Authz::Grant->redemption($code) );
}

sub invalid {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 400, 'invalid_request', $name );
    return is(
        $answer->member('error_description'), 'The subject token is not valid',
        '... with the text of all of them' );
}

# ---- a subject token with a key, details and a resource

my $user = signed_in( proof($key), details => \@pay, resource => $orders );
my $held = token_of($user);
invalid( exchange( 'gate', $held, [] ),              'a bound subject token without proof' );
invalid( exchange( 'gate', $held, [ DPoP => 'x' ] ), '... with a bad one' );
invalid( exchange( 'gate', $held, proof($thief) ),   '... with that of another key' );
my @seen = $key->show( $stack, '/userinfo', token => $held );
invalid(
    exchange( 'gate', $held, [ @seen[ 2, 3 ] ] ),
    '... with one that a resource server saw: it is for another address' );
my $once   = proof($key);
my $answer = exchange( 'gate', $held, $once );
oauth_ok(
    $answer,
    {   token_type => 'DPoP', issued_token_type => $at, authorization_details => \@pay, refresh_token => undef,
        id_token   => undef,  scope             => same_words($scopes) },
    'with its proof: a bound token with the details' );
my $second = token_of($answer);
oauth_ok(
    shown($second),
    {   active    => true, token_type => 'DPoP', cnf => { jkt => $key->jkt }, act => { sub => 'gate' }, sub => 'alice',
        client_id => 'gate', authorization_details => \@pay, resource => $orders, aud => $orders },
    '... and act, cnf, details and resource at an introspection by client_assertion' );
invalid( exchange( 'gate', $held, $once ), '... the same proof again is none (RFC 9449 11.1)' );
my $third = exchanged( 'deep', $second, proof($key), text($one), scope => 'orders.read' );
oauth_ok(
    shown($third),
    {   act => { sub => 'deep', act => { sub => 'gate' } }, cnf => { jkt => $key->jkt }, authorization_details => $one,
        resource => $orders, scope => 'orders.read' },
    'a second exchange, to fewer details: the chain and the key stay' );
for my $case (
    [ 'wider details'      => 'invalid_authorization_details', text( \@pay ) ],
    [ 'an unknown type'    => 'invalid_authorization_details', text( [ { type => 'other' } ] ) ],
    [ 'details, no array'  => 'invalid_request', authorization_details => '{}' ],
    [ 'another resource'   => 'invalid_target',  resource              => $stock ],
    [ 'another audience'   => 'invalid_target',  audience              => $stock ],
    [ 'a wider scope'      => 'invalid_scope',   scope                 => 'orders.read openid' ],
    [ 'an ID token wanted' => 'invalid_request', requested_token_type  => 'urn:ietf:params:oauth:token-type:id_token' ],
  )
{
    my ( $name, $error, @form ) = @$case;
    oauth_error( exchange( 'gate', $third, proof($key), @form ), 400, $error, "exchange: $name is $error" );
}
my $spent = $ec->assertion( 'gate', $issuer );
my @form  = ( grant_type => $urn, subject_token => $held, subject_token_type => $at, Authz::Jwt::form($spent) );
for my $status ( 200, 401 ) {
    is( $stack->http->post( '/token', headers => proof($key), form => \@form )->status,
        $status, "exchange with one assertion: $status (J7)" );
}
invalid( exchange( 'gate', $user->member('refresh_token'), proof($key) ), 'a refresh token is no subject token' );
for my $round ( 1 .. 4 ) {
    $stack->sql(q{UPDATE client SET version = version + 1 WHERE client_id = 'gate'});
    oauth_ok(
        exchange( 'gate', $held, proof($key) ),
        { token_type => 'DPoP' },
        "the client changed: it authenticates twice, and its jti and the proof are used once ($round)" );
}

# ---- a subject token from CIBA

my $id = post(
    '/bc-authorize', 'web', [], login_hint => 'alice', scope => 'openid orders.read', resource => $orders,
    text( \@pay ) )->member('auth_req_id');
my @poll = ( '/token', 'web', [], grant_type => $Authz::Ciba::GRANT, auth_req_id => $id );
invalid( exchange( 'gate', $id, [] ), 'an auth_req_id is no subject token' );
Authz::Ciba::inform( $stack, $provider, { status => 'approved' } );
my $ciba = post(@poll);
oauth_ok( $ciba, {}, 'tokens by CIBA' );
my $of_ciba = exchanged( 'gate', token_of($ciba), proof($thief), text($one) );
oauth_ok(
    shown($of_ciba),
    {   active                => true, sub      => 'alice', act => { sub => 'gate' }, cnf => { jkt => $thief->jkt },
        authorization_details => $one, resource => $orders },
    'a CIBA token without key is exchanged for a bound one with fewer details' );

# ---- the exchanged token at the endpoints of this service

my $usable = exchanged( 'gate', token_of( signed_in( [] ) ), [], scope => $scopes );
my $bound  = exchanged( 'gate', $held, proof($key) );

sub call {
    my ( $method, $path, $headers, %more ) = @_;
    push @answers, $stack->http->request( $method, $path, headers => $headers, %more );
    return $answers[-1];
}
for my $call (
    [ GET  => '/userinfo',                       200 ],
    [ GET  => '/resource_registration/resource', 200 ],
    [ POST => '/resource_registration/resource', 201, json => { resource_scopes => ['view'] } ],
    [ GET  => '/delegation',                     200 ],
  )
{
    my ( $method, $path, $status, %body ) = @$call;
    is( call( $method, $path, [ Authz::Client::bearer($usable) ], %body )->status, $status,
        "$method $path: a bearer token" );
    is( call( $method, $path, [ $key->show( $stack, $path, htm => $method, token => $bound ) ], %body )->status,
        $status, '... a bound one with its proof' );
    is( call( $method, $path, [ Authz::Client::bearer($bound) ], %body )->status, 401,
        '... not as Bearer (RFC 9449 7.2)' );
    is( call( $method, $path, [ $thief->show( $stack, $path, htm => $method, token => $bound ) ], %body )->status,
        401, '... nor with another key' );
}
is( call( GET => '/userinfo', [ Authz::Client::bearer($usable) ] )->member('sub'), 'alice',
    'userinfo is about the subject' );
my $narrow = exchanged( 'gate', $held, proof($key), scope => 'orders.read' );
for my $case (
    [ '/userinfo',                       401, 'invalid_token' ],
    [ '/delegation',                     403, 'insufficient_scope' ],
    [ '/resource_registration/resource', 403, 'insufficient_scope' ],
  )
{
    my ( $path, $status, $error ) = @$case;
    oauth_error(
        call( GET => $path, [ $key->show( $stack, $path, htm => 'GET', token => $narrow ) ] ),
        $status, $error, "$path: an exchanged token without the scope is $status" );
}

# ---- a single-use token

$stack->bind( 'gate', { jit_single_use => true } );
my $jit = exchanged( 'gate', $held, proof($key) );
invalid( exchange( 'deep', $jit, proof($key) ), 'an exchanged token for a single use is exchanged no further' );
oauth_ok( shown($jit), { active => true, cnf => { jkt => $key->jkt } }, '... it is shown' );
inactive( shown($jit), '... once' );
$stack->bind( 'gate', { jit_single_use => undef } );

# ---- what ends it

sub ends {
    my ( $name, $end, %option ) = @_;
    my $from  = signed_in( proof($key), %option );
    my $chain = exchanged( 'deep', exchanged( 'gate', token_of($from), proof($key) ), proof($key) );
    oauth_ok( shown($chain), { active => true }, "a chain of two, before $name" );
    $end->( $from, $chain );
    inactive( shown($chain), "... and after it (decisions.md \"End of an exchanged token\")" );
    invalid( exchange( 'gate', $chain, proof($key) ), '... is no subject token either' );
    return $chain;
}

sub admin_revokes {
    return is( $stack->admin( POST => '/admin/api/tokens/revoke', json => {@_} )->status, 200, 'revoked' );
}
ends(
    'the family is revoked by client_assertion',
    sub {
        my ($from) = @_;
        is( post( '/revoke', 'web', [], token => $from->member('refresh_token') )->status, 200, 'revoked' );
    },
    sid => 's-1' );
ends( 'the person is revoked by the operator', sub { admin_revokes( subjectId => 'bob' ) }, subject => 'bob' );
ends( 'the client of the sign-in is revoked',  sub { admin_revokes( clientId  => 'web' ) } );
ends( 'its own client is revoked',             sub { admin_revokes( clientId  => 'deep' ) } );
ends( 'the token is revoked by the operator',  sub { admin_revokes( token     => $_[1] ) } );
ends( 'its client revokes it',                 sub { post( '/revoke', 'deep', [], token => $_[1] ) } );
my $off = ends( 'the provider is disabled', sub { $stack->sql('UPDATE identity_provider SET enabled = false') } );
$stack->sql('UPDATE identity_provider SET enabled = true');
oauth_ok( shown($off), { active => true }, 'an enabled provider revives it' );

# ---- every kind at /introspect and /revoke, whatever the hint

my @hints = ( undef, qw(access_token refresh_token), 'urn:unknown', 'auth_req_id' );
my $fresh = signed_in( proof($key), details => \@pay );
my %kind  = (
    'a client\'s own' => [
        gate =>
          sub { token_of( post( '/token', 'gate', [], grant_type => 'client_credentials', scope => 'orders.read' ) ) }
    ],
    'a bound one'                     => [ web  => sub { token_of( signed_in( proof($key) ) ) } ],
    'one with details'                => [ web  => sub { token_of( signed_in( [], details => \@pay ) ) } ],
    'an exchanged one'                => [ gate => sub { exchanged( 'gate', token_of($fresh), proof($key) ) } ],
    'a refresh token'                 => [ web  => sub { signed_in( [] )->member('refresh_token') } ],
    'a bound client\'s refresh token' =>
      [ web => sub { signed_in( proof($key), details => \@pay )->member('refresh_token') } ],
);
for my $name ( sort keys %kind ) {
    my ( $owner, $make ) = @{ $kind{$name} };
    for my $hint (@hints) {
        my @hint  = defined $hint ? ( token_type_hint => $hint ) : ();
        my $said  = "$name, hint " . ( $hint // 'none' );
        my $token = $make->();
        oauth_ok( post( '/introspect', $owner, [], token => $token, @hint ), { active => true }, "$said: is shown" );
        is( post( '/revoke', 'deep', [], token => $token, @hint )->status, 200, '... another client revokes in vain' );
        oauth_ok( post( '/introspect', $owner, [], token => $token, @hint ), { active => true }, '... it lives' );
        is( post( '/revoke', $owner, [], token => $token, @hint )->status, 200, '... its own client revokes it' );
        inactive( post( '/introspect', $owner, [], token => $token, @hint ), '... it is dead' );
    }
}
my $pending = post( '/bc-authorize', 'web', [], login_hint => 'alice', scope => 'openid' )->member('auth_req_id');
my $code    = Authz::Grant->code( $stack, client => 'web', scope => 'openid' );
for my $other ( $pending, $code ) {
    my ($what) = $other =~ /\A(..)_/;
    inactive(
        post( '/introspect', 'web', [], token => $other, token_type_hint => 'auth_req_id' ),
        "$what\_ is never shown" );
    is( post( '/revoke', 'web', [], token => $other )->status, 200, '... and /revoke answers 200 (RFC 7009 2.2)' );
}
oauth_error(
    post( '/token', 'web', [], grant_type => $Authz::Ciba::GRANT, auth_req_id => $pending ),
    400, 'authorization_pending', '... and leaves the CIBA request as it is' );

is( scalar( grep { $_->text =~ /invalid_dpop_proof/ } @answers ), 0, 'invalid_dpop_proof is in none of the answers' );
is( $stack->sql(q{SELECT count(*) FROM audit_log a WHERE a::text LIKE '%invalid_dpop_proof%'}), 0,
    '... nor in the audit log' );
inputs_ok($stack);

done_testing;

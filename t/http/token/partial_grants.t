# Authorization details beside scopes, and scopes of bindings with resource types: what is granted (specification
# 4.2; decisions.md "Details decide", "Resources").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Stack ();

my $stack   = Authz::Stack->start;
my $details = [ { type => 'payment', actions => ['initiate'] } ];
my $text    = JSON::PP->new->canonical->encode($details);
my $decide  = 'decisions.md "Details decide"';
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource => { types => { 'urn:r:orders' => { scopes  => ['orders.read'] } } },
        rar      => { types => { payment        => { actions => ['initiate'] } } } } );
my @rs   = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
my %held = (
    grants                => [qw(client_credentials authorization_code refresh_token)],
    authorization_details => ['payment'] );
my @shop = $stack->make_client( 'shop', { %held, scopes => [ 'openid', 'orders.read' ] } );
my @cut  = $stack->make_client( 'cut',  {%held}, scope => 'orders.read' );
my @bare = $stack->make_client( 'bare', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub asked {
    my ( $who, %form ) = @_;
    return $stack->token( @$who, map { ( $_ => $form{$_} ) } sort keys %form );
}

# ---- client_credentials

oauth_ok(
    asked( \@shop, scope => 'admin', authorization_details => $text ),
    { scope => '', authorization_details => $details },
    "an ungranted scope beside entitled details is left out ($decide)" );
oauth_ok(
    asked( \@shop, scope => 'admin orders.read', authorization_details => $text ),
    { scope => 'orders.read', authorization_details => $details },
    "a granted scope beside them stays ($decide)" );
oauth_ok(
    asked( \@cut, scope => 'admin', authorization_details => $text ),
    { scope => '', authorization_details => $details },
    "a scope beyond the registered ones beside entitled details is left out ($decide)" );
oauth_ok(
    asked( \@cut, authorization_details => $text ), { scope => '' },
    "so is a registered scope that is asked for by default" );
oauth_error(
    asked( \@shop, scope => 'admin' ), 400, 'invalid_scope',
    'without details an ungranted scope refuses the request' );
oauth_error( asked( \@cut, scope => 'admin' ), 400, 'invalid_scope', 'so does one beyond the registered ones' );
oauth_error(
    asked( \@shop, scope => 'admin', authorization_details => $_ ), 400, 'invalid_scope',
    "authorization_details=$_ counts as absent ($decide)" ) for '[]', ' [ ] ';
oauth_ok(
    asked( \@shop, scope => 'orders.read', authorization_details => '[]' ),
    { scope => 'orders.read', authorization_details => undef },
    "authorization_details=[] adds nothing ($decide)" );
oauth_error(
    asked( \@bare, scope => 'orders.read', authorization_details => $text ), 400, 'invalid_authorization_details',
    'details that are not entitled refuse the request, whatever the scope is (RFC 9396 5)' );
oauth_error(
    asked( \@bare, scope => 'admin', authorization_details => $text ), 400, 'invalid_authorization_details',
    '... also beside an ungranted scope' );
oauth_error(
    asked( \@shop, scope => 'admin', authorization_details => $text, resource => 'https://api.example' ), 400,
    'invalid_target',
    'details excuse no resource that is not entitled' );
oauth_error(
    asked( \@shop, scope => qq{a"b}, authorization_details => $text ), 400, 'invalid_scope',
    'details excuse no scope that is malformed (RFC 6749 3.3)' );

# ---- a family, and introspection

Authz::Grant->people($stack);
my $code     = Authz::Grant->code( $stack, client => 'shop', scope => 'admin', details => $details );
my $redeemed = Authz::Grant->redeem( $stack, \@shop, $code );
oauth_ok( $redeemed, { scope => '', authorization_details => $details }, "a code: the same ($decide)" );
oauth_ok(
    Authz::Grant->refresh( $stack, \@shop, $redeemed->member('refresh_token') ),
    { scope => '', authorization_details => $details },
    "a refresh: the same ($decide)" );
my $both = Authz::Grant->redeem(
    $stack, \@shop,
    Authz::Grant->code( $stack, client => 'shop', scope => 'orders.read', details => $details ) );
my ( $access, $refresh ) = map { $both->member($_) } qw(access_token refresh_token);
oauth_ok(
    $stack->introspect( @rs, $access ), { scope => 'orders.read', authorization_details => $details },
    'introspect: both' );
$stack->bind( shop => { scopes => ['openid'] } );
oauth_ok(
    $stack->introspect( @rs, $access ), { active => true(), scope => '', authorization_details => $details },
    "introspect: when the scope is taken away, the details stay ($decide)" );
oauth_ok(
    Authz::Grant->refresh( $stack, \@shop, $refresh ), { scope => '', authorization_details => $details },
    "refresh: likewise ($decide)" );
$stack->bind( shop => { authorization_details => [] } );
oauth_ok(
    $stack->introspect( @rs, $access ), { active => sub { !$_[0] }, inactive_reason => 'policy_denied' },
    'introspect: when the details are taken away too, the token is inactive' );

# ---- bindings with resource types

my @always = qw(openid profile email offline_access introspection uma_protection delegation_management authzen);
my @typed  = $stack->make_client(
    'typed',
    {   grants         => ['client_credentials'], scopes => [ @always, 'orders.read', 'other' ],
        resource_types => ['urn:r:orders'] } );
my @less = $stack->make_client(
    'less',
    { grants => ['client_credentials'], scopes => ['orders.read'], resource_types => ['urn:r:orders'] } );
for my $scope (@always) {
    my $token = asked( \@typed, scope => $scope );
    oauth_ok( $token, { scope => $scope }, "a binding with resource types grants $scope (decisions.md \"Resources\")" );
    oauth_ok(
        $stack->introspect( @rs, $token->member('access_token') ), { scope => $scope },
        "... and introspection shows $scope" );
    oauth_error( asked( \@less, scope => $scope ), 400, 'invalid_scope', "... but not if it does not list $scope" );
}
oauth_ok(
    asked( \@typed, scope => 'openid orders.read other', resource_types => 'urn:r:orders' ),
    { scope => same_words('openid orders.read') },
    'of other scopes it grants those that the registry lists for its types (decisions.md "Resources")' );
my $bearer = $stack->token_text( @typed, scope => 'introspection' );
oauth_ok(
    $stack->http->post(
        '/introspect', headers => [ Authz::Client::bearer($bearer) ],
        form => [ token => $stack->token_text( @bare, scope => 'orders.read' ) ] ),
    { active => true() },
    'such a token with scope introspection is a credential at /introspect (specification 4.5)' );

inputs_ok($stack);

done_testing;

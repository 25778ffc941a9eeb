# POST /introspect of a refresh token: it is shown to its own client alone (decisions.md "Refresh tokens at introspection").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Policy ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start;
my $policy = Authz::Policy->new($stack);
my $api    = 'https://api.example';
my $rule   = 'decisions.md "Refresh tokens at introspection"';
my %web    = (
    grants    => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    endpoints => ['introspect'], resources => [$api], scopes => [ 'openid', 'orders.read', 'introspection' ] );
my @web   = $stack->make_client( 'web',   { %web, ttl => 60, jit_single_use => JSON::PP::true() } );
my @twin  = $stack->make_client( 'twin',  {%web} );
my @rs    = $stack->make_client( 'rs',    { endpoints => ['introspect'], resources => [$api] } );
my @plain = $stack->make_client( 'plain', { endpoints => ['introspect'] } );
my @deaf  = $stack->make_client( 'deaf',  { grants    => ['client_credentials'], scopes => ['orders.read'] } );
Authz::Grant->people($stack);

# The refresh token and the access token of a family.
sub family {
    my ( $who, %option ) = @_;
    my $code   = Authz::Grant->code( $stack, client => $who->[0], scope => 'openid orders.read', %option );
    my $answer = Authz::Grant->redeem( $stack, $who, $code );
    die $answer->text if $answer->status != 200;
    return ( $answer->member('refresh_token'), $answer->member('access_token') );
}
my ( $free, $first ) = family( \@web );
my ( $bound, undef ) = family( \@web, resource => $api );

# What an API needs to ask for a stronger or newer sign-in.
my @strong = family( \@twin, acr => 'mfa' );
oauth_ok(
    $stack->introspect( @twin, $strong[1] ),
    { active => true, acr => 'mfa', auth_time => sub { abs( time - 10 - $_[0] ) < 60 } },
    'an access token tells the sign-in that it is of (RFC 9470 6.2)' );
my @weak = family( \@twin );
oauth_ok(
    $stack->introspect( @twin, $weak[1] ),
    { active => true, acr => undef, auth_time => qr/\A\d+\z/ },
    '... without an acr that the provider did not say' );
oauth_ok(
    $stack->introspect( @twin, $stack->token_text( @twin, scope => 'orders.read' ) ),
    { active => true, acr => undef, auth_time => undef },
    "... and a client's own token tells none" );

# A token of the client itself, as Bearer.
sub ask_bearer {
    my ( $who, $token, @more ) = @_;
    my $bearer = $stack->token_text( @$who, scope => 'introspection' );
    return $stack->http->post(
        '/introspect', headers => [ Authz::Client::bearer($bearer) ],
        form => [ token => $token, @more ] );
}

# Both tokens, by everyone but their client.
sub hidden {
    my ($when) = @_;
    my %caller = ( rs => \@rs, plain => \@plain, twin => \@twin );
    for my $name ( sort keys %caller ) {
        inactive( $stack->introspect( @{ $caller{$name} }, $free ), "$when: not shown to $name ($rule)" );
        inactive(
            $stack->introspect( @{ $caller{$name} }, $bound ),
            "$when: with a resource not shown to $name ($rule)" );
    }
    inactive(
        $stack->introspect( @rs, $bound, context => qq({"resource":"$api","scopes":["orders.read"]}) ),
        "$when: no context changes that ($rule)" );
    inactive( ask_bearer( \@twin, $free ), "$when: not shown to a Bearer of another client ($rule)" );
    return;
}

# ---- its own client sees it, past the lifetime and the single use of the access tokens

my %shown = ( active => true(), client_id => 'web', sub => 'alice', scope => same_words('openid orders.read') );
oauth_ok(
    $stack->introspect( @web, $free ),
    { %shown, exp => sub { $_[0] > time + 86_400 }, token_type => undef },
    'a refresh token is shown to its own client, with an end that no ttl of access tokens changes (oauth.md 3.4)' );
oauth_ok( $stack->introspect( @web, $free ),  {%shown}, '... and again: it has no single use (oauth.md 3.4)' );
oauth_ok( $stack->introspect( @web, $bound ), { %shown, resource => $api }, '... also one with a resource' );
oauth_ok( $stack->introspect( @web, $free, token_type_hint => 'refresh_token' ), {%shown}, '... by its hint' );
hidden('as shipped');
oauth_error(
    $stack->introspect( @deaf, $free ), 403, 'access_denied',
    'a client that may not introspect gets 403, as for other tokens (decisions.md "Caller not entitled")' );
is( $stack->sql(
        q{SELECT outcome || http_status FROM audit_log WHERE endpoint = '/introspect' AND client_id = 'rs' ORDER BY id LIMIT 1}
    ),
    'rejected200',
    'the audit row of such a request is `rejected`' );

# ---- an access token of the same family is still for every entitled caller

oauth_ok(
    $stack->introspect( @rs, $first ), { active => true() },
    'an access token without a resource is shown to any caller' );
inactive( $stack->introspect( @web, $first ), '... once, because its client has jit_single_use' );

# ---- no row and no rule of the operator changes it

my $row = 'svc.operator.controls.introspection';
$stack->patch_row( $row, { require_audience => JSON::PP::false() } );
hidden('with require_audience=false');
oauth_ok( $stack->introspect( @web, $bound ), {%shown}, 'with require_audience=false: shown to its own client' );
$stack->patch_row( $row, { require_audience => undef } );
hidden('without require_audience');
$stack->patch_row( $row, { require_audience => JSON::PP::true(), allow_callers => [qw(rs web plain twin)] } );
hidden('with allow_callers');
$stack->patch_row( $row, { allow_callers => undef } );

my %hook = (
    'deny, empty' => 'deny contains r if { some r in [] }',
    'deny'        => 'deny contains "closed"',
    'claims'      => 'claims := {"x": 1}',
    'obligations' => 'obligations := {"log": []}',
    'extensions'  => 'extensions := {"active": true}',
);
for my $name ( sort keys %hook ) {
    my $answer =
      $policy->deploy( rules => { 'custom/introspect.rego' => "package custom.introspect\n\n$hook{$name}\n" } );
    is( $answer->status, 200, "the hook $name is active" ) || diag( $answer->text );
    hidden("with the hook $name");
}

done_testing;

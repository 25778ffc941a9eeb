# Access and refresh tokens end while their identity provider is disabled, and for good when it is deleted (decisions.md
# "Disabled or deleted client"; oauth.md 5 "Transitions").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $path  = '/admin/api/identity-providers';
my $back  = $Authz::Grant::REDIRECT;
my %code  = (
    grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    scopes => [ 'openid',             'orders.read',   'introspection' ] );
my @web  = $stack->make_client( 'web', { %code, endpoints => ['introspect'] }, redirectUris => [$back] );
my @rs   = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
my $home = Authz::Idp->start;
my $corp = Authz::Idp->start;

# Change one member of a provider, by the API.
sub put {
    my ( $id, %field ) = @_;
    my $row = $stack->admin( GET => "$path/$id" )->json;
    return $stack->admin( PUT => "$path/$id", json => { %$row, %field } )->status;
}
sub enabled { my ( $id, $on ) = @_; return put( $id, enabled => $on ? true : false ) }

sub sign_in {
    my ( $idp, $id, $sub ) = @_;
    return $idp->sign_in( $stack, \@web, $sub, 'openid orders.read introspection', idp_hint => $id );
}
sub userinfo { my ($token) = @_; return $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer($token) ] ) }

# With the token as the caller's own credential.
sub as_caller {
    my ( $bearer, $token ) = @_;
    return $stack->http->post(
        '/introspect', headers => [ Authz::Client::bearer($bearer) ],
        form => [ token => $token ] );
}

$home->register( $stack, idpId => 'home' );
$corp->register( $stack, idpId => 'corp' );

# ---- disabling

my $hers   = sign_in( $home, 'home', 'ann' );
my $access = $hers->member('access_token');
my $his    = sign_in( $corp, 'corp', 'carl' )->member('access_token');
my $own    = $stack->token_text( @web, scope => 'introspection' );
oauth_ok( $stack->introspect( @rs, $access ), { active => true, sub => 'ann' }, 'disabled: an access token of before' );
oauth_ok( userinfo($access),                  { sub    => 'ann' },              '... which /userinfo takes' );
oauth_ok( as_caller( $access, $his ),         { active => true },               '... and /introspect as a credential' );
is( enabled( 'home', 0 ), 200, '(the provider is disabled)' );
inactive(
    $stack->introspect( @rs, $access ),
    'disabled: tokens of its people introspect inactive, exactly (decisions.md "Disabled or deleted client")' );
inactive( $stack->introspect( @web, $hers->member('refresh_token') ), '... refresh tokens too' );
inactive( $stack->introspect( @web, $access ),                        '... also for the client they were issued to' );
oauth_error( userinfo($access),          401, 'invalid_token', '... and /userinfo refuses them' );
oauth_error( as_caller( $access, $his ), 401, 'invalid_token', '... and /introspect, as a credential' );
oauth_error(
    Authz::Grant->refresh( $stack, \@web, $hers->member('refresh_token') ), 400,
    'invalid_grant',                                                        '... and there are no new ones' );
oauth_ok(
    $stack->introspect( @rs, $his ), { active => true, sub => 'corp|carl' },
    'disabled: tokens of people of another provider are active' );
oauth_ok( $stack->introspect( @rs, $own ), { active => true, sub => 'web' }, '... and those of a client of its own' );
is( enabled( 'home', 1 ), 200, '(it is enabled again)' );
oauth_ok(
    $stack->introspect( @rs, $access ), { active => true, sub => 'ann' },
    'enabled again: unexpired tokens are active again, as with a client' );
oauth_ok( userinfo($access),          { sub    => 'ann' }, '... at /userinfo' );
oauth_ok( as_caller( $access, $his ), { active => true },  '... and as a credential' );
oauth_ok( Authz::Grant->refresh( $stack, \@web, $hers->member('refresh_token') ), {}, '... and refresh tokens' );
is( put( 'home', name => 'Renamed' ), 200, '(another change)' );
oauth_ok( $stack->introspect( @rs, $access ), { active => true }, 'a change beside `enabled` ends no token' );

# ---- deleting

is( $stack->admin( DELETE => "$path/home" )->status, 204, '(the provider is deleted)' );
inactive( $stack->introspect( @rs,  $access ), 'deleted: tokens of its people introspect inactive' );
inactive( $stack->introspect( @web, $hers->member('refresh_token') ), '... refresh tokens too' );
oauth_error( userinfo($access),          401, 'invalid_token', '... and /userinfo refuses them' );
oauth_error( as_caller( $access, $his ), 401, 'invalid_token', '... and /introspect, as a credential' );
oauth_ok( $stack->introspect( @rs, $his ), { active => true }, '... but not tokens of other people' );
$home->register( $stack, idpId => 'home' );
inactive( $stack->introspect( @rs, $access ), 'made again: tokens of before stay dead' );
oauth_ok(
    $stack->introspect( @rs, sign_in( $home, 'home', 'ann' )->member('access_token') ),
    { active => true, sub => 'ann' }, '... and new ones are active' );

done_testing;

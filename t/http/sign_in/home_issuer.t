# The home issuer is stored at the first sign-in and is not moved by the deletion of a provider (decisions.md "Subject
# identifiers").
use strict;
use warnings;

use Test::More;

use Authz::Grant ();
use Authz::Idp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $path  = '/admin/api/identity-providers';
my $back  = $Authz::Grant::REDIRECT;
my %code  = (
    grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    scopes => [ 'openid',             'orders.read',   'introspection' ] );
my @web  = $stack->make_client( 'web', {%code}, redirectUris => [$back] );
my $home = Authz::Idp->start;
my $corp = Authz::Idp->start;

# Sign a person in, and return the `sub` of the ID token.
sub name_of {
    my ( $idp, $id, $sub ) = @_;
    my $tokens = $idp->sign_in( $stack, \@web, $sub, 'openid', idp_hint => $id );
    return ( Authz::Grant->jwt( $tokens->member('id_token') ) )[1]{sub};
}

$home->register( $stack, idpId => 'home' );
$corp->register( $stack, idpId => 'corp' );
is( $stack->sql('SELECT count(*) FROM home_issuer'), 0, 'home issuer: none is stored before the first sign-in' );
is( name_of( $corp, 'corp', 'carl' ), 'corp|carl',
    'a person of the second provider is <idpId>|<sub>, also as the first to sign in' );
is( $stack->sql('SELECT issuer FROM home_issuer'), $home->issuer,
    'the first sign-in stores the home issuer, that of the oldest provider (decisions.md "Subject identifiers")' );
is( name_of( $home, 'home', 'ann' ), 'ann', 'a person of the home issuer keeps the sub' );

# ---- deleting the oldest provider

is( $stack->admin( DELETE => "$path/home" )->status, 204, '(the oldest provider is deleted)' );
is( name_of( $corp, 'corp', 'carl' ), 'corp|carl',        'deleted: a person of the second provider keeps the name' );
is( name_of( $corp, 'corp', 'dora' ), 'corp|dora',
    'deleted: the second provider does not become the home: its new people are <idpId>|<sub> as before' );
is( name_of( $corp, 'corp', 'ann' ), 'corp|ann', '... and nobody there gets the name that policy knows for another' );
$stack->restart_service;
is( name_of( $corp, 'corp', 'ed' ), 'corp|ed', '... also in a process that never saw the first provider' );

# ---- made again

$home->register( $stack, idpId => 'again' );
is( name_of( $home, 'again', 'ann' ),
    'ann', 'made again with the same issuer, under another idpId: a known person has the old name' );
is( name_of( $home, 'again', 'fay' ), 'fay', '... and a new one the sub, for it is still the home issuer' );
is( $stack->sql('SELECT count(*) FROM home_issuer'), 1,             'there is one home issuer' );
is( $stack->sql('SELECT issuer FROM home_issuer'),   $home->issuer, '... the first one' );

# ---- the setting

$stack->restart_service( settings => { SVC_SUBJECT_HOME_ISSUER => $corp->issuer } );
is( name_of( $corp, 'corp', 'gus' ),  'gus',       'SVC_SUBJECT_HOME_ISSUER wins over the stored issuer' );
is( name_of( $corp, 'corp', 'carl' ), 'corp|carl', '... but changes no name that was given' );
isnt( name_of( $corp, 'corp', 'fay' ), 'fay', '... and gives nobody a name that is taken' );
is( name_of( $home, 'again', 'hal' ),              'again|hal',   '... and the other issuer is not the home then' );
is( $stack->sql('SELECT issuer FROM home_issuer'), $home->issuer, '... though it is the stored one' );
$stack->restart_service( settings => { SVC_SUBJECT_HOME_ISSUER => '' } );
is( name_of( $home, 'again', 'ida' ), 'ida', 'without the setting the stored issuer is the home again' );

done_testing;

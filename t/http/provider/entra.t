# Microsoft Entra: an issuer that stands for all tenants is no issuer of an ID token (world.md E1).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Idp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
my $many  = $idp->issuer . '/common/v2.0';

sub save {
    my ( $issuer, %more ) = @_;
    return $stack->admin(
        POST => '/admin/api/identity-providers',
        json => { idpId => 'e', name => 'E', clientId => 'c', enabled => JSON::PP::true(), issuer => $issuer, %more } );
}

sub refused {
    my ( $answer, $name ) = @_;
    is( $answer->status, 400, $name ) or diag( $answer->text );
    like( $answer->text, qr/names no tenant.*`tenants`/, '... which names tenants, and one provider for each' );
    is( $stack->sql('SELECT count(*) FROM identity_provider'), 0, '... and nothing is stored' );
    return;
}
for my $word (qw(common organizations consumers)) {
    refused( save("https://login.microsoftonline.com/$word/v2.0"), "common_at_save: $word at Microsoft (E1)" );
    refused( save( "https://login.microsoftonline.us/$word/v2.0/", enabled => JSON::PP::false() ), "... and disabled" );
}
$idp->misbehave( discovery => { issuer => $idp->issuer . '/{tenantid}/v2.0' } );
refused( save($many), 'a document whose issuer is a template' );
$idp->misbehave( discovery => { issuer => $many } );
is( save($many)->status, 201, 'an issuer of another host that its document names is one' );
is( $stack->admin(
        PUT  => '/admin/api/identity-providers/e',
        json => { name => 'E', issuer => 'https://login.microsoftonline.com/common/v2.0' } )->status,
    400,
    'a PUT is refused alike' );
for my $good (
    'https://login.microsoftonline.com/8b1b0d2e-1f5c-4a6b-9d51-0d9a5f3c2b10/v2.0',
    'https://login.microsoftonline.com/common-room/v2.0', 'https://idp.example/x/commonv2.0' )
{
    $stack->admin( DELETE => '/admin/api/identity-providers/e' );
    is( save( $good, enabled => JSON::PP::false() )->status, 201, "a tenant is taken: $good" );
}

done_testing;

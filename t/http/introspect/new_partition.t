# A partition that another process has just made: a host whose clock is wrong issues a token there, and the next request may be for it
# (performance.md R12). What the process has read a moment ago does not hide the token: it is active, and a revocation ends it.
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Check;
use Authz::Grant ();
use Authz::Stack ();

my $stack = Authz::Stack->start( workers => 1 );
my @crm   = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );

# A token that expires in so many hours, beyond what is made ahead, and the statements that let it be one.
sub moved {
    my ($hours) = @_;
    my $raw     = MIME::Base64::decode_base64url( substr $stack->token_text( @crm, scope => 'orders.read' ), 3, -6 );
    my $bucket  = int( ( time - $Authz::Grant::EPOCH ) / 3600 ) + $hours;
    my $id      = unpack 'H*', substr $raw, 5, 16;
    substr $raw, 2, 3, substr pack( 'N', $bucket ), 1;
    my $expires = $Authz::Grant::EPOCH + 3600 * $bucket + 60;
    return (
        Authz::Grant::token_of( 'at', $raw ),
        "SELECT partition_create('access_token', $bucket); UPDATE access_token SET expires_at = to_timestamp($expires) WHERE id = '$id'"
    );
}
sub look { return $stack->introspect( @rs, $_[0] ) }

my ( $shown,   $show )   = moved(100);
my ( $revoked, $revoke ) = moved(101);
inactive( look($_), 'a token whose partition does not exist is inactive' ) for $shown, $revoked;
$stack->sql($_)                                                            for $show,  $revoke;
is( $stack->revoke( @crm, token => $revoked )->status, 200, 'a partition made a moment ago: its token is revoked' );
oauth_ok( look($shown), { active => true }, '... another one is active' );
inactive( look($revoked), '... and the revoked one has ended' );
is( $stack->sql('SELECT count(*) FROM access_token WHERE revoked_at IS NOT NULL'), 1, '... by the request' );

# A partition that is made between two requests, the first of which has read the list just before.
( $revoked, $revoke ) = moved(102);
inactive( look($revoked), 'another token whose partition does not exist' );
$stack->sql($revoke);
is( $stack->revoke( @crm, token => $revoked )->status, 200, '... and does a moment later: it is revoked' );
is( $stack->sql('SELECT count(*) FROM access_token WHERE revoked_at IS NOT NULL'), 2, '... in the database' );

done_testing;

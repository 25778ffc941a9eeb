# The clock of the database was ahead and is set back, as by NTP after a start by a clock in local time. What a process has reckoned from
# it hides no token: a revocation that is acknowledged has happened (performance.md R12).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Clock    ();
use Authz::Grant    ();
use Authz::Postgres ();
use Authz::Stack    ();

my $clock    = Authz::Clock->new or plan skip_all => 'no compiler';
my $postgres = Authz::Postgres->shared_or_new( private => 1 );
$postgres->stop;
$postgres->{env} = { $clock->env };
$postgres->start;
my $stack = Authz::Stack->start( postgres => $postgres, workers => 1 );
my @crm   = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );
sub token { return $stack->token_text( @crm, scope => 'orders.read' ) }
sub look  { return $stack->introspect( @rs, $_[0] ) }

for my $case ( [ 1.2, 'a second ago' ], [ 0, 'a moment ago' ] ) {
    my ( $pause,   $name )  = @$case;
    my ( $revoked, $other ) = ( token(), token() );

    # A number that is not in the lists lets the process read them, and with them the clock.
    $clock->set( 3 * 3600 );
    sleep 1.1;
    look( Authz::Grant->token( 'at', time + 86_400 * 3 ) );
    inactive( look($other), "three hours ahead, read $name: a token is inactive" );
    sleep $pause;
    $clock->set(0);
    is( $stack->revoke( @crm, token => $revoked )->status, 200, '... set back: the next revocation is acknowledged' );
    inactive( look($revoked), '... and has ended the token' );
    is( $stack->sql('SELECT count(*) FROM access_token WHERE revoked_at IS NOT NULL'), 1, '... in the database' );
    oauth_ok( look($other), { active => true }, '... and another one is active' );
    $stack->sql('DELETE FROM access_token');
}
done_testing;

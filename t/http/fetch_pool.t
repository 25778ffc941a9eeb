# Slow hosts of others and the workers of the web pool: at most half of them wait, the rest serve (decisions.md "Half of
# the pool fetches"); and of that half, client metadata gets half, so that slow hosts in client_ids of strangers keep no
# provider waiting.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Client  ();
use Authz::Idp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $peer = Authz::Peer->start;
$peer->set( ( map { ( "/held$_" => { body => '{ }', stall => 1 } ) } 1 .. 4 ), '/good' => { body => {} } );
my $stack = Authz::Stack->start( web_workers => 8, settings =>
      { Authz::Idp->settings, SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true', SVC_CIMD_FETCH_TIMEOUT_SECONDS => 30 } );

my $idp  = Authz::Idp->start;
my $back = 'https://app.example/back';
$idp->register($stack);
$stack->make_client( 'web', undef, redirectUris => [$back] );

# A request that names a client by its document.
sub target {
    my ($path) = @_;
    return '/authorize?' . Authz::Client::form(
        response_type => 'code', client_id => $peer->url($path),
        redirect_uri  => 'https://app.example/cb' );
}

sub timed {
    my ($what) = @_;
    my $start  = time;
    my $answer = $stack->client->get($what);
    return ( $answer->status, time - $start, $answer );
}

my @held;

# Asks from beside; returns when so many have reached the host.
sub hold {
    my ( $reached, @path ) = @_;
    push @held, map {
        my $path = $_;
        Authz::Process->start( name => 'held', code => sub { $stack->client->get( target($path) ) } )
    } @path;
    return defined Authz::Process::until_true( 20, sub { $peer->hits >= $reached } );
}

ok( hold( 2, '/held1', '/held2' ), 'two of eight workers of the pool wait for hosts of clients that do not answer' );
for my $path (qw(/held1 /held2 /held3 /good)) {
    my ( $status, $took, $answer ) = timed( target($path) );
    is( $status, 503, "a third is refused: $path" );
    cmp_ok( $took, '<', 5, '... at once' );
    is( $answer->header('Refresh'), 1, '... and its browser asks again by itself' );
}
my $known = $stack->client->get( '/authorize?'
      . Authz::Client::form( response_type => 'code', client_id => 'web', redirect_uri => $back, scope => 'openid' ) );
is( $known->status, 302, 'a provider that is to be asked where it is has a place: the sign-in goes on' )
  or diag( $known->text );
is( $stack->sql('SELECT count(*) FROM sign_in'), 1, '... and was begun' );
my $form = $stack->client->request(
    POST => '/authorize',
    form => [ response_type => 'code', client_id => $peer->url('/good'), redirect_uri => 'https://app.example/cb' ] );
is( $form->status,                503,   '... a form, too' );
is( $form->header('Refresh'),     undef, '... which a browser would not send again' );
is( $form->header('Retry-After'), 1,     '... it is told when to come' );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/authorize'}), 1,
    '... and a request that is sent away leaves no audit row: nothing was asked or changed' );
is( $peer->hits,                2, '... and no other server is asked' );
is( scalar $stack->busy('web'), 2, 'the rest of the pool is free' );
my ( $status, $took ) = timed('/authorize?client_id=unknown');
is( $status, 400, '... and requests that need no other server are served' );
cmp_ok( $took, '<', 5, '... at once' );

kill 'KILL', ( $stack->busy('web') )[0];
ok( defined Authz::Process::until_true( 20, sub { $stack->workers('web') == 8 && $stack->busy('web') == 1 } ),
    'one of the two is killed by -9' );
timed( target('/good') );
is( $peer->hits('/good'), 1, '... and leaves no place taken' );
ok( hold( 4, '/held3' ), '... which the next one may take' );
timed( target('/held4') );
is( $peer->hits('/held4'), 0, '... and no second one' );
$_->stop for @held;

done_testing;

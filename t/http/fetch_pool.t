# Slow hosts of others and the workers of the web pool: at most half of them wait, the rest serve (decisions.md "Half of
# the pool fetches"); and of that half, client metadata gets half, so that slow hosts in client_ids of strangers keep no
# provider waiting. One address has one fetch of client metadata at a time, and so has one host (decisions.md "CIMD
# documents").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Client  ();
use Authz::Idp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my %other = map { ( $_ => Authz::Peer->start( host => $_, address => $_ ) ) } map {"127.0.0.$_"} 2 .. 5;
for my $host ( $peer, values %other ) {
    $host->set( ( map { ( "/held$_" => { body => '{ }', stall => 1 } ) } 1 .. 4 ), '/good' => { body => {} } );
}
my $stack = Authz::Stack->start(
    web_workers => 8,
    settings    => {
        Authz::Idp->settings, SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true', SVC_CIMD_FETCH_TIMEOUT_SECONDS => 30,
        SVC_CIMD_ALLOWED_INSECURE_HOSTS => join( ',', 'localhost', keys %other ) } );

my $idp  = Authz::Idp->start;
my $back = 'https://app.example/back';
$idp->register($stack);
$stack->make_client( 'web', undef, redirectUris => [$back] );

# A request that names a client by its document.
sub target {
    my ( $path, $host ) = @_;
    return '/authorize?' . Authz::Client::form(
        response_type => 'code', client_id => ( $host ? $other{$host} : $peer )->url($path),
        redirect_uri  => 'https://app.example/cb' );
}

# A client at an address of its own.
sub at { my ($number) = @_; return Authz::Client->new( port => $stack->{port}, from => "127.0.9.$number" ) }

sub timed {
    my ( $what, $number ) = @_;
    my $start  = time;
    my $answer = at( $number // 100 )->get($what);
    return ( $answer->status, time - $start, $answer );
}

sub is_sent_away {
    my ( $what,   $number, $name )   = @_;
    my ( $status, $took,   $answer ) = timed( $what, $number );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $status, 503, $name ) or diag( $answer->text );
    cmp_ok( $took, '<', 5, '... at once, or after a short wait' );
    return like(
        $answer->header('Refresh'),
        qr/\A[01]\.\d{3}\z/, '... and its browser asks again by itself, in a moment of its own' );
}

my @held;

# Asks from beside, from an address; returns when the host was asked.
sub hold {
    my ( $path, $host, $number ) = @_;
    push @held, Authz::Process->start( name => 'held', code => sub { at($number)->get( target( $path, $host ) ) } );
    return defined Authz::Process::until_true( 20, sub { $other{$host}->hits($path) } );
}

sub asked {
    my ( $path, @host ) = @_;
    return scalar map { $_->requests($path) } @other{@host};
}

ok( hold( '/held1', '127.0.0.2', 1 ), 'one of eight workers of the pool waits for the host of a client' );
is_sent_away(
    target( '/good', '127.0.0.3' ),
    1, 'its address cannot name another slow host meanwhile (decisions.md "CIMD documents")' );
is( asked( '/good', '127.0.0.3' ), 0, '... which is not asked' );
is_sent_away(
    target( '/good', '127.0.0.2' ),
    2, 'another address cannot name another document of the same host (decisions.md "CIMD documents")' );
is( asked( '/good', '127.0.0.2' ),                                    0, '... so no host gets two requests at a time' );
is( $stack->sql('SELECT string_agg(host, \' \') FROM fetching_host'), '127.0.0.2', '... by a lease of that host' );
is( $stack->sql('SELECT count(*) FROM fetched_document'),             1, '... and what is not asked leaves no row' );
ok( hold( '/held1', '127.0.0.3', 2 ), 'it may name another host' );
for my $path (qw(/held1 /held2 /good)) {
    is_sent_away(
        target( $path, '127.0.0.4' ), 3,
        "a third address is refused: client metadata has two places: $path" );
}
my $known =
  at(4)
  ->get( '/authorize?'
      . Authz::Client::form( response_type => 'code', client_id => 'web', redirect_uri => $back, scope => 'openid' ) );
is( $known->status, 302, 'a provider that is to be asked where it is has a place: the sign-in goes on' )
  or diag( $known->text );
is( $stack->sql('SELECT count(*) FROM sign_in'), 1, '... and was begun' );
my $form = at(5)->request(
    POST => '/authorize',
    form => [
        response_type => 'code', client_id => $other{'127.0.0.4'}->url('/good'),
        redirect_uri  => 'https://app.example/cb' ] );
is( $form->status,                503,   '... a form, too' );
is( $form->header('Refresh'),     undef, '... which a browser would not send again' );
is( $form->header('Retry-After'), 1,     '... it is told when to come' );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/authorize'}), 1,
    '... and a request that is sent away leaves no audit row: nothing was asked or changed' );
is( asked( '/good', keys %other ), 0, '... and no other server is asked' );
is( scalar $stack->busy('web'),    2, 'the rest of the pool is free' );
my ( $status, $took ) = timed('/authorize?client_id=unknown');
is( $status, 400, '... and requests that need no other server are served' );
cmp_ok( $took, '<', 5, '... at once' );

kill 'KILL', ( $stack->busy('web') )[0];
ok( defined Authz::Process::until_true( 20, sub { $stack->workers('web') == 8 && $stack->busy('web') == 1 } ),
    'one of the two is killed by -9' );
timed( target( '/good', '127.0.0.4' ), 6 );
is( asked( '/good', '127.0.0.4' ), 1, '... and leaves no place taken' );
is( $stack->sql(q{SELECT count(*) FROM fetching_host WHERE host = '127.0.0.4'}), 0,
    '... and a fetch that has ended leaves no lease of its host' );
ok( hold( '/held3', '127.0.0.5', 7 ), '... which the next one may take' );
timed( target( '/held4', '127.0.0.4' ), 8 );
is( asked( '/held4', '127.0.0.4' ), 0, '... and no second one' );
$_->stop for @held;

done_testing;

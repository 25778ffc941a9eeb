# Hosts of client metadata that hang, in every way a host can: they hold at most a quarter of the web workers, each for at most
# SVC_CIMD_FETCH_TIMEOUT_SECONDS, and all other requests are served meanwhile (specification 8 "CIMD fetch timeout"; decisions.md
# "Half of the pool fetches"; architecture.md 7).
use strict;
use warnings;

use IO::Socket::INET ();
use IO::Socket::IP   ();
use List::Util       ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my ( $web, $timeout ) = ( 12, 2 );
my $part  = $web / 4;              # half of the half that may fetch: the rest is for the operator's providers
my $stack = Authz::Stack->start(
    web_workers => $web,
    settings    => {
        Authz::Idp->settings, SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true', SVC_CIMD_FETCH_TIMEOUT_SECONDS => $timeout,
        SVC_CIMD_ALLOWED_INSECURE_HOSTS => join( ',', 'localhost', map {"127.0.0.$_"} 1 .. 60 ) } );
my $idp = Authz::Idp->start;
$idp->register($stack);
my $peer = Authz::Peer->start;
$stack->make_client( 'spa', undef, clientType => 'public', redirectUris => ['https://spa.example/cb'] );

my $challenge = 'c' x 43;

sub target {
    my ( $client_id, $back ) = @_;
    return '/authorize?' . Authz::Client::form(
        response_type => 'code',   client_id      => $client_id, redirect_uri          => $back,
        scope         => 'openid', code_challenge => $challenge, code_challenge_method => 'S256' );
}

# Asks from an address of its own, because one address has one fetch at a time.
sub ask {
    my ( $client_id, $number ) = @_;
    my $client = Authz::Client->new( port => $stack->{port}, from => '127.0.9.' . ( $number // 1 ) );
    return $client->get( target( $client_id, 'https://app.example/cb' ) );
}

# ---- ways to hang

# The kernel accepts for one that never does; and one whose queue is full is not even reached.
my $silent = IO::Socket::INET->new( LocalAddr => '0.0.0.0',   Listen => 128 ) or die "listen: $@";
my $full   = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 1 )   or die "listen: $@";
my @filler = map { IO::Socket::IP->new( PeerHost => '127.0.0.1', PeerPort => $full->sockport, Blocking => 0 ) } 1 .. 8;

# One machine with many names: one host has one fetch at a time, too.
sub silent { my ( $path, $number ) = @_; return "http://127.0.0.$number:" . $silent->sockport . "/$path" }

# Connections to it that are there or being made. The kernel writes the list in pieces, so one that ends and one that begins
# meanwhile are both in it; other looks tell, as a connection lasts for the time of a fetch.
sub fetches {
    return List::Util::min( map { connections() } 1 .. 4 );
}

sub connections {
    my $port = sprintf '%04X', $silent->sockport;
    open my $in, '<', '/proc/net/tcp' or die "/proc/net/tcp: $!";
    return scalar grep {m{\A\s*\d+: \S+ [0-9A-F]{6}7F:$port 0[12] }} readline $in;
}

$peer->set(
    '/never' => { delay => 10 }, '/drops' => { body => '{}', drip => 0.5 },
    '/stops' => { body  => '{"client_id":"x"}', stall => 5 } );
my %address = (
    'a host that never answers'         => $peer->url('/never'),
    'a host that sends by drops'        => $peer->url('/drops'),
    'a host that stops in the body'     => $peer->url('/stops'),
    'a host that accepts nothing'       => silent( 'c', 1 ),
    'a host that accepts no connection' => 'http://127.0.0.1:' . $full->sockport . '/c',
);
for my $name ( sort keys %address ) {
    my $start  = time;
    my $answer = ask( $address{$name} );
    my $took   = time - $start;
    is( $answer->status, 400, "$name: 400 (oauth.md 3.2, order 1)" ) or diag( $answer->text );
    ok( $took > $timeout - 0.5 && $took < $timeout + 3, sprintf '... after the time a fetch may take (%.1f s)', $took );
}

# ---- many of them at once

# From here on the provider's discovery document is cached, so a sign-in needs no place for a fetch to begin.
like(
    $stack->client->get( target( 'spa', 'https://spa.example/cb' ) )->header('Location'), qr{\A\Q$idp->{issuer}\E/},
    'a sign-in begins' );
my $before = $stack->sql('SELECT count(*) FROM client');
my $until  = time + 12;
my @crowd  = map {
    my $n = $_;
    Authz::Process->start( name => "asker$n", code => sub { ask_on($n) } )
} 1 .. 20;

# Names a new address of the silent host each time: one that failed is left alone for a while.
sub ask_on {
    my ($n) = @_;
    for ( my $round = 1 ; time < $until ; $round++ ) {
        my $answer = ask( silent( "$n-$round", $n ), $n );
        print 'asked ', $answer->status, ' ',
          ( defined $answer->header('Refresh') ? 'busy' : $answer->body =~ /took too long/ ? 'tried' : 'else' ), "\n";
        sleep 0.1;
    }
    return;
}
Authz::Process::until_true( 10, sub { fetches() > 0 } );
my ( $most, $slowest, $served, @bad ) = ( 0, 0, 0 );
my $client = $stack->client;
while ( time < $until - 1 ) {
    my $now = fetches();
    $most = $now if $now > $most;
    for my $request ( [ GET => target( 'spa', 'https://spa.example/cb' ), 302 ], [ GET => '/authorize', 400 ] ) {
        my ( $method, $target, $status ) = @$request;
        my $start  = time;
        my $answer = $client->request( $method, $target );
        my $took   = time - $start;
        $slowest = $took if $took > $slowest;
        if   ( $answer->status == $status ) { $served++ }
        else                                { push @bad, $answer->text }
    }
    my $start  = time;
    my $answer = $stack->admin( GET => '/admin/api/identity-providers' );
    my $took   = time - $start;
    $slowest = $took if $took > $slowest;
    if   ( $answer->status == 200 ) { $served++ }
    else                            { push @bad, $answer->text }
    sleep 0.02;
}
$_->wait(30) for @crowd;
my @line = map { $_->log_text =~ /^(asked .*)$/mg } @crowd;
my %kind;
$kind{ (/(busy|tried)/)[0] }++ for @line;
cmp_ok( $kind{tried} // 0, '>=', $part, "hanging hosts were asked: $kind{tried} times" );
cmp_ok( $kind{busy}  // 0, '>=', 10,    '... and more were named than are asked: those get the page that asks again' );
is( scalar( grep { !/\Aasked (?:400 tried|503 busy)/ } @line ), 0, '... with 503, and those that were asked with 400' )
  or diag( grep { !/\Aasked (?:400 tried|503 busy)/ } @line );
cmp_ok( $most,   '>',  0,     "$most fetches at a time" );
cmp_ok( $most,   '<=', $part, "... a quarter of the $web workers at most" );
cmp_ok( $served, '>',  60,    "$served other requests to the same pool were served meanwhile" );
is( scalar @bad, 0, '... all of them' ) or diag( $bad[0] );
cmp_ok( $slowest, '<', $timeout, sprintf '... the slowest in %.2f s, so none waited for a host', $slowest );
is( $stack->sql('SELECT count(*) FROM client'), $before, 'no row came of it' );

# ---- one address, and one host

$stack->sql('DELETE FROM fetched_document');
my $n = 0;
for my $case (
    [ 'from one address, of six hosts',  sub { my ($n) = @_; return ( silent( "one-$n",  20 + $n ), 1 ) } ],
    [ 'of one host, from six addresses', sub { my ($n) = @_; return ( silent( "host-$n", 20 ),      $n ) } ] )
{
    my ( $name, $of ) = @$case;
    my @asker = map {
        my @one = $of->($_);
        Authz::Process->start( name => 'six-' . ++$n, code => sub { print 'asked ', ask(@one)->status, "\n" } )
    } 1 .. 6;
    my ( $seen, $highest ) = ( time, 0 );
    while ( time < $seen + $timeout ) {
        my $now = fetches();
        $highest = $now if $now > $highest;
        sleep 0.02;
    }
    $_->wait(30) for @asker;
    is( $highest, 1, "six documents $name: one fetch at a time (decisions.md \"CIMD documents\")" );
    is( join( ' ', sort map { $_->log_text =~ /asked (\d+)/ } @asker ), '400 503 503 503 503 503',
        '... and the rest comes again' );
    Authz::Process::until_true( 10, sub { fetches() == 0 } );
}

# ---- places come back from workers that are killed

my @stuck = map {
    my $n = $_;
    Authz::Process->start( name => "stuck$n", code => sub { ask( silent( "stuck$n", 30 + $n ), $n ) } )
} 1 .. $part;
Authz::Process::until_true( 30, sub { fetches() == $part } );
kill 'KILL', my @victims = $stack->busy('web');
is( scalar @victims, $part, 'workers are killed while they fetch' );
$_->wait(20) for @stuck;
sleep 0.5;
my $good = $peer->url('/good');
$peer->set( '/good' => { body => { client_id => $good, redirect_uris => ['https://app.example/cb'] } } );
Authz::Process::until_true( 20, sub { ask($good)->status == 302 } );
is( ask($good)->status, 302, '... their places come back' );
my @answer = Authz::Client::together(
    map {
        my $client = Authz::Client->new( port => $stack->{port}, from => "127.0.9.$_" );
        [   $client,
            $client->octets( GET => target( silent( "again$_", 40 + $_ ), 'https://app.example/cb' ), close => 1 ) ]
    } 1 .. 2 * $part );
is( scalar( grep { $_->body =~ /took too long/ } @answer ), $part, '... all of them, and no more' )
  or diag( map { $_->status . "\n" } @answer );

done_testing;

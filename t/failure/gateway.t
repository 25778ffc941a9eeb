# A hanging upstream occupies the workers of the gateway alone (architecture.md 3, issue 14): tokens and sign-in go on.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $WORKERS = 3;
my $peer    = Authz::Peer->start;
my $stack   = Authz::Stack->start(
    gateway  => $WORKERS,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost', SVC_GATEWAY_RESPONSE_TIMEOUT => '10s' } );
my $gateway = Authz::Managed->new($stack);
$gateway->resource( 'slow', upstreamUrl => $peer->url, routes => [ { id => 'all', path => '/**' } ] );
$peer->set( '/hang' => { delay => 20 }, '/good' => { body => { ok => 1 } } );
is( $gateway->ask( GET => 'slow', '/good' )->status, 200, 'the gateway serves' );

$gateway->resource(
    'here',
    upstreamType => 'STATIC',
    routes       => [ { id => 'all', path => '/good', response => { status => 200, json => { ok => 1 } } } ] );
my $client = $stack->client;

sub begin_one {
    my ($path) = @_;
    return $client->begin(
        $client->octets(
            GET     => $gateway->target( 'slow', $path ),
            headers => [ Authorization => 'Bearer ' . $gateway->token('slow') ],
            close   => 1 ) );
}

# A rush that is over soon is none of the cases below: it waits.
$peer->set( '/slow' => { delay => 0.2, body => { ok => 1 } } );
my @rush = map { begin_one('/slow') } 1 .. 12;
is_deeply(
    [ map { $client->end( $_, 'GET' )->status } @rush ],
    [ (200) x 12 ],
    'more requests than workers wait for their turn while upstreams answer' );

my @waiting = map { begin_one('/hang') } 2 .. $WORKERS;
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/hang') == $WORKERS - 1 } ),
    'all workers of the gateway but one wait for an upstream' );

# The last one tells the others, in place of a wait for the slowest upstream.
for my $time ( 'a request beyond them', 'the next one' ) {
    my $began   = time;
    my $refused = $gateway->ask( GET => 'slow', '/good' );
    is( $refused->status,                503,                       "$time is 503" ) or diag $refused->text;
    is( $refused->header('Retry-After'), 1,                         '... and says when to come again' );
    is( $refused->member('error'),       'temporarily_unavailable', '... and why' );
    cmp_ok( time - $began, '<', $time eq 'the next one' ? 0.9 : 5, '... soon' );
}
is( $gateway->ask( GET => 'here', '/good' )->status, 200,          'what needs no upstream is served' );
is( $peer->hits('/hang'),                            $WORKERS - 1, '... while the others still wait' );

my ( $good, $longest ) = ( 0, 0 );
for ( 1 .. 50 ) {
    my $began  = time;
    my $answer = $stack->token( @{ $gateway->{client} }, scope => 'use', resource => "$stack->{base}/gateway/slow" );
    my $took   = time - $began;
    $longest = $took if $took > $longest;
    $good++ if $answer->status == 200;
}
is( $good, 50, '... and /token answers all requests' );
ok( $longest < 2, '... as fast as ever' ) or diag "$longest s";
is( $stack->http->get('/.well-known/openid-configuration')->status,      200, '... discovery too' );
is( $stack->admin( GET => '/admin/api/managed-resources/slow' )->status, 200, '... the admin API' );
is( $stack->http->get('/gateway/link')->status, 400, '... and the pool of the pages of account links' );

is( $client->end( $waiting[0], 'GET' )->status, 504, 'a waiting request ends after its time: 504' );
close $_ for @waiting;
ok( defined Authz::Process::until_true( 60, sub { $gateway->ask( GET => 'slow', '/good' )->status == 200 } ),
    '... and the gateway serves again' );

# Without its workers the gateway fails alone.
kill 'KILL', grep { workers_pool($_) eq 'gateway' } $stack->{service}->children;
is( $stack->token( @{ $gateway->{client} } )->status, 200,
    'workers of the gateway that are killed leave the others alone' );
ok( defined Authz::Process::until_true( 20, sub { $gateway->ask( GET => 'slow', '/good' )->status == 200 } ),
    '... and are replaced' );

# The pool of a worker, by the socket that it still has.
sub workers_pool {
    my ($pid) = @_;
    my %inode;
    open my $in, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    while ( my $line = readline $in ) { $inode{$1} = $2 if $line =~ m{ (\d+) \S*/(\w+)\.sock$} }
    my @socket =
      grep {defined} map { ( readlink($_) // '' ) =~ /\Asocket:\[(\d+)\]/ ? $inode{$1} : undef } glob "/proc/$pid/fd/*";
    my %has = map { ( $_ => 1 ) } grep {/\A(?:core|web|bundles|gateway)\z/} @socket;
    return join ',', sort keys %has;
}

done_testing;

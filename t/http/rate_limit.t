# The rate limit: exact across processes, per client address, safe against kill -9 (specification 7.3, 8; decisions.md
# "Rate limit"; performance.md R14).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

my $limit = 40;
my %on    = ( SVC_RATE_LIMIT_ENABLED => 'true', SVC_RATE_LIMIT_REQUESTS => $limit, SVC_RATE_LIMIT_WINDOW => 86400 );
my $stack = Authz::Stack->start( workers => 8, settings => { %on, SVC_TRUSTED_PROXY_COUNT => 1 } );

# Sends so many /revoke requests at once, each from the given X-Forwarded-For; how many were let in.
sub admitted {
    my ( $where, $count, $from, $path ) = @_;
    my $http   = $where->client;
    my @header = map { ( 'X-Forwarded-For' => $_ ) } grep {defined} ref $from ? @$from : $from;
    my $octets = $http->octets(
        'POST', $path // '/revoke', form => [ token => 'x', grant_type => 'x' ], headers => \@header,
        close => 1 );
    my ( $in, $out, $other ) = ( 0, 0, 0 );
    while ( $count > 0 ) {
        my $now = $count > 40 ? 40 : $count;
        for my $answer ( Authz::Client::together( map { [ $http, $octets ] } 1 .. $now ) ) {
            if    ( $answer->status == 429 )                          { $out++ }
            elsif ( $answer->status >= 200 && $answer->status < 500 ) { $in++ }
            else                                                      { $other++ }
        }
        $count -= $now;
    }
    return $other ? "$in in, $out out, $other others" : "$in in, $out out";
}

# ---- exact

is( admitted( $stack, 100, '192.0.2.1' ), '40 in, 60 out',
    'limit 40, 100 requests over 8 processes: exactly 40 are let in (R14)' );
is( admitted( $stack, 5, '192.0.2.1' ), '0 in, 5 out', 'and no more in this window' );
is( admitted( $stack, 41, '192.0.2.2' ), '40 in, 1 out',
    'another address has its own count; the 41st is one too many' );
is(     admitted( $stack, 20, '192.0.2.3' ) . ', '
      . admitted( $stack, 30, '192.0.2.3', '/token' ) . ', '
      . admitted( $stack, 5,  '192.0.2.3', '/introspect' ),
    '20 in, 0 out, 20 in, 10 out, 0 in, 5 out', 'one count over all listed paths together (decisions.md "Rate limit")'
);
is( admitted( $stack, 41, '2001:db8::1' ), '40 in, 1 out', 'an IPv6 address is counted' );
is( admitted( $stack, 1, '2001:db8::ffff' ), '0 in, 1 out',
    'one subscriber owns a /64: its addresses share the count' );

is( admitted( $stack, 41, '192.0.2.4', '/admin/api/object-owners/secrets' ),
    '40 in, 1 out', 'guesses at secrets of objects are counted too (doc/design/instance.md F4)' );
is( admitted( $stack, 41, '192.0.2.5', '/admin/api/object-owners' ), '41 in, 0 out',
    '... and no other path of its kind' );

my $wrong_method = $stack->client->get( '/token', headers => [ 'X-Forwarded-For' => '192.0.2.1' ] );
is( $wrong_method->status, 429, 'a wrong method on a listed path is counted like the right one (specification 8)' );
is( $wrong_method->header('Allow'), undef, 'and has no Allow when it is one too many' );
is( $stack->client->get( "/$_", headers => [ 'X-Forwarded-For' => '192.0.2.8' ] )->status, 405,
    "GET /$_ is 405 within the limit" ) for (qw(token introspect revoke)) x 13, 'token';
is( admitted( $stack, 2, '192.0.2.8' ), '0 in, 2 out', 'and forty of them are the limit' );

# ---- the answer (specification 7.3)

my $http   = $stack->client;
my $answer = $http->post(
    '/token', form => [ grant_type => 'client_credentials' ],
    headers => [ 'X-Forwarded-For' => '192.0.2.1' ] );
oauth_error( $answer, 429, 'too_many_requests', '429 with the error too_many_requests' );
is( $answer->member('error_description'), 'Rate limit exceeded. Try again later.',
    '429: the description of specification 7.3' );
my $retry = $answer->header('Retry-After') // 'none';
ok( $retry =~ /\A\d+\z/ && $retry >= 1 && $retry <= 86400, '429: Retry-After within the window' ) or diag($retry);

# A program at /authorize gets the same; a browser names text/html when it opens a page.
for my $case (
    [ '*/*', 'json' ], [ undef, 'json' ], [ 'application/json', 'json' ],
    [ 'text/html,application/xhtml+xml,*/*;q=0.8', 'html' ], [ 'Text/HTML', 'html' ] )
{
    my ( $accept, $form ) = @$case;
    my $at = $http->get(
        '/authorize?client_id=x',
        headers => [ 'X-Forwarded-For' => '192.0.2.1', $accept ? ( Accept => $accept ) : () ] );
    my $name = '429 at /authorize, Accept ' . ( $accept // 'missing' );
    if ( $form eq 'json' ) {
        is_deeply( $at->json, $answer->json, "$name: the JSON of specification 7.3 (decisions.md \"Rate limit\")" );
    }
    else {
        is( $at->header('Content-Type'), 'text/html; charset=utf-8', "$name: a page" );
        like( $at->body, qr/Too many requests/, '... that says why' );
    }
    is( $at->status, 429, '... status' );
    like( $at->header('Retry-After'), qr/\A\d+\z/, '... Retry-After' );
}

# ---- what is not limited

my $health = 0;
for ( 1 .. 45 ) {
    $health++ if $http->get( '/.well-known/jwks.json', headers => [ 'X-Forwarded-For' => '192.0.2.1' ] )->status == 200;
}
is( $health, 45, 'other paths are unlimited (specification 8)' );
is( $stack->admin( GET => '/admin/api/clients', headers => [ 'X-Forwarded-For' => '192.0.2.1' ] )->status, 200,
    'so is the admin API' );

# ---- kill -9 (R14)

is( admitted( $stack, 30, '192.0.2.9' ), '30 in, 0 out', 'thirty of forty are used' );
my @before = $stack->workers;
kill 'KILL', @before;
my ( $until, @after ) = ( time + 30 );
do { sleep 0.05; @after = $stack->workers } while (
    time < $until && (
        @after < 14 || grep {
            my $pid = $_;
            grep { $_ == $pid } @before
        } @after ) );
ok( @after >= 14 && !(
        grep {
            my $pid = $_;
            grep { $_ == $pid } @before
        } @after ),
    'kill -9 of every worker: all are replaced' ) or diag("before @before, after @after");
is( admitted( $stack, 20, '192.0.2.9' ), '10 in, 10 out', 'and the count goes on where it was' );
is( admitted( $stack, 5,  '192.0.2.1' ), '0 in, 5 out',   'an exhausted one stays exhausted' );

# ---- X-Forwarded-For (specification 8 "Client address")

# Trusted count 1: the last entry, whatever the caller wrote before it.
is( admitted( $stack, 40, '10.1.1.1, 198.51.100.1' ), '40 in, 0 out', 'trusted 1: the last entry is the client' );
is( admitted( $stack, 5, '10.9.9.9, 198.51.100.1' ), '0 in, 5 out',
    'trusted 1: forged entries before it change nothing' );
is( admitted( $stack, 5, '198.51.100.1,10.9.9.9' ), '5 in, 0 out', 'trusted 1: another last entry is another client' );
is( admitted( $stack, 5, [ '10.0.0.5', '198.51.100.1' ] ), '0 in, 5 out',
    'trusted 1: two header lines are one list (RFC 9110 5.3)' );
is( admitted( $stack, 5,  ' 198.51.100.1 ' ),    '0 in, 5 out', 'trusted 1: blanks do not matter' );
is( admitted( $stack, 5,  '198.51.100.1:4711' ), '0 in, 5 out', 'trusted 1: nor does a port' );
is( admitted( $stack, 40, undef ),       '40 in, 0 out', 'trusted 1: without the header the connection counts' );
is( admitted( $stack, 5,  undef ),       '0 in, 5 out',  'trusted 1: and is limited' );
is( admitted( $stack, 5,  '127.0.0.1' ), '0 in, 5 out',  'trusted 1: the same address by either way has one count' );
is( admitted( $stack, 40, 'unknown' ), '40 in, 0 out',
    'trusted 1: requests without an entry do not count for the proxy' );
is( admitted( $stack, 5, $_ ), '0 in, 5 out', "trusted 1: all of them are counted as one: '$_'" )
  for '10.0.0.1, x', '999.1.1.1', '10.0.0.1,';

my $zero = Authz::Stack->start( beside => $stack, settings => {%on} );
is( admitted( $zero, 20, '203.0.113.1' ) . ', ' . admitted( $zero, 30, '203.0.113.2' ), '20 in, 0 out, 20 in, 10 out',
    'trusted 0: the header does not count at all' );
is( admitted( $stack, 1, '203.0.113.1' ), '1 in, 0 out', 'each instance counts on its own (specification 8)' );

my $two = Authz::Stack->start( beside => $stack, settings => { %on, SVC_TRUSTED_PROXY_COUNT => 2 } );
is( admitted( $two, 40, '198.51.100.7, 10.0.0.1' ), '40 in, 0 out',
    'trusted 2: the entry before the last is the client' );
is( admitted( $two, 5, '1.1.1.1, 198.51.100.7, 10.0.0.2' ), '0 in, 5 out',
    'trusted 2: what stands before and after it changes nothing' );
is( admitted( $two, 5, '198.51.100.8, 10.0.0.1' ), '5 in, 0 out', 'trusted 2: another one is another client' );
is( admitted( $two, 40, '198.51.100.9' ), '40 in, 0 out',
    'trusted 2: with one entry alone the client is unknown, and all such requests count as one client' );
is( admitted( $two, 5, '198.51.100.10' ), '0 in, 5 out',
    'trusted 2: a caller that leaves the list short does not choose its address' );

# ---- the window

my $window = 4;
my $short  = Authz::Stack->start(
    beside   => $stack,
    settings => { %on, SVC_RATE_LIMIT_REQUESTS => 5, SVC_RATE_LIMIT_WINDOW => $window } );
sub which       { return int( time / $window ) }
sub next_window { Authz::Process::sleep_until( $window * ( which() + 1 ) + 0.05 ); return which() }

# Ten at the start of a window, ten in the middle, ten at the start of the next. On a busy machine some may come too late for
# the window that they are meant for: then it is done again.
my @three;
for ( 1 .. 10 ) {
    my $at = next_window();
    @three = ( admitted( $short, 10 ) );
    sleep $window / 2;
    push @three, admitted( $short, 10 );
    next if which() != $at;
    $at = next_window();
    push @three, admitted( $short, 10 );
    last if which() == $at;
}
is( $three[0], '5 in, 5 out',  "window of $window s: five of ten are let in" );
is( $three[1], '0 in, 10 out', "window of $window s: none in the middle of it" );
is( $three[2], '5 in, 5 out', "window of $window s: refused requests did not extend it (decisions.md \"Rate limit\")" );
$stack->restart_service( settings => { SVC_RATE_LIMIT_ENABLED => 'false' } );
is( admitted( $stack, 60, '192.0.2.1' ), '60 in, 0 out', 'SVC_RATE_LIMIT_ENABLED=false: no request is refused' );

done_testing;

# Refresh tokens that were issued beside each other, because a rotated one was used again within its window: the first use of
# one ends the unused others, and the use of one that ended revokes the family (decisions.md "Siblings"; RFC 9700 4.14).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

# So many requests at once may wait for the engine for long on a busy machine, which is no error of ours.
# SVC_REFRESH_BRANCHES is off, so that there are siblings alone, whatever the network; branches.t has the default.
my %slow = ( SVC_POLICY_TIMEOUT_MS => 20_000, SVC_REFRESH_BRANCHES => 'off' );
my $one  = Authz::Stack->start( settings => {%slow} );
my $two  = Authz::Stack->start( beside   => $one, settings => {%slow} );
my @http = ( $one->client, $two->client );
my %code =
  ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [ 'openid', 'orders.read', 'introspection' ] );
my @rs = $one->make_client( 'rs', { endpoints => ['introspect'] } );
$one->make_client( $_, {%code}, clientType => 'public' ) for qw(spa app);
Authz::Grant->people($one);

# Its refresh tokens are shown to their own client alone, which is public and so asks with an access token.
my $bearer = Authz::Grant->redeem( $one, 'spa', Authz::Grant->code( $one, client => 'spa', scope => 'introspection' ) )
  ->member('access_token');

sub shown {
    my ($token) = @_;
    return $one->http->post(
        '/introspect', headers => [ Authz::Client::bearer($bearer) ],
        form => [ token => $token ] );
}

# The answer to the first refresh token of a new family.
sub family {
    my $answer = Authz::Grant->redeem(
        $one, 'spa',
        Authz::Grant->code( $one, client => 'spa', scope => 'openid orders.read' ) );
    return $answer->member('refresh_token') // die $answer->text;
}
sub refresh { my ( $token, @more ) = @_; return Authz::Grant->refresh( $one, 'spa', $token, @more ) }

# The refresh token that this one gives.
sub next_of {
    my ( $token, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = refresh($token);
    oauth_ok( $answer, { refresh_token => sub { $_[0] ne $token } }, $name );
    return $answer->member('refresh_token');
}

sub refused {
    my ( $token, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_error( refresh($token), 400, 'invalid_grant', $name );
}

# A new family's first token and its children: so many siblings.
sub siblings {
    my ($count) = @_;
    my $first = family();
    return ( $first, map { refresh($first)->member('refresh_token') } 1 .. $count );
}

sub last_audit {
    return $one->sql(
        q{SELECT coalesce(request_summary::json->>'family', 'lives') FROM audit_log WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1}
    );
}

# ---- a thief who uses the rotated token within the window

my $stolen = family();
my $owners = refresh($stolen);
my $thiefs = refresh($stolen);
my @access = map { $_->member('access_token') } $owners, $thiefs;
my ( $hers, $his ) = map { $_->member('refresh_token') } $owners, $thiefs;
oauth_ok( shown($_), { active => true }, 'siblings: both are active before one is used' ) for $hers, $his;
my $answer = refresh($hers);
oauth_ok( $answer, {}, 'thief: the owner goes on' );
inactive( shown($his), '... which ends the sibling that was not used (decisions.md "Siblings")' );
oauth_ok(
    $two->introspect( @rs, $_ ), { active => true },
    'siblings: access tokens stay, those of the ended sibling too (decisions.md "Siblings")' ) for @access;
oauth_error(
    Authz::Grant->refresh( $one, 'app', $his ), 400, 'invalid_grant',
    'siblings: an ended one in the hands of another client is refused' );
oauth_ok( shown( $answer->member('refresh_token') ), { active => true }, '... and ends nothing' );
refused( $his, 'thief: the use of an ended sibling is refused, also within the window' );
is( last_audit(), 'revoked', '... and revokes the family, which the audit row says (RFC 9700 4.14.2)' );
refused( $answer->member('refresh_token'), '... so that neither lives on: not the owner' );
inactive( $one->introspect( @rs, $_ ), '... nor an access token' ) for @access, $answer->member('access_token');

( undef, $hers, $his ) = siblings(2);
my $taken = next_of( $his, 'thief: who comes first' );
refused( $hers,  '... is found when the owner uses the own token' );
refused( $taken, '... and loses the family' );

# Long after the window, which is 30 s.
( $stolen, $hers, $his ) = siblings(2);
$one->sql(
    q{UPDATE refresh_token SET first_used_at = first_used_at - interval '1 hour' WHERE first_used_at IS NOT NULL});
my $on = $hers;
$on = next_of( $on, "thief: who waits, while the owner goes on, time $_" ) for 1 .. 3;
refused( $his, '... is found at the first use' );
refused( $on,  '... and the family is dead' );

# A later use of the rotated token, when its first child has children: all unused ones of a family are siblings.
for my $first ( 0, 1 ) {
    my ( $rotated, $child ) = siblings(1);
    my @pair = ( next_of( $child, 'late sibling: the child goes on' ) );
    push @pair, next_of( $rotated, '... the rotated token gives another within the window' );
    my $lives = next_of( $pair[$first], '... one of the two is used' );
    refused( $pair[ 1 - $first ], '... and the other one ends the family' );
    refused( $lives,              '... whole' );
}

# ---- what a host does that refreshes in parallel, or loses answers

for my $kept ( 0 .. 3 ) {
    my ( $first, @sibling ) = siblings(4);
    refused( $first, 'limit: a fourth reuse is refused' ) if $kept == 3;
    next                                                  if $kept == 3;
    my $token = $sibling[$kept];
    $token = next_of( $token, "host: the sibling that is stored last goes on, number $kept, turn $_" ) for 1 .. 4;
    is( last_audit(), 'lives', '... and the family lives' );
}
my $first = family();
refresh($first);
my $again = next_of( $first, 'lost answer: the same token again gives another' );
refresh($again);
$again = next_of( $again, '... whose own answer may be lost, too' );
$again = next_of( $again, '... and its successor goes on' ) for 1 .. 2;
my $lost = refresh($again)->member('refresh_token');
my $new  = next_of( $again, 'lost answer: the answer that did arrive' );
$new = next_of( $new, '... is used' );
refused( $lost, '... after which the lost one must not appear' );

# ---- what is no use

my ( undef, @pair ) = siblings(2);
oauth_error( refresh( $pair[0], scope => 'openid admin' ), 400, 'invalid_scope', 'no use: a refused scope' );
$one->bind( 'spa', { grants => ['authorization_code'] } );
oauth_error( refresh( $pair[0] ), 400, 'unauthorized_client', '... or a denial by policy' );
$one->bind( 'spa', { grants => $code{grants} } );
oauth_ok( shown($_), { active => true }, '... ends no sibling' ) for @pair;
next_of( $pair[1], '... the other one may be used' );
refused( $pair[0], '... and then the first one is ended' );

# A client that has a secret by now keeps its token, but not one that ended.
( undef, @pair ) = siblings(2);
next_of( $pair[0], 'confidential by now: one was used before' );
my @web = $one->make_client( 'web', {%code} );
$one->sql(
    q{UPDATE token_grant SET client = (SELECT id FROM client WHERE client_id = 'web') WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)}
);
oauth_error(
    Authz::Grant->refresh( $one, \@web, $pair[1] ), 400, 'invalid_grant',
    '... the ended one is refused for a confidential client, too' );
is( last_audit(), 'revoked', '... and revokes the family' );

# Tokens of a program that did not know turns (its columns are empty) do not end, but what they give does.
( undef, @pair ) = siblings(2);
$one->sql('UPDATE refresh_token SET turn = NULL WHERE first_used_at IS NULL');
my @next = map { next_of( $_, 'of an earlier program: a token works' ) } @pair;
next_of( $next[1], '... and what the last one gave' );
refused( $next[0], '... but what was given before has ended' );

# ---- in parallel

sub together {
    my (@token) = @_;
    my $i       = 0;
    my @job     = map {
        my $http = $http[ $i++ % 2 ];
        [ $http, Authz::Grant->octets( $http, 'spa', grant_type => 'refresh_token', refresh_token => $_ ) ]
    } @token;
    my @answer = Authz::Client::together(@job);
    my %count;
    $count{ $_->failure // $_->status }++ for @answer;
    return (
        join( ', ', map {"$_: $count{$_}"} sort keys %count ),
        grep {defined} map { $_->member('refresh_token') } @answer );
}
for my $round ( 1 .. 4 ) {
    my ( $count, @sibling ) = together( ( family() ) x 4 );
    is( $count, '200: 4', "parallel: four processes of a host with one token on two instances, round $round" );
    my $token = $sibling[ $round - 1 ];
    for my $turn ( 1 .. 3 ) {
        ( $count, @sibling ) = together( ($token) x 4 );
        is( $count, '200: 4', "... and again with the one that was stored, turn $turn" );
        $token = $sibling[ ( $round + $turn ) % 4 ];
    }
    ( $count, my @won ) = together(@sibling);
    is( $count, '200: 1, 400: 3', 'parallel: four siblings at once: one is first (decisions.md "Siblings")' );
    refused( $won[0], '... and the others end the family' );
}
my ( $count, @many ) = together( map { family() } 1 .. 24 );
is( $count, '200: 24', 'parallel: many families' );
( $count, @many ) = together( map { ( $_, $_, $_ ) } @many );
is( $count, '200: 72', '... each with three processes' );

is( $one->sql(
        q{SELECT count(*) FROM audit_log WHERE endpoint = '/token' AND (http_status >= 500 OR outcome = 'error')}),
    0,
    'no request ended in an error of ours' );
is( $one->sql('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'),
    0, 'PostgreSQL saw no deadlock' );

done_testing;

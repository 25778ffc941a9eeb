# GET /admin/api/clients: pages, filters and the total (gateway-admin.md 3.6)
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start;
my $list  = '/admin/api/clients';
$stack->sql(<<'SQL');
INSERT INTO client (client_id, client_name, client_type, registration_type, enabled)
SELECT 'app-' || lpad(i::text, 4, '0'), CASE WHEN i % 10 = 0 THEN 'Orders 100% ' || i END,
       CASE WHEN i % 2 = 0 THEN 'public' ELSE 'confidential' END, CASE WHEN i % 5 = 0 THEN 'DCR' ELSE 'ADMIN' END, i % 4 <> 0
  FROM generate_series(1, 200) i;
SQL

sub ids {
    my ($query) = @_;
    return map { $_->{clientId} } @{ $stack->admin( GET => "$list?$query" )->json };
}

my $all = $stack->admin( GET => $list );
is( scalar @{ $all->json },        200, 'clients: without parameters the list has all (specification 4.12)' );
is( $all->header('X-Total-Count'), 200, 'clients: ... and their number' );
my @paged = map { ids("page=$_&size=30") } 0 .. 7;
is_deeply( \@paged, [ map { $_->{clientId} } @{ $all->json } ], 'clients: the pages have each client once' );
is( scalar( ids('page=0') ),              50, 'clients: a page has 50 by default' );
is( scalar( my @few = ids('size=1') ),    1,  'clients: size alone gives the first page' );
is( scalar( my @past = ids('page=900') ), 0,  'clients: a page beyond the last one is empty' );
is( $stack->admin( GET => "$list?page=900" )->header('X-Total-Count'), 200, 'clients: ... and still tells the total' );

for my $case (
    [ 'q=APP-000',                                  9,   'a part of the id in any case' ],
    [ 'q=orders',                                   20,  'a part of the name in any case' ],
    [ 'q=100%25',                                   20,  'a wildcard is a letter' ],
    [ 'q=app_',                                     0,   'so is an underscore' ],
    [ 'registrationType=DCR',                       40,  'the way of registration' ],
    [ 'clientType=public',                          100, 'the type' ],
    [ 'enabled=false',                              50,  'the switch' ],
    [ 'enabled=false&clientType=confidential',      0,   'two filters' ],
    [ 'q=orders&registrationType=DCR&enabled=true', 10,  'three' ] )
{
    my ( $query, $count, $name ) = @$case;
    my $answer = $stack->admin( GET => "$list?$query&size=200" );
    is( scalar @{ $answer->json } . ' ' . $answer->header('X-Total-Count'), "$count $count",
        "clients: $name ($query)" );
}
admin_error( $stack->admin( GET => "$list?$$_[0]=$$_[1]" ), 400, "clients: $$_[0]=$$_[1] is 400", fields => [ $$_[0] ] )
  for [ registrationType => 'dcr' ], [ clientType => 'x' ], [ enabled => 1 ], [ page => 'x' ], [ page => -1 ],
  [ size => 0 ], [ q => '' ], [ enabled => '' ], [ usedSince => 'yesterday' ], [ usedSince => '2026-13-01T00:00:00Z' ],
  [ sort => 'x' ],
  [ sort => 'denied24h' ],
  [ size => 201 ], [ page => 100001 ];

# ---- figures: the last use, live tokens and decisions of a day, as housekeeping added them up

my @crm     = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my @erp     = $stack->make_client( 'erp', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my ($label) = map { $_->{label} } @{ $stack->admin( GET => '/admin/api/admin-keys' )->json };

sub one {
    my ( $id, $query ) = @_;
    my ($row) =
      grep { $_->{clientId} eq $id } @{ $stack->admin( GET => "$list?q=$id&size=200" . ( $query // '' ) )->json };
    return $row;
}
members_are(
    one('crm'),
    {   lastUsedAt => undef, liveTokens => 0, allowed24h => 0, denied24h => 0, updatedBy => $label,
        createdAt  => qr/\A\d{4}-\d\d-\d\dT[\d:.]+Z\z/, updatedAt => qr/\A\d{4}-\d\d-\d\dT[\d:.]+Z\z/ },
    'clients: a new client was not used, and the label of the key that made it is told' );
is( one('app-0001')->{updatedBy}, undef, 'clients: ... of one that no request to the admin API wrote, nothing' );
ok( !exists $stack->admin( GET => "$list?q=crm" )->json->[0]{denied24h}, 'clients: a list of all has no figures' );
$stack->token( @crm,       scope => 'orders.read' ) for 1 .. 3;
$stack->token( @crm,       scope => 'other' )       for 1 .. 2;
$stack->token( @erp,       scope => 'orders.read' );
$stack->token( 'app-0002', 'wrong', scope => 'x' );    # rejected: it is no use of the client
$stack->authzctl('maintain');
members_are(
    one('crm'),
    { lastUsedAt => qr/\A\d{4}-/, liveTokens => 3, allowed24h => 3, denied24h => 2 },
    'clients: decisions, live tokens and the last use' );
members_are(
    $stack->admin( GET => "$list/crm" )->json,
    { lastUsedAt => one('crm')->{lastUsedAt}, createdAt => one('crm')->{createdAt}, denied24h => undef },
    'clients: the client itself has its last use' );
is( one('app-0002')->{lastUsedAt}, undef, 'clients: a secret that is wrong uses no client' );
$stack->sql(
    q{INSERT INTO hour_count VALUES ('crm', now() - interval '25 hours', 'denied', 100);
      INSERT INTO client_last SELECT client_id, now() - interval '1 day' FROM client WHERE client_id = 'app-0003'}
);
is( one('crm')->{denied24h},       2,     'clients: a decision of before counts no more' );
is( one('app-0003')->{lastUsedAt}, undef, 'clients: a use from before the client was made is that of another' );
$stack->admin( POST => '/admin/api/tokens/revoke', json => { clientId => 'crm' } );
is( one('crm')->{liveTokens}, 0, 'clients: a revoked token is not live' );
is( one('erp')->{liveTokens}, 1, 'clients: ... and those of others are' );

is_deeply( [ ( ids('sort=-lastUsedAt&size=3') )[ 0, 1 ] ], [qw(erp crm)], 'clients: sorted by the last use' );
is( ( ids('sort=lastUsedAt&size=200&page=1') )[-1], 'erp', 'clients: ... the other way round, those never used first' );
is( ( ids('sort=-denied24h&size=1') )[0],           'crm', 'clients: sorted by denials' );
$stack->sql(q{UPDATE hour_count SET n = 9, outcome = 'denied' WHERE client_id = 'erp'});
$stack->authzctl('maintain');
is_deeply( [ ( ids('sort=-denied24h&size=3') )[ 0, 1 ] ], [qw(erp crm)], 'clients: ... the most first' );
is( ( ids('sort=clientId&size=1') )[0],   'app-0001', 'clients: ... by the id' );
is( ( ids('sort=-clientId&size=1') )[0],  'erp',      'clients: ... from the last one' );
is( ( ids('sort=-createdAt&size=1') )[0], 'erp',      'clients: ... the newest first' );
my @sorted = map { ids("sort=-lastUsedAt&page=$_&size=50") } 0 .. 4;
is( scalar keys %{ { map { $_ => 1 } @sorted } }, 202, 'clients: pages of any order have each client once' );
my $since = one('crm')->{lastUsedAt};
is_deeply(
    [ sort( ids("usedSince=$since") ) ], [qw(crm erp)],
    'clients: those used since a time, which is part of it' );
is( scalar( my @none = ids('usedSince=2999-01-01T00:00:00Z') ), 0, 'clients: none since a later one' );

$stack->sql(
    q{INSERT INTO hour_count VALUES ('', now() - interval '9 days', 'denied', 1), ('', now() - interval '7 days', 'denied', 1),
      ('crm', now() - interval '3 days', 'denied', 1)} );
$stack->authzctl('maintain');
is( $stack->sql(q{SELECT count(*) FROM hour_count WHERE hour < now() - interval '2 days'}),
    1, 'clients: numbers by hour are kept for 8 days, those of one client for 2' );
done_testing;

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
    [ 'q=',                                         200, 'an empty text is none' ],
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
  [ size => 0 ],
  [ size => 201 ], [ page => 100001 ];
done_testing;

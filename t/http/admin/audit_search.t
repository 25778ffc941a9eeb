# GET /admin/api/audit-logs/search (gateway-admin.md 3.6): filters, and answers that go on where the one before ended
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Process ();
use Authz::Stack   ();

my $stack  = Authz::Stack->start;
my $search = '/admin/api/audit-logs/search';

sub answer { my ($query) = @_; return $stack->admin( GET => "$search?$query" ) }

# All rows of a filter, by following next; dies of a place that comes twice.
sub all {
    my ( $query, $after ) = @_;
    my ( @row, %seen, $answers );
    while (1) {
        my $page = answer( "$query" . ( defined $after ? "&after=$after" : '' ) )->json;
        $answers++;
        push @row, @{ $page->{content} // die 'no content' };
        $after = $page->{next};
        last                               if !defined $after;
        die "the place $after comes twice" if $seen{$after}++;
    }
    return wantarray ? ( \@row, $answers ) : \@row;
}

# 45,000 rows of yesterday, and 60 of the two days before that have something to find.
$stack->sql(<<'SQL');
SELECT partition_create('audit_log', (current_date - date '2026-01-01')::integer - d) FROM generate_series(1, 3) d;
INSERT INTO audit_log (created_at, id, request_id, endpoint, operation, method, http_status, outcome, client_id)
SELECT now() - interval '1 day', nextval('audit_id_seq'), 'plain-' || i, '/token', 'token', 'POST', 200, 'allowed', 'busy'
  FROM generate_series(1, 45000) i;
INSERT INTO audit_log (created_at, id, request_id, client_id, endpoint, operation, method, http_status, outcome, ip, request_summary)
SELECT now() - d * interval '1 day', nextval('audit_id_seq'), 'find-' || d || '-' || i, 'busy', '/gateway/mcp', 'callMcp', 'POST',
       200, CASE WHEN i <= 10 THEN 'denied' ELSE 'allowed' END, CASE WHEN i % 2 = 0 THEN '192.0.2.7'::inet ELSE '2001:db8::7'::inet END,
       CASE WHEN i <= 5 THEN '{"resource":"orders","tool":"refund_order","denyCodes":"refund_too_large other_code"}'
            WHEN i <= 10 THEN '{"resource":"orders","tool":"refund","denyCodes":"other_code"}'
            WHEN i = 11 THEN '{"resource":"crm","note":"\"tool\":\"refund_order\""}'
            ELSE '{"resource":"crm","tool":"find"}' END
  FROM generate_series(2, 3) d, generate_series(1, 30) i;
SQL

# An answer has fewer rows when its time is over (AUDIT_SEARCH_MS), as on a busy machine.
my $first = answer('size=7');
is( $first->status, 200, 'search: 200' ) or diag( $first->text );
ok( defined Authz::Process::until_true(
        60,
        sub { $first = answer('size=7'); return @{ $first->json->{content} } == 7 } ),
    'search: as many rows as were asked for' );
like( $first->json->{next}, qr/\A\d+[.]\d+\z/, 'search: and where to go on' );
my $rows = all('size=200&endpoint=/gateway/mcp');
is( scalar @$rows, 60, 'search: following next finds all rows' );
is_deeply(
    [ map { $_->{createdAt} . $_->{id} } @$rows ],
    [ map { $_->{createdAt} . $_->{id} } sort { $b->{createdAt} cmp $a->{createdAt} || $b->{id} <=> $a->{id} } @$rows ],
    'search: ... each once, the newest first' );
is_deeply(
    [ map { $_->{id} } @{ all('size=7&endpoint=/gateway/mcp') } ],
    [ map { $_->{id} } @$rows ],
    'search: ... with answers of any size' );
my ( undef, $answers ) = all('size=200&tool=none');
cmp_ok( $answers, '>', 0, 'search: a filter that matches nothing ends too' );

for my $case (
    [ 'reason=refund_too_large',           10, 'a code among others' ],
    [ 'reason=other_code',                 20, 'the last code' ],
    [ 'reason=refund',                     0,  'a part of a code matches nothing' ],
    [ 'reason=other_code&outcome=allowed', 0,  'no allowed row has a reason' ],
    [ 'resource=orders',                   20, 'a resource' ],
    [ 'resource=order',                    0,  'a part of its name matches nothing' ],
    [ 'tool=refund_order',                 10, 'a tool; a text that looks like one is none' ],
    [ 'resource=orders&tool=find',         0,  'a tool of another resource' ],
    [ 'tool=%25',                          0,  'a wildcard is a letter' ],
    [ 'tool=%22%5C',                       0,  'a quote and a backslash are letters' ],
    [ 'ip=192.0.2.7',                      30, 'an address of IPv4' ],
    [ 'ip=2001:db8:0:0::7',                30, 'an address of IPv6 in another form' ],
    [ 'clientId=busy&operation=callMcp',   60, 'an operation of a client with many rows' ],
    [ 'clientId=busy&outcome=denied',      20, 'an outcome of it' ],
    [ 'operation=callMcp&status=200',      60, 'a status' ],
    [ 'operation=callMcp&status=404',      0,  'another status' ] )
{
    my ( $query, $count, $name ) = @$case;
    is( scalar @{ all("size=200&$query") }, $count, "filters: $name ($query)" );
}
my ($one) = @{ all('size=200&reason=refund_too_large') };
is( scalar @{ all("size=200&reason=refund_too_large&toInstant=$one->{createdAt}") },
    5, 'filters: rows before an instant' );
is( scalar @{ all("size=200&reason=refund_too_large&fromInstant=$one->{createdAt}") },
    5, 'filters: rows from an instant on' );

# Rows that are written meanwhile come before the place, so none is shown twice.
my $begin = answer('size=30&endpoint=/gateway/mcp')->json;
while ( !@{ $begin->{content} } ) { $begin = answer("size=30&endpoint=/gateway/mcp&after=$begin->{next}")->json }
$stack->sql(
    q{INSERT INTO audit_log (created_at, id, request_id, endpoint, operation, method, http_status, outcome) SELECT now(), nextval('audit_id_seq'), 'late', '/gateway/mcp', 'callMcp', 'POST', 200, 'allowed'}
);
my $rest = all( 'size=200&endpoint=/gateway/mcp', $begin->{next} );
is( @{ $begin->{content} } + @$rest, 60, 'search: rows that are written meanwhile are not part of what follows' );

# A question and its answer are left out of the summary view alone.
$stack->make_client( 'crm', { grants => ['client_credentials'] } );
$stack->admin(
    POST => '/admin/api/policy-rules/evaluate',
    json => { package => 'svc.decision.token', input => {} }, headers => [ 'X-Request-ID' => 'asked' ] );
my ($full)    = @{ all('requestId=asked') };
my ($summary) = @{ all('requestId=asked&view=summary') };
delete @{$full}{qw(policyInput policyDecision)};
is_deeply( $summary, $full, 'search: view=summary has all members but the documents' );

# Requests to the admin API, by what they are about.
$stack->make_client($_) for 'erp', 'a "b"';
$stack->admin( PUT    => '/admin/api/clients/erp', json => { clientId => 'erp', clientType => 'confidential' } );
$stack->admin( DELETE => '/admin/api/clients/erp' );
$stack->admin( PUT    => '/admin/api/policy-data/by-key?dataKey=example.erp', json => { payload => { limit => 1 } } );

sub operations {
    return [ map { $_->{requestSummary}{operation} } @{ all( 'view=summary&' . shift ) } ];
}
is_deeply(
    operations('object=erp'), [qw(deleteClient updateClient createClient)],
    'search: the changes of a client, the last first' );
is_deeply( operations('object=example.erp'), ['putPolicyDataByKey'], 'search: ... of a row' );
is_deeply( operations('object=a%20%22b%22'), ['createClient'],       'search: ... of one with quotes in its name' );
is_deeply( operations("object=$_"),          [],                     "search: $_ is no object" )
  for 'er', 'rp', 'busy', 'owner', 'createClient%22', '%25';
is_deeply( operations('object=erp&operation=updateClient'), ['updateClient'], 'search: ... and a second filter' );

admin_error( answer("$$_[0]=$$_[1]"), 400, "faults: $$_[0]=$$_[1] is 400", fields => [ $$_[0] ] )
  for [ after => 'x' ], [ after => '5' ], [ after => '5.' ], [ after => '5.0' ], [ after => '.5' ], [ after => '5.-1' ],
  [ size   => 0 ],  [ size => 201 ], [ size => 'x' ], [ ip => 'x' ], [ ip => '192.0.2.7/24' ], [ view => 'all' ],
  [ status => 99 ], [ fromInstant => '2026-01-31' ], [ reason => 'x' x 513 ],
  [ object => 'x' x 513 ];
is( answer('size=200&after=1.1')->json->{next},            undef, 'search: a place before all rows is the end' );
is( $stack->admin( GET => $search, key => undef )->status, 401,   'search: it needs an admin key' );

done_testing;

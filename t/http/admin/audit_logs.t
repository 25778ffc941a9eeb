# /admin/api/audit-logs: pages, filters and one row; what a row tells an investigator, and the ways that lead to it
# (specification 2.7, 4.12; decisions.md "Audit log").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp::settings() } );
$idp->register($stack);
my $logs = '/admin/api/audit-logs';
my %cc   = ( grants => ['client_credentials'] );
my @crm  = $stack->make_client( 'crm', { %cc, scopes => ['orders.read'] } );
my @rs   = $stack->make_client( 'rs',  { endpoints   => ['introspect'] } );

sub page {
    my ( $query, %option ) = @_;
    return $stack->admin( GET => "$logs?$query", %option );
}

# The rows of a filter, asked until there are so many: some are written after the answer.
sub rows {
    my ( $query, $count ) = @_;
    my $page;
    for ( 1 .. 200 ) {
        $page = page($query)->json;
        last if $page->{totalElements} >= ( $count // 1 );
        sleep 0.05;
    }
    return @{ $page->{content} };
}

# ---- the page object

my $total = $stack->sql('SELECT count(*) FROM audit_log');
my $first = page('');
is( $first->status, 200, 'audit logs: 200' ) or BAIL_OUT( $first->text );
my $unsorted = { empty => true, sorted => false, unsorted => true };
my @content  = @{ $first->json->{content} };
is_deeply(
    { %{ $first->json }, content => undef },
    {   content          => undef,           empty      => false, first => true, last => true, number => 0, size => 20,
        numberOfElements => scalar @content, totalPages => 1,     totalElements => $total,
        pageable         =>
          { offset => 0, pageNumber => 0, pageSize => 20, paged => true, unpaged => false, sort => $unsorted },
        sort => $unsorted },
    'audit logs: PageAuditLogDto, all of its members and no other (specification 2.7)' ) or diag( $first->text );
is( scalar @content, $total, 'audit logs: ... with all rows' );
is_deeply(
    [ map { $_->{id} } @content ],
    [ sort { $b <=> $a } map { $_->{id} } @content ],
    'audit logs: the newest is first (specification 4.12)' );

my $none = page('clientId=nobody')->json;
is_deeply(
    [ @{$none}{qw(content empty first last numberOfElements totalPages totalElements)} ],
    [ [], true, true, true, 0, 0, 0 ],
    'audit logs: a filter that nothing matches gives an empty page' );
my $beyond = page('page=7&size=1')->json;
is_deeply(
    [ @{$beyond}{qw(content empty first last number)}, $beyond->{pageable}{offset} ],
    [ [], true, false, true, 7, 7 ],
    'audit logs: so does a page behind the last one' );
is_deeply(
    page('sort=createdAt,asc&sort=id')->json->{content},
    $first->json->{content}, 'audit logs: sort is accepted and ignored (specification 4.12)' );

# Many pages hold every row once, also over several days and while housekeeping adds rows up.
$stack->sql(<<'SQL');
SELECT partition_create('audit_log', (current_date - date '2026-01-01')::integer - d) FROM generate_series(1, 12) d;
INSERT INTO audit_log (created_at, id, request_id, flow_id, client_id, subject_id, endpoint, operation, method, http_status, outcome)
SELECT now() - d * interval '1 day', nextval('audit_id_seq'), 'old-' || d || '-' || i, ('01990000-0000-7000-8000-00000000000' || i)::uuid,
       'client-' || i % 2, 'alice', CASE i % 3 WHEN 0 THEN '/token' WHEN 1 THEN '/introspect' ELSE '/admin/api/clients' END,
       'o' || i, 'POST', 200 + i, (ARRAY['allowed', 'denied', 'rejected', 'error'])[1 + i % 4]
  FROM generate_series(1, 12) d, generate_series(0, 5) i;
UPDATE audit_cut SET cut_at = cut_at - interval '12 days';
SQL
my $every =
  $stack->sql("SELECT string_agg(id::text, ' ' ORDER BY date_trunc('day', created_at) DESC, id DESC) FROM audit_log");
for my $counted ( 'before housekeeping has added them up', 'afterwards' ) {
    for my $size ( 1, 7, 200 ) {
        my ( @id, @totals );
        for ( my $number = 0 ; $number < 200 ; $number++ ) {
            my $page = page("page=$number&size=$size")->json;
            push @id,     map { $_->{id} } @{ $page->{content} };
            push @totals, $page->{totalElements};
            last if $page->{last};
        }
        is( "@id", $every, "audit logs: pages of $size have every row once, $counted" );
        is_deeply( [ grep { $_ != @id } @totals ], [], '... and each page tells how many there are' );
    }
    $stack->authzctl('maintain') if $counted =~ /before/;
}
is( $stack->sql(q{SELECT sum(n) FROM audit_count WHERE client_id = ''}),
    scalar split( / /, $every ),
    'audit logs: housekeeping has counted every row' );

# ---- filters: each alone, and two together, before and after rows were added up

my ( $d3, $d5 ) = map { $stack->sql("SELECT current_date - $_") } 3, 5;
my $flow = '01990000-0000-7000-8000-000000000003';
for my $case (
    [ 'clientId=client-1',                      "client_id = 'client-1'" ],
    [ 'outcome=denied',                         "outcome = 'denied'" ],
    [ 'outcome=allowed',                        "outcome = 'allowed'" ],
    [ 'outcome=error&clientId=client-1',        "outcome = 'error' AND client_id = 'client-1'" ],
    [ 'endpoint=/token',                        "endpoint = '/token'" ],
    [ 'endpoint=/admin/api/clients',            "endpoint = '/admin/api/clients'" ],
    [ 'endpoint=/introspect&clientId=client-0', "endpoint = '/introspect' AND client_id = 'client-0'" ],
    [ 'subjectId=alice',                        "subject_id = 'alice'" ],
    [ 'subjectId=alice&outcome=error',          "subject_id = 'alice' AND outcome = 'error'" ],
    [ "flowId=$flow",                           "flow_id = '$flow'" ],
    [ "flowId=\U$flow",                         "flow_id = '$flow'" ],
    [ 'requestId=old-3-3',                      "request_id = 'old-3-3'" ],
    [ "from=$d3",                               "created_at >= '$d3'" ],
    [ "to=$d3",                                 "created_at < date '$d3' + 1" ],
    [ "from=$d5&to=$d3",                        "created_at >= '$d5' AND created_at < date '$d3' + 1" ],
    [   "from=$d5&to=$d5&clientId=client-0&size=2",
        "created_at >= '$d5' AND created_at < date '$d5' + 1 AND client_id = 'client-0'" ],
    [   "from=$d5&to=$d3&subjectId=alice",
        "created_at >= '$d5' AND created_at < date '$d3' + 1 AND subject_id = 'alice'" ],
  )
{
    my ( $query, $where ) = @$case;
    my $page  = page( $query =~ /size/ ? $query : "$query&size=200" )->json;
    my @id    = map { $_->{id} } @{ $page->{content} };
    my @there = split /\n/,
      $stack->sql("SELECT id FROM audit_log WHERE $where ORDER BY date_trunc('day', created_at) DESC, id DESC");
    is_deeply(
        [ sort { $a <=> $b } @id ],
        [ sort { $a <=> $b } @there[ 0 .. $#id ] ],
        "audit logs: $query finds what it says" );
    is( $page->{totalElements}, scalar @there, '... and how many there are' );
}
is( page('operation=o1&status=201')->json->{totalElements},
    scalar split( / /, $every ),
    'audit logs: operation and status are filters of the export alone (specification 4.12)' );

admin_error(
    page("$_="), 400, "audit logs: $_ empty is refused, and finds not all (oauth.md C4)",
    fields => [$_] ) for qw(clientId outcome from);

# ---- limits

for my $case (
    [ page      => 'page=-1' ],
    [ page      => 'page=x' ],
    [ page      => 'page=2147483648' ],
    [ page      => 'page=100001&size=1' ],
    [ page      => 'page=501&size=200' ],
    [ size      => 'size=0' ],
    [ size      => 'size=201' ],
    [ size      => 'size=' . '9' x 30 ],
    [ outcome   => 'outcome=ALLOWED' ],
    [ flowId    => 'flowId=x' ],
    [ flowId    => "flowId=${flow}0" ],
    [ flowId    => 'flowId=' . ( $flow =~ tr/-/0/r ) ],
    [ from      => 'from=2026-02-30' ],
    [ from      => 'from=2026-01-01T00:00:00Z' ],
    [ from      => 'from=0000-01-01' ],
    [ to        => 'to=yesterday' ],
    [ to        => "from=$d3&to=$d5" ],
    [ clientId  => 'clientId=' . 'x' x 513 ],
    [ subjectId => 'subjectId=' . 'x' x 513 ],
    [ requestId => 'requestId=' . 'x' x 513 ],
    [ endpoint  => 'endpoint=' . 'x' x 513 ],
  )
{
    my ( $field, $query ) = @$case;
    admin_error(
        page($query), 400, 'audit logs: ' . substr( $query, 0, 40 ) . " is 400 and names $field",
        fields => [$field] );
}
admin_error(
    page('page=x&size=y&outcome=z'), 400, 'audit logs: every fault is named',
    fields => [qw(page size outcome)] );
is( page($_)->status, 200, "audit logs: $_ is within the limits" )
  for 'page=100000&size=1', 'page=500&size=200', 'clientId=' . 'x' x 512, "from=$d3&to=$d3";
is( page('clientId=a&clientId=b')->status,               400, 'audit logs: a parameter twice is 400' );
is( page('clientId=%ff')->status,                        400, 'audit logs: what is not UTF-8 is 400' );
is( $stack->admin( GET => $logs, key => undef )->status, 401, 'audit logs: without a key 401' );

# ---- one row: what it holds (specification 2.7; policy.md 6.6)

my $token = $stack->http->post(
    '/token',
    headers => [ 'X-Request-ID' => 'see-1', 'User-Agent' => 'logs/1', Authz::Client::basic(@crm) ],
    form    => [ grant_type     => 'client_credentials', scope => 'orders.read other' ] )->member('access_token');
my ($row) = rows('requestId=see-1');
members_are(
    $row,
    {   requestId      => 'see-1', clientId => 'crm', subjectId => 'crm', endpoint => '/token', method => 'POST',
        outcome        => 'allowed',
        ip             => '127.0.0.1', userAgent => 'logs/1', flowId => qr/\A[0-9a-f-]{36}\z/,
        createdAt      => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/,
        requestSummary => sub {
            eq_hash(
                $_[0],
                {   operation => 'token', status => 200, denyCodes => 'scope_not_entitled',
                    grantType => 'client_credentials', scope => 'orders.read' } );
        },
        policyInput => sub { $_[0]{evaluation} eq 'issue' && "@{ $_[0]{scopes}{requested} }" eq 'orders.read other' },
        policyDecision => sub {
            $_[0]{allow} && "@{ $_[0]{scopes} }" eq 'orders.read' && $_[0]{revision} =~ /\A[0-9a-f]{32}\z/;
        }
    },
    'audit log: a row has the request, and policy\'s question and answer unpacked, with the revision' );
my $same = $stack->admin( GET => "$logs/$row->{id}" );
is( $same->status, 200, 'audit log: by id 200' );
is_deeply( $same->json, $row, 'audit log: ... the same row' );
admin_error( $stack->admin( GET => "$logs/$_" ), 404, "audit log: the id '$_' is 404 with an empty body" )
  for 0, 999_999_999, '99999999999999999999', 'x';
unlike( $first->text, qr/:null/, 'audit log: absent members are left out' );

$stack->sql(q{UPDATE audit_log SET policy_input = '\xff00' WHERE request_id = 'old-3-3'});
members_are(
    ( rows('requestId=old-3-3') )[0],
    { requestId => 'old-3-3', policyInput => sub { $_[0]{error} =~ /cannot be read/ } },
    'audit log: a document that another version packed does not hide the row' );

# X-Request-ID -> row -> replay, each in one call.
my $replay = $stack->admin( POST => '/admin/api/policy-rules/evaluate', json => { auditId => $row->{id} } );
members_are(
    $replay->json,
    { changed => false, before => sub { eq_hash( $_[0], $row->{policyDecision} ) }, endpoint => '/token' },
    'audit log: from the request id one call leads to the row, and one more to its replay' );

# Why an introspection was inactive.
$stack->introspect( @rs, $token, 'X' => 'y' );
$stack->revoke( @crm, token => $token );
$stack->http->post(
    '/introspect', headers => [ 'X-Request-ID' => 'see-2', Authz::Client::basic(@rs) ],
    form => [ token => $token ] );
my ($inactive) = rows('requestId=see-2');
is( $inactive->{requestSummary}{inactive}, 'revoked',      'audit log: a row tells why an introspection was inactive' );
is( $inactive->{outcome},                  'rejected',     '... and is rejected' );
is( $inactive->{flowId},                   $row->{flowId}, 'audit log: its flow id is that of the token' );
my @flow = rows( "flowId=$row->{flowId}", 3 );
is_deeply(
    [ map { $_->{requestSummary}{operation} } @flow ], [qw(introspect introspect token)],
    'audit log: the flow id links the token and its introspections' );

# A refused request has the reason in its row.
$stack->http->post(
    '/token', headers => [ 'X-Request-ID' => 'see-3', Authz::Client::basic(@crm) ],
    form => [ grant_type => 'client_credentials', scope => 'a"b' ] );
($row) = rows('requestId=see-3');
members_are(
    $row->{requestSummary},
    { operation => 'token', status => 400, error => 'invalid_scope', reason => qr/scope/i },
    'audit log: a refused request keeps the error and its reason' );

# /authorize, the callback, /token and /introspect of one sign-in.
my @web = $stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => ['https://app.example/cb'] );
my @hop = Authz::Browser->new->follow(
    $stack->base . '/authorize?' . Authz::Client::form(
        client_id => 'web', redirect_uri => 'https://app.example/cb', response_type => 'code', state => 's',
        scope     => 'openid' ),
    stop => qr{\Ahttps://app\.example/} );
my %back = Authz::Browser::query( Authz::Browser::location( $hop[-1] ) );
$token = $stack->http->post(
    '/token',
    headers => [ 'X-Request-ID' => 'see-4',              Authz::Client::basic(@web) ],
    form    => [ grant_type     => 'authorization_code', code => $back{code}, redirect_uri => 'https://app.example/cb' ]
)->member('access_token');
$stack->introspect( @rs, $token );
($row) = rows('requestId=see-4');
@flow = rows( 'flowId=' . ( $row->{flowId} // 'none' ), 4 );
is_deeply(
    [ map { $_->{requestSummary}{operation} } reverse @flow ],
    [qw(authorize authorizeCallback token introspect)],
    'audit log: the flow id links authorize, callback, token and introspection' );

done_testing;

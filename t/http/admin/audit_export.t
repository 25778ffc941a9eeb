# /admin/api/audit-logs/export: the three forms, their filters and limits, cells that a spreadsheet would run, and readers who
# are slow or leave (specification 4.12; decisions.md "Audit export").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

my $stack  = Authz::Stack->start( web_workers => 3 );
my $logs   = '/admin/api/audit-logs';
my $export = "$logs/export";
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub export {
    my ( $query, %option ) = @_;
    return $stack->admin( GET => "$export?$query", %option );
}

# The row of an export without its leaf, which it has once it is sealed (t/http/admin/audit_proof.t).
sub bare {
    my ($row) = @_;
    return { map { $_ => $row->{$_} } grep { !/\Aleaf/ } keys %$row };
}

# A caller chooses these values, and a spreadsheet would take some of them for formulas.
my @agents = (
    q{=cmd|' /C calc'!A0}, '+1+1',          '-2+3',          '@SUM(A1)', "\tx", 'a "quoted", text', "plain", q{'=1+1},
    "\xef\xbc\x9d1+1",     "\xef\xbc\x8b1", "\xef\xbc\x8d1", "\xef\xbc\xa0SUM(A1)", "\xef\xbc\x9e1" );
for my $agent (@agents) {
    $stack->http->post(
        '/token', headers => [ 'User-Agent' => $agent, Authz::Client::basic(@crm) ],
        form => [ grant_type => 'client_credentials', scope => 'orders.read' ] );
}
my $total = $stack->sql('SELECT count(*) FROM audit_log');
my @rows  = @{ $stack->admin( GET => "$logs?size=200" )->json->{content} };
is( scalar @rows, $total, 'audit export: the list has every row' );

# ---- json

my $answer = export('');
is( $answer->status,                 200,                'audit export: 200' ) or BAIL_OUT( $answer->text );
is( $answer->header('Content-Type'), 'application/json', 'audit export: json is the default (specification 4.12)' );
like( $answer->header('Content-Disposition'), qr/\Aattachment; filename="audit-logs\.json"\z/, '... as a file' );
is( $answer->header('Cache-Control'), 'no-store', '... that no cache keeps' );
members_are(
    $answer->json,
    {   exportedAt => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, filters => sub { eq_hash( $_[0], {} ) },
        count      => $total,
        truncated  => false,
        rows       => sub {
            eq_array( [ map { bare($_) } @{ $_[0] } ], \@rows );
        }
    },
    'audit export: {exportedAt, filters, count, truncated, rows} with the rows of the list' );
is( join( ' ', sort keys %{ $answer->json } ), 'count exportedAt filters rows truncated', '... and nothing else' );
my $filtered = export('clientId=crm&outcome=allowed&format=json')->json;
is_deeply(
    $filtered->{filters}, { clientId => 'crm', outcome => 'allowed' },
    'audit export: filters are those of the request' );
is( $filtered->{count}, scalar @agents, '... and hold' );
my $empty = export('clientId=nobody')->json;
ok( $empty->{count} == 0 && eq_array( $empty->{rows}, [] ) && !$empty->{truncated}, 'audit export: no row at all' );

# ---- ndjson

my $lines = export('format=ndjson');
is( $lines->header('Content-Type'), 'application/x-ndjson', 'audit export: ndjson has its type' );
is_deeply(
    [ map { bare( JSON::PP->new->utf8->decode($_) ) } split /\n/, $lines->body ],
    \@rows, 'audit export: ndjson has one row per line' );

# ---- csv (RFC 4180)

sub parse_csv {
    my ($text) = @_;
    my @line = ( [] );
    while ( $text =~ /\G(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|\z)/g ) {
        my ( $quoted, $bare, $after ) = ( $1, $2, $3 );
        push @{ $line[-1] }, defined $quoted ? $quoted =~ s/""/"/gr : $bare;
        push @line, [] if $after eq "\r\n";
        last if $after eq '';
    }
    pop @line;
    return @line;
}
my $csv = export('format=csv');
is( $csv->header('Content-Type'), 'text/csv; charset=utf-8', 'audit export: csv has its type' );
my ( $head, @cells ) = parse_csv( $csv->body );
is( "@$head",
    'id createdAt requestId flowId clientId subjectId endpoint method outcome ip userAgent policyInput policyDecision operation status requestSummary',
    'audit export: the first line of csv names the members' );
is( scalar @cells,                           $total, 'audit export: csv has every row' );
is( scalar( grep { @$_ != @$head } @cells ), 0,      '... each with all cells' );
my %at = map { $head->[$_] => $_ } 0 .. $#$head;
is_deeply(
    [ map { $_->[ $at{id} ] } @cells ],
    [ map { $_->{id} } @rows ], '... in the order of the list' );
is_deeply(
    [ map { JSON::PP->new->utf8->decode( $_->[ $at{policyInput} ] ) } grep { $_->[ $at{policyInput} ] ne '' } @cells ],
    [ map { $_->{policyInput} } grep { $_->{policyInput} } @rows ], '... with the documents as JSON' );
for my $agent (@agents) {
    my $seen  = $agent =~ s/\A\s+//r;    # a header has no blanks at its ends
    my $want  = $seen  =~ /\A(?:[=+\-@]|\xef\xbc[\x9d\x8b\x8d\xa0])/ ? "'$seen" : $seen;
    my @found = grep { $_->[ $at{userAgent} ] eq $want } @cells;
    ok( scalar @found, "audit export: the cell of the User-Agent $seen is $want (CSV injection)" );
}
unlike(
    $csv->body, qr/(?:^|,)"?(?:[=+\-@\t]|\xef\xbc[\x9d\x8b\x8d\xa0])/m,
    'audit export: no cell begins like a formula' );

# ---- events (decisions.md "Audit events")

my $events = export('format=ocsf');
is( $events->header('Content-Type'), 'application/x-ndjson', 'audit export: ocsf has one event per line' );
is_deeply(
    [ map { JSON::PP->new->utf8->decode($_)->{metadata}{uid} } split /\n/, $events->body ],
    [ map {"1/$_->{id}"} @rows ],
    '... each row, in the order of the list' );

sub records {
    my ($body) = @_;
    return map { @{ $_->{resourceLogs}[0]{scopeLogs}[0]{logRecords} } } map { JSON::PP->new->utf8->decode($_) }
      split /\n/, $body;
}
my @record = records( export('format=otlp')->body );
is( scalar @record, $total,
    'audit export: otlp has one ExportLogsServiceRequest per line, with a record for each row' );
is( scalar( grep { $_->{eventName} ne 'authz.audit' } @record ), 0, '... of its name' );

# ---- filters

my @time = map { $_->{createdAt} } @rows;
my ( $newest, $oldest ) = @time[ 0, -1 ];
for my $case (
    [ 'operation=token',                         sub { $_[0]{requestSummary}{operation} eq 'token' } ],
    [ 'status=201',                              sub { $_[0]{requestSummary}{status} == 201 } ],
    [ 'operation=token&status=201',              sub {0} ],
    [ 'endpoint=/admin/api/clients',             sub { $_[0]{endpoint} eq '/admin/api/clients' } ],
    [ "fromInstant=$newest",                     sub { $_[0]{createdAt} ge $newest } ],
    [ "toInstant=$newest",                       sub { $_[0]{createdAt} lt $newest } ],
    [ "fromInstant=$time[3]&toInstant=$time[1]", sub { $_[0]{createdAt} ge $time[3] && $_[0]{createdAt} lt $time[1] } ],
    [ "fromInstant=$newest&toInstant=$oldest",   sub {0} ],
    [ 'from=2026-01-01&to=2026-01-02',           sub {0} ],
    [ "requestId=$rows[0]{requestId}",           sub { $_[0]{requestId} eq $rows[0]{requestId} } ],
    [ 'subjectId=crm',                           sub { ( $_[0]{subjectId} // '' ) eq 'crm' } ],
  )
{
    my ( $query, $rule ) = @$case;
    is_deeply(
        [ map { $_->{id} } @{ export($query)->json->{rows} } ],
        [ map { $_->{id} } grep { $rule->($_) } @rows ],
        "audit export: $query" );
}
for my $case (
    [ format      => 'format=xml' ],
    [ format      => 'format=JSON' ],
    [ status      => 'status=99' ],
    [ status      => 'status=600' ],
    [ status      => 'status=ok' ],
    [ fromInstant => 'fromInstant=2026-01-01' ],
    [ toInstant   => 'toInstant=2026-01-01T25:00:00Z' ],
    [ operation   => 'operation=' . 'x' x 513 ],
    [ outcome     => 'outcome=x' ],
  )
{
    my ( $field, $query ) = @$case;
    admin_error( export($query), 400, 'audit export: ' . substr( $query, 0, 40 ) . ' is 400', fields => [$field] );
}
is( export( '', key => undef )->status, 401, 'audit export: without a key 401' );
my $alone =
  $stack->http->request( 'HEAD', $export, headers => [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ] );
is( $alone->status,     200, 'audit export: HEAD is 200 without a body' );
is( export('')->status, 200, '... and occupies nothing' );

# ---- many rows: in pieces, by a slow reader, and not to the end

$stack->sql(<<'SQL');
INSERT INTO audit_log (created_at, id, request_id, client_id, endpoint, operation, method, http_status, outcome, user_agent)
SELECT now() - interval '1 second', nextval('audit_id_seq'), 'many-' || i, 'many', '/token', 'token', 'POST', 200, 'allowed', repeat('x', 1000)
  FROM generate_series(1, 19999) i
SQL

# Largest private memory of the workers of the pool, in kB.
sub memory {
    my $most = 0;
    for my $pid ( $stack->workers('web') ) {
        open my $in, '<', "/proc/$pid/smaps_rollup" or next;
        my $sum = 0;
        while ( my $line = readline $in ) { $sum += $1 if $line =~ /^Private_\w+:\s+(\d+)/ }
        $most = $sum if $sum > $most;
    }
    return $most;
}

sub is_sanitized {
    my ($pid) = $stack->workers('web');
    open my $in, '<', "/proc/$pid/maps" or die "maps: $!";
    local $/ = undef;
    return readline($in) =~ /libasan/;
}
is( export('clientId=many&format=ndjson')->body =~ tr/\n//, 19_999, 'audit export: 19,999 rows come in pieces' );
SKIP: {
    # ASan keeps a shadow of all memory.
    skip 'the worker runs under a sanitizer', 1 if is_sanitized();
    cmp_ok( memory(), '<', 16 * 1024, '... and the worker holds less than 16 MB' );
}
is( export('clientId=many&status=404')->json->{count}, 0,
    'audit export: a filter that no index knows, and no row matches' );

# The limit, on a second service with a small one.
my $small = Authz::Stack->start( beside => $stack, settings => { SVC_AUDIT_EXPORT_MAX_ROWS => 100 } );
$stack->sql(q{UPDATE audit_log SET client_id = 'few' WHERE request_id BETWEEN 'many-1' AND 'many-1088'});
my $few = $stack->sql(q{SELECT count(*) FROM audit_log WHERE client_id = 'few'});
$stack->sql(
    "UPDATE audit_log SET client_id = 'many' WHERE id IN (SELECT id FROM audit_log WHERE client_id = 'few' ORDER BY id LIMIT $few - 100)"
);
sub limited { return $small->admin( GET => "$export?clientId=few&format=$_[0]" ) }
my $whole = limited('json')->json;
ok( $whole->{count} == 100 && !$whole->{truncated} && @{ $whole->{rows} } == 100,
    'audit export: as many rows as SVC_AUDIT_EXPORT_MAX_ROWS are whole' );
is( limited('ndjson')->body =~ tr/\n//, 100, '... in ndjson too' );
is( limited('csv')->body    =~ tr/\n//, 101, '... and in csv' );
$stack->sql(q{UPDATE audit_log SET client_id = 'few' WHERE id = 1});
$whole = limited('json')->json;
ok( $whole->{count} == 100 && $whole->{truncated} && @{ $whole->{rows} } == 100,
    'audit export: one more, and it says so' );
like( limited('ndjson')->body, qr/\n\{"truncated":true\}\n\z/, '... in the last line of ndjson' );
like( limited('csv')->body,    qr/\r\ntruncated\r\n\z/,        '... and of csv' );
like( limited('ocsf')->body,   qr/\n\{"truncated":true\}\n\z/, '... in the last line of ocsf' );
@record = records( limited('otlp')->body );
is( scalar @record,         101,                     '... otlp: has a record more' );
is( $record[-1]{eventName}, 'authz.audit.truncated', '... which says so' );
$small->stop;

my $http   = $stack->client( timeout => 60 );
my $octets = $http->octets(
    'GET', "$export?format=ndjson",
    headers => [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ] );

# Wait until an export is running, or none: it holds LOCK_EXPORT of store/db/keep/locks.h.
sub running {
    my ($wanted) = @_;
    return defined Authz::Process::until_true(
        20,
        sub {
            $wanted == $stack->sql(
                q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 9 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())}
            );
        } );
}
my $slow = $http->begin($octets);
ok( running(1), 'audit export: a reader who takes his time' );
my $refused = export('');
is( $refused->status,          503,                       '... keeps another export waiting' );
is( $refused->member('error'), 'temporarily_unavailable', '... with an error that says to try again' );
like( $refused->header('Retry-After') // '', qr/\A\d+\z/, '... and Retry-After' );
is( $stack->token( @crm, scope => 'orders.read' )->status, 200, '... and tokens are issued' );
is( $stack->admin( GET => $logs )->status,                 200, '... and the list is served' );
close $slow;
ok( running(0), 'audit export: a reader who leaves ends it' );
is( scalar( grep { m{audit-logs/export} && /the reader of the answer has gone/ } $stack->{service}->log_lines ),
    1, '... and the log says so' );
is( export('clientId=nobody')->status, 200, '... and another can begin' );

$slow = $http->begin($octets);
running(1);
my $seen = '';
sysread $slow, $seen, 65536, length $seen while length $seen < 1_000_000;
like( $seen, qr/^Transfer-Encoding: chunked\r\n/mi, 'audit export: the answer is in chunks' );
$stack->{service}->signal('TERM');
my $end = $seen;
while ( my $got = sysread $slow, my $part, 65536 ) { $end = substr( $end, -20 ) . $part }
unlike( $end, qr/\r\n0\r\n\r\n\z/, '... and without the last one, if the service stops in between' );

done_testing;

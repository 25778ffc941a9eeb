#!/usr/bin/perl
# The stream of audit rows to a collector, and checkpoints that are posted (decisions.md "Audit stream").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $secret = 'stream-header-secret-4711';
my $stack  = Authz::Stack->start;
my $peer   = Authz::Peer->start;
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

# The service streams nothing: the test alone sends, with these settings.
my %setting = (
    %{ $stack->settings },
    SVC_AUDIT_STREAM                       => 'otlp',
    SVC_AUDIT_STREAM_URL                   => $peer->url('/v1/logs'),
    SVC_AUDIT_STREAM_HEADER                => "X-Collector: Bearer $secret",
    SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true',
    SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS   => 'localhost',
    SVC_SAFE_HTTP_TIMEOUT_SECONDS          => 1 );

sub sql { return $stack->sql( $_[0] ) }

# Run the verb; { status, out, err, rows => state, checkpoints => state }.
sub stream {
    my ( $status, $words, $name, %change ) = @_;
    my $got = ctl_is( $status, [ qw(audit stream --json), @$words ], $name, env => { %setting, %change } );
    $got->{ $_->{name} } = $_ for @{ ref $got->{json} eq 'ARRAY' ? $got->{json} : [] };
    return $got;
}

# Send, whatever was tried before.
sub send_now {
    my ( $status, $name, %change ) = @_;
    sql('UPDATE audit_stream SET next_at = NULL');
    return stream( $status, ['--send'], $name, %change );
}

# Make rows; they are written after their answers.
sub make_rows {
    my ( $count, %header ) = @_;
    my $before = sql('SELECT count(*) FROM audit_log');
    $stack->http->post(
        '/token', headers => [ %header, Authz::Client::basic(@crm) ],
        form => [ grant_type => 'client_credentials', scope => 'orders.read' ] ) for 1 .. $count;
    Authz::Process::until_true( 20, sub { sql('SELECT count(*) FROM audit_log') >= $before + $count } );
    return map { $_ + 0 } split /\n/,
      sql("SELECT id FROM (SELECT id FROM audit_log ORDER BY id DESC LIMIT $count) x ORDER BY id");
}

# Records of a request.
sub records { return @{ JSON::PP::decode_json( $_[0]{body} )->{resourceLogs}[0]{scopeLogs}[0]{logRecords} } }

sub attribute {
    my ( $record, $key ) = @_;
    my ($found) = grep { $_->{key} eq $key } @{ $record->{attributes} };
    return $found && ( values %{ $found->{value} } )[0];
}

# Ids of the rows that the collector got, in the order of its requests.
sub ids {
    return map { attribute( $_, 'authz.audit_id' ) } map { records($_) } $peer->requests('/v1/logs');
}

$peer->set( '/v1/logs' => { body => {} } );

# ---- it begins now

like(
    ctl( [qw(audit stream --send)], env => { %setting, SVC_AUDIT_STREAM => 'off' } )->{out}, qr/switched off/,
    'audit stream: off' );
is( $peer->hits, 0, '... sends nothing' );
my $state = send_now( 0, 'audit stream: the first run' )->{rows};
is( $peer->hits,    0,                                          '... sends no older row' );
is( $state->{upTo}, sql('SELECT last_value FROM audit_id_seq'), '... and stands at the newest one' );

# ---- rows are sent in the order of their ids, with the header

my @row = make_rows(3);
$state = send_now( 0, 'audit stream: new rows' )->{rows};
is( "@{[ ids() ]}",                  "@row",       '... in the order of their ids, each once' );
is( "$state->{sent} $state->{upTo}", "3 $row[-1]", '... and are counted' );
my ($request) = $peer->requests('/v1/logs');
is( $request->{headers}{'content-type'}, 'application/json', '... as JSON' );
is( $request->{headers}{'x-collector'},  "Bearer $secret",   '... with SVC_AUDIT_STREAM_HEADER' );
my ($first) = records($request);
is( attribute( $first, 'authz.client_id' ), 'crm', '... a record says who' );
ok( !defined attribute( $first, 'authz.input' ), '... without documents' );
ctl_is( 0, [qw(audit seal --quiet)], 'audit seal', env => $stack->settings );
SKIP: {
    my $hash   = attribute( $first, 'authz.leaf_hash' );
    my $body   = $stack->admin( GET => "/admin/api/audit-logs/export?operation=token" )->json->{rows};
    my ($same) = grep { $_->{id} == $row[0] } @$body;
    is( $hash, $same->{leafHash}, '... and the hash of its leaf, as it is sealed later' );
}
send_now( 0, 'audit stream: nothing is new' );
is( $peer->hits, 1, '... so nothing is sent' );

# ---- forms and documents

$peer->forget;
make_rows(1);
send_now( 0, 'audit stream: with documents', SVC_AUDIT_STREAM_DOCUMENTS => 'true' );
like(
    attribute( records( $peer->requests ), 'authz.input' ), qr/\A\{.*"evaluation":"issue"/,
    '... a record has the question to policy' );
$peer->forget;
make_rows(2);
send_now( 0, 'audit stream: ocsf', SVC_AUDIT_STREAM => 'ocsf' );
is( join( ' ', map {"$_->{class_uid} $_->{user}{uid}"} @{ JSON::PP::decode_json( ( $peer->requests )[0]{body} ) } ),
    '3003 crm 3003 crm', '... is an array of events' );

# ---- retries

$peer->forget;
for my $case (
    [ 503, 0, 'an overloaded collector' ], [ 302, 0, 'a redirect' ], [ 401, 1, 'a refused credential' ],
    [ 403, 1, '... 403' ], [ 404, 1, '... no such address' ] )
{
    my ( $status, $held, $name ) = @$case;
    $peer->set( '/v1/logs' => { status => $status } );
    make_rows(1);
    $state = send_now( $held, "audit stream: $name" )->{rows};
    is( $state->{held} ? 1 : 0, $held, '... ' . ( $held ? 'is held' : 'is no fault of an administrator' ) );
    like( $state->{error}, qr/SVC_AUDIT_STREAM_URL: the server answered $status/, '... and says why' );
}
my $hits = $peer->hits;
stream( 1, ['--send'], 'audit stream: before the next try is due' );
is( $peer->hits, $hits, '... nothing is sent' );
$peer->set( '/v1/logs' => { status => 429, headers => [ 'Retry-After' => 250 ] } );
send_now( 0, 'audit stream: Retry-After' );
cmp_ok(
    sql('SELECT extract(epoch FROM next_at - now())::integer FROM audit_stream'), '>', 200,
    '... is obeyed (RFC 9110 10.2.3)' );
sql(q{UPDATE audit_stream SET tries = 20});
$peer->set( '/v1/logs' => { status => 500, headers => [ 'Retry-After' => 99_999 ] } );
send_now( 0, 'audit stream: a longer one, after many tries' );
my $wait = sql('SELECT extract(epoch FROM next_at - now())::integer FROM audit_stream');
cmp_ok( $wait, '<=', 300, '... waits for at most 300 s' );
$peer->set( '/v1/logs' => { body => {} } );
$peer->forget;
$state = send_now( 0, 'audit stream: the collector is back' )->{rows};
is( scalar( ids() ), 5, '... and gets the rows that waited, each once' );
ok( !$state->{held} && !defined $state->{error} && $state->{tries} == 0, '... nothing is held' );

# ---- hanging_collector

$peer->set( '/v1/logs' => { stall => 0, body => 'x' } );
@row   = make_rows(1);
$state = send_now( 0, 'hanging_collector: a collector that does not answer' )->{rows};
like( $state->{error}, qr/did not answer in time/, '... is left after SVC_SAFE_HTTP_TIMEOUT_SECONDS' );
cmp_ok( $state->{upTo}, '<', $row[0], '... and the row waits' );
$setting{SVC_AUDIT_STREAM_URL} = 'http://localhost:1/v1/path-token?key=query-token';
my $unreached = send_now( 0, 'audit stream: no collector' );
like(
    $unreached->{rows}{error}, qr{SVC_AUDIT_STREAM_URL: fetch of http://localhost:1: },
    '... is no fault of ours, and is named by scheme and host' );
unlike(
    "$unreached->{out}$unreached->{err}" . sql('SELECT string_agg(s::text, chr(10)) FROM audit_stream s'),
    qr/path-token|query-token/, '... since path and query may be a credential' );
$setting{SVC_AUDIT_STREAM_URL} = $peer->url('/v1/logs');

# ---- resume_after_kill

sql('UPDATE audit_stream SET next_at = NULL');
$peer->forget;
my $sender = Authz::Process->start(
    name    => 'sender', env => { %setting, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 60 },
    command => [ Authz::Path::program('authzctl'), qw(audit stream --send) ] );
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/v1/logs') > 0 } ),
    'resume_after_kill: a process that sends' );
$sender->stop('KILL');
$peer->set( '/v1/logs' => { body => {} } );
stream( 0, ['--send'], '... is killed: its lease holds others back' );
is( $peer->hits('/v1/logs'), 1, '... so nothing is sent' );
sql(q{UPDATE audit_stream SET leased_until = now() - interval '1 second'});
$state = stream( 0, ['--send'], '... until it ends' )->{rows};
is( "@{[ ids() ]}", "$row[0] $row[0]", '... then the rows are sent again (at least once)' );
is( $state->{upTo}, $row[0],           '... and the cursor moves' );

# A process that lost its lease does not move the cursor back.
sql(q{UPDATE audit_stream SET lease = gen_random_uuid(), leased_until = now() + interval '1 hour'});
make_rows(1);
is( stream( 0, ['--send'], 'audit stream: another process has the lease' )->{rows}{upTo}, $row[0],
    '... so this one sends nothing' );
sql('UPDATE audit_stream SET lease = NULL, leased_until = NULL');

# ---- partial_not_resent

$peer->set( '/v1/logs' => { body => { partialSuccess => { rejectedLogRecords => '2', errorMessage => 'too old' } } } );
$peer->forget;
make_rows(2);
$state = send_now( 0, 'partial_not_resent: a collector that keeps some rows' )->{rows};
is( $state->{rejected}, 2, '... is counted' );
send_now( 0, '... a second run' );
is( $peer->hits('/v1/logs'), 1, '... sends none of them again' );
for my $odd (
    'no JSON', '[1]', '{"partialSuccess":{"rejectedLogRecords":"-1"}}',
    '{"partialSuccess":{"rejectedLogRecords":9e99}}' )
{
    $peer->set( '/v1/logs' => { body => $odd } );
    make_rows(1);
    is( send_now( 0, "audit stream: the answer $odd" )->{rows}{rejected}, 2, '... counts for nothing' );
}

# ---- poison_row_alone

my %refuse = ( 'poison-agent' => { status => 400 }, 'large-agent' => { status => 413 } );
$peer->set( '/v1/logs' => { body => {}, instead => \%refuse } );
$peer->forget;
my @good = make_rows(7);
my ($poison) = make_rows( 1, 'User-Agent' => 'poison-agent' );
push @good, make_rows(4);
my ($large) = make_rows( 1, 'User-Agent' => 'large-agent' );
push @good, make_rows(2);
my $sent = $state = send_now( 0, 'poison_row_alone: rows of which the collector refuses two' );
$state = $sent->{rows};
is( $state->{skipped}, 2,         '... those alone are skipped' );
is( $state->{upTo},    $good[-1], '... and all others are sent' );
my %got;
$got{$_}++
  for map { attribute( $_, 'authz.audit_id' ) }
  map { records($_) } grep { $_->{body} !~ /(?:poison|large)-agent/ } $peer->requests('/v1/logs');
is( join( ' ', sort { $a <=> $b } keys %got ), join( ' ', @good ), '... each of them' );
is( scalar( grep { $_ != 1 } values %got ),    0,                  '... once' );
like( $sent->{err}, qr/row skipped.*"first":$poison\b/, '... the log names the row' );
cmp_ok( $peer->hits('/v1/logs'), '<', 25, '... after few requests' );

# ---- a collector that refuses every row

$peer->set( '/v1/logs' => { status => 400 } );
my $skipped = $state->{skipped};
my @refused = make_rows(11);
$sent  = send_now( 1, 'refuses_all: a collector that refuses each of 11 rows' );
$state = $sent->{rows};
is( $state->{skipped} - $skipped,      10,          '... ten in a row are skipped' );
is( $state->{upTo},                    $refused[9], '... the next one waits' );
is( $state->{held} ? 'held' : 'tried', 'held',      '... and the stream is held' );
like(
    $state->{error},
    qr/SVC_AUDIT_STREAM_URL: the server answered 400, to 10 rows in a row: the next one is not skipped/,
    '... which is said' );
like( $sent->{err}, qr/audit stream held.*to 10 rows in a row/, '... and logged' );
$hits = $peer->hits('/v1/logs');
is( send_now( 1, '... a second run' )->{rows}{upTo}, $refused[9], '... skips nothing more' );
$peer->set( '/v1/logs' => { body => {} } );
$state = send_now( 0, '... until the collector takes rows' )->{rows};
is( $state->{upTo}, $refused[10], '... then that row is sent' );
$peer->set( '/v1/logs' => { body => {}, instead => \%refuse } );
for ( 1 .. 2 ) {
    make_rows( 1, 'User-Agent' => 'poison-agent' ) for 1 .. 5;
    make_rows(1);
    $state = send_now( 0, 'refuses_all: five that are refused before one that is taken' )->{rows};
}
ok( !$state->{held}, '... are no ten in a row' );
sql('UPDATE audit_stream SET refused = 10');
$peer->set( '/v1/logs' => { status => 400 } );
my ($behind) = make_rows(1);
send_now( 1, '... after ten, the next one' );
stream( 0, [ '--from', $behind ], '... --from goes on behind them' );
is( sql('SELECT refused FROM audit_stream'), 0, '... and counts anew' );
$peer->set( '/v1/logs' => { body => {} } );
send_now( 0, '... which are sent' );
sql('UPDATE audit_stream SET skipped = 2');

# ---- retention_passes

$peer->set( '/v1/logs' => { body => {} } );
my @lost = make_rows(3);
my ($kept) = make_rows(1);
ctl_is( 0, [qw(audit seal --quiet)], 'audit seal', env => $stack->settings );
sql( 'DELETE FROM audit_log WHERE id IN (' . join( ',', @lost ) . ')' );
$peer->forget;
$state = send_now( 0, 'retention_passes: rows that are gone before they were sent' )->{rows};
is( $state->{passed}, 3,     '... are counted' );
is( "@{[ ids() ]}",   $kept, '... and those behind them are sent' );

# ---- --from

$peer->forget;
stream( 64, [ '--from', $_ ], "audit stream --from $_ is refused" ) for '0', '-1', 'x', '';
$state = stream( 0, [ '--from', $good[0] ], 'audit stream --from ID' )->{rows};
is( $state->{upTo}, $good[0] - 1, '... moves the cursor' );
send_now( 0, '... and sends' );
is( ( ids() )[0], $good[0], '... from that row on' );

# ---- batches

$peer->forget;
sql("INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome) SELECT nextval('audit_id_seq'), now(), 'many', '/token', 'token', 'POST', 200, 'allowed' FROM generate_series(1, 1001)"
);
send_now( 0, 'audit stream: 1,001 rows' );
is( join( ' ', map { scalar( my @record = records($_) ) } $peer->requests('/v1/logs') ), '500 500 1',
    '... are sent 500 at a time' );
$peer->forget;
sql("INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome, user_agent) SELECT nextval('audit_id_seq'), now(), 'wide', '/token', 'token', 'POST', 200, 'allowed', repeat('x', 300000) FROM generate_series(1, 7)"
);
send_now( 0, 'audit stream: rows of 300,000 octets' );
is( join( ' ', map { scalar( my @record = records($_) ) } $peer->requests('/v1/logs') ), '3 3 1',
    '... are sent at most 1 MiB at a time' );
sql("INSERT INTO audit_log (id, created_at, request_id, endpoint, operation, method, http_status, outcome, user_agent) SELECT nextval('audit_id_seq'), now(), 'huge', '/token', 'token', 'POST', 200, 'allowed', repeat('x', 3200000)"
);
is( send_now( 0, 'audit stream: a row of more than 3 MiB' )->{rows}{skipped}, 3, '... is skipped' );

# ---- checkpoints

my %post = ( SVC_AUDIT_STREAM => 'off', SVC_AUDIT_CHECKPOINT_URL => $peer->url('/checkpoint') );
$peer->set(
    '/checkpoint' => { type => 'text/plain', body => "ignored\n\xe2\x80\x94 witness.example AAAA\n\xe2\x80\x94 cut" } );
my $note    = ctl( [qw(audit checkpoint)], env => $stack->settings )->{out};
my $waiting = sql('SELECT count(*) FROM audit_checkpoint');
my $posted  = send_now( 0, 'SVC_AUDIT_CHECKPOINT_URL: checkpoints are posted', %post )->{checkpoints};
is( $posted->{sent}, $waiting, '... each' );
my @post = $peer->requests('/checkpoint');
is( $post[-1]{body},                    $note,                       '... as it is' );
is( $post[-1]{headers}{'content-type'}, 'text/plain; charset=utf-8', '... as text' );
ok( !exists $post[-1]{headers}{'x-collector'}, '... without the header of the collector' );
is( sql(q{SELECT cosigned = U&'\2014 witness.example AAAA' || chr(10) FROM audit_checkpoint ORDER BY epoch DESC, size DESC LIMIT 1}
    ),
    't',
    '... and whole signature lines of the answer are kept' );
send_now( 0, '... a second run', %post );
is( $peer->hits('/checkpoint'), $waiting, '... posts nothing' );
$peer->set( '/checkpoint' => { status => 403 } );
sql('UPDATE audit_checkpoint SET posted_at = NULL');
ok( send_now( 1, '... a refused one', %post )->{checkpoints}{held}, '... is held' );
$peer->set( '/checkpoint' => {} );
$peer->forget;
sql(q{INSERT INTO audit_checkpoint (epoch, size, note) SELECT 0, g, 'old' FROM generate_series(1, 100) g});
send_now( 0, '... more than 100 that wait', %post );
is( join( ' ', map { $_->{body} } $peer->requests('/checkpoint') ), $note,
    '... the newest alone, which contains them' );
is( sql('SELECT count(*) FROM audit_checkpoint WHERE posted_at IS NULL'), 0, '... and none waits' );

# ---- settings

for my $bad (
    [ SVC_AUDIT_STREAM_HEADER => $secret ],        [ SVC_AUDIT_STREAM_HEADER => "X: $secret\r\nY: z" ],
    [ SVC_AUDIT_STREAM_HEADER => "X Y: $secret" ], [ SVC_AUDIT_STREAM_HEADER => 'X:  ' ],
    [ SVC_AUDIT_STREAM_URL    => '' ],             [ SVC_AUDIT_STREAM        => 'syslog' ] )
{
    my $got = ctl( [qw(config check --offline)], env => { %setting, @$bad } );
    is( $got->{status}, 78, "config check: $bad->[0] is refused" );
    like( "$got->{out}$got->{err}", qr/$bad->[0]/, '... by its name' );
    unlike( "$got->{out}$got->{err}", qr/$secret/, '... without its value' );
}

# ---- header_in_no_log

$peer->set( '/v1/logs' => { status => 401, body => "your header was Bearer $secret" } );
make_rows(1);
sql('UPDATE audit_stream SET next_at = NULL');
my $shown  = ctl( [qw(audit stream --send)], env => { %setting, SVC_LOG_LEVEL => 'debug' } );
my $config = ctl( [qw(config show)],         env => \%setting );
unlike( "$shown->{out}$shown->{err}$config->{out}$config->{err}", qr/$secret/, 'header_in_no_log: authzctl' );
unlike( $stack->sql('SELECT string_agg(s::text, chr(10)) FROM audit_stream s'), qr/$secret/, '... nor the database' );
$stack->restart_service(
    settings => { map { $_ => $setting{$_} } grep {/\ASVC_(?:AUDIT_STREAM|SAFE)/} keys %setting } );
my $asked = $peer->hits('/v1/logs');
sql('UPDATE audit_stream SET next_at = NULL');
my ( $status, $text ) = $stack->authzctl('maintain');
ok( defined Authz::Process::until_true( 20, sub { $peer->hits('/v1/logs') > $asked } ),
    '... housekeeping of a service with it sends' );
unlike( $stack->{service}->log_text . $text, qr/$secret/, '... nor its log' );
my $metrics = $stack->http->get('/metrics')->body;
like( $metrics, qr/^svc_audit_stream_lag_rows [1-9]\d*$/m,            'the metrics say how many rows wait' );
like( $metrics, qr/^svc_audit_stream_skipped_total 3$/m,              '... how many were skipped' );
like( $metrics, qr/^# TYPE svc_audit_stream_skipped_total counter$/m, '... which is a counter' );
like( $metrics, qr/^svc_audit_stream_held\{stream="rows"\} 1$/m,      '... and that the credential is refused' );
my $health;
Authz::Process::until_true(
    20,
    sub {
        ($health) = grep { $_->{name} eq 'audit_stream' } @{ $stack->http->get('/health/ready')->json->{checks} };
        return ( $health->{status} // '' ) eq 'DEGRADED';
    } );
is( $health->{status}, 'DEGRADED', 'readiness is degraded' );
like(
    $health->{detail} // '', qr/^rows are not sent: SVC_AUDIT_STREAM_URL: the server answered 401/,
    '... and says why' );

# ---- a database that is looked at again

# The process that sends looks at the schema first, and a running service stops when it is wrong in three looks (doc/high-availability.md
# "A pooler"). A look that reaches no database says nothing.
my $name   = sql('SELECT current_database()');
my $looked = sub { return $stack->{service}->log_text =~ /database checked again.*run `authzctl db migrate`/ };
sub server { return $stack->{postgres}->sql( $_[0] ) }
sql('UPDATE schema_migration SET version = -version WHERE version = (SELECT max(version) FROM schema_migration)');
ok( Authz::Process::until_true( 30, $looked ), 'a schema that is too old is seen' );
server("ALTER DATABASE $name ALLOW_CONNECTIONS false");
server("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$name'");
my $failed = sub { my ($line) = $stack->{service}->log_text =~ /^(.*database check failed.*)$/m; return $line };
ok( Authz::Process::until_true( 30, $failed ), '... and the next look reaches no database' );
like( $failed->() // '', qr/is not currently accepting connections/, '... which is what it says' );
server("ALTER DATABASE $name ALLOW_CONNECTIONS true");
sql('UPDATE schema_migration SET version = -version WHERE version < 0');
ok( $stack->{service}->alive, '... after which the service goes on' );
is( $stack->token( @crm, scope => 'orders.read' )->status, 200, '... and serves' );
done_testing;

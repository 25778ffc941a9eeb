# The log that proves itself over HTTP: checkpoint, keys, tiles, proofs, SVC_AUDIT_PUBLIC, readiness, and the leaves of an
# export (decisions.md "Audit proof").
use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start;
my $base  = '/admin/api/audit';
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );

sub sql { return $stack->sql( $_[0] ) }
sub get { my ( $path, %option ) = @_; return $stack->admin( GET => "$base$path", %option ) }

# Housekeeping of the service has begun a log; from here on the test alone seals.
sql(q{UPDATE job SET due_at = now() + interval '1 day' WHERE name = 'audit_seal'});
sql(q{SELECT pg_catalog.pg_advisory_lock(6, hashtext('audit_seal')), pg_catalog.pg_advisory_unlock(6, hashtext('audit_seal'))}
);
sql('TRUNCATE audit_log_state, audit_tile, audit_note, audit_checkpoint');
unlink $stack->settings->{SVC_RUNTIME_DIR} . '/audit-signed';

sub seal {
    my ( $status, $text ) = Authz::Process->run(
        name    => 'seal', env => $stack->settings,
        command => [ Authz::Path::program('authzctl'), qw(audit seal) ] );
    is( $status, 0, 'audit seal' ) or diag($text);
    return;
}

# Rows that are sealed, and one that is not.
is( get('/checkpoint')->status, 404, 'GET /admin/api/audit/checkpoint before the first seal: 404' );
$stack->token( @crm, scope => 'orders.read' ) for 1 .. 3;
seal();
$stack->token( @crm, scope => 'orders.read' ) for 1 .. 260;
Authz::Process::until_true( 10, sub { sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/token'}) >= 263 } );
seal();
my $size   = sql('SELECT size FROM audit_log_state');
my $sealed = sql(q{SELECT max(id) FROM audit_log WHERE endpoint = '/token'});

# ---- checkpoint and keys

my $note = get('/checkpoint');
is( $note->status,                  200,                         'GET /admin/api/audit/checkpoint: 200' );
is( $note->header('Content-Type'),  'text/plain; charset=utf-8', '... as text' );
is( $note->header('Cache-Control'), 'no-store',                  '... that no cache keeps' );
like(
    $note->body, qr{\A\S+/audit\n$size\n\S{44}\n\n\xe2\x80\x94 \S+/audit \S+\n\z},
    '... a signed note (C2SP tlog-checkpoint)' );
my $keys = get('/keys');
is( $keys->status, 200, 'GET /admin/api/audit/keys: 200' );
is( join( ' ', map {"$_->{kty} $_->{crv}"} @{ $keys->json->{keys} } ), 'EC P-256 EC P-256',
    '... the key that signs, and the next one' );
unlike( $keys->body, qr/"d"/, '... without its private half' );

for my $path (qw(/checkpoint /keys /tile/0/000)) {
    is( $stack->http->get("$base$path")->status,  401, "GET /admin/api/audit$path without an admin key: 401" );
    is( $stack->http->get("/audit$path")->status, 404, "GET /audit$path without SVC_AUDIT_PUBLIC: 404" );
}

# ---- tiles (C2SP tlog-tiles)

my $tile = get('/tile/0/000');
is( $tile->status,                 200,                        'GET /admin/api/audit/tile/0/000: 200' );
is( $tile->header('Content-Type'), 'application/octet-stream', '... octets' );
is( length $tile->body,            256 * 32,                   '... 256 hashes' );
my @hash = unpack '(a32)*', $tile->body;
is( unpack( 'H*', $hash[0] ),
    Digest::SHA::sha256_hex( "\0" . sql('SELECT line FROM audit_note WHERE leaf = 0') ),
    '... of the leaves (RFC 6962 2.1)' );
while ( @hash > 1 ) {
    @hash = map { Digest::SHA::sha256( "\1" . $hash[ 2 * $_ ] . $hash[ 2 * $_ + 1 ] ) } 0 .. @hash / 2 - 1;
}
my $part = $size - 256;
is( get('/tile/1/000.p/1')->body,            $hash[0],   'a tile of level 1 has the root of that one' );
is( length get("/tile/0/001.p/$part")->body, 32 * $part, 'a tile that is not full, by its width' );
is( get('/tile/0/001.p/1')->body,     substr( get("/tile/0/001.p/$part")->body, 0, 32 ), '... and a smaller width' );
is( get('/tile/0/000.p/255')->status, 200,                                               'a part of a full tile' );
for my $wrong (
    '',           '/0',          '/0/',          '/0/0',         '/0/00',                     '/0/0000',
    '/00/000',    '/7/000',      '/9/000',       '/-1/000',      '/x/000',                    '/0/001',
    '/0/002',     '/0/x000/000', '/0/x000001',   '/0/x001',      '/0/x001/',                  '/0/000/000',
    '/0/000.p/',  '/0/000.p/0',  '/0/000.p/01',  '/0/000.p/256', '/0/001.p/' . ( $part + 1 ), '/0/000.p/1/',
    '/0/000.q/1', '/1/000',      '/entries/000', '/0/' . 'x999/' x 7 . '999',
  )
{
    is( get("/tile$wrong")->status, 404, "tile$wrong: 404" );
}

# ---- proofs

my $logs  = '/admin/api/audit-logs';
my $proof = $stack->admin( GET => "$logs/$sealed/proof" );
is( $proof->status, 200, 'GET /admin/api/audit-logs/{id}/proof: 200' );
like(
    $proof->body, qr{\Ac2sp\.org/tlog-proof\@v1\nextra \S+\nindex \d+\n(?:\S{44}\n)+\n\Q${\ $note->body}\E\z},
    '... with the checkpoint' );
$stack->token( @crm, scope => 'orders.read' );
my $unsealed = sql('SELECT max(id) FROM audit_log');
is( $stack->admin( GET => "$logs/$unsealed/proof" )->status, 409, 'a row that is not sealed: 409' );
is( $stack->admin( GET => "$logs/$_/proof" )->status,        404, "... the row $_: 404" ) for qw(1 0 x 1x);
is( $stack->admin( GET => "$logs/$_/proof" )->status, 404,
    "... the row $_, which does not exist: 404 (decisions.md \"Audit proof\")"
) for $unsealed + 1000, 999_999_999_999, '9223372036854775807';
is( $stack->http->get("$logs/$sealed/proof")->status, 401, '... without an admin key: 401' );

# ---- the export has the leaves

my @row    = @{ $stack->admin( GET => "$logs/export?endpoint=/token" )->json->{rows} };
my ($last) = grep { $_->{id} == $sealed } @row;
my $index  = ( $proof->body =~ /^index (\d+)$/m )[0];
is( $last->{leafIndex}, $index, 'audit export: a sealed row has the number of its leaf' );
is( $last->{leafHash}, unpack( 'H*', substr get("/tile/0/001.p/$part")->body, 32 * ( $index - 256 ), 32 ),
    '... and its hash' );
ok( !exists $row[0]{leafIndex} && !exists $row[0]{leafHash}, '... a row that is not sealed has none' );
my %seen = map { $_->{leafIndex} => 1 } grep { defined $_->{leafIndex} } @row;
is( scalar keys %seen, 260, '... each row has a leaf of its own, over two tiles' );
my @line = map { JSON::PP->new->utf8->decode($_) } split /\n/,
  $stack->admin( GET => "$logs/export?endpoint=/token&format=ndjson" )->body;
is_deeply( \@line, \@row, '... and ndjson has the same' );

my $lines = $stack->admin( GET => "$logs/export?format=lines" );
is( $lines->header('Content-Type'), 'application/x-ndjson', 'audit export: lines' );
is( $lines->body, ( $stack->authzctl(qw(audit lines)) )[1], '... are the log, as authzctl audit lines prints it' );
my $refused = $stack->admin( GET => "$logs/export?format=lines&clientId=crm&from=2026-01-01" );
is( $refused->status,                                          400,             '... with a filter: 400' );
is( join( ' ', sort keys %{ $refused->json->{fieldErrors} } ), 'clientId from', '... that names each' );

# ---- readiness

sub seal_check {
    my ($check) = grep { $_->{name} eq 'audit_seal' } @{ $stack->http->get('/health/ready')->json->{checks} };
    return $check->{status};
}
is( seal_check(), 'UP', 'readiness: a row that waits for its seal for less than 300 s' );
SKIP: {
    skip 'the row would move to the partition of yesterday', 3
      if sql(q{SELECT (now() AT TIME ZONE 'UTC')::time < '00:10'}) eq 't';
    sql("UPDATE audit_log SET created_at = created_at - interval '400 seconds' WHERE id = $unsealed");
    ok( defined Authz::Process::until_true( 10, sub { seal_check() eq 'DEGRADED' } ), '... for more: DEGRADED' );
    is( $stack->http->get('/health/ready')->status, 200, '... and still ready' );
    my ($age) = $stack->http->get('/metrics')->body =~ /^svc_audit_unsealed_seconds (\d+)$/m;
    cmp_ok( $age, '>=', 400, '... and the metric says how long' );
}
seal();
ok( defined Authz::Process::until_true( 10, sub { seal_check() eq 'UP' } ), '... sealed: UP' );
like( $stack->http->get('/metrics')->body, qr/^svc_audit_unsealed_seconds 0$/m, '... and 0 seconds' );

# ---- everyone may read two of them

$stack->restart_service( settings => { SVC_AUDIT_PUBLIC => 'true' } );
is( $stack->http->get('/audit/checkpoint')->body, get('/checkpoint')->body,
    'SVC_AUDIT_PUBLIC: the checkpoint at /audit/' );
is( $stack->http->get('/audit/keys')->body,         get('/keys')->body, '... and the keys' );
is( $stack->http->get('/audit/tile/0/000')->status, 404, '... never tiles: they would confirm guesses of rows' );
done_testing;

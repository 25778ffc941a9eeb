# /admin/api and its key; /bundles and its key (specification 4.12, 5, 7.2; decisions.md "Admin keys").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start;
my $key   = $Authz::Stack::KEY{SVC_ADMIN_API_KEY};

# ---- 401 (specification 7.2)

my %body = ( error => 'unauthorized', error_description => 'Valid admin API key required' );
for my $case (
    [ undef,     'no key' ], [ '', 'an empty key' ], [ 'wrong', 'a wrong key' ],
    [ "${key}x", 'the key with an octet more' ], [ substr( $key, 0, -1 ), 'the key with an octet less' ],
    [ uc $key,   'the key in capitals' ] )
{
    for my $path (qw(/admin/api/clients /admin/api/policy-rules /admin/api/nowhere /admin/)) {
        my $answer = $stack->admin( GET => $path, key => $case->[0] );
        ok( $answer->status == 401 && eq_hash( $answer->json, \%body ),
            "admin: $case->[1] on $path is 401 with the body of specification 7.2" ) or diag( $answer->text );
    }
}
for my $method (qw(POST PUT DELETE PATCH)) {
    is( $stack->admin( $method => '/admin/api/clients', key => undef, json => {} )->status, 401,
        "admin: $method without a key is 401 before the body is looked at" );
}
is( $stack->admin( GET => '/admin/api/clients' )->status, 200,
    'admin: the configured key is good (specification 5.1)' );
is( $stack->http->get( '/admin/api/clients?X-Admin-API-Key=' . $key )->status, 401,
    'admin: a key in the URI does not count' );
is( $stack->http->get( '/admin/api/clients', headers => [ Authorization => "Bearer $key" ] )->status, 401,
    'admin: nor as a Bearer token' );
admin_error(
    $stack->admin( GET => '/admin/api/nowhere' ), 404,
    'admin: an unknown path with a good key is 404 with an empty body' );
my $wrong = $stack->admin( DELETE => '/admin/api/clients' );
is( $wrong->status, 405, 'admin: a wrong method with a good key is 405' );
is( $wrong->header('Cache-Control') // 'none', 'no-store', 'admin: with the cache headers of its path' );
like( $wrong->header('Allow') // '', qr/\bGET\b.*\bPOST\b|\bPOST\b.*\bGET\b/, 'admin: and Allow names the right ones' );

# ---- the list (specification 2.8)

my $list = $stack->admin( GET => '/admin/api/admin-keys' );
is( $list->status,           200,     'admin keys: the list is 200' );
is( ref $list->json,         'ARRAY', 'admin keys: an array' );
is( scalar @{ $list->json }, 1,       'admin keys: the configured key is in it' );
members_are(
    $list->json->[0],
    {   managedBy => 'environment', id => qr/./, label => qr/./,
        createdAt => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/,
        revokedAt => undef },
    'admin keys: a view has id, label, managedBy and createdAt' );
my ( $status, $text ) = $stack->authzctl(qw(admin-key mint --label ops --json));
is( $status, 0, 'authzctl admin-key mint: exit status 0' ) or diag($text);
my ($minted) = $text =~ /(ak_[A-Za-z0-9_-]+)/;
my $plaintext = quotemeta( $minted // 'none' );
ok( defined $minted, 'authzctl admin-key mint: shows the key once' ) or diag($text);
is( $stack->admin( GET => '/admin/api/clients', key => $minted // 'none' )->status, 200,
    'admin keys: a minted key is good at once' );
my @ops = grep { $_->{label} eq 'ops' } @{ $stack->admin( GET => '/admin/api/admin-keys' )->json };
is( scalar @ops, 1, 'admin keys: and listed' );
unlike(
    $stack->admin( GET => '/admin/api/admin-keys' )->body, qr/$plaintext|\Q$key\E/,
    'admin keys: no plaintext in the list (specification 2.8)' );
( $status, $text ) = $stack->authzctl( qw(admin-key revoke --yes), $ops[0]{id} // 'none' );
is( $status, 0, 'authzctl admin-key revoke: exit status 0' ) or diag($text);
my %by;
$by{ $stack->client->get( '/admin/api/clients', headers => [ 'X-Admin-API-Key' => $minted // 'none' ], close => 1 )
      ->status }++
  for 1 .. 6;
is_deeply( \%by, { 401 => 6 }, 'admin keys: a revoked key is 401 in every worker at once' );
@ops = grep { $_->{label} eq 'ops' } @{ $stack->admin( GET => '/admin/api/admin-keys' )->json };
ok( @ops == 1 && defined $ops[0]{revokedAt},
    'admin keys: the list shows revoked ones with revokedAt (specification 3)' );
my $stored = $stack->sql("SELECT encode(sealed, 'escape') || encode(lookup, 'escape') FROM admin_key");
unlike( $stored, qr/$plaintext|\Q$key\E/, 'admin keys: the database holds no plaintext (specification 5.5)' );

# ---- the same over the API (specification 5.1; decisions.md "Admin keys")

my $keys = '/admin/api/admin-keys';
for my $case (
    [ 'no label',                 {} ],
    [ 'an empty label',           { label => '' } ],
    [ 'a label that is a number', { label => 5 } ],
    [ 'a control character',      { label => "a\x07b" } ],
    [ 'invisible characters',     { label => "a\x{202e}b" } ],
    [ 'blanks alone',             { label => '   ' } ],
    [ '129 characters',           { label => 'x' x 129 } ] )
{
    admin_error(
        $stack->admin( POST => $keys, json => $case->[1] ),
        400, "admin keys: $case->[0] is 400", fields => ['label'] );
}
admin_error(
    $stack->admin( POST => $keys, json => { label => 'x', managedBy => 'environment' } ),
    400, 'admin keys: another member is 400', fields => ['managedBy'] );
my $made = $stack->admin( POST => $keys, json => { label => 'x' x 128 }, headers => [ 'X-Request-ID' => 'mint-1' ] );
is( $made->status, 201, 'admin keys: POST with a label of 128 characters is 201' ) or diag( $made->text );
members_are(
    $made->json,
    {   id        => qr/\A[0-9a-f-]{36}\z/, label => 'x' x 128, managedBy => 'admin', createdAt => qr/\A\d{4}-/,
        revokedAt => undef,
        key       => qr/\Aak_[A-Za-z0-9_-]{60,}\z/ },
    'admin keys: ... the view with the plaintext' );
is( $made->header('Cache-Control'), 'no-store', 'admin keys: ... which no cache keeps' );
my ( $id, $new ) = map { $made->member($_) } qw(id key);
is( $stack->admin( GET => '/admin/api/clients', key => $new )->status, 200, 'admin keys: the new key is good' );
is_deeply(
    [ grep { exists $_->{key} } @{ $stack->admin( GET => $keys )->json } ],
    [], 'admin keys: the list does not show it again' );
my $shown = $stack->admin( GET => "$keys/$id/plaintext", key => $new, headers => [ 'X-Request-ID' => 'read-1' ] );
ok( $shown->status == 200 && eq_hash( $shown->json, { key => $new } ),
    'admin keys: any holder of a key can read the plaintext of any key (specification 5.1)' ) or diag( $shown->text );
my ($environment) = map { $_->{id} } grep { $_->{managedBy} eq 'environment' } @{ $stack->admin( GET => $keys )->json };
is( $stack->admin( GET => "$keys/$environment/plaintext", key => $new )->member('key'), $key,
    'admin keys: ... of the configured one too' );
is( $stack->http->get("$keys/$id/plaintext")->status, 401, 'admin keys: the plaintext without a key is 401' );
admin_error( $stack->admin( GET => "$keys/$_/plaintext" ), 404, "admin keys: the plaintext of '$_' is 404" )
  for qw(x 01990000-0000-7000-8000-000000000000);
is( $stack->sql(
        q{SELECT string_agg(concat_ws(' ', operation, outcome, client_id = repeat('x', 128), request_summary::json ->> 'adminKey'), ', ' ORDER BY id) FROM audit_log WHERE request_id IN ('mint-1', 'read-1')}
    ),
    "createAdminKey allowed f $id, getAdminKeyPlaintext allowed t $id",
    'admin keys: minting and reading a plaintext leave an audit row with the key, and with the label of the one who did it'
);
unlike(
    $stack->sql('SELECT string_agg(a::text, chr(10)) FROM audit_log a'),
    qr/\Q$new\E/, 'admin keys: ... and without the plaintext' );
admin_error(
    $stack->admin( DELETE => "$keys/$environment", key => $new ),
    409, 'admin keys: the configured key cannot be revoked', error => 'conflict' );
admin_error( $stack->admin( DELETE => "$keys/none" ), 404, 'admin keys: DELETE of an unknown key is 404' );
is( $stack->admin( DELETE => "$keys/$id",          key => $new )->status, 204, 'admin keys: a key can revoke itself' );
is( $stack->admin( GET    => '/admin/api/clients', key => $new )->status, 401, 'admin keys: afterwards it is 401' );
$stack->sql(q{UPDATE admin_key SET revoked_at = now() WHERE managed_by = 'environment'});
my ($last_key) =
  map { ( $stack->authzctl( qw(admin-key mint --json --label), $_ ) )[1] =~ /(ak_[\w-]+)/ } qw(last other);
my ( $spare, $last ) = map { $stack->sql("SELECT id FROM admin_key WHERE label = '$_'") } qw(other last);
is( $stack->admin( DELETE => "$keys/$spare", key => $last_key )->status,
    204, 'admin keys: of the last two keys one can be revoked' );
admin_error(
    $stack->admin( DELETE => "$keys/$last", key => $last_key ),
    409, 'admin keys: the last active key cannot', error => 'conflict' );

# Two keys that revoke each other at the same moment: one of them stays.
my $left = 0;
for my $round ( 1 .. 12 ) {
    my %pair = map {
        my $name = "$_$round";
        my ($plain) = ( $stack->authzctl( qw(admin-key mint --json --label), $name ) )[1] =~ /(ak_[\w-]+)/;
        ( $plain => $stack->sql("SELECT id FROM admin_key WHERE label = '$name'") =~ s/\s+//gr )
    } qw(left right);
    $stack->sql( q{UPDATE admin_key SET revoked_at = now() WHERE revoked_at IS NULL AND id::text NOT IN ('}
          . join( q{','}, values %pair )
          . q{')} );
    my ( $one, $two ) = keys %pair;
    Authz::Client::together(
        map {
            my ( $who, $whom ) = @$_;
            my $http = $stack->client;
            [   $http,
                $http->octets( 'DELETE', "$keys/$pair{$whom}", headers => [ 'X-Admin-API-Key' => $who ], close => 1 ) ]
        } [ $one, $two ],
        [ $two, $one ] );
    $left++ if $stack->sql('SELECT count(*) FROM admin_key WHERE revoked_at IS NULL') == 1;
}
is( $left, 12, 'admin keys: two keys that revoke each other at the same moment leave one (oauth.md 5)' );
$stack->sql(q{UPDATE admin_key SET revoked_at = NULL WHERE managed_by = 'environment'});

# ---- bundles

my $bundle_key = $Authz::Stack::KEY{SVC_BUNDLE_API_KEY};

sub bundle {
    my ( $value, @more ) = @_;
    return $stack->client->get(
        '/bundles/svc',
        headers => [ ( defined $value ? ( 'X-Bundle-API-Key' => $value ) : () ), @more ] );
}
is( bundle($_)->status, 401, 'bundles: ' . ( defined $_ ? "the key '$_'" : 'no key' ) . ' is 401 (specification 5)' )
  for undef, '', 'wrong', $key, "${bundle_key}x";
my $bundle = bundle($bundle_key);
is( $bundle->status,                     200,        'bundles: with the key 200' );
is( substr( $bundle->body, 0, 2 ),       "\x1f\x8b", 'bundles: the body is gzip (policy.md 2.3)' );
is( $bundle->header('Content-Encoding'), undef,      'bundles: without Content-Encoding (policy.md 2.2)' );
like( $bundle->header('ETag') // '', qr/\A"[0-9a-f]{64}"\z/, 'bundles: a strong ETag, the SHA-256 in hex' );
my $same = bundle( $bundle_key, 'If-None-Match' => $bundle->header('ETag') // '' );
is( $same->status, 304, 'bundles: If-None-Match with the current ETag and no wait is 304 (policy.md 2.2)' );
is( bundle( $bundle_key, 'If-None-Match' => '"other"' )->status, 200, 'bundles: with another it is 200' );
is( $stack->client->get( '/bundles/other', headers => [ 'X-Bundle-API-Key' => $bundle_key ] )->status, 404,
    'bundles: another name is 404' );
is( $stack->client->post( '/bundles/status', json => {} )->status, 401,
    'bundles: a status push without the key is 401' );
my $push = { labels => { instance => 'other' }, bundles => { svc => { name => 'svc', active_revision => 'r0' } } };
is( $stack->client->post( '/bundles/status', headers => [ 'X-Bundle-API-Key' => $bundle_key ], json => $push )->status,
    200, 'bundles: with it 200' );
is( $stack->client->post( '/bundles/status/', headers => [ 'X-Bundle-API-Key' => $bundle_key ], json => $push )->status,
    200, 'bundles: with and without a final slash (policy.md 2.4)' );
is( $stack->client->post(
        '/bundles/status', headers => [ 'X-Bundle-API-Key' => $bundle_key, 'Content-Type' => 'application/json' ],
        body =>
          '{"labels":{"instance":"other"},"bundles":{"svc":{"name":"svc","active_revision":"r0"}},"metrics":{"go_gc_gomemlimit_bytes":9223372036854776000}}'
    )->status,
    200,
    'bundles: a status push with integers beyond 64 bits in its metrics is read (OPA without GOMEMLIMIT sends one)' );

# ---- SVC_ADMIN_ENABLED (specification 5.3)

my $off = Authz::Stack->start( beside => $stack, settings => { SVC_ADMIN_ENABLED => 'false' } );
is( $off->admin( GET => '/admin/api/clients' )->status, 404, 'SVC_ADMIN_ENABLED=false: 404 with a valid key' );
is( $off->admin( GET => '/admin/api/clients', key => undef )->status, 401,
    'SVC_ADMIN_ENABLED=false: without a key 401 first' );
is( $off->admin( GET => '/admin/api/clients', key => 'wrong' )->status, 401,
    'SVC_ADMIN_ENABLED=false: with a wrong key 401 first' );
is( $off->http->get('/.well-known/jwks.json')->status, 200, 'SVC_ADMIN_ENABLED=false: the rest is served' );

done_testing;

# /admin/api/policy-data: the list, rows by id, new rows, the schema of a row; and PATCH by-key with a merge patch
# (specification 2.5, 7.2; gateway-admin.md 3.6; RFC 7396). By key alone: policy_data.t.
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack    = Authz::Stack->start;
my $json     = JSON::PP->new->canonical->utf8;
my $base     = '/admin/api/policy-data';
my $bindings = 'svc.entitlements.bindings';
my $consent  = 'svc.operator.controls.consent';

sub dto {
    my ( $key, $payload, %more ) = @_;
    return { dataKey => $key, payload => ref $payload ? $json->encode($payload) : $payload, %more };
}
sub post { return $stack->admin( POST => $base, json => dto(@_) ) }
sub put  { my ( $id, @dto ) = @_; return $stack->admin( PUT => "$base/$id", json => dto(@dto) ) }
sub get  { return $stack->admin( GET => "$base/$_[0]" ) }

sub by_key {
    my ( $method, $key, %option ) = @_;
    return $stack->admin( $method => "$base/by-key?dataKey=$key", %option );
}

sub payload {
    return eval { $json->decode( $_[0]->member('payload') ) }
}

# All that a write could have changed.
sub state {
    return $stack->sql(
        "SELECT (SELECT md5(string_agg(concat_ws('|', id, data_key, payload, digest, version, in_bundle, shipped, updated_at), ',' ORDER BY id)) FROM policy_data),"
          . ' b.revision, s.acceptable FROM bundle_state s JOIN bundle b ON b.id = s.served' );
}

# Runs a refusal and sees that nothing came of it; the answer is given back.
sub refuse {
    my ( $run, $status, $name, %option ) = @_;
    my $before = state();
    my $answer = $run->();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error( $answer, $status, $name, %option );
    is( state(), $before, '... and nothing changed: rows, revision, what may decide' );
    return $answer;
}

sub failures {
    my ( $answer, $key, @want ) = @_;
    my $body = $answer->json // {};
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $have = join ' ', sort map { $_->{path} } @{ $body->{failures} // [] };
    ok(      $answer->status == 422
          && ( $body->{dataKey} // '' ) eq $key
          && $have eq join( ' ', sort @want )
          && !grep( { !length( $_->{message} // '' ) } @{ $body->{failures} } ),
        "... 422 with {dataKey, failures} naming each path: @want (specification 7.2)" ) or diag( $answer->text );
    return;
}

# ---- the list

my $list = $stack->admin( GET => $base );
admin_ok( $list, 200, undef, 'GET: the list' );
my @keys = map { $_->{dataKey} } @{ $list->json };
is_deeply( \@keys, [ sort @keys ], 'list: by key' );
is( scalar @keys, $stack->sql('SELECT count(*) FROM policy_data'), 'list: every row' );
members_are(
    $list->json->[0],
    {   payload   => qr/./, version => '1', inBundle => sub { JSON::PP::is_bool( $_[0] ) }, id => qr/\A\d+\z/,
        updatedAt => qr/T/, updatedAtFormatted => qr/\d/ },
    'list: of PolicyDataDto (specification 2.5)' );
is( join( ' ', map { $_->{dataKey} } @{ $stack->admin( GET => "$base?dataKey=$bindings" )->json } ), $bindings,
    'list: dataKey is the key' );
is( $stack->admin( GET => "$base?dataKey=svc.entitlements" )->body, "[]\n", 'list: ... not its beginning' );
is( join( ' ', map { $_->{dataKey} } @{ $stack->admin( GET => "$base?dataKey=svc.entitlements*" )->json } ), $bindings,
    'list: dataKey ending in * is what begins so' );
is( $stack->admin( GET => "$base?dataKey=%25" )->body,   "[]\n", 'list: no other character stands for others' );
is( $stack->admin( GET => $base, key => undef )->status, 401,    'list: without the key 401' );

# ---- create

my $made = post( 'acme.limits', { max => 5 }, version => '2026-01' );
admin_ok(
    $made, 201,
    {   dataKey => 'acme.limits', payload => '{"max":5}', version => '2026-01', inBundle => sub { $_[0] },
        id      => qr/\A\d+\z/ },
    'POST: 201 with PolicyDataDto' );
is( $made->header('ETag'), '"' . sha256_hex('{"max":5}') . '"',
    'POST: the ETag is the quoted hex SHA-256 of the payload (decisions.md "ETag")' );
is( $made->header('X-Policy-Activation'), 'confirmed',
    'POST: active when it is answered (decisions.md "Data rows stay")' );
is( $stack->sql("SELECT trigger_source || ' ' || triggered_by FROM bundle ORDER BY id DESC LIMIT 1"),
    'policy-data SVC_ADMIN_API_KEY', 'POST: the history says policy-data, and whose key' );
my $id = $made->member('id');
refuse(
    sub { post( 'acme.limits', { max => 6 } ) },                          409,
    'POST: a key that is there is a conflict (decisions.md "Conflicts")', error => 'conflict' );
refuse( sub { post( $bindings,    {} ) }, 409, 'POST: ... a shipped one too',             error => 'conflict' );
refuse( sub { post( 'acme',       {} ) }, 409, 'POST: a key above another is a conflict', error => 'conflict' );
refuse( sub { post( 'svc.mine',   {} ) }, 409, 'POST: a key below svc is protected',      error => 'protected' );
refuse( sub { post( 'system.log', {} ) }, 409, 'POST: a key below system is a conflict',  error => 'conflict' );
admin_ok(
    post( 'acme.draft', [1], inBundle => JSON::PP::false ), 201, { inBundle => sub { !$_[0] } },
    'POST: inBundle false keeps it from the engine' );

for (
    [ { payload => '{}' },     ['dataKey'],           'without dataKey' ],
    [ { dataKey => 'acme.f' }, ['payload'],           'without payload' ],
    [ {},                      [qw(dataKey payload)], 'without both: each is named' ],
    [ { dataKey => 'acme..f', payload => '{}' },                ['dataKey'], 'with a bad key' ],
    [ { dataKey => '',        payload => '{}' },                ['dataKey'], 'with an empty key' ],
    [ { dataKey => 5,         payload => '{}' },                ['dataKey'], 'with a number as key' ],
    [ { dataKey => 'a' x 257, payload => '{}' },                ['dataKey'], 'with a key of 257 characters' ],
    [ { dataKey => 'acme.f',  payload => '' },                  ['payload'], 'with an empty payload' ],
    [ { dataKey => 'acme.f',  payload => '{"a":' },             ['payload'], 'with a payload that is no JSON' ],
    [ { dataKey => 'acme.f',  payload => '{"a":1,"a":2}' },     ['payload'], 'with a payload that has a name twice' ],
    [ { dataKey => 'acme.f',  payload => '[' x 33 . ']' x 33 }, ['payload'], 'with a payload 33 deep' ],
    [ { dataKey => 'acme.f', payload => '{}', version => 'v' x 65 }, ['version'],  'with a version of 65 characters' ],
    [ { dataKey => 'acme.f', payload => '{}', inBundle => 'yes' },   ['inBundle'], 'with inBundle that is no boolean' ],
    [   { dataKey => 'acme.f', payload => '{}', inbundle => JSON::PP::true }, ['inbundle'],
        'with a member that is not there' ],
  )
{
    my ( $body, $fields, $name ) = @$_;
    refuse(
        sub { $stack->admin( POST => $base, json => $body ) }, 400, "POST: $name (specification 2.5)",
        fields => $fields );
}
admin_ok(
    post( 'a' x 256, '[' x 32 . ']' x 32, version => 'v' x 64 ), 201, undef,
    'limit: a key of 256, a payload 32 deep and a version of 64 are taken' );

# ---- by id

admin_ok( get($id), 200, { dataKey => 'acme.limits' }, 'GET: by id' );
is( get($id)->header('ETag'), $made->header('ETag'), 'GET: with the ETag' );
my $changed = put( $id, 'acme.limits', { max => 6 } );
admin_ok(
    $changed, 200, { id => $id, payload => '{"max":6}', version => '2026-01' },
    'PUT: 200; without version it stays' );
isnt( $changed->header('X-Policy-Revision'), $made->header('X-Policy-Revision'), 'PUT: another revision' );
admin_ok(
    $stack->admin( PUT => "$base/$id", json => { payload => '{"max":7}' } ), 200,
    { dataKey => 'acme.limits', payload => '{"max":7}' },                    'PUT: the key need not be repeated' );
admin_ok(
    $stack->admin( PUT => "$base/$id", json => { %{ get($id)->json }, version => '3' } ), 200,
    { version => '3' },                                                                   'PUT: takes what GET gave' );
refuse(
    sub { put( $id, 'acme.other', {} ) }, 400, 'PUT: another key is 400: a row keeps its name',
    fields => ['dataKey'] );
refuse( sub { put( $id, 'acme.limits', '{' ) }, 400, 'PUT: a payload that is no JSON is 400', fields => ['payload'] );
my $consent_id = $stack->sql("SELECT id FROM policy_data WHERE data_key = '$consent'");

sub breaks {
    my ( $run, $key, $name, @want ) = @_;
    my $before = state();
    my $answer = $run->();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, 422, $name ) or diag( $answer->text );
    failures( $answer, $key, @want );
    is( state(), $before, '... and nothing changed' );
    return;
}
breaks(
    sub { put( $consent_id, $consent, { mode => 'x', more => 1 } ) }, $consent, 'PUT by id: the schema holds',
    qw(/mode /more) );
my $registry    = 'svc.registry.resource_types';
my $registry_id = $stack->sql("SELECT id FROM policy_data WHERE data_key = '$registry'");
sub of_type { return { resource => { types => {} }, rar => { types => { pay => { schema => shift } } } } }
breaks(
    sub { put( $registry_id, $registry, of_type( { items => { '$ref' => $_ } } ) ) },
    $registry, "PUT: a schema of the registry must not lead the engine to $_", '/rar/types/pay/schema'
) for 'http://127.0.0.1/x.json', 'file:///etc/hostname', 'other.json';
admin_ok(
    put( $registry_id, $registry, of_type( { '$defs' => { a => {} }, '$ref' => '#/$defs/a' } ) ), 200, undef,
    'PUT: ... but to its own definitions' );
admin_ok(
    put( $consent_id, $consent, { mode => 'off' } ), 200, undef,
    'PUT by id: a shipped row may be changed within it' );
$stack->sql("DELETE FROM policy_data WHERE data_key = '$consent'");
breaks( sub { post( $consent, { mode => 'x' } ) }, $consent, 'POST: the schema holds', '/mode' );
admin_ok(
    post( $consent, { mode => 'off' } ), 201, undef,
    'POST: a row that has a schema and is lost may be made again' );
for my $method (qw(GET PUT DELETE)) {
    refuse(
        sub { $stack->admin( $method => "$base/$_", ( $method eq 'PUT' ? ( json => dto( 'acme.limits', {} ) ) : () ) ) }
        ,
        404,
        "$method: the id $_ is 404" ) for 999999999, 'abc', '1x', '9223372036854775808';
}

# ---- fixed names come before ids

admin_error( $stack->admin( GET => "$base/by-key" ), 400, 'GET by-key is no id: it asks for dataKey' );
admin_error( $stack->admin( GET => "$base/schema" ), 400, 'GET schema is no id: it asks for dataKey' );

# ---- If-Match

my $other = '"' . '0' x 64 . '"';
refuse(
    sub { $stack->admin( PUT => "$base/$id", json => dto( 'acme.limits', {} ), headers => [ 'If-Match' => $other ] ) },
    412, 'If-Match: a difference is 412 for PUT' );
refuse( sub { $stack->admin( DELETE => "$base/$id", headers => [ 'If-Match' => $other ] ) }, 412, '... for DELETE' );
refuse(
    sub { $stack->admin( POST => $base, json => dto( 'acme.new', {} ), headers => [ 'If-Match' => '*' ] ) }, 412,
    '... * for a row that is not there' );
my $etag = get($id)->header('ETag');
admin_ok(
    $stack->admin( PUT => "$base/$id", json => dto( 'acme.limits', { max => 8 } ), headers => [ 'If-Match' => $etag ] ),
    200, undef, 'If-Match: the current ETag passes' );
refuse( sub { $stack->admin( DELETE => "$base/$id", headers => [ 'If-Match' => $etag ] ) }, 412, 'If-Match: once' );

# ---- the schema (gateway-admin.md 3.6)

my $schema = $stack->admin( GET => "$base/schema?dataKey=$consent" );
admin_ok( $schema, 200, undef, 'GET schema: of a control\'s row' );
my $file = do {
    open my $in, '<', Authz::Path::source( 'etc', 'policy', 'schemas', "$consent.json" ) or die;
    local $/ = undef;
    $json->decode( readline $in );
};
is_deeply( $schema->json, $file, '... is the one that is shipped' );
admin_error( $stack->admin( GET => "$base/schema?dataKey=acme.limits" ), 404, 'GET schema: 404 for a row without one' );
admin_error(
    $stack->admin( GET => "$base/schema?dataKey=a..b" ), 400, 'GET schema: 400 for what is no key',
    fields => ['dataKey'] );

# ---- merge patch (RFC 7396)

sub merge {
    my ( $key, $patch, %option ) = @_;
    return by_key(
        PATCH   => $key, body => ref $patch ? $json->encode($patch) : $patch,
        headers => [ 'Content-Type' => $option{type} // 'application/merge-patch+json', @{ $option{headers} // [] } ] );
}

post( 'acme.tree', { list => [ 1, 2, 3 ], inner => { kept => 'x', old => 1 }, old => 1 } );
my $patched = merge( 'acme.tree', { list => [4], inner => { old => undef, new => 2 }, old => undef, new => 1 } );
admin_ok( $patched, 200, undef, 'PATCH: application/merge-patch+json (gateway-admin.md 3.6)' );
is_deeply(
    payload($patched), { list => [4], inner => { kept => 'x', new => 2 }, new => 1 },
    '... objects are merged, null removes, anything else replaces' );
is( $patched->header('ETag'), by_key( GET => 'acme.tree' )->header('ETag'), '... and the ETag is the new payload\'s' );
admin_ok(
    by_key( PATCH => 'acme.tree', json => { new => undef } ), 200, undef,
    'PATCH: application/json is a merge patch too' );
admin_ok(
    merge( 'acme.tree', {}, type => 'application/Merge-Patch+JSON; charset=utf-8' ), 200, undef,
    'PATCH: the type is read without regard to case and parameters' );
refuse( sub { merge( 'acme.tree', $_->[0] ) }, 400, "PATCH: $_->[1] is 400" )
  for [ '[{]', 'a body that is not JSON' ], [ '', 'an empty body' ],
  [ [ { op => 'remove', path => '/list' } ], 'an array' ];
refuse(
    sub { merge( 'acme.tree', [ { op => 'remove', path => '/list' } ], type => 'application/json-patch+json' ) }, 415,
    'PATCH: application/json-patch+json (RFC 6902) is 415' );
refuse( sub { merge( 'acme.tree', {}, type => $_ ) }, 415, "PATCH: $_ is 415" )
  for 'text/plain', 'application/merge-patch', 'application/jsonx';
refuse( sub { merge( 'no.such.row', {} ) }, 404, 'PATCH: an unknown row is 404' );
refuse(
    sub { $stack->admin( PATCH => "$base/by-key", json => {} ) }, 400, 'PATCH: without dataKey 400',
    fields => ['dataKey'] );
refuse(
    sub { merge( 'acme.tree', { list => undef }, headers => [ 'If-Match' => $other ] ) }, 412,
    'PATCH: If-Match holds for it' );
breaks(
    sub { merge( $bindings, { clients => { crm => { ttl => 0, scopes => [5] } } } ) },
    $bindings, 'PATCH: the schema holds for the result', qw(/clients/crm/ttl /clients/crm/scopes/0) );

# Three at a time: each adds a member of its own.
my @race = map {
    my $http = $stack->client;
    [   $http,
        $http->octets(
            PATCH   => "$base/by-key?dataKey=acme.tree",
            body    => $json->encode( { race => { "r$_" => $_ } } ),
            close   => 1,
            headers => [
                'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
                'Content-Type'    => 'application/merge-patch+json' ] ) ]
} 1 .. 3;
is( join( ' ', map { $_->status } Authz::Client::together(@race) ), '200 200 200', 'PATCH: three at a time' );
is_deeply(
    payload( by_key( GET => 'acme.tree' ) )->{race}, { r1 => 1, r2 => 2, r3 => 3 },
    '... are all in the result' );

# ---- delete

my $gone = $stack->admin( DELETE => "$base/$id" );
admin_ok( $gone, 204, undef, 'DELETE: 204' );
like( $gone->header('X-Policy-Revision'), qr/\A[0-9a-f]{32}\z/, 'DELETE: with the revision' );
admin_error( get($id), 404, 'DELETE: and it is gone' );
refuse( sub { $stack->admin( DELETE => "$base/$id" ) }, 404, 'DELETE: again 404' );
my $bindings_id = $stack->sql("SELECT id FROM policy_data WHERE data_key = '$bindings'");
refuse(
    sub { $stack->admin( DELETE => "$base/$bindings_id" ) }, 409, 'DELETE: a shipped row is protected',
    error => 'protected' );

# ---- audit

is( $stack->sql(
        "SELECT string_agg(DISTINCT operation, ' ' ORDER BY operation) FROM audit_log WHERE endpoint LIKE '/admin/api/policy-data%'"
    ),
    'createPolicyData deletePolicyData patchPolicyDataByKey putPolicyData',
    'every write leaves an audit row; reads leave none' );

done_testing;

# /admin/api/policy-data/by-key: read, create, replace, merge, delete; schemas; activation (specification 2.5, 7.2;
# decisions.md "Policy data by key", "Data rows stay", "Readings: Admin API"; policy.md 6.4).
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start;
my $json  = JSON::PP->new->canonical->utf8;

sub row {
    my ( $method, $key, %option ) = @_;
    return $stack->admin( $method => '/admin/api/policy-data/by-key?dataKey=' . Authz::Client::escape($key), %option );
}

sub put {
    my ( $key, $payload, %more ) = @_;
    return row(
        PUT  => $key,
        json => { dataKey => $key, payload => ref $payload ? $json->encode($payload) : $payload, %more } );
}

sub payload {
    my ($answer) = @_;
    return eval { $json->decode( $answer->member('payload') ) }
}

# ---- read

my $bindings = 'svc.entitlements.bindings';
my $read     = row( GET => $bindings );
admin_ok(
    $read, 200,
    {   dataKey            => $bindings, payload => qr/\A\s*\{/, id => sub { $_[0] =~ /\A\d+\z/ },
        inBundle           => sub { JSON::PP::is_bool( $_[0] ) && $_[0] },
        updatedAt          => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/,
        updatedAtFormatted => qr/\d/ },
    'GET: a shipped row as PolicyDataDto; payload is JSON text (specification 2.5; decisions.md "Policy data by key")'
);
is( $read->header('ETag'), '"' . sha256_hex( $read->member('payload') ) . '"',
    'GET: the ETag is the quoted hex SHA-256 of the payload (decisions.md "ETag")' );
admin_error( row( GET => 'no.such.row' ), 404, 'GET: an unknown row is 404 with an empty body' );
admin_error( $stack->admin( GET => '/admin/api/policy-data/by-key' ), 400, 'GET: without dataKey 400' );

# ---- create and replace

my $made = put( 'acme.limits', { max => 5 } );
admin_ok( $made, 201, { dataKey => 'acme.limits' }, 'PUT: creates with 201' );
is_deeply( payload($made), { max => 5 }, 'PUT: and answers with the payload' );
is( $made->header('X-Policy-Activation'), 'confirmed',
    'PUT: X-Policy-Activation: confirmed (decisions.md "Data rows stay")' );
like(
    $made->header('X-Policy-Revision') // '', qr/\A[0-9a-f]{32}\z/,
    'PUT: X-Policy-Revision names the revision (policy.md 2.4)' );
my $again = put( 'acme.limits', { max => 6 }, version => '7.1' );
admin_ok( $again, 200, { version => '7.1' }, 'PUT: replaces with 200; version is the caller\'s text' );
isnt(
    $again->header('X-Policy-Revision'), $made->header('X-Policy-Revision'),
    'PUT: another content is another revision' );
admin_error( put( 'acme.limits', '{"max":' ), 400, 'PUT: a payload that is no JSON is 400', fields => ['payload'] );
admin_error(
    put( 'acme.limits', '{"a":1,"a":2}' ), 400, 'PUT: a payload with a repeated name is 400',
    fields => ['payload'] );
admin_error(
    row( PUT => 'acme.limits', json => { dataKey => 'acme.limits', payload => { max => 5 } } ), 400,
    'PUT: a payload that is no string is 400',                                                  fields => ['payload'] );
admin_error(
    row( PUT => 'acme.limits', json => { dataKey => 'acme.other', payload => '{}' } ), 400,
    'PUT: a dataKey that differs from the address is 400' );
admin_error(
    put( 'acme.limits', '{}', version => 'x' x 65 ), 400, 'limit: a version of 65 characters is 400',
    fields => ['version'] );
admin_ok( put( 'acme.limits', { max => 6 }, version => 'x' x 64 ), 200, undef, 'limit: of 64 it is allowed' );
is_deeply( payload( row( GET => 'acme.limits' ) ), { max => 6 }, 'PUT: what was refused changed nothing' );
my $long = 'acme.' . 'k' x 251;
admin_ok( put( $long, {} ), 201, undef, 'limit: a dataKey of 256 characters is allowed' );
admin_error( put( "${long}k", {} ), 400, 'limit: of 257 it is 400' );
admin_error( put( $_->[0],    {} ), 400, "PUT: the dataKey $_->[1] is refused" )
  for [ 'acme..x', 'with an empty segment' ], [ '.acme', 'that begins with a dot' ],
  [ 'acme.', 'that ends with a dot' ], [ 'acme x', 'with a blank' ];

# ---- merge (RFC 7396)

put( 'acme.tree', { a => { b => 1, c => 2 }, d => [ 1, 2 ], e => 'x' } );
my $merged = row( PATCH => 'acme.tree', json => { a => { b => undef, z => 3 }, d => [3], f => true } );
admin_ok( $merged, 200, undef, 'PATCH: 200' );
is_deeply(
    payload($merged), { a => { c => 2, z => 3 }, d => [3], e => 'x', f => true },
    'PATCH: objects merge, null removes, arrays are replaced (RFC 7396)' );
admin_ok(
    row( PATCH => 'acme.tree', json => { e => 'y' }, type => 'application/merge-patch+json' ), 200, undef,
    'PATCH: application/merge-patch+json is as good' );
is( row( PATCH => 'acme.tree', headers => [ 'Content-Type' => 'text/plain' ], body => '{}' )->status, 415,
    'PATCH: another content type is 415' );
admin_error( row( PATCH => 'no.such.row', json => {} ), 404, 'PATCH: an unknown row is 404' );

# ---- If-Match (decisions.md "ETag")

my $etag = row( GET => 'acme.tree' )->header('ETag');
admin_error(
    row( PATCH => 'acme.tree', json => { e => 'z' }, headers => [ 'If-Match' => '"' . '0' x 64 . '"' ] ), 412,
    'If-Match: a difference is 412' );
is( payload( row( GET => 'acme.tree' ) )->{e}, 'y', 'If-Match: and nothing is written' );
admin_ok(
    row( PATCH => 'acme.tree', json => { e => 'z' }, headers => [ 'If-Match' => $etag ] ), 200, undef,
    'If-Match: the current ETag lets it pass' );
admin_error(
    row( PATCH => 'acme.tree', json => { e => 'w' }, headers => [ 'If-Match' => $etag ] ), 412,
    'If-Match: once' );
my @race = map {
    my $http = $stack->client;
    [   $http,
        $http->octets(
            'PATCH', '/admin/api/policy-data/by-key?dataKey=acme.tree', json => { e => "r$_" }, close => 1,
            headers => [
                'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
                'If-Match'        => row( GET => 'acme.tree' )->header('ETag') ] ) ]
} 1 .. 4;
my %status;
$status{ $_->status }++ for Authz::Client::together(@race);
is_deeply( \%status, { 200 => 1, 412 => 3 }, 'If-Match: of four writers with the same ETag one wins' );

# ---- delete

is( row( DELETE => 'acme.tree' )->status, 204, 'DELETE: 204' );
admin_error( row( GET    => 'acme.tree' ), 404, 'DELETE: and it is gone' );
admin_error( row( DELETE => 'acme.tree' ), 404, 'DELETE: again 404' );
admin_error(
    row( DELETE => $bindings ), 409, 'DELETE: a shipped row is 409 protected (decisions.md "Shipped rules and rows")',
    error => 'protected' );
admin_error( row( DELETE => 'svc.operator.controls.consent' ), 409, "DELETE: so is a control's", error => 'protected' );

# ---- conflicts of names (policy.md 2.3, 6.3; decisions.md "Conflicts")

admin_error( put( $_->[0], {} ), 409, "PUT: a key $_->[1] is 409 conflict", error => 'conflict' )
  for [ 'acme', 'that is a prefix of another' ], [ 'acme.limits.more', 'below another' ];
admin_error( put( $_->[0], {} ), 409, "PUT: a key $_->[1] is 409", error => 'protected' )
  for [ 'svc', 'above the shipped ones' ], [ 'svc.decision.issue', 'where a rule lies' ],
  [ 'svc.controls.client.x', 'below a rule' ];
is( $stack->token( $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } ) )->status, 200,
    'and none of it disturbed decisions' );

# ---- schemas: every failing place is named (specification 2.5, 7.2)

sub failures {
    my ( $key, $payload, @want ) = @_;
    my $name   = pop @want;
    my $answer = put( $key, $payload );
    my $body   = $answer->json // {};
    my @have   = sort map { $_->{path} // 'no path' } @{ ref $body->{failures} eq 'ARRAY' ? $body->{failures} : [] };
    my $good =
         $answer->status == 422
      && ( $body->{dataKey} // '' ) eq $key
      && "@have" eq join( ' ', sort @want )
      && !grep { !defined $_->{message} || $_->{message} eq '' } @{ $body->{failures} // [] };
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( $good, $name ) or diag( "wanted [@{[ sort @want ]}], have [@have]\n" . $answer->text );
    return;
}
my $controls = 'svc.operator.controls';
failures(
    $bindings, { clients => { crm => { scopes => 'a' } } }, '/clients/crm/scopes',
    'schema: a string for a list' );
failures(
    $bindings, { clients => { crm => { scopes => [ 'a', 'a' ] } } }, '/clients/crm/scopes/1',
    'schema: repeated items; the second is named' );
failures(
    $bindings,
    {   clients =>
          { crm => { scopes => [ 'a', 5 ], grants => ['nonsense'], ttl => 0, jit_single_use => 'yes' }, web => [] } },
    qw(/clients/crm/scopes/1 /clients/crm/grants/0 /clients/crm/ttl /clients/crm/jit_single_use /clients/web),
    'schema: every failing path is named, not the first alone' );
failures(
    $bindings, { clients => { 'a/b~c' => { ttl => 'x' } } }, '/clients/a~1b~0c/ttl',
    'schema: paths are JSON Pointers (RFC 6901)' );
failures(
    $bindings, { clients => { crm => { endpoints => ['userinfo'] } } }, '/clients/crm/endpoints/0',
    'schema: endpoints are of the four' );
failures(
    $bindings, { registrations => { OTHER => {} } }, '/registrations/OTHER',
    'schema: registration types are of the four' );
failures( $bindings, [], '', 'schema: another type at the root has the empty pointer' );
failures(
    "$controls.environment", { allow_cidrs => [ '10.0.0.0/33', '10.0.0.0/8', 'x' ] },
    qw(/allow_cidrs/0 /allow_cidrs/2), 'schema: the format cidr (policy.md 6.4: OPA would allow)' );
failures(
    "$controls.environment", { hours => { tz => 'Europe/Berln', from => '25:00', to => '08:00' } },
    qw(/hours/tz /hours/from), 'schema: the formats timezone and hh:mm' );
failures( "$controls.public_client_policy", { enabled => true }, '/dcr', 'schema: a required member that is missing' );
failures( "$controls.consent",              { mode    => 'sometimes' }, '/mode', 'schema: an enum' );
failures(
    "$controls.trust", { trusted_issuers => [ map {"https://i$_.example"} 1 .. 101 ] }, '/trusted_issuers',
    'schema: at most 100 entries in a row array (policy.md 6.5)' );
failures(
    "$controls.introspection", { require_audience => 'false' }, '/require_audience',
    'schema: a text for a boolean' );
admin_ok(
    put("$controls.trust",
        { trusted_issuers => [ 'https://a.example', { issuer => 'https://b.example' } ], statement_issuers => [] } ),
    200, undef,
    'schema: issuers may be strings or objects (policy.md 6.4)' );
admin_ok(
    put("$controls.environment",
        {   allow_cidrs => [ '127.0.0.0/8', '2001:db8::/32' ],
            hours       => { tz => 'Europe/Berlin', from => '00:00', to => '23:59' } } ),
    200, undef,
    'schema: good formats pass' );
put( "$controls.environment", {} );
my $patch = row( PATCH => $bindings, json => { clients => { crm => { ttl => -1 } } } );
is( $patch->status,                                          422,   'schema: holds for PATCH too' );
is( payload( row( GET => $bindings ) )->{clients}{crm}{ttl}, undef, 'schema: what breaks it is not stored' );

# ---- activation: the next line may rely on it (decisions.md "Data rows stay")

my @late   = $stack->make_client('late');
my $misses = 0;
for my $i ( 1 .. 15 ) {
    my $give = row(
        PATCH => $bindings,
        json  => { clients => { late => { grants => ['client_credentials'], scopes => ["s$i"] } } } );
    my $answer = $stack->client->post(
        '/token', headers => [ Authz::Client::basic(@late) ],
        form => [ grant_type => 'client_credentials', scope => "s$i" ], close => 1 );
    $misses++ if $give->header('X-Policy-Activation') ne 'confirmed' || ( $answer->member('scope') // '' ) ne "s$i";
}
is( $misses, 0, 'activation: after "confirmed" every worker issues by the new row at once, 15 times over' );
is( $stack->sql('SELECT cardinality(acceptable) FROM bundle_state'), 1,
    'activation: a confirmed save leaves one acceptable revision' );

# Without confirmation: the answer does not wait, both revisions may decide until the engine reports.
my $loose = Authz::Stack->start( beside => $stack, settings => { SVC_BUNDLE_CONFIRM_ACTIVATION => 'false' } );
my $fast  = $loose->admin(
    PATCH => "/admin/api/policy-data/by-key?dataKey=$bindings",
    json  => { clients => { late => { scopes => ['again'] } } } );
is( $fast->status . ' ' . ( $fast->header('X-Policy-Activation') // '' ), '200 pending',
    'SVC_BUNDLE_CONFIRM_ACTIVATION=false: 200 with X-Policy-Activation: pending' );

# The engine is away: the row is kept all the same, and said to be pending (decisions.md "Data rows stay").
$stack->{opa}->stop;
my $quick =
  Authz::Stack->start( beside => $stack, not_ready => 1, settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 500 } );
my $kept = $quick->admin(
    PATCH => "/admin/api/policy-data/by-key?dataKey=$bindings",
    json  => { clients => { late => { scopes => ['later'] } } } );
is( $kept->status . ' ' . ( $kept->header('X-Policy-Activation') // '' ), '200 pending',
    'engine away: 200 and pending, never rolled back' );
is_deeply( payload( row( GET => $bindings ) )->{clients}{late}{scopes}, ['later'], 'engine away: the row is stored' );
$stack->start_opa;
$stack->await_ready;
ok( defined Authz::Process::until_true( 20, sub { $stack->token( @late, scope => 'later' )->status == 200 } ),
    'engine back: it decides by the stored row' );

# ---- authzctl does the same

my ( $status, $text ) = $stack->authzctl( qw(policy data get), 'acme.limits' );
is( $status, 0, 'authzctl policy data get: exit status 0' ) or diag($text);
like( $text, qr/"max"\s*:\s*6/, 'authzctl policy data get: prints the payload' );
my $file = Authz::Web::write_file( Authz::Process::directory() . '/row.json', '{"max": 9}' );
( $status, $text ) = $stack->authzctl( qw(policy data set), 'acme.limits', $file );
is( $status,                                       0, 'authzctl policy data set: exit status 0' ) or diag($text);
is( payload( row( GET => 'acme.limits' ) )->{max}, 9, 'authzctl policy data set: stores it' );
( $status, $text ) = $stack->authzctl(qw(policy data get no.such.row));
isnt( $status, 0, 'authzctl policy data get: an unknown row is an error' );

done_testing;

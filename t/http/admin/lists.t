# Lists of the admin API in pages: people, sessions, consents, managed resources, connections, delegations, UMA resources and
# waiting approvals (gateway-admin.md 3.6).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start( gateway => 1 );
my $api   = '/admin/api';
$stack->make_client($_) for qw(drive till);
for my $name (qw(notes stock)) {
    $stack->admin(
        POST => "$api/managed-resources",
        json => {
            name   => $name, displayName => "The \u$name", upstreamType => 'STATIC', enabled => JSON::PP::true,
            routes => [ { id => 'all', path => '/**', methods => ['GET'], response => { status => 200, body => 'x' } } ]
        } );
}
$stack->sql(<<'SQL');
INSERT INTO identity_provider (idp_id, issuer) VALUES ('corp', 'https://corp.example');
INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims, signed_in_at)
SELECT 'p' || lpad(i::text, 4, '0'), 'https://corp.example', i::text, 'corp',
       json_build_object('name', CASE WHEN i % 10 = 0 THEN 'Ann 100% ' ELSE 'Bob ' END || i, 'email', 'm' || i || '@Shop.example'),
       now() - make_interval(mins => i) FROM generate_series(1, 120) i;
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, created_at, expires_at, ip, user_agent)
SELECT sha256(i::text::bytea), 's' || i, 'p' || lpad((i % 2 + 1)::text, 4, '0'), p.id, to_timestamp(0), now() - make_interval(mins => i),
       now() + interval '1 hour', '192.0.2.7', 'Browser ' || i FROM generate_series(1, 60) i, identity_provider p;
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, expires_at)
SELECT sha256('over'), 'over', 'p0001', p.id, now(), now() - interval '1 second' FROM identity_provider p;
INSERT INTO consent (subject, client, what, redirect_host, scope)
SELECT 'p' || lpad((i % 2 + 1)::text, 4, '0'), c.id, sha256(i::text::bytea), 'h.example', 'openid' FROM generate_series(1, 60) i, client c
 WHERE c.client_id = 'drive';
INSERT INTO gateway_connection (subject, idp, resource, binding, secret_sealed, scopes, status)
SELECT 'p' || lpad(i::text, 4, '0'), p.id, r, sha256('b'), '\x00', '{}', CASE WHEN i % 5 = 0 THEN 'reauth_required' ELSE 'active' END
  FROM generate_series(1, 40) i, (VALUES ('notes'), ('stock')) v(r), identity_provider p WHERE r = 'notes' OR i <= 20;
INSERT INTO uma_resource (id, client, subject, name, scopes)
SELECT gen_random_uuid(), c.id, 'p' || lpad((i % 2 + 1)::text, 4, '0'), 'Photos ' || i, '{view}' FROM generate_series(1, 60) i, client c
 WHERE c.client_id = 'drive';
INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_subject, resource, scopes, revoked_at)
SELECT gen_random_uuid(), r.client, r.subject, 'p0003', r.id, '{view}', CASE WHEN r.name LIKE '%5' THEN now() END FROM uma_resource r;
INSERT INTO ciba_request (id, secret_hash, client, subject, idp, flow_id, scope, interval_seconds, expires_at, state)
SELECT gen_random_uuid(), sha256('s'), c.id, 'p' || lpad((i % 2 + 1)::text, 4, '0'), p.id, gen_random_uuid(), 'pay', 5,
       now() + CASE WHEN i > 58 THEN interval '-1 second' ELSE interval '1 hour' END, CASE WHEN i > 56 THEN 'denied' ELSE 'pending' END
  FROM generate_series(1, 60) i, client c, identity_provider p WHERE c.client_id = 'till';
SQL

sub list {
    my ($query) = @_;
    my $answer = $stack->admin( GET => "$api/$query" );
    return { rows => $answer->json, total => scalar $answer->header('X-Total-Count') };
}

# The pages of a list have each row once, and each tells the number of all.
sub pages {
    my ( $path, $query, $key, $total, $name ) = @_;
    my ( @rows, %known );
    for my $number ( 0 .. int( $total / 25 ) ) {
        my $page = list("$path?${query}size=25&page=$number");
        is( $page->{total}, $total, "$name: page $number tells the total" );
        push @rows, @{ $page->{rows} };
    }
    $known{ $key->($_) }++ for @rows;
    is( scalar @rows . ' ' . keys %known,                   "$total $total", "$name: the pages have each row once" );
    is( scalar @{ list("$path?${query}page=900")->{rows} }, 0, '... and a page beyond the last has none' );
    return $rows[0];
}

# Refused first: bad places and words.
my %word = (
    'managed-resources'                   => [qw(status view)], connections => ['status'],
    'managed-resources/notes/connections' => ['status'],
    delegations                           => ['state'] );
for my $path (
    qw(subjects sessions consents managed-resources connections managed-resources/notes/connections delegations uma-resources ciba-requests)
  )
{
    admin_error(
        $stack->admin( GET => "$api/$path?$$_[0]=$$_[1]" ),
        400, "$path: $$_[0]=$$_[1] is 400", fields => [ $$_[0] ] )
      for [ page => 'x' ], [ page => -1 ], [ page => 2001 ], [ size => 0 ], [ size => 201 ],
      map { [ $_ => 'x' ] } @{ $word{$path} // [] };
    is( $stack->admin( GET => "$api/$path?page=2000" )->status,     200, "$path: a page may begin at row 100,000" );
    is( $stack->admin( GET => "$api/$path?unknown=1" )->status,     200, "$path: an unknown parameter is ignored" );
    is( $stack->admin( GET => "$api/$path", key => undef )->status, 401, "$path: without a key 401" );
    is( $stack->admin( POST => "$api/$path", json => {}, key => 'ak_wrong' )->status, 401,
        "$path: ... and with a wrong one" );
}
is( $stack->admin( GET => "$api/managed-resources/none/connections" )->status, 404, 'connections: of no resource 404' );

# ---- people

my $first = pages( 'subjects', '', sub { $_[0]{subjectId} }, 120, 'people' );
members_are(
    $first,
    {   subjectId => 'p0001',                name       => 'Bob 1', email => 'm1@Shop.example', idpId => 'corp',
        issuer    => 'https://corp.example', sessions   => 30,
        createdAt => qr/\A\d{4}-/,           signedInAt => qr/\A\d{4}-/ },
    'people: the one who signed in last is first, with the sessions that are live' );
is( scalar @{ list('subjects')->{rows} }, 50, 'people: a page has 50 by default' );
for my $case (
    [ 'q=P00',               99, 'a part of the subject in any case' ], [ 'q=ann',        12, 'a part of the name' ],
    [ 'q=100%25',            12, 'a wildcard is a letter' ],            [ 'q=m12%40SHOP', 1,  'a part of the address' ],
    [ 'q=p0120',             1,  'the whole subject' ],
    [ 'q=nothing-like-that', 0,  'no person' ] )
{
    my ( $query, $count, $name ) = @$case;
    is( list("subjects?$query")->{total}, $count, "people: $name" );
}
admin_error(
    $stack->admin( GET => '/admin/api/subjects?q=' ),
    400, 'people: an empty text is refused, and finds not all (oauth.md C4)', fields => ['q'] );
$stack->sql(
    q{INSERT INTO subject (subject, issuer, upstream_sub, claims, signed_in_at)
      SELECT 'q' || i, 'https://corp.example', 'q' || i, json_build_object('email', 'q' || i || '@far.example'), now() + interval '1 hour'
        FROM generate_series(1, 10000) i}
);
is( list('subjects?q=m7%40')->{total}, 0, 'people: a part is looked for among the 10,000 who signed in last' );
is( list('subjects?q=p0007')->{rows}[0]{name},     'Bob 7', '... and the whole subject among all' );
is( list('subjects?q=M7%40shop.EXAMPLE')->{total}, 1,       '... as the whole address' );
is( list('subjects')->{total},                     10000,   '... and the list goes as far' );

# ---- sessions and consents

$first = pages( 'sessions', '', sub { $_[0]{sid} }, 60, 'sessions' );
members_are(
    $first,
    {   sid      => 's1', subjectId => 'p0002', idpId => 'corp', ip => '192.0.2.7', userAgent => 'Browser 1',
        authTime => undef,
        map { $_ => qr/\A\d{4}-\d\d-\d\dT[\d:.]+Z\z/ } qw(createdAt lastSeenAt expiresAt) },
    'sessions: the newest is first, with where it is from' );
is( scalar @{ list('sessions')->{rows} },             60,     'sessions: without page and size up to 1000' );
is( list('sessions?subjectId=p0001&page=0')->{total}, 30,     'sessions: of one person, without those that are over' );
is( list("sessions?$$_[0]&size=1")->{total},          $$_[1], "sessions: $$_[2]" )
  for [ 'idpId=corp', 60, 'of people of a provider, which end with it' ],
  [ 'idpId=corp&subjectId=p0001', 30, 'two filters' ], [ 'idpId=Corp', 0, 'of no provider' ];
$first = pages( 'consents', '', sub { $_[0]{id} }, 60, 'consents' );
is( $first->{clientId},                                              'drive', 'consents: with the client' );
is( list('consents?subjectId=p0001&clientId=drive&size=1')->{total}, 30,      'consents: two filters' );
is( list('consents?clientId=till')->{total},                         0,       'consents: none of another client' );

# ---- managed resources and connections

my $all     = list('managed-resources');
my $summary = list('managed-resources?view=summary');
is( "$all->{total} $summary->{total}", '2 2', 'managed resources: the number of all' );
ok( exists $all->{rows}[0]{routes}, 'managed resources: the full view has the routes' );
is_deeply(
    [ sort keys %{ $summary->{rows}[0] } ],
    [qw(displayName enabled name status statusChangedAt toolCount upstreamType waitingTools)],
    'managed resources: the summary has no routes, tools and settings' );
is( list("managed-resources?$$_[0]")->{total}, $$_[1], "managed resources: $$_[2]" )
  for [ 'q=the%20S', 1, 'a part of the name for people' ], [ 'q=OTE', 1, 'a part of the name in paths' ],
  [ 'status=active', 2, 'the status' ], [ 'status=degraded', 0, 'none with another' ],
  [ 'q=o&status=active&size=1', 2, 'two filters' ];
$stack->sql(
    q{UPDATE managed_resource SET tools = '[{"name":"a","pin":{"status":"new"}},{"name":"b","pin":{"status":"changed"}},{"name":"c","pin":{"status":"approved"}}]'
      WHERE name = 'notes'} );
members_are(
    list('managed-resources?q=notes&view=summary')->{rows}[0],
    { toolCount => 3, waitingTools => 2 }, 'managed resources: tools that are new or changed wait' );

$first = pages( 'connections', '', sub {"$_[0]{resource} $_[0]{subject}"}, 60, 'connections' );
ok( !grep( {/secret|sealed|binding/} keys %$first ), 'connections: without secrets' );
is( list("connections?$$_[0]")->{total}, $$_[1], "connections: $$_[2]" )
  for [ 'subject=p0001', 2, 'of one person' ], [ 'resource=stock', 20, 'of a resource' ],
  [ 'status=reauth_required',                              12, 'to be renewed' ],
  [ 'subject=p0005&status=reauth_required&resource=notes', 1,  'three filters' ],
  [ 'idpId=corp&size=1', 60, 'of people of a provider, which go with it' ], [ 'idpId=none', 0, 'of no provider' ];
is( list("managed-resources/notes/connections?$$_[0]")->{total}, $$_[1], "connections of a resource: $$_[2]" )
  for [ '', 40, 'all' ], [ 'status=active&size=1', 32, 'with a status' ], [ 'subject=p0001', 1, 'of one person' ],
  [ 'idpId=corp', 40, 'of people of a provider' ], [ 'idpId=none', 0, 'of no provider' ];

# ---- one person

my $person = $stack->admin( GET => "$api/subjects/p0001" );
members_are(
    $person->json,
    { name => 'Bob 1', email => 'm1@Shop.example', idpId => 'corp', claims => sub { $_[0]{name} eq 'Bob 1' } },
    'a person: name, address, provider and claims' );
is( $stack->admin( GET => "$api/subjects/nobody" )->status,              404, 'a person that is not there is 404' );
is( $stack->admin( GET => "$api/subjects/p0001", key => undef )->status, 401, 'a person: without a key 401' );

# ---- delegations, UMA resources, waiting approvals

$first = pages( 'delegations', '', sub { $_[0]{id} }, 60, 'delegations' );
is( $first->{grantorClientId} . ' ' . $first->{granteeSubject}, 'drive p0003', 'delegations: by whom and to whom' );
is( list("delegations?$$_[0]")->{total},                        $$_[1],        "delegations: $$_[2]" )
  for [ 'subjectId=p0001', 30, 'by a person' ], [ 'subjectId=p0003', 60, 'to a person' ],
  [ 'clientId=drive', 60, 'by a client' ],
  [ 'clientId=till',  0,  'by another' ], [ 'state=live', 54, 'live' ], [ 'state=ended', 6, 'ended' ],
  [ "resourceId=$first->{resourceId}", 1, 'of a resource' ], [ 'resourceId=x', 0, 'of no resource' ];
$first = pages( 'uma-resources', '', sub { $_[0]{id} }, 60, 'UMA resources' );
is( list("uma-resources?$$_[0]")->{total}, $$_[1], "UMA resources: $$_[2]" )
  for [ 'q=photos%205', 11, 'a part of the name' ], [ 'subjectId=p0002', 30, 'of an owner' ],
  [ 'clientId=till', 0, 'of a client' ];
$first = pages( 'ciba-requests', '', sub { $_[0]{id} }, 56, 'waiting approvals' );
ok( !grep( {/hash|secret/} keys %$first ), 'waiting approvals: without secrets' );
is( list('ciba-requests?subjectId=p0001')->{total}, 28, 'waiting approvals: for a person' );
is( list('ciba-requests?clientId=drive')->{total},  0,  'waiting approvals: of another client none' );

# ---- attention

sub entry {
    my ($kind) = @_;
    return [ grep { $_->{kind} eq $kind } @{ list('attention')->{rows} } ];
}
is( $stack->admin( GET => "$api/attention", key => undef )->status, 401, 'attention: without a key 401' );
is_deeply(
    entry('tools_waiting'), [ { kind => 'tools_waiting', name => 'notes', count => 2 } ],
    'attention: tools that wait' );
is_deeply(
    [ map {"$_->{name} $_->{count}"} @{ entry('connections_to_renew') } ],
    [ 'notes 8', 'stock 4' ], 'attention: connections to renew, by resource' );
is_deeply( entry($_), [], "attention: nothing of $_ yet" )
  for qw(engines_differ errors resource_degraded resource_pending key_ending reason_new clients_unused);
$stack->sql(<<'SQL');
UPDATE managed_resource SET status = 'degraded', status_reason = 'its upstream fails' WHERE name = 'stock';
UPDATE client SET created_at = now() - interval '200 days';
INSERT INTO client_last SELECT client_id, now() - interval '1 day' FROM client WHERE client_id = 'till';
INSERT INTO audit_count VALUES ('', (now() AT TIME ZONE 'UTC')::date - 5, '/token', 'denied', true, 3);
INSERT INTO denial_count VALUES ('', (now() AT TIME ZONE 'UTC')::date, 'seen_before', 4), ('', (now() AT TIME ZONE 'UTC')::date - 5, 'seen_before', 3),
  ('', (now() AT TIME ZONE 'UTC')::date, 'fresh', 2), ('', (now() AT TIME ZONE 'UTC')::date - 40, 'fresh', 1);
SQL
for my $case ( [ soon => 13 ], [ late => 15 ] ) {
    my $made = $stack->admin( POST => "$api/admin-keys", json => { label => $case->[0], role => 'auditor' } );
    $stack->sql("UPDATE admin_key SET expires_at = now() + interval '$case->[1] days' WHERE label = '$case->[0]'");
    is( $stack->admin( GET => "$api/attention", key => $made->member('key') )->status, 200,
        'attention: an auditor may look' );
}
$stack->sql(<<'SQL');
UPDATE managed_resource SET status = 'pending', status_reason = 'a sync must read its tools' WHERE name = 'notes';
INSERT INTO audit_log (created_at, id, request_id, endpoint, operation, method, http_status, outcome, policy_input, request_summary)
SELECT now() - make_interval(mins => i), nextval('audit_id_seq'), 'failed-' || i, CASE WHEN i <= 3 THEN '/gateway/mcp/{resource}' ELSE '/token' END,
       'x', 'POST', CASE WHEN i <= 3 THEN 502 ELSE 503 END, 'error', '\x00',
       CASE WHEN i <= 3 THEN '{"resource":"stock","error":"upstream_invalid_response","reason":"The answer of the upstream is not valid"}' END
  FROM generate_series(1, 5) i;
INSERT INTO audit_log (created_at, id, request_id, endpoint, operation, method, http_status, outcome, request_summary)
SELECT now() - make_interval(mins => i), nextval('audit_id_seq'), 'differs-' || i, '(witness)', 'policyWitness', 'none', 0, 'error',
       '{"entrypoint":"svc/decision/issue","revision":"r' || i || '"}'
  FROM generate_series(2, 3) i;
SQL
is_deeply(
    [ map {"$_->{name} $_->{count} $_->{detail}"} @{ entry('engines_differ') } ],
    ['svc/decision/issue 2 r3'],
    'attention: what OPA decided otherwise than the embedded engine in the last 24 hours, on any host' );
is_deeply(
    [ map {"$_->{name} $_->{count} $_->{detail}"} @{ entry('errors') } ],
    [ 'stock 3 upstream_invalid_response: The answer of the upstream is not valid', '/token 2 503' ],
    'attention: errors first, by place and cause, the most frequent first' );
like( entry('errors')->[0]{at}, qr/\A\d{4}-/, '... since when' );

# On a busy machine a check of readiness may fail meanwhile: its entry stands before all of the database.
my @kinds = grep { $_ ne 'not_ready' } map { $_->{kind} } @{ list('attention')->{rows} };
is( $kinds[0], 'engines_differ', '... before all else of the database, what engines decided otherwise' );
is( $kinds[1], 'errors',         '... and then the errors' );
members_are(
    entry('resource_pending')->[0], { name => 'notes', detail => 'a sync must read its tools' },
    'attention: a resource that serves nothing yet, and what it lacks' );
members_are(
    entry('resource_degraded')->[0], { name => 'stock', detail => 'its upstream fails', at => qr/\A\d{4}-/ },
    'attention: a degraded resource' );
is( join( ' ', map { $_->{name} } @{ entry('key_ending') } ), 'soon', 'attention: a key that ends within 14 days' );
is_deeply(
    [ map {"$_->{name} $_->{count}"} @{ entry('reason_new') } ], ['fresh 2'],
    'attention: a reason that was on none of the 30 days before' );
members_are(
    entry('clients_unused')->[0], { count => 1, name => undef },
    'attention: clients without a request in 90 days' );
$stack->sql(q{UPDATE managed_resource SET enabled = false});
is_deeply( entry($_), [], "attention: a resource that is switched off has no $_" )
  for qw(tools_waiting resource_degraded resource_pending);

# ---- what the console counts before a delete goes with it, and nothing else

is( $stack->admin( DELETE => "$api/identity-providers/corp" )->status, 204, '(the provider is deleted)' );
is( join( ' ', map { list("$_?size=1")->{total} } qw(sessions connections subjects consents) ),
    '0 0 10000 60', 'a deleted provider takes its sessions and connected accounts with it; people and consents stay' );

done_testing;

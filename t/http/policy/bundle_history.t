# /admin/api/bundle-audit: the bundles that were served, their rows, differences, and rollback (specification 2.6, 4.12;
# gateway-admin.md 3.6; decisions.md "Bundle diff").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

# Without the program that tries them, the engine gets what it refuses (policy.md 7.3).
my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => '/nonexistent' } );
my $json  = JSON::PP->new->canonical->utf8;
my $top   = '/admin/api/bundle-audit';
$stack->sql('ALTER SEQUENCE bundle_id_seq RESTART WITH 1001');    # ids below are for bundles of the past

sub get { my ($path) = @_; return $stack->admin( GET => "$top$path" ) }

sub deploy {
    my (%body) = @_;
    my %option = %{ delete $body{option} // {} };
    return $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => \%body, %option );
}
sub rollback { my ($id)    = @_; return $stack->admin( POST => "$top/$id/rollback" ) }
sub entries  { my ($query) = @_; return @{ get( $query // '?size=200' )->json } }
sub content  { my ($id)    = @_; return get("/$id/content")->json }

sub served {
    return $stack->http->get(
        '/bundles/svc',
        headers => [ 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY} ] );
}

sub rule { my ( $path, $text, %more ) = @_; return { path => $path, content => $text, %more } }
sub row { my ( $key, $payload ) = @_; return { dataKey => $key, payload => $payload } }

# Rows as PostgreSQL holds them: what a rollback must restore, and what a refused one must leave.
sub rows {
    return $stack->sql(
        q{SELECT 'r ' || path || ' ' || digest || ' ' || enabled || ' ' || content FROM policy_rule ORDER BY path COLLATE "C"}
      )
      . "\n"
      . $stack->sql(
        q{SELECT 'd ' || data_key || ' ' || digest || ' ' || in_bundle || ' ' || version || ' ' || payload FROM policy_data ORDER BY data_key COLLATE "C"}
      );
}

# ---- BundleAuditLogDto (specification 2.6)

my ($shipped) = entries();
members_are(
    $shipped,
    {   id => qr/\A\d+\z/, createdAt => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, etag => qr/\A[0-9a-f]{64}\z/,
        previousEtag    => undef, triggerSource => 'shipped',                           triggeredBy => qr/./,
        bundleSizeBytes => sub { defined $_[0]                       && $_[0] == length served()->body },
        ruleCount       => sub { $_[0] == @{ $shipped->{rulePaths} } && $_[0] > 10 },
        rulePaths       => sub {
            ref $_[0] eq 'ARRAY' && grep { $_ eq 'svc/decision/issue.rego' || m{\Asvc/.*\.rego\z} } @{ $_[0] };
        },
        dataKeys => sub {
            grep { $_ eq 'svc.entitlements.bindings' } @{ $_[0] };
        },
    },
    'list: the shipped policy is the first entry, a BundleAuditLogDto without what it has not' );
is( scalar( entries() ), 1, 'list: and the only one' );

# ---- who and why

my ($configured) = map { $_->{label} }
  grep { $_->{managedBy} eq 'environment' } @{ $stack->admin( GET => '/admin/api/admin-keys' )->json };
my ( undef, $said ) = $stack->authzctl(qw(admin-key mint --label night-shift));
my ($minted) = $said =~ /^(ak_\S+)$/m or die "no key: $said";

my $allow = "package acme.a\n\nlimit := 1\n";
my $one =
  deploy( rules => [ rule( 'acme/a.rego', $allow ) ], data => [ row( 'acme.limits', { max => 5, min => 1 } ) ] );
admin_ok( $one, 200, { activation => 'confirmed' }, 'a deploy' );
my ($first) = entries();
members_are(
    $first,
    {   triggerSource => 'deploy',         triggeredBy => $configured, etag => $one->member('newEtag'),
        previousEtag  => $shipped->{etag}, revision    => $one->member('revision') },
    'list: a deploy with the configured key shows the label of that key' );
is_deeply(
    [ grep {m{\Aacme}} @{ $first->{rulePaths} }, @{ $first->{dataKeys} } ], [qw(acme/a.rego acme.limits)],
    'list: with what it brought' );
my $two = deploy(
    mode => 'merge',                                          rules  => [ rule( 'acme/b.rego', "package acme.b\n" ) ],
    data => [ row( 'acme.limits', { max => 6, min => 1 } ) ], option => { key => $minted } );
admin_ok( $two, 200, undef, 'a deploy with a minted key' );
my ($second) = entries();
members_are(
    $second, { triggerSource => 'deploy', triggeredBy => 'night-shift', previousEtag => $first->{etag} },
    'list: triggeredBy is the label the key was minted with' );
$stack->patch_row( 'acme.limits', { max => 7 } );
my ($third) = entries();
members_are(
    $third, { triggerSource => 'policy-data', triggeredBy => $configured, previousEtag => $second->{etag} },
    'list: a row that is written alone is an entry too' );
my @all = entries();
is_deeply( [ map { $_->{id} } @all ], [ sort { $b <=> $a } map { $_->{id} } @all ], 'list: newest first' );
is( scalar @all, 4, 'list: all of them' );

my $refused = deploy( rules => [ rule( 'acme/c.rego', "package acme.c\nx := nonsense(1)\n" ) ] );
admin_error( $refused, 422, 'a deploy that the engine refuses', error => 'bundle_not_activated' );
is_deeply( [ entries() ], \@all, 'list: what was refused never appears' );
is( $stack->sql(q{SELECT count(*) FROM bundle WHERE status = 'refused'}), 1, '... though it was tried' );
my $tried = $stack->sql(q{SELECT id FROM bundle WHERE status = 'refused'});
admin_error( get("/$tried$_"), 404, "GET {id}$_ of a refused one is 404" ) for '', '/content';
admin_error( rollback($tried), 404, 'nor can be gone back to it' );
deploy( mode => 'dry-run', rules => [ rule( 'acme/d.rego', "package acme.d\n" ) ] );
is_deeply( [ entries() ], \@all, 'list: nor does a dry run' );

# ---- pages

is_deeply( [ entries('?page=0&size=2') ], [ @all[ 0, 1 ] ], 'page 0 of 2' );
is_deeply( [ entries('?page=1&size=2') ], [ @all[ 2, 3 ] ], 'page 1 of 2' );
is_deeply( [ entries('?page=1&size=3') ], [ $all[3] ], 'the last page is shorter' );
is_deeply( [ entries("?page=$_") ],       [], "page $_ beyond the end is an empty array" ) for 1, 2000;
admin_error( get("?page=2001"), 400, 'a page that begins after row 100,000 is 400', fields => ['page'] );
is_deeply( [ entries('?size=1') ], [ $all[0] ], 'limit: a size of 1' );
admin_ok( get('?size=200'), 200, undef, 'limit: a size of 200' );
admin_error( get("?$_->[0]"), 400, "$_->[0] is 400", fields => $_->[1] )
  for [ 'size=0', ['size'] ], [ 'size=201', ['size'] ], [ 'size=-1', ['size'] ], [ 'size=x', ['size'] ],
  [ 'size=99999999999999999999', ['size'] ], [ 'page=-1',         ['page'] ], [ 'page=1.5',                  ['page'] ],
  [ 'page=%2B1',                 ['page'] ], [ 'page=2147483648', ['page'] ], [ 'page=18446744073709551616', ['page'] ],
  [ 'page=a&size=b',             [qw(page size)] ];

# ---- filters

sub total { my ($query) = @_; return get("?$query")->header('X-Total-Count') }
is( total(''),                4,      'filters: the total without one' );
is( total('size=1&page=3'),   4,      '... on each page' );
is( total("rulePath=$$_[0]"), $$_[1], "filters: rulePath=$$_[0]" )
  for [ 'acme/a.rego', 3 ], [ 'acme/b.rego', 2 ], [ 'acme/c.rego', 0 ];
is( total('dataKey=acme.limits'),                          3, 'filters: dataKey' );
is( total('triggeredBy=night-shift'),                      1, 'filters: triggeredBy' );
is( total("revision=$all[1]{revision}"),                   1, 'filters: revision, as a decision names it' );
is( total('revision=0123'),                                0, 'filters: an unknown revision' );
is( total('rulePath=acme/b.rego&triggeredBy=night-shift'), 1, 'filters: two' );
admin_error(
    get('?rulePath='), 400, 'filters: an empty one is refused, and finds not all (oauth.md C4)',
    fields => ['rulePath'] );

# ---- latest, and one by its id

sub newest { my $entry = get('/latest')->json; delete $entry->{nextId}; return $entry }

my $latest = get('/latest');
admin_ok( $latest, 200, undef, 'latest: 200' );
my $next = $latest->member('nextId');
cmp_ok( $next, '>', $all[0]{id} + 1, 'latest: with the id of the next bundle; the save that was refused took one' );
is_deeply( newest(), $all[0], 'latest: the newest entry' );
is( '"' . $latest->member('etag') . '"', served()->header('ETag'), 'latest: what GET /bundles/svc serves' );
is( $latest->member('bundleSizeBytes'),  length served()->body,    'latest: of that size' );
is_deeply( get("/$_->{id}")->json, $_, "GET {id}: $_->{triggerSource}" ) for @all;
admin_error( get("/$_"), 404, "GET {id}: $_ is 404" )
  for 0, 999999, '99999999999999999999', '-1', 'x', "$third->{id}x", '%2031', 'Latest';
is( $stack->admin( DELETE => "$top/latest" )->status,          405, 'history cannot be deleted' );
is( $stack->admin( GET    => "$top$_", key => undef )->status, 401, "$_ without the admin key is 401" )
  for '', '/latest', "/$third->{id}", "/$third->{id}/content", "/diff?from=1&to=2";
is( $stack->admin( POST => "$top/$third->{id}/rollback", key => undef )->status, 401,
    'rollback without the admin key is 401' );

# ---- at

sub at { my ($timestamp) = @_; return get( '/at?timestamp=' . Authz::Client::escape($timestamp) ) }

# `createdAt` moved by milliseconds.
sub moved {
    my ( $entry, $ms ) = @_;
    return $stack->sql(
        "SELECT to_char(('$entry->{createdAt}'::timestamptz + interval '$ms ms') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"
    );
}
is_deeply( at( $_->{createdAt} )->json,      $_,      "at: the createdAt of $_->{triggerSource} finds it" ) for @all;
is_deeply( at( moved( $all[0], 1 ) )->json,  $all[0], 'at: after the last one, the last one' );
is_deeply( at('9999-12-31T23:59:59Z')->json, $all[0], 'at: in the future too' );
is_deeply( at( moved( $all[1], -1 ) )->json, $all[2], 'at: a millisecond before one was active, the one before it' );
is_deeply( at( moved( $all[0], -1 ) )->json, $all[1], 'at: between two' );
admin_error( at( moved( $shipped, -1 ) ), 404, 'at: before the first one 404' );
admin_error( at('0001-01-01T00:00:00Z'),  404, 'at: at the beginning of time too' );
my $abroad = $stack->sql(
    "SELECT to_char(('$all[1]{createdAt}'::timestamptz + interval '5 hours 30 minutes') AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS') || '+05:30'"
);
is_deeply( at($abroad)->json, $all[1], 'at: with an offset' );
admin_ok( at('2090-01-01T00:00:00+23:59'), 200, undef, 'at: the widest offset there is' );
admin_error( get('/at'), 400, 'at: without timestamp 400', fields => ['timestamp'] );
admin_error( at($_),     400, "at: `$_` is 400",           fields => ['timestamp'] )
  for '2026-01-01', 'yesterday', 'now', 'infinity', '2026-01-01 00:00:00', '2026-02-30T00:00:00Z',
  '2026-01-01T00:00:00', '2026-01-01T00:00:00+24:00', '2026-01-01T00:00:00Z; DROP TABLE bundle', '1767225600';

# ---- the rows

my $rows = get("/$first->{id}/content");
admin_ok( $rows, 200, undef, 'content: 200' );
is_deeply( [ sort keys %{ $rows->json } ],                     [qw(data rules)],    'content: rules and data' );
is_deeply( [ map { $_->{path} } @{ $rows->json->{rules} } ],   $first->{rulePaths}, 'content: the rules of the entry' );
is_deeply( [ map { $_->{dataKey} } @{ $rows->json->{data} } ], $first->{dataKeys},  'content: and its rows' );
my ($was) = grep { $_->{path} eq 'acme/a.rego' } @{ $rows->json->{rules} };
members_are( $was, { content => $allow, version => qr/./ }, 'content: a rule with its text and version' );
my ($limits) = grep { $_->{dataKey} eq 'acme.limits' } @{ $rows->json->{data} };
is_deeply(
    $json->decode( $limits->{payload} ), { max => 5, min => 1 },
    'content: a row as it was then; its payload is JSON text' );
admin_error( get("/$_/content"), 404, "content: $_ is 404" ) for 999999, 'latest', 'x';

# ---- diff

sub difference { my ( $from, $to ) = @_; return get("/diff?from=$from->{id}&to=$to->{id}") }
my $diff = difference( $first, $third );
admin_ok( $diff, 200, undef, 'diff: 200' );
is_deeply( $diff->json->{rules}, { added => ['acme/b.rego'], removed => [], changed => [] }, 'diff: a rule added' );
is_deeply(
    $diff->json->{data}{changed},
    [   {   dataKey => 'acme.limits',
            diff    =>
              "--- a/acme.limits\n+++ b/acme.limits\n\@\@ -1,4 +1,4 \@\@\n {\n-  \"max\": 5,\n+  \"max\": 7,\n   \"min\": 1\n }\n"
        } ],
    'diff: a row changed, with a unified diff of it' );
is_deeply(
    difference( $third, $first )->json->{rules}{removed}, ['acme/b.rego'],
    'diff: the other way round it is removed' );
is_deeply(
    difference( $first, $first )->json,
    { map { $_ => { added => [], removed => [], changed => [] } } qw(rules data) },
    'diff: of a bundle with itself nothing' );
admin_error( get("/diff?from=$first->{id}&to=999999"), 404, 'diff: to an unknown one is 404' );
admin_error( get("/diff?from=999999&to=$first->{id}"), 404, 'diff: from an unknown one too' );
admin_error( get("/diff?from=$first->{id}&to=$tried"), 404, 'diff: a refused one is unknown' );
admin_error( get('/diff'),                             400, 'diff: without ids 400',         fields => [qw(from to)] );
admin_error( get("/diff?from=$first->{id}"),           400, 'diff: without one of them too', fields => ['to'] );
admin_error( get("/diff?from=x&to=$first->{id}"),      400, 'diff: an id that is no number', fields => ['from'] );

# ---- rollback

# Beside the bundles: a disabled rule, a row that is in no bundle, one that was taken out of it.
admin_ok(
    deploy(
        rules => [
            rule( 'acme/off.rego', "package acme.off\n", enabled => JSON::PP::false() ),
            rule( 'acme/new.rego', "package acme.new\n" ), rule( 'acme/a.rego', "package acme.a\n\nlimit := 2\n" ) ],
        data => [ row( 'acme.more', [1] ) ] ),
    200, undef,
    'more of everything' );
$stack->sql(
    q{INSERT INTO policy_data (data_key, payload, digest, version, in_bundle) VALUES ('acme.apart', '1', repeat('0', 64), '1', false)}
);
my $before   = rows();
my ($fourth) = entries();
my $listed   = total('');
admin_error(
    $stack->admin( POST => "$top/$first->{id}/rollback?mode=merge" ), 400, 'rollback: mode=merge is 400',
    fields => ['mode'] );
admin_ok(
    $stack->admin( POST => "$top/$first->{id}/rollback?mode=dry-run&message=look" ),
    200, { mode => 'dry-run', activation => 'dry-run', rulesDeleted => 2, dataDeleted => 1 },
    'rollback: a dry-run counts what would be' );
is( rows() . total(''), $before . $listed, '... and changes nothing' );
my $back = rollback( $first->{id} );
admin_ok(
    $back, 200,
    {   mode          => 'replace', activation => 'confirmed', rulesDeleted => 2, dataDeleted => 1, rulesProtected => 0,
        dataProtected => 0,         previousEtag           => $fourth->{etag}, newEtag => $first->{etag},
        revision      => $first->{revision}, rulesUpserted => 1,
        dataUpserted  => sub { $_[0] == @{ $first->{dataKeys} } - 1 },
    },
    'rollback: PolicyBundleDeployResult; the same rows are the same revision and the same octets' );
is( $back->header('X-Policy-Revision'), $first->{revision}, 'rollback: X-Policy-Revision' );
my ($fifth) = entries();
members_are(
    $fifth,
    {   triggerSource => 'rollback',      triggeredBy => $configured, etag => $first->{etag},
        previousEtag  => $fourth->{etag}, id          => sub { $_[0] > $fourth->{id} } },
    'rollback: a new entry with triggerSource rollback' );
is_deeply(
    content( $fifth->{id} ), content( $first->{id} ),
    'rollback: its rows are those it went back to, octet for octet' );
is( served()->header('ETag'), "\"$first->{etag}\"", 'rollback: and are served' );
is( $stack->sql(q{SELECT path || ' ' || enabled FROM policy_rule WHERE path LIKE 'acme/%' ORDER BY 1}),
    "acme/a.rego true\nacme/off.rego false", 'rollback: a disabled rule stays' );
is( $stack->sql(q{SELECT data_key || ' ' || payload FROM policy_data WHERE data_key = 'acme.apart'}), 'acme.apart 1',
    'rollback: so does a row that is in no bundle' );
is( $stack->sql(q{SELECT content FROM policy_rule WHERE path = 'acme/a.rego'}), $allow,
    'rollback: a rule has its text again' );
my $same = rollback( $first->{id} );
admin_ok(
    $same, 200,
    { newEtag => $first->{etag}, previousEtag => $first->{etag}, rulesDeleted => 0, dataDeleted => 0 },
    'rollback: to what is served' );
is( ( entries() )[0]{id}, $fifth->{id}, '... is no new entry' );
admin_ok( rollback( $fourth->{id} ), 200, { newEtag => $fourth->{etag} }, 'rollback: of a rollback' );
is( rows(), $before, '... gives back each row, octet for octet' );
$stack->sql(q{UPDATE policy_data SET in_bundle = false WHERE data_key = 'acme.more'});
admin_ok(
    rollback( $fourth->{id} ), 200, { newEtag => $fourth->{etag} },
    'rollback: a row that was taken out of the bundle comes back into it' );
is( rows(), $before, '... as it was' );

# The audit row of the rollback.
my $seen = $stack->sql(q{SELECT count(*) FROM audit_log WHERE operation = 'rollbackBundle'});
cmp_ok( $seen, '>=', 4, 'rollback: each leaves an audit row' );

# ---- rollbacks that are refused change nothing

# A bundle of the past by hand: its id, its rows or none.
sub past {
    my ( $id, $content, $status ) = @_;
    my $text = defined $content ? q{'} . $json->encode($content) =~ s/'/''/gr . q{'} : 'NULL';
    $stack->sql(
        'INSERT INTO bundle (id, revision, etag, body, content, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys, created_at) OVERRIDING SYSTEM VALUE VALUES'
          . " ($id, 'past$id', repeat('0', 64), '\\x00', convert_from(convert_to($text, 'UTF8'), 'UTF8'), '"
          . ( $status // 'published' )
          . "', 't', 't', 1, '{}', '{}', now() - interval '1 day')" );
    return $id;
}

# The rows of the bundle that is served, with one rule or data row in another form.
my $now = content( $fourth->{id} );

sub with {
    my ( $list, $name, $change ) = @_;
    my $copy = $json->decode( $json->encode($now) );
    my ($entry) = grep { ( $_->{path} // $_->{dataKey} ) eq $name } @{ $copy->{$list} };
    if ($entry) { %$entry = ( %$entry, %$change ) }
    else        { push @{ $copy->{$list} }, { version => '1', %$change } }
    return $copy;
}

sub changes_nothing {
    my ( $name, $id, $status, %option ) = @_;
    my ( $rows, $etag, $newest ) = ( rows(), served()->header('ETag'), newest() );
    my $answer = rollback($id);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error( $answer, $status, $name, %option );
    ok( rows() eq $rows && served()->header('ETag') eq $etag && eq_hash( newest(), $newest ),
        '... and nothing is changed' );
    return $answer;
}
changes_nothing(
    'rollback: rows that the engine refuses are 422 with its words (specification 7.2)',
    past( 10, with( rules => 'acme/a.rego', { content => "package acme.a\n\nx := nonsense(1)\n" } ) ),
    422,
    error   => 'bundle_not_activated',
    members => {
        rolledBack     => true(), error_description => qr{acme/a\.rego:3}, expectedRevision => qr/\A[0-9a-f]{32}\z/,
        activeRevision => $fourth->{revision} } );
my $environment = 'svc.operator.controls.environment';
my $breaks      = rollback( past( 11, with( data => $environment, { payload => '{"allow_cidrs":["x"]}' } ) ) );
ok(      $breaks->status == 422
      && $breaks->member('dataKey') eq $environment
      && $breaks->member('failures')->[0]{path} eq '/allow_cidrs/0',
    'rollback: a row that breaks its schema of today is 422 {dataKey, failures}' ) or diag( $breaks->text );
is( rows(), $before, '... and nothing is changed' );
changes_nothing(
    'rollback: a bundle whose rows were not kept is 409', past(12), 409, error => 'conflict',
    members => { error_description => qr/bundle 12 .*older version/ } );
admin_error( get('/12/content'),                    409, 'content: of such a one is 409', error => 'conflict' );
admin_error( get("/diff?from=12&to=$fourth->{id}"), 409, 'diff: from such a one too',     error => 'conflict' );
changes_nothing(
    'rollback: data keys that overlap are 409',
    past( 13, with( data => 'acme.more.of.it', { dataKey => 'acme.more.of.it', payload => '1' } ) ), 409,
    error => 'conflict' );
changes_nothing( "rollback: $_ is 404", $_, 404 ) for 999999, 'x', 'latest';

# ---- shipped rules belong to the program

my ($ours) = grep {m{\Asvc/}} @{ $first->{rulePaths} };
my $older = past( 14, with( rules => $ours, { content => "package svc.older\n" } ) );
admin_ok(
    rollback($older), 200, { rulesProtected => 1, newEtag => $fourth->{etag} },
    'rollback: a shipped rule that was another one is kept as it is, and counted' );
my $gone = past( 15, with( rules => 'svc/gone.rego', { path => 'svc/gone.rego', content => "package svc.gone\n" } ) );
admin_ok(
    rollback($gone), 200, { rulesProtected => 1, newEtag => $fourth->{etag} },
    'rollback: one that is shipped no more does not come back' );
is( rows(), $before, '... and nothing is changed' );
my $lacks = $json->decode( $json->encode($now) );
$lacks->{rules} = [ grep { $_->{path} ne $ours } @{ $lacks->{rules} } ];
$lacks->{data}  = [ grep { $_->{dataKey} ne $environment } @{ $lacks->{data} } ];
admin_ok(
    rollback( past( 16, $lacks ) ), 200,
    { rulesProtected => 1, rulesDeleted => 0, dataProtected => 1, dataDeleted => 0, newEtag => $fourth->{etag} },
    'rollback: one that was not there yet stays, as does a shipped row' );
is( rows(), $before, '... and nothing is changed' );

# ---- what is kept

sub maintain {
    my ( $status, $text ) = $stack->authzctl('maintain');
    return $status == 0 ? 1 : diag($text);
}
my $good  = q{status IN ('published', 'confirmed')};
my $other = "$good AND id <> (SELECT served FROM bundle_state)";
sub count { return $stack->sql("SELECT count(*) FROM bundle WHERE $_[0]") }
sub ids   { return $stack->sql("SELECT string_agg(id::text, ' ' ORDER BY id) FROM bundle WHERE $_[0]") }

# So many more of the past, each with an archive and rows; the newest has the highest id.
sub more_past {
    my ( $from, $count, $status ) = @_;
    $stack->sql(
        'INSERT INTO bundle (id, revision, etag, body, content, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys) OVERRIDING SYSTEM VALUE'
          . " SELECT $from + n, 'past', repeat('0', 64), '\\x00', '{}', '$status', 't', 't', 1, '{}', '{}' FROM generate_series(0, $count - 1) n"
    );
    return;
}
$stack->sql('DELETE FROM bundle WHERE id < 1000 AND id > 1');
more_past( 100, 200 - count($other),      'published' );
more_past( 600, 199 - count("NOT $good"), 'refused' );
more_past( 2,   1,                        'withdrawn' );
my $all = ids('true');
ok( maintain(), 'maintain: runs' );
is( ids('true'), $all,
    'limit: 200 bundles beside the one served are kept, and as many that were refused (gateway-admin.md 3.6)' );
is( count("$other AND content IS NULL"), 0, '... with their rows' );
is( ids('body IS NOT NULL'),
    $stack->sql(q{SELECT previous || ' ' || id FROM bundle WHERE id = (SELECT served FROM bundle_state)}),
    '... archives only of the one served and the one before it' );
is( count("NOT $good AND (content IS NOT NULL OR body IS NOT NULL)"), 0,
    '... of the refused neither archive nor rows' );
is( served()->status, 200, '... and the engine still gets its bundle' );

more_past( 400, 1, 'published' );
ok( maintain(), 'maintain: one bundle more' );
is( count($other),   200, 'limit: the 201st goes' );
is( count('id = 1'), 0,   '... the oldest one' );
is( count('id = 2'), 1,   '... what was refused after it stays' );
more_past( 401, 1, 'published' );
ok( maintain(), 'maintain: and another' );
is( ids('id < 102'), '101', '... what was refused before the ones that are kept goes with them' );
more_past( 900, 2, 'refused' );
ok( maintain(), 'maintain: one more that was refused' );
is( count("NOT $good"), 200, 'limit: the 201st of the refused goes' );

# A bundle that may have to be served again is kept, however old it is.
$stack->sql(q{UPDATE bundle SET previous = 101, body = '\\x00' WHERE id = (SELECT served FROM bundle_state)});
$stack->sql(q{UPDATE bundle SET body = '\\x00' WHERE id = 101});
my $lock = Authz::Process->start(
    name    => 'saver',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
        $Authz::Postgres::PORT,        '-d',                     $stack->{database},         '-c',
        'SELECT pg_catalog.pg_advisory_lock(4, 0), pg_sleep(60)' ] );
for ( 1 .. 500 ) {
    last
      if $stack->sql(
        q{SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 4 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())}
      );
    sleep 0.02;
}
$stack->sql(
    q{UPDATE bundle SET status = 'pending', previous = 104, body = '\\x00' WHERE id = 103; UPDATE bundle SET body = '\\x00' WHERE id = 104}
);
more_past( 402, 11, 'published' );
ok( maintain(), 'maintain: eleven more' );
is( ids('id < 112'), '101 103 104',
    'what the served one and a candidate would fall back to stays, and the candidate, however old' );
is( ids('id < 1000 AND body IS NOT NULL'), '101 103 104', '... with their archives' );
is( served()->status,                      200,           '... and the engine still gets its bundle' );
$lock->stop;

done_testing;

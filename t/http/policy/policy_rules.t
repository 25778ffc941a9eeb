# /admin/api/policy-rules: list, read, create, replace, upsert by path, delete; refusals by the service and by the engine
# (specification 2.4, 7.2; gateway-admin.md 3.6; decisions.md "Namespace", "Readings: Admin API").
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $base  = '/admin/api/policy-rules';

sub rego { my ( $package, @line ) = @_; return join "\n", "package $package", '', @line, '' }

sub dto {
    my ( $path, $content, %more ) = @_;
    return {
        path => $path, kind => $path =~ /\.cedar\z/ ? 'cedar' : 'rego', content => $content, version => '1',
        %more };
}
sub post    { return $stack->admin( POST => $base,           json => dto(@_) ) }
sub by_path { return $stack->admin( PUT  => "$base/by-path", json => dto(@_) ) }
sub put     { my ( $id, @dto ) = @_; return $stack->admin( PUT => "$base/$id", json => dto(@dto) ) }
sub get     { return $stack->admin( GET => "$base/$_[0]" ) }
sub list    { return $stack->admin( GET => $base . ( @_ ? "?$_[0]" : '' ) ) }

sub paths {
    return join ' ', map { $_->{path} } @{ list(@_)->json };
}

# All that a save could have changed: rules, the bundle that is served and the revisions that may decide.
sub state {
    return $stack->sql(
        "SELECT (SELECT md5(string_agg(concat_ws('|', id, path, kind, content, version, digest, enabled, updated_at), ',' ORDER BY id)) FROM policy_rule),"
          . ' b.revision, s.acceptable FROM bundle_state s JOIN bundle b ON b.id = s.served' );
}

# Runs a refusal and sees that nothing came of it.
sub refused {
    my ( $answer, $status, $name, %option ) = @_;
    my $before = delete $option{before};
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error( $answer->(), $status, $name, %option );
    is( state(), $before, '... and nothing changed: rules, revision, what may decide' );
    return;
}
sub refuse { my ( $answer, @rest ) = @_; return refused( $answer, @rest, before => state() ) }

# ---- create and read

my $text = rego( 'acme.first', 'allow if true' );
my $made = post( 'acme/first.rego', $text, version => '2026-01' );
admin_ok(
    $made, 201,
    {   path => 'acme/first.rego', kind => 'rego', content => $text, version => '2026-01', digest => sha256_hex($text),
        enabled   => sub { JSON::PP::is_bool( $_[0] ) && $_[0] },    id                 => qr/\A\d+\z/,
        createdAt => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, createdAtFormatted => qr/\A\d{4}-/ },
    'POST: 201 with PolicyRuleDto; enabled by default; the digest is the service\'s (specification 2.4)' );
is( $made->header('ETag'), '"' . sha256_hex($text) . '"',
    'POST: the ETag is the quoted hex SHA-256 of the content (decisions.md "ETag")' );
is( $made->header('X-Policy-Activation'), 'confirmed', 'POST: X-Policy-Activation: confirmed (policy.md 2.4)' );
like( $made->header('X-Policy-Revision'), qr/\A[0-9a-f]{32}\z/, 'POST: X-Policy-Revision names the revision' );
is( $stack->sql('SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served'),
    $made->header('X-Policy-Revision'), 'POST: which is the one that is served' );
is( $stack->sql("SELECT trigger_source || ' ' || triggered_by FROM bundle ORDER BY id DESC LIMIT 1"),
    'policy-rule SVC_ADMIN_API_KEY', 'POST: the history says policy-rule, and whose key' );
my $id = $made->member('id');
admin_ok( get($id), 200, $made->json, 'GET: the same rule' );
is( get($id)->header('ETag'), $made->header('ETag'), 'GET: with the same ETag' );
admin_error( get($_), 404, "GET: $_ is 404 with an empty body" )
  for 999999999, 0, 'abc', '1x', '-1', '%31x', '9223372036854775808', '99999999999999999999999';
is( $stack->admin( POST => $base, json => dto( 'acme/x.rego', $text ), key => undef )->status, 401,
    'without the key: 401 (specification 7.2)' );
is( $stack->admin( GET => "$base/$id", key => undef )->status, 401, '... for reading too' );

# ---- fields (specification 2.4)

my %good = ( path => 'acme/f.rego', kind => 'rego', content => $text, version => '1' );

sub wrong {
    my ( $change, $fields, $name ) = @_;
    my %body = ( %good, %$change );
    delete @body{ grep { ref $body{$_} eq 'CODE' } keys %body };
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    refuse(
        sub { $stack->admin( POST => $base, json => \%body ) }, 400, "POST: $name (specification 2.4)",
        fields => $fields );
    admin_error(
        $stack->admin( PUT => "$base/by-path", json => \%body ), 400, "PUT by-path: $name",
        fields => $fields );
    return;
}
my $absent = sub { };
wrong( { $_ => $absent }, [$_], "without $_" )          for qw(path kind content version);
wrong( { $_ => '' },      [$_], "with an empty $_" )    for qw(path kind content version);
wrong( { $_ => 5 },       [$_], "with a number as $_" ) for qw(path kind content version);
wrong(
    { path => $absent, kind => 'wasm', content => '', version => 7 }, [qw(content kind path version)],
    'every field at fault is named, not the first alone' );
wrong( { enabled => 'yes' },           ['enabled'], 'enabled that is no boolean' );
wrong( { enable  => JSON::PP::false }, ['enable'],  'a member that is not there' );
wrong( { kind    => 'cedar' },         ['kind'],    'a kind that differs from the suffix' );
wrong( { path    => 'acme/f.cedar' },  ['kind'],    '... the other way round' );
wrong( { path    => $_->[0] },         ['path'],    "a path $_->[1] (policy.md 2.3)" )
  for [ '/acme/f.rego', 'that is absolute' ], [ 'acme//f.rego', 'with an empty segment' ],
  [ 'acme/../svc/f.rego', 'with ..' ], [ './f.rego', 'with .' ], [ 'acme\\f.rego', 'with a backslash' ],
  [ "acme/\nf.rego",      'with a line break' ],              [ 'acme/data.json', 'the engine reads as data' ],
  [ 'acme/.manifest',     'the engine reads as a manifest' ], [ 'acme/f.txt',     'with another suffix' ],
  [ 'acme/.rego',         'without a name' ];
admin_error(
    $stack->admin( POST => $base, body => '{"path":', headers => [ 'Content-Type' => 'application/json' ] ),
    400, 'POST: no JSON is 400' );
is( $stack->admin( POST => $base, body => 'x', headers => [ 'Content-Type' => 'text/plain' ] )->status, 415,
    'POST: another content type is 415' );
admin_ok(
    by_path(
        'acme/readonly.rego', rego('acme.readonly'), id => 7, digest => 'x' x 64, createdAt => 'never',
        createdAtFormatted => 'never' ),
    201,
    { digest => sha256_hex( rego('acme.readonly') ), id => sub { $_[0] != 7 } },
    'what the service sets is ignored, so that a GET can be sent back' );

# ---- limits

my $longest = 'acme/' . 'p' x 502 . '.rego';
admin_ok(
    post( $longest, rego('acme.long') ), 201, { path => $longest },
    'limit: a path of 512 characters is stored, and active in the engine (specification 2.4)' );
wrong( { path => "acme/p$longest" =~ s{acme/pacme/}{acme/p}r }, ['path'], 'limit: one of 513' );
admin_ok(
    post( 'acme/version.rego', rego('acme.version'), version => 'v' x 64 ), 201, { version => 'v' x 64 },
    'limit: a version of 64 characters' );
wrong( { version => 'v' x 65 }, ['version'], 'limit: one of 65' );
my $comment = rego('acme.large') . '#' . 'x' x ( 512 * 1024 - length( rego('acme.large') ) - 1 );
admin_error(
    post( 'acme/digest.rego', rego('acme.digest'), digest => 'x' x 65 ), 400,
    'limit: a digest of 65 characters (specification 2.4)',              fields => ['digest'] );
admin_ok( post( 'acme/large.rego', $comment ), 201, { digest => sha256_hex($comment) }, 'limit: a content of 512 KiB' );
wrong( { content => "${comment}x" }, ['content'], 'limit: one octet more' );

# ---- the path and package of a rule (decisions.md "Namespace", "Readings: Admin API")

refuse( sub { post( $_->[0], rego('acme.p') ) }, 409, "a path $_->[1] is protected", error => 'protected' )
  for [ 'svc/mine.rego', 'below svc' ], [ 'svc.rego', 'svc' ], [ 'svc/decision/issue.rego', 'of a shipped rule' ];
refuse(
    sub { by_path( 'svc/decision/issue.rego', rego('acme.p') ) }, 409, 'PUT by-path: a shipped rule is protected',
    error => 'protected' );
for (
    [ 'svc',                'svc' ],
    [ 'svc.decision.issue', 'below svc' ],
    [ "#x\n\tsvc # y\n",    'svc between comments' ],
    [ 'svc["decision"]',    'below svc in brackets' ],
  )
{
    my ( $package, $name ) = @$_;
    refuse( sub { post( 'acme/p.rego', rego($package) ) }, 409, "a package $name is protected", error => 'protected' );
}
refuse(
    sub { post( 'acme/p.rego', "\x{feff}" . rego('svc.x') ) }, 409, '... behind a byte order mark too',
    error => 'protected' );
refuse(
    sub { post( 'acme/p.rego', "# package acme\npackage svc" ) }, 409,
    '... and behind a comment that reads like a package',         error => 'protected' );
refuse( sub { post( 'acme/p.rego', rego($_) ) }, 409, "the package $_ is the engine's", error => 'conflict' )
  for qw(system system.main system.authz);
refuse(
    sub { post( 'acme/p.rego', rego('svc.x'), enabled => JSON::PP::false ) }, 409,
    'a disabled rule is checked as well',                                     error => 'protected' );
refuse(
    sub { post( 'acme/p.rego', rego($_) ) }, 400, "the package " . s/[^ -~]/?/gr . " is not read, and refused",
    fields => ['content'] ) for 'a["\u0073vc"]', '_.svc', "svc\x{663}", 'a["b.c"]';
admin_ok( post( "acme/$_->[0].rego", rego( $_->[1] ) ), 201, undef, "package $_->[1] is taken" )
  for [ svcs => 'svcs.x' ], [ inner => 'acme.svc' ], [ systems => 'systems' ], [ bracket => 'acme["br-ack"]' ];
refuse(
    sub { post( 'acme/p.rego', rego('acme.first') . "\npackage svc" ) }, 422,
    'a second package is the engine\'s to refuse',                       error => 'bundle_not_activated' );

# ---- a data row in the way (policy.md 2.3)

$stack->admin( PUT => '/admin/api/policy-data/by-key?dataKey=taken.row', json => { payload => '{}' } );
refuse(
    sub { post( 'acme/p.rego', rego($_) ) }, 409, "a package $_ that collides with a data key is a conflict",
    error => 'conflict' ) for qw(taken.row taken.row.below);

# ---- what the engine refuses (specification 7.2; policy.md 2.4)

my $served = $stack->sql('SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served');
for (
    [ rego( 'acme.bad', 'allow if {' ),         qr/\Aacme\/bad\.rego:4: /, 'that does not parse' ],
    [ rego( 'acme.bad', 'allow if x' ),         qr/acme\/bad\.rego:3/,     'with an unsafe variable' ],
    [ rego( 'acme.bad', 'allow if nosuch(1)' ), qr/nosuch/,                'with an unknown function' ],
    [ 'allow := true', qr/package expected/, 'without a package' ],
  )
{
    my ( $content, $message, $name ) = @$_;
    my $answer;
    refuse(
        sub { $answer = post( 'acme/bad.rego', $content ) }, 422, "a rule $name is refused by the engine",
        error => 'bundle_not_activated' );
    my $body = $answer->json;
    my $good = join ' ', sort keys %$body;
    is( $good, 'activeRevision error error_description expectedRevision rolledBack', '... with the five members' );
    like( $body->{error_description}, $message, '... and its own words, with the place' );
    ok(      JSON::PP::is_bool( $body->{rolledBack} )
          && $body->{rolledBack}
          && $body->{activeRevision} eq $served
          && $body->{expectedRevision} =~ /\A[0-9a-f]{32}\z/
          && $body->{expectedRevision} ne $served,
        '... and rolledBack: true, the revision that is active and the one that was to be' ) or diag( $answer->text );
}
refuse(
    sub { by_path( 'acme/first.rego', rego( 'acme.first', 'allow if {' ) ) }, 422, 'PUT by-path: the same',
    error => 'bundle_not_activated' );
refuse(
    sub { put( $id, 'acme/first.rego', rego( 'acme.first', 'allow if {' ) ) }, 422, 'PUT: the same',
    error => 'bundle_not_activated' );
is( get($id)->member('content'), $text, '... the rule has its text' );
my $asleep = post( 'acme/asleep.rego', rego( 'acme.asleep', 'allow if {' ), enabled => JSON::PP::false );
admin_ok( $asleep, 201, { enabled => sub { !$_[0] } }, 'a disabled rule is stored unread by the engine' );
refuse(
    sub {
        put($asleep->member('id'), 'acme/asleep.rego', rego( 'acme.asleep', 'allow if {' ),
            enabled => JSON::PP::true );
    },
    422,
    '... which refuses it when it is enabled',
    error => 'bundle_not_activated' );

# ---- replace

my $second  = rego( 'acme.first', 'allow if false' );
my $changed = put( $id, 'acme/first.rego', $second, version => '3' );
admin_ok(
    $changed, 200,
    {   id                 => $id, content => $second, version => '3', digest => sha256_hex($second),
        createdAtFormatted => $made->member('createdAtFormatted') },
    'PUT: 200 with the rule as it is now' );
isnt(
    $changed->header('X-Policy-Revision'), $made->header('X-Policy-Revision'),
    'PUT: other rows are another revision' );
my $same = put( $id, 'acme/first.rego', $second, version => '3' );
is( $same->header('X-Policy-Revision'), $changed->header('X-Policy-Revision'),
    'PUT: the same rows are the same revision' );
is( put( $id, 'acme/first.rego', $text, version => '1' )->header('X-Policy-Revision') ne
      $changed->header('X-Policy-Revision'), 1, 'PUT: back to the first text' );
admin_ok(
    put( $asleep->member('id'), 'acme/asleep.rego', rego('acme.asleep') ), 200, { enabled => sub { !$_[0] } },
    'PUT: without enabled a disabled rule stays disabled' );
my $moved = put( $id, 'acme/moved.rego', $text );
admin_ok( $moved, 200, { id => $id, path => 'acme/moved.rego' }, 'PUT: another path moves the rule' );
refuse(
    sub { put( $id, 'acme/version.rego', $text ) }, 409, 'PUT: a path that another rule has is a conflict',
    error => 'conflict' );
refuse( sub { put( $id, 'svc/moved.rego', $text ) }, 409, 'PUT: a path below svc is protected', error => 'protected' );
refuse(
    sub { post( 'acme/moved.rego', $text ) },                              409,
    'POST: a path that is taken is a conflict (decisions.md "Conflicts")', error => 'conflict' );
refuse( sub { put( $_, 'acme/none.rego', $text ) }, 404, "PUT: the id $_ is 404" ) for 999999999, 'abc', 'by-paths';
my $shipped = $stack->sql("SELECT id FROM policy_rule WHERE path = 'svc/decision/issue.rego'");
$shipped = $stack->sql('SELECT min(id) FROM policy_rule WHERE shipped') if $shipped eq '';
refuse(
    sub { put( $shipped, 'acme/mine.rego', $text ) },            409,
    'PUT: a shipped rule is protected, also under another path', error => 'protected' );

# ---- upsert by path

my $upsert = by_path( 'acme/upsert.rego', rego('acme.upsert') );
admin_ok( $upsert, 201, { path => 'acme/upsert.rego', enabled => sub { $_[0] } }, 'PUT by-path: a new rule is 201' );
my $again = by_path( 'acme/upsert.rego', rego( 'acme.upsert', 'x := 1' ), version => '2' );
admin_ok(
    $again, 200, { id => $upsert->member('id'), version => '2' },
    'PUT by-path: one that is there is 200 with its id' );
by_path( 'acme/upsert.rego', rego( 'acme.upsert', 'x := 1' ), enabled => JSON::PP::false );
admin_ok(
    by_path( 'acme/upsert.rego', rego( 'acme.upsert', 'x := 2' ) ), 200, { enabled => sub { !$_[0] } },
    'PUT by-path: without enabled it stays as it was' );
admin_ok(
    by_path( 'acme/upsert.rego', rego( 'acme.upsert', 'x := 2' ), enabled => JSON::PP::true ), 200,
    { enabled => sub { $_[0] } }, 'PUT by-path: enabled is taken' );

# ---- If-Match (decisions.md "ETag")

my $other = '"' . '0' x 64 . '"';
my $etag  = get($id)->header('ETag');
my $match = sub {
    my ( $value, $method, $target, $json ) = @_;
    return sub {
        $stack->admin( $method => $target, ( $json ? ( json => $json ) : () ), headers => [ 'If-Match' => $value ] );
    }
};
refuse(
    $match->( $other, PUT => "$base/$id", dto( 'acme/moved.rego', $second ) ), 412,
    'If-Match: a difference is 412 for PUT' );
refuse( $match->( $other, PUT => "$base/by-path", dto( 'acme/moved.rego', $second ) ), 412, '... for PUT by-path' );
refuse( $match->( $other, DELETE => "$base/$id" ), 412, '... for DELETE' );
refuse(
    $match->( '*', PUT => "$base/by-path", dto( 'acme/none.rego', rego('acme.none') ) ), 412,
    'If-Match: * is 412 where there is no rule' );
refuse(
    $match->( 'W/' . $etag, PUT => "$base/$id", dto( 'acme/moved.rego', $second ) ), 412,
    'If-Match: a weak tag never matches (RFC 9110 13.1.1)' );
admin_ok(
    $match->( $etag, PUT => "$base/$id", dto( 'acme/moved.rego', $second ) )->(), 200, undef,
    'If-Match: the current ETag passes' );
refuse( $match->( $etag, PUT => "$base/$id", dto( 'acme/moved.rego', $text ) ), 412, 'If-Match: once' );
my @race = map {
    my $http = $stack->client;
    [   $http,
        $http->octets(
            PUT     => "$base/$id", json => dto( 'acme/moved.rego', rego( 'acme.first', "x := $_" ) ), close => 1,
            headers =>
              [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY}, 'If-Match' => get($id)->header('ETag') ] ) ]
} 1 .. 4;
my %status;
$status{ $_->status }++ for Authz::Client::together(@race);
is_deeply( \%status, { 200 => 1, 412 => 3 }, 'If-Match: of four writers with the same ETag one wins' );

# ---- list and filters (gateway-admin.md 3.6)

admin_ok( list(), 200, undef, 'GET: the list' );
my @all = map { $_->{path} } @{ list()->json };
is_deeply( \@all, [ sort @all ], 'list: by path' );
is( scalar @all, $stack->sql('SELECT count(*) FROM policy_rule'),      'list: all rules, shipped ones too' );
is( paths('path=acme/moved.rego'), 'acme/moved.rego',                  'list: path is the path' );
is( paths('path=acme/mo'),         '',                                 'list: ... not its beginning' );
is( paths('path=acme/s*'),         'acme/svcs.rego acme/systems.rego', 'list: path ending in * is what begins so' );
is( paths('path=acme%2F_*'),       '',                                 'list: no other character stands for others' );
is( paths('path=acme/%25'),        '',                                 'list: ... also %' );
is( paths('enabled=false'),        'acme/asleep.rego',                 'list: enabled=false' );
is( paths('path=acme/a*&enabled=true'),  '',                           'list: filters hold together' );
is( paths('kind=cedar'),                 '',                           'list: kind=cedar' );
is( scalar @{ list('kind=rego')->json }, scalar @all,                  'list: kind=rego' );
admin_error( list('kind=wasm'),            400, 'list: another kind is 400',      fields => ['kind'] );
admin_error( list('enabled=yes'),          400, 'list: enabled is true or false', fields => ['enabled'] );
admin_error( list('kind=wasm&enabled=1'),  400, 'list: both are named',           fields => [qw(enabled kind)] );
admin_error( list('kind=rego&kind=cedar'), 400, 'list: a parameter comes once' );
is( list('path=no/such.rego')->body, "[]\n", 'list: nothing is an empty array' );

# ---- Cedar (decisions.md "Cedar rules")

my $cedar = 'permit(principal, action, resource);';
my $off   = post( 'acme/a.cedar', $cedar, enabled => JSON::PP::false );
admin_ok(
    $off, 201, { kind => 'cedar', content => $cedar, enabled => sub { !$_[0] } },
    'a disabled Cedar rule is stored; t/http/policy/cedar_rules.t has the rest' );
is( paths('kind=cedar'), 'acme/a.cedar', '... and listed' );
admin_ok(
    post( 'acme/b.cedar', 'package svc', enabled => JSON::PP::false ), 201, undef,
    '... whatever its text: it is no Rego' );

# ---- delete

admin_ok( post( 'acme/lib.rego', rego( 'acme.lib', 'double(x) := x * 2' ) ), 201, undef, 'a rule that another uses' );
admin_ok(
    post( 'acme/user.rego', rego( 'acme.user', 'import data.acme.lib', 'y := lib.double(2)' ) ), 201, undef,
    '... and that one' );
my ($lib)  = map { $_->{id} } @{ list('path=acme/lib.rego')->json };
my ($user) = map { $_->{id} } @{ list('path=acme/user.rego')->json };
refuse(
    sub { $stack->admin( DELETE => "$base/$lib" ) },                      422,
    'DELETE: of a rule that another needs is 422 (gateway-admin.md 3.6)', error => 'bundle_not_activated' );
my $gone = $stack->admin( DELETE => "$base/$user" );
admin_ok( $gone, 204, undef, 'DELETE: 204' );
is( $gone->header('X-Policy-Activation'), 'confirmed', 'DELETE: confirmed' );
admin_ok( $stack->admin( DELETE => "$base/$lib" ), 204, undef, 'DELETE: now the other' );
admin_error( get($lib), 404, 'DELETE: and it is gone' );
refuse( sub { $stack->admin( DELETE => "$base/$_" ) }, 404, "DELETE: the id $_ is 404" )
  for $lib, 'abc', 'by-path', 'evaluate';
refuse(
    sub { $stack->admin( DELETE => "$base/$shipped" ) }, 409, 'DELETE: a shipped rule is protected',
    error => 'protected' );
is( $stack->admin( POST => "$base/$id", json => {} )->status, 405, 'POST on a rule is 405' );

# ---- a rule decides (policy.md 6.5 "Operator hooks")

my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
is( $stack->token(@crm)->status, 200, 'a token before the rule' );
my $deny = rego( 'custom.issue', 'deny contains "closed" if input.client.id == "crm"' );
my $rule = post( 'custom/issue.rego', $deny );
admin_ok( $rule, 201, undef, 'a rule that denies' );
is( $stack->token(@crm)->status, 400, '... denies at once' );
my $rid = $rule->member('id');
refuse(
    sub { put( $rid, 'custom/issue.rego', "$deny\nbroken {" ) }, 422, '... still after a broken change',
    error => 'bundle_not_activated' );
is( $stack->token(@crm)->status, 400, '... which changed no decision' );
put( $rid, 'custom/issue.rego', $deny, enabled => JSON::PP::false );
is( $stack->token(@crm)->status, 200, '... and not when it is disabled' );
put( $rid, 'custom/issue.rego', $deny, enabled => JSON::PP::true );
is( $stack->token(@crm)->status, 400, '... again when it is enabled' );
$stack->admin( DELETE => "$base/$rid" );
is( $stack->token(@crm)->status, 200, '... and never when it is deleted' );

# ---- the engine quotes the line that it refuses, and writes < as six octets

for my $case (
    [ 'is told', '} ' . '<' x ( 500 << 10 ), qr/\Aacme\/long\.rego:3: unexpected \} token\z/ ],
    [   'a long message is cut', 'x := ' . 'a' x ( 500 << 10 ) . '(1)',
        qr/\Aacme\/long\.rego:3: undefined function a+\z/ ] )
{
    my ( $what, $line, $message ) = @$case;
    my $answer;
    refuse(
        sub { $answer = by_path( 'acme/long.rego', rego( 'acme.long', $line ) ) }, 422, "a line of 500 KiB: $what",
        error => 'bundle_not_activated', members => { error_description => $message } );
    cmp_ok( length $answer->body, '<', 5000, '... in few octets' );
}

# ---- a list that is too long for an answer is an error that is said, not half an answer

# 128 rules with so many octets together, none longer than a rule may be.
my $fill = sub {
    $stack->sql(
        "INSERT INTO policy_rule (path, kind, content, digest, enabled) SELECT 'fill' || i || '.rego', 'rego', repeat('x', 1 + greatest(0, least(524287, $_[0] - (i - 1) * 524287))), 'none', false FROM generate_series(1, 128) AS i ON CONFLICT (path) DO UPDATE SET content = excluded.content"
    );
    return list();
};
my $room = ( 64 << 20 ) - length $fill->(0)->body =~ s/\n\z//r;
is( length( $fill->($room)->body ), ( 64 << 20 ) + 1, 'limit: a list of 64 MiB is answered, with its line feed' );
admin_error(
    $fill->( $room + 1 ), 500, 'limit: one octet more is 500', error => 'server_error',
    members => { error_description => 'The response is too large' } );
$stack->sql(q{DELETE FROM policy_rule WHERE path LIKE 'fill%'});

# ---- audit (decisions.md "Audited": admin writes)

is( $stack->sql(
        "SELECT string_agg(DISTINCT operation, ' ' ORDER BY operation) FROM audit_log WHERE endpoint LIKE '/admin/api/policy-rules%'"
    ),
    'createPolicyRule deletePolicyRule putPolicyRule putPolicyRuleByPath',
    'every write leaves an audit row; reads leave none' );

# ---- the engine is away (specification 7.2)

$stack->{opa}->stop;
my $quick =
  Authz::Stack->start( beside => $stack, not_ready => 1, settings => { SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 500 } );

# The web server may hold the engine's last request yet: a bundle that went there counts as fetched.
refuse(
    sub { $quick->admin( POST => $base, json => dto( 'acme/late.rego', rego('acme.late') ) ) }, 422,
    'engine away: 422, and all as before' );
refuse(
    sub { $quick->admin( POST => $base, json => dto( 'acme/late.rego', rego('acme.late') ) ) }, 422,
    '... 422 opa_unreachable', error => 'opa_unreachable' );
refuse( sub { $quick->admin( DELETE => "$base/$id" ) }, 422, '... for DELETE too', error => 'opa_unreachable' );
admin_ok(
    $quick->admin( POST => $base, json => dto( 'acme/late.rego', rego('acme.late'), enabled => JSON::PP::false ) ),
    201, undef, '... a disabled rule changes nothing that it would have to take' );

done_testing;

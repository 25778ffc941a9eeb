# POST /admin/api/policy-bundle/deploy: modes, counts, protected rules and rows, all or nothing, limits (specification 2.4 to
# 2.6, 7.2; decisions.md "Deploy modes" and "Readings: Admin API"; gateway-admin.md 3.6).
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack  = Authz::Stack->start;
my $json   = JSON::PP->new->canonical->utf8->allow_nonref;
my @member = qw(rulesUpserted rulesDeleted rulesProtected dataUpserted dataDeleted dataProtected);

sub post   { my (%option) = @_; return $stack->admin( POST => '/admin/api/policy-bundle/deploy', %option ) }
sub deploy { my (%body)   = @_; return post( json => \%body ) }
sub octets { my ($body)   = @_; return post( body => $body, headers => [ 'Content-Type' => 'application/json' ] ) }
sub rule { my ( $path, $content, @more ) = @_; return { path => $path, content => $content, @more } }
sub row { my ( $key, $payload ) = @_; return { dataKey => $key, payload => $payload } }

sub served {
    my (@header) = @_;
    return $stack->client->get(
        '/bundles/svc',
        headers => [ 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY}, @header ] );
}
sub etag { return served()->header('ETag') }

# All rows with their times, and what was ever published: what a refused or rehearsed deploy leaves as it was.
sub state_of {
    return $stack->sql(
        q{SELECT md5((SELECT string_agg(to_jsonb(r)::text, ',' ORDER BY id) FROM policy_rule r)
        || (SELECT string_agg(to_jsonb(d)::text, ',' ORDER BY id) FROM policy_data d) || (SELECT to_jsonb(s)::text FROM bundle_state s))
        || ' ' || (SELECT count(*) FROM bundle WHERE status IN ('published', 'confirmed'))} );
}
sub bundles { return $stack->sql('SELECT count(*) || $$ $$ || (SELECT last_value FROM bundle_id_seq) FROM bundle') }

# A deploy that succeeds: its mode, activation and counts (all six; those not named are 0).
sub deployed {
    my ( $name, $body, %want ) = @_;
    my $answer = ref $body eq 'HASH' ? deploy(%$body) : $body;
    my $mode   = ( ref $body eq 'HASH' ? $body->{mode} : undef ) // $want{mode} // 'merge';
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_ok(
        $answer, 200,
        {   mode     => $mode, activation => $want{activation} // ( $mode eq 'dry-run' ? 'dry-run' : 'confirmed' ),
            revision => qr/\A[0-9a-f]{32}\z/, previousEtag => qr/\A[0-9a-f]{64}\z/, newEtag => qr/\A[0-9a-f]{64}\z/,
            map { ( $_ => $want{$_} // 0 ) } @member },
        $name );
    return $answer;
}

# A refused one: nothing is changed.
sub refused {
    my ( $name, $body, $status, %option ) = @_;
    my $before = state_of();
    my $answer = ref $body eq 'HASH' ? deploy(%$body) : octets($body);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error( $answer, $status, $name, %option );
    is( state_of(), $before, '... and nothing is changed' );
    return $answer;
}

my $shipped_rules = $stack->sql('SELECT count(*) FROM policy_rule WHERE shipped');
my $shipped_rows  = $stack->sql('SELECT count(*) FROM policy_data WHERE shipped');
my @crm           = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'a', 'b' ] } );

# ---- merge: new, the same again, changed

my $block = "package custom.issue\n\nblock_scopes contains \"b\"\n";
my @rules = (
    rule( 'custom/issue.rego', $block ),
    rule( 'acme/limits.rego',  "package acme.rules\n\nmax := data.acme.limits.max\n" ),
    rule( 'acme/off.rego',     "package acme.off\n\nx := 1\n", enabled => false ),
);
my @data = (
    row( 'acme.limits' => { max => 5, text => "q\"\\\x{20ac}{}," } ), row( 'acme.flag' => true ),
    row( 'acme.none'   => undef ) );
my $before = etag();
my $made   = deployed(
    'merge: new rules and rows are counted as upserted; merge is the default mode',
    { rules => \@rules, data => \@data }, rulesUpserted => 3, dataUpserted => 3 );
is( '"' . $made->member('previousEtag') . '"', $before,
    'merge: previousEtag is the one served before, without its quotes' );
is( '"' . $made->member('newEtag') . '"', etag(),           'merge: newEtag is the one served now' );
is( $made->member('newEtag'), sha256_hex( served()->body ), 'merge: which is the SHA-256 of what is served' );
is( served( 'If-None-Match' => '"' . $made->member('newEtag') . '"' )->status, 304,
    'merge: and is known to GET /bundles/svc' );
isnt( $made->member('newEtag'), $made->member('previousEtag'), 'merge: other rows are another bundle' );
is( $made->header('X-Policy-Revision'),   $made->member('revision'), 'merge: X-Policy-Revision names the revision' );
is( $made->header('X-Policy-Activation'), 'confirmed',               'merge: X-Policy-Activation says confirmed' );
like(
    $made->body, qr/"rulesUpserted":3\b.*"rulesDeleted":0\b/s,
    'merge: counts are numbers (specification 2.6: int32)' );
is( $stack->sql(
        q{SELECT string_agg(concat_ws(' ', path, kind, version, enabled, shipped, digest = encode(sha256(content::bytea), 'hex')), ', ' ORDER BY path) FROM policy_rule WHERE NOT shipped}
    ),
    'acme/limits.rego rego 1 t f t, acme/off.rego rego 1 f f t, custom/issue.rego rego 1 t f t',
    'merge: rules are stored; enabled is true unless said otherwise' );
is( $stack->sql(q{SELECT payload FROM policy_data WHERE data_key = 'acme.limits'}), '{"max":5,"text":"q\"\\\\€{},"}',
    'merge: a payload is stored as it is' );
is( $stack->sql(
        q{SELECT string_agg(concat_ws(' ', data_key, payload, version, in_bundle), ', ' ORDER BY data_key) FROM policy_data WHERE data_key IN ('acme.flag', 'acme.none')}
    ),
    'acme.flag true 1 t, acme.none null 1 t',
    'merge: a payload is any JSON (specification 2.5)' );
is( $stack->sql(
        q{SELECT concat_ws(' ', trigger_source, etag, previous_etag, status) FROM bundle ORDER BY id DESC LIMIT 1}),
    join( ' ', 'deploy', $made->member('newEtag'), $made->member('previousEtag'), 'confirmed' ),
    'merge: the history says deploy, with the same etags' );
oauth_ok(
    $stack->token( @crm, scope => 'a' ), { scope => 'a' },
    'merge: after "confirmed" decisions are made by the new rules at once: a scope that is not blocked' );
oauth_ok( $stack->token( @crm, scope => 'a b' ), { scope => 'a' }, '... and one that is' );

my $times = $stack->sql(q{SELECT string_agg(updated_at::text, ',' ORDER BY path) FROM policy_rule});
my $again = deployed(
    'merge: the same once more counts the same', { mode => 'merge', rules => \@rules, data => \@data },
    rulesUpserted => 3, dataUpserted => 3 );
is( $again->member('newEtag'), $made->member('newEtag'), 'merge: the same rows are the same bundle, octet by octet' );
is( $again->member('previousEtag'), $made->member('newEtag'),  '... which was served already' );
is( $again->member('revision'),     $made->member('revision'), '... and the same revision' );
is( $stack->sql(q{SELECT string_agg(updated_at::text, ',' ORDER BY path) FROM policy_rule}), $times,
    '... and rows that do not differ are not touched' );

my $changed = deployed(
    'merge: changed ones are upserted, those not listed stay',
    {   rules => [ rule( 'custom/issue.rego', "package custom.issue\n" ) ],
        data  => [ row( 'acme.limits' => { max => 6 } ) ] },
    rulesUpserted => 1,
    dataUpserted  => 1 );
isnt( $changed->member('newEtag'), $made->member('newEtag'), 'merge: and are another bundle' );
is(     $stack->sql('SELECT count(*) FROM policy_rule WHERE NOT shipped') . ' '
      . $stack->sql(q{SELECT payload FROM policy_data WHERE data_key = 'acme.limits'}), '3 {"max":6}',
    'merge: as said' );
oauth_ok(
    $stack->token( @crm, scope => 'a b' ), { scope => same_words('a b') },
    'merge: the rule that blocked a scope does not any more' );
my $off = deployed(
    'merge: a rule is switched off',
    { rules => [ rule( 'acme/limits.rego', $rules[1]{content}, enabled => false ) ] }, rulesUpserted => 1 );
isnt( $off->member('newEtag'), $changed->member('newEtag'), '... which takes it out of the bundle' );
deployed( 'merge: nothing at all is a deploy too', {} );
is( '"' . deploy()->member('newEtag') . '"', etag(), '... of the bundle that is served' );

$stack->admin(
    PUT  => '/admin/api/policy-data/by-key?dataKey=acme.flag',
    json => { dataKey => 'acme.flag', payload => 'true', version => '7.1', inBundle => false } );
deployed( 'merge: a row that is there is upserted', { data => [ row( 'acme.flag' => false ) ] }, dataUpserted => 1 );
is( $stack->sql(q{SELECT concat_ws(' ', payload, version, in_bundle) FROM policy_data WHERE data_key = 'acme.flag'}),
    'false 7.1 f', '... and keeps its version and whether it is in the bundle' );

# ---- counts of what differs, message, ifRevision (members of ours, specification 2.6)

sub counts {
    my ($answer) = @_;
    return join ' ',
      map { $answer->member($_) // '?' } qw(rulesAdded rulesChanged rulesUnchanged dataAdded dataChanged dataUnchanged);
}
sub latest { return $stack->admin( GET => '/admin/api/bundle-audit/latest' )->json }
my $until = latest()->{id};
my %tally = (
    rules => [
        rule( 'custom/issue.rego', "package custom.issue\n" ),
        rule( 'acme/limits.rego',  "$rules[1]{content}# more\n", enabled => false ),
        rule( 'acme/off.rego',     $rules[2]{content} ),
        rule( 'acme/fresh.rego',   "package acme.new_rule\n" ) ],
    data => [ row( 'acme.limits' => { max => 6 } ), row( 'acme.none' => 1 ), row( 'acme.fresh' => 1 ) ] );
my $dry_run = deploy( %tally, mode => 'dry-run' );
is( counts($dry_run), '1 2 1 1 1 1',
    'counts: a dry run says what is new, what differs (a text, or enabled alone) and what does not' );
is( counts( deploy(%tally) ),                      '1 2 1 1 1 1', 'counts: so does the deploy' );
is( counts( deploy( %tally, mode => 'dry-run' ) ), '0 0 4 0 0 3', 'counts: after it nothing differs' );
is( counts( deploy( mode => 'dry-run', data => [ row( 'acme.limits' => { max => 6.5 } ) ] ) ), '0 0 0 0 1 0',
    'counts: the rows that a merge does not list are in no count' );
deploy( mode => 'merge', rules => [ rule( 'acme/off.rego', $rules[2]{content}, enabled => false ) ] );

my $edge  = 500;
my $euro  = "\x{20ac}" x 166 . 'xx';    # 500 octets of UTF-8
my $round = 0;
sub fresh { return ( data => [ row( 'acme.fresh' => ++$round + 1 ) ] ) }
for my $message ( 'why', 'x' x $edge, $euro ) {
    admin_ok( deploy( fresh(), message => $message ), 200, undef, 'message: ' . length($message) . ' characters' );
    is( latest()->{message}, $message, '... are shown by the bundle audit' );
}
admin_ok( deploy( fresh() ), 200, undef, 'message: none' );
ok( !exists latest()->{message}, '... is an entry without the member' );
refused( "message: $_->[1]", { fresh(), message => $_->[0] }, 400, fields => ['message'] )
  for [ 'x' x ( $edge + 1 ), '501 octets' ], [ "${euro}x", '501 octets in fewer characters' ], [ '', 'empty' ],
  [ "two\nlines", 'two lines' ], [ "\x{202e}reversed", 'a character that reorders text' ], [ ' ', 'blanks alone' ],
  [ 1, 'a number' ];
like(
    $stack->sql(
        q{SELECT request_summary FROM audit_log WHERE operation = 'deployPolicyBundle' AND request_summary::text LIKE '%why%'}
    ),
    qr/"message":\s*"why"/,
    'message: the audit row of the request has it too' );

my $active = latest()->{revision};
refused(
    "ifRevision: $_->[1]", { fresh(), ifRevision => $_->[0], mode => $_->[2] // 'merge' }, 412,
    error => 'precondition_failed' )
  for [ '0' x 32, 'another one is active' ], [ substr( $active, 0, 31 ), 'a part of the active one' ],
  [ uc $active, 'in other letters' ], [ 'x' x 64, '64 characters' ], [ '0' x 32, 'in a dry run too', 'dry-run' ],
  [ '0' x 32, 'with replace', 'replace' ];
refused( 'ifRevision: 65 characters', { fresh(), ifRevision => 'x' x 65 }, 400, fields => ['ifRevision'] );
refused(
    'ifRevision: judged before the rows are',
    { ifRevision => '0' x 32, data => [ row( 'svc.operator.controls.consent' => { mode => 'no such' } ) ] },
    412, error => 'precondition_failed' );
admin_ok( deploy( fresh(), ifRevision => $active ), 200, { activation => 'confirmed' }, 'ifRevision: the active one' );
refused( 'ifRevision: the one before', { fresh(), ifRevision => $active }, 412, error => 'precondition_failed' );
$stack->admin( POST => "/admin/api/bundle-audit/$until/rollback" );
deploy( rules => [ rule( 'acme/limits.rego', $rules[1]{content}, enabled => false ) ] );

# ---- shipped rules and rows

my ( $path, $text ) =
  ( 'svc/lib/url.rego', $stack->sql(q{SELECT content FROM policy_rule WHERE path = 'svc/lib/url.rego'}) );
$text .= "\n"
  if sha256_hex($text) ne $stack->sql("SELECT digest FROM policy_rule WHERE path = '$path'")
  ;    # psql takes the last one off
my $shipped = $stack->sql(
    'SELECT md5(string_agg(path || digest || enabled || shipped, $$,$$ ORDER BY path)) FROM policy_rule WHERE shipped');
deployed( 'shipped: a rule listed as it is counts as nothing', { rules => [ rule( $path, $text ) ] } );
deployed(
    'shipped: with another text it is protected, and the rest is deployed',
    { rules => [ rule( $path, "$text# more\n" ), $rules[0] ] }, rulesProtected => 1, rulesUpserted => 1 );
deployed(
    'shipped: switched off it is protected', { rules => [ rule( $path, $text, enabled => false ) ] },
    rulesProtected => 1 );
is( $stack->sql(
        'SELECT md5(string_agg(path || digest || enabled || shipped, $$,$$ ORDER BY path)) FROM policy_rule WHERE shipped'
    ),
    $shipped,
    'shipped: none of it changed one' );
my $control = 'svc.operator.controls.consent';
deployed(
    "shipped: a control's row is changed within its schema",
    { data => [ row( $control => { mode => 'always' } ) ] }, dataUpserted => 1 );
is( $stack->sql("SELECT payload || ' ' || shipped FROM policy_data WHERE data_key = '$control'"),
    '{"mode":"always"} true', '... and stays a shipped one' );

# A row that breaks its schema: 422 {dataKey, failures} (specification 7.2).
sub breaks {
    my ( $name, $body, $key, @paths ) = @_;
    my $before = state_of();
    my $answer = deploy(%$body);
    my $json   = $answer->json // {};
    my $have   = join ' ', map { $_->{path} } @{ ref $json->{failures} eq 'ARRAY' ? $json->{failures} : [] };
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok(      $answer->status == 422
          && join( ' ', sort keys %$json ) eq 'dataKey failures'
          && $json->{dataKey} eq $key
          && $have eq "@paths", $name )
      or diag( $answer->text );
    is( state_of(), $before, '... and nothing is changed' );
    return;
}
breaks(
    'schema: a row that breaks it is 422 with every failing path',
    {   rules => [ rule( 'acme/new.rego', "package acme.new\n" ) ],
        data  => [ row( 'acme.limits' => { max => 7 } ), row( $control => { mode => 'sometimes', more => 1 } ) ] },
    $control, '/mode',
    '/more' );
breaks( 'schema: in a rehearsal too', { mode => 'dry-run', data => [ row( $control => [] ) ] }, $control, '' );

# ---- dry-run

my %next = (
    rules => [ rule( 'acme/next.rego', "package acme.next\n\ny := 2\n" ), rule( $path, 'package svc' ) ],
    data  => [ row( 'acme.limits' => { max => 8 } ),                      row( 'acme.next_row' => [1] ) ] );
my ( $state, $bundles, $current ) = ( state_of(), bundles(), etag() );
my $dry = deployed(
    'dry-run: counts what a merge would do', { %next, mode => 'dry-run' }, rulesUpserted => 1,
    rulesProtected => 1, dataUpserted => 2 );
is( '"' . $dry->member('previousEtag') . '"', $current,  'dry-run: previousEtag is the one served' );
is( state_of(),                               $state,    'dry-run: no row is changed' );
is( bundles(),                                $bundles,  'dry-run: no bundle is made, not even a candidate' );
is( etag(),                                   $current,  'dry-run: what is served is the same' );
is( $dry->header('X-Policy-Activation'),      'dry-run', 'dry-run: X-Policy-Activation says so' );
my $real = deployed( 'merge: the same for real', \%next, rulesUpserted => 1, rulesProtected => 1, dataUpserted => 2 );
is( $real->member($_), $dry->member($_), "dry-run: foretold $_" ) for qw(revision previousEtag newEtag);

# ---- replace

my $new_rule = rule( 'acme/only.rego', "package acme.only\n\nz := 3\n" );
my $operator = sub {
    return $stack->sql(
        q{SELECT (SELECT string_agg(path, ' ' ORDER BY path) FROM policy_rule WHERE NOT shipped) || ' | ' || (SELECT string_agg(data_key, ' ' ORDER BY data_key) FROM policy_data WHERE NOT shipped)}
    );
};
is( $operator->(),
    'acme/limits.rego acme/next.rego acme/off.rego custom/issue.rego | acme.flag acme.limits acme.next_row acme.none',
    'replace: before' );
deployed(
    'replace: deletes what is not listed, also what is not in the bundle; shipped ones not listed are protected',
    {   mode => 'replace', rules => [ $new_rule, rule( 'custom/issue.rego', $block ) ],
        data => [ row( 'acme.limits' => { max => 9 } ) ] },
    rulesUpserted  => 2,
    rulesDeleted   => 3,
    rulesProtected => $shipped_rules,
    dataUpserted   => 1,
    dataDeleted    => 3,
    dataProtected  => $shipped_rows );
is( $operator->(), 'acme/only.rego custom/issue.rego | acme.limits', 'replace: after' );
deployed(
    'replace: a shipped rule listed as it is is not counted, one listed with another text once; a shipped row listed is upserted',
    {   mode => 'replace', rules => [ $new_rule, rule( $path, $text ), rule( 'svc/lib/ask.rego', 'package svc' ) ],
        data => [ row( $control => { mode => 'off' } ), row( 'acme.limits' => { max => 9 } ) ] },
    rulesUpserted  => 1,
    rulesDeleted   => 1,
    rulesProtected => $shipped_rules - 1,
    dataUpserted   => 2,
    dataProtected  => $shipped_rows - 1 );
my $dry_replace = deployed( 'dry-run: deletes nothing, as a merge', { mode => 'dry-run' } );
is( $dry_replace->member('newEtag'), $dry_replace->member('previousEtag'),
    '... and of nothing is the bundle that is served' );
deployed(
    'replace: with nothing listed the shipped ones are left', { mode => 'replace', rules => [], data => [] },
    rulesDeleted => 1, rulesProtected => $shipped_rules, dataDeleted => 1, dataProtected => $shipped_rows );
is( $stack->sql('SELECT count(*) FROM policy_rule') . ' ' . $stack->sql('SELECT count(*) FROM policy_data'),
    "$shipped_rules $shipped_rows", '... and nothing else' );
is( $stack->sql(
        'SELECT md5(string_agg(path || digest || enabled || shipped, $$,$$ ORDER BY path)) FROM policy_rule WHERE shipped'
    ),
    $shipped,
    '... as they were' );
oauth_ok( $stack->token( @crm, scope => 'a b' ), { scope => same_words('a b') }, '... and decide' );
deployed(
    'replace: again, and nothing is left to delete', { mode => 'replace' }, rulesProtected => $shipped_rules,
    dataProtected => $shipped_rows );

# ---- all or nothing: the engine refuses one of many (specification 7.2)

my $good = deployed(
    'engine: good rules and a row',
    {   rules => [ map { rule( "many/r$_.rego", "package many.r$_\n\nx := $_\n" ) } 1 .. 20 ],
        data  => [ row( 'acme.limits' => {} ) ] },
    rulesUpserted => 20,
    dataUpserted  => 1 );
$current = etag();
for my $bad (
    [ 'cannot be parsed',   "package many.r13\n\nx := 1\n\ny := := 2\n",  5 ],
    [ 'cannot be compiled', "package many.r13\n\nx if {\n\tnope(1)\n}\n", 4 ],
  )
{
    my ( $what, $content, $line ) = @$bad;
    my @many   = map { rule( "many/r$_.rego", $_ == 13 ? $content : "package many.r$_\n\nx := $_ + 1\n" ) } 1 .. 20;
    my $answer = refused(
        "engine: one rule of many that $what is 422 bundle_not_activated",
        { mode => 'replace', rules => \@many, data => [ row( 'acme.other' => 1 ) ] }, 422,
        error   => 'bundle_not_activated',
        members => {
            rolledBack        => true, activeRevision => $good->member('revision'),
            expectedRevision  => sub { $_[0] =~ /\A[0-9a-f]{32}\z/ && $_[0] ne $good->member('revision') },
            error_description => qr{\bmany/r13\.rego:$line\b} } );
    is( etag(), $current, '... and the bundle before is served' );
    oauth_ok( $stack->token( @crm, scope => 'a' ), { scope => 'a' }, '... and decides' );
}
deployed(
    'engine: the next good one is taken',
    { mode => 'replace', data => [ row( 'acme.limits' => { max => 1 } ) ] }, rulesDeleted => 20,
    rulesProtected => $shipped_rules, dataUpserted => 1, dataProtected => $shipped_rows );

# ---- what is not an operator's (decisions.md "Namespace", "Readings: Admin API")

my $fine = rule( 'acme/fine.rego', "package acme.fine\n" );
refused(
    "owner: $_->[0] is 409 protected, and names the entry", { rules => [ $fine, rule( @$_[ 1, 2 ] ) ] }, 409,
    error => 'protected', members => { error_description => qr/\Arules\[1\]/ } )
  for [ 'a path below svc that is not shipped', 'svc/mine.rego', "package mine\n" ],
  [ 'package svc',             'acme/a.rego', "package svc\n" ],
  [ 'a package below it',      'acme/a.rego', "package svc.decision.issue\n" ],
  [ 'one written as a member', 'acme/a.rego', qq{package svc["lib"]\n} ],
  [ 'one behind a comment',    'acme/a.rego', "# x\n package\n svc.x\n" ];
refused(
    "owner: $_ is 409 conflict", { rules => [ $fine, rule( 'acme/a.rego', "$_\n" ) ] }, 409, error => 'conflict',
    members => { error_description => qr/\Arules\[1\]/ } ) for 'package system', 'package system.main';
refused(
    "owner: the key $_->[0] is 409 $_->[1]",
    { rules => [$fine], data => [ row( 'acme.fine_row' => 1 ), row( $_->[0] => {} ) ] }, 409, error => $_->[1],
    members => { error_description => qr/\Adata\[1\]/ } )
  for [ 'system', 'conflict' ], [ 'system.main', 'conflict' ], [ 'svc', 'protected' ], [ 'svc.mine', 'protected' ],
  [ 'svc.operator.controls.mine', 'protected' ];
refused(
    'owner: in a rehearsal too', { mode => 'dry-run', data => [ row( 'svc.mine' => {} ) ] }, 409,
    error => 'protected' );
refused( "conflict: $_->[0] is 409 (policy.md 2.3)", $_->[1], 409, error => 'conflict' )
  for [ 'a key below another of the same deploy', { data => [ row( 'x.y' => {} ), row( 'x.y.z' => {} ) ] } ],
  [ 'a key above one that is there', { data => [ row( 'acme' => {} ) ] } ],
  [ 'a key and a package', { rules => [ rule( 'x.rego', "package x.y\n" ) ], data => [ row( 'x.y' => {} ) ] } ],
  [ 'one that is there and a package', { rules => [ rule( 'x.rego', "package acme.limits\n" ) ] } ];
deployed(
    'conflict: what is replaced does not count',
    { mode => 'replace', data => [ row( 'acme' => { limits => 1 } ) ] }, rulesProtected => $shipped_rules,
    dataUpserted => 1, dataDeleted => 1, dataProtected => $shipped_rows );

my $cedar = 'permit (principal, action, resource)';
refused(
    'Cedar: an enabled rule with an error is 422 (decisions.md "Cedar rules")',
    { rules => [ $fine, rule( 'acme/a.cedar', $cedar ) ] }, 422, error => 'bundle_not_activated',
    members => { error_description => qr/\Aacme\/a\.cedar:1:37: expected /, rolledBack => true } );
my $kept = etag();
deployed(
    'Cedar: one that is switched off is stored',
    { rules => [ rule( 'acme/a.cedar', $cedar, enabled => false ) ] }, rulesUpserted => 1 );
is( $stack->sql(q{SELECT kind FROM policy_rule WHERE path = 'acme/a.cedar'}) . ' ' . etag(), "cedar $kept",
    '... by its suffix, and is in no bundle' );

# ---- fieldErrors (specification 2.4 to 2.6, 7.2)

sub faulty {
    my ( $name, $body, @field ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return refused( "fields: $name", $body, 400, fields => \@field );
}
faulty( "the mode $_->[0] is refused", { mode => $_->[1], rules => [$fine] }, 'mode' )
  for [ 'of another name', 'overwrite' ], [ 'in capitals', 'Merge' ], [ '"", which is empty', '' ], [ '1', 1 ];
faulty( 'a member that is none is refused', { rules => [$fine], dryRun => true }, 'dryRun' );
faulty( 'lists must be lists',     { rules => $fine, data => 'x' }, 'rules', 'data' );
faulty( 'entries must be objects', { rules => [ $fine, 'x' ], data => [ [] ] }, 'rules[1]', 'data[0]' );
faulty(
    'path and content, dataKey and payload are required', { rules => [ $fine, {} ], data => [ {} ] },
    'rules[1].path', 'rules[1].content', 'data[0].dataKey', 'data[0].payload' );
faulty(
    'and not empty', { rules => [ rule( '', '' ) ], data => [ row( '' => 1 ) ] }, 'rules[0].path',
    'rules[0].content',                                                           'data[0].dataKey' );
faulty(
    'and texts', { rules => [ rule( [], 1 ) ], data => [ row( 5 + 0 => 1 ) ] }, 'rules[0].path',
    'rules[0].content',                                                         'data[0].dataKey' );
faulty(
    'enabled is true or false', { rules => [ rule( 'a.rego', "package a\n", enabled => 'false' ) ] },
    'rules[0].enabled' );
faulty(
    'members of entries that are none are refused',
    { rules => [ { %$fine, kind => 'rego' } ], data => [ { %{ row( 'a.b' => 1 ) }, inBundle => true } ] },
    'rules[0].kind', 'data[0].inBundle' );
faulty(
    "the path $_ is refused", { rules => [ $fine, $fine, rule( $_, "package a\n" ) ] }, 'rules[1].path',
    'rules[2].path' )
  for '/a.rego', '../a.rego', 'a/../b.rego', 'a//b.rego', './a.rego', 'a\\b.rego', "a\x01b.rego", 'a', 'a.json',
  'data.json', 'a/.manifest', '.rego', 'a/.cedar', 'a.rego/';
faulty( "the key $_ is refused", { data => [ row( $_ => 1 ) ] }, 'data[0].dataKey' )
  for 'a..b', '.a', 'a.', 'a b', 'a/b', "a\x{e4}";
faulty(
    'a path twice and a key twice are refused',
    {   rules => [ $fine, rule( 'acme/b.rego', "package b\n" ), $fine ],
        data  => [ row( 'a.b' => 1 ), row( 'a.b' => 1 ) ] },
    'rules[2].path',
    'data[1].dataKey' );
faulty(
    'a package that is not read is refused',
    { rules => [ $fine, rule( 'acme/b.rego', qq{package a["\\u0073"]\n} ) ] }, 'rules[1].content' );
my $faults =
  refused( 'fields: of many faults', { rules => [ map { rule( "$_.txt", "package a\n" ) } 1 .. 101 ] }, 400 );
is( scalar keys %{ $faults->member('fieldErrors') // {} }, 100, '... 100 are told' );
refused( 'fields: a body that is no object is 400', '[]', 400 );
is( octets('{"rules":[')->status, 400, 'fields: one that is no JSON is 400' );
is( post( body => '{}', headers => [ 'Content-Type' => 'text/plain' ] )->status, 415,
    'fields: another content type is 415' );
is( post( json => {}, key => 'wrong' )->status,                        401, 'fields: without the admin key 401' );
is( $stack->admin( GET => '/admin/api/policy-bundle/deploy' )->status, 405, 'fields: another method is 405' );

# ---- limits

my $end  = '.rego';
my $deep = substr( join( '/', ('segment-of-a-path') x 40 ), 0, 512 - length $end ) . $end;
is( length $deep, 512, 'limit: a path of 512 octets' );
deployed(
    '... is allowed (specification 2.4)',
    {   mode => 'replace', rules => [ rule( $deep, "package acme.deep\n\nfound := data.acme.x\n" ) ],
        data => [ row( 'acme.x' => 42 ) ] },
    rulesUpserted  => 1,
    rulesDeleted   => 1,
    rulesProtected => $shipped_rules,
    dataUpserted   => 1,
    dataDeleted    => 1,
    dataProtected  => $shipped_rows );
faulty( 'limit: of 513 it is refused', { rules => [ rule( "x$deep", "package a\n" ) ] }, 'rules[0].path' );
faulty(
    'limit: so is one of 513 octets in fewer characters',
    { rules => [ rule( "\x{e4}" x 254 . $end, "package a\n" ) ] }, 'rules[0].path' );

my $archive = Authz::Process::directory() . '/bundle.tar.gz';
Authz::Web::write_file( $archive, served()->body );

sub run {
    my (@command) = @_;
    my ( $status, $output ) = Authz::Process->run( name => 'run', command => \@command, env => { PATH => $ENV{PATH} } );
    return $status == 0 ? $output : "exit status $status: $output";
}
my $names  = run( 'tar', 'tzf', $archive );
my @wanted = ( '.manifest', 'data.json', $deep, split /\n/, $stack->sql('SELECT path FROM policy_rule WHERE shipped') );
is( join( "\n", sort split /\n/, $names ), join( "\n", sort @wanted ),
    'bundle: tar lists the rules that are enabled, the data and the manifest, also a path of 512 octets' );
my $inspect = eval { $json->decode( run( Authz::Path::opa(), 'inspect', '--format', 'json', $archive ) ) } // {};
is( $inspect->{manifest}{revision}, $stack->sql('SELECT revision FROM bundle JOIN bundle_state ON served = bundle.id'),
    'bundle: opa inspect reads it, and the revision' );
is_deeply( $inspect->{namespaces}{"data.acme.deep"}, [$deep], '... and the long path' )
  or diag( $json->encode($inspect) );
is( run( Authz::Path::opa(), 'eval', '--format', 'raw', '-b', $archive, 'data.acme.deep.found' ) =~ s/\s//gr, '42',
    'bundle: opa eval -b decides with it' );

# Rules that are switched off: none is compiled. JSON::PP would be slow with such bodies.
my %list = (
    rules => [ 5000, sub { return qq({"path":"l/$_[0].rego","content":"package l","enabled":false}) } ],
    data  => [ 5000, sub { return qq({"dataKey":"l.k$_[0]","payload":$_[0]}) } ],
);
for my $list ( sort keys %list ) {
    my ( $most, $entry ) = @{ $list{$list} };
    my $body = sub {
        return qq({"mode":"dry-run","$list":[) . join( ',', map { $entry->($_) } 1 .. $_[0] ) . ']}';
    };
    admin_ok(
        octets( $body->($most) ), 200, { "${list}Upserted" => $most },
        "limit: $most entries of $list are allowed" );
    refused( "limit: one more is refused", $body->( $most + 1 ), 400, fields => [$list] );
}

my $content = sub {
    return
        '{"rules":[{"path":"l.rego","enabled":false,"content":"package l\n'
      . '#' x ( $_[0] - length "package l\n" )
      . '"}],"mode":"dry-run"}';
};
admin_ok( octets( $content->( 512 << 10 ) ), 200, { rulesUpserted => 1 }, 'limit: a rule of 512 KiB is allowed' );
refused( 'limit: one octet more is refused', $content->( ( 512 << 10 ) + 1 ), 400, fields => ['rules[0].content'] );

my $payload =
  sub { return '{"mode":"dry-run","data":[{"dataKey":"l.k","payload":' . '[' x $_[0] . ']' x $_[0] . '}]}' };
admin_ok(
    octets( $payload->(32) ), 200, { dataUpserted => 1 },
    'limit: a payload nested 32 deep is allowed, as by PUT' );
is( octets( $payload->(33) )->status, 400, 'limit: one deeper is refused' );

my $large = sub {
    my ($size) = @_;
    my $head = '{"mode":"dry-run","data":[{"dataKey":"l.k","payload":"';
    return $head . 'x' x ( $size - 4 - length $head ) . '"}]}';
};
my $octets = 8 << 20;
admin_ok(
    octets( $large->($octets) ), 200, { dataUpserted => 1 },
    'limit: a body of 8 MiB is allowed, and reaches the service' );
is( octets( $large->( $octets + 1 ) )->status, 413, 'limit: one octet more is 413' );

# A bundle holds 64 MiB, its archive's own octets counted (fcgi/policy/save/bundle/archive.h): nothing is published, so the engine need not read it.
my $fill = sub {
    $stack->sql(
        "INSERT INTO policy_rule (path, kind, content, digest) SELECT 'fill/' || i || '.rego', 'rego', 'package fill.r' || i || E'\\n#' || repeat('x', $_[0]), 'none' FROM generate_series(1, 8) AS i"
    );
};
my $one_more = '{"mode":"dry-run","data":[{"dataKey":"l.k","payload":1}]}';
$fill->( ( 8 << 20 ) - ( 64 << 10 ) );
admin_ok( octets($one_more), 200, { dataUpserted => 1 }, 'limit: rules of nearly 64 MiB together are allowed' );
$stack->sql(q{DELETE FROM policy_rule WHERE path LIKE 'fill/%'});
$fill->( ( 8 << 20 ) - 64 );
is( octets($one_more)->status, 413, 'limit: a bundle that would be larger is 413, not an error of ours' );
$stack->sql(q{DELETE FROM policy_rule WHERE path LIKE 'fill/%'});

# ---- many at once

my %many = (
    rules => [
        map { rule( "many/r$_.rego", "package many.r$_\n\nallow if input.x == $_\n" . "# what it is about\n" x 20 ) }
          1 .. 1000 ],
    data => [ map { row( "rows.r$_" => { n => $_, list => [ ('a row of some length') x 10 ] } ) } 1 .. 1000 ],
);
my $proxied =
  Authz::Stack->start( beside => $stack, pg_proxy => 1, workers => 1, pooler => undef );    # which a deploy goes past
my @trip =
  grep {/deploy_/}
  $proxied->proxy->trips(
    sub { $proxied->admin( POST => '/admin/api/policy-bundle/deploy', json => { mode => 'dry-run', %many } ) } );
is( scalar @trip, 2, 'many: 1,000 rules and 1,000 rows are read in one trip and written in another' )
  or diag( join "\n", @trip );
deployed( 'many: and are active', \%many, rulesUpserted => 1000, dataUpserted => 1000 );
is(     $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path LIKE 'many/%'}) . ' '
      . $stack->sql(q{SELECT count(*) FROM policy_data WHERE data_key LIKE 'rows.%'}), '1000 1000', '... and stored' );
my @half = ( [ @{ $many{rules} }[ 0 .. 499 ] ], [ @{ $many{data} }[ 0 .. 499 ] ] );
deployed(
    'many: a replace by half of them', { mode => 'replace', rules => $half[0], data => $half[1] },
    rulesUpserted => 500, rulesDeleted  => 501, rulesProtected => $shipped_rules, dataUpserted => 500,
    dataDeleted   => 501, dataProtected => $shipped_rows );

# ---- a rollback is a replace that leaves alone what is not in a bundle (decisions.md "Deploy modes"; gateway-admin.md 3.6)

my $by_key = '/admin/api/policy-data/by-key?dataKey=';
my $put    = sub {
    my ( $key, $in ) = @_;
    return $stack->admin( PUT => "$by_key$key", json => { dataKey => $key, payload => '1', inBundle => $in } );
};
$stack->sql(
    q{INSERT INTO policy_rule (path, kind, content, digest, shipped) VALUES ('svc/old.rego', 'rego', 'package svc.old', encode(sha256('package svc.old'), 'hex'), true)}
);
my @old = (
    rules => [ rule( 'acme/a.rego', "package acme.rule_a\n" ), rule( 'acme/b.rego', "package acme.rule_b\n" ) ],
    data  => [ row( 'acme.a' => 1 ),                           row( 'acme.b' => 2 ) ] );
deployed(
    'rollback: what is gone back to', { mode => 'replace', @old }, rulesUpserted => 2, rulesDeleted => 500,
    rulesProtected => $shipped_rules + 1, dataUpserted => 2, dataDeleted => 500, dataProtected => $shipped_rows );
my $then = $stack->sql('SELECT served FROM bundle_state');
$stack->sql(q{DELETE FROM policy_rule WHERE path = 'svc/old.rego'});
deployed(
    'rollback: what is changed meanwhile',
    {   rules => [
            rule( 'acme/a.rego',   "package acme.rule_a\n", enabled => false ),
            rule( 'acme/b.rego',   "package acme.other\n" ), rule( 'acme/later.rego', "package acme.later_rule\n" ),
            rule( 'acme/off.rego', "package acme.off\n", enabled => false ) ],
        data => [ row( 'acme.later' => 1 ), row( 'acme.b' => 3 ) ] },
    rulesUpserted => 4,
    dataUpserted  => 2 );
$put->( 'acme.a',   false );
$put->( 'acme.out', false );
my $rollback = sub { return $stack->admin( POST => "/admin/api/bundle-audit/$_[0]/rollback" ) };
deployed(
    'rollback: rules and rows of that bundle are upserted, those that came later deleted; one of ours that is shipped no more is left out',
    $rollback->($then),
    mode => 'replace', rulesUpserted => 2, rulesDeleted => 1, rulesProtected => 1, dataUpserted => 1 + $shipped_rows,
    dataDeleted => 1 );
is( $stack->sql(q{SELECT string_agg(path || ' ' || enabled, ', ' ORDER BY path) FROM policy_rule WHERE NOT shipped}),
    'acme/a.rego true, acme/b.rego true, acme/off.rego false', 'rollback: a rule that is switched off stays' );
is( $stack->sql(
        q{SELECT string_agg(concat_ws(' ', data_key, payload, in_bundle), ', ' ORDER BY data_key) FROM policy_data WHERE NOT shipped}
    ),
    'acme.a 1 t, acme.b 2 t, acme.out 1 f',
    'rollback: so does a row that is not in the bundle; one that was is in it again' );
my ( $back, $back_etag ) = ( $stack->sql('SELECT served FROM bundle_state'), etag() );
deployed(
    'rollback: something else', { rules => [ rule( 'acme/a.rego', "package acme.changed\n" ) ] },
    rulesUpserted => 1 );
my $there = deployed(
    'rollback: and back', $rollback->($back), mode => 'replace', rulesUpserted => 2,
    dataUpserted => 1 + $shipped_rows );
is( '"' . $there->member('newEtag') . '"', $back_etag, 'rollback: the same rows are the same bundle' );

# ---- not waited for; the audit row

my $loose = Authz::Stack->start( beside => $stack, settings => { SVC_BUNDLE_CONFIRM_ACTIVATION => 'false' } );
my $fast  = deployed(
    'SVC_BUNDLE_CONFIRM_ACTIVATION=false: activation is unconfirmed',
    $loose->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'replace', rules => [ rule( 'custom/issue.rego', $block ) ] } ),
    mode           => 'replace',
    activation     => 'unconfirmed',
    rulesUpserted  => 1,
    rulesDeleted   => 3,
    rulesProtected => $shipped_rules,
    dataDeleted    => 3,
    dataProtected  => $shipped_rows );
is( '"' . $fast->member('newEtag') . '"', etag(), '... and it is served' );
is( $stack->sql(
        q{SELECT concat_ws(' ', method, outcome, http_status, endpoint) FROM audit_log WHERE operation = 'deployPolicyBundle' ORDER BY id DESC LIMIT 1}
    ),
    'POST allowed 200 /admin/api/policy-bundle/deploy',
    'audit: a deploy leaves a row' );

done_testing;

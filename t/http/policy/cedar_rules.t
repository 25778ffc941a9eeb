# Rules in Cedar: saved, refused with line and column, published, switched off, rolled back, compared and tried like any other
# rule (decisions.md "Cedar rules"; specification 2.4, 2.6, 7.2).
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Policy ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $seen  = Authz::Policy->new($stack);
my $base  = '/admin/api/policy-rules';

sub dto {
    my ( $path, $text, @more ) = @_;
    return { path => $path, kind => 'cedar', content => $text, version => '1', @more };
}
sub post    { return $stack->admin( POST => $base,           json => dto(@_) ) }
sub by_path { return $stack->admin( PUT  => "$base/by-path", json => dto(@_) ) }
sub get     { return $stack->admin( GET  => "$base/$_[0]" ) }
sub deploy  { my (%body) = @_; return $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => \%body ) }
sub rule    { my ( $path, $text, @more ) = @_; return { path => $path, content => $text, @more } }
sub digits  { return substr sha256_hex( $_[0] ), 0, 16 }
sub bundle  { return Authz::Policy::unpack_bundle( $seen->fetch->body ) }
sub served  { return $stack->sql('SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served') }
sub history { return @{ $stack->admin( GET => '/admin/api/bundle-audit?size=200' )->json } }

# All that a save could have changed.
sub state {
    return $stack->sql(
        q{SELECT (SELECT md5(string_agg(to_jsonb(r)::text, ',' ORDER BY id)) FROM policy_rule r), s.served, s.acceptable FROM bundle_state s}
    );
}

sub refused {
    my ( $name, $ask, $status, %option ) = @_;
    my $before = state();
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $description = delete $option{says};
    $option{members} = { error_description => $description } if defined $description;
    admin_error( $ask->(), $status, $name, %option );
    is( state(), $before, '... and nothing changed' );
    return;
}

# ---- a rule that is saved

my $path = 'acme/doors.cedar';
my $text = <<'CEDAR';
// Who may open what.
@id("staff")
permit (principal in Group::"staff", action == Action::"open", resource is Door);

@id("curfew")
forbid (principal, action, resource)
when { context.hour >= 22 };

permit (principal == User::"root", action, resource);
CEDAR
my $file   = 'cedar/' . digits($path) . '.rego';
my $before = served();
my $made   = post( $path, $text );
admin_ok(
    $made, 201,
    { path => $path, kind => 'cedar', content => $text, digest => sha256_hex($text), enabled => sub { $_[0] } },
    'POST: a Cedar rule is a rule; the row holds the source' );
is( $made->header('X-Policy-Activation'), 'confirmed', '... and it is active' );
isnt( served(), $before, '... in a new revision' );
my $bundle = bundle();
my $module = $bundle->{rules}{$file} // '';
ok( !exists $bundle->{rules}{$path}, 'bundle: the source is not in it' );
like(
    $module, qr/^package svc\.cedar\.policies\.r\Q@{[digits($path)]}\E$/m,
    'bundle: the module is cedar/DIGITS.rego, in a package of 16 hex digits of the SHA-256 of the path' );
like( $module, qr/^path := "acme\/doors\.cedar"$/m, 'bundle: its rule `path` is the path of the rule' );
is_deeply( [ $module =~ /^# line (\d+)$/mg ], [ 2, 5, 9 ], 'bundle: the line of each policy stands in a comment' );
my $active = $seen->engine( '/v1/data/svc/cedar/policies/r' . digits($path) );
is_deeply(
    [ sort grep {/\A[a-z]+\z/} keys %$active ],
    [qw(errors forbidding forbids path permits result)],
    'engine: permits, forbids, errors, forbidding, result and path' );

# ---- compiled

my $id = $made->member('id');
admin_ok( get($id), 200, { compiled => $module, content => $text }, 'GET: compiled is the module in the bundle' );
my ($listed) = @{ $stack->admin( GET => "$base?kind=cedar" )->json };
members_are( $listed, { path => $path, compiled => undef }, 'list: without compiled' );
my ($shipped) = @{ $stack->admin( GET => "$base?path=svc/cedar/rt.rego" )->json };
admin_ok( get( $shipped->{id} ), 200, { compiled => undef, kind => 'rego' }, 'GET: a Rego rule has none' );
my $revision = served();
admin_ok(
    $stack->admin( PUT => "$base/$id", json => { %{ get($id)->json }, compiled => 'package svc.evil' } ), 200,
    { compiled => $module }, 'PUT: what a client sends as compiled is ignored, so that a GET can be sent back' );
is( served(), $revision, '... and the same text is the same revision: generation is deterministic' );

# ---- refused with line and column

my $deep = sub { "permit (principal, action, resource) when { " . '(' x $_[0] . 'true' . ')' x $_[0] . ' };' };
my @bad  = (
    [   "permit (principal, action, resource)\nwhen { 1 = 1 };\n", '2:10: Cedar has no assignment; compare by `==`', '='
    ],
    [ "permit (principal, action);\n", '1:26: expected `==`, `in` or `,`, found `)`', 'a scope without resource' ],
    [ "permit (principal, action, resource)\n\n\nwhen { true }", qr/4:14: expected .*`;`, found the end/, 'no end' ],
    [ "permit (principal == ?principal, action, resource);",     qr/1:22: templates are not supported/, 'a template' ],
    [   "package custom.x\n\ndeny := true\n", qr/1:1: expected `permit`, `forbid` or an annotation, found `package`/,
        'Rego' ],
    [   qq{\@id("a") permit (principal, action, resource);\n\@id("a") forbid (principal, action, resource);\n},
        qr/2:1: another policy has the same id/, 'an id twice' ],
    [   "permit (principal, action, resource)\nwhen { {__entity: 1} == context };\n",
        qr/2:\d+: a record with the member `__entity` cannot be compiled to Rego/, 'what cannot be compiled exactly' ],
    [ $deep->(201),                                               qr/1:\d+: .*200/, 'brackets nested 201 deep' ],
    [ "permit (principal, action, resource) when { \x{201e}x };", qr/1:45: /,       'a character beyond ASCII' ],
);
for my $case (@bad) {
    my ( $source, $why, $name ) = @$case;
    my $says = ref $why ? qr/\Aacme\/bad\.cedar:$why/ : "acme/bad.cedar:$why";
    refused(
        "POST: $name", sub { post( 'acme/bad.cedar', $source ) }, 422,
        error => 'bundle_not_activated',
        says  => $says );
}
my $answer = by_path( $path, "permit;\n" );
members_are(
    $answer->json,
    {   error            => 'bundle_not_activated', error_description => "$path:1:7: expected `(`, found `;`",
        expectedRevision => '', activeRevision => served(), rolledBack => sub { $_[0] } },
    'PUT by-path: the members of any refused save (specification 7.2)' );
is( $stack->sql("SELECT content FROM policy_rule WHERE path = '$path'"), $text, '... the old text stays' );
refused( 'content with a NUL is 400', sub { post( 'acme/bad.cedar', "permit\0" ) }, 400 );
refused(
    'content that is not UTF-8 is 400',
    sub {
        $stack->admin(
            POST    => $base,
            body    => qq({"path":"acme/bad.cedar","kind":"cedar","version":"1","content":"\xff"}),
            headers => [ 'Content-Type' => 'application/json' ] );
    },
    400 );
admin_ok( by_path( 'acme/deep.cedar', $deep->(199) ), 201, undef, 'limit: brackets nested 199 deep in the braces' );
my $pad = 'permit (principal, action, resource);//';
admin_ok( by_path( 'acme/large.cedar', $pad . 'x' x ( 524288 - length $pad ) ), 201, undef, 'limit: 512 KiB' );
refused(
    'limit: one octet more',
    sub { by_path( 'acme/large.cedar', $pad . 'x' x ( 524289 - length $pad ) ) },
    400, fields => ['content'] );

# ---- names

refused(
    "a Rego rule cannot declare the package $_->[0]",
    sub { $stack->admin( POST => $base, json => { %{ dto( 'acme/x.rego', $_->[1] ) }, kind => 'rego' } ) },
    409, error => 'protected' )
  for [ 'of a Cedar rule', 'package svc.cedar.policies.r' . digits($path) . "\n\nforbids := set()\n" ],
  [ 'svc.cedar', "package svc.cedar\n" ], [ 'svc.cedar in brackets', qq{package svc["cedar"].policies.mine\n} ];
refused(
    'a Cedar rule cannot have a path below svc', sub { post( 'svc/mine.cedar', $text ) }, 409,
    error => 'protected' );
refused(
    'a Rego rule cannot have the file of a compiled rule as its path',
    sub { $stack->admin( POST => $base, json => { %{ dto( $file, "package acme.same\n" ) }, kind => 'rego' } ) },
    409, error => 'conflict', says => "The compiled file $file overlaps the path $file" );
refused(
    '... nor one below it',
    sub {
        $stack->admin( POST => $base, json => { %{ dto( "$file/x.rego", "package acme.same\n" ) }, kind => 'rego' } );
    },
    409,
    error => 'conflict' );

# ---- disabled rules

my $draft = by_path( 'acme/draft.cedar', 'permit (', enabled => false );
admin_ok(
    $draft, 201, { enabled => sub { !$_[0] }, compiled => undef },
    'a disabled rule may be a draft with an error' );
refused(
    '... which cannot be enabled', sub { by_path( 'acme/draft.cedar', 'permit (', enabled => true ) }, 422,
    error => 'bundle_not_activated',
    says  => 'acme/draft.cedar:1:9: expected `principal`, found the end of the file' );
$revision = served();
my $off = by_path( $path, $text, enabled => false );
admin_ok( $off, 200, { compiled => $module }, 'switched off: it still shows what it would be' );
ok( !exists bundle()->{rules}{$file}, '... and is not in the bundle' );
is( $seen->engine( '/v1/data/svc/cedar/policies/r' . digits($path) ), undef, '... nor in the engine' );
admin_ok( by_path( $path, $text, enabled => true ), 200, undef, 'switched on again' );
is( served(), $revision, '... it is the bundle of before' );

# ---- what is shown of it

sub steps {
    my ($count) = @_;
    my $condition = join ' || ', ('context has a.a.a.a.a.a') x $count;
    return by_path( 'acme/steps.cedar', "permit (principal, action, resource) when { $condition };", enabled => false );
}
admin_ok(
    steps(800), 201, { compiled => sub { length $_[0] > 300 << 10 } },
    'a compiled text of some hundred KiB is shown' );
admin_ok(
    steps(18_000), 200, { compiled => undef, content => qr/\Apermit/ },
    '... and a draft of more operands than a file may have has none' );

# ---- an error of the engine

my $runtime = $stack->sql(q{SELECT content FROM policy_rule WHERE path = 'svc/cedar/rt.rego'});
$stack->sql(
    q{UPDATE policy_rule SET content = replace(content, 'like(x, pattern)', 'unlike(x, pattern)') WHERE path = 'svc/cedar/rt.rego'}
);
refused(
    'engine: an error in a compiled rule is one of the rule, at the line of its policy',
    sub {
        post(
            'acme/like.cedar',
            $text . qq{\npermit (principal, action, resource)\nwhen {\n  context.name like "a*"\n};\n} );
    },
    422,
    error => 'bundle_not_activated',
    says  => qr/\Aacme\/like\.cedar:11: .*undefined function/ );
$stack->sql(
    q{UPDATE policy_rule SET content = replace(content, 'unlike(x, pattern)', 'like(x, pattern)') WHERE path = 'svc/cedar/rt.rego'}
);

# ---- deploy

my $fine = rule( 'acme/fine.rego', "package acme.fine\n\nx := 1\n" );
my @two  = ( rule( 'acme/b.cedar', "permit (principal, action, resource);\n" ), $fine );
my @same = ( state(), served() );
admin_ok(
    deploy( mode => 'dry-run', rules => \@two ), 200, { activation => 'dry-run', rulesAdded => 2 },
    'deploy: a dry run compiles' );
is_deeply( [ state(), served() ], \@same, '... and writes nothing' );
refused(
    "deploy: one bad Cedar rule, mode $_: all is as before",
    sub { deploy( mode => $_, rules => [ @two, rule( 'acme/c.cedar', "permit (principal, action, resource)\n" ) ] ) },
    422, error => 'bundle_not_activated',
    says => 'acme/c.cedar:2:1: expected `when`, `unless` or `;`, found the end of the file'
) for qw(merge replace dry-run);
admin_ok(
    deploy( rules => [ @two, rule( 'acme/off.cedar', 'permit', enabled => false ) ] ), 200,
    { rulesAdded => 3, activation => 'confirmed' }, 'deploy: merge, with a draft that is off' );
is( $stack->sql(q{SELECT kind FROM policy_rule WHERE path = 'acme/b.cedar'}), 'cedar',
    '... the kind is that of the suffix' );
admin_ok( deploy( rules => \@two ), 200, { rulesUnchanged => 2 }, 'deploy: the same again changes nothing' );

# ---- history, differences, rollback

my ($first) = history();
ok( ( grep { $_ eq $path } @{ $first->{rulePaths} } ), 'history: names the rule, not its module' );
my $later = $text =~ s/22/23/r;
admin_ok( by_path( $path, $later ), 200, undef, 'another hour' );
my ($second) = history();
my $diff = $stack->admin( GET => "/admin/api/bundle-audit/diff?from=$first->{id}&to=$second->{id}" );
is_deeply(
    $diff->json->{rules},
    {   added   => [],
        removed => [],
        changed => [
            {   path => $path,
                diff =>
                  "--- a/$path\n+++ b/$path\n\@\@ -4,6 +4,6 \@\@\n \n \@id(\"curfew\")\n forbid (principal, action, resource)\n-when { context.hour >= 22 };\n+when { context.hour >= 23 };\n \n permit (principal == User::\"root\", action, resource);\n"
            } ] },
    'diff: of the source' );
my $commented = "$later// No rule.\n";
admin_ok( by_path( $path, $commented ), 200, undef, 'a comment alone' );
my ($third) = history();
isnt( $third->{id}, $second->{id}, '... is a bundle of its own in the history' );
my ($content) = grep { $_->{path} eq $path }
  @{ $stack->admin( GET => "/admin/api/bundle-audit/$third->{id}/content" )->json->{rules} };
is( $content->{content}, $commented, 'content: the source' );
admin_ok(
    $stack->admin( POST => "/admin/api/bundle-audit/$first->{id}/rollback" ), 200,
    { revision => $first->{revision}, newEtag => $first->{etag}, activation => 'confirmed' },
    'rollback: the same revision and the same octets' );
admin_ok( get($id), 200, { content => $text, compiled => $module }, '... and the source of then' );
is( $seen->engine('/v1/data/system/bundles/svc/manifest/revision'), $first->{revision}, '... is active' );

# ---- try

sub evaluate { my (%body) = @_; return $stack->admin( POST => "$base/evaluate", json => \%body ) }

sub request {
    my ( $user, $hour, @more ) = @_;
    return {
        principal => { type => 'User',   id => $user },
        action    => { type => 'Action', id => 'open' },
        resource  => 'Door::"7"',
        context   => { defined $hour ? ( hour => $hour ) : () },
        entities  => [
            {   uid     => { type => 'User', id => 'alice' }, attrs => {},
                parents => [ { type => 'Group', id => 'doctors' } ] },
            {   uid     => { type => 'Group', id => 'doctors' }, attrs => {},
                parents => [ { type => 'Group', id => 'staff' } ] } ],
        @more };
}

sub tried {
    my ( $name, $input, %want ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $tried = evaluate( path => $path, input => $input );
    admin_ok( $tried, 200, { revision => served(), undefined => undef }, "try: $name" );
    is_deeply( $tried->member('result'), { permits => [], forbids => [], errors => [], %want }, '... these policies' );
    return;
}
tried( 'a permit is satisfied, by an ancestor', request( 'alice', 9 ), permits => ['staff'] );
tried( 'none is',                        request( 'mallory', 9 ) );
tried( 'a forbid is satisfied too',      request( 'alice',   22 ), permits => ['staff'], forbids => ['curfew'] );
tried( 'one without @id has its number', request( 'root',    9 ),  permits => ['policy2'] );
tried( 'one that errors is listed',      request('alice'), permits => ['staff'], errors => ['curfew'] );
tried(
    'the input of a decision',
    {   cedar => {
            principal => { __entity => { type => 'User',   id => 'root' } },
            action    => { __entity => { type => 'Action', id => 'open' } },
            resource  => { __entity => { type => 'Door',   id => '7' } },
            context   => { hour     => 23 }, entities => {} } },
    permits => ['policy2'],
    forbids => ['curfew'] );
my %plain = %{ request( 'root', 9 ) };
delete @plain{qw(entities context)};
tried( 'context and entities may be absent', \%plain, permits => ['policy2'], errors => ['curfew'] );
admin_ok(
    evaluate( path => 'acme/draft.cedar', input => request( 'alice', 9 ) ), 200, { undefined => sub { $_[0] } },
    'try: a rule that is not in the bundle is undefined' );
admin_ok(
    evaluate( path => $path, input => request( 'alice', 9 ), explain => 'full' ), 200,
    { explanation => sub { ref $_[0] eq 'ARRAY' && @{ $_[0] } > 0 } },            'try: with a trace' );

for my $case (
    [ 'no principal', sub { delete $_[0]{principal} }, qr/an entity is an object with the strings `type` and `id`/ ],
    [ 'a member of another name',    sub { $_[0]{entites} = [] },               qr/it has a member `entites`/ ],
    [ 'a context that is no object', sub { $_[0]{context} = [1] },              qr/`context` is an object/ ],
    [ 'a number with a fraction',    sub { $_[0]{context}{x} = 0.5 },           qr/a number is a Long/ ],
    [ 'null',                        sub { $_[0]{context}{x} = undef },         qr/Cedar has no null/ ],
    [ 'an entity twice', sub { push @{ $_[0]{entities} }, $_[0]{entities}[0] }, qr/an entity is there twice/ ],
    [ 'entities that are no list', sub { $_[0]{entities} = {} },                qr/entities are a list/ ],
    [ 'a U+0000 in a name',        sub { $_[0]{resource} = 'Door::"\\0"' },     qr/is no request of Cedar/ ] )
{
    my ( $name, $change, $why ) = @$case;
    my $input = request( 'alice', 9 );
    $change->($input);
    my $refusal = evaluate( path => $path, input => $input );
    admin_error( $refusal, 400, "try: $name is 400", fields => ['input'] );
    like( $refusal->json->{fieldErrors}{input} // '', $why, '... and says why' );
}
admin_error( evaluate( path => $_, input => {} ), 400, "try: the path $_ is 400", fields => ['path'] )
  for '../x.cedar', 'acme/fine.rego', '/acme/doors.cedar', 'acme/doors.cedar?x', '.cedar';
$stack->http->post( '/register', json => { redirect_uris => ['https://app.example/cb'] } );
my $row = $stack->sql(q{SELECT id FROM audit_log WHERE endpoint = '/register' AND policy_input IS NOT NULL});
admin_error(
    evaluate( path => $path, auditId => $row + 0 ), 422,
    'try: a stored input without the member cedar, as of a registration, is 422',
    members => { error_description => 'The stored policy input has no member cedar, which Cedar rules read' } );

# ---- a long rule has several packages

my $long = join '', map {"\@id(\"p$_\") permit (principal == User::\"u$_\", action, resource);\n"} 1 .. 120;
admin_ok(
    by_path(
        'acme/long.cedar', "$long\@id(\"no\") forbid (principal, action, resource) when { context.hour == $_ };\n" ),
    $_ == 1 ? 201 : 200,
    { compiled => qr/^package svc\.cedar\.parts\.r\w+\.p3$/m },
    'a rule of 121 policies' ) for 1, 2;
is_deeply(
    [ sort grep {m{\Acedar/\Q@{[digits('acme/long.cedar')]}\E}} keys %{ bundle()->{rules} } ],
    [ map {"cedar/@{[digits('acme/long.cedar')]}$_.rego"} '-1', '-2', '-3', '' ],
    '... is three modules and one that unites them' );
my %all = ( u1 => 'p1', u51 => 'p51', u120 => 'p120' );
for my $user ( sort keys %all ) {
    my $tried = evaluate( path => 'acme/long.cedar', input => request( $user, 2 ) );
    is_deeply(
        $tried->member('result'), { permits => [ $all{$user} ], forbids => ['no'], errors => [] },
        "... and decides for $user by all of them" );
}
is_deeply(
    evaluate( path => 'acme/long.cedar', input => request('u7') )->member('result'),
    { permits => ['p7'], forbids => [], errors => ['no'] },
    '... errors too' );

# ---- delete

admin_ok( $stack->admin( DELETE => "$base/$id" ), 204, undef, 'DELETE' );
ok( !exists bundle()->{rules}{$file}, '... takes the module away' );

done_testing;

# POST /admin/api/policy-rules/evaluate: trying an input, replaying a decision, and the engine's trace
# (gateway-admin.md 3.6 "Try-it"; policy.md 1, 6.2; decisions.md "Audited").
use strict;
use warnings;

use Digest::SHA qw(sha256_hex);
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

my $stack  = Authz::Stack->start;
my $where  = '/admin/api/policy-rules/evaluate';
my $issue  = 'svc/decision/issue';
my @grant  = ( grant_type => 'client_credentials' );
my $number = 0;

sub evaluate {
    my (%body) = @_;
    return $stack->admin( POST => $where, json => \%body, headers => [ 'X-Request-ID' => 'try-' . ++$number ] );
}
sub object { my ($value) = @_; return ref $value eq 'HASH' ? $value : {} }
sub lines { my ($answer) = @_; my $trace = $answer->member('explanation'); return ref $trace eq 'ARRAY' ? @$trace : () }

# A rule of the operator, as its row, and a save that builds the bundle with it.
sub add_rule {
    my ( $path, $content ) = @_;
    $stack->sql(
            "INSERT INTO policy_rule (path, kind, content, digest) VALUES ('$path', 'rego', \$rego\$$content\$rego\$, '"
          . sha256_hex($content)
          . "')" );
    return;
}

add_rule( 'custom/trial.rego', <<'REGO' );
package custom.trial

echo := input.text

none := null

short if input.text == "short"

two := 1 if input.text == "clash"

two := 2 if input.text == "clash"

large := 9223372036854775807 + input.add

long := concat("", [s | some i in numbers.range(1, input.n); s := "0123456789abcdef"])

price := [input.price == 99.99, data.acme.limits.most == 99.99, input.price >= 0.3]

steps := [i | some i in numbers.range(1, input.n); trace(sprintf("step %d%s", [i, input.text]))]
REGO
$stack->sql(q{INSERT INTO policy_data (data_key, payload, digest) VALUES ('acme.limits', '{"most":99.99}', 'none')});
my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes    => ['orders.read'] } );
my @rs  = $stack->make_client( 'rs',  { grants => ['client_credentials'], endpoints => ['introspect'] } );

# ---- an input that is tried out

sub input {
    my (@scope) = @_;
    return {
        schema  => 1, evaluation => 'issue',
        request => { grant_type => 'client_credentials', default_ttl => 3600, now => 1795258800 },
        client  => {
            id      => 'crm', type => 'confidential', registration => 'ADMIN', auth_method => 'client_secret_basic',
            enabled => true },
        subject     => { type      => 'client', id      => 'crm' },
        scopes      => { requested => \@scope,  default => [] },
        environment => { ip        => '127.0.0.1' },
        baseline    => undef,
    };
}

my $allowed = evaluate( path => $issue, input => input('orders.read') );
admin_ok(
    $allowed, 200, { revision => qr/\A[0-9a-f]{32}\z/, explanation => undef, undefined => undef },
    'try: an input that policy allows; no trace unless it is asked for' );
members_are(
    $allowed->member('result'), { allow => true, scopes => ['orders.read'] },
    'try: an entrypoint answers its result, as to a decision (policy.md 6.3)' );
ok( object( $allowed->member('metrics') )->{timer_rego_query_eval_ns}, 'try: and the metrics say how long it took' );
my $denied = evaluate( path => $issue, input => input('payments.write') );
members_are(
    $denied->member('result'),
    { allow => false, deny_reasons => sub { $_[0][0]{code} eq 'scope_not_entitled' } },
    'try: one that it denies, with the reasons' );
admin_ok(
    evaluate( path => "$issue/result", input => input('orders.read') ), 200, { result => sub { $_[0]{allow} } },
    'try: the rule named in full is the same' );
admin_ok(
    evaluate( path => "$issue/deny", input => input('payments.write') ), 200,
    { result => sub { ref $_[0] eq 'ARRAY' } }, 'try: other rules of an entrypoint can be looked at' );
admin_ok(
    evaluate( path => 'custom/trial/echo', input => { text => 'hello' } ), 200,
    { result => 'hello', undefined => undef },                             "try: an operator's own rule, of any type" );
admin_ok(
    evaluate( path => 'custom/trial/echo', input => {} ), 200,
    { undefined => sub { $_[0] }, result => sub { !defined $_[0] } },
    'try: an undefined result is null with "undefined": true' );
admin_ok(
    evaluate( path => 'custom/trial/none', input => {} ),     200,
    { undefined => undef, result => sub { !defined $_[0] } }, '... a rule whose value is null has no such member' );
admin_ok(
    evaluate( path => 'svc/decision/nowhere', input => {} ), 200, { undefined => sub { $_[0] } },
    '... an entrypoint that does not exist is undefined too' );
admin_ok(
    evaluate( path => 'custom/trial/short', input => { text => 'short' } ), 200, { result => true },
    'try: a condition that holds' );

# ---- the trace

my %count =
  map { ( $_ => scalar lines( evaluate( path => $issue, input => input('payments.write'), explain => $_ ) ) ) }
  qw(notes fails full debug);
ok( $count{notes} == 0 && 0 < $count{fails} && $count{fails} < $count{full} && $count{full} < $count{debug},
    "explain: notes, fails, full and debug tell more and more (@count{qw(notes fails full debug)} lines)" );
my @full = lines( evaluate( path => $issue, input => input('payments.write'), explain => true ) );
is( scalar @full, $count{full}, 'explain: true means full' );
ok( ( grep {m{svc/controls/\w+\.rego:\d+ }} @full ) > 0 && !( grep {ref} @full ),
    'explain: lines of text with file and row' );
admin_ok(
    evaluate( path => $issue, input => input('orders.read'), explain => $_->[0] ), 200, { explanation => undef },
    "explain: $_->[1] is none" ) for [ false, 'false' ], [ undef, 'null' ];
is_deeply(
    [   map {/"(step \d)"/}
          lines( evaluate( path => 'custom/trial/steps', input => { n => 3, text => '' }, explain => 'notes' ) ) ],
    [ 'step 1', 'step 2', 'step 3' ],
    'explain: notes are what the rules trace' );

# The engine compares decimal digits, not doubles.
admin_ok(
    evaluate( path => 'custom/trial/price', input => { price => 99.99 } ), 200,
    { result => [ true, true, true ] }, 'numbers: 99.99 of an input or a row is the 99.99 of a rule' );
admin_ok(
    evaluate( path => 'custom/trial/price', input => { price => 0.3 } ), 200,
    { result => [ false, true, true ] },                                 'numbers: 0.3 is not under a limit of 0.3' );

# ---- what goes wrong in a rule is told in the engine's words

my $clash = evaluate( path => 'custom/trial/two', input => { text => 'clash' } );
admin_error(
    $clash, 422, 'rule: two values of one rule are 422 with the place',
    error   => 'evaluation_failed',
    members => {
        error_description => qr{\Acustom/trial\.rego:\d+: complete rules must not produce multiple outputs\z},
        errors            => sub { $_[0][0]{code} eq 'eval_conflict_error' } } );
admin_error(
    evaluate( path => 'custom/trial/large', input => { add => 1 } ), 422,
    'rule: a number that no client could read is 422',               error => 'answer_unreadable' );
admin_ok(
    evaluate( path => 'custom/trial/large', input => { add => 0 } ), 200, { result => '9223372036854775807' },
    '... the largest that it can is an answer' );
my $long = evaluate( path => 'custom/trial/long', input => { n => 300_000 } );
admin_error(
    $long, 422, 'limit: an answer of more than 4 MiB is 422, with advice', error => 'answer_too_large',
    members => { error_description => qr/further down/ } );
my %steps = ( path => 'custom/trial/steps', input => { n => 50, text => 'x' x 100_000 } );
my $steps = evaluate( %steps, explain => true );
admin_error(
    $steps, 422, 'limit: so is a trace', error => 'answer_too_large',
    members => { error_description => qr/explain notes or without explain/ } );
admin_ok(
    evaluate(%steps), 200, { result => sub { @{ $_[0] } == 50 } },
    '... and without the trace there is an answer, on the same engine' );

# ---- replay

sub audit_id {
    my ($request_id) = @_;
    return $stack->sql("SELECT id FROM audit_log WHERE request_id = '$request_id'") + 0;
}

sub decide {
    my ( $id, $path, $client, @form ) = @_;
    $stack->http->post( $path, headers => [ 'X-Request-ID' => $id, Authz::Client::basic(@$client) ], form => \@form );
    for ( 1 .. 50 ) {
        my $row = $stack->sql("SELECT id FROM audit_log WHERE request_id = '$id'");
        return $row + 0 if $row;
        select undef, undef, undef, 0.02;
    }
    die "no audit row of $id";
}

my $id   = decide( 'r-token', '/token', \@crm, @grant, scope => 'orders.read more' );
my $same = evaluate( auditId => $id );
admin_ok(
    $same, 200,
    {   changed     => false,                                          changes   => [], endpoint => '/token',
        createdAt   => qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/, revision  => qr/\A[0-9a-f]{32}\z/,
        explanation => undef,                                          undefined => undef },
    'replay: a decision of /token that is the same now' );
members_are(
    $same->member('before'),
    { allow => true, scopes => ['orders.read'], engine => qr{\A(?:opa|embedded)/}, revision => qr/\A[0-9a-f]{32}\z/ },
    'replay: before is what was decided then, with its revision' );
members_are(
    $same->member('after'),
    { allow => true, scopes => ['orders.read'], deny_reasons => sub { $_[0][0]{code} eq 'scope_not_entitled' } },
    'replay: after is what would be decided now' );
my $denial = decide( 'r-denied', '/token', \@crm, @grant, scope => 'payments.write' );
admin_ok(
    evaluate( auditId => $denial, explain => 'fails' ), 200,
    { changed => false, before => sub { !$_[0]{allow} }, explanation => sub { @{ $_[0] } > 0 } },
    'replay: a denial, with a trace when asked' );
my $token = $stack->token_text( @crm, scope => 'orders.read' );
my $look  = decide( 'r-introspect', '/introspect', \@rs, token => $token );
admin_ok(
    evaluate( auditId => $look ), 200,
    { changed => false, endpoint => '/introspect', after => sub { $_[0]{allow} } },
    'replay: an introspection goes to its own entrypoint by the stored input' );
admin_ok(
    evaluate( auditId => $id, path => 'custom/trial/echo' ), 200,
    { changed => true, changes => [''], undefined => sub { $_[0] }, after => sub { !defined $_[0] } },
    'replay: through another rule, by its path' );
my $rows = $stack->sql('SELECT count(*) FROM access_token');

my $revision = $same->member('revision');
$stack->bind( 'crm', { scopes => ['more'] } );
my $other = evaluate( auditId => $id );
admin_ok(
    $other, 200,
    {   changed => true,
        changes => sub { "@{ $_[0] }" =~ /\bscopes\b/ && "@{ $_[0] }" !~ /revision|engine|eval_us|allow/ },
        before  => sub { "@{ $_[0]{scopes} }" eq 'orders.read' }, after => sub { "@{ $_[0]{scopes} }" eq 'more' } },
    'replay: after a change of data the difference shows, member by member' );
isnt( $other->member('revision'), $revision, 'replay: and names the revision that answered' );
admin_ok(
    evaluate( auditId => $denial ), 200, { changed => false },
    'replay: what the change does not touch is still the same' );
$stack->bind( 'crm', { scopes => [], grants => [] } );
admin_ok(
    evaluate( auditId => $id ),
    200,
    {   changed => true,
        changes => sub {
            grep { $_ eq 'allow' } @{ $_[0] };
        }
    },
    'replay: an allow that has become a deny' );
is( $stack->sql('SELECT count(*) FROM access_token'), $rows, 'replay: issues nothing' );
$stack->bind( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
admin_ok( evaluate( auditId => $id ), 200, { changed => false }, 'replay: and back' );

# ---- the audit row it leaves is no decision

is( $stack->sql(
        "SELECT string_agg(DISTINCT concat_ws(' ', endpoint, operation, outcome), '+') FROM audit_log WHERE request_id LIKE 'try-%' AND http_status = 200"
    ),
    "$where evaluatePolicy allowed",
    'audit: a request that asks policy leaves a row (decisions.md "Audited"), which names this endpoint' );
is( $stack->sql("SELECT count(*) FROM audit_log WHERE request_id LIKE 'try-%'"), $number, 'audit: exactly one each' );
is( $stack->sql(
        "SELECT count(*) FROM audit_log WHERE request_id LIKE 'try-%' AND (policy_input IS NOT NULL OR policy_decision IS NOT NULL)"
    ),
    0,
    'audit: without input and answer, which would make it a decision' );
evaluate( auditId => $id );
my $summary =
  JSON::PP->new->decode( $stack->sql("SELECT request_summary FROM audit_log WHERE request_id = 'try-$number'") );
members_are(
    $summary, { path => "$issue/result", auditId => $id, revision => qr/\A[0-9a-f]{32}\z/ },
    'audit: but what was asked for, of which row, and of which revision' );
admin_error(
    evaluate( auditId => audit_id("try-$number") ), 422, 'replay: such a row has no policy input, 422',
    error => 'unprocessable', members => { error_description => qr/no policy input/ } );

# ---- refused

my %fine = ( path => $issue, input => {} );
for my $case (
    [ 'both input and auditId', { %fine, auditId => $id },    'auditId' ],
    [ 'neither of them',        { path           => $issue }, 'input' ],
    [ 'nothing',                            {},                                                      'input', 'path' ],
    [ 'both of them null',                  { path => $issue, input => undef, auditId => undef },    'input' ],
    [ 'an input without path',              { input => {} },                                         'path' ],
    [ 'an empty path',                      { %fine, path => '' },                                   'path' ],
    [ 'an input that is no object',         { %fine, input => 'x' },                                 'input' ],
    [ '... but a list',                     { %fine, input => [] },                                  'input' ],
    [ 'a path that is no text',             { %fine, path => 5 },                                    'path' ],
    [ 'an auditId that is a text',          { auditId => "$id" },                                    'auditId' ],
    [ '... a fraction',                     { auditId => 1.5 },                                      'auditId' ],
    [ '... zero',                           { auditId => 0 },                                        'auditId' ],
    [ '... negative',                       { auditId => -1 },                                       'auditId' ],
    [ 'an explain that is an unknown word', { %fine, explain => 'all' },                             'explain' ],
    [ '... an empty one',                   { %fine, explain => '' },                                'explain' ],
    [ '... more than a word',               { %fine, explain => 'full&strict-builtin-errors=true' }, 'explain' ],
    [ '... a number',                       { %fine, explain => 1 },                                 'explain' ],
    [ 'an unknown member',                  { %fine, inptu => {} },                                  'inptu' ],
    [ 'all wrong at once',                  { path => '..', input => 5, explain => 7 }, 'path', 'input', 'explain' ],
  )
{
    my ( $name, $body, @field ) = @$case;
    admin_error( evaluate(%$body), 400, "refused: $name", fields => \@field );
}
admin_error(
    evaluate( %fine, path => $_ ), 400, "refused: the path $_ (it would be another question to the engine)",
    fields => ['path'] )
  for '../v1/policies', 'svc/../../policies', 'svc/%2e%2e/x', 'svc%2fdecision', 'a?provenance=false', 'a?', 'a#b',
  'a b', ' a', 'a/', '/a', 'a//b', '.', "a\r\nX: y", "a\x{e9}", 'a.b', 'a;b', 'a&b', 'a\\b';
admin_ok(
    evaluate( %fine, path => 'a/' x 255 . 'aa' ), 200, { undefined => sub { $_[0] } },
    'limit: a path of 512 characters' );
admin_error( evaluate( %fine, path => 'a/' x 255 . 'aaa' ), 400, 'limit: one of 513 is refused', fields => ['path'] );
admin_error( evaluate( auditId => $id, path => '../x' ), 400, 'refused: a bad path of a replay', fields => ['path'] );
admin_error( $stack->admin( POST => $where, json => $_->[0] ), 400, "refused: a body that is $_->[1]" )
  for [ [], 'a list' ], [ 'x', 'a text' ], [ 5, 'a number' ], [ undef, 'null' ];
admin_error(
    $stack->admin( POST => $where, body => '{"path":', headers => [ 'Content-Type' => 'application/json' ] ),
    400, 'refused: a body that is no JSON' );
is( $stack->admin( POST => $where, body => '{}', headers => [ 'Content-Type' => 'text/plain' ] )->status, 415,
    'refused: another content type is 415' );
admin_error( evaluate( auditId => $_ ), 404, "refused: an audit row $_ that is not there is 404" )
  for 999_999_999, 9_223_372_036_854_775_807;
admin_error( $stack->admin( POST => $where, json => \%fine, key => $_->[0] ), 401, "refused: $_->[1] is 401" )
  for [ undef, 'no key' ], [ 'wrong-key-of-admin-77aa', 'a wrong key' ];

# Stored documents that cannot be replayed: {"a":1} (dictionary 5 and a literal of LZ4), and octets that are none.
my $spare = decide( 'r-spare', '/token', \@crm, @grant );
$stack->sql("UPDATE audit_log SET policy_input = '\\x0507707b2261223a317d' WHERE id = $spare");
admin_error(
    evaluate( auditId => $spare ), 422, 'replay: an input that names no evaluation is 422',
    error => 'unprocessable',      members => { error_description => qr/give a path/ } );
admin_ok(
    evaluate( auditId => $spare, path => 'custom/trial/echo' ), 200, { undefined => sub { $_[0] } },
    '... and goes with a path' );
$stack->sql("UPDATE audit_log SET policy_input = '\\xff00' WHERE id = $spare");
is( evaluate( auditId => $spare )->status, 500, 'replay: a damaged document is 500, and not asked about' );

# ---- a policy that is not active (t/portal/console.t asks a draft and an earlier revision)

my %beside = ( path => $issue, input => input('orders.read') );
for my $bad (
    [ { changes => { data => [] }, revision => 1 },          'changes and a revision' ],
    [ { changes => { data => [] }, explain => \1 },          'a trace' ],
    [ { changes => { data => [] }, path => 'custom/trial' }, 'a path that is none of a decision' ],
    [ { changes => { other => [] } },                        'an unknown member of changes' ],
    [ { changes => {} },                                     'changes without one' ] )
{
    my ( $body, $name ) = @$bad;
    is( evaluate( %beside, %$body )->status, 400, "not active: $name is refused" );
}
is( evaluate( %beside, revision => 999_999 )->status, 404, 'not active: a revision that there is not' );

# ---- without the engine that decides: it is not asked (policy.md 7.3)

$stack->restart_service( settings => { SVC_POLICY_ENGINE => 'opa' } );    # the other one does without OPA
$stack->{opa}->stop;
is( evaluate( path => $issue, input => input('orders.read') )->status, 200, 'engine away: a trial has its own' );
$stack->start_opa;
$stack->ready_as(200);
$stack->restart_service( settings => { SVC_POLICY_ENGINE => 'opa', SVC_OPA_BINARY => '/nonexistent' } );
$stack->{opa}->stop;
my $away = evaluate( path => $issue, input => input('orders.read') );
admin_error(
    $away, 503, 'engine away, and no program for another: 503', error => 'temporarily_unavailable',
    members => { error_description => qr/policy engine is not reachable/ } );
ok( $away->header('Retry-After'), '... with Retry-After' );
admin_error( evaluate( auditId => $id ), 503, '... a replay too' );
my $lost = decide( 'r-lost', '/token', \@crm, @grant, scope => 'orders.read' );
$stack->start_opa;

# Readiness may be a second old.
my $since;
Authz::Process::until_true( 20, sub { ( $since = evaluate( auditId => $lost ) )->status == 200 } );
admin_ok(
    $since, 200,
    { changed => true, before => sub { $_[0]{error} && !exists $_[0]{allow} }, after => sub { $_[0]{allow} } },
    'replay: a request that got no decision then would get one now' );

done_testing;

# The effect of Cedar rules on tokens, introspection and access requests, and the rows under svc.cedar_data (doc/cedar.md;
# decisions.md "Effect of Cedar rules"); t/contrib/walk.t runs the commands of the page.
use strict;
use warnings;

use File::Path ();
use JSON::PP   ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack  = Authz::Stack->start;
my $policy = Authz::Policy->new($stack);
my $json   = JSON::PP->new->utf8->canonical;
my $row    = 'svc.operator.controls.authzen';
my %cc     = ( grants => ['client_credentials'] );
my @crm    = $stack->make_client( 'crm',  { %cc, scopes => [ 'orders.read', 'orders.write' ] } );
my @shop   = $stack->make_client( 'shop', { %cc, scopes => ['orders.read'] } );
my @api    = $stack->make_client( 'api',  { endpoints => ['introspect'] } );
my @pep    = $stack->make_client( 'pep',  { endpoints => ['authzen'] } );
my @auth   = Authz::Client::basic(@pep);
my $one    = '/access/v1/evaluation';
$stack->patch_row( 'svc.operator.controls.introspection', { require_audience => false } );
$stack->patch_row(
    $row,
    {   roles    => { editor => { todo  => [ 'read', 'write' ] } },
        subjects => { user   => { alice => { roles => ['editor'] } } } } );

sub rule {
    my ( $path, $text ) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => $path, kind => 'cedar', content => $text, version => '1', enabled => true } );
    die "$path: " . $answer->text
      if $answer->status !~ /\A20[01]\z/ || $answer->header('X-Policy-Activation') ne 'confirmed';
    return;
}

sub without {
    my ($path)   = @_;
    my ($listed) = @{ $stack->admin( GET => "/admin/api/policy-rules?path=$path" )->json };
    return $stack->admin( DELETE => "/admin/api/policy-rules/$listed->{id}" );
}

# The key holds one word after svc.cedar_data.
sub put_row {
    my ( $name, $payload ) = @_;
    return $stack->admin(
        PUT  => "/admin/api/policy-data/by-key?dataKey=svc.cedar_data.$name",
        json => {
            dataKey => "svc.cedar_data.$name",
            payload => ref $payload ? $json->encode($payload) : $payload,
            version => '1' } );
}

sub mode { my (%member) = @_; return $stack->patch_row( $row, {%member} ) }

sub evaluate {
    my ( $who, $action, $what, %more ) = @_;
    my ( $type, $id ) = split m{/}, $what;
    return $stack->http->post(
        $one,
        headers => [ @auth, 'X-Request-ID' => $more{request} // 'none' ],
        json    => {
            subject  => { type => $more{subject_type} // 'user', id => $who, properties => $more{subject} // {} },
            action   => { name => $action },
            resource => { type => $type, id => $id, properties => $more{resource} // {} },
            context  => $more{context} // {} } );
}

sub decision_is {
    my ( $answer, $want, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_ok( $answer, { decision => sub { $want ? $_[0] : !$_[0] } }, $name );
}

sub codes {
    return join ' ', map { $_->{code} } @{ $_[0]->json->{context}{reasons} // [] };
}

# The reasons that the audit row of a request has.
sub audited {
    my ($id) = @_;
    my $text = '';
    for ( 1 .. 400 ) {
        $text = $stack->sql("SELECT policy_decision::text FROM audit_log WHERE request_id = '$id'");
        last if $text ne '';
        select undef, undef, undef, 0.02;
    }
    chomp $text;
    return $text eq '' ? [] : decode_packed($text)->{deny_reasons} // [];
}

sub detail { my ( $id, $path, $action ) = @_; return { policy => $id, path => $path, action => $action } }

# ---- without rules

my $token = $stack->token_text( @crm, scope => 'orders.read' );
oauth_ok( $stack->introspect( @api, $token ), { active => true }, 'without Cedar rules: a token is issued and active' );
decision_is( evaluate(qw(alice write todo/t1)),       1, 'without Cedar rules: a role permits' );
decision_is( evaluate( qw(alice write), 'urn:x/t1' ), 0, 'without Cedar rules: another type is denied' );
is( codes( evaluate( qw(alice write), 'urn:x/t1' ) ), '', '... and needs no form in Cedar' );

# ---- guard: tokens

rule( 'acme/tokens.cedar', <<'CEDAR' );
@id("no-writing")
forbid (principal == Client::"crm", action == Action::"issue:scope:orders.write", resource);

@id("grants")
forbid (principal == Client::"shop", action == Action::"issue:access_token:client_credentials", resource)
when { context.svc.client.registration == "ADMIN" && context.svc.scopes.contains("orders.read") };

permit (principal, action, resource is Audience);

permit (principal == user::"bob", action, resource);
CEDAR

my @form   = ( scope => 'orders.read orders.write' );
my $denied = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic(@crm), 'X-Request-ID' => 'deny-token' ],
    form    => [ grant_type => 'client_credentials', @form ] );
oauth_error( $denied, 400, 'access_denied', 'guard: a forbid of a scope denies the token' );
is( $denied->member('error_description'), 'a Cedar rule forbids this', '... and the client learns no more' );
is_deeply(
    [ map { [ @$_{qw(code control category detail)} ] } @{ audited('deny-token') } ],
    [ [ 'cedar_forbid', 'cedar', 'policy', detail( 'no-writing', 'acme/tokens.cedar', 'issue:scope:orders.write' ) ] ],
    'audit: policy id, path and action' );
oauth_error(
    $stack->token( @shop, scope => 'orders.read' ), 400, 'access_denied',
    'guard: a forbid of a grant denies the token' );
my $read = $stack->token_text( @crm, scope => 'orders.read' );
oauth_ok(
    $stack->introspect( @api, $read ), { active => true },
    'guard: without the scope there is a token, and it is active' );
my $none = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic(@api) ],
    form    => [ grant_type => 'client_credentials', scope => 'orders.read' ] );
isnt( $none->status, 200, 'guard: a permit of everything permits no token that the entitlements refuse' );
decision_is( evaluate(qw(bob write todo/t1)), 0, 'guard: ... and one of all that bob does permits no access request' );

# ---- guard: introspection

rule( 'acme/see.cedar', <<'CEDAR' );
@id("hidden")
forbid (principal == Client::"crm", action == Action::"introspect", resource)
when { context.svc.caller.client_id == "api" && context has purpose && context.purpose == "audit" };
CEDAR
oauth_ok( $stack->introspect( @api, $read ), { active => true }, 'introspection: a forbid that does not hold' );
oauth_ok(
    $stack->introspect( @api, $read, context => '{"purpose":"sale"}' ), { active => true },
    '... nor with another context' );
oauth_ok(
    $stack->introspect( @api, $read, context => '{"purpose":"audit"}' ), { active => false },
    'introspection: a satisfied forbid: the token is inactive' );
without('acme/see.cedar');
oauth_ok(
    $stack->introspect( @api, $read, context => '{"purpose":"audit"}' ), { active => true },
    '... until the rule is deleted' );

# ---- guard: access requests, with entities

my $people = <<'JSON';
[{"uid": {"type": "User", "id": "alice"}, "attrs": {"level": 3},
  "parents": [{"type": "Group", "id": "staff"}]},
 {"uid": {"type": "Group", "id": "staff"}, "parents": [{"type": "Group", "id": "people"}]}]
JSON
admin_ok( put_row( people => $people ), 201, undef, 'entities: a row is taken' );
my $stored = $stack->admin( GET => '/admin/api/policy-data/by-key?dataKey=svc.cedar_data.people' );
is( $stored->json->{payload}, $people, 'entities: GET returns what was written' );
is_deeply(
    $policy->engine('/v1/data/svc/cedar_data/entities'),
    {   'User::"alice' =>
          { attrs => { level => 3 }, tags => {}, anc => { 'Group::"staff' => true, 'Group::"people' => true } },
        'Group::"staff' => { attrs => {}, tags => {}, anc => { 'Group::"people' => true } } },
    'entities: the engine has them by key, with all ancestors' );
rule( 'acme/todo.cedar', <<'CEDAR' );
@id("frozen")
forbid (principal in Group::"people", action == Action::"write", resource)
when { resource has frozen && resource.frozen };

@id("late")
forbid (principal, action == Action::"write", resource)
when { context.hour > 22 };

@id("own")
permit (principal, action in [Action::"read", Action::"write"], resource)
when { resource.owner == principal };
CEDAR
my %day  = ( context  => { hour  => 9 } );
my %mine = ( resource => { owner => { __entity => { type => 'user', id => 'bob' } } } );
decision_is( evaluate( qw(alice write todo/t1), %day ), 1, 'guard: a role permits and no forbid holds' );
decision_is(
    evaluate( qw(alice write todo/t1), %day, resource => { frozen => true } ),
    1, 'types: user::"alice" is not User::"alice" without the row' );
admin_ok( put_row( types => { user => 'User', 'urn:x' => 'Shop::Thing' } ), 200, undef, 'types: the row is taken' );
my $frozen = evaluate( qw(alice write todo/t1), %day, resource => { frozen => true }, request => 'deny-access' );
decision_is( $frozen, 0, 'guard: a satisfied forbid denies what a role permits; the ancestor of a row counts' );
is_deeply(
    [ map { [ @$_{qw(code detail)} ] } grep { $_->{code} eq 'cedar_forbid' } @{ $frozen->json->{context}{reasons} } ],
    [ [ 'cedar_forbid', detail( 'frozen', 'acme/todo.cedar', 'write' ) ] ],
    '... and the caller sees the policy' );
is( scalar( grep { $_->{code} eq 'cedar_forbid' } @{ audited('deny-access') } ), 1, '... as the audit row does' );
decision_is(
    evaluate( qw(alice write todo/t1), %day, resource => { frozen => false } ), 1,
    'guard: false is not satisfied' );
decision_is( evaluate( qw(alice write todo/t1), context => { hour => 23 } ), 0, 'guard: the context of the caller' );
decision_is( evaluate( qw(bob write todo/t1), %day, %mine ),                 0, 'guard: a permit has no effect' );
decision_is( evaluate( qw(alice write urn:y/t1), %day ), 0, 'types: one that nothing maps is denied' );
is( codes( evaluate( qw(alice write urn:y/t1), %day ) ), 'cedar_unmapped', '... with its reason' );
unlike( codes( evaluate( qw(alice write urn:x/t1), %day ) ), qr/unmapped/, 'types: one that the row maps is not' );

# ---- errors

my $noted = evaluate( qw(alice write todo/t1), request => 'noted' );
decision_is( $noted, 1, 'errors: the error of a forbid is skipped' );
is_deeply(
    [ sort map {"$_->{code} $_->{detail}{policy}"} @{ audited('noted') } ],
    [ 'cedar_error late', 'cedar_error own' ],
    '... and listed, as that of a permit is' );
mode( cedar_errors => 'deny' );
my $strict = evaluate(qw(alice write todo/t1));
decision_is( $strict,                                   0, 'cedar_errors deny: the error of a forbid denies' );
decision_is( evaluate( qw(alice write todo/t1), %day ), 1, '... that of a permit does not' );
decision_is( evaluate( qw(alice write todo/t1), context => { hour => 9.5 } ),   0, '... a fraction cannot be read' );
decision_is( evaluate( qw(alice write todo/t1), context => { hour => undef } ), 0, '... nor can null' );
is( $stack->admin( PATCH => "/admin/api/policy-data/by-key?dataKey=$row", json => { cedar_errors => 'ignore' } )
      ->status,
    422, 'cedar_errors: another word is refused' );
mode( cedar_errors => undef );
decision_is( evaluate(qw(alice write todo/t1)), 1, 'cedar_errors: skip is the default' );

rule( 'acme/broken.cedar', <<'CEDAR' );
@id("broken")
forbid (principal == Client::"shop", action in [Action::"introspect", Action::"issue:access_token:client_credentials"], resource)
when { context.nothing };
CEDAR
my @named  = ( headers => [ Authz::Client::basic(@shop), 'X-Request-ID' => 'noted-token' ] );
my $issued = $stack->http->post( '/token', @named, form => [ grant_type => 'client_credentials', scope => '' ] );
oauth_ok( $issued, { access_token => qr/./ }, 'errors: ... at /token' );
is( join( ' ', map {"$_->{code} $_->{detail}{policy}"} @{ audited('noted-token') } ), 'cedar_error broken',
    '... and listed' );
my $odd = $issued->member('access_token');
oauth_ok( $stack->introspect( @api, $odd ), { active => true }, 'errors: ... and at introspection' );
mode( cedar_errors => 'deny' );
oauth_error( $stack->token(@shop), 400, 'access_denied', 'cedar_errors deny: no token' );
oauth_ok( $stack->introspect( @api, $odd ), { active => false }, '... and an issued one is inactive' );
mode( cedar_errors => undef );
without('acme/broken.cedar');

# ---- source

mode( cedar_mode => 'source' );
$mine{resource}{owner}{__entity}{type} = 'User';
decision_is( evaluate( qw(bob write todo/t1), %day, %mine ),                      1, 'source: a permit permits' );
decision_is( evaluate( qw(eve write todo/t1), %day, %mine ),                      0, 'source: ... the owner alone' );
decision_is( evaluate( qw(bob write todo/t1), context => { hour => 23 }, %mine ), 0, 'source: minus forbids' );
decision_is( evaluate( qw(alice read todo/t1), %day ),                            1, 'source: a role permits still' );
decision_is( evaluate( qw(bob shred todo/t1), %day, %mine ), 0, 'source: what nothing permits is denied' );
oauth_error( $stack->token( @crm, @form ), 400, 'access_denied', 'source: a forbid denies a token' );
my $batch = $stack->http->post(
    '/access/v1/evaluations',
    headers => \@auth,
    json    => {
        subject     => { type => 'user', id => 'bob' }, action => { name => 'write' }, context => { hour => 9 },
        evaluations => [
            { resource => { type => 'todo',  id => '1', properties => $mine{resource} } },
            { resource => { type => 'todo',  id => '2' } },
            { resource => { type => 'todo',  id => '3', properties => $mine{resource} }, context => { hour => 23 } },
            { resource => { type => 'urn:y', id => '4', properties => $mine{resource} } },
            { resource => { type => 'todo',  id => '5', properties => $mine{resource} } } ] } );
is_deeply(
    [ map { $_->{decision} ? 1 : 0 } @{ $batch->json->{evaluations} } ], [ 1, 0, 0, 0, 1 ],
    'batch: each request is decided as if it were alone' ) || diag $batch->text;

# ---- off

mode( cedar_mode => 'off' );
oauth_ok( $stack->token( @crm, @form ), { access_token => qr/./ }, 'off: no forbid denies a token' );
decision_is( evaluate( qw(alice write todo/t1), context => { hour => 23 } ), 1, 'off: ... nor an access request' );
decision_is( evaluate( qw(bob write todo/t1), %day, %mine ), 0, 'off: no permit permits' );
is( codes( evaluate(qw(alice write urn:y/t1)) ), '', 'off: no request needs a form in Cedar' );
is( $stack->admin( PATCH => "/admin/api/policy-data/by-key?dataKey=$row", json => { cedar_mode => 'on' } )->status,
    422, 'cedar_mode: another word is refused' );
mode( cedar_mode => undef );
oauth_error( $stack->token( @crm, @form ), 400, 'access_denied', 'cedar_mode: guard is the default' );

# ---- rows under svc.cedar_data

sub uid { my ( $type, $id ) = @_; return { type => $type, id => $id } }

sub group {
    my ( $id, @parent ) = @_;
    return { uid => uid( Group => $id ), parents => [ map { uid( Group => $_ ) } @parent ] };
}

sub row_refused {
    my ( $name, $payload, $path, $message, $what ) = @_;
    my $before = $stack->sql('SELECT served FROM bundle_state');
    my $answer = put_row( $name => $payload );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, 422, "$what is refused" );
    is_deeply(
        [ grep { $_->{path} eq $path && $_->{message} eq $message } @{ $answer->json->{failures} } ],
        [ { path => $path, message => $message } ],
        '... with place and reason' ) || diag $answer->text;
    is( $answer->json->{dataKey},                       "svc.cedar_data.$name", '... and the row' );
    is( $stack->sql('SELECT served FROM bundle_state'), $before,                '... and nothing changed' );
    return;
}
row_refused(
    'groups', [ group(qw(a b)), group(qw(b c)), group(qw(c a)) ], '/1/parents',
    'is a cycle: Group::"a" in Group::"b" in Group::"c" in Group::"a"', 'a cycle' );
row_refused(
    'groups', [ group(qw(people staff)) ], '/0/parents',
    'is a cycle: Group::"people" in Group::"staff" in Group::"people"', 'a cycle through another row' );
row_refused(
    'groups', [ group('x'), group('staff') ], '/1/uid', 'Group::"staff" is also in svc.cedar_data.people/1',
    'an entity of another row' );
row_refused(
    'groups', '[{"uid":{"type":"A","id":"x"},"attrs":{"n":0.5}}]', '/0',
    'a number is a Long, a whole number of 64 bits',
    'a fraction' );
row_refused( 'groups', {}, '', 'must be a list of entities', 'an object' );
is( put_row( types => { user => 'urn:user' } )->status, 422, 'types: one that is no name is refused' );
admin_error( put_row( 'a.b' => [] ), 409, 'a row two words below svc.cedar_data is refused' );
my $deploy = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        mode => 'merge',
        data => [
            { dataKey => 'svc.cedar_data.groups', payload => [ group(qw(x y)) ] },
            { dataKey => 'svc.cedar_data.more',   payload => [ group(qw(y x)) ] } ] } );
is( $deploy->status, 422, 'a deploy: a cycle through two of its rows is refused' );
like( $deploy->text, qr/is a cycle/, '... with the cycle' );

$deploy = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        mode => 'merge',
        data => [
            { dataKey => 'svc.cedar_data.groups', payload => [ group(qw(x y)) ] },
            { dataKey => 'svc.cedar_data.more',   payload => [ group(qw(y z)) ] } ] } );
is( $deploy->status, 200, 'a deploy: rows that go together are taken' ) || diag $deploy->text;
is_deeply(
    $policy->engine('/v1/data/svc/cedar_data/entities')->{'Group::"x'}{anc},
    { 'Group::"y' => true, 'Group::"z' => true },
    '... and united: an ancestor of another row counts' );
is( $stack->admin( DELETE => '/admin/api/policy-data/by-key?dataKey=svc.cedar_data.more' )->status, 204,
    'a row with entities can be deleted' );
is_deeply(
    $policy->engine('/v1/data/svc/cedar_data/entities')->{'Group::"x'}{anc}, { 'Group::"y' => true },
    '... and its entities are gone' );
my ( $bad, $said ) = $stack->authzctl( qw(policy data set svc.cedar_data.cli), Authz::Path::source('doc/README') );
isnt( $bad, 0, 'authzctl policy data set: what is no JSON is refused' );
my $file = Authz::Process::directory() . '/staff.json';
open my $out, '>', $file or die "$file: $!";
print {$out} $json->encode( [ group(qw(staff a)) ] );
close $out or die "$file: $!";
( $bad, $said ) = $stack->authzctl( qw(policy data set svc.cedar_data.cli), $file );
isnt( $bad, 0, 'authzctl policy data set: an entity of another row is refused' );
like( $said, qr{/0/uid.*Group::"staff" is also in svc\.cedar_data\.people/1}, '... with place and reason' );

done_testing;

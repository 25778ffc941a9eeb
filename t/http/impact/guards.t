# Guards: limits in the row svc.operator.controls.changes that hold for every save, who may pass them, and that no save takes them
# away (policy.md G2 to G5).
use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP   ();
use Test::More;

use Authz::Check;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $own = tempdir( CLEANUP => 1 );

# One decision of crm is what the guards count: a busy machine must not make it one without an answer.
my $stack = Authz::Stack->start(
    settings => {
        SVC_OPA_BINARY        => Authz::Path::opa(), SVC_CONNECTORS_DIR => $own,
        SVC_POLICY_TIMEOUT_MS => 20_000 } );
my $other = Authz::Stack->start( beside => $stack, settings => { SVC_OPA_BINARY => '/nonexistent/opa' } );
my @crm   = $stack->make_client( 'crm',  { grants => ['client_credentials'], scopes => [ 'read', 'pay.send' ] } );
my @desk  = $stack->make_client( 'desk', { grants => ['client_credentials'], scopes => ['read'] } );
$stack->token( @crm,  scope => 'read pay.send' );
$stack->token( @crm,  scope => 'read' )     for 1 .. 3;
$stack->token( @desk, scope => 'read' )     for 1 .. 4;
$stack->token( @desk, scope => 'pay.send' ) for 1 .. 2;

my $row   = 'svc.operator.controls.changes';
my $by    = "/admin/api/policy-data/by-key?dataKey=$row";
my $rules = '/admin/api/policy-rules/by-path';
my $why   = 'Approved%20in%20CHG-7';

sub revision { return $stack->sql('SELECT revision FROM bundle JOIN bundle_state ON served = bundle.id') }
sub latest   { return $stack->admin( GET => '/admin/api/bundle-audit/latest' )->json }
sub stored   { return $stack->sql("SELECT payload FROM policy_data WHERE data_key = '$row'") }

# A key with a label that another one has too: (id, plaintext).
sub mint {
    my $answer =
      $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'release manager', role => 'operator' } );
    return (
        $answer->member('id')  // $answer->member('keyId'),
        $answer->member('key') // $answer->member('plaintext') );
}

sub guard {
    my ( $query, $patch, @option ) = @_;
    return $stack->admin( PATCH => "$by&$query", json => $patch, @option );
}

sub deny {
    my ($when) = @_;
    my $text = qq{package custom.issue\n\ndeny contains {"code": "no_way", "category": "policy"} if $when\n};
    return { path => 'custom/issue.rego', kind => 'rego', version => '1', content => $text };
}

sub save {
    my ( $when, $query, @option ) = @_;
    return $stack->admin( PUT => "$rules?$query", json => deny($when), @option );
}

# A refusal by a guard leaves everything as it was.
sub refused_by {
    my ( $answer, $name, $test ) = @_;
    my $before = revision();
    admin_error( $answer, 422, $test, error => 'impact_refused' );
    is( ( $answer->member('refused') // [] )->[0]{guard}, $name,   '... by the guard' );
    is( revision(),                                       $before, '... and nothing is saved' );
    return;
}

# ---- the row is shipped, without limits

is( stored(), '{}', 'the row is shipped without guards' );
admin_ok( $stack->admin( GET => '/admin/api/controls/changes' ), 200, { configurable => true }, 'it has a control' );
for my $case (
    [ { guards => [ { name => 'a', limits => {} }, ( { name => 'b', limits => {} } ) x 20 ] }, '21 guards' ],
    [ { guards => [ { name => 'a', limits => {}, period => '31d' } ] },                        'a period of 31 days' ],
    [ { guards => [ { name => 'a', limits => { newlyDenied => '101%' } } ] },                  'a percentage of 101' ],
    [ { guards => [ { name => 'a', limits => { newlyDenied => -1 } } ] },                      'a negative number' ],
    [ { guards => [ { name => 'a', limits => { newlyDenied => 'few' } } ] },                   'a word' ],
    [ { overrides => ['release manager'] },                                                    'a label for a key' ],
    [ { limits    => {} },                                                                     'an unknown member' ],
  )
{
    is( guard( '', $case->[0] )->status, 422, "the row refuses $case->[1] (policy.md G2)" );
}
my $empty = latest()->{id};

# ---- a guard holds for every save

my ( $id,   $key )  = mint();
my ( $twin, $same ) = mint();
my $guards = {
    guards => [
        { name => 'payments', when => { scopes => ['pay.*'] }, limits => { newlyAllowed => 0, newlyDenied => 0 } },
        { name => 'few', limits => { newlyDenied => '50%', narrowed => 4, other => '100%' }, period => '30d' } ],
    overrides => [$id] };
admin_ok( guard( 'message=Start', $guards ), 200, {}, 'guards are saved without a reason where there were none' );
is( latest()->{message}, 'Start', '... with a message, which saves of rows take too (policy.md G1)' );

refused_by( save( '"pay.send" in input.scopes.requested', '' ), 'payments', 'PUT of a rule without parameters' );
admin_ok(
    save( '{ input.client.id == "desk"; "read" in input.scopes.requested }', '' ),
    201, {}, 'a rule within the guards: scope_gained_alone, only what loses pay.* counts' );
is( latest()->{impact}{newlyDenied}, 4, '... whose counts are in the history (policy.md G7)' );
refused_by( save( 'input.client.id', '' ), 'payments', 'the same rule, changed' );
refused_by(
    $stack->admin(
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
        json  => { clients => { desk => { scopes => [ 'read', 'pay.send' ] } } } ),
    'payments',
    'PATCH of a row: scope_gained_alone, a payment that is newly allowed' );
refused_by(
    $stack->admin(
        POST => '/admin/api/policy-bundle/deploy', json => { rules => [ { %{ deny('true') }{qw(path content)} } ] } ),
    'payments',
    'a deploy' );
admin_error(
    $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'dry-run', rules => [ { %{ deny('true') }{qw(path content)} } ] } ),
    422,
    'a dry run',
    error => 'impact_refused' );
my ( $status, $text ) = $stack->authzctl(qw(entitle desk --scope pay.send));
is( $status, 2, 'entitle_refused: authzctl entitle, with exit status 2 (policy.md C2)' );
like( $text, qr/guard payments: newly allowed 2 of \d+, at most 0: REFUSED/, '... and the numbers' );

open my $file, '>', "$own/own.json" or die "own.json: $!";
print {$file} JSON::PP->new->encode(
    {   manifestVersion => 1, id => 'own', name => 'Own', version => '1', category => 'test',
        resources       => [ { name => 'own', displayName => 'Own', upstreamType => 'STATIC', defaultScope => 'own' } ],
        policyData      => [ { dataKey => 'svc.connectors.own', payload => { a => 1 } } ] } );
close $file or die "own.json: $!";
$stack->sql(
    q{UPDATE audit_log SET policy_input = '\x00ff' WHERE id = (SELECT max(id) FROM audit_log WHERE client_id = 'desk')}
);
refused_by(
    $stack->admin( POST => '/admin/api/connectors/own/install', json => {} ),
    'payments', 'the install of a connector: a decision that is not known counts towards each limit' );

$stack->sql(q{DELETE FROM audit_log WHERE policy_input = '\x00ff'});

# ---- a preview says what it measured

sub preview {
    my (%more) = @_;
    return $stack->admin(
        POST    => '/admin/api/policy-impact',
        json    => { rule => { %{ deny('"pay.send" in input.scopes.requested') }{qw(path content)} }, %more },
        headers => [ Prefer => 'wait=25' ] );
}
for my $case (
    [ { newlyDenied => -1 },     'limits.newlyDenied', 'a negative limit' ],
    [ { newlyDenied => '101%' }, 'limits.newlyDenied', 'a percentage over 100' ],
    [ { same        => 1 },      'limits.same',        'a limit of what cannot be limited' ] )
{
    my $answer = preview( limits => $case->[0] );
    is_deeply(
        [ $answer->status, keys %{ $answer->member('fieldErrors') // {} } ], [ 400, $case->[1] ],
        "a preview refuses $case->[2] (policy.md I1)" );
}
my $seen = preview( since => '30d', limits => { newlyDenied => 0, newlyAllowed => 9 } );
is( $seen->status, 200, 'a preview with limits' );
is_deeply(
    [ map {"$_->{limit} $_->{max} $_->{seen}"} @{ $seen->member('limits')->{refused} } ],
    [ 'newlyDenied 0 ' . $seen->member('newlyDenied') ],
    '... answers those that are passed (policy.md I1)' );
is_deeply( [ map { $_->{name} } @{ $seen->member('guards') } ], [qw(payments few)], '... beside the guards' );
is( ( grep { $_->{notMeasured} } @{ $seen->member('guards') } ), 0, '... which are all measured' );
for my $case (
    [ { since => '2d' }, [qw(few)], qr/period begins before/, 'of a shorter period than that of a guard' ],
    [ { since => '30d', filter => { clientId => 'crm' } }, [qw(payments few)], qr/filter/, 'with a filter' ],
    [ { since => '30d', until  => '1m' },                  [qw(payments few)], qr/end/,    'with an end' ] )
{
    my ( $period, $names, $why, $name ) = @$case;
    my @guards = @{ preview(%$period)->member('guards') };
    is_deeply(
        [ map { $_->{name} } grep { $_->{notMeasured} } @guards ],
        $names, "a preview $name says that the guard is not measured (policy.md G2)" );
    is( ( grep { $_->{notMeasured} && ( $_->{why} // '' ) !~ $why } @guards ), 0, '... and why' );
}
my ( $told, $words ) = $stack->authzctl( qw(policy impact --since 2d --rule custom/issue.rego), rule_file() );
like( $words, qr/guard few: not measured: its period begins before/, '... and authzctl tells it' );

sub rule_file {
    open my $out, '>', "$own/issue.rego.txt" or die "issue.rego.txt: $!";
    print {$out} deny('"pay.send" in input.scopes.requested')->{content};
    close $out or die "issue.rego.txt: $!";
    return "$own/issue.rego.txt";
}

# ---- an override

my @mine = ( key => $key );
for my $case (
    [ [ 'maxNewlyDenied=0', @mine ],           'a key without a reason' ],
    [ ["impactOverride=$why"],                 'a key that is not listed' ],
    [ [ "impactOverride=$why", key => $same ], 'label_twin: another key with the same label (policy.md G4)' ],
    [   [ "impactOverride=$why&impact=24h&maxNewlyDenied=0", @mine ],
        'a limit of the request itself, which no reason passes' ],
  )
{
    admin_error( save( 'true', @{ $case->[0] } ), 422, "refused: $case->[1]", error => 'impact_refused' );
}
admin_error( save( 'true', 'impactOverride=' . ( 'x' x 501 ), @mine ), 400, 'a reason of 501 octets is refused' );
my $passed = save( '"pay.send" in input.scopes.requested', 'impactOverride=' . ( 'x' x 500 ), @mine );
admin_ok( $passed, 200, {}, 'the key that is listed passes the guards, with a reason of 500 octets' );
my $bundle = latest();
is_deeply(
    [ @$bundle{qw(overrideBy overrideReason triggeredBy)} ], [ $id, 'x' x 500, 'release manager' ],
    '... which the history keeps, with the id of the key' );
is( $bundle->{impact}{newlyDenied}, 1, '... and what it changed' );
ok( defined Authz::Process::until_true(
        30,
        sub {
            $stack->sql(
                q{SELECT request_summary FROM audit_log WHERE endpoint = '/admin/api/policy-rules/by-path' ORDER BY id DESC LIMIT 1}
            ) =~ /"impactOverride":"x{500}"/;
        } ),
    '... and the audit row' );
ok( ( grep {/policy guards overridden/} $stack->{service}->log_lines ), '... and the log, for an alert' );

# ---- no save takes the guards away

my $before = stored();
for my $case (
    [ '',                    { guards => undef }, 'guard_removed_by_own_save: their removal' ],
    [ "impactOverride=$why", { guards => undef }, 'their removal by a key that is not listed' ],
    [ '', { guards    => [ { name => 'few', limits => { narrowed => 5 } } ] }, 'looser limits' ],
    [ '', { overrides => [ $id, $twin ] },                                     'another key that may pass them' ],
  )
{
    my $answer = guard( @$case[ 0, 1 ] );
    admin_error( $answer, 422, "refused: $case->[2] (policy.md G4)", error => 'impact_refused' );
    is( $answer->member('overridable'), false, '... and no override by this caller helps (policy.md G3)' );
}
for my $case ( [ 'the row' => guard( '', { guards => undef }, @mine ) ], [ 'a rule' => save( 'true', '', @mine ) ] ) {
    is( $case->[1]->status,                422,  "refused: $case->[0] by the key that is listed, without a reason" );
    is( $case->[1]->member('overridable'), true, '... which may override' );
}
is( save( 'true', 'maxNewlyDenied=0', @mine )->member('overridable'),
    false, 'a limit of the request is no guard: nobody may override it' );
admin_error( $stack->admin( DELETE => $by ), 409, 'the row cannot be deleted', error => 'protected' );
admin_error(
    $stack->admin(
        PUT  => $by,
        json => { dataKey => $row, payload => '{}', version => '1', inBundle => false } ),
    409,
    'nor taken out of the bundle, whose history has its changes',
    error => 'protected' );
my $deploy = { data => [ { dataKey => $row, payload => {} } ], rules => [ { %{ deny('true') }{qw(path content)} } ] };
admin_error(
    $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => $deploy ),
    422, 'nor emptied by the deploy that it would refuse', error => 'impact_refused' );
$stack->admin( POST => '/admin/api/policy-bundle/deploy', json => { mode => 'replace', rules => [], data => [] } );
is( stored(), $before, 'nor left out by a replace' );

# ---- rollback

refused_by(
    $stack->admin( POST => "/admin/api/bundle-audit/$empty/rollback", @$_ ),
    'payments', 'rollback_limited: back to what a guard forbids, by a key that may not pass it (policy.md G5)'
) for [], [ key => $same ];
admin_error(
    $stack->admin( POST => "/admin/api/bundle-audit/$empty/rollback?impactOverride=$why", key => $same ),
    422, '... nor with a reason', error => 'impact_refused' );
admin_error(
    $stack->admin( POST => "/admin/api/bundle-audit/$empty/rollback?maxNewlyAllowed=0&impact=24h", @mine ),
    422, 'a limit of the request holds for a rollback too', error => 'impact_refused' );
my $back = $stack->admin( POST => "/admin/api/bundle-audit/$empty/rollback?message=Back", @mine );
admin_ok(
    $back, 200, { dataProtected => 0 },
    'way_back_is_open: a rollback by a key that may pass the guards is not refused (policy.md G5)' );
is( stored(), $before, 'rollback_keeps_guard: the row stays as it is' );
is_deeply( [ map { latest()->{$_} } qw(triggerSource message) ], [ 'rollback', 'Back' ], '... and it is a rollback' );
ok( latest()->{impact}{newlyAllowed} > 0, '... that is measured' );
$stack->sql('DELETE FROM policy_plan');
admin_error(
    $other->admin( POST => "/admin/api/bundle-audit/$bundle->{id}/rollback" ),
    422, '... by another key it is refused where nothing can be measured', error => 'impact_refused' );
admin_ok(
    $other->admin( POST => "/admin/api/bundle-audit/$bundle->{id}/rollback", @mine ),
    200, {}, '... and not by this one' );
like( latest()->{impact}{notMeasured}, qr/SVC_OPA_BINARY/, '... which the history says' );

# ---- nothing that measures, and the end

my $blind = $other->admin( PUT => "$rules?", json => deny('false') );
admin_error(
    $blind, 422, 'no_plan_refuses: a guard that cannot be measured refuses (policy.md G3)',
    error => 'impact_refused' );
is( $blind->member('overridable'), false, '... for this caller' );
is( $other->admin( PUT => "$rules?", json => deny('false'), @mine )->member('overridable'),
    true, '... and can be passed by the key that is listed' );
admin_ok(
    $other->admin( PUT => "$rules?impactOverride=$why", json => deny('false'), @mine ), 200, {},
    '... with a reason' );
admin_ok(
    guard( "impactOverride=$why", { guards => undef, overrides => undef }, @mine ), 200, {},
    'an override takes the guards away' );
is( latest()->{overrideBy}, $id, '... and the history says whose' );

# ---- overrides that name nobody

sub key_of {
    my (%more) = @_;
    my $answer = $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'another', %more } );
    return ( $answer->member('id') // $answer->member('keyId'), $answer->member('key') );
}
my ( $dead, undef ) = key_of( role => 'operator' );
$stack->admin( DELETE => "/admin/api/admin-keys/$dead" );
my ( $late, undef ) = key_of( role => 'operator' );
$stack->sql("UPDATE admin_key SET expires_at = now() - interval '1 second' WHERE id = '$late'");
my ( $reader, undef ) = key_of( role => 'auditor' );
my ( $owner,  $owners )  = key_of( role => 'owner' );
my ( $last,   $last_is ) = key_of( role => 'operator' );
my $nobody = '01990000-0000-7000-8000-000000000000';

for my $case (
    [ [$nobody],                                           'a key that was never there' ],
    [ [$dead],                                             'a revoked key' ],
    [ [$late],                                             'a key that has ended' ],
    [ [$reader],                                           'an auditor, who may not save' ],
    [ ['person:nobody'],                                   'a person who never signed in' ],
    [ [ $nobody, $dead, $late, $reader, 'person:nobody' ], 'all of them' ] )
{
    my $answer = guard( "impactOverride=$why", { overrides => $case->[0] } );
    admin_error( $answer, 422, "overrides with no more than $case->[1]: refused (policy.md G4)" );
    like( $answer->text, qr/overrides an admin key that is valid/, '... and what to do' );
}
$stack->sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://idp.example', 'ann')});
admin_ok( guard( '', { overrides => [ $dead, 'person:ann' ] } ), 200, {}, '... but with a person who signed in' );
admin_ok(
    guard( "impactOverride=$why", { overrides => undef } ),
    200, {}, 'the configured key is the way out if no key is listed that is valid (policy.md G4)' );
admin_ok(
    guard( '', { guards => $guards->{guards}, overrides => [$last] } ),
    200, {}, 'guards again, by a key that is valid' );
$stack->admin( DELETE => "/admin/api/admin-keys/$last" );
for my $case ( [ 'another operator' => $same ], [ 'another owner' => $owners ] ) {
    my $answer = guard( "impactOverride=$why", { overrides => undef }, key => $case->[1] );
    admin_error( $answer, 422, "when it is revoked: $case->[0] cannot pass", error => 'impact_refused' );
    is( $answer->member('overridable'), false, '... and is not told so' );
}
admin_error( guard( '', { overrides => undef } ), 422, '... nor the configured key without a reason' );
my ( $exit, $said ) =
  $stack->authzctl( qw(policy data set --patch --override), 'Way out', $row, changes_file('{"overrides":null}') );
is( $exit, 0, 'authzctl on the database is one way out' ) or diag $said;
admin_ok(
    guard( "impactOverride=$why", { overrides => [ $owner, $dead ] }, @mine ),
    200, {}, 'a row with a key that is valid beside one that is not' );
$stack->admin( DELETE => "/admin/api/admin-keys/$owner" );
admin_ok(
    guard( "impactOverride=$why", { guards => undef, overrides => undef } ),
    200, {}, '... and the configured key with a reason is the other' );

sub changes_file {
    open my $out, '>', "$own/changes.json" or die "changes.json: $!";
    print {$out} $_[0];
    close $out or die "changes.json: $!";
    return "$own/changes.json";
}
my $path = "$rules?ifRevision=00";
admin_error(
    $stack->admin( PUT => $path, json => deny('false') ), 412,
    'ifRevision of a rule: another revision (policy.md G1)' );

done_testing();

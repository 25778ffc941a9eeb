# /admin/api/connectors: the catalogue, install, sync and uninstall (specification 2.9, 4.12; gateway-admin.md 3.6, 3.7).
use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP   ();
use Test::More;

use Authz::Check;
use Authz::Path  ();
use Authz::Stack ();

my $own   = tempdir( CLEANUP => 1 );
my $stack = Authz::Stack->start( not_ready => 1, settings => { SVC_CONNECTORS_DIR => $own } );
my $path  = '/admin/api/connectors';
my $time  = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
my $json  = JSON::PP->new->canonical;

sub get { my ($rest) = @_; return $stack->admin( GET => $path . $rest ) }

sub install {
    my ( $id, $body ) = @_;
    return $stack->admin( POST => "$path/$id/install", $body ? ( json => $body ) : () );
}
sub uninstall { my ($id)   = @_; return $stack->admin( DELETE => "$path/$id" ) }
sub resync    { my ($rest) = @_; return $stack->admin( POST   => $path . $rest ) }
sub resource  { my ($name) = @_; return $stack->admin( GET    => "/admin/api/managed-resources/$name" ) }
sub sql       { my ($text) = @_; return $stack->sql($text) }

sub write_file {
    my ( $name, $content ) = @_;
    open my $file, '>', "$own/$name" or die "$name: $!";
    print {$file} ref $content ? $json->encode($content) : $content;
    return close $file;
}

# ---- the catalogue

my @built_in =
  qw(atlassian-mcp generic-mcp generic-openapi generic-rest github github-mcp gitlab google-drive jira linear-mcp microsoft-graph
  notion-mcp slack static-demo);
my @available = @{ get('/available')->json };
is( join( ' ', map { $_->{id} } @available ), "@built_in",
    'available: the shipped connectors by id (gateway-admin.md 3.7)' );
ok( !( grep { $_->{installed} } @available ), '... and none of them is installed' );
is_deeply( get('')->json, [], 'the list has the installed ones: none' );
admin_ok(
    get('/github'), 200, { id => 'github', name => 'GitHub', installed => JSON::PP::false },
    'GET of one that is not installed' );
is( get('/none')->status,                          404, 'GET: unknown is 404' );
is( get('/..%2Fwww')->status,                      404, 'GET: an id is no path' );
is( $stack->http->request( 'GET', $path )->status, 401, 'without an admin key: 401' );

# ---- install and uninstall

my $answer = install('github');
admin_ok(
    $answer, 201, { id => 'github', installed => JSON::PP::true, installedAt => $time, updatedAt => $time },
    'install: 201' );
admin_ok(
    install( 'github', { createResources => JSON::PP::true } ), 200, $answer->json,
    '... then 200, and nothing is changed' );
admin_error(
    install( 'github', { createResource => JSON::PP::true } ),
    400, '... and a body with an unknown member is refused all the same', fields => ['createResource'] );
is( resource('github')->status,                       404,      '... and no resource is made' );
is( join( ' ', map { $_->{id} } @{ get('')->json } ), 'github', '... and the list has it' );
is( uninstall('github')->status,                      204,      'uninstall: 204 (specification 4.12)' );
is( uninstall('github')->status,                      404,      '... then 404' );
is( install('none')->status,                          404,      'install: unknown is 404' );

# Another install that is not committed yet holds the row: ours waits for it.
{
    my $holder = Authz::Process->start(
        name    => 'holder',
        env     => { PGAPPNAME => 'holder' },
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -h), $stack->{postgres}->socket, '-p',
            $Authz::Postgres::PORT,
            '-d', $stack->{database}, '-c',
            q{INSERT INTO connector (id, version, manifest, settings)}
              . q{ SELECT 'github', '1', '{"id":"github","name":"GitHub","category":"dev"}', '{}' FROM (SELECT pg_sleep(0)) s;}
              . q{ SELECT pg_sleep(2)} ] );
    Authz::Process::until_true(
        30,
        sub {
            sql(q{SELECT count(*) FROM pg_stat_activity WHERE application_name = 'holder' AND wait_event = 'PgSleep'})
              > 0;
        } );
    my $second = install('github');
    admin_ok(
        $second, 200, { id => 'github', installed => JSON::PP::true },
        'two installs at once: the one that came second is answered 200 (specification 4.12)' );
    $holder->wait(10);
    is( sql(q{SELECT count(*) FROM connector WHERE id = 'github'}), 1, '... and the connector is there once' );
    uninstall('github');
}

my %secret = ( clientSecret => 'a-secret-of-the-test' );
for my $case (
    [   { settings => { clientId => 'x' }, createResources => JSON::PP::true }, 'settings.clientSecret',
        'a required setting is missing' ],
    [   { createResources => JSON::PP::true }, [qw(settings.clientId settings.clientSecret)],
        '... without any settings, too' ],
    [   { settings => { clientId => 1, %secret }, createResources => JSON::PP::true }, 'settings.clientId',
        'a setting of another type' ],
    [ { settings => { colour => 'x' } }, 'settings.colour', 'a setting that the manifest does not have' ],
    [   { settings => { apiUrl => 'http://api.example', clientId => 'x', %secret }, createResources => JSON::PP::true },
        'upstreamUrl', 'a value that the resource refuses' ],
    [ { name   => 'mcp' }, 'name',   'a name that is a path of the gateway' ],
    [ { colour => 1 },     'colour', 'an unknown member' ] )
{
    my ( $body, $field, $name ) = @{$case};
    admin_error( install( 'github', $body ), 400, "install: $name", fields => ref $field ? $field : [$field] );
}
is( sql('SELECT count(*) FROM connector'), 0, 'nothing of a refused install stays' );

admin_ok(
    install(
        'github', { settings => { clientId => 'app', %secret }, createResources => JSON::PP::true, name => 'code' } ),
    201,
    { id => 'github' },
    'install with createResources: 201' );
my $made = resource('code')->json;
is( "$made->{connectorId} $made->{connectorVersion} $made->{upstreamUrl}", 'github 1.0.0 https://api.github.com',
    '... the resource has its connector, and the defaults of the settings' );
is( $made->{upstreamAuth}{clientId}, 'app', '... and the values of the others' );
ok( $made->{upstreamAuth}{clientSecret}{set}, '... and its secret is set' );
ok( !( grep { $_->{origin} ne 'manifest' } @{ $made->{routes} }, @{ $made->{tools} } ),
    '... and the origin of its routes and tools is manifest' );
is( sql("SELECT count(*) FROM connector c, managed_resource m, audit_log a WHERE concat(c.*, m.*, a.*) LIKE '%$secret{clientSecret}%'"
    ),
    0,
    'a secret stands in no row' );
unlike( get('/github')->body, qr/$secret{clientSecret}/, '... and in no answer' );
admin_error( uninstall('github'), 409, 'uninstall of one in use: 409' );
my $in_use = uninstall('github')->json;
is_deeply(
    $in_use,
    {   error       => 'connector_in_use', error_description => 'Connector github is used by 1 object',
        connectorId => 'github',
        blockers    => [
            { type => 'managed_resource', id => 'code', name => 'GitHub', href => '/admin/api/managed-resources/code' }
        ] },
    '... with its blockers (specification 7.2)' );
is( install( 'static-demo', { name => 'code', createResources => JSON::PP::true } )->status, 409,
    'install: the name of a resource is taken: 409' );
is( sql("SELECT count(*) FROM connector WHERE id = 'static-demo'"),         0,   '... and nothing is installed' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/code' )->status, 204, 'once the resource is gone' );
is( uninstall('github')->status,                                            204, '... the connector can go' );

# ---- every type of blocker (gateway-admin.md 3.7)

sub blockers {
    my $got = uninstall('github');
    return join ' ', $got->status, map {"$_->{type}:$_->{id}"} @{ ref $got->json ? $got->json->{blockers} : [] };
}

# Run SQL that makes an object, and expect it among the blockers only as long as it is there.
sub blocks {
    my ( $make, $undo, $want, $name ) = @_;
    sql($make);
    is( blockers(), $want, "uninstall: $name" );
    sql($undo);
    return;
}
my $rule =
  q{INSERT INTO policy_rule (path, kind, content, digest, enabled) VALUES ('acme/x.rego', 'rego', '%s', '', false)};
my $bind =
  q{UPDATE policy_data SET payload = '{"clients": {"agent": %s}}' WHERE data_key = 'svc.entitlements.bindings'};
my $bound  = sql(q{SELECT payload FROM policy_data WHERE data_key = 'svc.entitlements.bindings'});
my @norule = (q{DELETE FROM policy_rule WHERE path = 'acme/x.rego'});
my @nobind = ("UPDATE policy_data SET payload = \$p\$$bound\$p\$ WHERE data_key = 'svc.entitlements.bindings'");
install('github');
for my $text (
    'x := data.svc.connectors.github.a', 'x := data.svc.connectors["github"]',
    'import data.svc.connectors.github' )
{
    sql( sprintf $rule, $text );
    is( blockers(), '409 policy_rule:' . sql(q{SELECT id FROM policy_rule WHERE path = 'acme/x.rego'}),
        "uninstall: a rule of the operator has $text" );
    sql(@norule);
}
blocks(
    sprintf( $bind, $_->[0] ),
    @nobind, '409 client_entitlement:agent', "a binding grants a scope of the connector: $_->[0]"
) for ['{"scopes": ["other", "github:write"]}'], ['{"gateway_scopes": ["github:*"]}'];
install( 'github', { settings => { clientId => 'app', %secret }, createResources => JSON::PP::true } );
is( resource('github')->status, 404, 'a second install makes no resource' );
sql( sprintf $rule, 'x := data.svc.connectors.github-mcp.a' );
sql( sprintf $bind, '{"scopes": ["githubs"], "gateway_scopes": ["*", "slack:*"]}' );
is( uninstall('github')->status, 204, '... and others, or every scope, are none' );
sql(@norule);
sql(@nobind);
install( 'github', { settings => { clientId => 'app', %secret }, createResources => JSON::PP::true } );
sql(q{INSERT INTO identity_provider (idp_id, name, issuer, client_id) VALUES ('i', 'I', 'https://i.example', 'c')});
sql("INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('$_', 'https://i.example', '$_')") for qw(alice bob);
sql(    "INSERT INTO gateway_connection (subject, idp, resource, binding, secret_sealed, scopes)"
      . " SELECT '$_', id, 'github', '', '', '{}' FROM identity_provider" )
  for qw(alice bob);
my $used = uninstall('github')->json;
is_deeply(
    $used->{blockers}[1],
    {   type => 'user_connection', id => 'github', count => 2,
        href => '/admin/api/managed-resources/github/connections' },
    'uninstall: connections of people are counted' );
is( $used->{error_description}, 'Connector github is used by 2 objects', '... beside their resource' );
$stack->admin( DELETE => '/admin/api/managed-resources/github' );
is( uninstall('github')->status, 204, '... and they go with it' );

# ---- each shipped manifest makes a resource that the gateway accepts

my %value = (
    uri      => 'https://host.example/api', apiUrl => 'https://api.atlassian.com/ex/jira/0-1',
    document =>
      { openapi => '3.1.0', servers => [ { url => 'https://host.example' } ], paths => { '/a' => { get => {} } } } );
for my $connector (@available) {
    my $schema   = $connector->{manifest}{settings} || {};
    my %settings = map { $_ => $value{$_} || $value{ $schema->{properties}{$_}{format} || '' } || 'value' }
      @{ $schema->{required} || [] };
    my $got = install( $connector->{id}, { settings => \%settings, createResources => JSON::PP::true } );
    is( $got->status, 201, "$connector->{id}: installs with its resource" ) or diag $got->body;
    my $row = resource( $connector->{id} )->json;
    unlike( $row->{statusReason} // '', qr/is missing/, "$connector->{id}: ... and nothing is missing" );
}

# ---- sync

my %demo = (
    manifestVersion => 1, id => 'own', name => 'Own', version => '1', category => 'test',
    settings        => {
        type       => 'object',
        properties => { url => { type => 'string', format => 'uri', default => 'https://one.example' } } },
    scopes    => [ { name => 'own:read', implies => [] } ],
    resources => [
        {   name         => 'own', displayName => 'Own', upstreamType => 'REST', upstreamUrl => '${settings.url}',
            defaultScope => 'own:read',
            routes       => [
                { id => 'a', path => '/a' }, { id => 'b', path => '/b' }, { id => 'c', path => '/c' },
                { id => 'e', path => '/e', enabled => JSON::PP::false } ] } ] );
write_file( 'own.json', \%demo );
is( install( 'own', { createResources => JSON::PP::true } )->status, 201, 'a manifest in SVC_CONNECTORS_DIR installs' );
my $row = resource('own')->json;
$row->{displayName}        = 'Ours';
$row->{upstreamUrl}        = 'https://two.example';
$row->{routes}[1]{enabled} = JSON::PP::false;
$row->{routes}[3]{enabled} = JSON::PP::true;
push @{ $row->{routes} }, { id => 'mine', path => '/mine' };
is( $stack->admin( PUT => '/admin/api/managed-resources/own', json => $row )->status, 200,
    'the operator changes the resource' );
is( resource('own')->json->{connectorId}, 'own', '... which stays that of its connector' );

my %next = %{ $json->decode( $json->encode( \%demo ) ) };
$next{version} = '2';
$next{resources}[0]{routes} = [
    { id => 'b', path => '/b2' }, { id => 'd', path => '/d' },
    { id => 'e', path => '/e2', enabled => JSON::PP::false } ];
$next{scopes} = [ { name => 'own:read', implies => [] }, { name => 'own:write', implies => ['own:read'] } ];
write_file( 'own.json', \%next );
is_deeply(
    resync('/own/sync')->json,
    {   connectors => [
            {   connectorId => 'own', version => '2', warnings => [],
                resources   => [ { resource => 'own', routeCount => 4, scopesAdded => ['own:write'] } ] } ] },
    'sync: SyncReport with the routes and new scopes (specification 2.9)' );
$row = resource('own')->json;
is( join( ' ', map {"$_->{id}:$_->{path}"} @{ $row->{routes} } ), 'b:/b2 d:/d e:/e2 mine:/mine',
    '... routes of the manifest are replaced, local ones stay' );
ok( !$row->{routes}[0]{enabled},     '... what the operator switched off stays off' );
ok( $row->{routes}[2]{enabled} // 1, '... and what he switched on stays on' );
is( "$row->{displayName} $row->{upstreamUrl} $row->{connectorVersion}", 'Ours https://two.example 2',
    '... and his fields stay' );
is( get('/own')->json->{version}, '2', '... and the connector has the new version' );

$next{version} = '3';
$next{scopes}[0]{implies} = ['own:write'];
write_file( 'own.json', \%next );
my $report = resync('/own/sync')->json->{connectors}[0];
is( "$report->{version} $report->{warnings}[0]",
    '2 own:read implies other scopes than before; nothing is changed without force=true',
    'sync: a scope that implies more is a warning' );
is( get('/own')->json->{version},                                   '2', '... and nothing is changed' );
is( resync('/own/sync?force=true')->json->{connectors}[0]{version}, '3', '... without force=true' );
admin_error( resync('/own/sync?force=yes'), 400, 'sync: force is true or false', fields => ['force'] );
is( resync('/none/sync')->status, 404, 'sync: not installed is 404' );
my $with     = sub { return $stack->admin( POST => "$path/generic-rest/sync", json => $_[0] ) };
my $settings = get('/generic-rest')->json->{settings};
is( $settings->{secret}, undef, 'an installed connector shows its settings without secrets (gateway-admin.md 3.7)' );
for my $case (
    [ { settings => { secret => 'x' } }, 'settings.secret',  'a secret' ],
    [ { settings => { baseUrl => 7 } },  'settings.baseUrl', 'a setting of another type' ],
    [ { settings => [] },                'settings',         'no object' ],
    [ { setting  => {} },                'setting',          'an unknown member' ] )
{
    admin_error( $with->( $case->[0] ), 400, "sync refuses $case->[2]", fields => [ $case->[1] ] );
}
is_deeply( get('/generic-rest')->json->{settings}, $settings, '... and the settings stay' );
my $others = { %$settings, baseUrl => 'https://other.example', writeScope => 'other:write' };
is( $with->( { settings => $others } )->status, 200, 'sync with other settings' );
is_deeply( get('/generic-rest')->json->{settings}, $others, '... keeps them' );
is( resync('/generic-rest/sync')->status, 200, 'sync without a body' );
is_deeply( get('/generic-rest')->json->{settings}, $others, '... leaves them' );
$with->( { settings => $settings } );
is( scalar @{ resync('/sync')->json->{connectors} }, @built_in + 1, 'sync of all: every installed connector' );

# The tools of an MCP upstream may nest more than a manifest.
my $deep = { not => { type => 'object' } };
$deep = { type => 'object', properties => { a => $deep } } for 1 .. 15;
my $tools = $json->encode( [ { name => 'deep', origin => 'upstream', upstreamName => 'deep', inputSchema => $deep } ] );
write_file(
    'mcp-own.json',
    {   manifestVersion => 1, id => 'mcp-own', name => 'Own', version => '1', category => 'test',
        resources       => [
            {   name        => 'mcp-own',             displayName  => 'Own', upstreamType => 'MCP',
                upstreamUrl => 'https://mcp.example', defaultScope => 'own' } ] } );
is( install( 'mcp-own', { createResources => JSON::PP::true } )->status, 201, 'a connector with an MCP upstream' );
sql("UPDATE managed_resource SET tools = \$t\$$tools\$t\$ WHERE name = 'mcp-own'");
$answer = resync('/mcp-own/sync');
is( $answer->status, 200, 'sync: a tool of its upstream with the deepest schema, 32 levels' ) or diag $answer->text;
is( resource('mcp-own')->json->{tools}[0]{name},                               'deep', '... stays' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/mcp-own' )->status, 204,    '... and the resource can go' );
uninstall('mcp-own');
unlink "$own/mcp-own.json" or die "mcp-own.json: $!";

# ---- a manifest that is refused is not in the catalogue

for my $case (
    [ 'no JSON',                  '{' ],
    [ 'another id than its name', { %demo, id              => 'other' } ],
    [ 'another manifestVersion',  { %demo, manifestVersion => 2 } ],
    [ 'an unknown member',        { %demo, colour          => 1 } ],
    [   'a keyword that the schema reader does not know',
        { %demo, settings => { type => 'object', properties => { url => { type => 'string', colour => 1 } } } } ],
    [   'an unknown variable',
        { %demo, resources => [ { %{ $demo{resources}[0] }, upstreamUrl => '${settings.none}' } ] } ] )
{
    my ( $name, $content ) = @{$case};
    write_file( 'own.json', $content );
    is( scalar( grep { $_->{id} eq 'own' } @{ get('/available')->json } ), 0, "refused: $name" );
}
$report = resync('/own/sync')->json->{connectors}[0];
is( "$report->{version} $report->{warnings}[0]", '3 There is no good manifest in the catalogue; nothing is changed',
    'sync with a refused manifest: a warning, and nothing is changed' );
is( resource('own')->json->{connectorVersion}, '3', '... the resource neither' );
write_file( 'github.json', '{' );
is( scalar( grep { $_->{id} eq 'github' } @{ get('/available')->json } ), 0,
    'the shipped file does not replace a refused one of the same id' );
write_file( 'github.json', { %demo, id => 'github', name => 'Replaced' } );
is( ( grep { $_->{id} eq 'github' } @{ get('/available')->json } )[0]{name}, 'Replaced',
    "of two files with the same id the operator's wins" );

done_testing();

# The console by hand, under stress: the ten tasks by keys alone, states of each page, hostile texts in each field, text that is
# copied into a shell, and attacks on the session from other pages (gateway-admin.md 7.5; WCAG 2.2).
use strict;
use warnings;

use File::Basename ();
use JSON::PP       ();

use Authz::Idp    ();
use Authz::Node   ();
use Authz::Path   ();
use Authz::Peer   ();
use Authz::Portal ();
use Authz::Stack  ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}

my $peer  = Authz::Peer->start;
my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start(
    path     => '/auth',
    gateway  => 1,
    settings =>
      { SVC_OPA_BINARY => Authz::Path::opa(), SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost', Authz::Idp->settings },
    web_more => Authz::Portal::settings('lighttpd') );

# ---- what the tasks need: a client that was denied something, a rule, an MCP server that changed a tool, keys

my ( $id, $secret ) =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['crm.read'] }, clientName => 'Customers' );
$stack->token( $id, $secret, scope => $_ ) for qw(crm.read crm.admin);
my $deploy = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        mode  => 'merge', message => 'Hours',
        rules => [ { path => 'custom/issue/hours.rego', content => "package custom.issue\n\nhours := 8\n" } ] } );
die $deploy->text if $deploy->status != 200;

sub tools_are {
    my ($text) = @_;
    my %result = ( resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } );
    my @tool   = ( { name => 'add_note', description => $text, inputSchema => { type => 'object' } } );
    $peer->set( '/mcp' => { body => { jsonrpc => '2.0', id => 1, result => { %result, tools => \@tool } } } );
    my $answer = $stack->admin( POST => '/admin/api/managed-resources/notes/sync' );
    die $answer->text if $answer->status != 200;
    return;
}
$stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name        => 'notes',            displayName  => 'Notes',       upstreamType => 'MCP',
        upstreamUrl => $peer->url('/mcp'), defaultScope => 'notes.write', enabled      => JSON::PP::true() } );
tools_are('Add a note.');
tools_are('Add a note, and send it on.');
$peer->set( '/page' => { type => 'text/html', body => '<!doctype html><title>Neighbour</title>' } );
my %key = map {
    ( "AUTHZ_\U$_" =>
          $stack->admin( POST => '/admin/api/admin-keys', json => { label => "key of $_", role => $_ } )->member('key')
    )
} qw(auditor operator owner);

# ---- texts of others, in each field that the console shows

my @hostile = (
    '<img src=x onerror=alert(1)>',   '"><svg/onload=alert(1)>', '<script>alert(1)</script>', '</td></tr></table><h1>x',
    '<!--',                           '<iframe src=javascript:alert(1)>', '<a href="javascript:alert(1)">x</a>',
    '<style>*{display:none}</style>', '<base href=//evil.example>',       '<meta http-equiv=refresh content=0>',
    ']]><![CDATA[x', '" onmouseover="alert(1)', q{' autofocus onfocus='alert(1)}, 'javascript:alert(1)',
    'data:text/html,<script>alert(1)</script>', '//evil.example/x', '{{7*7}}',    '${7*7}',                '<%= 7*7 %>',
    "\x{202e}gpj.exe", "\x{2066}a\x{2069}b", "a\x{200b}d\x{200d}m\x{feff}",       "tag\x{e0041}\x{e0042}", "so\x{ad}ft",
    "fill\x{3164}er",  '\u0000',             '%00',                               'W' x 4000,              'ab ' x 1300,
    "\x{5e9}\x{5dc}\x{5d5}\x{5dd} 123", "\x{645}\x{631}\x{62d}", "\x{1f469}\x{200d}\x{1f4bb}", "Z\x{35b}\x{363}\x{35f}",
    q{=cmd|'/c calc'!A0}, '+1+1', '@SUM(A1)', "\e[31mred\e[0m", "\x{9b}2J", "bell\x{7}", '"},{"admin":true,"x":"',
    '\\"',
    q{'; touch gone; '}, '$(touch gone)', '`touch gone`', '"; touch gone #', 'constructor', '__proto__' );

# JSON of ASCII alone, as a literal of SQL.
my $ascii = JSON::PP->new->ascii->canonical;
sub literal { my ($value) = @_; return q{'} . $ascii->encode($value) =~ s/'/''/gr . q{'} }
my @tool = map {
    {   name        => $_, route => 'read', description => $_, scopes => [$_],
        inputSchema => {
            type => 'object', properties => { $_ => { type => 'string', title => $_, description => $_, enum => [$_] } }
        } }
} @hostile;
my $off = $stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name         => 'hostile', displayName => 'Off', upstreamType => 'STATIC', enabled => JSON::PP::false(),
        defaultScope => 'none.of',
        routes       => [ { id => 'read', path => '/status', response => { status => 200, json => {} } } ],
        tools => [ { name => 'look', route => 'read', description => 'Look.', inputSchema => { type => 'object' } } ] }
);
die $off->text if $off->status != 201;
my $texts = literal( \@hostile );
my $tools = literal( \@tool );
$stack->sql(<<"SQL");
CREATE TABLE hostile AS SELECT x, at FROM json_array_elements_text($texts) WITH ORDINALITY AS t(x, at);
INSERT INTO client (client_id, client_name, client_type, scope, redirect_uris) SELECT x, x, 'confidential', x, ARRAY[x] FROM hostile;
INSERT INTO policy_data (data_key, payload, digest, in_bundle) SELECT x, json_build_object(x, x), 'x', false FROM hostile;
INSERT INTO policy_data (data_key, payload, digest, in_bundle) SELECT 'example.hostile', json_object_agg(x, x), 'x', false FROM hostile;
INSERT INTO policy_rule (path, kind, content, digest, enabled) SELECT 'custom/h/' || x, 'rego', '# ' || x, 'x', false FROM hostile;
INSERT INTO subject (subject, issuer, upstream_sub, claims) SELECT x, 'https://evil.example', x, json_build_object('name', x, 'email', x) FROM hostile;
INSERT INTO admin_key (label, managed_by, lookup, sealed, created_by) SELECT x, 'admin', convert_to('h' || at, 'UTF8'), '', x FROM hostile;
INSERT INTO identity_provider (idp_id, name, issuer, client_id, scopes) SELECT 'h' || at, x, x, x, ARRAY[x] FROM hostile;
INSERT INTO managed_resource (name, upstream_type, enabled, document, status, status_reason)
    SELECT 'h' || at, 'REST', true, json_build_object('displayName', x, 'upstreamUrl', x), 'degraded', x FROM hostile;
UPDATE managed_resource SET tools = $tools WHERE name = 'hostile';
INSERT INTO bundle (id, revision, etag, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys, message)
    OVERRIDING SYSTEM VALUE SELECT -at, 'h' || at, 'x', 'confirmed', x, x, 0, ARRAY[x], ARRAY[x], x FROM hostile;
INSERT INTO audit_log (created_at, id, request_id, client_id, subject_id, endpoint, operation, method, http_status, outcome, request_summary)
    SELECT now(), nextval('audit_id_seq'), 'hostile', x, x, '/token', 'token', 'POST', 400, 'denied',
           json_build_object('tool', x, 'resource', x, 'reason', x, 'denyCodes', x, 'error', x) FROM hostile;
SQL
my $settings = $stack->settings;
Authz::Node::run_tap(
    [ Authz::Node::command( 'portal', 'hand.mjs' ) ],
    %$settings, %key,
    AUTHZ_BASE      => $settings->{SVC_OIDC_ISSUER}, AUTHZ_UPSTREAM => $peer->url('/mcp'), AUTHZ_IDP => $idp->issuer,
    AUTHZ_NEIGHBOUR => 'http://127.0.0.1:' . $peer->port . '/page', AUTHZ_HOSTILE => $ascii->encode( \@hostile ),
    AUTHZ_BIN       => File::Basename::dirname( Authz::Path::program('authzctl') ) );

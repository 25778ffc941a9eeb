# Resources of all MCP upstreams at /gateway/mcp: URIs and templates carry the name of the managed resource, each list is a page for
# each upstream, and policy and upstream see the URI as the upstream writes it (gateway-admin.md 1.6).
use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '5s' } );
my $mcp = Authz::Mcp->new($stack);

sub answer { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }

sub refusal {
    my ($code) = @_;
    return { body => { jsonrpc => '2.0', id => 1, error => { code => $code, message => 'no' } } };
}
my $modern = answer( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => {} } );

# A resource; its upstream, at a new address, answers so, one after the other.
my ( %member, %at );

sub upstream {
    my ( $name, @answer ) = @_;
    $at{$name} = "/$name" . ++( our $count );
    $peer->set( $at{$name} => [ $modern, @answer ] );
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $peer->url( $at{$name} ), %{ $member{$name} } );
    return;
}
sub server { my ( $name, %with ) = @_; $member{$name} = \%with; return upstream($name) }

# The last request that an upstream got.
sub sent { my ($name) = @_; return ( $peer->requests( $at{$name} ) )[-1] }

sub entries {
    my ( $member, @uri ) = @_;
    my $key = $member eq 'resources' ? 'uri' : 'uriTemplate';
    return answer(
        {   $member => [
                map {
                    { $key => $_, name => 'x' }
                } @uri ] } );
}

sub listed {
    my ( $answer, $member ) = @_;
    my $result = $mcp->result($answer) // {};
    return [ map { $_->{uri} // $_->{uriTemplate} } @{ $result->{ $member // 'resources' } // [] } ];
}
sub cursor { my ($answer) = @_; return ( $mcp->result($answer) // {} )->{nextCursor} }

# ---- what is declared

server('plain');
for my $method (qw(resources/list resources/templates/list resources/read completion/complete)) {
    is( $mcp->error( $mcp->modern( $method, { uri => 'mcp+alpha+file:///a' } ) )->{code},
        -32601, "$method does not exist while no resource has mcpResources" );
}
$member{alpha} =
  { mcpResources => 'live', upstreamAuth => { type => 'static_header', value => 'credential-of-alpha' } };
$member{beta} = { mcpResources => 'live' };
upstream( alpha => entries( resources => 'file:///a' ) );
upstream( beta  => entries( resources => 'file:///a' ) );
is_deeply(
    $mcp->result( $mcp->modern( 'server/discover', {} ) )->{capabilities},
    { ( map { ( $_ => { listChanged => JSON::PP::true() } ) } qw(tools resources) ), completions => {}, logging => {} },
    'with one that has, /gateway/mcp declares resources and completions' );

# ---- lists

my $page = $mcp->modern( 'resources/list', {} );
is_deeply( listed($page), ['mcp+alpha+file:///a'], 'the first page is that of one upstream, with its name in the URI' )
  or diag $page->text;
my $next = cursor($page);
unlike( $next, qr/beta/, '... its cursor does not tell the name of the next' );
$page = $mcp->modern( 'resources/list', { cursor => $next } );
is_deeply( listed($page), ['mcp+beta+file:///a'], '... and the next page is that of the next' ) or diag $page->text;
is( cursor($page), undef, '... which is the last' );
is_deeply(
    listed( $mcp->modern( 'resources/list', {}, at => 'alpha' ) ), ['file:///a'],
    'at its own endpoint a resource has the URIs of its upstream' );
for my $wrong ( '', 'r', 'r0', 'r99999', 'beta', "$next ", "0$next", 7, [] ) {
    is( $mcp->error( $mcp->modern( 'resources/list', { cursor => $wrong } ) )->{code},
        -32602, 'a cursor that we never gave: ' . $json->encode($wrong) );
}
is_deeply(
    listed( $mcp->modern( 'resources/list', { cursor => JSON::PP::null() } ) ),
    ['mcp+alpha+file:///a'], 'a cursor that is null is absent (M8)' );
is( $mcp->error( $mcp->modern( 'resources/list', { cursor => $next }, at => 'beta' ) )->{code},
    -32602, 'a cursor of /gateway/mcp at another endpoint' );
server('beta');
is( $mcp->error( $mcp->modern( 'resources/list', { cursor => $next } ) )->{code},
    -32602, 'a cursor of a resource that has mcpResources no more' );
server( beta => mcpResources => 'live' );

upstream( alpha => entries( resourceTemplates => 'file:///{a}', 'FILE:///{a}' ) );
$page = $mcp->modern( 'resources/templates/list', {} );
is_deeply( listed( $page, 'resourceTemplates' ), ['mcp+alpha+file:///{a}'], 'templates carry the name too' )
  or diag $page->text;
is( cursor($page), $next, '... and go on with the same upstream' );
for my $case (
    [ 'refuses',                refusal(-32603) ],
    [ 'answers another method', answer( { tools => [] } ) ],
    [ 'does not answer',        { close => 1 } ] )
{
    upstream( alpha => $case->[1] );
    $page = $mcp->modern( 'resources/list', {} );
    is_deeply(
        [ $page->status, listed($page), cursor($page) ],
        [ 200, [], $next ], "an upstream that $case->[0] has an empty page, and the others go on" ) or diag $page->text;
    unlike( $page->text, qr/credential-of-alpha/, '... that tells no credential' );
    my ($audit) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp&size=1' )->json->{content} };
    is_deeply(
        [ $audit->{outcome}, @{ $audit->{requestSummary} }{qw(left_out reason)} ],
        [ 'allowed', 'alpha', 'upstream_invalid_response' ], '... and the audit row says that it was left out'
    ) or diag explain $audit;
}

# ---- reads

upstream( alpha => answer( { contents => [ { uri => 'file:///a', text => 'said' } ] } ) );
my $read = $mcp->modern( 'resources/read', { uri => 'mcp+alpha+file:///a' } );
is_deeply(
    $mcp->result($read)->{contents}, [ { uri => 'mcp+alpha+file:///a', text => 'said' } ],
    'a read has the URI that was asked for' ) or diag $read->text;
is( $json->decode( sent('alpha')->{body} )->{params}{uri}, 'file:///a', '... the upstream gets its own' );
is( sent('alpha')->{headers}{'mcp-name'},                  'file:///a', '... in the header too' );
my ($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp&size=1' )->json->{content} };
is_deeply(
    [ @{ $row->{requestSummary} }{qw(resource kind uri_sha256)} ],
    [ 'alpha', 'resource', Digest::SHA::sha256_hex('file:///a') ],
    '... and the audit row has the resource, and the hash of that URI' ) or diag explain $row;
for my $case ( [ 'modern', -32602 ], [ 'legacy', -32002 ] ) {
    my ( $revision, $code ) = @$case;
    upstream( alpha => refusal(-32602) );
    $read = $mcp->$revision( 'resources/read', { uri => 'mcp+alpha+file:///none' } );
    is_deeply(
        [ @{ $mcp->error($read) // {} }{qw(code data)} ], [ $code, { uri => 'mcp+alpha+file:///none' } ],
        "one that is not there, for a $revision client" ) or diag $read->text;
}
upstream( alpha => answer( { contents => [ { uri => 'mcp+alpha+file:///a', text => 'x' } ] } ) );
is( $mcp->error( $mcp->modern( 'resources/read', { uri => 'mcp+alpha+file:///a' } ) )->{code},
    50200, 'contents of another URI than the upstream was asked for are an error' );

upstream('alpha');
for my $uri (
    'file:///a',                      'mcp+plain+file:///a',
    'mcp+nothing+file:///a',          'mcp++file:///a',
    'mcp+alpha',                      'mcp+alpha+',
    'MCP+alpha+file:///a',            'mcp+Alpha+file:///a',
    'mcp+alpha+FILE:///a',            'mcp+alpha+file:///x/../a',
    'mcp+alpha+a',                    'mcp+alpha%2Bfile:///a',
    'mcp+' . 'a' x 33 . '+file:///a', 'mcp+alpha+file:///' . 'a' x 2041,
  )
{
    $read = $mcp->modern( 'resources/read', { uri => $uri } );
    is( ( $mcp->error($read) // {} )->{code}, -32602, 'refused: ' . substr $uri, 0, 40 )
      or diag $read->text;
}
is( $peer->hits( $at{alpha} ), 0, '... and the upstream is not asked' );

# ---- completion

upstream( alpha => answer( { completion => { values => ['xa'] } } ) );
my %argument = ( argument => { name => 'a', value => 'x' } );
my $complete = $mcp->modern(
    'completion/complete',
    { ref => { type => 'ref/resource', uri => 'mcp+alpha+file:///{a}' }, %argument } );
is_deeply( $mcp->result($complete)->{completion}{values}, ['xa'], 'a completion for a template' )
  or diag $complete->text;
is_deeply(
    $json->decode( sent('alpha')->{body} )->{params}{ref}, { type => 'ref/resource', uri => 'file:///{a}' },
    '... of which the upstream gets its own' );
for my $uri ( 'file:///{a}', 'mcp+plain+file:///{a}', 'mcp+alpha+file:///{a', 'mcp+{a}+file:///{a}' ) {
    $complete = $mcp->modern( 'completion/complete', { ref => { type => 'ref/resource', uri => $uri }, %argument } );
    is( $mcp->error($complete)->{code}, -32602, "no completion for $uri" ) or diag $complete->text;
}

# ---- content of tools

my $link  = { type => 'resource_link', uri      => 'file:///a',          name => 'a' };
my $other = { type => 'resource_link', uri      => 'mcp+beta+file:///a', name => 'a' };
my $whole = { type => 'resource',      resource => { uri => 'file:///b', text => 'said file:///b' } };
for my $name (qw(alpha plain)) {
    upstream( $name => answer( { tools => [ { name => 'show', inputSchema => { type => 'object' } } ] } ) );
    is( $stack->admin( POST => "/admin/api/managed-resources/$name/sync" )->status, 200, "the tool of $name" );
}

sub shown {
    my ( $at, $tool ) = @_;
    my $answer = $mcp->modern( 'tools/call', { name => $tool, arguments => {} }, defined $at ? ( at => $at ) : () );
    return [ map { $_->{uri} // $_->{resource}{uri} } @{ ( $mcp->result($answer) // {} )->{content} // [] } ];
}
for my $case (
    [   alpha => undef, 'alpha__show', [ map {"mcp+alpha+$_"} 'file:///a', 'mcp+beta+file:///a', 'file:///b' ],
        'URIs in blocks carry the name, whatever they claim' ],
    [ alpha => 'alpha', 'show', [ 'file:///a', 'mcp+beta+file:///a', 'file:///b' ], '... but not at its own endpoint' ],
    [   plain => undef, 'plain__show', [ map {"mcp+plain+$_"} 'file:///a', 'mcp+beta+file:///a', 'file:///b' ],
        '... and those of an upstream whose resources are not served, which would be read as another one\'s' ],
  )
{
    my ( $name, $at, $tool, $wanted, $what ) = @$case;
    upstream( $name => answer( { content => [ $link, $other, $whole ] } ) );
    is_deeply( shown( $at, $tool ), $wanted, $what );
}

is( $mcp->error( $mcp->modern( 'resources/read', { uri => 'mcp+plain+mcp+beta+file:///a' } ) )->{code},
    -32602, '... and cannot be read' );

# ---- policy

my $rule = <<'REGO';
package custom.gateway

deny contains "not_of_alpha" if {
	input.resource.name == "alpha"
	input.action.uri == "file:///secret"
}
REGO
is( $mcp->rule($rule)->status, 201, 'a rule about a URI of one resource' );
my @both = ( 'file:///open', 'file:///secret' );
upstream( alpha => entries( resources => @both ) );
upstream( beta  => entries( resources => @both ) );
is_deeply( listed( $mcp->modern( 'resources/list', {} ) ), ['mcp+alpha+file:///open'], 'a list hides what it denies' );
is_deeply(
    listed( $mcp->modern( 'resources/list', { cursor => $next } ) ), [ map {"mcp+beta+$_"} @both ],
    '... of this resource alone' );
upstream('alpha');
is( $mcp->error( $mcp->modern( 'resources/read', { uri => 'mcp+alpha+file:///secret' } ) )->{message},
    'Denied: not_of_alpha', 'a read is denied' );
is( $peer->hits( $at{alpha} ), 0, '... and not sent' );
done_testing;

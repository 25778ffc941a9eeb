# Resources of MCP upstreams: they are asked for with the caller's credential, each is decided, and only canonical URIs pass
# (gateway-admin.md 1.6).
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
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '30s' }
);
my $mcp = Authz::Mcp->new($stack);

sub answer { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }

sub refusal {
    my ( $code, $status ) = @_;
    return {
        status => $status // 200,
        body   => { jsonrpc => '2.0', id => 1, error => { code => $code, message => 'no' } } };
}
my $modern = answer( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => {} } );
my $old    = answer( { protocolVersion => '2025-11-25', capabilities => {}, serverInfo => {} } );
my @hello  = ( { status => 404, body => '{}' }, $old, { status => 202 } );
my $count  = 0;

# A resource whose upstream answers so, one after the other.
sub files {
    my (@answer) = @_;
    my $name = 'files' . ++$count;
    $peer->set( "/$name" => [@answer] );
    $mcp->resource(
        $name,
        upstreamType => 'MCP', upstreamUrl => $peer->url("/$name"), mcpResources => 'live',
        upstreamAuth => { type => 'static_header', value => 'credential-of-the-gateway' } );
    return $name;
}

sub sent {
    my ($name) = @_;
    return map { $json->decode( $_->{body} ) } $peer->requests("/$name");
}

# One request of a modern client to a new upstream that answers so.
sub ask {
    my ( $method, $params, @reply ) = @_;
    my $name = files( $modern, @reply );
    return ( $mcp->modern( $method, $params, at => $name ), $name );
}

# ---- what is declared

my $told = JSON::PP::true();
my $name = files($modern);
$mcp->resource( 'plain', upstreamType => 'MCP', upstreamUrl => $peer->url('/plain') );
is_deeply(
    $mcp->result( $mcp->modern( 'server/discover', {}, at => $name ) )->{capabilities},
    { tools => { listChanged => $told }, resources => { listChanged => $told }, completions => {}, logging => {} },
    'mcpResources live: resources are declared' );
is_deeply(
    $mcp->result( $mcp->legacy( 'initialize', { protocolVersion => '2025-11-25' }, at => $name ) )->{capabilities},
    { tools => { listChanged => $told }, resources => { listChanged => $told }, completions => {}, logging => {} },
    '... to older clients too' );
for my $method (qw(resources/list resources/templates/list resources/read completion/complete)) {
    my $answer = $mcp->modern( $method, { uri => 'file:///a' }, at => 'plain' );
    is_deeply(
        [ $answer->status, $mcp->error($answer)->{code} ], [ 404, -32601 ],
        "$method does not exist without mcpResources" );
}
for my $case ( [ 'other', 'MCP' ], [ 'live', 'STATIC' ] ) {
    my ( $way, $type ) = @$case;
    my $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name => 'bad', displayName => 'bad', upstreamType => $type, mcpResources => $way,
            $type eq 'MCP' ? ( upstreamUrl => $peer->url('/bad') ) : () } );
    is( $answer->status, 400, "mcpResources $way of a $type resource is refused" ) or diag $answer->text;
}

# ---- lists

sub listed {
    my ( $answer, $member ) = @_;
    return [ map { $_->{uri} // $_->{uriTemplate} } @{ ( $mcp->result($answer) // {} )->{$member} // [] } ];
}

my @entry = map { { uri => "file:///$_", name => $_ } } qw(a b c);
( my $answer, $name ) = ask(
    'resources/list', {}, answer( { resources => [ @entry[ 0, 1 ] ], nextCursor => 'n' } ),
    answer( { resources => [ $entry[2] ] } ) );
is_deeply(
    listed( $answer, 'resources' ), [ map { $_->{uri} } @entry ],
    'resources/list: the pages of the upstream are one list' ) or diag $answer->text;
is_deeply(
    [ @{ $mcp->result($answer) }{qw(resultType ttlMs cacheScope)} ], [ 'complete', 30000, 'private' ],
    '... that the caller alone may keep' );
is( ( sent($name) )[2]{params}{cursor}, 'n', '... with the cursor of the upstream' );
is( $mcp->error( $mcp->modern( 'resources/list', { cursor => 'n' }, at => $name ) )->{code}, -32602,
    'a cursor that we never gave' );

my %whole = (
    uri   => 'file:///w', name => "n\x{202e}am\x{7}e", title => 'T', description => 'd' x 600, mimeType => 'text/plain',
    size  => 7,
    _meta => { secret => 1 }, icons => [ { src => 'https://tracker.example/i.png' } ], annotations => { priority => 1 }
);
( $answer, $name ) = ask( 'resources/list', {}, answer( { resources => [ \%whole, @entry ] } ) );
is_deeply(
    $mcp->result($answer)->{resources}[0],
    { uri => 'file:///w', name => 'name', title => 'T', description => 'd' x 512, mimeType => 'text/plain', size => 7 },
    'of an entry the known members pass, cut, without control characters and those that reorder text'
) or diag $answer->text;

my @bad = (
    { name => 'x' }, { uri => 'file:///x' }, 7,
    map { { uri => $_, name => 'x' } } 'x',  'FILE:///a', 'file:///a/../b', 'file:///a/%2e%2e/b', 'file:///a/..%2Fb',
    'file:///a/..;x', 'file:///a#', 'file:///a#f', 'file:///a?', 'file:///a?x=1', 'notes://a?x=1', 'notes://a#',
    'notes://a?',
    'http://EVIL.example/a', 'file:///%61', 'file:///%c3%a4', 'file:///a b', "file:///a\n", 'file:///' . 'a' x 2041 );
( $answer, $name ) = ask( 'resources/list', {}, answer( { resources => [ @bad, $entry[0] ] } ) );
is_deeply(
    listed( $answer, 'resources' ), ['file:///a'],
    'entries with a URI that has another spelling, or none, are left out' ) or diag $answer->text;

my @template = map { { uriTemplate => $_, name => 'x' } } 'file:///{a}', 'file:///{+b}', 'file:///{',
  'file:///{+b}{?c,d}', 'notes://{a}{?c,d}', 'notes://a?b={b}', 'notes://a{?b}', 'notes://a{#b}', 'notes://a#{b}',
  'file:///}',          'file:///{{a}}',     "file:///{a}\n",   'file:///{a} b', 'FILE:///{a}',   'file:///a/../{b}',
  'file:///{a}/%2e%2e/b',
  'file:///./{a}', 'file:///{a}/%61', 'http://Host.example/{a}', '{scheme}:///a', '{+path}', 'http://{host}:8080/{a}';
( $answer, $name ) = ask( 'resources/templates/list', {}, answer( { resourceTemplates => \@template } ) );
is_deeply(
    listed( $answer, 'resourceTemplates' ), [ 'file:///{a}', 'file:///{+b}', 'http://{host}:8080/{a}' ],
    'resources/templates/list: templates with controls, open braces, another spelling, a query or fragment are left out'
) or diag $answer->text;

( $answer, $name ) =
  ask( 'resources/list', {}, answer( { resources => [ map { { uri => "file:///$_", name => 'x' } } 1 .. 1001 ] } ) );
is( scalar @{ listed( $answer, 'resources' ) }, 1000, 'a list has at most 1000 entries' );
( $answer, $name ) = ask(
    'resources/list', {},
    answer( { resources => [ map { { uri => "file:///$_" . 'x' x 2000, name => 'x' } } 1 .. 200 ] } ) );
cmp_ok( scalar @{ listed( $answer, 'resources' ) }, '>', 120, '... and at most 256 KiB of them' )
  or diag substr $answer->text, 0, 900;
cmp_ok( scalar @{ listed( $answer, 'resources' ) }, '<', 132, '... one more is left out' );
( $answer, $name ) = ask( 'resources/list', {}, answer( { resources => [ $entry[0] ], nextCursor => 'again' } ) );
is_deeply(
    [ $answer->status, scalar @{ listed( $answer, 'resources' ) }, $peer->hits("/$name") ], [ 200, 10, 11 ],
    'pages without end: ten are read' );
( $answer, $name ) = ask( 'resources/list', {}, refusal(-32601) );
is_deeply( $mcp->result($answer)->{resources}, [], 'an upstream without resources has none' );

for my $case (
    [ 'the answer of another method', answer( { tools     => [] } ) ],
    [ 'resources that are no list',   answer( { resources => {} } ) ],
    [ 'an error',                     refusal(-32603) ],
    [ 'no answer',                    { close => 1 } ],
  )
{
    my ( $what, $reply ) = @$case;
    ($answer) = ask( 'resources/list', {}, $reply );
    is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 200, 50200 ], "resources/list: $what is an error" )
      or diag $answer->text;
    unlike( $answer->text, qr/credential-of-the-gateway/, '... that tells no credential' );
}

# ---- reads

my $contents = {
    contents   => [ { uri => 'file:///a', mimeType => 'text/plain', text => 'said', _meta => { secret => 1 } } ],
    resultType => 'complete', ttlMs => 9e9, cacheScope => 'public' };
( $answer, $name ) = ask( 'resources/read', { uri => 'file:///a' }, answer($contents) );
is_deeply(
    $mcp->result($answer),
    {   contents => [ { uri => 'file:///a', mimeType => 'text/plain', text => 'said' } ], resultType => 'complete',
        ttlMs    => 30000,                                                                cacheScope => 'private' },
    'resources/read of a text: its known members, for the caller alone' ) or diag $answer->text;
my ($request) = ( $peer->requests("/$name") )[1];
is_deeply(
    $json->decode( $request->{body} )->{params}{uri}, 'file:///a',
    '... the upstream gets the URI as it was asked for' );
is_deeply(
    [ @{ $request->{headers} }{qw(mcp-method mcp-name)} ], [ 'resources/read', 'file:///a' ],
    '... with the headers of the revision' );
unlike( $json->encode($request), qr/\Q$mcp->{token}\E/, '... and no token of the caller' );
my ($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content} // [] };
is_deeply(
    { map { $_ => $row->{requestSummary}{$_} } qw(resource kind uri_sha256 mcp_version upstream_status) },
    {   resource    => $name,        kind            => 'resource', uri_sha256 => Digest::SHA::sha256_hex('file:///a'),
        mcp_version => '2026-07-28', upstream_status => 200 },
    'the audit row has the read, without its URI' ) or diag explain $row;
unlike( $json->encode($row), qr{file:///a}, '... anywhere (argument_mode keys)' );

( $answer, $name ) = ask(
    'resources/read', { uri => 'file:///i.png' },
    answer( { contents => [ { uri => 'file:///i.png', mimeType => 'image/png', blob => 'iVBORw0KGgo=' } ] } ) );
is( $mcp->result($answer)->{contents}[0]{blob}, 'iVBORw0KGgo=', 'resources/read of octets' ) or diag $answer->text;
for my $case (
    [ 'a blob that is no base64',   answer( { contents => [ { uri => 'file:///a', blob => '*' } ] } ) ],
    [ 'a text and a blob',          answer( { contents => [ { uri => 'file:///a', text => 'x', blob => 'eA==' } ] } ) ],
    [ 'neither text nor blob',      answer( { contents => [ { uri  => 'file:///a' } ] } ) ],
    [ 'a content without a URI',    answer( { contents => [ { text => 'x' } ] } ) ],
    [ 'more contents than allowed', answer( { contents   => [ ( { uri => 'file:///a', text => 'x' } ) x 101 ] } ) ],
    [ 'the answer of prompts/get',  answer( { messages   => [] } ) ],
    [ 'a request for input',        answer( { resultType => 'input_required', inputRequests => {}, contents => [] } ) ],
    [ 'another error',              refusal(-32603) ],
    [ 'the content of another URI', answer( { contents => [ { uri => 'file:///b', text => 'x' } ] } ) ],
    [   'the content of a file below the URI, beside its own',
        answer( { contents => [ map { { uri => $_, text => 'x' } } 'file:///a', 'file:///a/b' ] } ) ],
    [ 'the content of another spelling of the URI', answer( { contents => [ { uri => 'FILE:///a', text => 'x' } ] } ) ],
  )
{
    my ( $what, $reply ) = @$case;
    ($answer) = ask( 'resources/read', { uri => 'file:///a' }, $reply );
    is_deeply( [ $answer->status, $mcp->error($answer)->{code} ], [ 200, 50200 ], "resources/read: $what is an error" )
      or diag $answer->text;
}
( $answer, $name ) = ask(
    'resources/read', { uri => 'file:///a' },
    answer( { contents => [ ( { uri => 'file:///a', text => 'x' } ) x 100 ] } ) );
is( scalar @{ $mcp->result($answer)->{contents} }, 100, '... as many as allowed pass' );
for my $code ( -32602, -32002 ) {
    ($answer) = ask( 'resources/read', { uri => 'file:///none' }, refusal( $code, 400 ) );
    is_deeply(
        [ $answer->status, @{ $mcp->error($answer) }{qw(code data)} ],
        [ 200, -32602, { uri => 'file:///none' } ], "a resource that is not there ($code)" ) or diag $answer->text;
}

# What is not canonical reaches neither policy nor upstream.
# The text is that of a document.
my $document = "see file:///a \x{202b}and\x{202c} mcp+other+file:///b";
($answer) = ask(
    'resources/read',
    { uri => 'file:///a' },
    answer( { contents => [ { uri => 'file:///a', text => $document } ] } ) );
is( $mcp->result($answer)->{contents}[0]{text}, $document, 'a text that is read passes as it is' )
  or diag $answer->text;
$name = files($modern);
for my $uri (
    'FILE:///a',          'file:///a/../b', 'file:///a/%2E%2E/b',   'file:///%2e%2e', 'file:///a/..%2Fb',
    'file:///a%5C..%5Cb', 'file:///a/.',    'http://Host.example/', 'file:///%61',    'file:///%aa', 'a b', 'x',
    'file:///a#',         'file:///a#f',    'file:///a?', 'file:///a?x=1', 'file:///a?#', 'notes://a?', 'notes://a#',
    'notes://a?x=1',
    'notes://a?x=1#f', 'mcp+' . $name . '+file:///a#',
    'file:///a%00',    'http://host.example:80/', 'http://host.example./', 'http://host.example@other.example/',
    'file:///' . 'a' x 2041 )
{
    $answer = $mcp->modern( 'resources/read', { uri => $uri }, at => $name );
    is( $mcp->error($answer)->{code}, -32602, 'refused: ' . substr $uri, 0, 30 ) or diag $answer->text;
}
is( $mcp->error(
        $mcp->modern(
            'resources/read', {}, at => $name,
            headers => [ 'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'resources/read' ] ) )->{code},
    -32020,
    'no URI at all' );
is( $peer->hits("/$name"), 0, '... and the upstream is not asked' );
my $longest = 'file:///' . 'a' x 2040;
($answer) =
  ask( 'resources/read', { uri => $longest }, answer( { contents => [ { uri => $longest, text => 'said' } ] } ) );
ok( $mcp->result($answer), 'the longest URI passes' ) or diag $answer->text;

# ---- queries (gateway-admin.md 1.6: servers may ignore them, so a resource must say that it takes them)

# The URIs that an upstream with resourceQueries lists, and the codes of reads of others.
$name = files(
    $modern,
    answer(
        {   resources =>
              [ map { { uri => $_, name => 'x' } } 'db://rows?page=2', 'db://rows?', 'db://rows?a#', 'file:///a?x' ] }
    ),
    answer( { contents => [ { uri => 'db://rows?page=2', text => 'said' } ] } ),
    answer(
        {   resourceTemplates =>
              [ map { { uriTemplate => $_, name => 'x' } } 'db://{t}{?page}', 'file:///{t}{?page}', 'db://{t}{#page}' ]
        } ) );
$mcp->resource(
    $name,
    upstreamType    => 'MCP', upstreamUrl => $peer->url("/$name"), mcpResources => 'live',
    resourceQueries => JSON::PP::true() );
is_deeply(
    listed( $mcp->modern( 'resources/list', {}, at => $name ), 'resources' ), ['db://rows?page=2'],
    'resourceQueries: a URI with a query is listed; an empty one, a fragment, or a query of file: is not' );
$answer = $mcp->modern( 'resources/read', { uri => 'db://rows?page=2' }, at => $name );
ok( $mcp->result($answer), '... and read' ) or diag $answer->text;
is_deeply(
    listed( $mcp->modern( 'resources/templates/list', {}, at => $name ), 'resourceTemplates' ),
    ['db://{t}{?page}'], '... templates with a query are listed, those with a fragment or of file: are not' );
my $hits = $peer->hits("/$name");
for my $uri ( 'db://rows?', 'db://rows#', 'db://rows?page=2#', 'db://rows?#', 'file:///a?x=1', 'file:///a?' ) {
    $answer = $mcp->modern( 'resources/read', { uri => $uri }, at => $name );
    is( $mcp->error($answer)->{code}, -32602, "... refused all the same: $uri" ) or diag $answer->text;
}
is( $peer->hits("/$name"), $hits, '... and the upstream is not asked' );
for my $case ( [ 'without mcpResources', 'MCP', 'none' ], [ 'of a STATIC resource', 'STATIC', 'none' ] ) {
    my ( $what, $type, $way ) = @$case;
    $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name            => 'bad', displayName => 'bad', upstreamType => $type, mcpResources => $way,
            resourceQueries => JSON::PP::true(),
            $type eq 'MCP' ? ( upstreamUrl => $peer->url('/bad') ) : () } );
    is( $answer->status, 400, "resourceQueries $what is refused" ) or diag $answer->text;
}

# ---- older clients and upstreams

$name   = files( @hello, answer( { contents => [ { uri => 'file:///a', text => 'said' } ] } ) );
$answer = $mcp->legacy( 'resources/read', { uri => 'file:///a' }, at => $name, version => '2025-11-25' );
is_deeply(
    $mcp->result($answer), { contents => [ { uri => 'file:///a', text => 'said' } ] },
    'an older client reads of an older upstream' ) or diag $answer->text;
$name   = files( @hello, refusal(-32002) );
$answer = $mcp->legacy( 'resources/read', { uri => 'file:///a' }, at => $name, version => '2025-11-25' );
is( $mcp->error($answer)->{code}, -32002, '... and what is not there has the code of its revision' );
$name   = files( $modern, answer( { resources => \@entry } ) );
$answer = $mcp->legacy( 'resources/list', {}, at => $name, version => '2025-06-18' );
is_deeply( [ sort keys %{ $mcp->result($answer) } ], ['resources'], '... a list has nothing of the newer revision' );

# ---- completion

my %ref = ( ref => { type => 'ref/resource', uri => 'file:///{a}' }, argument => { name => 'a', value => 'x' } );
( $answer, $name ) = ask(
    'completion/complete', { %ref, context => { arguments => { b => 'y' } } },
    answer( { completion => { values => [qw(xa xb)], total => 2, hasMore => JSON::PP::false(), more => 1 } } ) );
is_deeply(
    $mcp->result($answer)->{completion}, { values => [qw(xa xb)], total => 2, hasMore => JSON::PP::false() },
    'completion/complete for a template' ) or diag $answer->text;
my $params = ( sent($name) )[1]{params};
delete $params->{_meta};
is_deeply( $params, { %ref, context => { arguments => { b => 'y' } } }, '... the upstream gets what policy saw' );
($answer) = ask( 'completion/complete', {%ref}, answer( { completion => { values => [ ('x') x 101 ] } } ) );
is( $mcp->error($answer)->{code}, 50200, '101 values are an error' );
($answer) = ask( 'completion/complete', {%ref}, answer( { completion => { values => [ ('x') x 100 ] } } ) );
is( scalar @{ $mcp->result($answer)->{completion}{values} }, 100, '... 100 pass' );

for my $case (
    [ 'of a prompt',                                 { %ref, ref      => { type => 'ref/prompt', name => 'a' } } ],
    [ 'without an argument',                         { %ref, argument => {} } ],
    [ 'of a template with braces that are no pairs', { %ref, ref => { type => 'ref/resource', uri => 'file:///{a' } } ],
    [ 'of a template that is not ASCII',   { %ref, ref => { type => 'ref/resource', uri => "file:///\x{202e}{a}" } } ],
    [ 'of a template in another spelling', { %ref, ref => { type => 'ref/resource', uri => 'FILE:///{a}' } } ],
    [ 'of a template with dot segments',   { %ref, ref => { type => 'ref/resource', uri => 'file:///x/../{a}' } } ],
    [ 'of a template with a query',        { %ref, ref => { type => 'ref/resource', uri => 'notes://{a}{?b}' } } ],
    [ 'of a template with a fragment',     { %ref, ref => { type => 'ref/resource', uri => 'notes://{a}{#b}' } } ],
    [ 'of a template that is empty',       { %ref, ref => { type => 'ref/resource', uri => '' } } ],
    [ 'with other values',                 { %ref, context  => { arguments => { b => 7 } } } ],
    [ 'with arguments as a list',          { %ref, context  => { arguments => [7] } } ],
    [ 'of a value that is too long',       { %ref, argument => { name      => 'a',       value => 'x' x 4097 } } ],
    [ 'of a name that is too long',        { %ref, argument => { name      => 'a' x 257, value => 'x' } } ],
    [ 'beside a value that is too long',   { %ref, context  => { arguments => { b => 'x' x 65537 } } } ],
    [ 'beside 33 values',                  { %ref, context  => { arguments => { map { $_ => 'x' } 1 .. 33 } } } ],
  )
{
    my ( $what, $given ) = @$case;
    is( $mcp->error( $mcp->modern( 'completion/complete', $given, at => $name ) )->{code}, -32602,
        "a completion $what" );
}

( $answer, $name ) = ask(
    'completion/complete',
    {   %ref,
        argument => { name      => 'a' x 256, value => 'x' x 4096 },
        context  => { arguments => { map { $_ => 'x' } 1 .. 31, 'y' x 256 } } },
    answer( { completion => { values => ['xa'] } } ) );
is_deeply( ( $mcp->result($answer) // {} )->{completion}{values}, ['xa'], 'the longest argument is completed' )
  or diag $answer->text;

# ---- the largest answer of an upstream (maxResultBytes)

# A read whose answer has so many octets.
sub sized {
    my ( $octets, %with ) = @_;
    my $body = $json->encode( answer( { contents => [ { uri => 'file:///a', text => 'said' } ] } )->{body} );
    my $at   = files( $modern, { body => $body, pad => $octets - length $body } );
    $mcp->resource(
        $at,
        upstreamType => 'MCP', upstreamUrl => $peer->url("/$at"), mcpResources => 'live', %with );
    return $mcp->modern( 'resources/read', { uri => 'file:///a' }, at => $at );
}
for my $case ( [ 2000, maxResultBytes => 2000 ], [ 4 << 20 ] ) {
    my ( $octets, %with ) = @$case;
    my $what = %with ? 'maxResultBytes' : 'without maxResultBytes, 4 MiB';
    ok( $mcp->result( sized( $octets, %with ) ), "$what: an answer of so many octets passes" );
    my $past = sized( $octets + 1, %with );
    is( ( $mcp->error($past) // {} )->{code}, 50200, '... one octet more is an error' )
      or diag substr $past->text, 0, 300;
}
for my $bad ( [ MCP => 1023 ], [ MCP => ( 16 << 20 ) + 1 ], [ MCP => 'many' ], [ REST => 5000 ] ) {
    my ( $type, $octets ) = @$bad;
    $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name        => 'bad', displayName => 'bad', upstreamType => $type, maxResultBytes => $octets,
            upstreamUrl => $peer->url('/bad') } );
    is( $answer->status, 400, "maxResultBytes $octets of a $type resource is refused" ) or diag $answer->text;
}

# ---- trace context (W3C Trace Context)

my @trace = map {"00-0af7651916cd43dd8448eb211c80319c-${_}7ad6b7169203331-01"} qw(b c);

# What an upstream gets of these header fields and this `_meta`: the field and `_meta` of its request.
sub traced {
    my ( $meta, @field ) = @_;
    my $at   = files( $modern, answer($contents) );
    my %meta = (
        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {}, %$meta );
    my @header = (
        'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'resources/read', 'Mcp-Name' => 'file:///a',
        @field );
    $mcp->send_octets(
        $json->encode(
            {   jsonrpc => '2.0', id => 1, method => 'resources/read', params => { uri => 'file:///a', _meta => \%meta }
            } ),
        at      => $at,
        headers => \@header );
    my $got  = ( $peer->requests("/$at") )[-1];
    my $sent = $json->decode( $got->{body} )->{params}{_meta};
    return [
        ( map { $got->{headers}{$_}, $sent->{$_} } qw(traceparent tracestate) ), $got->{headers}{baggage},
        $sent->{baggage} ];
}
is_deeply(
    traced( { baggage => 'a=b' }, traceparent => $trace[0], tracestate => 'x=1', baggage => 'a=b' ),
    [ ( $trace[0] ) x 2, ('x=1') x 2, undef, undef ], 'a trace context goes up as field and _meta, baggage does not' );
is_deeply(
    traced( { traceparent => $trace[1] }, traceparent => $trace[0], tracestate => 'x=1' ),
    [ ( $trace[1] ) x 2, undef, undef, undef, undef ], '... that of _meta comes before the fields' );
for my $bad ( '00-' . '0' x 32 . '-b7ad6b7169203331-01', "$trace[0]-x", 'x', '' ) {
    is_deeply( traced( { traceparent => $bad } ), [ (undef) x 6 ], "... a malformed one is none: $bad" );
}

# ---- policy

my $rule = <<'REGO';
package custom.gateway

deny contains "no_secrets" if startswith(input.action.uri, "file:///secret/")

deny contains "no_secrets" if startswith(input.action.template, "file:///secret/")

deny contains "no_names" if {
	input.action.kind == "completion"
	input.arguments.argument.name == "password"
}

obligations["approve_by_ciba"] := true if input.action.uri == "file:///approved"
REGO
is( $mcp->rule($rule)->status, 201, 'a rule about URIs' );
my @secret = map { { uri => $_, name => 'x' } } 'file:///open/a', 'file:///secret/a';
($answer) = ask( 'resources/list', {}, answer( { resources => \@secret } ) );
is_deeply( listed( $answer, 'resources' ), ['file:///open/a'], 'a list hides what a read would deny' )
  or diag $answer->text;
($answer) = ask(
    'resources/templates/list', {},
    answer( { resourceTemplates => [ map { { uriTemplate => "file:///$_/{a}", name => 'x' } } qw(open secret) ] } ) );
is_deeply( listed( $answer, 'resourceTemplates' ), ['file:///open/{a}'], '... and so does a list of templates' )
  or diag $answer->text;
( $answer, $name ) = ask( 'resources/read', { uri => 'file:///secret/a' }, answer($contents) );
is_deeply(
    [ $answer->status, @{ $mcp->error($answer) }{qw(code message)} ], [ 200, 40300, 'Denied: no_secrets' ],
    'a read that policy denies' ) or diag $answer->text;
is( $peer->hits("/$name"), 0, '... is not sent' );
($row) =
  @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content} // [] };
is( $row->{outcome}, 'denied', '... and the audit row says so' );
( $answer, $name ) = ask(
    'completion/complete', { %ref, argument => { name => 'password', value => 'x' } },
    answer( { completion => { values => [] } } ) );
is_deeply(
    [ $mcp->error($answer)->{code}, $peer->hits("/$name") ], [ 40300, 0 ],
    'a completion that policy denies by its argument' ) or diag $answer->text;
( $answer, $name ) = ask( 'resources/read', { uri => 'file:///approved' }, answer($contents) );
is_deeply(
    [ $mcp->error($answer)->{code}, $peer->hits("/$name") ], [ 40300, 0 ],
    'an obligation that a read cannot meet denies it' ) or diag $answer->text;

# ---- scopes

$name = files( $modern, answer( { resources => \@entry } ), answer($contents) );
my %row =
  ( upstreamType => 'MCP', upstreamUrl => $peer->url("/$name"), mcpResources => 'live', defaultScope => 'files:read' );
$mcp->resource( $name, %row );
is_deeply(
    listed( $mcp->modern( 'resources/list', {}, at => $name ), 'resources' ), [ map { $_->{uri} } @entry ],
    'resources that need another scope are shown' );
$answer = $mcp->modern( 'resources/read', { uri => 'file:///a' }, at => $name );
is( $answer->status, 403, '... and a read asks for it' ) or diag $answer->text;
like( $answer->header('WWW-Authenticate'), qr/scope="mcp files:read"/, '... beside those that the token has' );
is( $mcp->modern( 'resources/read', { uri => 'file:///a' }, at => $name, token => $mcp->token('mcp files:read') )
      ->status, 200, '... with it the read goes on' );
done_testing;

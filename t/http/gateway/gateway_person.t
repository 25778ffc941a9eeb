# Calls of tools that need the person: an account that is not linked yet (gateway-admin.md 1.1, 3.5), and an approval
# (approve_by_ciba, gateway-admin.md 3.8; decisions.md "Gateway"). What policy sees of linked accounts in a list.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check   ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Inputs;
use Authz::Mcp      ();
use Authz::Peer     ();
use Authz::Stack    ();
use Authz::Upstream ();

my $stack =
  Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'Corp accounts' );
my $upstream = Authz::Upstream->start;
my $base     = $stack->base;
my $mcp      = Authz::Mcp->new($stack);
my ( $true, $false ) = ( JSON::PP::true(), JSON::PP::false() );
my $cb  = 'https://app.example/cb';
my %may = (
    grants    => ['authorization_code'], scopes => [ 'openid', 'mcp' ], gateway_scopes => ['*'],
    resources => ['urn:svc:gateway'] );
my @host  = $stack->make_client( 'host',  {%may}, clientName => 'The host',  redirectUris => [$cb] );
my @other = $stack->make_client( 'other', {%may}, clientName => 'The other', redirectUris => [$cb] );

sub browser_of {
    my ($sub) = @_;
    $idp->user( { sub => $sub, name => $sub, email => "$sub\@example.org" } );
    my $browser = Authz::Browser->new;
    $browser->follow("$base/gateway/connect");
    return $browser;
}
my %browser = map { ( $_ => browser_of($_) ) } qw(ann eve);

# The token of a person for /gateway/mcp, or another resource.
sub token_of {
    my ( $sub, $client, $resource ) = @_;
    $resource //= "$base/gateway/mcp";
    my $code = Authz::Grant->code(
        $stack, client => $client->[0], subject => $sub, scope => 'mcp', resource => $resource,
        redirect_uri => $cb );
    my $answer = Authz::Grant->redeem( $stack, $client, $code, redirect_uri => $cb, resource => $resource );
    return $answer->member('access_token') // die $answer->text;
}
my %token = map { ( $_ => token_of( $_, \@host ) ) } qw(ann eve);
$token{by_other} = token_of( 'ann', \@other );
my %urls = ( capabilities => { elicitation => { url => {} } } );

sub call {
    my ( $sub, $tool, $arguments, %option ) = @_;
    my ( $more, $revision ) = ( delete $option{params} // {}, delete $option{revision} // 'modern' );
    my $answer = $mcp->$revision(
        'tools/call', { name => $tool, arguments => $arguments, %$more },
        token => $sub eq '-' ? $mcp->{token} : $token{$sub}, %option );
    return $mcp->result($answer) // { none => $answer->text };
}

# The one question of a result: its key, and the address to open.
sub question {
    my ($result) = @_;
    my ($key)    = keys %{ $result->{inputRequests} // {} };
    my $params   = $key ? $result->{inputRequests}{$key}{params} : {};
    return ( $key, $params->{url}, $params->{message} );
}

sub answered {
    my ( $result, $action ) = @_;
    my ($key) = question($result);
    return (
        params => { inputResponses => { $key => { action => $action } }, requestState => $result->{requestState} } );
}
sub text_of { return $_[0]{content}[0]{text} // JSON::PP->new->canonical->encode( $_[0] ) }
sub calls   { return scalar $upstream->seen('api') }

sub newest {
    my ($what) = @_;
    return $stack->sql(
        "SELECT $what FROM audit_log WHERE operation LIKE '%cp%' AND endpoint LIKE '/gateway/mcp%' ORDER BY id DESC LIMIT 1"
    );
}

# What policy saw of the linked accounts when the tools were listed.
sub linked {
    my ($sub) = @_;
    my $answer = $mcp->modern( 'tools/list', {}, token => $token{$sub} );
    is( $answer->status, 200, "$sub lists the tools" ) or diag $answer->text;
    my $input = Authz::Check::decode_packed( newest(q{encode(policy_input, 'hex')}) );
    return { map { ( $_->{name} => $_->{linked} ) } @{ $input->{resources} } };
}

sub tool {
    my ( $name, %more ) = @_;
    return { name => $name, route => $name, inputSchema => { type => 'object' }, annotations => {}, %more };
}
my @routes = (
    { id => 'get',   methods => ['GET'],  path => '/items/{id}' },
    { id => 'erase', methods => ['POST'], path => '/erase' } );
my @tools = ( tool( 'get', args => { path => ['id'] } ), tool( 'erase', args => { body => '*' } ) );
my %shape = ( upstreamType => 'REST', upstreamUrl => $upstream->url('/api'), routes => \@routes, tools => \@tools );
$mcp->resource( 'notes', %shape, displayName => 'The notes', upstreamAuth => $upstream->auth );
$mcp->resource(
    'keyed', %shape,
    displayName  => 'The keyed',
    upstreamAuth => { type => 'user_secret', header => 'X-Key', scheme => '', label => 'Key' } );
$mcp->resource(
    'open', %shape, displayName => 'The open',
    upstreamAuth => { type => 'static_header', header => 'X-Key', scheme => '', value => 'good-key' } );

# ---- an account that is not linked

is_deeply(
    linked('ann'),
    { notes => $false, keyed => $false, open => undef },
    'a list: policy sees that no account is linked, and nothing where none is needed (3.8)' );
my $first = call( 'ann', 'notes__get', { id => '1' }, %urls );
is( $first->{resultType}, 'input_required', '2026-07-28: a tool without its account is input_required (1.1)' )
  or diag text_of($first);
my ( $key, $link, $message ) = question($first);
is( $key,                                              'link_notes',         '... with one question' );
is( $first->{inputRequests}{link_notes}{method},       'elicitation/create', '... an elicitation' );
is( $first->{inputRequests}{link_notes}{params}{mode}, 'url',                '... by URL' );
is( $message, 'Connect your The notes account to continue.',                 '... with its text' );
like( $link, qr{\A\Q$base\E/gateway/link\?state=v1\.[\w.-]+\z}, '... whose address has the signed state' );
unlike( $link, qr/ann/, '... and does not name the person' );
is( calls(), 0, 'the upstream was not asked' );

for my $case (
    [ 'without the capability', revision => 'modern' ],
    [ '2025-11-25',        revision => 'legacy', version => '2025-11-25' ],
    [ 'no version at all', revision => 'legacy' ] )
{
    my ( $name, %how ) = @$case;
    my $result = call( 'ann', 'notes__get', { id => '1' }, %how );
    ok( $result->{isError} && index( text_of($result), $link ) >= 0,
        "$name: an error of the tool whose text has the address (decisions.md \"Gateway\")" ) or diag text_of($result);
}
my $again = call( 'ann', 'notes__get', { id => '1' }, %urls, answered( $first, 'accept' ) );
is( $again->{resultType},    'input_required', 'accept without a connection: the same question again (3.5)' );
is( ( question($again) )[1], $link,            '... with the link that still waits' );
for my $no (qw(decline cancel)) {
    my $result = call( 'ann', 'notes__get', { id => '1' }, %urls, answered( $first, $no ) );
    ok( $result->{isError} && text_of($result) =~ /was not connected/, "$no: an error of the tool" );
    like(
        call( 'ann', 'notes__get', { id => '2' }, %urls, answered( $first, $no ) )->{none},
        qr/-32602/, '... and no answer to another call: the state is bound to the arguments (1.9)' );
    like(
        call( 'eve', 'notes__get', { id => '1' }, %urls, answered( $first, $no ) )->{none},
        qr/-32602/, '... nor to that of another person' );
}
like( text_of( call( '-', 'notes__get', { id => '1' }, %urls ) ), qr/user/, 'a token of no person: user_required' );
is( $browser{eve}->get($link)->status, 403, q{another person's browser gets 403 for the link} );

my $page = $browser{ann}->get($link);
my @hop  = $browser{ann}->submit( $page, button => [ decision => 'connect' ] );
like( $hop[-1]->body, qr/<h1>Connected/, 'the person connects the account' );
my $result = call( 'ann', 'notes__get', { id => '1' }, %urls, answered( $first, 'accept' ) );
ok( $result->{resultType} eq 'complete' && !$result->{isError}, 'the repeated call works' ) or diag text_of($result);
like(
    ( $upstream->seen('api') )[-1]{'header:authorization'},
    qr/\ABearer at-/, '... with the token of the account' );
$result = call( 'ann', 'notes__get', { id => '1' }, revision => 'legacy', version => '2025-11-25' );
ok( !$result->{isError}, '... and that of an older client' ) or diag text_of($result);
is( call( 'eve', 'notes__get', { id => '1' }, %urls )->{resultType}, 'input_required',
    '... not that of another person' );

# An upstream that asks for more scopes than the account has (RFC 6750 3.1).
$upstream->misbehave( api => { status => 403, challenge => 'Bearer error="insufficient_scope", scope="notes.admin"' } );
my $more = call( 'ann', 'notes__get', { id => '1' }, %urls );
is( $more->{resultType}, 'input_required', 'insufficient_scope of an upstream: input_required' ) or diag text_of($more);
my $asks = $browser{ann}->get( ( question($more) )[1] );
like( $asks->body, qr{<li><bdi>notes\.admin</bdi>}, '... with a page that names the scope' );
$browser{ann}->submit( $asks, button => [ decision => 'connect' ] );
$more = call( 'ann', 'notes__get', { id => '1' }, %urls, answered( $more, 'accept' ) );
ok( $more->{isError}, 'an upstream that refuses after the scope was granted: an error of the tool' )
  or diag text_of($more);
like( text_of($more), qr/does not let the connected account do this/, '... which says so' );
is( call( 'ann', 'notes__get', { id => '1' }, %urls )->{isError}, $true, '... and no further link' );
$upstream->behave;
ok( !call( 'ann', 'notes__get', { id => '1' }, %urls )->{isError}, '... the account works for other calls' );
my ($shown) = ( $upstream->seen('api') )[-1]{'header:authorization'} =~ /(at-\w+)/;
$upstream->misbehave( api => { status => 403, challenge => qq{Bearer error="insufficient_scope", scope="$shown"} } );
unlike(
    text_of( call( 'ann', 'notes__get', { id => '1' }, %urls ) ),
    qr/\Q$shown\E/, 'a challenge that repeats the credential does not reach the caller' );
$upstream->behave;
@hop = $browser{ann}->submit(
    $browser{ann}->get( ( question( call( 'ann', 'notes__get', { id => '1' }, %urls ) ) )[1] ),
    button => [ decision => 'connect' ] );

my $typed = call( 'ann', 'keyed__get', { id => '1' }, %urls );
is( $typed->{resultType}, 'input_required', 'user_secret: input_required' ) or diag text_of($typed);
my ($field) =
  $browser{ann}->submit( $browser{ann}->get( ( question($typed) )[1] ), button => [ decision => 'connect' ] );
my ($form) = Authz::Browser::forms($field);
is( $browser{ann}
      ->post( "$base/gateway/link", form => [ @{ $form->{fields} }, secret => 'good-key', decision => 'save' ] )
      ->status, 303, '... the person types the secret' );
$result = call( 'ann', 'keyed__get', { id => '1' }, %urls, answered( $typed, 'accept' ) );
ok( !$result->{isError} && $result->{resultType} eq 'complete', '... and the repeated call works' )
  or diag text_of($result);
is( ( $upstream->seen('api') )[-1]{'header:x-key'}, 'good-key', '... with the secret' );
is_deeply(
    linked('ann'),
    { notes => $true, keyed => $true, open => undef },
    'a list: policy sees that both are linked' );
is_deeply( linked('eve'), { notes => $false, keyed => $false, open => undef }, '... of that person alone' );
$stack->sql(q{UPDATE gateway_connection SET status = 'reauth_required' WHERE resource = 'notes'});
is_deeply( linked('ann')->{notes}, $false, '... and not an account that must be connected again' );

# ---- files of a person: resources of an MCP upstream are asked for with the account of the caller (1.6)

my $files = Authz::Peer->start( host => '127.0.0.1' );
$mcp->resource(
    'files',
    upstreamType => 'MCP', upstreamUrl => $files->url('/files'), mcpResources => 'live', displayName => 'The files',
    upstreamAuth => { type => 'user_secret', header => 'X-Key', scheme => '', label => 'Key' } );

# The URIs that a person is shown, or the text of an error.
sub files_of {
    my ($sub)  = @_;
    my $answer = $mcp->modern( 'resources/list', {}, at => 'files', token => $token{$sub} );
    my $result = $mcp->result($answer) // return $mcp->error($answer)->{message};
    return join ' ', map { $_->{uri} } @{ $result->{resources} };
}
like( files_of('ann'), qr{\Q$base/gateway/link}, 'a list of a person without an account names the link' );
for my $sub (qw(ann eve)) {
    my ($at)       = files_of($sub) =~ m{(\Q$base/gateway/link\E\S+)};
    my ($typed_in) = $browser{$sub}->submit( $browser{$sub}->get($at), button => [ decision => 'connect' ] );
    my ($key_form) = Authz::Browser::forms($typed_in);
    $browser{$sub}
      ->post( "$base/gateway/link", form => [ @{ $key_form->{fields} }, secret => "key-of-$sub", decision => 'save' ] );
}
for my $sub (qw(ann eve ann)) {
    $files->set(
        '/files' => [
            {   body => {
                    jsonrpc => '2.0', id => 1,
                    result  => {
                        resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => {},
                        resources  => [ { uri => "file:///home/$sub", name => $sub } ] } } } ] );
    is( files_of($sub),                                       "file:///home/$sub", "$sub sees own files alone" );
    is( ( $files->requests('/files') )[-1]{headers}{'x-key'}, "key-of-$sub",       '... by the own account' );
}
$mcp->resource( 'files', upstreamType => 'MCP', upstreamUrl => $files->url('/files'), enabled => $false );
my $rule = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => $true,
        content => "package custom.gateway\n\ndeny contains \"link_first\" if input.resource.linked == false\n" } );
is( $rule->status, 201, 'a rule that hides tools without their account' ) or diag $rule->text;
is_deeply(
    [ map { $_->{name} } @{ $mcp->result( $mcp->modern( 'tools/list', {}, token => $token{ann} ) )->{tools} } ],
    [qw(keyed__erase keyed__get open__erase open__get)], '... hides them' );

# ---- a call that the person approves

sub rules {
    my ($content) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => $true,
            content => "package custom.gateway\n\n$content" } );
    is( $answer->status, 200, 'a rule is saved' ) or diag $answer->text;
    return;
}
sub waiting { return $stack->sql('SELECT count(*) FROM ciba_request') }

# The person's answer on the page.
sub decide {
    my ( $sub, $url, $decision ) = @_;
    return ( $browser{$sub}->submit( $browser{$sub}->get($url), button => [ decision => $decision ] ) )[-1];
}
rules("obligations.approve_by_ciba := true if { input.action.kind == \"tool\"; input.action.name == \"erase\" }\n");
ok( !call( 'ann', 'open__get', { id => '1' } )->{isError}, 'a tool without the obligation is called at once' );
my $before = calls();
my %what   = ( what => 'everything', sure => $true );
$first = call( 'ann', 'open__erase', {%what}, %urls );
is( $first->{resultType}, 'input_required', 'approve_by_ciba: input_required (3.8)' ) or diag text_of($first);
( $key, my $url, $message ) = question($first);
is( $key,     'approve_open__erase',                    '... with one question' );
is( $message, 'Approve the call of erase at The open.', '... and its text' );
like( $url, qr{\A\Q$base\E/authorize/ciba\?request=[0-9a-f-]{36}&idp_hint=corp\z}, '... and the approval page' );
is( calls(),           $before,    'the upstream was not asked' );
is( newest('outcome'), 'rejected', '... and the audit row says so' );
like( newest('request_summary'), qr/"approval":"asked"/, '... with the state of the approval' );

for my $how ( [%urls], [ %urls, answered( $first, 'accept' ) ] ) {
    is( ( question( call( 'ann', 'open__erase', {%what}, @$how ) ) )[1], $url, 'a repeated call: the same request' );
}
is( waiting(), 1, '... so one waits' );
$result = call( 'ann', 'open__erase', {%what}, revision => 'legacy', version => '2025-11-25' );
ok( $result->{isError} && index( text_of($result), $url ) >= 0, 'an older client gets the address as text' )
  or diag text_of($result);
$result = call( 'ann', 'open__erase', {%what}, %urls, answered( $first, 'decline' ) );
ok( $result->{isError} && text_of($result) =~ /was not approved/, 'decline: an error of the tool' );
like( $browser{eve}->get($url)->body, qr/another account/, q{another person's browser does not see the request} );
$page = $browser{ann}->get($url);
like( $page->body,                            qr/The host/,   'the page shows the client' );
like( $page->body,                            qr/erase/,      '... the tool' );
like( $page->body,                            qr/everything/, '... and the arguments' );
like( decide( 'ann', $url, 'approve' )->body, qr/approved/i,  'the person approves' );
is( $stack->sql(q{SELECT count(*) FROM token_grant g JOIN ciba_request q ON q.id = g.id}), 0,
    '... which makes no family of tokens' );

for my $case (
    [ 'other arguments',  'ann',      'open__erase',  { what => 'more', sure => $true } ],
    [ 'fewer arguments',  'ann',      'open__erase',  { what => 'everything' } ],
    [ 'another person',   'eve',      'open__erase',  {%what} ],
    [ 'another client',   'by_other', 'open__erase',  {%what} ],
    [ 'another resource', 'ann',      'keyed__erase', {%what} ] )
{
    my ( $name, @call ) = @$case;
    is( call( @call, %urls )->{resultType}, 'input_required', "$name: not what was approved" );
}
is( calls(), $before, '... and the upstream was not asked' );
$result = call( 'ann', 'open__erase', {%what}, %urls, answered( $first, 'accept' ) );
ok( $result->{resultType} eq 'complete' && !$result->{isError}, 'the approved call works' ) or diag text_of($result);
is( calls(), $before + 1, '... and reaches the upstream' );
like( newest('request_summary'), qr/"approval":"given"/, '... with its word in the audit row' );
$again = call( 'ann', 'open__erase', {%what}, %urls, answered( $first, 'accept' ) );
is( $again->{resultType}, 'input_required', 'an approval is good for one call' );
isnt( ( question($again) )[1], $url, '... the next one is another request' );
is( calls(), $before + 1, '... and the upstream was not asked' );

decide( 'ann', ( question($again) )[1], 'deny' );
for my $how ( [%urls], [ revision => 'legacy' ], [ %urls, answered( $again, 'accept' ) ] ) {
    $result = call( 'ann', 'open__erase', {%what}, @$how );
    ok( $result->{isError} && text_of($result) =~ /user denied/, 'a call that the person denied is refused' )
      or diag text_of($result);
}
like( newest('request_summary'), qr/"approval":"refused"/, '... as the audit row says' );
$stack->sql(q{UPDATE ciba_request SET expires_at = now() - interval '1 second' WHERE state = 'denied'});
$again = call( 'ann', 'open__erase', {%what}, %urls );
is( $again->{resultType}, 'input_required', '... until the time of that request is over' );
decide( 'ann', ( question($again) )[1], 'approve' );
$stack->sql(q{UPDATE ciba_request SET expires_at = now() - interval '1 second' WHERE state = 'approved'});
is( call( 'ann', 'open__erase', {%what}, %urls )->{resultType}, 'input_required', 'an approval expires' );
is( calls(),                                                    $before + 1, '... and the upstream was not asked' );

$first = call( 'eve', 'notes__erase', {%what}, %urls );
is( ( question($first) )[0], 'link_notes', 'an account is linked before the call is approved' );

# Several calls at once.
$stack->sql('DELETE FROM ciba_request');

sub at_once {
    my ($count) = @_;
    my @pid;
    for ( 1 .. $count ) {
        my $pid = fork // die "fork: $!";
        if ( !$pid ) { call( 'ann', 'open__erase', {%what}, %urls ); require POSIX; POSIX::_exit(0) }
        push @pid, $pid;
    }
    waitpid $_, 0 for @pid;
    return;
}
at_once(4);
is( waiting(), 1, 'four calls at once: one request' );
decide( 'ann', "$base/authorize/ciba", 'approve' );
at_once(4);
is( calls(), $before + 2, '... and four after the approval: one call' );

# Who cannot be asked.
like( text_of( call( '-', 'open__erase', {%what}, %urls ) ), qr/user/, 'a token of no person: refused' );
$stack->sql('DELETE FROM ciba_request');
my $fits = 4096 - length '{"what":""}';
is( call( 'ann', 'open__erase', { what => 'x' x $fits }, %urls )->{resultType},
    'input_required', 'arguments of 4096 octets can be approved' );
$result = call( 'ann', 'open__erase', { what => 'x' x ( $fits + 1 ) }, %urls );
ok( $result->{isError} && text_of($result) =~ /too long/, '... one octet more cannot' );
call( 'ann', 'open__erase', { n => $_ }, %urls ) for 2 .. 10;
is( waiting(), 10, 'ten requests wait for one person' );
$result = call( 'ann', 'open__erase', { n => 11 }, %urls );
ok( $result->{isError} && text_of($result) =~ /too many open requests/, '... and no more (CIBA_OPEN_MAX)' );
is( calls(), $before + 2, 'nothing of that reached the upstream' );
my $proxied = $stack->http->request(
    POST    => '/gateway/open/erase',
    headers => [ Authorization => 'Bearer ' . token_of( 'ann', \@host, "$base/gateway/open" ) ] );
is( $proxied->status, 200, '(a request without MCP)' ) or diag $proxied->text;
rules("obligations.approve_by_ciba := true\n");
$proxied = $stack->http->request(
    POST    => '/gateway/open/erase',
    headers => [ Authorization => 'Bearer ' . token_of( 'ann', \@host, "$base/gateway/open" ) ] );
is( $proxied->status, 403,
    'a request without MCP is denied: its body cannot be shown to a person (decisions.md "Gateway")'
) or diag $proxied->text;
is( $proxied->json->{deny_reasons}[0]{code}, 'obligation_unknown', '... with the reason' );
is( calls(),                                 $before + 3,          '... and does not reach the upstream' );

inputs_ok($stack);
done_testing;

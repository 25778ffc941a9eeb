# Credentials at the gateway (issue: an upstream that echoes our credentials; no credential reaches the wrong upstream): what an
# upstream repeats is masked wherever it stands (gateway-admin.md 3.3), and each upstream gets its own credential and no other
# secret: not those of other upstreams, and no token, cookie or key of a caller (3.2).
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 qw(encode_base64);
use Test::More;

use Authz::Browser  ();
use Authz::Client   ();
use Authz::Idp      ();
use Authz::Managed  ();
use Authz::Mcp      ();
use Authz::Peer     ();
use Authz::Stack    ();
use Authz::Upstream ();

my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $base = $stack->base;
my $peer = Authz::Peer->start;
my $gate = Authz::Managed->new( $stack, client => 'robot' );
my $mcp  = Authz::Mcp->new($stack);

# ---- an upstream that repeats the credential

my $secret = 'sk-live-7f3a9155c1d29b8e';
my $stars  = '*' x length $secret;
my @all    = ( { id => 'all', path => '/**', methods => [ 'GET', 'HEAD', 'POST' ] } );

sub behind {
    my ( $name, $auth, %more ) = @_;
    return $gate->resource( $name, upstreamUrl => $peer->url, upstreamAuth => $auth, routes => \@all, %more );
}
my %ours = ( type => 'static_header', value => $secret );
behind( 'plain', \%ours );

# An answer in chunks, as they are given.
sub chunks {
    my ( $type, @chunk ) = @_;
    my $text = "HTTP/1.1 200 OK\r\nContent-Type: $type\r\nTransfer-Encoding: chunked\r\n\r\n";
    $text .= sprintf "%x\r\n%s\r\n", length, $_ for @chunk;
    return { raw => "${text}0\r\n\r\n" };
}
my @half = ( substr( $secret, 0, 9 ), substr $secret, 9 );
$peer->set(
    '/header' => {
        headers => [ 'X-Echo' => "Bearer $secret", 'X-Twice' => "$secret,$secret", "X-$secret" => 'name' ], body => {}
    },
    '/type' => { type   => "text/plain; token=$secret", body => 'x' },
    '/link' => { status => 302, headers => [ Location => "https://other.example/?access_token=$secret" ], body => '' },
    '/body'   => { type   => 'text/html', body => "<p>you sent Bearer $secret</p>" },
    '/status' => { status => 500,         body => { trace => { authorization => "Bearer $secret" } } },
    '/long'   => { type   => 'a/b',       body => 'x' x 150_000 . $secret . 'y' x 30_000 },
    '/chunks' => chunks( 'text/plain',        'a',      $half[0], "$half[1]b", "c$half[0]", 'd' ),
    '/single' => chunks( 'text/plain',        split //, "<$secret>" ),
    '/events' => chunks( 'text/event-stream', "data: 1\n\ndata: $half[0]", "$half[1]\n\n", "data: 3\n\n" ),
    '/drip'   => { %{ chunks( 'text/plain', "<$secret>" ) }, drip => 0.002 },
    '/tail'   => { type => 'text/plain', body => 'x' . substr( $secret, 0, -1 ) },
    '/start'  => { type => 'text/plain', body => 'x' . substr( $secret, 0, 15 ) },
    '/none'   => { type => 'text/plain', body => 'sk-live and nothing of it' } );

sub asks {
    my ( $name, $path, @more ) = @_;
    my $answer = $gate->ask( GET => $name, $path, @more );
    unlike( $answer->text, qr/\Q$secret\E/i, "$path: the credential does not come back" );
    return $answer;
}
my $answer = asks( 'plain', '/header' );
is_deeply(
    [ map { $answer->header($_) } 'X-Echo', 'X-Twice', "X-$stars" ], [ "Bearer $stars", "$stars,$stars", 'name' ],
    '... of a header field, its value and its name' );
is( asks( 'plain', '/type' )->header('Content-Type'), "text/plain; token=$stars",               '... of Content-Type' );
is( asks( 'plain', '/link' )->header('Location'), "https://other.example/?access_token=$stars", '... of a redirect' );
$answer = asks( 'plain', '/body' );
is( $answer->body,                     "<p>you sent Bearer $stars</p>", '... of a body' );
is( $answer->header('Content-Length'), length $answer->body,            '... whose length stays right' );
is( asks( 'plain', '/status' )->body,  qq({"trace":{"authorization":"Bearer $stars"}}), '... of an error' );
ok( asks( 'plain', '/long' )->body eq 'x' x 150_000 . $stars . 'y' x 30_000, '... of a long body, at its place' );
is( asks( 'plain', '/chunks' )->body, "a${stars}bc$half[0]d", '... across two chunks; half of it is none' );
is( asks( 'plain', '/single' )->body, "<$stars>",             '... octet by octet' );
is( asks( 'plain', '/drip' )->body,   "<$stars>",             '... slowly' );
is( asks( 'plain', '/events' )->body, "data: 1\n\ndata: $stars\n\ndata: 3\n\n", '... of a stream of events' );
is( asks( 'plain', '/tail' )->body,   'x' . '*' x ( length($secret) - 1 ),      '... without its last octet' );
is( asks( 'plain', '/start' )->body,  'x' . substr( $secret, 0, 15 ),           'fewer than 16 octets of it pass' );
is( asks( 'plain', '/none' )->body,   'sk-live and nothing of it',              'another body passes as it is' );
like( $stack->{service}->log_text, qr/repeats the credential/, 'the operator reads about it in the log' );
behind(
    'read', \%ours,
    routes => [ { id => 'all', path => '/**', obligations => { redact => ['/body/none'] } } ] );
$peer->set( '/json' => { body => { a => "x $secret" } } );
is( asks( 'read', '/json' )->body, qq({"a":"x $stars"}), '... and of an answer that is read whole' );
my ($row) = @{ $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/{name}/**&size=1' )->json->{content} };
ok( $row->{requestSummary}{credential_masked}, '... where the audit row says so' );

# What the mask could not see: the end of the credential, or another coding of it.
$peer->set(
    '/range' => { body => 'x' },
    '/coded' => { headers => [ 'Content-Encoding' => 'gzip' ],     body => 'x' },
    '/plain' => { headers => [ 'Content-Encoding' => 'identity' ], body => 'x' } );
behind( 'shared', \%ours );
$gate->ask( GET => 'shared', '/range', headers => [ Range => 'bytes=3-', 'If-Range' => '"1"' ] );
is_deeply(
    [ @{ ( $peer->requests('/range') )[-1]{headers} }{qw(range if-range)} ],
    [ undef, undef ],
    'Range is not passed on with a shared credential' );
is( asks( 'shared', '/coded' )->status, 502, 'a content coding that was not asked for is refused' );
is( asks( 'shared', '/plain' )->status, 200, '... identity is none' );

# Other types.
my $password = 'correct-horse-battery';
behind( 'basic', { type => 'basic', username => 'user', password => $password } );
my $coded = encode_base64( "user:$password", '' );
$peer->set( '/basic' => { type => 'text/plain', body => "$coded $password" } );
is( asks( 'basic', '/basic' )->body, '*' x length($coded) . ' ' . '*' x length($password),
    'Basic, and the password in it' );
behind( 'query', { type => 'static_header', query => 'key', value => 'a&b=c/0123456789abc' } );
$peer->set(
    '/query' => { type => 'application/json', body => '["key=a%26b%3Dc%2F0123456789abc","a&b=c\/0123456789abc"]' } );
$answer = asks( 'query', '/query' );
unlike( $answer->body, qr/0123456789abc/, 'a parameter, as it stands in the address and in JSON' );
is( length $answer->body, 56, '... at the same length' );

# An encoder of an answer chooses for each octet if it escapes it, and how (3.3). A tool of an MCP upstream says such a text within
# JSON, which the gateway reads.
my $key  = 's3/aB+c9/Zz01234+x==';
my @form = (
    [ 'PHP'               => 's3\/aB+c9\/Zz01234+x==' ],
    [ '.NET'              => 's3/aB\u002Bc9/Zz01234\u002Bx==' ],
    [ 'urllib.quote'      => 's3/aB%2Bc9/Zz01234%2Bx%3D%3D' ],
    [ 'a slash as \u002f' => 's3\u002faB+c9\u002fZz01234+x==' ],
    [ '%2F, plus plain'   => 's3%2FaB+c9%2FZz01234+x==' ],
    [ 'HTML'              => 's3/aB&#43;c9&#x2f;Zz01234&plus;x&equals;&#61;' ],
    [ 'each character as JSON has it'  => join '', map { sprintf '\u%04x', ord } split //, $key ],
    [ 'each character as addresses do' => join '', map { sprintf '%%%02X', ord } split //, $key ] );
behind( 'forms', { type => 'static_header', value => $key } );
for my $form (@form) {
    my ( $what, $text ) = @$form;
    $peer->set( '/form' => { type => 'text/plain', body => "<$text>" } );
    is( $gate->ask( GET => 'forms', '/form' )->body,
        '<' . '*' x length($text) . '>', "the credential with escapes is masked: $what" );
}
behind( 'short', { type => 'static_header', value => 'x' x 15 } );
$peer->set( '/short' => { type => 'text/plain', body => 'x' x 15 } );
is( asks( 'short', '/short' )->body, 'x' x 15, 'a credential of 15 octets is not searched for: it could be any word' );
behind( 'open', { type => 'none' } );
is( $gate->ask( GET => 'open', '/body' )->body, "<p>you sent Bearer $secret</p>",
    'without a credential nothing is searched' );

# Tools.
behind(
    'tools', \%ours,
    defaultScope => 'mcp',
    routes       => [ { id => 'body', path => '/body' }, { id => 'json', path => '/json' } ],
    tools        =>
      [ map { { name => $_, description => 'x', route => $_, inputSchema => { type => 'object' } } } qw(body json) ] );
for my $tool (qw(body json)) {
    $answer = $mcp->modern( 'tools/call', { name => $tool, arguments => {} }, at => 'tools' );
    ok( $mcp->result($answer), "a tool of a route ($tool)" ) or diag $answer->text;
    unlike( $answer->text, qr/\Q$secret\E/, '... whose result does not have it' );
    like( $answer->text, qr/\Q$stars\E/, '... but asterisks' );
}

sub rpc { my ($result) = @_; return $json->encode( { jsonrpc => '2.0', id => 1, result => $result } ) }
my $modern = rpc( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} } } );
my $tools =
  rpc( { tools => [ { name => 'echo', description => "Say $secret", inputSchema => { type => 'object' } } ] } );
my $said = rpc( { resultType => 'complete', content => [ { type => 'text', text => "you sent $secret" } ] } );
my ( $front, $back ) = $said =~ /\A(.*\Q$half[0]\E)(\Q$half[1]\E.*)\z/;
my $count = 0;
for my $case (
    [ 'JSON'               => { body => $said } ],
    [ 'a stream of events' => chunks( 'text/event-stream', ": hello\n\ndata: $front", "$back\n\n" ) ] )
{
    my ( $what, $reply ) = @$case;
    my $name = 'peer' . ++$count;
    $peer->set( "/$name" => [ { body => $modern }, { body => $tools }, { body => $modern }, $reply ] );
    $mcp->resource( $name, upstreamType => 'MCP', upstreamUrl => $peer->url("/$name"), upstreamAuth => \%ours );
    my $synced = $stack->admin( POST => "/admin/api/managed-resources/$name/sync" );
    is( $synced->status, 200, "an MCP server that answers with $what" ) or diag $synced->text;
    unlike(
        $stack->admin( GET => "/admin/api/managed-resources/$name" )->text, qr/\Q$secret\E/,
        '... its tools are stored without it' );
    $answer = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => $name );
    is_deeply(
        ( $mcp->result($answer) // {} )->{content},
        [ { type => 'text', text => "you sent $stars" } ],
        '... the result of a tool has asterisks' ) or diag $answer->text;
}

# The forms above: as the text of a block, and as its encoder wrote the JSON.
my $blank = rpc( { resultType => 'complete', content => [ { type => 'text', text => '<HERE>' } ] } );
my @said  = map {
    my ( $what, $text ) = @$_;
    (   [ $what, $blank =~ s/HERE/substr $json->encode($text), 1, -1/er ],
        [ "$what, of the JSON", $blank =~ s/HERE/$text/r ] )
} @form;
my $says = sub {
    my ($octets) = @_;
    $peer->set( '/said' =>
          { body => $modern, instead => { 'tools/list' => { body => $tools }, 'tools/call' => { body => $octets } } } );
};
$says->($blank);
$mcp->resource(
    'said',
    upstreamType => 'MCP', upstreamUrl => $peer->url('/said'),
    upstreamAuth => { type => 'static_header', value => $key } );
is( $stack->admin( POST => '/admin/api/managed-resources/said/sync' )->status, 200, 'an MCP server that escapes' );
for my $case (@said) {
    $says->( $case->[1] );
    $answer = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => 'said' );
    like(
        ( $mcp->result($answer) // {} )->{content}[0]{text},
        qr/\A<\*+>\z/, "the result of a tool, masked: $case->[0]" ) or diag $answer->text;
}

# ---- no credential at the wrong upstream

my %peer = map { $_ => Authz::Peer->start } qw(one two three four five token exchange mcp);
my %word = (
    one   => 'secret-of-one-0123456789', two => 'secret-of-two-0123456789', three => 'secret-of-three-0123456789',
    four  => 'secret-of-client-four-0123456789', five => 'secret-of-client-five-0123456789',
    typed => 'good-key',                         mcp  => 'secret-of-mcp-0123456789' );
my %issued = ( four => 'issued-for-four-0123456789', five => 'issued-for-five-0123456789' );
$peer{$_}->set( '/x' => { body => { ok => JSON::PP::true() } } ) for qw(one two three four five);
$peer{token}
  ->set( '/token' => { body => { access_token => $issued{four}, token_type => 'Bearer', expires_in => 3600 } } );
$peer{exchange}->set(
    '/token' => {
        body => {
            access_token      => $issued{five}, token_type => 'Bearer', expires_in => 3600,
            issued_token_type => 'urn:ietf:params:oauth:token-type:access_token' } } );
$peer{mcp}->set(
    '/mcp' => [
        map { { body => $_ } } $modern, rpc( { tools => [ { name => 'say', inputSchema => { type => 'object' } } ] } ),
        $modern,                        $said ] );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp' );
my $linked = Authz::Upstream->start;                              # oauth_link
my $typed  = Authz::Upstream->start;                              # user_secret
my $urn    = 'urn:ietf:params:oauth:grant-type:token-exchange';
my @app    = $stack->make_client(
    'app',
    {   scopes    => [ 'use', 'mcp' ], gateway_scopes => ['*'], grants => [ 'authorization_code', $urn ],
        resources => [ 'urn:svc:gateway', $peer{exchange}->url ] },
    redirectUris => [$Authz::Grant::REDIRECT] );

sub place {
    my ( $name, $auth, %more ) = @_;
    $gate->resource(
        $name,
        upstreamUrl => $peer{$name} ? $peer{$name}->url : undef, upstreamAuth => $auth,
        routes => [ { id => 'x', path => '/x', methods => [ 'GET', 'POST' ], forwardHeaders => ['X-Note'] } ], %more );
    return;
}
place( one   => { type => 'static_header', header   => 'X-Key', scheme   => '', value => $word{one} } );
place( two   => { type => 'basic',         username => 'u',     password => $word{two} } );
place( three => { type => 'static_header', query    => 'key',   value    => $word{three} } );
place(
    four => {
        type         => 'client_credentials', tokenEndpoint => $peer{token}->url('/token'), clientId => 'c4',
        clientSecret => $word{four} } );
place(
    five => {
        type     => 'token_exchange', tokenEndpoint => $peer{exchange}->url('/token'), issuer => $peer{exchange}->url,
        clientId => 'c5',
        clientSecret => $word{five}, tokenAuthMethod => 'client_secret_post' } );
place( linked => $linked->auth, upstreamUrl => $linked->url('/api') );
place(
    typed       => { type => 'user_secret', header => 'X-Key', scheme => '', label => 'Key' },
    upstreamUrl => $typed->url('/api') );
$mcp->resource(
    'server', upstreamType => 'MCP', upstreamUrl => $peer{mcp}->url('/mcp'),
    upstreamAuth => { type => 'static_header', value => $word{mcp} } );
is( $stack->admin( POST => '/admin/api/managed-resources/server/sync' )->status, 200, 'the tools of the MCP server' );

my %token =
  map { $_ => $idp->sign_in( $stack, \@app, 'ann', 'use', resource => "$base/gateway/$_" )->member('access_token') }
  qw(one two three four five linked typed);
$token{mcp} =
  $idp->sign_in( $stack, \@app, 'ann', 'mcp', resource => "$base/gateway/mcp/server" )->member('access_token');
my $browser = Authz::Browser->new;
$idp->user( { sub => 'ann', name => 'ann' } );
$browser->follow("$base/gateway/connect");
my @cookie = map { $_->{value} } $browser->cookies("$base/gateway/connect");
my @caller = (
    'cookie-of-the-caller-0123456789', 'admin-key-of-the-caller-0123', 'dpop-of-the-caller-0123456789',
    'csrf-of-the-caller-0123456789' );
my @headers = (
    Cookie => "sid=$caller[0]; other=" . ( $cookie[0] // 'none' ), 'X-Admin-API-Key' => $caller[1], DPoP => $caller[2],
    'X-CSRF-Token' => $caller[3], 'X-Note' => 'a note', 'Proxy-Authorization' => "Basic $caller[0]" );

sub calls {
    my ($name) = @_;
    return $gate->ask(
        POST => $name, '/x', token => $token{$name},
        headers => [ @headers, 'Content-Type' => 'text/plain' ], body => 'hello' );
}
for my $name (qw(linked typed)) {
    my $needed = calls($name);
    is( $needed->member('error'), 'link_required', "$name: the person must link an account" ) or diag $needed->text;
    my @hop = $browser->submit( $browser->get( $needed->member('link_url') ), button => [ decision => 'connect' ] );
    next if $name eq 'linked';
    my ($form) = Authz::Browser::forms( $hop[-1] );
    $browser->post(
        "$base/gateway/link",
        form => [ @{ $form->{fields} }, secret => $word{typed}, decision => 'save' ] );
}
for my $round ( 1, 2 ) {
    for my $name (qw(one two three four five linked typed)) {
        my $got = calls($name);
        is( $got->status, 200, "a call of $name" ) or diag $got->text;
    }
}
$answer = $mcp->modern( 'tools/call', { name => 'say', arguments => {} }, at => 'server', token => $token{mcp} );
ok( $mcp->result($answer), 'a call of the MCP server' ) or diag $answer->text;

# What each of them received, and the secrets that may be there.
my %seen = (
    (   map {
            $_ => join "\n",
              map { $json->encode($_) } $peer{$_}->requests
        } keys %peer ),
    linked => $linked->all_seen,
    typed  => $typed->all_seen );
my ($access) = $seen{linked} =~ /Bearer (at-[0-9a-f]+)/;
ok( $access, 'the linked account has a token' );
my %mine = (
    one      => [ $word{one} ], two => [ encode_base64( "u:$word{two}", '' ) ], three => [ $word{three} ],
    four     => [ $issued{four} ],
    five     => [ $issued{five} ], token => [ encode_base64( "c4:$word{four}", '' ) ],
    exchange => [ $word{five} ],   mcp   => [ $word{mcp} ], linked => [$access], typed => [ $word{typed} ] );
my %secret = map { $_ => 1 } values %word, values %issued, values %token, $access, @caller, $app[1], $secret, @cookie,
  map {@$_} values %mine;
ok( @cookie >= 1, 'the person has a session, whose cookie is searched for' );
for my $name ( sort keys %seen ) {
    my %own = map { $_ => 1 } @{ $mine{$name} };
    ok( index( $seen{$name}, $_ ) >= 0, "$name received its own credential" ) for keys %own;
    my @foreign = grep { !$own{$_} && index( $seen{$name}, $_ ) >= 0 } keys %secret;
    is_deeply( \@foreign, [], '... and none of ' . keys(%secret) . ' other secrets: of us, of upstreams, of callers' );
}
unlike(
    $seen{one}, qr/"(?:cookie|dpop|x-csrf-token|x-admin-api-key|proxy-authorization|authorization)"/,
    'no field of the caller that could hold one' );
like( $seen{one}, qr/"x-note":"a note"/, '... while a listed one passes' );
my $log = $stack->{service}->log_text;
is_deeply( [ grep { index( $log, $_ ) >= 0 && $_ ne $word{typed} } keys %secret ], [], 'none of them is in the log' );
my $rows = $stack->sql(q{SELECT string_agg(t::text, ' ') FROM audit_log t});
is_deeply( [ grep { index( $rows, $_ ) >= 0 && $_ ne $word{typed} } keys %secret ], [], '... or in an audit row' );

done_testing;

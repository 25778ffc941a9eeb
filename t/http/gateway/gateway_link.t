# Accounts that people link to managed resources (gateway-admin.md 3.5): the link and its state, the page, the subject check, the
# callback, the connections page, refreshing, and that no secret is shown anywhere.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser  ();
use Authz::Idp      ();
use Authz::Path     ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Upstream ();

my %settings = ( Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' );
my $stack    = Authz::Stack->start( settings => {%settings} );
my $idp      = Authz::Idp->start;

# An installation that is not complete yet.
for my $path ( '/gateway/connect', '/gateway/connect/notes' ) {
    my $page = Authz::Browser->new->get( $stack->base . $path );
    is( $page->status, 503, "$path without an identity provider: 503" );
    like( $page->body, qr/no identity provider is set up/, '... and a page that says why' );
}
$idp->register( $stack, idpId => 'corp', name => 'Corp accounts' );
my $upstream = Authz::Upstream->start;
my $base     = $stack->base;
$stack->make_client( 'app', undef, clientName => 'The app' );

# A managed resource, or another definition of it.
sub resource {
    my ( $name, $auth, %more ) = @_;
    my %document = (
        name => $name, displayName => "The $name", upstreamType => 'REST', upstreamUrl => $upstream->url('/api'),
        defaultScope => "$name:read", upstreamAuth => $auth, %more );
    my $made = $stack->admin( POST => '/admin/api/managed-resources', json => \%document );
    $made = $stack->admin( PUT => "/admin/api/managed-resources/$name", json => \%document ) if $made->status == 409;
    die "resource $name: " . $made->body if $made->status !~ /\A20[01]\z/;
    return;
}

sub linker_command {
    my @words = @_;
    return (
        name    => 'linker', env => $stack->settings,
        command => [ Authz::Path::program('t/gateway/linker'), @words ] );
}

# The answer of link_credential().
sub credential {
    my @words = @_;
    my ( $status, $text ) = Authz::Process->run( linker_command(@words) );
    die "linker: $status $text" if $status != 0;
    return JSON::PP::decode_json( ( grep {/\A\{/} split /\n/, $text )[-1] );
}

# A browser that signs in as somebody.
sub browser_of {
    my ($sub) = @_;
    $idp->user( { sub => $sub, name => $sub, email => "$sub\@example.org" } );
    my $browser = Authz::Browser->new;
    $browser->follow("$base/gateway/connect");
    return $browser;
}

sub fields {
    my ($answer) = @_;
    my ($form)   = Authz::Browser::forms($answer) or die 'no form: ' . $answer->body;
    return @{ $form->{fields} };
}

sub rows { my ($what) = @_; return $stack->sql( $what // q{SELECT count(*) FROM gateway_connection} ) }

sub audit {
    return $stack->sql(
        q{SELECT operation || ' ' || outcome || ' ' || http_status || ' ' || coalesce(subject_id, '') || ' ' || coalesce(request_summary, '') FROM audit_log ORDER BY id DESC LIMIT 1}
    );
}

# Opens a link, chooses Connect and goes to the end; the last answer.
sub connect_by {
    my ( $browser, $url ) = @_;
    my $page = $browser->get($url);
    my @hop  = $browser->submit( $page, button => [ decision => 'connect' ] );
    return $hop[-1];
}

resource( notes => $upstream->auth( accountPointer => '/account/login' ) );
my $ann = browser_of('ann');
browser_of('eve');

# ---- who needs a link

my $got = credential( '-', 'notes' );
is( $got->{error}, 'user_required', 'a token without a person: user_required (3.1)' );
$got = credential( 'app', 'notes' );
is( $got->{error}, 'user_required', 'a subject that is a client: user_required' );
$got = credential( 'ann', 'notes' );
is( $got->{error},  'link_required',   'a person without a connection: link_required (3.5)' );
is( $got->{linked}, JSON::PP::false(), '... and policy hears that nothing is linked' );
like(
    $got->{url}, qr{\A\Q$base\E/gateway/link\?state=v1\.[\w-]{32}\.[\w-]{43}\z},
    'the link has the state of 3.5, and nothing else' );
my $link = $got->{url};
is( credential( 'ann', 'notes' )->{url}, $link, 'asking again gives the link that still waits' );
isnt( credential( 'eve', 'notes' )->{url}, $link, 'another person gets another link' );
is( rows('SELECT count(*) FROM gateway_link_request'), 2, '... so there is one row for each' );
my ($state) = $link =~ /state=(.*)/;

# ---- a state that is not ours costs nothing

sub refused {
    my ( $answer, $status, $text, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, $status, $name );
    like( $answer->body, $text, '... and the page says so' );
    return is( rows(), 0, '... and nothing is connected' );
}
for my $bad (
    [ '',                                                   'an empty state' ],
    [ 'v1.x.y',                                             'a state of another form' ],
    [ $state =~ s/\Av1/v2/r,                                'a state of another version' ],
    [ substr( $state, 0, -1 ),                              'a state that is cut' ],
    [ $state =~ s/\.(.)/'.' . ( $1 eq 'A' ? 'B' : 'A' )/er, 'a state with another id' ],
    [ "${state}A",                                          'a state with more behind it' ],
    [ $state =~ s/(.)\z/$1 eq 'A' ? 'E' : 'A'/er,           'a state with another HMAC' ],
  )
{
    refused( $ann->get("$base/gateway/link?state=$bad->[0]"), 400, qr/This link cannot be used/, "$bad->[1]: 400" );
}
my $stranger = Authz::Browser->new;
refused(
    $stranger->get("$base/gateway/link?state=v1.x.y"), 400, qr/link_invalid/,
    'a state that is not ours leads to no sign-in' );

# ---- sign-in and the page

my @hop = Authz::Browser->new->follow($link);
is( $hop[0]->status, 302, 'without a session the link leads to the sign-in (5.7)' );
like( $hop[0]->header('Location'), qr/\A\Q$idp->{issuer}\E/, '... at the identity provider' );
my $page = $ann->get($link);
is( $page->status, 200, 'with a session the page is shown' );
like( $page->body, qr{<h1>Connect your account at <bdi>The notes</bdi>}, '... with the resource' );
like( $page->body, qr{<bdi>The app</bdi>},                               '... the client that asks' );
like( $page->body, qr{<li><bdi>notes\.read</bdi>},                       '... the scopes at the upstream' );
like( $page->body, qr{<dt>Requests go to</dt>\s*<dd><bdi>127\.0\.0\.1},  '... and the host of the upstream' );
like( $page->body, qr/ann\@example\.org/,                                '... and who is signed in' );
my $policy = $page->header('Content-Security-Policy');
like( $policy, qr/default-src 'none'/, 'the page has a strict Content-Security-Policy' );
like( $policy, qr/form-action 'self' (?:https: )?\Q$upstream->{url}\E/, '... whose form may lead to the upstream' );
is( $page->header('Cache-Control'), 'no-store', '... and is kept nowhere' );
unlike( $page->body, qr/<script/i, 'it needs no script' );
$ann->get($link) for 1 .. 2;
is( rows('SELECT count(*) FROM gateway_link_request WHERE used_at IS NOT NULL'), 0, 'a GET uses nothing up' );
my %form = fields($page);

# ---- another person

my $eve = browser_of('eve');
refused( $eve->get($link), 403, qr/belongs to another account/, q{Ann's link opened by Eve: 403} );
like( audit(), qr/\AshowLink rejected 403 eve .*"link_subject_mismatch"/, '... with an audit row' );
is( rows('SELECT count(*) FROM gateway_link_request WHERE used_at IS NOT NULL'), 0,
    '... and the link is as good as before' );
unlike( $eve->get($link)->body, qr/The notes|The app|ann@/, '... and tells nothing of it' );

# ---- forms that do not count

sub post {
    my ( $browser, $set, %option ) = @_;
    my %sent = ( %form, decision => 'connect', %$set );
    return $browser->post(
        "$base/gateway/link", form => [ map { ( $_ => $sent{$_} ) } grep { defined $sent{$_} } sort keys %sent ],
        %option );
}
refused( post( $ann, { token => undef } ),    400, qr/another session/, 'a form without its token (CSRF): 400' );
refused( post( $ann, { token => 'x' x 43 } ), 400, qr/another session/, 'a form with another token: 400' );
refused( post( $eve, {} ), 400, qr/another session/, q{another person's session with Ann's form: 400} );
refused(
    post( $ann, {}, headers => [ 'Sec-Fetch-Site' => 'cross-site' ] ), 400, qr/another session/,
    'a form of another site: 400' );
refused( post( $ann, { decision => 'allow' } ),  400, qr/decision/,     'another decision: 400' );
refused( post( $ann, { state    => 'v1.x.y' } ), 400, qr/link_invalid/, 'another state: 400' );
my ($other) = credential( 'eve', 'notes' )->{url} =~ /state=(.*)/;
refused(
    post( $ann, { state => $other } ), 400, qr/another session/,
    q{the token of one link with another's state: 400} );
refused(
    post( browser_of('ann'), {} ), 400, qr/another session/,
    q{the form of an earlier session of the same person: 400} );
is( scalar $upstream->seen('authorize'), 0, 'nobody has been sent to the upstream' );

# ---- Connect

my $answer = post( $ann, {} );
is( $answer->status, 303, 'Connect leads to the upstream: 303' );
my $to   = $answer->header('Location');
my %sent = Authz::Browser::query($to);
like( $to, qr/\A\Q$upstream->{url}\E\/authorize\?/, '... at its authorization endpoint' );
is_deeply(
    [ @sent{qw(response_type client_id redirect_uri scope code_challenge_method)} ],
    [ 'code', 'gateway', "$base/gateway/connect/callback", 'notes.read', 'S256' ],
    '... with the parameters of RFC 6749 and PKCE' );
unlike( $to, qr/ann|\Q$state\E/, '... and nothing that names the person or the link' );
like( audit(), qr/\AanswerLink allowed 303 ann .*"begun"/, '... and an audit row' );
refused( post( $ann, {} ), 410, qr/used already/, 'the same form again: 410, the link is good once' );
refused( $ann->get($link), 410, qr/used already/, 'the same link again: 410' );

# ---- the callback

my $callback = $ann->request( GET => $to )->header('Location');
like( $callback, qr{\A\Q$base\E/gateway/connect/callback\?}, 'the upstream sends the browser back' );
refused( $eve->get($callback),                400, qr/link_invalid/, q{another person's browser: 400} );
refused( Authz::Browser->new->get($callback), 400, qr/link_invalid/, 'a browser without a session: 400' );
refused( browser_of('ann')->get($callback),   400, qr/link_invalid/, 'another session of the same person: 400' );
refused( $ann->get( $callback =~ s/state=[^&]*/state=x/r ),  400, qr/link_invalid/, 'another state: 400' );
refused( $ann->get("$base/gateway/connect/callback?code=x"), 400, qr/link_invalid/, 'no state: 400' );
is( scalar $upstream->seen('token'), 0, '... and no code was redeemed' );
$answer = $ann->get($callback);
is( $answer->status,             303,                                        'the right browser: 303' );
is( $answer->header('Location'), "$base/gateway/connect?answered=connected", '... to the page of connections' );
like( audit(), qr/\AlinkCallback allowed 303 ann .*"connected"/, '... with an audit row' );
my ($token) = $upstream->seen('token');
is_deeply(
    [ @{$token}{qw(grant_type client_id redirect_uri)} ],
    [ 'authorization_code', 'gateway', "$base/gateway/connect/callback" ],
    'the code was redeemed as RFC 6749 4.1.3 has it' );
is( $token->{'header:accept'}, 'application/json',
    '... with Accept: application/json (GitHub answers otherwise with a form)' );
$page = $ann->get("$base/gateway/connect?answered=connected");
like( $page->body, qr/<h1>Connected/,               'the page confirms it' );
like( $page->body, qr/You can close this window/,   '... and what to do' );
like( $page->body, qr{<dd><bdi>ann-at-notes</bdi>}, '... with the account (accountPointer)' );
like( $page->body, qr{<dd><bdi>notes\.read</bdi>},  '... and the scopes' );
unlike( $eve->get("$base/gateway/connect")->body, qr/The notes/, 'another person does not see it' );
is( $ann->get($callback)->status,    400, 'the same callback again: 400, the state is good once' );
is( scalar $upstream->seen('token'), 1,   '... and no second code was redeemed' );

# ---- the credential

$got = credential( 'ann', 'notes' );
is_deeply( [ @{$got}{qw(error header)} ], [ '', 'Authorization' ], 'the person has a credential now' );
like( $got->{value}, qr/\ABearer at-[0-9a-f]{32}\z/, '... the access token with its scheme' );
ok( $got->{linked}, '... and policy hears that it is linked' );
is( credential( 'eve', 'notes' )->{error}, 'link_required', 'another person has none' );

# ---- refreshing

$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
$upstream->misbehave( token => { delay => 1 } );
my @running = map { Authz::Process->start( linker_command( 'ann', 'notes' ) ) } 1 .. 20;
my %value;
for my $process (@running) {
    $process->wait(60);
    $value{ JSON::PP::decode_json( ( grep {/\A\{/} $process->log_lines )[-1] )->{value} // '' }++;
}
my @refreshes = grep { $_->{grant_type} eq 'refresh_token' } $upstream->seen('token');
is( scalar @refreshes,          1,  '20 calls at once with an expired token: one refresh' );
is( join( ' ', values %value ), 20, '... and all use what it got' );
isnt( ( keys %value )[0], $got->{value}, '... a new token' );

# ---- the lease

$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
my $refreshing = Authz::Process->start( linker_command( 'ann', 'notes' ) );
Authz::Process::until_true(
    10,
    sub { rows('SELECT count(*) FROM gateway_connection WHERE refreshing_until > now()') == 1 } );
is( rows(q{SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'}),
    0, 'no transaction is open while the token endpoint is asked (architecture.md 4)' );
$refreshing->wait(60);
is( rows('SELECT count(*) FROM gateway_connection WHERE refreshing_until IS NULL'), 1,
    '... and the lease is given back' );

$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
$refreshing = Authz::Process->start( linker_command( 'ann', 'notes' ) );
Authz::Process::until_true(
    10,
    sub { rows('SELECT count(*) FROM gateway_connection WHERE refreshing_until > now()') == 1 } );
$stack->sql(q{UPDATE gateway_connection SET secret_sealed = secret_sealed || '\\x00', last_error = 'replaced'});
$refreshing->wait(60);
is( rows('SELECT last_error FROM gateway_connection'),
    'replaced', 'a connection that was replaced during the refresh is not written over' );
$stack->sql(q{UPDATE gateway_connection SET secret_sealed = substr(secret_sealed, 1, length(secret_sealed) - 1)});
$upstream->behave;
ok( !!connect_by( $ann, credential( 'ann', 'notes' )->{url} ), '... and the person connects again' );

$stack->sql(
    q{UPDATE gateway_connection SET expires_at = now() + interval '30 seconds', refreshing_until = now() + interval '1 hour'}
);
$got = credential( 'ann', 'notes' );
is( $got->{error}, '', 'while another process refreshes, a token that still works is used' );
$stack->sql(
    q{UPDATE gateway_connection SET expires_at = now() - interval '1 second', refreshing_until = now() + interval '1 second'}
);
my $after = credential( 'ann', 'notes' );
is( $after->{error}, '', 'a lease of a process that died ends, and the next call refreshes' );
isnt( $after->{value}, $got->{value}, '... the token' );
$upstream->forget;
$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
credential( 'ann', 'notes' );

my $now = credential( 'ann', 'notes' )->{value};
$stack->sql(q{UPDATE gateway_connection SET refreshed_at = now() - interval '1 hour'});
my $forced = credential( 'ann', 'notes', $now );
isnt( $forced->{value}, $now, 'a token that the upstream refuses is refreshed at once' );
is( credential( 'ann', 'notes', $now )->{value}, $forced->{value},
    '... and a later call with the old one gets the new one without another' );
is( scalar( grep { $_->{grant_type} eq 'refresh_token' } $upstream->seen('token') ), 2,
    '... so there was one refresh' );
$got = credential( 'ann', 'notes', $forced->{value} );
is( $got->{error}, 'link_required', 'a token that is refused right after its refresh: link_required' );
is( rows('SELECT status FROM gateway_connection'), 'reauth_required', '... and the connection must be made again' );
$page = $ann->get("$base/gateway/connect");
like( $page->body, qr/does not work any more/, '... which the page says' );

sub reconnect {
    my $done = connect_by( $ann, credential( 'ann', $_[0] // 'notes' )->{url} );
    return $done->body =~ /<h1>Connected/;
}
ok( reconnect(), 'the person connects again' );
is( rows(), 1, '... in place of the old connection' );

$stack->sql(q{UPDATE gateway_connection SET expires_at = now() + interval '30 seconds'});
$upstream->misbehave( token => { status => 503, body => 'busy' } );
is( credential( 'ann', 'notes' )->{error}, '',
    'a refresh before the end that fails: the token that still works is used' );
$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
is( credential( 'ann', 'notes' )->{error}, 'upstream_invalid_response', '... after the end: 502' );
$upstream->misbehave( token => { close => 1 } );
is( credential( 'ann', 'notes' )->{error}, 'upstream_unreachable', 'a token endpoint that does not answer: 502' );
is( rows('SELECT status FROM gateway_connection'), 'active',       '... and the tokens are kept' );
$upstream->behave;
is( credential( 'ann', 'notes' )->{error}, '', '... for when it works again' );
$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
$upstream->misbehave( token => { status => 200, body => '{"error":"invalid_grant"}' } );
is( credential( 'ann', 'notes' )->{error}, 'link_required', 'invalid_grant, even with status 200: link_required' );
is( rows(q{SELECT status || ' ' || last_error FROM gateway_connection}), 'reauth_required invalid_grant',
    '... and the row says why' );
$upstream->behave;
ok( reconnect(), 'the person connects again' );

# ---- scopes

resource( notes => $upstream->auth( scopes => [ 'notes.read', 'notes.write' ] ) );
$got = credential( 'ann', 'notes' );
is( $got->{error}, 'link_required', 'a scope that the connection lacks: link_required' );
is_deeply( $got->{missing}, ['notes.write'], '... which names it' );
$upstream->misbehave( scope => 'notes.read' );
my $partial = connect_by( $ann, $got->{url} );
like( $partial->body, qr/Connected in part/, 'an upstream that grants less: the page says so' );
is_deeply( credential( 'ann', 'notes' )->{missing}, ['notes.write'], '... and the scope is still missing' );
$upstream->behave;
ok( reconnect(), 'with all scopes it works' );
is( credential( 'ann', 'notes' )->{error}, '', '... for calls too' );

# ---- step-up: the upstream asks for more scopes (RFC 6750 3.1)

resource( notes => $upstream->auth );
$now = credential( 'ann', 'notes' )->{value};
$got = credential( 'ann', 'notes', $now, 'notes.admin' );
is( $got->{error}, 'link_required', 'a scope that the upstream asks for: link_required' );
is_deeply( $got->{missing}, ['notes.admin'], '... which names it' );
is( credential( 'ann', 'notes', $now, 'notes.admin' )->{url},
    $got->{url}, '... asked again before the person came, it is the same link' );
like( $ann->get( $got->{url} )->body, qr{<li><bdi>notes\.admin</bdi>}, '... and the page names the scope' );
$upstream->misbehave( scope => 'notes.read' );
connect_by( $ann, $got->{url} );
$now = credential( 'ann', 'notes' )->{value};
$got = credential( 'ann', 'notes', $now, 'notes.admin' );
is( $got->{error}, 'upstream_auth', 'a server that does not grant it: after one round the call fails' );
is( rows('SELECT status FROM gateway_connection'), 'active', '... and the connection stays' );
is( $stack->admin( GET => '/admin/api/managed-resources/notes' )->json->{status} =~ /error|degraded/ ? 1 : 0,
    0, '... as does the status of the resource' );
$got = credential( 'ann', 'notes', $now, 'notes.other' );
is( $got->{error}, 'link_required', 'another scope is another round' );
$upstream->behave;
connect_by( $ann, $got->{url} );
like(
    ( $upstream->seen('authorize') )[-1]{scope}, qr/\Anotes\.read notes\.admin notes\.other\z/,
    '... in which all scopes are asked for' );
$now = credential( 'ann', 'notes' )->{value};
is( credential( 'ann', 'notes', $now, 'notes.other' )->{error},
    'upstream_auth', 'an upstream that refuses what it granted: the call fails' );
is( credential( 'ann', 'notes', $now, 'notes.read' )->{error}, 'upstream_auth', '... also for a configured scope' );

# ---- another configuration

resource( notes => $upstream->auth( scopes => ['notes.read'], clientId => 'another' ) );
is( credential( 'ann', 'notes' )->{error}, 'link_required',
    'a resource with another client at the upstream: the connection does not count' );
resource( notes => $upstream->auth );
is( credential( 'ann', 'notes' )->{error}, '', '... until it is as it was' );

# ---- hostile answers

my $shown = rows('SELECT max(id) FROM gateway_connection');
for my $case (
    [ { token => { status => 500, body => '<html>' } }, qr/upstream_invalid_response/, 'a token endpoint that fails' ],
    [   { token => { status => 400, error => 'invalid_grant', access_token => undef } }, qr/upstream_invalid_response/,
        'a code that it refuses' ],
    [ { token => { body => '[1]' } }, qr/upstream_invalid_response/, 'an answer that is no object' ],
    [   { token => { body => '{"access_token":"a","access_token":"b"}' } }, qr/upstream_invalid_response/,
        'an answer with a member twice' ],
    [   { token => { access_token => "a\r\nX-Evil: 1" } }, qr/upstream_invalid_response/,
        'a token that would begin a header' ],
    [ { token => { access_token  => '' } },          qr/upstream_invalid_response/, 'an empty token' ],
    [ { token => { access_token  => 'x' x 8001 } },  qr/upstream_invalid_response/, 'a token beyond the limit' ],
    [ { token => { token_type    => 'DPoP' } },      qr/upstream_invalid_response/, 'a token of another type' ],
    [ { token => { refresh_token => 7 } },           qr/upstream_invalid_response/, 'a refresh token that is no text' ],
    [ { token => { error         => 'slow_down' } }, qr/upstream_invalid_response/, 'an error with status 200' ],
    [ { token => { body          => ' ' x 70_000 } }, qr/upstream_unreachable/,     'an answer beyond the limit' ],
    [ { token => { close         => 1 } },            qr/upstream_unreachable/,     'no answer' ],
    [   { authorize => { error => 'server_error' } }, qr/upstream_invalid_response/,
        'an error of the authorization endpoint' ],
    [ { authorize => { error => 'access_denied' } }, qr/No access was given/, 'a person who declines there' ],
    [ { authorize => { code  => undef } },           qr/link_invalid/,        'neither code nor error' ],
  )
{
    $stack->sql('DELETE FROM gateway_connection');
    my $url = credential( 'ann', 'notes' )->{url};
    $upstream->misbehave( %{ $case->[0] } );
    my $end = connect_by( $ann, $url );
    like( $end->body, $case->[1], "$case->[2]: refused" );
    is( rows(), 0, '... and nothing is stored' );
    $upstream->behave;
}

# ---- the issuer of the answer (RFC 9207)

resource( issued => $upstream->auth( issuer => $upstream->url ) );
for my $case (
    [ 'https://other.example', qr/link_invalid/,  'the iss of another server: refused' ],
    [ $upstream->url,          qr/<h1>Connected/, 'the right iss: accepted' ] )
{
    my $url = credential( 'ann', 'issued' )->{url};
    $upstream->misbehave( authorize => { iss => $case->[0] } );
    like( connect_by( $ann, $url )->body, $case->[1], $case->[2] );
}
$upstream->behave;

# ---- discovery and registration

resource(
    found => $upstream->auth(
        discovery => 'prm', registration => 'dcr',
        map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint) ) );
$upstream->forget;
ok( reconnect('found'), 'endpoints by RFC 9728 and RFC 8414, client by RFC 7591' );
my ($registered) = $upstream->seen('register');
is_deeply(
    $registered->{redirect_uris}, ["$base/gateway/connect/callback"],
    '... registered with our one redirect_uri' );
is( ( $upstream->seen('authorize') )[0]{resource}, $upstream->url('/api'), '... and resource is sent (RFC 8707)' );
like(
    ( $upstream->seen('token') )[0]{'header:authorization'}, qr/\ABasic /,
    '... with the secret that the server gave' );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect('found'), 'a second link' );
is( scalar $upstream->seen('register'), 1,     '... uses the same registration' );
is( $registered->{application_type}, 'native', '... as a native client, since the issuer is on http (MCP, RFC 7591)' );

# Where the metadata is, and what to ask for, as the upstream's challenge says (RFC 9728 5.1).
my %found =
  map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint scopes);
$upstream->misbehave( resource => { scopes_supported => [ 'notes.list', 'bad scope', 7 ] } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
resource( found => $upstream->auth( discovery => 'prm', registration => 'dcr', %found ) );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect('found'), 'a resource without configured scopes' );
is( ( $upstream->seen('authorize') )[-1]{scope}, 'notes.list', '... asks for scopes_supported of the metadata' );
$upstream->misbehave(
    resource => { status    => 404 },
    api      => { challenge => 'Bearer resource_metadata="' . $upstream->url('/named') . '", scope="notes.call"' } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect('found'), 'an upstream whose metadata is where its 401 says' );
is( ( $upstream->seen('authorize') )[-1]{scope}, 'notes.call', '... is asked for the scopes of the challenge' );
for my $case (
    [ 'http://192.0.2.1/named',           'an address that may not be asked' ],
    [ $upstream->url('/named?elsewhere'), 'a document of another resource' ] )
{
    $upstream->misbehave(
        resource => { status    => 404 }, named => { resource => 'https://elsewhere.example/' },
        api      => { challenge => qq{Bearer resource_metadata="$case->[0]"} } );
    $stack->sql('DELETE FROM gateway_connection');
    like(
        $ann->get( credential( 'ann', 'found' )->{url} )->body,
        qr/upstream_unreachable/, "$case->[1] does not count" );
}
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;
resource(
    found => $upstream->auth(
        discovery => 'prm', registration => 'dcr',
        map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint) ) );
$stack->sql('DELETE FROM gateway_connection');
ok( reconnect('found'), 'back at the usual place' );

# The upstream names another authorization server than the one that the person chose.
my $other = Authz::Upstream->start;
$upstream->misbehave( resource => { authorization_servers => [ $other->url ] } );
$stack->sql('DELETE FROM fetched_document');
is( credential( 'ann', 'found' )->{error}, '', 'an upstream that names another server: the token still works' );
$stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
is( credential( 'ann', 'found' )->{error}, 'link_required', '... and when it ends, the person has to choose again' );
is( scalar $other->seen('token'),          0, '... and the refresh token did not go to the other server' );
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
is( credential( 'ann', 'found' )->{error}, '', 'back at the first one, the refresh token is good' );
$stack->sql('DELETE FROM gateway_connection');
my @way = $ann->submit(
    $ann->get( credential( 'ann', 'found' )->{url} ),
    button => [ decision => 'connect' ],
    stop   => qr{/gateway/connect/callback} );
$upstream->misbehave( resource => { authorization_servers => [ $other->url ] } );
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;    # it remembers documents
@way = $ann->follow( Authz::Browser::location( $way[-1] ) );
like( $way[-1]->body, qr/link_expired/, 'it names another one while the person is away: the link is refused' );
is( scalar $other->seen('token'), 0, '... and the code did not go to the other server (RFC 9700 4.4)' );
$upstream->behave;
$stack->sql('DELETE FROM fetched_document');
$stack->restart_service;

my $document = $stack->http->get('/.well-known/svc-gateway-client.json');
is( $document->status,              200,                                         'our own client metadata document' );
is( $document->member('client_id'), "$base/.well-known/svc-gateway-client.json", '... names itself as client_id' );
is_deeply( $document->member('redirect_uris'), ["$base/gateway/connect/callback"], '... with our redirect_uri' );

# ---- the differences between providers

resource(
    odd => $upstream->auth(
        tokenAuthMethod    => 'client_secret_post', clientSecret => 'secret-' . 'e' x 32, tokenBodyFormat => 'json',
        pkce               => 'none',
        scopes             => [ 'a', 'b' ],    scopeSeparator => ',', scopeParam => 'user_scope',
        authorizeParams    => { team => 'x' }, tokenParams    => { extra => 'y' },
        accessTokenPointer => '/person/access_token' ) );
$upstream->forget;
$upstream->misbehave(
    token => { person => { access_token => 'at-' . 'f' x 32, scope => 'a,b', token_type => 'user' } } );
ok( reconnect('odd'), 'a provider that differs' );
my ($asked) = $upstream->seen('authorize');
is_deeply(
    [ @{$asked}{qw(user_scope team)} ], [ 'a,b', 'x' ],
    '... gets scopeParam, scopeSeparator and authorizeParams' );
ok( !exists $asked->{scope} && !exists $asked->{code_challenge}, '... no scope, and no PKCE' );
my ($redeemed) = $upstream->seen('token');
is_deeply(
    [ @{$redeemed}{qw(header:content-type client_secret extra)} ], [ 'application/json', 'secret-' . 'e' x 32, 'y' ],
    '... and JSON with client_secret_post and tokenParams' );
is( credential( 'ann', 'odd' )->{value}, 'Bearer at-' . 'f' x 32, '... and its token stands at accessTokenPointer' );
$upstream->behave;

# ---- a secret that the person types

resource(
    keyed => {
        type => 'user_secret', header => 'X-Key', scheme => '', label => 'Key of The keyed',
        help => 'Make one in your settings.', validate => { method => 'GET', path => '/me' } } );
my $typed = $ann->get( credential( 'ann', 'keyed' )->{url} );
unlike( $typed->body, qr/<input[^>]*type="password"/, 'user_secret: the first page asks for no secret' );
( my $field ) = $ann->submit( $typed, button => [ decision => 'connect' ] );
like( $field->body, qr/<input[^>]*type="password".*Cancel/s,             'after Connect there is a field' );
like( $field->body, qr/Key of The keyed.*|Make one in your settings\./s, '... with its label and help' );

sub type_in {
    my ( $shown, $secret ) = @_;
    my %own = fields($shown);
    return $ann->post( "$base/gateway/link", form => [ %own, secret => $secret, decision => 'save' ] );
}
my $wrong = type_in( $field, 'bad-key' );
like( $wrong->body, qr/It was refused/, 'a secret that the upstream refuses (validate): the page asks again' );
unlike( $wrong->body, qr/bad-key/, '... without showing it' );
like( type_in( $field, 'a b' )->body, qr/a space/, 'a secret with a space: refused' );
is( type_in( $field, 'good-key' )->status, 303, 'a good secret: stored' );
is( type_in( $field, 'good-key' )->status, 410, '... once' );
$got = credential( 'ann', 'keyed' );
is_deeply( [ @{$got}{qw(error header value)} ], [ '', 'X-Key', 'good-key' ], '... and it is the credential' );
is( credential( 'ann', 'keyed', 'good-key' )->{error}, 'link_required', 'once the upstream refuses it: link_required' );

# ---- Cancel, return_to

my $cancel = $ann->get( credential( 'ann', 'keyed' )->{url} );
@hop = $ann->submit( $cancel, button => [ decision => 'cancel' ] );
like( $hop[-1]->body, qr/<h1>Not connected/, 'Cancel connects nothing' );
$stack->sql('DELETE FROM gateway_connection');
my $own = $ann->get("$base/gateway/connect/notes?return_to=/portal/x%3Fa=1");
is( $own->status, 303, 'connecting without a client leads to the page of the link' );
is( connect_by( $ann, $own->header('Location') ) && $ann->url, "$base/portal/x?a=1",
    '... and at the end to return_to' );

for my $evil ( 'https://evil.example/', '//evil.example/', '/\\evil.example/', 'evil', '/a%0Ab', 'javascript:alert(1)' )
{
    is( $ann->get("$base/gateway/connect/notes?return_to=$evil")->status, 400, "return_to $evil: 400" );
}
is( $ann->get("$base/gateway/connect/none")->status, 400, 'an unknown resource: 400' );
resource( plain => { type => 'none' } );
is( $ann->get("$base/gateway/connect/plain")->status, 400, 'a resource without accounts of people: 400' );

# ---- Disconnect

my $list = $ann->get("$base/gateway/connect");
my %gone = fields($list);
is( $ann->post( "$base/gateway/connect/notes/disconnect", form => [ token => 'x' x 43 ] )->status, 400,
    'Disconnect with another token: 400' );
is( $eve->post( "$base/gateway/connect/notes/disconnect", form => [%gone] )->status, 400,
    q{... with another person's: 400} );
is( rows(), 1, '... and nothing is disconnected' );
$upstream->forget;
is( $ann->post( "$base/gateway/connect/notes/disconnect", form => [%gone] )->status, 303, 'Disconnect' );
is( rows(),                                                                          0, '... deletes the connection' );
like(
    ( $upstream->seen('revoke') )[0]{token}, qr/\Art-/,
    '... and revokes the refresh token at the upstream (RFC 7009)' );
like( audit(), qr/\Adisconnect allowed 303 ann .*"disconnected"/, '... with an audit row' );

# ---- expiry, rotation of the secret

$link = credential( 'ann', 'notes' )->{url};
$page = $ann->get($link);
%form = fields($page);
$stack->sql(q{UPDATE gateway_link_request SET expires_at = now() - interval '1 second'});
refused( post( $ann, {} ), 410, qr/link_expired/, 'a link whose time is over: 410' );
$stack->{settings}{SVC_GATEWAY_LINK_STATE_SECRET} = 'first-link-state-secret';
$stack->restart_service;
my $first = credential( 'ann', 'notes' )->{url};
is( $ann->get($first)->status, 200, 'a link of SVC_GATEWAY_LINK_STATE_SECRET' );
@{ $stack->{settings} }{qw(SVC_GATEWAY_LINK_STATE_SECRET SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS)} =
  ( 'second-link-state-secret', 'first-link-state-secret' );
$stack->restart_service;
is( $ann->get($first)->status, 200, 'after a rotation the previous secret is accepted' );
isnt( credential( 'ann', 'notes' )->{url}, $first, '... and new links are signed with the new one' );
delete $stack->{settings}{SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS};
$stack->restart_service;
is( $ann->get($first)->status, 400, '... and without the previous one the link is refused' );

# ---- the administrator

ok( reconnect(), 'a connection' );
my $admin = $stack->admin( GET => '/admin/api/managed-resources/notes/connections' );
is( $admin->status, 200, 'the administrator lists the connections of a resource' );
is_deeply(
    [ map {"$_->{subject} $_->{idpId} $_->{status} @{$_->{scopes}}"} @{ $admin->json } ],
    ['ann corp active notes.read'], '... with person, provider, status and scopes' );
unlike( $admin->body, qr/at-[0-9a-f]|rt-[0-9a-f]/, '... without tokens' );
is( $stack->admin( GET => '/admin/api/managed-resources/none/connections' )->status, 404,
    'of an unknown resource: 404' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections' )->status, 400,
    'DELETE without subject: 400' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections?subject=ann' )->status, 204,
    'DELETE of a person: 204' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/notes/connections?subject=ann' )->status, 404, '... once' );
ok( reconnect(), 'a connection' );
like(
    ( $stack->authzctl(qw(resource connections notes)) )[1], qr/^ann +corp +active /m,
    'authzctl resource connections' );
is( ( $stack->authzctl(qw(resource disconnect notes --subject ann --yes)) )[0], 0, 'authzctl resource disconnect' );
is( rows(q{SELECT count(*) FROM gateway_connection WHERE resource = 'notes'}),  0, '... deletes the connection' );
ok( reconnect(), 'a connection' );
$stack->sql(q{DELETE FROM managed_resource WHERE name = 'notes'});
is( rows(q{SELECT count(*) FROM gateway_connection WHERE resource = 'notes'}), 0,
    'a deleted resource takes its connections with it' );
resource( notes => $upstream->auth );

# ---- secrets stay secret

ok( reconnect(), 'a connection' );
my $secrets = qr/(?:at|rt)-[0-9a-f]{32}|good-key|secret-[0-9a-f]{32}/;
unlike(
    $stack->sql('SELECT string_agg(a::text, chr(10)) FROM audit_log a'), $secrets,
    'no audit row has a token or a secret' );
unlike(
    $stack->sql('SELECT string_agg(c::text, chr(10)) FROM gateway_connection c'), $secrets,
    '... no row shows one' );
unlike( join( "\n", $stack->{service}->log_lines ), $secrets, '... no line of the log' );
unlike( $ann->get("$base/gateway/connect")->body,   $secrets, '... and no page' );
like(
    $stack->http->get('/metrics')->body, qr/^svc_link_total\{type="oauth_link",result="connected"\} [1-9]/m,
    'events are counted (svc_link_total)' );

# ---- another credential key

my ( $old_key, $new_key ) = ( $stack->settings->{SVC_CREDENTIAL_KEY}, 'the-credential-key-of-tomorrow' );

# Run `authzctl secrets reseal` with these keys, and return the exit status and "resealed unreadable" by kind.
sub reseal {
    my ( $key, $previous ) = @_;
    local @{ $stack->{settings} }{qw(SVC_CREDENTIAL_KEY SVC_CREDENTIAL_KEY_PREVIOUS)} = ( $key, $previous );
    my ( $status, $text ) = $stack->authzctl(qw(secrets reseal --json));
    my %count = map { ( $_->{kind} => "$_->{resealed} $_->{unreadable}" ) }
      @{ JSON::PP::decode_json( $text =~ /(\[.*\])/s ? $1 : '[]' ) };
    return ( $status, \%count );
}
my ( $status, $count ) = reseal( $old_key, '' );
is( $status,                                          0,  'secrets reseal with the key that sealed everything' );
is( join( ' ', grep { $_ ne '0 0' } values %$count ), '', '... has nothing to do' );
( $status, $count ) = reseal( $new_key, '' );
is( $status, 1, 'with another key and no previous one: exit status 1' );
like( $count->{connections}, qr/\A0 [1-9]/, '... the secrets are unreadable and stay as they are' );
is( $ann->get("$base/gateway/connect")->status, 200, '... and the service still opens them' );
@{ $stack->{settings} }{qw(SVC_CREDENTIAL_KEY SVC_CREDENTIAL_KEY_PREVIOUS)} = ( $new_key, $old_key );
$stack->restart_service;
is( credential( 'ann', 'notes' )->{error}, '', 'a service with the new key opens what the previous one sealed' );
( $status, $count ) = reseal( $new_key, $old_key );
is( $status, 0, 'secrets reseal with both keys' );
like( $count->{$_}, qr/\A[1-9]\d* 0\z/, "... has sealed all of: $_" )
  for 'client secrets', 'admin keys', 'signing keys', 'identity providers', 'browser sessions', 'managed resources',
  'connections';
( $status, $count ) = reseal( $new_key, $old_key );
is( join( ' ', grep { $_ ne '0 0' } values %$count ), '', 'a second run has nothing to do' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS};
$stack->restart_service;
is( credential( 'ann', 'notes' )->{error}, '', 'then the new key alone opens the connection' );
is( ( reseal( $old_key, '' ) )[0],         1,  '... and the old one does not' );
$stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS} = 'too-short';
is( ( $stack->authzctl(qw(config check)) )[0], 78, 'a previous key of less than 16 octets is refused at start' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_PREVIOUS};

# ---- the compromise, and the switch

$stack->{settings}{SVC_CREDENTIAL_KEY_DISCARD_PER_USER} = 'true';
$stack->restart_service;
$stack->http->get('/health');
is( rows(), 0, 'SVC_CREDENTIAL_KEY_DISCARD_PER_USER deletes the connections' );
is( rows('SELECT count(*) FROM gateway_link_request'), 0, '... and the links' );
delete $stack->{settings}{SVC_CREDENTIAL_KEY_DISCARD_PER_USER};
$stack->{settings}{SVC_GATEWAY_ENABLED} = 'false';
$stack->restart_service;
is( $ann->get("$base/gateway/$_")->status, 404, "with SVC_GATEWAY_ENABLED=false /gateway/$_ is 404" )
  for 'link?state=x', 'connect', 'connect/notes', 'connect/callback?state=x';
done_testing;

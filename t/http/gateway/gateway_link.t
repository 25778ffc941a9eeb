# Accounts that people link to managed resources (gateway-admin.md 3.5): the link and its state, the page, the subject check, the
# callback, refreshing and scopes. gateway_link_servers.t has what providers do, and the rest of the life of a connection.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Linking;
use Authz::Process ();

my $at = linking_start();
my ( $stack, $base ) = @$at{qw(stack base)};

# An installation that is not complete yet.
for my $path ( '/gateway/connect', '/gateway/connect/notes' ) {
    my $page = Authz::Browser->new->get( $stack->base . $path );
    is( $page->status, 503, "$path without an identity provider: 503" );
    like( $page->body, qr/no identity provider is set up/, '... and a page that says why' );
}
linking_begin();
my ( $idp, $upstream ) = @$at{qw(idp upstream)};

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
    [ 'code', 'gateway', "$base/gateway/connect/callback/notes", 'notes.read', 'S256' ],
    '... with the parameters of RFC 6749 and PKCE' );
unlike( $to, qr/ann|\Q$state\E/, '... and nothing that names the person or the link' );
like( audit(), qr/\AanswerLink allowed 303 ann .*"begun"/, '... and an audit row' );
refused( post( $ann, {} ), 410, qr/used already/, 'the same form again: 410, the link is good once' );
refused( $ann->get($link), 410, qr/used already/, 'the same link again: 410' );

# ---- the callback

my $callback = $ann->request( GET => $to )->header('Location');
like( $callback, qr{\A\Q$base\E/gateway/connect/callback/notes\?}, 'the upstream sends the browser back' );
refused( $eve->get($callback),                400, qr/link_invalid/, q{another person's browser: 400} );
refused( Authz::Browser->new->get($callback), 400, qr/link_invalid/, 'a browser without a session: 400' );
refused( browser_of('ann')->get($callback),   400, qr/link_invalid/, 'another session of the same person: 400' );
refused( $ann->get( $callback =~ s/state=[^&]*/state=x/r ),        400, qr/link_invalid/, 'another state: 400' );
refused( $ann->get("$base/gateway/connect/callback/notes?code=x"), 400, qr/link_invalid/, 'no state: 400' );
is( scalar $upstream->seen('token'), 0, '... and no code was redeemed' );
$answer = $ann->get($callback);
is( $answer->status,             303,                                        'the right browser: 303' );
is( $answer->header('Location'), "$base/gateway/connect?answered=connected", '... to the page of connections' );
like( audit(), qr/\AlinkCallback allowed 303 ann .*"connected"/, '... with an audit row' );
my ($token) = $upstream->seen('token');
is_deeply(
    [ @{$token}{qw(grant_type client_id redirect_uri)} ],
    [ 'authorization_code', 'gateway', "$base/gateway/connect/callback/notes" ],
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

ok( reconnect($ann), 'the person connects again' );
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
ok( reconnect($ann), 'the person connects again' );

# ---- errors that do not tell what has ended (world.md M6)

sub refresh_gives {
    my ( $how, $since ) = @_;
    $stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
    $stack->sql(qq{UPDATE gateway_connection SET refused_first_at = now() - interval '$since'}) if $since;
    $upstream->misbehave( token => $how );
    my $error = credential( 'ann', 'notes' )->{error};
    $upstream->behave;
    return $error;
}
my $ended = { status => 400, body => '{"error":{"code":190,"message":"expired","type":"OAuthException"}}' };
is( refresh_gives($ended),                'upstream_invalid_response', 'M6: an error that is an object: 502' );
is( refresh_gives($ended),                'upstream_invalid_response', 'M6: ... the second, too' );
is( refresh_gives( $ended, '9 minutes' ), 'upstream_invalid_response', 'M6: ... and each within 10 minutes' );
for my $heals ( { status => 429, body => '{}' }, { status => 503, body => '{"error":"invalid_grant"}' } ) {
    is( refresh_gives( $heals, '1 hour' ),
        'upstream_invalid_response', "M6 error_503_never: $heals->{status} ends nothing" );
}
is( rows('SELECT status || refusals FROM gateway_connection'), 'active3', 'M6: ... and is not counted' );
is( refresh_gives( $ended, '601 seconds' ), 'link_required', 'M6 error_object_third: after 10 minutes: link_required' );
is( rows(q{SELECT status || ' ' || last_error FROM gateway_connection}), 'reauth_required 190',
    'M6: ... and the row has the code' );
ok( reconnect($ann), 'the person connects again' );
is( rows('SELECT refusals FROM gateway_connection'), 0, 'M6: ... which is a new count' );
refresh_gives( { status => 401, body => '<html>' } ) for 1 .. 2;
is( credential( 'ann', 'notes' )->{error},                                          '', 'M6: a refresh that succeeds' );
is( rows('SELECT refusals FROM gateway_connection WHERE refused_first_at IS NULL'), 0,  'M6: ... is one too' );
for my $other ( '{"error":"invalid_target"}', '{"error":"invalid_client"}' ) {
    refresh_gives( { status => 400, body => $other } ) for 1 .. 3;
    is( rows('SELECT status || refusals FROM gateway_connection'), 'active0', "M6: $other says nothing of the person" );
}

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
ok( reconnect($ann), 'with all scopes it works' );
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
done_testing;

# Questions of upstreams to clients from before MCP 2026-07-28, and messages of their logs (gateway-admin.md 1.12, 1.13): requests on
# the stream of the call, whose ids are bound to the session; each answer is taken once, fits its question, and is decided on.
use strict;
use warnings;

use JSON::PP ();
use Socket   ();
use Test::More;

use Authz::Asking;
use Authz::Check;
use Authz::Client  ();
use Authz::Process ();

my $json   = JSON::PP->new->utf8->canonical->allow_nonref;
my $true   = JSON::PP::true();
my $asking = Authz::Asking->new( gateway => 3 );
my ( $stack, $mcp, $peer ) = @$asking{qw(stack mcp peer)};
$mcp->people( eve => [ 'eve', client => 'other' ] );
my %all            = ( elicitation => { form => {} }, sampling => {}, roots => {} );
my $SOCK_SEQPACKET = Socket::SOCK_SEQPACKET();
my %said           = ( content => [ { type => 'text', text => 'bought' } ] );
my $done           = answer( \%said );
my $many           = { many => { method => 'elicitation/create', params => \%FORM } };

sub asks {
    my ( $requests, $state ) = @_;
    return answer( { resultType => 'input_required', inputRequests => $requests, requestState => $state } );
}

# An older upstream asks, and ends its answer when the answer of the client has come.
sub asks_meanwhile {
    my ( $hits, %question ) = @_;
    my $first = event( { id => 'theirs', %question } );
    return {
        type  => 'text/event-stream', body => $first . event( { id => 1, result => \%said } ),
        await => [ length $first, $hits ] };
}

# $answer[0] may be how the upstream greets, in place of a modern one.
sub shop {
    my ( $may, @answer ) = @_;
    my $hello = ref $answer[0] eq 'ARRAY' ? shift @answer : [$MODERN];
    return $asking->shop(
        $hello, $may, \@answer,
        upstreamAuth => { type => 'static_header', value => 'credential-of-the-gateway' } );
}

sub session {
    my ( $name, %option ) = @_;
    return $mcp->session( at => $name, by => 'ann', capabilities => \%all, %option );
}

# Begin a call, and read what has come until it has the pattern, or the stream ends.
sub begin {
    my ( $name, $session, %option ) = @_;
    my $http = $stack->http;
    my $one  = { text => '' };
    $one->{socket} = $http->begin(
        $http->octets(
            POST => "/gateway/mcp/$name",
            body => $json->encode(
                { jsonrpc => '2.0', id => 7, method => 'tools/call', params => { name => 'buy', arguments => {} } } ),
            headers => [
                'Content-Type'    => 'application/json',
                Accept            => $option{accept} // 'application/json, text/event-stream',
                Authorization     => 'Bearer ' . $mcp->bearer( by => 'ann', %option ),
                'X-Forwarded-For' => '127.0.0.1', defined $session ? ( $Authz::Mcp::SESSION => $session ) : () ],
            close => 1 ) );
    return $one;
}

sub read_on {
    my ( $one, $pattern ) = @_;
    while ( $one->{text} !~ $pattern && sysread $one->{socket}, my $piece, 65536 ) { $one->{text} .= $piece }
    return $one->{text} =~ $pattern;
}

sub events {
    my ($one) = @_;
    return map { $json->decode($_) } $one->{text} =~ /^data: (.*?)\r?$/mg;
}

# The question of a call, once it has come.
sub question {
    my ($one) = @_;
    read_on( $one, qr/"q1[.][^\n]*\n\n/ );
    my ($asked) = grep { defined $_->{id} && $_->{id} =~ /\Aq1[.]/ } events($one);
    return $asked // diag( $one->{text} ) && {};
}

sub ended {
    my ($one) = @_;
    read_on( $one, qr/(?!)/ );
    my ($last) = grep { ( $_->{id} // '' ) eq '7' } events($one), $one->{text} =~ /^(\{.*\})/m ? $json->decode($1) : ();
    return $last // diag( $one->{text} ) && {};
}
sub text_in { my ($message) = @_; return ( $message->{result} // {} )->{content}[0]{text} // '' }

sub reply {
    my ( $name, $session, $id, $message, %option ) = @_;
    return $mcp->send_octets(
        $json->encode( { jsonrpc => '2.0', id => $id, %$message } ),
        at      => $name, by => 'ann', %option,
        headers => [ defined $session ? ( $Authz::Mcp::SESSION => $session ) : () ] );
}

# The audit row of the last call; answers have rows too.
sub last_row {
    my $rows =
      $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=10' )->json->{content};
    return ( grep { defined( ( $_->{requestSummary} // {} )->{tool} ) } @$rows )[0] // {};
}

# ---- an older client, and a modern upstream

my $shop = shop( { form => $true }, asks( $many, 'kept' ), $done );
my $mine = session($shop);
my $call = begin( $shop, $mine );
my $ask  = question($call);
is( $ask->{method}, 'elicitation/create', 'the question is a request on the stream of the call (MCP 2025-11-25)' );
is_deeply(
    $ask->{params}, { mode => 'form', %FORM, message => 'The shop: How many?' },
    '... with the form, and who asks' );
my $next = ( $asking->sent($shop) )[-1]{params}{_meta}{'io.modelcontextprotocol/clientCapabilities'};
is_deeply( $next, { elicitation => { form => {} } }, 'the upstream was told what client and operator allow' );

my $changed = $ask->{id};
substr( $changed, 40, 1 ) = substr( $changed, 40, 1 ) eq 'A' ? 'B' : 'A';
my $another = session($shop);
for my $case (
    [ 'an id that was changed',        $changed,                    $mine ],
    [ 'an id that was cut',            substr( $ask->{id}, 0, -3 ), $mine ],
    [ 'an id that we never gave',      'q1.AAAA',                   $mine ],
    [ 'a number',                      7,                           $mine ],
    [ 'another session of the person', $ask->{id},                  $another ],
    [ 'another person in the session', $ask->{id},                  $mine,                         by => 'bob' ],
    [ 'another person in his own one', $ask->{id},                  session( $shop, by => 'bob' ), by => 'bob' ] )
{
    my ( $what, $id, $in, %option ) = @$case;
    is( reply( $shop, $in, $id, { result => \%TWO }, %option )->status, 404, "an answer with $what: 404" );
}
is( reply( $shop, undef, $ask->{id}, { result => \%TWO } )->status, 400, 'an answer without a session: 400' );
my @box = $asking->boxes;
is( scalar(@box),                 1, 'the call waits at one socket' );
is( ( stat $box[0] )[2] & oct 77, 0, '... which no other account can open' );
socket my $second, Socket::PF_UNIX(), $SOCK_SEQPACKET, 0 or die "socket: $!";
connect $second, Socket::pack_sockaddr_un( $box[0] ) or die "connect: $!";
close $second;
my $large = reply( $shop, $mine, $ask->{id}, { result => { %TWO, more => 'x' x 70_000 } } );
is( $large->status,                 400, 'an answer that is too large: 400, and the question goes on' );
is( scalar( $asking->sent($shop) ), 4,   '... and nothing went up' );
my $taken = reply( $shop, $mine, $ask->{id}, { result => { %TWO, more => 1 } } );
is( $taken->status, 202, 'the answer in the session is taken, also where one that came with it put nothing in' )
  or diag $taken->text;
is( reply( $shop, $mine, $ask->{id}, { result => \%TWO } )->status, 404, '... once' );
is( text_in( ended($call) ), 'bought', 'the call goes on, and its result ends the stream' );
is_deeply(
    [ @{ ( $asking->sent($shop) )[-1]{params} }{qw(inputResponses requestState)} ], [ { many => \%TWO }, 'kept' ],
    'the upstream gets the answer without what it did not ask for, and its state' );
is( last_row()->{requestSummary}{round}, 1, '... and the audit row counts the round' );

for my $case (
    [   'a value that the form does not allow', { result => { action => 'accept', content => { count => 10 } } },
        qr/does not fit/ ],
    [ 'an answer of another kind', { result => { roots => [] } },                  qr/does not fit/ ],
    [ 'an error',                  { error  => { code  => -1, message => 'no' } }, qr/did not answer/ ] )
{
    my ( $what, $message, $why ) = @$case;
    my $at = shop( { form => $true }, asks( $many, 'kept' ), $done );
    my $in = session($at);
    $call = begin( $at, $in );
    is( reply( $at, $in, question($call)->{id}, $message )->status, 202, "$what is taken" );
    my $end = ended($call);
    ok( $end->{result}{isError}, '... and ends the call' );
    like( text_in($end), $why, '... for the reason' );
    is( scalar( $asking->sent($at) ), 4, '... and nothing goes up' );
}

# ---- the token ends while the person thinks

$shop = shop( { form => $true }, asks( $many, 'kept' ), $done );
$mine = session($shop);
my $short = $mcp->person('ann');
$call = begin( $shop, $mine, token => $short );
$ask  = question($call);
$stack->http->request(
    POST    => '/revoke',
    body    => "token=$short",
    headers =>
      [ 'Content-Type' => 'application/x-www-form-urlencoded', Authz::Client::basic( @{ $mcp->{host}{host} } ) ] );
is( reply( $shop, $mine, $ask->{id}, { result => \%TWO } )->status, 202,
    'an answer after the token of the call ended' );
like( text_in( ended($call) ), qr/the token has ended/, '... is of no use' );
is( scalar( $asking->sent($shop) ), 4, '... and does not go up' );

# ---- who is not asked

for my $case (
    [ 'a client without a session',       form  => undef ],
    [ 'a client without the capability',  form  => {} ],
    [ 'a client that takes no stream',    form  => \%all, accept => 'application/json' ],
    [ 'a resource that may not ask this', roots => \%all ] )
{
    my ( $what, $may, $capabilities, %option ) = @$case;
    my $at  = shop( { $may => $true }, asks( $many, 'kept' ), $done );
    my $in  = defined $capabilities ? session( $at, capabilities => $capabilities ) : undef;
    my $end = ended( begin( $at, $in, %option ) );
    ok( $end->{result}{isError}, "$what: the call fails" ) or diag explain $end;
    ok( !exists +( $asking->sent($at) )[-1]{params}{_meta}{'io.modelcontextprotocol/clientCapabilities'}{elicitation},
        '... and the upstream was told of no forms' );
}

# ---- an older upstream

$shop = shop(
    { form => $true, sampling => $true }, \@OLDER,
    asks_meanwhile( 9, method => 'elicitation/create', params => \%FORM ) );
$mine = session($shop);
$call = begin( $shop, $mine );
$ask  = question($call);
is_deeply(
    $asking->told_older($shop),
    [ {}, { elicitation => { form => {} }, sampling => {} } ],
    'an older upstream is told the capabilities in a conversation of the caller; the sync tells none' );
is( reply( $shop, $mine, $ask->{id}, { result => \%TWO } )->status, 202,      'its question is answered' );
is( text_in( ended($call) ),                                        'bought', '... and its answer ends the stream' );
is_deeply(
    ( $asking->sent($shop) )[-1], { jsonrpc => '2.0', id => 'theirs', result => \%TWO },
    'the upstream gets the answer with the id of its request' );
$shop = shop( {}, \@OLDER, asks_meanwhile( 9, method => 'elicitation/create', params => \%FORM ) );
is( text_in( ended( begin( $shop, session($shop) ) ) ), 'bought', 'where nothing may be asked, the call goes on' );
is( ( $asking->sent($shop) )[-1]{error}{code},          -32601,   '... and the upstream gets -32601' );

# A modern client answers after the call, and such an upstream asks during it (decisions.md "Older upstreams of modern clients").
$shop = shop(
    { form => $true, sampling => $true }, \@OLDER,
    asks_meanwhile( 9, method => 'elicitation/create', params => \%FORM ) );
is( text_of( $asking->call($shop) ), 'bought',
    'an older upstream asks a modern client that can answer: the call goes on' );
is_deeply( $asking->told_older($shop), [ {}, {} ], '... the upstream is told no capability' );
is( ( $asking->sent($shop) )[-1]{error}{code}, -32601, '... and gets -32601 for its question' );
is( scalar( my @none = $asking->boxes ),       0,      '... and nothing waits' );

# ---- workers that wait

$shop = shop( { form => $true }, asks( $many, 'kept' ), $done );
my $crowd = shop( { form => $true }, asks( $many, 'kept' ), $done );
$mine = session($shop);
$call = begin( $shop, $mine );
$ask  = question($call);
my $end = ended( begin( $crowd, session( $crowd, by => 'eve' ), by => 'eve' ) );
like( text_in($end), qr/Too many calls wait/, 'one of three workers waits for people; the next call is told so' );
is( reply( $shop, $mine, $ask->{id}, { result => { action => 'decline' } } )->status, 202, 'the answer still comes' );
is( text_in( ended($call) ), 'bought', '... and is the end of the wait' );
is_deeply(
    ( $asking->sent($shop) )[-1]{params}{inputResponses}, { many => { action => 'decline' } },
    'that the person declined goes up' );
$shop = shop( { form => $true }, \@OLDER, asks_meanwhile( 9, method => 'elicitation/create', params => \%FORM ) );
$mine = session($shop);
$call = begin( $shop, $mine );
$ask  = question($call);
close $call->{socket};
Authz::Process::until_true( 20, sub { return $asking->cancelled($shop) } );
is( ( $asking->sent($shop) )[-1]{method}, 'notifications/cancelled',
    'a client that goes ends the call at the upstream' );
is( reply( $shop, $mine, $ask->{id}, { result => \%TWO } )->status, 404, '... and nothing takes the answer' );

# ---- cancellation by the client (MCP 2025-11-25, basic/utilities/cancellation): of its own session, by the id of the request

my $busy    = event( { method => 'notifications/message', params => { level => 'error', data => 'busy' } } );
my %waiting = (
    type  => 'text/event-stream', body => $busy . event( { id => 1, result => \%said } ),
    await => [ length $busy, 99 ] );
$shop = shop( { form => $true }, \@OLDER, \%waiting );
$mine = session($shop);
$call = begin( $shop, $mine );
read_on( $call, qr/busy/ );

sub cancels {
    my ( $session, $id, %option ) = @_;
    return $mcp->legacy(
        'notifications/cancelled', { requestId => $id },
        notification => 1, at => $shop, by => 'ann', session => $session, %option )->status;
}
sub told_off { return $asking->cancelled($shop) }
for my $case (
    [ 'of another session of the person', 202, session($shop), 7 ],
    [ 'without a session',                202, undef,          7 ],
    [ 'of another request',               202, $mine,          8 ],
    [ 'of a text as id',                  202, $mine,          '7' . '' ],
    [ 'without an id',                    202, $mine,          undef ],
    [ 'by another person',                404, $mine,          7, by => 'bob' ] )
{
    my ( $what, $status, @cancels ) = @$case;
    is( cancels(@cancels), $status, "a cancellation $what: $status" );
}
is( told_off(),              0,   '... and the call goes on' );
is( cancels( $mine, 0 + 7 ), 202, 'a client cancels its own request' );
like( text_in( ended($call) ), qr/has cancelled/, '... which ends' );
is( told_off(), 1, '... and the older upstream is told' );
my %answers = (
    'server/discover'         => $OLDER[0], 'initialize' => $OLDER[1], 'notifications/initialized' => $OLDER[2],
    'tools/list'              => $LISTED,   'tools/call' => \%waiting,
    'notifications/cancelled' => { status => 202, drip => 0.005, pad => 8_000 } );
$shop = 'busy';
my $set_answers = sub {
    $peer->set( "/$shop" => { instead => { map { ( qq("$_") => $answers{$_} ) } keys %answers } } );
};
$set_answers->();
$mcp->resource( $shop, $asking->upstream($shop) );
$asking->sync($shop);
$call = begin( $shop, session($shop) );
read_on( $call, qr/busy/ );
close $call->{socket};
ok( Authz::Process::until_true( 20, \&told_off ), 'an upstream whose answer to a cancellation does not end' );
$answers{'tools/call'} = $done;
$set_answers->();
my $is_bought = sub { text_in( ended( begin( $shop, session($shop) ) ) ) eq 'bought' };
ok( Authz::Process::until_true( 20, $is_bought ), '... does not hold the worker' );
$shop = shop( { form => $true }, asks( $many, 'kept' ), $done );
$mine = session($shop);
$call = begin( $shop, $mine );
$ask  = question($call);
is( cancels( $mine, 0 + 7 ), 202, 'a client cancels a request that asks it something' );
like( text_in( ended($call) ), qr/has cancelled/, '... which ends' );
is( reply( $shop, $mine, $ask->{id}, { result => \%TWO } )->status, 404, '... and nothing takes the answer' );

# ---- addresses that an error of an older upstream names (MCP 2025-11-25, client/elicitation)

my $addresses = 0;

sub wants_address {
    my ( $may, $url ) = @_;
    my $name  = 'signs' . ++$addresses;
    my %error = (
        code => -32042, message => 'open it',
        data => { elicitations => [ { mode => 'url', elicitationId => 'e1', url => $url, message => 'Sign here.' } ] }
    );
    my %by = (
        'server/discover'           => $OLDER[0], 'initialize' => $OLDER[1],
        'notifications/initialized' => $OLDER[2], 'tools/list' => $LISTED,
        'tools/call'                => { body => { jsonrpc => '2.0', id => 1, error => \%error } } );
    $peer->set( "/$name" => { instead => { map { ( qq("$_") => $by{$_} ) } keys %by } } );
    $mcp->resource( $name, $asking->upstream( $name, interaction => $may ) );
    $asking->sync($name);
    return (
        $name,
        sub {
            $peer->set( "/$name" => { instead => { map { ( qq("$_") => $by{$_} ) } keys %by } } );
        },
        \%by );
}

sub shop_call {
    my ( $at, $in, %option ) = @_;
    return $mcp->legacy(
        'tools/call', { name => 'buy', arguments => {} },
        at => $at, by => 'ann', session => $in, version => $option{version} // '2025-11-25' );
}
my %opens   = ( capabilities => { elicitation => { url => {} } } );
my $address = 'https://localhost/sign';
my ( $signs, $set, $by ) = wants_address( { url => $true }, $address );
my $error = $mcp->error( shop_call( $signs, session( $signs, %opens ) ) ) // {};
is( $error->{code}, -32042, 'an older client that opens addresses gets the error of the older upstream' );
is_deeply(
    $error->{data},
    {   elicitations => [ { mode => 'url', elicitationId => 'e1', url => $address, message => 'The shop: Sign here.' } ]
    },
    '... with the address, and who wants it opened' );
like(
    shop_call( $signs, session( $signs, capabilities => {} ) )->text,
    qr/\Q$address\E/, '... every other one gets it as a text' );
like(
    shop_call( $signs, session( $signs, %opens, revision => '2025-06-18' ), version => '2025-06-18' )->text,
    qr/isError.*\Q$address\E|\Q$address\E.*isError/, '... of a revision without that error too' );
my @modern_call = ( 'tools/call', { name => 'buy', arguments => {} }, at => $signs, by => 'ann', %opens );
my $asked       = $mcp->result( $mcp->modern(@modern_call) ) // {};
is( $asked->{resultType},                       'input_required', 'a modern client is asked' );
is( $asked->{inputRequests}{url1}{params}{url}, $address,         '... for the address' );
my %again = ( requestState => $asked->{requestState}, inputResponses => { url1 => { action => 'decline' } } );
like(
    $mcp->modern( $modern_call[0], { %{ $modern_call[1] }, %again }, @modern_call[ 2 .. $#modern_call ] )->text,
    qr/was not opened/, '... and the call ends when the person declines' );
$by->{'tools/call'} = $done;
$set->();
$again{inputResponses} = { url1 => { action => 'accept' } };
is( $mcp->result(
        $mcp->modern( $modern_call[0], { %{ $modern_call[1] }, %again }, @modern_call[ 2 .. $#modern_call ] )
    )->{content}[0]{text},
    'bought',
    '... and goes on when it was opened' );
is( ( $asking->sent($signs) )[-1]{params}{inputResponses}, undef,
    '... without answers, which older upstreams do not know' );
for my $case (
    [ 'that is not allowed', {}, $address ],
    [ 'of another host',     { url => $true }, 'https://evil.example/sign' ],
    [ 'without TLS',         { url => $true }, 'http://localhost/sign' ] )
{
    my ( $what, $may, $url ) = @$case;
    my ($at) = wants_address( $may, $url );
    my $text = shop_call( $at, session( $at, %opens ) )->text;
    like( $text, qr/Denied: /, "an address $what is denied" );
    unlike( $text, qr{/sign}, '... and not told' );
}

# ---- the log

sub logs { my (%params) = @_; return event( { method => 'notifications/message', params => \%params } ) }
my $stream = {
    type => 'text/event-stream',
    body => join '',
    logs( level => 'debug', data   => 'small' ),
    logs( level => 'info',  logger => 'shop', data => 'of credential-of-the-gateway' ),
    logs( level => 'error', data   => { at             => "till\x{202e}\x{e0041}" } ),
    logs( level => 'error', data   => { "till\x{202e}" => 1 } ),
    logs( level => 'error', data   => 'x' x 4095 ),
    logs( level => 'error', data   => 'x' x 4094 ),
    logs( level => 'loud',  data   => 'no level' ),
    logs( level => 'error' ),
    event( { id => 1, result => \%said } ) };

sub logged {
    my ($answer) = @_;
    return map { $_->{params} } grep { ( $_->{method} // '' ) eq 'notifications/message' }
      map { $json->decode($_) } $answer->body =~ /^data: (.*)$/mg;
}

sub call_with {
    my ( $at, $in ) = @_;
    return $mcp->legacy(
        'tools/call', { name => 'buy', arguments => {} },
        at => $at, by => 'ann', session => $in );
}
$shop = shop( {}, $stream );
my @got = logged( call_with( $shop, session($shop) ) );
is( join( ' ', map { $_->{level} } @got ), 'info error error', 'an older client gets the log from info on' );
is( $got[0]{logger},                       'shop',             '... with its logger' );
unlike( $got[0]{data}, qr/credential-of-the-gateway/, '... but no credential of ours' );
is_deeply( $got[1]{data}, { at => 'till' }, '... and data of any kind, without characters that people do not see' );
is( length $got[2]{data}, 4094, '... of at most 4096 octets (PEER_LOG_OCTETS_MAX)' );
is( ( $asking->sent($shop) )[-1]{params}{_meta}{'io.modelcontextprotocol/logLevel'}, 'info',
    'the upstream is told the level' );
$shop = shop( {}, $stream );
$mine = session($shop);
$mcp->legacy(
    'logging/setLevel', { level => 'error' },
    at => $shop, by => 'ann', session => $mine );
@got = logged( call_with( $shop, $mine ) );
is( join( ' ', map { $_->{level} } @got ), 'error error', 'logging/setLevel: from that level on' );
$shop = shop( {}, $stream );
is( scalar( logged( call_with($shop) ) ), 0, 'without a session there is no log' );
$shop = shop( {}, $stream );
my $plain = $mcp->modern( 'tools/call', { name => 'buy', arguments => {} }, at => $shop, by => 'ann' );
is( $mcp->result($plain)->{content}[0]{text}, 'bought', 'a modern client that asks for no log gets none' );
$shop = shop(
    {},
    {   type => 'text/event-stream',
        body => logs( level => 'error', data => 1 ) x 201 . event( { id => 1, result => \%said } ) } );
is( scalar( logged( call_with( $shop, session($shop) ) ) ), 200, 'a call passes on 200 messages (PEER_LOG_MAX)' );
my @with_log = @OLDER;
$with_log[1] = answer( { protocolVersion => '2025-11-25', capabilities => { logging => {} }, serverInfo => {} } );
$shop        = shop( {}, [@with_log], answer( {} ), $stream );
@got         = logged( call_with( $shop, session($shop) ) );
is( join( ' ', map { $_->{level} } @got ), 'info error error', 'an older upstream with a log' );
is_deeply(
    [ map { $_->{params} } grep { ( $_->{method} // '' ) eq 'logging/setLevel' } $asking->sent($shop) ],
    [ { level => 'info' } ], '... is told the level by logging/setLevel' );
done_testing;

# Questions of an older upstream, which asks on the stream of its answer, to a client of MCP 2026-07-28, which answers by its next
# request (gateway-admin.md 1.12): the call waits meanwhile, for the same call of the same caller alone, and each answer goes up once.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Asking;
use Authz::Check;
use Authz::Mcp     ();
use Authz::Process ();

my $json   = JSON::PP->new->utf8->canonical->allow_nonref;
my $true   = JSON::PP::true();
my $asking = Authz::Asking->new( gateway => 3 );
my ( $stack, $mcp, $peer ) = @$asking{qw(stack mcp peer)};
my $taken = { status => 202 };
my %said  = ( content => [ { type => 'text', text => 'bought' } ] );
my @many  = ( method  => 'elicitation/create', params => \%FORM );

# An upstream that asks each question on the stream of its answer, and goes on when it has an answer to it. $hits: the requests that
# come before the first one.
sub asks_meanwhile {
    my ( $hits, $end,   @questions ) = @_;
    my ( $body, @await, $id )        = ('');
    for my $question (@questions) {
        $body .= event( { id => 'ask' . ++$id, %$question } );
        push @await, length $body, ++$hits;
    }
    return { type => 'text/event-stream', body => $body . event( { id => 1, %$end } ), await => \@await };
}

sub shop {
    my ( $may, @questions ) = @_;
    my @asked = map {
        {@$_}
    } @questions;
    return $asking->shop( \@OLDER, $may, [ asks_meanwhile( 8, { result => \%said }, @asked ), $taken ] );
}

sub last_row {
    return $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content}[0];
}

# ---- a round

my $shop = shop( { form => $true, sampling => $true }, \@many );
my $seen = $mcp->result( $asking->call($shop) ) // {};
is( $seen->{resultType}, 'input_required', 'the question of an older upstream is a result that asks for input' );
is_deeply(
    $seen->{inputRequests},
    {   request => {
            method => 'elicitation/create',
            params => { mode => 'form', %FORM, message => 'The shop: How many?' } } },
    '... as that of a modern one, with the name of the resource' ) or diag explain $seen;
is_deeply(
    $asking->told_older($shop),
    [ {}, { elicitation => { form => {} }, sampling => {} } ],
    'the upstream was told what client and operator both allow; the sync tells nothing' );
is( last_row()->{requestSummary}{round}, 1, 'the audit row of the request has the round' );
my @box = $asking->boxes();
is( scalar(@box),                 1, 'the call waits at one socket' );
is( ( stat $box[0] )[2] & oct 77, 0, '... which no other account can open' );
my $hits = $peer->hits("/$shop");
for my $case (
    [ 'another person',           by        => 'bob' ],
    [ 'another client',           by        => 'other' ],
    [ 'a token without a person', by        => 'nobody' ],
    [ 'other arguments',          arguments => { what => 'gold' } ],
    [ 'a state that was cut',     state     => substr( $seen->{requestState}, 0, -1 ) ],
    [ 'a state that was changed', state     => "$seen->{requestState}A" ],
    [ 'a state that was forged',  state     => 'v2.AAAA' ] )
{
    my ( $what, @how ) = @$case;
    my $refused = $asking->again( $shop, $seen, { request => \%TWO }, @how );
    is_deeply( [ $refused->status, $mcp->error($refused)->{code} ], [ 400, -32602 ], "$what: 400, -32602" )
      or diag $refused->text;
}
for my $wrong ( { action => 'accept', content => { count => 10 } }, { roots => [] }, 7 ) {
    my $refused = $asking->again( $shop, $seen, { request => $wrong } );
    is( $mcp->error($refused)->{code}, -32602, 'an answer that does not fit its question: -32602' );
}
is( $peer->hits("/$shop"),      $hits, '... and nothing goes up' );
is( scalar( $asking->boxes() ), 1,     '... and the call still waits' );
my $whole = $asking->again( $shop, $seen, { request => { %TWO, more => 1 }, other => \%TWO } );
is( text_of($whole), 'bought', 'the call with the answer goes on' );
is_deeply(
    ( $asking->sent($shop) )[-1],
    { jsonrpc => '2.0', id => 'ask1', result => \%TWO },
    '... and the upstream has the answer to its request, without what was not asked' );
is( last_row()->{requestSummary}{round},           1,   '... and the audit row has the round' );
is( last_row()->{requestSummary}{upstream_status}, 200, '... and what the upstream answered' );
$whole = $asking->again( $shop, $seen, { request => \%TWO } );
like( text_of($whole), qr/no longer waits/, 'the same state again: the call no longer waits' );
ok( $mcp->result($whole)->{isError}, '... which the model learns' );
is( $peer->hits("/$shop"), $hits + 1, '... and nothing goes up twice' );

# ---- more rounds

$shop = shop( { form => $true, sampling => $true, roots => $true }, [@many], [ method => 'roots/list' ] );
$seen = $mcp->result( $asking->call($shop) );
my $first = $seen->{requestState};
$seen = $mcp->result( $asking->again( $shop, $seen, {} ) );
is( $seen->{inputRequests}{request}{method}, 'elicitation/create', 'a question without an answer is asked again' );
like( text_of( $asking->again( $shop, {}, { request => \%TWO }, state => $first ) ), qr/no longer waits/, '... once' );
$seen = $mcp->result( $asking->again( $shop, $seen, { request => { action => 'decline' } } ) );
is( $seen->{inputRequests}{request}{method}, 'roots/list', 'another question of the same call' ) or diag explain $seen;
is( last_row()->{requestSummary}{round},     3,            '... counts as a round' );
my %roots = ( roots => [ { uri => 'file:///w', name => 'W' } ] );
is( text_of( $asking->again( $shop, $seen, { request => \%roots } ) ), 'bought', '... is answered, and the call ends' );
is_deeply(
    [ map { $_->{result} } grep { ( $_->{id} // '' ) =~ /\Aask/ } $asking->sent($shop) ],
    [ { action => 'decline' }, \%roots ],
    'the upstream has both answers' );
$shop = shop( { form => $true }, ( \@many ) x 6 );
$seen = $mcp->result( $asking->call($shop) );
$seen = $mcp->result( $asking->again( $shop, $seen, { request => \%TWO } ) ) for 2 .. 5;
like(
    text_of( $asking->again( $shop, $seen, { request => \%TWO } ) ), qr/asks too often/,
    'the sixth question ends the call' );
Authz::Process::until_true( 20, sub { return $asking->cancelled($shop) } );
is( $asking->cancelled($shop), 1, '... at the upstream too' );

# ---- what may not be asked

$shop = shop( { form => $true }, [ method => 'sampling/createMessage', params => {} ] );
is( text_of( $asking->call($shop) ), 'Denied: interaction_off', 'what the resource does not allow is not asked' );
is( $asking->cancelled($shop),       1,                         '... and ends the call at the upstream' );
is( last_row()->{outcome},           'denied',                  '... and is denied in the audit log' );
$shop = shop( { form => $true }, \@many );
is( text_of( $asking->call( $shop, capabilities => {} ) ), 'bought', 'a client that can nothing: the call goes on' );
is( ( $asking->sent($shop) )[-1]{error}{code},             -32601,   '... and the upstream gets -32601' );
is( scalar( $asking->boxes() ),                            0,        '... and nothing waits' );

# ---- what changes meanwhile

$shop = shop( { form => $true }, \@many );
$seen = $mcp->result( $asking->call($shop) );
$mcp->resource( $shop, $asking->upstream($shop), interaction => {} );
like(
    text_of( $asking->again( $shop, $seen, { request => \%TWO } ) ),
    qr/resource was changed/, 'an answer after the resource was changed' );
is( ( grep { ( $_->{id} // '' ) eq 'ask1' } $asking->sent($shop) ), 0, '... does not go up' );

# ---- workers that wait

my $crowd = shop( { form => $true }, \@many );
like(
    text_of( $asking->call( $crowd, by => 'bob' ) ),
    qr/Too many calls wait/, 'one of three workers waits for people; the next call is told so' );
is( $asking->cancelled($crowd), 1, '... and ends at the upstream' );

# Kill the process that listens at a socket, and wait until it has gone.
sub kill_waiting {
    my ($path) = @_;
    open my $sockets, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    my ($inode) = map  { (split)[6] } grep {/\Q$path\E$/} readline $sockets;
    my ($link)  = grep { ( readlink($_) // '' ) eq "socket:[$inode]" } glob '/proc/[0-9]*/fd/*';
    my $worker  = ( split m{/}, $link )[2];
    kill KILL => $worker;
    Authz::Process::until_true( 20, sub { return !kill 0, $worker } );
    return;
}
@box = $asking->boxes();
is( scalar(@box), 1, 'the call of the changed resource still waits' );
kill_waiting( $box[0] );
$shop = shop( { form => $true }, \@many );
$seen = $mcp->result( $asking->call($shop) );
is( $seen->{resultType}, 'input_required', 'the place of a killed worker is free' );
kill_waiting( ( grep { $_ ne $box[0] } $asking->boxes() )[0] );
$whole = $asking->again( $shop, $seen, { request => \%TWO } );
like( text_of($whole), qr/no longer waits/, 'a worker that was killed while it waited: the client is told' );
is( $whole->status, 200, '... as the failure of a tool' );

# ---- progress

my $told  = event( { method => 'notifications/progress', params => { progressToken => 1, progress => 1 } } );
my $third = asks_meanwhile( 8, { result => \%said }, {@many} );
$third->{body} = $told . $third->{body};
$third->{await}[0] += length $told;
$shop = shop( { form => $true }, \@many );
$peer->set( "/$shop" => [ @OLDER, $LISTED, @OLDER, $third, $taken ] );
my $http = $stack->http;

# Begin a call that takes a stream.
sub begin {
    my (%more) = @_;
    my %meta = (
        'io.modelcontextprotocol/protocolVersion'    => $Authz::Mcp::MODERN,
        'io.modelcontextprotocol/clientInfo'         => { name => 'c', version => '1' },
        'io.modelcontextprotocol/clientCapabilities' => \%ALL, progressToken => 'mine' );
    my %params = ( name => 'buy', arguments => {}, _meta => \%meta, %more );
    return $http->begin(
        $http->octets(
            POST    => "/gateway/mcp/$shop",
            body    => $json->encode( { jsonrpc => '2.0', id => 7, method => 'tools/call', params => \%params } ),
            headers => [
                'Content-Type'         => 'application/json', Accept => 'application/json, text/event-stream',
                Authorization          => "Bearer $mcp->{of}{ann}",
                'MCP-Protocol-Version' => $Authz::Mcp::MODERN, 'Mcp-Method' => 'tools/call', 'Mcp-Name' => 'buy' ],
            close => 1 ) );
}
my $stream = begin();
my $text   = '';
while ( sysread $stream, my $piece, 65536 ) { $text .= $piece }
my @event = map { $json->decode($_) } $text =~ /^data: (.*?)\r?$/mg;
is( $event[-1]{result}{resultType}, 'input_required', 'a question after progress ends the stream' ) or diag $text;
is( text_of( $asking->again( $shop, $event[-1]{result}, { request => \%TWO }, arguments => {} ) ),
    'bought',
    '... and the call goes on' );

# ---- reads

my $long = 'x' x 300_000;
$peer->set(
    '/files' => [
        @OLDER, asks_meanwhile( 4, { result => { contents => [ { uri => 'file:///a', text => $long } ] } }, {@many} ),
        $taken ] );
$mcp->resource( 'files', $asking->upstream('files'), mcpResources => 'live', interaction => { form => $true } );
my @read = ( at => 'files', by => 'ann', capabilities => \%ALL );
$seen = $mcp->result( $mcp->modern( 'resources/read', { uri => 'file:///a' }, @read ) );
is( $seen->{resultType}, 'input_required', 'a read may be asked, too' ) or diag explain $seen;
my %back = ( inputResponses => { request => \%TWO }, requestState => $seen->{requestState} );
is( $mcp->error( $mcp->modern( 'resources/read', { uri => 'file:///b', %back }, @read ) )->{code},
    -32602, '... and its state is not of another URI' );
is( $mcp->result( $mcp->modern( 'resources/read', { uri => 'file:///a', %back }, @read ) )->{contents}[0]{text},
    $long, '... and the read goes on, to an answer of any length' );
my $late = $mcp->modern( 'resources/read', { uri => 'file:///a', %back }, @read );
like( $mcp->error($late)->{message}, qr/no longer waits/, '... once' );
done_testing;

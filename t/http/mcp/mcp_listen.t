# Streams on which MCP clients wait for changes (subscriptions/listen of MCP 2026-07-28): the relay holds them, no worker waits, and
# they end with their token (gateway-admin.md 1.9).
use strict;
use warnings;

use IO::Socket::UNIX ();
use Test::More;

use Authz::Check;
use Authz::Events;
use Authz::FastCgi ();
use Authz::Mcp     ();
use Authz::Process ();
use Authz::Stack   ();

my $ALL    = 100;    # SVC_GATEWAY_STREAMS; a fourth, which ends a client of many people, is more than $CLIENT
my $CLIENT = 20;     # RELAY_CLIENT_MAX of fcgi/gateway/relay/relay.h
my $stack  = Authz::Stack->start(
    gateway  => 2,
    settings => { SVC_GATEWAY_STREAMS => $ALL, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost' } );
my %own = map { ( $_ => Authz::Mcp->new( $stack, client => $_ ) ) } qw(agent gone stopped short crowd other);
my $mcp = $own{agent};
$mcp->resource( $_, upstreamType => 'STATIC', routes => [], tools => [] ) for qw(one two doomed);

# The octets of a request for a stream.
sub request_octets {
    my ( $who, %option ) = @_;
    my %meta = (
        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {} );
    my %params = ( _meta => \%meta, notifications => $option{filter} // { toolsListChanged => true } );
    return $stack->http->octets(
        POST    => '/gateway/mcp' . ( defined $option{at} ? "/$option{at}" : '' ),
        json    => { jsonrpc => '2.0', id => $option{id} // 's', method => 'subscriptions/listen', params => \%params },
        headers => [
            Authorization          => 'Bearer ' . ( $option{token} // $who->{token} ),
            Accept                 => 'application/json, text/event-stream',
            'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'subscriptions/listen' ],
        close => 1 );
}

# Ask for a stream, and read until it has begun.
sub listen_at {
    my ( $who, %option ) = @_;
    return open_events( $stack, request_octets( $who, %option ), qr/^data: .*acknowledged.*\n/m );
}

sub told {
    my ($one) = @_;
    return map { $_->{method} // () } ( events($one) )[ 1 .. events($one) - 1 ];
}

sub is_ended {
    my ($one) = @_;
    return read_on( $one, qr/"resultType":\s?"complete"/ );
}

sub relay {
    my $is_relay =
      sub { open my $in, '<', "/proc/$_[0]/comm" or return; return ( readline($in) // '' ) eq "authz-relay\n" };
    my ($pid) = grep { $is_relay->($_) } $stack->{service}->children;
    return $pid;
}
sub descriptors { my @fd = glob '/proc/' . relay() . '/fd/*'; return scalar @fd }

# The reasons for which streams of a client ended, as the audit log has them.
sub ends {
    my ($client) = @_;
    my $read = sub {
        my $rows = $stack->admin( GET => "/admin/api/audit-logs?clientId=$client&size=50" )->json->{content};
        return [ sort map { $_->{requestSummary}{ended} // () } @$rows ];
    };
    Authz::Process::until_true( 20, sub { @{ $read->() } } );
    return $read->();
}

# ---- what begins

is_deeply(
    $mcp->result( $mcp->modern( 'server/discover', {} ) )->{capabilities}{tools},
    { listChanged => true },
    'changes of lists are declared to modern clients' );
is_deeply(
    $mcp->result( $mcp->legacy( 'initialize', { protocolVersion => '2025-11-25', capabilities => {} } ) )
      ->{capabilities}{tools},
    { listChanged => true },
    '... and to older ones, which have the stream of their session' );
my $idle = descriptors();
$stack->patch_row( 'svc.operator.controls.lifetime', { default_ttl => 10 } );
$own{short}{token} = $own{short}->token('mcp');    # it lives for a few seconds
my $short = listen_at( $own{short} );
$stack->patch_row( 'svc.operator.controls.lifetime', { default_ttl => undef } );
my %open = (
    all   => listen_at( $mcp, id => 7 ),
    one   => listen_at( $mcp, at => 'one', token => $mcp->token( 'mcp', 'one' ) ),
    two   => listen_at( $mcp, at => 'two', token => $mcp->token( 'mcp', 'two' ) ),
    mixed => listen_at(
        $mcp, filter => { toolsListChanged => true, promptsListChanged => true, resourceSubscriptions => ['a:b'] } ),
    map( { ( $_ => listen_at( $own{$_} ) ) } qw(gone stopped) ),
    short  => $short,
    doomed => listen_at( $mcp, at => 'doomed', token => $mcp->token( 'mcp', 'doomed' ) ),
);
is( status( $open{all} ), 200, 'a stream begins' ) or diag("$open{all}{text}");
is_deeply(
    [ events( $open{all} ) ],
    [   {   jsonrpc => '2.0', method => 'notifications/subscriptions/acknowledged',
            params  => {
                _meta         => { 'io.modelcontextprotocol/subscriptionId' => 7 },
                notifications => { toolsListChanged                         => true } } } ],
    '... with the topics that are told' ) or diag("$open{all}{text}");
is_deeply(
    ( events( $open{mixed} ) )[0]{params}{notifications},
    { toolsListChanged => true },
    'a topic that the endpoint does not have is left out, and so are URIs' );
is( scalar( grep { status($_) == 200 } values %open ), 8,   'more streams than the pool has workers' );
is( $mcp->modern( 'tools/list', {} )->status,          200, '... and a worker is free for other requests' );
is_deeply( [ $stack->busy('gateway') ], [ relay() ], '... since the relay alone has the connections' );

# ---- what is told

$mcp->resource( 'one', upstreamType => 'STATIC', displayName => 'changed', routes => [], tools => [] );
ok( read_on( $open{one}, qr/list_changed/ ), 'a change of a resource is told at its endpoint' );
ok( read_on( $open{all}, qr/list_changed/ ), '... and at that of all' );
is_deeply(
    ( events( $open{all} ) )[1],
    {   jsonrpc => '2.0', method => 'notifications/tools/list_changed',
        params  => { _meta => { 'io.modelcontextprotocol/subscriptionId' => 7 } } },
    '... by the notification of its list, with the id of the subscription' );
ok( read_on( $open{mixed}, qr/list_changed/ ), '... on each stream' );
is_deeply(
    [ told( $open{mixed} ), told( $open{two} ) ],
    ['notifications/tools/list_changed'],
    '... and not at the endpoint of another resource, nor of another list' );

# ---- what ends a stream

$stack->revoke( @{ $own{gone}{client} }, token => $own{gone}{token} );
my $document = $stack->admin( GET => '/admin/api/clients/stopped' )->json;
is( $stack->admin( PUT => '/admin/api/clients/stopped', json => { %$document, enabled => false } )->status,
    200, 'a client is disabled' );
$stack->admin( DELETE => '/admin/api/managed-resources/doomed' );
ok( is_ended( $open{gone} ),    'a stream ends when its token is revoked' ) or diag("$open{gone}{text}");
ok( is_ended( $open{stopped} ), '... when its client is disabled' );
ok( is_ended( $open{doomed} ),  '... and when its resource is gone' );
is_deeply(
    ( events( $open{gone} ) )[-1],
    {   jsonrpc => '2.0', id => 's',
        result  => { resultType => 'complete', _meta => { 'io.modelcontextprotocol/subscriptionId' => 's' } } },
    '... with the result of the subscription, as its last message' );
ok( read_on( $open{gone}, qr/\r\n0\r\n|\z/ ), '... and the answer is complete' );
is_deeply( ends('gone'), ['token'], '... and the audit log says why' );
ok( is_ended( $open{short} ), '... and a stream ends when its token expires' );
like( ends('short')->[0], qr/\A(?:expired|token)\z/, '... as the audit log says' );
ok( !$open{all}{ended}, '... and others go on' );

# ---- who holds how many

my @crowd = map { listen_at( $own{crowd} ) } 1 .. $CLIENT;
is( scalar( grep { status($_) == 200 } @crowd ), $CLIENT, "a client has $CLIENT streams" );
my $more = listen_at( $own{crowd} );
is( status($more), 503, '... and not one more' ) or diag("$more->{text}");
like( $more->{text}, qr/^Retry-After: \d+\r$/mi, '... but may try again' );
like( $more->{text}, qr/"code":\s?50300/,        '... as the JSON-RPC error says' );
is( status( my $next = listen_at( $own{other} ) ), 200, '... while another client gets one' );
close $_->{socket} for @crowd, $next;
$mcp->resource( 'one', upstreamType => 'STATIC', displayName => 'changed again', routes => [], tools => [] );
ok( defined Authz::Process::until_true( 60, sub { descriptors() <= $idle + 6 } ),
    'no descriptor of a client that left stays' ) or diag( descriptors() . " of $idle" );
is( ends('crowd')->[0],                         'client_left', '... as the audit log says' );
is( status( $more = listen_at( $own{crowd} ) ), 200,           '... and its place is free' );
close $more->{socket};
my $PERSON = 10;                                          # RELAY_PERSON_MAX
my %alice  = ( token => $mcp->person('alice') );
my @hers   = map { listen_at( \%alice ) } 1 .. $PERSON;
is( scalar( grep { status($_) == 200 } @hers ), $PERSON, "a person has $PERSON streams" );
is( status( $more = listen_at( \%alice ) ), 503, '... and not one more' ) or diag("$more->{text}");
is( status( $next = listen_at( { token => $mcp->person('bob') } ) ), 200, '... while another person gets one' );
close $_->{socket} for @hers, $next;

# ---- connections that stay with the worker

my $raw = IO::Socket::UNIX->new("$stack->{dir}/gateway.sock") or die "gateway.sock: $!";
my ( $head, $body ) = split /\r\n\r\n/, request_octets($mcp), 2;
my %variable = (
    REQUEST_METHOD     => 'POST',                 REQUEST_URI    => '/gateway/mcp', REMOTE_ADDR     => '127.0.0.1',
    CONTENT_TYPE       => 'application/json',     CONTENT_LENGTH => length $body,   SERVER_PROTOCOL => 'HTTP/1.1',
    HTTP_AUTHORIZATION => "Bearer $mcp->{token}", HTTP_MCP_PROTOCOL_VERSION => '2026-07-28',
    HTTP_MCP_METHOD    => 'subscriptions/listen', HTTP_ACCEPT               => 'text/event-stream' );

Authz::FastCgi::send_request( $raw, keep => 1, variables => \%variable, body => $body );
my $kept = { socket => $raw, text => '' };
ok( read_on( $kept, qr/"complete"/ ),
    'on a connection that the web server keeps (FCGI_KEEP_CONN) a subscription ends at once' );
like( $kept->{text}, qr/"notifications":\s?\{\}/, '... without a topic' );
close $raw;

# ---- deaths

kill 'KILL', my @worker = grep { $_ != relay() } $stack->workers('gateway');
ok( @worker > 0, 'the workers are killed' );
$mcp->resource( 'two', upstreamType => 'STATIC', displayName => 'changed', routes => [], tools => [] );
ok( read_on( $open{two}, qr/list_changed/ ), '... and the streams live, and are told of changes' );
SKIP: {
    open my $maps,   '<',     '/proc/' . relay() . '/maps' or skip 'no right to look at the memory of the relay', 1;
    open my $memory, '<:raw', '/proc/' . relay() . '/mem'  or skip 'no right to look at the memory of the relay', 1;
    my @map   = readline $maps;
    my $found = '';
    no warnings 'portable';    # addresses have 64 bits
    skip 'ASan has a copy of the environment of its own', 1 if grep {/libasan/} @map;
    for my $line (@map) {
        my ( $from, $to ) = $line =~ /\A([0-9a-f]+)-([0-9a-f]+) rw/ or next;
        sysseek $memory, hex $from, 0;
        my $octets = '';
        sysread $memory, $octets, hex($to) - hex $from;
        $found .= " $_" for grep { index( $octets, $Authz::Stack::KEY{$_} ) >= 0 } sort keys %Authz::Stack::KEY;
    }
    is( $found, '', 'the relay holds no secret of the settings' );
}
my $first = relay();
kill 'KILL', $first;
ok( read_on( $open{all}, qr/\0never/ ) || $open{all}{ended}, 'a relay that is killed takes its streams' );
ok( defined Authz::Process::until_true( 30, sub { my $now = relay(); defined $now && $now != $first } ),
    '... and is started again' );
my $last;
Authz::Process::until_true( 30, sub { $last = listen_at( $mcp, id => 9 ); status($last) == 200 } );
is( status($last), 200, '... and holds new ones' );

# ---- URIs: those of STATIC resources, whose changes are known here

close $last->{socket};
my @read = (
    { id => 'about', path => '/about',     mcpResource => { name => 'about' }, response => { status => 200 } },
    { id => 'doc',   path => '/docs/{id}', mcpResource => { name => 'doc' },   response => { status => 200 } } );
my %documents = ( upstreamType => 'STATIC', routes => \@read, tools => [] );
$mcp->resource( $_, %documents ) for qw(files quiet);
my $rule = <<'REGO';
package custom.gateway

deny contains "not_this" if {
	input.action.kind == "resource"
	input.arguments.subscribe
	input.arguments.path.id == "secret"
}
REGO
is( $mcp->rule($rule)->status, 201, 'a rule about subscriptions' );
my @uri     = map {"mcp+files+res://files/$_"} qw(about docs/a);
my @left    = ( 'mcp+files+res://files/docs/secret', 'mcp+files+res://files/none', 'res://files/about', 'file:///x' );
my $watches = listen_at( $mcp, id => 5, filter => { resourceSubscriptions => [ @uri, @left, $uri[0] ] } );
is_deeply(
    ( events($watches) )[0]{params}{notifications},
    { resourceSubscriptions => \@uri },
    'URIs of STATIC resources that policy allows are told, once each, and no other' ) or diag("$watches->{text}");
my $quiet =
  listen_at( $mcp, filter => { toolsListChanged => true, resourceSubscriptions => ['mcp+quiet+res://quiet/about'] } );
is_deeply(
    ( events($quiet) )[0]{params}{notifications},
    { toolsListChanged => true, resourceSubscriptions => ['mcp+quiet+res://quiet/about'] },
    '... beside topics' );
my $topics = listen_at($mcp);

for my $case (
    [ 'no list',          'mcp+files+res://files/about' ],
    [ 'a number',         [7] ],
    [ 'more URIs',        [ map {"mcp+files+res://files/docs/$_"} 1 .. 51 ] ],
    [ 'the most of them', [ map {"mcp+files+res://files/docs/$_"} 1 .. 50 ], 200 ],
  )
{
    my ( $what, $asked, $status ) = @$case;
    my $one = listen_at( $own{other}, filter => { resourceSubscriptions => $asked } );
    is( status($one), $status // 400, "resourceSubscriptions with $what" ) or diag("$one->{text}");
    close $one->{socket};
}
$mcp->resource( 'files', %documents, displayName => 'changed' );
ok( read_on( $watches, qr/resources\/updated.*resources\/updated/s ), 'a change of the resource is told' );
is_deeply(
    [ ( events($watches) )[1] ],
    [   {   jsonrpc => '2.0', method => 'notifications/resources/updated',
            params  => { _meta => { 'io.modelcontextprotocol/subscriptionId' => 5 }, uri => $uri[0] } } ],
    '... with the URI as the client wrote it' );
is_deeply( [ map { $_->{params}{uri} // () } events($watches) ], \@uri, '... each once' );
is_deeply( [ map { $_->{params}{uri} // () } events($quiet) ],   [],    '... and no URI of another resource' );

# Policy was asked about URIs once: when another one decides, these streams end, the first at once and all within 30 s.
$stack->patch_row( 'svc.operator.controls.lifetime', { default_ttl => 3000 } );
ok( is_ended($watches),                                  'a stream with URIs ends when policy is saved' );
ok( read_on( $topics, qr/list_changed/ ),                '... one without them goes on' );
ok( !$topics->{ended},                                   '... and is told that lists may differ' );
ok( is_ended($quiet),                                    '... and all with URIs end' );
ok( ( grep { $_ eq 'policy' } @{ ends('agent') } ) >= 1, '... as the audit log says' );
$last = $topics;
$stack->{service}->stop;
ok( is_ended($last), 'a service that stops ends its streams' ) or diag("$last->{text}");
done_testing;

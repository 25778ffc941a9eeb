# The stream of a session of clients before MCP 2026-07-28 (MCP 2025-11-25, transports, "Listening for Messages from the Server";
# gateway-admin.md 1.13): one for a session, held by the relay, until session or token end.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Events;
use Authz::Mcp     ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( gateway => 2 );
my $mcp   = Authz::Mcp->new($stack);
my %empty = ( upstreamType => 'STATIC', routes => [], tools => [] );
$mcp->resource( $_, %empty ) for qw(one two);
my %token =
  ( ann => $mcp->person('ann'), bob => $mcp->person('bob'), by_other => $mcp->person( 'ann', client => 'other' ) );
my $FIELD = 'Mcp-Session-Id';

sub path   { my (%option) = @_; return '/gateway/mcp' . ( defined $option{at} ? "/$option{at}" : '' ) }
sub bearer { my (%option) = @_; return ( Authorization => "Bearer $token{ $option{by} // 'ann' }" ) }

sub hello {
    my (%option) = @_;
    return $mcp->legacy(
        'initialize',
        { protocolVersion => '2025-11-25', capabilities => {} },
        token => $token{ $option{by} // 'ann' },
        at    => $option{at} );
}
sub session { return hello(@_)->header($FIELD) // '' }

# The fields of a request for the stream of a session; headers => [...] replaces those behind the first.
sub fields {
    my ( $session, %option ) = @_;
    return [
        bearer(%option),
        Accept => $option{accept} // 'text/event-stream',
        defined $session         ? ( $FIELD                 => $session )         : (),
        defined $option{version} ? ( 'MCP-Protocol-Version' => $option{version} ) : () ];
}

sub refused {
    my ( $session, %option ) = @_;
    return $stack->http->request( GET => path(%option), headers => fields( $session, %option ) );
}

sub stream {
    my ( $session, %option ) = @_;
    return open_events(
        $stack,
        $stack->http->octets( GET => path(%option), headers => fields( $session, %option ), close => 1 ),
        qr/^: /m );
}

sub ends {
    my ( $session, %option ) = @_;
    return $stack->http->request( DELETE => path(%option), headers => [ bearer(%option), $FIELD => $session ] );
}

# Whole rows of the audit log of streams, the oldest first.
sub rows {
    my ( $client, $count ) = @_;
    my $read = sub {
        my $rows = $stack->admin( GET => "/admin/api/audit-logs?clientId=$client&size=50" )->json->{content};
        return [ grep { ( $_->{requestSummary}{kind} // '' ) eq 'subscription' } reverse @$rows ];
    };
    Authz::Process::until_true( 30, sub { @{ $read->() } >= $count } );
    return $read->();
}

# ---- what is no request for a stream

my $answer  = hello();
my $session = $answer->header($FIELD);
is_deeply(
    $mcp->result($answer)->{capabilities}{tools},
    { listChanged => true },
    'changes of lists are declared to a client that gets a session' );
for my $case (
    [ 'without a session',             undef ],
    [ 'without text/event-stream',     $session, accept  => 'application/json' ],
    [ 'of a modern client',            $session, version => '2026-07-28' ],
    [ 'without a session at one name', undef,    at      => 'one' ] )
{
    my ( $what, $id, %option ) = @$case;
    my $refused = refused( $id, %option );
    is( $refused->status,          405,                     "GET $what: 405" ) or diag $refused->text;
    is( $refused->header('Allow'), 'POST, DELETE, OPTIONS', '... with the methods that the path has then' );
}
my $head = $stack->http->request( HEAD => '/gateway/mcp', headers => fields($session) );
is( $head->status, 405, 'HEAD opens no stream' );

# ---- who gets no stream

my $ended   = session();
my $changed = $session;
substr( $changed, 50, 1 ) = substr( $changed, 50, 1 ) eq 'A' ? 'B' : 'A';
is( ends($ended)->status, 204, 'a session is ended' );
for my $case (
    [ 'a changed id',                  404, $changed ],
    [ 'an id of another server',       404, 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' ],
    [ 'an ended session',              404, $ended ],
    [ 'the session of another person', 404, $session, by      => 'bob' ],
    [ 'that of another client',        404, $session, by      => 'by_other' ],
    [ 'that of another endpoint',      404, $session, at      => 'one' ],
    [ 'a resource that is not there',  404, $session, at      => 'none' ],
    [ 'a revision that is not known',  400, $session, version => '2025-01-01' ] )
{
    my ( $what, $status, $id, %option ) = @$case;
    my $refused = refused( $id, %option );
    is( $refused->status, $status, "GET with $what: $status" ) or diag $refused->text;
}
my $anonymous = $stack->http->request( GET => '/gateway/mcp', headers => [ @{ fields($session) }[ 2 .. 5 ] ] );
is( $anonymous->status, 401, 'GET without a token: 401' ) or diag $anonymous->text;
like( $anonymous->header('WWW-Authenticate') // '', qr/resource_metadata=/, '... with the challenge' );

# ---- the stream, and the only one

my %open = ( all => stream( $session, version => '2025-11-25' ) );
is( status( $open{all} ), 200, 'a session has a stream' ) or diag("$open{all}{text}");
like( $open{all}{text}, qr{^Content-Type: text/event-stream}mi, '... of events' );
my $second = refused($session);
is( $second->status,        409,        'a second one of the same session: 409' ) or diag $second->text;
is( $second->json->{error}, 'conflict', '... as the error says' );
my $other = session();
$open{other} = stream($other);
is( status( $open{other} ), 200, '... while another session of the same person has its own' );
my $at_one = session( at => 'one', by => 'bob' );
$open{one} = stream( $at_one, at => 'one', by => 'bob' );
is( status( $open{one} ), 200, '... and a session at the endpoint of one resource too' );
is( $mcp->legacy( 'ping', {}, token => $token{ann}, headers => [ $FIELD => $session ] )->status,
    200, '... and a worker is free for requests: three streams, two workers' );

# ---- what is told

$mcp->resource( 'two', %empty, displayName => 'changed' );
ok( read_on( $open{all}, qr/list_changed/ ), 'a change of a resource is told' ) or diag("$open{all}{text}");
is_deeply(
    [ events( $open{all} ) ],
    [ { jsonrpc => '2.0', method => 'notifications/tools/list_changed', params => {} } ],
    '... by the notification of its list, without a subscription, which older clients have not' );
unlike( $open{all}{text}, qr/^id:/m, '... and no event has an id, since nothing is sent again' );
$mcp->resource( 'one', %empty, displayName => 'changed' );
ok( read_on( $open{one}, qr/list_changed/ ), 'a change is told at the endpoint of its resource' );
is( scalar( events( $open{one} ) ), 1, '... and none of another resource' );

# ---- what ends it

close $open{other}{socket};
my $again;
ok( defined Authz::Process::until_true( 30, sub { $again = stream($other); status($again) == 200 } ),
    'a client whose connection broke gets its stream again' ) or diag("$again->{text}");
is( ends($session)->status, 204, 'a session with a stream is ended' );
ok( read_on( $open{all}, qr/\r\n0\r\n/ ), '... and so is the stream, with a complete answer' )
  or diag("$open{all}{text}");
is( refused($session)->status, 404, '... and there is no other one' );
ok( !$again->{ended} && !read_on( $again, qr/\r\n0\r\n/, 0 ), '... and the stream of another session goes on' );
$stack->revoke( @{ $mcp->{host}{host} }, token => $token{ann} );
ok( read_on( $again, qr/\r\n0\r\n/ ), 'a stream ends when its token is revoked' ) or diag("$again->{text}");

my $rows = rows( 'host', 7 );
is_deeply(
    [ sort map { $_->{requestSummary}{ended} // () } @$rows ],
    [qw(client_left session token)], 'the audit log says why streams ended' );
is_deeply(
    [ map { [ @$_{qw(method endpoint)}, $_->{requestSummary}{mcp_version} ] } @$rows[0] ],
    [ [ 'GET', '/gateway/mcp', '2025-11-25' ] ],
    '... and that they began' );
is( scalar( grep { $_->{method} ne 'GET' } @$rows ), 0, '... by GET, each' );

$stack->{service}->stop;
ok( read_on( $open{one}, qr/\r\n0\r\n|\z/ ), 'a service that stops ends the answer' );
done_testing;

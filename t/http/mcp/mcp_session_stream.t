# The stream of a session of clients before MCP 2026-07-28 (MCP 2025-11-25, transports, "Listening for Messages from the Server";
# gateway-admin.md 1.13): one for a session, held by the relay, until session or token end; and subscriptions to URIs.
use strict;
use warnings;

use Digest::SHA ();
use Test::More;

use Authz::Check;
use Authz::Events;
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack =
  Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp   = Authz::Mcp->new($stack);
my %empty = ( upstreamType => 'STATIC', routes => [], tools => [] );
$mcp->resource( $_, %empty ) for qw(one two);
$mcp->people( ann => ['ann'], bob => ['bob'], by_other => [ 'ann', client => 'other' ] );

sub hello   { return $mcp->hello( by => 'ann', @_ ) }
sub session { return $mcp->session( by => 'ann', @_ ) }
sub fields  { my ( $session, %option ) = @_; return $mcp->stream_fields( $session, by => 'ann', %option ) }
sub stream  { my ( $session, %option ) = @_; return $mcp->stream( $session, by => 'ann', %option ) }

# A request about the stream of a session that gets an answer.
sub asked {
    my ( $method, $session, %option ) = @_;
    return $stack->http->request( $method => Authz::Mcp::path(%option), headers => fields( $session, %option ) );
}
sub refused { return asked( GET    => @_ ) }
sub ends    { return asked( DELETE => @_ ) }

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
my $session = $answer->header($Authz::Mcp::SESSION);
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
is( asked( HEAD => $session )->status, 405, 'HEAD opens no stream' );

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
is( $mcp->legacy( 'ping', {}, by => 'ann', session => $session )->status,
    200, '... and a worker is free for requests: three streams, two workers' );

# ---- what is told

$mcp->resource( $_, %empty, displayName => 'changed' ) for qw(two one);
ok( read_on( $open{all}, qr/list_changed/ ), 'a change of a resource is told' ) or diag("$open{all}{text}");
is_deeply(
    [ ( events( $open{all} ) )[0] ],
    [ { jsonrpc => '2.0', method => 'notifications/tools/list_changed', params => {} } ],
    '... by the notification of its list, without a subscription, which older clients have not' );
unlike( $open{all}{text}, qr/^id:/m, '... and no event has an id, since nothing is sent again' );
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
$stack->revoke( @{ $mcp->{host}{host} }, token => $mcp->{of}{ann} );
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

# ---- subscriptions (MCP 2025-11-25, server/resources): of a session, told on its stream

close $open{one}{socket};    # streams with URIs end spread over 30 s, the first one at once
my $peer = Authz::Peer->start;
my @read = (
    { id => 'about', path => '/about',     mcpResource => { name => 'about' }, response => { status => 200 } },
    { id => 'doc',   path => '/docs/{id}', mcpResource => { name => 'doc' },   response => { status => 200 } } );
my %documents = ( upstreamType => 'STATIC', routes => \@read, tools => [] );
$mcp->resource( 'files', %documents );
$mcp->resource( 'live',  upstreamType => 'MCP', upstreamUrl => $peer->url('/mcp'), mcpResources => 'live' );
my $rule = <<'REGO';
package custom.gateway

deny contains "not_this" if {
	input.action.kind == "resource"
	input.arguments.subscribe
	input.arguments.path.id == "secret"
}
REGO

sub save_rule {
    return $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => 'custom/gateway.rego', kind => 'rego', version => '1', content => $rule, enabled => true }
    )->status;
}
like( save_rule(), qr/\A20[01]\z/, 'a rule about subscriptions' );

sub ask {
    my ( $method, $uri, $id, %option ) = @_;
    return $mcp->legacy(
        "resources/$method", { uri => $uri },
        by => 'bob', session => $id, %option );
}

sub kept {
    my ($count) = @_;
    return $stack->sql("SELECT count(*) FROM gateway_session WHERE cardinality(uris) = $count");
}

my $FILES = 'mcp+files+res://files';
$answer = hello( by => 'bob' );
my $watching = $answer->header($Authz::Mcp::SESSION);
is_deeply(
    $mcp->result($answer)->{capabilities}{resources},
    { listChanged => true, subscribe => true },
    'subscriptions are declared where there are URIs whose changes are known' );
for my $case (
    [ 'without a session',              "$FILES/about",       undef,     -32600 ],
    [ 'in a session of another person', "$FILES/about",       $at_one,   40400 ],
    [ 'in an ended session',            "$FILES/about",       $ended,    40400 ],
    [ 'without a URI',                  undef,                $watching, -32602 ],
    [ 'with a number',                  7,                    $watching, -32602 ],
    [ 'of a URI that policy hides',     "$FILES/docs/secret", $watching, -32002 ],
    [ 'of one that is not there',       "$FILES/none",        $watching, -32002 ],
    [ 'of one in another spelling',     "$FILES/docs/%61",    $watching, -32002 ],
    [ 'of one of no resource',          'res://files/about',  $watching, -32002 ],
    [ 'of one at an upstream',          'mcp+live+file:///a', $watching, -32602 ] )
{
    my ( $what, $uri, $id, $code ) = @$case;
    my $by = defined $id && ( $id eq $at_one || $id eq $ended ) ? 'by_other' : 'bob';
    is( $mcp->code( ask( subscribe => $uri, $id, by => $by ) ), $code, "a subscription $what: $code" );
}
like(
    ask( subscribe => 'mcp+live+file:///a', $watching )->text,
    qr/cannot be watched/, '... with a text that says what cannot be' );
is( $mcp->code( ask( unsubscribe => "$FILES/about", $watching ) ), -32602,
    'what is not subscribed cannot be unsubscribed' );
is( $mcp->code( ask( unsubscribe => "$FILES/about", undef ) ), -32600, '... and nothing without a session' );
is( kept(0), $stack->sql('SELECT count(*) FROM gateway_session'),      'refused subscriptions are not kept' );

# The stream is open before: it ends, and the client opens it with what it subscribed to.
my $watch = stream( $watching, by => 'bob' );
is( status($watch), 200, 'a stream without subscriptions' ) or diag("$watch->{text}");
for my $uri ( "$FILES/about", "$FILES/docs/a", "$FILES/about" ) {
    is_deeply( $mcp->result( ask( subscribe => $uri, $watching ) ), {}, "$uri is subscribed" );
}
is( kept(2), 1, '... once each, in the row of the session' );
ok( read_on( $watch, qr/\r\n0\r\n/ ), '... and the stream of before ends' ) or diag("$watch->{text}");
$watch = stream( $watching, by => 'bob' );
is( status($watch), 200, '... and can be opened again' ) or diag("$watch->{text}");
$mcp->resource( 'files', %documents, displayName => 'changed' );
ok( read_on( $watch, qr/docs\/a/ ), 'a change of a resource is told of its URIs' ) or diag("$watch->{text}");
is_deeply(
    [ grep { $_->{method} =~ /updated/ } events($watch) ],
    [   map { { jsonrpc => '2.0', method => 'notifications/resources/updated', params => { uri => $_ } } }
          "$FILES/about", "$FILES/docs/a" ],
    '... by notifications/resources/updated, as the client wrote them' );
is_deeply( $mcp->result( ask( unsubscribe => "$FILES/about", $watching ) ), {}, 'one is unsubscribed' );
is( $mcp->code( ask( unsubscribe => "$FILES/about", $watching ) ), -32602, '... once' );
ok( read_on( $watch, qr/\r\n0\r\n/ ), '... and its stream ends' );
$watch = stream( $watching, by => 'bob' );
$mcp->resource( 'files', %documents, displayName => 'changed again' );
ok( read_on( $watch, qr/docs\/a/ ), '... and the next one tells of the others' ) or diag("$watch->{text}");
unlike( $watch->{text}, qr/about/, '... alone' );

my $hash  = Digest::SHA::sha256_hex('res://files/about');
my @noted = grep { ( $_->{uri_sha256} // '' ) eq $hash } map { $_->{requestSummary} } @{ rows( 'host', 12 ) };
ok( @noted >= 3, 'the audit log has subscriptions and their end, by the hash of the URI' );
is( ( grep { ( $_->{resource} // '' ) ne 'files' } @noted ) + 0, 0, '... and the resource' );

# Another policy: the stream ends, and each URI is decided anew.
$rule =~ s/"secret"/"a"/;
is( save_rule(), 200, 'a rule that hides a subscribed URI' );
ok( read_on( $watch, qr/\r\n0\r\n/, 60 ), '... ends the stream of subscriptions' ) or diag("$watch->{text}");
is( status( $watch = stream( $watching, by => 'bob' ) ), 200, '... the next one begins' );
$mcp->resource( 'files', %documents, displayName => 'hidden' );
ok( read_on( $watch, qr/list_changed/ ), '... and tells that lists differ' );
unlike( $watch->{text}, qr/updated/, '... and nothing of the URI that is hidden now' );

# ---- how many

my $many = session( by => 'bob' );
is( scalar( grep { defined $mcp->result( ask( subscribe => "$FILES/docs/b$_", $many ) ) } 1 .. 50 ),
    50, 'a session has 50 subscriptions' );
is( $mcp->code( ask( subscribe => "$FILES/docs/b51", $many ) ), -32602, '... and no 51st' );
is_deeply( $mcp->result( ask( subscribe => "$FILES/docs/b50", $many ) ), {}, '... while one of them may come again' );
my $long = session( by => 'bob' );
my $room = 8192;                     # GATEWAY_SESSION_URIS_OCTETS_MAX of fcgi/store/gateway/sessions.h
for my $n ( 1 .. 4 ) {
    my $uri = "$FILES/docs/$n" . 'x' x 1990;
    $room -= length $uri if defined $mcp->result( ask( subscribe => $uri, $long ) );
}
my $fits = "$FILES/docs/" . 'y' x ( $room - length "$FILES/docs/" );
is( $mcp->code( ask( subscribe => "${fits}y", $long ) ), -32602, '... nor more than 8,192 octets of them' );
is_deeply( $mcp->result( ask( subscribe => $fits, $long ) ), {}, '... which is what fits' );
is( ends( $long, by => 'bob' )->status,             204,   'a session with subscriptions is ended' );
is( $mcp->code( ask( subscribe => $fits, $long ) ), 40400, '... and takes none' );

$stack->{service}->stop;
ok( read_on( $watch, qr/\r\n0\r\n/ ), 'a service that stops ends the answer' ) or diag("$watch->{text}");
done_testing;

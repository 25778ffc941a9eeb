# Subscriptions to resources of MCP upstreams (gateway-admin.md 1.15): a feeder subscribes at the upstream once for all clients, and
# those that subscribed learn of changes, and no others; by the older revisions and the newest one on both sides.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Changing;
use Authz::Check;
use Authz::Client ();
use Authz::Events;
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack =
  Authz::Stack->start( gateway => 2, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp  = Authz::Mcp->new($stack);
my $json = JSON::PP->new->utf8->canonical;

# ---- what a resource may say

my %live =
  ( upstreamType => 'MCP', upstreamUrl => 'http://localhost:9/mcp', mcpResources => 'live', subscriptions => true );
for my $case (
    [ 'without mcpResources live',       %live, mcpResources => 'none' ],
    [ 'of a STATIC resource',            upstreamType => 'STATIC', subscriptions => true ],
    [ 'with the account of each person', %live, upstreamAuth => { type => 'user_secret' } ],
    [   'with a token of each person',
        %live, upstreamAuth => { type => 'token_exchange', issuer => 'https://as.example', clientId => 'c' } ] )
{
    my ( $what, %member ) = @$case;
    my $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => { name => 'bad', displayName => 'bad', defaultScope => 'mcp', %member } );
    is( $answer->status, 400, "subscriptions $what are refused" );
    like( $answer->text, qr/subscriptions/, '... by the name of the member' );
}

# ---- two upstreams, and who subscribes

my %server = ( old => Authz::Changing->start, new => Authz::Changing->start( modern => 1 ) );
$mcp->resource( $_, %live, upstreamUrl => $server{$_}->url ) for qw(old new);
my $slow = Authz::Peer->start;
$slow->set( '/mcp' => { drip => 0.01, body => '{}', pad => 20_000 } );
$mcp->resource( 'slow', %live, upstreamUrl => $slow->url('/mcp') );
$mcp->resource( 'still', %live, upstreamUrl => $server{old}->url, subscriptions => false );
my $rule = <<'REGO';
package custom.gateway

deny contains "not_this" if {
	input.action.kind == "resource"
	input.arguments.subscribe
	endswith(input.action.uri, "secret")
}

obligations.headers := {"X-Who": "them"} if {
	input.action.kind == "resource"
	endswith(input.action.uri, "personal")
}
REGO

sub save_rule {
    return $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => 'custom/gateway.rego', kind => 'rego', version => '1', content => $rule, enabled => true }
    )->status;
}
like( save_rule(), qr/\A20[01]\z/, 'a rule about subscriptions' );
$mcp->people( map { ( $_ => [$_] ) } qw(ann bob eve) );

sub ask {
    my ( $method, $uri, $who, $session ) = @_;
    return $mcp->legacy( "resources/$method", { uri => $uri }, by => $who, session => $session );
}

sub subscription_octets {
    my ( $uri, $who, $session ) = @_;
    return $stack->http->octets(
        POST    => '/gateway/mcp',
        json    => { jsonrpc => '2.0', id => 1, method => 'resources/subscribe', params => { uri => $uri } },
        headers => [
            Authorization        => 'Bearer ' . $mcp->bearer( by => $who ),
            Accept               => 'application/json, text/event-stream',
            $Authz::Mcp::SESSION => $session ] );
}

# A stream of the newest revision.
sub listens {
    my ( $who, @uri ) = @_;
    my %meta = (
        'io.modelcontextprotocol/protocolVersion'    => '2026-07-28',
        'io.modelcontextprotocol/clientCapabilities' => {} );
    my %params = ( _meta => \%meta, notifications => { resourceSubscriptions => \@uri } );
    return open_events(
        $stack,
        $stack->http->octets(
            POST    => '/gateway/mcp',
            json    => { jsonrpc => '2.0', id => 's', method => 'subscriptions/listen', params => \%params },
            headers => [
                Authorization          => 'Bearer ' . $mcp->bearer( by => $who ),
                Accept                 => 'application/json, text/event-stream',
                'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => 'subscriptions/listen' ],
            close => 1 ),
        qr/^data: .*acknowledged.*\n/m );
}

sub updates {
    my ($one) = @_;
    return [ map { $_->{params}{uri} } grep { ( $_->{method} // '' ) =~ /updated/ } events($one) ];
}

sub await_asked {
    my ( $server, $method, $uri, $count ) = @_;
    my $found = sub {
        scalar grep { $json->encode( $_ // {} ) =~ /"\Q$uri\E"/ } $server->asked($method);
    };
    return Authz::Process::until_true( 20, sub { $found->() >= ( $count // 1 ) } );
}

my $answer  = $mcp->hello( by => 'ann' );
my %session = ( ann => $answer->header($Authz::Mcp::SESSION), bob => $mcp->session( by => 'bob' ) );
is_deeply(
    $mcp->result($answer)->{capabilities}{resources},
    { listChanged => true, subscribe => true },
    'subscriptions are declared where an upstream is heard' );
for my $case (
    [ 'that policy hides',                'mcp+old+file:///secret',   -32002 ],
    [ 'for which policy demands fields',  'mcp+old+file:///personal', -32002 ],
    [ 'of an upstream that is not heard', 'mcp+still+file:///a',      -32602 ],
    [ 'in another spelling',              'mcp+old+file:///a/../b',   -32002 ],
    [ 'with a fragment',                  'mcp+old+file:///a#f',      -32002 ],
    [ 'with an empty query',              'mcp+old+notes://a?',       -32002 ],
    [ 'with a query',                     'mcp+old+notes://a?x=1',    -32002 ],
    [ 'of no resource',                   'file:///a',                -32002 ] )
{
    my ( $what, $uri, $code ) = @$case;
    is( $mcp->code( ask( subscribe => $uri, ann => $session{ann} ) ), $code, "a subscription to a URI $what: $code" );
}
is( $stack->sql('SELECT count(*) FROM gateway_feed_uri'), 0, '... and no upstream is to hear of it' );
for my $uri (qw(mcp+old+file:///a mcp+old+file:///b mcp+new+file:///a)) {
    is_deeply( $mcp->result( ask( subscribe => $uri, ann => $session{ann} ) ), {}, "$uri is subscribed" );
}
ok( await_asked( $server{old}, 'resources/subscribe', "file:///$_" ), "... and file:///$_ at the older upstream" )
  for qw(a b);
ok( await_asked( $server{new}, 'subscriptions/listen', 'file:///a' ), '... and at the modern one' );
is( $stack->sql(
        q{SELECT count(*) FILTER (WHERE policy_input IS NULL OR policy_decision IS NULL) || ' of ' || count(*) FROM audit_log}
          . q{ WHERE request_summary::text LIKE '%uri_sha256%'} ),
    '0 of 10',
    'their audit rows have the decision about the token (gateway-admin.md 1.9)' );
my %open = (
    ann => $mcp->stream( $session{ann}, by => 'ann' ),
    bob => $mcp->stream( $session{bob}, by => 'bob' ),
    eve => listens( eve => 'mcp+old+file:///a', 'mcp+new+file:///c', 'mcp+old+file:///secret', 'mcp+still+file:///a' )
);
is( status( $open{$_} ), 200, "$_ has a stream" ) or diag("$open{$_}{text}") for sort keys %open;
is_deeply(
    ( events( $open{eve} ) )[0]{params}{notifications},
    { resourceSubscriptions => [ 'mcp+old+file:///a', 'mcp+new+file:///c' ] },
    'a modern client learns which URIs are heard of' );
ok( await_asked( $server{new}, 'subscriptions/listen', 'file:///c' ), '... which are added at the upstream' );
is( scalar( grep { $_->{uri} eq 'file:///a' } $server{old}->asked('resources/subscribe') ),
    1, 'an upstream has one subscription for all clients' );
is( $mcp->modern( 'tools/list', {} )->status, 200, '... and the workers are free' );

# ---- what is told

$server{old}->change($_) for qw(file:///a file:///unasked);
$server{new}->change('file:///c');
ok( read_on( $open{ann}, qr/updated/ ), 'a change at an older upstream is told on the stream of a session' )
  or diag("$open{ann}{text}");
ok( read_on( $open{eve}, qr/new\+file:\/\/\/c/ ), '... and one at a modern upstream to a modern client' )
  or diag("$open{eve}{text}");
is_deeply( updates( $open{ann} ), ['mcp+old+file:///a'], '... of the URI that was subscribed, as the client wrote it' );
ok( read_on( $open{eve}, qr/old\+file:\/\/\/a/ ), '... and across revisions' );
is_deeply( updates( $open{bob} ), [], '... and to no client that did not subscribe' );
ok( scalar( my @answers = $server{old}->asked('') ), 'the ping of an older upstream on its stream is answered' );

# ---- an upstream whose answers do not end

my $late = listens( eve => 'mcp+old+file:///late', 'mcp+slow+file:///a' );
ok( await_asked( $server{old}, 'resources/subscribe', 'file:///late' ), 'a URI beside one of a slow upstream' );
ok( Authz::Process::until_true( 20, sub { $slow->hits('/mcp') } ),      '... which is asked' );
$server{old}->change('file:///late');
ok( read_on( $late, qr{resources/updated}, 40 ), '... keeps the others waiting for some seconds at most' )
  or diag("$late->{text}");
close $late->{socket};
$mcp->resource( 'slow', %live, upstreamUrl => $slow->url('/mcp'), enabled => false );

# ---- what is lost on the way

$server{old}->forget;
$server{old}->cut;
my $eve = listens( eve => 'mcp+old+file:///b' );
ok( read_on( $eve, qr/old\+file:\/\/\/b/ ), 'after the stream of an upstream broke, its URIs count as changed' )
  or diag("$eve->{text}");
ok( await_asked( $server{old}, 'resources/subscribe', 'file:///b', 2 ), '... and are subscribed in the next session' );
my $is_feeder =
  sub { open my $in, '<', "/proc/$_[0]/comm" or return; return ( readline($in) // '' ) eq "authz-feeder\n" };
my ($feeder) = grep { $is_feeder->($_) } $stack->{service}->children;
my $times    = sub { scalar( my @all = $server{new}->asked('subscriptions/listen') ) };
my $listened = $times->();
kill KILL => $feeder;
ok( Authz::Process::until_true( 20, sub { $times->() > $listened } ),
    'a feeder that was killed is started again, and listens again' );

# ---- what ends it

is_deeply(
    $mcp->result( ask( unsubscribe => 'mcp+old+file:///b', ann => $session{ann} ) ), {},
    'a URI is unsubscribed' );
ok( read_on( $open{ann}, qr/\r\n0\r\n/ ), '... and the stream with it ends' );
close $eve->{socket};
my $gone = sub {
    $stack->sql(q{UPDATE gateway_feed_uri SET wanted_until = now() - interval '1 second' WHERE uri = 'file:///b'});
    return scalar grep { $_->{uri} eq 'file:///b' } $server{old}->asked('resources/unsubscribe');
};
ok( Authz::Process::until_true( 20, $gone ), '... and so does that of the upstream, when no client wants it' );
$rule =~ s/"secret"/"c"/;
is( save_rule(), 200, 'a rule that hides a URI' );
ok( read_on( $open{eve}, qr/"resultType":\s?"complete"/, 60 ), '... ends the stream with it' )
  or diag("$open{eve}{text}");
$eve = listens( eve => 'mcp+old+file:///a', 'mcp+new+file:///c' );
is_deeply(
    ( events($eve) )[0]{params}{notifications},
    { resourceSubscriptions => ['mcp+old+file:///a'] },
    '... and the next one is decided anew' );
$mcp->resource( 'old', %live, upstreamUrl => $server{old}->url, enabled => false );
ok( read_on( $eve, qr/"resultType":\s?"complete"/, 60 ), 'a stream ends when the resource of a URI is switched off' )
  or diag("$eve->{text}");

# ---- how many

$stack->sql(
    q{INSERT INTO gateway_feed_uri (resource_id, uri, wanted_until) SELECT m.id, 'file:///n' || n, now() + interval '1 hour'}
      . q{ FROM managed_resource m, generate_series(1, 200) n WHERE m.name = 'new'} );
$stack->sql(q{DELETE FROM gateway_feed_uri WHERE uri IN ('file:///a', 'file:///c', 'file:///n200')});
is_deeply(
    $mcp->result( ask( subscribe => 'mcp+new+file:///n200', bob => $session{bob} ) ),
    {}, 'an upstream is heard of 200 URIs' );
is( $mcp->code( ask( subscribe => 'mcp+new+file:///n201', bob => $session{bob} ) ), -32602, '... and no 201st' );
is_deeply(
    $mcp->result( ask( subscribe => 'mcp+new+file:///n1', bob => $session{bob} ) ),
    {}, '... while one of them may have another client' );
$stack->sql(q{UPDATE gateway_feed_uri SET wanted_until = now() WHERE uri ~ '^file:///n(?!200$)'});
$stack->sql( q{UPDATE gateway_feed_uri SET reader = (SELECT reader FROM gateway_feed_uri WHERE uri = 'file:///n200'),}
      . q{ wanted_until = now() + interval '1 hour' WHERE uri ~ '^file:///n([1-9]|[1-4][0-9])$' AND uri <> 'file:///n49'}
);
is_deeply(
    $mcp->result( ask( subscribe => 'mcp+new+file:///n150', bob => $session{bob} ) ),
    {}, 'one reader is told of 50 URIs of an upstream' );
is( $mcp->code( ask( subscribe => 'mcp+new+file:///n151', bob => $session{bob} ) ), -32602, '... and of no 51st' );
is_deeply(
    $mcp->result( ask( subscribe => 'mcp+new+file:///n151', ann => $session{ann} ) ),
    {}, '... which another reader may have' );

# Each insert waits, so that processes which did not wait for one another would count the same rows.
$stack->sql($_)
  for q{UPDATE gateway_feed_uri SET wanted_until = now() WHERE uri = 'file:///n150'},
  q{CREATE FUNCTION dawdle() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(0.5); RETURN NEW; END'},
  q{CREATE TRIGGER dawdle AFTER INSERT ON gateway_feed_uri FOR EACH ROW EXECUTE FUNCTION dawdle()};
my @both = Authz::Client::together(
    map { [ $stack->client, subscription_octets( "mcp+new+file:///n$_", bob => $session{bob} ) ] } 301, 302 );
is( join( ' ', sort map { $mcp->result($_) ? 'told' : $mcp->code($_) } @both ),
    '-32602 told', '... at the same moment from two processes neither' );
is( $stack->sql(
        q{SELECT count(*) FROM gateway_feed_uri WHERE wanted_until > now() AND reader = (SELECT reader FROM gateway_feed_uri WHERE uri = 'file:///n200')}
    ),
    50,
    '... and 50 rows are his' );
$stack->sql( q{UPDATE gateway_feed_uri SET reader = NULL,}
      . q{ wanted_until = now() + CASE WHEN uri ~ '^file:///n1?[0-9]{1,2}$' THEN interval '1 hour' ELSE interval '0' END}
);
is( $stack->sql('SELECT count(*) FROM gateway_feed_uri WHERE wanted_until > now()'), 199,
    'one URI more may be heard of' );
@both =
  Authz::Client::together( map { [ $stack->client, subscription_octets( "mcp+new+file:///o$_", $_ => $session{$_} ) ] }
      qw(ann bob) );
is( join( ' ', sort map { $mcp->result($_) ? 'told' : $mcp->code($_) } @both ),
    '-32602 told', '... and two readers at the same moment do not get two' );
done_testing;

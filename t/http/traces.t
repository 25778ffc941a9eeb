# Spans of requests at a collector of OpenTelemetry (SVC_TRACES_URL; decisions.md "Traces", doc/traces.md), with the engine of
# AUTHZ_TEST_ENGINE.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Client  ();
use Authz::Managed ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

my $peer = Authz::Peer->start;
$peer->set( '/v1/traces' => { body => {} }, '/v3/notes/7' => { body => { n => 7 } } );
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => {
        SVC_TRACES_URL                         => $peer->url('/v1/traces'),
        SVC_TRACES_ONE_IN                      => 1,
        SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true',
        SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS   => 'localhost',
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS     => 'localhost,127.0.0.1',
    } );
my $gateway = Authz::Managed->new($stack);
$gateway->resource(
    'crm',
    upstreamUrl => $peer->url('/v3'),
    routes      => [ { id => 'note', methods => ['GET'], path => '/notes/{id}', query => { allow => ['q'] } } ] );

my $traced = 0;

# Return the header fields of a request with a trace of its own, and the id of the trace.
sub context {
    my (%option) = @_;
    my $id       = sprintf '%032x', 0xabc000 + ++$traced;
    return ( $id, traceparent => "00-$id-00f067aa0ba902b7-" . ( $option{flags} // '00' ) );
}

# Wait for the spans of a trace: {name => span}, with attributes as a hash.
sub spans {
    my ($id) = @_;
    my @span;
    Authz::Process::until_true(
        60,
        sub {
            @span = grep { $_->{traceId} eq $id }
              map { @{ JSON::PP::decode_json( $_->{body} )->{resourceSpans}[0]{scopeSpans}[0]{spans} } }
              $peer->requests('/v1/traces');
            return scalar @span;
        } );
    for my $span (@span) {
        $span->{has} =
          { map { ( $_->{key} => $_->{value}{stringValue} // 0 + $_->{value}{intValue} ) } @{ $span->{attributes} } };
    }
    return @span;
}

# The span of the request, and each other one below it or below another of the trace.
sub tree {
    my ( $name, $id, $request, $status ) = @_;
    my @span = spans($id);
    my ($root) = grep { $_->{kind} == 2 } @span;
    is( $root->{name},         $request,                    "$name: the span of the request" ) or return @span;
    is( $root->{parentSpanId}, '00f067aa0ba902b7',          '... is below that of the caller (W3C Trace Context 3.2)' );
    is( $root->{has}{'http.response.status_code'}, $status, '... and has the status' );
    my %known = map  { ( $_->{spanId} => $_ ) } @span;
    my @lost  = grep { $_ != $root && !$known{ $_->{parentSpanId} // '' } } @span;
    is( scalar @lost, 0, '... and each other span is below one of the trace' );
    my @odd =
      grep { $_->{startTimeUnixNano} < $root->{startTimeUnixNano} || $_->{endTimeUnixNano} > $root->{endTimeUnixNano} }
      @span;
    is( scalar @odd, 0, '... and within its time' );
    return @span;
}

sub has_span {
    my ( $span, $key, $value, $name ) = @_;
    my ($found) = grep { defined $_->{has}{$key} && $_->{has}{$key} =~ $value } @$span;
    ok( $found, $name ) || diag explain [ map { [ $_->{name}, $_->{has} ] } @$span ];
    return $found // {};
}

# ---- /token, /introspect and a request through the gateway

my @crm = $stack->make_client(
    'shopper-7',
    { grants => ['client_credentials'], endpoints => ['introspect'], scopes => ['use'] } );
my $http = $stack->http;
my ( $id, @field ) = context();
my $answer = $http->post(
    '/token', headers => [ Authz::Client::basic(@crm), @field ],
    form => [ grant_type => 'client_credentials', scope => 'use' ] );
is( $answer->status, 200, 'a token' ) or diag $answer->text;
my $token  = $answer->member('access_token');
my $engine = $stack->decides_in_process ? qr/\Aembedded/ : qr/\Aopa/;
my @span   = tree( '/token', $id, 'POST /token', 200 );
has_span( \@span, 'authz.policy.entrypoint', qr{\Asvc/decision/issue\z}, '... a decision' );
has_span( \@span, 'authz.policy.engine',     $engine,                    '... by this engine' );
has_span( \@span, 'db.query.summary',        qr/\A\w+\z/,                '... and SQL, by the name of the statement' );

( $id, @field ) = context();
$http->post(
    '/introspect?secret=query', headers => [ Authz::Client::basic(@crm), @field ],
    form => [ token => $token ] );
@span = tree( '/introspect', $id, 'POST /introspect', 200 );
has_span( \@span, 'authz.policy.entrypoint', qr{introspect\z},   '... a decision' );
has_span( \@span, 'db.system.name',          qr/\Apostgresql\z/, '... and SQL' );

( $id, @field ) = context( flags => '01' );
$answer = $gateway->ask( GET => 'crm', '/notes/7?q=query-secret', headers => [ @field, tracestate => 'a=b' ] );
is( $answer->status, 200, 'a request through the gateway' ) or diag $answer->text;
@span = tree( 'gateway', $id, 'GET /gateway/{name}/**', 200 );
has_span( \@span, 'authz.policy.entrypoint', qr{gateway\z}, '... a decision' );
my $upstream = has_span( \@span, 'server.port', qr/\A@{[$peer->port]}\z/, '... and the upstream' );
is( $upstream->{has}{'http.response.status_code'}, 200, '... with its status' );
my ($reached) = $peer->requests('/v3/notes/7');
is( $reached->{headers}{traceparent}, "00-$id-$upstream->{spanId}-01",
    '... which gets this span as its parent (W3C Trace Context 3.2)' );
is( $reached->{headers}{tracestate}, 'a=b', '... and the tracestate of the caller' );

# ---- what a caller says

for my $bad ( 'nonsense', '00-' . '0' x 32 . '-00f067aa0ba902b7-01', 'x' x 4000 ) {
    is( $http->get( '/health/live', headers => [ traceparent => $bad ] )->status, 200,
        'a malformed traceparent is ignored' );
}
( $id, @field ) = context();
$http->request( 'PROPFIND', '/token', headers => \@field );
@span = spans($id);
is( $span[0]{has}{'http.request.method'}, '_OTHER', 'a method that is not known is not repeated' );
my $all = join "\n", map { $_->{body} } $peer->requests('/v1/traces');
for my $secret ( $token, $crm[1], 'query-secret', 'secret=', 'notes/7', 'PROPFIND', 'nonsense', 'shopper-7' ) {
    ok( index( $all, $secret ) < 0, "no span has a secret, a path, or what else a caller sent: $secret" );
}

# ---- a collector that is away, and a full queue

sub counted {
    my ($result) = @_;
    return $http->get('/metrics')->body =~ /^svc_traces_total\{result="$result"\} (\d+)$/m ? $1 : 0;
}
cmp_ok( counted('sent'), '>', 3, 'traces are counted' );
is( counted($_), 0, "... none as $_" ) for qw(dropped failed);
my ($sender) = grep {
    open my $in, '<', "/proc/$_/comm";
    ( $in && readline $in // '' ) =~ /^authz-traces/
} $stack->{service}->children;
ok( $sender, 'a process beside the workers sends them' );
kill 'STOP', $sender;
my $full = Authz::Process::until_true( 60, sub { $http->get('/health/live') for 1 .. 50; counted('dropped') > 0 } );
ok( $full, 'a full queue drops and counts, and no request waits' );
is( $http->post( '/token', headers => [ Authz::Client::basic(@crm) ], form => [ grant_type => 'client_credentials' ] )
      ->status,
    200, '... nor fails' );
$peer->set( '/v1/traces' => { status => 503 } );
kill 'CONT', $sender;
ok( Authz::Process::until_true( 60, sub { counted('failed') > 0 } ), 'what the collector refuses is counted' );
like(
    join( "\n", $stack->{service}->log_lines ),
    qr/"traces not taken","detail":"SVC_TRACES_URL: the server answered 503/, '... and the log says why' );
$peer->stop;
is( $http->post( '/token', headers => [ Authz::Client::basic(@crm) ], form => [ grant_type => 'client_credentials' ] )
      ->status,
    200, 'a collector that is away hurts no request' );
done_testing;

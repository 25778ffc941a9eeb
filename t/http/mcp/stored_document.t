# A stored document is never refused by a rule about saving (gateway-admin.md 1.5): what today's rules or settings would refuse of a
# resource that is stored is left out by name, the rest works, and administrators read what is left out and why.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $json = JSON::PP->new->utf8->canonical;
my $peer = Authz::Peer->start;
my $stack =
  Authz::Stack->start( gateway => 1, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp  = Authz::Mcp->new($stack);
my $path = '/admin/api/managed-resources';

sub tool { my ( $name, $route ) = @_; return { name => $name, route => $route, inputSchema => { type => 'object' } } }

sub route {
    my ( $id, $at ) = @_;
    return { id => $id, path => $at, response => { status => 200, json => { said => $id } } };
}

# Change what is stored, as an older or newer release would have stored it.
sub store {
    my ( $name, %part ) = @_;
    my $set = join ', ', map {"$_ = \$j\$$part{$_}\$j\$"} sort keys %part;
    $stack->sql(
        "UPDATE managed_resource SET $set, version = nextval('managed_resource_version_seq') WHERE name = '$name'");
    return;
}

sub documents {
    my ($name) = @_;
    return $json->decode( $stack->sql("SELECT document FROM managed_resource WHERE name = '$name'") );
}

sub names {
    return join ' ', map { $_->{name} } @{ $mcp->result( $mcp->modern( 'tools/list', {} ) )->{tools} // [] };
}

sub attention {
    return [ grep { $_->{kind} eq 'resource_degraded' } @{ $stack->admin( GET => '/admin/api/attention' )->json } ];
}

sub lines {
    my ($text) = @_;
    return scalar grep {/$text/} $stack->{service}->log_lines;
}

sub call {
    my ($name) = @_;
    my $answer = $mcp->modern( 'tools/call', { name => $name, arguments => {} } );
    return $mcp->error($answer) ? 'error ' . $mcp->code($answer) : $mcp->result($answer)->{content}[0]{text};
}

sub get {
    my ($at) = @_;
    my $token =
      $stack->token_text( @{ $mcp->{client} }, scope => 'mcp', resource => "$stack->{base}/gateway/desk" );
    return $stack->http->request( GET => "/gateway/desk$at", headers => [ Authorization => "Bearer $token" ] );
}

my @tools = ( tool( 'a', 'one' ), tool( 'sum.up', 'one' ), tool( 'last', 'two' ) );
$mcp->resource(
    'desk',
    upstreamType => 'STATIC', tools => \@tools,
    routes       => [ route( 'wide', '/**' ), route( 'one', '/one' ), route( 'two', '/two' ) ] );
$mcp->resource(
    'other', upstreamType => 'STATIC', routes => [ route( 'one', '/one' ) ],
    tools => [ tool( 'a', 'one' ) ] );
is( names(), 'desk__a desk__last desk__sum_up other__a', 'the tools as saved' );
my $fetched = $stack->admin( GET => "$path/desk" )->json;
is( $fetched->{leftOut}, undef, '... none is left out' );
is_deeply( attention(), [], '... and nothing needs attention' );

# ---- tools

my @clash = ( @tools, tool( 'sum_up', 'two' ) );
is( $stack->admin(
        PUT  => "$path/desk",
        json => { %{ documents('desk') }, name => 'desk', tools => \@clash } )->status,
    400,
    'a save refuses two tools that clients see as one' );
store( 'desk', tools => $json->encode( \@clash ) );
is( names(), 'desk__a desk__last other__a', 'in a stored document both are left out, and the others are served' );
is( call('desk__sum_up'), 'error -32602',   '... the name calls neither' );
is( call('desk__last'),   '{"said":"two"}', '... another tool is called' );
my $answer = $stack->admin( GET => "$path/desk" );
my $why    = 'name makes the name desk__sum_up, which another tool has';
admin_ok(
    $answer, 200,
    {   status  => 'degraded', toolCount => 4,
        leftOut => [ map { { kind => 'tool', name => $_, why => $why } } 'sum.up', 'sum_up' ] },
    '... the resource is degraded and says which are left out' );
like(
    $answer->json->{statusReason},
    qr/\A2 of its tools and routes are left out .*the first is the tool sum\.up: \Q$why\E; save it again without that\z/,
    '... why, and what to do' );
my ($listed) = grep { $_->{name} eq 'desk' } @{ $stack->admin( GET => "$path?view=summary" )->json };
is( $listed->{status}, 'degraded', '... also in a list' );
is( $stack->sql(q{SELECT status FROM managed_resource WHERE name = 'desk'}),
    'active', '... while the row is as before: the next release may serve all' );
is_deeply(
    [ map { [ @{$_}{qw(name count detail)} ] } @{ attention() } ],
    [ [ 'desk', 2, $answer->json->{statusReason} ] ],
    '... attention has it' );
is( lines(qr/served in part.*desk: the tool sum_up is left out: \Q$why\E/) > 0, 1, '... and the log' );
is( $stack->admin( GET => "$path/other" )->json->{leftOut}, undef,                 '... other resources are whole' );
my $given = $answer->json;
admin_ok(
    $stack->admin(
        PUT  => "$path/desk",
        json => { %$given, tools => [ grep { $_->{name} ne 'sum_up' } @{ $given->{tools} } ] } ),
    200,
    { status => 'active' },
    'what was read can be saved again without the fault' );
is( names(), 'desk__a desk__last desk__sum_up other__a',          '... and all are served' );
is( $stack->admin( GET => "$path/desk" )->json->{leftOut}, undef, '... none is left out' );

store( 'desk', tools => $json->encode( [ @tools, { %{ tool( 'b', 'one' ) }, inputSchema => { type => 'array' } } ] ) );
is( names(), 'desk__a desk__last desk__sum_up other__a', 'a tool with a schema that a save refuses is left out alone' );

# ---- routes

my $document = documents('desk');
$document->{routes}[1]{methods} = [ 'GET', 'POST' ];
$document->{routes}[1]{retry}   = { attempts => 1 };
store( 'desk', document => $json->encode($document) );
is( get('/x')->text =~ /wide/ ? 1 : 0, 1,   'a route that a save refuses is left out: the others answer' );
is( get('/one')->status,               404, '... and its requests are 404, also where a wider route has their path' );
is( names(),                           'desk__last other__a', '... with its tools' );
is_deeply(
    [ map {"$_->{kind} $_->{name}"} @{ $stack->admin( GET => "$path/desk" )->json->{leftOut} } ],
    [ 'route one', 'tool a', 'tool sum.up', 'tool b' ],
    '... all of which are named' );
splice @{ $document->{routes} }, 2, 0, { %{ route( 'same', '/one' ) } };
store( 'desk', document => $json->encode($document) );
is( get('/one')->status, 404, '... no other route takes its requests, also one that is equally close' );
$document->{routes}[1]{path} = 'no slash';
store( 'desk', document => $json->encode($document) );
is( get('/x')->status, 503,
    'a route whose path cannot be read refuses the resource: a wider one would get its requests' );
admin_ok(
    $stack->admin( GET => "$path/desk" ),
    200,
    { status => 'error', statusReason => qr/\Anothing is served: the stored document cannot be read \(routes\[1\]/ },
    '... and says so' );
is( names(),                'other__a', '... alone' );
is( attention()->[0]{name}, 'desk',     '... attention has it' );

# ---- a setting that is narrower than at the time of the save

$peer->set( '/v1/a' => { body => {} } );
$mcp->resource(
    'plain', upstreamType => 'REST', upstreamUrl => $peer->url('/v1'),
    routes => [ { id => 'a', path => '/a' } ] );
is( $stack->admin( GET => "$path/plain" )->json->{status}, 'pending', 'an upstream by http that the setting allows' );
$stack->restart_service( settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'elsewhere.example' } );
admin_ok(
    $stack->admin( GET => "$path/plain" ),
    200,
    { status => 'error', statusReason => qr/upstreamUrl must be an https URL; SVC_GATEWAY_ALLOWED_INSECURE_HOSTS/ },
    '... is not used once it allows that no longer, and the resource says so' );
is( join( ' ', sort map { $_->{name} } @{ attention() } ), 'desk plain', '... attention too' );
is( names(),                                               'other__a',   '... and the others are served' );

done_testing;

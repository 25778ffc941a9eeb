# Header fields that a document may save or a rule may oblige to: each one arrives, and each other one is refused at the save or
# denies (policy-guide.md, "it denies if it cannot"; gateway-admin.md 3.2 "Header fields").
use strict;
use warnings;

use Test::More;

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer = Authz::Peer->start;
my $stack =
  Authz::Stack->start( gateway => 1, settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $gateway = Authz::Managed->new($stack);
$peer->set( '/a' => { body => {} } );

# Fields that no use may name in a request: framing, addresses, what changes method or path, what the caller shows us.
my @never =
  qw(Connection Keep-Alive Proxy Proxy-Authorization proxy_authorization Proxy-X TE Trailer Transfer-Encoding Upgrade
  HTTP2-Settings Content-Length content_length Expect Max-Forwards Host Forwarded X-Forwarded-For x_forwarded_for
  X-Forwarded-Proto Via X-Real-IP x_real_ip X-Client-IP True-Client-IP Client-IP X-Original-URL X-Rewrite-URL
  X-HTTP-Method-Override X-HTTP-Method X-Method-Override Accept-Encoding Cookie Cookie2 Authorization DPoP X-Admin-API-Key
  x_admin_api_key X-Bundle-API-Key X-CSRF-Token Sec-Fetch-Site Access-Control-Request-Method X-Request-ID);
my @always =
  qw(Accept Accept-Language If-None-Match If-Range Prefer Range Referer Origin From User-Agent Idempotency-Key
  PRIVATE-TOKEN X-GitHub-Api-Version X-Purpose X-Forwarder Link Refresh Server);

sub document {
    my ($member) = @_;
    return {
        name => 'h', displayName => 'h', upstreamType => 'REST', defaultScope => 'use', upstreamUrl => $peer->url,
        %$member };
}

sub save {
    my ($document) = @_;
    my $answer = $stack->admin( PUT => '/admin/api/managed-resources/h', json => $document );
    return $answer->status == 404
      ? $stack->admin( POST => '/admin/api/managed-resources', json => $document )
      : $answer;
}

my %route = ( id => 'a', methods => ['GET'], path => '/a' );
my %use   = (
    requestHeaders              => sub { document( { requestHeaders => { $_[0] => 'v' }, routes => [ \%route ] } ) },
    'requestHeaders of a route' => sub { document( { routes => [ { %route, requestHeaders => { $_[0] => 'v' } } ] } ) },
    forwardHeaders              => sub { document( { routes => [ { %route, forwardHeaders => [ $_[0] ] } ] } ) },
    obligation => sub { document( { routes => [ { %route, obligations => { headers => { $_[0] => 'v' } } } ] } ) },
);

# Return how a use of a name ends: refused (at the save), denied (the request), arrived, or lost.
sub outcome {
    my ( $use, $name ) = @_;
    my $saved = save( $use{$use}->($name) );
    return $saved->status == 400 ? 'refused' : 'save: ' . $saved->status if $saved->status !~ /\A20/;
    my $answer = $gateway->ask( GET => 'h', '/a', headers => [ $use eq 'forwardHeaders' ? ( $name => 'v' ) : () ] );
    return $answer->status == 403 ? 'denied' : 'answer: ' . $answer->status if $answer->status != 200;
    my $seen = ( $peer->requests('/a') )[-1]{headers};
    return ( $seen->{ lc $name } // '' ) eq 'v' ? 'arrived' : 'lost';
}

for my $use ( sort keys %use ) {
    my $no = $use eq 'obligation' ? 'denied' : 'refused';
    is_deeply( [ grep { outcome( $use, $_ ) ne $no } @never ], [], "$use: none of the fields that are never sent" );
    is_deeply( [ grep { outcome( $use, $_ ) ne 'arrived' } @always ], [], "$use: each other one arrives" );
}
for (
    [ 'requestHeaders', 'X_Team',           'arrived' ], [ 'forwardHeaders', 'X_Team',           'arrived' ],
    [ 'obligation',     'X_Team',           'denied' ],  [ 'requestHeaders', 'Content-Type',     'arrived' ],
    [ 'obligation',     'Content-Type',     'denied' ],  [ 'requestHeaders', 'Content-Encoding', 'refused' ],
    [ 'forwardHeaders', 'Content-Encoding', 'arrived' ], [ 'obligation',     'Content-Encoding', 'denied' ],
    [ 'obligation',     'Mcp-Session-Id',   'denied' ],  [ 'obligation',     'Set-Cookie',       'denied' ] )
{
    my ( $use, $name, $wanted ) = @$_;
    is( outcome( $use, $name ), $wanted, "$use: $name: $wanted" );
}

# ---- the credential wins, so nothing else may name its field

my %key =
  ( upstreamAuth => { type => 'static_header', header => 'X-Key', scheme => '', value => 'the-key-of-the-upstream' } );
for (
    [ { requestHeaders => { x_key => 'v' }, routes => [ \%route ] }, 'requestHeaders' ],
    [ { routes         => [ { %route, requestHeaders => { 'X-KEY' => 'v' } } ] }, 'routes[0].requestHeaders' ],
    [ { routes         => [ { %route, forwardHeaders => ['x_key'] } ] },          'routes[0].forwardHeaders' ] )
{
    my $answer = save( document( { %key, %{ $_->[0] } } ) );
    is( $answer->status, 400, "$_->[1]: not the field of the credential" ) or diag $answer->text;
    like( $answer->text, qr/\Q"$_->[1]"\E/, '... and the fault names its place' );
}
is( save( document( { %key, routes => [ { %route, obligations => { headers => { 'x-key' => 'v' } } } ] } ) )->status,
    200, 'an obligation that names it' );
is( $gateway->ask( GET => 'h', '/a' )->status,                   403, '... denies, because it cannot be met' );
is( save( document( { %key, routes => [ \%route ] } ) )->status, 200, 'a credential' );
is( $gateway->ask( GET => 'h', '/a' )->status,                   200, '... is sent' );
is( ( $peer->requests('/a') )[-1]{headers}{'x-key'},             'the-key-of-the-upstream', '... in its field' );

# ---- answers of STATIC resources

my @own =
  qw(Connection Transfer-Encoding Set-Cookie WWW-Authenticate Authentication-Info Strict-Transport-Security Alt-Svc
  Clear-Site-Data Status Cache-Control Server Content-Security-Policy X-Content-Type-Options X-Frame-Options Expires Age NEL
  Refresh Link X-Sendfile X-Sendfile2 X-Accel-Redirect x_accel_redirect X-LIGHTTPD-send-file Access-Control-Allow-Origin
  X-Request-ID X-Upstream-Failed Host DPoP-Nonce);
my @given = qw(ETag Last-Modified Content-Language X-Version Retry-After Allow Vary Content-Disposition);

sub static {
    my ( $response, %more ) = @_;
    my %document = ( name => 's', displayName => 's', upstreamType => 'STATIC', defaultScope => 'use' );
    $document{routes} = [ { %route, response => $response, %more } ];
    my $answer = $stack->admin( PUT => '/admin/api/managed-resources/s', json => \%document );
    return $answer->status == 404
      ? $stack->admin( POST => '/admin/api/managed-resources', json => \%document )
      : $answer;
}
is_deeply(
    [ grep { static( { headers => { $_ => 'v' } } )->status != 400 } @own ],
    [], 'response.headers: none of the fields that the gateway drops or sets' );
is_deeply(
    [   grep {
            static( { headers => { $_ => 'v' } } )->status !~ /\A20/
              || ( $gateway->ask( GET => 's', '/a' )->header($_) // '' ) ne 'v'
        } @given ],
    [],
    'response.headers: each other one arrives' );
is( static( { status => 200, headers => { Location => '/admin' } } )->status,
    400, 'Location with 200 would be fetched by the web server (RFC 3875 6.2.2)' );
is( static( { status => 302, headers => { location => 'https://x.example/' } } )->status, 200, '... 302 may have one' );
is( $gateway->ask( GET => 's', '/a' )->header('Location'), 'https://x.example/',               '... which arrives' );
is( static( {}, obligations => { headers => { 'X-Purpose' => 'v' } } )->status, 200,
    'a STATIC route with an obligation `headers`' );
is( $gateway->ask( GET => 's', '/a' )->status, 403, '... denies: it sends no request that could have one' );

# ---- answers of upstreams

save( document( { routes => [ \%route ] } ) );
$peer->set(
    '/a' => {
        headers => [
            ( map { $_ => 'v' } qw(Refresh X-Frame-Options X_Accel_Redirect X-Kept) ),
            Link => '</x>; rel=preload' ],
        body => {} } );
my $answer = $gateway->ask( GET => 'h', '/a' );
is( $answer->header($_),       undef, "$_ of an upstream is dropped" ) for qw(Refresh Link X_Accel_Redirect);
is( $answer->header('X-Kept'), 'v',   '... others are passed on' );

done_testing;

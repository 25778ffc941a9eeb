# The questions of Traefik (contrib/examples/doors/traefik.yml) and Envoy (envoy.yaml), which Debian does not have, octet by octet
# as their manuals describe them: forwardAuth, and ext_authz by HTTP with path_prefix (gateway-admin.md 1.8,
# doc/behind-your-proxy.md). And whose address rules see: SVC_CHECK_PROXY_COUNT.
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Door ();
use Authz::Path ();
use Authz::Web  ();

my $door  = Authz::Door->start( 'edge', settings => { SVC_TRUSTED_PROXY_COUNT => 2 } );
my $stack = $door->stack;
my $host  = '127.0.0.1:' . $door->port;
my $basic = 'Basic ' . $door->credential;
my $token = $door->token('shop:read');
my %field = ( host => $host, proto => 'http', for => '203.0.113.9', token => $token, basic => $basic, more => '' );

# forwardAuth: GET, the caller's fields, and X-Forwarded-* in place of his own.
sub traefik {
    my ( $method, $target, %with ) = @_;
    my %f = ( %field, %with );
    return
        "GET /auth/check HTTP/1.1\r\nHost: 127.0.0.1:$stack->{port}\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\n"
      . ( defined $f{token} ? "Authorization: Bearer $f{token}\r\n"        : '' )
      . ( defined $f{basic} ? "X-Authz-Proxy-Authorization: $f{basic}\r\n" : '' )
      . "X-Forwarded-For: $f{for}\r\nX-Forwarded-Host: $f{host}\r\n"
      . ( defined $method ? "X-Forwarded-Method: $method\r\n" : '' )
      . "X-Forwarded-Port: 443\r\nX-Forwarded-Proto: $f{proto}\r\nX-Forwarded-Server: edge\r\nX-Forwarded-Uri: $target\r\n"
      . "X-Real-Ip: $f{for}\r\n$f{more}Accept-Encoding: gzip\r\nConnection: close\r\n\r\n";
}

# ext_authz: the method, the target behind the prefix, Host and Authorization of the caller, and a length of 0.
sub envoy {
    my ( $method, $target, %with ) = @_;
    my %f = ( %field, %with );
    return
        "$method /auth/check/at$target HTTP/1.1\r\nhost: $f{host}\r\n"
      . ( defined $f{token} ? "authorization: Bearer $f{token}\r\n"        : '' )
      . ( defined $f{basic} ? "x-authz-proxy-authorization: $f{basic}\r\n" : '' )
      . ( defined $f{proto} ? "x-forwarded-proto: $f{proto}\r\n"           : '' )
      . "content-length: 0\r\nx-envoy-internal: true\r\nx-forwarded-for: $f{for}\r\n"
      . "x-envoy-expected-rq-timeout-ms: 5000\r\n$f{more}connection: close\r\n\r\n";
}

sub ask { my ( $octets, $method ) = @_; return $stack->http->raw( $octets, $method // 'GET' ) }

# The address in the audit row of a question.
sub address {
    my ( $shape, %with ) = @_;
    my $id = 'address-' . ++( our $asked );
    ask( $shape->( GET => '/api/orders/7', %with, more => "X-Request-ID: $id\r\n" ) );
    return $stack->sql(qq{SELECT coalesce(host(ip), 'none') FROM audit_log WHERE request_id = '$id'}) =~ s/\n\z//r;
}

for my $case ( [ 'Traefik', \&traefik ], [ 'Envoy', \&envoy ] ) {
    my ( $name, $shape ) = @$case;
    my $answer = ask( $shape->( GET => '/api/orders/7?a=1' ) );
    is( $answer->status, 200, "$name: a request that policy allows" ) or diag $answer->text;
    is_deeply(
        [ map { $answer->header("X-Authz-$_") } qw(Subject Client Resource Route Scopes Acr Idp Jwt) ],
        [qw(app app shop one shop:read - - -)],
        '... with the identity' );
    is( ask( $shape->( HEAD => '/api/orders/7' ), 'HEAD' )->status, 403, '... of HEAD, which no route has' );
    $answer = ask( $shape->( GET => '/api/orders', token => undef ) );
    is( $answer->status, 401, '... without a token' );
    like(
        ( $answer->headers('WWW-Authenticate') )[0], qr{\ABearer resource_metadata=.*/doors/shop/0"},
        '... with a challenge' );
    $answer = ask( $shape->( POST => '/api/orders' ), 'POST' );
    is( $answer->status, 403, '... of another method, whose scope is missing' );
    like(
        ( $answer->headers('WWW-Authenticate') )[0], qr/insufficient_scope.*scope="shop:write"/,
        '... with a challenge' );
    is( ask( $shape->( POST => '/api/orders', token => $door->token('shop:write') ), 'POST' )->status, 200,
        '... which another token has' );

    # ---- who asks
    for my $bad ( undef, 'Basic ' . MIME::Base64::encode_base64( 'edge:wrong', '' ), "Bearer $token", "$basic, $basic" )
    {
        $answer = ask( $shape->( GET => '/api/orders/7', basic => $bad ) );
        is( $answer->status, 403,
            "refused: $name with the credential " . ( defined $bad ? substr $bad, 0, 12 : 'left out' ) );
        is( $answer->header('WWW-Authenticate'), undef, '... without a challenge' );
    }
    is( ask( $shape->( GET => '/api/orders/7', basic => undef, more => "X_Authz_Proxy_Authorization: $basic\r\n" ) )
          ->status,
        403, 'refused: an alias in place of the credential' );

    # ---- what is asked
    for my $target (
        '/api%2Forders', '/api%2forders/7', '//api/orders', '/api//orders', '/api/./orders', '/x/../api/orders',
        '/x/%2e%2e/api/orders', '/api/orders;x', '/API/orders', '/api/orders/%C0%AF', '/api/orders/%00', '/other', '/' )
    {
        $answer = ask( $shape->( GET => $target ) );
        ok( $answer->status =~ /\A40[0134]\z/, "refused: $name with $target" ) or diag $answer->text;
    }
    for my $other ( 'evil.example', '127.0.0.1:1', "x\@$host", "$host, evil.example", "$host." ) {
        $answer = ask( $shape->( GET => '/api/orders/7', host => $other ) );
        ok( $answer->status =~ /\A40[03]\z/, "refused: $name with the host $other" ) or diag $answer->text;
    }
    for my $method (qw(DELETE get PROPFIND)) {
        $answer = ask( $shape->( $method => '/api/orders' ), $method );
        ok( $answer->status =~ /\A(?:40[035]|501)\z/, "refused: $name with the method $method" ) or diag $answer->text;
    }
    for my $proto ( 'https', 'gopher', 'http, https' ) {
        ok( ask( $shape->( GET => '/api/orders/7', proto => $proto ) )->status =~ /\A40[03]\z/,
            "refused: $name with the scheme $proto" );
    }

    # ---- whose address rules see
    is( address($shape), '203.0.113.9', 'the address that the web server states' );
    is( address( $shape, for => '10.9.9.9, 203.0.113.8' ), '203.0.113.8',
        '... the last one, whatever the caller wrote before it' );
    is( address( $shape, for => '203.0.113.7, x' ), 'none', '... or none, if it is malformed' );
}
my $answer = ask( traefik( undef, '/api/orders/7' ) );
is( $answer->status, 400, 'a web server that forwards no method' );
like( $answer->text, qr/X-Forwarded-Method/, '... learns what is missing' );
$answer = ask( envoy( GET => '/api/orders/7', proto => undef ) );
is( $answer->status, 400, 'Envoy without a scheme' );
like( $answer->text, qr/X-Forwarded-Proto/, '... learns what is missing' );
is( ask(envoy(
            GET  => '/api/orders/7',
            more => "x-forwarded-method: POST\r\nx-forwarded-uri: /other\r\nx-forwarded-host: evil\r\n" ) )->status,
    200,
    'fields X-Forwarded-* change nothing of a question by target' );
is( ask( traefik( POST => '/api/orders' ) =~ s{GET /auth/check}{GET /auth/check/at/api/orders/7}r )->status, 403,
    'nor does a target by whom the fields were meant: another host is another resource' );
is( ask( envoy( GET => '' ) )->status, 400, 'a question without a target' );
is( $stack->sql(
        q{SELECT DISTINCT method FROM audit_log WHERE endpoint = '/auth/check/at/**' AND outcome = 'allowed' ORDER BY 1}
    ),
    "GET\nPOST",
    'the audit rows have the method of the request' );

$stack->restart_service( settings => { SVC_CHECK_PROXY_COUNT => 0 } );
is( address( \&traefik, for => '1.1.1.1, 2.2.2.2, 3.3.3.3' ), '127.0.0.1',
    'without SVC_CHECK_PROXY_COUNT rules see the connection, whatever SVC_TRUSTED_PROXY_COUNT is' );
is( address( \&envoy, for => '1.1.1.1, 2.2.2.2, 3.3.3.3' ), '127.0.0.1', '... for both' );

# ---- the examples name what was replayed

for my $case (
    [   'traefik.yml', 'trustForwardHeader: false', qq{Connection: ""\n}, 'X-Authz-Proxy-Authorization: "Basic ',
        map {"- X-Authz-$_\n"} qw(Subject Subject-Type Idp Client Scopes Acr Resource Route Request-Id Jwt) ],
    [   'envoy.yaml',             'path_prefix: /auth/check/at', 'failure_mode_allow: false', "normalize_path: true\n",
        "merge_slashes: true\n",  'key: x-authz-proxy-authorization',
        'key: x-forwarded-proto', 'prefix: x-authz-' ] )
{
    my ( $file, @text ) = @$case;
    my $example = Authz::Web::edit( Authz::Path::source( qw(contrib examples doors), $file ) );
    ok( index( $example, $_ ) >= 0, "$file has: $_" =~ s/\n//r ) for @text;
}
done_testing;

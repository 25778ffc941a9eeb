#!/usr/bin/perl
# contrib/middleware (doc/middleware.md): each package in a process of its own in front of an API, against the real service, with one
# table of requests. nginx asks /auth/check, so its answers are those of the service (gateway-admin.md 1.8). What packages make of the
# answers of authz is in t/contrib/middleware_answers.t.
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Check  ();
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Guarded;
use Authz::Path    ();
use Authz::Peer    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $dir  = Authz::Process::directory();
my $mine = Authz::Path::source( 'contrib', 'middleware' );

# ---- the service: an API with a client of its own, which nginx has too, and clients that call it

my $guarded = Authz::Guarded->new;
my ( $port, $url ) = @$guarded{qw(port url)};

my $other = 'https://other.example';
my $stack = Authz::Stack->start( settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $peer  = Authz::Peer->start;

my @route = map { { id => $_, path => "/$_", scopes => ['orders.read'] } } qw(orders kept brief closed);
my $made  = $stack->admin(
    POST => '/admin/api/managed-resources',
    json => {
        name    => 'shop', displayName => 'Shop', upstreamType => 'REST', upstreamUrl => $peer->url,
        enabled => Authz::Check::true(), publicUrls => [$url], defaultScope => 'orders.read',
        routes  => [ @route, { id => 'make', path => '/orders', methods => ['POST'], scopes => ['orders.write'] } ] } );
is( $made->status, 201, 'the resource' ) or diag $made->text;
my @api = $stack->make_client(
    'api',
    {   grants    => [qw(authorization_code refresh_token)],
        endpoints => [qw(introspect check)], resources => [$url], scopes => ['orders.read'] } );
my %may = ( scopes => [qw(orders.read orders.write)], resources => [ $url, $other ] );
my @app = $stack->make_client( 'app', { grants => [qw(client_credentials authorization_code)], %may } );
$peer->set( map { ( "/$_" => { body => { for => 'app', client => 'app' } } ) } qw(orders kept brief closed) );

my $deployed = Authz::Policy->new($stack)
  ->deploy( rules => { 'custom/introspect.rego' => <<"END", 'custom/gateway.rego' => <<'END' } );
package custom.introspect

deny contains "closed" if input.context.path in {"/shop/closed", "/shop/of/a\@b:c"}

deny contains "not_here" if input.context.method == "DELETE"

deny contains "not_told" if {
	input.context.path == "/shop/tier"
	not told
}

told if {
	input.context.tier == "gold"
	input.context.method == "GET"
	input.context.action == "look"
	input.context.resource == "$url"
}

extensions := {"cache_seconds": {"/shop/kept": 900, "/shop/brief": 1}[input.context.path]}

obligations := {{"/shop/tenant": "tenant", "/shop/redact": "redact"}[input.context.path]: true}
END
package custom.gateway

deny contains "closed" if input.action.path == "/closed"

cache_seconds := {"/kept": 30, "/brief": 30}[input.action.path]
END
is( $deployed->status, 200, 'the rules' ) or diag $deployed->text;

# ---- tokens

my $alien = Authz::Dpop->new;

sub token {
    my (%other) = @_;
    my %form = ( scope => 'orders.read', resource => $url, %other );
    return $stack->token_text( @app, %form );
}

sub bound {
    my $answer = $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@app), $guarded->{key}->show( $stack, '/token' ) ],
        form => [ grant_type => 'client_credentials', scope => 'orders.read', resource => $url ] );
    return $answer->member('access_token') // die $answer->text;
}

Authz::Grant->people($stack);

sub person {
    my (%code) = @_;
    my $code = Authz::Grant->code( $stack, client => $app[0], scope => 'orders.read', resource => $url, %code );
    return Authz::Grant->redeem( $stack, \@app, $code )->member('access_token') // die 'no token';
}
my $own     = Authz::Grant->code( $stack, client => $api[0], scope => 'orders.read', resource => $url );
my $refresh = Authz::Grant->redeem( $stack, \@api, $own )->member('refresh_token') // die 'no refresh token';
my %token   = (
    good  => token(), write => token( scope => 'orders.write' ), other => token( resource => $other ),
    plain => $stack->token_text( @app, scope => 'orders.read' ),
    bound => bound(), strong => person( acr => 'mfa' ), weak => person(), refresh => $refresh );

# A proof for a path of the API; more members are claims, or the token that it is shown with.
sub proof {
    my ( $path, %claim ) = @_;
    return $guarded->proof( delete $claim{token} // $token{bound}, $path, %claim );
}

sub bearer { my ($name) = @_; return ( Authorization => "Bearer $token{$name}" ) }

sub dpop {
    my (@proof) = @_;
    return ( Authorization => "DPoP $token{bound}", map { ( DPoP => $_ ) } @proof );
}

# ---- nginx

my $nginx = Authz::Path::door('nginx');

sub start_nginx {
    mkdir "$dir/nginx" or die "$dir/nginx: $!";
    my $text = Authz::Web::edit(
        "$mine/nginx/authz-http.conf",
        qr/127\.0\.0\.1:8080/ => "127.0.0.1:$stack->{port}",
        qr{/run/authz-nginx}  => "$dir/nginx/kept" );
    my $server = Authz::Web::edit(
        "$mine/nginx/authz-server.conf",
        qr/Basic bmdpbng6c2VjcmV0/       => 'Basic ' . MIME::Base64::encode_base64( join( ':', @api ), '' ),
        qr/(?<=X-Forwarded-Proto )https/ => 'http',
        qr{(?<=protected-resource)/api}  => '/shop' );
    my $temporary = join ' ', map {"${_}_temp_path $dir/nginx/$_;"} qw(client_body proxy fastcgi uwsgi scgi);
    my $file      = Authz::Web::write_file( "$dir/nginx/nginx.conf", <<"END" );
@{[$> == 0 ? 'user root;' : '']}
daemon off; worker_processes 1; pid $dir/nginx/pid; error_log $dir/nginx/error.log; events {}
http {
  log_format kept '\$request_uri \$authz_kept'; access_log $dir/nginx/log kept; $temporary
$text
  server {
    listen 127.0.0.1:$port; server_name 127.0.0.1;
$server
    location /shop/ { include $mine/nginx/authz-protect.conf; proxy_pass @{[$peer->url]}/; }
  }
}
END
    return Authz::Process->start(
        name    => 'nginx',
        command => [ $nginx, '-p', "$dir/nginx", '-e', "$dir/nginx/error.log", '-c', $file ] );
}

# ---- the requests

# Name, method, target, header fields, status, what the challenges have; `door`: what nginx answers where that differs, or '' for
# what it is not asked. A name with a section is that of the standard.
my $bearer    = qr/^Bearer .*resource_metadata="[^"]+oauth-protected-resource/;
my @forwarded = (
    ( map { ( $_ => '/shop/orders' ) } qw(X-Original-URL X-Rewrite-URL X-Forwarded-Uri X-Forwarded-Path) ),
    ( map { ( $_ => 'GET' ) } qw(X-HTTP-Method-Override X-HTTP-Method X-Method-Override X-Forwarded-Method) ),
    'X-Forwarded-Host' => 'other.example', Forwarded => 'host=other.example', 'X-Forwarded-Proto' => 'https' );
my @case = (
    [ 'a token with the scope', GET => '/shop/orders', [ bearer('good') ], 200 ],
    [   'the scheme in lower case (RFC 9110 11.1)', GET => '/shop/orders', [ Authorization => "bearer $token{good}" ],
        200 ],
    [ 'the scope of another method', POST => '/shop/orders', [ bearer('write') ], 200 ],
    [ 'an obligation that the API meets', GET => '/shop/tenant', [ bearer('good') ], 200, undef, '' ],
    [   'context: rules of policy see it, and more members replace none', GET => '/shop/tier', [ bearer('good') ], 200,
        undef, '' ],
    [   'a sign-in as strong and as recent as needed (RFC 9470)', GET => '/shop/pay', [ bearer('strong') ], 200, undef,
        '' ],
    [ 'no token (RFC 6750 3, RFC 9728 5.1)', GET => '/shop/orders', [],                             401, $bearer ],
    [ 'a credential of another scheme',      GET => '/shop/orders', [ Authz::Client::basic(@app) ], 401 ],
    [ 'an empty token',                      GET => '/shop/orders', [ Authorization => 'Bearer ' ], 401 ],
    [   'a token that authz did not issue (RFC 6750 3.1)', GET => '/shop/orders',
        [ Authorization => 'Bearer nothing' ], 401, qr/error="invalid_token"/ ],
    [   'a token in the address (RFC 6750 2.3)', GET => "/shop/orders?access_token=$token{good}", [], 400,
        qr/error="invalid_request"|\A\z/ ],
    [   'a token in the address beside one in the header', GET => "/shop/orders?a=1&access_token=$token{good}",
        [ bearer('good') ],                                400 ],
    [   'an empty token in the address, its name encoded', GET => '/shop/orders?a=1&a%63cess%5Ftoken=',
        [ bearer('good') ],
        400 ],
    [ 'two tokens', GET => '/shop/orders', [ bearer('good'), bearer('good') ], qr/\A40[01]\z/ ],
    [   'a token beside a credential of another scheme', GET => '/shop/orders',
        [ Authz::Client::basic(@app), bearer('good') ],  qr/\A40[01]\z/ ],
    [   'an address with another host (RFC 9112 3.2.2)', GET => 'http://other.example/shop/closed', [ bearer('good') ],
        qr/\A40[0134]\z/ ],
    [   'a slash that is encoded', GET => '/shop/x%2F..%2Fclosed', [ bearer('good') ],
        qr/\A(?:40[0134]|30[178])\z/ ],
    [   'fields that name another path, method or host', DELETE => '/shop/orders',
        [ @forwarded, bearer('good') ], 401, undef, 403 ],
    [   'the same for a path that policy denies', GET => '/shop/closed', [ @forwarded, bearer('good') ], 401, undef,
        403 ],
    [   'a token for another API (RFC 8707 2)', GET => '/shop/orders', [ bearer('other') ], 401,
        qr/error="invalid_token"/, 403 ],
    [ 'a token for no API in particular',         GET => '/shop/orders', [ bearer('plain') ],   401 ],
    [ 'a refresh token of the client of the API', GET => '/shop/orders', [ bearer('refresh') ], 401 ],
    [   'a token without the scope (RFC 6750 3.1)', GET => '/shop/orders', [ bearer('write') ], 403,
        qr/error="insufficient_scope"|scope="orders\.read"/ ],
    [ 'a path that policy denies', GET => '/shop/closed', [ bearer('good') ], 401, undef, 403 ],
    [   'the same in another spelling (RFC 3986 6.2.2.2)', GET => '/shop/%63losed', [ bearer('good') ],
        qr/\A40[14]\z/,                                    undef,                   403 ],
    [   'the same with characters that need no encoding', GET => '/shop/of/a%40b%3ac', [ bearer('good') ], 401, undef,
        '' ],
    [   '... which are told as they are for others, too', GET => '/shop/of/a%40b%3ad', [ bearer('good') ], 200, undef,
        '' ],
    [   'the same by dot segments', GET => '/shop/x/%2e%2e/closed', [ bearer('good') ],
        qr/\A(?:400|404|30[17])\z/, undef,                          '' ],
    [ 'a method that policy denies',              DELETE => '/shop/orders', [ bearer('good') ], 401, undef,    403 ],
    [ 'an obligation that the API does not meet', GET    => '/shop/redact', [ bearer('good') ], 403, qr/\A\z/, '' ],
    [   'a sign-in that is not strong enough (RFC 9470 3)', GET => '/shop/pay', [ bearer('weak') ], 401,
        qr/error="insufficient_user_authentication", acr_values="mfa hwk", max_age="300"/, '' ],
    [ 'a client where a person must have signed in', GET => '/shop/pay', [ bearer('good') ], 401, qr/acr_values=/, '' ],
    [   'a sign-in that is too old (RFC 9470 3)', GET => '/shop/fresh', [ bearer('strong') ], 401,
        qr/error="insufficient_user_authentication", max_age="5", error_description="the sign-in is too weak or too old"/,
        '' ],
    [   'a bound token as a bearer token (RFC 9449 7.1)', GET => '/shop/orders', [ bearer('bound') ], 401,
        qr/^DPoP .*algs="[^"]*ES256/ ],
    [   'a bearer token by the scheme DPoP', GET => '/shop/orders',
        sub { ( Authorization => "DPoP $token{good}", DPoP => proof( '/shop/orders', token => $token{good} ) ) }, 401 ],
    [ 'a bound token with a proof (RFC 9449 7.1)', GET => '/shop/orders', sub { dpop( proof('/shop/orders') ) }, 200 ],
    [   'the scheme DPoP in lower case (RFC 9110 11.1)',                                  GET => '/shop/orders',
        sub { ( Authorization => "dpop $token{bound}", DPoP => proof('/shop/orders') ) }, 200 ],
    [   'a proof for the host of a forwarded field', GET => '/shop/orders',
        sub { ( @forwarded, dpop( proof( '/shop/orders', htu => 'https://other.example/shop/orders' ) ) ) }, 401 ],
    [   'a proof for the address with two encodings',                                           GET => '/shop/orders',
        sub { dpop( proof( '/shop/orders', htu => "http://127.0.0.1:$port/shop/orders#a" ) ) }, 200 ],
    [ 'a proof for the address with a query', GET => '/shop/orders?a=1', sub { dpop( proof('/shop/orders') ) }, 200 ],
    [   'a bound token without a proof', GET => '/shop/orders', sub { dpop() }, 401,
        qr/DPoP .*error="invalid_(?:dpop_proof|token)"/ ],
    [ 'two proofs', GET => '/shop/orders', sub { dpop( proof('/shop/orders'), proof('/shop/orders') ) }, 401 ],
    [   'a proof of another method (RFC 9449 4.3)', GET => '/shop/orders',
        sub { dpop( proof( '/shop/orders', htm => 'POST' ) ) }, 401, qr/DPoP .*error=/ ],
    [ 'a proof of another address (RFC 9449 4.3)', GET => '/shop/orders', sub { dpop( proof('/shop/brief') ) }, 401 ],
    [   'a proof of another host',                                                      GET => '/shop/orders',
        sub { dpop( proof( '/shop/orders', htu => 'http://localhost/shop/orders' ) ) }, 401 ],
    [   'a proof that is too old (RFC 9449 11.1)',                   GET => '/shop/orders',
        sub { dpop( proof( '/shop/orders', iat => time - 3600 ) ) }, 401 ],
    [   'a proof from the future', GET => '/shop/orders', sub { dpop( proof( '/shop/orders', iat => time + 3600 ) ) },
        401 ],
    [   'a proof of another token (RFC 9449 4.3)',             GET => '/shop/orders',
        sub { dpop( proof( '/shop/orders', token => 'x' ) ) }, 401 ],
    [ 'a proof without an id',  GET => '/shop/orders', sub { dpop( proof( '/shop/orders', jti => undef ) ) },  401 ],
    [ 'a proof by another key', GET => '/shop/orders', sub { dpop( proof( '/shop/orders', by  => $alien ) ) }, 401 ],
    [   'a proof of another type',                                            GET => '/shop/orders',
        sub { dpop( $guarded->{key}->proof( header => { typ => 'JWT' } ) ) }, 401 ],
    [   'a proof that nothing signed',                                GET => '/shop/orders',
        sub { dpop( proof('/shop/orders') =~ s/\.[^.]+\z/.AAAA/r ) }, 401 ],
    [ 'a text that is no proof', GET => '/shop/orders', sub { dpop('proof') }, 401 ],
);

sub fields_of { my ($answer) = @_; return $answer->headers('WWW-Authenticate') }

sub table {
    my ($way) = @_;
    for my $case (@case) {
        my ( $name, $method, $target, $field, $status, $challenge, $door ) = @$case;
        my $want = $way->{door} ? $door // $status : $status;
        next if $want eq '';
        my $answer = ask( $way, $method, $target, ref $field eq 'CODE' ? $field->() : @$field );
        status_is( $answer, $want, "$way->{name}: $name" );
        next if $way->{door} && defined $door;
        my @found = fields_of($answer);
        $challenge = $bearer
          if $way->{door} && $challenge && $want == 401;    # nginx passes the first one, which is Bearer
        ok( ( @found ? scalar grep { $_ =~ $challenge } @found : '' =~ $challenge ),
            "$way->{name}: ... with the challenge" )
          or diag explain \@found
          if defined $challenge;
    }
    return;
}

# ---- what takes more than one request

sub others {
    my ($way) = @_;
    my $name = $way->{name};
    is( ask( $way, GET => '/shop/closed#x', bearer('good') )->status, 400, "$name: a fragment in the address" )
      if $name =~ /\A(?:express|fastify)/;
    my $said = $way->{http}->get('/.well-known/oauth-protected-resource/shop');
    is( $said->status,             200,  "$name: the metadata (RFC 9728 3)" ) or diag $said->text;
    is( $said->member('resource'), $url, '... name the resource' );
    is_deeply( $said->member('authorization_servers'), [ $stack->base ], '... and authz' );
    my $who = ask( $way, GET => '/shop/orders', bearer('good') );
    is_deeply( [ map { $who->member($_) } qw(for client) ], [ 'app', 'app' ], "$name: the API learns who calls" );

    my $proof = proof('/shop/orders');
    is( ask( $way, GET => '/shop/orders', dpop($proof) )->status, 200, "$name: a proof counts" );
    is( ask( $way, GET => '/shop/orders', dpop($proof) )->status, 401, "$name: ... once (RFC 9449 11.1)" );
    my @kept = map { proof('/shop/kept') } 1, 2;
    is( ask( $way, GET => '/shop/kept', dpop($_) )->status, 200, "$name: a proof where answers are kept" ) for @kept;
    is( ask( $way, GET => '/shop/kept', dpop($_) )->status, 401, "$name: ... counts once too" )            for @kept;
    is( ask( $way, GET => '/shop/kept', bearer('bound') )->status, 401, "$name: ... and no answer is for a bearer" );
    odd_heads($way);

    # What is kept is for its token, method and path, and not changed by what the API does with it.
    my %mine = %{ $way->{mine} = { map { ( $_ => token() ) } qw(orders brief kept) } };
    is( kept( $way, $_ )->status,            200,   "$name: $_ passes" ) for sort keys %mine;
    is( kept( $way, 'kept' )->member('for'), 'app', "$name: a kept answer is as it was" );
    is( ask( $way, GET => '/shop/kept', bearer('write') )->status, 403, "$name: ... and for its token alone" );
    $stack->revoke( @app, token => $_ ) for values %mine;
    is( kept( $way, 'orders' )->status, 401, "$name: a revocation counts at once where policy permits no cache" );
    is( kept( $way, 'kept' )->status,   200, "$name: ... and later where it does" ) if !$way->{door};
    is( ask( $way, GET => '/shop/orders', Authorization => "Bearer $mine{kept}" )->status,
        401, "$name: an answer is kept for its own context" );
    return;
}

sub kept {
    my ( $way, $path ) = @_;
    return ask( $way, GET => "/shop/$path", Authorization => "Bearer $way->{mine}{$path}" );
}

# Requests that no client of HTTP makes by itself.
sub odd_heads {
    my ($way) = @_;
    my ( $name, $http ) = @$way{qw(name http)};
    my $head = sub {
        my ( $line, %claim ) = @_;
        my @field = dpop( proof( '/shop/orders', %claim ) );
        return $http->raw(
            "$line\r\n$field[0]: $field[1]\r\n$field[2]: $field[3]\r\nConnection: close\r\n\r\n",
            'GET' );
    };
    my $other =
      $head->( "GET /shop/orders HTTP/1.1\r\nHost: other.example", htu => 'http://other.example/shop/orders' );
    like( $other->status, qr/\A40[13]\z/, "$name: a proof for the Host that the caller sends" );
    return if $way->{door};
    is( $head->('GET /shop/orders HTTP/1.0')->status, 200, "$name: HTTP/1.0 without Host, and a proof" );
    is( ask( $way, GET => '/shop/tier?fail', bearer('good') )->status, 503, "$name: the context cannot be told" )
      if $name ne 'go';
    is( ask( $way, GET => '/shop/closed;x', bearer('good') )->status, 400, "$name: a parameter of the path" )
      if $name =~ /\Afastify/;
    like(
        ask( $way, GET => '/shop/wrong', @$_ )->status, qr/\A(?:0|50[03])\z/,
        "$name: a rule that is none lets nothing pass" ) for grep { $name ne 'go' } [], [ bearer('good') ];
    return if $name !~ /(?:sgi|corn)\z/;
    is( ask( $way, GET => '/shop/open/a' )->status,         200, "$name: a path without a rule is for everybody" );
    is( ask( $way, GET => "/shop/open/$_/closed" )->status, 400, "$name: ... and $_ does not lead out of it" )
      for '..', '%2e%2e', '..;', '%2E%2e%3B';
    return;
}

my @here = $guarded->start(
    { issuer => $stack->base, client => \@api, peer => $peer },
    { name   => 'nginx', why => $nginx ? undef : 'no nginx', door => 1, begin => \&start_nginx } );
for my $way (@here) {
    table($way);
    others($way);
}
for my $way (@here) {
    ok( Authz::Process::until_true( 30, sub { kept( $way, 'brief' )->status == 401 } ),
        "$way->{name}: a revocation counts after so many seconds as policy says" );
}

# nginx keeps what policy lets it keep, and nothing else.
my ($door) = grep { $_->{door} } @here;
if ($door) {
    my $log = sub { return Authz::Web::edit("$dir/nginx/log") };
    ok( Authz::Process::until_true(
            30, sub { ask( $door, GET => '/shop/kept', bearer('good') ); $log->() =~ m{^/shop/kept HIT$}m } ),
        'nginx: an answer is kept for a second if policy permits it' );
    unlike( $log->(), qr{^/shop/orders HIT$}m, '... and else it is not' );
}

# ---- without authz nothing passes

$stack->{service}->stop;
status_is(
    ask( $_, GET => '/shop/orders', bearer('good') ), 503,
    "$_->{name}: the service is down: 503, never a pass" ) for @here;
$stack->{server}->stop;
status_is(
    ask( $_, GET => '/shop/orders', bearer('good') ), 503,
    "$_->{name}: nobody listens: 503, never a pass" ) for @here;
logs_no( $_, $api[1], 'top-secret', values %token ) for grep { !$_->{door} } @here;

done_testing;

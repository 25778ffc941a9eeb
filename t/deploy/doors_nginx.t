# nginx asks /auth/check about each request, by contrib/examples/doors/nginx.conf (gateway-admin.md 1.8, doc/behind-your-proxy.md).
use strict;
use warnings;

use IO::Socket::INET ();
use MIME::Base64     ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $nginx = Authz::Path::door('nginx') // plan skip_all => 'needs nginx';
my $stack = Authz::Stack->start(
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_CHECK_PROXY_COUNT => 1 } );
my $peer = Authz::Peer->start;
my $port = Authz::Web::free_port();
my $url  = "http://127.0.0.1:$port/api";
my $dir  = Authz::Process::directory() . '/nginx';

is( $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name         => 'shop',      displayName => 'Shop', upstreamType => 'REST', upstreamUrl => $peer->url,
            defaultScope => 'shop:read', enabled     => Authz::Check::true(), publicUrls => [$url],
            routes       => [
                { id => 'list', path => '/orders' }, { id => 'one', path => '/orders/{id}' },
                { id => 'make', path => '/orders', methods => ['POST'], scopes => ['shop:write'] } ] } )->status,
    201,
    'the resource' );
my @app = $stack->make_client(
    'app',
    { grants => ['client_credentials'], scopes => [qw(shop:read shop:write)], resources => [$url] } );
my @proxy = $stack->make_client( 'nginx', { endpoints => ['check'], resources => [$url] } );
my $text  = Authz::Web::edit(
    Authz::Path::source(qw(contrib examples doors nginx.conf)),
    qr/127\.0\.0\.1:8080/            => "127.0.0.1:$stack->{port}",
    qr/127\.0\.0\.1:3000/            => '127.0.0.1:' . $peer->port,
    qr/listen 8443;/                 => "listen 127.0.0.1:$port;",
    qr/server_name shop\.example;/   => 'server_name 127.0.0.1;',
    qr/Basic bmdpbng6c2VjcmV0/       => 'Basic ' . MIME::Base64::encode_base64( join( ':', @proxy ), '' ),
    qr/(?<=X-Forwarded-Proto )https/ => 'http',
);
mkdir $dir or die "$dir: $!";
my $temporary = join ' ', map {"${_}_temp_path $dir/$_;"} qw(client_body proxy fastcgi uwsgi scgi);
my $file      = Authz::Web::write_file(
    "$dir/nginx.conf",
    join "\n",
    $> == 0 ? 'user root;' : '',
    'daemon off;', 'worker_processes 1;', "pid $dir/pid;", "error_log $dir/error.log;", 'events {}',
    "http { access_log off; $temporary", $text, '}' );
my $server =
  Authz::Process->start( name => 'nginx', command => [ $nginx, '-p', $dir, '-e', "$dir/error.log", '-c', $file ] );
Authz::Process::until_true(
    30,
    sub { !$server->alive || IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp' ) } );
ok( $server->alive, 'nginx takes the example' ) or BAIL_OUT('nginx does not start');

$peer->set( map { $_ => { body => { ok => 1 } } } qw(/api/orders /api/orders/7) );
my $http  = Authz::Client->new( port => $port );
my $token = $stack->token_text( @app, scope => 'shop:read', resource => $url );

sub ask {
    my ( $method, $path, @header ) = @_;
    return $http->request( $method, $path, headers => \@header );
}
my @bearer = Authz::Client::bearer($token);

# All fields of gateway-admin.md 1.8, as authz fills them for this token.
my %says = (
    Subject  => 'app',  'Subject-Type' => 'client', Idp => '-', Client => 'app', Scopes => 'shop:read', Acr => '-',
    Resource => 'shop', Route          => 'one',    'Request-Id' => qr/\A[0-9a-f-]{36}\z/ );
is( ask(GET => '/api/orders/7', @bearer, 'X_Authz_Client' => 'root', map { ( "X-Authz-$_" => 'root' ) } sort keys %says
    )->status,
    200,
    'a request that policy allows reaches the API' );
my ($request) = $peer->requests('/api/orders/7');
for my $name ( sort keys %says ) {
    like(
        $request->{headers}{ lc "x-authz-$name" },
        ref $says{$name} ? $says{$name} : qr/\A\Q$says{$name}\E\z/,
        "... with X-Authz-$name as authz says, whatever the caller sent" );
}
is( $request->{headers}{authorization}, undef, '... and without the token' );

# Fields that the gateway does not pass on either, because a server may do another thing than was decided (managed/headers.c).
my %other = (
    'X-HTTP-Method-Override' => 'DELETE',       'X-HTTP-Method'    => 'DELETE',       'X-Method-Override'  => 'DELETE',
    'X-Original-URL'         => '/admin',       'X-Rewrite-URL'    => '/admin',       'X-Forwarded-Method' => 'DELETE',
    'X-Forwarded-Uri'        => '/admin',       'X-Forwarded-Host' => 'evil.example', 'X-Forwarded-Proto'  => 'gopher',
    'Forwarded'              => 'for=10.0.0.1', 'X-Forwarded-For'  => '10.0.0.1' );
ask( GET => '/api/orders/7', @bearer, %other );
my $got = ( $peer->requests('/api/orders/7') )[-1]{headers};
is_deeply(
    { map { exists $got->{ lc $_ } ? ( $_ => $got->{ lc $_ } ) : () } keys %other },
    { 'X-Forwarded-For' => '127.0.0.1' }, '... and without fields that state another request, or another caller'
) or diag explain $got;
ask( GET => '/api/orders?a=%62', @bearer, 'X-Forwarded-For' => '203.0.113.9', 'X-Request-ID' => 'forged-address' );
is( $stack->sql(q{SELECT ip FROM audit_log WHERE request_id = 'forged-address'}),
    '127.0.0.1', 'rules see the address of the caller, whatever he says that it is (specification 8)' );
is( ( $peer->requests('/api/orders') )[-1]{target}, '/api/orders?a=%62', '... with the target as it was checked' );

my $answer = ask( GET => '/api/orders' );
is( $answer->status, 401, 'a request without a token' );
like(
    $answer->header('WWW-Authenticate'),
    qr{\ABearer resource_metadata="\Q$stack->{base}\E/\.well-known/oauth-protected-resource/doors/shop/0", scope="shop:read"},
    '... gets the challenge, with the address of the metadata' );
is( ask( GET => '/api/orders', Authz::Client::bearer('dead') )->status, 401, 'a dead token' );
$answer = ask( POST => '/api/orders', @bearer );
is( $answer->status, 403, 'a token without the scope' );
like(
    $answer->header('WWW-Authenticate'), qr/insufficient_scope.*scope="shop:write"/,
    '... gets the challenge for it' );
my $hits = $peer->hits('/api/orders');
for my $path (
    '/', '/other', '/api%2Forders', '//api/orders', '/api/./orders', '/x/../api/orders', '/api/orders;x',
    '/api/unknown' )
{
    my $status = ask( GET => $path, @bearer )->status;
    ok( $status == 403 || $status == 400, "refused: $path" ) or diag $status;
}
is( ask( GET => '/authz-check', @bearer )->status, 404, 'the question itself cannot be asked from outside' );
is( ask( GET => '/api/orders', 'X-Forwarded-Uri' => '/api/orders/7', 'X-Forwarded-Method' => 'GET' )->status, 401,
    'fields of the caller do not change the question' );
is( $peer->hits('/api/orders'), $hits, '... and nothing of these reached the API' );

$stack->stop;
is( ask( GET => '/api/orders/7', @bearer )->status, 500, 'while authz is away nothing is served' );
$server->stop;
done_testing;

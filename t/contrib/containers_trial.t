#!/usr/bin/perl
# The parts of contrib/containers/compose.yml on this machine: its secrets, provider, upstream and instance, until a person is signed in
# and the gateway passes on a call. No container runs here.
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $demo = Authz::Path::source( 'contrib', 'demo' );
my $dir  = Authz::Process::directory() . '/trial';
mkdir $dir, 0750 or die "$dir: $!";
my %port = map { ( $_ => Authz::Web::free_port() ) } qw(demo orders);

# ---- the secrets

sub keys_of {
    my ( $status, $text ) = Authz::Process->run( name => 'keys', command => [ "$demo/keys", $dir ] );
    is( $status, 0, 'keys makes the secrets' ) or diag $text;
    return { map { ( $_ => Authz::Web::edit("$dir/$_") ) } map {s{.*/}{}r} glob "$dir/*" };
}
my $secret = keys_of();
is_deeply(
    [ sort keys %$secret ],
    [qw(admin_api_key admin_pepper bundle_api_key client_secret credential_key secret)],
    '... those that compose.yml names' );
is( scalar( grep { !/\A[0-9a-f]{64}\n\z/ } values %$secret ),    0, '... of 32 random octets' );
is( scalar( keys %{ { reverse %$secret } } ),                    6, '... each another one' );
is( scalar( grep { ( stat "$dir/$_" )[2] & 07 } keys %$secret ), 0, '... which others cannot read' );
is_deeply( keys_of(), $secret, '... and a second run keeps them' );

# ---- the instance

my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => { SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true', SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' }
);
my $here  = "http://127.0.0.1:$port{demo}";
my @serve = (
    "$demo/serve", '--port', $port{demo}, '--service', $stack->base, '--state', $dir, '--style',
    Authz::Path::source(qw(etc www head.html)) );
my $provider = Authz::Process->start( name => 'demo',   command => \@serve );
my $upstream = Authz::Process->start( name => 'orders', command => [ "$demo/upstream", '--port', $port{orders} ] );
for my $name ( sort keys %port ) {
    my $client = Authz::Client->new( port => $port{$name} );
    ok( defined Authz::Process::until_true(
            30,
            sub {
                eval { $client->get('/')->status }
            } ),
        "$name answers" );
}

# The files, with the ports of this test.
my $files = Authz::Process::directory() . '/instance';
system( 'cp', '-R', Authz::Path::source(qw(contrib containers trial)), $files ) == 0 or die 'cp';
for my $file ( map { chomp; $_ } readpipe "find '$files' -name '*.json'" ) {
    my $text = Authz::Web::edit($file);
    $text =~ s{"/trial/}{"$dir/}g;
    $text =~ s{127\.0\.0\.1:8080}{127.0.0.1:$stack->{port}}g;
    $text =~ s{127\.0\.0\.1:8081}{127.0.0.1:$port{demo}}g;
    $text =~ s{127\.0\.0\.1:8082}{127.0.0.1:$port{orders}}g;
    Authz::Web::write_file( $file, $text );
}

sub apply {
    my ($name) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'apply',
        env     => { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} },
        command => [ Authz::Path::program('authzctl'), '--server', $stack->base, 'apply', $files ] );
    is( $status, 0, $name ) or diag $text;
    return $text;
}
like( apply('apply makes the instance of the trial'), qr/create client demo-web/, '... with its client' );
unlike( apply('a second apply'), qr/create/, '... makes nothing' );

# ---- a person

my $browser = Authz::Browser->new;
my ($page)  = ( $browser->follow("$here/client/login?idp_hint=demo") )[-1];
my ($alice) = $page->body =~ m{href="(/choose\?[^"]*person=alice)"};
ok( defined $alice, 'the sign-in leads to the provider, which knows alice' ) or diag $page->text;
$alice =~ s/&amp;/&/g;
($page) = ( $browser->follow("$here$alice") )[-1];
for ( 1 .. 2 ) {
    last if $page->body =~ /You are signed in/;
    ($page) = ( $browser->submit( $page, button => [ decision => 'allow' ] ) )[-1];
}
like( $page->body, qr/You are signed in/, 'alice is signed in' ) or diag $page->text;
like( $page->body, qr/Policy has just decided that the access token is good/, '... with a token that policy allows' );

# ---- the gateway

is( $stack->http->get('/gateway/orders-api/orders')->status, 401, 'the gateway asks for a token before the API' );
is( $stack->http->get('/.well-known/oauth-protected-resource/gateway/mcp/orders')->status, 200,
    '... and before the MCP server' );
my ( $status, $text ) = Authz::Process->run(
    name    => 'sync',
    env     => { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} },
    command => [ Authz::Path::program('authzctl'), '--server', $stack->base, 'resource', 'sync', 'orders' ] );
is( $status, 0, 'the gateway reads the tools of the MCP server' ) or diag $text;
like( $text, qr/list_orders/, '... by their names' )              or diag $text;

# ---- an MCP client that registers itself, for alice

my $back     = 'http://127.0.0.1:9/callback';
my $resource = $stack->base . '/gateway/mcp/orders';
my $register = $stack->http->request(
    POST => '/register',
    json => {
        client_name    => 'an agent', redirect_uris => [$back], token_endpoint_auth_method => 'none',
        response_types => ['code'],   grant_types   => [qw(authorization_code refresh_token)] } );
is( $register->status, 201, 'an MCP client registers itself' ) or diag $register->text;
my %asked = (
    client_id => $register->member('client_id') // '', redirect_uri => $back, resource => $resource,
    scope     => 'orders:read' );
my $verifier = 'v' x 50;
($page) = (
    $browser->follow(
        $stack->base . '/authorize?' . Authz::Client::form(
            %asked,
            response_type  => 'code', state => 's' x 20, code_challenge_method => 'S256',
            code_challenge => MIME::Base64::encode_base64url( Digest::SHA::sha256($verifier) ) ),
        stop => qr{\A\Q$back\E} ) )[-1];
for ( 1 .. 2 ) {
    last if $browser->url =~ /\A\Q$back\E/ || !Authz::Browser::forms($page);
    ($page) = ( $browser->submit( $page, button => [ decision => 'allow' ], stop => qr{\A\Q$back\E} ) )[-1];
}
my %answer = Authz::Browser::query( $browser->url );
ok( defined $answer{code}, '... alice lets it' ) or diag $browser->url, $page->text;
my $alices = $stack->http->post(
    '/token',
    form => [ %asked, grant_type => 'authorization_code', code => $answer{code} // '', code_verifier => $verifier ] );
is( $alices->status, 200, '... it gets a token' ) or diag $alices->text;
my $tool = $stack->http->post(
    '/gateway/mcp/orders',
    json => { jsonrpc => '2.0', id => 1, method => 'tools/call', params => { name => 'list_orders', arguments => {} } },
    headers => [
        Authorization => 'Bearer ' . ( $alices->member('access_token') // '' ),
        Accept        => 'application/json, text/event-stream', 'MCP-Protocol-Version' => '2025-06-18' ] );
like( $tool->body, qr/six lamps/, '... and calls a tool through the gateway' ) or diag $tool->text;

# ---- an API

my $agent = [
    $stack->make_client(
        'agent',
        { grants => ['client_credentials'], resources => ['urn:svc:gateway'], gateway_scopes => ['orders-api:*'] } ) ];
my $token = $stack->token( @$agent, scope => 'orders-api:read', resource => $stack->base . '/gateway/orders-api' );
my $call  = $stack->http->get(
    '/gateway/orders-api/orders',
    headers => [ Authorization => 'Bearer ' . ( $token->member('access_token') // '' ) ] );
is( $call->status, 200, 'a client with a token gets the orders' ) or diag $token->text, $call->text;
like( $call->body, qr/six lamps/, '... of the API' );

# ---- the end

for my $process ( $provider, $upstream ) {
    $process->signal('TERM');
    is( $process->wait(30), 0, 'SIGTERM ends it with status 0' );
}

done_testing;

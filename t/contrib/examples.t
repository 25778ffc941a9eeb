#!/usr/bin/perl
# contrib/examples: each way to protect an API (doc/protect-an-api.md) against the real service, with the same list of requests.
use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Client  ();
use Authz::Grant   ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Server  ();
use Authz::Stack   ();
use Authz::Web     ();

plan skip_all => 'IO::Socket::SSL is not here (contrib/check installs it)' if !eval { require IO::Socket::SSL; 1 };

my $examples = Authz::Path::source( 'contrib', 'examples' );
my $modules  = Authz::Path::apache_modules() // '';
my $stack    = Authz::Stack->start;
my $dir      = Authz::Process::directory();

# The clients are those that the page tells its reader to make; t/contrib/walk.t runs its commands.
my @api    = $stack->make_client( 'orders-api', { endpoints => ['introspect'] } );
my @reader = $stack->make_client( 'reader',     { grants    => ['client_credentials'], scopes => ['orders.read'] } );

my @writer = $stack->make_client(
    'writer',
    { grants => ['client_credentials'], scopes => [ 'orders.write', 'orders.read.all' ] } );

# The client of the API gets refresh tokens too, as one that also calls other APIs for its users.
$stack->bind( $api[0], { grants => [qw(authorization_code refresh_token)], scopes => ['orders.read'] } );
Authz::Grant->people($stack);
my $refresh =
  Authz::Grant->redeem( $stack, \@api, Authz::Grant->code( $stack, client => $api[0], scope => 'orders.read' ) )
  ->member('refresh_token') // die 'no refresh token';

my ( $front, $front_port ) = start_front( Authz::Peer::certificate() );
my %env = (
    AUTHZ_INTROSPECT_URL => "https://localhost:$front_port/introspect", AUTHZ_CLIENT_ID => $api[0],
    AUTHZ_CLIENT_SECRET  => $api[1],
    AUTHZ_SCOPE          => 'orders.read',          SSL_CERT_FILE           => Authz::Peer::ca_file(),
    NODE_EXTRA_CA_CERTS  => Authz::Peer::ca_file(), PYTHONDONTWRITEBYTECODE => 1 );

for
  my $program ( [ 'python3', "$examples/python/api.py" ], [ Authz::Node::node() // 'node', "$examples/node/api.mjs" ] )
{
  SKIP: {
        skip "$program->[0] is not here", 2 if system("command -v $program->[0] >/dev/null 2>&1") != 0;
        my ( $status, $text ) = Authz::Process->run(
            name => 'bare', command => $program,
            env  => { %env, AUTHZ_CLIENT_SECRET => '', PORT => Authz::Web::free_port() } );
        is( $status, 1, "$program->[1] without a secret does not start" );
        like( $text, qr/\Anot started: set AUTHZ_CLIENT_SECRET in the environment/, '... and names the variable' );
    }
}

# Start a server that speaks TLS and passes each request on to the service. Return its process and its port.
sub start_front {
    my ($certificate) = @_;
    my $port          = Authz::Web::free_port();
    my $listen        = IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 20 )
      or die "port $port: $!";
    my $pass_on = sub {
        my ($peer) = @_;
        IO::Socket::SSL->start_SSL(
            $peer, SSL_server => 1, SSL_cert_file => $certificate,
            SSL_key_file => $certificate ) or return;
        my $asked   = Authz::Server::read_message($peer)                                           // return;
        my $service = IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $stack->{port} ) // return;
        print {$service} ( $asked->{head} =~ s/\r\nConnection:[^\r]*//ir )
          . "\r\nConnection: close\r\n\r\n$asked->{body}";
        while ( sysread $service, my $octets, 65536 ) { print {$peer} $octets }
        return;
    };
    my $process =
      Authz::Process->start( name => "front$port", code => sub { Authz::Server::accept_each( $listen, $pass_on ) } );
    return ( $process, $port );
}

# The API behind the two web servers: it needs no token itself, so a request that reaches it has passed.
my $api_port = Authz::Web::free_port();
my $listener = IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => $api_port, Listen => 20 )
  or die "port $api_port: $!";
Authz::Process->start( name => 'api', code => sub { serve_api($listener) } );

sub serve_api {
    my ($socket) = @_;
    Authz::Server::accept_each(
        $socket,
        sub {
            my ($peer)  = @_;
            my $message = Authz::Server::read_message($peer) // return;
            my $out     = qq({"orders":[1,2,3],"got":"$message->{body}"});
            print {$peer} "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: "
              . length($out)
              . "\r\nConnection: close\r\n\r\n$out";
        } );
    return;
}

# ---- each way: how it starts on a port, and its answer while the service is away

my ($node) = grep { defined && -x } Authz::Node::node(), Authz::Path::on_path('node');
my @way    = (
    {   name    => 'Python',
        command => [ 'python3', "$examples/python/api.py" ],
        need    => scalar Authz::Path::on_path('python3') },
    {   name    => 'Node.js',
        command => [ $node, "$examples/node/api.mjs" ],
        need    => $node },
    {   name    => 'lighttpd',
        command => [ Authz::Path::lighttpd(), '-D', '-f', "$dir/protect-lighttpd.conf" ],
        need    => scalar Authz::Path::on_path('python3'),
        make    => \&make_lighttpd,
        server  => 1 },
    {   name    => 'Apache',
        command => [ Authz::Path::apache() // 'apache2', '-X', '-f', "$dir/protect-apache.conf" ],
        need    => -e "$modules/mod_auth_openidc.so",
        make    => \&make_apache,
        server  => 1,
        away    => 401,
        silent  => 1 },
);

sub make_lighttpd {
    my ($port) = @_;
    my $text = Authz::Web::edit(
        "$examples/lighttpd/protect.conf",
        qr/^var\.protect_listen = .*/m          => "var.protect_listen = $port",
        qr/^server\.(?:user|group)name = .*\n/m => '',
        qr/"\/nonexistent"/                     => qq{"$dir"},
        qr/^var\.protect_program = .*/m         => qq{var.protect_program = "$examples/python/authorizer.py"},
        qr/^var\.protect_sockets = .*/m         => qq{var.protect_sockets = "$dir"},
        qr/^var\.protect_introspect = .*/m      => qq{var.protect_introspect = "$env{AUTHZ_INTROSPECT_URL}"},
        qr/^var\.protect_secret = .*/m          => qq{var.protect_secret = "$api[1]"},
        qr/^var\.protect_port = .*/m            => "var.protect_port = $api_port",
        qr/\( "PATH" \)/                        => '( "PATH", "SSL_CERT_FILE", "PYTHONDONTWRITEBYTECODE" )',
    );
    return Authz::Web::write_file(
        "$dir/protect-lighttpd.conf",
        qq{server.errorlog = "$dir/protect-lighttpd.log"\n$text} );
}

sub make_apache {
    my ($port) = @_;
    my $text = Authz::Web::edit(
        "$examples/apache/protect.conf",
        qr/^Define PROTECT_INTROSPECT .*/m => "Define PROTECT_INTROSPECT $env{AUTHZ_INTROSPECT_URL}",
        qr/^Define PROTECT_SECRET .*/m     => "Define PROTECT_SECRET $api[1]",
        qr/^Define PROTECT_PORT .*/m       => "Define PROTECT_PORT $api_port",
    );
    my @load = map {"LoadModule ${_}_module $modules/mod_$_.so"}
      qw(mpm_prefork authn_core authz_core authz_user proxy proxy_http auth_openidc);
    my $user = $> == 0 ? "User www-data\nGroup www-data\n" : '';
    return Authz::Web::write_file(
        "$dir/protect-apache.conf",        join "\n", @load, $user, "ServerRoot $dir", 'ServerName localhost',
        "PidFile $dir/protect-apache.pid", "Mutex file:$dir default", "ErrorLog $dir/protect-apache.log",
        "Listen 127.0.0.1:$port",          'OIDCCABundlePath ' . Authz::Peer::ca_file(), $text );
}

sub start {
    my ( $way, %option ) = @_;
    my $port = Authz::Web::free_port();
    $way->{make}->($port) if $way->{make};
    my $process = Authz::Process->start(
        name => $way->{name}, command => $way->{command},
        env  => { %env, PORT => $port, %option } );
    my $there = Authz::Process::until_true(
        30,
        sub { !$process->alive || IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $port, Proto => 'tcp' ) }
    );
    ok( $there && $process->alive, "$way->{name} starts" ) or return;
    $way->{http} = Authz::Client->new( port => $port );
    return 1;
}

my @here;
my $foreign_port = ( start_front( Authz::Peer::certificate( foreign => 1 ) ) )[1];
for my $way (@way) {
  SKIP: {
        skip "$way->{name}: its programs are not here", 1 if !$way->{need};
        push @here, $way if start($way) && requests($way);
        next if $way->{server};
        my %other = %$way;
        start( \%other, AUTHZ_INTROSPECT_URL => "https://localhost:$foreign_port/introspect" ) or next;
        answer_is(
            ask( \%other, "Bearer $way->{token}" ),
            503, "$way->{name}: a server without a trusted certificate is not the service" );
    }
}

sub ask {
    my ( $way, $authorization, $target ) = @_;
    return $way->{http}
      ->get( $target // '/orders', headers => [ defined $authorization ? ( Authorization => $authorization ) : () ] );
}

sub answer_is {
    my ( $answer, $status, $name ) = @_;
    return is( $answer->status, $status, $name ) || diag $answer->text;
}

sub requests {
    my ($way) = @_;
    my $name  = $way->{name};
    my $good  = $stack->token_text( @reader, scope => 'orders.read' );
    my $pass  = ask( $way, "Bearer $good" );
    answer_is( $pass, 200, "$name: a token with the scope passes" );
    is_deeply( $pass->member('orders'), [ 1, 2, 3 ], "$name: ... and gets the answer of the API" ) or diag $pass->text;
    answer_is( ask( $way, "bearer $good" ), 200, "$name: the name of the scheme has no case (RFC 9110 11.1)" );

    my $none = ask($way);
    answer_is( $none, 401, "$name: a request without a token is refused with 401" );
    like( $none->header('WWW-Authenticate') // '', qr/^Bearer\b/, "$name: ... that asks for one (RFC 6750 3)" );
    my $bad = ask( $way, 'Bearer ' . ( $good =~ s/.\z//r ) . ( $good =~ /A\z/ ? 'B' : 'A' ) );
    answer_is( $bad, 401, "$name: a token that the service did not issue is refused with 401" );
    like( $bad->header('WWW-Authenticate') // '', qr/error="invalid_token"/, "$name: ... that says so (RFC 6750 3.1)" );
    answer_is( ask( $way, $_->[1] ), 401, "$name: $_->[0] is refused with 401" )
      for [ 'a credential of another scheme', ( Authz::Client::basic(@reader) )[1] ],
      [ 'an empty token',                          'Bearer ' ],
      [ 'a token with an octet that no token has', "Bearer $good\"" ];
    answer_is( $way->{http}->get("/orders?access_token=$good"), 401, "$name: a token in the address is not read" );

    my $other = ask( $way, 'Bearer ' . $stack->token_text( @writer, scope => 'orders.read.all orders.write' ) );
    answer_is(
        $other, 403,
        "$name: a token without the scope is refused with 403, though one of its scopes begins like it" );
    like(
        $other->header('WWW-Authenticate') // '', qr/error="insufficient_scope"/,
        "$name: ... that says so (RFC 6750 3.1)" ) if !$way->{silent};
    my $kept = ask( $way, "Bearer $refresh" )->status;
    ok( $kept == 401 || $kept == 403, "$name: a refresh token of the API's own client does not pass" ) or diag $kept;
    server_requests( $way, $good ) if $way->{server};

    $stack->revoke( @reader, token => $good );
    answer_is( ask( $way, "Bearer $good" ), 401, "$name: a token that was revoked a moment ago is refused" );
    $way->{token} = $stack->token_text( @reader, scope => 'orders.read' );
    answer_is( ask( $way, "Bearer $way->{token}" ), 200, "$name: the next token passes" );
    return 1;
}

# These tests are for a web server in front of an API.
sub server_requests {
    my ( $way, $good ) = @_;
    answer_is( ask( $way, undef, $_ ), 401, "$way->{name}: $_ needs a token too" )
      for '/', '//orders', '/%6frders', '/orders/../orders', '/x';
    my $post = $way->{http}->post(
        '/orders', headers => [ Authorization => "Bearer $good", 'Content-Type' => 'text/plain' ],
        body => 'three' );
    is( $post->member('got'), 'three', "$way->{name}: a body reaches the API" ) or diag $post->text;
    return;
}

# lighttpd asks the modules in their order: with mod_proxy first, requests would pass unasked.
my $other = Authz::Web::write_file(
    "$dir/other.conf",
    qq{server.modules = ( "mod_proxy" )\ninclude "$examples/lighttpd/protect.conf"\n} );
my ($refused) =
  Authz::Process->run( name => 'lighttpd -t', command => [ Authz::Path::lighttpd(), '-t', '-f', $other ] );
isnt(
    $refused, 0,
    'lighttpd: the configuration is refused inside another one, where the order of modules may be wrong' );

# ---- no answer of the service: nothing passes

sub away {
    my ($why) = @_;
    for my $way (@here) {
        my $status = $way->{away} // 503;
        answer_is( ask( $way, "Bearer $way->{token}" ), $status, "$way->{name}: $why: $status, never a pass" );
    }
    return;
}

$stack->bind( $api[0], { endpoints => undef } );
away('the client of the API may not introspect');
$stack->bind( $api[0], { endpoints => ['introspect'] } );
for my $way (@here) {
    answer_is( ask( $way, "Bearer $way->{token}" ), 200, "$way->{name}: with the entitlement the token passes again" );
}
$_->{token} = $stack->token_text( @reader, scope => 'orders.read' ) for @here;
$stack->{service}->stop;
away('the service is down');
$stack->{server}->stop;
away('the service does not answer');
$front->stop;
away('nobody listens at the address of the service');

done_testing;

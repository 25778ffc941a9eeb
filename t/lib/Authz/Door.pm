package Authz::Door;

# An API behind a web server that asks authz about each request, and what callers try there (gateway-admin.md 1.8,
# doc/behind-your-proxy.md).
#
#   my $door = Authz::Door->start('caddy');      authz, the API ($door->api), and the clients
#                                                aliases => 0: the web server passes fields with underscores on
#   $door->run( 'caddy', @command );             the web server, which listens at $door->port
#   $door->serves; $door->turns_away; $door->withstands; $door->fails_closed;

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use IO::Socket::UNIX ();
use MIME::Base64     ();
use Test::More;

use Authz::Check         ();
use Authz::Client        ();
use Authz::Deploy::Alias qw(name_signs);
use Authz::Peer          ();
use Authz::Process       ();
use Authz::Server        ();
use Authz::Stack         ();
use Authz::Web           ();

my @IDENTITY = qw(Subject Subject-Type Idp Client Scopes Acr Resource Route Request-Id Jwt);

# Fields from which servers take another request or another caller than policy saw.
my %OTHER = (
    'X-HTTP-Method-Override' => 'DELETE',       'X-HTTP-Method'    => 'DELETE',       'X-Method-Override'  => 'DELETE',
    'X-Original-URL'         => '/admin',       'X-Rewrite-URL'    => '/admin',       'X-Forwarded-Method' => 'DELETE',
    'X-Forwarded-Uri'        => '/admin',       'X-Forwarded-Host' => 'evil.example', 'X-Forwarded-Proto'  => 'gopher',
    'Forwarded'              => 'for=10.0.0.1', 'X-Forwarded-For'  => '10.0.0.1' );

sub start {
    my ( $class, $client, %option ) = @_;
    my $port = Authz::Web::free_port();
    my $self = bless { port => $port, url => "http://127.0.0.1:$port/api", aliases => $option{aliases} // 1 }, $class;
    $self->{stack} = Authz::Stack->start(
        settings => {
            SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_CHECK_PROXY_COUNT => 1,
            %{ $option{settings} // {} } } );
    $self->{api} = $option{api} // Authz::Peer->start;
    $self->{api}->set( map { $_ => { body => { ok => 1 } } } qw(/api/orders /api/orders/7) );
    my $answer = $self->{stack}->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name         => 'shop', displayName  => 'Shop', upstreamType => 'REST', upstreamUrl => $self->{api}->url,
            defaultScope => 'shop:read', enabled => Authz::Check::true(), publicUrls => [ $self->{url} ],
            routes       => [
                { id => 'list', path => '/orders' }, { id => 'one', path => '/orders/{id}' },
                { id => 'make', path => '/orders', methods => ['POST'], scopes => ['shop:write'] } ] } );
    $answer->status == 201 or die $answer->text;
    $self->{app} = [
        $self->{stack}->make_client(
            'app',
            { grants => ['client_credentials'], scopes => [qw(shop:read shop:write)], resources => [ $self->{url} ] } )
    ];
    $self->{proxy} =
      [ $self->{stack}->make_client( $client, { endpoints => ['check'], resources => [ $self->{url} ] } ) ];
    $self->{token} = $self->token('shop:read');
    $self->{http}  = Authz::Client->new( port => $port, foreign => 1 );
    return $self;
}

sub port  { return $_[0]{port} }
sub stack { return $_[0]{stack} }
sub api   { return $_[0]{api} }

# The base64 text of the credential, as the examples have it.
sub credential { my ($self) = @_; return MIME::Base64::encode_base64( join( ':', @{ $self->{proxy} } ), '' ) }

sub token {
    my ( $self, $scope ) = @_;
    return $self->{stack}->token_text( @{ $self->{app} }, scope => $scope, resource => $self->{url} );
}

# A port of 127.0.0.1 that leads to the core pool, for web servers that speak FastCGI by TCP alone.
sub tcp_port {
    my ($self) = @_;
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 64, ReuseAddr => 1 ) or die "listen: $@";
    my $serve  = sub {
        my ($client) = @_;
        my $pool     = IO::Socket::UNIX->new( Peer => "$self->{stack}{dir}/core.sock" ) or return;
        my %other    = ( $client => $pool, $pool => $client );
        my $both     = IO::Select->new( $client, $pool );
        while ( my @ready = $both->can_read(60) ) {
            for my $from (@ready) {
                sysread( $from, my $text, 65536 )          or return;
                Authz::Server::put( $other{$from}, $text ) or return;
            }
        }
    };
    Authz::Process->start( name => 'tcp', code => sub { Authz::Server::accept_each( $listen, $serve ) } );
    return $listen->sockport;
}

# Start the web server, and wait until it listens.
sub run {
    my ( $self, $name, @command ) = @_;
    $self->{server} = Authz::Process->start( name => $name, command => \@command );
    Authz::Process::until_true(
        30,
        sub {
            !$self->{server}->alive
              || IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $self->{port}, Proto => 'tcp' );
        } );
    ok( $self->{server}->alive, "$name takes the example" ) or BAIL_OUT("$name does not start");
    return;
}

sub ask {
    my ( $self, $method, $path, @header ) = @_;
    return $self->{http}->request( $method, $path, headers => \@header );
}
sub bearer { my ($self) = @_; return Authz::Client::bearer( $self->{token} ) }

# The request that reached the API last, and its fields, whose names have dashes only: lists of values.
sub _last {
    my ( $self, $path ) = @_;
    my $request = ( $self->{api}->requests($path) )[-1] // return ( {}, {} );
    my ( undef, @line ) = split /\r\n/, $request->{head};
    my %field;
    for (@line) { push @{ $field{ lc( $1 =~ tr/_/-/r ) } }, $2 if /\A([^:]+):\s*(.*?)\s*\z/s }
    return ( $request, \%field );
}

# Requests that policy allows reach the API, with the fields of authz alone.
sub serves {
    my ($self) = @_;
    my %says = (
        Subject      => 'app', 'Subject-Type' => 'client', Idp => '-', Client => 'app',
        Scopes       => 'shop:read', Acr => '-', Resource => 'shop', Route => 'one', Jwt => '-',
        'Request-Id' => qr/\A[0-9a-f-]{36}\z/ );
    my @forged = map { ( "X-Authz-$_" => 'root' ) } @IDENTITY;
    push @forged, map { ( 'X_Authz_' . tr/-/_/r => 'root', "x-authz_$_" => 'root' ) } $self->{aliases} ? @IDENTITY : ();
    my @sign = $self->{aliases} ? name_signs() : ();
    push @forged, map { ( "X${_}Authz${_}Subject" => 'root', "X-Authz${_}Jwt" => 'root' ) } @sign;
    is( $self->ask( GET => '/api/orders/7', $self->bearer, @forged )->status, 200,
        'a request that policy allows reaches the API' );
    my ( $request, $field ) = $self->_last('/api/orders/7');
    for my $name (@IDENTITY) {
        my $variable = 'AUTHZ_' . uc $name =~ tr/-/_/r;
        my $got = $request->{env} ? $request->{env}{$variable} : join ', ', @{ $field->{ lc "x-authz-$name" } // [] };
        like(
            $got // 'nothing', ref $says{$name} ? $says{$name} : qr/\A\Q$says{$name}\E\z/,
            "... with $name as authz says, whatever the caller sent" );
    }
    unlike( $request->{head} // '', qr/^x[^a-z0-9]authz[^a-z0-9-]|^x[^a-z0-9-]authz/im, '... and by no other name' )
      if @sign && !$request->{env};
    $self->hides if !$request->{env};
    is( $field->{'x-authz-proxy-authorization'}, undef, '... and without the credential of the web server' );
    $self->ask(
        GET => '/api/orders/7', $self->bearer, %OTHER,
        map { tr/-/_/r => $OTHER{$_} } $self->{aliases} ? keys %OTHER : () );
    ( undef, $field ) = $self->_last('/api/orders/7');
    my %told = map { exists $field->{ lc $_ } ? ( $_ => join ', ', @{ $field->{ lc $_ } } ) : () } keys %OTHER;
    delete $told{'X-Forwarded-For'} if ( $told{'X-Forwarded-For'} // '' ) eq '127.0.0.1';
    is_deeply( \%told, {}, '... and without fields that state another request, or another caller' )
      or diag explain \%told;

    $self->ask(
        GET            => '/api/orders?a=%62&c=d', $self->bearer, 'X-Forwarded-For' => '203.0.113.9',
        'X-Request-ID' => 'forged-address' );
    ( $request, $field ) = $self->_last('/api/orders');
    is( $request->{target}, '/api/orders?a=%62&c=d', '... with the target as it was checked' );
    $self->sees_address;
    my $answer = $self->{http}->request(
        POST    => '/api/orders',
        headers => [ Authz::Client::bearer( $self->token('shop:read shop:write') ) ],
        json    => { item => 'x' x 5000 } );
    is( $answer->status, 200, 'a request with a body' ) or diag $answer->text;
    ( $request, $field ) = $self->_last('/api/orders');
    is( length $request->{body}, 5011,   '... whose body reaches the API whole' );
    is( $request->{method},      'POST', '... with its method' );
    return;
}

# The API gets no token, and its fields whatever the caller names in Connection, which a proxy removes (RFC 9110 7.6.1).
sub hides {
    my ($self) = @_;
    my ( undef, $field ) = $self->_last('/api/orders/7');
    is( $field->{$_}, undef, "... and without $_" ) for qw(authorization dpop);
    $self->ask(
        GET        => '/api/orders/7', $self->bearer,
        Connection => 'keep-alive, X-Authz-Subject, X-Authz-Proxy-Authorization' );
    ( undef, $field ) = $self->_last('/api/orders/7');
    is_deeply( $field->{'x-authz-subject'}, ['app'], '... with its fields, whatever the caller names in Connection' );
    return;
}

# The address that rules see is that of the connection.
sub sees_address {
    my ($self) = @_;
    is( $self->{stack}->sql(q{SELECT DISTINCT ip FROM audit_log WHERE endpoint = '/auth/check'}),
        '127.0.0.1', 'rules see the address of the caller, whatever he says that it is (SVC_CHECK_PROXY_COUNT)' );
    return;
}

# Requests without a good token get the challenges of RFC 6750 3 and RFC 9728 5.1.
sub turns_away {
    my ($self)   = @_;
    my $hits     = $self->{api}->hits;
    my $metadata = qr{resource_metadata="\Q$self->{stack}{base}\E/\.well-known/oauth-protected-resource/doors/shop/0"};
    my $answer   = $self->ask( GET => '/api/orders' );
    is( $answer->status, 401, 'a request without a token' );
    like(
        ( $answer->headers('WWW-Authenticate') )[0], qr{\ABearer $metadata, scope="shop:read"},
        '... gets the challenge' );
    is( $self->ask( GET => '/api/orders', Authz::Client::bearer('dead') )->status, 401, 'a dead token' );
    $answer = $self->ask( POST => '/api/orders', $self->bearer );
    is( $answer->status, 403, 'a token without the scope' );
    like(
        ( $answer->headers('WWW-Authenticate') )[0], qr/insufficient_scope.*scope="shop:write"/,
        '... gets the challenge for it' );
    is( $self->{api}->hits, $hits, '... and nothing of these reached the API' );
    return;
}

# True if an answer is none of the API. Some web servers answer other hosts themselves, with 200.
sub _refused { my ($answer) = @_; return defined $answer->failure || $answer->text !~ /"ok"/ }

# What callers with a good token try, so that the API serves what policy did not allow.
sub withstands {
    my ( $self, %option ) = @_;
    my $hits = $self->{api}->hits;
    for my $path (
        '/',                      '/other',          '/api%2Forders', '/api%2forders', '//api/orders', '/api//orders',
        '/api/./orders',          '/api/%2e/orders', '/x/../api/orders', '/x/%2e%2e/api/orders', '/api/orders;x',
        '/api/orders%3Bx/../..',  '/api/unknown', '/API/orders', '/api/orders%00', '/api/orders/%C0%AF', '/api\\orders',
        '/api/orders/7%2F..%2F8', '/api/orders/..%5c7' )
    {
        my $answer = $self->ask( GET => $path, $self->bearer );
        ok( _refused($answer), "refused: $path" ) or diag $answer->text;
    }
    for my $case (
        [ DELETE   => '/api/orders' ], [ PUT => '/api/orders/7' ], [ get => '/api/orders' ], [ TRACE => '/api/orders' ],
        [ PROPFIND => '/api/orders' ], [ OPTIONS => '*' ],         [ CONNECT => '127.0.0.1:80' ] )
    {
        my $answer = $self->ask( @$case, $self->bearer );
        ok( _refused($answer), "refused: @$case" ) or diag $answer->text;
        delete $self->{http}{socket};
    }
    $self->_hosts;
    is( $self->ask( GET => '/api/orders', 'X-Forwarded-Uri' => '/api/orders/7', 'X-Forwarded-Method' => 'GET' )->status,
        401,
        'fields of the caller do not change the question' );
    for my $name (qw(X-Authz-Proxy-Authorization X_Authz_Proxy_Authorization Connection)) {
        my $answer = $self->ask( POST => '/api/orders', $self->bearer, $name => 'X-Forwarded-Method, X-Forwarded-Uri' );
        ok( _refused($answer), "refused: a question that is spoiled by $name" ) or diag $answer->text;
    }
    is( $self->{api}->hits, $hits, '... and nothing of these reached the API' )
      or diag explain [ map { $_->{head} } $self->{api}->requests ];
    return;
}

# Requests for other hosts, and for two.
sub _hosts {
    my ($self) = @_;
    my $bearer = join ': ', $self->bearer;
    my $own    = "127.0.0.1:$self->{port}";
    for my $case (
        [ 'another host',                 'GET /api/orders',                    'Host: evil.example' ],
        [ 'another port',                 'GET /api/orders',                    'Host: 127.0.0.1:1' ],
        [ 'a host with user information', 'GET /api/orders',                    "Host: x\@$own" ],
        [ 'two hosts',                    'GET /api/orders',                    "Host: $own\r\nHost: evil.example" ],
        [ 'two hosts, the other first',   'GET /api/orders',                    "Host: evil.example\r\nHost: $own" ],
        [ 'no host',                      'GET /api/orders',                    'X-A: b' ],
        [ 'a target of another host',     'GET http://evil.example/api/orders', "Host: $own" ] )
    {
        my ( $what, $line, $host ) = @$case;
        my $answer = $self->{http}->raw( "$line HTTP/1.1\r\n$host\r\n$bearer\r\nConnection: close\r\n\r\n", 'GET' );
        ok( _refused($answer), "refused: $what" ) or diag $answer->text;
    }
    return;
}

# While authz is away, nothing is served.
sub fails_closed {
    my ( $self, $status ) = @_;
    my $hits = $self->{api}->hits;
    $self->{stack}->stop;
    is( $self->ask( GET => '/api/orders/7', $self->bearer )->status, $status, 'while authz is away nothing is served' );
    is( $self->{api}->hits,                                          $hits,   '... and nothing reaches the API' );
    $self->{server}->stop;
    return;
}

1;

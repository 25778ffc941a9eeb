package Authz::Deploy::Bodies;

# Sizes that a web server lets pass, and bodies that come slowly; methods of Authz::Deploy.

use strict;
use warnings;

use Exporter   qw(import);
use IO::Select ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Process ();
use Authz::Stack   ();

our @EXPORT_OK = qw(bodies targets slow_bodies stopped);

my $FORM = 'application/x-www-form-urlencoded';

sub _chunked {
    my ( $self, $path, $body ) = @_;
    my $half = int( length($body) / 2 );
    my $text = join '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } substr( $body, 0, $half ), substr( $body, $half );
    my ( undef, $basic ) = $self->auth;
    return $self->{http}->raw( 'POST '
          . $self->at($path)
          . " HTTP/1.1\r\nHost: localhost\r\nAuthorization: $basic\r\nContent-Type: $FORM\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${text}0\r\n\r\n"
    );
}

sub bodies {
    my ($self) = @_;
    my ( $stack, $http ) = @{$self}{qw(stack http)};
    my $token = $stack->token_text( @{ $self->{client} } );
    oauth_ok(
        _chunked( $self, '/token', 'grant_type=client_credentials&scope=orders.read' ),
        { scope => 'orders.read' }, 'a chunked body is a body (RFC 9112 7.1)' );
    is( _chunked( $self, '/revoke', "token=$token" )->status, 200, 'revoke: a chunked body' );
    inactive( $stack->introspect( @{ $self->{client} }, $token ), '... revokes; it is not taken for an empty one' );
    is( _chunked( $self, '/token', 'grant_type=client_credentials&x=' . 'y' x 70_000 )->status, 413,
        'a chunked body over 64 KiB is 413 (oauth.md C7)' );
    my @with = ( headers => [ $self->auth, 'Content-Type' => $FORM ], close => 1 );
    my $pad  = 65536 - length 'grant_type=client_credentials&x=';
    oauth_ok(
        $http->post( $self->at('/token'), @with, body => 'grant_type=client_credentials&x=' . 'y' x $pad ), {},
        'a body of 64 KiB passes whole' );
    oauth_error(
        $http->post( $self->at('/token'), @with, body => 'grant_type=client_credentials&x=' . 'y' x ( $pad + 1 ) ),
        413, 'invalid_request', 'one octet more is 413, and the answer arrives whole (oauth.md C7)' );
    my $text = '"' . 'x' x 300_000 . '"';
    my $row  = $stack->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=acme.big',
        json => { dataKey => 'acme.big', payload => $text } );
    ok( $row->status =~ /\A20[01]\z/, 'a body of 300 KB passes (gateway-admin.md 8, 7)' ) or diag( $row->text );
    my $big = $stack->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=acme.big',
        json => { dataKey => 'acme.big', payload => 'x' x 1_100_000 }, close => 1 );
    is( $big->status, 413, 'an admin body over 1 MiB is 413' ) or diag( $big->text );
    _refused_bodies( $self, @with );
    my $unread = $http->post( $self->at('/nothing/here'), @with, body => 'x' x 100_000 );
    is( $unread->status, 404, 'a body that is not read does not cut the answer off' ) or diag( $unread->text );
    return;
}

# 128 KB is the limit of the web server where the service reads at most 64 KB; it lets 10,304 KB pass below /admin/.
sub _refused_bodies {
    my ( $self, @with ) = @_;
    my $http = $self->{http};
    for my $body ( 'x' x 140_000, 'x' x 11_000_000 ) {
        my $large = $http->post( $self->at('/token'), @with, body => $body );
        is( $large->status, 413, 'a body of ' . length($body) . ' octets for /token is 413' ) or diag( $large->text );
        ok( !defined $large->header('X-Request-ID'),
            '... and the web server keeps it from the service (gateway-admin.md 8)' );
    }
    my $chunked = _chunked( $self, '/token', 'x' x 140_000 );
    is( $chunked->status, 413, 'so is a chunked body' ) or diag( $chunked->text );
    my @key    = ( 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} );
    my $deploy = $http->post(
        $self->at('/admin/api/policy-bundle/deploy'),
        headers => [ @key, 'Content-Type' => 'application/json' ],
        body    => '"' . 'x' x 8_000_000 . '"', close => 1 );
    is( $deploy->status, 400, 'a body of 8,000,000 octets for a deploy reaches the service (gateway-admin.md 8)' )
      or diag( $deploy->text );
    my $over = $http->post(
        $self->at('/admin/api/policy-bundle/deploy'),
        headers => [ @key, 'Content-Type' => 'application/json' ],
        body    => 'x' x 11_000_000, close => 1 );
    is( $over->status, 413, '... and one of 11,000,000 octets is 413' ) or diag( $over->text );
    return;
}

# The service, and not the web server, answers a long target, also beside a long header.
sub targets {
    my ($self) = @_;
    for my $octets ( 4_097, 8_000, 8_001, 10_000 ) {
        my $target = $self->at('/nothing?x=');
        $target .= 'y' x ( $octets - length $target );
        my $answer = $self->{http}->get( $target, headers => [ Authorization => 'Bearer ' . 'z' x 8_000 ], close => 1 );
        ok( defined $answer->header('X-Request-ID'),
            "a target of $octets octets beside a header of 8,007 reaches the service (gateway-admin.md 8)"
        ) or diag( $answer->status . ' ' . $answer->text );
    }
    return;
}

# More than mod_proxy_fcgi keeps to itself before it connects.
my $BEGUN = 20_000;

# A request to /token whose body has begun, and what is missing of it.
sub _begin {
    my ( $self, $body )  = @_;
    my ( undef, $basic ) = $self->auth;
    my $socket = $self->{http}->_connect or die "connect: $!";
    syswrite $socket, join "\r\n", 'POST ' . $self->at('/token') . ' HTTP/1.1', 'Host: localhost',
      "Authorization: $basic", "Content-Type: $FORM", 'Content-Length: ' . length $body,
      'Connection: close', '', substr $body, 0, $BEGUN;
    return ( $socket, substr $body, $BEGUN );
}

# Returns when so many workers have a request in hand, and have had the time to read what there is of it.
sub _in_hand {
    my ( $self, $count ) = @_;
    defined Authz::Process::until_true( 20, sub { $self->{stack}->accepted('core') >= $count } )
      or die "the requests do not reach the workers\n";
    sleep 0.3;
    return;
}

# There are as many slow senders as workers. They send an octet now and then: no time-out for a single octet ends them.
sub slow_bodies {
    my ($self) = @_;
    my $body   = 'grant_type=client_credentials&x=' . 'y' x 60_000;
    my @slow   = map { ( _begin( $self, $body ) )[0] } 1 .. $self->{stack}{workers};
    _in_hand( $self, scalar @slow );
    my $probe = $self->{http}->_connect or die "connect: $!";
    syswrite $probe, 'GET ' . $self->at('/health/live') . " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    local $SIG{PIPE} = 'IGNORE';
    my ( $start, $select ) = ( time, IO::Select->new($probe) );
    until ( $select->can_read(0.4) || time > $start + 12 ) { syswrite $_, 'y' for @slow }
    my $took = time - $start;
    cmp_ok( $took, '>', 1,  'slow bodies: they hold the workers, while the service waits for what is missing' );
    cmp_ok( $took, '<', 10, 'slow bodies: for 5 s at most, however they drip (performance.md R8)' );
    like(
        $select->can_read(0) ? readline $probe : '', qr/\AHTTP\S+ 200/,
        'slow bodies: then the next in line is answered' );

    # Apache looks at what comes back only between two pieces of the body: the sender drips on.
    my $answer = IO::Select->new( $slow[0] );
    until ( $answer->can_read(0.4) || time > $start + 20 ) { syswrite $slow[0], 'y' }
    like(
        $answer->can_read(0) ? readline( $slow[0] ) // '' : 'nothing', qr/\AHTTP\S+ 4\d\d/,
        'slow bodies: the sender is told that it was its fault' );
    close $_ for @slow;
    oauth_ok( $self->{stack}->token( @{ $self->{client} } ), {}, 'slow bodies: the workers serve on' );
    return;
}

# The service is asked to end (systemd's SIGTERM goes to all its processes) while a body is on its way.
sub stopped {
    my ($self) = @_;
    my ( $stack,  $body ) = ( $self->{stack}, 'grant_type=client_credentials&x=' . 'y' x 30_000 );
    my ( $socket, $rest ) = _begin( $self, $body );
    _in_hand( $self, 1 );
    kill 'TERM', $stack->{service}->pid, $stack->workers;
    sleep 0.3;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $socket, $rest;
    my $answer = do { local $/ = undef; readline($socket) // '' };
    like(
        $answer, qr/\AHTTP\S+ 200 .*"access_token"/s,
        'SIGTERM: a request whose body was on its way is answered (architecture.md 3)' );
    is( $stack->{service}->wait(15), 0, 'SIGTERM: then the service ends' );
    return;
}

1;

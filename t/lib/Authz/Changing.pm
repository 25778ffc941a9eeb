package Authz::Changing;

# An MCP upstream whose resources change: it tells of those that are subscribed, as the older revisions do or as the newest one does.
#
#   my $server = Authz::Changing->start( modern => 1 );
#   $server->url;                                       # of its endpoint
#   $server->change('file:///a');                       # tells the streams that are open, if they subscribed to it
#   $server->cut;                                       # ends all streams
#   $server->forget;                                    # older: the next request of a session is 404
#   $server->asked('resources/subscribe');              # params of the requests of a method ('GET': the streams of sessions)

use strict;
use warnings;

use Fcntl            qw(:flock);
use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         ();
use Time::HiRes      qw(sleep);

use Authz::Process ();
use Authz::Server  ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub start {
    my ( $class, %option ) = @_;
    my $number = ++( our $count );
    my $dir    = Authz::Process::directory() . "/changing$number";
    mkdir $dir, 0755 or die "$dir: $!";
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 64, ReuseAddr => 1 )
      or die "no port: $!";
    my $self = bless { dir => $dir, url => 'http://localhost:' . $listen->sockport . '/mcp', %option }, $class;
    _add( "$dir/$_", '' ) for qw(asked events cuts sessions subscribed);
    $self->{process} = Authz::Process->start(
        name => "changing$number",
        code => sub {
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) } );
        } );
    close $listen;
    return $self;
}

sub url    { my ($self) = @_; return $self->{url} }
sub cut    { my ($self) = @_; return _add( "$self->{dir}/cuts",     'x' ) }
sub forget { my ($self) = @_; return _add( "$self->{dir}/sessions", 'x' ) }
sub change { my ( $self, $uri ) = @_; return _add( "$self->{dir}/events", "$uri\n" ) }

sub asked {
    my ( $self, $method ) = @_;
    return map { $_->{params} } grep { $_->{method} eq $method } map { $json->decode($_) } _lines("$self->{dir}/asked");
}

# ---- files, by which the processes of the server know of each other

sub _add {
    my ( $file, $text ) = @_;
    open my $out, '>>', $file or die "$file: $!";
    flock $out, LOCK_EX;
    syswrite $out, $text;
    return close $out;
}

sub _lines {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!";
    return map { chomp; $_ } readline $in;
}
sub _size { my ( $self, $name ) = @_; return -s "$self->{dir}/$name" // 0 }

# ---- the server

sub _serve {
    my ( $self, $socket ) = @_;
    while ( my $request = Authz::Server::read_message($socket) ) {
        my ($verb)  = $request->{first} =~ /\A(\S+)/;
        my $message = length( $request->{body} // '' ) ? $json->decode( $request->{body} ) : { method => $verb };
        my $session = $request->{headers}{'mcp-session-id'};
        _add(
            "$self->{dir}/asked",
            $json->encode( { method => $message->{method} // '', params => $message->{params} } ) . "\n" );
        if ( defined $session && $session ne 's' . $self->_size('sessions') ) { _answer( $socket, 404 ); next }
        if ( $verb eq 'GET' || $message->{method} eq 'subscriptions/listen' ) {
            return $self->_stream( $socket, $message );
        }
        $self->_reply( $socket, $message ) or return;
    }
    return;
}

sub _answer {
    my ( $socket, $status, $body, @field ) = @_;
    my $text = defined $body ? $json->encode($body) : '';
    my $head = sprintf "HTTP/1.1 %d Told\r\nContent-Type: application/json\r\nContent-Length: %d\r\n", $status,
      length $text;
    while ( my ( $name, $value ) = splice @field, 0, 2 ) { $head .= "$name: $value\r\n" }
    return Authz::Server::put( $socket, "$head\r\n$text" );
}

sub _reply {
    my ( $self, $socket, $message ) = @_;
    my ( $id, $method ) = @$message{qw(id method)};
    return _answer( $socket, 202 ) if !defined $id;
    my $fails =
      sub { _answer( $socket, 200, { jsonrpc => '2.0', id => $id, error => { code => $_[0], message => $_[1] } } ) };
    my $gives = sub {
        my ( $result, @field ) = @_;
        _answer( $socket, 200, { jsonrpc => '2.0', id => $id, result => $result }, @field );
    };
    my %hello = (
        capabilities => { resources => { subscribe => JSON::PP::true() } },
        serverInfo   => { name      => 'changing', version => '1' } );
    if ( $self->{modern} ) {
        return $gives->( { %hello, supportedVersions => ['2026-07-28'], resultType => 'complete' } )
          if $method eq 'server/discover';
    }
    elsif ( $method eq 'initialize' ) {
        return $gives->(
            { %hello, protocolVersion => '2025-11-25' },
            'Mcp-Session-Id' => 's' . $self->_size('sessions') );
    }
    elsif ( $method =~ m{\Aresources/(un)?subscribe\z} ) {
        return $fails->( -32002, 'Resource not found' ) if $message->{params}{uri} =~ /refused/;
        _add(
            "$self->{dir}/subscribed",
            $self->_size('sessions') . ( $1 ? ' - ' : ' + ' ) . "$message->{params}{uri}\n" );
        return $gives->( {} );
    }
    return $fails->( -32601, 'Unknown method' );
}

# The URIs of which a stream tells.
sub _told {
    my ( $self, $message ) = @_;
    return map { ( $_ => 1 ) } @{ $message->{params}{notifications}{resourceSubscriptions} // [] } if $self->{modern};
    my ( $session, %told ) = $self->_size('sessions');
    for ( _lines("$self->{dir}/subscribed") ) {
        my ( $of, $sign, $uri ) = split / /;
        $told{$uri} = $sign eq '+' if $of == $session;
    }
    return %told;
}

sub _event {
    my ( $socket, $message ) = @_;
    my $text = 'data: ' . $json->encode( { jsonrpc => '2.0', %$message } ) . "\n\n";
    return Authz::Server::put( $socket, sprintf "%x\r\n%s\r\n", length $text, $text );
}

sub _stream {
    my ( $self, $socket, $message ) = @_;
    my ( $cuts, $seen ) = ( $self->_size('cuts'), scalar( my @before = _lines("$self->{dir}/events") ) );
    my $select = IO::Select->new($socket);
    Authz::Server::put(
        $socket,
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n" ) or return;
    _event( $socket, { method => 'notifications/subscriptions/acknowledged', params => $message->{params} } )
      if $self->{modern};
    _event( $socket, { id => 7, method => 'ping' } ) if !$self->{modern};
    while ( $self->_size('cuts') == $cuts && !$select->can_read(0.02) ) {
        my @event = _lines("$self->{dir}/events");
        my %told  = $self->_told($message);
        for my $uri ( @event[ $seen .. $#event ] ) {
            next if !$told{$uri} && $uri !~ /unasked/;
            _event( $socket, { method => 'notifications/resources/updated', params => { uri => $uri } } ) or return;
        }
        $seen = @event;
    }
    return;
}

1;

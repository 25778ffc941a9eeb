package Authz::Client;

# A small HTTP/1.1 client: keeps its connection, sends whatever octets it is told, and can let many requests go at the
# same moment. Answers are Authz::Response objects. With from => '127.0.0.9' the requests come from that loopback address; with
# foreign => 1 the server is another's, which the description of the interface says nothing about.

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         ();
use MIME::Base64     ();
use Time::HiRes      qw(time);

use Authz::Api      ();
use Authz::Response ();
use Authz::Secrets  ();

our $TIMEOUT = 40 * ( $ENV{AUTHZ_PATIENCE} // 1 );

sub new { my ( $class, %option ) = @_; return bless { host => '127.0.0.1', timeout => $TIMEOUT, %option }, $class }

sub _connect {
    my ($self) = @_;
    my @from = defined $self->{from} ? ( LocalAddr => $self->{from} ) : ();
    return IO::Socket::INET->new(
        PeerAddr => $self->{host}, PeerPort => $self->{port}, Proto => 'tcp', Timeout => 10,
        @from );
}

# application/x-www-form-urlencoded of name, value, name, value, ...; values are octets.
sub form {
    my @pair = @_;
    my @part;
    while ( my ( $name, $value ) = splice @pair, 0, 2 ) {
        push @part, escape($name) . '=' . escape($value);
    }
    return join '&', @part;
}

sub escape {
    my ($text) = @_;
    utf8::encode($text) if utf8::is_utf8($text);
    $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;
    return $text;
}

sub basic {
    my ( $id, $secret ) = @_;
    return ( Authorization => 'Basic ' . MIME::Base64::encode_base64( "$id:$secret", '' ) );
}
sub bearer { my ($token) = @_; return ( Authorization => "Bearer $token" ) }

# The octets of a request. Option: headers => [name, value, ...], body, form => [...], json => ..., close => 1.
sub octets {
    my ( $self, $method, $target, %option ) = @_;
    my @header = @{ $option{headers} // [] };
    my $body   = $option{body};
    if ( $option{form} ) {
        $body = form( @{ $option{form} } );
        push @header, 'Content-Type' => 'application/x-www-form-urlencoded';
    }
    elsif ( exists $option{json} ) {
        $body = JSON::PP->new->utf8->canonical->allow_nonref->encode( $option{json} );
        push @header, 'Content-Type' => $option{type} // 'application/json';
    }
    $body //= '' if $method =~ /\AP/ && !$option{no_length};  # lighttpd wants a length, as RFC 9110 8.6 asks of clients
    push @header, 'Content-Length' => length $body if defined $body && !$option{no_length};
    push @header, Connection => 'close' if $option{close};
    my $text = "$method $target HTTP/1.1\r\nHost: $self->{host}:$self->{port}\r\n";
    while ( my ( $name, $value ) = splice @header, 0, 2 ) { $text .= "$name: $value\r\n" }
    $text .= "\r\n" . ( $body // '' );
    Authz::Secrets::note_request($text);
    return $text;
}

# One request over the kept connection; an idle connection that the server closed is opened again, once.
sub request {
    my ( $self, $method, $target, %option ) = @_;
    my $octets = $self->octets( $method, $target, %option );
    for my $try ( 1, 2 ) {
        my $fresh = !$self->{socket};
        $self->{socket} //= $self->_connect or return Authz::Response->failed("connect: $!");
        my $answer = _exchange( $self->{socket}, $octets, $method, $self->{timeout} );
        delete $self->{socket} if $answer->failure || ( $answer->header('Connection') // '' ) =~ /close/i;
        Authz::Api::check( $method, $target, $answer ) if !$self->{foreign};
        Authz::Secrets::note_answer($answer);
        return $answer if !$answer->failure || $fresh || $answer->failure ne 'closed';
    }
    return Authz::Response->failed('closed');
}

sub get  { my ( $self, $target, %option ) = @_; return $self->request( 'GET',  $target, %option ) }
sub post { my ( $self, $target, %option ) = @_; return $self->request( 'POST', $target, %option ) }

# Octets as they are, on a connection of their own.
sub raw {
    my ( $self, $octets, $method ) = @_;
    my $socket = $self->_connect or return Authz::Response->failed("connect: $!");
    return _exchange( $socket, $octets, $method // 'POST', $self->{timeout} );
}

# The same in two halves, for what happens in between: my $sent = $client->begin($octets); ... my $answer = $client->end($sent);
sub begin {
    my ( $self, $octets ) = @_;
    my $socket = $self->_connect or return;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $socket, $octets;
    return $socket;
}

sub end {
    my ( $self, $socket, $method ) = @_;
    return $socket ? _exchange( $socket, '', $method // 'POST', $self->{timeout} ) : Authz::Response->failed('connect');
}

sub _exchange {
    my ( $socket, $octets, $method, $timeout ) = @_;
    local $SIG{PIPE} = 'IGNORE';
    my $at = 0;
    my ( $answer, $until ) = ( Authz::Response->new($method), time + $timeout );
    my $select = IO::Select->new($socket);
    $socket->blocking(0);
    while (1) {
        my $left = $until - time;
        return Authz::Response->failed('timeout') if $left <= 0;
        if ( $at < length $octets && !$select->can_read(0) ) {
            next if !$select->can_write($left);
            my $put = syswrite $socket, $octets, 65536, $at;
            if ( defined $put ) { $at += $put; next }
            next if $!{EAGAIN};
            $at = length $octets;    # the server closed its side; it may have answered before
        }
        next if !$select->can_read($left);
        my $got = sysread $socket, my $part, 65536;
        next                   if !defined $got && $!{EAGAIN};
        return $answer->finish if !$got;
        return $answer         if $answer->take($part);
    }
}

# Sends all requests (octets) at the same moment, each on its own connection to its own client; answers in order.
sub together {
    my @job = map { { client => $_->[0], octets => $_->[1], answer => Authz::Response->new('POST') } } @_;
    local $SIG{PIPE} = 'IGNORE';
    for my $job (@job) {
        $job->{socket} = $job->{client}->_connect or next;
        my $but_last = substr $job->{octets}, 0, length( $job->{octets} ) - 1;
        syswrite $job->{socket}, $but_last;
    }
    for my $job ( grep { $_->{socket} } @job ) {
        syswrite $job->{socket}, substr $job->{octets}, -1;
        $job->{socket}->blocking(0);
    }
    my %by     = map { ( fileno( $_->{socket} ) => $_ ) } grep { $_->{socket} } @job;
    my $select = IO::Select->new( map { $_->{socket} } values %by );
    my $until  = time + $TIMEOUT;
    while ( $select->count && time < $until ) {
        for my $socket ( $select->can_read(1) ) {
            my $job = $by{ fileno $socket };
            my $got = sysread $socket, my $part, 65536;
            next if !defined $got && $!{EAGAIN};
            my $done = $got ? $job->{answer}->take($part) : $job->{answer}->finish;
            $select->remove($socket) if $done;
        }
    }
    return map { $_->{socket} && $_->{answer}->done ? $_->{answer} : Authz::Response->failed('no answer') } @job;
}

1;

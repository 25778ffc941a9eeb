package Demo::Http;

# A small HTTP/1.1 server for one program: one process, which never waits for a slow or silent connection.
#   Demo::Http::serve( [ '127.0.0.1', $port ], sub { my ($request) = @_; return { status => 200, type => ..., body => ... } } );
# A request has method, path, body, query and form (last value of each name), header (lower case). An answer has status, type, body,
# location, and headers [ name => value ... ]. Each connection has one request.

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();

# A request of a browser has some KiB; more, or slower, is none.
use constant { REQUEST_MAX => 65_536, WAIT_SECONDS => 10, CONNECTIONS_MAX => 64 };

my %REASON = (
    200 => 'OK', 202 => 'Accepted', 303 => 'See Other', 400 => 'Bad Request', 401 => 'Unauthorized', 403 => 'Forbidden',
    404 => 'Not Found', 502 => 'Bad Gateway' );

sub decode {
    my ($text) = @_;
    $text =~ tr/+/ /;
    $text =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    return $text;
}

sub encode {
    my ($text) = @_;
    $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge;
    return $text;
}

# Return name and value pairs as a query.
sub query {
    my (@pair) = @_;
    my @part;
    while ( my ( $name, $value ) = splice @pair, 0, 2 ) {
        push @part, encode($name) . '=' . encode($value) if defined $value;
    }
    return join '&', @part;
}

sub pairs {
    my ($text) = @_;
    return map {
        map { decode($_) }
          ( split( /=/, $_, 2 ), '' )[ 0, 1 ]
    } grep { $_ ne '' } split /&/, $text // '';
}

# Return the request in these octets; undef while it is incomplete, and 0 if it is none.
sub parse {
    my ($octets) = @_;
    my ( $head, $body ) = split /\r\n\r\n/, $octets, 2;
    return if !defined $body;
    my ( $first, @line ) = split /\r\n/, $head;
    my ( $method, $path, $query ) = ( $first // '' ) =~ m{\A([A-Z]+) (/[^ ?]*)(?:\?([^ ]*))? HTTP/1\.[01]\z}
      or return 0;
    my %header = map { /\A([A-Za-z0-9-]+):[ \t]*(.*?)[ \t]*\z/ ? ( lc $1 => $2 ) : () } @line;
    my $length = $header{'content-length'} // 0;
    return 0 if $length !~ /\A\d{1,6}\z/ || defined $header{'transfer-encoding'};
    return   if length $body < $length;
    return {
        method => $method,                     path => $path, query => { pairs($query) },
        body   => substr( $body, 0, $length ), form => { pairs( substr $body, 0, $length ) }, header => \%header };
}

sub answer_text {
    my ($answer) = @_;
    my $body     = $answer->{body} // '';
    my @header   = (
        'Content-Type'  => $answer->{type} // 'text/plain', 'Content-Length' => length $body,
        'Cache-Control' => 'no-store',
        'Connection'    => 'close', 'X-Content-Type-Options' => 'nosniff',
        @{ $answer->{headers} // [] } );
    unshift @header, Location => $answer->{location} if defined $answer->{location};
    my $text = "HTTP/1.1 $answer->{status} " . ( $REASON{ $answer->{status} } // 'Answer' ) . "\r\n";
    while ( my ( $name, $value ) = splice @header, 0, 2 ) { $text .= "$name: $value\r\n" }
    return "$text\r\n$body";
}

sub serve {
    my ( $at,      $handler ) = @_;
    my ( $address, $port )    = @$at;
    my $listen = IO::Socket::INET->new(
        LocalAddr => $address, LocalPort => $port, Proto => 'tcp', Listen => 64,
        ReuseAddr => 1,        Blocking  => 0
    ) or die "contrib/demo/serve: cannot listen on $address port $port: $!; choose another port\n";
    local $SIG{PIPE} = 'IGNORE';

    # The first process of a container ignores a signal that it has no handler for.
    local $SIG{TERM} = sub { exit 0 };
    my $ready = IO::Select->new($listen);
    my %peer;    # by socket: its octets, and until when it may take
    while (1) {
        for my $socket ( $ready->can_read(1) ) {
            if ( $socket == $listen ) {
                my $new = $listen->accept or next;
                $new->blocking(0);
                $ready->add($new);
                $peer{$new} = { socket => $new, in => '', until => time + WAIT_SECONDS };
            }
            elsif ( !take( $peer{$socket}, $handler ) ) { let_go( $ready, \%peer, $socket ) }
        }
        my @old = sort { $a->{until} <=> $b->{until} } values %peer;
        for my $old (@old) {
            let_go( $ready, \%peer, $old->{socket} ) if $old->{until} < time || keys %peer > CONNECTIONS_MAX;
        }
    }
    return;
}

sub let_go {
    my ( $ready, $peer, $socket ) = @_;
    $ready->remove($socket);
    delete $peer->{$socket};
    close $socket;
    return;
}

# Read what has come; answer a complete request. True if the connection waits for more.
sub take {
    my ( $peer, $handler ) = @_;
    my $read = sysread $peer->{socket}, $peer->{in}, 16_384, length $peer->{in};
    return $!{EAGAIN} || $!{EINTR} if !defined $read;
    return 0 if $read == 0 || length $peer->{in} > REQUEST_MAX;
    my $request = parse( $peer->{in} ) // return 1;
    my $answer  = $request ? eval { $handler->($request) } : { status => 400, body => "not a request\n" };
    if ( !$answer ) {
        print {*STDERR} $@;
        $answer = { status => 502, body => "the demonstration failed; see its log\n" };
    }
    $peer->{socket}->blocking(1);
    syswrite $peer->{socket}, answer_text($answer);
    return 0;
}

1;

package Authz::FastCgi;

# Requests to a pool without a web server (FastCGI 1.0), and their answers.
#
#   my $socket = IO::Socket::UNIX->new("$stack->{dir}/core.sock");
#   Authz::FastCgi::send_request( $socket, variables => { REQUEST_URI => '/', ... }, body => '', role => 1, keep => 0 );
#   my $text = Authz::FastCgi::answer($socket);    # until the connection ends: head and body as the service writes them

use strict;
use warnings;

# Roles, and types of records (FastCGI 8).
our ( $RESPONDER, $AUTHORIZER ) = ( 1, 2 );
my ( $BEGIN, $PARAMS, $STDIN, $STDOUT ) = ( 1, 4, 5, 6 );

sub _record { my ( $type, $content ) = @_; return pack( 'CCnnCC', 1, $type, 1, length $content, 0, 0 ) . $content }

sub send_request {
    my ( $socket, %option ) = @_;
    my %variable = %{ $option{variables} };
    my $body     = $option{body} // '';
    my $params   = join '',
      map {
            pack( 'NN', map { 0x80000000 | length } $_, $variable{$_} )
          . $_
          . $variable{$_}
      } sort keys %variable;
    my $begin = pack 'nCx5', $option{role} // $RESPONDER, $option{keep} // 0;
    return syswrite $socket, join '', _record( $BEGIN, $begin ), _record( $PARAMS, $params ), _record( $PARAMS, '' ),
      length $body ? _record( $STDIN, $body ) : (), _record( $STDIN, '' );
}

sub answer {
    my ($socket) = @_;
    my ( $octets, $text ) = ( '', '' );
    while ( sysread $socket, my $part, 65536 ) { $octets .= $part }
    while ( length $octets >= 8 ) {
        my ( undef, $type, undef, $length, $padding ) = unpack 'CCnnC', $octets;
        $text .= substr $octets, 8, $length if $type == $STDOUT;
        substr $octets, 0, 8 + $length + $padding, '';
    }
    return $text;
}

1;

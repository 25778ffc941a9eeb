package Authz::Server;

# The parts that the servers of the tests share: one process per connection, one reading of an HTTP message, one writing of
# octets.
#   Authz::Server::accept_each( $listen, sub { my ($socket) = @_; ... } );     never returns
#   my $message = Authz::Server::read_message($socket) or return;              undef: the other side is gone, or no HTTP
#     { first => 'GET /x HTTP/1.1', head => 'GET /x ...', headers => { host => ... }, body => '...' }
#   Authz::Server::put( $socket, $octets, $seconds ) or return;                with seconds: one octet, then a pause

use strict;
use warnings;

use POSIX       ();
use Time::HiRes qw(sleep);

sub accept_each {
    my ( $listen, $serve ) = @_;
    $SIG{CHLD} = 'IGNORE';
    while (1) {
        my $socket = $listen->accept or next;
        my $pid    = fork // next;
        if ( $pid == 0 ) {
            close $listen;
            $SIG{CHLD} = 'DEFAULT';
            $SIG{PIPE} = 'IGNORE';
            eval { $serve->($socket); 1 } or print STDERR $@;
            close $socket;
            POSIX::_exit(0);
        }
        close $socket;
    }
    return;
}

# Reads on, until the text has what the pattern says; false at the end of the connection.
sub _read_until {
    my ( $socket, $text, $pattern ) = @_;
    while ( $$text !~ $pattern ) { sysread( $socket, $$text, 65536, length $$text ) or return }
    return 1;
}

sub _read_octets {
    my ( $socket, $text, $length ) = @_;
    while ( length $$text < $length ) { sysread( $socket, $$text, 65536, length $$text ) or return }
    return 1;
}

sub _read_chunks {
    my ( $socket, $text ) = @_;
    my $body = '';
    while (1) {
        _read_until( $socket, $text, qr/\A[0-9A-Fa-f]+\r\n/ ) or return;
        $$text =~ s/\A([0-9A-Fa-f]+)\r\n//;
        my $size = hex $1;
        _read_octets( $socket, $text, $size + 2 ) or return;
        $body .= substr $$text, 0, $size;
        substr $$text, 0, $size + 2, '';
        return $body if $size == 0;
    }
    return;
}

sub read_message {
    my ($socket) = @_;
    my $text = '';
    _read_until( $socket, \$text, qr/\A[^A-Z]|\r\n\r\n/ ) or return;
    return if $text !~ /\A[A-Z]/;    # no HTTP: a TLS handshake, for example
    ( my $head, $text ) = split /\r\n\r\n/, $text, 2;
    my ( $first, @line ) = split /\r\n/, $head;
    my %header = map { /\A([^:]+):\s*(.*?)\s*\z/s ? ( lc $1 => $2 ) : () } @line;
    my $body;

    if ( ( $header{'transfer-encoding'} // '' ) =~ /\Achunked/i ) {
        $body = _read_chunks( $socket, \$text ) // return;
    }
    else {
        _read_octets( $socket, \$text, $header{'content-length'} // 0 ) or return;
        $body = $text;
    }
    return { first => $first, head => $head, headers => \%header, body => $body };
}

sub put {
    my ( $socket, $octets, $pause ) = @_;
    for ( my $at = 0 ; $at < length $octets ; ) {
        $at += syswrite( $socket, $octets, $pause ? 1 : 65536, $at ) // return;
        sleep $pause if $pause;
    }
    return 1;
}

# ---- files by which a test and its servers talk

# Write a file that readers see whole or not at all.
sub write_whole {
    my ( $path, $text ) = @_;
    open my $out, '>', "$path.$$" or die "$path: $!";
    print {$out} $text;
    close $out;
    rename "$path.$$", $path or die "rename: $!";
    return;
}

# The text of a file; '' if it is not there.
sub read_there {
    my ($path) = @_;
    open my $in, '<', $path or return '';
    local $/ = undef;
    return readline($in) // '';
}

1;

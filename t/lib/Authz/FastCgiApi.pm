package Authz::FastCgiApi;

# An API of FastCGI behind a web server: notes the variables of each request, and answers {"ok":1} for the paths that are set.
# It has the functions of Authz::Peer that Authz::Door calls.

use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();

use Authz::Process ();
use Authz::Server  ();

my ( $BEGIN, $END, $PARAMS, $STDIN, $STDOUT ) = ( 1, 3, 4, 5, 6 );    # types of records (FastCGI 8)

my $json = JSON::PP->new->utf8->canonical;

sub start {
    my ($class) = @_;
    my $listen  = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 64, ReuseAddr => 1 ) or die "listen: $@";
    my $self = bless { port => $listen->sockport, file => Authz::Process::directory() . '/fastcgi.asked', path => {} },
      $class;
    $self->{listen} = $listen;
    return $self;
}

sub port { return $_[0]{port} }
sub url  { return "http://localhost:$_[0]{port}" }

# The paths that the API has; it starts then.
sub set {
    my ( $self, %answer ) = @_;
    Authz::Process->start(
        name => 'fastcgi-api',
        code => sub {
            Authz::Server::accept_each( $self->{listen}, sub { $self->_serve( $_[0], \%answer ) } );
        } );
    close $self->{listen};
    return $self;
}

sub requests {
    my ( $self, $path ) = @_;
    open my $in, '<', $self->{file} or return;
    my @all = map { $json->decode($_) } readline $in;
    return grep { !defined $path || $_->{path} eq $path } @all;
}
sub hits { my @all = requests(@_); return scalar @all }

sub _exactly {
    my ( $socket, $octets ) = @_;
    my $text = '';
    while ( length $text < $octets ) { sysread( $socket, $text, $octets - length $text, length $text ) or return }
    return $text;
}

# Name-value pairs (FastCGI 3.4).
sub _pairs {
    my ($text) = @_;
    my ( $at, %value ) = (0);
    my $number = sub {
        my $first = unpack 'C', substr $text, $at++, 1;
        return $first if $first < 128;
        $at += 3;
        return unpack( 'N', substr $text, $at - 4, 4 ) & 0x7fffffff;
    };
    while ( $at < length $text ) {
        my ( $name, $octets ) = ( $number->(), $number->() );
        $value{ substr $text, $at, $name } = substr $text, $at + $name, $octets;
        $at += $name + $octets;
    }
    return \%value;
}

sub _record { my ( $type, $id, $body ) = @_; return pack( 'CCnnCC', 1, $type, $id, length $body, 0, 0 ) . $body }

sub _serve {
    my ( $self, $socket, $paths ) = @_;
    my %text = ( $PARAMS => '', $STDIN => '' );
    while ( defined( my $head = _exactly( $socket, 8 ) ) ) {
        my ( undef, $type, $id, $length, $padding ) = unpack 'CCnnC', $head;
        my $body = $length + $padding > 0 ? substr _exactly( $socket, $length + $padding ), 0, $length : '';
        $text{$type} .= $body;
        next if $type != $STDIN || $length > 0;
        my $known = $paths->{ $self->_note( _pairs( $text{$PARAMS} ), $text{$STDIN} ) };
        my $answer =
            'Status: '
          . ( $known ? 200 : 404 )
          . "\r\nContent-Type: application/json\r\n\r\n"
          . ( $known ? '{"ok":1}' : '{}' );
        Authz::Server::put(
            $socket,
            _record( $STDOUT, $id, $answer ) . _record( $STDOUT, $id, '' ) . _record( $END, $id, "\0" x 8 ) );
        %text = ( $PARAMS => '', $STDIN => '' );
    }
    return;
}

# Write a request down as one of HTTP, with its variables; the path.
sub _note {
    my ( $self, $env, $body ) = @_;
    my $path   = ( $env->{SCRIPT_NAME} // '' ) . ( $env->{PATH_INFO} // '' );
    my %header = map { /\AHTTP_(.*)/s ? ( lc $1 =~ tr/_/-/r => $env->{$_} ) : () } keys %$env;
    my $head   = join "\r\n", 'HTTP', map {"$_: $header{$_}"} sort keys %header;
    open my $out, '>>', $self->{file} or die "$self->{file}: $!";
    syswrite $out, $json->encode(
        {   method  => $env->{REQUEST_METHOD}, target => $env->{REQUEST_URI}, path => $path, head => $head,
            headers => \%header,
            body    => $body, env => $env } ) . "\n";
    close $out or die "$self->{file}: $!";
    return $path;
}

1;

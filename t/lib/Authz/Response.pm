package Authz::Response;

# One HTTP answer, read as its octets arrive.

use strict;
use warnings;

use JSON::PP ();

sub new {
    my ( $class, $method ) = @_;
    return bless { method => $method, text => '', status => 0, header => [], body => '' }, $class;
}

sub failed {
    my ( $class, $why ) = @_;
    my $self = $class->new('');
    $self->{failure} = $why;
    $self->{done}    = 1;
    return $self;
}

# True once the answer is complete.
sub take {
    my ( $self, $octets ) = @_;
    $self->{text} .= $octets;
    $self->_read_head if !$self->{head};
    return $self->{head} ? $self->_read_body(0) : 0;
}

# The connection ended.
sub finish {
    my ($self) = @_;
    if ( !$self->{head} || !$self->_read_body(1) ) {
        $self->{failure} = $self->{text} eq '' && !$self->{head} ? 'closed' : 'cut off';
        $self->{done}    = 1;
    }
    return $self;
}

sub _read_head {
    my ($self) = @_;
    $self->{text} =~ s/\AHTTP\/1\.[01] (\d{3})[^\r\n]*\r\n(.*?)\r\n\r\n//s
      || $self->{text} =~ s/\AHTTP\/1\.[01] (\d{3})[^\r\n]*\r\n()\r\n//
      or return;
    ( $self->{status}, my $lines ) = ( $1, $2 );
    $self->{header} = [ map { /\A([^:]+):[ \t]*(.*?)[ \t]*\z/s ? [ lc $1, $2 ] : () } split /\r\n/, $lines ];
    if ( $self->{status} == 100 ) {
        $self->_read_head;
        return;
    }
    $self->{head} = 1;
    return;
}

sub _read_body {
    my ( $self, $ended ) = @_;
    my $length = $self->header('Content-Length');
    if ( $self->{method} eq 'HEAD' || $self->{status} == 204 || $self->{status} == 304 ) {
        return $self->{done} = 1;
    }
    if ( ( $self->header('Transfer-Encoding') // '' ) =~ /chunked/i ) {
        while ( $self->{text} =~ /\A([0-9A-Fa-f]+)[^\r\n]*\r\n/ ) {
            my ( $size, $head ) = ( hex $1, length $& );
            last if length $self->{text} < $head + $size + 2;
            $self->{body} .= substr $self->{text}, $head, $size;
            substr $self->{text}, 0, $head + $size + 2, '';
            return $self->{done} = 1 if $size == 0;
        }
        return 0;
    }
    return 0 if defined $length  && length $self->{text} < $length;
    return 0 if !defined $length && !$ended;
    $self->{body} = defined $length ? substr $self->{text}, 0, $length : $self->{text};
    return $self->{done} = 1;
}

sub done    { return $_[0]{done} }
sub failure { return $_[0]{failure} }
sub status  { return $_[0]{status} }
sub body    { return $_[0]{body} }

sub headers {
    my ( $self, $name ) = @_;
    return map { $_->[1] } grep { $_->[0] eq lc $name } @{ $self->{header} };
}

sub header { my ( $self, $name ) = @_; return ( $self->headers($name) )[0] }

# The body as JSON; undef when it is none.
sub json {
    my ($self) = @_;
    return eval { JSON::PP->new->utf8->decode( $self->{body} ) };
}

# A member of a JSON object body.
sub member {
    my ( $self, $name ) = @_;
    my $json = $self->json;
    return ref $json eq 'HASH' ? $json->{$name} : undef;
}

# For the reader of a failed test.
sub text {
    my ($self) = @_;
    return "no answer: $self->{failure}" if defined $self->{failure};
    return join "\n", $self->{status}, ( map {"$_->[0]: $_->[1]"} @{ $self->{header} } ), '', substr $self->{body}, 0,
      2000;
}

1;

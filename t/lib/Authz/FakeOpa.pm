package Authz::FakeOpa;

# Stands between the service and the real engine and misbehaves as the test says. Questions that are not decisions
# (/v1/status) pass; at => PATH beside what is told misbehaves with those to that path instead. tell() takes effect with the next
# question:
#   pass                          the real answer
#   delay => SECONDS              the real answer, late
#   hold                          the real answer, when told something else
#   text => BODY, status => N     this body instead
#   raw => OCTETS, stay => 1      these octets, head and all; then the connection ends, unless it stays
#   truncate => N                 the real answer, cut after N octets of its body
#   close                         the connection ends without an answer
#   drip                          one octet of the real answer per second
#   set => { 'result.scopes' => [...] }    the real answer with members changed
#   drop => [ 'provenance' ]      the real answer with members removed
# Beside text: pad => N lengthens the body by N blanks; nest => N puts N nested arrays where it says NEST.

use strict;
use warnings;

use IO::Socket::UNIX ();
use JSON::PP         ();
use Socket           qw(SOCK_STREAM);
use Time::HiRes      qw(sleep);

use Authz::Process ();
use Authz::Server  ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub start {
    my ( $class, $path, $upstream ) = @_;
    my $self = bless { path => $path, upstream => $upstream, control => "$path.ctl" }, $class;
    $self->tell('pass');
    my $listen = IO::Socket::UNIX->new( Local => $path, Listen => 64, Type => SOCK_STREAM ) or die "$path: $!";
    $self->{process} = Authz::Process->start(
        name => 'fake-opa',
        code => sub {
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) } );
        } );
    return $self;
}

sub tell {
    my ( $self, $what, @value ) = @_;
    my %order = ( do => $what, @value % 2 ? ( value => @value ) : @value );
    open my $out, '>', "$self->{control}.new" or die "$self->{control}: $!";
    print {$out} $json->encode( \%order );
    close $out;
    rename "$self->{control}.new", $self->{control} or die "rename: $!";
    return;
}

# Return how many decisions were asked for since the start.
sub asked { my ($self) = @_; return ( -s "$self->{path}.count" ) // 0 }

sub _order {
    my ($self) = @_;
    open my $in, '<', $self->{control} or return { do => 'pass' };
    return $json->decode( scalar readline $in );
}

sub _serve {
    my ( $self, $client ) = @_;
    my $upstream = IO::Socket::UNIX->new( Peer => $self->{upstream}, Type => SOCK_STREAM );
    while ( my $request = Authz::Server::read_message($client) ) {
        my $order = $self->_order;
        my $at    = $order->{at} // '/v1/data/';
        $order = { do => 'pass' } if $request->{first} !~ m{\APOST \Q$at\E};
        if ( $request->{first} =~ m{\APOST /v1/data/} ) {
            open my $count, '>>', "$self->{path}.count";
            syswrite $count, '.';
        }
        last                  if $order->{do} eq 'close';
        sleep $order->{value} if $order->{do} eq 'delay';
        if ( $order->{do} eq 'hold' ) { sleep 0.01 while $self->_order->{do} eq 'hold' }
        my $text = $order->{value};
        if ( $order->{do} !~ /\A(?:text|raw)\z/ ) {
            last if !$upstream;
            Authz::Server::put( $upstream, "$request->{head}\r\n\r\n$request->{body}" );
            my $answer = Authz::Server::read_message($upstream) or last;
            $text = $answer->{body};
            $order->{status} //= ( $answer->{first} =~ /\AHTTP\S+ (\d+)/ )[0];
        }
        _answer( $client, $order, $text ) or last;
    }
    return;
}

sub _answer {
    my ( $client, $order, $text ) = @_;
    my $document = $order->{do} =~ /\A(?:set|drop)\z/ ? $json->decode($text) : undef;
    _put( $document, $_, $order->{value}{$_} ) for $order->{do} eq 'set' ? keys %{ $order->{value} } : ();
    _put( $document, $_ ) for $order->{do} eq 'drop' ? @{ $order->{value} } : ();
    $text = $json->encode($document) if defined $document;
    $text .= ' ' x ( $order->{pad} // 0 );
    $text =~ s/NEST/( '[' x $order->{nest} ) . ( ']' x $order->{nest} )/e if $order->{nest};
    my $head = sprintf "HTTP/1.1 %d Told\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
      $order->{status} // 200, length $text;

    if ( $order->{do} eq 'truncate' ) {
        syswrite $client, $head . substr $text, 0, $order->{value};
        return;
    }
    if ( $order->{do} eq 'drip' ) {
        return Authz::Server::put( $client, $head . $text, 1 );
    }
    Authz::Server::put( $client, $order->{do} eq 'raw' ? $text : $head . $text ) or return;
    return $order->{do} ne 'raw' || $order->{stay};
}

# Sets a.b.c, or removes it when there is no value.
sub _put {
    my ( $document, $path, @value ) = @_;
    my @step = split /\./, $path;
    my $last = pop @step;
    $document = $document->{$_} //= {} for @step;
    if (@value) { $document->{$last} = $value[0] }
    else        { delete $document->{$last} }
    return;
}

1;

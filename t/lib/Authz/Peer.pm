package Authz::Peer;

# A third party's web server on a free loopback port that answers as the test says: discovery, key sets, client
# metadata, statement issuers; and one that misbehaves. What is set holds from the next request on, in all processes.
#
#   my $peer = Authz::Peer->start;                       # or tls => 1, tls => { name => 'other.example' }, address => '::1'
#   $peer->set( '/client.json' => { body => {...} } );   # several paths in one call; undef forgets the path: 404
#   $peer->url('/client.json'); $peer->hits('/client.json'); $peer->requests('/client.json');
#
# An answer of JSON-RPC with the id 1 gets the id of its request. An answer, all members optional (a list of answers: one after the other, the last stays):
#   status => 200, type => 'application/json', headers => [ Name => 'value', ... ], body => 'text' or { JSON }
#   delay => SECONDS      before the head          pad => N        N blanks after the body
#   held => 1             before the head, until let_go() names the path, at most 5 minutes
#   stall => N            sits after N octets of the body            drip => SECONDS  between octets, head and all
#   truncate => N         ends after N octets of the body, of more that were promised
#   chunked => 1          in chunks (with stall: the head alone)     endless => 1     chunks without end
#   await => [N, HITS, ...]   waits after N octets of the body, until HITS requests of the path came, at most 10 s; then so on
#   close => 1            ends without an answer   reset => 1       the same, by RST
#   instead => { TEXT => {answer} }   this answer if the body of the request has TEXT
#   raw => OCTETS         these, head and all; then the connection ends
#
# TLS wants IO::Socket::SSL; certificates come from openssl and hang from the CA of ca_file().

use strict;
use warnings;

use Digest::MD5    qw(md5_hex);
use Fcntl          qw(:flock);
use IO::Select     ();
use IO::Socket::IP ();
use JSON::PP       ();
use Socket         qw(SOL_SOCKET SO_LINGER);
use Time::HiRes    qw(sleep);

use Authz::Process ();
use Authz::Server  ();

my $json = JSON::PP->new->utf8->canonical->allow_nonref->convert_blessed;

sub start {
    my ( $class, %option ) = @_;
    my $number = ++( our $peers );
    my $base   = Authz::Process::directory() . "/peer$number";
    my $self   = bless { base => $base, host => 'localhost', address => '127.0.0.1', %option }, $class;
    my $listen = IO::Socket::IP->new(
        LocalHost => $self->{address}, LocalPort => $self->{port} // 0, Listen => 128,
        ReuseAddr => 1 ) or die "listen: $@";
    $self->{port}        = $listen->sockport;
    $self->{certificate} = certificate( %{ ref $option{tls} ? $option{tls} : {} } ) if $option{tls};
    require IO::Socket::SSL if $option{tls};
    $self->{process} = Authz::Process->start(
        name => "peer$number",
        code => sub {
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) if $self->_start_tls( $_[0] ) } );
        } );
    return $self;
}

sub url {
    my ( $self, $path ) = @_;
    return ( $self->{tls} ? 'https' : 'http' ) . "://$self->{host}:$self->{port}" . ( $path // '' );
}
sub port    { return $_[0]{port} }
sub process { return $_[0]{process} }
sub stop    { my ($self) = @_; return $self->{process}->stop }

# Each path has files of its own, so that a request costs as little after a thousand others.
sub _file { my ( $self, $path, $what ) = @_; return "$self->{base}.$what." . md5_hex($path) }

sub set {
    my ( $self, %answer ) = @_;
    for my $path ( keys %answer ) {
        my ( $file, $was ) = ( $self->_file( $path, 'set' ), $answer{$path} );
        if ( !defined $was ) { unlink $file; next }
        _write( "$file.new", $json->encode( ref $was eq 'ARRAY' ? $was : [$was] ) );
        rename "$file.new", $file or die "rename: $!";
    }
    return $self;
}

# Return the requests that came, oldest first: { method, target, path, head, headers => {lower-case name => value}, body }.
sub requests {
    my ( $self, $path ) = @_;
    open my $in, '<', "$self->{base}.asked" or return;
    my @all = map { $json->decode($_) } readline $in;
    return grep { !defined $path || $_->{path} eq $path } @all;
}

# Return how many requests came, for a path or in all.
sub hits {
    my ( $self, $path ) = @_;
    return ( -s $self->_file( $path, 'hits' ) ) // 0 if defined $path;
    return scalar( my @asked = $self->requests );
}
sub forget { my ($self) = @_; unlink "$self->{base}.asked", glob "$self->{base}.hits.*"; return }

# ---- certificates

sub _openssl {
    my @word = @_;
    my ( $status, $text ) = Authz::Process->run( name => 'openssl', command => [ '/usr/bin/env', 'openssl', @word ] );
    die "openssl @word: $text" if $status != 0;
    return;
}

# The CA of this test program; SVC_SAFE_HTTP_CA_FILE.
sub ca_file {
    my $file = Authz::Process::directory() . '/ca.pem';
    _openssl(
        qw(req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj), '/CN=Test CA', '-keyout',
        "$file.key",                                                                    '-out',        $file
    ) if !-e $file;
    return $file;
}

# A certificate of that CA, with its key: names => ['localhost', ...], addresses => [...], days => -1 for one that is over,
# foreign => 1 for one of no CA. Returns the file that holds both.
sub certificate {
    my (%option) = @_;
    my $ca       = ca_file();
    my $file     = Authz::Process::directory() . '/cert' . ++( our $certificates ) . '.pem';
    my @name     = $option{name} // ( 'localhost', 'peer.example' );
    my @alt      = ( ( map {"DNS:$_"} @name ), defined $option{name} ? () : map {"IP:$_"} '127.0.0.1', '::1' );
    _write( "$file.ext", "subjectAltName=" . join( ',', @alt ) . "\n" );
    _openssl(
        qw(req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj), "/CN=$name[0]", '-keyout', $file,
        '-out', "$file.req" );
    my @signer = $option{foreign} ? ( '-signkey', $file ) : ( '-CA', $ca, '-CAkey', "$ca.key" );
    _openssl(
        qw(x509 -req -in), "$file.req", @signer, '-set_serial', $certificates + 1, '-days', $option{days} // 2,
        '-extfile',        "$file.ext", '-out',  "$file.crt" );
    open my $in, '<', "$file.crt" or die "$file.crt: $!";
    _write( $file, join( '', readline $in ), '>>' );
    return $file;
}

sub _write {
    my ( $file, $text, $how ) = @_;
    open my $out, $how // '>', $file or die "$file: $!";
    print {$out} $text;
    close $out or die "$file: $!";
    return;
}

# ---- the server

sub _start_tls {
    my ( $self, $client ) = @_;
    return 1 if !$self->{tls};
    return IO::Socket::SSL->start_SSL(
        $client, SSL_server => 1, SSL_cert_file => $self->{certificate},
        SSL_key_file => $self->{certificate} );
}

sub _serve {
    my ( $self, $client ) = @_;
    while ( my $request = Authz::Server::read_message($client) ) {
        my ( $method, $target ) = split / /, $request->{first};
        my $answer = $self->_note(
            {   method => $method, target => $target, path => ( split /\?/, $target )[0],
                %$request{qw(head headers body)} } );
        my ($text) = grep { index( $request->{body} // '', $_ ) >= 0 } keys %{ $answer->{instead} // {} };
        $answer = $answer->{instead}{$text} if defined $text;
        $answer = _with_id( $answer, $request );
        $self->_hold( ( split /\?/, $target )[0] ) if $answer->{held};
        $self->_await( $client, $answer, ( split /\?/, $target )[0] ), next if $answer->{await};
        _answer( $client, $answer ) or last;
    }
    return;
}

# An answer of JSON-RPC with the id 1 gets that of its request.
sub _with_id {
    my ( $answer, $request ) = @_;
    my $body = $answer->{body};
    return $answer if ref $body ne 'HASH' || !$body->{jsonrpc} || ( $body->{id} // '' ) ne '1';
    my $asked = eval { $json->decode( $request->{body} ) } // {};
    return $answer if ref $asked ne 'HASH' || ( $asked->{id} // '' ) !~ /\A\d+\z/;
    return { %$answer, body => { %$body, id => $asked->{id} + 0 } };
}

# Writes it down, and finds the answer: the nth of the list for the nth request of the path.
sub _note {
    my ( $self, $request ) = @_;
    open my $out, '>>', "$self->{base}.asked" or die "$self->{base}.asked: $!";
    flock $out, LOCK_EX;
    my $before = $self->hits( $request->{path} );
    syswrite $out, $json->encode($request) . "\n";
    _write( $self->_file( $request->{path}, 'hits' ), 'x', '>>' );
    close $out;
    my $answers;
    if ( open my $in, '<', $self->_file( $request->{path}, 'set' ) ) { $answers = $json->decode( scalar readline $in ) }
    return { status => 404, body => '{}' } if !$answers;
    return $answers->[ $before < @$answers ? $before : -1 ];
}

sub _head {
    my ( $answer, @framing ) = @_;
    my @field = ( 'Content-Type' => $answer->{type} // 'application/json', @{ $answer->{headers} // [] }, @framing );
    my $head  = sprintf "HTTP/1.1 %d Told\r\n", $answer->{status} // 200;
    while ( my ( $name, $value ) = splice @field, 0, 2 ) { $head .= "$name: $value\r\n" if length $value }
    return "$head\r\n";
}

# Let the answers of a path go that are held, and all that come.
sub let_go { my ( $self, $path ) = @_; return _write( $self->_file( $path, 'go' ), 'x' ) }

sub _hold {
    my ( $self, $path ) = @_;
    for ( 1 .. 6000 ) { last if -e $self->_file( $path, 'go' ); sleep 0.05 }
    return;
}

# An answer whose end comes after other requests: a stream of events that asks the client something.
sub _await {
    my ( $self, $client, $answer, $path ) = @_;
    my ( $sent, @pause ) = ( 0, @{ $answer->{await} } );
    Authz::Server::put( $client, _head( $answer, 'Content-Length' => length $answer->{body} ) ) or return;
    while ( my ( $octets, $hits ) = splice @pause, 0, 2 ) {
        Authz::Server::put( $client, substr( $answer->{body}, $sent, $octets - $sent ) ) or return;
        $sent = $octets;
        for ( 1 .. 1000 ) { last if $self->hits($path) >= $hits; sleep 0.01 }
    }
    return Authz::Server::put( $client, substr( $answer->{body}, $sent ) );
}

# True when the connection may stay.
sub _answer {
    my ( $client, $answer ) = @_;
    sleep $answer->{delay} if $answer->{delay};
    setsockopt $client, SOL_SOCKET, SO_LINGER, pack 'ii', 1, 0 if $answer->{reset};
    return                                                                     if $answer->{reset} || $answer->{close};
    return Authz::Server::put( $client, $answer->{raw}, $answer->{drip} ) && 0 if defined $answer->{raw};
    my $body = $answer->{body} // '';
    $body = ( ref $body ? $json->encode($body) : $body ) . ' ' x ( $answer->{pad} // 0 );
    if ( $answer->{chunked} || $answer->{endless} ) {
        Authz::Server::put( $client, _head( $answer, 'Transfer-Encoding' => 'chunked' ), $answer->{drip} ) or return;
        return IO::Select->new($client)->can_read(600) && 0 if defined $answer->{stall};
        my $chunk = sprintf "%x\r\n%s\r\n", length $body, $body;
        do { Authz::Server::put( $client, $chunk, $answer->{drip} ) or return } while $answer->{endless};
        return Authz::Server::put( $client, "0\r\n\r\n" );
    }
    my $whole = _head( $answer, 'Content-Length' => length $body );
    my $cut   = $answer->{truncate} // $answer->{stall};
    Authz::Server::put( $client, $whole . substr( $body, 0, $cut // length $body ), $answer->{drip} ) or return;
    IO::Select->new($client)->can_read(600) if defined $answer->{stall};
    return !defined $cut;
}

1;

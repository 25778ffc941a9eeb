package Authz::Upstream;

# An upstream of the gateway and its authorization server on one free loopback port, for accounts that people link. It
# misbehaves as the test says.
#   my $upstream = Authz::Upstream->start;
#   $upstream->auth( scopes => ['notes.read'], ... );             upstreamAuth of a resource
#   $upstream->misbehave( token => { status => 500 }, ... );      until behave()
#   $upstream->seen('token');                                     parameters of the requests to an endpoint, all of them
# Endpoints: authorize (sends the browser back at once), token (codes with PKCE; a refresh token is good once), revoke,
# register, metadata (RFC 8414), resource and named (RFC 9728: at its place and at another one), api (/api..: 200 for the secret `good-key` or a token that lives).
# misbehave: status, body, type, delay, close, challenge (WWW-Authenticate), and every other word is a member of the document (authorize: a parameter of the
# redirect) to set, or with undef to leave out; with status or close the endpoint does nothing else. token_life: seconds of expires_in; scope: what is granted.

use strict;
use warnings;

use Digest::SHA      ();
use IO::Socket::INET ();
use JSON::PP         ();
use MIME::Base64     ();
use Time::HiRes      qw(sleep);

use Authz::Client  ();
use Authz::Process ();
use Authz::Server  ();

my $json     = JSON::PP->new->utf8->canonical->allow_nonref;
my %CONTROL  = map { $_ => 1 } qw(status body type delay close challenge);
my %ENDPOINT = (
    '/authorize' => 'authorize', '/token' => 'token', '/revoke' => 'revoke', '/register' => 'register',
    '/.well-known/oauth-authorization-server'   => 'metadata',
    '/.well-known/oauth-protected-resource/api' => 'resource', '/named' => 'named',
);

sub start {
    my ( $class, %option ) = @_;
    my $number = ++( our $count );
    my $dir    = Authz::Process::directory() . "/upstream$number";
    mkdir $dir, 0755 or die "$dir: $!";
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 64, ReuseAddr => 1 )
      or die "no port: $!";
    my $self = bless { dir => $dir, url => 'http://127.0.0.1:' . $listen->sockport, control => {}, %option }, $class;
    $self->misbehave;
    $self->{process} = Authz::Process->start(
        name => "upstream$number",
        code => sub {
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) } );
        } );
    close $listen;
    return $self;
}

sub url { my ( $self, $path ) = @_; return $self->{url} . ( $path // '' ) }

# upstreamAuth with the endpoints named, for a public client.
sub auth {
    my ( $self, %more ) = @_;
    return {
        type            => 'oauth_link',         authorizationEndpoint => $self->url('/authorize'),
        tokenEndpoint   => $self->url('/token'), revocationEndpoint    => $self->url('/revoke'), clientId => 'gateway',
        tokenAuthMethod => 'none',               scopes                => ['notes.read'],        %more,
    };
}

sub misbehave {
    my ( $self, %how ) = @_;
    Authz::Server::write_whole( "$self->{dir}/control", $json->encode( \%how ) );
    return $self;
}
sub behave { my ($self) = @_; return $self->misbehave }

sub seen {
    my ( $self, $endpoint ) = @_;
    return map { $json->decode($_) } split /\n/, Authz::Server::read_there("$self->{dir}/seen.$endpoint");
}

# All octets that came in, for scans.
sub all_seen {
    my ($self) = @_;
    return join "\n", map { Authz::Server::read_there($_) } glob "$self->{dir}/seen.*";
}
sub forget { my ($self) = @_; unlink glob "$self->{dir}/seen.*"; return }

sub _random {
    open my $in, '<:raw', '/dev/urandom' or die "urandom: $!";
    read $in, my $octets, 16;
    return unpack 'H*', $octets;
}

sub _pairs {
    my ($text) = @_;
    return map {
        map { my $part = $_; $part =~ tr/+/ /; $part =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; $part }
          ( split( /=/, $_, 2 ), '' )[ 0, 1 ]
    } split /&/, $text // '';
}

sub _escape { my ($text) = @_; $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge; return $text }

sub _serve {
    my ( $self, $socket ) = @_;
    my $request = Authz::Server::read_message($socket) or return;
    my ( $method, $target ) = $request->{first} =~ m{\A(\S+) (\S+) HTTP/1} or return;
    my ( $path, $query ) = split /\?/, $target, 2;
    my %header = %{ $request->{headers} };
    my $name   = $ENDPOINT{$path} // 'api';
    my $how    = $json->decode( Authz::Server::read_there("$self->{dir}/control") );
    my %param =
        $method eq 'GET'                            ? _pairs($query)
      : ( $header{'content-type'} // '' ) =~ /json/ ? %{ $json->decode( $request->{body} ) }
      :                                               _pairs( $request->{body} );
    my %own = %{ $how->{$name} // {} };
    my ( $status, $document, @more ) =
      $own{close} || $own{status} ? ( 500, {} ) : $self->can("_do_$name")->( $self, \%param, \%header, $how );
    open my $out, '>>', "$self->{dir}/seen.$name" or die "seen: $!";
    syswrite $out,
      JSON::PP->new->ascii->canonical->encode(
        { %param, path => $path, map { ( "header:$_" => $header{$_} ) } keys %header } )
      . "\n";
    sleep $own{delay} if $own{delay};
    return            if $own{close};

    for my $member ( grep { ref $document && !$CONTROL{$_} } keys %own ) {
        if ( defined $own{$member} ) { $document->{$member} = $own{$member} }
        else                         { delete $document->{$member} }
    }
    my $form = ref $document && ( $own{type} // '' ) =~ /urlencoded/;
    my $body = $own{body}
      // ( $form ? Authz::Client::form(%$document) : ref $document ? $json->encode($document) : $document );
    my $text =
        'HTTP/1.1 '
      . ( $own{status} // $status )
      . " Told\r\nContent-Type: "
      . ( $own{type} // 'application/json' )
      . "\r\nConnection: close\r\nContent-Length: "
      . length($body) . "\r\n";
    push @more, 'WWW-Authenticate' => $own{challenge} if defined $own{challenge};
    while ( my ( $field, $value ) = splice @more, 0, 2 ) { $text .= "$field: $value\r\n" }
    Authz::Server::put( $socket, "$text\r\n$body", 0 );
    return;
}

# ---- endpoints: status, document, headers

sub _do_authorize {
    my ( $self, $param, undef, $how ) = @_;
    my $code = _random();
    Authz::Server::write_whole( "$self->{dir}/code.$code", $json->encode($param) );
    my %back = ( code => $code, state => $param->{state} );
    my %own  = %{ $how->{authorize} // {} };
    delete $back{code} if defined $own{error};
    %back = ( %back, map { $_ => $own{$_} } grep { !$CONTROL{$_} } keys %own );
    my $query = join '&', map { "$_=" . _escape( $back{$_} ) } grep { defined $back{$_} } sort keys %back;
    return 302, '', Location => "$param->{redirect_uri}?$query";
}

sub _tokens {
    my ( $self, $scope, $how ) = @_;
    my ( $access, $refresh ) = ( 'at-' . _random(), 'rt-' . _random() );
    Authz::Server::write_whole( "$self->{dir}/token.$access",    '1' );
    Authz::Server::write_whole( "$self->{dir}/refresh.$refresh", $scope );
    return 200,
      { access_token  => $access, token_type => 'Bearer', expires_in => $how->{token_life} // 3600,
        scope         => $how->{scope} // $scope,
        refresh_token => $refresh, account => { login => 'ann-at-notes' } };
}

sub _do_token {
    my ( $self, $param, undef, $how ) = @_;
    my $type = $param->{grant_type} // '';
    if ( $type eq 'refresh_token' ) {
        my $old = $param->{refresh_token} // '';
        return 400, { error => 'invalid_grant' }
          if $old !~ /\Art-[0-9a-f]{32}\z/ || !rename "$self->{dir}/refresh.$old", "$self->{dir}/used.$old";
        return $self->_tokens( Authz::Server::read_there("$self->{dir}/used.$old"), $how );
    }
    my $code = $param->{code} // '';
    return 400, { error => 'invalid_grant' }
      if $type ne 'authorization_code' || $code !~ /\A[0-9a-f]{32}\z/ || !rename "$self->{dir}/code.$code",
      "$self->{dir}/used.$code";
    my $asked = $json->decode( Authz::Server::read_there("$self->{dir}/used.$code") );
    my $hash  = MIME::Base64::encode_base64url( Digest::SHA::sha256( $param->{code_verifier} // '' ) );
    return 400, { error => 'invalid_grant', error_description => 'PKCE or redirect_uri' }
      if $param->{redirect_uri} ne $asked->{redirect_uri}
      || ( defined $asked->{code_challenge} && $hash ne $asked->{code_challenge} );
    return $self->_tokens( $asked->{scope} // '', $how );
}

sub _do_revoke { return 200, {} }

sub _do_register {
    my ( $self, $param ) = @_;
    return 201, { %$param, client_id => 'registered-' . _random(), client_secret => 'secret-' . _random() };
}

sub _do_metadata {
    my ($self) = @_;
    my $url = $self->{url};
    return 200,
      { issuer                => $url, authorization_endpoint => "$url/authorize", token_endpoint => "$url/token",
        registration_endpoint => "$url/register",
        revocation_endpoint   => "$url/revoke", code_challenge_methods_supported => ['S256'],
        authorization_response_iss_parameter_supported => JSON::PP::false() };
}

sub _do_resource {
    my ($self) = @_;
    return 200, { resource => "$self->{url}/api", authorization_servers => [ $self->{url} ] };
}

sub _do_named { return $_[0]->_do_resource }

sub _do_api {
    my ( $self, $param, $header ) = @_;
    my ($secret) = ( $header->{authorization} // $header->{'x-key'} // $param->{key} // '' ) =~ /(\S+)\z/;
    return 401, { error => 'no credential' }  if !defined $secret;
    return 200, { ok    => JSON::PP::true() } if $secret eq 'good-key' || -e "$self->{dir}/token.$secret";
    return 401, { error => 'unknown credential' };
}

1;

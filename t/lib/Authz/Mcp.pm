package Authz::Mcp;

# A client of the gateway's MCP endpoint that says exactly what a test wants.
#
#   my $mcp = Authz::Mcp->new($stack);                        # with a client that may use every resource
#   $mcp->resource( 'crm', upstreamType => 'STATIC', ... );   # made or replaced; its default scope is `mcp`
#   my $answer = $mcp->modern( 'tools/call', { name => 'crm__hello', arguments => {} } );
#   my $answer = $mcp->legacy( 'tools/list', {}, version => '2025-06-18' );
#   my $token  = $mcp->person( 'alice', client => 'host' );   # of a person, by a client that is made for that
#   $mcp->people( ann => ['ann'], other => [ 'ann', client => 'other' ] );          # tokens of several, for by => 'other'
#   my $id     = $mcp->session( by => 'ann' );                # initialize; its answer: $mcp->hello
#   my $one    = $mcp->stream( $id, by => 'ann' );            # the stream of the session (Authz::Events)
# Options: at => 'crm' (the endpoint of one resource), token => TEXT or undef, by => 'ann', id => 7, headers => [...],
# capabilities => {...}, session => TEXT, version => TEXT.

use strict;
use warnings;

use JSON::PP ();

use Authz::Events ();
use Authz::Grant  ();

our $MODERN  = '2026-07-28';
our $SESSION = 'Mcp-Session-Id';

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub new {
    my ( $class, $stack, %option ) = @_;
    my $self = bless { stack => $stack }, $class;
    $self->{client} = [
        $stack->make_client(
            $option{client} // 'agent',
            {   grants    => ['client_credentials'], scopes => ['mcp'], gateway_scopes => ['*'],
                resources => ['urn:svc:gateway'] } ) ];
    $self->{token} = $self->token( $option{scope} // 'mcp' );
    return $self;
}

sub address { my ( $self, $name ) = @_; return "$self->{stack}{base}/gateway/mcp" . ( defined $name ? "/$name" : '' ) }

sub token {
    my ( $self, $scope, $name ) = @_;
    return $self->{stack}->token_text( @{ $self->{client} }, scope => $scope, resource => $self->address($name) );
}

sub person {
    my ( $self,  $subject, %option ) = @_;
    my ( $stack, $id,      $back )   = ( $self->{stack}, $option{client} // 'host', $Authz::Grant::REDIRECT );
    $self->{host}{$id} //= [
        $stack->make_client(
            $id,
            {   grants    => ['authorization_code'], scopes => [ 'openid', 'mcp' ], gateway_scopes => ['*'],
                resources => ['urn:svc:gateway'] },
            redirectUris => [$back] ) ];
    my @where = ( resource => $self->address );
    Authz::Grant->people( $stack, subject => $subject, idp => $option{idp} // 'corp' );
    my $code = Authz::Grant->code(
        $stack,
        client => $id, subject => $subject, scope => 'mcp', idp => $option{idp} // 'corp', @where );
    return Authz::Grant->redeem( $stack, $self->{host}{$id}, $code, @where )->member('access_token') // die 'no token';
}

sub people {
    my ( $self, %people ) = @_;
    $self->{of}{$_} = $self->person( @{ $people{$_} } ) for sort keys %people;
    return;
}

# The token of a request; undef: none.
sub bearer {
    my ( $self, %option ) = @_;
    return $option{token} if exists $option{token};
    return defined $option{by} ? $self->{of}{ $option{by} } // die "no token of $option{by}\n" : $self->{token};
}

sub resource {
    my ( $self, $name, %member ) = @_;
    my %document = ( name => $name, displayName => $name, defaultScope => 'mcp', enabled => JSON::PP::true(), %member );
    my $answer   = $self->{stack}->admin( POST => '/admin/api/managed-resources', json => \%document );
    $answer = $self->{stack}->admin( PUT => "/admin/api/managed-resources/$name", json => \%document )
      if $answer->status == 409;
    die "resource $name: " . $answer->status . ' ' . $answer->text if $answer->status !~ /\A20[01]\z/;
    return $answer;
}

# Adds a rule of the operator about the gateway.
sub rule {
    my ( $self, $text ) = @_;
    return $self->{stack}->admin(
        POST => '/admin/api/policy-rules',
        json => {
            path => 'custom/gateway.rego', kind => 'rego', version => '1', content => $text, enabled => JSON::PP::true()
        } );
}

sub path { my (%option) = @_; return '/gateway/mcp' . ( defined $option{at} ? "/$option{at}" : '' ) }

# Sends octets as they are.
sub send_octets {
    my ( $self, $body, %option ) = @_;
    my $token = $self->bearer(%option);
    return $self->{stack}->http->request(
        POST    => path(%option),
        body    => $body,
        headers => [
            'Content-Type' => $option{type} // 'application/json',      Accept => 'application/json, text/event-stream',
            defined $token ? ( Authorization => "Bearer $token" ) : (), @{ $option{headers} // [] } ] );
}

sub modern {
    my ( $self, $method, $params, %option ) = @_;
    my %meta = (
        'io.modelcontextprotocol/protocolVersion'    => $MODERN,
        'io.modelcontextprotocol/clientCapabilities' => $option{capabilities} // {} );
    my $name   = $params->{name} // $params->{uri};
    my @header = ( 'MCP-Protocol-Version' => $MODERN, 'Mcp-Method' => $method );
    push @header, 'Mcp-Name' => $name
      if defined $name && !ref $name && $method =~ m{\A(?:tools/call|prompts/get|resources/read)\z};
    my %message = ( jsonrpc => '2.0', method => $method, params => { %$params, _meta => \%meta } );
    $message{id} = $option{id} // 1 if !$option{notification};
    return $self->send_octets( $json->encode( \%message ), %option, headers => $option{headers} // \@header );
}

sub legacy {
    my ( $self, $method, $params, %option ) = @_;
    my @header = defined $option{version} ? ( 'MCP-Protocol-Version' => $option{version} ) : ();
    push @header, $SESSION => $option{session} if defined $option{session};
    my %message = ( jsonrpc => '2.0', method => $method, defined $params ? ( params => $params ) : () );
    $message{id} = $option{id} // 1 if !$option{notification};
    return $self->send_octets(
        $json->encode( \%message ), %option,
        headers => [ @header, @{ $option{headers} // [] } ] );
}

# The answer to initialize of MCP 2025-11-25, or `revision`; and the session that it gives, or ''.
sub hello {
    my ( $self, %option ) = @_;
    my %params = (
        protocolVersion => delete $option{revision} // '2025-11-25', capabilities => delete $option{capabilities} // {},
        clientInfo      => { name => 'c', version => '1' } );
    return $self->legacy( 'initialize', \%params, %option );
}
sub session { my ( $self, %option ) = @_; return $self->hello(%option)->header($SESSION) // '' }

# Fields of a request for the stream of a session, or without one (undef); accept: another type.
sub stream_fields {
    my ( $self, $session, %option ) = @_;
    return [
        Authorization => 'Bearer ' . $self->bearer(%option),
        Accept        => $option{accept} // 'text/event-stream',
        defined $session         ? ( $SESSION               => $session )         : (),
        defined $option{version} ? ( 'MCP-Protocol-Version' => $option{version} ) : () ];
}

sub stream {
    my ( $self, $session, %option ) = @_;
    my @request = ( GET => path(%option), headers => $self->stream_fields( $session, %option ), close => 1 );
    return Authz::Events::open_events( $self->{stack}, $self->{stack}->http->octets(@request), qr/^: /m );
}

# The result of an answer, or its error; undef: there is none.
sub result { my ( $self, $answer ) = @_; return ( $answer->json         // {} )->{result} }
sub error  { my ( $self, $answer ) = @_; return ( $answer->json         // {} )->{error} }
sub code   { my ( $self, $answer ) = @_; return ( $self->error($answer) // {} )->{code} // 'none: ' . $answer->text }

1;

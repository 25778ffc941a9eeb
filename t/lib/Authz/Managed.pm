package Authz::Managed;

# Managed resources of a stack, tokens for them, and requests through the gateway.
#
#   my $gateway = Authz::Managed->new($stack);                        # with a client that may use all of them
#   $gateway->resource( 'crm', upstreamUrl => $peer->url, routes => [ { id => 'all', path => '/**', methods => ['GET'] } ] );
#   my $answer = $gateway->ask( GET => 'crm', '/a/b?c=d', headers => [...] );

use strict;
use warnings;

use JSON::PP ();

sub new {
    my ( $class, $stack, %option ) = @_;
    my $self = bless { stack => $stack, token => {} }, $class;
    $self->{client} = [
        $stack->make_client(
            $option{client} // 'agent',
            { grants => ['client_credentials'], scopes => ['use'], resources => ['urn:svc:gateway'] } ) ];
    return $self;
}

# Make or replace a resource; its default scope is `use`.
sub resource {
    my ( $self, $name, %member ) = @_;
    my %document = ( name => $name, displayName => $name, upstreamType => 'REST', defaultScope => 'use', %member );
    my $answer   = $self->{stack}->admin( POST => '/admin/api/managed-resources', json => \%document );
    $answer = $self->{stack}->admin( PUT => "/admin/api/managed-resources/$name", json => \%document )
      if $answer->status == 409;
    die "resource $name: " . $answer->status . ' ' . $answer->text if $answer->status !~ /\A20[01]\z/;
    return $answer;
}

# The token of the client for a resource.
sub token {
    my ( $self, $name ) = @_;
    return $self->{token}{$name} //= $self->{stack}->token_text(
        @{ $self->{client} }, scope => 'use',
        resource => "$self->{stack}{base}$self->{stack}{path}/gateway/$name" );
}

sub target { my ( $self, $name, $rest ) = @_; return "$self->{stack}{path}/gateway/$name$rest" }

sub ask {
    my ( $self, $method, $name, $rest, %option ) = @_;
    my $token = exists $option{token} ? delete $option{token}                : $self->token($name);
    my @show  = defined $token        ? ( Authorization => "Bearer $token" ) : ();
    return $self->{stack}->http->request(
        $method, $self->target( $name, $rest ),
        %option, headers => [ @show, @{ $option{headers} // [] } ] );
}

1;

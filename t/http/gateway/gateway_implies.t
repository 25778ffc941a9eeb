# Scopes of a connector that imply others count for its own resources, in the form that the operator has taken over (gateway-admin.md
# 3.7).
use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP   ();
use Test::More;

use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();

my $own   = tempdir( CLEANUP => 1 );
my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => { SVC_CONNECTORS_DIR => $own, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $gateway = Authz::Managed->new($stack);
my $json    = JSON::PP->new->canonical;
$peer->set( "/v1/$_" => { type => 'application/json', body => {} } ) for qw(read write);

sub manifest {
    my ( $version, @scopes ) = @_;
    my @routes = map { { id => $_, methods => ['GET'], path => "/$_", scopes => ["own:$_"] } } qw(read write);
    open my $file, '>', "$own/own.json" or die "own.json: $!";
    print {$file} $json->encode(
        {   manifestVersion => 1, id => 'own', name => 'Own', version => $version, category => 'test',
            settings        => { type => 'object', properties => { url => { type => 'string', format => 'uri' } } },
            scopes          => \@scopes,
            resources       => [
                {   name => 'own', displayName => 'Own', upstreamType => 'REST', upstreamUrl => '${settings.url}',
                    defaultScope => 'own:read', routes => \@routes } ] } );
    close $file or die "own.json: $!";
    return \@routes;
}

sub scope { my ( $name, @implies ) = @_; return { name => $name, implies => \@implies } }

my $routes  = manifest( '1', scope('own:read'), scope( 'own:write', 'own:read' ), scope('own:admin') );
my $install = $stack->admin(
    POST => '/admin/api/connectors/own/install',
    json => { createResources => JSON::PP::true, settings => { url => $peer->url('/v1') } } );
is( $install->status, 201, 'a connector of which a scope implies another' ) or diag $install->text;
$gateway->resource( 'other', upstreamUrl => $peer->url('/v1'), routes => $routes );

my @scopes = qw(own:read own:write own:admin);
my @client = $stack->make_client(
    'caller',
    { grants => ['client_credentials'], scopes => \@scopes, resources => ['urn:svc:gateway'] } );

# Return the status of a request with a token that has one scope.
sub status {
    my ( $scope, $name, $rest ) = @_;
    my $token = $stack->token_text(
        @client,
        scope    => $scope,
        resource => "$stack->{base}$stack->{path}/gateway/$name" );
    return $gateway->ask( GET => $name, $rest, token => $token )->status;
}

is( status( 'own:read',  'own',   '/read' ),  200, 'the scope itself' );
is( status( 'own:write', 'own',   '/read' ),  200, 'a scope that implies it' );
is( status( 'own:write', 'own',   '/write' ), 200, '... has its own operations as well' );
is( status( 'own:read',  'own',   '/write' ), 403, 'it is implied in one direction alone' );
is( status( 'own:admin', 'own',   '/read' ),  403, 'a scope that implies nothing' );
is( status( 'own:write', 'other', '/read' ),  403, 'a scope implies nothing at a resource of somebody else' );
is( status( 'own:read',  'other', '/read' ),  200, '... which takes the scope itself' );

# ---- a new manifest

manifest( '2', scope('own:read'), scope( 'own:write', 'own:read' ), scope( 'own:admin', 'own:write' ) );
sub resync { return $stack->admin( POST => '/admin/api/connectors/own/sync' . ( $_[0] || '' ) )->status }
is( status( 'own:admin', 'own', '/read' ),  403, 'a file alone changes nothing' );
is( resync(),                               200, 'sync' );
is( status( 'own:admin', 'own', '/read' ),  403, '... neither without force=true' );
is( resync('?force=true'),                  200, 'sync with force=true' );
is( status( 'own:admin', 'own', '/write' ), 200, '... and the scope implies the other' );
is( status( 'own:admin', 'own', '/read' ),  200, '... and what that one implies' );
manifest( '3', map { scope($_) } @scopes );
is( resync('?force=true'),                 200, 'sync: no scope implies another any more' );
is( status( 'own:write', 'own', '/read' ), 403, '... at once' );

done_testing();

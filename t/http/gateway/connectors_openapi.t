# The connector generic-openapi: routes and tools of an OpenAPI document, requests and tool calls through them, documents that are
# refused, and sync (gateway-admin.md 3.7).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Managed ();
use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Stack   ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $gateway = Authz::Managed->new($stack);
my $true    = JSON::PP::true;
my $json    = JSON::PP->new->utf8->canonical;

# Return a document of pets, with these paths in addition.
sub document {
    my ( $paths, %more ) = @_;
    my $id = { name => 'id', in => 'path', required => $true, schema => { type => 'string' } };
    return {
        openapi => '3.1.0',
        info    => { title => 'Pets', version => '1' },
        servers => [ { url => $peer->url('/v1') } ],
        paths   => {
            '/pets' => {
                get => {
                    operationId => 'listPets', summary => 'List pets',
                    parameters  => [ { name => 'limit', in => 'query', schema => { type => 'integer' } } ] },
                post => {
                    operationId => 'createPet',
                    requestBody => {
                        required => $true,
                        content  => { 'application/json' => { schema => { '$ref' => '#/components/schemas/Pet' } } } } }
            },
            '/pets/{id}' => { parameters => [$id], delete => { operationId => 'deletePet' } },
            %{ $paths // {} } },
        components => {
            schemas =>
              { Pet => { type => 'object', required => ['name'], properties => { name => { type => 'string' } } } } },
        %more };
}

sub install {
    my ( $name, $document, %settings ) = @_;
    return $stack->admin(
        POST => '/admin/api/connectors/generic-openapi/install',
        json => {
            createResources => $true, name => $name,
            settings        => {
                document   => $document, secret => 'key-of-the-test', readScope => 'pets:read',
                writeScope => 'pets:write',
                %settings } } );
}

sub refused {
    my ( $document, $field, $name, %settings ) = @_;
    return admin_error( install( 'pets', $document, %settings ), 400, "refused: $name", fields => [$field] );
}

# ---- documents that are refused

my $at  = 'settings.document';
my $get = sub { return { get => {@_} } };
refused( document( undef, openapi => '2.0' ), "$at.openapi", 'a version that is not 3' );
refused( document( undef, servers => [ ( { url => 'https://a.example' } ) x 2 ] ), "$at.servers", 'two servers' );
refused(
    document( undef, servers => [ { url => 'http://a.example' } ] ),
    'upstreamUrl', 'a server without https that is not in SVC_GATEWAY_ALLOWED_INSECURE_HOSTS' );
refused( document( undef, servers => [ { url => '/v1' } ] ), 'upstreamUrl',           'a server without a host' );
refused( document( { '/a/../admin' => $get->() } ),          "$at.paths./a/../admin", 'a path with dots' );
refused(
    document( { '/x' => $get->( parameters => [ { name => 'sid', in => 'cookie' } ] ) } ),
    "$at.paths./x.get.parameters[0]",
    'a cookie' );
refused(
    document( { '/x' => $get->( requestBody => { content => { 'multipart/form-data' => {} } } ) } ),
    "$at.paths./x.get.requestBody",
    'a body of another type than JSON' );
refused(
    document( { '/x' => $get->( parameters => [ { '$ref' => 'http://127.0.0.1/x.json' } ] ) } ),
    "$at.paths./x.get.parameters[0]",
    'a reference to another document' );
my @bomb = map {
    my $next = $_ + 1;
    { type => 'object', properties => { map { ( "m$_" => { '$ref' => "#/x/$next" } ) } 1 .. 40 } }
} 0 .. 7;
my $bombed = document(
    {   '/x' =>
          { post => { requestBody => { content => { 'application/json' => { schema => { '$ref' => '#/x/0' } } } } } } },
    x => [ @bomb, { type => 'string' } ] );
refused( $bombed, "$at.paths./x.post.requestBody",          'references that grow without an end' );
refused( document( undef, x => 'x' x ( 512 * 1024 ) ), $at, 'a document of more than 512 KiB' );
refused( 'text',                                       $at, 'a document that is no object' );
is( $stack->sql('SELECT count(*) FROM connector') + $stack->sql('SELECT count(*) FROM managed_resource'),
    0, 'nothing of a refused install stays' );

# ---- a good one

my $answer = install( 'pets', document() );
is( $answer->status, 201, 'install with createResources' ) or diag $answer->text;
unlike( $answer->body, qr/key-of-the-test/, '... whose answer has no secret' );
sub resource { return $stack->admin( GET => '/admin/api/managed-resources/pets' )->json }
my $made = resource();
is( $made->{upstreamUrl}, $peer->url('/v1'), '... the server of the document is the upstream' );
is_deeply(
    [ sort map {"$_->{methods}[0] $_->{path} $_->{origin}"} @{ $made->{routes} } ],
    [ 'DELETE /pets/{id} manifest', 'GET /pets manifest', 'POST /pets manifest' ],
    '... and its operations are the routes' );

my @client = $stack->make_client(
    'caller',
    { grants => ['client_credentials'], scopes => [qw(pets:read pets:write)], resources => ['urn:svc:gateway'] } );

sub ask {
    my ( $method, $rest, $scope ) = @_;
    my $token = $stack->token_text( @client, scope => $scope, resource => "$stack->{base}$stack->{path}/gateway/pets" );
    return $gateway->ask( $method => 'pets', $rest, token => $token )->status;
}
$peer->set( '/v1/pets' => { body => { pets => [] } }, '/v1/pets/7' => { status => 204 } );
is( ask( GET    => '/pets?limit=2&api_key=mine', 'pets:read' ),  200, 'a request through a route of the document' );
is( ask( DELETE => '/pets/7',                    'pets:read' ),  403, '... writing needs the scope for it' );
is( ask( DELETE => '/pets/7',                    'pets:write' ), 204, '... and passes with it' );
is( ask( GET    => '/owners',                    'pets:read' ),  404, '... and a path that the document lacks is 404' );
my ($request) = $peer->requests('/v1/pets');
is( $request->{target}, '/v1/pets?limit=2', '... only the parameters of the document reach the upstream' );
like( $json->encode( $request->{headers} ), qr/Bearer key-of-the-test/, '... with the credential of the connector' );

my $caller = Authz::Mcp->new( $stack, client => 'tools', scope => 'mcp pets:read pets:write' );
my $list   = $caller->result( $caller->modern( 'tools/list', {} ) );
is_deeply(
    [ map { $_->{name} } @{ $list->{tools} } ], [qw(pets__createPet pets__deletePet pets__listPets)],
    'tools/list: the operations of the document' );
$peer->forget;
$answer = $caller->modern( 'tools/call', { name => 'pets__createPet', arguments => { name => 'Rex' } } );
ok( !( $caller->result($answer) // { isError => 1 } )->{isError}, 'a tool call' ) or diag $answer->text;
($request) = $peer->requests('/v1/pets');
is( "$request->{method} $request->{body}", 'POST {"name":"Rex"}', '... sends the arguments as the body' );
$peer->forget;
$answer = $caller->modern( 'tools/call', { name => 'pets__createPet', arguments => { colour => 'red' } } );
is( $peer->hits('/v1/pets'), 0, '... one that the schema of the document refuses reaches nothing' );

# ---- sync

$made->{routes} = [
    map {
        { %$_, enabled => $_->{methods}[0] eq 'DELETE' ? JSON::PP::false : $true }
    } @{ $made->{routes} } ];
is( $stack->admin( PUT => '/admin/api/managed-resources/pets', json => $made )->status, 200,
    'a route is switched off' );
$answer = $stack->admin( POST => '/admin/api/connectors/generic-openapi/sync' );
is( $answer->status, 200, 'sync' ) or diag $answer->text;
my $synced = resource();
is_deeply(
    [ sort map { $_->{id} . ( ( $_->{enabled} // 1 ) ? ' on' : ' off' ) } @{ $synced->{routes} } ],
    [ 'createPet on', 'deletePet off', 'listPets on' ],
    '... keeps what was imported, and what the operator switched off' );
is_deeply( [ sort map { $_->{name} } @{ $synced->{tools} } ], [qw(createPet deletePet listPets)], '... the tools too' );
is( $synced->{upstreamUrl}, $made->{upstreamUrl}, '... and the address' );

done_testing();

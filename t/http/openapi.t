# The description of the interface: complete, true and switched off by its setting (gateway-admin.md 7.1; specification 8).
# Authz::Api holds every answer of the HTTP tests against it.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Api ();
use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Grant  ();
use Authz::Path   ();
use Authz::Stack  ();

my $stack    = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my $answer   = $stack->http->get('/openapi.json');
my $document = $answer->json;

is( $answer->status,              200,          'openapi: /openapi.json needs no credential (specification 8)' );
is( $document->{openapi},         '3.1.0',      'openapi: the format is OpenAPI 3.1.0' );
is( $document->{info}{version},   '0.65.0',     'openapi: the interface has version 0.66.0 (specification 9)' );
is( $document->{servers}[0]{url}, $stack->base, 'openapi: the server is SVC_OIDC_ISSUER' );
is( $stack->http->get('/v3/api-docs')->body, $answer->body,
    'openapi: /v3/api-docs is the same (gateway-admin.md 7.1)' );

# ---- in both directions: the rows of routes.c, read as text, and the operations

open my $in, '<', Authz::Path::source(qw(fcgi routes.c)) or die "routes.c: $!";
my %row;
while ( my $line = <$in> ) {
    my ( $method, $path, $name ) = $line =~ /^ +\{(GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\("([^"]+)", "(\w+)"/ or next;
    $row{ "$method " . $path =~ s/\*\*\z/{rest}/r } = $name;
}
close $in or die "routes.c: $!";
my ( %operation, %known );
for my $path ( keys %{ $document->{paths} } ) {
    for my $method ( keys %{ $document->{paths}{$path} } ) {
        $operation{ uc($method) . " $path" } = $document->{paths}{$path}{$method};
    }
}
cmp_ok( scalar keys %row, '>', 60, 'openapi: routes.c was read' );
is_deeply(
    [ sort keys %operation ], [ sort keys %row ],
    'openapi: each row of the routing table is described, and nothing else (gateway-admin.md 7.1)' );
is( $operation{$_}{operationId}, $row{$_}, "openapi: $_ has the operation of its row, as the audit log has it" )
  for grep { $operation{$_} } sort keys %row;
$known{ $_->{operationId} }++ for values %operation;
is_deeply(
    [ grep { $known{$_} > 1 } sort keys %known ], [],
    'openapi: an operationId names one row (OpenAPI 3.1.0 4.8.10)' );

for my $name ( sort keys %operation ) {
    my $one  = $operation{$name};
    my @good = grep { $_ eq 'default' || $_ < 400 } keys %{ $one->{responses} };
    ok( $one->{summary} && $one->{security} && @good,
        "openapi: $name has a summary, its credentials and a good answer" );
    is_deeply(
        [ sort map { $_->{name} } grep { $_->{in} eq 'path' } @{ $one->{parameters} // [] } ],
        [ sort $name =~ /\{(\w+)\}/g ],
        "openapi: $name describes the values of its path" );
}

# ---- parameters

sub query_of {
    my ($name) = @_;
    return grep { $_->{in} eq 'query' } @{ $operation{$name}{parameters} // [] };
}

for my $name ( sort keys %operation ) {
    my $content = ( $operation{$name}{requestBody}                  // {} )->{content} // {};
    my $schema  = ( $content->{'application/x-www-form-urlencoded'} // {} )->{schema}  // {};
    my %form    = map { %{ $_->{properties} // {} } } $schema, @{ $schema->{oneOf} // [] };
    is_deeply(
        [   ( map { $_->{name} } grep { !$_->{description} } query_of($name) ),
            grep { !$form{$_}{description} && !$form{$_}{const} } sort keys %form ],
        [],
        "openapi: $name says the meaning of each parameter (gateway-admin.md 7.1)" );
}

# A required parameter is one without which the request is refused, and no other is.
my %value = ( page => 0, size => 1, from => 1, to => 1, timestamp => '2026-01-31T12:00:00Z', dataKey => 'svc.nothing' );

# A list of one object needs the object (t/http/admin/lists.t).
for my $name ( grep { m{^GET /admin/[^\{]*\z} && query_of($_) } sort keys %operation ) {
    my ( $method, $path ) = split / /, $name;
    my @required = map { $_->{name} } grep { $_->{required} } query_of($name);
    my $ask      = sub {
        return $stack->admin( GET => $path . ( @_ ? '?' . join '&', map {"$_=$value{$_}"} @_ : '' ) )->status;
    };
    isnt( $ask->(@required), 400, "openapi: $name is not refused with its required parameters alone" );
    for my $one (@required) {
        is( $ask->( grep { $_ ne $one } @required ), 400, "openapi: $name is 400 without $one, which is required" );
    }
    for my $one ( grep { $_->{schema}{type} eq 'integer' && $_->{schema}{maximum} } query_of($name) ) {
        my ( $least, $most ) = @{ $one->{schema} }{qw(minimum maximum)};
        for my $number ( $least, $most ) {
            next if $one->{name} eq 'page' && $number > 1000;    # ends the pages of the audit log before
            is( $stack->admin( GET => "$path?$one->{name}=$number" )->status,
                200, "openapi: $name accepts $one->{name}=$number, a limit of its schema" );
        }
        is( $stack->admin( GET => "$path?$one->{name}=$_" )->status,
            400, "openapi: $name refuses $one->{name}=$_, one past a limit" ) for $least - 1, $most + 1;
    }
    for my $one ( grep { $_->{schema}{enum} } query_of($name) ) {
        is( $stack->admin( GET => "$path?$one->{name}=$_" )->status, 200, "openapi: $name accepts $one->{name}=$_" )
          for @{ $one->{schema}{enum} };
        is( $stack->admin( GET => "$path?$one->{name}=x" )->status,
            400, "openapi: $name refuses $one->{name}=x, which is not listed" );
    }
}
for my $name (qw(/token /introspect /authorize)) {
    ok( $operation{"POST $name"}{requestBody}{required}, "openapi: the form of POST $name may not be left out" );
}
ok( !$operation{'POST /revoke'}{requestBody}{required}, 'openapi: ... that of POST /revoke may' );

# ---- each operation is served

my %body = ( POST => 1, PUT => 1, PATCH => 1 );
for my $name ( sort keys %operation ) {
    my ( $method, $path ) = split / /, $name;
    my $probe = $stack->http->request( $method, $path =~ s/\{\w+\}/x/gr, $body{$method} ? ( form => [ x => 1 ] ) : () );
    isnt( $probe->status, 405, "openapi: $name is served" );
}

# ---- the example of each JSON body is accepted

my @pep   = $stack->make_client( 'pep', { endpoints => ['authzen'] } );
my %other = map { $_ => 1 } 'PATCH /admin/api/policy-data/by-key', 'POST /bundles/status', 'POST /bundles/status/';

# These need an MCP server, or a resource (t/interop/mcp_gateway.t, t/http/mcp/mcp.t, t/http/mcp/tool_try.t).
$other{$_} = 1 for map {"POST $_"} '/gateway/mcp/{name}', map {"/admin/api/managed-resources/{name}/$_"} 'sync',
  'tools/{tool}/approve', 'tools/{tool}/try', 'prompts/{prompt}/approve', 'instructions/approve';
my %place = ( '{clientId}' => 'clientId', '{idpId}' => 'idpId', '{name}' => 'name' );

# POST comes before PUT, so that each PUT finds the row of its path; the deploy saves the same rows and is the last.
# Connectors come from files: the example is one for github.
my %id = ( '/admin/api/connectors id' => 'github' );
my $order =
  sub { return $_[0] =~ /deploy/ ? 3 : $_[0] =~ /\APUT/ ? 2 : $_[0] =~ m{/(?:delegation|permission)\z} ? 1 : 0 };

# Resources have ids that the service makes: those of the examples are replaced by the one that was registered.
Authz::Grant->people($stack);
my @drive = $stack->make_client(
    'drive',
    { grants => ['authorization_code'], scopes => [qw(uma_protection delegation_management)] } );
my $code =
  Authz::Grant->code( $stack, client => 'drive', subject => 'alice', scope => 'uma_protection delegation_management' );
my @owner = Authz::Client::bearer( Authz::Grant->redeem( $stack, \@drive, $code )->member('access_token') );

# A request that waits for the answer of the example.
my @till = $stack->make_client( 'till', { grants => [$Authz::Ciba::GRANT] } );
Authz::Ciba::id_of( $stack, \@till, login_hint => 'alice' );
$stack->sql("UPDATE ciba_request SET callback_hash = sha256('the callback token')");
my @agent = $stack->make_client(
    'agent',
    { grants => ['client_credentials'], scopes => ['mcp'], resources => ['urn:svc:gateway'] } );
my $mcp    = $stack->token_text( @agent, scope => 'mcp', resource => $stack->base . '/gateway/mcp' );
my %header = (
    gateway        => [ Authz::Client::bearer($mcp) ],
    access         => [ Authz::Client::basic(@pep) ],
    'bc-authorize' => [ Authz::Client::bearer('the callback token') ],
    map { $_ => \@owner } qw(resource_registration delegation permission) );

# Verifiers know the next key, so that the keys can be rotated.
$stack->sql(q{UPDATE signing_key SET created_at = created_at - interval '1 day'});
for my $name ( sort { $order->($a) <=> $order->($b) || $a cmp $b } keys %operation ) {
    my $content = ( ( $operation{$name}{requestBody} // {} )->{content} // {} )->{'application/json'} or next;
    my $example = $content->{example};
    next if $other{$name};
    if ( !ok( $example, "openapi: $name has an example of its body" ) ) {next}
    my ( $method, $path ) = split / /, $name;
    my ($family) = $path =~ m{\A(/admin/api/[^/]+)};
    $path =~ s/(\{(?:clientId|idpId|name)\})/$id{"$family $place{$1}"}/;
    $path =~ s/\{id\}/$id{"$family id"}/;
    $path =~ s/\{resourceId\}/$id{resource}/;
    $path =~ s/\{delegationId\}/$id{delegation}/;
    $example->{resource_id} = $id{resource}    if $example->{resource_id};
    $path .= '?dataKey=' . $example->{dataKey} if $path =~ m{policy-data/by-key};
    my $response =
        $path =~ m{\A/admin}
      ? $stack->admin( $method => $path, json => $example )
      : $stack->http->request(
        $method, $path,
        json    => $example,
        headers => $header{ ( split m{/}, $path )[1] } // [] );
    like( $response->status, qr/\A2/, "openapi: the service accepts the example of $name" ) or diag $response->text;
    my $row = $response->status < 300 ? $response->json : {};
    next if ref $row ne 'HASH';
    $id{resource}   = $row->{_id}           if $row->{_id};
    $id{delegation} = $row->{delegation_id} if $row->{delegation_id};
    for my $key ( grep { $family && defined $row->{$_} } qw(id clientId idpId name) ) {
        $id{"$family $key"} = $row->{$key};
    }
}

# ---- each example fits its schema

my $coder = JSON::PP->new->utf8->allow_nonref;
my $shown = 0;
for my $name ( sort keys %operation ) {
    my %part = ( body => $operation{$name}{requestBody}, %{ $operation{$name}{responses} } );
    for my $part ( sort keys %part ) {
        my $content = ( ( $part{$part} // {} )->{content} // {} )->{'application/json'} // {};
        next if !exists $content->{example};
        $shown++;
        is_deeply(
            [   Authz::Api::body_faults(
                    "example $name $part", $content->{schema}, $coder->encode( $content->{example} ) ) ],
            [],
            "openapi: the example of $name, $part, fits its schema" );
    }
}
cmp_ok( $shown, '>', 60, 'openapi: bodies and answers have examples' );

# ---- credentials

my %credential = (
    'POST /token' => 'client', 'POST /introspect' => 'client token', 'GET /userinfo' => 'token', 'GET /health' => '',
    'GET /admin/api/clients' => 'adminKey', 'GET /bundles/{name}' => 'bundleKey', 'GET /authorize' => '' );
for my $name ( sort keys %credential ) {
    is( join( ' ', map { sort keys %$_ } @{ $operation{$name}{security} } ),
        $credential{$name}, "openapi: $name names its credential (specification 5)" );
}

# ---- the field tables

my $client = $document->{components}{schemas}{ClientDto};
is_deeply(
    $client->{required}, ['clientType'],
    'openapi: ClientDto has its required members (specification 2.1); a PUT has clientId in its path' );
is( $client->{properties}{clientId}{maxLength}, 256, 'openapi: ... and the limits of the field table' );
is_deeply(
    $client->{properties}{clientType}{enum}, [qw(confidential public)],
    'openapi: ... and the words that are accepted' );
ok( $client->{properties}{id}{readOnly}, 'openapi: ... and says which are set by the service' );
ok( !$client->{additionalProperties},    'openapi: ... and that an unknown member is refused' );
my $codes =
  $document->{components}{responses}{400}{content}{'application/json'}{schema}{allOf}[1]{properties}{error}{enum};

for my $code (qw(invalid_request invalid_grant invalid_scope invalid_target unsupported_grant_type)) {
    ok( ( grep { $_ eq $code } @$codes ), "openapi: the error catalogue has $code (RFC 6749 5.2, oauth.md 5)" );
}
ok( !( grep { $_ eq 'invalid_dpop_proof' } @$codes ),
    'openapi: ... and not invalid_dpop_proof (oauth.md 5)' );

# ---- caches

my $resource = $answer->json->{components}{schemas}{ManagedResourceDto}{properties};
is( $resource->{enabled}{default} && 1, 1,
    'openapi: a resource that does not say `enabled` is served, as the schema says' );
ok( !exists $resource->{subscriptions}{default}, '... a truth that is false by default says nothing' );

my $etag = $answer->header('ETag');
is( $stack->http->get( '/openapi.json', headers => [ 'If-None-Match' => $etag ] )->status,
    304, 'openapi: a cache that has the document gets 304 (RFC 9110 13.1.2)' );
is( $stack->http->get( '/openapi.json', headers => [ 'If-None-Match' => '"x"' ] )->status, 200,
    'openapi: ... with another ETag it gets the document' );

# ---- the check of the other tests can fail

for my $case (
    [ 200, '{"active":true,"surprise":1}',                 'with a member that is not described' ],
    [ 200, '{"active":"yes"}',                             'with a member of another type' ],
    [ 200, '{}',                                           'without a required member' ],
    [ 200, 'not JSON',                                     'that is not JSON' ],
    [ 200, '',                                             'without a body' ],
    [ 418, '{"error":"x"}',                                'with a status that is not described' ],
    [ 400, '{"error":"surprise","error_description":"x"}', 'with a code that is not in the catalogue' ],
  )
{
    my ( $status, $text, $what ) = @$case;
    my $wrong = bless { status => $status, body => $text, header => [ [ 'content-type', 'application/json' ] ] },
      'Authz::Response';
    ok( ( Authz::Api::faults( 'POST', '/introspect', $wrong ) )[0], "Authz::Api: an answer $what is a fault" );
}

$stack->restart_service( settings => { SVC_SWAGGER_ENABLED => 'false' } );
is( $stack->http->get($_)->status, 404, "openapi: $_ is 404 when SVC_SWAGGER_ENABLED is false (specification 8)" )
  for qw(/openapi.json /v3/api-docs);

done_testing;

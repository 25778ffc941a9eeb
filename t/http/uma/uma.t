# Resource registration and permission tickets (specification 2.14, 4.9 and 5; oauth.md 3.7; Federated Authorization for
# UMA 2.0 sections 3 and 4).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( fake_opa => 1 );
my %pat   = (
    grants => [ 'client_credentials', 'authorization_code' ],
    scopes => [qw(uma_protection introspection orders.read openid)] );
my @drive = $stack->make_client( 'drive', {%pat} );
my @photo = $stack->make_client( 'photo', {%pat} );
my @once  = $stack->make_client( 'once',  { %pat, jit_single_use => true } );
Authz::Grant->people($stack);
Authz::Grant->people( $stack, subject => 'bob' );
my $root = '/resource_registration/resource';

# A token of a client's own, and one of a person.
sub own { my ( $client, $scope ) = @_; return $stack->token_text( @$client, scope => $scope // 'uma_protection' ) }

sub of_person {
    my ( $client, $who, $scope ) = @_;
    my $code =
      Authz::Grant->code( $stack, client => $client->[0], subject => $who, scope => $scope // 'uma_protection' );
    return Authz::Grant->redeem( $stack, $client, $code )->member('access_token') // die 'no token';
}

# A request with a token; a body that is a reference is sent as JSON.
sub ask {
    my ( $token, $method, $path, $body ) = @_;
    return $stack->http->request(
        $method, $path,
        headers => [ defined $token ? Authz::Client::bearer($token) : () ],
        defined $body ? ( json => $body ) : () );
}

# The same request so many times at once.
sub together {
    my ( $times, $token, $method, $path, @more ) = @_;
    return Authz::Client::together(
        map {
            [   $stack->client,
                $stack->http->octets( $method, $path, headers => [ Authz::Client::bearer($token) ], close => 1, @more )
            ]
        } 1 .. $times );
}

sub register {
    my ( $token, %member ) = @_;
    return ask( $token, POST => $root, {%member} )->member('_id') // die 'not registered';
}

sub created {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, 201, $name ) or diag( $answer->text );
    return $answer->json;
}

# The newest audit row of an operation. That of a read is written after the answer.
sub audited {
    my ( $row, $name ) = @_;
    my ($operation) = $row =~ /\A(\w+)/;
    my ( $until, $have ) = time + 30;
    do {
        $have = $stack->sql(
            "SELECT operation, client_id, subject_id, outcome, http_status FROM audit_log WHERE operation = '$operation' ORDER BY id DESC LIMIT 1"
        );
    } while $have ne $row && time < $until;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $have, $row, $name );
}

my $drive = own( \@drive );
my $photo = own( \@photo );
my %album =
  ( name => 'Album', type => 'https://types.example/album', resource_scopes => [qw(view https://s.example/edit)] );

# ---- registration

my $answer = ask(
    $drive, POST => $root,
    { %album, resource_scopes => [qw(view https://s.example/edit view)], _id => 'mine', more => 1 } );
my $id = created( $answer, 'registration: 201 (specification 4.9); unknown members and _id are ignored' )->{_id};
like( $id, qr/\A[0-9a-f-]{36}\z/, '... with an id of ours' );
is_deeply( [ keys %{ $answer->json } ], ['_id'], '... and nothing else' );
is( $answer->header('Location'), $stack->base . "$root/$id", '... and Location (specification 4.9)' );
audited( "registerResource\tdrive\tdrive\tallowed\t201", '... and an audit row (decisions.md "Audited")' );
like(
    $stack->sql('SELECT request_summary FROM audit_log WHERE request_summary IS NOT NULL ORDER BY id DESC LIMIT 1'),
    qr/\Q"resource_id":"$id"\E.*https:\/\/s\.example\/edit/,
    '... that tells what was registered' );
is_deeply(
    ask( $drive, GET => "$root/$id" )->json, { _id => $id, %album },
    'a resource is shown as it was registered; a scope that was sent twice counts once' );
my $bare =
  created( ask( $drive, POST => $root, {} ), 'registration: every member is optional (specification 4.9)' )->{_id};
is_deeply(
    ask( $drive, GET => "$root/$bare" )->json, { _id => $bare, resource_scopes => [] },
    '... and absent ones are left out' );
is_deeply( ask( $drive, GET => $root )->json, [ $id, $bare ], 'the list has the ids of the owner (specification 4.9)' );
my $changed = ask( $drive, PUT => "$root/$id", { name => 'Other', resource_scopes => ['view'] } );
oauth_ok( $changed, { _id => $id }, 'PUT: 200 with _id (oauth.md 3.7)' );
is_deeply(
    ask( $drive, GET => "$root/$id" )->json, { _id => $id, name => 'Other', resource_scopes => ['view'] },
    '... and it replaces: what the body leaves out is gone' );
ask( $drive, PUT => "$root/$id", {%album} );

# ---- the owner is client and subject of the PAT (oauth.md 3.7; CVE-2026-4630, CVE-2026-3190)

my $alice     = of_person( \@drive, 'alice' );
my $bob       = of_person( \@drive, 'bob' );
my $elsewhere = of_person( \@photo, 'alice' );
my $hers      = register( $alice, name => 'Diary', resource_scopes => ['read'] );
my $unknown   = $id =~ s/.{12}\z/000000000000/r;
my @guesses   = (
    [ $photo,     $id,             'another client' ],
    [ $alice,     $id,             'a person at the same client' ],
    [ $bob,       $hers,           'another person at the same client' ],
    [ $elsewhere, $hers,           'the same person at another client' ],
    [ $drive,     $hers,           'the client itself, for a resource of a person' ],
    [ $drive,     $unknown,        'the owner, for an id that nobody has' ],
    [ $drive,     uc $id,          'the owner, for the id in capital letters' ],
    [ $drive,     "%7B$id%7D",     'the owner, for the id in braces' ],
    [ $drive,     $id =~ tr/-//dr, 'the owner, for the id without hyphens' ],
    [ $drive,     '1',             'the owner, for a number' ],
    [ $drive,     'x' x 300,       'the owner, for a long text' ],
    [ $drive,     '%C3%A9%27%22',  'the owner, for letters outside ASCII and quotes' ],
);
my %body_of;
for my $guess (@guesses) {
    my ( $token, $what, $who ) = @$guess;
    for my $try ( [ GET => undef ], [ PUT => {%album} ], [ DELETE => undef ] ) {
        my $got = ask( $token, $try->[0], "$root/$what", $try->[1] );
        oauth_error( $got, 404, 'not_found', "$try->[0] by $who is not found (oauth.md 3.7)" );
        $body_of{ $got->body } = 1;
    }
}
is( keys %body_of, 1, 'a guessed id of another owner and one that nobody has get the same body' );
is_deeply( ask( $drive, GET => "$root/$id" )->json, { _id => $id, %album }, '... and nothing was changed' );
is_deeply(
    ask( $alice, GET => $root )->json, [$hers],
    'the list of a person has no id of the client, nor the reverse' );
is_deeply( ask( $bob, GET => $root )->json, [], '... and that of another person none' );
like(
    ask( $drive, GET => "$root/a%00b" )->status, qr{\A40[04]\z},
    'an id with a NUL is refused, by the web server or by the service' );

# ---- deletion, once

my $doomed = register( $drive, name => 'Doomed' );
is( ask( $drive, DELETE => "$root/$doomed" )->status, 204, 'DELETE: 204 (specification 4.9)' );
audited( "deleteResource\tdrive\tdrive\tallowed\t204", '... and an audit row' );
oauth_error( ask( $drive, DELETE => "$root/$doomed" ), 404, 'not_found', '... and 404 afterwards (oauth.md S18)' );
audited( "deleteResource\tdrive\tdrive\trejected\t404", '... which is audited as rejected' );
oauth_error( ask( $drive, GET => "$root/$doomed" ), 404, 'not_found', '... to every method' );
my $raced = register( $drive, name => 'Raced' );
my @raced = sort map { $_->status } together( 8, $drive, DELETE => "$root/$raced" );
is( "@raced", '204 404 404 404 404 404 404 404', 'eight DELETEs at once: one deletes' );

# ---- the credential (specification 5; oauth.md 3.7)

my $perm  = { resource_id => $id, resource_scopes => ['view'] };
my @calls = (
    [ POST   => $root, {} ], [ GET => $root ], [ GET => "$root/$id" ], [ PUT => "$root/$id", {} ],
    [ DELETE => "$root/$id" ],
    [ POST   => '/permission', $perm ] );

sub refused_all {
    my ( $token, $status, $code, $challenge, $name ) = @_;
    for my $call (@calls) {
        my $got = ask( $token, @$call );
        oauth_error( $got, $status, $code, "$call->[0] $call->[1]: $name" );
        is( $got->header('WWW-Authenticate'), $challenge, '... with the challenge (RFC 6750 3)' );
    }
    return;
}
my $bad = 'Bearer error="invalid_token"';
refused_all( undef,     401, 'invalid_token', 'Bearer', 'without a token 401 without an error code (RFC 6750 3.1)' );
refused_all( 'garbage', 401, 'invalid_token', $bad,     'none of ours' );
refused_all(
    own( \@drive, 'orders.read' ),
    403, 'insufficient_scope', 'Bearer error="insufficient_scope", scope="uma_protection"',
    'a token without the scope (oauth.md 3.7)' );
refused_all( own( \@once ), 401, 'invalid_token', $bad, 'a single-use token (decisions.md "Our own endpoints")' );
my $dead = own( \@drive );
$stack->revoke( @drive, token => $dead );
refused_all( $dead, 401, 'invalid_token', $bad, 'a revoked token' );
my $basic = $stack->http->get( $root, headers => [ Authz::Client::basic(@drive) ] );
oauth_error( $basic, 401, 'invalid_token', 'Basic credentials are not a PAT (specification 5)' );
is( ask( undef, GET => "$root?access_token=$drive" )->status, 401, 'a token in the query does not count' );
oauth_error(
    $stack->http->post( $root, headers => [ Authorization => 'Bearer x' ], body => '{' ), 401, 'invalid_token',
    'the credential is judged before the body' );
is_deeply(
    ask( own( \@drive, 'introspection' ), GET => $root )->json, ask( $drive, GET => $root )->json,
    'the scope introspection is enough (oauth.md S14), and the owner is the same' );
$stack->bind( 'drive', { scopes => [qw(introspection orders.read)] } );
oauth_error(
    ask( $drive, GET => $root ), 401, 'invalid_token',
    'evaluation 2: the scope was taken away, and it was the only one' );
audited( "listResources\tdrive\tdrive\tdenied\t401", '... and the audit row says that policy said no' );
my $both = own( \@drive, 'introspection orders.read' );
$stack->bind( 'drive', { scopes => ['orders.read'] } );
oauth_error(
    ask( $both, GET => $root ), 403, 'insufficient_scope',
    'evaluation 2: the token lost the scope, and has another' );
$stack->bind( 'drive', { scopes => $pat{scopes} } );
is( ask( $drive, GET => $root )->status, 200, '... and given back' );
$stack->fake->tell('close');
oauth_error( ask( $drive, GET => $root ), 503, 'temporarily_unavailable', 'without an engine there is no answer' );
$stack->fake->tell('pass');
ask( $drive, GET => $root ) for 1 .. 2;

# ---- methods (oauth.md 3.7)

for my $call (
    [ PATCH => $root ], [ DELETE => $root ], [ POST => "$root/$id" ], [ GET => '/permission' ],
    [ PUT   => '/permission' ] )
{
    my $got = ask( $drive, @$call );
    oauth_error( $got, 405, 'unsupported_method_type', "$call->[0] $call->[1] (oauth.md 3.7)" );
    isnt( $got->header('Allow') // '', '', '... with Allow (oauth.md C1)' );
}

# ---- bodies

my $long    = 's' x 256;
my @hundred = map {"s$_"} 1 .. 100;
my %good    = (
    'a name of 256 characters'  => { name            => "\x{e9}" x 256 },
    'a type of 512 characters'  => { type            => 't' x 512 },
    '100 scopes'                => { resource_scopes => \@hundred },
    'a scope of 256 characters' => { resource_scopes => [$long] },
    'an empty list of scopes'   => { resource_scopes => [] },
    'null for absent'           => { name            => undef, type => undef, resource_scopes => undef },
);
is( ask( $drive, POST => $root, $good{$_} )->status, 201, "registration: $_ is accepted" ) for sort keys %good;
my %wrong = (
    'a name of 257 characters'    => { name            => "\x{e9}" x 257 },
    'an empty name'               => { name            => '' },
    'a name that is a number'     => { name            => 1 },
    'a name with a control'       => { name            => "a\x{7}" },
    'a name with a NUL'           => { name            => "a\x{0}" },
    'a name that reads backwards' => { name            => "a\x{202e}b" },
    'a type of 513 characters'    => { type            => 't' x 513 },
    'a type that is an array'     => { type            => ['t'] },
    '101 scopes'                  => { resource_scopes => [ @hundred, 'more' ] },
    'a scope of 257 characters'   => { resource_scopes => ["${long}s"] },
    'a scope with a space'        => { resource_scopes => ['a b'] },
    'a scope with a quote'        => { resource_scopes => ['a"b'] },
    'a scope outside ASCII'       => { resource_scopes => ["\x{e9}"] },
    'an empty scope'              => { resource_scopes => [''] },
    'a scope that is a number'    => { resource_scopes => [1] },
    'scopes as a text'            => { resource_scopes => 'view' },
    'scopes as an object'         => { resource_scopes => {} },
);
for my $case ( sort keys %wrong ) {
    oauth_error(
        ask( $drive, POST => $root, $wrong{$case} ), 400, 'invalid_request',
        "registration: $case is refused" );
    oauth_error( ask( $drive, PUT => "$root/$id", $wrong{$case} ), 400, 'invalid_request', "PUT: $case is refused" );
}
for my $path ( $root, '/permission' ) {
    my @with = ( headers => [ Authz::Client::bearer($drive), 'Content-Type' => 'application/json' ] );
    for my $body (
        '', '{', 'x', '"x"', '1', 'null', '{"name":"a","name":"b"}', "{\"name\":\"\xff\"}",
        '{"name":"\u0000"}', '[' x 40 )
    {
        my $got = $stack->http->post( $path, @with, body => $body );
        oauth_error( $got, 400, 'invalid_request', "$path: the body '" . ( $body =~ s/[^ -~]/?/gr ) . "' is refused" );
    }
    oauth_error( ask( $drive, POST => $path, [] ), 400, 'invalid_request', "$path: an empty array is refused" );
    is( $stack->http->post( $path, headers => [ Authz::Client::bearer($drive) ], form => [ name => 'x' ] )->status, 415,
        "$path: a form is 415 (oauth.md C2)" );
    is( $stack->http->post( $path, @with, body => '{"name":"' . 'x' x 65536 . '"}' )->status, 413,
        "$path: more than 64 KiB are 413 (oauth.md C7)" );
}
is_deeply( ask( $drive, GET => "$root/$id" )->json, { _id => $id, %album }, 'nothing of this changed the resource' );

# ---- permission tickets

$answer = ask( $drive, POST => '/permission', $perm );
my $ticket = created( $answer, 'permission: 201 (specification 4.9)' )->{ticket};
like(
    $ticket, qr/\Apt_[A-Za-z0-9_-]{71}[0-9A-Za-z]{6}\z/,
    '... with a ticket of 256 random bits (decisions.md "Format")' );
audited( "requestPermission\tdrive\tdrive\tallowed\t201", '... and an audit row' );
unlike(
    $stack->sql('SELECT request_summary FROM audit_log WHERE request_summary IS NOT NULL ORDER BY id DESC LIMIT 1'),
    qr/pt_/,
    '... without the ticket' );
is( $stack->sql(
        q{SELECT c.client_id, t.subject, length(t.secret_hash), round(extract(epoch FROM t.expires_at - t.created_at) / 10) FROM uma_ticket t JOIN client c ON c.id = t.client}
    ),
    "drive\tdrive\t32\t30",
    'a ticket is bound to client and subject of the PAT, stored as a hash, and lives 300 s (oauth.md 3.7)' );
created(
    ask( $drive, POST => '/permission', [ $perm, { resource_id => $bare, resource_scopes => [] } ] ),
    'permission: an array of permissions (oauth.md 3.7)' );
created(
    ask( $drive, POST => '/permission', { %$perm, resource_scopes => [ 'https://s.example/edit', 'view', 'view' ] } ),
    'permission: scopes twice and in another order' );
created( ask( $drive, POST => '/permission', [ map {$perm} 1 .. 20 ] ), 'permission: 20 at once' );
oauth_error(
    ask( $drive, POST => '/permission', [ map {$perm} 1 .. 21 ] ), 400, 'invalid_request',
    'permission: not 21' );
my $before    = $stack->sql('SELECT count(*) FROM uma_ticket');
my @no_ticket = (
    [ {},                                    'invalid_request', 'without members' ],
    [ { resource_id => $id },                'invalid_request', 'without resource_scopes (specification 4.9)' ],
    [ { resource_scopes => ['view'] },       'invalid_request', 'without resource_id (specification 4.9)' ],
    [ { %$perm, resource_scopes => undef },  'invalid_request', 'with null for resource_scopes' ],
    [ { %$perm, resource_scopes => 'view' }, 'invalid_request', 'with scopes as a text' ],
    [ { %$perm, resource_id => 1 },          'invalid_request', 'with a number for the id' ],
    [ { %$perm, resource_id => '' },         'invalid_request', 'with an empty id' ],
    [ { %$perm, resource_id => 'x' x 257 },  'invalid_request', 'with an id of 257 characters' ],
    [ [ $perm, 'x' ],                        'invalid_request', 'with an array that has something else' ],
    [   { %$perm, resource_scopes => ['delete'] }, 'invalid_scope',
        'with a scope that is not registered (oauth.md 3.7)' ],
    [   [ $perm, { resource_id => $bare, resource_scopes => ['view'] } ], 'invalid_scope',
        'with a scope of another resource' ],
    [ { %$perm, resource_id => $unknown }, 'invalid_resource_id', 'for an unknown resource (oauth.md 3.7)' ],
    [ { %$perm, resource_id => $hers },    'invalid_resource_id', 'for the resource of another owner (oauth.md 3.7)' ],
    [   [ $perm, { resource_id => $hers, resource_scopes => [] } ], 'invalid_resource_id',
        'with one resource of another owner' ],
    [ { %$perm, resource_id => 'x' },      'invalid_resource_id', 'for a text that is no id' ],
    [ { %$perm, resource_id => "\x{e9}" }, 'invalid_resource_id', 'for a text outside ASCII' ],
);
oauth_error( ask( $drive, POST => '/permission', $_->[0] ), 400, $_->[1], "permission: $_->[2]" ) for @no_ticket;
is( $stack->sql('SELECT count(*) FROM uma_ticket'), $before, '... and none of these got a ticket' );

# ---- housekeeping, limits, and the end of a client

$stack->sql(q{UPDATE uma_ticket SET expires_at = now() WHERE id = (SELECT id FROM uma_ticket ORDER BY id LIMIT 1)});
$stack->sql(
    q{INSERT INTO uma_ticket SELECT gen_random_uuid(), '\x00', c.id, 'x', '[]', now(), now() FROM client c, generate_series(1, 1001) WHERE client_id = 'photo'}
);
my ( $status, $text ) = $stack->authzctl('maintain');
is( $status, 0, 'housekeeping runs' ) or diag($text);
is( $stack->sql('SELECT count(*) FROM uma_ticket'), $before - 1,
    '... and removes expired tickets, more than a batch, and no others' );
my $fill =
  q{INSERT INTO uma_resource (id, client, subject, scopes) SELECT gen_random_uuid(), c.id, 'photo', '{}' FROM client c, generate_series(1, 999) WHERE client_id = 'photo'};
$stack->sql($fill);

# An insert that takes a while: those that come at the same moment look at the same rows, unless a lock keeps them apart.
$stack->sql(
    q{CREATE FUNCTION wait_a_while() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END$$}
);
$stack->sql('CREATE TRIGGER wait_a_while BEFORE INSERT ON uma_resource EXECUTE FUNCTION wait_a_while()');
my @last = sort map { $_->status } together( 6, $photo, POST => $root, json => {} );
is( "@last", '201 409 409 409 409 409',
    'the 1000th resource of an owner is registered, and none after it, also at once' );
$stack->sql('DROP TRIGGER wait_a_while ON uma_resource');
is( $stack->sql(q{SELECT count(*) FROM uma_resource WHERE subject = 'photo'}), 1000, '... so that there are 1000' );
my $full = ask( $photo, POST => $root, {} );
is( $full->member('error'),                       'conflict', '... and the answer says so' );
is( ask( $elsewhere, POST => $root, {} )->status, 201,        '... to this owner alone' );
is( @{ ask( $photo, GET => $root )->json },       1000,       'the list has all of them' );
created(
    ask($photo, POST => '/permission',
        { resource_id => ( grep {/\A.{14}7/} @{ ask( $photo, GET => $root )->json } )[0], resource_scopes => [] } ),
    '(a ticket)' );
is( $stack->admin( DELETE => '/admin/api/clients/photo' )->status, 204, '(the client is deleted)' );
is( $stack->sql(
        q{SELECT (SELECT count(*) FROM uma_resource WHERE subject = 'photo') + (SELECT count(*) FROM uma_ticket WHERE subject = 'photo')}
    ),
    0,
    'a client that is deleted takes its resources and tickets with it (oauth.md "Transitions")' );
oauth_error( ask( $photo, GET => $root ), 401, 'invalid_token', '... and its token is dead' );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'drive'});
oauth_error( ask( $drive, GET => $root ), 401, 'invalid_token', 'a disabled client is refused' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'drive'});
is( @{ ask( $alice, GET => $root )->json }, 1, '... and finds its resources when it is enabled again' );

# ---- discovery (specification 4.1)

my $metadata = $stack->http->get('/.well-known/openid-configuration')->json;
is( $metadata->{resource_registration_endpoint}, $stack->base . $root, 'discovery: resource_registration_endpoint' );
is( $metadata->{permission_endpoint},            $stack->base . '/permission', 'discovery: permission_endpoint' );
is_deeply(
    $metadata->{scopes_supported}, [qw(openid profile email)],
    'discovery: scopes_supported as specification 4.1 has them' );

$stack->stop;
done_testing;

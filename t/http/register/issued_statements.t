# issuedSoftwareStatementJwt (specification 2.1; decisions.md "Clients and registration", "Readings: OAuth endpoints").
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 qw(decode_base64url);
use Test::More;

use Authz::Check;
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { SVC_SOFTWARE_STATEMENT_LIFETIME_SECONDS => 7200 } );
my $path  = '/admin/api/clients';

sub create { my (%field) = @_; return $stack->admin( POST => $path, json => { clientType => 'public', %field } ) }

sub put {
    my ( $id, %field ) = @_;
    return $stack->admin( PUT => "$path/$id", json => { clientType => 'public', %field } );
}

sub part {
    my ( $jwt, $number ) = @_;
    return JSON::PP::decode_json( decode_base64url( ( split /\./, $jwt )[$number] ) );
}

sub register {
    my ($jwt) = @_;
    return $stack->http->post(
        '/register',
        json => { redirect_uris => ['https://app.example/cb'], software_statement => $jwt } );
}

my %claims = ( software_id => 'crm', client_name => 'CRM', grants => [qw(authorization_code)], scope => 'openid' );
my $made   = create( clientId => 'crm', softwareStatement => \%claims );
admin_ok(
    $made, 201,
    {   softwareStatement          => \%claims, softwareStatementJson => qr/\A\{/,
        issuedSoftwareStatementJwt => qr/\A[\w-]+\.[\w-]+\.[\w-]+\z/ },
    'POST with softwareStatement: a signed statement' );
my $jwt = $made->member('issuedSoftwareStatementJwt');
is_deeply(
    part( $jwt, 0 ),
    {   alg => 'RS256', typ => 'software-statement+jwt',
        kid => $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'statement' AND state = 'active'}) },
    'its header: RS256, typ, and the active statement key' );
my $said = part( $jwt, 1 );
is_deeply( { map { ( $_ => $said->{$_} ) } keys %claims }, \%claims, 'its claims: those given' );
is( join( ' ', sort keys %$said ), 'client_id client_name exp grants iat iss scope software_id',
    'and only iss, iat, exp and client_id besides' );
is( $said->{iss},                $stack->base, 'iss is our issuer' );
is( $said->{client_id},          'crm',        'client_id is the client' );
is( $said->{exp} - $said->{iat}, 7200,         'it lives for SVC_SOFTWARE_STATEMENT_LIFETIME_SECONDS' );
cmp_ok( abs( time - $said->{iat} ), '<', 60, 'from now on' );
like( decode_base64url( ( split /\./, $jwt )[1] ), qr/"iat":\s*\d+[,}]/, 'times are numbers' );

my $text = '{"software_id" : "crm2"}';
my $two  = create( clientId => 'two', softwareStatementJson => $text );
admin_ok(
    $two, 201,
    {   softwareStatement          => { software_id => 'crm2' }, softwareStatementJson => $text,
        issuedSoftwareStatementJwt => qr/\./ },
    'POST with softwareStatementJson: the same, and the text is kept' );
is( part( $two->member('issuedSoftwareStatementJwt'), 1 )->{software_id}, 'crm2', 'its claims are signed' );
admin_ok(
    create( clientId => 'both', softwareStatement => { a => 1 }, softwareStatementJson => '{ "a": 1 }' ), 201,
    { issuedSoftwareStatementJwt => qr/\./ }, 'both fields, which agree' );
admin_ok(
    create( clientId => 'none' ), 201,
    { softwareStatement => undef, softwareStatementJson => undef, issuedSoftwareStatementJwt => undef },
    'neither: no statement' );

# ---- refused

admin_error(
    create( clientId => 'x', softwareStatement => { a => 1 }, softwareStatementJson => '{"a":2}' ), 400,
    'both fields, which differ', fields => ['softwareStatementJson'] );
for my $claim (qw(iss sub aud exp nbf iat jti nonce azp auth_time acr amr at_hash sid)) {
    admin_error(
        create( clientId => 'x', softwareStatement => { software_id => 'a', $claim => 1 } ), 400,
        "the claim $claim is refused", fields => ['softwareStatement'] );
    admin_error(
        create( clientId => 'x', softwareStatementJson => qq({"$claim":null}) ), 400,
        "the claim $claim is refused in the text, with any value",               fields => ['softwareStatementJson'] );
}
admin_error(
    create( clientId => 'x', softwareStatement => { client_id => 'y' } ), 400, 'another client_id is refused',
    fields => ['softwareStatement'] );
admin_ok( create( clientId => 'self', softwareStatement => { client_id => 'self' } ), 201, {}, 'its own is taken' );
admin_error(
    create( clientId => 'x', softwareStatement => $_ ), 400, 'a statement that is no object is refused',
    fields => ['softwareStatement'] ) for 'x', [], 5;
admin_error(
    create( clientId => 'x', softwareStatementJson => $_ ), 400, "the text '$_' is refused",
    fields => ['softwareStatementJson'] ) for '', '[]', '"x"', '{', '{"a":1,"a":2}', '{}x';
my $claims_of = sub { my ($octets) = @_; return { a => 'x' x ( $octets - length '{"a":""}' ) } };
my $big       = create( clientId => 'big', softwareStatement => $claims_of->(8192) );
admin_ok( $big, 201, {}, 'limit: claims of 8192 octets are taken' );
cmp_ok( length $big->member('issuedSoftwareStatementJwt'), '<=', 16384, 'and we take back what we gave out' );
is( register( $big->member('issuedSoftwareStatementJwt') )->status, 201, '... at /register' );
admin_error(
    create( clientId => 'x', softwareStatement => $claims_of->(8193) ), 400,
    'limit: one octet more is refused',                                 fields => ['softwareStatement'] );
is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id = 'x'}), 0, 'nothing that was refused is stored' );

# ---- change

sleep 1;
my $again = put( 'crm', softwareStatement => { %claims, client_name => 'New' } );
admin_ok(
    $again, 200, { softwareStatement => { %claims, client_name => 'New' }, issuedSoftwareStatementJwt => qr/\./ },
    'PUT signs anew' );
is( part( $again->member('issuedSoftwareStatementJwt'), 1 )->{client_name}, 'New', 'what it was given' );
cmp_ok( part( $again->member('issuedSoftwareStatementJwt'), 1 )->{iat}, '>', $said->{iat}, 'at its time' );
my $get = $stack->admin( GET => "$path/crm" );
admin_ok( $get, 200, { issuedSoftwareStatementJwt => $again->member('issuedSoftwareStatementJwt') }, 'GET shows it' );
admin_ok(
    $stack->admin( PUT => "$path/crm", json => $get->json ),    200,
    { softwareStatement => { %claims, client_name => 'New' } }, 'PUT takes back what GET gave' );
admin_ok(
    put('crm'), 200,
    { softwareStatement => undef, softwareStatementJson => undef, issuedSoftwareStatementJwt => undef },
    'PUT without one: it is gone' );
admin_error(
    put( 'crm', softwareStatement => { iss => 'x' } ), 400, 'PUT refuses what POST refuses',
    fields => ['softwareStatement'] );

# ---- it registers a client, and keeps what it says

$jwt  = put( 'crm', softwareStatement => \%claims )->member('issuedSoftwareStatementJwt');
$said = part( $jwt, 1 );
my $client = register($jwt);
is( $client->status, 201, 'our own statement registers a client without an entry in the trust row' )
  or diag( $client->text );
my $id = $client->member('client_id');
admin_ok(
    $stack->admin( GET => "$path/$id" ), 200,
    { registrationType => 'STATEMENT', softwareStatement => $said, issuedSoftwareStatementJwt => undef },
    'the administrator sees what it registered with' );
my $dto = $stack->admin( GET => "$path/$id" )->json;
admin_ok(
    $stack->admin( PUT => "$path/$id", json => { %$dto, clientName => 'Renamed' } ), 200,
    { clientName => 'Renamed', softwareStatement => $said, issuedSoftwareStatementJwt => undef },
    'PUT with the same statement keeps it, and signs nothing' );
my %bare = %$dto;
delete @bare{qw(softwareStatement softwareStatementJson)};
admin_ok(
    $stack->admin( PUT => "$path/$id", json => \%bare ), 200, { softwareStatement => $said },
    'PUT without one keeps it: without its cuts the client could do more' );
admin_error(
    $stack->admin( PUT => "$path/$id", json => { %bare, softwareStatement => { software_id => 'other' } } ),
    400, 'PUT with another is refused', fields => ['softwareStatement'] );

# ---- it counts only while its client exists, is enabled and holds it (decisions.md "Issued software statements")

sub withdrawn {
    my ( $jwt, $why, $name ) = @_;
    my $before = $stack->sql('SELECT count(*) FROM client');
    my $answer = register($jwt);
    oauth_error( $answer, 400, 'invalid_software_statement', $name );
    is( $answer->member('error_description'), 'The software statement was withdrawn',
        '... in a text that tells no more' );
    like( $stack->log_line($answer), qr/client owner $why/, '... and the log says why' );
    is( $stack->sql('SELECT count(*) FROM client'), $before, '... and no client is made' );
    return;
}

sub owner {
    my ( $method, %field ) = @_;
    my %json = ( clientType => 'public', softwareStatement => { software_id => 'own' }, %field );
    return ( $method eq 'POST' ? create( clientId => 'owner', %json ) : put( 'owner', %json ) )
      ->member('issuedSoftwareStatementJwt');
}

# Wait until a statement that is signed now has another text: its iat is in seconds, and RS256 has no randomness.
sub later {
    my ($jwt) = @_;
    my $iat = part( $jwt, 1 )->{iat};
    Authz::Process::until_true( 10, sub { time > $iat } );
    return $jwt;
}

# A PUT that changes nothing of the statement withdraws nothing.
{
    my $first = later( owner('POST') );
    is( owner( PUT => clientName => 'Renamed' ), $first, 'PUT with the same claims keeps the signed statement' );
    is( put( 'owner', softwareStatementJson => '{ "software_id" : "own" }' )->member('issuedSoftwareStatementJwt'),
        $first, '... also if they are written in another way' );
    is( register($first)->status, 201,
        '... so it still registers clients (decisions.md "Issued software statements")' );
    isnt( owner( PUT => softwareStatement => { software_id => 'own', a => 1 } ), $first, 'a claim more: signed anew' );
    isnt( owner('PUT'), $first, '... and a claim less: the first one is not taken up again' );

    my @part    = split /\./, owner('PUT');
    my $said    = JSON::PP::encode_json( { %{ part( "$part[0].$part[1]", 1 ) }, exp => time - 1 } );
    my $expired = join '.', $part[0], MIME::Base64::encode_base64url($said), $part[2];
    $stack->sql("UPDATE client SET issued_statement = '$expired' WHERE client_id = 'owner'");
    isnt( owner('PUT'), $expired, 'one that has expired is signed anew' );
    $stack->admin( DELETE => "$path/owner" );
}

sub holder_rules {
    my ($mode) = @_;
    my $first = owner('POST');
    is( register($first)->status, 201, "$mode: a statement that its client holds registers a client" );
    my $second = owner( PUT => softwareStatement => { software_id => 'own', software_version => '2' } );
    isnt( $second, $first, "$mode: another statement takes its place" );
    withdrawn( $first, 'has another statement or none now', "$mode: the replaced one is refused" );
    is( register($second)->status, 201, "$mode: the new one is taken" );
    my $same = owner(
        PUT     => softwareStatement => { software_id => 'own', software_version => '2' },
        enabled => JSON::PP::false );
    withdrawn( $same, 'is disabled', "$mode: a statement of a disabled client is refused" );
    $stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'owner'});
    is( register($same)->status, 201, "$mode: it is taken again when the client is enabled" );
    put('owner');
    withdrawn(
        $same, 'has another statement or none now',
        "$mode: a statement that was taken from its client is refused" );
    my $last = owner('PUT');
    $stack->admin( DELETE => "$path/owner" );
    withdrawn( $last, 'does not exist', "$mode: a statement of a deleted client is refused" );
    create( clientId => 'owner' );
    withdrawn( $last, 'has another statement or none now', "$mode: ... also if another client has its name now" );
    my $anew = put( 'owner', softwareStatement => { software_id => 'own' } )->member('issuedSoftwareStatementJwt');
    $stack->sql(q{UPDATE client SET issued_statement = left(issued_statement, -1) WHERE client_id = 'owner'});
    withdrawn( $anew, 'has another statement or none now', "$mode: one octet less is another statement" );
    $stack->admin( DELETE => "$path/owner" );
    return;
}
holder_rules('verified');
$stack->restart_service( settings => { SVC_SOFTWARE_STATEMENT_VERIFY => 'false' } );
holder_rules('SVC_SOFTWARE_STATEMENT_VERIFY=false does not cover our own');
$stack->restart_service( settings => { SVC_SOFTWARE_STATEMENT_VERIFY => 'true' } );

# ---- keys

unlike(
    join( ' ', map { $_->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} } ), qr/\A\Z/,
    'the key set is not empty' );
ok( ( grep { $_->{kid} eq part( $jwt, 0 )->{kid} } @{ $stack->http->get('/.well-known/jwks.json')->json->{keys} } ),
    'the statement key is published' );
$stack->sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});
my $signed = later( owner('POST') );
my ( $status, $out ) = $stack->authzctl(qw(keys rotate --yes --use statement));
is( $status,                0,   'the statement key is rotated' ) or diag($out);
is( register($jwt)->status, 201, 'a statement of the retired key is still good' );
isnt(
    part( create( clientId => 'three', softwareStatement => {} )->member('issuedSoftwareStatementJwt'), 0 )->{kid},
    part( $jwt, 0 )->{kid}, 'a new one is signed with the new key' );
is( owner('PUT'), $signed, '... and a PUT with the same claims keeps one' );
$stack->sql(
    q{UPDATE signing_key SET retired_at = now() - interval '34560010 seconds' WHERE use = 'statement' AND state = 'retired'}
);
oauth_error(
    register($jwt), 400, 'invalid_software_statement',
    'and bad when SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS have passed' );
isnt( owner('PUT'), $signed, '... so a PUT with the same claims signs anew' );
$stack->sql(q{UPDATE signing_key SET private_sealed = private_sealed || '\x00' WHERE use = 'statement'});
admin_error(
    create( clientId => 'four', softwareStatement => {} ),       500,
    'a key that does not open is an error of ours, no conflict', error => 'server_error' );
is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id = 'four'}), 0, '... and no client is made' );

done_testing;

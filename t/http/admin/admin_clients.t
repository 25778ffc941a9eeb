# /admin/api/clients: all six operations, field limits, sealed secrets (specification 2.1, 4.12, 7.2; decisions.md
# "Clients and registration", "Readings: Admin API").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $path  = '/admin/api/clients';

sub create { my (%field) = @_; return $stack->admin( POST => $path, json => { clientType => 'confidential', %field } ) }

sub put {
    my ( $id, %field ) = @_;
    return $stack->admin(
        PUT  => "$path/" . Authz::Client::escape($id),
        json => { clientId => $id, clientType => 'confidential', %field } );
}
sub fetch { my ($id) = @_; return $stack->admin( GET => "$path/" . Authz::Client::escape($id) ) }

sub works {
    my ( $id, $secret ) = @_;
    my $error = $stack->token( $id, $secret )->member('error') // 'none';
    return $error eq 'invalid_client' ? 'no' : 'yes';
}

# ---- create

my $made = create(
    clientId  => 'crm', clientName => 'Customers', redirectUris => ['https://crm.example/cb'],
    clientUri => 'https://crm.example' );
admin_ok(
    $made, 201,
    {   clientId     => 'crm', clientName => 'Customers', clientType => 'confidential',
        enabled      => sub { JSON::PP::is_bool( $_[0] ) && $_[0] }, registrationType => 'ADMIN',
        id           => sub { defined $_[0] && $_[0] =~ /\A\d+\z/ }, redirectUris => ['https://crm.example/cb'],
        clientSecret => qr/\A\S{40,}\z/ },
    'POST: 201 with ClientDto; enabled, ADMIN, and a generated secret (specification 2.1; decisions.md "Secrets are shown once")'
);
my $secret = $made->member('clientSecret') // '';
like( $made->body, qr/"id":\s*\d+[,}]/, 'POST: id is a number' );
is( works( 'crm', $secret ), 'yes', 'POST: the secret works at once' );
admin_ok( create( clientId => 'own', clientSecret => 's3cr3t-of-my-own' ), 201, {}, 'POST: a secret may be given' );
is( works( 'own', 's3cr3t-of-my-own' ), 'yes', 'POST: and works' );
my $public = create( clientId => 'spa', clientType => 'public' );
admin_ok( $public, 201, { clientSecret => undef, clientType => 'public' }, 'POST: a public client gets no secret' );
admin_error(
    create( clientId => 'crm' ), 409, 'POST: a taken clientId is 409 conflict, and named',
    error   => 'conflict',
    members => { error_description => q{clientId 'crm' is already in use} } );
$stack->sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://i.example', 'ann')});
admin_error(
    create( clientId => 'ann' ), 409, 'POST: so is one that is the name of a subject',
    error   => 'conflict',
    members => { error_description => q{clientId 'ann' is already in use} } );

admin_error(
    $stack->admin( POST => '/admin/api/clients', json => { clientType => 'public', @$_ } ), 400,
    'POST: clientId is required',                                                           fields => ['clientId']
) for [], [ clientId => undef ];
admin_ok(
    $stack->admin(
        PUT => '/admin/api/clients/own', json => { clientType => 'confidential', enabled => JSON::PP::true } ),
    200,
    { clientId => 'own' },
    'PUT: clientId is that of the path' );

# dpopBoundAccessTokens (RFC 9449 5.2): bound, a token request without a proof is refused.
is( fetch('own')->member('dpopBoundAccessTokens'), JSON::PP::false, 'GET: tokens need no DPoP proof at first' );
admin_ok(
    put( 'own', dpopBoundAccessTokens => JSON::PP::true ), 200,
    { dpopBoundAccessTokens => JSON::PP::true },           'PUT: dpopBoundAccessTokens' );
is( $stack->token( 'own', 's3cr3t-of-my-own' )->member('error'),
    'invalid_request', '... and a token request without a proof is refused (RFC 9449 5.2)' );
admin_ok(
    put( 'own', clientName => 'Own' ),           200,
    { dpopBoundAccessTokens => JSON::PP::true }, '... a PUT without the member keeps it' );
admin_error(
    put( 'own', dpopBoundAccessTokens => 'yes' ), 400, '... a text is refused',
    fields => ['dpopBoundAccessTokens'] );
admin_ok(
    put( 'own', dpopBoundAccessTokens => JSON::PP::false ), 200,
    { dpopBoundAccessTokens => JSON::PP::false },           '... and false takes it back' );
isnt(
    $stack->token( 'own', 's3cr3t-of-my-own' )->member('error') // '',
    'invalid_request', '... so that no proof is asked for' );

my $long = 'l' x 255;
create( clientId => $long );
admin_error(
    create( clientId => $long ), 409, 'POST: of a long one the first 128 octets are shown',
    error   => 'conflict',
    members => { error_description => q{clientId '} . substr( $long, 0, 128 ) . q{' is already in use} } );
admin_error(
    create( clientId => 'typo', redirecturis => [], foo => 1 ), 400,
    'POST: an unknown field is refused',
    fields  => [qw(foo redirecturis)],
    members => {
        fieldErrors => sub {
            my ($list) = grep {/; the fields are /} values %{ $_[0] };
            return $list =~
              /\Ais not a field of this object; the fields are clientId, clientName, clientSecret, .*, softwareStatementJson\z/
              && $list !~ /\bid\b|issuedSoftware/;
        }
    } );
admin_ok(
    create( clientId => 'off', enabled => false, clientSecret => 'x-secret-of-my-own' ), 201,
    { enabled => sub { JSON::PP::is_bool( $_[0] ) && !$_[0] } },                         'POST: enabled may be false' );
is( works( 'off', 'x-secret-of-my-own' ), 'no', 'POST: and then the client cannot authenticate' );

# ---- what is refused, and that every failing field is named (specification 7.2)

my %limit = ( clientId => 256, clientName => 256, clientSecret => 512, tokenEndpointAuthMethod => 64 );
my %uri   = map { ( $_ => 512 ) } qw(clientUri logoUri jwksUri);
for my $field ( sort keys %limit ) {
    next if $field eq 'tokenEndpointAuthMethod';
    my $exact = $field eq 'clientId' ? {} : { clientId => "limit-$field" };
    admin_ok(
        create( %$exact, $field => 'x' x $limit{$field} ), 201, undef,
        "limit: $field of $limit{$field} characters is allowed" );
    $exact->{clientId} .= '-2' if $exact->{clientId};
    admin_error(
        create( %$exact, $field => 'x' x ( $limit{$field} + 1 ) ), 400,
        "limit: $field of one more is 400 and named",              fields => [$field] );
}
admin_error(
    create( clientId => 'short', clientSecret => 'x' x 15 ),
    400, 'limit: a clientSecret of 15 octets is 400 and named (decisions.md "Key lengths")',
    fields => ['clientSecret'] );
admin_ok( create( clientId => 'short', clientSecret => 'x' x 16 ), 201, undef, 'limit: one of 16 octets is allowed' );
is( works( 'short', 'x' x 16 ), 'yes', 'limit: and works' );
admin_error(
    put( 'short', clientSecret => 'y' x 15 ),
    400, 'limit: PUT with a clientSecret of 15 octets is 400 and named', fields => ['clientSecret'] );
is( works( 'short', 'x' x 16 ), 'yes', 'limit: the earlier secret stays' );
admin_error(
    create( clientId => 'l', tokenEndpointAuthMethod => 'x' x 65 ),     400,
    'limit: tokenEndpointAuthMethod of 65 characters is 400 and named', fields => ['tokenEndpointAuthMethod'] );
for my $field ( sort keys %uri ) {
    my $text = 'https://x.example/' . 'a' x ( 512 - 18 );
    admin_ok(
        create( clientId => "limit-$field", $field => $text ), 201, { $field => $text },
        "limit: $field of 512 characters is allowed" );
    admin_error(
        create( clientId => "limit-$field-2", $field => "${text}a" ), 400,
        "limit: $field of 513 is 400 and named",                      fields => [$field] );
}
admin_ok(
    create( clientId => "letters", clientName => "\x{e4}" x 256 ), 201, undef,
    'limit: characters count, not octets' );
admin_error( create(),                 400, 'POST: clientId is required',      fields => ['clientId'] );
admin_error( create( clientId => '' ), 400, 'POST: clientId may not be empty', fields => ['clientId'] );
admin_error(
    $stack->admin( POST => $path, json => { clientId => 'n' } ), 400, 'POST: clientType is required',
    fields => ['clientType'] );
admin_error(
    create( clientId => 'n', clientType => $_ ), 400, "POST: clientType '$_' is refused",
    fields => ['clientType'] ) for '', 'Public', 'other', 'confidential ';
admin_error(
    $stack->admin(
        POST => $path, json => { clientName => 'x' x 257, enabled => 'yes', redirectUris => 'https://x.example' } ),
    400,
    'POST: every failing field is named',
    fields => [qw(clientId clientName clientType enabled redirectUris)] );
admin_error(
    create( clientId => 'n', clientName => 5 ), 400, 'POST: a number for a string is refused',
    fields => ['clientName'] );
admin_error(
    create( clientId => 'n', enabled => 'true' ), 400, 'POST: a string for a boolean is refused',
    fields => ['enabled'] );
admin_error(
    create( clientId => 'n', jwks => [] ), 400, 'POST: an array for an object is refused',
    fields => ['jwks'] );
admin_error(
    create( clientId => 'n', redirectUris => [ 'https://x.example/cb', 5 ] ), 400,
    'POST: an item of another type is named by its place',                    fields => ['redirectUris[1]'] );
admin_error( create( clientId => $_->[0] ), 400, "POST: a clientId with $_->[1] is refused" )
  for [ "a\x{0}b", 'a NUL' ], [ "a\nb", 'a newline' ], [ "a\x{7f}b", 'DEL' ];
my $at = [ map {"https://x.example/$_"} 1 .. 25 ];
admin_ok(
    create( clientId => 'many', redirectUris => $at ), 201, undef,
    'limit: 25 redirect URIs are allowed (SVC_MAX_REDIRECT_URIS, specification 8)' );
admin_error(
    create( clientId => 'more', redirectUris => [ @$at, 'https://x.example/26' ] ), 400,
    'limit: 26 are refused',                                                        fields => ['redirectUris'] );

for my $bad (
    'no uri',           '/relative', 'https://x.example/#f', 'javascript:alert(1)', 'JAVASCRIPT:alert(1)',
    'data:text/html,x', 'https://u:p@x.example/', '' )
{
    admin_error(
        create( clientId => 'n', redirectUris => [$bad] ),         400,
        "POST: the redirect URI '$bad' is refused (oauth.md 3.2)", fields => ['redirectUris[0]'] );
}
admin_error(
    $stack->admin( POST => $path, headers => [ 'Content-Type' => 'application/json' ], body => $_->[0] ), 400,
    "POST: $_->[1] is 400" )
  for [ '{"clientId":"d","clientId":"e","clientType":"public"}', 'a repeated name' ], [ '[]', 'an array' ],
  [ '{', 'broken JSON' ], [ '"x"', 'a string' ], [ '', 'an empty body' ];
admin_error(
    $stack->admin( POST => $path, headers => [ 'Content-Type' => 'text/plain' ], body => '{}' ), 415,
    'POST: another content type is 415 (oauth.md C2)' );
is( fetch('n')->status, 404, 'POST: nothing that was refused is stored' );

# ---- read

my $read = fetch('crm');
admin_ok(
    $read, 200, { clientId => 'crm', clientSecret => undef, id => $made->member('id') },
    'GET: 200 without the secret (decisions.md "Secrets are shown once")' );
admin_error( fetch('nobody'), 404, 'GET: an unknown client is 404 with an empty body' );
my $list = $stack->admin( GET => $path );
is( $list->status,   200,     'GET: the list is 200' );
is( ref $list->json, 'ARRAY', 'GET: the list is an array (specification 4.12)' );
ok( ( grep { $_->{clientId} eq 'spa' } @{ $list->json } ), 'GET: and holds the clients' );
unlike( $list->body,               qr/"clientSecret"|\Q$secret\E|my-own/, 'GET: the list holds no secret' );
unlike( $list->body . $read->body, qr/:\s*null\b/,                        'GET: no member is null' );
my $url = 'https://app.example/c.json?x=1&y=%20';
admin_ok( create( clientId => $url ), 201, { clientId => $url }, 'POST: a clientId may be an address' );
admin_ok( fetch($url), 200, { clientId => $url }, 'GET: and is found with %2F in the path (gateway-admin.md 3.1)' );

# ---- replace

admin_ok(
    put( 'crm', clientName => 'New', clientUri => undef ),
    200,
    {   clientName   => 'New', clientUri => undef, redirectUris => sub { !defined $_[0] || !@{ $_[0] } },
        clientSecret => undef, id        => $made->member('id') },
    'PUT: replaces; absent members are gone, the id stays' );
is( works( 'crm', $secret ), 'yes', 'PUT: without clientSecret keeps the secret (decisions.md "PUT of a client")' );
admin_ok( put( 'crm', enabled => false ), 200, { enabled => sub { !$_[0] } }, 'PUT: disables' );
admin_ok(
    put('crm'), 200, { enabled => sub { !$_[0] } },
    'PUT: without enabled keeps it (decisions.md "PUT of a client")' );
admin_ok( put( 'crm', enabled => true ), 200, { enabled => sub { $_[0] } }, 'PUT: enables' );
admin_ok(
    put( 'crm', clientSecret => 'another-of-my-own' ), 200, { clientSecret => undef },
    'PUT: a new secret is not shown' );
is( works( 'crm', 'another-of-my-own' ) . works( 'crm', $secret ), 'yesno',
    'PUT: the new secret works and the old one does not' );
admin_error( put('nobody'), 404, 'PUT: an unknown client is 404' );
admin_error(
    put( 'crm', clientName => 'x' x 257 ), 400, 'PUT: a failing field is 400 and named',
    fields => ['clientName'] );
admin_ok( fetch('crm'), 200, { clientName => undef }, 'PUT: and changes nothing' );
put( 'crm', registrationType => 'CIMD', id => 999999 );
admin_ok(
    fetch('crm'), 200, { registrationType => 'ADMIN', id => $made->member('id') },
    'PUT: id and registrationType are ours to say' );
admin_ok( $stack->admin( PUT => "$path/crm", json => fetch('crm')->json ), 200, {}, 'PUT: takes back what GET gave' );

# ---- rotate

my $rotate = "$path/crm/rotate-secret";
my $first  = $stack->admin( POST => $rotate );
admin_ok(
    $first, 200, { clientId => 'crm', clientSecret => qr/\A\S{40,}\z/, rotatedAt => qr/\A\d{4}-\d\d-\d\dT/ },
    'rotate-secret: 200 with clientId, clientSecret and rotatedAt (decisions.md "rotate-secret")' );
is( works( 'crm', 'another-of-my-own' ) . works( 'crm', $first->member('clientSecret') ), 'noyes',
    'rotate-secret: without overlap the old secret dies at once' );
my $second = $stack->admin( POST => $rotate, json => { previousSecretTtlSeconds => 3600 } );
admin_ok(
    $second, 200, { previousSecretExpiresAt => qr/\A\d{4}-\d\d-\d\dT/ },
    'rotate-secret: previousSecretExpiresAt with an overlap' );
is( works( 'crm', $first->member('clientSecret') ) . works( 'crm', $second->member('clientSecret') ), 'yesyes',
    'rotate-secret: both secrets work meanwhile' );
my $third = $stack->admin( POST => $rotate, json => { previousSecretTtlSeconds => 2592000 } );
admin_ok( $third, 200, {}, 'rotate-secret: an overlap of 30 days is allowed' );
is( works( 'crm', $first->member('clientSecret') ), 'no',
    'rotate-secret: the one before the previous is dead (decisions.md "rotate-secret")' );
admin_error(
    $stack->admin( POST => $rotate, json => { previousSecretTtlSeconds => $_ } ), 400,
    "rotate-secret: an overlap of $_ is 400",                                     fields => ['previousSecretTtlSeconds']
) for 2592001, -1;
admin_error(
    $stack->admin( POST => $rotate, json => { previousSecretTtlSeconds => 'x' } ), 400,
    'rotate-secret: a text is 400', fields => ['previousSecretTtlSeconds'] );
admin_error(
    $stack->admin( POST => "$path/spa/rotate-secret" ), 400,
    'rotate-secret: 400 for a public client (decisions.md "rotate-secret")' );
admin_error( $stack->admin( POST => "$path/nobody/rotate-secret" ), 404, 'rotate-secret: 404 for an unknown one' );
is( works( 'crm', $third->member('clientSecret') ), 'yes', 'rotate-secret: what was refused changed nothing' );
my $sealed = $stack->sql(
    "SELECT encode(secret_sealed, 'escape') || encode(coalesce(previous_secret_sealed, ''), 'escape') FROM client WHERE client_id IN ('crm', 'own')"
);
unlike(
    $sealed, qr/my-own|\Q@{[ $third->member('clientSecret') ]}\E/,
    'secrets lie sealed in the database (specification 5.5)' );

# ---- delete

is( $stack->admin( DELETE => "$path/crm" )->status, 204, 'DELETE: 204' );
admin_error( fetch('crm'),                           404, 'DELETE: and it is gone' );
admin_error( $stack->admin( DELETE => "$path/crm" ), 404, 'DELETE: again 404' );
is( works( 'crm', $third->member('clientSecret') ), 'no', 'DELETE: it cannot authenticate any more' );
admin_ok( create( clientId => 'crm' ), 201, undef, 'DELETE: the name is free again' );

done_testing;

# /admin/api/identity-providers: all five operations, field limits, sealed secrets, sessions that end with a provider
# (specification 2.3, 4.12, 7.2; oauth.md 5 "Identity provider PUT"; decisions.md "Browser side").
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( not_ready => 1 );
my $path  = '/admin/api/identity-providers';
my $made  = 0;

# Each with an issuer of its own where none is given.
sub create {
    my (%field) = @_;
    return $stack->admin( POST => $path, json => { issuer => 'https://i' . ++$made . '.example', %field } );
}

sub put {
    my ( $id, %field ) = @_;
    return $stack->admin( PUT => "$path/" . Authz::Client::escape($id), json => \%field );
}
sub fetch  { my ($id)   = @_; return $stack->admin( GET => "$path/" . Authz::Client::escape($id) ) }
sub sql    { my ($text) = @_; return $stack->sql($text) }
sub sealed { my ($id)   = @_; return sql("SELECT md5(secret_sealed) FROM identity_provider WHERE idp_id = '$id'") }
my $is_true  = sub { JSON::PP::is_bool( $_[0] ) && $_[0] };
my $is_false = sub { JSON::PP::is_bool( $_[0] ) && !$_[0] };

# ---- create and read

my %all = (
    idpId                 => 'corp', name => 'Corp', issuer => 'https://idp.example/realms/x', clientId => 'authz',
    authorizationEndpoint => 'https://idp.example/a?x=1',
    tokenEndpoint         => 'https://idp.example/t', userinfoEndpoint => 'https://idp.example/u',
    jwksUri               => 'https://idp.example/k',
    backchannelNotificationEndpoint => 'https://idp.example/b', scopes => [qw(openid groups)],
    authorizeParams                 => { prompt => 'select_account', hd => "\x{e4}.example" } );
my $answer = create( %all, clientSecret => 's3cr3t-of-ours' );
admin_ok(
    $answer, 201, { %all, enabled => $is_true, id => qr/\A\d+\z/, clientSecret => undef },
    'POST: 201 with IdentityProviderDto as stored; enabled unless it says otherwise' );
unlike( $answer->body, qr/s3cr3t/, 'POST: the secret is not in the answer' );
like( $answer->body, qr/"id":\s*\d+[,}]/, 'POST: id is a number' );
admin_ok(
    fetch('corp'), 200, { %all, enabled => $is_true, clientSecret => undef },
    'GET: the same, without the secret' );
unlike(
    fetch('corp')->body, qr/s3cr3t|"clientSecret"|:\s*null/,
    'GET: nothing of the secret but that there is one, and no null' );
admin_ok( fetch('corp'), 200, { clientSecretSet => $is_true }, 'GET: a secret is stored' );
unlike( sql('SELECT p::text FROM identity_provider p'), qr/s3cr3t/, 'the secret is sealed at rest' );
is( $stack->admin( GET => $path )->json->[0]{idpId}, 'corp', 'GET of the list: an array' );
admin_ok(
    create( idpId => 'off', enabled => JSON::PP::false() ), 201, { enabled => $is_false, clientSecretSet => $is_false },
    'POST: enabled may be false, and there is no secret that was not given' );
is( join( ' ', map { $_->{idpId} } @{ $stack->admin( GET => $path )->json } ), 'corp off',
    'GET of the list: oldest first' );
is( fetch('nobody')->status, 404, 'GET: unknown is 404' );
is( fetch('nobody')->body,   '',  '... with an empty body (specification 7.2)' );

# ---- idpId that is made

admin_ok(
    create( name => 'Corp' ), 201, { idpId => 'corp-2' },
    'POST without idpId: made from the name, with a number when it is taken' );
admin_ok( create( name => 'Corp' ),                    201, { idpId => 'corp-3' },      '... and the next number' );
admin_ok( create( name => " \x{dc}ber & Co. KG (2)" ), 201, { idpId => 'ber-co-kg-2' }, '... of letters and digits' );
admin_ok(
    create( name => "\x{65e5}\x{672c}", issuer => 'https://Login.Example:8443/x' ), 201,
    { idpId => 'login-example' }, '... else from the host of the issuer' );
admin_ok( create( name => 'x' x 256 ), 201, { idpId => 'x' x 56 }, '... and not too long' );

# ---- taken

admin_error(
    create( idpId => 'corp' ), 409, 'POST: a taken idpId is 409 conflict, and named',
    error   => 'conflict',
    members => { error_description => q{idpId 'corp' or its issuer is already in use} } );
admin_error(
    create( idpId => 'corp9', issuer => $all{issuer} ), 409, 'POST: a taken issuer is 409 conflict',
    error => 'conflict' );
admin_error(
    put( 'off', issuer => $all{issuer} ), 409, 'PUT: a taken issuer is 409 conflict',
    error   => 'conflict',
    members => { error_description => 'The issuer or one of issuerAliases is already in use' } );
admin_ok( fetch('off'), 200, { issuer => 'https://i2.example' }, '... and nothing is changed' );

# ---- what is refused, and that every failing field is named (specification 7.2)

my $long = 'https://x.example/' . 'a' x ( 512 - 18 );
for my $field (qw(issuer authorizationEndpoint tokenEndpoint userinfoEndpoint jwksUri backchannelNotificationEndpoint))
{
    admin_ok(
        create( idpId => "long-$field", $field => $long ), 201, { $field => $long },
        "limit: $field of 512 characters is allowed" );
    admin_error( create( $field => "${long}a" ), 400, "limit: $field of 513 is 400 and named", fields => [$field] );
    for my $bad (
        'x',               '/a', 'https:///a', 'https://x.example/#f', 'https://u:p@x.example/', 'javascript:alert(1)',
        'ftp://x.example', 'https://x.example/ a', "https://x.example/\x{e4}", '', 7,            ['https://x.example'] )
    {
        admin_error(
            create( $field => $bad ), 400, "POST: $field must not be " . ( ref $bad ? 'an array' : "'$bad'" ),
            fields => [$field] );
    }
}
admin_error(
    create( issuer => 'https://x.example/?a=b' ), 400, 'POST: an issuer has no query (OIDC Discovery 3)',
    fields => ['issuer'] );
admin_error( create( issuer => undef ), 400, 'POST: issuer is required', fields => ['issuer'] );
admin_ok(
    create( idpId => 'plain', issuer => 'http://127.0.0.1:9/x', tokenEndpoint => 'http://127.0.0.1:9/t' ), 201,
    undef, 'http is a matter of the fetch, not of the row (decisions.md "Trusted issuers")' );
my %limit = ( name => 256, clientId => 256, clientSecret => 512, idpId => 64 );
for my $field ( sort keys %limit ) {
    my %own = $field eq 'idpId' ? () : ( idpId => "limit-$field" );
    admin_ok(
        create( %own, $field => 'y' x $limit{$field} ), 201, undef,
        "limit: $field of $limit{$field} characters is allowed" );
    $own{idpId} .= '-2' if %own;
    admin_error(
        create( %own, $field => 'y' x ( $limit{$field} + 1 ) ), 400,
        "limit: $field of one more is 400 and named",           fields => [$field] );
}
for my $bad ( '.', '..', 'a/b', 'a b', "\x{e4}", 'a%20', '', 7, "a\n" ) {
    admin_error(
        create( idpId => $bad ), 400, "POST: idpId must not be '" . $bad =~ s/\n/\\n/r . "'",
        fields => ['idpId'] );
}
admin_error(
    create( name => "Corp\x{202e}" ), 400, 'POST: a name must not have invisible characters',
    fields => ['name'] );
admin_error(
    create( clientSecret => "a\x01" ), 400, 'POST: nor a clientSecret control characters',
    fields => ['clientSecret'] );
admin_error( create( enabled => 'yes' ),             400, 'POST: enabled is a boolean',      fields => ['enabled'] );
admin_error( create( Enabled => JSON::PP::false() ), 400, 'POST: a misspelt field is named', fields => ['Enabled'] );

# ---- logo (decisions.md "Logos of providers")

my %picture = (
    png  => "\x89PNG\r\n\x1a\n" . 'x' x 20, jpeg => "\xff\xd8\xff\xe0" . 'x' x 20,
    webp => 'RIFFxxxxWEBP' . 'x' x 20 );
sub data_url { my ( $type, $octets ) = @_; return "data:$type;base64," . MIME::Base64::encode_base64( $octets, '' ) }
for my $type ( sort keys %picture ) {
    my $url = data_url( "image/$type", $picture{$type} );
    admin_ok( create( idpId => "logo-$type", logo => $url ), 201, { logo => $url }, "logo: $type" );
    admin_ok( fetch("logo-$type"),                           200, { logo => $url }, '... is shown' );
    admin_error(
        create( logo => data_url( 'image/' . ( $type eq 'png' ? 'webp' : 'png' ), $picture{$type} ) ), 400,
        "logo: $type that says to be another type", fields => ['logo'] );
    my $most = $picture{$type} . 'x' x ( 16384 - length $picture{$type} );
    admin_ok(
        create( idpId => "most-$type", logo => data_url( "image/$type", $most ) ), 201, undef,
        "limit: a $type of 16384 octets is allowed" );
    admin_error(
        create( logo => data_url( "image/$type", $most . 'x' x $_ ) ), 400, "limit: $_ more is not",
        fields => ['logo'] ) for 1, 4, 100_000;
}
my $svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
for my $case (
    [ data_url( 'image/svg+xml', $svg ),                   'an SVG' ],
    [ data_url( 'image/png', $svg ),                       'an SVG that says to be a PNG' ],
    [ 'data:image/svg+xml,' . Authz::Client::escape($svg), 'an SVG in text' ],
    [ data_url( 'text/html',           '<p>a</p>' ),              'HTML' ],
    [ data_url( 'image/gif',           'GIF89a' . 'x' x 20 ),     'a GIF' ],
    [ data_url( 'image/png;charset=x', $picture{png} ),           'a parameter' ],
    [ data_url( 'IMAGE/PNG',           $picture{png} ),           'another spelling of the type' ],
    [ data_url( 'image/png',           $picture{png} ) . '"><p>', 'characters behind base64' ],
    [ data_url( 'image/png',           $picture{png} ) . "\n",    'a line feed behind it' ],
    [ 'data:image/png;base64,',                     'no picture' ],
    [ data_url( 'image/png', "\x89PNG\r\n\x1a\n" ), 'a mark alone' ],
    [ 'https://idp.example/logo.png',               'an address' ],
    [ 'javascript:alert(1)//;base64,',              'a script' ],
    [ '',                                           'an empty text' ],
    [ 7,                                            'a number' ] )
{
    my ( $logo, $what ) = @$case;
    admin_error( create( logo => $logo ), 400, "logo: $what is refused", fields => ['logo'] );
}
my $small = data_url( 'image/png', $picture{png} );
my $kept  = fetch('logo-jpeg')->json;
admin_ok( put( 'logo-jpeg', %$kept, logo => $small ), 200, { logo => $small }, 'PUT: another logo' );
admin_ok( put( 'logo-jpeg', issuer => $kept->{issuer} ), 200, { logo => undef }, '... and without it there is none' );

admin_ok( create( idpId => 'scopes', scopes => [ map {"s$_"} 1 .. 32 ] ), 201, undef, 'limit: 32 scopes are allowed' );
admin_error( create( scopes => [ map {"s$_"} 1 .. 33 ] ), 400, 'limit: 33 are not', fields => ['scopes'] );
admin_ok( create( idpId => 'scope', scopes => [ 's' x 256 ] ), 201, undef, 'limit: a scope of 256 octets is allowed' );
admin_error( create( scopes => [ 'a', 's' x 257 ] ), 400, 'limit: one of 257 is not', fields => ['scopes[1]'] );
admin_error(
    create( scopes => [ 'a b', 'c"', 'd\\', '', "\x{e4}", 'ok' ] ),        400,
    'POST: scopes are scope-tokens (RFC 6749 3.3), each bad one is named', fields => [ map {"scopes[$_]"} 0 .. 4 ] );
admin_error( create( scopes => 'openid' ), 400, 'POST: scopes is an array', fields => ['scopes'] );

for my $ours (
    qw(client_id client_secret redirect_uri response_type response_mode scope state nonce code_challenge code_challenge_method code_verifier request request_uri)
  )
{
    my $got = create( authorizeParams => { $ours => 'x' } );
    admin_error(
        $got, 400, "POST: authorizeParams may not set $ours (oauth.md 5 \"Upstream callback\")",
        fields => ['authorizeParams'] );
    like( $got->json->{fieldErrors}{authorizeParams}, qr/\A$ours: /, '... and the parameter is named' );
}
admin_ok(
    create( idpId => 'params', authorizeParams => { map { ( "p$_" => 'v' x 512 ) } 1 .. 32 } ), 201, undef,
    'limit: 32 authorizeParams of 512 octets are allowed' );
admin_error(
    create( authorizeParams => { map { ( "p$_" => 'v' ) } 1 .. 33 } ), 400, 'limit: 33 are not',
    fields => ['authorizeParams'] );
admin_error(
    create( authorizeParams => { p => 'v' x 513 } ), 400, 'limit: nor one of 513 octets',
    fields => ['authorizeParams'] );
admin_ok(
    create( idpId => 'pname', authorizeParams => { 'n' x 64, 'v' } ), 201, undef,
    'limit: a name of 64 octets is allowed' );
admin_error(
    create( authorizeParams => $_ ), 400, 'POST: authorizeParams is an object of named strings',
    fields => ['authorizeParams'] )
  for { p => 1 }
, { p => undef }, { p => ['a'] }, { p => { a => 'b' } }, { '' => 'x' }, { 'a&b' => 'x' }, { 'a=b' => 'x' },
  { 'n' x 65, 'v' }, { p => "a\r\nb" }, ['p'], 'p=v';
my $several = create( issuer => 'x', name => 7, scopes => 1 );
admin_error( $several, 400, 'POST: all failing fields are named at once', fields => [qw(issuer name scopes)] );
is( $stack->admin( POST => $path, body => '{"issuer":', headers => [ 'Content-Type' => 'application/json' ] )->status,
    400, 'POST: no JSON is 400' );
is( $stack->admin( POST => $path, json => {}, key => 'wrong' )->status, 401, 'POST: a wrong admin key is 401' );
is( $stack->admin( $_ => "$path/corp", key => undef, $_ eq 'PUT' ? ( json => {} ) : () )->status, 401,
    "$_: no admin key is 401" ) for qw(GET PUT DELETE);

# ---- PUT: full replacement (oauth.md 5 "Identity provider PUT")

# The addresses that the stored secret goes to: another one needs it again (secret_address.t).
my @addresses = map { ( $_ => $all{$_} ) } qw(issuer tokenEndpoint);
my $before    = sealed('corp');
admin_ok(
    put( 'corp', @addresses, idpId => 'other', clientId => 'authz2' ),
    200,
    {   idpId => 'corp',
        @addresses,
        clientId => 'authz2',
        (   map { $_ => undef }
              qw(name authorizationEndpoint userinfoEndpoint jwksUri backchannelNotificationEndpoint scopes authorizeParams clientSecret)
        ),
        enabled => $is_true },
    'PUT: 200 with the stored object; the id of the path wins; what is absent is empty; enabled is kept' );
is( fetch('other')->status, 404,     '... and there is no provider by the id of the body' );
is( sealed('corp'),         $before, 'PUT: an absent clientSecret keeps the stored one' );
admin_ok( put( 'corp', @addresses, clientSecret => undef ), 200, undef, 'PUT: null too' );
is( sealed('corp'), $before, '... keeps it' );
admin_ok(
    put( 'corp', issuer => $all{issuer}, clientSecret => 'another' ), 200, { clientSecret => undef },
    'PUT: a given one' );
isnt( sealed('corp'), $before, '... takes its place' );
admin_ok(
    put( 'off', issuer => 'https://i2.example' ), 200, { enabled => $is_false },
    'PUT: a provider that is off stays off when enabled is absent' );
admin_ok(
    put( 'corp', %{ fetch('corp')->json } ), 200, { idpId => 'corp' },
    'PUT: what a GET answered can be sent back' );
admin_error( put( 'corp', name => 'x' ), 400, 'PUT: issuer is required', fields => ['issuer'] );
admin_error(
    put( 'corp', issuer => $all{issuer}, authorizeParams => { state => 'x' } ), 400, 'PUT: the same rules',
    fields => ['authorizeParams'] );
is( put( 'nobody', issuer => 'https://n.example' )->status, 404, 'PUT: unknown is 404' );
is( put( 'nobody', issuer => 'https://n.example' )->body,   '',  '... with an empty body' );
is( fetch('nobody')->status, 404, '... and nothing was made' );
my $version = sql("SELECT version FROM identity_provider WHERE idp_id = 'corp'");
put( 'corp', issuer => $all{issuer}, name => 'Again' );
cmp_ok(
    sql("SELECT version FROM identity_provider WHERE idp_id = 'corp'"), '>', $version,
    'PUT: the version moves on' );
cmp_ok(
    sql('SELECT last_value FROM identity_provider_version_seq'), '>', sql('SELECT max(version) FROM identity_provider'),
    'the sequence moves once more after the commit: a process that read it in between does not take old rows for the newest'
);

# ---- what ends with a provider (oauth.md 5 "Transitions")

sql("INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', '$all{issuer}', 'ann')");

sub session {
    my ( $sid, $idp ) = @_;
    sql("INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, expires_at) SELECT sha256('$sid'), '$sid', 'ann', id, now(), now() + interval '1 hour' FROM identity_provider WHERE idp_id = '$idp'"
    );
    return;
}
sub sessions { return sql("SELECT coalesce(string_agg(sid, ' ' ORDER BY sid), '') FROM browser_session") }
session( 's1', 'corp' );
session( 's2', 'corp' );
session( 's3', 'plain' );
put( 'corp', issuer => $all{issuer}, name => 'Same' );
is( sessions(), 's1 s2 s3', 'PUT: a change beside issuer and enabled ends no session' );
admin_error(
    put( 'corp', issuer => 'http://127.0.0.1:9/x', enabled => JSON::PP::false(), clientSecret => 'another' ), 409,
    'PUT: a refused change',
    error => 'conflict' );
is( sessions(), 's1 s2 s3', '... ends none' );
admin_ok(
    put( 'corp', issuer => $all{issuer}, enabled => JSON::PP::false() ), 200, { enabled => $is_false },
    'PUT: disabling' );
is( sessions(), 's3', '... ends the sessions of that provider, and no others' );
admin_ok(
    put( 'corp', issuer => $all{issuer}, enabled => JSON::PP::true() ), 200, { enabled => $is_true },
    'PUT: enabling again' );
is( sessions(), 's3', '... brings none back' );
admin_ok( put( 'plain', issuer => 'https://moved.example' ), 200, undef, 'PUT: another issuer' );
is( sessions(), '', '... ends the sessions too: another issuer vouched for them' );
session( 's4', 'corp' );
session( 's5', 'plain' );

# ---- delete

my $gone = $stack->admin( DELETE => "$path/corp" );
is( $gone->status,                                   204,  'DELETE: 204' );
is( $gone->body,                                     '',   '... without a body' );
is( fetch('corp')->status,                           404,  '... and it is gone' );
is( sessions(),                                      's5', '... with its sessions, and no others' );
is( $stack->admin( DELETE => "$path/corp" )->status, 404,  'DELETE: unknown is 404' );
is( sql("SELECT count(*) FROM subject"),             1,    'DELETE: its people keep their names' );
cmp_ok(
    sql('SELECT last_value FROM identity_provider_version_seq'), '>',
    sql('SELECT max(version) FROM identity_provider'),           'DELETE: the sequence moves on' );

# ---- audit

like(
    sql("SELECT coalesce(string_agg(operation || ' ' || outcome, ' ' ORDER BY id), '') FROM (SELECT * FROM audit_log WHERE operation LIKE '%IdentityProvider' ORDER BY id DESC LIMIT 2) a"
    ),
    qr/\AdeleteIdentityProvider allowed deleteIdentityProvider rejected\z/,
    'writes leave audit rows' );
unlike( sql('SELECT a::text FROM audit_log a'), qr/s3cr3t|another/, '... without a secret' );

done_testing;

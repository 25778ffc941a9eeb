# POST /register with a software statement (specification 4.7, 5.6; oauth.md 3.5; decisions.md "Software statements of
# others", "Statement trust"; RFC 7591 2.3).
use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Inputs;
use Authz::Process ();
use Authz::Stack   ();

my $publisher = Authz::Idp->start;
my $stranger  = Authz::Idp->start;
my %setting   = Authz::Idp->settings;
my $stack     = Authz::Stack->start( settings => {%setting} );
my $issuer    = $publisher->issuer;
my $bad       = 'invalid_software_statement';
my $trust     = 'svc.operator.controls.trust';

sub trust { return $stack->patch_row( $trust, { statement_issuers => [@_] } ) }
sub sql   { return $stack->sql( $_[0] ) =~ s{\n\z}{}r =~ tr/\t/|/r }
sub count { return scalar( my @all = $_[0]->seen( $_[1] ) ) }

my %base = ( software_id => 'crm', software_version => '2', client_name => 'Stated' );

sub claims {
    my (%more) = @_;
    my %all = ( iss => $issuer, iat => int time, %base, %more );
    delete @all{ grep { !defined $all{$_} } keys %all };
    return \%all;
}
sub statement { my ( $claims, %how ) = @_; return $publisher->id_token( $claims, %how ) }

sub register {
    my ( $jwt, %member ) = @_;
    return $stack->http->post(
        '/register',
        json => { redirect_uris => ['https://app.example/cb'], software_statement => $jwt, %member } );
}

sub taken {
    my ( $answer, $members, $name ) = @_;
    my $good = is( $answer->status, 201, $name );
    $good &&= members_are( $answer->json, $members, "... $name: its members" );
    diag( $answer->text ) if !$good;
    return $answer->json // {};
}
sub refused { my ( $answer, $name, $code ) = @_; return oauth_error( $answer, 400, $code // $bad, $name ) }

# Return the last question that policy was asked.
sub asked {
    return decode_packed(
        sql(q{SELECT policy_input FROM audit_log WHERE endpoint = '/register' AND policy_input IS NOT NULL ORDER BY id DESC LIMIT 1}
        ) );
}

# ---- issuers that are trusted

refused(
    register( statement( claims() ) ), 'an issuer that is not in the trust row: unapproved_software_statement',
    'unapproved_software_statement' );
is( count( $publisher, 'discovery' ) + count( $publisher, 'jwks' ), 0, 'and nothing of it is fetched (oauth.md 0.4)' );
trust($issuer);
refused(
    register( $stranger->id_token( claims( iss => $stranger->issuer ) ) ), 'another issuer is refused',
    'unapproved_software_statement' );
refused(
    register( $stranger->id_token( claims( iss => "$issuer/" ) ) ), 'an issuer with a slash more is another',
    'unapproved_software_statement' );
is( count( $stranger, 'discovery' ) + count( $stranger, 'jwks' ), 0, 'and is never asked' );

# ---- a good one

my $jwt  = statement( claims() );
my $made = taken(
    register( $jwt, client_name => 'Plain', software_id => 'other', client_uri => 'https://app.example' ),
    {   software_statement => $jwt, client_name => 'Stated', software_id => 'crm', software_version => '2',
        client_uri         => 'https://app.example', grant_types => ['authorization_code'] },
    'a good statement: its values take the place of plain ones (RFC 7591 2.3), and it is returned unchanged (3.2.1)' );
is( sql("SELECT registration_type, software_id, software_version, software_statement->>'iss', software_statement->>'client_name' FROM client WHERE client_id = '$made->{client_id}'"
    ),
    "STATEMENT|crm|2|$issuer|Stated",
    'stored: its claims' );
is( count( $publisher, 'discovery' ) . count( $publisher, 'jwks' ), '11', 'its keys were found by discovery' );
my $input = asked();
is_deeply(
    $input->{statement}, { iss => $issuer, verified => true, claims => $input->{statement}{claims} },
    'policy hears issuer, verdict and claims' );
is( "$input->{registration}{mode} $input->{registration}{software_id}", 'statement crm', 'and the software_id' );
is( $input->{registration}{redirect_uris}[0]{scheme}, 'https', 'and the addresses taken apart (policy.md 6.5)' );
is( sql("SELECT request_summary::json->>'mode', request_summary::json->>'issuer' FROM audit_log WHERE client_id = '$made->{client_id}'"
    ),
    "statement|$issuer",
    'audit: whose statement it was' );
taken( register( statement( claims(), alg    => $_ ) ), {}, "a statement signed with $_" ) for qw(ES256 PS256);
taken( register( statement( claims(), header => { typ => $_->[0] } ) ), {}, "typ $_->[1]" )
  for [ undef, 'absent' ], [ 'software-statement+jwt', 'of a software statement' ],
  [ 'application/JWT', 'with application/' ];
is( count( $publisher, 'jwks' ), 1, 'the keys are kept' );

# ---- what is wrong with others

refused( register( statement( claims(), tamper   => 1 ) ),             'a wrong signature' );
refused( register( statement( claims(), stranger => 1 ) ),             'a signature by another key' );
refused( register( statement( claims(), alg      => $_ ) ),            "alg $_" ) for qw(none HS256);
refused( register( statement( claims(), header   => { typ => $_ } ) ), "typ $_: another kind of token (RFC 8725 3.11)" )
  for qw(at+jwt dpop+jwt logout+jwt client-authentication+jwt);
refused( register( statement( claims(), header => { crit => ['exp'] } ) ), 'crit in the header' );
refused(
    register( statement( claims( sub => 'ann', aud => 'app', $_ => 'x' ) ) ),
    "the claim $_: an ID token or the like of the same issuer (RFC 8725 3.12)"
) for qw(nonce at_hash c_hash auth_time azp sid act cnf events htm);
taken(
    register( statement( claims( sub => 'crm', aud => $stack->base, jti => 'j', nbf => int time ) ) ), {},
    'sub, aud, jti and nbf are no such claims' );
refused( register($_), 'not a JWT: ' . ( ref $_ ? 'no string' : "'$_'" ) ) for 'x', 'a.b.c', 5, {}, ['x'], '....';
refused( register( statement( claims( iss => undef ) ) ), 'no issuer' );
refused( register( statement( claims( iss => 5 ) ) ),     'an issuer that is no string' );
my ( $head, $body ) = split /\./, $jwt;
refused( register("$head.$body."), 'without signature' );
refused(
    register( join '.', ( split /\./, statement( claims( software_id => 'evil' ) ) )[ 0, 1 ], ( split /\./, $jwt )[2] ),
    'with the signature of another' );
taken(
    $stack->http->post(
        '/register', json => { redirect_uris => ['https://app.example/cb'], software_statement => $_ } ),
    { software_statement => undef },
    'null and an empty text are no statement' ) for undef, '';

my $now = int time;
taken( register( statement( claims( exp => $now - 5 ) ) ), {}, 'limit: exp has passed by less than 10 s' );
refused( register( statement( claims( exp => $now - 11 ) ) ), 'limit: exp has passed by more: expired' );
like(
    register( statement( claims( exp => $now - 11 ) ) )->member('error_description'), qr/expired/,
    'and that is said' );
taken( register( statement( claims( nbf => $now + 55 ) ) ), {}, 'limit: nbf lies ahead by less than 60 s' );
refused( register( statement( claims( nbf => $now + 90 ) ) ), 'limit: nbf lies ahead by more' );
taken( register( statement( claims( iat => $now + 55 ) ) ), {}, 'limit: iat lies ahead by less than 60 s' );
refused( register( statement( claims( iat => $now + 90 ) ) ), 'limit: iat lies ahead by more' );
refused( register( statement( claims( exp => 'never' ) ) ),   'exp that is no number' );

# 16 KiB at most (oauth.md J2); the padding moves the length by 1 or 2.
my %padded;
for my $pad ( 11_500 .. 12_100 ) {
    my $text = Authz::Idp::_b64(
        JSON::PP->new->utf8->canonical->encode( { iss => $issuer, software_id => 'crm', x => 'y' x $pad } ) );
    my $size = length($head) + 1 + length($text) + 1 + 342;
    $padded{at}   = $pad if $size <= 16384;
    $padded{past} = $pad if $size > 16384 && !defined $padded{past};
}
my $sized = sub { my ($pad) = @_; return statement( { iss => $issuer, software_id => 'crm', x => 'y' x $pad } ) };
cmp_ok( length $sized->( $padded{at} ), '>', 16381, 'limit: a statement of 16 KiB' );
taken( register( $sized->( $padded{at} ) ), {}, 'limit: is taken' );
refused( register( $sized->( $padded{past} ) ), 'limit: a longer one is not' );

# Metadata in a statement obey the same rules.
refused(
    register( statement( claims( redirect_uris => ['http://app.example'] ) ) ),
    'a bad redirect address in the statement', 'invalid_redirect_uri' );
refused(
    register( statement( claims( grant_types => ['implicit'] ) ) ), 'a grant in it that is not supported',
    'invalid_client_metadata' );
taken(
    register( statement( claims( redirect_uris => ['https://stated.example/cb'] ) ) ),
    { redirect_uris => ['https://stated.example/cb'] }, 'redirect addresses of the statement count' );
my $bare = taken(
    register(
        statement(
            claims( software_id => undef, software_version => undef ), header => { typ => 'software-statement+jwt' } ),
        software_id => 'crm' ),
    { software_id => undef },
    'software_id beside a statement that has none does not count' );
is( sql("SELECT software_id IS NULL FROM client WHERE client_id = '$bare->{client_id}'"), 't',
    'and is not stored: it would pass for verified (decisions.md "software_id")' );

# ---- keys are rotated

my $before = count( $publisher, 'jwks' );

$publisher->rotate;
my $new = statement( claims() );
taken( register($new), {}, 'an unknown kid: the keys are fetched once more' );
is( count( $publisher, 'jwks' ), $before + 1, 'once' );
$stack->restart_service;    # a worker that still remembers the old set takes the old key for a minute at most
refused( register($jwt),                                      'a statement of the key that is gone' );
refused( register( statement( claims(), kid => 'made-up' ) ), 'an unknown kid' );
is( count( $publisher, 'jwks' ), $before + 1, 'within a minute unknown kids cause no more fetches (oauth.md J8)' );

# ---- entries with more about the issuer

trust( { issuer => $stranger->issuer, jwks_uri => $stranger->issuer . '/jwks', audiences => [ 'us', $stack->base ] } );
refused( register($new), 'an issuer that was struck off is refused at once', 'unapproved_software_statement' );
my $theirs = sub { my (%more) = @_; return $stranger->id_token( claims( iss => $stranger->issuer, %more ) ) };
taken( register( $theirs->( aud => 'us' ) ), {}, 'an entry with jwks_uri: its keys' );
is( count( $stranger, 'discovery' ) . count( $stranger, 'jwks' ), '01', 'without discovery' );
taken( register( $theirs->( aud => [ 'x', $stack->base ] ) ), {}, 'one of several audiences is listed' );
refused( register( $theirs->( aud => 'x' ) ), 'an audience that the entry does not list' );
refused( register( $theirs->() ),             'no audience where the entry lists some' );

# ---- issuers that misbehave

sub misbehaving {
    my ( $name, %how ) = @_;
    my $idp = Authz::Idp->start;
    trust( $idp->issuer );
    $idp->misbehave(%how);
    my $answer = register( $idp->id_token( claims( iss => $idp->issuer ) ) );
    refused( $answer, $name );
    unlike( $answer->body, qr/127\.0\.0\.1/, '... nothing of the address is told' );
    $idp->stop;
    return;
}
misbehaving( 'discovery for another issuer', discovery => { issuer   => 'https://other.example' } );
misbehaving( 'discovery without jwks_uri',   discovery => { jwks_uri => undef } );
misbehaving( 'keys with status 500',         jwks      => { status   => 500 } );
misbehaving( 'keys that are HTML',           jwks      => { type     => 'text/html' } );
misbehaving( 'keys that are no set',         jwks      => { keys     => undef } );
misbehaving( 'keys elsewhere: redirects are not followed (CVE-2026-4366)', jwks => { redirect => "$issuer/jwks" } );
misbehaving( 'keys without end',                                           jwks => { huge     => 100_000 } );
misbehaving( 'an empty key set',                                           jwks => { keys     => [] } );
misbehaving( 'a connection that is closed',                                discovery => { close => 1 } );
trust('http://127.0.0.1:1');
refused( register( statement( claims( iss => 'http://127.0.0.1:1' ) ) ), 'an issuer that is not there' );

# RFC 8414 3.1: the other place of metadata, before the issuer's path.
my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 16, ReuseAddr => 1 )
  or die "no port: $!";
my $tenant = 'http://127.0.0.1:' . $listen->sockport . '/tenant';
my $server = Authz::Process->start(
    name => 'rfc8414',
    code => sub {
        while ( my $client = $listen->accept ) {
            my $text = '';
            while ( $text !~ /\r\n\r\n/ ) { sysread( $client, $text, 4096, length $text ) or last }
            my $found = $text =~ m{\AGET /\.well-known/oauth-authorization-server/tenant HTTP};
            my $json  = $found ? qq({"issuer":"$tenant","jwks_uri":"$issuer/jwks"}) : '{}';
            print {$client} 'HTTP/1.1 '
              . ( $found ? '200 OK' : '404 Not Found' )
              . "\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "
              . length($json)
              . "\r\n\r\n$json";
            close $client;
        }
    } );
trust($tenant);
taken(
    register( statement( claims( iss => $tenant ) ) ), {},
    'keys by oauth-authorization-server where there is no openid-configuration' );
$server->stop;

# http is for the hosts of the settings alone (specification 5.6).
my $strict = Authz::Stack->start( beside => $stack );
trust( { issuer => $issuer, jwks_uri => "$issuer/jwks?strict" } );
refused(
    $strict->http->post(
        '/register', json => { redirect_uris => ['https://app.example/cb'], software_statement => $new } ),
    'an http issuer without SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST' );

# ---- our own issuer: our keys, from the database, never the ID tokens'

trust($issuer);
my $issued = $stack->admin(
    POST => '/admin/api/clients',
    json => {
        clientId => 'own', clientType => 'public', softwareStatement => { software_id => 'own', client_name => 'Own' } }
)->member('issuedSoftwareStatementJwt');
taken( register($issued), { client_name => 'Own', software_id => 'own' }, 'a statement of ours needs no entry' );
is( asked()->{statement}{iss}, $stack->base, 'policy hears whose it is' );
my $forged = claims( iss => $stack->base, exp => time + 600 );
refused(
    register( statement( $forged, header => { typ => 'software-statement+jwt' } ) ),
    'one that others signed in our name' );
refused( register( statement( $forged, header => { typ => 'JWT' } ) ), 'one of ours with another typ' );
refused( register( statement( $forged, header => { typ => undef } ) ), 'one of ours without typ' );
$stack->sql(
    q{UPDATE signing_key SET use = CASE use WHEN 'oidc' THEN 'statement' ELSE 'oidc' END, state = 'retired', retired_at = now() WHERE state = 'active' AND use IN ('oidc', 'statement')}
);
refused( register($issued), 'one signed with a key of ID tokens' );
$stack->sql(
    q{UPDATE signing_key SET use = CASE use WHEN 'oidc' THEN 'statement' ELSE 'oidc' END, state = 'active', retired_at = NULL WHERE state = 'retired' AND use IN ('oidc', 'statement')}
);
taken( register($issued), {}, 'and good again when it is one of statements' );

# ---- the statement cuts (decisions.md "Entitlements")

taken(
    register(
        statement( claims( grants => ['authorization_code'] ) ), grant_types => [qw(authorization_code refresh_token)]
    ),
    { grant_types => ['authorization_code'] },
    'grants: what it does not list is cut' );
taken(
    register(
        statement( claims( grants => ['refresh_token'] ) ), grant_types => [qw(authorization_code refresh_token)] ),
    { grant_types => ['refresh_token'], response_types => [] },
    'grants: without authorization_code there is no response' );
refused(
    register( statement( claims( grants => ['client_credentials'] ) ) ), 'grants: nothing is left',
    'invalid_client_metadata' );
refused(
    register( statement( claims( grants => 'authorization_code' ) ) ), 'grants of another type count as none',
    'invalid_client_metadata' );
my $service = taken(
    register(
        statement(
            claims( grants => ['client_credentials'], scope => 'orders.read', resources => ['https://api.example'] ) ),
        grant_types => ['client_credentials'],
        scope       => 'orders.read orders.write' ),
    { grant_types => ['client_credentials'], scope => 'orders.read' },
    'grants beyond dcr.allowed_grant_types: a trusted issuer decides (specification 4.7); scope: its value counts' );
is( sql("SELECT resource_types FROM client WHERE client_id = '$service->{client_id}'"), '{https://api.example}',
    'resources: stored as policy answered' );
my $binding = {
    grants    => ['client_credentials'], scopes => [qw(orders.read orders.write)],
    resources => [ 'https://api.example', 'https://other.example' ] };
$stack->patch_row( 'svc.entitlements.bindings', { software => { crm => $binding } } );
oauth_ok(
    $stack->token( @$service{qw(client_id client_secret)}, scope => 'orders.read', resource => 'https://api.example' ),
    { scope => 'orders.read' }, 'at /token: the binding of its software_id applies' );
oauth_error(
    $stack->token( @$service{qw(client_id client_secret)}, scope => 'orders.write' ), 400, 'invalid_scope',
    'at /token: its scope cuts' );
oauth_error(
    $stack->token( @$service{qw(client_id client_secret)}, resource => 'https://other.example' ), 400,
    'invalid_target', 'at /token: its resources cut' );
my $dcr =
  $stack->http->post( '/register', json => { redirect_uris => ['https://app.example/cb'], software_id => 'crm' } )
  ->json;
oauth_error(
    $stack->token( @$dcr{qw(client_id client_secret)} ), 400, 'unauthorized_client',
    'at /token: a software_id that no statement vouches for gets nothing' );

# ---- policy

my $row = 'svc.operator.controls.public_client_policy';
$stack->patch_row( $row, { enabled => false, dcr => { require_statement => true } } );
taken( register($new), {}, 'switched off is plain registration only (decisions.md "Registration refused")' );
$stack->patch_row( $row, { enabled => true, dcr => { require_statement => false } } );
my $rule = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/register.rego', kind => 'rego', version => '1', enabled => true,
        content =>
          qq{package custom.register\ndeny contains {"code": "statement_not_trusted", "category": "trust", "message": "not this one"} if input.registration.software_id == "banned"\n}
    } );
is( $rule->status, 201, 'an operator rule is saved' ) or diag( $rule->text );
my $answer = register( statement( claims( software_id => 'banned' ) ) );
refused(
    $answer, 'policy may refuse a statement: unapproved_software_statement (RFC 7591 3.2.2)',
    'unapproved_software_statement' );
is( $answer->member('error_description'), 'not this one', 'in its own words' );
refused(
    register( statement( claims( software_id => 'banned' ), tamper => 1 ) ),
    'but is not asked about a forged one' );

# ---- verification switched off skips only the signature

$stack->restart_service( settings => { SVC_SOFTWARE_STATEMENT_VERIFY => 'false' } );
$before = count( $publisher, 'jwks' );
my $unchecked = taken(
    register(
        statement( claims( grants => ['client_credentials'] ), stranger => 1 ), grant_types => ['client_credentials'],
        scope => 'orders.read' ),
    { client_name => 'Stated' },
    'not verified: a wrong signature is taken' );
is( count( $publisher, 'jwks' ), $before, 'no key is fetched' );
ok( !asked()->{statement}{verified}, 'policy is told that the signature was not verified' );
is( asked()->{registration}{software_id}, undef, 'and no software_id' );
oauth_error(
    $stack->token( @$unchecked{qw(client_id client_secret)} ), 400, 'unauthorized_client',
    'the binding of the software_id does not apply' );
$stack->bind( $unchecked->{client_id}, { %$binding, grants => [qw(client_credentials)] } );
oauth_ok( $stack->token( @$unchecked{qw(client_id client_secret)} ), {}, 'one of its own does' );
ok( !decode_packed( sql(q{SELECT policy_input FROM audit_log WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1}) )
      ->{client}{statement}{verified}, 'and policy still hears it' );
refused(
    register( $stranger->id_token( claims( iss => $stranger->issuer ) ) ),
    'not verified: the issuer must be trusted all the same', 'unapproved_software_statement' );
refused( register( statement( claims( exp => time - 60 ) ) ),              'not verified: an expired one' );
refused( register( statement( claims(), header => { typ => 'at+jwt' } ) ), 'not verified: another kind of token' );
refused( register('x'),                                                    'not verified: no JWT' );
refused(
    register(
        statement( { %$forged, iat => int time, exp => time + 600 }, header => { typ => 'software-statement+jwt' } ) ),
    'not verified: one in our own name is checked all the same, for it needs no entry' );
taken( register($issued), { software_id => 'own' }, 'not verified: a good one of ours is taken' );
ok( asked()->{statement}{verified}, '... as verified' );

# ---- the parts that are away

$stack->restart_service( settings => { SVC_SOFTWARE_STATEMENT_VERIFY => 'true', SVC_POLICY_ENGINE => 'opa' } );
$before = sql('SELECT count(*) FROM client');
$stack->{opa}->stop;
oauth_error(
    register($new), 503, 'temporarily_unavailable',
    'without the engine no client is registered (decisions.md "Engine down, slow or answering nonsense")' );
oauth_error(
    $stack->http->post( '/register', json => { redirect_uris => ['https://app.example/cb'] } ), 503,
    'temporarily_unavailable', 'also without a statement' );
is( sql('SELECT count(*) FROM client') - $before, 0, 'and nothing is stored' );
is( sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'error',
    'audit: an error' );

inputs_ok($stack);

done_testing;

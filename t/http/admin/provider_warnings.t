# A provider with an address that cannot be fetched is stored, and the answer says what is wrong and which setting allows it
# (decisions.md "Warnings about providers"; specification 2.3, 5.6). A sign-in that fails there names the setting in the log.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Process ();
use Authz::Stack   ();

my $path  = '/admin/api/identity-providers';
my $allow = qr/SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST=true and name the host in SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS/;

# Store a provider and return the answer.
sub create {
    my ( $stack, $id, $issuer, %field ) = @_;
    return $stack->admin( POST => $path, json => { idpId => $id, issuer => $issuer, clientId => 'authz', %field } );
}

# The answer is the DTO with these warnings, each a sentence of its own, and the row is stored without them.
sub warns {
    my ( $stack, $answer, $status, $warnings, $name ) = @_;
    my $dto  = $answer->status == $status ? $answer->json : {};
    my $seen = $dto->{warnings};
    is( $answer->status, $status, $name ) or diag( $answer->text );
    if (@$warnings) {
        is( ref $seen, 'ARRAY', '... with warnings' );
        is( scalar @{ $seen // [] }, scalar @$warnings, '... as many as there are faults' ) or diag( explain $seen );
        like( $seen->[$_], $warnings->[$_], '... ' . ( $seen->[$_] // 'missing' ) ) for 0 .. $#$warnings;
    }
    else { ok( !exists $dto->{warnings}, '... without the member warnings' ) or diag( explain $seen ) }
    my $stored = $stack->admin( GET => "$path/" . ( $dto->{idpId} // 'none' ) )->json;
    delete @{$dto}{qw(warnings home)};
    is_deeply( $stored, $dto, '... and the row is stored, where GET shows it without warnings (specification 2.3)' );
    return;
}

sub log_line {
    my ( $stack, $id ) = @_;
    my $found;
    Authz::Process::until_true(
        20,
        sub {
            ($found) = grep {/"request_id":"$id"/} $stack->{service}->log_lines;
            return defined $found;
        } );
    return $found // '';
}

# ---- the settings allow nothing

my $stack = Authz::Stack->start;
my $idp   = Authz::Idp->start;
my @web   = $stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$Authz::Grant::REDIRECT] );

# Begin a sign-in at a provider and return its log line.
sub sign_in {
    my ($id) = @_;
    $stack->http->get(
        '/authorize?' . Authz::Client::form(
            response_type  => 'code', client_id => 'web', redirect_uri => $Authz::Grant::REDIRECT, scope => 'openid',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
            idp_hint       => $id ),
        headers => [ 'X-Request-ID' => "sign-in-$id" ] );
    return log_line( $stack, "sign-in-$id" );
}

warns(
    $stack, create( $stack, 'plain', $idp->issuer ),
    201,    [qr/\Aissuer: not an https URL with a host; to allow http, set $allow\z/],
    'POST: an http issuer is stored, and the answer names the settings' );
like( sign_in('plain'), $allow, 'a sign-in at an http issuer names the settings in its log line' );
is( scalar( my @asked = $idp->seen('discovery') ), 0, '... and nothing was asked of it' );
warns(
    $stack, create( $stack, 'private', 'https://10.11.12.13/x' ),
    201,    [qr/\Aissuer: the host has a private or other special address; to allow it, set $allow\z/],
    'POST: an issuer at a private address is stored, and the answer names the settings' );
like( sign_in('private'), $allow, 'a sign-in at a private address names the settings in its log line' );
warns(
    $stack, create( $stack, 'name', 'https://localhost:1' ),
    201,
    [qr{\Aissuer: fetch of https://localhost:1/\.well-known/openid-configuration: the host has a private .*$allow\z}],
    'POST: so is one whose name leads to such an address' );
like( sign_in('name'), $allow, 'a sign-in there names the settings in its log line' );
warns(
    $stack,
    create(
        $stack, 'mixed', 'https://10.11.12.13',
        tokenEndpoint         => 'http://idp.example/t', userinfoEndpoint => 'https://[::1]/u',
        jwksUri               => 'https://idp.example/k',
        authorizationEndpoint => 'https://idp.example/a' ),
    201,
    [ qr/\Aissuer: /, qr/\AtokenEndpoint: not an https URL.*$allow/, qr/\AuserinfoEndpoint: the host has a private/ ],
    'POST: each member with a fault has a sentence' );
warns(
    $stack, create( $stack, 'nowhere', 'https://idp.invalid' ),
    201,    [qr{\Aissuer: fetch of https://idp\.invalid/\.well-known/openid-configuration: \S}],
    'POST: an issuer whose host has no address is stored, and the answer says so' );
warns(
    $stack, create( $stack, 'off', $idp->issuer . '/off', enabled => JSON::PP::false ),
    201,    [qr/\Aissuer: not an https URL.*$allow/],
    'POST: a disabled provider is told of its address too' );
admin_error(
    create( $stack, 'bad', 'ftp://idp.example' ), 400, 'POST: what is refused has no warnings',
    fields => ['issuer'] );
admin_error( create( $stack, 'plain', 'http://127.0.0.1:2' ), 409, 'POST: nor has a conflict', error => 'conflict' );

my $answered = create( $stack, 'again', 'http://127.0.0.1:3' )->json;
warns(
    $stack, $stack->admin( PUT => "$path/again", json => { %$answered, name => 'Again' } ),
    200,    [$allow],
    'PUT: an answer with warnings can be sent back, and is answered with those of the row as stored' );
warns(
    $stack, $stack->admin( PUT => "$path/again", json => { issuer => 'https://10.0.0.9' } ),
    200,    [qr/private or other special address/],
    'PUT: another issuer is judged anew' );

# ---- a check stores nothing, and has the same guards

sub check {
    my ( $at, $issuer, %field ) = @_;
    return $at->admin( POST => "$path/check", json => { issuer => $issuer, %field } );
}

sub checked {
    my ( $answer, $keys, $warnings, $name ) = @_;
    my $json = $answer->json;
    is( $answer->status,               200,                "check: $name" ) or diag $answer->text;
    is( $json->{keys},                 $keys,              '... keys' );
    is( ( $json->{ok} ? 1 : 0 ),       @$warnings ? 0 : 1, '... ok without warnings alone' );
    is( scalar @{ $json->{warnings} }, scalar @$warnings,  '... as many warnings' ) or diag explain $json;
    like( $json->{warnings}[$_] // '', $warnings->[$_], "... $warnings->[$_]" ) for 0 .. $#$warnings;
    return $json;
}
my $providers = $stack->admin( GET => $path )->body;
admin_error(
    check( $stack, $$_[0], @{ $$_[2] // [] } ),                 400,
    'check: ' . ( $$_[0] // 'no issuer' ) . " is 400 ($$_[1])", fields => [ $$_[1] ] )
  for [ 'ftp://idp.example', 'issuer' ], [ 'https://idp.example?x=1', 'issuer' ], [ undef, 'issuer' ],
  [ 'https://idp.example', 'jwksUri', [ jwksUri => 'x' ] ], [ 'https://idp.example', 'unknown', [ unknown => 1 ] ];
is( check( $stack, 'https://idp.example', unknown => 's3cr3t-of-the-provider' )->body !~ /s3cr3t-of/, 1,
    'check: ... and no value is told again' );
my ( undef, $auditor ) = $stack->authzctl(qw(admin-key mint --label looks --role auditor));
($auditor) = $auditor =~ /^(ak_\S+)$/m;
admin_error(
    $stack->admin( POST => "$path/check", json => { issuer => 'https://idp.example' }, key => $auditor ),
    403, 'check: an auditor may not', error => 'role_required' );
is( $stack->admin( POST => "$path/check", json => { issuer => 'https://idp.example' }, key => undef )->status, 401,
    'check: without a key 401' );
my @nothing = map {qr/\A$_: neither given nor discovered\z/} qw(authorizationEndpoint tokenEndpoint jwksUri);
checked(
    check( $stack, $idp->issuer ), 0, [ qr/\Aissuer: not an https URL.*$allow/, @nothing ],
    'an http issuer is not asked' );
checked(
    check( $stack, 'https://10.11.12.13' ), 0, [ qr/\Aissuer: the host has a private/, @nothing ],
    'nor is a private address' );
checked(
    check( $stack, 'https://localhost:1' ), 0, [ qr/\Aissuer: fetch of .*private/, @nothing ],
    'nor one whose name leads there' );
checked(
    check(
        $stack, 'https://10.11.12.13', authorizationEndpoint => 'https://a.example',
        tokenEndpoint => 'https://[::1]/t', jwksUri => 'http://k.example' ),
    0, [ qr/\Aissuer: /, qr/\AtokenEndpoint: the host has a private/, qr/\AjwksUri: not an https URL/ ],
    'addresses that are given are held against the same rules' );
is( scalar( @asked = $idp->seen('discovery') ), 0, '... and nothing was asked' );

# ---- the settings allow the hosts; one place for fetches

my $free = Authz::Stack->start(
    beside      => $stack,
    web_workers => 2,
    settings    => { Authz::Idp->settings, SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS => '127.0.0.1,idp.invalid' } );
my $good = Authz::Idp->start;
my $found =
  checked( check( $free, $good->issuer, clientSecret => 's3cr3t-of-the-provider' ), 2, [], 'a provider that answers' );
is( $found->{tokenEndpoint}, $good->issuer . '/token', '... with the endpoints that it tells' );
like( $found->{discoveryUrl}, qr{/\.well-known/openid-configuration\z}, '... and where it was asked' );
checked(
    check( $free, $good->issuer, jwksUri => $good->issuer . '/none' ), 0, [qr/\AjwksUri: /],
    'keys that are not there' );
is( $stack->admin( GET => $path )->body,                  $providers, 'check: nothing was stored' );
is( $stack->sql('SELECT count(*) FROM fetched_document'), 0,          '... and no document is kept' );
warns(
    $free, create( $free, 'good', $good->issuer ),
    201,   [], 'POST: an issuer that answers gives no warnings' );
cmp_ok( scalar( @asked = $good->seen('discovery') ), '==', 3, '... and was asked once more' );
warns(
    $free, $free->admin( PUT => "$path/good", json => { issuer => $good->issuer, enabled => JSON::PP::false } ),
    200,   [], 'PUT: a provider is disabled' );
cmp_ok( scalar( @asked = $good->seen('discovery') ), '==', 3, '... without asking it, so that it may be down' );
warns(
    $free, create( $free, 'far', 'http://idp.invalid' ),
    201,
    [   qr/\Aissuer: an http URL of another machine, which SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS allows/,
        qr/\Aissuer: fetch of / ],
    'POST: http to another machine is told of although it is allowed' );
for my $case (
    [ 'status', { status => 503 },                     qr/ answered with the status 503 and no discovery document\z/ ],
    [ 'text',   { body   => 'hello' },                 qr/ did not answer with a JSON object\z/ ],
    [ 'list',   { body   => '[1]' },                   qr/ did not answer with a JSON object\z/ ],
    [ 'mixup',  { issuer => 'https://other.example' }, qr/names another issuer, so no sign-in is accepted/ ],
    [ 'huge',   { huge   => 200_000 },                 qr/the response is too large\z/ ],
    [ 'moved',  { redirect => 'http://127.0.0.1:1/' }, qr/ answered with the status 302 / ] )
{
    my ( $id, $how, $why ) = @$case;
    my $broken = Authz::Idp->start;
    $broken->misbehave( discovery => $how );
    warns( $free, create( $free, $id, $broken->issuer ), 201, [$why], "POST: an issuer with a fault is stored ($id)" );
    $broken->stop;
}

# ---- the try has a place and a time limit, and no transaction waits for it

my $slow = Authz::Idp->start;
$slow->misbehave( discovery => { delay => 8 } );
my $client = $free->client;
my $began  = time;
my $socket = $client->begin(
    $client->octets(
        'POST', $path,
        headers => [ 'X-Admin-API-Key' => $free->settings->{SVC_ADMIN_API_KEY} ],
        json    => { idpId => 'slow', issuer => $slow->issuer, clientId => 'authz' },
        close   => 1 ) );
Authz::Process::until_true( 20, sub { return scalar( my @all = $slow->seen('discovery') ) } );
is( $free->sql("SELECT count(*) FROM identity_provider WHERE idp_id = 'slow'"),
    1, 'while the issuer is asked, the provider is stored already' );
is( $free->sql(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in trans%'"),
    0,
    '... and no transaction waits for it (architecture.md 4)' );
warns(
    $free, create( $free, 'busy', $good->issuer . '/busy' ),
    201,   [qr/\Aissuer: fetch of .*: the maximum number of workers is already fetching/],
    'POST: without a free place for fetches the provider is stored untried, and the answer says so (decisions.md "Half of the pool fetches")'
);
my $answer = $client->end( $socket, 'POST' );
my $took   = time - $began;
warns(
    $free, $answer, 201, [qr/\Aissuer: fetch of .*: the host did not answer in time\z/],
    'POST: an issuer that does not answer is stored' );
cmp_ok( $took, '<', 4.5 * Authz::Process::patience(), '... after 3 s, although SVC_SAFE_HTTP_TIMEOUT_SECONDS is 5' );

done_testing;

# DPoP proofs at POST /token (RFC 9449 4, 5, 10; oauth.md 3.3 D; decisions.md "DPoP replay"): which tokens are bound, which proofs are
# ignored, who is refused, and that a proof is good once.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my %slow  = ( SVC_POLICY_TIMEOUT_MS => 20_000 );
my $stack = Authz::Stack->start( settings => { SVC_DPOP_IAT_WINDOW_SECONDS => 30, %slow } );
my $other = Authz::Stack->start(
    beside   => $stack,
    settings => { SVC_DPOP_IAT_WINDOW_SECONDS => 30, SVC_OIDC_ISSUER => $stack->base, %slow } );
my %code = (
    grants    => [qw(client_credentials authorization_code refresh_token)], scopes => [qw(openid orders.read)],
    endpoints => ['introspect'] );
my @web = $stack->make_client( 'web', {%code} );
$stack->make_client( 'spa', {%code}, clientType => 'public' );
Authz::Grant->people($stack);
my $key  = Authz::Dpop->new;
my $next = Authz::Dpop->new;
my %own  = ( grant_type => 'client_credentials' );

# POST /token of a client, [id, secret] or the id of a public one, with headers.
sub ask {
    my ( $who, $headers, %form ) = @_;
    my @header = ref $who ? Authz::Client::basic(@$who) : ();
    $form{client_id} = $who if !ref $who;
    return $stack->http->post(
        '/token', headers => [ @header, @$headers ],
        form => [ map { ( $_ => $form{$_} ) } sort keys %form ] );
}
sub good { my ( $by, @more ) = @_; return [ $by->show( $stack, '/token', @more ) ] }
sub shown { my ($token) = @_; return $stack->introspect( @web, $token ) }

sub bound {
    my ( $answer, $by, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_ok( $answer, { token_type => 'DPoP' }, $name );
    return oauth_ok(
        shown( $answer->member('access_token') ),
        { active => true, token_type => 'DPoP', cnf => { jkt => $by->jkt } },
        '... bound to the key (RFC 9449 6.2)' );
}

sub plain {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_ok( $answer, { token_type => 'Bearer' }, $name );
    return oauth_ok(
        shown( $answer->member('access_token') ),
        { active => true, token_type => 'Bearer', cnf => undef },
        '... bound to nothing' );
}

# ---- good proofs

bound( ask( \@web, good($key), %own ), $key, 'a proof by ES256 gives a bound token (RFC 9449 5)' );
my $rsa = Authz::Dpop->new('RSA');
bound( ask( \@web, good($rsa), %own ), $rsa, 'a proof by RS256' );
plain( ask( \@web, [],         %own ), 'no proof: a bearer token' );
bound(
    ask( \@web, good( $key, htu => uc( $stack->base ) . '/token?a=b#c' ), %own ),
    $key, 'scheme and host have no case; query and fragment do not count (RFC 9449 4.3)' );
bound( ask( \@web, good( $key, iat => time - 28 ), %own ), $key, 'an iat within SVC_DPOP_IAT_WINDOW_SECONDS' );
bound( ask( \@web, good( $key, iat => time + 25 ), %own ), $key, '... and ahead' );
my @headers = ( Authz::Client::basic(@web), @{ good($key) } );
my $octets  = $stack->client->octets( 'POST', '/token', headers => \@headers, form => [%own], close => 1 );
$octets =~ s/^Host: \S+/Host: evil.example/m;
bound( $stack->client->raw($octets), $key, 'htu is compared with the issuer, never with Host' );

# ---- bad proofs are ignored (specification 4.4; oauth.md S1)

my $wide = Authz::Dpop->new('P-384');
my $at   = $stack->base . '/token';
my %htu  = ( htm => 'POST', htu => $at );
for my $bad (
    [ [ DPoP => 'x' ],                      'a text that is no JWS' ],
    [ [ DPoP => '' ],                       'an empty header' ],
    [ [ @{ good($key) }, @{ good($key) } ], 'two headers (RFC 9449 4.3, 1)' ],
    [ good( $key, htm => 'GET' ),                        'another method' ],
    [ good( $key, htu => $stack->base . '/userinfo' ),   'another path' ],
    [ good( $key, htu => 'https://evil.example/token' ), 'another host' ],
    [ good( $key, iat => time - 40 ),                    'an old iat' ],
    [ good( $key, iat => time + 45 ),                    'an iat too far ahead' ],
    [ good( $key, iat => undef ),                        'no iat' ],
    [ good( $key, jti => undef ),                        'no jti' ],
    [ good( $key, jti => 'j' x 129 ),                    'a jti of 129 octets' ],
    [ good($wide),                                                             'an alg outside SVC_DPOP_SIGNING_ALGS' ],
    [ [ DPoP => $key->proof( claims => {%htu}, header => { typ => 'JWT' } ) ], 'another typ' ],
    [ [ DPoP => $key->proof( claims => {%htu}, header => { alg => 'none' } ) ],     'alg none' ],
    [ [ DPoP => $key->proof( claims => {%htu}, header => { alg => 'HS256' } ) ],    'alg HS256' ],
    [ [ DPoP => $key->proof( claims => {%htu}, header => { jwk => undef } ) ],      'no jwk' ],
    [ [ DPoP => $key->proof( claims => {%htu}, header => { jwk => $next->jwk } ) ], 'a jwk that did not sign' ],
    [   [ DPoP => $key->proof( claims => {%htu}, header => { jwk => { %{ $key->jwk }, d => 'AAAA' } } ) ],
        'a private jwk' ],
  )
{
    plain( ask( \@web, $bad->[0], %own ), "ignored: $bad->[1]" );
}
like(
    $stack->sql(
        q{SELECT string_agg(DISTINCT request_summary, ' ') FROM audit_log WHERE endpoint = '/token' AND request_summary LIKE '%iat%'}
    ),
    qr/\{"dpop":"iat is missing/,
    'audit: the row says why a proof was ignored' );
unlike(
    $stack->sql(q{SELECT string_agg(a::text, ' ') FROM audit_log a}), qr/invalid_dpop_proof/,
    'invalid_dpop_proof appears nowhere (specification 4.4)' );

# ---- a proof is good once (RFC 9449 11.1)

my $once = good($key);
bound( ask( \@web, $once,                       %own ), $key, 'the first use of a proof' );
plain( ask( \@web, $once,                       %own ), 'the second is ignored' );
bound( ask( \@web, good( $key, jti => 'same' ), %own ), $key, 'a jti of our own' );
plain( ask( \@web, good( $key, jti => 'same' ), %own ), '... again in another proof' );
bound(
    ask( \@web, good( $next, jti => 'same' ), %own ), $next,
    '... but not by another key (decisions.md "DPoP replay")' );
my $stolen = $key->proof( claims => { %htu, jti => 'stolen' } );
( my $broken = $stolen ) =~ s/\.([^.])([^.]*)\z/'.' . ( $1 eq 'A' ? 'B' : 'A' ) . $2/e;
plain( ask( \@web, [ DPoP => $broken ], %own ), 'a copy with another signature is ignored' );
bound( ask( \@web, [ DPoP => $stolen ], %own ), $key, '... and does not use the proof up' );

for my $round ( 1 .. 3 ) {
    my @header = ( Authz::Client::basic(@web), @{ good($key) } );
    my @job =
      map { [ $_, $_->octets( 'POST', '/token', headers => \@header, form => [%own], close => 1 ) ] } $stack->client,
      $other->client;
    my %count;
    $count{ $_->status == 200 ? $_->member('token_type') : $_->failure // $_->status }++
      for Authz::Client::together( map { $job[ $_ % 2 ] } 1 .. 32 );
    is_deeply(
        \%count, { DPoP => 1, Bearer => 31 },
        "32 at once on two instances: exactly one is accepted, round $round" );
}
is( $stack->sql(
        q{SELECT count(*) > 0 AND bool_and(forget_at BETWEEN now() + interval '40 seconds' AND now() + interval '60 seconds') FROM dpop_proof}
    ),
    't',
    'it is remembered for twice the window (decisions.md "DPoP replay")' );
$stack->sql(q{UPDATE dpop_proof SET forget_at = now() - interval '61 seconds'});
$stack->authzctl('maintain');
is( $stack->sql('SELECT count(*) FROM dpop_proof'), 0, '... and forgotten afterwards by housekeeping' );

# ---- clients that must send one (RFC 9449 5.2; oauth.md "D outcomes")

$stack->patch_row(
    'svc.entitlements.bindings',
    {   registrations =>
          { DCR => { grants => [qw(authorization_code refresh_token)], scopes => [qw(openid orders.read)] } } } );
my $made = $stack->http->post(
    '/register',
    json => {
        redirect_uris => ['https://app.example/cb?x=1'],         token_endpoint_auth_method => 'none',
        grant_types   => [qw(authorization_code refresh_token)], dpop_bound_access_tokens   => true } );
is( $made->status, 201, 'a client registers dpop_bound_access_tokens (RFC 9449 5.2)' ) or diag $made->text;
is( $made->member('dpop_bound_access_tokens'), true, '... and the answer says so' );
my $must = $made->member('client_id');

sub redeem {
    my ( $who, $headers, %option ) = @_;
    my $code = delete $option{code}
      // Authz::Grant->code( $stack, client => ref $who ? $who->[0] : $who, scope => 'openid orders.read', %option );
    return ask( $who, $headers, Authz::Grant->redemption($code) );
}
my $kept = Authz::Grant->code( $stack, client => $must, scope => 'openid' );
my $used = good($key);
ask( \@web, $used, %own );
oauth_error(
    redeem( $must, [], code => $kept ),
    400, 'invalid_request', 'no proof: refused (decisions.md "DPoP replay")' );
oauth_error( redeem( $must, [ DPoP => 'x' ], code => $kept ), 400, 'invalid_request', 'a bad proof: the same' );
oauth_error( redeem( $must, $used,           code => $kept ), 400, 'invalid_request', 'a proof that was used before' );
my $first = redeem( $must, good($key), code => $kept );
bound( $first, $key, 'a good one: a bound token; the code was not used up' );
oauth_error(
    ask( $must, [], grant_type => 'refresh_token', refresh_token => $first->member('refresh_token') ),
    400, 'invalid_request', 'a refresh without proof' );

# ---- refresh tokens of public clients (RFC 9449 5)

sub refresh {
    my ( $who, $token, $headers ) = @_;
    return ask( $who, $headers, grant_type => 'refresh_token', refresh_token => $token );
}
my $answer = redeem( 'spa', good($key) );
bound( $answer, $key, 'a public client redeems a code with a proof' );
my $refresh = $answer->member('refresh_token');
oauth_error( refresh( 'spa', $refresh, [] ), 400, 'invalid_grant', 'its refresh token without proof (RFC 9449 5)' );
oauth_error( refresh( 'spa', $refresh, [ DPoP => 'x' ] ), 400, 'invalid_grant', '... with a bad one' );
oauth_error( refresh( 'spa', $refresh, good($next) ),     400, 'invalid_grant', '... with another key' );

for my $time ( 1, 2 ) {
    my $again = refresh( 'spa', $refresh, good($key) );
    bound( $again, $key, "... with its key, time $time" );
    is( $again->member('refresh_token'), $refresh, '... keeps it (decisions.md "Refresh tokens")' );
}
my $loose = redeem( 'spa', [] )->member('refresh_token');
my $swap  = refresh( 'spa', $loose, good($key) );
bound( $swap, $key, 'a refresh token that is bound to no key, with a proof: a bound access token' );
isnt( $swap->member('refresh_token'), $loose, '... and the refresh token is rotated as before (RFC 9700 4.14.2)' );
my $ours = redeem( \@web, good($key) );
bound( $ours, $key, 'a confidential client redeems a code with a proof' );
bound(
    refresh( \@web, $ours->member('refresh_token'), good($next) ),
    $next, '... and refreshes with another key: its credentials bind the token (RFC 9449 5)' );
plain( refresh( \@web, $ours->member('refresh_token'), [] ), '... or with none' );

# ---- dpop_jkt (RFC 9449 10)

sub code_for { my ($who) = @_; return Authz::Grant->code( $stack, client => $who, dpop_jkt => $key->jkt ) }
for my $who ( 'spa', \@web ) {
    my $id   = ref $who ? $who->[0] : $who;
    my $code = code_for($id);
    oauth_error( redeem( $who, [], code => $code ), 400, 'invalid_grant', "$id: a code with dpop_jkt, without proof" );
    oauth_error( redeem( $who, good($next), code => $code ), 400, 'invalid_grant', "$id: ... with another key" );
    bound( redeem( $who, good($key), code => $code ), $key, "$id: ... with its key" );
}

# A thief who redeems a code first, with a key of his own, does not keep what he got.
my $code  = Authz::Grant->code( $stack, client => 'spa', scope => 'openid orders.read' );
my $theft = redeem( 'spa', good($next), code => $code );
bound( $theft, $next, 'a stolen code' );
oauth_error( redeem( 'spa', good($key), code => $code ), 400, 'invalid_grant', '... is a replay for its owner' );
inactive( shown( $theft->member('access_token') ), '... which ends the family of the thief (RFC 9700 4.14)' );

# ---- policy (policy.md 6.2, 6.4)

$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => { 'urn:r:vault' => { scopes => ['orders.read'] } } } } );
$stack->bind( 'web', { %code, resource_types => ['urn:r:vault'] } );
$stack->patch_row( 'svc.operator.controls.authentication', { dpop_required_resource_types => ['urn:r:vault'] } );
my %vault = ( %own, resource_types => 'urn:r:vault' );
my $no    = ask( \@web, [], %vault );
oauth_error( $no, 400, 'access_denied', 'policy demands a bound token for a resource type' );
is( $no->member('error_description'), 'the resource requires a DPoP-bound token', '... and says so (dpop_required)' );
oauth_error( ask( \@web, [ DPoP => 'x' ], %vault ), 400, 'access_denied', '... a bad proof is none' );
bound( ask( \@web, good($key), %vault ), $key, '... with a proof it is given, and introspection sees the key' );
my ($input) = grep { $_->{evaluation} eq 'issue' } reverse Authz::Inputs::stored($stack);
is_deeply(
    $input->{environment}{dpop}, { present => true, valid => true, jkt => $key->jkt, required => false },
    'policy input: environment.dpop (policy.md 6.2)' );
inputs_ok($stack);

# ---- switched off

my $off =
  Authz::Stack->start( beside => $stack, settings => { SVC_DPOP_ENABLED => 'false', SVC_OIDC_ISSUER => $stack->base } );
my $as = sub { my ( $headers, @form ) = @_; return $off->http->post( '/token', headers => $headers, form => \@form ) };
is( $as->( [ Authz::Client::basic(@web), @{ good($key) } ], %own )->member('token_type'),
    'Bearer', 'SVC_DPOP_ENABLED=false: proofs are ignored' );
oauth_error(
    $as->( good($key), client_id => 'spa', grant_type => 'refresh_token', refresh_token => $refresh ),
    400, 'invalid_grant', '... bound refresh tokens are refused' );
oauth_error(
    $as->(
        good($key), client_id => $must, grant_type => 'refresh_token', refresh_token => $first->member('refresh_token')
    ),
    400,
    'invalid_request',
    '... and clients that must send a proof' );
my $meta = '/.well-known/openid-configuration';
is( $off->http->get($meta)->member('dpop_signing_alg_values_supported'), undef, '... and nothing is advertised' );
is_deeply(
    $stack->http->get($meta)->member('dpop_signing_alg_values_supported'),
    [qw(ES256 RS256)], 'discovery names SVC_DPOP_SIGNING_ALGS (RFC 9449 5.1)' );
oauth_error(
    $off->http->post(
        '/register', json => { redirect_uris => ['https://a.example/cb'], dpop_bound_access_tokens => true } ),
    400,
    'invalid_client_metadata',
    '... and nobody can register for it' );

for my $algs ( 'none', 'ES256,HS256', 'es256' ) {
    my ( $status, $text ) = Authz::Process->run(
        name    => 'check', env => { %{ $stack->settings }, SVC_DPOP_SIGNING_ALGS => $algs },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
    is( $status, 78, "SVC_DPOP_SIGNING_ALGS=$algs is refused at start" );
    like( $text, qr/^authz\.fcgi: SVC_DPOP_SIGNING_ALGS: /m, '... with its name' );
}

done_testing;

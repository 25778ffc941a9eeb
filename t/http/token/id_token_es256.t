# ID tokens by ES256 for the clients that ask for it: id_token_signed_response_alg (OpenID Connect Dynamic Client Registration 2),
# idTokenSignedResponseAlg of ClientDto, SVC_OIDC_ID_TOKEN_ALGS, and both keys from the first publication to the last
# (decisions.md "ID tokens by ES256").
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Jwt     ();
use Authz::Process ();
use Authz::Stack   ();

my $CACHE = 300;
my $stack = Authz::Stack->start( settings => { SVC_OIDC_JWKS_CACHE_SECONDS => $CACHE } );
my %code  = ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [qw(openid profile email)] );
my $back  = 'https://app.example/cb';
Authz::Grant->people($stack);

# The published keys, without those of JWT access tokens, which are of both algorithms always (world.md T2).
sub keys_now {
    my %access = map { ( $_ => 1 ) } split /\n/, $stack->sql(q{SELECT kid FROM signing_key WHERE use = 'access'});
    return grep { !$access{ $_->{kid} } } @{ $stack->http->get('/.well-known/jwks.json')->member('keys') };
}

sub algs {
    return join ' ', map { $_->{alg} } grep { $_->{use} eq 'sig' } @_;
}
sub sql { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }

# The states of the keys of ID tokens, by algorithm.
sub states {
    return sql( q{SELECT coalesce(string_agg(alg || ' ' || state, ', ' ORDER BY alg DESC, state), '') FROM signing_key}
          . q{ WHERE use = 'oidc'} );
}
sub kid { return sql("SELECT kid FROM signing_key WHERE use = 'oidc' AND alg = '$_[0]' AND state = '$_[1]'") }

sub put   { my ( $id, %field ) = @_; return $stack->admin( PUT => "/admin/api/clients/$id", json => {%field} ) }
sub shown { return $stack->admin( GET => "/admin/api/clients/$_[0]" )->member('idTokenSignedResponseAlg') }

sub supported {
    return join ' ',
      @{ $stack->http->get('/.well-known/openid-configuration')->member('id_token_signing_alg_values_supported') };
}
sub register { return $stack->http->post( '/register', json => { redirect_uris => [$back], @_ } ) }

sub redeem {
    my ($who) = @_;
    return Authz::Grant->redeem( $stack, $who, Authz::Grant->code( $stack, client => $who->[0], scope => 'openid' ) );
}
sub id_token { my ($who) = @_; my $answer = redeem($who); return $answer->member('id_token') // die $answer->text }
sub header   { return ( Authz::Grant->jwt( $_[0] ) )[0] }
sub alg      { return header( id_token( $_[0] ) )->{alg} }

# ---- the default: RS256 alone

is( supported(),        'RS256',                    'default: discovery lists RS256 alone (specification 4.1)' );
is( algs( keys_now() ), 'RS256 RS256 RS256 RS256',  'default: and all published keys are of RS256' );
is( states(),           'RS256 active, RS256 next', 'default: there are no other keys' );
my $refused = register( id_token_signed_response_alg => 'ES256' );
oauth_error(
    $refused, 400, 'invalid_client_metadata',
    'default: a registration for ES256 is refused, because the client would expect it' );
like( $refused->text, qr/id_token_signed_response_alg/, '... by the name of the member' );
is( register( id_token_signed_response_alg => 'RS256' )->member('id_token_signed_response_alg'), 'RS256',
    'default: RS256 may be asked for by its name, and is told back (RFC 7591 3.2.1)' );
is( register()->member('id_token_signed_response_alg'), undef, '... and is not told where it was not asked for' );
my $answer = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'no', clientType => 'confidential', idTokenSignedResponseAlg => 'ES256' } );
is( $answer->status, 400, 'default: so does the admin API' );
like( $answer->text, qr/idTokenSignedResponseAlg.*SVC_OIDC_ID_TOKEN_ALGS/s, '... and names the setting' );

my @plain = $stack->make_client( 'plain', {%code} );
my @web   = $stack->make_client( 'web',   {%code} );
my $old   = id_token( \@plain );
is( header($old)->{alg}, 'RS256', 'default: a client gets RS256' );

# ---- ES256 is listed: its key is published before it signs

$stack->restart_service( settings => { SVC_OIDC_ID_TOKEN_ALGS => 'RS256,ES256' } );
is( supported(), 'RS256 ES256',                          'listed: discovery lists both' );
is( states(),    'RS256 active, RS256 next, ES256 next', 'listed: the first key of ES256 is the next one' );
my ($first) = grep { $_->{alg} eq 'ES256' } keys_now();
is( join( ' ', sort keys %$first ),   'alg crv kid kty use x y', 'listed: it is published, the public members alone' );
is( "@{$first}{qw(kty crv use kid)}", 'EC P-256 sig ' . kid( 'ES256', 'next' ), '... as a P-256 key to sign' );
is( algs( keys_now() ),               'RS256 RS256 ES256 RS256 RS256',          '... behind those of RS256' );
is( put( 'web', clientType => 'confidential', idTokenSignedResponseAlg => 'ES256' )->status,
    200, 'listed: the administrator gives a client ES256' );
is( shown('web'),   'ES256', '... which ClientDto shows' );
is( shown('plain'), undef,   '... and no other client has it' );
is( alg( \@web ), 'RS256',
    'publication: before all verifiers know the key, the client gets RS256 (OpenID Connect Core 3.1.3.7, rule 7)' );
my ( $status, $text ) = $stack->authzctl('maintain');
is( $status,  0,                                      'maintain: runs' ) or diag($text);
is( states(), 'RS256 active, RS256 next, ES256 next', '... and does not make a young key active' );
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 1, 'keys rotate: neither does it' );
like( $text, qr/Not all verifiers know the next key yet; try again in \d+ seconds/, '... it says when' );
is( states(), 'RS256 active, RS256 next, ES256 next', '... and rotates no other key meanwhile' );
sql("UPDATE signing_key SET created_at = created_at - interval '$CACHE seconds' WHERE alg = 'ES256'");
$stack->authzctl('maintain');
is( kid( 'ES256', 'active' ), '', 'maintain: nor in the second after the last answer without it was made' )
  if sql("SELECT now() - created_at < interval '301 seconds' FROM signing_key WHERE use = 'oidc' AND alg = 'ES256'") eq
  't';
sql("UPDATE signing_key SET created_at = created_at - interval '1 second' WHERE alg = 'ES256'");
$stack->authzctl('maintain');
is( states(), 'RS256 active, RS256 next, ES256 active, ES256 next',
    'maintain: after SVC_OIDC_JWKS_CACHE_SECONDS it is active' );
is( kid( 'ES256', 'active' ), $first->{kid}, '... the key that was published' );

# ---- tokens

$stack->restart_service;    # a process keeps the key of RS256 for a while
my $got   = redeem( \@web );
my $token = $got->member('id_token') // die $got->text;
my ( $header, $claims ) = Authz::Grant->jwt($token);
is( join( ' ', map {"$_=$header->{$_}"} sort keys %$header ), "alg=ES256 kid=$first->{kid} typ=JWT",
    'ID token: by ES256, the key named by kid' );
ok( Authz::Jwt::verifies( $token,                                         $first ), '... which OpenSSL verifies' );
ok( !Authz::Jwt::verifies( $token =~ s/[.]\K(.)/$1 eq 'a' ? 'b' : 'a'/er, $first ), '... and which covers the claims' );
is( $claims->{at_hash},
    Authz::Grant::base64url( substr Digest::SHA::sha256( $got->member('access_token') ), 0, 16 ),
    'ID token: at_hash is of SHA-256 (OpenID Connect Core 3.1.3.6)' );
my $renewed = Authz::Grant->refresh( $stack, \@web, $got->member('refresh_token') );
ok( Authz::Jwt::verifies( $renewed->member('id_token'), $first ), 'refresh: the new ID token is by ES256 too' );
is( alg( \@plain ), 'RS256', 'ID token: a client that asks for none gets RS256' );
my @both = map { id_token( \@web ) } 1 .. 20;
is( scalar( grep { Authz::Jwt::verifies( $_, $first ) } @both ), 20,
    'ID token: r and s have 32 octets each, whatever they begin with' );

# ---- the client

for my $case (
    [ { clientName               => 'Web' },   'ES256', 'a PUT without the member keeps it' ],
    [ { idTokenSignedResponseAlg => 'RS256' }, 'RS256', 'RS256 by its name' ],
    [ { idTokenSignedResponseAlg => 'ES256' }, 'ES256', 'ES256 again' ],
    [ { idTokenSignedResponseAlg => undef },   undef,   'null removes it' ],
  )
{
    my ( $field, $wanted, $name ) = @$case;
    is( put( 'web', clientType => 'confidential', %$field )->status, 200,     "ClientDto: $name" );
    is( shown('web'),                                                $wanted, '... is shown' );
    is( alg( \@web ), $wanted // 'RS256',                                     '... and signed by, without delay' );
}
for my $bad ( 'none', 'HS256', 'ES384', 'es256', '', 7, ['ES256'] ) {
    is( put( 'web', clientType => 'confidential', idTokenSignedResponseAlg => $bad )->status,
        400, 'ClientDto: refused: ' . ( ref $bad ? 'a list' : "'$bad'" ) );
}
is( put( 'web', clientType => 'confidential', idTokenSignedResponseAlg => 'ES256', scope => 'openid' )->member('scope'),
    'openid', 'ClientDto: scope stands beside it' );
my $made = register( id_token_signed_response_alg => 'ES256', grant_types => ['authorization_code'] );
is( $made->status,                                 201,     'registration: ES256 is taken where it is listed' );
is( $made->member('id_token_signed_response_alg'), 'ES256', '... and told back' );
my @dynamic = map { $made->member($_) } qw(client_id client_secret);
is( shown( $dynamic[0] ), 'ES256', '... the administrator sees it' );
sql("UPDATE client SET redirect_uris = '{$Authz::Grant::REDIRECT}' WHERE client_id = '$dynamic[0]'");
$stack->bind( $dynamic[0], {%code} );
is( alg( \@dynamic ), 'ES256', '... and the client gets it' );

for my $bad (qw(none HS256 ES384 es256)) {
    oauth_error(
        register( id_token_signed_response_alg => $bad ), 400, 'invalid_client_metadata',
        "registration: refused: $bad" );
}
( $status, $text ) = $stack->authzctl(qw(client update web --id-token-alg RS256));
is( $status,      0,       'authzctl client update: has an option for it' ) or diag($text);
is( shown('web'), 'RS256', '... which sets it' );
put( 'web', clientType => 'confidential', idTokenSignedResponseAlg => 'ES256' );

# ---- id_token_hint

sub hinted {
    return $stack->http->get( '/logout?' . Authz::Client::form( id_token_hint => $_[0], client_id => 'plain' ) );
}
like(
    hinted($token)->body, qr/issued to another client/,
    'id_token_hint: an ID token by ES256 is read, and names its client' );
like( hinted($old)->body, qr/\A(?!.*issued to another client)/s, '... one by RS256 too' );
my ( $head, $body, $signature ) = split /[.]/, $token;
my $other = ( split /[.]/, $both[0] )[2];
my $hs    = Authz::Grant::base64url('{"alg":"HS256"}');
for my $case (
    [ "$head.$body.$other",                                  'the signature of another token' ],
    [ "$head.$body." . Authz::Grant::base64url( "\0" x 64 ), 'r and s of zero (CVE-2022-21449)' ],
    [   "$head.$body." . Authz::Grant::base64url( MIME::Base64::decode_base64url($signature) . "\0" ),
        'a signature with an octet more' ],
    [   Authz::Grant::base64url(qq({"alg":"RS256","typ":"JWT","kid":"$header->{kid}"})) . ".$body.$signature",
        'RS256 with the key of ES256' ],
    [ Authz::Grant::base64url(qq({"alg":"none","typ":"JWT"})) . ".$body.", 'no signature' ],
    [ "$hs.$body.$signature",                                              'HS256' ],
  )
{
    unlike( hinted( $case->[0] )->body, qr/issued to another client/, "id_token_hint: not read: $case->[1]" );
}

# ---- rotation of both

my %next = map { ( $_ => kid( $_, 'next' ) ) } qw(RS256 ES256);
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 1, 'keys rotate: refused while the next key of one algorithm is young' ) or diag($text);
sql("UPDATE signing_key SET created_at = created_at - interval '301 seconds'");
( $status, $text ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 0, 'keys rotate: done' ) or diag($text);
like( $text, qr/\bES256\b/, '... and the list names the algorithms' );
is( states(),
    'RS256 active, RS256 next, RS256 retired, ES256 active, ES256 next, ES256 retired',
    'rotation: both keys are rotated' );
is( kid( $_, 'active' ), $next{$_}, "rotation: the next key of $_ is active" ) for sort keys %next;
is( alg( \@web ),        'ES256',   'rotation: the client still gets ES256' );
my ($still) = grep { $_->{kid} eq $first->{kid} } keys_now();
ok( $still && Authz::Jwt::verifies( $token, $still ),
    'rotation: the retired key is published, so an old ID token verifies' );
$stack->restart_service;
is( header( id_token( \@web ) )->{kid},   $next{ES256}, 'rotation: then the next key of ES256 signs' );
is( header( id_token( \@plain ) )->{kid}, $next{RS256}, 'rotation: and the next key of RS256' );

# A key that does not open is an error, and not a reason to take the other one.
sql(q{UPDATE signing_key SET private_sealed = private_sealed || '\x00' WHERE alg = 'ES256' AND state = 'active'});
is( $stack->ready_as(503)->status, 503, 'a key of ES256 that does not open: the service is not ready' );
sql(    q{UPDATE signing_key SET private_sealed = substr(private_sealed, 1, length(private_sealed) - 1)}
      . q{ WHERE alg = 'ES256' AND state = 'active'} );
$stack->ready_as(200);

# ---- ES256 is no longer listed

my $last = id_token( \@web );
is( header($last)->{alg}, 'ES256', 'the last ID token by ES256' );
$stack->restart_service( settings => { SVC_OIDC_ID_TOKEN_ALGS => 'RS256' } );
is( supported(), 'RS256', 'withdrawn: discovery lists RS256 alone' );
is( states(), 'RS256 active, RS256 next, RS256 retired, ES256 retired, ES256 retired, ES256 retired',
    'withdrawn: the keys of ES256 are retired' );
is( alg( \@web ), 'RS256',
    'withdrawn: the client gets RS256, which it must accept (OpenID Connect Core 3.1.3.7, rule 7)' );
my ($key) = grep { $_->{kid} eq header($last)->{kid} } keys_now();
ok( $key && Authz::Jwt::verifies( $last, $key ), 'withdrawn: the key stays published, so the last ID token verifies' );
like( hinted($last)->body, qr/issued to another client/, '... and is read as id_token_hint' );
is( shown('web'), 'ES256', 'withdrawn: ClientDto shows the algorithm that the client asked for' );
is( put( 'web', clientType => 'confidential', clientName => 'W', idTokenSignedResponseAlg => 'ES256' )->status,
    200, '... which may stay when other members change' );
is( put( 'plain', clientType => 'confidential', idTokenSignedResponseAlg => 'ES256' )->status,
    400, '... but no other client can get it' );
sql("UPDATE signing_key SET retired_at = now() - interval '86410 seconds' WHERE state = 'retired'");
is( algs( keys_now() ), 'RS256 RS256 RS256 RS256',
    'withdrawn: after SVC_OIDC_KEY_RETIREMENT_SECONDS the key set is the default one' );
unlike( hinted($last)->body, qr/issued to another client/, '... and the last ID token is read no more' );

# Without a cache no verifier can lack the key.
$stack->authzctl('maintain');
$stack->restart_service( settings => { SVC_OIDC_ID_TOKEN_ALGS => 'ES256,RS256', SVC_OIDC_JWKS_CACHE_SECONDS => 0 } );
is( states(),     'RS256 active, RS256 next, ES256 active, ES256 next', 'no cache: a new algorithm signs at once' );
is( alg( \@web ), 'ES256',                                              '... for the clients that asked for it' );

done_testing;

# POST /token with an authorization code (RFC 6749 4.1.3, RFC 7636, RFC 8707; oauth.md 3.3; decisions.md "Tokens").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my %code  = (
    grants => [ 'authorization_code', 'refresh_token' ],
    scopes => [ 'openid', 'email', 'orders.read', 'orders.write' ] );
my @web = $stack->make_client(
    'web',
    { %code, resources => [ 'https://api.example', 'https://two.example/a' ], authorization_details => ['payment'] } );
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
$stack->make_client( 'spa', {%code}, clientType => 'public' );
my @once = $stack->make_client( 'plain', { %code, grants => ['authorization_code'] } );
my @none = $stack->make_client( 'none',  { %code, grants => ['client_credentials'] } );
Authz::Grant->people($stack);

# Codes and tokens: texts that must not appear anywhere else.
my @secret = ( $web[1], $Authz::Grant::VERIFIER );

sub code { my (%option) = @_; push @secret, Authz::Grant->code( $stack, client => 'web', %option ); return $secret[-1] }

sub redeem {
    my ( $code, %over ) = @_;
    my $answer = Authz::Grant->redeem( $stack, \@web, $code, %over );
    push @secret, grep {defined} map { $answer->member($_) } qw(access_token refresh_token id_token);
    return $answer;
}

sub row {
    my ($column) = @_;
    return $stack->sql("SELECT $column FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1");
}

# ---- success

my $first  = code( scope => 'openid orders.read' );
my $answer = redeem($first);
oauth_ok(
    $answer,
    {   access_token => qr/\Aat_/, refresh_token => qr/\Art_/, id_token => qr/\A[\w-]+[.][\w-]+[.][\w-]+\z/,
        token_type   => 'Bearer',  expires_in    => 3600,      scope    => same_words('openid orders.read') },
    'code: access, refresh and ID token, and the scope, always (specification 2.12)' );
my $access = $answer->member('access_token');
oauth_ok(
    $stack->introspect( @rs, $access ),
    { active => true, sub => 'alice', client_id => 'web', username => 'alice.ex', idp => 'corp', scope => qr/orders/ },
    'code: the access token is its user\'s (specification 2.13)' );
is( row('granted_scope'), 'openid orders.read', 'code: the family remembers what was granted' );
my $audit = $stack->sql(
    "SELECT subject_id, client_id, outcome, http_status, flow_id IS NOT NULL FROM audit_log WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1"
);
is( $audit, "alice\tweb\tallowed\t200\tt", 'code: the audit row names user and client' );
oauth_ok(
    redeem( code( scope => 'orders.read' ) ), { id_token => undef, refresh_token => qr/\Art_/ },
    'code: no ID token without the scope openid (OpenID Connect Core 3.1.2.1)' );
oauth_ok( redeem( code( scope => undef ) ), { scope => '' }, 'code: without a scope the token has an empty one' );
oauth_ok(
    redeem( code( scope => 'orders.read admin' ) ), { scope => 'orders.read' },
    'code: policy may grant less than was asked' );
oauth_ok(
    redeem( code( scope => 'openid orders.read' ), scope => 'orders.write' ),
    { scope => same_words('openid orders.read') }, 'code: a scope at /token is no parameter of this grant' );

# ---- clients that get a refresh token

oauth_ok(
    Authz::Grant->redeem( $stack, 'spa', Authz::Grant->code( $stack, client => 'spa' ) ),
    { refresh_token => qr/\Art_/ }, 'code: a public client redeems by its client_id' );
oauth_ok(
    Authz::Grant->redeem( $stack, \@once, Authz::Grant->code( $stack, client => 'plain' ) ),
    { refresh_token => undef, id_token => qr/./ },
    'code: no refresh token without the grant in the binding (decisions.md "Refresh tokens")' );
$stack->sql("UPDATE client SET grant_types = '{authorization_code}' WHERE client_id = 'web'");
oauth_ok(
    redeem( code() ), { refresh_token => undef, access_token => qr/./ },
    '... nor for a client that registered other grant types' );
$stack->sql("UPDATE client SET grant_types = '{refresh_token}' WHERE client_id = 'web'");
oauth_error(
    redeem( code() ), 400, 'unauthorized_client',
    'code: a client that did not register this grant (oauth.md C14)' );
$stack->sql("UPDATE client SET grant_types = '{authorization_code,refresh_token}' WHERE client_id = 'web'");
oauth_ok( redeem( code() ), { refresh_token => qr/./ }, '... and with both registered' );
$stack->sql("UPDATE client SET grant_types = NULL WHERE client_id = 'web'");
oauth_error(
    Authz::Grant->redeem( $stack, \@none, Authz::Grant->code( $stack, client => 'none' ) ), 400,
    'unauthorized_client', 'code: a client that policy does not let use codes' );
is( row('redeemed_at IS NULL'), 't', '... its code is not consumed' );

# ---- missing parameters

oauth_error( redeem( code(), $_ => undef ), 400, 'invalid_request', "code: $_ missing (oauth.md S5)" )
  for qw(redirect_uri);
oauth_error( redeem(undef), 400, 'invalid_request', 'code: code missing' );

# ---- what is no good, and does not consume the code

my $kept    = code( nonce => 'n-1' );
my $other   = Authz::Grant->code( $stack, client => 'spa' );
my %refused = (
    'another redirect_uri'                   => [ redirect_uri  => 'https://app.example/cb' ],
    'a redirect_uri in another case'         => [ redirect_uri  => 'https://APP.example/cb?x=1' ],
    'no verifier'                            => [ code_verifier => undef ],
    'another verifier'                       => [ code_verifier => 'a' x 43 ],
    'the challenge as verifier: never plain' => [ code_verifier => Authz::Grant::challenge($Authz::Grant::VERIFIER) ],
    'a verifier of 42 characters'            => [ code_verifier => 'a' x 42 ],
    'a verifier of 129 characters'           => [ code_verifier => 'a' x 129 ],
    'a verifier with a character it cannot have' => [ code_verifier => ( 'a' x 42 ) . '+' ],
);
oauth_error( redeem( $kept, @{ $refused{$_} } ), 400, 'invalid_grant', "code: $_ (oauth.md 3.3)" )
  for sort keys %refused;
oauth_error( redeem($other),                               400, 'invalid_grant', "code: another client's" );
oauth_error( Authz::Grant->redeem( $stack, 'spa', $kept ), 400, 'invalid_grant', '... and the other way round' );
oauth_error(
    redeem( $kept, resource => 'https://api.example' ), 400, 'invalid_target',
    'code: a resource when none was authorized (RFC 8707 2.2)' );
oauth_error( redeem( $kept, resource_types => 'urn:r:orders' ), 400, 'invalid_target', '... nor a type' );
oauth_error(
    redeem( $kept, authorization_details => '[{"type":"payment"}]' ), 400, 'invalid_authorization_details',
    'code: details that were not authorized' );
oauth_error( redeem( $kept, authorization_details => '{' ), 400, 'invalid_request', '... that are not JSON' );
oauth_ok( redeem($kept), { id_token => qr/./ },              'code: after all of those it is still good' );
oauth_ok( Authz::Grant->redeem( $stack, 'spa', $other ), {}, '... and the other one too' );

my $bare = code( verifier => undef );
oauth_error( redeem($bare), 400, 'invalid_grant', 'code: a verifier though no challenge was sent (RFC 9700 2.1.1)' );
oauth_ok( redeem( $bare, code_verifier => undef ), {}, '... without it, for a confidential client (oauth.md S4)' );
$bare = code( verifier => undef );
$stack->sql("UPDATE client SET client_type = 'public' WHERE client_id = 'web'");
oauth_error(
    Authz::Grant->redeem( $stack, 'web', $bare, code_verifier => undef ), 400, 'invalid_grant',
    '... but not for one that is public by now: it has nothing to show but the code (specification 5)' );
oauth_ok( Authz::Grant->redeem( $stack, 'web', code() ), {}, '... which redeems one with a challenge' );
$stack->sql("UPDATE client SET client_type = 'confidential' WHERE client_id = 'web'");
oauth_ok( redeem( $bare, code_verifier => undef ), {}, '... and with its secret again the first one' );

for my $length ( 43, 128 ) {
    my $verifier = ( '0Az-._~' x 20 );
    $verifier = substr $verifier, 0, $length;
    oauth_ok(
        redeem( code( verifier => $verifier ), code_verifier => $verifier ), {},
        "code: a verifier of $length characters of all kinds (RFC 7636 4.1)" );
}
oauth_error( redeem( code( expires => '-1 second' ) ), 400, 'invalid_grant', 'code: expired' );
oauth_error( redeem('garbage'),                        400, 'invalid_grant', 'code: none of ours' );
oauth_error( redeem($access),                          400, 'invalid_grant', 'code: an access token is none' );
oauth_error(
    redeem( ( Authz::Grant->token( 'ac', time + 60 ) )[0] ), 400, 'invalid_grant',
    'code: well-formed, but unknown' );
oauth_error(
    redeem( ( Authz::Grant->token( 'ac', time + 86400 * 400 ) )[0] ), 400, 'invalid_grant',
    'code: of a time that is none of ours' );
my ($forged) = code();
$stack->sql(
    q{UPDATE token_grant SET code_hash = decode(repeat('00', 32), 'hex') WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)}
);
oauth_error( redeem($forged), 400, 'invalid_grant', 'code: a known id with another secret' );

# ---- people and providers that are gone

my $late = code();
$stack->sql("UPDATE identity_provider SET enabled = false WHERE idp_id = 'corp'");
oauth_error( redeem($late), 400, 'invalid_grant', 'code: its provider was disabled' );
$stack->sql("UPDATE identity_provider SET enabled = true WHERE idp_id = 'corp'");
oauth_ok( redeem($late), {}, '... and enabled again' );

# ---- resources

my $two = 'https://two.example/a';
my %res = ( scope => 'orders.read', resource => $two );
oauth_ok( redeem( code(%res) ), {}, 'code: the authorized resource is the token\'s' );
is( $stack->sql('SELECT resource FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1'), $two,
    '... also when /token does not name it' );
oauth_ok( redeem( code(%res), resource => $two ), {}, 'code: the same resource at /token' );
oauth_error( redeem( code(%res), resource => 'https://api.example' ), 400, 'invalid_target', 'code: another one' );
oauth_error(
    redeem( code(%res), resource => "$two/" ), 400, 'invalid_target',
    'code: a slash at the end of a path names another' );
oauth_error( redeem( code(%res), resource => 'no uri' ), 400, 'invalid_target', 'code: no URI' );
oauth_ok(
    redeem( code( %res, resource => 'https://api.example' ), resource => 'https://api.example/' ), {},
    'code: an empty path and / are one (oauth.md 2.7)' );
oauth_error(
    redeem( code( %res, resource => 'https://no.example' ) ), 400, 'invalid_target',
    'code: a resource that policy refuses' );
is( row('redeemed_at IS NULL'), 't', '... does not consume the code' );

# ---- authorization details

$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => {} }, rar => { types => { payment => {} } } } );
my @details = ( { type => 'payment', amount => 50 } );
oauth_ok(
    redeem( code( scope => undef, details => \@details ) ),
    { authorization_details => sub { ref $_[0] && $_[0][0]{amount} == 50 } },
    'code: authorization_details are carried to the token (RFC 9396 7)' );
oauth_ok(
    redeem( code( scope => undef, details => \@details ), authorization_details => '[{"amount":50,"type":"payment"}]' ),
    {}, '... and may be named again as they are' );
oauth_error(
    redeem( code( scope => undef, details => \@details ), authorization_details => '[{"amount":51,"type":"payment"}]' ),
    400, 'invalid_authorization_details', '... but not others' );

# ---- a replay ends the family

my $replayed = code( scope => 'openid orders.read' );
my $won      = redeem($replayed);
my %live     = map { $_ => $won->member("${_}_token") } qw(access refresh);
oauth_error( Authz::Grant->redeem( $stack, 'spa', $replayed ), 400, 'invalid_grant', 'replay: by another client' );
oauth_ok(
    $stack->introspect( @rs, $live{access} ), { active => true },
    '... which ends nothing: a thief could sign its owner out' );
oauth_error( redeem( $replayed, @{ $refused{$_} } ), 400, 'invalid_grant', "replay: $_ (decisions.md \"Codes\")" )
  for sort keys %refused;
oauth_ok(
    $stack->introspect( @rs, $live{access} ), { active => true },
    '... ends nothing: who could not have redeemed the code cannot revoke with it' );
oauth_ok(
    Authz::Grant->refresh( $stack, \@web, $live{refresh} ), { refresh_token => $live{refresh} },
    '... and the refresh token lives' );
oauth_error( redeem($replayed), 400, 'invalid_grant', 'replay: with the right client, redirect_uri and verifier' );
inactive( $stack->introspect( @rs, $live{access} ), 'replay: the access token is dead (RFC 6749 4.1.2)' );
oauth_error(
    Authz::Grant->refresh( $stack, \@web, $live{refresh} ), 400, 'invalid_grant',
    '... and the refresh token' );
is( $stack->sql(
        q{SELECT request_summary::json->>'family' FROM audit_log WHERE endpoint = '/token' AND outcome = 'rejected' AND request_summary::json->>'family' IS NOT NULL ORDER BY id DESC LIMIT 1}
    ),
    'revoked',
    '... which the audit row says' );
oauth_error( redeem($replayed), 400, 'invalid_grant', 'replay: once more' );

# ---- a client that changed between the cache and the write

my $stale = code();
$stack->sql("UPDATE client SET client_name = 'changed' WHERE client_id = 'web'");
oauth_ok( redeem($stale), {}, 'code: a changed client is read again, and the code is good' );
my $dead = code();
$stack->sql("UPDATE client SET enabled = false WHERE client_id = 'web'");
oauth_error( redeem($dead), 401, 'invalid_client', 'code: a disabled client' );
$stack->sql("UPDATE client SET enabled = true WHERE client_id = 'web'");
oauth_ok( redeem($dead), {}, '... does not consume it' );

# ---- what is left behind

my %left = ( log => $stack->{service}->log_text, rows => '', documents => '' );
$left{rows} .= $stack->sql("SELECT string_agg(t::text, ' ') FROM $_ t")
  for qw(audit_log token_grant refresh_token access_token);
my $packed = $stack->sql(
    'SELECT policy_input FROM audit_log WHERE policy_input IS NOT NULL UNION ALL SELECT policy_decision FROM audit_log WHERE policy_decision IS NOT NULL'
);
$left{documents} .= JSON::PP->new->encode( decode_packed($_) ) for split /\n/, $packed;
like( $left{$_}, qr/web/, "left behind: there are $_" ) for sort keys %left;
cmp_ok( scalar @secret, '>', 60, '... and many secrets' );
for my $place ( sort keys %left ) {
    my @found = grep { index( $left{$place}, $_ ) >= 0 } @secret;
    is( scalar @found, 0, "... none of which is in the $place" );
}

done_testing;

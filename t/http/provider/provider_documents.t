# Where a provider's metadata stand, and other texts of its issuer (world.md U8; OpenID Connect Discovery 4.3; RFC 9207).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $back  = $Authz::Grant::REDIRECT;
my $path  = '/admin/api/identity-providers';
$stack->make_client( 'app', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

sub sign_in {
    my ($hint)  = @_;
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $back, scope => 'openid',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
            idp_hint       => $hint ),
        stop => qr{\A\Q$back\E} );
    return ( $browser->url =~ /\A\Q$back\E/ ? Authz::Browser::query( $browser->url ) : (), page => $hop[-1] );
}
sub code_of { my ($hint) = @_; return { sign_in($hint) }->{code} }

# ---- discoveryUrl

my $idp    = Authz::Idp->start;
my $issuer = 'https://login.example/tfp/one';
my %named  = map { $_ => { ( $_ eq 'discovery' ? 'issuer' : 'iss' ) => $issuer } } qw(discovery authorize id_token);
my $url    = $idp->issuer . '/elsewhere/metadata';
$idp->misbehave(%named);
my $row = $idp->register( $stack, idpId => 'b2c', issuer => $issuer, discoveryUrl => $url );
is( $row->{discoveryUrl}, $url, 'discoveryUrl of the row' );
is_deeply( $row->{warnings} // [], [], '... and the save asked there (U8)' ) or diag( explain( $row->{warnings} ) );
ok( defined code_of('b2c'), 'a sign-in by metadata that stand elsewhere' );
is( $stack->sql('SELECT DISTINCT issuer FROM subject'), $issuer, '... its people are of the issuer' );
my $check = $stack->admin( POST => "$path/check", json => { issuer => $issuer, discoveryUrl => $url } )->json;
is( $check->{discoveryUrl}, $url, 'the check asks there' );
ok( $check->{ok}, '... and finds all' ) or diag( explain($check) );

my $liar = Authz::Idp->start;
$liar->register(
    $stack, idpId => 'liar', issuer => 'https://other.example',
    discoveryUrl => $liar->issuer . '/elsewhere/metadata' );
my %got = sign_in('liar');
is( $got{page}->status, 502, 'a document there that names another issuer than the row' );
like( $got{page}->body, qr{<code>issuer_other</code>}, '... is issuer_other (OpenID Connect Discovery 4.3)' );

my $n = 0;

sub create {
    my (%more) = @_;
    return $stack->admin( POST => $path, json => { issuer => 'https://i' . ++$n . '.example', %more } );
}
is( create( discoveryUrl => 'https://x.example/m?a=b' )->status, 201, 'discoveryUrl: https, a query is kept' );
my $http = create( discoveryUrl => 'http://x.example/m' );
is( $http->status, 400, 'discoveryUrl: http of a host that the settings do not allow' );
like( $http->body, qr/discoveryUrl.*SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS/s, '... which names the setting' );
is( create( discoveryUrl => $_ )->status, 400, "discoveryUrl '" . substr( $_, 0, 30 ) . "' is refused" )
  for 'x', 'ftp://x.example', 'https://x.example/#f', 'https://u:p@x.example/', '', 'https://x.example/' . 'a' x 495;
is( create( discoveryUrl => 'https://x.example/' . 'a' x 494 )->status, 201, '... 512 characters are taken' );
my $kept = create(
    idpId        => 'kept', issuer => 'https://kept.example', clientSecret => 'x',
    discoveryUrl => 'https://k.example/m' );
is( $kept->status, 201, 'a provider with a secret' );
my $moved = $stack->admin(
    PUT  => "$path/kept",
    json => { issuer => 'https://kept.example', discoveryUrl => 'https://thief.example/m' } );
is( $moved->status, 400, 'a stored secret goes to no endpoint of another discoveryUrl' );
like( $moved->body, qr/clientSecret/, '... and must be given again' );

# ---- issuerAliases

my $google = Authz::Idp->start;
my $alias  = 'accounts.google.example';
$google->register( $stack, idpId => 'google', issuerAliases => [ $alias, 'https://second.example' ] );
for my $text ( $google->issuer, $alias, 'https://second.example' ) {
    $google->misbehave( id_token => { iss => $text } );
    ok( defined code_of('google'), "an ID token with iss $text" );
    $google->misbehave( authorize => { iss => $text } );
    ok( defined code_of('google'), '... and a callback' );
    $google->misbehave(
        userinfo => {
            type => 'application/jwt',
            body => $google->id_token( { sub => 'ann', iss => $text, aud => 'authz', department => $text } ) } );
    ok( defined code_of('google'), '... and signed userinfo' );
}
is( $stack->sql( q{SELECT count(*) FROM subject WHERE issuer = '} . $google->issuer . q{'} ),
    1, 'one person, of the issuer, whatever text the answers have' );
for my $text ( "$alias/", uc $alias, "https://$alias", 'https://third.example' ) {
    $google->misbehave( id_token => { iss => $text } );
    is( { sign_in('google') }->{error}, 'access_denied', "iss $text is refused" );
    $google->misbehave( authorize => { iss => $text } );
    is( { sign_in('google') }->{error}, 'access_denied', '... at the callback, too' );
}
$google->behave;

# A text of iss names one provider.
my $taken = create( idpId => 'thief', issuer => $google->issuer . '/x', issuerAliases => [$alias] );
is( $taken->status, 409, 'an alias that is another row\'s alias is 409' );
is( create( issuerAliases => [ $google->issuer ] )->status,      409, 'an alias that is another row\'s issuer is 409' );
is( create( issuer        => 'https://second.example' )->status, 409, 'an issuer that is another row\'s alias is 409' );
is( create( idpId         => 'free', issuer => 'https://free.example' )->status, 201, 'another one is free' );
my $put = sub {
    my (%more) = @_;
    return $stack->admin( PUT => "$path/free", json => { issuer => 'https://free.example', %more } );
};
is( $put->( issuerAliases => [$alias] )->status,         409, 'PUT: a taken alias is 409' );
is( $put->( issuerAliases => ['mine.example'] )->status, 200, 'PUT: a free one' );
is( $put->( issuerAliases => ['mine.example'] )->status, 200, '... again' );
is( create( issuerAliases => ['mine.example'] )->status, 409, '... is taken then' );
is( $put->()->status,                                    200, '... and free again without it' );
is( create( issuerAliases => ['mine.example'] )->status, 201, '... for another row' );
is( $put->( issuerAliases => ['https://free.example'] )->status, 400,
    'an alias that is the issuer itself says nothing' );
is( $put->( issuerAliases => [qw(a.example b.example)] )->status, 200, 'two aliases' );
is( $put->( issuerAliases => [qw(a b c)] )->status,               400, 'three aliases are refused' );
is( $put->( issuerAliases => $_->[0] )->status,                   400, "refused: issuerAliases $_->[1]" )
  for [ [''], 'with an empty text' ], [ 'a', 'as a text' ], [ [ 'x' x 513 ], 'of 513 characters' ];

# An ID token with an alias as subject token is of the same person (RFC 8693).
my $urn  = 'urn:ietf:params:oauth:grant-type:token-exchange';
my @gate = $stack->make_client( 'gate', { grants    => [$urn], scopes => ['openid'] } );
my @rs   = $stack->make_client( 'rs',   { endpoints => ['introspect'] } );
$stack->patch_row(
    'svc.operator.controls.trust',
    { trusted_issuers => [ { issuer => 'https://second.example', jwks_uri => $google->issuer . '/jwks' } ] } );
my $now   = int time;
my %claim = (
    iss   => 'https://second.example', sub => 'ann', aud => 'authz', iat => $now, exp => $now + 300,
    name  => 'Ann Example',
    email => 'ann@example.org', department => 'x' );
my $answer = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@gate) ],
    form => [
        grant_type         => $urn, subject_token                                => $google->id_token( \%claim ),
        subject_token_type => 'urn:ietf:params:oauth:token-type:id_token', scope => 'openid' ] );
is( $answer->status, 200, 'an ID token with an alias is exchanged' ) or diag( $answer->text );
is( $stack->introspect( @rs, $answer->member('access_token') )->json->{idp}, 'google', '... as one of the provider' );
is( $stack->sql(q{SELECT count(*) FROM subject WHERE upstream_sub = 'ann' AND idp_id = 'google'}), 1,
    '... and the same person' );
$stack->sql(q{UPDATE identity_provider SET enabled = false WHERE idp_id = 'google'});
isnt(
    $stack->introspect( @rs, $answer->member('access_token') )->json->{active}, JSON::PP::true(),
    '... which ends with the provider' );

done_testing;

# What stock providers send at a sign-in, and what a person's claims are then (world.md U1, U8).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 2 } );
my $base  = $stack->base;
my $json  = JSON::PP->new->utf8->canonical;
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $redirect_uri = 'https://app.example/cb';
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$redirect_uri] );

# Sign in with a new browser. Return what came back to the client (nothing if the browser is not there), the last page and its
# status.
sub sign_in {
    my (%more)  = @_;
    my $browser = Authz::Browser->new;
    my %form    = (
        response_type  => 'code', client_id => 'app', redirect_uri => $redirect_uri, state => 'st', scope => 'openid',
        code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method => 'S256', idp_hint => 'corp', %more );
    my @hop  = $browser->follow( "$base/authorize?" . Authz::Client::form(%form), stop => qr{\A\Q$redirect_uri\E} );
    my %back = $browser->url =~ /\A\Q$redirect_uri\E/ ? Authz::Browser::query( $browser->url ) : ();
    return ( %back, text => $hop[-1]->text, status => $hop[-1]->status );
}

sub claims_of {
    my ($sub) = @_;
    return $json->decode( $stack->sql("SELECT claims FROM subject WHERE upstream_sub = '$sub'") || '{}' );
}

sub goes_on {
    my ( $name, %more ) = @_;
    my %got = sign_in(%more);
    return ok( defined $got{code}, $name ) || diag( explain( \%got ) );
}

# ---- members that are null or empty (U8)

my @null = (
    [ null_endpoint  => discovery => { null                 => ['end_session_endpoint'] } ],
    [ empty_endpoint => discovery => { end_session_endpoint => '', userinfo_endpoint => '' } ],
    [ null_methods   => discovery => { null                 => ['token_endpoint_auth_methods_supported'] } ],
    [   null_in_key => jwks => {
            keys => [
                map {
                    { %$_, alg => undef, use => '' }
                } @{ $idp->published } ] } ],
    [ empty_refresh_token => token => { refresh_token => '', scope => '', null => ['expires_in'] } ],
);
my $number = 0;
for my $row (@null) {
    my ( $name, $endpoint, $how ) = @$row;
    my $fresh = Authz::Idp->start;
    my $id    = 'null-' . ++$number;
    $fresh->misbehave( $endpoint => $how );
    $fresh->register( $stack, idpId => $id );
    goes_on( "$name: null and \"\" are absent (U8)", idp_hint => $id );
}
$idp->user( { sub => 'nil', userinfo => { nickname => '', department => 'x' } } );
$idp->misbehave( userinfo => { null => ['locale'] } );
goes_on('null and "" of userinfo are absent (U8)');
is_deeply( claims_of('nil'), { department => 'x' }, '... and are no claims' );
$idp->misbehave( token => { refresh_token => 7 } );
is( { sign_in() }->{code}, undef, 'a refresh token that is a number stays malformed' );
my $number_there = Authz::Idp->start;
$number_there->misbehave( discovery => { end_session_endpoint => 7 } );
$number_there->register( $stack, idpId => 'seven' );
is( { sign_in( idp_hint => 'seven' ) }->{code}, undef, 'an endpoint that is a number stays a bad document' );

# ---- an access token without token_type (U1)

$idp->user( { sub => 'typed', userinfo => { department => 'x' } } );
$idp->misbehave( token => { token_type => 'DPoP' } );
my $before = () = $idp->seen('userinfo');
goes_on('a token answer of another token_type');
is( scalar( () = $idp->seen('userinfo') ), $before, '... whose token is not sent (RFC 6749 7.1)' );
for my $how ( [ undef, 'no_token_type' ], [ '', 'an empty token_type' ] ) {
    $stack->sql('DELETE FROM subject');
    $idp->misbehave( token => { token_type => $how->[0] } );
    goes_on("$how->[1]: the access token counts as Bearer (U1)");
    is( claims_of('typed')->{department}, 'x', '... and userinfo is joined' );
}

done_testing;

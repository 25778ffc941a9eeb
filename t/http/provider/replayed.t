# Identity providers and MCP clients that no test can have, replayed from t/vectors/world: what is kept of a provider's claims, and that
# a client registers and gets a code for the gateway (world.md U1 to U5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Path    ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $back  = 'https://app.example/cb';
my $json  = JSON::PP->new->utf8->canonical->relaxed;
my %world =
  map { ( $_ => $json->decode( Authz::Web::edit( Authz::Path::source( 't', 'vectors', 'world', "$_.json" ) ) ) ) }
  qw(providers clients);
$stack->make_client( 'app', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

# Sign in with a new browser, and allow. Return what came back to the client, and the last page.
sub sign_in {
    my ( $client, $redirect_uri, %more ) = @_;
    my $browser = Authz::Browser->new;
    my %stop    = ( stop => qr{\A\Q$redirect_uri\E\?} );
    my $page    = (
        $browser->follow(
            "$base/authorize?" . Authz::Client::form(
                response_type => 'code', client_id => $client, redirect_uri => $redirect_uri, state => 'st',
                code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
                %more ),
            %stop ) )[-1];
    $page = ( $browser->submit( $page, button => [ decision => 'allow' ], %stop ) )[-1]
      if $page->body =~ /name="decision"/;
    return ( page => $page, $browser->url =~ $stop{stop} ? Authz::Browser::query( $browser->url ) : () );
}

# ---- providers

my $number = 0;
for my $name ( sort keys %{ $world{providers} } ) {
    my $of  = $world{providers}{$name};
    my $id  = 'p' . ++$number;
    my $idp = Authz::Idp->start;
    $idp->register( $stack, idpId => $id, %{ $of->{row} // {} } );
    $idp->user( { %{ $of->{id_token} }, userinfo => $of->{userinfo} // {} } );
    my %got = sign_in( 'app', $back, scope => 'openid', idp_hint => $id );
    is( $got{error} // 'a code', $of->{error} // 'a code', "$name: what the application gets" )
      or diag( $got{page}->text );
    my $kept = $json->decode(
        $stack->sql("SELECT claims FROM subject WHERE idp_id = '$id' AND upstream_sub = '$of->{id_token}{sub}'")
          || '{}' );
    my %named = map { ( $_ => $kept->{$_} ) } keys %{ $of->{claims} };
    is_deeply( \%named, $of->{claims}, '... and what is kept of the claims (U1 to U5)' )
      or diag( $json->encode($kept) );
    $idp->stop;
}

# ---- clients

my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'people' );
$idp->user( { sub => 'ann', name => 'Ann' } );
$stack->patch_row(
    'svc.entitlements.bindings',
    {   registrations => {
            DCR =>
              { grants => [qw(authorization_code refresh_token)], scopes => ['mcp'], resources => ['urn:svc:gateway'] }
        } } );
for my $name ( sort keys %{ $world{clients} } ) {
    my $of   = $world{clients}{$name};
    my $made = $stack->http->post( '/register', json => $of->{registration} );
    is( $made->status, 201, "$name registers itself" ) or diag( $made->text );
    my %got = sign_in(
        $made->member('client_id'), $of->{redirect_uri},
        scope => 'mcp', resource => "$base/gateway/mcp", idp_hint => 'people' );
    ok( defined $got{code}, '... and gets a code' ) or diag( $got{page}->text );
}
done_testing;

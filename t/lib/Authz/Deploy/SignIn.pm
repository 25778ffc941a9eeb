package Authz::Deploy::SignIn;

# A person signs in through each way of running the program: cookies, redirects, pages and queries pass the web server as they
# are, with and without a path of the issuer.

use strict;
use warnings;

use Exporter qw(import);
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();

our @EXPORT_OK = qw(sign_in);

my $BACK = 'http://127.0.0.1:9/callback?own=1&x=%2F';

sub sign_in {
    my ($self) = @_;
    my ( $stack, $web ) = @$self{qw(stack web)};
    my $idp = Authz::Idp->start;
    $idp->register( $stack, idpId => "idp-$web" );
    my @client = $stack->make_client(
        "site-$web",
        { grants => [qw(authorization_code refresh_token)], scopes => [qw(openid email)] }, redirectUris => [$BACK] );
    my $browser = Authz::Browser->new;
    my $state   = 'a b+c%2F&=/?"<\'\\';
    my $target  = $stack->base . $self->at('/authorize') . '?' . Authz::Client::form(
        response_type => 'code',         client_id => $client[0], redirect_uri => $BACK,
        scope         => 'openid email', state     => $state,     idp_hint     => "idp-$web" );
    my @hop  = $browser->follow( $target, stop => qr{\Ahttp://127\.0\.0\.1:9/} );
    my %came = Authz::Browser::query( $browser->url );
    like( $browser->url, qr{\A\Q$BACK\E&}, "$web: a sign-in comes back to the client, whose own query stays" )
      or diag( map { $_->text } $hop[-1] );
    is( $came{state}, $state,                        "$web: state comes back octet for octet" );
    is( $came{iss},   $stack->base . $stack->{path}, "$web: with our issuer (RFC 9207)" );
    my @cookie = grep { $_->{name} =~ /svc_/ } $browser->cookies($target);
    ok( @cookie == 2 && !grep( { $_->{path} ne ( $stack->{path} || '/' ) } @cookie ),
        "$web: two cookies, for the issuer's path" ) or diag explain \@cookie;
    my $token = $stack->http->post(
        $self->at('/token'), headers => [ Authz::Client::basic(@client) ],
        form => [ grant_type => 'authorization_code', code => $came{code} // '', redirect_uri => $BACK ] );
    oauth_ok( $token, {}, "$web: the code is redeemed" );
    my $user = $stack->http->get(
        $self->at('/userinfo'),
        headers => [ Authz::Client::bearer( $token->member('access_token') // '' ) ] );
    is( $user->member('email'), 'ann@example.org', "$web: /userinfo says who" );
    my $again = ( $browser->follow( $target, stop => qr{\Ahttp://127\.0\.0\.1:9/} ) )[0];
    like( $again->header('Location') // '', qr/[?&]code=/, "$web: the session is known the next time" );
    my $page = $stack->http->get( $self->at('/authorize?client_id=nobody') );
    is( $page->status, 400, "$web: an error page keeps its status" );
    like( $page->header('Content-Security-Policy') // '', qr/frame-ancestors 'none'/, "$web: ... and its policy" );
    like( $page->body,                                    qr{<html.*</html>}s,        "$web: ... and its text" );
    return;
}

1;

# A program on the user's machine gets any free port, so the port of an http loopback redirect_uri is free for every client
# (RFC 8252 7.3). Another process may hold the port that a confidential client did not register, and inject the code into a
# sign-in of its own there: the request needs a code_challenge then (world.md F7, RFC 9700 4.5).
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $http  = $stack->client;
$idp->register($stack);
my %may  = ( grants => ['authorization_code'], scopes => ['openid'] );
my %kind = ( 'http://127.0.0.1' => 'v4', 'http://[::1]' => 'v6', 'http://localhost' => 'name' );
my %client =
  map { ( $_ => [ $stack->make_client( $kind{$_}, {%may}, redirectUris => ["$_:8000/callback"] ) ] ) } sort keys %kind;
my $challenge = Authz::Grant::challenge($Authz::Grant::VERIFIER);

sub asked {
    my ( $client, $back, @more ) = @_;
    return '/authorize?' . Authz::Client::form(
        response_type => 'code',   client_id => $client->[0], redirect_uri => $back,
        scope         => 'openid', state     => 's',          @more );
}

sub is_page {
    my ( $client, $back, $name, @more ) = @_;
    my $answer = $http->get( asked( $client, $back, @more ) );
    is( $answer->status,             400,   "$name: a page" );
    is( $answer->header('Location'), undef, "$name: ... and no redirect" );
    return $answer->body;
}

# Sign in until the code comes back, and return it.
sub code {
    my ( $client, $back ) = @_;
    my $browser = Authz::Browser->new;
    $browser->follow( $stack->base . asked( $client, $back, code_challenge => $challenge ), stop => qr{\A\Q$back\E\?} );
    my %answer = Authz::Browser::query( $browser->url );
    return $answer{code};
}

# ---- ipv6, and its neighbours: each with its own host

for my $kind ( sort keys %kind ) {
    my $client = $client{$kind};
    for my $back ( "$kind:9/callback", "$kind/callback" ) {
        my $code = code( $client, $back );
        ok( $code, "$back: a confidential client that sends a challenge gets the code there" ) or next;

        # token_with_other_port: the code is for the address that it was sent to (RFC 6749 4.1.3)
        oauth_error(
            Authz::Grant->redeem( $stack, $client, $code, redirect_uri => "$kind:8000/callback" ), 400,
            'invalid_grant', '... which /token refuses with the registered port' );
        $code = code( $client, $back );
        oauth_error(
            Authz::Grant->redeem( $stack, $client, $code, redirect_uri => $back, code_verifier => 'x' x 43 ), 400,
            'invalid_grant', '... and with another verifier: an injected code (RFC 9700 4.5)' );
        is( Authz::Grant->redeem( $stack, $client, code( $client, $back ), redirect_uri => $back )->status,
            200, '... and takes with its own' );
    }
}

# ---- confidential_other_port_no_pkce

for my $kind ( sort keys %kind ) {
    my $page = is_page( $client{$kind}, "$kind:9/callback", "$kind: another port without a challenge" );
    like( $page, qr/must send a code_challenge/, '... that says what to send' );
    is_page( $client{$kind}, "$kind:9/callback", "$kind: ... with an empty one", code_challenge => '' );
    is_page(
        $client{$kind}, "$kind:9/callback", "$kind: ... with two",
        code_challenge => $challenge, code_challenge => $challenge );
    is_page( $client{$kind}, "$kind:9/callback", "$kind: ... with a method alone", code_challenge_method => 'S256' );
    like(
        $http->get( asked( $client{$kind}, "$kind:8000/callback" ) )->header('Location'),
        qr{\A\Q@{[ $idp->issuer ]}\E/},
        "$kind: the registered port needs none" );
}
my @challenge = ( code_challenge => $challenge, code_challenge_method => 'S256' );
my $plain     = $http->get(
    asked(
        $client{'http://127.0.0.1'}, 'http://127.0.0.1:9/callback', code_challenge => $challenge,
        code_challenge_method => 'plain' ) );
like( $plain->header('Location'), qr/[?&]error=invalid_request/, 'plain is no challenge: the client gets the error' );

# The registration changes while the person signs in: the port of the waiting request is no longer registered.
my $moved   = $client{'http://127.0.0.1'};
my $browser = Authz::Browser->new;
my $first   = $browser->get( $stack->base . asked( $moved, 'http://127.0.0.1:8000/callback' ) );
my $row     = $stack->admin( GET => "/admin/api/clients/$moved->[0]" )->json;
is( $stack->admin(
        PUT  => "/admin/api/clients/$moved->[0]",
        json => { %$row, redirectUris => ['http://127.0.0.1:8001/callback'] } )->status,
    200,
    'the registered port changes' );
my $there = $browser->get( $first->header('Location') );
my $late  = $browser->get( $there->header('Location') );
is( $late->status,                   400, 'a request without a challenge that waits for the old port: a page' );
is( $late->header('Location') // '', '',  '... and no code goes there' );
is( $stack->sql('SELECT count(*) FROM token_grant WHERE code_challenge IS NULL'), 0, '... because none was made' );

# ---- localhost_is_not_127, userinfo_trick: hosts are not interchangeable (RFC 8252 8.3), and nothing but the port is free

my $v4 = $client{'http://127.0.0.1'};
is_page( $v4, $_->[0], $_->[1], @challenge )
  for [ 'http://localhost:8001/callback', 'localhost is not 127.0.0.1' ],
  [ 'http://[::1]:8001/callback',                 'nor is ::1' ],
  [ 'http://127.0.0.2:8001/callback',             'nor is another address of the network' ],
  [ 'http://127.0.0.1:9@evil.example/callback',   'user information that looks like a port' ],
  [ 'http://127.0.0.1@evil.example/callback',     'user information that looks like the host' ],
  [ 'http://127.0.0.1:9\\@evil.example/callback', 'a backslash' ],
  [ 'http://127.0.0.1.evil.example:9/callback',   'a longer host' ],
  [ 'http://127.0.0.1:65536/callback',            'port 65536' ],
  [ 'http://127.0.0.1:0/callback',                'port 0' ],
  [ 'https://127.0.0.1:9/callback',               'https' ],
  [ 'http://127.0.0.1:9/callback/',               'another path' ],
  [ 'http://127.0.0.1:9/callback?x=y',            'a query more' ];
is_page( $client{'http://localhost'}, 'http://127.0.0.1:9/callback', '127.0.0.1 is not localhost', @challenge );
ok( code( $v4, 'http://127.0.0.1:65535/callback' ), 'port 65535 is one' );
my @web = $stack->make_client( 'web', {%may}, redirectUris => ['https://app.example/callback'] );
is_page( \@web, 'https://app.example:9/callback', 'a port of any other host', @challenge );

done_testing;

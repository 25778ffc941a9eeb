# GET and POST /logout (OpenID Connect RP-Initiated Logout 1.0; oauth.md 5 "Logout").
use strict;
use warnings;

use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $base = $stack->base;
my $back = 'https://app.example/cb';
my %bye  = (
    crm  => 'https://app.example/bye?x=1', native => 'http://127.0.0.1:7777/bye',
    tool => 'http://127.0.0.1:7777/bye' );
my %secret;
for my $id (qw(crm wiki native tool)) {
    my @type = $id eq 'native' ? ( clientType => 'public' ) : ();
    ( undef, $secret{$id} ) = $stack->make_client(
        $id, { grants => ['authorization_code'], scopes => ['openid'] }, clientName => "The $id",
        redirectUris => [$back],
        $bye{$id} ? ( postLogoutRedirectUris => [ $bye{$id} ] ) : (), @type );
}

# Clients that registered themselves, and one whose address is a program's.
for my $row (
    [ dcr   => 'DCR',       'https://dcr.example/bye?x=1' ],
    [ other => 'DCR',       'https://other.example/bye' ],
    [ vouch => 'STATEMENT', 'https://vouch.example/bye' ],
    [ cimd  => 'CIMD',      'https://cimd.example/bye' ],
    [ app   => 'DCR',       'com.example.app:/bye' ] )
{
    my ( $id, $kind, $uri ) = @$row;
    $bye{$id} = $uri;
    ( undef, $secret{$id} ) = $stack->make_client(
        $id, { grants => ['authorization_code'], scopes => ['openid'] },
        redirectUris => [$back], postLogoutRedirectUris => [$uri] );
    $stack->sql("UPDATE client SET registration_type = '$kind' WHERE client_id = '$id'");
}
$stack->make_client(
    'off', undef, redirectUris => [$back], postLogoutRedirectUris => ['https://off.example/bye'],
    enabled => false );

# A browser that is signed in, and the ID token its client got.
sub sign_in {
    my ( $sub, $id ) = @_;
    $idp->user( { sub => $sub, email => "$sub\@example.org", sid => "up-$sub" } );
    my $browser = Authz::Browser->new;
    my $query =
      Authz::Client::form( response_type => 'code', client_id => $id, redirect_uri => $back, scope => 'openid' );
    my ($page) = reverse $browser->follow( "$base/authorize?$query", stop => qr{\A\Q$back\E} );
    $browser->submit( $page, button => [ decision => 'allow' ], stop => qr{\A\Q$back\E} )
      if $page->body =~ /name="decision"/;
    my %got    = Authz::Browser::query( $browser->url );
    my $answer = $stack->http->post(
        '/token', headers => [ Authz::Client::basic( $id, $secret{$id} ) ],
        form => [ grant_type => 'authorization_code', code => $got{code}, redirect_uri => $back ] );
    return ( $browser, $answer->member('id_token') // die 'no ID token: ' . $answer->text );
}

sub logout_url { return "$base/logout" . ( @_ ? '?' . Authz::Client::form(@_) : '' ) }

sub logout {
    my ( $browser, @param ) = @_;
    return ( $browser->follow( logout_url(@param), stop => qr{\Ahttps://|:7777/} ) )[-1];
}

# Sessions that are live: of a user, at the service.
sub live { return $stack->sql("SELECT count(*) FROM browser_session WHERE subject = '$_[0]'") }

sub is_asked {
    my ( $answer, $who, $name ) = @_;
    return ok( $answer->status == 200
          && $answer->body =~ m{<form method="post" action="\Q$base\E/logout">.*name="token"}s
          && live($who) == 1, $name )
      || diag( $answer->text );
}

sub is_out {
    my ( $answer, $who, $name ) = @_;
    return ok(
        $answer->status == 200 && $answer->body =~ /signed out/i && $answer->body !~ /<form/ && live($who) == 0,
        $name ) || diag( $answer->text, "\nlive: ", live($who) );
}

sub refused {
    my ( $answer, $name, $text ) = @_;
    return ok( $answer->status == 400
          && !defined $answer->header('Location')
          && $answer->header('Content-Type') =~ m{\Atext/html}
          && $answer->body =~ $text, $name )
      || diag( $answer->text );
}

# ---- with the ID token of the user's own application

my ( $ann, $token ) = sign_in( ann => 'crm' );
my $first = $ann;    # the browser whose sign-out has the state of $up
my ($own) =
  grep { $_ !~ m{/end_session} }
  map  { $_->header('Location') // () } $ann->follow(
    logout_url( id_token_hint => $token, post_logout_redirect_uri => $bye{crm}, state => 'a&b' ),
    stop => qr{\Ahttps://app} );
is( $ann->url, 'https://app.example/bye?x=1&state=a%26b',
    'an ID token and a registered URI: logged out, back at the client, with state' );
is( live('ann'),                      0,     '... the session is gone' );
is( $ann->cookie( $base, 'svc_sid' ), undef, '... and the cookie' );
my $up = $idp->seen('end_session');
is_deeply(
    [ @$up{qw(client_id post_logout_redirect_uri)} ], [ 'authz', "$base/logout/return" ],
    "... by way of the provider's logout (oauth.md 5 \"Logout\")" );
like( $up->{id_token_hint}, qr/\Aey[\w-]+\.[\w-]+\.[\w-]+\z/, '... which got its own ID token, opened' );
isnt( $up->{id_token_hint}, $token, '... not ours' );
unlike( $up->{state}, qr/app\.example/, '... and cannot read where it goes on' );
is( $stack->sql(
        q{SELECT outcome || ' ' || subject_id || ' ' || client_id FROM audit_log WHERE operation = 'logout' ORDER BY id DESC LIMIT 1}
    ),
    'allowed ann crm',
    'audited' );

( $ann, $token ) = sign_in( ann => 'crm' );
is_out( logout( $ann, id_token_hint => $token ), 'ann', 'without a URI: our own last page' );
( $ann, $token ) = sign_in( ann => 'crm' );
is_out(
    ( $ann->follow( logout_url(), form => [ id_token_hint => $token, client_id => 'crm' ] ) )[-1], 'ann',
    'POST does the same (RP-Initiated Logout 2)' );
( $ann, $token ) = sign_in( ann => 'crm' );
is( $ann->post( logout_url(), form => [ id_token_hint => $token ], cross_site => 1 )->status, 302,
    "a form on the client's page comes without our cookie" );
is( live('ann'), 0, '... the ID token names the session' );
( $ann, $token ) = sign_in( ann => 'crm' );
my $later = $token;
$ann->follow(
    "$base/authorize?"
      . Authz::Client::form(
        response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid', prompt => 'login' ),
    stop => qr{\A\Q$back\E} );
is_out( logout( $ann, id_token_hint => $later ), 'ann', "an ID token of the user's session before is as good" );

# ---- where it may go

for my $row (
    [ 'https://app.example/bye'           => 'another query' ],
    [ 'https://app.example/bye?x=1&y=2'   => 'more of it' ],
    [ 'https://app.example/bye?x=1#f'     => 'a fragment' ],
    [ 'https://app.example:443/bye?x=1'   => 'the same port, written' ],
    [ 'https://APP.example/bye?x=1'       => 'another case' ],
    [ 'https://app.example@evil.example/' => 'user information' ],
    [ 'https://evil.example/bye?x=1'      => 'another host' ],
    [ 'javascript:alert(1)'               => 'a script' ],
    [ $back                               => 'a redirect_uri, which is for codes' ],
  )
{
    my ( $uri, $what ) = @$row;
    ( $ann, $token ) = sign_in( ann => 'crm' ) if live('ann') == 0;
    refused(
        logout( $ann, id_token_hint => $token, post_logout_redirect_uri => $uri ),
        "a URI that is not registered is a page, never a redirect: $what", qr/not registered for this client/ );
}
is( live('ann'), 1, '... and no session ended' );
refused(
    logout( $ann, id_token_hint => $token, client_id => 'wiki' ),
    'an ID token of another client than client_id is refused', qr/another client/ );
refused(
    logout( $ann, id_token_hint => $token, client_id => 'wiki', post_logout_redirect_uri => $bye{crm} ),
    '... also with a URI', qr/another client/ );
refused(
    logout( $ann, client_id => 'wiki', post_logout_redirect_uri => $bye{crm} ), "another client's URI is refused",
    qr/not registered for this client/ );
refused(
    logout( $ann, id_token_hint => $token, post_logout_redirect_uri => $bye{crm}, state => 'x' x 1025 ),
    'a state of 1025 octets is refused', qr/too long/ );
refused(
    $ann->get( logout_url( client_id => 'crm', client_id => 'crm' ) ), 'a parameter that comes twice is refused',
    qr/client_id is repeated/ );
$ann->follow(
    logout_url( id_token_hint => $token, post_logout_redirect_uri => $bye{crm}, state => 'x' x 1024 ),
    stop => qr{\Ahttps://app} );
is( $ann->url, "$bye{crm}&state=" . 'x' x 1024, 'one of 1024 is given back' );
my $nobody = Authz::Browser->new;
logout( $nobody, client_id => 'native', post_logout_redirect_uri => 'http://127.0.0.1:51234/bye' );
is( $nobody->url, 'http://127.0.0.1:51234/bye',
    "a public client's loopback URI may differ in the port (RFC 8252 7.3)" );
logout( $nobody, client_id => 'tool', post_logout_redirect_uri => 'http://127.0.0.1:51234/bye' );
is( $nobody->url, 'http://127.0.0.1:51234/bye', "... a confidential client's too (world.md F7)" );
refused(
    logout( $nobody, client_id => 'native', post_logout_redirect_uri => 'http://localhost:7777/bye' ),
    '... not in the host', qr/not registered for this client/ );
is_out(
    logout( $nobody, client_id => 'off', post_logout_redirect_uri => 'https://off.example/bye' ), 'ann',
    'a disabled client gets no redirect' );
is_out(
    logout( $nobody, client_id => 'nobody', post_logout_redirect_uri => 'https://evil.example/' ), 'ann',
    'nor is one that is not known' );
is_out( logout( $nobody, post_logout_redirect_uri => $bye{crm} ), 'ann', 'without a client no URI counts' );

# ---- without proof: the user is asked

( $ann, $token ) = sign_in( ann => 'crm' );
my ( $eve, $foreign ) = sign_in( eve => 'crm' );
my $page = logout( $ann, client_id => 'crm', post_logout_redirect_uri => $bye{crm}, state => 's' );
is_asked( $page, 'ann', 'without an ID token the user is asked, so that no other site can log users out' );
like( $page->body, qr/ann\@example\.org/, '... with the signed-in user' );
like( $page->body, qr/The crm/,           '... and the client that asks' );
like(
    $page->header('Content-Security-Policy') // '', qr/frame-ancestors 'none'/,
    '... it cannot be framed (clickjacking)' );
is_asked( logout($ann),                              'ann', 'without anything' );
is_asked( logout( $ann, id_token_hint => $foreign ), 'ann', "with another user's ID token" );
is( live('eve'), 1, '... whose session stays, too' );
is_asked( logout( $ann, id_token_hint => 'garbage' ), 'ann', 'with garbage' );
is_asked(
    logout( $ann, id_token_hint => $idp->id_token( { iss => $base, sub => 'ann', aud => 'crm' } ) ), 'ann',
    "with one that another signed in our name" );
my ( $head, $body, $mac ) = split /\./, $token;
is_asked(
    logout( $ann, id_token_hint => MIME::Base64::encode_base64url('{"alg":"none"}') . ".$body." ), 'ann',
    'with one of algorithm none' );

my ($form) = Authz::Browser::forms($page);
my %field = @{ $form->{fields} };

sub send_form {
    my ( $browser, $value, @more ) = @_;
    return $browser->post( "$base/logout", form => [ token => $value ], @more );
}
my $text = qr/another session or was open too long/;
refused( send_form( $eve,    $field{token} ), "another session cannot send the form (CSRF)", $text );
refused( send_form( $nobody, $field{token} ), 'a browser without a session cannot answer',   $text );
refused( send_form( $ann, $field{token}, cross_site => 1 ), "another site's form comes without the cookie", $text );
refused(
    send_form( $ann, $field{token}, headers => [ Origin => 'https://evil.example' ] ),
    '... and its Origin is refused', $text );
refused( send_form( $ann, 'A' x length $field{token} ),     'a made-up token', $text );
refused( send_form( $ann, substr( $field{token}, 0, -4 ) ), 'a part of it',    $text );
refused( send_form( $ann, 'no base64url!' ),                'garbage',         $text );
is_asked( $ann->get( logout_url( token => $field{token} ) ), 'ann', 'a GET with it does nothing: the page again' );
$ann->submit( $page, stop => qr{\Ahttps://} );
is( $ann->url,   "$bye{crm}&state=s", 'the user says yes: logged out, back at the client, with state' );
is( live('ann'), 0,                   '... the session is gone' );
is( live('eve'), 1,                   "... no other user's" );
refused( send_form( $ann, $field{token} ), 'the form is of that session alone', $text );
$page = logout( $eve, client_id => 'crm', post_logout_redirect_uri => $bye{crm} );
like(
    $page->header('Content-Security-Policy'), qr/form-action 'self' http: https:;/,
    "form-action lets the way through the provider and back" );

# ---- a client that registered itself: nobody vouches for its address (RFC 9700 4.11.2)

# The last page, with a link to the client that nothing follows by itself.
sub is_linked {
    my ( $answer, $id, $name, $state ) = @_;
    my ($place) = $bye{$id}     =~ m{\A(?:https://)?([^:/]+)};
    my ($link)  = $answer->body =~ m{<a href="([^"<>]+)">Return to <bdi>\Q$place\E</bdi></a>};
    my $url     = $bye{$id} . ( defined $state ? ( $bye{$id} =~ /[?]/ ? '&' : '?' ) . "state=$state" : '' );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok(
             $answer->status == 200
          && !defined $answer->header('Location')
          && !defined $answer->header('Refresh')
          && $answer->body   =~ /signed out.*registered itself/is
          && $answer->body   !~ /http-equiv/i
          && ( $link // '' ) =~ s/&amp;/&/gr eq $url,
        $name ) || diag( $answer->text );
}

for my $id (qw(dcr vouch cimd app)) {
    my @to = ( client_id => $id, post_logout_redirect_uri => $bye{$id}, state => 's' );
    is_linked(
        logout( Authz::Browser->new, @to ), $id, "without a session, $id: a page with a link, no redirect",
        's' );
}
my @dcr = ( post_logout_redirect_uri => $bye{dcr} );
refused(
    logout( $nobody, client_id => 'dcr', post_logout_redirect_uri => 'https://evil.example/' ),
    'no link to an address that is not registered', qr/not registered for this client/ );
logout( $nobody, client_id => 'crm', post_logout_redirect_uri => $bye{crm} );
is( $nobody->url, $bye{crm}, "an administrator's client: a redirect without a session" );
my ( $mal, $lure ) = sign_in( mal => 'dcr' );
is_linked(
    logout( Authz::Browser->new, id_token_hint => $lure, @dcr ),
    'dcr', "without a session, with the ID token of whoever made the link: a page" );
( $mal, $lure )  = sign_in( mal => 'dcr' );
( $ann, $token ) = sign_in( ann => 'crm' );
$page = logout( $ann, id_token_hint => $lure, @dcr );
is_asked( $page, 'ann', "in the session of another user: the user is asked" );
is_linked( ( $ann->submit($page) )[-1], 'dcr', '... and signed out on a page with a link, after the provider' );
is( live('ann'), 0, '... the session is gone' );
( $ann, $token ) = sign_in( ann => 'crm' );
refused(
    logout( $ann, id_token_hint => $token, client_id => 'dcr', @dcr ),
    "with the user's ID token of another client: refused", qr/another client/ );
is_linked(
    ( $ann->submit( logout( $ann, client_id => 'dcr', @dcr, state => 'q' ) ) )[-1],
    'dcr', 'without an ID token, after the user has confirmed: a link', 'q' );
my ( $dan, $his ) = sign_in( dan => 'dcr' );
logout( $dan, id_token_hint => $his, @dcr, state => 's' );
is( $dan->url, "$bye{dcr}&state=s",
    "with the session's own ID token of that client: a redirect, as the user has used it" );
is( live('dan'), 0, '... the session is gone' );

# ---- expired forms

my $ended = () = $idp->seen('end_session');
for my $with ( 0, 1 ) {
    ( $ann, $token ) = sign_in( ann => 'crm' );
    $stack->sql(q{UPDATE browser_session SET expires_at = now() - interval '1 second' WHERE subject = 'ann'});
    is_out(
        logout( $ann, $with ? ( id_token_hint => $token ) : () ), 'ann',
        'a session that had expired' . ( $with ? ', with its ID token' : '' ) );
    is( $ann->cookie( $base, 'svc_sid' ), undef, '... its cookie goes' );
    is( scalar( () = $idp->seen('end_session') ), $ended + $with,
        $with
        ? "... and so does the provider's session: the ID token asks for it"
        : "... the provider's session stays: any page could have sent the user here" );
}

# ---- the way back from the provider

is_out( $ann->get("$base/logout/return"),                     'ann', 'back without a state: our own page' );
is_out( $ann->get("$base/logout/return?state=$up->{state}x"), 'ann', '... with one that was changed' );
is_out( $ann->get("$base/logout/return?state=$field{token}"), 'ann', "... with the form's token" );
is_out(
    $ann->get("$base/logout/return?state=$up->{state}"), 'ann',
    "with the state of another browser's sign-out: our own page, not a client's (RFC 9700 4.11.2)" );
is( $first->get("$base/logout/return?state=$up->{state}")->header('Location'),
    'https://app.example/bye?x=1&state=a%26b', 'with the own one: to the client' );

# A URI that is taken away while the user is under way, and a client that is disabled: our own page.
my $crm = $stack->admin( GET => '/admin/api/clients/crm' )->json;

sub crm_is {
    my %field = @_;
    return is(
        $stack->admin( PUT => '/admin/api/clients/crm', json => { %$crm, %field } )->status, 200,
        'the client is changed' );
}
for my $change (
    [ postLogoutRedirectUris => ['https://app.example/other'] ], [ postLogoutRedirectUris => [] ],
    [ enabled => JSON::PP::false() ] )
{
    ($ann) = sign_in( ann => 'crm' );
    my $asked = logout( $ann, client_id => 'crm', post_logout_redirect_uri => $bye{crm} );
    is_asked( $asked, 'ann', '(asked)' );
    crm_is(@$change);
    is_out(
        ( $ann->submit( $asked, stop => qr{\Ahttps://} ) )[-1], 'ann',
        "confirmed after $change->[0] changed: logged out, and no redirect" );
    is_out( $first->get("$base/logout/return?state=$up->{state}"), 'ann', '... nor on the way back from the provider' );
    crm_is( enabled => JSON::PP::true() );
}
( $ann, $token ) = sign_in( ann => 'crm' );
$idp->misbehave( discovery => { status => 500 }, end_session => { status => 500 } );
my $answer = logout( $ann, id_token_hint => $token );
is( live('ann'), 0, 'a provider whose logout fails: our session is over all the same' );
$idp->behave;

is( $stack->http->get('/.well-known/openid-configuration')->member('end_session_endpoint'), "$base/logout",
    'discovery names the endpoint' );
is( $stack->http->request( DELETE => '/logout' )->status, 405, 'other methods are 405' );

done_testing;

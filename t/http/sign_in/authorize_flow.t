# From /authorize to a code: parameters that are passed to the provider, single sign-on, prompt, max_age and id_token_hint, several
# providers and none, and rows that change on the way (oauth.md 3.2 and 5, decisions.md "Choosing a provider", "Consent").
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp::settings() } );
$idp->register($stack);

my $cb  = 'https://app.example/cb?a=b';
my %may = ( grants => ['authorization_code'], scopes => [qw(openid profile email)] );
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource => { types => { 'urn:t:1' => { scopes => [] }, 'urn:t:2' => { scopes => [] } } },
        rar      => { types => { pay       => {} } } } );
$stack->patch_row(
    'svc.entitlements.bindings',
    {   registrations => { ADMIN => { resources => ['https://r.example'], resource_types => [ 'urn:t:1', 'urn:t:2' ] } }
    } );
$stack->make_client( 'web',   { %may, authorization_details => ['pay'] }, redirectUris => [$cb] );
$stack->make_client( 'other', \%may,                                      redirectUris => [$cb] );
my %good = ( client_id => 'web', redirect_uri => $cb, response_type => 'code', state => 's t&a+te', scope => 'openid' );

sub address {
    my %given = @_;
    return $stack->base . '/authorize?' . Authz::Client::form( map { ( $_ => $given{$_} ) } sort keys %given );
}

# Goes all the way; the members that came back to the client, or undef.
sub back {
    my ( $browser, %given ) = @_;
    my @hop = $browser->follow( address(%given), stop => qr{\Ahttps://app\.example/} );
    my $to  = Authz::Browser::location( $hop[-1] ) // return { page => $hop[-1] };
    return { page                             => $hop[-1] } if index( $to, $cb ) != 0;
    return { Authz::Browser::query($to), hops => scalar @hop };
}

sub provider_is {
    my ( $row, %field ) = @_;
    return $stack->admin( PUT => "/admin/api/identity-providers/$row->{idpId}", json => { %$row, %field } );
}

sub code_ok {
    my ( $back, $name, %option ) = @_;
    my @wrong;
    push @wrong, 'no code' if ( $back->{code} // '' ) !~ /\Aac_[A-Za-z0-9_-]{71}[A-Za-z0-9]{6}\z/;
    push @wrong, 'state is ' . ( $back->{state} // 'absent' ) if ( $back->{state} // '' ) ne $good{state};
    push @wrong, 'iss is ' .   ( $back->{iss}   // 'absent' ) if ( $back->{iss}   // '' ) ne $stack->base;
    push @wrong, "its own query is gone" if ( $back->{a} // '' ) ne 'b';
    push @wrong, "also $_" for grep { !/\A(?:code|state|iss|a|hops)\z/ } keys %$back;
    push @wrong, "$back->{hops} hops" if defined $option{hops} && $option{hops} != ( $back->{hops} // 0 );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( !@wrong, $name )
      or diag( join "\n", @wrong, $back->{page} ? substr $back->{page}->text, 0, 900 : explain($back) );
    return;
}

sub error_is {
    my ( $back, $error, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $back->{error}, $error, $name ) or diag( $back->{page} ? substr $back->{page}->text, 0, 900 : explain($back) );
    is( $back->{code},  undef,  '... and no code' ) if !$back->{page};
    is( $back->{iss},   $stack->base, '... with iss (RFC 9207)' );
    return;
}

# ---- the way to the provider

my $ann = Authz::Browser->new;
my $out = $ann->get(
    address( %good, login_hint => 'ann@example.org', acr_values => 'x y', ui_locales => 'de', nonce => 'n-1' ) );
is( $out->status, 302, 'without a session the browser is sent to the provider, by 302 (oauth.md 3.2)' );
my $to   = Authz::Browser::location($out);
my %asks = Authz::Browser::query($to);
is( index( $to, $idp->issuer . '/authorize?' ), 0, '... whose endpoint comes from discovery' );
is( $asks{redirect_uri}, $stack->base . '/authorize/callback/corp',
    '... with the callback of that provider alone (oauth.md 5 "Upstream callback")' );
is( "$asks{response_type} $asks{client_id} $asks{code_challenge_method}", 'code authz S256',
    '... code flow, our own name there, PKCE' );
is( length $asks{$_}, 43, "... $_ has 256 bits" ) for qw(state nonce code_challenge);
isnt( $asks{nonce}, 'n-1', '... nonce is ours, not the client\'s' );
is( $asks{login_hint},                     'ann@example.org', '... login_hint is passed on' );
is( "$asks{acr_values}|$asks{ui_locales}", 'x y|de',          '... and so are acr_values and ui_locales' );
is( $asks{prompt},                         undef,             '... no prompt that the client did not ask for' );
my $cookie = ( $ann->cookies( $stack->base ) )[0];
like( $cookie->{text}, qr/; HttpOnly; SameSite=Lax\z/, '... the mark of this browser is set (RFC 9700 4.7)' );
my $row = $stack->sql('SELECT count(*) FROM sign_in');
is( $row, 1, '... and one row waits' );
my $dump = $stack->sql('SELECT * FROM sign_in');
unlike( $dump, qr/\Q$_\E/, '... that holds neither state nor cookie' ) for $asks{state}, $cookie->{value};
my %again = Authz::Browser::query( Authz::Browser::location( $ann->get( address(%good) ) ) );
isnt( $again{$_}, $asks{$_}, "each sign-in has a $_ of its own" ) for qw(state nonce code_challenge);
is( ( $ann->cookies( $stack->base ) )[0]{value}, $cookie->{value},
    '... and the browser keeps its mark: several tabs share it' );

# ---- code

my $first = back( $ann, %good );
code_ok( $first, 'signing in at the provider ends in a code' );
my $second = back( $ann, %good );
code_ok( $second, 'a live session: the code comes at once', hops => 1 );
isnt( $second->{code}, $first->{code}, '... another one' );
code_ok( back( $ann, %good, client_id => 'other' ), '... for another client too: single sign-on', hops => 1 );
code_ok( back( $ann, %good, prompt    => 'none' ),  'prompt=none with a session',                 hops => 1 );
code_ok(
    {   Authz::Browser::query( Authz::Browser::location( $ann->post( $stack->base . '/authorize', form => [%good] ) ) ),
        hops => 1 },
    'POST with a session' );
is( $stack->sql(
        'SELECT count(*) FROM token_grant WHERE subject = \'ann\' AND code_expires_at - created_at BETWEEN interval \'58 s\' AND interval \'62 s\''
    ),
    5,
    'each code is a row of its subject, for 60 s (decisions.md "Lifetimes")' );
my ($secret) = $first->{code} =~ /\Aac_(.{71})/;
unlike(
    $stack->sql('SELECT encode(code_hash, \'hex\') FROM token_grant'),
    qr/@{[ unpack 'H*', substr MIME::Base64::decode_base64url($secret), 21 ]}/,
    '... that holds the hash of the secret alone' );
like(
    $stack->sql('SELECT encode(code_hash, \'hex\') FROM token_grant'),
    qr/@{[ Digest::SHA::sha256_hex( substr MIME::Base64::decode_base64url($secret), 21 ) ]}/,
    '... which is its SHA-256' );
my %full = (
    nonce => 'n-2', code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', resource => 'https://r.example',
    resource_types => 'urn:t:1 urn:t:2', authorization_details => '[{"type":"pay","amount":5}]',
    scope          => 'openid  profile openid' );
code_ok( back( $ann, %good, %full ), 'a request with everything' );
is( $stack->sql(
        'SELECT nonce, code_challenge, resource, resource_types, details, scope, redirect_uri FROM token_grant ORDER BY id DESC LIMIT 1'
    ),
    "n-2\t$full{code_challenge}\thttps://r.example\t[\"urn:t:1\", \"urn:t:2\"]\t[{\"type\":\"pay\",\"amount\":5}]\topenid profile\t$cb",
    '... all of it is bound to the code' );
my @trail = split /\n/,
  $stack->sql(
    "SELECT operation, http_status, outcome, client_id, coalesce(subject_id, '-') FROM audit_log WHERE flow_id = (SELECT flow_id FROM token_grant ORDER BY id LIMIT 1) ORDER BY id"
  );
is_deeply(
    \@trail, [ "authorize\t302\tallowed\tweb\t-", "authorizeCallback\t302\tallowed\tweb\tann" ],
    'audited: one flow, from the request to the code' );

# ---- prompt, max_age, id_token_hint

my $nobody = Authz::Browser->new;
error_is( back( $nobody, %good, prompt => 'none' ), 'login_required', 'prompt=none without a session' );
my $sid = sub { return ( $ann->cookie( $stack->base, 'svc_sid' ) // {} )->{value} };
my $old = $sid->();
code_ok( back( $ann, %good, prompt => 'login' ), 'prompt=login: through the provider' );
is( scalar( $idp->seen('authorize') )->{prompt}, 'login', '... which hears prompt=login' );
isnt( $sid->(), $old, '... and the session has a new id' );
code_ok( back( $ann, %good, max_age => 1000 ), 'max_age: the session is young enough', hops => 1 );
$stack->sql(q{UPDATE browser_session SET auth_time = auth_time - interval '1000 s'});
code_ok( back( $ann, %good, max_age => 2000 ), '... still', hops => 1 );
error_is(
    back( $ann, %good, max_age => 900, prompt => 'none' ), 'login_required',
    'max_age: an older one under prompt=none' );
code_ok( back( $ann, %good, max_age => 900 ), 'max_age: an older one goes through the provider' );
is( scalar( $idp->seen('authorize') )->{max_age}, 900, '... which hears max_age' );
is( $stack->sql('SELECT with_auth_time FROM token_grant ORDER BY id DESC LIMIT 1'), 't',
    '... and the ID token must say auth_time' );
my $asked = () = $idp->seen('authorize');
code_ok( back( $ann, %good, max_age => 0 ), 'max_age=0: through the provider, although the session is new' );
is( scalar( () = $idp->seen('authorize') ), $asked + 1, '... once' );

$idp->misbehave( id_token => { auth_time => time - 5000 } );
for my $given ( [ prompt => 'login' ], [ max_age => 100 ], [ max_age => 0 ] ) {
    $asked = () = $idp->seen('authorize');
    my $back = back( Authz::Browser->new, %good, @$given );
    ok( !defined $back->{code} && ( $back->{error} // '' ) =~ /\A(?:login_required|access_denied)\z/,
        "@$given: a provider that did not sign the user in anew yields no code" ) or diag explain $back;
    is( scalar( () = $idp->seen('authorize') ), $asked + 1, '... and is asked once, not in a circle' );
}
$idp->behave;

# An ID token of ours names who must be signed in under prompt=none (decisions.md "id_token_hint").
my @rp = $stack->make_client( 'rp', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$cb] );
my $code  = back( $ann, %good, client_id => 'rp' )->{code};
my $token = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@rp) ],
    form => [ grant_type => 'authorization_code', code => $code, redirect_uri => $cb ] );
my $hint = $token->member('id_token') // diag( $token->text );
code_ok(
    back( $ann, %good, prompt => 'none', id_token_hint => $hint ),
    "prompt=none with the session's own id_token_hint", hops => 1 );
$idp->user( { sub => 'zoe', name => 'Zoe' } );
my $zoe = Authz::Browser->new;
code_ok( back( $zoe, %good ), 'another user signs in' );
error_is(
    back( $zoe, %good, prompt => 'none', id_token_hint => $hint ), 'login_required',
    '... whose session is not the one of the hint' );
code_ok( back( $zoe, %good, id_token_hint => $hint ), '... which counts under prompt=none alone', hops => 1 );
error_is(
    back( $zoe, %good, id_token_hint => substr( $hint, 0, -8 ) . 'AAAAAAAA' ), 'invalid_request',
    'a hint with another signature' );
$idp->user( { sub => 'ann', name => 'Ann Example', email => 'ann@example.org' } );

# ---- several providers, and none

my $idp2 = Authz::Idp->start;
my $two  = $idp2->register( $stack, idpId => 'second', name => 'Second <b>&"' );
my $one  = $stack->admin( GET => '/admin/api/identity-providers/corp' )->json;
my $ben  = Authz::Browser->new;
my $jkt  = 'J' x 43;
my $page = $ben->get( address( %good, %full, login_hint => 'x@y.example', prompt => 'consent', dpop_jkt => $jkt ) );
is( $page->status, 200,
    'several providers, and nothing says which: the chooser page (decisions.md "Choosing a provider")' );
like(
    $page->header('Content-Security-Policy') // '', qr/default-src 'none'.*frame-ancestors 'none'/,
    '... with its policy' );
is( $page->header('Cache-Control'), 'no-store', '... not cached' );
my @link = map { my $x = $_; $x =~ s/&amp;/&/g; $x =~ s/&#x3[dD];|&#61;/=/g; $x } $page->body =~ /<a href="([^"]*)"/g;
is( scalar @link, 2, '... has a link for each' );
unlike( $page->body, qr/<b>&"/, '... names are escaped' );
my %link = Authz::Browser::query( $link[1] );
is_deeply(
    \%link,
    {   %good, %full, login_hint => 'x@y.example', prompt => 'consent', dpop_jkt => $jkt, idp_hint => 'second',
        code_challenge_method => 'S256', scope => 'openid profile',
        authorization_details => '[{"type":"pay","amount":5}]' },
    '... which is the same request with idp_hint' );
my $chosen = $ben->get( $link[1] );
is( index( Authz::Browser::location($chosen) // '', $idp2->issuer ), 0, '... and leads to that provider' );
is( $stack->sql("SELECT count(*) FROM audit_log WHERE operation = 'authorize' AND http_status = 200"), 0,
    '... the page, which changes nothing, leaves no audit row (decisions.md "Audited")' );

# Logos: a page has those of the 16 oldest providers that have one (decisions.md "Logos of providers").
my $largest = 'data:image/png;base64,' . MIME::Base64::encode_base64( "\x89PNG\r\n\x1a\n" . 'x' x 16376, '' );
my @logos   = map {
    $stack->admin(
        POST => '/admin/api/identity-providers',
        json => { idpId => "logo$_", issuer => "https://logo$_.example", clientId => 'authz', logo => $largest } )
} 1 .. 17;
is( scalar( grep { $_->status == 201 } @logos ), 17, '17 providers with the largest logo' );
my $full_page = Authz::Browser->new->get( address(%good) );
is( $full_page->status, 200, '... fit into the chooser' );
my @item = $full_page->body =~ m{<li>(<a .*?)</li>}gs;
is( join( ' ', map { $item[$_] =~ /<img src="([^"]*)"/ ? $_ : () } 0 .. $#item ), join( ' ', 2 .. 17 ),
    '... which shows the logos of the first 16, and the providers without one' );
is( scalar @item, 19, '... as well as the last' );
is( ( $item[2] =~ /<img src="([^"]*)"/ ? $1 : '' ) =~ s/&#(\d+);/chr $1/ger =~ s/&#x([0-9A-Fa-f]+);/chr hex $1/ger,
    $largest, '... as it was given' );
$stack->admin( DELETE => "/admin/api/identity-providers/logo$_" ) for 1 .. 17;

sub leads_to {
    my ( $which, $name, @given ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is(
        index( Authz::Browser::location( Authz::Browser->new->get( address( %good, @given ) ) ) // '', $which->issuer ),
        0, $name );
}
leads_to( $idp,  'idp_hint: the first',                idp_hint   => 'corp' );
leads_to( $idp2, 'idp_hint: the second',               idp_hint   => 'second' );
leads_to( $idp2, 'login_hint: its domain is an idpId', login_hint => 'ben@second' );
is( Authz::Browser->new->get( address( %good, idp_hint => $_ ) )->status, 200, "idp_hint '$_' names none: the chooser" )
  for 'nobody', '../corp', 'CORP';
error_is(
    back( Authz::Browser->new, %good, prompt => 'none' ), 'login_required',
    'prompt=none never shows the chooser (oauth.md 3.2 "Prompt")' );
code_ok( back( $ann, %good ), 'a live session needs no choice', hops => 1 );
my $long = Authz::Browser->new->post(
    $stack->base . '/authorize',
    form => [ %good, authorization_details => '[{"type":"pay","x":"' . 'y' x 8000 . '"}]' ] );
is( { Authz::Browser::query( Authz::Browser::location($long) // '?' ) }->{error}, 'invalid_request',
    'a request that is too long for a link of the chooser is refused, not broken' );

is( provider_is( $two, enabled => false )->status, 200, 'the second is disabled' );
leads_to( $idp, 'one provider is left: straight there, in every worker' ) for 1 .. 6;
leads_to( $idp, '... also when the disabled one is named', idp_hint => 'second' );
is( provider_is( $one, enabled => false )->status, 200, 'the first one too' );
error_is(
    back( Authz::Browser->new, %good ), 'server_error',
    'no provider is enabled: server_error to the client (decisions.md "Choosing a provider")' ) for 1 .. 3;
error_is(
    back( $ann, %good ), 'server_error',
    'the session of a provider that was disabled is over (oauth.md 5 "Transitions")' );
is( provider_is( $one, enabled => true )->status, 200, 'the first one is enabled again' );
leads_to( $idp, 'a provider that was enabled is found, in every worker' ) for 1 .. 6;

# Changed while a worker remembers it: the row that is written re-checks it.
is( provider_is( $one, enabled => true, authorizeParams => { hd => 'example.org' } )->status, 200,
    'a provider is changed' );
for ( 1 .. 6 ) {
    my %asks = Authz::Browser::query( Authz::Browser::location( Authz::Browser->new->get( address(%good) ) ) );
    is( $asks{hd}, 'example.org', '... and every worker sends what it says now' );
}

# ---- consent goes by the page

$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'other'});
my $cat = Authz::Browser->new;
my @hop = $cat->follow( address( %good, client_id => 'other' ) );
like(
    $hop[-1]{url}, qr{\A\Q@{[ $stack->base ]}\E/authorize/consent\?id=[A-Za-z0-9_-]{43}\z},
    'a client that registered itself: the consent page, after the sign-in (decisions.md "Consent")' );
is( $hop[-1]->status, 200, '... is shown' ) or diag( $hop[-1]->text );
error_is(
    back( $cat, %good, client_id => 'other', prompt => 'none' ), 'consent_required',
    '... under prompt=none: consent_required' );
code_ok( back( $cat, %good ), "an administrator's client: no page", hops => 1 );
my $always = ( $cat->follow( address( %good, prompt => 'consent' ) ) )[-1];
is( $always->status, 200, 'prompt=consent: the page for every client' );
my @answer = $cat->submit( $hop[-1], button => [ decision => 'allow' ], stop => qr{\Ahttps://app\.example/} );
code_ok( { Authz::Browser::query( Authz::Browser::location( $answer[-1] ) // '?' ) }, 'allowed: a code' );
code_ok( back( $cat, %good, client_id => 'other' ), '... and it is remembered', hops => 1 );
is( ( $cat->follow( address( %good, client_id => 'other', scope => 'openid email' ) ) )[-1]->status, 200,
    '... not for more scopes' );
is( ( $cat->follow( address( %good, client_id => 'other', prompt => 'consent' ) ) )[-1]->status, 200,
    '... nor under prompt=consent' );

# ---- a form of another site's page comes without cookies (SameSite): asked for again by GET, it has them

sub cross {
    my ( $browser, $form, %header ) = @_;
    %header = ( 'Sec-Fetch-Site' => 'cross-site', %header );
    return $browser->post( $stack->base . '/authorize', form => $form, cross_site => 1, headers => [%header] );
}
my $start = [ map { ( $_ => $good{$_} ) } sort keys %good ];
my @way   = $cat->follow(
    $stack->base . '/authorize', form => $start, cross_site => 1,
    headers => [ 'Sec-Fetch-Site' => 'cross-site' ], stop => qr{\Ahttps://app\.example/} );
is( scalar @way, 2, 'a form of another site: one hop more' );
code_ok( { Authz::Browser::query( Authz::Browser::location( $way[-1] ) // '?' ) }, '... and single sign-on works' );
my $sent_on = cross(
    $cat,
    [ @$start, resource => 'https://r.example', resource => 'https://r.example/', nonce => 'n&1', unknown => 'x' ] );
is( $sent_on->status, 302, 'by 302, so that it becomes a GET' );
is( Authz::Browser::location($sent_on),
    $stack->base . '/authorize?' . Authz::Client::form(
        @$start, resource => 'https://r.example', resource => 'https://r.example/',
        nonce => 'n&1' ),
    '... with the parameters that were sent, and those that are known alone' );
is( $sent_on->header('Set-Cookie'), undef, '... and no new mark, which would end sign-ins of other tabs' );
my $tab = Authz::Browser->new;
my ($waiting) =
  map { Authz::Browser::location( $tab->get($_) ) } Authz::Browser::location( $tab->get( address(%good) ) );
$tab->follow(
    $stack->base . '/authorize', form => $start, cross_site => 1,
    headers => [ 'Sec-Fetch-Site' => 'cross-site' ], stop => qr{\Ahttps://app\.example/} );
is( $tab->get($waiting)->status, 302, "... the other tab's sign-in goes on" );
is( index(
        Authz::Browser::location(
            $cat->get(
                Authz::Browser::location($sent_on), cross_site => 1, headers => [ 'Sec-Fetch-Site' => 'cross-site' ] )
        ) // '',
        $cb ),
    0,
    'a GET is never sent on: no circle' );

for my $row (
    [ 'a browser that does not say it is another site', $start, 'Sec-Fetch-Site' => 'none' ],
    [ 'a login_hint, which stays out of addresses',     [ @$start, login_hint            => 'ann@example.org' ] ],
    [ 'authorization_details',                          [ @$start, authorization_details => '[{"type":"pay"}]' ] ],
    [   'more than a target may have',
        [   @$start, nonce => "\x{20ac}" x 170, acr_values => "\x{20ac}" x 170, idp_hint => 'x',
            resource   => 'https://r.example/' . 'x' x 480, code_challenge => 'A' x 43,
            ui_locales => "\x{20ac}" x 85,                  state          => ' ' x 1365 ] ],
  )
{
    my ( $name, $form, %header ) = @$row;
    my %form   = @$form;
    my $answer = cross( $cat, [ map { ( $_ => $form{$_} ) } sort keys %form ], %header );
    is( index( Authz::Browser::location($answer) // $answer->text, $idp->issuer ), 0, "not sent on: $name" );
}
is( {   Authz::Browser::query(
            Authz::Browser::location( cross( $cat, [ @$start, prompt => 'none', id_token_hint => $hint ] ) ) )
    }->{error},
    'login_required',
    'not sent on: an id_token_hint' );
is( {   Authz::Browser::query(
            Authz::Browser::location( cross( $cat, [ @$start, prompt => 'login', prompt => 'none' ] ) ) ) }->{error},
    'invalid_request',
    'nor what is repeated: refused' );
is( cross( $cat, [ %good, redirect_uri => 'https://evil.example/' ] )->header('Location'), undef,
    'nor what is a page' );

# ---- a session that ended, a client that changed, between the look and the code

my $web = $stack->admin( GET => '/admin/api/clients/web' )->json;
for my $name (qw(One Two)) {
    is( $stack->admin( PUT => '/admin/api/clients/web', json => { %$web, clientName => $name } )->status, 200,
        'the client is changed' );
    code_ok( back( $cat, %good ), '... and gets its code, from workers that remember the old row', hops => 1 )
      for 1 .. 6;
}
is( $stack->sql(
        'SELECT count(*) FROM audit_log a WHERE operation = \'authorize\' AND subject_id IS NOT NULL AND outcome = \'allowed\' AND client_id = \'web\' AND http_status = 302 AND NOT EXISTS (SELECT 1 FROM token_grant g WHERE g.flow_id = a.flow_id)'
    ),
    1,
    'every audit row of a code has its code: only the consent page has none' );
is( $stack->admin( PUT => '/admin/api/clients/web', json => { %$web, redirectUris => ['https://app.example/new'] } )
      ->status, 200, 'its redirect_uri is taken away' );
is( scalar( grep { $_->{page} && $_->{page}->status == 400 } map { back( $cat, %good ) } 1 .. 6 ), 6,
    '... no code goes there any more, in no worker' );
is( $stack->admin( PUT => '/admin/api/clients/web', json => $web )->status, 200, '... and given back' );
my $gone    = Authz::Browser->new;
my $to_idp  = Authz::Browser::location( $gone->get( address(%good) ) );
my $returns = Authz::Browser::location( $gone->get($to_idp) );
is( $stack->admin( PUT => '/admin/api/clients/web', json => { %$web, enabled => false } )->status, 200,
    'the client is disabled while its user is at the provider' );
my $end = $gone->get($returns);
is( $end->status,             400,   '... a page' );
is( $end->header('Location'), undef, '... and no redirect' );
is( $stack->admin( PUT => '/admin/api/clients/web', json => { %$web, enabled => true } )->status, 200,
    '... enabled again' );
$stack->sql('DELETE FROM browser_session');
error_is( back( $cat, %good, prompt => 'none' ), 'login_required', 'a session that is gone' );

# After a failed redemption its address gets no place for a moment (decisions.md "Half of the pool fetches").
my @bad = grep { /"status":5\d\d/ && !/health|is already fetching/ } $stack->{service}->log_lines;
is( scalar @bad, 0, 'no request of this test was answered with 5xx' ) or diag( join "\n", @bad );
unlike( $stack->{service}->log_text, qr/ac_[A-Za-z0-9_-]{71}|\Q$asks{state}\E/, 'and no code or state is in the log' );

done_testing;

# The consent page (decisions.md "Consent"; oauth.md 5 "Consent"; gateway-admin.md 1.2) and the admin API for remembered consents.
use strict;
use warnings;

use JSON::PP ();
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

# Clients of the admin API, then of another registration, whose redirect goes to a site, a program and an app.
my %back = (
    admin => 'https://admin.example/cb', dyn => 'https://dyn.example:8443/cb', wiki => 'https://wiki.example/cb',
    local => 'http://127.0.0.1:7777/cb', app => 'com.example.app:/cb',
);
$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => { 'urn:t:1' => { scopes => [qw(phone address)] } } }, rar => { types => { pay => {} } } }
);
my %entitled = (
    admin => { grants => ['authorization_code'], scopes => [qw(openid email)] },
    dyn   => {
        scopes => [qw(phone address)], resource_types => ['urn:t:1'], resources => ['https://api.example/x'],
        authorization_details => ['pay'] } );
for my $id ( sort keys %back ) {
    $stack->make_client(
        $id, $entitled{$id}, clientName => "Client <b>$id</b>", clientType => 'public',
        redirectUris => [ $back{$id} ], clientUri => "https://$id.example/" );
    $stack->sql("UPDATE client SET registration_type = 'DCR' WHERE client_id = '$id'") if $id ne 'admin';
}

sub authorize {
    my ( $browser, $id, %more ) = @_;
    my %param = (
        response_type  => 'code', client_id => $id, redirect_uri => $back{$id}, scope => 'openid email', state => 's1',
        code_challenge => 'A' x 43, code_challenge_method => 'S256', %more );
    my @hop = $browser->follow(
        "$base/authorize?" . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param ),
        stop => qr{\A\Q$back{$id}\E} );
    return $hop[-1];
}

sub answer {
    my ( $browser, $page, $decision ) = @_;
    return ( $browser->submit( $page, button => [ decision => $decision ], stop => qr{\A(?!\Q$base\E)} ) )[-1];
}
sub back_of { my ($browser) = @_; return { Authz::Browser::query( $browser->url ) } }

sub is_asked {
    my ( $answer, $name ) = @_;
    return ok( $answer->status == 200 && $answer->body =~ /name="decision" value="allow"/, $name )
      || diag( $answer->text );
}

sub got_code {
    my ( $browser, $name ) = @_;
    return like( back_of($browser)->{code} // $browser->url, qr/\Aac_/, $name );
}
sub waiting  { return $stack->sql('SELECT count(*) FROM consent_request') }
sub consents { return $stack->sql('SELECT count(*) FROM consent') }

# ---- users who are asked, and what the page shows

my $ann = Authz::Browser->new;
authorize( $ann, 'admin' );
got_code( $ann, 'a client of an administrator: no page (mode dynamic_clients, the default)' );
my $page = authorize(
    $ann, 'dyn', resource => 'https://api.example/x',
    authorization_details => '[{"type":"pay","actions":["<i>"]}]' );
is_asked( $page, 'a client that registered itself: the page comes after the sign-in' );
for my $row (
    [ 'Client &lt;b&gt;dyn&lt;/b&gt;'      => "the client's name, escaped" ],
    [ 'has not checked its name'           => '... that the client was not checked' ],
    [ 'dyn\.example'                       => 'where the code goes' ],
    [ '>email<'                            => 'the scopes' ],
    [ 'https://api\.example/x'             => 'the resource' ],
    [ '<bdi>pay</bdi>'                     => 'the type of the details' ],
    [ '<bdi>actions</bdi>: <bdi>&lt;i&gt;' => '... and their members' ],
    [ 'ann@example\.org'                   => 'who is signed in' ],
    [ 'Corp'                               => '... and with whom' ],
  )
{
    like( $page->body, qr/$row->[0]/, "the page shows $row->[1] (decisions.md \"Consent\")" );
}
unlike( $page->body, qr/<b>|<i>|<script|javascript:/i, 'nothing of the client is markup' );
unlike( $page->body, qr/this computer|on this device/, 'a site gets no warning of a program' );
unlike( $page->body, qr{Application website},          'a host that the client only says is not shown as its own' );
my $policy = $page->header('Content-Security-Policy') // '';
like(
    $policy, qr{form-action 'self' https://dyn\.example:8443 },
    "form-action names the client's origin (decisions.md \"Consent\")" );
like( $policy, qr{default-src 'none'},     'nothing else is loaded' );
like( $policy, qr{frame-ancestors 'none'}, 'it cannot be framed (clickjacking)' );
is( $page->header('Cache-Control'),                     'no-store',    'no-store' );
is( $page->header('Referrer-Policy'),                   'no-referrer', 'no-referrer: the token is in the address' );
is( waiting(),                                          1,             'the request waits' );
is( authorize( $ann, 'dyn', prompt => 'none' )->status, 302,           'prompt=none shows no page' );
is( back_of($ann)->{error}, 'consent_required', '... but says consent_required (OpenID Connect Core 3.1.2.6)' );

# ---- the answer: of this session, once, from our page

my ($form) = Authz::Browser::forms($page);
my %field = @{ $form->{fields} };
like( $field{id}, qr/\A[A-Za-z0-9_-]{43}\z/, 'the form token has 256 bits' );
unlike(
    $stack->sql("SELECT string_agg(c::text, ' ') FROM consent_request c"), qr/\Q$field{id}\E/,
    '... and is not stored' );
my $url = "$base/authorize/consent";

sub refused {
    my ( $answer, $name, $text ) = @_;
    return ok( $answer->status == 400
          && !defined $answer->header('Location')
          && $answer->header('Content-Type') =~ m{\Atext/html}
          && $answer->body =~ ( $text // qr/already answered or expired/ ), $name )
      || diag( $answer->text );
}
my $eve = Authz::Browser->new;
$idp->user( { sub => 'eve' } );
authorize( $eve, 'admin' );
got_code( $eve, '(another user is signed in)' );
refused( $eve->get("$url?id=$field{id}"),                                       "another session's page is not shown" );
refused( $eve->post( $url, form => [ id => $field{id}, decision => 'allow' ] ), "another session cannot answer" );
refused(
    Authz::Browser->new->post( $url, form => [ id => $field{id}, decision => 'allow' ] ),
    'a browser without a session cannot answer' );
refused(
    $ann->post( $url, form => [ id => $field{id}, decision => 'allow' ], cross_site => 1 ),
    "another site's form comes without the cookie (SameSite)" );
refused(
    $ann->post(
        $url, form => [ id => $field{id}, decision => 'allow' ], headers => [ Origin => 'https://evil.example' ] ),
    "another site's Origin is refused",
    qr/another site/ );
refused(
    $ann->post(
        $url, form => [ id => $field{id}, decision => 'allow' ], headers => [ Origin => "$base.evil.example" ] ),
    '... also one that begins like ours',
    qr/another site/ );
refused(
    $ann->post(
        $url, form => [ id => $field{id}, decision => 'allow' ], headers => [ 'Sec-Fetch-Site' => 'cross-site' ] ),
    '... and one whose Sec-Fetch-Site says so',
    qr/another site/ );
refused(
    $ann->post( $url, form => [ id => $field{id}, decision => 'maybe' ] ), 'another decision is none',
    qr/allow or deny/ );
refused( $ann->post( $url, form => [ id => $field{id} ] ), 'no decision is none', qr/allow or deny/ );
refused(
    $ann->post( $url, form => [ id => $field{id}, id => $field{id}, decision => 'allow' ] ),
    'a token that comes twice', qr/id is repeated/ );
refused( $ann->post( $url, form => [ id => 'A' x 43, decision => 'allow' ] ), 'an unknown token' );
is( $ann->get("$url?id=$field{id}&decision=allow")->status, 200, 'a GET decides nothing: the page again' );
is( waiting(),                                              1,   '... none of which took the request away' );
is( consents(),                                             0,   '... or was remembered' );
my $no = answer( $ann, $page, 'deny' );
ok( $no->status == 400 && !defined $no->header('Location'),
    'deny: no redirect to a client that registered itself (decisions.md "Errors at /authorize")' ) or diag( $no->text );
my ($link) = $no->body =~ m{<a href="([^"]+)">Return to <bdi>dyn\.example</bdi>};
is_deeply(
    [ @{ { Authz::Browser::query( ( $link // '?' ) =~ s/&amp;/&/gr ) } }{qw(error state iss)} ],
    [ 'access_denied', 's1', $base ],
    '... the page names the host and offers it as a link: access_denied with state and iss' );
is( waiting(), 0, '... and the request is gone' );
refused( $ann->post( $url, form => [ id => $field{id}, decision => 'allow' ] ), 'the first answer counts' );
is( $stack->sql(
        "SELECT outcome || ' ' || subject_id || ' ' || client_id FROM audit_log WHERE operation = 'answerConsent' AND client_id IS NOT NULL ORDER BY id DESC LIMIT 1"
    ),
    'rejected ann dyn',
    'the answer is audited' );

$page = authorize( $ann, 'dyn' );
is_asked( $page, 'a no is not remembered' );
answer( $ann, $page, 'allow' );
got_code( $ann, 'allow: the code' );
is( back_of($ann)->{state}, 's1', '... with the state' );
is( consents(),             1,    '... and it is remembered' );

# Eight answers at the same moment.
$page = authorize( $ann, 'dyn', scope => 'openid' );
($form) = Authz::Browser::forms($page);
%field = @{ $form->{fields} };
my $cookie = 'svc_sid=' . $ann->cookie( $base, 'svc_sid' )->{value};
my @answer = Authz::Client::together(
    map {
        [   $stack->client,
            $stack->client->octets(
                POST => '/authorize/consent', headers => [ Cookie => $cookie, Origin => 'null' ],
                form => [ id => $field{id}, decision => 'allow' ] ) ]
    } 1 .. 8 );
is( join( ' ', sort map { $_->status } @answer ), '302 ' . join( ' ', (400) x 7 ),
    'eight answers at the same moment: one code, seven error pages; Origin: null is ours' );

# ---- what is remembered: subject, client, redirect host, scopes, resource

sub asks { my ( $name, $id, %more ) = @_; return is_asked( authorize( $ann, $id, %more ), $name ) }
sub asks_not { my ( $name, $id, %more ) = @_; authorize( $ann, $id, %more ); return got_code( $ann, $name ) }
asks_not( 'remembered: the same request again shows no page', 'dyn' );
asks_not( '... in another order of the scopes', 'dyn', scope => 'email openid' );
asks( 'another scope asks', 'dyn', scope    => 'openid email profile' );
asks( 'a resource asks',    'dyn', resource => 'https://api.example/x' );
$page = authorize(
    $ann, 'dyn', authorization_details => '[{"type":"pay","to":"\u202ex","n":0.1},{"n":0.1,"type":"pay"}]',
    resource_types => 'urn:t:1' );

# The lines of the page for types and details: an entry as its title and its members.
sub details_of {
    my ($body) = @_;
    return [
        map {
            join ' | ',
              map {s/<[^>]*>//gr} /(<bdi.*?<\/bdi>(?:: <bdi>.*?<\/bdi>)?)/g
          }
          map {s/&quot;/"/gr} $body =~ m{<li>(<bdi.*?)</li>}gs ];
}
is_deeply(
    [ grep {/\A(?:urn|pay)/} @{ details_of( $page->body ) } ],
    [ 'urn:t:1', 'pay | to: "\u202Ex" | n: 0.1', 'pay | n: 0.1' ],
    'types and details are shown, numbers as they will be in the token; what cannot be seen, in ASCII' );
$page = authorize(
    $ann, 'dyn',
    authorization_details => JSON::PP->new->canonical->encode(
        [   {   type      => 'pay', actions => [ 'read', 'write' ], datatypes => [ 'a, b', 'c' ], deep => { x => [1] },
                locations => ['https://api.example/x'], none => [], no => JSON::PP::null(), text => '50', to => '' } ] )
);
is_deeply(
    [ grep {/\Apay/} @{ details_of( $page->body ) } ],
    [       'pay | actions: read, write | datatypes: ["a, b","c"] | deep: {"x":[1]} | locations: https://api.example/x'
          . ' | no: null | none: [] | text: 50 | to: ""' ],
    'each member of an entry is shown: lists of texts with commas, and what would be ambiguous as JSON' );
asks( 'details ask',                'dyn', authorization_details => '[{"type":"pay"}]' );
asks( 'another client asks',        'wiki' );
asks( 'prompt=consent always asks', 'dyn', prompt => 'consent' );
$idp->user( { sub => 'eve' } );
is_asked( authorize( $eve, 'dyn' ), 'another subject is asked' );
$idp->user( { sub => 'ann', email => 'ann@example.org' } );

for my $row (
    [ local => qr/this computer/,  qr{form-action 'self' http://127\.0\.0\.1:7777 } ],
    [ app   => qr/on this device/, qr{form-action 'self' com\.example\.app: } ] )
{
    my ( $id, $text, $action ) = @$row;
    my $before = consents();
    for my $time ( 'the first time', 'again' ) {
        $page = authorize( $ann, $id );
        is_asked( $page, "$id: asked $time" );
        like( $page->body,                              $text,   "$id: with a warning (decisions.md \"Consent\")" );
        like( $page->header('Content-Security-Policy'), $action, "$id: form-action leads there" );
        answer( $ann, $page, 'allow' );
        got_code( $ann, "$id: allow" );
    }
    is( consents(), $before, "$id: never remembered, any program can take that address" );
}

# ---- an omitted scope is the registered one (decisions.md "Omitted scope"): it is shown, and covered by what is remembered

sub shows_scopes {
    my ( $answer, $scopes, $name ) = @_;
    my @shown = $answer->body =~ m{<li>(?:<bdi lang="en">[^<]*</bdi> <span class="name">)?<bdi>([^<]+)</bdi>}g;
    return is( join( ' ', @shown ), $scopes, $name ) || diag( $answer->text );
}
sub register_scope { return $stack->sql("UPDATE client SET scope = '$_[0]' WHERE client_id = 'dyn'") }
register_scope('openid phone');
$page = authorize( $ann, 'dyn', scope => '' );
is_asked( $page, 'a request without scope asks for the registered ones' );
shows_scopes( $page, 'openid phone', '... which the page shows' );
unlike( $page->body, qr/Only see that you signed in/, '... and does not call nothing' );
register_scope('openid phone address');
answer( $ann, $page, 'allow' );
got_code( $ann, 'allow' );
is( $stack->sql('SELECT scope FROM token_grant ORDER BY created_at DESC LIMIT 1'), 'openid phone',
    '... is for what was shown, whatever the client registered meanwhile' );
$page = authorize( $ann, 'dyn', scope => '' );
is_asked( $page, 'a client that registered more since then asks again' );
shows_scopes( $page, 'openid phone address', '... for all of it' );
asks_not( '... and is remembered for what was allowed', 'dyn', scope => 'phone openid' );

# ---- what happens meanwhile

$page = authorize( $ann, 'wiki' );
$stack->sql(q{UPDATE consent_request SET expires_at = now() - interval '1 second'});
refused( answer( $ann, $page, 'allow' ), 'a page of ten minutes ago is too late' );
$page = authorize( $ann, 'wiki' );
$stack->admin(
    PUT  => '/admin/api/clients/wiki',
    json => { clientId => 'wiki', clientType => 'public', redirectUris => [ $back{wiki} ], enabled => false } );
my $late = answer( $ann, $page, 'allow' );
ok( $late->status == 400 && !defined $late->header('Location'),
    'a client that was disabled meanwhile gets nothing: a page' ) or diag( $late->text );
$stack->admin( PUT => '/admin/api/clients/wiki', json =>
      { clientId => 'wiki', clientType => 'public', redirectUris => ['https://wiki.example/other'], enabled => true } );
$stack->sql("UPDATE client SET registration_type = 'DCR' WHERE client_id = 'wiki'");
$stack->admin(
    PUT  => '/admin/api/clients/wiki',
    json => { clientId => 'wiki', clientType => 'public', redirectUris => [ $back{wiki} ], enabled => true } );
$page = authorize( $ann, 'wiki' );
is_asked( $page, '(asked)' );
authorize( $ann, 'admin', prompt => 'login' );
refused( answer( $ann, $page, 'allow' ), 'a new sign-in ends the pages of the session before' );

# ---- the control

for my $row (
    [ always => 'admin', 1 ], [ off => 'wiki', 0 ], [ dynamic_clients => 'wiki', 1 ],
    [ dynamic_clients => 'admin', 0 ] )
{
    my ( $mode, $id, $asked ) = @$row;
    $stack->patch_row( 'svc.operator.controls.consent', { mode => $mode } );
    my $answer = authorize( $ann, $id );
    is( $answer->status, $asked ? 200 : 302, "mode $mode: $id is " . ( $asked ? 'asked' : 'not asked' ) );
}
for my $broken ( q('no json'), q('{"mode":7}'), q('[]'), q('{"mode":"OFF"}') ) {
    $stack->sql("UPDATE policy_data SET payload = $broken WHERE data_key = 'svc.operator.controls.consent'");
    is( authorize( $ann, 'wiki' )->status, 200, "a broken row ($broken) is dynamic_clients: a DCR client is asked" );
}
is( authorize( $ann, 'admin' )->status, 302, '... and an administrator\'s is not' );
$stack->sql("DELETE FROM policy_data WHERE data_key = 'svc.operator.controls.consent'");
is( authorize( $ann, 'wiki' )->status, 200, 'a missing row is dynamic_clients' );

# ---- the admin API (ours; oauth.md 5 "Consent")

$stack->sql(q{UPDATE client SET scope = NULL WHERE client_id = 'dyn'});
my $all = $stack->admin( GET => '/admin/api/consents' );
is( $all->status, 200, 'GET consents' );
my ($one) = grep { $_->{clientId} eq 'dyn' && $_->{scope} =~ /email/ } @{ $all->json };
is_deeply( [ sort keys %$one ], [qw(clientId grantedAt id redirectHost scope subjectId)], '... its members' );
my $time = qr/\A\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\z/;
like( $one->{grantedAt}, $time, '... its time (decisions.md "One form of times")' );
is( "$one->{subjectId} $one->{redirectHost}", 'ann dyn.example', '... the subject and the redirect host' );
is( scalar @{ $stack->admin( GET => '/admin/api/consents?subjectId=ann&clientId=dyn' )->json },
    scalar( grep { $_->{clientId} eq 'dyn' && $_->{subjectId} eq 'ann' } @{ $all->json } ),
    '... by subject and client' );
is_deeply(
    $stack->admin( GET => '/admin/api/consents?subjectId=nobody' )->json, [],
    '... none for an unknown subject' );
is( $stack->admin( GET => '/admin/api/consents', key => undef )->status, 401, '... only with the admin key' );
asks_not( '(dyn is remembered)', 'dyn' );
is( $stack->admin( DELETE => "/admin/api/consents/$one->{id}", key => undef )->status, 401,
    'DELETE wants the admin key' );
is( $stack->admin( DELETE => "/admin/api/consents/$one->{id}" )->status, 204, 'DELETE is 204' );
is( $stack->admin( DELETE => "/admin/api/consents/$one->{id}" )->status, 404, '... and then 404' );
is( $stack->admin( DELETE => "/admin/api/consents/$_" )->status,         404, "DELETE $_ is 404" )
  for qw(x 0 -1 9999999999999999999 1x);
asks( '... and the user is asked again', 'dyn' );

my @session = @{ $stack->admin( GET => '/admin/api/sessions?subjectId=ann' )->json };
is( scalar @session, 1, 'GET sessions: the one of ann' );
is_deeply(
    [ sort keys %{ $session[0] } ], [qw(authTime createdAt expiresAt idpId ip lastSeenAt sid subjectId)],
    '... its members' );
like( $session[0]{$_}, $time, "... $_ is a time in the one form" ) for qw(authTime createdAt expiresAt lastSeenAt);
cmp_ok( scalar @{ $stack->admin( GET => '/admin/api/sessions' )->json }, '>=', 2, '... of all' );
is( $stack->admin( DELETE => "/admin/api/sessions/$session[0]{sid}" )->status, 204, 'DELETE session is 204' );
is( $stack->admin( DELETE => "/admin/api/sessions/$session[0]{sid}" )->status, 404, '... and then 404' );
authorize( $ann, 'admin', prompt => 'none' );
is( back_of($ann)->{error}, 'login_required', '... and the browser is signed out' );

# ---- the language (decisions.md "Languages of the pages")

my $deutsch = authorize( Authz::Browser->new, 'dyn', prompt => 'consent', ui_locales => 'fr de en' );
like(
    $deutsch->body, qr{<html lang="de" dir="ltr">.*den Zugriff auf Ihr Konto erlauben}s,
    'ui_locales of the request counts on the page behind the sign-in too (OpenID Connect Core 3.1.2.1)' );
is( $deutsch->header('Content-Language'), 'de', '... and the page says so' );

# ---- words for scopes (decisions.md "Words for scopes")

sub scope_words {
    my (%words) = @_;
    return $stack->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=svc.registry.scopes',
        json => {
            dataKey => 'svc.registry.scopes',
            payload => JSON::PP->new->ascii->canonical->encode( { scopes => \%words } ) } );
}

sub asked_in {
    my ($languages) = @_;
    my $page = authorize( Authz::Browser->new, 'dyn', prompt => 'consent', ui_locales => $languages );
    return join ' ', $page->body =~ m{<li>(<bdi.*?)</li>}gs;
}
my $shipped = qr{<bdi lang="de">Sehen, wer Sie sind</bdi>\s+<span class="name"><bdi>openid</bdi></span>};
like( asked_in('de'), $shipped, 'the scopes of OpenID Connect have words in each shipped language, beside the name' );
is( scope_words(
        openid => { en => { title => 'Write <b>to you</b>', description => '"Any" time' }, fr => { title => 'Ecrire' } }
    )->status,
    200,
    'a row gives words' );
my $own =
  qr{<bdi lang="en">Write &lt;b&gt;to you&lt;/b&gt;</bdi>.*"more" lang="en">&quot;Any&quot; time</bdi>.*>openid<}s;
like( asked_in('en'), $own, 'they replace the shipped ones, as text, with the name beside them' );
like( asked_in('de'), $own, '... in English if the language of the page has none, and say so' );
like( asked_in('fr'), qr{<bdi lang="fr">Ecrire</bdi>}, '... in the language that was asked for' );
scope_words( openid => { nl => { title => 'Schrijven' } } );
like( asked_in('de'), qr{<bdi lang="nl">Schrijven</bdi>}, '... in the first one if there is no English' );
scope_words( openid => { en => { title => "liame\x{202e}x" } } );
like( asked_in('de'), $shipped, 'words with a character that reorders text are left out' );
like(
    scope_words( openid => { en => { title => 'x' x 81 } } )->status, qr/\A4\d\d\z/,
    'a title of 81 characters is refused' );
scope_words();

done_testing;

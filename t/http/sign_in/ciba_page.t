# The approval page /authorize/ciba (gateway-admin.md 4.2, channel B): sign-in, list, request, answer; whose session counts,
# that a GET changes nothing, and that each form is good for one answer of one session.
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Ciba  ();
use Authz::Grant ();
use Authz::Idp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'Corp accounts' );
my %may =
  ( grants => [$Authz::Ciba::GRANT], scopes => [ 'openid', 'orders.read' ], resources => ['https://api.example'] );
my @till  = $stack->make_client( 'till',  {%may}, clientName => 'The till', clientUri => 'https://till.example' );
my @kiosk = $stack->make_client( 'kiosk', {%may}, clientName => 'The kiosk' );
my $page  = $stack->base . '/authorize/ciba';

# A browser that signs in as somebody on the page itself.
sub browser_of {
    my ( $sub, $query ) = @_;
    $idp->user( { sub => $sub, name => $sub, email => "$sub\@example.org" } );
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow( $page . ( $query // '' ) );
    return ( $browser, $hop[-1], @hop );
}

sub begin {
    my ( $client, @more ) = @_;
    return Authz::Ciba::id_of( $stack, $client, login_hint => 'ann', scope => 'openid orders.read', @more );
}
sub newest { return $stack->sql('SELECT id FROM ciba_request ORDER BY created_at DESC LIMIT 1') }
sub states { return $stack->sql(q{SELECT coalesce(string_agg(state, ' ' ORDER BY created_at), '') FROM ciba_request}) }
sub forget { $stack->sql('DELETE FROM ciba_request'); return }

# ---- sign-in

my ( $ann, $shown, @hop ) = browser_of('ann');
is( $hop[0]->status, 302, 'without a session the page sends the browser to the identity provider' );
like( $hop[0]->header('Location'), qr/\A\Q$idp->{issuer}\E/, '... at once, when there is one' );
is( $hop[0]->header('Cache-Control'), 'no-store', '... and no cache keeps that' );
is( $ann->url,                        $page,      '... whose callback leads back to the page' );
is( $shown->status,                   200,        '... which is shown then' );
like( $shown->body, qr/No request is waiting for you/, '... and says that nothing waits' );
is( $stack->sql(
        q{SELECT string_agg(operation, ' ' ORDER BY id) FROM audit_log WHERE operation IN ('showApproval', 'authorizeCallback')}
    ),
    'showApproval authorizeCallback',
    'the sign-in leaves its two audit rows' );
is( $idp->seen('authorize')->{prompt} // 'none', 'none', '... and asks for nothing special' );

# ---- one request

my $id      = begin( \@till, binding_message => 'W4SCT', resource => 'https://api.example' );
my $request = newest();
my $before  = $stack->sql('SELECT count(*) FROM audit_log');
$shown = $ann->get($page);
like( $shown->body, qr/<h1>[^<]*<bdi>The till</, 'the only request is shown at once: the client' );
like(
    $shown->body, qr{<p class="code"><bdi> <span class="word">W4SCT</span></bdi></p>},
    '... the binding message, large' );
like( $shown->body, qr/orders\.read/,                             '... the scopes' );
like( $shown->body, qr{<dd><bdi>https://api\.example</bdi></dd>}, '... the resource' );
like( $shown->body, qr{<bdi>till\.example</bdi>},                 q{... the host of the client's website} );
like( $shown->body, qr{<dd><bdi>[45]</bdi> minutes<},             '... the time left' );
like( $shown->body, qr/ann\@example\.org.*Corp accounts/s,        '... and who is signed in where' );
unlike( $shown->body, qr/\bar_/, 'the auth_req_id is not on the page' );
my $policy = $shown->header('Content-Security-Policy');
like( $policy, qr/default-src 'none'/,         'the page has a strict Content-Security-Policy' );
like( $policy, qr/frame-ancestors 'none'/,     '... no other page frames it' );
like( $policy, qr/form-action 'self'(?:;|\z)/, '... and its form goes nowhere else' );
unlike( $shown->body, qr/<script/i, 'it needs no script' );
$ann->get("$page?request=$request") for 1 .. 3;
$ann->get("$page?request=$request&decision=approve&token=x");
is( states(),                                      'pending', 'a GET answers nothing, whatever its query says' );
is( $stack->sql('SELECT count(*) FROM audit_log'), $before,   '... and leaves no audit row' );

sub fields {
    my ($answer) = @_;
    my ($form)   = Authz::Browser::forms($answer);
    return { @{ $form->{fields} } };
}
my %form = %{ fields($shown) };
is( join( ' ', sort keys %form ), 'request token', 'the form has the request and a token' );

# ---- forms that do not count

sub post {
    my ( $browser, $set, %option ) = @_;
    my %sent = ( %form, decision => 'approve', %$set );
    return $browser->post(
        $page, form => [ map { ( $_ => $sent{$_} ) } grep { defined $sent{$_} } sort keys %sent ],
        %option );
}

sub refused {
    my ( $answer, $status, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( $answer->status, $status, $name );
    return is( states(), 'pending', '... and answers nothing' );
}
my ($eve) = browser_of('eve');
refused( post( $ann,                { token => undef } ),      400, 'a form without the token: 400' );
refused( post( $ann,                { token => 'x' x 43 } ),   400, 'a form with another token: 400' );
refused( post( $ann,                { request => undef } ),    400, 'a form without the request: 400' );
refused( post( $ann,                { request => 'x' } ),      400, 'a request that is no id: 400' );
refused( post( $ann,                { decision => undef } ),   400, 'a form without a decision: 400' );
refused( post( $ann,                { decision => 'allow' } ), 400, 'a decision of another page: 400' );
refused( post( $eve,                {} ),                      400, q{another person's session with this form: 400} );
refused( post( Authz::Browser->new, {} ),                      400, 'a browser without a session: 400' );
refused( post( $ann, {}, cross_site => 1 ), 400, 'a page of another site (no cookies, SameSite=Lax): 400' );
refused(
    post( $ann, {}, headers => [ 'Sec-Fetch-Site' => 'cross-site' ] ), 400,
    'a browser that says that another site sent the form: 400' );
refused( post( $ann, {}, headers => [ Origin => 'https://evil.example' ] ), 400, 'another origin: 400' );
refused( $ann->post( $page, form => [ %form, decision => 'approve', decision => 'deny' ] ), 400, 'two decisions: 400' );
my ($again) = browser_of('ann');
refused( post( $again, {} ), 400, 'a form of an earlier session of the same person: 400' );

# ---- another person's request

$shown = $eve->get("$page?request=$request");
is( $shown->status, 403, q{a link to another person's request: 403} );
unlike( $shown->body, qr/The till|W4SCT|orders/, '... that tells nothing of it' );
is( $stack->sql(q{SELECT subject_id, client_id, outcome, http_status FROM audit_log ORDER BY id DESC LIMIT 1}),
    "eve\ttill\trejected\t403", '... and leaves an audit row' );
is( $eve->get("$page?request=0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77")->status, 403, 'an unknown request: 403 as well' );
is( $eve->get("$page?request=x")->status,                                    400, 'no id: 400' );
like( $eve->get($page)->body, qr/No request is waiting for you/, 'her list does not show it' );

# ---- the answers

my ($done) = reverse $ann->submit( $ann->get($page), button => [ decision => 'approve' ] );
is( $ann->url, "$page?answered=approved", 'Approve leads to the list' );
like( $done->body, qr/<h1>Approved/, '... which confirms it' );
is( states(), 'approved', 'the request is approved' );
is( $stack->sql(
        q{SELECT subject_id, client_id, outcome, http_status, request_summary::json ->> 'answer' FROM audit_log WHERE operation = 'answerApproval' AND outcome = 'allowed'}
    ),
    "ann\ttill\tallowed\t302\tapproved",
    '... with an audit row' );
is( post( $ann, {} )->status,                     403, 'the same form again: 403' );
is( post( $ann, { decision => 'deny' } )->status, 403, '... also with the other answer' );
is( states(), 'approved', '... and it stays approved' );
my $tokens = Authz::Ciba::poll( $stack, \@till, $id );
oauth_ok( $tokens, { scope => 'openid orders.read' }, 'the client collects its tokens' );
my ( undef, $claims ) = Authz::Grant->jwt( $tokens->member('id_token') );
is( $claims->{sub}, 'ann', '... of the person who approved' );
ok( abs( $claims->{auth_time} - time ) < 60, q{... with the time of the browser's sign-in} );
forget();

$id    = begin( \@till );
$shown = $ann->get($page);
unlike( $shown->body, qr/class="code"/, 'without a binding message there is none' );
like( $shown->body, qr/Approve only if you have just asked/, '... and a warning in its place' );
($done) = reverse $ann->submit( $shown, button => [ decision => 'deny' ] );
like( $done->body, qr/<h1>Denied/, 'Deny is confirmed' );
oauth_error( Authz::Ciba::poll( $stack, \@till, $id ), 400, 'access_denied', '... and the client gets access_denied' );
forget();

# ---- several

begin( \@till, binding_message => 'ONE' );
my $first = newest();
begin( \@kiosk, binding_message => 'TWO' );
$shown = $ann->get($page);
my @link = $shown->body =~ m{<a href="([^"]+request=[^"]+)">(.*?)</a>}gs;
is( scalar @link / 2, 2, 'two requests: a list with two links' );
like( $link[1], qr/The till.*ONE/s,  '... the older one first' );
like( $link[3], qr/The kiosk.*TWO/s, '... and the newer one' );
is( $link[0],                                "$page?request=$first", '... that lead to the requests' );
is( scalar( Authz::Browser::forms($shown) ), 0, '... and no form, so that nothing is approved unread' );
%form = %{ fields( $ann->get( $link[0] ) ) };
is( post( $ann, { request => newest() } )->status, 400, 'the token of one request does not answer the other: 400' );
is( states(),                                      'pending pending', '... both wait' );
($done) = reverse $ann->submit( $ann->get( $link[2] ), button => [ decision => 'approve' ] );
is( states(), 'pending approved', 'the one that was shown is answered' );
like( $done->body, qr/The till/, '... and the other one is listed' );
$stack->sql('UPDATE ciba_request SET expires_at = now()');
is( $ann->get("$page?request=$first")->status, 403, 'an expired request: 403' );
is( post( $ann, {} )->status,                  403, '... and its form' );
unlike( $ann->get($page)->body, qr/The till/, '... and it is not listed' );
forget();

# ---- names are shown as text, and a session that has ended does not count

$stack->sql(q{UPDATE client SET client_name = '<b>Bank</b>', registration_type = 'DCR' WHERE client_id = 'kiosk'});
begin( \@kiosk, binding_message => '<i>x</i>' );
$shown = $ann->get($page);
like( $shown->body, qr/&lt;b&gt;Bank&lt;/, 'a name with markup is shown as text' );
like( $shown->body, qr/&lt;i&gt;x&lt;/,    '... and so is a binding message' );
like( $shown->body, qr/registered itself/, 'a client that registered itself is shown with a warning' );
%form = %{ fields($shown) };
$stack->sql(q{UPDATE browser_session SET expires_at = now() WHERE subject = 'ann'});
refused( post( $ann, {} ), 400, 'a session that has ended: 400' );
is( $ann->get($page)->status, 302, '... and the page asks to sign in again' );
forget();

# ---- several providers

Authz::Grant->people( $stack, idp => 'other', subject => 'other|zoe' );
my ( $new, $choice ) = browser_of( 'ann', '?request=0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77' );
like( $choice->body, qr/Which account/, 'with several providers the person chooses' );
like(
    $choice->body, qr{href="\Q$page\E\?request=0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77&amp;idp_hint=corp"},
    '... and keeps the request' );
@hop = Authz::Browser->new->follow("$page?request=0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77&idp_hint=corp");
is( $hop[-1]->{url}, "$page?request=0193a7c2-6f3e-7b21-9d54-2f6a1c0e8b77",
    'the link of the notification leads straight there, and back to the request' );
$stack->sql('UPDATE identity_provider SET enabled = false');
my $without = Authz::Browser->new->get($page);
is( $without->status, 503, 'without an enabled identity provider the page is 503, not a fault of the service' );
like( $without->body, qr/no identity provider is set up/, '... and says why (decisions.md "Choosing a provider")' );
done_testing;

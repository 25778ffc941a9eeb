# The account page: sessions, applications, connections, requests for approval and delegations of the signed-in person, and
# their ends (decisions.md "Account page").
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Ciba  ();
use Authz::Grant ();
use Authz::Idp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ENABLED => 'true' } );
my $idp   = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'Corp <b>accounts</b>' );
my $page = $stack->base . '/account';
my %may  = ( grants => [ 'authorization_code', 'refresh_token', $Authz::Ciba::GRANT ], scopes => [qw(openid email)] );
my $client =
  [ $stack->make_client( 'shop', {%may}, clientName => 'The <i>shop</i>', redirectUris => [$Authz::Grant::REDIRECT] ) ];

sub browser_of {
    my ($sub) = @_;
    $idp->user( { sub => $sub, name => $sub, email => "$sub\@example.org" } );
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow($page);
    return ( $browser, $hop[-1] );
}

sub forms_of {
    my ( $shown, $kind ) = @_;
    return grep { ( $_->{kind} // 'connection' ) eq $kind }
      map { { action => $_->{action}, @{ $_->{fields} } } } Authz::Browser::forms($shown);
}

sub post {
    my ( $browser, $form, %option ) = @_;
    my %sent = %$form;
    my $to   = delete $sent{action};
    return $browser->post(
        $to, form => [ map { ( $_ => $sent{$_} ) } grep { defined $sent{$_} } sort keys %sent ],
        %option );
}

# ---- what the page shows

my ( $ann, $shown ) = browser_of('ann');
is( $ann->url,      $page, 'without a session the person signs in, and comes back to the page' );
is( $shown->status, 200,   '... which is shown' ) or diag( $shown->text );
like( $shown->body, qr/ann\@example\.org/,                 'it says who is signed in' );
like( $shown->body, qr/Corp &lt;b&gt;accounts&lt;\/b&gt;/, '... where, as text' );
like( $shown->body, qr/This browser/,                      '... and which session is that of this browser' );
like( $shown->body, qr/No application has access/,         'empty lists say so' );
unlike( $shown->body, qr/<script/i, 'it needs no script' );
is( forms_of( $shown, 'session' ), 0, 'the session of this browser ends by the sign-out' );
my $policy = $shown->header('Content-Security-Policy');
like(
    $policy, qr/default-src 'none'.*form-action 'self'(?:;|\z)/,
    'the page has a strict Content-Security-Policy, and its forms go nowhere else' );
is( $shown->header('Cache-Control'), 'no-store', 'no cache keeps it' );

my ($second) = browser_of('ann');
$idp->sign_in( $stack, $client, 'ann', 'openid email' );
my $number = $stack->sql(q{SELECT id FROM client WHERE client_id = 'shop'});
$stack->sql(
    "INSERT INTO consent (subject, client, what, redirect_host, scope) SELECT '$_', $number, '\\x00', 'shop.example', 'openid email' FROM subject WHERE subject = '$_'"
) for qw(ann);
$idp->user( { sub => 'ann', name => 'ann', email => 'ann@example.org' } );
Authz::Ciba::id_of( $stack, $client, login_hint => 'ann', scope => 'openid', binding_message => 'W4SCT' );
my ( $eve, $of_eve ) = browser_of('eve');
$stack->sql(
    q{INSERT INTO uma_resource (id, client, subject, name, scopes) SELECT '019a0000-0000-7000-8000-000000000001', id, 'ann', 'Album <u>', '{view}' FROM client WHERE client_id = 'shop'}
);
$stack->sql(
    q{INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_subject, resource, scopes) SELECT '019a0000-0000-7000-8000-000000000002', id, 'ann', 'eve', '019a0000-0000-7000-8000-000000000001', '{view}' FROM client WHERE client_id = 'shop'}
);
$stack->sql(
    q{INSERT INTO managed_resource (name, upstream_type, document, status) VALUES ('mail', 'REST', '{"displayName":"Mail"}', 'active')}
);
$stack->sql(
    q{INSERT INTO gateway_connection (subject, idp, resource, binding, secret_sealed, scopes, account) SELECT 'ann', id, 'mail', '\x00', '\x00', '{read}', 'ann@mail.example' FROM identity_provider}
);
unlike( $ann->get($page)->body, qr/programs/, 'one program of an application is not worth a word' );
$stack->sql('UPDATE token_grant SET branches = 3');
$shown = $ann->get($page);
is( $shown->status, 200, 'with entries the page is shown' ) or diag( $shown->text );

for my $row (
    [ 'The &lt;i&gt;shop&lt;/i&gt;', 'the application, as text' ],
    [   q{email address</bdi>\s+<span class="name"><bdi>email</bdi></span></li>\s+<li><bdi lang="en">See who you are</bdi>\s+<span class="name"><bdi>openid</bdi></span></li>\s*</ul>},
        q{... and its scopes, once each, with words} ],
    [ '<span class="name"><bdi>3</bdi> programs', 'that programs share its sign-in (world.md R5)' ],
    [ 'W4SCT',                                    'the request that waits, by its message' ],
    [ 'waits for your answer',                    '... and that it waits' ],
    [ 'Album &lt;u&gt;',                          'the delegation, by the name of its resource' ],
    [ '<bdi>eve</bdi>: <bdi>view<',               '... to whom, and for what' ],
    [ 'ann@mail\.example',                        'the connected account' ] )
{
    like( $shown->body, qr/$row->[0]/, "the page shows $row->[1]" );
}
my %form = map { $_ => [ forms_of( $shown, $_ ) ] } qw(session application approval delegation connection);
is( scalar @{ $form{session} }, 2, 'each other session has a form' );
is( scalar @{ $form{$_} },      1, "the $_ has a form" ) for qw(application approval delegation connection);
unlike( $of_eve->body, qr/shop|W4SCT|Album|mail\.example/, 'another person sees none of it' );
my ($same) = forms_of( $ann->get( $stack->base . '/gateway/connect' ), 'connection' );
is( $same->{token},  $form{connection}[0]{token},  'the form of a connection is that of the page of the gateway' );
is( $same->{action}, $form{connection}[0]{action}, '... and leads there' );

# ---- forms that do not count

sub state_of {
    return $stack->sql(
        q{SELECT (SELECT count(*) FROM browser_session WHERE subject = 'ann') || ' ' || (SELECT count(*) FROM consent) || ' ' || (SELECT count(*) FROM token_grant WHERE revoked_at IS NULL) || ' ' || (SELECT string_agg(state, ' ') FROM ciba_request) || ' ' || (SELECT count(*) FROM delegation WHERE revoked_at IS NULL)}
    );
}
my $before = state_of();
is( $before, '3 1 1 pending 1', '(three sessions, a consent, a family of tokens, a request, a delegation)' );
$ann->get("$page?kind=application&id=shop&token=$form{application}[0]{token}");
is( state_of(), $before, 'a GET ends nothing' );
for my $kind (qw(session application approval delegation)) {
    my $good = $form{$kind}[0];
    my ($other) = grep { $_ ne $kind } qw(session application);
    for my $case (
        [ 'without the token',             $ann,                { token => undef } ],
        [ 'with another token',            $ann,                { token => 'x' x 43 } ],
        [ 'with the token of another one', $ann,                { token => $form{$other}[0]{token} } ],
        [ 'for another id',                $ann,                { id    => "$good->{id}x" } ],
        [ 'without the id',                $ann,                { id    => undef } ],
        [ 'of another kind',               $ann,                { kind  => $other } ],
        [ 'of no kind',                    $ann,                { kind  => 'subject' } ],
        [ 'from the session of another',   $eve,                {} ],
        [ 'from another session of hers',  $second,             {} ],
        [ 'from a browser without one',    Authz::Browser->new, {} ],
        [ 'from another site',             $ann,                {}, cross_site => 1 ],
        [ 'from a neighbouring host',      $ann, {}, headers => [ 'Sec-Fetch-Site' => 'same-site' ] ],
        [ 'of another Origin',             $ann, {}, headers => [ Origin           => 'https://evil.example' ] ] )
    {
        my ( $name, $browser, $set, @option ) = @$case;
        is( post( $browser, { %$good, %$set }, @option )->status, 400, "$kind: a form $name is 400" );
    }
}
is( state_of(), $before, '... and ends nothing' );

# ---- ends

sub ended {
    my ( $kind, $name ) = @_;
    my $answer = post( $ann, $form{$kind}[0] );
    is( $answer->status . ' ' . $answer->header('Location'), "303 $page?answered=ended", $name );
    is( $stack->sql(
            q{SELECT subject_id || ' ' || operation || ' ' || (request_summary::json ->> 'kind') || ' ' || (request_summary::json ->> 'ended') FROM audit_log WHERE operation = 'endAtAccount' AND http_status = 303 ORDER BY id DESC LIMIT 1}
        ),
        "ann endAtAccount $kind true",
        '... and the audit row says who ended what' );
    is( post( $ann, $form{$kind}[0] )->header('Location'), $page, '... and a second time says nothing' );
    return;
}
ended( session     => 'a session in another browser ends' );
ended( application => 'the access of an application ends' );
ended( approval    => 'a request is denied' );
ended( delegation  => 'a delegation ends' );
is( state_of(), '2 0 0 denied 0', '... and nothing else has ended' );
like( $ann->get("$page?answered=ended")->body, qr/Ended\./, 'the page confirms it' );
unlike( $ann->get("$page?answered=%3Cb%3E")->body, qr/<b>|Ended\./, '... and shows no other text of its address' );
post( $ann, $form{session}[1] );
is( $stack->sql(q{SELECT count(*) FROM browser_session WHERE subject = 'eve'}), 1, 'sessions of others stay' );
done_testing;

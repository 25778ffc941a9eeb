# A sign-in that a provider refuses: what heals, what must be corrected, and what concerns the person; what people, their application
# and the operator are told of each (world.md W1 to W4).
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
my $idp   = Authz::Idp->start;
my $other = Authz::Idp->start;
$idp->register( $stack, name => 'Corporate account' );
$other->register( $stack, idpId => 'partner', name => 'Partner' );
my $redirect_uri = 'https://app.example/cb';
$stack->make_client(
    'app', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$redirect_uri] );

# Sign in with a new browser, and leave a page by its link to the application. Return what comes back there, the page and its status.
sub sign_in {
    my ($hint)  = @_;
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $redirect_uri, state => 'st',
            scope          => 'openid',
            code_challenge => 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM', code_challenge_method => 'S256',
            idp_hint       => $hint // 'corp' ),
        stop => qr{\A\Q$redirect_uri\E} );
    my $page    = $hop[-1];
    my ($leave) = $page->status =~ /\A50[23]\z/ ? $page->body =~ m{<li><a href="([^"]+)">Return} : ();
    my $end     = defined $leave ? $leave =~ s/&amp;/&/gr : $browser->url;
    return ( $end =~ /\A\Q$redirect_uri\E/ ? Authz::Browser::query($end) : (), page => $page );
}

sub faults {
    my ($id) = @_;
    return $stack->admin( GET => '/admin/api/identity-providers/' . ( $id // 'corp' ) )->json->{faults};
}

sub attended {
    return grep { $_->{kind} eq 'provider_fault' } @{ $stack->admin( GET => '/admin/api/attention' )->json };
}

sub counted {
    my ($code) = @_;
    return $stack->http->get('/metrics')->body =~ /^svc_provider_fault_total\{code="$code"\} (\d+)/m ? $1 : 0;
}

# A page that names the code, without "again", with the other provider and the way back.
sub not_set_up {
    my ( $code, $name, $hint ) = @_;
    my $before = counted($code);
    my %got    = sign_in($hint);
    my $page   = $got{page};
    is( $page->status, 502, "$name: 502 (W1)" ) or diag( $page->text );
    like( $page->body, qr{is not set up correctly}, '... and the page says so' );
    like( $page->body, qr{<code>$code</code>},      "... with the code $code (W2)" );
    unlike( $page->body, qr{Try again|cannot be reached}, '... never "try again" (invalid_client_never_try_again)' );
    like( $page->body, qr{idp_hint=partner}, '... but the other provider' );
    is_deeply(
        [ @got{qw(error state iss)} ], [ 'server_error', 'st', $base ],
        '... and the application gets server_error' );
    is( counted($code), $before + 1, '... it is counted (W3)' );
    return %got;
}

# ---- a secret that has ended (N4)

is_deeply( [ attended() ], [], 'the operator has nothing to look at' );
$idp->misbehave(
    token => { status => 401, body => '{"error":"invalid_client","error_description":"AADSTS7000222 secret"}' } );
my %got = not_set_up( 'client_refused', 'invalid_client of the token endpoint' );
unlike( $got{error_description}, qr/AADSTS/, '... without the provider\'s words' );
like(
    $stack->log_line( $got{page} ), qr/corp \(client_refused\).*invalid_client/,
    '... and the log line has both codes' );
my ($entry) = attended();
is_deeply(
    [ @{$entry}{qw(kind name detail count)} ], [ 'provider_fault', 'corp', 'client_refused', 1 ],
    'the attention list has provider and code (W3)' );
not_set_up( 'client_refused', 'once more within the minute' );
is( faults()->[0]{count}, 1, '... which is one write for each code and minute' );
$stack->sql(q{UPDATE provider_fault SET last_at = last_at - interval '61 s'});
not_set_up( 'client_refused', 'and after the minute' );
is( faults()->[0]{count}, 2, '... it counts' );
$stack->sql(
    q{UPDATE provider_fault SET last_at = now() - interval '24 hours 1 s', first_at = now() - interval '3 days'});
is_deeply( [ attended() ], [], 'after 24 hours the operator has nothing to look at' );
is( faults(), undef, '... and the provider has no faults' );
not_set_up( 'client_refused', 'a fault that comes again' );
is( faults()->[0]{count}, 1, '... begins anew' );

# ---- errors of the callback (B14, W4)

my @said = (
    [ invalid_scope             => 'scope_refused' ],
    [ unauthorized_client       => 'client_refused' ],
    [ invalid_request           => 'request_refused' ],
    [ unsupported_response_type => 'request_refused' ],
    [ 'no"such<error>'          => 'request_refused' ],
    [ redirect_uri_mismatch     => 'redirect_refused' ],
);
for my $row (@said) {
    $idp->misbehave( authorize => { error => $row->[0], error_description => '<b>words</b>' } );
    my %back = not_set_up( $row->[1], "error=$row->[0] of the callback" );
    unlike( $back{page}->body, qr{words}, '... whose words are on no page' );
}
my %passed = (
    login_required           => 'login_required',   interaction_required       => 'interaction_required',
    consent_required         => 'consent_required', account_selection_required => 'account_selection_required',
    access_denied            => 'access_denied',
    user_cancelled_authorize => 'access_denied', user_cancelled_login => 'access_denied',
);
my $rows = $stack->sql('SELECT sum(n) FROM provider_fault');
for my $said ( sort keys %passed ) {
    $idp->misbehave( authorize => { error => $said } );
    my %back = sign_in();
    is( $back{error},        $passed{$said}, "$said is $passed{$said} for the application (W4)" );
    is( $back{page}->status, 302,            '... at once' );
}
for my $said (qw(server_error temporarily_unavailable)) {
    $idp->misbehave( authorize => { error => $said } );
    my %back = sign_in();
    is( $back{page}->status, 503, "$said heals: 503 (W1)" );
    like( $back{page}->body, qr{Try again}, '... with a link to try again' );
    is( $back{error}, 'temporarily_unavailable', '... and the application learns that when the person leaves' );
}
$idp->misbehave( authorize => { error => 'invalid_scope', iss => 'https://evil.example' } );
is( { sign_in() }->{error}, 'server_error',
    'an error with the iss of another issuer proves nothing (RFC 9207 2.4)' );
$idp->misbehave( authorize => { error => 'access_denied', iss => undef } );
is( { sign_in() }->{error}, 'server_error',
    'nor one without iss, which the discovery document announces (RFC 9207 2.4)' );
$idp->misbehave( token => { status => 503 } );
is( { sign_in() }->{page}->status, 503, 'a token endpoint that answers 503 heals' );
$idp->behave;
is( $stack->sql('SELECT sum(n) FROM provider_fault'), $rows, 'none of these is a fault of the settings' );

# ---- before the browser leaves

my $late = Authz::Idp->start;
$late->misbehave( discovery => { issuer => 'https://evil.example' } );
$late->register( $stack, idpId => 'late' );
not_set_up( 'issuer_other', 'a discovery document of another issuer', 'late' );
is( faults('late')->[0]{code}, 'issuer_other', '... is a fault of that provider' );
$late->behave;
ok( defined { sign_in('late') }->{code}, '... and a corrected document is read at once' );
$stack->admin( DELETE => '/admin/api/identity-providers/late' );
is( $stack->sql(q{SELECT count(*) FROM provider_fault WHERE code = 'issuer_other'}), 0,
    'its faults go with a provider' );

done_testing;

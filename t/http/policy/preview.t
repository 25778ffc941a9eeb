# The early gate: policy is asked once as a preview, after the sign-in and before consent, and what is known before the sign-in
# is refused before it (decisions.md "Early gate", policy.md 6.2).
use strict;
use warnings;

use JSON::PP ();
use POSIX    ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Browser ();
use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Inputs;

my $idp = Authz::Idp->start;
$idp->user( { sub => 'ann', email => 'ann@example.org', groups => ['staff'], acr => 'urn:loa:1', amr => ['pwd'] } );
my $stack = Authz::Stack->start( fake_opa => 1, settings => { Authz::Idp::settings() } );
my $base  = $stack->base;
my $fake  = $stack->fake;
$idp->register($stack);

my $cb  = 'https://app.example/cb';
my %may = ( grants => ['authorization_code'], scopes => [qw(openid email orders.read orders.admin)] );
my @web = $stack->make_client( 'web', { %may, resources => ['https://api.example'] }, redirectUris => [$cb] );
$stack->make_client( 'none', undef, redirectUris => [$cb] );
$stack->make_client( 'dyn', \%may, clientType => 'public', redirectUris => ['https://dyn.example/cb'] );
$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'dyn'});
$stack->patch_row( 'svc.entitlements.bindings', { scopes => { 'orders.admin' => { groups => ['corp/ops'] } } } );

sub address {
    my ( $id, %more ) = @_;
    my %param = (
        response_type => 'code',   client_id => $id, redirect_uri => $id eq 'dyn' ? 'https://dyn.example/cb' : $cb,
        scope         => 'openid', state     => 's1',
        $id eq 'dyn' ? ( code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER) ) : (),
        %more );
    return "$base/authorize?"
      . Authz::Client::form( map { ( $_ => $param{$_} ) } grep { defined $param{$_} } sort keys %param );
}

# Return the end of the request: the members that came back to the client, and the page.
sub ends {
    my ( $browser, $id, %more ) = @_;
    my $page = ( $browser->follow( address( $id, %more ), stop => qr{\Ahttps://} ) )[-1];
    my $to   = Authz::Browser::location($page) // return { page => $page };
    return { Authz::Browser::query($to), page => $page };
}

sub denied {
    my ( $end, $error, $text, $name ) = @_;
    my @wrong = grep { ( $end->{$_} // 'absent' ) !~ /\A(?:absent|\Q$error\E|s1|\Q$base\E|.*\Q$text\E.*)\z/ }
      qw(error state iss error_description);
    push @wrong, 'code'  if defined $end->{code};
    push @wrong, 'error' if ( $end->{error} // '' ) ne $error;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok( !@wrong, $name )
      || diag( "wrong: @wrong\n", explain( { %$end, page => substr $end->{page}->text, 0, 600 } ) );
}

sub last_audit {
    my ($what) = @_;
    return $stack->sql("SELECT $what FROM audit_log WHERE endpoint LIKE '/authorize%' ORDER BY id DESC LIMIT 1");
}
sub codes { return $stack->sql('SELECT count(*) FROM token_grant') }

sub replay {
    return $stack->admin(
        POST => '/admin/api/policy-rules/evaluate',
        json => { auditId => 0 + last_audit('id') } );
}

# ---- a denial comes back at once, after the sign-in

my $ann = Authz::Browser->new;
denied(
    ends( $ann, 'none' ), 'unauthorized_client', 'not entitled to this grant type',
    'a client without an entitlement: the denial comes back after the sign-in, as the error of its category' );
is( last_audit(q{operation || ' ' || http_status || ' ' || outcome || ' ' || client_id || ' ' || subject_id}),
    'authorizeCallback 302 denied none ann', '... audited as denied' );
is( codes(), 0, '... and there is no code' );
admin_ok(
    replay(), 200,
    { changed => false, before => sub { !$_[0]{allow} && $_[0]{deny_reasons}[0]{code} eq 'grant_not_entitled' } },
    '... the question can be replayed (policy.md 6.6)' );
denied( ends( $ann, 'none' ), 'unauthorized_client', 'not entitled', 'with a live session too' );
denied( ends( $ann, 'none', prompt => 'none' ), 'unauthorized_client', 'not entitled', '... and under prompt=none' );
denied(
    ends( $ann, 'none', prompt => 'consent' ), 'unauthorized_client', 'not entitled',
    '... and nobody is asked for consent to it' );
denied(
    ends( $ann, 'web', scope => 'admin' ), 'invalid_scope', q{a requested scope is not granted: 'admin'},
    'category scope: the scope is named' );
denied(
    ends( $ann, 'web', resource => 'https://other.example' ), 'invalid_target', 'not entitled to this resource',
    'category resource' );
denied(
    ends( $ann, 'web', authorization_details => '[{"type":"pay"}]' ),
    'invalid_authorization_details', 'not known', 'category details' );
is( codes(), 0, 'no code yet' );

# An operator's hook with each category; invalid_grant is no code of /authorize (RFC 6749 4.1.2.1).
my %error = (
    client      => 'unauthorized_client', grant => 'unauthorized_client', token => 'access_denied',
    subject     => 'access_denied',
    trust       => 'access_denied', policy => 'access_denied', scope => 'invalid_scope',
    environment => 'access_denied' );
my $rule = { path => 'custom/issue.rego', kind => 'rego', version => '1', enabled => true };
for my $category ( sort keys %error ) {
    $rule->{content} =
      "package custom.issue\n\ndeny contains {\"code\": \"c\", \"category\": \"$category\", \"message\": \"said $category\"}\n";
    my $saved = $stack->admin( PUT => '/admin/api/policy-rules/by-path', json => $rule );
    die $saved->text if $saved->status !~ /\A20[01]\z/;
    denied(
        ends( $ann, 'web' ), $error{$category}, "said $category",
        "a hook of category $category: $error{$category}" );
}
$rule->{content} =
    "package custom.issue\n\ndeny contains \"seen\" if {\n\tinput.evaluation == \"preview\"\n"
  . "\tinput.request.endpoint == \"/authorize\"\n\tinput.request.grant_type == \"authorization_code\"\n\tinput.subject.id == \"ann\"\n"
  . "\tinput.subject.idp == \"corp\"\n\tinput.subject.iss == \""
  . $idp->issuer
  . "\"\n\tinput.subject.acr == \"urn:loa:1\"\n"
  . "\tinput.subject.amr == [\"pwd\"]\n\tinput.subject.claims.email == \"ann\@example.org\"\n\tinput.subject.auth_time > 0\n}\n";
$stack->admin( PUT => '/admin/api/policy-rules/by-path', json => $rule );
denied( ends( $ann, 'web' ), 'access_denied', 'seen', 'policy sees who signed in, how and when, from the session' );
$rule->{content} = "package custom.issue\n";
$stack->admin( PUT => '/admin/api/policy-rules/by-path', json => $rule );

# ---- what is known before the sign-in is refused before it

$stack->make_client( $_, \%may, redirectUris => [$cb] ) for qw(scoped granted);
$stack->sql(q{UPDATE client SET scope = 'openid email' WHERE client_id = 'scoped'});
$stack->sql(q{UPDATE client SET grant_types = '{client_credentials}' WHERE client_id = 'granted'});
my $nobody = Authz::Browser->new;
my $before = () = $idp->seen('authorize');
denied(
    ends( $nobody, 'scoped', scope => 'orders.read' ),
    'invalid_scope', 'registered', 'a scope that the client did not register' );
denied( ends( $nobody, 'granted' ), 'unauthorized_client', '', 'a grant that the client did not register' );
is( () = $idp->seen('authorize'), $before, '... nobody is sent to the provider for them' );
like(
    ends( $nobody, 'scoped', scope => 'openid orders.read' )->{code} // '',
    qr/\Aac_/, 'with a registered scope beside it the request goes on' );
is( $stack->sql('SELECT scope FROM token_grant ORDER BY created_at DESC LIMIT 1'),
    'openid', '... and the code is for that one alone' );

# ---- an allowed request: asked once, audited, and asked again at /token

my $asked = $fake->asked;
my $end   = ends( $ann, 'web', scope => 'openid orders.read orders.admin' );
like( $end->{code} // '', qr/\Aac_/, 'an entitled request gets its code' );
is( $fake->asked - $asked, 1, '... after one question' );
is( last_audit(
        q{operation || ' ' || outcome || ' ' || (policy_input IS NOT NULL) || ' ' || (policy_decision IS NOT NULL)}),
    'authorize allowed true true',
    '... which its audit row has' );
admin_ok( replay(), 200, { changed => false, before => sub { $_[0]{allow} } }, '... for a replay' );
is( $stack->sql('SELECT scope FROM token_grant ORDER BY created_at DESC LIMIT 1'), 'openid orders.read',
    'the code carries what would be granted' );
my %redeem = ( grant_type => 'authorization_code', redirect_uri => $cb );

sub redeem {
    my ( $code, %more ) = @_;
    my %form = ( %redeem, code => $code, %more );
    my @auth = $more{client_id} ? () : Authz::Client::basic(@web);
    return $stack->http->post( '/token', headers => \@auth, form => [ map { ( $_ => $form{$_} ) } sort keys %form ] );
}
$stack->bind( web => { scopes => ['openid'] } );
oauth_ok(
    redeem( $end->{code} ), { scope => 'openid' },
    '/token asks again: what policy took away meanwhile is not granted' );
$end = ends( $ann, 'web', scope => 'openid orders.read' );
$stack->bind( web => { scopes => [qw(openid orders.read)] } );
oauth_ok( redeem( $end->{code} ), { scope => 'openid' }, '... and what it added meanwhile is beyond the code' );
$end = ends( $ann, 'web' );
$stack->bind( web => { grants => [] } );
oauth_error(
    redeem( $end->{code} ), 400, 'unauthorized_client',
    '... and a preview that allowed is no decision of /token' );
$stack->bind( web => { grants => ['authorization_code'] } );

# ---- a client that changes during each of several attempts

# Another process changes the client while policy is asked, three times.
my $count = $fake->asked;
my $pid   = fork // die "fork: $!";
if ( !$pid ) {
    for my $turn ( 1 .. 3 ) {
        Authz::Process::until_true( 20, sub { $fake->asked >= $count + $turn } );
        $stack->sql("UPDATE client SET client_name = 'turn $turn' WHERE client_id = 'web'");
    }
    POSIX::_exit(0);
}
$fake->tell( delay => 0.5 );
$end = ends( $ann, 'web' );
$fake->tell('pass');
waitpid $pid, 0;
like(
    $end->{code} // $end->{page}->text, qr/\Aac_/,
    'a client that changes during three attempts gets its code (architecture.md 4 "Cached clients")' );

# ---- the consent page shows what would be granted and nothing else

sub shown {
    my ($page) = @_;
    return join ' ', $page->body =~ m{<li>(?:(?:<bdi[^>]*>[^<]*</bdi> )+<span class="name">)?<bdi>([^<]+)</bdi>}g;
}
my @all = ( scope => 'openid orders.read orders.admin' );
$asked = $fake->asked;
my $page = ends( $ann, 'dyn', @all )->{page};
is( shown($page), 'openid orders.read', 'the page shows the granted scopes, not one that is kept for a group' );
is( $fake->asked - $asked, 1,           '... after one question' );
is( $stack->sql(
        q{SELECT outcome || ' ' || (policy_input IS NOT NULL) FROM audit_log WHERE operation = 'authorize' ORDER BY id DESC LIMIT 1}
    ),
    'allowed true',
    '... which the audit row of /authorize has' );
$stack->patch_row( 'svc.entitlements.bindings', { scopes => { 'orders.admin' => { groups => ['corp/staff'] } } } );
$ann->submit( $page, button => [ decision => 'allow' ], stop => qr{\Ahttps://} );
my %back = Authz::Browser::query( $ann->url );
is( $fake->asked - $asked, 1, 'the answer asks no second time: the page showed the preview' );
oauth_ok(
    redeem(
        $back{code}, client_id => 'dyn', redirect_uri => 'https://dyn.example/cb',
        code_verifier => $Authz::Grant::VERIFIER ),
    { scope => 'openid orders.read' },
    'the token has no more than the page showed, though policy grants more by now' );
$page = ends( $ann, 'dyn', @all )->{page};
is( shown($page), 'openid orders.read orders.admin',
    'what was agreed to is remembered for what was shown: more asks again' );
$stack->patch_row( 'svc.entitlements.bindings', { scopes => { 'orders.admin' => { groups => ['corp/ops'] } } } );
like( ends( $ann, 'dyn', @all )->{code} // '', qr/\Aac_/, '... and the same does not' );
like(
    ends( $ann, 'dyn', scope => 'orders.read openid', prompt => 'none' )->{code} // '', qr/\Aac_/,
    '... however the client words it, also under prompt=none' );

# ---- somebody else

my ($other) = $page->body =~ m{<a href="([^"]+)">Use another account</a>};
my %other = Authz::Browser::query( ( $other // '?' ) =~ s/&amp;/&/gr );
is_deeply(
    [ @other{qw(prompt client_id scope state login_hint)} ],
    [ 'login', 'dyn', 'openid orders.read orders.admin', 's1', undef ],
    'the page links to a sign-in with another account: the same request with prompt=login' );
$idp->user( { sub => 'eve', email => 'eve@example.org', groups => ['ops'], auth_time => time + 1 } );
my $eve = ( $ann->follow( ( $other // '' ) =~ s/&amp;/&/gr, stop => qr{\Ahttps://} ) )[-1];
is( shown($eve), 'openid orders.read orders.admin', '... who may get what the first one may not' );
like( $eve->body, qr/eve\@example\.org/, '... and is asked by name' );

# ---- the engine

sub unavailable {
    my ( $name, $id ) = @_;
    my $had = codes();
    my $end = ends( $ann, 'web' );
    is( $end->{error}, 'temporarily_unavailable', "$name: temporarily_unavailable at the client" )
      or diag( $end->{page}->text );
    is( $end->{page}->header('Retry-After'), 1,    '... Retry-After' );
    is( codes(),                             $had, '... no code' );
    is( last_audit(q{operation || ' ' || outcome || ' ' || (policy_input IS NOT NULL)}), 'authorize error true',
        '... audited as an error, with the question' );
    return;
}
my $good = $stack->sql('SELECT acceptable[1] FROM bundle_state');
$fake->tell('close');
unavailable('an engine that does not answer');
$fake->tell( set => { 'result.scopes' => [ 'openid', 'root' ] } );
unavailable('an answer that widens the request');
$fake->tell( set => { 'provenance.bundles.svc.revision' => 'f' x 32 } );
my $started = time;
unavailable('a revision that may not decide');
cmp_ok(
    time - $started, '>', 0.9,
    '... after it was asked again for a second (decisions.md "Which revisions may decide")' );
$fake->tell( set => { 'provenance.bundles.svc.revision' => 'f' x 32, 'result.allow' => JSON::PP::false() } );
unavailable('a denial by such a revision');
is( ends( $ann, 'dyn', scope => 'openid email' )->{page}->status, 503,
    '... a page for a client that registered itself' );
$fake->tell('pass');
like( ends( $ann, 'web' )->{code} // '', qr/\Aac_/, 'it is back' );

my $counted = $stack->http->get('/metrics')->body;
like(
    $counted, qr/^svc_decisions_total\{evaluation="preview",outcome="$_",/m,
    "a preview is counted as one: $_ (gateway-admin.md 7.1)" ) for qw(allowed denied);
inputs_ok($stack);

done_testing;

# Many tabs of one browser that sign in, and what becomes of a callback that cannot be used (world.md F1, F2).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $back  = $Authz::Grant::REDIRECT;
$idp->register($stack);
$stack->make_client( 'crm', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

sub request_of {
    my (%more) = @_;
    my %param =
      ( response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid', state => 's', %more );
    return "$base/authorize?" . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

sub sign_ins { return $stack->sql('SELECT count(*) FROM sign_in WHERE taken_at IS NULL') }

sub flows {
    my ($browser) = @_;
    return scalar grep { $_->{name} =~ /svc_flow_/ } $browser->cookies($base);
}

# The callback of a browser whose person has just signed in at the provider.
sub callback_of {
    my ( $browser, $to ) = @_;
    my $there = $browser->get($to);
    return Authz::Browser::location($there);
}

# Starts that a browser makes at once: each is sent without a cookie. The browser has what all answers set, in their order.
sub at_once {
    my (@request) = @_;
    my $browser = Authz::Browser->new;
    my @to;
    for my $request (@request) {
        my $answer = Authz::Browser->new->get($request);
        $browser->set_cookie( $base, $_ ) for $answer->headers('Set-Cookie');
        push @to, Authz::Browser::location($answer);
    }
    return ( $browser, @to );
}

sub is_code {
    my ( $answer, $state, $name ) = @_;
    my %answer = Authz::Browser::query( $answer->header('Location') // '' );
    ok( $answer->status == 302 && $answer{code} && $answer{state} eq $state, $name ) or diag $answer->text;
    return;
}

sub is_page {
    my ( $answer, $name ) = @_;
    is( $answer->status, 400, $name ) or diag $answer->text;
    like( $answer->body, qr/unknown, already used or expired/, '... a page that says so' );
    is( $answer->header('Location'), undef, '... and no redirect' );
    return;
}

# ---- F1, eight_at_once

my ( $tabs, @to ) = at_once( map { request_of( state => "tab$_" ) } 1 .. 8 );
is( flows($tabs), 8, 'eight tabs that start at once have a mark of their own each (world.md F1)' );
my ($one) = grep { $_->{name} =~ /svc_flow_/ } $tabs->cookies($base);
like(
    $one->{text},
    qr{\Asvc_flow_[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=660; HttpOnly; SameSite=Lax\z},
    '... that is named by its state, for 660 s' );
my @callback = map { callback_of( $tabs, $_ ) } @to;
for my $tab ( 1 .. 8 ) {
    is_code( $tabs->get( $callback[ $tab - 1 ] ), "tab$tab", "eight_at_once: tab $tab gets its code" );
    is( flows($tabs), 8 - $tab, '... and its mark is dropped' );
}
is( sign_ins(), 0, '... and each sign-in was taken' );

# A tab starts with the mark of an answer, and the answer to an earlier one replaces that mark before the callback.
{
    my $browser = Authz::Browser->new;
    my $late    = Authz::Browser->new->get( request_of( state => 'late' ) );
    $browser->get( request_of( state => 'first' ) );
    my $to = Authz::Browser::location( $browser->get( request_of( state => 'second' ) ) );
    $browser->set_cookie( $base, $_ ) for $late->headers('Set-Cookie');
    is_code(
        $browser->get( callback_of( $browser, $to ) ), 'second',
        'a mark that an answer replaced late ends no tab' );
}
$stack->sql('DELETE FROM sign_in');

my $tidy = Authz::Browser->new;
$tidy->get( request_of() );
is( flows($tidy), 1, 'a start without a mark sets one for its sign-in' );
my $with = $tidy->get( request_of() );
is( flows($tidy), 2,
    '... so does a start with the mark of the browser: the answer to another tab, still on its way, may replace that' );
is( scalar( grep {/\Asvc_(?:browser|flow_\w+)=[^;]/} $with->headers('Set-Cookie') ), 2, '... two cookies an answer' );
$stack->sql('DELETE FROM sign_in');

# ---- flow_cookie_other_state: a mark binds one state to one browser (RFC 6749 10.12)

( $tabs, @to ) = at_once( map { request_of( state => "tab$_" ) } 1 .. 2 );
my ( $mine, $other ) = map { callback_of( $tabs, $_ ) } @to;
my %mark = map { ( $_->{name} => $_->{value} ) } $tabs->cookies($base);
my @name = do {
    my @row = split /\n/, $stack->sql(q{SELECT encode(state_hash, 'hex') FROM sign_in ORDER BY expires_at});
    map { 'svc_flow_' . substr $_, 0, 8 } @row;
};
my $http = $stack->client;
my $ask  = sub {
    my ( $url, $cookie ) = @_;
    return $http->get( $url =~ s{\A\Q$base\E}{}r, headers => [ Cookie => $cookie ] );
};
is_page( $ask->( $mine, "$name[1]=$mark{$name[1]}" ),  "flow_cookie_other_state: another sign-in's mark is none" );
is_page( $ask->( $mine, "$name[0]=$mark{$name[1]}" ),  '... nor its octets under this name' );
is_page( $ask->( $mine, "$name[1]=$mark{$name[0]}" ),  '... nor these octets under its name' );
is_page( $ask->( $mine, "svc_flow_=$mark{$name[0]}" ), '... nor a name without a state' );
is_page( $ask->( $mine, "$name[0]=$mark{$name[0]}; $name[0]=$mark{$name[1]}" ), '... nor two of one name' );
is( sign_ins(), 2, '... and nothing was taken' );
is_page( Authz::Browser->new->get($mine), 'a browser without a mark: login CSRF' );
( my $eve ) = at_once( request_of() );
is_page( $eve->get($mine), "... and one with marks of its own, svc_browser and svc_flow_" );
is_code( $ask->( $mine,  "$name[0]=$mark{$name[0]}" ),       'tab1', 'the mark of the state alone is enough' );
is_code( $ask->( $other, "svc_browser=$mark{svc_browser}" ), 'tab2', '... and so is that of the browser' );
$stack->sql('DELETE FROM sign_in');

# ---- two_providers in two tabs

my $second = Authz::Idp->start;
$second->register( $stack, idpId => 'second', name => 'Second' );
$second->user( { sub => 'two', name => 'Two' } );
( $tabs, @to ) =
  at_once( request_of( state => 'a', idp_hint => 'corp' ), request_of( state => 'b', idp_hint => 'second' ) );
@callback = map { callback_of( $tabs, $_ ) } @to;
like( $callback[1], qr{/callback/second\?}, 'two_providers: each tab is at its own' );
my ( $x, $y ) = map { my %q = Authz::Browser::query($_); $q{state} } @callback;
is_page( $tabs->get( $callback[0] =~ s/\Q$x\E/$y/r ), "... the state of the other's sign-in is refused (mix-up)" );
is_code( $tabs->get( $callback[0] ), 'a', '... the first gets its code' );
is_code( $tabs->get( $callback[1] ), 'b', '... and the second' );

# ---- limits: 16 marks of single sign-ins

my $full = sub {
    my ( $count, @more ) = @_;
    my $cookie = join '; ', @more, map { sprintf 'svc_flow_%08x=%s', $_, 'A' x 43 } 1 .. $count;
    my $answer = $http->get( request_of( idp_hint => 'corp' ) =~ s{\A\Q$base\E}{}r, headers => [ Cookie => $cookie ] );
    my @set    = $answer->headers('Set-Cookie');
    return ( scalar( grep {/svc_flow_\w+=;.*Max-Age=0/} @set ), scalar( grep {/svc_flow_\w+=[^;]/} @set ) );
};
is_deeply( [ $full->(15) ],                              [ 0,  1 ], 'a sixteenth mark is set beside fifteen' );
is_deeply( [ $full->(16) ],                              [ 16, 1 ], '... a seventeenth drops all others' );
is_deeply( [ $full->( 15, 'svc_browser=' . 'A' x 43 ) ], [ 0,  1 ], '... with the mark of the browser too: 15' );
is_deeply( [ $full->( 16, 'svc_browser=' . 'A' x 43 ) ], [ 16, 1 ], '... 16' );
is_deeply( [ $full->(64) ],                              [ 64, 1 ], 'one answer drops 64' );
is_deeply( [ $full->(65) ],                              [ 64, 1 ], '... of 65' );
my $strange = $http->get(
    request_of( idp_hint => 'corp' ) =~ s{\A\Q$base\E}{}r,
    headers => [ Cookie => join '; ', map {"svc_flow_0000000$_=x"} 'g', 'A', '"', '12', '', ' 1' ] );
is( scalar( grep {/Max-Age=0/} $strange->headers('Set-Cookie') ), 0, 'other names are no marks' );
my ( undef, $query ) = split /\?/, request_of( idp_hint => 'corp', login_hint => 'ann@example.org' );
my $posted = $http->post(
    '/authorize',
    headers => [ 'Content-Type' => 'application/x-www-form-urlencoded', 'Sec-Fetch-Site' => 'cross-site' ],
    body    => $query );
is( $posted->status, 302, 'a form of another site, which comes without cookies' );
is( join( ' ', map {/\A(\w+)=/} $posted->headers('Set-Cookie') ),
    'svc_browser', '... makes no mark of its own: that site could fill the browser with them' );

# ---- F2: a callback that cannot be used begins the request again, once

$stack->sql('DELETE FROM sign_in');
$stack->make_client(
    'self', { grants => ['authorization_code'], scopes => ['openid'] },
    clientName => 'Self', redirectUris => [$back] );
$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'self'});

# A browser that has signed in, and the callback that it used.
sub used {
    my ( $browser, %more ) = @_;
    my $callback =
      callback_of( $browser, Authz::Browser::location( $browser->get( request_of( idp_hint => 'corp', %more ) ) ) );
    return ( $browser->get($callback), $callback );
}

sub is_begun {
    my ( $answer, $name, %expected ) = @_;
    is( $answer->status, 303, $name ) or diag $answer->text;
    my $to    = $answer->header('Location') // '';
    my %query = Authz::Browser::query($to);
    like( $to, qr{\A\Q$base\E/authorize\?}, '... to /authorize' );
    is( join( ' ', @query{qw(client_id redirect_uri scope state idp_hint)} ),
        join( ' ', 'crm', $back, 'openid', $expected{state} // 's', 'corp' ),
        '... with the stored request and its provider' );
    is( $query{$_}, $expected{$_}, "... and its $_" ) for sort keys %expected;
    ok( !exists $query{code}, '... and without the code of the provider, which is thrown away' );
    return $to;
}

# Return the link of a page that offers to begin again.
sub link_of {
    my ( $answer, $name ) = @_;
    is( $answer->status,             400,   $name ) or diag $answer->text;
    is( $answer->header('Location'), undef, '... a page, no redirect' );
    my ($href) = $answer->body =~ m{<a href="(\Q$base\E/authorize[^"]*)">Sign in again</a>};
    ok( $href, '... with a link to begin again' ) or diag $answer->body;
    unlike( $answer->body, qr/Go back to the application and start again\. If/, '... that blames no application' );
    return ( $href // '' ) =~ s/&amp;/&/gr;
}
my $ann = Authz::Browser->new;
my ( $code, $callback ) = used( $ann, state => 'back', nonce => 'n', code_challenge => 'c' x 43 );
is_code( $code, 'back', 'a sign-in' );
is( $stack->sql(
            q{SELECT count(*) FROM sign_in WHERE taken_at IS NOT NULL AND verifier_sealed = '' AND nonce = ''}
          . q{ AND browser_hash = '' AND NOT again} ),
    1,
    'a sign-in that was taken stays, without verifier, nonce and mark' );
my $redeemed = () = $idp->seen('token');
my $again    = is_begun( $ann->get($callback), 'back_key', state => 'back', nonce => 'n', code_challenge => 'c' x 43 );
is( scalar( () = $idp->seen('token') ), $redeemed, '... which nobody redeemed' );
is_code( $ann->get($again), 'back', '... and the session answers it' );
is_page( $ann->get($callback), '... once: the next time is as before' );
is( $stack->sql(
            q{SELECT outcome || ' ' || http_status || ' ' || (request_summary::json ->> 'reason') FROM audit_log}
          . q{ WHERE http_status = 303} ),
    'allowed 303 The request begins again',
    '... and the audit log says what it was' );

# no_session_link
( undef, $callback ) = used( Authz::Browser->new );
my $fresh = Authz::Browser->new;
my $href  = link_of( $fresh->get($callback), 'no_session_link: a browser without a session gets a link' );
is_page( $fresh->get($callback), '... once' );
like( Authz::Browser::location( $fresh->get($href) ), qr{\A\Q@{[ $idp->issuer ]}\E/}, '... which signs in' );
( undef, $callback ) = used( Authz::Browser->new );
my $there = Authz::Browser->new;
$there->follow( request_of( idp_hint => 'second' ), stop => qr{\A\Q$back\E} );
link_of( $there->get($callback), 'a session of another provider is none' );

# scanner_then_person: a program that reads addresses loads the callback without a mark, before the person does.
my $to = Authz::Browser::location( $fresh->get( request_of( idp_hint => 'corp', state => 'scan' ) ) );
$callback = callback_of( $fresh, $to );
is_page(
    Authz::Browser->new->get($callback),
    'scanner_then_person: who has the address alone learns nothing of the request, whose state and challenge would let'
      . ' him lead the person to the client with a code of his own (login CSRF, RFC 9700 4.2)' );
is_code( $fresh->get($callback), 'scan', '... the person, who has the mark, gets the code' );

# The scanner has the browser's cookies, and uses the callback up.
my $bare = Authz::Browser->new;
$to       = Authz::Browser::location( $bare->get( request_of( idp_hint => 'corp' ) ) );
$callback = callback_of( $bare, $to );
my $cookie = join '; ', map {"$_->{name}=$_->{value}"} $bare->cookies($base);
is_code( $ask->( $callback, $cookie ), 's', 'a scanner with the cookies uses the callback up' );
link_of( $bare->get($callback), '... the person gets a link' );

# Two loads at the same moment: one goes on, the other finds the request.
$to       = Authz::Browser::location( $bare->get( request_of( idp_hint => 'corp' ) ) );
$callback = callback_of( $bare, $to );
$cookie   = join '; ', map {"$_->{name}=$_->{value}"} $bare->cookies($base);
my @both = Authz::Client::together(
    map {
        [   $stack->client,
            $stack->client->octets(
                GET => $callback =~ s{\A\Q$base\E}{}r, headers => [ Cookie => $cookie ], close => 1 ) ]
    } 1,
    2 );
for my $one (@both) {    # a browser holds one place at a provider, so one of them may be told to come again
    for ( 1 .. 30 ) {
        my $wait = $one->header('Refresh') // last;
        sleep $wait;
        $one = $ask->( $callback, $cookie );
    }
}
is( join( ' ', sort map { $_->status } @both ), '302 400', 'two loads at once: one code' );

# attacker_callback_with_session: the attacker's own callback in the browser of somebody who is signed in.
my $eve_browser = Authz::Browser->new;
$idp->user( { sub => 'eve', name => 'Eve', email => 'eve@example.org' } );
$to = Authz::Browser::location( $eve_browser->get( request_of( idp_hint => 'corp', state => 'eves' ) ) );
my $eves = callback_of( $eve_browser, $to );
$idp->user( { sub => 'ann', name => 'Ann Example', email => 'ann@example.org' } );
is_page( $ann->get($eves), 'attacker_callback_with_session: a sign-in that nobody took begins nothing' );
$eve_browser->get($eves);
my $led = is_begun( $ann->get($eves), '... one that the attacker took', state => 'eves' );
is_code( $ann->get($led), 'eves', "... leads to what any link may: a code of the person, with the attacker's state" );
is( $stack->sql(q{SELECT subject FROM token_grant ORDER BY created_at DESC LIMIT 1}), 'ann', '... for the person' );
( undef, my $forced ) = used( Authz::Browser->new, client_id => 'self', state => 'x' );
my $judged = $ann->get($forced);
is( $judged->status, 303, "a stored request of a client that registered itself begins again" );
like(
    Authz::Browser::location( $ann->get( Authz::Browser::location($judged) ) ), qr{/authorize/consent\?id=},
    '... and consent is asked for' );

# prompt_login_not_skipped
for my $way ( [ prompt => 'login' ], [ max_age => 0 ], [ prompt => 'login consent' ] ) {
    $idp->user( { sub => 'ann', name => 'Ann Example', email => 'ann@example.org' } );
    ( undef, $callback ) = used( $ann, @$way );
    my $to = is_begun( $ann->get($callback), "prompt_login_not_skipped: $way->[0]=$way->[1]", @$way );
    like( Authz::Browser::location( $ann->get($to) ), qr{\A\Q@{[ $idp->issuer ]}\E/}, '... asks the provider again' );
}

# Not of this provider, or too late: as an unknown state
( undef, $callback ) = used( Authz::Browser->new );
is_page( $ann->get( $callback =~ s{/callback/corp}{/callback/second}r ), "the path of another provider" );
is_page( $ann->get( $callback =~ s/state=[^&]+/state=AAAA/r ),           'an unknown state' );
$stack->sql(q{UPDATE sign_in SET expires_at = now()});
is_page( $ann->get($callback), 'a sign-in that has expired' );
( undef, $callback ) = used( my $twice = Authz::Browser->new );
is( $twice->get( $callback =~ s/code=[^&]+/error=access_denied/r )->status, 303,
    'an error of the provider is thrown away too' );

# A page of ours: it is loaded anew, as by any link.
my $account = Authz::Browser->new;
my $page    = $account->get("$base/account?idp_hint=corp");
$callback = callback_of( $account, Authz::Browser::location($page) );
$account->get($callback);
my $own = $account->get($callback);
is( $own->status, 303, 'the callback of a page of ours' );
like( $own->header('Location') // '', qr{\A\Q$base\E/account\b}, '... leads to that page' );

# ---- Secure

$stack->restart_service( settings => { SVC_SESSION_COOKIE_SECURE => 'true' } );
like(
    join( ' ', $http->get( request_of( idp_hint => 'corp' ) =~ s{\A\Q$base\E}{}r )->headers('Set-Cookie') ),
    qr{__Host-svc_flow_[0-9a-f]{8}=[A-Za-z0-9_-]{43}; Path=/; Max-Age=660; HttpOnly; SameSite=Lax; Secure},
    'with Secure the name has the prefix __Host-' );

done_testing;

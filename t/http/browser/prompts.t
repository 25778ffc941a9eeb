# Words of prompt, and what providers answer to them (world.md F3 to F5).
use strict;
use warnings;

use JSON::PP ();
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

# The answer of an address, asked again where the service says so: a provider whose answer was bad has a pause.
sub asked {
    my ( $browser, $to ) = @_;
    my $answer;
    for ( 1 .. 30 ) {
        $answer = $browser->get($to);
        my $wait = $answer->header('Refresh') // return $answer;
        sleep $wait;
    }
    return $answer;
}

# Go one redirect on; return where it leads.
sub hop {
    my ( $browser, $to ) = @_;
    return Authz::Browser::location( asked( $browser, $to ) ) // '';
}

sub is_at_idp { my ( $to, $name ) = @_; return like( $to, qr{\A\Q@{[ $idp->issuer ]}\E/authorize\?}, $name ) }

sub is_back {
    my ( $to, $error, $name ) = @_;
    my %answer = Authz::Browser::query($to);
    return is_deeply( [ index( $to, $back ), @answer{qw(error state iss)} ], [ 0, $error, 's', $base ], $name )
      || diag $to;
}

sub is_code {
    my ( $to, $name ) = @_;
    my %answer = Authz::Browser::query($to);
    return ok( index( $to, $back ) == 0 && $answer{code} && $answer{state} eq 's', $name ) || diag $to;
}

# ---- F3: a sign-in page that waited too long (Keycloak)

my %expired = ( error => 'temporarily_unavailable', error_description => 'authentication_expired' );

# Come back from the provider with that error; return the browser, the callback and where that leads.
sub expire {
    my ( $start, %more ) = @_;
    $idp->misbehave( authorize => { %expired, %more } );
    my $browser  = Authz::Browser->new;
    my $callback = hop( $browser, hop( $browser, $start ) );
    my $to       = hop( $browser, $callback );
    $idp->behave;
    return ( $browser, $to, $callback );
}
my ( $ann, $to, $callback ) = expire( request_of( prompt => 'login', login_hint => 'ann' ) );
is_at_idp( $to, 'expired_once: the request begins again at the provider (world.md F3)' );
my %query = Authz::Browser::query($to);
is( join( ' ', @query{qw(prompt login_hint max_age)} ), 'login ann 0', '... with its words' );
unlike( $callback, qr/\Q$query{state}\E/, '... and another state' );
is( $stack->sql(q{SELECT request ->> 'again' FROM sign_in WHERE taken_at IS NULL}), 'true', '... which knows that' );
is( $stack->sql(
            q{SELECT outcome || ' ' || http_status || ' ' || (request_summary::json ->> 'reason') FROM audit_log}
          . q{ ORDER BY id DESC LIMIT 1} ),
    'allowed 302 The request begins again',
    '... audited as that' );
is_code( hop( $ann, hop( $ann, $to ) ), '... and a sign-in then is one' );

( $ann, $to ) = expire( request_of() );
$idp->misbehave( authorize => {%expired} );
is_back(
    hop( $ann, hop( $ann, $to ) ),
    'temporarily_unavailable', 'expired_twice: the client gets temporarily_unavailable (RFC 6749 4.1.2.1)' );
is( $stack->sql('SELECT count(*) FROM sign_in WHERE taken_at IS NULL'), 0, '... and no sign-in waits' );
$idp->behave;

( $ann, $to ) = expire( request_of(), iss => 'https://evil.example' );
is_back( $to, 'server_error', 'an answer with the iss of another issuer begins nothing (RFC 9207 2.4)' );
for my $row (
    [ { error_description => undef },                      'no description' ],
    [ { error_description => 'Authentication_expired' },   'another spelling' ],
    [ { error_description => 'authentication_expired x' }, 'more words' ],
    [ { error             => 'server_error' },             'another error' ] )
{
    ( $ann, $to ) = expire( request_of(), %{ $row->[0] } );
    is( $to, '', "$row->[1]: a page" );
}
( $ann, $to ) = expire("$base/account?idp_hint=corp");
is_at_idp( $to, 'a page of ours begins again too' );
like( hop( $ann, hop( $ann, $to ) ), qr{\A\Q$base\E/account\b}, '... and is shown then' );

# ---- F4: a provider that does not tell when the person signed in

my $google = Authz::Idp->start;
$google->register( $stack, idpId => 'google', name => 'Google', sendsAuthTime => JSON::PP::false() );
$google->user( { sub => 'g1', name => 'Gil' } );
$google->misbehave( id_token => { auth_time => undef } );
my $row = sub { return $stack->admin( GET => "/admin/api/identity-providers/$_[0]" )->json };
is( $row->('google')->{sendsAuthTime}, JSON::PP::false(), 'sendsAuthTime of a provider' );
is( $row->('corp')->{sendsAuthTime},   JSON::PP::true(),  '... is true if it is left out' );
my $said = 'The identity provider does not tell when the person signed in';
my %hint = ( idp_hint => 'google' );

sub is_refused {
    my ( $answer, $name ) = @_;
    my $to     = Authz::Browser::location($answer) // '';
    my %answer = Authz::Browser::query($to);
    is_back( $to, 'login_required', $name );
    is( $answer{error_description}, $said, '... and the client learns why' );
    return;
}
my @asked = $google->seen('authorize');
is_refused( Authz::Browser->new->get( request_of( %hint, @$_ ) ), "google_login: @$_ is login_required at once" )
  for [ prompt => 'login' ], [ max_age => 0 ], [ max_age => 3600 ], [ prompt => 'login consent' ];
is( scalar( () = $google->seen('authorize') ), scalar @asked, '... and the provider is not asked' );
is( $stack->sql(q{SELECT count(*) FROM sign_in WHERE taken_at IS NULL AND request ->> 'idp_hint' = 'google'}),
    0, '... and no sign-in waits' );
my $gil = Authz::Browser->new;
$to = hop( $gil, request_of(%hint) );
like( $to, qr{\A\Q@{[ $google->issuer ]}\E/authorize\?}, 'without these words the person signs in' );
is_code( hop( $gil, hop( $gil, $to ) ), '... and gets a code' );
is_refused( $gil->get( request_of( %hint, max_age => 3600 ) ),    'a session without auth_time has no age' );
is_refused( $gil->get( request_of( %hint, prompt  => 'login' ) ), '... and is not renewed' );
is_code( hop( $gil, request_of( prompt => 'none' ) ), '... and serves a request that does not ask' );
my $own = $gil->get("$base/account?idp_hint=google");
is( $own->status, 200, '... and a page of ours' );
my $both = Authz::Browser->new;
is( $both->get( request_of( prompt => 'login' ) )->status, 200, 'two providers: the person chooses' );
is_at_idp( hop( $both, request_of( prompt => 'login', idp_hint => 'corp' ) ), '... the other one tells' );

# Every worker knows a change.
my $change = sub {
    my ($sends) = @_;
    my %row = %{ $row->('google') };
    delete @row{qw(id clientSecretSet faults home warnings userinfoAt)};
    return $stack->admin(
        PUT  => '/admin/api/identity-providers/google',
        json => { %row, sendsAuthTime => $sends } )->status;
};
my @worker = map { $stack->client } 1 .. 8;
my $path   = request_of( %hint, prompt => 'login' ) =~ s{\A\Q$base\E}{}r;
is( $change->( JSON::PP::true() ), 200, 'the row is changed' );
is( scalar( grep { ( $_->get($path)->header('Location') // '' ) =~ m{/authorize\?.*prompt=login} } @worker ),
    8, '... and every worker sends people there' );

# Learnt late
my $faults = sub {
    return $stack->sql(q{SELECT coalesce(sum(n), 0) FROM provider_fault WHERE code = 'no_auth_time'});
};
my $sessions = sub { return $stack->sql('SELECT count(*) FROM browser_session') };
my ( $late, $before ) = ( Authz::Browser->new, $sessions->() );
$callback = hop( $late, hop( $late, request_of( %hint, prompt => 'login' ) ) );
is_refused( asked( $late, $callback ), 'learnt late: an ID token without auth_time' );
is( $faults->(), 1, '... and the operator finds no_auth_time' );
is_deeply( [ map { $_->{code} } @{ $row->('google')->{faults} } ], ['no_auth_time'], '... at the provider' );
like(
    $stack->http->get('/metrics')->body, qr/^svc_provider_fault_total\{code="no_auth_time"\} 1$/m,
    '... and it is counted' );
is( $sessions->(), $before, '... and nobody is signed in: the time of the callback proves nothing' );
$google->misbehave( id_token => { auth_time => undef, tamper => 1 } );
$callback = hop( $late, hop( $late, request_of( %hint, prompt => 'login' ) ) );
is_back( hop( $late, $callback ), 'access_denied', 'a token with a bad signature says nothing about the provider' );
is( $faults->(), 1, '... and is no such fault' );
$google->behave;
$callback = hop( $late, hop( $late, request_of( %hint, prompt => 'login' ) ) );
is_code( hop( $late, $callback ), 'with auth_time it is a sign-in' );
is( ( $stack->authzctl(qw(idp update google --no-auth-time)) )[0], 0, 'authzctl idp update --no-auth-time' );
is( $row->('google')->{sendsAuthTime},                             JSON::PP::false(), '... takes it' );
is( ( $stack->authzctl(qw(idp update google --auth-time)) )[0],    0,                 '... and --auth-time' );
is( $row->('google')->{sendsAuthTime},                             JSON::PP::true(),  '... takes it back' );
admin_error(
    $stack->admin(
        POST => '/admin/api/identity-providers',
        json => { issuer => 'https://x.example', clientId => 'x', sendsAuthTime => 'false' } ),
    400,
    'sendsAuthTime that is a text is refused',
    fields => ['sendsAuthTime'] );

# ---- F5: select_account and create

sub prompts_at {
    my ($provider) = @_;
    return scalar( $provider->seen('authorize') )->{prompt} // 'none';
}
$google->misbehave( id_token => { auth_time => undef } );
$change->( JSON::PP::false() );
my $ben = Authz::Browser->new;
$idp->user( { sub => 'ben', name => 'Ben' } );
my %corp = ( idp_hint => 'corp' );
is_code( hop( $ben, hop( $ben, hop( $ben, request_of(%corp) ) ) ), 'a person signs in' );
is_code( hop( $ben, request_of(%corp) ),                           '... and has a session' );
$to = hop( $ben, request_of( %corp, prompt => 'select_account' ) );
is_at_idp( $to, 'select_account_with_session: no session answers (world.md F5, OpenID Connect Core 3.1.2.1)' );
$idp->user( { sub => 'bea', name => 'Bea' } );
is_code( hop( $ben, hop( $ben, $to ) ), '... and the person comes back, as another one' );
is( prompts_at($idp), 'select_account', '... the provider hears the word' );
is( $stack->sql('SELECT subject FROM token_grant ORDER BY created_at DESC LIMIT 1'), 'bea', '... whose code it is' );
my $chooser = $ben->get( request_of( prompt => 'select_account' ) );
is( $chooser->status,                                          200, 'several providers: the chooser' );
is( scalar( () = $chooser->body =~ /prompt=select_account/g ), 2,   '... whose links keep the word' );
$to = hop( $ben, request_of( %corp, prompt => 'consent login select_account' ) );
hop( $ben, $to );
is( prompts_at($idp), 'login select_account', 'words are sent together; consent stays ours' );
$to = hop( $gil, request_of( %hint, prompt => 'select_account' ) );
like( $to, qr{\A\Q@{[ $google->issuer ]}\E/}, 'select_account needs no auth_time' );
is_code( hop( $gil, hop( $gil, $to ) ), '... at a provider that tells none' );
is_back( hop( $ben, request_of( prompt => $_->[0] ) ), 'invalid_request', $_->[1] )
  for [ 'none select_account', 'none_and_select' ], [ 'select_account none', '... in either order' ],
  [ 'none create', 'none with create' ], [ 'select', 'unknown_word' ], [ 'Select_account', '... and another spelling' ],
  [ 'create', 'create_unannounced: no provider announces it' ], [ 'create login', '... with another word' ];
is( $stack->sql(q{SELECT count(*) FROM sign_in WHERE request ->> 'prompt_create' = 'true'}), 0,
    '... and no sign-in waits' );
my $told = sub {
    return join ' ', @{ $stack->http->get('/.well-known/openid-configuration')->member('prompt_values_supported') };
};
is( $told->(), 'none login consent select_account', 'prompt_values_supported tells' );

# prompts of the row
my $limit = sub {
    my ( $id, $prompts ) = @_;
    my %row = %{ $row->($id) };
    delete @row{qw(id clientSecretSet faults home warnings userinfoAt)};
    return $stack->admin( PUT => "/admin/api/identity-providers/$id", json => { %row, prompts => $prompts } );
};
is( $limit->( 'corp', [qw(none consent)] )->status, 200, 'a provider that takes neither word' );
is_deeply( $row->('corp')->{prompts}, [qw(none consent)], '... is stored' );
$to = hop( $ben, request_of( %corp, prompt => 'select_account' ) );
is_at_idp( $to, '... is asked all the same' );
hop( $ben, $to );
is( prompts_at($idp), 'none', '... without the word' );
hop( $ben, hop( $ben, request_of( %corp, prompt => 'login' ) ) );
is( prompts_at($idp),                             'none', '... nor is login sent' );
is( scalar( $idp->seen('authorize') )->{max_age}, 0,      '... but max_age=0, and auth_time decides' );
is( $limit->( 'corp', [qw(none login consent select_account create)] )->status, 200, 'five words' );
is( ( $stack->authzctl(qw(idp update corp --prompt none --prompt login)) )[0],  0,   'authzctl idp update --prompt' );
is_deeply( $row->('corp')->{prompts}, [qw(none login)], '... takes the words' );
admin_error( $limit->( 'corp', $_->[0] ), 400, $_->[1], fields => [ $_->[2] ] )
  for [ [qw(none login consent select_account create none)], 'six are refused', 'prompts' ],
  [ ['admin_consent'], 'another word is refused', 'prompts[0]' ], [ 'login', 'a text is refused', 'prompts' ];
is( $limit->( 'corp', undef )->status, 200,   'null takes them back' );
is( $row->('corp')->{prompts},         undef, '... and they are absent' );

# create, which discovery documents announce
my $maker = Authz::Idp->start;
$maker->misbehave( discovery => { prompt_values_supported => [qw(none login create)] } );
$maker->register( $stack, idpId => 'maker', name => 'Maker' );
$maker->user( { sub => 'new', name => 'New' } );
$to = hop( $ben, request_of( prompt => 'create' ) );
like(
    $to, qr{\A\Q@{[ $maker->issuer ]}\E/},
    'create: of three providers, the one that announces it; no session answers' );
is_code( hop( $ben, hop( $ben, $to ) ), '... and a new person gets a code' );
is( prompts_at($maker), 'create',                                   '... the provider hears the word' );
is( $told->(),          'none login consent select_account create', '... and prompt_values_supported has it' );
is_back(
    hop( $ben, request_of( %corp, prompt => 'create' ) ), 'invalid_request',
    'create at another one that is named' );
$stack->admin(
    PUT  => '/admin/api/identity-providers/maker',
    json => { %{ $row->('maker') }{qw(name issuer clientId)}, enabled => JSON::PP::false() } );
is_back( hop( $ben, request_of( prompt => 'create' ) ), 'invalid_request', 'the provider is disabled' );
is( $told->(), 'none login consent select_account', '... and prompt_values_supported is as before' );
Authz::Idp->start->register( $stack, idpId => 'dead', name => 'Dead', issuer => 'http://127.0.0.1:1' );
is_back(
    hop( Authz::Browser->new, request_of( prompt => 'create' ) ),
    'temporarily_unavailable', 'a provider that may announce it cannot be reached' );
is( $told->(), 'none login consent select_account', '... and the discovery document does not wait for it' );

# The consent page offers another account by the word that the provider of the session can answer.
$stack->make_client( 'self', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );
$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'self'});
for my $way ( [ $gil, 'google', 'select_account' ], [ $ben, 'corp', 'login' ] ) {
    my ( $who, $id, $word ) = @$way;
    $idp->user( { sub => 'ben', name => 'Ben' } );
    $who->follow( request_of( idp_hint => $id, prompt => 'select_account' ), stop => qr{\A\Q$back\E} );
    my $page = ( $who->follow( request_of( client_id => 'self' ), stop => qr{\A\Q$back\E} ) )[-1];
    is( $page->status, 200, "consent of a person of $id" ) or diag $page->text;
    like( $page->body, qr{href="[^"]*/authorize\?[^"]*prompt=$word"}, "... offers another account with $word" );
}

# The client is disabled in between: nothing goes on.
$idp->misbehave( authorize => {%expired} );
my $browser = Authz::Browser->new;
$callback = hop( $browser, hop( $browser, request_of( idp_hint => 'corp' ) ) );
$stack->sql(q{UPDATE client SET enabled = false, version = version + 1 WHERE client_id = 'crm'});
is( $browser->get($callback)->status, 400, 'a client that was disabled in between: a page' );

done_testing;

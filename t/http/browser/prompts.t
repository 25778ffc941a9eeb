# Words of prompt, and what providers answer to them (world.md F3).
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

# Go one redirect on; return where it leads.
sub hop {
    my ( $browser, $to ) = @_;
    return Authz::Browser::location( $browser->get($to) ) // '';
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

# The client is disabled in between: nothing goes on.
$idp->misbehave( authorize => {%expired} );
my $browser = Authz::Browser->new;
$callback = hop( $browser, hop( $browser, request_of() ) );
$stack->sql(q{UPDATE client SET enabled = false, version = version + 1 WHERE client_id = 'crm'});
is( $browser->get($callback)->status, 400, 'a client that was disabled in between: a page' );

done_testing;

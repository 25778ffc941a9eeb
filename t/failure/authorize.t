# /authorize while the database is away: a known client gets temporarily_unavailable by redirect, otherwise the user sees a page.
# Afterwards everything works again (oauth.md C15; performance.md R2).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Browser ();
use Authz::Check;
use Authz::Client   ();
use Authz::Idp      ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $idp      = Authz::Idp->start;
my $stack    = Authz::Stack->start( postgres => $postgres, web_workers => 2, settings => { Authz::Idp::settings() } );
my $cb       = 'https://app.example/cb';
$idp->register($stack);
$stack->make_client( 'web', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$cb] );

sub address {
    my ($id) = @_;
    return $stack->base . '/authorize?' . Authz::Client::form(
        client_id => $id, redirect_uri => $cb, response_type => 'code', scope => 'openid',
        state     => 's' );
}
my $ann = Authz::Browser->new;
$ann->follow( address('web'), stop => qr{\A\Q$cb\E} );
my $to = sub {
    my ( $browser, $id ) = @_;
    my $answer = $browser->get( address( $id // 'web' ) );
    return ( $answer, $answer->header('Location') // '' );
};
for ( 1 .. 8 ) { $to->($_) for $ann, Authz::Browser->new }    # every worker knows the client

$postgres->stop;
for my $browser ( $ann, Authz::Browser->new ) {
    my ( $answer, $location ) = $to->($browser);
    my %back = Authz::Browser::query( $location || '?' );
    is( index( $location, $cb ), 0, 'the database is away: the client hears of it' ) or diag( $answer->text );
    is( "$back{error} $back{state} $back{iss}", 'temporarily_unavailable s ' . $stack->base,
        '... as temporarily_unavailable, with state and iss' );
    is( $back{code},                    undef, '... and gets no code' );
    is( $answer->header('Retry-After'), 1,     '... Retry-After' );
}
my ( $page, $none ) = $to->( Authz::Browser->new, 'nobody' );
is( $page->status,                503, 'a client that this worker does not know: a page with 503' );
is( $none,                        '',  '... no redirect' );
is( $page->header('Retry-After'), 1,   '... Retry-After' );
like( $page->body, qr/temporarily_unavailable/, '... that says so' );
unlike( $page->body, qr/postgres|libpq|socket/i, '... and not why' );

$postgres->start;
ok( defined Authz::Process::until_true( 20, sub { ( $to->($ann) )[1] =~ /[?&]code=ac_/ } ),
    'it is back: the session serves on' );
done_testing;

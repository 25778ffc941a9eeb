# Round trips to PostgreSQL of the way from /authorize to a code, counted on the wire (performance.md 3.6), once the workers are
# warm: statements prepared, client, providers and the provider's documents remembered.
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

plan skip_all => 'the clock sends trips where NOTIFY is refused' if ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'strict';
my $idp = Authz::Idp->start;
my $stack =
  Authz::Stack->start( pg_proxy => 1, workers => 1, web_workers => 1, settings => { Authz::Idp::settings() } );
my $proxy = $stack->proxy;
my $row   = $idp->register( $stack, authorizationEndpoint => $idp->issuer . '/authorize' );
my $cb    = 'https://app.example/cb';
$stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$cb] );
$stack->make_client( 'dcr', undef, redirectUris => [$cb] );
$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'dcr'});
my %good = ( client_id => 'web', redirect_uri => $cb, response_type => 'code', scope => 'openid' );

sub address {
    my %given = @_;
    return $stack->base . '/authorize?' . Authz::Client::form( map { ( $_ => $given{$_} ) } sort keys %given );
}

sub trips { return $proxy->request_trips(@_) }

sub warm {
    my ( $code, $most, $name ) = @_;
    $code->() for 1 .. 12;    # every worker of the pool
    my @trip = trips($code);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( @trip <= $most && @trip > 0, $name ) or diag( @trip . ' trips:', map {"\n  $_"} @trip );
    note( "$name: ", join ' | ', @trip );
    return;
}

# The answer to one request, told by its Location.
sub leads {
    my ( $answer, $to ) = @_;
    my $location = $answer->header('Location') // '';
    die "$location is not to $to\n" if $location !~ /\A\Q$to\E/;
    return $location;
}

my $nobody = Authz::Browser->new;
warm(
    sub { leads( $nobody->get( address(%good) ), $idp->issuer ) }, 1,
    'first leg, to the provider: one trip, which writes the sign-in and its audit row' );
is( $stack->admin( PUT => '/admin/api/identity-providers/corp', json => { %$row, authorizationEndpoint => undef } )
      ->status, 200, 'the endpoint is left to discovery' );
warm(
    sub { leads( $nobody->get( address(%good) ), $idp->issuer ) }, 1,
    '... none more, when the endpoint is the discovery document\'s: it is remembered' );
warm(
    sub { leads( $nobody->get( address( %good, prompt => 'none' ) ), "$cb?error=login_required" ) }, 2,
    'a refusal: the client as it is now, and the audit row' );
warm(
    sub { $nobody->get( address( %good, client_id => 'nobody' ) ) }, 2,
    'an unknown client: one look, and the audit row' );

my $ann = Authz::Browser->new;
$ann->follow( address(%good), stop => qr{\A\Q$cb\E} );
warm(
    sub { leads( $ann->get( address(%good) ), "$cb?code=" ) }, 2,
    'with a live session: one read and one write; the preview costs none' );
warm( sub { leads( $ann->get( address( %good, prompt => 'none' ) ), "$cb?code=" ) }, 2, '... under prompt=none too' );
warm(
    sub { leads( $ann->get( address( %good, client_id => 'dcr' ) ), $stack->base . '/authorize/consent' ) }, 2,
    'to the consent page: one read, and the request that waits with its audit row' );
warm(
    sub { leads( $ann->get( address( %good, scope => 'admin' ) ), "$cb?error=invalid_scope" ) }, 2,
    'a denial by the preview: one read, and the audit row' );
warm(
    sub { $ann->get( address( %good, client_id => 'dcr', scope => 'admin' ) ) }, 2,
    '... of a client that registered itself: the session tells who vouches for its address' );
warm(
    sub { $ann->get( address( %good, client_id => 'dcr', response_type => 'token' ) ) }, 3,
    'a refusal before that: the client as it is now, the session, and the audit row' );

# Back from the provider; what went before is not counted.
sub at_callback {
    my $browser = Authz::Browser->new;
    my $to      = leads( $browser->get( address(%good) ), $idp->issuer );
    return ( $browser, leads( $browser->get($to), $stack->base . '/authorize/callback/corp' ) );
}
for ( 1 .. 8 ) { my ( $browser, $to ) = at_callback(); leads( $browser->get($to), "$cb?code=" ) }
my ( $browser, $to ) = at_callback();
my @trip = trips( sub { leads( $browser->get($to), "$cb?code=" ) } );
note( 'callback: ', join ' | ', @trip );

# Sign-in found, sign-in taken, session made, code stored; the provider's documents and the list of providers are remembered.
is( scalar @trip, 4, 'callback: two trips before the provider is asked, two afterwards' )
  or diag( map {"\n  $_"} @trip );

# A provider is added, here by another process, while a user is signing in at another: names are made from the list as it is when the
# session is made.
$idp->user( { sub => 'late|bob' } );
( $browser, $to ) = at_callback();
$stack->sql(
    q{INSERT INTO identity_provider (idp_id, issuer, client_id) VALUES ('late', 'https://late.example', 'authz')});
@trip = trips( sub { leads( $browser->get($to), "$cb?code=" ) } );
is( scalar @trip, 6, '... two more, when the list is not as remembered: it is read, and the session made of it' )
  or diag( map {"\n  $_"} @trip );
is( $stack->sql(q{SELECT count(*) || ' ' || min(subject) FROM subject WHERE upstream_sub = 'late|bob'}),
    '1 ' . MIME::Base64::encode_base64url( Digest::SHA::sha256( $idp->issuer . "\0late|bob" ) ),
    '... no subject gets a name of the added provider (decisions.md "Subject identifiers")' );
is( $stack->sql(
        'SELECT count(*) FROM browser_session s JOIN subject USING (subject) WHERE upstream_sub = \'late|bob\''),
    1,
    '... and the first try left nothing behind' );

done_testing;

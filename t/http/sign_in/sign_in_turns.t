# People behind the address of an attacker sign in: browsers of one address take turns, and a provider that is slow does not
# take those of another one (decisions.md "Half of the pool fetches").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Process ();
use Authz::Stack   ();

# The pools as they are by default.
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 3 } );
my %idp   = map { ( $_ => Authz::Idp->start ) } qw(fast slow);
$idp{$_}->register( $stack, idpId => $_ ) for sort keys %idp;
$idp{slow}->misbehave( token => { delay => 60 } );
my $base = $stack->base;
my $back = 'https://app.example/cb';
$stack->make_client( 'crm', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

# The address of the attacker, and of the people who share it.
my $address = '127.0.8.66';
$Authz::Browser::AGAIN = 40;

sub authorize {
    my ($idp) = @_;
    return "$base/authorize?" . Authz::Client::form(
        response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid',
        idp_hint      => $idp );
}

# Sign a person in. Returns the seconds that it took, or nothing.
sub signs_in {
    my ($idp)   = @_;
    my $start   = time;
    my $browser = Authz::Browser->new( from => $address );
    eval { $browser->follow( authorize($idp), stop => qr{\\A\\Q$back\\E} ); 1 } or return;
    return $browser->url =~ /[?&]code=/ ? time - $start : undef;
}

# Come back from a provider with an invented code, again and again, each time as a new browser with the state of a sign-in of
# its own, and wait for no answer.
sub attack {
    my ( $idp,   $seconds ) = @_;
    my ( $until, @open )    = time + $seconds;
    my $client = Authz::Client->new( port => $stack->{port}, from => $address );
    while ( time < $until ) {
        my $browser = Authz::Browser->new( from => $address );
        my ($state) = ( $browser->get( authorize($idp) )->header('Location') // '' ) =~ /[?&]state=([^&]+)/ or next;
        my $mark    = $browser->cookie( $base, 'svc_browser' );
        my $socket  = $client->begin(
            $client->octets(
                GET     => "/authorize/callback/$idp?state=$state&code=x",
                headers => [ Cookie => "svc_browser=$mark->{value}" ], close => 1 ) );
        push @open, $socket;
        sleep 0.1;
    }
    return;
}

ok( signs_in('fast'), 'a sign-in' );
my @case = (
    [ slow => 'a provider that does not answer' ],
    [ fast => 'the provider itself, with codes that it refuses' ],
);
for my $case (@case) {
    my ( $idp, $name ) = @$case;
    my @attacker = map {
        Authz::Process->start( name => "attack$_", code => sub { attack( $idp, 60 ) } )
    } 1 .. 2;
    sleep 5;    # the attack takes its hold
    my @took = map { signs_in('fast') // 'none' } 1 .. 5;
    is( scalar( grep { $_ ne 'none' && $_ < 10 } @took ), 5,
        "five people behind the address sign in, attacked by way of $name" ) or diag("@took");
    note( join ' ', map { $_ eq 'none' ? $_ : sprintf '%.2f s', $_ } @took );
    $_->stop for @attacker;
    sleep 4;    # what still waits ends
}
done_testing;

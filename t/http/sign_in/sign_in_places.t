# Places of the web pool for sign-ins: what one client address can take of them, the wait for one, and the page that asks again
# (decisions.md "Half of the pool fetches", specification 8 "Rate limit").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Process ();
use Authz::Stack   ();

# The pools as they are by default; a provider may take longer than any step of this test.
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_SAFE_HTTP_TIMEOUT_SECONDS => 15 } );
my %idp   = map { ( $_ => Authz::Idp->start ) } qw(fast slow);
$idp{$_}->register( $stack, idpId => $_ ) for sort keys %idp;
$idp{slow}->misbehave( token => { delay => 60 } );
my $base = $stack->base;
my $back = 'https://app.example/cb';
$stack->make_client( 'crm', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

sub authorize {
    my ($idp) = @_;
    return "$base/authorize?" . Authz::Client::form(
        response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid',
        idp_hint      => $idp );
}

# Return a browser at an address of its own, on its way back from a provider, and the address that it is sent to.
sub half_way {
    my ( $idp, $from ) = @_;
    my $browser = Authz::Browser->new( from => $from );
    $browser->follow( authorize($idp), stop => qr{/authorize/callback/} );
    return ( $browser, $browser->url );
}

sub is_away {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $answer->status . ' ' . ( defined $answer->header('Refresh') ? 'busy' : '' ), '503 busy', $name )
      || diag( $answer->text );
}

sub has_code {
    my ( $answer, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return like( $answer->header('Location') // '', qr/\A\Q$back\E\?(?:.*&)?code=/, $name ) || diag( $answer->text );
}

my @held;

# Let a browser at an address wait for the slow provider; returns when the provider was asked.
sub hold {
    my ($from) = @_;
    my ( $browser, $url ) = half_way( slow => $from );
    my $before = () = $idp{slow}->seen('token');
    push @held, Authz::Process->start( name => 'held', code => sub { $browser->get($url) } );
    return defined Authz::Process::until_true( 20, sub { my @seen = $idp{slow}->seen('token'); @seen > $before } );
}

# Warm up: discovery and keys of the fast provider are fetched once.
has_code( ( Authz::Browser->new->follow( authorize('fast'), stop => qr{\A\Q$back\E} ) )[-1], 'a sign-in' );

# ---- one address holds at most half of the places

my $eve = '127.0.7.66';
my @eve = map { [ half_way( slow => $eve ) ] } 1 .. 2;
my ( $eve_fast, $eve_way ) = half_way( fast => $eve );
my ( $ann, $ann_way )      = half_way( fast => '127.0.7.1' );
my ( $bob, $bob_way )      = half_way( fast => '127.0.7.2' );
ok( hold($eve), 'an address holds one of four places at a slow provider' );
ok( hold($eve), '... and a second one' );
my $start  = time;
my $answer = $eve[0][0]->get( $eve[0][1] );
my $took   = time - $start;
is_away( $answer, 'a third sign-in of that address waits on the busy page: half of the places are others\'' );
cmp_ok( $took, '<', 3, '... after a short wait' );
is( $answer->header('Retry-After'), 1, '... a program is told when to come' );
is_away( $eve_fast->get($eve_way), '... so does one through a provider that is well' );
has_code( $ann->get($ann_way), 'another address has a place meanwhile: it is signed in' );
ok( hold('127.0.7.3'), 'a second address may wait for the slow provider too' );
has_code( $bob->get($bob_way), '... and one place is still free for a third' );

# ---- the state is judged before a place is taken

ok( hold('127.0.7.4'), 'all four places are taken' );
my ( $cat, $cat_way ) = half_way( fast => '127.0.7.5' );
is_away( $cat->get($cat_way), 'a sign-in finds none' );
for my $case (
    [ 'an invented state'          => $cat_way =~ s/state=[^&]+/state=AAAA/r ],
    [ "another provider's path"    => $cat_way =~ s{callback/fast}{callback/slow}r ],
    [ 'a callback without a state' => $cat_way =~ s/state=[^&]+&?//r ] )
{
    my ( $name, $url ) = @$case;
    $start  = time;
    $answer = $cat->get($url);
    is( $answer->status, 400, "$name is refused although no place is free: it needs none" );
}
is( Authz::Browser->new( from => '127.0.7.6' )->get($cat_way)->status, 400, '... so is the state of another browser' );
is( $stack->sql(q{SELECT count(*) FROM sign_in}) > 0 && $cat->get($cat_way)->status, 503,
    '... and the sign-in still waits' );

# ---- no 429 outside the paths of the rate limit

my %status;
$status{ $cat->get($cat_way)->status }++ for 1 .. 12;
is( join( ' ', sort keys %status ), '503', 'an address that comes too often waits too: no 429 (specification 8)' );

# ---- places come back, and a failed redemption costs the next one

my @seen = $idp{slow}->seen('token');
$_->stop for @held;
kill 'KILL', $stack->busy('web');
ok( defined Authz::Process::until_true( 20, sub { $stack->workers('web') == 8 && !$stack->busy('web') } ),
    'the workers that wait are killed by -9' );
has_code( $cat->get($cat_way),      'their places are free' );
has_code( $eve_fast->get($eve_way), '... and so is the share of the address' );

my $dan = '127.0.7.20';
my ( $good, $good_way ) = half_way( fast => $dan );
my ( $bad,  $bad_way )  = half_way( fast => $dan );
like(
    $bad->get( $bad_way =~ s/([?&])code=[^&]+/$1code=x/r )->header('Location') // '',
    qr/error=/, 'a redemption fails' );
$bad->follow( authorize('fast'), stop => qr{/authorize/callback/} );
$bad_way = $bad->url;
is_away( $bad->get($bad_way), '... which costs its browser the next place for a while' );
has_code( $good->get($good_way), '... and no other browser of the address' );
my @hop = $bad->follow( $bad_way, stop => qr{\A\Q$back\E} );
has_code( $hop[-1], '... then the sign-in goes on by itself' );
cmp_ok( scalar @hop, '>', 1, '... from the page that asks again' );

# ---- a burst

$idp{fast}->misbehave( token => { delay => 0.03 } );
my $gate  = time + 2;
my @crowd = map {
    my $n = $_;
    Authz::Process->start(
        name => "user$n",
        code => sub {
            my $browser = Authz::Browser->new( from => "127.0.6.$n" );
            sleep $gate - time if $gate > time;
            my $began = time;
            my @hops  = $browser->follow( authorize('fast'), stop => qr{\A\Q$back\E} );
            printf "%s %.3f %s\n", ( $browser->url =~ /[?&]code=/ ? 'code' : 'none' ), time - $began,
              join ',', map { $_->header('Refresh') // () } @hops;
        } )
} 1 .. 24;
my ( @last, %refresh );
for my $user (@crowd) {
    $user->wait(60);
    my ( $what, $seconds, $refresh ) = split / /, $user->log_text;
    push @last, $seconds if $what eq 'code';
    $refresh{$_}++ for grep {/\d/} split /,|\n/, $refresh // '';
}
is( scalar @last, 24, '24 users sign in at once through a provider that answers in 30 ms: all get codes' );
my ($longest) = sort { $b <=> $a } @last;
cmp_ok( $longest, '<', 5, sprintf '... the last one after %.2f s, long before one that waits whole seconds', $longest );
cmp_ok( scalar keys %refresh, '>', keys(%refresh) / 2, '... those that were sent away come back one by one' );

done_testing;

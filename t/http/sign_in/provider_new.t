# What a worker remembers of the identity providers never says that there is none: a provider that was made since counts at sign-out
# and on the page that offers other ones (oauth.md 5 "Logout", "Upstream callback").
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my ( $corp, $late ) = map { Authz::Idp->start } 1 .. 2;
$corp->register( $stack, idpId => 'corp' );

# Each worker reads the list.
sub all_workers_know { Authz::Browser->new->get("$base/account") for 1 .. 40; return }

# A provider that no worker has read: its row comes without the admin API, which would read the list.
sub appears {
    my ($id) = @_;
    return $stack->sql(
            "INSERT INTO identity_provider (idp_id, name, issuer, client_id, enabled) VALUES ('$id', 'Late', '"
          . $late->issuer
          . "', 'authz', true) RETURNING id" );
}

sub signed_in {
    $corp->user( { sub => 'ann' } );
    my $browser = Authz::Browser->new;
    $browser->follow("$base/account?idp_hint=corp");
    return $browser;
}

# ---- sign-out

my @browser = map { signed_in() } 1 .. 8;
all_workers_know();
my $id = appears('late');
$stack->sql("UPDATE browser_session SET idp = $id");
for my $browser (@browser) {
    my $page = $browser->get("$base/logout");
    like(
        $page->header('Content-Security-Policy'), qr/form-action 'self' [^;]*\Q@{[ $late->issuer ]}\E/,
        'the page that asks lets its form lead to a provider that was made since' );
    my ($hop) = $browser->submit( $page, stop => qr{/end_session} );
    like(
        $hop->header('Location') // '', qr{\A\Q@{[ $late->issuer ]}\E/end_session\?},
        'sign-out visits that provider' );
}
is( $stack->sql('SELECT count(*) FROM browser_session'), 0, '... and the sessions here are over' );

# ---- the page of a provider that is away

$stack->sql(q{DELETE FROM identity_provider WHERE idp_id = 'late'});
all_workers_know();
my @way =
  map { my $one = Authz::Browser->new; $one->follow( "$base/account", stop => qr{/authorize/callback/} ); $one } 1 .. 8;
all_workers_know();
appears('later');
$corp->misbehave( token => { close => 1 } );
for my $one (@way) {
    like( $one->get( $one->url )->body, qr/idp_hint=later/, 'a provider that fails: a new one is offered' );
}
done_testing;

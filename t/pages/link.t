# A person connects accounts in a real browser, by keyboard alone: sign-in, the link page, the upstream, the secret that is typed,
# the page of connections (gateway-admin.md 3.5). A step that a page's own Content-Security-Policy forbids would fail.
use strict;
use warnings;

use JSON::PP ();

use Authz::Browser  ();
use Authz::Idp      ();
use Authz::Node     ();
use Authz::Path     ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Upstream ();

my $why = Authz::Node::missing( browser => 1 );
if ( defined $why ) {
    print "1..0 # SKIP $why\n";
    exit 0;
}
my $stack =
  Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp', name => 'The corp accounts' );
$stack->make_client( 'app', undef, clientName => 'The app' );
my $upstream = Authz::Upstream->start;
my %auth     = (
    notes => $upstream->auth( provider => 'Notes Incorporated', accountPointer => '/account/login' ),
    keyed => {
        type     => 'user_secret', header => 'X-Key', scheme => '', label => 'Key of the archive',
        help     => 'Make one in the settings of the archive.',
        validate => { method => 'GET', path => '/me' } },
);
for my $name ( sort keys %auth ) {
    my $made = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name        => $name,                  displayName  => "The $name",  upstreamType => 'REST',
            upstreamUrl => $upstream->url('/api'), defaultScope => "$name:read", upstreamAuth => $auth{$name} } );
    die "resource $name: " . $made->body if $made->status != 201;
}

# Ann has signed in before.
Authz::Browser->new->follow( $stack->base . '/gateway/connect' );

sub link_of {
    my ( undef, $text ) = Authz::Process->run(
        name    => 'linker', env => $stack->settings,
        command => [ Authz::Path::program('t/gateway/linker'), 'ann', @_ ] );
    return JSON::PP::decode_json( ( grep {/\A\{/} split /\n/, $text )[-1] )->{url};
}
Authz::Node::run_tap(
    [ Authz::Node::command( 'pages', 'link.mjs' ) ],
    AUTHZ_BASE  => $stack->base,     AUTHZ_NOTES => link_of('notes'),
    AUTHZ_KEYED => link_of('keyed'), Authz::Node::tls() );

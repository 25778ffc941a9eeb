# PKCE of confidential clients can be required: by pkceRequired of one client, and by SVC_PKCE_REQUIRED of all
# (decisions.md "pkceRequired", oauth.md S4, RFC 9700 2.1.1).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
$idp->register( $stack, idpId => 'corp' );
Authz::Grant->people($stack);
my $back   = $Authz::Grant::REDIRECT;
my %may    = ( grants => ['authorization_code'], scopes => ['openid'] );
my @web    = $stack->make_client( 'web',   {%may}, redirectUris => [$back] );
my @other  = $stack->make_client( 'other', {%may}, redirectUris => [$back] );
my @worker = map { $stack->client } 1 .. 8;

my $challenge = Authz::Grant::challenge($Authz::Grant::VERIFIER);

sub asked {
    my ( $client, %more ) = @_;
    my %param =
      ( response_type => 'code', client_id => $client, redirect_uri => $back, scope => 'openid', state => 's', %more );
    return '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

# What each worker answers: upstream, or the error that the client gets with its text.
sub answers {
    my ($target) = @_;
    my %seen;
    for my $worker (@worker) {
        my $to    = $worker->get($target)->header('Location') // '';
        my %query = map { split /=/, $_, 2 } split /&/, $to =~ s/\A[^?]*\??//r;
        $seen{
            index( $to, $idp->issuer ) == 0
            ? 'upstream'
            : index( $to, $back ) == 0 ? join ' ', $query{error} // 'none', $query{error_description} // '',
            $query{state} // ''
            : 'page' }++;
    }
    return join '|', sort keys %seen;
}

sub set {
    my ( $client, %field ) = @_;
    my $row = $stack->admin( GET => "/admin/api/clients/$client" )->json;
    delete $row->{pkceRequired};
    return $stack->admin( PUT => "/admin/api/clients/$client", json => { %$row, %field } );
}
my $refused = 'invalid_request This%20client%20must%20send%20a%20code_challenge%20%28PKCE%29 s';

# ---- one client

is( answers( asked('web') ), 'upstream', 'a confidential client may do without PKCE (oauth.md S4)' );
my $bare = Authz::Grant->code( $stack, client => 'web', verifier => undef );
my $row  = $stack->admin( GET => '/admin/api/clients/web' )->json;
is( $row->{pkceRequired},                                       false, 'GET: pkceRequired is false of a new client' );
is( set( 'web', pkceRequired => true )->member('pkceRequired'), true,  'PUT: pkceRequired' );
is( answers( asked('web') ), $refused, 'a request without a challenge is refused, by every worker' );
is( answers( asked( 'web', code_challenge_method => 'S256' ) ), $refused, '... so is one with a method alone' );
is( answers( asked( 'web', code_challenge => '' ) ),            $refused, '... and an empty challenge (oauth.md C4)' );
is( answers( asked( 'web', code_challenge => $challenge, code_challenge_method => 'S256' ) ),
    'upstream', '... one with a challenge is not' );
is( answers( asked('other') ), 'upstream', '... nor is another client' );
oauth_error(
    Authz::Grant->redeem( $stack, \@web, $bare, code_verifier => undef ), 400, 'invalid_grant',
    'a code that was issued without a challenge before is refused' );
oauth_error(
    Authz::Grant->redeem( $stack, \@web, $bare ), 400, 'invalid_grant',
    '... also with a verifier (RFC 9700 2.1.1)' );
is( Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web' ) )->status,
    200, '... and one with a challenge is redeemed' );
oauth_error(
    Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web' ), code_verifier => undef ),
    400, 'invalid_grant', '... not without its verifier' );
is( set('web')->member('pkceRequired'), true, 'PUT: without the member it is kept' );
admin_error( set( 'web', pkceRequired => $_->[0] ), 400, "PUT: $_->[1] is refused", fields => ['pkceRequired'] )
  for [ 'yes', 'a text' ], [ 1, 'a number' ], [ [], 'an array' ];
is( set( 'web', pkceRequired => undef )->member('pkceRequired'), true,       'PUT: null counts as absent' );
is( answers( asked('web') ),                                     $refused,   '... and none of these changed it' );
is( set( 'web', pkceRequired => false )->member('pkceRequired'), false,      'PUT: false takes it back' );
is( answers( asked('web') ),                                     'upstream', '... in every worker' );

# ---- the command line

my ( $exit, $out ) = $stack->authzctl(qw(client update web --pkce-required));
is( $exit, 0, 'authzctl client update --pkce-required' );
like( $out, qr/^pkceRequired +true$/m, '... shows it' );
is( answers( asked('web') ), $refused, '... and it holds' );
( $exit, $out ) = $stack->authzctl(qw(client update web --pkce-optional));
like( $out, qr/^pkceRequired +false$/m, '--pkce-optional takes it back' );

# ---- all clients

$stack->make_client( 'spa', {%may}, clientType => 'public', redirectUris => [$back] );
my $public = answers( asked('spa') );
like( $public, qr/\Ainvalid_request A%20public%20client/, 'a public client must send a challenge anyway' );
my $form = { redirect_uris => [$back], client_name => 'app', require_pkce => true, pkceRequired => true };
my $made = $stack->http->post( '/register', json => $form );
is( $made->status, 201, 'members of a registration that are not known are ignored (oauth.md 3.5)' );
is( $stack->sql( q{SELECT pkce_required FROM client WHERE client_id = '} . $made->member('client_id') . q{'} ),
    'f', '... and PKCE is not registered' );
$stack->restart_service( settings => { SVC_PKCE_REQUIRED => 'true' } );
is( answers( asked('other') ), $refused, 'SVC_PKCE_REQUIRED: a confidential client must send a challenge' );
is( answers( asked( 'other', code_challenge => $challenge ) ), 'upstream',             '... and may go on with one' );
is( answers( asked('spa') ),                                   $public,                '... a public one as before' );
is( $stack->admin( GET => '/admin/api/clients/other' )->member('pkceRequired'), false, '... and no row is changed' );
$bare = Authz::Grant->code( $stack, client => 'other', verifier => undef );
oauth_error(
    Authz::Grant->redeem( $stack, \@other, $bare, code_verifier => undef ), 400, 'invalid_grant',
    '... a code without a challenge is refused' );
my $own = $stack->http->get(
    '/authorize?'
      . Authz::Client::form(
        response_type => 'code', client_id => $made->member('client_id'), redirect_uri => $back, scope => 'openid' ) );
is( $own->status, 400, '... a client that registered itself must send one too' );
like( $own->body, qr/must send a code_challenge/, '... and its page says so' );

done_testing;

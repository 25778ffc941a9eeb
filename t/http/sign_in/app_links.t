# The links that an application gave, on the choice of a provider and on the consent page: its own word, and told apart
# (decisions.md "Links of applications", RFC 7591 2).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Peer    ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true' } );
my %idp   = map { ( $_ => Authz::Idp->start ) } qw(one two);
$idp{$_}->register( $stack, idpId => $_ ) for sort keys %idp;
my $base  = $stack->base;
my $back  = 'https://app.example/cb';
my %given = (
    policy_uri => 'https://app.example/privacy?a=1&b=2', tos_uri    => 'http://legal.example:8080/terms',
    logo_uri   => 'https://app.example/logo.png',        client_uri => 'https://app.example/' );

sub registered {
    my (%more) = @_;
    my $answer = $stack->http->post(
        '/register',
        json => {
            redirect_uris  => [$back],  client_name                => 'App',  grant_types => ['authorization_code'],
            response_types => ['code'], token_endpoint_auth_method => 'none', %more } );
    return $answer->status == 201 ? $answer->member('client_id') : $answer->member('error_description');
}

# The pages that a person sees: the choice of a provider, and consent.
sub pages {
    my ($client) = @_;
    my $browser  = Authz::Browser->new;
    my %param    = (
        response_type  => 'code',   client_id => $client, redirect_uri => $back, scope => 'openid', state => 's',
        code_challenge => 'A' x 43, code_challenge_method => 'S256' );
    my $form   = Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
    my $choice = ( $browser->follow("$base/authorize?$form") )[-1];
    my $asked  = ( $browser->follow("$base/authorize?$form&idp_hint=one") )[-1];
    return ( choice => $choice, consent => $asked );
}

# The links of a page that lead to another site: address, rel, target and text.
sub links {
    my ($answer) = @_;
    my @link;
    my $body = $answer->body;
    while ( $body =~
        m{<dt>([^<]*)<span class="quiet">\(given by the application\)</span></dt>\s*<dd><a ([^>]*)>(.*?)</a></dd>}gs )
    {
        my ( $what, $tag, $text ) = ( $1, $2, $3 );
        my %attribute = $tag =~ /([a-z]+)="([^"]*)"/g;
        s/&amp;/&/g, s/&#x3[dD];|&#61;/=/g for values %attribute;
        push @link, { what => $what =~ s/\s+\z//r, text => $text =~ s/<[^>]*>//gr, %attribute };
    }
    return \@link;
}

my %apart = ( rel => 'noopener noreferrer nofollow', target => '_blank' );
my @both  = (
    { what => 'Privacy policy',   href => $given{policy_uri}, text => 'app.example',   %apart },
    { what => 'Terms of service', href => $given{tos_uri},    text => 'legal.example', %apart } );

my %page = pages( registered(%given) );
for my $name ( sort keys %page ) {
    my $answer = $page{$name};
    is( $answer->status, 200, "$name: a page" );
    is_deeply( links($answer), \@both, '... with the links of the application, told apart, and the host of each' );
    unlike( $answer->body, qr/logo\.png/, '... and without its logo: nothing of the application is loaded' );
    like( $answer->header('Content-Security-Policy'), qr/default-src 'none'/,    '... nor could it be' );
    like( $answer->header('Content-Security-Policy'), qr/img-src data:(?:;|\z)/, '... as a picture either' );
}
like(
    $page{consent}->body, qr/has not checked its name or who runs it/,
    'consent: the application is not vouched for' );

%page = pages( registered( tos_uri => $given{tos_uri} ) );
is_deeply( links( $page{$_} ), [ $both[1] ], "$_: one address, one link" ) for sort keys %page;
%page = pages( registered() );
is_deeply( links( $page{$_} ), [], "$_: no address, no link" ) for sort keys %page;

# ---- what cannot be registered, and what is in a row and cannot be shown

for my $case (
    [ 'javascript:alert(1)'              => 'a script' ],
    [ 'data:text/html,x'                 => 'data' ],
    [ '/privacy'                         => 'an address without a host' ],
    [ 'ftp://app.example/x'              => 'another scheme' ],
    [ 'https://app.example/"><script>x'  => 'characters that no URI has' ],
    [ 'https://app.example/' . 'x' x 493 => '513 characters' ] )
{
    for my $member (qw(policy_uri tos_uri logo_uri)) {
        like( registered( $member => $case->[0] ), qr/\A$member /, "/register: $case->[1] as $member is refused" );
    }
}
like(
    registered( policy_uri => 'https://app.example/' . 'x' x 492 ), qr/\A[0-9a-f-]{36}\z/,
    '512 characters are accepted' );
my $old = registered(%given);
for my $bad ( 'javascript:alert(1)', 'https://login.example@evil.example/', 'no uri', '' ) {
    $stack->sql("UPDATE client SET policy_uri = '$bad' WHERE client_id = '$old'");
    %page = pages($old);
    is_deeply( links( $page{$_} ), [ $both[1] ], "$_: '$bad' in a row is no link" ) for sort keys %page;
    unlike( $page{consent}->body, qr/javascript:|evil/, '... and not shown' );
}

# ---- metadata documents, and clients of the administrator

my $peer = Authz::Peer->start;
my $at   = sub {
    my ( $path, %more ) = @_;
    my $id = $peer->url($path);
    $peer->set( $path => { body => { client_id => $id, client_name => 'Doc', redirect_uris => [$back], %more } } );
    return $id;
};
%page = pages( $at->( '/app.json', %given ) );
is_deeply( links( $page{$_} ), \@both, "$_: the links of a metadata document" ) for sort keys %page;
%page = pages( $at->( '/bad.json', %given, tos_uri => 'javascript:alert(1)' ) );
is( $page{choice}->status, 400, 'a metadata document with a script as tos_uri is refused' );
like( $page{choice}->body, qr/tos_uri/, '... and the page names the member' );
$stack->make_client(
    'own', undef, clientType => 'public', redirectUris => [$back],
    logoUri => 'https://own.example/l.png' );
%page = pages('own');
is_deeply( links( $page{choice} ), [], 'a client of the administrator has none' );
unlike( $page{choice}->body, qr/l\.png/, '... and its logo is not shown' );

done_testing;

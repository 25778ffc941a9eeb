# Two authorization servers of upstreams are not mixed up (gateway-admin.md 3.5; RFC 9700 4.4): an answer counts only for the resource
# whose server it comes from. `evil` belongs to an attacker, `honest` does not; ann is the victim, and eve works with the attacker.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Linking;
use Authz::Upstream ();

my $at = linking_start();
linking_begin();
my ( $stack, $honest, $base ) = @$at{qw(stack upstream base)};
my $evil = Authz::Upstream->start;
my ( $ann, $eve ) = map { browser_of($_) } qw(ann eve);

# Choose Connect; return the address of the authorization server, and its parameters.
sub sent_to {
    my ( $browser, $who, $resource ) = @_;
    my ($hop) = $browser->submit(
        $browser->get( credential( $who, $resource )->{url} ),
        button => [ decision => 'connect' ],
        stop   => qr{/authorize\?} );
    my $to = $hop->header('Location');
    return ( $to, { Authz::Browser::query($to) } );
}

# The attack: evil sends ann on to honest, with the challenge of eve's link there and the state of ann's link to evil. Return the
# answers of the callback to ann, and to eve who has the code if evil got it.
sub mix_up {
    my ($more) = @_;
    $_->forget for $evil, $honest;
    $honest->misbehave( authorize => $more );
    my ( $there, $eves ) = sent_to( $eve, 'eve', 'honest' );
    my ( undef,  $anns ) = sent_to( $ann, 'ann', 'evil' );
    $there =~ s/state=[^&]*/state=$anns->{state}/;
    my $back     = $ann->request( GET => $there )->header('Location');
    my $answered = $ann->get($back);
    my ($got)    = $evil->seen('token');
    my $back_eve = $back =~ s/state=[^&]*/state=$eves->{state}/r;
    my $eves_end = $got ? $eve->get($back_eve) : undef;
    $honest->behave;
    return ( $answered, $got, $eves_end, $back );
}

sub both {
    my (%more) = @_;
    resource( evil   => $evil->auth(%more) );
    resource( honest => $honest->auth( %more, $more{issuer} ? ( issuer => $honest->url ) : () ) );
    $stack->sql("DELETE FROM $_") for qw(gateway_connection gateway_link_request);
    return;
}

# ---- each resource has its own address

both();
for my $case ( [ {}, 'without iss' ], [ { iss => $honest->url }, 'with iss' ] ) {
    my ( $answered, $got, undef, $back ) = mix_up( $case->[0] );
    like( $back, qr{\A\Q$base\E/gateway/connect/callback/honest\?}, "$case->[1]: honest answers at its own address" );
    refused( $answered, 400, qr/link_invalid/, '... where the state of a link to evil is refused' );
    is( $got,                          undef, '... so evil does not get the code of honest' );
    is( scalar $honest->seen('token'), 0,     '... and nobody redeems it' );
    is( rows(q{SELECT count(*) FROM gateway_link_request WHERE state_hash IS NOT NULL}), 2,
        '... and nothing is used up' );
    $stack->sql('DELETE FROM gateway_link_request');
}

my ( $to, $sent ) = sent_to( $ann, 'ann', 'honest' );
is( $sent->{redirect_uri}, "$base/gateway/connect/callback/honest", 'the server is told the address of the resource' );
my $callback = $ann->request( GET => $to )->header('Location');
for my $case (
    [ 'evil',   'another resource' ],
    [ 'none',   'a resource that there is not' ],
    [ 'HONEST', 'another spelling' ] )
{
    refused(
        $ann->get( $callback =~ s{/callback/honest}{/callback/$case->[0]}r ),
        400, qr/link_invalid/, "the address of $case->[1]: refused" );
}
refused(
    $ann->get( $callback =~ s{/callback/honest}{/callback}r ), 400, qr/link_invalid/,
    'the shared address, for a resource with its own: refused' );
is( scalar $honest->seen('token'), 0,   '... and no code was redeemed' );
is( $ann->get($callback)->status,  303, 'at its own address the answer is good, after all that' );
is( ( $honest->seen('token') )[0]{redirect_uri}, "$base/gateway/connect/callback/honest",
    '... and the code is redeemed with it (RFC 6749 4.1.3)' );

# ---- an iss that cannot be compared (RFC 9207 2.4)

both();
for my $case (
    [ undef,        qr/link_invalid/,  'an iss, and no issuer to compare it with: refused' ],
    [ $honest->url, qr/<h1>Connected/, '... and with upstreamAuth.issuer accepted' ] )
{
    resource( honest => $honest->auth( issuer => $case->[0] ) );
    $honest->misbehave( authorize => { iss => $honest->url } );
    like( connect_by( $ann, credential( 'ann', 'honest' )->{url} )->body, $case->[1], $case->[2] );
    $honest->behave;
}
like(
    $stack->{service}->log_text, qr/honest: the answer has an iss, but upstreamAuth\.issuer is not set/,
    '... and the log says what to set' );

# ---- the shared address, for registrations that cannot be changed yet

both( redirectUri => 'shared' );
my ( undef, $shared ) = sent_to( $ann, 'ann', 'honest' );
is( $shared->{redirect_uri}, "$base/gateway/connect/callback",
    'redirectUri shared: the server is told the one address' );
my ( undef, $lost, $end ) = mix_up( {} );
ok( $lost && $end->status == 303,
    '... at which the answers of two servers that send no iss are mixed up: what is given up' );
both( redirectUri => 'shared', issuer => $evil->url );
( my $answered, $lost ) = mix_up( { iss => $honest->url } );
refused( $answered, 400, qr/link_invalid/, '... but not those of a server that sends iss' );
is( $lost, undef, '... whose code evil does not get' );
both( redirectUri => 'shared' );
( $answered, $lost ) = mix_up( { iss => $honest->url } );
refused( $answered, 400, qr/link_invalid/, '... not even if nobody said which issuer evil has' );
is( $lost, undef, '... and evil does not get it' );
resource( honest => $honest->auth );
( $answered, $lost ) = mix_up( {} );
refused( $answered, 400, qr/link_invalid/, 'one with its own address is not mixed up with one at the shared address' );
is( $lost, undef, '... whose server does not get its code' );
( $to, $sent ) = sent_to( $ann, 'ann', 'evil' );
$callback = $ann->request( GET => $to )->header('Location');
refused(
    $ann->get( $callback =~ s{/callback}{/callback/evil}r ), 400, qr/link_invalid/,
    'the own address of a resource that shares one: refused' );

# ---- what was stored before

resource( honest => $honest->auth );
my $path  = '/admin/api/managed-resources/honest';
my $waits = sub {
    return join ' ',
      map { $_->{name} }
      grep { $_->{kind} eq 'redirect_shared' } @{ $stack->admin( GET => '/admin/api/attention' )->json };
};
is( $waits->(), 'evil', 'attention names a resource at the shared address' );
$stack->sql(q{UPDATE managed_resource SET redirect_shared = true, version = nextval('managed_resource_version_seq')});
is( $waits->(), 'evil honest', '... and one that was stored before' );
ok( $stack->admin( GET => $path )->member('sharedRedirect'), '... which says so itself' );
is( ( sent_to( $ann, 'ann', 'honest' ) )[1]{redirect_uri}, "$base/gateway/connect/callback",
    '... and keeps that address' );
resource( honest => $honest->auth( scopes => ['notes.write'] ) );
is( ( sent_to( $ann, 'ann', 'honest' ) )[1]{redirect_uri}, "$base/gateway/connect/callback",
    '... also after a save that says nothing about it' );
resource( honest => $honest->auth( redirectUri => 'own' ) );
is( $waits->(),                                              'evil', '... until the operator says own' );
is( $stack->admin( GET => $path )->member('sharedRedirect'), undef,  '... and the resource says no more' );
is( ( sent_to( $ann, 'ann', 'honest' ) )[1]{redirect_uri}, "$base/gateway/connect/callback/honest",
    '... and has its own' );
is( $stack->admin(
        PUT  => $path,
        json => { displayName => 'x', upstreamType => 'REST', upstreamAuth => $honest->auth( redirectUri => 'mine' ) }
    )->status,
    400,
    'redirectUri is own or shared' );

# ---- registration (RFC 7591), and our metadata documents

my %found = (
    discovery => 'prm', registration => 'dcr',
    map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint) );
$honest->forget;
resource( $_ => $honest->auth(%found) ) for qw(first second);
connect_by( $ann, credential( 'ann', $_ )->{url} ) for qw(first second);
is_deeply(
    [ map { $_->{redirect_uris} } $honest->seen('register') ],
    [ map { ["$base/gateway/connect/callback/$_"] } qw(first second) ],
    'each resource is registered with its own address alone' );
is( rows(), 2, '... and both are connected' );
resource( first => $honest->auth( %found, redirectUri => 'shared' ) );
$stack->sql('DELETE FROM gateway_connection');
sent_to( $ann, 'ann', 'first' );
is_deeply(
    ( $honest->seen('register') )[-1]{redirect_uris},
    ["$base/gateway/connect/callback"], 'another address is another registration' );

my $own      = '/.well-known/svc-gateway-client/first';
my $document = $stack->http->get($own);
is( $document->member('client_id'), "$base$own", 'each resource has its own metadata document, which names itself' );
is_deeply(
    $document->member('redirect_uris'),
    ["$base/gateway/connect/callback/first"], '... with its own address alone' );
is( $stack->http->get('/.well-known/svc-gateway-client/no-such')->status,
    200, '... and does not tell which resources there are' );
is( $stack->http->get("/.well-known/svc-gateway-client/$_")->status, 404, "... $_ is no name of a resource" )
  for 'A', 'mcp', 'a_b', 'x' x 33;
is_deeply(
    $stack->http->get('/.well-known/svc-gateway-client.json')->member('redirect_uris'),
    ["$base/gateway/connect/callback"],
    'the shared document has the shared address' );

done_testing;

# Clients that are known by the metadata document at their client_id (specification 4.2 "CIMD rules"; oauth.md 3.2 CIMD,
# S13; decisions.md "CIMD documents"; draft-ietf-oauth-client-id-metadata-document).
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Peer   ();
use Authz::Inputs;
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $web     = 16;
my %setting = (
    Authz::Idp->settings, SVC_CIMD_ALLOW_INSECURE_LOCALHOST => 'true', SVC_CIMD_FETCH_TIMEOUT_SECONDS => 2,
    SVC_CIMD_MAX_DOCUMENT_SIZE_BYTES => 4096,
    SVC_MAX_REDIRECT_URIS            => 3 );
my $stack = Authz::Stack->start( web_workers => $web, settings => \%setting );
my $at    = $stack;                                                              # the instance that is asked
my $idp   = Authz::Idp->start;
my $peer  = Authz::Peer->start;
$idp->register($stack);

my $back      = 'https://app.example/cb';
my $verifier  = 'v' x 43;
my $challenge = MIME::Base64::encode_base64url( Digest::SHA::sha256($verifier) );

# A document that is good for its address, but for what is named.
sub document {
    my ( $path, %more ) = @_;
    my %document = (
        client_id => $peer->url($path), client_name => 'The App', redirect_uris => [ $back, 'http://127.0.0.1/cb' ],
        %more );
    delete @document{ grep { !defined $document{$_} } keys %document };
    return \%document;
}

sub serve {
    my ( $path, %more ) = @_;
    $peer->set( $path => { body => document( $path, %more ) } );
    return $peer->url($path);
}

sub target {
    my ( $client_id, %param ) = @_;
    my %query = (
        response_type => 'code', redirect_uri => $back, scope => 'openid', state => 's1', code_challenge => $challenge,
        code_challenge_method => 'S256', client_id => $client_id, %param );
    return '/authorize?' . Authz::Client::form( map { $_ => $query{$_} } grep { defined $query{$_} } sort keys %query );
}
sub ask { my ( $client_id, %param ) = @_; return $at->http->get( target( $client_id, %param ) ) }
sub rows { my ($client_id) = @_; return $stack->sql("SELECT count(*) FROM client WHERE client_id = '$client_id'") }

sub goes_on {
    my ( $answer, $name ) = @_;
    my $issuer = $idp->issuer;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $good =
      ok( $answer->status == 302 && ( $answer->header('Location') // '' ) =~ m{\A\Q$issuer\E/authorize\?}, $name );
    diag( $answer->text ) if !$good;
    return $good;
}

# An error page and no redirect (oauth.md 3.2, order 1).
sub page {
    my ( $answer, $status, $text, $name ) = @_;
    my @wrong;
    push @wrong, "status is not $status"       if $answer->status != $status;
    push @wrong, 'a redirect'                  if defined $answer->header('Location');
    push @wrong, 'no HTML'                     if ( $answer->header('Content-Type') // '' ) !~ m{\Atext/html\b};
    push @wrong, "the page does not say $text" if $answer->body                             !~ $text;
    push @wrong, 'a 503 without Retry-After' if $status == 503 && ( $answer->header('Retry-After') // '' ) !~ /\A\d+\z/;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $good = ok( !@wrong, $name );
    diag( @wrong, ': ', $answer->text ) if !$good;
    return $good;
}

# All the way: sign-in, consent, and the code, or the error.
sub code_for {
    my ( $client_id, %param ) = @_;
    my $browser = Authz::Browser->new;
    my @hop     = $browser->follow( $at->base . target( $client_id, %param ), stop => qr{\Ahttps://app\.example/} );
    @hop = $browser->submit( $hop[-1], button => [ decision => 'allow' ], stop => qr{\Ahttps://app\.example/} )
      if $hop[-1]->status == 200;
    my %back = Authz::Browser::query( $browser->url );
    return $back{code} // 'error ' . ( $back{error} // $hop[-1]->status . ' ' . $hop[-1]->body );
}

sub redeem {
    my ( $client_id, $code, %form ) = @_;
    %form = (
        grant_type    => 'authorization_code', client_id => $client_id, code => $code, redirect_uri => $back,
        code_verifier => $verifier,            %form );
    return $at->http->post( '/token', form => [%form] );
}

# ---- a good one

my $app = serve('/app/client.json');
goes_on( ask($app), 'a good document: the user is sent to sign in' );
my ($asked) = $peer->requests('/app/client.json');
is( "$asked->{method} $asked->{target} $asked->{headers}{accept}", 'GET /app/client.json application/json',
    'it is fetched by GET, with Accept: application/json' );
is( $asked->{headers}{authorization} // $asked->{headers}{cookie}, undef, '... and nothing of ours' );
is( rows($app), 0, 'no row is made before a code is (decisions.md "CIMD documents")' );
my $code = code_for($app);
like( $code, qr/\A\S{40,}\z/, 'a code is issued after sign-in and consent' );
is( $peer->hits('/app/client.json'), 1, 'one fetch for all of it' );
is( $stack->sql(
        "SELECT registration_type, client_type, auth_method, enabled, client_name FROM client WHERE client_id = '$app'"
    ),
    "CIMD\tpublic\tnone\tt\tThe App",
    'with the code comes the row: a public client of registration CIMD (specification 2.1, 4.2)' );
admin_ok(
    $stack->admin( GET => '/admin/api/clients/' . Authz::Client::escape($app) ),
    200,
    {   clientId     => $app, registrationType => 'CIMD', redirectUris => [ $back, 'http://127.0.0.1/cb' ],
        clientSecret => undef },
    '... which the administrator sees' );
oauth_error(
    redeem( $app, $code, code_verifier => 'w' x 43 ), 400, 'invalid_grant',
    '/token: another verifier is refused' );
oauth_error(
    redeem( $app, $code, client_secret => 'x' ), 401, 'invalid_client',
    '/token: a secret it cannot have is refused' );
oauth_ok(
    redeem( $app, $code ), { token_type => 'Bearer', id_token => qr/\A[\w-]+\.[\w-]+\.[\w-]+\z/ },
    '/token: the code is redeemed without a secret' );
my $version = $stack->sql("SELECT version FROM client WHERE client_id = '$app'");
oauth_ok( redeem( $app, code_for($app) ), {}, 'another user, another code' );
is( $stack->sql("SELECT version FROM client WHERE client_id = '$app'"), $version,
    '... and the row is as it was: its version has not moved' );

my $strict = serve( '/app/dpop.json', dpop_bound_access_tokens => true );
oauth_error(
    redeem( $strict, code_for($strict) ),
    400, 'invalid_request', 'a document with dpop_bound_access_tokens: no token without a DPoP proof (RFC 9449 5.2)' );

# ---- the redirect URI

page(
    ask( $app, redirect_uri => 'https://app.example/cb/' ), 400, qr/redirect_uri/,
    'redirect_uri with a slash more than in the document: page' );
page(
    ask( $app, redirect_uri => 'https://evil.example/cb' ), 400, qr/redirect_uri/,
    'a redirect_uri that is not in the document: page' );
page( ask( $app, redirect_uri => undef ), 400, qr/redirect_uri/, 'no redirect_uri: page' );
goes_on(
    ask( $app, redirect_uri => 'http://127.0.0.1:50123/cb' ),
    'the port of a loopback redirect_uri is free (RFC 8252 7.3)' );
my $error = ask( $app, code_challenge => undef, code_challenge_method => undef );
page(
    $error, 400, qr/invalid_request/,
    'without PKCE: a page with the error, for the client is a public one (specification 4.2)' );
my ($link) = $error->body =~ m{<a href="([^"]+)">Return to <bdi>app\.example</bdi></a>};
like(
    $link // '', qr{\A\Q$back\E\?(?=.*error=invalid_request)(?=.*state=s1)},
    '... which links to the client instead of a redirect (decisions.md "Errors at /authorize")' );

# ---- addresses

my $origin = $peer->url;
for my $case (
    [ "$origin/",                                      'path',             'the path /' ],
    [ $origin,                                         'path',             'no path' ],
    [ "$origin?x",                                     'path',             'a query without path' ],
    [ "$origin/a#f",                                   'fragment',         'a fragment' ],
    [ "$origin/a/../b",                                'dot segment',      'a dot segment' ],
    [ "$origin/a/%2e%2E/b",                            'dot segment',      'a dot segment in escapes' ],
    [ $origin =~ s{//}{//u:p\@}r . '/a',               'user information', 'a user' ],
    [ "$origin/a\\b",                                  'backslash',        'a backslash' ],
    [ "$origin/" . 'a' x ( 257 - 1 - length $origin ), '256',              '257 characters' ],
    [ 'http://app.example/c',                          'https',            'http to a host that is not allowed' ],
    [ 'http://localhost.example/c',                    'https', 'http to a host whose name begins like one that is' ],
  )
{
    my ( $address, $text, $name ) = @$case;
    $peer->forget;
    page(
        ask($address), 400, qr/client_id [^<]*\Q$text\E/,
        "address with $name: page that says so (specification 4.2)" );
    is( $peer->hits, 0, '... and nothing is asked' );
}
my $long = '/' . 'a' x ( 256 - 1 - length $origin );
goes_on( ask( serve($long) ), 'an address of 256 characters' );

# ---- documents

my $number = 0;
for my $case (
    [ 'another client_id', 'client_id must be exactly the URL of the document', client_id => 'https://app.example/c' ],
    [ 'no client_id',      'client_id is required',                             client_id => undef ],
    [ 'no redirect_uris',               'redirect_uris is required',               redirect_uris => undef ],
    [ 'empty redirect_uris',            'redirect_uris must have at least 1 item', redirect_uris => [] ],
    [ 'a redirect URI with javascript', 'redirect_uris\[1\]', redirect_uris => [ $back, 'javascript:alert(1)' ] ],
    [ 'too many redirect URIs',         'at most 3',     redirect_uris => [ map {"https://app.example/$_"} 1 .. 4 ] ],
    [ 'client_secret',                  'client_secret', client_secret => 'x' ],
    [ 'client_secret_expires_at', 'client_secret_expires_at', client_secret_expires_at   => 0 ],
    [ 'client_secret_basic',      'must be none',             token_endpoint_auth_method => 'client_secret_basic' ],
    [   'an empty set of keys', 'jwks must have a key', token_endpoint_auth_method => 'private_key_jwt',
        jwks => { keys => [] } ],
    [ 'no keys', 'jwks or jwks_uri is required', token_endpoint_auth_method => 'private_key_jwt' ],
    [   'http keys', 'jwks_uri must use https', token_endpoint_auth_method => 'private_key_jwt',
        jwks_uri => 'http://a.example/k' ],
    [ 'other grant types',         'authorization_code', grant_types    => ['client_credentials'] ],
    [ 'other response types',      'must contain code',  response_types => ['token'] ],
    [ 'a name that reorders text', 'client_name',        client_name    => "a\x{202e}b" ],
  )
{
    my ( $name, $text, @member ) = @$case;
    my $path      = '/bad' . ++$number;
    my $client_id = serve( $path, @member );
    page(
        ask($client_id), 400, qr/metadata document: .*$text/,
        "document with $name: page that says so (oauth.md 3.2)" );
    is( rows($client_id), 0, '... and no row' );
    serve($path);
    goes_on( ask($client_id), '... and once it is put right it is good at once: a bad one is not kept' );
}
my $rich = serve(
    '/rich', software_id => 'x', application_type => 'native',
    grant_types => [qw(authorization_code refresh_token urn:x)], response_types => ['code'], unknown => { a => [1] } );
goes_on( ask($rich), 'unknown members are ignored' );

# Members that are empty, and schemes without a dot of known programs (world.md G7).
my $empty = serve( '/empty', map { ( $_ => '' ) } qw(client_uri logo_uri policy_uri tos_uri client_name scope) );
goes_on( ask($empty), 'G7: "" of a document is absent, as at /register' );
my $cursor  = 'cursor://anysphere.cursor-retrieval/oauth/user-agent-callback';
my $dotless = serve( '/dotless', redirect_uris => [ $back, $cursor ] );
goes_on( ask( $dotless, redirect_uri => $cursor ), 'G7: cursor in a document is taken as shipped' );
page( ask( $dotless, redirect_uri => "$cursor/x" ), 400, qr/redirect_uri/, 'G7: ... exactly' );
page(
    ask( $dotless, redirect_uri => $cursor, code_challenge => undef, code_challenge_method => undef ),
    400, qr/code_challenge/, 'G7: ... with PKCE' );
page(
    ask( serve( '/unlisted', redirect_uris => [ $back, 'myapp:/cb' ] ) ),
    400, qr/metadata document: redirect_uris\[1\] must use https/,
    'G7: a scheme that the row does not list refuses the document, and is named' );
my $rule_row = 'svc.operator.controls.public_client_policy';
$stack->patch_row( $rule_row, { redirect => { dotless_schemes => [] } } );
page( ask($dotless), 400, qr/redirect_uris\[1\]/, 'G7: ... the row is asked each time' );
$stack->patch_row( $rule_row, { redirect => { dotless_schemes => undef } } );

# ---- answers that are no document

my %answer = (
    'status 404' => [ { status => 404, body => document('/x') }, 400, qr/does not answer with a JSON document/ ],
    'status 500' => [ { status => 500, body => document('/x') }, 400, qr/does not answer with a JSON document/ ],
    'status 201' => [ { status => 201, body => document('/x') }, 400, qr/does not answer with a JSON document/ ],
    'a redirect' => [
        { status => 302, headers => [ Location => $peer->url('/elsewhere') ], body => document('/x') }, 400,
        qr/does not answer with a JSON document/ ],
    'text/html' => [ { type => 'text/html', body => document('/x') }, 400, qr/does not answer with a JSON document/ ],
    'no media type'     => [ { type => '', body => document('/x') }, 400, qr/does not answer with a JSON document/ ],
    'no JSON'           => [ { body => '{"client_id":' },            400, qr/does not answer with a JSON document/ ],
    'a JSON array'      => [ { body => '[]' },                       400, qr/does not answer with a JSON document/ ],
    'a repeated member' =>
      [ { body => '{"client_id":"a","client_id":"b"}' }, 400, qr/does not answer with a JSON document/ ],
    'more than the limit' => [ { body => document('/x'), pad => 4096 },    400, qr/too large/ ],
    'an endless answer'   => [ { body => ' ' x 500, endless => 1 },        400, qr/too large/ ],
    'no HTTP'             => [ { raw => "hello\r\n" },                     400, qr/cannot be|does not/ ],
    'nothing'             => [ { close => 1 },                             400, qr/cannot be/ ],
    'a reset'             => [ { reset => 1 },                             400, qr/cannot be/ ],
    'half an answer'      => [ { body => document('/x'), truncate => 20 }, 400, qr/cannot be|does not/ ],
);
serve('/elsewhere');
for my $name ( sort keys %answer ) {
    my ( $answer, $status, $text ) = @{ $answer{$name} };
    my $path = '/answer' . ++$number;
    $peer->set( $path => $answer );
    my $start = time;
    page( ask( $peer->url($path) ), $status, $text, "an address that answers with $name: page" );
    cmp_ok( time - $start, '<', 10, '... soon' );
}
is( $peer->hits('/elsewhere'), 0, 'no redirect is followed' );
my $vendor = '/vendor';
$peer->set( $vendor => { type => 'Application/JSON; charset=utf-8', body => document($vendor) } );
goes_on( ask( $peer->url($vendor) ), 'the media type may have parameters and capitals' );
my $exact = document('/exact');
my $size  = 4096 - length JSON::PP->new->utf8->canonical->encode($exact);
$peer->set( '/exact' => { body => $exact, pad => $size } );
goes_on( ask( $peer->url('/exact') ), 'a document of exactly SVC_CIMD_MAX_DOCUMENT_SIZE_BYTES' );
$exact = document('/exact+1');
$peer->set( '/exact+1' => { body => $exact, pad => $size - 1 } );
page( ask( $peer->url('/exact+1') ), 400, qr/too large/, '... of one more' );

# ---- slow and dead hosts

$peer->set(
    '/slow' => { body => document('/slow'), delay => 5 },
    '/drip' => { body => document('/drip'), drip  => 0.1 } );
for my $path (qw(/slow /drip)) {
    my $start = time;
    page( ask( $peer->url($path) ), 400, qr/too long/, "$path: page" );
    my $took = time - $start;
    ok( $took > 1.5 && $took < 5, "... after SVC_CIMD_FETCH_TIMEOUT_SECONDS, over the whole transfer ($took s)" );
    $start = time;
    page( ask( $peer->url($path) ), 400, qr/too long/, '... again' );
    cmp_ok( time - $start, '<', 1, '... and at once: it is left alone for 5 s (decisions.md "CIMD documents")' );
    is( $peer->hits($path), 1, '... it was not asked again' );
}
my $shut = 'http://localhost:' . Authz::Web::free_port() . '/c';
page( ask($shut), 400, qr/cannot be reached/, 'a port without a listener: page' );

# ---- many at once

# Requests at the same moment, each from an address of its own: one address has one fetch at a time.
sub together {
    my $n = 0;
    return Authz::Client::together(
        map { [ Authz::Client->new( port => $stack->{port}, from => '127.0.8.' . ++$n ), $_ ] }
        map { $stack->http->octets( GET => $_, close => 1 ) } @_ );
}
$peer->set( '/many' => { body => document('/many'), delay => 0.5 } );
my @answer = together( map { target( $peer->url('/many') ) } 1 .. $web / 4 );
is( scalar( grep { $_->status == 302 } @answer ), $web / 4, 'first use in parallel: all go on' )
  or diag( map { $_->text } @answer );
is( $peer->hits('/many'), 1, '... after one fetch' );
my $crowd = $peer->url('/crowd');
$peer->set( '/crowd' => { body => document('/crowd'), delay => 0.5 } );
@answer = together( map { target($crowd) } 1 .. 3 * $web );
my $on  = grep { $_->status == 302 } @answer;
my @off = grep { $_->status != 302 } @answer;
cmp_ok( $on, '>=', $web / 4, "a crowd of first users: $on go on" );
is( scalar( grep { $_->status != 503 || !defined $_->header('Refresh') } @off ), 0,
    '... the rest comes again by itself, for as many workers as may wait already' ) or diag( map { $_->text } @off );
is( $peer->hits('/crowd'), 1, '... there was one fetch' );
@answer = together( map { target($crowd) } 1 .. 3 * $web );
is( scalar( grep { $_->status == 302 } @answer ), 3 * $web, '... and then all go on' );
my @walker;

for my $n ( 1 .. 8 ) {
    push @walker,
      Authz::Process->start(
        name => "walker$n",
        code => sub { my $code = code_for($crowd); print $code =~ /\A\S{40,}\z/ ? "has a code\n" : "has none: $code\n" }
      );
}
$_->wait(60) for @walker;
is( scalar( grep { $_->log_text =~ /has a code/ } @walker ), 8, 'eight browsers get their codes at once' );
is( rows($crowd),                                            1, '... and there is one row' );

# ---- how long it is kept

my $TTL = 3;
$at = Authz::Stack->start(
    beside   => $stack,
    settings => {
        %setting,
        SVC_CIMD_CACHE_TTL_SECONDS  => $TTL,
        SVC_OIDC_ID_TOKEN_ALGS      => 'RS256,ES256',
        SVC_OIDC_JWKS_CACHE_SECONDS => 0 } );
$peer->set( '/kept' => { headers => [ 'Cache-Control' => 'max-age=86400' ], body => document('/kept') } );
my $kept = $peer->url('/kept');
goes_on( ask($kept), 'Cache-Control: max-age=86400' ) for 1 .. 3;
is( $peer->hits('/kept'), 1, '... it is fetched once' );
sleep $TTL + 1.2;
goes_on( ask($kept), '... after SVC_CIMD_CACHE_TTL_SECONDS' );
is( $peer->hits('/kept'), 2, '... it is fetched again, whatever its Cache-Control says' );
sleep $TTL + 1.2;
$peer->set( '/kept' => { status => 500 } );
page( ask($kept), 400, qr/does not answer/, 'a kept document past its time is not used when it cannot be fetched' );

# ---- a document that changes

sub signed_by {
    my ( $client_id, $uri ) = @_;
    my $answer = redeem( $client_id, code_for( $client_id, redirect_uri => $uri ), redirect_uri => $uri );
    return ( Authz::Grant->jwt( $answer->member('id_token') // die $answer->text ) )[0]{alg};
}
$app = serve( '/changing', id_token_signed_response_alg => 'ES256' );
like( code_for($app), qr/\A\S{40,}\z/, 'before the change' );
is( signed_by( $app, $back ), 'ES256', '... ID tokens are by the algorithm of the document' );
is( signed_by( serve( '/other-alg', id_token_signed_response_alg => 'PS256' ), $back ),
    'RS256', '... or by RS256, if the service does not know it (decisions.md "ID tokens by ES256")' );
sleep $TTL + 1.2;
serve( '/changing', client_name => 'The New App', redirect_uris => ['https://app.example/new'] );
page( ask($app), 400, qr/redirect_uri/, 'redirect_uris that changed: the old one is good no more' );
goes_on( ask( $app, redirect_uri => 'https://app.example/new' ), '... the new one is' );
is( $stack->sql(
        "SELECT count(*) FROM audit_log WHERE operation = 'clientMetadataChanged' AND client_id = '$app' AND request_summary LIKE '%https://app.example/new%'"
    ),
    1,
    '... and the audit log says so, once (oauth.md 3.2)' );
my $new = code_for( $app, redirect_uri => 'https://app.example/new' );
is( $stack->sql("SELECT client_name, array_to_string(redirect_uris, ' ') FROM client WHERE client_id = '$app'"),
    "The New App\thttps://app.example/new", 'with the next code the row says what the document says' );
oauth_ok( redeem( $app, $new, redirect_uri => 'https://app.example/new' ), {}, '... and the code is good' );
is( signed_by( $app, 'https://app.example/new' ),
    'RS256', '... ID tokens are by RS256, as the document names no algorithm any more' );

# ---- the administrator's word

$at = $stack;
my $disable = $stack->admin(
    PUT  => '/admin/api/clients/' . Authz::Client::escape($app),
    json => { clientId => $app, clientType => 'public', enabled => false, redirectUris => ['https://app.example/new'] }
);
is( $disable->status, 200, 'the administrator disables it' ) or diag( $disable->text );
page(
    ask( $app, redirect_uri => 'https://app.example/new' ), 400, qr/The client is disabled/,
    '... and it is refused at once: page' );
$stack->sql("UPDATE client SET enabled = true WHERE client_id = '$app'");
goes_on( ask( $app, redirect_uri => 'https://app.example/new' ), '... enabled again: at once too' );
$stack->sql("DELETE FROM client WHERE client_id = '$app'");
oauth_ok(
    redeem(
        $app, code_for( $app, redirect_uri => 'https://app.example/new' ), redirect_uri => 'https://app.example/new' ),
    {},
    'one that was removed comes back with its next code' );

my $own = $peer->url('/own');
serve('/own');
$stack->make_client(
    $own, { grants => ['authorization_code'], scopes => ['openid'] }, clientType => 'public',
    redirectUris => ['https://own.example/cb'] );
page(
    ask($own), 400, qr/redirect_uri/,
    "the administrator's client of such a name: its own redirect URIs count" );
goes_on( ask( $own, redirect_uri => 'https://own.example/cb' ), '... and are good' );
is( $peer->hits('/own'), 0, '... and no document is fetched' );

my $raised = serve('/raised');
like( code_for($raised), qr/\A\S{40,}\z/, 'a client by its document' );
my $raise = $stack->admin(
    PUT  => '/admin/api/clients/' . Authz::Client::escape($raised),
    json => {
        clientId     => $raised, clientType => 'confidential', clientSecret => 'of-its-own-s3cr3t',
        redirectUris => ['https://own.example/cb'] } );
is( $raise->status, 200, '... which the administrator makes confidential' ) or diag( $raise->text );
page(
    ask($raised), 400, qr/redirect_uri/,
    '... stands for itself from then on: its document does not make it public again' );
goes_on( ask( $raised, redirect_uri => 'https://own.example/cb' ), '... and goes on as it was registered' );
is( $stack->sql("SELECT client_type FROM client WHERE client_id = '$raised'"), 'confidential', '... indeed' );

my $named = serve('/named');
$stack->sql("INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('$named', 'https://elsewhere.example', 'n')");
like(
    code_for($named), qr/\Aerror 400 .*[(]unauthorized_client[)]/s,
    'a client with the name of a subject gets no code (decisions.md "Subject identifiers")' );
is( rows($named), 0, '... and no row' );

# ---- what is stored of it; no more rows than SVC_DYNAMIC_CLIENTS_MAX (oauth.md 3.5, 5)

my $logo = serve( '/logo', logo_uri => 'https://app.example/l.png', client_uri => 'https://app.example', scope => ' ' );
like( code_for($logo), qr/\A\S{40,}\z/, 'a document with a scope of blanks: it names none, and is no ceiling' );
is( $stack->sql("SELECT logo_uri, client_uri, scope IS NULL FROM client WHERE client_id = '$logo'"),
    "https://app.example/l.png\thttps://app.example\tt", 'its logo_uri and client_uri are stored' );
my $held = $stack->sql(q{SELECT count(*) FROM client WHERE registration_type = 'CIMD'});
$at = Authz::Stack->start( beside => $stack, settings => { %setting, SVC_DYNAMIC_CLIENTS_MAX => $held + 1 } );
like(
    code_for( serve('/last') ), qr/\A\S{40,}\z/,
    'cap: the last client that there is room for gets its row and code' );
my $over = serve('/over');
like(
    code_for($over), qr/\Aerror 503 .*The maximum number of self-registered clients is reached/s,
    'cap: one more gets a page that says so, and nothing goes to its address' );
is( rows($over), 0, '... and no row' );
is( $at->http->post( '/register', json => { redirect_uris => [$back] } )->status, 201,
    '... but a client that registers is counted apart (decisions.md "Room")' );
serve( '/logo', client_name => 'Renamed', logo_uri => 'https://app.example/new.png' );
$stack->sql("UPDATE fetched_document SET expires_at = now() WHERE url = '$logo'");
like( code_for($logo), qr/\A\S{40,}\z/, 'cap: a client that has a row is served' );
is( $stack->sql("SELECT client_name, logo_uri FROM client WHERE client_id = '$logo'"),
    "Renamed\thttps://app.example/new.png", '... and its row follows its document' );
$stack->sql( "DELETE FROM client WHERE client_id = '$rich' OR client_id = '" . $peer->url('/last') . q{'} );
like( code_for($over), qr/\A\S{40,}\z/, 'cap: where one went there is room' );
my $old = 'https://old.example/client';
$stack->sql(
    qq{INSERT INTO client (client_id, client_type, registration_type, created_at) VALUES ('$old', 'public', 'CIMD', now() - interval '61 minutes')}
);
my $taken = serve('/taken');
$stack->sql("INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('$taken', 'https://elsewhere.example', 't')");
like(
    code_for($taken), qr{\Aerror 400 .*[(]unauthorized_client[)]}s,
    'cap: a client that gets no row, as a subject has its name' );
is( rows($old), 1, '... takes the place of none' );
like( code_for($over), qr/\A\S{40,}\z/, 'cap: a client that has a row' );
is( rows($old), 1, '... takes the place of none' );
like(
    code_for( serve('/newest') ), qr/\A\S{40,}\z/,
    'cap: a client older than an hour that never had a token makes room' );
is( rows($old), 0, '... indeed' );
like(
    code_for( serve('/too-many') ), qr/\Aerror 503 /,
    'cap: the others are younger, or have a code that can be redeemed, and stay' );
$at = $stack;

# ---- without the development switch

my $without = Authz::Stack->start( beside => $stack, settings =>
      { Authz::Idp->settings, SVC_SAFE_HTTP_CA_FILE => Authz::Peer->ca_file, SVC_CIMD_FETCH_TIMEOUT_SECONDS => 2 } );
sub ask_strict { my ($client_id) = @_; return $without->http->get( target($client_id) ) }
$peer->forget;
page(
    ask_strict( serve('/strict') ), 400, qr/unknown or disabled/,
    'http without SVC_CIMD_ALLOW_INSECURE_LOCALHOST: an unknown client' );
is( $peer->hits, 0, '... and nothing is asked' );
SKIP: {
    skip 'no IO::Socket::SSL', 6 if !eval { require IO::Socket::SSL; 1 };
    my $tls = Authz::Peer->start( tls => 1 );
    $tls->set( '/c' => { body => { client_id => $tls->url('/c'), redirect_uris => [$back] } } );
    page(
        ask_strict( $tls->url('/c') ), 400, qr/cannot be reached safely/,
        'https at a loopback address: page (SSRF)' );
    is( $tls->hits, 0, '... and nothing is asked' );
    my $by_address = 'https://127.0.0.1:' . $tls->port . '/c';
    page( ask_strict($by_address), 400, qr/cannot be reached safely/, 'https at 127.0.0.1: page' );
    page(
        ask_strict( 'https://[::ffff:127.0.0.1]:' . $tls->port . '/c' ), 400, qr/cannot be reached safely/,
        'https at the same, mapped to IPv6: page' );
    page(
        ask_strict( 'https://2130706433:' . $tls->port . '/c' ), 400, qr/cannot be reached safely/,
        'https at the same as one number: page' );
    is( $tls->hits, 0, '... and nothing is asked' );
}

inputs_ok($stack);

done_testing;

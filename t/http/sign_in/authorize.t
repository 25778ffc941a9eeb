# GET and POST /authorize: refusals and where they go: a page until the client and its redirect_uri are known,
# then a redirect with error, error_description, state and iss (oauth.md 3.2, RFC 6749 4.1.2.1, RFC 9207).
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp::settings(), SVC_CIMD_FETCH_TIMEOUT_SECONDS => 2 } );
my $http  = $stack->client;
$idp->register($stack);

my $cb        = 'https://app.example/cb';
my $challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
$stack->make_client(
    'web', undef,
    redirectUris => [ $cb, 'https://app.example/q?a=b%20c', 'http://127.0.0.1:3000/cb' ] );
$stack->make_client(
    'spa', undef, clientType => 'public',
    redirectUris => [ $cb, 'http://127.0.0.1/cb', 'com.example.app:/cb' ] );
$stack->make_client( 'off', undef, enabled => false, redirectUris => [$cb] );
my %good = ( client_id => 'web', redirect_uri => $cb, response_type => 'code', state => 'a b&c=d%' );

# A later value of a name takes the place of the one before.
sub query {
    my %given = @_;
    return Authz::Client::form( map { ( $_ => $given{$_} ) } sort keys %given );
}
sub get { return $http->get( '/authorize?' . query(@_) ) }

sub sent {
    my ($body) = @_;
    return $http->post(
        '/authorize', headers => [ 'Content-Type' => 'application/x-www-form-urlencoded' ],
        body => $body );
}
sub post { return sent( query(@_) ) }
sub text { my ( $answer, $name ) = @_; return $answer->header($name) // '' }

# Every answer of the endpoint (specification 1; OAuth 2.1 3.1).
sub family {
    my ($answer) = @_;
    my @wrong;
    push @wrong, 'Cache-Control is not no-store' if text( $answer, 'Cache-Control' ) ne 'no-store';
    push @wrong, 'no X-Request-ID'               if $answer->headers('X-Request-ID') != 1;
    push @wrong, 'CORS'                          if defined $answer->header('Access-Control-Allow-Origin');
    push @wrong, 'no nosniff'                    if text( $answer, 'X-Content-Type-Options' ) ne 'nosniff';
    return @wrong;
}

sub verdict {
    my ( $name, $answer, @wrong ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 2;
    ok( !@wrong, $name ) or diag( join "\n", @wrong, $answer->text );
    return;
}

# A page, and no redirect.
sub page {
    my ( $answer, $status, $error, $name ) = @_;
    my @wrong = family($answer);
    push @wrong, "status is not $status" if $answer->status != $status;
    push @wrong, 'a Location'            if defined $answer->header('Location');
    push @wrong, 'no HTML'               if text( $answer, 'Content-Type' ) ne 'text/html; charset=utf-8';
    push @wrong, 'it may be framed'
      if text( $answer, 'Content-Security-Policy' ) !~ /frame-ancestors 'none'/
      || text( $answer, 'X-Frame-Options' ) ne 'DENY';
    push @wrong, 'a referrer'                   if text( $answer, 'Referrer-Policy' ) ne 'no-referrer';
    push @wrong, "the page does not say $error" if $answer->body !~ /<code>\(\Q$error\E\)/;
    push @wrong, 'a script'                     if $answer->body =~ /<script/i;
    push @wrong, 'a cookie'                     if defined $answer->header('Set-Cookie');
    return verdict( $name, $answer, @wrong );
}

# A redirect to the client with exactly these members; state undef: none.
sub refused {
    my ( $answer, $error, $name, %option ) = @_;
    my @wrong = family($answer);
    my $to    = $option{to} // $cb;
    my $state = exists $option{state} ? $option{state} : $good{state};
    push @wrong, 'status is not 302' if $answer->status != 302;
    my $location = text( $answer, 'Location' );
    push @wrong, "it does not lead to $to"
      if substr( $location, 0, length($to) + 1 ) ne $to . ( $to =~ /\?/ ? '&' : '?' );
    my %back = Authz::Browser::query( '?' . substr $location, length($to) + 1 );
    push @wrong, 'error is ' . ( $back{error} // 'absent' ) if ( $back{error} // '' ) ne $error;
    push @wrong, 'no error_description, or one with a forbidden character'
      if ( $back{error_description} // '' ) !~ /\A[\x20\x21\x23-\x5b\x5d-\x7e]+\z/;
    push @wrong, 'state is ' . ( $back{state} // 'absent' ) if ( $back{state} // "\0" ) ne ( $state // "\0" );
    push @wrong, 'iss is ' .   ( $back{iss}   // 'absent' ) if ( $back{iss}   // '' ) ne $stack->base;
    push @wrong, "also $_" for grep { !/\A(?:error|error_description|state|iss)\z/ } keys %back;
    push @wrong, 'a body' if $answer->body ne '';
    return verdict( $name, $answer, @wrong );
}

sub is_upstream {
    my ( $answer, $name ) = @_;
    my @wrong = family($answer);
    push @wrong, 'it does not lead to the provider'
      if $answer->status != 302 || index( text( $answer, 'Location' ), $idp->issuer . '/authorize?' ) != 0;
    return verdict( $name, $answer, @wrong );
}

is_upstream( get(%good), 'a good request is sent on to the provider' );

# ---- pages: the client or its redirect_uri is not known

sub without { my ( $name, %change ) = @_; my %given = ( %good, %change ); delete $given{$name}; return get(%given) }
page( without('client_id'), 400, 'invalid_request', 'page: client_id missing' );
page( get( %good, client_id => '' ),       400, 'invalid_request',     'page: client_id empty (oauth.md C4)' );
page( get( %good, client_id => 'nobody' ), 400, 'unauthorized_client', 'page: client_id unknown' );
page( get( %good, client_id => 'WEB' ),    400, 'unauthorized_client', 'page: client_id in other letters' );
page( get( %good, client_id => 'off' ),    400, 'unauthorized_client', 'page: the client is disabled' );
page(
    $http->get( '/authorize?' . query(%good) . '&client_id=web' ), 400, 'invalid_request',
    'page: client_id twice, although equal (RFC 6749 3.1)' );
page( $http->get( '/authorize?' . query(%good) . '&client_id=spa' ), 400, 'invalid_request', 'page: client_id twice' );
page( without('redirect_uri'), 400, 'invalid_request', 'page: redirect_uri missing (specification 4.2)' );
page(
    $http->get( '/authorize?' . query(%good) . '&redirect_uri=' . Authz::Client::escape($cb) ), 400,
    'invalid_request', 'page: redirect_uri twice' );
page(
    sent("client_id=%ff&redirect_uri=$cb&response_type=code"), 400, 'invalid_request',
    'page: client_id is no UTF-8 (oauth.md C6)' );
page(
    sent("client_id=web&redirect_uri=$cb%00&response_type=code"), 400, 'invalid_request',
    'page: redirect_uri with a NUL' );
page(
    $http->get( '/authorize?' . ( 'x=y&' x 64 ) . query(%good) ), 400, 'invalid_request',
    'page: client_id behind more parameters than are read' );
page( get( %good, redirect_uri => $_->[0] ), 400, 'invalid_request', "page: redirect_uri with $_->[1]" )
  for [ 'https://evil.example/cb', 'another host' ], [ "$cb/", 'a final slash more' ], [ "$cb?x=y", 'a query more' ],
  [ "$cb#f",                  'a fragment' ],         [ 'https://app.example:443/cb', 'the default port spelt out' ],
  [ 'https://APP.example/cb', 'a host in capitals' ], [ 'https://app.example/%63b',   'an escape' ],
  [ 'https://app.example/x/../cb', 'dots' ],          [ 'https://app.example@evil.example/cb', 'user information' ],
  [ 'http://app.example/cb',       'http' ],          [ '//evil.example/cb', 'no scheme' ], [ '/cb', 'a path alone' ],
  [ 'javascript:alert(1)',         'a script' ],      [ 'data:text/html,x',  'data' ],
  [ 'http://127.0.0.1:3001/cb',    'another port, of a confidential client without a challenge (world.md F7)' ],
  [ 'https://app.example/q',       'its registered query left out' ],
  [ 'https://app.example/q?a=b+c', 'its registered query spelt otherwise' ];
page(
    get( %good, client_id => 'spa', redirect_uri => $_->[0], code_challenge => $challenge ), 400, 'invalid_request',
    "page: a public client's loopback redirect_uri with $_->[1]" )
  for [ 'http://localhost/cb', 'another host' ], [ 'http://127.0.0.1:8123/cc', 'another path' ],
  [ 'http://127.0.0.1:8123/cb?x', 'a query' ], [ 'http://127.0.0.1:8123@evil.example/cb', 'user information' ],
  [ 'https://127.0.0.1:8123/cb', 'https' ];
page(
    get( %good, client_id => $_->[0] ), 400, 'unauthorized_client',
    "page: a metadata address $_->[1] (specification 4.2)" )
  for [ 'https://cimd.example', 'without a path' ], [ 'https://cimd.example/', 'whose path is /' ],
  [ 'https://cimd.example/a#f', 'with a fragment' ], [ 'https://cimd.example/a/../b', 'with dots' ],
  [ 'https://u@cimd.example/a', 'with user information' ];
my $away = get( %good, client_id => 'https://127.0.0.1:1/client.json' );
ok( $away->status == 400 || $away->status == 503, 'page: a metadata document that cannot be had' )
  or diag( $away->text );
is( $away->header('Location'), undef, '... and no redirect' );
page(
    get( %good, client_id => 'http://127.0.0.1/client.json' ), 400, 'unauthorized_client',
    'page: an http metadata address is no client without the setting' );

my $script = get( %good, client_id => '"><script>alert(1)</script>', redirect_uri => '"><script>alert(2)</script>' );
page( $script, 400, 'unauthorized_client', 'page: what was sent is not executed' );
unlike( $script->body, qr/alert/, '... nor shown' );

# ---- redirects: all else, in the order of oauth.md 3.2

for my $case (
    [ [ response_type         => '' ],           'invalid_request',           'response_type missing' ],
    [ [ response_type         => 'token' ],      'unsupported_response_type', 'response_type=token (specification 1)' ],
    [ [ response_type         => 'id_token' ],   'unsupported_response_type', 'response_type=id_token' ],
    [ [ response_type         => 'code token' ], 'unsupported_response_type', 'a mixed response_type' ],
    [ [ response_mode         => 'fragment' ],   'invalid_request',           'response_mode=fragment' ],
    [ [ response_mode         => 'form_post' ],  'invalid_request',           'response_mode=form_post' ],
    [ [ request               => 'e30.e30.' ],   'request_not_supported',     'request (OpenID Connect Core 6)' ],
    [ [ request_uri           => 'https://app.example/r' ], 'request_uri_not_supported',  'request_uri' ],
    [ [ registration          => '{}' ],                    'registration_not_supported', 'registration' ],
    [ [ code_challenge_method => 'plain' ], 'invalid_request', 'PKCE: plain without a challenge (oauth.md S3)' ],
    [   [ code_challenge_method => 'plain', code_challenge => $challenge ], 'invalid_request',
        'PKCE: plain (specification 4.2)' ],
    [ [ code_challenge => "${challenge}x" ],            'invalid_request', 'PKCE: 44 characters' ],
    [ [ code_challenge => substr $challenge, 1 ],       'invalid_request', 'PKCE: 42 characters' ],
    [ [ code_challenge => '+' . substr $challenge, 1 ], 'invalid_request', 'PKCE: the other alphabet' ],
    [ [ scope          => 'a"b' ],                  'invalid_scope',   'scope with a quote' ],
    [ [ scope          => "a\tb" ],                 'invalid_scope',   'scope with a tab' ],
    [ [ scope          => 'x' x 1025 ],             'invalid_scope',   'scope of 1,025 characters (specification 8)' ],
    [ [ resource       => 'orders' ],               'invalid_target',  'resource that is no URI (RFC 8707)' ],
    [ [ resource       => 'https://r.example/#f' ], 'invalid_target',  'resource with a fragment' ],
    [ [ resource_types => 'orders' ],               'invalid_request', 'resource_types that are no URIs' ],
    [ [ authorization_details => '{' ], 'invalid_request', 'authorization_details that are not JSON (oauth.md C15)' ],
    [ [ authorization_details => '{"type":"t"}' ], 'invalid_request', 'authorization_details that are no array' ],
    [   [ authorization_details => '[{"x":1}]' ], 'invalid_authorization_details',
        'authorization_details without type (RFC 9396)' ],
    [ [ prompt        => 'select' ],     'invalid_request', 'prompt: another word' ],
    [ [ prompt        => 'none login' ], 'invalid_request', 'prompt: none with another' ],
    [ [ max_age       => '-1' ],         'invalid_request', 'max_age with a sign' ],
    [ [ max_age       => 'x' ],          'invalid_request', 'max_age that is no number' ],
    [ [ id_token_hint => 'x' ],          'invalid_request', 'id_token_hint that is no token' ],
    [   [ id_token_hint => $idp->id_token( { iss => $idp->issuer, sub => 'ann', aud => 'web' } ) ], 'invalid_request',
        "id_token_hint of another issuer (decisions.md \"id_token_hint\")" ],
    [   [ id_token_hint => $idp->id_token( { iss => $stack->base, sub => 'ann', aud => 'web' } ) ], 'invalid_request',
        "id_token_hint signed by another" ],
    [ [ nonce => 'x' x 513 ],                   'invalid_request', 'nonce of 513 octets' ],
    [ [ prompt => 'none' ],                     'login_required',  'prompt=none without a session (oauth.md 3.2)' ],
    [ [ prompt => 'none', idp_hint => 'corp' ], 'login_required',  '... with a provider named' ],
    [ [ prompt => 'none', max_age => 0 ],       'login_required',  '... with max_age' ],
  )
{
    my ( $change, $error, $name ) = @$case;
    refused( post( %good, @$change ), $error, "redirect $error: $name" );
}
is_upstream( get( %good, @{ $_->[0] } ), "accepted: $_->[1]" )
  for [ [ response_mode => 'query' ], 'response_mode=query' ],
  [ [ code_challenge_method => 'S512', code_challenge => $challenge ],
    'any code_challenge_method is S256 (oauth.md S3)' ],
  [ [ unknown      => 1 ],                   'an unknown parameter' ],
  [ [ resource     => 'https://r.example' ], 'a resource' ], [ [ prompt => 'login consent' ], 'two words of prompt' ],
  [ [ redirect_uri => 'https://app.example/q?a=b%20c' ], 'a redirect_uri with a query' ];

my %spa = ( %good, client_id => 'spa' );
refused( get(%spa), 'invalid_request', 'redirect: a public client without PKCE (specification 4.2)' );
is_upstream( get( %spa, code_challenge => $challenge ), '... with it' );
is_upstream(
    get( %spa, redirect_uri => 'http://127.0.0.1:8123/cb', code_challenge => $challenge ),
    "accepted: another port of a public client's loopback redirect_uri (RFC 8252 7.3)" );
refused(
    get( %spa, redirect_uri => 'http://127.0.0.1:8123/cb' ), 'invalid_request', '... where a refusal goes too',
    to => 'http://127.0.0.1:8123/cb' );
refused(
    get( %spa, redirect_uri => 'com.example.app:/cb' ), 'invalid_request', 'redirect: to a private scheme',
    to => 'com.example.app:/cb' );
refused(
    get( %good, redirect_uri => 'https://app.example/q?a=b%20c', prompt => 'x' ), 'invalid_request',
    'redirect: the query of a redirect_uri is kept as it is (RFC 6749 3.1.2)',    to => 'https://app.example/q?a=b%20c'
);

# Faults of the form, when the way back is known.
my $base = '/authorize?' . query(%good);
refused( $http->get("$base&$_=x&$_=y"), 'invalid_request', "redirect: $_ twice (RFC 6749 3.1)" )
  for qw(scope nonce prompt code_challenge resource_types authorization_details max_age login_hint dpop_jkt request);
refused( $http->get("$base&response_type=code"), 'invalid_request', 'redirect: response_type twice' );
refused( $http->get("$base&state=x"), 'invalid_request', 'redirect: state twice, so none goes back', state => undef );
refused(
    $http->get("$base&resource=https://r.example&resource=https://s.example"), 'invalid_target',
    'redirect: two different resources' );
is_upstream(
    $http->get("$base&resource=https://r.example&resource=https://r.example/"),
    'accepted: one resource twice, but for a slash (oauth.md 2.7)' );
is_upstream( $http->get("$base&x=1&x=2"), 'accepted: an unknown parameter twice (oauth.md C5)' );
refused( sent( query(%good) . '&nonce=%ff' ), 'invalid_request', 'redirect: a value that is no UTF-8 (oauth.md C6)' );
refused( sent( query(%good) . '&x=%' ),       'invalid_request', 'redirect: a lone % anywhere' );
refused( sent( query(%good) . '&nonce=%00' ), 'invalid_request', 'redirect: a NUL' );
refused( without( 'state', prompt => 'x' ),   'invalid_request', 'redirect: no state, none goes back', state => undef );
refused(
    post( %good, prompt => 'x', state => $_ ), 'invalid_request', 'redirect: a state comes back as it was',
    state => $_ ) for "\r\nSet-Cookie: x=y", "\xc3\xa4\xe2\x82\xac", '"<script>', 'x' x 3000;
refused(
    post( %good, prompt => 'x', state => ' ' x 1365 . 'x' ),          'invalid_request',
    'redirect: a state of 4,096 octets when it is escaped goes back', state => ' ' x 1365 . 'x' );
refused(
    post( %good, state => ' ' x 1365 . 'xy' ), 'invalid_request', '... one octet more does not, and is refused',
    state => undef );

# ---- POST takes the same as a form (decisions.md "POST /authorize")

is_upstream( post(%good), 'POST: a good request' );
refused( post( %good, prompt => 'x' ), 'invalid_request', 'POST: a refusal' );
page( post( %good, redirect_uri => 'https://evil.example/' ), 400, 'invalid_request', 'POST: a page' );
page(
    $http->post( $base, form => [ state => 1 ] ), 400, 'invalid_request',
    'POST: the query does not count (oauth.md C3)' );
page( $http->post( '/authorize', json => {%good} ), 400, 'invalid_request', 'POST: JSON is no form (oauth.md C2)' );
page( post( %good, x => 'y' x 65536 ),              413, 'invalid_request', 'POST: 64 KiB are the most (oauth.md C7)' );
my $put = $http->request( 'PUT', $base );
page( $put, 405, 'invalid_request', 'PUT: 405 (oauth.md C1)' );
is( $put->header('Allow'), 'GET, POST', '... Allow' );

# ---- a refusal rests on the rows as they are

my @worker = map { $stack->client } 1 .. 8;

sub everywhere {
    my ($query) = @_;
    return map { $_->get("/authorize?$query") } @worker;
}
is( scalar( grep { $_->status == 302 } everywhere( query( %spa, code_challenge => $challenge ) ) ), 8,
    'every worker knows the client' );
my $admin = sub {
    my (%field) = @_;
    my $row = $stack->admin( GET => '/admin/api/clients/spa' )->json;
    return $stack->admin( PUT => '/admin/api/clients/spa', json => { %$row, %field } );
};
is( $admin->( redirectUris => ['https://app.example/new'] )->status, 200, 'its redirect URIs are changed' );
page( $_, 400, 'invalid_request', 'page: a redirect_uri that was taken away is no open redirect, in no worker' )
  for everywhere( query( %spa, prompt => 'x' ) );
refused( $_, 'invalid_request', 'redirect: the new one serves at once', to => 'https://app.example/new' )
  for everywhere( query( %spa, redirect_uri => 'https://app.example/new', prompt => 'x' ) );
is( $admin->( redirectUris => [$cb], enabled => false )->status, 200, 'it is disabled' );
page( $_, 400, 'unauthorized_client', 'page: a client that was disabled' )
  for everywhere( query( %spa, code_challenge => $challenge ) );
is( $admin->( enabled => true )->status, 200, 'and enabled' );
is_upstream( $_, 'accepted: enabled again' ) for everywhere( query( %spa, code_challenge => $challenge ) );
is( $stack->admin( DELETE => '/admin/api/clients/spa' )->status, 204, 'it is deleted' );
$stack->make_client( 'spa', undef, redirectUris => [$cb] );
is_upstream( $_, 'accepted: made anew as a confidential client it needs no PKCE, in any worker' )
  for everywhere( query(%spa) );

# ---- what begins a sign-in leaves an audit row; what proves and changes nothing leaves none (decisions.md "Audited")

my $before = $stack->sql('SELECT count(*) FROM audit_log');
get(%good);
get( %good, prompt    => 'x' );
get( %good, client_id => 'nobody' );
get( %good, client_id => 'off' );
my @row = split /\n/,
  $stack->sql(
    "SELECT coalesce(client_id, '-'), http_status, outcome, operation, flow_id IS NOT NULL FROM audit_log ORDER BY id DESC LIMIT 1"
  );
is( $stack->sql('SELECT count(*) FROM audit_log') - $before, 1,
    'audited: the one of four requests that changed something' );
is_deeply(
    [ reverse @row ],
    ["web\t302\tallowed\tauthorize\tt"], '... client, status, outcome' );
my @bad = grep { /"status":5\d\d/ && !/health/ } $stack->{service}->log_lines;
is( scalar( grep { !m{127\.0\.0\.1:1/} && !/metadata document/ } @bad ), 0,
    'no request of this test was answered with 5xx' ) or diag( join "\n", @bad );

done_testing;

# Malformed and hostile input: it gets the error of oauth.md C1 to C7, never a 5xx, and the service lives on.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

# No request may be 5xx here, so a decision that needs more than the 2 s of the default on a busy machine must not be one.
my $stack = Authz::Stack->start( settings => { SVC_POLICY_TIMEOUT_MS => 20_000 } );
my @crm =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );
my @auth = Authz::Client::basic(@crm);
my @form = ( 'Content-Type' => 'application/x-www-form-urlencoded' );
my $http = $stack->client;

sub token_body {
    my ( $body, @headers ) = @_;
    return $http->post( '/token', headers => [ @auth, @headers ? @headers : @form ], body => $body );
}
sub alive { return $stack->token( @crm, scope => 'a' )->status == 200 }

# ---- C2: the content type

my $good = 'grant_type=client_credentials&scope=a';
oauth_ok( token_body( $good, 'Content-Type' => $_ ), { scope => 'a' }, "C2: content type $_ is allowed" )
  for 'application/x-www-form-urlencoded; charset=UTF-8', 'Application/X-WWW-Form-URLEncoded',
  'application/x-www-form-urlencoded;charset=utf-8';
oauth_error(
    token_body( $good, 'Content-Type' => $_ ), 400, 'invalid_request',
    "C2: content type $_ is 400 invalid_request" )
  for 'application/json', 'text/plain', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencodedx', 'x',
  'application/xml, application/x-www-form-urlencoded';
oauth_error(
    token_body( $good, 'X-Nothing' => 1 ), 400, 'invalid_request',
    'C2: no content type is 400 invalid_request' );
oauth_error( token_body(''), 400, 'invalid_request', 'C2: no body is no parameters' );

# ---- C3: repeated parameters

for my $name (qw(grant_type scope client_id client_secret resource_types authorization_details)) {
    oauth_error(
        token_body("$good&$name=x&$name=x"), 400, 'invalid_request',
        "C3: $name given twice is 400 invalid_request (RFC 6749 3.2)" );
}
oauth_error( token_body("$good&scope=b"),   400, 'invalid_request', 'C3: also with another value' );
oauth_error( token_body("$good&%73cope=b"), 400, 'invalid_request', 'C3: also when one name is escaped' );
oauth_error(
    $http->post( '/introspect', headers => [ @auth, @form ], body => "$_=x&$_=y&token=t" ), 400,
    'invalid_request', "C3: /introspect: $_ given twice is 400" ) for qw(token context);
oauth_ok( token_body("$good&unknown=1&unknown=2"), { scope => 'a' }, 'C5: unknown parameters are ignored, also twice' );
oauth_ok( token_body("&&$good&&"),                 { scope => 'a' }, 'C5: so are empty pairs' );

# ---- C6: octets

oauth_error(
    token_body("$good&scope_=x&resource_types=$_->[0]"), 400, 'invalid_request',
    "C6: a value with $_->[1] is 400 invalid_request" )
  for [ '%00', 'an escaped NUL' ], [ 'a%00b', 'an escaped NUL inside' ], [ "a\0b", 'a bare NUL' ], [ '%', 'a lone %' ],
  [ '%4',           'half an escape' ],              [ '%zz',    'an escape that is no hex' ],
  [ '%ff%fe',       'octets that are no UTF-8' ],    [ '%c0%80', 'an overlong NUL' ], [ '%ed%a0%80', 'a surrogate' ],
  [ '%f4%90%80%80', 'a code point beyond Unicode' ], [ "\xff",   'a bare octet 255' ];
oauth_error( token_body("grant%00_type=client_credentials"), 400, 'invalid_request', 'C6: a name with a NUL is 400' );
my @odd_ids = (
    [ 'client_id=%00&client_secret=x', 'a NUL' ], [ 'client_id=%ff&client_secret=x', 'bad UTF-8' ],
    [ 'client_id=%&client_secret=x',   'a lone %' ] );
oauth_error(
    $http->post( '/token', headers => [@form], body => "grant_type=client_credentials&$_->[0]" ), 400,
    'invalid_request', "C6: a client_id with $_->[1] is 400" ) for @odd_ids;
oauth_error(
    $http->post(
        '/token', headers => [ Authz::Client::basic( $_->[0], 'x' ), @form ], body => 'grant_type=client_credentials' ),
    401,
    'invalid_client',
    "C11: Basic with $_->[1] in the id is 401, not 5xx" )
  for [ "\xff\xfe", 'bad UTF-8' ], [ '%ff', 'escaped bad UTF-8' ], [ '%00', 'an escaped NUL' ], [ '%', 'a lone %' ],
  [ 'x' x 3000, '3,000 octets' ], [ "\xc3\xa9", 'a letter beyond ASCII' ],
  [ "' OR 1=1 --", 'SQL' ], [ "a\nb", 'a newline' ];

# ---- C7: size

my $pad = 65536 - length "$good&x=";
oauth_ok( token_body( "$good&x=" . 'y' x $pad ), { scope => 'a' }, 'C7: a body of 64 KiB is allowed' );
oauth_error(
    token_body( "$good&x=" . 'y' x ( $pad + 1 ) ), 413, 'invalid_request',
    'C7: a body of 64 KiB and one octet is 413' );
is( $http->post( $_, headers => [ @auth, @form ], body => 'token=' . 'y' x 70000 )->status, 413, "C7: $_ too" )
  for qw(/introspect /revoke);
oauth_ok( token_body( $good . '&p=1' x 62 ), { scope => 'a' }, 'C7: 64 parameters are allowed' );
oauth_error( token_body( $good . '&p=1' x 63 ), 400, 'invalid_request', 'C7: 65 parameters are 400' );
oauth_error( token_body( 'p=1&' x 10000 ),      400, 'invalid_request', 'R19: 10,000 parameters are 400' );
my $admin = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'big', clientType => 'public', clientName => 'x' x 1048576 } );
is( $admin->status, 413, 'an admin body beyond 1 MiB is 413' );

# ---- JSON

my %json = ( headers => [ 'Content-Type' => 'application/json' ] );
for my $case (
    [ '[' x 1000 . ']' x 1000, 'nested 1,000 deep' ],     [ '{"a":' x 33 . '1' . '}' x 33, 'nested 33 deep' ],
    [ '{"a":1,"a":2}',         'with a repeated name' ],  [ '{"a":1,"\u0061":2}', 'with a name repeated by an escape' ],
    [ '{"a":"\ud800"}',        'with a lone surrogate' ], [ '{"a":"\u0000"}',     'with an escaped NUL' ],
    [ "{\"a\":\"\xff\"}",      'with bad UTF-8' ],        [ '{"a":1e999}',        'with a number beyond double' ],
    [ '{"a":01}',              'with a leading zero' ],
    [ '{"a":1} x',             'with text after it' ],              [ "\xef\xbb\xbf{}", 'with a byte order mark' ],
    [ "{\"a\":\"\n\"}",        'with a bare newline in a string' ], [ '{"a":NaN}',      'with NaN' ],
    [ "{}\0",                  'with a NUL after it' ],             [ '{"a":1',         'that is cut off' ],
  )
{
    admin_error(
        $stack->admin( PATCH => '/admin/api/policy-data/by-key?dataKey=acme.x', %json, body => $case->[0] ),
        400, "JSON $case->[1] is 400 (policy.md 3, I-JSON)" );
}

# The same inside the two parameters that carry JSON: what surrounds the value is good, so that the value alone is refused.
$stack->patch_row( 'svc.registry.resource_types', { rar => { types => { t => {} } } } );
$stack->bind( crm => { authorization_details => ['t'] } );
my $live = $stack->token_text( @crm, scope => 'a' );

sub details {
    my ($value) = @_;
    return $stack->token( @crm, scope => 'a', authorization_details => "[{\"type\":\"t\",\"x\":$value}]" );
}
sub context { my ($value) = @_; return $stack->introspect( @crm, $live, context => "{\"x\":$value}" ) }
oauth_ok(
    details('{"a":1}'), { authorization_details => [ { type => 't', x => { a => 1 } } ] },
    'authorization_details with an unknown member are allowed' );
oauth_ok( context('{"a":1}'), { active => true }, 'a context with an unknown member is allowed' );
for my $case (
    [ '[' x 14 . ']' x 14,     undef ], [ '[' x 15 . ']' x 15, 'nested 17 deep', 'details' ],
    [ '[' x 16 . ']' x 16,     'nested 17 deep and more' ], [ '[' x 5000 . ']' x 5000, 'nested 5,000 deep' ],
    [ '{"a":1,"a":2}',         'with a repeated name' ],
    [ '{"a":1,"\u0061":2}',    'with a name repeated by an escape' ],
    [ '[{"b":{"a":1,"a":1}}]', 'with a name repeated deep inside' ], [ '"\ud800"',     'with a lone surrogate' ],
    [ '"\u0000"',              'with an escaped NUL' ],              [ '{"\u0000":1}', 'with a NUL in a name' ],
    [ "\"\xff\"",              'with bad UTF-8' ],                   [ '1e999',        'with a number beyond double' ],
    [ '9223372036854775808',   'with an integer beyond 64 bits' ],   [ '01',           'with a leading zero' ],
    [ "\"\n\"", 'with a bare newline in a string' ], [ 'NaN', 'with NaN' ], [ '1}x', 'with text after it' ],
    [ '',       'without a value' ],
  )
{
    my ( $value, $name, $only ) = @$case;
    oauth_ok( details($value), {}, 'authorization_details nested 16 deep are allowed' ) if !defined $name;
    oauth_ok( context($value), {}, 'a context nested 15 deep is allowed' )              if !defined $name;
    next if !defined $name;
    oauth_error( details($value), 400, 'invalid_request', "authorization_details $name are 400 invalid_request" );
    oauth_error( context($value), 400, 'invalid_request', "a context $name is 400 invalid_request" ) if !$only;
}

# ---- the same octets at the other endpoints

my @odd_tokens = ( [ 'a%00b', 'a NUL' ], [ '%ff', 'bad UTF-8' ], [ '%', 'a lone %' ] );
oauth_error(
    $http->post( '/introspect', headers => [ @auth, @form ], body => "token=$_->[0]" ), 400,
    'invalid_request', "C6: /introspect: a token with $_->[1] is 400" ) for @odd_tokens;
is( $http->post( '/revoke', headers => [ @auth, @form ], body => "token=$_->[0]" )->status, 200,
    "/revoke: a token with $_->[1] is one that does not exist (specification 3)" ) for @odd_tokens;
oauth_error(
    $http->post( '/introspect', headers => [ @auth, 'Content-Type' => $_ ], body => 'token=x' ), 400,
    'invalid_request', "C2: /introspect: content type $_ is 400" ) for 'application/json', 'text/plain';
my $by_key = '/admin/api/policy-data/by-key';
is( $stack->admin( GET => "$by_key?$_->[0]" )->status, 400, "by-key: $_->[1] is 400" )
  for [ 'dataKey=%00', 'a key with a NUL' ], [ 'dataKey=%ff', 'a key with bad UTF-8' ],
  [ 'dataKey=a&dataKey=b', 'two keys' ], [ 'dataKey=', 'an empty key' ], [ '', 'no key' ],
  [ 'dataKey=' . 'x' x 600, 'a key of 600 octets' ];
is( $stack->admin( PATCH => "$by_key?dataKey=acme.x", headers => [ 'Content-Type' => $_ ], body => '{}' )->status, 415,
    "by-key: content type $_ is 415" ) for 'text/plain', 'application/x-www-form-urlencoded', 'application/jsonx';

# ---- the request line and headers: the web server may answer first, we never with 5xx

sub status_of {
    my ( $octets, $method ) = @_;
    my $answer = $http->raw( $octets, $method );
    return $answer->failure ? 'closed' : $answer->status;
}
my $host = "Host: localhost\r\n";

# RFC 9110 4.1 asks every server to read 8,000 octets.
sub target {
    my ( $path, $length ) = @_;
    return $path . 'a' x ( $length - length $path );
}
my @browser = ( 'User-Agent' => 'Mozilla/5.0 ' . 'x' x 100, Accept => 'text/html', Cookie => 'c=' . 'x' x 400 );
is( $http->get( target( '/health/live?x=', 8000 ), headers => \@browser )->status, 200,
    'a request target of 8,000 octets is read, with the headers of a browser (decisions.md "Long targets")' );
for my $path ( '/health/live?x=', '/authorize?client_id=crm&state=', '/authorize/callback/corp?state=', '/' ) {
    my $answer = $http->get( target( $path, 8001 ), headers => \@browser );
    is( $answer->status, 414, "$path: one of 8,001 octets is 414" );
    my $page = $path =~ m{\A/authorize};
    is( $answer->header('Content-Type'), $page ? 'text/html; charset=utf-8' : 'application/json',
        '... as ' . ( $page ? 'a page, as the browser endpoints answer' : 'JSON' ) );
    like( $answer->body, qr/The request target is too long/, '... that says why' );
}
like(
    $http->get( target( '/authorize?client_id=crm&redirect_uri=x&state=', 8000 ) )->body,
    qr/redirect_uri is not registered/,
    '/authorize: with 8,000 octets the request is read' );

my $many = join '', map {"X-H$_: v\r\n"} 1 .. 2000;
for my $case (
    [ "GET /token%00 HTTP/1.1\r\n${host}\r\n", 'a path with a NUL' ],
    [ "GET /%ff%fe HTTP/1.1\r\n${host}\r\n",   'a path with bad UTF-8' ],
    [   "GET /admin/api/clients/%ff HTTP/1.1\r\n${host}X-Admin-API-Key: $Authz::Stack::KEY{SVC_ADMIN_API_KEY}\r\n\r\n",
        'a path value with bad UTF-8' ],
    [   "GET /admin/api/clients/%00 HTTP/1.1\r\n${host}X-Admin-API-Key: $Authz::Stack::KEY{SVC_ADMIN_API_KEY}\r\n\r\n",
        'a path value with a NUL' ],
    [   "GET /admin/api/clients/% HTTP/1.1\r\n${host}X-Admin-API-Key: $Authz::Stack::KEY{SVC_ADMIN_API_KEY}\r\n\r\n",
        'a path value with a lone %' ],
    [ "GET /../../etc/passwd HTTP/1.1\r\n${host}\r\n",                       'a path that climbs' ],
    [ "GET /" . 'a' x 5000 . " HTTP/1.1\r\n${host}\r\n",                     'a path of 5,000 octets' ],
    [ "GET /health/live HTTP/1.1\r\n${host}X: " . 'y' x 100000 . "\r\n\r\n", 'a header of 100,000 octets' ],
    [ "GET /health/live HTTP/1.1\r\n$host$many\r\n",                         '2,000 headers' ],
    [ "POST /token HTTP/1.1\r\n${host}Content-Length: -1\r\n\r\n",           'a negative length' ],
    [ "POST /token HTTP/1.1\r\n${host}Content-Length: 9999999999\r\n\r\n",   'a length of 10 GB' ],
    [ "POST /token HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 'two lengths' ],
    [ "GET * HTTP/1.1\r\n${host}\r\n",                                    'a target that is an asterisk' ],
    [ "GET http://evil.example/token HTTP/1.1\r\n${host}\r\n",            'an absolute target' ],
    [ "BREW /token HTTP/1.1\r\n${host}Content-Length: 0\r\n\r\n",         'an unknown method' ],
    [ "GET /health/live HTTP/1.1\r\n${host}X-Request-ID: a\x01b\r\n\r\n", 'a control character in a header' ],
    [ "\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n",                 'a TLS greeting' ],
    [ "GET /health/live?%zz%00%ff HTTP/1.1\r\n${host}\r\n",               'a broken query' ],
    [   "POST /introspect HTTP/1.1\r\n${host}Authorization: Bearer \xff\xfe\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 7\r\n\r\ntoken=x",
        'a Bearer with bad UTF-8' ],
  )
{
    my $status =
      status_of( $case->[0] =~ s/(\r\n\r\n)/\r\nConnection: close$1/r, ( $case->[0] =~ /\A(\w+)/ )[0] // 'GET' );
    ok( $status eq 'closed' || ( $status < 500 || $status == 501 || $status == 505 ), "no 5xx of ours: $case->[1]" )
      or diag($status);
}

# Bodies that never become whole: the worker is not held (oauth.md 3.1; performance.md R8), and a chunked body is a body.
my $chunked =
  "POST /token HTTP/1.1\r\n${host}Authorization: $auth[1]\r\nContent-Type: $form[1]\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
  . join( '', map { sprintf "%x\r\n%s\r\n", length $_, $_ } 'grant_type=', 'client_credentials' )
  . "0\r\n\r\n";
is( status_of( $chunked, 'POST' ), 200, 'a chunked body is read' );
my @slow = map { $http->_connect } 1 .. 20;
syswrite $_, "POST /token HTTP/1.1\r\n${host}Content-Type: $form[1]\r\nContent-Length: 1000\r\n\r\ngrant_type="
  for @slow;
ok( alive(), '20 unfinished bodies hold no worker (R8)' );
close $_ for @slow;
my %by;
$by{ alive() ? 'good' : 'bad' }++ for 1 .. 20;
is_deeply( \%by, { good => 20 }, 'after all of that every worker answers' );
unlike( $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/, 'and none of them died' );
my @bad = grep { /"status":5\d\d/ && !/health/ } $stack->{service}->log_lines;
is( scalar @bad, 0, 'and no request of this test was answered with 5xx' ) or diag( join "\n", @bad );

done_testing;

# The start page, and the 404 page: HTML for browsers alone (decisions.md "Start page", "Not found").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack  = Authz::Stack->start( settings => { SVC_PAGES_NAME => 'Example <Login>' } );
my $base   = $stack->base;
my $chrome = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

sub ask {
    my ( $method, $path, $accept, @header ) = @_;
    return $stack->http->request(
        $method, $path,
        headers => [ defined $accept ? ( Accept => $accept ) : (), @header ] );
}
sub type { my ($answer) = @_; return $answer->header('Content-Type') // '' }

sub is_page {
    my ( $answer, $status, $heading, $name ) = @_;
    is( $answer->status, $status,                    $name );
    is( type($answer),   'text/html; charset=utf-8', '... as HTML' );
    like( $answer->body, qr{<h1>$heading</h1>}, "... with the heading $heading" );
    like(
        $answer->header('Content-Security-Policy'),
        qr/\Adefault-src 'none'; style-src 'sha256-[^;]+'; img-src data:; form-action 'self'; frame-ancestors 'none'/,
        '... with the policy of all pages (oauth.md 3.2 "Pages")' );
    is( $answer->header('X-Frame-Options'), 'DENY',     '... without framing' );
    is( $answer->header('Cache-Control'),   'no-store', '... which no cache keeps' );
    return;
}

sub is_json404 {
    my ( $answer, $name ) = @_;
    is( $answer->status, 404,                $name );
    is( type($answer),   'application/json', '... as JSON' );
    is_deeply(
        $answer->json, { error => 'not_found', error_description => 'Not found' },
        '... with the answer of a path that does not exist' );
    is( $answer->header('Vary'), 'Accept', '... which a cache keeps from browsers (RFC 9110 12.5.5)' );
    return;
}

# ---- the start page

my $page = ask( GET => '/', $chrome );
is_page( $page, 200, 'Sign-in service', 'a browser at / gets a page (decisions.md "Start page")' );
like( $page->body, qr{<span>Example &lt;Login&gt;</span>},                 '... with the name of the service' );
like( $page->body, qr{<code>\Q$base\E</code>},                             '... with the issuer' );
like( $page->body, qr{href="\Q$base\E/\.well-known/openid-configuration"}, '... with a link to discovery' );
like( $page->body, qr{href="\Q$base\E/health"},                            '... with a link to health' );
like( $page->body, qr{href="\Q$base\E/swagger-ui/"},                       '... with a link to the reader' );
unlike(
    $page->body, qr/0\.65|PostgreSQL|lighttpd|client_id|idp/i,
    '... and nothing that discovery and the description do not publish' );

for my $link ( $page->body =~ /href="\Q$base\E([^"]+)"/g ) {
    like( ask( GET => $link, $chrome )->status, qr/\A(?:200|302|503)\z/, "its link to $link leads somewhere" );
}
my $german = ask( GET => '/', $chrome, 'Accept-Language' => 'de-CH, en;q=0.5' );
is_page(
    $german, 200, 'Anmeldedienst',
    'a browser that asks for German gets it (decisions.md "Languages of the pages")' );
like( $german->body, qr{<html lang="de" dir="ltr">}, '... and the page says so' );
is( $german->header('Content-Language'), 'de',              '... as Content-Language does' );
is( $german->header('Vary'),             'Accept-Language', '... and Vary says why' );
is_page( ask( GET => '/?x=1', $chrome ), 200, 'Sign-in service', 'a query changes nothing' );
my $head = ask( HEAD => '/', $chrome );
is( $head->status, 200,                        'HEAD of a browser: 200' );
is( type($head),   'text/html; charset=utf-8', '... with the type of the page' );
is( $head->body,   '',                         '... and no body (RFC 9110 9.3.2)' );

is_json404( ask( GET => '/' ), 'GET / without Accept keeps its 404' );
is_json404( ask( GET => '/', '*/*' ),                         'GET / with */*, as curl sends it, keeps its 404' );
is_json404( ask( GET => '/', 'application/json' ),            'GET / for JSON keeps its 404' );
is_json404( ask( GET => '/', 'application/json, text/html' ), 'GET / for JSON ahead of HTML keeps its 404' );
is_json404( ask( GET => '/', 'text/html;q=0, */*' ),          'GET / for anything but HTML keeps its 404' );
is( ask( HEAD => '/' )->status, 404,                'HEAD / without Accept keeps its 404' );
is( type( ask( HEAD => '/' ) ), 'application/json', '... which is JSON' );
my $post = ask( POST => '/', $chrome );
is( $post->status,                                 405,   'POST /: 405 (oauth.md C1)' );
is( $post->header('Allow'),                        'GET', '... with the method that there is' );
is( $stack->sql('SELECT count(*) FROM audit_log'), 0,     'none of this leaves an audit row (decisions.md "Audited")' );

# ---- paths without a page

is_page(
    ask( GET => '/nothing', $chrome ), 404, 'Page not found',
    'a browser at an unknown path gets a page (decisions.md "Not found")' );
my $named = ask( GET => '/nothing/%3Cscript%3E', $chrome, 'X-Request-ID' => 'seen-by-a-browser' );
is_page( $named, 404, 'Page not found', 'so it does at a path with HTML in it' );
like( $named->body, qr{<code>seen-by-a-browser</code>}, '... the page names the request' );
unlike( $named->body, qr{script|/nothing}i, '... and repeats nothing of the path' );
is_page( ask( GET => '/nothing', 'text/html' ), 404, 'Page not found', 'text/html alone is a browser too' );
is( ask( HEAD => '/nothing', $chrome )->body,   '',                         'HEAD of an unknown path has no body' );
is( type( ask( HEAD => '/nothing', $chrome ) ), 'text/html; charset=utf-8', '... and the type of the page' );
is_json404( ask( GET => '/nothing' ), 'an unknown path without Accept: JSON' );
is_json404( ask( GET => '/nothing', '*/*' ),              'an unknown path with */*: JSON' );
is_json404( ask( GET => '/nothing', 'application/json' ), 'an unknown path for JSON: JSON' );

# ---- paths of APIs keep their dialect

my $admin = $stack->admin( GET => '/admin/api/nowhere' );
ok( $admin->status == 404 && $admin->body eq '', 'the admin API: an unknown path stays empty (specification 7.2)' );
my $client = $stack->admin( GET => '/admin/api/clients/nobody' );
ok( $client->status == 404 && $client->body eq '', '... as does an unknown client' );
admin_error(
    ask( GET => '/admin/api/nowhere', $chrome ), 401,
    'a browser below /admin is asked for the key first (specification 5.3)' );
my $token = ask( GET => '/token', $chrome );
ok( $token->status == 405 && type($token) eq 'application/json', 'a browser at /token gets the JSON of that endpoint' );
my $keyed = $stack->admin( GET => "/admin/api/nowhere", headers => [ Accept => $chrome ] );
is_page( $keyed, 404, 'Page not found', 'a browser with a key at an unknown path below /admin gets the page' );

done_testing;

# The web servers send the console with the headers that it needs, by the settings of etc/lighttpd and etc/apache
# (gateway-admin.md 7.5).
use strict;
use warnings;

use Test::More;

use Authz::Path   ();
use Authz::Portal ();
use Authz::Stack  ();

my %modules = ( apache => [qw(dir headers)] );
my $policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
my $path = '/auth';
for my $web (qw(lighttpd apache)) {
    if ( $web eq 'apache' && !defined Authz::Path::apache() ) {
        diag 'no Apache here';
        next;
    }
    my $stack = Authz::Stack->start(
        web       => $web, path    => $path, web_more => Authz::Portal::settings($web), web_modules => $modules{$web},
        not_ready => 1,    own_opa => 0 );
    my $http = $stack->http;
    my $page = $http->get("$path/portal/");
    is( $page->status, 200, "$web: /portal/ is sent" ) or diag $page->text;
    like( $page->body, qr/<div id="app">/, "$web: ... and is the console" );
    for my $file ( '', 'js/main.js', 'css/tokens.css', 'vendor/preact.js', 'js/none.js' ) {
        my $answer = $http->get("$path/portal/$file");
        my %seen   = map { ( $_ => $answer->header($_) ) }
          qw(Content-Security-Policy X-Content-Type-Options Referrer-Policy
          Cache-Control Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy);
        is_deeply(
            \%seen,
            {   'Content-Security-Policy'      => $policy, 'X-Content-Type-Options' => 'nosniff',
                'Referrer-Policy'              => 'no-referrer',
                'Cache-Control'                => 'no-cache', 'Cross-Origin-Opener-Policy' => 'same-origin',
                'Cross-Origin-Resource-Policy' => 'same-origin' },
            "$web: the headers of /portal/$file" );
    }
    like(
        $http->get("$path/portal/js/main.js")->header('Content-Type'), qr{\Atext/javascript\b},
        "$web: modules are JavaScript" );
    like( $http->get("$path/portal/css/tokens.css")->header('Content-Type'), qr{\Atext/css\b}, "$web: styles are CSS" );
    my $etag = $http->get("$path/portal/js/main.js")->header('ETag');
    is( $http->get( "$path/portal/js/main.js", headers => [ 'If-None-Match' => $etag ] )->status,
        304, "$web: a file that has not changed is not sent again" );
    like(
        $http->get("$path/portal")->header('Location') // '', qr{/auth/portal/\z},
        "$web: /portal leads to /portal/" );
    is( $http->get("$path/portal/js/none.js")->status, 404, "$web: another file is 404" );
    like(
        $http->get("$path/portal/..%2f..%2f..%2fetc/passwd")->status,
        qr/\A(?:400|403|404)\z/, "$web: no file outside its directory" );
    for my $dots ( '../../..', '%2e%2e/%2e%2e/%2e%2e', '..%2f..%2f..', 'x/../../../..' ) {
        my $answer = $http->raw(
                "GET $path/auth/check/at/$dots/portal/index.html HTTP/1.1\r\nHost: shop.example\r\n"
              . "X-Authz-Proxy-Authorization: Basic ZW52b3k6c2VjcmV0\r\nConnection: close\r\n\r\n",
            'GET' );
        like(
            $answer->status, qr/\A40[0134]\z/,
            "$web: a question of a web server about $dots/portal/index.html gets no file" );
    }
    is( $http->get("$path/health/live")->status, 200, "$web: the service answers the other paths" );
    unlike(
        $http->get("$path/authorize")->header('Content-Security-Policy') // '',
        qr/trusted-types 'none'/, "$web: ... and its pages keep their own policy" );
}
done_testing;

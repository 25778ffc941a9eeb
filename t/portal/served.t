# The web servers send the console with the headers that it needs, by the settings of etc/lighttpd and etc/apache
# (gateway-admin.md 7.5).
use strict;
use warnings;

use Test::More;

use Authz::Path   ();
use Authz::Portal ();
use Authz::Stack  ();
use Authz::Web    ();

my %modules = ( apache => [qw(deflate dir headers)] );

# A site that compresses everything of its own accord.
my %site = (
    apache   => "SetOutputFilter DEFLATE\n",
    lighttpd =>
      qq{\ndeflate.allowed-encodings = ( "gzip" )\ndeflate.mimetypes = ( "application/json", "text/html", "text/plain" )\n}
);
my @names = qw(Content-Security-Policy X-Content-Type-Options Referrer-Policy Cache-Control
  Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy);
my @compress  = ( headers => [ 'Accept-Encoding' => 'gzip' ] );
my %cached    = ( apache  => 'max-age=31536000, immutable', lighttpd => 'max-age=31104000' );
my %not_there = ( apache  => 'no-cache' );
my $policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";
my $path = '/auth';
for my $web (qw(lighttpd apache)) {
    if ( $web eq 'apache' && !defined Authz::Path::apache() ) {
        diag 'no Apache here';
        next;
    }
    my $stack = Authz::Stack->start(
        web         => $web, path => $path, web_more => $site{$web} . Authz::Portal::settings($web),
        web_modules => $modules{$web},
        not_ready   => 1, own_opa => 0 );
    my $http = $stack->http;
    my $page = $http->get("$path/portal/");
    is( $page->status, 200, "$web: /portal/ is sent" ) or diag $page->text;
    like( $page->body, qr/<div id="app">/, "$web: ... and is the console" );
    my ($version) = $page->body =~ m{"(v/1\.2\.3-[0-9a-f]{12})/js/main\.js"};
    ok( defined $version, "$web: ... that names its files with the version" ) or $version = 'v/none';
    my $js   = "$path/portal/$version/js";
    my %keep = (
        ''                          => 'no-cache',    'none.js'                 => 'no-cache',
        "$version/js/main.js"       => $cached{$web}, "$version/css/tokens.css" => $cached{$web},
        "$version/vendor/preact.js" => $cached{$web}, "$version/js/none.js"     => $not_there{$web},
        'v/1.2.2/js/main.js'        => $not_there{$web} );
    for my $file ( sort keys %keep ) {
        my $answer = $http->get("$path/portal/$file");
        my %seen   = map { ( $_ => scalar $answer->header($_) ) } @names;
        is_deeply(
            \%seen,
            {   'Content-Security-Policy'      => $policy, 'X-Content-Type-Options' => 'nosniff',
                'Referrer-Policy'              => 'no-referrer',
                'Cache-Control'                => $keep{$file}, 'Cross-Origin-Opener-Policy' => 'same-origin',
                'Cross-Origin-Resource-Policy' => 'same-origin' },
            "$web: the headers of /portal/$file" );
    }
    like(
        $http->get("$js/main.js")->header('Content-Type'), qr{\Atext/javascript\b},
        "$web: modules are JavaScript" );
    like(
        $http->get("$path/portal/$version/css/tokens.css")->header('Content-Type'), qr{\Atext/css\b},
        "$web: styles are CSS" );
    for my $file ( '', "$version/js/main.js" ) {
        for my $encoding (qw(identity gzip)) {
            my $etag =
              $http->get( "$path/portal/$file", headers => [ 'Accept-Encoding' => $encoding ] )->header('ETag');
            is( $http->get(
                    "$path/portal/$file", headers => [ 'If-None-Match' => $etag, 'Accept-Encoding' => $encoding ]
                )->status,
                304,
                "$web: /portal/$file ($encoding) is not sent again while it has not changed" );
        }
        is( $http->get( "$path/portal/$file", @compress )->header('Content-Encoding'),
            'gzip', "$web: /portal/$file is compressed" );
    }
    is( $http->get( "$path/openapi.json", @compress )->header('Content-Encoding'),
        'gzip', "$web: the site compresses what the service answers" );
    for my $target (qw(/admin/api/settings /admin/api/schemas/ClientDto)) {
        my $answer = $stack->admin( GET => $target, @compress );
        cmp_ok( length $answer->body, '>', 1000, "$web: a long answer at $target" ) or diag $answer->text;
        is( $answer->header('Content-Encoding'), undef, "$web: ... is not compressed, because it may hold secrets" );
    }
    like(
        $http->get("$path/portal")->header('Location') // '', qr{/auth/portal/\z},
        "$web: /portal leads to /portal/" );
    is( $http->get("$js/none.js")->status, 404, "$web: another file is 404" );
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
    unlike(
        Authz::Web::edit("$stack->{dir}/$web.log"),
        qr/unknown filter/, "$web: no request adds a line about the settings to the log" );
    is( $http->get("$path/health/live")->status, 200, "$web: the service answers the other paths" );
    unlike(
        $http->get("$path/authorize")->header('Content-Security-Policy') // '',
        qr/trusted-types 'none'/, "$web: ... and its pages keep their own policy" );
}
done_testing;

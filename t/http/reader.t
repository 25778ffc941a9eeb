# The reader of the description at /swagger-ui/: its files, headers and caches, and nothing but its files (gateway-admin.md 7.1;
# specification 8). t/pages/reader.t looks at it in a browser.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $own = Authz::Process::directory() . '/own';
mkdir $own or die "$own: $!";
my $stack = Authz::Stack->start( settings => { SVC_WWW_DIR => $own } );

sub get { my ( $path, %option ) = @_; return $stack->http->get( $path, %option ) }
sub shipped { my ($name) = @_; return Authz::Web::edit( Authz::Path::source( 'etc', 'www', 'swagger-ui', $name ) ) }

# ---- the files

my %file = (
    '/swagger-ui/'           => [ 'index.html', 'text/html; charset=utf-8' ],
    '/swagger-ui/index.html' => [ 'index.html', 'text/html; charset=utf-8' ],
    '/swagger-ui/reader.js'  => [ 'reader.js',  'text/javascript; charset=utf-8' ],
    '/swagger-ui/reader.css' => [ 'reader.css', 'text/css; charset=utf-8' ] );
my %header = (
    'Content-Security-Policy' =>
      q{default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'none'; }
      . q{frame-ancestors 'none'; base-uri 'none'; require-trusted-types-for 'script'; trusted-types 'none'},
    'X-Content-Type-Options'       => 'nosniff',
    'X-Frame-Options'              => 'DENY',
    'Referrer-Policy'              => 'no-referrer',
    'Cross-Origin-Opener-Policy'   => 'same-origin',
    'Cross-Origin-Resource-Policy' => 'same-origin',
    'Cache-Control'                => 'public, max-age=0' );
for my $path ( sort keys %file ) {
    my ( $name, $type ) = @{ $file{$path} };
    my $answer = get($path);
    is( $answer->status,                 200,                  "reader: $path needs no credential (specification 8)" );
    is( $answer->body,                   shipped($name),       "reader: $path is the shipped $name" );
    is( $answer->header('Content-Type'), $type,                "reader: $path has a fixed type" );
    is( $answer->header($_),             $header{$_},          "reader: $path has its $_" ) for sort keys %header;
    is( $answer->header('Access-Control-Allow-Origin'), undef, "reader: $path is closed to pages of other origins" );
    is( $answer->headers('Set-Cookie'),                 0,     "reader: $path sets no cookie" );

    my $head = $stack->http->request( 'HEAD', $path );
    is_deeply(
        [ $head->status, $head->body, map { $head->header($_) } 'Content-Type', 'ETag', 'Content-Length' ],
        [ 200,           '',          $type, $answer->header('ETag'),                   length $answer->body ],
        "reader: HEAD $path has the headers of GET (RFC 9110 9.3.2)" );

    my $again = get( $path, headers => [ 'If-None-Match' => $answer->header('ETag') ] );
    is_deeply(
        [ $again->status, $again->body ], [ 304, '' ],
        "reader: $path is 304 for a cache that has it (RFC 9110 13.1.2)" );
    is( get( $path, headers => [ 'If-None-Match' => '"x"' ] )->status, 200, "reader: ... and 200 with another ETag" );
    my $post = $stack->http->request( 'POST', $path, form => [ x => 1 ] );
    is_deeply(
        [ $post->status, $post->header('Allow') ], [ 405, 'GET' ],
        "reader: $path cannot be posted to (RFC 9110 15.5.6)" );
}

my $way = get('/swagger-ui');
is_deeply(
    [ $way->status, $way->header('Location') ], [ 302, $stack->base . '/swagger-ui/' ],
    'reader: /swagger-ui leads to /swagger-ui/, which the addresses in the page are relative to' );
is( get( '/swagger-ui', headers => [ 'X-Forwarded-Host' => 'evil.example' ] )->header('Location'),
    $stack->base . '/swagger-ui/',
    'reader: ... by the issuer, never by a header (architecture.md 3)' );

# ---- what the files contain

my $page = shipped('index.html');
unlike( $page, qr/<style|\sstyle=/i,                    'reader: the page has no style of its own text (CSP 3)' );
unlike( $page, qr/<script(?![^>]*\ssrc=)|\son\w+\s*=/i, 'reader: ... and no script of its own text' );
is_deeply(
    [ sort grep { !/^data:/ } $page =~ /\s(?:src|href)="([^"]*)"/g ],
    [qw(../openapi.json ../openapi.json reader.css reader.js)],
    'reader: its addresses are relative, so that it works below the path of an issuer' );
my $script = shipped('reader.js') =~ s{^\s*//[^\n]*}{}gmr;
unlike( $script, qr/\b$_\b/, "reader: the script has no $_" )
  for qw(innerHTML outerHTML insertAdjacentHTML eval Function localStorage sessionStorage indexedDB cookie),
  'document\.write', 'postMessage', 'window\.open';

# ---- nothing but the files

Authz::Web::write_file( "$own/secret.html", 'not for anybody' );
for my $path (
    qw(/swagger-ui/README /swagger-ui/reader /swagger-ui/reader.js/ /swagger-ui/READER.JS /swagger-ui// /swagger-ui/index.htm),
    qw(/swagger-ui/../secret.html /swagger-ui/..%2fsecret.html /swagger-ui/%2e%2e/secret.html /swagger-ui/..%5csecret.html),
    qw(/swagger-ui/%2e%2e%2fsecret.html /swagger-ui/reader.js%00.css /swagger-ui/.%2freader.js /swagger-ui/reader%2ejs),
    qw(/swagger-ui/../../../../etc/passwd /swagger-ui/%252e%252e/secret.html /swagger-ui/error.html /swagger-ui/head.html)
  )
{
    my $answer = get($path);
    ok( $answer->status == 404 || $answer->status == 400, "reader: $path is no file of it" ) or diag $answer->text;
    unlike(
        $answer->body, qr/not for anybody|root:|<!doctype html>\s*<html lang="en">\s*<head>\s*<meta charset="utf-8">/,
        'reader: ... and shows none' );
}

# ---- files of the operator

mkdir "$own/swagger-ui" or die $!;
Authz::Web::write_file( "$own/swagger-ui/reader.css", 'body { color: red }' );
is( get('/swagger-ui/reader.css')->body, 'body { color: red }',
    'reader: a file in SVC_WWW_DIR/swagger-ui replaces the shipped one of its name (decisions.md "Pages")' );
is( get('/swagger-ui/reader.css')->header('Content-Type'),
    'text/css; charset=utf-8', 'reader: ... and has its type' );
is( get('/swagger-ui/')->body, $page, 'reader: ... the others stay those of the program' );
Authz::Web::write_file( "$own/swagger-ui/more.js", 'x' );
is( get('/swagger-ui/more.js')->status, 404, 'reader: ... and a file of another name is not served' );

Authz::Web::write_file( "$own/swagger-ui/reader.css", ' ' x ( 256 * 1024 ) );
is( get('/swagger-ui/reader.css')->status, 200, 'reader: a file of 256 KiB is served' );
Authz::Web::write_file( "$own/swagger-ui/reader.css", ' ' x ( 256 * 1024 + 1 ) );
my $large = get('/swagger-ui/reader.css');
is( $large->status, 500, 'reader: ... and one of an octet more is refused' );
unlike( $large->body, qr/\Q$own\E/, 'reader: ... without a path of this host for the caller' );
Authz::Process::until_true(
    10,
    sub { $stack->{service}->log_text =~ m{\Q$own\E/swagger-ui/reader\.css: [^"]*262144 octets} } );
like(
    $stack->{service}->log_text, qr{\Q$own\E/swagger-ui/reader\.css: [^"]*262144 octets},
    'reader: ... and the log names the file and the limit' );
unlink "$own/swagger-ui/reader.css" or die $!;
mkdir "$own/swagger-ui/reader.css"  or die $!;
is( get('/swagger-ui/reader.css')->status, 500, 'reader: a directory in place of a file is refused' );

# ---- switched off, and below a path

$stack->restart_service( settings => { SVC_SWAGGER_ENABLED => 'false' } );
for my $path ( '/swagger-ui', sort keys %file ) {
    my $off = get($path);
    is( $off->status, 404, "reader: $path is 404 when SVC_SWAGGER_ENABLED is false (specification 8)" );
    unlike( $off->body, qr/<html|fetch\(|:root/, 'reader: ... with nothing of the file' );
}

my $below = Authz::Stack->start( beside => $stack, path => '/auth' );
is( $below->http->get('/auth/swagger-ui/')->body, $page, 'reader: an issuer with a path has it below that path' );
is( $below->http->get('/auth/swagger-ui')->header('Location'),
    $below->base . '/auth/swagger-ui/', 'reader: ... and leads to it there' );

done_testing;

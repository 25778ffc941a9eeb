# Swagger UI in place of the reader, by the settings that etc/www/README shows: the web server sends its files with a policy
# that allows inline styles, on that path only (gateway-admin.md 7.1). A page stands in for swagger-ui-dist.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $dist = Authz::Process::directory() . '/dist';
mkdir $dist or die "$dist: $!";
Authz::Web::write_file( "$dist/index.html",             "<title>Swagger UI</title>\n" );
Authz::Web::write_file( "$dist/swagger-initializer.js", "1;\n" );
chmod 0755, Authz::Process::directory(), $dist;

my $readme = Authz::Web::edit( Authz::Path::source( 'etc', 'www', 'README' ) );

# The settings for a server: the indented lines after the sentence that begins with its name. Debian's own files name media
# types, which the tests' servers lack.
sub settings_of {
    my ($server) = @_;
    my ($text)   = $readme =~ /^$server, after [^:]*:\n\n((?:(?: {4}.*)?\n)+)/m
      or die "etc/www/README has none for $server\n";
    $text =~ s{/usr/local/share/swagger-ui-dist}{$dist}g or die "the settings for $server name another directory\n";
    return $text;
}

my %server = (
    lighttpd => [ web_more => settings_of('lighttpd') . qq{mimetype.assign = ( ".html" => "text/html" )\n} ],
    apache   => [ web_more => settings_of('Apache'), web_modules => [qw(dir headers)] ] );
my $path = '/auth';
for my $web ( sort keys %server ) {
    if ( $web eq 'apache' && !defined Authz::Path::apache() ) {
        diag 'no Apache here';
        next;
    }
    my $stack = Authz::Stack->start( web => $web, path => $path, @{ $server{$web} } );
    my $http  = $stack->http;
    my $page  = $http->get("$path/swagger-ui/");
    like( $page->body, qr/Swagger UI/, "$web: the page of swagger-ui-dist is sent" ) or diag $page->text;
    like(
        $page->header('Content-Security-Policy') // '',
        qr/\Adefault-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; .*frame-ancestors 'none'/,
        "$web: ... with inline styles but no inline scripts" );
    is( $page->header('X-Content-Type-Options'),                       'nosniff', "$web: ... and nosniff" );
    is( $http->get("$path/swagger-ui/swagger-initializer.js")->status, 200,       "$web: its other files are there" );
    is( $http->get("$path/swagger-ui/reader.js")->status,              404,       "$web: the reader is not" );
    like(
        $http->get("$path/swagger-ui/..%2f..%2f..%2f..%2fetc/passwd")->status, qr/\A(?:400|404)\z/,
        "$web: no file outside its directory" );
    is( $http->get("$path/openapi.json")->member('openapi'),  '3.1.0', "$web: the service answers the other paths" );
    is( $stack->admin( GET => '/admin/api/clients' )->status, 200,     "$web: ... those of the admin API too" );
    my $error = $http->get("$path/authorize");
    is( $error->status, 400, "$web: a page of the service" );
    unlike( $error->header('Content-Security-Policy'), qr/unsafe-inline/, "$web: ... keeps its own policy" );
}

done_testing;

package Demo::Page;

# Pages and JSON of the demonstration, with the style of the service's own pages (etc/www/head.html).

use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();

my $json   = JSON::PP->new->utf8->canonical;
my %ESCAPE = ( '&' => '&amp;', '<' => '&lt;', '>' => '&gt;', '"' => '&quot;', q(') => '&#39;' );

sub new {
    my ( $class, $file ) = @_;
    open my $in, '<:raw', $file or die "contrib/demo/serve: cannot read $file: $!\n";
    my $head = do { local $/ = undef; readline $in };
    $head =~ s/\{\{!.*?\}\}\n?//s;
    my ($style) = $head =~ m{<style>(.*?)</style>}s or die "contrib/demo/serve: $file has no style\n";
    my $hash    = Digest::SHA::sha256_base64($style) . '=';
    return bless {
        head => $head,
        csp  => "default-src 'none'; style-src 'sha256-$hash'; img-src data:; base-uri 'none'; frame-ancestors 'none'",
    }, $class;
}

sub escape { my ($text) = @_; $text =~ s/([&<>"'])/$ESCAPE{$1}/g; return $text }

# Return a page; the body is HTML.
sub html {
    my ( $self, $title, $body, $status ) = @_;
    my $name = escape($title);
    return {
        status  => $status // 200, type => 'text/html; charset=utf-8',
        headers => [ 'Content-Security-Policy' => $self->{csp}, 'Referrer-Policy' => 'no-referrer' ],
        body    => "<!doctype html>\n<html lang=\"en\">\n<head>\n<title>$name</title>\n$self->{head}</head>\n<body>\n"
          . "<header><span>Demonstration of authz</span></header>\n<main>\n<h1>$name</h1>\n$body</main>\n"
          . "<footer>A demonstration for this machine alone: no password is asked for.</footer>\n</body>\n</html>\n" };
}

sub refusal {
    my ( $self, $status, $why ) = @_;
    return $self->html( 'This does not work here', '<p>' . escape($why) . "</p>\n", $status );
}

sub json {
    my ( $self, $document, $status, @header ) = @_;
    return {
        status  => $status // 200, type => 'application/json', body => $json->encode($document) . "\n",
        headers => \@header };
}

sub redirect { my ( $self, $to ) = @_; return { status => 303, location => $to } }

1;

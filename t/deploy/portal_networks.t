# The lines of authz-portal.conf that serve the console to some networks alone, uncommented, with lighttpd and Apache.
use strict;
use warnings;

use Test::More;

use Authz::Portal ();
use Authz::Stack  ();

my %first = ( lighttpd => qr/^#\$HTTP\["remote-ip"\] != /m, apache => qr/^ *#<If "! -R /m );

# Return the settings of the console with the commented lines in force, for this network in place of the one of the sample.
sub limited_to {
    my ( $web, $network ) = @_;
    my $text = Authz::Portal::settings($web);
    like( $text, $first{$web}, "$web: the lines are there" );
    $text =~
      s{^( *)#(\$HTTP\["remote-ip"\]|    \$HTTP\["url"\]|        url\.access-deny|    \}|\}|<If|    Require|</If)}{$1$2}mg;
    $text =~ s{192\.0\.2\.0/24}{$network};
    return $text;
}

for my $web (qw(lighttpd apache)) {
    my @modules = $web eq 'apache' ? ( web_modules => [qw(alias dir headers setenvif deflate filter authz_host)] ) : ();
    for my $case ( [ '192.0.2.0/24', 403 ], [ '127.0.0.0/8', 200 ] ) {
        my ( $network, $status ) = @$case;
        my $stack = Authz::Stack->start( web => $web, web_more => limited_to( $web, $network ), @modules );
        is( $stack->http->get('/portal/')->status,           $status, "$web: the console for $network alone" );
        is( $stack->http->get('/portal/index.html')->status, $status, '... each file of it' );
        is( $stack->http->get('/health/live')->status,       200,     '... and the service for all' );
        $stack->stop;
    }
}
done_testing;

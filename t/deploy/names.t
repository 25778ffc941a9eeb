# Names of headers that become the CGI variable of another header: each character of a token (RFC 9110 5.6.2) but letters, digits and
# hyphens. etc/lighttpd/authz-names.conf and etc/haproxy/authz.cfg refuse them (gateway-admin.md 7.2, doc/behind-your-proxy.md 12).
use strict;
use warnings;

use Test::More;

use Authz::Client        ();
use Authz::Deploy::Alias qw(name_signs);
use Authz::Path          ();
use Authz::Process       ();
use Authz::Stack         ();
use Authz::Web           ();

plan skip_all => 'lighttpd-modules-lua is not installed' if !glob '/usr/lib/lighttpd/mod_magnet.so';

my $names = Authz::Web::edit(
    Authz::Path::source(qw(etc lighttpd authz-names.conf)),
    qr{/etc/lighttpd/authz-names[.]lua} => Authz::Path::source(qw(etc lighttpd authz-names.lua)) );
my $stack = Authz::Stack->start( web_more => $names );
my $admin = $Authz::Stack::KEY{SVC_ADMIN_API_KEY};
my %value = ( 'X-Admin-API-Key' => $admin, 'X-Tenant' => 'other', 'Mcp-Param-Region' => 'eu' );

# What holds behind either server: $get->( $path, @header ) is an answer.
sub holds {
    my ( $server, $get ) = @_;
    is( $get->( '/admin/api/clients', 'X-Admin-API-Key' => $admin )->status, 200,
        "$server: the header itself arrives" );
    is( $get->( '/health/live', 'X-Tenant-2' => 'a', x => 'b', '0' => 'c' )->status,
        200, '... and so do others of letters, digits and hyphens' );
    for my $sign ( name_signs() ) {
        for my $header ( sort keys %value ) {
            for my $name ( $header =~ s/-/$sign/gr, $header =~ s/-/$sign/r ) {
                my $answer  = $get->( '/admin/api/clients', $name => $value{$header} );
                my $removed = $server eq 'lighttpd' && $name =~ /\AX_Admin/;              # by authz-limits.conf
                is( $answer->status, $removed ? 401 : 400, "$server: refused: $name" ) or diag $answer->text;
            }
        }
    }
    is( $get->( '/health/live', 'X-Tenant' => 'a', 'X.Tenant' => 'b' )->status,
        400, "$server: refused: an alias beside the header" );
    return;
}

holds( 'lighttpd', sub { my ( $path, @header ) = @_; return $stack->http->get( $path, headers => \@header ) } );

# Without the file lighttpd passes a name with a dot on as that of the header: what the file is for.
my $plain = Authz::Stack->start( beside => $stack );
is( $plain->http->get( '/admin/api/clients', headers => [ 'X.Admin.API.Key' => $admin ] )->status,
    200, 'lighttpd alone takes X.Admin.API.Key for X-Admin-API-Key' );

SKIP: {
    my $haproxy = Authz::Path::door('haproxy') // skip 'needs haproxy', 1;
    my $rule =
      ( Authz::Web::edit( Authz::Path::source(qw(etc haproxy authz.cfg)) ) =~ /^ +(http-request deny .*)$/m )[0];
    my $port = Authz::Web::free_port();
    my $file = Authz::Web::write_file( Authz::Process::directory() . '/names.cfg', <<"END");
defaults
    mode http
    timeout connect 5s
    timeout client 30s
    timeout server 30s
frontend clients
    bind 127.0.0.1:$port
    $rule
    default_backend authz
backend authz
    server app 127.0.0.1:$plain->{port}
END
    my $server = Authz::Process->start( name => 'haproxy', command => [ $haproxy, '-db', '-f', $file ] );
    my $client = Authz::Client->new( port => $port, foreign => 1 );
    ok( defined Authz::Process::until_true(
            30,
            sub {
                eval { $client->get('/health/live')->status == 200 }
            } ),
        'HAProxy starts' );
    holds( 'HAProxy', sub { my ( $path, @header ) = @_; return $client->get( $path, headers => \@header ) } );
    $server->stop;
}
done_testing;

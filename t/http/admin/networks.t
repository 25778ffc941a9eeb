# With an https issuer nothing but /health is answered by plain HTTP to other hosts, and SVC_ADMIN_NETWORKS limits /admin
# (decisions.md "Plain HTTP"). The proxy is this test: the service trusts one entry of its headers. t/http/way-t.c has every case.
use strict;
use warnings;

use Test::More;

use Authz::Check qw(admin_error oauth_error);
use Authz::Stack ();

my $stack = Authz::Stack->start(
    settings => {
        SVC_OIDC_ISSUER    => 'https://as.example', SVC_TRUSTED_PROXY_COUNT => 1,
        SVC_ADMIN_NETWORKS => '192.0.2.0/24, 127.0.0.1' } );
my @key   = ( 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'] } );
my @basic = Authz::Client::basic(@crm);
my $http  = $stack->http;

# Return the headers of a proxy that got a request from an address, by http or https.
sub by {
    my ( $from, $proto ) = @_;
    return ( 'X-Forwarded-For' => $from, $proto ? ( 'X-Forwarded-Proto' => $proto ) : () );
}

sub token {
    my (@header) = @_;
    return $http->post( '/token', headers => [ @basic, @header ], form => [ grant_type => 'client_credentials' ] );
}
sub keys_of { my (@header) = @_; return $http->get( '/admin/api/admin-keys', headers => [ @key, @header ] ) }

is( token()->status,                               200, 'a token by HTTP from the host itself' );
is( token( by( '203.0.113.9', 'https' ) )->status, 200, '... from elsewhere by https, as the trusted proxy says' );
for my $proto ( 'http', undef ) {
    my $said = $proto // 'nothing';
    oauth_error(
        token( by( '203.0.113.9', $proto ) ), 403, 'https_required',
        "a token from elsewhere, the proxy says $said" );
    admin_error(
        keys_of( by( '192.0.2.9', $proto ) ), 403, "the admin API with a good key, the proxy says $said",
        error => 'https_required' );
}
is( $http->get( '/health/live', headers => [ by('203.0.113.9') ] )->status, 200, 'health is for probes, by HTTP too' );
is( $http->get( '/metrics',     headers => [ by('203.0.113.9') ] )->status, 403, '... the metrics are not' );

is( keys_of( by( '192.0.2.9', 'https' ) )->status, 200, 'the admin API from a network of SVC_ADMIN_NETWORKS' );
is( keys_of()->status,                             200, '... from the host itself, which is in it' );
for my $from ( '203.0.113.9', '192.0.3.0', 'unknown' ) {
    admin_error( keys_of( by( $from, 'https' ) ), 403, "... from $from", error => 'foreign_network' );
}
is( $http->get( '/admin/nothing', headers => [ by( '203.0.113.9', 'https' ) ] )->status,
    403, '... and a path that is not there, without a key' );
is( token( by( '203.0.113.9', 'https' ) )->status, 200, '... while others get tokens from everywhere' );
done_testing;

# Rules of custom.admin about a path, behind each web server: what the rule sees is the object that the request is about, however
# its path is spelled (gateway-admin.md 3.9, policy.md 6.2).
use strict;
use warnings;

use Test::More;

use Authz::Stack ();

my $rule = <<'REGO';
package custom.admin

deny contains "frozen by value" if input.action.values == ["pay-1"]

deny contains "frozen by path" if input.action.path == "/admin/api/clients/pay-2"

deny contains "frozen by value" if input.action.values == ["pay:3"]
REGO

for my $web (qw(lighttpd apache)) {
    my $stack = Authz::Stack->start( web => $web, workers => 2 );
    my $key   = $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'o', role => 'operator' } );
    $stack->make_client( $_, { grants => ['client_credentials'] } ) for qw(pay-1 pay-2 pay:3);
    is( $stack->admin(
            POST => '/admin/api/policy-bundle/deploy',
            json => { rules => [ { path => 'custom/admin.rego', content => $rule } ] } )->status,
        200,
        "$web: the rule is deployed" );
    for my $spelled (
        qw(pay-1 %70ay-1 pay%2D1 pay%2d1 %70%61%79%2D%31 pay-2 %70ay-2 pay%2D2 pay%2d2 pay:3 pay%3A3 pay%3a3 %70ay%3A3),
        './pay-1', 'x/../pay-1', '/pay-1', '%2e/pay-1', 'pay-1/', 'pay-1?x=1', 'pay-1%3F', 'PAY-1', 'pay-1%00',
        'pay-1;x', 'pay-1%2F' )
    {
        my $answer = $stack->admin( 'DELETE', "/admin/api/clients/$spelled", key => $key->member('key') );
        ok( $answer->status >= 400, "$web: $spelled is refused" ) or diag $answer->text;
    }
    is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id IN ('pay-1', 'pay-2', 'pay:3')}),
        3, "$web: no spelling of a path passed the rule" );
    $stack->make_client( 'pay-4', { grants => ['client_credentials'] } );
    is( $stack->admin( 'DELETE', '/admin/api/clients/%70ay-4', key => $key->member('key') )->status,
        204, "$web: an object that no rule names is deleted, in another spelling too" );
}

done_testing;

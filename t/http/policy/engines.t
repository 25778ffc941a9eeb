# GET /admin/api/engines (gateway-admin.md 3.6): what each policy engine said last
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start;

sub push_status {
    my ( $instance, %bundle ) = @_;
    return $stack->client->post(
        '/bundles/status',
        headers => [ 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY} ],
        json    => { labels => { instance => $instance }, bundles => { svc => { name => 'svc', %bundle } } } )->status;
}

sub engine {
    my ($instance) = @_;
    return ( grep { $_->{instance} eq $instance } @{ $stack->admin( GET => '/admin/api/engines' )->json } )[0] // {};
}

is( $stack->admin( GET => '/admin/api/engines', key => undef )->status, 401, 'engines: the list needs an admin key' );
is( push_status( 'zz-good', active_revision => 'r7' ),                  200, '(an engine reports)' );
members_are(
    engine('zz-good'),
    {   instance   => 'zz-good', present => false, activeRevision => 'r7',
        reportedAt => qr/\A\d{4}-.*Z\z/, askedAt => undef, code => undef, message => undef },
    'engines: the revision and the time of the last report; not present without a request for the bundle' );
is( push_status( 'zz-bad', active_revision => 'r6', code => 'bundle_error', message => 'broken at x.rego:3' ),
    200, '(another one reports an error)' );
my $bad = engine('zz-bad');
is( $bad->{activeRevision}, 'r6', 'engines: one that refuses a bundle stays at its revision' );
like( $bad->{message} // '', qr/x[.]rego:3/, 'engines: ... and its error is there in its own words' );
$stack->sql(q{UPDATE engine_instance SET asked_at = now() WHERE instance = 'zz-good'});
is( engine('zz-good')->{present}, true, 'engines: one that has asked for the bundle too is present' );
$stack->sql(q{UPDATE engine_instance SET reported_at = now() - interval '61 seconds' WHERE instance = 'zz-good'});
is( engine('zz-good')->{present},        false, 'engines: one that was silent for a minute is not' );
is( engine('zz-good')->{activeRevision}, 'r7',  'engines: ... and still listed' );
done_testing;

# The settings as auditors read them: names, values and origins, and of what may hold a credential only that it is set
# (gateway-admin.md 3.6).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Stack ();

my %given = (
    SVC_AUDIT_STREAM_URL     => 'https://user:k3y@collector.example/v1/logs',
    SVC_AUDIT_CHECKPOINT_URL => 'https://hooks.example/checkpoint?token=k3y',
    SVC_AUDIT_STREAM_HEADER  => 'X-Key: k3y',
    SVC_PAGES_NAME           => 'Shop' );
my $stack = Authz::Stack->start( settings => \%given );
my $key =
  $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'au', role => 'auditor' } )->member('key');

sub settings { my (@header) = @_; return $stack->http->request( GET => '/admin/api/settings', headers => \@header ) }
is( settings()->status, 401, 'no key: refused' );
my $answer = settings( 'X-Admin-API-Key' => $key );
is( $answer->status, 200, 'an auditor reads the settings' );
my %shown = map { $_->{name} => $_ } @{ $answer->member('settings') };
is( $shown{SVC_PAGES_NAME}{value}, 'Shop', 'a value is shown' );
for my $name ( 'SVC_AUDIT_STREAM_URL', 'SVC_AUDIT_CHECKPOINT_URL', 'SVC_AUDIT_STREAM_HEADER', 'SVC_DATABASE_URL' ) {
    is_deeply(
        [ @{ $shown{$name} }{qw(set secret value)} ],
        [ JSON::PP::true(), JSON::PP::true(), undef ],
        "$name: only that it is set" );
}
unlike( $answer->text, qr/k3y/, 'no credential is in the answer' );
done_testing();

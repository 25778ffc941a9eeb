# The policy data of a connector: one save with its install, sync and uninstall, or nothing of them (gateway-admin.md 3.6, 3.7;
# specification 7.2).
use strict;
use warnings;

use File::Temp qw(tempdir);
use JSON::PP   ();
use Test::More;

use Authz::Check;
use Authz::Stack ();

my $own   = tempdir( CLEANUP => 1 );
my $stack = Authz::Stack->start( settings => { SVC_CONNECTORS_DIR => $own, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 2000 } );
my $json  = JSON::PP->new->canonical;
my $key   = 'svc.connectors.own';
my $rows  = '/admin/api/policy-data/by-key?dataKey=';

sub manifest {
    my ($more) = @_;
    my %manifest = (
        manifestVersion => 1, id => 'own', name => 'Own', version => '1', category => 'test',
        resources       => [ { name => 'own', displayName => 'Own', upstreamType => 'STATIC', defaultScope => 'own' } ],
        policyData      => [ { dataKey => $key, payload   => { actions => { a => 1 } } } ],
        %{ $more || {} } );
    open my $file, '>', "$own/own.json" or die "own.json: $!";
    print {$file} $json->encode( \%manifest );
    return close $file;
}
sub version { my ( $version, @rows ) = @_; return manifest( { version => $version, policyData => \@rows } ) }
sub resync { my ($path) = @_; return $stack->admin( POST => "/admin/api/connectors/$path" ) }

sub install {
    return $stack->admin( POST => '/admin/api/connectors/own/install', json => { createResources => JSON::PP::true } );
}
sub uninstall { return $stack->admin( DELETE => '/admin/api/connectors/own' ) }
sub row       { my ($name) = @_; return $stack->admin( GET => $rows . ( $name || $key ) ) }

sub payload {
    return eval { $json->encode( $json->decode( row()->json->{payload} ) ) } || '';
}
sub revision { return $stack->admin( GET => '/admin/api/bundle-audit/latest' )->json->{etag} }

sub evaluated {
    my $got = $stack->admin(
        POST => '/admin/api/policy-rules/evaluate',
        json => { path => 'svc/connectors/own/actions/a', input => {} } );
    return $got->json->{result};
}

manifest();
my $before = revision();

# ---- install

my $made = install();
admin_ok( $made, 201, { id => 'own' }, 'install: 201' );
is( payload(), '{"actions":{"a":1}}', '... and the row is stored (gateway-admin.md 3.7)' );
isnt( revision(), $before, '... in a new bundle' );
is( $made->header('X-Policy-Activation'), 'confirmed', '... that every engine has activated' );
is( $stack->admin( GET => '/admin/api/bundle-audit/latest' )->json->{triggerSource},
    'connector', '... and the history names its source' );
is( evaluated(), 1, '... and rules see it' );
admin_error(
    $stack->admin( DELETE => $rows . $key ),
    409, 'the row of an installed connector cannot be deleted', error => 'protected' );
admin_ok(
    $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => { mode => 'replace', rules => [], data => [] } ),
    200, {}, 'a deploy that lists nothing' );
is( payload(), '{"actions":{"a":1}}', '... keeps it (gateway-admin.md 3.6)' );

# ---- sync

my $same = revision();
is( resync('own/sync')->status, 200,   'sync: the same manifest' );
is( revision(),                 $same, '... makes no bundle' );
version( '2', { dataKey => $key, payload => { actions => { a => 2 } } } );
is( resync('own/sync')->json->{connectors}[0]{version}, '2', 'sync: another row' );
is( evaluated(),                                        2,   '... is in force with the answer' );
version( '3', { dataKey => $key, payload => { actions => { a => 3 } } } );
is( resync('sync')->json->{connectors}[0]{version}, '3',                   'sync of all: another row' );
is( payload(),                                      '{"actions":{"a":3}}', '... is stored' );
version('4');
is( resync('own/sync')->json->{connectors}[0]{version}, '4', 'sync: a manifest without the row' );
is( row()->status,                                      404, '... deletes it' );
version( '5', { dataKey => $key, payload => { actions => { a => 5 } } } );
is( resync('own/sync')->status, 200, 'sync: a manifest that has one again' );

# ---- uninstall

admin_error( uninstall(), 409, 'uninstall of one in use: 409' );
is( evaluated(),                                                           5,     '... and the row stays' );
is( $stack->admin( DELETE => '/admin/api/managed-resources/own' )->status, 204,   'once the resource is gone' );
is( uninstall()->status,                                                   204,   'uninstall: 204' );
is( row()->status,                                                         404,   '... and the row is gone' );
is( evaluated(),                                                           undef, '... from the engine as well' );

# ---- refused by the engine: nothing of the change stays

sub stored {
    return $stack->sql( 'SELECT (SELECT count(*) FROM connector), (SELECT count(*) FROM managed_resource),'
          . " (SELECT count(*) FROM policy_data WHERE data_key LIKE 'svc.connectors.%'), (SELECT max(version) FROM connector)"
    );
}
my $nothing = stored();
$stack->{opa}->signal('STOP');
admin_error(
    install(), 422, 'install: the engine does not take it: 422 (specification 7.2)',
    error => 'opa_unreachable' );
is( stored(), $nothing, '... no connector, no resource, no row' );
$stack->{opa}->signal('CONT');
is( install()->status, 201, '... and it installs once the engine does' );
my $installed = stored();
version( '6', { dataKey => $key, payload => { actions => { a => 6 } } } );
$stack->{opa}->signal('STOP');
my $refused = resync('own/sync');
admin_error( $refused, 422, 'sync: the engine does not take it: 422', error => 'opa_unreachable' );
ok( $refused->json->{rolledBack}, '... rolled back' );
is( stored(), $installed, '... and nothing is changed' );
$stack->admin( DELETE => '/admin/api/managed-resources/own' );
admin_error( uninstall(), 422, 'uninstall: the engine does not take it: 422', error => 'opa_unreachable' );
$stack->{opa}->signal('CONT');
is( payload(), '{"actions":{"a":5}}',                                          '... and connector and row stay' );
is( $stack->admin( GET => '/admin/api/connectors/own' )->json->{version}, '5', '... as they were' );
is( uninstall()->status,                                                  204, '... and it goes once the engine does' );

# ---- rows that a connector cannot bring

for my $case (
    [ 'the key of a control',         { dataKey => 'svc.entitlements.bindings', payload => {} } ],
    [ 'the key of another connector', { dataKey => 'svc.connectors.github',     payload => {} } ],
    [ 'a key below its own',          { dataKey => "$key.more",                 payload => {} } ],
    [ 'a key above its own',          { dataKey => 'svc.connectors',            payload => {} } ],
    [ 'a key of the operator',        { dataKey => 'acme.own',                  payload => {} } ],
    [ 'no key',                       { payload => {} } ],
    [ 'no payload',                   { dataKey => $key } ],
    [ 'a payload that is no object',  { dataKey => $key, payload => [] } ],
    [ 'an unknown member',            { dataKey => $key, payload => {}, version => '1' } ],
    [ 'two rows',                     { dataKey => $key, payload => {} }, { dataKey => $key, payload => {} } ],
    [ 'a text',                       'x' ] )
{
    my ( $name, @data ) = @{$case};
    version( '7', @data );
    is( install()->status, 404, "refused: $name" );
}
is( $stack->sql(q{SELECT count(*) FROM policy_data WHERE data_key LIKE 'svc.connectors%'}), 0, 'no row is left' );

done_testing();

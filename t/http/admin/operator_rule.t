# The hook custom.admin.deny: rules of operators about requests to the admin API, and whom none of them concerns
# (gateway-admin.md 3.9, policy.md 6.2).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Idp ();
use Authz::Inputs;
use Authz::Path  ();
use Authz::Stack ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp' );
my @console = ( 'X-Authz-Console' => 1, 'Sec-Fetch-Site' => 'same-origin' );
my ( %key, %id );
for my $role (qw(auditor operator owner)) {
    my $made = $stack->admin( POST => '/admin/api/admin-keys', json => { label => "key of $role", role => $role } );
    ( $key{$role}, $id{$role} ) = map { $made->member($_) } qw(key id);
}

sub deploy {
    my (%body) = @_;
    my $answer = $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => \%body );
    die $answer->text if $answer->status != 200;
    return;
}
sub rule_is { my ($text) = @_; deploy( rules => [ { path => 'custom/admin.rego', content => $text } ] ); return }

sub by {
    my ( $role, $method, $target, %option ) = @_;
    return $stack->admin( $method, $target, key => $key{$role}, %option );
}

sub row {
    my ( $id, $what ) = @_;
    return $stack->sql("SELECT $what FROM audit_log WHERE request_id = '$id'");
}

# ---- without a rule

my $client = { clientType => 'public' };
is( by( operator => POST => '/admin/api/clients', json => { %$client, clientId => 'one' } )->status,
    201, 'without a rule the role alone decides' );
is( by( auditor => GET => '/admin/api/clients' )->status, 200, '... also of a GET' );

# ---- a rule about operations, objects and people

rule_is(<<'REGO');
package custom.admin

deny contains "clients of this name are frozen" if {
	input.action.operation == "deleteClient"
	input.action.values == ["one"]
}

deny contains {"code": "no_reading", "message": "auditors read at work alone"} if {
	input.admin.role == "auditor"
	input.action.method == "GET"
	startswith(input.action.path, "/admin/api/audit")
}

deny contains "people of staff alone" if {
	input.subject.type == "user"
	input.subject.idp == "corp"
	not "staff" in input.subject.claims.groups
}
REGO
admin_error(
    by( operator => DELETE => '/admin/api/clients/one', headers => [ 'X-Request-ID' => 'deny-1' ] ),
    403,                      'a rule refuses an operator, and its message is told',
    error => 'access_denied', members => { error_description => 'clients of this name are frozen' } );
is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id = 'one'}), 1, '... and nothing was done' );
is( row( 'deny-1', q{outcome || ' ' || client_id || ' ' || (request_summary::json -> 'actor' ->> 'key')} ),
    "denied key of operator $id{operator}",
    '... the audit row says denied and names the key' );
is( row( 'deny-1', 'policy_input IS NOT NULL AND policy_decision IS NOT NULL' ),
    't', '... with the question and the answer' );
is( by( operator => DELETE => '/admin/api/clients/%6Fne' )->status, 403,
    'another spelling of the path is the same object' );
is( by( operator => DELETE => '/admin/api/clients/two' )->status, 404, 'another object is none of its' );
admin_error(
    by( auditor => GET => '/admin/api/audit-logs', headers => [ 'X-Request-ID' => 'deny-2' ] ),
    403,                      'a rule refuses an auditor a GET',
    error => 'access_denied', members => { error_description => 'auditors read at work alone' } );
is( row( 'deny-2', 'outcome' ), 'denied', '... which leaves an audit row' );
is( by( auditor => GET => '/admin/api/clients', headers => [ 'X-Request-ID' => 'allow-1' ] )->status,
    200, '... and no other one' );
is( row( 'allow-1', 'count(*)' ), 0, '... which leaves none' );
admin_error(
    by( auditor => DELETE => '/admin/api/clients/one' ),
    403, 'a role that does not allow the request is refused before the rule', error => 'role_required' );

# ---- people

deploy(
    data => [
        {   dataKey => 'svc.operator.controls.console',
            payload => {
                people =>
                  [ map { { idp => 'corp', claim => 'groups', values => ["is-$_"], role => $_ } } qw(operator owner) ] }
        } ] );

# A browser whose person has signed in.
sub person {
    my ( $sub, @groups ) = @_;
    my $browser = Authz::Browser->new;
    $idp->user( { sub => $sub, groups => \@groups } );
    $browser->follow( $stack->base . '/admin/session/start?idp=corp', stop => qr{/portal/\z} );
    return $browser;
}

sub with {
    my ( $browser, $method, $target, @headers ) = @_;
    return $browser->request(
        $method,
        $stack->base . $target,
        headers => [ Accept => 'application/json', @console, @headers ] );
}
my ( $ann, $ben ) = ( person( 'ann', 'is-operator', 'staff' ), person( 'ben', 'is-owner' ) );
is( with( $ann, GET => '/admin/api/clients' )->status, 200, 'the claims of a person are in the question' );
admin_error(
    with( $ben, GET => '/admin/api/clients', 'X-Request-ID' => 'deny-3' ),
    403,                      'a rule refuses a person, also one who is an owner',
    error => 'access_denied', members => { error_description => 'people of staff alone' } );
is( row( 'deny-3', q{outcome || ' ' || subject_id} ), 'denied ben', '... and the audit row names the person' );
is( with( $ben, GET    => '/admin/session' )->status, 200, '... who still sees who is signed in' );
is( with( $ben, DELETE => '/admin/session' )->status, 204, '... and may sign out' );
inputs_ok($stack);

# ---- rules that nobody whom they limit can take back (doc/policy-guide.md 3)

open my $guide, '<', Authz::Path::source( 'doc', 'policy-guide.md' ) or die "policy-guide.md: $!";
my ($example) = join( '', readline $guide ) =~ /^```rego\n(package custom\.admin\n\ndeny contains "policy is.*?)^```/ms;
rule_is($example);
my $paths   = $stack->http->get('/openapi.json')->json->{paths};
my @changes = grep {
         $_->[0] ne 'GET'
      && $_->[1] =~ m{\A/admin/api/(?:policy-|bundle-audit|connectors)}
      && $_->[2] !~ /\A(?:evaluatePolicy|measurePolicyImpact|deletePolicyImpact)\z/
} map {
    my $path = $_;
    map { [ uc, $path, $paths->{$path}{$_}{operationId} ] } sort keys %{ $paths->{$path} }
} sort keys %$paths;
cmp_ok( scalar @changes, '>', 15, 'requests that change policy' );
for my $change (@changes) {
    my ( $method, $path, $operation ) = @$change;
    $path =~ s/\{\w+\}/1/g;
    admin_error(
        by( operator => $method => $path, json => {} ), 403, "... refused: $operation",
        error => 'access_denied' );
}
$ben = person( 'ben', 'is-owner' );
admin_error(
    with( $ben, POST => '/admin/api/policy-bundle/deploy' ),
    403, 'an owner who is a person does not take the rule back', error => 'access_denied' );
for my $case ( [ POST => '' ], [ GET => "/$id{owner}/plaintext" ], [ POST => "/$id{owner}/link" ] ) {
    my ( $method, $rest ) = @$case;
    admin_error(
        with( $ben, $method => "/admin/api/admin-keys$rest" ),
        403, "an owner who is a person gets no key: $method $rest", error => 'access_denied' );
}
is( with( $ben, GET => '/admin/api/admin-keys' )->status, 200, '... and sees which there are' );

# ---- nobody is locked out

rule_is("package custom.admin\n\ndeny contains \"all\"\n");
is( by( $_ => GET => '/admin/api/clients' )->status, 403, "a rule that refuses everything: $_" )
  for qw(auditor operator);
is( by( operator => POST => '/admin/session' )->status,     204, '... the sign-in is open' );
is( by( owner    => GET  => '/admin/api/clients' )->status, 200, '... and the key of an owner is not asked about' );
is( $stack->admin( GET => '/admin/api/clients' )->status, 200, '... nor is the configured key' );
my ($cookie) = ( by( owner => POST => '/admin/session' )->header('Set-Cookie') // '' ) =~ /\A([^;]+)/;
is( $stack->admin( GET => '/admin/api/clients', key => undef, headers => [ Cookie => $cookie ] )->status,
    200, '... nor a session of an owner\'s key' );
my ( $status, $text ) = $stack->authzctl(qw(client list));
is( $status, 0, '... nor authzctl on the database' ) or diag $text;
my $rule = $stack->sql(q{SELECT id FROM policy_rule WHERE path = 'custom/admin.rego'});
is( by( owner    => DELETE => "/admin/api/policy-rules/$rule" )->status, 204, 'an owner takes the rule back' );
is( by( operator => GET    => '/admin/api/clients' )->status,            200, '... and operators work again' );

# ---- no decision

my $lied = Authz::Stack->start( beside => $stack, fake_opa => 1, workers => 1 );

sub of_lied {
    my ($role) = @_;
    return $lied->admin( GET => '/admin/api/clients', key => $key{$role} );
}
is( of_lied('operator')->status, 200, '(a service with an engine of its own)' );
$lied->fake->tell('close');
admin_error( of_lied($_), 503, "without a decision a request is refused: $_", error => 'temporarily_unavailable' )
  for qw(auditor operator);
is( of_lied('owner')->status, 200, '... but not one with the key of an owner' );
$lied->fake->tell( drop => ['result.allow'] );
is( of_lied('operator')->status, 503, '... an answer without allow is no decision' );
done_testing;

# The trial of a save (policy.md 7.3): before an engine that decides gets a candidate, processes that can be ended evaluate it.
# What does not end, contradicts itself, or leaves a question without an answer that has one now is refused with rule, line and
# question, whatever the way in, and nobody feels it.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my @engine = ( [ 'OPA', { SVC_POLICY_ENGINE => 'opa' } ], [ 'in process', { SVC_POLICY_ENGINE => 'embedded' } ] );
my $json   = JSON::PP->new->canonical;
my ( $true, $false ) = ( JSON::PP::true(), JSON::PP::false() );

sub rule { my ( $package, @line ) = @_; return join "\n", "package custom.$package", '', @line, '' }
my $ONE     = rule( 'issue', 'claims := {"a": 1}' );
my $TWO     = rule( 'issue', 'claims := {"a": 2}' );
my $ENDLESS = rule( 'issue', 'deny contains "x" if bits.lsh(1, 2000000000) < 0' );
my $BOMB    = rule( 'issue', 'deny contains "x" if count([x | x := numbers.range(1, 100000000)[_]]) < 0' );
my $CEDAR   = qq{permit(principal, action, resource);\n};

# A conflict for the questions of one client alone, which only a recorded question shows.
my $OF_CRM =
  rule( 'issue', 'twice := x if { some x in [1, 2]; input.client.id == "crm" }', 'deny contains "x" if twice == 3' );

# Two rules that agree as long as a row and the Cedar rules are what they are.
my $BY_ROW   = rule( 'issue', 'claims := {"a": data.acme.a} if data.acme.a' );
my $BY_CEDAR = rule( 'issue', 'claims := {"a": 2} if count([1 | data.svc.cedar.policies[_].path]) > 0' );

my ( $stack, $policy, $name, @crm, $revision );

sub put {
    my ( $path, $text, $override ) = @_;
    return $stack->admin(
        PUT  => "/admin/api/policy-rules/by-path?path=$path" . ( $override ? '&impactOverride=we%20know%20why' : '' ),
        json => { path => $path, kind => $path =~ /(\w+)\z/ ? $1 : '', version => '1', content => $text } );
}

sub row {
    my ($a) = @_;
    return $stack->admin( PUT => '/admin/api/policy-data/by-key?dataKey=acme', json => { payload => qq({"a":$a}) } );
}

# An answer refuses a save with this fault of this question; nothing changed, and nobody feels it.
sub refused {
    my ( $answer, $what, $text, $question ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error(
        $answer, 422, "$name: $what is refused",
        error   => 'bundle_not_activated',
        members => { error_description => qr/\A$text.*$question/s, rolledBack => $true } );
    is( $policy->state->{revision},  $revision, "$name: ... and the policy is as before" );
    is( $stack->token(@crm)->status, 200,       "$name: ... and decides" );
    return;
}

sub saved {
    my ( $answer, $what ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    like( $answer->status, qr/\A20[014]\z/, "$name: $what is saved" ) or diag $answer->text;
    $revision = $policy->state->{revision};
    return;
}

sub try_rules {
    my ( $claims, $conflict ) = ( qr/sample question/, qr{custom/(?:one|two)\.rego:3: } );
    is( $stack->token(@crm)->status, 200, "$name: a token" );
    saved( put( 'custom/one.rego', $ONE ), 'a rule' );
    refused( put( 'custom/two.rego', $TWO ), 'a rule that contradicts another, by PUT',    $conflict, $claims );
    refused( $policy->deploy( rules => { 'custom/two.rego' => $TWO } ), '... by a deploy', $conflict, $claims );
    my $rehearsed = $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'dry-run', rules => [ { path => 'custom/two.rego', content => $TWO } ] } );
    refused( $rehearsed, '... in a rehearsal, too', $conflict, $claims );
    refused(
        put( 'custom/crm.rego', $OF_CRM ),
        'a rule that contradicts itself for one client',
        qr{custom/crm\.rego:3: },
        qr{the recorded question of audit row \d+ \(/token, client crm, } );
    refused(
        put( 'custom/late.rego', $ENDLESS ), 'a rule that does not end', qr{custom/late\.rego:3: },
        qr/without an input/ );
    refused(
        put( 'custom/bomb.rego', $BOMB ), 'a rule that takes all memory', qr{custom/bomb\.rego:3: },
        qr/without an input/ );
    saved( row(1),                            'a row' );
    saved( put( 'custom/row.rego', $BY_ROW ), 'a rule that agrees with another as long as the row is so' );
    refused( row(2), 'another row', qr{(?:the rules: )?custom/(?:one|row)\.rego:3: }, $claims );
    saved( put( 'custom/cedar.rego', $BY_CEDAR ), 'a rule that agrees with another while there are no Cedar rules' );
    refused( put( 'custom/any.cedar', $CEDAR ), 'a Cedar rule', qr{custom/(?:one|row|cedar)\.rego:3: }, $claims );
    return;
}

# What is let pass, by whom, and that it can be taken back.
sub try_override {
    my $mint = sub {
        my ($label) = @_;
        my $answer = $stack->admin( POST => '/admin/api/admin-keys', json => { label => $label, role => 'operator' } );
        return ( $answer->member('id'), $answer->member('key') );
    };
    my ( $id,    $key )   = $mint->('listed');
    my ( $other, $wrong ) = $mint->('another');
    my $guards = $stack->admin(
        PUT  => '/admin/api/policy-data/by-key?dataKey=svc.operator.controls.changes',
        json => { payload => $json->encode( { overrides => ["$id"] } ) } );
    saved( $guards, 'the row that says who may pass guards' );
    my $deploy = sub {
        my ( $who, $override ) = @_;
        return $stack->admin(
            POST => '/admin/api/policy-bundle/deploy',
            key  => $who,
            json => {
                mode  => 'merge',
                rules => [ { path => 'custom/two.rego', content => $TWO } ],
                $override ? ( impact => { override => 'we know why' } ) : () } );
    };
    admin_error(
        $deploy->( $key, 0 ), 422, "$name: a listed key without a reason",
        members => { overridable => $true } );
    admin_error( $deploy->( $wrong, 1 ), 422, "$name: another key with a reason", members => { overridable => $true } );
    is( $stack->token(@crm)->status, 200, "$name: ... and decisions go on" );
    my $passed = $deploy->( $key, 1 );
    saved( $passed, 'a rule that contradicts another, by a listed key with a reason' );
    my ($entry) = @{ $stack->admin( GET => '/admin/api/bundle-audit?limit=1' )->json };
    is( $entry->{overrideReason},    'we know why', "$name: ... whose reason the history keeps" );
    is( $stack->token(@crm)->status, 503,           "$name: ... decisions fail" );
    saved(
        $stack->admin( PATCH => '/admin/api/policy-data/by-key?dataKey=acme', json => { b => 1 } ),
        'what makes nothing worse' );
    my $broken = $stack->sql(q{SELECT id FROM bundle WHERE override_reason IS NOT NULL ORDER BY id DESC LIMIT 1});
    saved( put( 'custom/two.rego', rule('other') ), 'the way out' );
    ok( defined Authz::Process::until_true( 20, sub { $stack->token(@crm)->status == 200 } ),
        "$name: ... decides again" );
    refused(
        $stack->admin( POST => "/admin/api/bundle-audit/$broken/rollback", json => {} ),
        'a rollback to that revision',
        qr{custom/\w+\.rego:3: },
        qr/sample question/ );
    return;
}

# What auditors may ask for is evaluated by an engine of its own.
sub try_evaluate {
    saved(
        put( 'busy/slow.rego', "package busy.slow\n\nmany := bits.lsh(1, input.n)\n" ),
        'a rule that its input may keep busy' );
    my $auditor = $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'auditor', role => 'auditor' } )
      ->member('key');
    my $ask = sub {
        my ($n) = @_;
        return $stack->admin(
            POST => '/admin/api/policy-rules/evaluate',
            key  => $auditor,
            json => { path => 'busy/slow/many', input => { n => $n } } );
    };
    is( $ask->(3)->member('result'), 8, "$name: an auditor tries it" );
    my $endless = $ask->(2_000_000_000);
    is( $endless->status,            503, "$name: ... with an input for which it does not end" );
    is( $stack->token(@crm)->status, 200, "$name: ... and decisions go on" );
    is( $stack->http->get('/health/ready')->member('status'), 'UP', "$name: ... and readiness is UP" );
    return;
}

for my $case (@engine) {
    ( $name, my $settings ) = @$case;
    $stack  = Authz::Stack->start( settings => $settings );
    $policy = Authz::Policy->new($stack);
    @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
    try_rules();
    try_override();
    try_evaluate();
}
done_testing;

#!/usr/bin/perl
# policy compare: OPA and the embedded engine decide stored questions again, and the verb shows where their answers differ.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start( settings => { SVC_POLICY_ENGINE => 'opa' } );
$stack->sql('DELETE FROM policy_plan');
my $plain = ctl_is( 1, [qw(policy compare)], 'without a plan', env => $stack->settings );
like(
    $plain->{err}, qr/no plan is stored; a save makes a plan, unless SVC_POLICY_ENGINE is opa/,
    '... says what to do' );
is( $plain->{out}, '', '... and compares nothing' );

$stack->restart_service(
    settings => { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => Authz::Path::opa(), SVC_POLICY_WITNESS_RATE => 0 }
);
my $env = $stack->settings;
my @crm =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );

sub deploy {
    my (%rule) = @_;
    my $done = $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => {
            mode  => 'merge', data => [],
            rules => [ map { { path => $_, content => $rule{$_}, enabled => JSON::PP::true() } } sort keys %rule ] } );
    is( $done->status, 200, 'a deploy' ) or diag $done->text;
    return;
}

sub compare {
    my ( $status, $words, $name ) = @_;
    return ctl_is( $status, [ qw(policy compare), split / /, $words ], $name, env => $env );
}

# The numbers of a comparison.
sub numbers {
    my ($got) = @_;
    return [ @{ $got->{json} }{qw(decisions same different opaAlone unreadable)} ];
}

# ---- the same answers

$stack->token( @crm, scope => 'a' ) for 1 .. 3;
my $token = $stack->token_text( @crm, scope => 'a' );
$stack->introspect( @crm, $token ) for 1 .. 2;
$stack->token( @crm, scope => 'b' );
is_deeply( numbers( compare( 0, '--json', 'decisions of both evaluations' ) ), [ 7, 7, 0, 0, 0 ], '... are the same' );
is_deeply( numbers( compare( 0, '--json --limit 2', '--limit' ) ), [ 2, 2, 0, 0, 0 ], '... compares the newest alone' );
is_deeply(
    numbers( compare( 0, '--json --since 2026-01-01', '--since of a day' ) ), [ 7, 7, 0, 0, 0 ],
    '... long ago' );
is_deeply(
    numbers( compare( 0, '--json --since 2099-01-01T00:00:00Z', '--since of a time' ) ),
    [ 0, 0, 0, 0, 0 ], '... to come' );
my $text = compare( 0, '', 'as text' )->{out};
my ($revision) = $stack->sql('SELECT acceptable[1] FROM bundle_state');
like(
    $text, qr/^revision +\Q$revision\E\ndecisions +7\nsame +7\ndifferent +0\nby OPA alone +0\nmedian time /,
    '... prints the numbers' );
my $us = compare( 0, '--json', 'with --json' )->{json}{medianUs};
ok( $us->{embedded} > 0 && $us->{opa} > 0, '... prints the median times of both' );
is( $stack->sql('SELECT count(*) FROM access_token'), 4, '... and issues nothing' );

# ---- the policy of today decides

deploy( 'custom/a.rego' => qq{package custom.issue\n\ndeny contains "closed" if input.client.id == "crm"\n} );
is_deeply(
    numbers( compare( 0, '--json', 'after a change of the policy' ) ),
    [ 7, 7, 0, 0, 0 ], '... both decide by the new one, and differ as little' );

# ---- another answer: the plan is that of another policy

my ($denies) = $stack->sql('SELECT max(id) FROM bundle');
deploy( 'custom/a.rego' => "package custom.other\n\nnumber := 1\n" );
$stack->sql("UPDATE bundle SET modules = (SELECT modules FROM bundle WHERE id = $denies) WHERE id > $denies");
my $found = compare( 1, '--json', 'a plan that is not that of the policy: status 1' );
is_deeply( numbers($found), [ 7, 2, 5, 0, 0 ], '... and the differences are counted' );
my $first = $found->{json}{differences}[1];
is_deeply( [ @$first{qw(endpoint entrypoint)} ], [ '/token', 'svc/decision/issue' ], '... each with its endpoint' );
ok( $first->{opa}{allow} && !$first->{embedded}{allow}, '... and both answers' );
my ($stored) = $stack->sql("SELECT endpoint FROM audit_log WHERE id = $first->{auditId}");
is( $stored, '/token', '... and the id of its audit row' );
$text = compare( 1, '--limit 4', 'as text' )->{out};
like(
    $text,
    qr/^audit row \d+ \(\/token\), svc\/decision\/issue\n  embedded +\{.*\n  opa +\{.*\n/m,
    '... each answer is in a line' );

# ---- what the embedded engine leaves to OPA

deploy( 'custom/a.rego' =>
      qq{package custom.issue\n\ndeny contains "closed" if graphql.is_valid(input.client.id, "type Query { a: Int }")\n}
);
my $alone = compare( 0, '--json', 'a builtin that the machine lacks' );
is_deeply( numbers($alone), [ 7, 2, 0, 5, 0 ], '... is no difference, but counted' );
my ( $why, $count ) = %{ $alone->{json}{opaAloneBecause} };
like( $why, qr/graphql\.is_valid/, '... with the reason' );
is( $count, 5, '... and the number of decisions' );

# ---- wrong use, and OPA away

compare( 64, "--limit $_", "--limit $_ is refused" ) for qw(0 1000001 x -1);
compare( 64, "--since $_", "--since $_ is refused" ) for qw(yesterday 2026-13-01 2026-01-31T12:00:00);
my $far = ctl_is(
    64, [ qw(policy compare --server), $stack->base ],
    'with --server it is refused',
    env => { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => 'x' } );
like( $far->{err}, qr/works on the database alone; omit --server/, '... with the reason' );
$stack->{opa}->stop;
is( compare( 69, '', 'without OPA: status 69' )->{out}, '', '... and no numbers' );
done_testing;

# A rule that reads a member which no input has is refused whatever the way in, with rule, line and the nearest name (policy.md
# 7.3): such a rule is undefined, and what it should deny goes through.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Policy ();
use Authz::Stack  ();

my $json = JSON::PP->new->canonical;
my ( $true, $false ) = ( JSON::PP::true(), JSON::PP::false() );

sub rule { my ( $package, @line ) = @_; return join "\n", "package $package", '', @line, '' }
my $WRONG = rule( 'custom.issue', 'deny contains "x" if input.acton.name == "x"' );
my $TEXT  = qr{there is no input\.acton; did you mean 'actor'\? input has act, actor, .*};

my ( $stack, $policy, $name );

sub put {
    my ( $path, $text, %rest ) = @_;
    return $stack->admin(
        PUT  => "/admin/api/policy-rules/by-path?path=$path" . ( $rest{query} // '' ),
        json => {
            path    => $path, kind    => 'rego', version => '1',
            content => $text, enabled => $rest{disabled} ? $false : $true } );
}

sub refused {
    my ( $answer, $what, $text, $path, $below ) = @_;
    my $row = 3 + ( $below // 0 );
    $path //= 'custom/one.rego';
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error(
        $answer, 422, "$name: $what is refused",
        error   => 'bundle_not_activated',
        members => { error_description => qr/\A\Q$path\E:$row: $text\z/, overridable => $true } );
    my $errors = $answer->member('errors') // [];
    is( @$errors, 1, "$name: ... with one error" );
    my ($error) = @$errors;
    is( "$error->{path}:$error->{row}", "$path:$row", "$name: ... that has rule and line" );
    like( $error->{message}, qr/\A$text\z/, "$name: ... and the words" );
    is( $policy->state->{revision}, $policy->{was}, "$name: ... and the policy is as before" );
    return;
}

sub saved {
    my ( $answer, $what ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    like( $answer->status, qr/\A20[014]\z/, "$name: $what is saved" ) or diag $answer->text;
    $policy->{was} = $policy->state->{revision};
    return;
}

sub try_ways {
    refused( put( 'custom/one.rego', $WRONG ), 'PUT of a rule', $TEXT );
    my $posted = $stack->admin(
        POST => '/admin/api/policy-rules',
        json => { path => 'custom/one.rego', kind => 'rego', version => '1', content => $WRONG } );
    refused( $posted,                                                     'POST of a rule', $TEXT );
    refused( $policy->deploy( rules => { 'custom/one.rego' => $WRONG } ), 'a bundle',       $TEXT );
    my $rehearsed = $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'dry-run', rules => [ { path => 'custom/one.rego', content => $WRONG } ] } );
    refused( $rehearsed, 'a bundle that is rehearsed', $TEXT );

    # The console asks this before a save, and shows its errors at their lines.
    my $impact = $stack->admin(
        POST => '/admin/api/policy-impact',
        json => { mode => 'merge', decisions => 1, rules => [ { path => 'custom/one.rego', content => $WRONG } ] } );
    admin_error(
        $impact, 422, "$name: the check of a draft refuses it",
        error   => 'bundle_not_activated',
        members => { error_description => qr{\Acustom/one\.rego:3: $TEXT\z} } );
    is( $impact->member('errors')->[0]{row}, 3, "$name: ... with the line" );

    saved( put( 'custom/one.rego', $WRONG, disabled => 1 ), 'the same, disabled: a draft that decides nothing,' );
    refused( put( 'custom/one.rego', $WRONG ), '... which is then enabled', $TEXT );
    return;
}

# What is followed, and what is not known and so no fault.
sub try_reads {
    my @wrong = (
        [   'deny contains "x" if { s := input.subject; s.nme == 1 }', qr/there is no input\.subject\.nme; .*/,
            'by a variable' ],
        [   'deny contains "x" if input["client"]["idd"] == 2',
            qr/there is no input\.client\.idd; did you mean 'id'\? input\.client has .*/,
            'in brackets' ],
        [   'deny contains "x" if { some r in input.baseline.deny_reasons; r.cod == 2 }',
            qr/there is no input\.baseline\.deny_reasons\[_\]\.cod; did you mean 'code'\? .*/,
            'of an item',
            'gateway' ],
        [ 'deny contains "x" if not input.acton',                           $TEXT, 'under not' ],
        [ 'deny contains "x" if { y := [1 | input.acton] ; count(y) > 0 }', $TEXT, 'in a comprehension' ],
    );
    for my $case (@wrong) {
        my ( $line, $text, $what, $package ) = @$case;
        refused(
            put( 'custom/two.rego', rule( 'custom.' . ( $package // 'issue' ), $line ) ),
            "what is read $what", $text, 'custom/two.rego' );
    }
    my @right = (
        [ 'custom.issue', 'deny contains "x" if input.subject.claims.any.thing == 1', 'a claim, which has any name,' ],
        [   'custom.issue', 'deny contains "x" if { input.acton with input as {"acton": 1}; 1 == 2 }',
            'a replaced input' ],
        [ 'custom.issue', "f(x) if x.acton == 1\ndeny contains \"x\" if f({\"a\": input.client.id})", 'an argument' ],
        [ 'custom.lib',   'member if input.registration.client_name == "x"', 'what one of the inputs has' ],
        [ 'busy.lib',     'many := input.n',                                 'the input of another package' ],
    );
    saved( put( 'custom/two.rego', rule( $_->[0], $_->[1] ) ), $_->[2] ) for @right;
    return;
}

# Rules of one name are one function of the plan, whose bodies have locals of the same numbers.
sub try_beside {
    my $TYPO = qr/there is no input\.subject\.clamis; did you mean 'claims'\? .*/;
    saved(
        put( 'custom/first.rego', rule( 'custom.issue', 'deny contains "y" if input.client.id == "zz"' ) ),
        'the first rule of a package' );
    my @wrong = (
        [ 'deny contains "x" if input.subject.clamis.groups', 'beside a rule of another file' ],
        [ 'deny contains "x" if not input.subject.clamis',    'under not' ],
        [ qq(deny contains "w" if 1 == 2\ndeny contains "x" if input.subject.clamis.groups), 'beside one of its file' ],
    );
    for my $case (@wrong) {
        refused(
            put( 'custom/two.rego', rule( 'custom.issue', $case->[0] ) ),
            "what is read $case->[1]", $TYPO, 'custom/two.rego', $case->[0] =~ tr/\n// );
    }
    return;
}

# A stored rule that an earlier version let in keeps nobody from another save.
sub try_stored {
    $stack->sql( q{UPDATE policy_rule SET enabled = true, content = '} . $WRONG =~
          s/'/''/gr . q{' WHERE path = 'custom/one.rego'} );
    saved(
        put( 'custom/three.rego', rule( 'custom.issue', 'deny contains "y" if input.client.id == "y"' ) ),
        'a rule beside a stored one with the fault' );
    return;
}

for my $case ( [ 'OPA', { SVC_POLICY_ENGINE => 'opa' } ], [ 'in process', { SVC_POLICY_ENGINE => 'embedded' } ] ) {
    ( $name, my $settings ) = @$case;
    $stack         = Authz::Stack->start( settings => $settings );
    $policy        = Authz::Policy->new($stack);
    $policy->{was} = $policy->state->{revision};
    try_ways();
    try_reads();
    try_beside();
    try_stored();
}
done_testing;

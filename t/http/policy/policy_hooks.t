# Hooks of operators (policy.md 6.5): a save whose hook has the wrong type is refused with the hook's name, and a decision denies
# while a hook has one.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack  = Authz::Stack->start( fake_opa => 1 );
my $policy = Authz::Policy->new($stack);
my @crm =
  $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );

# The table in C and the shipped rules name the same hooks with the same types.
my $rules = Authz::Web::edit( Authz::Path::source( 'etc',  'policy', 'svc',  'lib', 'hooks.rego' ) );
my $code  = Authz::Web::edit( Authz::Path::source( 'fcgi', 'policy', 'rows', 'hooks.c' ) );
my %ruled = $rules =~ /hook := data\.([a-z_.]+)\n\ttype_name\(hook\) != "(set|object|boolean)"/g;
my %coded = $code  =~ /^    \{"(custom\.[a-z_.]+)",\s+(set|object|boolean)_type\s*\}/mg;
cmp_ok( scalar keys %ruled, '>=', 13, 'the shipped rules name the hooks' );
is_deeply( \%coded, \%ruled, 'the types that a save checks are those that a decision checks (policy.md 6.5)' );

# cache_seconds is of a range, not of a type alone.
is( scalar( () = $rules =~ /invalid\("custom\./g ), 1 + keys %ruled, '... and each of them denies with its name' );
like(
    $code, qr/^    \{"custom\.gateway\.cache_seconds",\s+number_type\s*\}/m,
    '... a save checks that seconds are a number' );

sub deploy {
    my ($text)    = @_;
    my ($package) = $text =~ /\Apackage (\S+)/;
    return $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { mode => 'replace', rules => [ { path => 'custom/hook.rego', content => $text } ] } );
}

sub refused {
    my ( $text, $what, $name ) = @_;
    my $before = $policy->state->{revision};

    # Where NOTIFY is refused, the engine hears within SVC_BUNDLE_CONFIRM_POLL_MS that the bundle of the case before is withdrawn.
    Authz::Process::until_true( 10, sub { $policy->active eq $before } );
    my $answer = deploy($text);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    admin_error( $answer, 422, $name, error => 'bundle_not_activated', members => { error_description => $what } )
      or return;
    is( $answer->member('activeRevision'), $before, '... and the policy before it decides' );
    is( $policy->state->{revision},        $before, '... and is served' );
    return;
}

my @hooks = sort keys %coded;
for my $hook (@hooks) {
    my ( $package, $rule ) = $hook =~ /\A(.*)\.(\w+)\z/;
    my $wrong = $coded{$hook} eq 'set'    ? 'array'     : 'set';
    my $value = $wrong eq 'array'         ? '["x"]'     : '{"x"}';
    my $must  = $coded{$hook} eq 'object' ? 'an object' : "a $coded{$hook}";
    refused(
        "package $package\n\n$rule := $value\n",
        qr/\A\Q$hook\E must be $must, not an? $wrong: write $rule/,
        "$hook: another type ($wrong) is refused with its name" );
}
refused(
    qq{package custom.issue\n\ndeny := ["x"] if input.client.id == "nobody"\n},
    qr/\Acustom\.issue\.deny must be a set, not an array/,
    'custom.issue.deny: an array for some requests alone is refused' );
refused(
    qq{package custom.issue\n\ndeny := $_->[0]\n},
    qr/\Acustom\.issue\.deny must be a set, not (?:an? $_->[1]|another type)/, "custom.issue.deny: $_->[0] is refused" )
  for [ 'false', 'boolean' ], [ 'true', 'boolean' ], [ '"x"', 'string' ], [ '{"x": 1}', 'object' ], [ 'null', 'null' ];
refused( qq{package custom.issue\n\ndeny(x) := x\n}, qr/\Acustom\.issue\.deny must be a set/, 'a function is refused' );
refused(
    qq{package custom.issue\n\ndeny := data.svc.operator.controls.introspection.require_audience\n},
    qr/\Acustom\.issue\.deny must be a set, not a boolean/,
    'a value that comes from a row is refused by what it is' );

# It has the right form, but no value: each decision would fail (policy.md 7.3).
refused(
    qq{package custom.issue\n\nclaims["a"] := x if some x in [1, 2]\n},
    qr{\Acustom/hook\.rego:3: .*; asked: the sample question}s,
    'a rule that contradicts itself is refused' );

# Rules that keep to the forms of the hooks are saved, and so are rules of other packages.
for my $good (
    qq{package custom.issue\n\ndeny contains "x" if input.subject.claims.a\n},
    qq{package custom.issue\n\ndeny := {r | some r in input.subject.claims.a}\n},
    qq{package custom.issue\n\ndeny := set()\n},
    qq{package custom.issue\n\nclaims.tenant := "x"\n\nclaims.other := 1 if input.subject.claims.a\n},
    qq{package custom.issue\n\nclaims[k] := v if some k, v in input.subject.claims.a\n},
    qq{package custom.issue\n\nobligations := {}\n},
    qq{package custom.issue\n\nextensions := input.subject.claims.a\n},
    qq{package custom.issue\n\nclaims := {"a": 1} if input.subject.claims.a\n\nclaims := {"b": 1} if not input.subject.claims.a\n},
    qq{package custom.introspect\n\nobligations := {"tenant": "acme"}\n},
    qq{package custom.other\n\ndeny := ["x"]\n},
  )
{
    my $answer = deploy($good);
    is( $answer->status, 200, 'accepted: ' . $good =~ s/\n+/ /gr ) or diag $answer->text;
}

# One rule alone takes the same way.
my $answer = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/one.rego', kind => 'rego', version => '1',
        content => "package custom.register\n\ndeny := []\n", enabled => JSON::PP::true() } );
admin_error(
    $answer, 422, 'one rule: refused in the same way', error => 'bundle_not_activated',
    members => { error_description => qr/\Acustom\.register\.deny must be a set, not an array/ } );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/one.rego'}), 0, '... and not stored' );

# A rule that excludes a stored one of the same name: the refusal names the file of the save.
is( deploy(qq{package custom.issue\n\ndeny contains "x" if input.subject.claims.a\n})->status, 200,
    'a rule is stored' );
$answer = $stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        mode  => 'merge',
        rules => [ { path => 'custom/new.rego', content => qq{package custom.issue\n\ndeny := ["x"]\n} } ] } );
admin_error(
    $answer, 422, 'a rule of the same name in another form: the refusal names the file of the save and the hook',
    error   => 'bundle_not_activated',
    members => {
        error_description =>
          qr{\Acustom/new\.rego:3: custom\.issue\.deny must be a set, .*; rules of the same name: custom/hook\.rego:3\z}
    } );

# A type that only a request shows: the decision denies.
is( deploy(qq{package custom.issue\n\ndeny := object.get(input, ["client", "id"], set())\n})->status, 200,
    'a hook that has its wrong type with an input alone is saved' );
oauth_error( $stack->token( @crm, scope => 'a' ), 400, 'access_denied', '... and the decision denies (policy.md 6.5)' );
is( deploy(qq{package custom.introspect\n\ndeny := object.get(input, ["client", "enabled"], set())\n})->status, 200,
    'the same at introspection' );
my $token = $stack->token_text( @crm, scope => 'a' );
my $shown = $stack->introspect( @crm, $token );
oauth_ok( $shown, { active => JSON::PP::false() }, '... the token is inactive' );
is_deeply( [ map { $_->{code} } @{ $shown->json->{deny_reasons} } ], ['hook_invalid'], '... for that reason' );

done_testing;

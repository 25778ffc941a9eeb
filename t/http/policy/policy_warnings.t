# A save of a rule that nothing reads is kept and says so (policy.md 6.5): in the answer, and by authzctl. The shipped Cedar schema
# names what the service asks.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../../cli";
use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path   ();
use Authz::Policy ();
use Authz::Stack  ();
use Authz::Web    ();
use Authzctl;

# ---- the schema is that of the questions

my $json = JSON::PP->new->utf8;
my $schema =
  $json->decode( Authz::Web::edit( Authz::Path::source( 'etc', 'policy', 'service.cedarschema.json' ) ) )->{''};
my $rules = Authz::Web::edit( Authz::Path::source( 'etc', 'policy', 'svc', 'cedar', 'request.rego' ) );
my %asked = map { $_ => 1 } $rules =~ /^svc\["(\w+)"\] :=/mg;
is_deeply(
    [ sort keys %{ $schema->{commonTypes}{Service}{attributes} } ],
    [ sort keys %asked ], 'the schema has the members of context.svc' );
my ($client) = $rules =~ /^described_of_client := \[(.*?)\]/ms;
is_deeply(
    [ sort keys %{ $schema->{commonTypes}{ServiceClient}{attributes} } ],
    [ sort $client =~ /"(\w+)"/g ], '... and of the clients in it' );
my $grants = Authz::Web::edit( Authz::Path::source( 'fcgi', 'oauth', 'grants.c' ) );
is_deeply(
    [ sort grep {/^issue:/} keys %{ $schema->{actions} } ],
    [ map {"issue:access_token:$_"} sort 'urn:openid:params:grant-type:ciba', $grants =~ /\.type = "([^"]+)"/g ],
    '... and an action for each grant type' );
is_deeply( [ sort keys %{ $schema->{entityTypes} } ], [qw(Audience Client Resource User)], '... and the types' );

# ---- saves

my $stack  = Authz::Stack->start;
my $policy = Authz::Policy->new($stack);
my $slip   = qq{package custom.isue\n\ndeny contains "x" if input.client.id == "a"\n};
my $said   = q{custom/slip.rego: nothing reads the package custom.isue; did you mean 'custom.issue'?};
my $cedar =
  'forbid (principal == Clinet::"shop", action == Action::"isue:x", resource) when { context.svc.endpont == "/token" };';

my $answer = $policy->deploy( rules => { 'custom/slip.rego' => $slip } );
admin_ok(
    $answer, 200, { activation => 'confirmed', warnings => [$said] },
    'a deploy with a slip says what nothing reads' );
is( $answer->header('X-Policy-Warning'), $said, '... in the header, too' );
$answer = $policy->deploy( mode => 'dry-run', rules => { 'acme/a.cedar' => $cedar } );
admin_ok(
    $answer, 200,
    {   activation => 'dry-run',
        warnings   => sub {
            @{ $_[0] } == 4
              && $_[0][1] =~ /\Aacme\/a\.cedar:1:22: there is no entity of the type Clinet; did you mean 'Client'\?\z/;
        }
    },
    'a dry run says it of a Cedar rule: of its type, action and member, beside the stored slip' );
like( $answer->header('X-Policy-Warning'), qr/; and 1 more\z/, '... and the header has the first three' );
my $rule = { path => 'custom/hook.rego', content => qq{package custom.issue\n\ndenies contains "x"\n}, kind => 'rego' };
$answer = $stack->admin( POST => '/admin/api/policy-rules', json => { %$rule, version => '1' } );
is( $answer->status, 201, 'a rule alone is saved' ) or diag $answer->text;
like(
    $answer->header('X-Policy-Warning'), qr{custom/hook\.rego:3: nothing reads custom\.issue\.denies},
    '... with the warning' );
$answer = $policy->deploy(
    mode  => 'replace',
    rules => {
        'custom/good.rego' =>
          qq{package custom.issue\n\nimport data.custom.lib\n\ndeny contains "x" if input.client.id in lib.stopped\n},
        'custom/lib.rego' => qq{package custom.lib\n\nstopped := {"a"}\n},
        'acme/good.cedar' => 'forbid (principal == Client::"shop", action == Action::"introspect", resource);' } );
admin_ok( $answer, 200, { warnings => undef }, 'rules that are read: nothing is said' );
is( $answer->header('X-Policy-Warning'), undef, '... in no header' );

# A permit while the mode is guard, which is the default, is saved and has no effect (doc/cedar.md 2).
my $idle = { path => 'acme/any.cedar', kind => 'cedar', content => "permit (principal, action, resource);\n" };
my $permit =
  sub { return $stack->admin( PUT => '/admin/api/policy-rules/by-path?path=acme/any.cedar', json => $_[0] ) };
$answer = $permit->( { %$idle, version => '1' } );
is( $answer->header('X-Policy-Warning'),
    'acme/any.cedar:1:1: a permit has no effect while cedar_mode is guard (svc.operator.controls.authzen); '
      . 'with source, it permits access requests (AuthZEN)', 'a permit in the mode guard' );
$answer = $stack->admin(
    PATCH => '/admin/api/policy-data/by-key?dataKey=svc.operator.controls.authzen',
    json  => { cedar_mode => 'source' } );
is( $answer->status, 200, 'the mode source' ) or diag $answer->text;
$answer = $permit->( { %$idle, version => '2' } );
is( $answer->header('X-Policy-Warning'), undef, '... in which a permit permits' );

# ---- authzctl

my $dir = tree( 'custom/slip.rego' => $slip );
for my $way (
    [ 'on the database', [], $stack->settings ],
    [   'over the API',
        [ '--server', $stack->base ],
        {   SVC_CONFIG      => '/dev/null',                           SVC_DATA_DIR => Authz::Stack::data_dir(),
            AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY}, AUTHZ_OPA    => Authz::Path::opa() } ] )
{
    my ( $name, $server, $env ) = @$way;
    my $got = ctl_is( 0, [ qw(bundle deploy), $dir, @$server ], "bundle deploy $name", env => $env );
    like( $got->{err}, qr{warning: \Q$said\E$}m, '... prints the warning' );
}

done_testing;

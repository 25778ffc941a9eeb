# authzctl policy impact, and limits of authzctl bundle deploy: what a change would have decided, for people and for CI (policy.md
# C1, C2).
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $dir = Authz::Process::directory();
mkdir "$dir/policy"        or die "$dir: $!";
mkdir "$dir/policy/custom" or die "$dir: $!";

sub write_file {
    my ( $name, $text ) = @_;
    open my $out, '>', "$dir/$name" or die "$name: $!";
    print {$out} $text;
    close $out or die "$name: $!";
    return;
}

sub write_rule {
    my ($when) = @_;
    return write_file(
        'policy/custom/issue.rego',
        qq{package custom.issue\n\ndeny contains {"code": "no_way", "category": "policy"} if $when\n} );
}

my $stack = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
my $env   = $stack->settings;
$stack->token( @crm, scope => $_ ) for 'read write', 'read', 'read';
write_rule('"write" in input.scopes.requested');

my $shown = ctl( [ qw(policy impact), "$dir/policy" ], env => $env );
is( $shown->{status}, 0, 'policy impact: without limits the exit status is 0 (policy.md C2)' ) || diag $shown->{err};
like( $shown->{out}, qr/^revision \w+  candidate \w+ .* 3 decisions, all looked at$/m, '... the decisions' );
like( $shown->{out}, qr/^same 2   newly denied 1   newly allowed 0 /m,                 '... the classes' );
like( $shown->{out}, qr/^  crm +newly denied 1 /m,                                     '... the clients' );
like( $shown->{out}, qr{^audit \d+  newlyDenied  /token  crm  allow -> deny$}m,        '... and examples' );

my $json = ctl( [ qw(policy impact --json), "$dir/policy" ], env => $env );
is( $json->{json}{newlyDenied}, 1, '--json prints the answer of the API' );

for my $case ( [ '0' => 2 ], [ '1' => 0 ], [ '5%' => 2 ], [ '50%' => 0 ], [ 'x' => 64 ], [ '101%' => 64 ] ) {
    my ( $limit, $status ) = @$case;
    my $run = ctl( [ qw(policy impact --max-newly-denied), $limit, "$dir/policy" ], env => $env );
    is( $run->{status}, $status, "--max-newly-denied $limit: the exit status is $status (policy.md C2)" )
      || diag $run->{err};
    like( $run->{err}, qr/newly denied 1, at most \Q$limit\E: REFUSED/, '... and says why' ) if $status == 2;
}

# ---- a deploy with limits

my @deploy  = ( qw(bundle deploy --max-newly-denied 0), "$dir/policy" );
my $refused = ctl( \@deploy, env => $env );
is( $refused->{status}, 2, 'bundle deploy beyond a limit: the exit status is 2' ) || diag $refused->{err};
like( $refused->{err}, qr/1 decisions would be newlyDenied, at most 0/, '... with the numbers' );
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and nothing is saved' );
my $saved = ctl( [ qw(bundle deploy --since 24h --max-newly-denied 1), "$dir/policy" ], env => $env );
is( $saved->{status}, 0, '... and within its limit it is saved' ) || diag $saved->{err};
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 1, '... with its rule' );

# ---- over the admin API

write_rule('false');
my $far = {
    SVC_CONFIG   => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
    SVC_DATA_DIR => Authz::Stack::data_dir() };
my $remote = ctl( [ qw(policy impact --max-newly-allowed 0 --server), $stack->base, "$dir/policy" ], env => $far );
is( $remote->{status}, 2, 'with --server: the same' ) || diag $remote->{err};
like( $remote->{out}, qr/newly allowed 1 /, '... with the counts' );

# ---- a shadow (policy.md 7.2)

write_rule('"read" in input.scopes.requested');
my $none = ctl( [qw(policy shadow status)], env => $env );
is( $none->{status}, 1, 'policy shadow status without a shadow: the exit status is 1' );
like( $none->{err}, qr/there is no shadow/, '... and it says so' );
is( ctl( [ qw(policy shadow set --rate), $_, "$dir/policy" ], env => $env )->{status}, 64, "--rate $_ is refused" )
  for 0, 1_000_001, 'x';
my @set = ( qw(policy shadow set --rate 1 --until 24h -m tried), "$dir/policy" );
my $set = ctl( \@set, env => $env );
is( $set->{status}, 0, 'policy shadow set' ) || diag $set->{err};
like( $set->{out}, qr/^shadow 1 active  revision \w+  candidate \w+  1 of 1 until /m, '... prints the shadow' );
is( ctl( \@set, env => $env )->{status}, 1, '... of which there is one' );
my $again = ctl( [ @set, qw(--replace --server), $stack->base ], env => $far );
like( $again->{out}, qr/^shadow \d+ active /m, '... unless --replace ends it, with --server too' )
  || diag $again->{err};

# Until a host says that it compares, decisions are not looked at.
Authz::Process::until_true(
    60,
    sub { $stack->sql(q{SELECT 1 FROM policy_shadow WHERE state = 'active' AND reported_at IS NOT NULL}) } );
$stack->token( @crm, scope => 'read' );
my $status;
Authz::Process::until_true(
    60,
    sub {
        $status = ctl( [qw(policy shadow status)], env => $env );
        return $status->{out} =~ /^1 decisions/m;
    } );
like( $status->{out}, qr/^same 0   newly denied 1 /m, 'policy shadow status prints the counts' );
like( $status->{out}, qr{^request \S+  newlyDenied  /token  crm  allow -> deny$}m, '... and examples' );
my @promote = qw(policy shadow promote --yes);
is( ctl( [ @promote, qw(--max-newly-denied 0) ], env => $env )->{status}, 2,
    'policy shadow promote beyond a limit: the exit status is 2' );
my $promoted = ctl( \@promote, env => $env );
is( $promoted->{status}, 0, '... and without limits it is promoted' ) || diag $promoted->{err};
like( $promoted->{out}, qr/^\w+ confirmed$/m, '... and confirmed' );
is( ctl( [qw(policy shadow drop --yes)], env => $env )->{status}, 1, 'policy shadow drop when there is none' );
write_rule('false');
is( ctl( \@set,                          env => $env )->{status}, 0, 'another shadow' );
is( ctl( [qw(policy shadow drop --yes)], env => $env )->{status}, 0, '... is dropped' );

# ---- a rule that cannot be planned

write_file( 'policy/custom/issue.rego', "package custom.issue\n\na := undefined_name\n" );
my $broken = ctl( [ qw(policy impact), "$dir/policy" ], env => $env );
is( $broken->{status}, 1, 'a rule that does not compile: the exit status is 1' );
like( $broken->{err}, qr{custom/issue\.rego}, '... and says where' );

done_testing();

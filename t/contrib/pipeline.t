#!/usr/bin/perl
# contrib/examples/pipeline: the script that its files for CI run, over the admin API (doc/instance-as-files.md).
use strict;
use warnings;

use File::Path ();
use JSON::PP   ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack  = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my $folder = Authz::Path::source( 'contrib', 'examples', 'pipeline' );
my $dir    = Authz::Process::directory() . '/pipeline';
my $bin    = Authz::Path::program('authzctl') =~ s{/[^/]+\z}{}r;
my %env    = (
    ( map { ( $_ => undef ) } grep {/\ASVC_/} keys %ENV ),
    PATH            => "$bin:$ENV{PATH}", SVC_CONFIG => '/dev/null', AUTHZ_SERVER => $stack->base,
    AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY}, AUTHZ_OPA => Authz::Path::opa() );

# A step; returns its output.
sub step {
    my ( $wanted, $name, @words ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => 'pipeline', env => \%env, command => [ "$folder/pipeline.sh", @words ] );
    is( $status, $wanted, $name ) or diag $text;
    return $text;
}

File::Path::make_path( "$dir/clients", "$dir/policy/custom" );
Authz::Web::write_file( "$dir/instance.json",      '{"format": 1, "owner": "ci"}' );
Authz::Web::write_file( "$dir/clients/by-ci.json", '{"clientType": "public"}' );
Authz::Web::write_file(
    "$dir/policy/custom/i.rego",
    "package custom.issue\n\ndeny contains \"x\" if input.client.id == \"x\"\n" );
Authz::Web::write_file(
    "$dir/policy/custom/i_test.rego",
    "package custom.issue_test\n\ntest_x if data.custom.issue.deny == {\"x\"} with input as {\"client\": {\"id\": \"x\"}}\n"
);

like( step( 0, 'test', 'test', $dir ), qr/PASS/, '... runs the tests of the rules' );
like(
    step( 2, 'plan ends with 2 if it changes something', 'plan', $dir, "$dir.plan" ), qr/^create client by-ci$/m,
    '... and prints it' );
is( $stack->admin( GET => '/admin/api/clients/by-ci' )->status, 404, '... and changes nothing' );
step( 0, 'apply', 'apply', "$dir.plan" );
is( $stack->admin( GET => '/admin/api/clients/by-ci' )->status, 200, '... does what was planned' );
step( 0, 'plan ends with 0 if nothing is to do', 'plan', $dir, "$dir.plan" );
step( 64, 'refused: no step' );

# ---- a guard: a limit for every save (policy.md G2)

my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['read'] } );
is( $stack->token( @crm, scope => 'read' )->status, 200, 'a decision that is recorded' );
Authz::Web::write_file(
    "$dir/policy/custom/i.rego",
    "package custom.issue\n\ndeny contains \"x\" if input.client.id in {\"x\", \"crm\"}\n" );
Authz::Web::write_file( "$dir/clients/after.json", '{"clientType": "public"}' );
for my $limit ( [ 0, 1, 'a limit that is passed' ], [ 1, 2, '... and one that is not' ] ) {
    my ( $most, $status, $name ) = @$limit;
    my $text =
      step( $status, "plan --max-newly-denied $most: $name", 'plan', $dir, "$dir.limited", "--max-newly-denied=$most" );
    is( -e "$dir.limited" ? 2 : 1, $status, '... the plan is there if the limit holds' );
    like(
        $text, $status == 1 ? qr/limit: newly denied 1 of \d+, at most 0: REFUSED/ : qr/^change rule/m,
        '... and it says so' );
}
step( 2, 'apply ends with 2 if a limit is passed', 'apply', "$dir.limited", '--max-newly-denied=0' );
is( $stack->admin( GET => '/admin/api/clients/after' )->status, 404, '... and changes nothing' );
step( 2, 'plan before there is a guard', 'plan', $dir, "$dir.plan" );
$stack->patch_row(
    'svc.operator.controls.changes',
    { guards => [ { name => 'none', limits => { newlyDenied => 0 } } ] } );
my $refused = step( 1, 'plan ends with 1 if a guard refuses it', 'plan', $dir, "$dir.refused" );
like( $refused, qr/guard none: newly denied 1 of \d+, at most 0: REFUSED/, '... and says which' );
ok( !-e "$dir.refused", '... there is no plan' );
step( 1, '... and the next step of the pipeline has nothing to do', 'apply', "$dir.refused" );

# The plan was made of the revision before the guard.
isnt(
    (   Authz::Process->run(
            name => 'pipeline', env => \%env, command => [ "$folder/pipeline.sh", 'apply', "$dir.plan" ] ) )[0],
    0,
    'apply of a plan from before' );
is( $stack->token( @crm, scope => 'read' )->status,             200, '... does not pass the guard' );
is( $stack->admin( GET => '/admin/api/clients/after' )->status, 404, '... and the run ends there' );

# ---- the files for CI: their schemas, and their commands on the service

my ( $python, $check ) = map { Authz::Path::pypi($_) } qw(python3 check-jsonschema);
SKIP: {
    skip 'no Python packages: run contrib/check once', 1 if !$check;
    my $work = Authz::Process::directory() . '/checkout';
    mkdir $work                                       or die "$work: $!";
    system( 'cp', "$folder/pipeline.sh", $work ) == 0 or die 'cp';
    rename $dir, "$work/instance" or die "rename: $!";
    Authz::Web::write_file(
        "$work/instance/policy/custom/i.rego",
        "package custom.issue\n\ndeny contains \"x\" if input.client.id == \"x\"\n" );
    my %schema = ( 'github.yml' => 'vendor.github-workflows', 'gitlab.yml' => 'vendor.gitlab-ci' );
    my %steps;
    for my $file ( sort keys %schema ) {
        my ( $status, $text ) = Authz::Process->run(
            name    => 'schema',
            command => [ $check, '--builtin-schema', $schema{$file}, "$folder/$file" ] );
        is( $status, 0, "$file follows the schema of its platform" ) or diag $text;
        ( $status, $text ) = Authz::Process->run(
            name    => 'yaml',
            command => [
                $python, '-c', 'import json, sys, yaml; print(json.dumps(yaml.safe_load(open(sys.argv[1]))))',
                "$folder/$file" ] );
        my $document = JSON::PP->new->utf8->decode($text);
        $steps{$file} = {
            map {
                my $job = ( $document->{jobs} // $document )->{$_};
                my @run = $document->{jobs} ? grep {defined} map { $_->{run} } @{ $job->{steps} } : ( $job->{script} );
                ( $_ => \@run )
            } $document->{jobs} ? keys %{ $document->{jobs} } : qw(test plan apply) };
    }
    my ($command) = Authz::Web::edit("$folder/main.tf") =~ /^ +command = "(.*)"$/m;
    $steps{'main.tf'} = { apply => [$command] };

    # As the platforms run a step: by a shell that ends at the first command which fails.
    my $step_is = sub {
        my ( $wanted, $name, $script ) = @_;
        my ( $status, $text ) = Authz::Process->run(
            name    => 'ci', env => { %env, RUNNER_TEMP => $work },
            command => [ 'sh', '-c', "cd '$work' && exec bash -e -o pipefail -c \"\$1\"", 'ci', $script ] );
        is( $status, $wanted, $name ) or diag $text;
        return $text;
    };
    my $client = 0;
    for my $file ( sort keys %steps ) {
        my $id = 'ci-' . ++$client;
        Authz::Web::write_file( "$work/instance/clients/$id.json", '{"clientType": "public"}' );
        for my $job ( grep { $steps{$file}{$_} } qw(test plan apply) ) {
            for my $script ( @{ $steps{$file}{$job} } ) {
                my $planned = $file eq 'gitlab.yml' && $job eq 'plan' ? 2 : 0;               # allow_failure
                my $text    = $step_is->( $planned, "$file, job $job: $script", $script );
                like( $text, qr/^create client $id$/m, '... shows the new client' ) if $script =~ /plan instance/;
            }
            is( $stack->admin( GET => "/admin/api/clients/$id" )->status, $job eq 'apply' ? 200 : 404,
                $job eq 'apply' ? '... and makes it' : '... and makes nothing' );
        }
    }

    # A key for plans alone.
    my $key =
      $stack->admin( POST => '/admin/api/admin-keys', json => { label => 'ci', role => 'auditor' } )->member('key');
    local $env{AUTHZ_ADMIN_KEY} = $key // 'none';
    Authz::Web::write_file( "$work/instance/clients/ci-last.json", '{"clientType": "public"}' );
    $step_is->( 2, 'the key of an auditor makes a plan (doc/pipelines.md)', './pipeline.sh plan instance plan.json' );
    isnt(
        (   Authz::Process->run(
                name => 'ci', env => \%env, command => [ "$folder/pipeline.sh", 'apply', "$work/plan.json" ] ) )[0],
        0,
        '... and cannot apply it' );
    is( $stack->admin( GET => '/admin/api/clients/ci-last' )->status, 404, '... nothing was made' );
}

done_testing;

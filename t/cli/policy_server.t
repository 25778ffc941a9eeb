#!/usr/bin/perl
# bundle and policy verbs with --server: an author on a laptop, with an admin key and no database, gets the output and the exit
# status that the database gives.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my $far   = {
    SVC_CONFIG   => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY},
    SVC_DATA_DIR => Authz::Stack::data_dir() };
my @server = ( '--server', $stack->base );

# Replace what differs between two saves that were made alike.
sub alike {
    my ($text) = @_;
    $text =~ s/\btwo\b/one/g;
    $text =~ s/\b[0-9a-f]{32,64}\b/REVISION/g;
    $text =~ s/\d{4}-\d\d-\d\dT[\d:.]+Z/TIME/g;
    return $text;
}

# Run a verb on the database and over the API. `one` in an argument becomes `two` over the API with apart => 1, so that both
# write a row of their own.
sub both {
    my ( $status, $words, $name, %option ) = @_;
    my @words = ref $words     ? @$words : split / /, $words;
    my @other = $option{apart} ? map {s/\bone\b/two/gr} @words : @words;
    my $in    = $option{in} // '';
    my $db    = ctl_is( $status, \@words, "$name, on the database", env => $env, in => $in );
    my $api   = ctl_is(
        $status, [ @other, @server ], '... and over the API', env => $far,
        in => $option{apart} ? $in =~ s/\bone\b/two/gr : $in );
    is( alike( $api->{out} ), alike( $db->{out} ), '... prints the same' );
    return ( $db, $api );
}

# ---- rules

my $rule = "package custom.one\nimport rego.v1\nallow := true\n";
both( 0, 'policy rule set custom/one.rego', 'policy rule set', apart => 1, in => $rule );
both( 0, 'policy rule get custom/one.rego', 'policy rule get', apart => 1 );
is( ctl( [ qw(policy rule get custom/two.rego), @server ], env => $far )->{out}, $rule =~ s/one/two/r,
    '... the text itself' );
both( 0,  'policy rule get custom/one.rego --json', 'policy rule get --json' );
both( 0,  'policy rule list',                       'policy rule list' );
both( 0,  'policy rule list --json',                'policy rule list --json' );
both( 1,  'policy rule get custom/none.rego',       'policy rule get of an unknown rule' );
both( 64, 'policy rule get ../x',                   'policy rule get of a path that is none' );
my ( $db, $api ) = both(
    1, 'policy rule set custom/one.rego', 'a rule that the engine refuses', apart => 1,
    in => "package custom.one\nallow := x\n" );
like( $api->{err}, qr/^ +2 \| allow := x\n +\| standard input$/m, '... with the line that it names' );
is( alike( $api->{err} ), alike( $db->{err} ), '... the same on standard error' );
both( 1, 'policy rule set svc/one.rego', 'a rule of the service', in => $rule );
both(
    0, 'policy rule set custom/one.rego --json --message why', 'policy rule set --json', apart => 1,
    in => "$rule# 2\n" );
is( ctl( [ qw(bundle history --json --limit 1), @server ], env => $far )->{json}[0]{message},
    'why', '... and the message is in the history' );
both( 0, 'policy rule set custom/one.rego --disabled', 'policy rule set --disabled', apart => 1, in => $rule );
both( 0, 'policy rule delete --yes custom/one.rego',   'policy rule delete',                   apart => 1 );
both( 1, 'policy rule delete --yes custom/one.rego',   'policy rule delete of a deleted rule', apart => 1 );
both( 1, 'policy rule delete --yes svc/decision.rego', 'policy rule delete of a shipped rule' );

# ---- data rows

my $row = 'svc.operator.controls.lifetime';
both( 0,  'policy data set app.one',               'policy data set of a new row', apart => 1, in => '{"a": 1}' );
both( 0,  'policy data set app.one --json',        'policy data set --json',       apart => 1, in => '{"a":2}' );
both( 0,  'policy data set app.one --patch',       'policy data set --patch',      apart => 1, in => '{"b":3}' );
both( 0,  'policy data get app.one',               'policy data get',              apart => 1 );
both( 0,  'policy data get app.one --json',        'policy data get --json' );
both( 0,  'policy data list',                      'policy data list' );
both( 1,  'policy data get app.none',              'policy data get of an unknown row' );
both( 1,  [ qw(policy data get), "x' OR '1'='1" ], 'policy data get of a key that is none' );
both( 1,  'policy data set app.none --patch',      'policy data set --patch of an unknown row', in => '{}' );
both( 1,  'policy data set app.one',               'a payload that is no JSON',                 in => '{' );
both( 64, 'policy data set a..b',                  'a key that is none',                        in => '{}' );
( $db, $api ) = both( 1, "policy data set $row", 'a payload that breaks the schema twice', in => '{"zzz":1,"yyy":2}' );
is( $api->{err}, $db->{err}, '... with both paths' );
both( 1, "policy data set $row --json",      'the same with --json', in => '{"zzz":1}' );
both( 1, 'policy data set svc.new',          'a key of the service', in => '{}' );
both( 1, "policy data delete --yes $row",    'policy data delete of a shipped row' );
both( 0, 'policy data delete --yes app.one', 'policy data delete',                  apart => 1 );
both( 1, 'policy data delete --yes app.one', 'policy data delete of a deleted row', apart => 1 );

# ---- bundles

my $dir = tree(
    'custom/deployed.rego' => "package custom.deployed\nimport rego.v1\nallow := true\n",
    'data/app.d.json'      => '{"x":1}' );
both( 0, "bundle deploy $dir --dry-run", 'bundle deploy --dry-run' );
( $db, $api ) = both( 1, "bundle diff --dir $dir", 'bundle diff --dir' );
is( ctl_is( 0, [ qw(bundle deploy), $dir, qw(--message first), @server ], 'bundle deploy over the API', env => $far )
      ->{out} =~ s/[0-9a-f]{32}/REVISION/r, <<"END", '... prints the counts and the revision' );
rules: 1 added, 0 changed, 0 removed, 0 unchanged, 0 protected
data rows: 1 added, 0 changed, 0 removed, 0 unchanged, 0 protected
REVISION confirmed
END
both( 0,  "bundle deploy $dir",                           'bundle deploy of what is there' );
both( 0,  "bundle deploy $dir --json",                    'bundle deploy --json' );
both( 0,  "bundle diff --dir $dir",                       'bundle diff --dir without a difference' );
both( 1,  "bundle deploy $dir --if-revision " . 'a' x 32, 'bundle deploy after another revision' );
both( 64, "bundle deploy $dir --mode other",              'bundle deploy with a mode that is none' );
my $broken = tree( 'custom/b.rego' => "package custom.b\nimport rego.v1\nallow := x\n" );
both( 1, "bundle deploy $broken", 'bundle deploy of a rule that does not compile' );
( $db, $api ) =
  both( 1, "bundle deploy $broken --opa /nonexistent/opa", '... which the engine of the service refuses' );
like( $api->{err}, qr/^ +3 \| allow := x\n +\| \Q$broken\E\/custom\/b\.rego$/m, '... with the line of the file' );
my $schema = tree( "data/$row.json" => '{"zzz":1}' );
( $db, $api ) = both( 1, "bundle deploy $schema", 'bundle deploy of a row that breaks its schema' );
is( $api->{err}, $db->{err}, '... with the path and the file' );
my $wrong = tree( 'other/b.rego' => "package svc.b\n" );
( $db, $api ) = both( 1, "bundle deploy $wrong", 'bundle deploy of a rule in a package of the service' );

both( 0,  'bundle history',                    'bundle history' );
both( 0,  'bundle history --limit 2',          'bundle history --limit' );
both( 0,  'bundle history --limit 201 --json', 'bundle history of everything' );
both( 64, 'bundle history --limit 0',          'bundle history --limit 0' );
my ($now) = map { $_->{id} } @{ ctl( [qw(bundle history --json --limit 1)], env => $env )->{json} };
both( 0, 'bundle diff 1',                       'bundle diff of an old bundle and the newest' );
both( 0, [ qw(bundle diff 1), $now, '--json' ], 'bundle diff of two bundles' );
both( 1, 'bundle diff 4711',                    'bundle diff of an unknown bundle' );
my ( $one, $two ) = map { tree() } 1, 2;
my $here  = ctl_is( 0, [ qw(bundle pull), $one ], 'bundle pull on the database', env => $env );
my $there = ctl_is( 0, [ qw(bundle pull), $two, @server ], 'bundle pull over the API', env => $far );
is( $there->{out},                $here->{out}, '... prints the same' );
is( scalar qx{diff -r $one $two}, '',           '... and writes the same files' );
both( 0, "bundle rollback $now", 'bundle rollback to the newest' );
my ($before) = map { $_->{id} } grep {
    !grep { $_ eq 'custom/deployed.rego' }
      @{ $_->{rulePaths} }
} @{ ctl( [qw(bundle history --json)], env => $env )->{json} };
my $back = ctl_is( 0, [ qw(bundle rollback), $before, @server ], 'bundle rollback over the API', env => $far );
like( $back->{out}, qr/^rules: 0 added, 0 changed, 1 removed,/, '... restores the bundle' );
both( 1, 'bundle rollback 4711', 'bundle rollback to an unknown bundle' );
ctl_is( 0, [ qw(bundle rollback -m), 'back again', $now, @server ], 'bundle rollback -m over the API', env => $far );
is( ctl( [qw(bundle history --json)], env => $env )->{json}[0]{message}, 'back again', '... keeps the message' );
my $shipped = ctl_is(
    1, [ qw(bundle deploy), tree( 'svc/lib/hooks.rego' => "package svc.lib.hooks\n" ), @server ],
    'bundle deploy of a shipped rule', env => { %$far, AUTHZ_OPA => Authz::Path::opa() } );
like(
    $shipped->{err}, qr/1 shipped rule was not changed: rules below svc belong to the service/,
    '... says that it stays' );

ctl( [qw(policy data set app.d)], env => $env, in => '{}' );
for my $words (
    'policy data set app.x', 'policy data delete --yes app.d', 'policy rule set custom/m.rego',
    'policy rule delete --yes custom/m.rego' )
{
    my $message = "reason of $words";
    ctl_is(
        0, [ split( / /, $words ), '--message', $message, @server ],
        "$words --message over the API", env => $far,
        in => $words =~ /rule/ ? "package custom.m\n" : '{}' );
    is( ctl( [qw(bundle history --json)], env => $env )->{json}[0]{message}, $message, '... keeps the message' );
}

done_testing;

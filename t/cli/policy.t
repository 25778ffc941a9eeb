#!/usr/bin/perl
# policy data list, get, set, delete: rows are checked against their schema before anything is written, then published.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use JSON::PP   ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authzctl;

my $postgres = Authz::Postgres->shared_or_new;
my $name     = $postgres->database;
my $env      = settings( $postgres->url($name) );
my $row      = 'svc.operator.controls.lifetime';
sub sql    { return $postgres->sql( $_[0], $name ) =~ s{\n\z}{}r }
sub stored { return ctl( [ qw(policy data get), $_[0] // $row ], env => $env )->{json} }

# get
my $get = ctl_is( 0, [ qw(policy data get), $row ], 'get', env => $env );
is_deeply(
    $get->{json}, JSON::PP->new->decode( sql("SELECT payload FROM policy_data WHERE data_key = '$row'") ),
    '... prints the payload alone' );
is( ctl( [ qw(policy data get --json), $row ], env => $env )->{json}{dataKey}, $row, 'get --json prints the row' );
for my $key ( 'svc.nothing', '', "x' OR '1'='1", 'svc.operator.controls.LIFETIME' ) {
    my $none = ctl_is( 1, [ qw(policy data get), $key ], "get of the unknown row `$key`", env => $env );
    is( $none->{out}, '', '... prints no payload' );
}

# set: every failing path is named, nothing is saved.
my $revision = sql('SELECT max(id) FROM bundle');
my $default  = $get->{out};
my $two      = ctl_is(
    1, [ qw(policy data set), $row ], 'set of a payload that breaks the schema twice', env => $env,
    in => '{"zzz":1,"yyy":2}' );
like( $two->{err}, qr{^authzctl: standard input: /zzz: }m, '... names the first path' );
like( $two->{err}, qr{^authzctl: standard input: /yyy: }m, '... and the second' );
is_deeply(
    [   map { $_->{path} }
          @{ ctl( [ qw(policy data set --json), $row ], env => $env, in => '{"zzz":1}' )->{json}{failures} } ],
    ['/zzz'],
    '... and with --json as the 422 (specification 7.2)' );
like(
    $two->{err}, qr/standard input does not match the schema of \Q$row\E; nothing was changed\n\z/,
    '... and says that nothing was changed' );
like(
    ctl( [ qw(policy data set), $row ], env => $env, in => '[]' )->{err},
    qr/^authzctl: standard input: \(whole payload\): /m,
    'a payload of the wrong type' );

for my $case (
    [ '',                        'empty input' ],
    [ '{"a":1',                  'JSON that ends early' ],
    [ '{} {}',                   'two values' ],
    [ '{"a":1,"a":2}',           'a repeated member' ],
    [ "{\"a\":\"\xff\"}",        'text that is not UTF-8' ],
    [ '{"a":"\u0000"}',          'a NUL' ],
    [ '[' x 33 . ']' x 33,       'nesting of 33' ],
    [ '"' . 'x' x 8388607 . '"', 'one octet more than 8 MiB' ],
  )
{
    my ( $text, $what ) = @$case;
    my $got = ctl_is( 1, [qw(policy data set free.row -)], "set refuses $what", env => $env, in => $text );
    like(
        $got->{err}, qr/\Aauthzctl: policy data set: standard input: [^\n]+; give one JSON value\n\z/,
        '... in one line' );
}
for my $key ( '.a', 'a.', 'a..b', '', 'a b', 'a/b', "a\n", "\xc3\xa9", 'x' x 257 ) {
    ctl_is(
        64, [ qw(policy data set --), $key ], 'set refuses the key `' . substr( $key, 0, 20 ) . '`', env => $env,
        in => '{}' );
}
my $gone =
  ctl_is( 1, [ qw(policy data set), $row, '/nonexistent/file' ], 'set from a file that is not there', env => $env );
like( $gone->{err}, qr{/nonexistent/file: No such file}, '... names it' );
is( ctl( [ qw(policy data get), $row ], env => $env )->{out}, $default,  'after all these the row is as it was' );
is( sql('SELECT max(id) FROM bundle'),                        $revision, '... and nothing was published' );

# set: what is accepted.
is( ctl_is( 0, [qw(policy data set free.row)], 'nesting of 32', env => $env, in => '[' x 32 . ']' x 32 )->{out} =~
      /pending/, 1, '... is saved' );
ctl_is( 0, [qw(policy data set big.row)], 'a payload of exactly 8 MiB', env => $env, in => '"' . 'x' x 8388606 . '"' );
sql(q{DELETE FROM policy_data WHERE data_key = 'big.row'});
my $file = File::Temp->new;
print {$file} $default;
close $file;
my $saved = ctl_is( 0, [ qw(policy data set), $row, "$file" ], 'set from a file', env => $env );
like( $saved->{out}, qr/\A[0-9a-f]{32} pending\n\z/, 'without an engine: the revision, pending' );
my $new = ctl_is(
    0, [qw(policy data set my.own-row --json)], 'a new row, as JSON', env => $env,
    in => '{"a":{"b":1,"c":2},"d":[1,2]}' );
ok( $new->{json}{created}, '... is created' );
is( $new->{json}{activation}, 'pending', '... not confirmed' );
is( sql("SELECT b.revision FROM bundle b JOIN bundle_state s ON s.served = b.id"), $new->{json}{revision},
    '... and its bundle is served' );
is( sql(q{SELECT b.triggered_by FROM bundle b JOIN bundle_state s ON s.served = b.id}), 'authzctl', '... by authzctl' );

# --patch (RFC 7396)
ctl( [qw(policy data set big.object)], env => $env, in => '{"a":"' . 'x' x 8384000 . '"}' );
ctl_is( 0, [qw(policy data set --patch my.own-row)], 'patch', env => $env, in => '{"a":{"b":null,"e":3},"d":[9]}' );
is_deeply(
    stored('my.own-row'), { a => { c => 2, e => 3 }, d => [9] },
    '... merges objects, removes null, replaces arrays (RFC 7396 section 2)' );
my $absent = ctl_is(
    1, [qw(policy data set --patch not.there)], 'patch of an unknown row', env => $env,
    in => '{"a":1,"b":null}' );
like(
    $absent->{err}, qr/data row 'not\.there' does not exist; omit --patch to create it/,
    '... says how to create one' );
is( sql(q{SELECT count(*) FROM policy_data WHERE data_key = 'not.there'}), '0', '... and makes none' );
my $broken = ctl_is(
    1, [ qw(policy data set --patch), $row ], 'a patch whose result breaks the schema', env => $env,
    in => '{"zzz":1}' );
like( $broken->{err}, qr{/zzz: }, '... names the path' );
is_deeply( stored(), $get->{json}, '... and changes nothing' );

my $grown = ctl_is(
    1, [qw(policy data set --patch big.object)], 'a patch that makes the payload larger than 8 MiB', env => $env,
    in => '{"b":"' . 'y' x 8000 . '"}' );
like( $grown->{err}, qr/larger than 8 MiB/, '... says so' );

sql(q{DELETE FROM policy_data WHERE data_key LIKE 'big.%'});    # each later bundle would carry them

# in_bundle of a row stays what it was.
sql(q{UPDATE policy_data SET in_bundle = false WHERE data_key = 'my.own-row'});
ctl_is(
    0, [qw(policy data set my.own-row)], 'set of a row that is not shipped to the engine', env => $env,
    in => '{}' );
is( sql(q{SELECT in_bundle FROM policy_data WHERE data_key = 'my.own-row'}), 'f', '... leaves it out still' );

# Keys that cannot stand beside others.
ctl_is( 1, [qw(policy data set free.row.below)], 'a key below another row', env => $env, in => '{}' );
is( sql(q{SELECT count(*) FROM policy_data WHERE data_key = 'free.row.below'}), 0, '... is not saved' );

for my $key ( 'system', 'system.log', 'svc', 'svc.mine', 'svc.operator.controls.nothing' ) {
    my $kept = ctl_is( 1, [ qw(policy data set), $key ], "a new row $key", env => $env, in => '{}' );
    like(
        $kept->{err}, qr/belong to the (?:service|policy engine); choose another key/,
        '... belongs to others (policy.md 2.1)' );
}
ctl_is( 0, [qw(policy data set svcs.systems)], 'a key that only begins alike', env => $env, in => '{}' );

# list and delete
my $list = ctl_is( 0, [qw(policy data list)], 'list', env => $env );
like( $list->{out}, qr/\AKEY +BUNDLE +VERSION +UPDATED\n/, '... has headings' );
like(
    $list->{out}, qr/^my\.own-row +false +1 .*\n(?:.*\n)*svc\.entitlements\.bindings +true /m,
    '... and a line for each row, by key' );
is( scalar @{ ctl( [qw(policy data list --json)], env => $env )->{json} }, sql('SELECT count(*) FROM policy_data'),
    '... as JSON' );
like(
    ctl_is( 0, [qw(policy data delete --yes my.own-row)], 'delete', env => $env )->{out},
    qr/\A[0-9a-f]{32} pending\n\z/,
    '... prints revision and state' );
is( sql(q{SELECT count(*) FROM policy_data WHERE data_key = 'my.own-row'}), 0, '... and the row is gone' );
for my $key ( 'my.own-row', 'svc.nothing', '', "x' OR 'a'='a" ) {
    like(
        ctl_is( 1, [ qw(policy data delete --yes --), $key ], "delete of the unknown row `$key`", env => $env )->{err},
        qr/data row '\Q$key\E' does not exist; see `authzctl policy data list`/, '... says so' );
}
like(
    ctl_is( 1, [ qw(policy data delete --yes), $row ], 'delete of a shipped row', env => $env )->{err},
    qr/belongs to a shipped control and cannot be deleted; change its payload instead/, '... is refused' );
is_deeply( stored(), $get->{json}, '... and it is as it was' );

# A save in progress on another host is waited for, then named. 4 is LOCK_POLICY of store/db/keep/locks.h.
my $holder = Authz::Process->start(
    name    => 'holder',
    command => [
        Authz::Path::postgres('psql'), '-X', '-d', $postgres->url($name), '-c', 'SELECT pg_advisory_lock(4, 0)', '-c',
        'SELECT pg_sleep(60)' ],
);
my $save =
  q{FROM pg_locks WHERE database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND locktype = 'advisory' AND classid = 4 AND granted};
ok( defined Authz::Process::until_true( 30, sub { sql("SELECT count(*) $save") > 0 } ), 'another host saves' );
my $waited = ctl_is( 1, [qw(policy data set free.row)], 'set while another host saves', env => $env, in => '{}' );
like(
    $waited->{err}, qr/Another policy save is running; wait until it has finished and run this again/,
    '... says so' );
sql("SELECT pg_terminate_backend(pid) $save");
$holder->stop;
ctl_is( 0, [qw(policy data set free.row)], 'set after that host died', env => $env, in => '{}' );

# Engines that ask for the new bundle and report it confirm the save.
sql(q{INSERT INTO engine_instance (instance, active_revision, code, message, reported_at) VALUES ('one', 'r0-0', '', '', now())}
);
my $reporter = Authz::Process->start(
    name => 'reporter',
    code => sub {
        while (1) {
            sql(q{UPDATE engine_instance SET reported_at = now(), asked_at = now(), active_revision = (SELECT b.revision FROM bundle b JOIN bundle_state s ON s.served = b.id)}
            );
            select undef, undef, undef, 0.1;
        }
    },
);
my $confirmed = ctl_is(
    0, [qw(policy data set free.row)], 'set while the engine reports what it has',
    env => { %$env, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 30_000, SVC_BUNDLE_CONFIRM_POLL_MS => 100 }, in => '{"n":1}' );
like( $confirmed->{out}, qr/\A[0-9a-f]{32} confirmed\n\z/, '... is confirmed' );
$reporter->stop;

done_testing;

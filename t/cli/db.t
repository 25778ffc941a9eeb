#!/usr/bin/perl
# db migrate and db status, and the refusals of a database with another schema.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authzctl;

my $postgres = Authz::Postgres->shared_or_new;
my $name     = $postgres->database( empty => 1 );
my $env      = settings( $postgres->url($name) );

# The migrations of this tree; the number of the last one is the schema's.
my @file   = sort glob Authz::Path::source('sql') . '/*.sql';
my $count  = @file;
my $schema = $file[-1] =~ m{/0*(\d+)_[^/]+\z} ? $1 : die "$file[-1]\n";
sub sql { return $postgres->sql( $_[0], $name ) =~ s{\n\z}{}r }

# An empty database.
my $status = ctl_is( 78, [qw(db status)], 'status of an empty database', env => $env );
like( $status->{out}, qr/0001_foundation\.sql +missing/, '... names the missing migration' );
like( $status->{err}, qr/run `authzctl db migrate`/,     '... and what to do' );
for my $verb ( [qw(keys list)], [qw(admin-key list)], [qw(policy data get svc.x)], ['maintain'] ) {
    like(
        ctl_is( 78, $verb, "@$verb on an empty database", env => $env )->{err}, qr/run `authzctl db migrate`/,
        '... says what to do' );
}

# The first migration prints a line for each of its steps.
my $first = ctl_is( 0, [qw(db migrate)], 'migrate', env => $env );
like(
    $first->{out}, qr/\Aschema: $schema \(migrations applied: $count\)
partitions: (?!0 )\d+ created, 0 dropped
signing keys: created
admin key: SVC_ADMIN_API_KEY registered
policy: (?!0 )\d+ rows written, bundle [0-9a-f]{32}\n\z/, '... a line for each step' );
is( $first->{err},                                '',     '... and no error' );
is( sql('SELECT count(*) FROM schema_migration'), $count, '... the migrations are recorded' );
cmp_ok(
    sql("SELECT count(*) FROM pg_inherits WHERE inhparent = 'access_token'::regclass"), '>=', 24,
    '... token partitions are there' );
is( sql("SELECT string_agg(use || ' ' || state, ', ' ORDER BY use, state) FROM signing_key"),
    'access active, access active, access next, access next, audit active, audit next, oidc active, oidc next, statement active, statement next',
    '... an active and a next key of each use and algorithm' );
is( sql('SELECT managed_by FROM admin_key'), 'environment', '... the configured admin key' );
cmp_ok( sql('SELECT count(*) FROM policy_rule WHERE shipped'), '>', 0, '... shipped rules' );
is( sql("SELECT b.revision ~ '^[0-9a-f]{32}\$' FROM bundle b JOIN bundle_state s ON s.served = b.id"), 't',
    '... and a bundle is served' );

# Again: nothing changes. What an operator changed stays.
my $kids = sql('SELECT string_agg(kid, chr(32) ORDER BY kid) FROM signing_key');
sql(q{UPDATE policy_data SET payload = '{"changed":true}' WHERE data_key = 'svc.operator.controls.environment'});
my $second = ctl_is( 0, [qw(db migrate --json)], 'migrate again, as JSON', env => $env )->{json};
is( $second->{migrationsApplied}, 0, '... no migration' );
ok( !$second->{signingKeysMade}, '... no keys' );
is( sql('SELECT string_agg(kid, chr(32) ORDER BY kid) FROM signing_key'), $kids, '... the same keys' );
is( sql('SELECT count(*) FROM admin_key'),                                1,     '... one admin key' );
is( sql(q{SELECT payload FROM policy_data WHERE data_key = 'svc.operator.controls.environment'}), '{"changed":true}',
    "... the operator's payload" );
is( ctl( [qw(db migrate --quiet)], env => $env )->{out}, '', '... nothing printed with --quiet' );
like( ctl_is( 0, [qw(db status)], 'status now', env => $env )->{out}, qr/applied/, '... is applied' );
is( ctl( [qw(db status --json)], env => $env )->{json}[0]{state}, 'applied', '... in JSON too' );

# Needs only what it needs.
my %bare =
  ( SVC_CONFIG => '/dev/null', SVC_DATABASE_URL => $env->{SVC_DATABASE_URL}, SVC_DATA_DIR => $env->{SVC_DATA_DIR} );
ctl_is( 0, [qw(db status)], 'status needs no secrets',    env => \%bare );
ctl_is( 0, [qw(keys list)], 'keys list needs no secrets', env => { %bare, SVC_RATE_LIMIT_WINDOW => 'nonsense' } );
ctl_is(
    78, [qw(db status)], 'but refuses a file that may hide the address',
    env => { %bare, SVC_CONFIG => '/nonexistent.conf' } );
my $missing = ctl_is( 78, [qw(db migrate)], 'migrate needs all settings', env => \%bare );
like( $missing->{err}, qr/^authzctl: SVC_CREDENTIAL_KEY: is not set/m, '... and names those that are missing' );

# With another credential key the sealed values could not be opened.
my $sealed = ctl_is(
    1, [qw(db migrate)], 'migrate with another credential key',
    env => { %$env, SVC_CREDENTIAL_KEY => 'z' x 20 } );
like( $sealed->{err}, qr/SVC_CREDENTIAL_KEY/, '... names it' );

# Several hosts at once, on a busy machine: each waits for the save lock as long as for a confirmation and 5 s more.
my $both = $postgres->database( empty => 1 );
my @runs = map {
    Authz::Process->start(
        name => "migrate$_", command => [ Authz::Path::program('authzctl'), qw(db migrate) ],
        env  => settings( $postgres->url($both), SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 30_000 ) )
} 1 .. 4;
is( ( grep { ( $_->wait(60) // 'late' ) eq '0' } @runs ), 4, 'four migrations at once all succeed' )
  or diag map { $_->log_text } @runs;
is( $postgres->sql( 'SELECT count(*) FROM signing_key', $both ) =~ s{\n\z}{}r, 10,
    '... two keys of each use and algorithm are made' );
is( $postgres->sql( "SELECT count(*) FROM bundle WHERE status <> 'withdrawn'", $both ) =~ s{\n\z}{}r, 1,
    '... and one bundle' );

# A schema from another program.
sql("UPDATE schema_migration SET checksum = 'edited'");
my $edited = ctl_is( 1, [qw(db status)], 'status when a migration was edited after it was applied', env => $env );
like( $edited->{out}, qr/changed/, '... says so' );
like(
    ctl_is( 1, [qw(db migrate)], 'migrate refuses then', env => $env )->{err}, qr/0001_foundation\.sql differs/,
    '... and names the file' );
sql("INSERT INTO schema_migration (version, name, checksum) VALUES (999, '0999_future.sql', '')");
ctl_is( 0, [qw(keys list)], 'a newer schema that only adds is used (oauth.md 2 "Upgrades")', env => $env );
sql("INSERT INTO schema_migration (version, name, checksum) VALUES (1000, '1000_future.sql', '')");
like(
    ctl_is( 78, [qw(keys list)], 'a newer major schema', env => $env )->{err},
    qr/schema 1000, which programs of schema $schema cannot use; install the newer program/,
    '... is refused (architecture.md 4)' );

# Away.
for my $verb ( [qw(db migrate)], [qw(db status)], [qw(admin-key list)], [qw(policy data get a)] ) {
    my $away = ctl_is(
        69, $verb, "@$verb without a database",
        env => { %$env, SVC_DATABASE_URL => 'postgresql:///x?host=/nonexistent' } );
    like(
        $away->{err},
        qr/\Aauthzctl: [a-z -]+: database: [^\n]*; check that PostgreSQL is running and that SVC_DATABASE_URL is right\n\z/,
        '... says what is wrong and what to do, in one line' );
    is( $away->{out}, '', '... and prints nothing else' );
}
my $wrong = ctl_is(
    78, [qw(db status)], 'an address that libpq does not understand',
    env => { %$env, SVC_DATABASE_URL => 'host=/x password=two words' } );
unlike( $wrong->{err}, qr/words/, '... is not quoted: it may hold the password' );

done_testing;

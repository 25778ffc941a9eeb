#!/usr/bin/perl
# admin-key, keys and maintain on a database.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Postgres ();
use Authz::Stack    ();
use Authzctl;

my $postgres = Authz::Postgres->shared_or_new;
my $name     = $postgres->database;
my $env      = settings( $postgres->url($name) );
sub sql { return $postgres->sql( $_[0], $name ) =~ s{\n\z}{}r }

sub admin_keys { return @{ ctl( [qw(admin-key list --json)], env => $env )->{json} } }

# mint: the key once on standard output, nothing else.
my $mint = ctl_is( 0, [qw(admin-key mint --label ci)], 'mint', env => $env );
like( $mint->{out}, qr/\Aak_[A-Za-z0-9_-]+\n\z/, 'prints the key alone on standard output' );
chomp( my $key = $mint->{out} );
unlike( $mint->{err}, qr/\Q$key\E/, '... and not on standard error' );
like( $mint->{err}, qr/\Aadmin key [0-9a-f-]{36} created; it is not shown again\n\z/, '... which tells its id' );
my $json = ctl( [qw(admin-key mint --json --label=robot)], env => $env );
is_deeply( [ sort keys %{ $json->{json} } ], [qw(id key)], 'mint --json: id and key' );
is( $json->{err}, '', '... and nothing else' );
isnt( $json->{json}{key}, $key, 'two keys differ' );
is( ctl( [qw(admin-key mint --label q -q)], env => $env )->{err}, '', 'mint -q says no more than the key' );

my $list = ctl_is( 0, [qw(admin-key list)], 'list', env => $env );
unlike( $list->{out}, qr/\Q$key\E|\Q$Authz::Stack::KEY{SVC_ADMIN_API_KEY}\E/, 'shows no key' );
is_deeply( [ map { $_->{label} } admin_keys() ], [qw(SVC_ADMIN_API_KEY ci robot q)], 'shows the labels' );
is( sql(q{SELECT count(*) FROM admin_key WHERE encode(sealed, 'escape') LIKE '%ak\_%' OR encode(lookup, 'escape') LIKE '%ak\_%'}
    ),
    0,
    'no key stands in the database as it is' );

for my $case (
    [ '',               64, 'empty' ],
    [ 'x' x 129,        64, 'of 129 characters' ],
    [ "a\nb",           64, 'with a line end' ],
    [ "a\e[2J",         64, 'with an escape' ],
    [ "a\x7f",          64, 'with DEL' ],
    [ "\xff",           64, 'that is not UTF-8' ],
    [ 'x' x 128,        0,  'of 128 characters' ],
    [ "\xc3\xa9" x 128, 0,  'of 128 characters in 256 octets' ],
  )
{
    my ( $label, $status, $what ) = @$case;
    my $before = sql('SELECT count(*) FROM admin_key');
    ctl_is( $status, [ qw(admin-key mint --label), $label ], "mint with a label $what", env => $env );
    is( sql('SELECT count(*) FROM admin_key') - $before, $status == 0 ? 1 : 0,
        '... ' . ( $status == 0 ? 'makes a key' : 'makes none' ) );
}
sql(q{INSERT INTO admin_key (label, managed_by, lookup, sealed) VALUES (E'a\x1b[31m\u009b', 'admin', 'l', 's')});
unlike(
    ctl( [qw(admin-key list)], env => $env )->{out}, qr/\e|\xc2\x9b/,
    'an escape sequence in a stored label does not reach the terminal' );

# Under another credential key the new row would be useless.
my $other = ctl_is(
    1, [qw(admin-key mint --label x)], 'mint with another credential key',
    env => { %$env, SVC_CREDENTIAL_KEY => 'w' x 20 } );
is( $other->{out}, '', '... prints no key' );

# revoke
my ($robot)      = grep { $_->{label} eq 'robot' } admin_keys();
my ($configured) = grep { $_->{managedBy} eq 'environment' } admin_keys();
ctl_is( 0, [ qw(admin-key revoke --yes), $robot->{id} ], 'revoke', env => $env );
ok( ( grep { $_->{id} eq $robot->{id} } admin_keys() )[0]{revokedAt}, '... is revoked' );
like(
    ctl_is( 1, [ qw(admin-key revoke --yes), $configured->{id} ], 'revoke of the configured key', env => $env )->{err},
    qr/SVC_ADMIN_API_KEY/, '... says where it is changed' );
for my $id ( '00000000-0000-0000-0000-000000000000', 'no-uuid', "' OR 1=1 --", '' ) {
    like(
        ctl_is( 1, [ qw(admin-key revoke --yes --), $id ], "revoke of the unknown `$id`", env => $env )->{err},
        qr/no admin key/, '... says so' );
}
is( sql('SELECT count(*) FROM admin_key WHERE revoked_at IS NOT NULL'), 1, 'one key is revoked, no other' );

# Signing keys: a next key must have been published before it signs.
sub signing {
    my %by;
    $by{ $_->{state} } = $_->{kid}
      for grep { $_->{use} eq 'oidc' } @{ ctl( [qw(keys list --json)], env => $env )->{json} };
    return \%by;
}
my $before = signing();
is_deeply( [ sort keys %$before ], [qw(active next)], 'keys list: an active and a next key' );
unlike( ctl( [qw(keys list --json)], env => $env )->{out}, qr/private|sealed|"d"/, '... without private halves' );

# The keys are those of the template database, which is as old as the run of all tests.
sql('UPDATE signing_key SET created_at = now()');
my $early = ctl_is( 1, [qw(keys rotate --yes)], 'rotate before the next key is known to verifiers', env => $env );
like( $early->{err}, qr/Not all verifiers know the next key yet; try again in \d+ seconds/, '... says when' );
is_deeply( signing(), $before, '... and changes nothing' );
sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});
ctl_is( 0, [qw(keys rotate --yes)], 'rotate after SVC_OIDC_JWKS_CACHE_SECONDS', env => $env );
my $after = signing();
is( $after->{active},  $before->{next},   '... the next key signs' );
is( $after->{retired}, $before->{active}, '... the active one is retired' );
ok( defined $after->{next} && $after->{next} ne $before->{next}, '... and there is a new next one' );
sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});
my $locked = ctl_is(
    1, [qw(keys rotate --yes)], 'rotate with another credential key',
    env => { %$env, SVC_CREDENTIAL_KEY => 'w' x 20 } );
is_deeply( signing(), $after, '... makes no key that the service could not open' );

# The same over the admin API.
my $stack = Authz::Stack->start;
my $set   = $stack->settings;
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my @way   = ( [ 'on the database', $set ], [ 'over the API', $far, '--server', $stack->base ] );
for my $use (qw(oidc statement)) {
    for my $way (@way) {
        my ( $where, $its, @more ) = @$way;
        my $list = sub {
            return {
                map  { ( $_->{state} => $_ ) }
                grep { $_->{use} eq $use } @{ ctl( [ qw(keys list --json), @more ], env => $its )->{json} } };
        };
        $stack->sql(q{DELETE FROM signing_key WHERE state = 'retired'});
        $stack->sql(q{UPDATE signing_key SET created_at = now() WHERE state = 'next'});
        my $old = $list->();
        my $wait =
          ctl_is( 1, [ qw(keys rotate --yes --use), $use, @more ], "rotate of $use too early, $where", env => $its );
        like( $wait->{err}, qr/Not all verifiers know the next key yet; try again in \d+ seconds/, '... says when' );
        is( $list->()->{active}{kid}, $old->{active}{kid}, '... and changes nothing' );
        $stack->sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});
        my $done = ctl_is( 0, [ qw(keys rotate --yes --use), $use, @more ], "rotate of $use, $where", env => $its );
        like(
            $done->{out}, qr/^the next keys are now active; the previous ones are retired\nKID +USE +ALG +STATE/,
            '... and the keys' );
        my $new = $list->();
        is( $new->{active}{kid},  $old->{next}{kid},   '... the next key signs' );
        is( $new->{retired}{kid}, $old->{active}{kid}, '... the active one is retired' );
        ok( $new->{retired}{publishedUntil} gt $new->{retired}{retiredAt},      '... and published for a while' );
        ok( $new->{active}{ageSeconds} < 60 && $old->{active}{ageSeconds} >= 0, '... ages begin with the state' );
        is( $new->{active}{alg}, 'RS256', '... the algorithm' );
        is( ctl( [ qw(keys list), @more ], env => $its )->{out} =~ tr/\n//, keys(%$new) + 9,
            '... of eleven keys with a head' );
        ctl_is( 64, [ qw(keys rotate --yes --use other), @more ], "another use, $where", env => $its );
        is( $stack->sql(
                q{SELECT client_id || ' ' || (request_summary::json ->> 'keyUse') FROM audit_log WHERE operation = 'rotateKeys' AND outcome = 'allowed' ORDER BY id DESC LIMIT 1}
            ),
            ( @more ? 'SVC_ADMIN_API_KEY' : 'authzctl' ) . " $use",
            '... the audit row says who rotated what' );
    }
}
my $text = $stack->admin( GET => '/admin/api/keys' )->text;
unlike( $text, qr/private|sealed|"[ndepq]":/, 'the list of the API has no key material' );
is( $stack->admin( GET  => '/admin/api/keys',        key => undef )->status, 401, '... and is for administrators' );
is( $stack->admin( POST => '/admin/api/keys/rotate', key => undef )->status, 401, '... as the rotation is' );
for my $bad ( { use => 'other' }, { use => 1 }, { use => '' }, { kid => 'x' }, [] ) {
    is( $stack->admin( POST => '/admin/api/keys/rotate', json => $bad )->status, 400, 'the API refuses a wrong body' );
}
$stack->sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});
my $kids = sub { return $stack->sql(qq{SELECT kid FROM signing_key WHERE state = 'active' AND use = '$_[0]'}) };
my %was  = map { ( $_ => $kids->($_) ) } qw(oidc statement);
is( $stack->admin( POST => '/admin/api/keys/rotate' )->status, 200,
    'without a body the keys of ID tokens are rotated' );
isnt( $kids->('oidc'), $was{oidc}, '... which have another active key' );
is( $kids->('statement'), $was{statement}, '... and those of statements have not' );

# maintain runs what is due and what is not.
sql(q{UPDATE signing_key SET retired_at = now() - interval '2 days' WHERE state = 'retired'});
sql( 'SELECT partition_create(q.t, q.n) FROM (VALUES (' . q{'access_token', 5), ('access_token', 6)) q(t, n)} );
my $maintain = ctl_is( 0, ['maintain'], 'maintain', env => $env );
is( $maintain->{out}, "housekeeping: done\n", '... says that it is done' );
is( sql(q{SELECT to_regclass('access_token_p5') IS NULL AND to_regclass('access_token_p6') IS NULL}), 't',
    '... past partitions are dropped' );
is( signing()->{retired}, undef, '... the retired key is removed after its publication' );
like( $maintain->{err}, qr/partitions: \d+ created, 2 dropped/, '... and the log tells' );
my $quiet = ctl_is( 0, [qw(maintain -q)], 'maintain -q, for cron', env => $env );
is( $quiet->{out} . $quiet->{err}, '', '... is silent' );

done_testing;

# The clock of a host is wrong, and jumps. The database decides what has expired, so nothing expired is honoured and nothing live is
# refused while the clocks differ by two minutes or by an hour (performance.md R12).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Clock ();
use Authz::Path  ();
use Authz::Stack ();

# Seconds that a token lives by default, and that are left of one of a clock that is too late.
my ( $VALID, $LEFT ) = ( 3600, 4 );

my $program = Authz::Path::program('authz.fcgi');
plan skip_all => 'a library of the sanitizers must come first' if `ldd $program` =~ /lib[au][sb]an/;
my $clock = Authz::Clock->new or plan skip_all => 'no compiler';
my $stack = Authz::Stack->start( settings => { $clock->env } );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );

sub token { return $stack->token_text( @{ $_[0] }, scope => 'orders.read' ) }
sub look  { return $stack->introspect( @rs, $_[0] ) }
my $held = token( \@crm );

for my $case ( [ 120, 'two minutes ahead' ], [ -120, 'two minutes late' ], [ -3000, 'a jump back of most of an hour' ] )
{
    my ( $seconds, $name ) = @$case;
    $clock->set($seconds);
    my $before = time;
    my $answer = $stack->token( @crm, scope => 'orders.read' );
    oauth_ok( $answer, {}, "$name: a token" );
    cmp_ok( $answer->member('expires_in'), '>', 0, "$name: expires_in is positive" );
    my $new = $answer->member('access_token');
    my $exp = look($new)->member('exp') // 0;
    ok( $exp >= $before + $seconds + $VALID - 1 && $exp <= time + $seconds + $VALID + 1,
        "$name: the clock of the host is the wrong one, and that of the database is right" ) or diag( $exp - $before );
    oauth_ok( look($held), { active => true }, "$name: a token of before is active" );
    oauth_ok( look($new),  { active => true }, "$name: so is the new one" );
    is( $stack->revoke( @crm, token => $new )->status, 200, "$name: it is revoked" );
    inactive( look($new), "$name: and ends" );
    my $single = token( \@once );
    oauth_ok( look($single), { active => true }, "$name: a single-use token is shown" );
    inactive( look($single), "$name: once" );
}

# Issued by a clock that is late by nearly its life: the host believes that it lives for an hour.
$clock->set( $LEFT - $VALID );
my ( $short, $late ) = ( token( \@crm ), token( \@once ) );
oauth_ok( look($short), { active => true }, 'a late clock: the token is active for the rest of its life' );
sleep $LEFT + 1;
inactive( look($short), 'a late clock: the token has expired by the clock of the database' );
inactive( look($late),  'a late clock: so has a single-use one' );
is( $stack->revoke( @crm, token => $short )->status, 200, 'a late clock: revoking it is nothing' );
$clock->set(0);
inactive( look($short), 'the clock is right again: it stays so' );
oauth_ok( look($held), { active => true }, 'the clock is right again: the token of before is active' );

# A clock that is hours or days wrong: the token of before lives by the clock of the database, so it is revoked. Each time workers
# decide that know the partitions, and workers that have just begun.
for my $case (
    [ 5 * 3600,    'five hours ahead' ],
    [ 3 * 86400,   'three days ahead' ],
    [ -3 * 86400,  'three days late' ],
    [ -90 * 86400, 'three months late' ] )
{
    my ( $seconds, $name ) = @$case;
    for my $who ( 'old workers', 'new workers' ) {
        my $token = token( \@crm );
        $stack->restart_service if $who eq 'new workers';
        $clock->set($seconds);
        is( $stack->revoke( @crm, token => $token )->status, 200, "$name, $who: the token is revoked" );
        $clock->set(0);
        inactive( look($token), "$name, $who: ... and has ended" );
    }
    oauth_ok( look($held), { active => true }, "$name: another token lives" );
}
like(
    $stack->{service}->log_text,
    qr/clock is wrong.*the clock of this host is \d+ s (?:ahead of|behind) .*the database, .*: set both by NTP/,
    'the log says that the clock is wrong, and what to do' );

# Housekeeping drops by the clock of the database too.
my $held_in = 'access_token_p' . int( ( look($held)->member('exp') - 1_767_225_600 ) / 3600 );
my $past    = 'access_token_p1';
$stack->sql(q{SELECT partition_create('access_token', 1)});
$clock->set( 40 * 86400 );
my ( $status, $text ) = $stack->authzctl(qw(maintain));
is( $status, 0, 'forty days ahead: housekeeping runs' ) or diag($text);
is( $stack->sql("SELECT to_regclass('$held_in') IS NOT NULL"), 't', '... and drops no partition with live tokens' );
$clock->set(0);
oauth_ok( look($held), { active => true }, '... so a token of before lives' );

# Which of both clocks is wrong is not known to it. What it dropped would be gone.
is( $stack->sql("SELECT to_regclass('$past') IS NOT NULL"), 't', 'clocks that are days apart: nothing is dropped' );
$clock->set( 86400 - 60 );
( $status, $text ) = $stack->authzctl(qw(maintain));
is( $status,                                            0, 'less than a day apart: housekeeping runs' ) or diag($text);
is( $stack->sql("SELECT to_regclass('$past') IS NULL"), 't', '... and drops what is past' );

# Both clocks are lost, as on a machine without a battery. PARTITION_EPOCH is 2026-01-01.
my $begin = 1_767_225_600;
sub partitions { return $stack->sql(q{SELECT count(*) FROM pg_class WHERE relname ~ '_p[0-9]+$' AND relkind = 'r'}) }
for my $case ( [ -86400, 'in 2025' ], [ 3599, 'in the first hour of 2026' ] ) {
    my ( $since, $name ) = @$case;
    my $had = partitions();
    $stack->sql(
        'CREATE SCHEMA IF NOT EXISTS lost; CREATE OR REPLACE FUNCTION lost.now() RETURNS timestamptz LANGUAGE sql AS '
          . "'SELECT to_timestamp($begin + $since)'; ALTER DATABASE $stack->{database} SET search_path = public, lost, pg_catalog"
    );
    $clock->set( $begin + $since - time );
    ( $status, $text ) = $stack->authzctl(qw(maintain));
    isnt( $status, 0, "both clocks $name: housekeeping is refused" );
    like( $text, qr/the clock of the database is before 2026: set it by NTP/, '... and says what to do' );
    $clock->set(0);
    $stack->sql("ALTER DATABASE $stack->{database} RESET search_path");
    is( partitions(), $had, '... and nothing is dropped' );
}
unlike( $stack->{service}->log_text, qr/worker ended/, 'all of it by the same processes' );

done_testing;

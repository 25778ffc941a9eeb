# Clients that registered themselves and are not used any more are removed (decisions.md "Clients and registration": unused DCR
# and CIMD clients; oauth.md 2 "Reaper", 5 "Transitions"): the day of the last token is kept, once a day and without a trip of
# its own, and what still has a living family stays.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( workers => 1, pg_proxy => 1 );
my $cc    = { grants => ['client_credentials'], scopes => ['orders.read'] };

# A client of the admin API, then of another registration.
sub client_of {
    my ( $registration, $id ) = @_;
    my @client = $stack->make_client( $id, $cc );
    $stack->sql("UPDATE client SET registration_type = '$registration' WHERE client_id = '$id'");
    return @client;
}

sub used_on {
    return $stack->sql(
        "SELECT used_on || ' ' || u.xmin FROM client_use u JOIN client c ON c.id = u.client WHERE client_id = '$_[0]'");
}
sub is_there { return $stack->sql("SELECT count(*) FROM client WHERE client_id = '$_[0]'") }
my $today = q{(now() AT TIME ZONE 'UTC')::date};

# ---- the day of the last token

my %who = map { ( $_ => [ client_of( $_, lc $_ ) ] ) } qw(ADMIN DCR STATEMENT CIMD);
for my $kind ( sort keys %who ) {
    my ( $id, $secret ) = @{ $who{$kind} };
    oauth_error( $stack->token( $id, "x$secret" ), 401, 'invalid_client', "$kind: a wrong secret is refused" );
    oauth_error( $stack->token( $id, $secret, scope => 'no' ), 400, 'invalid_scope', "$kind: policy denies" );
    is( used_on($id), '', "$kind: no token, no use" );
    oauth_ok( $stack->token( $id, $secret ), {}, "$kind: a token" );
    my $used = used_on($id);
    if ( $kind eq 'ADMIN' ) { is( $used, '', "ADMIN: the use of the administrator's clients is not kept: they stay" ) }
    else                    { like( $used, qr/\A\d{4}-\d\d-\d\d \d+\z/, "$kind: the day of the token is kept" ) }
}
is( $stack->sql("SELECT count(*) FROM client_use WHERE used_on <> $today"), 0, 'the day is that of UTC' );

my @dcr   = @{ $who{DCR} };
my $first = used_on('dcr');
my @trips =
  grep {/token_insert/} $stack->proxy->trips( sub { oauth_ok( $stack->token(@dcr), {}, 'DCR: a second token' ) } );
is( scalar @trips, 1, '... in one trip' );
unlike( "@trips", qr/client_use/, '... and its use is not marked again by this process' );
$stack->restart_service;
@trips = grep {/token_insert/}
  $stack->proxy->trips( sub { oauth_ok( $stack->token(@dcr), {}, 'DCR: the first token of another process' ) } );
like( "@trips", qr/client_use_mark.*token_insert/s, '... marks the use in the trip that issues the token' );
is( scalar @trips,  1,      '... with no trip of its own' );
is( used_on('dcr'), $first, '... and the row of today is not written again: one write a day' );
$stack->sql("UPDATE client SET client_name = 'renamed' WHERE client_id = 'dcr'");
@trips =
  grep {/token_insert/} $stack->proxy->trips( sub { oauth_ok( $stack->token(@dcr), {}, 'DCR: its row has changed' ) } );
unlike( "@trips", qr/client_use/, '... to read it again is no reason to mark its use again' );
$stack->sql("UPDATE client_use SET used_on = used_on - 3");
$stack->restart_service;
oauth_ok( $stack->token(@dcr), {}, 'DCR: a token three days later' );
is( $stack->sql("SELECT used_on = $today FROM client_use u JOIN client c ON c.id = u.client WHERE client_id = 'dcr'"),
    't', '... moves the day on' );
$stack->sql("UPDATE client_use SET used_on = used_on + 9");
$stack->restart_service;
oauth_ok( $stack->token(@dcr), {}, 'DCR: a token under a clock that is behind' );
is( $stack->sql(
        "SELECT used_on = $today + 9 FROM client_use u JOIN client c ON c.id = u.client WHERE client_id = 'dcr'"),
    't',
    '... does not move the day back' );

# ---- clients that are removed

$stack->sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://idp.example', 'ann')});
$stack->sql(q{INSERT INTO identity_provider (idp_id, issuer) VALUES ('corp', 'https://idp.example')});

# A client by SQL: born so many days ago, last used so many days ago (undef: never).
sub make {
    my ( $id, $registration, $born, $used ) = @_;
    my $type = $registration eq 'CIMD' ? 'public' : 'confidential';
    $stack->sql(
        "INSERT INTO client (client_id, client_type, registration_type, created_at) VALUES ('$id', '$type', '$registration', now() - interval '$born')"
    );
    $stack->sql("INSERT INTO client_use SELECT id, $today - $used FROM client WHERE client_id = '$id'")
      if defined $used;
    return;
}

# A family of it: when it ends, when it ends unused, and whether it was revoked.
sub family {
    my ( $id, $ends, $idle, $revoked ) = @_;
    $revoked = $revoked ? 'now()' : 'NULL';
    $stack->sql( <<"SQL" );
INSERT INTO token_grant (id, code_hash, code_expires_at, redeemed_at, revoked_at, client, subject, idp, sid, flow_id, redirect_uri, auth_time,
  with_auth_time, created_at, idle_expires_at, expires_at)
SELECT gen_random_uuid(), '\\x00', now() - interval '40 days', now() - interval '40 days', $revoked, c.id, 'ann', p.id, 'sid', gen_random_uuid(),
  'https://a.example/', now(), false, now() - interval '40 days', now() + interval '$idle', now() + interval '$ends'
  FROM client c, identity_provider p WHERE c.client_id = '$id'
SQL
    return;
}

sub maintain {
    my (%setting) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'maintain', env => { %{ $stack->settings }, %setting },
        command => [ Authz::Path::program('authzctl'), 'maintain' ] );
    is( $status, 0, 'maintain runs' ) or diag($text);
    return $stack->sql("SELECT outcome FROM job WHERE name = 'idle_clients'");
}

my @case = (

    # name, registration, born, used, family [ends, idle, revoked], stays, why
    [ 'never',       'DCR',  '31 days', undef, undef,                                    0, 'DCR, old, never used' ],
    [ 'cimd',        'CIMD', '31 days', undef, undef,                                    0, 'CIMD, old, never used' ],
    [ 'used',        'DCR',  '90 days', 31,    undef,                                    0, 'used 31 days ago' ],
    [ 'dead',        'CIMD', '90 days', 40,    [ '-1 day', '1 day' ],                    0, 'its family has ended' ],
    [ 'idle-family', 'CIMD', '90 days', 40,    [ '9 days', '-1 day' ],                   0, 'its family was not used' ],
    [ 'revoked',     'CIMD', '90 days', 40,    [ '9 days', '9 days', 1 ],                0, 'its family was revoked' ],
    [ 'young',       'DCR',  '28 days', undef, undef,                                    1, 'born 28 days ago' ],
    [ 'edge-born', 'DCR',    '29 days 23 hours 50 minutes', undef, undef,                1, 'born almost 30 days ago' ],
    [ 'edge-used', 'CIMD',   '90 days',                     30,    undef,                1, 'used 30 days ago' ],
    [ 'live',      'CIMD',   '90 days',                     40,    [ '1 day', '1 day' ], 1, 'it has a living family' ],
    [ 'admin',     'ADMIN',  '900 days',                    undef, undef,                1, "the administrator's" ],
    [ 'statement',   'STATEMENT', '900 days',               undef, undef, 1, 'registered with a software statement' ],
    [ 'statement-2', 'STATEMENT', '900 days',               800,   undef, 1, 'the same, used long ago' ],
);
for my $case (@case) {
    my ( $name, $registration, $born, $used, $family ) = @$case;
    make( "r-$name", $registration, $born, $used );
    family( "r-$name", @$family ) if $family;
}
$stack->sql(
    q{INSERT INTO consent (subject, client, what, redirect_host, scope) SELECT 'ann', id, '\x01', 'a.example', '' FROM client WHERE client_id = 'r-dead'}
);
like( maintain( SVC_DYNAMIC_CLIENT_IDLE_DAYS => 0 ), qr/\A0 idle clients removed\z/, '0 days: nobody is removed' );
is( is_there('r-never'), 1, '... indeed' );
my $gone = grep { !$_->[5] } @case;
like( maintain(), qr/\A$gone idle clients removed\z/, 'the job says how many it removed' );
for my $case (@case) {
    my ( $name, $stays, $why ) = @$case[ 0, 5, 6 ];
    is( is_there("r-$name"), $stays, ( $stays ? 'stays: ' : 'is removed: ' ) . $why );
}
is( $stack->sql(q{SELECT count(*) FROM consent}), 0, 'what was allowed to it goes with it' );
is( $stack->sql(q{SELECT count(*) FROM client_use u WHERE NOT EXISTS (SELECT 1 FROM client WHERE id = u.client)}), 0,
    '... and the mark of its last use' );
like(
    maintain( SVC_DYNAMIC_CLIENT_IDLE_DAYS => 29 ), qr/\A2 idle clients removed\z/,
    'the setting counts: at 29 days two more go' );
is( is_there('r-young') . is_there('r-live'), '11', '... and not who is younger, nor who has a family' );

# ---- a room that is full (client_room.t has what makes room)

$stack->sql(q{DELETE FROM client WHERE registration_type <> 'ADMIN'});
make( 'f-old',  'DCR',  '29 days' );
make( 'f-cimd', 'CIMD', '29 days' );
like(
    maintain( SVC_DYNAMIC_CLIENTS_MAX => 1 ), qr/\A0 idle clients removed\z/,
    'clients keep their time, however full the room is: they make room when another one registers' );
is( join( '', map { is_there("f-$_") } qw(old cimd) ), '11', '... indeed' );

# ---- many, and some that are held

$stack->sql(
    q{INSERT INTO client (client_id, client_type, registration_type, created_at) SELECT 'm-' || n, 'public', 'CIMD', now() - interval '99 days' FROM generate_series(1, 1001) n}
);
like( maintain(), qr/\A1001 idle clients removed\z/, 'more than two batches of 500 go in one run' );

make( 'h-held', 'DCR', '99 days' );
make( 'h-free', 'DCR', '99 days' );

# A psql that does this and sleeps; returns once it has begun to sleep.
sub holder {
    my ($sql) = @_;
    my $process = Authz::Process->start(
        name    => 'holder' . ++( our $holders ),
        command => [
            Authz::Path::postgres('psql'), qw(-X -q -U postgres -v ON_ERROR_STOP=1 -h), $stack->{postgres}->socket,
            '-p', $Authz::Postgres::PORT, '-d', $stack->{database}, '-c', $sql ] );
    my $begun = Authz::Process::until_true(
        30,
        sub {
            $stack->sql(
                q{SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'});
        } );
    die "the holder does not begin\n" if !defined $begun;
    return $process;
}
my $holder =
  holder(q{BEGIN; SELECT id FROM client WHERE client_id = 'h-held' FOR KEY SHARE; SELECT pg_sleep(60); COMMIT});
like( maintain(), qr/\A1 idle clients removed\z/, 'a row that somebody works on is left, and not waited for' );
is( is_there('h-held') . is_there('h-free'), '10', '... the other goes' );
$stack->sql(
    q{SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'}
);
$holder->wait(10);
like( maintain(), qr/\A1 idle clients removed\z/, '... and it goes the next time' );

# ---- a token that comes while its client is removed

my @late = client_of( 'DCR', 'late' );
oauth_ok( $stack->token(@late), {}, 'a client that has a token' );
$stack->sql('DELETE FROM client_use');
$stack->restart_service;
my $remover = holder(
    q{BEGIN; SELECT id FROM client WHERE client_id = 'late' FOR UPDATE; SELECT pg_sleep(2); DELETE FROM client WHERE client_id = 'late'; COMMIT}
);
my $start = time;
oauth_error(
    $stack->token(@late), 401, 'invalid_client',
    'a token that is asked for while the client is removed waits, and is not given' );
cmp_ok( time - $start, '>', 0.5, '... it did wait' );
$remover->wait(10);
is( is_there('late'), 0, '... for the client is gone' );

done_testing;

# Ended sessions and sign-ins are removed at the times of SVC_SESSION_CLEANUP_CRON (specification 8).
# SVC_CREDENTIAL_KEY_DISCARD_PER_USER acts once per start of the parent process (decisions.md "Settings read once").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $base = $stack->base;
my $back = 'https://app.example/cb';
$stack->make_client( 'crm', { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] );

sub sign_in {
    my $browser = Authz::Browser->new;
    $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type => 'code', client_id => 'crm', redirect_uri => $back,
            scope         => 'openid' ),
        stop => qr{\A\Q$back\E} );
    like( $browser->url, qr/code=ac_/, '(signed in)' );
    return;
}
sub count  { return $stack->sql("SELECT count(*) FROM $_[0]") }
sub run_at { return $stack->sql("SELECT extract(epoch FROM ran_at) FROM job WHERE name = 'sessions'") || 0 }

sub await {
    my ($true) = @_;
    my $until = time + 30;
    sleep 0.1 while !$true->() && time < $until;
    return $true->();
}

# ---- the schedule

sub check {
    my ($cron) = @_;
    return Authz::Process->run(
        name    => 'check', env => { %{ $stack->settings }, SVC_SESSION_CLEANUP_CRON => $cron },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
}
for my $cron ( '', '* * * *', '60 * * * *', 'hourly', '0 0 30 2 *' ) {
    my ( $status, $text ) = check($cron);
    is( $status, 78, "SVC_SESSION_CLEANUP_CRON=\"$cron\" is refused at start" );
    like(
        $text, qr/^authz\.fcgi: SVC_SESSION_CLEANUP_CRON: [^\n]+; for example, "/m,
        '... with the name, what is wrong and what to do' );
}
is( ( check('0 */5 * * * ?') )[0], 0, 'six fields, seconds first, are taken (decisions.md "Settings read once")' );

ok( await( sub { run_at() } ), 'the job runs' );
is( $stack->sql(
        "SELECT extract(minute FROM due_at)::integer % 5 = 0 AND extract(second FROM due_at) < 3 AND due_at BETWEEN ran_at AND ran_at + interval '5 minutes 3 seconds' FROM job WHERE name = 'sessions'"
    ),
    't',
    'it is due every five minutes (the default)'
) or diag( $stack->sql("SELECT due_at, ran_at FROM job WHERE name = 'sessions'") );
$stack->sql("UPDATE job SET due_at = now() + interval '30 seconds' WHERE name = 'sessions'");
my $ran = run_at();
$stack->restart_service;
sleep 1;
is( run_at(), $ran, 'it does not run before it is due' );
$stack->sql("UPDATE job SET due_at = now() + interval '1 year' WHERE name = 'sessions'");
$stack->restart_service( settings => { SVC_SESSION_CLEANUP_CRON => '30 4 * * *' } );
ok( await( sub { run_at() > $ran } ), 'a schedule that was changed counts at once' );
is( $stack->sql("SELECT to_char(due_at AT TIME ZONE 'UTC', 'HH24:MI') FROM job WHERE name = 'sessions'"), '04:30',
    '... in UTC' );

# ---- what is removed

sign_in() for 1, 2;    # two sessions, and two sign-ins that were taken and have not expired (world.md F2)
my $many = 1203;       # more than two batches of 500
$stack->sql(<<"END");
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, expires_at)
  SELECT sha256(n::text::bytea), 'old' || n, 'ann', p.id, now(), now() - interval '1 second' FROM generate_series(1, $many) n, identity_provider p;
INSERT INTO sign_in (state_hash, browser_hash, idp, nonce, verifier_sealed, request, expires_at)
  SELECT sha256(n::text::bytea), 'x', p.id, 'n', 'v', '{}', now() + make_interval(secs => CASE WHEN n <= 600 THEN -1 ELSE 600 END) FROM generate_series(1, 601) n, identity_provider p;
INSERT INTO consent_request (id_hash, session, request, expires_at)
  SELECT sha256(n::text::bytea), (SELECT id_hash FROM browser_session WHERE sid NOT LIKE 'old%' LIMIT 1), '{}', now() + make_interval(secs => CASE WHEN n <= 600 THEN -1 ELSE 600 END) FROM generate_series(1, 601) n;
END
is( join( ' ', map { count($_) } qw(browser_session sign_in consent_request) ), ( $many + 2 ) . ' 603 601',
    '(rows that are over, and some that are not)' );
my ( $status, $text ) = $stack->authzctl('maintain');
is( $status, 0, 'maintain runs the job' ) or diag($text);
is( join( ' ', map { count($_) } qw(browser_session sign_in consent_request) ), '2 3 1',
    'everything that has ended is removed, in batches, and nothing that has not' );
is( count('subject'), 1, 'subjects stay' );
like( $stack->sql("SELECT outcome FROM job WHERE name = 'sessions'"), qr/\A2403 /, '... and the count is recorded' );

# ---- SVC_CREDENTIAL_KEY_DISCARD_PER_USER

my %on = ( SVC_CREDENTIAL_KEY_DISCARD_PER_USER => 'true' );
Authz::Process->run(
    name    => 'check', env => { %{ $stack->settings }, %on },
    command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
Authz::Process->run(
    name    => 'authzctl', env => { %{ $stack->settings }, %on },
    command => [ Authz::Path::program('authzctl'), 'maintain' ] );
is( count('browser_session'), 2, '--check and authzctl discard nothing' );
$stack->admin(
    POST => '/admin/api/managed-resources',
    json => { name => 'crm', displayName => 'CRM', upstreamType => 'STATIC', routes => [] } );
$stack->sql(
    q{INSERT INTO upstream_token (resource_id, version, token_sealed, expires_at, owner) SELECT id, 1, 'x', now() + interval '1 hour', owner}
      . q{ FROM managed_resource, (VALUES (''::bytea), ('a person')) AS o (owner)} );
is( count('upstream_token'), 2, 'the service and a person have a token at an upstream' );
$stack->restart_service( settings => \%on );
is( count('upstream_token'), 1, '... and that of the person is discarded' );
is( join( ' ', map { count($_) } qw(browser_session sign_in consent_request) ), '0 0 0',
    'SVC_CREDENTIAL_KEY_DISCARD_PER_USER: sessions and sign-ins are gone at start' );
is( $stack->sql("SELECT outcome || request_summary FROM audit_log WHERE operation = 'discardPerUser'"),
    'allowed{"sessions":2,"signIns":3,"connections":0,"links":0}', '... audited once, with the counts' );
like( $stack->{service}->log_text, qr/DISCARD_PER_USER: 2 browser sessions, 3 sign-ins/, '... and logged' );
sign_in();
my @worker = $stack->workers;
kill KILL => @worker;
ok( await(
        sub {
            my %old = map { ( $_ => 1 ) } @worker;
            my @now = $stack->workers;
            @now && !grep { $old{$_} } @now;
        } ),
    '(all workers are new)' );
$stack->await_ready;
is( count('browser_session'), 1, '... once per start of the parent, not of a worker' );
$stack->restart_service;
is( count('browser_session'), 0, '... and again at the next start' );
is( count('subject'),         1, 'subjects stay' );

done_testing;

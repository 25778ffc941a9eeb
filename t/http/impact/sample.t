# More recorded decisions than are looked at: a sample, what it says of all, and limits held against that; and a stored measurement
# that counts for the save (policy.md I13, G2, G3, G6).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path  ();
use Authz::Stack ();

my $where = '/admin/api/policy-impact';
my $rules = '/admin/api/policy-rules/by-path';
my $stack =
  Authz::Stack->start(
    settings => { SVC_OPA_BINARY => Authz::Path::opa(), SVC_IMPACT_DECISIONS => 1000, SVC_IMPACT_SECONDS => 300 } );
my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [ 'read', 'write' ] } );
$stack->token( @crm, scope => $_ ) for 'read', 'write';
$stack->sql(<<'SQL');
INSERT INTO audit_log (created_at, id, request_id, client_id, subject_id, endpoint, operation, method, http_status, outcome,
       policy_input, policy_decision)
SELECT s.created_at, nextval('audit_id_seq'), lpad(to_hex(i), 32, '0'), s.client_id, s.subject_id, s.endpoint, s.operation,
       s.method, s.http_status, s.outcome, s.policy_input, s.policy_decision
  FROM generate_series(1, 999) i, (SELECT * FROM audit_log WHERE endpoint = '/token') s
SQL

sub rule {
    my ($when) = @_;
    my $text = qq{package custom.issue\n\ndeny contains {"code": "no_way", "category": "policy"} if $when\n};
    return { path => 'custom/issue.rego', content => $text };
}

sub impact {
    my ( $when, %more ) = @_;
    return $stack->measured( POST => $where, json => { rule => rule($when), examples => 0, %more } );
}

sub save {
    my ( $when, $query ) = @_;
    return $stack->admin( PUT => "$rules?$query", json => { %{ rule($when) }, kind => 'rego', version => '1' } );
}
sub runs { return $stack->sql('SELECT count(*) FROM policy_impact') }

# ---- which rows, and what they say of all

my $write  = '"write" in input.scopes.requested';
my $answer = impact( $write, decisions => 400 );
admin_ok( $answer, 200, { state => 'done', truncated => sub { !$_[0] } }, 'a sample of 400' );
my $got     = $answer->json;
my $sampled = $got->{sampled};
my $hash    = sprintf '(hashint8extended(id, %d) & 9223372036854775807) < (%.17g::float8 * 2::float8 ^ 63)::bigint',
  @$sampled{qw(seed p)};
is( $sampled->{selected}, $stack->sql("SELECT count(*) FROM audit_log WHERE id <= $got->{asOf}"),
    '... of all rows (policy.md I13)' );
ok( abs( $sampled->{p} - 400 / $sampled->{selected} ) < 1e-9, '... each with the probability of 400 of them' );
is( $sampled->{taken}, $stack->sql("SELECT count(*) FROM audit_log WHERE id <= $got->{asOf} AND $hash"),
    '... chosen by the hash of its id' );
is( $got->{looked},
    $stack->sql("SELECT count(*) FROM audit_log WHERE id <= $got->{asOf} AND policy_input IS NOT NULL AND $hash"),
    '... and all of them are looked at' );
my $bounds   = $got->{estimates}{newlyDenied};
my $estimate = int( $got->{newlyDenied} / $sampled->{taken} * $sampled->{selected} + 0.5 );
is( $bounds->{estimate}, $estimate, 'an estimate is in proportion' );
cmp_ok( $bounds->{upper}, '>', $estimate, '... and the upper bound is above it' );
is( $got->{estimates}{newlyAllowed}{estimate}, 0, 'of what was not seen the estimate is 0' );
cmp_ok( $got->{estimates}{newlyAllowed}{upper}, '>', 0, '... and the bound is not: never none' );

my $one = impact( $write, filter => { clientId => 'none' } );
admin_ok( $one, 200, { looked => 0, empty => sub { $_[0] } }, 'a filter that nothing in a sample matches' );
ok( defined $one->member('estimates')->{same}{upper}, '... still has bounds' );
is( impact( $write, decisions => 1 )->status, 200, 'a sample of one row, which may be none' );
my $past = impact( $write, until => '2026-01-02T00:00:00Z', since => '2026-01-01T00:00:00Z', decisions => 1 );
ok( !defined $past->member('sampled'), 'a period without rows is no sample' );

# ---- counting, which is part of the time of a run

my $brief = Authz::Stack->start(
    beside   => $stack,
    settings => { SVC_OPA_BINARY => Authz::Path::opa(), SVC_IMPACT_SECONDS => 5 } );

# The first note of a run that has decided nothing takes longer than the run may.
$stack->sql(<<'SQL');
CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(5.5); RETURN NEW; END';
CREATE TRIGGER linger BEFORE UPDATE OF looked ON policy_impact FOR EACH ROW WHEN (NEW.state = 'running' AND NEW.looked = 0)
       EXECUTE FUNCTION linger()
SQL
my $late = $brief->measured( POST => $where, json => { rule => rule($write) } );
admin_ok(
    $late, 200,
    {   state     => 'done', looked => 0, truncated => sub { $_[0] }, empty => sub { !$_[0] }, sampled => undef,
        estimates => undef },
    'counting_in_time: the rows are counted within SVC_IMPACT_SECONDS too (policy.md I4)' );
$stack->sql('DROP TRIGGER linger ON policy_impact');
$brief->stop;

# ---- the preview is the measurement: the same change, period and guards (policy.md G6)

my $preview = impact('true');
my ( $id, $all ) = ( $preview->member('id'), $preview->member('estimates')->{newlyDenied} );
my $runs  = runs();
my $under = $all->{estimate} - 1;
my $first = save( 'true', "impact=24h&maxNewlyDenied=$under" );
admin_error( $first, 422, 'a limit one below the estimate', error => 'impact_refused' );
is_deeply(
    $first->member('refused'),
    [   {   request => JSON::PP::true(),
            limit   => 'newlyDenied',
            max     => $under,
            seen    => $preview->member('newlyDenied'),
            of      => $preview->member('looked'),
            %$all } ],
    '... is passed, with what was seen, the estimate and the bound (policy.md G3)' );
like(
    $first->member('error_description'), qr/\AAbout $all->{estimate} decisions \(at most $all->{upper};/,
    '... in words' );
is( $first->member('impact'), $id,   'a save after its preview' );
is( runs(),                   $runs, '... measures nothing again (policy.md G6)' );

for my $case (
    [ 'stored_run_other_pair: another change', $write, "impact=24h&maxNewlyDenied=0" ],
    [ 'another period',                        'true', "impact=23h&maxNewlyDenied=0" ],
  )
{
    admin_error( save( @$case[ 1, 2 ] ), 422, "$case->[0] ...", error => 'impact_refused' );
    is( runs(), ++$runs, '... is measured' );
}
$stack->sql(qq{UPDATE policy_impact SET made_at = now() - interval '601 seconds' WHERE id = $id});
admin_error(
    save( 'true', "impact=24h&maxNewlyDenied=0" ), 422, 'a preview of 601 seconds ago ...',
    error => 'impact_refused' );
is( runs(), ++$runs, '... is too old' );

# ---- guards

sub guard {
    my ( $query, @guard ) = @_;
    return $stack->admin(
        PATCH => "/admin/api/policy-data/by-key?dataKey=svc.operator.controls.changes&impactOverride=CHG-7$query",
        json  => { guards => \@guard } );
}
admin_ok( guard( '', { name => 'most', limits => { newlyDenied => '100%' } } ), 200, {}, 'a guard that holds nothing' );
$runs = runs();
my $guarded = impact('true');
is( runs(),                                ++$runs, 'a preview under the guard' );
is( $guarded->member('guards')->[0]{name}, 'most',  '... counts for it' );
admin_ok( guard( '', { name => 'most', limits => { newlyDenied => '99%' }, least => 1 } ), 200, {}, 'changed guards' );
$runs = runs();
my $refused = save( 'true', 'impact=24h' );
admin_error( $refused, 422, '... under which the change is measured again', error => 'impact_refused' );
is( runs(),                                  ++$runs, '... as the preview had others' );
is( $refused->member('refused')->[0]{guard}, 'most',  '... and a percentage is held against the bound' );
admin_ok(
    guard( '', { name => 'all', limits => { failing => 5 }, whole => JSON::PP::true() } ),
    200, {}, 'a guard that takes no sample' );
my $whole = save( 'true', '' );
admin_error( $whole, 422, 'whole: refused, as not all decisions can be looked at', error => 'impact_refused' );
like( $whole->member('notMeasured') // '', qr/SVC_IMPACT_DECISIONS.*\ball\b/, '... with the reason' );
is( $whole->member('overridable'), JSON::PP::true(), '... which an override passes' );

# Who saves chooses the period of the request: a sample of a longer one has few decisions of a guard's.
admin_ok( guard( '', { name => 'day', period => '1d', limits => { newlyDenied => 5 } } ), 200, {}, 'a guard of a day' );
my $long = impact( 'true', since => '48h' );
$runs = runs();
my $short = save( 'true', '' );
admin_error( $short, 422, 'a save after a preview of two days, which was a sample ...', error => 'impact_refused' );
is( runs(), ++$runs, '... is measured by the period of the guard (policy.md G6)' );
my $thin = save( 'true', 'impact=48h' );
admin_error( $thin, 422, 'a save that asks for two days ...', error => 'impact_refused' );
is( runs(), ++$runs, '... is measured too' );
like(
    $thin->member('notMeasured') // '',
    qr/longer than those of the guards/,
    '... and a sample of them holds no guard (policy.md G3)' );
admin_ok( guard(''), 200, {}, 'no guard' );

# ---- at the limit

$preview = impact('true');
$all     = $preview->member('estimates')->{newlyDenied};
$runs    = runs();
my $saved = save( 'true', "impact=24h&maxNewlyDenied=$all->{estimate}" );
admin_ok( $saved, 201, {}, 'a limit at the estimate is not passed' );
is( $saved->header('X-Policy-Impact'),
    'id=' . $preview->member('id') . "; newlyDenied=$all->{estimate}; newlyAllowed=0; sampled",
    '... and the answer says what a sample says' );
is( runs(), $runs, '... as it was previewed' );
is( $stack->admin( GET => '/admin/api/bundle-audit/latest' )->member('impact')->{estimates}{newlyDenied}{upper},
    $all->{upper}, '... which the history keeps' );
my $metrics = $stack->http->get('/metrics')->body;
like( $metrics, qr/^svc_impact_runs_total\{result="sampled"\} [1-9]/m, 'metrics: samples are counted' );
like( $metrics, qr/^svc_impact_seconds_count [1-9]/m,                  '... with their time' );
like( $metrics, qr/^svc_impact_overridden_total [1-9]/m,               '... and overrides' );

done_testing();

# A measurement that ends while it is looked at is done, not lost: the row is that of the statement's snapshot, and the
# lock of its process that of the moment after it.
use strict;
use warnings;

use Test::More;

use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( not_ready => 1 );
my $list  = '/admin/api/policy-impact';

sub states {
    return join ' ', map { "$_->{id} $_->{state} " . ( $_->{note} // '-' ) } @{ $_[0]->json };
}

# A view in front of pg_locks waits, after the snapshot of the statement that looks at it, until the test lets it go.
$stack->sql(<<'SQL');
INSERT INTO policy_impact (who, state, base, candidate, selection, result) VALUES ('ops', 'running', 'a', 'b', '{"decisions":1}', NULL),
  ('ops', 'running', 'a', 'c', '{"decisions":1}', NULL);
CREATE SCHEMA trap;
CREATE TABLE trap.gate (open boolean);
INSERT INTO trap.gate VALUES (true);
CREATE FUNCTION trap.locks() RETURNS SETOF pg_catalog.pg_locks LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  WHILE NOT (SELECT open FROM trap.gate) LOOP PERFORM pg_sleep(0.05); END LOOP;
  RETURN QUERY SELECT * FROM pg_catalog.pg_locks;
END $$;
CREATE VIEW trap.pg_locks AS SELECT * FROM trap.locks();
SQL
$stack->sql("ALTER DATABASE $stack->{database} SET search_path = trap, public, pg_catalog");
$stack->{service}->stop;
$stack->start_service;
my $count = 'FROM pg_stat_activity WHERE wait_event = \'PgSleep\'';

# Ask, and end the first run when the statement waits behind its snapshot.
sub asked {
    my ( $path, $done ) = @_;
    $stack->sql('UPDATE trap.gate SET open = false');
    pipe my $out, my $in or die $!;
    my $pid = fork // die $!;
    if ( $pid == 0 ) {
        Authz::Process::until_true( 60, sub { $stack->sql("SELECT count(*) $count") > 0 } );
        $stack->sql(
            "UPDATE policy_impact SET state = 'done', result = '{\"looked\":1}', ended_at = now() WHERE candidate = '$done'"
        );
        $stack->sql('UPDATE trap.gate SET open = true');
        require POSIX;
        POSIX::_exit(0);
    }
    my $answer = $stack->admin( GET => $path );
    waitpid $pid, 0;
    return $answer;
}
is( states( $stack->admin( GET => $list ) ), '2 failed process lost 1 failed process lost',
    'runs whose process is gone are lost' );
is( states( asked( $list, 'b' ) ), '2 failed process lost 1 done -',
    'the list: a run that ends meanwhile is done, and the other is lost' );
is( asked( "$list/2", 'c' )->member('state'), 'done', 'one run: the same' );

done_testing;

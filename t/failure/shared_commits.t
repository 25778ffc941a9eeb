# Shared commits (decisions.md "Shared commits"): rows of several processes in one commit, and what becomes of them when a row
# or the statement fails, when leaders are killed in the middle of a commit, and when the database crashes. Each request has
# an id of its own, so the audit log is the ledger: an answer without its row is lost, an id with two rows is doubled
# (performance.md R1, R2, R18).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client   ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $stack    = Authz::Stack->start( workers => 8, postgres => $postgres );
my %cc       = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm      = $stack->make_client( 'crm',  \%cc );
my @shop     = $stack->make_client( 'shop', \%cc );
my @rs       = $stack->make_client( 'rs',   { endpoints => ['introspect'] } );
my $sample   = $stack->token_text( @crm, scope => 'orders.read' );
my $number   = 0;

sub request {
    my ( $path, $client, @form ) = @_;
    my $http = $stack->client;
    my $id   = sprintf 'shared-%06d', ++$number;
    return [
        $http,
        $http->octets(
            'POST', $path,
            headers => [ Authz::Client::basic(@$client), 'X-Request-ID' => $id ],
            form    => \@form, close => 1 ),
        $id ];
}
sub token { return request( '/token', $_[0], grant_type => 'client_credentials', scope => 'orders.read' ) }
sub look { return request( '/introspect', \@rs, token => $sample ) }

# Send requests at once; a list of [id, status, token].
sub at_once {
    my @request = @_;
    my @answer  = Authz::Client::together(@request);
    return map { [ $request[$_][2], $answer[$_]->status, $answer[$_]->member('access_token') ] } 0 .. $#request;
}

# The first answer that is 200: a worker that was not asked since a crash may wait a second before it connects again.
sub served {
    my ( $ask, @with ) = @_;
    my $answer;
    Authz::Process::until_true( 20, sub { ( $answer = $ask->(@with) )->status == 200 } );
    return $answer;
}

# The ledger: each answer that was good has exactly one audit row, and each token is there once and active.
sub holds {
    my ( $name, @entry ) = @_;
    my @good    = grep { $_->[1] == 200 } @entry;
    my $ids     = join ',', map {"('$_->[0]')"} @good;
    my $missing = sub {
        return $stack->sql( "SELECT count(*) FROM (VALUES $ids) v (id)"
              . ' WHERE NOT EXISTS (SELECT 1 FROM audit_log a WHERE a.request_id = v.id)' );
    };
    Authz::Process::until_true( 15, sub { !$missing->() } );
    is( $missing->(), 0, "$name: each of " . @good . ' answers has its audit row: 0 lost (R18)' );
    is( $stack->sql(
                q{SELECT count(*) FROM (SELECT request_id FROM audit_log WHERE request_id LIKE 'shared-%'}
              . ' GROUP BY 1 HAVING count(*) > 1) d' ),
        0,
        "$name: and none has two: 0 doubled" );
    my @token = map { $_->[2] // () } @good;
    my $dead  = grep {
        !served( sub { $stack->introspect( @rs, $_[0] ) }, $_ )->member('active')
    } @token;
    is( $dead, 0, "$name: each of " . @token . ' tokens is active (R1, R4)' );
    is( $stack->sql(
            'SELECT count(*) FROM access_token t LEFT JOIN audit_log a ON a.id = t.audit_id WHERE a.id IS NULL'),
        0,
        "$name: no token without its audit row" );
    return;
}

# Let each statement that writes a token take so long, so that others come meanwhile; 0: no longer.
sub slow {
    my ( $ms, $table ) = @_;
    for my $child (
        split /\n/,
        $stack->sql("SELECT inhrelid::regclass FROM pg_inherits WHERE inhparent = '$table'::regclass") )
    {
        $stack->sql("DROP TRIGGER IF EXISTS slow ON $child");
        $stack->sql("CREATE TRIGGER slow BEFORE INSERT ON $child FOR EACH STATEMENT EXECUTE FUNCTION slow('$ms')")
          if $ms;
    }
    return;
}
$stack->sql( 'CREATE FUNCTION slow() RETURNS trigger LANGUAGE plpgsql AS'
      . " \$\$ BEGIN PERFORM pg_sleep(TG_ARGV[0]::float / 1000); RETURN NULL; END \$\$" );

# ---- batches

slow( 100, 'access_token' );
my @entry = at_once( map { token( \@crm ) } 1 .. 16 );
is( scalar( grep { $_->[1] == 200 } @entry ), 16, '16 requests at once get a token each' );
my $commits = $stack->sql(
    q{SELECT count(DISTINCT xmin::text) FROM audit_log WHERE request_id LIKE 'shared-%' AND endpoint = '/token'});
cmp_ok( $commits, '<', 14, "... in $commits commits" );
holds( 'batches', @entry );

# ---- the count of round trips

slow( 0, 'access_token' );
at_once( map { ( token( \@crm ), look() ) } 1 .. 16 ) for 1 .. 8;    # each worker has read what it keeps
slow( 30, 'access_token' );
my %trips = ( '/token' => 1, '/introspect' => 2 );
for my $path ( sort keys %trips ) {
    my @counted = at_once( map { $path eq '/token' ? token( \@crm ) : look() } 1 .. 16 );
    my %id      = map { ( $_->[0] => 1 ) } @counted;
    my @line;
    Authz::Process::until_true(
        20,
        sub {
            @line = grep { /"request_id":"([^"]+)"/ && $id{$1} && /"sql_trips":/ } $stack->{service}->log_lines;
            @line == 16;
        } );
    is( scalar( grep {/"sql_trips":$trips{$path}\b/} @line ), 16,
        "$path: the log counts $trips{$path} round trips of each request, whoever made them" ) or diag @line;
}
slow( 100, 'access_token' );

# ---- a row that fails alone

$stack->sql("UPDATE client SET enabled = false, version = version + 1 WHERE client_id = 'shop'");
my @mixed = at_once( map { token($_) } ( \@crm, \@shop ) x 8 );
is( join( ' ', map { $_->[1] } @mixed[ grep { $_ % 2 == 0 } 0 .. 15 ] ), join( ' ', (200) x 8 ),
    'a client that was disabled a moment ago: the rows beside it are written' );
is( join( ' ', map { $_->[1] } @mixed[ grep { $_ % 2 } 0 .. 15 ] ), join( ' ', (401) x 8 ),
    '... and its own are not (the statement checks each row)' );
holds( 'a row that fails alone', @mixed );

# ---- a statement that fails

slow( 0, 'access_token' );
my ($child) = $stack->sql(
    q{SELECT 'access_token_p' || floor(extract(epoch FROM now() + interval '1 hour' - timestamptz '2026-01-01Z') / 3600)}
);
for my $try ( 1 .. 8 ) {
    $stack->sql("DROP TABLE $child") if $stack->sql("SELECT to_regclass('$child')") ne '';
    my @made = at_once( map { token( \@crm ) } 1 .. 16 );
    is( scalar( grep { $_->[1] == 200 } @made ), 16, "a partition that is missing, $try: each row is written alone" );
    $sample = $made[0][2];
}

# ---- leaders that are killed in the middle of a commit

# A process that kills a random one of those that $find returns, every so often.
sub killer {
    my ( $pause, $find ) = @_;
    return Authz::Process->start(
        name => 'killer',
        code => sub {
            srand;
            while (1) {
                my @found = $find->();
                kill 'KILL', $found[ rand @found ] if @found;
                sleep $pause;
            }
        } );
}

sub killed {
    return scalar( () = $stack->{service}->log_text =~ /"worker ended","detail":"pool core, pid \d+, signal 9"/g );
}

sub under_fire {
    my ( $name, $seconds, @make ) = @_;
    my ( $until, @all ) = time + $seconds;
    my $before = killed();
    my $killer = killer( 0.06, sub { $stack->workers('core') } );
    while ( time < $until ) {
        push @all, at_once( map { $make[ $_ % @make ]->() } 1 .. 16 );
    }
    $killer->stop('KILL');
    Authz::Process::until_true( 20, sub { 8 == $stack->workers('core') } );
    my $good = grep { $_->[1] == 200 } @all;
    cmp_ok( $good, '>', 50, "$name: $good of " . @all . ' requests were answered well' );
    is( scalar( grep { $_->[1] != 200 && $_->[1] < 500 && $_->[1] != 0 } @all ), 0, '... the others 5xx' );
    my $kills = killed() - $before;
    cmp_ok( @all - $good, '<=', $kills, "... no more than the $kills workers that were killed (R1)" );
    holds( $name, @all );
    return;
}
slow( 15, 'access_token' );
under_fire( 'leaders killed while they write tokens', 5, sub { token( \@crm ) } );
slow( 0,  'access_token' );
slow( 15, 'audit_log' );
under_fire( 'leaders killed while they write audit rows', 5, \&look, sub { token( \@crm ) }, \&look );

# ---- a leader that does not go on: others write alone, and it ends what it began when it goes on

slow( 0,  'audit_log' );
slow( 60, 'access_token' );
my $stopper = Authz::Process->start(
    name => 'stopper',
    code => sub {
        for my $pid ( ( $stack->workers('core') ) x 2 ) {
            kill 'STOP', $pid;
            sleep 1.5;
            kill 'CONT', $pid;
            sleep 0.05;
        }
    } );
my @stopped;
push @stopped, at_once( map { token( \@crm ) } 1 .. 16 ) while @stopped < 128 && $stopper->alive;
$stopper->stop('KILL');
kill 'CONT', $stack->workers('core');
is( scalar( grep { $_->[1] != 200 } @stopped ), 0,
    'workers that are stopped for 1.5 s: all ' . @stopped . ' requests are answered well' );
holds( 'workers that are stopped', @stopped );
slow( 0,  'access_token' );
slow( 15, 'audit_log' );

# ---- all workers killed at once: what they left is written

my @left = at_once( map { look() } 1 .. 16 );
kill 'KILL', $stack->workers('core');
Authz::Process::until_true( 20, sub { 8 == $stack->workers('core') } );
holds( 'rows that killed workers left', @left );

# ---- a service that stops leaves nothing

@left = at_once( map { look() } 1 .. 16 );
$stack->restart_service;
holds( 'a service that stopped', @left );
slow( 0, 'audit_log' );

# ---- the database crashes in the middle of a commit (R2): audit rows of introspection may be lost then, tokens never

slow( 15, 'access_token' );
my $crasher = killer(
    1,
    sub {
        my ( undef, $pids ) = $postgres->_psql(
            "SELECT pid FROM pg_stat_activity WHERE application_name = 'authz' AND state = 'active'",
            $stack->{database} );
        return $pids =~ /\A\d[\d\n]*\z/ ? split /\n/, $pids : ();
    } );
sub crashes { return scalar( () = $postgres->process->log_text =~ /all server processes terminated/g ) }
my ( $until, @crash ) = time + 5;
while ( time < $until || ( crashes() < 2 && time < $until + 60 ) ) {
    push @crash, at_once( map { token( \@crm ) } 1 .. 16 );
}
$crasher->stop('KILL');
$postgres->await(30);
ok( defined Authz::Process::until_true( 20, sub { $stack->token( @crm, scope => 'orders.read' )->status == 200 } ),
    'after crashes of the database the service goes on' );
my $crashes = crashes();
cmp_ok( $crashes, '>', 1, "... $crashes crashes" );
holds( 'crashes of the database', @crash );
slow( 0, 'access_token' );

# ---- switched off

$stack->restart_service( settings => { SVC_SHARED_COMMITS => 'false' } );
slow( 30, 'access_token' );
my @single = at_once( map { token( \@crm ) } 1 .. 12 );
is( $stack->sql(
        q{SELECT count(DISTINCT xmin::text) FROM audit_log WHERE request_id IN (}
          . join( ',', map {"'$_->[0]'"} @single ) . ')' ),
    12,
    'SVC_SHARED_COMMITS=false: a commit for each request' );
slow( 0, 'access_token' );

done_testing;

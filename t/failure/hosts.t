# Several servers in SVC_DATABASE_URL: where the writer is, all processes of a host remember; a standby is no writer; and of two
# servers that take writes, the old primary is used no more (decisions.md "A standby that confirms commits").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Server   ();
use Authz::Stack    ();
use IO::Socket::UNIX;

my $old      = Authz::Postgres->shared_or_new( private => 1 );
my $database = $old->database;
my $new      = $old->standby;

# A server that takes connections and says nothing, as one that is frozen; it counts them.
my $silent = Authz::Process::directory() . '/silent';
mkdir $silent or die "$silent: $!";
my $listen = IO::Socket::UNIX->new( Local => "$silent/.s.PGSQL.$Authz::Postgres::PORT", Listen => 64 )
  or die "$silent: $!";
Authz::Process->start(
    name => 'silent',
    code => sub {
        my @kept;
        while ( my $client = $listen->accept ) {
            push @kept, $client;
            open my $out, '>>', "$silent/count" or die "count: $!";
            syswrite $out, '.';
        }
    } );
close $listen;
sub tried { return -s "$silent/count" // 0 }

sub url {
    my (@server) = @_;
    return "postgresql:///$database?user=postgres&port=$Authz::Postgres::PORT&host=" . join ',',
      map { ref $_ ? $_->socket : $_ } @server;
}

sub comes { my ($test)   = @_; return defined Authz::Process::until_true( 40, $test ) }
sub rows  { my ($server) = @_; return $server->sql( 'SELECT count(*) FROM access_token', $database ) }

# ---- a standby that is named as the writer

my %good = %{ Authz::Stack::base_settings( url($new) ) };
my ( $status, $said ) =
  Authz::Process->run( name => 'ctl', env => \%good, command => [ Authz::Path::program('authzctl'), qw(db status) ] );
isnt( $status, 0, 'authzctl db status: a standby that is named as the writer is refused' );
like(
    $said, qr/\Q${\$new->socket}\E port \d+ is a standby; .*must name the primary too/,
    '... and the text says what to do' );
( $status, $said ) = Authz::Process->run(
    name    => 'ctl',
    env     => { %good, SVC_DATABASE_URL => url( $new, $old ) },
    command => [ Authz::Path::program('authzctl'), qw(db status) ] );
is( $status, 0, 'named before the primary it is passed over, without target_session_attrs' ) or diag $said;

# ---- a pooler in front of the database

# Answers as pgbouncer does to the options of a session.
my $pooler = Authz::Process::directory() . '/pooler';
mkdir $pooler or die "$pooler: $!";
my $pool = IO::Socket::UNIX->new( Local => "$pooler/.s.PGSQL.$Authz::Postgres::PORT", Listen => 8 )
  or die "$pooler: $!";
Authz::Process->start(
    name => 'pooler',
    code => sub {
        while ( my $client = $pool->accept ) {
            sysread $client, my ($startup), 4096;
            my $error = "SFATAL\0C08P01\0Munsupported startup parameter: options\0\0";
            syswrite $client, pack 'aNa*', 'E', 4 + length $error, $error;
        }
    } );
close $pool;
( $status, $said ) = Authz::Process->run(
    name    => 'ctl',
    env     => { %good, SVC_DATABASE_URL => url($pooler) },
    command => [ Authz::Path::program('authzctl'), qw(db status) ] );
isnt( $status, 0, 'a pooler that is named as the writer is refused' );
like( $said, qr/leads to a pooler such as pgbouncer, .*: name PostgreSQL itself/, '... and the text says what to do' );

# ---- the processes of a host remember where the writer is

my $stack = Authz::Stack->start(
    postgres => $old, database => $database, workers => 2,
    settings => { SVC_DATABASE_URL => url( $silent, $old, $new ) } );
my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
sub token { return $stack->token( @crm, scope => 'orders.read' )->status }

is( token(), 200, 'the first server is frozen, and the service uses the second' );
my $tried = tried();
cmp_ok( $tried, '>', 0, '... after it tried the first' );
for ( 1 .. 3 ) {
    my @before = $stack->workers('core');
    kill 'KILL', $before[0];
    ok( comes(
            sub {
                my %now = map { ( $_ => 1 ) } $stack->workers('core');
                !$now{ $before[0] } && keys %now == 2;
            } ),
        'a worker is replaced' );
    ok( comes( sub { token() == 200 } ), '... and serves' ) for 1, 2;
}
is( tried(), $tried, 'no process of the host tries the frozen one again' );

# ---- two servers take writes

$old->sql($_) for q{ALTER SYSTEM SET synchronous_standby_names = ''}, 'SELECT pg_reload_conf()';
my $replicated = rows($new);
$new->sql('SELECT pg_promote()');
is( token(), 200, 'the standby was promoted, and the old primary takes writes too: as yet the service cannot know' );

# A transaction of several trips, whose COMMIT waits at the old one until the host knows of the new one.
$old->sql( $_, $database )
  for 'CREATE TABLE go (n int)',
  'CREATE FUNCTION await_go() RETURNS trigger LANGUAGE plpgsql AS '
  . q{'BEGIN WHILE NOT EXISTS (SELECT 1 FROM go) LOOP PERFORM pg_sleep(0.05); END LOOP; RETURN NULL; END'},
  'CREATE CONSTRAINT TRIGGER await_go AFTER INSERT ON object_owner DEFERRABLE INITIALLY DEFERRED'
  . ' FOR EACH ROW EXECUTE FUNCTION await_go()';
my $marked = Authz::Process::directory() . '/marked';
Authz::Process->start(
    name => 'mark',
    code => sub {
        $stack->{http} = $stack->client;    # a connection of its own
        my $answer = $stack->admin(
            PUT  => '/admin/api/object-owners',
            json => { owner => 'files', marks => [ { kind => 'client', key => 'crm', digest => '0' x 64 } ] } );
        open my $out, '>', "$marked.new" or die "marked: $!";
        print {$out} $answer->status;
        close $out or die "marked: $!";
        rename "$marked.new", $marked;
    } );
ok( comes( sub { $old->sql(q{SELECT count(*) FROM pg_stat_activity WHERE state = 'active' AND query = 'COMMIT'}) } ),
    'a COMMIT is under way at the old one' );
$old->sql("ALTER DATABASE $database ALLOW_CONNECTIONS false");
my @core = $stack->workers('core');
kill 'KILL', $core[0];
ok( comes( sub { token() == 200 && rows($new) > $replicated } ),
    'a process that cannot reach the old one finds the new one' );
$old->sql("ALTER DATABASE $database ALLOW_CONNECTIONS true");
$old->sql( 'INSERT INTO go VALUES (1)', $database );
ok( comes( sub { -e $marked } ), 'the COMMIT at the old one ends' );
open my $in, '<', $marked or die "marked: $!";
is( scalar <$in>, 503, '... and is no answer: the write is lost with it' );
close $in;
my ( $on_old, $on_new ) = ( rows($old), rows($new) );
my @answers = map { token() } 1 .. 20;
is( scalar( grep { $_ == 200 } @answers ), 20,           'from then on each process of the host uses the new one' );
is( rows($old),                            $on_old,      '... the old primary gets no write' );
is( rows($new),                            $on_new + 20, '... and the new one all' );

# authzctl: what it writes at the old primary is lost.
my $fenced =
  qr/is an old primary \(timeline 1, another server has taken writes with 2\): stop it and make it a standby/;

sub create {
    my ( $name, %env ) = @_;
    return Authz::Process->run(
        name    => 'ctl', env => { %{ $stack->settings }, %env },
        command => [ Authz::Path::program('authzctl'), qw(client create), $name, qw(--type public) ] );
}
( $status, $said ) = create( 'ctl-old', SVC_DATABASE_URL => url($old) );
isnt( $status, 0, 'authzctl: the old primary is refused on a host that knows the new one' );
like( $said, $fenced, '... and the text says what to do' );
my %elsewhere = ( SVC_RUNTIME_DIR => Authz::Stack::runtime_dir('elsewhere') );
( $status, $said ) = create( 'ctl-list', %elsewhere, SVC_DATABASE_URL => url( $silent, $old, $new ) );
is( $status, 0, '... and where the host knows nothing, it looks at each server of the list' ) or diag $said;
my $made = q{SELECT string_agg(client_id, ' ') FROM client WHERE client_id LIKE 'ctl-%'};
is( $new->sql( $made, $database ), 'ctl-list', '... so that it writes to the new one' );
is( $old->sql( $made, $database ), '',         '... and not to the old one' );

$new->stop('immediate');
ok( comes( sub { token() == 503 } ), 'the new primary is gone: 503, though the old one would take writes' );
ok( comes( sub { $stack->{service}->log_text =~ $fenced } ), '... and the log says what it is and what to do' );
is( rows($old), $on_old, '... it gets no write' );

$stack->{service}->stop;
$stack->start_service;
ok( comes( sub { token() == 200 } ), 'after a restart of the service it is the primary, as a restored one would be' );

# ---- a cluster without a primary

$old->stop;
open my $signal, '>', "$old->{data}/standby.signal" or die "standby.signal: $!";
close $signal or die "standby.signal: $!";
$old->start;
ok( comes( sub { token() == 503 } ), 'the primary was made a standby: 503' );
my $lone = qr/is a standby; .*no server that answers takes writes: .*Patroni without its store \(etcd\)/;
ok( comes( sub { $stack->{service}->log_text =~ $lone } ), '... and the log says where to look' );

done_testing;

# Introspection and access decisions read at a streaming standby (SVC_DATABASE_READ_URL): a row that it does not have is asked of the
# writer, a revocation is seen at once, and a standby that is late, down or promoted costs no request (performance.md 3.7).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Clock    ();
use Authz::Load     ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $primary  = Authz::Postgres->shared_or_new( private => 1 );
my $clock    = Authz::Clock->new or plan skip_all => 'no compiler';
my $standby  = $primary->standby( env => { $clock->env } );
my $database = $primary->database;
$standby->sql($_) for q{ALTER SYSTEM SET log_statement = 'all'}, 'SELECT pg_reload_conf()';

sub url {
    my (@server) = @_;
    return "postgresql:///$database?user=postgres&port=$Authz::Postgres::PORT&host=" . join ',',
      map { $_->socket } @server;
}

# ---- addresses that cannot be right

my %good = %{ Authz::Stack::base_settings( url($primary) ) };
for (
    [ url($primary), qr/\ASVC_DATABASE_READ_URL: names the one server of SVC_DATABASE_URL, .*name a standby/ ],
    [ 'postgresql://[SECRET/d', qr/\ASVC_DATABASE_READ_URL: has a \[ without \]; write it as postgresql:/ ] )
{
    my ( $status, $said ) = Authz::Process->run(
        name    => 'check', env => { %good, SVC_DATABASE_READ_URL => $_->[0] },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
    is( $status, 78, 'SVC_DATABASE_READ_URL: the writer itself, or no address, is refused at start' );
    like( $said =~ s/\Aauthz\.fcgi: //r, $_->[1], '... and the text says what to do' );
    unlike( $said, qr/SECRET/, '... without the address, which may hold a password' );
}

my $stack = Authz::Stack->start(
    postgres => $primary, database => $database, workers => 2,
    settings => { SVC_DATABASE_READ_URL => url( $primary, $standby ) } );
my %cc   = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm  = $stack->make_client( 'crm',  \%cc );
my @once = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs   = $stack->make_client( 'rs',   { endpoints           => [qw(introspect authzen)] } );

sub comes  { my ($test)  = @_; return defined Authz::Process::until_true( 40, $test ) }
sub token  { my (@who)   = @_; return $stack->token_text( @who, scope => 'orders.read' ) }
sub active { my ($token) = @_; return $stack->introspect( @rs, $token )->member('active') }

# How often the standby was asked by a statement.
sub asked {
    my ($statement) = @_;
    return scalar grep {/ execute \Q$statement\E:/} $standby->process->log_lines;
}

# Ask about a live token until the standby was asked once more; false if it is ever not active.
my $live = token(@crm);

sub answers {
    my $before = asked('token_find');
    my $wrong  = 0;
    return comes( sub { $wrong++ if !active($live); asked('token_find') > $before } ) && !$wrong;
}

# The last line of the log about the standby. It tells a change of the last second later.
sub told {
    my ($last) = grep {/standby (?:answers|left out)/} reverse $stack->{service}->log_lines;
    return $last // '';
}

# Ask about a live token until that line is this one; false if the token is ever not active. On a busy machine the standby may be left
# out at any moment, because its answer is late.
sub tells {
    my ($line) = @_;
    my $wrong = 0;
    return comes( sub { $wrong++ if !active($live); told() =~ $line } ) && !$wrong;
}

sub pause {
    $standby->sql('SELECT pg_wal_replay_pause()');
    comes( sub { $standby->sql('SELECT pg_get_wal_replay_pause_state()') eq 'paused' } ) or die "no pause\n";
    return;
}
sub resume { $standby->sql('SELECT pg_wal_replay_resume()'); return }

# ---- the standby answers

ok( answers(), 'introspection: the standby is asked about a token' );
my $decisions = asked('token_caller');
my %question =
  ( subject => { type => 'user', id => 'a' }, action => { name => 'read' }, resource => { type => 'x', id => '1' } );
ok( comes(
        sub {
            my $answer = $stack->http->post(
                '/access/v1/evaluation',
                json    => \%question,
                headers => [ Authz::Client::basic(@rs) ] );
            $answer->status == 200 or die $answer->text;
            asked('token_caller') > $decisions;
        } ),
    'access decisions: so it is about the caller' );
ok( !active( 'x' x 40 ), 'a text that is no token is inactive' );

# ---- a row that it does not have

ok( tells(qr/standby answers/), 'the log tells that the standby answers' );
pause();
my $unknown = token(@crm);
ok( $unknown, 'the standby replays nothing: a token is issued, for a commit that only adds does not wait for that' );
ok( active($unknown), '... and the writer knows it' );

# ---- a standby that is late, and a revocation

ok( tells(qr/standby left out/), 'a late standby is left out, and costs no answer' );
my $file  = Authz::Process::directory() . '/revoked';
my $asker = Authz::Process->start(
    name => 'asker',
    code => sub {
        $stack->{http} = $stack->client;
        my $status = $stack->revoke( @crm, token => $unknown )->status;
        open my $out, '>', $file or die "$file: $!";
        print {$out} $status;
        close $out or die "$file: $!";
    } );
ok( comes( sub { $primary->sql(q{SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'}) } ),
    'a revocation waits until the standby shows it' );
ok( !-e $file, '... and is not answered before' );
resume();
$asker->wait(30);
open my $in, '<', $file or die "$file: $!";
is( readline $in, 200, '... then it is' );
close $in;
is( $standby->sql( 'SELECT count(*) FROM access_token WHERE revoked_at IS NOT NULL', $database ),
    1, '... and the standby shows it' );
ok( answers(), 'the standby is used again' );
is( scalar( grep { active($unknown) } 1 .. 20 ), 0, 'no process says that the revoked token is active' );

# ---- single use, and a ledger

my $single = token(@once);
ok( comes( sub { $standby->sql( 'SELECT count(*) FROM access_token WHERE jit', $database ) } ),
    'the standby has a single-use token' );
ok( answers(),        '... and is in use' );
ok( active($single),  '... which is active once: the writer consumes it' );
ok( !active($single), '... and not again' );
my $load = Authz::Load->start( $stack, crm => \@crm, once => \@once, rs => \@rs );
for my $turn ( 1 .. 3 ) {
    ok( comes( sub { my @seen = $load->ledger; @seen > 80 * $turn } ), 'a load runs' );
    pause();
    select undef, undef, undef, 0.3;    # longer than what is too late; nothing depends on it
    resume();
}
ok( answers(), '... with the standby' );
$load->stop;
my @wrong = $load->wrong;
is( scalar @wrong, 0, 'of ' . scalar( my @all = $load->ledger ) . ' answers none is lost, doubled or contradicted' )
  or diag join "\n", @wrong;
is_deeply( [ keys %{ $load->outcomes } ], [200], '... and each was 200' ) or diag explain $load->outcomes;

# ---- a standby whose clock is late

my $ended = token( $stack->make_client( 'brief', { %cc, ttl => 2 } ) );
ok( comes( sub { !active($ended) } ), 'a token of two seconds expires' );
ok( answers(),                        '... and the standby is in use' );
$clock->set(-3600);
is( scalar( grep { active($ended) } 1 .. 20 ),
    0, 'by the clock of the standby, which is an hour late, the token lives: it is inactive' );
ok( tells(qr/standby left out.*the clock of the standby/), '... for the standby is left out' );
$clock->set(0);
ok( answers(), '... until its clock is right' );

# ---- a writer that waits for no standby

sub names {
    $primary->sql($_) for "ALTER SYSTEM SET synchronous_standby_names = '$_[0]'", 'SELECT pg_reload_conf()';
    return;
}
ok( tells(qr/standby answers/), 'the standby answers' );
names('');
ok( tells(qr/standby left out/),
    'the standby is left out while the writer waits for none' );
names('*');
ok( answers(), '... and used again afterwards' );

# ---- a standby that is down, and one that is promoted

ok( tells(qr/standby answers/), 'the standby answers' );
$standby->stop('immediate');
ok( tells(qr/standby left out/), 'a standby that crashes costs no answer' );
$standby->start;
ok( answers(),                  '... and is used again when it is back' );
ok( tells(qr/standby answers/), 'the standby answers' );
$standby->sql('SELECT pg_promote()');
ok( tells(qr/standby left out/),
    'a standby that is promoted costs no answer' );
names('');
$stack->restart_service( settings => { SVC_DATABASE_READ_URL => url($primary) } );
ok( tells(qr/standby left out.*SVC_DATABASE_READ_URL: .*not in hot standby mode/),
    'an address that leads to a server that takes writes is not used, and the log says so' );

done_testing;

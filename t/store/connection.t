# A worker's connection to PostgreSQL. An idle one is checked before anything is sent. If one has just died, the trip fails and
# only reads are sent again (store/db/db.h). Also the check of its address at start.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( workers => 1 );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm', \%cc );
my @rs    = $stack->make_client( 'rs',  { %cc, scopes => ['introspection'], endpoints => ['introspect'] } );

sub token   { return $stack->token( @crm, scope => 'orders.read' ) }
sub rows_of { return $stack->sql('SELECT count(*) FROM access_token') }

sub backend_of {
    return $stack->sql(
        q{SELECT string_agg(pid::text, ' ' ORDER BY pid) FROM pg_stat_activity WHERE application_name = 'authz' AND datname = current_database() AND query LIKE '%INTO access_token%'}
    );
}

# True if the condition holds within 20 s: a busy machine may need that long.
sub comes { my ($test) = @_; return defined Authz::Process::until_true( 20, $test ) }

# End all sessions of the service and wait until PostgreSQL has ended them; return their number.
sub end_all {
    my @ended = grep {/\d/} split /\D+/,
      $stack->sql(
        q{SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authz' AND datname = current_database()}
      );
    comes(
        sub {
            !grep { -d "/proc/$_" } @ended;
        } ) or die "sessions do not end\n";
    return scalar @ended;
}

# Issue a token and end the connection at the same moment, with more attempts on a busy machine; return the number of tokens. A
# connection that idled for a second (IDLE_MS of store/db/connect/db.c) would be checked.
sub used_and_ended {
    for my $count ( 1 .. 20 ) {
        my $start = time;
        $stack->token_text( @crm, scope => 'orders.read' );
        end_all();
        return $count if time - $start < 0.7;
        sleep 1.1;
    }
    die "this machine is too busy\n";
}

my $text = token()->member('access_token');
for my $pass ( 1 .. 3 ) {
    oauth_ok( token(), {}, 'a token' );
    cmp_ok( end_all(), '>', 0, 'its connection is ended while it idles' );
    sleep 1.2;
    oauth_ok( token(), {}, 'a write notices this before it sends' );
    end_all();
    sleep 1.2;
    oauth_ok( $stack->introspect( @rs, $text ), { active => true }, 'a read notices it too' );
}
for my $pass ( 1 .. 3 ) {
    oauth_ok( $stack->introspect( @rs, $text ), { active => true }, 'a token is introspected' );
    end_all();
    oauth_ok(
        $stack->introspect( @rs, $text ), { active => true },
        'a read whose connection died a moment ago is sent again' );
    my $before = rows_of();
    $before += used_and_ended();
    oauth_error( token(), 503, 'temporarily_unavailable', 'a write whose connection died a moment ago is 503' );
    is( rows_of(), $before, '... wrote nothing' );
    oauth_ok( token(), {}, '... and the next one is served' );
    is( rows_of(), $before + 1, '... once' );
}
token();
my $kept = backend_of();
token() for 1 .. 3;
sleep 1.2;
token();
like( $kept, qr/\A\d+\z/, 'one worker has one connection' );
is( backend_of(), $kept, 'a live connection is kept, busy or idle' );

# The deferred audit row of an introspection is written without another request, and its failure is logged.
my $rows = $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/introspect'});
$stack->introspect( @rs, $text );
comes( sub { $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/introspect'}) > $rows } );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE endpoint = '/introspect'}), $rows + 1,
    'an introspection has its audit row soon after, without another request' );
$stack->sql(q{ALTER TABLE audit_log ADD CONSTRAINT no_more CHECK (endpoint <> '/introspect') NOT VALID});
oauth_ok( $stack->introspect( @rs, $text ), { active => true }, 'an introspection whose audit row fails' );
my $lost = qr/"audit row lost".*audit_send.*23514/;
comes( sub { $stack->{service}->log_text =~ $lost } );
like( $stack->{service}->log_text, $lost, '... is logged soon after, without another request' );
$stack->sql(q{ALTER TABLE audit_log DROP CONSTRAINT no_more});

# ---- the address

my %good = %{ Authz::Stack::base_settings( $stack->database_url ) };

sub check {
    my ($url) = @_;
    return Authz::Process->run(
        name    => 'check',
        env     => { %good, SVC_OIDC_ISSUER => 'http://127.0.0.1:8080', SVC_DATABASE_URL => $url },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
}

for my $url (
    'geheim', 'host=h password=two geheim', 'postgresql://u:geheim%zz@h/d', 'postgresql://h/d?passwort=geheim',
    q{host=h password='geheim} )
{
    my ( $status, $said ) = check($url);
    ok( $status == 78 && $said =~ /\Aauthz\.fcgi: SVC_DATABASE_URL: [^\n]+\n\z/,
        "start: SVC_DATABASE_URL=$url is refused in one line" ) or diag( $status, $said );
    unlike( $said, qr/geheim/, '... without a part of it' );
}
for my $url ( 'postgresql://u:x@geheim@127.0.0.1:1/d', 'postgresql://u:geheim/x@127.0.0.1:1/d' ) {
    my ( $status, $said ) = check($url);
    is( $status, 0, "start: $url is a URI, so a database that is away" );
    unlike( $said, qr/geheim/, '... and no part of the password is logged' );
}
is( ( check( $stack->database_url ) )[0], 0, 'start: a valid one passes' );

done_testing;

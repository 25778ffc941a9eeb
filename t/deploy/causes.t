# GET /health/ready names the true cause in every answer, also where each request or each few requests have a process of their
# own: CGI and mod_fcgid (gateway-admin.md 7.1).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Client   ();
use Authz::Deploy   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Web      ();

my @STORED = qw(database migrations signing_key credential_key);

# A process that was connected tells first how its connection ended.
my $END_OF_CONNECTION = qr/server closed the connection|terminating connection|database system is shutting down/;

# Ask for readiness for so many seconds, several at a time, and return the details of the checks that are down: name to list.
# Answers from before the fault are left out.
sub details {
    my ( $deploy, $seconds ) = @_;
    my $http   = $deploy->{http};
    my $octets = $http->octets( 'GET', '/health/ready', close => 1 );
    $deploy->{stack}->ready_as(503);
    my ( $until, %seen ) = ( time + $seconds );
    while ( time < $until ) {
        my @answer = Authz::Client::together( map { [ $http, $octets ] } 1 .. 4 );
        for my $check ( map { @{ $_->member('checks') // [] } } grep { $_->status == 503 } @answer ) {
            $seen{ $check->{name} }{ $check->{detail} // '' }++ if $check->{status} eq 'DOWN';
        }
    }
    return \%seen;
}

sub all_like {
    my ( $seen, $checks, $cause, $name ) = @_;
    my @wrong = map {
        my $check = $_;
        map {"$check: $_"} grep { $_ !~ $cause } keys %{ $seen->{$check} // { 'is not down' => 1 } }
    } @$checks;
    is_deeply( \@wrong, [], $name );
    return;
}

sub hba {
    my ( $postgres, $text ) = @_;
    my $file = "$postgres->{data}/pg_hba.conf";
    open my $out, '>', $file or die "$file: $!";
    print {$out} $text or die "$file: $!";
    close $out         or die "$file: $!";
    $postgres->sql('SELECT pg_reload_conf()');
    return;
}

for my $web (qw(lighttpd-cgi apache-fcgid)) {
    subtest $web => sub {
        my $postgres = Authz::Postgres->shared_or_new( private => 1 );
        my $database = $postgres->database;
        my $deploy   = Authz::Deploy->start(
            $web,
            postgres => $postgres, database => $database,
            settings => {
                SVC_DATABASE_URL => $postgres->url($database) . '&password=wrong',
                $web =~ /-cgi\z/ ? () : ( SVC_POLICY_ENGINE => 'opa' ) } );    # under CGI OPA decides by default
        my $stack = $deploy->{stack};

        $postgres->sql("ALTER USER postgres PASSWORD 'right'");
        hba( $postgres, "local $database postgres scram-sha-256\nlocal all all trust\n" );
        $postgres->sql("SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = '$database'");
        all_like(
            details( $deploy, 2.5 ), \@STORED, qr/password authentication failed/,
            'a wrong password is named by each check that needs the database, in each answer' );
        hba( $postgres, "local all all trust\n" );
        is( $stack->ready_as(200)->status, 200, 'with the right one it is ready again' );

        $postgres->stop;
        my $seen = details( $deploy, 2.5 );
        all_like(
            $seen, \@STORED,
            qr/connection to server on socket .*(?:No such file|Connection refused)|$END_OF_CONNECTION/,
            'a database that is down is named by each check that needs it, in each answer' );
        ok( !$seen->{opa}, '... and the engine is up' ) or diag( explain $seen );
        $postgres->start;
        is( $stack->ready_as(200)->status, 200, 'with a database it is ready again' );

        $stack->{opa}->stop('KILL');
        $seen = details( $deploy, 1.5 );
        all_like(
            $seen, [qw(opa bundle)], qr/\Apolicy engine: .*opa\.sock/,
            'an engine that is down is named by both checks that need it, in each answer' );
        is( join( ' ', sort keys %$seen ), 'bundle opa', '... and all else is up' ) or diag( explain $seen );
        $stack->stop;
        $postgres->stop;
    };
}

done_testing;

# contrib/cluster: what it refuses before it changes anything; and the examples of doc/high-availability.md. The cluster itself is run by
# contrib/check --cluster.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $cluster = Authz::Path::source( 'contrib', 'cluster' );

sub cluster {
    my (@words) = @_;
    return Authz::Process->run( name => 'cluster', command => [ $cluster, @words ] );
}

for (
    [ [],                       'unknown command: none' ],
    [ ['explode'],              'unknown command: explode' ],
    [ [qw(up --databases 1)],   q{--databases must be 2 or 3, not '1'} ],
    [ [qw(up --databases 4)],   q{--databases must be 2 or 3, not '4'} ],
    [ [qw(up --via pigeon)],    q{--via must be haproxy, libpq or both, not 'pigeon'} ],
    [ [qw(storm --times many)], q{--times requires a number, not 'many'} ],
    [ [qw(down --dir)],         '--dir requires a value' ],
    [ [qw(status --speed)],     'unknown option: --speed' ],
  )
{
    my ( $status, $said ) = cluster( @{ $_->[0] } );
    ok( $status == 2 && $said =~ /\Acontrib\/cluster: \Q$_->[1]\E\n  what to do: /, "refused: @{ $_->[0] }" )
      or diag $status, $said;
}
my $nowhere = Authz::Process::directory() . '/nowhere';
for my $command ( qw(status down), [qw(kill primary)], [qw(storm --times 1)] ) {
    my ( $status, $said ) = cluster( ref $command ? @$command : $command, '--dir', $nowhere );
    ok( $status == 1 && $said =~ /there is no cluster in \Q$nowhere\E\n  what to do: /, 'refused: no cluster is there' )
      or diag $status, $said;
}
my ( $status, $said ) = cluster('--help');
is( $status,                                              0,  '--help' );
is( join( ' ', grep { length > 140 } split /\n/, $said ), '', '... in lines that fit' );

# ---- the examples

my $haproxy = ( grep {-x} '/usr/sbin/haproxy', '/usr/bin/haproxy' )[0];
SKIP: {
    skip 'haproxy is not installed', 1 if !defined $haproxy;
    my $file = Authz::Process::directory() . '/haproxy.cfg';
    Authz::Web::write_file(
        $file,
        Authz::Web::edit( Authz::Path::source(qw(etc haproxy authz.cfg)), qr{ ssl crt \S+} => '' ) );
    ( $status, $said ) = Authz::Process->run( name => 'haproxy', command => [ $haproxy, '-c', '-f', $file ] );
    is( $status, 0, 'HAProxy understands etc/haproxy/authz.cfg' ) or diag $said;
}

my $patroni  = Authz::Web::edit( Authz::Path::source(qw(etc patroni patroni.yml)) );
my ($ttl)    = $patroni =~ /^ +ttl: (\d+)$/m;
my ($loop)   = $patroni =~ /^ +loop_wait: (\d+)$/m;
my ($retry)  = $patroni =~ /^ +retry_timeout: (\d+)$/m;
my ($margin) = $patroni =~ /^watchdog:\n(?:  .*\n)*?  safety_margin: (\d+)$/m;
ok( defined $margin && $margin > 0 && $ttl - $margin >= $loop,
    'the watchdog of patroni.yml resets the machine before ttl has passed, and Patroni does not give it up' );
cmp_ok(
    $loop + 2 * $retry, '<=', $ttl,
    'a primary without etcd ends before another one begins: loop_wait + 2 * retry_timeout' );
like( $patroni, qr/^ +synchronous_mode: true$/m, 'commits are confirmed by the standby' );
unlike(
    $patroni, qr/statement_timeout/,
    '... and no time limit ends that wait (decisions.md "A standby that confirms commits")' );

done_testing;

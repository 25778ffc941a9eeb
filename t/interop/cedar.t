# Random policies, mutated policies and requests of Cedar: authz decides as cedar-wasm, the reference implementation, by its
# own evaluator and by the policy engine, and takes exactly the texts that cedar-wasm takes. A case is named by its seed:
# t/interop/cedar_cases.mjs makes it again.
#
# AUTHZ_CEDAR_ALL=1 (contrib/check --cedar) runs 20,000 cases. AUTHZ_CEDAR_SEED is the first seed.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../cli";
use Test::More;

use Authz::Interop ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

Authz::Interop::need();

# Cases of one round: the answers of all are written before authz sees them.
use constant ROUND => 500;

my $rounds = $ENV{AUTHZ_CEDAR_ALL} ? 40 : 1;
my $first  = $ENV{AUTHZ_CEDAR_SEED} // 1;
my %opa =
  ( env => { SVC_CONFIG => '/dev/null', SVC_DATA_DIR => Authz::Stack::data_dir(), AUTHZ_OPA => Authz::Path::opa() } );

# The seeds of a directory.
sub seeds {
    my ($dir) = @_;
    return map {m{/(seed-\d+)\.cedar\z}} glob "$dir/*.cedar";
}

# All cases of a directory pass; else the output names each seed.
sub passes {
    my ( $name, $dir, @engine ) = @_;
    my $count = () = seeds($dir);
    my $got   = ctl( [ 'cedar', 'test', @engine, $dir ], %opa );
    is( $got->{out}, "$count passed, 0 failed, 0 refused\n", $name ) or diag $got->{err};
    return;
}

# Every policy of a directory is refused with line and column.
sub refuses {
    my ( $name, $dir ) = @_;
    my $out     = ctl( [ 'cedar', 'test', $dir ] )->{out};
    my %refused = map { $_ => 1 } $out =~ /^refused: (seed-\d+)\.json: policies: line \d+, column \d+: \S/mg;
    is_deeply( [ grep { !$refused{$_} } seeds($dir) ], [], $name );
    return;
}

for my $round ( 0 .. $rounds - 1 ) {
    my $from = $first + $round * ROUND;
    my $dir  = Authz::Process::directory() . "/cedar-$from";
    my ( $node, @script ) = Authz::Node::command( 'interop', 'cedar_cases.mjs', $dir, $from, ROUND );

    # Without the optimizer of V8: that of Node.js 20.20 ended after some thousand cases with a fatal error of its own.
    my $process = Authz::Process->start( name => "cedar-$from", command => [ $node, '--no-opt', @script ] );
    my $status  = $process->wait(120);
    is( $status, 0, "cedar-wasm answers the seeds from $from" ) or diag $process->log_text;
    passes( "seeds from $from: decision, reason and errors are those of cedar-wasm", "$dir/cases" );
    passes( "seeds from $from: the same by the policy engine",                    "$dir/cases", '--engine', 'opa' );
    passes( "seeds from $from: mutated policies that cedar-wasm takes are taken", "$dir/taken" );
    passes( "seeds from $from: ... and compiled",                                 "$dir/taken", '--engine', 'opa' );
    refuses(
        "seeds from $from: mutated policies that cedar-wasm refuses are refused, with line and column",
        "$dir/refused" );
    system 'rm', '-rf', $dir;
}
done_testing;

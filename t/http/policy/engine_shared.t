# The workers of one parent share the data of a saved policy: it is read once, and each worker decides by it (decisions.md
# "Decisions in process"). What they decide is right when saves follow at once, and when workers are killed.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND   = 60;
my $WORKERS = 4;

# A worker that reads these for itself keeps 5 MB of them.
my $BINDINGS    = 20_000;
my $PRIVATE_MAX = 2_500;    # kB more than at start
my %setting     = ( SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => Authz::Path::opa() );
my %cc          = ( grants => ['client_credentials'], scopes => ['s0'] );
my $stack       = Authz::Stack->start( workers => $WORKERS, bundles => 2, settings => \%setting );
my @crm         = $stack->make_client( 'crm', \%cc );
my $saved       = 0;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }

# Save a scope of the client, with many bindings beside it. On the database: the web server refuses a request of megabytes.
sub save {
    my ($bindings) = @_;
    my $file       = Authz::Process::directory() . '/bindings';
    my %all        = map { ( "many-$_" => { scopes => ["many.$saved"] } ) } 1 .. $bindings;
    $saved++;
    open my $out, '>', $file or die "$file: $!";
    print {$out} JSON::PP::encode_json( { clients => { %all, crm => { scopes => ["s$saved"] } } } );
    close $out or die "$file: $!";
    my $done = $stack->authzctl( 'policy', 'data', 'set', '--patch', 'svc.entitlements.bindings', $file );
    return $done =~ /\bconfirmed\b/ ? 'confirmed' : $done;
}

# Ask for the scope of now and that of before, often enough for each worker. Return the answers that are wrong.
sub wrong {
    my $wrong = '';
    for ( 1 .. 8 * $WORKERS ) {
        my $given   = $stack->token( @crm, scope => "s$saved" );
        my $refused = $stack->token( @crm, scope => 's' . ( $saved - 1 ) );
        $wrong .= "s$saved: " . $given->text  if $given->status != 200;
        $wrong .= 'before: ' . $refused->text if $refused->status != 400;
    }
    return $wrong;
}

# Facts of a worker's memory: [private kB, kB that it maps of what is shared].
sub memory {
    my ($pid) = @_;
    my ( $private, $shared, $within ) = ( 0, 0, 0 );
    open my $in, '<', "/proc/$pid/smaps" or return;
    while ( my $line = readline $in ) {
        $within = $line =~ /memfd:authz-policy/ if $line =~ /^[0-9a-f]+-[0-9a-f]+ /;
        $private += $1 if $line            =~ /^Private_\w+:\s+(\d+)/;
        $shared  += $1 if $within && $line =~ /^Rss:\s+(\d+)/;
    }
    return [ $private, $shared ];
}

sub memories {
    return grep {defined} map { memory($_) } $stack->workers('core');
}

sub is_sanitized {
    my ($pid) = $stack->workers('core');
    open my $in, '<', "/proc/$pid/maps" or return 0;
    local $/ = undef;
    return readline($in) =~ /libasan/;
}

ok( $stack->await_plan, 'the plan is there' );
is( save(10), 'confirmed', '10 bindings are saved' );
is( wrong(),  '',          'each decision after the answer is by what was saved' );
my ($before) = sort { $b <=> $a } map { $_->[0] } memories();
is( save($BINDINGS), 'confirmed', "$BINDINGS bindings are saved" );
is( wrong(),         '',          'each decision after the answer is by what was saved' );
SKIP: {
    skip 'the memory of the workers is not visible to this account', 2 if !defined $before;
    skip 'a sanitizer keeps a shadow of all memory',                 2 if is_sanitized();
    my @now;
    ok( until_true(
            sub {
                wrong();
                @now = memories();
                $WORKERS == grep { $_->[1] > 0 } @now;
            } ),
        'every worker decides by the memory that all share' ) or diag join ' ', map {"$_->[0]/$_->[1]"} @now;
    my ($after) = sort { $b <=> $a } map { $_->[0] } @now;
    cmp_ok( $after - $before, '<', $PRIVATE_MAX, '... and none has the data for itself' );
}

for my $turn ( 1, 2 ) {
    save($BINDINGS);
    is( save($BINDINGS), 'confirmed', "two saves at once, $turn: the second is confirmed" );
    is( wrong(),         '',          '... and decides' );
}

# The worker that gives the data to OPA has read them for all, and keeps them until the first has switched.
is( save($BINDINGS), 'confirmed', 'a save' );
kill 'KILL', $stack->workers('bundles');
is( wrong(), '', '... whose data each worker finds, or reads, when the worker that read them is killed' );
kill 'KILL', $stack->workers('core');
ok( until_true( sub { $stack->workers('core') == $WORKERS } ), 'all workers are killed and replaced' );
is( wrong(), '', '... and decide by what stands' );
done_testing;

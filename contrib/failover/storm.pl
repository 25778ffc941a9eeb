#!/usr/bin/perl
# Fail over under load and hold the ledger against the service. See contrib/failover/README; contrib/cluster storm calls this.
use strict;
use warnings;

use Cwd            ();
use File::Basename ();
use Getopt::Long   ();
use JSON::PP       ();
use POSIX          ();
use Time::HiRes    qw(sleep);

use lib File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/../../t/lib';
use Authz::Client ();
use Authz::Grant  ();

# The longest time without a token in 95 of 100 failovers, in seconds (performance.md 4.3).
use constant GAP_LIMIT => 10;

# Seconds after which a code is not redeemed: it lives for 60.
use constant CODE_AGE => 40;

# Seconds that the cluster may need to be whole again.
use constant WHOLE_WAIT => 120;

# Seconds for which etcd is away: twice the ttl of the primary's lease (etc/patroni/patroni.yml), and more.
use constant OUTAGE => 25;

# Seconds of a pause between two requests of a client.
use constant PAUSE => 0.02;

my %option = ( clients => 6, seed => 1, faults => 'kill' );
Getopt::Long::GetOptions(
    \%option, 'cluster=s', 'dir=s', 'times=i', 'faults=s', 'clients=i', 'seed=i', 'server=s@',
    'host=s@' ) or exit 2;
die "usage: see the first lines of $0\n" if grep { !$option{$_} } qw(cluster dir times server host);
my %FAULT  = map { ( $_ => 1 ) } qw(kill crash pause partition switchover etcd);
my @faults = split /,/, $option{faults};
if ( my ($unknown) = grep { !$FAULT{$_} } @faults ) {
    die "--faults: $unknown is not one of @{[ sort keys %FAULT ]}\n";
}
my %server = map { split /=/, $_, 2 } @{ $option{server} };
my @hosts  = map { [ split /[=:]/ ] } @{ $option{host} };     # name, address, port
my $dir    = "$option{dir}/storm";
mkdir $dir or die "$dir: $!\n";
$| = 1;

sub now { return Time::HiRes::clock_gettime( Time::HiRes::CLOCK_MONOTONIC() ) }

# ---- the cluster

sub cluster {
    my (@words) = @_;
    my $pid = open( my $out, '-|', $option{cluster}, @words, '--dir', $option{dir} ) or die "$option{cluster}: $!\n";
    local $/ = undef;
    my $text = readline($out) // '';
    close $out;
    return ( $? >> 8, $text );
}

# The primary as etcd has it, and whether everything is there.
sub status {
    my ( $status, $text ) = cluster('status');
    my ($primary) = $text =~ /^primary: (db\d)/;
    return ( $primary, $status == 0 );
}

sub await {
    my ( $what, $test ) = @_;
    my $until = now() + WHOLE_WAIT;
    while ( !$test->() ) {
        die "$what: not within " . WHOLE_WAIT . " s; contrib/cluster status shows the machines\n" if now() > $until;
        sleep 0.3;
    }
    return;
}

# Run SQL as the superuser; true if the server acknowledged it, and the standby too.
sub sql {
    my ( $hosts, $database, $sql, $seconds ) = @_;
    my $url = "postgresql://postgres\@$hosts/$database?connect_timeout=2&target_session_attrs=read-write";
    my $pid = open( my $out, '-|' ) // die "fork: $!\n";
    if ( $pid == 0 ) {
        open STDERR, '>&', \*STDOUT;
        exec(
            'timeout', $seconds // 10, 'psql', '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', $url, '-c',
            $sql ) or POSIX::_exit(127);
    }
    local $/ = undef;
    my $text = readline($out) // '';
    close $out;
    chomp $text;
    return ( $? == 0 && $text !~ /WARNING/, $text );
}
my $all = join ',', map { $server{$_} } sort keys %server;

# What Authz::Grant needs of a stack.
sub Stack::sql {
    my ( $self, $sql )  = @_;
    my ( $good, $text ) = sql( $all, 'authz', $sql );
    die "$text\n" if !$good;
    return $text;
}
sub Stack::http { return $_[0]{http} }
my $stack = bless { path => '' }, 'Stack';

# ---- clients of the service

sub client_of {
    my ($host) = @_;
    return Authz::Client->new( host => $host->[1], port => $host->[2], timeout => 30, foreign => 1 );
}

sub admin {
    my ( $http, $method, $target, $json ) = @_;
    my $answer = $http->request( $method, $target, json => $json, headers => [ 'X-Admin-API-Key' => $ENV{AUTHZ_KEY} ] );
    die "$method $target: " . $answer->text . "\n" if $answer->status >= 300;
    return $answer;
}

# Make the clients of this run: name => [id, secret].
sub make_clients {
    my $http    = client_of( $hosts[0] );
    my %binding = (
        crm  => { grants    => ['client_credentials'], scopes => ['orders.read'] },
        once => { grants    => ['client_credentials'], scopes => ['orders.read'], jit_single_use => JSON::PP::true() },
        web  => { grants    => ['authorization_code'], scopes => ['openid'] },
        rs   => { endpoints => ['introspect'] } );
    my %who;
    for my $name ( sort keys %binding ) {
        my $id   = "storm-$name-$^T";
        my $made = admin(
            $http, POST => '/admin/api/clients',
            {   clientId     => $id, clientType => 'confidential', enabled => JSON::PP::true(),
                redirectUris => [$Authz::Grant::REDIRECT] } );
        $who{$name} = [ $id, $made->member('clientSecret') ];
    }
    admin(
        $http,
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
        { clients => { map { ( $who{$_}[0] => $binding{$_} ) } keys %binding } } );
    Authz::Grant->people( $stack, subject => 'alice' );
    return %who;
}
my %who;

# ---- the load: what one client gets, the others ask about

sub keep {
    my ( $kind, $key ) = @_;
    open my $out, '>>', "$dir/pool.$kind" or die "$dir/pool.$kind: $!\n";
    syswrite $out, now() . "\t$key\n";
    return;
}

# One of the last that were kept, or undef.
sub pick {
    my ( $kind, $age ) = @_;
    open my $in, '<', "$dir/pool.$kind" or return;
    my $size = -s $in;
    seek $in, $size > 16_384 ? $size - 16_384 : 0, 0;
    readline $in if $size > 16_384;
    my @line = grep { defined $_->[1] && now() - $_->[0] < $age } map { chomp; [ split /\t/ ] } readline $in;
    return @line ? $line[ rand @line ][1] : undef;
}

my %REQUEST = (
    issue_token => sub { return _token('crm') },
    issue_once  => sub { return _token('once') },
    see         => sub { return _form( '/introspect', 'rs',  token => $_[0] ) },
    show        => sub { return _form( '/introspect', 'rs',  token => $_[0] ) },
    revoke      => sub { return _form( '/revoke',     'crm', token => $_[0] ) },
    redeem      => sub { return _form( '/token',      'web', Authz::Grant->redemption( $_[0] ) ) },
);

sub _form {
    my ( $target, $name, @form ) = @_;
    return $stack->{http}->post( $target, headers => [ Authz::Client::basic( @{ $who{$name} } ) ], form => \@form );
}
sub _token { return _form( '/token', $_[0], grant_type => 'client_credentials', scope => 'orders.read' ) }

# yes, no or unknown, as the history has it.
sub verdict {
    my ( $what, $answer ) = @_;
    my $status = $answer->failure ? 0 : $answer->status;
    if ( $what =~ /\A(?:see|show)\z/ ) { return $status != 200 ? 'unknown' : $answer->member('active') ? 'yes' : 'no' }
    return 'yes' if $status == 200;
    return 'no'  if $what eq 'redeem' && $status == 400 && ( $answer->member('error') // '' ) eq 'invalid_grant';
    return 'unknown';
}

# Send a request and write its line: begin, end, host, what, key, verdict, status.
sub note {
    my ( $out, $host, $what, $key ) = @_;
    my $begin  = now();
    my $answer = $REQUEST{$what}->($key);
    my $end    = now();
    my $said   = verdict( $what, $answer );
    my $status = $answer->failure ? 0 : $answer->status;
    $key = $answer->member('access_token') if $what =~ /issue/ && $said eq 'yes';
    syswrite $out, join( "\t", $begin, $end, $host->[0], $what, $key // '-', $said, $status ) . "\n";
    return $said eq 'yes' ? $key : undef;
}

sub turn {
    my ( $out, $host ) = @_;
    my $turn = rand;
    my ( $token, $key );
    if    ( $turn < 0.40 ) { $token = note( $out, $host, 'issue_token' ) and keep( token => $token ) }
    elsif ( $turn < 0.70 ) { $key   = pick( token => 3600 )              and note( $out, $host, see => $key ) }
    elsif ( $turn < 0.80 ) {
        $key = pick( token => 3600 ) or return;
        note( $out, $host, $_ => $key ) for qw(revoke see);
    }
    elsif ( $turn < 0.86 ) { $token = note( $out, $host, 'issue_once' ) and keep( once => $token ) }
    elsif ( $turn < 0.95 ) { $key   = pick( once => 60 )                and note( $out, $host, show => $key ) }
    elsif ( $turn < 0.97 ) {
        $key =
          eval { Authz::Grant->code( $stack, client => $who{web}[0], subject => 'alice' ) } and keep( code => $key );
    }
    else { $key = pick( code => CODE_AGE ) and note( $out, $host, redeem => $key ) }
    return;
}

sub run_client {
    my ( $number, $parent ) = @_;
    my $host    = $hosts[ $number % @hosts ];
    my $stopped = 0;
    $SIG{TERM} = sub { $stopped = 1 };
    srand $option{seed} * 1000 + $number;
    $stack->{http} = client_of($host);
    open my $out, '>>', "$dir/ledger.$number" or die "ledger: $!\n";
    while ( !$stopped && getppid == $parent ) { turn( $out, $host ); sleep PAUSE }
    return;
}

my @children;
$SIG{$_} = sub { exit 130 }
  for qw(INT TERM HUP);

sub start_load {
    my $parent = $$;
    for my $number ( 0 .. $option{clients} - 1 ) {
        my $pid = fork // die "fork: $!\n";
        if ( $pid == 0 ) {
            @children = ();
            eval { run_client( $number, $parent ); 1 } or print {*STDERR} "client $number: $@";
            POSIX::_exit(0);
        }
        push @children, $pid;
    }
    return;
}

sub stop_load {
    kill 'TERM', @children;
    waitpid $_, 0 for splice @children;
    return;
}
END { my $status = $?; kill 'TERM', @children; $? = $status }

# ---- the ledger

my @COLUMNS = qw(begin end host what key said status);

sub ledger {
    my @entry;
    for my $file ( glob "$dir/ledger.*" ) {
        open my $in, '<', $file or die "$file: $!\n";
        while ( my $line = readline $in ) {
            chomp $line;
            my %entry;
            @entry{@COLUMNS} = split /\t/, $line;
            push @entry, \%entry if defined $entry{status};
        }
    }
    return @entry;
}

# Ask about everything once more, at the end.
sub ask_all {
    my $host = $hosts[0];
    my %seen;
    $stack->{http} = client_of($host);
    my @issued = grep { $_->{what} =~ /issue/ && $_->{said} eq 'yes' } ledger();
    open my $out, '>>', "$dir/ledger.last" or die "ledger: $!\n";
    note( $out, $host, ( $_->{what} eq 'issue_token' ? 'see' : 'show' ) => $_->{key} ) for @issued;
    return scalar @issued;
}

# What is wrong with a key: its entries in the order of their begin.
sub judge_token {
    my (@entry) = @_;
    my @revoke = grep { $_->{what} eq 'revoke' } @entry;
    for my $see ( grep { $_->{what} eq 'see' } @entry ) {
        return 'active after its revocation'
          if $see->{said} eq 'yes' && grep { $_->{said} eq 'yes' && $_->{end} < $see->{begin} } @revoke;
        return 'lost' if $see->{said} eq 'no' && !grep { $_->{begin} < $see->{end} } @revoke;
    }
    return;
}

sub judge_once {
    my (@entry) = @_;
    my @use     = grep { $_->{what} !~ /issue/ } @entry;
    return 'had twice' if 1 < grep { $_->{said} eq 'yes' } @use;
    for my $no ( grep { $_->{said} eq 'no' } @use ) {
        return 'lost' if !grep { $_->{said} ne 'no' && $_->{begin} < $no->{end} } @use;
    }
    return;
}

my %HISTORY =
  ( see => [qw(token see)], revoke => [qw(token revoke)], show => [qw(once use)], redeem => [qw(once use)] );

# Write the history for the checker: a read without an answer says nothing, all else without one may have happened.
sub write_history {
    my (@entry) = @_;
    open my $out, '>', "$dir/history" or die "$dir/history: $!\n";
    for my $entry (@entry) {
        my $row = $HISTORY{ $entry->{what} } or next;
        next if $entry->{what} eq 'see' && $entry->{said} eq 'unknown';
        printf {$out} "%d\t%d\t%s\t%s\t%s\t%s\t%s\n", $entry->{begin} * 1e9, $entry->{end} * 1e9, $entry->{host}, @$row,
          $entry->{key}, $entry->{said};
    }
    close $out or die "$dir/history: $!\n";
    return;
}

# ---- faults

my ( @done, @written );

# Write at a former primary, as one would who still reaches it; keep what it acknowledged.
sub write_at {
    my ( $name, $seconds ) = @_;
    my $until = now() + $seconds;
    while ( now() < $until ) {
        my $id = int( now() * 1e6 );
        my ($good) = sql( $server{$name}, 'postgres', "INSERT INTO storm VALUES ($id)", 2 );
        push @written, $id if $good;
        sleep 0.1;
    }
    return;
}

my %BEFORE = (
    kill       => sub { cluster( kill  => $_[0] ) }, crash     => sub { cluster( crash     => $_[0] ) },
    pause      => sub { cluster( pause => $_[0] ) }, partition => sub { cluster( partition => $_[0] ) },
    switchover => sub { cluster('switchover') } );
my %AFTER = (
    crash     => sub { cluster( start  => $_[0] ); write_at( $_[0], 2 ) },
    pause     => sub { cluster( resume => $_[0] ); write_at( $_[0], 3 ) },
    partition => sub { write_at( $_[0], 3 ); cluster( heal => $_[0] ); write_at( $_[0], 2 ) } );

# etcd goes away and comes back: the primary stays (failsafe_mode).
sub outage {
    my ($number) = @_;
    my ( $old, $new );
    await( 'the cluster is not whole', sub { my ( $primary, $whole ) = status(); $old = $primary; return $whole } );
    my $begin = now();
    cluster( crash => 'etcd' );
    sleep OUTAGE;
    cluster( start => 'etcd' );
    await( 'not whole after etcd', sub { ( $new, my $whole ) = status(); return $whole } );
    die "etcd was away, and $old is no longer the primary\n" if $new ne $old;
    push @done, { fault => 'etcd', begin => $begin, end => now() };
    printf "%3d %-10s %s stays, whole after %.1f s\n", $number, 'etcd', $old, now() - $begin;
    return;
}

sub fail_over {
    my ( $number, $fault ) = @_;
    my ( $old, $new );
    await( 'the cluster is not whole', sub { my ( $primary, $whole ) = status(); $old = $primary; return $whole } );
    sleep 1 + rand 2;
    my $begin = now();
    $BEFORE{$fault}->($old);
    await( "no other primary after $fault", sub { ($new) = status(); return defined $new && $new ne $old } );
    ( $AFTER{$fault} // sub { } )->($old);
    await( "not whole after $fault", sub { return ( status() )[1] } );
    push @done, { fault => $fault, begin => $begin, end => now() };
    printf "%3d %-10s %s -> %s, whole after %.1f s\n", $number, $fault, $old, $new, now() - $begin;
    return;
}

# The longest time without a new token of a host in the time of a fault.
sub gap {
    my ( $done, @end )     = @_;
    my ( $last, $longest ) = ( $done->{begin}, 0 );
    for my $end ( ( grep { $_ > $done->{begin} && $_ < $done->{end} } @end ), $done->{end} ) {
        $longest = $end - $last if $end - $last > $longest;
        $last    = $end;
    }
    return $longest;
}

sub part {
    my ( $part, @value ) = @_;
    @value = sort { $a <=> $b } @value;
    return $value[ POSIX::ceil( $part * @value ) - 1 ];
}

sub report_gaps {
    my (@entry) = @_;
    my %end;
    for my $entry ( sort { $a->{end} <=> $b->{end} } @entry ) {
        push @{ $end{ $entry->{host} } }, $entry->{end} if $entry->{what} eq 'issue_token' && $entry->{said} eq 'yes';
    }
    my %gaps;
    for my $done (@done) {
        my ($worst) = sort { $b <=> $a } map { gap( $done, @{ $end{$_} } ) } keys %end;
        push @{ $gaps{$_} }, $worst for $done->{fault}, $done->{fault} eq 'etcd' ? () : 'all';
    }
    for my $name ( grep { $gaps{$_} } @faults, 'all' ) {
        printf "gap %-10s %3d failovers: median %.1f s, p95 %.1f s, longest %.1f s\n", $name, scalar @{ $gaps{$name} },
          map( { part( $_, @{ $gaps{$name} } ) } 0.5, 0.95, 1 );
    }
    return 1 if !$gaps{all};
    my $p95 = part( 0.95, @{ $gaps{all} } );
    printf "gap p95 %.1f s, limit %d s: %s\n", $p95, GAP_LIMIT, $p95 <= GAP_LIMIT ? 'ok' : 'over';
    return $p95 <= GAP_LIMIT;
}

# Without etcd no answer fails: the primary stays.
sub report_outages {
    my (@entry) = @_;
    my @outage = grep { $_->{fault} eq 'etcd' } @done or return 1;
    my ( $count, $failed ) = ( 0, 0 );
    for my $entry (@entry) {
        next if !grep { $entry->{begin} > $_->{begin} && $entry->{end} < $_->{end} } @outage;
        $count++;
        $failed++ if $entry->{status} == 0 || $entry->{status} >= 500;
    }
    printf "without etcd: %d answers, %d of them failed\n", $count, $failed;
    return !$failed;
}

# Print how many answers there were, and each contradiction; true if there is none.
sub report_ledger {
    my (@entry) = @_;
    my ( %count, %key, %wrong );
    for my $entry ( sort { $a->{begin} <=> $b->{begin} } @entry ) {
        $count{ $entry->{status} }++;
        push @{ $key{ $entry->{key} } }, $entry if $entry->{key} ne '-';
    }
    printf "ledger: %d answers (%s), %d keys\n", scalar @entry, join( ', ', map {"$_: $count{$_}"} sort keys %count ),
      scalar keys %key;
    for my $key ( sort keys %key ) {
        my @of = @{ $key{$key} };
        my $fault =
          ( grep { $_->{what} =~ /\A(?:see|revoke|issue_token)\z/ } @of ) ? judge_token(@of) : judge_once(@of);
        next if !defined $fault;
        $wrong{$fault}++;
        print "$fault: " . substr( $key, 0, 24 ) . "\n";
    }
    printf "lost %d, had twice %d, active after revocation %d\n", map { $wrong{$_} // 0 } 'lost', 'had twice',
      'active after its revocation';
    return !%wrong;
}

# Rows that a former primary acknowledged must be at the primary.
sub report_written {
    my ( $good, $text ) = sql( $all, 'postgres', 'SELECT id FROM storm' );
    die "$text\n" if !$good;
    my %there   = map  { ( $_ => 1 ) } split /\n/, $text;
    my @missing = grep { !$there{$_} } @written;
    printf "written at former primaries: %d acknowledged, %d of them lost\n", scalar @written, scalar @missing;
    return !@missing;
}

sub report_history {
    my $source = File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/history';
    system( 'sh', '-c', 'cd "$1" && go build -o "$2" .', 'sh', $source, "$dir/history-check" ) == 0
      or die "go build in $source failed\n";

    # A checker that finds nothing wrong in what is wrong proves nothing.
    for my $wrong ( [qw(use use)], [qw(revoke see)] ) {
        open my $out, '>', "$dir/history.wrong" or die "$dir/history.wrong: $!\n";
        print {$out} join( "\t", $_ * 10, $_ * 10 + 5, 'app1', 'wrong', $wrong->[$_], 'key', 'yes' ) . "\n" for 0, 1;
        close $out or die "$dir/history.wrong: $!\n";
        system("'$dir/history-check' '$dir/history.wrong' >'$dir/history.refused'") != 0
          or die "the checker accepts @$wrong, which is not linearizable\n";
    }
    return system( "$dir/history-check", "$dir/history" ) == 0;
}

# ---- the run

await( 'the cluster is not whole', sub { return ( status() )[1] } );
for ( 'DROP TABLE IF EXISTS storm', 'CREATE TABLE storm (id bigint PRIMARY KEY)' ) {
    my ( $good, $text ) = sql( $all, 'postgres', $_ );
    die "$text\n" if !$good;
}
%who = make_clients();
start_load();
sleep 3;
for my $number ( 1 .. $option{times} ) {
    my $fault = $faults[ ( $number - 1 ) % @faults ];
    if   ( $fault eq 'etcd' ) { outage($number) }
    else                      { fail_over( $number, $fault ) }
}
sleep 1;
stop_load();
printf "asking about %d tokens again\n", ask_all();
my @entry = ledger();
write_history(@entry);
my $good = report_ledger(@entry);
$good = report_written()       && $good;
$good = report_history()       && $good;
$good = report_outages(@entry) && $good;
$good = report_gaps(@entry)    && $good;
exit( $good ? 0 : 1 );

#!/usr/bin/perl
# Measure the CPU time of process trees while a command runs: cpu.pl NAME:PID... -- COMMAND...
#
# Prints the output of the command, then one line with NAME=microseconds for each tree, NAME.user and NAME.system (the same
# time split by the ticks of the kernel, 10 ms each), and load=... for the command itself. other=... and steal=... are the
# CPU time of the rest of the machine during looked=... (the command took wall=...); work of other processes makes the
# figures useless. The exit status is that of the command.
#
# The time of a live thread comes from the scheduler, in nanoseconds (/proc/PID/task/TID/schedstat). The time of children
# that ended, such as backends of PostgreSQL, is added in ticks.
use strict;
use warnings;

use POSIX       ();
use Time::HiRes qw(sleep time);

# Time after the end of the command, in which backends end and deferred rows are written.
use constant SETTLE_SECONDS => 0.3;

# Threads of the kernel write for the measured processes, so they do not count as other work.
use constant KTHREADD => 2;

my $tick_us = 1e6 / POSIX::sysconf( POSIX::_SC_CLK_TCK() );

sub slurp {
    my ($path) = @_;
    open my $in, '<', $path or return '';
    local $/ = undef;
    return readline($in) // '';
}

# Return for each process its parent, its user and system ticks, and those of its ended children.
sub processes {
    my %found;
    for my $dir ( glob '/proc/[0-9]*' ) {
        my ($pid)  = $dir               =~ /(\d+)\z/;
        my ($rest) = slurp("$dir/stat") =~ /.*\) (.*)/s or next;
        my @field  = split ' ', $rest;
        $found{$pid} = {
            parent       => $field[1], user => $field[11], system => $field[12], ended_user => $field[13],
            ended_system => $field[14] };
    }
    return \%found;
}

sub tree {
    my ( $all, $root ) = @_;
    my @tree = my @look = ($root);
    while (@look) {
        my $parent   = shift @look;
        my @children = grep { $all->{$_}{parent} == $parent } keys %$all;
        push @tree, @children;
        push @look, @children;
    }
    return @tree;
}

# Return microseconds, and the user and system shares by ticks.
sub used {
    my ( $all, $root ) = @_;
    my ( $ns, $ended, $user, $system ) = ( 0, 0, 0, 0 );
    die "cpu.pl: process $root is gone\n" if !$all->{$root};
    for my $pid ( tree( $all, $root ) ) {
        $ns     += ( split ' ', slurp($_) )[0] // 0 for glob "/proc/$pid/task/*/schedstat";
        $ended  += $all->{$pid}{ended_user} + $all->{$pid}{ended_system};
        $user   += $all->{$pid}{user} + $all->{$pid}{ended_user};
        $system += $all->{$pid}{system} + $all->{$pid}{ended_system};
    }
    return ( $ns / 1000 + $ended * $tick_us, $user * $tick_us, $system * $tick_us );
}

sub snapshot {
    my (@group) = @_;
    my $all = processes();
    my %now;
    @now{ $_->[0], "$_->[0].user", "$_->[0].system" } = used( $all, $_->[1] ) for @group;
    my ($cpu) = slurp('/proc/stat') =~ /^cpu +(.*)$/m;
    my @ticks = split ' ', $cpu;
    $now{kernel} = ( used( $all, KTHREADD ) )[0] if slurp( '/proc/' . KTHREADD . '/comm' ) eq "kthreadd\n";
    $now{busy}   = ( $ticks[0] + $ticks[1] + $ticks[2] ) * $tick_us;    # interrupts are nobody's
    $now{steal}  = $ticks[7] * $tick_us;
    my ( undef, undef, $user, $system ) = times;
    $now{load} = ( $user + $system ) * 1e6;
    $now{self} = ( (times)[0] + (times)[1] ) * 1e6;
    return \%now;
}

my ( @group, @command );
while (@ARGV) {
    my $word = shift;
    if ( $word eq '--' ) { @command = splice @ARGV; last }
    push @group, [ $word =~ /\A([a-z]+):(\d+)\z/ ];
}
die "usage: cpu.pl NAME:PID... -- COMMAND...\n" if !@command || grep { @$_ != 2 } @group;
my $before = snapshot(@group);
my $began  = time;
my $status = system { $command[0] } @command;
my $wall   = time - $began;
sleep SETTLE_SECONDS;
my $after = snapshot(@group);
my %used  = map { $_ => $after->{$_} - $before->{$_} } keys %$after;
$used{other} = $used{busy} - $used{load} - $used{self} - ( $used{kernel} // 0 );
$used{other} -= $used{ $_->[0] } for @group;
$used{other}  = 0 if $used{other} < 0;
$used{wall}   = $wall * 1e6;
$used{looked} = ( time - $began ) * 1e6;
delete @used{qw(busy self)};
printf "%s\n", join ' ', map { sprintf '%s=%.0f', $_, $used{$_} } sort keys %used;
exit( $status == -1 || $status & 127 ? 1 : $status >> 8 );

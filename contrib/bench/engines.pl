#!/usr/bin/perl
# Print what the embedded engine gains: engines.pl FACTS RESULTS. Medians of the rounds; in brackets the lowest and highest values.
use strict;
use warnings;

# The limits of the project.
use constant {
    RATE_LEAST     => 1.6,     # of the requests per second with OPA
    CPU_MOST       => 0.62,    # of the CPU time with OPA
    DECISION_US    => 20,
    MEMORY_MORE    => 8,       # MB, after a start and after a save
    OCTETS_MOST    => 680,     # of a token with its audit row and indexes
    OTHERS_PERCENT => 3,
};

my ( %fact, %result );

sub read_facts {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    while ( my $line = readline $in ) {
        chomp $line;
        my ( $name, $value ) = split / /, $line, 2;
        $fact{$name} = $value;
    }
    return;
}

# $result{segment}[round] = {name => value}
sub read_results {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    while ( my $line = readline $in ) {
        my %value = $line =~ /(\S+)=(\S+)/g;
        $result{ $value{segment} }[ $value{round} - 1 ] = \%value;
    }
    return;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return @sorted % 2 ? $sorted[ $#sorted / 2 ] : ( $sorted[ @sorted / 2 - 1 ] + $sorted[ @sorted / 2 ] ) / 2;
}

sub spread {
    my ( $format, @values ) = @_;
    my @sorted = sort { $a <=> $b } @values;
    return sprintf "$format (%s)", median(@values), join ' to ', map { sprintf $format, $_ } @sorted[ 0, -1 ];
}

sub each_round {
    my ( $segment, $code ) = @_;
    return map { $code->($_) } @{ $result{$segment} };
}

sub rate { return $_[0]{requests} * 1e6 / $_[0]{us} }

# Return the CPU time per request in milliseconds.
sub cpu {
    my ( $line, @names ) = @_;
    my $us = 0;
    $us += $line->{$_} for @names;
    return $us / 1000 / $line->{requests};
}

sub print_service {
    my ( $engine, $name ) = @_;
    my $segment = "$engine.$name";
    printf "/%s by %s\n",                 $name, $engine;
    printf "  requests per second  %s\n", spread( '%.0f', each_round( $segment, \&rate ) );
    printf "  p50, ms              %s\n", spread( '%.2f', each_round( $segment, sub { $_[0]{p50} / 1000 } ) );
    printf "  p99, ms              %s\n", spread( '%.2f', each_round( $segment, sub { $_[0]{p99} / 1000 } ) );
    for my $part (
        [ 'web server', 'web' ], [ 'authz.fcgi', 'worker' ], [ 'OPA', 'opa' ], [ 'PostgreSQL', 'postgres' ],
        [ 'all', qw(web worker opa postgres) ] )
    {
        my ( $word, @names ) = @$part;
        printf "  CPU ms, %-12s %s\n", $word, spread( '%.3f', each_round( $segment, sub { cpu( $_[0], @names ) } ) );
    }
    return;
}

# Return the median over the rounds of a figure of the embedded engine, divided by that of OPA in the same round.
sub ratio {
    my ( $name, $code ) = @_;
    my ( $of,   $by )   = map { [ each_round( "$_.$name", $code ) ] } qw(embedded opa);
    return median( map { $of->[$_] / $by->[$_] } 0 .. $#$by );
}

my $over = 0;

sub bar {
    my ( $name, $value, $format, $word, $limit ) = @_;
    my $shown = sprintf $format, $value;
    my $good  = $word eq 'at most' ? $shown <= $limit : $shown >= $limit;
    $over++ if !$good;
    printf "  %-60s %8s   %s %-6s %s\n", $name, $shown, $word, $limit, $good ? 'ok' : 'missed';
    return;
}

# Work of other processes and stolen time in each measurement, in percent of the machine.
sub print_noise {
    my @noise = map { 100 * ( $_->{other} + $_->{steal} ) / $_->{looked} / $fact{cpus} } map {@$_} values %result;
    printf "used by others during the measurements: %.1f %% of the machine (median), %.1f %% (most)\n", median(@noise),
      ( sort { $a <=> $b } @noise )[-1];
    print "warning: the machine was busy: do not rely on these figures\n" if median(@noise) > OTHERS_PERCENT;
    return;
}

my ( $facts, $results ) = @ARGV;
read_facts($facts);
read_results($results);
printf "\nauthz on %s\n%s processors, %s core workers, %s connections, %d rounds of %s s; disk: %s; %s\n",
  $fact{machine}, $fact{cpus}, $fact{workers}, $fact{connections}, scalar @{ $result{'opa.token'} }, $fact{seconds},
  $fact{disk}, $fact{versions};
print "medians of the rounds (lowest to highest); ratios are of the same round\n\n";

for my $name (qw(token introspect)) {
    for my $engine (qw(opa embedded)) {
        print_service( $engine, $name );
        print "\n";
    }
}
print_noise();
print "\nlimits\n";
my $all = sub { cpu( $_[0], qw(web worker opa postgres) ) };
bar( "CPU for /$_, in parts of that with OPA", ratio( $_, $all ), '%.2f', 'at most', CPU_MOST )
  for qw(token introspect);
my ( $embedded_us, $opa_us ) = split / /, $fact{decision_us};
bar( "a decision of /token, us (OPA, with the way to it: $opa_us)", $embedded_us, '%.0f', 'at most', DECISION_US );
for my $count ( 10, 10_000, 100_000 ) {
    my ( $opa, @embedded ) = map { $fact{"memory_${_}_$count"} // '' } qw(opa embedded saved);
    if ( !length $opa ) { print "  private memory: not visible to this account; run this as root\n"; last }
    my ( $start, $save ) = map { ( $_ - $opa ) / 1024 } @embedded;
    my $name = sprintf 'private memory, %d bindings, MB more than %.1f', $count, $opa / 1024;
    bar( "$name: start",            $start, '%.1f', 'at most', MEMORY_MORE );
    bar( '  the same after a save', $save,  '%.1f', 'at most', MEMORY_MORE );
}
bar('database octets per token, its audit row and indexes',
    median( each_round( 'embedded.token', sub { $_[0]{octets} / $_[0]{requests} } ) ),
    '%.0f', 'at most', OCTETS_MOST );
my %gain = map { $_ => ratio( $_, \&rate ) } qw(token introspect);
bar( "requests per second for /$_, in parts of those with OPA", $gain{$_}, '%.2f', 'at least', RATE_LEAST )
  for qw(token introspect);
printf "\n%s\n\n", $over ? "$over missed" : 'all ok';
printf "engine gain /%s %.2f\n", $_, $gain{$_} for qw(token introspect);

#!/usr/bin/perl
# Print the figures of one run: report.pl FACTS RESULTS. Medians of the rounds; in brackets the lowest and highest values.
use strict;
use warnings;

# The limits of the project.
use constant {
    FACTOR_MOST      => 1.25,
    WORKER_MS        => { token => 0.20, introspect => 0.15 },
    EVALUATION_MS    => 0.4,
    MEMORY_MB        => 6,
    OCTETS_PER_TOKEN => 680,
    TRIPS            => { token => 1, introspect => 2 },
    OTHERS_PERCENT   => 3,
};

my ( %fact, @evaluation, %result );

sub read_facts {
    my ($path) = @_;
    open my $in, '<', $path or die "$path: $!\n";
    while ( my $line = readline $in ) {
        chomp $line;
        my ( $name, $value ) = split / /, $line, 2;
        if ( $name eq 'evaluation' ) { push @evaluation, $value }
        else                         { $fact{$name} = $value }
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

sub rounds { return 0 .. $#{ $result{token} } }

# Return the values of a segment in all rounds, computed by a function of its line.
sub each_round {
    my ( $segment, $code ) = @_;
    return map { $code->( $result{$segment}[$_], $_ ) } rounds();
}

sub spread {
    my ( $format, @values ) = @_;
    my @sorted = sort { $a <=> $b } @values;
    return sprintf "$format (%s)", median(@values), join ' to ', map { sprintf $format, $_ } @sorted[ 0, -1 ];
}

# Return the CPU time per request in milliseconds, one value per round.
sub cpu {
    my ( $segment, @names ) = @_;
    return each_round(
        $segment,
        sub {
            my ($line) = @_;
            my $us = 0;
            $us += $line->{$_} for @names;
            return $us / 1000 / $line->{requests};
        } );
}

# Return the same for pgbench, without the cost of its connections.
sub cpu_pg {
    my ($name) = @_;
    return each_round(
        "pg.$name",
        sub {
            my ( $line, $round ) = @_;
            my $first = $result{"pgfirst.$name"}[$round];
            return ( $line->{postgres} - $first->{postgres} ) / 1000 / ( $line->{requests} - $first->{requests} );
        } );
}

# Return the CPU time per request of each floor when the floors ran side by side.
sub cpu_together {
    my ( $name, $requests, @parts ) = @_;
    return each_round(
        "together.$name",
        sub {
            my ( $line, $round ) = @_;
            my ( $us,   $count ) = ( 0, $line->{$requests} );
            $us += $line->{$_} for @parts;
            if ( $requests eq 'pgrequests' ) {
                my $first = $result{"pgfirst.$name"}[$round];
                $us    -= $first->{postgres};
                $count -= $first->{requests};
            }
            return $us / 1000 / $count;
        } );
}

# Return the time of the workers and its share in the kernel, which is known in ticks only.
sub cpu_worker {
    my ( $name, $part ) = @_;
    return each_round(
        $name,
        sub {
            my ($line) = @_;
            my $ticks = $line->{'worker.user'} + $line->{'worker.system'} || 1;
            return $line->{worker} / 1000 / $line->{requests} * $line->{"worker.$part"} / $ticks;
        } );
}

my $over = 0;

sub bar {
    my ( $name, $value, $format, $most ) = @_;
    my $good = sprintf( $format, $value ) <= $most;
    $over++ if !$good;
    printf "  %-54s %10s   at most %-6s %s\n", $name, sprintf( $format, $value ), $most, $good ? 'ok' : 'over';
    return;
}

sub add {
    my (@lists) = @_;
    return map {
        my ( $round, $sum ) = ( $_, 0 );
        $sum += $_->[$round] for @lists;
        $sum
    } rounds();
}

sub print_service {
    my ($name) = @_;
    my @all    = each_round( $name, sub { $_[0]{requests} } );
    my $sum    = 0;
    $sum += $_ for @all;
    printf "/%s: %d requests, every answer right, every row stored\n", $name, $sum;
    printf "  requests per second  %s\n",
      spread( '%.0f', each_round( $name, sub { $_[0]{requests} * 1e6 / $_[0]{us} } ) );
    printf "  p50, ms              %s\n", spread( '%.2f', each_round( $name, sub { $_[0]{p50} / 1000 } ) );
    printf "  p99, ms              %s\n", spread( '%.2f', each_round( $name, sub { $_[0]{p99} / 1000 } ) );
    return;
}

# Print the CPU time of the service and of its floors; return the factor and its values per round.
sub print_cpu {
    my ($name) = @_;
    my @total = cpu( $name, qw(web worker opa postgres) );
    my ( @noop, @opa, @pg ) = ();
    @noop = cpu( "noop.$name", qw(web worker) );
    @opa  = cpu( "opa.$name",  'opa' );
    @pg   = cpu_pg($name);
    my @sum = add( \@noop, \@opa, \@pg );
    my $row = "  %-34s %s\n";
    print "  CPU ms per request\n";
    printf $row, '  web server', spread( '%.3f', cpu( $name, 'web' ) );
    printf $row, '  authz.fcgi', spread( '%.3f', cpu( $name, 'worker' ) );
    printf $row, '    of it user, system', join ', ',
      map { sprintf '%.3f', median( cpu_worker( $name, $_ ) ) } qw(user system);
    printf $row, '  OPA',                         spread( '%.3f', cpu( $name, 'opa' ) );
    printf $row, '  PostgreSQL',                  spread( '%.3f', cpu( $name, 'postgres' ) );
    printf $row, '  all',                         spread( '%.3f', @total );
    printf $row, '  floor: web server and no-op', spread( '%.3f', @noop );
    printf $row, '    of it web server, no-op', join ', ',
      map { sprintf '%.3f', median( cpu( "noop.$name", $_ ) ) } qw(web worker);
    printf $row, '  floor: OPA, same question',       spread( '%.3f', @opa );
    printf $row, '  floor: pgbench, same statements', spread( '%.3f', @pg );
    printf $row, '  floors in all',                   spread( '%.3f', @sum );
    printf $row, '  factor over floors alone', sprintf '%.2f',
      median(@total) / ( median(@noop) + median(@opa) + median(@pg) );
    @noop = cpu_together( $name, 'nooprequests', qw(web worker) );
    @opa  = cpu_together( $name, 'oparequests',  'opa' );
    @pg   = cpu_together( $name, 'pgrequests',   'postgres' );
    @sum  = add( \@noop, \@opa, \@pg );
    print "  the floors side by side, at the rate of the service\n";
    printf $row, '  web server and no-op', spread( '%.3f', @noop );
    printf $row, '  OPA',                  spread( '%.3f', @opa );
    printf $row, '  pgbench',              spread( '%.3f', @pg );
    printf $row, '  in all',               spread( '%.3f', @sum );
    my @factors = map { $total[$_] / $sum[$_] } rounds();
    printf $row, '  overhead factor by round', join ' ', map { sprintf '%.2f', $_ } @factors;
    return median(@total) / ( median(@noop) + median(@opa) + median(@pg) );
}

# Figures without a limit, from the same run.
sub print_evaluation {
    printf "  evaluation of /introspect's question, %s, ms %s\n", /^introspect with (\d+ bindings): ([\d.]+) ms mean/
      for grep {/^introspect/} @evaluation;
    return;
}

sub print_floors {
    for my $floor (qw(noop opa pg)) {
        printf "  %-8s %s\n", $floor, join ', ', map {
            my $name = $_;
            sprintf '%s %.0f/s', $name,
              median( each_round( "$floor.$name", sub { $_[0]{requests} * 1e6 / ( $_[0]{us} // $_[0]{wall} ) } ) )
        } qw(token introspect);
    }
    return;
}

# Work of other processes and stolen time in each measurement, in percent of the machine.
sub print_noise {
    my @noise = map { my $line = $_; 100 * ( $line->{other} + $line->{steal} ) / $line->{looked} / $fact{cpus} }
      map { @{ $result{$_} } } grep { !/^pgfirst/ } keys %result;
    my @sorted = sort { $a <=> $b } @noise;
    printf "used by others during the measurements: %.1f %% of the machine (median), %.1f %% (most)\n", median(@noise),
      $sorted[-1];
    print "warning: the machine was busy: do not rely on these figures\n" if median(@noise) > OTHERS_PERCENT;
    return;
}

my ( $facts, $results ) = @ARGV;
read_facts($facts);
read_results($results);
printf "\nauthz on %s\n%s processors, %s core workers, %s connections, %d rounds of %s s; disk: %s; %s\n",
  $fact{machine}, $fact{cpus}, $fact{workers},
  $fact{connections}, scalar @{ $result{token} }, $fact{seconds}, $fact{disk}, $fact{versions};
print "medians of the rounds (lowest to highest)\n\n";
my %factor;

for my $name (qw(token introspect)) {
    print_service($name);
    $factor{$name} = print_cpu($name);
    print "\n";
}
print "floors, requests per second\n";
print_floors();
print_noise();
print "\nlimits\n";
bar( "worker's CPU for /$_, ms (an aim)", median( cpu( $_, 'worker' ) ), '%.2f', WORKER_MS->{$_} )
  for qw(token introspect);
for my $line (@evaluation) {
    bar( "evaluation of /token's question, $1, ms", $2, '%.2f', EVALUATION_MS )
      if $line =~ /^issue with (\d+ bindings): ([\d.]+) ms mean/;
}
print_evaluation();
if ( length( $fact{memory_kb} // '' ) ) {
    bar( "private memory of the largest process, MB", $fact{memory_kb} / 1024, '%.1f', MEMORY_MB );
}
else { print "  private memory: not visible to this account; run this as root\n" }
bar('database octets per token, its audit row and indexes',
    median( each_round( 'token', sub { $_[0]{octets} / $_[0]{requests} } ) ), '%.0f', OCTETS_PER_TOKEN );
bar( "round trips to the database per /$_", $fact{"trips_$_"}, '%d',   TRIPS->{$_} ) for qw(token introspect);
bar( "overhead factor /$_",                 $factor{$_},       '%.2f', FACTOR_MOST ) for qw(token introspect);
printf "\n%s\n\n", $over ? "$over over" : 'all ok';
printf "overhead factor /%s %.2f\n", $_, $factor{$_} for qw(token introspect);

#!/usr/bin/perl
# Make a pgbench script from the statements that the service sent: statements.pl LOG TRIPS PREFIX
#
# LOG is the log of PostgreSQL during one request, with log_statement = all. TRIPS is the output of Authz::PgProxy for the
# same request: one line per round trip with the names of its prepared statements in order. Writes PREFIX.sql, the
# unchanged statements with their parameters as pgbench variables and one pipeline per round trip, and PREFIX.args, the -D
# options with the values of the request, separated by NUL.
#
# Only the id of a new token must differ in each transaction. The first twelve of its 32 digits are the time; the script has
# @NOW@ there, so that new rows go to the end of the index as in the service. The last twelve count up from the variable i.
# The caller of pgbench sets both. pgbench sends a parameter twice if a statement uses it twice, and every parameter as text,
# so the floor is slightly too high.
use strict;
use warnings;

# Statement => number of the parameter that must be new in each transaction.
my %fresh = ( token_insert => 4 );

my ( $log, $trips, $prefix ) = @ARGV;
die "usage: statements.pl LOG TRIPS PREFIX\n" if @ARGV != 3;

# Return the text and the parameters of the last execution of each prepared statement.
sub read_log {
    my ($path) = @_;
    my ( %seen, $last );
    open my $in, '<', $path or die "$path: $!\n";
    while ( my $line = readline $in ) {
        if ( $line =~ / LOG:  execute (\S+?): (.*)$/ ) {
            $last = $1;
            $seen{$last} = { text => $2, values => {} };
        }
        elsif ( defined $last && $line =~ / DETAIL:  parameters: (.*)$/ ) {
            $seen{$last}{values} = read_values($1);
            undef $last;
        }
        elsif ( defined $last && $line =~ /^\t(.*)$/ ) { $seen{$last}{text} .= " $1" }
    }
    return \%seen;
}

sub read_values {
    my ($list) = @_;
    my %value;
    while ( $list =~ /\G(?:, )?\$(\d+) = (?:'((?:[^']|'')*)'|NULL)/g ) {
        my ( $number, $value ) = ( $1, $2 );
        $value =~ s/''/'/g if defined $value;
        $value{$number} = $value;
    }
    return \%value;
}

# Return the text with pgbench variables instead of $1, $2, ...; add to the options and to the start of the script.
sub convert {
    my ( $name, $statement, $args, $head ) = @_;
    my ( $text, $values ) = @{$statement}{qw(text values)};
    my ($short) = $name =~ /\A(\w+)/;
    my $new = $fresh{$short} // 0;
    for my $number ( keys %$values ) {
        push @$args, '-D', "${short}_$number=$values->{$number}" if defined $values->{$number} && $number != $new;
    }
    if ($new) {
        push @$head, '\set i :i + 1', '\set n 100000000000 + :i * 256 + :client_id';
        ( my $digits = $values->{$new} ) =~ tr/-//d;
        $text =~ s/\$$new\b/"('\@NOW@" . substr($digits, 12, 8) . "' || :n)"/eg;
    }
    $text =~ s/\$(\d+)/defined $values->{$1} ? ":${short}_$1" : 'NULL'/eg;
    return "$text;";
}

sub write_file {
    my ( $path, @parts ) = @_;
    open my $out, '>', $path or die "$path: $!\n";
    print {$out} @parts;
    close $out or die "$path: $!\n";
    return;
}

my $seen = read_log($log);
open my $in, '<', $trips or die "$trips: $!\n";
my ( @args, @head, @body );
while ( my $trip = readline $in ) {
    chomp $trip;
    my @lines;
    for my $name ( split /, /, $trip ) {
        die "$log: no execution of $name, in the round trip: $trip\n" if !$seen->{$name};
        push @lines, convert( $name, $seen->{$name}, \@args, \@head );
    }
    push @body, @lines > 1 ? ( '\startpipeline', @lines, '\endpipeline' ) : @lines;
}
die "$trips: no round trips\n" if !@body;
write_file( "$prefix.sql", map {"$_\n"} @head, @body );
write_file( "$prefix.args", map {"$_\0"} @args );

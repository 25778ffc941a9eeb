#!/usr/bin/perl
# Makes a pgbench script of what the service sent: statements.pl LOG PREFIX TRIP...
#
# LOG is PostgreSQL's log with log_statement = all around one request. A TRIP is a name from fcgi/store, or several
# joined by + that the service sends in one round trip. Writes PREFIX.sql, the statements word for word with their
# parameters as pgbench variables, and PREFIX.args, the -D options with the values the request had, NUL-separated.
#
# One thing cannot be the same in each transaction: the id of a new token. The last twelve of its 32 digits count up.
use strict;
use warnings;

# Statement => number of the parameter that has to be new each time.
my %fresh = (token_insert => 4);

my ($log, $prefix, @trips) = @ARGV;
die "usage: statements.pl LOG PREFIX TRIP...\n" unless @trips;

# Of each statement the last execution: its text, and its parameters by number.
sub read_log {
    my ($path) = @_;
    my (%seen, $last);
    open my $in, '<', $path or die "$path: $!\n";
    while (<$in>) {
        if (/ LOG:  execute ([a-z_]+):[^ ]*: (.*)$/) {
            $last = $1;
            $seen{$last} = {text => $2, values => {}};
        } elsif (defined $last && / DETAIL:  parameters: (.*)$/) {
            my $list = $1;
            while ($list =~ /\G(?:, )?\$(\d+) = (?:'((?:[^']|'')*)'|NULL)/g) {
                my ($number, $value) = ($1, $2);
                $value =~ s/''/'/g if defined $value;
                $seen{$last}{values}{$number} = $value;
            }
            undef $last;
        }
    }
    return \%seen;
}

# The text with pgbench variables in place of $1, $2, ...; adds to the options and the script's head.
sub convert {
    my ($name, $statement, $args, $head) = @_;
    my ($text, $values) = @{$statement}{qw(text values)};
    my $new = $fresh{$name} // 0;
    for my $number (keys %$values) {
        push @$args, '-D', "${name}_$number=$values->{$number}" if defined $values->{$number} && $number != $new;
    }
    if ($new) {
        push @$head, '\set i :i + 1', '\set n 100000000000 + :i * 256 + :client_id';
        (my $digits = $values->{$new}) =~ tr/-//d;
        $text =~ s/\$$new\b/"('" . substr($digits, 0, 20) . "' || :n)"/eg;
    }
    $text =~ s/\$(\d+)/defined $values->{$1} ? ":${name}_$1" : 'NULL'/eg;
    return "$text;";
}

my $seen = read_log($log);
my (@args, @head, @body);
for my $trip (@trips) {
    my @names = split /\+/, $trip;
    my @lines;
    for my $name (@names) {
        die "$log: no execution of $name\n" unless $seen->{$name};
        push @lines, convert($name, $seen->{$name}, \@args, \@head);
    }
    push @body, @names > 1 ? ('\startpipeline', @lines, '\endpipeline') : @lines;
}
open my $sql, '>', "$prefix.sql" or die "$prefix.sql: $!\n";
print $sql join("\n", @head, @body), "\n";
close $sql or die "$prefix.sql: $!\n";
open my $out, '>', "$prefix.args" or die "$prefix.args: $!\n";
print $out map { "$_\0" } @args;
close $out or die "$prefix.args: $!\n";

#!/usr/bin/perl
# Save policy while one of two engines is stopped, and then killed, and print the times:
#   silent.pl BASE-URL ADMIN-KEY PID FIRST-PID SECONDS LOAD ADDRESS REQUEST-FILE EXPECT CONNECTIONS
# PID is the second engine; FIRST-PID the first one if decisions do not need it, else empty. Then it is stopped and killed too.
# LOAD is the load generator of this directory. See contrib/bench/saves.
use strict;
use warnings;

use HTTP::Tiny  ();
use JSON::PP    qw(encode_json);
use Time::HiRes qw(sleep time);

my ( $base, $key, $pid, $first, $seconds, @load ) = @ARGV;
die "usage: see the first lines of $0\n" if @load != 5;

my $http = HTTP::Tiny->new(
    timeout         => 60,
    default_headers => { 'X-Admin-API-Key' => $key, 'Content-Type' => 'application/json' } );
my $number = 0;

# Save a rule: the time in seconds, and what became of it.
sub save {
    $number++;
    my $content = encode_json(
        {   mode  => 'merge', data => [],
            rules => [
                {   path    => 'custom/bench/silent.rego', enabled => JSON::PP::true,
                    content => "package custom.bench.silent\n\nnumber := $number\n" } ] } );
    my $start  = time;
    my $answer = $http->post( "$base/admin/api/policy-bundle/deploy", { content => $content } );
    my ($word) = $answer->{content} =~ /"(?:activation|error)":\s*"(\w+)"/;
    return ( time - $start, "$answer->{status} " . ( $word // '' ) );
}

# Return p50 and p99 in milliseconds, and the number of wrong answers, while the code runs.
sub load_beside {
    my ($code) = @_;
    open my $out, '-|', @load, $seconds or die "load: $!";
    my @result = $code ? $code->() : ();
    my %told   = map { split /=/, $_, 2 } split ' ', join ' ', readline $out;
    close $out;
    return ( $told{p50} / 1000, $told{p99} / 1000, $told{bad}, @result );
}

# Time of a save for which both engines ask for the bundle at once, the shortest so far; and SVC_BUNDLE_FETCH_GRACE_MS, for which a
# save waits otherwise. In seconds.
my ( $shortest, $grace ) = ( 60, 2 );

# Wait until no save waits for the grace: both engines ask for bundles.
sub settle {
    for my $try ( 1 .. 100 ) {
        my ( $took, $what ) = save();
        my $confirmed = $what =~ /\A200 confirmed/;
        $shortest = $took if $confirmed && $took < $shortest;
        return if $try > 4 && $confirmed && $took < $shortest + $grace;
        sleep 0.3;
    }
    die "saves are not confirmed by both engines\n";
}

settle();
my ( undef, $normal ) = my @normal = load_beside();
printf "/token without saves: p50 %.1f ms, p99 %.1f ms, %d not answered with a token\n", @normal;
my $most = length $first ? 1.2 : 3;

# Signal an engine, save, and print the times.
sub print_case {
    my ( $signal, $victim, $word ) = @_;
    kill $signal, $victim or die "kill: $!\n";
    my ( $p50, $p99, $bad, $took, $what ) = load_beside( \&save );
    printf "save beside %s: %.2f s%s, %s\n", $word, $took,
      $victim == $pid ? sprintf( ' (at most 3: %s)', $took <= 3 ? 'ok' : 'over' ) : '', $what;
    printf "  /token meanwhile: p50 %.1f ms, p99 %.1f ms, %.2f times that without (at most $most: %s), "
      . "%d not answered with a token\n", $p50, $p99, $p99 / $normal, $p99 / $normal <= $most ? 'ok' : 'over', $bad;
    if ( $signal eq 'STOP' ) {
        kill 'CONT', $victim or die "kill: $!\n";
        settle();
    }
    return;
}

print_case( STOP => $pid, 'a stopped engine' );
if ( length $first ) {
    print_case( STOP => $first, 'the stopped first engine' );
}
print_case( KILL => $pid, 'a killed engine' );
if ( length $first ) {
    settle();
    print_case( KILL => $first, 'both engines killed' );
}

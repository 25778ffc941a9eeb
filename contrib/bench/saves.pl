#!/usr/bin/perl
# Save and deploy policy repeatedly and print the times:
#   saves.pl ENGINE BASE-URL ADMIN-KEY SAVES RULES SECONDS LOAD ADDRESS REQUEST-FILE EXPECT CONNECTIONS
# LOAD is the load generator of this directory. See contrib/bench/saves.
use strict;
use warnings;

use HTTP::Tiny  ();
use JSON::PP    qw(decode_json encode_json);
use List::Util  qw(sum0);
use POSIX       ();
use Time::HiRes qw(sleep time);

my ( $engine, $base, $key, $saves, $rules, $seconds, @load ) = @ARGV;
die "usage: see the first lines of $0\n" if @load != 5;

# Most of the longest time of a request in the second after a save, in parts of that in a second without one.
use constant STALL_MOST => 1.5;

# Seconds between deploys, and the number of valid deploys before a refused one (performance.md R16).
my ( $every, $good ) = ( 5, 4 );
my $http = HTTP::Tiny->new(
    timeout         => 120,    # more than SVC_BUNDLE_CONFIRM_TIMEOUT_MS of the run
    default_headers => { 'X-Admin-API-Key' => $key, 'Content-Type' => 'application/json' } );

# Return the JSON of the answer and the time in milliseconds.
sub call {
    my ( $method, $target, $body, $want ) = @_;
    my $content = encode_json($body);
    my $start   = time;
    my $answer  = $http->request( $method, "$base$target", { content => $content } );
    my $took    = ( time - $start ) * 1000;
    die "$method $target: $answer->{status} $answer->{content}\n" if $answer->{status} !~ /\A(?:$want)\z/;
    return ( decode_json( $answer->{content} ), $took, $answer->{headers} );
}

sub rule {
    my ( $number, $text ) = @_;
    return "package custom.bench.r$number\n\n# $text\nallowed if input.client.id == \"client-$number\"\n";
}

sub policy {
    my ($number) = @_;
    my $effect = $number % 3 == 0 ? 'forbid' : 'permit';
    return
      qq{\@id("p$number")\n$effect (principal in Group::"g$number", action in [Action::"read", Action::"write"], resource is Doc)\n}
      . qq{when { resource.owner == principal || context.hour < $number && context.tags.contains("t$number") }\n}
      . qq{unless { context has suspended && context.suspended };\n};
}

sub deploy {
    my ( $mode, $rules, $data, $want ) = @_;
    return call(
        POST => '/admin/api/policy-bundle/deploy', { mode => $mode, rules => $rules, data => $data },
        $want // 200 );
}

sub quantile {
    my ( $q, @sorted ) = @_;
    return $sorted[ POSIX::ceil( $q * @sorted ) - 1 ];
}

# Return the times of N confirmed saves of a small rule, in milliseconds.
sub small_saves {
    my ( $name, $count ) = @_;
    my @took;
    for my $i ( 1 .. $count ) {
        my ( undef, $ms, $header ) = call(
            PUT => '/admin/api/policy-rules/by-path',
            {   path    => 'custom/bench/small.rego', kind => 'rego', version => '1',
                content => rule( 'small', "$name $i" ) },
            '200|201' );
        die "not confirmed: $header->{'x-policy-activation'}\n" if $header->{'x-policy-activation'} ne 'confirmed';
        push @took, $ms;
    }
    @took = sort { $a <=> $b } @took;
    return ( quantile( 0.5, @took ), quantile( 0.99, @took ) );
}

# Return answers per second, p50 and p99 in milliseconds, and the number of wrong answers while the code runs.
sub load_beside {
    my ($code) = @_;
    open my $out, '-|', @load, $seconds or die "load: $!";
    $code->() if $code;
    my %told = map { split /=/, $_, 2 } split ' ', join ' ', readline $out;
    close $out;
    return ( $told{requests} * 1e6 / $told{us}, $told{p50} / 1000, $told{p99} / 1000, $told{bad} );
}

# The same for rows of data, which change no module: an embedded engine has their plan already.
sub data_saves {
    my ($count) = @_;
    my @took;
    for my $i ( 1 .. $count ) {
        my ( undef, $ms, $header ) = call(
            PUT => '/admin/api/policy-data/by-key?dataKey=bench.small', { payload => encode_json( { number => $i } ) },
            '200|201' );
        die "not confirmed: $header->{'x-policy-activation'}\n" if $header->{'x-policy-activation'} ne 'confirmed';
        push @took, $ms;
    }
    @took = sort { $a <=> $b } @took;
    return ( quantile( 0.5, @took ), quantile( 0.99, @took ) );
}

# Return the longest times of a request in the second after a save's answer, and in a second without a save, in milliseconds: the
# medians of so many. The load has more connections than there are workers, so each of them answers by the new policy.
sub switches {
    my ($count) = @_;
    my %longest;
    for my $i ( 1 .. $count ) {
        for my $kind (qw(without after)) {
            small_saves( "switch $i", 1 ) if $kind eq 'after';
            open my $out, '-|', @load, 1 or die "load: $!";
            my %told = map { split /=/, $_, 2 } split ' ', join ' ', readline $out;
            close $out;
            push @{ $longest{$kind} }, $told{max} / 1000;
        }
    }
    return map {
        quantile( 0.5, sort { $a <=> $b } @{ $longest{$_} } )
    } qw(after without);
}

my ( $deploys, $refused ) = ( 0, 0 );

sub deploys {
    my $end = time + $seconds - 1;
    while ( time < $end ) {
        my $next = time + $every;
        my $bad  = $deploys++ % ( $good + 1 ) == $good;
        my $text = rule( 'load', "deploy $deploys" ) . ( $bad ? "wrong {\n" : '' );
        deploy(
            'merge', [ { path => 'custom/bench/load.rego', content => $text, enabled => JSON::PP::true } ], [],
            $bad ? 422 : 200 );
        $refused++         if $bad;
        last               if $next > $end;
        sleep $next - time if $next > time;
    }
    return;
}

sub bar { return $_[0] <= $_[1] ? 'ok' : 'over' }

my ( $p50, $p99 ) = small_saves( 'alone', $saves );
printf "save of a small rule, to confirmed: p50 %.1f ms (at most 60: %s), p99 %.1f ms, %d saves\n", $p50,
  bar( $p50, 60 ), $p99, $saves;

( $p50, $p99 ) = data_saves($saves);
printf "save of a row of data, to confirmed: p50 %.1f ms, p99 %.1f ms, %d saves\n", $p50, $p99, $saves;

my $switches = $saves < 20 ? $saves : 20;
my ( $after, $without ) = switches($switches);
printf
  "longest time of /token in the second after a save's answer: %.1f ms, without a save %.1f ms, medians of %d: %.2f times (at most %.1f: %s)\n",
  $after, $without, $switches, $after / $without, STALL_MOST, bar( $after / $without, STALL_MOST );

my @rules =
  map { { path => "custom/bench/many/r$_.rego", content => rule( $_, 'one of many' ), enabled => JSON::PP::true } }
  1 .. $rules;
my @data =
  map { { dataKey => "bench.many.d$_", payload => { owner => "client-$_", limits => [ 1 .. 8 ] } } } 1 .. $rules;
my ( $result, $took ) = deploy( 'merge', \@rules, \@data );
printf "deploy of $rules rules and $rules data rows, to confirmed: %.0f ms\n", $took;
( $p50, $p99 ) = small_saves( 'among many', $saves < 20 ? $saves : 20 );
printf "save of a small rule among them: p50 %.0f ms, p99 %.0f ms\n", $p50, $p99;
( $result, $took ) = deploy( 'replace', [], [] );
printf "replaced by nothing: %.0f ms, %d rules and %d rows deleted\n", $took, $result->{rulesDeleted},
  $result->{dataDeleted};

for my $layout (
    [ "in $rules rules", map { { path => "custom/bench/p$_.cedar", content => policy($_) } } 1 .. $rules ],
    [ 'in one rule',     { path => 'custom/bench/all.cedar', content => join '', map { policy($_) } 1 .. $rules } ] )
{
    my ( $name, @cedar ) = @$layout;
    $_->{enabled} = JSON::PP::true for @cedar;
    ( $result, $took ) = deploy( 'merge', \@cedar, [] );
    printf "deploy of $rules Cedar policies %s, to confirmed: %.0f ms\n", $name, $took;
    ( $p50, $p99 ) = small_saves( "beside $name", 5 );
    printf "save of a small rule beside them: p50 %.0f ms, p99 %.0f ms\n", $p50, $p99;
    deploy( 'replace', [], [] );
}

my @without = load_beside();
my @with    = load_beside( \&deploys );
for my $row ( [ 'without deploys', @without ], [ "with a deploy every $every s, $refused of $deploys refused", @with ] )
{
    printf "/token %s: %.0f/s, p50 %.1f ms, p99 %.1f ms, %d not answered with a token\n", @$row;
}
my $most = $engine eq 'embedded' ? 1.2 : 3;
printf "p99 with deploys: %.2f times that without (at most $most: %s)\n", $with[2] / $without[2],
  bar( $with[2] / $without[2], $most );

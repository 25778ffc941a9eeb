#!/usr/bin/perl
# contrib/bench: each program runs from its command line to its end and prints figures, for a few seconds each and on a busy
# machine. The figures are no concern here. They need an installed tree (AUTHZ_PREFIX), as contrib/check has.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();

plan skip_all => 'contrib/check --only bench runs it (AUTHZ_TEST_BENCH=1)' if !$ENV{AUTHZ_TEST_BENCH};
plan skip_all => 'AUTHZ_PREFIX names no installed tree' if !-x ( $ENV{AUTHZ_PREFIX} // '' ) . '/bin/authzctl';

my @force = ('--force');

# Program, options, and a line of the figures.
my @program = (
    [ run => [ qw(--engine both --seconds 1 --rounds 1), @force ], qr/^engine gain \/introspect \d/m ],
    [   flows => [ qw(--engine both --seconds 2 --codes 20), @force ],
        qr/^== embedded\n.*^refresh, token rotated .* requests/ms ],
    [ saves   => [ qw(--engine embedded --saves 3 --rules 10 --seconds 5), @force ], qr/^p99 with deploys: \d/m ],
    [ size    => [ '--sizes', '1000,2000', qw(--seconds 1 --rounds 1) ], qr/^\/introspect +2000 tokens: CPU \d/m ],
    [ attacks => [qw(--engine embedded --seconds 5 burst)],              qr/the last of \d+ after +\d/ ],
    [   gateway => [ qw(--engine embedded --seconds 1 --rounds 1), @force, 'requests' ],
        qr/^  \S.* +\d+[.]\d\d ms +(?:at most|no limit)/m ],
    [ streams      => [qw(--streams 40 --seconds 2)],         qr/^40 streams began in .*; 0 ended by themselves/m ],
    [ beside       => [qw(--seconds 1 --warm 1)],             qr/^authz +introspect +\d/m ],
    [ impact       => [qw(--rows 1000 --seconds 2)],          qr/^1000 recorded decisions/m ],
    [ audit        => [qw(--rows 1000 --days 2 --seconds 2)], qr/^rows 1000 /m ],
    [ 'policy/run' => [ qw(-n 1), Authz::Path::opa() ],       qr/\d ms/ ],
);

# Start a program. Two run at a time, because each one waits half of its time.
sub begin {
    my ($row) = @_;
    my ( $name, $options ) = @$row;
    return Authz::Process->start(
        name    => "bench-$name" =~ tr{/}{-}r,
        env     => { map { ( $_ => $ENV{$_} ) } grep { !/\ASVC_/ } keys %ENV },
        command => [ Authz::Path::source( 'contrib', 'bench', $name ), @$options ] );
}

my ( $start, @left ) = ( time, @program );
my @begun;
while ( @left || @begun ) {
    push @begun, { row => $left[0], process => begin( shift @left ) } while @left && @begun < 2;
    Authz::Process::until_true(
        900,
        sub {
            grep { !$_->{process}->alive } @begun;
        } );
    my ($ended) = grep { !$_->{process}->alive } @begun;
    $ended //= $begun[0];
    @begun = grep { $_ != $ended } @begun;
    my ( $name, $options, $figure ) = @{ $ended->{row} };
    is( $ended->{process}->wait(1), 0, "contrib/bench/$name @$options runs to its end" )
      or diag $ended->{process}->log_text;
    like( $ended->{process}->log_text, $figure, '... and prints its figures' );
    note( sprintf 'after %d s', time - $start );
}
my @there = map {m{([^/]+)\z}} grep { -x && !-d && !/[.]\w+\z/ } glob Authz::Path::source( 'contrib', 'bench', '*' );
my %tried = map { ( $_->[0] => 1 ) } @program, ['together'];
is( join( ' ', grep { !$tried{$_} } @there ), '', 'each program is tried (run starts together)' );

done_testing;

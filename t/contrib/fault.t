# The programme of faults (contrib/fault/programme; performance.md 4.2): each of R1 to R20 has a line, and each test that it names is
# there. What contrib/fault/judge says of a soak passes a limit where it should.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();

my $file = Authz::Path::source(qw(contrib fault programme));
open my $in, '<', $file or die "$file: $!";
my @row = map { chomp; [ split /\|/ ] } grep { !/\A#/ } readline $in;
is( join( ' ', map { $_->[0] } @row ), join( ' ', map {"R$_"} 1 .. 20 ), 'each fault has one line, in order' );
is( join( ' ', map { $_->[0] } grep { @$_ != 4 } @row ), '',
    'each line says what is done, what must hold and what does it' );
for my $row (@row) {
    my ( $name, undef, undef, $how ) = @$row;
    my ($tests) = $how =~ /\A(.*?)\s*(?:\b(?:by|open)\b.*)?\z/;
    my @missing = grep { !-e Authz::Path::source($_) && !-e Authz::Path::source("$_.c") } split ' ', $tests;
    is( "@missing", '', "$name: its tests are there" );
    ok( $tests ne '' || $how =~ /\A(?:by|open)/, "$name: has a test, or says what else does it" );
}

# Run by its own words.
my $run = Authz::Path::source(qw(contrib fault run));
my $all = `$^X $run --list`;
is( $?,                                0,  'contrib/fault/run --list' );
is( scalar( () = $all =~ /^R\d+ /mg ), 20, '... prints them all' );
my $said = `$^X $run R99 2>&1`;
isnt( $?, 0, 'a fault that is not there' );
is( $said, "contrib/fault/run: R99 is no fault; --list prints them\n", '... is named' );

# t/failure/torture.t refuses what it does not know.
my $torture = Authz::Path::source(qw(t failure torture.t));
for my $much ( '', '01', '-1', '1.5', 'most', 'all ' ) {
    local $ENV{AUTHZ_FAULTS} = $much;
    $said = `$^X -I${\ Authz::Path::source(qw(t lib))} $torture 2>&1`;
    like( $said, qr/^AUTHZ_FAULTS is 0, a number of minutes, or all$/m, "AUTHZ_FAULTS='$much' is refused" );
}

# contrib/fault/soak refuses what it does not know before it starts anything.
my $soak = Authz::Path::source(qw(contrib fault soak));
for (
    [ '',                            qr/--hours or --minutes says for how long/, 'no time' ],
    [ '--hours 1 --minutes 60',      qr/--hours or --minutes says for how long/, 'two times' ],
    [ '--minutes 11',                qr/a run takes 12 minutes to 168 hours/,    'too short a time' ],
    [ '--hours 169',                 qr/a run takes 12 minutes to 168 hours/,    'too long a time' ],
    [ '--minutes 12 --rate 0',       qr/--rate requires a number from 1 to 200/, 'a rate of nothing' ],
    [ '--minutes 12 --rate 201',     qr/--rate requires a number from 1 to 200/, 'too high a rate' ],
    [ '--minutes 12 --engine cedar', qr/--engine requires embedded or opa/,      'another engine' ],
    [ '--minutes 12 R1',             qr/unknown argument: R1/,                   'a word' ] )
{
    my ( $words, $text, $name ) = @$_;
    $said = `$^X $soak $words 2>&1`;
    is( $? >> 8, 2, "contrib/fault/soak: $name is a wrong command line" );
    like( $said, $text, '... and the text says what is wrong' );
}

# contrib/fault/judge, on a run that is made up: steady but for what a case changes, by the number of the minute (performance.md 4.2).
my $judge   = Authz::Path::source(qw(contrib fault judge));
my $samples = Authz::Process::directory() . '/samples';

sub judged {
    my (%change) = @_;
    open my $out, '>', $samples or die "$samples: $!";
    for my $minute ( 1 .. 40 ) {
        my %sample = (
            minute => $minute, answers => 1440, failed => 0, wrong => 0, saved => $minute % 4 == 2 ? 1 : 0,
            dropped => $minute % 4 == 0 ? 1 : 0, p99 => 10 + $minute % 3, load => 0.5, database => 5e7,
            map {
                ( "$_.count" => 10, "$_.pss" => 20_000, "$_.anon" => 15_000 + 40 * ( $minute % 5 ), "$_.fds" => 100 )
            } qw(service web opa postgres) );
        $sample{$_} = $change{$_}->( $minute, $sample{$_} ) for keys %change;
        print {$out} join( ' ', map {"$_=$sample{$_}"} sort keys %sample ), "\n";
    }
    close $out or die "$samples: $!";
    my $text = `$^X $judge $samples`;
    return ( $? >> 8, join "\n", $text =~ /^OVER (.*)/mg );
}
is( join( ' ', judged() ), '0 ', 'contrib/fault/judge: a steady run passes no limit' );

# A leak of 32 octets a request is 45 kB a minute here.
for (
    [ 'service.anon'  => sub { $_[1] + 45 * $_[0] },       qr/\Aservice .* anonymous memory/ ],
    [ 'web.anon'      => sub { $_[1] + 45 * $_[0] },       qr/\Aweb .* anonymous memory/ ],
    [ 'postgres.anon' => sub { $_[1] + 95 * $_[0] },       qr/\Apostgres .* anonymous memory/ ],
    [ 'opa.anon'      => sub { $_[1] + 400 * $_[0] },      qr/\Aopa .* anonymous memory/ ],
    [ 'service.fds'   => sub { $_[1] + $_[0] },            qr/\Aservice .* descriptors/ ],
    [ 'p99'           => sub { $_[0] % 4 == 0 ? 14 : 10 }, qr/\Ap99 14.0 ms .* 1.40 times/ ],
    [ 'dropped'       => sub {0},                          qr/\Ap99 .* in 0 minutes with a drop/ ],
    [ 'failed'        => sub { $_[0] == 3 ? 1 : 0 },       qr/\A1 answers other than 200, of 57600/ ],
    [ 'wrong'         => sub { $_[0] == 3 ? 1 : 0 },       qr/\A1 contradictions/ ] )
{
    my ( $name, $change, $text ) = @$_;
    my ( $status, $over ) = judged( $name => $change );
    is( $status, 1, "contrib/fault/judge: $name passes its limit" );
    like( $over, qr/$text[^\n]*\z/, '... which is the only one told' );
}
is( join( ' ', judged( 'service.anon' => sub { $_[1] + 15 * $_[0] } ) ),
    '0 ', 'contrib/fault/judge: growth of 11 octets a request is below the limit' );
is( join( ' ', judged( 'postgres.anon' => sub { $_[1] + 80 * $_[0] } ) ),
    '0 ', 'contrib/fault/judge: growth of 480 kB an hour of each of ten processes is below the limit' );
is( join( ' ', judged( 'service.fds' => sub { $_[1] + ( $_[0] > 20 ? 18 : 0 ) } ) ),
    '0 ', 'contrib/fault/judge: a descriptor of each process and eight more are at the limit' );

done_testing;

# contrib/lib/calendar.sh: each test of HTTP and of faults runs under the sanitizers within four days, those with octets of strangers
# each day, and the day is that of the commit (contrib/README "What runs when").
use strict;
use warnings;

use File::Temp ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();

my $top = Authz::Path::source('.');

# What a line of shell prints, with the functions of the calendar.
sub says {
    my ( $line,   %env )  = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'calendar', env => \%env,
        command => [ 'bash', '-euc', qq(TOP="\$1"; . "\$1/contrib/lib/calendar.sh"; $line), 'calendar', $top ] );
    die "$line: $text" if $status != 0;
    return split /\n/, $text;
}

my $files = 'cd "$TOP"; calendar_files %s t/http/*.t t/http/*/*.t t/failure/*.t';
my @all   = says( sprintf $files, 'all' );
cmp_ok( scalar @all, '>', 150, 'all files' );

my @daily = says('calendar_daily');
my %all   = map { ( $_ => 1 ) } @all;
cmp_ok( scalar @daily, '>', 10, 'files of each day' );
is( join( ' ', grep { !$all{$_} } @daily ), '', '... which all exist' );

my ( %days, @some );
for my $day ( 20_000 .. 20_006 ) {
    my @now = says( sprintf $files, $day );
    my %now = map { ( $_ => 1 ) } @now;
    push @{ $days{$_} }, $day for @now;
    push @some,          scalar @now;
    is( join( ' ', grep { !$now{$_} } @daily ), '', "day $day has the files of each day" );
}
is( join( ' ', grep { !$days{$_} } @all ),            '', 'seven days have each file' );
is( join( ' ', grep { $days{$_}[0] > 20_003 } @all ), '', '... and so have four' );
cmp_ok( ( sort { $b <=> $a } @some )[0], '<', @all * 0.45, 'no day has half of them' );
is_deeply(
    [ says( sprintf $files, 20_004 ) ],
    [ says( sprintf $files, 20_000 ) ],
    'the fifth day has the files of the first' );
is_deeply(
    [ says('calendar_files 5 t/http/a.t t/http/b.t t/http/c.t t/http/d.t') ],
    [ grep {m{\At/http/[a-d][.]t\z}} says('calendar_files 5 t/http/a.t t/http/b.t t/http/bb.t t/http/c.t t/http/d.t') ],
    'a new file moves none of the others' );

# ---- the day

is( ( says('CALENDAR_DAY=7; calendar_day') )[0],   7,     'a day that is named' );
is( ( says('CALENDAR_DAY=all; calendar_day') )[0], 'all', '... or all of them' );
my $none = File::Temp->newdir;
my $now  = int( time / 86_400 );
like(
    ( says( 'TOP=$NONE; calendar_day', NONE => "$none", GIT_CEILING_DIRECTORIES => '/' ) )[0],
    qr/\A(?:$now|@{[ $now + 1 ]})\z/,
    'today, where there is no commit' );
SKIP: {
    skip 'no git', 1 if !defined Authz::Path::on_path('git');
    my ( $status, $text ) = Authz::Process->run( name => 'git', command => [ 'sh', '-euc', <<'END', 'git', "$none" ] );
cd "$1" && git init -q . && GIT_COMMITTER_DATE='@86400000 +0000' \
    git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m a
END
    is( ( says( 'TOP=$NONE; calendar_day', NONE => "$none" ) )[0], 1000, 'the day of the commit' )
      or diag "$status $text";
}

# ---- contrib/check

for my $words ( '--day', '--day x', '--day -1', q(--day '') ) {
    my ( $status, $text ) =
      Authz::Process->run( name => 'check', command => [ 'sh', '-c', qq("\$1"/contrib/check $words), 'sh', $top ] );
    ok( $status != 0 && $text =~ /--day requires a number of days/, "refused: contrib/check $words" ) or diag $text;
}

done_testing;

# build-aux/house: what it accepts, and each rule of it broken, in trees made up here.
use strict;
use warnings;

use File::Basename ();
use File::Path     ();
use File::Temp     ();
use Test::More;

my $script = "$ENV{AUTHZ_SRCDIR}/build-aux/house";

# A header whose function has a promise, its file, and a caller.
my %good = (
    'fcgi/base/a.h' =>
      "/* A. */\n#ifndef A\n#define A\n\n#include <stdint.h>\n\n/* Return one. */\nint a_one(void);\n\n#endif\n",
    'fcgi/base/a.c' => <<'END',
#include "config.h"

#include "base/a.h"

#include <stdio.h>
#include <string.h>

int
a_one(void)
{
    return 1;
}
END
    'fcgi/top/b.c' => <<'END',
#include "config.h"

#include <stdio.h>

#include "base/a.h"

static int
two(void)
{
    return a_one() + a_one();
}
END
);

# The exit status of the script and what it prints, for the good tree with some files replaced.
sub run {
    my (%more) = @_;
    my $dir    = File::Temp->newdir;
    my %tree   = ( %good, %more );
    for my $name ( keys %tree ) {
        File::Path::make_path( "$dir/" . File::Basename::dirname($name) );
        open my $out, '>', "$dir/$name" or die "$name: $!";
        print $out $tree{$name};
        close $out or die "$name: $!";
    }
    my $printed = qx($^X \Q$script\E \Q$dir\E 2>&1);
    return ( $? >> 8, $printed );
}

sub accepts {
    my ( $name,   %more )    = @_;
    my ( $status, $printed ) = run(%more);
    is( $status, 0, "accepted: $name" ) or diag($printed);
    return;
}

# The lines are those that are printed before the count: all of them.
sub refuses {
    my ( $name, $lines, %more ) = @_;
    my ( $status, $printed ) = run(%more);
    is( $status,                              1,                         "refused: $name" );
    is( $printed =~ s/^\d+ C files.*\n\z//mr, join( "\n", @$lines, '' ), '... naming file, line, fault and remedy' );
    return;
}

sub header {
    my ($text) = @_;
    return $good{'fcgi/base/a.h'} =~ s/(?=\n#endif)/$text/r;
}

# A static function of so many lines, and its caller.
sub of_lines {
    my ($lines) = @_;
    return
        $good{'fcgi/top/b.c'}
      . "\nstatic int\nlong_one(int a,\n         int b)\n{\n"
      . "    a++;\n" x ( $lines - 4 ) . "}\n";
}

accepts('a tree in order');

accepts( 'a function of 45 lines', 'fcgi/top/b.c' => of_lines(45) );
refuses(
    'a function of 46 lines',
    ['fcgi/top/b.c:14: long_one() has 46 lines; split it, at most 45'],
    'fcgi/top/b.c' => of_lines(46) );
accepts(
    'braces in texts and comments end no function',
    'fcgi/top/b.c' => of_lines(44) =~ s/a\+\+;/a++; \/* }\n} { *\/ b = "}"; c = '{';/r );

my $state = sub { return $good{'fcgi/top/b.c'} . "\n$_[0]\n" };
accepts(
    'variables with static storage that cannot change',
    'fcgi/top/b.c' => $state->(
        "static const int one = 1;\nstatic const char *const names[] = {\"a\"};\nstatic char *const last = 0;\nstatic int\nfour(void)\n{\n    static const int four = 4;\n    return four;\n}"
    ) );
for my $variable (
    'static int held;', 'static int held[2] = {1};', 'static const char *held;',
    "static const char *held[] = {0};" )
{
    refuses(
        "a variable that outlives its function: $variable",
        ['fcgi/top/b.c:13: held outlives its function and can change; pass it down in a struct, or make it const'],
        'fcgi/top/b.c' => $state->($variable) );
}
refuses(
    'the same in a function',
    ['fcgi/top/b.c:16: held outlives its function and can change; pass it down in a struct, or make it const'],
    'fcgi/top/b.c' => $state->("static int\nfour(void)\n{\n    static int held;\n    return held;\n}") );

my $locks = $good{'fcgi/top/b.c'} . "\nint c = fcntl(1, F_SETLK, 0);\n";
for my $use ( 'mmap(0)', 'flock(1, 2)', 'fcntl(1, F_OFD_SETLKW, 0)', 'kill(pid, 0)', 'socketpair(AF_UNIX, 1, 0, 0)' ) {
    my ($word) = $use =~ /fcntl\(1, (\w+)/ ? $1 : $use =~ /\A(\w+)/;
    my $line = "fcgi/top/b.c:13: $word is of fcgi/host; use or extend a module of that room";
    refuses(
        "what processes share outside fcgi/host: $use",
        [ $use =~ /AF_UNIX/ ? $line =~ s/$word/AF_UNIX/r : (), $line ],
        'fcgi/top/b.c' => $good{'fcgi/top/b.c'} . "\nint c = $use;\n" );
}
accepts(
    'the same in fcgi/host, in cli and in a test, and kill() with a signal',
    'fcgi/host/c.c' => $locks,
    'cli/c.c'       => $locks,
    't/top/c-t.c'   => $locks,
    'fcgi/top/b.c'  => $good{'fcgi/top/b.c'} . "\nint c = kill(pid, SIGTERM);\n" );

my $circle = 'folders include each other in a circle';
refuses(
    'two folders that include each other',
    [   "fcgi/base/a.c:5: $circle (fcgi/base -> fcgi/top -> fcgi/base); remove one of its arrows",
        "fcgi/top/b.c:5: $circle (fcgi/base -> fcgi/top -> fcgi/base); remove one of its arrows" ],
    'fcgi/top/b.h'  => "/* B. */\n",
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} =~ s/\n#include <.*>\n/\n#include "top\/b.h"\n/sr );
my $of_inner = "#include \"config.h\"\n\n#include \"base/in/c.h\"\n\n#include \"base/a.h\"\n";
refuses(
    'a folder and its inner folder that include each other',
    [   "fcgi/base/a.c:5: $circle (fcgi/base -> fcgi/base/in -> fcgi/base); remove one of its arrows",
        "fcgi/base/in/c.c:5: $circle (fcgi/base -> fcgi/base/in -> fcgi/base); remove one of its arrows" ],
    'fcgi/base/in/c.h' => "/* C. */\n",
    'fcgi/base/in/c.c' => $of_inner              =~ s/\n\n(#include "base.in.*?)\n\n/\n\n$1\n\n/r,
    'fcgi/base/a.c'    => $good{'fcgi/base/a.c'} =~ s/\n#include <.*>\n/\n#include "base\/in\/c.h"\n/sr );
accepts(
    'an inner folder that includes its folder',
    'fcgi/base/in/c.h' => "/* C. */\n",
    'fcgi/base/in/c.c' => $of_inner );
refuses(
    'a circle of rooms whose folders make none',
    [   "fcgi/one/in/x.h:1: $circle (fcgi/one -> fcgi/two -> fcgi/one); remove one of its arrows",
        "fcgi/two/in/y.h:1: $circle (fcgi/one -> fcgi/two -> fcgi/one); remove one of its arrows" ],
    'fcgi/one/in/x.h' => "#include \"two/z.h\"\n",
    'fcgi/two/z.h'    => "/* Z. */\n",
    'fcgi/two/in/y.h' => "#include \"one/w.h\"\n",
    'fcgi/one/w.h'    => "/* W. */\n" );

refuses(
    'a file of cli that includes a header of an endpoint',
    ['cli/verb.c:1: admin/x.h is of an endpoint; move what is needed to policy, store or base'],
    'fcgi/admin/x.h' => "/* X. */\n",
    'cli/verb.c'     => "#include \"admin/x.h\"\n" );
accepts(
    'a file of cli that includes a lower room, and a room whose name begins like one of an endpoint',
    'fcgi/administer/x.h' => "/* X. */\n",
    'cli/verb.c'          => "#include \"administer/x.h\"\n#include \"base/a.h\"\n" );

my $many = sub {
    my ( $folder, $kind, $count ) = @_;
    return map { ( "$folder/f$_.$kind" => "\n" ) } 1 .. $count;
};
accepts( '24 .c files and 24 .t files in a folder', $many->( 'cli/x', 'c', 24 ), $many->( 't/http/x', 't', 24 ) );
refuses(
    'a folder of 25 .c files', ['cli/x:0: 25 .c files; make rooms by subject, at most 24 each'],
    $many->( 'cli/x', 'c', 25 ) );
refuses(
    'a folder of HTTP tests with 25 .t files',
    ['t/http/x:0: 25 .t files; make rooms by subject, at most 24 each'],
    $many->( 't/http/x', 't', 25 ) );

accepts(
    'two .c files of one name, and three headers',
    map { ( $_ => "\n" ) } qw(cli/x/one.c fcgi/x/one.c), map {"fcgi/h$_/one.h"} 1 .. 3 );
refuses(
    'three .c files of one name',
    [   map {"$_:0: one.c is the name of other files too; begin it with its room, at most 2 have one name"}
          qw(cli/x/one.c fcgi/x/one.c fcgi/y/in/one.c) ],
    map { ( $_ => "\n" ) } qw(cli/x/one.c fcgi/x/one.c fcgi/y/in/one.c) );

# A folder of modules: each with a header, which includes those of the modules named.
my $modules = sub {
    my %links = @_;
    return map {
        ( "fcgi/base/m/$_.h" => "/* M. */\n" . join( '', map {"#include \"base/m/$_.h\"\n"} sort @{ $links{$_} } ) )
    } keys %links;
};
my $together = 'remove an include, or put what they share in a NAME_private.h';
refuses(
    'modules that include each other',
    [   "fcgi/base/m:0: modules include each other (a b); $together",
        "fcgi/base/m:0: modules include each other (c d e); $together" ],
    $modules->( a => ['b'], b => ['a'], c => ['d'], d => ['e'], e => ['c'] ) );
refuses(
    'modules that include each other, and not all of them the private header',
    ["fcgi/base/m:0: modules include each other (a b); $together"],
    $modules->( a => [ 'b', 'a_private' ], b => ['a'], a_private => [] ) );
accepts(
    'modules that include each other and share a private header',
    $modules->( a => [ 'b', 'a_private' ], b => [ 'a', 'a_private' ], a_private => [] ),
    'fcgi/base/m/a.c' => "#include \"base/m/a.h\"\n" );

my $star = sub {
    my ($count) = @_;
    return $modules->( centre => [ map {"m$_"} 1 .. $count ], map { ( "m$_" => [] ) } 1 .. $count );
};
accepts( 'a folder whose modules have 20 includes of each other', $star->(20) );
refuses(
    'a folder whose modules have 21 includes of each other',
    ['fcgi/base/m:0: its modules have 21 includes of each other; make rooms by subject or remove some, at most 20'],
    $star->(21) );

my $readme = sub {
    my ( $prose, @more ) = @_;
    return join '', ("Prose.\n") x $prose, "\n", ( map {"f$_.c    the file $_\n"} 1 .. 12 ), @more;
};
my @twelve = $many->( 'fcgi/x', 'c', 12 );
accepts( 'a folder of 11 .c files without a README',      $many->( 'fcgi/x', 'c', 11 ) );
accepts( 'a folder of cli of 12 .c files without README', $many->( 'cli/x',  'c', 12 ) );
accepts(
    'a README with 15 lines of prose, of 120 columns, and each file',
    @twelve,
    'fcgi/x/README' => $readme->( 14, 'x' x 120 . "\n" ) );
refuses(
    'a folder of 12 .c files without a README',
    ['fcgi/x:0: 12 .c files and no README; write one with a line for each of them'], @twelve );
refuses(
    'a README that lacks a file, names it in prose alone, and has one that is gone and one twice',
    [   'fcgi/x/README:0: f12.c has no line; add one: the name, two blanks, what the file is for',
        'fcgi/x/README:15: f1.c is not in this folder or stands here twice; delete the line',
        'fcgi/x/README:16: gone.c is not in this folder or stands here twice; delete the line' ],
    @twelve,
    'fcgi/x/README' => $readme->( 1, "f1.c  again\n", "gone.c  gone\n" ) =~ s/^f12.c +/f12.c /mr );
refuses(
    'a README with 16 lines of prose',
    ['fcgi/x/README:0: 16 lines are not of the table of files; shorten them to what a reader needs, at most 15'],
    @twelve,
    'fcgi/x/README' => $readme->(16) );
refuses(
    'a README with a line of 121 columns',
    ['fcgi/x/README:15: has more than 120 columns; divide it'],
    @twelve,
    'fcgi/x/README' => $readme->( 1, 'x' x 121 . "\n" ) );

my $question = 'an opening with a question word; begin with an imperative, the returned value or the name of the thing';
my %worded   = (
    '/* What it does. */'                  => $question,
    "/*\n * How it\n * works. */"          => $question,
    '/* Return the rows of before. */'     => '"of before"; say "previous", "earlier" or what it was',
    "/* The id is none\n * of the row. */" => '"is none of"; say "does not belong to" or "is not a"',
    '    // some hundred'                  => '"some hundred"; say "a few hundred"',
    '    /* the row; NULL: none */'        => '": none"; say "NULL if there is no ..." or "or NULL"',
);
for my $comment ( sort keys %worded ) {
    refuses(
        "a comment: $comment",
        ["fcgi/top/b.c:13: the comment has $worded{$comment}"],
        'fcgi/top/b.c' => $state->($comment) );
}
accepts(
    'the words of an opening behind the first one, in a comment behind code, in another word and in a text',
    'fcgi/top/b.c' => $state->(
            "/* Return what it does. */\nstatic const int one = 1; /* whose */\n/* Offer it. */\n"
          . "static const char text[] = \"some hundred: none of before\";" ) );
accepts(
    'a line of 100 columns, and one of 101 in a test',
    'fcgi/top/b.c' => $state->( '/* ' . 'ä' x 94 . ' */' ),
    't/base/a-t.c' => '/* ' . 'x' x 95 . " */\n" );
refuses(
    'a line of 101 columns',
    ['fcgi/top/b.c:13: has more than 100 columns; divide it'],
    'fcgi/top/b.c' => $state->( '/* ' . 'x' x 95 . ' */' ) );
my $schema = header('#define SCHEMA_VERSION 7');
accepts(
    'the version of the last migration',
    'fcgi/store/schema/schema.h' => $schema,
    'sql/0006_a.sql'             => '', 'sql/0007_b.sql' => '' );
my $row = 1 + ( $schema =~ s/#define SCHEMA_VERSION.*//sr =~ tr/\n// );
refuses(
    'a version without the last migration',
    ["fcgi/store/schema/schema.h:$row: SCHEMA_VERSION is 7, and the last file of sql is number 8; make them equal"],
    'fcgi/store/schema/schema.h' => $schema,
    'sql/0007_a.sql'             => '', 'sql/0008_b.sql' => '' );
refuses(
    'two migrations of one number',
    ['sql/0007_b.sql:0: has the number of 0007_a.sql; take the next free one'],
    'fcgi/store/schema/schema.h' => $schema,
    'sql/0007_a.sql'             => '', 'sql/0007_b.sql' => '' );
accepts( 'words of a test', 't/base/a-t.c' => "/* What it does, of before: none. */\n" );

like(
    ( run( 'build-aux/house' => '' ) )[1],
    qr/the table allows \d+ of circles in fcgi\/cedar, and there are 0; lower it/,
    'the numbers of the tables are those of the tree that the program stands in, and fall with it' );

my $other      = "\n/* Return two. */\nint a_two(void);\n";
my $of_other   = "\nint\na_two(void)\n{\n    return 2;\n}\n";
my $by_itself  = $good{'fcgi/base/a.c'} . "$of_other\nint\na_three(void)\n{\n    return a_two();\n}\n";
my $calls_test = "/* T. */\n\nstatic int\ntest(void)\n{\n    return a_two();\n}\n";
refuses(
    'an exported function without a use',
    ['fcgi/base/a.h:11: a_two() has no use; delete it'],
    'fcgi/base/a.h' => header($other),
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} . $of_other );
refuses(
    'an exported function that only tests call',
    ['fcgi/base/a.h:11: a_two() has no use outside t; delete it'],
    'fcgi/base/a.h' => header($other),
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} . $of_other,
    't/base/a-t.c'  => $calls_test );
refuses(
    'an exported function that only its own file calls',
    ['fcgi/base/a.h:11: a_two() has no use outside fcgi/base/a.c; make it static'],
    'fcgi/base/a.h' => header($other),
    'fcgi/base/a.c' => $by_itself );
accepts(
    'an exported function that its own file and a test call',
    'fcgi/base/a.h' => header($other),
    'fcgi/base/a.c' => $by_itself,
    't/base/a-t.c'  => $calls_test );
accepts(
    'a name put together by a macro is a use',
    'fcgi/base/a.h' => header($other),
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} . $of_other,
    'fcgi/top/b.c'  => $good{'fcgi/top/b.c'} . "\n#define CALL(name) a_##name()\n\nint b = CALL(two);\n" );
accepts(
    'an inline function of a header that only the header uses',
    'fcgi/base/a.h' => header(
            "\n/* Return x. */\nstatic inline int\na_x(void)\n{\n    return 1;\n}\n\n"
          . "/* Return y. */\nstatic inline int\na_y(void)\n{\n    return a_x();\n}\n" ),
    'fcgi/top/b.c' => $good{'fcgi/top/b.c'} =~ s/a_one\(\) \+/a_y() +/r );

my $user = $good{'fcgi/top/b.c'} =~ s/a_one\(\) \+/a_two() +/r;
accepts(
    'one comment above lines of declarations, and a comment behind one',
    'fcgi/base/a.h' =>
      header("int a_two(void);\n\nint a_three(int number,\n            int other); /* Return three. */\n"),
    'fcgi/top/b.c' => $user =~ s/two\(\) \+/two() + a_three(1, 2) +/r );
refuses(
    'a declaration without a promise',
    ['fcgi/base/a.h:10: a_two() has no promise; say above it what it does, and what it returns'],
    'fcgi/base/a.h' => header("\nint a_two(void);\n"),
    'fcgi/top/b.c'  => $user );
refuses(
    'a comment behind a member is no promise of the next declaration',
    ['fcgi/base/a.h:13: a_two() has no promise; say above it what it does, and what it returns'],
    'fcgi/base/a.h' => header("\nstruct a {\n    int b; /* B. */\n};\nint a_two(void);\n"),
    'fcgi/top/b.c'  => $user );

my $order = 'includes are not in order; sort them: "config.h", the own header, <system>, "project", each a block';
refuses(
    'an include that stands twice',
    ['fcgi/base/a.c:6: <stdio.h> is included twice; delete this line'],
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} =~ s/<string.h>/<stdio.h>/r );
refuses(
    'includes that are not sorted',
    ["fcgi/base/a.c:5: $order"],
    'fcgi/base/a.c' => $good{'fcgi/base/a.c'} =~ s/<stdio.h>/<time.h>/r );
refuses(
    'both kinds in one block',
    ["fcgi/top/b.c:3: $order"],
    'fcgi/top/b.c' => $good{'fcgi/top/b.c'} =~ s/(stdio.h>)\n\n/$1\n/r );
refuses(
    'headers of the system behind those of the project',
    ["fcgi/top/b.c:7: $order"],
    'fcgi/top/b.c' => $good{'fcgi/top/b.c'} =~ s/(a.h")\n/$1\n\n#include <string.h>\n/r );

my $empty   = File::Temp->newdir;
my $printed = qx($^X \Q$script\E \Q$empty\E 2>&1);
is( $? >> 8, 1, 'a directory without sources is refused' );
like( $printed, qr/no sources were found/, '... with the reason' );

done_testing;

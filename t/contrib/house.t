# contrib/lib/house: what it accepts, and each rule of it broken, in trees made up here.
use strict;
use warnings;

use File::Basename ();
use File::Path     ();
use File::Temp     ();
use Test::More;

my $script = "$ENV{AUTHZ_SRCDIR}/contrib/lib/house";

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

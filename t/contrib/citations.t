# build-aux/citations: what it accepts, and each citation that leads nowhere, in trees made up here.
use strict;
use warnings;

use File::Basename ();
use File::Path     ();
use File::Temp     ();
use Test::More;

my $script = "$ENV{AUTHZ_SRCDIR}/build-aux/citations";

my $rules = <<'END';
# Rules

### 3.2 GET /authorize

- **C9.** One.
- **C12.** Two.
- **PKCE.** Three.

## Readings: Browser side

| Limit | Value |
|---|---|
| Window | 60 s |

```
## In code
```
END
my %pages =
  ( 'doc/design/rules.md' => $rules, 'doc/design/specification.md' => "# S\n\n## 4. A\n\n### 4.5 B\n\n**5.2.** C\n" );

# The exit status of the script and what it prints, for the pages and one more file.
sub run {
    my ( $file, $text, %more ) = @_;
    my $dir  = File::Temp->newdir;
    my %tree = ( %pages, %more, $file => $text );
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
    my ( $file, $text, $name, %more ) = @_;
    my ( $status, $printed ) = run( $file, $text, %more );
    is( $status, 0, "accepted: $name" ) or diag($printed);
    return;
}

sub refuses {
    my ( $file, $text, $line, $name ) = @_;
    my ( $status, $printed ) = run( $file, $text );
    is( $status, 1, "refused: $name" ) or diag($printed);
    like( $printed, qr/^\Q$line\E/m, '... naming file, line, citation and reason' );
    return;
}

accepts(
    'fcgi/a.c', '/* rules.md 3.2, rules.md C12 and specification 4.5. */',
    'a section, a rule, a section of the specification' );
accepts( 'fcgi/a.c', '/* (specification 4.5, 5.2; rules.md C9, C12) */',  'several anchors after one name' );
accepts( 'fcgi/a.c', '/* rules.md C9 to C12; rules.md 3.2 "PKCE" */',     'a range; a number and a lead-in' );
accepts( 'fcgi/a.c', '/* rules.md "Readings: Browser side", "window" */', 'a heading; a row of a table, in any case' );
accepts( 'fcgi/a.c', "/* one (rules.md \"Readings:\n * Browser side\"). */", 'a heading over two lines of a comment' );
accepts(
    't/a-t.c', qq(  "two (rules.md \\"Readings: "\n  "Browser side\\")"),
    'a heading over two pieces of a C string' );
accepts( 't/a.t',       "# rules.md\n# C12.\n",                                'a rule on the next line' );
accepts( 't/a.t',       "ok( 1, 'C12: two' );\nok( 2, 'two (C9, C12)' );",     'rules named alone in test names' );
accepts( 't/a.t',       "# rules.md C9\nok( 1, 'a (A4) page, C1 controls' );", 'what only looks like a rule' );
accepts( 'README',      'See doc/design/rules.md.',                            'the path of a page' );
accepts( 'doc/a.md',    'See [rules](rules.md) and rules.md.',                 'pages that name pages' );
accepts( 'README',      'See guide.md, [it](guide.md).', 'a page for users',     'doc/guide.md' => 'rules.md C9' );
accepts( "t/vectors/a", "rules.md C99\n",                "vectors are not read", "README"       => "rules.md C9" );

refuses(
    'fcgi/a.c',                                                                  "\n/* rules.md C99 */",
    'fcgi/a.c:2: rules.md C99: doc/design/rules.md has no such section or rule', 'no such rule' );
refuses( 'fcgi/a.c', '/* rules.md 3.2, 3.3 */',  'fcgi/a.c:1: rules.md 3.3: ', 'the second of two anchors' );
refuses( 'fcgi/a.c', '/* rules.md C9 to C13 */', 'fcgi/a.c:1: rules.md C13: ', 'the end of a range' );
refuses(
    'sql/a.sql', '-- specification 4.6', 'sql/a.sql:1: specification.md 4.6: ',
    'no such section of the specification' );
refuses(
    'fcgi/a.c',                                                               '/* rules.md "Tokens" */',
    'fcgi/a.c:1: rules.md "Tokens": doc/design/rules.md has no such heading', 'no such heading' );
refuses(
    'fcgi/a.c', '/* rules.md "In code" */', 'fcgi/a.c:1: rules.md "In code": ',
    'a heading in a block of code is none' );
refuses(
    'fcgi/a.c', '/* rules.md "Readings" */', 'fcgi/a.c:1: rules.md "Readings": names no section of its own',
    'a vague heading' );
refuses(
    'fcgi/a.c', '/* why: see rules.md. */', 'fcgi/a.c:1: rules.md: names no section, rule or heading',
    'a page without an anchor' );
refuses( 'fcgi/a.c', '/* gone.md 3 */', 'fcgi/a.c:1: gone.md 3: there is no doc/design/gone.md', 'no such page' );
refuses(
    't/a-t.c', qq("\n  "x (rules.md \\"Gone\\")"), 't/a-t.c:2: rules.md "Gone": ',
    'escaped quotes of a C string' );
refuses(
    't/a.t', "# rules.md C9\nok( 1, 'C99: two' );", 't/a.t:2: C99: no page',
    'an unknown rule at the start of a test name' );
refuses(
    't/a.t', "# rules.md C9\nok( 1, 'two (C9, R7)' );", 't/a.t:2: R7: no page',
    'an unknown rule in parentheses' );
refuses( 'README',   'See doc/design/gone.md.', 'README:1: doc/design/gone.md: ', 'the path of no page' );
refuses( 'doc/a.md', '[it](gone.md)',           'doc/a.md:1: ](gone.md): ',       'a link to no page' );

my ( $status, $printed ) = run( 'README', 'nothing' );
is( $status, 1, 'refused: a tree without any citation' );
like( $printed, qr/none were found/, '... and it says so' );

done_testing;

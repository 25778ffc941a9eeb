# build-aux/way: what it counts, in a tree made up here; and the ways of two requests, which may only become shorter.
use strict;
use warnings;

use File::Path ();
use File::Temp ();
use Test::More;

my $script = "$ENV{AUTHZ_SRCDIR}/build-aux/way";

# What the script prints.
sub printed {
    open my $out, '-|', $script, @_ or die "$script: $!\n";
    my $text = do { local $/ = undef; readline $out };
    close $out;
    return $text;
}

my $dir = File::Temp->newdir;
File::Path::make_path("$dir/fcgi/in");

# Write a file of functions, each a name and its body.
sub file {
    my ( $name, @functions ) = @_;
    open my $out, '>', "$dir/fcgi/$name" or die "$name: $!\n";
    while ( my ( $function, $body ) = splice @functions, 0, 2 ) {
        my $static = $function =~ s/\Astatic // ? 'static ' : '';
        print {$out} "${static}int\n$function(void)\n{\n$body}\n\n";
    }
    close $out or die "$name: $!\n";
    return;
}

file( 'a.c', top => "    if (one())\n        return two();\n    return own();\n", 'static own' => "    return 1;\n" );
file( 'b.c', one => "    /* two() */ return *\"three()\" + x->four() + own();\n", 'static own' => "    return 1;\n" );
file( 'in/c.c',   two      => "    return one() + deep0();\n",                    unused => "    return three();\n" );
file( 'd.c',      three    => "    return 1;\n",                                  four   => "    return 1;\n" );
file( "deep$_.c", "deep$_" => "    return deep@{[ $_ + 1 ]}();\n" ) for 0 .. 9;
is( printed( '-C', $dir, 'top' ),
    "top: 12 files, 22 changes of file; 13 in all\n",
    'files of functions at most 10 calls away: by name, without comments, texts, members and static functions of others'
);
like( printed( '--list', '-C', $dir, 'top' ), qr{^   1 fcgi/b\.c from a\.c c\.c$}m, '--list names files and callers' );

# The files that a reader of these two requests opens: a PUT of any table of the admin API, and that of a rule.
my %most = ( resource_put_handle => 35, policy_rule_put_by_path_handle => 96 );
for my $handler ( sort keys %most ) {
    my ($files) = printed( '-C', $ENV{AUTHZ_SRCDIR}, $handler ) =~ /: (\d+) files/;
    cmp_ok(
        $files, q{<=}, $most{$handler},
        "$handler goes through at most $most{$handler} files; lower the number if it can be" );
}

done_testing;

# doc/source.md and the README of each folder of fcgi: the files and folders that they name exist.
use strict;
use warnings;

use File::Find ();
use Test::More;

use Authz::Path ();
use Authz::Web  ();

# These READMEs have subjects in their first column, not modules.
my %SUBJECTS = map { ( $_ => 1 ) } qw(fcgi/rego/builtin/README);

my $top = Authz::Path::source('.');

# True if a file or folder exists below one of these folders; * stands for any name.
sub exists_in {
    my ( $path, @folders ) = @_;
    return scalar grep {-e} map { glob "$top/$_/$path" } @folders;
}

# All folders below this one, and itself.
sub folders {
    my ($folder) = @_;
    my @found;
    my $note = sub { push @found, substr $_, 1 + length $top if -d };
    File::Find::find( { no_chdir => 1, wanted => $note }, "$top/$folder" );
    return @found;
}

sub text_of { return Authz::Web::edit( Authz::Path::source( split m{/}, $_[0] ) ) }

# Paths from the top, and names that follow one: they stand in its folder, or in the folder that it is.
sub missing_in_page {
    my ($text) = @_;
    my ( @missing, $folder );
    while ( $text =~
        m{(?<![\w./-])((?:[\w*-]+/)*[\w*-]+\.[ch]\b|(?:fcgi|cli|etc|sql|t|build-aux|contrib|doc)/[\w./-]*\w|\w+/(?!\w))}g
      )
    {
        my $name = $1;
        if ( $name =~ m{\A(?:fcgi|cli|etc|sql|t|build-aux|contrib|doc)/} ) {
            push @missing, $name if !exists_in( $name, '.' );
            $folder = -d "$top/$name" ? $name : $name =~ s{/[^/]*\z}{}r;
        }
        else { push @missing, $name if !exists_in( $name, $folder // '.', '.' ) }
    }
    return @missing;
}

my $page = text_of('doc/source.md');
cmp_ok( scalar( my @paths = $page =~ m{\bfcgi/}g ), '>', 30, 'doc/source.md names files of fcgi' );
is( join( ' ', missing_in_page($page) ), '', '... and all of them exist' );
is( join( ' ', missing_in_page("fcgi/main.c, pools.c, gone.c\nfcgi/gone/x.c") ),
    'gone.c fcgi/gone/x.c', '... which this test would see' );

# Files with their suffix, folders with a slash, and the modules in the first column.
sub missing_in_readme {
    my ( $readme, $text ) = @_;
    my $folder = $readme =~ s{/README\z}{}r;
    my @near   = ( folders($folder), "$folder/..", 'fcgi', '.' );
    my @names  = $text =~ m{(?<![\w./*-])((?:[\w*]+/)*[\w*]+\.[ch])\b}g;
    push @names, $text =~ m{(?<![\w./-])((?:\w+/)+)(?=[\s,.;:)])}g;
    if ( !$SUBJECTS{$readme} ) {
        for my $line ( $text =~ /^(\w[\w\/, ]*?)(?: {2,}|\t)\S/mg ) {
            push @names, map { m{/\z} ? $_ : "{$_,$_.[ch]}" } split /,? /, $line;
        }
    }
    return grep { !exists_in( $_, @near ) } @names;
}

my @readmes = grep { -e "$top/$_" } map {"$_/README"} folders('fcgi');
cmp_ok( scalar @readmes, '>', 15, 'folders of fcgi have a README' );
is( join( ' ', missing_in_readme( $_, text_of($_) ) ), '', "$_: what it names exists" ) for @readmes;
is( join( ' ', missing_in_readme( 'fcgi/README', "gone.c, also/\ngone  a module\nroutes  one that exists\n" ) ),
    'gone.c also/ {gone,gone.[ch]}', '... which this test would see' );

done_testing;

#!/usr/bin/perl
# authzctl(8), authz.conf(5) and authz.fcgi(8): complete, up to date, and valid roff.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path ();
use Authzctl;

my $manual = ctl_is( 0, ['manual'], 'the program prints its manual page', env => {} )->{out};
my $help   = ctl( ['--help'] )->{out};
( my $plain = $manual ) =~ s/\\-/-/g;

my @verbs = ( $help =~ /\n\n(.*?)\n\nOptions:/s )[0] =~ /^  ((?:[a-z-]+ )*[a-z-]+)/mg;
cmp_ok( scalar @verbs, '>=', 25, 'the help names the verbs' );
like( $plain, qr/^\.B "\Q$_\E[ "]/m, "... and the manual $_" ) for @verbs;
for my $verb ( '', @verbs ) {
    my $text = ctl( [ split( / /, $verb ), '--help' ] )->{out};
    like( $plain, qr/^\.B "(?:-\w, )?\Q$_\E[ "]/m, "the manual tells of $_" . ( $verb ? " of $verb" : '' ) )
      for $text =~ /^  (?:-\w, )?(--[a-z-]+)/mg;
}
like( $plain, qr/^\.B "$_"$/m, "... of exit status $_" ) for 0, 1, 2, 64, 69, 78;
unlike( $plain, qr{/(?:usr|etc|home|tmp|root|var)/}, 'it names no directory of the machine it was built on' );

like( $plain, qr/^\.SH EXAMPLES$/m, 'it has examples' );
for my $example ( $plain =~ /^\.RS 4\n(.*)$/mg ) {
    for my $words ( $example =~ /authzctl ([a-z-]+(?: [a-z-]+)*)/g ) {
        ok( ( grep { $words eq $_ || index( $words, "$_ " ) == 0 } @verbs ), "... example: $words is a verb" );
    }
}

# authz.conf(5): every setting, with the facts of `config doc`.
my $conf = ctl_is( 0, [qw(manual authz.conf)], 'the program prints authz.conf(5)', env => {} )->{out};
( my $plain_conf = $conf ) =~ s/\\-/-/g;
for my $row ( @{ ctl( [qw(config doc --json)] )->{json} } ) {
    like(
        $plain_conf, qr/^\.B "$row->{name}"\n\Q$row->{help}\E\.\n\.br\n$row->{type}/m,
        "authz.conf(5): $row->{name}" );
}
unlike(
    $plain_conf =~ s{default /usr/bin/opa}{}r, qr{/(?:usr|home|tmp|root)/},
    '... names no directory of the machine it was built on' );
ctl_is( 64, [qw(manual nothing)], 'a page that does not exist is refused' );

# authz.fcgi(8): every option of --help.
my $fcgi  = slurp( Authz::Path::source() . '/doc/authz.fcgi.8' ) =~ s/\\-/-/gr;
my $usage = readpipe( Authz::Path::program('authz.fcgi') . ' --help' );
like( $fcgi, qr/^\.(?:B|BI) $_\b/m, "authz.fcgi(8): $_" ) for $usage =~ /^  (--[a-z-]+)/mg;

# The pages that make has built, or that are shipped, are those that the program prints.
for my $page ( [ 'authzctl.8', $manual ], [ 'authz.conf.5', $conf ] ) {
    my ( $name, $text ) = @$page;
    my ($file) = grep { -e $_ } map {"$_/$name"} grep {defined} $ENV{AUTHZ_BUILDDIR}, Authz::Path::source();
  SKIP: {
        skip "$name is not built here", 1 if !defined $file;
        is( slurp($file), $text, "$file is up to date" );
    }
}

SKIP: {
    my ($groff) = grep { -x $_ } map {"$_/groff"} split /:/, $ENV{PATH};
    skip 'no groff', 3 if !defined $groff;
    for my $text ( $manual, $conf, slurp( Authz::Path::source() . '/doc/authz.fcgi.8' ) ) {
        open my $page, '|-', "$groff -man -Tutf8 -ww -rLL=78n >/dev/null 2>groff.$$.log" or die "groff: $!";
        print {$page} $text;
        close $page;
        is( slurp("groff.$$.log"), '', 'groff has no warning' );
        unlink "groff.$$.log";
    }
}

done_testing;

sub slurp {
    my ($file) = @_;
    open my $in, '<', $file or die "$file: $!";
    local $/ = undef;
    return readline($in) // '';
}

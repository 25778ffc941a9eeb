# The pages about programs of others, doc/providers and doc/mcp-clients, end with the program, the date, and by what it was tried. A test that is
# named exists; the version is the one that tests install; nothing is older than a year.
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::Local ();

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

# What tests install: name in lower case => version.
my $npm       = JSON::PP::decode_json( text_of(qw(t npm package.json)) );
my %package   = ( %{ $npm->{dependencies} }, %{ $npm->{optionalDependencies} // {} } );
my %installed = map { ( lc(s/-linux-x64\z//r) => $package{$_} ) } keys %package;
( $installed{keycloak} ) = text_of(qw(contrib lib keycloak.sh)) =~ /^KEYCLOAK_VERSION=(\S+)$/m;

# A checkout is held against today; an archive keeps its age, and its tests go on passing.
my $now = -e Authz::Path::source('.git') ? time : undef;

# Return what is wrong with the end of a page; "" if nothing is.
sub wrong {
    my ($end) = @_;
    my ( @fault, $count );
    my $flat = $end =~ s/\s+/ /gr;
    while ( $flat =~
        /(?:\A|[.] )([^.:]\S*(?:[ ,][^:]*?)?), (\d{4})-(\d\d)-(\d\d): (tried by test|tried by hand|replayed by)\b([^:]*)/g
      )
    {
        my ( $what, $y, $m, $d, $how, $rest ) = ( $1, $2, $3, $4, $5, $6 );
        $count++;
        my $age = defined $now ? $now - Time::Local::timegm( 0, 0, 0, $d, $m - 1, $y ) : 0;
        push @fault, "$what: older than a year" if $age > 366 * 86400;
        my ($test) = "$rest " =~ m{(t/[\w/]+[.]t)\b};
        push @fault, "$what: names no test that exists"
          if $how ne 'tried by hand' && ( !defined $test || !-e Authz::Path::source($test) );
        next if $how ne 'tried by test';
        for my $one ( split /, /, $what ) {
            my ( $name, $version ) = $one =~ /\A(.+) (\d\S*)\z/ or push @fault, "$one: no version";
            next if !defined $name;
            push @fault, "$name: tests install " . ( $installed{ lc $name } // 'none' ) . ", not $version"
              if ( $installed{ lc $name } // '' ) ne $version;
        }
    }
    push @fault, 'no "PROGRAM, DATE: tried by test …", "tried by hand" or "replayed by …"' if !$count;
    return join '; ', @fault;
}

my @page = glob( Authz::Path::source('doc') . '/{providers,mcp-clients}/*.md' );
cmp_ok( scalar @page, '>=', 12, 'the pages are read' );
for my $file (@page) {
    my ($name) = $file                   =~ m{/(doc/.*)};
    my ($end)  = Authz::Web::edit($file) =~ /\n\n((?:[^\n]+\n)+)\z/;
    is( wrong( $end // '' ), '', "$name says by what it was tried" );
}

# ---- the commands of the pages, on a service

my $stack = Authz::Stack->start;
my $dir   = Authz::Process::directory();
my $ran   = 0;
for my $file (@page) {
    my ($name) = $file =~ m{/(doc/.*)};
    my $text   = Authz::Web::edit($file);
    my ($row)  = $text =~ /^```text\n(\{"clientSecret".*)\n```$/m;
    Authz::Web::write_file( "$dir/secret.json", $row // '{"clientSecret": "a secret"}' );
    for my $block ( $text =~ /^```sh\n(.*?)^```$/msg ) {
        my @line = grep {/\S/} split /\n/, $block =~ s/\\\n */ /gr;
        for my $line (@line) {
            my @word = map {s/\A'(.*)'\z/$1/r} $line =~ /('[^']*'|\S+)/g;
            is( shift @word, 'authzctl', "$name: a command of authzctl" );
            my ( $status, $said ) = $stack->authzctl( map { $_ eq 'secret.json' ? "$dir/$_" : $_ } @word );
            is( $status, 0, "... $word[0] $word[1] $word[2] is done" ) or diag("$line\n$said");
            $stack->authzctl( qw(idp delete --yes), $word[2] ) if $word[0] eq 'idp';
            $ran++;
        }
    }
}
cmp_ok( $ran, '>=', 10, 'the commands are read' );

# ---- what this test would see

like( wrong("Nothing.\n"), qr/no "PROGRAM/, 'an end that says nothing' );
like(
    wrong("Keycloak 1.0, 2026-11-29: tried by test t/interop/keycloak.t.\n"), qr/not 1[.]0/,
    'a version that no test installs' );
like( wrong("Keycloak, 2026-11-29: tried by test t/interop/keycloak.t.\n"), qr/no version/, 'no version' );
like( wrong("Okta, 2026-11-29: replayed by t/http/gone.t.\n"), qr/no test that exists/,     'a test that is gone' );
SKIP: {
    skip 'an archive keeps its age', 1 if !defined $now;
    like( wrong("Okta, 2020-01-01: tried by hand.\n"), qr/older than a year/, 'a page that is too old' );
}
done_testing;

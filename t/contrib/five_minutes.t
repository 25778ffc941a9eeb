#!/usr/bin/perl
# doc/five-minutes.md: its commands can be pasted, twice, and each answer has what the page shows. README: its links lead somewhere.
use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack = Authz::Stack->start;
my $page  = Authz::Web::edit( Authz::Path::source('doc/five-minutes.md') );

# Each block of commands, and the part of its output that the next block shows. The shell lives on from block to block.
my @block = $page =~ /^```(sh)?\n(.*?)^```$/msg;
my ( $script, @expected ) = ('');
while ( my ( $kind, $text ) = splice @block, 0, 2 ) {
    if ( $kind // '' ) { $script .= "${text}echo; echo '-- end of block'\n" }
    else               { chomp $text; push @expected, $text }
}
is( scalar @expected, 4, 'the page shows four answers' );

for my $time ( 'first', 'second' ) {
    my ( $status, $output ) = Authz::Process->run(
        name => "paste-$time", command => [ 'bash', '-u', '-c', $script ],
        env  => { BASE_URL => $stack->base, SVC_ADMIN_API_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} } );
    is( $status, 0, "pasted for the $time time: the commands end well" ) or diag $output;
    my $at = 0;
    for my $part (@expected) {
        my $found = index $output, $part, $at;
        ok( $found >= 0, "... and the answer has $part" ) or diag $output;
        $at = $found + 1;
    }
}

# ---- the pages lead to files that exist

for my $name (
    'README', 'doc/README',
    map {"doc/$_.md"} qw(cedar five-minutes install policy-guide protect-an-api protect-mcp source) )
{
    my $text = Authz::Web::edit( Authz::Path::source($name) );
    my ($in) = $name =~ m{\A(.*/)?};
    my @link = $text =~ /\]\(([^):#]+)(?:#[^)]*)?\)/g;
    @link = map {"../$_"} $text =~ m{(?<![\w./-])((?:doc|contrib|etc|fcgi|cli|sql|t)/[\w./-]*[\w/])}g
      if $name =~ /README|source/ && !@link;
    my @gone = grep { !-e Authz::Path::source( ( $in // '' ) . (s{\A\.\./}{$name eq 'README' ? '' : '../'}er) ) } @link;
    is( "@gone", '', "$name: what it names exists" );
}

done_testing;

#!/usr/bin/perl
# The guides of doc/ in a trial instance, as a reader pastes them: each command ends well, and prints what the page shows.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Trial ();
use Authz::Web   ();

my $began = time;
my $trial = Authz::Trial->start;

# A port of the pages may be taken in a run beside others.
my $port = Authz::Web::free_port();

# The name under which a page commits to git.
my %author = map { ( "GIT_${_}_NAME" => 'Author', "GIT_${_}_EMAIL" => 'author@example.org' ) } qw(AUTHOR COMMITTER);

my @page = (
    [ 'five-minutes.md',   times => 2 ],
    [ 'protect-an-api.md', times => 2, edit => sub {s/\b8000\b/$port/g} ],
    [ 'policy-guide.md',   env   => \%author ],
    ['cedar.md'],
    map { [$_] } qw(authzen.md token-exchange.md ciba.md delegation.md dpop.md client-keys.md authorization-details.md
      connectors.md instance-as-files.md),
);
for my $row (@page) {
    my ( $name, %option ) = @$row;
    next if @ARGV && !grep { $_ eq $name } @ARGV;
    my $start = time;
    $trial->page( $name, %option );
    note sprintf '%s: %.1f s', $name, time - $start;
}
diag sprintf 'guides pasted in %.1f s', time - $began;

done_testing;

#!/usr/bin/perl
# What helps the author of a policy: counts before a deploy.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my @env   = ( env => $env );
sub sql     { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }
sub served  { return sql('SELECT b.revision FROM bundle b JOIN bundle_state s ON s.served = b.id') }
sub history { return ctl( [qw(bundle history --json)], @env )->{json} }

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/ = undef;
    return readline $in;
}

sub put {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    close $out or die "$path: $!";
    return;
}
my $rule = qq{package custom.issue\n\ndeny contains "closed" if input.client.id == "closed"\n};

# ---- counts, before and after

my $work = tree(
    'custom/issue.rego' => $rule, 'custom/off.rego' => "package custom.off\n",
    'custom/same.rego'  => "package custom.same\n",
    'data/my.row.json'  => '{"a": 1, "b": 2}', 'data/my.other.json' => '1',
    'bundle.json'       => '{"disabled": ["custom/off.rego"]}' );
like(
    ctl_is( 0, [ qw(bundle deploy --dry-run), $work ], 'dry run of new rules and rows', @env )->{out},
    qr/^rules: 3 added, 0 changed, 0 removed, 0 unchanged, 0 protected\ndata rows: 2 added, 0 changed, 0 removed, 0 unchanged, 0 protected\n/m,
    '... counts them as added' );
ctl_is( 0, [ qw(bundle deploy -q), $work ], 'their deploy', @env );
put( "$work/custom/issue.rego", "$rule# more\n" );
put( "$work/custom/new.rego",   "package custom.new\n" );
put( "$work/data/my.row.json",  qq({\n "b": 2,\n "a": 1}\n) );
put( "$work/bundle.json",       '{"disabled": []}' );
unlink "$work/data/my.other.json" or die "unlink: $!";
my $counts =
  "rules: 1 added, 2 changed, 0 removed, 1 unchanged, 0 protected\ndata rows: 0 added, 0 changed, 0 removed, 1 unchanged, 0 protected\n";
my $dry = ctl_is( 0, [ qw(bundle deploy --dry-run), $work ], 'dry run with changes', @env );
like(
    $dry->{out}, qr/^\Q$counts\E/m,
    '... a text and a switch are changes; members of a row in another order are not' );
my $dry_replace =
  ctl_is( 0, [ qw(bundle deploy --dry-run --json --mode replace), $work ], '... and with replace', @env )->{json};
is( join( ' ', map { $dry_replace->{"data$_"} } qw(Added Changed Unchanged Upserted Deleted) ), '0 0 1 1 1',
    '... what is not listed is removed' );
is( served(), history()->[0]{revision}, '... and nothing was saved' );

done_testing;

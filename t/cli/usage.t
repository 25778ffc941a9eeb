#!/usr/bin/perl
# The command line: help at every level, and refusals with status 64 before anything is read.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path ();
use Authz::Web  ();
use Authzctl;

my $help  = ctl_is( 0, ['--help'], '--help needs no configuration' );
my @verbs = map { /^  ((?:[a-z-]+ ?)+)(?= |\n|[A-Z])/ ? $1 =~ s/ +\z//r : () } split /^/,
  ( $help->{out} =~ /\n\n(.*?)\n\nOptions:/s )[0];
is( scalar @verbs, 109, 'help lists every verb' ) or diag explain \@verbs;
is( $help->{err},  '',  '... on standard output alone' );
unlike( $help->{out}, qr/^  manual\b/m, 'the hidden verb is not listed' );
is( ( grep { length > 80 && !m{\A/\S+\z} } split /\n/, $help->{out} ), 0, 'help fits 80 columns, but for a path' );
like( $help->{out}, qr/^  $_ /m, "help tells of exit status $_" ) for 0, 1, 2, 64, 69, 78;

for my $verb (@verbs) {
    my $text = ctl_is( 0, [ split( / /, $verb ), '--help' ], "$verb --help" )->{out};
    like( $text, qr/\Ausage: authzctl \[OPTION\.\.\.\] \Q$verb\E\b/, '... begins with its usage' );
}
like(
    ctl( [qw(db status --help)] )->{out}, qr/on this host alone, and refuses --server/,
    'help of a verb of the host says so' );
like(
    ctl( [qw(maintain --help)] )->{out}, qr/on the database alone, and refuses --server/,
    '... and of one of the database' );
unlike( ctl( [qw(keys list --help)] )->{out}, qr/refuses/, '... and of no other' );
for my $noun (
    'admin-key', 'bundle', 'cedar', 'client', 'config', 'connector', 'consent', 'db', 'idp', 'keys', 'policy',
    'policy data',
    'policy rule', 'resource', 'session', 'token' )
{
    my $text = ctl_is( 0, [ split( / /, $noun ), '-h' ], "$noun -h" )->{out};
    my @here = grep {/^\Q$noun\E /} @verbs;
    is( scalar( grep { $text =~ /^  $_\b/m } @here ),  scalar @here, '... lists the verbs of the noun' );
    is( scalar( grep { $text =~ /^  $_\b/m } @verbs ), scalar @here, '... and no other' );
}
my ($version) = Authz::Web::edit( Authz::Path::source('configure.ac') ) =~ /^AC_INIT\(\[authz\], \[([\d.]+)\]/m;
is( ctl_is( 0, ['--version'], '--version needs no configuration' )->{out}, "authzctl $version\n",
    '... and prints one line' );
is( ctl_is( 0, [ '--help', 'db' ], '--help may stand first' )->{out}, ctl( [ 'db', '--help' ] )->{out},
    '... with the same text' );

# `help` in front of words is --help behind them.
for my $words ( [], ['db'], [qw(db migrate)], [qw(policy data set)] ) {
    is( ctl_is( 0, [ 'help', @$words ], "help @$words" )->{out}, ctl( [ @$words, '--help' ] )->{out},
        '... is the text of --help' );
}
ctl_is( 64, [qw(help nonsense)], 'refused: help of an unknown noun' );

# Verbs that cannot be undone ask on a terminal. script(1) makes one.
SKIP: {
    my $script = Authz::Path::on_path('script');
    skip 'no script(1)', 7 if !defined $script;
    my $program = Authz::Path::program('authzctl');
    for my $case (
        [ 'admin-key revoke 1',        'n', qr/this cannot be undone.*Continue\? \[y\/N\].*nothing was changed/s ],
        [ 'policy data delete a.b',    '',  qr/this cannot be undone.*Continue\?.*nothing was changed/s ],
        [ 'policy rule delete a.rego', 'n', qr/this cannot be undone.*Continue\?.*nothing was changed/s ],
        [ 'keys rotate',               'n', qr/this cannot be undone.*Continue\?.*nothing was changed/s ],
        [ 'keys rotate',               'y', qr/Continue\?(?!.*nothing was changed).*SVC_/s ],
        [ 'keys rotate --yes',         '',  qr/\A(?!.*Continue\?).*SVC_/s ],
        [ 'keys list',                 '',  qr/\A(?!.*Continue\?)/s ],
      )
    {
        my ( $words, $answer, $text ) = @$case;
        local %ENV = ( PATH => $ENV{PATH}, SVC_CONFIG => '/dev/null', SVC_DATABASE_URL => 'host=/nonexistent' );
        my $got = readpipe("echo $answer | $script -E never -qec '$program $words' /dev/null 2>&1");
        like( $got, $text, "on a terminal: $words, answer '$answer'" );
    }
}

# Without a terminal nobody can be asked: a verb that cannot be undone says what it would do, and does nothing (exit status 2).
for my $case (
    [ 'restore-fence',                       'revoke all tokens and end all sessions' ],
    [ 'client delete shop',                  'delete a client and revoke its tokens' ],
    [ 'token revoke --client shop',          'revoke' ],
    [ 'apply --prune .',                     'delete the objects of this owner that the files no longer have' ],
    [ 'policy shadow set --replace .',       'end the shadow that is active' ],
    [ 'keys rotate --server http://[::1]:9', 'rotate|make|activate|sign' ],
  )
{
    my ( $words, $would ) = @$case;
    my $env = { SVC_CONFIG => '/dev/null', SVC_DATABASE_URL => 'host=/nonexistent' };
    my $got = ctl_is( 2, [ split / /, $words ], "without a terminal: $words is refused", env => $env );
    like(
        $got->{err}, qr/: nothing was changed; the command would .*(?:$would).*: add --yes$/i,
        '... and says what it would do' );
    isnt( ctl( [ split( / /, $words ), '--yes' ], env => $env )->{status}, 2, '... but not with --yes' );
}
for my $words ( 'apply .', 'policy shadow set .', 'keys list' ) {
    my $got =
      ctl( [ split / /, $words ], env => { SVC_CONFIG => '/dev/null', SVC_DATABASE_URL => 'host=/nonexistent' } );
    isnt( $got->{status}, 2, "without a terminal: $words can be undone, and runs" );
}

# Command lines that are refused, and the word that the refusal names.
my @refused = (
    [   [],
        qr/missing command; expected one of: admin-key, apply, audit, bundle, cedar, client, completion, config, connector, consent, db, entitle, export, health, idp, import, keys, maintain, openapi, owner, plan, policy, report, resource, restore-fence, secrets, serve, session, setup, token, unentitle;/,
        'no words at all' ],
    [ ['db'], qr/db: missing command; expected one of: grant, migrate, plan, status;/, 'a noun alone' ],
    [   [ 'policy', 'data' ], qr/policy data: missing command; expected one of: delete, get, list, set;/,
        'half of a verb' ],
    [   [ 'db', 'migrte' ], qr/db: unknown command 'migrte'; did you mean 'migrate'\? See /,
        'an unknown verb: the nearest of its noun' ],
    [   [ 'keys', 'rotat' ], qr/unknown command 'rotat'; did you mean 'rotate'\? See /,
        'an unknown verb of another noun' ],
    [   [ 'db', 'xyzzyplugh' ], qr/unknown command 'xyzzyplugh'; expected one of: grant, migrate, plan, status;/,
        'an unknown verb near to none: all of its noun' ],
    [ ['polcy'],                   qr/unknown command 'polcy'; did you mean 'policy'\? See /, 'an unknown noun' ],
    [ [''],                        qr/unknown command '';/,                                   'an empty word' ],
    [ [ 'x' x 5000 ],              qr/unknown command 'x/,                                    'a very long word' ],
    [ [ 'db', 'status', 'more' ],  qr/unexpected argument 'more';/,                           'one argument too many' ],
    [ [ 'policy', 'data', 'get' ], qr/policy data get: missing argument: KEY;/,               'one argument too few' ],
    [ [ 'policy', 'data', 'set', qw(a b c) ], qr/unexpected argument 'c';/,  'a third argument to policy data set' ],
    [ [ 'db', 'status', '--nope' ],           qr/unknown option --nope;/,    'an unknown option' ],
    [ [ 'db', 'status', '-x' ],               qr/unknown option -x;/,        'an unknown letter' ],
    [ [ 'db', 'status', '--offline' ],        qr/unknown option --offline;/, 'an option of another verb' ],
    [ [ '--offline', 'config', 'check' ],     qr/unknown option --offline;/, 'an option before its verb' ],
    [ [ 'db', 'status', '--json=yes' ],       qr/--json takes no value;/,    'a value for a switch' ],
    [   [ 'db', 'status', '--jso' ], qr/unknown option --jso;/,
        'a shortened option: it may come to mean another' ],
    [ [ 'db', 'status', '--config' ],  qr/--config requires a value: FILE;/, 'an option without its value' ],
    [ [ 'db', 'status', '--config=' ], qr/--config requires a value: FILE;/, 'an option with an empty value' ],
    [ [ 'db', 'status', '--config=a', '--config=b' ], qr/--config was given twice;/,      'an option twice' ],
    [ [ 'admin-key', 'mint' ],                        qr/missing option: --label LABEL;/, 'mint without a label' ],
    [ [ 'db', 'status', '--', '--help' ], qr/unexpected argument '--help';/, 'after -- nothing is an option' ],
);
for my $case (@refused) {
    my ( $arguments, $why, $name ) = @$case;
    my $got = ctl_is( 64, $arguments, "refused: $name" );
    like(
        $got->{err}, qr/\Aauthzctl: [^\n]*(?:; see|\? See) `authzctl[^`\n]* --help`\n\z/,
        '... in one line that says where help is' );
    like( $got->{err}, $why, '... and names it' );
    is( $got->{out}, '', '... with nothing on standard output' );
}

my $hostile = ctl_is( 64, ["db\e[31m\x07\n"], 'refused: a word with an escape sequence' );
unlike( $hostile->{err}, qr/[\x00-\x09\x0b-\x1f]/, '... which does not reach the terminal' );
is( $hostile->{err} =~ tr/\n//, 1, '... nor break the line' );

SKIP: {
    skip 'no /dev/full', 2 if !-c '/dev/full';
    my $program = Authz::Path::program('authzctl');
    my $err     = qx{$program config doc 2>&1 >/dev/full};
    is( $? >> 8, 1, 'an output that is full is a failure' );
    like( $err, qr/standard output: /, '... and said' );
}

done_testing;

#!/usr/bin/perl
# README, then each page of doc/ in the order of doc/README, in one new instance, as a reader who pastes each block: it ends well and
# prints what the page shows, and people sign in with a real browser. Prints the time of each page and of all.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(time);

use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Trial   ();
use Authz::Web     ();

my $began = time;

# A page whose commands are run by another check: they need root and a root directory of their own.
my %elsewhere = ( 'install.md' => 'contrib/check --install' );

# A port of the pages may be taken in a run beside others.
my %port = map { ( $_ => Authz::Web::free_port() ) } qw(8000 8001 8002);
my $edit = sub {s/\b(800[012])\b/$port{$1}/g};

# The name under which a page commits to git.
my %author = map { ( "GIT_${_}_NAME" => 'Author', "GIT_${_}_EMAIL" => 'author@example.org' ) } qw(AUTHOR COMMITTER);
my %option = (
    'five-minutes.md'   => { times => 2 },
    'protect-an-api.md' => { times => 2 },
    'policy-guide.md'   => { env   => \%author, fails => [qr/^authzctl bundle diff --dir/] },    # the page says so
    'protect-mcp.md'    => {
        env   => { PORT => Authz::Web::free_port() },
        fails => [ qr/^wait \$SERVER$/, qr/ call refund_order '.*2000[}]'$/ ],    # it was killed; it is denied
    },

    # Pages for operators begin on a host, where authzctl has its settings.
    map {
        ( $_ => { begin => ". var/env\n", edit => sub {s{http://127[.]0[.]0[.]1/}{\$BASE_URL/}g} } )
    } qw(audit-proof.md backup.md console.md runbook.md),
);

sub timed {
    my ( $name, $run ) = @_;
    my $start = time;
    $run->();
    diag sprintf '%5.1f s  %s', time - $start, $name;
    return;
}

# ---- README

my $readme = Authz::Web::edit( Authz::Path::source('README') );
my %part   = $readme         =~ /^([^\n]+)\n-+\n\n(.*?)(?=^[^\n]+\n-+\n|\z)/msg;
my @try    = $part{'Try it'} =~ /^ {4}(\S+(?: \S+)*)(?= {2,}|$)/mg;
is_deeply(
    \@try,
    [ 'contrib/quickstart up', 'contrib/quickstart test-client --print' ],
    'README: the commands to try' );
is_deeply(
    [ ( $part{'Test it'} // '' ) =~ /^ {4}(\S+(?: \S+)*)(?= {2,}|$)/mg ],
    [ 'contrib/check', 'contrib/check --rest', 'contrib/check t/http/token/token.t' ],
    '... and those that run the tests (t/contrib/check.t takes them)' );
is_deeply(
    [ sort grep { $_ ne 'Read on' && $part{$_} =~ /^ {4}\S/m } keys %part ],
    [ 'Test it', 'Try it' ],
    '... and it has no others' );

my ( undef, @up ) = split ' ', $try[0];
my $trial;
timed( "README: $try[0]", sub { $trial = Authz::Trial->start( up => \@up ) } );
my ($client) = $trial->said =~ m{Sign in as alice, bob or carol: +(http://127\.0\.0\.1:\d+/client)$}m;
ok( defined $client, '... ends with the address to sign in' ) or diag $trial->said;

my $why = Authz::Node::missing( browser => 1 );
SKIP: {
    skip $why, 1 if defined $why;
    timed(
        'README: sign in as alice',
        sub {
            my ( $status, $tap ) = Authz::Process->run(
                name    => 'node', timeout => 120 * Authz::Process::patience(),
                env     => { AUTHZ_CHROMIUM => Authz::Node::chromium(), AUTHZ_TRIAL => $client },
                command => [ Authz::Node::command( 'pages', 'trial.mjs' ) ] );
            ok( $status == 0 && $tap =~ /^1\.\.\d+$/m, '... where a person signs in in a browser' ) or diag $tap;
        } );
}
timed(
    "README: $try[1]",
    sub {
        my ( $status, $text ) = $trial->paste("$try[1]\n. var/env\nauthzctl client list\n");
        ok( $status == 0 && $text =~ /^alice is signed in\./m, "README: $try[1]" ) or diag $text;
        like( $text, qr/^demo-web /m, '. var/env puts authzctl on PATH' );
    } );

# ---- the pages

my $index = Authz::Web::edit( Authz::Path::source( 'doc', 'README' ) );
my @page  = $index =~ /^(\S+\.md) /mg;
is_deeply(
    [ sort @page ], [ sort map {m{([^/]+)\z}} glob Authz::Path::source( 'doc', '*.md' ) ],
    'doc/README has each page' );

# What protect-mcp.md finds: the packages of t/npm in place of those that npm would fetch, and a person with a browser.
if ( !defined $why ) {
    my ( $modules, $seen ) = ( Authz::Node::modules(), Authz::Process::directory() . '/seen' );
    my @walk = Authz::Node::command( 'pages', 'walk.mjs' );
    $trial->tool( node => "#!/bin/sh\nexec '@{[Authz::Node::node()]}' \"\$@\"\n" );
    $trial->tool( npm =>
          "#!/bin/sh\n[ \"\$*\" = 'install --silent --prefix var/mcp' ] && ln -sfn '$modules' var/mcp/node_modules\n" );
    my $browser = $trial->tool( browser =>
          "#!/bin/sh\nAUTHZ_CHROMIUM='@{[Authz::Node::chromium()]}' '$walk[0]' '$walk[1]' \"\$1\" >>'$seen' 2>&1\n" );
    $option{'protect-mcp.md'}{env}{BROWSER} = $browser;
    $option{'protect-mcp.md'}{after} = sub {
        my $text  = Authz::Web::edit($seen);
        my @shown = $text =~ /^the browser shows: (.*)/mg;
        my $asked = grep { $_ eq 'Who are you?' } @shown;
        cmp_ok( $asked, '>=', 3, 'protect-mcp.md: a person signs in with a browser for each scope and server' )
          or diag $text;
        is( scalar( grep {/^Allow .* to access your account\?$/} @shown ), $asked, '... and is asked for consent' )
          or diag $text;
        unlike( $text, qr/complains/, '... on pages without a fault' );
    };
}

my %needs = ( 'protect-mcp.md' => $why );
my ( $walked, $commands ) = ( 0, 0 );
for my $name (@page) {
    my $text = Authz::Web::edit( Authz::Path::source( 'doc', $name ) );
    next if @ARGV && !grep { $_ eq $name } @ARGV;
    if ( $elsewhere{$name} )     { note "$name: run by $elsewhere{$name}"; next }
    if ( $text !~ /^```sh$/m )   { note "$name: no commands";              next }
    if ( defined $needs{$name} ) { note "$name: not run, $needs{$name}";   next }
    my %how   = %{ $option{$name} // {} };
    my $after = delete $how{after};
    timed( $name, sub { $trial->page( $name, edit => $edit, %how ); $after->() if $after } );
    $walked++;
    $commands += Authz::Trial::commands($text);
}

# ---- the end

my ($down) = Authz::Web::edit( Authz::Path::source( 'doc', 'five-minutes.md' ) ) =~ /^ {4}(contrib\/quickstart down)$/m;
timed(
    'five-minutes.md: stop',
    sub {
        my ( $status, $text ) = $trial->paste("$down\n$down\n");
        ok( $status == 0 && $text =~ /^stopping postgres\n(?:.*\n)?nothing was running in /m,
            "five-minutes.md: $down, twice" ) or diag $text;
    } );
diag sprintf '%5.1f s  README and doc, walked once: %d pages of %d, %d commands', time - $began, $walked,
  scalar @page, $commands + @try;

done_testing;

#!/usr/bin/perl
# The commands of the pages of doc/: those in a block of commands (```sh) are run, by t/contrib/walk.t or by the check that is named
# here; an indented line is a command that is not run there, for a reason that is named here. What is no command stands in a block of
# another kind. Prints how many there are.
use strict;
use warnings;

use Test::More;

use Authz::Path  ();
use Authz::Trial ();
use Authz::Web   ();

# Pages whose blocks are run by another check than the walk.
my %elsewhere = ( 'install.md' => 'contrib/check --install' );
my $folder    = 't/contrib/tried.t';                             # of pages in doc/providers and doc/mcp-clients

# Kinds of blocks: commands, and what is shown. One without a kind is the output of the commands before it.
my %kind = map { ( $_ => 1 ) } '', 'sh', 'sh lighttpd', 'sh apache',
  qw(text json yaml js python go nginx rego {toctree});

# Why a command is not run by the walk, and what runs it.
my $machine    = 'changes the machine; contrib/check --packages does so in clean roots';
my $containers = 'needs containers; contrib/check --images, t/contrib/containers.t and containers_trial.t';
my $cluster    = 'needs root and namespaces; contrib/check --cluster';
my $release    = 'publishes; t/contrib/release.t, repository.t and sbom.t';
my $web_server = 'a web server of the reader; t/deploy runs the examples';
my $instance   = 'the walk starts and stops its instance by it';
my %not_run    = (
    'backup.md'            => [ [ qr/^pg_basebackup /, 'a database of its own; t/failure/restore.t' ] ],
    'behind-your-proxy.md' => [ [ qr/^(?:curl|haproxy|caddy|a2enmod|apache2ctl|lighttpd) /, $web_server ] ],
    'containers.md'        => [
        [ qr/^(?:contrib\/images|podman|docker|kubectl|systemctl --user) /, $containers ],
        [ qr/^(?:for name in|mkdir|umask|cat|chown|chmod|export|cd|cp) /,   $containers ] ],
    'five-minutes.md' => [
        [ qr/^contrib\/quickstart (?:up|down)$/, $instance ],
        [ qr/^contrib\/quickstart test-client$/, 'opens a browser; the walk signs in with one' ],
        [ qr/^authzctl idp create corp /,        'a provider of the reader; t/cli/idp.t' ] ],
    'high-availability.md' => [ [ qr/^contrib\/cluster /,    $cluster ] ],
    'index.md'             => [ [ qr/^contrib\/quickstart /, 'the two commands of README, which the walk runs' ] ],
    'install.md'           => [ [ qr/^(?:apt|dpkg-buildpackage|authzctl setup) /, $machine ] ],
    'middleware.md'        => [
        [ qr/^(?:npm install|pip install|go mod edit) /, 'tools of the reader; t/contrib/middleware_form.t runs them' ]
    ],
    'protect-mcp.md' => [ [ qr/^SVC_\w+=\S+ contrib\/quickstart up /, 'run by the walk, before the blocks' ] ],
    'release.md'     => [ [ qr/^(?:git|\.\.\/configure|sha256sum|gpg|build-aux\/repository|curl|apt) /, $release ] ],
    'tls.md'         => [
        [ qr/^(?:apt|certbot) /, $machine ],
        [   qr/^(?:install|lighty-enable-mod|a2enmod|curl) /,
            'the ports 80 and 443; t/deploy/tls.t runs both configurations' ] ],
    'upgrade.md' => [
        [ qr/^(?:apt|apt-get) /, $machine ],
        [   qr/^(?:runuser -u postgres|-c 'GRANT|authzctl setup) /,
            'the database of the machine; t/cli/setup.t and --packages' ],
        [   qr/^(?:systemctl|curl|runuser -u authz-owner -- authzctl db migrate --offline)\b/,
            'stops the service; t/failure/rolling.t and --packages' ],
        [ qr/^patronictl /, $cluster ] ],
);

my ( $pages, $with, $run, $elsewhere, $left ) = ( 0, 0, 0, 0, 0 );
my %used;
for my $file ( sort glob( Authz::Path::source('doc') . '/{,providers/,mcp-clients/}*.md' ) ) {
    my ($name) = $file =~ m{/doc/((?:[\w-]+/)?[^/]+)\z};
    my $text = Authz::Web::edit($file);
    $pages++;

    # The blocks, and what is left without them.
    my ( @fault, $before );
    $text =~ s{^( *)```([^\n]*)\n.*?^\1```$}{
        my $kind = $2;
        push @fault, "a block of the kind $kind" if !$kind{$kind};
        push @fault, 'an output without commands before it' if $kind eq '' && ( $before // '' ) !~ /\Ash/;
        $before = $kind;
        '';
    }gmse;
    is( join( '; ', @fault ), '', "$name: its blocks are commands, their output, or of a kind that says it" );

    my @line   = $text =~ /^ {4,}(\S.*)$/mg;
    my @reason = @{ $not_run{$name} // [] };
    my @open;
    for my $line (@line) {
        my @at = grep { $line =~ $reason[$_][0] } 0 .. $#reason;
        push @open, $line if !@at;
        $used{"$name $_"} = 1 for @at;
    }
    is( join( "\n", @open ), '', '... and an indented command has a reason not to be run' );
    is( join( ' ',  grep { !$used{"$name $_"} } 0 .. $#reason ), '', '... each reason has a command' );

    my $commands = Authz::Trial::commands( $text = Authz::Web::edit($file) );
    if   ( $elsewhere{$name} // ( $name =~ m{/} && $folder ) ) { $elsewhere += $commands }
    else                                                       { $run       += $commands }
    $left += @line;
    $with++ if $commands || @line;
}
is( join( ' ', grep { !-e Authz::Path::source( 'doc', $_ ) } sort keys %not_run ), '', 'each page named here exists' );
cmp_ok( $run, '>', 5 * $left, 'of six commands at least five are run' );
diag sprintf '%d pages, %d with commands: %d run by the walk, %d by another check, %d not run for a reason', $pages,
  $with,
  $run, $elsewhere, $left;

# ---- what counts as a command

is( Authz::Trial::commands(
        "```sh\none \\\n  more\n# a note\ncat <<'END'\ntext\nEND\nfor x in 1; do\n  two\ndone\n```\n"),
    4,
    'a command that goes on, a note, a text and the end of a loop are no commands of their own' );

done_testing;

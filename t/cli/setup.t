#!/usr/bin/perl
# cli/setup-host, what `authzctl setup` runs: options that it refuses before anything changes. contrib/debs uses the rest of it.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use Test::More;

plan skip_all => 'only root can configure a host' if $> != 0;

my $dir = File::Temp->newdir;
our $config = "$dir/authz.conf";
my $stored = "SVC_OIDC_ISSUER=https://login.example\nSVC_DATABASE_URL=postgresql:///stored\n";

my $script = "$FindBin::Bin/../../cli/setup-host";

# Run a command; the status and everything that it printed.
sub gets {
    my (@command) = @_;
    local %ENV = ( %ENV, SVC_CONFIG => $config, AUTHZ_DATADIR => '/nonexistent', AUTHZ_BINDIR => '/nonexistent' );
    my $pid = open( my $out, '-|' ) // die "fork: $!";
    if ( !$pid ) {
        open STDIN,  '<',  '/dev/null' or die $!;
        open STDERR, '>&', \*STDOUT    or die $!;
        exec @command or die $!;
    }
    my $text = do { local $/ = undef; <$out> };
    close $out;
    return ( $? >> 8, $text );
}

sub setup_gets { return gets( $script, @_ ) }

sub refused {
    my ( $status, $text, $name, @options ) = @_;
    my ( $have, $got ) = setup_gets(@options);
    is( $have, $status, "refused: $name" );
    like( $got, $text, '... in words that name the option' );
}

refused( 64, qr/--issuer https/, 'no issuer, and nobody to ask', '--yes' );
for my $issuer (
    'login.example',              'ftp://login.example',
    'https://login.example/?a=b', 'https://login.example/#a',
    'https://user@login.example', "http://login.example\nSVC_ADMIN_ENABLED=false",
    'http://login example',       "http://login.example/|s|a|b|",
  )
{
    refused( 64, qr/--issuer/, "an issuer that is no plain URL: $issuer" =~ s/\n/\\n/r, '--yes', '--issuer', $issuer );
}
my @issuer = ( '--yes', '--issuer', 'https://login.example' );
refused( 64, qr/--database/,   'a database with a line break', @issuer, '--database',   "a\nSVC_ADMIN_ENABLED=false" );
refused( 64, qr/--database/,   'a database with a space',      @issuer, '--database',   'host=a dbname=b' );
refused( 64, qr/--web-server/, 'a web server that is no URL',  @issuer, '--web-server', '127.0.0.1:80' );
refused( 64, qr/--web-server/, 'a web server with a |',        @issuer, '--web-server', 'http://127.0.0.1|' );
refused( 64, qr/unknown argument: --x/, 'an unknown option', @issuer, '--x' );
ok( !-e $config, 'a refused option changes nothing: there is no settings file' );

# On a terminal it asks; script(1) makes one.
SKIP: {
    my ($terminal) = grep { -x $_ } map {"$_/script"} split /:/, $ENV{PATH};
    skip 'no script(1)', 2 if !defined $terminal;
    local %ENV = ( %ENV, SVC_CONFIG => $config, AUTHZ_DATADIR => '/nonexistent', AUTHZ_BINDIR => '/nonexistent' );
    my $got = readpipe("echo nonsense | $terminal -qec '$script' /dev/null 2>&1");
    like( $got, qr/\(issuer\): .*--issuer nonsense is not a URL/s, 'on a terminal setup asks for the issuer' );
    $got = readpipe("echo | $terminal -qec '$script --yes' /dev/null 2>&1");
    unlike( $got, qr/\(issuer\): /, '... but not with --yes' );
}

open my $file, '>', $config or die "$config: $!";
print {$file} $stored;
close $file or die $!;
refused(
    1, qr/SVC_OIDC_ISSUER=https:\/\/login\.example, not/, 'another issuer than the stored one', '--issuer',
    'https://b.example' );
refused( 1, qr/another SVC_DATABASE_URL/, 'another database than the stored one', '--database', 'postgresql:///b' );
is( do { open my $in, '<', $config or die $!; local $/ = undef; <$in> }, $stored, '... and the file stays' );

# ---- the directory of the settings: whose it is, stays so

{
    # The step that makes the directory, with the group root in place of authz, which the machine of the test may not have.
    my $step = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); getent() { :; }
        install() { command install "${@/#authz/root}"; }; check_config && step_accounts};
    my $mode = sub { sprintf '%o', ( stat $_[0] )[2] & oct 7777 };
    mkdir "$dir/others" or die $!;
    for my $case ( [ '755', 0 ], [ '700', 0 ], [ '1777', 64 ], [ '775', 64 ], [ '757', 64 ] ) {
        my ( $bits, $status ) = @{$case};
        chmod oct $bits, "$dir/others" or die $!;
        local $config = "$dir/others/x.conf";
        my ( $have, $text ) = gets( 'bash', '-c', $step, $script );
        is( $have,                  $status, "--config in a directory of mode $bits: status $status" ) or diag $text;
        is( $mode->("$dir/others"), $bits,   '... and the mode stays' );
        like( $text, qr{others than root may write the directory \Q$dir\E/others/}, '... with the reason' ) if $status;
    }
    local $config = "$dir/made/x.conf";
    is( ( gets( 'bash', '-c', $step, $script ) )[0], 0,     '--config in a directory that does not exist' );
    is( $mode->("$dir/made"),                        '750', '... which setup makes for the account alone' );
    for my $relative ( 'authz.conf', './authz.conf', 'etc/authz.conf' ) {
        local $config = $relative;
        refused( 64, qr{--config \Q$relative\E is not an absolute path}, "a relative --config: $relative", @issuer );
    }
}

# ---- settings in files of their own

for my $write (
    [ "$dir/key",      "from-a-file\n" ],
    [ "$dir/own.conf", "SVC_BUNDLE_API_KEY_FILE=$dir/key\nSVC_LOG_LEVEL=info\n" ] )
{
    open my $out, '>', $write->[0] or die "$write->[0]: $!";
    print {$out} $write->[1];
    close $out or die $!;
}
my $functions = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); };
is_deeply(
    [ gets( 'bash', '-c', $functions . q{conf_get "$1" SVC_BUNDLE_API_KEY}, $script, "$dir/own.conf" ) ],
    [ 0, "from-a-file\n" ],
    'a setting is read from the file that NAME_FILE names (architecture.md 6)' );
gets(
    'bash',  '-c', $functions . q{conf_add "$1" SVC_BUNDLE_API_KEY new; conf_add "$1" SVC_ADMIN_PEPPER new},
    $script, "$dir/own.conf" );
is( do { open my $in, '<', "$dir/own.conf" or die $!; local $/ = undef; <$in> },
    "SVC_BUNDLE_API_KEY_FILE=$dir/key\nSVC_LOG_LEVEL=info\nSVC_ADMIN_PEPPER=new\n",
    '... and none is added beside it' );

# ---- a host without systemd (sd_booted(3)): what is wrong, and what to do

# Where systemd runs, an empty /run hides it.
my @hidden =
  -d '/run/systemd/system' ? ( 'unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /run && exec "$@"', 'sh' ) : ();
SKIP: {
    skip 'systemd runs here and cannot be hidden', 9 if @hidden && ( gets( @hidden, 'true' ) )[0] != 0;
    my ( $status, $text ) = gets( @hidden, $script, '--yes', '--start' );
    is( $status, 69, 'without systemd: --start is refused' );
    like(
        $text,
        qr/systemd does not run here, so --start .*; nothing was changed\n  what to do: run setup without --start/,
        '... and says what to do' );
    is( do { open my $in, '<', $config or die $!; local $/ = undef; <$in> }, $stored, '... before anything changes' );

    # Programs of a host that has neither the accounts nor systemd-sysusers.
    mkdir "$dir/bin" or die $!;
    symlink +( grep { -x $_ } "/usr/bin/$_", "/bin/$_" )[0], "$dir/bin/$_" or die "$_: $!" for qw(awk id find);
    open my $getent, '>', "$dir/bin/getent" or die $!;
    print {$getent} "#!/bin/sh\nexit 2\n";
    close $getent or die $!;
    chmod 0755, "$dir/bin/getent" or die $!;
    ( $status, $text ) = do { local $ENV{PATH} = "$dir/bin"; gets( $script, '--yes' ) };
    is( $status, 1, 'without systemd-sysusers and the accounts: refused' );
    like( $text, qr/authz and authz-opa do not exist, and no systemd-sysusers is here/, '... with the reason' );
    like(
        $text, qr/what to do: create them.*useradd --system .* authz-opa\n +useradd --system .* authz\n/s,
        '... and the commands' );

    # The last words: the functions of the script alone, without its steps.
    my $last = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); ISSUER=https://login.example; next};
    ( $status, $text ) = gets( @hidden, 'bash', '-c', $last, $script );
    is( $status, 0, 'the last words on a host without systemd' ) or diag $text;
    like(
        $text,
        qr/systemd does not run here\. Next:.*authz-spawn\.conf.*authz-opa\.service.*authzctl maintain.*authzctl config check/s,
        '... name what to start by other means' );
    unlike( $text, qr/setup --start/, '... and no option that cannot work' );
}
done_testing();

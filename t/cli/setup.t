#!/usr/bin/perl
# cli/setup-host, what `authzctl setup` runs: options that it refuses before anything changes. contrib/debs uses the rest of it.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use Test::More;

plan skip_all => 'only root can configure a host' if $> != 0;

my $dir    = File::Temp->newdir;
my $config = "$dir/authz.conf";
my $stored = "SVC_OIDC_ISSUER=https://login.example\nSVC_DATABASE_URL=postgresql:///stored\n";

# Run the script; the status and everything that it printed.
sub setup_gets {
    my (@options) = @_;
    local %ENV = ( %ENV, SVC_CONFIG => $config, AUTHZ_DATADIR => '/nonexistent', AUTHZ_BINDIR => '/nonexistent' );
    my $pid = open( my $out, '-|' ) // die "fork: $!";
    if ( !$pid ) {
        open STDIN,  '<',  '/dev/null' or die $!;
        open STDERR, '>&', \*STDOUT    or die $!;
        exec "$FindBin::Bin/../../cli/setup-host", @options or die $!;
    }
    my $text = do { local $/ = undef; <$out> };
    close $out;
    return ( $? >> 8, $text );
}

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
    my ($script) = grep { -x $_ } map {"$_/script"} split /:/, $ENV{PATH};
    skip 'no script(1)', 2 if !defined $script;
    local %ENV = ( %ENV, SVC_CONFIG => $config, AUTHZ_DATADIR => '/nonexistent', AUTHZ_BINDIR => '/nonexistent' );
    my $got = readpipe("echo nonsense | $script -qec '$FindBin::Bin/../../cli/setup-host' /dev/null 2>&1");
    like( $got, qr/\(issuer\): .*--issuer nonsense is not a URL/s, 'on a terminal setup asks for the issuer' );
    $got = readpipe("echo | $script -qec '$FindBin::Bin/../../cli/setup-host --yes' /dev/null 2>&1");
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
done_testing();

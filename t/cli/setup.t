#!/usr/bin/perl
# cli/setup-host, what `authzctl setup` runs: options that it refuses before anything changes. contrib/debs uses the rest of it.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

plan skip_all => 'only root can configure a host' if $> != 0;

my $dir = File::Temp->newdir;
our $config = "$dir/authz.conf";
our $bindir = '/nonexistent';
my $stored = "SVC_OIDC_ISSUER=https://login.example\nSVC_DATABASE_URL=postgresql:///stored\n";

my $script = "$FindBin::Bin/../../cli/setup-host";

# Run a command; the status and everything that it printed.
sub gets {
    my (@command) = @_;
    local %ENV = ( %ENV, SVC_CONFIG => $config, AUTHZ_DATADIR => '/nonexistent', AUTHZ_BINDIR => $bindir );
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

# Everybody on the host reads the words of a command (proc(5), cmdline).
for my $secret (
    'postgresql://authz:S3cret@db.example/authz',               'postgres://:S3cret@db.example/authz',
    'postgresql://db.example/authz?user=authz&password=S3cret', 'postgresql://authz:S3@cret@db.example/authz',
    'postgresql://db.example/authz?sslpassword=S3cret&user=a',  'password=S3cret',
  )
{
    my ( $status, $text ) = setup_gets( @issuer, '--database', $secret );
    is( $status, 64, "refused: a password on the command line: $secret" );
    like( $text, qr/--database has a password.*--database - <FILE.*SVC_DATABASE_URL_FILE/s, '... with the other ways' );
    unlike( $text, qr/S3/, '... and it is not printed' );
}
refused( 64, qr/--database - found no URL/, '--database - without standard input', @issuer, '--database', '-' );
{
    my $choose =
      q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); choose_parts() { :; }; parse "$@"; choose; echo "<$DATABASE>"};
    my @choose = ( 'bash', '-c', $choose, $script, @issuer );
    for my $plain (
        'postgresql:///authz', 'postgresql://authz@db.example:5432/authz?sslmode=verify-full',
        'postgresql:///authz?passfile=/etc/authz/pgpass' )
    {
        my ( $status, $text ) = gets( @choose, '--database', $plain );
        is( $text, "<$plain>\n", "a URL without a password: $plain" );
    }
    my $url = 'postgresql://authz:S3cret@db.example/authz';
    my ( $status, $text ) = gets( 'sh', '-c', 'printf "%s\n" "$0" | exec "$@"', $url, @choose, '--database', '-' );
    is( $text, "<$url>\n", '--database - reads the URL from standard input' );
}
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

# ---- two roles of the database (decisions.md "Two roles"): the account of each connects as the role of its name

{
    my $own   = "$dir/authz-owner.env";
    my $check = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); OWNER_URL=$1; check_owner};
    is( ( gets( 'bash', '-c', $check, $script, $own ) )[0], 0, 'no file with the URL of the owner' );
    Authz::Web::write_file( $own, "SVC_DATABASE_URL=postgresql://own:S3cret\@db.example/authz\n", 0600 );
    is( ( gets( 'bash', '-c', $check, $script, $own ) )[0], 0, 'one that root alone can read' );
    for my $mode ( '640', '604', '660' ) {
        chmod oct $mode, $own or die $!;
        my ( $status, $text ) = gets( 'bash', '-c', $check, $script, $own );
        is( $status, 78, "refused: the URL of the owner in a file of mode $mode" );
        like( $text, qr/others than root may read \Q$own\E.*chmod 600/s, '... with the reason, and what to do' );
    }

    my $role = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); DATABASE=$1; service_role};
    for my $case (
        [ 'postgresql:///authz',                               'authz' ],
        [ 'postgresql://svc@db.example/authz',                 'svc' ],
        [ 'postgresql://svc:S3cret@db.example/authz',          'svc' ],
        [ 'postgresql://db.example/authz?a=b&user=svc&c=d',    'svc' ],
        [ 'postgresql://db.example/authz?sslmode=verify-full', 'authz' ],
      )
    {
        my ( $url, $want ) = @{$case};
        is( ( gets( 'bash', '-c', $role, $script, $url ) )[1], $want, "the role of the service in $url" );
    }

    # The steps of the database, with a server of the test: it takes the name of the account that runs a program for the role.
    my $postgres = Authz::Postgres->new;
    my $bin      = Authz::Path::program('authzctl') =~ s{/[^/]+\z}{}r;
    my $steps    = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); export PGHOST=$1 PGPORT=$2 PATH=$3:$PATH
        AUTHZ_DATADIR=$4 OWNER_DROP_IN=$5/authz-maintain.service.d/owner.conf OWNER_URL=$5/none DATABASE=$6; getent() { :; }
        runuser() { local account=$2; shift 3; PGUSER=$account "$@"; }; step_database; step_schema; echo "role: $SERVICE_ROLE"};
    my $settings = Authz::Stack::base_settings('postgresql:///unused');
    local $config = "$dir/steps.conf";
    my $steps_for = sub {
        my ($database) = @_;
        delete $settings->{SVC_DATABASE_URL};
        my $text = join '', map {"$_=$settings->{$_}\n"} grep { $_ ne 'SVC_CONFIG' } sort keys %$settings;
        Authz::Web::write_file(
            $config,
            "${text}SVC_DATABASE_URL=postgresql:///$database\nSVC_OPA_URL=unix:/nonexistent\n", 0600 );
        local $bindir = $bin;
        return gets(
            'bash', '-c', $steps, $script, $postgres->socket, $Authz::Postgres::PORT,
            Authz::Path::postgres('psql') =~ s{/[^/]+\z}{}r,
            Authz::Path::source( 'etc', 'systemd' ), $dir, "postgresql:///$database" );
    };
    my ( $status, $text ) = $steps_for->('fresh');
    is( $status, 0, 'setup makes a database' ) or diag $text;
    like( $text, qr/^role: authz$/m, '... whose owner is not the role of the service' );
    my $as = sub {
        my ( $who, $sql, $database ) = @_;
        return Authz::Process->run(
            name    => 'psql',
            command => [
                Authz::Path::postgres('psql'), qw(-X -q -A -t -h), $postgres->socket, '-p', $Authz::Postgres::PORT,
                '-U',
                $who, '-d', $database // 'fresh', '-c', $sql ] );
    };
    is( $postgres->sql(
            q{SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relname ~ '^(audit|client|access)'}, 'fresh'
        ),
        'authz-owner',
        '... which owns the tables' );
    for my $sql (
        'DELETE FROM audit_log', 'UPDATE audit_log SET outcome = NULL', 'TRUNCATE audit_log', 'DROP TABLE audit_tile',
        'CREATE TABLE mine ()',  'ALTER TABLE client ADD mine text',    'SET ROLE "authz-owner"' )
    {
        like( ( $as->( 'authz', $sql ) )[1], qr/permission denied|must be owner/, "refused for the service: $sql" );
    }
    is( ( $as->( 'authz', 'SELECT count(*) FROM client' ) )[1], "0\n", '... which reads the tables' );
    ok( -s "$dir/authz-maintain.service.d/owner.conf", '... and the timer runs housekeeping as the owner' );
    is( ( $steps_for->('fresh') )[0], 0, 'the steps can be run again' );

    $postgres->sql('CREATE DATABASE older OWNER authz');
    unlink "$dir/authz-maintain.service.d/owner.conf";
    ( $status, $text ) = $steps_for->('older');
    is( $status, 0, 'a database that the service owns, of an earlier version' ) or diag $text;
    like(
        $text, qr/the role authz owns the tables.*doc\/upgrade\.md, "Two roles".*^role: $/ms,
        '... stays so, and setup says what that costs' );
    ok( !-e "$dir/authz-maintain.service.d/owner.conf", '... and housekeeping is the service\'s' );
    my ( undef, $page ) =
      Authz::Process->run( name => 'page', command => [ 'cat', Authz::Path::source(qw(doc upgrade.md)) ] );
    my ($command) = $page =~ /psql -1 -d authz (.*\n.*)\n/;
    $postgres->sql( join( '; ', grep { !/^CREATE ROLE/ } $command =~ /-c '([^']+)'/g ), 'older' );
    my ( $changed, $said ) = $as->( 'authz', 'UPDATE client SET enabled = enabled', 'older' );
    is( $changed, 0, 'the command of doc/upgrade.md lets the service go on' ) or diag $said;
    ( $status, $text ) = $steps_for->('older');
    like( $text, qr/^role: authz$/m, '... and setup finds the owner' ) or diag $text;
    like(
        ( $as->( 'authz', 'DELETE FROM audit_log', 'older' ) )[1], qr/permission denied/,
        '... and leaves the service less' );
}

# ---- lighttpd with other sites: authz at / would answer in place of them

{
    my $web = "$dir/lighttpd";
    mkdir $_ or die "$_: $!" for $web, "$web/conf-available", "$web/conf-enabled", "$web/www";
    my $put = sub {
        my ( $name, $text ) = @_;
        open my $out, '>', "$web/$name" or die "$name: $!";
        print {$out} $text;
        close $out or die $!;
    };
    my $plain = qq{server.document-root        = "$web/www"\nserver.port = 80\n};
    my $check =
      q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); LIGHTTPD_DIR=$1 LIGHTTPD=$1/conf-available/50-authz.conf ISSUER=$2
        check_sites};
    my $sites = sub { return gets( 'bash', '-c', $check, $script, $web, $_[0] // 'https://login.example' ) };
    $put->( 'lighttpd.conf',                         qq{$plain#\$HTTP["host"] == "www.example.com" \{\}\n} );
    $put->( 'conf-available/50-authz.conf',          "var.authz_path = \"/\"\n" );
    $put->( 'conf-enabled/51-authz-portal.conf',     "fastcgi.server = ()\n" );
    $put->( 'conf-enabled/90-javascript-alias.conf', qq{alias.url += ("/javascript" => "/usr/share/javascript")\n} );
    $put->( 'www/index.lighttpd.html',               'Placeholder page' );
    $put->( 'www/index.html',                        '<title>Apache2 Debian Default Page: It works</title>' );
    is_deeply( [ $sites->() ], [ 0, '' ], "Debian's own files are no other site" );

    for my $other (
        [ 'www/shop.html',                    'a shop' ],
        [ 'www/index.html',                   'a page of somebody' ],
        [ 'lighttpd.conf',                    qq{$plain\$HTTP["host"] == "www.example.com" \{\n\}\n} ],
        [ 'conf-enabled/15-fastcgi-php.conf', qq{fastcgi.server += ( ".php" => (()))\n} ],
        [ 'conf-enabled/10-proxy.conf',       qq{  proxy.server = ( "" => (()))\n} ],
      )
    {
        my ( $name, $text ) = @{$other};
        my $kept = -e "$web/$name" ? do { open my $in, '<', "$web/$name" or die $!; local $/ = undef; <$in> } : undef;
        $put->( $name, $text );
        my ( $status, $said ) = $sites->();
        is( $status, 64, "refused at /: $name: $text" =~ s/\n.*//sr );
        like( $said, qr{other sites: \Q$web/$name\E;.*--replace-sites}s, '... which is named, and the way' );
        is_deeply( [ $sites->('https://login.example/auth') ], [ 0, '' ], '... and not with a path' );
        defined $kept ? $put->( $name, $kept ) : unlink "$web/$name";
    }
    $put->( 'www/shop.html',                'a shop' );
    $put->( 'conf-available/50-authz.conf', qq{\$HTTP["host"] == "login.example" \{\n\}\n} );
    is_deeply( [ $sites->() ], [ 0, '' ], 'a file that names its host takes nothing of others' );
    $put->( 'conf-available/50-authz.conf', "var.authz_path = \"/\"\n" );
    $put->( 'conf-enabled/50-authz.conf',   '' );
    is_deeply( [ $sites->() ], [ 0, '' ], 'what has been enabled stays so' );

    my $parts = q{source <(sed '/^\[ "$(id -u)/,$d' "$0"); LIGHTTPD=$0 ISSUER=$1 LIGHTTPD_DIR=/nonexistent
        [ -x /usr/sbin/lighttpd ] || exit 77; choose_parts};
    my ( $status, $said ) = gets( 'bash', '-c', $parts, $script, 'https://login.example/v1.0' );
  SKIP: {
        skip 'no lighttpd', 2 if $status == 77;
        is( $status, 64, 'refused: a path with a dot, which the patterns of the web server take for any character' );
        like( $said, qr{--issuer https://login\.example/v1\.0 has a dot in its path}, '... and named' );
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
    like(
        $text, qr/authz, authz-opa and authz-owner do not exist, and no systemd-sysusers is here/,
        '... with the reason' );
    like(
        $text,
        qr/what to do: create them, and run setup again:\n +groupadd --system authz-web(.*useradd --system .* authz(-opa|-owner)?\n){3}/s,
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

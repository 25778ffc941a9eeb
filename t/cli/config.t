#!/usr/bin/perl
# config check, show and doc: their output, masked secrets, and what each verb needs.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use File::Temp       ();
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Server   ();
use Authz::Stack    ();
use Authzctl;

# The pages are looked at too: those of the source, for what is tested need not be installed. Any program stands in for the engine's.
my %data = (
    SVC_DATA_DIR   => Authz::Stack::data_dir(), SVC_OIDC_ISSUER => 'http://localhost:8080',
    SVC_OPA_BINARY => '/bin/sh' );
my %none = ( SVC_CONFIG => '/dev/null', %data );
my %keys = ( %none, %Authz::Stack::KEY );

sub file {
    my ($text) = @_;
    my $file = File::Temp->new( SUFFIX => '.conf' );
    print {$file} $text;
    close $file;
    return $file;
}

# Nothing configured: the four secrets are demanded (specification 5.2), a line each.
my $bare = ctl_is( 78, [qw(config check --offline)], 'check without configuration (specification 5.2)', env => \%none );
like(
    $bare->{err}, qr/^authzctl: $_: is not set; (?:set it |if the database has been used before, restore )/m,
    "... names $_" ) for sort keys %Authz::Stack::KEY;
is( $bare->{err} =~ tr/\n//, 4, '... one line each' );

my $good = ctl_is( 0, [qw(config check --offline)], 'check with the four secrets', env => \%keys );
is( $good->{out}, "settings: ok (/dev/null)\n",                       '... says that they are ok' );
is( ctl( [qw(config check --offline -q)], env => \%keys )->{out}, '', '... nothing with -q' );
is_deeply(
    ctl( [qw(config check --offline --json)], env => \%keys )->{json},
    { ok => JSON::PP::true, problems => [], warnings => [] },
    '... and with --json a document' );

for my $case (
    [ SVC_ADMIN_PEPPER        => 'changeme',          qr/SVC_ADMIN_PEPPER: is a published development value/ ],
    [ SVC_CREDENTIAL_KEY      => 'x' x 15,            qr/SVC_CREDENTIAL_KEY: has 15 octets, fewer than 16; set it to/ ],
    [ SVC_BUNDLE_API_KEY      => " \t",               qr/SVC_BUNDLE_API_KEY: is not set/ ],
    [ SVC_ADMIN_API_KEY       => 'x' x 15,            qr/SVC_ADMIN_API_KEY: has 15 octets, fewer than 16; set it to/ ],
    [ SVC_RATE_LIMIT_WINDOW   => '1.5',               qr/SVC_RATE_LIMIT_WINDOW: must be a number from 1 to 86400/ ],
    [ SVC_OIDC_ISSUER         => 'https://a.b/',      qr/SVC_OIDC_ISSUER: must be/ ],
    [ SVC_ADMIN_NETWORKS      => '192.0.2.7/24',      qr{SVC_ADMIN_NETWORKS: 192\.0\.2\.7/24 is not a network; write} ],
    [ SVC_PLAIN_HTTP_NETWORKS => 'any',               qr{SVC_PLAIN_HTTP_NETWORKS: any is not a network; write} ],
    [ SVC_OPA_URL             => 'ftp://x',           qr/SVC_OPA_URL: must be unix:/ ],
    [ SVC_OPA_URL             => 'foo',               qr/SVC_OPA_URL: must be unix:/ ],
    [ SVC_DATABASE_URL        => 'host=a geheim',     qr/SVC_DATABASE_URL: libpq cannot parse it;/ ],
    [ SVC_CONFIG              => '/nonexistent.conf', qr{SVC_CONFIG: cannot read /nonexistent\.conf} ],
    [ SVC_CONFIG              => '/tmp',              qr{SVC_CONFIG: cannot read /tmp: Is a directory; set it to} ],
  )
{
    my ( $name, $value, $why ) = @$case;
    my $got = ctl_is( 78, [qw(config check --offline)], "refused: $name=$value", env => { %keys, $name => $value } );
    like( $got->{err}, $why, '... and named' );
    unlike( $got->{err}, qr/geheim|changeme|x{15}/, '... without its value' );
    is( scalar @{ ctl( [qw(config check --offline --json)], env => { %keys, $name => $value } )->{json}{problems} }, 1,
        '... as one problem' );
}
ctl_is(
    0, [qw(config check --offline)], 'a credential key of 16 octets',
    env => { %keys, SVC_CREDENTIAL_KEY => 'x' x 16 } );

# authz.conf that this account cannot read: the one thing that is said. A new key would lose the secrets in the database.
my $unread = file( join '', map {"$_=$Authz::Stack::KEY{$_}\n"} sort keys %Authz::Stack::KEY );
chmod 0000, "$unread" or die $!;
my $user = Authz::Path::unprivileged();
for my $verb ( [qw(config check)], [qw(client list)], [qw(db status)] ) {
    my ( $status, $text ) = Authz::Process->run(
        name    => 'unread', user => $user, env => { %none, SVC_CONFIG => "$unread" },
        command => [ Authz::Path::program('authzctl'), @$verb ] );
    is( $status, 78, "@$verb with an authz.conf that cannot be read" );
    like(
        $text, qr/\Aauthzctl: SVC_CONFIG: cannot read \Q$unread\E: Permission denied; [^\n]+chmod 640 FILE\)\n\z/,
        '... says that alone, with what to do' );
}
my ( undef, $service_text ) = Authz::Process->run(
    name    => 'unread', user => $user, env => { %none, SVC_CONFIG => "$unread" },
    command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
unlike( $service_text, qr/is not set|random/, 'the service, too, advises no new key' );

# A file of keys that other accounts can use: no verb takes anything from it, nor from one of a second account.
for my $case (
    [ 0644, 640 ], [ 0604, 600 ], [ 0660, 640 ], [ 0666, 640 ], [ 0640, undef ], [ 0600, undef ],
    [ 0400, undef ] )
{
    my ( $mode, $better ) = @$case;
    my $file = file( join '', map {"$_=$Authz::Stack::KEY{$_}\n"} sort keys %Authz::Stack::KEY );
    chmod $mode, "$file" or die $!;
    my $got = ctl( [qw(config check --offline --json)], env => { %none, SVC_CONFIG => "$file" } );
    is_deeply(
        [ map { / run (chmod \S+ \S+);/ ? $1 : $_ } @{ $got->{json}{problems} } ],
        [ defined $better ? "chmod $better $file" : () ],
        sprintf 'authz.conf with mode %04o %s', $mode, defined $better ? 'is refused' : 'is fine' );
    is( $got->{status}, defined $better ? 78 : 0, '... by the status' );
    next if !defined $better;
    $got = ctl_is(
        0, [qw(config check --offline --json)], '... SVC_ALLOW_SHARED_SETTINGS allows it',
        env => { %none, SVC_CONFIG => "$file", SVC_ALLOW_SHARED_SETTINGS => 'true' } );
    like( "@{ $got->{json}{warnings} }", qr/run chmod $better \Q$file\E; SVC_ALLOW/, '... with a warning' );
}

# A second account of the host: its file is nobody else's, and a group of strangers reads no keys.
SKIP: {
    skip 'only root can make files of other accounts', 4 if !defined $user;
    my ( $uid, $gid ) = ( getpwnam $user )[ 2, 3 ];
    for my $case (
        [ 4321, 4321, 0600, 78, 'of another account' ],
        [ 0,    4321, 0640, 78, 'that a foreign group reads' ],
        [ 0,    $gid, 0640, 0,  'of root and the group of the service' ],
        [ $uid, $gid, 0600, 0,  'of the account itself' ] )
    {
        my ( $owner, $group, $mode, $wanted, $whose ) = @$case;
        my $file = file( join '', map {"$_=$Authz::Stack::KEY{$_}\n"} sort keys %Authz::Stack::KEY );
        chown $owner, $group, "$file" or die $!;
        chmod $mode, "$file" or die $!;
        my ( $status, $text ) = Authz::Process->run(
            name    => 'owner', user => $user, env => { %none, SVC_CONFIG => "$file" },
            command => [ Authz::Path::program('authzctl'), qw(config check --offline) ] );
        is( $status, $wanted, "settings $whose" ) or diag $text;
    }
}

# Published keys are for a service that its own host alone reaches.
for
  my $issuer ( 'https://login.example.org', 'http://192.0.2.1', 'http://localhost.example', 'http://127.0.0.1.example' )
{
    my %open = ( %none, SVC_ALLOW_INSECURE_DEV_KEY => 'true', SVC_OIDC_ISSUER => $issuer );
    my $got  = ctl_is( 78, [qw(config check --offline)], "development mode with the issuer $issuer", env => \%open );
    like(
        $got->{err}, qr/SVC_ALLOW_INSECURE_DEV_KEY: is true, but SVC_OIDC_ISSUER \Q$issuer\E is not at this host/,
        '... is refused' );
    my ($status) = Authz::Process->run(
        name    => 'open', env => \%open,
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
    is( $status, 78, '... by the service, too' );
}
ctl_is(
    0, [qw(config check --offline)], "... $_ is at this host",
    env => { %none, SVC_ALLOW_INSECURE_DEV_KEY => 'true', SVC_OIDC_ISSUER => $_ }
) for 'http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]:8080';

# Warnings: valid, but probably a mistake. The exit status stays 0.
for my $case (
    [   'an https issuer with cookies for http',
        { SVC_OIDC_ISSUER => 'https://login.example', SVC_SESSION_COOKIE_SECURE => 'false' },
        qr/^SVC_SESSION_COOKIE_SECURE: is false .*delete it/ ],
    [   'cookies for https of an http issuer',
        { SVC_OIDC_ISSUER => 'http://127.0.0.1:1', SVC_SESSION_COOKIE_SECURE => 'true' },
        qr/^SVC_SESSION_COOKIE_SECURE: is true .*delete it/ ],
    [   'an http issuer of another machine', { SVC_OIDC_ISSUER => 'http://login.example' },
        qr/^SVC_OIDC_ISSUER: is an http URL .*use https/ ],
    [   'a timeout beyond the age of sessions', { SVC_SESSION_TIMEOUT => '43201s' },
        qr/^SVC_SESSION_TIMEOUT: is longer than SVC_SESSION_MAX_AGE/ ],
    [   'an engine of another machine', { SVC_OPA_URL => 'http://opa.example.net:8181' },
        qr/^SVC_OPA_URL: is an http URL of another machine, .*answer that a request is allowed; use/ ],
    (   map {
            [   "a database of another machine ($_->[0])", { $_->[0] => $_->[1] },
                qr/^$_->[0]: leads to \Q$_->[2]\E with sslmode $_->[3], .*add sslmode=verify-full/ ]
        } [ 'SVC_DATABASE_URL', 'postgresql://authz:pw@db.example.net/authz', 'db.example.net', 'prefer' ],
        [ 'SVC_DATABASE_URL', 'host=db.example.net sslmode=require', 'db.example.net', 'require' ],
        [   'SVC_DATABASE_URL', 'postgresql://localhost,db2.example.net/authz?sslmode=disable', 'db2.example.net',
            'disable' ],
        [ 'SVC_DATABASE_URL',        'host=' . join( ',', ('localhost') x 9, 'db10' ), 'db10',            'prefer' ],
        [ 'SVC_DATABASE_URL',        'host=localhost hostaddr=192.0.2.1',              '192.0.2.1',       'prefer' ],
        [ 'SVC_DATABASE_READ_URL',   'postgresql://authz@db3.example.net/authz',       'db3.example.net', 'prefer' ],
        [ 'SVC_DATABASE_DIRECT_URL', 'postgresql://authz@[2001:db8::1]/authz',         '2001:db8::1',     'prefer' ] ),
    [ 'no issuer',        { SVC_OIDC_ISSUER            => undef },  qr/^SVC_OIDC_ISSUER: is not set/ ],
    [ 'development mode', { SVC_ALLOW_INSECURE_DEV_KEY => 'true' }, qr/^SVC_ALLOW_INSECURE_DEV_KEY: is true/ ],
    [   'a misspelt name', { SVC_TRUSTED_PROXI_COUNT => 1 },
        qr/^SVC_TRUSTED_PROXI_COUNT: is not a setting .*did you mean 'SVC_TRUSTED_PROXY_COUNT'\?/ ],
    [   'a name that resembles none', { SVC_QQQQQQQ => 1 },
        qr/^SVC_QQQQQQQ: is not a setting .*see `authzctl config doc`/ ],
  )
{
    my ( $what, $change, $text ) = @$case;
    my %env = ( %keys, %$change );
    delete @env{ grep { !defined $env{$_} } keys %env };
    my $warned = ctl_is( 0, [qw(config check --offline --json)], "check with $what", env => \%env )->{json};
    is( scalar @{ $warned->{warnings} }, 1, '... one warning' ) or diag explain $warned;
    like( $warned->{warnings}[0], $text, '... that says what to do' );
    like(
        ctl( [qw(config check --offline)], env => \%env )->{err}, qr/\Aauthzctl: warning: [^\n]+\n\z/,
        '... and on standard error' );
}
for my $change (
    { SVC_OIDC_ISSUER     => 'https://login.example', SVC_SESSION_COOKIE_SECURE => 'true' },
    { SVC_OIDC_ISSUER     => 'https://login.example' },
    { SVC_OIDC_ISSUER     => 'http://127.0.0.1:1' },
    { SVC_SESSION_TIMEOUT => '12h' },
    { SVC_OPA_URL         => 'https://opa.example.net:8181' },
    { SVC_OPA_URL         => 'http://127.0.0.1:8181' },
    { SVC_OPA_URL         => 'http://[::1]:8181' },
    { SVC_DATABASE_URL    => 'postgresql://authz@db.example.net/authz?sslmode=verify-full' },
    { SVC_DATABASE_URL    => 'host=db.example.net sslmode=verify-ca' },
    { SVC_DATABASE_URL    => 'host=db.example.net gssencmode=require' },
    { SVC_DATABASE_URL    => 'host=db.example.net', PGSSLMODE => 'verify-full' },
    { SVC_DATABASE_URL    => 'host=/run/postgresql,127.0.0.1,localhost,::1' },
    { SVC_DATABASE_URL    => 'dbname=authz' },
    { SVC_OIDC_ISSUER     => 'http://localhost', SVC_GATEWAY_CREDENTIAL_KEY => $keys{SVC_CREDENTIAL_KEY} },
    { SVC_OIDC_ISSUER     => 'http://localhost', SVC_ROTATION_ANYTHING      => 1 } )
{
    is_deeply(
        ctl( [qw(config check --offline --json)], env => { %keys, %$change } )->{json}{warnings},
        [], 'no warning: ' . join ' ', map {"$_=$change->{$_}"} sort keys %$change );
}

# `config check` fails wherever a save or a request would, and says each fault once.
for my $case (
    [   { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => '/usr/bin/nothing' },
        'SVC_OPA_BINARY: is not the absolute path' ],
    [ { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => '/usr' }, 'SVC_OPA_BINARY: is not the absolute path' ],
    [ { SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => 'sh' },   'SVC_OPA_BINARY: is not the absolute path' ],
    [ { SVC_OPA_BINARY => '/usr/bin/nothing' },                      'SVC_OPA_BINARY: is not the absolute path' ],
    [ { SVC_GATEWAY_ALLOWED_ORIGINS => '*' }, 'SVC_GATEWAY_ALLOWED_ORIGINS: * is not an origin' ],
    [ { SVC_OIDC_ISSUER => 'login.example' }, 'SVC_OIDC_ISSUER: ' ],
    [ { SVC_OIDC_ISSUER => 'x', SVC_SESSION_COOKIE_SECURE => 'true' }, 'SVC_OIDC_ISSUER: ' ],
  )
{
    my ( $change, $text ) = @$case;
    my $what = join ' ', map {"$_=$change->{$_}"} sort keys %$change;
    my $got  = ctl_is( 78, [qw(config check --offline)], "check fails: $what", env => { %keys, %$change } );
    like( $got->{err}, qr/\Aauthzctl: \Q$text\E[^\n]*\n\z/, '... in one line' );
}
ctl_is(
    0, [qw(config check --offline)], '... not with a program',
    env => { %keys, SVC_POLICY_ENGINE => 'embedded', SVC_OPA_BINARY => '/bin/sh' } );
my $bare_data = File::Temp->newdir;
symlink Authz::Stack::data_dir() . '/www', "$bare_data/www" or die $!;
like(
    ctl( [qw(config check --offline)], env => { %keys, SVC_DATA_DIR => "$bare_data" } )->{err},
    qr/warning: SVC_DATA_DIR: does not contain readable directories sql, policy, www and connectors/,
    'an incomplete SVC_DATA_DIR is named' );

# The file: line numbers, several problems at once, the environment wins.
my $bad  = file("# a comment\nSVC_RATE_LIMIT_REQUESTS=0\nSVC_NO_SUCH=1\nnonsense\n");
my $told = ctl_is(
    78, [ qw(config check --offline --config), "$bad" ], 'a file with three mistakes',
    env => { %Authz::Stack::KEY, %data } );
like(
    $told->{err}, qr/^authzctl: \Q$bad\E:2: SVC_RATE_LIMIT_REQUESTS: must be/m,
    '... a value out of its limits, with file and line' );
like( $told->{err}, qr/^authzctl: \Q$bad\E:3: unknown setting 'SVC_NO_SUCH'/m, '... an unknown name' );
like( $told->{err}, qr/^authzctl: \Q$bad\E:4: the line is not NAME=VALUE/m,    '... no NAME=VALUE' );
my $odd = file("SVC_\xff\xfe=1\n");
is( scalar @{
        ctl( [ qw(config check --offline --json --config), "$odd" ], env => { %Authz::Stack::KEY, %data } )
          ->{json}{problems} },
    1,
    'a name that is not UTF-8 is still a JSON problem' );

# show: masked, with origin.
my $file = file("SVC_RATE_LIMIT_WINDOW=30\nSVC_ADMIN_API_KEY=from-the-file-123\n");
my $env  = {
    SVC_TRUSTED_PROXY_COUNT => 2, SVC_CREDENTIAL_KEY => 'very-secret-credential',
    SVC_DATABASE_URL        => 'postgresql://u:geheim@h/d' };
my $show = ctl_is( 0, [ qw(config show --json --config), "$file" ], 'show with a file and variables', env => $env );
my %row  = map { ( $_->{name} => $_ ) } @{ $show->{json} };
is_deeply(
    $row{SVC_RATE_LIMIT_WINDOW}, { name => 'SVC_RATE_LIMIT_WINDOW', value => '30', origin => "$file:1" },
    '... from the file, with its line' );
is_deeply(
    $row{SVC_TRUSTED_PROXY_COUNT}, { name => 'SVC_TRUSTED_PROXY_COUNT', value => '2', origin => 'environment' },
    '... from the environment' );
is( $row{SVC_LOG_LEVEL}{origin}, 'default', '... by default' );
for my $case (
    [ 'https://login.example', undef,   'true',  'SVC_OIDC_ISSUER' ],
    [ 'https://login.example', '',      'true',  'SVC_OIDC_ISSUER' ],
    [ 'http://127.0.0.1',      undef,   'false', 'SVC_OIDC_ISSUER' ],
    [ 'http://127.0.0.1/s',    '',      'false', 'SVC_OIDC_ISSUER' ],
    [ undef,                   undef,   'false', 'SVC_OIDC_ISSUER' ],
    [ 'https://login.example', 'false', 'false', 'environment' ],
    [ 'http://127.0.0.1',      'true',  'true',  'environment' ] )
{
    my ( $issuer, $set, $value, $origin ) = @$case;
    my %case = ( SVC_OIDC_ISSUER => $issuer, SVC_SESSION_COOKIE_SECURE => $set );
    delete @case{ grep { !defined $case{$_} } keys %case };
    my ($cookie) =
      grep { $_->{name} eq 'SVC_SESSION_COOKIE_SECURE' } @{ ctl( [qw(config show --json)], env => \%case )->{json} };
    is_deeply(
        $cookie, { name => 'SVC_SESSION_COOKIE_SECURE', value => $value, origin => $origin },
        '... cookies follow the issuer unless they are set (specification 5.7): ' . join ' ',
        map {"$_=$case{$_}"} sort keys %case );
}
is( $row{SVC_ADMIN_PEPPER}{origin}, 'unset', '... not at all' );
is( $row{$_}{value}, '********', "... $_ is masked" ) for qw(SVC_ADMIN_API_KEY SVC_CREDENTIAL_KEY SVC_DATABASE_URL);
unlike(
    $show->{out} . ctl( [ qw(config show --config), "$file" ], env => $env )->{out},
    qr/geheim|from-the-file|very-secret/, 'no secret in text or JSON' );
my $development = ctl( [qw(config show --json)], env => { %none, SVC_ALLOW_INSECURE_DEV_KEY => 'true' } );
is( ( grep { $_->{origin} eq 'development' && $_->{value} eq '********' } @{ $development->{json} } ), 4,
    'the public values of the development switch have their own origin' );
ctl_is( 0,  [qw(config show)], 'show needs nothing to be configured', env => \%none );
ctl_is( 78, [qw(config show)], 'show of a file that cannot be read',  env => { SVC_CONFIG => '/nonexistent.conf' } );

# doc: every setting of show, and its limits.
my $doc = ctl_is( 0, [qw(config doc --json)], 'doc needs nothing to be configured', env => \%none )->{json};
is_deeply( [ sort map { $_->{name} } @$doc ], [ sort keys %row ], 'doc describes the settings that show shows' );
is( ( grep { !length $_->{help} || !length $_->{type} } @$doc ), 0, '... each with help and type' );
my %unit = ( '' => 1, s => 1, m => 60, h => 3600, d => 86400 );
sub seconds { my ($text) = @_; return $text =~ /\A(\d+)([smhd]?)\z/ ? $1 * $unit{$2} : -1 }
is( (   grep {
            $_->{type} =~ /\A(?:number|duration)\z/
              && !( $_->{minimum} <= seconds( $_->{default} ) && defined $_->{maximum} )
        } @$doc ),
    0,
    '... numbers with limits' );
my $text = ctl( [qw(config doc)], env => \%none )->{out};
is_deeply(
    [ $text =~ /^([A-Z_]+)$/mg ], [ map { $_->{name} } @$doc ],
    'the text names the same, each on a line of its own' );

# Against a database and an engine.
sub checked { my ( $url, %more ) = @_; return settings( $url, SVC_OPA_BINARY => '/bin/sh', %more ) }
my $postgres = Authz::Postgres->shared_or_new;
my $url      = $postgres->url( $postgres->database );
my $no_opa   = ctl_is( 69, [qw(config check)], 'check without a policy engine', env => checked($url) );
like( $no_opa->{out}, qr/^database: ok\nschema: ok \(\d+\)\nsigning keys: ok/m, '... finds the database right' );
like(
    $no_opa->{err},
    qr/\Aauthzctl: warning: the role [^\n]*\nauthzctl: policy engine: [^\n]*SVC_OPA_URL[^\n]*\n\z/,
    '... and names the engine alone' );

# One role for everything: what it costs. t/store/roles.t has the other side.
my $one = ctl( [qw(config check --json)], env => checked($url) );
is( scalar @{ $one->{json}{warnings} }, 1, 'the role of the service owns the tables: one warning' );
like(
    $one->{json}{warnings}[0], qr/can delete audit rows and drop tables.*doc\/upgrade\.md, Two roles/,
    '... that says what that costs, and what to do' );
my $no_database =
  ctl_is( 69, [qw(config check)], 'check without a database', env => checked( $postgres->url('nowhere') ) );
like( $no_database->{err}, qr/^authzctl: database: .*nowhere.*SVC_DATABASE_URL/m, '... names it' );
my $empty = ctl_is(
    78, [qw(config check)], 'check with an empty database',
    env => checked( $postgres->url( $postgres->database( empty => 1 ) ) ) );
like( $empty->{err}, qr/^authzctl: .*schema 0.*run `authzctl db migrate`/m, '... says what to run' );
my $other = ctl_is(
    78, [qw(config check)], 'check with another credential key than the keys were sealed under',
    env => checked( $url, SVC_CREDENTIAL_KEY => 'y' x 20 ) );
like( $other->{err}, qr/SVC_CREDENTIAL_KEY/, '... names it' );
unlike( $other->{err}, qr/y{20}/, '... without its value' );

# ---- root connects as the account of the service: the owner of authz.conf, or the account named like its group

SKIP: {
    my $account = Authz::Path::unprivileged();
    skip 'only root is another account than that of the service', 4 if !defined $account;
    my ( $uid, $gid ) = ( getpwnam $account )[ 2, 3 ];
    my $plain = checked( $url =~ s/&user=[a-z]+//r );
    my $conf =
      file( join '', map { defined $plain->{$_} ? "$_=$plain->{$_}\n" : () } grep {/\ASVC_/} sort keys %$plain );
    my %of = ( SVC_CONFIG => "$conf", PGUSER => undef );
    for my $case (
        [ 0, $gid, 0640, 0,  'named like its group' ], [ $uid, 0, 0600, 0, 'that owns it' ],
        [ 0, 0,    0600, 69, undef ] )
    {
        my ( $owner, $group, $mode, $status, $name ) = @$case;
        chown $owner, $group, "$conf" or die $!;
        chmod $mode, "$conf" or die $!;
        my $got = ctl_is(
            $status, [qw(client list)],
            defined $name
            ? "root works as the account of authz.conf: the one $name"
            : 'a file of root alone names no account', env => \%of );
        like( $got->{err}, qr/role "root" does not exist/, '... so root connects as itself' ) if !defined $name;
    }
}

# ---- an engine that cannot fetch, and one that refuses a rule

my %report = (
    'the service is down' => [
        { message => 'server replied with Service Unavailable', http_code => '503', code => 'bundle_error' },
        69,
        qr/could not fetch the newest bundle: server replied with Service Unavailable; the service .*no rule is at fault/
    ],
    'no connection' => [
        { message => 'request failed: Get "http://127.0.0.1/": connection refused', code => 'bundle_error' },
        69, qr/could not fetch the newest bundle: request failed.*no rule is at fault/ ],
    'a rule is wrong' => [
        { message => 'custom/x.rego:6: rego_type_error', code => 'bundle_error' },
        1, qr/refused the newest bundle: custom\/x\.rego:6.*correct the rule/ ],
);
for my $what ( sort keys %report ) {
    my ( $bundle, $status, $told ) = @{ $report{$what} };
    my $text   = JSON::PP::encode_json( { result => { bundles => { svc => { active_revision => 'r1', %$bundle } } } } );
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 4 ) or die "listen: $!";
    my $engine = Authz::Process->start(
        name => 'engine',
        code => sub {
            Authz::Server::accept_each(
                $listen,
                sub {
                    my ($peer) = @_;
                    Authz::Server::read_message($peer) or return;
                    print {$peer}
                      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: "
                      . length($text)
                      . "\r\n\r\n$text";
                } );
        } );
    my $got = ctl_is(
        $status, [qw(config check)], "config check: $what",
        env => checked( $url, SVC_OPA_URL => 'http://127.0.0.1:' . $listen->sockport ) );
    like( $got->{err}, $told, '... is told apart' );
    $engine->stop;
}

done_testing;

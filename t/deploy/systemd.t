# The systemd units: they agree with each other, with the web servers' configurations and with the defaults, and the daemon
# takes the sockets that systemd would hand it (gateway-admin.md 7.3, 7.4).
use strict;
use warnings;

use IO::Socket::UNIX ();
use POSIX            ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my @POOLS = qw(core web bundles gateway);

# The settings of a unit: name => [values], lines joined.
sub unit {
    my ($name) = @_;
    my $text = Authz::Web::edit( Authz::Path::source( 'etc', 'systemd', $name ), qr/\A/ => '' );
    $text =~ s/\\\n\s*/ /g;
    my %value;
    push @{ $value{$1} }, $2 while $text =~ /^([A-Z]\w*)=(.*)$/mg;
    return \%value;
}

sub default_of {
    my ($name) = @_;
    my ( undef, $text ) = Authz::Process->run(
        name => 'doc', command => [ Authz::Path::program('authzctl'), 'config', 'doc' ],
        env  => { SVC_CONFIG => '/dev/null' } );
    return $text =~ /^\Q$name\E\n.*?default (\S+)$/ms ? $1 : "$name has no default";
}

# ---- agreement

my $service     = unit('authz.service');
my $opa         = unit('authz-opa.service');
my %socket      = map { ( $_ => unit("authz-$_.socket") ) } @POOLS;
my ($directory) = $socket{core}{ListenStream}[0] =~ m{\A(.+)/};
for my $pool (@POOLS) {
    is( "@{ $socket{$pool}{ListenStream} }", "$directory/$pool.sock",
        "the socket of $pool is in the directory of all" );
    is( "@{ $socket{$pool}{FileDescriptorName} }", $pool, '... has the name by which the daemon knows it' );
    is( "@{ $socket{$pool}{SocketMode} } @{ $socket{$pool}{Service} }", '0660 authz.service',
        '... is closed to other accounts, and starts the daemon' );
    like( "@{ $service->{Requires} }", qr/(?:\A| )authz-$pool\.socket(?: |\z)/, '... and the daemon needs it' );
}
like(
    Authz::Web::edit( Authz::Path::source( 'etc', 'lighttpd', 'authz.conf' ), qr/\A/ => '' ),
    qr/^var\.authz_sockets = "\Q$directory\E"$/m, 'lighttpd looks for the sockets there' );
like(
    Authz::Web::edit( Authz::Path::source( 'etc', 'apache', 'authz.conf' ), qr/\A/ => '' ),
    qr/^Define AUTHZ_SOCKETS "\Q$directory\E"$/m, 'Apache too' );
is( "/run/$service->{RuntimeDirectory}[0]", default_of('SVC_RUNTIME_DIR'),
    'the runtime directory is the default of SVC_RUNTIME_DIR' );
is( "@{ $service->{RuntimeDirectoryMode} }", '0700', '... with the mode that the service insists on' );
isnt( "/run/$service->{RuntimeDirectory}[0]", $directory, '... so that the web server\'s sockets cannot be in it' );
my ($address) = "@{ $opa->{ExecStart} }" =~ /--addr unix:\/\/(\S+)/;
is( "unix:$address", default_of('SVC_OPA_URL'), 'the engine listens at the default of SVC_OPA_URL' );
is( "/run/@{ $opa->{RuntimeDirectory} }", $address =~ s{/[^/]+\z}{}r, '... in a directory of its own' );
is( "@{ $opa->{RuntimeDirectoryMode} } @{ $opa->{Group} }",
    "0750 @{ $service->{SupplementaryGroups} }",
    '... which the service enters by its group, and no other account' );

# ---- what a unit restricts: the same around the same account

my $restricts = sub {
    my ($unit) = @_;
    return {
        map    { ( $_ => "@{ $unit->{$_} }" ) }
          grep {/\A(?:NoNew|Protect|Private|Restrict(?!Prevent|art)|Lock|Memory|System|Capab|UMask|LimitCORE)/}
          keys %$unit };
};
my $around = $restricts->($service);
cmp_ok( scalar keys %$around, '>=', 20, 'authz.service is restricted' );
is_deeply(
    $restricts->( unit('authz-maintain.service') ), $around,
    '... and housekeeping, with its account and keys, as much' );
my $engine = $restricts->($opa);
delete $around->{MemoryDenyWriteExecute};    # the engine may compile WebAssembly
is_deeply( $engine, $around, '... and the engine' );
is( $around->{LimitCORE}, '0', 'no unit leaves its keys in a core file (systemd.exec(5))' );

# ---- make writes the paths of the build

SKIP: {
    my $made = ( $ENV{AUTHZ_BUILDDIR} // '' ) . '/systemd';
    skip 'no build folder', 3 if !-d $made;
    my ($prefix) = Authz::Web::edit("$ENV{AUTHZ_BUILDDIR}/Makefile") =~ /^prefix = (.+)$/m;
    my $text = join '',
      map { Authz::Web::edit($_) =~ s/^#.*\n//mgr } sort glob "$made/authz-*.service $made/authz.service";
    my @path = $text =~ /^(?:ExecStart=|EnvironmentFile=|Environment=SVC_CONFIG=)(\S+)/mg;
    is( scalar @path, 6, 'three units name a program each, and three files of settings' );
    is( scalar( grep { !m{\A\Q$prefix\E/|\A/etc/} } @path ), 0, '... at the places of this build' ) or diag "@path";
    is_deeply(
        [ sort map {s{.*/}{}r} glob "$made/authz*" ],
        [ sort map {s{.*/}{}r} glob Authz::Path::source( 'etc', 'systemd', 'authz*' ) ],
        'every unit is made' );
}

# ---- the engine has what it needs and nothing else (etc/opa/README)

isnt( "@{ $opa->{User} }",  "@{ $service->{User} }",  'the engine has an account of its own' );
isnt( "@{ $opa->{Group} }", "@{ $service->{Group} }", '... which is not in the group that reads authz.conf' );
ok( !$opa->{SupplementaryGroups}, '... nor in any other' );
is( "@{ $opa->{IPAddressDeny} } @{ $opa->{IPAddressAllow} }", 'any 127.0.0.1',
    'the engine reaches no address but that of the service' );
my $yaml = Authz::Web::edit( Authz::Path::source( 'etc', 'opa', 'opa.yaml' ), qr/\A/ => '' );
like( $yaml, qr{^ +url: http://\Q@{ $opa->{IPAddressAllow} }\E:}m, '... which is that of opa.yaml' );
my ($kept) = "@{ $opa->{ExecStart} }" =~ m{--config-file (\S+)/opa\.yaml};
is( "@{ $opa->{EnvironmentFile} }", "$kept/opa.env", 'its files are in one directory' );
unlike( $kept, qr{\A/etc/authz(?:/|\z)}, '... which is not that of authz.conf' );

# systemd itself puts these names into the environment of a service (systemd.exec(5)).
for my $name (qw(PATH LANG HOME USER LOGNAME SHELL INVOCATION_ID JOURNAL_STREAM SYSTEMD_EXEC_PID)) {
    like( "@{ $opa->{UnsetEnvironment} }", qr/(?:\A| )$name(?: |\z)/, "the environment is without $name" );
}
my @given = "@{ $opa->{Environment} }" =~ /(?:\A| )(\w+)=/g;
is( "@given", 'OPA_INSTANCE GOGC GOMEMLIMIT', '... and has the name and the memory limits' );
is_deeply(
    [ sort( 'SVC_BUNDLE_API_KEY', grep { !/\AGO/ } @given ) ],
    [ sort keys %{ { map { ( $_ => 1 ) } $yaml =~ /^[^#\n]*?\$\{(\w+)\}/mg, $yaml =~ /"\$\{(OPA_INSTANCE)\}"/g } } ],
    '... beside the bundle key: what opa.yaml names' );
ok( !$opa->{PassEnvironment}, '... and nothing of the manager\'s' );
my ( $empty, $told ) = Authz::Process->run(
    name    => 'bare',
    command => [ 'env', '-i', Authz::Path::opa(), 'eval', '-f', 'raw', 'object.keys(opa.runtime().env)' ] );
is( $told, "[]\n", 'an engine starts in an empty environment' ) or diag($empty);

my $memory = 'glibc.malloc.tcache_count=128';
like(
    "@{ $service->{Environment} }",
    qr/(?:\A| )GLIBC_TUNABLES=\Q$memory\E(?: |\z)/,
    'the workers keep freed memory at hand (performance.md 3.5)' );
for my $place ( [qw(cli serve.c)], [qw(contrib lib service.sh)] ) {
    my @told = Authz::Web::edit( Authz::Path::source(@$place) ) =~ /\b(glibc[.]malloc[.][\w.=]+)/g;
    is( "@told", $memory, '... as much as ' . join( '/', @$place ) . ' lets them' );
}

my $conf = Authz::Web::edit( Authz::Path::source( 'etc', 'authz.conf' ), qr/\A/ => '' );

for my $name (qw(SVC_RUNTIME_DIR SVC_OPA_URL)) {
    my ($told) = $conf =~ /^#\Q$name\E=(.*)$/m;
    is( $told, default_of($name), "authz.conf names the default of $name" );
}
ok( !$service->{ExecStartPre},
    'RestartPreventExitStatus=78 is the main process\'s: no ExecStartPre that would fail in its place (systemd.service(5))'
);

# Each word of the engine's command line is one that this engine knows.
my ( undef, $help ) = Authz::Process->run( name => 'opahelp', command => [ Authz::Path::opa(), 'run', '--help' ] );
like( $help, qr/\Q$_\E\b/, "opa run knows $_" ) for "@{ $opa->{ExecStart} }" =~ /(--[a-z-]+)/g;

# systemd's own judgement, with programs that are there in the place of ours.
SKIP: {
    skip 'no systemd-analyze', 1 if !grep { -x "$_/systemd-analyze" } qw(/usr/bin /bin);
    my $dir = Authz::Stack::runtime_dir('units');
    for my $file ( glob Authz::Path::source( 'etc', 'systemd', 'authz*' ) ) {
        my ($name) = $file =~ m{([^/]+)\z};
        my $text = Authz::Web::edit( $file, qr/\A/ => '' );
        $text =~ s{^(ExecStart=)/\S+}{$1/bin/true}mg;
        Authz::Web::write_file( "$dir/$name", $text );
    }
    my ( $status, $text ) = Authz::Process->run(
        name => 'verify', command => [ 'systemd-analyze', '--man=no', 'verify', glob "$dir/authz*" ],
        env  => { SYSTEMD_LOG_LEVEL => 'warning' } );
    my @about = grep {/authz/} split /\n/, $text;
    ok( $status == 0 && !@about, 'systemd-analyze verify has nothing to say' ) or diag($text);
}

# How much bodies in transit can take: drop-ins of the units of the web servers.
for my $case ( [ 'lighttpd', '/var/cache/lighttpd/uploads', 5461 ], [ 'apache', '/tmp', 2048 ] ) {
    my ( $web, $path, $connections ) = @$case;
    my $drop = Authz::Web::edit( Authz::Path::source( 'etc', $web, 'authz-uploads.conf' ), qr/\A/ => '' );
    like(
        $drop, qr/^TemporaryFileSystem=\Q$path\E:size=256M,mode=1777$/m,
        "$web: bodies have a file system with a limit" );
    like( $drop =~ tr/,//dr, qr/$connections connections/, '... instead of so many large ones' );
  SKIP: {
        skip 'no systemd-analyze', 1 if !grep { -x "$_/systemd-analyze" } qw(/usr/bin /bin);
        my $dir = Authz::Stack::runtime_dir("drop-$web");
        mkdir "$dir/$web.service.d" or die $!;
        Authz::Web::write_file( "$dir/$web.service",             "[Service]\nExecStart=/bin/true\n" );
        Authz::Web::write_file( "$dir/$web.service.d/size.conf", $drop );
        my ( $status, $text ) = Authz::Process->run(
            name => "verify $web", command => [ 'systemd-analyze', '--man=no', 'verify', "$dir/$web.service" ],
            env  => { SYSTEMD_LOG_LEVEL => 'warning' } );
        ok( $status == 0 && $text !~ /size\.conf/, '... as systemd reads it' ) or diag($text);
    }
}

# ---- socket activation

# Start the service as systemd does: listening sockets from descriptor 3 on, their names, and the unit's command line.
package Activated;
our @ISA = ('Authz::Stack');

sub open_sockets {
    my ($self) = @_;
    $self->{listening} = {
        map {
            ( $_ => IO::Socket::UNIX->new( Local => "$self->{dir}/$_.sock", Listen => $socket{$_}{Backlog}[0] )
                  // die "$_: $!" )
        } @POOLS };
    return;
}

sub start_service {
    my ($self) = @_;
    $self->open_sockets if !$self->{listening};
    my ( undef, @words ) = split / /, $service->{ExecStart}[0];
    my $run = sub {
        my $fd   = 3;
        my @high = map { POSIX::fcntl_dup( fileno $self->{listening}{$_} ) } @POOLS;
        POSIX::dup2( $_, $fd++ ) for @high;
        @ENV{qw(LISTEN_PID LISTEN_FDS LISTEN_FDNAMES)} = ( $$, scalar @POOLS, join ':', @POOLS );
        exec { Authz::Path::program('authz.fcgi') } 'authz.fcgi', @words;
    };
    $self->{service} = Authz::Process->start( name => "authz$self->{number}", env => $self->settings, code => $run );
    return;
}

package main;

# Out of the way of descriptors 3 to 5.
sub POSIX::fcntl_dup {
    my ($fd) = @_;
    require Fcntl;
    open my $in, '<&=', $fd or die "fdopen: $!";
    return fcntl( $in, Fcntl::F_DUPFD(), 100 );
}

my $stack = Activated->start( settings => { SHUTDOWN_PHASE_TIMEOUT => '5s' } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );
oauth_ok( $stack->token( @crm, scope => 'a' ), { scope => 'a' }, 'the daemon serves the sockets it is handed' );
is( scalar( () = $stack->{service}->log_text =~ /workers 6 core, 8 web, 2 bundles, 8 gateway"/ ), 1,
    '... with the unit\'s number of workers' );

$stack->{service}->stop;
my @waiting = map { $stack->client } 1 .. 8;
my @socket  = map { $_->_connect } @waiting;
syswrite $socket[$_],
  $waiting[$_]->octets(
    'POST', '/token', headers => [ Authz::Client::basic(@crm) ],
    form => [ grant_type => 'client_credentials' ], close => 1 ) for 0 .. $#socket;
select undef, undef, undef, 0.3;
$stack->start_service;
my @answer = map { my $handle = $_; local $/ = undef; my $text = readline $handle; $text // '' } @socket;
is( scalar( grep {/\AHTTP\/1\.1 200 .*"access_token"/s} @answer ), 8,
    'systemctl restart: requests that came while the daemon was away are answered by the next one' );
ok( -S "$stack->{dir}/core.sock", '... and a stopped daemon leaves systemd\'s sockets where they are' );

# ---- a wrong setting under traffic: systemd starts the service for each request, and stops its sockets after five in 10 seconds

$stack->{service}->stop;
{
    no warnings 'redefine';
    my $settings = $stack->settings;
    my $wrong    = sub { return { %$settings, SVC_RATE_LIMIT_WINDOW => 'often' } };
    no strict 'refs';
    local *{'Activated::settings'} = $wrong;
    my $began = time;
    $stack->start_service;
    my $refused = $stack->{service};
    ok( Authz::Process::until_true( 20, sub { $refused->log_text =~ /SVC_RATE_LIMIT_WINDOW: must be/ } ),
        'a wrong setting is named at once' );
    $refused->wait(20);
    is( $refused->{status}, 78, '... with the status for systemd.service(5) RestartPreventExitStatus' );
    cmp_ok( time - $began, '>=', 4, '... after 5 seconds, so that five starts take longer than 10 seconds' );
    $began = time;
    $stack->start_service;
    Authz::Process::until_true( 20, sub { $stack->{service}->log_text =~ /SVC_RATE_LIMIT_WINDOW: must be/ } );
    $stack->{service}->stop;
    cmp_ok( time - $began, '<', 5, '... and systemctl restart ends it before' );
}
$stack->start_service;
oauth_ok( $stack->token( @crm, scope => 'a' ), { scope => 'a' }, 'with the right setting it starts at once' );

$_->stop for $stack->{opa}, $stack->{service}, $stack->{server};

# sd_listen_fds(3): the numbers are digits alone; any others are no activation.
for my $set ( 'LISTEN_PID=$$ LISTEN_FDS=3x', 'LISTEN_PID=$$ LISTEN_FDS=-3', 'LISTEN_PID=$$x LISTEN_FDS=3' ) {
    my $program = Authz::Path::program('authz.fcgi');
    my ( $status, $text ) = Authz::Process->run(
        name    => 'listen', env => $stack->settings,
        command => [ 'sh', '-c', "$set LISTEN_FDNAMES=core:web:bundles exec '$program' --workers 1" ] );
    ok( $status == 64 && $text =~ /--workers requires --listen/, "$set is refused" ) or diag( $status, $text );
}

done_testing;

#!/usr/bin/perl
# contrib/quickstart as a newcomer uses it: a person signs in at once, settings stay, and what is wrong is said with its remedy.
# It prints the time from the command to a person who is signed in.
use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Client  ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

plan skip_all => 'AUTHZ_PREFIX names no installed tree'
  if !-x ( $ENV{AUTHZ_PREFIX} // '' ) . '/libexec/authz/authz.fcgi';

my $quickstart = Authz::Path::source( 'contrib', 'quickstart' );
my $account    = Authz::Path::unprivileged();

# As in a home directory, which the account of the daemons cannot enter.
my $home = Authz::Process::directory() . '/home';
mkdir $home, 0700 or die "$home: $!";
my $dir  = "$home/trial";
my $port = Authz::Web::free_port();
my %env  = (
    AUTHZ_OPA => Authz::Path::opa(), AUTHZ_USER => $account // '', BROWSER => '',
    map { ( $_ => undef ) } grep {/^SVC_/} keys %ENV );

sub quickstart {
    my ( $word,   %option ) = @_;
    my ( $status, $text )   = Authz::Process->run(
        name    => 'quickstart', timeout => 180,
        command => [ $quickstart, split( / /, $word ), '--dir', $option{dir} // $dir ],
        env     => { %env, %{ $option{env} // {} } } );
    return wantarray ? ( $status, $text ) : $text;
}

sub is_run {
    my ( $word, $wanted, $like, $name, %option ) = @_;
    my ( $status, $text ) = quickstart( $word, %option );
    ok( $status == $wanted && $text =~ $like, $name ) or diag "status $status\n$text";
    return $text;
}

END {
    my $status = $?;
    if ( defined $dir && -d $dir ) {
        my @down = ( 'down', '--purge', '--dir', $dir );
        Authz::Process->run( name => 'down', timeout => 90, command => [ $quickstart, @down ], env => {%env} );
    }
    $? = $status;
}

# ---- before anything is installed

is_run( 'down',            1, qr/does not exist, so nothing of it runs/,    'down without an instance says so' );
is_run( 'status',          3, qr/no instance/,                              'status, too' );
is_run( 'test-client',     1, qr/no instance in .*contrib\/quickstart up/s, '... and test-client, with what to do' );
is_run( "up --port 99999", 2, qr/--port must be a number from 1 to 65535/,  'a port that is none is refused' );
my $taken = IO::Socket::INET->new( LocalAddr => '127.0.0.1', LocalPort => $port, Listen => 1 ) or die "port $port: $!";
my $late  = is_run(
    "up --port $port", 1, qr/another program uses port $port .*nothing was installed.*another port with --port/s,
    'a taken port is refused' );
unlike( $late, qr{\[ 1/}, '... before packages and build' );
close $taken;
is_run(
    "up --port $port", 1, qr/SVC_PAGES_NAME contains a line break/,
    'a setting of two lines is refused', env => { SVC_PAGES_NAME => "a\nSVC_X=b" } );
my $path = Authz::Process::directory() . '/old';
mkdir $_ or die "$_: $!" for $path, "$path/11", "$path/11/bin";
Authz::Web::write_file( "$path/11/bin/initdb",   "#!/bin/sh\nexit 1\n",                             0755 );
Authz::Web::write_file( "$path/11/bin/postgres", "#!/bin/sh\necho 'postgres (PostgreSQL) 11.22'\n", 0755 );
is_run(
    "up --no-people --port $port", 1, qr/PostgreSQL 11 .* is too old: 14 or newer is required.*what to do: install/s,
    'an old PostgreSQL is named, with what to do', env => { AUTHZ_PG_DIR => $path } );
is_run(
    "up --no-people --port $port", 1, qr/AUTHZ_OPA is not a usable opa program.*what to do: set AUTHZ_OPA/s,
    'an engine that cannot run is named, with what to do', env => { AUTHZ_OPA => '/bin/false' } );
is_run(
    "up --no-people --port $port", 1, qr/trying: download.*what to do: tried: download\. .*AUTHZ_OPA=/s,
    'without network the ways to get the engine are named',
    env => {
        AUTHZ_OPA   => '', AUTHZ_OPA_WAYS => 'download', XDG_CACHE_HOME => "$home/none", HOME => "$home/none",
        https_proxy => 'http://127.0.0.1:9', PATH => '/usr/sbin:/usr/bin:/sbin:/bin' } );

# ---- up, and a person signs in

my $began = time;
my ( $status, $text ) = quickstart( "up --no-demo --port $port", env => { SVC_PAGES_NAME => 'Acme "login"' } );
is( $status, 0, 'up' ) or do { diag $text; done_testing; exit 1 };
my $up = time - $began;
my ($client) = $text =~ m{Sign in as alice, bob or carol: +(http://127\.0\.0\.1:\d+/client)$}m;
ok( defined $client, 'the end names where to sign in' ) or diag $text;
like( $text, qr/\Q$_\E/, "... and $_" )
  for 'test-client', '/portal/', '/swagger-ui/', 'authzctl client list', 'doc/policy-guide.md', 'doc/protect-mcp.md';
my ($link) = $text =~ m{signed in, once, within 10 minutes: +http://127\.0\.0\.1:$port/portal/#/link/([\w-]{43})$}m;
ok( defined $link, '... and a one-time link that signs a browser in to the console' ) or diag $text;
my @by_link = map {
    Authz::Client->new( port => $port )->post(
        '/admin/session',
        headers => [ 'X-Authz-Console' => 1, 'X-Authz-Console-Link' => $link // '', Origin => "http://127.0.0.1:$port" ]
    )->status
} 1 .. 2;
is( "@by_link", '204 401', '... which does it once' );
my $console = Authz::Client->new( port => $port )->get( '/portal/', headers => [ 'Accept-Encoding' => 'gzip' ] );
is( $console->header('Content-Encoding'), 'gzip', '... where the console is sent, compressed' ) or diag $console->text;
like( $text, qr/Settings of your own in \S+: SVC_PAGES_NAME$/m, '... and the settings that were given' );
my $printed = quickstart('test-client --print --person carol');
like( $printed, qr/^# The provider asks who it is\.$/m,       'test-client --print shows each step' ) or diag $printed;
like( $printed, qr/"sub" : "carol".*^carol is signed in\./ms, '... to a person who is signed in' );
like( $printed, qr/"introspection" : \{\s+"active" : true/,   '... with a token that policy allows' );
is_run(
    'test-client --print --person dave', 1, qr/does not know dave; it knows alice, bob and carol/,
    'another person is refused' );
is_run( 'test-client', 0, qr/^    \Q$client\E$/m, 'test-client prints the address to open' );
my $said = "$home/browser";
Authz::Web::write_file( "$home/open", "#!/bin/sh\necho \"\$1\" >$said\n", 0755 );
quickstart( 'test-client', env => { BROWSER => "$home/open" } );
ok( Authz::Process::until_true( 10, sub { -s $said } ), '... and opens it in a browser that is at hand' );

SKIP: {
    my $why = Authz::Node::missing( browser => 1 );
    skip $why, 1 if defined $why;
    my ( $browsed, $tap ) = Authz::Process->run(
        name    => 'node', timeout => 120, env => { AUTHZ_CHROMIUM => Authz::Node::chromium(), AUTHZ_TRIAL => $client },
        command => [ Authz::Node::command( 'pages', 'trial.mjs' ) ] );
    ok( $browsed == 0 && $tap =~ /^1\.\.\d+$/m, 'a person signs in in a browser, on pages that fit' ) or diag $tap;
    my ($milliseconds) = $tap =~ /^# milliseconds: (\d+)/m;
    my $all = $up + ( $milliseconds // 0 ) / 1000;
    diag sprintf 'contrib/quickstart up: %.1f s; to a signed-in person in a browser: %.1f s', $up, $all;
    cmp_ok( $all, '<', 60 * Authz::Process::patience(), '... within a minute of the command, with the engine at hand' );
}

# ---- the environment for authzctl

my ( $listed, $list ) = Authz::Process->run(
    name    => 'env',
    command => [ 'bash', '-euc', ". '$dir/env'; authzctl client list; authzctl db status >/dev/null; command -v opa" ],
    env     => {%env} );
ok( $listed == 0 && $list =~ /^demo-web/m, '`. env` puts authzctl on PATH, with server and key, and the engine' )
  or diag $list;

# ---- the service is a role of the database that changes neither the schema nor the audit log (decisions.md "Two roles")

sub as_service { return runs_sql( 'SVC_DATABASE_URL',   @_ ) }
sub as_admin   { return runs_sql( 'DATABASE_ADMIN_URL', @_ ) }

sub runs_sql {
    my ( $url, $sql ) = @_;
    return Authz::Process->run(
        name    => 'psql', env => {%env},
        command =>
          [ 'bash', '-euc', '. "$1"; exec psql -X -q -A -t -d "${!2}" -c "$3"', 'psql', "$dir/env", $url, $sql ] );
}
my $owns = q{SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = 'audit_log'::regclass};
is( ( as_service($owns) )[1], "authz-owner\n", 'the tables belong to another role than that of the service' );
for my $refused (
    'DELETE FROM audit_log', 'UPDATE audit_log SET outcome = NULL', 'DROP TABLE client',
    'CREATE TABLE a ()' )
{
    my ( undef, $said ) = as_service($refused);
    like( $said, qr/permission denied|must be owner/, "refused for the service: $refused" );
}

# ---- settings stay, and can be taken back

is( sprintf( '%04o', ( stat "$dir/lock" )[2] & 07777 ), '0600', 'no other account can hold the lock' );
my ($conf) = map { Authz::Web::edit($_) } "$dir/authz.conf";
like(
    $conf, qr/^SVC_PAGES_NAME=Acme "login"$|^SVC_PAGES_NAME="Acme "login""$/m,
    'a setting of the environment is in authz.conf' );
is_run(
    'up --no-demo', 1, qr/SVC_LOG_LEVEL.*what to do: correct the setting/s,
    'a wrong setting is refused', env => { SVC_LOG_LEVEL => 'loud' } );
is( Authz::Web::edit("$dir/authz.conf"),                         $conf, '... and the file stays as it was' );
is( ( as_admin('REASSIGN OWNED BY "authz-owner" TO authz') )[0], 0, 'an instance of an earlier version has one role' );
my $again =
  is_run( 'up --no-demo', 0, qr/Settings of your own in \S+: SVC_PAGES_NAME$/m, 'up twice: the setting is kept' );
like( $again, qr/starting PostgreSQL … running already/, '... and what runs goes on' );
is( ( as_service($owns) )[1], "authz-owner\n", '... and the tables have their owner' );
is_run(
    'status', 0, qr/^provider: running, pid \d+\n.*^sign in: \Q$client\E\n.*SVC_PAGES_NAME/ms,
    'status shows provider and settings' );
like(
    Authz::Client->new( port => $port )->get( '/', headers => [ Accept => 'text/html' ] )->text,
    qr/Acme &quot;login&quot;/, '... and the service has it' );
is_run( 'up --no-demo', 0, qr/ready after/, 'up with an empty value', env => { SVC_PAGES_NAME => '' } );
unlike( Authz::Web::edit("$dir/authz.conf"), qr/SVC_PAGES_NAME/, '... deletes the setting' );

# ---- what the provider refuses

my ($at) = $client =~ /:(\d+)/;
my $http = Authz::Client->new( port => $at );
my $json = $http->get('/.well-known/openid-configuration')->json;
is( $json->{issuer}, "http://127.0.0.1:$at", 'the provider is the issuer of its own address' );
is_deeply( $json->{code_challenge_methods_supported}, ['S256'], '... with PKCE by S256 alone' );
my @asked = (
    client_id => 'authz',  redirect_uri   => "http://127.0.0.1:$port/authorize/callback/demo", response_type => 'code',
    scope     => 'openid', code_challenge => 'x' x 43, code_challenge_method => 'S256', state => 's' );

sub ask {
    my (%other) = @_;
    my %all = ( @asked, %other );
    return $http->get( '/authorize?' . Authz::Client::form(%all) );
}
is( ask()->status, 200, 'a whole request gets the page' );
for my $case (
    [ 'another redirect URI',  400, undef,                       redirect_uri          => 'https://evil.example/cb' ],
    [ 'another client',        400, undef,                       client_id             => 'other' ],
    [ 'no PKCE',               303, 'invalid_request',           code_challenge        => '' ],
    [ 'PKCE in the plain',     303, 'invalid_request',           code_challenge_method => 'plain' ],
    [ 'no scope openid',       303, 'invalid_scope',             scope                 => 'profile' ],
    [ 'another response type', 303, 'unsupported_response_type', response_type         => 'token' ],
    [ 'prompt=none',           303, 'login_required',            prompt                => 'none' ],
  )
{
    my ( $what, $wanted, $error, %other ) = @$case;
    my $answer = ask(%other);
    is( $answer->status, $wanted, "$what is refused" );
    like(
        $answer->header('Location') // '', $error ? qr/[?&]error=$error&/ : qr/\A\z/,
        '... in the way of OAuth (RFC 6749 4.1.2.1)' );
}
is( $http->get( '/', headers => [ Host => "demo.example:$at" ] )->status,       403, 'another host name is refused' );
is( $http->get( '/', headers => [ 'X-Forwarded-For' => '192.0.2.1' ] )->status, 403, '... and what a proxy passes on' );
is( $http->get('/choose?choice=x&person=alice')->status, 400, 'a choice that the provider did not offer is refused' );
my ($choice) = ask()->{body}                                                         =~ /choice=([0-9a-f]{32})/;
my ($code)   = $http->get("/choose?choice=$choice&person=alice")->header('Location') =~ /[?&]code=([0-9a-f]{32})/;
is( $http->get("/choose?choice=$choice&person=alice")->status, 400, '... and one that was used' );
my $state  = ( glob("$dir/demo/state") )[0];
my $secret = Authz::Web::edit("$state/secret") =~ s/\n//r;

sub redeem {
    my ( $basic, %other ) = @_;
    my %all = (
        grant_type    => 'authorization_code', code => $code, redirect_uri => $asked[3],
        code_verifier => 'v', %other );
    return $http->post( '/token', headers => [ Authz::Client::basic(@$basic) ], form => [%all] );
}
is( redeem( [ 'authz', 'wrong' ] )->status, 401, 'a wrong secret is refused' );
is( redeem( [ 'other', $secret ] )->status, 401, '... and another client' );
is( redeem( [ 'authz', $secret ], grant_type => 'password' )->member('error'), 'unsupported_grant_type',
    '... and another grant' );
is( redeem( [ 'authz', $secret ] )->member('error'), 'invalid_grant',
    'a verifier that does not fit is refused (RFC 7636 4.6)' );
is( redeem( [ 'authz', $secret ] )->member('error'), 'invalid_grant', '... and the code is used up' );
is( $http->get('/userinfo')->status,                 401,             '/userinfo asks for a token' );
for my $service ( 'https://login.example', 'http://127.0.0.1.evil.example', 'http://127.0.0.1:8080/x' ) {
    my ( $rc, $why ) = Authz::Process->run(
        name    => 'serve',
        command => [
            Authz::Path::source( 'contrib', 'demo', 'serve' ), '--port', 1, '--state', '/', '--style', '/',
            '--service', $service ] );
    ok( $rc == 64 && $why =~ /this is a demonstration, for a service at/, "it does not start for $service" )
      or diag $why;
}
my $foreign = quickstart( 'up --no-demo', env => { SVC_OIDC_ISSUER => 'http://login.example' } );
like(
    $foreign, qr/no demonstration provider: SVC_OIDC_ISSUER is/,
    'a service with another issuer gets no such provider' );

like( quickstart('up --no-demo'), qr/no demonstration provider: SVC_OIDC_ISSUER is/, '... which the next run keeps' );
like( quickstart('status'),       qr/^provider: stopped$/m, '... and the provider is stopped' );
is_run( 'test-client', 1, qr/the demonstration provider does not run.*what to do/s, '... as test-client says' );
is_run( 'up --no-demo', 0, qr/Sign in as alice/, 'with an empty SVC_OIDC_ISSUER', env => { SVC_OIDC_ISSUER => '' } );
like(
    quickstart('test-client --print'), qr/^alice is signed in\./m,
    '... it has its own address and the provider again' );

# ---- down, twice

is_run( 'down',         0, qr/^stopping postgres$/m,      'down' );
is_run( 'status',       3, qr/^provider: stopped$/m,      '... stops all' );
is_run( 'down',         0, qr/^nothing was running in /m, 'down twice says so' );
is_run( 'down --purge', 0, qr/^nothing was running in /m, 'and --purge deletes the instance' );
ok( !-e $dir, '... with its directory' );

done_testing;

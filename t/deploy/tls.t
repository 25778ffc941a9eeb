# TLS in front of the service, by etc/lighttpd/authz-tls.conf and etc/apache/authz-tls.conf (doc/tls.md).
use strict;
use warnings;

use Test::More;

use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

plan skip_all => 'lighttpd-mod-gnutls is not installed' if !glob '/usr/lib/lighttpd/mod_gnutls.so';

my $HOST = 'login.example.org';

# An address that is not the engine's.
my $ELSEWHERE = '127.0.0.9';
my $dir       = Authz::Process::directory();

# A certificate of the host in the files, and the fingerprint that clients see.
sub certify {
    my ($status) = Authz::Process->run(
        name    => 'openssl',
        command => [
            qw(openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj), "/CN=$HOST",
            '-addext', "subjectAltName=DNS:$HOST", '-keyout', "$dir/tls.key", '-out', "$dir/tls.pem" ] );
    die "openssl: $status" if $status != 0;
    return;
}

sub curl {
    my ( $port, $target, @option ) = @_;
    return Authz::Process->run(
        name    => 'curl',
        command => [
            qw(curl -sS -i --max-time 20 --cacert), "$dir/tls.pem", '--resolve', "$HOST:$port:127.0.0.1", @option,
            "https://$HOST:$port$target" ] );
}

# What holds for either server: its port for HTTPS, its address and port for others' HTTP, its port for the engine's.
sub holds {
    my ( $name, $tls, $http, $engine, @client ) = @_;
    my ( $status, $said ) = curl( $tls, '/token', '-u', join( ':', @client ), qw(-d grant_type=client_credentials) );
    like( $said, qr/"access_token"/, "$name: a token by TLS, its certificate verified" ) or diag $status;
    like(
        $said, qr/^Strict-Transport-Security: max-age=31536000\r/mi,
        '... and browsers are told to keep to HTTPS (RFC 6797)' );
    for my $version (qw(1.2 1.3)) {
        is( ( curl( $tls, '/health', "--tlsv$version", '--tls-max', $version ) )[0], 0, "$name: TLS $version" );
    }
    ( $status, $said ) = curl( $tls, '/health', qw(--tlsv1.0 --tls-max 1.1 --ciphers DEFAULT:@SECLEVEL=0) );
    isnt( $status, 0, "$name: TLS 1.1 is refused (RFC 9325 3.1.1)" );
    my $plain = Authz::Client->new( @$http, foreign => 1 );
    my $sent  = $plain->get('/authorize?client_id=a%2Fb&state=1');
    is( $sent->status, 308, "$name: a browser that comes by HTTP is sent on" );
    like(
        $sent->header('Location'), qr{\Ahttps://\Q$HOST\E/authorize\?client_id=a(?:%2F|/)b&state=1\z},
        '... to the same page by HTTPS' );
    like(
        $plain->get('/account%3Fb%252F?x=%2520y')->header('Location'),
        qr{\Ahttps://\Q$HOST\E/account%3[Ff]b%252F\?x=%2520y\z}, '... with its escapes as they came' );
    for my $header (qw(Authorization X-Admin-API-Key X-Bundle-API-Key)) {
        my $shown = $plain->get( '/userinfo', headers => [ $header => 'Bearer at_x' ] );
        is( $shown->status,             403,   "$name: a GET with $header by HTTP is refused" );
        is( $shown->header('Location'), undef, '... and not sent on' );
    }
    my $refused = $plain->post(
        '/token', headers => [ Authz::Client::basic(@client) ],
        form => [ grant_type => 'client_credentials' ] );
    is( $refused->status,             403,   "$name: a secret that comes by HTTP is refused" );
    is( $refused->header('Location'), undef, '... and not sent on' );
    is( Authz::Client->new( port => $engine, foreign => 1 )->get('/health')->status, 200,
        "$name: the engine's way remains" );
    return;
}

certify();
my ( $tls, $apache_tls, $apache_http ) = map { Authz::Web::free_port() } 1 .. 3;
my $config = Authz::Web::edit(
    Authz::Path::source(qw(etc lighttpd authz-tls.conf)),
    qr{^(var\.authz_certificate = ).*}m => qq{var.authz_certificate = "$dir/tls.pem"},
    qr{^(var\.authz_key = ).*}m         => qq{var.authz_key = "$dir/tls.key"},
    qr{^var\.authz_tls_port = 443}m     => "var.authz_tls_port = $tls",
    qr{"0\.0\.0\.0:"}                   => '"127.0.0.1:"',
    qr{"\[::\]:"}                       => '"127.0.0.8:"',
);
my $stack  = Authz::Stack->start( web_more => qq{\$SERVER["socket"] == "$ELSEWHERE:$apache_http" {}\n} . $config );
my @client = $stack->make_client( 'app', { grants => ['client_credentials'] } );
holds(
    'lighttpd', $tls, [ host => '127.0.0.1', from => $ELSEWHERE, port => $stack->{port} ], $stack->{port},
    @client );
$stack->{server}->stop;

# Apache in its place. The engine's virtual host is that of 127.0.0.1, so others' is at another address.
my $engine = $stack->{port};
Authz::Web::write_file(
    "$dir/authz.conf",
    Authz::Web::edit( Authz::Path::source(qw(etc apache authz.conf)), qr{/run/authz-fcgi} => $stack->{dir} ) );
my $site = Authz::Web::edit(
    Authz::Path::source(qw(etc apache authz-tls.conf)),
    qr{"/etc/letsencrypt\S+fullchain\.pem"}     => qq{"$dir/tls.pem"},
    qr{"/etc/letsencrypt\S+privkey\.pem"}       => qq{"$dir/tls.key"},
    qr{/etc/apache2/conf-available/authz\.conf} => "$dir/authz.conf",
    qr{\*:443>}                                 => "*:$apache_tls>",
    qr{127\.0\.0\.1:80>}                        => "127.0.0.1:$engine>",
    qr{\*:80>}                                  => "$ELSEWHERE:$engine>",
);
Authz::Web::open_sockets($stack);
my $from = Authz::Path::apache_modules();
Authz::Web::write_file(
    "$dir/apache.conf", join "\n",
    map( {"LoadModule ${_}_module $from/mod_$_.so"}
        qw(mpm_event authz_core reqtimeout alias buffer setenvif proxy proxy_fcgi ssl headers rewrite) ),
    "ServerRoot $dir", "Listen 127.0.0.1:$engine", "Listen $ELSEWHERE:$engine", "Listen 127.0.0.1:$apache_tls",
    'ServerName localhost',
    "PidFile $dir/apache.pid",
    "DefaultRuntimeDir $dir",
    "Mutex file:$dir default",
    "ErrorLog $dir/apache.log",
    $> == 0 ? "User www-data\nGroup www-data" : '',
    $site );
my $apache = Authz::Process->start(
    name    => 'apache',
    command => [ Authz::Path::apache(), qw(-D FOREGROUND -f), "$dir/apache.conf" ] );
my $up = sub {
    eval { Authz::Client->new( port => $engine, foreign => 1 )->get('/health')->status == 200 }
};
ok( defined Authz::Process::until_true( 30, $up ), 'Apache starts' );
holds( 'Apache', $apache_tls, [ host => $ELSEWHERE, port => $engine ], $engine, @client );

# A renewed certificate.
my $shown = sub {
    my ( undef, $text ) = Authz::Process->run(
        name    => 'shown',
        command => [
            'sh', '-c',
            "openssl s_client -connect 127.0.0.1:$apache_tls </dev/null 2>/dev/null | openssl x509 -noout -fingerprint"
        ] );
    return $text;
};
my $before = $shown->();
certify();
$apache->signal('USR1');
ok( defined Authz::Process::until_true( 30, sub { $shown->() ne $before } ),
    'a reload of Apache takes the renewed certificate' );
like( ( curl( $apache_tls, '/health' ) )[1], qr/200 OK/, '... which verifies' );

done_testing;

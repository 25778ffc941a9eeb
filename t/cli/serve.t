#!/usr/bin/perl
# serve and health: the service and its web server as one container has them (doc/containers.md).
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();
use Authzctl;

plan skip_all => 'no lighttpd at the place of Debian' if !-x '/usr/sbin/lighttpd';

# ---- refused before anything is started

for my $case (
    [ qr/SERVER must be lighttpd or apache, not nginx/, 'another web server',   qw(serve nginx) ],
    [ qr/--workers must be a number from 1 to 256/,     'no worker',            qw(serve lighttpd --workers 0) ],
    [ qr/--workers must be a number from 1 to 256/,     'one too many',         qw(serve lighttpd --workers 257) ],
    [ qr/URL must begin with https:/,                   'plain http elsewhere', qw(health http://authz.example) ],
    [ qr/URL must not have a user, query or fragment/,  'a URL with a user',    qw(health http://a:b@127.0.0.1) ],
    [ qr/URL (?:is not a URL|must begin)/,              'a URL without a host', qw(health 127.0.0.1:8080) ],
  )
{
    my ( $text, $name, @words ) = @$case;
    like( ctl_is( 64, \@words, "refused: $name" )->{err}, $text, '... in words that name it' );
}

# ---- beside a stack, on its database and engine

my $stack = Authz::Stack->start;
my $dir   = Authz::Process::directory() . '/serve';
my $port  = Authz::Web::free_port();
my $url   = "http://127.0.0.1:$port";
mkdir $dir, 0755 or die "$dir: $!";
for my $file (qw(lighttpd.conf authz-limits.conf)) {
    my $text = Authz::Web::edit("$stack->{dir}/$file");
    $text =~ s/\Q$stack->{dir}\E/$dir/g;
    $text =~ s/^server\.port = \d+$/server.port = $port/m;
    $text =~ s/, "server\.graceful-shutdown-timeout" => \d+//;    # lighttpd waits for its requests without a limit
    Authz::Web::write_file( "$dir/$file", $text );
}
my %settings = ( %{ $stack->settings }, SVC_RUNTIME_DIR => Authz::Stack::runtime_dir('serve-run') );

sub serve {
    my (%more) = @_;
    return Authz::Process->start(
        name    => 'serve', env => { %settings, %more },
        command => [
            Authz::Path::program('authzctl'), qw(serve lighttpd --workers 2 --sockets), $dir, '--web-config',
            "$dir/lighttpd.conf" ] );
}
sub health { my (@more) = @_; return ctl( [ 'health', @more, $url ] ) }

sub is_up {
    return Authz::Process::until_true( 30, sub { return health('--ready')->{status} == 0 } );
}

# The processes that serve has started, by the names of their programs.
sub parts {
    my ($serve) = @_;
    my %part;
    for my $pid ( $serve->children ) {
        open my $in, '<', "/proc/$pid/comm" or next;
        chomp( my $name = readline $in );
        $part{$name} = $pid;
    }
    return \%part;
}

my $serve = serve();
ok( is_up(), 'health --ready: the service decides, through the web server' );
is( health()->{out}, "UP\n", 'health: the service runs' );
my $part = parts($serve);
is_deeply( [ sort keys %$part ], [qw(authz.fcgi lighttpd)], 'serve runs the service and the web server' );
open my $in, '<:raw', "/proc/$part->{lighttpd}/environ" or die "environ: $!";
is( do { local $/ = undef; readline $in }
      // '', '', '... which gets no settings' );
$serve->signal('TERM');
is( $serve->wait(30),                            0, 'SIGTERM ends both, with status 0' );
is( scalar( grep { kill 0, $_ } values %$part ), 0, '... none of them is left' );
my $down = health();
is( $down->{status}, 69, 'health of a service that is down' );
like( $down->{err}, qr/check the URL and that the service is running/, '... says so' );

# ---- a web server that waits for the long poll of the engine

# True if the pool of engines has a request in hand.
sub is_held {
    open my $sockets, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    return scalar grep {m{ 03 +\d+ \Q$dir\E/bundles\.sock$}} readline $sockets;
}
$serve = serve();
ok( is_up(), 'a start beside an engine' );
my $engine = Authz::Client->new( port => $port );
my @key    = ( 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY} );
my $etag   = $engine->get( '/bundles/svc', headers => \@key )->header('ETag');
my $poll =
  $engine->begin(
    $engine->octets( GET => '/bundles/svc', headers => [ @key, 'If-None-Match' => $etag, Prefer => 'wait=25' ] ) );
ok( defined Authz::Process::until_true( 30, \&is_held ), 'the engine waits for a bundle' );
$serve->signal('TERM');
is( $engine->end( $poll, 'GET' )->status, 304, 'SIGTERM: the engine is answered before the web server is killed' );
is( $serve->wait(30),                     0,   '... and both end, with status 0' );

$serve = serve();
ok( is_up(), 'another start' );
$part = parts($serve);
kill KILL => $part->{lighttpd};
isnt( $serve->wait(30), 0, 'a web server that dies ends the container' );
like( $serve->log_text, qr/serve: lighttpd ended by itself, signal 9/, '... which says so' );
ok( !kill( 0, $part->{'authz.fcgi'} ), '... after the service has ended' );

{
    local $SIG{CHLD} = 'IGNORE';
    $serve = serve();
}
ok( is_up(), 'a start by a process that ignores SIGCHLD' );
kill KILL => parts($serve)->{lighttpd};
my $ended = $serve->wait(30);
ok( $ended, '... a web server that dies ends the container all the same' ) or diag $ended // 'it runs on';

$serve = serve( SVC_LOG_LEVEL => 'loud' );
is( $serve->wait(30), 78, 'a wrong setting ends it with status 78' );
like( $serve->log_text, qr/SVC_LOG_LEVEL: must be one of/, '... and is named' );

my $file = Authz::Web::write_file( "$dir/pepper", "$Authz::Stack::KEY{SVC_ADMIN_PEPPER}\n", 0600 );
delete $settings{SVC_ADMIN_PEPPER};
$serve = serve( SVC_ADMIN_PEPPER_FILE => $file );
ok( is_up(), 'a secret from a file: SVC_ADMIN_PEPPER_FILE (architecture.md 6)' );
$serve->stop;

done_testing;

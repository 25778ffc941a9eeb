package Authz::Guarded;

# An API behind each package of contrib/middleware, in a process of its own (t/contrib/middleware has the programs). `here` has what
# runs: name, http (a client), process. What cannot run on this machine is skipped by name.

use strict;
use warnings;

use Digest::SHA      ();
use Exporter         qw(import);
use IO::Socket::INET ();
use Test::More;

use Authz::Client  ();
use Authz::Dpop    ();
use Authz::Grant   ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

our @EXPORT = qw(ask status_is logs_no);

my $dir  = Authz::Process::directory();
my $here = Authz::Path::source( 't', 'contrib', 'middleware' );
my $mine = Authz::Path::source( 'contrib', 'middleware' );

# Return the API, whose program in Go is built from now on. url is its address for callers, port that of it.
sub new {
    my ($class) = @_;
    my $port    = Authz::Web::free_port();
    my $self    = bless { port => $port, url => "http://127.0.0.1:$port/shop", key => Authz::Dpop->new, here => [] },
      $class;
    $self->{go} = Authz::Path::on_path('go');
    $self->_build( $self->{go} ) if defined $self->{go};
    return $self;
}

sub _build {
    my ( $self, $go ) = @_;
    mkdir "$dir/go" or die "$dir/go: $!";
    Authz::Web::write_file(
        "$dir/go/go.mod",
        "module example.test/api\n\ngo 1.19\n\nrequire authz.invalid/middleware v0.0.0\n\nreplace authz.invalid/middleware => $mine/go\n"
    );
    Authz::Web::write_file( "$dir/go/main.go", Authz::Web::edit("$here/main.go") );
    $self->{build} = Authz::Process->start(
        name => 'go-build',
        env  => {
            GOTOOLCHAIN => 'local', GOPROXY => 'off', GOFLAGS => '-mod=mod', CGO_ENABLED => 0,
            GOCACHE     => $ENV{GOCACHE} // ( defined $ENV{HOME} ? "$ENV{HOME}/.cache/go-build" : "$dir/go/cache" ) },
        command => [ 'sh', '-c', 'cd "$1" && exec "$2" build -o api .', 'sh', "$dir/go", $go ] );
    return;
}

# The ways to run it: name, command, and why not on this machine.
sub _ways {
    my ($self) = @_;
    my $python =
      ( grep { system("$_ -c 'import cryptography, jwt' >/dev/null 2>&1") == 0 } '/usr/bin/python3', 'python3' )[0];

    # The packages of Node.js where a program of the test finds them, ours among them by its own package.json.
    my $no_node = Authz::Node::missing();
    if ( !defined $no_node ) {
        mkdir "$dir/$_" or die "$dir/$_: $!" for qw(node node/node_modules node/node_modules/@authz);
        symlink "$mine/node", "$dir/node/node_modules/\@authz/middleware" or die "symlink: $!";
        symlink Authz::Node::modules() . "/$_", "$dir/node/node_modules/$_"
          or die "symlink: $!"
          for qw(express express4 fastify);
        Authz::Web::write_file( "$dir/node/node.mjs", Authz::Web::edit("$here/node.mjs") );
    }
    my $pypi = defined $ENV{AUTHZ_PYPI} ? "$ENV{AUTHZ_PYPI}/bin/python" : 'python3';
    my $no_servers =
      system("$pypi -c 'import cryptography, flask, gunicorn, jwt, starlette, uvicorn' >/dev/null 2>&1") == 0
      ? undef
      : 'no packages of t/pypi: run contrib/check once';
    return (
        (   map {
                my $module = /\A(\w+)/ ? $1 : '';
                {   name => $_,
                    why  => $no_node
                      // ( -d Authz::Node::modules() . "/$module" ? undef : "no $module: run contrib/check once" ),
                    command => [ Authz::Node::node(), "$dir/node/node.mjs", $_ ] }
            } qw(express express4 express-exact fastify fastify-loose) ),
        ( map { { name => $_, why => $no_servers, command => [ $pypi, "$here/serve.py", $_ ] } } qw(uvicorn gunicorn) ),
        (   map {
                {   name    => $_, why => $python ? undef : 'no python3 with cryptography and jwt',
                    command => [ $python, "$here/serve.py", $_ ] }
            } qw(asgi wsgi) ),
        { name => 'go', why => $self->{go} ? undef : 'no go', command => ["$dir/go/api"] } );
}

# start(issuer => URL, client => [id, secret], peer => a server in the place of authz): start all. More ways may follow, each with
# `begin` in the place of a command, which starts it at our port.
sub start {
    my ( $self, $setting, @more ) = @_;
    my %env = (
        AUTHZ_ISSUER        => $setting->{issuer},                           AUTHZ_CLIENT_ID => $setting->{client}[0],
        AUTHZ_CLIENT_SECRET => $setting->{client}[1],                        API_RESOURCE    => $self->{url},
        API_PEER            => 'http://127.0.0.1:' . $setting->{peer}->port, PYTHONPATH      => "$mine/python",
        PYTHONDONTWRITEBYTECODE => 1 );
    my @way = ( $self->_ways, @more );
    $self->_begin( $_, \%env ) for grep { !defined $_->{why} } @way;
    for my $way (@way) {
      SKIP: {
            skip "$way->{name}: $way->{why}", 1 if defined $way->{why};
            push @{ $self->{here} }, $way if $way->{http} && _await($way);
        }
    }
    return @{ $self->{here} };
}

sub _begin {
    my ( $self, $way, $env ) = @_;
    if ( $way->{name} eq 'go' && ( $self->{build}->wait( 240 * Authz::Process::patience() ) // 1 ) != 0 ) {
        return fail('go build') || diag $self->{build}->log_text;
    }
    my $at = $way->{begin} ? $self->{port} : Authz::Web::free_port();
    $way->{process} =
        $way->{begin}
      ? $way->{begin}->()
      : Authz::Process->start( name => $way->{name}, env => $env, command => [ @{ $way->{command} }, $at ] );
    $way->{http} = Authz::Client->new( port => $at, foreign => 1 );
    return 1;
}

sub _await {
    my ($way) = @_;
    my $there = Authz::Process::until_true(
        30,
        sub {
            !$way->{process}->alive
              || IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $way->{http}{port}, Proto => 'tcp' );
        } );
    return ok( $there && $way->{process}->alive, "$way->{name} starts" );
}

# Return a proof of a token for a path of the API. More members are claims, or `by`, another key.
sub proof {
    my ( $self, $token, $path, %claim ) = @_;
    my $by  = delete $claim{by} // $self->{key};
    my $ath = Authz::Grant::base64url( Digest::SHA::sha256($token) );
    return $by->proof( claims => { htm => 'GET', htu => "http://127.0.0.1:$self->{port}$path", ath => $ath, %claim } );
}

sub ask {
    my ( $way, $method, $target, @field ) = @_;
    return $way->{http}->request( $method, $target, headers => \@field );
}

sub status_is {
    my ( $answer, $want, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ref $want
      ? like( $answer->status, $want, $name ) || diag $answer->text
      : is( $answer->status, $want, $name )   || diag $answer->text;
}

# The log of a package says that a request was refused for want of an answer, and has none of these.
sub logs_no {
    my ( $way, @secret ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $log = $way->{process}->log_text;
    like( $log, qr/authz: 503 temporarily_unavailable: authz gives no answer: /, "$way->{name}: the log says so" );
    my @found = grep { index( $log, $_ ) >= 0 } @secret;
    is( "@found", '', '... without any token or secret' );
    return;
}

1;

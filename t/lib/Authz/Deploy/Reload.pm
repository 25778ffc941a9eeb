package Authz::Deploy::Reload;

# A reload of the web server with requests in hand; methods of Authz::Deploy.

use strict;
use warnings;

use Exporter qw(import);
use POSIX    ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Client  ();
use Authz::Process ();
use Authz::Web     ();

our @EXPORT_OK = qw(reload);

my $BODY = 'grant_type=client_credentials';

# Seconds that a request may take on a busy machine when nothing holds it up; the engine's long poll would for 25.
my $BUSY = 8;

my $GRANTED = qr/\AHTTP\/1\.1 200 .*"access_token"/s;

# Requests without a pause for so many seconds, each on its own connection, in a process of its own; a handle to read.
sub _traffic {
    my ( $self, $seconds ) = @_;
    my @auth = $self->auth;
    my $pid  = open( my $out, '-|' ) // die "fork: $!";
    return $out if $pid;
    my ( $until, $longest, %by ) = ( time + $seconds, 0 );
    while ( time < $until ) {
        my $began  = time;
        my $answer = Authz::Client->new( port => $self->{stack}{port} )
          ->post( $self->at('/token'), headers => \@auth, form => [ grant_type => 'client_credentials' ], close => 1 );
        $by{ $answer->failure // $answer->status }++;
        $longest = time - $began if time - $began > $longest;
    }
    syswrite STDOUT, join( ' ', map {"$_=$by{$_}"} sort keys %by ) . sprintf " longest=%.2f\n", $longest;
    POSIX::_exit(0);
}

# The web server reads a changed configuration while requests come in; the settings change too.
sub reload {
    my ($self) = @_;
    my $stack = $self->{stack};
    $stack->{settings} = { %{ $stack->{settings} // {} }, SVC_TRUSTED_PROXY_COUNT => 1 };
    if ( $self->{single} ) {
        Authz::Web::give_to_apache( Authz::Web::settings_file($stack) );
    }
    my $line = $self->{server} eq 'lighttpd' ? 'server.tag := "reloaded"' : 'ServerTokens Prod';
    open my $config, '>>', $stack->{web_config} or die "$stack->{web_config}: $!";
    print {$config} "\n$line\n";
    close $config;
    my %seen;
    for my $try ( 1 .. ( $self->{races} ? 4 : 1 ) ) {
        %seen = _once($self);
        last if $seen{lost} == 0 && $seen{rest} =~ $GRANTED && $seen{saved} == 200;
        diag("reload $try lost requests: $seen{counts}");
    }
    like( $seen{rest}, $GRANTED, 'reload: a request whose body was on its way is answered' );
    ok( $seen{good} && !$seen{lost}, 'reload: so are requests before, while and after' ) or diag( $seen{counts} );
    ok( $seen{longest} < ( $self->{patience} // $BUSY ), 'reload: and none waits longer than the configuration says' )
      or diag( $seen{counts} );
    is( $seen{saved}, 200, 'reload: a policy save in hand is finished' ) if !$self->{patience};
    my ( $header, $wanted ) = ( '', $self->{server} eq 'lighttpd' ? 'reloaded' : 'Apache' );
    Authz::Process::until_true(
        20,
        sub { ( $header = $stack->client->get( $self->at('/health/live') )->header('Server') // '' ) eq $wanted } );
    is( $header, $wanted, 'reload: the new configuration is in force' );
    _restart_service($self) if $stack->{service};
    return;
}

# One reload with all kinds of requests in hand; what became of them.
sub _once {
    my ($self) = @_;
    my $traffic = _traffic( $self, 3 );
    sleep 0.3;
    my $save = $self->{patience} ? undef : _save($self);
    my $half = _half_request($self);
    sleep 0.1;
    $self->{stack}{server}->signal('USR1');
    sleep 0.5;
    my %seen = (
        rest => _other_half($half), counts => scalar readline $traffic, saved => $save ? 0 + readline $save : 200,
        lost => 0 );
    ( $seen{good} )    = $seen{counts} =~ /\b200=(\d+)/;
    ( $seen{longest} ) = $seen{counts} =~ /longest=([\d.]+)/;
    $seen{lost} += $1 while $seen{counts} =~ /\b(?!200)\w+=(\d+)(?= )/g;
    return %seen;
}

# The daemon reads its settings when it starts.
sub _restart_service {
    my ($self) = @_;
    $self->{stack}{service}->stop;
    $self->{stack}->start_service;
    Authz::Web::open_sockets( $self->{stack} );
    $self->{stack}->await_ready;
    return;
}

sub _half_request {
    my ($self) = @_;
    my ( undef, $basic ) = $self->auth;
    my $socket = $self->{http}->_connect or die "connect: $!";
    syswrite $socket, join "\r\n", 'POST ' . $self->at('/token') . ' HTTP/1.1', 'Host: localhost',
      "Authorization: $basic", 'Content-Type: application/x-www-form-urlencoded',
      'Content-Length: ' . length $BODY, 'Connection: close', '', substr $BODY, 0, 10;
    return $socket;
}

sub _other_half {
    my ($socket) = @_;
    local $SIG{PIPE} = 'IGNORE';
    syswrite $socket, substr $BODY, 10;
    local $/ = undef;
    return readline($socket) // '';
}

# A save waits for the engine: it is in hand while the server reloads.
sub _save {
    my ($self) = @_;
    my $pid = open( my $out, '-|' ) // die "fork: $!";
    return $out if $pid;
    local $self->{stack}{http} = $self->{stack}->client;
    my $answer = $self->{stack}->admin(
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
        json  => { clients => { later => { scopes => ['x'] } } }, close => 1 );
    syswrite STDOUT, $answer->status . "\n";
    POSIX::_exit(0);
}

1;

#!/usr/bin/perl
# Run attacks against a service and print what other users notice:
#   attacks.pl BASE-URL ADMIN-KEY SECONDS [ATTACK...]
# Without arguments: list the attacks. See contrib/bench/attacks.
use strict;
use warnings;

use Cwd              ();
use File::Basename   ();
use HTTP::Tiny       ();
use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         qw(decode_json encode_json);
use List::Util       qw(max);
use POSIX            ();
use Time::HiRes      qw(sleep time);

use lib File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/../../t/lib';
use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Peer    ();

# Every request of the attacker comes from this address; every user has one of its own, except in `neighbour`. All of them are loopback addresses.
my $ATTACKER = '127.66.6.6';

# Requests of the attacker in a minute: far below the rate limit of 1,000 a minute and address.
my $RATE = 363;

# Users at work at the same time, each of whom begins once a second, and gives up when the service has said so often that
# they must wait.
my $USERS    = 4;
my $PATIENCE = 30;
$Authz::Browser::AGAIN = $PATIENCE;

# Users of a burst.
my $BURST = 24;

# To add an attack, add a row here and the function that it names. The function gets nothing and prints its figures with
# figure(); during() runs the users alone and then under an attack.
my @attacks = (
    { name => 'signin', run => \&attack_signin, text => "failing redemptions at a provider that does not answer" },
    {   name => 'neighbour',
        run  => \&attack_neighbour,
        text => 'the same, while the users work from the address of the attacker' },
    { name => 'burst', run => \&attack_burst, text => "$BURST sign-ins at once through a fast provider" },
    { name => 'cimd',  run => \&attack_cimd,  text => 'client metadata documents of a host that does not answer' },
);

if ( !@ARGV ) {
    printf "\nAttacks:\n";
    printf "  %-9s %s\n", @$_{qw(name text)} for @attacks;
    exit 0;
}
my ( $base, $key, $seconds, @names ) = @ARGV;
die "usage: see the first lines of $0\n" if !defined $seconds;
my ($port) = $base =~ /:(\d+)\z/ or die "$base has no port\n";
$| = 1;

# ---- the parts around the service

my $http = HTTP::Tiny->new( timeout => 60 );

sub admin {
    my ( $method, $target, $body ) = @_;
    my $answer = $http->request(
        $method,
        "$base$target",
        {   content => encode_json($body),
            headers => { 'X-Admin-API-Key' => $key, 'Content-Type' => 'application/json' } } );
    die "$method $target: $answer->{status} $answer->{content}\n" if !$answer->{success};
    return;
}

my $back = 'http://127.0.0.1:9/callback';
my %idp  = map { ( $_ => Authz::Idp->start ) } qw(fast slow);
$idp{slow}->misbehave( token => { delay => 60 } );
for my $id ( sort keys %idp ) {
    admin(
        POST => '/admin/api/identity-providers',
        {   idpId        => $id, issuer => $idp{$id}->issuer, clientId => $idp{$id}{client_id},
            clientSecret => $idp{$id}{client_secret},
            enabled      => JSON::PP::true } );
}
admin(
    POST => '/admin/api/clients',
    { clientId => 'web', clientType => 'confidential', enabled => JSON::PP::true, redirectUris => [$back] } );
admin(
    PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
    { clients => { web => { grants => ['authorization_code'], scopes => ['openid'] } } } );

# Return the target of an authorization request.
sub target {
    my (%more) = @_;
    my %param = ( response_type => 'code', client_id => 'web', redirect_uri => $back, scope => 'openid', %more );
    return '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

# Return an address that no other user has.
my $last = 0;

sub new_address { $last++; return sprintf '127.1.%d.%d', $last >> 8, $last & 255 }

# Sign a user in from an address. Return the seconds that it took, or nothing if it failed.
sub sign_in {
    my ($address) = @_;
    my $start     = time;
    my $browser   = Authz::Browser->new( from => $address );
    eval { $browser->follow( $base . target( idp_hint => 'fast' ), stop => qr{\A\Q$back\E} ); 1 } or return;
    return $browser->url =~ /[?&]code=/ ? time - $start : undef;
}

# ---- processes

# Start a process that runs the code, and return its id and what it prints.
sub start_process {
    my ($code) = @_;
    pipe my $read, my $write or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if ( $pid == 0 ) {
        close $read;
        $SIG{TERM} = 'DEFAULT';
        eval { $code->($write); 1 } or print STDERR $@;
        close $write;
        POSIX::_exit(0);
    }
    close $write;
    return { pid => $pid, out => $read };
}

# Return the lines that the processes print, when all have ended.
sub lines_of {
    my @lines = map { readline $_->{out} } @_;
    waitpid $_->{pid}, 0 for @_;
    chomp @lines;
    return @lines;
}

# Send requests at the rate of the attacker until a time: the function gets the number of each one. It must not wait for the
# answer of a slow request.
sub attack_until {
    my ( $until, $request ) = @_;
    my $start = time;
    for ( my $i = 0 ; time < $until ; $i++ ) {
        $request->($i);
        my $pause = $start + ( $i + 1 ) * 60 / $RATE - time;
        sleep $pause if $pause > 0;
    }
    return;
}

# Send a request of the attacker without waiting for the answer; with `state`, remember what it was about.
my @sent;

sub send_off {
    my ( $target, $state, @headers ) = @_;
    my $client = Authz::Client->new( port => $port, from => $ATTACKER );
    my $socket = $client->begin( $client->octets( GET => $target, headers => \@headers, close => 1 ) ) // return;
    push @sent, [ $socket, $state ];
    return;
}

# Return the states of those requests that were told to come again.
sub sent_away {
    my ( @again, @wait );
    for my $one (@sent) {
        my ( $socket, $state ) = @$one;
        if ( !IO::Select->new($socket)->can_read(0) ) { push @wait, $one; next }
        sysread $socket, my $head, 64;
        push @again, $state if defined $state && ( $head // '' ) =~ m{\AHTTP/1\.1 503 };
    }
    @sent = @wait;
    return @again;
}

# Let users work for the time of an attack. Each runs `work` with a number again and again and prints the seconds, or nothing.
# Return the seconds of those that were done.
sub users {
    my ( $until, $work ) = @_;
    my @user = map {
        my $user = $_;
        start_process(
            sub {
                my ($out) = @_;
                $last = $user * 4000;
                for ( my $i = 0 ; time < $until ; $i++ ) {
                    my $took = $work->();
                    syswrite $out, ( defined $took ? sprintf '%.4f', $took : 'failed' ) . "\n";
                    sleep max( 0, 1 - ( $took // 0 ) );
                }
            } )
    } 1 .. $USERS;
    return lines_of(@user);
}

sub figure {
    my ( $what, $span, @line ) = @_;
    my @took   = sort { $a <=> $b } grep { $_ ne 'failed' } @line;
    my $failed = @line - @took;
    printf "  %-34s %5.1f/s   median %6.3f s   longest %6.3f s   failed %d\n", $what, @took / $span,
      $took[ @took / 2 ] // 0, $took[-1] // 0, $failed;
    return;
}

# Measure the users alone, and then while the attacker works.
sub during {
    my ( $work, $request ) = @_;
    figure( 'without the attack', 5, users( time + 5, $work ) );
    my $until    = time + $seconds;
    my $attacker = start_process( sub { attack_until( $until, $request ) } );
    sleep 3;    # the attack takes its hold
    my $began = time;
    my @line  = users( $until, $work );
    figure( 'during the attack', time - $began, @line );
    kill 'TERM', $attacker->{pid};
    lines_of($attacker);
    sleep 6;    # what still hangs ends: SVC_SAFE_HTTP_TIMEOUT_SECONDS
    return;
}

# ---- the attacks

# Return requests that begin sign-ins at the slow provider, and come back with invented codes, and now and then with an
# invented state.
sub failing_redemptions {
    my $browser = Authz::Browser->new( from => $ATTACKER );
    my $issuer  = Authz::Client::escape( $idp{slow}->issuer );
    my @states;
    my $begin = sub {
        my $answer = $browser->get( $base . target( idp_hint => 'slow' ) );
        push @states, ( $answer->header('Location') // '' ) =~ /[?&]state=([^&]+)/;
    };
    my $request = sub {
        my ($i) = @_;
        push @states, sent_away();
        return send_off("/authorize/callback/slow?state=invented$i&code=x") if $i % 10 == 9;
        return $begin->()                                                   if @states < 4;
        my $mark  = $browser->cookie( $base, 'svc_browser' );
        my $state = shift @states;
        return send_off(
            "/authorize/callback/slow?state=$state&code=x&iss=$issuer", $state,
            Cookie => "svc_browser=$mark->{value}" );
    };
    return $request;
}

sub attack_signin {
    during( sub { sign_in( new_address() ) }, failing_redemptions() );
    return;
}

sub attack_neighbour {
    during( sub { sign_in($ATTACKER) }, failing_redemptions() );
    return;
}

# Sign many users in at the same moment: once from as many addresses, once from one.
sub attack_burst {
    sign_in( new_address() ) for 1 .. 20;    # the workers are warm
    my @alone = sort { $a <=> $b } map { sign_in( new_address() ) } 1 .. 5;
    printf "  %-34s %.3f s\n", 'one sign-in alone', $alone[2];
    for my $case ( [ 'from addresses of their own' => undef ], [ 'from one address' => new_address() ] ) {
        my ( $name, $address ) = @$case;
        for ( 1 .. 3 ) {
            my $gate = time + 1;
            my @user = map {
                my $from = $address // new_address();
                start_process(
                    sub {
                        my ($out) = @_;
                        sleep max( 0, $gate - time );
                        my $took = sign_in($from);
                        syswrite $out, ( $took // 'failed' ) . "\n";
                    } )
            } 1 .. $BURST;
            my @line = lines_of(@user);
            my @took = sort { $a <=> $b } grep { $_ ne 'failed' } @line;
            printf "  %-34s the last of %d after %6.3f s   failed %d\n", $name, $BURST, $took[-1] // 0, @line - @took;
        }
    }
    return;
}

# Name documents of a host that never answers, each time another one, while users come with clients of another host whose
# documents are not known yet.
sub attack_cimd {
    my $silent = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 1024 ) or die "listen: $@\n";
    my $host   = 'localhost:' . $silent->sockport;
    my $client = 'https://app.example/cb';
    my $peer   = Authz::Peer->start( host => '127.0.0.1' );
    my @path   = map {"/$_"} 1 .. 2000;
    $peer->set( map { ( $_ => { body => { client_id => $peer->url($_), redirect_uris => [$client] } } ) } @path );
    my $work = sub {
        my $start   = time;
        my $address = new_address();
        my $id      = $peer->url( $path[ $last / 4000 * @path / ( $USERS + 1 ) + $last % 4000 ] );
        my @hop     = Authz::Browser->new( from => $address )->follow(
            $base . target( client_id => $id, redirect_uri => $client, idp_hint => 'fast' ),
            stop => qr{\A\Q$idp{fast}{issuer}\E} );
        return $hop[-1]->status == 302 ? time - $start : undef;
    };
    during(
        $work,
        sub { send_off( target( client_id => "http://$host/$_[0]", redirect_uri => $client, idp_hint => 'fast' ) ) } );
    return;
}

my %chosen = map { ( $_ => 1 ) } @names;
for my $attack ( grep { !@names || $chosen{ $_->{name} } } @attacks ) {
    print "$attack->{name}: $attack->{text}\n";
    $attack->{run}->();
}

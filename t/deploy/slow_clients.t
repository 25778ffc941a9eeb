# One host with 1,400 slow connections does not keep others from the service (gateway-admin.md 7.2): behind lighttpd and
# Apache with the shipped limits, a client with another address is served as usual.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Deploy  ();
use Authz::Process ();
use Authz::Slow    ();

# lighttpd needs three descriptors per connection.
my $NEEDED = 6_000;
chomp( my $hard = `sh -c 'ulimit -Hn'` );
plan skip_all => "the hard limit of descriptors is $hard, below $NEEDED" if $hard =~ /\A\d+\z/ && $hard < $NEEDED;

# Most seconds that a request may take on a busy machine. With the web servers' own limits it would take a minute and more.
my $MOST = 8;

# Return the seconds that a request on a connection of its own took, or nothing if it failed.
sub served {
    my ($self) = @_;
    my $began  = time;
    my $answer = Authz::Client->new( port => $self->{stack}{port}, timeout => $MOST )
      ->get( $self->at('/health/live'), close => 1 );
    return $answer->status == 200 ? time - $began : undef;
}

sub under_attack {
    my ($self) = @_;
    my $web    = $self->{web};
    my $slow   = Authz::Slow->start( from => '127.0.0.2', port => $self->{stack}{port}, count => 1_400 );
    defined Authz::Process::until_true( 30, sub { $slow->established >= 1_300 } )
      or die "the connections are not opened\n";

    # mpm_event starts its processes one after the other, twice as many each second.
    ok( defined Authz::Process::until_true( 30, sub { defined served($self) } ),
        "$web: a client with another address is served" );
    my ( $until, @took ) = ( time + 12 );
    while ( time < $until ) {
        push @took, served($self) // $MOST;
        sleep 0.2;
    }
    my ($longest) = sort { $b <=> $a } @took;
    cmp_ok( $longest,           '<',  $MOST, "$web: and so it stays while the host goes on" );
    cmp_ok( $slow->established, '>=', 1_000, "$web: the host has not given up" );
    is( $self->{stack}->token( @{ $self->{client} } )->status, 200, "$web: a token is issued" );
    note sprintf '%s: %d requests, the longest took %.3f s', $web, scalar @took, $longest;
    $slow->stop;
    return;
}

for my $web (qw(lighttpd apache)) {
    subtest $web => sub {
        my $self = Authz::Deploy->start($web);
        $self->{client} = [ $self->{stack}->make_client( 'crm', { grants => ['client_credentials'] } ) ];
        under_attack($self);
        $self->end;
    };
}

done_testing;

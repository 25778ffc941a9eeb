package Authz::Load;

# Clients that keep a service busy while a test breaks things, and write down what they were told: the ledger. Afterwards
# wrong() asks the service about every entry. What was acknowledged must hold; what got no good answer may have happened or
# not. Each client issues tokens, looks at its own, revokes some and looks again, and shows single-use tokens twice.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use Authz::Process ();

my @COLUMNS = qw(start end what status error token active);

# start($stack, crm => [id, secret], once => [...], rs => [...], clients => 4, pause => SECONDS, every => SECONDS)
#   crm may have the scope orders.read; once too, for single use; rs introspects. every: from the start of one turn of a client to
#   that of its next, in place of a pause between them.
sub start {
    my ( $class, $stack, %option ) = @_;
    my $number = ++( our $loads );
    my $self   = bless {
        stack => $stack, clients => 4, pause => 0.005, %option,
        dir   => Authz::Process::directory() . "/load$number" }, $class;
    mkdir $self->{dir} or die "$self->{dir}: $!";
    for my $client ( 1 .. $self->{clients} ) {
        push @{ $self->{process} },
          Authz::Process->start( name => "load$number-$client", code => sub { $self->_run($client) } );
    }
    return $self;
}

sub _run {
    my ( $self, $client ) = @_;
    my $stopped = 0;
    $SIG{TERM} = sub { $stopped = 1 };
    srand $client;
    open $self->{ledger}, '>>', "$self->{dir}/$client" or die "ledger: $!";
    $self->{stack}{http} = $self->{stack}->client;
    my ( $next, @mine ) = (time);
    while ( !$stopped ) {
        my $turn = rand;
        if    ( $turn < 0.40 || !@mine ) { push @mine, $self->_note( token => 'crm' ) // () }
        elsif ( $turn < 0.75 )           { $self->_note( see => $mine[ rand @mine ] ) }
        elsif ( $turn < 0.90 )           { $self->_note( $_ => $mine[-1] ) for qw(revoke see); pop @mine }
        elsif ( defined( my $token = $self->_note( once => 'once' ) ) ) { $self->_note( show => $token ) for 1, 2 }
        $next = $next + $self->{every} > time ? $next + $self->{every} : time if $self->{every};
        if   ( $self->{every} ) { Authz::Process::sleep_until($next) }
        else                    { sleep $self->{pause} }
    }
    return;
}

# Sends one request and writes its line; the token when one was issued.
sub _note {
    my ( $self, $what, $value ) = @_;
    my $stack = $self->{stack};
    my $start = time;
    my $answer =
        $what eq 'revoke'           ? $stack->revoke( @{ $self->{crm} }, token => $value )
      : $what =~ /\A(?:see|show)\z/ ? $stack->introspect( @{ $self->{rs} }, $value )
      :                               $stack->token( @{ $self->{$value} }, scope => 'orders.read' );
    my $token = $what =~ /\A(?:token|once)\z/ ? $answer->member('access_token') : $value;
    my $error = $answer->failure              ? 'no answer'                     : $answer->member('error')
      // ( $answer->status == 200 ? '' : 'not ours' );
    syswrite $self->{ledger},
      join( "\t", $start, time, $what, $answer->status, $error, $token // '', $answer->member('active') ? 1 : 0 )
      . "\n";
    return $answer->status == 200 ? $token : undef;
}

# The lines so far, as hashes; again while the clients run.
sub ledger {
    my ($self) = @_;
    my @entry;
    for my $file ( glob "$self->{dir}/*" ) {
        open my $in, '<', $file or die "$file: $!";
        while ( my $line = readline $in ) {
            chomp $line;
            my %entry;
            @entry{@COLUMNS} = split /\t/, $line, -1;
            push @entry, \%entry if defined $entry{active};
        }
    }
    return sort { $a->{end} <=> $b->{end} } @entry;
}

# Lets each client finish the request in hand.
sub stop {
    my ($self) = @_;
    $_->signal('TERM') for @{ $self->{process} };
    $_->stop( 'TERM', 60 ) for @{ $self->{process} };
    return;
}

# Return how often each outcome was seen: 200 => n, '503 temporarily_unavailable' => n, '0 no answer' => n.
sub outcomes {
    my ( $self, @entry ) = @_;
    my %count;
    $count{ $_->{status} . ( $_->{error} eq '' ? '' : " $_->{error}" ) }++ for @entry ? @entry : $self->ledger;
    return \%count;
}

# Return one line for each contradiction between the answers so far and what the service says now.
sub wrong {
    my ($self) = @_;
    my ( %token, @wrong );
    for my $entry ( sort { $a->{start} <=> $b->{start} } $self->ledger ) {
        next if $entry->{token} eq '';
        my $known = $token{ $entry->{token} } //= { active => 0, name => substr $entry->{token}, 0, 30 };
        my $good  = $entry->{status} == 200;
        if    ( $entry->{what} =~ /\A(?:token|once)\z/ ) { $known->{once} = $entry->{what} eq 'once' }
        elsif ( $entry->{what} eq 'revoke' )             { $known->{ $good ? 'revoked' : 'perhaps' } = 1 }
        else { push @wrong, _judge( $known, $good, $entry->{active}, $entry->{start} ) }
    }
    for my $text ( sort keys %token ) {
        my $answer = $self->{stack}->introspect( @{ $self->{rs} }, $text );
        if ( $answer->status == 200 ) {
            push @wrong, _judge( $token{$text}, 1, $answer->member('active'), 'afterwards' );
        }
        else { push @wrong, "$token{$text}{name}: afterwards " . $answer->text }
    }
    return @wrong;
}

# One introspection against what is known of the token: what is wrong with it. A client does one thing after another, so
# whatever is in its ledger before had ended before.
sub _judge {
    my ( $known, $good, $active, $when ) = @_;
    if ( !$good )                                        { $known->{perhaps} = 1 if $known->{once}; return }
    if ( $active && $known->{revoked} )                  { return "$known->{name}: revoked, and shown as active $when" }
    if ( $active && $known->{once} && $known->{active} ) { return "$known->{name}: single-use, shown again $when" }
    if ( !$active && !$known->{revoked} && !$known->{perhaps} && !( $known->{once} && $known->{active} ) ) {
        return "$known->{name}: issued, and not active $when";
    }
    $known->{active} = 1 if $active;
    return;
}

1;

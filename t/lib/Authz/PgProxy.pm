package Authz::PgProxy;

# Stands between the service and PostgreSQL, counts round trips, and loses the network when it is told to (cut). A trip is a Sync or a simple Query message from the
# client: each makes the server answer and flush, and the client may wait for that. Several statements in one pipeline
# before one Sync are one trip; a pipeline with two Syncs is two.

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::UNIX ();
use Socket           qw(SOCK_STREAM);
use Time::HiRes      qw(sleep);

use Authz::Process ();
use Authz::Server  ();

sub start {
    my ( $class, $dir, $upstream_dir, $port ) = @_;
    my $self = bless {
        path => "$dir/.s.PGSQL.$port", upstream => "$upstream_dir/.s.PGSQL.$port", record => "$dir/pg-trips",
        cut  => "$dir/pg-cut" }, $class;
    my $listen = IO::Socket::UNIX->new( Local => $self->{path}, Listen => 64, Type => SOCK_STREAM )
      or die "$self->{path}: $!";
    chmod 0666, $self->{path};
    $self->{process} = Authz::Process->start(
        name => 'pg-proxy',
        code => sub {
            open $self->{out}, '>>', $self->{record} or die "$self->{record}: $!";
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) } );
        } );
    return $self;
}

# The record's size once nothing is added any more: what is sent after an answer counts for its request, not for the next.
sub _settled {
    my ($self) = @_;
    my $size = -1;
    while ( $size != ( -s $self->{record} // 0 ) ) {
        $size = -s $self->{record} // 0;
        sleep 0.2;
    }
    return $size;
}

# The trips that the code causes: a list of texts, each the statements between two Syncs.
sub trips {
    my ( $self, $code ) = @_;
    my $before = $self->_settled;
    $code->();
    $self->_settled;
    open my $in, '<', $self->{record} or return;
    seek $in, $before, 0;
    chomp( my @trip = readline $in );
    return @trip;
}

# Those of requests alone. Others come by the clock: the engine's long poll looks for a bundle every 5 s, it reports, and housekeeping
# looks for what is due.
sub request_trips {
    my ( $self, $code ) = @_;
    return grep {
        !/\A(?:prepare, )?(?:bundle_(?:fetch|report|settle):|engines_(?:fetched|report|settle|verdict|wake):|job_\w+:|(?:UN)?LISTEN )/
    } $self->trips($code);
}

# Lose the network at the next trip with this statement: before the server has it, or when it has done it and before its answer
# comes back. Once; cut_done is true when it has happened.
sub cut {
    my ( $self, $when, $statement ) = @_;
    open my $out, '>', "$self->{cut}.new" or die "$self->{cut}: $!";
    print {$out} "$when $statement\n";
    close $out or die "$self->{cut}: $!";
    rename "$self->{cut}.new", $self->{cut} or die "$self->{cut}: $!";
    return;
}

sub cut_done { return !-e $_[0]{cut} }

# 'before' or 'after' if the network is lost at a trip that has just been read; ''.
sub _cut_now {
    my ($self) = @_;
    my $trip = delete $self->{ended} // return '';
    open my $in, '<', $self->{cut} or return '';
    my ( $when, $statement ) = split ' ', readline($in) // '';
    return defined $statement && $trip =~ /\b\Q$statement\E\b/ && unlink( $self->{cut} ) ? $when : '';
}

sub _serve {
    my ( $self, $client ) = @_;
    my $server = IO::Socket::UNIX->new( Peer => $self->{upstream}, Type => SOCK_STREAM ) or return;
    my $select = IO::Select->new( $client, $server );
    my $lost   = 0;
    my %other  = ( fileno $client => $server, fileno $server => $client );
    while (1) {
        for my $from ( $select->can_read ) {
            sysread( $from, my $octets, 65536 ) or return;
            $self->_note($octets) if $from == $client;
            my $cut = $from == $client ? $self->_cut_now : '';
            return if $cut eq 'before' || ( $lost && $from == $server );
            $lost ||= $cut eq 'after';
            for ( my $at = 0 ; $at < length $octets ; ) {
                $at += syswrite( $other{ fileno $from }, $octets, length($octets) - $at, $at ) // return;
            }
        }
    }
    return;
}

# Add a statement to the trip, under another text if there is one. The first of each trip to a pooler is left out.
sub _add {
    my ( $self, $name, $text ) = @_;
    push @{ $self->{trip} }, $text // $name if $name !~ /\Aguard(?:_\w+)?:/;
    return;
}

# Messages are a type octet, a length of 4 octets that counts itself, and the content; the first has no type.
sub _note {
    my ( $self, $octets ) = @_;
    $self->{buffer} .= $octets;
    while (1) {
        my $typed = $self->{started} ? 1 : 0;
        return if length $self->{buffer} < 4 + $typed;
        my $length = unpack 'N', substr $self->{buffer}, $typed, 4;
        return if length $self->{buffer} < $length + $typed;
        my $message = substr $self->{buffer}, 0, $length + $typed, '';
        if ( !$typed ) { $self->{started} = 1; next }
        my $type = substr $message, 0, 1;
        if    ( $type eq 'B' ) { $self->_add( ( split /\0/, substr( $message, 5 ), 3 )[1] ) }
        elsif ( $type eq 'P' ) { $self->_add( ( split /\0/, substr( $message, 5 ), 2 )[0], 'prepare' ) }
        elsif ( $type eq 'Q' ) { push @{ $self->{trip} }, substr( $message, 5 ) =~ s/\s+/ /gr =~ s/\0//gr }

        if ( $type eq 'S' || $type eq 'Q' ) {
            $self->{ended} = join ', ', @{ $self->{trip} // ['(nothing)'] };
            syswrite $self->{out}, "$self->{ended}\n";
            $self->{trip} = undef;
        }
    }
    return;
}

1;

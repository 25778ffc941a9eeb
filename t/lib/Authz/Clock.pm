package Authz::Clock;

# A clock that programs of a test have in place of that of the machine: it is built from contrib/fault/clock.c, and set while they run.

use strict;
use warnings;

use Authz::Path    ();
use Authz::Process ();

# Return a clock that is right; undef: no C compiler.
sub new {
    my ($class) = @_;
    my $self    = bless { base => Authz::Process::directory() . '/clock' . ++( our $clocks ) }, $class;
    my @source  = Authz::Path::source(qw(contrib fault clock.c));
    return if system( 'cc', '-shared', '-fPIC', '-o', "$self->{base}.so", @source, '-ldl' ) != 0;
    chmod 0755, "$self->{base}.so" or die "$self->{base}.so: $!";
    $self->set(0);
    return $self;
}

# The environment of the programs, as pairs.
sub env { my ($self) = @_; return ( LD_PRELOAD => "$self->{base}.so", AUTHZ_CLOCK_OFFSET => "$self->{base}.offset" ) }

# Set the clock so many seconds ahead, or behind if negative.
sub set {
    my ( $self, $seconds ) = @_;
    my $offset = "$self->{base}.offset";
    open my $out, '>', "$offset.new" or die "$offset: $!";
    print {$out} $seconds;
    close $out or die "$offset: $!";
    chmod 0644, "$offset.new" or die "$offset: $!";    # also for the account of PostgreSQL
    rename "$offset.new", $offset or die "$offset: $!";
    return;
}

1;

package Authz::Process;

# Programs that a test starts: their logs, their ends. Whatever way the test ends, also by kill -9, a guard process stops
# what is left and removes the temporary directory.

use strict;
use warnings;

use File::Temp  ();
use IO::Handle  ();
use POSIX       ();
use Time::HiRes qw(sleep time);

my ( $owner, $directory, $guard, $guard_pid, $quiet, @running );

# One directory per test program. The name is short: a socket's path has at most 107 octets.
sub directory {
    if ( !defined $directory ) {
        $owner     = $$;
        $directory = File::Temp::tempdir( 'azt-XXXXXX', DIR => '/tmp', CLEANUP => 0 );
        chmod 0755, $directory or die "chmod: $!";
        _start_guard();
    }
    return $directory;
}

# Lives until our end of the pipe closes, whatever closed it.
sub _start_guard {
    pipe my $read, my $write or die "pipe: $!";
    $guard_pid = fork // die "fork: $!";
    if ( $guard_pid == 0 ) {
        POSIX::setsid();
        $SIG{$_} = 'IGNORE' for qw(INT TERM HUP PIPE);
        close $write;
        open STDOUT, '>', '/dev/null';
        open STDERR, '>', '/dev/null';
        my ( %pid, $keep );
        while ( my $line = readline $read ) {
            if    ( $line =~ /^\+(\d+)/ ) { $pid{$1} = 1 }
            elsif ( $line =~ /^-(\d+)/ )  { delete $pid{$1} }
            elsif ( $line =~ /^keep/ )    { $keep = 1 }
        }
        kill 'TERM', keys %pid;
        for ( 1 .. 30 ) {
            last if !grep { kill 0, $_ } keys %pid;
            sleep 0.1;
        }
        kill 'KILL', keys %pid;
        system 'rm', '-rf', $directory if !$keep;
        POSIX::_exit(0);
    }
    close $read;
    $guard = $write;
    $guard->autoflush(1);
    $SIG{$_} = sub { exit 130 }
      for qw(INT TERM HUP);
    return;
}

# Return the factor by which waits are longer than usual: t/run --load sets it, so that a busy machine fails no test by its
# slowness alone. It is for waiting until something is there, never for a time that a test states.
sub patience { return $ENV{AUTHZ_PATIENCE} // 1 }

# start(name => ..., command => [...] or code => sub {...}, env => {...}, user => ...)
sub start {
    my ( $class, %option ) = @_;
    my $log = $option{log} // directory() . "/$option{name}.log";
    my $pid = fork         // die "fork: $!";
    if ( $pid == 0 ) {
        close $guard if $guard;
        open STDIN,  '<',  '/dev/null';
        open STDOUT, '>>', $log;
        open STDERR, '>&', \*STDOUT;
        _become( $option{user} ) if defined $option{user};
        delete @ENV{ grep {/^(?:SVC_|SHUTDOWN_|PG|LISTEN_)/} keys %ENV };
        %ENV = ( %ENV, %{ $option{env} // {} } );
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP PIPE);
        setpgrp 0, 0;

        if ( $option{code} ) {
            $guard = undef;
            eval { $option{code}->(); 1 } or print STDERR $@;
            POSIX::_exit(0);
        }
        exec { $option{command}[0] } @{ $option{command} } or print "exec $option{command}[0]: $!\n";
        POSIX::_exit(127);
    }
    my $self = bless { name => $option{name}, pid => $pid, log => $log, signal => $option{signal} // 'TERM' }, $class;
    print {$guard} "+$pid\n";
    push @running, $self;
    return $self;
}

sub _become {
    my ($user) = @_;
    my ( $uid, $gid, $home ) = ( getpwnam $user )[ 2, 3, 7 ];
    $( = $gid;
    $) = "$gid $gid";
    POSIX::setuid($uid) or POSIX::_exit(126);
    chdir '/';
    $ENV{HOME} = $home;
    return;
}

# Runs to the end: (exit status, output).
sub run {
    my ( $class, %option ) = @_;
    my $log    = directory() . '/run.' . ++( our $runs );
    my $self   = $class->start( %option, log => $log );
    my $status = $self->wait( $option{timeout} // 60 * patience() );
    open my $in, '<', $log or die "$log: $!";
    local $/ = undef;
    my $text = readline($in) // '';
    unlink $log;
    return ( $status, $text );
}

sub pid  { return $_[0]{pid} }
sub name { return $_[0]{name} }

sub log_text {
    my ($self) = @_;
    open my $in, '<', $self->{log} or return '';
    local $/ = undef;
    return readline($in) // '';
}

# The whole lines of the log; one that is being written is not among them.
sub log_lines {
    my ($self) = @_;
    return $self->log_text =~ /^(.*)\n/mg;
}

sub _forget {
    my ( $self, $status ) = @_;
    @running = grep { $_ != $self } @running;
    print {$guard} "-$self->{pid}\n" if $guard;
    $self->{status} = $status;
    return $status;
}

# Exit status (128 + signal when killed); undef when it still runs after the time.
sub wait {
    my ( $self, $seconds ) = @_;
    my $until = time + ( $seconds // 30 );
    while ( !defined $self->{status} ) {
        my $got = waitpid $self->{pid}, POSIX::WNOHANG();
        if ( $got == $self->{pid} ) {
            return $self->_forget( $? & 127 ? 128 + ( $? & 127 ) : $? >> 8 );
        }
        return if $got != 0 || time > $until;
        sleep 0.01;
    }
    return $self->{status};
}

sub alive { my ($self) = @_; $self->wait(0); return !defined $self->{status} }

# A stop is over when each thread has seen it, and on a busy machine some run on for a while.
sub signal {
    my ( $self, $signal ) = @_;
    my $sent = kill $signal, $self->{pid};
    until_true(
        20,
        sub {
            !grep { !_stopped($_) } glob "/proc/$self->{pid}/task/*/stat";
        } ) if $sent && $signal eq 'STOP';
    return $sent;
}

sub _stopped {
    my ($file) = @_;
    open my $in, '<', $file or return 1;
    return ( readline($in) // return 1 ) =~ /\) T /;
}

# Asks, waits, then forces. Returns the exit status.
sub stop {
    my ( $self, $signal, $seconds ) = @_;
    return $self->{status} if defined $self->{status};
    kill 'CONT',                     $self->{pid};
    kill $signal // $self->{signal}, $self->{pid};
    my $status = $self->wait( $seconds // 15 * patience() );
    return $status if defined $status;
    kill 'KILL', $self->{pid};
    return $self->wait(5);
}

# Seconds until the condition holds; undef when it does not within the time, which is to be generous: a busy machine is slow.
sub until_true {
    my ( $seconds, $condition ) = @_;
    my $start = time;
    while ( !$condition->() ) {
        return if time > $start + $seconds * patience();
        sleep 0.01;
    }
    return time - $start;
}

# Sleep until a time, which may be over already on a busy machine.
sub sleep_until {
    my ($when) = @_;
    my $left = $when - time;
    sleep $left if $left > 0;
    return;
}

# Children of a process, by pid (workers of authz.fcgi, backends of PostgreSQL).
sub children {
    my ($self) = @_;
    my @found;
    for my $dir ( glob '/proc/[0-9]*' ) {
        open my $in, '<', "$dir/stat" or next;
        my $line = readline($in) // next;
        push @found, $1 if $line =~ /^(\d+) \(.*\) \S (\d+)/ && $2 == $self->{pid};
    }
    return sort { $a <=> $b } @found;
}

# The logs, for the reader of a failed test.
sub show_logs {
    my ($lines) = @_;
    return if !defined $directory;
    for my $log ( sort glob "$directory/*.log $directory/*/*.log" ) {
        next if !-s $log;
        print STDERR "# --- $log, the last lines\n";
        open my $in, '-|', 'tail', '-n', $lines // 25, $log or next;
        while ( my $line = readline $in ) { print STDERR '#   ', substr( $line, 0, 600 ), $line =~ /\n\z/ ? '' : "\n" }
    }
    return;
}

# The reader has seen what he needs: nothing at the end.
sub logs_shown { $quiet = 1; return }

END {
    if ( defined $owner && $$ == $owner ) {
        my $status = $?;
        my $failed = $status != 0 || ( Test::Builder->can('new') && !Test::Builder->new->is_passing );
        show_logs() if $failed && !$quiet;
        $_->stop for reverse( my @left = @running );
        print {$guard} "keep\n"             if $ENV{AUTHZ_KEEP};
        print STDERR "# kept: $directory\n" if $ENV{AUTHZ_KEEP};
        close $guard;
        waitpid $guard_pid, 0;
        $? = $status;
    }
}

1;

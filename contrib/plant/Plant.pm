package Plant;

# The parts that cover and run share: a copy of the tree, builds of it, its tests, and the table of faults.

use strict;
use warnings;

use Cwd        ();
use File::Path ();
use FindBin    ();

# Longer than any file takes beside other work.
my $TEST_SECONDS = 900;

# Files that need much beside the programs, or that run other programs than those of the build.
my @LEFT = qw(t/deploy t/pages t/portal t/interop t/contrib);

sub top { return Cwd::abs_path("$FindBin::Bin/../..") }

# How many tests run at once.
sub jobs { return $ENV{PLANT_JOBS} // 2 }

sub read_file {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar readline $in;
}

sub write_file {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!\n";
    print {$out} $text or die "$path: $!\n";
    close $out         or die "$path: $!\n";
    return;
}

# The name of a test as the name of a file.
sub flat { my ($name) = @_; $name =~ tr{/}{+}; return $name }

# Run a command in a directory, and die if it fails.
sub run {
    my ( $in, @command ) = @_;
    my $pid = fork // die "fork: $!\n";
    if ( !$pid ) {
        chdir $in     or die "$in: $!\n";
        exec @command or die "$command[0]: $!\n";
    }
    waitpid $pid, 0;
    die "failed in $in: @command\n" if $?;
    return;
}

# Copy what git has in the tree, as it stands, and make configure.
sub copy_tree {
    my ($to) = @_;
    File::Path::make_path($to);
    run( top(), 'sh', '-c', 'git ls-files -z | tar --null -T - -cf - | tar -C "$0" -xf -', $to );
    run( $to, 'sh', '-c', 'build-aux/sources "$PWD" && autoreconf -i >autoreconf.log 2>&1' );
    return;
}

# The build is a directory of the tree.
sub configure {
    my ( $tree, $build, @option ) = @_;
    File::Path::make_path($build);
    run( $build, '../configure', '-q', "--prefix=$tree/inst", @option );
    return;
}

# ---- tests

# The files that t/runs names for a run.
sub named {
    my ( $tree, $run ) = @_;
    return read_file("$tree/t/runs") =~ /^\Q$run\E +(\S+)$/mg;
}

# The tests: all C programs, the files of the core, and the rest's.
sub tests {
    my ($tree) = @_;
    my @core   = named( $tree, 'core' );
    my %core   = map { ( $_ => 1 ) } @core;
    my $left   = join '|', map {quotemeta} @LEFT;
    my @found  = map { chomp; $_ } qx(cd '$tree' && find t -name '*-t.c' -o -name '*.t' | LC_ALL=C sort);
    return (
        ( map {s/\.c\z//r} grep {/-t\.c\z/} @found ),
        @core, grep { /\.t\z/ && !$core{$_} && !m{\A(?:$left)/} } @found );
}

# True if the test passed. What the test said is in the log.
sub run_test {
    my ( $tree, $build, $test, $log ) = @_;
    my $pid = fork // die "fork: $!\n";
    if ( !$pid ) {
        open STDOUT, '>',  $log        or die "$log: $!\n";
        open STDERR, '>&', \*STDOUT    or die "$log: $!\n";
        open STDIN,  '<',  '/dev/null' or die "/dev/null: $!\n";
        @ENV{qw(AUTHZ_SRCDIR AUTHZ_BUILDDIR srcdir)} = ( $tree, $build, $tree );
        my $perl = $test =~ /\.t\z/;
        chdir( $perl ? $tree : $build ) or die "$tree: $!\n";
        alarm $TEST_SECONDS;
        exec $perl ? ( $^X, '-It/lib', $test ) : "./$test" or die "$test: $!\n";
    }
    waitpid $pid, 0;
    return $? == 0;
}

# Call $each for each item and a free slot, beside one PostgreSQL whose template is of this build.
sub in_parallel {
    my ( $tree, $build, $each, $slots, @item ) = @_;
    @ENV{qw(AUTHZ_SRCDIR AUTHZ_BUILDDIR srcdir)} = ( $tree, $build, $tree );
    require Authz::Postgres;
    my $cluster = Authz::Postgres->new;
    $cluster->make_template;
    $ENV{AUTHZ_TEST_CLUSTER} = $cluster->socket;
    my ( @free, %running ) = @$slots;
    while ( @item || %running ) {
        if ( @item && @free ) {
            my ( $item, $slot ) = ( shift @item, shift @free );
            my $pid = fork // die "fork: $!\n";
            if ( !$pid ) {
                local $| = 1;
                my $done = eval { $each->( $item, $slot ); 1 };
                print "$item: $@" if !$done;
                require POSIX;
                POSIX::_exit( $done ? 0 : 1 );
            }
            $running{$pid} = $slot;
            next;
        }
        my $pid = wait;
        push @free, delete $running{$pid} if exists $running{$pid};
    }
    return;
}

# ---- faults

# Read the table. Return { id, file, rule, at, old, new } for each row.
sub faults {
    my @fault;
    for my $row ( split /\n\n+/, read_file("$FindBin::Bin/faults") ) {
        my @line = grep { !/\A#/ } split /\n/, $row;
        next if !@line;
        my ( $head, $rule, @text ) = @line;
        my ( $id, $file ) = split / /, $head, 2;
        my %part = map { ( $_ => '' ) } qw(@ - +);
        for (@text) {
            my ( $kind, $line ) = /\A([@+-]) (.*)\z/ or die "contrib/plant/faults: $id: $_\n";
            $part{$kind} .= "$line\n";
        }
        push @fault,
          { id => $id, file => $file, rule => $rule, at => $part{'@'}, old => $part{'-'}, new => $part{'+'} };
    }
    return @fault;
}

sub how_often { my ( $text, $part ) = @_; return scalar( () = $text =~ /^\Q$part\E/mg ) }

# The file of the line that is executed: "@ FILE: line" names another one.
sub place {
    my ($fault) = @_;
    return $fault->{at} =~ m{\A(\S+\.[ch]): (.*)\z}s
      ? ( $1, $2 )
      : ( $fault->{file}, $fault->{at} ne '' ? $fault->{at} : $fault->{old} );
}

# Say what is wrong with a row; nothing if it applies.
sub wrong {
    my ( $tree, $fault ) = @_;
    my ( $id,   $file )  = @$fault{qw(id file)};
    return "$id: there is no $file"                        if !-e "$tree/$file";
    return "$id: a row has old lines, and other new lines" if $fault->{old} eq '' || $fault->{old} eq $fault->{new};
    my ( $path, $line ) = place($fault);
    return "$id: there is no $path" if !-e "$tree/$path";
    return (
        how_often( read_file("$tree/$file"), $fault->{old} ) == 1
        ? ()
        : "$id: the old lines do not stand once in $file",
        how_often( read_file("$tree/$path"), $line ) == 1 ? () : "$id: the line of \@ does not stand once in $path" );
}

# The text of the file with the fault.
sub planted {
    my ( $text, $fault ) = @_;
    $text =~ s/^\Q$fault->{old}\E/$fault->{new}/m;
    return $text;
}

# Return the file and the lines that must be executed; of lines without code the nearest one before them that has some.
sub executed {
    my ( $tree, $fault, $is_code ) = @_;
    my ( $path, $part ) = place($fault);
    my $text  = read_file("$tree/$path");
    my $at    = 1 + ( substr( $text, 0, index( "\n$text", "\n$part" ) ) =~ tr/\n// );
    my $count = $part =~ tr/\n//;
    my @line  = grep { $is_code->( $path, $_ ) } $at .. $at + $count - 1;
    while ( !@line && --$at > 0 ) {
        @line = grep { $is_code->( $path, $_ ) } $at;
    }
    return ( $path, @line );
}

1;

package Authz::Trial;

# An instance of contrib/quickstart, and the guides of doc/ in it, as a reader would paste them.
#   my $trial = Authz::Trial->start( up => [qw(up --no-demo)] );   skips the test without an installed tree
#   $trial->page( 'five-minutes.md', times => 2, edit => sub { s/8001/12345/g } );
# A page has blocks of commands (```sh). An unmarked block after one shows lines of its output, in order; each line there is a
# part of a line of the output. The shell lives on from block to block, in a folder with contrib/, doc/ and var/ like a checkout after
# `contrib/quickstart up`. Where a block starts a server (PORT=...), the next one comes when that listens. An indented line
# `SVC_...=... contrib/quickstart up ...` gives the instance the settings of the page, before its blocks; no other indented line is
# run (t/contrib/commands.t has the reasons). A command that fails is a fault, unless the page says what follows (`|| ...`), throws its
# error away (`2>/dev/null`), or the option `fails` has a pattern for it. The option `begin` has commands that the page does not show.

use strict;
use warnings;

use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my @running;

sub start {
    my ( $class, %option ) = @_;
    my $prefix = $ENV{AUTHZ_PREFIX} // '';
    plan( skip_all => 'AUTHZ_PREFIX names no installed tree' ) if !-x "$prefix/libexec/authz/authz.fcgi";
    my $top  = Authz::Process::directory() . '/guide' . ++( our $count );
    my $self = bless { top => $top, dir => "$top/trial", %option }, $class;
    mkdir $_ or die "$_: $!" for $top, "$top/tree", "$top/tree/contrib", "$top/bin";
    $self->{quickstart} = Authz::Path::source( 'contrib', 'quickstart' );
    Authz::Web::write_file(
        "$top/tree/contrib/quickstart",
        "#!/bin/sh\nexec '$self->{quickstart}' \"\$@\" --dir '$self->{dir}'\n", 0755 );

    for my $name ( grep { $_ ne 'quickstart' } map {m{([^/]+)\z}} glob Authz::Path::source( 'contrib', '*' ) ) {
        symlink Authz::Path::source( 'contrib', $name ), "$top/tree/contrib/$name" or die "symlink: $!";
    }
    symlink $self->{dir},               "$top/tree/var" or die "symlink: $!";
    symlink Authz::Path::source('doc'), "$top/tree/doc" or die "symlink: $!";
    push @running, $self;
    ( my $status, $self->{said} ) = $self->quickstart( words => $option{up} // [qw(up --no-demo)] );
    die "contrib/quickstart up failed: $self->{said}\n" if $status != 0;
    return $self;
}

sub _env {
    my ( $self, $more ) = @_;
    return {
        ( map { ( $_ => undef ) } grep {/\A(?:SVC_|AUTHZ_SERVER|AUTHZ_ADMIN)/} keys %ENV ),
        AUTHZ_OPA => Authz::Path::opa(),            AUTHZ_USER => Authz::Path::unprivileged() // '',
        PATH      => "$self->{top}/bin:$ENV{PATH}", %{ $more // {} } };
}

sub quickstart {
    my ( $self, %how ) = @_;
    return Authz::Process->run(
        name    => 'quickstart', timeout => 180, env => $self->_env( $how{env} ),
        command => [ $self->{quickstart}, @{ $how{words} }, '--dir', $self->{dir} ] );
}

# Make a program that the commands of a page find on PATH; returns its path.
sub tool {
    my ( $self, $name, $text ) = @_;
    Authz::Web::write_file( "$self->{top}/bin/$name", $text, 0755 );
    return "$self->{top}/bin/$name";
}

# What `contrib/quickstart up` printed.
sub said { return $_[0]{said} }

# Run commands in one shell, as a reader who pastes them.
sub paste {
    my ( $self, $commands, %option ) = @_;
    my $script = "trap 'kill \$(jobs -p) 2>/dev/null' EXIT\ncd '$self->{top}/tree'\n$commands";
    return Authz::Process->run(
        name    => 'paste', timeout => 180 * Authz::Process::patience(), env => $self->_env( $option{env} ),
        command => [ 'bash', '-u', '-c', $script ] );
}

# Return the blocks of a page: [ commands, expected lines ].
sub blocks {
    my ($text) = @_;
    my ( @block, @found );
    push @found, [ $1 // '', $2 ] while $text =~ /^```(\w+)?\n(.*?)^```$/msg;
    for my $found (@found) {
        my ( $kind, $lines ) = @$found;
        if ( $kind eq 'sh' ) { push @block, [ $lines, [] ] }
        elsif ( $kind eq '' && @block ) { push @{ $block[-1][1] }, split /\n/, $lines }
    }
    return @block;
}

# Return the commands of a page's blocks: their lines, without those that go on with the line before, and without texts (<<END).
sub commands {
    my ($text) = @_;
    my @command;
    for my $block ( map { $_->[0] } blocks($text) ) {
        $block =~ s/(<<-?'?(\w+)'?.*\n)(?:.*\n)*?\2$/$1/mg;
        $block =~ s/(?:\\|[|]|&&)\n/ /g;
        push @command, grep { !/\A\s*(?:#|\z|[})]|(?:done|fi|esac|local)\b)/ } split /\n/, $block;
    }
    return @command;
}

# What a shell prints about a command that failed.
my $FAILED = '-- failed: ';

# Return the commands that failed without the page's leave.
sub _failed {
    my ( $text, @leave ) = @_;
    return grep {
        my $command = $_;
        $command !~ m{2> */dev/null|2>&1} && !grep { $command =~ $_ } @leave
    } $text =~ /^\Q$FAILED\E(.*)/mg;
}

# Paste the commands of a page into one shell, and hold what they print against the page.
sub page {
    my ( $self, $name, %option ) = @_;
    my $text = Authz::Web::edit( Authz::Path::source( 'doc', $name ) );
    if ( $option{edit} ) { local $_ = $text; $option{edit}->(); $text = $_ }
    my @block = blocks($text);
    cmp_ok( scalar @block, '>', 0, "$name has commands" );
    my $mark   = '-- end of block';
    my $script = join '', "set -E\ntrap 'echo \"$FAILED\$BASH_COMMAND\" >&2' ERR\n", $option{begin} // '',
      map { "$_->[0]\n" . _listening( $_->[0] ) . "echo; echo '$mark'\n" } @block;
    $script .= "trap - ERR\n";

    for my $start ( $text =~ /^ {4}(SVC_\w+=.* contrib\/quickstart up.*)$/mg ) {
        my ( $status, $output ) = $self->paste("$start\n");
        is( $status, 0, "$name: $start" ) or diag $output;
    }

    for my $time ( 1 .. $option{times} // 1 ) {
        my ( $status, $output ) = $self->paste( $script, env => $option{env} );
        my @output = split /^\Q$mark\E\n/m, $output;
        my @failed = _failed( $output, @{ $option{fails} // [] } );
        ok( $status == 0 && @output >= @block && !@failed, "$name, pasted for time $time: the commands end well" )
          or diag join "\n", $output, map {"failed: $_"} @failed;
        for my $at ( 0 .. $#block ) {
            my ( $commands, $expected ) = @{ $block[$at] };
            next if !@$expected;
            my $missing = _missing( $output[$at] // '', @$expected );
            ok( !defined $missing, "$name, block " . ( $at + 1 ) . ' prints what the page shows' )
              or diag "missing: $missing\n$commands\n" . ( $output[$at] // $output );
        }
    }
    return;
}

# Return commands that wait for the servers that a block starts.
sub _listening {
    my ($commands) = @_;
    return join '',
      map {"until (exec 3<>/dev/tcp/127.0.0.1/$_) 2>/dev/null; do sleep 0.1; done\n"} $commands =~ /^ *PORT=(\d+) /mg;
}

# Return the first of the lines that does not follow the others in a text; undef if all do.
sub _missing {
    my ( $text, @line ) = @_;
    my $at = 0;
    for my $line (@line) {
        my $found = index $text, $line, $at;
        return $line if $found < 0;
        $at = $found + length $line;
    }
    return;
}

END {
    my $status = $?;
    for my $self (@running) {
        $self->quickstart( words => [qw(down --purge)] ) if -d $self->{dir};
    }
    $? = $status;
}

1;

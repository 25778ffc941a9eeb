package Authzctl;

# Runs authzctl and keeps apart what it prints on its two outputs.

use strict;
use warnings;

use Exporter 'import';
use File::Path ();
use IPC::Open3 qw(open3);
use JSON::PP   ();
use Symbol     qw(gensym);
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

our @EXPORT = qw(ctl ctl_is new_audit_log put_file settings tree);

my $program;

# ctl([arguments], env => {...}, in => TEXT): {status, out, err, json}. No setting of the caller reaches the program.
sub ctl {
    my ( $arguments, %option ) = @_;
    $program //= Authz::Path::program('authzctl');
    local %ENV = (
        ( map { /^(?:SVC_|SHUTDOWN_|PG)/ ? () : ( $_ => $ENV{$_} ) } keys %ENV ),
        %{ $option{env} // { SVC_CONFIG => '/dev/null' } } );
    open my $in, '+>', undef or die "temporary file: $!";
    print {$in} $option{in} // '';
    seek $in, 0, 0;
    my $err = gensym;
    open my $err_file, '+>', undef or die "temporary file: $!";
    my $pid = open3( '<&' . fileno $in, my $out, '>&' . fileno $err_file, $program, @$arguments );
    local $/ = undef;
    my %got = ( out => readline($out) // '' );
    waitpid $pid, 0;
    $got{status} = $? & 127 ? 128 + ( $? & 127 ) : $? >> 8;
    seek $err_file, 0, 0;
    $got{err}  = readline($err_file) // '';
    $got{json} = eval { JSON::PP->new->utf8->allow_nonref->decode( $got{out} ) };
    return \%got;
}

# The same, and a test that it ends with this status.
sub ctl_is {
    my ( $status, $arguments, $name, %option ) = @_;
    my $got = ctl( $arguments, %option );
    is( $got->{status}, $status, $name ) or diag "standard output: $got->{out}\nstandard error: $got->{err}";
    return $got;
}

# Write a file of a directory; its name.
sub put_file {
    my ( $dir, $name, $text ) = @_;
    open my $file, '>:raw', "$dir/$name" or die "$dir/$name: $!\n";
    print {$file} $text;
    close $file or die "$dir/$name: $!\n";
    return "$dir/$name";
}

# Take the log over all audit rows away, which housekeeping of the service began; from here on the test alone seals. What the service
# signed last, in its runtime directory, goes too.
sub new_audit_log {
    my ($stack) = @_;
    $stack->sql(q{UPDATE job SET due_at = now() + interval '1 day' WHERE name = 'audit_seal'});
    $stack->sql(q{SELECT pg_advisory_lock(6, hashtext('audit_seal')), pg_advisory_unlock(6, hashtext('audit_seal'))});
    $stack->sql('TRUNCATE audit_log_state, audit_tile, audit_note, audit_checkpoint');
    unlink $stack->settings->{SVC_RUNTIME_DIR} . '/audit-signed';
    return;
}

# A new directory with these files: tree('custom/a.rego' => TEXT, ...).
sub tree {
    my (%file) = @_;
    my $dir = Authz::Process::directory() . '/tree' . ++( our $trees );
    mkdir $dir or die "$dir: $!";
    for my $path ( keys %file ) {
        File::Path::make_path( "$dir/$path" =~ s{/[^/]*\z}{}r );
        open my $out, '>:raw', "$dir/$path" or die "$dir/$path: $!";
        print {$out} $file{$path};
        close $out or die "$dir/$path: $!";
    }
    return $dir;
}

# Complete settings for a database, some of them changed; undef removes one.
sub settings {
    my ( $url, %change ) = @_;
    my %all = (
        %{ Authz::Stack::base_settings($url) }, SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 200,
        SVC_OPA_URL => 'unix:/nonexistent/opa.sock', SVC_OIDC_ISSUER => 'http://localhost:8080', %change );
    return { map { defined $all{$_} ? ( $_ => $all{$_} ) : () } keys %all };
}

1;

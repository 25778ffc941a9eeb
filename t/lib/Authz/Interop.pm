package Authz::Interop;

# Clients and servers of others: the scripts of t/interop, run by Node.js (Authz::Node).

use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More       ();
use Time::HiRes      qw(sleep time);

use Authz::Node    ();
use Authz::Process ();
use Authz::Web     ();

# Skips the whole test where Node.js or the packages are not; contrib/check brings both.
sub need {
    my $missing = Authz::Node::missing();
    return defined $missing ? Test::More::plan( skip_all => $missing ) : 1;
}

# Runs a script that speaks TAP; its tests become ours, one by one.
sub tests {
    my ( $name, %env ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return results( start( $name, %env ), $name );
}

# The same in two steps, for what goes on beside it.
sub start {
    my ( $name, %env ) = @_;
    return Authz::Process->start(
        name    => "node-$name-" . ++( our $runs ), env => \%env,
        command => [ Authz::Node::command( 'interop', "$name.mjs" ) ] );
}

sub results {
    my ( $process, $name ) = @_;
    my $status = $process->wait(120);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my ( $planned, $count ) = ( undef, 0 );
    for my $line ( split /\n/, $process->log_text ) {
        if ( $line =~ /\A(not )?ok \d+ - (.*)/ ) {
            $count++;
            Test::More::ok( !$1, $2 );
        }
        elsif ( $line =~ /\A1\.\.(\d+)\z/ ) { $planned = $1 }
        else { Test::More::diag($line) if $line =~ /\S/ && $line !~ /\A\(node:|\(Use `node/ }
    }
    Test::More::ok( defined $planned && $planned == $count && $count > 0, "$name ran to its end, $count tests" )
      or Test::More::diag( 'exit status ' . ( $status // 'none: it hangs' ) );
    return;
}

# Starts a script that serves HTTP on the port of its setting PORT.
sub serve {
    my ( $name, %env ) = @_;
    my $process = start( $name, %env );
    my $until   = time + 60;
    while ( !IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $env{PORT}, Proto => 'tcp' ) ) {
        die "$name does not start: " . $process->log_text . "\n" if time > $until || !$process->alive;
        sleep 0.05;
    }
    return $process;
}

# Starts npm `oidc-provider`, makes it the identity provider npm of a stack, with these scopes.
sub provider {
    my ( $stack, @scopes ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $port = Authz::Web::free_port();
    my %at   = (
        CLIENT_ID    => 'authz',                                  CLIENT_SECRET   => 'a secret of ours at the provider',
        REDIRECT_URI => $stack->base . '/authorize/callback/npm', POST_LOGOUT_URI => $stack->base . '/logout/return' );
    serve( 'provider', PORT => $port, %at );
    my $made = $stack->admin(
        POST => '/admin/api/identity-providers',
        json => {
            idpId        => 'npm', name => 'npm', issuer => "http://127.0.0.1:$port", clientId => $at{CLIENT_ID},
            clientSecret => $at{CLIENT_SECRET}, scopes => \@scopes, enabled => JSON::PP::true() } );
    Test::More::is( $made->status, 201, 'npm oidc-provider is our upstream identity provider' )
      or Test::More::diag( $made->text );
    return;
}

1;

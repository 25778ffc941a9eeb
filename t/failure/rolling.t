# An upgrade while the service runs: two hosts with the release before, the schema is migrated, one host after the other gets this
# release, then the release before again. No request fails, and each acknowledged answer holds (oauth.md 2 "Upgrades"; performance.md
# R15). `contrib/check --rolling` builds the release before and names it.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Load     ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

# An installed tree with its sources in src.
my $older = $ENV{AUTHZ_TEST_OLDER};
plan skip_all => 'contrib/check --rolling builds the release before' if !defined $older;

# Requests of each load between two steps.
my $ENOUGH = 60;

# The programs and files of either release.
my %data = ( this => Authz::Stack::data_dir(), older => Authz::Process::directory() . '/data-older' );
mkdir $data{older} or die "$data{older}: $!";
symlink "$older/src/$_->[0]", "$data{older}/$_->[1]"
  or die "symlink: $!"
  for [ 'sql', 'sql' ], [ 'etc/policy', 'policy' ], [ 'etc/connectors', 'connectors' ], [ 'etc/www', 'www' ];

sub with {
    my ( $release, $code ) = @_;
    return $code->() if $release eq 'this';
    local $ENV{AUTHZ_PREFIX} = $older;
    delete local $ENV{AUTHZ_BUILDDIR};
    return $code->();
}

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database( empty => 1 );

sub ctl {
    my ( $release, @words ) = @_;
    return with(
        $release,
        sub {
            return Authz::Process->run(
                name => "authzctl-$release",
                env  => {
                    %{ Authz::Stack::base_settings( $postgres->url($database) ) }, SVC_DATA_DIR => $data{$release},
                    SVC_OPA_URL => 'unix:/nonexistent/opa.sock', SVC_BUNDLE_CONFIRM_ACTIVATION => 'false' },
                command => [ Authz::Path::program('authzctl'), @words ] );
        } );
}
my $version = sub { return $postgres->sql( 'SELECT max(version) FROM schema_migration', $database ) };
my ( $status, $text ) = ctl( older => qw(db migrate) );
is( $status, 0, 'the release before makes its schema' ) or diag($text);
my $before = $version->();

my %start = ( postgres => $postgres, database => $database, settings => { SVC_DATA_DIR => $data{older} } );
my @host  = ( with( older => sub { return Authz::Stack->start(%start) } ) );
push @host, with( older => sub { return Authz::Stack->start( %start, beside => $host[0] ) } );
my %cc  = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my %who = (
    crm  => [ $host[0]->make_client( 'crm',  \%cc ) ],
    once => [ $host[0]->make_client( 'once', { %cc, jit_single_use => true } ) ],
    rs   => [ $host[0]->make_client( 'rs',   { endpoints           => ['introspect'] } ) ] );

my ( @load, @ended );
sub begin { my ($at) = @_; $load[$at] = Authz::Load->start( $host[$at], %who, clients => 2 ); return }
sub finish { my ($at) = @_; $load[$at]->stop; push @ended, $load[$at]; return }

# Let each load that runs ask some more.
sub go_on {
    for my $load (@_) {
        my $from = () = $load->ledger;
        Authz::Process::until_true( 60, sub { $from + $ENOUGH <= ( () = $load->ledger ) } )
          // die "the load does not go on\n";
    }
    return;
}

# Take a host out of service, as its load balancer does, and bring it back with another release.
sub upgrade {
    my ( $at, $release ) = @_;
    finish($at);
    with( $release, sub { return $host[$at]->restart_service( settings => { SVC_DATA_DIR => $data{$release} } ) } );
    begin($at);
    go_on(@load);
    return;
}

begin($_) for 0, 1;
go_on(@load);
( $status, $text ) = ctl( this => qw(db plan) );
is( $status, 0, 'no migration of this release needs --offline' ) or diag($text);
( $status, $text ) = ctl( this => qw(db migrate) );
is( $status, 0, 'this release migrates while the release before serves' ) or diag($text);
cmp_ok( $version->(), '>', $before, "... from $before to " . $version->() );
go_on(@load);
upgrade( 0, 'this' );
upgrade( 1, 'this' );
upgrade( 0, 'older' );
upgrade( 1, 'older' );
finish($_) for 0, 1;

my ( %outcome, @wrong );
for my $load (@ended) {
    my $of = $load->outcomes;
    $outcome{$_} += $of->{$_} for keys %$of;
    push @wrong, $load->wrong;
}
is( join( ', ', sort keys %outcome ), '200', 'no request failed, at any step' ) or diag( explain( \%outcome ) );
is( scalar @wrong,                    0, 'each acknowledged token is active, each revocation and single use stands' )
  or diag( map {"$_\n"} @wrong[ 0 .. ( @wrong > 20 ? 19 : $#wrong ) ] );
note( "$outcome{200} requests, schema $before and " . $version->() );

done_testing;

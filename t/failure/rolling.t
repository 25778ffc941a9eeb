# An upgrade while the service runs, as doc/upgrade.md has it: two hosts with the release before, the schema is migrated, one host after
# the other gets this release, then the release before again. No request fails, each acknowledged answer holds, and what one host made
# is good at the other, whatever program either runs (oauth.md 2 "Upgrades"; performance.md R15). `contrib/check --rolling` builds the
# release before and names it, and runs this with either engine.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Idp      ();
use Authz::Kept     ();
use Authz::Load     ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

# An installed tree with its sources in src.
my $older = $ENV{AUTHZ_TEST_OLDER};
plan skip_all => 'contrib/check --rolling builds the release before' if !defined $older;

# Requests of each load between two steps.
my $ENOUGH = 40;

# Files of either release, by their names in SVC_DATA_DIR.
my %FILES = (
    this  => { map { ( $_ => Authz::Stack::data_dir() . "/$_" ) } qw(sql policy connectors www) },
    older => {
        sql => "$older/src/sql",
        map { ( $_ => "$older/src/etc/$_" ) } qw(policy connectors www) } );

# The description of the interface is that of this release, so answers are not held against it.
my $built = delete $ENV{AUTHZ_BUILDDIR};

sub with {
    my ( $release, $code ) = @_;
    local @ENV{qw(AUTHZ_PREFIX AUTHZ_BUILDDIR)} =
      $release eq 'this' ? ( $ENV{AUTHZ_PREFIX}, $built ) : ( $older, undef );
    delete $ENV{AUTHZ_BUILDDIR} if !defined $ENV{AUTHZ_BUILDDIR};
    return $code->();
}

# Put the files of a release in the place of those of a host, whose processes run on.
sub data_of { return Authz::Process::directory() . "/data-$_[0]" }

sub install {
    my ( $at, $release ) = @_;
    my $dir = data_of($at);
    if ( !-d $dir ) { mkdir $dir or die "$dir: $!" }
    for my $name ( sort keys %{ $FILES{$release} } ) {
        unlink "$dir/$name";
        symlink $FILES{$release}{$name}, "$dir/$name" or die "symlink: $!";
    }
    return;
}
install( $_, 'older' ) for 0, 1;

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database( empty => 1 );

# A command of a host by the program of a release.
my @host;

sub ctl {
    my ( $release, $at, @words ) = @_;
    return with( $release, sub { return $host[$at]->authzctl(@words) } ) if @host;
    return with(
        $release,
        sub {
            return Authz::Process->run(
                name => "authzctl-$release",
                env  => {
                    %{ Authz::Stack::base_settings( $postgres->url($database) ) }, SVC_DATA_DIR => data_of($at),
                    SVC_OPA_URL => 'unix:/nonexistent/opa.sock', SVC_BUNDLE_CONFIRM_ACTIVATION => 'false' },
                command => [ Authz::Path::program('authzctl'), @words ] );
        } );
}
my $version = sub { return $postgres->sql( 'SELECT max(version) FROM schema_migration', $database ) };
my ( $status, $text ) = ctl( older => 0, qw(db migrate) );
is( $status, 0, 'the release before makes its schema' ) or diag($text);
my $before = $version->();

# Both hosts ask one engine: of two, one may be late with a save on a machine that builds, for longer than a request waits
# (t/failure/save_engines.t is about that).
my %start = ( postgres => $postgres, database => $database, gateway => 4 );
my %safe  = Authz::Idp->settings;
for my $at ( 0, 1 ) {
    my %settings = ( %safe, SVC_DATA_DIR => data_of($at), @host ? ( SVC_OIDC_ISSUER => $host[0]->base ) : () );
    my %beside   = @host ? ( beside => $host[0] ) : ();
    push @host, with( older => sub { return Authz::Stack->start( %start, %beside, settings => \%settings ) } );
}
my %cc  = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my %who = (
    crm  => [ $host[0]->make_client( 'crm',  \%cc ) ],
    once => [ $host[0]->make_client( 'once', { %cc, jit_single_use => true } ) ],
    rs   => [ $host[0]->make_client( 'rs',   { endpoints           => ['introspect'] } ) ] );
my $idp = Authz::Idp->start;
$idp->register( $host[0] );
my $kept = Authz::Kept->new( \@host, $idp );

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

# Each host makes one of each thing, and all that was made is used at each host. Then the log is sealed and checked by each host.
my %runs = ( 0 => 'older', 1 => 'older' );

sub holds {
    my ($name) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    $kept->make($_) for 0, 1;
    is( join( "\n", $kept->wrong ), '', "$name: what one host made is good at the other" );
    for my $at ( 0, 1 ) {
        for my $words ( [qw(audit seal)], [qw(audit verify)] ) {
            my ( $exit, $said ) = ctl( $runs{$at}, $at, @$words );
            is( $exit, 0, "$name: host $at, authzctl @$words" ) or diag($said);
        }
    }
    go_on(@load);
    return;
}

# Take a host out of service, as its load balancer does, and bring it back with the program of its files.
sub restart {
    my ( $at, $release, $name ) = @_;
    finish($at);
    $runs{$at} = $release;
    with( $release, sub { return $host[$at]->restart_service } );
    begin($at);
    holds($name);
    return;
}

begin($_) for 0, 1;
holds('the release before');
install( 0, 'this' );
holds('the files of a host are replaced');
( $status, $text ) = ctl( this => 0, qw(db plan) );
is( $status, 0, 'no migration of this release needs --offline' ) or diag($text);
( $status, $text ) = ctl( this => 0, qw(db migrate) );
is( $status, 0, 'this release migrates while the release before serves' ) or diag($text);
cmp_ok( $version->(), '>', $before, "... from $before to " . $version->() );
holds('the schema is migrated');
restart( 0, this => 'the first host has this release' );
install( 1, 'this' );
restart( 1, this => 'both have it' );
install( 0, 'older' );
restart( 0, older => 'the first one goes back' );
install( 1, 'older' );
restart( 1, older => 'both have gone back' );
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
note( "$outcome{200} requests and " . $kept->count . " things, schema $before and " . $version->() );

done_testing;

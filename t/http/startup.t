# Start-up refusals: exit status 78, and one line per problem that names the variable (specification 5.2; decisions.md
# "Development values", "Development mode"; architecture.md 6).
use strict;
use warnings;

use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database;
my %good =
  ( %{ Authz::Stack::base_settings( $postgres->url($database) ) }, SVC_OIDC_ISSUER => 'http://127.0.0.1:8080' );

# Runs the start-up checks with settings changed (undef removes one): (exit status, lines).
sub check {
    my (%change) = @_;
    my %set = ( %good, %change );
    delete @set{ grep { !defined $set{$_} } keys %set };
    my ( $status, $text ) = Authz::Process->run(
        name    => 'check', env => \%set,
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
    return ( $status, split /\n/, $text );
}

# The migration seals a signing key under the credential key, so another key needs a database without one; the start makes it.
sub fresh {
    my $name = $postgres->database;
    $postgres->sql( 'DELETE FROM signing_key', $name );
    return $postgres->url($name);
}

# Refused, with exactly one line for each of the names and no other problem.
sub refused {
    my ( $name, $names, %change ) = @_;
    my ( $status, @line ) = check(%change);
    my @problem = grep {/\Aauthz\.fcgi: /} @line;
    my $each    = grep {
        my $variable = $_;
        1 == grep {/\b$variable\b/} map { /\Aauthz\.fcgi: (?:\S+:\d+: )?(\w+)/ ? $1 : $_ } @problem
    } @$names;
    ok( $status == 78 && @problem == @$names && $each == @$names, $name )
      or diag( "exit status $status", map {"\n$_"} @line );
    return @line;
}

is( ( check() )[0], 0, 'start: good settings pass' );
my @four = qw(SVC_ADMIN_API_KEY SVC_ADMIN_PEPPER SVC_BUNDLE_API_KEY SVC_CREDENTIAL_KEY);
refused( "start: $_ missing is refused (specification 5.2)", [$_], $_ => undef )  for @four;
refused( "start: $_ blank is refused",                       [$_], $_ => '' )     for @four;
refused( "start: $_ of blanks is refused",                   [$_], $_ => " \t " ) for @four;
refused( 'start: all four missing are four lines, not the first alone', \@four, map { ( $_ => undef ) } @four );
for my $value (
    qw(dev development changeme change-me secret test default password admin insecure dev-pepper dev-key dev-bundle-key CHANGEME Secret insecure-dev-anything)
  )
{
    refused(
        "start: the development value $value is refused for pepper and bundle key (decisions.md \"Development values\")",
        [qw(SVC_ADMIN_PEPPER SVC_BUNDLE_API_KEY)], SVC_ADMIN_PEPPER => $value, SVC_BUNDLE_API_KEY => $value );
}
for my $name (@four) {
    my ($line) = grep {/\Aauthz\.fcgi: /} refused(
        "start: $name of 15 octets is refused (decisions.md \"Key lengths\")",
        [$name], $name => 'x' x 15 );
    like(
        $line, qr/\Aauthz\.fcgi: $name: has 15 octets, fewer than 16; set it to .*openssl rand/,
        'start: the line names the length and the remedy' );
    unlike( $line, qr/xxx/, 'start: and not the value' );
    is( ( check( $name => 'x' x 16, SVC_DATABASE_URL => fresh() ) )[0], 0, 'start: of 16 octets it is accepted' );
}
is( ( check( SVC_CREDENTIAL_KEY => undef, SVC_GATEWAY_CREDENTIAL_KEY => $good{SVC_CREDENTIAL_KEY} ) )[0], 0,
    'start: the legacy alias SVC_GATEWAY_CREDENTIAL_KEY counts (specification 5.2)' );

# Development mode.
my ( $status, @line ) =
  check( SVC_ALLOW_INSECURE_DEV_KEY => 'true', SVC_DATABASE_URL => fresh(), map { ( $_ => undef ) } @four );
is( $status,                                        0, 'development mode: nothing of this is refused' ) or diag(@line);
is( scalar( grep {/development|insecure/i} @line ), 1, 'development mode: one warning line says so' )   or diag(@line);

# Values.
refused( "start: $_->[0]=$_->[1] is refused", [ $_->[0] ], $_->[0] => $_->[1] )
  for [ 'SVC_RATE_LIMIT_REQUESTS', '0' ], [ 'SVC_RATE_LIMIT_REQUESTS', 'many' ], [ 'SVC_RATE_LIMIT_REQUESTS', '10x' ],
  [ 'SVC_RATE_LIMIT_ENABLED',   'yes' ], [ 'SVC_RATE_LIMIT_WINDOW', '-1' ], [ 'SVC_TRUSTED_PROXY_COUNT', '17' ],
  [ 'SVC_TRUSTED_PROXY_COUNT',  '-1' ],                   [ 'SVC_OIDC_ISSUER', 'not a url' ],
  [ 'SVC_OIDC_ISSUER',          'https://a.example/?x' ], [ 'SVC_OIDC_ISSUER', 'https://a.example/#f' ],
  [ 'SVC_OIDC_ISSUER',          'https://a.example/' ],
  [ 'SVC_OIDC_ISSUER',          'ftp://a.example' ], [ 'SVC_LOG_LEVEL', 'loud' ], [ 'SVC_OPA_URL', 'opa' ],
  [ 'SVC_POLICY_TIMEOUT_MS',    '0' ], [ 'SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS', '86401' ],
  [ 'SVC_AUDIT_RETENTION_DAYS', '10' ],
  [ 'SHUTDOWN_PHASE_TIMEOUT',   'soon' ];
my @both = refused(
    'start: several bad values are several lines', [qw(SVC_LOG_LEVEL SVC_RATE_LIMIT_WINDOW SVC_CREDENTIAL_KEY)],
    SVC_LOG_LEVEL => 'loud', SVC_RATE_LIMIT_WINDOW => 'x', SVC_CREDENTIAL_KEY => 'short-secret-1' );
unlike( join( "\n", @both ), qr/short-secret-1/, 'start: a refused secret is not printed' );

# The file.
my $dir  = Authz::Process::directory();
my $file = Authz::Web::write_file(
    "$dir/authz.conf", join '', "# a comment\n\n",
    map {"$_ = \"$good{$_}\"\n"} grep { $_ ne 'SVC_CONFIG' } sort keys %good );
chmod 0600, $file or die $!;
my %bare = ( map( { ( $_ => undef ) } keys %good ), SVC_CONFIG => $file );
is( ( check(%bare) )[0],                            0,  'authz.conf: all settings may stand in the file' );
is( ( check( %bare, SVC_LOG_LEVEL => 'loud' ) )[0], 78, 'authz.conf: the environment wins' );
my $lines = do { open my $in, '<', $file; local $/ = undef; readline $in };
my $next  = 1 + ( $lines =~ tr/\n// );

for my $case (
    [ 'SVC_NO_SUCH_SETTING=1', 'SVC_NO_SUCH_SETTING',        'an unknown SVC_ name' ],
    [ 'SVC_LOG_LEVEL=loud',    'SVC_LOG_LEVEL',              'a malformed value' ],
    [ 'nonsense',              'the line is not NAME=VALUE', 'a line without =' ] )
{
    my $broken = Authz::Web::write_file( "$dir/broken.conf", "$lines$case->[0]\n", 0600 );
    ( $status, @line ) = check( %bare, SVC_CONFIG => $broken );
    ok( $status == 78 && grep( {/\Q$broken\E:$next\b.*\Q$case->[1]\E/} @line ),
        "authz.conf: $case->[2] is refused with file and line (architecture.md 6)" ) or diag( $status, @line );
}
is( (   check(
            %bare, SVC_CONFIG => Authz::Web::write_file( "$dir/rotation.conf", "${lines}SVC_ROTATION_STEP=2\n", 0600 ) )
    )[0],
    0,
    'authz.conf: SVC_ROTATION_ names are left alone (specification 8)' );
refused( 'authz.conf: a named file that is not there is refused', ['SVC_CONFIG'], SVC_CONFIG => "$dir/none.conf" );

# The runtime directory: a stranger must not have made it (architecture.md 3).
mkdir "$dir/open" or die $!;
chmod 0755, "$dir/open";
refused(
    'start: a runtime directory that others may enter is refused', ['SVC_RUNTIME_DIR'],
    SVC_RUNTIME_DIR => "$dir/open" );
symlink "$dir/run", "$dir/link";
refused( 'start: one that is a symbolic link is refused', ['SVC_RUNTIME_DIR'], SVC_RUNTIME_DIR => "$dir/link" );
SKIP: {
    skip 'only root can give a directory away', 1 if $> != 0;
    mkdir "$dir/theirs", 0700;
    chown 12345, -1, "$dir/theirs";
    refused(
        "start: a directory of another account is refused", ['SVC_RUNTIME_DIR'],
        SVC_RUNTIME_DIR => "$dir/theirs" );
}

# The schema: an older one is refused, a database that is away is not (architecture.md 4).
my $empty = $postgres->database( empty => 1 );
( $status, @line ) = check( SVC_DATABASE_URL => $postgres->url($empty) );
ok( $status == 78 && grep( {/authzctl db migrate/} @line ),
    'start: a database without schema is refused, and the line says what to do' ) or diag( $status, @line );
is( ( check( SVC_DATABASE_URL => 'postgresql:///x?host=/nonexistent' ) )[0], 0,
    'start: a database that is away is no reason to refuse; requests get 503' );
( $status, @line ) = check( SVC_CREDENTIAL_KEY => 'another-credential-key-1' );
my $first = $status;
( $status, @line ) = check( SVC_CREDENTIAL_KEY => 'yet-another-credential-key' );
is( "$first $status", '78 78', 'start: a credential key that does not open the stored keys is refused' ) or diag(@line);

# The same holds for the real start, and the command line.
my %wrong = ( %good, SVC_ADMIN_API_KEY => '' );
( $status, my $text ) = Authz::Process->run(
    name    => 'start', env => \%wrong,
    command => [ Authz::Path::program('authz.fcgi'), '--workers', 1, '--listen', "unix:$dir/x.sock" ] );
is( $status, 78, 'start: with --workers too' );
ok( !-e "$dir/x.sock", 'start: and no socket is left' );
for my $case ( [ '--workers', 'x' ], ['--nonsense'], ['word'], [ '--workers', 1, '--listen', 'tcp:1' ] ) {
    ( $status, $text ) =
      Authz::Process->run( name => 'usage', env => \%good, command => [ Authz::Path::program('authz.fcgi'), @$case ] );
    ok( $status == 64 && $text =~ /usage/, "start: @$case is a usage error" ) or diag( $status, $text );
}

done_testing;

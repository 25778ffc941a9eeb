# The drill of doc/backup.md: pg_basebackup and archived WAL, a restore to a point in time, the keys, authzctl restore-fence, and the new
# epoch of the audit log. What was revoked or used up after that point is live again in the restored database, and the fence ends it.
use strict;
use warnings;

use FindBin qw($Bin);
use lib "$Bin/../cli";
use Test::More;

use Authz::Check;
use Authz::Ciba     ();
use Authz::Dpop     ();
use Authz::Grant    ();
use Authz::Jwt      ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authzctl;

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $archive  = $postgres->make_directory("$postgres->{dir}/archive");
my $base     = "$postgres->{dir}/base";

# Archive the WAL, and take a base backup.
$postgres->sql("ALTER SYSTEM SET $_") for 'archive_mode = on', "archive_command = 'cp %p $archive/%f'";
$postgres->stop;
$postgres->start;

# A proof stays acceptable for longer than the drill takes.
my $stack = Authz::Stack->start( postgres => $postgres, settings => { SVC_DPOP_IAT_WINDOW_SECONDS => 900 } );
my %cc    = ( grants => [qw(client_credentials authorization_code refresh_token)], scopes => [qw(openid orders.read)] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
my $jwt   = Authz::Jwt->key('RS256');
my $dpop  = Authz::Dpop->new;
$stack->make_client( 'jwt', \%cc, tokenEndpointAuthMethod => 'private_key_jwt', jwks => $jwt->set );
Authz::Grant->people( $stack, subject => 'alice' );

ok( eval { $postgres->base_backup( $base, qw(-X none) ); 1 },
    'pg_basebackup takes a base backup while the service runs' );

# A command on the host, whose settings are those of the service.
sub on_host {
    my ( $exit, $words, $name, %over ) = @_;
    return ctl_is( $exit, $words, $name, env => { %{ $stack->settings }, %over } );
}
on_host( 0, [qw(audit seal)], 'the audit log is sealed' );

# ---- what happens before the point of the restore, and after it

my %token = map { ( $_ => $stack->token_text( @crm, scope => 'orders.read' ) ) } qw(kept revoked);
$token{once} = $stack->token_text( @once, scope => 'orders.read' );
my $code    = Authz::Grant->code( $stack, client => 'crm', subject => 'alice' );
my $family  = Authz::Grant->redeem( $stack, \@crm, $code )->json;
my $browser = Authz::Ciba::sign_in( $stack, 'alice' );

# A client assertion, with iat and without, and a DPoP proof: each is accepted once.
sub assert_with {
    return $stack->http->post( '/token', form => [ grant_type => 'client_credentials', Authz::Jwt::form( $_[0] ) ] );
}

sub prove_with {
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@crm), DPoP => $_[0] ],
        form => [ grant_type => 'client_credentials', scope => 'orders.read' ] );
}
sub assertion { return $jwt->assertion( 'jwt', $stack->base, exp => time + 1800, @_ ) }
sub proof     { return $dpop->proof( claims => { htm => 'POST', htu => $stack->base . '/token', @_ } ) }
my %spent = ( iat => assertion( iat => time ), exp => assertion() );
my $proof = proof();

$postgres->sql(q{SELECT pg_create_restore_point('the_moment')});
for my $kind ( sort keys %spent ) {
    is( assert_with( $spent{$kind} )->status, 200, "after the point: an assertion with $kind is used" );
    oauth_error( assert_with( $spent{$kind} ), 401, 'invalid_client', '... and refused again' );
}

# A bad proof of a client that need not send one is left out of account, and the token is for anybody (oauth.md "D outcomes").
is( prove_with($proof)->member('token_type'), 'DPoP',   '... and a proof' );
is( prove_with($proof)->member('token_type'), 'Bearer', '... which counts no more' );
is( $stack->admin( POST => '/admin/api/tokens/revoke', json => { token => $token{revoked} } )->status, 200,
    'after the point: a token is revoked' );
is( $stack->admin( POST => '/admin/api/tokens/revoke', json => { token => $family->{refresh_token} } )->status,
    200, '... and a family' );
ok( $stack->introspect( @rs, $token{once} )->json->{active}, '... and a single-use token is shown' );
$token{late} = $stack->token_text( @crm, scope => 'orders.read' );
$stack->sql('DELETE FROM browser_session');
inactive( $stack->introspect( @rs, $token{$_} ), "... so that $_ is over" ) for qw(revoked once);
on_host( 0, [qw(audit seal)], '... and the log is sealed once more' );
$postgres->sql('SELECT pg_switch_wal()');

# ---- the restore

sub archived {
    my $last = $postgres->sql('SELECT last_archived_wal FROM pg_stat_archiver');
    return $last ge $_[0];
}
my $segment = $postgres->sql(q{SELECT pg_walfile_name(pg_switch_wal())});
ok( defined Authz::Process::until_true( 60, sub { archived($segment) } ), 'the WAL is archived' );
$postgres->stop('immediate');

for (
    [ 'recovery.signal', '' ],
    [   'postgresql.auto.conf',
        "restore_command = 'cp $archive/%f %p'\nrecovery_target_name = 'the_moment'\nrecovery_target_action = 'promote'\n"
    ] )
{
    open my $out, '>', "$base/$_->[0]" or die "$base/$_->[0]: $!";
    print {$out} $_->[1];
    close $out or die "$base/$_->[0]: $!";
}
$postgres->{data} = $base;
$postgres->start;
ok( defined Authz::Process::until_true( 60, sub { $postgres->sql('SELECT pg_is_in_recovery()') eq 'f' } ),
    'the restored database has reached the point and takes writes' );

# ---- the keys

sub check_with { return ctl( [qw(config check)], env => { %{ $stack->settings }, @_ } ) }
my $later = 'crd-of-a-later-day-7d2e90b14c';
my $said  = check_with( SVC_CREDENTIAL_KEY => $later );
isnt( $said->{status}, 0, 'config check: a later SVC_CREDENTIAL_KEY' );
like( $said->{err}, qr/SVC_CREDENTIAL_KEY: cannot decrypt the signing key/, '... is not the key of the backup' );
$said = check_with(
    SVC_CREDENTIAL_KEY          => $later,
    SVC_CREDENTIAL_KEY_PREVIOUS => $Authz::Stack::KEY{SVC_CREDENTIAL_KEY} );
like( $said->{out}, qr/signing keys: ok/, '... with that of the backup as the previous one, the keys open' )
  or diag $said->{err};
$stack->restart_service;

sub active { return $stack->introspect( @rs, $_[0] )->json->{active} }
ok( active( $token{$_} ), "restored: $_ is live, as at the point" ) for qw(kept revoked);
inactive( $stack->introspect( @rs, $token{late} ), 'restored: a token issued after the point is unknown' );
is( $stack->sql('SELECT count(*) FROM browser_session'), 1, 'restored: the session is back' );

# ---- the fence

is( $stack->sql('SELECT (SELECT count(*) FROM client_assertion) + (SELECT count(*) FROM dpop_proof)'),
    0, 'restored: the used assertions and the proof are forgotten' );
my $got    = on_host( 0, [qw(restore-fence --yes --json)], 'authzctl restore-fence' )->{json};
my $fenced = time;
is( $got->{clients},                    $stack->sql('SELECT count(*) FROM client') + 0, '... marks every client' );
is( "$got->{sessions} $got->{pending}", '1 0',                                          '... and ends the sessions' );
inactive( $stack->introspect( @rs, $token{$_} ),              "fenced: $_ is over" ) for qw(kept revoked once);
inactive( $stack->introspect( @rs, $family->{access_token} ), 'fenced: the tokens of a person too' );
oauth_error(
    Authz::Grant->refresh( $stack, \@crm, $family->{refresh_token} ),
    400, 'invalid_grant', 'fenced: ... and the refresh token' );
ok( active( $stack->token_text( @crm, scope => 'orders.read' ) ), 'fenced: a new token is good' );
oauth_error( assert_with( $spent{$_} ), 401, 'invalid_client', "fenced: the used assertion with $_ is refused" )
  for sort keys %spent;
is( prove_with($proof)->member('token_type'), 'Bearer', 'fenced: the used proof counts no more' );
oauth_error( assert_with( assertion( exp => time + 600 ) ), 401, 'invalid_client', '... and what could be as old' );
Authz::Process::until_true( 5, sub { time > $fenced } );
is( assert_with( assertion( exp => time + 3600 ) )->status, 200,
    'fenced: an assertion that ends an hour later is good' );
is( assert_with( assertion( iat => time + 60 ) )->status, 200, '... one that was made 60 s later' );
oauth_error( assert_with( assertion( iat => $fenced + 58 ) ), 401, 'invalid_client', '... not one before' );
is( prove_with( proof( iat => time + 900 ) )->member('token_type'), 'DPoP',
    '... a proof that was made later by its window' );
$stack->sql(q{UPDATE restore_fence SET fenced_at = fenced_at - interval '1 hour'});
is( assert_with( assertion() )->status,          200,    'an hour after the fence every new assertion is good' );
is( prove_with( proof() )->member('token_type'), 'DPoP', '... and every new proof' );
is( $stack->sql(q{SELECT count(*) FROM audit_log WHERE operation = 'fenceAfterRestore' AND outcome = 'allowed'}),
    1, 'audit: the fence' );

# ---- refusals

is( $stack->http->post('/admin/api/restore-fence')->status, 401, 'without an admin key the fence is refused' );
my $new = $stack->token_text( @crm, scope => 'orders.read' );
for my $role (qw(auditor operator)) {
    my $key = $stack->admin( POST => '/admin/api/admin-keys', json => { label => $role, role => $role } )->json;
    is( $stack->http->post(
            '/admin/api/restore-fence', headers => [ 'X-Admin-API-Key' => $key->{plaintext} // $key->{key} ] )->status,
        403,
        "the role $role may not" );
}
ok( active($new), '... and nothing was revoked' );

# ---- the audit log

like(
    on_host( 1, [qw(audit seal)], 'audit seal: the log is not what this host signed last' )->{err}, qr/new-epoch/,
    '... and it says what to do' );
on_host( 0, [ qw(audit seal --new-epoch), 'restored to the moment' ], 'audit seal --new-epoch' );
on_host( 0, [qw(audit verify)], 'audit verify: the log is whole up to the point, and since' );

# ---- without the service, and without a key

$stack->{service}->stop;
$got =
  on_host( 0, [qw(restore-fence --yes --json)], 'the fence needs no service that runs', SVC_ADMIN_API_KEY => '' )
  ->{json};
is( $got->{clients}, $stack->sql('SELECT count(*) FROM client') + 0, '... and no admin key' );

done_testing;

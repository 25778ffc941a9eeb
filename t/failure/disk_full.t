# The disk of PostgreSQL is full: /token and /revoke answer with 503 and never acknowledge what is not there, reads go on, and the same
# processes serve on when there is room (performance.md R6). So does a service that starts meanwhile. The disk is a tmpfs in a mount namespace of this test, which only root can
# make.
use strict;
use warnings;

use Test::More;

# In a namespace the mount ends with the last process of the test.
if ( !$ENV{AUTHZ_TEST_NAMESPACE} ) {
    plan skip_all => 'not root: no mount namespace' if $> != 0;
    plan skip_all => 'no mount namespace here'
      if system('unshare -m mount -t tmpfs -o size=1m tmpfs /mnt >/dev/null 2>&1') != 0;
    $ENV{AUTHZ_TEST_NAMESPACE} = 1;
    exec 'unshare', '-m', $^X, ( map {"-I$_"} @INC ), $0 or die "unshare: $!";
}
require Authz::Check;
Authz::Check->import;
require Authz::Postgres;
require Authz::Process;
require Authz::Stack;

my $disk = Authz::Process::directory() . '/disk';
mkdir $disk                                                                       or die "$disk: $!";
system( 'mount', '-t', 'tmpfs', '-o', 'size=256m,mode=755', 'tmpfs', $disk ) == 0 or die "mount: $?";
my $postgres = Authz::Postgres->new( below => $disk );
$postgres->make_template;
my $stack = Authz::Stack->start( postgres => $postgres );
my @crm   = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );

sub token  { return $stack->token( @crm, scope => 'orders.read' ) }
sub active { return $stack->introspect( @rs, $_[0] )->member('active') ? 1 : 0 }

# Take the whole disk: a file that grows until nothing fits.
sub fill {
    open my $out, '>>', "$disk/full" or die "$disk/full: $!";
    1 while syswrite $out, "\0" x 65536;
    1 while syswrite $out, "\0" x 4096;
    close $out;
    return;
}

my @held = map { token()->member('access_token') } 1 .. 3;
$stack->sql('CHECKPOINT');
fill();
my ( @issued, %refused );
for ( 1 .. 600 ) {
    my $answer = token();
    if ( $answer->status == 200 ) { push @issued, $answer->member('access_token') }
    else                          { $refused{ $answer->status . ' ' . ( $answer->member('error') // '' ) }++ }
    last if ( $refused{'503 temporarily_unavailable'} // 0 ) >= 5;
}
is( join( ', ', sort keys %refused ), '503 temporarily_unavailable', 'full: /token is 503, and nothing else (R6)' )
  or diag( explain( \%refused ) );
like(
    $stack->{service}->log_text,
    qr/No space left on device \(SQLSTATE 53100\); make room for PostgreSQL, first for pg_wal/,
    'full: the log says what is wrong and what to do' );
note( scalar @issued, ' tokens until then' );
is( scalar( grep { active($_) } @held, @issued ), @held + @issued, 'full: each token that was acknowledged is active' );
my %asked = map { ( $_ => $stack->revoke( @crm, token => $_ )->status ) } @held;
is( join( ' ', grep { $_ != 200 && $_ != 503 } values %asked ), '', 'full: a revocation is done or 503' );
is( scalar( grep { $asked{$_} == 200 && active($_) } @held ), 0,
    'full: what was acknowledged as revoked is not active' );

unlike(
    $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    'full: all of it by the same processes' );
SKIP: {
    # Without room for its log PostgreSQL may have ended.
    skip 'PostgreSQL has ended', 2 if !$postgres->process->alive;
    $stack->restart_service;
    is( scalar( grep { active($_) } @issued ), @issued, 'full: a service that starts now reads' );
    like( token()->status, qr/\A(?:200|503)\z/, '... and issues a token, or answers 503' );
}

unlink "$disk/full" or die "$disk/full: $!";
$postgres->start if !$postgres->process->alive;    # without room for its log PostgreSQL ends
ok( defined Authz::Process::until_true( 30, sub { token()->status == 200 } ), 'room again: tokens are issued' );
is( scalar( grep { $stack->revoke( @crm, token => $_ )->status == 200 } @held ), @held,
    'room again: tokens are revoked' );
is( scalar( grep { active($_) } @held ),   0,       '... and are not active' );
is( scalar( grep { active($_) } @issued ), @issued, 'room again: each token that was acknowledged is active' );
unlike(
    $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    'all of it by the same processes' );

done_testing();

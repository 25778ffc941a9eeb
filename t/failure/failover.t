# A primary and a synchronous standby, both in SVC_DATABASE_URL: the standby takes over under load, and what was acknowledged
# holds; a commit that the standby did not confirm is never acknowledged (performance.md R3; decisions.md
# "A standby that confirms commits").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Grant    ();
use Authz::Load     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();

my $primary = Authz::Postgres->shared_or_new( private => 1 );
my $standby = $primary->standby;

# What the standby did not confirm is known by a warning, which an installation may have switched off for all its sessions.
$primary->sql('ALTER ROLE ALL SET client_min_messages = error');
my $stack = Authz::Stack->start( postgres => $primary );
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );

# ---- commits that the standby does not confirm

sub cancelled {
    return scalar grep {/canceling wait for synchronous replication/} $primary->process->log_lines;
}

# Let the server end the wait of a commit for the standby, as an administrator can, and see that it did.
sub cancel_wait {
    my $before = cancelled();
    my $waits  = q{FROM pg_stat_activity WHERE wait_event = 'SyncRep'};
    ok( defined Authz::Process::until_true( 20, sub { $primary->sql("SELECT count(*) $waits") } ),
        'a commit waits for the standby' );
    $primary->sql("SELECT pg_cancel_backend(pid) $waits");
    ok( defined Authz::Process::until_true( 20, sub { cancelled() > $before } ), '... and its wait is ended' );
    return;
}

# The answer to a request whose commit waits while the standby is stopped.
sub unconfirmed {
    my ($ask)      = @_;
    my ($receiver) = grep { _is_receiver($_) } $standby->process->children;
    kill 'STOP', $receiver;
    my $file  = Authz::Process::directory() . '/answer' . ++( our $answers );
    my $asker = Authz::Process->start(
        name => "asker$answers",
        code => sub {
            $stack->{http} = $stack->client;
            my $answer = $ask->();
            open my $out, '>', $file or die "$file: $!";
            print {$out} $answer->status, ' ', $answer->member('error') // '', "\n";
            close $out or die "$file: $!";
        } );
    cancel_wait();
    kill 'CONT', $receiver;
    $asker->wait(30);
    open my $in, '<', $file or return 'no answer';
    chomp( my $line = readline($in) // '' );
    return $line;
}

sub _is_receiver {
    open my $in, '<', "/proc/$_[0]/cmdline" or return 0;
    return ( readline($in) // '' ) =~ /walreceiver/;
}

my $key = 'svc.entitlements.bindings';
is( unconfirmed( sub { $stack->token( @crm, scope => 'orders.read' ) } ),
    '503 temporarily_unavailable', 'a token whose commit the standby did not confirm is not acknowledged' );
is( unconfirmed(
        sub {
            $stack->admin(
                PATCH => "/admin/api/policy-data/by-key?dataKey=$key",
                json  => { clients => { crm => \%cc } } );
        } ) =~ s/ .*//r,
    503,
    '... nor is a policy save' );
my $revoked = $stack->token_text( @crm, scope => 'orders.read' );
like( unconfirmed( sub { $stack->revoke( @crm, token => $revoked ) } ), qr/\A503 /, '... nor a revocation' );

# A public client proves nothing, so its request leaves no audit row when the token is revoked already, perhaps by a commit that was not
# confirmed.
$stack->make_client(
    'app', { grants => [qw(authorization_code refresh_token)], scopes => [qw(openid offline_access)] },
    clientType => 'public', redirectUris => [$Authz::Grant::REDIRECT] );
Authz::Grant->people( $stack, subject => 'alice' );
my $granted = Authz::Grant->redeem(
    $stack, 'app',
    Authz::Grant->code( $stack, client => 'app', scope => 'openid offline_access' ) );
for my $kind (qw(access_token refresh_token)) {
    my $revoke =
      sub { $stack->http->post( '/revoke', form => [ token => $granted->member($kind), client_id => 'app' ] ) };
    like( unconfirmed($revoke), qr/\A503 /, "a public client's revocation of its $kind is not acknowledged" );
    like( unconfirmed($revoke), qr/\A503 /, '... nor is the next one, although the token is revoked now' );
    is( $revoke->()->status, 200, '... which is, when the standby has it' );
}
ok( ( grep {/the standby did not confirm the commit/} $stack->{service}->log_lines ), "... and the log says why" );
is( $stack->token( @crm, scope => 'orders.read' )->status, 200, 'with the standby back, tokens are issued' );

# ---- the standby takes over under load

my $load = Authz::Load->start( $stack, crm => \@crm, once => \@once, rs => \@rs );
ok( defined Authz::Process::until_true( 30, sub { my @seen = $load->ledger; @seen > 200 } ), 'a load runs' );
my $since = time;
$primary->stop('immediate');
$standby->sql('SELECT pg_promote()');
my $acknowledged = sub {
    grep { $_->{what} eq 'token' && $_->{status} == 200 && $_->{start} > $since } $load->ledger;
};
ok( defined Authz::Process::until_true( 40, sub { $acknowledged->() > 20 } ),
    'after the promotion the same processes issue tokens, without a restart' );
my ($first) = $acknowledged->();
diag sprintf 'no token for %.1f s', $first->{end} - $since;
$load->stop;
my @wrong = $load->wrong;
is( scalar @wrong, 0, "of " . scalar( my @all = $load->ledger ) . ' answers none is lost, doubled or contradicted' )
  or diag join "\n", @wrong;
my $outcomes = $load->outcomes;
is_deeply(
    [ grep { !/\A(?:200|503 temporarily_unavailable|0 no answer)\z/ } sort keys %$outcomes ],
    [], 'every other answer was 503' ) or diag explain $outcomes;
is( $stack->http->get('/health/ready')->status, 200, 'ready' );

done_testing;

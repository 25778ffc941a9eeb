# A token that becomes invalid while the engine is asked about it is not shown (decisions.md "Slow engine at introspection").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

# The limit is 100 ms (fcgi/token/show.c); the engine is held this long after the question came, in seconds.
my $LATE  = 0.15;
my $stack = Authz::Stack->start( fake_opa => 1, pg_proxy => 1, workers => 1 );
my $fake  = $stack->fake;
my %code =
  ( grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ], scopes => [qw(openid orders.read)] );
my @web  = $stack->make_client( 'web',  { %code, endpoints      => ['introspect'] } );
my @once = $stack->make_client( 'once', { %code, jit_single_use => true } );
my @rs   = $stack->make_client( 'rs',   { endpoints => ['introspect'] } );
Authz::Grant->people($stack);

sub tokens {
    my ($who) = @_;
    my $answer = Authz::Grant->redeem(
        $stack, $who,
        Authz::Grant->code( $stack, client => $who->[0], scope => 'openid orders.read' ) );
    die $answer->text if $answer->status != 200;
    return map { $answer->member($_) } qw(access_token refresh_token);
}

# The answer to a request whose question the engine holds while the code runs.
sub meanwhile {
    my ( $octets, $method, $code ) = @_;
    my $before = $fake->asked;
    $fake->tell('hold');
    my $sent  = $stack->http->begin($octets);
    my $until = time + 10;
    sleep 0.005 while $fake->asked == $before && time < $until;
    my $asked = time;
    $code->();
    sleep 0.005 while time - $asked < $LATE;
    $fake->tell('pass');
    return $stack->http->end( $sent, $method );
}

sub introspect_while {
    my ( $token, $code, @caller ) = @_;
    my $octets = $stack->http->octets(
        'POST', '/introspect', headers => [ Authz::Client::basic( @caller ? @caller : @rs ) ],
        form => [ token => $token ], close => 1 );
    return meanwhile( $octets, 'POST', $code );
}

sub userinfo_while {
    my ( $token, $code ) = @_;
    my $octets = $stack->http->octets( 'GET', '/userinfo', headers => [ Authz::Client::bearer($token) ], close => 1 );
    return meanwhile( $octets, 'GET', $code );
}

# By SQL: the only worker waits for the engine.
my $kill_access =
  q{UPDATE access_token SET revoked_at = now() WHERE id = (SELECT id FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1)};
my $kill_family =
  q{UPDATE token_grant SET revoked_at = now() WHERE id = (SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1)};
my %death = (
    'it is revoked'          => [$kill_access],
    'its family is revoked'  => [$kill_family],
    'its client is disabled' => [
        q{UPDATE client SET enabled = false WHERE client_id = 'web'},
        q{UPDATE client SET enabled = true WHERE client_id = 'web'} ],
    'its identity provider is disabled' =>
      [ 'UPDATE identity_provider SET enabled = false', 'UPDATE identity_provider SET enabled = true' ],
);
for my $what ( sort keys %death ) {
    my ( $kill, $undo ) = @{ $death{$what} };
    my ($access) = tokens( \@web );
    my $answer = introspect_while( $access, sub { $stack->sql($kill) } );
    inactive( $answer, "introspect: $what while the engine thinks: exactly invalid_token" );
    is( $stack->sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/introspect' ORDER BY id DESC LIMIT 1}),
        'rejected', '... which the audit row says' );
    $stack->sql($undo) if $undo;
    ($access) = tokens( \@web );
    oauth_error(
        userinfo_while( $access, sub { $stack->sql($kill) } ), 401, 'invalid_token',
        "userinfo: $what while the engine thinks: 401" );
    $stack->sql($undo) if $undo;
}
my ( undef, $refresh ) = tokens( \@web );
oauth_ok(
    introspect_while( $refresh, sub { }, @web ), { active => true },
    'introspect: a refresh token, by its client' );
inactive(
    introspect_while( $refresh, sub { $stack->sql($kill_family) }, @web ),
    '... whose family is revoked meanwhile' );
my $once = $stack->token_text( @once, scope => 'orders.read' );
inactive( introspect_while( $once, sub { $stack->sql($kill_access) } ), 'introspect: a single-use token' );
is( $stack->sql('SELECT count(*) FROM access_token WHERE jit'), 1, '... which is not consumed' );

my ($access) = tokens( \@web );
oauth_ok(
    introspect_while( $access, sub { } ), { active => true, sub => 'alice' },
    'introspect: a token that lives is shown, however late the engine is' );
oauth_ok( userinfo_while( $access, sub { } ), { sub => 'alice' }, '... also at /userinfo' );
my ($other) = tokens( \@web );
oauth_ok(
    introspect_while( $access, sub { $stack->sql($kill_access) } ), { active => true },
    'introspect: ... whatever happens to another token' );
oauth_ok( introspect_while( 'garbage', sub { } ), { active => false }, 'introspect: no token at all' );

# ---- what it costs

sub reads {
    my ($delay) = @_;
    $fake->tell( $delay ? ( delay => $delay ) : 'pass' );
    my @trip = $stack->proxy->trips(
        sub { oauth_ok( $stack->introspect( @rs, $access ), { active => true }, '(an introspection)' ) } );
    $fake->tell('pass');
    return scalar grep {/token_find/} @trip;
}
reads() for 1 .. 3;
is( reads(),      1, 'trips: one look-up while the engine is fast (performance.md 3.6)' );
is( reads($LATE), 2, '... and one more when it took over 100 ms' );

done_testing;

# Round trips to PostgreSQL of the grants of a user (performance.md 3.6), counted on the wire as in round_trips.t.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

plan skip_all => 'the clock sends trips where NOTIFY is refused' if ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'strict';
my $stack = Authz::Stack->start( pg_proxy => 1, workers => 1, web_workers => 1 );
my %code  = ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [ 'openid', 'email', 'orders.read' ] );
my @web   = $stack->make_client( 'web', { %code, endpoints => ['introspect'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints        => ['introspect'] } );
$stack->make_client( 'spa', {%code}, clientType => 'public' );
Authz::Grant->people($stack);
my $proxy = $stack->proxy;

sub trips { return $proxy->request_trips(@_) }

# The trips of one request once the worker is warm.
sub warm {
    my ( $code, $most, $name ) = @_;
    $code->() for 1 .. 3;
    my @trip = trips($code);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    ok( @trip <= $most && @trip > 0, $name ) or diag( @trip . ' trips:', map {"\n  $_"} @trip );
    note( "$name: ", join ' | ', @trip );
    return;
}

my %scope = ( scope => 'openid email orders.read' );
my @code  = Authz::Grant->codes( $stack, 20, client => 'web', %scope );
my @open  = Authz::Grant->codes( $stack, 20, client => 'spa', %scope );
my @web_token;
warm(
    sub {
        my $answer = Authz::Grant->redeem( $stack, \@web, shift @code );
        oauth_ok( $answer, { id_token => qr/./, refresh_token => qr/./ }, 'a code is redeemed' );
        unshift @web_token, $answer;
    },
    2,
    '/token with a code, PKCE, ID token and refresh token: one read and one write' );
warm(
    sub {
        oauth_error(
            Authz::Grant->redeem( $stack, \@web, $code[0], code_verifier => 'a' x 43 ), 400, 'invalid_grant',
            'a wrong verifier' );
    },
    2,
    '/token with a wrong verifier: one read, and the audit row' );
my $kept = $web_token[0]->member('refresh_token');
warm(
    sub { oauth_ok( Authz::Grant->refresh( $stack, \@web, $kept ), {}, 'a confidential client refreshes' ) }, 2,
    '/token with a refresh token that stays: at most one read and one write' );
my $turned = Authz::Grant->redeem( $stack, 'spa', shift @open )->member('refresh_token');
warm(
    sub {
        my $answer = Authz::Grant->refresh( $stack, 'spa', $turned );
        oauth_ok( $answer, {}, 'a public client refreshes' );
        $turned = $answer->member('refresh_token');
    },
    2,
    '/token with a refresh token that is replaced: at most one read and one write' );
my $access = $web_token[0]->member('access_token');
warm(
    sub { oauth_ok( $stack->introspect( @rs, $access ), { active => true }, "a user's token is introspected" ) }, 2,
    "/introspect of a user's token: the read, and the audit row" );
warm(
    sub { oauth_ok( $stack->introspect( @web, $kept ), { active => true }, 'a refresh token is introspected' ) }, 2,
    '/introspect of a refresh token: the read, and the audit row' );
warm(
    sub {
        oauth_ok(
            $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer($access) ] ), { sub => 'alice' },
            'userinfo' );
    },
    2,
    '/userinfo: the read, and the audit row' );
my @kill = map { Authz::Grant->redeem( $stack, \@web, $_ )->member('refresh_token') } splice @code, 0, 4;
warm(
    sub { is( $stack->revoke( @web, token => shift @kill )->status, 200, 'a family is revoked' ) }, 1,
    '/revoke of a refresh token: one trip' );

# A token that cannot be one of ours costs no more than one that could be: of a day that has passed, only the audit row of the
# refusal; else the list of partitions, at most once a second, as the clock of this host may be wrong; of a code, its look-up.
for my $case (
    [ rt => 4000 * 86400, 'far beyond the end of any family', qr/\Apartition_list:/ ],
    [ rt => -3 * 86400,   'of a day that has passed',         qr/\A\z/ ],
    [ ac => 4000 * 86400, 'for a code',                       qr/\A(?:grant_of_code|partition_list):/ ] )
{
    my ( $kind, $days, $name, $cost ) = @$case;
    my $text = ( Authz::Grant->token( $kind, time + $days ) )[0];
    my @trip = trips(
        sub {
            oauth_error(
                $kind eq 'rt'
                ? Authz::Grant->refresh( $stack, \@web, $text )
                : Authz::Grant->redeem( $stack, \@web, $text ), 400, 'invalid_grant', "forged, $name" );
        } );
    my @read = grep { !/audit_insert/ } @trip;
    is( join( ' ', grep { !/$cost/ } @read ), '', "/token with a forged time, $name: no other SQL but the audit row" )
      or diag("@trip");
    cmp_ok( scalar @read, '<=', 1, "... and one trip for it" );
}

done_testing;

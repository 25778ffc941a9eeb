# A jit_single_use token is shown once, however many callers and instances ask for it (specification 3; decisions.md "Single
# use"; performance.md R11).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Policy ();
use Authz::Stack  ();

my $one = Authz::Stack->start;
my $two = Authz::Stack->start( beside => $one );
my @crm = $one->make_client(
    'crm',
    { grants => ['client_credentials'], scopes => [ 'orders.read', 'introspection' ], jit_single_use => true } );
my @rs = $one->make_client( 'rs', { endpoints => ['introspect'] } );
my @no = $one->make_client( 'no', { grants    => ['client_credentials'], scopes => ['x'] } );

oauth_ok(
    $one->introspect( @rs, my $first = $one->token_text( @crm, scope => 'orders.read' ) ),
    { active => true, scope => 'orders.read' }, 'single use: the first introspection shows it' );
inactive( $one->introspect( @rs, $first ), 'single use: the second is exactly inactive (specification 3)' );
inactive( $two->introspect( @rs, $first ), 'single use: also on another instance' );

# Requests that do not consume the token.
my $kept = $one->token_text( @crm, scope => 'orders.read' );
oauth_error(
    $one->introspect( @no, $kept ), 403, 'access_denied',
    'single use: a caller that is not entitled does not consume it' );
oauth_error( $one->introspect( 'rs', 'wrong', $kept ), 401, 'invalid_client', 'single use: nor does a wrong secret' );
oauth_error(
    $one->introspect( @rs, $kept, context => '[]' ), 400, 'invalid_request',
    'single use: nor a malformed request' );
oauth_ok(
    $one->introspect( @rs, $kept, context => '{"scopes":["none"]}' ),
    { active => false, inactive_reason => 'policy_denied' }, 'single use: nor a denial' );
oauth_ok( $one->introspect( @rs, $kept ), { active => true }, 'single use: after all of those it is still good, once' );
inactive( $one->introspect( @rs, $kept ), 'single use: and then no more' );
my $bearer = $one->token_text( @crm, scope => 'introspection' );
oauth_error(
    $one->http->post( '/introspect', headers => [ Authz::Client::bearer($bearer) ], form => [ token => 'x' ] ),
    401, 'invalid_token',
    'single use: such a token is no credential at our own endpoints (decisions.md "Our own endpoints")' );

# The word of policy that lets an API keep an answer: a kept answer would let the token in again.
my $kept_rule = Authz::Policy->new($one)->deploy(
    rules => {
        'custom/introspect.rego' =>
          qq(package custom.introspect\n\nextensions := {"cache_seconds": 9, "tier": "gold"}\n) } );
is( $kept_rule->status, 200, 'a rule that lets answers be kept' ) or diag $kept_rule->text;
my @often = $one->make_client( 'often', { grants => ['client_credentials'], scopes => ['orders.read'] } );
oauth_ok(
    $one->introspect( @rs, $one->token_text( @often, scope => 'orders.read' ) ),
    { active => true, extensions => { cache_seconds => 9, tier => 'gold' } },
    'extensions: cache_seconds is shown with a token of many uses (decisions.md "Kept introspections")' );
oauth_ok(
    $one->introspect( @rs, $one->token_text( @crm, scope => 'orders.read' ) ),
    { active => true, extensions => { tier => 'gold' } },
    '... and not with one for a single use, whose answer may not be used again' );

# Races: 64 at the same moment, half of them on each instance.
my @http = ( $one->client, $two->client );
my ( $wrong, $answers ) = ( 0, 0 );
for my $round ( 1 .. 5 ) {
    my $token = $one->token_text( @crm, scope => 'orders.read' );
    my @job   = map {
        [   $_,
            $_->octets(
                'POST', '/introspect', headers => [ Authz::Client::basic(@rs) ], form => [ token => $token ],
                close => 1 ) ]
    } @http;
    my @answer = Authz::Client::together( map { $job[ $_ % 2 ] } 1 .. 64 );
    my $shown  = grep { $_->status == 200 && $_->member('active') } @answer;
    my $hidden =
      grep { $_->status == 200 && !$_->member('active') && $_->member('inactive_reason') eq 'invalid_token' } @answer;
    $answers += $shown + $hidden;
    $wrong++ if $shown != 1 || $hidden != 63;
    diag(
        "round $round: active $shown, inactive $hidden, others: " . join ' ',
        map { $_->status } grep { $_->status != 200 } @answer ) if $shown != 1 || $hidden != 63;
}
is( $wrong, 0, 'single use: 64 parallel introspections on two instances show it exactly once, five times over (R11)' );
is( $answers, 320, 'single use: and every other answer is exactly inactive, none an error' );

# The same race between an introspection and a revocation: revoked means never shown afterwards.
my $late = 0;
for my $round ( 1 .. 10 ) {
    my $token = $one->token_text( @crm, scope => 'orders.read' );
    my $ask   = $http[0]->octets(
        'POST', '/introspect', headers => [ Authz::Client::basic(@rs) ], form => [ token => $token ],
        close => 1 );
    my $end = $http[1]
      ->octets( 'POST', '/revoke', headers => [ Authz::Client::basic(@crm) ], form => [ token => $token ], close => 1 );
    my @answer = Authz::Client::together( [ $http[0], $ask ], [ $http[1], $end ] );
    $late++ if $answer[1]->status != 200 || $one->introspect( @rs, $token )->member('active');
}
is( $late, 0, 'single use: after an acknowledged revocation it is never shown' );

done_testing;

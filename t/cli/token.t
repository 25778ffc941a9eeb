#!/usr/bin/perl
# token introspect and token revoke, and their routes: an operator has no client's secret (decisions.md "Tokens over the admin
# API").
use strict;
use warnings;

use FindBin  ();
use JSON::PP ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Check;
use Authz::Grant ();
use Authz::Stack ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = $stack->settings;
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my %way   = ( 'on the database' => [$env], 'over the API' => [ $far, '--server', $stack->base ] );
my @crm   = $stack->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs    = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );
my ( %facts, %ended );
my ( $true,  $false ) = ( JSON::PP::true(), JSON::PP::false() );

for my $way ( sort keys %way ) {
    my ( $set, @more ) = @{ $way{$way} };
    my $token = $stack->token_text( @crm, scope => 'orders.read' );
    my $shown =
      ctl_is( 0, [ qw(token introspect --json), @more ], "token introspect, $way", env => $set, in => "$token\n" );
    $facts{$way} = $shown->{json};
    ok( $shown->{json}{active}, '... says that it is live' );
    is( $shown->{json}{clientId}, 'crm',         '... and whose' );
    is( $shown->{json}{scope},    'orders.read', '... and with which scope' );
    unlike( $shown->{out}, qr/\Q$token\E/, '... and not the token' );
    ok( $stack->introspect( @rs, $token )->json->{active}, '... which stays live' );
    my $file = tree( token => "$token\n" ) . '/token';
    like(
        ctl_is( 0, [ qw(token introspect), $file, @more ], '... from a file', env => $set )->{out},
        qr/^active +true$/m, '... the same in lines' );
    my $end =
      ctl_is( 0, [ qw(token revoke --yes --json), @more ], "token revoke, $way", env => $set, in => $token )->{json};
    $ended{$way} = $end;
    ok( $end->{revoked} && !$end->{active},                 '... says that it ended the token' );
    ok( !$stack->introspect( @rs, $token )->json->{active}, '... which no resource server accepts then' );
    my $again =
      ctl_is( 0, [ qw(token revoke --yes --json), @more ], '... a second time', env => $set, in => $token )->{json};
    ok( !$again->{revoked}, '... ends nothing' );
    is( $again->{reason}, 'revoked', '... and says why' );
    for my $none ( 'nonsense', $token =~ s/(.)\z/$1 eq 'x' ? 'y' : 'x'/er, $crm[1], 'x' x 512 ) {
        my $got = ctl_is(
            0, [ qw(token introspect --json), @more ], "a text that is no token, $way", env => $set,
            in => $none );
        is_deeply( [ sort keys %{ $got->{json} } ], [qw(active reason)], '... tells nothing else' );
        is( $got->{json}{reason}, 'unknown', '... than that it is unknown' );
    }
    ctl_is( 1, [ qw(token introspect), @more ], "a text of 4,097 characters, $way", env => $set, in => 'x' x 4097 );
    ctl_is( 1, [ qw(token introspect), @more ], "no text, $way",                    env => $set, in => '' );
    my $row = $stack->sql(
        q{SELECT client_id || ' ' || request_summary::text FROM audit_log WHERE operation = 'revokeTokenByOperator'
        AND outcome = 'allowed' AND request_summary::text LIKE '%crm%' ORDER BY id DESC LIMIT 1} );
    like( $row, $way =~ /API/ ? qr/\ASVC_ADMIN_API_KEY / : qr/\Aauthzctl /, '... the audit row says who revoked' );
    like( $row, qr/\Q$end->{tokenId}\E/,                                    '... which token, by its id' );
}
is_deeply(
    [ sort keys %{ $facts{'over the API'} } ], [ sort keys %{ $facts{'on the database'} } ],
    'both ways tell the same facts' );
is_deeply(
    [ sort keys %{ $ended{'over the API'} } ], [ sort keys %{ $ended{'on the database'} } ],
    '... of a revocation too' );

# ---- token list, and the revocation of all tokens of a client or a person

Authz::Grant->people($stack);
my @web = $stack->make_client( 'web', { grants => [qw(authorization_code refresh_token)], scopes => ['openid'] } );
my %list;
for my $way ( sort keys %way ) {
    my ( $set, @more ) = @{ $way{$way} };
    my $token = $stack->token_text( @crm, scope => 'orders.read' );
    my $grant = Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web' ) )->json;
    my $shown = ctl_is( 0, [ qw(token list --client crm --limit 200), @more ], "token list, $way", env => $set );
    like( $shown->{out}, qr/^access  [0-9a-f-]{36}  crm     crm /m, '... shows a token by its id' );
    unlike( $shown->{out}, qr/\Q$token\E|at_|rt_/, '... and never its text' );
    my $page = ctl_is( 0, [ qw(token list --subject alice --json), @more ], '... of a person', env => $set )->{json};
    is( join( ' ', sort map { $_->{kind} } @{ $page->{content} } ), 'access refresh', '... has both kinds' );
    $list{$way} = $page;
    is( @{  ctl_is( 0, [ qw(token list --client web --limit 1 --page 1 --json), @more ], '... by pages', env => $set )
              ->{json}{content} },
        1,
        '... of a number of tokens' );
    ctl_is( 0, [ qw(token list),                          @more ], '... of anyone',                env => $set );
    ctl_is( 1, [ qw(token list --client crm --limit 201), @more ], '... with more than 200',       env => $set );
    ctl_is( 0, [ qw(token revoke --yes --subject alice),  @more ], "token revoke --subject, $way", env => $set );
    is( Authz::Grant->refresh( $stack, \@web, $grant->{refresh_token} )->status, 400, '... ends the refresh token' );
    is_deeply(
        ctl_is( 0, [ qw(token list --subject alice --json), @more ], '... and', env => $set )->{json}{content}, [],
        '... nothing is left' );
    my $end =
      ctl_is( 0, [ qw(token revoke --yes --client crm --json), @more ], "token revoke --client, $way", env => $set );
    is_deeply( $end->{json}, { active => $false, revoked => $true, clientId => 'crm' }, '... says what it did' );
    ok( !$stack->introspect( @rs, $token )->json->{active}, '... and ends the tokens' );
    for my $none (qw(subject client)) {
        like(
            ctl_is( 1, [ qw(token revoke --yes), "--$none", 'nobody', @more ], "an unknown $none, $way", env => $set )
              ->{err},
            qr/no such person or client/, '... is told' );
    }
    for my $two ( [qw(--subject alice --client crm)], [qw(FILE --client crm)] ) {
        ctl_is( 64, [ qw(token revoke --yes), @$two, @more ], "token revoke @$two, $way, is refused", env => $set );
    }
}
is_deeply(
    [ map { [ sort keys %$_ ] } @{ $list{'over the API'}{content} } ],
    [ map { [ sort keys %$_ ] } @{ $list{'on the database'}{content} } ],
    'both ways list the same facts' );

# ---- the routes

my $path = '/admin/api/tokens';
for my $route (qw(introspect revoke)) {
    my $token = $stack->token_text( @crm, scope => 'orders.read' );
    is( $stack->admin( POST => "$path/$route", json => { token => $token }, key => undef )->status,
        401, "$route without an admin key is 401" );
    ok( $stack->introspect( @rs, $token )->json->{active}, '... and changes nothing' );
    is( $stack->admin( POST => "$path/$route", json => $_ )->status, 400, "$route refuses a wrong body" ) for { }
    , { token => '' }, { token => 1 }, { token => 'x' x 4097 }, { token => $token, more => 1 };
    is( $stack->admin( GET => "$path/$route" )->status, 405,
        "$route by GET is 405: a token does not stand in an address" );
}

done_testing;

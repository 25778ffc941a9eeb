# authorization_details through /authorize, and answers of policy about them: an answer may narrow the entries of a request and
# never widen them (RFC 9396 5, 6, 7; policy.md 6.2; decisions.md "Details narrow", "Early gate").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( fake_opa => 1, settings => { Authz::Idp::settings() } );
my $json  = JSON::PP->new->canonical;
my $fake  = $stack->fake;
my $error = 'invalid_authorization_details';
my $cb    = 'https://app.example/cb';
$idp->register($stack);
$stack->patch_row(
    'svc.registry.resource_types',
    { rar => { types => { pay => { actions => [ 'read', 'write' ] }, log => {} } } } );
my @web = $stack->make_client(
    'web',
    {   grants                => [qw(client_credentials authorization_code refresh_token)],
        authorization_details => [ 'pay', 'log' ],
        scopes                => ['openid'],
        resources             => ['https://api.example'] },
    redirectUris => [$cb] );
my @rs   = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
my $ann  = Authz::Browser->new;
my $pay  = { type => 'pay', actions => [ 'read', 'write' ], amount => 5 };
my $less = { %$pay, actions => ['read'] };
my $log  = { type => 'log' };
my $both = $json->encode( [ $pay, $log ] );

# Return the parameters with which the browser comes back to the client.
sub authorized {
    my (%more) = @_;
    my %param  = ( response_type => 'code', client_id => 'web', redirect_uri => $cb, state => 's1', %more );
    my $page   = (
        $ann->follow(
            $stack->base . '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param ),
            stop => qr{\Ahttps://} ) )[-1];
    return { Authz::Browser::query( Authz::Browser::location($page) // die $page->text ) };
}

sub redeem {
    my ( $back, @more ) = @_;
    my $code = $back->{code} // return diag explain $back;
    return Authz::Grant->redeem( $stack, \@web, $code, redirect_uri => $cb, code_verifier => undef, @more );
}

sub answering {
    my ( $details, $send ) = @_;
    $fake->tell( set => { 'result.authorization_details' => $details } );
    my $answer = $send->();
    $fake->tell('pass');
    return $answer;
}

# ---- /authorize

for my $case (
    [   'an unknown type' =>
          qr/the authorization details type is not known: authorization_details\[1\] of type 'other'/,
        $pay, { type => 'other' } ],
    [   'an unlisted action' => qr/authorization_details\[0\] of type 'pay', actions 'drop'/,
        { %$pay, actions => ['drop'] } ],
    [ 'a list that is none' => qr/authorization_details\[0\] of type 'pay' has actions/, { %$pay, actions => 'read' } ],
    [ '21 entries'          => qr/too many entries/, ($log) x 21 ],
  )
{
    my ( $name, $pattern, @entries ) = @$case;
    my $back = authorized( authorization_details => $json->encode( \@entries ) );
    is( $back->{error}, $error, "/authorize: $name is $error (RFC 9396 5)" );
    like( $back->{error_description}, $pattern, '... which says what is wrong' );
}
my $back = authorized( authorization_details => $both, resource => 'https://api.example', scope => 'openid admin' );
oauth_ok(
    redeem($back),
    { authorization_details => [ $pay, $log ], scope => 'openid' },
    '/authorize: the code gives the details; an ungranted scope beside them is left out (decisions.md "Details decide")'
);
is( $stack->sql('SELECT resource FROM access_token ORDER BY issued_at DESC, id DESC LIMIT 1'),
    'https://api.example', '... and the resource' );

# ---- answers that narrow

my $preview = answering( [$less], sub { authorized( authorization_details => $both ) } );
oauth_ok(
    redeem($preview), { authorization_details => [$less] },
    'an answer to the preview narrows what the code gives' );
$preview = answering( [$less], sub { authorized( authorization_details => $both ) } );
oauth_error(
    redeem( $preview, authorization_details => $both ), 400, $error,
    '... and a request with the code cannot ask for more again' );
my $family = redeem( authorized( authorization_details => $both ) );
for my $kind (
    [ code               => sub { redeem( authorized( authorization_details => $both ) ) } ],
    [ refresh            => sub { Authz::Grant->refresh( $stack, \@web, $family->member('refresh_token') ) } ],
    [ client_credentials => sub { $stack->token( @web, authorization_details => $both ) } ],
  )
{
    my ( $name, $send ) = @$kind;
    my $once = sub {
        my ($details) = @_;
        return answering( $details, $send ) if $name ne 'code';
        my $ready = authorized( authorization_details => $both );
        return answering( $details, sub { redeem($ready) } );
    };
    oauth_ok( $once->( [ $log, $less ] ), { authorization_details => [ $log, $less ] }, "$name: fewer actions" );
    oauth_ok( $once->( [$log] ),          { authorization_details => [$log] },          "$name: fewer entries" );
    oauth_error( $once->( [] ), 400, $error,                    "$name: an allow without any of them is refused" );
    oauth_error( $once->($_),   503, 'temporarily_unavailable', "$name: an answer that widens them is none" )
      for [ { %$pay, actions => [ 'read', 'drop' ] } ], [ { %$pay, amount => 6 } ], [ { type => 'pay' } ],
      [ $log, $log ],
      [ { %$pay, actions => [] } ], [ { type => 'other' } ];
}
oauth_ok(
    Authz::Grant->refresh( $stack, \@web, $family->member('refresh_token') ),
    { authorization_details => [ $pay, $log ] }, 'refresh: the family still has all' );

# ---- answers about a token

my $token = $stack->token( @web, authorization_details => $json->encode( [ $less, $log ] ) )->member('access_token');
my $shown = sub { $stack->introspect( @rs, $token ) };
oauth_ok( answering( [$log], $shown ), { authorization_details => [$log] }, 'introspect: an answer narrows' );
oauth_error( answering( [ $pay, $log ], $shown ), 503, 'temporarily_unavailable', 'introspect: and does not widen' );
oauth_ok(
    answering( [], $shown ), { active => sub { !$_[0] }, inactive_reason => 'policy_denied' },
    'introspect: an allow without any of them is no allow' );
oauth_ok( $shown->(), { authorization_details => [ $less, $log ] }, '... and the token itself has not changed' );
my $null = answering( undef, sub { $stack->token( @web, scope => 'openid' ) } );
oauth_ok( $null, { authorization_details => undef }, 'an answer whose details are null has none (policy.md 6.2)' );
oauth_ok(
    $stack->introspect( @rs, $null->member('access_token') ), { active => true, authorization_details => undef },
    '... and the token that keeps it is shown' );

done_testing;

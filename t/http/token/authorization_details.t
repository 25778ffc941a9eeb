# authorization_details: what the registry allows, narrowing at /token, and what is left at introspection (RFC 9396;
# specification 4.1, 4.2, 4.4; oauth.md C15; decisions.md "Details types", "Details narrow", "Details at introspection").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Grant ();
use Authz::Inputs;
use Authz::Stack ();

my $stack = Authz::Stack->start;
my $json  = JSON::PP->new->canonical;
my $error = 'invalid_authorization_details';
my %types = (
    payment => { actions => [ 'initiate', 'status' ], locations => ['https://api.example'], datatypes => ['iban'] },
    account => {
        schema =>
          { type => 'object', required => ['limit'], properties => { limit => { type => 'integer', maximum => 50 } } }
    },
    log => {} );
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource =>
          { types => { 'urn:r:orders' => { scopes => [ 'read', 'write' ], indicator => 'https://orders.example' } } },
        rar => { types => \%types } } );
my %may = (
    grants    => [qw(client_credentials authorization_code refresh_token)], authorization_details => [ keys %types ],
    resources => ['https://orders.example'],                                endpoints             => ['introspect'] );
my @web  = $stack->make_client( 'web', {%may} );
my @some = $stack->make_client(
    'some',
    { grants => ['client_credentials'], scopes => ['read'], resource_types => ['urn:r:orders'] } );
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'] } );

sub text_of { my (@entries) = @_; return $json->encode( \@entries ) }

sub asked {
    my ( $who, $entries, @more ) = @_;
    return $stack->token( @$who, authorization_details => ref $entries ? text_of(@$entries) : $entries, @more );
}

sub refused {
    my ( $answer, $pattern, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 400, $error, "$name is 400 $error" );
    return like( $answer->member('error_description'), $pattern, '... which names the entry' );
}

# ---- the registry

my $pay = { type => 'payment', actions => ['initiate'], locations => ['https://api.example'], amount => 50 };
for my $case (
    [ 'an entry with listed values'          => $pay ],
    [ 'one without those lists'              => { type => 'payment' } ],
    [ 'one with privileges, not listed'      => { type => 'payment', privileges => ['admin'] } ],
    [ 'one that matches its schema'          => { type => 'account', limit      => 50 } ],
    [ 'one of a type without limits'         => { type => 'log',     actions => ['any'], locations => ['urn:any'] } ],
    [ 'several entries, two of one type'     => { type => 'log' }, { type => 'log' }, $pay ],
    [ 'one with the members of RFC 9396 2.2' => { type => 'log', identifier => 'x', datatypes => [], actions => [] } ],
  )
{
    my ( $name, @entries ) = @$case;
    my $token = asked( \@web, \@entries );
    oauth_ok( $token, { authorization_details => \@entries }, "$name is granted and echoed (RFC 9396 7)" );
    oauth_ok(
        $stack->introspect( @rs, $token->member('access_token') ),
        { active => true, authorization_details => \@entries },
        '... and shown at introspection (RFC 9396 9.2)' );
}
for my $case (
    [ 'an unknown type'            => qr/\[1\] of type 'other'/,                     $pay, { type => 'other' } ],
    [ 'an unlisted action'         => qr/\[0\] of type 'payment', actions 'delete'/, { %$pay, actions => ['delete'] } ],
    [ 'one beside a listed one'    => qr/actions 'delete'/,        { %$pay, actions   => [ 'initiate', 'delete' ] } ],
    [ 'an action in another case'  => qr/actions 'Initiate'/,      { %$pay, actions   => ['Initiate'] } ],
    [ 'an unlisted location'       => qr/locations 'https:..b'/,   { %$pay, locations => ['https://b'] } ],
    [ 'a location with a slash'    => qr/locations/,               { %$pay, locations => ['https://api.example/'] } ],
    [ 'an unlisted datatype'       => qr/datatypes 'name'/,        { %$pay, datatypes => ['name'] } ],
    [ 'a number beyond the schema' => qr/\[1\] of type 'account'/, $pay, { type => 'account', limit => 51 } ],
    [ 'a number of another type'   => qr/\[0\] of type 'account'/, { type => 'account', limit => '50' } ],
    [ 'a member that is missing'   => qr/\[0\] of type 'account'/, { type => 'account' } ],
    [ 'a list that is a text'      => qr/\[0\] of type 'log' has actions/,   { type => 'log', actions   => 'read' } ],
    [ 'a list of numbers'          => qr/\[0\] of type 'log' has locations/, { type => 'log', locations => [1] } ],
    [ 'an identifier that is a number' => qr/has an identifier/,             { type => 'log', identifier => 1 } ],
    [ 'a type that is not entitled'    => qr/\[0\] of type 'account'/, { type => 'account', limit => 1 }, 'some' ],
  )
{
    my ( $name, $pattern, @entries ) = @$case;
    my $who = ref $entries[-1] ? \@web : pop @entries && \@some;
    refused( asked( $who, \@entries ), $pattern, $name );
}

# Numbers keep their form on the way to the engine and back: another form would count as another value.
my $numbers = '[{"type":"log","n":[5.0,1e2,0.1,-0.0,1e300,9007199254740993,-1,{"x":2.50}]}]';
my $counted = asked( \@web, $numbers );
oauth_ok( $counted, {}, 'details with numbers of all forms are granted' );
oauth_ok(
    $stack->introspect( @rs, $counted->member('access_token') ), { active => true },
    '... and the token is shown' );

# ---- limits (oauth/parameters/parameters.h, policy/decide/details.h)

my $entry = { type => 'log' };
oauth_ok(
    asked( \@web, [ ($entry) x 20 ] ), { authorization_details => [ ($entry) x 20 ] },
    '20 entries are granted' );
refused( asked( \@web, [ ($entry) x 21 ] ), qr/too many entries/, '21 entries' );
my $rest = 16384 - length '[{"type":"log","x":""}]';
my $long = asked( \@web, [ { type => 'log', x => 'y' x $rest } ] );
is( length $long->json->{authorization_details}[0]{x}, $rest, '16384 octets are granted' );
oauth_error(
    asked( \@web, [ { type => 'log', x => 'y' x ( $rest + 1 ) } ] ), 400, 'invalid_request',
    'one octet more is 400 invalid_request' );
oauth_ok( asked( \@web, '[{"type":"log","x":' . '[' x 14 . ']' x 14 . '}]' ), {}, 'nesting 16 deep is granted' );
oauth_error(
    asked( \@web, '[{"type":"log","x":' . '[' x 15 . ']' x 15 . '}]' ), 400, 'invalid_request',
    'nesting 17 deep is 400 invalid_request' );

# ---- resource types are details types (specification 4.1)

my $orders = { type => 'urn:r:orders', actions => ['read'], locations => ['https://orders.example/'] };
oauth_ok( asked( \@some, [$orders] ), { authorization_details => [$orders] }, 'a resource type is a details type' );
ok( (   grep { $_ eq 'urn:r:orders' }
          @{ $stack->http->get('/.well-known/openid-configuration')->json->{authorization_details_types_supported} } ),
    '... as the metadata says' );
refused(
    asked( \@some, [ { %$orders, actions => [ 'read', 'write' ] } ] ),
    qr/\[0\] of type 'urn:r:orders', actions 'write'/,
    '... an action that is a scope which the client does not have' );
refused( asked( \@some, [ { %$orders, actions => ['delete'] } ] ), qr/actions 'delete'/, '... one that is no scope' );
refused(
    asked( \@some, [ { %$orders, locations => ['https://b.example'] } ] ), qr/locations/,
    '... a location that is not its indicator' );
refused( asked( \@web, [$orders] ), qr/\[0\] of type 'urn:r:orders'/, '... for a client without the type' );

# ---- a family: what a request may narrow

Authz::Grant->people($stack);
my @full = (
    { %$pay, actions => [ 'initiate', 'status' ], privileges => [ 'a', 'b' ], skip => [ 'x', 'y' ] },
    { type           => 'log' }, { type => 'log', actions => ['read'] } );
my @less = ( { %{ $full[0] }, actions => ['status'], privileges => ['a'] }, { type => 'log' } );

sub code { return Authz::Grant->code( $stack, client => 'web', details => \@full, @_ ) }

sub redeem { my ( $code, @more ) = @_; return Authz::Grant->redeem( $stack, \@web, $code, @more ) }

sub refresh { my ( $token, @more ) = @_; return Authz::Grant->refresh( $stack, \@web, $token, @more ) }

my @narrow = (
    [ 'the same'                              => @full ],
    [ 'the same in another order'             => reverse @full ],
    [ 'fewer actions, privileges and entries' => @less ],
    [ 'one entry'                             => { type => 'log' } ] );
my @wide = (
    [ 'another type'      => qr/\[0\] of type 'account'/, { type => 'account', limit   => 1 } ],
    [ 'an action more'    => qr/\[0\] of type 'log'/,     { type => 'log',     actions => [ 'read', 'write' ] } ],
    [ 'an entry twice'    => qr/\[1\] of type 'log'/,     { type => 'log' }, { type => 'log' } ],
    [ 'another amount'    => qr/\[0\] of type 'payment'/, { %{ $full[0] }, amount => 51 } ],
    [ 'a smaller amount'  => qr/\[0\]/,                   { %{ $full[0] }, amount => 49 } ],
    [ 'a member left out' => qr/\[0\]/,                   { type => 'payment' } ],
    [ 'a member added'    => qr/\[0\]/,                   { type => 'log', amount => 1 } ],
    [ 'an empty list of actions'    => qr/\[1\]/,         { type => 'log' }, { type => 'log', actions => [] } ],
    [ 'fewer items of another list' => qr/\[0\]/,         { %{ $full[0] }, skip => ['x'] } ] );
my $code = code();
refused( redeem( $code, authorization_details => text_of( @$_[ 2 .. $#$_ ] ) ), $_->[1], "code: $_->[0]" ) for @wide;
my $first = redeem( $code, authorization_details => text_of(@less) );
oauth_ok(
    $first,
    { authorization_details => \@less },
    'code: after all of those it is still good, for less than was authorized (RFC 9396 6.2)' );
oauth_ok(
    $stack->introspect( @rs, $first->member('access_token') ), { authorization_details => \@less },
    '... and the token has no more' );
my $refresh = $first->member('refresh_token');
refused( refresh( $refresh, authorization_details => text_of( @$_[ 2 .. $#$_ ] ) ), $_->[1], "refresh: $_->[0]" )
  for @wide;
for my $case (@narrow) {
    my ( $name, @entries ) = @$case;
    oauth_ok(
        redeem( code(), authorization_details => text_of(@entries) ), { authorization_details => \@entries },
        "code: $name" );
    my $next = refresh( $refresh, authorization_details => text_of(@entries) );
    oauth_ok( $next, { authorization_details => \@entries }, "refresh: $name" );
    $refresh = $next->member('refresh_token') // $refresh;
}
for my $empty ( '[]', undef ) {
    oauth_ok(
        refresh( $refresh, defined $empty ? ( authorization_details => $empty ) : () ),
        { authorization_details => \@full },
        'refresh: ' . ( $empty // 'no parameter' ) . ' gives all that was authorized, which the family keeps' );
}
oauth_error(
    refresh( $refresh, authorization_details => '{' ), 400, 'invalid_request',
    'refresh: no JSON (oauth.md C15)' );
oauth_ok(
    $stack->introspect( @web, $refresh ), { authorization_details => \@full },
    'introspection of the refresh token shows what the family has' );
my $bare = redeem( Authz::Grant->code( $stack, client => 'web', scope => 'none', details => [ { type => 'log' } ] ) );
oauth_ok( $bare, { authorization_details => [ { type => 'log' } ], scope => '' }, 'details beside an ungranted scope' );

# ---- resources of a family

my %res  = ( resource => 'https://orders.example', details => [ { type => 'log' } ] );
my $held = redeem( code(%res), resource => 'https://orders.example/' );
oauth_ok( $held, {}, 'code: the authorized resource' );
my $next = $held->member('refresh_token');
oauth_error(
    refresh( $next, resource => $_ ), 400, 'invalid_target',
    "refresh: resource $_ was not authorized (RFC 8707 2.2)" ) for 'https://other.example', 'https://orders.example/x';
oauth_error(
    refresh( $next, resource => 'https://orders.example', resource => 'https://other.example' ),
    400, 'invalid_target', 'refresh: two resources' );
oauth_ok( refresh( $next, resource => 'https://orders.example' ), {}, 'refresh: the authorized one' );
oauth_ok(
    refresh( $next, resource_types => 'urn:r:other' ), {},
    'refresh: resource_types is no parameter of this grant (specification 4.4)' );

# Types: one of those authorized, and no other.
$stack->patch_row(
    'svc.registry.resource_types',
    { resource => { types => { map { ( "urn:r:$_" => { scopes => ['read'] } ) } qw(more third) } } } );
$stack->bind( web => { scopes => ['read'], resource_types => [ 'urn:r:orders', 'urn:r:more', 'urn:r:third' ] } );
my @typed = ( scope => 'read', details => undef, resource_types => [ 'urn:r:orders', 'urn:r:more' ] );
my $kept  = code(@typed);
for my $case (
    [ 'urn:r:third',            'invalid_target',  'a type that was not authorized, although policy would grant it' ],
    [ 'urn:r:more urn:r:third', 'invalid_target',  'one beside an authorized one' ],
    [ 'more',                   'invalid_request', 'no URI' ] )
{
    oauth_error( redeem( $kept, resource_types => $case->[0] ), 400, $case->[1], "code: resource_types: $case->[2]" );
}
oauth_error(
    redeem( $kept, resource => 'https://orders.example' ), 400, 'invalid_target',
    'code: a resource where types were authorized' );
for my $case ( [ 'urn:r:more', ['urn:r:more'] ], [ undef, [ 'urn:r:more', 'urn:r:orders' ] ] ) {
    my $typed = redeem( $kept, defined $case->[0] ? ( resource_types => $case->[0] ) : () );
    is_deeply(
        [ sort @{ $stack->introspect( @web, $typed->member('access_token') )->json->{resource_types} } ],
        $case->[1], 'code: resource_types: ' . ( $case->[0] // 'none gives all that were authorized' ) );
    $kept = code(@typed);
}

# ---- the audit row

sub summary {
    my ($answer) = @_;
    my $id = $answer->header('X-Request-ID');
    for ( 1 .. 500 ) {    # the row of an introspection is written after the answer
        my $text = $stack->sql("SELECT request_summary FROM audit_log WHERE request_id = '$id'");
        return $json->decode($text) if $text ne '';
        sleep 0.02;
    }
    return {};
}
my $denied = asked(
    \@web,                                [ { %$pay, amount => 77_177 }, { type => 'other' } ],
    resource => 'https://orders.example', resource_types => 'urn:r:orders' );
my $summary = summary($denied);
is_deeply(
    { map { $_ => $summary->{$_} } qw(resource resourceTypes detailsTypes) },
    {   resource     => 'https://orders.example', resourceTypes => ['urn:r:orders'],
        detailsTypes => [ 'payment', 'other' ] },
    'audit: the summary of a denial has the resource, its types and the types of the details'
) or diag explain $summary;
unlike( $json->encode($summary), qr/77177/, '... and no value of the details, which may be personal' );

# ---- evaluation 2

my $token = asked( \@web, \@full )->member('access_token');
sub shown { return $stack->introspect( @rs, $token, @_ ) }
$stack->patch_row( 'svc.registry.resource_types', { rar => { types => { payment => { actions => ['status'] } } } } );
oauth_ok(
    shown(), { authorization_details => [ { %{ $full[0] }, actions => ['status'] }, @full[ 1, 2 ] ] },
    'introspect: an action that the registry no longer lists is left out' );
refused( refresh($refresh), qr/\[0\] of type 'payment', actions 'initiate'/, 'refresh: an action that is gone' );
oauth_ok(
    refresh( $refresh, authorization_details => text_of(@less) ), { authorization_details => \@less },
    '... but a request without it is good' );
$stack->patch_row( 'svc.registry.resource_types', { rar => { types => { payment => { actions => ['none'] } } } } );
oauth_ok(
    shown(), { authorization_details => [ @full[ 1, 2 ] ] },
    'introspect: an entry whose actions are all gone is left out' );
$stack->bind( web => { authorization_details => [ 'account', 'payment' ] } );
my $gone = shown();
oauth_ok(
    $gone, { active => sub { !$_[0] }, inactive_reason => 'policy_denied', authorization_details => undef },
    'introspect: a token whose details are all gone is inactive' );
is_deeply(
    summary($gone)->{detailsTypes}, [ 'payment', 'log', 'log' ],
    '... and the summary of the audit row has the types of its details' );
$stack->bind( web => { authorization_details => ['log'] } );
oauth_ok( shown(), { authorization_details => [ @full[ 1, 2 ] ] }, 'introspect: with the entitlement they are back' );

# ---- the context

$token =
  asked( \@web, [ { type => 'log', locations => ['https://a.example'] }, { type => 'log' } ] )->member('access_token');
my $here = '{"resource":"https://b.example"}';
is( @{ shown( context => $here )->json->{authorization_details} }, 2, 'context: it narrows no details by default' );
$stack->patch_row( 'svc.operator.controls.introspection', { narrow_to_context => JSON::PP::true() } );
oauth_ok(
    shown( context => $here ), { authorization_details => [ { type => 'log' } ] },
    'context: with narrow_to_context an entry for another location is hidden (RFC 9396 9.2)' );
is( @{ shown( context => '{"resource":"https://a.example/"}' )->json->{authorization_details} },
    2, '... one for this location is not' );
$token = asked( \@web, [ { type => 'log', locations => ['https://a.example'] } ] )->member('access_token');
oauth_ok(
    shown( context => $here ), { active => sub { !$_[0] }, inactive_reason => 'policy_denied' },
    '... and a token without any for it is inactive' );
oauth_ok( shown(), { active => true }, '... there alone' );

inputs_ok($stack);

done_testing;

# Token exchange with an access token of this service (RFC 8693; specification 4.4; oauth.md 3.3; decisions.md "Token exchange").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Inputs;
use Authz::Stack ();

my $stack  = Authz::Stack->start;
my $urn    = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $type   = 'urn:ietf:params:oauth:token-type:';
my $at     = "${type}access_token";
my $never  = 'decisions.md "Token exchange"';
my $row    = 'svc.operator.controls.exchange';
my $orders = 'https://api.example/orders';
my $stock  = 'https://api.example/stock';
my @pay    = ( { type => 'payment', actions => [qw(initiate status)] }, { type => 'payment', actions => ['refund'] } );
my %reach  = ( resources => [ $orders, $stock ], authorization_details => ['payment'] );
my %all    = ( scopes    => [qw(openid orders.read orders.write stock.read)], resource_types => [], %reach );
my %exchange = ( grants => [$urn], %all );
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource =>
          { types => { 'urn:r:a' => { scopes => ['orders.read'] }, 'urn:r:b' => { scopes => ['orders.read'] } } },
        rar => { types => { payment => { actions => [qw(initiate status refund)] } } } } );
Authz::Grant->people($stack);
my @rs  = $stack->make_client( 'rs', { endpoints => ['introspect'], resources => [ $orders, $stock ] } );
my @web = $stack->make_client(
    'web', { grants => [qw(authorization_code refresh_token client_credentials)], %all },
    redirectUris => [$Authz::Grant::REDIRECT] );
my @gate = $stack->make_client( 'gate', {%exchange} );
my @deep = $stack->make_client( 'deep', {%exchange} );
my @none = $stack->make_client( 'none', { grants => ['client_credentials'], %all } );
my @less = $stack->make_client( 'less', { grants => [$urn], scopes => ['orders.read'], resources => [$orders] } );
my @cut  = $stack->make_client( 'cut',  {%exchange}, scope => 'orders.read' );
my @type = $stack->make_client(
    'type',
    {   grants    => [ $urn, 'client_credentials' ], scopes => ['orders.read'], resource_types => [qw(urn:r:a urn:r:b)],
        resources => [$orders] } );
$stack->make_client( 'spa', {%exchange}, clientType => 'public', redirectUris => [$Authz::Grant::REDIRECT] );

my $json = JSON::PP->new->canonical;

# POST /token for an exchange. A parameter that is undef is left out; a list is repeated.
sub exchange {
    my ( $who, $token, %more ) = @_;
    my %form = ( grant_type => $urn, subject_token => $token, subject_token_type => $at, %more );
    my @form = map {
        my $name = $_;
        map { ( $name => $_ ) } ref $form{$name} ? @{ $form{$name} } : $form{$name}
    } grep { defined $form{$_} } sort keys %form;
    return $stack->http->post( '/token', headers => [ Authz::Client::basic(@$who) ], form => \@form );
}
sub exchanged { my $answer = exchange(@_); return $answer->member('access_token') // die 'no token: ' . $answer->text }
sub own { my (@more) = @_; return $stack->token_text( @web, @more ) }

sub signed_in {
    my (%option) = @_;
    my $code     = Authz::Grant->code( $stack, client => 'web', scope => 'openid orders.read orders.write', %option );
    my $answer   = Authz::Grant->redeem( $stack, \@web, $code );
    die $answer->text if $answer->status != 200;
    return $answer;
}
sub shown { my ( $token, $members, $name ) = @_; return oauth_ok( $stack->introspect( @rs, $token ), $members, $name ) }

sub invalid {
    my ( $answer, $name ) = @_;
    return oauth_error( $answer, 400, 'invalid_request', $name );
}

sub asked {
    return decode_packed(
        $stack->sql(
            q{SELECT policy_input FROM audit_log WHERE endpoint = '/token' AND policy_input IS NOT NULL ORDER BY id DESC LIMIT 1}
        ) =~ s/\n\z//r );
}

# ---- a good one

my $user   = signed_in();
my $first  = $user->member('access_token');
my $answer = exchange( \@gate, $first, scope => 'orders.read' );
oauth_ok(
    $answer,
    {   access_token  => qr/\Aat_/, token_type => 'Bearer', issued_token_type => $at, scope => 'orders.read',
        refresh_token => undef,     id_token   => undef,
        expires_in    => sub { $_[0] > 3500 && $_[0] <= 3600 } },
    'an exchange: issued_token_type, no refresh token, no ID token (RFC 8693 2.2.1)' );
my $second = $answer->member('access_token');
shown(
    $second,
    {   active   => true, client_id => 'gate', sub => 'alice', act => { sub => 'gate' }, scope => 'orders.read',
        idp      => 'corp',
        username => 'alice.ex' },
    'the result has the subject of the original, and an act claim for the acting client (specification 4.4)' );
shown( $first, { active => true, client_id => 'web', act => undef }, 'the subject token stays as it was' );
my $input = asked();
is_deeply(
    [ @$input{qw(actor act)}, @{ $input->{subject_token} }{qw(type client_id)}, exists $input->{may_act} ],
    [ { type => 'client', id => 'gate' }, { sub => 'gate' }, 'access_token', 'web', '' ],
    'policy hears the actor, the chain and the subject token (policy.md 6.2)' );
is_deeply(
    [ @{ $input->{subject} }{qw(type id idp)}, $input->{subject}{claims}{email} ],
    [ 'user', 'alice', 'corp', 'alice@example.org' ], 'and the user as at a sign-in' );
is( $input->{request}{grant_type}, $urn, 'the grant is its URN' );
is( $input->{request}{flow_id}, $stack->sql('SELECT flow_id FROM token_grant LIMIT 1') =~ s/\n\z//r,
    'the flow is that of the sign-in' );
oauth_ok(
    exchange( \@gate, $first ), { scope => same_words('openid orders.read orders.write') },
    'without scope: those of the subject token' );
oauth_ok( exchange( \@gate, $first, requested_token_type => $at ), {}, 'requested_token_type of an access token' );
oauth_ok( exchange( \@less, $first ), { scope => 'orders.read' }, "the acting client's bindings limit it too" );
oauth_ok( exchange( \@cut,  $first ), { scope => 'orders.read' }, 'so does its registered scope' );
my $machine = own( scope => 'orders.read' );
shown(
    exchanged( \@gate, $machine ), { sub => 'web', client_id => 'gate', act => { sub => 'gate' }, idp => undef },
    'the subject of a token of a client is that client' );
is( asked()->{subject}{type}, 'client', 'and no user' );
shown(
    exchanged( \@gate, exchanged( \@gate, $machine ) ), { act => { sub => 'gate', act => { sub => 'gate' } } },
    'a client may narrow a token of its own' );

# ---- refusals of the request

invalid( exchange( \@gate, $first, $_ => undef ), "$_ is required (RFC 8693 2.1)" )
  for qw(subject_token subject_token_type);
invalid( exchange( \@gate, $first, subject_token_type => $_ ), "subject_token_type $_" )
  for "${type}refresh_token", "${type}jwt", "${type}saml2", 'access_token', "$at ", '';
invalid(
    exchange( \@gate, $first, requested_token_type => $_ ),
    "requested_token_type $_: only access tokens are issued"
) for "${type}refresh_token", "${type}id_token", "${type}jwt", 'access_token';
invalid(
    exchange( \@gate, $first, actor_token => $second, actor_token_type => $at ),
    'actor_token: the client that authenticates is the actor' );
invalid( exchange( \@gate, $first, actor_token_type => $at ), 'actor_token_type alone' );
invalid( exchange( \@gate, [ $first, $second ] ), 'two subject tokens (RFC 6749 3.2)' );
oauth_error(
    $stack->http->post(
        '/token',
        form => [ grant_type => $urn, client_id => 'spa', subject_token => $first, subject_token_type => $at ] ),
    400,
    'unauthorized_client',
    'a public client (oauth.md C14)' );
oauth_error( exchange( \@none, $first ), 400, 'unauthorized_client',         'a client whose binding lacks the grant' );
oauth_error( exchange( [ 'gate', 'wrong' ], $first ), 401, 'invalid_client', 'a wrong secret' );

# ---- refusals of the subject token (RFC 8693 2.2.2)

my $refresh = $user->member('refresh_token');
my $text    = 'The subject token is not valid';

sub bad_subject {
    my ( $token, $name ) = @_;
    my $got = exchange( \@gate, $token );
    invalid( $got, $name );
    return is( $got->member('error_description'), $text, '... with the text of all of them' );
}
bad_subject( 'nonsense',                                                'a text that is no token' );
bad_subject( $refresh,                                                  'a refresh token' );
bad_subject( ( Authz::Grant->token( 'at', time + 600 ) )[0],            'an unknown token' );
bad_subject( substr( $first, 0, -1 ) . ( $first =~ /A\z/ ? 'B' : 'A' ), 'a wrong checksum' );
my $gone = own( scope => 'orders.read' );
$stack->revoke( @web, token => $gone );
bad_subject( $gone, 'a revoked token' );
my $old = own( scope => 'orders.read' );
my $cut = $stack->sql(q{SELECT max(audit_id) FROM access_token}) =~ s/\n\z//r;
$stack->sql("UPDATE access_token SET expires_at = now() - interval '1 second' WHERE audit_id = $cut");
bad_subject( $old, 'an expired token' );
$stack->bind( 'none', { jit_single_use => true } );
my $single = $stack->token_text( @none, scope => 'orders.read' );
bad_subject( $single, 'a single-use token: it is for one introspection' );
$stack->bind( 'none', { jit_single_use => undef } );
bad_subject( $single, '... also when policy would not make it one any more' );

my $held = own( scope => 'orders.read orders.write' );
$stack->bind( 'web', { scopes => ['orders.write'] } );
oauth_ok(
    exchange( \@gate, $held ), { scope => 'orders.write' },
    'what policy has taken from the subject token since is not given back' );
oauth_error( exchange( \@gate, $held, scope => 'orders.read' ), 400, 'invalid_scope', 'nor on request' );
$stack->bind( 'web', { scopes => ['stock.read'] } );
bad_subject( $held, 'a token that policy would show to nobody' );
$stack->bind( 'web', \%all );

# ---- never wider

oauth_error(
    exchange( \@gate, own( scope => 'orders.read' ), scope => $_ ), 400, 'invalid_scope',
    "scope $_: outside ($never)" ) for 'orders.write', 'orders.read orders.write', 'orders.read openid';
oauth_ok( exchange( \@gate, own() ), { scope => '' }, 'a token without scopes gives one without scopes' );
oauth_error( exchange( \@gate, own(), scope => 'orders.read' ), 400, 'invalid_scope', '... and no scope' );

my $named = own( scope => 'orders.read', resource => $orders );
my $read  = own( scope => 'orders.read' );
shown(
    exchanged( \@gate, $named ), { resource => $orders, aud => $orders },
    'without resource: that of the subject token' );
shown( exchanged( \@gate, $named, resource => $orders ), { resource => $orders }, 'the same resource' );
shown(
    exchanged( \@gate, $named, audience => $orders ), { resource => $orders },
    'audience is read as resource (decisions.md "Token exchange")' );
shown( exchanged( \@gate, $named, audience => $orders, resource => $orders ), { resource => $orders }, 'both, alike' );
oauth_error( exchange( \@gate, $named, resource => $stock ), 400, 'invalid_target', "another resource ($never)" );
oauth_error( exchange( \@gate, $named, audience => $stock ), 400, 'invalid_target', 'another audience' );
oauth_error(
    exchange( \@gate, $named, resource_types => 'urn:r:a' ), 400, 'invalid_target',
    'a type of no resource of it' );
shown(
    exchanged( \@gate, $read, resource => $orders ), { resource => $orders },
    'to name a resource where the subject token names none is to narrow it' );
oauth_error(
    exchange( \@gate, exchanged( \@gate, $read, resource => $orders ), resource => $stock ),
    400, 'invalid_target', '... and there is no way back' );
oauth_error( exchange( \@gate, $read, audience => $orders, resource => $stock ), 400, 'invalid_target', 'two targets' );
oauth_error( exchange( \@gate, $read, audience => [ $orders, $stock ] ), 400, 'invalid_target', 'two audiences' );
oauth_error( exchange( \@gate, $read, audience => 'orders' ), 400, 'invalid_target', 'an audience that is no URI' );
oauth_error(
    exchange( \@less, $read, resource => $stock ), 400, 'invalid_target',
    'a resource that the client is not entitled to' );

my $typed = $stack->token_text( @type, scope => 'orders.read', resource_types => 'urn:r:a' );
oauth_ok( exchange( \@type, $typed, resource_types => 'urn:r:a' ), {}, 'the resource type of the subject token' );
oauth_error( exchange( \@type, $typed, resource_types => $_ ), 400, 'invalid_target', "resource_types $_ ($never)" )
  for 'urn:r:b', 'urn:r:a urn:r:b';
oauth_error(
    exchange( \@type, $typed, resource => $orders ), 400, 'invalid_target',
    'a resource beside the types of the subject token' );

my $paying = own( scope => 'orders.read', authorization_details => $json->encode( \@pay ) );
my $unpaid = own( scope => 'orders.read' );
oauth_ok(
    exchange( \@gate, $paying ), { authorization_details => \@pay },
    'without details: those of the subject token' );
my $one = [ { type => 'payment', actions => ['status'] } ];
oauth_ok(
    exchange( \@gate, $paying, authorization_details => $json->encode($one) ), { authorization_details => $one },
    'fewer details' );
for (
    [ [ { type => 'payment', actions => [qw(initiate refund)] } ], 'actions of two entries in one' ],
    [ [ $pay[1], $pay[1] ], 'one entry twice' ], [ [ { type => 'payment' } ], 'an entry without its restriction' ] )
{
    oauth_error(
        exchange( \@gate, $paying, authorization_details => $json->encode( $_->[0] ) ),
        400, 'invalid_authorization_details', "$_->[1] ($never)" );
}
oauth_error(
    exchange( \@gate, $unpaid, authorization_details => $json->encode($one) ),
    400, 'invalid_authorization_details', 'details where the subject token has none' );
oauth_error(
    exchange( \@less, $paying ), 400, 'invalid_authorization_details',
    'a client that is not entitled to the details cannot leave them out' );

# ---- lifetime

$stack->bind( 'web', { ttl => 120 } );
my $short = own( scope => 'orders.read' );
$stack->bind( 'web', { ttl => undef } );
my $left = exchange( \@gate, $short );
oauth_ok(
    $left, { expires_in => sub { $_[0] > 60 && $_[0] <= 120 } },
    'an exchanged token never outlives its subject token (decisions.md "Tokens")' );
is( $stack->sql(
        'SELECT count(*) FROM access_token a JOIN access_token b ON a.expires_at = b.expires_at AND a.client <> b.client'
    ) =~ s/\n\z//r > 0,
    1,
    '... to the second' );

# ---- the chain

my ( $chain, $act ) = ( $first, undef );
$stack->patch_row( $row, { max_depth => 8 } );
for my $depth ( 1 .. 8 ) {
    my $who = $depth % 2 ? \@gate : \@deep;
    $chain = exchanged( $who, $chain );
    $act   = { sub => $who->[0], $act ? ( act => $act ) : () };
}
shown(
    $chain, { sub => 'alice', client_id => 'deep', act => $act },
    'a chain of eight, the last actor first (RFC 8693 4.1)' );
oauth_error( exchange( \@gate, $chain ), 400, 'access_denied', 'there is no ninth, whatever the row says' );
$stack->patch_row( $row, { max_depth => 2 } );
my $two = exchanged( \@deep, $second );
oauth_error( exchange( \@gate, $two ), 400, 'access_denied', 'max_depth of the row: a third actor' );
is( $stack->sql(q{SELECT policy_decision IS NOT NULL FROM audit_log ORDER BY id DESC LIMIT 1}) =~ s/\n\z//r,
    't', '... is a denial by policy' );
$stack->patch_row( $row, { max_depth => 4 } );

# ---- the row

sub entry { return { actor => 'gate', resource_types => [], scopes => ['orders.read'], @_ } }
$stack->patch_row( $row, { allowed => [ entry( subject_client => 'web' ) ] } );
oauth_ok( exchange( \@gate, $first, scope => 'orders.read' ), {}, 'an exchange that the row allows' );
oauth_error( exchange( \@deep, $first, scope => 'orders.read' ),  400, 'access_denied', 'another actor' );
oauth_error( exchange( \@gate, $second, scope => 'orders.read' ), 400, 'access_denied', 'a token of another client' );
oauth_error( exchange( \@gate, $first ),                          400, 'access_denied', 'scopes beyond the entry' );
oauth_error( exchange( \@deep, $first ),                          400, 'access_denied', 'nobody else' );
is( exchange( \@deep, $first )->member('error_description'), 'the client may not act for the subject of this token',
    'the reason actor_not_allowed speaks' );
$stack->patch_row( $row, { allowed => [], require_may_act => true } );
oauth_error( exchange( \@gate, $first ), 400, 'access_denied', 'require_may_act: an access token has no may_act' );
$stack->patch_row( $row, { require_may_act => false } );

# ---- the end of what it stands for

my $family = signed_in( sid => 'sid-2' );
my $dies   = exchanged( \@deep, exchanged( \@gate, $family->member('access_token') ) );
shown( $dies, { active => true }, 'a chain of two on a family' );
$stack->revoke( @web, token => $family->member('refresh_token') );
inactive( $stack->introspect( @rs, $dies ), 'the end of the family ends what was exchanged from it' );
bad_subject( $dies, 'and it cannot be exchanged any more' );
my $lives = signed_in( sid => 'sid-3' );
my $kept  = exchanged( \@gate, $lives->member('access_token') );
$stack->revoke( @web, token => $lives->member('access_token') );
shown(
    $kept, { active => true },
    'the revocation of one access token does not reach those exchanged from it (RFC 8693 2.1)' );
$stack->revoke( @gate, token => $kept );
inactive( $stack->introspect( @rs, $kept ), '... which their own client revokes' );
my $provider = exchanged( \@gate, $first );
$stack->sql('UPDATE identity_provider SET enabled = false');
inactive( $stack->introspect( @rs, $provider ), 'a disabled provider ends it' );
bad_subject( $first, 'and its people have no subject tokens' );
$stack->sql('UPDATE identity_provider SET enabled = true');
shown( $provider, { active => true }, 'an enabled one revives it' );

# ---- DPoP (RFC 9449; decisions.md "Bound subject tokens")

my ( $key, $thief ) = ( Authz::Dpop->new, Authz::Dpop->new );
my $bound = $stack->http->post(
    '/token',
    headers => [ Authz::Client::basic(@web), $key->show( $stack, '/token' ) ],
    form    => [ grant_type => 'client_credentials', scope => 'orders.read' ] )->member('access_token');

sub proved {
    my ( $token, @proof ) = @_;
    return $stack->http->post(
        '/token',
        headers => [ Authz::Client::basic(@gate), @proof ],
        form    => [ grant_type => $urn, subject_token => $token, subject_token_type => $at ] );
}
bad_subject( $bound, 'a token that is bound to a key, without a proof' );
invalid( proved( $bound, $thief->show( $stack, '/token' ) ), '... with a proof of another key' );
invalid( proved( $bound, DPoP => 'x' ),                      '... with a bad proof' );
my $passed = proved( $bound, $key->show( $stack, '/token' ) );
oauth_ok( $passed, { token_type => 'DPoP' }, '... with a proof of its key' );
shown(
    $passed->member('access_token'), { cnf => { jkt => $key->jkt }, act => { sub => 'gate' } },
    'the result has the same key' );
bad_subject( $passed->member('access_token'), '... and cannot lose it by another exchange' );
my $taken = proved( own( scope => 'orders.read' ), $thief->show( $stack, '/token' ) );
shown(
    $taken->member('access_token'), { token_type => 'DPoP', cnf => { jkt => $thief->jkt } },
    'a token without a key may get one: to bind is to narrow' );

# ---- delegations

my @pat = $stack->make_client(
    'owner',
    { grants => ['client_credentials'], scopes => [qw(uma_protection delegation_management)] } );
my $owner = $stack->token_text( @pat, scope => 'uma_protection delegation_management' );
my $thing = $stack->http->post(
    '/resource_registration/resource', headers => [ Authz::Client::bearer($owner) ],
    json => { name => 'thing', resource_scopes => ['view'] } )->member('_id');
my $id    = $stack->sql(q{SELECT id FROM client WHERE client_id = 'gate'}) =~ s/\n\z//r;
my $given = $stack->http->post(
    '/delegation', headers => [ Authz::Client::bearer($owner) ],
    json => { grantee_type => 'client', grantee_client_id => $id, resource_id => $thing, scopes => ['view'] } );
is( $given->status, 201, 'a delegation to the acting client' ) or diag $given->text;
exchanged( \@gate, own( scope => 'orders.read' ) );
is_deeply(
    [ map { $_->{resource_id} } @{ asked()->{delegation} // [] } ], [$thing],
    'policy sees what was delegated to the acting client' );
my $other = $stack->sql(q{SELECT id FROM client WHERE client_id = 'web'}) =~ s/\n\z//r;
$stack->sql(
        'INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_client, resource, scopes, created_at)'
      . " SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $other, 'web', $id, '$thing', '{}', now()"
      . ' FROM generate_series(1, 60) n' );
exchanged( \@gate, own( scope => 'orders.read' ) );
my %seen;
$seen{ $_->{grantor}{client_id} }++ for @{ asked()->{delegation} // [] };
is_deeply( \%seen, { owner => 1, web => 49 }, '... also beside 60 of another owner (policy.md 6.5)' );

# ---- discovery

my $discovery = $stack->http->get('/.well-known/openid-configuration');
ok( ( grep { $_ eq $urn } @{ $discovery->member('grant_types_supported') } ), 'discovery lists the grant' );

inputs_ok($stack);
done_testing;

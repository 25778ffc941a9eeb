# GET /admin/api/tokens and POST /admin/api/tokens/revoke of a person or a client (decisions.md "Tokens over the admin API").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my $path  = '/admin/api/tokens';
my %code  = (
    grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    scopes => [ 'openid', 'orders.read' ], endpoints => ['introspect'] );
my %who = map { ( $_ => [ $stack->make_client( $_, {%code} ) ] ) } qw(web shop);
my @rs  = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
Authz::Grant->people( $stack, subject => $_ ) for qw(alice bob);

sub code_of {
    my ( $client, $subject ) = @_;
    return Authz::Grant->code( $stack, client => $client, subject => $subject );
}

# Sign a person in at a client. Returns {access_token, refresh_token, ...}.
sub sign_in {
    my ( $client, $subject ) = @_;
    my $answer = Authz::Grant->redeem( $stack, $who{$client}, code_of( $client, $subject ) );
    die $answer->text if $answer->status != 200;
    return $answer->json;
}
sub own { my ($client) = @_; return $stack->token_text( @{ $who{$client} }, scope => 'orders.read' ) }

sub page_of { my (%filter) = @_; return $stack->admin( GET => "$path?" . Authz::Client::form(%filter) ) }

sub kinds {
    my (%filter) = @_;
    return join ' ', sort map {"$_->{kind}/$_->{clientId}/$_->{subjectId}"} @{ page_of(%filter)->json->{content} };
}
sub is_live { my ($token) = @_; return $stack->introspect( @rs, $token )->json->{active} ? 1 : 0 }

sub revoke { my (%body) = @_; return $stack->admin( POST => "$path/revoke", json => \%body ) }

sub refreshes {
    my ( $client, $token ) = @_;
    return Authz::Grant->refresh( $stack, $who{$client}, $token )->status == 200 ? 1 : 0;
}

# ---- the list

my %grant = map { ( $_ => sign_in( split m{/}, $_ ) ) } qw(web/alice web/bob shop/alice);
my %own   = map { ( $_ => own($_) ) } qw(web shop);
is( kinds( subjectId => 'alice' ),
    'access/shop/alice access/web/alice refresh/shop/alice refresh/web/alice',
    'the list of a person has her access and refresh tokens, of each client' );
is( kinds( clientId => 'web' ),
    'access/web/alice access/web/bob access/web/web refresh/web/alice refresh/web/bob',
    'the list of a client has those of each person, and its own' );
is( kinds( clientId => 'web', subjectId => 'bob' ), 'access/web/bob refresh/web/bob', 'both filters count' );
is( kinds(), join( ' ', sort split / /, kinds( clientId => 'web' ) . ' ' . kinds( clientId => 'shop' ) ),
    'without a filter the list has all' );
is( kinds( idpId => 'corp' ),
    join( ' ', grep { !m{/(?:web|shop)\z} } split / /, kinds() ),
    'the list of an identity provider has those of its people' );
is( kinds( idpId => 'corp', subjectId => 'bob', clientId => 'web' ),
    'access/web/bob refresh/web/bob', '... with the other filters' );
is( kinds( idpId     => 'other' ),  '', '... and of another provider none' );
is( kinds( subjectId => 'web' ),    '', 'a client is no person' );
is( kinds( subjectId => 'nobody' ), '', 'an unknown person has none' );
is( kinds( clientId  => 'nobody' ), '', '... nor an unknown client' );
my ($own_row) = grep { $_->{subjectId} eq 'shop' } @{ page_of( clientId => 'shop' )->json->{content} };
is_deeply(
    [ sort keys %$own_row ],
    [qw(clientId expiresAt issuedAt kind scope subjectId tokenId)],
    'a row has the facts of a token' );
is( $own_row->{scope}, 'orders.read', '... its scope' );
is( $own_row->{tokenId},
    $stack->admin( POST => "$path/introspect", json => { token => $own{shop} } )->json->{tokenId},
    '... and its id, as everywhere' );
my $text = page_of( clientId => 'web' )->text . page_of( subjectId => 'alice' )->text;
is( ( scalar grep { index( $text, $_ ) >= 0 } values %own, map { @$_{qw(access_token refresh_token)} } values %grant ),
    0, 'no token is in the list' );

# ---- pages

my ( @seen, $last );
for my $number ( 0 .. 4 ) {
    my $page = page_of( clientId => 'web', size => 1, page => $number )->json;
    push @seen, map { $_->{tokenId} } @{ $page->{content} };
    $last .= $page->{last} ? 'y' : 'n';
}
is( $last, 'nnnny', 'five pages of one token each, of which the last says so' );
is_deeply(
    \@seen,
    [ reverse sort @seen ],
    'pages follow each other, the newest token first' );
my %ids = map { ( $_ => 1 ) } @seen;
is( scalar keys %ids, 5, '... and repeat none' );
is_deeply( page_of( clientId => 'web', page => 5, size => 1 )->json->{content}, [], 'a page behind the end is empty' );
for my $bad (
    [ 'size 0',    subjectId => 'alice', size => 0 ],
    [ 'size 201',  subjectId => 'alice', size => 201 ],
    [ 'page -1',   subjectId => 'alice', page => -1 ],
    [ 'no number', subjectId => 'alice', page => 'x' ],
    [ 'a page behind token 2,000', subjectId => 'alice', page => 11, size => 200 ] )
{
    my ( $name, %query ) = @$bad;
    is( page_of(%query)->status, 400, "the list refuses $name" );
}
is( page_of( subjectId => 'alice', size => 200, page => 10 )->status,      200, 'a page at token 2,000 is read' );
is( $stack->admin( GET => "$path?subjectId=alice", key => undef )->status, 401, 'without an admin key it is 401' );

# ---- only live ones

my $gone = sign_in( 'web', 'bob' );
revoke( token => $gone->{access_token} );
is( kinds( clientId => 'web', subjectId => 'bob' ),
    'access/web/bob refresh/web/bob refresh/web/bob',
    'a revoked access token is not listed' );
revoke( token => $gone->{refresh_token} );
is( kinds( clientId => 'web', subjectId => 'bob' ), 'access/web/bob refresh/web/bob', '... nor a revoked family' );
my $waiting = code_of( 'web', 'bob' );
is( kinds( clientId => 'web', subjectId => 'bob' ), 'access/web/bob refresh/web/bob', 'a code is not listed' );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'shop'});
is( kinds( clientId => 'shop' ), '', 'tokens of a disabled client are not live' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'shop'});
$stack->sql(q{UPDATE identity_provider SET enabled = false});
is( kinds( clientId => 'web' ), 'access/web/web', '... nor those of people of a disabled provider' );
$stack->sql(q{UPDATE identity_provider SET enabled = true});

# ---- a person's

my $unused = code_of( 'web', 'alice' );
is( revoke( subjectId => 'alice' )->status, 200, 'all tokens of a person are revoked' );
for my $client (qw(web shop)) {
    my $grant = $grant{"$client/alice"};
    is( is_live( $grant->{access_token} ),             0, "... her access token of $client at once" );
    is( refreshes( $client, $grant->{refresh_token} ), 0, '... her refresh token' );
}
is( Authz::Grant->redeem( $stack, $who{web}, $unused )->status, 400, '... and a code that was not redeemed' );
is( kinds( subjectId => 'alice' ),                              '',  '... and the list is empty' );
is( $stack->admin( POST => "$path/introspect", json => { token => $grant{'web/alice'}{access_token} } )->json->{reason},
    'revoked', 'an introspection by the operator says why' );
is( is_live( $grant{'web/bob'}{access_token} ), 1, "another person's token lives" );
is( is_live( $own{web} ),                       1, "... and a client's own" );
my $later = sign_in( 'web', 'alice' );
is( is_live( $later->{access_token} ),           1, 'a token of a later sign-in lives' );
is( refreshes( 'web', $later->{refresh_token} ), 1, '... and is refreshed' );
is( is_live( Authz::Grant->refresh( $stack, $who{web}, $later->{refresh_token} )->json->{access_token} ),
    1, '... to one that lives' );

# ---- a client's

is( revoke( clientId => 'web' )->status, 200, 'all tokens of a client are revoked' );
is( is_live( $own{web} ),                0,   '... its own' );
for my $grant ( $grant{'web/bob'}, $later ) {
    is( is_live( $grant->{access_token} ),           0, '... the access token of each person' );
    is( refreshes( 'web', $grant->{refresh_token} ), 0, '... and the refresh token' );
}
is( Authz::Grant->redeem( $stack, $who{web}, $waiting )->status, 400, '... and a code that was not redeemed' );
is( kinds( clientId => 'web' ),                                  '',  '... and the list is empty' );
is( is_live( $own{shop} ),                                       1,   "another client's token lives" );
is( is_live( own('web') ),                                       1,   'a token that is issued right after lives' );
is( is_live( sign_in( 'web', 'bob' )->{access_token} ),          1,   "... and a person's" );

# A token of one client can be bound to the family of another (RFC 8693): it dies with each of them.
my $family = sign_in( 'web', 'bob' );
revoke( clientId => 'shop' );
my $bound = own('shop');
$stack->sql(
    sprintf
      q{UPDATE access_token SET subject = 'bob', grant_id = (SELECT grant_id FROM access_token WHERE id = '%s') WHERE id = '%s'},
    map { $stack->admin( POST => "$path/introspect", json => { token => $_ } )->json->{tokenId} }
      $family->{access_token},
    $bound );
is( is_live($bound),             1, 'a token of a revoked client that came later lives, although its family is older' );
is( kinds( clientId => 'shop' ), 'access/shop/bob', '... and is listed' );
revoke( clientId => 'web' );
is( is_live($bound),             0,  '... until the client of its family is revoked' );
is( kinds( clientId => 'shop' ), '', '... and is not listed any more' );

# The mark is a number and no time: two tokens of one millisecond are on both sides of it.
my @token = map { own('shop') } 1 .. 2;
$stack->sql(
    q{UPDATE client SET revoked_before = (SELECT max(audit_id) FROM access_token t WHERE t.client = client.id) WHERE client_id = 'shop'}
);
$stack->sql(q{UPDATE access_token SET issued_at = (SELECT max(issued_at) FROM access_token)});
is( join( ' ', map { is_live($_) } @token ), '0 1', 'a token of the same millisecond that came after lives' );

# ---- what is refused, and the audit row

is( revoke( subjectId => 'nobody' )->status, 404, 'an unknown person is 404' );
is( revoke( clientId  => 'nobody' )->status, 404, 'an unknown client is 404' );
is( revoke( subjectId => 'web' )->status,    404, 'a client is no person' );
for my $bad (
    [], [ subjectId => 'bob', clientId => 'web' ],
    [ token     => $own{shop}, subjectId => 'bob' ],
    [ subjectId => '' ],
    [ subjectId => 'x' x 513 ],
    [ clientId  => 'x' x 257 ],
    [ clientId  => 1 ],
    [ client    => 'web' ] )
{
    is( revoke(@$bad)->status, 400, 'refused: ' . join ' ', map { substr $_, 0, 20 } @$bad );
}
is( revoke( subjectId => 'x' x 512 )->status, 404, 'a name of 512 characters is read' );
is( $stack->admin( POST => "$path/revoke", json => { clientId => 'shop' }, key => undef )->status,
    401, 'without an admin key it is 401' );
is( is_live( $token[1] ), 1, '... and nothing is revoked' );
is( $stack->sql(
        q{SELECT string_agg(concat_ws(' ', a.client_id, a.outcome, a.http_status, a.subject_id, a.request_summary::json ->> 'revokedSubject', a.request_summary::json ->> 'revokedClient'), '; ' ORDER BY a.id)
          FROM audit_log a WHERE operation = 'revokeTokenByOperator' AND outcome = 'allowed' AND NOT request_summary ~ 'tokenId'}
    ),
    'SVC_ADMIN_API_KEY allowed 200 alice alice; '
      . join( '; ', map {"SVC_ADMIN_API_KEY allowed 200 $_"} qw(web shop web) ),
    'each revocation has an audit row with the key, and whose tokens they were' );
is( $stack->sql(q{SELECT count(*) FROM audit_log a JOIN client c ON c.revoked_before = a.id WHERE c.client_id = 'web'}),
    1,
    'the mark of the client is the id of that row' );

done_testing;

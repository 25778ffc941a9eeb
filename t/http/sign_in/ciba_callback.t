# POST /bc-authorize/callback: a person's answer, told by the identity provider (gateway-admin.md 4.2, channel A; decisions.md
# "CIBA callback"): whose word counts, once, and for whom.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Ciba   ();
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my @till  = $stack->make_client( 'till', { grants => [$Authz::Ciba::GRANT], scopes => ['openid'] } );
Authz::Grant->people($stack);
my $peer = Authz::Ciba::told( $stack, 'corp' );

sub begin    { return Authz::Ciba::id_of( $stack, \@till, login_hint => 'alice', scope => 'openid', @_ ) }
sub inform   { my (@arguments) = @_; return Authz::Ciba::inform( $stack, $peer, @arguments ) }
sub poll     { my ($id)        = @_; return Authz::Ciba::poll( $stack, \@till, $id ) }
sub state_of { return $stack->sql('SELECT state FROM ciba_request ORDER BY created_at DESC LIMIT 1') }

# The newest audit row of the callback. That of a failure is written after the answer.
sub audited {
    my ( $want, $name ) = @_;
    my $have;
    Authz::Process::until_true(
        10,
        sub {
            $have = $stack->sql(
                q{SELECT client_id, subject_id, outcome, http_status FROM audit_log WHERE operation = 'bcAuthorizeCallback' ORDER BY id DESC LIMIT 1}
            ) =~ tr/\t/ /r;
            return $have eq $want;
        } );
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $have, $want, $name );
}

# ---- the words

for my $case (
    [ 'SUCCEED',      'approved', q{Keycloak's} ],
    [ 'UNAUTHORIZED', 'denied',   q{Keycloak's} ],
    [ 'CANCELLED',    'denied',   q{Keycloak's} ],
    [ 'approved',     'approved', 'ours' ],
    [ 'denied',       'denied',   'ours' ],
  )
{
    my ( $word, $state, $whose ) = @$case;
    my $id     = begin();
    my $answer = inform( { status => $word } );
    is( $answer->status . $answer->body,  '200',      "$word ($whose): 200 with an empty body" );
    is( $answer->header('Cache-Control'), 'no-store', '... that no cache keeps' );
    is( state_of(),                       $state,     "... and the request is $state" );
    audited( 'till alice allowed 200', '... and the audit row names client and person' );
    $state eq 'approved'
      ? oauth_ok( poll($id), { access_token => qr/\Aat_/ }, '... as the client learns' )
      : oauth_error( poll($id), 400, 'access_denied', '... as the client learns' );
}

# ---- the bearer

my $id   = begin();
my $good = Authz::Ciba::bearer($peer);
my $jwt  = $good =~ s/\ABearer //r;
for my $case (
    [ 'Bearer',                                 'an empty one' ],
    [ 'Bearer x',                               'garbage' ],
    [ "Bearer ${jwt}x",                         'one with a character more' ],
    [ 'Bearer ' . substr( $jwt, 1 ),            'one with a character less' ],
    [ "Basic $jwt",                             'another scheme' ],
    [ 'Bearer ' . ( $jwt =~ s/[.][^.]*\z/./r ), 'one without its signature' ],
    [ "Bearer $id",                             'the auth_req_id' ],
    [ ( Authz::Client::basic(@till) )[1],       q{the client's credentials} ],
  )
{
    my $refused = inform( { status => 'approved' }, $case->[0] );
    oauth_error( $refused, 401, 'invalid_token', "the bearer is $case->[1]: 401 (decisions.md \"CIBA callback\")" );
    like( $refused->header('WWW-Authenticate'), qr/\ABearer error="invalid_token"\z/, '... with a challenge' );
}
oauth_error(
    $stack->http->post( '/bc-authorize/callback', json => { status => 'approved' } ), 401, 'invalid_token',
    'no bearer: 401' );
is( state_of(), 'pending', 'none of them answers the request' );

# ---- the body

for my $case (
    [ {},                                                                'no status' ],
    [ { status => 'SUCCESS' },                                           'an unknown word' ],
    [ { status => 'APPROVED' },                                          'a word in another case' ],
    [ { status => true },                                                'a status that is no text' ],
    [ { status => 'approved', sub => 'alice', auth_time => time + 120 }, 'an auth_time in the future' ],
    [ { status => 'approved', auth_time => -1 },                         'an auth_time before 1970' ],
    [ { status => 'approved', auth_time => 'now' },                      'an auth_time that is no number' ],
    [ { status => 'approved', acr => 'x' x 513 },                        'an acr of 513 characters' ],
    [ { status => 'approved', sub => ['alice'] },                        'a sub that is no text' ],
  )
{
    oauth_error( inform( $case->[0] ), 400, 'invalid_request', "a body with $case->[1]: invalid_request" );
}
for my $raw ( '', '{', '[]', '"approved"', 'null' ) {
    my $answer = $stack->http->post(
        '/bc-authorize/callback',
        headers => [ Authorization => $good, 'Content-Type' => 'application/json' ], body => $raw );
    oauth_error( $answer, 400, 'invalid_request', "the body '$raw': invalid_request" );
}
oauth_error(
    $stack->http->post(
        '/bc-authorize/callback', headers => [ Authorization => $good ], form => [ status => 'approved' ] ),
    415,
    'invalid_request',
    'a form: 415' );
is( state_of(), 'pending', 'none of them answers the request' );

# ---- the person

oauth_error(
    inform( { status => 'approved', sub => 'bob' } ), 403, 'access_denied',
    q{another person's approval: 403} );
audited( 'till alice rejected 403', '... and an audit row' );
oauth_error( inform( { status => 'denied', sub => 'bob' } ), 403, 'access_denied', q{... and another person's denial} );
is( state_of(), 'pending', '... and the request waits on' );

# ---- once

is( inform( { status => 'approved', sub => 'alice', acr => 'x' x 512, auth_time => time, more => 1 } )->status,
    200, 'the right person, with everything; unknown members are ignored' );
for my $again ( 'approved', 'denied' ) {
    oauth_error(
        inform( { status => $again } ), 403, 'access_denied',
        "$again after the answer: 403 (decisions.md \"CIBA callback\")" );
}
is( state_of(), 'approved', '... and nothing changes' );
oauth_ok( poll($id), {}, 'the client collects its tokens' );
oauth_error( inform( { status => 'denied' } ), 403, 'access_denied', 'an answer after that: 403' );

begin();
my $octets = $stack->http->octets(
    'POST', '/bc-authorize/callback', headers => [ Authorization => Authz::Ciba::bearer($peer) ],
    json => { status => 'approved' }, close => 1 );
my %count;
$count{ $_->failure // $_->status }++ for Authz::Client::together( map { [ $stack->client, $octets ] } 1 .. 32 );
is( join( ', ', map {"$_: $count{$_}"} sort keys %count ), '200: 1, 403: 31',
    '32 answers at once: one counts, and no 5xx' );

for my $case (
    [ q{UPDATE ciba_request SET expires_at = now() WHERE state = 'pending'}, undef, 'expired' ],
    [   'UPDATE identity_provider SET enabled = false', 'UPDATE identity_provider SET enabled = true',
        'whose provider is disabled' ],
    [ 'UPDATE client SET enabled = false', 'UPDATE client SET enabled = true', 'whose client is disabled' ],
  )
{
    begin();
    $stack->sql( $case->[0] );
    oauth_error( inform( { status => 'approved' } ), 403, 'access_denied', "a request $case->[2]: 403" );
    $stack->sql( $case->[1] ) if $case->[1];
    is( state_of(), 'pending', '... and it is not approved' );
}
is( $stack->sql(
        q{SELECT count(*) FROM token_grant g LEFT JOIN ciba_request q ON q.id = g.id WHERE coalesce(q.state, '') <> 'approved'}
    ),
    '0',
    'only an approval makes a family' );
done_testing;

# Token exchange with an ID token of another issuer (specification 4.4 and 7.1; RFC 8693; oauth.md 3.3; decisions.md "ID
# tokens as subject tokens", "Subject identifiers").
use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Inputs;
use Authz::Stack ();

my $corp     = Authz::Idp->start;
my $stranger = Authz::Idp->start;
my $partner  = Authz::Idp->start;
my $stack    = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $urn      = 'urn:ietf:params:oauth:grant-type:token-exchange';
my $type     = 'urn:ietf:params:oauth:token-type:';
my $trust    = 'svc.operator.controls.trust';
my $issuer   = $corp->issuer;
my %exchange = ( grants => [$urn], scopes => [qw(openid orders.read)] );
my @rs       = $stack->make_client( 'rs',   { endpoints => ['introspect'] } );
my @gate     = $stack->make_client( 'gate', {%exchange} );
my @deep     = $stack->make_client( 'deep', {%exchange} );
my @cut      = $stack->make_client( 'cut',  {%exchange}, scope => 'orders.read' );

sub trust { return $stack->patch_row( $trust, { trusted_issuers => [@_] } ) }
sub sql   { return $stack->sql( $_[0] ) =~ s{\n\z}{}r =~ tr/\t/|/r }
sub count { my ( $idp, $what ) = @_; return scalar( my @all = $idp->seen($what) ) }

sub claims {
    my (%more) = @_;
    my %all = ( iss => $issuer, sub => 'ann', aud => 'app', exp => time + 600, iat => int time, name => 'ann', %more );
    delete @all{ grep { !defined $all{$_} } keys %all };
    return \%all;
}
sub token { my ( $claims, %how ) = @_; return $corp->id_token( $claims, %how ) }

sub exchange {
    my ( $token, %more ) = @_;
    my $who  = delete $more{who} // \@gate;
    my %form = (
        grant_type => $urn, subject_token => $token, subject_token_type => "${type}id_token", scope => 'orders.read',
        %more );
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@$who) ],
        form => [ map { ( $_ => $form{$_} ) } grep { defined $form{$_} } sort keys %form ] );
}
sub exchanged { my $answer = exchange(@_); return $answer->member('access_token') // die 'no token: ' . $answer->text }
sub shown { my ( $token, $members, $name ) = @_; return oauth_ok( $stack->introspect( @rs, $token ), $members, $name ) }

sub refused {
    my ( $answer, $text, $name ) = @_;
    oauth_error( $answer, 400, 'invalid_grant', $name );
    return is( $answer->member('error_description'), $text, "... $text" );
}

sub asked {
    return decode_packed(
        sql(q{SELECT policy_input FROM audit_log WHERE endpoint = '/token' AND policy_input IS NOT NULL ORDER BY id DESC LIMIT 1}
        ) );
}

my $untrusted = 'Subject token issuer is not trusted';
my $unsigned  = 'Subject token signature verification failed';
my $expired   = 'Subject token expired';
my $unchecked = 'Unable to verify subject token issuer';
my $malformed = 'Subject token is malformed';

# ---- the issuer is judged before anything is fetched (specification 4.4)

refused( exchange( token( claims() ) ), $untrusted, 'an issuer that is not in trusted_issuers' );
trust($issuer);
my $watch = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 8 ) or die "no port: $!";
my $quiet = 'http://127.0.0.1:' . $watch->sockport;
refused( exchange( token( claims( iss => $_->[0] ) ) ), $untrusted, $_->[1] )
  for [ $quiet, 'another issuer' ], [ "$issuer/", 'an issuer with a slash more' ],
  [ $stranger->issuer, 'one of another port' ],
  [ $stack->base,      'this service itself' ];
refused(
    exchange( token( claims( iss => $quiet ), header => { jku => "$quiet/jwks", x5u => "$quiet/x" } ) ),
    $untrusted, 'jku and x5u in the header are not followed' );
refused( exchange( token( claims( iss => $quiet, exp => time - 60 ) ) ), $untrusted, 'trust is judged before exp' );
$stack->patch_row( $trust, { statement_issuers => [$quiet] } );
refused(
    exchange( token( claims( iss => $quiet ) ) ), $untrusted,
    'an issuer of software statements is none of ID tokens' );
$stack->patch_row( $trust, { statement_issuers => [] } );
$watch->blocking(0);
ok( !$watch->accept, 'no connection was made to an issuer that is not trusted' );
is( count( $stranger, 'discovery' ) + count( $stranger, 'jwks' ), 0, 'nor to the other one' );
is( count( $corp,     'discovery' ) + count( $corp,     'jwks' ), 0, 'nor to the trusted one so far' );

# ---- what needs no keys is judged before they are fetched

refused( exchange( token( claims( iss => undef ) ) ), 'Subject token missing iss claim', 'no iss' );
refused( exchange( token( claims( sub => undef ) ) ), 'Subject token missing sub claim', 'no sub' );
refused(
    exchange( token( claims( iss => undef, sub => undef ) ) ), 'Subject token missing iss claim',
    'neither: iss is first' );
refused(
    exchange( token( claims( iss => $quiet, sub => undef ) ) ), 'Subject token missing sub claim',
    'sub comes before trust' );
refused( exchange( token( claims( sub => '' ) ) ),       'Subject token missing sub claim', 'an empty sub' );
refused( exchange( token( claims( exp => time - 1 ) ) ), $expired,                          'exp in the past' );
refused( exchange( token( claims( exp => time ) ) ),     $expired,                          'exp now' );
refused( exchange( token( claims( exp => time - 1 ), tamper => 1 ) ), $expired, 'exp is judged before the signature' );
refused( exchange( token( claims( exp     => undef ) ) ),      'Subject token missing exp claim', 'no exp' );
refused( exchange( token( claims( nbf     => time + 300 ) ) ), 'Subject token is not valid yet',  'nbf in the future' );
refused( exchange( token( claims( iat     => time + 300 ) ) ), 'Subject token is not valid yet',  'iat in the future' );
refused( exchange( token( claims( $_->[0] => $_->[1] ) ) ),    $malformed,                        "$_->[2]" )
  for [ iss => 5, 'iss is a number' ], [ sub => ['ann'], 'sub is a list' ], [ exp => 'soon', 'exp is a text' ],
  [ aud => 5, 'aud is a number' ];
refused( exchange($_), $malformed, 'not a JWT' ) for 'x', 'a.b.c', '..', 'e30.e30.', "at_x";
refused(
    exchange( token( claims(), header => { typ => $_ } ) ), 'Subject token is not an ID token',
    "typ $_ (RFC 8725 3.11)" ) for qw(at+jwt logout+jwt dpop+jwt software-statement+jwt);
refused(
    exchange( token( claims( typ => $_ ) ) ), 'Subject token is not an ID token',
    "a claim typ $_: an access token" ) for qw(Bearer Refresh);
refused( exchange( token( claims( events => {} ) ) ), 'Subject token is not an ID token', 'a logout token' );
refused( exchange( token( claims(), alg => 'HS256' ) ), $unsigned,  'alg HS256 (oauth.md J3)' );
refused( exchange( token( claims(), alg => 'none' ) ),  $malformed, 'alg none' );
is( count( $corp, 'discovery' ) + count( $corp, 'jwks' ), 0, 'and nothing was fetched for any of them' );

# ---- keys

$corp->misbehave( discovery => { status => 500 } );
refused( exchange( token( claims() ) ), $unchecked, 'discovery fails' );
$corp->behave;
sleep 6;    # a host that failed is left alone for 5 s
my $good = token(
    claims( email => 'ann@example.org', groups => ['ops'], acr => 'high', amr => ['pwd'], auth_time => time - 30 ) );
my $first = exchange($good);
oauth_ok(
    $first,
    {   access_token  => qr/\Aat_/, issued_token_type => "${type}access_token", token_type => 'Bearer',
        scope         => 'orders.read',
        refresh_token => undef, id_token => undef,
        expires_in    => sub { $_[0] > 500 && $_[0] <= 600 } },
    'a good one; the result ends with the ID token' );
is( count( $corp, 'discovery' ) . count( $corp, 'jwks' ), '21', 'its keys were found by discovery' );
oauth_ok( exchange( token( claims(), alg    => $_ ) ),               {}, "signed with $_" ) for qw(ES256 PS256);
oauth_ok( exchange( token( claims(), header => { typ => undef } ) ), {}, 'without typ' );
oauth_ok( exchange( token( claims( typ => 'ID' ) ) ), {}, 'with the claim typ ID' );
is( count( $corp, 'jwks' ), 1, 'the keys are kept' );
refused( exchange( token( claims(), tamper   => 1 ) ),                   $unsigned,  'a wrong signature' );
refused( exchange( token( claims(), stranger => 1 ) ),                   $unsigned,  'a signature by another key' );
refused( exchange( token( claims(), header   => { crit => ['exp'] } ) ), $malformed, 'crit in the header' );
refused( exchange( $good =~ s/\.[^.]*\z/./r ), $malformed, 'no signature' );
{
    my ( $head, $body, $mark ) = split /\./, $good;
    my $other = ( split /\./, token( claims( sub => 'bob' ) ) )[1];
    refused( exchange("$head.$other.$mark"), $unsigned, 'the signature of another token' );
}
refused( exchange( $partner->id_token( claims() ) ), $unsigned, 'another issuer signs in this one\'s name' )
  if $partner->rotate;

# ---- the person

my $input = asked();
oauth_ok( exchange($good), {}, 'an ID token may be exchanged again' );
$input = asked();
is_deeply(
    [ @{ $input->{subject} }{qw(type iss acr amr)}, $input->{subject}{claims} ],
    [ 'user', $issuer, 'high', ['pwd'], { name => 'ann', email => 'ann@example.org', groups => ['ops'] } ],
    'policy hears the user, with the claims that are none of the protocol' );
is_deeply(
    $input->{subject_token}, { type => 'id_token', claims => { iss => $issuer, sub => 'ann', aud => 'app' } },
    'and the token: it has neither client nor scopes' );
my $token = $first->member('access_token');
shown(
    $token, { active => true, sub => 'ann', client_id => 'gate', act => { sub => 'gate' }, idp => undef },
    'without a provider the first trusted issuer is the home issuer: its subjects keep their sub' );
is( sql('SELECT issuer FROM home_issuer'), $issuer, 'which is stored' );
is( sql('SELECT count(*) FROM subject'),   1,       'one person, one row' );
trust( $issuer, $partner->issuer );
sub of_partner { return $partner->id_token( claims( iss => $partner->issuer, @_ ) ) }
my $foreign = exchanged( of_partner() );
shown(
    $foreign, { sub => ( $partner->issuer =~ s{http://}{}r ) . '|ann' },
    'the same sub of another issuer is another person' );
$stack->make_client('dora');
my $dora = exchanged( token( claims( sub => 'dora' ) ) );
shown( $dora, { sub => qr/\A[A-Za-z0-9_-]{43}\z/ }, 'a sub that is the name of a client gives a hash' );
my @web = $stack->make_client(
    'web', { grants => [qw(authorization_code)], scopes => [qw(openid orders.read)] },
    redirectUris => [$Authz::Grant::REDIRECT] );
$corp->register($stack);
my $signed = $corp->sign_in( $stack, \@web, 'ann', 'openid orders.read' );
shown( $signed->member('access_token'), { sub => 'ann', idp => 'corp' }, 'a sign-in of the person gives the same sub' );
$corp->sign_in( $stack, \@web, 'carl', 'openid' );
shown(
    exchanged( token( claims( sub => 'carl', name => 'carla' ) ) ), { sub => 'carl', idp => 'corp' },
    'so does an exchange after a sign-in' );
is( sql(q{SELECT claims->>'name' FROM subject WHERE subject = 'carl'}), 'carl',
    '... which leaves the claims of the sign-in' );

# ---- a token may have less than a sign-in (world.md U2, U5)

sub sign_in {
    my (%user) = @_;
    $corp->user( {%user} );
    my $browser = Authz::Browser->new;
    my $back    = $Authz::Grant::REDIRECT;
    $browser->follow(
        $stack->base . '/authorize?' . Authz::Client::form(
            response_type => 'code', client_id => 'web', redirect_uri => $back, scope => 'openid',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256' ),
        stop => qr{\A\Q$back\E} );
    return { Authz::Browser::query( $browser->url ) };
}

sub lacks {
    my ( $answer, $names, $name ) = @_;
    oauth_error( $answer, 400, 'invalid_grant', $name );
    return is_deeply( asked()->{subject}{claims_incomplete}, $names, '... which policy hears' );
}
ok( sign_in( sub => 'eve', name => 'ann', userinfo => { groups => ['c-42'] } )->{code}, 'a group of userinfo' );
lacks( exchange( token( claims( sub => 'eve' ) ) ), ['groups'], 'a token without it must not shed the group' );
oauth_ok( exchange( token( claims( sub => 'eve', groups => 'c-42' ) ) ), {}, '... one with it is whole' );
is_deeply( asked()->{subject}{claims}{groups}, ['c-42'], '... and a text is a list of one (U4)' );
lacks(
    exchange( token( claims( sub => 'dora' ) ) ), ['*'],
    'a person who was stored by an exchange before userinfo was joined first, and never signed in' );
lacks(
    exchange( token( claims( sub => 'new' ) ) ), ['*'],
    'a person who never signed in, at a provider whose userinfo was joined' );
lacks( exchange( token( claims( sub => 'new' ) ) ), ['*'], '... is so at the second token, too' );
ok( sign_in( sub => 'new', name => 'ann' )->{code}, '... until a sign-in' );
oauth_ok( exchange( token( claims( sub => 'new' ) ) ), {}, '... after which the token is whole' );
$corp->misbehave( userinfo => { status => 401, body => '{}' } );
is( sign_in( sub => 'new', name => 'ann' )->{error}, 'access_denied', 'a sign-in without userinfo' );
lacks( exchange( token( claims( sub => 'new' ) ) ), ['*'], '... whose mark a token carries' );
$corp->behave;
oauth_ok( exchange( of_partner( sub => 'pat', groups => ['a'] ) ), {}, 'an issuer that is no provider: a token' );
oauth_ok( exchange( of_partner( sub => 'pat' ) ),                  {}, '... is whole, as nobody signs in there' );

# ---- what the client asks for

oauth_ok( exchange( $good, scope => undef ), { scope => '' }, 'no scope, none registered: none' );
oauth_ok(
    exchange( $good, scope => undef, who => \@cut ), { scope => 'orders.read' },
    'the registered scope is the default' );
oauth_ok(
    exchange( $good, scope => 'openid orders.read admin' ), { scope => same_words('openid orders.read') },
    'the ceiling is the client\'s own bindings (decisions.md "Token exchange")' );
oauth_error( exchange( $good, scope => 'admin' ), 400, 'invalid_scope', 'a scope that it is not entitled to' );
oauth_error(
    exchange( $good, resource => 'https://api.example' ), 400, 'invalid_target',
    'a resource that it is not entitled to' );

# ---- audiences, act and may_act

trust( { issuer => $issuer, audiences => [qw(us them)] } );
oauth_ok( exchange( token( claims( aud => $_->[0] ) ) ), {}, $_->[1] )
  for [ 'us', 'a listed audience' ], [ ['them'], 'one in a list' ];
oauth_ok( exchange( token( claims( aud => [qw(them app)], azp => 'them' ) ) ), {}, 'one of two, with azp' );
refused(
    exchange( token( claims( aud => $_->[0], azp => $_->[2] ) ) ), 'Subject token audience is not accepted',
    $_->[1] ) for [ 'app', 'an audience that is not listed' ], [ undef, 'no audience' ], [ [], 'an empty list' ],
  [ [qw(them app)], 'one of two without azp' ], [ [qw(them app)], 'one of two with a foreign azp', 'app' ];
trust( { issuer => $issuer, audiences => [] } );
refused( exchange($good), 'Subject token audience is not accepted', 'an empty list in the row accepts nothing' );
trust( { issuer => $issuer, jwks_uri => "$issuer/jwks" } );
my $found = count( $corp, 'discovery' );
oauth_ok( exchange($good), {}, 'jwks_uri of the entry' );
is( count( $corp, 'discovery' ), $found, '... needs no discovery' );

sub with { return token( claims(@_) ) }
oauth_ok( exchange( with( may_act => { sub => 'gate' } ) ), {}, 'may_act names the client (RFC 8693 4.4)' );
oauth_error( exchange( with( may_act => $_->[0] ) ), 400, 'access_denied', "may_act $_->[1]" )
  for [ { sub => 'deep' }, 'names another' ], [ {}, 'names nobody' ], [ 'gate', 'is a text' ], [ [], 'is a list' ],
  [ { sub => 'gate', iss => $issuer }, 'names a party of that issuer' ];
shown(
    exchanged( with( act => { sub => 'deep' } ) ),
    { act => { sub => 'gate', act => { sub => 'deep', iss => $issuer } } },
    'a previous actor is one of that issuer, and never a client of ours' );
refused( exchange( with( act => $_->[0] ) ), $malformed, "act $_->[1]" )
  for [ 'deep', 'is a text' ], [ {}, 'without sub' ], [ { sub => 5 }, 'with a sub that is a number' ],
  [ { sub => 'a', act => [] }, 'with an act that is a list' ];
my $many = { sub => 'a' };
$many = { sub => 'a', act => $many } for 1 .. 7;
oauth_error( exchange( with( act => $many ) ), 400, 'access_denied', 'a chain that would be longer than eight' );

# ---- the end

my $next = $stack->http->post(
    '/token', headers => [ Authz::Client::basic(@deep) ],
    form => [ grant_type => $urn, subject_token => exchanged($good), subject_token_type => "${type}access_token" ] );
oauth_ok( $next, {}, 'an exchanged token can be exchanged' );
is( asked()->{subject_token}{claims}{iss}, $issuer, 'policy still hears the issuer that the chain began with' );
my $second = $next->member('access_token');
shown( $second, { sub => 'ann', act => { sub => 'deep', act => { sub => 'gate' } } }, '... and says who acts' );
my $provider = sql(q{SELECT id FROM identity_provider WHERE idp_id = 'corp'});
$stack->sql("UPDATE identity_provider SET enabled = false WHERE id = $provider");
inactive( $stack->introspect( @rs, $second ), 'a disabled provider ends what was exchanged for its ID tokens' );
refused( exchange($good), $untrusted, 'and its ID tokens are not exchanged (oauth.md 5)' );
$stack->sql("UPDATE identity_provider SET enabled = true WHERE id = $provider");
shown( $second, { active => true }, 'an enabled one revives them' );
oauth_ok( exchange($good), {}, 'and its ID tokens are exchanged again' );
my $third  = exchanged($good);
my $listed = $stack->admin( GET => '/admin/api/tokens?subjectId=ann' )->json->{content};
ok( ( grep { $_->{subjectId} eq 'ann' && $_->{clientId} eq 'gate' } @$listed ), 'the list of her tokens has it' );
is( $stack->admin( POST => '/admin/api/tokens/revoke', json => { subjectId => 'ann' } )->status, 200,
    'all tokens of a person are revoked' );
inactive(
    $stack->introspect( @rs, $third ),
    '... those that were exchanged for ID tokens too (decisions.md "Tokens of a person or a client")' );
shown( $second = exchanged($good), { sub => 'ann' }, '... and later ones live' );
trust( $partner->issuer );
oauth_ok(
    $stack->introspect( @rs, $second ),
    {   active => false, inactive_reason => 'policy_denied',
        reason => 'the issuer of the exchanged token is not trusted' },
    'a token ends with the trust in the issuer that its chain began with' );

inputs_ok($stack);
done_testing;

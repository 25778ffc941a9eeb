# What is kept of what a provider says about a person, and who reads it: policy, /userinfo, the console and CIBA see one value
# (world.md U3, U4, U5, U7).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $json  = JSON::PP->new->utf8->canonical;
my $idp   = Authz::Idp->start;
my $row   = $idp->register($stack);
my $app   = [
    $stack->make_client(
        'app', { grants => ['authorization_code'], scopes => [qw(openid profile email)] },
        redirectUris => [$Authz::Grant::REDIRECT] ) ];

# Sign a person in who is described so, and return what the client gets at its redirect_uri.
sub sign_in {
    my ($user)  = @_;
    my $back    = $Authz::Grant::REDIRECT;
    my $browser = Authz::Browser->new;
    $idp->user($user);
    $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $back, scope => 'openid profile email',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
            idp_hint       => 'corp' ),
        stop => qr{\A\Q$back\E} );
    return Authz::Browser::query( $browser->url );
}

# /userinfo of the person who has just signed in.
sub userinfo {
    my ($user) = @_;
    my %back   = sign_in($user);
    my $tokens = Authz::Grant->redeem( $stack, $app, $back{code} // die 'no code' );
    return userinfo_of( $tokens->member('access_token') );
}

sub userinfo_of {
    my ($token) = @_;
    return $stack->http->get( '/userinfo', headers => [ Authorization => "Bearer $token" ] )->json;
}

sub stored {
    my ($sub) = @_;
    return $json->decode( $stack->sql("SELECT claims FROM subject WHERE upstream_sub = '$sub'") );
}

is_deeply( $row->{listClaims}, [qw(groups roles)], 'U4: a new provider has listClaims groups and roles' );

# ---- pairs (B08)

my $got = userinfo(
    {   sub => 'ceo', email => 'lead@corp.example',
        userinfo => { email => 'ann@other.example', email_verified => JSON::PP::true() } } );
is( $got->{email},          'ann@other.example', 'ceo_address_other_proof: the pair of one answer (U3)' );
is( $got->{email_verified}, JSON::PP::true(),    '... with its proof' );

sub told_of {
    my ($claim) = @_;
    return scalar grep { /different addresses/ && /"$claim"/ } $stack->{service}->log_lines;
}
my $told = told_of('email');
ok( $told, 'two different addresses are a line in the log (U3)' );
userinfo( { sub => 'ceo', email => 'lead@corp.example', userinfo => { email => 'lead@corp.example' } } );
is( told_of('email'), $told, '... and the same address twice is none' );

# ---- types (B12, N6)

for my $said ( 'true', 'True', 'TRUE' ) {
    $got = userinfo( { sub => 'bob', email => 'bob@corp.example', email_verified => $said } );
    ok( JSON::PP::is_bool( $got->{email_verified} ) && $got->{email_verified}, "the text $said is the boolean (U4)" );
}
$got = userinfo( { sub => 'bob', email => 'bob@corp.example', email_verified => 'yes' } );
ok( !exists $got->{email_verified}, 'the text yes proves nothing and is dropped' );
is( $got->{email}, 'bob@corp.example', '... and the address stays' );
sign_in( { sub => 'one', groups => 'c-42' } );
is_deeply( stored('one')->{groups}, ['c-42'], 'one_group_is_list: a text for groups is a list of one (U4)' );

# ---- rows from before

my %back  = sign_in( { sub => 'old', email => 'old@corp.example', email_verified => JSON::PP::true() } );
my $token = Authz::Grant->redeem( $stack, $app, $back{code} )->member('access_token');
for my $row ( [ 'true', 1 ], [ 'True', 1 ], [ 'no', undef ] ) {
    $stack->sql(
        qq{UPDATE subject SET claims = '{"email":"old\@corp.example","email_verified":"$row->[0]"}' WHERE upstream_sub = 'old'}
    );
    $got = userinfo_of($token);
    is( defined $got->{email_verified} ? $got->{email_verified} + 0 : undef, $row->[1],
        "stored_text: a stored text $row->[0] is read with its type (U4)" );
    ok( !defined $got->{email_verified} || JSON::PP::is_bool( $got->{email_verified} ), '... as a boolean' );
}

# ---- listClaims of the row

my %own = ( name => 'Corp', issuer => $idp->issuer, clientId => 'authz' );
my $put = sub {
    my (%more) = @_;
    return $stack->admin( PUT => '/admin/api/identity-providers/corp', json => { %own, %more } );
};
is_deeply( $put->( listClaims => [] )->json->{listClaims} // [], [], 'listClaims can be empty' );
sign_in( { sub => 'one', groups => 'c-42' } );
is( stored('one')->{groups}, 'c-42', '... and a text stays a text' );
is_deeply( $put->()->json->{listClaims} // [], [], 'a PUT without the member keeps it' );
$put->( listClaims => ['teams'] );
sign_in( { sub => 'one', groups => 'c-42', teams => 'a' } );
is_deeply( stored('one'), { groups => 'c-42', teams => ['a'] }, 'the claims that the row names' );

for my $bad ( [ 'groups', '' ], [ ('x') x 65 ], 'groups', [7], [ 'x' x 129 ] ) {
    is( $put->( listClaims => $bad )->status, 400, 'refused: listClaims ' . substr $json->encode( { v => $bad } ), 0,
        40 );
}
$stack->sql(q{UPDATE identity_provider SET list_claims = NULL});
is( $stack->admin( GET => '/admin/api/identity-providers/corp' )->json->{listClaims}, undef,
    'a row from before has none' );
sign_in( { sub => 'one', groups => 'c-42' } );
is( stored('one')->{groups}, 'c-42', 'old_row_keeps_text: its people keep the text (U4)' );

# ---- incomplete claims (B09, U5, U7)

$put->( listClaims => ['groups'] );
my @groups = map { sprintf '%08x-0000-4000-8000-%012x', $_, $_ } 1 .. 600;
%back = sign_in( { sub => 'many', userinfo => { groups => [ @groups, 'c-42' ] } } );
is( $back{error}, 'access_denied', '600_groups_deny_denies: the shipped policy denies incomplete claims (U7)' );
is_deeply( stored('many')->{'urn:svc:claims_incomplete'}, ['groups'], '... which are named (U5)' );
my $elsewhere = {
    sub            => 'far', _claim_names => { groups => 's' },
    _claim_sources => { s => { endpoint => $idp->issuer . '/graph', access_token => 'secret' } } };
%back = sign_in($elsewhere);
is( $back{error}, 'access_denied', 'overage: groups that are elsewhere are incomplete' );
unlike( $json->encode( stored('far') ), qr/secret|graph/, 'source_never_asked: not even kept' );
%back = sign_in( { %$elsewhere, userinfo => { groups => ['a'], _claim_names => undef } } );
ok( defined $back{code}, 'overage_met_by_userinfo: the other answer has the claim plainly' )
  or diag( explain( \%back ) );
%back = sign_in( { sub => 'has', hasgroups => JSON::PP::true() } );
is( $back{error}, 'access_denied', 'hasgroups' );
for my $case (
    [ { hasgroups    => 'true' },     'hasgroups as a text' ],
    [ { hasgroups    => 1 },          'hasgroups as a number' ],
    [ { _claim_names => ['groups'] }, '_claim_names as a list' ],
    [ { _claim_names => 'groups' },   '_claim_names as a text' ] )
{
    %back = sign_in( { sub => 'odd', %{ $case->[0] } } );
    is( $back{error}, 'access_denied', "refused when unsure: $case->[1]" );
}
for my $case ( [ { hasgroups => JSON::PP::false() }, 'hasgroups false' ], [ { hasgroups => undef }, 'hasgroups null' ] )
{
    %back = sign_in( { sub => 'even', %{ $case->[0] } } );
    ok( defined $back{code}, "complete: $case->[1]" );
}
%back = sign_in( { sub => 'kyc', kyc_verified => 'failed', age_verified => 0, address_verified => 'TRUE' } );
is_deeply(
    stored('kyc'),
    { kyc_verified => 'failed', age_verified => 0, address_verified => JSON::PP::true() },
    'a claim that proves no address stays as it was sent, so that a deny by its value holds (U4)' );

# A row that allows.
my $app_token = do {
    $stack->patch_row( 'svc.operator.controls.claims', { incomplete => 'allow' } );
    my %back = sign_in( { sub => 'many', userinfo => { groups => [ @groups, 'c-42' ] } } );
    ok( defined $back{code}, 'allow_row: the row decides it' ) or diag( explain( \%back ) );
    Authz::Grant->redeem( $stack, $app, $back{code} )->member('access_token');
};
is( userinfo_of($app_token)->{sub}, 'many', '... at issue and in evaluation 2' );

# Cedar sees them as well.
my $cedar =
    'forbid (principal is User, action, resource) when { principal has claims_incomplete && '
  . 'principal.claims_incomplete.containsAny(["groups", "*"]) };';
my $rule = $stack->admin(
    PUT  => '/admin/api/policy-rules/by-path',
    json => {
        path => 'custom/claims.cedar', kind => 'cedar', content => $cedar, version => '1', enabled => JSON::PP::true() }
);
like( $rule->status, qr/\A20[01]\z/, 'a Cedar rule about claims_incomplete' ) or diag( $rule->text );
%back = sign_in( { sub => 'many', userinfo => { groups => [ @groups, 'c-42' ] } } );
is( $back{error}, 'access_denied', '... denies a person whose groups are not all there (U5)' );
%back = sign_in( { sub => 'bob', groups => ['a'] } );
ok( defined $back{code}, '... and nobody else' ) or diag( explain( \%back ) );
is( $stack->http->get( '/userinfo', headers => [ Authorization => "Bearer $app_token" ] )->status,
    401, '... in evaluation 2, too' );
$stack->admin( DELETE => '/admin/api/policy-rules/' . $rule->json->{id} );
$stack->patch_row( 'svc.operator.controls.claims', { incomplete => 'deny' } );
is( $stack->http->get( '/userinfo', headers => [ Authorization => "Bearer $app_token" ] )->status,
    401, 'evaluation 2 denies such a token as soon as the row does' );
$stack->patch_row( 'svc.operator.controls.claims', { except => ['app'] } );
is( $stack->http->get( '/userinfo', headers => [ Authorization => "Bearer $app_token" ] )->status,
    200, '... but for the clients of except' );

# ---- claims of the row (U6)

$stack->patch_row( 'svc.operator.controls.claims', { incomplete => 'deny', except => [] } );

# Sign in where the page names what is missing; return its text.
sub page_of {
    my ($user) = @_;
    my $browser = Authz::Browser->new;
    $idp->user($user);
    my @hop = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type  => 'code', client_id => 'app', redirect_uri => $Authz::Grant::REDIRECT, scope => 'openid',
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256',
            idp_hint       => 'corp' ),
        stop => qr{\A\Q$Authz::Grant::REDIRECT\E} );
    return $hop[-1];
}

sub names {
    my ( $user, $claim, $name ) = @_;
    my $page = page_of($user);
    is( $page->status, 502, "$name: 502 (U6, W1)" ) or diag( $page->text );
    like(
        $page->body, qr{<code>claims_incomplete</code> <code><bdi>\Q$claim\E</bdi></code>},
        "... which names $claim" );
    return unlike( $page->body, qr{Try again}, '... never "try again"' );
}
is_deeply(
    $put->( claims => [qw(email email_verified groups)] )->json->{claims},
    [qw(email email_verified groups)], 'U6: claims of the row' );
%back = sign_in(
    {   sub => 'min', name => 'Min', email => 'min@corp.example', email_verified => JSON::PP::true(), groups => 'a',
        userinfo => { department => 'x' } } );
ok( defined $back{code}, 'a sign-in with more claims' ) or diag( explain( \%back ) );
is_deeply(
    stored('min'), { email => 'min@corp.example', email_verified => JSON::PP::true(), groups => ['a'] },
    '... keeps those alone (data minimization)' );
%back = sign_in( { sub => 'min', groups => ['a'], userinfo => { department => 'x' x 20_000, roles => [@groups] } } );
ok( defined $back{code}, 'unlisted_never_incomplete: too large' );
%back = sign_in( { sub => 'min', groups => ['a'], _claim_names => { roles => 's', pets => 't' } } );
ok( defined $back{code}, 'unlisted_never_incomplete: elsewhere' );
is_deeply( stored('min'), { groups => ['a'] }, '... and not marked' );
names( { sub => 'min', userinfo     => { groups => [@groups] } }, 'groups', 'listed_too_large_page' );
names( { sub => 'min', _claim_names => { groups => 's' } },       'groups', 'listed elsewhere' );
names( { sub => 'min', hasgroups    => JSON::PP::true() },        'groups', 'hasgroups' );
names( { sub => 'min', _claim_names => 'odd' },                   'email',  '_claim_names that does not say which' );
$idp->misbehave( userinfo => { status => 401, body => '{}' } );
names(
    { sub => 'min', email => 'a@corp.example', email_verified => JSON::PP::true() },
    'groups', 'listed_absent_under_star: userinfo is lost' );
%back = sign_in( { sub => 'min', email => 'a@corp.example', email_verified => JSON::PP::true(), groups => ['a'] } );
ok( defined $back{code}, '... and with all of them in the ID token the sign-in goes on' );
is( stored('min')->{'urn:svc:claims_incomplete'}, undef, '... without a mark' );
$idp->behave;
my ($fault) =
  grep { $_->{code} eq 'claims_incomplete' }
  @{ $stack->admin( GET => '/admin/api/identity-providers/corp' )->json->{faults} };
ok( $fault, 'the operator learns of it (W3)' );
is_deeply( $put->( claims => [] )->json->{claims}, [], 'claims may be none' );
%back = sign_in( { sub => 'min', name => 'Min', groups => 'a', hasgroups => JSON::PP::true() } );
is_deeply( stored('min'), {}, '... and none is kept' );
is( $put->()->json->{claims}, undef, 'without the member all are kept' );
is( $put->( claims => [ map {"c$_"} 1 .. 64 ] )->status, 200, '64 names' );
is( $put->( claims => $_->[0] )->status,                 400, "refused: $_->[1]" )
  for [ [ map {"c$_"} 1 .. 65 ], '65 names' ], [ [ 'x' x 129 ], 'a name of 129 characters' ], [ [''], 'an empty name' ],
  [ 'groups', 'a text' ];
$put->();

# ---- no console role of an incomplete claim (U7)

$stack->patch_row( 'svc.operator.controls.claims', { incomplete => 'allow' } );
$stack->admin(
    POST => '/admin/api/policy-bundle/deploy',
    json => {
        data => [
            {   dataKey => 'svc.operator.controls.console',
                payload => { people => [ { idp => 'corp', claim => 'groups', values => ['sec'], role => 'operator' } ] }
            } ] } );

sub console {
    my ($user) = @_;
    $idp->user($user);
    my @hop = Authz::Browser->new->follow( "$base/admin/session/start?idp=corp", stop => qr{/portal/\z} );
    return $hop[-1]->status;
}
my %op = ( sub => 'op', name => 'Op', groups => ['sec'], userinfo => { groups => undef } );
is( console( \%op ), 302, 'a console role by a group' );
is( console( { %op, hasgroups => JSON::PP::true() } ),
    403, 'console_role_incomplete: no role comes of a claim that is not all there (U7)' );
is_deeply(
    stored('op'),
    { name => 'Op', groups => ['sec'], hasgroups => JSON::PP::true(), 'urn:svc:claims_incomplete' => ['groups'] },
    '... whatever of it is there' );

done_testing;

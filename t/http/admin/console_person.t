# Sign-in of a person to the console: roles by the row svc.operator.controls.console, the session, and what ends it
# (gateway-admin.md 3.9).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Idp   ();
use Authz::Stack ();

my $stack   = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp     = Authz::Idp->start;
my $other   = Authz::Idp->start;
my $row     = 'svc.operator.controls.console';
my @console = ( 'X-Authz-Console' => 1, 'Sec-Fetch-Site' => 'same-origin' );
$idp->register( $stack, idpId => 'corp' );
my $start = $stack->base . '/admin/session/start';

sub entry {
    my ( $role, $claim, @values ) = @_;
    return { idp => 'corp', claim => $claim, values => \@values, role => $role };
}

sub grant {
    my (@people) = @_;
    my $answer = $stack->admin(
        POST => '/admin/api/policy-bundle/deploy',
        json => { data => [ { dataKey => $row, payload => { people => \@people } } ] } );
    die $answer->text if $answer->status != 200;
    return;
}

# A browser after the sign-in, and the last answer.
sub sign_in {
    my ( $browser, $user, $query, %option ) = @_;
    $_->user($user) for $idp, $other;
    my @hop = $browser->follow( $start . ( $query // '?idp=corp' ), stop => qr{/portal/\z}, %option );
    return $hop[-1];
}

# A request of the console in a browser.
sub with {
    my ( $browser, $method, $target, %option ) = @_;
    return $browser->request(
        $method, $stack->base . $target, %option,
        headers => [ Accept => 'application/json', @console, @{ $option{headers} // [] } ] );
}

sub page_says {
    my ( $answer, $status, $text, $name ) = @_;
    return ok( $answer->status == $status && $answer->body =~ $text, $name ) || diag( $answer->text );
}
sub sessions { return $stack->sql('SELECT count(*) FROM admin_session') }
my %ann = ( sub => 'ann', name => 'Ann', email => 'ann@example.org', groups => [ 'staff', 'sec' ] );
my $ann = Authz::Browser->new;

# ---- nobody may, as shipped

is( $stack->sql("SELECT payload::jsonb ->> 'people' FROM policy_data WHERE data_key = '$row'"),
    '[]', 'the shipped row gives no person a role' );
page_says( sign_in( $ann, \%ann ), 403, qr/no role in the console/, 'a person without a role: 403, a page' );
is( sessions(), 0, '... and no session' );
is( $stack->sql(
        q{SELECT subject_id || ' ' || outcome FROM audit_log WHERE operation = 'startConsoleSession' AND http_status = 403}
    ),
    'ann rejected',
    '... and an audit row that names the person' );
for my $case (
    [ 'another provider',                              { %{ entry( 'owner', 'groups', 'sec' ) }, idp => 'other' } ],
    [ 'another claim',                                 entry( 'owner', 'roles',  'sec' ) ],
    [ 'another value',                                 entry( 'owner', 'groups', 'secs', 'SEC', 'se', 'staff,sec' ) ],
    [ 'an address that the provider has not verified', entry( 'owner', 'email',  'ann@example.org' ) ],
    [ 'the sub, which is no claim that is kept',       entry( 'owner', 'sub',    'ann' ) ] )
{
    grant( $case->[1] );
    page_says( sign_in( $ann, \%ann ), 403, qr/no role in the console/, "no role by $case->[0]" );
}
is( sessions(), 0, '... and no session' );

# ---- the role of the row

grant(
    entry( 'auditor', 'groups', 'staff' ), entry( 'operator', 'groups', 'x', 'sec' ),
    entry( 'auditor', 'name',   'Ann' ) );
my $in = sign_in( $ann, \%ann );
is( $in->status,             302,                       'a person with a role: signed in' ) or diag( $in->text );
is( $in->header('Location'), $stack->base . '/portal/', '... and sent to the console of this service' );
my ($cookie) = grep {/\Aauthz_console=/} $in->headers('Set-Cookie');
like(
    $cookie, qr{\Aauthz_console=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict\z},
    '... with a cookie of 256 bits, HttpOnly and SameSite=Strict' );
members_are(
    with( $ann, GET => '/admin/session' )->json,
    {   keyId => undef, subjectId => 'ann', label => 'ann', role => 'operator',
        map { ( $_ => qr/\A\d{4}-.*Z\z/ ) } qw(createdAt idleUntil expiresAt) },
    'the session tells the person and the highest role of the entries that fit' );
is( with(
        $ann, POST => '/admin/api/clients', json => { clientId => 'one', clientType => 'public' },
        headers => [ 'X-Request-ID' => 'made-1' ] )->status,
    201,
    'an operator writes' );
is( $stack->sql(
        q{SELECT coalesce(client_id, '-') || ' ' || subject_id || ' ' || (request_summary::json -> 'actor')::text FROM audit_log WHERE request_id = 'made-1'}
    ),
    '- ann {"person":"ann","role":"operator"}',
    'the audit row of a write names the person and the role'
) or diag( $stack->sql(q{SELECT request_summary FROM audit_log WHERE request_id = 'made-1'}) );
admin_error(
    with( $ann, POST => '/admin/api/admin-keys', json => { label => 'x' } ),
    403, 'an operator makes no admin key', error => 'role_required' );

# ---- an operator does not become an owner

my %grab = ( people => [ entry( 'owner', 'groups', 'sec' ) ] );
my $data = "/admin/api/policy-data/by-key?dataKey=$row";
admin_error(
    with( $ann, @$_ ), 403, "an operator does not change the row of roles: $$_[0] $$_[1]",
    error => 'role_required' ) for [ PUT => $data, json => { payload => JSON::PP::encode_json( \%grab ) } ],
  [ POST => '/admin/api/policy-bundle/deploy', json => { data => [ { dataKey => $row, payload => \%grab } ] } ];
my $first = $stack->sql(q{SELECT min(id) FROM bundle});
admin_error(
    with( $ann, POST => "/admin/api/bundle-audit/$first/rollback" ),
    403, '... nor by going back to an earlier bundle', error => 'role_required' );
is( with(
        $ann, POST => '/admin/api/policy-bundle/deploy',
        json => { data => [ { dataKey => 'example.limits', payload => { n => 1 } } ] } )->status,
    200,
    '... but saves other rows' );
my %corp = ( name => 'Corp', issuer => $other->issuer, clientId => 'authz', enabled => JSON::PP::true() );
admin_error(
    with( $ann, PUT => '/admin/api/identity-providers/corp', json => \%corp ),
    403, 'an operator does not change a provider whose people have roles', error => 'role_required' );
admin_error(
    with( $ann, DELETE => '/admin/api/identity-providers/corp' ),
    403, '... nor deletes it, which would sign out its owners', error => 'role_required' );
is( with(
        $ann, POST => '/admin/api/identity-providers',
        json => { %corp, idpId => 'second', clientSecret => 'up-s3cr3t:+%&' } )->status,
    201,
    '... but others' );

# ---- guards of policy name people (gateway-admin.md 3.9)

my $changes = '/admin/api/policy-data/by-key?dataKey=svc.operator.controls.changes';
is( $stack->admin( PATCH => $changes, json => { overrides => ['person:ann'] } )->status,
    200, 'the list of those who may override guards takes a person' );
my $ben = Authz::Browser->new;
sign_in( $ben, { %ann, sub => 'ben' } );
my $loose = "$changes&impactOverride=CHG-7";
admin_error(
    with( $ben, PATCH => $loose, json => { overrides => undef } ),
    422, 'another person changes nothing of it', error => 'impact_refused' );
is( with( $ann, PATCH => $loose, json => { overrides => undef } )->status, 200, '... and this one does' );
is( $stack->admin( GET => '/admin/api/bundle-audit/latest' )->json->{overrideBy},
    'person:ann', '... which the history keeps' );
with( $ben, DELETE => '/admin/session' );

# ---- other pages and fixation

my %cross = ( headers => [ 'Sec-Fetch-Site' => 'cross-site' ] );
page_says(
    Authz::Browser->new->get( "$start?idp=corp", %cross ), 403, qr/Another site/,
    'another site cannot begin a sign-in' );
page_says(
    $ann->get( "$start?signed_in=1", %cross ), 400, qr/used already/,
    '... nor a session of who is signed in at the provider, by the address of the way back' );
my $before  = $ann->cookie( $stack->base, 'authz_console' )->{value};
my $planted = Authz::Browser->new;
$planted->set_cookie( $stack->base, 'authz_console=' . 'A' x 43 . '; Path=/; SameSite=Strict' );
sign_in( $planted, \%ann );
isnt(
    $planted->cookie( $stack->base, 'authz_console' )->{value}, 'A' x 43,
    'fixation: a sign-in never keeps a cookie that the browser had' );
is( with( $planted, GET => '/admin/session' )->status, 200, '... and the new one is a session' );
sign_in( $ann, \%ann );
isnt( $ann->cookie( $stack->base, 'authz_console' )->{value}, $before, 'fixation: a second sign-in has a new cookie' );
admin_error(
    $ann->request(
        POST => $stack->base . '/admin/api/clients', json => { clientId => 'csrf', clientType => 'public' } ),
    403,
    'other pages: a write without the header of the console is 403',
    error => 'foreign_page' );
my $open = sign_in( Authz::Browser->new, \%ann, '?idp=corp&redirect_uri=https://evil.example/&back=//evil.example' );
is( $open->header('Location'), $stack->base . '/portal/', 'no parameter changes where the browser goes' );

# ---- more rights begin only from the sign-in that was begun for them (gateway-admin.md 3.9)

my $sid = 'svc_sid';

# A browser with nothing but a copy of a cookie, as whoever stole it has one.
sub thief_of {
    my ($browser) = @_;
    my $thief = Authz::Browser->new;
    $thief->set_cookie( $stack->base, "$sid=" . $browser->cookie( $stack->base, $sid )->{value} . '; Path=/' );
    return $thief;
}

# A browser that has been at the provider for the console, and the address of its way back.
sub at_the_way_back {
    my ($browser) = @_;
    $idp->user( \%ann );
    my @hop = $browser->follow( "$start?idp=corp", stop => qr{/admin/session/start} );
    return $hop[-1]->header('Location');
}
my $many   = sessions();
my $plain  = Authz::Browser->new;
my $refuse = sub {
    my ( $browser, $name, $address ) = @_;
    page_says( $browser->get( $address // "$start?signed_in=1" ), 400, qr/Open the console and sign in again/, $name );
    return is( sessions(), $many, '... and no session of the console begins' );
};
$refuse->( $plain, 'a browser without a session' );
$idp->user( \%ann );
$plain->follow( $stack->base . '/account?idp_hint=corp' );
$stack->sql(
    q{UPDATE browser_session SET created_at = created_at - interval '6 hours', auth_time = auth_time - interval '6 hours' WHERE created_at > now() - interval '1 minute'}
);
$refuse->( $plain, 'a session of a sign-in for a page of ours, hours old' );
my $thief = thief_of($plain);
my $begun = $thief->get("$start?idp=corp");
like( $begun->header('Location'), qr/\A\Q$idp->{issuer}\E/, 'a copy of its cookie: the provider is asked' );
$refuse->( $thief, '... and who does not go there has nothing but the old session' );
my ($mark) = map {/\Aauthz_console_start=([\w-]+)/} $begun->headers('Set-Cookie');
is( $mark, undef, '... and no cookie that says that the provider was asked' );
$refuse->( $plain, 'a session that is new, of a sign-in for a page of ours' )
  if $stack->sql(q{UPDATE browser_session SET created_at = now() RETURNING 1});

my $one  = Authz::Browser->new;
my $back = at_the_way_back($one);
like( $back, qr{\A\Q$start\E\?signed_in=1\z}, 'the way back has nothing that a caller could make up' );
$refuse->( $plain, 'another session of the person, at the way back of a sign-in that waits', $back );
is( $one->get($back)->header('Location'), $stack->base . '/portal/', '... which is good in its own browser' );
is( sessions(),                           ++$many,                   '... for one session' );
$refuse->( $one,           'the way back again, with all cookies',         $back );
$refuse->( thief_of($one), '... and with the cookie of the sign-in alone', $back );
$back = at_the_way_back($one);
$stack->sql('DELETE FROM browser_session WHERE for_console');
$many = sessions();
$refuse->( $one, 'a sign-in that has ended since', $back );

for my $case ( [ 55, 302 ], [ 60, 400 ] ) {
    my $slow = Authz::Browser->new;
    $back = at_the_way_back($slow);
    $stack->sql("UPDATE browser_session SET created_at = now() - interval '$case->[0] seconds' WHERE for_console");
    is( $slow->get($back)->status, $case->[1], "the way back $case->[0] s after the sign-in: $case->[1]" );
}
$stack->sql('UPDATE browser_session SET for_console = false');

# ---- the provider that was asked for

my $chooser = Authz::Browser->new->get($start);
page_says( $chooser, 200, qr/idp_hint=corp/, 'without idp, the person chooses a provider' );
my ($link) = map {s/&amp;/&/gr} $chooser->body =~ /href="([^"]*idp_hint=corp[^"]*)"/;
my $chosen = Authz::Browser->new;
$chosen->get($start);
($link) = map {s/&amp;/&/gr} $chosen->get($start)->body =~ /href="([^"]*idp_hint=corp[^"]*)"/;
$idp->user( \%ann );
is( ( $chosen->follow( $link, stop => qr{/portal/\z} ) )[-1]->header('Location'), $stack->base . '/portal/',
    '... and is signed in there' );
page_says(
    sign_in( Authz::Browser->new, \%ann, '?idp=second' ), 403, qr/no role/,
    'the same claims of another provider give no role' );
is( with( $ann, DELETE => '/admin/api/identity-providers/second' )->status,
    204, 'an operator deletes a provider whose people have no roles' );

# ---- ends

is( with( $ann, GET => '/admin/session' )->status, 200, '(the session lives)' );
grant( entry( 'auditor', 'groups', 'sec' ) );
is( with( $ann, GET => '/admin/session' )->status, 401,
    'a row that gives another role ends the session at the next request' );
grant( entry( 'owner', 'groups', 'sec' ) );
is( with( $ann, GET => '/admin/session' )->status, 401, '... also a higher one' );
grant();
is( with( $ann, GET => '/admin/session' )->status, 401, '... and so does one that gives none' );
grant( entry( 'operator', 'groups', 'sec' ) );
is( with( $ann, GET => '/admin/session' )->status, 200, '(the role is what it was)' );

for my $case (
    [   'the idle time of the session', 'admin_session', q{last_seen_at = now() - interval '30 minutes'},
        'last_seen_at = now()' ],
    [ 'its 8 hours', 'admin_session', q{created_at = now() - interval '8 hours'}, 'created_at = now()' ],
    [   'the end of the sign-in', 'browser_session', 'expires_at = now()', q{expires_at = now() + interval '30 minutes'}
    ],
    [   'the greatest age of the sign-in (SVC_SESSION_MAX_AGE)', 'browser_session',
        q{created_at = now() - interval '12 hours'},             'created_at = now()' ],
    [ 'a provider that was disabled', 'identity_provider', 'enabled = false', 'enabled = true' ],
    [   'a person whose groups have changed', 'subject', q{claims = '{"groups":["staff"]}'},
        q{claims = '{"groups":["sec"]}'} ],
    [ 'claims that are of another provider', 'subject', q{idp_id = 'second'}, q{idp_id = 'corp'} ] )
{
    my ( $name, $table, $set, $back ) = @$case;
    $stack->sql("UPDATE $table SET $set");
    admin_error( with( $ann, GET => '/admin/session' ), 401, "the session ends with $name", error => 'unauthorized' );
    $stack->sql("UPDATE $table SET $back");
}
is( with( $ann, GET => '/admin/session' )->status, 200, '(the session lives)' );
$stack->sql(q{UPDATE admin_session SET last_seen_at = now() - interval '5 minutes'});
$stack->sql(q{UPDATE browser_session SET expires_at = now() + interval '1 minute'});
with( $ann, GET => '/admin/session' );
cmp_ok(
    $stack->sql(q{SELECT count(*) FROM browser_session WHERE expires_at > now() + interval '20 minutes'}),
    '>', 0, 'a request of the console is a use of the sign-in' );
my $sids = $stack->sql(q{SELECT string_agg(sid, ' ') FROM browser_session WHERE subject = 'ann'});
$stack->admin( DELETE => "/admin/api/sessions/$_" ) for split / /, $sids;
is( with( $ann, GET => '/admin/session' )->status, 401, 'a sign-in that an administrator ends ends the session' );
is( sessions(),                                    0,   '... and removes it' );
sign_in( $ann, \%ann );
my $out = with( $ann, DELETE => '/admin/session' );
is( $out->status,                                  204, 'sign-out: 204' );
is( with( $ann, GET => '/admin/session' )->status, 401, 'sign-out: the session has ended' );

# ---- the verified address; SVC_ADMIN_ENABLED=false

grant( entry( 'owner', 'email', 'ann@example.org' ) );
my $owner = Authz::Browser->new;
is( sign_in( $owner, { %ann, email_verified => JSON::PP::true() } )->status, 302,
    'an address that the provider has verified counts' );
is( with( $owner, GET => '/admin/session' )->json->{role}, 'owner', '... and an owner is one' );
is( with( $owner, PUT => '/admin/api/identity-providers/corp', json => { %corp, issuer => $idp->issuer } )->status,
    200, 'an owner changes a provider whose people have roles' );
my $off = Authz::Stack->start( beside => $stack, settings => { SVC_ADMIN_ENABLED => 'false' } );
page_says(
    Authz::Browser->new->get( $off->base . '/admin/session/start?idp=corp' ),
    404, qr/switched off/, 'SVC_ADMIN_ENABLED=false: a page says so' );
done_testing;

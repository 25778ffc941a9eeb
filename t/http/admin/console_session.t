# Roles of admin keys, and the sessions of the console (gateway-admin.md 3.9).
use strict;
use warnings;

use Digest::SHA ();
use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack   = Authz::Stack->start;
my $key     = $Authz::Stack::KEY{SVC_ADMIN_API_KEY};
my $keys    = '/admin/api/admin-keys';
my @console = ( 'X-Authz-Console' => 1, 'Sec-Fetch-Site' => 'same-origin' );

# ---- keys with a role

my ( %key, %id );
for my $role (qw(auditor operator owner)) {
    my $made = $stack->admin( POST => $keys, json => { label => "key of $role", role => $role } );
    is( $made->status, 201, "roles: an owner makes a key for $role" ) or diag( $made->text );
    members_are(
        $made->json,
        {   id        => qr/\A[0-9a-f-]{36}\z/, label => "key of $role",      role      => $role, managedBy  => 'admin',
            createdAt => qr/\A\d{4}-/, createdBy      => 'SVC_ADMIN_API_KEY', expiresAt => undef, lastUsedAt => undef,
            revokedAt => undef,        key            => qr/\Aak_/ },
        'roles: ... the view names the role and who made it' );
    ( $key{$role}, $id{$role} ) = map { $made->member($_) } qw(key id);
}
admin_error(
    $stack->admin( POST => $keys, json => { label => 'x', @$_ } ),
    400, "roles: $$_[0] $$_[1] is 400", fields => [ $$_[0] ] )
  for [ role => 'root' ], [ role => '' ], [ role => 'Owner' ], [ expiresAt => 'soon' ],
  [ expiresAt => '2001-01-01T00:00:00Z' ];
is( $stack->sql(q{SELECT role || coalesce(expires_at::text, '') FROM admin_key WHERE managed_by = 'environment'}),
    'owner', 'roles: the configured key is an owner (specification 5.1)' );
my ( $status, $text ) =
  $stack->authzctl(qw(admin-key mint --label cli --role auditor --expires-at 2099-01-31T12:00:00Z --json));
is( $status, 0, 'authzctl admin-key mint --role: exit status 0' ) or diag($text);
is( $stack->sql(
        q{SELECT role || ' ' || created_by || ' ' || extract(year FROM expires_at) FROM admin_key WHERE label = 'cli'}),
    'auditor authzctl 2099',
    'authzctl admin-key mint --role: the key has the role and the end' );
( $status, $text ) = $stack->authzctl(qw(admin-key mint --label cli2 --role root));
isnt( $status, 0, 'authzctl admin-key mint --role: another word is refused' );
like( $text, qr/role/, 'authzctl admin-key mint --role: ... and the message names the option' );

# ---- an auditor against every method of the table, an operator against keys

my $document = $stack->http->get('/openapi.json')->json;
my %least    = ( auditor => 1, operator => 2, owner => 3 );
my @unfit;
for my $path ( sort grep { m{\A/admin/} && $_ ne '/admin/session/start' } keys %{ $document->{paths} } ) {
    for my $method ( sort keys %{ $document->{paths}{$path} } ) {
        my $least  = $document->{paths}{$path}{$method}{'x-least-role'} // 'none';
        my $target = $path =~ s/\{\w+\}/none/gr;
        for my $role (qw(auditor operator)) {
            my $may = $least{$role} >= ( $least{$least} // 9 );
            next if $may && $method ne 'get';
            my $answer =
              $stack->admin( uc $method => $target, key => $key{$role}, $method eq 'get' ? () : ( json => {} ) );
            my $refused = $answer->status == 403 && ( $answer->member('error') // '' ) eq 'role_required';
            push @unfit, "$role: $method $path is " . $answer->status if $refused == $may;
        }
    }
}
is_deeply(
    \@unfit, [],
    'roles: each row refuses keys of a lower role, and no GET refuses an auditor but that of a plaintext' );
my $refusal =
  $stack->admin( DELETE => '/admin/api/clients/none', key => $key{auditor}, headers => [ 'X-Request-ID' => 'deny-1' ] );
admin_error(
    $refusal, 403,
    'roles: a write of an auditor is 403 and names the role that may',
    error => 'role_required', members => { error_description => qr/\bauditor\b.*\boperator\b/ } );
is( $stack->sql(q{SELECT outcome || ' ' || http_status FROM audit_log WHERE request_id = 'deny-1'}),
    'rejected 403', 'roles: ... and leaves an audit row' );
my $deploy = '/admin/api/policy-bundle/deploy';
my %row    = ( data => [ { dataKey => 'example.limits', payload => { orders => 1 } } ] );
is( $stack->admin( POST => $deploy, key => $key{auditor}, json => { %row, mode => 'dry-run' } )->status,
    200, 'roles: an auditor may ask for a dry-run' );
for my $mode (
    [], [ mode => 'merge' ], [ mode => 'replace' ], [ mode => 'Dry-Run' ], [ mode => ['dry-run'] ],
    [ mode => undef ] )
{
    admin_error(
        $stack->admin( POST => $deploy, key => $key{auditor}, json => { %row, @$mode } ),
        403, 'roles: ... and for no other deploy: ' . ( ref $$mode[1] ? 'a list' : $$mode[1] // 'no mode' ),
        error => 'role_required' );
}
is( $stack->admin(
        POST => '/admin/api/policy-rules/evaluate', key => $key{auditor}, json => { package => 'none', input => {} }
    )->status < 403,
    1,
    'roles: an auditor may try an input' );
is( $stack->admin( GET => '/admin/api/nowhere', key => $key{auditor} )->status,
    404, 'roles: an unknown path is 404 to an auditor' );
is( $stack->admin(
        POST => '/admin/api/clients', key => $key{operator}, json => { clientId => 'op', clientType => 'public' }
    )->status,
    201,
    'roles: an operator may make a client' );
admin_error(
    $stack->admin( GET => "$keys/$id{owner}/plaintext", key => $key{$_} ),
    403, "roles: no plaintext for $_", error => 'role_required' ) for qw(auditor operator);
is( $stack->admin( GET => "$keys/$id{auditor}/plaintext", key => $key{owner} )->member('key'),
    $key{auditor}, 'roles: an owner reads the plaintext of any key (specification 5.1)' );

# ---- the audit row names the key, the list its use and its end

$stack->admin(
    POST    => '/admin/api/clients', key => $key{operator}, json => { clientId => 'op2', clientType => 'public' },
    headers => [ 'X-Request-ID' => 'actor-1' ] );
is( $stack->sql(
        q{SELECT client_id || ' ' || (request_summary::json -> 'actor' ->> 'key') || ' ' || (request_summary::json -> 'actor' ->> 'role') FROM audit_log WHERE request_id = 'actor-1'}
    ),
    "key of operator $id{operator} operator",
    'roles: the audit row of a write names the label, the id and the role of the key' );
my %view = map { $_->{id} => $_ } @{ $stack->admin( GET => $keys )->json };
like( $view{ $id{operator} }{lastUsedAt}, qr/\A\d{4}-.*Z\z/, 'keys: the list tells when a key was used last' );
$stack->sql("UPDATE admin_key SET expires_at = now() + interval '1 hour' WHERE id = '$id{operator}'");
is( $stack->admin( GET => '/admin/api/clients', key => $key{operator} )->status, 200,
    'keys: before its end a key is good' );
$stack->sql("UPDATE admin_key SET expires_at = now() WHERE id = '$id{operator}'");
admin_error(
    $stack->admin( GET => '/admin/api/clients', key => $key{operator} ),
    401, 'keys: from its end on it is 401', error => 'unauthorized' );
$stack->sql("UPDATE admin_key SET expires_at = NULL WHERE id = '$id{operator}'");

# ---- sign-in

sub sign_in {
    my ( $with, @headers ) = @_;
    return $stack->admin( POST => '/admin/session', key => $with, headers => \@headers );
}

sub cookie_of {
    my ($answer) = @_;
    my ($pair)   = ( $answer->header('Set-Cookie') // '' ) =~ /\A([^;]+)/;
    return $pair // 'none=';
}

# A request with the cookie.
sub with {
    my ( $method, $target, $cookie, %option ) = @_;
    return $stack->admin(
        $method, $target, %option, key => undef,
        headers => [ Cookie => $cookie, @{ $option{headers} // [] } ] );
}

my $answer = sign_in( $key{operator}, 'X-Request-ID' => 'in-1' );
is( $answer->status, 204, 'sign-in: a key is exchanged for a session' ) or diag( $answer->text );
my $cookie = cookie_of($answer);
like(
    $answer->header('Set-Cookie') // '', qr{\Aauthz_console=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict\z},
    'sign-in: the cookie has 256 bits and is HttpOnly and SameSite=Strict; without Secure on http of this host' );
is( $answer->header('Cache-Control'), 'no-store', 'sign-in: no cache keeps it' );
is( $stack->sql(
        q{SELECT operation || ' ' || (request_summary::json -> 'actor' ->> 'role') FROM audit_log WHERE request_id = 'in-1'}
    ),
    'beginConsoleSession operator',
    'sign-in: it is in the audit log' );
my ($octets) = $cookie =~ /=(.*)/;
is( $stack->sql(
        q{SELECT count(*) FROM admin_session WHERE encode(id_hash, 'escape') LIKE '%} . substr( $octets, 0, 8 ) . q{%'}
    ),
    0,
    'sign-in: the database does not hold the cookie' );
my $shown = with( GET => '/admin/session', $cookie );
members_are(
    $shown->json,
    {   keyId => $id{operator}, label => 'key of operator', role => 'operator',
        map { ( $_ => qr/\A\d{4}-.*Z\z/ ) } qw(createdAt idleUntil expiresAt) },
    'session: GET tells the key, its role and the times' );
members_are(
    $stack->admin( GET => '/admin/session' )->json,
    { keyId => qr/./, label => 'SVC_ADMIN_API_KEY', role => 'owner', createdAt => undef },
    'session: to a request with a key the key alone' );
is( with( GET => '/admin/api/clients', $cookie )->status, 200, 'session: the cookie is a credential' );
is( with( POST => '/admin/session', $cookie, headers => \@console )->status,
    401, 'sign-in: a session cannot begin another one' );
my $another = $cookie =~ s/=(.)/'=' . ( $1 eq '_' ? '-' : '_' )/er;
is( with( GET => '/admin/api/clients', $another )->status,           401, 'session: another cookie is 401' );
is( with( GET => '/admin/api/clients', "$cookie; $cookie" )->status, 401, 'session: two cookies count as none' );
is( $stack->admin( GET => '/admin/api/clients', key => 'wrong', headers => [ Cookie => $cookie ] )->status,
    401, 'session: with a wrong key in the header the cookie is not read' );
is( $stack->http->get( '/access/v1/evaluation', headers => [ Cookie => $cookie ] )->status, 405,
    'session: it is none elsewhere' );

# ---- one-time links

my @page = ( 'X-Authz-Console' => 1, Origin => $stack->base );

# Make a link for a key; return its secret.
sub link_of {
    my ($key_id) = @_;
    my $link = $stack->admin( POST => "$keys/$key_id/link" );
    return ( $link->member('url') // '' ) =~ m{#/link/([\w-]{43})\z};
}

sub by_link {
    my ( $secret, @headers ) = @_;
    return $stack->admin(
        POST    => '/admin/session', key => undef,
        headers => [ 'X-Authz-Console-Link' => $secret, @headers ] );
}
my $link = $stack->admin( POST => "$keys/$id{operator}/link", headers => [ 'X-Request-ID' => 'link-1' ] );
is( $link->status, 201, 'link: an owner makes one for a key' ) or diag( $link->text );
members_are(
    $link->json, { url => qr{\A\Q@{[ $stack->base ]}\E/portal/#/link/[\w-]{43}\z}, expiresAt => qr/\A\d{4}-.*Z\z/ },
    'link: ... of 256 bits, which stand in the fragment, so that no access log has them' );
my ($secret) = $link->member('url') =~ m{([\w-]{43})\z};
is( $stack->sql(
            q{SELECT (request_summary::json ->> 'adminKey') || ' ' || (request_summary LIKE '%}
          . $secret
          . q{%') FROM audit_log WHERE request_id = 'link-1'} ),
    "$id{operator} false",
    'link: the audit row names the key, and not the secret' );
is( $stack->sql(q{SELECT encode(id_hash, 'hex') FROM admin_link}),
    Digest::SHA::sha256_hex($secret),
    'link: the database has its SHA-256' );
for my $case (
    [ 'without an Origin',              'X-Authz-Console' => 1 ],
    [ 'from a page of another host',    'X-Authz-Console' => 1, Origin => 'https://evil.example' ],
    [ 'from a page that has no origin', 'X-Authz-Console' => 1, Origin => 'null' ],
    [ 'without X-Authz-Console',        Origin            => $stack->base ] )
{
    my ( $name, @headers ) = @$case;
    admin_error( by_link( $secret, @headers ), 403, "link: $name it is 403", error => 'foreign_page' );
}
is( with( GET => '/admin/api/clients', 'x=y', headers => [ 'X-Authz-Console-Link' => $secret, @page ] )->status,
    401, 'link: it is a credential of the sign-in alone' );
my $linked = by_link( $secret, @page, 'X-Request-ID' => 'link-2' );
is( $linked->status, 204, 'link: ... and it is not used up by these' ) or diag( $linked->text );
members_are(
    with( GET => '/admin/session', cookie_of($linked) )->json,
    { keyId => $id{operator}, role => 'operator' },
    'link: the session is of the key, and has its role' );
is( $stack->sql(
        q{SELECT (request_summary::json ->> 'by') || ' ' || (request_summary::json -> 'actor' ->> 'key') FROM audit_log WHERE request_id = 'link-2'}
    ),
    "link $id{operator}",
    'link: the audit row tells that a link signed in' );
my $second = by_link( $secret, @page );
admin_error( $second, 401, 'link: a second use is 401', error => 'unauthorized' );
is( $second->header('Set-Cookie'), undef, 'link: ... without a cookie' );
my ( $late, $soon ) = map { link_of( $id{auditor} ) } 1 .. 2;
$stack->sql( "UPDATE admin_link SET created_at = now() - interval '$$_[0]' WHERE id_hash = '\\x"
      . Digest::SHA::sha256_hex( $$_[1] )
      . q{'} )
  for [ '9 minutes', $soon ], [ '10 minutes', $late ];
is( by_link( $soon, @page )->status, 204, 'link: it is good for 10 minutes' );
is( by_link( $late, @page )->status, 401, 'link: ... and not longer' );
my $short   = $stack->admin( POST => $keys, json => { label => 'short', role => 'owner' } );
my ($dead)  = link_of( $short->member('id') );
my ($other) = link_of( $id{auditor} );
is( $stack->admin( DELETE => "$keys/" . $short->member('id') )->status, 204, '(a key is revoked)' );
is( by_link( $dead, @page )->status,                                    401, 'link: of a revoked key it is 401' );
admin_error(
    $stack->admin( POST => "$keys/$_/link" ),
    404, 'link: none is made for a key that is revoked or unknown' ) for $short->member('id'), 'none';
my $far = Authz::Stack->start( beside => $stack, settings => { SVC_OIDC_ISSUER => 'https://as.example' } );
is( $far->admin(
        POST    => '/admin/session', key => undef,
        headers => [ 'X-Authz-Console-Link' => $other, 'X-Authz-Console' => 1, Origin => 'https://as.example' ]
    )->status,
    401,
    'link: a service of another address does not take it' );
is( by_link( $other, @page )->status, 204, 'link: ... and does not use it up' );

# ---- fixation

my $chosen  = 'authz_console=' . 'A' x 43;
my $planted = sign_in( $key{operator}, Cookie => $chosen );
isnt( cookie_of($planted), $chosen, 'fixation: a sign-in never keeps a cookie that the browser had' );
is( with( GET => '/admin/session', $chosen )->status, 401, 'fixation: ... which is no session' );
my $again = sign_in( $key{operator}, Cookie => $cookie );
isnt( cookie_of($again), $cookie, 'fixation: a second sign-in has a new cookie' );
is( with( GET => '/admin/session', $cookie )->status, 401, 'fixation: ... and the session of before has ended' );
$cookie = cookie_of($again);

# ---- other pages (RFC 6265bis 8.8; the header and Sec-Fetch-Site)

my $client = { clientId => 'csrf', clientType => 'public' };
for my $case (
    ['no header at all'],
    [ 'the header alone',              'X-Authz-Console' => 1 ],
    [ 'Sec-Fetch-Site alone',          'Sec-Fetch-Site'  => 'same-origin' ],
    [ 'another value of the header',   'X-Authz-Console' => 'true', 'Sec-Fetch-Site' => 'same-origin' ],
    [ 'a neighbouring host',           'X-Authz-Console' => 1,      'Sec-Fetch-Site' => 'same-site' ],
    [ 'another site',                  'X-Authz-Console' => 1,      'Sec-Fetch-Site' => 'cross-site' ],
    [ 'the address bar',               'X-Authz-Console' => 1,      'Sec-Fetch-Site' => 'none' ],
    [ 'another Origin',                'X-Authz-Console' => 1,      Origin           => 'https://evil.example' ],
    [ 'a null Origin',                 'X-Authz-Console' => 1,      Origin           => 'null' ],
    [ 'our Origin without the header', Origin            => $stack->base ],
    [   'our Origin from another site', 'X-Authz-Console' => 1, Origin => $stack->base,
        'Sec-Fetch-Site' => 'cross-site' ] )
{
    my ( $name, @headers ) = @$case;
    admin_error(
        with( POST => '/admin/api/clients', $cookie, headers => \@headers, json => $client ),
        403, "other pages: a write with $name is 403", error => 'foreign_page' );
}
admin_error(
    with( POST => '/admin/api/clients', $cookie, body => '{', headers => [ 'Content-Type' => 'text/plain' ] ),
    403, 'other pages: ... before the body is read', error => 'foreign_page' );
admin_error(
    with( DELETE => '/admin/session', $cookie ), 403, 'other pages: they cannot sign the user out',
    error => 'foreign_page' );
admin_error(
    with( GET => '/admin/api/clients', $cookie, headers => [ 'Sec-Fetch-Site' => $_ ] ),
    403, "other pages: a GET from $_ is 403 too", error => 'foreign_page' ) for qw(cross-site same-site);
is( with( GET => '/admin/api/clients', $cookie, headers => [ 'Sec-Fetch-Site' => 'none' ] )->status,
    200, 'other pages: the address bar may GET' );
is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id = 'csrf'}), 0, 'other pages: nothing was stored' );
is( with( POST => '/admin/api/clients', $cookie, headers => \@console, json => $client )->status,
    201, 'our page: the header and Sec-Fetch-Site let a write in' );
is( with( DELETE => '/admin/api/clients/csrf', $cookie, headers => [ 'X-Authz-Console' => 1, Origin => $stack->base ] )
      ->status,
    204, 'our page: so do the header and our Origin where a browser sends no Sec-Fetch-Site' );
is( $stack->http->request( OPTIONS => '/admin/api/clients', headers => [ Origin => 'https://evil.example' ] )
      ->header('Access-Control-Allow-Origin'),
    undef, 'other pages: /admin answers no preflight request' );

# ---- the end of a session

sub set_session { return $stack->sql("UPDATE admin_session SET $_[0]") }
set_session(q{last_seen_at = now() - interval '29 minutes'});
is( with( GET => '/admin/session', $cookie )->status, 200, 'idle: after 29 minutes the session lives' );
is( $stack->sql(q{SELECT count(*) FROM admin_session WHERE last_seen_at > now() - interval '1 minute'}),
    1, 'idle: ... and a request prolongs it' );
set_session(q{last_seen_at = now() - interval '30 minutes'});
admin_error(
    with( GET => '/admin/session', $cookie ), 401, 'idle: after 30 minutes it is 401',
    error => 'unauthorized' );
set_session(q{last_seen_at = now(), created_at = now() - interval '7 hours 59 minutes'});
is( with( GET => '/admin/session', $cookie )->status, 200, 'absolute end: after 7:59 hours of use it lives' );
set_session(q{created_at = now() - interval '8 hours'});
admin_error(
    with( GET => '/admin/session', $cookie ), 401, 'absolute end: after 8 hours it is 401',
    error => 'unauthorized' );
$cookie = cookie_of( sign_in( $key{operator} ) );
is( $stack->sql('SELECT count(*) FROM admin_session'), 1, 'the next sign-in removes the sessions that are over' );

sub sessions_of {
    my ($label) = @_;
    my ($row)   = grep { $_->{label} eq $label } @{ $stack->admin( GET => $keys )->json };
    return $row->{sessions};
}
is( sessions_of('key of operator'), 1, 'the list of keys says how many sessions end with a key' );
$stack->sql("UPDATE admin_session SET last_seen_at = now() - interval '31 minutes'");
is( sessions_of('key of operator'), 0, '... and a session that is over is none of them' );
$stack->sql('UPDATE admin_session SET last_seen_at = now()');
$stack->sql("UPDATE admin_key SET role = 'auditor' WHERE id = '$id{operator}'");
is( with( GET => '/admin/session', $cookie )->status, 401,
    'another role of the key ends the session at the next request' );
$stack->sql("UPDATE admin_key SET role = 'operator' WHERE id = '$id{operator}'");
is( with( GET => '/admin/session', $cookie )->status, 200, '(the role is what it was)' );
$stack->sql("UPDATE admin_key SET expires_at = now() WHERE id = '$id{operator}'");
is( with( GET => '/admin/session', $cookie )->status, 401, 'so does the end of the key' );
$stack->sql("UPDATE admin_key SET expires_at = NULL WHERE id = '$id{operator}'");
my $auditor = cookie_of( sign_in( $key{auditor} ) );
admin_error(
    with( POST => '/admin/api/clients', $auditor, headers => \@console, json => $client ),
    403, 'a session has the role of its key', error => 'role_required' );
is( $stack->admin( DELETE => "$keys/$id{operator}" )->status, 204, '(the key is revoked)' );
is( with( GET => '/admin/session', $cookie )->status,         401, 'and so does its revocation' );
my $out = with( DELETE => '/admin/session', $auditor, headers => \@console );
is( $out->status, 204, 'sign-out: 204' );
like( $out->header('Set-Cookie') // '', qr/\Aauthz_console=; .*Max-Age=0/, 'sign-out: the browser forgets the cookie' );
is( with( GET => '/admin/session', $auditor )->status, 401, 'sign-out: the session is no more' );

# ---- errors: JSON to programs, a page to a browser that opens an address

admin_error( with( GET => '/admin/session', 'x=y' ), 401, 'errors: 401 is JSON', error => 'unauthorized' );
my $owner = cookie_of( sign_in( $key{owner} ) );
my $http  = $stack->client;
my $page  = $http->raw(
    $http->octets(
        'GET', '/admin/api/clients/none', headers => [ Cookie => $owner, Accept => 'text/html' ], close => 1 ),
    'GET' );
ok( $page->status == 404 && ( $page->header('Content-Type') // '' ) =~ m{\Atext/html},
    'errors: 404 is a page to a browser' );
admin_error( with( GET => '/admin/api/clients/none', $owner ), 404, 'errors: ... and empty to a program' );

# ---- SVC_ADMIN_ENABLED=false, https, development mode

my $off          = Authz::Stack->start( beside => $stack, settings => { SVC_ADMIN_ENABLED => 'false' } );
my @owner_cookie = ( key => undef, headers => [ Cookie => $owner, @console ] );
is( $off->admin( GET => '/admin/session', @owner_cookie )->status, 404, 'SVC_ADMIN_ENABLED=false: 404 with a session' );
is( $off->admin( POST => '/admin/session' )->status, 404,
    'SVC_ADMIN_ENABLED=false: 404 at the sign-in with a valid key' );
is( $off->admin( POST => '/admin/session', key => 'wrong' )->status, 401, 'SVC_ADMIN_ENABLED=false: 401 with another' );
is( $off->admin( POST => '/admin/session' )->header('Set-Cookie'),   undef, 'SVC_ADMIN_ENABLED=false: no cookie' );
like(
    $far->admin( POST => '/admin/session' )->header('Set-Cookie') // '',
    qr{\A__Host-authz_console=[\w-]{43}; Path=/; HttpOnly; SameSite=Strict; Secure\z},
    'https: the cookie has the prefix __Host- and Secure, whatever SVC_SESSION_COOKIE_SECURE says' );

# ---- failures of an address

my %by;
$by{ sign_in('wrong')->status }++ for 1 .. 12;
cmp_ok( $by{429} // 0, '>',  0,  'failures: after 10 in a minute an address gets 429' );
cmp_ok( $by{401} // 0, '<=', 20, 'failures: ... whatever minute they fall into' );
done_testing;

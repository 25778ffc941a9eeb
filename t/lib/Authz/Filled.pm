package Authz::Filled;

# A stack with what an installation has after a month, for tests and pictures of the console: clients with their use, people with
# what they hold and grant, resources, rules and the numbers of 30 days. Rows that no request could make in a test are written as
# housekeeping would write them.

use strict;
use warnings;

use JSON::PP ();

# Client id, name, decisions and denials of 24 hours, hours since the last use.
my @CLIENTS = (
    [ 'orders-api',        'Orders API',        71_880, 164, 0 ], [ 'todo-app',       'Todo sample',    402,    97, 1 ],
    [ 'support-agent',     'Support agent',     3412,   96,  0 ], [ 'shop-web',       'Halden shop',    62_304, 58, 0 ],
    [ 'warehouse-scanner', 'Warehouse scanner', 18_226, 43,  0 ], [ 'partner-portal', 'Partner portal', 2977,   61, 0 ],
    [ 'ci-deploy',         'CI deploy',       96,     0, 2 ], [ 'payroll-import', 'Payroll import',        0,  0, 290 ],
    [ 'fleet-telemetry',   'Fleet telemetry', 21_655, 0, 0 ], [ 'grafana-ops',    'Grafana of operations', 88, 0, 1 ] );
my @REASONS = (
    [ scope_not_entitled => 231 ], [ caller_not_audience => 164 ], [ refund_too_large => 118 ],
    [ no_rule_matched    => 97 ],
    [ grant_not_entitled => 61 ], [ acr_too_low => 58 ], [ outside_hours => 43 ] );
my @PEOPLE = (
    [ mira => 'Mira Halden' ], [ jonas => 'Jonas Weber' ], [ 'u-48213' => 'Ada Lovelace' ],
    [ 'u-66120' => 'Grace Hopper' ] );

sub _quoted {
    return join ', ', map { "'" . s/'/''/gr . "'" } @_;
}

sub _clients {
    my ($stack) = @_;
    my %secret;
    for (@CLIENTS) {
        my ( $id, $name ) = @$_;
        my $public = $id eq 'shop-web';
        ( undef, $secret{$id} ) = $stack->make_client(
            $id, undef,
            clientName => $name,
            $public ? ( clientType => 'public', redirectUris => ['https://shop.halden.example/cb'] ) : () );
    }
    $stack->bind(
        'support-agent',
        { grants => ['client_credentials'], scopes => [qw(orders.read crm.read)], resources => ['urn:svc:gateway'] } );
    $stack->sql(
        "UPDATE client SET enabled = client_id <> 'payroll-import', created_at = now() - id * interval '9 days'");
    $stack->sql( 'INSERT INTO client_last (client_id, used_at, denied24h) VALUES '
          . join( ', ', map {"('$$_[0]', now() - interval '$$_[4] hours', $$_[3])"} @CLIENTS )
          . ' ON CONFLICT (client_id) DO UPDATE SET used_at = excluded.used_at' );
    $stack->sql(
        'INSERT INTO hour_count VALUES ' . join(
            ', ',
            map {
                (   "('$$_[0]', date_trunc('hour', now()) - interval '3 hours', 'allowed', $$_[2])",
                    "('$$_[0]', date_trunc('hour', now()) - interval '3 hours', 'denied', $$_[3])" )
            } @CLIENTS ) );
    return %secret;
}

# The numbers of 30 days, and more denials today than before.
sub _numbers {
    my ($stack) = @_;
    $stack->sql(<<'SQL');
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)
SELECT '', current_date - d, e, o, true, CASE o WHEN 'error' THEN 1 ELSE
       (CASE o WHEN 'denied' THEN 3 + (d = 12)::integer * 5 + (d = 0)::integer ELSE 980 END
        * CASE WHEN extract(dow FROM current_date - d) IN (0, 6) THEN 55 ELSE 90 + d * 7 % 13 END)::bigint END
  FROM generate_series(0, 29) d, unnest('{/token,/introspect}'::text[]) e, unnest('{allowed,denied,error}'::text[]) o;
SQL
    for (@REASONS) {
        my ( $code, $n ) = @$_;
        my $from = $code eq 'refund_too_large' ? 0 : 29;
        $stack->sql(
            "INSERT INTO denial_count SELECT '', current_date - d, '$code', $n + d * 5 % 7 FROM generate_series(0, $from) d"
        );
    }
    return;
}

sub _people {
    my ($stack) = @_;
    $stack->sql(
        "INSERT INTO identity_provider (idp_id, name, issuer, client_id) VALUES ('corp', 'Halden', 'https://login.corp.example', 'authz')"
    );
    $stack->sql(
        'INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims, signed_in_at) VALUES ' . join(
            ', ',
            map {
                "('$$_[0]', 'https://login.corp.example', '$$_[0]', 'corp', json_build_object('name', '$$_[1]', 'email', '$$_[0]\@halden.example'), now() - length('$$_[1]') * interval '1 minute')"
            } @PEOPLE ) );
    $stack->sql(<<'SQL');
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, created_at, expires_at, last_seen_at, ip, user_agent)
SELECT sha256((s.subject || i)::bytea), md5(s.subject || i), s.subject, p.id, now(), now() - i * interval '20 minutes',
       now() + interval '30 minutes', now(), '10.20.4.17', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/128.0'
  FROM subject s, identity_provider p, generate_series(1, 2) i;
INSERT INTO consent (subject, client, what, redirect_host, scope, resource)
SELECT s.subject, c.id, sha256(c.client_id::bytea), 'shop.halden.example', 'openid orders.read', 'https://api.halden.example/orders'
  FROM subject s, client c WHERE c.client_id IN ('shop-web', 'partner-portal');
INSERT INTO uma_resource (id, client, subject, name, type, scopes)
SELECT gen_random_uuid(), c.id, s.subject, n, 'https://drive.halden.example/folder', '{view,edit}'
  FROM client c, subject s, unnest('{Photos,Contracts <b>2026</b>}'::text[]) n WHERE c.client_id = 'todo-app' AND s.subject IN ('mira', 'u-48213');
INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_subject, resource, scopes, expires_at, revoked_at)
SELECT gen_random_uuid(), r.client, r.subject, 'jonas', r.id, '{view}', now() + interval '30 days',
       CASE WHEN r.name <> 'Photos' THEN now() END FROM uma_resource r;
INSERT INTO ciba_request (id, secret_hash, client, subject, idp, flow_id, binding_message, scope, interval_seconds, expires_at)
SELECT gen_random_uuid(), sha256('s'), c.id, 'mira', p.id, gen_random_uuid(), 'Refund H-20931', 'orders.refund', 5, now() + interval '1 hour'
  FROM client c, identity_provider p WHERE c.client_id = 'support-agent';
SQL
    return;
}

# Fill a stack with a gateway; return the secrets of its clients by their id.
sub fill {
    my ($stack) = @_;
    my %secret = _clients($stack);
    _people($stack);
    _numbers($stack);
    $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name         => 'orders', displayName => 'Orders', upstreamType => 'STATIC', enabled => JSON::PP::true(),
            defaultScope => 'orders.read',
            routes       => [ { id => 'all', path => '/orders', response => { status => 200, json => {} } } ] } );
    for ( [ 'Agents refund at most 200 EUR (OPS-1182)', 200 ], [ 'Refunds up to 500 EUR', 500 ] ) {
        my ( $message, $limit ) = @$_;
        my $answer = $stack->admin(
            POST => '/admin/api/policy-bundle/deploy',
            json => {
                mode  => 'merge', message => $message,
                data  => [ { dataKey => 'example.refunds', payload => { limit => $limit } } ],
                rules => [
                    {   path    => 'custom/gateway/refunds.rego',
                        content =>
                          qq{package custom.gateway\n\ndeny contains {\n\t"code": "refund_too_large", "category": "resource",\n\t"message": "refunds above the limit need approval",\n} if {\n\tinput.action.name == "refund_order"\n\tinput.arguments.amount > data.example.refunds.limit\n}\n}
                    } ] } );
        die $answer->text if $answer->status != 200;
    }
    $stack->token( 'support-agent', $secret{'support-agent'}, scope => $_ )
      for qw(orders.read crm.read orders.admin orders.read);
    return %secret;
}

1;

package Authz::Busy;

# A stack with a busy day on top of Authz::Filled, for pictures of the console: more clients, long names, thousands of decisions,
# requests that fail, resources that are degraded and that wait, and a rule that does not compile.

use strict;
use warnings;

use JSON::PP ();

use Authz::Filled ();

my $LONG = 'The invoicing and settlement service of the northern branch (EU)';    # 64 characters
my $ID   = 'settlement-and-invoicing-of-the-northern-branch-eu-central-1-prd';

sub _clients {
    my ($stack) = @_;
    $stack->make_client(
        $_ == 1 ? $ID : sprintf( 'batch-%02d', $_ ), undef,
        clientName => $_ == 1 ? $LONG : "Batch job $_" ) for 1 .. 20;
    $stack->sql(
        q{INSERT INTO client_last (client_id, used_at, denied24h)
          SELECT client_id, now() - id * interval '7 minutes', id * 31 % 17 FROM client ON CONFLICT (client_id) DO NOTHING}
    );
    return;
}

# 60 people, of whom one has a long name and a long subject.
sub _people {
    my ($stack) = @_;
    $stack->sql(<<"SQL");
INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims, signed_in_at)
SELECT 'u-' || 70000 + i, 'https://login.corp.example', 'u' || i, 'corp', json_build_object('name', 'Person ' || i, 'email', 'p' || i || '\@halden.example'),
       now() - i * interval '17 minutes' FROM generate_series(1, 60) i;
INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims, signed_in_at)
VALUES ('auth0|6f9a1c0e5d4b4c2f9f0a7e1d3c5b7a9f1e2d3c4b5a69788796a5b4c3d2e1f00f', 'https://login.corp.example', 'x', 'corp',
        json_build_object('name', 'Maximiliane Alexandra von Habsburg-Lothringen zu Hohenlohe-Langenburg', 'email', 'maximiliane.alexandra.von.habsburg-lothringen\@subsidiary.halden.example'), now());
SQL
    return;
}

# Copies of the decisions that there are, over the hours of today, and requests that failed.
sub _decisions {
    my ($stack) = @_;
    my $since =
      q{now() - random() * least(now() - date_trunc('day', now() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC', interval '9 hours')};
    $stack->sql(<<"SQL");
CREATE TEMPORARY TABLE busy (LIKE audit_log);
INSERT INTO busy
SELECT r.* FROM audit_log a, generate_series(1, 400) i, LATERAL jsonb_populate_record(a, jsonb_build_object('created_at', $since,
       'request_id', gen_random_uuid(), 'client_id', coalesce((SELECT client_id FROM client WHERE id = 1 + (i * 7 + a.id) % 30), a.client_id))) r
 WHERE a.endpoint = '/token' LIMIT 4000;
INSERT INTO busy (created_at, id, request_id, client_id, endpoint, operation, method, http_status, outcome, policy_input, request_summary)
SELECT $since, 0, 'failed-' || i, 'support-agent', '/gateway/mcp/{resource}', 'mcp', 'POST', 502, 'error', '\\x00',
       '{"resource":"crm-of-the-northern-branch","tool":"refund_order_of_a_partner","error":"upstream_invalid_response","reason":"The answer of the upstream is not valid"}'
  FROM generate_series(1, 901) i;
INSERT INTO audit_log
SELECT r.* FROM (SELECT * FROM busy ORDER BY created_at) b,
       LATERAL jsonb_populate_record(ROW(b.*)::audit_log, jsonb_build_object('id', nextval('audit_id_seq'))) r;
INSERT INTO audit_count (client_id, day, endpoint, outcome, decision, n)
SELECT '', current_date, '/gateway/mcp/{resource}', 'error', false, 901 ON CONFLICT DO NOTHING;
SQL
    return;
}

sub _resources {
    my ($stack) = @_;
    my $true    = JSON::PP::true();
    my $make    = sub {
        my (%more) = @_;
        my $answer = $stack->admin( POST => '/admin/api/managed-resources', json => \%more );
        warn $answer->text if $answer->status != 201;
    };
    $make->(
        name => 'crm-of-the-northern-branch', displayName => $LONG, upstreamType => 'REST', defaultScope => 'crm.read',
        upstreamUrl =>
          'https://crm-gateway.internal.northern.subsidiary.halden.example:8443/services/rest/v2/customers',
        routes => [
            map {
                {   id     => "route-$_", path => "/customers/{id}/invoices/{invoice}/lines-of-$_", methods => ['GET'],
                    scopes => ['crm.read'] }
            } 1 .. 12 ] );
    $make->(
        name        => 'wiki', displayName => 'Wiki', upstreamType => 'MCP', defaultScope => 'wiki.read',
        upstreamUrl => 'https://wiki.halden.example/mcp' );
    $make->(
        name         => "static-$_", displayName => "Static $_", upstreamType => 'STATIC', enabled => $true,
        defaultScope => 'orders.read',
        routes       => [ { id => 'all', path => '/x', response => { status => 200, json => {} } } ] ) for 1 .. 12;
    $stack->sql(
        q{UPDATE managed_resource SET status = 'degraded', status_reason = 'no answer within 10 s', status_changed_at = now() - interval '3 hours' WHERE name LIKE 'crm%'}
    );
    return;
}

sub _policy {
    my ($stack) = @_;
    $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path?path=custom/issue/hours_of_the_northern_branch_draft.rego',
        json => {
            kind    => 'rego', version => '1', enabled => JSON::PP::false(),
            path    => 'custom/issue/hours_of_the_northern_branch_draft.rego',
            content => qq{package custom.issue\n\ndeny contains "outside_hours" if {\n\tinput.acton.name == "x"\n\n} } }
    );
    return;
}

# Fill a stack with a gateway.
sub fill {
    my ($stack) = @_;
    Authz::Filled::fill($stack);
    _clients($stack);
    _people($stack);
    _resources($stack);
    _policy($stack);
    _decisions($stack);
    return;
}

1;

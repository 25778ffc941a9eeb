# Migrations on a database with data: what 0006 makes of people, families and sessions that are there (decisions.md "Subject
# identifiers", "Siblings"), 0008 of bundles ("Message of a save"), and 0050 of managed resources ("Redirect addresses of links").
use strict;
use warnings;

use Test::More;

use Authz::Path     ();
use Authz::Postgres ();

my $postgres = Authz::Postgres->shared_or_new;
my @file     = sort glob Authz::Path::source('sql') . '/0*.sql';

sub slurp {
    my ($path) = @_;
    open my $in, '<:raw', $path or die "$path: $!";
    local $/ = undef;
    return readline $in;
}

# A database with the files to `last` and this data, brought up to date. Return a function that asks it.
sub upgraded {
    my ( $data, $last ) = @_;
    my $name = $postgres->database( empty => 1 );
    my $is   = sub { return $_[0] =~ m{/(\d+)_[^/]*\z} && $1 <= ( $last // 3 ) };
    $postgres->sql( slurp($_), $name ) for grep { $is->($_) } @file;
    $postgres->sql( $data,     $name ) if $data;
    $postgres->sql( slurp($_), $name ) for grep { !$is->($_) } @file;
    return sub { return $postgres->sql( $_[0], $name ) =~ s{\n\z}{}r };
}

my $providers =
  q{INSERT INTO identity_provider (idp_id, issuer) VALUES ('first', 'https://first'), ('second', 'https://second');};

sub people {
    return
      'INSERT INTO subject (subject, issuer, upstream_sub, created_at) VALUES '
      . join( ', ', map {"('$_->[0]', 'https://$_->[1]', '$_->[2]', '2026-01-0$_->[3]')"} @_ ) . ';';
}
my $home = 'SELECT issuer FROM home_issuer';
is( upgraded('')->($home),         '', 'an empty database has no home issuer' );
is( upgraded($providers)->($home), '', '... nor one with providers where nobody has signed in' );
is( upgraded( $providers . people( [ 'second|bob', 'second', 'bob', 1 ], [ 'ann', 'first', 'ann', 2 ] ) )->($home),
    'https://first', 'the home issuer is that of a person who kept the sub' );
is( upgraded(
        $providers
          . people( [ 'ann', 'gone', 'ann', 1 ], [ 'bob', 'first', 'bob', 2 ], [ 'second|c', 'second', 'c', 1 ] )
    )->($home),
    'https://gone',
    '... of the first one, though its provider is gone' );
is( upgraded( $providers . people( [ 'second|bob', 'second', 'bob', 1 ] ) )->($home),
    'https://first', 'where nobody kept the sub, it is that of the oldest provider' );
is( upgraded( people( [ 'gone|bob', 'gone', 'bob', 1 ] ) )->($home), '', '... and without a provider there is none' );

my $ask = upgraded( $providers . people( [ 'ann', 'first', 'ann', 1 ] ) . <<'SQL' );
INSERT INTO client (client_id, client_type) VALUES ('spa', 'public');
SELECT partition_create('refresh_token', 400);
INSERT INTO token_grant (id, code_hash, code_expires_at, client, subject, idp, sid, flow_id, redirect_uri, auth_time, with_auth_time, created_at, idle_expires_at, expires_at)
  SELECT '018f0000-0000-7000-8000-000000000001', '', now(), c.id, 'ann', p.id, 's', '018f0000-0000-7000-8000-000000000001', 'x', now(), false, now(), now(), now() FROM client c, identity_provider p WHERE p.idp_id = 'first';
INSERT INTO refresh_token (id, expires_at, secret_hash, grant_id, issued_at)
  VALUES ('018f0000-0000-7000-8000-000000000002', '2027-02-05 12:00Z', '', '018f0000-0000-7000-8000-000000000001', now());
SQL
is( $ask->('SELECT turn FROM token_grant'),                   0,   'a family of before is at its first turn' );
is( $ask->('SELECT turn IS NULL FROM refresh_token'),         't', '... and its refresh token has not ended' );
is( $ask->(q{SELECT partition_create('refresh_token', 401)}), 'refresh_token_p401', 'new partitions are made' );
is( $ask->(
        q{SELECT count(*) FROM information_schema.columns WHERE table_name IN ('refresh_token_p400', 'refresh_token_p401') AND column_name = 'turn'}
    ),
    2,
    '... and have the column, as those of before' );

my $bundles = upgraded(
    q{INSERT INTO bundle (revision, etag, status, trigger_source, triggered_by, size_octets, rule_paths, data_keys) VALUES ('r', 'e', 'confirmed', 'deploy', 'x', 1, '{}', '{}')}
);
is( $bundles->('SELECT revision, message IS NULL FROM bundle_audit_dto'), "r\tt", 'a bundle of before has no message' );

# Resources whose registration elsewhere may have the one redirect address that all had.
my @links = (
    [ 'a-static',   'oauth_link',    undef,    1 ],
    [ 'b-static',   'oauth_link',    'static', 1 ],
    [ 'c-dcr',      'oauth_link',    'dcr',    0 ],
    [ 'd-dcr-used', 'oauth_link',    'dcr',    1 ],
    [ 'e-cimd',     'oauth_link',    'cimd',   0 ],
    [ 'f-other',    'static_header', undef,    0 ],
);
my $linked = upgraded(
    join(
        '',
        $providers,
        people( [ 'ann', 'first', 'ann', 1 ] ),
        map {
            my ( $name, $type, $registration ) = @$_;
            my $way = $registration ? qq{,"registration":"$registration"} : '';
            qq{INSERT INTO managed_resource (name, upstream_type, status, document) VALUES ('$name', 'REST', 'active', '{"upstreamAuth":{"type":"$type"$way}}');}
        } @links )
      . q{INSERT INTO gateway_connection (subject, idp, resource, binding, secret_sealed, scopes) SELECT 'ann', id, 'd-dcr-used', '', '', '{}' FROM identity_provider WHERE idp_id = 'first'},
    49 );
is( $linked->(q{SELECT string_agg(name, ' ' ORDER BY name) FROM managed_resource WHERE redirect_shared}),
    join( ' ', map { $_->[0] } grep { $_->[3] } @links ),
    'resources that may be registered with the shared redirect address keep it' );

# Claims of providers (world.md U2, U4, U8).
my $claims =
  upgraded( $providers . people( [ 'ann', 'first', 'ann', 1 ] ) . q{UPDATE subject SET idp_id = 'first';}, 54 );
is( $claims->(q{SELECT string_agg(p.idp_id, ' ') FROM provider_userinfo u JOIN identity_provider p ON p.id = u.idp}),
    'first',
    'upgraded_rows: a provider with people is taken to have joined userinfo, one without is not' );
is( $claims->('SELECT count(*) FROM identity_provider WHERE list_claims IS NULL AND claims IS NULL'),
    2, '... and providers from before have neither listClaims nor claims' );
is( $claims->(q{SELECT string_agg(issuer, ' ' ORDER BY issuer) FROM provider_issuer}),
    'https://first https://second',
    '... and their issuers are taken' );

done_testing;

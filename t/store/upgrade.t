# Migrations on a database with data: what 0006 makes of people, families and sessions that are there (decisions.md "Subject
# identifiers", "Siblings"), and 0008 of bundles ("Message of a save").
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

# A database of before with this data, brought up to date. Return a function that asks it.
sub upgraded {
    my ($data) = @_;
    my $name = $postgres->database( empty => 1 );
    $postgres->sql( slurp($_), $name ) for grep {/000[123]_/} @file;
    $postgres->sql( $data,     $name ) if $data;
    $postgres->sql( slurp($_), $name ) for grep { !/000[123]_/ } @file;
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

done_testing;

#!/usr/bin/perl
# One form of times in all that authzctl prints: ISO 8601 in UTC with milliseconds and Z, as the admin API and the log have it
# (decisions.md "One form of times").
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use Test::More;

use Authz::Path     ();
use Authz::Postgres ();
use Authz::Stack    ();
use Authz::Web      ();
use Authzctl;

my $rule     = 'decisions.md "One form of times"';
my $postgres = Authz::Postgres->shared_or_new;
my $name     = $postgres->database;
my $env      = settings( $postgres->url($name) );
sub sql { return $postgres->sql( $_[0], $name ) =~ s{\n\z}{}r }

# The defaults of a database follow its administrator's country.
sql(qq{ALTER DATABASE "$name" SET TimeZone = 'Asia/Kolkata'});
sql(qq{ALTER DATABASE "$name" SET DateStyle = 'German'});

# A time of each kind: a revoked admin key, a retired signing key, a rule and a row of ours.
my $key = ctl( [qw(admin-key mint --json --label ci)], env => $env )->{json}{id};
ctl_is( 0, [ qw(admin-key revoke --yes), $key ], 'an admin key is revoked', env => $env );
my $valid = ctl( [qw(admin-key mint --json --label valid)], env => $env )->{json}{id};
sql(q{UPDATE signing_key SET created_at = created_at - interval '301 seconds'});

# A session, a consent, and a client with a secret.
sql(q{INSERT INTO identity_provider (idp_id, issuer, client_id) VALUES ('home', 'https://home.example', 'us')});
sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://home.example', 'ann')});
sql(q{INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, created_at, expires_at)
  SELECT sha256('s'), 's', 'ann', id, now(), now(), now() + interval '1 hour' FROM identity_provider} );
ctl_is( 0, [qw(connector install static-demo)],                      'a connector is installed',   env => $env );
ctl_is( 0, [qw(resource create static --type STATIC --name Static)], 'a managed resource is made', env => $env );
ctl_is( 0, [qw(client create app --type confidential)],              'a client is made',           env => $env );
sql(q{INSERT INTO consent (subject, client, what, redirect_host, scope) SELECT 'ann', id, '', '', 'a' FROM client});

# A live token of the client.
sql(q{SELECT partition_create('access_token', hour::integer) FROM floor(extract(epoch FROM now() + interval '1 hour' - '2026-01-01Z') / 3600) hour}
);
sql(q{INSERT INTO access_token (id, expires_at, issued_at, secret_hash, client, audit_id, jit, scope, pdp_output)
  SELECT gen_random_uuid(), now() + interval '1 hour', now(), '', id, 1, false, '', '' FROM client} );

# Verbs that print a time, and how many different members or columns with one there are at least.
my @TIMES = (
    [ 'admin-key link'       => 1, [$valid] ],
    [ 'admin-key list'       => 2, [] ],
    [ 'audit export'         => 2, [] ],
    [ 'audit list'           => 1, [] ],
    [ 'audit show'           => 1, ['1'] ],
    [ 'bundle history'       => 1, [] ],
    [ 'client rotate-secret' => 2, [qw(app --yes --previous-ttl 60)] ],
    [ 'consent list'         => 1, [] ],
    [ 'db status'            => 1, [] ],
    [ 'keys rotate'          => 3, ['--yes'] ],
    [ 'keys list'            => 3, [] ],
    [ 'policy data get'      => 1, ['svc.entitlements.bindings'], 'json alone' ],
    [ 'policy data list'     => 1, [] ],
    [ 'policy rule get'      => 1, ['svc/decision/issue.rego'], 'json alone' ],
    [ 'policy rule list'     => 1, [] ],
    [ 'connector show'       => 2, ['static-demo'], 'json alone' ],
    [ 'resource show'        => 1, ['static'] ],
    [ 'session list'         => 2, [] ],
    [ 'token list'           => 2, [] ],
    [ 'maintain'             => 1, [], 'on standard error' ],
);

# Verbs that print none, or days, or times that the verbs above print too.
my @NONE = (
    'admin-key mint', 'admin-key revoke', 'audit replay', 'audit stream', 'audit tail', 'report',
    'apply', 'export', 'import hydra', 'import keycloak', 'plan', 'owner list', 'owner release', 'policy impact',
    ( map {"audit $_"} qw(checkpoint consistency keys lines prove seal verify verify-export) ), 'bundle deploy',
    'bundle diff',
    'bundle pull', 'bundle rollback',
    ( map {"cedar $_"} qw(authorize compile format test) ),
    ( map {"client $_"} qw(create delete list show update) ), 'completion', 'consent forget', 'entitle',
    ( map {"idp $_"} qw(create delete home list show update) ),
    ( map {"connector $_"} qw(available install list sync uninstall) ),
    (   map {"resource $_"}
          qw(approve approve-instructions approve-prompt connections create delete disconnect instructions list probe prompts),
        qw(sync update) ),
    'restore-fence', 'secrets reseal', 'session end',
    ( map {"token $_"} qw(introspect revoke) ),
    'unentitle',
    'config check', 'health', 'serve',
    'config doc',
    'config show',
    'db grant',
    'db migrate',
    'db plan',
    'openapi',
    'policy data delete',
    'policy data set',
    'policy rule delete',
    'policy rule set', 'policy compare',
    ( map {"policy shadow $_"} qw(drop promote set status) ), 'policy test', 'policy try', 'setup',
);
my $verbs = Authz::Web::edit( Authz::Path::source(qw(doc reference cli.md)) );
my @all   = $verbs =~ /^## ([a-z -]+)$/mg;
is_deeply(
    [ sort @all ], [ sort map( { $_->[0] } @TIMES ), @NONE ],
    'each verb stands in one of the lists here: whoever adds one says if it prints a time' );

my $one = qr/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?!\w)/;

# All that looks like a time of another form: a day, a time of day, an epoch number of this century, a zone.
my $other =
  qr/\d{4}-\d\d-\d\d | \d\d[.\/]\d\d[.\/]\d{4} | \d\d:\d\d:\d\d | (?<![\w.-])1[5-9]\d{8}(?:\d{3})?(?![\w-]) | \bUTC\b | [+]\d\d:\d\d/x;

sub check {
    my ( $text, $count, $what ) = @_;
    my %kind;
    for my $line ( split /\n/, $text ) {
        my $at = 0;
        $kind{ $line =~ /"(\w+)":/ ? $1 : 'column ' . $at++ }++ for $line =~ /$one/g;
    }
    cmp_ok( scalar keys %kind, '>=', $count, "$what prints times" ) or diag $text;
    $text =~ s/^ *"content": .*$//mg;    # the text of a rule may name a day
    my ($wrong) = $text =~ s/$one//gr =~ /(.*(?:$other).*)/;
    is( $wrong, undef, "... in the one form ($rule)" );
    return;
}

for my $row (@TIMES) {
    my ( $verb, $count, $arguments, $how ) = ( @$row, '' );
    for my $json ( $how eq 'json alone' ? '--json' : ( $verb eq 'keys rotate' ? '' : ( '', '--json' ) ) ) {
        my $got = ctl_is( 0, [ split( / /, $verb ), @$arguments, $json || () ], "$verb $json", env => $env );
        check( $how eq 'on standard error' ? $got->{err} : $got->{out}, $json ? $count : 1, "$verb $json" );
    }
}
my $text = ctl( ['maintain'], env => { %$env, SVC_LOG_FORMAT => 'text' } )->{err};
check( $text, 1, 'maintain with SVC_LOG_FORMAT=text' );

# The same moment, not the local time with a Z behind it.
my ($listed) = grep { $_->{id} eq $key } @{ ctl( [qw(admin-key list --json)], env => $env )->{json} };
is( sql("SELECT abs(extract(epoch FROM revoked_at - '$listed->{revokedAt}'::timestamptz)) < 0.001 FROM admin_key WHERE id = '$key'"
    ),
    't',
    'a time is that of UTC in a database with another time zone' );

done_testing;

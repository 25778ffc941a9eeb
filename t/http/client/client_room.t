# Room for clients that register themselves (decisions.md "Room"): each registration type is counted on its own, the oldest
# client older than an hour that never had a token makes room, and one address has a share of the room.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { SVC_DYNAMIC_CLIENTS_MAX => 30, SVC_TRUSTED_PROXY_COUNT => 1 } );
my %body  = ( redirect_uris => ['https://app.example/cb'] );

sub sql { return $stack->sql( $_[0] ) =~ s{\n\z}{}r }

sub register {
    my ( $from, %member ) = @_;
    return $stack->http->post( '/register', headers => [ 'X-Forwarded-For' => $from ], json => { %body, %member } );
}

# Wait for a log line; it is written after the answer.
sub logged {
    my ($like) = @_;
    return Authz::Process::until_true(
        30,
        sub {
            my ($line) = grep {/$like/} $stack->{service}->log_lines;
            $line;
        } );
}
my $next = 0;
sub other { $next++; return '198.51.' . int( $next / 250 ) . '.' . ( 1 + $next % 250 ) }

# Register and return the client_id.
sub registered {
    my ( $from, $name ) = @_;
    my $answer = register($from);
    is( $answer->status, 201, $name ) or diag( $answer->text );
    return $answer->member('client_id');
}

sub refused {
    my ( $from, $text, $name ) = @_;
    my $answer = register($from);
    oauth_error( $answer, 503, 'temporarily_unavailable', $name );
    like( $answer->member('error_description'), $text, '... and the text says which limit it is' );
    return $answer;
}
my $full  = qr/\AThe maximum number of self-registered clients is reached/;
my $share = qr/\AToo many clients were registered from your network address/;

sub count { my ($type) = @_; return sql("SELECT count(*) FROM client WHERE registration_type = '$type'") }
sub there { my ($id)   = @_; return sql("SELECT count(*) FROM client WHERE client_id = '$id'") }

# Replace all clients that registered themselves by clients of this type and age.
sub fill {
    my ( $type, $number, $age ) = @_;
    sql(q{DELETE FROM client WHERE registration_type <> 'ADMIN' OR client_id LIKE 'fill-%'});
    return add( $type, $number, $age );
}

# The higher the number in the name, the younger the client.
sub add {
    my ( $type, $number, $age, $prefix ) = @_;
    $prefix //= 'fill';
    sql(qq{INSERT INTO client (client_id, client_type, registration_type, created_at)
        SELECT '$prefix-$type-' || n, 'public', '$type', now() - interval '$age' + n * interval '1 millisecond'
          FROM generate_series(1, $number) n} );
    return;
}

sub use_client {
    sql("INSERT INTO client_use SELECT id, current_date - 20 FROM client WHERE client_id = '$_[0]'");
    return;
}

# ---- one address

my @mine = map { registered( '192.0.2.66', "share: client $_ of one address with room for 30" ) } 1 .. 10;
my $answer =
  refused( '192.0.2.66', $share, 'share: an address has at most a tenth of the room, and at least 10 clients' );
like( $answer->header('Retry-After'), qr/\A\d+\z/, '... with Retry-After' );
is( count('DCR'), 10, '... and no row' );
is( sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'error',
    '... audited' );
ok( logged(qr/registered 10 clients within an hour that are not used/), '... and the log says why' );
registered( '192.0.2.67', 'share: its neighbour is another address' );
my @net = map { registered( "2001:db8::$_", "share: address $_ of a /64" ) } 1 .. 10;
refused( '2001:db8::ffff:1', $share, 'share: the addresses of an IPv6 /64 count together' );
registered( '2001:db8:0:1::1', 'share: another /64 is another address' );
use_client( $mine[3] );
registered( '192.0.2.66', 'share: a client that had a token does not count' );
refused( '192.0.2.66', $share, '... and the next one is refused' );
sql("UPDATE client SET created_at = now() - interval '59 minutes' WHERE client_id = '$mine[0]'");
refused( '192.0.2.66', $share, 'share: a client of 59 minutes counts' );
sql("UPDATE client SET created_at = now() - interval '61 minutes' WHERE client_id = '$mine[0]'");
registered( '192.0.2.66', 'share: one of 61 minutes does not' );
unlike(
    sql(q{SELECT string_agg(c::text, ' ') FROM client c}),
    qr/192\.0\.2\.66/, 'share: the address is not stored with the client' );
is( sql('SELECT min(length(registered_from)) FROM client'), 32, '... but a keyed hash of it' );
refused( '192.0.2.66', $share, 'share: full again' );
$stack->restart_service( settings => { SVC_DYNAMIC_CLIENTS_MAX => 111 } );
registered( '192.0.2.66', 'share: a tenth of a room for 111 is 11' );
refused( '192.0.2.66', $share, '... and no more' );
$stack->restart_service( settings => { SVC_DYNAMIC_CLIENTS_MAX => 30 } );

# ---- a full room: who makes room

fill( 'DCR', 30, '59 minutes' );
refused( other(), $full, 'full: clients younger than an hour do not make room' );
is( count('DCR'), 30, '... and none is removed' );
sql(q{UPDATE client SET created_at = created_at - interval '2 minutes' WHERE client_id IN ('fill-DCR-7', 'fill-DCR-9')}
);
my $made = registered( other(), 'full: a client older than an hour that never had a token makes room' );
is( there('fill-DCR-7') . there('fill-DCR-9') . count('DCR'), '0130', '... the oldest one, and only that' );
ok( logged(qr/"client removed".*fill-DCR-7, which never had a token, made room for another DCR client/),
    '... which is logged' );
use_client('fill-DCR-9');
refused( other(), $full, 'full: a client that had a token stays, however old it is' );

$stack->sql(q{INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://idp.example', 'ann')});
$stack->sql(q{INSERT INTO identity_provider (idp_id, issuer) VALUES ('corp', 'https://idp.example')});

# A code that was not redeemed; it ends in so many seconds.
sub code {
    my ( $id, $ends ) = @_;
    sql(qq{INSERT INTO token_grant (id, code_hash, code_expires_at, client, subject, idp, sid, flow_id, redirect_uri, auth_time,
        with_auth_time, created_at, idle_expires_at, expires_at)
      SELECT gen_random_uuid(), '\\x00', now() + interval '$ends', c.id, 'ann', p.id, 'sid', gen_random_uuid(), 'https://a.example/', now(),
        false, now(), now() + interval '$ends', now() + interval '$ends'
        FROM client c, identity_provider p WHERE c.client_id = '$id'} );
    return;
}
sql(q{UPDATE client SET created_at = created_at - interval '1 day' WHERE client_id = 'fill-DCR-11'});
code( 'fill-DCR-11', '60 seconds' );
refused( other(), $full, 'full: a client with a code that can be redeemed stays' );
sql(q{UPDATE token_grant SET revoked_at = now()});
registered( other(), 'full: one whose code was revoked makes room' );
sql(q{UPDATE client SET created_at = created_at - interval '1 day' WHERE client_id = 'fill-DCR-12'});
code( 'fill-DCR-12', '-1 second' );
registered( other(), 'full: so does one whose code has expired' );
is( there('fill-DCR-11') . there('fill-DCR-12') . count('DCR'), '0030', '... both are gone' );
sql(q{UPDATE client SET created_at = created_at - interval '1 day', registration_type = 'ADMIN' WHERE client_id = 'fill-DCR-13'}
);
add( 'DCR', 1, '10 minutes', 'more' );
refused( other(), $full, q{full: the administrator's clients never make room} );

# A request that policy refuses removes nobody.
fill( 'DCR', 30, '2 hours' );
oauth_error(
    register( other(), grant_types => ['client_credentials'] ), 400, 'invalid_client_metadata',
    'full: a registration that policy refuses' );
is( there('fill-DCR-1') . count('DCR'), '130', '... removes nobody' );
registered( other(), 'full: one that it allows' ) for 1 .. 10;
is( there("fill-DCR-$_"), $_ <= 10 ? 0 : 1, "... the oldest go first: client $_" ) for 1, 10, 11, 30;
my @stays = map { registered( '192.0.2.1', 'full: one address has its share of a full room' ) } 1 .. 10;
refused( '192.0.2.1', $share, '... and no more' );
is( there('fill-DCR-21') . count('DCR'), '130', '... so a refusal of the share removes nobody' );

# ---- kinds are counted apart

fill( 'CIMD', 30, '10 minutes' );
registered( other(), 'kinds: clients with a metadata document take no room from POST /register' );
fill( 'STATEMENT', 30, '10 minutes' );
registered( other(), 'kinds: nor do clients with a software statement' );
my $issued = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'owner', clientType => 'public', softwareStatement => { software_id => 's' } }
)->member('issuedSoftwareStatementJwt');
sub stated { return register( other(), software_statement => $issued ) }
oauth_error(
    stated(), 503, 'temporarily_unavailable',
    'kinds: clients with a software statement have a limit of their own' );
fill( 'DCR', 30, '10 minutes' );
is( stated()->status, 201, 'kinds: clients without one take no room from them' );
fill( 'STATEMENT', 30, '2 hours' );
is( stated()->status,                               201,   'kinds: a client with a statement makes room for another' );
is( there('fill-STATEMENT-1') . count('STATEMENT'), '030', '... the oldest that never had a token' );

# ---- a client that is removed

$stack->bind( 'x', { grants => [] } );
sql(q{DELETE FROM client WHERE registration_type <> 'ADMIN'});
my $victim = register( other() )->json;
is( $stack->token( @$victim{qw(client_id client_secret)} )->member('error'), 'unauthorized_client',
    'its secret is good' ) for 1 .. 8;
sql(q{UPDATE client SET created_at = now() - interval '1 day' WHERE registration_type = 'DCR'});
add( 'DCR', 29, '10 minutes' );
registered( other(), 'removed: it makes room' );
is( $stack->token( @$victim{qw(client_id client_secret)} )->member('error'),
    'invalid_client', 'removed: every process refuses it at once, also one that has it in its cache' ) for 1 .. 8;

# ---- at the same time

sub together {
    my ($number) = @_;
    return map { $_->status } Authz::Client::together(
        map {
            [   $stack->http,
                $stack->http->octets(
                    POST => '/register', json => \%body, headers => [ 'X-Forwarded-For' => other() ], close => 1 ) ]
        } 1 .. $number );
}

sub tally {
    my %n;
    $n{$_}++ for @_;
    return join ' ', map {"$_:$n{$_}"} sort keys %n;
}
fill( 'DCR', 25, '10 minutes' );
is( tally( together(40) ), '201:5 503:35', 'at once: of 40 with room for 5, exactly 5 are taken' );
is( count('DCR'),          30,             '... and the limit is kept to the last row' );
fill( 'DCR', 30, '2 hours' );
is( tally( together(25) ), '201:25', 'at once: each of 25 has a client of its own make room' );
is( count('DCR') . there('fill-DCR-25') . there('fill-DCR-26'), '3001', '... and the 25 oldest are gone' );

# A client that gets its first token just then is not removed.
fill( 'DCR', 30, '10 minutes' );
sql(q{UPDATE client SET created_at = now() - interval '2 hours' WHERE client_id IN ('fill-DCR-3', 'fill-DCR-4')});
sql(q{UPDATE client SET created_at = created_at - interval '1 hour' WHERE client_id = 'fill-DCR-3'});
my $holder = Authz::Process->start(
    name    => 'holder',
    command => [
        Authz::Path::postgres('psql'), qw(-X -q -U postgres -v ON_ERROR_STOP=1 -h), $stack->{postgres}->socket, '-p',
        $Authz::Postgres::PORT,        '-d',                                        $stack->{database},         '-c',
        q{BEGIN; SELECT id FROM client WHERE client_id = 'fill-DCR-3' FOR KEY SHARE; SELECT pg_sleep(60); COMMIT} ] );
my $sleeping = q{datname = current_database() AND wait_event = 'PgSleep'};
ok( Authz::Process::until_true( 30, sub { sql("SELECT count(*) FROM pg_stat_activity WHERE $sleeping") } ),
    'a client that a token is being issued to' );
registered( other(), '... is left, and not waited for' );
is( there('fill-DCR-3') . there('fill-DCR-4'), '10', '... and the next one makes room' );
sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE $sleeping");
$holder->wait(10);

done_testing;

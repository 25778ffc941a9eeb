# Sessions of clients before MCP 2026-07-28 (MCP 2025-11-25, transports, "Session Management"; gateway-admin.md 1.13): bound to
# person, client and endpoint, without a row until there is more to know than the id says.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( gateway => 2 );
my $mcp   = Authz::Mcp->new($stack);
$mcp->resource( $_, upstreamType => 'STATIC', routes => [], tools => [] ) for qw(one two);
my %token =
  ( ann => $mcp->person('ann'), bob => $mcp->person('bob'), by_other => $mcp->person( 'ann', client => 'other' ) );
my $FIELD = 'Mcp-Session-Id';
my $ROWS  = 100;                # GATEWAY_SESSIONS_MAX of fcgi/store/gateway/sessions.h

sub hello {
    my (%option) = @_;
    my %params = (
        protocolVersion => '2025-11-25', clientInfo => { name => 'c', version => '1' },
        capabilities    => $option{capabilities} // {} );
    return $mcp->legacy( 'initialize', \%params, token => $token{ $option{by} // 'ann' }, at => $option{at} );
}
sub session { return hello(@_)->header($FIELD) // '' }

sub ask {
    my ( $method, $params, $session, %option ) = @_;
    return $mcp->legacy(
        $method, $params,
        token   => $token{ $option{by} // 'ann' },
        at      => $option{at},
        headers => [ defined $session ? ( $FIELD => $session ) : (), @{ $option{headers} // [] } ] );
}

sub ends {
    my ( $session, %option ) = @_;
    return $stack->http->request(
        DELETE  => '/gateway/mcp' . ( defined $option{at} ? "/$option{at}" : '' ),
        headers => [
            Authorization => 'Bearer ' . $token{ $option{by} // 'ann' },
            defined $session ? ( $FIELD => $session ) : () ] );
}
sub rows { return $stack->sql('SELECT count(*) FROM gateway_session') }

# ---- the id

my $answer  = hello();
my $session = $answer->header($FIELD);
like( $session, qr/\As1[.][\w-]{100,}\z/, 'initialize opens a session (MCP 2025-11-25, transports)' )
  or diag $answer->text;
isnt( session(), $session, '... each time another one' );
is( rows(),                              0,   '... and stores nothing' );
is( ask( 'ping', {}, $session )->status, 200, 'a request in the session is answered' );
is( ask( 'ping', {} )->status,           200, '... and one without a session, as before' );
is( $mcp->modern( 'tools/list', {}, token => $token{ann} )->header($FIELD), undef,
    'the modern revision has no sessions' );
is( session( at => 'one' ) eq '' ? 0 : 1, 1, 'the endpoint of a resource opens sessions too' );

my $changed = $session;
substr( $changed, 50, 1 ) = substr( $changed, 50, 1 ) eq 'A' ? 'B' : 'A';
for my $case (
    [ 'a changed id',                     $changed ],
    [ 'an id that was cut',               substr( $session, 0, -4 ) ],
    [ 'an id with more behind it',        "${session}AAAA" ],
    [ 'an id of somebody else\'s server', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6' ],
    [ 'an empty box',                     's1.' ],
    [ 'the session of another person',    $session, by => 'bob' ],
    [ 'that of another client',           $session, by => 'by_other' ],
    [ 'that of another endpoint',         $session, at => 'one' ] )
{
    my ( $what, $id, %option ) = @$case;
    my $refused = ask( 'ping', {}, $id, %option );
    is( $refused->status,                    404,   "$what: 404" ) or diag $refused->text;
    is( $mcp->error($refused)->{code} // '', 40400, '... in JSON-RPC' );
    is( ends( $id, %option )->status,        404,   '... and nothing to end' );
}
is( rows(), 0, 'refused requests leave no row' );
my $again = $mcp->legacy(
    'initialize', { protocolVersion => '2025-11-25', capabilities => {} },
    token => $token{bob}, headers => [ $FIELD => $session ] );
is( $again->status, 200, 'initialize opens a new session, whatever it names' );

# ---- persons whose issuer is no provider (RFC 8693, of an ID token)

my %kept = %token;
@token{qw(ann bob)} = ( $mcp->person('ann'), $mcp->person('bob') );
$stack->sql(
    'UPDATE access_token SET grant_id = NULL, idp = NULL WHERE issued_at IN (SELECT max(issued_at) FROM access_token'
      . q{ WHERE subject IN ('ann', 'bob') GROUP BY subject)} );
my $free = session();
is( ask( 'ping', {}, $free )->status,              200, 'a person without a provider has sessions' );
is( ask( 'ping', {}, $free, by => 'bob' )->status, 404, '... and another one does not share them' );
is( ends( $free, by => 'bob' )->status,            404, '... nor end them' );
%token = %kept;

# ---- the level of the log

for my $bad ( undef, 'loud', 3 ) {
    my $refused = ask( 'logging/setLevel', { level => $bad }, $session );
    is( ( $mcp->error($refused) // {} )->{code}, -32602, 'setLevel: ' . ( $bad // 'null' ) . ' is no level' );
}
is( $mcp->error( ask( 'logging/setLevel', { level => 'info' } ) )->{code}, -32600,
    'setLevel without a session: -32600' );
is( rows(), 0, '... and no row' );
$answer = ask( 'logging/setLevel', { level => 'warning' }, $session );
is_deeply( $mcp->result($answer), {}, 'setLevel is answered with an empty result' ) or diag $answer->text;
is( $stack->sql('SELECT log_level, ended_at IS NULL FROM gateway_session'), "3\tt", '... and makes the row' );
ask( 'logging/setLevel', { level => 'debug' }, $session );
is( $stack->sql('SELECT log_level FROM gateway_session'), '0', '... which a second one changes' );

# ---- the end

is( ends(undef)->status,                                              400, 'DELETE without a session: 400' );
is( ends($session)->status,                                           204, 'DELETE ends the session' );
is( ask( 'ping', {}, $session )->status,                              404, '... so the client opens another one' );
is( ends($session)->status,                                           404, '... and it ends once' );
is( ask( 'logging/setLevel', { level => 'info' }, $session )->status, 404, '... and takes no level' );
my $other = session();
is( ends($other)->status,              204, 'one without a row can be ended' );
is( ask( 'ping', {}, $other )->status, 404, '... and stays so' );
my $late = session( by => 'bob' );
ask( 'logging/setLevel', { level => 'info' }, $late, by => 'bob' );
$stack->sql(q{UPDATE gateway_session SET expires_at = now() - interval '2 minutes' WHERE ended_at IS NULL});
is( rows(), 3, 'rows stay until housekeeping finds their time over' );

# ---- rows of one owner

$stack->sql(
    q{INSERT INTO gateway_session (id, owner_hash, expires_at) SELECT decode(md5(n::text), 'hex'), owner_hash, now() + interval '1 hour'}
      . q{ FROM (SELECT DISTINCT owner_hash FROM gateway_session WHERE ended_at IS NOT NULL) o, generate_series(1, }
      . ( $ROWS - 3 )
      . ') n' );
my ( $last, $over ) = ( session(), session() );
is( ends($last)->status, 204, "the ${ROWS}th row of an owner" );
my $full = ask( 'logging/setLevel', { level => 'info' }, $over );
is( $full->status,                    503, 'one more: 503' ) or diag $full->text;
is( ends($over)->status,              503, '... which no DELETE makes either' );
is( ask( 'ping', {}, $over )->status, 200, '... and the session goes on without a row' );
my $of_bob = session( by => 'bob' );
is( ask( 'logging/setLevel', { level => 'info' }, $of_bob, by => 'bob' )->status, 200, 'another person has room' );
done_testing;

# GET /metrics (gateway-admin.md 7.1), and the limit on log lines of requests that leave no audit row (decisions.md "Audited").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

use constant LINES => 20;    # COUNTERS_LINES_PER_MINUTE

my $token = 'metrics-token-of-mine-61d0';
my $stack = Authz::Stack->start( settings => { SVC_METRICS_TOKEN => $token } );
my @crm   = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );

sub metrics { my (@header) = @_; return $stack->http->get( '/metrics', headers => \@header ) }

# The value of one line.
sub value {
    my ($line) = @_;
    return metrics()->body =~ /^\Q$line\E (\d+)$/m ? $1 : 'none';
}

sub unaudited {
    my ( $method, $route ) = @_;
    return value(qq(svc_unaudited_requests_total{route="$route",method="$method"}));
}

# ---- the page

my $page = metrics();
is( $page->status, 200, 'a caller on this machine reads the metrics (gateway-admin.md 7.1)' ) or diag( $page->text );
is( $page->header('Content-Type'),  'text/plain; version=0.0.4; charset=utf-8', 'in the text format of Prometheus' );
is( $page->header('Cache-Control'), 'no-store',                                 'never cached' );
my @strange =
  grep { !/\A(?:# (?:HELP \w+ .+|TYPE \w+ (?:counter|gauge))|\w+(?:\{\w+="[^"\\]*"(?:,\w+="[^"\\]*")*\})? \d+)\z/ }
  split /\n/, $page->body;
is( "@strange", '', 'each line is a HELP, a TYPE or a sample' );
my %seen;
$seen{$_}++ for $page->body =~ /^(\w\S*) \d+$/mg;
is( join( ' ', grep { $seen{$_} > 1 } sort keys %seen ), '', 'no sample twice' );
like( $page->body, qr/^svc_build_info\{version="[\d.]+"\} 1$/m, 'the version is there' );
unlike( $page->body, qr/\Q$token\E|crm|127\.0/, 'neither a secret nor a client nor an address is' );

# ---- what is counted: each way to prove nothing, by endpoint

my %ask = (
    'GET /logout'                     => sub { $stack->http->get('/logout') },
    'POST /logout'                    => sub { $stack->http->post( '/logout', form => [ state => 'x' ] ) },
    'GET /authorize/callback/{idpId}' => sub { $stack->http->get('/authorize/callback/corp?state=x') },
    'POST /authorize/consent'         => sub {
        $stack->http->post( '/authorize/consent', form => [ id => 'x', decision => 'allow' ] );
    },
    'POST /admin/api/clients' => sub { $stack->admin( POST => '/admin/api/clients', json => {}, key => 'wrong-key' ) },
    'POST /token'             => sub {
        $stack->http->post(
            '/token',
            form => [ grant_type => 'client_credentials', client_id => 'crm', client_secret => 'x' ] );
    },
    'POST /revoke' => sub { $stack->http->post( '/revoke', form => [ token => 'x' ] ) } );
my $rows = $stack->sql('SELECT count(*) FROM audit_log');
for my $name ( sort keys %ask ) {
    my ( $method, $route ) = split / /, $name;
    my $before = unaudited( $method, $route );
    $ask{$name}->();
    is( unaudited( $method, $route ), $before + 1, "$name that proves nothing is counted" );
}
is( $stack->sql('SELECT count(*) FROM audit_log'), $rows,
    'and none of them writes an audit row (decisions.md "Audited")' );
my $tokens = unaudited( 'POST', '/token' );
oauth_ok( $stack->token( @crm, scope => 'a' ), {}, 'a token is issued' );
is( unaudited( 'POST', '/token' ),                 $tokens,   'a request with an audit row is not counted' );
is( $stack->sql('SELECT count(*) FROM audit_log'), $rows + 1, 'and has its row' );

# ---- the log: at most so many lines a minute for an address

# A log line is written after the answer. Returns the value once it is what is wanted, at the latest after 10 s.
sub settled {
    my ( $wanted, $get ) = @_;
    my ( $until,  $got ) = ( time + 10, $get->() );
    while ( $got ne $wanted && time < $until ) { sleep 0.05; $got = $get->() }
    return $got;
}

# All of it must be in one minute of the clock.
sleep 0.2 while time - 60 * int( time / 60 ) > 50;
my $flood = Authz::Stack->start;

sub lines {
    return grep {/"route":"\/logout"/} $flood->{service}->log_lines;
}
sub left { return $flood->http->get('/metrics')->body =~ /^svc_log_lines_left_out_total (\d+)$/m ? $1 : 'none' }
my $minute = int( time / 60 );
$flood->http->get('/logout') for 1 .. LINES;
is( settled( LINES, sub { scalar lines() } ), LINES, LINES . ' requests that prove nothing write a log line each' );
is( left(),                                   0,     'none is left out' );
$flood->http->get('/logout') for 1 .. 100;
is( settled( 100, \&left ), 100,   'further ones in that minute are counted' );
is( scalar lines(),         LINES, 'and write none (decisions.md "Audited")' );
is( $flood->http->get('/metrics')->body =~ /route="\/logout",method="GET"\} (\d+)/ ? $1 : 'none', LINES + 100,
    'as all of them are by endpoint' );
my @bob = $flood->make_client( 'bob', { grants => ['client_credentials'], scopes => ['a'] } );
oauth_ok( $flood->token( @bob, scope => 'a' ), {}, 'the same address gets a token' );
ok( settled(
        1,
        sub {
            scalar grep {/"client_id":"bob"/} $flood->{service}->log_lines;
        } ),
    'and that request has its log line' );
is( int( time / 60 ), $minute,                                                   'all of that was in one minute' );
is( $flood->sql("SELECT count(*) FROM audit_log WHERE operation = 'logout'"), 0, 'no audit row was written' );

# The next minute tells the number. Wait for it in the log: any request brings it.
my $told;
while ( !$told && time < 60 * ( $minute + 1 ) + 10 ) {
    $flood->http->get('/health/live');
    ($told) = grep {/"request lines left out"/} $flood->{service}->log_lines;
    sleep 0.25;
}
like(
    $told // '', qr/"level":"warn".*"detail":"100 requests in one minute proved nothing/,
    'with the first request after the minute the log says how many were left out' );
$flood->http->get('/logout');
is( settled( LINES + 1, sub { scalar lines() } ), LINES + 1, 'and the address has its lines again' );

# ---- who may read them: the address, or the token; anybody else gets 404

sub restarted {
    my (%set) = @_;
    my $other = Authz::Stack->start( settings => \%set );
    return sub { my (@header) = @_; return $other->http->get( '/metrics', headers => \@header )->status };
}
my @bearer = ( Authorization => "Bearer $token" );
my $read   = restarted( SVC_METRICS_ALLOW => '192.0.2.1, 2001:db8::1', SVC_METRICS_TOKEN => $token );
is( $read->(),                                      404, 'another address gets 404 (gateway-admin.md 7.1)' );
is( $read->(@bearer),                               200, 'with the Bearer token it reads the metrics' );
is( $read->( Authorization => "bearer $token" ),    200, 'the scheme is case-insensitive (RFC 9110 11.1)' );
is( $read->( Authorization => "Bearer ${token}x" ), 404, 'a token with a character more is wrong' );
is( $read->( Authorization => 'Bearer ' ),          404, 'an empty token is wrong' );
is( $read->( Authorization => "Basic $token" ),     404, 'another scheme is wrong' );
is( $read->( 'X-Forwarded-For' => '192.0.2.1' ),    404, 'X-Forwarded-For of a caller names nobody' );
$read = restarted( SVC_METRICS_ALLOW => '192.0.2.1', SVC_TRUSTED_PROXY_COUNT => 1 );
is( $read->( 'X-Forwarded-For' => '192.0.2.1' ), 200, 'behind a trusted proxy the listed address reads the metrics' );
is( $read->( 'X-Forwarded-For' => '192.0.2.2' ), 404, 'and another does not' );
is( $read->( Authorization     => 'Bearer ' ),   404, 'without SVC_METRICS_TOKEN no token is right' );
is( metrics( 'X-Forwarded-For' => '192.0.2.1' )->status, 404,
    'behind a proxy that is not counted, a local address may be the proxy: 404' );

done_testing;

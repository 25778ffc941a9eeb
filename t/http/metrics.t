# GET /metrics (gateway-admin.md 7.1), and the limit on log lines of requests that leave no audit row (decisions.md "Audited").
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client   ();
use Authz::Path     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

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

# Return a function that tells how much was counted since this call: the sum of all lines whose beginning matches.
sub counter {
    my ($of) = @_;
    my $total = sub {
        my ($pattern) = @_;
        my ( $page, $sum ) = ( $of->http->get('/metrics')->body, 0 );
        $sum += $1 while $page =~ /^$pattern.* (\d+)$/mg;
        return $sum;
    };
    my %before;
    return sub {
        my ( $pattern, $begin ) = @_;
        my $now = $total->($pattern);
        $before{$pattern} = $now if $begin;
        return $now - $before{$pattern};
    };
}

# Runs promtool on the page as it is now.
sub lint {
    my ( $of, $name ) = @_;
  SKIP: {
        my $promtool = Authz::Path::promtool();
        skip 'promtool is not installed (contrib/check installs it)', 1 if !defined $promtool;
        my $file = Authz::Process::directory() . '/page';
        Authz::Web::write_file( $file, $of->http->get('/metrics')->body );
        my ( $status, $text ) = Authz::Process->run(
            name    => 'lint',
            command => [ 'sh', '-c', 'exec "$0" check metrics <"$1"', $promtool, $file ] );
        is( "$status$text", '0', $name );
    }
    return;
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
  grep {
    !/\A(?:# (?:HELP \w+ .+|TYPE \w+ (?:counter|gauge|histogram))|\w+(?:\{\w+="[^"\\]*"(?:,\w+="[^"\\]*")*\})? \d+(?:\.\d{6})?)\z/
  }
  split /\n/, $page->body;
is( "@strange", '', 'each line is a HELP, a TYPE or a sample' );
my %seen;
$seen{$_}++ for $page->body =~ /^(\w\S*) \d+$/mg;
is( join( ' ', grep { $seen{$_} > 1 } sort keys %seen ), '', 'no sample twice' );
like( $page->body, qr/^svc_build_info\{version="[\d.]+"\} 1$/m, 'the version is there' );
unlike( $page->body, qr/\Q$token\E|crm|127\.0/, 'neither a secret nor a client nor an address is' );

lint( $stack, 'promtool check metrics has nothing to say' );
like( $page->body, qr/^svc_bundle_revision_info\{revision="[0-9a-f]{32}"\} 1$/m, 'the revision of policy' );
like( $page->body, qr/^svc_key_age_seconds\{use="$_"\} \d{1,4}$/m, "the age of the key for $_" ) for qw(oidc statement);
like( $page->body, qr/^svc_db_pool\{state="busy"\} [1-9]/m,        'the process that answers is busy' );

# ---- what callers choose makes no label

$stack->http->get('/no/such/path-4711');
$stack->http->get('/admin/api/clients/client-4711');
$stack->http->get('/admin/no-such-4711');
$stack->client->request( $_, '/token' ) for qw(PUT DELETE BREW4711);
$stack->http->post(
    '/token',
    form => [ grant_type => 'grant-4711', client_id => 'client-4711', client_secret => 'x' ] );
unlike( metrics()->body, qr/4711/, 'no raw path, no client and no grant of a caller is shown (gateway-admin.md 7.1)' );
for my $line (
    'route="(none)",method="other",code="404"',
    'route="/admin/api/clients/{clientId}",method="GET",code="401"',
    'route="/admin/",method="other",code="401"',
    'route="/token",method="other",code="405"',
    'route="/token",method="POST",code="400"' )
{
    cmp_ok( value("svc_http_requests_total{$line}"), '>', 0, "it is counted as $line" );
}

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

# ---- exact: 8 callers with 1000 requests each, behind 8 workers

my $many = Authz::Stack->start( workers => 8, settings => { SVC_POLICY_ENGINE => 'opa' } );
my @rs = $many->make_client( 'rs', { grants => ['client_credentials'], scopes => ['a'], endpoints => ['introspect'] } );
my $live = $many->token_text( @rs, scope => 'a' );
my $sum  = counter($many);

sub many_requests {
    local $many->{http} = my $http = $many->client;
    my %answer;
    for my $i ( 1 .. 1000 ) {
        my $answer =
            $i % 20 == 0 ? $many->token( @rs, scope => 'a' )
          : $i % 20 == 1 ? $many->token( @rs, scope => 'unentitled' )
          : $i % 20 == 2 ? $many->introspect( @rs, $live )
          : $i % 20 == 3 ? $many->introspect( @rs, 'at_of_nobody' )
          : $i % 20 == 4 ? $http->get("/no/such/path-$i")
          : $i % 20 <= 8 ? $http->get('/logout')
          :                $http->get('/health/live');
        $answer{ $answer->status }++;
    }
    return join ' ', map {"$_:$answer{$_}"} sort keys %answer;
}
my %wanted = (
    'svc_http_requests_total\{route="/token",method="POST",code="200"\}'                 => 400,
    'svc_http_requests_total\{route="/token",method="POST",code="400"\}'                 => 400,
    'svc_http_requests_total\{route="/token"'                                            => 800,
    'svc_http_requests_total\{route="/introspect",method="POST",code="200"\}'            => 800,
    'svc_http_requests_total\{route="\(none\)",method="other",code="404"\}'              => 400,
    'svc_http_requests_total\{route="/logout",method="GET"'                              => 1600,
    'svc_http_requests_total\{route="/health/live",method="GET",code="200"\}'            => 4400,
    'svc_http_request_seconds_count\{route="/token",method="POST"\}'                     => 800,
    'svc_http_request_seconds_bucket\{route="/health/live",method="GET",le="\+Inf"\}'    => 4400,
    'svc_unaudited_requests_total\{route="/logout",method="GET"\}'                       => 1600,
    'svc_tokens_issued_total\{grant="client_credentials"\}'                              => 400,
    'svc_tokens_issued_total'                                                            => 400,
    'svc_introspect_total\{active="true"\}'                                              => 400,
    'svc_introspect_total\{active="false"\}'                                             => 400,
    'svc_decisions_total\{evaluation="issue",outcome="allowed",reason_category="none"\}' => 400,
    'svc_decisions_total\{evaluation="issue",outcome="denied",reason_category="scope"\}' => 400,
    'svc_decisions_total\{evaluation="introspect"'                                       => 800,
    'svc_decisions_total'                                                                => 1600,
    'svc_opa_seconds_count'                                                              => 1600,
);
$sum->( $_, 1 ) for keys %wanted;
my @caller = map {
    Authz::Process->start( name => "caller$_", code => sub { print many_requests() } )
} 1 .. 8;
for my $caller (@caller) {
    $caller->wait( 300 * Authz::Process::patience() );
    is( $caller->log_text, '200:900 400:50 404:50', 'a caller got its 1000 answers' );
}
is( $sum->($_), $wanted{$_}, "8 callers with 1000 requests each: $_ is exact" ) for sort keys %wanted;
is( $many->sql("SELECT count(*) FROM audit_log WHERE operation = 'token' AND outcome = 'allowed'"),
    401, 'and agrees with the audit log' );
my ( $busy, $idle ) = map { $many->http->get('/metrics')->body =~ /^svc_db_pool\{state="$_"\} (\d+)$/m } qw(busy idle);
cmp_ok(
    $busy, '<=', 2,
    'afterwards only the process that answers is busy, and the one that holds the long poll of the engine' );
cmp_ok( $idle, '>=', 7, 'and the workers are idle' );
lint( $many, 'promtool check metrics has nothing to say of the full page' );

# The engine is away: there is no decision.
my $error = 'svc_decisions_total\{evaluation="issue",outcome="error",reason_category="system"\}';
$sum->( $_, 1 )
  for $error, 'svc_tokens_issued_total', 'svc_http_requests_total\{route="/token",method="POST",code="503"\}';
$many->{opa}->stop;
is( $many->token( @rs, scope => 'a' )->status, 503, 'the engine is away: 503' );
is( $sum->($error),                            1,   'the question is counted as an error' );
is( $sum->('svc_http_requests_total\{route="/token",method="POST",code="503"\}'), 1, 'so is the answer' );
is( $sum->('svc_tokens_issued_total'),                                            0, 'and no token is' );

# ---- 429, by path

my $few = Authz::Stack->start(
    settings => { SVC_RATE_LIMIT_ENABLED => 'true', SVC_RATE_LIMIT_REQUESTS => 1, SVC_RATE_LIMIT_WINDOW => 86400 } );
$few->http->get('/token') for 1 .. 4;
$few->http->post( '/token', form => [ grant_type => 'x' ] );
is( $few->http->get('/metrics')->body =~ /^svc_ratelimit_rejected_total\{path="\/token"\} (\d+)$/m ? $1 : 'none',
    4, 'requests over the limit are counted by path, those with a wrong method too (gateway-admin.md 7.1)' );

# ---- without the database

my $postgres = Authz::Postgres->shared_or_new( private => 1 );
my $away     = Authz::Stack->start( postgres => $postgres );
like( $away->http->get('/metrics')->body, qr/^svc_bundle_revision_info\{/m, 'with the database the revision is there' );
$postgres->stop;
my $began = time;
my $alone = $away->http->get('/metrics');
is( $alone->status, 200, 'while the database is away the metrics are there, because they are needed then' );
cmp_ok( time - $began, '<', 5, 'in bounded time' );
like( $alone->body, qr/^svc_http_requests_total\{/m, 'with what is counted' );
unlike( $alone->body, qr/^svc_(?:bundle_revision_info|key_age_seconds)\{/m, 'without what is in the database' );

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
is( $flood->http->get('/metrics')->body =~ /svc_unaudited\w+\{route="\/logout",method="GET"\} (\d+)/ ? $1 : 'none',
    LINES + 100,
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

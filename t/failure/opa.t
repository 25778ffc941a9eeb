# The policy engine away, slow, or lying: nothing is issued, nothing is shown as active, and the service recovers by itself
# (policy.md 6.2 "C rules"; decisions.md "Engine down, slow or answering nonsense"; performance.md R5).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Process ();
use Authz::Stack   ();

# On the real engine; beside it an instance with one worker, whose engine lies. Both with the shipped timeout.
# OPA decides in both: t/failure/engine_embedded.t is about the other engine.
my $stack = Authz::Stack->start( settings => { SVC_POLICY_ENGINE => 'opa' } );
my $lied  = Authz::Stack->start( beside   => $stack, fake_opa => 1, workers => 1 );
my $limit = 2;
my $api   = 'https://api.example';
my %cc    = ( grants => ['client_credentials'] );
my @crm   = $stack->make_client( 'crm',   { %cc, scopes => [ 'orders.read', 'orders.write' ], resources => [$api] } );
my @rs    = $stack->make_client( 'rs',    { endpoints => ['introspect'], resources => [$api] } );
my @deny  = $stack->make_client( 'deny',  {} );
my @once  = $stack->make_client( 'once',  { %cc, scopes => ['orders.read'], jit_single_use => true } );
my @named = $stack->make_client( 'named', { %cc, scopes => [ 'orders.read', 'orders.write' ] } );
$stack->sql("UPDATE client SET scope = 'orders.read' WHERE client_id = 'named'");
my $plain    = $stack->token_text( @crm,  scope => 'orders.read' );
my $narrow   = $stack->token_text( @crm,  scope => 'orders.read', resource => $api );
my $jit      = $stack->token_text( @once, scope => 'orders.read' );
my $revision = $stack->sql('SELECT acceptable[1] FROM bundle_state');

# ---- an answer as the engine gives it, in which each lie changes one thing

my $json   = JSON::PP->new->utf8->canonical;
my %honest = (
    allow => true, scopes => ['orders.read'], deny_reasons => [], matched_segments => [], expires_in_override => undef,
    jit_single_use => false );

sub document {
    my (%change) = @_;
    return { provenance => { bundles => { svc => { revision => $revision } } }, result => { %honest, %change } };
}
sub text { return $json->encode( document(@_) ) }

# The honest text with a place in it replaced; what is no JSON document of Perl's.
sub edited {
    my ( $find, $put ) = @_;
    my $text = text();
    $text =~ s/\Q$find\E/$put/ or die "no $find in $text";
    return $text;
}

sub issued      { return $stack->sql('SELECT count(*) FROM access_token') }
sub ask_token   { my (@form)  = @_; return $lied->token( @crm, scope => 'orders.read', @form ) }
sub ask_about   { my ($token) = @_; return $lied->introspect( @rs, $token ) }
sub framed      { my ( $head, $body ) = @_; return "HTTP/1.1 200 OK\r\n$head\r\n\r\n$body" }
sub with_length { my ($body) = @_; return framed( 'Content-Length: ' . length $body, $body ) }

# The detail that the log has for an answer; the line is written after the answer.
sub logged {
    my ($answer) = @_;
    my $id = $answer->header('X-Request-ID') // 'none';
    for ( 1 .. 200 ) {
        my ($line) = grep {/"request_id":"\Q$id\E"/} $lied->{service}->log_lines;
        return $json->decode($line)->{detail} // '' if defined $line;
        sleep 0.02;
    }
    return 'no line';
}

# A refusal, and for its own reason, which the caller is not told.
sub refused {
    my ( $answer, $why, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 503, 'temporarily_unavailable', $name );
    like( logged($answer), $why, "$name: for this reason" );
    return;
}

$lied->fake->tell( text => text() );
oauth_ok(
    ask_token(), { scope => 'orders.read' },
    'the honest text is accepted at /token: what follows is refused for the lie alone' );
oauth_ok( ask_about($plain), { active => true, scope => 'orders.read' }, 'and at /introspect' );
$lied->fake->tell(
    raw => framed( 'Transfer-Encoding: chunked', join( '', map {"1\r\n$_\r\n"} split //, text() ) . "0\r\n\r\n" ) );
oauth_ok( ask_token(), { scope => 'orders.read' }, 'and in chunks of one octet' );
my $rows = issued();

# ---- nonsense, the same to both endpoints: 503, no row, never active, never inactive

my $pad       = 131_072 - length text();
my $malformed = qr/policy engine: answer .*JSON/;
my @nonsense  = (
    [ 'the connection ends without an answer', ['close'], qr/policy engine: / ],
    [ 'an answer cut in the middle',           [ truncate => 20 ],                    qr/policy engine: / ],
    [ 'no HTTP',                               [ raw      => "+PONG\r\n" ],           qr/policy engine: / ],
    [ 'no HTTP but a good body (HTTP/0.9)',    [ raw      => text() ],                qr/policy engine: / ],
    [ 'a head alone',                          [ raw      => "HTTP/1.1 200 OK\r\n" ], qr/policy engine: / ],
    [   'a redirect',
        [ raw => "HTTP/1.1 302 Found\r\nLocation: " . $stack->base . "/health/live\r\nContent-Length: 0\r\n\r\n" ],
        qr/HTTP 302/ ],
    [   'a broken chunk', [ raw => "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n" . text() ],
        qr/policy engine: / ],
    [   'two lengths', [ raw => framed( 'Content-Length: ' . length( text() ) . "\r\nContent-Length: 5", text() ) ],
        qr/policy engine: / ],
    [ 'a length below zero', [ raw => framed( 'Content-Length: -1', text() ) ], qr/policy engine: / ],
    [   'a length beyond all numbers', [ raw => framed( 'Content-Length: 99999999999999999999', text() ) ],
        qr/policy engine: / ],
    [   'a chunk beyond all numbers',
        [ raw => framed( 'Transfer-Encoding: chunked', "ffffffffffffffff\r\n" . text() ) ], qr/policy engine: / ],
    [   'a chunk that is longer than it says',
        [ raw => framed( 'Transfer-Encoding: chunked', "5\r\n" . text() . "\r\n0\r\n\r\n" ) ], qr/policy engine: / ],
    [ 'a header of 120 kB',       [ raw => framed( 'X: ' . 'x' x 120_000, text() ) ],     qr/policy engine: / ],
    [ 'a header that never ends', [ raw => "HTTP/1.1 200 OK\r\n" . "X: y\r\n" x 20_000 ], qr/policy engine: / ],
    ( map { [ "status $_ with a good body", [ text => text(), status => $_ ], qr/HTTP $_/ ] } 201, 400, 404, 500, 503 ),
    [ 'an empty body',                     [ text => '' ],                   qr/HTTP 200|$malformed/ ],
    [ 'garbage',                           [ text => "\x00\xff garbage" ],   $malformed ],
    [ 'truncated JSON with a true length', [ text => substr text(), 0, -3 ], $malformed ],
    [ 'a good answer and text after it',   [ text => text() . 'x' ],         $malformed ],
    [ 'two good answers',                  [ text => text() . text() ],      $malformed ],
    [ 'an octet that is no UTF-8',         [ text => edited( 'orders.read', "orders.read\xff" ) ],   $malformed ],
    [ 'an escaped NUL in a scope',         [ text => edited( 'orders.read', 'orders.read\u0000' ) ], $malformed ],
    [   'a number too large for any type',
        [ text => edited( '"expires_in_override":null', '"expires_in_override":9223372036854775808' ) ], $malformed ],
    [ 'a member of the answer twice', [ text => edited( '"result":',    '"result":{},"result":' ) ],      $malformed ],
    [ 'allow twice, false and true',  [ text => edited( '"allow":true', '"allow":false,"allow":true' ) ], $malformed ],
    [   'a name repeated deep inside',
        [ text => edited( '"matched_segments":[]', '"extensions":{"a":[{"b":1,"b":2}]}' ) ], $malformed ],
    [ '50,000 brackets', [ text => 'NEST', nest => 50_000 ], $malformed ],
    [   '50,000 brackets as an extension',
        [ text => edited( '"matched_segments":[]', '"extensions":{"x":NEST}' ), nest => 50_000 ], $malformed ],
    [ '128 KiB, one octet past the limit', [ text => text(), pad => $pad + 1 ],   qr/policy engine: / ],
    [ '10 MB',                             [ text => text(), pad => 10_000_000 ], qr/policy engine: / ],
    (   map { [ "the answer $_", [ text => $_ ], qr/no bundle is active|$malformed/ ] } '{}', '[]', 'true', 'null',
        '"allow"', '{"result":{}}', '{"result":{"allow":true}}', '{"provenance":{"bundles":{}},"result":{"allow":true}}'
    ),
    [ 'no revision', [ text => edited( "\"revision\":\"$revision\"", '"manifest":1' ) ], qr/no bundle is active/ ],
    [ 'an empty revision',            [ text => edited( $revision,       '' ) ],         qr/no bundle is active/ ],
    [ 'a revision that is a number',  [ text => edited( "\"$revision\"", 7 ) ],          qr/no bundle is active/ ],
    [ 'a revision of another bundle', [ text => edited( '"svc":',        '"other":' ) ], qr/no bundle is active/ ],
    [   'an undefined result', [ text => $json->encode( { provenance => document()->{provenance} } ) ],
        qr/result is undefined/ ],
    (   map {
            [   "a result that is $_",
                [   text => $json->encode( { provenance => document()->{provenance}, result => 0 } ) =~
                      s/"result":0/"result":$_/r ],
                qr/result is not an object/ ]
        } 'true',
        '"true"',
        '[{"allow":true}]',
        'null',
        '1' ),
    [ 'an empty result', [ text => $json->encode( { %{ document() }, result => {} } ) ], qr/allow is not a boolean/ ],
    (   map { [ "allow that is $_", [ text => edited( '"allow":true', "\"allow\":$_" ) ], qr/allow is not a boolean/ ] }
          '"true"',
        '1', 'null', '{}', '[true]',
        '"false"' ),
    (   map { [ "scopes that are $_", [ text => edited( '["orders.read"]', $_ ) ], qr/scopes has a wrong type/ ] }
          '"orders.read"', '[5]', '{"orders.read":true}', 'true', '["orders.read",null]' ),
    (   map {
            [   "a lifetime of $_", [ text => edited( '"expires_in_override":null', "\"expires_in_override\":$_" ) ],
                qr/expires_in_override is not an integer/ ]
        } '"60"',
        '60.5', '1e9',
        'true' ),
    (   map {
            [   "jit_single_use that is $_", [ text => edited( '"jit_single_use":false', "\"jit_single_use\":$_" ) ],
                qr/jit_single_use is not a boolean/ ]
        } '"true"',
        '0',
        '[]' ),
    [ 'a resource that is a list', [ text => text( resource => [$api] ) ], qr/resource is not a string/ ],
    [   'obligations that are a list', [ text => text( obligations => [ { type => 'step-up' } ] ) ],
        qr/obligations has a wrong type/ ],
    [ 'claims that are a text', [ text => text( claims => 'sub=root' ) ], qr/claims is not an object/ ],
    [   'a reason without a code', [ text => text( deny_reasons => [ {} ] ) ],
        qr/deny_reasons contains an entry without code/ ],
    [   'a scope that was not asked', [ text => text( scopes => [ 'orders.read', 'orders.write' ] ) ], qr/scopes widens/
    ],
    [ 'a scope in other letters', [ text => text( scopes => ['Orders.read'] ) ],              qr/scopes widens/ ],
    [ 'two scopes in one text',   [ text => text( scopes => ['orders.read orders.write'] ) ], qr/scopes widens/ ],
    [ 'a resource where none was asked', [ text => text( resource => $api ) ], qr/resource is not the requested/ ],
    [   'a resource type that was not asked', [ text => text( resource_types => ['urn:r:orders'] ) ],
        qr/resource_types widens/ ],
    [   'authorization_details that were not asked',
        [ text => text( authorization_details => [ { type => 'payment' } ] ) ], qr/authorization_details widens/ ],
);
for my $case (@nonsense) {
    my ( $name, $order, $why ) = @$case;
    $lied->fake->tell(@$order);
    refused( ask_token(),       $why, "R5 /token: $name" );
    refused( ask_about($plain), $why, "R5 /introspect: $name" );
}
is( issued(), $rows, 'R5: none of these answers left a token behind' );
oauth_error(
    ask_about($jit), 503, 'temporarily_unavailable',
    'R5: a single-use token is not shown on the word of a liar' );

# ---- widening what was asked for, at issue

my $paid     = [ { type => 'payment', actions => ['initiate'], locations => [$api] } ];
my @details  = ( authorization_details => $json->encode($paid) );
my @widening = (
    [   'another resource than the one asked', [ resource => $api ], { resource => 'https://evil.example' },
        qr/resource is not the requested/ ],
    [   'a resource below the one asked', [ resource => $api ], { resource => "$api/admin" },
        qr/resource is not the requested/ ],
    [   'no resource instead of the one asked: a token for everything', [ resource => $api ], {},
        qr/resource is missing/ ],
    [   'no resource types instead of those asked', [ resource_types => 'urn:r:orders' ], {},
        qr/resource_types is missing/ ],
    [   'a resource type beside the one asked',                [ resource_types => 'urn:r:orders' ],
        { resource_types => [ 'urn:r:orders', 'urn:r:all' ] }, qr/resource_types widens/ ],
    [   'a resource type that is not tied to the resource',    [ resource => $api ],
        { resource => $api, resource_types => ['urn:r:all'] }, qr/resource_types widens/ ],
    [   'details with an action more', \@details,
        { authorization_details => [ { %{ $paid->[0] }, actions => [ 'initiate', 'cancel' ] } ] },
        qr/authorization_details widens/ ],
    [   'details without their restriction', \@details,
        { authorization_details => [ { type => 'payment', actions => ['initiate'] } ] },
        qr/authorization_details widens/ ],
    [   'details of another type', \@details, { authorization_details => [ { %{ $paid->[0] }, type => 'refund' } ] },
        qr/authorization_details widens/ ],
    [ 'details twice', \@details, { authorization_details => [ @$paid, @$paid ] }, qr/authorization_details widens/ ],
);
for my $case (@widening) {
    my ( $name, $form, $change, $why ) = @$case;
    $lied->fake->tell( text => text(%$change) );
    refused( ask_token(@$form), $why, "widening /token: $name (policy.md 6.2)" );
}
$lied->fake->tell( text => text( scopes => [ 'orders.read', 'orders.write' ] ) );
refused(
    $lied->token( @named, scope => 'orders.read orders.write' ), qr/scopes widens/,
    'widening /token: a scope asked for, beyond those registered' );
$lied->fake->tell( text => text( resource => $api ) );
refused(
    ask_token( resource => "$api/" ), qr/resource is not the requested/,
    'widening /token: the resource without its slash' );
is( issued(), $rows, 'widening: none of these answers left a token behind' );

# ---- and at introspection: only what the token holds

for my $case (
    [ $narrow, {},                                     qr/resource is missing/, 'the resource of the token left out' ],
    [ $narrow, { resource => 'https://evil.example' }, qr/resource is not the requested/, 'another resource' ],
    [   $narrow, { resource => $api, resource_types => ['urn:r:orders'] }, qr/resource_types widens/,
        'a type the token does not have' ],
    [ $jit, { scopes => [ 'orders.read', 'orders.write' ] }, qr/scopes widens/, 'a scope more for a single-use token' ],
    [ 'garbage', {},                                         qr/scopes widens/, 'scopes for a token that is none' ] )
{
    my ( $token, $change, $why, $name ) = @$case;
    $lied->fake->tell( text => text(%$change) );
    refused( ask_about($token), $why, "widening /introspect: $name (policy.md 6.2)" );
}
$lied->fake->tell( text => text( scopes => [] ) );
inactive( ask_about('garbage'), 'widening /introspect: an allow does not make garbage a token' );
my $life = $stack->introspect( @rs, $plain )->member('exp');
$lied->fake->tell(
    text => text(
        expires_in_override => 86400, claims => { sub => 'root', scope => 'all', exp => 9e9, client_id => 'root' } ) );
oauth_ok(
    ask_about($plain), { active => true, exp => $life, sub => 'crm', client_id => 'crm', scope => 'orders.read' },
    'introspect: a longer lifetime and reserved claims in the answer change nothing (policy.md 6.2)' );

# ---- what is odd but means something (decisions.md "Tokens", "/token outcomes"; policy.md 6.2)

my @meaning = (
    [ { expires_in_override => 86400 }, 'a lifetime of 86400 s holds', sub { $_[0]->member('expires_in') == 86400 } ],
    [   { expires_in_override => 86401 }, 'one of 86401 s is cut to 86400', sub { $_[0]->member('expires_in') == 86400 }
    ],
    [   { expires_in_override => 9_223_372_036_854_775_807 }, 'the longest is cut to 86400',
        sub { $_[0]->member('expires_in') == 86400 } ],
    [ { expires_in_override => 0 },  'a lifetime of 0 is a deny',                             'access_denied' ],
    [ { expires_in_override => -1 }, 'a negative lifetime is a deny',                         'access_denied' ],
    [ { scopes => undef }, 'an allow without scopes, when some were asked, is invalid_scope', 'invalid_scope' ],
    [ { scopes => [] },    'an allow with no scope left is invalid_scope',                    'invalid_scope' ],
    [ { allow  => false }, 'a deny without a reason is access_denied',                        'access_denied' ],
    [   { allow => false, scopes => [ 'a', 'b' ], resource => 'https://evil.example' },
        'a deny that also widens is a deny', 'access_denied' ],
    [   { future => { member => 1 }, resource => undef, obligations => undef },
        'unknown members are ignored, null is absent', sub { $_[0]->member('scope') eq 'orders.read' } ],
);
for my $case (@meaning) {
    my ( $change, $name, $want ) = @$case;
    $lied->fake->tell( text => text(%$change) );
    my ( $before, $answer ) = ( issued(), ask_token() );
    if ( ref $want ) { ok( $answer->status == 200 && $want->($answer), "meaning: $name" ) or diag( $answer->text ) }
    else             { oauth_error( $answer, 400, $want, "meaning: $name" ) }
    is( issued() - $before, ref $want ? 1 : 0, "meaning: $name, in the table too" );
}
$lied->fake->tell( text => text(), pad => $pad );
oauth_ok( ask_token(), { scope => 'orders.read' }, 'an answer of 128 KiB is read' );

# ---- a revision that may not decide (decisions.md "Which revisions may decide")

$rows = issued();
$lied->fake->tell( text => edited( $revision, 'r9-000000000000' ) );
refused(
    ask_token(), qr/revision r9-000000000000, which is not acceptable/,
    'revision: an engine on another bundle issues nothing' );
refused( ask_about($plain), qr/revision r9-000000000000, which is not acceptable/, 'revision: and shows nothing' );
is( issued(), $rows, 'revision: no token was left behind' );

# ---- slow: bounded by the policy timeout, and a late answer is not used

# The answer, which must come when the timeout is over; the bound is wide for the sake of a busy machine.
sub in_time {
    my ( $name,  $ask )    = @_;
    my ( $start, $answer ) = ( time, $ask->() );
    my $took = time - $start;
    refused( $answer, qr/policy engine: .*(?:time|Time)/, "slow: $name" );
    ok( $took >= $limit * 0.95 && $took < $limit + 3, "slow: $name comes after the policy timeout of $limit s" )
      or diag("$took s");
    return;
}
$lied->fake->tell( delay => 3 );
in_time( '/token with an engine that takes 3 s',      sub { ask_token() } );
in_time( '/introspect with an engine that takes 3 s', sub { ask_about($plain) } );
$lied->fake->tell('drip');
in_time( '/token with an engine that sends an octet a second', sub { ask_token() } );
$lied->fake->tell('pass');
oauth_error(
    $lied->token(@deny), 400, 'unauthorized_client',
    'slow: the next question gets its own answer, not the late one' );
$lied->fake->tell( raw => with_length( text( allow => false ) ) . with_length( text() ), stay => 1 );
oauth_error(
    $_, $_->status, 'access_denied|temporarily_unavailable',
    'desync: of two answers to one question the second does not count' ) for ask_token();
$lied->fake->tell('pass');
oauth_error(
    $lied->token( @deny, scope => 'orders.read' ), 400, 'unauthorized_client',
    'desync: and the second is not the answer to the next question' );
is( issued(), $rows, 'slow, desync: no token was left behind' );

# ---- recovery, without a restart

oauth_ok( ask_token(), { scope => 'orders.read' }, 'recovery: the engine is honest again, and a token is issued' );
oauth_ok( ask_about($plain), { active => true },   'recovery: a token is shown' );
oauth_ok( ask_about($jit),   { active => true },   'recovery: the single-use token was not used up by the failures' );
inactive( ask_about($jit), 'recovery: and is now' );
unlike(
    $lied->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    'recovery: no worker died of all this' );
my $failed = $stack->sql(
    "SELECT count(*) FROM audit_log WHERE http_status = 503 AND outcome = 'error' AND endpoint IN ('/token', '/introspect')"
);
cmp_ok(
    $failed, '>=', 2 * @nonsense + @widening,
    'audit: every failure has its row, with outcome error (decisions.md "Audited")' );

# ---- the real engine: stopped, killed, gone

# Requests at the same moment: each one's answer, and how long all took.
sub at_once {
    my ($tokens) = @_;
    my $http     = $stack->client;
    my @job      = map {
        [   $http,
            $http->octets(
                'POST', $_->[0], headers => [ Authz::Client::basic( @{ $_->[1] } ) ], form => $_->[2], close => 1 ) ]
      } [ '/token', \@crm, [ grant_type => 'client_credentials', scope => 'orders.read' ] ],
      [ '/introspect', \@rs, [ token => $plain ] ], [ '/introspect', \@rs, [ token => 'garbage' ] ],
      [ '/revoke', \@crm, [ token => $tokens ] ];
    my $start  = time;
    my @answer = Authz::Client::together(@job);
    return ( time - $start, @answer );
}

sub checks {
    my ($answer) = @_;
    return { map { ( $_->{name} => $_->{status} ) } @{ $answer->member('checks') // [] } };
}

sub outage {
    my ( $name, $least, $most ) = @_;
    my $kept = $stack->token_text( @crm, scope => 'orders.read' );
    my $end  = $stack->token_text( @crm, scope => 'orders.read' );
    my $had  = issued();
    $_[3]->();
    my ( $took, @answer ) = at_once($end);
    oauth_error( $answer[0], 503, 'temporarily_unavailable', "$name: /token is 503" );
    oauth_error(
        $answer[1], 503, 'temporarily_unavailable',
        "$name: /introspect of a good token is 503, never inactive" );
    oauth_error( $answer[2], 503, 'temporarily_unavailable', "$name: /introspect of garbage is 503" );
    is( $answer[3]->status, 200, "$name: /revoke needs no policy" );
    ok( $took >= $least && $took < $most, "$name: all of it within $most s" ) or diag("$took s");
    is( issued(),                                            $had, "$name: no token was left behind" );
    is( $stack->http->get('/health/live')->status,           200,  "$name: the service is alive" );
    is( $stack->http->get('/.well-known/jwks.json')->status, 200,  "$name: what needs no policy is served" );
    my ( $until, $ready, $held ) = time + 20;
    do {    # each process keeps its result for a second
        my $start = time;
        $ready = $stack->http->get('/health/ready');
        $held  = time - $start;
    } while ( $ready->status == 200 && time < $until );
    is( $ready->status, 503, "$name: and not ready" );
    my $seen = checks($ready);
    delete $seen->{decisions};    # DOWN if as many failed
    is_deeply(
        $seen,
        {   database       => 'UP', migrations          => 'UP', opa => 'DOWN', bundle => 'DOWN', signing_key => 'UP',
            credential_key => 'UP', spiffe_trust_bundle => 'UP', audit_seal => 'UP' },
        "$name: because of opa and bundle (gateway-admin.md 7.1)" );
    my ($opa) = grep { $_->{name} eq 'opa' } @{ $ready->member('checks') };
    like(
        $opa->{detail},
        qr/\Apolicy engine: .*\(unix:\Q$stack->{opa_socket}\E\); if this lasts, restart Open Policy Agent \(systemctl restart authz-opa/,
        "$name: the check names its socket, and says what to do" );
    like( $opa->{detail}, qr/no answer in time from process \d+ /, "$name: ... and its process" ) if $least > 0;
    my ($first) = grep { $_->{kind} ne 'errors' } @{ $stack->admin( GET => '/admin/api/attention' )->json };
    is( "$first->{kind} $first->{name}", 'not_ready opa', "$name: attention leads with it" );
    ok( $held < $limit * 1.9, "$name: the engine is asked once, so a worker is held for one policy timeout" )
      or diag("$held s");
    $_[4]->();
    my $back;
    $until = time + 20;
    do { $back = $stack->token( @crm, scope => 'orders.read' ); sleep 0.05 if $back->status != 200 }
      while ( $back->status != 200 && time < $until );
    oauth_ok( $back, { scope => 'orders.read' }, "$name: over, tokens are issued again, without a restart" );
    oauth_ok( $stack->introspect( @rs, $kept ), { active => true }, "$name: a token from before is active" );
    inactive( $stack->introspect( @rs, $end ), "$name: the one revoked meanwhile is not" );
    return;
}

outage(
    'engine stopped (SIGSTOP)', $limit * 0.95, $limit + 4, sub { $stack->{opa}->signal('STOP') },
    sub { $stack->{opa}->signal('CONT') } );
outage( 'engine killed', 0, 2, sub { $stack->{opa}->stop('KILL') }, sub { $stack->start_opa } );
outage(
    'engine killed, its socket gone', 0, 2,
    sub { $stack->{opa}->stop('KILL'); unlink $stack->{opa_socket} or die "unlink: $!" }, sub { $stack->start_opa } );
$stack->{opa}->stop('KILL');
my $away = $stack->ready_as(503);
is( $away->status, 503, 'without an engine the service is not ready' );
my ($why) = map { $_->{detail} // '' } grep { $_->{name} eq 'opa' } @{ $away->member('checks') };
like( $why, qr/\(unix:\Q$stack->{opa_socket}\E\)/, '... and readiness names the socket' );
is( $stack->token( @crm, scope => 'orders.read' )->status, 503, 'without an engine there is no token' );
Authz::Process::until_true( 10, sub { $stack->{service}->log_text =~ /\(unix:\Q$stack->{opa_socket}\E\)/ } );
like(
    $stack->{service}->log_text, qr/policy engine: [^"]*\(unix:\Q$stack->{opa_socket}\E\)/,
    '... the log names it too' );
unlike(
    "$why\n" . $stack->{service}->log_text, qr/opa port|port 80|http:\/\/opa/,
    '... and neither has the host and port that libcurl knows' );
$stack->start_opa;
my $ready = $stack->ready_as(200);
is( $ready->status, 200, 'with one it is' );
is( join( ' ', map {"$_->{name}=$_->{status}"} @{ $ready->member('checks') } ),
    'database=UP migrations=UP opa=UP bundle=UP decisions=UP signing_key=UP credential_key=UP spiffe_trust_bundle=UP audit_seal=UP',
    'readiness: the checks of gateway-admin.md 7.1, all up' );
$stack->sql(
    q{UPDATE signing_key SET private_sealed = set_byte(private_sealed, 20, get_byte(private_sealed, 20) # 1) WHERE state = 'active'}
);

sub down {
    return join ' ', map { $_->{name} } grep { $_->{status} eq 'DOWN' } @{ $ready->member('checks') };
}
my $until = time + 20;    # each process keeps its last result for a second
do { $ready = $stack->ready_as(503) } while ( down() ne 'credential_key' && time < $until );
is( $ready->status, 503,              'readiness: a key that SVC_CREDENTIAL_KEY does not open: 503' );
is( down(),         'credential_key', 'readiness: the credential key is what is down' );
like(
    ( map { $_->{detail} // '' } grep { $_->{name} eq 'credential_key' } @{ $ready->member('checks') } )[0],
    qr/SVC_CREDENTIAL_KEY/, 'readiness: and its detail names the setting' );
$stack->sql(
    q{UPDATE signing_key SET private_sealed = set_byte(private_sealed, 20, get_byte(private_sealed, 20) # 1) WHERE state = 'active'}
);
is( $stack->ready_as(200)->status, 200, 'readiness: and ready again with the right one' );
unlike( $stack->{service}->log_text, qr/worker ended/, 'and it is the same processes all along' );

done_testing;

# Audit rows: one for every audited request, with policy's input and output; and nothing secret anywhere (specification
# 2.7, 6; decisions.md "Audited"; architecture.md 7; performance.md R18).
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client  ();
use Authz::Secrets ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { SVC_LOG_LEVEL => 'debug' } );
my %cc    = ( grants => ['client_credentials'] );
my @crm   = $stack->make_client( 'crm', { %cc, scopes => ['orders.read'] }, clientSecret => 'secret-of-crm-5e1f' );
my @rs    = $stack->make_client(
    'rs', { %cc, scopes => ['introspection'], endpoints => ['introspect'] },
    clientSecret => 'secret-of-rs-9b2d' );

my @columns =
  qw(request_id client_id subject_id endpoint operation method http_status outcome ip user_agent flow_id policy_input policy_decision);

# The audit rows of one request id, the two documents unpacked; waits, for some are written after the answer.
sub rows {
    my ($id) = @_;
    my @row;
    for ( 1 .. 200 ) {
        @row = split /\n/,
          $stack->sql( 'SELECT '
              . join( ', ', map {"coalesce($_\::text, '')"} @columns )
              . " FROM audit_log WHERE request_id = '$id' ORDER BY id" );
        last if @row;
        sleep 0.05;
    }
    return map { _row($_) } @row;
}

sub _row {
    my ($line) = @_;
    my %row;
    @row{@columns} = split /\t/, $line, -1;
    for my $name (qw(policy_input policy_decision)) {
        $row{$name} = $row{$name} eq '' ? undef : decode_packed( $row{$name} );
    }
    return \%row;
}

# Sends, and tests that there is exactly one row and what is in it.
my $number = 0;

sub audited {
    my ( $name, $want, $send ) = @_;
    my $id     = 'audit-' . ++$number;
    my $answer = $send->($id);
    my @row    = rows($id);
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    is( scalar @row, 1, "audit: $name has exactly one row" ) or diag( $answer->text );
    members_are( $row[0] // {}, { http_status => $answer->status, %$want }, "audit: the row of $name is right" );
    return $row[0] // {};
}

# Sends; that no row is left is tested at the end, when all that was sent later has its row.
my @unaudited;

sub unaudited {
    my ( $name, $status, $send ) = @_;
    my $id     = 'audit-' . ++$number;
    my $answer = $send->($id);
    push @unaudited, [ $name, $id ];
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $answer->status, $status, "audit: $name is $status" );
}

sub form {
    my ( $path, $client, @form ) = @_;
    return sub {
        $stack->http->post(
            $path,
            headers =>
              [ 'X-Request-ID' => $_[0], 'User-Agent' => 'audit/1', $client ? Authz::Client::basic(@$client) : () ],
            form => \@form );
    }
}
my @grant = ( grant_type => 'client_credentials' );

my $row = audited(
    'a token',
    {   outcome    => 'allowed', endpoint => '/token', operation => qr/\A\w+\z/, method => 'POST', client_id => 'crm',
        subject_id => 'crm',     ip       => qr/\A127\.0\.0\.1/, user_agent => 'audit/1', flow_id => qr/./ },
    form( '/token', \@crm, @grant, scope => 'orders.read other' ) );
my ( $input, $output ) = @$row{qw(policy_input policy_decision)};
members_are(
    $input,
    {   evaluation  => 'issue', schema => 1, client => sub { $_[0]{id} eq 'crm' },
        scopes      => sub { "@{ $_[0]{requested} }" eq 'orders.read other' },
        environment => sub { $_[0]{ip} eq '127.0.0.1' } },
    'audit: pdpInput is the whole question (policy.md 6.2)' );
members_are(
    $output,
    {   allow   => true, scopes => ['orders.read'], revision => qr/\A[0-9a-f]{32}\z/,
        engine  => qr{\A(?:opa/\d+\.\d|embedded/)},
        eval_us => qr/\A\d+\z/, deny_reasons => sub { $_[0][0]{code} eq 'scope_not_entitled' } },
    'audit: pdpOutput is the whole answer with revision and engine' );

# A token keeps its pdpOutput and the audit row that has its pdpInput: what evaluation 2 starts from.
my ( $its_input, $its_output ) = map { decode_packed($_) } split /\t/,
  $stack->sql(
    "SELECT encode(a.policy_input, 'hex'), encode(t.pdp_output, 'hex') FROM access_token t JOIN audit_log a ON a.id = t.audit_id"
  );
is_deeply( $its_input,  $input,  'audit: pdpInput is stored with the token (specification 1)' );
is_deeply( $its_output, $output, 'audit: so is pdpOutput' );
$row = audited(
    'a denial', { outcome => 'denied', client_id => 'crm', endpoint => '/token' },
    form( '/token', \@crm, @grant, scope => 'other' ) );
members_are( $row->{policy_decision}, { deny_reasons => sub { @{ $_[0] } > 0 } }, 'audit: a denial keeps its reasons' );
audited(
    'a client that is not registered for the scope', { outcome => 'denied', endpoint => '/token', client_id => 'crm' },
    form( '/token', \@crm, @grant, scope => 'other' ) );
unaudited( 'a wrong secret',    401, form( '/token', [ 'crm',    'wrong-secret-77aa' ], @grant ) );
unaudited( 'an unknown client', 401, form( '/token', [ 'nobody', 'wrong-secret-77aa' ], @grant ) );
unaudited( 'a request that is refused before the secret is looked at', 400, form( '/token', \@crm, scope => 'x' ) );
unaudited(
    'an unsupported grant', 400,
    form( '/token', \@crm, grant_type => 'password', username => 'u', password => 'password-of-u-31c4' ) );

# denied is policy's word: what was refused before policy was asked is rejected (decisions.md "Audited").
$stack->make_client( 'spa', { %cc, scopes => ['orders.read'] },           clientType   => 'public' );
$stack->make_client( 'reg', { %cc, scopes => [ 'orders.read', 'more' ] }, clientSecret => 'secret-of-reg-44d0' );
$stack->sql("UPDATE client SET scope = 'orders.read' WHERE client_id = 'reg'");
for my $case (
    [ 'a resource that is no URI', 'invalid_target', \@crm, resource => 'abc' ],
    [ 'two resources', 'invalid_target', \@crm, resource => 'https://a.example', resource => 'https://b.example' ],
    [ 'a forbidden character in the scope', 'invalid_scope', \@crm,                           scope       => 'a"b' ],
    [ 'a scope beyond the registered ones', 'invalid_scope', [ 'reg', 'secret-of-reg-44d0' ], scope       => 'more' ],
    [ 'authorization_details without type', 'invalid_authorization_details', \@crm, authorization_details => '[{}]' ],
  )
{
    my ( $name, $error, $client, @form ) = @$case;
    my $answer;
    my $refused = audited(
        $name, { outcome => 'rejected', endpoint => '/token', http_status => 400 },
        sub { $answer = form( '/token', $client, @grant, @form )->(@_) } );
    oauth_error( $answer, 400, $error, "audit: $name is $error" );
    is( $refused->{policy_input} // $refused->{policy_decision}, undef, "audit: $name: policy was not asked" );
}

unaudited( 'a public client, which anybody can name', 400, form( '/token', undef, @grant, client_id => 'spa' ) );

# The same codes from policy are denials, in the log too.
sub logged_outcome {
    my ($id) = @_;
    for ( 1 .. 500 ) {
        my ($line) = grep {/"request_id":"\Q$id\E"/} $stack->{service}->log_lines;
        return JSON::PP->new->utf8->decode($line)->{outcome} if defined $line && $line =~ /"outcome"/;
        sleep 0.02;
    }
    return 'no line';
}
$row = audited(
    'a scope that policy refuses', { outcome => 'denied', http_status => 400 },
    form( '/token', \@crm, @grant, scope => 'other' ) );
ok( defined $row->{policy_decision}, 'audit: with what policy said' );
is( logged_outcome("audit-$number"), 'denied', 'log: the outcome is that of the audit row' );
audited( 'a bad scope', { outcome => 'rejected' }, form( '/token', \@crm, @grant, scope => 'a"b' ) );
is( logged_outcome("audit-$number"), 'rejected', 'log: rejected where policy was not asked' );

my $token = $stack->token_text( @crm, scope => 'orders.read' );
$row = audited(
    'an introspection',
    { outcome => 'allowed', endpoint => '/introspect', subject_id => 'crm', client_id => 'rs' },
    form( '/introspect', \@rs, token => $token ) );
members_are(
    $row->{policy_input},
    { evaluation => 'introspect', caller => sub { $_[0]{client_id} eq 'rs' }, baseline => sub { ref $_[0] eq 'HASH' } },
    'audit: the input of evaluation 2 with caller and baseline' );
audited(
    'an introspection of garbage', { outcome => 'rejected', client_id => 'rs' },
    form( '/introspect', \@rs, token => 'garbage' ) );
audited(
    'an introspection denied now', { outcome => 'denied' },
    form( '/introspect', \@rs, token => $token, context => '{"scopes":["none"]}' ) );
audited(
    'a caller without entitlement', { outcome => 'denied', client_id => 'crm' },
    form( '/introspect', \@crm, token => $token ) );
audited(
    'a bad Bearer',
    { outcome => 'rejected' },
    sub {
        $stack->http->post(
            '/introspect', headers => [ 'X-Request-ID' => $_[0], Authz::Client::bearer($token) ],
            form => [ token => $token ] );
    } );
audited(
    'a revocation', { outcome => 'allowed', endpoint => '/revoke', client_id => 'crm' },
    form( '/revoke', \@crm, token => $token ) );
audited(
    'a revocation of a token that is revoked already, by its client',
    { outcome => 'allowed', endpoint => '/revoke', client_id => 'crm' }, form( '/revoke', \@crm, token => $token ) );
unaudited( 'a revocation without credentials', 200, form( '/revoke', undef, token => $token ) );
unaudited( 'a revocation of garbage',          200, form( '/revoke', undef, token => 'garbage' ) );
unaudited(
    'a revocation of garbage by a public client', 200,
    form( '/revoke', undef, token => $token, client_id => 'spa' ) );
unaudited(
    'a revocation with a wrong secret', 401,
    form( '/revoke', [ 'crm', 'wrong-secret-77aa' ], token => $token ) );
unaudited(
    'an introspection with a wrong secret', 401,
    form( '/introspect', [ 'rs', 'wrong-secret-77aa' ], token => $token ) );
unaudited(
    'a logout without a session', 200,
    sub { $stack->http->get( '/logout', headers => [ 'X-Request-ID' => $_[0] ] ) } );
unaudited(
    'a callback with an unknown state', 400,
    sub { $stack->http->get( '/authorize/callback/corp?state=x&code=y', headers => [ 'X-Request-ID' => $_[0] ] ) } );
unaudited( 'a consent with an unknown id', 400, form( '/authorize/consent', undef, id => 'x', decision => 'allow' ) );
unaudited(
    'an authorization request of an unknown client', 400,
    sub { $stack->http->get( '/authorize?client_id=nobody', headers => [ 'X-Request-ID' => $_[0] ] ) } );
unaudited( 'a registration that is no JSON', 415, form( '/register', undef, x => 'y' ) );
unaudited(
    'userinfo without a token of ours', 401,
    sub { $stack->http->get( '/userinfo', headers => [ 'X-Request-ID' => $_[0], Authz::Client::bearer('x') ] ) } );

sub admin {
    my ( $method, $path, @more ) = @_;
    return sub { $stack->admin( $method => $path, headers => [ 'X-Request-ID' => $_[0] ], @more ) }
}
my $clients = '/admin/api/clients';
audited(
    'a client created',
    { outcome => 'allowed', endpoint => $clients, method => 'POST' },
    admin(
        POST => $clients,
        json => { clientId => 'new', clientType => 'confidential', clientSecret => 'secret-of-new-c0de' } ) );
audited(
    'a client changed',
    { outcome => 'allowed', endpoint => "$clients/{clientId}", method => 'PUT' },
    admin(
        PUT  => "$clients/new",
        json => { clientId => 'new', clientType => 'confidential', clientSecret => 'secret-of-new-beef' } ) );
audited(
    'a secret rotated', { outcome => 'allowed', endpoint => "$clients/{clientId}/rotate-secret" },
    admin( POST => "$clients/new/rotate-secret" ) );
audited( 'a client deleted',      { outcome => 'allowed', method => 'DELETE' }, admin( DELETE => "$clients/new" ) );
audited( 'a refused admin write', { outcome => 'rejected' }, admin( POST => $clients, json => { clientId => '' } ) );
unaudited(
    'an admin write with a wrong key', 401,
    admin( POST => $clients, json => {}, key => 'wrong-key-of-admin-1f1f' ) );
audited(
    'a policy data write',
    { outcome => 'allowed' },
    admin(
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings', json => { clients => { x => {} } } )
);
audited(
    'a policy data write that breaks the schema',
    { outcome => 'rejected' },
    admin(
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings', json => { clients => { x => 5 } } )
);
my $row_path = '/admin/api/policy-data/by-key?dataKey=acme.x';
audited(
    'a policy data row put', { outcome => 'allowed', method => 'PUT' },
    admin( PUT => $row_path, json => { dataKey => 'acme.x', payload => '{}' } ) );
audited( 'a policy data row deleted', { outcome => 'allowed', method => 'DELETE' }, admin( DELETE => $row_path ) );
audited(
    'a deletion of what is not there', { outcome => 'rejected', http_status => 404 },
    admin( DELETE => $row_path ) );
unaudited(
    'a body that is too large', 413,
    form( '/token', \@crm, @grant, x => 'y' x 70_000 ) );
unaudited(
    'a content type that is none', 400,
    sub {
        $stack->http->post(
            '/token',
            headers => [ 'X-Request-ID' => $_[0], Authz::Client::basic(@crm), 'Content-Type' => 'text/plain' ],
            body    => 'x' );
    } );

# Plain reads are not audited (decisions.md "Audited").
for my $path ( '/.well-known/jwks.json', '/.well-known/openid-configuration', '/health/ready', '/nowhere' ) {
    $stack->http->get( $path, headers => [ 'X-Request-ID' => 'plain' ] );
}
$stack->admin( GET => $_, headers => [ 'X-Request-ID' => 'plain' ] )
  for $clients, "$clients/crm", '/admin/api/admin-keys',
  '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings';
sleep 0.2;
is( $stack->sql("SELECT count(*) FROM audit_log WHERE request_id = 'plain'"), 0,
    'audit: discovery, health and plain reads leave no row' );

for my $case (@unaudited) {
    my ( $name, $id ) = @$case;
    is( $stack->sql("SELECT count(*) FROM audit_log WHERE request_id = '$id'"), 0,
        "audit: $name leaves no row: it proved nothing and changed nothing (decisions.md \"Audited\")" );
}

# The count over many: as many rows as requests (R18).
my $before = $stack->sql('SELECT count(*) FROM audit_log');
my $http   = $stack->client;
my $octets = $http->octets(
    'POST', '/token', headers => [ Authz::Client::basic(@crm) ],
    form => [ @grant, scope => 'orders.read' ], close => 1 );
Authz::Client::together( map { [ $http, $octets ] } 1 .. 100 );
is( $stack->sql('SELECT count(*) FROM audit_log') - $before, 100, 'audit: 100 parallel requests leave 100 rows (R18)' );
is( $stack->sql('SELECT count(*) FROM audit_log a WHERE (SELECT count(*) FROM audit_log b WHERE b.id = a.id) > 1'), 0,
    'audit: ids are unique' );

# Without the engine there is no decision, and the row says so (policy.md 1: outcome error).
$stack->restart_service( settings => { SVC_POLICY_ENGINE => 'opa' } );
$stack->{opa}->stop;
audited(
    'a request that the engine does not answer',
    {   outcome => 'error', http_status => 503, client_id => 'crm', policy_input => sub { $_[0]{client}{id} eq 'crm' },
        policy_decision => sub { !defined $_[0]{allow} && $_[0]{error} =~ /\Apolicy engine: / } },
    form( '/token', \@crm, @grant ) );

# Nothing secret in logs, rows, or documents.
my @secrets = (
    'secret-of-', 'wrong-secret', 'wrong-key-of', 'password-of-u', $token, ( $token =~ /(.{30})\z/ )[0],
    values %Authz::Stack::KEY,
    map { $_->[1] } ( [ Authz::Client::basic(@crm) ], [ Authz::Client::basic(@rs) ] ) );
s/\ABasic // for @secrets;
my $pattern = join '|', map {quotemeta} @secrets;
my @names   = map {"$_\::text"} qw(request_id client_id subject_id endpoint request_summary user_agent);
my $texts   = $stack->sql( 'SELECT concat_ws(chr(32), ' . join( ', ', @names ) . ') FROM audit_log' );
unlike( $texts, qr/$pattern/, 'audit: no row holds a secret, a token or a credential' );
my $documents = $stack->sql(
    "SELECT encode(policy_input, 'hex') FROM audit_log WHERE policy_input IS NOT NULL UNION ALL SELECT encode(policy_decision, 'hex') FROM audit_log WHERE policy_decision IS NOT NULL"
);
my ( $bad, $count ) = ( 0, 0 );
for my $hex ( split /\n/, $documents ) {
    $count++;
    $bad++ if JSON::PP->new->canonical->encode( decode_packed($hex) ) =~ /$pattern/;
}
ok( $count > 100 && $bad == 0, "audit: none of $count policy documents does (policy.md 6.2)" );
my $log = $stack->{service}->log_text;
ok( length $log > 1000, 'log: there is one, at level debug' );
unlike( $log, qr/$pattern/, 'log: holds no secret, token or credential' );
my @broken = grep {
    !eval { JSON::PP->new->utf8->decode($_); 1 }
} split /\n/, $log;
is( scalar @broken, 0, 'log: every line is one JSON object' ) or diag( $broken[0] );
like( $log, qr/"request_id":"audit-1"/, 'log: lines carry the request id' );
my $dump = $stack->sql("SELECT concat_ws(chr(32), c.*) FROM client c")
  . $stack->sql("SELECT concat_ws(chr(32), t.*) FROM access_token t");
unlike( $dump, qr/$pattern/, 'database: neither clients nor tokens hold a secret or token in the clear' );

# The search at the end of each file finds what it looks for.
is_deeply(
    [ Authz::Secrets::search($stack) ], [],
    'secrets: no audit row and no log line has one (architecture.md 7)' );
cmp_ok( Authz::Secrets::count(), '>', 10, '... of those that this file has used' );
for my $case ( [ 'user_agent', "'x $token y'" ], [ 'request_summary', "'{\"a\":\"$crm[1]\"}'" ] ) {
    my ( $column, $value ) = @$case;
    $stack->sql("UPDATE audit_log SET $column = $value WHERE id = 1");
    like(
        ( Authz::Secrets::search($stack) )[0] // '', qr/\Aan audit row has /,
        "secrets: one in $column would be found" );
    $stack->sql("UPDATE audit_log SET $column = NULL WHERE id = 1");
}
Authz::Secrets::note('client_credentials');
like(
    join( ', ', Authz::Secrets::search($stack) ),
    qr/a policy document of an audit row has client_cre/, 'secrets: ... and one in a policy document' );
Authz::Secrets::forget('client_credentials');

done_testing;

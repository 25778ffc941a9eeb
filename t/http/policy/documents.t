# The whole documents of both evaluations: the question to policy and the stored answer, member by member
# (policy.md 6.2, 6.5, 6.6); and the members that an operator's rules add to the answer, as callers see them.
use strict;
use warnings;

use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Path   ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start( fake_opa => 1 );
my %cc     = ( grants => ['client_credentials'] );
my $orders = 'https://api.example/orders';
my $pay    = { type => 'payment', actions => ['initiate'] };
$stack->patch_row(
    'svc.registry.resource_types',
    {   resource =>
          { types => { 'urn:r:orders' => { scopes => [ 'orders.read', 'introspection' ], indicator => $orders } } },
        rar => { types => { payment => { actions => ['initiate'] } } } } );
my @crm = $stack->make_client( 'crm', { %cc, scopes => ['orders.read'] } );
my @rs  = $stack->make_client(
    'rs',
    { %cc, scopes => ['introspection'], resource_types => ['urn:r:orders'], endpoints => ['introspect'] } );
my @reg = $stack->make_client(
    'reg',
    {   %cc, scopes => [ 'orders.read', 'orders.write' ], resource_types => ['urn:r:orders'],
        authorization_details => ['payment'] } );
$stack->sql("UPDATE client SET scope = 'orders.read introspection' WHERE client_id = 'reg'");
my @soft = $stack->make_client( 'soft', { %cc, scopes => ['orders.read'] } );
$stack->sql(
    q{UPDATE client SET registration_type = 'STATEMENT', software_id = 'shop', software_version = '1.2',
    software_statement = '{"iss":"https://pub.example","grants":["client_credentials"]}' WHERE client_id = 'soft'} );
my $revision = $stack->sql('SELECT b.revision FROM bundle_state s JOIN bundle b ON b.id = s.served');

# Values that differ from run to run become a placeholder if they have the right form; others stay and fail the comparison.
my $uuid7 = qr/\A[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\z/;

sub placed {
    my ($document) = @_;
    my $request = $document->{request};
    if ($request) {
        $request->{flow_id} = 'FLOW' if ( $request->{flow_id} // '' ) =~ $uuid7;
        my ( $now, $ns, $text ) = delete @$request{qw(now time_ns time)};
        my @utc    = gmtime $now;
        my $wanted = sprintf '%d-%02d-%02dT%02d:%02d:%02dZ', $utc[5] + 1900, $utc[4] + 1, @utc[ 3, 2, 1, 0 ];
        $request->{clock} =
          abs( $now - time ) < 30 && $text eq $wanted && $ns =~ /\A$now\d{3}000000\z/ ? 'CLOCK' : "$now $ns $text";
    }
    for my $holder ( $document, ref $document->{baseline} ? $document->{baseline} : () ) {
        $holder->{revision} = 'REVISION' if ( $holder->{revision} // '' ) eq $revision;
    }
    $document->{eval_us} = 'US' if ( $document->{eval_us} // '' ) =~ /\A[1-9]\d*\z/;
    if ( my $token = $document->{token} ) {
        $token->{exp} = 'IAT+' . ( $token->{exp} - $token->{iat} );
        $token->{iat} = 'IAT' if abs( $token->{iat} - time ) < 30;
    }
    return $document;
}

# The two documents of a request's one audit row.
sub documents {
    my ($id) = @_;
    my $row = '';
    for ( 1 .. 200 ) {
        $row = $stack->sql(
            "SELECT coalesce(encode(policy_input, 'hex'), ''), coalesce(encode(policy_decision, 'hex'), '') FROM audit_log WHERE request_id = '$id'"
        );
        last if $row ne '';
        sleep 0.05;
    }
    return map { $_ eq '' ? undef : placed( decode_packed($_) ) } split /\t/, $row, -1;
}

my $number = 0;

sub send_form {
    my ( $path, $credential, @form ) = @_;
    my $id = 'document-' . ++$number;
    return (
        $id,
        $stack->http->post(
            $path,
            headers => [
                'X-Request-ID' => $id, 'User-Agent' => 'golden/1',
                ref $credential ? Authz::Client::basic(@$credential) : Authz::Client::bearer($credential) ],
            form => \@form ) );
}

sub grant {
    my ( $client, @form ) = @_;
    return send_form( '/token', $client, grant_type => 'client_credentials', @form );
}

sub look {
    my ( $credential, $token, @form ) = @_;
    return send_form( '/introspect', $credential, token => $token, @form );
}

sub client_part {
    my ( $id, %more ) = @_;
    return {
        id      => $id,  type => 'confidential', registration => 'ADMIN', auth_method => 'client_secret_basic',
        enabled => true, %more };
}
my $environment = { ip => '127.0.0.1', user_agent => 'golden/1', tls => false };
my %engine      = (
    revision => 'REVISION',
    engine   => 'opa/' . ( ( qx{"@{[ Authz::Path::opa() ]}" version} // '' ) =~ /^Version: (\S+)/m )[0],
    eval_us  => 'US' );

sub issue_input {
    my ( $id, $client, %more ) = @_;
    return {
        schema  => 1, evaluation => 'issue', issuer => $stack->base,
        request => {
            id => $id, flow_id => 'FLOW', endpoint => '/token', clock => 'CLOCK', grant_type => 'client_credentials',
            token_type => 'access_token', default_ttl => 3600 },
        client      => client_part($client),
        subject     => { type => 'client', id => $client },
        environment => $environment,
        baseline    => undef,
        %more };
}

# ---- evaluation 1

my ( $id, $answer ) = grant( \@crm, scope => 'orders.read' );
my $token = $answer->member('access_token');
my ( $input, $output ) = documents($id);
is_deeply(
    $input, issue_input( $id, 'crm', scopes => { requested => ['orders.read'], default => [] } ),
    'issue: the whole question of a plain request (policy.md 6.2, 6.5)' );
is_deeply(
    $output, { allow => true, scopes => ['orders.read'], matched_segments => ['binding:clients/crm'], %engine },
    'issue: the whole answer, with revision, engine and eval_us (policy.md 6.6)' );

( $id, $answer ) = grant(
    \@reg, scope => 'orders.read orders.write', resource => $orders, resource_types => 'urn:r:orders',
    authorization_details => JSON::PP->new->encode( [$pay] ) );
my $full = $answer->member('access_token');
( $input, $output ) = documents($id);
is_deeply(
    $input,
    issue_input(
        $id, 'reg',
        scopes   => { requested => ['orders.read'], default => [], ceiling => [ 'orders.read', 'introspection' ] },
        resource => { indicator => $orders, types => ['urn:r:orders'] }, authorization_details => [$pay] ),
    'issue: the whole question with resource, types, details and a ceiling; what is beyond the ceiling is cut before (policy.md 6.2)'
);
my %granted = (
    allow                 => true, scopes => ['orders.read'], resource => $orders, resource_types => ['urn:r:orders'],
    authorization_details => [$pay],
    matched_segments      => [ 'binding:clients/reg', 'urn:r:orders#orders.read' ] );
is_deeply( $output, { %granted, %engine }, 'issue: the whole answer' );

# An omitted scope asks for the registered one: as the default, not as if it had been requested.
( $id, $answer ) = grant( \@reg );
is( $answer->member('scope'), 'orders.read', 'issue: of the default scope the binding grants its part' );
( $input, $output ) = documents($id);
is_deeply(
    $input->{scopes},
    { requested => [], default => [ 'orders.read', 'introspection' ], ceiling => [ 'orders.read', 'introspection' ] },
    'issue: an omitted scope is `default` (policy.md 6.2)' );
is_deeply(
    [ map { $_->{detail} } @{ $output->{deny_reasons} } ], [ { scope => 'introspection' } ],
    'issue: ... and what is not granted of it is told' );
( $id, $answer ) = grant( \@crm );
is_deeply(
    ( documents($id) )[0]{scopes}, { requested => [], default => [] },
    'issue: without registered scopes the default is empty' );
$stack->fake->tell( set => { 'result.scopes' => ['orders.read'] } );
( $id, $answer ) = grant( \@crm );
oauth_error(
    $answer, 503, 'temporarily_unavailable',
    'issue: an answer with scopes is refused when neither requested nor default holds them (policy.md 6.2)' );
$stack->fake->tell( set => { 'result.scopes' => [ 'orders.read', 'introspection' ] } );
( $id, $answer ) = grant( \@reg );
oauth_ok(
    $answer, { scope => 'orders.read introspection' },
    'issue: the default is the bound when nothing is requested' );
( $id, $answer ) = grant( \@reg, scope => 'orders.read' );
oauth_error( $answer, 503, 'temporarily_unavailable', 'issue: ... and not when something is' );
$stack->fake->tell( set => { 'result.scopes' => [] } );
( $id, $answer ) = grant( \@reg );
oauth_error(
    $answer, 400, 'invalid_scope',
    'issue: an allow that grants nothing of the default is invalid_scope (policy.md 6.2)' );
$stack->fake->tell('pass');

my %software = (
    registration => 'STATEMENT', software_id => 'shop', software_version => '1.2',
    statement    => {
        verified => true, iss => 'https://pub.example',
        claims   => { iss => 'https://pub.example', grants => ['client_credentials'] } } );
( $id,    $answer ) = grant( \@soft, scope => 'orders.read' );
( $input, $output ) = documents($id);
is_deeply(
    $input->{client}, client_part( 'soft', %software ),
    'issue: client with software_id, software_version and statement (policy.md 6.2)' );
$stack->sql("UPDATE client SET software_id = 'other', software_version = '9' WHERE client_id = 'reg'");
( $id, $answer ) = grant( \@reg, scope => 'orders.read' );
is_deeply(
    ( documents($id) )[0]{client}, client_part('reg'),
    'issue: what no statement proves about the software is left out' );

# ---- evaluation 2

sub introspect_input {
    my ( $seen, $client, $grant, %more ) = @_;
    return {
        schema  => 1, evaluation => 'introspect', issuer => $stack->base,
        request => { id => $seen, flow_id => 'FLOW', endpoint => '/introspect', clock => 'CLOCK' },
        client  => client_part($client), subject => { type => 'client', id => $client }, environment => $environment,
        caller  =>
          { client_id => 'rs', type => 'confidential', registration => 'ADMIN', auth_method => 'client_secret_basic' },
        token => {
            kind => 'access_token', iat => 'IAT', exp => 'IAT+3600', scopes => $grant->{scopes}, jit_single_use => false
        },
        baseline => { %$grant, revision => 'REVISION' },
        context  => {},
        issued   => {
            client      => client_part($client), subject    => { type => 'client', id => $client },
            environment => $environment,         grant_type => 'client_credentials' },
        %more };
}
my $plain = { allow => true, scopes => ['orders.read'], matched_segments => ['binding:clients/crm'] };
( $id,    $answer ) = look( \@rs, $token );
( $input, $output ) = documents($id);
is_deeply(
    $input, introspect_input( $id, 'crm', $plain ),
    'introspect: the whole question about a plain token, flow_id and all (policy.md 6.2, 6.5)' );
is_deeply( $output, { %$plain, %engine }, 'introspect: the whole answer (policy.md 6.6)' );

# A caller with a token of its own that is for resource types.
my $bearer = $stack->token_text( @rs, scope => 'introspection', resource => $orders );
( $id, $answer )    = look( $bearer, $full, context => '{"scopes":"orders.read","path":"/x"}' );
( $input, $output ) = documents($id);
my $its = introspect_input( $id, 'reg', \%granted );
$its->{issued}{resource} = { indicator => $orders, types => ['urn:r:orders'] };
$its->{caller} = {
    %{ $its->{caller} }, auth_method => 'bearer',
    token => { scopes => ['introspection'], resource => $orders, resource_types => ['urn:r:orders'] } };
$its->{context} = { scopes => ['orders.read'], path => '/x' };
is_deeply(
    $input, $its,
    "introspect: the whole question with resource, context, and a Bearer caller's own token with its types (policy.md 6.5)"
);
is_deeply( $output, { %granted, %engine }, 'introspect: the whole answer' );
( $id, $answer ) = look( $stack->token_text( @rs, scope => 'introspection' ), $token );
is_deeply(
    ( documents($id) )[0]{caller}{token}, { scopes => ['introspection'], resource_types => [] },
    "introspect: a caller's token without types has none" );

( $id,    $answer ) = look( \@rs, 'garbage' );
( $input, $output ) = documents($id);
$its = introspect_input( $id, 'x', {} );
delete @$its{qw(client subject token issued)};
delete $its->{request}{flow_id};
is_deeply(
    $input, { %$its, baseline => undef },
    'introspect: the whole question about no token of ours (policy.md 6.5)' );

# ---- no decision: the row has the question and the error (policy.md 6.6)

my @failing = (
    [ 'an engine that hangs up', ['close'], { engine => 'opa' }, qr/\Apolicy engine: / ],
    [   'an answer that widens', [ set => { 'result.scopes' => [ 'orders.read', 'admin' ] } ], {%engine},
        qr/\Apolicy answer refused: scopes widens/ ],
    [ 'an undefined answer', [ drop => ['result'] ],     {%engine},           qr/result is undefined/ ],
    [ 'no provenance',       [ drop => ['provenance'] ], { engine => 'opa' }, qr/no bundle is active/ ],
    [   'a revision that may not decide', [ set => { 'provenance.bundles.svc.revision' => 'r0-0123456789ab' } ], undef,
        qr/policy engine uses revision r0-0123456789ab, which is not acceptable/ ],
);
for my $case (@failing) {
    my ( $name, $order, $about, $why ) = @$case;
    $stack->fake->tell(@$order);
    for my $path (qw(/token /introspect)) {
        ( $id, $answer ) = $path eq '/token' ? grant( \@crm, scope => 'orders.read' ) : look( \@rs, $token );
        oauth_error( $answer, 503, 'temporarily_unavailable', "503 $path: $name" );
        ( $input, $output ) = documents($id);
        is_deeply(
            $input,
            $path eq '/token'
            ? issue_input( $id, 'crm', scopes => { requested => ['orders.read'], default => [] } )
            : introspect_input( $id, 'crm', $plain ),
            '... its row has the whole question (policy.md 6.6)' );
        like( $output->{error}, $why, '... and the error' );
        delete $output->{error};
        my $reasons = delete $output->{deny_reasons};
        is( join( ' ', map { $_->{control} } @$reasons ), 'system',
            '... and a reason of the control system (policy.md 6.4)' );
        is_deeply(
            $output, { %{ $about // { %$plain, %engine, revision => 'r0-0123456789ab' } }, eval_us => 'US' },
            '... with what is known of the engine, and no decision that was refused' );
        is( $stack->sql("SELECT outcome FROM audit_log WHERE request_id = '$id'"), 'error',
            '... and the outcome error' );
    }
}
$stack->fake->tell('pass');

# ---- an operator's rules: obligations and extensions of both evaluations (policy.md 6.5)

sub rule {
    my ( $path, $text ) = @_;
    $stack->sql(
        "INSERT INTO policy_rule (path, kind, content, digest) VALUES ('$path', 'rego', \$rego\$$text\$rego\$, encode(sha256(convert_to(\$rego\$$text\$rego\$, 'UTF8')), 'hex'))"
    );
    return;
}
rule( 'custom/issue.rego', <<'REGO' );
package custom.issue

obligations := {"step-up": [{"id": "o1", "type": "step-up"}], "log": [{"id": "o2", "type": "log"}]} if input.client.id == "crm"

extensions := {"risk": "low", "tenant": "t1"} if input.client.id == "crm"
REGO
rule( 'custom/introspect.rego', <<'REGO' );
package custom.introspect

obligations := {"step-up": [{"id": "o3", "type": "step-up"}], "mask": [{"id": "o4", "type": "mask"}]} if input.context.more

extensions := {"risk": "high", "seen_by": input.caller.client_id} if input.context.more
REGO
$stack->bind( 'idle', {%cc} );    # publishes what the rows say now
my $o       = sub { return { id => $_[0], type => $_[1] } };
my $obliged = $stack->token_text( @crm, scope => 'orders.read' );
oauth_ok(
    ( look( \@rs, $obliged ) )[1],
    {   active     => true, obligations => { 'step-up' => [ $o->( 'o1', 'step-up' ) ], log => [ $o->( 'o2', 'log' ) ] },
        extensions => { risk => 'low', tenant => 't1' } },
    'rules: /introspect shows the obligations and extensions of the issuance' );
oauth_ok(
    ( look( \@rs, $obliged, context => '{"more":true}' ) )[1],
    {   active      => true,
        obligations => {
            'step-up' => [ $o->( 'o1', 'step-up' ), $o->( 'o3', 'step-up' ) ], log => [ $o->( 'o2', 'log' ) ],
            mask      => [ $o->( 'o4', 'mask' ) ] },
        extensions => { risk => 'high', tenant => 't1', seen_by => 'rs' } },
    'rules: those of evaluation 2 are added: obligations of one type are listed one after the other, a newer extension replaces'
);
oauth_ok(
    ( look( \@rs, $token ) )[1], { active => true, obligations => undef, extensions => undef },
    'rules: a token from before they were made has none' );
oauth_ok(
    ( look( \@rs, $token, context => '{"more":true}' ) )[1],
    { active => true, obligations => { 'step-up' => [ $o->( 'o3', 'step-up' ) ], mask => [ $o->( 'o4', 'mask' ) ] } },
    'rules: ... but for those of evaluation 2' );
oauth_ok(
    ( look( \@rs, $stack->token_text( @reg, scope => 'orders.read' ) ) )[1],
    { active => true, obligations => undef, extensions => undef },
    'rules: nor has a token of a client they do not name' );

done_testing;

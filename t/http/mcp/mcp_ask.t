# Questions of an upstream to the person of a call, or to the model of the client (MCP 2026-07-28, multi round-trip requests):
# off by default, each a decision, and each answer bound to the call, its caller and what was asked (gateway-admin.md 1.12).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Asking;
use Authz::Check;
use Authz::Inputs ();

my $true   = JSON::PP::true();
my $asking = Authz::Asking->new( gateway => 1, web_workers => 1 );
my ( $stack, $mcp, $peer ) = @$asking{qw(stack mcp peer)};
my $done = answer( { content => [ { type => 'text', text => 'bought' } ] } );

sub asks {
    my ( $requests, $state ) = @_;
    return answer(
        {   resultType => 'input_required', $requests ? ( inputRequests => $requests ) : (),
            defined $state ? ( requestState => $state ) : () } );
}

sub form {
    my (%property) = @_;
    return {
        method => 'elicitation/create',
        params => { message => 'How many?', requestedSchema => { type => 'object', properties => \%property } } };
}
my %count = ( count => { type => 'integer', maximum => 9, default => 1 } );
my $many  = { many => form(%count) };
my %given = ( many => { action => 'accept', content => { count => 2 } } );

# A resource that was synced, whose upstream answers so from then on.
sub shop { my ( $may, @answer ) = @_; return $asking->shop( [$MODERN], $may, \@answer ) }

# The params of the last request to an upstream.
sub sent { my ($name) = @_; return ( $asking->sent($name) )[-1]{params} }
sub told { my ($name) = @_; return sent($name)->{_meta}{'io.modelcontextprotocol/clientCapabilities'} }

sub last_row {
    return $stack->admin( GET => '/admin/api/audit-logs?endpoint=/gateway/mcp/%7Bname%7D&size=1' )->json->{content}[0];
}

sub input {
    return Authz::Check::decode_packed(
        $stack->sql(
            q{SELECT encode(policy_input, 'hex') FROM audit_log WHERE endpoint LIKE '/gateway/mcp%' ORDER BY id DESC LIMIT 1}
        ) );
}

# ---- the setting

for my $case (
    [ 'another member',    'MCP',    { voice => $true } ],
    [ 'a text',            'MCP',    { form  => 'yes' } ],
    [ 'a host with port',  'MCP',    { url   => $true, urlHosts => ['a.example:1'] } ],
    [ 'a host in capital', 'MCP',    { url   => $true, urlHosts => ['A.example'] } ],
    [ '17 hosts',          'MCP',    { url   => $true, urlHosts => [ map {"a$_.example"} 1 .. 17 ] } ],
    [ 'another type',      'STATIC', { form  => $true } ] )
{
    my ( $what, $type, $interaction ) = @$case;
    my $refused = $stack->admin(
        POST => '/admin/api/managed-resources',
        json => {
            name => 'bad', displayName => 'bad', upstreamType => $type, interaction => $interaction,
            $type eq 'MCP' ? ( upstreamUrl => $peer->url('/bad') ) : () } );
    is( $refused->status, 400, "interaction with $what is refused" ) or diag $refused->text;
    like( $refused->text, qr/interaction/, '... by its name' );
}

# ---- off by default: off_no_capability

my $name = shop( undef, asks($many) );
my $seen = $asking->call($name);
is_deeply( told($name), {}, 'without interaction the upstream is told no capability' );
is( text_of($seen), 'Denied: interaction_off', '... and may not ask all the same' );
ok( $mcp->result($seen)->{isError}, '... which is an error of the tool' );
is( last_row()->{outcome}, 'denied', '... and denied in the audit log' );

$name = shop( { form => $true, sampling => $true }, asks($many), $done );
$asking->call( $name, capabilities => { elicitation => {} } );
is_deeply( told($name), { elicitation => { form => {} } }, 'the upstream is told what client and operator both allow' );
$asking->call( $name, capabilities => {} );
is_deeply( told($name), {}, '... nothing of a client that can nothing' );

# no_person
$name = shop( { form => $true, sampling => $true }, asks($many) );
$seen = $asking->call( $name, by => 'nobody' );
is_deeply( told($name), { sampling => {} }, 'a token without a person: no elicitation' );
is( text_of($seen), 'Denied: interaction_off', '... also if the upstream asks all the same' );

# An older upstream may ask older clients alone (decisions.md "Older upstreams of modern clients").
$peer->set( '/elder' => [ @OLDER, $LISTED, @OLDER, $done ] );
$mcp->resource( 'elder', upstreamType => 'MCP', upstreamUrl => $peer->url('/elder'), interaction => { form => $true } );
$stack->admin( POST => '/admin/api/managed-resources/elder/sync' );
is( text_of( $asking->call('elder') ), 'bought', 'an older upstream of a modern client' );
is_deeply(
    $asking->told_older('elder'), [ {}, {} ],
    '... is told no capability' );

# ---- a round

$name = shop( { form => $true }, asks( $many, 'state of the shop' ), $done );
$seen = $mcp->result( $asking->call($name) );
is_deeply(
    $seen->{inputRequests},
    {   many => {
            method => 'elicitation/create',
            params => {
                mode            => 'form', message => 'The shop: How many?',
                requestedSchema => { type => 'object', properties => \%count } } } },
    'a question reaches the client, with the name of the resource before it' ) or diag explain $seen;
is( $seen->{resultType}, 'input_required', '... as a result that asks for input' );
like( $seen->{requestState}, qr/\Av2\.[\w-]+\z/, '... with a state of ours' );
unlike( $seen->{requestState}, qr/state of the shop/, '... in which that of the upstream is sealed' );
is( last_row()->{requestSummary}{round}, 1, '... and the audit row has the round' );
my $whole = $asking->again( $name, $seen, { %given, other => { action => 'accept' } } );
is( text_of($whole), 'bought', 'the call with the answer goes on' );
is_deeply(
    [ @{ sent($name) }{qw(name arguments inputResponses requestState)} ],
    [ 'buy', { what => 'tea' }, \%given, 'state of the shop' ],
    '... with the answers to what was asked alone, and the state of the upstream as it was' );
is_deeply( input()->{answers}, { many => undef }, 'policy sees the answers; the audit row has their names' );

# ---- states: state_other_subject, _client, _arguments, _expired, _cut

my $before = $peer->hits("/$name");
my $cut    = substr $seen->{requestState}, 0, -1;
for my $case (
    [ 'another person',               by        => 'bob' ],
    [ 'another client',               by        => 'other' ],
    [ 'a token without a person',     by        => 'nobody' ],
    [ 'other arguments',              arguments => { what => 'gold' } ],
    [ 'a state that was cut',         state     => $cut ],
    [ 'a state that was changed',     state     => "$seen->{requestState}A" ],
    [ 'a state that is none of ours', state     => 'state of the shop' ],
    [ 'a state of an older release',  state     => 'v1.AAAA.AAAA' ],
    [ 'a state that is no text',      state     => 7 ] )
{
    my ( $what, @how ) = @$case;
    my $refused = $asking->again( $name, $seen, \%given, @how );
    is_deeply( [ $refused->status, $mcp->error($refused)->{code} ], [ 400, -32602 ], "$what: 400, -32602" )
      or diag $refused->text;
}
is( $peer->hits("/$name"), $before, '... and nothing is sent to the upstream' );

for my $case (
    [ 'a wrong value',         { many => { action => 'accept', content => { count => 10 } } } ],
    [ 'a wrong type',          { many => { action => 'accept', content => { count => 'two' } } } ],
    [ 'no content',            { many => { action => 'accept' } } ],
    [ 'an unknown action',     { many => { action => 'agree', content => { count => 1 } } } ],
    [ 'a number',              { many => 12345 } ],
    [ 'answers that are null', undef ],
    [ 'a list of answers',     [7] ],
  )
{
    my ( $what, $responses ) = @$case;
    my $refused = $asking->again( $name, $seen, $responses );
    is_deeply( [ $refused->status, $mcp->error($refused)->{code} ], [ 400, -32602 ], "$what: 400, -32602" )
      or diag $refused->text;
}
is( $peer->hits("/$name"), $before, '... and nothing is sent to the upstream' );

# answers_without_state
$name = shop( { form => $true }, asks($many), $done );
$seen = $asking->call( $name, params => { inputResponses => \%given } );
is( $mcp->result($seen)->{resultType}, 'input_required', 'answers to what was not asked: the upstream asks' );
ok( !exists sent($name)->{inputResponses}, '... and does not get them' );
$whole = $asking->again( $name, $mcp->result($seen), { many => { action => 'decline' } } );
is_deeply( sent($name)->{inputResponses}, { many => { action => 'decline' } }, 'the upstream learns of a refusal' );
ok( !exists sent($name)->{requestState}, '... without a state that it did not give' );

# ---- rounds: sixth_round

$name = shop( { form => $true }, map { asks( $many, "round $_" ) } 1 .. 6 );
$seen = $mcp->result( $asking->call($name) );
for my $round ( 2 .. 5 ) {
    my $result = $mcp->result( $asking->again( $name, $seen, \%given ) );
    isnt( $result->{requestState}, $seen->{requestState}, "round $round has a state of its own" );
    is( sent($name)->{requestState}, 'round ' . ( $round - 1 ), '... and sends the last one of the upstream' );
    $seen = $result;
}
$whole = $asking->again( $name, $seen, \%given );
like( text_of($whole), qr/asks too often/, 'the sixth question ends the call' );
ok( $mcp->result($whole)->{isError}, '... as an error of the tool' );

# ---- what may not be asked: password_field, url_of_our_issuer

my %url = ( form => $true, url => $true, urlHosts => [ 'pay.example', 'localhost', '127.0.0.1' ] );

sub visit {
    my ($url) = @_;
    return { pay => { method => 'elicitation/create', params => { mode => 'url', message => 'Pay', url => $url } } };
}
my ($issuer) = $stack->base =~ m{\Ahttp://(.*)\z};
my $said = sub { my ($text) = @_; return { type => 'text', text => $text } };
for my $case (
    [ 'a password',               { p => form( password => { type => 'string' } ) }, 'elicitation_sensitive' ],
    [ 'an address of ours',       visit("https://$issuer/gateway/link"),             'elicitation_url' ],
    [ 'an address of a stranger', visit('https://evil.example/'),                    'elicitation_url' ],
    [ 'an address without TLS',   visit('http://pay.example/'),                      'elicitation_url' ],
    [ 'a sampling',               { s => { method => 'sampling/createMessage', params => {} } }, 'interaction_off' ],
    [ 'roots',                    { r => { method => 'roots/list' } },                           'interaction_off' ],
    [ 'a form beside a password', { %$many, p => form( token => { type => 'string' } ) }, 'elicitation_sensitive' ],
  )
{
    my ( $what, $requests, $why ) = @$case;
    $seen = $asking->call( shop( \%url, asks($requests) ) );
    is( text_of($seen), "Denied: $why", "$what is not passed on" );
    ok( $mcp->result($seen)->{isError}, '... and ends the call' );
}
$seen = $mcp->result( $asking->call( shop( \%url, asks( visit('https://pay.example/cart?id=7') ) ) ) );
is( $seen->{inputRequests}{pay}{params}{url}, 'https://pay.example/cart?id=7', 'an address that the operator allows' );

for my $case (
    [ 'nine questions',          asks( { map { ( "q$_" => form(%count) ) } 1 .. 9 } ) ],
    [ 'another method',          asks( { q => { method => 'tools/call', params => {} } } ) ],
    [ 'a form with forms in it', asks( { q => form( a => { type => 'object' } ) } ) ],
    [ 'nothing at all',          asks( undef, undef ) ],
    [ 'a state of 8,193 octets', asks( $many, 'x' x 8193 ) ],
    [ 'a state that is no text', asks( $many, {} ) ],
    [ 'a list of questions',     asks( [ form(%count) ] ) ],
    [   'a message of 2,001 characters',
        asks(
            {   q => {
                    method => 'elicitation/create',
                    params => { message => 'm' x 2001, requestedSchema => { type => 'object', properties => {} } } } } )
    ],
  )
{
    my ( $what, $reply ) = @$case;
    $seen = $asking->call( shop( { form => $true }, $reply ) );
    like( text_of($seen), qr/not valid/, "$what: the answer of the upstream is not valid" );
}
$name = shop( { form => $true }, asks( undef, 'x' x 8192 ), $done );
$seen = $mcp->result( $asking->call($name) );
is( $seen->{resultType}, 'input_required',                   'a state alone, of 8,192 octets: the client calls again' );
is( text_of( $asking->again( $name, $seen, {} ) ), 'bought', '... and the call goes on' );
is( length sent($name)->{requestState},            8192,     '... with all of it' );

# ---- other questions, other calls

$name = shop(
    { sampling => $true, roots => $true },
    asks(
        {   s => {
                method => 'sampling/createMessage',
                params => {
                    messages       => [ { role => 'user', content => $said->('Hi') } ], maxTokens => 9,
                    includeContext => 'allServers' } },
            r => { method => 'roots/list', params => {} } } ),
    $done );
$seen = $mcp->result( $asking->call( $name, by => 'nobody' ) );
is_deeply(
    $seen->{inputRequests}{s}{params},
    { messages => [ { role => 'user', content => $said->('Hi') } ], maxTokens => 9 },
    'a sampling, without the context of other servers' ) or diag explain $seen;
my %both = (
    s => { role  => 'assistant', content => $said->('Ho'), model => 'm' },
    r => { roots => [ { uri => 'file:///w', name => 'W' } ] } );
is( text_of( $asking->again( $name, $seen, \%both, by => 'nobody' ) ), 'bought', '... is answered, with the roots' );
is_deeply( sent($name)->{inputResponses}, \%both, '... and the upstream gets both' );

$name = 'files';
$peer->set(
    '/files' => [
        $MODERN, asks($many), answer( { contents => [ { uri => 'file:///a', text => 'A' } ] } ),
        answer( { resultType => 'input_required', inputRequests => $many, resources => [] } ) ] );
$mcp->resource(
    $name,
    upstreamType => 'MCP', upstreamUrl => $peer->url('/files'), mcpResources => 'live', interaction => { form => $true }
);
my @read = ( at => $name, by => 'ann', capabilities => \%ALL );
$seen = $mcp->result( $mcp->modern( 'resources/read', { uri => 'file:///a' }, @read ) );
is( $seen->{resultType}, 'input_required', 'a read may be asked, too' ) or diag explain $seen;
my %back = ( inputResponses => \%given, requestState => $seen->{requestState} );
is( $mcp->error( $mcp->modern( 'resources/read', { uri => 'file:///b', %back }, @read ) )->{code},
    -32602, '... and its state is not of another URI' );
is( $mcp->result( $mcp->modern( 'resources/read', { uri => 'file:///a', %back }, @read ) )->{contents}[0]{text},
    'A', '... and the read goes on' );
my $list = $mcp->modern( 'resources/list', {}, @read );
isnt( ( $mcp->result($list) // {} )->{resultType}, 'input_required', 'a list may not be asked (MCP, MRTR)' );

# ---- policy: each question, and the answers; policy_denies_answer

is( $stack->admin(
        POST => '/admin/api/policy-rules',
        json => { path => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => $true, content => <<'REGO' }
package custom.gateway

deny contains "no_names" if {
	input.action.kind == "elicitation"
	input.action.name == "form"
	input.call.name == "buy"
	"name" in input.arguments.fields
}

deny contains "too_many" if input.answers.many.content.count > 5

deny contains "no_sampling" if input.action.kind == "sampling"

obligations["approve_by_ciba"] := true if input.arguments.what == "gold"

obligations["approve_by_ciba"] := true if input.answers.many.content.count == 4
REGO
    )->status,
    201,
    'rules about questions and answers' );
$name = shop( { form => $true, sampling => $true }, asks( { q => form( name => { type => 'string' } ) } ) );

# The rules decide once the engine has them.
for ( 1 .. 300 ) { last if text_of( $seen = $asking->call($name) ) =~ /no_names/; sleep 0.1 }
is( text_of($seen),        'Denied: no_names', 'a question that policy denies is not asked' );
is( last_row()->{outcome}, 'denied',           '... and the audit row says so' );
my $input = input();
is_deeply(
    [ @{ $input->{action} }{qw(kind name)}, $input->{call}, $input->{arguments} ],
    [ 'elicitation', 'form', { kind => 'tool', name => 'buy' }, { message => undef, fields => undef } ],
    '... with the question, for which call, and the names of its arguments' ) or diag explain $input;
$seen = $asking->call(
    shop(
        { sampling => $true },
        asks(
            {   s => {
                    method => 'sampling/createMessage',
                    params => { messages => [ { role => 'user', content => $said->('Hi') } ], maxTokens => 9 } } } ) )
);
is( text_of($seen), 'Denied: no_sampling', 'a sampling that policy denies' );
$name   = shop( { form => $true }, asks($many), $done );
$seen   = $mcp->result( $asking->call($name) );
$before = $peer->hits("/$name");
$whole  = $asking->again( $name, $seen, { many => { action => 'accept', content => { count => 6 } } } );
is( text_of($whole),                                    'Denied: too_many', 'an answer that policy denies' );
is( $peer->hits("/$name"),                              $before,            '... does not reach the upstream' );
is( text_of( $asking->again( $name, $seen, \%given ) ), 'bought',           '... another one does' );

# A call that its person approves is approved as it is: nothing is asked on top.
$name = shop( { form => $true }, asks($many) );
$seen = $asking->call( $name, arguments => { what => 'gold' } );
is( $mcp->result($seen)->{resultType}, 'input_required', 'a call that needs an approval' );
$stack->sql(q{UPDATE ciba_request SET state = 'approved'});
$seen = $asking->call( $name, arguments => { what => 'gold' } );
is_deeply( told($name), {}, 'after the approval the upstream is told no capability' ) or diag $seen->text;
is( text_of($seen), 'Denied: interaction_off', '... and may not ask' );

# An approval of a call with one answer is none of the call with another.
$name   = shop( { form => $true }, asks($many), $done );
$seen   = $mcp->result( $asking->call($name) );
$before = $peer->hits("/$name");
my %four = ( many => { action => 'accept', content => { count => 4 } } );
like(
    text_of( $asking->again( $name, $seen, \%four ) ), qr/approval is for a call without answers/,
    'answers by which a call needs an approval end it' );
$stack->sql(q{UPDATE ciba_request SET state = 'approved'});
like( text_of( $asking->again( $name, $seen, \%four ) ), qr/approval is for a call without answers/, '... each time' );
is( $peer->hits("/$name"), $before, '... and nothing is sent to the upstream' );

# ---- a capability that is missing (MCP 2026-07-28, versioning)

my $lacks = {
    status => 400,
    body   => {
        jsonrpc => '2.0', id => 1,
        error   => { code => -32021, message => 'no', data => { requiredCapabilities => { sampling => {} } } } } };
$seen = $asking->call( shop( { form => $true }, $lacks ), capabilities => {} );
is_deeply(
    [ $seen->status, $mcp->error($seen)->{code}, $mcp->error($seen)->{data} ],
    [ 400,           -32021,                     { requiredCapabilities => { sampling => {} } } ],
    'a client that lacks what the upstream needs is told' ) or diag $seen->text;
$seen = $asking->call( shop( { form => $true }, $lacks ) );
like( text_of($seen), qr/interaction/, 'one that has it learns that the resource does not allow it' );

# ---- an older server, which was told no capability (MCP 2025-11-25): its results may have any further member

$peer->set(
    '/older' => [
        (   { body => { jsonrpc => '2.0', id => 1, error => { code => -32601, message => 'Unknown method' } } },
            answer(
                {   protocolVersion => '2025-06-18', capabilities => { tools => {} },
                    serverInfo      => { name => 'older', version => '1' } } ),
            { status => 202, body => '' },
            $LISTED ),
        { body => { jsonrpc => '2.0', id => 1, error => { code => -32601, message => 'Unknown method' } } },
        answer(
            {   protocolVersion => '2025-06-18', capabilities => { tools => {} },
                serverInfo      => { name => 'older', version => '1' } } ),
        { status => 202, body => '' },
        asks($many) ] );
$mcp->resource(
    'older',
    upstreamType => 'MCP', upstreamUrl => $peer->url('/older'), interaction => { form => $true } );
is( $stack->admin( POST => '/admin/api/managed-resources/older/sync' )->status, 200, 'an older server' );
$seen = $asking->call('older');
is( ( $mcp->result($seen) // {} )->{resultType}, 'complete', '... asks for no input' ) or diag $seen->text;
ok( $mcp->result($seen)->{isError}, '... its result is none of tools/call' );

Authz::Inputs::inputs_ok($stack);
done_testing;

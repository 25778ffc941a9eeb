# A search in place of a long list of tools: it finds what the caller may use, and a call by it is a call of the tool
# (gateway-admin.md 1.10).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Stack ();

my $json  = JSON::PP->new->utf8->canonical;
my $stack = Authz::Stack->start( gateway => 1, web_workers => 1, settings => { SVC_GATEWAY_TOOL_LIST => 'search' } );
my $mcp   = Authz::Mcp->new($stack);
my %route =
  ( routes => [ { id => 'said', path => '/said', response => { status => 200, json => { said => 'hello' } } } ] );

sub tool {
    my ( $name, $description, %more ) = @_;
    return { name => $name, route => 'said', description => $description, inputSchema => { type => 'object' }, %more };
}

sub desk {
    my ( $name, $list, @tool ) = @_;
    return $mcp->resource(
        $name, upstreamType => 'STATIC', %route, tools => \@tool,
        defined $list ? ( toolList => $list ) : () );
}
my @tools = (
    tool(
        create_issue => 'Open an issue.',
        inputSchema  => { type => 'object', properties => { title => { type => 'string' } } } ),
    tool( list_issues => 'Show the issues of a repository.' ),
    tool( close_issue => 'Close an issue for good.', scopes => ['desk:close'] ),
    tool( wipe        => 'Erase the repository, with its issues.' ) );
desk( 'desk', undef, @tools );
desk( 'shop', undef, tool( order => 'Buy something.' ) );

sub listed {
    my (@at) = @_;
    return [ map { $_->{name} } @{ ( $mcp->result( $mcp->modern( 'tools/list', {}, @at ) ) // {} )->{tools} // [] } ];
}

sub find {
    my ( $arguments, @at ) = @_;
    return $mcp->modern( 'tools/call', { name => 'authz_find_tools', arguments => $arguments }, @at );
}

sub found {
    my ( $query, @at ) = @_;
    my $result = $mcp->result( find( { query => $query }, @at ) ) // {};
    return [ map { $_->{name} } @{ ( $result->{structuredContent} // {} )->{tools} // [] } ];
}

sub call {
    my ( $name, $arguments, %option ) = @_;
    return $mcp->modern(
        'tools/call',
        { name => 'authz_call_tool', arguments => { name => $name, arguments => $arguments } }, %option );
}

sub audited {
    my (@path) = @_;
    return $stack->admin( GET => '/admin/api/audit-logs?endpoint=' . ( $path[0] // '/gateway/mcp' ) . '&size=1' )
      ->json->{content}[0];
}
my @search = qw(authz_find_tools authz_call_tool);

# ---- lists

is_deeply( listed(), \@search, 'SVC_GATEWAY_TOOL_LIST search: tools/list has the two tools of the search' );
is_deeply(
    listed( at => 'desk' ), [qw(close_issue create_issue list_issues wipe)],
    'a resource has its own setting, and shows few tools by default' );
desk( 'desk', 'search', @tools );
is_deeply( listed( at => 'desk' ), \@search, '... toolList search' );
desk( 'many', undef, map { tool( "t$_", 'One of many.' ) } 1 .. 60 );
is( scalar @{ listed( at => 'many' ) }, 60, 'toolList auto: 60 tools are shown' );
desk( 'many', undef, map { tool( "t$_", 'One of many.' ) } 1 .. 61 );
is_deeply( listed( at => 'many' ), \@search, '... in the place of one more is the search' );
desk( 'many', 'all', map { tool( "t$_", 'One of many.' ) } 1 .. 61 );
is( scalar @{ listed( at => 'many' ) },                               61,     'toolList all: all are shown' );
is( $mcp->error( find( { query => 'many' }, at => 'many' ) )->{code}, -32602, '... and there is no search' );
my $entries = $mcp->result( $mcp->modern( 'tools/list', {} ) )->{tools};
is( ref $entries->[0]{inputSchema}{properties}{query}, 'HASH', 'the search says what it takes' );

# ---- finding

is_deeply(
    found( 'open an issue', at => 'desk' ), [qw(create_issue close_issue list_issues wipe)],
    'tools are found by words, the best match first' ) or diag find( { query => 'open an issue' }, at => 'desk' )->text;
is_deeply( found('issues')->[0], 'desk__create_issue', 'at /gateway/mcp by the names there' )
  or diag find( { query => 'issues' } )->text;
is_deeply( found('something'), ['shop__order'], '... of all resources' );
my $only = $mcp->result( find( { query => 'something issue', resource => 'desk' } ) )->{structuredContent}{tools};
is_deeply( [ grep { $_->{name} !~ /\Adesk__/ } @$only ], [], '... or of one' );
is( scalar @{ $mcp->result( find( { query => 'issue', limit => 1 } ) )->{structuredContent}{tools} },
    1, '... at most as many as asked for' );
my $answer = $mcp->result( find( { query => 'order' } ) );
is_deeply(
    $json->decode( $answer->{content}[0]{text} ), $answer->{structuredContent},
    'the answer is structure and text' );
is_deeply(
    $answer->{structuredContent}{tools}[0],
    { name => 'shop__order', description => 'Buy something.', inputSchema => { type => 'object' } },
    '... with the schema of each' );
is_deeply( found('weather'), [], 'no tool has the word' );
is_deeply(
    { map { $_ => audited()->{requestSummary}{$_} } qw(kind found) }, { kind => 'search', found => 0 },
    '... and the audit row has what was found, without the words' );
for my $case (
    [ 'no query',                  {} ],
    [ 'an empty query',            { query => '' } ],
    [ 'a query of 201 characters', { query => 'x' x 201 } ],
    [ 'a query that is a list',    { query => ['x'] } ],
    [ 'a limit of 0',              { query => 'x', limit => 0 } ],
    [ 'a limit of 21',             { query => 'x', limit => 21 } ],
    [ 'another member',            { query => 'x', where => 'y' } ],
  )
{
    my ( $what, $arguments ) = @$case;
    $answer = $mcp->result( find($arguments) ) // {};
    ok( $answer->{isError} && !$answer->{structuredContent}, "a search with $what is an error for the model" );
}
ok( !$mcp->result( find( { query => 'x' x 200, limit => 20 } ) )->{isError},
    '... the longest query and limit are none' );
is( $mcp->error( find( [] ) )->{code}, -32602, 'arguments that are no object' );

# ---- calling

$answer = call( 'desk__list_issues', {} );
is_deeply( $mcp->result($answer)->{structuredContent}, { said => 'hello' }, 'a tool that was found is called' )
  or diag $answer->text;
my $row = audited();
is_deeply(
    { map { $_ => $row->{requestSummary}{$_} } qw(resource tool via) },
    { resource => 'desk', tool => 'list_issues', via => 'search' }, '... and noted as a call of it'
) or diag explain $row;
$answer = $mcp->modern( 'tools/call', { name => 'desk__list_issues', arguments => {} } );
is_deeply( $mcp->result($answer)->{structuredContent}, { said => 'hello' }, 'by its own name too' );
is( call( 'desk__close_issue', {} )->status, 403, 'a tool that needs another scope: 403' );
like(
    call( 'desk__close_issue', {} )->header('WWW-Authenticate'), qr/scope="mcp desk:close"/,
    '... with the challenge of that tool' );
ok( $mcp->result( call( 'desk__create_issue', { title => 7 } ) )->{isError}, 'arguments are checked by its schema' );
for my $name ( @search, 'nothing', '' ) {
    is( $mcp->error( call( $name, { name => 'desk__list_issues' } ) )->{code}, -32602, "a call of '$name' is none" );
}
for my $arguments ( {}, { name => 7 }, { name => 'desk__list_issues', arguments => [] }, { name => 'x', more => 1 } ) {
    $answer = $mcp->modern( 'tools/call', { name => 'authz_call_tool', arguments => $arguments } );
    ok( $mcp->result($answer)->{isError},
        'a call without a name, or with other members: ' . $json->encode($arguments) );
}
$answer = $mcp->legacy(
    'tools/call', { name => 'authz_call_tool', arguments => { name => 'desk__list_issues' } },
    version => '2025-11-25' );
is_deeply( $mcp->result($answer)->{structuredContent}, { said => 'hello' }, 'older clients have the search too' );

# ---- names

for my $name (@search) {
    $answer = $stack->admin(
        POST => '/admin/api/managed-resources',
        json =>
          { name => 'bad', displayName => 'bad', upstreamType => 'STATIC', %route, tools => [ tool( $name, 'x' ) ] } );
    is( $answer->status, 400, "no tool has the name $name" ) or diag $answer->text;
}

# ---- policy

my $before = found( 'issue', at => 'desk' );
my $rule   = <<'REGO';
package custom.gateway

deny contains "no_wiping" if input.action.name == "wipe"
REGO
is( $mcp->rule($rule)->status, 201, 'a rule that denies a tool' );
is_deeply( found( 'erase wipe', at => 'desk' ), [], 'a denied tool is not found by its own words' );
is_deeply(
    found( 'issue', at => 'desk' ), [ grep { $_ ne 'wipe' } @$before ],
    '... nor by those that it shares' );
$answer = $mcp->result( call( 'desk__wipe', {} ) );
is( $answer->{content}[0]{text}, 'Denied: no_wiping', '... and a call of it is denied' );

# ---- verdicts that a worker keeps for 30 s

sub list_row {
    my (%option) = @_;
    my $names    = listed( at => 'desk', %option );
    my $row      = audited('/gateway/mcp/%7Bname%7D');
    return ( $row->{requestId}, ( $row->{requestSummary} // {} )->{kept_from}, $names );
}
desk( 'desk', 'all', @tools );
my ( $first, $kept, $names ) = list_row();
is_deeply( $names, [qw(close_issue create_issue list_issues)], 'a list' );
is( $kept, undef, '... is decided' );
is( ( list_row() )[1], $first,
    'the next one of the same token has its verdicts, and the audit row says of which request' );
is_deeply( ( list_row() )[2], $names, '... and shows the same' );
is( ( list_row( token => $mcp->token('mcp') ) )[1], undef, '... one of another token is decided' );
is( ( $mcp->modern( 'tools/call', { name => 'list_issues', arguments => {} }, at => 'desk' ) )->status, 200, 'a call' );
is( ( audited('/gateway/mcp/%7Bname%7D')->{requestSummary} // {} )->{kept_from}, undef, '... is decided' );
desk( 'desk', 'all', @tools, tool( late => 'A new one.' ) );
( $first, $kept, $names ) = list_row();
is( $kept, undef, 'after a save of the resource a list is decided' );
is_deeply( $names, [qw(close_issue create_issue late list_issues)], '... and shows it' );
is( $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => {
            path    => 'custom/gateway.rego', kind => 'rego', version => '1a',
            content => $rule =~ s/== "wipe"/in {"wipe", "late"}/r, enabled => true } )->status,
    200,
    'another policy' );
( $first, $kept, $names ) = list_row();
is( $kept, undef, '... decides' );
is_deeply( $names, [qw(close_issue create_issue list_issues)], '... at once' );

# What is denied has no part in what counts as rare: the order is that of a resource without it.
my @denied = map { tool( "wipe$_", 'The rare word is unicorn.' ) } 1 .. 9;
my @open   = ( tool( a => 'A unicorn.' ), tool( b => 'A horse and a donkey.' ), tool( c => 'A horse.' ) );
desk( 'bare', 'search', @open );
my $alone = found( 'unicorn horse', at => 'bare' );
$rule =~ s/== "wipe"/in {"wipe", "wipe1", "wipe2", "wipe3", "wipe4", "wipe5", "wipe6", "wipe7", "wipe8", "wipe9"}/;
is( $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => 'custom/gateway.rego', kind => 'rego', version => '2', content => $rule, enabled => true }
    )->status,
    200,
    'a rule that denies more' );
desk( 'bare', 'search', @open, @denied );
is_deeply( $alone, found( 'unicorn horse', at => 'bare' ), 'tools that are denied change no rank' );
is( $alone->[0], 'a', '... the rare word counts more' );
done_testing;

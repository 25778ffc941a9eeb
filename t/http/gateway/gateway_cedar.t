# Arguments of tools and Cedar rules: a caller chooses the spelling of a value, so a rule that forbids by an argument holds for
# every spelling that the upstream takes for the same (doc/cedar.md 3; decisions.md "Arguments and Cedar").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Stack ();

my $stack = Authz::Stack->start( gateway => 1 );
my $mcp   = Authz::Mcp->new($stack);
my $json  = JSON::PP->new->utf8->canonical->allow_nonref;
my $row   = 'svc.operator.controls.gateway';
$mcp->resource(
    'shop',
    upstreamType => 'STATIC',
    routes => [ { id   => 'pay', methods => ['POST'], path => '/pay', response => { status => 200, body => 'paid' } } ],
    tools  => [ { name => 'refund', route => 'pay',   inputSchema => { type => 'object' } } ] );

sub rule {
    my ($text) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => 'acme/refund.cedar', kind => 'cedar', content => $text, version => '1', enabled => true } );
    like( $answer->status, qr/\A20[01]\z/, 'a Cedar rule' ) or diag $answer->text;
    return;
}

# The text of the answer to a call with arguments as they are written.
sub call {
    my ($arguments) = @_;
    my $message = $json->encode(
        {   jsonrpc => '2.0', id => 1, method => 'tools/call',
            params  => { name => 'shop__refund', arguments => 'HERE' } } );
    $message =~ s/"HERE"/$arguments/;
    my $answer = $mcp->send_octets( $message, headers => [ 'MCP-Protocol-Version' => '2025-11-25' ] );
    return $mcp->result($answer)->{content}[0]{text} // $answer->text;
}

sub denied {
    my ( $arguments, $code, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return like( call($arguments), qr{\ADenied: .*\b$code\b}, $name );
}

# Without Cedar rules no argument needs a form in Cedar.
is( call('{"euros":[null,1e19]}'), 'paid', 'no rule: every argument passes' );

for my $case (
    [ 'with has',    'context.arguments has euros && context.arguments.euros > 100' ],
    [ 'without has', 'context.arguments.euros > 100' ] )
{
    my ( $name, $condition ) = @$case;
    rule("\@id(\"much\") forbid (principal, action == Action::\"gateway:refund\", resource) when { $condition };\n");
    denied( "{\"euros\":$_}", 'cedar_forbid', "$name: euros of $_" ) for qw(2000 101.0 2000.0 2e3 20.00e2 1e18 1.01e2);
    denied( "{\"euros\":$_}", 'cedar_unmapped', "$name: euros of $_ are no value that the rule can judge" )
      for qw(2000.5 100.0001 0.00001 1e19 1e300 null), '[2000,null]';
    is( call("{\"euros\":$_}"), 'paid', "$name: euros of $_" ) for qw(100 100.0 1e2 0.1e1 -2000.0 -1e18);
}

for my $case ( [ 'with has', 'context.arguments has to && ' ], [ 'without has', '' ] ) {
    my ( $name, $condition ) = @$case;
    rule("forbid (principal, action, resource) when { $condition context.arguments.to.contains(\"ceo\") };\n");
    denied( "{\"to\":$_}", 'cedar_forbid', "$name: a list $_" )
      for '["ceo"]', '["a","ceo","ceo"]', '["ceo",1.5]', '["ceo",2.0]';
    denied( "{\"to\":$_}", 'cedar_unmapped', "$name: a list $_" )
      for '["ceo",null]', '["ceo",0.00001]', '["ceo",[1e19]]', '["ceo",{"__extn":{"fn":"ip","arg":"x"}}]';
    denied( '{"to":["ceo"],"a":' . '[' x 7 . ']' x 7 . '}', 'cedar_unmapped', "$name: lists seven deep" );
    is( call("{\"to\":$_}"), 'paid', "$name: a list $_" ) for '[]', '["a"]', '["a",1.5,true]';
}

# A deep place outside the rule's sight counts too: the rule could have read it.
my $deep = '{"to":["a"],"x":' . '{"y":' x 6 . '1' . '}' x 6 . '}';
is( call($deep), 'paid', 'records of eight levels' );
denied( $deep =~ s/:1}/:{"z":1}}/r, 'cedar_unmapped', '... of nine' );

# The operator's row.
$stack->patch_row( $row, { cedar_unmapped => 'allow' } );
is( call('{"to":["ceo",null]}'),   'paid', 'cedar_unmapped allow: rules are asked without the value' );
is( call('{"to":["a"],"x":null}'), 'paid', '... null is absent' );
denied( '{"to":["ceo"],"x":null}', 'cedar_forbid', '... and a rule that holds denies' );
$stack->patch_row( $row, { cedar_unmapped => undef } );
denied( '{"to":["a"],"x":null}', 'cedar_unmapped', 'deny is the default' );

$stack->patch_row( 'svc.operator.controls.authzen', { cedar_mode => 'off' } );
is( call('{"to":["ceo",null]}'), 'paid', 'cedar_mode off: no argument needs a form in Cedar' );
$stack->patch_row( 'svc.operator.controls.authzen', { cedar_mode => undef } );

# Arguments that are too long for the question (gateway-admin.md 3.8).
my $long = '{"to":["a"],"note":"' . 'x' x 530_000 . '"}';
denied( $long, 'arguments_too_long', 'arguments of more than 512 KiB' );
$stack->patch_row( $row, { truncated => 'allow' } );
is( call($long), 'paid', 'truncated allow: they are decided without arguments' );
is( $stack->admin( PATCH => "/admin/api/policy-data/by-key?dataKey=$row", json => { truncated => 'yes' } )->status,
    422, 'truncated: another word is refused' );

done_testing;

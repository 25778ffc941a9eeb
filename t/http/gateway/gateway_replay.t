# Replay of a request to a managed resource whose arguments were not stored: it is not comparable and says what it lacks
# (gateway-admin.md 3.6 and 3.8).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Mcp    ();
use Authz::Path   ();
use Authz::Policy ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start( gateway => 1, settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my $mcp    = Authz::Mcp->new($stack);
my $policy = Authz::Policy->new($stack);
my %plain  = ( response => { status => 200, body => 'done' } );
$mcp->resource(
    'shop',
    upstreamType => 'STATIC',
    routes       => [
        { id => 'refund', methods => ['GET'], path => '/refund/{order}', action => 'refund', %plain },
        { id => 'status', methods => ['GET'], path => '/status',         action => 'status', %plain } ],
    tools => [
        {   name        => 'refund',
            route       => 'refund',
            inputSchema => { type => 'object' },
            args        => { path => ['order'] } },
        { name => 'status', route => 'status', inputSchema => { type => 'object' } } ] );
is( $policy->deploy( rules => { 'custom/refund.rego' => <<'REGO' } )->status, 200, 'a rule on an argument' );
package custom.gateway

deny contains "too much" if input.arguments.order == "o/1~2"
REGO

# Return the answers of a call and of its replay; the newest row of the gateway is the call's.
sub replay {
    my ( $tool, $arguments ) = @_;
    my $called = $mcp->modern( 'tools/call', { name => "shop__$tool", arguments => $arguments } );
    return ( $called, replay_of() );
}

sub replay_of {
    my $row = $stack->sql(q{SELECT id FROM audit_log WHERE endpoint LIKE '/gateway/%' ORDER BY id DESC LIMIT 1});
    return $stack->admin( POST => '/admin/api/policy-rules/evaluate', json => { auditId => $row + 0 } );
}

sub mode {
    my ($mode) = @_;
    $stack->patch_row( 'svc.operator.controls.audit', { argument_mode => $mode } );
    return;
}

my %lacks = ( after => undef, changed => undef, changes => undef, notComparable => qr/argument_mode/ );

my ( $called, $replay ) = replay( 'refund', { order => 'o/1~2', 'a/b~c' => 1 } );
is( $called->status, 200, 'a call that the rule denies' );
admin_ok(
    $replay, 200,
    {   %lacks,
        comparable => false,
        before     => sub { !$_[0]{allow} },
        notStored  => [ '/arguments/a~1b~0c', '/arguments/order' ] },
    'keys: the replay is not comparable, and names the values that were not stored (RFC 6901 section 3)' );
( $called, $replay ) = replay( 'status', {} );
admin_ok(
    $replay, 200, { comparable => true, changed => false, changes => [], notStored => undef },
    'keys: a call without arguments is whole' );

my $token  = $stack->token_text( @{ $mcp->{client} }, scope => 'mcp', resource => $stack->base . '/gateway/shop' );
my @bearer = ( headers => [ Authz::Client::bearer($token) ] );
is( $stack->http->get( '/gateway/shop/refund/7?why=x', @bearer )->status, 200, 'a request to a route' );
admin_ok(
    replay_of(),
    200,
    { %lacks, comparable => false, notStored => [ '/action/path', '/arguments/path/order', '/arguments/query/why' ] },
    'keys: of a request to a route the path, too' );

# ---- measurements of a change, which ask the same questions again (policy.md I10)

# The counts of a measurement with one more rule of the gateway.
sub impact {
    my ($when) = @_;
    my $rule   = qq(package custom.gateway\n\ndeny contains "closed" if $when\n);
    my $answer = $stack->admin(
        POST    => '/admin/api/policy-impact',
        json    => { rule => { path => 'custom/more.rego', content => $rule }, filter => { evaluation => 'gateway' } },
        headers => [ Prefer => 'wait=25' ] );
    my %hidden = map { ( $_->{why} => $_->{count} ) } @{ $answer->member('notKnown') // [] };
    return [ ( map { $answer->member($_) } qw(looked same newlyDenied) ), \%hidden ];
}
is_deeply(
    impact('input.action.kind == "http"'),
    [ 3, 1, 1, { hidden => 1 } ],
    'hidden_untouched_exact: a request whose values no rule reads is decided; hidden_touched: the active rule reads one of a call'
);
is_deeply(
    impact('input.action.path == "/refund/8"'),
    [ 3, 0, 0, { hidden => 3 } ],
    'hidden_touched: a rule that reads the path, which tools of routes have too' );
is_deeply(
    impact('input.arguments.path.order == "8"'),
    [ 3, 1, 0, { hidden => 2 } ],
    'hidden_touched: a rule that reads a part of the path' );

mode('none');
( $called, $replay ) = replay( 'refund', { order => 'o/1~2' } );
admin_ok(
    $replay, 200, { %lacks, comparable => false, notStored => ['/arguments'] },
    'none: what is not stored cannot be told apart from what was not sent' );
mode('full');
( $called, $replay ) = replay( 'refund', { order => 'o/1~2' } );
admin_ok(
    $replay, 200, { comparable => true, changed => false, after => sub { !$_[0]{allow} } },
    'full: the replay denies again' );
is( $stack->http->get( '/gateway/shop/refund/7?why=x', @bearer )->status, 200, 'full: a request to a route' );
admin_ok(
    replay_of(),
    200, { comparable => true, changed => false }, 'full: ... is whole' );

# An argument that is null is a value.
( $called, $replay ) = replay( 'refund', { order => '8', note => undef } );
admin_ok( $replay, 200, { comparable => true, changed => false }, 'full: an argument that is null is a value' );

done_testing;

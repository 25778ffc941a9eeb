# The scopes that clients are told to ask for: SVC_GATEWAY_ASK_ALL_SCOPES (gateway-admin.md 1.4).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Stack ();

sub tool {
    my ( $name, %more ) = @_;
    return { name => $name, route => 'a', inputSchema => { type => 'object' }, %more };
}

for my $case (
    [ 'false', 'mcp desk:read',                       'desk:read',                       'desk:read' ],
    [ 'true',  'mcp desk:read desk:write desk:admin', 'desk:read desk:write desk:admin', 'desk:read desk:send' ],
  )
{
    my ( $setting, $all, $one, $proxied ) = @$case;
    my $stack = Authz::Stack->start( gateway => 1, settings => { SVC_GATEWAY_ASK_ALL_SCOPES => $setting } );
    my $mcp   = Authz::Mcp->new($stack);
    my $base  = { id => 'a', methods => ['GET'], path => '/a', response => { status => 200, body => 'a' } };
    $mcp->resource(
        'desk',
        upstreamType => 'STATIC', defaultScope => 'desk:read',
        routes       => [
            $base,
            { %$base, id => 'b', path => '/b', scopes => ['desk:send'] },
            { %$base, id => 'c', path => '/c', scopes => ['desk:off'], enabled => JSON::PP::false() } ],
        tools => [
            tool('read'),
            tool( 'write', scopes => [ 'desk:write', 'desk:admin' ] ),
            tool( 'off',   scopes => ['desk:off'], enabled => JSON::PP::false() ) ] );
    for my $place ( [ '/gateway/mcp', $all ], [ '/gateway/mcp/desk', $one ], [ '/gateway/desk', $proxied ] ) {
        my ( $path, $scopes ) = @$place;
        my $metadata = $stack->http->get("/.well-known/oauth-protected-resource$path")->json;
        is( "@{ $metadata->{scopes_supported} // [] }", $scopes, "$setting: scopes_supported of $path" );
        for my $token ( undef, 'svc_at_wrong' ) {
            my $answer = $stack->http->request(
                GET     => $path eq '/gateway/desk' ? "$path/a" : $path,
                headers => [ defined $token ? ( Authorization => "Bearer $token" ) : () ] );
            $answer = $stack->http->request(
                POST    => $path, body => '{}',
                headers =>
                  [ 'Content-Type' => 'application/json', defined $token ? ( Authorization => "Bearer $token" ) : () ]
            ) if $path ne '/gateway/desk';
            is( $answer->status, 401, '... without a good token: 401' );
            my $asked = $setting eq 'false' && $path eq '/gateway/mcp' ? 'mcp' : $scopes;
            like( $answer->header('WWW-Authenticate'), qr/scope="\Q$asked\E"/, "... whose challenge asks for $asked" );
        }
    }
    next if $setting eq 'false';

    # A challenge ends after 4 kB of scopes, at the end of one.
    my @long = map { sprintf 'desk:%03d%s', $_, 'x' x 90 } 1 .. 60;
    $mcp->resource(
        'desk',
        upstreamType => 'STATIC', defaultScope => 'desk:read', routes => [$base],
        tools        => [ map { tool( "t$_", scopes => [ $long[$_] ] ) } 0 .. $#long ] );
    my ($asked) =
      $mcp->modern( 'tools/list', {}, at => 'desk', token => undef )->header('WWW-Authenticate') =~ /scope="([^"]*)"/;
    cmp_ok( length $asked, '<=', 4096, 'a challenge has at most 4096 octets of scopes' );
    cmp_ok( length $asked, '>',  3990, '... and as many as fit' );
    is( $asked, join( ' ', ( 'desk:read', sort @long )[ 0 .. scalar( my @n = $asked =~ / /g ) ] ), '... whole ones' );
    is( $mcp->modern( 'tools/list', {}, at => 'nothing', token => undef )->status, 404, 'an unknown resource: 404' );
}
done_testing;

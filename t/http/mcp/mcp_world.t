# MCP servers as they are: what stock servers send is taken, named or refused with the cure (decisions.md "Gateway").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Mcp   ();
use Authz::Peer  ();
use Authz::Stack ();

my $peer  = Authz::Peer->start;
my $stack = Authz::Stack->start(
    gateway  => 1, web_workers => 1,
    settings => { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $mcp    = Authz::Mcp->new($stack);
my $api    = '/admin/api/managed-resources';
my $secret = 'credential-of-the-gateway';
my $json   = JSON::PP->new->utf8->canonical->allow_nonref;

# Answers as the SDK's servers give them.
sub answer { my ($result) = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }
my $tool   = { name => 'echo', description => 'Say the same.', inputSchema => { type => 'object' } };
my $modern = answer(
    {   resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => { tools => {} }, tools => [$tool]
    } );

sub upstream {
    my ( $name, $path ) = @_;
    $mcp->resource(
        $name,
        upstreamType => 'MCP', upstreamUrl => $peer->url($path),
        upstreamAuth => { type => 'static_header', value => $secret } );
    return $stack->admin( POST => "$api/$name/sync" );
}
sub shown { my ($name) = @_; return $stack->admin( GET => "$api/$name" )->json }

sub attention {
    return [
        map  {"$_->{kind} $_->{name}"}
        grep { $_->{kind} ne 'errors' } @{ $stack->admin( GET => '/admin/api/attention' )->json } ];
}

# ---- M1: the slash of upstreamUrl

sub slash_kept {
    $peer->set( '/slash/' => $modern, '/bare' => $modern );
    is( upstream( 'slash', '/slash/' )->status, 200, 'M1 slash_kept: a server at /mcp/ is reached (RFC 3986 6.2)' );
    is( upstream( 'bare', '/bare' )->status,    200, 'M1: ... and one at /mcp' );
    is( $peer->hits('/slash') + $peer->hits('/bare/'), 0,        'M1: nothing else is asked' );
    is( shown('slash')->{status},                      'active', 'M1: ... the resource is active' );
    return;
}

# ---- M2: redirects

sub redirect_named {
    my $target = $peer->url('/moved/');
    my $why    = "The upstream redirects to $target: change upstreamUrl";
    $peer->set(
        '/moved'  => { status => 307, type => 'text/plain', headers => [ Location => '/moved/?a=secret' ] },
        '/moved/' => $modern );
    admin_error(
        upstream( 'moved', '/moved' ),
        502,
        'M2 redirect_named: a redirect is refused, and the sync names its address',
        members => { error_description => $why } );
    is( $peer->hits('/moved/'),         0,         'M2 no_credential_to_redirect: it is not followed' );
    is( $peer->hits('/moved'),          1,         'M2: ... and nothing more is tried' );
    is( shown('moved')->{status},       'pending', 'M2: the resource waits' );
    is( shown('moved')->{statusReason}, $why,      'M2: ... its statusReason names the address, without a query' );
    like( $stack->{service}->log_text, qr/moved: \Q$why\E/, 'M2: ... the log too' );
    is_deeply( attention(), ['upstream_redirects moved'], 'M2: ... and attention, once' );
    return $why;
}

sub redirect_mended {
    my ($why) = @_;
    is( upstream( 'moved', '/moved/' )->status, 200, 'M2: with the address that was named the sync succeeds' );
    is( $peer->hits('/moved/') > 0 && shown('moved')->{statusReason}, undef, 'M2: ... nothing is wrong any more' );
    is_deeply( attention(), [], 'M2: ... also for attention' );
    $peer->set( '/moved/' => { status => 308, headers => [ Location => 'ftp://elsewhere/' ] } );
    my $said = $mcp->modern( 'tools/call', { name => 'echo', arguments => {} }, at => 'moved' );
    unlike( $said->text, qr/elsewhere|redirects/, 'M2: a caller is not told where an upstream redirects to' );
    is( shown('moved')->{status}, 'degraded', 'M2: a redirect of a call degrades the resource' );
    is( shown('moved')->{statusReason},
        'The upstream redirects to an address that cannot be shown: change upstreamUrl',
        'M2: ... another scheme is not repeated' );
    upstream( 'moved', '/other' );
    isnt( shown('moved')->{statusReason}, $why, 'M2: another address forgets the redirect' );
    return;
}

# ---- M8: members that are null

sub call_gives {
    my ( $name, $result ) = @_;
    my %by = ( '"tools/call"' => answer($result) );
    $peer->set( "/$name" => { %$modern, instead => \%by } );
    upstream( $name, "/$name" );
    my $said = $mcp->modern( 'tools/call', { name => 'echo', arguments => { a => undef } }, at => $name );
    return $mcp->result($said) // $said->text;
}

sub nulls {
    my $file = { uri => 'file:///a', text => 't', blob => undef, mimeType => undef };
    is_deeply(
        call_gives( 'hints', { content => [ { type => 'text', text => 't', annotations => undef } ] } )->{content},
        [ { type => 'text', text => 't' } ],
        'M8 null_annotations: a member that is null is not passed on' );
    is_deeply(
        call_gives( 'blob', { content => [ { type => 'resource', resource => $file } ], isError => undef } )->{content},
        [ { type => 'resource', resource => { uri => 'file:///a', text => 't' } } ],
        'M8 null_blob: ... and no check trips over it' );
    ok( call_gives( 'both', { content => [ { type => 'resource', resource => { %$file, text => undef } } ] } )
          ->{isError},
        'M8: a resource without text and blob is refused' );
    ok( call_gives( 'list', { content => [undef] } )->{isError}, 'M8: an element that is null is refused' );
    is_deeply(
        call_gives( 'data', { content => [], structuredContent => { a => undef, b => [undef] } } )->{structuredContent},
        { a => undef, b => [undef] },
        'M8 null_in_data: in structuredContent null is a value' );
    my ($asked) = grep { $_->{body} =~ m{"tools/call"} } $peer->requests('/data');
    is_deeply( $json->decode( $asked->{body} )->{params}{arguments}, { a => undef }, 'M8: ... in arguments too' );
    is( $mcp->modern( 'tools/list', { cursor => undef } )->status, 200,
        'M8: a cursor of a client that is null is none' );
    return;
}

# ---- G6: long names of tools

sub long_names {
    my $resource = 'microsoft-365-calendar';
    my $name     = 'list_all_calendar_events_of_a_shared_mailbox';
    my $shown    = "${resource}__list_all_calendar_ec0c22";
    $peer->set(
        "/$resource" => {
            %$modern,
            instead => {
                '"tools/list"' => answer( { resultType => 'complete', tools => [ { %$tool, name => $name } ] } ),
                '"tools/call"' => answer( { content    => [] } ) } } );
    is( upstream( $resource, "/$resource" )->status, 200, 'G6: a tool with a long name' );
    my $listed = $mcp->result( $mcp->modern('tools/list') )->{tools};
    is_deeply(
        [ map { $_->{name} } grep { $_->{name} =~ /\Amicrosoft/ } @$listed ],
        [$shown], 'G6 name_48: its name has 48 characters' );
    for my $called ( $shown, "${resource}__list_all_calendar_events_of_a_sha_ec0c22" ) {
        my $hits = () = $peer->requests("/$resource");
        ok( $mcp->result( $mcp->modern( 'tools/call', { name => $called, arguments => {} } ) ),
            'G6 name_64_called: a call of ' . length($called) . ' characters is served' );
        my ($sent) = grep { $_->{body} =~ m{"tools/call"} } reverse $peer->requests("/$resource");
        is( $json->decode( $sent->{body} )->{params}{name}, $name, 'G6: ... by the name of the upstream' );
    }
    my $other = "${resource}__list_all_calendar_events_of_a_sha_000000";
    unlike(
        $mcp->modern( 'tools/call', { name => $other, arguments => {} } )->text,
        qr/"content"/, 'G6: a name with another digest is no tool' );
    return;
}

slash_kept();
nulls();
long_names();
redirect_mended( redirect_named() );
done_testing;

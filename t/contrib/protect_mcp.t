#!/usr/bin/perl
# doc/protect-mcp.md: its commands can be pasted, twice, and each answer has what the page shows. A person without a screen signs
# in where the page says so; in walk.t one with a browser does.
use strict;
use warnings;

use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Client  ();
use Authz::Idp     ();
use Authz::Node    ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $missing = Authz::Node::missing();
plan skip_all => $missing if defined $missing;

my $page = Authz::Web::edit( Authz::Path::source('doc/protect-mcp.md') );

# The service has the settings that the page starts it with, and an identity provider, as a trial has.
my ($start) = $page =~ /^ +(SVC_.*) contrib\/quickstart up --no-demo$/m;
my $stack = Authz::Stack->start(
    gateway  => 4,
    settings => { Authz::Idp->settings, map { split /=/, $_, 2 } split ' ', $start // '' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'demo' );

# The version of the SDK is the one that the tests have.
my ( $example, $tests ) = map { JSON::PP::decode_json( Authz::Web::edit( Authz::Path::source($_) ) )->{dependencies} }
  'contrib/examples/mcp/package.json', 't/npm/package.json';
is( $example->{$_}, $tests->{$_}, "the version of $_ is tested" ) for sort keys %$example;

# A directory like a checkout after `contrib/quickstart up`, and the programs that the commands find. The packages are those of
# t/npm, where npm would fetch them.
my $dir = Authz::Process::directory();
mkdir "$dir/$_" or die "$dir/$_: $!" for qw(tree tree/var prefix prefix/bin bin);
symlink Authz::Path::source('contrib'),   "$dir/tree/contrib"        or die "symlink: $!";
symlink Authz::Path::program('authzctl'), "$dir/prefix/bin/authzctl" or die "symlink: $!";
symlink Authz::Node::node(),              "$dir/bin/node"            or die "symlink: $!";
Authz::Web::write_file(
    "$dir/tree/var/env",
    qq{BASE_URL="@{[$stack->base]}"\nSVC_ADMIN_API_KEY="$Authz::Stack::KEY{SVC_ADMIN_API_KEY}"\nAUTHZ_PREFIX="$dir/prefix"\nexport AUTHZ_SERVER="\$BASE_URL" AUTHZ_ADMIN_KEY="\$SVC_ADMIN_API_KEY" PATH="$dir/prefix/bin:\$PATH"\n}
);
Authz::Web::write_file(
    "$dir/bin/npm",
    "#!/bin/sh\n[ \"\$*\" = 'install --silent --prefix var/mcp' ] && ln -sfn '@{[Authz::Node::modules()]}' var/mcp/node_modules\n",
    0755 );
my $lib = Authz::Path::source( 't', 'lib' );
Authz::Web::write_file( "$dir/bin/browser", <<"END", 0755 );
#!/usr/bin/perl
use strict;
use warnings;
use lib '$lib';
use Authz::Browser ();
my \$browser = Authz::Browser->new;
my \$page = ( \$browser->follow( \$ARGV[0] ) )[-1];
for ( 1 .. 5 ) {
    last if !Authz::Browser::forms(\$page);
    my \@allow = \$page->body =~ /name="decision"/ ? ( button => [ decision => 'allow' ] ) : ();
    \$page = ( \$browser->submit( \$page, \@allow ) )[-1];
}
print 'the browser shows: ', \$page->body, "\\n";
END

# Addresses of the page that are taken in a run beside others.
my %port = map { $_ => Authz::Web::free_port() } qw(8001 8002);
$page =~ s/\b(8001|8002)\b/$port{$1}/g;

# Each block of commands, and the lines of its output that the next block shows. The shell lives on from block to block; where a
# block starts servers, the reader's next command comes when they listen.
my @commands;
my @block = $page =~ /^```(sh)?\n(.*?)^```$/msg;
my ( $script, @expected ) = ("trap 'kill \$(jobs -p) 2>/dev/null' EXIT\n");
while ( my ( $kind, $text ) = splice @block, 0, 2 ) {
    if ( !$kind ) { $expected[-1] = $text; next }
    $script .= $text;
    $script .= "until (exec 3<>/dev/tcp/127.0.0.1/$_) 2>/dev/null; do sleep 0.1; done\n"
      for $text =~ /^ *PORT=(\d+) /mg;
    $script .= "echo; echo '-- end of block'\n";
    push @expected, '';
    push @commands, $text;
}
cmp_ok( scalar( grep { $_ ne '' } @expected ), '>=', 9, 'the page shows answers' );

for my $time ( 'first', 'second' ) {
    my ( $status, $output ) = Authz::Process->run(
        name    => "paste-$time", timeout => 120,
        command => [ 'bash', '-u', '-c', "cd '$dir/tree' && $script" ],
        env     => { PATH => "$dir/bin:$ENV{PATH}", BROWSER => "$dir/bin/browser", PORT => Authz::Web::free_port() } );
    is( $status, 0, "pasted for the $time time: the commands end well" ) or diag $output;
    my @output = split /^-- end of block\n/m, $output;
    diag $output if $ENV{SHOW};
    for my $hidden ( 'resource sync orders\nnode', 'policy rule set' ) {
        my ($block) = grep { $commands[$_] =~ /$hidden/ } 0 .. $#commands;
        unlike( $output[$block], qr/^delete_orders/m, '... a tool that is not approved, or denied, is not listed' );
    }
    for my $block ( 0 .. $#expected ) {
        my $at = 0;
        for my $line ( split /\n/, $expected[$block] ) {
            my $found = index $output[$block] // '', $line, $at;
            ok( $found >= 0, "... and block $block prints: $line" ) or diag $output[$block];
            $at = $found + 1;
        }
    }
}

# ---- what protect.mjs refuses

my $own     = "http://127.0.0.1:$port{8002}/mcp";
my @server  = $stack->make_client( 'orders-mcp', { endpoints => ['introspect'], resources => [$own] } );
my $reading = [ 'orders:read', 'orders:write' ];
my @agent   = $stack->make_client(
    'agent',
    {   grants    => ['client_credentials'],
        scopes    => [ @$reading, 'orders:read.all' ], gateway_scopes => ['*'],
        resources => [ $own, "$own/more", 'urn:svc:gateway' ] } );
my $tree = "$dir/own";
system( 'cp', '-R', Authz::Path::source( 'contrib', 'examples', 'mcp' ), $tree ) == 0 or die "cp\n";
symlink Authz::Node::modules(), "$tree/node_modules" or die "symlink: $!";

sub protected_server {
    my (%env)   = @_;
    my $at      = Authz::Web::free_port();
    my $process = Authz::Process->start(
        name    => "protected$at",
        command => [ Authz::Node::node(), "$tree/server.mjs" ],
        env     => {
            PORT                => $at, AUTHZ_ISSUER => $stack->base, AUTHZ_CLIENT_ID => $server[0],
            AUTHZ_CLIENT_SECRET => $server[1],
            MCP_RESOURCE        => $own, %env } );
    my $there = Authz::Process::until_true(
        30,
        sub { !$process->alive || IO::Socket::INET->new( PeerAddr => '127.0.0.1', PeerPort => $at, Proto => 'tcp' ) } );
    return ( Authz::Client->new( port => $at ), $there && $process->alive );
}

sub message {
    my ( $method, %params ) = @_;
    return { jsonrpc => '2.0', id => 1, method => $method, params => \%params };
}
sub calling { my ($tool) = @_; return message( 'tools/call', name => $tool, arguments => { order => 1, euros => 1 } ) }

sub ask {
    my ( $http, $authorization, $message, $target ) = @_;
    return $http->post(
        $target // '/mcp', json => $message // message('tools/list'),
        headers => [
            Accept => 'application/json, text/event-stream',
            defined $authorization ? ( Authorization => $authorization ) : () ] );
}

sub bearer {
    my ( $scope, $resource ) = @_;
    return 'Bearer '
      . $stack->token_text( @agent, scope => $scope, defined $resource ? ( resource => $resource ) : () );
}

my ($http) = protected_server();
my $both = bearer( 'orders:read orders:write', $own );
is( ask( $http, $both )->status, 200, 'protect.mjs: a token with the scopes passes' );
is( ask( $http, $both, calling('ship_order') )->status, 200, '... also with a call' );
my $metadata = $http->get('/.well-known/oauth-protected-resource/mcp');
is_deeply(
    $metadata->json,
    {   resource              => $own,             bearer_methods_supported => ['header'],
        authorization_servers => [ $stack->base ], scopes_supported         => $reading },
    'its metadata lead to the service (RFC 9728 2)' );

my $read = bearer( 'orders:read', $own );
for my $case (
    [ 'no token',                                     undef ],
    [ 'a token for another server',                   bearer( 'orders:read', "$own/more" ) ],
    [ 'a token for the gateway',                      bearer( 'orders:read', $stack->base . '/gateway/mcp/orders' ) ],
    [ 'a token without a resource',                   bearer('orders:read') ],
    [ 'a token that nobody issued',                   "${read}x" ],
    [ 'a token with an octet that no token has',      "$read\"" ],
    [ 'the credential of the server itself by Basic', ( Authz::Client::basic(@server) )[1] ],
  )
{
    my ( $what, $authorization ) = @$case;
    my $answer = ask( $http, $authorization );
    is( $answer->status, 401, "protect.mjs: $what is refused with 401" ) or diag $answer->text;
    like(
        $answer->header('WWW-Authenticate') // '',
        qr{\ABearer resource_metadata="http://127\.0\.0\.1:@{[$port{8002}]}/\.well-known/oauth-protected-resource/mcp"},
        '... that leads to the metadata (RFC 9728 5.1)' );
}
for my $case (
    [ 'a call that needs more', calling('ship_order') ],
    [ 'such a call in a batch', [ message('tools/list'), calling('refund_order') ] ],
  )
{
    my ( $what, $message ) = @$case;
    my $answer = ask( $http, $read, $message );
    is( $answer->status, 403, "protect.mjs: $what is refused with 403" ) or diag $answer->text;
    like(
        $answer->header('WWW-Authenticate') // '', qr/scope="orders:read orders:write", error="insufficient_scope"/,
        '... that names the scopes (RFC 6750 3.1)' );
}
is( ask( $http, bearer( 'orders:read.all', $own ) )->status, 403,
    'protect.mjs: a scope that begins like the needed one is none' );
is( ask( $http, $both, undef, $_ )->status, 404, "protect.mjs: $_ is not served" ) for '/', '/mcp/', '//mcp', '/%6dcp';
is( $http->get('/mcp')->status, 405, 'protect.mjs: no method but POST' );
is( $http->post( '/mcp', body => 'x' x ( ( 1 << 20 ) + 1 ), headers => [ Authorization => $both ] )->status,
    400, 'protect.mjs: a body of more than 1 MiB is refused' );
$stack->revoke( @agent, token => $both =~ s/Bearer //r );
is( ask( $http, $both )->status, 401, 'protect.mjs: a token that was revoked a moment ago is refused' );

my ($wrong) = protected_server( AUTHZ_CLIENT_SECRET => 'wrong' );
is( ask( $wrong, $read )->status, 503, 'protect.mjs: a wrong secret of the server: 503, never a pass' );
my ( undef, $alive ) = protected_server( AUTHZ_CLIENT_SECRET => '' );
ok( !$alive, 'protect.mjs: without a secret it does not start' );
$stack->bind( $server[0], { endpoints => undef } );
is( ask( $http, $read )->status, 503, 'protect.mjs: the server may not introspect: 503, never a pass' );
$stack->{service}->stop;
is( ask( $http, $read )->status, 503, 'protect.mjs: the service is down: 503, never a pass' );

done_testing;

# MCP clients of the command line against the gateway, as their makers ship them: each signs a person in by the address that it prints,
# and connects. No model is asked, and no account of a maker is needed. mcp-remote and opencode are among the
# packages of t/npm. Claude Code and Codex are too large for every run: they are tried where AUTHZ_MCP_CLIENTS names a directory
# into which npm installed @anthropic-ai/claude-code and @openai/codex.
use strict;
use warnings;

use Test::More;

use Authz::Browser ();
use Authz::Idp     ();
use Authz::Interop ();
use Authz::Mcp     ();
use Authz::Node    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

Authz::Interop::need();
my $stack = Authz::Stack->start(
    gateway  => 4,
    settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $base = $stack->base;
Authz::Interop::provider( $stack, qw(openid profile email) );
my $may = {
    grants         => [qw(authorization_code refresh_token)], scopes    => [qw(openid mcp offline_access)],
    gateway_scopes => ['*'],                                  resources => ['urn:svc:gateway'] };
$stack->patch_row( 'svc.entitlements.bindings', { registrations => { DCR => $may } } );
my $mcp = Authz::Mcp->new($stack);
$mcp->resource(
    'desk',
    upstreamType => 'STATIC',
    routes       => [ { id => 'hello', path => '/hello', response => { status => 200, json => { said => 'hello' } } } ],
    tools => [ { name => 'hello', route => 'hello', description => 'Say hello.', inputSchema => { type => 'object' } } ]
);
my $url = $mcp->address('desk');

# The home of one client, its configuration, and a browser that opens nothing.
my $home = Authz::Process::directory() . '/home';
my %env  = (
    HOME => $home, XDG_CONFIG_HOME => "$home/.config", XDG_DATA_HOME => "$home/.local", BROWSER => '/bin/true',
    TERM => 'xterm',
    OPENCODE_DISABLE_MODELS_FETCH => 1, DISABLE_AUTOUPDATER => 1 );
system( 'mkdir', '-p', "$home/.config/opencode", "$home/.codex" ) == 0 or die;
Authz::Web::write_file(
    "$home/.config/opencode/opencode.json",
    qq({"autoupdate": false, "mcp": {"desk": {"type": "remote", "url": "$url", "enabled": true}}}) );

# What a person does with the address: sign in, allow, and let the browser go back to the client.
sub person {
    my ($address) = @_;
    my $browser   = Authz::Browser->new;
    my $page      = ( $browser->follow($address) )[-1];
    for ( 1 .. 5 ) {
        last if $page->{url} !~ m{\A\Q$base\E/} || !Authz::Browser::forms($page);
        my @allow = $page->body =~ /name="decision"/ ? ( button => [ decision => 'allow' ] ) : ();
        $page = ( $browser->submit( $page, @allow ) )[-1];
    }
    return $browser->url;
}

# Run a program in a terminal, which some of them ask for. Return what it printed, without the marks of the terminal, and where the
# browser ended if it asked for a sign-in.
sub runs {
    my (@command) = @_;
    my $line      = join ' ', map {"'$_'"} @command;
    my $process   = Authz::Process->start(
        name    => 'client' . ++( our $count ), env => \%env,
        command => [ 'script', '-qefc', "stty cols 3000; $line", '/dev/null' ] );
    my ( $until, $ended ) = ( time + 60 * Authz::Process::patience() );
    my $status;
    while ( !defined $status && time < $until ) {
        $ended  = person($1) if !defined $ended && $process->log_text =~ m{(\Q$base\E/authorize\?[^\s"\e\a]+)};
        $status = $process->wait(0.3);
    }
    $process->stop if !defined $status;
    return ( $process->log_text =~ s/\e\[[0-9;?<>]*[a-zA-Z]//gr, $ended // 'no sign-in was asked for' );
}

# Each client: how it is made known, signs in, and tells that it is connected.
my $modules = Authz::Node::modules();
my $more    = ( $ENV{AUTHZ_MCP_CLIENTS} // '/nowhere' ) . '/node_modules';
my ($codex) =
  glob "$more/\@openai/codex*/vendor/*/bin/codex $more/\@openai/codex/node_modules/\@openai/*/vendor/*/bin/codex";
my ($claude) = glob "$more/\@anthropic-ai/claude-code-linux-x64/claude";
my @clients = (
    {   name  => 'mcp-remote', program => "$modules/mcp-remote/dist/client.js",
        login => [ Authz::Node::node(), "$modules/mcp-remote/dist/client.js", $url, '--allow-http' ],
        shows => qr/Connected successfully.*Requesting tools list/s },
    {   name  => 'opencode', program => "$modules/opencode-linux-x64/bin/opencode",
        login => [ "$modules/opencode-linux-x64/bin/opencode", qw(mcp auth desk) ],
        list  => [ "$modules/opencode-linux-x64/bin/opencode", qw(mcp list) ], shows => qr/desk.*connected/s },
    {   name  => 'Codex', program => $codex,
        add   => [ $codex, qw(mcp add desk --url), $url ],
        login => [ $codex, qw(mcp login desk --oauth-client-registration dcr) ],
        list  => [ $codex, qw(mcp list) ], shows => qr/desk .*enabled +OAuth/ },
    {   name => 'Claude Code', program => $claude,
        add  =>
          [ $claude, qw(mcp add --transport http --scope user --client-id claude --callback-port 8931 desk), $url ],
        login => [ $claude, qw(mcp login desk) ],
        list  => [ $claude, qw(mcp list) ], shows => qr/desk: .*Connected/ },
);
$stack->make_client( 'claude', $may, clientType => 'public', redirectUris => ['http://localhost:8931/callback'] );

for my $client (@clients) {
    my $name = $client->{name};
  SKIP: {
        skip "$name is not here", 2 if !defined $client->{program} || !-e $client->{program};
        runs( @{ $client->{add} } ) if $client->{add};
        my ( $text, $ended ) = runs( @{ $client->{login} } );
        like(
            $ended, qr{\Ahttp://(?:localhost|127\.0\.0\.1):\d+/\S*[?&]code=},
            "$name: a person signs in, and the code reaches it" ) or diag($text);
        ($text) = runs( @{ $client->{list} } ) if $client->{list};
        like( $text, $client->{shows}, '... and it is connected to the gateway' ) or diag($text);
    }
}
done_testing;

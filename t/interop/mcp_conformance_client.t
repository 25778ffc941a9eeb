# The conformance suite of the protocol against the gateway as a client of MCP upstreams and their authorization servers: what each
# revision requires of a client (gateway-admin.md 1.5, 3.5). Scenarios that fail are named here, with the rule by which they do.
use strict;
use warnings;

use HTTP::Tiny       ();
use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Interop ();
use Authz::Mcp     ();
use Authz::Stack   ();

Authz::Interop::need();

my $json  = JSON::PP->new->utf8->canonical;
my $stack = Authz::Stack->start(
    gateway  => 2,
    settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1' } );
my $idp = Authz::Idp->start;
$idp->register( $stack, idpId => 'corp' );
my ( $base, $mcp, $back ) = ( $stack->base, Authz::Mcp->new($stack), 'https://app.example/cb' );
my @host = $stack->make_client(
    'host',
    {   grants    => ['authorization_code'], scopes => [ 'openid', 'mcp' ], gateway_scopes => ['*'],
        resources => ['urn:svc:gateway'] },
    redirectUris => [$back] );

# The person whose accounts are linked, and her token.
$idp->user( { sub => 'ann', name => 'Ann', email => 'ann@example.org' } );
my $browser = Authz::Browser->new;
$browser->follow("$base/gateway/connect");
my @at   = ( redirect_uri => $back, resource => "$base/gateway/mcp" );
my $code = Authz::Grant->code( $stack, client => 'host', subject => 'ann', scope => 'mcp', @at );
my $ann  = Authz::Grant->redeem( $stack, \@host, $code, @at )->member('access_token') // die 'no token';

# Link the account of a resource: by the address that an answer has, or at its page.
sub connect_account {
    my ( $name, $text ) = @_;
    my ($url) = $text =~ m{(\Q$base\E/gateway/link\?state=[\w.-]+)};
    my $page = $browser->get( $url // "$base/gateway/connect/$name" );
    $page = ( $browser->follow( $page->header('Location') ) )[-1] if ( $page->header('Location') // '' ) ne '';
    return if $page->body !~ /name="decision"|value="connect"/;
    my @hop = $browser->submit( $page, button => [ decision => 'connect' ] );
    return $hop[-1]->body =~ /<h1>Connected</;
}

# The authorization server that the metadata of an upstream name (RFC 9728): a stored secret needs its name.
sub issuer_of {
    my ( $origin, $path ) = $_[0] =~ m{\A(https?://[^/]+)(.*)};
    for my $at ( $path, '' ) {
        my $got = HTTP::Tiny->new->get("$origin/.well-known/oauth-protected-resource$at");
        return JSON::PP::decode_json( $got->{content} )->{authorization_servers}[0] if $got->{success};
    }
    return;
}

sub auth_of {
    my ( $scenario, $context, $address ) = @_;
    return { type => 'none' } if $scenario !~ m{\Aauth/};
    return {
        type     => 'oauth_link',          discovery    => 'prm',                     registration => 'static',
        clientId => $context->{client_id}, clientSecret => $context->{client_secret}, issuer => issuer_of($address) }
      if defined $context->{client_id};
    return { type => 'oauth_link', discovery => 'prm', registration => 'dcr' };
}

# An argument as a schema wants it.
my %EXAMPLE =
  ( string => 'a text', number => 1.5, integer => 3, boolean => JSON::PP::true(), object => {}, array => [] );

sub arguments_of {
    my ($schema) = @_;
    my $of = $schema->{properties} // {};
    return {
        map {
            my $type = ref $of->{$_}{type} ? $of->{$_}{type}[0] : $of->{$_}{type};
            ( $_ => $of->{$_}{default} // ( $of->{$_}{enum} // [] )->[0] // $EXAMPLE{ $type // 'string' } )
        } keys %$of };
}

# A call, by an older client, who sends no Mcp-Param-..., or a modern one, who answers what the server asks.
sub call {
    my ( $name, $call, $older ) = @_;
    my @at = ( at => $name, token => $ann );
    return $mcp->legacy( 'tools/call', $call, @at, version => '2025-11-25' ) if $older;
    my ( $more, $answer ) = {};
    for ( 1 .. 5 ) {
        $answer = $mcp->modern(
            'tools/call', { %$call, %$more }, @at,
            capabilities => { elicitation => { form => {} }, sampling => {}, roots => {} } );
        my $result = $mcp->result($answer) // {};
        last if ( $result->{resultType} // '' ) ne 'input_required';
        my $asked = $result->{inputRequests} // {};
        $more = {
            inputResponses => {
                map {
                    ( $_ => { action => 'accept', content => arguments_of( $asked->{$_}{params}{requestedSchema} ) } )
                  }
                  keys %$asked },
            defined $result->{requestState} ? ( requestState => $result->{requestState} ) : () };
    }
    return $answer;
}

# Let the gateway use the server of a scenario as it uses any upstream: link, sync, call each tool.
my $visits = 0;

sub visit {
    my ($told) = @_;
    my ( $scenario, $context, $name ) = ( $told->{scenario}, $told->{context}, 'visit' . ++$visits );
    return if $scenario =~ m{\A(?:auth/(?:client-credentials|enterprise|dpop|wif)|json-schema-2020-12)};    # not scored
    return if $scenario =~ m{\Aelicitation-};    # it would wait for a question that is not answered
    my $auth = auth_of( $scenario, $context, $told->{address} );
    $mcp->resource(
        $name,
        upstreamType => 'MCP', upstreamUrl => $told->{address}, upstreamAuth => $auth,
        interaction  => { map { ( $_ => JSON::PP::true() ) } qw(form sampling roots) } );
    my @person = $auth->{type} eq 'none' ? () : ( json => { subject => 'ann', idp => 'corp' } );
    my $answer;
    for ( 1 .. 3 ) {
        $answer = $stack->admin( POST => "/admin/api/managed-resources/$name/sync", @person );
        last if $answer->status == 200 || !@person || !connect_account( $name, $answer->text );
    }
    my $tools = $mcp->result( $mcp->modern( 'tools/list', {}, at => $name, token => $ann ) )->{tools} // [];
    my @call  = @{ $context->{toolCalls} // [] };
    @call = map { { name => $_->{name}, arguments => arguments_of( $_->{inputSchema} ) } } @$tools if !@call;
    for my $call (@call) {
        for ( 1 .. 3 ) {
            $answer = call( $name, $call, $scenario =~ /\Ahttp-/ );
            last if $answer->text !~ m{/gateway/link\?state=} || !connect_account( $name, $answer->text );
        }
    }
    diag( "$scenario: " . $answer->body ) if $ENV{AUTHZ_TEST_TELL};
    return;
}

# The rules by which a scenario fails.
my %expected = (
    '2025-11-25' => {
        'elicitation-sep1034-client-defaults' =>
          'it asks on the stream of the session, whose messages belong to no request of the client, '
          . 'so it is known of no call (MCP 2025-11-25, transports, Listening for Messages from the Server)' },
    '2026-07-28' => {} );
for my $revision ( sort keys %expected ) {
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 64 ) or die "listen: $@";
    my $suite  = Authz::Interop::start(
        'mcp_conformance_client',
        REVISION => $revision, PORT => $listen->sockport, EXPECTED => $json->encode( $expected{$revision} ) );
    my $select = IO::Select->new($listen);
    while ( $suite->alive ) {
        $select->can_read(1) or next;
        my $socket = $listen->accept or next;
        my $told   = $json->decode( scalar readline $socket );
        eval { visit($told); 1 } or diag("$told->{scenario}: $@");
        close $socket;
    }
    Authz::Interop::results( $suite, 'mcp_conformance_client' );
}
done_testing;

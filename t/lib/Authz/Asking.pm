package Authz::Asking;

# MCP upstreams that ask the person of a call, or the model of the client, while a tool runs (gateway-admin.md 1.12), and people who
# call the tool `buy` and answer.
#
#   my $asking = Authz::Asking->new( gateway => 3 );     # options of Authz::Stack; {stack}, {mcp} and {peer} are those it made
#   my $name   = $asking->shop( \@OLDER, { form => ... }, [@answers], %member );    # `shop1`: it greets so, then answers so
#   my $answer = $asking->call( $name, by => 'bob', arguments => {...}, capabilities => {...} );
#   $answer    = $asking->again( $name, $mcp->result($answer), { request => \%TWO }, by => 'bob', state => TEXT );
#   text_of($answer); $asking->sent($name);              # what a tool said; the messages that the upstream got
# The people are ann, bob, and ann by another client (`other`); `nobody` is a token without a person.

use strict;
use warnings;

use Exporter   qw(import);
use JSON::PP   ();
use Test::More ();

use Authz::Mcp     ();
use Authz::Peer    ();
use Authz::Process ();
use Authz::Stack   ();

our @EXPORT = qw(answer event text_of @OLDER $MODERN $LISTED %FORM %TWO %ALL);

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

# An answer of an upstream, and a message on its stream.
sub answer { my ($result)  = @_; return { body => { jsonrpc => '2.0', id => 1, result => $result } } }
sub event  { my ($message) = @_; return 'data: ' . $json->encode( { jsonrpc => '2.0', %$message } ) . "\n\n" }

# How an upstream of MCP 2025-11-25 begins a conversation, and one of 2026-07-28; and its list of tools.
our @OLDER = (
    { status => 404, body => '{}' },
    answer( { protocolVersion => '2025-11-25', capabilities => {}, serverInfo => {} } ),
    { status => 202 } );
our $MODERN = answer( { resultType => 'complete', supportedVersions => ['2026-07-28'], capabilities => {} } );
our $LISTED = answer(
    {   tools =>
          [ { name => 'buy', inputSchema => { type => 'object', properties => { what => { type => 'string' } } } } ] }
);

# A form, and an answer that fits it; and all that a client may be able to.
our %FORM = (
    message         => 'How many?',
    requestedSchema => { type => 'object', properties => { count => { type => 'integer', maximum => 9 } } } );
our %TWO = ( action => 'accept', content => { count => 2 } );
our %ALL = ( elicitation => { form => {}, url => {} }, sampling => {}, roots => {} );

sub new {
    my ( $class, %option ) = @_;
    my $self = bless { peer => Authz::Peer->start, shops => 0 }, $class;
    $self->{stack} = Authz::Stack->start(
        %option,
        settings =>
          { SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1', SVC_GATEWAY_RESPONSE_TIMEOUT => '5s' } );
    $self->{mcp} = Authz::Mcp->new( $self->{stack} );
    $self->{mcp}->people( ann => ['ann'], bob => ['bob'], other => [ 'ann', client => 'other' ] );
    return $self;
}

# The members of a resource of that name.
sub upstream {
    my ( $self, $name, %member ) = @_;
    return ( displayName => 'The shop', upstreamType => 'MCP', upstreamUrl => $self->{peer}->url("/$name"), %member );
}

# Make a resource and sync it. $hello: answers before its tools and again before the others; $may: its `interaction`, or undef.
sub shop {
    my ( $self, $hello, $may, $answers, %member ) = @_;
    my $name = 'shop' . ++$self->{shops};
    $self->{peer}->set( "/$name" => [ @$hello, $LISTED, @$hello, @$answers ] );
    $member{interaction} = $may if defined $may;
    $self->{mcp}->resource( $name, $self->upstream( $name, %member ) );
    $self->sync($name);
    return $name;
}

sub sync {
    my ( $self, $name ) = @_;
    my $synced = $self->{stack}->admin( POST => "/admin/api/managed-resources/$name/sync" );
    return Test::More::is( $synced->status, 200, "$name is synced" ) || Test::More::diag( $synced->text );
}

sub call {
    my ( $self, $name, %option ) = @_;
    my %params = ( name => 'buy', arguments => $option{arguments} // { what => 'tea' }, %{ $option{params} // {} } );
    my $by     = $option{by} // 'ann';
    return $self->{mcp}->modern(
        'tools/call', \%params,
        at => $name,  $by eq 'nobody' ? () : ( by => $by ), capabilities => $option{capabilities} // \%ALL );
}

# The same call with answers and the state of a result.
sub again {
    my ( $self, $name, $result, $responses, %option ) = @_;
    my %params = ( inputResponses => $responses, requestState => $option{state} // $result->{requestState} );
    return $self->call( $name, %option, params => \%params );
}

sub text_of {
    my ($answer) = @_;
    return ( ( $answer->json // {} )->{result} // {} )->{content}[0]{text} // $answer->text;
}

sub sent {
    my ( $self, $name ) = @_;
    return map { $_->{body} ne '' ? $json->decode( $_->{body} ) : {} } $self->{peer}->requests("/$name");
}

# The capabilities that the upstream was told by its older clients, one after the other.
sub told_older {
    my ( $self, $name ) = @_;
    return [ map { $_->{params}{capabilities} } grep { ( $_->{method} // '' ) eq 'initialize' } $self->sent($name) ];
}

# Times that the upstream was told that a call is cancelled.
sub cancelled {
    my ( $self, $name ) = @_;
    return scalar grep { ( $_->{method} // '' ) eq 'notifications/cancelled' } $self->sent($name);
}

# The sockets at which calls wait for an answer.
sub boxes { my @all = glob Authz::Process::directory() . '/run*/answer-*'; return @all }

1;

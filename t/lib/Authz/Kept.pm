package Authz::Kept;

# What clients and people keep while the hosts that they ask change: clients and their rights, tokens, families, sessions of
# browsers, of the console and of MCP clients, keys, resources and rules. Each thing is made at one host and used at all of them.
#   my $kept = Authz::Kept->new( [@stack], $idp );   hosts on one database, with one issuer: the address of the first
#   $kept->make($at);                                one of each kind, by the host of that number
#   my @wrong = $kept->wrong;                        every thing used at every host: what is not as it was promised

use strict;
use warnings;

use JSON::PP ();

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Mcp     ();

my @CONSOLE = ( 'X-Authz-Console' => 1, 'Sec-Fetch-Site' => 'same-origin' );
my $SESSION = 'Mcp-Session-Id';
my $OLDER   = '2025-11-25';                                                 # the last revision of MCP that has sessions
my $RULE    = 'custom/kept.rego';

sub new {
    my ( $class, $host, $idp ) = @_;
    my $self  = bless { host => $host, idp => $idp, made => 0, thing => [] }, $class;
    my $first = $host->[0];
    my %code  = ( grants => [qw(authorization_code refresh_token)], scopes => [qw(openid orders.read)] );
    $self->{web} = [ $first->make_client( 'kept-web', \%code, redirectUris => [$Authz::Grant::REDIRECT] ) ];
    $self->{rs}  = [ $first->make_client( 'kept-rs',  { endpoints => ['introspect'] } ) ];
    $self->{turned} =
      [ $first->make_client( 'kept-turned', { grants => ['client_credentials'], scopes => ['orders.read'] } ) ];
    my $mcp = Authz::Mcp->new($first);
    $self->{mcp} = [ map { bless { %$mcp, stack => $_ }, 'Authz::Mcp' } @$host ];
    return $self;
}

# The kinds: what is made at a host, and what is wrong with it at another one, or nothing.
my @KIND = (
    [ client   => \&_make_client,   \&_look_client ],
    [ token    => \&_make_token,    \&_look_token ],
    [ revoked  => \&_make_revoked,  \&_look_revoked ],
    [ person   => \&_make_person,   \&_look_person ],
    [ console  => \&_make_console,  \&_look_console ],
    [ key      => \&_make_key,      \&_look_key ],
    [ session  => \&_make_session,  \&_look_session ],
    [ resource => \&_make_resource, \&_look_resource ],
    [ rule     => \&_make_rule,     \&_look_rule ] );

sub make {
    my ( $self, $at ) = @_;
    my $number = ++$self->{made};
    for my $kind (@KIND) {
        my ( $name, $make, $look ) = @$kind;
        my $thing = eval { $make->( $self, $self->{host}[$at], $at, $number ) };
        my $fault = $@;
        push @{ $self->{failed} }, "$name $number cannot be made at host $at: $fault" if !defined $thing;
        push @{ $self->{thing} }, { name => "$name $number", look => $look, %$thing } if defined $thing;
    }
    return;
}

sub wrong {
    my ($self) = @_;
    my @wrong = splice @{ $self->{failed} //= [] };
    for my $thing ( @{ $self->{thing} } ) {
        for my $at ( 0 .. $#{ $self->{host} } ) {
            my $wrong = $thing->{look}->( $self, $self->{host}[$at], $thing, $at );
            push @wrong, "$thing->{name} at host $at: $wrong" if defined $wrong;
        }
    }
    return @wrong;
}

# The number of things.
sub count { my ($self) = @_; return scalar @{ $self->{thing} } }

sub _good { my ($answer) = @_; die $answer->text . "\n" if $answer->status !~ /\A20[0-4]\z/; return $answer }

# What is wrong with the status of an answer, or nothing.
sub _unless {
    my ( $answer, $status ) = @_;
    return $answer->status == $status ? undef : $answer->text;
}

# ---- a client, whose rights are in the policy

sub _make_client {
    my ( $self, $host, $at, $number ) = @_;
    my $id = "kept-client-$number";
    return { client => [ $host->make_client( $id, { grants => ['client_credentials'], scopes => ['orders.read'] } ) ] };
}

sub _look_client {
    my ( $self, $host, $thing ) = @_;
    return _unless( $host->token( @{ $thing->{client} }, scope => 'orders.read' ), 200 );
}

# The client that was made last: its id and secret.
sub _client {
    my ($self) = @_;
    return @{ ( grep { $_->{client} } @{ $self->{thing} } )[-1]{client} };
}

# ---- a token that lives, and one that was revoked

sub _make_token {
    my ( $self, $host, $at, $number ) = @_;
    return { token => $host->token_text( $self->_client, scope => 'orders.read' ) };
}

sub _look_token {
    my ( $self, $host, $thing ) = @_;
    my $answer = $host->introspect( @{ $self->{rs} }, $thing->{token} );
    return $answer->member('active') ? undef : $answer->text;
}

sub _make_revoked {
    my ( $self, $host, $at, $number ) = @_;
    my $token = $host->token_text( $self->_client, scope => 'orders.read' );
    _good( $host->revoke( $self->_client, token => $token ) );
    return { token => $token };
}

sub _look_revoked {
    my ( $self, $host, $thing ) = @_;
    my $answer = $host->introspect( @{ $self->{rs} }, $thing->{token} );
    return $answer->status == 200 && !$answer->member('active') ? undef : $answer->text;
}

# ---- a person: the sign-in begins at one host and ends at the next one, where the browser then has its session, and the code is
# redeemed at the first one

sub _callback {
    my ( $self, $browser, $from, $to ) = @_;
    my ( $issuer, $begin, $end ) = map { $_->base } $self->{host}[0], $from, $to;
    my $callback = qr{\A\Q$issuer\E/authorize/callback/};
    $browser->follow(
        "$begin/authorize?" . Authz::Client::form(
            response_type         => 'code', client_id => $self->{web}[0], redirect_uri => $Authz::Grant::REDIRECT,
            scope                 => 'openid orders.read',
            code_challenge        => Authz::Grant::challenge($Authz::Grant::VERIFIER),
            code_challenge_method => 'S256', prompt => 'login' ),
        stop => $callback );
    die 'no way back from the provider: ' . $browser->url . "\n" if $browser->url !~ $callback;
    $browser->set_cookie( $end, $_->{text} ) for $browser->cookies($begin);
    my $back = $browser->url =~ s/\A\Q$issuer\E/$end/r;
    my @hop  = $browser->follow( $back, stop => qr{\A\Q$Authz::Grant::REDIRECT\E} );
    my %got  = Authz::Browser::query( $browser->url );
    return $got{code} // die 'no code: ' . $browser->url . ' ' . $hop[-1]->text . "\n";
}

sub _make_person {
    my ( $self, $host, $at, $number ) = @_;
    my $next    = $self->{host}[ ( $at + 1 ) % @{ $self->{host} } ];
    my $browser = Authz::Browser->new;
    $self->{idp}->user( { sub => "ann$number", name => "Ann $number", email => "ann$number\@example.org" } );
    my $code   = $self->_callback( $browser, $host, $next );
    my $tokens = _good( Authz::Grant->redeem( $host, $self->{web}, $code ) );
    my $cookie = join '; ', map {"$_->{name}=$_->{value}"} $browser->cookies( $next->base );
    return { refresh => $tokens->member('refresh_token'), cookie => $cookie, who => "ann$number" };
}

sub _look_person {
    my ( $self, $host, $thing ) = @_;
    my $page = $host->http->get( '/account', headers => [ Cookie => $thing->{cookie} ] );
    return 'the session of the browser: ' . substr( $page->text, 0, 300 )
      if $page->status != 200 || $page->body !~ /\Q$thing->{who}\E\@example/;
    my $tokens = Authz::Grant->refresh( $host, $self->{web}, $thing->{refresh} );
    return 'the refresh token: ' . $tokens->text if $tokens->status != 200;
    $thing->{refresh} = $tokens->member('refresh_token');
    return _look_token( $self, $host, { token => $tokens->member('access_token') } );
}

# ---- a session of the console, and an admin key

sub _make_console {
    my ( $self, $host ) = @_;
    my $answer = _good( $host->admin( POST => '/admin/session', headers => \@CONSOLE ) );
    my ($pair) = ( $answer->header('Set-Cookie') // '' ) =~ /\A([^;]+)/;
    return { cookie => $pair };
}

sub _look_console {
    my ( $self, $host, $thing ) = @_;
    return _unless(
        $host->admin( GET => '/admin/session', key => undef, headers => [ Cookie => $thing->{cookie} ] ),
        200 );
}

sub _make_key {
    my ( $self, $host, $at, $number ) = @_;
    my %key = ( label => "kept $number", role => 'auditor' );
    return { key => _good( $host->admin( POST => '/admin/api/admin-keys', json => \%key ) )->member('key') };
}

# A program with a rule of the operator for the admin API asks policy about each request of an auditor.
sub _look_key {
    my ( $self, $host, $thing ) = @_;
    my $answer = $host->admin( GET => '/admin/api/clients', key => $thing->{key} );
    return _unless( $answer, 200 )
      // _unless( $host->admin( POST => '/admin/api/clients', key => $thing->{key}, json => {} ), 403 );
}

# ---- a session of an older MCP client; a program without sessions opens none, and does not look at the id

sub _make_session {
    my ( $self, $host, $at ) = @_;
    my %hello = ( protocolVersion => $OLDER, clientInfo => { name => 'kept', version => '1' }, capabilities => {} );
    return { id => scalar _good( $self->{mcp}[$at]->legacy( 'initialize', \%hello ) )->header($SESSION) };
}

sub _look_session {
    my ( $self, $host, $thing, $at ) = @_;
    my @id = defined $thing->{id} ? ( $SESSION => $thing->{id} ) : ();
    return _unless( $self->{mcp}[$at]->legacy( 'tools/list', {}, version => $OLDER, headers => \@id ), 200 );
}

# ---- a managed resource with a tool

sub _make_resource {
    my ( $self, $host, $at, $number ) = @_;
    my %route = (
        id       => 'hello', methods => ['GET'], path => '/hello',
        response => { status => 200, headers => { 'Content-Type' => 'text/plain' }, body => "hello $number" } );
    my %tool = ( name => 'hello', route => 'hello', inputSchema => { type => 'object' } );
    $self->{mcp}[$at]->resource( "kept$number", upstreamType => 'STATIC', routes => [ \%route ], tools => [ \%tool ] );
    return { tool => "kept${number}__hello", text => "hello $number" };
}

sub _look_resource {
    my ( $self, $host, $thing, $at ) = @_;
    my $mcp    = $self->{mcp}[$at];
    my $answer = $mcp->modern( 'tools/call', { name => $thing->{tool}, arguments => {} } );
    my $result = $mcp->result($answer) // {};
    return ( $result->{content}[0]{text} // '' ) eq $thing->{text} ? undef : $answer->text;
}

# ---- a rule: the last one decides at all hosts

sub _make_rule {
    my ( $self, $host, $at, $number ) = @_;
    my $rule   = $number % 2 ? qq{deny contains "kept $number" if input.client.id == "kept-turned"\n} : '';
    my $answer = _good(
        $host->admin(
            POST => '/admin/api/policy-bundle/deploy',
            json => {
                mode => 'merge', data => [], rules => [ { path => $RULE, content => "package custom.issue\n\n$rule" } ]
            } ) );
    die "the rule is not active: " . $answer->text . "\n"
      if ( $answer->header('X-Policy-Activation') // '' ) ne 'confirmed';
    $self->{denied} = $number % 2;
    return { number => $number };
}

sub _look_rule {
    my ( $self, $host, $thing ) = @_;
    return if $thing->{number} != $self->{made};
    my $answer = $host->token( @{ $self->{turned} }, scope => 'orders.read' );
    return ( $answer->status == 200 ? 0 : 1 ) == $self->{denied} ? undef : $answer->text;
}

1;

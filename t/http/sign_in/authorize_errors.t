# An error of /authorize goes to the redirect_uri if somebody vouches for it, else to a page that names its host and
# links there, so that a link to this service is no way to a stranger's site (decisions.md "Errors at /authorize", RFC 9700
# 4.11.2).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Stack   ();

my $idp   = Authz::Idp->start;
my $stack = Authz::Stack->start( settings => { Authz::Idp::settings() } );
my $base  = $stack->base;
$idp->register($stack);

# A client of each kind, and self-registered ones at the places whose consent is never remembered.
my %kind = ( admin => 'ADMIN', dcr => 'DCR', statement => 'STATEMENT', cimd => 'CIMD', local => 'DCR', app => 'DCR' );
my %back = ( local => 'http://127.0.0.1:9/cb?x=1', app => 'com.example.app:/cb' );
for my $id ( sort keys %kind ) {
    $back{$id} //= "https://$id.example/cb?x=1";
    $stack->make_client(
        $id, { grants => ['authorization_code'], scopes => [qw(openid email)] },
        clientType => 'public', redirectUris => [ $back{$id}, $id eq 'dcr' ? 'https://other.example/cb' : () ] );
    $stack->sql("UPDATE client SET registration_type = '$kind{$id}' WHERE client_id = '$id'");
}
my @strangers = grep { $_ ne 'admin' } sort keys %kind;
my %place     = ( local => '127.0.0.1', app => 'com.example.app' );

sub address {
    my ( $id, %more ) = @_;
    my %param = (
        response_type  => 'code',   client_id => $id, redirect_uri => $back{$id}, scope => 'openid', state => 's<1>',
        code_challenge => 'A' x 43, %more );
    return "$base/authorize?" . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

sub ends {
    my ( $browser, $id, %more ) = @_;
    my $stop = quotemeta( $more{redirect_uri} // $back{$id} );
    return ( $browser->follow( address( $id, %more ), stop => qr{\A$stop} ) )[-1];
}

sub told {
    my ( $url, $id, $error ) = @_;
    my %back = Authz::Browser::query( $url // '?' );
    return
         ( $back{error} // '' ) eq $error
      && ( $back{state} // '' ) eq 's<1>'
      && ( $back{iss}   // '' ) eq $base
      && !defined $back{code}
      && index( $url, $back{$id} // '' ) == 0;
}

sub redirected {
    my ( $answer, $id, $error, $name ) = @_;
    my $to = $answer->header('Location');
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok( $answer->status == 302 && told( $to, $id, $error ) && index( $to, $back{$id} ) == 0, $name )
      || diag( $to // substr $answer->text, 0, 900 );
}

sub paged {
    my ( $answer, $id, $error, $name, %option ) = @_;
    my $place  = $option{place} // $place{$id} // "$id.example";
    my ($link) = $answer->body =~ m{<a href="([^"<>]+)">Return to <bdi>\Q$place\E</bdi></a>};
    my $url    = ( $link // '' ) =~ s/&amp;/&/gr;
    my @wrong;
    push @wrong, 'status'     if $answer->status != ( $option{status} // 400 );
    push @wrong, 'a redirect' if defined $answer->header('Location') || defined $answer->header('Refresh');
    push @wrong, 'no words'   if $answer->body !~ /[(]\Q$error\E[)]/ || $answer->body !~ /has not checked its name/;
    push @wrong, "the link is $url" if !told( $url, $id, $error )    || index( $url, $option{to} // $back{$id} ) != 0;
    push @wrong, 'a script or a meta refresh' if $answer->body                           =~ /<script|http-equiv/i;
    push @wrong, 'may be framed' if ( $answer->header('Content-Security-Policy') // '' ) !~ /frame-ancestors 'none'/;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return ok( !@wrong, $name ) || diag( "@wrong: ", substr $answer->text, 0, 900 );
}

sub answer {
    my ( $browser, $page, $decision ) = @_;
    return ( $browser->submit( $page, button => [ decision => $decision ], stop => qr{\A(?!\Q$base\E)} ) )[-1];
}

sub last_audit {
    return $stack->sql(
        q{SELECT endpoint || ' ' || http_status || ' ' || outcome FROM audit_log ORDER BY id DESC LIMIT 1});
}

# ---- nobody is signed in

my %wrong = (
    unsupported_response_type => { response_type => 'token' },
    invalid_request           => { prompt        => 'nonsense' },
    invalid_target            => { resource      => 'no-uri' },
    login_required            => { prompt        => 'none' },
);
my $nobody = Authz::Browser->new;
for my $error ( sort keys %wrong ) {
    redirected(
        ends( $nobody, 'admin', %{ $wrong{$error} } ), 'admin', $error,
        "admin, not signed in: $error is redirected" );
    for my $id (@strangers) {
        paged(
            ends( $nobody, $id, %{ $wrong{$error} } ), $id, $error,
            "$id, not signed in: $error is a page with a link" );
    }
}

# A frame: the window of the user stays where it is, and a silent sign-in waits for its answer (OpenID Connect Core 3.1.2.6).
sub in {
    my ( $dest, $id, %more ) = @_;
    return Authz::Browser->new->get( address( $id, %more ), headers => [ 'Sec-Fetch-Dest' => $dest ] );
}
for my $id ( grep { $_ ne 'app' } 'admin', @strangers ) {
    for my $dest (qw(iframe frame)) {
        redirected( in( $dest, $id, %{ $wrong{$_} } ), $id, $_, "$id, not signed in, in a $dest: $_ is redirected" )
          for sort keys %wrong;
    }
}
for my $dest ( 'document', 'object', 'embed', 'image', 'empty', 'IFRAME', 'iframe, frame', '' ) {
    paged(
        in( $dest, 'dcr', prompt => 'none' ), 'dcr', 'login_required',
        "Sec-Fetch-Dest '$dest' is no frame: a page" );
}
paged(
    in( 'iframe', 'app', prompt => 'none' ), 'app', 'login_required',
    'a private scheme, which starts a program: a page in a frame too' );
for my $to ( 'https://evil.example/cb', 'https://dcr.example.evil.example/cb?x=1' ) {
    my $answer = in( 'iframe', 'dcr', prompt => 'none', redirect_uri => $to );
    ok( $answer->status == 400 && !defined $answer->header('Location'),
        "in a frame, $to, which is not registered: no redirect (RFC 6749 4.1.2.1)" );
}
my $invented = Authz::Browser->new;
$invented->{jar} = {};
paged(
    $stack->http->get(
        address( 'dcr', prompt => 'none' ) =~ s/\A\Q$base\E//r, headers => [ Cookie => 'svc_sid=' . 'x' x 43 ] ),
    'dcr',
    'login_required',
    'prompt=none with an invented session: a page' );

# The provider refuses before there is a session.
$idp->misbehave( authorize => { error => 'access_denied' } );
redirected(
    ends( Authz::Browser->new, 'admin' ), 'admin', 'access_denied',
    'admin: a refusal of the provider is redirected' );
paged( ends( Authz::Browser->new, $_ ), $_, 'access_denied', "$_: a refusal of the provider is a page" ) for @strangers;
$idp->behave;

# ---- signed in, and nothing allowed yet

my $ann = Authz::Browser->new;
like( ends( $ann, 'admin' )->header('Location') // '', qr/code=ac_/, '(ann is signed in)' );
redirected(
    ends( $ann, 'admin', response_type => 'token' ), 'admin', 'unsupported_response_type',
    'admin, signed in: redirected' );
for my $id (@strangers) {
    paged(
        ends( $ann, $id, response_type => 'token' ), $id, 'unsupported_response_type',
        "$id, signed in without a remembered consent: a page" );
    is( last_audit(), '/authorize 400 rejected', '... and its audit row has the status' );
    paged( ends( $ann, $id, scope => 'root' ), $id, 'invalid_scope', "$id: a denial by policy is a page" );
    is( last_audit(), '/authorize 400 denied', '... and its audit row has the status' );
    redirected(
        ends( $ann, $id, prompt => 'none' ), $id, 'consent_required',
        "$id: prompt=none under a session is redirected" );
    redirected( ends( $ann, $id, prompt => 'none', scope => 'root' ), $id, 'invalid_scope', '... whatever the error' );
    redirected(
        ends( $ann, $id, prompt => 'none', response_type => 'token' ), $id, 'unsupported_response_type',
        '... early ones too' );
    paged(
        ends( $ann, $id, prompt => 'none login' ), $id, 'invalid_request',
        '... but not a prompt that only contains none' );
    my $page = ends( $ann, $id );
    paged( answer( $ann, $page, 'deny' ), $id, 'access_denied', "$id: who denies consent is not sent there either" );
}

# ---- signed in, and the client allowed before

for my $id (@strangers) {
    my $page = ends( $ann, $id );
    like(
        ( answer( $ann, $page, 'allow' ) )->header('Location') // '', qr/\A\Q$back{$id}\E.*code=ac_/,
        "$id: allowed, and redirected" );
    my $remembered = !$place{$id};
    my $sub        = $remembered ? \&redirected                   : \&paged;
    my $what       = $remembered ? 'redirected, as for everybody' : 'a page: any program can take that address';
    $sub->(
        ends( $ann, $id, response_type => 'token' ), $id, 'unsupported_response_type',
        "$id, after a consent: $what" );
    $sub->( ends( $ann, $id, scope => 'root' ), $id, 'invalid_scope', '... a denial by policy too' );
    $page = ends( $ann, $id, prompt => 'consent' );
    $sub->( answer( $ann, $page, 'deny' ), $id, 'access_denied', '... a later no too' );
}
is( last_audit(), '/authorize/consent 302 rejected', 'the audit row has the status of the redirect' );
paged(
    ends( $ann, 'dcr', response_type => 'token', redirect_uri => 'https://other.example/cb' ),
    'dcr', 'unsupported_response_type', 'another host of the client: nobody allowed that',
    place => 'other.example', to => 'https://other.example/cb' );
$idp->user( { sub => 'eve' } );
my $eve = Authz::Browser->new;
ends( $eve, 'admin' );
paged(
    ends( $eve, 'dcr', response_type => 'token' ), 'dcr', 'unsupported_response_type',
    'another user did not allow it: a page' );
paged(
    ends( $nobody, 'dcr', response_type => 'token' ), 'dcr', 'unsupported_response_type',
    'nor did a browser without a session' );
$stack->admin( DELETE => "/admin/api/consents/$_->{id}" )
  for @{ $stack->admin( GET => '/admin/api/consents?clientId=dcr' )->json };
paged(
    ends( $ann, 'dcr', response_type => 'token' ), 'dcr', 'unsupported_response_type',
    'a consent that was deleted vouches for nothing' );

# ---- a client or redirect_uri that is not known has no link at all

for my $case ( [ 'an unknown client', 'nobody' ], [ 'a foreign redirect_uri', 'dcr', 'https://evil.example/cb' ] ) {
    my ( $name, $id, $to ) = @$case;
    my $answer = $ann->get( address( $id, redirect_uri => $to // 'https://evil.example/cb' ) );
    ok( $answer->status == 400 && !defined $answer->header('Location') && $answer->body !~ /evil\.example/,
        "$name: a page without a link (RFC 6749 4.1.2.1)" ) or diag( $answer->text );
}

# ---- a provider that is away: a page with the other ones, and the client learns of it when the person leaves (oauth.md "Upstream callback")

$stack->admin(
    POST => '/admin/api/identity-providers',
    json => {
        idpId        => 'gone',   name    => 'The <gone>', issuer => 'http://127.0.0.1:1', clientId => 'authz',
        clientSecret => 'x' x 16, enabled => JSON::PP::true() } );

sub away {
    my ( $id, $name, %more ) = @_;
    my $answer = Authz::Browser->new->get( address( $id, idp_hint => 'gone', %more ) );
    ok( $answer->status == 503 && !defined $answer->header('Location'), "$name: a page with 503, and no redirect" );
    like( $answer->body, qr{<h1><bdi>The &lt;gone&gt;</bdi> cannot be reached</h1>}, '... names the provider as text' );
    like( $answer->body, qr/\Q@{[ $answer->header('X-Request-ID') ]}\E/,             '... and the request' );
    my %link = map {s/&amp;/&/gr} reverse $answer->body =~ m{<li><a href="([^"]+)">(\w+)}g;
    return ( $answer, %link );
}
for my $id (qw(admin dcr)) {
    my ( $answer, %link ) = away( $id, $id );
    ok( told( $link{Return}, $id, 'temporarily_unavailable' ),
        '... the way back tells the client: temporarily_unavailable, state and issuer' ) or diag $answer->body;
    is( $answer->body =~ /registered itself/ ? 1 : 0, $id eq 'dcr' ? 1 : 0,
        '... with a warning of an application that registered itself' );
    like( $link{Try} // '', qr/idp_hint=gone/, '... one can try again' );
    my $other =
      ( Authz::Browser->new->follow( $link{Use} // 'http://127.0.0.1:1/', stop => qr{\A\Q$back{$id}\E|consent} ) )[-1];
    like( $other->header('Location') // '', qr/code=ac_|consent/, '... or sign in at another provider' )
      or diag $other->text;
}
my $none = (
    Authz::Browser->new->follow(
        address( 'admin', idp_hint => 'gone', prompt => 'none' ), stop => qr{\A\Q$back{admin}\E} ) )[-1];
redirected( $none, 'admin', 'login_required', 'prompt=none gets no page (OpenID Connect Core 3.1.2.1)' );

done_testing;

package Authz::Idp;

# The upstream identity provider of the tests: an OpenID provider on a free loopback port, whose user is already signed in
# and which misbehaves as the test says.
#   my $idp = Authz::Idp->start;                     public => 1: our client there has no secret; method => 'private_key_jwt',
#                                                    client_secret_basic, client_secret_post or none: it refuses every other one
#   $idp->trusts( \@jwks );                          the keys of our client there, for private_key_jwt
#   $idp->register( $stack, idpId => 'corp', ... );  POST /admin/api/identity-providers; the row as answered
#   $idp->user( { sub => 'ann', name => 'Ann', auth_time => ..., acr => ..., amr => [...], userinfo => {...} } );
#   $idp->user(undef);                               no user is signed in
#   $idp->misbehave( id_token => { aud => 'x' }, token => { status => 500 } );   until behave()
#   $idp->seen('authorize');                         parameters of the requests to an endpoint; the last one in scalar context
#   $idp->sign_in( $stack, \@client, SUB, SCOPE, idp_hint => 'corp' );   the answer of /token to the code of a new browser
#   $idp->rotate;                                    a new signing key; the old one is not published any more
# The service's settings must allow it: SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST (see settings()).
#
# misbehave: for each endpoint (discovery, authorize, token, jwks, userinfo, end_session)
#   null => [NAMES] (members that are null, which undef does not make),
#   lazy => 1 of jwks (the key of ES256 is there after the first request for userinfo, as Keycloak makes keys when it signs)
#   status => N, body => TEXT, type => MEDIA_TYPE, delay => SECONDS, redirect => URL, huge => OCTETS, close => 1, drip => 1
# and every other word is a member of its document (authorize: a parameter of its redirect) to set, or with undef to leave
# out. id_token: alg (none, HS256, RS256, PS256, ES256), kid, header => {...}, stranger => 1 (signed by an unpublished key),
# tamper => 1, raw => TEXT; every other word is a claim to set, or with undef to leave out.

use strict;
use warnings;

use Digest::SHA      ();
use IO::Socket::INET ();
use JSON::PP         ();
use MIME::Base64     ();
use Time::HiRes      qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Jwt     ();
use Authz::Process ();
use Authz::Server  ();

my $json     = JSON::PP->new->utf8->canonical->allow_nonref;
my %CONTROL  = map { $_ => 1 } qw(status body type delay redirect huge close drip null lazy);
my %SIGNING  = map { $_ => 1 } qw(alg kid header stranger tamper raw);
my %ENDPOINT = (
    '/.well-known/openid-configuration'             => 'discovery', '/authorize' => 'authorize', '/token' => 'token',
    '/jwks'                                         => 'jwks',
    '/common/v2.0/.well-known/openid-configuration' => 'discovery', '/elsewhere/metadata' => 'discovery',
    '/userinfo'                                     => 'userinfo',  '/end_session'        => 'end_session',
);

sub start {
    my ( $class, %option ) = @_;
    my $number = ++( our $count );
    my $dir    = Authz::Process::directory() . "/idp$number";
    mkdir $dir, 0755 or die "$dir: $!";
    my $listen = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 64, ReuseAddr => 1 )
      or die "no port: $!";
    my $self = bless { dir => $dir, client_id => 'authz', client_secret => 'up-s3cr3t:+%&', %option }, $class;
    delete $self->{client_secret} if $self->{public};
    $self->{issuer} = 'http://127.0.0.1:' . $listen->sockport;
    $self->_make_keys;
    $self->{control} =
      { user => { sub => 'ann', name => 'Ann Example', email => 'ann@example.org' }, key => 'rsa1', misbehave => {} };
    $self->_tell;
    $self->{process} = Authz::Process->start(
        name => "idp$number",
        code => sub {
            Authz::Server::accept_each( $listen, sub { $self->_serve( $_[0] ) } );
        } );
    close $listen;
    return $self;
}

sub stop    { my ($self) = @_; return $self->{process}->stop }
sub process { return $_[0]{process} }
sub issuer  { return $_[0]{issuer} }

# Return the published keys, as objects.
sub published { my ($self) = @_; return ( $self->_do_jwks )[1]{keys} }

# Settings of a stack that may talk to it.
sub settings { return ( SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true' ) }

sub user      { my ( $self, $user ) = @_; $self->{control}{user}      = $user; return $self->_tell }
sub misbehave { my ( $self, %how )  = @_; $self->{control}{misbehave} = \%how; return $self->_tell }
sub behave    { my ($self) = @_; $self->{control}{misbehave} = {}; return $self->_tell }
sub trusts    { my ( $self, $keys ) = @_; $self->{control}{client_keys} = $keys; return $self->_tell }
sub rotate    { my ($self) = @_; $self->{control}{key} = 'rsa2'; return $self->_tell }

sub _tell {
    my ($self) = @_;
    Authz::Server::write_whole( "$self->{dir}/control", $json->encode( $self->{control} ) );
    return $self;
}

sub seen {
    my ( $self, $endpoint ) = @_;
    my @all = map { $json->decode($_) } split /\n/, Authz::Server::read_there("$self->{dir}/seen.$endpoint");
    return wantarray ? @all : $all[-1];
}

# Makes the provider known to the service; further fields are those of IdentityProviderDto.
sub register {
    my ( $self, $stack, %field ) = @_;
    my %own = (
        idpId   => 'corp', name => 'Corp', issuer => $self->{issuer}, clientId => $self->{client_id},
        enabled => JSON::PP::true() );
    $own{clientSecret} = $self->{client_secret} if defined $self->{client_secret};
    my $answer = $stack->admin( POST => '/admin/api/identity-providers', json => { %own, %field } );
    die 'identity provider: ' . $answer->text if $answer->status != 201;
    return $answer->json;
}

# Sign a person in with a new browser at a client whose redirect_uri is $Authz::Grant::REDIRECT, and redeem the code.
sub sign_in {
    my ( $self, $stack, $client, $sub, $scope, %more ) = @_;
    my $back = $Authz::Grant::REDIRECT;
    $self->user( { sub => $sub, name => $sub } );
    my $browser = Authz::Browser->new;
    $browser->follow(
        $stack->base . '/authorize?' . Authz::Client::form(
            response_type  => 'code', client_id => $client->[0], redirect_uri => $back, scope => $scope,
            code_challenge => Authz::Grant::challenge($Authz::Grant::VERIFIER), code_challenge_method => 'S256', %more
        ),
        stop => qr{\A\Q$back\E} );
    my %answer = Authz::Browser::query( $browser->url );
    my $tokens = Authz::Grant->redeem( $stack, $client, $answer{code} // die 'no code: ' . $browser->url );
    die $tokens->text if $tokens->status != 200;
    return $tokens;
}

# ---- keys

# A command's output; its input is a file, if any.
sub _command {
    my ( $input, @command ) = @_;
    open my $keep, '<&', \*STDIN               or die "dup: $!";
    open STDIN,    '<',  $input // '/dev/null' or die "$input: $!";
    open my $out,  '-|', @command              or die "$command[0]: $!";
    binmode $out;
    my $text = do { local $/ = undef; readline $out };
    my $ok   = close $out;
    open STDIN, '<&', $keep or die "dup: $!";
    die "@command failed\n" if !$ok;
    return $text;
}

# Once per run, for all providers: they are told apart by the issuer. `stranger` is never published.
sub _make_keys {
    my ($self) = @_;
    my $dir = Authz::Process::directory() . '/idp-keys';
    $self->{keys} = $dir;
    return if -d $dir;
    mkdir $dir, 0700 or die "$dir: $!";
    for my $name (qw(rsa1 rsa2 stranger)) {
        _command( undef, qw(openssl genrsa -out), "$dir/$name.pem", 2048 );
    }
    _command( undef, qw(openssl ecparam -name prime256v1 -genkey -noout -out), "$dir/ec1.pem" );
    my %jwk;
    for my $name (qw(rsa1 rsa2)) {
        my ($hex) = _command( undef, qw(openssl rsa -noout -modulus -in), "$dir/$name.pem" ) =~ /Modulus=([0-9A-F]+)/;
        $jwk{$name} = { kty => 'RSA', kid => $name, use => 'sig', n => _b64( pack 'H*', $hex ), e => 'AQAB' };
    }
    my $point = substr _command( undef, qw(openssl pkey -pubout -outform DER -in), "$dir/ec1.pem" ), -64;
    $jwk{ec1} = {
        kty => 'EC', crv => 'P-256', kid => 'ec1', use => 'sig', x => _b64( substr $point, 0, 32 ),
        y   => _b64( substr $point, 32 ) };
    Authz::Server::write_whole( "$dir/jwks", $json->encode( \%jwk ) );
    return;
}

sub _b64 { my ($octets) = @_; my $text = MIME::Base64::encode_base64url($octets); return $text }

sub _sign {
    my ( $self, $alg, $key, $text ) = @_;
    return '' if $alg eq 'none';

    # The attacks on a verifier that takes an RSA key's text, or the client secret, for the secret of an HMAC.
    return Digest::SHA::hmac_sha256( $text, $self->{client_secret} // Authz::Server::read_there("$self->{keys}/jwks") )
      if $alg eq 'HS256';
    my $file = "$self->{dir}/sign.$$";
    Authz::Server::write_whole( $file, $text );
    my @pss       = $alg eq 'PS256' ? qw(-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:32) : ();
    my $signature = _command( $file, qw(openssl dgst -sha256), @pss, '-sign', "$self->{keys}/$key.pem" );
    unlink $file;
    return $alg eq 'ES256' ? _raw_ecdsa($signature) : $signature;
}

# SEQUENCE of two INTEGERs to 64 octets.
sub _raw_ecdsa {
    my ($der) = @_;
    my ( $at, $raw ) = ( 2, '' );
    for ( 1 .. 2 ) {
        my $length = ord substr $der, $at + 1, 1;
        my $number = substr $der, $at + 2, $length;
        $raw .= substr( ( "\0" x 32 ) . $number, -32 );
        $at += 2 + $length;
    }
    return $raw;
}

# A signed token; also for tests that need one without a sign-in: $idp->id_token( { sub => ... }, alg => 'ES256' ).
sub id_token {
    my ( $self, $claims, %how ) = @_;
    return $how{raw} if defined $how{raw};
    my $alg = $how{alg} // 'RS256';
    my $key = $how{stranger} ? 'stranger' : $alg eq 'ES256' ? 'ec1' : $self->{control}{key};
    my %header =
      ( alg => $alg, kid => $alg eq 'ES256' ? 'ec1' : $self->{control}{key}, typ => 'JWT', %{ $how{header} // {} } );
    $header{kid} = $how{kid} if exists $how{kid};
    delete @header{ grep { !defined $header{$_} } keys %header };
    my $text      = _b64( $json->encode( \%header ) ) . '.' . _b64( $json->encode($claims) );
    my $signature = $self->_sign( $alg, $key, $text );
    substr( $signature, 10, 1 ) ^= "\1" if $how{tamper};
    return "$text." . _b64($signature);
}

# ---- the server

sub _serve {
    my ( $self, $socket ) = @_;
    my $request = Authz::Server::read_message($socket) or return;
    my ( $method, $target ) = $request->{first} =~ m{\A(\S+) (\S+) HTTP/1} or return;
    my ( $path, $query ) = split /\?/, $target, 2;
    $self->{control} = $json->decode( Authz::Server::read_there("$self->{dir}/control") );
    my $name = $ENDPOINT{$path};
    return _answer( $socket, 404, 'text/plain', [], 'not here' ) if !defined $name;
    my %header = %{ $request->{headers} };
    my %param  = _pairs( $method eq 'POST' ? $request->{body} : $query );
    my ( $status, $document, @more ) = $self->can("_do_$name")->( $self, \%param, \%header );
    $self->_note(
        $name,
        {   %param,
            map    { ( "header:$_" => $header{$_} ) }
              grep { defined $header{$_} } qw(authorization accept cookie content-type) } );
    return $self->_send( $socket, $name, $status, $document, @more );
}

sub _pairs {
    my ($text) = @_;
    return map {
        map { my $part = $_; $part =~ tr/+/ /; $part =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge; $part }
          ( split( /=/, $_, 2 ), '' )[ 0, 1 ]
    } split /&/, $text // '';
}

sub _note {
    my ( $self, $name, $what ) = @_;
    open my $out, '>>', "$self->{dir}/seen.$name" or die "seen: $!";
    syswrite $out, JSON::PP->new->ascii->canonical->encode($what) . "\n";
    return;
}

sub _send {
    my ( $self, $socket, $name, $status, $document, @header ) = @_;
    my %how = %{ $self->{control}{misbehave}{$name} // {} };
    sleep $how{delay} if $how{delay};
    return            if $how{close};
    if ( ref $document ) {
        for my $member ( grep { !$CONTROL{$_} } keys %how ) {
            if ( defined $how{$member} ) { $document->{$member} = $how{$member} }
            else                         { delete $document->{$member} }
        }
        $document->{$_} = undef for @{ $how{null} // [] };
    }
    my $type = $how{type} // ( ref $document ? 'application/json' : 'text/plain' );
    my $form = ref $document && $type =~ /urlencoded/;
    my $body = $how{body}
      // ( $form ? Authz::Client::form(%$document) : ref $document ? $json->encode($document) : $document );
    $body .= ' ' x ( $how{huge} // 0 );
    ( $status, @header ) = ( 302, Location => $how{redirect} ) if defined $how{redirect};
    return _answer( $socket, $how{status} // $status, $type, \@header, $body, $how{drip} );
}

sub _answer {
    my ( $socket, $status, $type, $header, $body, $drip ) = @_;
    my $text =
      "HTTP/1.1 $status Told\r\nContent-Type: $type\r\nConnection: close\r\nContent-Length: " . length($body) . "\r\n";
    my @header = @$header;
    while ( my ( $name, $value ) = splice @header, 0, 2 ) { $text .= "$name: $value\r\n" }
    Authz::Server::put( $socket, "$text\r\n$body", $drip ? 0.5 : 0 );
    return;
}

# ---- endpoints: status, document (an object, or text), headers

sub _do_discovery {
    my ($self) = @_;
    my $issuer = $self->{issuer};
    return 200, {
        issuer   => $issuer, authorization_endpoint => "$issuer/authorize", token_endpoint => "$issuer/token",
        jwks_uri => "$issuer/jwks",
        userinfo_endpoint        => "$issuer/userinfo", end_session_endpoint    => "$issuer/end_session",
        response_types_supported => ['code'],           subject_types_supported => ['public'],
        id_token_signing_alg_values_supported          => [qw(RS256 PS256 ES256)],
        token_endpoint_auth_methods_supported          => [qw(client_secret_basic client_secret_post)],
        code_challenge_methods_supported               => ['S256'],
        authorization_response_iss_parameter_supported => JSON::PP::true(),
    };
}

sub _do_jwks {
    my ($self) = @_;
    my $jwk    = $json->decode( Authz::Server::read_there("$self->{keys}/jwks") );
    my $lazy   = $self->{control}{misbehave}{jwks}{lazy} && !$self->seen('userinfo');
    return 200, { keys => [ @$jwk{ $self->{control}{key}, $lazy ? () : 'ec1' } ] };
}

# Sends the browser back at once, with a code or an error.
sub _do_authorize {
    my ( $self, $param ) = @_;
    my $user = $self->{control}{user};
    my %back = ( iss => $self->{issuer}, state => $param->{state} );
    return 400, 'client_id'    if ( $param->{client_id}    // '' ) ne $self->{client_id};
    return 400, 'redirect_uri' if ( $param->{redirect_uri} // '' ) !~ m{\Ahttps?://};
    if    ( !$user ) { $back{error} = ( $param->{prompt} // '' ) eq 'none' ? 'login_required' : 'access_denied' }
    elsif ( ( $param->{response_type} // '' ) ne 'code' )           { $back{error} = 'unsupported_response_type' }
    elsif ( ( $param->{scope} // '' ) !~ /(?:\A| )openid(?: |\z)/ ) { $back{error} = 'invalid_scope' }
    else                                                            { $back{code}  = $self->_new_code( $param, $user ) }
    my %how = %{ $self->{control}{misbehave}{authorize} // {} };
    delete $back{code} if defined $how{error};
    %back = ( %back, map { $_ => $how{$_} } grep { !$CONTROL{$_} } keys %how );
    my $query = join '&', map { "$_=" . _escape( $back{$_} ) } grep { defined $back{$_} } sort keys %back;
    return 302, '', Location => $param->{redirect_uri} . ( $param->{redirect_uri} =~ /\?/ ? '&' : '?' ) . $query;
}

sub _escape { my ($text) = @_; $text =~ s/([^A-Za-z0-9._~-])/sprintf '%%%02X', ord $1/ge; return $text }

sub _new_code {
    my ( $self, $param, $user ) = @_;
    my $code = _random();
    my $at   = $user->{auth_time};
    my $old  = defined $at && defined $param->{max_age} && $at + $param->{max_age} < time;
    $at = int time if !defined $at || $old || ( $param->{prompt} // '' ) =~ /login/;    # signs in again
    Authz::Server::write_whole(
        "$self->{dir}/code.$code",
        $json->encode( { param => $param, user => { %$user, auth_time => $at } } ) );
    return $code;
}

sub _random {
    return unpack 'H*',
      do { open my $in, '<:raw', '/dev/urandom' or die "urandom: $!"; read $in, my $octets, 16; $octets }
}

# Once per code; what is wrong is an OAuth error, as at any provider.
sub _do_token {
    my ( $self, $param, $header ) = @_;
    my ( $id, $secret ) = $self->_client( $param, $header );
    my $method = $self->{method} // '';
    return 401, { error => 'invalid_client' } if $id ne $self->{client_id};
    return 401, { error => 'invalid_client' } if $method ne '' && $param->{auth_method} ne $method;
    return 401, { error => 'invalid_client' }
      if $method !~ /\A(?:none|private_key_jwt)\z/ && ( $secret // '' ) ne ( $self->{client_secret} // '' );
    my $code = $param->{code} // '';
    return 400, { error => 'unsupported_grant_type' } if ( $param->{grant_type} // '' ) ne 'authorization_code';
    return 400, { error => 'invalid_grant', error_description => 'code' }
      if $code !~ /\A[0-9a-f]{32}\z/ || !rename "$self->{dir}/code.$code", "$self->{dir}/used.$code";
    my $stored = $json->decode( Authz::Server::read_there("$self->{dir}/used.$code") );
    my $asked  = $stored->{param};
    return 400, { error => 'invalid_grant', error_description => 'redirect_uri' }
      if ( $param->{redirect_uri} // '' ) ne $asked->{redirect_uri};
    my $hash = _b64( Digest::SHA::sha256( $param->{code_verifier} // '' ) );
    return 400, { error => 'invalid_grant', error_description => 'PKCE' }
      if ( $asked->{code_challenge_method} // '' ) ne 'S256'
      || ( $param->{code_verifier} // '' ) eq ''
      || $hash ne ( $asked->{code_challenge} // '' );
    my $token = _random();
    Authz::Server::write_whole( "$self->{dir}/token.$token", $json->encode($stored) );
    return 200,
      { access_token => $token, token_type => 'Bearer', expires_in => 300, scope => $asked->{scope},
        id_token     => $self->_token_of( $asked, $stored->{user}, $token ) };
}

# Return how our client authenticated: in the header or in the form, never both. It is noted for seen('token').
sub _client {
    my ( $self, $param, $header ) = @_;
    if ( ( $header->{authorization} // '' ) =~ /\ABasic (\S+)\z/ ) {
        my ( $id, $secret ) = map { ( _pairs("x=$_") )[1] } split /:/, MIME::Base64::decode_base64($1), 2;
        $param->{auth_method} = 'client_secret_basic';
        return defined $param->{client_secret} ? ('') : ( $id, $secret );
    }
    if ( defined $param->{client_assertion} ) {
        $param->{auth_method} = 'private_key_jwt';
        return $self->_asserts($param) ? ( $param->{client_id} // '' ) : ('');
    }
    $param->{auth_method} = defined $param->{client_secret} ? 'client_secret_post' : 'none';
    return ( $param->{client_id} // '', $param->{client_secret} );
}

# True if an assertion is good (RFC 7523 3): of a key of our client, for this endpoint, and for a short time. The test verifies the
# signature, by seen('token').
sub _asserts {
    my ( $self, $param ) = @_;
    my $text = $param->{client_assertion};
    my ( $header, $claim ) = Authz::Jwt::parts($text);
    my ($key) = grep { $_->{kid} eq $header->{kid} } @{ $self->{control}{client_keys} // [] };
    return
         $key
      && $param->{client_assertion_type} eq 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'
      && $claim->{iss} eq $self->{client_id}
      && $claim->{sub} eq $self->{client_id}
      && $claim->{aud} eq "$self->{issuer}/token"
      && defined $claim->{jti}
      && $claim->{exp} > time
      && $claim->{exp} <= time + 300;
}

sub _token_of {
    my ( $self, $asked, $user, $access_token ) = @_;
    my %how   = %{ $self->{control}{misbehave}{id_token} // {} };
    my $now   = int time;
    my %claim = (
        %$user, iss => $self->{issuer}, aud => $self->{client_id}, iat => $now, exp => $now + 300,
        at_hash => _b64( substr Digest::SHA::sha256($access_token), 0, 16 ),
    );
    delete $claim{userinfo};
    $claim{nonce} = $asked->{nonce} if defined $asked->{nonce};
    for my $name ( grep { !$SIGNING{$_} } keys %how ) {
        if ( defined $how{$name} ) { $claim{$name} = $how{$name} }
        else                       { delete $claim{$name} }
    }
    return $self->id_token( \%claim, map { $_ => $how{$_} } grep { $SIGNING{$_} } keys %how );
}

sub _do_userinfo {
    my ( $self, $param, $header ) = @_;
    my ($token) = ( $header->{authorization} // '' ) =~ /\ABearer ([0-9a-f]{32})\z/;
    return 401, { error => 'invalid_token' } if !defined $token || !-e "$self->{dir}/token.$token";
    my %claim = %{ $json->decode( Authz::Server::read_there("$self->{dir}/token.$token") )->{user} };
    my $more  = delete $claim{userinfo};
    delete @claim{qw(auth_time acr amr sid)};
    return 200, { %claim, %{ $more // {} } };
}

sub _do_end_session {
    my ( $self, $param ) = @_;
    my $to = $param->{post_logout_redirect_uri};
    return 200, 'signed out' if !defined $to;
    return 302, '', Location => $to
      . ( defined $param->{state} ? ( $to =~ /\?/ ? '&' : '?' ) . 'state=' . _escape( $param->{state} ) : '' );
}

1;

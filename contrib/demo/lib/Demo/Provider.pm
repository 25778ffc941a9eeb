package Demo::Provider;

# An OpenID provider with three people and one client, `authz`: discovery, JWKS, authorization code with PKCE (S256), ID tokens
# by RS256, client_secret_basic, userinfo, RP-initiated logout. What it remembers is in memory: a restart signs nobody out of the
# service.

use strict;
use warnings;

use Digest::SHA  ();
use IPC::Open2   ();
use JSON::PP     ();
use MIME::Base64 ();

use Demo::Http ();
use Demo::Page ();

# Codes and choices that are not used go when they are this old, or when there are too many.
use constant { CODE_SECONDS => 60, CHOICE_SECONDS => 600, TOKEN_SECONDS => 300, KEPT_MAX => 1000 };

my %PERSON = (
    alice => { name => 'Alice Adams',  groups => [ 'staff', 'admins' ], about => 'staff and admins' },
    bob   => { name => 'Bob Brown',    groups => ['staff'],             about => 'staff' },
    carol => { name => 'Carol Clarke', groups => [],                    about => 'a customer' },
);

sub new {
    my ( $class, %shared ) = @_;
    my $self = bless { %shared, choice => {}, code => {}, access => {} }, $class;
    $self->{back}   = "$self->{service}/authorize/callback/demo";
    $self->{secret} = first_line("$self->{state}/secret");
    $self->_make_key;
    return $self;
}

sub first_line {
    my ($file) = @_;
    open my $in, '<', $file or die "contrib/demo/serve: cannot read $file: $!\n";
    my $line = readline($in) // '';
    chomp $line;
    $line ne '' or die "contrib/demo/serve: $file is empty\n";
    return $line;
}

sub random {
    open my $in, '<:raw', '/dev/urandom' or die "urandom: $!\n";
    read( $in, my $octets, 16 ) == 16 or die "urandom: $!\n";
    return unpack 'H*', $octets;
}

sub base64url { my ($octets) = @_; return MIME::Base64::encode_base64url( $octets, '' ) }

# Return what a program prints for this input.
sub command {
    my ( $input, @word ) = @_;
    my $pid = IPC::Open2::open2( my $out, my $in, @word );
    binmode $_ for $out, $in;
    print {$in} $input;
    close $in;
    my $text = do { local $/ = undef; readline $out };
    waitpid $pid, 0;
    $? == 0 or die "contrib/demo/serve: $word[0] $word[1] failed\n";
    return $text // '';
}

sub _make_key {
    my ($self) = @_;
    $self->{key} = "$self->{state}/key.pem";
    if ( !-s $self->{key} ) {
        umask 077;
        command( '', qw(openssl genrsa -out), $self->{key}, 2048 );
    }
    my ($hex) = command( '', qw(openssl rsa -noout -modulus -in), $self->{key} ) =~ /Modulus=([0-9A-F]+)/;
    my $n = base64url( pack 'H*', $hex );
    $self->{kid} = substr base64url( Digest::SHA::sha256(qq({"e":"AQAB","kty":"RSA","n":"$n"})) ), 0, 16;
    $self->{jwk} = { kty => 'RSA', use => 'sig', alg => 'RS256', kid => $self->{kid}, n => $n, e => 'AQAB' };
    return;
}

# Keep a value for some seconds under a new name, and forget the old ones.
sub keep {
    my ( $store, $seconds, $value ) = @_;
    my $now = time;
    delete @$store{ grep { $store->{$_}{until} < $now } keys %$store };
    %$store = () if keys %$store >= KEPT_MAX;
    my $name = random();
    $store->{$name} = { %$value, until => $now + $seconds };
    return $name;
}

# Take a value that is kept out of a store; undef if there is none.
sub take {
    my ( $store, $name ) = @_;
    my $value = delete $store->{ $name // '' } // return;
    return $value->{until} < time ? undef : $value;
}

sub discovery {
    my ($self) = @_;
    my $here = $self->{here};
    return $self->{page}->json(
        {   issuer               => $here, authorization_endpoint => "$here/authorize", token_endpoint => "$here/token",
            jwks_uri             => "$here/jwks", userinfo_endpoint => "$here/userinfo",
            end_session_endpoint => "$here/end_session",
            response_types_supported                       => ['code'], subject_types_supported => ['public'],
            grant_types_supported                          => ['authorization_code'],
            scopes_supported                               => [qw(openid profile email groups)],
            id_token_signing_alg_values_supported          => ['RS256'],
            token_endpoint_auth_methods_supported          => ['client_secret_basic'],
            code_challenge_methods_supported               => ['S256'],
            authorization_response_iss_parameter_supported => JSON::PP::true() } );
}

sub jwks { my ($self) = @_; return $self->{page}->json( { keys => [ $self->{jwk} ] } ) }

# Why a request of the client is none that can be answered with a redirect; undef if it can.
sub _fault {
    my ( $self, $query ) = @_;
    return 'The client is not `authz`.' if ( $query->{client_id} // '' ) ne 'authz';
    return
      "This demonstration sends people back to $self->{back} alone. For another service, use a provider of your own."
      if ( $query->{redirect_uri} // '' ) ne $self->{back};
    return;
}

sub _send_back {
    my ( $self, $query, @parameters ) = @_;
    return $self->{page}
      ->redirect( "$self->{back}?" . Demo::Http::query( @parameters, state => $query->{state}, iss => $self->{here} ) );
}

sub authorize {
    my ( $self, $request ) = @_;
    my $query = $request->{query};
    my $fault = $self->_fault($query);
    return $self->{page}->refusal( 400, $fault ) if defined $fault;
    my $error =
        ( $query->{response_type}         // '' ) ne 'code'                   ? 'unsupported_response_type'
      : ( $query->{scope}                 // '' ) !~ /(?:\A| )openid(?: |\z)/ ? 'invalid_scope'
      : ( $query->{code_challenge_method} // '' ) ne 'S256'                   ? 'invalid_request'
      : ( $query->{code_challenge}        // '' ) !~ /\A[A-Za-z0-9_-]{43}\z/  ? 'invalid_request'
      : ( $query->{prompt}                // '' ) eq 'none'                   ? 'login_required'
      :                                                                         undef;
    return $self->_send_back( $query, error => $error ) if defined $error;
    my $choice = keep( $self->{choice}, CHOICE_SECONDS, { query => $query } );
    my $list   = join '', map {
        my $href = "/choose?choice=$choice&amp;person=$_";
        "<li><a href=\"$href\">$PERSON{$_}{name} <span class=\"quiet\">($_, $PERSON{$_}{about})</span></a></li>\n"
    } sort keys %PERSON;
    return $self->{page}->html(
        'Who are you?',
        "<p class=\"note\">This provider is a demonstration: it believes whom you choose.</p>\n"
          . "<ul class=\"choices\">\n$list</ul>\n<p><a href=\"/choose?choice=$choice\">Cancel</a></p>\n" );
}

sub choose {
    my ( $self, $request ) = @_;
    my $choice = take( $self->{choice}, $request->{query}{choice} )
      // return $self->{page}
      ->refusal( 400, 'This page is too old, or was used already. Start again at the application.' );
    my $person = $request->{query}{person} // '';
    return $self->_send_back( $choice->{query}, error => 'access_denied' ) if !$PERSON{$person};
    my $code = keep( $self->{code}, CODE_SECONDS, { query => $choice->{query}, person => $person, at => time } );
    return $self->_send_back( $choice->{query}, code => $code );
}

# True if the client authenticates by client_secret_basic; compares digests, so the time tells nothing of the secret.
sub _client_ok {
    my ( $self, $request ) = @_;
    my ($basic) = ( $request->{header}{authorization} // '' ) =~ m{\ABasic ([A-Za-z0-9+/=]+)\z} or return 0;
    my ( $id, $secret ) = map { Demo::Http::decode($_) } split /:/, MIME::Base64::decode_base64($basic), 2;
    return ( $id // '' ) eq 'authz'
      && Digest::SHA::sha256( $secret // '' ) eq Digest::SHA::sha256( $self->{secret} );
}

sub token {
    my ( $self, $request ) = @_;
    my $form = $request->{form};
    return $self->{page}->json( { error => 'invalid_client' }, 401, 'WWW-Authenticate' => 'Basic realm="demo"' )
      if !$self->_client_ok($request);
    return $self->{page}->json( { error => 'unsupported_grant_type' }, 400 )
      if ( $form->{grant_type} // '' ) ne 'authorization_code';
    my $asked = take( $self->{code}, $form->{code} );
    return $self->{page}->json( { error => 'invalid_grant' }, 400 )
      if !$asked
      || ( $form->{redirect_uri} // '' ) ne $asked->{query}{redirect_uri}
      || base64url( Digest::SHA::sha256( $form->{code_verifier} // '' ) ) ne $asked->{query}{code_challenge};
    my $access = keep( $self->{access}, TOKEN_SECONDS, { person => $asked->{person} } );
    return $self->{page}->json(
        {   access_token => $access, token_type => 'Bearer', expires_in => TOKEN_SECONDS,
            id_token     => $self->_id_token( $asked, $access ) } );
}

sub _claims {
    my ($person) = @_;
    return (
        sub => $person, name => $PERSON{$person}{name}, preferred_username => $person, email => "$person\@demo.example",
        email_verified => JSON::PP::true(), groups => $PERSON{$person}{groups} );
}

sub _id_token {
    my ( $self, $asked, $access ) = @_;
    my $encode = JSON::PP->new->utf8->canonical;
    my %claim  = (
        _claims( $asked->{person} ),
        iss       => $self->{here}, aud => 'authz', iat => time, exp => time + TOKEN_SECONDS,
        auth_time => $asked->{at},
        at_hash   => base64url( substr Digest::SHA::sha256($access), 0, 16 ) );
    $claim{nonce} = $asked->{query}{nonce} if defined $asked->{query}{nonce};
    my $text = join '.',
      map { base64url( $encode->encode($_) ) } { alg => 'RS256', kid => $self->{kid}, typ => 'JWT' }, \%claim;
    return "$text." . base64url( command( $text, qw(openssl dgst -sha256 -sign), $self->{key} ) );
}

sub userinfo {
    my ( $self, $request ) = @_;
    my ($access) = ( $request->{header}{authorization} // '' ) =~ /\ABearer ([0-9a-f]{32})\z/;
    my $kept = $self->{access}{ $access // '' };
    return $self->{page}
      ->json( { error => 'invalid_token' }, 401, 'WWW-Authenticate' => 'Bearer error="invalid_token"' )
      if !$kept || $kept->{until} < time;
    return $self->{page}->json( { _claims( $kept->{person} ) } );
}

# The provider keeps no session, so there is nothing to end.
sub end_session {
    my ( $self, $request ) = @_;
    my $to = $request->{query}{post_logout_redirect_uri} // '';
    return $self->{page}->html( 'Signed out', "<p>You can close this window.</p>\n" )
      if $to ne "$self->{service}/logout/return";
    return $self->{page}->redirect( "$to?" . Demo::Http::query( state => $request->{query}{state} ) );
}

1;

package Authz::Jwt;

# Keys of clients, made by OpenSSL, and JWTs that they sign.
#
#   my $key = Authz::Jwt->key( 'ES256', kid => 'k1' );      an algorithm of RFC 7518 3.1, or EdDSA
#   $key->jwk;                                              its public half; Authz::Jwt::set($key, ...) is a JWK Set
#   $key->sign( \%claims, header => { typ => 'x' }, alg => 'PS256', tamper => 1 );
#   Authz::Jwt::verifies( $text, \%jwk );                  true if OpenSSL's command verifies a JWT by RS256 or ES256
#   Authz::Jwt::parts($text);                               its header and claims, unverified
#   $key->assertion( 'crm', $issuer, exp => time + 60 );    a client assertion (RFC 7523 3) with a jti of its own
#
# Header members and claims that are undef are left out; claims may be a text. alg 'none' has no signature, HS256 takes the text
# of the public key for the secret.

use strict;
use warnings;

use Digest::SHA  ();
use JSON::PP     ();
use MIME::Base64 ();

use Authz::Process ();

my $json = JSON::PP->new->canonical->utf8;

my %CURVE = (
    ES256 => [ 'prime256v1', 'P-256', 32 ], ES384 => [ 'secp384r1', 'P-384', 48 ],
    ES512 => [ 'secp521r1',  'P-521', 66 ] );

my $made = 0;

sub key {
    my ( $class, $alg, %more ) = @_;
    my $file = Authz::Process::directory() . '/jwt-key-' . $$ . '-' . ++$made;
    my $self = bless { alg => $alg, file => $file, more => \%more }, $class;
    my @kind =
        $CURVE{$alg}    ? ( qw(-algorithm EC -pkeyopt), "ec_paramgen_curve:$CURVE{$alg}[0]" )
      : $alg eq 'EdDSA' ? qw(-algorithm ED25519)
      :                   ( qw(-algorithm RSA -pkeyopt), 'rsa_keygen_bits:' . ( delete $more{bits} // 2048 ) );
    _command( qw(openssl genpkey -quiet -out), $file, @kind );
    return $self;
}

# The private key, PKCS#8 in PEM.
sub file { return $_[0]{file} }

sub b64 { my ($octets) = @_; return MIME::Base64::encode_base64url($octets) }

sub set {
    return { keys => [ map { $_->jwk } @_ ] };
}

sub jwk {
    my ($self) = @_;
    my $public = $self->{public} //= $self->_public;
    return { %$public, %{ $self->{more} } };
}

sub _public {
    my ($self) = @_;
    my $der = _command( qw(openssl pkey -pubout -outform DER -in), $self->{file} );
    if ( my $curve = $CURVE{ $self->{alg} } ) {
        my $size  = $curve->[2];
        my $point = substr $der, -2 * $size;
        return {
            kty => 'EC', crv => $curve->[1], x => b64( substr $point, 0, $size ),
            y   => b64( substr $point, $size ) };
    }
    return { kty => 'OKP', crv => 'Ed25519', x => b64( substr $der, -32 ) } if $self->{alg} eq 'EdDSA';
    my ($hex) = _command( qw(openssl rsa -noout -modulus -in), $self->{file} ) =~ /Modulus=([0-9A-F]+)/;
    return { kty => 'RSA', n => b64( pack 'H*', $hex ), e => 'AQAB' };
}

sub sign {
    my ( $self, $claims, %how ) = @_;
    my $alg    = $how{alg} // $self->{alg};
    my %header = ( alg => $alg, kid => $self->{more}{kid}, %{ $how{header} // {} } );
    my $text   = b64( $json->encode( _without_undef( \%header ) ) ) . '.'
      . b64( ref $claims ? $json->encode( _without_undef($claims) ) : $claims );
    my $signature = $self->_signature( $how{sign_as} // $alg, $text );
    substr( $signature, -1 ) ^= "\1" if $how{tamper};
    return "$text." . b64($signature);
}

sub _without_undef {
    my ($of) = @_;
    return { map { ( $_ => $of->{$_} ) } grep { defined $of->{$_} } keys %$of };
}

my $jti = 0;

# Claims of an assertion; %more replaces them.
sub claims {
    my ( $client_id, $audience, %more ) = @_;
    return {
        iss => $client_id, sub => $client_id, aud => $audience, exp => time + 60, jti => "jti-$$-" . ++$jti,
        %more };
}

sub assertion {
    my ( $self, $client_id, $audience, %more ) = @_;
    my %how = map { ( $_ => delete $more{$_} ) } grep { exists $more{$_} } qw(header alg tamper sign_as);
    return $self->sign( claims( $client_id, $audience, %more ), %how );
}

# The form parameters of an assertion.
sub form {
    my ($assertion) = @_;
    return (
        client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        client_assertion      => $assertion );
}

sub _signature {
    my ( $self, $alg, $text ) = @_;
    return ''                                                             if $alg eq 'none';
    return Digest::SHA::hmac_sha256( $text, $json->encode( $self->jwk ) ) if $alg =~ /\AHS/;
    my $input = "$self->{file}.text";
    open my $out, '>', $input or die "$input: $!";
    print {$out} $text;
    close $out or die "$input: $!";
    return _command( qw(openssl pkeyutl -sign -rawin -inkey), $self->{file}, '-in', $input ) if $alg eq 'EdDSA';
    my ($bits)    = $alg =~ /(\d+)/;
    my @pss       = $alg =~ /\APS/ ? ( qw(-sigopt rsa_padding_mode:pss -sigopt), 'rsa_pss_saltlen:' . $bits / 8 ) : ();
    my $signature = _command( qw(openssl dgst), "-sha$bits", @pss, '-sign', $self->{file}, $input );
    return $CURVE{ $self->{alg} } ? _raw( $signature, $CURVE{ $self->{alg} }[2] ) : $signature;
}

# SEQUENCE of two INTEGERs to r and s side by side (RFC 7518 3.4).
sub _raw {
    my ( $der, $size ) = @_;
    my ( $at,  $raw )  = ( ord( substr $der, 1, 1 ) == 0x81 ? 3 : 2, '' );
    for ( 1 .. 2 ) {
        my $length = ord substr $der, $at + 1, 1;
        $raw .= substr( ( "\0" x $size ) . substr( $der, $at + 2, $length ), -$size );
        $at += 2 + $length;
    }
    return $raw;
}

sub _command {
    my (@command) = @_;
    open my $out, '-|', @command or die "$command[0]: $!";
    binmode $out;
    my $text = do { local $/ = undef; readline $out };
    close $out or die "@command failed\n";
    return $text // '';
}

# ---- verification

sub _der {
    my ( $tag, $body ) = @_;
    my $octets = length $body;
    my $length =
      $octets < 128 ? pack( 'C', $octets ) : $octets < 256 ? pack( 'CC', 0x81, $octets ) : pack( 'Cn', 0x82, $octets );
    return pack( 'C', $tag ) . $length . $body;
}

sub _integer { my $number = $_[0] =~ s/\A\0+(?=.)//sr; return _der( 2, ( ord $number > 127 ? "\0" : '' ) . $number ) }

# The SubjectPublicKeyInfo of a key (RFC 3279 2.3.1, RFC 5480 2).
sub _spki {
    my ($jwk) = @_;
    my ( $n, $e, $x, $y ) = map { MIME::Base64::decode_base64url( $_ // '' ) } @$jwk{qw(n e x y)};
    return pack( 'H*', '3059301306072a8648ce3d020106082a8648ce3d030107034200' ) . "\x04$x$y" if $jwk->{kty} eq 'EC';
    my $key = _der( 0x30, _integer($n) . _integer($e) );
    return _der( 0x30, pack( 'H*', '300d06092a864886f70d0101010500' ) . _der( 0x03, "\0$key" ) );
}

sub parts {
    my ($text) = @_;
    my ( $head, $claims ) = split /[.]/, $text;
    return map { $json->decode( MIME::Base64::decode_base64url($_) ) } $head, $claims;
}

# True if the algorithm of the text is that of the key, and the signature is the key's (RFC 7518 3.3 and 3.4).
sub verifies {
    my ( $text, $jwk ) = @_;
    my ( $header, $payload, $signature ) = split /[.]/, $text;
    my $file = Authz::Process::directory() . "/jwt-verified-$$-" . ++$made;
    my $alg  = ( eval { ( parts($text) )[0]{alg} } ) // 'none';
    my $sign = MIME::Base64::decode_base64url($signature);
    return 0 if $alg ne ( $jwk->{kty} eq 'EC' ? 'ES256' : 'RS256' );
    if ( $alg eq 'ES256' ) {    # r and s side by side
        return 0 if length $sign != 64;
        $sign = _der( 0x30, _integer( substr $sign, 0, 32 ) . _integer( substr $sign, 32 ) );
    }
    my %part = (
            key => "-----BEGIN PUBLIC KEY-----\n"
          . MIME::Base64::encode_base64( _spki($jwk) )
          . "-----END PUBLIC KEY-----\n",
        text => "$header.$payload", sig => $sign );
    for my $name ( keys %part ) {
        open my $out, '>:raw', "$file.$name" or die "$file.$name: $!";
        print {$out} $part{$name};
        close $out or die "$file.$name: $!";
    }
    my @command = ( qw(openssl dgst -sha256 -verify), "$file.key", '-signature', "$file.sig", "$file.text" );
    my ($status) = Authz::Process->run( name => 'openssl', command => [ '/usr/bin/env', @command ] );
    return $status == 0;
}

1;

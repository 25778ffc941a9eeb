package Authz::Dpop;

# Keys of DPoP clients and their proofs (RFC 9449), good and bad, signed by openssl.
#   my $key = Authz::Dpop->new;                        a P-256 pair; another with P-384, Ed25519, RSA, PSS, RSA-1024
#   my @header = $key->show( $stack, '/token' );       a good proof for POST, as headers of a request
#   $key->show( $stack, '/userinfo', htm => 'GET', token => $token, nonce => $nonce );
#   $key->proof( header => {...}, claims => {...} );   any proof; undef leaves a member out
#   $key->jkt                                          RFC 7638 thumbprint

use strict;
use warnings;

use Digest::SHA  ();
use JSON::PP     ();
use MIME::Base64 ();

use Authz::Process ();

my $json = JSON::PP->new->utf8->canonical;
my %ALG  = ( 'P-256' => 'ES256', 'P-384' => 'ES384', RSA => 'RS256', PSS => 'PS256', Ed25519 => 'EdDSA' );
my %SIGN = ( PS256   => [qw(-sigopt rsa_padding_mode:pss -sigopt rsa_pss_saltlen:digest)] );
my %EC   = ( 'P-256' => [ prime256v1 => 32 ], 'P-384' => [ secp384r1 => 48 ] );

sub b64 { my ($octets) = @_; return MIME::Base64::encode_base64url($octets) }

sub _openssl {
    my (@word) = @_;
    open my $pipe, '-|', 'openssl', @word or die "openssl: $!";
    binmode $pipe;
    local $/ = undef;
    my $text = <$pipe>;
    close $pipe or die "openssl @word failed\n";
    return $text;
}

sub new {
    my ( $class, $kind ) = @_;
    $kind //= 'P-256';
    my $file = Authz::Process::directory() . '/dpop' . ++( our $keys ) . '.pem';
    my $jwk;
    my $bits = $kind =~ s/-(\d{4})\z// ? $1 : 2048;
    if ( $kind eq 'Ed25519' ) {
        _openssl( qw(genpkey -algorithm ed25519 -out), $file );
        my $x = substr _openssl( qw(pkey -pubout -outform DER -in), $file ), -32;
        $jwk = { kty => 'OKP', crv => $kind, x => b64($x) };
    }
    elsif ( $kind eq 'RSA' || $kind eq 'PSS' ) {
        _openssl( qw(genrsa -out), $file, $bits );
        my ($hex) = _openssl( qw(rsa -noout -modulus -in), $file ) =~ /Modulus=([0-9A-F]+)/;
        $jwk = { kty => 'RSA', n => b64( pack 'H*', $hex ), e => 'AQAB' };
    }
    else {
        my ( $name, $size ) = @{ $EC{$kind} };
        _openssl( qw(ecparam -genkey -noout -name), $name, '-out', $file );
        my $point = substr _openssl( qw(pkey -pubout -outform DER -in), $file ), -2 * $size;
        $jwk = { kty => 'EC', crv => $kind, x => b64( substr $point, 0, $size ), y => b64( substr $point, $size ) };
    }
    return bless { file => $file, jwk => $jwk, alg => $ALG{$kind}, size => ( $EC{$kind} // [] )->[1] }, $class;
}

sub jwk { return $_[0]{jwk} }

sub jkt {
    my ($self) = @_;
    return b64( Digest::SHA::sha256( $json->encode( $self->{jwk} ) ) );
}

# SEQUENCE of two INTEGERs to the two numbers side by side.
sub _raw {
    my ( $der, $size ) = @_;
    my ( $at,  $raw )  = ( ord( substr $der, 1, 1 ) & 0x80 ? 3 : 2, '' );
    for ( 1 .. 2 ) {
        my $length = ord substr $der, $at + 1, 1;
        my $number = substr $der, $at + 2, $length;
        $number =~ s/\A\0+//;
        $raw .= ( "\0" x ( $size - length $number ) ) . $number;
        $at += 2 + $length;
    }
    return $raw;
}

sub _members {
    my ( $good, $other ) = @_;
    my %all = ( %$good, %{ $other // {} } );
    return $json->encode( { map { ( $_ => $all{$_} ) } grep { defined $all{$_} } keys %all } );
}

sub proof {
    my ( $self, %option ) = @_;
    my $text =
        b64( _members( { typ => 'dpop+jwt', alg => $self->{alg}, jwk => $self->{jwk} }, $option{header} ) ) . '.'
      . b64( _members( { jti => 'jti-' . $$ . '-' . ++( our $proofs ), iat => time }, $option{claims} ) );
    my $file = "$self->{file}.$$";
    open my $out, '>:raw', $file or die "$file: $!";
    print {$out} $text;
    close $out or die "$file: $!";
    my $hash = ( $self->{size} // 32 ) == 48 ? '-sha384' : '-sha256';
    my $signature =
      $self->{alg} eq 'EdDSA'
      ? _openssl( qw(pkeyutl -sign -rawin -inkey), $self->{file}, '-in', $file )
      : _openssl( 'dgst', $hash, @{ $SIGN{ $self->{alg} } // [] }, '-sign', $self->{file}, $file );
    unlink $file;
    return "$text." . b64( $self->{size} ? _raw( $signature, $self->{size} ) : $signature );
}

# Headers of a request to a path of a service; more options are claims, or token: the token that the proof is shown with.
sub show {
    my ( $self, $stack, $path, %claims ) = @_;
    my $token = delete $claims{token};
    $claims{ath} //= b64( Digest::SHA::sha256($token) ) if defined $token;
    my $proof = $self->proof( claims => { htm => 'POST', htu => $stack->base . $path, %claims } );
    return ( ( defined $token ? ( Authorization => "DPoP $token" ) : () ), DPoP => $proof );
}

1;

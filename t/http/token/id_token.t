# ID tokens (OpenID Connect Core 2 and 3.1.3.6; oauth.md 3.3), and the keys that sign them (specification 5).
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( settings => { SVC_OIDC_JWKS_CACHE_SECONDS => 0 } );
my %code  = ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [qw(openid profile email orders.read)] );
my @web   = $stack->make_client( 'web', {%code} );
Authz::Grant->people($stack);

sub redeem {
    my (%option) = @_;
    return Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web', %option ) );
}
sub claims { my ($answer) = @_; return ( Authz::Grant->jwt( $answer->member('id_token') // die $answer->text ) )[1] }

sub keys_now {
    return map { $_->{kid} => $_ } @{ $stack->http->get('/.well-known/jwks.json')->member('keys') };
}

# A public key of the set as PEM, by the command-line tool of another implementation.
sub der {
    my ( $tag, $body ) = @_;
    my $length = length $body;
    my $head =
      $length < 128 ? pack( 'C', $length ) : $length < 256 ? pack( 'CC', 0x81, $length ) : pack( 'Cn', 0x82, $length );
    return pack( 'C', $tag ) . $head . $body;
}

sub integer {
    my ($text) = @_;
    my $octets = MIME::Base64::decode_base64( $text =~ tr{-_}{+/}r );
    return der( 2, ( ord $octets > 127 ? "\0" : '' ) . $octets );
}

# True if openssl verifies the signature with this key.
sub verified {
    my ( $text, $key ) = @_;
    my ( $header, $payload, $signature ) = split /[.]/, $text;
    my $dir  = Authz::Process::directory();
    my $rsa  = der( 0x30, integer( $key->{n} ) . integer( $key->{e} ) );
    my $spki = der( 0x30, der( 0x30, pack( 'H*', '06092a864886f70d0101010500' ) ) . der( 3, "\0$rsa" ) );
    my %file = (
        'key.pem' => "-----BEGIN PUBLIC KEY-----\n" . MIME::Base64::encode_base64($spki) . "-----END PUBLIC KEY-----\n",
        text      => "$header.$payload", sig => MIME::Base64::decode_base64( $signature =~ tr{-_}{+/}r ) );
    for my $name ( keys %file ) {
        open my $out, '>:raw', "$dir/$name" or die $!;
        print {$out} $file{$name};
        close $out or die $!;
    }
    return system("openssl dgst -sha256 -verify $dir/key.pem -signature $dir/sig $dir/text >/dev/null 2>&1") == 0;
}

# ---- what it says

my $answer = redeem(
    scope   => 'openid profile email', nonce => 'n-0S6_WzA2Mj"\\', acr => 'urn:loa:2', amr => [qw(pwd hwk)],
    max_age => 1, sid => 'sid-7' );
my $text = $answer->member('id_token');
my ( $header, $claims ) = Authz::Grant->jwt($text);
my %keys = keys_now();
is( $header->{alg}, 'RS256', 'ID token: RS256' );
ok( $keys{ $header->{kid} }, '... by a published key, named by kid' );
is( join( ' ', sort keys %$header ), 'alg kid typ', '... and no other member in the header' );
ok( verified( $text, $keys{ $header->{kid} } ), '... which OpenSSL verifies' );
ok( !verified( $text =~ s/[.]\K(.)/$1 eq 'a' ? 'b' : 'a'/er, $keys{ $header->{kid} } ),
    '... and which covers the claims' );
my $hash = Digest::SHA::sha256( $answer->member('access_token') );
members_are(
    $claims,
    {   iss       => $stack->base,  sub => 'alice', aud => 'web', nonce => 'n-0S6_WzA2Mj"\\', acr => 'urn:loa:2',
        amr       => [qw(pwd hwk)], sid => 'sid-7',
        iat       => sub { $_[0] >= time - 10 && $_[0] <= time }, exp => sub { $_[0] == $claims->{iat} + 3600 },
        auth_time => sub { $_[0] > time - 60  && $_[0] <= time - 9 },
        at_hash   => Authz::Grant::base64url( substr $hash, 0, 16 ), azp => undef, name => undef, email => undef,
        preferred_username => undef,
    },
    'ID token: its claims; those of the user are for /userinfo (oauth.md 3.3)' );
is( join( ' ', sort keys %$claims ), 'acr amr at_hash aud auth_time exp iat iss nonce sid sub',
    'ID token: and no other claim' );
is( claims( redeem( nonce => "\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xe2\x80\xa8 +%/" ) )->{nonce},
    "\x{e9}\x{4e2d}\x{1f600}\x{2028} +%/", 'ID token: a nonce beyond ASCII comes back as it is' );
members_are(
    claims( redeem( scope => 'openid' ) ),
    { nonce => undef, acr => undef, amr => undef, auth_time => undef, sid => 'sid-1' },
    'ID token: no nonce, acr, amr or auth_time where there was none to say' );
is( claims( redeem( amr => [] ) )->{amr}, undef, '... nor an empty amr' );
$stack->restart_service( settings => { SVC_OAUTH_TIMING_ID_TOKEN_VALIDITY_SECONDS => 60 } );
my $short = claims( redeem() );
is( $short->{exp} - $short->{iat}, 60, 'ID token: its lifetime is a setting of its own' );

# ---- at a refresh (OpenID Connect Core 12.2)

my $renewed = Authz::Grant->refresh( $stack, \@web, $answer->member('refresh_token') );
my $again   = claims($renewed);
is( $again->{$_},    $claims->{$_}, "refresh: the new ID token keeps $_" ) for qw(iss sub aud auth_time acr sid);
is( $again->{nonce}, undef,         '... and has no nonce' );
is( $again->{at_hash},
    Authz::Grant::base64url( substr Digest::SHA::sha256( $renewed->member('access_token') ), 0, 16 ),
    '... its at_hash is of the new access token' );
cmp_ok( $again->{iat}, '>=', $claims->{iat}, '... its iat is now' );

# ---- keys

my ( $status, $output ) = $stack->authzctl(qw(keys rotate --yes));
is( $status, 0, 'keys rotate: runs' ) or diag($output);
my %after = keys_now();
ok( $after{ $header->{kid} },                    'rotation: the retired key is still published' );
ok( verified( $text, $after{ $header->{kid} } ), '... so an old ID token still verifies' );
my $held = redeem();
ok( $after{ ( Authz::Grant->jwt( $held->member('id_token') ) )[0]{kid} },
    'rotation: a process that signs with the old key for a moment signs with a published one' );
$stack->restart_service;
my ($new) = Authz::Grant->jwt( redeem()->member('id_token') );
isnt( $new->{kid}, $header->{kid}, 'rotation: then the new key signs' );
ok( $keys{ $new->{kid} }, '... which had been published before it was used' );

# Nothing is consumed when there is no key to sign with.
$stack->restart_service;
my $unsigned = Authz::Grant->code( $stack, client => 'web', scope => 'openid' );
$stack->sql(q{UPDATE signing_key SET private_sealed = private_sealed || '\x00' WHERE use = 'oidc'});
my $failed = Authz::Grant->redeem( $stack, \@web, $unsigned );
oauth_error( $failed, 500, 'server_error', 'ID token: a key that does not open is an error' );

# The line is written after the answer.
ok( defined Authz::Process::until_true(
        10,
        sub {
            $stack->{service}->log_text =~
              /"status":500,[^\n]*the oidc signing key cannot be decrypted; was SVC_CREDENTIAL_KEY changed/;
        } ),
    '... which the log explains' );
is( $stack->sql('SELECT redeemed_at IS NULL FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1'), 't',
    '... and the code is not consumed: signing comes before the write' );
oauth_ok(
    Authz::Grant->redeem( $stack, \@web, Authz::Grant->code( $stack, client => 'web', scope => 'orders.read' ) ),
    {}, '... without openid nothing is signed' );
$stack->sql(
    q{UPDATE signing_key SET private_sealed = substr(private_sealed, 1, length(private_sealed) - 1) WHERE use = 'oidc'}
);
oauth_ok(
    Authz::Grant->redeem( $stack, \@web, $unsigned ), { id_token => qr/./ },
    '... with the key again, the code is good' );

done_testing;

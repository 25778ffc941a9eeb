package Authz::Grant;

# Authorization codes without a browser: the rows that /authorize would leave, put down by SQL, so that races and benchmarks can
# have many of them at once. What redeems them is the service.
#   Authz::Grant->people($stack);                       provider corp, subject alice with claims
#   my $code = Authz::Grant->code( $stack, client => 'web', scope => 'openid', ... );
#   Authz::Grant->redeem( $stack, $code, credentials or client_id ... );
# code(): client, and of its row: subject, redirect_uri, verifier (undef: no PKCE), nonce, max_age => 1, acr, amr, scope,
# resource, resource_types, details, dpop_jkt, expires (SQL interval from now); idp.

use strict;
use warnings;

use Compress::Zlib ();
use Digest::SHA    ();
use JSON::PP       ();
use MIME::Base64   ();
use Time::HiRes    qw(time);

use Authz::Client ();

our $REDIRECT = 'https://app.example/cb?x=1';
our $VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';    # RFC 7636 appendix B
our $EPOCH    = 1767225600;

my $json = JSON::PP->new->utf8->canonical->allow_nonref;

sub base64url { my ($octets) = @_; return MIME::Base64::encode_base64( $octets, '' ) =~ tr{+/=}{-_}dr }

sub challenge { my ($verifier) = @_; return base64url( Digest::SHA::sha256($verifier) ) }

sub _random {
    my ($count) = @_;
    open my $in, '<:raw', '/dev/urandom' or die "urandom: $!";
    read $in, ( my $octets ), $count;
    return $octets;
}

# A token's text as crypto/token.h has it: (text, id as UUID, hex of the secret's hash).
sub token {
    my ( $class, $kind, $expires, $made ) = @_;
    my $bucket = int( ( $expires - $EPOCH ) / 3600 );
    my $random = _random(10);
    my $ms     = int( ( $made // time ) * 1000 );
    my $id =
        substr( pack( 'Q>', $ms ), 2 )
      . pack( 'n', 0x7000 | ( unpack( 'n', $random ) & 0x0fff ) )
      . pack( 'n', 0x8000 | ( unpack( 'n', substr $random, 2 ) & 0x3fff ) )
      . substr( $random, 4, 6 );
    my $secret = _random(32);
    my $uuid   = join '-', unpack 'A8 A4 A4 A4 A12', unpack 'H*', $id;
    my $text   = token_of( $kind, pack( 'CC', 1, 0 ) . substr( pack( 'N', $bucket ), 1 ) . $id . $secret );
    return ( $text, $uuid, Digest::SHA::sha256_hex($secret) );
}

# The text of a token with these octets.
sub token_of {
    my ( $kind, $octets ) = @_;
    my $text = "${kind}_" . base64url($octets);
    my ( $crc, $check ) = ( Compress::Zlib::crc32($text), '' );
    for ( 1 .. 6 ) { $check = ( 0 .. 9, 'A' .. 'Z', 'a' .. 'z' )[ $crc % 62 ] . $check; $crc = int( $crc / 62 ) }
    return $text . $check;
}

sub quote { my ($text) = @_; return 'NULL' if !defined $text; return q{'} . ( $text =~ s/'/''/gr ) . q{'} }

# Provider and subject, as a sign-in would leave them.
sub people {
    my ( $class, $stack, %option ) = @_;
    my %claims = (
        sub => 'alice', name => "Alice \x{c9}xample", preferred_username => 'alice.ex', email => 'alice@example.org',
        email_verified => JSON::PP::true(),
        groups         => ['ops'], %{ $option{claims} // {} },
    );
    utf8::decode( my $claims = $json->encode( \%claims ) );
    my $idp = $option{idp} // 'corp';
    my ( $who, $text ) = ( quote( $option{subject} // 'alice' ), quote($claims) );
    utf8::encode($text);
    $stack->sql(<<"SQL");
INSERT INTO identity_provider (idp_id, issuer) VALUES ('$idp', 'https://$idp.example') ON CONFLICT DO NOTHING;
INSERT INTO subject (subject, issuer, upstream_sub, idp_id, claims) VALUES ($who, 'https://$idp.example', $who, '$idp', $text)
  ON CONFLICT (subject) DO UPDATE SET claims = excluded.claims
SQL
    return;
}

# A code and its family; the text of the code.
sub code { my ( $class, $stack, %option ) = @_; return ( $class->codes( $stack, 1, %option ) )[0] }

# Many at once, in one statement.
sub codes {
    my ( $class, $stack, $count, %option ) = @_;
    my ( @text, @row );
    my $verifier = exists $option{verifier} ? $option{verifier} : $VERIFIER;
    my $expires  = $option{expires} // '60 seconds';
    for ( 1 .. $count ) {
        my ( $text, $id, $hash ) = $class->token( 'ac', time + 60 );
        my @value = (
            quote($id), "'\\x$hash'", "now() + interval '$expires'", 'c.id', 's.subject', 'p.id',
            quote( $option{sid} // 'sid-1' ), quote($id),
            quote( $option{redirect_uri} // $REDIRECT ), quote( defined $verifier ? challenge($verifier) : undef ),
            quote( $option{nonce} ),
            "now() - interval '10 seconds'", $option{max_age} ? 'true' : 'false', quote( $option{acr} ),
            $option{amr} ? quote( '{' . join( ',', @{ $option{amr} } ) . '}' ) . '::text[]' : 'NULL::text[]',
            quote( exists $option{scope} ? $option{scope} : 'openid' ), quote( $option{resource} ),
            (   map {
                    defined $option{ $_->[0] }
                      ? quote( $json->encode( $option{ $_->[0] } ) ) . "::$_->[1]"
                      : "NULL::$_->[1]"
                } [ resource_types => 'jsonb' ],
                [ details => 'json' ] ),
            quote( $option{dpop_jkt} ),
            'now()',
            ("now() + interval '$expires' + interval '60 seconds'") x 2,
        );
        push @text, $text;
        push @row,  'SELECT ' . join( ', ', @value );
    }
    my $from =
        "FROM client c, subject s, identity_provider p WHERE c.client_id = "
      . quote( $option{client} )
      . ' AND s.subject = '
      . quote( $option{subject} // 'alice' )
      . ' AND p.idp_id = '
      . quote( $option{idp} // 'corp' );
    my $columns =
      'id, code_hash, code_expires_at, client, subject, idp, sid, flow_id, redirect_uri, code_challenge, nonce, auth_time, with_auth_time, acr, amr, scope, resource, resource_types, details, dpop_jkt, created_at, idle_expires_at, expires_at';
    s/\ASELECT '([^']*)', '([^']*)'/SELECT '$1'::uuid, '$2'::bytea/ for @row;
    s/(, p\.id, '[^']*', )'([^']*)'/$1'$2'::uuid/                   for @row;
    $stack->sql( "INSERT INTO token_grant ($columns) " . join( ' UNION ALL ', map {"$_ $from"} @row ) );
    return @text;
}

# The form of a redemption: name, value, ...; undef leaves a member out.
sub redemption {
    my ( $class, $code, %over ) = @_;
    my %form = (
        grant_type => 'authorization_code', code => $code, redirect_uri => $REDIRECT, code_verifier => $VERIFIER,
        %over );
    return map { ( $_ => $form{$_} ) } grep { defined $form{$_} } sort keys %form;
}

# POST /token. Who: [id, secret] of a confidential client, or the id of a public one.
sub _post {
    my ( $stack, $who, @form ) = @_;
    my @header = ref $who ? Authz::Client::basic(@$who) : ();
    return $stack->http->post(
        "$stack->{path}/token", headers => \@header,
        form => [ ref $who ? () : ( client_id => $who ), @form ] );
}

sub redeem {
    my ( $class, $stack, $who, $code, %over ) = @_;
    return _post( $stack, $who, $class->redemption( $code, %over ) );
}

sub refresh {
    my ( $class, $stack, $who, $token, @more ) = @_;
    return _post(
        $stack, $who, grant_type => 'refresh_token', ( defined $token ? ( refresh_token => $token ) : () ),
        @more );
}

# The octets of such requests, for many at the same moment.
sub octets {
    my ( $class, $http, $who, @form ) = @_;
    my @header = ref $who ? Authz::Client::basic(@$who) : ();
    return $http->octets(
        'POST', '/token', headers => \@header,
        form => [ ref $who ? () : ( client_id => $who ), @form ], close => 1 );
}

# Header and claims of a JWT, not verified.
sub jwt {
    my ( $class, $text ) = @_;
    return map { $json->decode( MIME::Base64::decode_base64(tr{-_}{+/}r) ) } ( split /[.]/, $text )[ 0, 1 ];
}

1;

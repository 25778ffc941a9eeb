package Authz::Ciba;

# CIBA requests and their answers.
#   Authz::Ciba::ask( $stack, \@client, login_hint => 'alice', ... );       POST /bc-authorize
#   Authz::Ciba::poll( $stack, \@client, $auth_req_id );                    POST /token
#   my $peer = Authz::Ciba::told( $stack, 'corp' );                         a server that provider corp is told by
#   Authz::Ciba::inform( $stack, $peer, { status => 'approved' } );           the provider's answer to the last request
#   Authz::Ciba::sign_in( $stack, 'alice' );                                a browser with a session, put down by SQL

use strict;
use warnings;

use Digest::SHA ();

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Peer    ();

our $GRANT = 'urn:openid:params:grant-type:ciba';

# A client may be [id, secret], or the id of a public one.
sub _post {
    my ( $stack, $path, $who, @form ) = @_;
    my @header = ref $who ? Authz::Client::basic(@$who) : ();
    return $stack->http->post(
        "$stack->{path}$path", headers => \@header,
        form => [ ref $who ? () : ( client_id => $who ), @form ] );
}

sub ask { my ( $stack, $who, @form ) = @_; return _post( $stack, '/bc-authorize', $who, @form ) }

sub poll {
    my ( $stack, $who, $id, @more ) = @_;
    return _post( $stack, '/token', $who, grant_type => $GRANT, ( defined $id ? ( auth_req_id => $id ) : () ), @more );
}

# The auth_req_id of a request that is accepted.
sub id_of {
    my ( $stack, $who, @form ) = @_;
    my $answer = ask( $stack, $who, @form );
    return $answer->member('auth_req_id') // die 'no auth_req_id: ' . $answer->text;
}

sub told {
    my ( $stack, $idp ) = @_;
    my $peer = Authz::Peer->start;
    $peer->set( '/ciba' => { status => 201 } );
    my $url = $peer->url('/ciba');
    $stack->sql("UPDATE identity_provider SET backchannel_notification_endpoint = '$url' WHERE idp_id = '$idp'");
    return $peer;
}

# The Authorization header of the last message to the provider.
sub bearer { my ($peer) = @_; return ( $peer->requests('/ciba') )[-1]{headers}{authorization} }

sub inform {
    my ( $stack, $peer, $body, $bearer ) = @_;
    return $stack->http->post(
        "$stack->{path}/bc-authorize/callback", headers => [ Authorization => $bearer // bearer($peer) ],
        json => $body );
}

sub sign_in {
    my ( $stack, $subject, %option ) = @_;
    my $secret  = Authz::Grant::_random(32);
    my $hash    = Digest::SHA::sha256_hex($secret);
    my $amr     = $option{amr} ? Authz::Grant::quote( '{' . join( ',', @{ $option{amr} } ) . '}' ) : 'NULL';
    my $acr     = Authz::Grant::quote( $option{acr} );
    my $browser = Authz::Browser->new;
    $stack->sql(<<"SQL");
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, acr, amr, expires_at)
  SELECT '\\x$hash', '$hash', s.subject, p.id, now() - interval '10 seconds', $acr, $amr, now() + interval '10 minutes'
    FROM subject s JOIN identity_provider p ON p.issuer = s.issuer WHERE s.subject = '$subject'
SQL
    $browser->set_cookie( $stack->base, 'svc_sid=' . Authz::Grant::base64url($secret) . '; Path=/' );
    return $browser;
}

1;

package Demo::Client;

# The web client `demo-web` of the service: authorization code with PKCE, then what came of it: the claims of the ID token,
# /userinfo, and what an API is told about the access token (/introspect), as often as one asks. It answers with a page, or with
# JSON for Accept: application/json.

use strict;
use warnings;

use Digest::SHA  ();
use HTTP::Tiny   ();
use JSON::PP     ();
use MIME::Base64 ();

use Demo::Http     ();
use Demo::Page     ();
use Demo::Provider ();

use constant {
    ID              => 'demo-web', SCOPE => 'openid profile email orders.read', ASKED_SECONDS => 600,
    SESSION_SECONDS => 3600 };

my $json = JSON::PP->new->utf8->canonical;

sub new {
    my ( $class, %shared ) = @_;
    return bless {
        %shared, asked => {}, session => {}, back => "$shared{here}/client/callback",
        http => HTTP::Tiny->new( timeout => 10, max_redirect => 0, proxy => undef, http_proxy => undef ) }, $class;
}

# The secret comes when the service knows the client, which is after this program has started.
sub _basic {
    my ($self) = @_;
    my $secret = Demo::Provider::first_line("$self->{state}/client_secret");
    return 'Basic ' . MIME::Base64::encode_base64( ID . ':' . Demo::Http::encode($secret), '' );
}

# Send a form, or ask with a token; return the status and the JSON of the answer.
sub _ask {
    my ( $self, $path, %how ) = @_;
    my $form   = $how{form};
    my $answer = $self->{http}->request(
        $form ? 'POST' : 'GET',
        "$self->{service}$path",
        {   headers => {
                Accept => 'application/json',
                Authorization => $how{token} ? "Bearer $how{token}" : $self->_basic,
                $form ? ( 'Content-Type' => 'application/x-www-form-urlencoded' ) : () },
            $form ? ( content => Demo::Http::query(@$form) ) : () } );
    my $document = eval { $json->decode( $answer->{content} ) } // { error => "the answer of $path is not JSON" };
    return ( $answer->{status}, $document );
}

sub start {
    my ($self) = @_;
    return $self->{page}->html(
        'Demonstration client',
        "<p>A web application, registered as <code>@{[ID]}</code> at <code>$self->{service}</code>.</p>\n"
          . "<ul class=\"choices\">\n<li><a href=\"/client/login\">Sign in</a></li>\n</ul>\n" );
}

sub login {
    my ( $self, $request ) = @_;
    my $verifier = Demo::Provider::random() . Demo::Provider::random();
    my $nonce    = Demo::Provider::random();
    my $state    = Demo::Provider::keep( $self->{asked}, ASKED_SECONDS, { verifier => $verifier, nonce => $nonce } );
    my $query    = $request->{query};
    return $self->{page}->redirect(
        "$self->{service}/authorize?" . Demo::Http::query(
            response_type         => 'code', client_id => ID,     redirect_uri => $self->{back},
            scope                 => SCOPE,  state     => $state, nonce        => $nonce,
            code_challenge_method => 'S256',
            code_challenge        => Demo::Provider::base64url( Digest::SHA::sha256($verifier) ),
            idp_hint              => $query->{idp_hint}, prompt => $query->{prompt} ) );
}

sub callback {
    my ( $self, $request ) = @_;
    my $query = $request->{query};
    my $asked = Demo::Provider::take( $self->{asked}, $query->{state} )
      // return $self->{page}->refusal( 400, 'This application did not ask for this sign-in, or it was too long ago.' );
    return $self->_failed( $request, $query->{error}, $query->{error_description} ) if defined $query->{error};
    my ( $status, $tokens ) = $self->_ask(
        '/token',
        form => [
            grant_type    => 'authorization_code', code => $query->{code}, redirect_uri => $self->{back},
            code_verifier => $asked->{verifier} ] );
    return $self->_failed( $request, $tokens->{error}, $tokens->{error_description} ) if $status != 200;
    my $claims =
      $json->decode( MIME::Base64::decode_base64url( ( split /[.]/, $tokens->{id_token} // '' )[1] // 'e30' ) );
    return $self->_failed( $request, 'wrong nonce' ) if ( $claims->{nonce} // '' ) ne $asked->{nonce};
    my $session = Demo::Provider::keep( $self->{session}, SESSION_SECONDS, { tokens => $tokens, claims => $claims } );
    return $self->{page}->redirect("/client/tokens?session=$session");
}

sub _failed {
    my ( $self, $request, $error, $why ) = @_;
    $error //= 'no error code';
    return $self->{page}->json( { error => $error, error_description => $why }, 400 ) if _wants_json($request);
    my $shown = Demo::Page::escape( defined $why ? "$error: $why" : $error );
    return $self->{page}->html(
        'Not signed in',
        "<p>The service answered: <code>$shown</code></p>\n"
          . "<ul class=\"choices\"><li><a href=\"/client/login\">Try again</a></li></ul>\n", 400 );
}

sub _wants_json { my ($request) = @_; return ( $request->{header}{accept} // '' ) =~ m{\Aapplication/json} }

# What came of a sign-in, asked again each time.
sub tokens {
    my ( $self, $request ) = @_;
    my $session = $self->{session}{ $request->{query}{session} // '' };
    return $self->{page}->refusal( 400, 'This sign-in is over. Sign in again.' )
      if !$session || $session->{until} < time;
    my $token = $session->{tokens}{access_token};
    my ( undef, $userinfo ) = $self->_ask( '/userinfo', token => $token );
    my ( undef, $told )     = $self->_ask( '/introspect', form => [ token => $token ] );
    my %all = ( id_token_claims => $session->{claims}, userinfo => $userinfo, introspection => $told );
    return $self->{page}->json( \%all ) if _wants_json($request);
    return $self->{page}->html( 'You are signed in', _told( $request, \%all ) );
}

sub _told {
    my ( $request, $all ) = @_;
    my $again = "/client/tokens?session=$request->{query}{session}";
    my $name  = Demo::Page::escape( $all->{userinfo}{name} // $all->{id_token_claims}{sub} );
    my $live =
      $all->{introspection}{active}
      ? '<p>Policy has just decided that the access token is good.</p>'
      : '<p class="note">Policy has just denied the access token.</p>';
    return
        "<p>Hello <bdi>$name</bdi>.</p>\n$live\n<ul class=\"choices\">\n"
      . "<li><a href=\"$again\">Ask again, after a change of a rule</a></li>\n"
      . "<li><a href=\"/client/login?prompt=login\">Sign in as another person</a></li>\n</ul>\n"
      . join '', map { _section( $_, $all->{$_} ) } sort keys %$all;
}

sub _section {
    my ( $name, $document ) = @_;
    my $encode = JSON::PP->new->canonical->allow_nonref;
    my $rows   = join '', map {
        my $value = ref $document->{$_} ? $encode->encode( $document->{$_} ) : $document->{$_} // 'null';
        '<dt>' . Demo::Page::escape($_) . '</dt><dd><code>' . Demo::Page::escape($value) . "</code></dd>\n"
    } sort keys %$document;
    return '<h2>' . Demo::Page::escape( $name =~ tr/_/ /r ) . "</h2>\n<dl>\n$rows</dl>\n";
}

1;

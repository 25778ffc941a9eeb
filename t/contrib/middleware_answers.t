#!/usr/bin/perl
# contrib/middleware (doc/middleware.md): each package in front of an API, and a server in the place of authz, whose answers are good,
# odd or none; and proofs by keys of each kind. t/contrib/middleware.t runs the packages against the real service.
use strict;
use warnings;

use Compress::Zlib ();
use Test::More;

use Authz::Check  ();
use Authz::Client ();
use Authz::Dpop   ();
use Authz::Grant  ();
use Authz::Guarded;
use Authz::Peer ();
use Authz::Web  ();

my $guarded = Authz::Guarded->new;
my $url     = $guarded->{url};
my $peer    = Authz::Peer->start;
my @client  = ( 'api', 'secret-of-the-api' );
my $token   = 'a-token-of-authz';
my @bearer  = ( Authorization => "Bearer $token" );

# Answers of a server in the place of authz.
my $active = {
    active => Authz::Check::true(), token_type => 'Bearer', scope => 'orders.read', aud => $url, exp => time + 600,
    sub    => 'app', client_id => 'app' };
my $bomb   = Compress::Zlib::memGzip( '{"a":"' . '0' x 5_000_000 . '"}' );
my @answer = (
    [ 'as authz answers',      { body => $active },                                               200 ],
    [ 'active is no boolean',  { body => { %$active, active => 'true' } },                        qr/\A(?:401|503)\z/ ],
    [ 'the token has ended',   { body => { %$active, exp => time - 1 } },                         401 ],
    [ 'the token has no end',  { body => { %$active, exp => undef } },                            401 ],
    [ 'a key without a name',  { body => { %$active, cnf => {} } },                               401 ],
    [ 'a list of obligations', { body => { %$active, obligations => ['x'] } },                    qr/\A(?:403|503)\z/ ],
    [ 'a cache by a text',     { body => { %$active, extensions => { cache_seconds => '30' } } }, 200 ],
    [ 'an array',              { body => [1] },                                                   503 ],
    [ 'null',                  { body => 'null' },                                                qr/\A(?:401|503)\z/ ],
    [ 'no JSON',               { body => 'active' },                                              503 ],
    [ 'what begins as JSON',   { body => '{"active":true,top-secret' },                           503 ],
    [ 'a page',                { body => '<p>top-secret', type => 'text/html' },                  503 ],
    [ 'no HTTP',               { raw  => "top-secret\r\n\r\n" },                                  503 ],
    [ 'brackets without end',  { body => '[' x 200_000 },                                         503 ],
    [ 'few octets that unpack to many', { body   => $bomb,   headers  => [ 'Content-Encoding' => 'gzip' ] }, 503 ],
    [ 'the API has no right',           { status => 403,     body     => $active },                          503 ],
    [ 'the secret is wrong',            { status => 401,     body     => $active },                          503 ],
    [ 'elsewhere',                      { status => 307,     headers  => [ Location => '/good' ] },          503 ],
    [ 'too many octets',                { body   => $active, pad      => 300 * 1024 },                       503 ],
    [ 'the answer breaks off',          { body   => $active, truncate => 20 },                               503 ],
    [ 'no answer',                      { reset => 1 }, 503 ],
);

# Proofs by keys of each kind, of a token that is bound to them; and each with another signature.
sub algorithms {
    my (@asked) = @_;
    for my $kind ( 'P-256', 'P-384', 'Ed25519', 'RSA', 'PSS', 'RSA-1024' ) {
        my $by = Authz::Dpop->new($kind);
        $peer->set( '/introspect' => { body => { %$active, token_type => 'DPoP', cnf => { jkt => $by->jkt } } } );
        for my $way (@asked) {
            my ( $good, $bad ) = map { $guarded->proof( $token, '/away/orders', by => $by ) } 1, 2;
            $bad =~ s/\.(.)([^.]*)\z/'.' . ( $1 eq 'A' ? 'B' : 'A' ) . $2/e;
            my ( $passes, $fails ) =
              map { ask( $way, GET => '/away/orders', Authorization => "DPoP $token", DPoP => $_ )->status }
              ( $good, $bad );
            is( $passes, $kind eq 'RSA-1024' ? 401 : 200, "$way->{name}: a proof by a key of $kind" );
            is( $fails,  401,                             '... with another signature' );
        }
    }
    return;
}

sub away {
    my (@asked) = @_;
    $peer->set( '/good' => { body => $active } );
    for my $answer (@answer) {
        my ( $what, $said, $status ) = @$answer;
        $peer->set( '/introspect' => $said );
        status_is(
            ask( $_, GET => '/away/orders', @bearer ), $status,
            "$_->{name}: authz says: $what" ) for @asked;
    }
    algorithms(@asked);
    is( $peer->hits('/good'), 0, 'no package follows a redirect with the token' );
    my ($question) = $peer->requests('/introspect');
    my %form       = map { split /=/, $_, 2 } split /&/, $question->{body} // '';
    is( $form{token}, $token, 'the question has the token' );
    is( Authz::Grant::base64url( $question->{headers}{authorization} ),
        Authz::Grant::base64url( ( Authz::Client::basic(@client) )[1] ), '... and the credential of the API' );
    return;
}

# Each refusal: what authz says, the header fields, the status and error code; the cause, which the caller gets too; the cure.
my %key  = ( token_type => 'DPoP', cnf => { jkt => $guarded->{key}->jkt } );
my $dpop = sub {
    ( Authorization => "DPoP $token", map { ( DPoP => $_ ) } @_ )
};
my $other   = "its client must name the API by resource ($url)";
my $proof   = $guarded->proof( $token, '/away/orders' );
my @refusal = (
    [ {}, [],                                '401 unauthorized',  'a token is needed',          'send one' ],
    [ {}, [ @bearer, @bearer ],              '40[01] invalid_',   'the (?:token|credential) ',  'send ' ],
    [ {}, [ Authorization => 'Basic YTpi' ], '401 invalid_token', 'the credential is no token', 'send Bearer or DPoP' ],
    [   { active => Authz::Check::false() }, \@bearer, '401 invalid_token', 'the token is not active',
        'unknown, ended, revoked or denied' ],
    [ { aud => 'https://other.example' }, \@bearer, '401 invalid_token', 'the token is not for this API', $other ],
    [ { aud => undef },                   \@bearer, '401 invalid_token', 'the token is not for this API', $other ],
    [   { token_type => undef }, \@bearer, '401 invalid_token', 'the token is not for this scheme',
        'with a key use DPoP' ],
    [ {%key}, \@bearer, '401 invalid_token', 'the token is not for this scheme', 'with a key use DPoP' ],
    [   {%key}, [ $dpop->() ], '401 invalid_dpop_proof', 'the proof is not good for this request',
        'look at key, htm, htu' ],
    [ {%key}, [ $dpop->($proof) ], undef ],
    [ {%key}, [ $dpop->($proof) ], '401 invalid_dpop_proof', 'the proof was used before', 'make one for each request' ],
    [   { scope => 'orders.write' }, \@bearer, '403 insufficient_scope', 'the token lacks a scope',
        'ask for it, and permit it in the binding (orders.read)' ],
    [   { obligations => { redact => {} } }, \@bearer, '403 access_denied',
        'policy demands what this API does not say it does', 'see obligations' ],
);

sub says_why {
    my ($way) = @_;
    for my $case (@refusal) {
        my ( $said, $field, $refused, $cause, $cure ) = @$case;
        $peer->set( '/introspect' => { body => { %$active, %$said } } );
        my $answer = ask( $way, GET => '/away/orders', @$field );
        if ( !$refused ) { status_is( $answer, 200, "$way->{name}: a proof counts" ); next }
        my ( $status, $code ) = split / /, $refused;
        my $name = "$way->{name}: $refused: $cause";
        status_is( $answer, qr/\A$status\z/, $name );
        like( $answer->member('error')             // '', qr/\A$code/,  '... the answer has the code' );
        like( $answer->member('error_description') // '', qr/\A$cause/, '... and the cause' );
        my $challenge = join "\n", $answer->headers('WWW-Authenticate');
        my $told      = $code !~ /\A(?:unauthorized|access_denied)/;
        is( $challenge =~ /error_description="$cause/ ? 1 : '', $told, '... the challenge too, if it has an error' )
          or diag $challenge;
        like(
            $way->{process}->log_text, qr/authz: $status $code\w*: $cause[^:\n]*: \Q$cure\E/,
            '... and the log has cause and cure' );
    }
    return;
}

# Nobody listens at the address of authz itself.
my @package =
  $guarded->start( { issuer => 'http://127.0.0.1:' . Authz::Web::free_port(), client => \@client, peer => $peer } );

# Each octet comes in time, all of them do not: the limit is one for the whole answer.
$peer->set( '/introspect' => { body => $active, drip => 0.4 } );
my @slow =
  map { [ $_, $_->{http}->begin( $_->{http}->octets( GET => '/away/orders', headers => \@bearer ) ) ] } @package;
is( $_->[0]{http}->end( $_->[1], 'GET' )->status, 503, "$_->[0]{name}: an answer that takes too long" ) for @slow;
away(@package);
says_why($_) for @package;
status_is(
    ask( $_, GET => '/shop/orders', @bearer ),
    503, "$_->{name}: nobody listens: 503, never a pass" ) for @package;
logs_no( $_, $client[1], 'top-secret', $token ) for @package;

done_testing;

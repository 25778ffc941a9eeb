# Other JWTs of a trusted issuer do not register clients (decisions.md "Kinds of statement"; RFC 8725 3.12). The
# same keys sign them, so only what they say tells them apart.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $issuer = Authz::Idp->start;
my $stack  = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $iss    = $issuer->issuer;
my $trust  = 'svc.operator.controls.trust';
my $typ    = 'software-statement+jwt';

sub trust { return $stack->patch_row( $trust, { statement_issuers => [@_] } ) }

# A token of the issuer; typ undef: none.
sub token {
    my ( $typ, %claim ) = @_;
    return $issuer->id_token( { iss => $iss, iat => int time, %claim }, header => { typ => $typ } );
}

# Each from another address: the log has a limited number of such lines for each address and minute.
sub register {
    my ($jwt) = @_;
    our $senders++;
    return Authz::Client->new( port => $stack->{port}, from => '127.0.1.' . ( 1 + $senders % 200 ) )->post(
        '/register',
        json => { redirect_uris => ['https://app.example/cb'], software_statement => $jwt } );
}
sub count { return $stack->sql('SELECT count(*) FROM client') + 0 }

sub taken {
    my ( $jwt, $name ) = @_;
    my $answer = register($jwt);
    is( $answer->status, 201, "taken: $name" ) or diag( $answer->text );
    return;
}

# Refused with invalid_software_statement; the log says why and whose it is; nothing is stored.
sub refused {
    my ( $jwt, $why, $name ) = @_;
    my $before = count();
    my $answer = register($jwt);
    oauth_error( $answer, 400, 'invalid_software_statement', "refused: $name" );
    like( $stack->log_line($answer), qr/statement of \Q$iss\E: .*$why/, '... the log says why' );
    is( count(), $before, '... and no client is made' );
    return;
}

my @exp = ( exp => time + 600 );
my @id  = ( sub => 'ann', aud => 'app', @exp );
my @m2m =
  ( sub => 'svc-1', client_id => 'svc-1', aud => 'https://api.example', scope => 'orders.read', jti => 'j1', @exp );
my @own     = ( software_id => 'crm' );
my $no_mark = 'neither software_id nor typ';
trust($iss);

# ---- tokens of other kinds

refused( token( 'JWT', @id ), $no_mark, 'an ID token with the five claims that it must have (OpenID Connect Core 2)' );
refused( token( undef, @id ), $no_mark, '... without typ' );
refused( token( 'JWT', sub => 'ann', aud => $stack->base, @exp ), $no_mark, '... for this service' );
refused( token( 'at+jwt', @m2m ),             'the typ in its header', 'an access token (RFC 9068 2.1)' );
refused( token( 'application/at+jwt', @m2m ), 'the typ in its header', '... with application/' );
refused( token( 'at+jwt', @m2m, @own ),       'the typ in its header', '... that has a software_id' );
refused( token( undef, @m2m ),                $no_mark,                'an access token of a service without typ' );
refused( token( 'JWT', @m2m ),                $no_mark,                '... with typ JWT' );
refused( token( 'JWT', client_id => 'svc-1', @exp ), $no_mark,         '... without sub and aud' );
refused( token( 'JWT', @id, @own ), 'sub is not its software_id',      'an ID token that has a software_id' );
refused(
    token( 'JWT', @m2m, @own ), 'sub is not its software_id',
    'an access token without typ that has a software_id' );
refused(
    token( 'JWT', @own, aud => 'https://api.example' ),
    'aud does not name this service', '... that has no sub' );
refused( token( $typ, @own, nonce => 'x' ), 'it has the claim nonce', 'the right typ beside a nonce' );

# ---- statements, to the boundary

taken( token( undef, @own ),                                   'software_id without typ' );
taken( token( 'JWT', @own ),                                   'software_id with typ JWT' );
taken( token($typ),                                            "typ $typ without software_id" );
taken( token("application/$typ"),                              '... with application/ (RFC 7515 4.1.9)' );
taken( token( 'JWT', @own, sub => 'crm' ),                     'sub is the software_id' );
taken( token( 'JWT', @own, aud => $stack->base ),              'aud is our issuer' );
taken( token( 'JWT', @own, aud => [ 'x', $stack->base ] ),     'aud names us beside others' );
taken( token( $typ, @own, sub => 'crm', aud => $stack->base ), 'all of it' );
refused( token( 'JWT', software_id => '' ),    $no_mark,                     'an empty software_id' );
refused( token( 'JWT', software_id => 5 ),     $no_mark,                     'a software_id that is a number' );
refused( token( 'JWT', software_id => undef ), $no_mark,                     '... that is null' );
refused( token( 'JWT', @own, sub => 'crm2' ),  'sub is not its software_id', 'sub is another software' );
refused( token( $typ, sub => 'crm' ),          'sub is not its software_id', 'sub where there is no software_id' );
refused( token( $typ, @own, sub => 'ann' ),    'sub is not its software_id', "sub is a user, typ is $typ" );
refused( token( $typ, aud => 'https://api.example' ), 'aud does not name this service', "aud is another, typ is $typ" );
refused( token( 'JWT', @own, aud => [ 'x', 'y' ] ),   'aud does not name this service', 'aud names two others' );
refused(
    token( 'JWT', @own, aud => $stack->base . '/' ), 'aud does not name this service',
    'aud is our issuer with a slash more' );

# ---- an entry that lists audiences

trust( { issuer => $iss, audiences => [ 'us', 'them' ] } );
taken( token( 'JWT', @own, aud => 'us' ),               'audiences: one that is listed' );
taken( token( 'JWT', @own, aud => [ 'x', 'them' ] ),    'audiences: one of several is listed' );
taken( token( 'JWT', @own, aud => 'us', sub => 'ann' ), 'audiences: sub is free, because the audience tells' );
taken( token( $typ, aud => 'us' ),                      "audiences: typ $typ without software_id" );
refused( token( 'JWT', sub => 'ann', aud => 'us', @exp ), $no_mark,     'audiences: an ID token for one of them' );
refused( token( 'at+jwt', @own, aud => 'us' ), 'the typ in its header', 'audiences: an access token for one of them' );
refused( token( 'JWT', @own, aud => 'x' ),     'names none of the audiences', 'audiences: another audience' );
refused( token( 'JWT', @own ),                 'names none of the audiences', 'audiences: none' );
refused(
    token( 'JWT', @own, aud => $stack->base ), 'names none of the audiences',
    'audiences: ours, which is not listed' );
trust( { issuer => $iss, audiences => [] } );
refused( token( 'JWT', @own ), 'names none of the audiences', 'an empty list of audiences allows none' );
refused( token( 'JWT', @own, sub => 'ann' ), 'names none of the audiences', '... and frees no sub' );
trust( { issuer => $iss } );
taken( token( 'JWT', @own ), 'an entry without audiences is like the address alone' );
refused( token( 'JWT', @own, sub => 'ann' ), 'sub is not its software_id', '... for sub as well' );

# ---- without verification the same tokens are refused

$stack->restart_service( settings => { SVC_SOFTWARE_STATEMENT_VERIFY => 'false' } );
refused( token( 'JWT',    @id ),  $no_mark,                'not verified: an ID token' );
refused( token( 'at+jwt', @m2m ), 'the typ in its header', 'not verified: an access token' );
refused( token( undef,    @m2m ), $no_mark,                'not verified: an access token without typ' );
refused( token( 'JWT', @own, sub => 'ann' ), 'sub is not its software_id', 'not verified: sub of a user' );
taken( token( 'JWT', @own ), 'not verified: a statement' );

done_testing;

# Policy's answer to a registration is checked against the question: it can only narrow (decisions.md "Register document";
# policy.md 6.2). An answer that makes no sense registers no client, and is not a deny either.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Stack ();

my $stack = Authz::Stack->start( fake_opa => 1 );

sub register {
    my (%member) = @_;
    return $stack->http->post(
        '/register',
        json => {
            redirect_uris => ['https://app.example/cb'],             scope => 'a b',
            grant_types   => [qw(authorization_code refresh_token)], %member } );
}
sub sql { return $stack->sql( $_[0] ) =~ s{\n\z}{}r =~ tr/\t/|/r }

sub told {
    my ( $order, @member ) = @_;
    $stack->fake->tell(@$order);
    my $answer = register(@member);
    $stack->fake->tell('pass');
    return $answer;
}

is( register()->status, 201, 'the real answer registers' );
my $clients     = sql('SELECT count(*) FROM client');
my $unavailable = sub {
    my ( $name, @order ) = @_;
    oauth_error( told( \@order ), 503, 'temporarily_unavailable', $name );
    is( sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'error',
        '... audited as an error' );
    my $shown = decode_packed(
        sql(q{SELECT policy_decision FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}) );
    ok( !exists $shown->{allow} && length $shown->{error}, '... which no reader takes for a decision' );
    return;
};
$unavailable->(
    'a grant type that was not asked for',
    set => { 'result.grant_types' => [qw(authorization_code client_credentials)] } );
$unavailable->( 'grant types that are no array',      set  => { 'result.grant_types'    => 'authorization_code' } );
$unavailable->( 'grant types that are no strings',    set  => { 'result.grant_types'    => [1] } );
$unavailable->( 'a scope that was not asked for',     set  => { 'result.scopes'         => [qw(a c)] } );
$unavailable->( 'scopes that are no array',           set  => { 'result.scopes'         => 'a' } );
$unavailable->( 'resource types that are no strings', set  => { 'result.resource_types' => [ {} ] } );
$unavailable->( 'allow that is no boolean',           set  => { 'result.allow'          => 'true' } );
$unavailable->( 'no allow',                           drop => ['result.allow'] );
$unavailable->( 'no answer at all',                   drop => ['result'] );
oauth_error( told( ['close'] ), 503, 'temporarily_unavailable', 'an engine that hangs up' );
oauth_error(
    told( [ set => { 'provenance.bundles.svc.revision' => 'never-heard-of' } ] ), 503,
    'temporarily_unavailable',                                                    'a revision that may not decide' );
is( sql('SELECT count(*) FROM client'), $clients, 'none of them registers a client' );

my $cut = told( [ set => { 'result.grant_types' => ['authorization_code'], 'result.scopes' => ['b'] } ] );
is( $cut->status, 201, 'an answer that narrows registers' );
members_are(
    $cut->json, { grant_types => ['authorization_code'], scope => 'b' },
    'and what is left is what is registered and told' );
is( sql( "SELECT scope, grant_types FROM client WHERE client_id = '" . $cut->member('client_id') . "'" ),
    'b|{authorization_code}', 'and stored' );
members_are(
    told( [ set => { 'result.grant_types' => ['refresh_token'] } ] )->json,
    { grant_types => ['refresh_token'], response_types => [] }, 'without authorization_code there is no response' );
oauth_error(
    told( [ set => { 'result.grant_types' => [] } ] ), 400, 'invalid_client_metadata',
    'an allow without grant types registers no client' );
oauth_error(
    told( [ drop => ['result.grant_types'] ] ), 400, 'invalid_client_metadata',
    'an absent list is an empty one' );
oauth_error(
    told( [ set => { 'result.scopes' => [] } ] ), 400, 'invalid_client_metadata',
    'an allow that grants none of the scopes registers no client: a client without scope has no ceiling' );
is( sql(q{SELECT outcome FROM audit_log WHERE endpoint = '/register' ORDER BY id DESC LIMIT 1}), 'denied',
    'audited as a deny' );
members_are(
    told( [ set => { 'result.scopes' => [qw(x y)] } ], scope => undef )->json, { scope => 'x y' },
    'without a scope asked for any may be given (policy.md 6.5)' );
members_are( told( [ set => { 'result.scopes' => [] } ], scope => undef )->json, { scope => undef }, 'also none' );
oauth_error(
    told( [ set => { 'result.scopes' => ["a\x{e4}"] } ], scope => undef ), 503, 'temporarily_unavailable',
    'a scope that RFC 6749 3.3 does not know is no scope' );

for my $case (
    [ [ 'grant_type_not_allowed', 'registration_disabled' ], 403, 'access_denied' ],
    [ ['redirect_uri_not_allowed'],                          400, 'invalid_redirect_uri' ],
    [ ['issuer_not_trusted'],                                400, 'unapproved_software_statement' ],
    [ ['statement_not_trusted'],                             400, 'unapproved_software_statement' ],
    [ ['statement_missing'], 400, 'invalid_client_metadata' ], [ ['anything'], 400, 'invalid_client_metadata' ],
    [ [],                    400, 'invalid_client_metadata' ] )
{
    my ( $codes, $status, $error ) = @$case;
    my $answer = told(
        [   set => {
                'result.allow'        => false,
                'result.deny_reasons' => [
                    map { { code => $_, category => 'registration', control => 'x', message => "because of $_" } }
                      @$codes ] } ] );
    oauth_error( $answer, $status, $error, "denied for (@$codes): $status $error (policy.md 6.5)" );
    is( $answer->member('error_description'), "because of $codes->[-1]", '... in the words of that reason' ) if @$codes;
}

done_testing;

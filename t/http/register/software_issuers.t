# Software bindings and the issuers of statements: what may be saved, and what a client has by its statement while the issuer is
# trusted (decisions.md "Software bindings", "Statement trust").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Idp    ();
use Authz::Policy ();
use Authz::Stack  ();

my ( $one, $two ) = map { Authz::Idp->start } 1 .. 2;
my $stack    = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $policy   = Authz::Policy->new($stack);
my $bindings = 'svc.entitlements.bindings';
my $trust    = 'svc.operator.controls.trust';
my $rule     = 'decisions.md "Software bindings"';
my $now      = 'decisions.md "Statement trust"';
my @issuer   = map { $_->issuer } $one, $two;
my %crm      = (
    grants    => [qw(client_credentials authorization_code refresh_token)],
    endpoints => ['introspect'], scopes => ['orders.read'] );

sub by_key   { my ($key) = @_; return "/admin/api/policy-data/by-key?dataKey=$key" }
sub patch    { my ( $key, $change ) = @_; return $stack->admin( PATCH => by_key($key), json => $change ) }
sub issuers  { return { statement_issuers => [@_] } }
sub trusts   { return $stack->patch_row( $trust, issuers(@_) ) }
sub software { my (%binding) = @_; return { software => \%binding } }
sub payload  { my ($key)     = @_; return $stack->sql("SELECT payload FROM policy_data WHERE data_key = '$key'") }

# 422 with {dataKey, failures}, as for a schema (specification 7.2).
sub refused {
    my ( $answer, $key, $path, $message, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $body = $answer->json // {};
    my @said = map {"$_->{path}: $_->{message}"} @{ $body->{failures} // [] };
    return ok(
             $answer->status == 422
          && ( $body->{dataKey} // '' ) eq $key
          && @said == 1
          && $said[0] =~ /\A\Q$path\E: $message/,
        $name ) || diag( $answer->text );
}

# ---- saves

my $unnamed = qr/the software binding crm must name its issuers/;
my $several = qr/.*the software binding crm names no issuers\z/;
trusts( $issuer[0] );
$stack->patch_row( $bindings, software( crm => \%crm ) );
pass("a binding without issuers is saved while one issuer is trusted ($rule)");
my $before = payload($trust);
for my $second ( $issuer[1], { issuer => $issuer[1], audiences => ['x'] }, $stack->base ) {
    my $how = ref $second ? 'an object' : $second eq $stack->base ? 'the service itself' : 'an address';
    refused(
        patch( $trust, issuers( $issuer[0], $second ) ), $trust, '/statement_issuers', $several,
        "a second issuer is refused while such a binding exists: $how ($rule)" );
}
is( payload($trust), $before, '... and nothing is stored' );
trusts( $issuer[0], { issuer => $issuer[0] } );
pass('an issuer that is listed twice is one');
trusts( $issuer[0] );
$stack->patch_row( $bindings, software( crm => { issuers => [ $issuer[0] ] } ) );
trusts(@issuer);
pass("a binding that names its issuers lets several be trusted ($rule)");
refused(
    patch( $bindings, software( crm => { issuers => undef } ) ), $bindings, '/software/crm', $unnamed,
    "a binding loses its issuers: refused while several are trusted ($rule)" );
refused(
    patch( $bindings, software( 'a/b~c' => {} ) ), $bindings, '/software/a~1b~0c', qr{.*a/b~c must name},
    "a new binding without issuers: refused; the path is a JSON Pointer ($rule)" );
my $text = JSON::PP::encode_json( software( crm => {} ) );
refused(
    $stack->admin( PUT => by_key($bindings), json => { dataKey => $bindings, payload => $text } ),
    $bindings, '/software/crm', $unnamed, "PUT: the same ($rule)" );
is( patch( $bindings, software( crm => { issuers => [] } ) )->status, 422,
    'an empty list of issuers breaks the schema' );
is( patch( $bindings, { clients => { x => { issuers => [ $issuer[0] ] } } } )->status, 422,
    'issuers in a binding of a client break the schema: they would restrict nothing' );

my $file = $stack->{dir} . '/bindings.json';
open my $out, '>', $file or die "$file: $!";
print {$out} $text;
close $out or die "$file: $!";
my ( $status, $said ) = $stack->authzctl( qw(policy data set), $bindings, $file );
isnt( $status, 0, 'authzctl policy data set fails' );
like( $said, qr/software binding crm must name its issuers/, "... and names the binding ($rule)" );

# ---- deploys: the result is judged, not the entries one by one

my %with    = ( software => { crm => { %crm, issuers => [ $issuer[0] ] } } );
my %without = ( software => { crm => {%crm} } );
my $alone   = $policy->deploy( data => { $bindings => {%without}, $trust => issuers( $issuer[0] ) } );
is( $alone->status, 200, "deploy: both rows may change at once, to one issuer ($rule)" ) || diag( $alone->text );
my $both = $policy->deploy( data => { $bindings => {%with}, $trust => issuers(@issuer) } );
is( $both->status, 200, "deploy: ... and to several ($rule)" ) || diag( $both->text );
for my $mode (qw(merge replace dry-run)) {
    refused(
        $policy->deploy( mode => $mode, data => { $bindings => {%without} } ), $bindings, '/software/crm', $unnamed,
        "deploy $mode: a binding without issuers is refused ($rule)" );
    refused(
        $policy->deploy( mode => $mode, data => { $bindings => {%without}, $trust => issuers(@issuer) } ),
        $bindings, '/software/crm', $unnamed, "deploy $mode: also with both rows ($rule)" );
}
is( $policy->deploy( data => { $bindings => {%without}, $trust => issuers( $issuer[0] ) } )->status, 200,
    'deploy: back' );
refused(
    $policy->deploy( data => { $trust => issuers(@issuer) } ), $trust, '/statement_issuers', $several,
    "deploy: a second issuer is refused ($rule)" );

# ---- what a client has by its statement

sub statement {
    my ($publisher) = @_;
    return $publisher->id_token( { iss => $publisher->issuer, iat => int time, software_id => 'crm' } );
}

sub register {
    my ($jwt) = @_;
    my $answer = $stack->http->post(
        '/register',
        json => {
            redirect_uris => [$Authz::Grant::REDIRECT], software_statement => $jwt,
            grant_types   => [qw(authorization_code refresh_token)] } );
    die $answer->text if $answer->status != 201;
    my $id = $answer->member('client_id');

    # /token looks at the registered grants of the row; the statement names none.
    $stack->sql("UPDATE client SET grant_types = NULL WHERE client_id = '$id'");
    return ( $id, $answer->member('client_secret') );
}

sub family {
    my ($who) = @_;
    my $code = Authz::Grant->code( $stack, client => $who->[0], scope => 'orders.read' );
    return Authz::Grant->redeem( $stack, $who, $code );
}

sub issue  { return $stack->token( @_, scope => 'orders.read' ) }
sub denied { my ( $answer, $name ) = @_; return oauth_error( $answer, 400, 'unauthorized_client', $name ) }

# Everything that a client does by its binding, done or refused.
sub has_all {
    my ( $who, $family, $when ) = @_;
    oauth_ok( $stack->token( @$who, scope => 'orders.read' ), { scope => 'orders.read' }, "$when: a token is issued" );
    oauth_ok( Authz::Grant->refresh( $stack, $who, $family->[0] ), { scope => 'orders.read' }, "$when: a refresh" );
    oauth_ok(
        $stack->introspect( @$who, $family->[1] ), { active => true(), scope => 'orders.read' },
        "$when: introspection" );
    return;
}

sub has_nothing {
    my ( $who, $family, $when ) = @_;
    denied( $stack->token( @$who, scope => 'orders.read' ),      "$when: no token is issued ($now)" );
    denied( Authz::Grant->refresh( $stack, $who, $family->[0] ), "$when: no refresh ($now)" );
    oauth_error(
        $stack->introspect( @$who, $family->[1] ), 403, 'access_denied',
        "$when: it may not introspect ($now)" );
    for my $token (@$family) {
        my $as = $token =~ /\Art_/ ? 'invalid_token' : 'policy_denied';
        oauth_ok(
            $stack->introspect( our @watcher, $token ), { active => sub { !$_[0] }, inactive_reason => $as },
            "$when: its tokens are inactive ($now)" );
    }
    return;
}

Authz::Grant->people($stack);
our @watcher = $stack->make_client( 'watcher', { endpoints => ['introspect'] } );
my @first  = register( statement($one) );
my $answer = family( \@first );
my @tokens = map { $answer->member($_) } qw(refresh_token access_token);
has_all( \@first, \@tokens, 'one issuer' );

$policy->deploy( data =>
      { $bindings => { %with, clients => { watcher => { endpoints => ['introspect'] } } }, $trust => issuers(@issuer) }
);
my @second = register( statement($two) );
has_all( \@first, \@tokens, 'two issuers, and the binding names the first' );
denied( issue(@second), "the software_id that another trusted issuer claims gives nothing ($rule)" );
oauth_error( $stack->introspect( @second, $tokens[1] ), 403, 'access_denied', "... nor lets it introspect ($rule)" );

trusts( $issuer[1] );
has_nothing( \@first, \@tokens, 'the issuer is removed' );
trusts(@issuer);
has_all( \@first, \@tokens, 'the issuer is back' );

# ---- bindings of all clients with a statement

$stack->patch_row( $bindings, { software => { crm => undef }, registrations => { STATEMENT => \%crm } } );
has_all( \@first, \@tokens, 'STATEMENT' );
oauth_ok( issue(@second), {}, 'STATEMENT: the client of the other issuer too' );
trusts( $issuer[1] );
has_nothing( \@first, \@tokens, 'STATEMENT, the issuer is removed' );
oauth_ok( issue(@second), {}, '... the client of the other issuer keeps it' );

# ---- statements of the service itself: their issuer is always trusted, and counts only if it is listed

my $own = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'maker', clientType => 'public', softwareStatement => { software_id => 'crm' } } );
my @ours = register( $own->member('issuedSoftwareStatementJwt') );
oauth_ok( issue(@ours), {}, "STATEMENT: a statement of the service itself needs no entry ($now)" );
$stack->patch_row( $bindings, { software => { crm => \%crm }, registrations => { STATEMENT => undef } } );
oauth_ok( issue(@ours), {}, 'software: without issuers it applies beside one listed issuer' );
$stack->patch_row( $bindings, software( crm => { issuers => [ $issuer[1] ] } ) );
denied( issue(@ours), 'software: ... and not if the binding names another' );
$stack->patch_row( $bindings, software( crm => { issuers => [ $stack->base ] } ) );
oauth_ok( issue(@ours), {}, 'software: ... and if it names the service' );
denied( issue(@second), 'software: ... which the other issuer cannot claim' );

# ---- rows that were saved before there was this check

$stack->patch_row( $bindings, software( crm => { issuers => undef } ) );
$stack->sql(
    "UPDATE policy_data SET payload = '" . JSON::PP::encode_json( issuers(@issuer) ) . "' WHERE data_key = '$trust'" );
is( patch( 'svc.operator.controls.lifetime', { max_ttl => 600 } )->status, 200, 'saves of other rows go on' );
is( $policy->agree,                                                        '',  'the engine has them' );
denied( issue( $_->@* ), "a binding without issuers gives nothing while several are trusted ($rule)" )
  for \@first, \@second, \@ours;
trusts( $issuer[0] );
oauth_ok( issue(@first), {}, '... and applies again with one' );

done_testing;

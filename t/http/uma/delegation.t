# Delegations (specification 2.15, 4.10 and 5; oauth.md "Delegation object"; decisions.md "UMA and delegation").
use strict;
use warnings;

use JSON::PP ();
use POSIX    qw(strftime);
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my %may   = (
    grants => [ 'client_credentials', 'authorization_code' ],
    scopes => [qw(uma_protection delegation_management orders.read openid)] );
my @drive = $stack->make_client( 'drive', {%may} );
my @photo = $stack->make_client( 'photo', {%may} );
my @agent = $stack->make_client( 'agent', {%may} );
my @rs    = $stack->make_client( 'rs',    { endpoints => ['introspect'] } );
Authz::Grant->people($stack);
Authz::Grant->people( $stack, subject => 'bob' );
my %key   = map { $_ => $stack->sql("SELECT id FROM client WHERE client_id = '$_'") } qw(drive photo agent);
my $both  = 'uma_protection delegation_management';
my $where = '/delegation';

sub of_person {
    my ( $client, $who, $scope ) = @_;
    my $code = Authz::Grant->code( $stack, client => $client->[0], subject => $who, scope => $scope // $both );
    return Authz::Grant->redeem( $stack, $client, $code )->member('access_token') // die 'no token';
}

sub ask {
    my ( $token, $method, $path, $body ) = @_;
    return $stack->http->request(
        $method, $path,
        headers => [ defined $token ? Authz::Client::bearer($token) : () ],
        defined $body ? ( json => $body ) : () );
}

sub register {
    my ( $token, @scope ) = @_;
    return ask(
        $token, POST => '/resource_registration/resource',
        { resource_scopes => [@scope], type => 'urn:t:album' } )->member('_id') // die 'not registered';
}

sub at { my ($seconds) = @_; return strftime( '%Y-%m-%dT%H:%M:%SZ', gmtime( time + $seconds ) ) }

my $drive = $stack->token_text( @drive, scope => $both );
my $photo = $stack->token_text( @photo, scope => $both );
my $alice = of_person( \@drive, 'alice' );
my $thing = register( $drive, qw(view edit) );
my $hers  = register( $alice, qw(read) );
my %to_agent =
  ( grantee_type => 'client', grantee_client_id => $key{agent} + 0, resource_id => $thing, scopes => ['view'] );
my %to_bob = ( grantee_type => 'subject', grantee_subject_id => 'bob', resource_id => $thing, scopes => ['view'] );

sub delegate {
    my ( $token, %member ) = @_;
    my $answer = ask( $token, POST => $where, {%member} );
    return $answer->member('delegation_id') // die 'not delegated: ' . $answer->text;
}

# The newest audit row of an operation. That of a read is written after the answer.
sub audited {
    my ( $row, $name ) = @_;
    my ($operation) = $row =~ /\A(\w+)/;
    my ( $until, $have ) = time + 30;
    do {
        $have = $stack->sql(
            "SELECT operation, client_id, subject_id, outcome, http_status FROM audit_log WHERE operation = '$operation' ORDER BY id DESC LIMIT 1"
        );
    } while $have ne $row && time < $until;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return is( $have, $row, $name );
}

# ---- a new delegation

my $end    = at(3600);
my $answer = ask( $drive, POST => $where, { %to_agent, expires_at => $end, scopes => [ 'view', 'view' ], more => 1 } );
is( $answer->status, 201, 'POST: 201 (specification 4.10); unknown members are ignored' ) or diag( $answer->text );
is_deeply( [ keys %{ $answer->json } ], ['delegation_id'], '... with delegation_id alone' );
audited( "createDelegation\tdrive\tdrive\tallowed\t201", '... and an audit row (decisions.md "Audited")' );
like(
    $stack->sql('SELECT request_summary FROM audit_log WHERE request_summary IS NOT NULL ORDER BY id DESC LIMIT 1'),
    qr/"resource_id":"$thing".*"view".*"grantee_client_id":$key{agent}/,
    '... that tells what was delegated' );
my $first = $answer->member('delegation_id');
my %shown = (
    delegation_id => $first, grantor_subject_id => 'drive', grantor_client_id  => $key{drive}, grantee_type => 'client',
    grantee_client_id => $key{agent}, grantee_subject_id => undef, resource_id => $thing,      status       => 'active',
    scopes            => sub { "@{ $_[0] }" eq 'view' },
    expires_at        => $end =~ s/Z\z/.000Z/r,
    created_at        => qr/\A\d{4}-\d\d-\d\dT[\d:]{8}\.\d{3}Z\z/,
    updated_at        => qr/Z\z/, revoked_at => undef );
oauth_ok(
    ask( $drive, GET => "$where/$first" ), \%shown,
    'GET: every member of the object (oauth.md "Delegation object")' );
my $text_id = delegate( $drive, %to_agent, grantee_client_id => "$key{agent}" );
is( ask( $drive, GET => "$where/$text_id" )->member('grantee_client_id'),
    $key{agent}, 'grantee_client_id may be the decimal text (decisions.md "grantee_client_id")' );
my $to_bob = delegate( $drive, %to_bob, scopes => undef, grantee_client_id => undef );
oauth_ok(
    ask( $drive, GET => "$where/$to_bob" ),
    { grantee_type => 'subject', grantee_subject_id => 'bob', grantee_client_id => undef, expires_at => undef },
    'a delegation to a person, without an end; null counts as absent' );
is_deeply( ask( $drive, GET => "$where/$to_bob" )->member('scopes'), [], '... and without scopes' );
is_deeply(
    [ map { $_->{delegation_id} } @{ ask( $drive, GET => $where )->json } ],
    [ $first, $text_id, $to_bob ], 'the list has the delegations of the owner (specification 4.10)' );

# ---- refused (oauth.md 3.7)

my $now     = time;
my @refused = (
    [ 400, 'invalid_request', { %to_agent, grantee_type       => 'group' },   'another grantee_type' ],
    [ 400, 'invalid_request', { %to_agent, grantee_type       => undef },     'no grantee_type' ],
    [ 400, 'invalid_request', { %to_agent, grantee_type       => 1 },         'a grantee_type that is a number' ],
    [ 400, 'invalid_request', { %to_agent, grantee_client_id  => undef },     'no grantee_client_id for a client' ],
    [ 400, 'invalid_request', { %to_agent, grantee_type       => 'subject' }, 'a client for a subject' ],
    [ 400, 'invalid_request', { %to_bob,   grantee_subject_id => undef },     'no grantee_subject_id for a subject' ],
    [ 400, 'invalid_request', { %to_bob,   grantee_type       => 'client' },  'a subject for a client' ],
    [ 400, 'invalid_request', { %to_agent, %to_bob },                       'both grantees' ],
    [ 400, 'invalid_request', { %to_bob, grantee_subject_id => '' },        'an empty grantee_subject_id' ],
    [ 400, 'invalid_request', { %to_bob, grantee_subject_id => 'x' x 513 }, 'a grantee_subject_id of 513 characters' ],
    [ 400, 'invalid_request', { %to_bob, grantee_subject_id => "a\x{0}" },  'a grantee_subject_id with a NUL' ],
    (   map {
            [   400, 'invalid_request', { %to_agent, grantee_client_id => $_->[0] },
                "a grantee_client_id that is $_->[1]" ]
        } [ 999999, 'no client (decisions.md "grantee_client_id")' ],
        [ '999999',         'no client, as a text' ],
        [ 0,                'zero' ],
        [ -1,               'negative' ],
        [ 1.5,              'a fraction' ],
        [ 'agent',          'a client_id' ],
        [ '',               'an empty text' ],
        [ " $key{agent}",   'a text with a blank' ],
        [ '9' x 30,         'longer than a number' ],
        [ [ $key{agent} ],  'an array' ],
        [ JSON::PP::true(), 'true' ] ),
    [ 400, 'invalid_request', { %to_agent, resource_id => undef }, 'no resource_id (specification 2.15)' ],
    [ 400, 'invalid_request', { %to_agent, resource_id => 1 },     'a resource_id that is a number' ],
    [ 404, 'not_found',       { %to_agent, resource_id => $hers }, 'the resource of another owner (oauth.md 3.7)' ],
    [ 404, 'not_found',       { %to_agent, resource_id => $thing =~ s/.{12}\z/000000000000/r }, 'an unknown resource' ],
    [ 404, 'not_found',       { %to_agent, resource_id => "\x{e9}" }, 'a resource_id that is none' ],
    [   404, 'not_found', { %to_agent, resource_id => $hers, scopes => ['read'], grantee_client_id => 999999 },
        'the resource of another owner, whatever else is wrong' ],
    [ 400, 'invalid_scope', { %to_agent, scopes => ['share'] }, 'a scope that is not registered (oauth.md 3.7)' ],
    [   400, 'invalid_scope', { %to_agent, scopes => [qw(view share)] },
        'a scope that is not registered beside one that is' ],
    [ 400, 'invalid_request', { %to_agent, scopes => 'view' },                   'scopes as a text' ],
    [ 400, 'invalid_request', { %to_agent, scopes => [ map {"s$_"} 1 .. 101 ] }, '101 scopes' ],
    [   400, 'invalid_request', { %to_agent, scopes => [ map { $_ x 256 } qw(a b c d e) ] },
        'scopes of more than 1024 characters together' ],
    (   map { [ 400, 'invalid_request', { %to_agent, expires_at => $_->[0] }, "an expires_at that is $_->[1]" ] }
          [ at(-1), 'past (oauth.md 3.7)' ], [ at(-86400), 'yesterday' ], [ 'tomorrow', 'no time' ],
        [ $now + 60,    'a number' ],
        [ "\x{661}",    'a digit outside ASCII' ], [ '2030-02-30T00:00:00Z', 'a day that the month does not have' ],
        [ '2030-01-01', 'a date' ],                [ '',                     'empty' ] ),
);
my $before = $stack->sql('SELECT count(*) FROM delegation');
oauth_error( ask( $drive, POST => $where, $_->[2] ), $_->[0], $_->[1],           "POST: $_->[3]" ) for @refused;
oauth_error( ask( $drive, POST => $where, [] ),      400,     'invalid_request', 'POST: an array' );
is( $stack->sql('SELECT count(*) FROM delegation'), $before, '... and none of these delegated anything' );

# ---- the credential (specification 5)

for my $case (
    [ undef,     401, 'invalid_token', 'Bearer',                       'without a token' ],
    [ 'garbage', 401, 'invalid_token', 'Bearer error="invalid_token"', 'none of ours' ],
    [   $stack->token_text( @drive, scope => 'uma_protection' ),            403, 'insufficient_scope',
        'Bearer error="insufficient_scope", scope="delegation_management"', 'a PAT alone' ],
  )
{
    my ( $token, $status, $code, $challenge, $name ) = @$case;
    for my $call (
        [ POST => $where, {%to_agent} ], [ GET => $where ], [ GET => "$where/$first" ],
        [ PUT  => "$where/$first", {} ], [ DELETE => "$where/$first" ] )
    {
        my $got = ask( $token, @$call );
        oauth_error( $got, $status, $code, "$call->[0]: $name" );
        is( $got->header('WWW-Authenticate'), $challenge, '... with the challenge (RFC 6750 3)' );
    }
}
oauth_error( ask( $drive, PATCH => $where ), 405, 'invalid_request', 'another method is 405 (oauth.md C1)' );

# ---- owner isolation

my %body_of;
for my $guess (
    [ $photo,                      $first,  'another client' ], [ $alice, $first, 'a person at the same client' ],
    [ of_person( \@agent, 'bob' ), $to_bob, 'the grantee' ],
    [ $drive,                      $thing,  'the owner, for the id of the resource' ],
    [ $drive, uc $first, 'the owner, for the id in capital letters' ], [ $drive, '1', 'the owner, for a number' ] )
{
    my ( $token, $id, $who ) = @$guess;
    for my $try ( [ GET => undef ], [ PUT => { expires_at => at(60) } ], [ DELETE => undef ] ) {
        my $got = ask( $token, $try->[0], "$where/$id", $try->[1] );
        oauth_error( $got, 404, 'not_found', "$try->[0] by $who is not found (oauth.md 3.7)" );
        $body_of{ $got->body } = 1;
    }
}
is( keys %body_of, 1, 'the id of another owner and one that nobody has get the same body' );
is_deeply( ask( $photo, GET => $where )->json, [], 'the list of another owner is empty' );

# ---- PUT changes the end alone

my $later = at(7200);
oauth_ok(
    ask($drive, PUT => "$where/$first",
        { expires_at => $later, scopes => ['edit'], grantee_client_id => 1, status => 'revoked' } ),
    { %shown, expires_at => $later =~ s/Z\z/.000Z/r },
    'PUT: only expires_at is updated (specification 4.10)' );
audited( "updateDelegation\tdrive\tdrive\tallowed\t200", '... with an audit row' );
oauth_ok(
    ask( $drive, PUT => "$where/$first", {} ), { expires_at => $later =~ s/Z\z/.000Z/r },
    '... and not without it' );
oauth_error(
    ask( $drive, PUT => "$where/$first", { expires_at => $_->[0] } ), 400, 'invalid_request',
    "PUT: $_->[1] is refused (oauth.md 3.7)"
) for [ at(-1), 'a past end' ], [ 'soon', 'a text that is no time' ], [ 5, 'a number' ];

# ---- what policy sees: the active delegations to the token's subject and client

# The delegations in the policy input of an introspection.
sub seen {
    my ($token) = @_;
    my $id      = $stack->introspect( @rs, $token )->header('X-Request-ID');
    my $until   = time + 30;
    my $packed  = '';
    $packed = $stack->sql("SELECT policy_input FROM audit_log WHERE request_id = '$id'")
      while $packed eq '' && time < $until;
    return @{ decode_packed($packed)->{delegation} // [] };
}

sub ids {
    return join ' ', sort map { $_->{id} } @_;
}

my $agent  = $stack->token_text( @agent, scope => 'orders.read' );
my $by_bob = of_person( \@photo, 'bob', 'orders.read' );
my @got    = seen($agent);
is( ids(@got), join( ' ', sort $first, $text_id ),
    'introspection: policy sees what was delegated to the client (oauth.md "Delegation object")' );
is_deeply(
    ( grep { $_->{id} eq $first } @got )[0],
    {   id           => $first, grantor => { client_id => 'drive', subject => 'drive', registration => 'ADMIN' },
        grantee_type => 'client',
        resource_id  => $thing,
        scopes       => ['view'], resource_type => 'urn:t:album', expires_at => $later =~ s/Z\z/.000Z/r },
    '... with grantor, resource, scopes and end' );
is( ids( seen($by_bob) ), $to_bob, '... and what was delegated to the person' );
is( ids( seen( of_person( \@agent, 'bob', 'orders.read' ) ) ), join( ' ', sort $first, $text_id, $to_bob ),
    '... and both' );
is( ids( seen( $stack->token_text( @drive, scope => 'orders.read' ) ) ), '', '... and nothing to the grantor' );
is( ids( seen( of_person( \@photo, 'alice', 'orders.read' ) ) ),         '', '... nor to another person' );
ask( $drive, PUT => "/resource_registration/resource/$thing", { resource_scopes => ['edit'] } );
is_deeply( ( seen($agent) )[0]{scopes}, [], 'a scope that the owner no longer registers is not delegated any more' );
ask( $drive, PUT => "/resource_registration/resource/$thing", { resource_scopes => [qw(view edit)] } );
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'drive'});
is( ids( seen($agent) ), '', 'the delegations of a disabled client rest' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'drive'});

# The control: a resource server states that an access rests on a delegation (policy.md 6.4).
sub use_of {
    my ( $token, %member ) = @_;
    return $stack->introspect(
        @rs, $token,
        context => JSON::PP->new->canonical->encode( { delegation => { resource_id => $thing, %member } } ) );
}

sub denied {
    my ( $answer, $code, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_ok(
        $answer,
        {   active       => false, inactive_reason => 'policy_denied', sub => undef, scope => undef,
            deny_reasons => sub { $_[0][0]{code} eq $code } },
        $name );
    return;
}
oauth_ok(
    use_of( $agent, scopes => ['view'] ), { active => true, scope => 'orders.read' },
    'control delegation: a delegated use is shown' );
denied(
    use_of( $agent, scopes => ['edit'] ), 'delegation_missing',
    'control delegation: a scope that nobody delegated' );
denied(
    use_of( of_person( \@photo, 'alice', 'orders.read' ) ), 'delegation_missing',
    'control delegation: another grantee' );

# ---- delegations of other owners, and the right of the owner (oauth.md 3.7, 5)

my $flood =
    'INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_client, resource, scopes, created_at)'
  . " SELECT ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $key{photo}, 'photo', $key{agent}, '%s', '{}', now()"
  . ' FROM generate_series(1, 60) n';
$stack->sql( sprintf $flood, register( $photo, 'see' ) );
@got = seen($agent);
is( scalar @got, 50, 'policy sees 50 to a client' );
is( ids( grep { $_->{grantor}{client_id} eq 'drive' } @got ), join( ' ', sort $first, $text_id ),
    '... and owners take turns: 60 older ones of one owner hide none of another (policy.md 6.5)' );
is( scalar( grep { $_->{grantor}{client_id} eq 'photo' } @got ), 48, '... and the rest of the places is used' );
oauth_ok(
    use_of( $agent, scopes => ['view'] ), { active => true, scope => 'orders.read' },
    '... and however many other owners make, the one that a resource server states counts (policy.md 6.5)' );
denied(
    use_of( $agent, resource_id => 'x' ), 'delegation_missing',
    'control delegation: a stated resource_id that is no id' );
$stack->sql(q{UPDATE delegation SET grantee_client = NULL, grantee_subject = 'bob' WHERE grantor_subject = 'photo'});
@got = seen($by_bob);
is( scalar @got,                                              50,      'policy sees 50 to a person' );
is( ids( grep { $_->{grantor}{client_id} eq 'drive' } @got ), $to_bob, '... and owners take turns there too' );
@got = seen( of_person( \@agent, 'bob', 'orders.read' ) );
is( ids( grep { $_->{grantor}{client_id} eq 'drive' } @got ), join( ' ', sort $first, $text_id, $to_bob ),
    '... and for a token of both' );
$stack->sql(q{UPDATE delegation SET grantor_subject = id::text WHERE grantor_subject = 'photo'});
@got = seen($by_bob);
my @older = grep { $_->{grantor}{client_id} eq 'photo' } @got;
is( scalar @got,                                              50,      'more owners than places: policy sees 50' );
is( ids( grep { $_->{grantor}{client_id} eq 'drive' } @got ), $to_bob, '... a newer one gets a place (policy.md 6.5)' );
is_deeply(
    [ sort map { substr( $_->{id}, -2 ) + 0 } @older ],
    [ sort 1 .. 25, 37 .. 60 ],
    '... and half of the places are those of the oldest' );
$stack->sql( q{DELETE FROM delegation WHERE grantor_client = } . $key{photo} );
my $by_alice = delegate( $alice, %to_agent, resource_id => $hers, scopes => ['read'] );
my %stated   = ( resource_id => $hers, scopes => ['read'] );
oauth_ok( use_of( $agent, %stated ), { active => true }, 'a delegation of a person counts' );
my $provider = $stack->sql("SELECT grantor_idp FROM delegation WHERE id = '$by_alice'");
$stack->sql("UPDATE identity_provider SET enabled = false WHERE id = $provider");
denied(
    use_of( $agent, %stated ), 'delegation_missing',
    '... but not while the identity provider of the person is disabled (oauth.md 5, "Transitions")' );
$stack->sql("UPDATE identity_provider SET enabled = true WHERE id = $provider");
oauth_ok( use_of( $agent, %stated ), { active => true }, '... and again when it is enabled' );
my $gone =
  $stack->sql(q{INSERT INTO identity_provider (idp_id, issuer) VALUES ('gone', 'https://gone.example') RETURNING id});
$stack->sql("UPDATE delegation SET grantor_idp = $gone WHERE id = '$by_alice'");
$stack->sql("DELETE FROM identity_provider WHERE id = $gone");
denied( use_of( $agent, %stated ), 'delegation_missing', '... and a deleted one ends it' );
is( $stack->sql("SELECT count(*) FROM delegation WHERE id = '$by_alice'"), 0, '... for good' );

# ---- the end of a delegation

is( ask( $drive, DELETE => "$where/$text_id" )->status, 204, 'DELETE: 204 (specification 4.10)' );
audited( "revokeDelegation\tdrive\tdrive\tallowed\t204", '... with an audit row' );
oauth_ok(
    ask( $drive, GET => "$where/$text_id" ), { status => 'revoked', revoked_at => qr/Z\z/ },
    '... and its owner can still read it (decisions.md "grantee_client_id")' );
is( ids( seen($agent) ), $first, '... but policy does not see it any more' );
oauth_error( ask( $drive, DELETE => "$where/$text_id" ), 404, 'not_found', '... and DELETE is 404' );
oauth_error( ask( $drive, PUT => "$where/$text_id", { expires_at => at(60) } ), 404, 'not_found', '... as is PUT' );
oauth_error( ask( $drive, PUT => "$where/$text_id", {} ), 404, 'not_found', '... whatever it says' );
ask( $drive, PUT => "$where/$first", { expires_at => at(2) } );
is( ids( seen($agent) ), $first, 'a delegation lives until its end' );
my $until = time + 30;
sleep 0.1 while time < $until && ask( $drive, GET => "$where/$first" )->member('status') eq 'active';
is( ask( $drive, GET => "$where/$first" )->member('status'), 'expired', '... then it is expired' );
is( ids( seen($agent) ),                                     '',        '... and policy does not see it any more' );
denied( use_of($agent), 'delegation_missing', '... so that a use is denied' );
oauth_error(
    ask( $drive, PUT => "$where/$first", { expires_at => at(60) } ), 404, 'not_found',
    '... and nothing makes it active again' );
is( ask( $drive, DELETE => "$where/$first" )->status, 204, '... but it can be revoked' );

# ---- races

sub together { return Authz::Client::together(@_) }

sub request {
    my ( $method, $path, $body ) = @_;
    return [
        $stack->client,
        $stack->http->octets(
            $method, $path, headers => [ Authz::Client::bearer($drive) ], close => 1, $body ? ( json => $body ) : () )
    ];
}
for my $round ( 1 .. 5 ) {
    my $id     = delegate( $drive, %to_agent );
    my @answer = together( map { request( DELETE => "$where/$id" ) } 1 .. 6 );
    is( join( ' ', sort map { $_->status } @answer ), '204 404 404 404 404 404', 'six DELETEs at once: one revokes' );
    $id = delegate( $drive, %to_agent );
    @answer =
      together( map { ( request( PUT => "$where/$id", { expires_at => at(600) } ), request( DELETE => "$where/$id" ) ) }
          1 .. 3 );
    is( scalar( grep { $_->status == 204 } @answer ), 1, 'PUT and DELETE at once: one DELETE revokes' );
    is( scalar( grep { $_->status !~ /\A20[04]\z|\A404\z/ } @answer ), 0, '... the rest are 200 or 404' );
    is( ask( $drive, GET => "$where/$id" )->member('status'), 'revoked',  '... and no PUT makes it active again' );
}

# ---- limits, housekeeping, and the end of what it rests on

my $insert =
  'INSERT INTO delegation (id, grantor_client, grantor_subject, grantee_subject, resource, scopes, revoked_at, created_at)'
  . " SELECT gen_random_uuid(), $key{drive}, 'drive', 'carol', '$thing', '{}'";
$stack->sql('DELETE FROM delegation');
$stack->sql("$insert, NULL, now() FROM generate_series(1, 999)");

# An insert that takes a while: those that come at the same moment look at the same rows, unless a lock keeps them apart.
$stack->sql(
    q{CREATE FUNCTION wait_a_while() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(0.2); RETURN NULL; END$$}
);
$stack->sql('CREATE TRIGGER wait_a_while BEFORE INSERT ON delegation EXECUTE FUNCTION wait_a_while()');
my @last = together( map { request( POST => $where, {%to_agent} ) } 1 .. 4 );
is( join( ' ', sort map { $_->status } @last ), '201 409 409 409',
    'the 1000th active delegation is stored, and none after it, also at once' );
$stack->sql('DROP TRIGGER wait_a_while ON delegation');
is( ask( $drive, POST => $where, {%to_agent} )->member('error'), 'conflict', '... and the answer says so' );
my ($active) = grep { $_->{grantee_type} eq 'client' } @{ ask( $drive, GET => $where )->json };
is( ask( $drive, DELETE => "$where/$active->{delegation_id}" )->status, 204, '(one is revoked)' );
is( ask( $drive, POST => $where, {%to_agent} )->status, 201, '... and a revoked one makes room' );
$stack->sql("$insert, now(), now() FROM generate_series(1, 1005)");
$stack->sql(
    "UPDATE delegation SET revoked_at = now() WHERE id = (SELECT id FROM delegation WHERE revoked_at IS NULL LIMIT 1)");
delegate( $drive, %to_bob );
is( $stack->sql('SELECT count(*) FROM delegation WHERE revoked_at IS NOT NULL'), 1000,
    'of the ended ones 1000 are kept' );
$stack->sql('DELETE FROM delegation');
$stack->sql("$insert, now() - interval '30 days', now() FROM generate_series(1, 501)");
$stack->sql("$insert, now() - interval '29 days', now()");
$stack->sql("$insert, NULL, now()");
$stack->sql(
    "UPDATE delegation SET expires_at = now() - interval '31 days' WHERE id = (SELECT id FROM delegation WHERE revoked_at IS NULL)"
);
$stack->sql("$insert, NULL, now()");
is( ( $stack->authzctl('maintain') )[0], 0, 'housekeeping runs' );
is( $stack->sql('SELECT count(*) FROM delegation'), 2,
    '... and removes those that ended 30 days ago, more than a batch, and no others' );
$stack->sql('DELETE FROM delegation');
$stack->sql( "$insert, NULL, now() FROM generate_series(1, 80)" =~ s/'carol'/'bob'/r );
is( scalar( seen($by_bob) ), 50, 'policy sees at most 50 to a person' );
$stack->sql('DELETE FROM delegation');
delegate( $drive, %to_agent );
is( ask( $drive, DELETE => "/resource_registration/resource/$thing" )->status, 204, '(the resource is deleted)' );
is_deeply( ask( $drive, GET => $where )->json, [], 'a deleted resource takes its delegations with it' );
$thing = register( $drive, 'view' );
delegate( $drive, %to_agent, resource_id => $thing );
is( $stack->admin( DELETE => '/admin/api/clients/agent' )->status, 204, '(the grantee is deleted)' );
is_deeply(
    ask( $drive, GET => $where )->json, [],
    'a deleted client takes the delegations to it along (oauth.md "Transitions")' );
delegate( $drive, %to_bob, resource_id => $thing );
is( $stack->admin( DELETE => '/admin/api/clients/drive' )->status, 204, '(the grantor is deleted)' );
is( ids( seen($by_bob) ),                                          '',  '... and those from it' );
is( $stack->sql('SELECT count(*) FROM delegation'),                0,   '... are gone' );

$stack->stop;
done_testing;

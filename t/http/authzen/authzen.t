# POST /access/v1/evaluation and /access/v1/evaluations: callers, bodies, batches, operators' rules and audit rows (specification
# 4.11, 5; AuthZEN Authorization API 1.0; oauth.md 3.6; decisions.md "Access requests").
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client ();
use Authz::Policy ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start( settings => { SVC_LOG_LEVEL => 'debug' } );
my $policy = Authz::Policy->new($stack);
my $json   = JSON::PP->new->utf8->canonical;
my %cc     = ( grants => ['client_credentials'] );
my @pep    = $stack->make_client( 'pep',  { endpoints => ['authzen'] } );
my @bear   = $stack->make_client( 'bear', { %cc, scopes    => [ 'authzen', 'other' ] } );
my @deaf   = $stack->make_client( 'deaf', { %cc, endpoints => ['introspect'], scopes         => ['other'] } );
my @once   = $stack->make_client( 'once', { %cc, scopes    => ['authzen'],    jit_single_use => true } );
$stack->make_client( 'spa', { endpoints => ['authzen'], scopes => ['authzen'] }, clientType => 'public' );
my @path = my ( $one, $many ) = qw(/access/v1/evaluation /access/v1/evaluations);
$stack->patch_row(
    'svc.operator.controls.authzen',
    {   roles    => { editor => { todo  => [ 'read', 'write' ] }, reader => { todo => ['read'] } },
        subjects => { user   => { alice => { roles => ['editor'] }, bob => { roles => ['reader'] } } } } );

sub entity { my ( $type, $id ) = @_; return { type => $type, id => $id } }

sub request {
    my ( $who, $action, %more ) = @_;
    return {
        subject => entity( user => $who ), action => { name => $action }, resource => entity( todo => 't1' ),
        %more };
}
my $good = request(qw(alice write));
my $bad  = request(qw(bob write));
my @json = ( 'Content-Type' => 'application/json' );
my @auth = Authz::Client::basic(@pep);

sub ask {
    my ( $path, $body, @header ) = @_;
    return $stack->http->post( $path, headers => [ @header ? @header : @auth ], json => $body );
}

sub send_text {
    my ( $path, $text, @header ) = @_;
    return $stack->http->post( $path, headers => [ @header ? @header : @auth, @json ], body => $text );
}
sub body { my ($answer) = @_; return $answer->status == 200 ? $answer->json : $answer->text }

# The exact answer.
sub answers {
    my ( $answer, $want, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_ok( $answer, {}, "$name: 200 with the headers of the family" );
    return is_deeply( body($answer), $want, $name ) || diag( $answer->text );
}

sub batch {
    my ( $semantic, @evaluation ) = @_;
    return { evaluations => \@evaluation, $semantic ? ( options => { evaluations_semantic => $semantic } ) : () };
}
sub permit { return { decision => true,  @_ } }
sub deny   { return { decision => false, @_ } }
sub fault  { my ($text) = @_; return deny( context => { error => { status => 400, message => $text } } ) }

# ---- decisions by the row

answers( ask( $one,  $good ), permit(), 'authzen: a role permits (policy.md 6.4 control authzen)' );
answers( ask( $one,  $bad ),  deny(),   'authzen: what no rule permits is exactly {"decision":false} (oauth.md 3.6)' );
answers( ask( $many, $good ), permit(), 'authzen: /evaluations without evaluations is a single one' );
answers(
    ask( $one, { %$good, resource => entity( user => 't1' ) } ), deny(),
    'authzen: another resource type is denied' );
answers(
    ask( $one, { %$good, subject => entity( service => 'alice' ) } ), deny(),
    'authzen: another subject type is denied' );
answers( ask( $one, request(qw(mallory read)) ), deny(), 'authzen: an unknown subject is a deny, not an error' );
answers(
    ask( $one, { %$good, evaluations => [$bad], options => 5 } ), permit(),
    'authzen: /evaluation ignores the members of a batch, as all unknown ones' );

# ---- callers (specification 5)

sub bearer { my (@more) = @_; return Authz::Client::bearer( $stack->token_text(@more) ) }
answers(
    ask( $one, $good, bearer( @bear, scope => 'authzen' ) ), permit(),
    'authzen: Bearer with scope authzen may ask' );
my $revoked = $stack->token_text( @bear, scope => 'authzen' );
$stack->revoke( @bear, token => $revoked );
my $without = $stack->token_text( @bear, scope => 'other' );
my %refused = (
    'no credential'       => [ 401, 'invalid_client', 'X-None'          => 1 ],
    'the admin key alone' => [ 401, 'invalid_client', 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ],
    'a wrong secret'      => [ 401, 'invalid_client', Authz::Client::basic( 'pep',    'wrong' ) ],
    'an unknown client'   => [ 401, 'invalid_client', Authz::Client::basic( 'nobody', 'wrong' ) ],
    'a public client'     => [ 401, 'invalid_client', Authz::Client::basic( 'spa',    '' ) ],
    'another scheme'                   => [ 401, 'invalid_client', Authorization => 'Digest x' ],
    'a Bearer that is no token'        => [ 401, 'invalid_token',  Authorization => 'Bearer zzz' ],
    'an empty Bearer'                  => [ 401, 'invalid_token',  Authorization => 'Bearer ' ],
    'a revoked Bearer'                 => [ 401, 'invalid_token',  Authz::Client::bearer($revoked) ],
    'a Bearer with a wrong secret'     => [ 401, 'invalid_token',  Authz::Client::bearer( 'rt' . substr $without, 2 ) ],
    'a single-use Bearer'              => [ 401, 'invalid_token',  bearer( @once, scope => 'authzen' ) ],
    'a Bearer without scope authzen'   => [ 403, 'insufficient_scope', Authz::Client::bearer($without) ],
    'Basic of a client not entitled'   => [ 403, 'access_denied',      Authz::Client::basic(@deaf) ],
    'Basic of a client with the scope' => [ 403, 'access_denied',      Authz::Client::basic(@bear) ],
);
for my $who ( sort keys %refused ) {
    my ( $status, $error, @header ) = @{ $refused{$who} };
    for my $path (@path) {
        oauth_error(
            ask( $path, $good, @header ), $status, $error,
            "authzen: $who is $status $error at $path (specification 5)" );
        next if $who =~ /\ABasic/;    # authenticated: it may learn what is wrong with its body
        oauth_error(
            send_text( $path, $_, @header ), $status, $error,
            "authzen: $who, and a bad body: $status first (oauth.md 3.4)" ) for '{', '{"subject":5}';
    }
}

sub challenge {
    my ($who) = @_;
    return ask( $one, $good, @{ $refused{$who} }[ 2 .. $#{ $refused{$who} } ] )->header('WWW-Authenticate');
}
like(
    challenge('no credential'), qr/\ABasic realm="[^"]+", Bearer realm="[^"]+"\z/,
    'authzen: the 401 names both credentials (RFC 9110 11.6.1)' );
like( challenge('a wrong secret'), qr/\ABasic realm=/, 'authzen: a wrong secret is challenged by Basic' );
like(
    challenge('a revoked Bearer'), qr/\ABearer error="invalid_token"/,
    'authzen: a bad token says so (RFC 6750 3.1)' );
is( challenge('a Bearer without scope authzen'),
    'Bearer error="insufficient_scope", scope="authzen"', 'authzen: 403 names the scope that is missing (RFC 6750 3.1)'
);
is( challenge('Basic of a client not entitled'), undef, 'authzen: 403 access_denied has no challenge' );

# Rights that were taken away end at once, for tokens too.
my @late = $stack->make_client( 'late', { %cc, scopes => ['authzen'], endpoints => ['authzen'] } );
my @held = bearer( @late, scope => 'authzen' );
answers( ask( $one, $good, @held ), permit(), 'authzen: a token of a client with the scope' );
$stack->bind( 'late', { scopes => [], endpoints => [] } );
oauth_error(
    ask( $one, $good, @held ), 403, 'access_denied',
    'authzen: a scope that the binding no longer grants gives no access (authzen_not_entitled)' );
oauth_error(
    ask( $one, $good, Authz::Client::basic(@late) ), 403, 'access_denied',
    'authzen: nor does an endpoint that it no longer has' );
my ( $body_type, %form ) = ( 'application/x-www-form-urlencoded', client_id => $pep[0], client_secret => $pep[1] );
is( $stack->http->post( "$one?client_id=$pep[0]&client_secret=$pep[1]", json => $good )->status, 401,
    'authzen: credentials in the query do not count' );
is( $stack->http->post( $one, json => { %$good, %form } )->status, 401, 'authzen: nor do those in the body' );

# ---- bodies

is( $stack->http->request( $_, $one, headers => [@auth] )->status, 405, "authzen: $_ is 405" ) for qw(GET PUT DELETE);
for my $type ( 'application/json; charset=utf-8', 'Application/JSON', 'application/authzen+json' ) {
    my $answer =
      $stack->http->post( $one, headers => [ @auth, 'Content-Type' => $type ], body => $json->encode($good) );
    is( $answer->status, 200, "authzen: content type $type is JSON" );
}
for my $path (@path) {
    oauth_error(
        $stack->http->post( $path, headers => \@auth, body => $json->encode($good) ), 400, 'invalid_request',
        "authzen: no content type is 400 at $path" );
    my $text = $json->encode($good);
    my %bad  = (
        'an array'                => '[]',
        'a string'                => '"x"',
        'null'                    => 'null',
        'two values'              => $text . $text,
        'a NUL octet'             => "$text\0",
        'an escaped NUL'          => $text =~ s/alice/al\\u0000ice/r,
        'a lone surrogate'        => $text =~ s/alice/al\\ud800ice/r,
        'invalid UTF-8'           => $text =~ s/alice/al\xffice/r,
        'a member twice'          => $text =~ s/\A\{/{"subject":{"type":"user","id":"root"},/r,
        'an inner member twice'   => $text =~ s/"id":"alice"/"id":"root","id":"alice"/r,
        'a number beyond doubles' => $text =~ s/\A\{/{"context":{"n":1e999},/r,
        'a comment'               => "/* */$text",
        'nesting of 33'           => $text =~ s/\A\{/'{"context":{"a":' . '[' x 31 . ']' x 31 . '},'/er,
        'nesting of 9,000'        => '[' x 9000,
    );
    oauth_error( send_text( $path, $bad{$_} ), 400, 'invalid_request', "authzen: $_ is 400 at $path (RFC 7493)" )
      for sort keys %bad;
    answers(
        send_text( $path, $text =~ s/\A\{/'{"context":{"a":' . '[' x 30 . ']' x 30 . '},'/er ),
        permit(), "authzen: nesting of 32 is accepted at $path" );
}
my $room = 65_536 - length $json->encode( { %$good, context => { x => '' } } );
answers(
    ask( $one, { %$good, context => { x => 'x' x $room } } ), permit(),
    'authzen: a body of 65,536 octets is read' );
is( ask( $one, { %$good, context => { x => 'x' x ( $room + 1 ) } } )->status, 413, 'authzen: one octet more is 413' );

# The members of entities, at their limits; the text names the first that is wrong.
sub with { my ( $entity, %member ) = @_; return { %$good, $entity => { %{ $good->{$entity} // {} }, %member } } }
my @field = (
    [ 'subject must be an object',                     { %$good, subject  => ['x'] } ],
    [ 'action must be an object',                      { %$good, action   => 'write' } ],
    [ 'resource must be an object',                    { %$good, resource => 1 } ],
    [ 'context must be an object',                     { %$good, context  => [] } ],
    [ 'context must be an object',                     { %$good, context  => 'x' } ],
    [ 'subject is required',                           { %$good, subject  => undef } ],
    [ 'subject.type must be a string',                 with( subject  => type       => 5 ) ],
    [ 'subject.id must be a string',                   with( subject  => id         => ['alice'] ) ],
    [ 'subject.id must be a string',                   with( subject  => id         => true ) ],
    [ 'subject.id is required',                        with( subject  => id         => undef ) ],
    [ 'subject.id must not be empty',                  with( subject  => id         => '' ) ],
    [ 'action.name must not be empty',                 with( action   => name       => '' ) ],
    [ 'resource.properties must be an object',         with( resource => properties => [] ) ],
    [ 'action.properties must be an object',           with( action   => properties => 'x' ) ],
    [ 'subject.type must have at most 256 characters', with( subject  => type       => "\x{e9}" x 257 ) ],
    [ 'action.name must have at most 256 characters',  with( action   => name       => 'x' x 257 ) ],
    [ 'resource.id must have at most 1024 characters', with( resource => id         => 'x' x 1025 ) ],
    [ 'subject.id must have at most 1024 characters',  with( subject  => id         => "\x{e9}" x 1025 ) ],
);
for my $case (@field) {
    my ( $text, $body ) = @$case;
    for my $path (@path) {
        my $answer = ask( $path, $body );
        oauth_error( $answer, 400, 'invalid_request', "authzen: $text: 400 at $path" );
        is( $answer->member('error_description'), $text, 'authzen: ... and the description says so' );
    }

    # In a batch the same is a fault of the evaluation alone (AuthZEN 7.2.1).
    answers(
        ask( $many, { evaluations => [ $body, $good ] } ), { evaluations => [ fault($text), permit() ] },
        "authzen: $text: a deny of this evaluation" );
}
answers( ask( $one, $_ ), deny(), 'authzen: a text at its limit is accepted' )
  for with( subject => type => "\x{e9}" x 256 ), with( subject => id => "\x{e9}" x 1024 ),
  with( action => name => 'x' x 256 );
answers( ask( $one, with( resource => id => 'x' x 1024 ) ), permit(), 'authzen: an id of 1024 characters is accepted' );
answers(
    ask( $one, { %$good, context => undef, subject => { %{ $good->{subject} }, properties => undef } } ),
    permit(), 'authzen: null is absent' );

# ---- batches

my @three = ( $good, $bad, $good );
answers(
    ask( $many, batch( undef, @three ) ), { evaluations => [ permit(), deny(), permit() ] },
    'authzen: execute_all is the default' );
answers(
    ask( $many, batch( 'execute_all', @three ) ), { evaluations => [ permit(), deny(), permit() ] },
    'authzen: execute_all returns all' );
answers(
    ask( $many, batch( 'deny_on_first_deny', @three ) ), { evaluations => [ permit(), deny() ] },
    'authzen: deny_on_first_deny ends with the first deny' );
answers(
    ask( $many, batch( 'deny_on_first_deny', $good, $good ) ), { evaluations => [ permit(), permit() ] },
    'authzen: ... or returns all permits' );
answers(
    ask( $many, batch( 'permit_on_first_permit', $bad, @three ) ), { evaluations => [ deny(), permit() ] },
    'authzen: permit_on_first_permit ends with the first permit' );
answers(
    ask( $many, batch( 'permit_on_first_permit', $bad, $bad ) ), { evaluations => [ deny(), deny() ] },
    'authzen: ... or returns all denies' );
answers(
    ask( $many, batch( 'deny_on_first_deny', $good, {}, $good ) ),
    { evaluations => [ permit(), fault('subject is required') ] },
    'authzen: an evaluation that is not well-formed is a deny for deny_on_first_deny' );
answers(
    ask( $many, batch( 'permit_on_first_permit', 'x', 5, [], undef, $good, $bad ) ),
    { evaluations => [ ( fault('must be an object') ) x 4, permit() ] },
    'authzen: ... and no permit for permit_on_first_permit; what is no object is not well-formed' );
answers(
    ask( $many, batch( undef, {}, {} ) ), { evaluations => [ ( fault('subject is required') ) x 2 ] },
    'authzen: a batch without a good evaluation' );

# A default fills the entities that an item lacks, and in one that it has, the members that are needed (decisions.md "Access
# requests").
my %default = (
    subject  => entity( user => 'alice' ), action  => { name => 'write', properties => { a => 1 } },
    resource => entity( todo => 't1' ),    context => { c    => 1 } );
answers(
    ask($many,
        {   %default,
            evaluations => [
                {}, { subject => entity( user => 'bob' ) }, { action => { name => 'read' } },
                { resource => { type => 'todo' } }, { subject => undef } ] } ),
    { evaluations => [ permit(), deny(), permit(), permit(), permit() ] },
    'authzen: a default fills what an evaluation lacks, also a needed member of an entity' );
answers(
    ask($many,
        {   %default, resource => { type => 'todo' },
            evaluations => [
                {}, { resource => entity( todo => 'x' ) }, { resource => { id => 'x' } }, { resource => { id => 1 } },
                { resource => {} }, { resource => { id => 'x', type => undef } } ] } ),
    {   evaluations => [
            fault('resource.id is required'),
            permit(), permit(), fault('resource.id must be a string'), fault('resource.id is required'), permit() ] },
    'authzen: what is wrong with a default is wrong with each evaluation that takes it' );
oauth_error(
    ask( $many, { %default, $_ => 'x', evaluations => [$good] } ), 400, 'invalid_request',
    "authzen: a default $_ that is no object is 400" ) for qw(subject action resource context);

my @batch_fault = (
    [ 'evaluations must be an array', { evaluations => {} } ],
    [ 'evaluations must be an array', { %$good, evaluations => 'x' } ],
    [ 'options must be an object',    { evaluations => [$good], options => [] } ],
    [   'options.evaluations_semantic must be a string',
        { evaluations => [$good], options => { evaluations_semantic => 1 } } ],
    [   'options.evaluations_semantic must be execute_all, deny_on_first_deny or permit_on_first_permit',
        batch( 'deny_all', $good ) ],
    [   'options.evaluations_semantic must be execute_all, deny_on_first_deny or permit_on_first_permit',
        batch( 'EXECUTE_ALL', $good ) ],
    [   'options.evaluations_semantic must not be empty',
        { evaluations => [$good], options => { evaluations_semantic => '' } } ],
    [ 'subject is required',                     { evaluations           => [] } ],
    [ 'evaluations must have at most 100 items', { %default, evaluations => [ ( {} ) x 101 ] } ],
);
for my $case (@batch_fault) {
    my $answer = ask( $many, $case->[1] );
    oauth_error( $answer, 400, 'invalid_request', "authzen: $case->[0]: 400" );
    is( $answer->member('error_description'), $case->[0], 'authzen: ... and the description says so' );
}
answers(
    ask( $many, { %default, evaluations => [ ( {} ) x 100 ], options => { other => 1 } } ),
    { evaluations => [ ( permit() ) x 100 ] }, 'authzen: 100 evaluations are decided; unknown options are ignored' );

# 100 copies of a default of 2,621 octets are 262,100 octets; one octet more in each is beyond 256 KiB.
sub padded { my ($length) = @_; return { %default, context => { x => 'x' x ( $length - length '{"x":""}' ) } } }
my $rest = 0;
$rest += length $json->encode( $default{$_} ) for qw(subject action resource);
my $most = int( 262_144 / 100 ) - $rest;
is( ask( $many, { %{ padded($most) }, evaluations => [ ( {} ) x 100 ] } )->status, 200,
    'authzen: copies of defaults up to 256 KiB are asked about' );
is( ask( $many, { %{ padded( $most + 1 ) }, evaluations => [ ( {} ) x 100 ] } )->status, 413,
    'authzen: one octet more in each is 413' );

# ---- what policy sees, and the audit row

my @columns =
  qw(client_id subject_id endpoint operation method http_status outcome request_summary policy_input policy_decision id);

sub row {
    my ($id) = @_;
    my @line;
    for ( 1 .. 400 ) {
        @line = split /\n/,
          $stack->sql( 'SELECT '
              . join( ', ', map {"coalesce($_\::text, '')"} @columns )
              . " FROM audit_log WHERE request_id = '$id'" );
        last if @line;
        sleep 0.02;
    }
    is( scalar @line, 1, "audit: $id has exactly one row" );
    my %row;
    @row{@columns}        = split /\t/, $line[0] // '', -1;
    $row{$_}              = $row{$_} eq '' ? undef : decode_packed( $row{$_} ) for qw(policy_input policy_decision);
    $row{request_summary} = $row{request_summary} eq '' ? undef : $json->decode( $row{request_summary} );
    return \%row;
}
my %noise = ( identity => 'x', extra => { a => 1 } );
ask($one,
    {   %$good, %noise, subject => { %{ $good->{subject} }, %noise, properties => { p => [1.5] } },
        context => { ip => '192.0.2.1' } },
    @auth,
    'X-Request-ID' => 'row-one' );
my $row = row('row-one');
members_are(
    $row,
    {   client_id   => 'pep', subject_id => 'alice', endpoint => $one, operation => 'evaluateAccess', method => 'POST',
        http_status => 200,   outcome    => 'allowed' },
    'audit: the row of a single decision (decisions.md "Audited")' );
is_deeply(
    $row->{request_summary}, { subjectType => 'user', action => 'write', resourceType => 'todo', resourceId => 't1' },
    'audit: its summary says what was asked' );
is_deeply(
    $row->{policy_input}{authzen},
    { %$good, subject => { %{ $good->{subject} }, properties => { p => [1.5] } }, context => { ip => '192.0.2.1' } },
    'audit: policy sees the known members alone' );
members_are(
    $row->{policy_input},
    {   evaluation => 'authzen', schema => 1, client => undef,
        caller     =>
          { client_id => 'pep', type => 'confidential', registration => 'ADMIN', auth_method => 'client_secret_basic' }
    },
    'audit: ... and who asks' );
members_are(
    $row->{policy_decision},
    { allow => true, revision => qr/\A[0-9a-f]{32}\z/, engine => qr{\A(?:opa|embedded)/}, eval_us => qr/\A\d+\z/ },
    'audit: the decision with revision and engine' );

ask( $one, $bad, bearer( @bear, scope => 'authzen' ), 'X-Request-ID' => 'row-bearer' );
$row = row('row-bearer');
members_are(
    $row, { client_id => 'bear', subject_id => 'bob', outcome => 'denied', http_status => 200 },
    'audit: a deny is denied' );
is( $row->{request_summary}{denyCodes}, 'no_rule_matched', 'audit: ... with its code' );
members_are(
    $row->{policy_input}{caller},
    { auth_method => 'bearer', token => sub { "@{ $_[0]{scopes} }" eq 'authzen' } },
    'audit: a Bearer caller is shown with its scopes' );
unlike(
    $json->encode( $row->{policy_input} ), qr/at_[A-Za-z0-9]/,
    'audit: no token is in the policy input (policy.md 6.2)' );

ask( $many, batch( 'deny_on_first_deny', @three, {} ), @auth, 'X-Request-ID' => 'row-batch' );
$row = row('row-batch');
members_are(
    $row, { endpoint => $many, operation => 'evaluateAccesses', outcome => 'denied', subject_id => '' },
    'audit: the row of a batch; it is about several subjects' );
is_deeply(
    $row->{request_summary},
    { evaluations => 4, permits => 1, denies => 1, semantic => 'deny_on_first_deny', denyCodes => 'no_rule_matched' },
    'audit: the summary of a batch counts what was returned' );
is( scalar @{ $row->{policy_input}{authzen}{evaluations} }, 3,
    'audit: policy was asked once, about the well-formed evaluations' );
ask( $many, { %default, evaluations => [ {}, {} ] }, @auth, 'X-Request-ID' => 'row-same' );
is( row('row-same')->{subject_id}, 'alice', 'audit: a batch about one subject names it' );
for my $length ( 1024, 1025 ) {
    my $name = 'x' x ( $length % 2 ) . "\x{e9}" x ( $length / 2 );    # in octets
    ask( $one, request( $name, 'read' ), @auth, 'X-Request-ID' => "row-$length" );
    my $long = row("row-$length");
    is( length $long->{subject_id}, $length == 1024 ? 1024 : 0, "audit: a subject of $length octets and the column" );
    is( length $long->{policy_input}{authzen}{subject}{id}, length $name, 'audit: ... the policy input has it whole' );
}
ask( $many, batch( 'permit_on_first_permit', $bad, $good ), @auth, 'X-Request-ID' => 'row-first' );
is( row('row-first')->{outcome}, 'allowed', 'audit: one permit is enough for permit_on_first_permit' );
ask( $one, $good, Authz::Client::basic(@deaf), 'X-Request-ID' => 'row-deaf' );
members_are(
    row('row-deaf'),
    { http_status => 403, outcome => 'denied', client_id => 'deaf', subject_id => 'alice' },
    'audit: a caller that is not entitled is denied' );
send_text( $one, '{', @auth, 'X-Request-ID' => 'row-malformed' );
members_are(
    row('row-malformed'), { http_status => 400, outcome => 'rejected', client_id => 'pep' },
    'audit: a malformed body of a caller that proved itself' );
ask( $one, $good, Authz::Client::basic( 'pep', 'wrong' ), 'X-Request-ID' => 'row-none' );
ask( $one, $good, @auth,                                  'X-Request-ID' => 'row-last' );
row('row-last');
is( $stack->sql("SELECT count(*) FROM audit_log WHERE request_id = 'row-none'"), 0,
    'audit: a wrong secret leaves no row (decisions.md "Audited")' );
my ($line) = grep {/"request_id":"row-bearer"/} $stack->{service}->log_lines;
members_are(
    $json->decode($line),
    {   route        => $one, outcome => 'denied', deny_codes => 'no_rule_matched', client_id => 'bear',
        subject_hash => qr/\A[0-9a-f]{16}\z/, scope => undef },
    'log: the line of a decision has the codes' );

# The row can be replayed (gateway-admin.md 3.6 "try-it").
sub replay {
    my ($id) = @_;
    return $stack->admin( POST => '/admin/api/policy-rules/evaluate', json => { auditId => 0 + row($id)->{id} } );
}
admin_ok( replay('row-one'),   200, { changed => false }, 'replay: a single decision is what it was' );
admin_ok( replay('row-batch'), 200, { changed => false }, 'replay: so is a batch' );
$stack->patch_row( 'svc.operator.controls.authzen', { subjects => { user => { alice => undef } } } );
admin_ok(
    replay('row-one'),
    200,
    {   changed => true,
        changes => sub {
            grep { $_ eq 'allow' } @{ $_[0] };
        }
    },
    'replay: ... until policy changes' );
admin_ok( replay('row-batch'), 200, { changed => true }, 'replay: so for a batch' );

# ---- operators' rules

my $rule = <<'REGO';
package custom.authzen

allow if input.authzen.subject.properties.vip == true

deny contains {"code": "frozen", "message": "the account is frozen", "detail": {"since": "today"}} if input.authzen.context.frozen

context := {"reason_user": {"en": input.authzen.resource.id}, "caller": input.caller.client_id} if input.authzen.context.explain

context := {"reasons": "mine"} if input.authzen.context.own
REGO
is( $policy->deploy( rules => { 'custom/authzen.rego' => $rule } )->status, 200, 'custom.authzen: rules are deployed' );
my $vip = { %$bad, subject => { %{ $bad->{subject} }, properties => { vip => true } } };
my $why = {
    code   => 'frozen', category => 'policy', control => 'custom', message => 'the account is frozen',
    detail => { since => 'today', path => 'custom/authzen.rego', line => 5 } };
sub given { my ( $request, %context ) = @_; return { %$request, context => \%context } }
answers( ask( $one, $vip ), permit(), 'custom.authzen.allow permits (policy.md 6.5 "Operator hooks")' );
answers(
    ask( $one, given ( $vip, frozen => true ) ), deny( context => { reasons => [$why] } ),
    'custom.authzen.deny wins, and the caller sees its reason' );
answers(
    ask( $one, given ( $vip, explain => true ) ),
    permit( context => { reason_user => { en => 't1' }, caller => 'pep' } ),
    'custom.authzen.context is the context of the answer' );
answers(
    ask( $one, given ( $bad, explain => true, frozen => true ) ),
    deny( context => { reason_user => { en => 't1' }, caller => 'pep', reasons => [$why] } ),
    'custom.authzen.context and the reasons of a deny' );
answers(
    ask( $one, given ( $bad, own => true, frozen => true ) ), deny( context => { reasons => 'mine' } ),
    'custom.authzen.context may have reasons of its own' );
answers(
    ask( $many, batch( undef, $vip, given ( $vip, frozen => true ), given ( $bad, explain => true ) ) ),
    {   evaluations => [
            permit(), deny( context => { reasons => [$why] } ),
            deny( context => { reason_user => { en => 't1' }, caller => 'pep' } ) ] },
    'custom.authzen: each evaluation of a batch is decided for itself' );
oauth_error(
    ask( $one, given ( $good, explain => true ), Authz::Client::basic(@deaf) ), 403, 'access_denied',
    'custom.authzen cannot entitle a caller' );
my $wrong = $policy->deploy( rules => { 'custom/authzen.rego' => "package custom.authzen\n\nallow := \"yes\"\n" } );
is( $wrong->status, 422, 'custom.authzen.allow that is always a text is refused at save' );
$policy->deploy(
    rules => { 'custom/authzen.rego' => "package custom.authzen\n\nallow := input.authzen.context.allow\n" } );
answers( ask( $one, given ( $bad, allow => true ) ), permit(), 'custom.authzen.allow may come from the request' );
for my $value ( 'yes', 1, {}, [] ) {
    oauth_ok(
        ask( $one, given ( $good, allow => $value ) ),
        { decision => false, context => sub { $_[0]{reasons}[0]{code} eq 'hook_invalid' } },
        'custom.authzen.allow of another type denies (policy.md 6.5)' );
}

# ---- discovery

my $metadata = $stack->http->get('/.well-known/authzen-configuration');
is( $metadata->status, 200, 'discovery: /.well-known/authzen-configuration' );
like( $metadata->header('Cache-Control'), qr/\Apublic, max-age=\d+\z/, 'discovery: it may be kept' );
is( $stack->http->get(
        '/.well-known/authzen-configuration', headers => [ 'If-None-Match' => $metadata->header('ETag') ] )->status,
    304,
    'discovery: ... and revalidated' );
is( $stack->http->get('/access/v1/search/subject')->status, 404, 'discovery: what is not named does not exist' );

# An issuer with a path: the path stands behind the well-known name (AuthZEN 1.0, 9.2; RFC 8615).
my $below = Authz::Stack->start( beside => $stack, path => '/tenant1' );
for my $place ( '/.well-known/authzen-configuration/tenant1', '/tenant1/.well-known/authzen-configuration' ) {
    is( $below->http->get($place)->member('policy_decision_point'), $below->base . '/tenant1', "discovery: $place" );
}
answers(
    $below->http->post( "/tenant1$one", headers => \@auth, json => request(qw(bob read)) ),
    permit(), 'authzen: below the path of the issuer' );

done_testing;

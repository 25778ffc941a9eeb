# The tables of the AuthZEN interoperability events and the requests of the certification scenario (openid/authzen
# "Authorization API 1.0 - Certification Scenario"), on the service after a deploy of the example policies.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Path   ();
use Authz::Stack  ();

my $stack = Authz::Stack->start;
my @pep   = $stack->make_client( 'pep', { endpoints => ['authzen'] } );
my $json  = JSON::PP->new->utf8->canonical;
my ( $one, $many ) = qw(/access/v1/evaluation /access/v1/evaluations);

sub deploy {
    my (@path) = @_;
    my ( $status, $text ) = $stack->authzctl( qw(bundle deploy), Authz::Path::source(@path) );
    is( $status, 0, "authzctl bundle deploy of $path[-1]" ) or diag $text;
    return;
}

sub ask {
    my ( $path, $body, @header ) = @_;
    return $stack->http->post( $path, headers => [ Authz::Client::basic(@pep), @header ], json => $body );
}

sub table {
    my ($name) = @_;
    open my $in, '<', Authz::Path::source( qw(t vectors authzen), "decisions-$name.json" ) or die "$name: $!";
    local $/ = undef;
    return $json->decode( readline $in );
}

# The word of each decision of an answer, in its order.
sub words {
    my ($answer) = @_;
    my $body = $answer->json;
    return $answer->text if $answer->status != 200 || ref $body ne 'HASH';
    my @each = $body->{evaluations} ? @{ $body->{evaluations} } : $body;
    return join ' ',
      map { !JSON::PP::is_bool( $_->{decision} ) ? 'no boolean' : $_->{decision} ? 'permit' : 'deny' } @each;
}
sub word { my ($decision) = @_; return $decision ? 'permit' : 'deny' }

# ---- the interoperability tables

deploy(qw(contrib examples policy todo-app));
for my $name (qw(authorization-api-1_0-01 authorization-api-1_0-02 api-gateways)) {
    my $table = table($name);
    my @wrong;
    for my $case ( @{ $table->{evaluation} } ) {
        my $have = words( ask( $one, $case->{request} ) );
        push @wrong, $json->encode( $case->{request} ) . ": $have" if $have ne word( $case->{expected} );
        my $batch = words( ask( $many, { evaluations => [ $case->{request} ] } ) );
        push @wrong, $json->encode( $case->{request} ) . ": $batch in a batch" if $batch ne $have;
    }
    for my $case ( @{ $table->{evaluations} // [] } ) {
        my $have = words( ask( $many, $case->{request} ) );
        my $want = join ' ', map { word( $_->{decision} ) } @{ $case->{expected} };
        push @wrong, $json->encode( $case->{request} ) . ": $have" if $have ne $want;
    }
    my $count = @{ $table->{evaluation} } + @{ $table->{evaluations} // [] };
    cmp_ok( $count, '>=', 25, "interop $name: the table has its cases" );
    is( scalar @wrong, 0, "interop $name: all $count decisions are those of the table" ) or diag(@wrong);
}

# ---- the certification scenario, by its section

deploy(qw(contrib examples authzen-certification));
my %alice  = ( subject  => { type => 'user', id => 'alice' } );
my %bob    = ( subject  => { type => 'user', id => 'bob' } );
my %read   = ( action   => { name => 'read' } );
my %write  = ( action   => { name => 'write' } );
my %record = ( resource => { type => 'record', id => 'record-1' } );
my %second = ( resource => { type => 'record', id => 'record-2' } );
my %old    = ( resource => { %{ $second{resource} }, properties => { status => 'archived' } } );
my %active = ( resource => { %{ $record{resource} }, properties => { status => 'active' } } );
my %admin  = ( subject  => { %{ $bob{subject} },     properties => { role   => 'admin' } } );

sub deletes { return ( action => { name => 'delete', properties => { soft => $_[0] } } ) }

for my $case (
    [ 'permit', '1.4 rule 1, 2.2.1: alice reads',        { %alice, %read,  %record } ],
    [ 'permit', '1.4 rule 2: alice writes',              { %alice, %write, %record } ],
    [ 'permit', '1.4 rule 3: bob reads',                 { %bob,   %read,  %record } ],
    [ 'deny',   '1.4 rule 4, 2.2.2: bob does not write', { %bob,   %write, %record } ],
    [   'permit', '2.2.3: a context changes nothing',
        { %alice, %read, %record, context => { time => '2025-06-27T18:03-07:00', ip => '192.168.1.1' } } ],
    [ 'deny',   '2.2.4: alice does not write what is archived', { %alice, %write,  %old } ],
    [ 'permit', '2.2.5: an admin writes what is archived',      { %admin, %write,  %old } ],
    [ 'permit', '2.2.6: alice deletes softly',                  { %alice, %record, deletes(true) } ],
    [ 'deny',   '2.2.7: alice does not delete for good',        { %alice, %record, deletes(false) } ],
    [   'permit', '2.2.8: further properties are accepted',
        {   subject  => { %{ $alice{subject} }, properties => { department => 'Sales', role => 'manager' } },
            action   => { name => 'read', properties => { method => 'GET' } },
            resource => { %{ $record{resource} }, properties => { status => 'active', owner => 'bob' } } } ],
    [   'permit', '2.2.9: unknown members are ignored',
        { %alice, %read, %record, foo => 'bar', futureField => { nested => true } } ],
  )
{
    my ( $want, $name, $body ) = @$case;
    is( words( ask( $one, $body ) ), $want, "certification $name" );
}
my $deny = ask( $one, { %bob, %write, %record } );
is( $deny->body, qq({"decision":false}\n), 'certification 2.2.2: a deny that no rule explains is exactly this' );
like( $deny->header('Content-Type'), qr{\Aapplication/json\b}, 'certification 2.3: the answer is JSON' );

sub without {
    my ( $entity, $member ) = @_;
    my %body = ( %alice, %read, %record );
    delete $body{$entity} if !defined $member;
    $body{$entity} = { map { ( $_ => $body{$entity}{$_} ) } grep { $_ ne $member } keys %{ $body{$entity} } }
      if defined $member;
    return \%body;
}
for my $case (
    ( map { [ "2.4.1: $_ is missing", without($_) ] } qw(subject action resource) ),
    (   map { [ "2.4.2: $_->[0].$_->[1] is missing", without(@$_) ] } [qw(subject type)], [qw(subject id)],
        [qw(action name)],
        [qw(resource type)], [qw(resource id)] ),
    [ '2.4.6: subject is a string',     { %read,  %record, subject => 'alice' } ],
    [ '2.4.6: action.name is a number', { %alice, %record, action  => { name => 123 } } ],
  )
{
    my ( $name, $body ) = @$case;
    oauth_error( ask( $_, $body ), 400, 'invalid_request', "certification $name: 400 at $_" ) for $one, $many;
}
for my $path ( $one, $many ) {
    my $send = sub {
        my ( $type, $body ) = @_;
        return $stack->http->post(
            $path,
            headers => [ Authz::Client::basic(@pep), 'Content-Type' => $type ],
            body    => $body );
    };
    my $good = $json->encode( { %alice, %read, %record } );
    oauth_error( $send->( $_, $good ), 400, 'invalid_request', "certification 2.4.3: $_ is 400 at $path" )
      for 'text/plain', 'application/xml', 'application/x-www-form-urlencoded';
    oauth_error(
        $send->( 'application/json', $_->[1] ), 400, 'invalid_request',
        "certification $_->[0] is 400 at $path"
    ) for [ '2.4.4: malformed JSON', '{"subject":' ], [ '2.4.4: no JSON', 'hello' ], [ '2.4.5: an empty body', '' ];
    for my $body ( { %alice, %read, %record }, {} ) {
        my $answer = ask( $path, $body, 'X-Request-ID' => 'bfe9eb29-ab87-4ca3-be83-a1d5d8305716' );
        is( $answer->header('X-Request-ID'),
            'bfe9eb29-ab87-4ca3-be83-a1d5d8305716',
            'certification 2.5.1: X-Request-ID is echoed, status ' . $answer->status );
    }
    my %seen = map { ( words( ask( $path, { %alice, %read, %record } ) ) => 1 ) } 1 .. 5;
    is( join( ' ', keys %seen ), 'permit', "certification 2.6: the same request has the same answer at $path" );
}

for my $case (
    [ 'permit permit', '3.2.1: resources',               { %alice, %read,   evaluations => [ {%record}, {%second} ] } ],
    [ 'permit deny',   '3.2.2: actions in their order',  { %bob,   %record, evaluations => [ {%read},   {%write} ] } ],
    [ 'permit deny',   '3.2.3: properties of resources', { %alice, %write,  evaluations => [ {%active}, {%old} ] } ],
    [ 'deny permit',   '3.2.4: properties of subjects',  { %write, %old,    evaluations => [ {%alice},  {%admin} ] } ],
    [   'permit deny', '3.2.5: without defaults',
        { evaluations => [ { %alice, %read, %record }, { %bob, %write, %record } ] } ],
    [   'permit permit',
        '3.2.6: context is a default',
        {   %alice, %read,
            context     => { time => '2025-06-27T18:03-07:00' },
            evaluations =>
              [ {%record}, { %second, context => { time => '2025-06-27T19:00-07:00', source => 'batch-override' } } ] }
    ],
    [   'permit deny', '3.4.1: an evaluation that is not well-formed is denied',
        { %alice, %read, evaluations => [ {%record}, {} ] } ],
    [ 'permit', '3.4.2: without evaluations it is a single one', { %alice, %read, %record } ],
    [ 'permit', '3.4.3: so it is without any', { %alice, %read, %record, evaluations => [] } ],
  )
{
    my ( $want, $name, $body ) = @$case;
    my $answer = ask( $many, $body );
    is( words($answer), $want, "certification $name" );
    is( exists $answer->json->{decision}, !@{ $body->{evaluations} // [] },
        'certification 3.3.4: `decision` is of single ones' );
}

# The second evaluation lacks no member; the first lacks its type, which the default gives (decisions.md "Access requests").
is( words(
        ask($many,
            {   %alice, %write,
                resource    => { type => 'record' },
                evaluations => [ { resource => { id => 'record-1' } }, {%record} ] } ) ),
    'permit permit',
    'certification 3.2.7 (advisory): a member that an entity lacks and needs is that of the default' );

# ---- 6: discovery

my $metadata = $stack->http->get('/.well-known/authzen-configuration');
is( $metadata->status, 200, 'certification 6: the metadata are served' );
like( $metadata->header('Content-Type'), qr{\Aapplication/json\b}, 'certification 6.2: ... as JSON' );
is_deeply(
    $metadata->json,
    {   policy_decision_point       => $stack->base,
        access_evaluation_endpoint  => $stack->base . $one,
        access_evaluations_endpoint => $stack->base . $many },
    'certification 6.3, 6.4: the members, and no endpoint that does not work' );

done_testing;

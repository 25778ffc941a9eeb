# A client that changes while it is used: each request authenticates it as it is now, and none ends in an error of ours
# (architecture.md 4 "Cached clients"; decisions.md "Refusals on a cached row").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

# So many requests at once may wait for the engine for long on a busy machine, which is no error of ours.
my %slow   = ( SVC_POLICY_TIMEOUT_MS => 20_000 );
my $ROUNDS = 30;
my $one    = Authz::Stack->start( settings => {%slow} );
my $two    = Authz::Stack->start( beside   => $one, settings => {%slow} );
my @http   = ( $one->client, $two->client );
my @crm    = $one->make_client( 'crm', { grants    => ['client_credentials'], scopes => ['orders.read'] } );
my @rs     = $one->make_client( 'rs',  { endpoints => ['introspect'] } );
my $admin  = [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ];

sub request {
    my ( $number, $path, $who, @form ) = @_;
    my $http = $http[ $number % 2 ];
    return [
        $http,
        $http->octets( 'POST', $path, headers => [ Authz::Client::basic(@$who) ], form => \@form, close => 1 ) ];
}

# A change that is none, but gives the row another version, so that every process has an old one in its memory.
sub change {
    my ( $id, $name ) = @_;
    return [
        $http[0],
        $http[0]->octets(
            'PUT', "/admin/api/clients/$id", headers => $admin,
            json => { clientId => $id, clientType => 'confidential', clientName => $name }, close => 1 ) ];
}

# Each process has both clients in its memory at the beginning of a round, in the version of a round before, and they change
# again while it reads them.
my $token = $one->token_text( @crm, scope => 'orders.read' );
my ( %wrong, %count );
for my $round ( 1 .. $ROUNDS ) {
    my @job;
    for my $number ( 1 .. 8 ) {
        push @job, request( $number, '/introspect', \@rs,  token      => $token );
        push @job, request( $number, '/revoke',     \@crm, token      => $token . 'x' );
        push @job, request( $number, '/token',      \@crm, grant_type => 'client_credentials', scope => 'orders.read' );
        push @job, request( $number, '/revoke', \@crm, token => $one->token_text( @crm, scope => 'orders.read' ) )
          if $number <= 4;
    }
    splice @job, 4,  0, change( 'crm', "a$round" ), change( 'rs',  "a$round" );
    splice @job, 14, 0, change( 'rs',  "b$round" ), change( 'crm', "b$round" );
    for my $answer ( Authz::Client::together(@job) ) {
        my $status = $answer->failure // $answer->status;
        $count{$status}++;
        $wrong{ $answer->failure // $answer->text }++ if $status ne '200';
    }
}
is_deeply( \%wrong, {}, 'clients that change while they are used: every request succeeds' )
  or diag( explain \%wrong );
is( $count{200}, $ROUNDS * 32, '... all of them' );
my $errors = join "\n",
  grep { /"status":5\d\d/ && !/health|bundles/ } map { split /\n/, $_->{service}->log_text } $one, $two;
is( $errors, '', '... and the log has no error of ours' );

# Those that are disabled meanwhile are refused from then on.
$one->admin(
    PUT  => '/admin/api/clients/rs',
    json => { clientId => 'rs', clientType => 'confidential', enabled => false } );
my @refused = Authz::Client::together( map { request( $_, '/introspect', \@rs, token => $token ) } 1 .. 16 );
is( scalar( grep { $_->status == 401 } @refused ), 16,
    'a client that was disabled is refused by every process at once' );

# ---- If-Match on clients and identity providers (RFC 9110 13.1.1; decisions.md "ETag")

my %row = (
    '/admin/api/clients/crm'             => { clientId => 'crm',  clientType => 'confidential' },
    '/admin/api/identity-providers/corp' => { idpId    => 'corp', issuer => 'https://corp.example', clientId => 'us' }
);
$one->admin( POST => '/admin/api/identity-providers', json => $row{'/admin/api/identity-providers/corp'} );

# A PUT or DELETE; `tag` is If-Match.
sub conditional {
    my ( $method, $path, $tag, $json ) = @_;
    return $one->admin( $method, $path, json => $json, headers => [ 'If-Match' => $tag ] );
}
for my $path ( sort keys %row ) {
    my $name = $path =~ /clients/ ? 'clientName' : 'name';
    my $dto  = sub { return { %{ $row{$path} }, $name => $_[0] } };
    my $now  = sub { return $one->admin( GET => $path ) };
    my $tag  = $now->()->header('ETag');
    like( $tag, qr/\A"\w+"\z/, "$path has a strong ETag" );
    is( $now->()->header('ETag'), $tag, '... which stays while the row does' );
    my $put = conditional( PUT => $path, $tag, $dto->('one') );
    is( $put->status, 200, '... and lets a PUT pass' );
    isnt( $put->header('ETag'), $tag, '... whose answer has another' );
    is( $now->()->header('ETag'), $put->header('ETag'), '... that of the row as stored' );

    for my $bad ( $tag, '"x"', ',', 'W/' . $put->header('ETag'), $put->header('ETag') =~ tr/"//dr ) {
        my $refused = conditional( PUT => $path, $bad, $dto->('two') );
        is( $refused->status,                             412, "... and the PUT with If-Match: $bad is refused" );
        is( conditional( DELETE => $path, $bad )->status, 412, '... and such a DELETE' );
    }
    is( $now->()->json->{$name}, 'one', '... and nothing is written' );
    is( conditional( PUT => $path, "$tag, " . $put->header('ETag'), $dto->('two') )->status, 200,
        'one of several tags' );
    is( conditional( PUT => $path,        '*', $dto->('three') )->status, 200, '... or *' );
    is( conditional( PUT => "$path-none", '*', {} )->status,              404, 'an unknown row is 404' );
    is( $one->admin( PUT => $path, json => $dto->('four') )->status, 200, 'without If-Match the last writer wins' );
    $tag = $now->()->header('ETag');
    my @writer = map {
        [   $http[ $_ % 2 ],
            $http[ $_ % 2 ]
              ->octets( 'PUT', $path, headers => [ @$admin, 'If-Match' => $tag ], json => $dto->("w$_"), close => 1 ) ]
    } 1 .. 4;
    my %status;
    $status{ $_->status }++ for Authz::Client::together(@writer);
    is_deeply( \%status, { 200 => 1, 412 => 3 }, 'of four writers at once with the same ETag one wins' );
    is( conditional( DELETE => $path, $now->()->header('ETag') )->status, 204,
        'the ETag of the row lets a DELETE pass' );
}

done_testing;

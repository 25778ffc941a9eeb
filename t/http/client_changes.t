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

done_testing;

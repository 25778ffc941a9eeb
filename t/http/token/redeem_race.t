# Codes and refresh tokens at the same moment on two instances (decisions.md "Codes", "Reuse"; performance.md R11):
# exactly the allowed successes, then the family dies, and never a 5xx.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Grant  ();
use Authz::Stack  ();

# So many requests at once may wait for the engine for long on a busy machine, which is no error of ours.
my %slow  = ( SVC_POLICY_TIMEOUT_MS => 20_000 );
my $COUNT = 64;
my $one   = Authz::Stack->start( settings => {%slow} );
my $two   = Authz::Stack->start( beside   => $one, settings => {%slow} );
my %code  = ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [ 'openid', 'orders.read' ] );
my @web   = $one->make_client( 'web', {%code} );
my @rs    = $one->make_client( 'rs',  { endpoints => ['introspect'] } );
$one->make_client( 'spa', {%code}, clientType => 'public' );
Authz::Grant->people($one);
my @http = ( $one->client, $two->client );

# The same request so often at once, half on each instance: how often each outcome came.
sub together {
    my ( $who, @form ) = @_;
    my @job    = map { [ $_, Authz::Grant->octets( $_, $who, @form ) ] } @http;
    my @answer = Authz::Client::together( map { $job[ $_ % 2 ] } 1 .. $COUNT );
    my %count;
    $count{ $_->status == 200 ? 'good' : $_->status == 400 ? $_->member('error') // 'none' : $_->failure
          // $_->status }++
      for @answer;
    return ( \%count, grep { $_->status == 200 } @answer );
}

sub text {
    my ($count) = @_;
    return join ', ', map {"$_ $count->{$_}"} sort keys %$count;
}
sub code { my ($client) = @_; return Authz::Grant->code( $one, client => $client, scope => 'openid orders.read' ) }

sub first {
    my ( $who, $client ) = @_;
    return Authz::Grant->redeem( $one, $who, code($client) )->member('refresh_token');
}

my $rest = $COUNT - 1;
for my $who ( \@web, 'spa' ) {
    my ( $kind, $client ) = ref $who ? ( 'confidential', 'web' ) : ( 'public', 'spa' );
    for my $round ( 1 .. 3 ) {
        my ( $count, @won ) = together( $who, Authz::Grant->redemption( code($client) ) );
        is( text($count), "good 1, invalid_grant $rest",
            "code: $COUNT at once on two instances, one success ($kind, round $round)" );
        my @dead = map { $_->member('access_token'), $_->member('refresh_token') } @won;
        inactive(
            $two->introspect( @rs, $dead[0] ),
            '... whose access token is dead, for the code was replayed (decisions.md "Codes")' );
        oauth_error( Authz::Grant->refresh( $two, $who, $dead[1] ), 400, 'invalid_grant', '... and the refresh token' );
    }
}

for my $round ( 1 .. 3 ) {
    my ( $count, @won ) = together( 'spa', grant_type => 'refresh_token', refresh_token => first( 'spa', 'spa' ) );
    is( text($count), 'good 4, invalid_grant ' . ( $COUNT - 4 ),
        "refresh: $COUNT at once of a public client: the one and three siblings (decisions.md \"Reuse\", round $round)"
    );
    my %token = map { $_->member('refresh_token') => 1 } @won;
    is( scalar keys %token, 4, '... each with a refresh token of its own' );
    my @living = grep { Authz::Grant->refresh( $one, 'spa', $_ )->status == 200 } sort keys %token;
    is( scalar @living, 0, '... none of which lives, for the token was used too often' );
    inactive( $one->introspect( @rs, $won[-1]->member('access_token') ), '... nor an access token' );
}

for my $round ( 1 .. 2 ) {
    my $token = first( \@web, 'web' );
    my ( $count, @won ) = together( \@web, grant_type => 'refresh_token', refresh_token => $token );
    is( text($count), "good $COUNT", "refresh: $COUNT at once of a confidential client all succeed (round $round)" );
    oauth_ok(
        $two->introspect( @rs, $won[0]->member('access_token') ), { active => true },
        '... the access tokens live' );
    oauth_ok( Authz::Grant->refresh( $one, \@web, $token ), {}, '... and the refresh token' );
}

# Redeemed and revoked at the same moment: in either order, a revoked token stays dead.
my ( $late, $odd ) = ( 0, 0 );
for my $round ( 1 .. 10 ) {
    my $token  = first( 'spa', 'spa' );
    my @answer = Authz::Client::together(
        [ $http[0], Authz::Grant->octets( $http[0], 'spa', grant_type => 'refresh_token', refresh_token => $token ) ],
        [   $http[1], $http[1]->octets( 'POST', '/revoke', form => [ token => $token, client_id => 'spa' ], close => 1 )
        ],
    );
    $odd++ if $answer[1]->status != 200 || $answer[0]->status !~ /\A(?:200|400)\z/;
    my $access = $answer[0]->member('access_token');
    $late++ if defined $access && $one->introspect( @rs, $access )->member('active');
    $late++ if Authz::Grant->refresh( $two, 'spa', $answer[0]->member('refresh_token') // $token )->status == 200;
}
is( $odd,  0, 'refresh and revoke at once: no error of ours, ten times' );
is( $late, 0, '... and nothing of a revoked family lives' );

# All of it at once, on both instances: in any order there is no 5xx, and no token of a dead family lives.
my $admin = [ 'X-Admin-API-Key' => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} ];
my ( %failed, %alive );
for my $round ( 1 .. 4 ) {
    my @gone = $one->make_client( "gone$round", {%code} );
    my ( @family, @job );
    for my $who ( \@web, \@web, 'spa', 'spa', \@gone, \@gone ) {
        my $code   = code( ref $who ? $who->[0] : $who );
        my $answer = Authz::Grant->redeem( $one, $who, $code );
        push @family,
          { who    => $who, id => $one->sql('SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1'),
            access => [ $answer->member('access_token') ], refresh => [ $answer->member('refresh_token') ] };
        my @as     = ref $who ? ( headers => [ Authz::Client::basic(@$who) ] ) : ();
        my @revoke = (
            'POST', '/revoke', @as,
            form => [ token => $family[-1]{refresh}[0], ref $who ? () : ( client_id => $who ) ], close => 1 );
        my @form = ( grant_type => 'refresh_token', refresh_token => $family[-1]{refresh}[0] );
        push @job,
          map { [ $family[-1], $http[ $_ % 2 ], Authz::Grant->octets( $http[ $_ % 2 ], $who, @form ) ] } 1 .. 4;
        push @job, [ $family[-1], $http[1], Authz::Grant->octets( $http[1], $who, Authz::Grant->redemption($code) ) ]
          if @family % 2;
        push @job, [ $family[-1], $http[0], $http[0]->octets(@revoke) ] if $round % 2;
    }
    push @job,
      [ undef,
        $http[0],
        $http[0]->octets(
            'PUT', '/admin/api/clients/spa', headers => $admin,
            json => { clientId => 'spa', clientType => 'public', clientName => "r$round" }, close => 1 ) ];
    push @job,
      [ undef, $http[1], $http[1]->octets( 'DELETE', "/admin/api/clients/gone$round", headers => $admin, close => 1 ) ];
    @job = @job[ sort { ( $a * 7 + $round * 3 ) % 31 <=> ( $b * 7 + $round * 3 ) % 31 } 0 .. $#job ];
    my @answer = Authz::Client::together( map { [ @$_[ 1, 2 ] ] } @job );
    for my $i ( 0 .. $#job ) {
        my ( $answer, $family ) = ( $answer[$i], $job[$i][0] );
        $failed{ $answer->failure // $answer->text }++ if $answer->failure || $answer->status >= 500;
        next if !$family || $answer->status != 200 || !defined $answer->member('access_token');
        push @{ $family->{$_} }, $answer->member("${_}_token") // () for qw(access refresh);
    }
    for my $family (@family) {
        my $lives = $one->sql("SELECT revoked_at IS NULL FROM token_grant WHERE id = '$family->{id}'") eq 't';
        my @shown = grep { $_->member('active') } map { $two->introspect( @rs, $_ ) } @{ $family->{access} };
        $alive{'an access token of a dead family'}++       if !$lives && @shown;
        $alive{'a dead access token of a living family'}++ if $lives  && @shown != @{ $family->{access} };
        my @renewed =
          grep { $_->status == 200 } map { Authz::Grant->refresh( $two, $family->{who}, $_ ) } @{ $family->{refresh} };
        $alive{'a refresh token of a dead family'}++ if !$lives && @renewed;
    }
}
is_deeply( \%failed, {}, 'refreshes, replays, revocations, a change and a deletion at once: no error of ours' )
  or diag( explain \%failed );
is_deeply( \%alive, {}, '... and every family is dead or alive as a whole' ) or diag( explain \%alive );

# Without a second chance the loser of a race is a reuse (oauth.md 3.3).
$_->restart_service( settings => { SVC_REFRESH_REUSE_WINDOW_SECONDS => 0 } ) for $one, $two;
for my $round ( 1 .. 2 ) {
    my ( $count, @won ) = together( 'spa', grant_type => 'refresh_token', refresh_token => first( 'spa', 'spa' ) );
    is( text($count), "good 1, invalid_grant $rest", "refresh: $COUNT at once with a window of 0: one (round $round)" );
    inactive( $one->introspect( @rs, $won[0]->member('access_token') ), '... whose family is dead' );
}

is( $one->sql(
        q{SELECT count(*) FROM audit_log WHERE endpoint = '/token' AND (http_status >= 500 OR outcome = 'error')}),
    0,
    'no request ended in an error of ours' );
my $deadlocks = $one->sql('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()');
is( $deadlocks, 0, 'PostgreSQL saw no deadlock' );

done_testing;

#!/usr/bin/perl
# Sign a person in and measure the requests that follow:
#   flows.pl BASE-URL ADMIN-KEY SECONDS CODES DIR LOG CONNECTIONS CPU.PL NAME:PID...
# DIR contains the load generator and receives the request files. See contrib/bench/flows.
use strict;
use warnings;

use Cwd            ();
use Digest::SHA    qw(sha256);
use File::Basename ();
use HTTP::Tiny     ();
use JSON::PP       qw(decode_json encode_json);
use MIME::Base64   qw(encode_base64 encode_base64url);

use lib File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/../../t/lib';
use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();

my ( $base, $key, $seconds, $codes, $dir, $log, $connections, @cpu ) = @ARGV;
die "usage: see the first lines of $0\n" if @cpu < 2;
my ($address) = $base =~ m{\Ahttp://(.*)\z};
$| = 1;

my $http = HTTP::Tiny->new( timeout => 60, keep_alive => 1, max_redirect => 0 );

sub admin {
    my ( $method, $target, $body ) = @_;
    my $answer = $http->request(
        $method,
        "$base$target",
        {   content => encode_json($body),
            headers => { 'X-Admin-API-Key' => $key, 'Content-Type' => 'application/json' } } );
    die "$method $target: $answer->{status} $answer->{content}\n" if !$answer->{success};
    return decode_json( $answer->{content} );
}

# Least redemptions of a code with an ID token by ES256 in a second, on 2 processors.
use constant CODES_LEAST => 1800;

# ---- three clients and a person

my $back = 'http://127.0.0.1:9/callback';
my $idp  = Authz::Idp->start;
admin(
    POST => '/admin/api/identity-providers',
    {   idpId => 'bench', issuer => $idp->issuer, clientId => $idp->{client_id}, clientSecret => $idp->{client_secret},
        enabled => JSON::PP::true } );
my %alg    = ( web => 'RS256', elliptic => 'ES256' );    # of the ID tokens of confidential clients
my %secret = map {
    $_ => admin(
        POST => '/admin/api/clients',
        {   clientId     => $_,      clientType               => 'confidential', enabled => JSON::PP::true,
            redirectUris => [$back], idTokenSignedResponseAlg => $alg{$_} } )->{clientSecret}
} sort keys %alg;
admin(
    POST => '/admin/api/clients',
    { clientId => 'app', clientType => 'public', enabled => JSON::PP::true, redirectUris => [$back] } );
my $binding = { grants => [qw(authorization_code refresh_token)], scopes => [qw(openid profile)] };
admin(
    PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
    { clients => { map { $_ => $binding } keys %alg, 'app' } } );

my $verifier  = encode_base64url( sha256('a verifier of this run') );
my $challenge = encode_base64url( sha256($verifier) );

sub target {
    return '/authorize?' . Authz::Client::form(
        response_type => 'code', client_id => $_[0], redirect_uri => $back,
        scope         => 'openid profile', state => 'xyz', nonce => 'n-0S6_WzA2Mj', code_challenge => $challenge,
        code_challenge_method => 'S256' );
}

my $browser = Authz::Browser->new;
my $last    = ( $browser->follow( $base . target('web'), stop => qr{\A\Q$back\E} ) )[-1];
my %came    = Authz::Browser::query( $browser->url );
die 'no code: ' . $browser->url . ' answers ' . $last->status . "\n" if !defined $came{code};
my $cookie = join '; ', map {"$_->{name}=$_->{value}"} $browser->cookies($base);

# Return a code of the session from /authorize.
sub code {
    my ($client) = @_;
    my $answer   = $http->get( $base . target($client), { headers => { Cookie => $cookie } } );
    my ($code)   = ( $answer->{headers}{location} // '' ) =~ /[?&]code=([^&]+)/
      or die "no code: $answer->{status} $answer->{content}\n";
    return $code;
}

# ---- requests

sub request {
    my ( $method, $where, $headers, $body ) = @_;
    my $length =
      defined $body
      ? 'Content-Length: ' . length($body) . "\r\nContent-Type: application/x-www-form-urlencoded\r\n"
      : '';
    return "$method $where HTTP/1.1\r\nHost: $address\r\nUser-Agent: authz-bench\r\n$headers$length\r\n"
      . ( $body // '' );
}

sub token_request {
    my ( $client, @form ) = @_;
    return request(
        POST => '/token',
        $secret{$client} ? 'Authorization: Basic ' . encode_base64( "$client:$secret{$client}", '' ) . "\r\n" : '',
        Authz::Client::form( $secret{$client} ? () : ( client_id => $client ), @form ) );
}

sub redeem {
    my ($client) = @_;
    return token_request(
        $client, grant_type => 'authorization_code', code => code($client), redirect_uri => $back,
        code_verifier => $verifier );
}

sub redemptions {
    my ($client) = @_;
    return map { redeem($client) } 1 .. $codes;
}

# Return the refresh token that a request gets.
sub refresh_token {
    my ($text) = @_;
    my $client = ( our $clients //= Authz::Client->new( port => ( split /:/, $address )[1] ) );
    my $answer = $client->raw( $text =~ s/\r\n/\r\nConnection: close\r\n/r );
    return $answer->json->{refresh_token} // die 'no refresh token: ' . $answer->text . "\n";
}

sub write_file {
    my ( $name, @request ) = @_;
    open my $out, '>', "$dir/$name.http" or die "$dir/$name.http: $!\n";
    print {$out} @request == 1 ? $request[0] : map {"$_\0"} @request;
    close $out or die "$dir/$name.http: $!\n";
    return "$dir/$name.http";
}

# ---- measurements

# Return the CPU time of one signature in milliseconds; it is part of the time of every ID token.
sub signature {
    my ($alg) = @_;
    my $ms = `"$dir/sign" $alg`;
    die "the signature cannot be measured\n" if $ms !~ /\A\d+\.\d+\n\z/;
    return $ms + 0;
}

# Return the round trips by route and status in the part of the log after a position.
sub trips_since {
    my ( $place, $route ) = @_;
    my %count;
    open my $in, '<', $log or return '?';
    seek $in, $place, 0;
    while ( my $line = readline $in ) {
        my $entry = eval { decode_json($line) } or next;
        next if ( $entry->{route} // '' ) ne $route;
        $count{ $entry->{sql_trips} }++;
    }
    my ($most) = sort { $count{$b} <=> $count{$a} } keys %count;
    return $most // '?';
}

sub measure {
    my ( $name, $route, $expect, @request ) = @_;
    my $file  = write_file( $name, @request );
    my $place = -s $log // 0;
    my @load  = ( "$dir/load", $address, $file, $expect, $connections, @request == 1 ? $seconds : 600 );
    open my $out, '-|', 'perl', @cpu, '--', @load or die "cpu.pl: $!\n";
    my %told = map { split /=/, $_, 2 } grep {/=/} split ' ', join ' ', readline $out;
    close $out or die "$name: the measurement broke off\n";
    die "$name: $told{bad} of $told{requests} answers are wrong\n" if $told{bad};
    my %ms = map { $_ => $told{$_} / 1000 / $told{requests} } qw(web worker opa postgres);
    printf
      "%-34s %6d requests %7.0f/s  p50 %5.1f  p99 %5.1f ms   CPU ms: web %.3f worker %.3f (user %.0f %%) OPA %.3f PostgreSQL %.3f = %.2f   trips %s   others %.1f %%\n",
      $name, $told{requests}, $told{requests} * 1e6 / $told{us}, $told{p50} / 1000, $told{p99} / 1000,
      @ms{qw(web worker)},
      100 * $told{'worker.user'} / ( $told{'worker.user'} + $told{'worker.system'} || 1 ), @ms{qw(opa postgres)},
      $ms{web} + $ms{worker} + $ms{opa} + $ms{postgres}, trips_since( $place, $route ),
      100 * $told{other} / $told{looked};
    return $told{requests} * 1e6 / $told{us};
}

printf "%-34s %.2f ms of CPU\n", "floor: one $_ signature", signature($_) for qw(RS256 ES256);
my $get = sub { return request( GET => target( $_[0] ), "Cookie: $cookie\r\n" ) };
measure( 'authorize with a live session', '/authorize', 'code=', $get->('web') );
my %rate = map { ( $_ => measure( "code, PKCE and ID token by $alg{$_}", '/token', '"id_token":', redemptions($_) ) ) }
  qw(web elliptic);
measure(
    "refresh, token kept, by $alg{$_}", '/token', '"id_token":',
    token_request( $_ => grant_type => 'refresh_token', refresh_token => refresh_token( redeem($_) ) )
) for qw(web elliptic);
measure(
    'refresh, token rotated', '/token', '"refresh_token":',
    map   { token_request( app => grant_type => 'refresh_token', refresh_token => $_ ) }
      map { refresh_token( redeem('app') ) } 1 .. $codes );
printf "codes with ID token by ES256: %.0f/s (at least %d: %s)\n", $rate{elliptic}, CODES_LEAST,
  $rate{elliptic} < CODES_LEAST ? 'missed' : 'ok';

#!/usr/bin/perl
# Measure /token with a client secret, and with client assertions by RS256 and ES256:
#   assertions.pl BASE-URL ADMIN-KEY COUNT DIR CONNECTIONS CPU.PL NAME:PID...
# DIR contains the load generator and the maker of assertions, and receives the request files. See contrib/bench/assertions.
use strict;
use warnings;

use Cwd            ();
use File::Basename ();
use HTTP::Tiny     ();
use JSON::PP       qw(decode_json encode_json);
use MIME::Base64   qw(encode_base64);

use lib File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/../../t/lib';
use Authz::Client ();

my ( $base, $key, $count, $dir, $connections, @cpu ) = @ARGV;
die "usage: see the first lines of $0\n" if @cpu < 2;
my ($address) = $base =~ m{\Ahttp://(.*)\z};
$| = 1;

my $http = HTTP::Tiny->new( timeout => 60, keep_alive => 1 );

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

sub make_client {
    my ( $name, %more ) = @_;
    my $made = admin(
        POST => '/admin/api/clients',
        { clientId => $name, clientType => 'confidential', enabled => JSON::PP::true, %more } );
    admin(
        PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
        { clients => { $name => { grants => ['client_credentials'], scopes => ['orders.read'] } } } );
    return $made->{clientSecret};
}

sub request {
    my ( $headers, @form ) = @_;
    my $body = Authz::Client::form( grant_type => 'client_credentials', scope => 'orders.read', @form );
    return
        "POST /token HTTP/1.1\r\nHost: $address\r\nUser-Agent: authz-bench\r\n${headers}Content-Length: "
      . length($body)
      . "\r\nContent-Type: application/x-www-form-urlencoded\r\n\r\n$body";
}

# Return the CPU time of the workers per request, in microseconds.
sub measure {
    my ( $name, @request ) = @_;
    my $file = "$dir/assertions.http";
    open my $out, '>', $file or die "$file: $!\n";
    print {$out} map {"$_\0"} @request;
    close $out or die "$file: $!\n";
    open my $in, '-|', 'perl', @cpu, '--', "$dir/load", $address, $file, '"access_token":', $connections, 600
      or die "cpu.pl: $!\n";
    my %told = map { split /=/, $_, 2 } grep {/=/} split ' ', join ' ', readline $in;
    close $in or die "$name: the measurement broke off\n";
    die "$name: $told{bad} of $told{requests} answers are wrong\n" if $told{bad};
    my %us = map { $_ => $told{$_} / $told{requests} } qw(worker postgres);
    printf "%-24s %6d requests %7.0f/s  p50 %5.1f ms   CPU us: worker %4.0f PostgreSQL %4.0f\n", $name, $told{requests},
      $told{requests} * 1e6 / $told{us}, $told{p50} / 1000, @us{qw(worker postgres)};
    return \%us;
}

my $secret = make_client('secret');
my $basic  = request( 'Authorization: Basic ' . encode_base64( "secret:$secret", '' ) . "\r\n" );
my ( %form, %floor );
for my $alg (qw(RS256 ES256)) {
    my ( $verify, $jwk, @assertion ) = split /\n/, `"$dir/assertion" $alg "$base" "\L$alg\E" $count`;
    die "no assertions by $alg\n" if @assertion != $count;
    make_client( lc $alg, tokenEndpointAuthMethod => 'private_key_jwt', jwks => { keys => [ decode_json($jwk) ] } );
    $floor{$alg} = $verify;
    $form{$alg}  = [
        map {
            request(
                '',
                client_assertion_type => 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
                client_assertion      => $_ )
        } @assertion ];
}
measure( 'warming up', ($basic) x 400 );
my $plain = measure( 'client_secret_basic', ($basic) x $count );
for my $alg (qw(RS256 ES256)) {
    my $us = measure( "private_key_jwt $alg", @{ $form{$alg} } );
    printf "%-24s worker +%.0f us, of which the library verifies for %.0f us; PostgreSQL %+.0f us\n", '',
      $us->{worker} - $plain->{worker}, $floor{$alg}, $us->{postgres} - $plain->{postgres};
}

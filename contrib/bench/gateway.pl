#!/usr/bin/perl
# Measure the gateway:
#   gateway.pl BASE-URL ADMIN-KEY SECONDS ROUNDS DIR UPSTREAM NAME:PID... -- MEASUREMENT...
# Without arguments: list the measurements. DIR has the load generator; UPSTREAM is host and port of contrib/bench/upstream.c.
# See contrib/bench/gateway.
use strict;
use warnings;

use Cwd              ();
use File::Basename   ();
use HTTP::Tiny       ();
use IO::Select       ();
use IO::Socket::INET ();
use JSON::PP         qw(decode_json encode_json);
use List::Util       qw(max min sum);
use MIME::Base64     ();
use Time::HiRes      qw(sleep time);

# Connections of the load generator: one for the time that is added, several for the CPU time of each request.
my $MANY = 4;

# Tools and resources of a list.
my ( $TOOLS, $RESOURCES ) = ( 1000, 20 );

# Streams at the same time, and the events that the upstream sends on each.
my $STREAMS = 200;

# Requests to /token in a second beside a hanging upstream: far below what the machine can do.
my $TOKEN_RATE = 60;

# The limits of the project (doc/design/performance.md), in milliseconds of CPU, by the engine: what a request through the gateway
# costs in all beyond one to the upstream itself, and what a question at /auth/check and a list of tools for one person cost authz
# and the engine.
my %LIMIT  = ( embedded => { added => 1.0, check => 0.30, list => 10.0 }, opa => { added => 2.1 } );
my $ENGINE = $ENV{AUTHZ_BENCH_ENGINE} // 'opa';

# To add a measurement, add a row and the function that it names.
my @measurements = (
    { name => 'requests', run => \&measure_requests, text => 'requests and tool calls beside the bare upstream' },
    { name => 'check',    run => \&measure_check,    text => 'questions of a web server at /auth/check' },
    { name => 'tools',    run => \&measure_tools,    text => "tools/list with $TOOLS tools of $RESOURCES resources" },
    { name => 'token',    run => \&measure_token,    text => '/token while the gateway waits for an upstream' },
    { name => 'streams',  run => \&measure_streams,  text => "$STREAMS streams at once" },
);

if ( !@ARGV ) {
    printf "\nMeasurements:\n";
    printf "  %-9s %s\n", @$_{qw(name text)} for @measurements;
    exit 0;
}
my ( $base, $key, $seconds, $rounds, $dir, $upstream, @rest ) = @ARGV;
my ($end) = grep { $rest[$_] eq '--' } 0 .. $#rest;
die "usage: see the first lines of $0\n" if !defined $end;
my @group     = @rest[ 0 .. $end - 1 ];
my @names     = @rest[ $end + 1 .. $#rest ];
my ($address) = $base =~ m{\Ahttp://(.*)\z};
my ($parent)  = map {/\Aworker:(\d+)\z/} @group;
my $cpu       = File::Basename::dirname( Cwd::abs_path(__FILE__) ) . '/cpu.pl';
$| = 1;

# ---- the service

my $http = HTTP::Tiny->new( timeout => 90, keep_alive => 1 );

sub admin {
    my ( $method, $target, $body ) = @_;
    my $answer = $http->request(
        $method,
        "$base$target",
        {   ( defined $body ? ( content => encode_json($body) ) : () ),
            headers => { 'X-Admin-API-Key' => $key, 'Content-Type' => 'application/json' } } );
    die "$method $target: $answer->{status} $answer->{content}\n" if !$answer->{success};
    return length $answer->{content} ? decode_json( $answer->{content} ) : undef;
}

# What the clients are entitled to.
my %binding = (
    agent => {
        grants    => ['client_credentials'], scopes => ['mcp'], gateway_scopes => ['*'],
        resources => ['urn:svc:gateway'] },
    door => { endpoints => ['check'], resources => ["$base/gateway/shop"] } );

# A client and its secret, which are kept for the next run on this stack.
sub client {
    my ($id) = @_;
    my $file = "$dir/gateway.client.$id";
    if ( !-e $file ) {
        my $made = admin(
            POST => '/admin/api/clients',
            { clientId => $id, clientType => 'confidential', enabled => JSON::PP::true() } );
        admin(
            PATCH => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings',
            { clients => { $id => $binding{$id} } } );
        open my $out, '>', $file or die "$file: $!\n";
        print {$out} $made->{clientSecret};
        close $out or die "$file: $!\n";
    }
    open my $in, '<', $file or die "$file: $!\n";
    return ( $id, readline $in );
}

# Return a request to /token for a scope and a resource.
sub token_request {
    my ( $scope, $resource ) = @_;
    my ( $id,    $secret )   = client('agent');
    return request(
        POST => $address, '/token', { 'Content-Type' => 'application/x-www-form-urlencoded' },
        "grant_type=client_credentials&client_id=$id&client_secret=$secret&scope=$scope&resource=$base$resource" );
}

sub token {
    my ( $scope, $resource ) = @_;
    my ( undef, $body ) = split /\r\n\r\n/, token_request( $scope, $resource ), 2;
    my $answer = $http->post(
        "$base/token",
        { content => $body, headers => { 'Content-Type' => 'application/x-www-form-urlencoded' } } );
    die "/token: $answer->{content}\n" if !$answer->{success};
    return decode_json( $answer->{content} )->{access_token};
}

# Make or replace a managed resource.
sub resource {
    my ( $name, %member ) = @_;
    my $here = $http->get( "$base/admin/api/managed-resources/$name", { headers => { 'X-Admin-API-Key' => $key } } );
    my @at =
      $here->{success} ? ( PUT => "/admin/api/managed-resources/$name" ) : ( POST => '/admin/api/managed-resources' );
    return admin( @at, { name => $name, displayName => $name, defaultScope => 'mcp', %member } );
}

sub plain_resource {
    return resource(
        'plain', upstreamType => 'REST', upstreamUrl => "http://$upstream",
        routes => [ map { { id => $_, path => "/$_" } } qw(plain stream hang) ] );
}

# Save the text of custom.gateway.
sub rule {
    my ($text) = @_;
    return admin(
        PUT => '/admin/api/policy-rules/by-path',
        {   path    => 'custom/gateway.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
            content => "package custom.gateway\n\n$text" } );
}
my $RULE = join "\n\n", 'deny contains "not_now" if input.arguments.debug',
  'obligations := {"headers": {"X-Purpose": "bench"}}';

# ---- requests

sub request {
    my ( $method, $host, $target, $headers, $body ) = @_;
    my %header = ( Host => $host, 'User-Agent' => 'authz-bench', %$headers );
    $header{'Content-Length'} = length $body if defined $body;
    return
      join( "\r\n", "$method $target HTTP/1.1", map( {"$_: $header{$_}"} sort keys %header ), '', '' )
      . ( $body // '' );
}

sub mcp_request {
    my ( $host, $target, $headers, $method, %params ) = @_;
    my %meta =
      ( 'io.modelcontextprotocol/protocolVersion' => '2026-07-28', 'io.modelcontextprotocol/clientCapabilities' => {} );
    my %field = (
        'Content-Type'         => 'application/json', Accept => 'application/json, text/event-stream',
        'MCP-Protocol-Version' => '2026-07-28', 'Mcp-Method' => $method, %$headers );
    $field{'Mcp-Name'} = $params{name} if defined $params{name};
    return request(
        POST => $host, $target, \%field,
        encode_json( { jsonrpc => '2.0', id => 1, method => $method, params => { %params, _meta => \%meta } } ) );
}

sub bearer { return { Authorization => "Bearer $_[0]" } }

# ---- measurements

my %result;    # name => list of rounds
my @noise;     # percent of one processor that others used in each run

# Run the load generator and keep its figures under a name.
sub load {
    my ( $name, $to, $expect, $connections, $request, %option ) = @_;
    my $file = "$dir/gateway.http";
    open my $out, '>', $file or die "$file: $!\n";
    print {$out} $request;
    close $out or die "$file: $!\n";
    my @load = ( "$dir/load", $to, $file, $expect, $connections, $option{seconds} // $seconds, $option{rate} // () );
    open my $in, '-|', 'perl', $cpu, @group, '--', @load or die "cpu.pl: $!\n";
    my %told = map { split /=/, $_, 2 } grep {/=/} split ' ', join ' ', readline $in;
    close $in or die "$name: the measurement broke off\n";
    die "$name: $told{bad} of $told{requests} answers are wrong\n" if $told{bad};
    push @{ $result{$name} }, \%told;
    push @noise,              100 * ( $told{other} + $told{steal} ) / $told{looked};
    return;
}

sub median {
    my @sorted = sort { $a <=> $b } @_;
    return $sorted[ $#sorted / 2 ];
}

sub of {
    my ( $name, $code ) = @_;
    return median( map { $code->($_) } @{ $result{$name} } );
}

sub microseconds {
    my ( $name, $which ) = @_;
    return of( $name, sub { $_[0]{$which} } );
}

# Return the CPU milliseconds of each request, by process.
sub spent {
    my ( $name, $part ) = @_;
    return of( $name, sub { $_[0]{$part} / 1000 / $_[0]{requests} } );
}

# Print a line: times on one connection, and CPU time on several.
sub figures {
    my ( $name, $bare ) = @_;
    my @part = qw(web worker opa postgres upstream);
    my @cpu  = map { spent( "$name many", $_ ) } @part;
    my ( $p50, $p99 ) = map { microseconds( $name, $_ ) / 1000 } qw(p50 p99);
    printf
      "  %-30s %7.0f/s  p50 %6.2f  p99 %6.2f ms  CPU ms: web %.3f authz.fcgi %.3f OPA %.3f PostgreSQL %.3f upstream %.3f = %.2f%s\n",
      $name, of( "$name many", sub { $_[0]{requests} * 1e6 / $_[0]{us} } ), $p50, $p99, @cpu, sum(@cpu),
      defined $bare ? sprintf( '   added %.2f ms', $p50 - microseconds( $bare, 'p50' ) / 1000 ) : '';
    return;
}

# Return the CPU milliseconds of parts of a measurement with several connections.
sub cpu {
    my ( $name, @part ) = @_;
    return sum( map { spent( "$name many", $_ ) } @part );
}
my @ALL = qw(web worker opa postgres upstream);

# Print a figure with its limit, if it has one for this engine.
sub limit {
    my ( $what, $ms, $which ) = @_;
    my $most = $LIMIT{$ENGINE}{$which};
    printf "  %-60s %6.2f ms   %s\n", $what, $ms,
      defined $most ? sprintf 'at most %.2f %s', $most, $ms <= $most ? 'ok' : 'missed' : 'no limit for this engine';
    return;
}

sub measure_requests {
    plain_resource();
    resource( 'calls', upstreamType => 'MCP', upstreamUrl => "http://$upstream/mcp" );
    admin( POST => '/admin/api/managed-resources/calls/sync' );
    my $get   = token( 'mcp', '/gateway/plain' );
    my $call  = token( 'mcp', '/gateway/mcp/calls' );
    my @plain = ( $address, '"answer":42', request( GET => $address, '/gateway/plain/plain', bearer($get) ) );
    my @row   = (
        [ 'the upstream alone',  $upstream, '"answer":42', request( GET => $upstream, '/plain', {} ) ],
        [ 'through the gateway', @plain ],
        [   'a tool call, alone', $upstream, '"text":"42"',
            mcp_request( $upstream, '/mcp', {}, 'tools/call', name => 'answer', arguments => {} ) ],
        [   'a tool call, through the gateway', $address, '"text":"42"',
            mcp_request(
                $address, '/gateway/mcp/calls', bearer($call), 'tools/call', name => 'answer', arguments => {} ) ],
        [ '... with a rule of the operator', @plain ],
    );
    for ( 1 .. $rounds ) {
        rule('');
        for my $row (@row) {
            my ( $name, $to, $expect, $request ) = @$row;
            rule($RULE) if $name =~ /rule/;
            load( $name,        $to, $expect, 1,     $request );
            load( "$name many", $to, $expect, $MANY, $request );
        }
    }
    rule('');
    figures( $row[$_][0], [ undef, $row[0][0], undef, $row[2][0], $row[0][0] ]->[$_] ) for 0, 1, 4, 2, 3;
    limit(
        'CPU of a request through the gateway beyond a direct one',
        cpu( $row[1][0], @ALL ) - cpu( $row[0][0], @ALL ), 'added' );
    return;
}

sub measure_check {
    resource(
        'shop',
        upstreamType => 'STATIC', publicUrls => ['https://shop.example/api'],
        routes       => [ { id => 'one', path => '/orders/{id}', response => { status => 200 } } ] );
    my %field = (
        %{ bearer( token( 'mcp', '/gateway/shop' ) ) },
        'X-Authz-Proxy-Authorization' => 'Basic ' . MIME::Base64::encode_base64( join( ':', client('door') ), '' ),
        'X-Forwarded-Method'          => 'GET', 'X-Forwarded-Proto' => 'https', 'X-Forwarded-Host' => 'shop.example',
        'X-Forwarded-Uri'             => '/api/orders/7' );
    my $ask = request( GET => $address, '/auth/check', \%field );
    for ( 1 .. $rounds ) {
        load( 'a question',      $address, 'X-Authz-Subject: agent', 1,     $ask );
        load( 'a question many', $address, 'X-Authz-Subject: agent', $MANY, $ask );
    }
    figures('a question');
    limit( 'CPU of /auth/check: authz.fcgi and the engine', cpu( 'a question', 'worker', 'opa' ), 'check' );
    return;
}

sub measure_tools {
    my $each = $TOOLS / $RESOURCES;
    for my $number ( 1 .. $RESOURCES ) {
        resource(
            "many$number",
            upstreamType => 'STATIC',
            routes       =>
              [ { id => 'hello', path => '/hello', response => { status => 200, json => { said => 'hello' } } } ],
            tools => [
                map {
                    {   name        => "tool_$_", route => 'hello',
                        description => "Does what tool $_ of resource $number does.",
                        inputSchema => { type => 'object', properties => { who => { type => 'string' } } } }
                } 1 .. $each ] );
    }
    my $list = mcp_request( $address, '/gateway/mcp', bearer( token( 'mcp', '/gateway/mcp' ) ), 'tools/list' );
    for ( 1 .. $rounds ) {
        for my $rule ( '', $RULE ) {
            rule($rule);
            my $name = $rule ? "a list, with a rule" : "a list of $TOOLS tools";
            load( $name,        $address, "many${RESOURCES}__tool_$each", 1,     $list );
            load( "$name many", $address, "many${RESOURCES}__tool_$each", $MANY, $list );
        }
    }
    rule('');
    figures($_) for "a list of $TOOLS tools", "a list, with a rule";
    limit(
        "CPU of a list of $TOOLS tools: authz.fcgi and the engine",
        cpu( "a list of $TOOLS tools", 'worker', 'opa' ), 'list' );
    admin( DELETE => "/admin/api/managed-resources/many$_" ) for 1 .. $RESOURCES;
    return;
}

sub open_all {
    my ( $count, $target ) = @_;
    my $request = request( GET => $address, $target, bearer( token( 'mcp', '/gateway/plain' ) ) );
    my ( $host, $port ) = split /:/, $address;
    return map {
        my $socket = IO::Socket::INET->new( PeerAddr => $host, PeerPort => $port, Proto => 'tcp' )
          or die "connect: $!\n";
        print {$socket} $request;
        $socket
    } 1 .. $count;
}

# The workers of the gateway, by their listening socket.
sub workers {
    my %listening;
    open my $in, '<', '/proc/net/unix' or die "/proc/net/unix: $!\n";
    while ( my $line = readline $in ) {
        $listening{"socket:[$1]"} = 1 if $line =~ m{ \d{4} 01 +(\d+) \S*/gateway\.sock$};
    }
    my @worker;
    for my $stat ( glob '/proc/[0-9]*/stat' ) {
        open my $file, '<', $stat or next;
        my ( $pid, $of ) = ( readline($file) // '' ) =~ /\A(\d+) \(.*\) \S (\d+) / or next;
        next if $of != $parent;
        push @worker, $pid if grep { $listening{ readlink($_) // '' } } glob "/proc/$pid/fd/*";
    }
    return @worker;
}

# The memory of processes in kB: what is theirs alone, and their share of the rest.
sub memory {
    my ( $private, $share ) = ( 0, 0 );
    for my $pid (@_) {
        open my $in, '<', "/proc/$pid/smaps_rollup" or next;
        while ( my $line = readline $in ) {
            $private += $1 if $line =~ /^Private_(?:Clean|Dirty): +(\d+)/;
            $share   += $1 if $line =~ /^Pss: +(\d+)/;
        }
    }
    return ( $private, $share );
}

# End the requests that hang. libcurl sends those on a used connection once more.
sub release {
    for ( 1 .. 2 ) {
        $http->get("http://$upstream/release");
        sleep 0.5;
    }
    return;
}

sub measure_token {
    plain_resource();
    my $request = token_request( 'mcp', '/gateway/plain' );
    my $workers = workers();
    for my $round ( 0 .. $rounds ) {
        for my $name ( 'idle', 'busy' ) {
            my @waiting = $name eq 'busy' ? open_all( $workers - 1, '/gateway/plain/hang' ) : ();
            sleep 1;
            load(
                $name, $address, '"access_token":', 2, $request, seconds => $round ? 2 * $seconds : 1,
                rate => $TOKEN_RATE );
            release() if @waiting;
            close $_ for @waiting;
        }
        %result = () if $round == 0;
    }
    for my $which (qw(p50 p99)) {
        my ( $idle, $busy ) = map { microseconds( $_, $which ) / 1000 } 'idle', 'busy';
        printf "  /token beside %d waiting workers  %s %.2f ms idle, %.2f ms: ratio %.2f\n", $workers - 1, $which,
          $idle,
          $busy, $busy / $idle;
    }
    return;
}

sub measure_streams {
    plain_resource();
    my @workers = workers();

    # A worker connects to the database and the engine with its first request, which costs far more than a stream. They take
    # turns.
    my $get = { headers => bearer( token( 'mcp', '/gateway/plain' ) ) };
    $http->get( "$base/gateway/plain/plain", $get ) for 1 .. 2 * @workers;
    my ($before) = memory(@workers);
    my $start    = time;
    my @socket   = open_all( $STREAMS, '/gateway/plain/stream' );
    my $select   = IO::Select->new(@socket);
    my ( %text, %first, $private, $share );

    while ( $select->count && time - $start < 90 ) {
        for my $socket ( $select->can_read(1) ) {
            my $got = sysread $socket, my $octets, 65536;
            if ( !$got ) { $select->remove($socket); next }
            $text{$socket} .= $octets;
            $first{$socket} //= time - $start;
            $select->remove($socket) if $text{$socket} =~ /^0\r\n\r\n\z/m || ( $text{$socket} =~ /\AHTTP\S+ (?!200)/ );
        }
        ( $private, $share ) = memory(@workers)
          if !defined $private && keys %first >= min( $STREAMS, scalar @workers ) && time - $start > 3;
    }
    my ( %status, $whole );
    my ($events) = sort { $b <=> $a } map { scalar( () = /^data: event/mg ) } values %text;
    for my $socket (@socket) {
        my ($status) = ( $text{$socket} // '' ) =~ /\AHTTP\S+ (\d+)/;
        $status{ $status // 'none' }++;
        $whole++ if $events && scalar( () = ( $text{$socket} // '' ) =~ /^data: event/mg ) == $events;
    }
    my @first = sort { $a <=> $b } values %first;
    printf
      "  %d streams, %d workers: answers %s; %d had all of %d events; first octets after %.1f s (median), %.1f s (last)\n",
      $STREAMS,
      scalar @workers, join( ', ', map {"$status{$_} times $_"} sort keys %status ), $whole // 0, $events // 0,
      median(@first), $first[-1];
    printf
      "    memory of a worker: %.2f MB its own before, %.2f MB beside a stream (%.2f MB with its share of common pages)\n",
      $before / 1024 / @workers, $private / 1024 / @workers, $share / 1024 / @workers
      if defined $private;
    return;
}

for my $row (@measurements) {
    next if !grep { $_ eq $row->{name} } @names;
    print "$row->{text}\n";
    $row->{run}->();
}
printf "used by others during the measurements: %.1f %% of a processor (median), %.1f %% (most)\n", median(@noise),
  max(@noise)
  if @noise;

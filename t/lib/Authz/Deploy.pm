package Authz::Deploy;

# Tests that hold behind every web server, however it runs the program: one list for all of t/deploy.

use strict;
use warnings;

use IO::Select       ();
use IO::Socket::INET ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client         ();
use Authz::Deploy::Alias  qw(aliases);
use Authz::Deploy::Bodies qw(bodies targets slow_bodies stopped);
use Authz::Deploy::Reload qw(reload);
use Authz::Deploy::SignIn qw(sign_in);
use Authz::Idp            ();
use Authz::Path           ();
use Authz::Stack          ();
use Authz::Web            ();

my $FORM    = 'application/x-www-form-urlencoded';
my $BINDING = { grants => ['client_credentials'], scopes => ['orders.read'], endpoints => ['introspect'] };
my $CLIENT  = 'https://app.example/c.json';    # an address as client id: its path holds %2F

# single: one pool, whose workers the web server starts. patience: seconds that a reload may hold requests up, 5 and
# some for a busy machine, and a save in hand is then cut off or unconfirmed; races: the web server itself loses requests in
# some reloads, not in all. All as the comments of the configuration say.
my %shape = (
    'lighttpd'              => { server => 'lighttpd', needs => [], patience => 12 },
    'lighttpd-spawn'        => { server => 'lighttpd', needs => [], single   => 1, patience => 12 },
    'lighttpd-cgi'          => { server => 'lighttpd', needs => [], single   => 1, patience => 12 },
    'apache'                => { server => 'apache',   needs => [qw(buffer setenvif proxy proxy_fcgi)] },
    'apache-streams'        => { server => 'apache',   needs => [qw(buffer setenvif proxy proxy_fcgi)] },
    'apache-fcgid'          => { server => 'apache',   needs => ['fcgid'],           single => 1, patience => 12 },
    'apache-cgi'            => { server => 'apache',   needs => ['cgid'],            single => 1, races    => 1 },
    'apache-htaccess-fcgid' => { server => 'apache',   needs => [qw(fcgid rewrite)], single => 1 },
    'apache-htaccess-cgi'   => { server => 'apache',   needs => [qw(cgid rewrite)],  single => 1 },
);

# Ends the test with a word when the server or a module is not installed.
sub need {
    my ($web) = @_;
    return if $shape{$web}{server} ne 'apache';
    plan skip_all => 'Apache httpd is not installed' if !Authz::Path::apache();
    my $from = Authz::Path::apache_modules() // '';
    my @gone = grep { !-e "$from/mod_$_.so" } @{ $shape{$web}{needs} };
    plan skip_all => "Apache httpd has no mod_$gone[0]" if @gone;
    return;
}

sub start {
    my ( $class, $web, %option ) = @_;
    need($web);
    my $stack = Authz::Stack->start( web => $web, not_ready => 1, %option );
    my $self  = bless { web => $web, %{ $shape{$web} }, stack => $stack, http => $stack->http, path => $stack->{path} },
      $class;
    $self->open_engine;
    $stack->await_ready;
    return $self;
}

# Workers of Apache's account must reach the engine, as the comments of etc/apache say.
sub open_engine {
    my ($self) = @_;
    my $until = time + 60;
    while ( !-S $self->{stack}{opa_socket} || ( ( stat _ )[2] & 0777 ) != 0660 ) {
        die "the engine does not start\n" if time > $until;
        sleep 0.02;
    }
    Authz::Web::give_to_apache( $self->{stack}{opa_socket} ) if $self->{server} eq 'apache' && $self->{single};
    return;
}

# Everything, for the way of running that is named.
sub check {
    my ( $class, $web ) = @_;
    my $self = $class->start( $web, settings => { Authz::Idp->settings } );
    $self->$_
      for
      qw(main_path admin_path sign_in metadata browser_pages answers metrics headers aliases forwarded_untrusted bodies targets arguments reload
      forwarded_trusted);
    $self->nothing_broke;
    $self->end;
    return;
}

# The service behind a web server that passes bodies on as they arrive.
sub check_streams {
    my ($class) = @_;
    my $self = $class->start('apache-streams');
    $self->$_ for qw(main_path slow_bodies nothing_broke stopped end);
    return;
}

# Shared hosting with etc/apache/htaccess. slashes: the host has set AllowEncodedSlashes NoDecode.
sub check_shared_host {
    my ( $class, $web, %option ) = @_;
    my $self = $class->start( $web, settings => { Authz::Idp->settings } );
    $self->$_ for 'main_path', $option{slashes} ? 'admin_path' : 'no_slashes';
    $self->$_
      for qw(sign_in metadata answers metrics headers forwarded_untrusted arguments document_root nothing_broke),
      $web =~ /cgi\z/ && $web !~ /fcgid/ ? 'shared_settings' : ();
    $self->end;
    return;
}

# Settings that other accounts can read or write stop a program of one request, too: on such a host strangers are the rule.
sub shared_settings {
    my ($self) = @_;
    my $file = "$self->{stack}{dir}/authz.conf";
    for my $mode ( 0644, 0666 ) {
        chmod $mode, $file or die "$file: $!";
        is( $self->{http}->get( $self->at('/health/live') )->status,
            500, sprintf 'settings of mode %04o: the program does not start', $mode );
    }
    my $log = join '', map { Authz::Web::edit( $_, qr/\A/ => '' ) } glob "$self->{stack}{dir}/*.log";
    like(
        $log, qr/SVC_CONFIG: \Q$file\E has mode 0$_, so every account .*; run chmod 600/,
        "... the log says so of 0$_" ) for 644, 666;
    chmod 0600, $file or die "$file: $!";
    is( $self->{http}->get( $self->at('/health/live') )->status, 200, '... with mode 0600 it starts' );
    return;
}

# Differences when the issuer has a path: https://host/auth.
sub check_prefix {
    my ( $class, $web, $beside ) = @_;
    my $self = $class->start(
        $web, path => '/auth', settings => { Authz::Idp->settings },
        $beside ? ( beside => $beside->{stack} ) : () );
    $self->{client} = [ $self->{stack}->make_client( "crm-$web", $beside ? undef : $BINDING ) ];
    $self->{stack}->bind( "crm-$web", $BINDING ) if $beside;
    $self->$_ for qw(token_path sign_in metadata metadata_inserted outside);
    return $self;
}

# The engine first, then the service: their long poll would keep Apache waiting.
sub end {
    my ($self) = @_;
    $_->stop for grep {defined} @{ $self->{stack} }{qw(opa service server)};
    done_testing;
    return;
}

sub at { my ( $self, $path ) = @_; return "$self->{path}$path" }
sub auth { my ($self) = @_; return Authz::Client::basic( @{ $self->{client} } ) }

# ---- the real path

sub main_path {
    my ($self) = @_;
    $self->{client} = [ $self->{stack}->make_client( 'crm', $BINDING, clientName => 'CRM' ) ];
    $self->token_path;
    return;
}

sub token_path {
    my ($self) = @_;
    my $stack  = $self->{stack};
    my @crm    = @{ $self->{client} };
    my %active = ( active => true, client_id => $crm[0], iss => "$stack->{base}$self->{path}" );
    oauth_ok(
        $stack->token( @crm, scope => 'orders.read' ), { scope => 'orders.read', token_type => 'Bearer' },
        'token: a created client gets one; Authorization arrives (gateway-admin.md 7.2)' );
    oauth_error( $stack->token( $crm[0], 'wrong' ), 401, 'invalid_client', 'token: a wrong secret does not' );
    my $token = $stack->token_text(@crm);
    oauth_ok( $stack->introspect( @crm, $token ), \%active, 'introspect: the token is active' );
    oauth_error(
        $self->{http}
          ->post( $self->at('/introspect'), headers => [ Authz::Client::bearer('at_x') ], form => [ token => $token ] ),
        401, '[a-z_]+', 'introspect: Bearer arrives, and is refused' );
    is( $stack->revoke( @crm, token => $token )->status, 200, 'revoke: 200' );
    inactive( $stack->introspect( @crm, $token ), 'revoke: the token is dead' );
    return;
}

sub admin_path {
    my ($self) = @_;
    my $stack = $self->{stack};
    admin_ok(
        $stack->admin( POST => '/admin/api/clients', json => { clientId => $CLIENT, clientType => 'public' } ),
        201, {}, 'admin: an address as client id' );
    my $path = '/admin/api/clients/' . Authz::Client::escape($CLIENT);
    admin_ok(
        $stack->admin( GET => $path ), 200, { clientId => $CLIENT },
        'admin: its path with %2F is found (gateway-admin.md 7.2)' );
    admin_error( $stack->admin( GET => $path, key => 'wrong' ), 401, 'admin: a wrong key is 401' );
    admin_error(
        $stack->admin( GET => '/admin/api/clients/https://app.example/c.json' ), 404,
        'admin: a bare slash is another path' );
    admin_ok( $stack->admin( DELETE => $path ), 204, undef, 'admin: DELETE arrives' );

    for my $id ( 'back~', 'x.inc', 'index.php', 'a.fcgi' ) {
        $stack->admin( POST => '/admin/api/clients', json => { clientId => $id, clientType => 'public' } );
        admin_ok(
            $stack->admin( GET => "/admin/api/clients/$id" ), 200, { clientId => $id },
            "admin: the web server does not take $id for a file of its own" );
    }
    my $key = 'dataKey=svc%2Eentitlements%2e%62indings';
    my $row = $stack->admin( GET => "/admin/api/policy-data/by-key?$key" );
    admin_ok(
        $row, 200, { dataKey => 'svc.entitlements.bindings' },
        'policy data: an encoded key in the query string is decoded once' );
    admin_error(
        $stack->admin( GET => '/admin/api/policy-data/by-key?dataKey=svc%252Eentitlements%2Ebindings' ), 400,
        'policy data: and only once', fields => ['dataKey'] );
    my $patched = $stack->admin(
        PATCH => "/admin/api/policy-data/by-key?$key", type => 'application/merge-patch+json',
        json  => { clients => { gone => undef } } );
    admin_ok( $patched, 200, {}, 'policy data: PATCH with its media type arrives' );
    is( $patched->header('X-Policy-Activation'), 'confirmed',
        'policy data: the engine got the bundle through this web server' );
    admin_error(
        $stack->admin( GET => '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings', key => undef ), 401,
        'admin: no key is 401' );
    return;
}

# Apache refuses %2F before it reads .htaccess.
sub no_slashes {
    my ($self) = @_;
    my $stack  = $self->{stack};
    my $answer = $stack->admin( GET => '/admin/api/clients/' . Authz::Client::escape($CLIENT) );
    ok( $answer->status == 404 && !defined $answer->header('X-Request-ID'),
        'admin: a path with %2F does not arrive, as etc/apache/README says' ) or diag( $answer->text );
    admin_ok(
        $stack->admin( GET => "/admin/api/clients/$self->{client}[0]" ),
        200, { clientId => $self->{client}[0] }, 'admin: other paths do' );
    return;
}

# Files of the document root are not served, except what a certificate authority asks for.
sub document_root {
    my ($self) = @_;
    my $http = $self->{http};
    for my $path ( '/authz.fcgi', '/authz.fcgi/token', '/.htaccess', '/.well-known/', '/nothing' ) {
        my $answer = $http->get($path);
        is( $answer->status, 404, "document root: $path is no endpoint" );
        unlike( $answer->body, qr{SVC_CONFIG|CGIPassAuth|Index of}, '... and no file or list of files' );
    }
    is( $http->get('/token')->status, 405,
        'document root: a file named token does not take the place of the endpoint' );
    is( $http->get('/.well-known/acme-challenge/proof')->body, "proof\n",
        'acme-challenge: the files of the host (RFC 8555 8.3)' );
    return;
}

# The start page and the 404 page reach a browser, and nobody else (decisions.md "Start page").
sub browser_pages {
    my ($self) = @_;
    my @html = ( headers => [ Accept => 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' ] );
    for my $case ( [ '/', 200, 'Sign-in service' ], [ '/nothing/here', 404, 'Page not found' ] ) {
        my ( $path, $status, $title ) = @$case;
        my $page = $self->{http}->get( $self->at($path), @html );
        ok( $page->status == $status && $page->body =~ m{<h1>$title</h1>},
            "a browser at $path gets a page with the status $status" ) or diag( $page->status, $page->text );
        like(
            $page->header('Content-Security-Policy'),
            qr/\Adefault-src 'none'; /, '... with its policy, also behind this web server' );
        my $other = $self->{http}->get( $self->at($path) );
        ok( $other->status == 404 && $other->member('error') eq 'not_found', '... and another caller JSON with 404' )
          or diag( $other->status, $other->text );
    }
    return;
}

sub metadata {
    my ($self) = @_;
    my ( $stack, $http ) = @{$self}{qw(stack http)};
    my $issuer = "$stack->{base}$self->{path}";
    for my $name (qw(openid-configuration oauth-authorization-server)) {
        my $answer = $http->raw(
            "GET $self->{path}/.well-known/$name HTTP/1.1\r\nHost: evil.example\r\nX-Forwarded-Host: evil.example\r\nConnection: close\r\n\r\n",
            'GET' );
        members_are(
            $answer->json, { issuer => $issuer, token_endpoint => "$issuer/token" },
            "$name: addresses come from the issuer, never from Host (architecture.md 3)" );
        unlike( $answer->text, qr/evil/, "$name: a foreign host is nowhere in it" );
        is( $answer->header('Vary'), undef, "$name: one cached answer serves all" );
    }
    my $keys = $http->get( $self->at('/.well-known/jwks.json') );
    ok( $keys->status == 200 && @{ $keys->member('keys') // [] }, 'jwks: there are keys' ) or diag( $keys->text );
    my $again =
      $http->get( $self->at('/.well-known/jwks.json'), headers => [ 'If-None-Match' => $keys->header('ETag') ] );
    is( $again->status, 304, 'jwks: If-None-Match and ETag pass' ) or diag( $again->text );
    return;
}

# RFC 8414 3.1: the well-known part stands between host and path.
sub metadata_inserted {
    my ($self) = @_;
    for my $name (qw(openid-configuration oauth-authorization-server)) {
        my $answer = $self->{http}->get("/.well-known/$name$self->{path}");
        members_are(
            $answer->json, { issuer => "$self->{stack}{base}$self->{path}" },
            "$name: also in the path-inserted form (decisions.md \"iss\"; RFC 8414 3.1)" ) or diag( $answer->text );
        is( $self->{http}->get("/.well-known/$name/another")->status, 404, "$name: not for another path" );
    }
    return;
}

# The rest of the host belongs to others.
sub outside {
    my ($self) = @_;
    for my $path ( '/token', '/health/live', '/admin/api/clients', "$self->{path}x/token", "$self->{path}.bak" ) {
        my $answer = $self->{http}->get($path);
        ok( $answer->status == 404 && !defined $answer->header('X-Request-ID'),
            "outside the prefix: $path is not ours" ) or diag( $answer->text );
    }
    my $none = $self->{http}->get( $self->at('/nothing') );
    is( $none->member('error'), 'not_found', 'inside: an unknown path is' ) or diag( $none->text );
    is( $self->{stack}->admin( GET => '/admin/api/policy-data/by-key?dataKey=svc%2Eentitlements%2Ebindings' )
          ->member('dataKey'), 'svc.entitlements.bindings', 'inside: the admin API with a query string' );
    return;
}

# ---- answers and headers

sub answers {
    my ($self) = @_;
    my $http   = $self->{http};
    my $none   = $http->get( $self->at('/nothing/here') );
    is( $none->status,          404,         '404: an unknown path' );
    is( $none->member('error'), 'not_found', '404: the body is ours, not a page of the web server' )
      or diag( $none->text );
    my $wrong = $http->get( $self->at('/token') );
    is( $wrong->status,          405,    '405: GET /token' );
    is( $wrong->header('Allow'), 'POST', '405: Allow passes' );
    my $unauthorized = $self->{stack}->token( 'crm', 'wrong' );
    is( scalar( () = $unauthorized->headers('WWW-Authenticate') ), 1, '401: WWW-Authenticate passes, once' );
    my $socket = $http->_connect;
    syswrite $socket,
      'HEAD '
      . $self->at('/.well-known/openid-configuration')
      . " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    my $text = do { local $/ = undef; readline $socket };
    like( $text, qr/\AHTTP\/1\.1 200 .*\r\n\r\n\z/s,     'HEAD: 200, and no octet of a body (RFC 9110 9.3.2)' );
    like( $text, qr/^Content-Type: application\/json/mi, 'HEAD: the headers of GET' );
    unlike( $none->text, qr/^Status:/mi, 'the CGI header Status does not reach the caller' );
    return;
}

# The numbers are those of all processes; under CGI each request has one of its own (gateway-admin.md 7.1).
sub metrics {
    my ($self) = @_;
    my $stack  = $self->{stack};
    my @line   = map {qr{^\Q$_\E (\d+)$}m} 'svc_unaudited_requests_total{route="/logout",method="GET"}',
      'svc_http_request_seconds_count{route="/logout",method="GET"}';
    my $count = sub {
        my $page = $stack->http->get( $self->at('/metrics') )->body;
        return map { ( $page =~ $_ )[0] // 0 } @line;
    };
    my ( $unaudited, $answers ) = $count->();
    $stack->client->get( $self->at('/logout') ) for 1 .. 5;
    my @now = $count->();
    is( $now[0], $unaudited + 5, 'metrics: requests without an audit row are counted across processes' );
    is( $now[1], $answers + 5,   'metrics: so are the answers with their times' );
    return;
}

sub headers {
    my ($self) = @_;
    my $http   = $self->{http};
    my $id     = 'req-1.A_' . ( 'x' x 100 );
    my $answer = $http->get( $self->at('/health/live'), headers => [ 'X-Request-ID' => $id ] );
    is( join( '|', $answer->headers('X-Request-ID') ), $id,
        'X-Request-ID: a good one is echoed, once (decisions.md "X-Request-ID")' );
    my $made =
      $http->get( $self->at('/health/live'), headers => [ 'X-Request-ID' => "a b'<" ] )->header('X-Request-ID');
    like( $made, qr/\A[0-9a-f-]{36}\z/, 'X-Request-ID: a bad one is replaced' );
    is( $self->{stack}->token( @{ $self->{client} } )->header('Cache-Control'), 'no-store', 'Cache-Control passes' );
    my $trap  = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Proto => 'tcp', Listen => 5 ) or die "listen: $!";
    my $proxy = 'http://127.0.0.1:' . $trap->sockport;
    my $token = $http->post(
        $self->at('/token'),
        headers => [
            $self->auth, Proxy => $proxy, 'Http-Proxy' => $proxy, 'All-Proxy' => $proxy, 'SVC-OPA-URL' => $proxy,
            'SVC-Config' => '/nonexistent' ],
        form => [ grant_type => 'client_credentials' ] );
    oauth_ok( $token, {}, 'a Proxy header does not become HTTP_PROXY, nor do others become settings (CVE-2016-5385)' );
    ok( !IO::Select->new($trap)->can_read(0.1), '... and that address got no connection' );
    return;
}

# The address that the audit row of a POST /token with these raw header lines has, or nobody.
sub _address {
    my ( $self, @lines ) = @_;
    my $id     = 'addr-' . ++( our $requests );
    my $body   = 'grant_type=client_credentials';
    my $octets = join "\r\n", 'POST ' . $self->at('/token') . ' HTTP/1.1', 'Host: localhost', "X-Request-ID: $id",
      "Content-Type: $FORM", join( ': ', $self->auth ), @lines, 'Content-Length: ' . length $body, 'Connection: close',
      '', $body;
    $self->{http}->raw($octets);
    return $self->{stack}->sql("SELECT coalesce(host(ip), 'nobody') FROM audit_log WHERE request_id = '$id'");
}

# SVC_TRUSTED_PROXY_COUNT=0.
sub forwarded_untrusted {
    my ($self) = @_;
    is( $self->_address, '127.0.0.1', 'address: of the connection' );
    is( $self->_address('X-Forwarded-For: 198.51.100.9'), '127.0.0.1',
        'X-Forwarded-For: not read without a trusted proxy (specification 8)' );
    is( $self->_address($_), '127.0.0.1', "address: the header $_ changes nothing" )
      for 'Remote-Addr: 198.51.100.9', 'REMOTE_ADDR: 198.51.100.9', 'X_Forwarded_For: 198.51.100.9',
      'Forwarded: for=198.51.100.9', 'X-Real-IP: 198.51.100.9', 'Client-IP: 198.51.100.9';
    return;
}

# SVC_TRUSTED_PROXY_COUNT=1: one proxy stands before the web server and appends what it sees.
sub forwarded_trusted {
    my ($self) = @_;
    is( $self->_address('X-Forwarded-For: 198.51.100.9'), '198.51.100.9',
        'X-Forwarded-For, one trusted proxy: its word counts' );
    is( $self->_address('X-Forwarded-For: 203.0.113.5, 198.51.100.9'), '198.51.100.9',
        '... the last entry alone; the caller may have written the others' );
    is( $self->_address( 'X-Forwarded-For: 203.0.113.5', 'X-Forwarded-For: 198.51.100.9' ), '198.51.100.9',
        '... also when they come as two headers' );
    is( $self->_address, '127.0.0.1', '... without the header the connection counts' );
    for my $name (qw(X_Forwarded_For X-Forwarded_For X.Forwarded.For)) {
        for my $order (
            [ "$name: 203.0.113.5",            'X-Forwarded-For: 198.51.100.9' ],
            [ 'X-Forwarded-For: 198.51.100.9', "$name: 203.0.113.5" ] )
        {
            # Apache drops such names, lighttpd those with underscores. It passes the others on under one name, as the
            # proxy's: two hands wrote that variable, so it is nobody's, and not the connection's.
            my $passes = $self->{server} eq 'lighttpd' && $name =~ /[.]/;
            is( $self->_address(@$order), $passes ? 'nobody' : '198.51.100.9',
                "... and the caller's $name neither passes for it nor makes the caller the proxy ("
                  . ( $order->[0] =~ /203/ ? 'before' : 'after' )
                  . ' the proxy\'s own)' );
        }
    }
    is( $self->_address("$_: 203.0.113.5"), '127.0.0.1', "... nor does $_ alone change the address" )
      for Authz::Deploy::Alias::aliases_of('X_FORWARDED_FOR');
    return;
}

# A query without = is no argument of the program (RFC 3875 4.4; CVE-2012-1823).
sub arguments {
    my ($self) = @_;
    my $victim = Authz::Web::directory_of_apache( $self->{stack}, 'victim' ) . '/file';
    Authz::Web::write_file( $victim, "mine\n" );
    for
      my $query ( '--version', '--help', '--check', "--workers+1+--listen+unix:$victim+--socket-group+nobody-has-this" )
    {
        my $answer = $self->{stack}->client->get( $self->at("/health/live?$query") );
        ok( $answer->status == 200 && $answer->member('status') eq 'UP' || $answer->status == 400,
            "arguments: ?$query reaches the program as a query alone" ) or diag( $answer->text );
    }
    ok( -f $victim, 'arguments: no file of the caller\'s choosing was replaced by a socket' );
    return;
}

sub nothing_broke {
    my ($self) = @_;
    my $stack = $self->{stack};
    ok( $stack->{server}->alive, 'the web server lives' );
    my $log = join '',
      map { Authz::Web::edit( $_, qr/\A/ => '' ) }
      grep {-e} glob "$stack->{dir}/*.log " . ( $stack->{server}{log} // '' );
    $log .= $stack->{service}->log_text if $stack->{service};
    unlike(
        $log,
        qr/worker ended|AddressSanitizer|runtime error|malformed header|WARNING: unknown config-key|is not defined/,
        'and no log has a complaint' );
    my @bad = grep { /"status":5\d\d/ && !/health|bundles/ } split /\n/, $log;
    is( scalar @bad, 0, 'and no request was answered with 5xx' ) or diag( join "\n", @bad );
    return;
}

1;

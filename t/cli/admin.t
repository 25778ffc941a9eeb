#!/usr/bin/perl
# Verbs of the admin API: client, idp, session, consent. Each runs on the database and over the API with --server, on one
# service, and prints the same with the same exit status.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use IO::Socket::INET ();
use POSIX            ();
use Test::More;

use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();
use Authzctl;

my $stack = Authz::Stack->start( path => '/auth' );
my $url   = $stack->base . '/auth';
my $env   = $stack->settings;
my $key   = $Authz::Stack::KEY{SVC_ADMIN_API_KEY};
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $key };

# Replace what differs between two rows that were made alike: names, ids, secrets, times, and the length of their column.
sub alike {
    my ($text) = @_;
    $text =~ s/two-/one-/g;
    $text =~ s/"id": \d+/"id": N/g;
    $text =~ s/^id +\d+$/id N/mg;
    $text =~ s{(clientSecret"?:? +)\S+}{$1SECRET}g;
    $text =~ s/(updatedBy"?:? +"?)(?:authzctl|SVC_ADMIN_API_KEY)/$1WHO/g;
    $text =~ s/\d{4}-\d\d-\d\dT[\d:.]+Z/TIME/g;
    return $text;
}

# Run a verb on the database and over the API. `{}` in an argument becomes one or two, so that writes work on rows of their own.
sub both {
    my ( $status, $arguments, $name, %option ) = @_;
    my ( $one, $two ) = map {
        my $word = $_;
        [ map {s/\{\}/$word/gr} @$arguments ]
    } qw(one two);
    my %in  = map { $_ => ( $option{in} // '' ) =~ s/\{\}/$_/gr } qw(one two);
    my $db  = ctl_is( $status, $one,                        "$name, on the database", env => $env, in => $in{one} );
    my $api = ctl_is( $status, [ @$two, '--server', $url ], '... and over the API',   env => $far, in => $in{two} );
    is( alike( $api->{out} ), alike( $db->{out} ), '... prints the same' );
    is( alike( $api->{err} ), alike( $db->{err} ), '... and the same on standard error' );
    return $db;
}

# ---- every verb both ways

my @verbs = (
    [   0, 'client create {}-app --type confidential --name App --redirect-uri https://a.example/1 --redirect-uri '
          . 'https://a.example/2 --scope a --scope b',
        qr/^redirectUris +\["https:\/\/a.example\/1","https:\/\/a.example\/2"\]$/m,
        'client create' ],
    [ 0, 'client create {}-json --type public --json', qr/"clientId": "one-json"/, 'client create --json' ],
    [ 1, 'client create {}-app --type public',         qr/^\z/,                    'client create of a taken name' ],
    [ 1, 'client create {}-bad --type secret',        qr/^\z/,               'client create with a type that is none' ],
    [ 0, 'client list',                               qr/^CLIENT +TYPE/,     'client list' ],
    [ 0, 'client list --json',                        qr/\A\[/,              'client list --json' ],
    [ 0, 'client show {}-app',                        qr/^scope +a b$/m,     'client show' ],
    [ 1, 'client show {}-none',                       qr/^\z/,               'client show of an unknown client' ],
    [ 0, 'client update {}-app --name New --disable', qr/^enabled +false$/m, 'client update' ],
    [ 0, 'client show {}-app',                        qr/^clientName +New$/m, 'the update is stored' ],
    [ 1, 'client update {}-none --name New',          qr/^\z/,                'client update of an unknown client' ],
    [ 0, 'client rotate-secret --yes {}-app --previous-ttl 60', qr/^previousSecretExpiresAt/m, 'client rotate-secret' ],
    [   1, 'client rotate-secret --yes {}-app --previous-ttl 9999999', qr/^\z/,
        'client rotate-secret with a time past the limit' ],
    [ 64, 'client rotate-secret --yes {}-app --previous-ttl 1h', qr/^\z/, 'client rotate-secret with no number' ],
    [ 1,  'client rotate-secret --yes {}-none',                  qr/^\z/, 'client rotate-secret of an unknown client' ],
    [ 0,  'client delete --yes {}-app',         qr/^client one-app was deleted$/, 'client delete' ],
    [ 1,  'client delete --yes {}-app',         qr/^\z/,                          'client delete of a deleted client' ],
    [ 0,  'client delete --yes {}-json --json', qr/"one-json"/,                   'client delete --json' ],
    [   0,                           'idp create {}-idp --issuer https://{}-idp.example --client-id us --scope openid',
        qr/^scopes +\["openid"\]$/m, 'idp create' ],
    [ 1, 'idp create {}-bad --issuer plain',     qr/^\z/,                'idp create with an issuer that is none' ],
    [ 0, 'idp list',                             qr/^PROVIDER +ENABLED/, 'idp list' ],
    [ 0, 'idp show {}-idp',                      qr/^clientId +us$/m,    'idp show' ],
    [ 0, 'idp update {}-idp --disable --name P', qr/^name +P$/m,         'idp update' ],
    [ 1, 'idp show {}-none',                     qr/^\z/,                'idp show of an unknown provider' ],
    [ 0, 'idp delete --yes {}-idp',              qr/^idp one-idp was deleted$/, 'idp delete' ],
    [ 1, 'idp delete --yes {}-idp',              qr/^\z/,                       'idp delete of a deleted provider' ],
    [   0, 'resource create {}-res --name R --type REST --url https://{}-res.example --default-scope r',
        qr/^status +pending$/m, 'resource create' ],
    [ 1, 'resource create {}-res --name R --type REST',        qr/^\z/, 'resource create with a name that is taken' ],
    [ 1, 'resource create mcp --name R --type REST',           qr/^\z/, 'resource create with a reserved name' ],
    [ 0, 'connector available',                                qr/^static-demo +1/m,   'connector available' ],
    [ 0, 'connector install static-demo --create --name demo', qr/^installed +true$/m, 'connector install' ],
    [ 1, 'connector install none',             qr/^\z/,                  'connector install of an unknown connector' ],
    [ 0, 'connector list',                     qr/^CONNECTOR +VERSION/,  'connector list' ],
    [ 0, 'connector show static-demo',         qr/^category +generic$/m, 'connector show' ],
    [ 0, 'connector sync static-demo',         qr/^static-demo +1/m,     'connector sync' ],
    [ 0, 'connector sync static-demo --force', qr/^static-demo +1/m,     'connector sync --force' ],
    [ 0, 'connector sync all',                 qr/^static-demo +1/m,     'connector sync all' ],
    [ 0, 'connector sync all --force --json',  qr/"connectorId": "static-demo"/, 'connector sync all --force --json' ],
    [ 1, 'connector sync none',                   qr/^\z/,             'connector sync of one that is not installed' ],
    [ 1, 'connector uninstall --yes static-demo', qr/^\z/,             'connector uninstall of one in use' ],
    [ 0, 'resource list',                         qr/^RESOURCE +TYPE/, 'resource list' ],
    [ 0, 'resource show {}-res', qr/^defaultScope +r$/m,                                          'resource show' ],
    [ 0, 'resource show demo',   qr{^routes:\nROUTE .*^status +GET +/status +yes\n.*^tools:\n}ms, '... in parts' ],
    [ 0, 'resource update {}-res --disable --name New',  qr/^status +disabled$/m,                 'resource update' ],
    [ 1, 'resource show {}-none',                        qr/^\z/, 'resource show of an unknown resource' ],
    [ 0, 'resource create {}-st --type STATIC --name S', qr/^status +active$/m, 'resource create of a STATIC one' ],
    [ 0, 'resource probe {}-st',                         qr/^ok +true$/m,       'resource probe' ],
    [ 1, 'resource probe {}-none',       qr/^\z/,                            'resource probe of an unknown resource' ],
    [ 0, 'resource delete --yes {}-res', qr/^resource one-res was deleted$/, 'resource delete' ],
    [ 1, 'resource delete --yes {}-res', qr/^\z/,                            'resource delete of a deleted resource' ],
);
for my $case (@verbs) {
    my ( $status, $words, $text, $name ) = @$case;
    like( both( $status, [ split / /, $words ], $name )->{out}, $text, '... and prints it' );
}

ctl_is( 0, [qw(resource delete --yes demo)], 'the resource of a connector is deleted', env => $env );
my $gone = ctl_is( 0, [qw(connector uninstall --yes static-demo)], 'connector uninstall', env => $env );
is( $gone->{out}, "connector static-demo was uninstalled\n", '... and says so' );

my $bad = both( 1, [qw(client create {}-bad --type secret --redirect-uri x)], 'two members that are wrong' );
like( $bad->{err}, qr/^authzctl: client create: clientType \(--type\) must be [^\n]+$/m, '... are printed, the first' );
like(
    $bad->{err}, qr/^authzctl: client create: redirectUris\[0\] \(--redirect-uri\) [^\n]+$/m,
    '... and the second, in a line each' );
for my $case (
    [ '{}-no --type REST',                'displayName \(--name\)', 'a required one that is missing, with its option' ],
    [ 'mcp --name R --type REST',         'name \(RESOURCE\)',      'the argument, not the option of the same name' ],
    [ '{}-no --name R --type X --enable', 'upstreamType \(--type\)', 'one that is wrong' ],
    [ '{}-no --name R --file -',          'routes',                  'one that no option sets' ] )
{
    my ( $words, $shown, $name ) = @$case;
    my $said = both(
        1,                                         [ split / /, "resource create $words" ],
        "resource create names the member: $name", in => '{"routes": 1}' );
    like( $said->{err}, qr/^authzctl: resource create: $shown \w[^\n(]+$/m, '... and what the user can give' );
}
like( $bad->{err}, qr/nothing was changed; correct these errors and run this again\n\z/, '... with what follows' );

my $made = both(
    0,                        [qw(client create {}-file --file - --name Given)],
    'client create --file -', in => '{"clientType": "public", "clientName": "Filed", "clientUri": "https://f.example"}'
);
like( $made->{out}, qr/^clientName +Given$/m,               'an option takes precedence over --file' );
like( $made->{out}, qr/^clientUri +https:\/\/f\.example$/m, '... and the other members are used' );
both( 1, [qw(client create {}-f2 --file -)], 'a file that is no object', in => '[]' );
both( 1, [qw(client create {}-f2 --file -)], 'a file that is no JSON',   in => '{' );
both( 1, [qw(client create {}-f2 --file /nonexistent/f)], 'a file that does not exist' );

# RFC 7517 appendix A.1.
my $set = '{"keys": [{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",'
  . ' "y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}';
my $tree  = tree( set => $set, 'empty' => '{"keys": []}' );
my @keyed = qw(--type confidential --auth-method private_key_jwt);
my $signs = both( 0, [ qw(client create {}-keys), @keyed, '--jwks', "$tree/set" ], 'client create --jwks FILE' );
like( $signs->{out}, qr/^tokenEndpointAuthMethod +private_key_jwt$/m, '... authenticates with its keys' );
unlike( $signs->{out}, qr/clientSecret/, '... and has no secret' );
both( 1, [ qw(client create {}-k3), @keyed ],                            'private_key_jwt without keys' );
both( 1, [ qw(client create {}-k3), @keyed, '--jwks', "$tree/empty" ],   'an empty set of keys' );
both( 1, [ qw(client create {}-k3), @keyed, qw(--jwks /nonexistent/f) ], 'a file of keys that does not exist' );
both( 0, [ qw(client create {}-k4), @keyed, qw(--jwks-uri https://app.example/keys) ], 'client create --jwks-uri' );
both( 1, [ qw(client update {}-k4 --jwks), "$tree/set" ], 'keys beside an address of keys' );
both( 1, [qw(client rotate-secret {}-k4 --yes)],          'client rotate-secret of a client with keys' );
my @workload = qw(--type confidential --auth-method spiffe_jwt);
my $svid     = both(
    0, [ qw(client create), @workload, 'spiffe://{}-domain/billing' ],
    'client create of a workload (oauth.md J9)' );
unlike( $svid->{out}, qr/clientSecret/, '... has no secret' );
both( 1, [ qw(client create {}-k5), @workload ], 'spiffe_jwt with a client_id that is no SPIFFE ID' );

my $odd = 'a/b c?d#e%41';
both( 0, [ qw(client create --type public), "{}-$odd" ], 'a name with characters that a path escapes' );
both( 0, [ qw(client show),                 "{}-$odd" ], '... is found' );
both( 0, [ qw(client delete --yes),         "{}-$odd" ], '... and deleted' );
both( 1, [qw(client show ../clients)], 'a name that would be another path is a name' );

# A verb that changes a row reads it, then its file: this one comes after somebody else has changed the row.
for my $way ( [ 'on the database', $env ], [ 'over the API', $far, '--server', $url ] ) {
    my ( $name, $set, @more ) = @$way;
    my $pipe = Authz::Process::directory() . '/raced';
    POSIX::mkfifo( $pipe, oct 600 ) if !-p $pipe;
    ctl( [qw(client create raced --type public --name Old)], env => $env );
    my $other = Authz::Process->start(
        name => 'other',
        code => sub {
            open my $out, '>', $pipe or die "$pipe: $!";
            $stack->sql(q{UPDATE client SET client_name = 'Other' WHERE client_id = 'raced'});
            print {$out} '{"clientUri": "https://r.example"}';
            close $out;
        } );
    my $lost =
      ctl_is( 1, [ qw(client update raced --file), $pipe, @more ], "client update, $name, loses a race", env => $set );
    like( $lost->{err}, qr/another administrator changed it meanwhile; nothing was changed/, '... and says so' );
    $other->wait(30);
    my $row = ctl( [qw(client show raced --json)], env => $env )->{json};
    is( $row->{clientName}, 'Other', "... and the other's change stays" );
    ok( !exists $row->{clientUri}, '... alone' );
    ctl_is( 0, [ qw(client update raced --name Mine), @more ], '... run again it passes', env => $set );
    ctl( [qw(client delete --yes raced)], env => $env );
}

# ---- sessions and consents

$stack->sql(<<'SQL');
INSERT INTO identity_provider (idp_id, issuer, client_id) VALUES ('home', 'https://home.example', 'us');
INSERT INTO subject (subject, issuer, upstream_sub) VALUES ('ann', 'https://home.example', 'ann');
INSERT INTO browser_session (id_hash, sid, subject, idp, auth_time, created_at, expires_at)
  SELECT sha256(s::bytea), s, 'ann', p.id, now(), now(), now() + interval '1 hour' FROM identity_provider p, (VALUES ('one-s'), ('two-s')) v(s);
SQL
both( 0, [qw(session list --subject ann)], 'session list --subject' );
like( ctl( [qw(session list)], env => $env )->{out}, qr/^one-s +ann +home /m, 'session list shows a session' );
unlike(
    ctl( [qw(session list --subject bob)], env => $env )->{out}, qr/one-s/,
    'session list --subject of another does not' );
both( 0, [qw(session end --yes {}-s)], 'session end' );
is( $stack->sql('SELECT count(*) FROM browser_session') + 0, 0, '... ends the sessions' );
both( 1, [qw(session end --yes {}-s)],    'session end of an ended session' );
both( 0, [qw(consent list)],              'consent list' );
both( 1, [qw(consent forget --yes 4711)], 'consent forget of an unknown id' );
both( 1, [qw(consent forget --yes x)],    'consent forget of a text that is no id' );

# ---- who acts

ctl( [qw(client create noted --type public)], env => $env );
is( $stack->sql(q{SELECT client_id FROM audit_log WHERE operation = 'createClient' ORDER BY id DESC LIMIT 1}) =~
      s/\s//gr,
    'authzctl', 'the audit row of a verb on the database names authzctl' );
is( ctl( [qw(client list)], env => { %$env, SVC_ADMIN_ENABLED => 'false' } )->{status},
    0, 'SVC_ADMIN_ENABLED=false closes the API, and not the database' );
for my $header ( 'X-Operator-Label', 'X-Operator', 'By-Operator', 'Authorization', 'User-Agent' ) {
    is( $stack->admin( GET => '/admin/api/clients', key => undef, headers => [ $header => 'authzctl' ] )->status,
        401, "a request without a key stays 401 with $header: authzctl" );
}

# ---- the way to the service

my $verb  = [qw(client list --server)];
my $wrong = ctl_is( 1, [ @$verb, $url ], 'an unknown key is refused', env => { %$far, AUTHZ_ADMIN_KEY => 'nonsense' } );
like( $wrong->{err}, qr/does not know this admin key; see /, '... with a remedy' );
unlike( $wrong->{err}, qr/nonsense/, '... and without the key' );
ctl_is( 78, [ @$verb, $url ], 'without a key', env => { SVC_CONFIG => '/dev/null' } );
ctl_is( 78, [ @$verb, $url ], 'with an empty key',             env => { %$far, AUTHZ_ADMIN_KEY => '' } );
ctl_is( 78, [ @$verb, $url ], 'with a key that ends a header', env => { %$far, AUTHZ_ADMIN_KEY => "a\r\nHost: b" } );
ctl_is( 78, [ @$verb, $url ], 'with a key of 1025 octets',     env => { %$far, AUTHZ_ADMIN_KEY => 'k' x 1025 } );
my $file = tree( key => "$key\n" ) . '/key';

for my $mode ( 0644, 0666, 0620 ) {
    chmod $mode, $file or die $!;
    my $open = ctl_is(
        78, [ @$verb, $url, '--key-file', $file ], sprintf( 'a key file of mode %04o is refused', $mode ),
        env => { SVC_CONFIG => '/dev/null' } );
    like( $open->{err}, qr/--key-file: \Q$file\E has mode .*; run chmod 6[04]0 \Q$file\E$/m, '... with what to do' );
    unlike( $open->{err}, qr/\Q$key\E|mint/, '... and that alone' );
}
chmod 0600, $file or die $!;
ctl_is( 0, [ @$verb, $url, '--key-file', $file ], 'with --key-file', env => { SVC_CONFIG => '/dev/null' } );
ctl_is(
    0, [ @$verb, $url, '--key-file', $file ], '... which takes precedence over the environment',
    env => { %$far, AUTHZ_ADMIN_KEY => 'x' } );
ctl_is( 78, [ @$verb, $url, '--key-file', '/nonexistent/key' ], 'with a file that does not exist', env => $far );
ctl_is( 78, [ @$verb, $url, '--key-file', '/dev/null' ],        'with an empty file',              env => $far );
ctl_is( 64, [ qw(client list --key-file), $file ],              '--key-file without --server',     env => $env );
ctl_is( 0,  [ @$verb, "$url/" ],                                'a slash at the end of the URL',   env => $far );

for my $refused (
    'http://example.com', 'http://127.0.0.1.example.com', 'ftp://127.0.0.1', 'file:///etc',          'nonsense',
    'https://',           'https://u:p@127.0.0.1', 'https://127.0.0.1/?a=b', 'https://127.0.0.1/#a', 'http://0.0.0.0',
    'http://[::]' )
{
    my $got = ctl_is( 64, [ @$verb, $refused ], "--server $refused is refused", env => $far );
    like( $got->{err}, qr/\Aauthzctl: client list: --server (?:must|is not)[^\n]+\n\z/, '... in one line' );
}
my $closed = Authz::Web::free_port();
my $absent = ctl_is( 69, [ @$verb, "http://127.0.0.1:$closed" ], 'a service that is not there', env => $far );
like( $absent->{err}, qr/check the URL of --server and that the service is running\n\z/, '... with a remedy' );
ctl_is(
    69, [ @$verb, "http://localhost:$closed" ], 'the proxy variables are not used for plain http',
    env => { %$far, http_proxy => $url, ALL_PROXY => $url } );
ctl_is( 69, [ @$verb, 'https://127.0.0.1:' . $url =~ s/.*:(\d+).*/$1/r ], 'a server without TLS', env => $far );
ctl_is(
    69, [qw(client list)], 'a database that is not there',
    env => { %$env, SVC_DATABASE_URL => 'host=/nonexistent' } );

# A server that gives one answer, and keeps the request.
sub answering {
    my ($answer) = @_;
    my $listen   = IO::Socket::INET->new( LocalAddr => '127.0.0.1', Listen => 1 ) or die "listen: $!";
    my $file     = Authz::Process::directory() . '/request' . ++( our $answers );
    my $pid      = fork // die "fork: $!";
    if ( $pid == 0 ) {
        my $peer = $listen->accept or exit 1;
        sysread $peer, my $request, 65536;
        Authz::Web::write_file( $file, $request );
        syswrite $peer, $answer;
        close $peer;
        require POSIX;
        POSIX::_exit(0);
    }
    my $got = ctl( [ @$verb, 'http://127.0.0.1:' . $listen->sockport ], env => $far );
    waitpid $pid, 0;
    return ( $got, $file );
}
my ( $moved, $asked ) =
  answering("HTTP/1.1 307 Moved\r\nLocation: $url/admin/api/clients\r\nContent-Length: 0\r\n\r\n");
is( $moved->{status}, 1, 'a redirect is not followed, because the key would go where it leads' );
like( $moved->{err}, qr/answers with a redirect, which is not followed/, '... and said' );
is( scalar( grep {-e} $asked ), 1, '... the first server was asked' );
my ($page) = answering("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi");
is( $page->{status}, 1, 'a page is no answer' );
my ($broken) = answering("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[}");
is( $broken->{status}, 1, 'an answer that is no JSON is refused' );
my ($cut) = answering("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n[]");
is( $cut->{status}, 69, 'an answer that breaks off is none' );
my ($long) = answering( "HTTP/1.1 200 OK\r\n" . "X-A: " . 'a' x 70_000 . "\r\nContent-Length: 2\r\n\r\n[]" );
isnt( $long->{status}, 0, 'a head of more than 64 KiB is refused' );
my ($busy) = answering(
    qq(HTTP/1.1 503 Busy\r\nContent-Type: application/json\r\nContent-Length: 49\r\n\r\n{"error":"x","error_description":"Not available"})
);
is( $busy->{status}, 69, 'status 503 is exit status 69' );
like( $busy->{err}, qr/Not available/, '... with the text of the answer' );

# ---- admin keys: one carrier sees those that the other one made

my %far   = ( env => $far );
my @there = ( '--server', $url );
my @ways  = ( [ [], env => $env ], [ \@there, %far ] );
for my $way (@ways) {
    my ( $server, %where ) = @$way;
    my $label = @$server ? 'there' : 'here';
    my $made  = ctl_is( 0, [ qw(admin-key mint --label), $label, @$server ], 'admin-key mint', %where );
    like( $made->{out}, qr/\Aak_[\w-]{40,}\n\z/, '... prints the key alone' );
    ctl_is( 64, [ qw(admin-key mint --label), "a\x01", @$server ], 'admin-key mint with a label that is none', %where );
    my $got = ctl_is( 1, [ qw(admin-key revoke --yes none), @$server ], 'admin-key revoke of none', %where );
    like( $got->{err}, qr/no admin key none/, '... names it' );
}
my @list = map {
    my ( $server, %where ) = @$_;
    ctl( [ qw(admin-key list), @$server ], %where )->{out}
} @ways;
is( $list[1], $list[0], 'admin-key list prints the same over the API' );
my %key = reverse $list[0] =~ /^(\S+) .* (here|there)$/mg;
for my $way (@ways) {
    my ( $server, %where ) = @$way;
    my $id  = $key{ @$server ? 'here' : 'there' };
    my $got = ctl_is( 0, [ qw(admin-key revoke --yes), $id, @$server ], 'admin-key revoke', %where );
    is( $got->{out} . $got->{err}, "admin key $id revoked\n", '... says so' );
}

# ---- verbs of this host

for my $words ( 'config show', 'db status', 'maintain', 'setup', 'openapi' ) {
    my $got = ctl_is( 64, [ split( / /, $words ), '--server', $url ], "$words refuses --server", env => $far );
    like( $got->{err}, qr/works on (?:this host|the database) alone; omit --server/, '... and says where it works' );
}

# ---- verbs of files: --server has no effect

for my $words ( 'completion bash', 'config doc', 'cedar format ' . Authz::Path::source( 'etc', 'authz.conf' ) ) {
    my $here = ctl( [ split / /, $words ], env => $far );
    my $got  = ctl( [ split( / /, $words ), '--server', $url ], env => $far );
    is_deeply( $got, $here, "$words takes --server, which has no effect" );
}

# ---- AUTHZ_SERVER stands for --server

my $named = { %$far, AUTHZ_SERVER => $url };
ctl_is( 0, [qw(client list)], 'AUTHZ_SERVER names the service', env => $named );
like(
    ctl( [qw(client list)], env => { %$named, AUTHZ_SERVER => 'http://127.0.0.1:9' } )->{err},
    qr/127\.0\.0\.1:9/, '... and no other is asked' );
ctl_is(
    0,                           [ qw(client list --server), $url ],
    '--server takes precedence', env => { %$named, AUTHZ_SERVER => 'http://127.0.0.1:9' } );
ctl_is( 0, [qw(client list)], 'an empty AUTHZ_SERVER is none', env => { %$env, AUTHZ_SERVER => '' } );
ctl_is(
    0,                                             [ qw(client list --config), $env->{SVC_CONFIG} // '/dev/null' ],
    '--config takes precedence over AUTHZ_SERVER', env => { %$env, AUTHZ_SERVER => 'http://127.0.0.1:9' } );
ctl_is( 0, [qw(db status)], 'a verb of the host does not use it', env => { %$env, AUTHZ_SERVER => $url } );

done_testing;

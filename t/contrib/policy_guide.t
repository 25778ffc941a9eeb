#!/usr/bin/perl
# doc/policy-guide.md: its input documents have the members of real decisions; the recipes of contrib/examples/policy pass their
# tests, alone and together, and work on the service.
use strict;
use warnings;

use File::Path ();
use JSON::PP   ();
use Test::More;
use Time::HiRes qw(sleep);

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();

my $stack = Authz::Stack->start;
my $guide = Authz::Web::edit( Authz::Path::source('doc/policy-guide.md') );
my $json  = JSON::PP->new->utf8->canonical;

my @agent = ( 'User-Agent' => 'curl/8.5.0' );
my $name  = 'https://api.example/orders';
my @shop  = $stack->make_client(
    'shop',
    {   grants => [qw(client_credentials authorization_code refresh_token)],
        scopes => [qw(openid profile orders.read orders.write payments.create payments.approve)], resources => [$name] }
);
my @api = $stack->make_client( 'orders-api', { endpoints => ['introspect'], resources => [$name] } );
my @app = $stack->make_client( 'todo-app',   { endpoints => ['authzen'] } );
Authz::Grant->people( $stack, claims => { groups => [ 'ops', 'tenant-acme' ] } );

# ---- the input documents of the guide

sub shop_token {
    my ($scope) = @_;
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@shop), @agent ],
        form => [ grant_type => 'client_credentials', scope => $scope, resource => $name ] );
}

sub shop_code {
    my (%option) = @_;
    my $code = Authz::Grant->code(
        $stack,
        client => 'shop', scope => 'openid orders.read', resource => $name, nonce => 'n', acr => 'urn:loa:2',
        amr    => ['pwd'],
        %option );
    return $stack->http->post(
        '/token', headers => [ Authz::Client::basic(@shop), @agent ],
        form => [ Authz::Grant->redemption($code) ] );
}

sub register {
    my ($uri) = @_;
    return $stack->http->post(
        '/register', headers => \@agent,
        json => { redirect_uris => [$uri], client_name => 'App', scope => 'openid' } );
}

# Return the input of the decision about the last request to an endpoint.
sub input_of {
    my ($answer) = @_;
    my $id       = $answer->header('X-Request-ID');
    my $hex      = '';
    for ( 1 .. 200 ) {
        $hex = $stack->sql("SELECT encode(policy_input, 'hex') FROM audit_log WHERE request_id = '$id'");
        last if $hex ne '';
        sleep 0.05;
    }
    return decode_packed($hex);
}

# Return the paths of all members of a document: "request.id", "redirect_uris[].uri".
sub members {
    my ( $value, $path ) = @_;
    return map { members( $_, "${path}[]" ) } @$value                               if ref $value eq 'ARRAY';
    return map { ( "$path.$_", members( $value->{$_}, "$path.$_" ) ) } keys %$value if ref $value eq 'HASH';
    return;
}

sub unique {
    my %seen = map { ( $_ => 1 ) } @_;
    return [ sort keys %seen ];
}

my $token = shop_token('orders.read orders.write');
my $shown = $stack->http->post(
    '/introspect', headers => [ Authz::Client::basic(@api), @agent ],
    form => [ token => $token->member('access_token'), context => '{"scopes":["orders.read"]}' ] );
my %real = (
    'a client for itself' => $token, 'a client for a user' => shop_code(), 'introspection' => $shown,
    'registration'        => register('https://app.example.org/callback'),
    'access decision'     => $stack->http->post(
        '/access/v1/evaluation',
        headers => [ Authz::Client::basic(@app), @agent ],
        json    => {
            subject  => { type => 'user', id => 'alice', properties => { department => 'Sales' } },
            action   => { name => 'can_update_todo' },
            resource => { type => 'todo', id => '1', properties => { ownerID => 'alice@example.org' } },
            context  => { ip   => '192.0.2.1' } } ) );
for my $what ( sort keys %real ) {
    my $input = input_of( $real{$what} );
    diag $what, JSON::PP->new->pretty->canonical->encode($input) if $ENV{AUTHZ_SHOW};
    my ($text) = $guide =~ /<!-- input: \Q$what\E -->\n```json\n(.*?)```/s;
    my $shown = eval { $json->decode( $text // '' ) };
    ok( $shown, "guide: the input of $what is there, and JSON" ) or next;
    is_deeply(
        unique( members( $shown, '' ) ), unique( members( $input, '' ) ),
        "guide: ... and has the members of a real decision's input" );
}

# ---- the first rule

my %first = $guide =~ m{^cat >policy/(\S+) <<'END'\n(.*?)^END$}msg;
my $first = Authz::Process::directory() . '/first';
File::Path::make_path("$first/custom");
Authz::Web::write_file( "$first/$_", $first{$_} =~ s/^    //mgr ) for keys %first;
my ( $tested, $printed ) = policy_test($first);
is( $tested, 0, 'guide: the tests of its first rule pass' ) or diag $printed;
like( $printed, qr{^PASS: 2/2$}m, '... both of them' );

# ---- the recipes: their own tests

my @recipe = map {m{([^/]+)/?\z}} grep {-d} glob Authz::Path::source( 'contrib', 'examples', 'policy' ) . '/*';
my $all    = Authz::Process::directory() . '/recipes';
for my $recipe (@recipe) {
    my $dir = Authz::Path::source( 'contrib', 'examples', 'policy', $recipe );
    my ( $status, $text ) = policy_test($dir);
    is( $status, 0, "recipe $recipe: its tests pass" ) or diag $text;
    like( $text,  qr/^PASS: (?:[5-9]|\d\d)/m, '... and it has several' );
    like( $guide, qr{policy/$recipe/},        '... and the guide names it' );
    File::Path::make_path($all);
    is( system( 'cp', '-R', "$dir/.", $all ), 0, '... and it is copied into one policy with the others' );
}
is( scalar @recipe, 7, 'there are seven recipes' );
my ( $status, $text ) = policy_test($all);
is( $status, 0, 'the tests of all recipes pass together' ) or diag $text;

sub policy_test {
    my ($dir) = @_;
    local $ENV{AUTHZ_OPA} = Authz::Path::opa();
    return $stack->authzctl( qw(policy test), $dir );
}

# ---- the recipes on the service

my $before = shop_code()->member('access_token');
sub ask_api { my ($text) = @_; return $stack->introspect( @api, $text ) }
oauth_ok( ask_api($before), { active => true }, 'before the deploy the token of alice is active' );
( $status, $text ) = $stack->authzctl( qw(bundle deploy), $all );
is( $status, 0, 'the recipes are deployed together' ) or diag $text;
like( $text, qr/^confirmed|confirmed$/m, '... and confirmed' );

oauth_error(
    shop_token('payments.create payments.approve'),
    400, 'invalid_scope|access_denied|invalid_request', 'recipe separate-duties: two duties get no token' );
oauth_ok(
    shop_token('payments.create'),
    { scope => 'payments.create' },
    'recipe separate-duties: one duty gets a token' );

my $tenant = shop_code()->member('access_token');
oauth_ok( ask_api($tenant), { active => true }, 'recipe tenant: the token is active' );
is_deeply(
    ask_api($tenant)->member('obligations'), { tenant => 'acme' },
    'recipe tenant: ... and the API sees the tenant' );

is( register('https://app.example.org/callback')->status, 201, 'recipe own-domains: a redirect URI of ours registers' );
my $foreign = register('https://app.example.net/callback');
is( $foreign->status, 400, 'recipe own-domains: another one does not' ) or diag $foreign->text;
like(
    $foreign->member('error_description') // '',
    qr/not in a domain of this organisation/,
    'recipe own-domains: ... with the message of the rule' );

my $open = $stack->admin(
    POST => '/admin/api/policy-rules/evaluate',
    json => {
        path  => 'svc/decision/issue/result',
        input =>
          { %{ input_of($token) }, request => { %{ input_of($token)->{request} }, time_ns => 1795258800000000000 } } }
);
is_deeply(
    [ grep {/write/} @{ $open->json->{result}{scopes} } ], [],
    'recipe business-hours: on a Saturday orders.write is blocked' ) or diag $open->text;

$stack->patch_row( 'example.stopped', { users => { alice => 'a test' } } );
oauth_ok( ask_api($tenant), { active => false }, 'recipe stop-list: a token of a stopped user is inactive at once' );
oauth_error( shop_code(), 400, 'access_denied|invalid_grant', 'recipe stop-list: ... and there is no new one' );
oauth_ok(
    ask_api( shop_token('orders.read')->member('access_token') ),
    { active => true }, 'recipe stop-list: ... and others are not concerned' );

done_testing;

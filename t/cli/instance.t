#!/usr/bin/perl
# export, plan and apply: the instance as files (doc/design/instance.md), on the database and over the API.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authzctl;

my $stack = Authz::Stack->start;
my $env   = { %{ $stack->settings }, AUTHZ_OPA => Authz::Path::opa() };
my $far   = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY} };
my %way   = ( database => [ [], $env ], API => [ [ '--server', $stack->base ], $far ] );
my $json  = JSON::PP->new->canonical->utf8;

my $rule = qq{package custom.issue\n\ndeny contains "closed" if {\n\tinput.client.id == "closed"\n}\n};

sub slurp { open my $in, '<:raw', $_[0] or die "$_[0]: $!"; local $/ = undef; return readline $in }

sub spew {
    my ( $path, $text ) = @_;
    open my $out, '>:raw', $path or die "$path: $!";
    print {$out} $text;
    return close $out;
}

# All files of a directory, as one text.
sub whole {
    my ($dir) = @_;
    return Authz::Process->run(
        name    => 'files',
        command => [ "sh", "-c", "cd '$dir' && find . -type f | sort | xargs sha256sum" ] );
}

# A directory of an owner with these objects, KIND/KEY => {...}, and files below policy.
sub instance {
    my ( $owner, %file ) = @_;
    return tree(
        'instance.json' => $json->encode( { format => 1, owner => $owner } ),
        map { $_ => ref $file{$_} ? $json->encode( $file{$_} ) : $file{$_} } keys %file );
}

sub client { my ($id) = @_; return $stack->admin( GET => "/admin/api/clients/$id" ) }

for my $way ( sort keys %way ) {
    my ( $more, $set ) = @{ $way{$way} };
    my $p   = lc $way;
    my $run = sub {
        my ( $status, $name, @words ) = @_;
        return ctl_is( $status, [ @words, @$more ], "$way: $name", env => $set );
    };
    my $dir = instance(
        "$p-team",
        "clients/$p-shop.json" =>
          { clientType => 'confidential', clientName => 'Shop', redirectUris => ['https://shop.example/cb'] },
        "policy/custom/$p.rego"                      => $rule =~ s/custom[.]issue/custom.$p/r,
        'policy/data/svc.entitlements.bindings.json' =>
          { clients => { "$p-shop" => { grants => ['client_credentials'], scopes => ['read'] } } } );
    my $plan = $run->( 2, 'plan --check tells what would change (F6)', 'plan', '--check', $dir );
    like( $plan->{out}, qr/^create client $p-shop$/m,                                        '... the client' );
    like( $plan->{out}, qr/^create entry svc[.]entitlements[.]bindings\/clients\/$p-shop$/m, '... its binding' );
    is( client("$p-shop")->status, 404, '... and changes nothing' );
    my $done = $run->( 0, 'apply (F7)', 'apply', $dir );
    like(
        $done->{out}, qr/^client $p-shop: clientSecret (\S+) \(shown this once\)$/m,
        '... shows the secret of a new client (F4)' );
    my ($secret) = $done->{out} =~ /clientSecret (\S+)/;
    is( $stack->token( "$p-shop", $secret, scope => 'read' )->status, 200, '... the client works, with its binding' );
    my $after = $run->( 0, 'plan_after_apply_empty (F6)', 'plan', '--check', $dir );
    like(
        $after->{out}, qr/\A0 to create, 0 to change, 0 to adopt, 0 to approve, 0 stray, 3 same\n\z/,
        '... has no step' );

    my $one = Authz::Process::directory() . "/$p-one";
    $run->( 0, 'export (F2)', 'export', '--owner', "$p-all", $one );
    ok( !-e "$one/clients/$p-shop.json", '... leaves the objects of other owners out' );
    $run->( 0, 'export of the owner', 'export', '--owner', "$p-team", "$one-a" );
    $run->( 0, 'export again',        'export', '--owner', "$p-team", "$one-b" );
    is( whole("$one-a"), whole("$one-b"), "$way: export_twice_equal (F2)" );
    unlike(
        slurp("$one-a/clients/$p-shop.json"), qr/Secret"|"id"|registrationType/,
        '... without secrets and what the service sets' );
}

# ---- the rules, on the database

sub run { my ( $status, $name, @words ) = @_; return ctl_is( $status, \@words, $name, env => $env ) }

sub api {
    my ( $method, $path, $body, @more ) = @_;
    return $stack->admin( $method => "/admin/api/$path", json => $body, @more );
}

my %shop = ( clientType => 'confidential', clientName => 'Shop', scope => 'read' );
my $dir  = instance( 'red', 'clients/red-1.json' => \%shop, 'clients/red-2.json' => \%shop );
run( 0, 'two clients of the owner red', 'apply', $dir );
$stack->make_client('stranger');

# F5
run( 0, 'unknown_left: apply --prune (F5)', 'apply', '--prune', '--yes', $dir );
is( client('stranger')->status, 200, '... leaves what no file names and nobody marked' );
my $taken =
  run( 1, 'other_owner (F5)', 'apply', instance( 'blue', 'clients/red-1.json' => { %shop, clientName => 'Blue' } ) );
like(
    $taken->{err}, qr/client red-1 belongs to the owner red, not to blue; .* `authzctl owner release client red-1`/,
    '... is refused, with the way out' );
is( client('red-1')->member('clientName'), 'Shop', '... and nothing changes' );
run( 0, 'adopt (F5)', 'apply', instance( 'blue', 'clients/stranger.json' => { clientType => 'confidential' } ) );
like(
    run( 0, 'owner list', 'owner', 'list', '--owner', 'blue' )->{out}, qr/^client\s+stranger\s+blue\s/m,
    '... an object without an owner gets one' );

unlink "$dir/clients/red-2.json" or die;
like(
    run( 2, 'a file that is gone', 'plan', '--check', $dir )->{out},
    qr/^stray client red-2 \(`apply --prune` deletes it\)$/m, '... makes a stray' );
run( 0, '... which apply', 'apply', $dir );
is( client('red-2')->status, 200, '... leaves without --prune' );
run( 0, 'prune_own_only (F5)', 'apply', '--prune', '--yes', $dir );
is( client('red-2')->status, 404, '... deletes the stray' );
is( client($_)->status,      200, "... and not $_" ) for qw(red-1 stranger database-shop api-shop);
is( $stack->sql("SELECT count(*) FROM object_owner WHERE key = 'red-2'"), "0", '... and its mark' );
api( DELETE => 'clients/red-1' );
$stack->make_client('red-1');
unlink "$dir/clients/red-1.json" or die;
spew( "$dir/clients/red-3.json", $json->encode( \%shop ) );
run( 0, 'an object of the same name that was made later', 'apply', '--prune', '--yes', $dir );
is( client('red-1')->status, 200, '... is nobody\'s, and stays' );

# F3
my %row   = ( grants => ['client_credentials'], scopes => ['read'] );
my $bind  = 'policy/data/svc.entitlements.bindings.json';
my @entry = map { instance( $_, $bind => { clients => { "of-$_" => \%row } } ) } qw(red blue);
run( 0, 'bindings_of_others (F3)', 'apply', $_ ) for @entry;
$stack->bind( 'by-hand', \%row );
spew( "$entry[0]/$bind", $json->encode( { clients => {} } ) );
run( 0, '... prune of one owner', 'apply', '--prune', '--yes', $entry[0] );
my $bindings = ctl( [qw(policy data get svc.entitlements.bindings)], env => $env )->{json}{clients};
is( join( ' ', grep {/\A(?:of-|by-)/} sort keys %$bindings ), 'by-hand of-blue', '... deletes its own entry alone' );

# F4
my $bad = run(
    1, 'secret_literal (F4)', 'plan',
    instance( 'red', 'clients/red-3.json' => { %shop, clientSecret => 'a literal secret of ours' } ) );
like( $bad->{err}, qr/clientSecret must not be in a file; write \{"env": NAME\}/, '... is refused' );
unlike( $bad->{err}, qr/literal secret/, '... and not repeated' );
like(
    run(1, "secret_literal: $_ (F4)", 'plan',
        instance( 'red', 'clients/red-3.json' => { %shop, clientSecret => { env => $_ } } ) )->{err},
    qr/clientSecret must not be in a file; write .* no setting/,
    '... is refused, as it is a secret of the service' ) for qw(SVC_ADMIN_API_KEY AUTHZ_ADMIN_KEY);
my $place = Authz::Process::directory();
spew( "$place/secret", "a good secret of 26 octets\n" );
chmod 0600, "$place/secret";
symlink "$place/secret", "$place/link" or die;
spew( "$place/open", "a good secret of 26 octets\n" );
chmod 0644, "$place/open";
mkdir "$place/folder";
spew( "$place/large", 'x' x 4097 );
chmod 0600, "$place/large";

for my $case (
    [ link   => qr/is a symbolic link/ ],    [ open => qr/can be read by other accounts; run chmod 600/ ],
    [ folder => qr/is not a regular file/ ], [ none => qr/No such file/ ], [ large => qr/is larger than 4 KiB/ ] )
{
    my $refused = run(
        1, "secret_link: $case->[0] (F4)", 'apply',
        instance( 'red', 'clients/red-4.json' => { %shop, clientSecret => { file => "$place/$case->[0]" } } ) );
    like( $refused->{err}, $case->[1], '... is refused' );
    is( client('red-4')->status, 404, '... and no client is made' );
}
my $secret = instance(
    'green', 'clients/green.json' => { %shop, clientSecret => { file => "$place/secret" } },
    $bind => { clients => { green => \%row } } );
unlike( run( 0, 'a secret in a file', 'apply', $secret )->{out}, qr/good secret/, '... is not shown' );
is( $stack->token( 'green', 'a good secret of 26 octets', scope => 'read' )->status, 200, '... and works' );
run( 0, '... and plan sees no change', 'plan', '--check', $secret );
spew( "$place/secret", "another secret of 27 octets\n" );
chmod 0600, "$place/secret";
like(
    run( 2, 'another secret', 'plan', '--check', $secret )->{out}, qr/^change client green: \(secret\)$/m,
    '... is a change' );
run( 0, '... that is made', 'apply', $secret );
is( $stack->token( 'green', 'another secret of 27 octets', scope => 'read' )->status, 200, '... and works' );
is( $stack->sql(q{SELECT count(*) FROM object_owner WHERE secret_mac IS NOT NULL AND octet_length(secret_mac) = 32}),
    "1", '... and a MAC of it is kept' );

# F6, F7
my $two = instance( 'gold', 'clients/gold-1.json' => \%shop, 'clients/gold-2.json' => \%shop );
run( 0, 'two clients', 'apply', $two );
spew( "$two/clients/gold-$_.json", $json->encode( { %shop, clientName => 'New' } ) ) for 1, 2;
open my $before, '>', "$place/plan" or die $!;
chmod 0666, $before or die $!;
close $before;
run( 0, 'a plan in a file', 'plan', '--out', "$place/plan", $two );
is( sprintf( '%04o', ( stat "$place/plan" )[2] & 07777 ), '0600',
    '... which others cannot read, whatever mode it had' );
is( ( stat "$place/plan" )[2] & 0777, 0600, '... that others cannot read' );
api( PUT => 'clients/gold-2', { %shop, clientName => 'By hand' } );
my $stopped = run( 1, 'changed_412 (F7)', 'apply', "$place/plan" );
like( $stopped->{out}, qr/^done: change client gold-1$/m,                                '... tells what was done' );
like( $stopped->{err}, qr/client gold-2: another administrator changed it/,              '... and what was not' );
like( $stopped->{err}, qr/stopped after 1 steps, which stay; run this again to go on$/m, '... and what to do' );
is( client('gold-2')->member('clientName'), 'By hand', '... which stays as it was' );
my $again = run( 0, 'half_applied_converges (F7)', 'apply', $two );
unlike( $again->{out}, qr/gold-1/, '... what was done is not done again' );
run( 0, '... and then the plan is empty', 'plan', '--check', $two );
run( 1, 'a plan of something else', 'apply', Authz::Path::source('NEWS') );
my $broken = run(
    1, 'a rule that the service refuses', 'plan',
    instance( 'gold', 'policy/custom/bad.rego' => "package custom.bad\n\nx := 1 +\n" ) );
like( $broken->{err}, qr/bad[.]rego/, '... is refused by the plan, by the name of its file' );
my $elsewhere = tree( 'instance.json' => '{"format": 1, "owner": "gold", "issuer": "https://other.example"}' );
like(
    run( 1, 'files of another service (F2)', 'apply', $elsewhere )->{err},
    qr/issuer is https:\/\/other[.]example, but the service is/, '... are refused' );

for my $case (
    [ { 'clients/a%2fb.json' => '{}' }, qr/is not the name of an object/, 'a second name of an object' ],
    [   { 'clients/a.json' => '{"clientId": "b"}' }, qr/clientId is 'b', which is not the name of the file/,
        'another name in the file' ],
    [ { 'clients/a.json' => '{"clientName": "a", "clientName": "b"}' }, qr/clients\/a[.]json: /, 'a repeated member' ],
    [ { 'clients/a.json' => '{"id": 7}' }, qr/the service sets id; remove it/, 'a member that the service sets' ],
    [   { 'connectors/a.json' => '{"name": "A"}' }, qr/the service sets name; remove it/,
        'a member of a connector that the service sets' ],
    [   { 'connectors/a.json' => '{"secret": {}}' }, qr/member other than id, version and settings/,
        'another member of a connector' ],
    [ { 'connectors/a.json' => '{"settings": null}' }, qr/settings must be an object/, 'settings that are none' ] )
{
    my ( $files, $why, $name ) = @$case;
    like( run( 1, "refused: $name (F2)", 'plan', instance( 'red', %$files ) )->{err}, $why, '... with the reason' );
}
symlink '/etc/passwd', "$dir/clients/x.json" or die;
like( run( 1, 'refused: a link (F2)', 'plan', $dir )->{err}, qr/x[.]json: is a symbolic link/, '... with the reason' );

# ---- resources, providers and connectors

my $auth = { type => 'static_header', header => 'X-Key', value => { env => 'UPSTREAM_KEY' } };
my $all  = instance(
    'all',
    'providers/company.json' =>
      { issuer => 'https://login.example', clientId => 'authz', enabled => JSON::PP::false() },
    'connectors/static-demo.json' => { version => connector_version('static-demo') },
    'resources/orders.json'       => {
        displayName  => 'Orders', upstreamType => 'REST', upstreamUrl => 'https://api.example', defaultScope => 'use',
        upstreamAuth => $auth,
        routes       => [ { id => 'all', path => '/**', methods => ['GET'] } ] } );
my $with = { %$env, UPSTREAM_KEY => 'the key of the upstream' };
ctl_is( 0, [ 'apply', $all ], 'a provider, a connector and a resource (F7)', env => $with );
my $empty = ctl_is( 0, [ 'plan', '--check', $all ], '... after which the plan is empty', env => $with );
like( $empty->{out}, qr/^0 to create, .* 3 same$/m, '... of all three' );
like(
    run( 1, 'a variable that is not set (F4)', 'plan', $all )->{err},
    qr/UPSTREAM_KEY: is not set in the environment/, '... is told' );
run( 0, 'an export', 'export', '--owner', 'all', "$place/all" );
is_deeply(
    [ grep { ( stat $_ )[2] & 077 } glob "$place/all $place/all/* $place/all/*/* $place/all/*/*/*" ],
    [], '... is for its owner alone, as a plan and a pull are' );
like( slurp("$place/all/resources/orders.json"), qr/"upstreamType": "REST"/, '... has the resource' );
unlike( slurp("$place/all/resources/orders.json"), qr/"set"|updatedAt|the key of/, '... without its secret' );
is( join( ' ', sort { $a cmp $b } keys %{ $json->decode( slurp("$place/all/connectors/static-demo.json") ) } ),
    'id settings version', '... and the connector' );

# Settings of a connector (F2, F4): its secrets are those of the resource.
my %rest = ( version => connector_version('generic-rest') );
my $set  = { baseUrl => 'https://one.example', readScope => 'one:read', writeScope => 'one:write' };
for my $literal ( 'a literal credential', { env => 'UPSTREAM_KEY' } ) {
    my $refused = run(
        1, 'secret_literal: a setting of a connector (F4)',
        'plan',
        instance( 'kit', 'connectors/generic-rest.json' => { %rest, settings => { %$set, secret => $literal } } ) );
    like(
        $refused->{err},
        qr/connector generic-rest: settings[.]secret is a secret .* upstreamAuth of the file of its managed/,
        '... is refused, with its place' );
    unlike( $refused->{err}, qr/literal credential/, '... and not repeated' );
}
my $kit = instance( 'kit', 'connectors/generic-rest.json' => { %rest, settings => { %$set, baseUrl => 7 } } );
like(
    run( 1, 'refused: a setting that the manifest does not allow (F2)', 'apply', $kit )->{err}, qr/settings[.]baseUrl/,
    '... by its name' );
is( connector('generic-rest')->{installed}, JSON::PP::false(), '... and nothing is installed' );
spew( "$kit/connectors/generic-rest.json", $json->encode( { %rest, settings => $set } ) );
run( 0, 'a connector with settings (F2)', 'apply', $kit );
is_deeply( connector('generic-rest')->{settings}, $set, '... has them' );
run( 0, '... after which the plan is empty', 'plan', '--check', $kit );
run( 0, '... and after an export', 'export', '--owner', 'kit', "$place/kit" );
is_deeply(
    $json->decode( slurp("$place/kit/connectors/generic-rest.json") )->{settings}, $set,
    '... whose file has them' );
unlike( run( 0, '... as it was applied', 'plan', "$place/kit" )->{out}, qr/connector/, '... with no step for it' );
spew( "$kit/connectors/generic-rest.json", $json->encode( { %rest, settings => { %$set, readScope => 'two:read' } } ) );
like(
    run( 2, 'another setting', 'plan', '--check', $kit )->{out}, qr/^change connector generic-rest: settings$/m,
    '... is a change' );
run( 0, '... that is made', 'apply', $kit );
is( connector('generic-rest')->{settings}->{readScope}, 'two:read', '... by a sync' );
run( 0, '... after which the plan is empty', 'plan', '--check', $kit );
spew( "$kit/connectors/generic-rest.json", $json->encode( \%rest ) );
run( 0, 'a file without settings leaves them', 'plan', '--check', $kit );
my $other_kit = instance( 'kat', 'connectors/generic-rest.json' => { %rest, settings => {} } );
like(
    run( 1, 'other_owner: the connector of another one (F5)', 'apply', $other_kit )->{err},
    qr/connector generic-rest belongs to the owner kit/,
    '... is refused' );
unlink "$kit/connectors/generic-rest.json" or die;
run( 0, 'prune_own_only: connectors (F5)', 'apply', '--prune', '--yes', $kit );
is( connector( $_->[0] )->{installed}, $_->[1],
    "... $_->[0] is " . ( $_->[1] ? 'left' : 'uninstalled' )
) for [ 'generic-rest', JSON::PP::false() ], [ 'static-demo', JSON::PP::true() ];

# A tool that waits: its hash in the file is the approval (F6).
my ( $seen, $other ) = ( 'a' x 64, 'b' x 64 );
my $tool = sub { return { name => 'move', pin => { sha256 => $_[0] } } };
my $mcp  = instance( 'mcp', 'resources/desk.json' =>
      { displayName => 'Desk', upstreamType => 'MCP', upstreamUrl => 'https://mcp.example', defaultScope => 'use' } );
run( 0, 'a resource with an MCP upstream', 'apply', $mcp );
my @tools = (
    {   name        => 'move', upstreamName => 'move', origin => 'upstream',
        inputSchema => { type => 'object' }, pin => { status => 'new', sha256 => $seen } } );
$stack->sql( sprintf q{UPDATE managed_resource SET tools = '%s' WHERE name = 'desk'}, $json->encode( \@tools ) );
my $desk = "$mcp/resources/desk.json";
my %desk = %{ $json->decode( slurp($desk) ) };
spew( $desk, $json->encode( { %desk, tools => [ $tool->($other) ] } ) );
my $unseen = run( 0, 'pin_not_seen (F6)', 'apply', $mcp );
like(
    $unseen->{err},
    qr/resource desk: warning: the description of the tool move that waits for approval has the hash $seen/,
    '... is told' );
is( pin()->{status}, 'new', '... and not approved' );
spew( $desk, $json->encode( { %desk, tools => [ $tool->($seen) ] } ) );
like(
    run( 0, 'the hash that was seen', 'plan', $mcp )->{out}, qr/^approve resource desk: move$/m,
    '... is an approval' );
run( 0, '... which apply makes', 'apply', $mcp );
is( pin()->{status}, 'approved', '... and the tool is served' );
run( 0, '... and then the plan is empty', 'plan', '--check', $mcp );

# ---- the marks over the API (F5)

sub marks {
    return [ map { { kind => 'entry', key => "$_[0].row/m/$_", digest => '0' x 64 } } 1 .. $_[1] ];
}
api(POST => 'policy-bundle/deploy',
    {   data => [
            { dataKey => 'many.row', payload => { m => { map { $_ => 1 } 1 .. 1001 } } },
            { dataKey => 'else.row', payload => { m => { 1 => 1, 'a/b' => 2 } } } ] } );
for my $case (
    [ 'client', 'absent-1' ],           [ 'provider', 'absent' ], [ 'resource', 'absent' ], [ 'connector', 'absent' ],
    [ 'rule',   'custom/absent.rego' ], [ 'row', 'absent.row' ],  [ 'entry', 'else.row/m/2' ],
    [ 'entry',  'absent.row/m/1' ],
    [ 'entry',  'else.row' ] )
{
    my ( $kind, $key ) = @$case;
    my @marks  = ( @{ marks( 'else', 1 ) }, { kind => $kind, key => $key, digest => '0' x 64 } );
    my $absent = api( PUT => 'object-owners', { owner => 'else', marks => \@marks } );
    is( $absent->status, 409, "refused: the mark of an object that is not stored, $kind $key (F5)" );
    like( $absent->text, qr/There is no $kind \Q$key\E, so it cannot have an owner/, '... by its name' );
}
is( $stack->sql(q{SELECT count(*) FROM object_owner WHERE owner = 'else'}), 0,
    '... and none of the request is written' );
is( api(PUT => 'object-owners',
        { owner => 'else', marks => [ { kind => 'entry', key => 'else.row/m/a/b', digest => '0' x 64 } ] } )->status,
    204,
    'an entry whose name has a slash' );
api( DELETE => 'object-owners?kind=entry&key=else.row/m/a/b' );
is( api( PUT => 'object-owners', { owner => 'many', marks => marks( 'many', 1000 ) } )->status, 204,
    '1000 marks at once' );
is( api( PUT => 'object-owners', { owner => 'many', marks => marks( 'many', 1001 ) } )->status, 400,
    '... and not 1001' );
is( api( PUT => 'object-owners', { owner => 'else', marks => [ @{ marks( 'else', 1 ) }, @{ marks( 'many', 1 ) } ] } )
      ->status,
    409, 'refused: the mark of another owner' );
is( $stack->sql(q{SELECT count(*) FROM object_owner WHERE owner = 'else'}), 0, '... with all marks of the request' );
my $odd =
  api( PUT => 'object-owners', { owner => 'else', marks => [ { kind => 'person', key => 'x', digest => '0' x 64 } ] } );
is_deeply(
    [ $odd->status, keys %{ $odd->member('fieldErrors') } ], [ 400, 'marks[0].kind' ],
    'refused: another kind, by its place' );

# The mark of an object is written in its transaction: a refusal of either leaves neither (F5).
sub owners { my ($key) = @_; return $stack->sql("SELECT string_agg(owner, ',') FROM object_owner WHERE key = '$key'") }
sub stored { my ($id)  = @_; return $stack->sql("SELECT count(*) FROM client WHERE client_id = '$id'") }
my %new = ( clientId => 'both-1', clientType => 'confidential' );
is( api( POST => 'clients?owner=many', \%new )->status, 201,    'a client with its owner' );
is( owners('both-1'),                                   'many', '... has its mark with the answer' );
is( api( PUT => 'clients/both-1?owner=else', { %new, clientName => 'Else' } )->status, 409,
    'refused: a change by another owner' );
is( $stack->sql(q{SELECT count(*) FROM client WHERE client_id = 'both-1' AND client_name = 'Else'}), 0,
    '... and nothing is changed' );
is( api( POST => 'clients?owner=many', { %new, clientId => 'both-2', clientType => 'none' } )->status, 400,
    'refused: a client that is not valid' );
is( owners('both-2') // '',                             '',     '... and there is no mark' );
is( api( POST => 'clients?owner=else', \%new )->status, 409,    'refused: a name that is taken' );
is( owners('both-1'),                                   'many', '... and its mark stays' );
is( api( POST => 'clients?owner=%0a', { %new, clientId => 'both-3' } )->status, 400,
    'refused: an owner with a line feed' );
$stack->sql( q{CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no mark'; END $$;}
      . q{CREATE TRIGGER fail BEFORE INSERT ON object_owner FOR EACH ROW EXECUTE FUNCTION fail()} );
cmp_ok(
    api( POST => 'clients?owner=many', { %new, clientId => 'both-4' } )->status, '>=', 500,
    'a mark that cannot be written' );
is( stored('both-4'), 0, '... leaves no object' );
my $row   = { dataKey => 'both.row', payload => { a => 1 } };
my %marks = ( owner => 'many', marks => [ { kind => 'row', key => 'both.row', digest => '0' x 64 } ] );
cmp_ok( api( POST => 'policy-bundle/deploy', { data => [$row], %marks } )->status, '>=', 500, '... nor a deploy' );
is( $stack->sql(q{SELECT count(*) FROM policy_data WHERE data_key = 'both.row'}), 0, '... whose row is not stored' );
$stack->sql('DROP FUNCTION fail() CASCADE');
is( api( POST => 'policy-bundle/deploy', { data => [$row], %marks } )->status, 200,    'a deploy with marks' );
is( owners('both.row'),                                                        'many', '... writes them' );
is( api( POST => 'policy-bundle/deploy', { data => [$row], owner => 'many' } )->status, 400,
    'refused: an owner without marks' );
is( api( POST => 'policy-bundle/deploy', { data => [ { %$row, payload => { a => 2 } } ], %marks, owner => 'else' } )
      ->status,
    409, 'refused: a deploy of what another owner has' );
is( $stack->sql(q{SELECT payload FROM policy_data WHERE data_key = 'both.row'}) =~ /2/ ? 1 : 0, 0,
    '... and nothing is saved' );

for my $case (
    [ { kind => 'row',   key => 'both.none' },      'a row that the deploy does not make' ],
    [ { kind => 'rule',  key => 'custom/no.rego' }, 'a rule' ],
    [ { kind => 'entry', key => 'both.row/b' },     'an entry that its row does not have' ] )
{
    my ( $mark, $name ) = @$case;
    my $absent = api(
        POST => 'policy-bundle/deploy',
        { data => [ { %$row, payload => { a => 3 } } ], owner => 'many', marks => [ { %$mark, digest => '0' x 64 } ] }
    );
    is( $absent->status, 409, "refused: a deploy that marks $name (F5)" );
    is( $stack->sql(q{SELECT payload FROM policy_data WHERE data_key = 'both.row'}) =~ /3/ ? 1 : 0, 0,
        '... and nothing is saved' );
}
is( api(POST => 'policy-bundle/deploy',
        {   data  => [ { dataKey => 'made.row', payload => { b => 1 } } ], owner => 'many',
            marks => [ { kind    => 'entry',    key     => 'made.row/b', digest => '0' x 64 } ] } )->status,
    200,
    'what the deploy itself makes is marked' );

is( api( DELETE => 'object-owners?kind=entry&key=many.row/m/1' )->status, 204, 'a mark is released' );
is( api( DELETE => 'object-owners?kind=entry&key=many.row/m/1' )->status, 404, '... once' );
is( api( DELETE => 'object-owners?kind=rule' )->status,                   400, 'refused: no key' );

# Secrets are compared one at a time for each object: a request is one guess (F4).
my $guess = { kind => 'client', key => 'green', secret => 'x' };
is_deeply(
    api( POST => 'object-owners/secrets', { secrets => [$guess] } )->json, { same => [ JSON::PP::false() ] },
    'a secret that is another' );
my $two_guesses = api( POST => 'object-owners/secrets', { secrets => [ $guess, { %$guess, secret => 'y' } ] } );
is_deeply(
    [ $two_guesses->status, keys %{ $two_guesses->member('fieldErrors') } ],
    [ 400,                  'secrets[1].key' ],
    'refused: two secrets for one object' );

# ---- an export into a directory that is in use (F2, F4)

my $used = "$place/used";
run( 0, 'an export', 'export', '--owner', 'green', $used );
my %green = %{ $json->decode( slurp("$used/clients/green.json") ) };
spew(
    "$used/clients/green.json",
    $json->encode( { %green, clientName => 'Old', clientSecret => { file => "$place/secret" } } ) );
run( 0, 'an export into the same directory', 'export', $used );
my $kept = $json->decode( slurp("$used/clients/green.json") );
is_deeply( $kept->{clientSecret}, { file => "$place/secret" }, '... keeps the name of a secret' );
is( $kept->{clientName}, 'Shop', '... and writes the object as it is' );
spew( "$used/clients/gone.json", '{"clientType": "public"}' );
like(
    run( 1, 'a file of an object that is gone', 'export', $used )->{err},
    qr/the service has no client gone; delete its file, or use --force/, '... is told' );
run( 0, '... and stays with --force', 'export', '--force', $used );
spew(
    "$place/plan",
    $json->encode(
        {   format => 1, owner => 'red',
            steps  => [ { action => 'stray', kind => 'client', key => 'x', path => '/admin/api/admin-keys/1' } ] } ) );
run( 1, 'a plan that deletes by another path (F6)', 'apply', '--prune', '--yes', "$place/plan" );
spew(
    "$place/plan",
    $json->encode(
        {   format => 1,
            owner  => 'red',
            steps  => [
                {   action => 'create', kind => 'client', key => 'red-9',
                    object => { %shop, clientId => 'red-9', clientSecret => 'a literal secret of ours' } } ] } ) );
like(
    run( 1, 'a plan with a secret in it (F4)', 'apply', "$place/plan" )->{err},
    qr/clientSecret is no \{"env": NAME\}/, '... is refused' );

# ---- imports (F8)

my $realm = tree(
    'realm.json' => $json->encode(
        {   realm   => 'old', users => [ { username => 'alice' } ],
            clients => [
                {   clientId                => 'kc-shop', name => 'Shop', enabled => JSON::PP::true(),
                    publicClient            => JSON::PP::false(),
                    clientAuthenticatorType => 'client-secret', secret => 'the secret of the old server',
                    redirectUris            => [ 'https://kc.example/cb', 'https://kc.example/*' ],
                    standardFlowEnabled     => JSON::PP::true(),
                    implicitFlowEnabled     => JSON::PP::true(), directAccessGrantsEnabled => JSON::PP::true(),
                    serviceAccountsEnabled  => JSON::PP::true(), defaultClientScopes       => [ 'read', 'profile' ],
                    attributes              =>
                      { 'post.logout.redirect.uris' => '+##https://kc.example/bye', 'strange.attribute' => 'x' } },
                { clientId => 'kc-saml', protocol => 'saml' },
                { clientId => 'kc-x509', clientAuthenticatorType => 'client-x509', enabled => JSON::PP::true() } ],
            identityProviders => [
                {   alias  => 'kc-idp', providerId => 'oidc', enabled => JSON::PP::false(), displayName => 'Old',
                    config => {
                        issuer       => 'https://idp.kc.example', clientId => 'us', clientSecret => 'hidden',
                        defaultScope => 'openid email' } },
                { alias => 'kc-google', providerId => 'google' } ] } ) );
run( 0, 'import keycloak (F8)', 'import', 'keycloak', "$realm/realm.json", "$place/kc" );
my $report = slurp("$place/kc/import.md");
my $kc     = $json->decode( slurp("$place/kc/clients/kc-shop.json") );
is_deeply( $kc->{redirectUris}, ['https://kc.example/cb'], 'keycloak_wildcard_told (F8)' );
like(
    $report, qr/^- \*\*not mapped\*\* kc-shop redirectUris: https:\/\/kc[.]example\/\* has a wildcard/m,
    '... in the report' );
is_deeply(
    $kc->{postLogoutRedirectUris}, [ 'https://kc.example/cb', 'https://kc.example/bye' ],
    '... addresses of logouts are separated' );
like( $report, qr/^- \*\*not mapped\*\* $_: /m, "... $_ is told" )
  for 'kc-shop implicitFlowEnabled', 'kc-shop directAccessGrantsEnabled', 'kc-shop secret',
  'kc-shop strange[.]attribute', 'kc-saml protocol',
  'kc-x509 clientAuthenticatorType', 'realm users', 'kc-google providerId', 'kc-idp clientSecret';
ok( !-e "$place/kc/clients/kc-saml.json", '... a client of SAML is left out' );
unlike(
    join( '', map { slurp($_) } glob "$place/kc/*.* $place/kc/*/*.json $place/kc/policy/data/*" ),
    qr/secret of the old|hidden/, '... no secret is written' );
run( 0, '... the files can be applied', 'apply', "$place/kc" );
is( client('kc-shop')->member('clientName'), 'Shop', '... and make the client' );
is( ctl( [qw(policy data get svc.entitlements.bindings)], env => $env )->{json}{clients}{'kc-shop'}{grants}[0],
    'authorization_code', '... with its grants' );
run( 0, '... after which the plan is empty', 'plan', '--check', "$place/kc" );
run( 1, 'import into a directory that exists', 'import', 'keycloak', "$realm/realm.json", "$place/kc" );

my $clients = tree(
    'hydra.json' => $json->encode(
        [   {   client_id   => 'hydra-app', client_name => 'App', redirect_uris => ['https://app.example/cb'],
                scope       => 'openid read',
                grant_types => [ 'authorization_code', 'implicit' ], audience => ['https://api.example'],
                token_endpoint_auth_method => 'none',
                subject_type               => 'pairwise', metadata => { a => 1 }, access_token_strategy => 'jwt',
                refresh_token_grant_refresh_token_lifespan => '1h' } ] ),
    'twice.json' => '[{"client_id": "a", "client_id": "b"}]',
    'deep.json'  => '[' x 65 . ']' x 65,
    'other.json' => '"text"' );
run( 0, 'import hydra (F8)', 'import', 'hydra', "$clients/hydra.json", "$place/hydra" );
$report = slurp("$place/hydra/import.md");
like( $report, qr/^- \*\*not mapped\*\* hydra-app $_: /m, "... $_ is told" )
  for qw(grant_types subject_type metadata access_token_strategy refresh_token_grant_refresh_token_lifespan);
is_deeply(
    $json->decode( slurp("$place/hydra/$bind") )->{clients}{'hydra-app'},
    { grants => ['authorization_code'], scopes => [ 'openid', 'read' ], resources => ['https://api.example'] },
    '... rights are a binding' );
run( 0, '... the files can be applied', 'apply', "$place/hydra" );
for my $case ( [ twice => 'hydra_duplicate_keys' ], [ deep => 'nesting of 65' ], [ other => 'no list of clients' ] ) {
    run( 1, "$case->[1] (F8)", 'import', 'hydra', "$clients/$case->[0].json", "$place/none" );
    ok( !-e "$place/none", '... and nothing is written' );
}

# What lacks its key can have no file: the report names it, and the rest is applied.
my $keyless = tree(
    'realm.json' => $json->encode(
        {   realm   => 'old',
            clients => [
                { name     => 'No name', redirectUris           => ['https://none.example/cb'] },
                { clientId => '',        serviceAccountsEnabled => JSON::PP::true() },
                { clientId => 'kc-named' }, 'text' ],
            identityProviders => [
                { providerId => 'oidc', config => { issuer => 'https://i.example', clientSecret => 'y' } },
                { providerId => 'oidc', config => { issuer => 'https://i.example' }, alias => '' } ] } ),
    'shape.json' => '{"realm":"old","identityProviders":{"providerId":"oidc"}}',
    'hydra.json' => '[{"client_name":"No name","scope":"read"},{"client_id":7},{"client_id":"named"}]' );
for my $case (
    [   keycloak => 'realm.json', 'kc-named',
        ('**not mapped** a client clientId: is missing; the client is left out') x 3,
        ('**not mapped** a provider alias: is missing; the provider is left out') x 2 ],
    [ hydra => 'hydra.json', 'named', ('**not mapped** a client client_id: is missing; the client is left out') x 2 ] )
{
    my ( $source, $file, $named, @told ) = @$case;
    run(0, "import $source of objects without a key (F8)", 'import', $source, "$keyless/$file",
        "$place/keyless-$source" );
    my @line = slurp("$place/keyless-$source/import.md") =~ /^- (.* is missing; .*)$/mg;
    is_deeply( \@line, \@told, '... names each' );
    is_deeply(
        [ glob "$place/keyless-$source/*/{,.}*.json" ],
        ["$place/keyless-$source/clients/$named.json"],
        '... and writes the others alone' );
    run( 0, '... which can be read', 'plan', "$place/keyless-$source" );
}
run( 1, 'providers that are no list (F8)', 'import', 'keycloak', "$keyless/shape.json", "$place/none" );
ok( !-e "$place/none", '... and nothing is written' );

sub pin               { return $stack->admin( GET => '/admin/api/managed-resources/desk' )->json->{tools}[0]{pin} }
sub connector         { my ($id) = @_; return $stack->admin( GET => "/admin/api/connectors/$id" )->json }
sub connector_version { my ($id) = @_; return $stack->admin( GET => "/admin/api/connectors/$id" )->member('version') }

done_testing;

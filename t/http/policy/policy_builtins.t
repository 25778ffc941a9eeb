# A saved rule computes: it reaches neither the network, nor files, nor the environment of the engine, unless the operator says so
# (decisions.md "Network builtins").
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Policy ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start;
my $loose  = Authz::Stack->start( beside => $stack, settings => { SVC_POLICY_ALLOW_NETWORK_BUILTINS => 'true' } );
my $policy = Authz::Policy->new($stack);
my $path   = 'custom/reach.rego';
my $rules  = '/admin/api/policy-rules';

sub text { my ($expression) = @_; return "package custom.reach\n\nv := $expression\n" }

sub body {
    my ( $content, %more ) = @_;
    return { path => $path, kind => 'rego', content => $content, version => '1', %more };
}
sub post { my ( $content, %more ) = @_; return $stack->admin( POST => $rules, json => body( $content, %more ) ) }

sub put {
    my ( $content, %more ) = @_;
    return $stack->admin( PUT => "$rules/by-path", json => body( $content, %more ) );
}

sub stored { return $stack->sql("SELECT count(*) FROM policy_rule WHERE path = '$path' AND enabled") }

# 422 with path and line, and nothing is stored or published.
sub refused {
    my ( $answer, $name, $line, $builtin ) = @_;
    my $served = $policy->state->{revision};
    admin_error(
        $answer, 422, $name,
        error   => 'bundle_not_activated',
        members => {
            error_description =>
              qr{\A\Q$path\E:$line: \Q$builtin\E is not allowed: it \w.*SVC_POLICY_ALLOW_NETWORK_BUILTINS},
            expectedRevision => '', activeRevision => $served, rolledBack => true } );
    is( stored(), 0, "$name: nothing is stored" );
    return;
}

# ---- each of them, each way of saving

my %call = (
    'http.send'          => 'http.send({"method": "get", "url": "http://127.0.0.1:1/"})',
    'net.lookup_ip_addr' => 'net.lookup_ip_addr("localhost")',
    'opa.runtime'        => 'opa.runtime().env',
    'json.match_schema'  => 'json.match_schema({}, {"$ref": "file:///etc/authz/x.json"})',
    'json.verify_schema' => 'json.verify_schema({"$ref": "file:///etc/authz/x.json"})',
);
my $served = $policy->state->{revision};
for my $name ( sort keys %call ) {
    refused( post( text( $call{$name} ) ),                                  "$name in a new rule",     3, $name );
    refused( put( text( $call{$name} ) ),                                   "$name in a rule by path", 3, $name );
    refused( $policy->deploy( rules => { $path => text( $call{$name} ) } ), "$name in a deploy",       3, $name );
}
refused( put( text('http["send"]({})') ),                  'a name in brackets',         3, 'http.send' );
refused( put( text('http["\\u0073end"]({})') ),            'a name with an escape',      3, 'http.send' );
refused( put( text('$"{opa.runtime().env}"') ),            'a template string',          3, 'opa.runtime' );
refused( put( text("1\n\nw := y with y as http.send\n") ), 'in the place of a function', 5, 'http.send' );
is( $policy->deploy( mode => 'dry-run', rules => { $path => text( $call{'opa.runtime'} ) } )->status,
    422, 'a rehearsal of the deploy says so too' );
is( $policy->state->{revision}, $served, 'no candidate was published for any of them' );
is( $stack->sql(q{SELECT count(*) FROM bundle WHERE status IN ('refused', 'withdrawn')}),
    0, '... so that no engine ever had one' );

# ---- what only looks like it

admin_ok(
    put( text(qq{"http.send"\n\n# opa.runtime()\nw := input.http.send\n}) ),
    201, {}, 'the names in a comment, in a string and as a member of input are no use' );
admin_ok( put( text( $call{'opa.runtime'} ), enabled => false ), 200, {}, 'a disabled rule is in no bundle: stored' );
my $id = $stack->sql("SELECT id FROM policy_rule WHERE path = '$path'");
refused(
    $stack->admin( PUT => "$rules/$id", json => body( text( $call{'opa.runtime'} ), enabled => true ) ),
    'a disabled rule that is switched on', 3, 'opa.runtime' );

# ---- rules that are there already, and the setting

my $open = Authz::Policy->new($loose);
admin_ok(
    $open->deploy( rules => { $path => text( $call{'opa.runtime'} ) } ),
    200, { activation => 'confirmed' }, 'with SVC_POLICY_ALLOW_NETWORK_BUILTINS=true the rule is saved' );
like(
    join( ' ', sort keys %{ $policy->engine('/v1/data/custom/reach/v') // {} } ),
    qr/SVC_BUNDLE_API_KEY/,
    '... and reads the bundle key from the environment of the engine: the reason for the refusal' );
admin_ok(
    $policy->deploy( rules => { 'custom/other.rego' => "package custom.other\n\nv := 1\n" } ),
    200, { activation => 'confirmed' }, 'a save of another rule leaves one alone that was stored before' );
is( stored(),                                    1,   '... which stays in the bundle' );
is( put( text( $call{'opa.runtime'} ) )->status, 422, '... but is not saved again' );
my ($bundle) = $stack->sql(q{SELECT id FROM bundle WHERE status = 'confirmed' ORDER BY id DESC LIMIT 1});
admin_ok( put( text( $call{'opa.runtime'} ), enabled => false ), 200, {}, '... and can be switched off' );
my $back = $stack->admin( POST => "/admin/api/bundle-audit/$bundle/rollback" );
admin_error( $back, 422, 'a rollback to a bundle with such a rule is refused', error => 'bundle_not_activated' );
is( stored(),                                        0,   '... and the rule stays off' );
is( $stack->admin( DELETE => "$rules/$id" )->status, 204, '... and can be deleted' );
is( $policy->agree,                                  '',  'rows, bundle and engine agree' );

done_testing;

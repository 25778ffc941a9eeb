# An empty parameter never switches off a limit, a condition or a filter: in a pipeline an unset variable would take it away
# (oauth.md C4, policy.md 7.1 G1). Each parameter of each operation of the admin API is tried, by the description of the interface.
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( not_ready => 1 );
my %body  = ( POST => 1, PUT => 1, PATCH => 1 );
my $paths = $stack->http->get('/openapi.json')->json->{paths};
my ( $tried, $heads ) = ( 0, 0 );

for my $path ( sort grep {m{\A/admin/api/}} keys %$paths ) {
    for my $method ( sort grep {/\A(?:get|post|put|patch|delete)\z/} keys %{ $paths->{$path} } ) {
        my $operation = $paths->{$path}{$method};
        my @query     = grep { $_->{in} eq 'query' } @{ $operation->{parameters} // [] };
        for my $parameter (@query) {
            my ( $name, $at ) = ( $parameter->{name}, $path );
            $at =~ s/\{[^}]*\}/1/g;
            my $rest = join '&', map {"$_->{name}=1"} grep { $_->{required} && $_->{name} ne $name } @query;
            my @sent = $body{ uc $method } ? ( json => {} ) : ();
            my $got  = $stack->admin( uc $method => "$at?" . ( $rest ? "$rest&" : '' ) . "$name=", @sent );
            $tried++;
            next if $got->status == 400 && defined $got->json->{fieldErrors}{$name};
            fail( uc($method) . " $path: $name= is " . $got->status . ': ' . $got->text );
        }
    }
}
cmp_ok( $tried, '>', 150, "each of $tried parameters, empty, is 400 and named" );

# What they stand for: a limit, a condition, a mode, a reason.
my $rule = { path => 'custom/issue.rego', kind => 'rego', version => '1', content => "package custom.issue\n" };
for my $name (qw(maxNewlyDenied maxNewlyAllowed impact ifRevision message impactOverride)) {
    admin_error(
        $stack->admin( PUT => "/admin/api/policy-rules/by-path?$name=", json => $rule ),
        400, "a save with $name empty: refused", fields => [$name] );
}
is( $stack->sql(q{SELECT count(*) FROM policy_rule WHERE path = 'custom/issue.rego'}), 0, '... and nothing is saved' );
admin_error(
    $stack->admin( POST => '/admin/api/bundle-audit/1/rollback?mode=' ),
    400, 'a rollback with mode empty is no rollback', fields => ['mode'] );
for my $case (
    [ ifRevision => { mode => 'merge', rules => [], data => [], ifRevision => '' },              'ifRevision' ],
    [ since      => { mode => 'merge', rules => [], data => [], impact     => { since => '' } }, 'impact.since' ],
    [   limits => { mode => 'merge', rules => [], data => [], impact => { limits => { newlyDenied => '' } } },
        'impact.limits.newlyDenied' ],
    [ mode => { mode => '', rules => [], data => [] }, 'mode' ],
  )
{
    admin_error(
        $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => $case->[1] ),
        400, "a deploy whose body has $case->[0] empty: refused", fields => [ $case->[2] ] );
}

# An If-Match without a tag names no version. A field that is all empty is dropped by lighttpd; if_match-t.c has it.
my %client =
  ( clientId => 'one', clientName => 'One', clientType => 'public', redirectUris => ['https://one.example/cb'] );
$stack->admin( POST => '/admin/api/clients', json => \%client );
for my $value ( ',', '""', 'W/""' ) {
    my $got = $stack->admin(
        PUT     => '/admin/api/clients/one',
        headers => [ 'If-Match' => $value ], json => { %client, clientName => 'Two' } );
    is( $got->status, 412, "If-Match '$value': 412" );
}

# OAuth endpoints go by RFC 6749 3.1: a parameter without a value is left out.
my $token = $stack->http->request( 'POST', '/token', form => [ grant_type => '', scope => '' ] );
is( $token->status, 400, '/token: an empty grant_type counts as absent' );
unlike( $token->text, qr/must not be empty/, '... and is no fault of a field' );
done_testing;

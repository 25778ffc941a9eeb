# Reasons of rules in Rego have the file and the line of their rule (policy.md 6.5), and the client is told one that denies.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Client ();
use Authz::Policy ();
use Authz::Stack  ();

my $stack  = Authz::Stack->start;
my $policy = Authz::Policy->new($stack);
my @crm    = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['a'] } );

sub reasons {
    my ($id) = @_;
    my $row = $stack->admin( GET => "/admin/api/audit-logs?requestId=$id" )->json->{content}[0];
    return $row->{policyDecision}{deny_reasons} // [];
}
my $number = 0;

# The place of each reason of a denied request for a token, by its code; and the description that the client gets.
sub places {
    my (@form) = @_;
    my $id     = 'place-' . ++$number;
    my $answer = $stack->http->post(
        '/token',
        headers => [ 'X-Request-ID' => $id,                  Authz::Client::basic(@crm) ],
        form    => [ grant_type     => 'client_credentials', @form ] );
    return (
        { map { $_->{code} => $_->{detail} } @{ reasons($id) } }, $answer->json->{error_description},
        reasons($id) );
}

is( $policy->deploy( rules => { 'custom/one.rego' => <<'ONE', 'custom/two.rego' => <<'TWO' } )->status, 200, 'rules' );
package custom.issue

# A comment.
deny contains "plain" if input.client.id == "crm"

deny contains {"code": "object", "message": "no", "detail": {"own": 1}} if input.client.id == "crm"

deny contains reason if {
	reason := "in the body"
	input.client.id == "crm"
}
ONE
package custom.issue

deny contains sprintf("made for %s", [input.client.id]) if input.client.id == "crm"

deny contains "twice" if input.client.id == "crm"

deny contains "twice" if input.client.type == "confidential"
TWO
my ($place) = places( scope => 'a' );
is_deeply( $place->{plain}, { path => 'custom/one.rego', line => 4 }, 'a text has its file and line' );
is_deeply(
    $place->{object}, { path => 'custom/one.rego', line => 6, own => 1 },
    'an object, too, beside its own detail' );
is_deeply( $place->{'in the body'}, { path => 'custom/one.rego', line => 8 }, 'a text in the body' );
is( $place->{twice},          undef, 'a text of two rules has none: either may have denied' );
is( $place->{'made for crm'}, undef, 'a text that is made has none while two rules may make it' );
is( $policy->deploy(
        mode  => 'replace',
        rules => {
            'custom/made.rego' => qq{package custom.issue\n\ndeny contains sprintf("made for %s", [input.client.id])\n}
        } )->status,
    200,
    'one rule' );
($place) = places( scope => 'a' );
is_deeply(
    $place->{'made for crm'}, { path => 'custom/made.rego', line => 3 },
    '... which is named, as it is the only one' );

# ---- the client is told a reason that denies

is( $policy->deploy(
        mode  => 'replace',
        rules => {
            'custom/last.rego' =>
              qq{package custom.issue\n\ndeny contains {"code": "last", "category": "system", "message": "the real one"} if input.client.id == "crm"\n},
            'acme/error.cedar' => 'forbid (principal, action, resource) when { context.nowhere };' } )->status,
    200,
    'an error of Cedar beside a denial' );
my ( $all, $told, $list ) = places( scope => 'a more' );
is( $told,            'the real one', 'error_description is of the first reason that denies' );
is( $list->[0]{code}, 'last',         '... which is the first' );
is_deeply(
    [ map { $_->{denies} } @{$list}[ 1 .. $#$list ] ], [ map { JSON::PP::false() } 1 .. $#$list ],
    '... and the others are marked' );
is_deeply(
    [ sort map { $_->{code} } @$list ], [ 'cedar_error', 'last', 'scope_not_entitled' ],
    '... once each, though the rule has an error for each scope' );
is_deeply(
    $all->{cedar_error}{actions}, [ 'issue:access_token:client_credentials', 'issue:scope:a' ],
    '... with its actions' );

done_testing;

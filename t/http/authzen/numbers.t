# Numbers in questions of access: policy sees the number that the caller sent, or the question is refused, with either engine
# (policy.md 3, RFC 7493 2.2; decisions.md "The engines must not differ").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Client ();
use Authz::Path   ();
use Authz::Policy ();
use Authz::Stack  ();

my $rule = <<'END';
package custom.authzen

import rego.v1

amount := input.authzen.resource.properties.amount

allow if amount <= 100

deny contains "large" if amount > 100

deny contains "one" if amount == 1

context := {"amount": amount, "text": sprintf("%v", [amount])}
END

# What each spelling is to a caller: refused, denied as large or as one, or allowed.
my @refused =
  qw(1e309 -1e309 1e400 1e999 -1e400 1.8e308 NaN Infinity -Infinity 0x10 01 +1 .5 1. 1e 1e+ --1 1_000 0b1 9223372036854775808
  18446744073709551616 -9223372036854775809);
my %judged = (
    large => [qw(101 1.01e2 101.0 1010e-1 100.1 1E3 9007199254740993 9223372036854775807 1e308 1.7976931348623157e308)],
    one   => [qw(1 1.0 1e0 10e-1 0.1e1 1.000000000000000000000 100E-2)],
    allow => [qw(100 1e2 1E+2 100.0 1000e-1 99.99 0 -0 -0.0 0e0 -1 -1e308 1e-400 4.9e-324 -9223372036854775808)],
);

my %answer;
for my $engine (qw(opa embedded)) {
    my $stack = Authz::Stack->start( settings =>
          { SVC_POLICY_ENGINE => $engine, $engine eq 'embedded' ? ( SVC_OPA_BINARY => Authz::Path::opa() ) : () } );
    my $policy = Authz::Policy->new($stack);
    my @pep    = Authz::Client::basic( $stack->make_client( 'pep', { endpoints => ['authzen'] } ) );
    is( $policy->deploy( rules => { 'custom/authzen.rego' => $rule } )->status, 200, "$engine: the rule is deployed" );

    my $ask = sub {
        my ($number) = @_;
        my $body =
            qq({"subject":{"type":"user","id":"a"},"action":{"name":"pay"},)
          . qq("resource":{"type":"account","id":"1","properties":{"amount":$number}}});
        my $got = $stack->http->post(
            '/access/v1/evaluation',
            headers => [ @pep, 'Content-Type' => 'application/json' ],
            body    => $body );
        $answer{$number}{$engine} = $got->status . " " . $got->body;
        return $got;
    };
    for my $number (@refused) {
        is( $ask->($number)->status, 400, "$engine: $number is refused (RFC 8259 6, RFC 7493 2.2)" );
    }
    for my $kind ( sort keys %judged ) {
        for my $number ( @{ $judged{$kind} } ) {
            my $got  = $ask->($number);
            my $json = $got->status == 200 ? $got->json     : {};
            my $want = $kind eq 'allow'    ? JSON::PP::true : JSON::PP::false;
            is_deeply( [ $got->status, $json->{decision} ], [ 200, $want ], "$engine: $number is judged as $kind" )
              or diag $got->text;
            like( $got->text, qr/"$kind"/, "$engine: $number is denied for its value" ) if $kind ne 'allow';
        }
    }
}
for my $number ( sort keys %answer ) {
    is( $answer{$number}{embedded}, $answer{$number}{opa}, "$number: both engines give the same answer" );
}

done_testing;

# A reason is one value from the rule to the report: a rule may deny with any text, and the codes of a row are separated by spaces
# (doc/policy-guide.md; gateway-admin.md 3.6).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path  ();
use Authz::Stack ();

my $stack   = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my @crm     = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my ($today) = $stack->sql('SELECT current_date');

my $sentence = 'crm is closed, "50% off" ends';
my $rule     = $stack->admin(
    POST => '/admin/api/policy-rules',
    json => {
        path    => 'custom/issue/closed.rego', kind => 'rego', version => '1', enabled => JSON::PP::true(),
        content => qq{package custom.issue\n\ndeny contains `$sentence` if input.client.id == "crm"\n} } );
is( $rule->status, 201, 'a rule that denies with a sentence' ) or diag $rule->text;
$stack->token( @crm, scope => $_ ) for 'orders.read', 'other';

# How often each reason was counted today that has a word of the sentence.
sub sentences {
    return {
        map    { $_->{reason} => $_->{count} }
          grep { $_->{reason} =~ /crm|is|closed|50|off|ends/ }
          @{ $stack->admin( GET => "/admin/api/governance/report?from=$today" )->json->{denialReasons} } };
}
is_deeply( sentences(), { $sentence => 2 }, 'governance: a reason with spaces is one reason' );
$stack->authzctl('maintain');
is_deeply( sentences(), { $sentence => 2 }, '... housekeeping does not part it' );
my ($noted) =
  $stack->sql(
    q{SELECT request_summary::json ->> 'denyCodes' FROM audit_log WHERE outcome = 'denied' ORDER BY id DESC LIMIT 1});
like( $noted, qr/crm%20is%20closed,%20"50%25%20off"%20ends/, '... in a row its spaces are %20' );

sub found {
    my $q = shift =~ s/([^A-Za-z0-9])/sprintf '%%%02X', ord $1/ger;
    return scalar @{ $stack->admin( GET => "/admin/api/audit-logs/search?size=50&reason=$q" )->json->{content} };
}
is( found($sentence), 2, '... the list of decisions finds it by the whole' );
is( found($_), 0, "... and not by '$_'" ) for 'crm', 'closed,', 'ends', '"50%';
like( $stack->authzctl('report'), qr/^\Q$sentence\E +2 /m, '... authzctl report has it as one row' );

# Codes of a row that an older version wrote are words, and still count.
$stack->sql(
    q{INSERT INTO audit_log (created_at, id, request_id, client_id, endpoint, operation, method, http_status, outcome, policy_input, request_summary)
      VALUES (now(), nextval('audit_id_seq'), 'older', 'crm', '/token', 'token', 'POST', 400, 'denied', '\x00', '{"denyCodes":"older_code 7%"}')}
);
my %now = map { $_->{reason} => $_->{count} }
  @{ $stack->admin( GET => "/admin/api/governance/report?from=$today" )->json->{denialReasons} };
is_deeply( [ @now{qw(older_code 7%)} ], [ 1, 1 ], 'governance: codes of an older row count' );
is( found('older_code') . found('7%'), '11', '... and are found' );

done_testing;

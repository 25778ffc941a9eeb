# The description of the interface before others' judges: openapi-spec-validator holds it against OpenAPI 3.1.0, and
# schemathesis sends each operation inputs of its own, good and bad, and holds every answer against the description.
use strict;
use warnings;

use Test::More;

use Authz::Idp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

my $programs = $ENV{AUTHZ_PYPI} // ( glob( ( $ENV{XDG_CACHE_HOME} // "$ENV{HOME}/.cache" ) . '/authz/pypi/*' ) )[0];
plan skip_all => 'no Python packages: run contrib/check once' if !$programs || !-x "$programs/bin/schemathesis";

# With an identity provider: without one, a page that signs people in can only say that it is not available.
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings, SVC_OPA_BINARY => Authz::Path::opa() } );
Authz::Idp->start->register( $stack, idpId => 'corp' );
my $file = Authz::Process::directory() . '/openapi.json';
open my $out, '>', $file or die "$file: $!";
print {$out} $stack->http->get('/openapi.json')->body;
close $out or die "$file: $!";

my ( $status, $text ) =
  Authz::Process->run( name => 'validator', command => [ "$programs/bin/openapi-spec-validator", $file ] );
is( $status, 0, 'openapi-spec-validator: the description is OpenAPI 3.1.0' ) or diag $text;

# The description says less than the rules of some fields, so a good input by the schema may be refused; and the 405 of a path
# with a fixed name lists the methods of the pattern that matches it too. Those two checks stay out.
my @check = qw(not_a_server_error status_code_conformance content_type_conformance response_headers_conformance
  response_schema_conformance negative_data_rejection ignored_auth use_after_free);

# The web server refuses a body that is too large before it is read, however good it is.
my $config = Authz::Process::directory() . '/schemathesis.toml';
open my $settings, '>', $config or die "$config: $!";
print {$settings} "[checks.negative_data_rejection]\nexpected-statuses = "
  . "[400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, '5xx']\n";

# Pages that sign a person in answer 503 while the provider cannot be reached, as one that these requests have created, and a
# measurement while another is under way.
print {$settings}
  "[[operations]]\ninclude-path-regex = '^/(authorize|account|gateway/connect|admin/session/start|admin/api/policy-impact)'\n"
  . "checks.not_a_server_error.expected-statuses = ['2xx', '3xx', '4xx', 503]\n";

# An empty value of an optional parameter is none (oauth.md C4), and an object, which schemathesis sends in place of a number, is
# empty in a query.
print {$settings}
  "[[operations]]\ninclude-path-regex = '^/admin/api/(tokens|audit-logs|bundle-audit|clients|consents|sessions|subjects|connections|delegations|uma-resources|ciba-requests|managed-resources)'\n"
  . "checks.negative_data_rejection.expected-statuses = "
  . "[200, 400, 401, 403, 404, 405, 406, 409, 413, 415, 422, 428, 429, '5xx']\n";
close $settings or die "$config: $!";

# A path below /auth/check/at is the target of another request, in any octets: some the web server refuses with a page of its own.
( $status, $text ) = Authz::Process->run(
    name    => 'schemathesis', timeout => 900, env => { HOME => Authz::Process::directory() },
    command => [

        # It leaves its files where it runs.
        'sh',                         '-c',            'cd "$HOME" && exec "$@"', 'sh',
        "$programs/bin/schemathesis", '--config-file', $config, 'run', $file, '--url', $stack->base, '--header',
        'X-Admin-API-Key: ' . $stack->settings->{SVC_ADMIN_API_KEY}, '--checks', join( ',', @check ), '--max-examples',
        $ENV{AUTHZ_EXAMPLES} // 15, '--seed', $ENV{AUTHZ_SEED} // 1,  '--request-timeout', 30,
        '--suppress-health-check',  'all',    '--exclude-path-regex', '^/auth/check/at',   '--no-color' ] );
is( $status, 0, 'schemathesis: no answer differs from the description, and no input makes the service fail' )
  or diag $text;
like( $text, qr/^\s*Tested: +(\d+)$/m, 'schemathesis: ... and it has tested the operations' );
is( $stack->http->get('/health/ready')->status, 200, 'schemathesis: ... and the service is as well as before' );

done_testing;

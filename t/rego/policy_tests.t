# The tests of the shipped policy (etc/policy) by both engines: OPA plans each test rule, the machine of fcgi/rego runs the plan,
# and a test that passes in OPA passes in the machine. A test that the machine leaves to OPA is listed here with the reason.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $json   = JSON::PP->new->utf8->canonical->allow_nonref;
my $dir    = Authz::Process::directory();
my $policy = Authz::Path::source(qw(etc policy));

# Tests that the machine leaves to OPA, by the reason.
my %left = (
    'json.match_schema() beyond the common keywords' => [
        'registry_test/test_a_broken_row_denies',
        map( {"catalogue_test/test_$_"} qw(every_default_may_be_written every_shipped_row_matches_its_schema
              guards_have_limits_of_each_class_as_numbers_and_percentages schemas_accept_good_rows
              schemas_refuse_broken_rows) ) ],
    'json.match_schema() of a document that breaks the schema' => [
        map( {"registry_test/test_$_"}
            qw(an_entry_that_breaks_the_schema_now_is_gone
              an_entry_that_breaks_the_schema_once_cut_is_gone details_must_match_the_types_schema) ) ],
    'a regular expression beyond the common ones' => ['catalogue_test/test_every_message_may_be_an_error_description'],
    'a time in an unusual form'                   => ['delegation_test/test_a_delegation_ends_at_its_time'],
    'a time zone other than UTC' => [ map {"environment_test/test_$_"} qw(broken_hours_deny open_hours_are_local) ],
    'json.marshal() of a value with special characters' => [
        'introspect_test/test_a_hook_of_the_wrong_type_denies',
        'issue_test/test_a_hook_of_the_wrong_type_denies_extensions',
        'issue_test/test_a_hook_of_the_wrong_type_denies_obligations',
        map( {"effect_test/test_$_"}
            qw(a_fraction_beside_the_error_of_a_forbid_denies arguments_without_a_value_of_cedar_deny
              a_request_without_a_subject_has_no_question a_satisfied_forbid_is_a_reason_at_the_gateway
              a_number_of_four_places_is_a_decimal the_question_of_a_request_to_a_managed_resource
              a_question_of_an_upstream_and_its_answers_are_in_the_context) ) ],
    'a function of a number in an odd spelling' => [
        'gateway_test/test_a_rule_says_for_how_long_an_answer_may_be_kept',
        map {"effect_test/test_$_"}
          qw(a_whole_number_is_a_long_however_it_is_written null_and_other_numbers_are_left_out
          other_callers_are_told_by_the_context) ],
    'a number is looked up in an object' => ['introspect_test/test_the_contexts_resource_type_must_be_the_tokens'],
    'a number that is no 64-bit integer' =>
      [ map {"lifetime_test/test_$_"} qw(a_broken_binding_lifetime_denies a_broken_row_denies) ],
    'a division with a remainder' => ['equivalence_test/test_the_plain_case_agrees_after_three_changes'] );
my %may_leave = map {
    my $why = $_;
    map { ( $_ => $why ) } @{ $left{$why} }
} keys %left;

sub run {
    my ( $name, @command ) = @_;
    my ( $status, $text ) =
      Authz::Process->run( name => $name, timeout => 600 * Authz::Process::patience(), command => \@command );
    die "$name: " . substr $text, 0, 500 if $status != 0;
    return $text;
}

sub merge {
    my ( $into, $more ) = @_;
    for my $name ( keys %$more ) {
        if ( ref $into->{$name} eq 'HASH' ) { merge( $into->{$name}, $more->{$name} ) }
        else                                { $into->{$name} = $more->{$name} }
    }
    return $into;
}

# Compare both engines on the tests of some files; return the tests that were left to OPA.
sub compare {
    my ( $suite, $document, @source ) = @_;
    my $report =
      $json->decode( run( 'opa', Authz::Path::opa(), qw(test --format json --timeout 600s), @source, @$document ) );
    my %passed;
    for my $test (@$report) {
        my $entrypoint = $test->{package} =~ s/\Adata\.//r =~ tr{.}{/}r . "/$test->{name}";
        $passed{$entrypoint} = !grep { $test->{$_} } qw(fail skip error);
    }
    my @name = sort keys %passed;
    is( scalar( grep { !$passed{$_} } @name ), 0, "$suite: all pass in OPA" );
    run( 'opa', Authz::Path::opa(), qw(build -t plan -o), "$dir/plan.tar.gz", map( { ( '-e', $_ ) } @name ), @source );
    run( 'tar', 'tar', '-xzf', "$dir/plan.tar.gz", '-C', $dir, '/plan.json' );
    my $data = {};
    merge( $data, $json->decode( Authz::Web::edit($_) ) ) for @$document;
    $data = $json->encode($data);
    Authz::Web::write_file( "$dir/lines", join '', map {qq({"entrypoint":"$_","data":$data}\n)} @name );
    my @answer = map { $json->decode($_) } split /\n/,
      run(
        'plans',          'sh', '-c', 'exec "$0" "$1" <"$2" 2>/dev/null', Authz::Path::program('t/rego/plans'),
        "$dir/plan.json", "$dir/lines" );
    is( scalar @answer, scalar @name, "$suite: each test has an outcome" );
    my ( %gave_up, @wrong );

    for my $i ( 0 .. $#name ) {
        my ( $outcome, $why, $value ) = @{ $answer[$i] }{qw(outcome why value)};
        if    ( $outcome eq 'give_up' )                                     { $gave_up{ $name[$i] } = $why }
        elsif ( $outcome ne 'done' || ( $json->encode($value) ne 'true' ) ) { push @wrong, "$name[$i]: $outcome $why" }
    }
    is( join( "\n", @wrong ), '', "$suite: each of " . @name . ' tests that passes in OPA passes in the machine' );
    my @more = map {"$_: $gave_up{$_}"} grep { ( $may_leave{$_} // '' ) ne $gave_up{$_} } sort keys %gave_up;
    is( join( "\n", @more ), '', "$suite: only tests that are listed are left to OPA, for the reason that is listed" );
    return keys %gave_up;
}

mkdir "$dir/documents" or die "mkdir: $!";
run( 'documents', 'env', "POLICY_TEST_DOCUMENTS=$dir/documents", "$policy/run-tests", Authz::Path::opa() );
my @document = glob "$dir/documents/*.json";
my @gave_up  = compare( 'policy', \@document, "$policy/svc", "$policy/tests" );

# Apart, because a Cedar rule takes part in every decision.
push @gave_up,
  compare(
    'Cedar', [ grep {m{/s[^/]*\z}} @document ],
    "$policy/svc", "$policy/tests_cedar", "$policy/tests/fixture_test.rego" );
my %gave_up = map { ( $_ => 1 ) } @gave_up;
is( join( ' ', grep { !$gave_up{$_} } sort keys %may_leave ), '', 'each test that is listed is left to OPA' );
done_testing();

package Authz::Witness;

# Lets OPA decide again what the embedded engine has decided in a test file: AUTHZ_TEST_WITNESS=1. At its end no service may
# have written a difference (decisions.md "Witness"). Authz::Stack asks for the settings, and looks.

use strict;
use warnings;

use Authz::Client ();

my $METRICS_TOKEN = 'metrics-token-of-the-witness-7b1e';

sub wanted { return $ENV{AUTHZ_TEST_WITNESS} ? 1 : 0 }

sub settings {
    return wanted() ? ( SVC_POLICY_WITNESS_RATE => 1, SVC_METRICS_TOKEN => $METRICS_TOKEN ) : ();
}

# True if a service is started with these settings, and not by a test of the witness with its own.
sub _watched {
    my ($stack) = @_;
    my %setting = $stack->engine_settings;
    return $setting{SVC_POLICY_WITNESS_RATE} && !exists +( $stack->{settings} // {} )->{SVC_POLICY_WITNESS_RATE};
}

# Return the differences in the logs and audit rows of the services.
sub differences {
    my (@stack) = @_;
    my ( @place, %database );
    for my $stack ( grep { _watched($_) } @stack ) {
        push @place,
          map {"the log of authz$stack->{number}: $_"} grep {/policy engines differ/} $stack->{service}->log_lines;
        next if $database{ $stack->{database} }++ || !$stack->{postgres}->try( 'SELECT 1', $stack->{database} );
        push @place, map {"an audit row: $_"} split /\n/,
          $stack->sql("SELECT request_id, request_summary FROM audit_log WHERE operation = 'policyWitness'");
    }
    return @place;
}

# Return how many decisions OPA was asked again by the services that still run, since they were started: 'same 12, failed 1'.
sub counts {
    my (@stack) = @_;
    my %count;
    for my $stack ( grep { _watched($_) && $_->{service}->alive } @stack ) {
        my $page =
          $stack->client->get( "$stack->{path}/metrics", headers => [ Authorization => "Bearer $METRICS_TOKEN" ] )
          ->body;
        $count{$1} += $2 while $page =~ /^svc_policy_witness_total\{result="(\w+)"\} (\d+)$/mg;
    }
    return join ', ', map {"$_ $count{$_}"} sort keys %count;
}

1;

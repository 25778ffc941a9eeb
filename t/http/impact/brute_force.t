# A property of measurements: their classes are those that one finds by letting each policy decide each recorded question by hand
# (POST /admin/api/policy-rules/evaluate) and comparing the answers (policy.md I8, I9).
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Check;
use Authz::Path  ();
use Authz::Stack ();

my $stack  = Authz::Stack->start( settings => { SVC_OPA_BINARY => Authz::Path::opa() } );
my %scopes = ( a => [qw(read)], b => [qw(read write)], c => [qw(read write pay)] );
my %client = map { $_ => [ $stack->make_client( $_, { grants => ['client_credentials'], scopes => $scopes{$_} } ) ] }
  sort keys %scopes;
for my $id ( sort keys %client ) {
    $stack->token( @{ $client{$id} }, scope => $_ ) for 'read', 'write', 'read write', 'read pay', 'read write pay';
}

# The stored questions, by id.
my %asked = map { split /\t/, $_, 2 }
  split /\n/, $stack->sql(q{SELECT id || E'\t' || client_id FROM audit_log WHERE endpoint = '/token' ORDER BY id});
is( scalar keys %asked, 15, 'fifteen recorded decisions' );

# What the policy that is served answers to each, as (allowed, scopes).
sub answers {
    my %answer;
    for my $id ( keys %asked ) {
        my $got = $stack->admin( POST => '/admin/api/policy-rules/evaluate', json => { auditId => 0 + $id } )->json;
        my $now = $got->{after};
        $answer{$id} =
          { allow => $now->{allow} ? 1 : 0, scopes => { map { $_ => 1 } @{ $now->{scopes} // [] } }, all => $now };
    }
    return \%answer;
}

sub within {
    my ( $one, $other ) = @_;
    return !grep { !$other->{$_} } keys %$one;
}

# The class of a decision, by hand: I9 without the module that is under test.
sub class_of {
    my ( $old, $new ) = @_;
    return 'newlyDenied'  if $old->{allow}  && !$new->{allow};
    return 'newlyAllowed' if !$old->{allow} && $new->{allow};
    my ( $kept, $given ) = map { JSON::PP->new->canonical->encode( rest($_) ) } $old, $new;
    return $kept eq $given ? 'same' : 'other' if !$old->{allow};
    my ( $less, $more ) = ( within( $new->{scopes}, $old->{scopes} ), within( $old->{scopes}, $new->{scopes} ) );
    return $less && $more ? ( $kept eq $given ? 'same' : 'other' ) : $less ? 'narrowed' : 'widened';
}

# What is compared beside rights: lifetime, obligations, reasons as a set.
sub rest {
    my ($answer) = @_;
    my %reasons = map {
        join( ' ', map { $_ // '' } @$_{qw(category control code)} ) => 1
    } @{ $answer->{all}{deny_reasons} // [] };
    return [ $answer->{allow} ? @{ $answer->{all} }{qw(expires_in_override obligations)} : (), [ sort keys %reasons ] ];
}

sub rule {
    my ($text) = @_;
    return { rules => [ { path => 'custom/issue.rego', content => "package custom.issue\n\n$text\n" } ] };
}

sub row {
    my ( $key, $payload ) = @_;
    return { data => [ { dataKey => $key, payload => $payload } ] };
}

sub bindings {
    my (%is) = @_;
    return row(
        'svc.entitlements.bindings',
        { clients => { map { $_ => { grants => ['client_credentials'], %{ $is{$_} } } } keys %is } } );
}

my @changes = (
    [ 'a rule that denies a scope' => rule('deny contains "no" if "pay" in input.scopes.requested') ],
    [ 'a rule that blocks a scope' => rule('block_scopes contains "write"') ],
    [ 'a rule that denies all'     => rule('deny contains "no" if true') ],
    [ 'an obligation'              => rule('obligations["log"] := true') ],
    [   'other bindings' => bindings(
            a => { scopes => [ 'read', 'pay' ] },
            b => { scopes => ['write'] },
            c => { scopes => [ 'read', 'write', 'pay' ] } ) ],
    [ 'one binding less' => bindings( a => { scopes => ['read'] }, c => { scopes => ['pay'], ttl => 60 } ) ],
    [   'a rule of the gateway' => {
            rules => [
                {   path    => 'custom/gateway.rego',
                    content => "package custom.gateway\n\nobligations[\"response_max_bytes\"] := 9\n" } ] } ],
    [ 'a lifetime' => row( 'svc.operator.controls.lifetime', { max_ttl => 120 } ) ],
);
my $before = answers();
for my $change (@changes) {
    my ( $name, $candidate ) = @$change;
    my $measured =
      $stack->admin( POST => '/admin/api/policy-impact', json => $candidate, headers => [ Prefer => 'wait=25' ] );
    admin_ok( $measured, 200, { state => 'done', looked => 15 }, "$name: measured" );
    admin_ok(
        $stack->admin( POST => '/admin/api/policy-bundle/deploy', json => $candidate ), 200, {},
        '... and saved' );
    my $after = answers();
    my ( %count, %clients );
    for my $id ( keys %asked ) {
        my $class = class_of( $before->{$id}, $after->{$id} );
        $count{$class}++;
        $clients{ $asked{$id} }{$class}++ if $class ne 'same';
    }
    my $have = { map { $measured->member($_) ? ( $_ => $measured->member($_) ) : () }
          qw(same newlyDenied newlyAllowed narrowed widened other) };
    is_deeply( $have, \%count, '... brute_force_equals_evaluate: the classes' ) or diag explain [ $have, \%count ];
    my $by = { map { my %is = %$_; ( delete $is{clientId} => \%is ) } @{ $measured->member('byClient') // [] } };
    is_deeply( $by, \%clients, '... by client' );
    is( $measured->member('unreached'), $name eq 'a rule of the gateway' ? 15 : 0, '... unreached_equals_evaluated' );
    $before = $after;
}

# ---- plans of candidates

my $loose = 'FROM policy_plan p WHERE NOT EXISTS (SELECT 1 FROM bundle b WHERE b.modules = p.modules)';
$stack->sql(
    q{INSERT INTO policy_plan (modules, plan, created_at) SELECT repeat(md5(n::text), 2), '\x00', now() - n * interval '2 minutes'
    FROM generate_series(1, 25) n}
);
cmp_ok( $stack->sql("SELECT count(*) $loose"), '>', 20, 'plans without a bundle' );
admin_ok(
    $stack->admin( POST => '/admin/api/policy-impact', json => rule('limit := 1'), headers => [ Prefer => 'wait=25' ] ),
    200, { state => 'done' }, 'a measurement' );
cmp_ok(
    $stack->sql("SELECT count(*) $loose"), '<=', 20,
    '... leaves twenty of them, so that the table stays small (policy.md I2)' );

done_testing();

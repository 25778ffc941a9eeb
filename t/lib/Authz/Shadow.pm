package Authz::Shadow;

# Shadows of the policy of a stack (policy.md 7.2): changes, and waiting for what they report. of() says which stack.

use strict;
use warnings;

use Exporter qw(import);

use Authz::Process ();

our @EXPORT_OK = qw(rule deny shadow save_rule served shown await await_looked await_report);

my $where = '/admin/api/policy-shadow';
my $rules = '/admin/api/policy-rules/by-path';
my $stack;

sub of { ($stack) = @_; return }

sub rule {
    my ( $text, $path ) = @_;
    $path //= 'custom/issue.rego';
    ( my $package = $path ) =~ s{/}{.}g;
    $package =~ s{\.rego\z}{};
    return { path => $path, content => "package $package\n\n$text\n" };
}
sub deny { my ($when) = @_; return rule( 'deny contains {"code": "no_way", "category": "policy"} if ' . $when ) }

sub shadow {
    my ( $body, @headers ) = @_;
    return $stack->admin( PUT => $where, json => { rate => 1, %$body }, headers => \@headers );
}

sub save_rule {
    my ( $text, $path ) = @_;
    return $stack->admin( PUT => $rules, json => { %{ rule( $text, $path ) }, kind => 'rego', version => '1' } );
}
sub served { return $stack->sql('SELECT revision FROM bundle JOIN bundle_state ON served = bundle.id') }
sub shown  { return $stack->admin( GET => $where )->json }

# Wait until the shadow is as a test says, and return it.
sub await {
    my ($is) = @_;
    my $shown;
    Authz::Process::until_true( 60, sub { $shown = shown(); return $is->($shown) } );
    return $shown;
}

sub await_looked {
    my ($count) = @_;
    return await( sub { ( $_[0]{result}{looked} // 0 ) >= $count } );
}

# Wait until this host compares.
sub await_report {
    return await( sub { defined $_[0]{reportedAt} } );
}

1;

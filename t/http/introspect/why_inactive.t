#!/usr/bin/perl
# The log line and the audit row say what the caller is not told: why a token was inactive, and all codes of a denial
# (decisions.md "Reasons in the log").
use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();
use Test::More;

use Authz::Check;
use Authz::Process ();
use Authz::Stack   ();

my $rule  = 'decisions.md "Reasons in the log"';
my $stack = Authz::Stack->start;
my @crm = $stack->make_client( 'crm', { grants => ['client_credentials'], scopes => [qw(orders.read orders.write)] } );
my @rs  = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );

# The log line and the audit row of an answer; the line is written after the answer, the row of an introspection too.
sub found {
    my ($answer) = @_;
    my ( $line, $id, $row ) = ( $stack->log_line($answer), $answer->header('X-Request-ID') );
    Authz::Process::until_true(
        30,
        sub { $row = $stack->sql("SELECT row_to_json(a) FROM audit_log a WHERE request_id = '$id'") } );
    my ( $logged, $stored ) = map { JSON::PP->new->decode($_) } $line, $row;
    return ( $logged, JSON::PP->new->decode( $stored->{request_summary} // '{}' ) );
}

sub says {
    my ( $answer, $inactive, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    inactive( $answer, "$name: the caller learns invalid_token alone" ) if $inactive ne 'policy_denied';
    my ( $line, $summary ) = found($answer);
    is( $line->{inactive},    $inactive, "... the log says $inactive ($rule)" );
    is( $summary->{inactive}, $inactive, '... and so does the audit row' );
    return ( $line, $summary );
}

sub ask   { my ($text) = @_; return $stack->introspect( @rs, $text ) }
sub token { return $stack->token( @crm, scope => 'orders.read orders.write', @_ )->member('access_token') }

my $issued = $stack->token( @crm, scope => 'orders.read orders.write' );
my ($line) = found($issued);
is( $line->{grant_type}, 'client_credentials',       "/token: the grant type is in the log ($rule)" );
is( $line->{scope},      'orders.read orders.write', '... and what was granted' );
ok( length( $line->{flow_id} // '' ), '... and the flow' );
my ($shown) = found( ask( $issued->member('access_token') ) );
is( $shown->{flow_id}, $line->{flow_id},           '/introspect: the flow of the token' );
is( $shown->{scope},   'orders.read orders.write', '... and what was shown' );
is( $shown->{subject_hash}, substr( Digest::SHA::sha256_hex('crm'), 0, 16 ),
    '... and the hash of its subject, not its name' );
ok( !exists $shown->{inactive} && !exists $shown->{deny_codes}, '... and no reason, because it is active' );

says( ask( 'at_' . 'x' x 60 ), 'unknown', 'a text that is no token' );
my $other = token();
( my $forged = $other ) =~ s/(.)(.{6})\z/($1 eq 'A' ? 'B' : 'A') . $2/e;
says( ask($forged), 'unknown', 'a forged token' );
my $revoked = token();
$stack->revoke( @crm, token => $revoked );
says( ask($revoked), 'revoked', 'a revoked token' );
$stack->bind( 'crm', { ttl => 1 } );
my $expired = token();
$stack->bind( 'crm', { ttl => undef } );
Authz::Process::until_true( 10, sub { !ask($expired)->member('active') } );
says( ask($expired), 'expired', 'an expired token' );
my $disabled = token();
$stack->sql(q{UPDATE client SET enabled = false WHERE client_id = 'crm'});
says( ask($disabled), 'client_disabled', 'a token of a disabled client' );
$stack->sql(q{UPDATE client SET enabled = true WHERE client_id = 'crm'});

# A single-use token: the second use finds no row.
$stack->bind( 'crm', { jit_single_use => JSON::PP::true() } );
my $once = token();
is( ask($once)->member('active'), JSON::PP::true(), 'a single-use token is shown once' );
says( ask($once), 'unknown', 'a consumed token' );
$stack->bind( 'crm', { jit_single_use => undef } );

# Not for this caller.
$stack->bind( 'crm', { resources => ['https://api.example'] } );
my ( $audience, $why ) = says(
    ask( token( resource => 'https://api.example' ) ), 'caller_not_audience',
    'a token for another resource server' );
like( $audience->{deny_codes}, qr/\bcaller_not_audience\b/, '... with the code' );
is( $why->{denyCodes}, $audience->{deny_codes}, '... in the audit row too' );

# Denied now.
my $kept = token();
$stack->bind( 'crm', { scopes => ['nothing'] } );
my ($denied) = says( ask($kept), 'policy_denied', 'a token that policy denies now' );
ok( length( $denied->{deny_codes} // '' ), '... with its codes' );

# A denial at /token.
my $refused = $stack->token( @crm, scope => 'orders.read' );
is( $refused->status, 400, 'a denial at /token' );
is( $refused->member('error_description'), q{a requested scope is not granted: 'orders.read'},
    '... names the scope that is not granted, a word of the request (decisions.md "Policy deny at /token")' );
my $long = 'a' x 64;
is( $stack->token( @crm, scope => "${long}bc" )->member('error_description'),
    "a requested scope is not granted: '$long'", '... at most 64 octets of it' );
like(
    $stack->token( @crm, scope => q{it's<x>%s&amp;#} )->member('error_description'),
    qr/\A[\x20-\x21\x23-\x5B\x5D-\x7E]+\z/, '... in the characters of RFC 6749 5.2' );
my ( $no, $stored ) = found($refused);
like( $no->{deny_codes}, qr/\bscope_not_entitled\b/, "... has its codes in the log ($rule)" ) or diag explain $no;
is( $stored->{denyCodes}, $no->{deny_codes}, '... and in the audit row' );
is( $no->{outcome},       'denied',          '... and its outcome' );

done_testing;

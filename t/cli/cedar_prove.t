#!/usr/bin/perl
# cedar prove: what the prover says is counted, and a counterexample is decided again. A script stands for the prover; with
# AUTHZ_CEDAR_PROVE the program of contrib/cedar-prove is asked, too.
use strict;
use warnings;

use FindBin ();
use lib $FindBin::Bin, "$FindBin::Bin/../lib";
use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();
use Authz::Web     ();
use Authzctl;

my $json   = JSON::PP->new->canonical;
my $office = qq{\@id("office")\nforbid (principal == Client::"shop", action, resource)\n}
  . qq{unless { context.svc has ip && ip(context.svc.ip).isInRange(ip("192.0.2.0/24")) };\n};
my $wide = $office =~ s{/24}{/16}r;
my $row  = 'data/svc.operator.controls.authzen.json';

my $old    = tree( 'acme/office.cedar' => $office );
my $new    = tree( 'acme/office.cedar' => $wide );
my $source = tree( 'acme/office.cedar' => $wide, $row => '{"cedar_mode":"source"}' );
my $deny   = tree( 'acme/office.cedar' => $wide, $row => '{"cedar_errors":"deny"}' );
my %with   = ( env => { SVC_CONFIG => '/dev/null', SVC_DATA_DIR => Authz::Stack::data_dir() } );

sub example {
    my ($ip) = @_;
    return {
        request => {
            principal => 'Client::"shop"',
            action    => 'Action::"introspect"',
            resource  => 'Audience::"api"',
            context   => { svc => { evaluation => 'introspect', endpoint => '/', ip => $ip } } },
        entities => [] };
}

sub result {
    my ( $check, $result, %more ) = @_;
    return $json->encode(
        {   check => $check, result => $result, action => 'introspect', principal => 'Client', resource => 'Audience',
            %more } );
}

# Return a prover that prints these lines.
sub prover {
    my (@line) = @_;
    my $file = Authz::Process::directory() . '/prover' . ++( our $provers );
    Authz::Web::write_file(
        $file, join "\n", '#!/bin/sh', q(cp "$1" "$(dirname "$0")/asked"), "cat <<'END'", @line,
        'END', '' );
    chmod 0755, $file or die "$file: $!";
    return $file;
}

sub prove {
    my ( $status, $name, $dir, $program, @more ) = @_;
    return ctl_is( $status, [ qw(cedar prove), $dir, '--against', $old, '--prover', $program, @more ], $name, %with );
}

my $proved = result( implies => 'proved' );
like(
    prove(
        0, 'proved for all', $new, prover( $proved, result( errors => 'proved', policy => 'acme/office.cedar#0' ) )
    )->{out},
    qr/^1 kinds of requests: in 1 nothing is newly allowed, 0 not proved, in 0 something/m,
    '... is said' );
my $asked = $json->decode( Authz::Web::edit( Authz::Process::directory() . '/asked' ) );
is_deeply(
    [ $asked->{new},                    $asked->{old},                      $asked->{guard} ],
    [ { 'acme/office.cedar' => $wide }, { 'acme/office.cedar' => $office }, JSON::PP::true() ],
    'the question has both sets' );
like( $asked->{schema}, qr/^entity Client/m, '... and the shipped schema' );

my $found = result( implies => 'counterexample', found => example('192.0.3.1') );
my $run   = prove( 2, 'widening_found: something is newly allowed', $new, prover( $proved, $found ) );
like(
    $run->{out}, qr/^newly allowed  introspect, Client, Audience\n    request \{.*"192\.0\.3\.1"/m,
    '... and the request shown' );
is( ref $json->decode( prove( 2, 'as JSON', $new, prover($found), '--json' )->{out} ), 'ARRAY', '... is a list' );
like(
    prove(
        1,    'a counterexample that our evaluator decides in another way',
        $new, prover( result( implies => 'counterexample', found => example('192.0.2.1') ) ) )->{out},
    qr/^not proved .*in another way$/m,
    '... is not shown as one' );
like(
    prove( 1, 'untyped', $new, prover( result( implies => 'untyped', why => 'no attribute x' ), $proved ) )->{out},
    qr/^not proved     introspect, Client, Audience: no attribute x$/m, '... is not proved' );
prove( 1, 'no answer in time',      $new, prover( result( implies => 'unknown', why => 'time' ) ) );
prove( 1, 'no line proves nothing', $new, prover('') );
my $fails = result( errors => 'counterexample', policy => 'acme/office.cedar#0', found => example('192.0.3.1') );
like(
    prove( 0, 'an error of a policy is skipped by Cedar', $new, prover( $proved, $fails ) )->{out},
    qr/^may have an error  acme\/office\.cedar#0/m, '... and told' );
prove( 1, 'an error under cedar_errors deny: not proved', $deny, prover( $proved, $fails ) );

like(
    prove( 1, 'another cedar_mode', $source, prover($proved) )->{err}, qr/cedar_mode .* is source in/,
    '... is named' );
prove( 69, 'absent: no prover',      $new, '/nonexistent' );
prove( 1,  'a line that is no JSON', $new, prover('proved') );
prove( 69, 'a prover that fails',    $new, '/bin/false' );
prove( 64, 'no limit of time',       $new, prover($proved), '--seconds', $_ ) for '0', '3601', '1x', '-1', '';
like( prove( 1, 'a directory without policies', "$old/none", prover($proved) )->{err}, qr/none/, '... is named' );

SKIP: {
    my $program = $ENV{AUTHZ_CEDAR_PROVE};
    skip 'AUTHZ_CEDAR_PROVE names no program', 6 if !defined $program;
    my $forbid = sub {
        my ($when) = @_;
        return tree( 'acme/two.cedar' => "forbid (principal == Client::\"shop\", action, resource) when { $when };\n" );
    };
    $old = $forbid->('["/token", "/introspect"].contains(context.svc.endpoint)');
    prove( 0, 'the same policies',    $old,                                                           $program );
    prove( 0, 'a forbid of more',     $forbid->('context.svc.endpoint != "/userinfo"'),               $program );
    prove( 1, 'an untyped policy',    $forbid->('context.nothing == 1'),                              $program );
    prove( 1, 'an address of a text', $forbid->('context.svc has ip && ip(context.svc.ip).isIpv6()'), $program );
    $run = prove( 2, 'a forbid of less', $forbid->('context.svc.endpoint == "/token"'), $program );
    like(
        $run->{out}, qr/^newly allowed .*\n    request .*"endpoint":"\/introspect"/m,
        '... has a counterexample that we confirm' );
}
done_testing();

#!/usr/bin/perl
# The names of grants come from one table, fcgi/oauth/grants.c: build-aux/grants writes them elsewhere.
use strict;
use warnings;

use File::Basename ();
use File::Copy     ();
use File::Path     ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my @WRITTEN = qw(fcgi/metrics/table.c etc/policy/schemas/svc.entitlements.bindings.json
  etc/policy/schemas/svc.operator.controls.public_client_policy.json etc/policy/service.cedarschema
  etc/portal/js/parts/client_rights.js etc/portal/js/parts/may_it.js etc/policy/svc/controls/client.rego);
my $CEDAR = 'etc/policy/service.cedarschema.json';    # compared only

sub run_in {
    my ( $top, @option ) = @_;
    return Authz::Process->run( name => 'grants', command => [ "$top/build-aux/grants", @option ] );
}

my ( $status, $text ) = run_in( Authz::Path::source(), '--check' );
is( $status, 0,  'each list of grants is that of fcgi/oauth/grants.c; if not, run build-aux/grants' );
is( $text,   '', '... and no file differs' );

# A grant more, in a copy: a row in grants.c is enough.
my $copy = Authz::Process::directory() . '/grants';
for my $file ( @WRITTEN, $CEDAR, 'fcgi/oauth/grants.c', 'fcgi/oauth/grant.h', 'build-aux/grants' ) {
    File::Path::make_path( File::Basename::dirname("$copy/$file") );
    File::Copy::cp( Authz::Path::source($file), "$copy/$file" ) or die "$file: $!";
}
my $table = Authz::Web::edit("$copy/fcgi/oauth/grants.c");
my $row =
  qq[        .type = "urn:example:grant",\n        .issue = grant_example,\n        .confidential_only = true,\n];
$table =~ s/^(const struct grant grant_table\[\] = \{\n    \{\n)/$1$row    }, {\n/m or die 'grants.c has another form';
open my $out, '>', "$copy/fcgi/oauth/grants.c" or die $!;
print {$out} $table;
close $out or die $!;

( $status, $text ) = run_in( $copy, '--check' );
isnt( $status, 0, 'a grant that the lists lack is found' );
is( $text, join( q{}, map {"$_\n"} @WRITTEN, $CEDAR ), '... in each file that has a list' );
( $status, $text ) = run_in($copy);
is( $status, 0, 'build-aux/grants writes it' );
like( Authz::Web::edit("$copy/$_"), qr/["':]urn:example:grant["']/, "... in $_" ) for @WRITTEN;
( $status, $text ) = run_in( $copy, '--check' );
is( $text, "$CEDAR\n", '... but for the schema that Cedar makes, which is told until it is made again' );
my $schema = Authz::Web::edit("$copy/$CEDAR");
$schema =~ s/^( *"issue:access_token:)(?=client_credentials")/$1urn:example:grant": {\n      },\n$1/m
  or die 'the schema has another form';
open $out, '>', "$copy/$CEDAR" or die $!;
print {$out} $schema;
close $out or die $!;
( $status, $text ) = run_in( $copy, '--check' );
is( $status, 0, '... and no list differs then' );

done_testing;

# Shared hosting: etc/apache/htaccess under Apache's mod_fcgid, and under CGI on a host that passes %2F (etc/apache/README).
use strict;
use warnings;

use Test::More;

use Authz::Deploy ();
use Authz::Path   ();
use Authz::Web    ();

my @line = grep { !/^\s*(?:#|$)/ } split /\n/, Authz::Web::edit( Authz::Path::source(qw(etc apache htaccess)) );
is( scalar @line, 8, 'etc/apache/htaccess has eight lines' );

subtest 'mod_fcgid' => sub { Authz::Deploy->check_shared_host('apache-htaccess-fcgid') };
subtest 'CGI'       => sub { Authz::Deploy->check_shared_host( 'apache-htaccess-cgi', slashes => 1 ) };
done_testing;

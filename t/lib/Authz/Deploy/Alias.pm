package Authz::Deploy::Alias;

# Names of headers that become the same CGI variable as a header that the service reads, such as X_Admin_API_Key for
# X-Admin-API-Key (RFC 3875 4.1.18); methods of Authz::Deploy.

use strict;
use warnings;

use Exporter   qw(import);
use File::Find ();
use Test::More;

use Authz::Path  ();
use Authz::Stack ();
use Authz::Web   ();

our @EXPORT_OK = qw(aliases aliases_of headers_read name_signs);

# Return the characters of a header's name that CGI makes a sign of like a hyphen (RFC 9110 5.6.2, RFC 3875 4.1.18).
sub name_signs { return split //, q{_.~!#$%&'*+^`|} }

# Return the variables of the headers that the sources of the service read, without HTTP_.
sub headers_read {
    my ( %seen, @file );
    File::Find::find( sub { push @file, $File::Find::name if /[.][ch]\z/ }, Authz::Path::source('fcgi') );
    for my $file (@file) {
        $seen{$_} = 1 for Authz::Web::edit($file) =~ /"HTTP_([A-Z_]+)"/g;
    }
    return sort keys %seen;
}

# Return each way of writing a variable's header with at least one underscore.
sub aliases_of {
    my ($variable) = @_;
    my ( $first, @rest ) = map { /\A(?:API|ID)\z/ ? $_ : ucfirst lc } split /_/, $variable;
    my @name = ($first);
    for my $word (@rest) {
        @name = map { ( "${_}_$word", "$_-$word" ) } @name;
    }
    return grep {/_/} @name;
}

# A proxy in front of the web server removes or sets headers by their names with hyphens; an alias must not get past it.
sub aliases {
    my ($self) = @_;
    my $http   = $self->{http};
    my %key    = %Authz::Stack::KEY;
    for my $name ( aliases_of('X_ADMIN_API_KEY') ) {
        is( $http->get( $self->at('/admin/api/clients'), headers => [ $name => $key{SVC_ADMIN_API_KEY} ] )->status,
            401, "aliases: the admin key as $name opens nothing (gateway-admin.md 7.2)" );
    }
    for my $name ( aliases_of('X_BUNDLE_API_KEY') ) {
        is( $http->get( $self->at('/bundles/svc'), headers => [ $name => $key{SVC_BUNDLE_API_KEY} ] )->status,
            401, "aliases: nor does the key of the engines as $name" );
    }
    for my $name ( aliases_of('X_REQUEST_ID') ) {
        isnt(
            $http->get( $self->at('/health/live'), headers => [ $name => 'mine' ] )->header('X-Request-ID'),
            'mine', "aliases: $name does not name the request" );
    }
    my $twice =
      $http->get( $self->at('/admin/api/clients'), headers => [ map { ( X_Admin_API_Key => $_ ) } 'a', 'b' ] );
    is( $twice->status, 401, 'aliases: nor does one that is sent twice' );
    my $both = $self->{stack}->admin( GET => '/admin/api/clients', headers => [ X_Admin_API_Key => 'wrong' ] );
    is( $both->status, 200, 'aliases: the header itself counts beside its alias' ) or diag( $both->text );
    return;
}

1;

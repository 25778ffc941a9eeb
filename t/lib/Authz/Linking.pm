package Authz::Linking;

# Managed resources to whose upstream people link accounts (gateway-admin.md 3.5): the service, an identity provider, the upstream,
# and what tests do with links. One for each test program.
#
#   my $at = linking_start();                 # keys: stack, idp, upstream, base
#   resource( notes => $at->{upstream}->auth );
#   my $ann = browser_of('ann');
#   credential( 'ann', 'notes' )->{url};      # the link that she must open
#   connect_by( $ann, $url ); reconnect($ann);

use strict;
use warnings;

use Exporter   qw(import);
use JSON::PP   ();
use Test::More ();

use Authz::Browser  ();
use Authz::Idp      ();
use Authz::Path     ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Upstream ();

our @EXPORT =
  qw(linking_start linking_begin resource linker_command credential browser_of fields rows audit connect_by reconnect refused);

my %at;

# Start the service without a person's identity provider, which linking_begin() registers.
sub linking_start {
    $at{stack} =
      Authz::Stack->start( settings => { Authz::Idp->settings, SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => '127.0.0.1' } );
    $at{base} = $at{stack}->base;
    return \%at;
}

sub linking_begin {
    $at{idp} = Authz::Idp->start;
    $at{idp}->register( $at{stack}, idpId => 'corp', name => 'Corp accounts' );
    $at{upstream} = Authz::Upstream->start;
    $at{stack}->make_client( 'app', undef, clientName => 'The app' );
    return;
}

# A managed resource, or another definition of it.
sub resource {
    my ( $name, $auth, %more ) = @_;
    my %document = (
        name => $name, displayName => "The $name", upstreamType => 'REST', upstreamUrl => $at{upstream}->url('/api'),
        defaultScope => "$name:read", upstreamAuth => $auth, %more );
    my $made = $at{stack}->admin( POST => '/admin/api/managed-resources', json => \%document );
    $made = $at{stack}->admin( PUT => "/admin/api/managed-resources/$name", json => \%document )
      if $made->status == 409;
    die "resource $name: " . $made->body if $made->status !~ /\A20[01]\z/;
    return;
}

sub linker_command {
    my @words = @_;
    return (
        name    => 'linker', env => $at{stack}->settings,
        command => [ Authz::Path::program('t/gateway/linker'), @words ] );
}

# The answer of link_credential().
sub credential {
    my @words = @_;
    my ( $status, $text ) = Authz::Process->run( linker_command(@words) );
    die "linker: $status $text" if $status != 0;
    return JSON::PP::decode_json( ( grep {/\A\{/} split /\n/, $text )[-1] );
}

# A browser that signs in as somebody.
sub browser_of {
    my ($sub) = @_;
    $at{idp}->user( { sub => $sub, name => $sub, email => "$sub\@example.org" } );
    my $browser = Authz::Browser->new;
    $browser->follow("$at{base}/gateway/connect");
    return $browser;
}

sub fields {
    my ($answer) = @_;
    my ($form)   = Authz::Browser::forms($answer) or die 'no form: ' . $answer->body;
    return @{ $form->{fields} };
}

sub rows { my ($what) = @_; return $at{stack}->sql( $what // q{SELECT count(*) FROM gateway_connection} ) }

sub audit {
    return $at{stack}->sql(
        q{SELECT operation || ' ' || outcome || ' ' || http_status || ' ' || coalesce(subject_id, '') || ' ' || coalesce(request_summary, '') FROM audit_log ORDER BY id DESC LIMIT 1}
    );
}

# Opens a link, chooses Connect and goes to the end; the last answer.
sub connect_by {
    my ( $browser, $url ) = @_;
    my $page = $browser->get($url);
    my @hop  = $browser->submit( $page, button => [ decision => 'connect' ] );
    return $hop[-1];
}

# A page that refuses, and connects nothing.
sub refused {
    my ( $answer, $status, $text, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    Test::More::is( $answer->status, $status, $name );
    Test::More::like( $answer->body, $text, '... and the page says so' );
    return Test::More::is( rows(), 0, '... and nothing is connected' );
}

# Have a person connect; true if the page at the end says so.
sub reconnect {
    my ( $browser, $name ) = @_;
    my $done = connect_by( $browser, credential( 'ann', $name // 'notes' )->{url} );
    return $done->body =~ /<h1>Connected/;
}

1;

package Authz::Keycloak;

# Keycloak as an identity provider: contrib/check fetches it, and one start serves all of a test, with its database in memory.
#   my $keycloak = Authz::Keycloak->start;                 skips the test where it is not installed
#   $keycloak->realm( corp => users => [...], clients => [...], ... );   a realm, by its representation in the admin interface
#   $keycloak->issuer('corp'); $keycloak->inner('corp');   the same realm by its outer and by its inner host name
#   $keycloak->login( $browser, $page, 'ann' );            sends the form of its page; every password is the name

use strict;
use warnings;

use Test::More  ();
use Time::HiRes qw(sleep time);

use Authz::Browser ();
use Authz::Client  ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

sub _home {
    return $ENV{AUTHZ_KEYCLOAK} if ( $ENV{AUTHZ_KEYCLOAK} // '' ) ne '';
    my $cache = ( $ENV{XDG_CACHE_HOME} // ( $ENV{HOME} // '' ) . '/.cache' ) . '/authz/keycloak';
    return ( map {m{(.*)/built\z}} glob "$cache/[0-9]*/built" )[-1];
}

# Return why it cannot run here, or undef.
sub missing {
    return 'no Keycloak: contrib/check --rest brings it' if !defined _home();
    return 'no java'                                     if !defined Authz::Path::on_path('java');
    return;
}

# Return the version, as its file says.
sub version { return ( Authz::Web::edit( _home() . '/version.txt' ) =~ /(\d[\d.]*)/ )[0] }

sub start {
    my ($class) = @_;
    my $missing = missing();
    Test::More::plan( skip_all => $missing ) if defined $missing;
    my $port = Authz::Web::free_port();
    my $self = bless { port => $port, outer => "http://127.0.0.1:$port", inner => "http://localhost:$port" }, $class;
    $self->{process} = Authz::Process->start(
        name => 'keycloak',
        env  => {
            KC_BOOTSTRAP_ADMIN_USERNAME => 'admin', KC_BOOTSTRAP_ADMIN_PASSWORD => 'admin',
            JAVA_OPTS_APPEND            => '-XX:TieredStopAtLevel=1 -Xmx512m' },
        command => [
            _home() . '/bin/kc.sh', qw(start --optimized --http-enabled=true --http-host=127.0.0.1 --cache=local),
            "--http-port=$port",
            "--hostname=$self->{outer}", '--hostname-backchannel-dynamic=true' ] );
    my $until = time + 120 * Authz::Process::patience();
    while ( !defined $self->_token ) {
        die 'Keycloak does not start: ' . $self->{process}->log_text
          if time > $until || !$self->{process}->alive;
        sleep 0.3;
    }
    return $self;
}

# A token of the administrator, which lives for a minute; undef while Keycloak does not answer.
sub _token {
    my ($self) = @_;
    my $answer = $self->http->post(
        '/realms/master/protocol/openid-connect/token',
        form => [ grant_type => 'password', client_id => 'admin-cli', username => 'admin', password => 'admin' ] );
    return $answer->status == 200 ? $answer->member('access_token') : undef;
}

sub http    { my ($self) = @_; return Authz::Client->new( port => $self->{port}, foreign => 1 ) }
sub process { return $_[0]{process} }
sub issuer  { my ( $self, $realm ) = @_; return "$self->{outer}/realms/$realm" }
sub inner   { my ( $self, $realm ) = @_; return "$self->{inner}/realms/$realm" }

sub realm {
    my ( $self, $name, %more ) = @_;
    my $answer = $self->http->post(
        '/admin/realms',
        headers => [ Authorization => 'Bearer ' . $self->_token ],
        json    => { realm => $name, enabled => \1, sslRequired => 'none', %more } );
    die "realm $name: " . $answer->text if $answer->status != 201;
    return $self;
}

# The representation of a person, whose password is the name.
sub person {
    my ( $name, %more ) = @_;
    return {
        username    => $name,         enabled  => \1, email => "$name\@corp.example", emailVerified => \1,
        firstName   => ucfirst $name, lastName => 'Example',
        credentials => [ { type => 'password', value => $name, temporary => \0 } ], %more };
}

# A browser that Keycloak takes: its cookies are Secure on http of the same machine.
sub browser { return Authz::Browser->new( trusts_loopback => 1 ) }

sub login {
    my ( undef, $browser, $page, $name, %option ) = @_;
    return $browser->submit( $page, set => { username => $name, password => $name }, %option );
}

1;

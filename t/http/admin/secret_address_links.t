# What people and authorization servers gave goes to no other address afterwards (security-model.md "Where a secret may go"): an
# operator who changes an address of a resource gets neither the tokens of people nor the secrets of registrations.
use strict;
use warnings;

use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Linking;
use Authz::Upstream ();

my $at = linking_start();
linking_begin();
my ( $stack, $base, $upstream ) = @$at{qw(stack base upstream)};
my $thief = Authz::Upstream->start;
my $ann   = browser_of('ann');

# The tokens, typed secrets and secrets of registrations that were given so far.
my @given;

sub remember {
    my $text = $upstream->all_seen;
    push @given, $text =~ /((?:[ar]t|code|secret)-[\w-]+|good-key)/g;
    push @given, map { split /:/, MIME::Base64::decode_base64($_) } $text =~ /Basic ([\w+\/=]+)/g;
    @given = grep {/\A(?:[ar]t|secret)-|\Agood-key\z/} @given;
    return;
}

# True if nothing that was given came to the other server.
sub safe {
    my ($name) = @_;
    my $text = $thief->all_seen;
    $text .= join "\n", map { MIME::Base64::decode_base64($_) } $text =~ /Basic ([\w+\/=]+)/g;
    my @lost = grep { index( $text, $_ ) >= 0 } @given;
    return is( "@lost", '', $name );
}

# Disconnect on the page of the person.
sub disconnect {
    my ($name) = @_;
    my ($form) =
      grep { $_->{action} =~ m{/\Q$name\E/disconnect} } Authz::Browser::forms( $ann->get("$base/gateway/connect") );
    return $ann->post( "$base/gateway/connect/$name/disconnect", form => [ @{ $form->{fields} } ] )->status;
}

# ---- another upstream

resource( notes => $upstream->auth );
ok( reconnect($ann), 'an account is connected' );
is( credential( 'ann', 'notes' )->{error}, '', '... and its token is used' );
remember();
for my $case (
    [ 'another origin of upstreamUrl' => $upstream->auth, upstreamUrl => $thief->url('/api') ],
    [ 'another tokenEndpoint'         => $upstream->auth( tokenEndpoint => $thief->url('/token') ) ],
    [ 'another issuer'                => $upstream->auth( issuer        => $thief->url ) ],
    [ 'another header field'          => $upstream->auth( header        => 'X-Debug' ) ] )
{
    my ( $what, $auth, @more ) = @$case;
    resource( notes => $auth, @more );
    is( credential( 'ann', 'notes' )->{error}, 'link_required', "$what: no token of the account goes there" );
    $stack->sql(q{UPDATE gateway_connection SET expires_at = now() - interval '1 second'});
    is( credential( 'ann', 'notes' )->{error}, 'link_required', '... nor its refresh token' );
}
resource( notes => $upstream->auth, upstreamUrl => $upstream->url('/api/v2') );
is( credential( 'ann', 'notes' )->{error}, '', 'the first addresses again, with another path: the account is used' );

# ---- another revocation endpoint

for my $case (
    [ 'another revocationEndpoint' => { revocationEndpoint => $thief->url('/revoke') } ],
    [ 'another path of the same'   => { revocationEndpoint => $upstream->url('/revoke/x') } ],
    [ 'none any more'              => { revocationEndpoint => undef } ] )
{
    resource( notes => $upstream->auth );
    $stack->sql('DELETE FROM gateway_connection');
    ok( reconnect($ann), 'an account is connected' );
    remember();
    resource( notes => $upstream->auth( %{ $case->[1] } ) );
    $upstream->forget;
    is( disconnect('notes'),              303, "$case->[0]: the account is disconnected" );
    is( scalar $upstream->seen('revoke'), 0, '... and nothing is revoked at an endpoint that is not the one of then' );
}
resource( notes => $upstream->auth );
ok( reconnect($ann), 'an account is connected' );
remember();
is( disconnect('notes'), 303, 'the endpoint of then' );
like( ( $upstream->seen('revoke') )[0]{token}, qr/\Art-/, '... gets the refresh token' );

# ---- a typed secret

my %key = ( type => 'user_secret', header => 'X-Key', scheme => '' );
resource( keyed => \%key );
my ($page) = $ann->submit( $ann->get( credential( 'ann', 'keyed' )->{url} ), button => [ decision => 'connect' ] );
my %field = fields($page);
$ann->post( "$base/gateway/link", form => [ %field, secret => 'good-key', decision => 'save' ] );
is( credential( 'ann', 'keyed' )->{error}, '', 'a typed secret is used' );
push @given, 'good-key';
for my $case (
    [ 'another origin'                    => \%key, upstreamUrl => $thief->url('/api') ],
    [ 'a parameter in place of the field' => { type => 'user_secret', query => 'key' } ] )
{
    my ( $what, $auth, @more ) = @$case;
    resource( keyed => $auth, @more );
    is( credential( 'ann', 'keyed' )->{error}, 'link_required', "a typed secret, $what: it does not go there" );
}

# ---- the secret of a registration

my %found = map { ( $_ => undef ) } qw(authorizationEndpoint tokenEndpoint clientId tokenAuthMethod revocationEndpoint);
my @dcr   = ( discovery => 'prm', registration => 'dcr', %found );
resource( found => $upstream->auth(@dcr) );
$upstream->forget;
ok( reconnect( $ann, 'found' ), 'a client that is registered there' );
remember();
like( "@given", qr/secret-/, '... with a secret' );
for my $case (
    [ 'another tokenEndpoint'      => { tokenEndpoint      => $thief->url('/token') } ],
    [ 'another revocationEndpoint' => { revocationEndpoint => $thief->url('/revoke') } ] )
{
    my $before = $upstream->seen('register');
    resource( found => $upstream->auth( @dcr, %{ $case->[1] } ) );
    $stack->sql('DELETE FROM gateway_connection');
    reconnect( $ann, 'found' );
    disconnect('found') if rows() > 0;
    cmp_ok( scalar $upstream->seen('register'), '>', $before, "$case->[0]: the service registers again" );
}
safe('at the end nothing that was given came to the other server');
done_testing;

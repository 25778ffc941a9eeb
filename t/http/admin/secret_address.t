# A stored secret goes to no other address than the one that it was stored for (security-model.md "Where a secret may go"): a save
# that changes an address of it needs the secret again, by whichever way the save comes.
use strict;
use warnings;

use FindBin ();
use lib "$FindBin::Bin/../../cli", "$FindBin::Bin/../../lib";
use File::Temp   qw(tempdir);
use JSON::PP     ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Idp     ();
use Authz::Managed ();
use Authz::Peer    ();
use Authz::Stack   ();
use Authzctl;

my $own   = tempdir( CLEANUP => 1 );
my $stack = Authz::Stack->start(
    gateway  => 1,
    settings => {
        Authz::Idp->settings,
        SVC_GATEWAY_ALLOWED_INSECURE_HOSTS => 'localhost,127.0.0.1',
        SVC_CONNECTORS_DIR                 => $own } );
my $idp  = Authz::Idp->start;                                  # first, for its keys
my $gate = Authz::Managed->new( $stack, client => 'robot' );
my ( $home, $thief ) = map { Authz::Peer->start } 1, 2;
my $secret = 'stored-secret-of-an-owner';
my %answer = (
    '/a'     => { body => {} },
    '/token' => { body => { access_token => 'token-of-stored-secret', token_type => 'Bearer', expires_in => 3600 } } );
$_->set(%answer) for $home, $thief;

my @routes = ( routes => [ { id => 'all', path => '/**', methods => ['GET'] } ] );
my $all    = '/admin/api/managed-resources';

sub put {
    my ( $name, %document ) = @_;
    return $stack->admin( PUT => "$all/$name", json => { name => $name, %document } );
}

sub slurp { open my $in, '<', $_[0] or die "$_[0]: $!"; local $/ = undef; return readline $in }

# True if a peer saw a text, or a token that was fetched with it.
sub saw {
    my ( $peer, @text ) = @_;
    my $text = join "\n", map {"$_->{head}$_->{body}"} $peer->requests;
    $text .= join "\n", map { MIME::Base64::decode_base64($_) } $text =~ /Basic ([\w+\/=]+)/g;
    return scalar grep { index( $text, $_ ) >= 0 } @text;
}

# ---- the table

my $model = slurp("$FindBin::Bin/../../../doc/security-model.md");
for my $file ( glob "$FindBin::Bin/../../../sql/*.sql" ) {
    my $table;
    for ( split /\n/, slurp($file) ) {
        $table = $1 if /^(?:CREATE|ALTER) TABLE (\w+)/;
        ok( index( $model, "$table.$1" ) >= 0, "security-model.md says where $table.$1 may go" )
          if /^[^-]*?(\w+_sealed)\b.*bytea/;
    }
}

# ---- managed resources

# A kind: its upstreamAuth with the secret, the member, and the addresses that count, by name, each with another value.
my %client   = ( clientId => 'gw', tokenEndpoint => $home->url('/token') );
my %grant    = ( %client, issuer => 'https://as.example' );
my $key      = "-----BEGIN PRIVATE KEY-----\nstored\n-----END PRIVATE KEY-----\n";
my %upstream = ( upstreamUrl   => $thief->url );
my %token    = ( tokenEndpoint => $thief->url('/token') );
my %issuer   = ( issuer        => 'https://other.example' );
my @kinds    = (
    [ static_header      => {},                  value        => 'value',             \%upstream, {} ],
    [ basic              => { username => 'u' }, password     => 'password',          \%upstream, {} ],
    [ client_credentials => \%client,            clientSecret => 'clientSecret',      \%upstream, { %token, %issuer } ],
    [ client_credentials => \%client,            key          => 'privateKeyJwt.key', \%upstream, { %token, %issuer } ],
    [ token_exchange     => \%grant,             clientSecret => 'clientSecret',      \%upstream, { %token, %issuer } ],
    [   oauth_link => { %grant, authorizationEndpoint => $home->url('/authorize') }, clientSecret => 'clientSecret',
        \%upstream, { %token, %issuer, revocationEndpoint => $thief->url('/revoke'), discovery => 'issuer' } ] );

my $made = 0;
for my $kind (@kinds) {
    my ( $type, $more, $what, $member, $outer, $inner ) = @$kind;
    my $name  = 'kind' . ++$made;
    my $field = "upstreamAuth.$member";
    my $auth  = sub {
        my ( $value, %change ) = @_;
        my %given =
          !defined $value ? () : $what eq 'key' ? ( privateKeyJwt => { key => $value } ) : ( $what => $value );
        return { type => $type, %$more, %given, %change };
    };
    my %document = ( displayName => $name, upstreamType => 'REST', defaultScope => 'use', @routes );
    my $first    = $what eq 'key' ? $key : $secret;
    $gate->resource( $name, %document, upstreamUrl => $home->url('/v1'), upstreamAuth => $auth->($first) );
    admin_ok(
        put( $name, %document, upstreamUrl => $home->url('/v2'), upstreamAuth => $auth->() ),
        200, undef, "$type, $member: another path of the upstream keeps it" );
    my $shown = $stack->admin( GET => "$all/$name" )->json;
    my %moved = (
        ( map { ( $_ => [ $outer->{$_},      {} ] ) } keys %$outer ),
        ( map { ( $_ => [ $home->url('/v1'), { $_ => $inner->{$_} } ] ) } keys %$inner ) );
    for my $address ( sort keys %moved ) {
        my ( $url, $change ) = @{ $moved{$address} };
        for my $way ( [ absent => undef ], [ '{"set": true}' => { set => JSON::PP::true() } ] ) {
            my $got = put( $name, %document, upstreamUrl => $url, upstreamAuth => $auth->( $way->[1], %$change ) );
            admin_error( $got, 400, "$type: another $address, $member $way->[0]: refused", fields => [$field] );
            like( $got->json->{fieldErrors}{$field}, qr/\b$address differs/, '... and told which address differs' );
        }
    }
    admin_error(
        $stack->admin( PUT => "$all/$name", json => { %$shown, upstreamUrl => $thief->url } ),
        400, "$type: what a GET showed, with another address: refused", fields => [$field] );
    $gate->ask( GET => $name, '/a' ) if $type !~ /exchange|link/ && $what ne 'key';
    admin_ok(
        put($name, %document, upstreamUrl => $thief->url, upstreamAuth => $auth->( $first eq $key ? $key : 'another' )
        ),
        200, undef,
        "$type: another address with the secret again: stored" );
    admin_ok(
        put( $name, %document, upstreamUrl => $home->url, upstreamAuth => { type => 'none' } ),
        200, undef, '... and another type drops it' );
}
ok( saw( $home, $secret ), 'the upstream of each secret got it' );
ok( !saw( $thief, $secret, 'token-of-stored-secret' ), '... and nobody else, nor a token that was fetched with it' );

# A secret that was stored before there was an address.
my %early = ( displayName => 'Early', upstreamType => 'REST', defaultScope => 'use', @routes );
$gate->resource( 'early', %early, upstreamAuth => { type => 'static_header', value => $secret } );
admin_error(
    put( 'early', %early, upstreamUrl => $thief->url, upstreamAuth => { type => 'static_header' } ),
    400, 'a secret that was stored without an address goes to none', fields => ['upstreamAuth.value'] );
admin_ok(
    put( 'early', %early, upstreamUrl => $thief->url, upstreamAuth => { type => 'static_header', value => undef } ),
    200, { status => 'pending' }, '... null clears it' );

# The upstream names its authorization server by its metadata: a secret needs the issuer that may have it.
my %found =
  ( type => 'oauth_link', discovery => 'prm', registration => 'static', clientId => 'gw', clientSecret => $secret );
my $found = $gate->resource( 'found', %early, upstreamUrl => $home->url, upstreamAuth => \%found );
is( $found->json->{statusReason}, 'upstreamAuth.issuer is missing', 'a secret with discovery prm needs its issuer' );
$found = $gate->resource(
    'found', %early, upstreamUrl => $home->url,
    upstreamAuth => { %found, issuer => 'https://as.example' } );
unlike( $found->json->{statusReason} // '', qr/missing/, '... and with it nothing is missing' );

# ---- connectors

my $manifest = {
    manifestVersion => 1, id => 'own', name => 'Own', version => '1', category => 'generic',
    settings        => {
        type       => 'object', required => ['secret'],
        properties => {
            secret => { type => 'string', writeOnly => JSON::PP::true() },
            url    => { type => 'string', default   => $home->url } } },
    resources => [
        {   name => '${input.name}', displayName => 'Own', upstreamType => 'REST', upstreamUrl => '${settings.url}',
            defaultScope => 'use', upstreamAuth => { type => 'static_header', value => '${settings.secret}' }, @routes }
    ] };

sub manifest {
    my (%change) = @_;
    open my $file, '>', "$own/own.json" or die "own.json: $!";
    print {$file} JSON::PP->new->encode( { %$manifest, %change } );
    return close $file;
}
manifest();
admin_ok(
    $stack->admin(
        POST => '/admin/api/connectors/own/install',
        json => { name => 'own', createResources => JSON::PP::true(), settings => { secret => $secret } } ),
    201, undef,
    'a connector with a secret' );
my $document = $stack->admin( GET => "$all/own" )->json;
admin_error(
    $stack->admin( PUT => "$all/own", json => { %$document, upstreamUrl => $thief->url } ),
    400, 'a PUT of its resource with another address: refused', fields => ['upstreamAuth.value'] );
manifest( version => 2, resources => [ { %{ $manifest->{resources}[0] }, upstreamUrl => $thief->url } ] );
for my $body ( {}, { settings => { url => $thief->url } } ) {
    my $got = $stack->admin( POST => '/admin/api/connectors/own/sync', json => $body );
    is( $got->status, 200, 'a sync with a manifest, or settings, that name another address' );
    is( $stack->admin( GET => "$all/own" )->json->{upstreamUrl}, $home->url, '... leaves the stored one' );
}

# ---- identity providers

my $providers = '/admin/api/identity-providers';
$idp->register( $stack, clientSecret => $secret, tokenEndpoint => $home->url('/token') );
my %provider = ( idpId => 'corp', name => 'Corp', issuer => $idp->issuer, clientId => $idp->{client_id} );
my %as_it_is = ( %provider, tokenEndpoint => $home->url('/token') );
for my $case (
    [ tokenEndpoint => { %provider, tokenEndpoint => $thief->url('/token') } ],
    [ tokenEndpoint => { %provider, tokenEndpoint => $home->url('/other') } ],
    [ tokenEndpoint => {%provider} ],
    [ tokenEndpoint => { %as_it_is, tokenEndpoint => $thief->url('/token'), clientSecret => undef } ],
    [ issuer        => { %as_it_is, issuer => $thief->url } ] )
{
    my $got = $stack->admin( PUT => "$providers/corp", json => $case->[1] );
    my $to  = $case->[1]{ $case->[0] } // 'none';
    admin_error( $got, 400, "provider: $case->[0] $to without the secret: refused", fields => ['clientSecret'] );
    like( $got->json->{fieldErrors}{clientSecret}, qr/\b$case->[0] differs/, '... and told which address differs' );
}
admin_error(
    $stack->admin(
        PUT     => "$providers/corp",
        headers => [ 'If-Match' => '"0"' ],
        json    => { %as_it_is, tokenEndpoint => $thief->url('/token') } ),
    412,
    'provider: a stale If-Match is told first' );

# Send the browser to a callback with a code that was made up, as the attack did.
sub call_back {
    my $browser = Authz::Browser->new;
    my $page    = $browser->get( $stack->base . '/gateway/connect' );
    my $at      = $page->header('Location') // die 'no sign-in: ' . $page->text;
    $page = $browser->get($at) if $at !~ /[?&]state=/;
    my ($state) = ( $page->header('Location') // $at ) =~ /[?&]state=([^&]+)/ or die "no state: $at";
    my ($back)  = ( $page->header('Location') // $at ) =~ /[?&]redirect_uri=([^&]+)/;
    $back =~ s/%([0-9A-Fa-f]{2})/chr hex $1/ge;
    return $browser->get( "$back?state=$state&code=made-up&iss=" . $idp->issuer );
}
$home->forget;
call_back();
ok( saw( $home, $secret ), 'the token endpoint gets the stored secret' );
admin_ok(
    $stack->admin( PUT => "$providers/corp", json => { %as_it_is, name => 'C', enabled => JSON::PP::true() } ),
    200, undef, 'a PUT with the same addresses keeps it' );
$home->forget;
call_back();
ok( saw( $home, $secret ), '... and it works as before' );
admin_ok(
    $stack->admin(
        PUT  => "$providers/corp",
        json => { %provider, tokenEndpoint => $thief->url('/token'), clientSecret => 'another' } ),
    200, undef,
    'another address with the secret again: stored' );
call_back();
ok( saw( $thief, 'another' ), '... and that one goes there' );
my $public = { idpId => 'public', issuer => 'https://public.example', clientId => 'x' };
admin_ok( $stack->admin( POST => $providers, json => $public ), 201, undef, 'a provider without a secret' );
admin_ok(
    $stack->admin( PUT => "$providers/public", json => { %$public, issuer => 'https://other.example' } ),
    200, undef, '... may have another address: there is nothing to send' );

# ---- files

my $far  = { SVC_CONFIG => '/dev/null', AUTHZ_ADMIN_KEY => $Authz::Stack::KEY{SVC_ADMIN_API_KEY}, SHOP_KEY => $secret };
my @api  = ( env => $far );
my $json = JSON::PP->new->canonical->utf8;

sub shop {
    my ( $url, @key ) = @_;
    my %shop = ( displayName => 'Shop', upstreamType => 'REST', defaultScope => 'use', @routes );
    return tree(
        'instance.json'       => $json->encode( { format => 1, owner => 'shop' } ),
        'resources/shop.json' =>
          $json->encode( { %shop, upstreamUrl => $url, upstreamAuth => { type => 'static_header', @key } } ) );
}
my @named  = ( value => { env => 'SHOP_KEY' } );
my @server = ( '--server', $stack->base );
ctl_is( 0, [ 'apply', shop( $home->url, @named ), @server ], 'apply: a secret by the name of its variable', @api );
my $refused = ctl( [ 'apply', shop( $thief->url ), @server ], @api );
isnt( $refused->{status}, 0, 'apply: another address in a file without the secret: refused' );
like( $refused->{err}, qr/upstreamAuth\.value.*given again/s, '... and the member is named' );
ctl_is( 0, [ 'apply', shop( $home->url('/v2') ), @server ], 'apply: another path keeps it', @api );
ctl_is( 0, [ 'apply', shop( $thief->url, @named ), @server ], 'apply: another address with the secret: stored', @api );

ok( !saw( $thief, $secret ), 'at the end no stored secret came to the other server' );
done_testing;

# A request without scope: the registered scope, else default_scopes of the row for a client that registered itself; and the
# scope of a client in the admin API (decisions.md "Omitted scope", "What is stored").
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Browser ();
use Authz::Check;
use Authz::Client ();
use Authz::Idp    ();
use Authz::Stack  ();

my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $idp   = Authz::Idp->start;
$idp->register($stack);
my $row  = 'svc.operator.controls.public_client_policy';
my $rule = 'decisions.md "Omitted scope"';
my $back = 'https://app.example/cb';

sub defaults { return $stack->patch_row( $row, { dcr => { default_scopes => $_[0] } } ) }

sub register {
    my (%member) = @_;
    my $answer = $stack->http->post( '/register', json => { redirect_uris => [$back], %member } );
    die $answer->text if $answer->status != 201;
    return $answer;
}
sub stored { my ($id) = @_; return $stack->sql("SELECT coalesce(scope, 'none') FROM client WHERE client_id = '$id'") }

# A client for client_credentials: what it gets is in the answer of /token.
$stack->patch_row( $row, { dcr => { allowed_grant_types => ['client_credentials'] } } );
$stack->patch_row(
    'svc.entitlements.bindings',
    {   registrations =>
          { DCR => { grants => ['client_credentials'], scopes => [qw(openid email phone orders.read orders.write)] } } }
);
my %service = ( grant_types => ['client_credentials'], response_types => [] );

# ---- registration

my $made = register(%service);
my @dcr  = map { $made->member($_) } qw(client_id client_secret);
is( $made->member('scope'), 'openid profile email',
    "without scope the answer has the scopes that a request without scope gets now (RFC 7591 2; $rule)" );
is( stored( $dcr[0] ), 'none', "... and no ceiling is stored ($rule)" );
admin_ok(
    $stack->admin( GET => "/admin/api/clients/$dcr[0]" ), 200, { scope => undef },
    '... nor shown to the administrator' );
my $limited = register( %service, scope => 'orders.read phone' );
my @limited = map { $limited->member($_) } qw(client_id client_secret);
is( stored( $limited[0] ), 'orders.read phone', 'a scope that the client registers is stored' );
admin_ok(
    $stack->admin( GET => "/admin/api/clients/$limited[0]" ), 200, { scope => 'orders.read phone' },
    '... and the admin API shows it (decisions.md "What is stored")' );
my ($listed) = grep { $_->{clientId} eq $limited[0] } @{ $stack->admin( GET => '/admin/api/clients' )->json };
is( $listed->{scope},                                     'orders.read phone',    '... in the list too' );
is( register( %service, scope => '  ' )->member('scope'), 'openid profile email', 'a scope of blanks names none' );

# ---- /token

sub asks {
    my ( $who, $scope, $name, @more ) = @_;
    return oauth_ok( $stack->token( @$who, @more ), { scope => same_words($scope) }, "$name ($rule)" );
}
asks( \@dcr,     'openid email',      'no scope: default_scopes, as far as policy grants them' );
asks( \@limited, 'orders.read phone', 'no scope: the registered one takes their place' );
asks( \@dcr,     'orders.write',      'default_scopes are no ceiling', scope => 'orders.write' );
oauth_error(
    $stack->token( @limited, scope => 'orders.write' ), 400, 'invalid_scope',
    'a registered scope is a ceiling (decisions.md "What is stored")' );
defaults( [qw(phone orders.read)] );
asks( \@dcr,     'phone orders.read', 'the operator changes the row: the next request has it' );
asks( \@limited, 'orders.read phone', '... and a registered scope stays' );
asks( \@dcr,     'orders.write',      '... and is no ceiling', scope => 'orders.write' );
defaults( ['address'] );
asks(
    \@dcr, '',
    'default_scopes of which policy grants none: a token without scope, because the client asked for nothing' );
defaults( [] );
asks( \@dcr, '', 'an empty list: a token without scope' );
defaults(undef);
asks( \@dcr, 'openid email', 'a row without the list: the default of its schema' );
my @admin = $stack->make_client( 'admin', { grants => ['client_credentials'], scopes => [qw(openid email)] } );
asks( \@admin, '', 'a client of the administrator has no default' );
defaults( [qq{a"b}] );
oauth_error( $stack->token(@dcr), 500, 'server_error', 'a default that is no scope (RFC 6749 3.3) gives no token' );
asks( \@dcr, 'phone', '... and stops no request that has a scope', scope => 'phone' );
defaults( [qw(openid email)] );

# ---- /authorize: the consent page shows what is asked for

sub shows {
    my ( $id, $scopes, $name, %more ) = @_;
    my %param = (
        response_type         => 'code', client_id => $id, redirect_uri => $back, code_challenge => 'A' x 43,
        code_challenge_method => 'S256', %more );
    my $browser = Authz::Browser->new;
    my $page    = (
        $browser->follow(
            $stack->base . '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param ),
            stop => qr{\A\Q$back\E} ) )[-1];
    my @shown = $page->body =~ m{<li>(?:(?:<bdi[^>]*>[^<]*</bdi> )+<span class="name">)?<bdi>([^<]+)</bdi>}g;
    return is( join( ' ', @shown ), $scopes, "$name ($rule)" ) || diag( $page->text );
}
my $pages = { grants => ['authorization_code'], scopes => [qw(openid email address phone profile)] };
$stack->make_client( $_, $pages, clientType => 'public', redirectUris => [$back] ) for qw(DCR STATEMENT CIMD own);
$stack->sql("UPDATE client SET registration_type = client_id WHERE client_id IN ('DCR', 'STATEMENT', 'CIMD')");
shows( $_,    'openid email', "/authorize without scope, $_: default_scopes" ) for qw(DCR STATEMENT CIMD);
shows( 'own', '',             '/authorize without scope, a client of the administrator: none', prompt => 'consent' );
shows( 'DCR', 'address',      '/authorize with a scope: that',                                 scope  => 'address' );
defaults( ['phone'] );
shows( 'DCR', 'phone', '/authorize: the row as it is now' );
$stack->sql(q{UPDATE client SET scope = 'profile' WHERE client_id = 'DCR'});
shows( 'DCR', 'profile', '/authorize: the registered scope takes their place' );

# ---- the admin API changes the ceiling

sub put {
    my ( $id, %field ) = @_;
    return $stack->admin( PUT => "/admin/api/clients/$id", json => { clientType => 'confidential', %field } );
}
my $stored = 'decisions.md "What is stored"';
admin_ok(
    put( $limited[0], scope => 'orders.read orders.write' ), 200, { scope => 'orders.read orders.write' },
    "PUT raises it ($stored)" );
asks( \@limited, 'orders.write', '... and the next token may have it', scope => 'orders.write phone' );
admin_ok(
    put( $limited[0] ), 200, { scope => 'orders.read orders.write' },
    'PUT without scope keeps it: a program that does not know the member must not lift the ceiling (decisions.md "PUT of a client")'
);
admin_ok( put( $limited[0], scope => 'phone' ), 200, { scope => 'phone' }, 'PUT lowers it' );
oauth_error( $stack->token( @limited, scope => 'orders.read' ), 400, 'invalid_scope', '... at once' );
for my $none ( undef, '', '   ' ) {
    put( $limited[0], scope => 'phone' );
    admin_ok( put( $limited[0], scope => $none ), 200, { scope => undef }, 'PUT removes it: ' . ( $none // 'null' ) );
    is( stored( $limited[0] ), 'none', '... and none is stored' );
}
asks( \@limited, 'orders.read', '... and it limits nothing', scope => 'orders.read' );
my $new = $stack->admin(
    POST => '/admin/api/clients',
    json => { clientId => 'new', clientType => 'confidential', scope => 'email' } );
admin_ok( $new, 201, { scope => 'email' }, 'POST sets it' );
my @new = ( 'new', $new->member('clientSecret') );
$stack->bind( new => { grants => ['client_credentials'], scopes => [qw(openid email)] } );
asks( \@new, 'email', '... it is the default of requests' );
oauth_error( $stack->token( @new, scope => 'openid' ), 400, 'invalid_scope', '... and their ceiling' );
admin_ok(
    $stack->admin( POST => '/admin/api/clients', json => { clientId => 'free', clientType => 'public' } ),
    201, { scope => undef }, 'POST without scope: no ceiling' );

my %bad = (
    'a quote'          => 'a"b',      'a backslash' => 'a\\b', 'a tab' => "a\tb", 'an umlaut' => "\x{fc}",
    '1,025 characters' => 'a' x 1025, '101 scopes'  => join( ' ', map {"s$_"} 1 .. 101 ), 'a list' => ['openid'],
);
admin_error( put( 'new', scope => $bad{$_} ), 400, "PUT refuses a scope with $_", fields => ['scope'] )
  for sort keys %bad;
my %good = ( '1,024 characters' => 'a' x 1024, '100 scopes' => join( ' ', map {"s$_"} 1 .. 100 ) );
admin_ok( put( 'new', scope => $good{$_} ), 200, { scope => $good{$_} }, "PUT takes $_" ) for sort keys %good;

done_testing;

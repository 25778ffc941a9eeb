# Rows that change while policy is asked about a code or a refresh token, and answers that policy may not give. A code is checked,
# policy is asked, and then it is consumed and its tokens issued in one transaction (decisions.md "Codes"; oauth.md 3.3).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Process ();
use Authz::Stack   ();

my $stack = Authz::Stack->start( fake_opa => 1, settings => { SVC_POLICY_TIMEOUT_MS => 20_000 } );
my %code  = (
    grants => [ 'authorization_code', 'refresh_token', 'client_credentials' ],
    scopes => [qw(openid orders.read orders.write)] );
my %secret;
my @rs = $stack->make_client( 'rs', { endpoints => ['introspect'] } );
Authz::Grant->people($stack);
make($_) for qw(web spa);

# Makes a client, public or not by its name.
sub make {
    my ($id) = @_;
    my ( undef, $secret ) = $stack->make_client( $id, {%code}, $id =~ /\Aspa/ ? ( clientType => 'public' ) : () );
    $secret{$id} = $secret;
    return $id;
}
sub who { my ($id) = @_; return defined $secret{$id} ? [ $id, $secret{$id} ] : $id }

sub code {
    my ( $id, %option ) = @_;
    return Authz::Grant->code( $stack, client => $id, scope => 'openid orders.read orders.write', %option );
}
sub newest { return $stack->sql('SELECT id FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1') }

# The form of a request of a kind that would succeed.
sub form {
    my ( $kind, $id, %option ) = @_;
    my $code = code( $id, %option );
    return Authz::Grant->redemption($code) if $kind eq 'code';
    return (
        grant_type    => 'refresh_token',
        refresh_token => Authz::Grant->redeem( $stack, who($id), $code )->member('refresh_token') );
}

# The answer to a request during which that happens: after the look at the rows, before the write.
sub meanwhile {
    my ( $id, $form, $do, @hold ) = @_;
    my $client = $stack->client;
    my $asked  = $stack->fake->asked;
    $stack->fake->tell( @hold ? @hold : 'hold' );
    my $sent = $client->begin( Authz::Grant->octets( $client, who($id), @$form ) );
    Authz::Process::until_true( 20, sub { $stack->fake->asked > $asked } );
    $do->();
    $stack->fake->tell('pass');
    return $client->end($sent);
}

sub again {
    my ( $id, $form ) = @_;
    return $stack->client->raw( Authz::Grant->octets( $stack->client, who($id), @$form ) );
}

# ---- the family, its provider and its client

# Each change: its name; the SQL; the error (none: success); the SQL that undoes it, after which the request succeeds.
my @change = (
    [ 'its family is revoked', sub {"UPDATE token_grant SET revoked_at = now() WHERE id = '$_[0]'"}, 'invalid_grant' ],
    [ 'its family ends',       sub {"UPDATE token_grant SET expires_at = now() WHERE id = '$_[0]'"}, 'invalid_grant' ],
    [ 'its family is purged',  sub {"DELETE FROM token_grant WHERE id = '$_[0]'"},                   'invalid_grant' ],
    [   'its provider is disabled', sub {'UPDATE identity_provider SET enabled = false'}, 'invalid_grant',
        'UPDATE identity_provider SET enabled = true' ],
    [   'its client is disabled', sub {'UPDATE client SET enabled = false'}, 'invalid_client',
        'UPDATE client SET enabled = true' ],
    [ 'its client is changed', sub {"UPDATE client SET client_name = 'another'"}, undef ],
    [   'its client may use codes alone', sub {"UPDATE client SET grant_types = '{client_credentials}'"},
        'unauthorized_client',            'UPDATE client SET grant_types = NULL' ],
);
for my $change (@change) {
    my ( $name, $sql, $error, $undo ) = @$change;
    for my $case ( [ code => 'web' ], [ refresh => 'web' ], [ code => 'spa' ], [ refresh => 'spa' ] ) {
        my ( $kind, $id ) = @$case;
        my @form   = form( $kind, $id );
        my $family = newest();
        my $answer = meanwhile( $id, \@form, sub { $stack->sql( $sql->($family) ) } );
        if ($error) {
            oauth_error(
                $answer, $error eq 'invalid_client' ? 401 : 400, $error,
                "$kind of $id: $name while policy is asked" );
        }
        else { oauth_ok( $answer, { access_token => qr/./ }, "$kind of $id: $name while policy is asked" ) }
        next if !$undo;
        $stack->sql($undo);
        oauth_ok( again( $id, \@form ), { access_token => qr/./ }, '... which used nothing up' );
    }
}

# The worker's client is stale already when it is changed once more.
for my $kind (qw(code refresh)) {
    my @form = form( $kind, 'web' );
    $stack->sql(q{UPDATE client SET client_name = 'first' WHERE client_id = 'web'});
    oauth_ok(
        meanwhile(
            'web', \@form, sub { $stack->sql(q{UPDATE client SET client_name = 'second' WHERE client_id = 'web'}) } ),
        {},
        "$kind: a client that was changed before and is changed again" );
}

for my $kind (qw(code refresh)) {
    my $id   = make("web-$kind");
    my @form = form( $kind, $id );
    oauth_error(
        meanwhile( $id, \@form, sub { $stack->admin( DELETE => "/admin/api/clients/$id" ) } ), 401,
        'invalid_client', "$kind: its client is deleted while policy is asked" );
    make($id);
    @form = form( $kind, $id );
    my $old = $secret{$id};
    oauth_error(
        meanwhile( $id, \@form, sub { $stack->admin( DELETE => "/admin/api/clients/$id" ); make($id) } ), 401,
        'invalid_client', '... and made anew under the same name, with another secret' );
    isnt( $secret{$id}, $old, '... which it is' );
    oauth_error( again( $id, \@form ), 400, 'invalid_grant', '... and it has nothing of the old one' );
    Authz::Grant->people( $stack, subject => 'bob' );
    @form = form( $kind, 'web', subject => 'bob' );
    oauth_error(
        meanwhile( 'web', \@form, sub { $stack->sql(q{DELETE FROM subject WHERE subject = 'bob'}) } ), 400,
        'invalid_grant', "$kind: its subject is deleted while policy is asked" );
}

# ---- the same token, used twice

my $code = code('web');
my @form = Authz::Grant->redemption($code);
my $second;
my $first =
  meanwhile( 'web', \@form, sub { $stack->fake->tell('pass'); $second = again( 'web', \@form ) }, delay => 3 );
oauth_ok( $second, { access_token => qr/./ }, 'code: a second redemption overtakes the first one' );
oauth_error( $first, 400, 'invalid_grant', '... which is a replay then' );
inactive(
    $stack->introspect( @rs, $second->member('access_token') ),
    '... so that the family is dead (decisions.md "Codes")' );

@form = form( refresh => 'web' );
my $family = newest();
my $kept   = meanwhile(
    'web',
    \@form,
    sub {
        $stack->sql(qq{UPDATE refresh_token SET first_used_at = now() - interval '1 hour' WHERE grant_id = '$family'});
    } );
oauth_error(
    $kept, 400, 'invalid_grant',
    'refresh: the token of a confidential client that was replaced meanwhile, long ago' );
is( $stack->sql("SELECT revoked_at IS NOT NULL FROM token_grant WHERE id = '$family'"), 't', '... is a reuse' );

$code = code('web');
my $late = newest();
oauth_error(
    meanwhile(
        'web', [ Authz::Grant->redemption($code) ],
        sub { $stack->sql("UPDATE token_grant SET code_expires_at = now() WHERE id = '$late'") } ),
    400,
    'invalid_grant',
    'code: it expires while policy is asked' );
is( $stack->sql("SELECT revoked_at IS NULL AND redeemed_at IS NULL FROM token_grant WHERE id = '$late'"), 't',
    '... which is no replay' );

# ---- what policy may not answer

my @wrong = (
    [ 'a scope more'        => { 'result.scopes'                => [qw(openid orders.read orders.write admin)] } ],
    [ 'two scopes in one'   => { 'result.scopes'                => ['openid orders.read'] } ],
    [ 'a resource'          => { 'result.resource'              => 'https://api.example' } ],
    [ 'a resource type'     => { 'result.resource_types'        => ['urn:r:orders'] } ],
    [ 'details'             => { 'result.authorization_details' => [ { type => 'payment' } ] } ],
    [ 'refresh as a word'   => { 'result.refresh'               => 'true' } ],
    [ 'refresh as a number' => { 'result.refresh'               => 1 } ],
    [ 'a broken lifetime'   => { 'result.expires_in_override'   => 1.5 } ],
    [ 'allow as a word'     => { 'result.allow'                 => 'true' } ],
);
for my $kind (qw(code refresh)) {
    for my $case (@wrong) {
        my ( $name, $set ) = @$case;
        my @try = form( $kind, 'web' );
        $stack->fake->tell( set => $set );
        oauth_error(
            again( 'web', \@try ), 503, 'temporarily_unavailable',
            "$kind: policy answers $name (policy.md 6.2)" );
        $stack->fake->tell('pass');
        oauth_ok(
            again( 'web', \@try ), { scope => same_words('openid orders.read orders.write') },
            '... which used nothing up' );
    }
    my @try = form( $kind, 'web' );
    $stack->fake->tell( set => { 'result.claims' => { sub => 'eve', iss => 'https://evil.example', aud => 'other' } } );
    my $claims = ( Authz::Grant->jwt( again( 'web', \@try )->member('id_token') ) )[1];
    is( "$claims->{sub} $claims->{aud} $claims->{iss}", "alice web @{[ $stack->base ]}",
        "$kind: what policy says of claims is not in the ID token" );
    $stack->fake->tell('pass');
}

# A refresh token comes with a code alone, whatever policy says.
$stack->fake->tell( set => { 'result.refresh' => true } );
oauth_ok(
    $stack->token( @{ who('web') }, scope => 'orders.read' ), { refresh_token => undef },
    'client_credentials: no refresh token, whatever policy says (RFC 6749 4.4.3)' );
my @keeps = form( refresh => 'web' );
oauth_ok( again( 'web', \@keeps ), { refresh_token => $keeps[3] }, 'refresh: nor another one' );
$stack->fake->tell('pass');

is( $stack->sql(
        q{SELECT count(*) FROM audit_log WHERE endpoint = '/token' AND http_status >= 500 AND http_status <> 503}),
    0,
    'no request ended in an error of ours' );

done_testing;

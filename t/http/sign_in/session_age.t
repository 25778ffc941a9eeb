# A browser session ends SVC_SESSION_MAX_AGE after its sign-in, however much it is used (decisions.md "Session end").
use strict;
use warnings;

use Digest::SHA  ();
use MIME::Base64 ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Idp     ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

# Two hours without use, so that the clean-up has no other reason to remove what the test makes old.
my $stack = Authz::Stack->start(
    settings => { Authz::Idp->settings, SVC_SESSION_TIMEOUT => '2h', SVC_SESSION_CLEANUP_CRON => '30 4 29 2 *' } );
my $idp = Authz::Idp->start;
$idp->register($stack);
my $base = $stack->base;
my $back = 'https://app.example/cb';
$stack->make_client( $_, { grants => ['authorization_code'], scopes => ['openid'] }, redirectUris => [$back] )
  for qw(crm dyn);
$stack->sql(q{UPDATE client SET registration_type = 'DCR' WHERE client_id = 'dyn'});

sub address_of {
    my %param = ( response_type => 'code', client_id => 'crm', redirect_uri => $back, scope => 'openid', @_ );
    return '/authorize?' . Authz::Client::form( map { ( $_ => $param{$_} ) } sort keys %param );
}

# A new sign-in: the cookie, and the hash of it as SQL has it. It ends on the consent page of dyn.
my ( $browser, $page );

sub sign_in {
    $browser = Authz::Browser->new;
    $page    = ( $browser->follow( $base . address_of( client_id => 'dyn' ), stop => qr{\A\Q$back\E} ) )[-1];
    my $cookie = $browser->cookie( $base, 'svc_sid' )->{value};
    return ( $cookie, Digest::SHA::sha256_hex( MIME::Base64::decode_base64url($cookie) ) );
}

# Return the answer to prompt=none: a code or an error.
sub none_with {
    my ($cookie) = @_;
    my $answer   = $stack->http->get( address_of( prompt => 'none' ), headers => [ Cookie => "svc_sid=$cookie" ] );
    my %query    = Authz::Browser::query( $answer->header('Location') // '?' );
    return $query{error} // ( $query{code} ? 'code' : 'nothing' );
}

sub row {
    my ( $hash, $column ) = @_;
    return $stack->sql("SELECT $column FROM browser_session WHERE encode(id_hash, 'hex') = '$hash'");
}

# Move the sign-in of a session so many seconds into the past, and let it end in an hour if it is not used.
sub age {
    my ( $hash, $seconds ) = @_;
    return $stack->sql(
        "UPDATE browser_session SET created_at = now() - interval '$seconds seconds', expires_at = now() + interval '1 hour' WHERE encode(id_hash, 'hex') = '$hash'"
    );
}
my $left = 'round(extract(epoch FROM expires_at - now()))';
my $span = 'round(extract(epoch FROM expires_at - created_at))';

# ---- the setting

sub check {
    my ($age) = @_;
    return Authz::Process->run(
        name    => 'check', env => { %{ $stack->settings }, SVC_SESSION_MAX_AGE => $age },
        command => [ Authz::Path::program('authz.fcgi'), '--check' ] );
}
is( ( check($_) )[0], 0, "SVC_SESSION_MAX_AGE=$_ is taken" ) for qw(60s 30d 12h);
for my $age ( '59s', '2592001s', '31d', '0', '-1s', 'never', '' ) {
    my ( $status, $text ) = check($age);
    is( $status, 78, "SVC_SESSION_MAX_AGE=\"$age\" is refused at start" );
    like( $text, qr/^authz\.fcgi: SVC_SESSION_MAX_AGE: /m, '... and named' );
}

# ---- 12 hours, the default

my ( $cookie, $hash ) = sign_in();
is( none_with($cookie), 'code', '(the session is there)' );
my $twelve = 12 * 3600;
age( $hash, $twelve - 10 );
is( none_with($cookie), 'code', 'a session is good to the end of the twelve hours' );
cmp_ok( row( $hash, $left ), '<=', 10, '... and its use moves the end no further than that' );
cmp_ok( row( $hash, $left ), '>',  0,  '... but not into the past' );
is( row( $hash, $span ), $twelve, '... to the second' );
my $before = row( $hash, 'xmin' );
none_with($cookie) for 1, 2;
is( row( $hash, 'xmin' ), $before, '... and further uses write nothing' );
age( $hash, $twelve );
is( none_with($cookie), 'login_required',
    'one that began twelve hours ago has ended, though it was used all the time' );
age( $hash, $twelve + 1 );
is( none_with($cookie),           'login_required', '... and so has an older one' );
is( row( $hash, "$left > 3000" ), 't',              '... and its use moves no end' );
age( $hash, $twelve - 7200 );
is( none_with($cookie), 'code', 'two hours before its end it is live' );
cmp_ok( row( $hash, $left ), '>', 7100, '... and as long as the timeout allows' );

# ---- what waits in a session ends with it

( $cookie, $hash ) = sign_in();
like( $page->body, qr/name="decision" value="allow"/, '(the consent page)' );
age( $hash, $twelve + 1 );
my $late = ( $browser->submit( $page, button => [ decision => 'allow' ], stop => qr{\A(?!\Q$base\E)} ) )[-1];
is( $late->status, 400, 'an answer on the consent page of a session that is too old is refused' );
is( $stack->sql(q{SELECT count(*) FROM token_grant g JOIN client c ON c.id = g.client WHERE c.client_id = 'dyn'}),
    0, '... and there is no code' );

# ---- the clean-up

my $other = ( sign_in() )[1];
is( row( $other, $span ),                7200, 'a new session ends after the timeout if that is shorter' );
is( ( $stack->authzctl('maintain') )[0], 0,    'maintain runs' );
$stack->sql("UPDATE job SET due_at = now() WHERE name = 'sessions'");
is( ( $stack->authzctl('maintain') )[0], 0, '(the job is due)' );
is( row( $hash,  'count(*)' ), 0, 'the clean-up removes a session that is too old, whatever end was stored' );
is( row( $other, 'count(*)' ), 1, '... and no other' );
age( $other, $twelve - 10 );
$stack->sql("UPDATE job SET due_at = now() WHERE name = 'sessions'");
$stack->authzctl('maintain');
is( row( $other, 'count(*)' ), 1, '... not one that is not old enough' );

# ---- a shorter setting

( $cookie, $hash ) = sign_in();
age( $hash, 3500 );
$stack->restart_service( settings => { SVC_SESSION_MAX_AGE => '1h' } );
is( none_with($cookie), 'code', 'shorter: a session that is younger goes on' );
cmp_ok( row( $hash, $left ), '<=', 100, '... to the new end' );
age( $hash, 3601 );
is( none_with($cookie), 'login_required', '... and an older one has ended' );
my $short = ( sign_in() )[1];
is( row( $short, $span ), 3600, '... and a new one ends after the age if that is shorter than the timeout' );
$stack->sql("UPDATE job SET due_at = now() WHERE name = 'sessions'");
$stack->authzctl('maintain');
is( row( $other, 'count(*)' ), 0, '... and the clean-up removes those that are too old now' );
is( row( $short, 'count(*)' ), 1, '... only' );

done_testing;

# The network is lost in the middle of a commit: before PostgreSQL has it, or when it has done it and its answer does not come back. The
# answer is 503 each time, never a success; what may have happened happens at most once (decisions.md "A standby that confirms
# commits"; performance.md R2, R11).
use strict;
use warnings;

use Test::More;

use Authz::Check;
use Authz::Grant ();
use Authz::Stack ();

my $stack = Authz::Stack->start( pg_proxy => 1 );
my $proxy = $stack->proxy;
my %cc    = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm   = $stack->make_client( 'crm',  \%cc );
my @once  = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs    = $stack->make_client( 'rs',   { endpoints           => ['introspect'] } );
my @web   = $stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$Authz::Grant::REDIRECT] );
Authz::Grant->people( $stack, subject => 'alice' );

# Audit rows of tokens that were issued.
my $issued = q{audit_log WHERE endpoint = '/token' AND outcome = 'allowed'};

sub rows { return $stack->sql("SELECT count(*) FROM $_[0]") }

# The answer to a request whose commit is lost.
sub lost {
    my ( $when, $statement, $name, $ask ) = @_;
    $proxy->cut( $when, $statement );
    my $answer = $ask->();
    ok( $proxy->cut_done, "$name: the network was lost" );
    is( $answer->status . ' ' . ( $answer->member('error') // '' ), '503 temporarily_unavailable', "$name: 503" )
      or diag( $answer->text );
    like(
        $stack->log_line($answer),
        qr/connection lost before the answer, so the write may have happened: look at .*, and send the request again/,
        "$name: the log says what may have happened and what to do" );
    return;
}

for my $when (qw(before after)) {
    my $done = $when eq 'after' ? 1                       : 0;
    my $name = $done            ? 'lost after the commit' : 'lost before the commit';
    my ( $tokens, $audit ) = ( rows('access_token'), rows($issued) );
    lost( $when, 'token_insert', "/token $name", sub { $stack->token( @crm, scope => 'orders.read' ) } );
    is( rows('access_token'),   $tokens + $done, "/token $name: at most one token, which its client does not have" );
    is( rows($issued) - $audit, $done,           "/token $name: and the audit row of that token" );

    my $token = $stack->token_text( @crm, scope => 'orders.read' );
    lost( $when, 'token_revoke', "/revoke $name", sub { $stack->revoke( @crm, token => $token ) } );
    is( $stack->introspect( @rs, $token )->member('active') ? 0 : 1, $done,
        "/revoke $name: done or not, but not told as done" );
    is( $stack->revoke( @crm, token => $token )->status, 200, "/revoke $name: the client asks again and is told" );
    inactive( $stack->introspect( @rs, $token ), "/revoke $name: the token has ended" );

    my $single = $stack->token_text( @once, scope => 'orders.read' );
    lost( $when, 'token_consume', "a single-use token $name", sub { $stack->introspect( @rs, $single ) } );
    my $shown = $stack->introspect( @rs, $single )->member('active') ? 1 : 0;
    is( $shown, 1 - $done, "a single-use token $name: shown afterwards if it was not used up, and only then (R11)" );
    inactive( $stack->introspect( @rs, $single ), "a single-use token $name: then it is used up" );

    my $code   = Authz::Grant->code( $stack, client => 'web' );
    my $redeem = sub { return Authz::Grant->redeem( $stack, \@web, $code ) };
    lost( $when, 'grant_redeem_once', "a code $name", $redeem );
    my $again = $redeem->();
    is( $again->status, $done ? 400 : 200, "a code $name: redeemed at most once (R11)" ) or diag( $again->text );

    my $client = $done ? 'rs' : 'crm';
    my $marks  = sub {
        return $stack->admin(
            PUT  => '/admin/api/object-owners',
            json => { owner => "files-$when", marks => [ { kind => 'client', key => $client, digest => '0' x 64 } ] } );
    };
    lost( $when, 'COMMIT', "a transaction of several trips $name", $marks );
    is( rows("object_owner WHERE owner = 'files-$when'"), $done,
        "a transaction $name: done or not, but not told as done" );
    is( $marks->()->status, 204, "a transaction $name: sent again, it is done" );
}
unlike(
    $stack->{service}->log_text, qr/worker ended|AddressSanitizer|runtime error/,
    'all of it by the same processes' );
oauth_ok( $stack->token( @crm, scope => 'orders.read' ), {}, 'and they serve on' );

done_testing;

#!/usr/bin/perl
# The log line, in both formats, and the audit row of each denial have all its codes, the grant type, the scopes, the subject and
# the flow (decisions.md "Reasons in the log").
use strict;
use warnings;

use Digest::SHA ();
use JSON::PP    ();
use Test::More;

use Authz::Browser ();
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Idp     ();
use Authz::Process ();
use Authz::Stack   ();

my $rule = 'decisions.md "Reasons in the log"';
my $idp  = Authz::Idp->start;
$idp->user( { sub => 'ann', name => 'Ann' } );
my $stack = Authz::Stack->start( settings => { Authz::Idp->settings } );
my $base  = $stack->base;
my $back  = $Authz::Grant::REDIRECT;
$idp->register($stack);
my $all = {
    grants => [qw(client_credentials authorization_code refresh_token)],
    scopes => [qw(openid orders.read orders.write)] };
my @crm = $stack->make_client( 'crm', $all, redirectUris => [$back] );
my @rs  = $stack->make_client( 'rs',  { endpoints => ['introspect'] } );

# A hook of the operator, so that a denial has several codes.
my $hook =
  qq{package custom.%s\n\ndeny contains {"code": "closed", "category": "policy", "message": "closed"} if {\n\t%s\n}\n};

sub hook {
    my ( $name, $when ) = @_;
    my $answer = $stack->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => { path => "custom/$name.rego", kind => 'rego', version => '1', content => sprintf $hook, $name, $when }
    );
    die $answer->text if $answer->status !~ /\A20[01]\z/;
    return;
}

# The members of a log line in either format.
sub members {
    my ($line) = @_;
    return JSON::PP->new->decode($line) if $line =~ /\A\{/;
    my %member;
    while ( $line =~ /(?:^|\s)(\w+)=("(?:[^"\\]|\\.)*"|\S*)/g ) {
        my ( $name, $value ) = ( $1, $2 );
        $member{$name} = $value =~ /\A"/ ? JSON::PP->new->allow_nonref->decode($value) : $value;
    }
    return \%member;
}

# codes, grant, scope, subject, and flow: 0 if there is none, or the one it must be.
sub told {
    my ( $answer, $name, %want ) = @_;
    my ( $id, $stored ) = $answer->header('X-Request-ID');
    my $line = members( $stack->log_line($answer) );
    Authz::Process::until_true(
        30,
        sub { $stored = $stack->sql("SELECT row_to_json(a) FROM audit_log a WHERE request_id = '$id'") } );
    my $row     = JSON::PP->new->decode($stored);
    my $summary = JSON::PP->new->decode( $row->{request_summary} // '{}' );
    my $hash    = defined $want{subject} ? substr( Digest::SHA::sha256_hex( $want{subject} ), 0, 16 ) : undef;
    my $flow    = $line->{flow_id};
    is_deeply(
        {   codes   => $line->{deny_codes}, grant => $line->{grant_type}, scope => $line->{scope},
            hash    => $line->{subject_hash},
            outcome => $line->{outcome} },
        {   codes   => $want{codes}, grant => $want{grant}, scope => $want{scope}, hash => $hash,
            outcome => $want{outcome} // 'denied' },
        "$name: the log line has all codes, the grant type, the scopes and the hash of the subject ($rule)"
    ) or diag explain $line;
    is_deeply(
        {   codes   => $summary->{denyCodes}, grant => $summary->{grantType}, scope   => $summary->{scope},
            subject => $row->{subject_id},    flow  => $row->{flow_id},       outcome => $row->{outcome} },
        {   codes   => $want{codes}, grant => $want{grant}, scope => $want{scope}, subject => $want{subject},
            flow    => $flow,
            outcome => $want{outcome} // 'denied' },
        '... and so has the audit row, with the same flow' ) or diag explain $row;
    if ( exists $want{flow} ) { is( $flow, $want{flow}, '... which is the one expected' ) }
    else                      { like( $flow // '', qr/\A[0-9a-f-]{36}\z/, '... which is one' ) }
    return $flow;
}

sub authorize {
    my ( $browser, %more ) = @_;
    my @pages = $browser->follow(
        "$base/authorize?" . Authz::Client::form(
            response_type => 'code', client_id => 'crm', redirect_uri => $back,
            scope         => 'openid orders.more orders.read', %more ),
        stop => qr{\A\Q$back\E} );
    return grep { ( $_->header('Location') // '' ) =~ /\A\Q$back\E/ } @pages;
}

sub cases {
    my ($format) = @_;
    $stack->bind( 'crm', { scopes => $all->{scopes} } );
    hook( issue => 'false' );
    my $issued   = $stack->token( @crm, scope => 'orders.read orders.write' );
    my ($access) = map { $_->member('access_token') } $issued;
    my $flow     = members( $stack->log_line($issued) )->{flow_id};
    my $tokens   = $idp->sign_in( $stack, \@crm, 'ann', 'openid orders.read' );
    my $family   = members( $stack->log_line($tokens) )->{flow_id};

    # /token
    hook( issue => 'some s in input.scopes.requested; startswith(s, "orders")' );
    my $many = join ' ', map {"orders.more.$_"} 10 .. 69;
    told(
        $stack->token( @crm, scope => $many ), "$format /token, 60 scopes with one code: the other code is there",
        codes => 'scope_not_entitled closed',  grant => 'client_credentials', scope => $many, subject => 'crm' );
    told(
        $stack->token( @crm, scope => 'orders.more orders.read' ), "$format /token, client_credentials",
        codes   => 'closed scope_not_entitled', grant => 'client_credentials', scope => 'orders.more orders.read',
        subject => 'crm' );
    told(
        Authz::Grant->refresh( $stack, \@crm, $tokens->member('refresh_token') ), "$format /token, refresh_token",
        codes   => 'closed', grant => 'refresh_token', scope => 'openid orders.read',
        subject => 'ann',    flow  => $family );

    # /authorize: after the sign-in, at the callback, and with the session.
    my $ann = Authz::Browser->new;
    for my $where ( 'callback', 'session' ) {
        my ($answer) = authorize($ann);
        told(
            $answer, "$format /authorize, $where",
            codes   => 'closed scope_not_entitled', grant => 'authorization_code',
            scope   => 'openid orders.more orders.read',
            subject => 'ann' );
    }

    # /introspect: denied now, and not for this caller.
    $stack->bind( 'crm', { scopes => ['nothing'] } );
    told(
        $stack->introspect( @rs, $access ), "$format /introspect",
        codes   => 'policy_changed scope_not_entitled', grant => 'client_credentials',
        scope   => 'orders.read orders.write',
        subject => 'crm', flow => $flow );
    told(
        $stack->introspect( @crm, $tokens->member('refresh_token') ), "$format /introspect by one who may not",
        codes => 'introspection_not_entitled policy_changed scope_not_entitled', grant   => 'refresh_token',
        scope => 'openid orders.read',                                           subject => 'ann',
        flow  => $family );

    # /userinfo asks policy too.
    told(
        $stack->http->get( '/userinfo', headers => [ Authz::Client::bearer( $tokens->member('access_token') ) ] ),
        "$format /userinfo",
        codes   => 'policy_changed scope_not_entitled', grant => 'authorization_code', scope => 'openid orders.read',
        subject => 'ann', flow => $family );

    # /register has no subject and no flow.
    told(
        $stack->http->post(
            '/register',
            json => {
                redirect_uris => [$back], grant_types => [qw(authorization_code client_credentials)],
                scope         => 'openid orders.more' } ),
        "$format /register",
        codes => 'grant_type_not_allowed closed', grant => 'authorization_code client_credentials',
        scope => 'openid orders.more',
        flow  => undef );
    return;
}
hook( register => '"client_credentials" in input.registration.grant_types' );
cases('json');
$stack->restart_service( settings => { Authz::Idp->settings, SVC_LOG_FORMAT => 'text' } );
unlike( $stack->log_line( $stack->token( @crm, scope => 'nothing' ) ), qr/\A\{/, 'SVC_LOG_FORMAT=text is on' );
cases('text');

done_testing;

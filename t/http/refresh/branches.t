# Programs that share one sign-in of a public client: a reuse from the network of the first use makes a branch, another one a
# sibling (world.md R1, R2, R4, R5). The cases are those of the table at R4: T is the thief, O the
# owner. Every request goes to another of two instances in turn.
use strict;
use warnings;

use IO::Socket::UNIX ();
use MIME::Base64     ();
use Socket           qw(SOCK_STREAM);
use Test::More;

use Authz::Check;
use Authz::Client  ();
use Authz::Dpop    ();
use Authz::FastCgi ();
use Authz::Grant   ();
use Authz::Stack   ();

# So many requests at once may wait for the engine for long on a busy machine, which is no error of ours.
my %setting = ( SVC_TRUSTED_PROXY_COUNT => 1, SVC_POLICY_TIMEOUT_MS => 20_000 );
my $one     = Authz::Stack->start( settings => {%setting} );
my $two     = Authz::Stack->start( beside   => $one, settings => {%setting} );
my @http    = ( $one->client, $two->client );
my %code    = ( grants => [ 'authorization_code', 'refresh_token' ], scopes => [ 'openid', 'orders.read' ] );
my @rs      = $one->make_client( 'rs', { endpoints => ['introspect'] } );
$one->make_client( $_, {%code}, clientType => 'public' ) for qw(cli app);
Authz::Grant->people($one);

# Networks: of the owner by both families, of a neighbour in a cloud, and elsewhere.
my ( $home, $home6, $next, $away ) = ( '192.0.2.7', '2001:db8:1:2::7', '192.0.2.8', '198.51.100.9' );

sub form_of {
    my ( $token, @more ) = @_;
    return [ client_id => 'cli', grant_type => 'refresh_token', refresh_token => $token, @more ];
}
my $turn = 0;

# A refresh from an address; undef: no proxy passed it on.
sub refresh {
    my ( $from, $token, %option ) = @_;
    my @header = $option{headers} ? @{ $option{headers} } : defined $from ? ( 'X-Forwarded-For' => $from ) : ();
    return $http[ $turn++ % 2 ]
      ->post( '/token', headers => \@header, form => form_of( $token, @{ $option{more} // [] } ) );
}

# The refresh token that this one gives.
sub next_of {
    my ( $from, $token, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $answer = refresh( $from, $token );
    oauth_ok( $answer, { refresh_token => sub { $_[0] ne $token } }, $name );
    return $answer->member('refresh_token');
}

# The same without a word.
sub used {
    my ( $from, $token ) = @_;
    my $answer = refresh( $from, $token );
    return $answer->member('refresh_token') // die $answer->text;
}

sub refused {
    my ( $from, $token, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    return oauth_error( refresh( $from, $token ), 400, 'invalid_grant', $name );
}

# The first refresh token of a new family, redeemed at an address.
sub family {
    my ( $from, $client ) = @_;
    my $code   = Authz::Grant->code( $one, client => $client // 'cli', scope => 'openid orders.read' );
    my $answer = $one->http->post(
        '/token', headers => [ 'X-Forwarded-For' => $from // $home ],
        form => [ client_id => $client // 'cli', Authz::Grant->redemption($code) ] );
    return $answer->member('refresh_token') // die $answer->text;
}

# Each process of a host uses the same token from there: their tokens.
sub shared {
    my ( $count, $from ) = @_;
    my $first = family($from);
    return map { used( $from // $home, $first ) } 1 .. $count;
}

sub of_family {
    my ($columns) = @_;
    return $one->sql("SELECT $columns FROM token_grant ORDER BY created_at DESC, id DESC LIMIT 1");
}
sub branches { return of_family('branches') }

sub later {
    my ($time) = @_;
    $one->sql(
        "UPDATE refresh_token SET first_used_at = first_used_at - interval '$time' WHERE first_used_at IS NOT NULL");
    return;
}

# Of the last request: family, branch, branches, why; or `lives`.
sub last_audit {
    return $one->sql(
        q{SELECT coalesce(nullif(concat_ws(' ', s->>'family', s->>'branch', s->>'branches', s->>'why'), ''), 'lives') FROM
      (SELECT CASE WHEN request_summary::json->>'family' IS NOT NULL THEN request_summary::json END AS s FROM audit_log
        WHERE endpoint = '/token' ORDER BY id DESC LIMIT 1) a}
    );
}

# The member `refresh` of what policy was asked last.
sub asked {
    my $packed = $one->sql(
        q{SELECT encode(policy_input, 'hex') FROM audit_log WHERE policy_input IS NOT NULL ORDER BY id DESC LIMIT 1});
    return Authz::Check::decode_packed($packed)->{refresh};
}

# Two owners of tokens of one branch: whoever uses the own one second ends the family.
sub siblings_end {
    my ( $first_from, $first, $second_from, $second, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    my $on = next_of( $first_from, $first, "$name: one of them goes on" );
    refused( $second_from, $second, '... the other one is found' );
    refused( $first_from,  $on,     '... and both have lost the family' );
    return;
}

# ---- honest programs

subtest three_processes_a_week => sub {
    my @mine = shared(3);
    is( branches(), 3, 'each of three processes has a branch' );
    for my $day ( 1 .. 7 ) {
        later('1 day');
        @mine = map { next_of( $home, $_, "day $day" ) } $day % 2 ? @mine : reverse @mine;
    }
    is( branches(),   3,       'there are no more' );
    is( last_audit(), 'lives', 'the family lives' );
};

subtest fourth_is_sibling => sub {
    my ( $a, $b, $c, $d ) = shared(4);
    is( branches(), 3, 'a fourth process gets no branch' );
    $_ = next_of( $home, $_, 'the branches go on' ) for $b, $c;
    siblings_end( $home, $d, $home, $a, 'the fourth shares the first branch' );
    refused( $home, $b, 'the end is one for all branches (world.md R4)' );
};

subtest lost_answers => sub {
    my $first = family();
    my ( undef, $kept ) = map { used( $home, $first ) } 1 .. 2;
    $kept = next_of( $home, $kept, "the answer that arrived is used, time $_" ) for 1 .. 3;
    used( $home, $kept );
    $kept = next_of( $home, $kept, 'another one is lost' );
    used( $home, $kept );
    $kept = next_of( $home, $kept, 'the third finds no branch free' );
    $kept = next_of( $home, $kept, '... and goes on' );
    is( branches(), 3, 'lost answers leave branches that nobody uses' );
};

subtest moved_laptop => sub {
    my ( $a, $b ) = shared(2);
    $a = next_of( $away, $a, 'a process goes on from another network' );
    ok( asked()->{network_changed}, '... which policy is told' );
    $a = next_of( $away, $a, '... and again from there' );
    ok( !asked()->{network_changed}, '... where it has been before' );
    $b = next_of( $away, $b, 'so does the other process' );
    $_ = next_of( $home, $_, 'and back' ) for $a, $b;
    used( $home, $b );
    next_of( $away, $b, 'an answer is lost while the laptop moves: a sibling' );
};

# ---- networks (R2)

subtest ipv4_neighbour => sub {
    my $first = family();
    my $mine  = used( $home, $first );
    my $other = next_of( $next, $first, 'an address of the same /24 uses the token again' );
    is( branches(), 1, '... and gets no branch' );
    siblings_end( $home, $mine, $next, $other, 'siblings' );
};

subtest ipv6_network => sub {
    my $first = family($home6);
    my $mine  = used( $home6, $first );
    my $same  = next_of( '2001:db8:1:2:ffff::1', $first, 'another address of the /64' );
    is( branches(), 2, '... makes a branch' );
    next_of( '2001:db8:1:3::7', $first, 'an address of the /64 beside it' );
    is( branches(), 2, '... does not' );
    $first = family();
    used( $home, $first );
    next_of( '::ffff:192.0.2.7', $first, 'an IPv4 address as IPv6 is the IPv4 address' );
    is( branches(), 2, '... and makes a branch' );
    $first = family();
    used( '::ffff:192.0.2.7', $first );
    next_of( '::ffff:192.0.2.8', $first, '... another one in the same /64' );
    is( branches(), 1, '... does not' );
};

for my $loopback ( undef, '127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', 'unknown', '' ) {
    subtest 'loopback_unknown ' . ( $loopback // 'without a proxy' ) => sub {
        my $first = family($loopback);
        my ( $mine, $other ) = map { used( $loopback, $first ) } 1 .. 2;
        is( branches(), 1, 'no branch' );
        ok( asked()->{network_changed}, 'for policy it is never the network of before' );
        siblings_end( $loopback, $mine, $loopback, $other, 'siblings' );
    };
}

# A refresh as a web server passes it on, whose peer has this address.
sub passed_on {
    my ( $peer, $token, %field ) = @_;
    my $body   = Authz::Client::form( @{ form_of($token) } );
    my $socket = IO::Socket::UNIX->new( Peer => "$one->{dir}/core.sock", Type => SOCK_STREAM ) or die "core.sock: $!";
    my %head =
      ( REQUEST_METHOD => 'POST', REQUEST_URI => '/token', SCRIPT_NAME => '/token', SERVER_PROTOCOL => 'HTTP/1.1' );
    Authz::FastCgi::send_request(
        $socket,
        variables => {
            %head, %field,
            REMOTE_ADDR    => $peer,
            CONTENT_TYPE   => 'application/x-www-form-urlencoded',
            CONTENT_LENGTH => length $body,
        },
        body => $body );
    return Authz::FastCgi::answer($socket) =~ /"refresh_token":"([^"]+)"/ ? $1 : undef;
}

subtest silent_proxy_unknown => sub {
    for my $field ( [], [ HTTP_FORWARDED => "for=$home" ] ) {
        my $first = family();
        ok( passed_on( '10.0.0.1', $first, @$field ), 'a proxy is counted, and no X-Forwarded-For is there' )
          for 1 .. 2;
        is( branches(), 1, '... so the address may be that of the proxy: no branch (world.md R2)' );
    }
    my $first = family();
    ok( passed_on( '10.0.0.1', $first, HTTP_X_FORWARDED_FOR => $home ), 'with it' ) for 1 .. 2;
    is( branches(), 2, '... there is' );
};

is( $one->sql(
        q{SELECT count(DISTINCT used_net) FROM refresh_token WHERE length(used_net) = 16 AND used_branches IS NOT NULL
      GROUP BY grant_id ORDER BY 1 DESC LIMIT 1} ),
    2,
    'a network is one value in its family' );
is( $one->sql(
        q{SELECT count(*) FROM refresh_token a JOIN refresh_token b ON a.used_net = b.used_net AND a.grant_id <> b.grant_id
       WHERE a.used_net <> ''} ),
    0,
    '... and another one in any other, which shows no address' );

# ---- the table of thieves

subtest case_1 => sub {
    for my $first ( 'O', 'T' ) {
        my $token = family();
        my $his   = used( $away, $token );
        my $hers  = next_of( $home, $token, 'T elsewhere uses an unused token, then O does' );
        is( branches(), 1, '... and gets a sibling' );
        my @who = ( $home, $hers, $away, $his );
        siblings_end( $first eq 'O' ? @who : @who[ 2, 3, 0, 1 ], "$first is first" );
    }

    # T does not wait, and makes branches from his own network, before and after O comes.
    my $token = family();
    my ( $his, @branch ) = map { used( $away, $token ) } 1 .. 3;
    is( branches(), 3, 'T makes branches for himself before O comes' );
    my $hers = next_of( $home, $token, 'O uses the token from another network' );
    $hers = next_of( $home, $hers, 'O goes on' ) for 1 .. 2;
    refused( $away, $branch[1], 'a branch of T is closed, and its use is found' );
    refused( $home, $hers,      '... which ends the family' );

    $token = family();
    used( $away, $token );
    my $rotated = used( $away, $token );
    my $branch  = used( $away, $rotated );
    next_of( $home, $token, 'T has used the token of the own branch when O comes' );
    refused( $away, $rotated, '... and cannot use it again' );

    $token = family();
    $his   = used( $away, $token );
    $hers  = used( $home, $token );
    next_of( $away, $token, 'T uses the token again after O did' );
    is( branches(), 1, '... and gets no branch' );

    # T goes on for some turns, so that the token which he repeats is not the one that O repeats.
    $token   = family();
    $rotated = used( $away, $token );
    $his     = used( $away, $rotated );
    $hers    = next_of( $home, $token, 'T is two turns further when O comes' );
    $branch  = used( $away, $rotated );
    is( branches(), 1, '... and cannot make a branch by what he has used' );
    $hers = next_of( $home, $hers, 'O goes on' );
    refused( $away, $branch, '... and T is found' );

    $token   = family();
    $rotated = used( $away, $token );
    $his     = used( $away, $rotated );
    $branch  = used( $away, $rotated );
    is( branches(), 2, 'T is two turns further and has a branch' );
    $hers = used( $home, $token );
    $hers = next_of( $home, $hers, 'when O comes and goes on' );
    refused( $away, $branch, '... T is found' );
};

subtest case_2 => sub {
    my ( $first, $hers, $his );
    for my $who ( 'O', 'T' ) {
        $first = family();
        $hers  = used( $home, $first );
        $his   = next_of( $away, $first, 'T elsewhere uses the rotated token' );
        is( branches(), 1, '... and gets a sibling' );
        my @who = ( $home, $hers, $away, $his );
        siblings_end( $who eq 'O' ? @who : @who[ 2, 3, 0, 1 ], "$who is first" );
    }

    # O has branches already: the one where T came in is watched as ever.
    my ( $a, $b, $c ) = shared(3);
    $his = used( $home, $b );
    my $other = next_of( $away, $b, 'T uses the rotated token of a branch' );
    $_   = next_of( $home, $_,   'the other branches go on' ) for $a, $c;
    $his = next_of( $home, $his, 'O goes on in it' );
    refused( $away, $other, '... and T is found' );
    refused( $home, $_, '... for all branches' ) for $a, $c, $his;
};

subtest case_3 => sub {
    my $first = family();
    my $mine  = used( $home, $first );
    later('31 seconds');
    refused( $home, $first, 'a reuse after the window ends the family, from the same network too' );
    is( last_audit(), 'revoked 0 1 replaced', '... as the audit row says' );
    refused( $home, $mine, '... whole' );
    $first = family();
    my @mine = map { used( $home, $first ) } 1 .. 4;
    refused( $home, $first, 'so does a fourth reuse' );
    refused( $home, $_,     '... for all branches' ) for @mine;

    my ( $a, $b ) = shared(2);
    my $on = used( $home, $b );
    later('31 seconds');
    refused( $home, $b, 'a late reuse in a branch ends the family' );
    is( last_audit(), 'revoked 1 2 replaced', '... as the audit row says' );
    refused( $home, $_, '... for all branches' ) for $a, $on;
};

subtest case_4 => sub {
    my $first = family();
    my $hers  = used( $home, $first );
    my $his   = next_of( $home, $first, 'given up: T in the network of O, within the window, gets a branch' );
    is_deeply( asked(), { branch => 1, branches => 2, network_changed => JSON::PP::false() }, 'policy is told' );
    $_ = next_of( $home, $_, '... and both go on' ) for $hers, $his;

    my $end = of_family('expires_at');
    is( of_family('expires_at'), $end, 'the end of the family is one, whatever the branches do' );
    $one->sql(q{UPDATE token_grant SET expires_at = now() - interval '1 second' WHERE branches = 2});
    refused( $home, $_, 'it ends with the family' ) for $hers, $his;
};

subtest case_5 => sub {
    my $first = family();
    my $hers  = used( $home, $first );
    my $his   = used( $home, $first );
    $his = next_of( $away, $his, 'given up: T leaves with the branch' );
    ok( asked()->{network_changed}, '... which policy is told, and may deny' );
    next_of( $home, $hers, '... O is not ended' );
};

subtest case_6 => sub {
    my ( $a, $b ) = shared(2);
    my $his = used( $away, $b );
    ok( asked()->{network_changed}, 'T takes the unused token of a branch' );
    my $hers = next_of( $home, $b, 'its process is late, within the window: a sibling' );
    siblings_end( $home, $hers, $away, $his, 'in that branch' );
    refused( $home, $a, 'the end is one' );
    ( $a, $b ) = shared(2);
    used( $away, $b );
    later('31 seconds');
    refused( $home, $b, 'its process is late, after the window: the family ends' );
    refused( $home, $a, '... whole' );
};

subtest case_7 => sub {
    for my $branch ( 0 .. 2 ) {
        my @mine  = shared(3);
        my $ended = used( $home, $mine[$branch] );
        my $on    = used( $away, $mine[$branch] );
        $on = used( $away, $on );
        refused( $away, $ended, "T shows an ended token of branch $branch" );
        is( last_audit(), "revoked $branch 3 sibling",
            '... which the audit row says' );
        refused( $home, $_, '... and the family ends' ) for grep { $_ ne $mine[$branch] } @mine, $on;
    }
};

subtest case_8 => sub {
    my $first = family();
    my $hers  = used( $home, $first );
    used( $home, $first ) for 1 .. 2;
    is( branches(), 3, 'T uses up the branches' );
    my $on    = used( $home, $hers );
    my $other = next_of( $home, $hers, 'a later process of O gets a sibling' );
    is( branches(), 3, '... as none is free' );
    siblings_end( $home, $on, $home, $other, 'as ever' );
};

subtest case_9 => sub {
    my $first = family();
    my $hers  = used( $home, $first );
    next_of( "$home, $away", $first, 'T writes the address of O into X-Forwarded-For' );
    is( branches(), 1, '... and what the counted proxy added decides' );
    $first = family();
    used( $home, $first );
    my $answer = refresh( undef, $first, headers => [ 'X-Forwarded-For' => $home, 'X-Forwarded-For' => $away ] );
    oauth_ok( $answer, {}, '... as a field of its own' );
    is( branches(), 1, '... too' );
    $first = family();
    used( $home, $first );
    $answer = refresh( undef, $first, headers => [ 'Forwarded' => "for=$home", 'X-Forwarded-For' => $away ] );
    oauth_ok( $answer, {}, '... or into Forwarded' );
    is( branches(), 1, '... too' );
};

subtest case_10 => sub {
    my $key    = Authz::Dpop->new;
    my @post   = ( '/token', headers => [ $key->show( $one, '/token' ), 'X-Forwarded-For' => $home ] );
    my $answer = $one->http->post(
        @post,
        form => [ client_id => 'cli', Authz::Grant->redemption( Authz::Grant->code( $one, client => 'cli' ) ) ] );
    my $token = $answer->member('refresh_token');
    refused( $home, $token, 'T reads the store of O for ever: the token is of no use without the DPoP key' );
    for ( 1 .. 2 ) {
        $answer = $one->http->post(
            '/token', headers => [ $key->show( $one, '/token' ), 'X-Forwarded-For' => $home ],
            form => form_of($token) );
        oauth_ok( $answer, { refresh_token => $token }, '... and O keeps it' );
    }
    is( branches(), 1, '... without branches' );
    ok( !defined asked(), '... nor does policy hear of them' );
};

subtest case_11 => sub {
    my ( $a, $b ) = shared(2);
    my $before = of_family('branches, turn, turns, revoked_at');
    my ($made) = Authz::Grant->token( 'rt', time + 86_400 );
    my $wrong  = $a =~ s/(.)(?=.{10}\z)/$1 eq 'A' ? 'B' : 'A'/er;
    refused( $home, $_, 'T has no token' ) for $made, $wrong;
    oauth_error(
        $one->http->post(
            '/token', headers => [ 'X-Forwarded-For' => $home ], form => [ @{ form_of($a) }, client_id => 'app' ] ),
        400,
        'invalid_request',
        '... or is two clients' );
    oauth_error( Authz::Grant->refresh( $one, 'app', $a ), 400, 'invalid_grant', '... or is another client' );
    is( of_family('branches, turn, turns, revoked_at'), $before, '... and changes nothing' );
    next_of( $home, $_, '... of the family' ) for $a, $b;
};

# ---- ends (R4)

subtest end_ends_all => sub {
    my $family = sub {
        my $first  = family();
        my @answer = map { refresh( $home, $first ) } 1 .. 3;
        return ( [ map { $_->member('refresh_token') } @answer ], [ map { $_->member('access_token') } @answer ] );
    };
    my %end = (
        revoke => sub { $two->http->post( '/revoke', form => [ client_id => 'cli', token => $_[0][1] ] ) },
        reuse  => sub { used( $home, $_[0][2] ); later('31 seconds'); refresh( $home, $_[0][2] ) },
    );
    for my $how ( sort keys %end ) {
        my ( $token, $access ) = $family->();
        oauth_ok( $two->introspect( @rs, $_ ), { active => JSON::PP::true() }, 'all branches are active' ) for @$access;
        $end{$how}->($token);
        inactive( $one->introspect( @rs, $_ ), "$how: no access token of a branch lives" ) for @$access;
        refused( $home, $_, '... nor a refresh token' ) for @$token;
    }
};

# ---- what is told (R5)

my $replaced =
  'The refresh token had been replaced: several programs share this sign-in, or it was stolen. Sign in again';
my $hidden = 'The grant is not valid';

sub told {
    my ( $answer, $text, $name ) = @_;
    local $Test::Builder::Level = $Test::Builder::Level + 1;
    oauth_error( $answer, 400, 'invalid_grant', $name );
    return is( $answer->member('error_description'), $text, '... and reads so' );
}

subtest cause_told => sub {
    my $shared = sub {
        my ($entry) = grep { $_->{kind} eq 'sign_ins_shared' } @{ $one->admin( GET => '/admin/api/attention' )->json };
        return $entry;
    };
    my $before = $shared->()->{count};
    my ( $a, $b, $c ) = shared(3);
    used( $home, $c );
    later('31 seconds');
    told( refresh( $home, $c ), $replaced, 'who ends the family is told' );
    told( refresh( $home, $_ ), $replaced, 'and who comes later, in another branch' ) for $a, $b;
    is( $shared->()->{name},  'cli',       'the attention list names the client' );
    is( $shared->()->{count}, $before + 1, '... and counts each sign-in once' );
    $one->sql(q{UPDATE sign_in_shared SET last_at = last_at - interval '25 hours'});
    is( $shared->(), undef, '... for 24 hours' );

    ( $a, $b ) = shared(2);
    $one->http->post( '/revoke', form => [ client_id => 'cli', token => $a ] );
    told(
        refresh( $home, $b ),
        'The sign-in was ended by its person or an administrator. Sign in again', 'revoked' );
    $a = family();
    $one->sql(q{UPDATE token_grant SET idle_expires_at = now() - interval '1 second' WHERE revoked_at IS NULL});
    told( refresh( $home, $a ), 'The sign-in has expired. Sign in again', 'expired' );
    my %ends;
    for my $body ( map { $_->get('/metrics')->body } @http ) {
        $ends{$1} += $2 while $body =~ /^svc_family_ends_total\{why="(\w+)"\} (\d+)/mg;
    }
    is_deeply( [ sort keys %ends ], [qw(code other replaced sibling)], 'the metric has each cause' );
    cmp_ok( $ends{$_}, '>', 3, "... and counts those that were $_" ) for qw(replaced sibling);
    is( $ends{other}, 0, '... and no other' );
};

subtest cause_hidden_from_stranger => sub {
    my ( $a, $b ) = shared(2);
    used( $home, $b );
    later('31 seconds');
    my ($wrong) = Authz::Grant->token( 'rt', time + 86_400 );
    told( Authz::Grant->refresh( $one, 'app', $b ), $hidden, 'another client with a token that was replaced' );
    is( of_family('revoked_at'), '', '... ends nothing' );
    refresh( $home, $b );
    told( Authz::Grant->refresh( $one, 'app', $_ ), $hidden, 'another client, when the family has ended' ) for $a, $b;
    told( refresh( $home, $wrong ), $hidden, 'who knows no token' );
    my ( $kind, $octets ) = ( 'rt', MIME::Base64::decode_base64url( substr $a, 3, -6 ) );
    substr( $octets, -1 ) = substr( $octets, -1 ) ^ "\x01";
    told( refresh( $home, Authz::Grant::token_of( $kind, $octets ) ), $hidden, 'who knows its id, but not its secret' );

    my $key  = Authz::Dpop->new;
    my $post = sub {
        my ( $by, @form ) = @_;
        return $one->http->post( '/token', headers => [ $by ? $by->show( $one, '/token' ) : () ], form => \@form );
    };
    my $bound =
      $post->( $key, client_id => 'cli', Authz::Grant->redemption( Authz::Grant->code( $one, client => 'cli' ) ) )
      ->member('refresh_token');
    $one->http->post( '/revoke', form => [ client_id => 'cli', token => $bound ] );
    my $form = form_of($bound);
    told( $post->( $_, @$form ), $hidden, 'who has the token without its DPoP key' ) for undef, Authz::Dpop->new;
    told(
        $post->( $key, @$form ),
        'The sign-in was ended by its person or an administrator. Sign in again', 'who has both is told' );
};

# ---- a program from before : it knows the columns of siblings alone

subtest old_program_beside => sub {

    # What it does with a token, and the token that it gives.
    my $old = sub {
        my ($token) = @_;
        my ( $text, $id, $hash ) = Authz::Grant->token( 'rt', time + 90 * 86_400 );
        my $shown = unpack 'H*', substr MIME::Base64::decode_base64url( substr $token, 3, -6 ), 5, 16;
        $one->sql(<<"SQL");
WITH used AS (UPDATE refresh_token r SET first_used_at = coalesce(first_used_at, now()), uses = uses + (first_used_at IS NOT NULL)::integer
   FROM token_grant g WHERE g.id = r.grant_id AND r.id = '$shown'
    AND ((r.first_used_at IS NULL AND coalesce(r.turn, g.turn) = g.turn) OR (r.uses < 3 AND r.first_used_at > now() - interval '30 s'))
   RETURNING r.grant_id, r.uses = 0 AS first),
 won AS (UPDATE token_grant g SET turn = turn + first::integer FROM used WHERE g.id = used.grant_id AND revoked_at IS NULL
   RETURNING g.id, g.expires_at, g.turn)
INSERT INTO refresh_token (id, expires_at, secret_hash, grant_id, issued_at, turn)
  SELECT '$id', r.expires_at, '\\x$hash', won.id, now(), won.turn FROM won, refresh_token r WHERE r.id = '$shown'
SQL
        my $there = $one->sql("SELECT count(*) FROM refresh_token WHERE id = '$id'");
        return $there == 1 ? $text : undef;
    };
    my ( $a, $b ) = shared(2);
    $b = $old->($b);
    ok( defined $b, 'a token of a branch works at a program from before' );
    refused( $home, $a, '... which ends too much: the first branch is ended by it' );
    is( last_audit(), 'revoked 0 2 sibling', '... and the family with it' );

    my $first = family();
    my $his   = $old->($first);
    my $hers  = next_of( $home, $first, 'first used at a program from before: the network of that use is not known' );
    is( branches(), 1, '... so that a reuse makes no branch' );
    siblings_end( $home, $hers, $away, $his, 'siblings' );

    ( $a, $b ) = shared(2);
    $a = $old->($a);
    $a = next_of( $home, $a, 'what it gave is of the first branch' );
    $b = next_of( $home, $b, '... and the others go on' );
    next_of( $home, $_, '... both' ) for $a, $b;
};

# ---- in parallel

sub together {
    my ( $from, @token ) = @_;
    my $i   = 0;
    my @job = map {
        my $http = $http[ $i++ % 2 ];
        [   $http,
            $http->octets(
                'POST', '/token', headers => [ 'X-Forwarded-For' => $from ], form => form_of($_), close => 1 ) ]
    } @token;
    my @answer = Authz::Client::together(@job);
    my %count;
    $count{ $_->failure // $_->status }++ for @answer;
    return (
        join( ', ', map {"$_: $count{$_}"} sort keys %count ),
        grep {defined} map { $_->member('refresh_token') } @answer );
}

subtest race_of_twenty => sub {
    for my $round ( 1 .. 3 ) {
        my $first = family();
        my ( $count, @mine ) = together( $home, ($first) x 4 );
        is( $count,     '200: 4', "round $round: four processes with one token" );
        is( branches(), 3,        '... have three branches' );
        my @last = @mine;
        for my $turn ( 1 .. 3 ) {
            ( $count, @last ) = together( $home, ( $last[ $turn % 4 ] ) x 4 );
            is( $count, '200: 4', "... and again with the one that was stored, turn $turn" );
        }
        is( last_audit(), 'lives', '... and the family lives' );
    }
    my @first = map { family() } 1 .. 5;
    my ( $count, @all ) = together( $home, map { ($_) x 4 } @first );
    is( $count, '200: 20', 'twenty at once, of five families' );
    my @three = shared(3);
    ( $count, @all ) = together( $home, map { ($_) x 4 } @three );
    is( $count, '200: 12', 'the three branches of a family at once, each four times' );

    my @mine = shared(3);
    for my $turn ( 1 .. 7 ) {
        ( $count, @mine ) = together( $home, @mine );
        is( $count, '200: 3', 'three branches at once' );
    }
    my $first = family();
    ( $count, @all ) = together( $home, ($first) x 20 );
    like(
        $count, qr/\A200: [1-4], 400: 1[6-9]\z/,
        'twenty times one token is more than reuse allows, and no error of ours' );
    refused( $home, $_, '... but the end of the family (decisions.md "Reuse")' ) for @all;

    # T races with O, both from two networks.
    for ( 1 .. 4 ) {
        my $token  = family();
        my $i      = 0;
        my @answer = Authz::Client::together(
            map {
                my $http = $http[ $i++ % 2 ];
                [   $http,
                    $http->octets(
                        'POST', '/token', headers => [ 'X-Forwarded-For' => $_ ], form => form_of($token), close => 1 )
                ]
            } $home,
            $away, $home,
            $away );
        is( join( ' ', map { $_->failure // $_->status } @answer ), '200 200 200 200', 'O and T race for one token' );
        my ( $hers, $his ) = map { $_->member('refresh_token') } @answer[ 2, 1 ];
        my @end = map { refresh( $_->[0], $_->[1] )->status } [ $home, $hers ], [ $away, $his ], [ $home, $hers ];
        is( $end[2], 400, '... and do not live beside each other' );
    }
};

# ---- other settings

# ---- policy decides at each refresh, in every branch

subtest rule_about_networks => sub {
    my $rule = $one->admin(
        PUT  => '/admin/api/policy-rules/by-path',
        json => {
            path    => 'custom/moved.rego', kind => 'rego', version => '1',
            content => <<'REGO' } );
package custom.issue

deny contains {"code": "moved", "category": "environment", "message": "moved"} if input.refresh.network_changed

deny contains {"code": "many", "category": "environment", "message": "many"} if input.refresh.branches > 2
REGO
    like( $rule->status, qr/\A20[01]\z/, 'a rule of the operator' ) or diag $rule->text;
    my ( $a, $b ) = shared(2);
    oauth_error( refresh( $away, $b ), 400, 'access_denied', 'case 5: the branch of T does not leave the network' );
    $b = next_of( $home, $b, '... and the denial used nothing up' );
    used( $home, $b );
    my $more = refresh( $home, $b );
    oauth_error( $more, 400, 'access_denied', 'policy is asked about the branch that would be made' );
    is( branches(), 2, '... and there is none' );
    my $id = $rule->member('id');
    like( $one->admin( DELETE => "/admin/api/policy-rules/$id" )->status, qr/\A20[0-9]\z/, 'the rule goes' );
};

$_->restart_service( settings => { %setting, SVC_REFRESH_BRANCHES => 'off' } ) for $one, $two;
subtest off => sub {
    my ( $a, $b ) = shared(2);
    is( branches(), 1, 'SVC_REFRESH_BRANCHES=off: no branch' );
    siblings_end( $home, $a, $home, $b, 'siblings' );
};

$_->restart_service( settings => { %setting, SVC_TRUSTED_PROXY_COUNT => 0 } ) for $one, $two;
subtest proxy_unknown => sub {
    my ( $a, $b ) = shared(2);
    is( branches(), 1, 'a proxy that is not counted is nobody\'s network: no branch' );
    siblings_end( $home, $a, $home, $b, 'siblings' );
};

is( $one->sql(
        q{SELECT count(*) FROM audit_log WHERE endpoint = '/token' AND (http_status >= 500 OR outcome = 'error')}),
    0,
    'no request ended in an error of ours' );
is( $one->sql('SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()'),
    0, 'PostgreSQL saw no deadlock' );

done_testing;

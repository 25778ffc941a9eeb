# GET /bundles/svc is held until a new bundle is published; POST /bundles/status takes what an engine sends, and what an attacker
# with the bundle key might send instead (policy.md 2.2, 2.4; decisions.md "Which revisions may decide"). The keys are tested in
# admin_keys.t.
use strict;
use warnings;

use IO::Select ();
use JSON::PP   ();
use POSIX      ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Check;
use Authz::Client  ();
use Authz::Policy  ();
use Authz::Process ();
use Authz::Stack   ();

my $BOUND = 60;

# The engine fetches from the first host. The second one's workers for bundles are ours alone: three, so two polls are held.

# Without the program that tries them, the engine gets candidates that it refuses (policy.md 7.3).
my %untried = ( settings => { SVC_OPA_BINARY => '/nonexistent' } );
my $real    = Authz::Stack->start(%untried);
my $stack   = Authz::Stack->start( beside => $real, bundles => 3, %untried );
my $engine  = Authz::Policy->new($real);
my $policy  = Authz::Policy->new($stack);
my @crm     = $real->make_client( 'crm', { grants => ['client_credentials'], scopes => ['orders.read'] } );
my @key     = ( 'X-Bundle-API-Key' => $Authz::Stack::KEY{SVC_BUNDLE_API_KEY} );
my $held    = 'application/vnd.openpolicyagent.bundles';
my $number  = 0;

sub until_true { my ($test) = @_; return defined Authz::Process::until_true( $BOUND, $test ) }
sub etag       { return '"' . $stack->sql('SELECT b.etag FROM bundle_state s JOIN bundle b ON b.id = s.served') . '"' }

sub publish {
    $number++;
    return $engine->deploy( rules => { 'custom/poll.rego' => "package custom.poll\n\nv := $number\n" } );
}

sub headers {
    my ($answer) = @_;
    return join ' ', $answer->status, map { $answer->header($_) // 'none' } 'Content-Type', 'ETag';
}

# A long poll on its way; its answer; whether it is one of so many that workers hold, and stays so for a second.
sub poll {
    my ( $tag, $prefer ) = @_;
    my $socket = $stack->client->_connect or die "connect: $!\n";
    syswrite $socket,
      $stack->http->octets(
        GET     => '/bundles/svc', close => 1,
        headers => [ @key, 'If-None-Match' => $tag, defined $prefer ? ( Prefer => $prefer ) : () ] );
    return $socket;
}
sub answer_of { my ($socket) = @_; return Authz::Client::_exchange( $socket, '', 'GET', $BOUND ) }

sub is_held {
    my ( $socket, $count ) = @_;
    my $select = IO::Select->new($socket);
    until_true( sub { $select->can_read(0) || $stack->busy('bundles') >= ( $count // 1 ) } );
    return !$select->can_read(1);
}

# ---- one poll

is( $engine->agree($BOUND), '', 'rows, bundle and engine agree' );
my $old   = etag();
my $waits = poll( $old, 'modes=snapshot,delta;wait=25' );
ok( is_held($waits), 'a long poll with the ETag of what is served is held (policy.md 2.2)' );
my $start = time;
admin_ok( publish(), 200, { activation => 'confirmed' }, 'a rule is saved meanwhile' );
my $answer = answer_of($waits);
cmp_ok( time - $start, '<', 20, 'a long poll is answered when a bundle is published, not when its time is up' );
is( headers($answer), "200 $held " . etag(),
    'a long poll: 200 with the bundle, its ETag, and the type that keeps an engine in long polling' );
is( eval { Authz::Policy::unpack_bundle( $answer->body )->{rules}{'custom/poll.rego'} },
    "package custom.poll\n\nv := $number\n", 'a long poll: the bundle has what was saved' );
$start  = time;
$answer = answer_of( poll( etag(), 'wait=2' ) );
my $took = time - $start;
is( $answer->status . $answer->body, '304',  'a long poll in whose time nothing is published: 304' );
is( $answer->header('ETag'),         etag(), 'a long poll: a 304 repeats the ETag' );
ok( $took >= 1.9 && $took < 15, 'a long poll: it is held as long as it asks for' ) or diag("$took s");
is( headers( answer_of( poll( $old, 'wait=25' ) ) ), "200 $held " . etag(),
    'a long poll with another ETag is answered at once' );

# A refused candidate is withdrawn from every engine that fetched it.
$waits = poll( etag(), 'wait=25' );
is_held($waits);
$start = time;
is( $engine->deploy( rules => { 'custom/poll.rego' => "package custom.poll\n\nv := no_such_function(1)\n" } )->status,
    422, 'a rule that is refused' );
my $candidate = answer_of($waits)->header('ETag');
isnt( $candidate, etag(), 'a refused candidate: it was served to the engine that waited' );
is( headers( answer_of( poll( $candidate, 'wait=25' ) ) ), "200 $held " . etag(),
    'a refused candidate: an engine that has it gets the bundle before it at once (policy.md 2.4)' );
cmp_ok( time - $start, '<', 20, 'a refused candidate: without waiting' );

# ---- what else may stand in the headers

my $current = etag();
for my $prefer (
    undef,       '',         'wait',     'wait=', 'wait=0', 'wait=-25', 'wait=25x', 'wait=x25', 'wait=2e1', 'wait=0x19',
    'wait="25"', 'xwait=25', 'wait =25', 'modes=snapshot', 'respond-async', ';;,,;', 'wait=;wait=25' )
{
    $start  = time;
    $answer = answer_of( poll( $current, $prefer ) );
    ok( $answer->status == 304 && time - $start < 15,
        'Prefer ' . ( $prefer // 'absent' ) . ': no wait is read, 304 at once'
    ) or diag( time - $start, $answer->text );
}
for my $prefer (
    'WAIT=25', 'modes=snapshot, wait=25', 'modes=snapshot ; wait=25', 'wait=26',
    'wait=99999999999999999999' )
{
    $waits = poll( $current, $prefer );
    ok( is_held($waits), "Prefer $prefer: held" );
    close $waits;
    $stack->sql('NOTIFY svc_bundle');
    publish();    # a client that left is let go
    $current = etag();
    ok( until_true( sub { !$stack->busy('bundles') } ), "Prefer $prefer: and let go" );
}
for my $tag (
    '', '"', '""', '"""', 'W/', 'W/"', '*', '"*"', 'x', '"' . 'a' x 64 . '"', '"' . 'a' x 7000 . '"',
    substr( $current, 1, 63 ), uc $current, "'; DROP TABLE bundle; --", "\"\xff\xfe\"", "\"\xc3\xa9\"",
    "\"\xed\xa0\x80\"" )
{
    my $name = length $tag > 70 ? substr( $tag, 0, 10 ) . '...' : $tag =~ s/([^ -~])/sprintf '\\x%02x', ord $1/ger;
    $answer = answer_of( poll( $tag, 'wait=25' ) );
    is( headers($answer), "200 $held $current", "If-None-Match $name: none of ours, so 200 at once" );
}
is( answer_of( poll( "W/$current", undef ) )->status, 304,
    'If-None-Match: a weak form of the ETag is the same bundle (RFC 9110 13.1.2)' );
for my $name ( 'other', 'SVC', 'svc/', 'svc.tar.gz', '..%2fsvc', '%00', 'svc%20' ) {
    $answer = $stack->client->get( "/bundles/$name", headers => [ @key, Prefer => 'wait=25' ] );
    ok( $answer->status == 404 || $answer->status == 400, "GET /bundles/$name: no such bundle" )
      or diag( $answer->text );
}
$start = time;
is( $stack->client->get( '/bundles/svc', headers => [ 'If-None-Match' => $current, Prefer => 'wait=25' ] )->status,
    401, 'without the key a long poll is 401' );
is( $stack->client->get(
        '/bundles/svc', headers => [ 'X-Bundle-API-Key' => 'wrong', 'If-None-Match' => $current, Prefer => 'wait=25' ]
    )->status,
    401,
    'with a wrong key too' );
cmp_ok( time - $start, '<', 15, 'and neither is held' );

# ---- more polls than workers

sub push_status {
    my ( $body, @header ) = @_;
    return $stack->client->post(
        '/bundles/status', headers => [ @key, @header ],
        ref $body ? ( json => $body ) : ( body => $body ) );
}

sub status_of {
    my ( $instance, %status ) = @_;
    $status{active_revision} //= $engine->active;
    return {
        labels  => { id  => 'an-id', instance => $instance },
        bundles => { svc => { name => 'svc', last_request => '2026-01-01T00:00:00Z', %status } } };
}

my @waits = map { my $socket = poll( $current, 'wait=25' ); is_held( $socket, $_ ); $socket } 1, 2;
is( scalar $stack->busy('bundles'), 2, 'two of three workers hold a poll' );
for ( 1 .. 3 ) {
    $start  = time;
    $answer = answer_of( poll( $current, 'wait=25' ) );
    is( headers($answer), "200 application/gzip $current",
        'a poll too many gets the bundle as application/gzip, which makes its engine poll slowly (policy.md 2.1)' );
    cmp_ok( time - $start, '<', 15, 'a poll too many is not held' );
}
is( push_status( status_of('test-9') )->status, 200,
    'a status push gets through while all polls are held that may be' );
$stack->sql(q{DELETE FROM engine_instance WHERE instance <> 'test-1'});    # no save below waits for it
publish();
$current = etag();
is( join( ' / ', map { headers( answer_of($_) ) } @waits ), "200 $held $current / 200 $held $current",
    'both held polls are answered' );
$waits = poll( $current, 'wait=25' );
is_held($waits);
my ($worker) = $stack->busy('bundles');
kill 'KILL', $worker;
isnt( answer_of($waits)->status, 200, 'a worker that is killed with a poll in hand does not answer it' );
ok( until_true( sub { $stack->workers('bundles') == 3 } ), 'it is replaced' );
@waits = map { my $socket = poll( $current, 'wait=25' ); is_held( $socket, $_ ); $socket } 1, 2;
is( scalar $stack->busy('bundles'), 2, 'and its place is free again: two polls are held' );
publish();
answer_of($_) for @waits;

# ---- status pushes

sub reported {
    my ($instance) = @_;
    return $stack->sql("SELECT active_revision || ' ' || code FROM engine_instance WHERE instance = '$instance'");
}

$stack->sql(q{DELETE FROM engine_instance WHERE instance <> 'test-1'});
for my $case (
    [ 'nothing', '' ], [ 'no JSON', '{' ], [ 'a list', [] ], [ 'a text', '"x"' ], [ 'an empty object', {} ],
    [ 'labels that are a list',   { labels => ['test-1'] } ], [ 'no name', { labels => { version => '1' } } ],
    [ 'a name that is a number',  { labels => { instance => 1, id => 2 } } ],
    [ 'a name of 129 octets',     status_of( 'n' x 129 ) ],
    [ 'a name twice',             '{"labels":{"instance":"a","instance":"b"}}' ],
    [ 'a NUL in the name',        '{"labels":{"instance":"a\u0000b"},"bundles":{"svc":{}}}' ],
    [ 'octets that are no UTF-8', "{\"labels\":{\"instance\":\"a\xff\"},\"bundles\":{\"svc\":{}}}" ],
    [ '100,000 brackets',         '{"labels":' . '[' x 100_000 . ']' x 100_000 . '}' ],
  )
{
    $answer = push_status( $case->[1] );
    is( $answer->status, 400, "a status push with $case->[0] is 400" ) or diag( $answer->text );
}
my $json = JSON::PP->new->utf8;
my $room = 8_388_608 - length $json->encode( status_of( 'test-8', message => '' ) );
is( push_status( status_of( 'test-8', message => 'm' x $room ) )->status, 200,
    'limit: a status push of 8 MiB is read' );
is( push_status( status_of( 'test-8', message => 'm' x ( $room + 1 ) ) )->status, 413, 'limit: one octet more is 413' );
is( push_status( status_of( 'n' x 128 ) )->status,        200, 'limit: a name of 128 octets is taken' );
is( $stack->sql(q{SELECT count(*) FROM engine_instance}), 3,   'what was refused left no row' );
is( push_status( { labels => { instance => 'test-7' }, bundles => {} } )->status, 200,
    'an engine that has fetched nothing yet is answered 200' );
is( reported('test-7'),                   '',  'and no save waits for it' );
is( push_status( status_of('') )->status, 200, 'an engine whose OPA_INSTANCE is not set (its label is empty)' );
is( reported(''), '', 'is not one with all others that have no name: the second would hide what the first refused' );
is( reported('an-id'), $engine->active . ' ', 'but goes by its id' );

# ---- pushes that lie, with the right key

$stack->sql(q{DELETE FROM engine_instance WHERE instance <> 'test-1'});
sub token { return $real->token( @crm, scope => 'orders.read' ) }
my $acceptable = $engine->state->{acceptable};
push_status( status_of( 'test-1', active_revision => 'f' x 32 ) );
is( reported('test-1'), 'f' x 32 . ' ',
    'a forged report in the name of the engine names an unknown revision' );
is( $engine->state->{acceptable}, $acceptable, 'which may decide as little as before' );
oauth_ok( token(), {}, 'and the engine itself decides on' );
admin_ok( publish(), 200, { activation => 'confirmed' }, 'a save asks the engine itself' );

# The engine is stopped; a forged report says that it has taken, or refused, the candidate.
sub save_and_say {
    my ( $rule, %status ) = @_;
    until_true( sub { $real->busy('bundles') } )
      or die "the engine does not poll\n";    # one that stands still asks for nothing
    $real->{opa}->signal('STOP');
    my $socket = $real->client->_connect or die "connect: $!\n";
    syswrite $socket, $engine->deploy_octets( rules => { 'custom/poll.rego' => $rule } );
    until_true(
        sub { $stack->sql(q{SELECT count(*) FROM bundle WHERE status = 'pending' AND fetched_ms IS NOT NULL}) == 1 } )
      or die "no candidate\n";
    my $revision = $stack->sql(q{SELECT revision FROM bundle WHERE status = 'pending'});
    push_status(
        status_of(
            'test-1', active_revision => $revision,
            last_request => POSIX::strftime( '%Y-%m-%dT%H:%M:%SZ', gmtime( time + 1 ) ), %status ) );
    my $saved = answer_of($socket);
    $real->{opa}->signal('CONT');
    return $saved;
}
$answer = save_and_say(
    "package custom.poll\n\nv := 1000\n", code => 'bundle_error', message => 'a lie',
    active_revision => $acceptable );
admin_error(
    $answer, 422, 'a refusal that is a lie: the save is refused', error => 'bundle_not_activated',
    members => { rolledBack => true } );
is( $engine->agree($BOUND), '', 'a refusal that is a lie: everything is as before' );
my $before = $engine->state->{acceptable};
my $issued = $stack->sql('SELECT count(*) FROM access_token');
$answer = save_and_say("package custom.poll\n\nv := no_such_function(1)\n");
is( $answer->status, 200, 'a rule that no engine takes, and a lie that one has: the save stands' );

# It may have been at the candidate before, which it was given when it stood still.
ok( until_true( sub { $engine->active eq $before } ), 'the engine has the old policy' )
  or diag( $engine->active, ' ', $before );
oauth_error(
    token(), 503, 'temporarily_unavailable',
    'which may decide no more: the lie stops decisions, and makes none' );
is( $stack->sql('SELECT count(*) FROM access_token'), $issued, 'no token was issued by it' );
admin_ok( publish(), 200, { activation => 'confirmed' }, 'the next good save puts an end to that' );
is( $engine->agree($BOUND), '', 'rows, bundle and engine agree' );
oauth_ok( token(), {}, 'tokens are issued' );
is( join( "\n", $engine->wrong_decisions ), '', 'no decision names a revision that was taken back' );

done_testing;

# Documents of others, kept in the database: one fetch for all workers, leases, failures, ages, and half of the pool
# (decisions.md "CIMD documents"; oauth.md 3.1 J8, 3.2).
use strict;
use warnings;

use JSON::PP ();
use Test::More;
use Time::HiRes qw(sleep time);

use Authz::Path     ();
use Authz::Peer     ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Stack    ();
use Authz::Web      ();

my $peer     = Authz::Peer->start;
my $postgres = Authz::Postgres->shared_or_new;
my $database = $postgres->database;
my %setting  = (
    %{ Authz::Stack::base_settings( $postgres->url($database) ) },
    SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST => 'true',
    SVC_CIMD_ALLOW_INSECURE_LOCALHOST      => 'true',
    SVC_CIMD_FETCH_TIMEOUT_SECONDS         => 3,
    SVC_SAFE_HTTP_TIMEOUT_SECONDS          => 3,
);
my $json = JSON::PP->new->utf8;

# The time of a fetch, in seconds, where a test is not about its end: a busy machine needs more than 3 s for a few processes.
my $PATIENT  = 60;
my %PATIENCE = ( SVC_CIMD_FETCH_TIMEOUT_SECONDS => $PATIENT );

sub sql { return $postgres->sql( $_[0], $database ) }

my $asked = 0;

# ask(kind => url, not_before => ..., workers => ..., env => {...}): one worker that asks for a document, not waited for; once
# for each of not_before.
sub ask {
    my ( $kind, $url, %option ) = @_;
    my $log = Authz::Process::directory() . '/ask' . ++$asked . '.out';
    return Authz::Process->start(
        name    => 'fetcher',
        log     => $log,
        env     => { %setting, %{ $option{env} // {} } },
        command => [
            Authz::Path::program('t/http/fetcher'), $option{workers} // 64, 'document', $kind, $url,
            ref $option{not_before} ? @{ $option{not_before} } : $option{not_before} // 0 ],
    );
}

sub answer {
    my ($process) = @_;
    my $status = $process->wait(60);
    die 'fetcher: ' . ( $status // 'it hangs' ) . $process->log_text if !defined $status || $status != 0;
    return $json->decode( $process->log_text );
}

sub get { return answer( ask(@_) ) }

# The row of a path, moved in time, and the leases of hosts with it: later(path => SECONDS).
sub later {
    my ( $path, $seconds ) = @_;
    my @column = qw(fetched_at expires_at failed_until leased_until ended_at forced_at used_at);
    sql("UPDATE fetching_host SET leased_until = leased_until - interval '$seconds seconds'");
    return sql( 'UPDATE fetched_document SET '
          . join( ', ', map {"$_ = $_ - interval '$seconds seconds'"} @column )
          . ' WHERE url = ' . "'"
          . $peer->url($path)
          . "'" );
}

sub column {
    my ( $path, $column ) = @_;
    return sql( "SELECT $column FROM fetched_document WHERE url = '" . $peer->url($path) . "'" );
}

# A body as JSON with blanks, to see that what is kept is what came.
$peer->set( map { ( "/$_" => { body => qq({"n": "$_"}) } ) } qw(first keys cimd) );

# ---- kept and how long

my $first = get( discovery => $peer->url('/first') );
is_deeply(
    [ $first->{fault}, $first->{document}, $first->{changed} ], [ 'ok', { n => 'first' }, JSON::PP::false ],
    'a document is fetched when first asked for' );
$first = get( discovery => $peer->url('/first') );
is( $peer->hits('/first'), 1, '... and then kept, for all processes' );
$peer->set( '/client-keys' => { body => { keys => [] } } );
for my $case (
    [ discovery       => '/first',       86400 ],
    [ keys            => '/keys',        3600 ],
    [ client_keys     => '/client-keys', 3600 ],
    [ client_metadata => '/cimd',        3600 ] )
{
    my ( $kind, $path, $life ) = @$case;
    get( $kind => $peer->url($path) );
    later( $path, $life - 20 );
    get( $kind => $peer->url($path) );
    is( $peer->hits($path), 1, "$kind: kept for $life s" );
    later( $path, 20 );
    get( $kind => $peer->url($path) );
    is( $peer->hits($path), 2, '... and no longer' );
}
for my $case ( [ 'max-age=300', 300 ], [ 'max-age=7200', 3600 ], [ 'no-store', 60 ], [ 'max-age=1', 60 ] ) {
    my ( $control, $life ) = @$case;
    my $path = '/' . $control =~ tr/=/-/r;
    $peer->set( $path => { headers => [ 'Cache-Control' => $control ], body => {} } );
    get( client_metadata => $peer->url($path) );
    is( column( $path, 'extract(epoch FROM expires_at - fetched_at)::int' ), $life,
        "metadata with $control is kept for $life s (oauth.md 3.2: min(max-age, TTL) with a floor)" );
    get( keys => $peer->url($path) );
    is( sql("SELECT extract(epoch FROM expires_at - fetched_at)::int FROM fetched_document WHERE kind = 'keys' AND url = '"
              . $peer->url($path) . "'" ),
        3600,
        '... keys for an hour' );
}
$peer->set( '/ttl' => { body => {} } );
get( client_metadata => $peer->url('/ttl'), env => { SVC_CIMD_CACHE_TTL_SECONDS => 30 } );
is( column( '/ttl', 'extract(epoch FROM expires_at - fetched_at)::int' ), 30,
    'SVC_CIMD_CACHE_TTL_SECONDS under the floor wins' );

# ---- what is no document

my @bad = (
    [ status    => { status => 404, body => {} },                                                  'http', 503 ],
    [ created   => { status => 201, body => {} },                                                  'http', 503 ],
    [ redirect  => { status => 302, headers => [ Location => $peer->url('/first') ], body => {} }, 'http', 503 ],
    [ html      => { type => 'text/html', body => {} },                                            'http', 503 ],
    [ untyped   => { type => '', body => {} },                                                     'http', 503 ],
    [ array     => { body => '[]' },                                'http', 503 ],
    [ nojson    => { body => '{' },                                 'http', 503 ],
    [ twice     => { body => '{"a":1,"a":2}' },                     'http', 503 ],
    [ deep      => { body => '{"a":' . '[' x 16 . ']' x 16 . '}' }, 'http', 503 ],
    [ latin     => { body => "{\"a\":\"\xe4\"}" },                  'http', 503 ],
    [ large     => { body => '{}', pad => 65535 },                  'size', 503 ],
    [ unchecked => { body => { bad => 1 } },                        'ok',   400 ],
);
for my $case (@bad) {
    my ( $name, $what, $fault ) = @$case;
    my $path = "/bad-$name";
    $peer->set( $path => $what );
    my $seen = get( client_metadata => $peer->url($path) );
    is( $seen->{fault}, $fault, "no document: $name" ) or diag( $seen->{detail} );
    ok( !exists $seen->{document}, '... there is none' );
    is( $seen->{public}, 'It is bad',         '... the check says what the caller sees' ) if $name eq 'unchecked';
    is( column( $path, 'body IS NULL' ), 't', '... it is not kept' );
    get( client_metadata => $peer->url($path) );
    is( $peer->hits($path), 2, '... nor is the failure: it is asked for again (decisions.md "CIMD documents")' );
}
$peer->set(
    '/good-deep'  => { body => '{"a":' . '[' x 15 . ']' x 15 . '}' },
    '/good-large' => { body => '{}',                           pad  => 65534 },
    '/good-type'  => { type => 'application/jwk-set+json;v=1', body => {} } );
is( get( client_metadata => $peer->url($_) )->{fault}, 'ok', "at the limit it is one: $_" )
  for qw(/good-deep /good-large /good-type);
is( get( client_metadata => $peer->url('/good-large'), env => { SVC_CIMD_MAX_DOCUMENT_SIZE_BYTES => 65535 } )->{fault},
    'ok', 'a kept one is not measured again' );
is( get( client_metadata => 'http://elsewhere.example/x' )->{fault}, 'url', 'http is for the hosts of the list alone' );

# ---- the host is away

my $port = Authz::Web::free_port();
my $away = "http://localhost:$port/x";
is( get( client_metadata => $away )->{fault}, 'connect', 'a host that refuses' );
my $back = Authz::Peer->start( port => $port );
$back->set( '/x' => { body => {} } );
is( get( client_metadata => $away )->{fault}, 'connect', '... is not asked again' );
is( $back->hits,                              0,         '... by any process' );
is( sql("SELECT round(extract(epoch FROM failed_until - ended_at)) FROM fetched_document WHERE url = '$away'"), 5,
    '... for 5 s (decisions.md "CIMD documents")' );
sql("UPDATE fetched_document SET failed_until = failed_until - interval '5 seconds' WHERE url = '$away'");
is( get( client_metadata => $away )->{fault}, 'ok', '... and then it is' );
$peer->set( '/slow' => { delay => 8, body => {} } );
is( get( client_metadata => $peer->url('/slow') )->{fault}, 'timeout', 'one that is too slow' );
my $start = time;
is( get( client_metadata => $peer->url('/slow'), env => \%PATIENCE )->{fault}, 'timeout', '... is left alone too' );
cmp_ok( time - $start, '<', $PATIENT / 2, '... and no process waits for it' );
is( $peer->hits('/slow'), 1, '... it was asked once' );

# ---- an old one must do

for my $case ( [ discovery => 86400 ], [ keys => 3600 ] ) {
    my ( $kind, $life ) = @$case;
    my $path = "/old-$kind";
    $peer->set( $path => { body => { old => 1 } } );
    get( $kind => $peer->url($path) );
    for my $what ( { status => 500 }, { body => 'x' }, { body => { bad => 1 } }, { reset => 1 } ) {
        $peer->set( $path => $what );
        later( $path, $life );
        is( get( $kind => $peer->url($path) )->{document}{old}, 1,
            "$kind past its time serves while there is no other" );
        sql("UPDATE fetched_document SET fetched_at = now(), expires_at = now() + interval '$life seconds' WHERE kind = '$kind'"
        );
    }
    later( $path, $life + 86390 );
    is( get( $kind => $peer->url($path) )->{document}{old}, 1, '... up to a day longer' );
    later( $path, 20 );
    isnt( get( $kind => $peer->url($path) )->{fault}, 'ok', '... and then not' );
}
$peer->set( '/old-cimd' => [ { body => {} }, { status => 500 } ] );
get( client_metadata => $peer->url('/old-cimd') );
later( '/old-cimd', 3601 );
is( get( client_metadata => $peer->url('/old-cimd') )->{fault}, 'http', "a client's metadata past its time does not" );

# ---- a newer one is wanted

my $future = 1000 * ( int(time) + 1000 );
$peer->set( '/kid' => [ { body => { v => 1 } }, { body => { v => 2 } }, { body => { v => 2 } }, { status => 500 } ] );
get( keys => $peer->url('/kid') );
my $newer = get( keys => $peer->url('/kid'), not_before => $future );
is_deeply(
    [ $newer->{document}{v}, $newer->{changed} ], [ 2, JSON::PP::true ],
    'an unknown key: the host is asked once more, however short ago it was asked in the ordinary way, and the change is told'
);
is( get( keys => $peer->url('/kid'), not_before => $future )->{document}{v}, 2, '... and not again' );
later( '/kid', 58 );
get( keys => $peer->url('/kid'), not_before => $future );
is( $peer->hits('/kid'), 2, '... within 60 s (oauth.md 3.1 J8)' );
later( '/kid', 3 );
ok( !get( keys => $peer->url('/kid'), not_before => $future )->{changed}, '... what is the same has not changed' );
later( '/kid', 61 );
is( get( keys => $peer->url('/kid'), not_before => $future )->{document}{v}, 2,
    '... when that fails, the one that is fresh serves' );
is( $peer->hits('/kid'), 4, '... the host was asked' );
get( keys => $peer->url('/kid'), not_before => $future );
is( $peer->hits('/kid'), 4, '... and failing does not mean asking for each token' );
my $kept = column( '/kid', 'floor(extract(epoch FROM fetched_at) * 1000)::bigint' );
later( '/kid', 61 );
get( keys => $peer->url('/kid'), not_before => $kept - 62_000 );
is( $peer->hits('/kid'), 4, 'one that is new enough will do' );
$peer->set( '/due' => [ map { { body => { v => $_ } } } 1 .. 3 ] );
get( keys => $peer->url('/due') );
later( '/due', 3600 );
is( get( keys => $peer->url('/due'), not_before => $future )->{document}{v}, 2,
    'one that is past its time is fetched for an unknown key, too' );
is( get( keys => $peer->url('/due'), not_before => $future )->{document}{v}, 3,
    '... which does not count: it was due' );
get( keys => $peer->url('/due'), not_before => $future );
is( $peer->hits('/due'), 3, '... and then it is enough' );

# ---- remembered by a process (http/fetch/document_memory.h; how long: t/http/document_memory-t.c)

$peer->set( map { ( "/mine-$_" => { body => { v => 1 } } ) } qw(keys discovery client_metadata) );
for my $kind (qw(keys discovery)) {
    my $mine = get( $kind => $peer->url("/mine-$kind"), not_before => [ 0, 0, 0 ] );
    is_deeply( [ @$mine{qw(fault trips)} ], [ 'ok', 0 ], "$kind: what was just fetched is remembered: no trip" );
    $mine = get( $kind => $peer->url("/mine-$kind"), not_before => [ 0, 0 ] );
    is_deeply( [ @$mine{qw(fault trips)}, $mine->{document}{v} ], [ 'ok', 0, 1 ], '... what was read is, too' );
    $mine = get( $kind => $peer->url("/mine-$kind"), not_before => [ 0, 0, $mine->{fetched_ms} ] );
    is( $mine->{trips}, 0, '... one that is new enough for an unknown key serves' );
}
my $theirs = get( client_metadata => $peer->url('/mine-client_metadata'), not_before => [ 0, 0, 0 ] );
is_deeply(
    [ @$theirs{qw(fault trips)} ], [ 'ok', 1 ],
    'client metadata are not remembered: any stranger can name them' );
$peer->set( '/mine-new' => [ { body => { v => 1 } }, { body => { v => 2 } } ] );
my $mine = get( keys => $peer->url('/mine-new'), not_before => [ 0, 0, $future ] );
cmp_ok( $mine->{trips}, '>', 0, 'one that is too old for an unknown key is not taken' );
is( $mine->{document}{v}, 2, '... but a new one' );
$mine = get( keys => $peer->url('/mine-new'), not_before => [ 0, 0, $future, 0 ] );
is_deeply( [ $mine->{trips}, $mine->{document}{v} ], [ 0, 2 ], '... which is remembered from then on' );
$peer->set( '/mine-worse' => { body => { worse => 1 } } );
$mine = get( keys => $peer->url('/mine-worse'), not_before => [ 0, 0 ] );
is( $mine->{public}, 'It is worse', 'what passed the check of one is not taken by another unchecked' );
cmp_ok( $mine->{trips}, '>', 0, '... it is fetched for him' );
$peer->set( '/mine-end' => { body => { v => 1 } } );
get( keys => $peer->url('/mine-end') );
later( '/mine-end', 3600 );
$peer->set( '/mine-end' => { status => 500 } );
cmp_ok(
    get( keys => $peer->url('/mine-end'), not_before => [ 0, 0, 0 ] )->{trips}, '>', 0,
    'one that is past its time and serves for want of another is not remembered' );

# ---- parallel first use

# Asks of several at once, [kind, path, option => ...] each; the processes are there before the first one asks.
my $gates = 0;

sub at_once {
    my @wish = @_;
    my $gate = Authz::Process::directory() . '/gate' . ++$gates;
    my @one;
    for my $wish (@wish) {
        my ( $kind, $path, %option ) = @$wish;
        push @one, ask( $kind, $peer->url($path), %option, env => { FETCHER_GATE => $gate, %{ $option{env} // {} } } );
    }
    Authz::Process::until_true( 60, sub { ( my @ready = glob "$gate.*" ) == @wish } )
      // die 'the workers do not get ready';
    Authz::Web::write_file( $gate, '' );
    return map { answer($_) } @one;
}

sub parallel {
    my ( $count, $path, %option ) = @_;
    my $kind = delete $option{kind} // 'client_metadata';
    return at_once( map { [ $kind, $path, %option ] } 1 .. $count );
}
$peer->set( '/many' => { delay => 1, body => { many => 1 } } );
my @many = parallel( 12, '/many' );
is( scalar( grep { ( $_->{document}{many} // 0 ) == 1 } @many ), 12,
    '12 workers ask for one document at once: all get it' );
is( $peer->hits('/many'),                                                   1, '... by one fetch' );
is( sql('SELECT count(*) FROM fetched_document WHERE url LIKE \'%/many\''), 1, '... in one row' );
my ( $other, $third ) = map { { SVC_RUNTIME_DIR => Authz::Stack::runtime_dir($_) } } qw(host2 host3);
$peer->set( '/hosts' => { delay => 1, body => {} } );
is( join( ' ', map { $_->{fault} } at_once( map { [ client_metadata => '/hosts', env => $_ ] } {}, $other, $third ) ),
    'ok ok ok', 'three hosts ask for one document at once' );
is( $peer->hits('/hosts'), 1, '... by one fetch' );

for my $case (
    [ 'error' => { status => 500 }, 'http' ], [ 'refused' => { body => { bad => 1 } }, 'ok' ],
    [ 'reset' => { reset  => 1 },   'connect' ] )
{
    my ( $name, $what, $fault ) = @$case;
    $peer->set( "/many-$name" => { delay => 1, %$what } );
    @many = parallel( 8, "/many-$name" );
    is( join( ' ', map { $_->{fault} } @many ), join( ' ', ($fault) x 8 ),
        "8 workers wait for a fetch that fails ($name): all fail" );
    is( scalar( grep { $_->{public} eq $many[0]{public} && $_->{status} == $many[0]{status} } @many ), 8,
        '... in the same words' );
    is( $peer->hits("/many-$name"), 1, '... and do not ask one after the other' );
}
$peer->set( '/renew' => [ { body => { v => 1 } }, { delay => 1, body => { v => 2 } } ] );
get( keys => $peer->url('/renew') );
later( '/renew', 61 );
@many = parallel( 6, '/renew', kind => 'keys', not_before => $future );
is( join( ' ', map { $_->{document}{v} } @many ), '2 2 2 2 2 2', '6 workers miss a key at once: all get the new set' );
is( $peer->hits('/renew'),                        2,             '... by one fetch' );
is( scalar( grep { $_->{changed} } @many ),       1,             '... and one tells of the change' );

# ---- the process that fetches dies

$peer->set( '/dies' => [ { body => '{ }', stall => 1 }, { body => {} } ] );
my $holder = ask( client_metadata => $peer->url('/dies') );
Authz::Process::until_true( 20, sub { $peer->hits('/dies') == 1 } );
kill 'KILL', $holder->pid;
$holder->wait(5);
my $left = column( '/dies', 'ceil(extract(epoch FROM leased_until - used_at))::int' );
is( $left, 4, 'a lease lasts as long as a fetch may take, and a second' );
sql(    "UPDATE fetched_document SET leased_until = now() + interval '$PATIENT seconds' WHERE url = '"
      . $peer->url('/dies')
      . "'" );
$start = time;
is( get( client_metadata => $peer->url('/dies') )->{fault}, 'timeout',
    'a lease whose holder was killed is waited for' );
cmp_ok( time - $start, '<', $PATIENT / 2, '... as long as a fetch may take (3 s), not to its end' );
later( '/dies', 2 * $PATIENT );
is( get( client_metadata => $peer->url('/dies') )->{fault}, 'ok', '... and ends on its own' );
$peer->set( '/old-wait' => { body => { old => 1 } } );
get( keys => $peer->url('/old-wait') );
later( '/old-wait', 3600 );
sql(    "UPDATE fetched_document SET leased_until = now() + interval '30 seconds', lease = 'x' WHERE url = '"
      . $peer->url('/old-wait')
      . "'" );
is( get( keys => $peer->url('/old-wait') )->{document}{old}, 1,
    'expired keys serve too when the process that fetches does not come back' );
$peer->set( '/late' => [ { delay => 15, body => { v => 1 } }, { body => { v => 2 } } ] );
$holder = ask( client_metadata => $peer->url('/late'), env => \%PATIENCE );
Authz::Process::until_true( 20, sub { $peer->hits('/late') == 1 } );
later( '/late', 100 );
is( get( client_metadata => $peer->url('/late') )->{document}{v}, 2, 'a lease that is over is taken' );
is( answer($holder)->{document}{v},                               1, '... the late one has what it fetched' );
is( get( client_metadata => $peer->url('/late') )->{document}{v}, 2, '... and does not undo the newer' );

# ---- half of the pool

$peer->set( '/held' => { body => '{ }', stall => 1 } );
is( join( ' ', sort map { $_->{fault} } parallel( 4, '/held', workers => 8 ) ), 'busy busy timeout timeout',
    'of 8 workers one fetches, one waits for it, and two are refused: client metadata has half of the places' );
$peer->set( '/held2' => { body => '{ }', stall => 1 }, '/held3' => { body => '{ }', stall => 1 } );
my @one =
  map { ask( client_metadata => $_, workers => 8, env => \%PATIENCE ) } $peer->url('/held2'),
  $peer->url('/held3') =~ s/localhost/127.0.0.1/r;
Authz::Process::until_true( 20, sub { $peer->hits('/held2') + $peer->hits('/held3') == 2 } );
$start = time;
is( get( client_metadata => $peer->url('/new'), workers => 8 )->{fault}, 'busy',
    'two fetches hold the two places of 8 workers: no third' );
is( get( client_metadata => $peer->url('/held2'), workers => 8 )->{fault}, 'busy',
    '... nor a process that would wait' );
is( get( client_metadata => $peer->url('/cimd'), workers => 8 )->{fault}, 'ok', '... what is kept is served' );
later( '/keys', 3600 );
is( get( keys => $peer->url('/keys'), workers => 8 )->{fault}, 'ok', '... keys are fetched: their places are others' );
cmp_ok( time - $start, '<', $PATIENT / 2, '... all at once' );
is( get( client_metadata => $peer->url('/good-deep'), workers => 8, env => $other )->{fault}, 'ok',
    'another host has places of its own' );
kill 'KILL', map { $_->pid } @one;
$_->wait(5) for @one;

# ---- housekeeping

sub prune {
    my ( $status, $text ) = Authz::Process->run(
        name    => 'prune', env => \%setting,
        command => [ Authz::Path::program('t/http/fetcher'), 4, 'prune' ] );
    return $json->decode($text)->{status};
}
later( '/first',     7 * 86400 + 10 );
later( '/good-deep', 7 * 86400 - 100 );
later( '/bad-array', 61 );
sql(    "UPDATE fetched_document SET leased_until = now() + interval '1 minute' WHERE url = '"
      . $peer->url('/bad-html')
      . "'" );
later( '/bad-html', 0 );
is( prune(), 0, 'housekeeping' );
is( column( '/first',     'count(*)' ), 0, '... forgets a document that was not used for a week' );
is( column( '/good-deep', 'count(*)' ), 1, '... and keeps one that was used' );
is( column( '/bad-array', 'count(*)' ), 0, '... and what never was a document' );
is( column( '/bad-html',  'count(*)' ), 1, '... but no lease' );
later( '/cimd', 3500 );
sql("UPDATE fetched_document SET expires_at = now() + interval '1 minute', used_at = now() - interval '3 days' WHERE url = '"
      . $peer->url('/cimd')
      . "'" );
get( client_metadata => $peer->url('/cimd') );
is( column( '/cimd', "used_at > now() - interval '1 minute'" ), 't', 'that it is asked for is noted' );
sql('DELETE FROM fetched_document');
get( keys => $peer->url('/keys') );
later( '/keys', 3000 );
sql("INSERT INTO fetched_document (key, kind, url, body, used_at) SELECT sha256(i::text::bytea), 'client_metadata', 'x' || i, '{}', now() - make_interval(secs => i) FROM generate_series(1, 10000) i"
);
is( prune(), 0, 'housekeeping at the limit' );
is( sql("SELECT count(*) FROM fetched_document WHERE kind = 'client_metadata'"), 10_000,
    'DOCUMENTS_MAX documents of clients are kept' );
get( client_metadata => $peer->url('/cimd') );
get( client_metadata => $peer->url('/ttl') );
is( sql("SELECT count(*) FROM fetched_document WHERE kind = 'client_metadata'"), 10_000,
    '... each fetch beyond that drops one (the cache is bounded: decisions.md "CIMD documents")' );
is( sql("SELECT count(*) FROM fetched_document WHERE url IN ('x10000', 'x9999', 'x9998')"), 1,
    '... those that were not used for longest' );
is( column( '/keys', 'count(*)' ), 1, '... and not what the operator has named, however old' );
sql("INSERT INTO fetched_document (key, kind, url, body, used_at) SELECT sha256(('k' || i)::bytea), 'client_keys', 'k' || i, '{}', now() - make_interval(secs => i) FROM generate_series(1, 10000) i"
);
get( client_keys => $peer->url('/client-keys') );
is( sql("SELECT count(*) FROM fetched_document WHERE kind = 'client_keys'"), 10_000,
    'key sets that clients name are bounded too (decisions.md "Keys of clients")' );
sql("DELETE FROM fetched_document WHERE kind = 'client_keys'");
sql(q{UPDATE fetched_document SET body = NULL, failure = 'x', used_at = now() WHERE url IN ('x1', 'x2')});
$peer->set( '/bad-new' => { status => 404 } );
get( client_metadata => $peer->url($_) ) for qw(/first /bad-new /bad-html);
is( sql(q{SELECT count(*) FROM fetched_document WHERE kind = 'client_metadata' AND body IS NULL}), 1,
    'rows without a document go first (decisions.md "CIMD documents")' );
is( sql(q{SELECT count(*) FROM fetched_document WHERE url IN ('x9995', 'x9996', 'x9997')}), 3,
    '... so failures, however many, push no document out' );

is( column( '/first', 'count(*)' ), 1, '... and no new one' );

# ---- what is refused leaves no row

my $rows = sql('SELECT count(*) FROM fetched_document');
for my $case (
    [ 'https://10.1.2.3/client',   'address', 'a private address' ],
    [ 'https://[fe80::1]/client',  'address', 'a link-local address' ],
    [ 'https://127.1/client',      'address', 'a name that resolves to a loopback address' ],
    [ 'http://app.example/client', 'url',     'a URL without TLS' ] )
{
    my ( $url, $fault, $name ) = @$case;
    is( get( client_metadata => $url )->{fault}, $fault, "$name is refused" );
    is( sql("SELECT count(*) FROM fetched_document WHERE url = '$url'"), 0,
        '... and leaves no row (decisions.md "CIMD documents")' );
}
is( sql('SELECT count(*) FROM fetched_document'), $rows, '... nor does it push one out' );
is( sql('SELECT count(*) FROM fetching_host'),    0,     '... nor is there a lease of a host' );

done_testing;

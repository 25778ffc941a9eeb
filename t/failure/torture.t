# Each allocation and each system call of a request fails in turn (performance.md R7): the answer is that of before, or an error that
# says so, in bounded time; or the process ends without having crashed, and another one serves. What was acknowledged holds, and
# nothing is left open. The library of contrib/fault/torture.c fails the Nth call of a worker. AUTHZ_FAULTS says how much is tried:
#   0    a few calls of the eight requests below
#   N    so many minutes: some calls of those, then of each operation of the interface in turn until the time is over. The first of
#        them is another one on each day; contrib/fault/run gives a share of its time
#   all  each allocation of those, and some calls of each of some 200 operations
# An argument is a pattern: only requests whose name it matches are made. What is wrong is told when it is seen.
use strict;
use warnings;

use Cwd      ();
use JSON::PP ();
use Test::More;
use Time::HiRes qw(time);

use Authz::Api ();
use Authz::Check;
use Authz::Client  ();
use Authz::Grant   ();
use Authz::Path    ();
use Authz::Process ();
use Authz::Stack   ();

# Longest time of an answer beside what it takes without a fault, in seconds, and where libpq had no memory and waits for what the
# database does not say (ANSWER_TIMEOUT_MS of store/db/trip/db_trip.c); faults of a request and kind in the short form, and in the others,
# where they are spread over all of its calls; by how many operations the first one of a day is behind that of the day before.
my ( $LATE, $SILENT, $SHORT, $LONG, $STRIDE ) = ( 2, 12, 2, 20, 10 );
my @KIND = qw(none malloc read write connect open random poll fsync);

die "AUTHZ_FAULTS is 0, a number of minutes, or all\n"
  if defined $ENV{AUTHZ_FAULTS} && $ENV{AUTHZ_FAULTS} !~ /\A(?:0|[1-9]\d*|all)\z/;
my $dir     = Authz::Process::directory();
my $library = "$dir/torture.so";
my $program = Authz::Path::program('authz.fcgi');
plan skip_all => 'a library of the sanitizers must come first' if `ldd $program` =~ /lib[au][sb]an/;
plan skip_all => 'AUTHZ_FAULTS is not set'                     if !defined $ENV{AUTHZ_FAULTS};
plan skip_all => 'no compiler'
  if system( 'cc', '-O1', '-shared', '-fPIC', '-o', $library, Authz::Path::source(qw(contrib fault torture.c)), '-ldl' )
  != 0;

open my $orders, '+>', "$dir/orders" or die "$dir/orders: $!";

# Give orders, or take them back and return the number of calls.
sub order {
    my ( $kind, $nth ) = @_;
    sysseek $orders, 0, 0;
    syswrite $orders, pack 'L3', $kind, $nth // 0, 0;
    return;
}

sub counted {
    sysseek $orders, 8, 0;
    sysread $orders, my ($octets), 4;
    order(0);
    return unpack 'L', $octets;
}
order(0);
my $stack = Authz::Stack->start(
    workers  => 1, web_workers => 1, bundles => 1,
    settings => { LD_PRELOAD => $library, AUTHZ_TORTURE => "$dir/orders", SVC_UMA_ENABLED => 'true' } );
my %cc   = ( grants => ['client_credentials'], scopes => ['orders.read'] );
my @crm  = $stack->make_client( 'crm',  \%cc );
my @once = $stack->make_client( 'once', { %cc, jit_single_use => true } );
my @rs   = $stack->make_client( 'rs',   { endpoints           => [qw(introspect authzen)] } );
my @web  = $stack->make_client(
    'web', { grants => ['authorization_code'], scopes => ['openid'] },
    redirectUris => [$Authz::Grant::REDIRECT] );
Authz::Grant->people( $stack, subject => 'alice' );
$stack->{http} = Authz::Client->new( port => $stack->{port}, timeout => 3 * $SILENT * Authz::Process::patience() )
  ;    # more than any limit below

# Ask until the answer is good, or has the status of before: after a fault the process connects again, or another one begins.
sub surely {
    my ( $ask, $before, $seconds ) = @_;
    my $answer;
    Authz::Process::until_true(
        $seconds // 20,
        sub {
            $answer = $ask->();
            delete $stack->{http}{socket} if $answer->failure;
            !$answer->failure && ( $answer->status < 500 || $answer->status == ( $before // 0 ) );
        } );
    return $answer;
}

sub token {
    my ($who) = @_;
    return surely( sub { $stack->token( @$who, scope => 'orders.read' ) } )->member('access_token');
}

sub look {
    my ($token) = @_;
    return surely( sub { $stack->introspect( @rs, $token ) } );
}

# Let another process begin, which reads what others have read already.
my $killed = 0;

sub new_worker {
    my ($old) = $stack->workers('core');
    $killed += kill 'KILL', $old;
    Authz::Process::until_true(
        20,
        sub {
            my ($new) = $stack->workers('core');
            defined $new && $new != $old;
        } );
    return;
}
my ( %live, @wrong, %seen );
my $made = 0;

# The requests: a name, what is made before each, the request, and what must hold afterwards if it was acknowledged; it returns a
# text if it does not hold. The long form fails each allocation of these, and some of the others.
my @request = (
    {   name  => 'token',
        ask   => sub { return $stack->token( @crm, scope => 'orders.read' ) },
        holds => sub {
            my ($answer) = @_;
            my $token = $answer->member('access_token') // return 'no token';
            $live{$token} = 1;
            return look($token)->member('active') ? undef : 'the token is not active';
        }
    },
    {   name  => 'introspect',
        make  => sub { return token( \@crm ) },
        ask   => sub { return $stack->introspect( @rs, $_[0] ) },
        holds => sub { return $_[0]->member('active') ? undef : 'a live token is told to be inactive' } },
    {   name  => 'revoke',
        make  => sub { return token( \@crm ) },
        ask   => sub { return $stack->revoke( @crm, token => $_[0] ) },
        holds => sub { return look( $_[1] )->member('active') ? 'the token is active' : undef } },
    {   name  => 'first revoke of a process',
        make  => sub { my $token = token( \@crm ); new_worker(); return $token },
        ask   => sub { return $stack->revoke( @crm, token => $_[0] ) },
        holds => sub { return look( $_[1] )->member('active') ? 'the token is active' : undef } },
    {   name  => 'single use',
        make  => sub { return token( \@once ) },
        ask   => sub { return $stack->introspect( @rs, $_[0] ) },
        holds => sub { return look( $_[1] )->member('active') && $_[0]->member('active') ? 'used twice' : undef } },
    {   name  => 'code',
        make  => sub { return Authz::Grant->code( $stack, client => 'web' ) },
        ask   => sub { return Authz::Grant->redeem( $stack, \@web, $_[0] ) },
        holds => sub {
            my $again = $_[1];
            return surely( sub { Authz::Grant->redeem( $stack, \@web, $again ) } )->status == 400
              ? undef
              : 'redeemed twice';
        }
    },
    {   name => 'client made',
        ask  => sub {
            my $name = 'made' . ++$made;
            return $stack->admin( POST => '/admin/api/clients', json => { clientId => $name, clientType => 'public' } );
        },
        holds => sub {
            my $id = $_[0]->member('clientId') // return 'no clientId';
            return surely( sub { $stack->admin( DELETE => "/admin/api/clients/$id" ) } )->status == 204
              ? undef
              : 'the client is not there';
        }
    },
    {   name => 'decision',
        ask  => sub {
            return $stack->http->post(
                '/access/v1/evaluation',
                headers => [ Authz::Client::basic(@rs) ],
                json    => {
                    subject  => { type => 'user',  id => 'alice' }, action => { name => 'read' },
                    resource => { type => 'order', id => '1' } } );
        }
    },
);

# Values of required parameters of a query.
my %QUERY = (
    dataKey       => 'torture.row', timestamp    => '2026-01-01T00:00:00Z', from => 1, to => 1, client_id => 'web',
    response_type => 'code',        redirect_uri => $Authz::Grant::REDIRECT );

# The path with something in its places and its query: for GET and PATCH what is there, if possible, and for others what is not.
sub filled {
    my ( $method, $path, $operation ) = @_;
    my ( $list, $name ) = $path =~ m!\A(/admin/api/[\w/-]+)/\{(\w+)\}!;
    my $there = $method eq 'GET' || $method eq 'PATCH';
    my $rows  = $there && defined $list ? $stack->admin( GET => $list )->json : undef;
    ($rows) = grep { ref eq 'ARRAY' } map { $rows->{$_} } sort keys %$rows if ref $rows eq 'HASH';
    my $row   = ref $rows eq 'ARRAY' && ref $rows->[0] eq 'HASH' ? $rows->[0] : {};
    my $what  = Authz::Client::escape( $row->{ $name // '' } // 999_999 );
    my @query = map { ( $_->{name} => $there && $QUERY{ $_->{name} } || 'x' ) }
      grep { $_->{in} eq 'query' && $_->{required} } @{ $operation->{parameters} // [] };
    return $path =~ s/\{\w+\}/$what/gr . ( @query ? '?' . Authz::Client::form(@query) : '' );
}

# The operations of the description of the interface. A row of policy data is there, which each PATCH changes.
sub operations {
    my $row =
      $stack->admin( PUT => "/admin/api/policy-data/by-key?dataKey=$QUERY{dataKey}", json => { payload => '{}' } );
    die 'no row of policy data: ' . $row->text if $row->status >= 300;
    my $paths = $stack->http->get('/openapi.json')->json->{paths};
    my @all;
    for my $path ( sort keys %$paths ) {
        for my $method ( sort map {uc} keys %{ $paths->{$path} } ) {
            next if $path =~ m{\A/(?:bundles|gateway/streams)};
            my $operation = $paths->{$path}{ lc $method };
            my $target    = filled( $method, $path, $operation );
            my $type      = ( keys %{ $operation->{requestBody}{content} // {} } )[0] // '';
            my $body      = sub {
                return
                    $type =~ /json/  ? ( json => $method eq 'PATCH' ? { number => ++$made } : {}, type => $type )
                  : $type =~ /x-www/ ? ( form => [ client_id => 'crm', token => 'x' ] )
                  :                    ();
            };
            push @all,
              { name => "$method $path", ask => sub { return $stack->admin( $method => $target, $body->() ) } };
        }
    }
    return @all;
}

# The same, from the one on that is the first of today.
sub from_today {
    my (@all) = @_;
    my $first = int( time / 86_400 ) * $STRIDE % @all;
    return @all[ $first .. $#all, 0 .. $first - 1 ];
}

sub wrong {
    my ($text) = @_;
    push @wrong, $text;
    diag($text);
    return;
}

sub is_late {
    my ( $began, $kind, $took ) = @_;
    return time - $began > $took + ( $KIND[$kind] eq 'malloc' ? $SILENT : $LATE ) * Authz::Process::patience();
}

# True if the error goes to the application by the browser (RFC 6749 4.1.2.1).
sub tells_client {
    my ($answer) = @_;
    return ( $answer->header('Location') // '' ) =~ /[?&]error=(?:server_error|temporarily_unavailable)&/;
}

# One fault. Return the number of calls of the kind.
sub one {
    my ( $request, $good, $kind, $nth ) = @_;
    my $thing = $request->{make} ? $request->{make}->() : undef;
    my $what  = "$request->{name}, $KIND[$kind] $nth";
    order( $kind, $nth );
    my $began  = time;
    my $answer = $request->{ask}->($thing);
    my $count  = counted();
    my $status = $answer->failure // $answer->status;
    wrong( sprintf '%s: late, %.1f s', $what, time - $began ) if is_late( $began, $kind, $request->{took} );
    wrong( "$what: $status " . $answer->text )
      if $status !~ /\A(?:\Q$good\E|40[0139]|50[0234]|closed|cut off)\z/ && !tells_client($answer);
    $seen{"$KIND[$kind] $status"}++;

    if ( $count >= $nth && $status =~ /\A2/ && $request->{holds} ) {
        my $text = $request->{holds}->( $answer, $thing );
        wrong("$what: $text") if defined $text;
    }
    delete $stack->{http}{socket} if $answer->failure;
    return $count;
}

# An answer for which there is no memory is a 500 without a body, which the description of the interface does not have.
{
    no warnings 'redefine';
    *Authz::Api::check = sub {return};
}

sub torture {
    my ( $request, $kind ) = @_;
    my $most  = $ENV{AUTHZ_FAULTS} ? $LONG                : $SHORT;
    my $thing = $request->{make}   ? $request->{make}->() : undef;
    my ( $good, $calls );
    surely(
        sub {
            order( $kind, 0 );
            my $began  = time;
            my $answer = $request->{ask}->($thing);
            ( $good, $calls, $request->{took} ) = ( $answer->status, counted(), time - $began );
            return $answer;
        },
        $request->{good},
        $request->{holds} ? 20 : 3 );
    $most = $calls if $ENV{AUTHZ_FAULTS} eq 'all' && $request->{holds} && $KIND[$kind] eq 'malloc';
    $request->{good} = $good;
    my $step = $calls > $most ? $calls / $most : 1;
    for ( my $nth = ( $step + 1 ) / 2 ; $nth <= $calls ; $nth += $step ) { one( $request, $good, $kind, int $nth ) }
    return $calls;
}

# Look at all tokens so far, before an operation changes policy.
sub held {
    return if !keys %live;
    is( join( ' ', grep { !look($_)->member('active') } sort keys %live ), '', 'each acknowledged token is active' );
    %live = ();
    return;
}
push @request, from_today( operations() ) if $ENV{AUTHZ_FAULTS};
@request = grep { $_->{name} =~ /$ARGV[0]/ } @request if @ARGV;
die "no request has such a name\n"                    if !@request;
my $until = $ENV{AUTHZ_FAULTS} =~ /\A[1-9]/ ? time + 60 * $ENV{AUTHZ_FAULTS} : undef;
my ( $calls, $taken ) = ( 0, 0 );
for my $request (@request) {
    last   if defined $until && time >= $until;
    held() if !$request->{holds};
    my $began = time;
    $calls += torture( $request, $_ ) for 1 .. $#KIND;
    note( sprintf '%s: %s, %.1f s', $request->{name}, $request->{good}, time - $began );
    $taken++;
    next if defined token( \@crm );
    wrong("$request->{name}: no token afterwards");
    last;
}
note("taken: $taken of ${\ scalar @request} requests, $calls calls");
note( join ', ', map {"$_: $seen{$_}"} sort keys %seen );
is( scalar @wrong, 0, 'each answer is that of before or an error, in time, and what was acknowledged holds (R7)' );
held();
my @ended = $stack->{service}->log_text =~ /worker ended.*?(signal \d+|status \d+)/g;
my %ended;
$ended{$_}++ for @ended;
note( 'workers ended: ', join ', ', map {"$_: $ended{$_}"} sort keys %ended );

# Where a process crashed: the frame below that of the signal. Each crash but those in libtasn1 is a fault of ours; an assertion of
# libfcgi is signal 6, and signal 9 is of new_worker alone.
my @crash = $stack->{service}->log_text =~ m{/torture\.so\S*\n\S*/libc\.so\S*\n(\S+)}g;
is( join( ', ', grep { !/\A(?:status \d+|signal 6|signal 9|signal 11)\z/ } sort keys %ended ),
    '', 'no process ended otherwise' );
is( join( ' ', grep { !/libtasn1/ } @crash ), '', 'no process crashed but in libtasn1, which GnuTLS signs with' );
is( $ended{'signal 11'} // 0, scalar @crash, '... and the place of each crash is known' );
cmp_ok( $ended{'signal 9'} // 0, '<=', $killed, 'no process was killed but by this test' );
is( $stack->sql(
        q{SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state LIKE 'idle in transaction%'}
    ),
    0,
    'no transaction is left open' );
ok( defined token( \@crm ), 'and it serves on' );
if (@wrong) {
    my ($name) = $wrong[0] =~ /\A(.*?)(?:, \w+ \d+)?: /;
    my $again  = join ' ', map {"$_->[0]=$_->[1]"}[ AUTHZ_BUILDDIR => $ENV{AUTHZ_BUILDDIR} // Cwd::getcwd() ],
      [ AUTHZ_OPA => Authz::Path::opa() ], [ AUTHZ_FAULTS => 1 ];
    diag("first: $wrong[0]");
    diag(
        "again: $again perl -I",
        join( ' ', map { Authz::Path::source( 't', @$_ ) } ['lib'], [qw(failure torture.t)] ), " '^\Q$name\E\$'" );
}

done_testing;

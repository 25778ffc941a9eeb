package Authz::Stack;

# The whole service, privately: PostgreSQL, authz.fcgi with its pools, lighttpd with the shipped configuration, and OPA with
# the shipped configuration. Everything listens on UNIX sockets or on a free loopback port, and ends with the test.

use strict;
use warnings;

use Time::HiRes qw(sleep time);

use Authz::Client   ();
use Authz::FakeOpa  ();
use Authz::Path     ();
use Authz::PgProxy  ();
use Authz::Pooler   ();
use Authz::Postgres ();
use Authz::Process  ();
use Authz::Secrets  ();
use Authz::Web      ();
use Authz::Witness  ();

my @started;

our %KEY = (
    SVC_ADMIN_API_KEY  => 'adm-3f1c9a7e5b2d48f6a0c1',
    SVC_ADMIN_PEPPER   => 'pep-9d27c4b1e86f4a53b7d0',
    SVC_CREDENTIAL_KEY => 'crd-5a8e01f7c93b4d62a4fb',
    SVC_BUNDLE_API_KEY => 'bun-c07b6e2f4d1948a5937e',
);

# The settings that authzctl and the service need at least; also for the template database.
sub base_settings {
    my ($url) = @_;
    return {
        %KEY, SVC_CONFIG => '/dev/null', SVC_DATABASE_URL => $url, SVC_DATA_DIR => data_dir(),
        SVC_OPA_BINARY => Authz::Path::opa(), SVC_RUNTIME_DIR => runtime_dir('run') };
}

# sql/, policy/ and www/ of the source tree, laid out as they are installed.
sub data_dir {
    my $dir = Authz::Process::directory() . '/data';
    if ( !-d $dir ) {
        mkdir $dir or die "$dir: $!";
        symlink Authz::Path::source('sql'), "$dir/sql" or die "symlink: $!";
        symlink Authz::Path::source( 'etc', 'policy' ),     "$dir/policy"     or die "symlink: $!";
        symlink Authz::Path::source( 'etc', 'connectors' ), "$dir/connectors" or die "symlink: $!";
        symlink Authz::Path::source( 'etc', 'www' ),        "$dir/www"        or die "symlink: $!";
    }
    return $dir;
}

# The engine of the service: OPA if the test stands in for OPA, else that of AUTHZ_TEST_ENGINE, else the default.
sub engine_settings {
    my ($self) = @_;
    my $engine = $self->{fake_opa} ? 'opa' : $ENV{AUTHZ_TEST_ENGINE};
    return (
        defined $engine                    ? ( SVC_POLICY_ENGINE => $engine ) : (),
        ( $engine // 'embedded' ) ne 'opa' ? Authz::Witness::settings()       : () );
}

sub runtime_dir {
    my $dir = Authz::Process::directory() . '/' . $_[0];
    mkdir $dir, 0700 or die "$dir: $!" if !-d $dir;
    return $dir;
}

# start(settings => {...}, workers => 4, web => 'lighttpd', beside => $stack, path => '/prefix',
#   fake_opa => 1, pg_proxy => 1, not_ready => 1, own_opa => 1, opa_edit => [qr/find/ => 'put', ...],
#   bundles => 2, web_workers => 4, gateway => 2)
#   beside: a second instance on that one's database and engine; with own_opa, as on another host, on an engine of its own.
#   role: the service connects as that role (Authz::Postgres::grant); AUTHZ_TEST_DATABASE=roles does so for each test.
#   strict: on a database that refuses what Authz::Postgres::make_strict says.
#   fake_opa, pg_proxy: stand-ins between the service and those. pooler: settings of a pgbouncer before PostgreSQL, behind
#   pg_proxy; AUTHZ_TEST_DATABASE=pooler starts one for each test but those with undef. opa_edit: changes to the shipped opa.yaml.
#   web_more: lines of the web server's configuration after the shipped file, for lighttpd and apache. web_modules: more
#   modules of apache.
#   bundles, web_workers: workers of those pools; the program's own defaults without. gateway: workers of that pool; without
#   it the web pool serves /gateway too.
sub start {
    my ( $class, %option ) = @_;
    my $number = ++( our $stacks );
    my $dir    = Authz::Process::directory() . "/s$number";
    mkdir $dir, 0755 or die "$dir: $!";
    my $beside = $option{beside};
    my $self =
      bless { number => $number, owner => $$, dir => $dir, workers => 4, web => 'lighttpd', path => '', %option },
      $class;
    $self->{postgres} = $beside ? $beside->{postgres} : $option{postgres} // Authz::Postgres->shared_or_new;
    $self->{database} = $beside ? $beside->{database} : $option{database}
      // $self->{postgres}->database( strict => $option{strict} );
    $self->{port} = Authz::Web::free_port();
    $self->{base} = "http://127.0.0.1:$self->{port}";
    $self->{role} //= $beside ? $beside->{role} : $self->{postgres}->grant( $self->{database} )
      if ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'roles';
    my $shares_opa = $beside && !$option{own_opa};
    $self->{opa_socket} = $shares_opa ? $beside->{opa_socket} : "$dir/opa.sock";
    $self->{http}       = $self->client;

    push @started, $self;
    if ( $option{fake_opa} ) {
        $self->{fake}    = Authz::FakeOpa->start( "$dir/fake.sock", $self->{opa_socket} );
        $self->{opa_url} = "unix:$dir/fake.sock";
    }
    $self->{pooler} = {} if ( $ENV{AUTHZ_TEST_DATABASE} // '' ) eq 'pooler' && !exists $option{pooler};
    $self->{pooler} &&= Authz::Pooler->start( "$dir/pool", $self->{postgres}, %{ $self->{pooler} } );
    $self->{front} = $self->{pooler}->socket if $self->{pooler};
    if ( $option{pg_proxy} ) {
        $self->{proxy} =
          Authz::PgProxy->start( $dir, $self->{front} // $self->{postgres}->socket, $Authz::Postgres::PORT );
        $self->{front} = $dir;
    }
    $self->{unplanned} = time;    # the workers have no plan yet
    $self->start_service if $self->{web} !~ /spawn|fcgid|cgi\z/;
    $self->{server} = Authz::Web->start( $self->{web}, $self );
    $self->start_opa   if !$shares_opa;
    $self->await_ready if !$option{not_ready};
    $self->await_plan  if !$option{not_ready} && $self->decides_in_process;
    return $self;
}

sub settings {
    my ($self) = @_;
    return {
        %{ base_settings( $self->database_url ) },
        SVC_RUNTIME_DIR               => runtime_dir("run$self->{number}"),
        SVC_OIDC_ISSUER               => "$self->{base}$self->{path}",
        SVC_OPA_URL                   => $self->{opa_url} // "unix:$self->{opa_socket}",
        SVC_RATE_LIMIT_ENABLED        => 'false',
        SVC_BUNDLE_CONFIRM_POLL_MS    => 50,
        SVC_BUNDLE_CONFIRM_TIMEOUT_MS => 25_000,                                           # for a busy machine
        $self->engine_settings, $self->pooler_settings,
        %{ $self->{settings} // {} },
    };
}

sub pooler_settings {
    my ($self) = @_;
    return if !$self->{pooler};
    return (
        SVC_DATABASE_URL        => $self->{postgres}->url( $self->{database}, $self->{front}, $self->{role} ),
        SVC_DATABASE_DIRECT_URL => $self->{postgres}->url( $self->{database}, undef,          $self->{role} ) );
}

# True if the workers decide by a plan, and not OPA, which is the default but under plain CGI.
sub decides_in_process {
    my ($self) = @_;
    return ( $self->settings->{SVC_POLICY_ENGINE} // ( $self->{web} =~ /-cgi\z/ ? 'opa' : 'embedded' ) ) eq 'embedded';
}

# What authz.conf would name: past a pooler, and past nothing else.
sub database_url {
    my ($self) = @_;
    return $self->{postgres}->url( $self->{database}, $self->{pooler} ? undef : $self->{front}, $self->{role} );
}

# The pools behind the web server.
sub start_service {
    my ($self) = @_;
    my @name   = ( qw(core web bundles), $self->{gateway} ? 'gateway' : () );
    my @pool   = map { ( '--listen', "$_=unix:$self->{dir}/$_.sock" ) } @name;
    unlink "$self->{dir}/gateway.sock";
    symlink 'web.sock', "$self->{dir}/gateway.sock" if !$self->{gateway};
    $self->{service} = Authz::Process->start(
        name    => "authz$self->{number}",
        env     => $self->settings,
        command => [
            Authz::Path::program('authz.fcgi'),
            '--workers',
            $self->{workers},
            map( { defined $self->{ $_->[1] } ? ( "--$_->[0]", $self->{ $_->[1] } ) : () } [ bundles => 'bundles' ],
                [ web     => 'web_workers' ],
                [ gateway => 'gateway' ] ),
            @pool ],
    );
    my $until = time + 60 * Authz::Process::patience();
    while ( grep { !-S "$self->{dir}/$_.sock" } @name ) {
        die "authz.fcgi does not start\n" if time > $until || !$self->{service}->alive;
        sleep 0.01;
    }
    return;
}

# The engine, with the shipped configuration.
sub start_opa {
    my ($self) = @_;
    my $config = Authz::Web::edit(
        Authz::Path::source( 'etc', 'opa', 'opa.yaml' ),
        qr{http://127\.0\.0\.1:8080}   => "$self->{base}$self->{path}",
        qr{^persistence_directory:.*}m => "persistence_directory: $self->{dir}/opa",
        @{ $self->{opa_edit} // [] },
    );
    Authz::Web::write_file( "$self->{dir}/opa.yaml", $config );
    $self->{opa} = Authz::Process->start(
        name => "opa$self->{number}",
        env  => {
            SVC_BUNDLE_API_KEY => $KEY{SVC_BUNDLE_API_KEY}, OPA_INSTANCE => "test-$self->{number}", GOGC => 400,
            GOMEMLIMIT         => '512MiB' },
        command => [
            Authz::Path::opa(), qw(run --server --config-file), "$self->{dir}/opa.yaml",
            qw(--log-level error --skip-version-check),
            '--addr', "unix://$self->{opa_socket}", '--unix-socket-perm', '660' ],
    );
    return;
}

sub await_ready {
    my ( $self,  $seconds ) = @_;
    my ( $until, $answer )  = time + ( $seconds // 60 * Authz::Process::patience() );
    do {
        $answer = $self->{http}->get("$self->{path}/health/ready");
        return 1 if $answer->status == 200;
        sleep 0.05;
    } while ( time < $until );
    die 'the service does not become ready: ' . $answer->text . "\n";
}

# Ask for readiness until the status is the wanted one, because each process keeps its result for a second. Return the last
# answer.
sub ready_as {
    my ( $self, $status ) = @_;
    my $until = time + 20;
    my $answer;
    do {
        sleep 0.05 if $answer;
        $answer = $self->{http}->get("$self->{path}/health/ready");
    } while ( $answer->status != $status && time < $until );
    return $answer;
}

# Wait until all workers decide by the plan of now. A worker that found none looks again after LOOK_AGAIN_MS of
# fcgi/policy/engine/engine_embedded.c, and asks OPA until then. True if the plan is there.
sub await_plan {
    my ($self) = @_;
    my $there = sub {
        my ($check) =
          grep { $_->{name} eq 'plan' } @{ $self->{http}->get("$self->{path}/health/ready")->member('checks') // [] };
        return 1 if $check && $check->{status} eq 'UP';
        $self->{unplanned} = time;
        return;
    };
    return unless defined Authz::Process::until_true( 30, $there );
    my $left = $self->{unplanned} + 1.1 - time;
    sleep $left if $left > 0;
    return 1;
}

# Stops and starts the service alone.
sub restart_service {
    my ( $self, %option ) = @_;
    $self->{service}->stop;
    $self->{settings} = { %{ $self->{settings} // {} }, %{ $option{settings} // {} } };
    $self->start_service;
    $self->await_ready;
    return;
}

# ---- talking to it

sub client { my ($self) = @_; return Authz::Client->new( port => $self->{port} ) }
sub http   { return $_[0]{http} }
sub base   { return $_[0]{base} }
sub fake   { return $_[0]{fake} }
sub proxy  { return $_[0]{proxy} }
sub sql    { my ( $self, $sql ) = @_; return $self->{postgres}->sql( $sql, $self->{database} ) }

sub authzctl {
    my ( $self, @words ) = @_;
    return Authz::Process->run(
        name    => 'authzctl', env => $self->settings,
        command => [ Authz::Path::program('authzctl'), @words ] );
}

# A request to the admin API with the admin key: admin(PATCH => target, json => {...}).
sub admin {
    my ( $self, $method, $target, %option ) = @_;
    my @key =
      exists $option{key}
      ? ( defined $option{key} ? ( 'X-Admin-API-Key' => $option{key} ) : () )
      : ( 'X-Admin-API-Key' => $KEY{SVC_ADMIN_API_KEY} );
    return $self->{http}
      ->request( $method, "$self->{path}$target", %option, headers => [ @key, @{ $option{headers} // [] } ] );
}

# Ask for a measurement (policy.md 7), or for a running one, and wait until it is done: its process has the lowest priority, so
# beside other work it may take longer than the 25 s that one request waits.
sub measured {
    my ( $self, $method, $target, %option ) = @_;
    my @wait   = ( Prefer => 'wait=25' );
    my $answer = $self->admin( $method, $target, %option, headers => [ @wait, @{ $option{headers} // [] } ] );
    my ($id)   = $answer->status == 202 ? $answer->member('id') : ();
    Authz::Process::until_true(
        240,
        sub {
            $answer = $self->admin( GET => "/admin/api/policy-impact/$id", headers => \@wait );
            return $answer->status != 202;
        } ) if defined $id;
    return $answer;
}

# A client with what it may do: make_client('crm', {grants => [...], ...}, clientType => 'public', ...). Returns (id, secret).
sub make_client {
    my ( $self, $id, $binding, %field ) = @_;
    my $answer = $self->admin(
        POST => '/admin/api/clients',
        json => { clientId => $id, clientType => 'confidential', enabled => JSON::PP::true(), %field } );
    die "client $id: " . $answer->text if $answer->status != 201;
    $self->bind( $id, $binding )       if $binding;
    return ( $id, $answer->member('clientSecret') );
}

# Merges into the bindings row; the policy is active when this returns.
sub bind {
    my ( $self, $id, $binding ) = @_;
    return $self->patch_row( 'svc.entitlements.bindings', { clients => { $id => $binding } } );
}

sub patch_row {
    my ( $self, $key, $patch ) = @_;
    my $answer = $self->admin( PATCH => "/admin/api/policy-data/by-key?dataKey=$key", json => $patch );
    die "PATCH $key: " . $answer->text             if $answer->status != 200;
    die "PATCH $key: not active: " . $answer->text if ( $answer->header('X-Policy-Activation') // '' ) ne 'confirmed';
    return $answer;
}

# POST /token with client_credentials; more form parameters may follow. A caller that looks at no answer wants the decision in the audit
# log, so a failure of the service ends the test.
sub token {
    my ( $self, $id, $secret, @more ) = @_;
    my $answer = $self->{http}->post(
        "$self->{path}/token", headers => [ Authz::Client::basic( $id, $secret ) ],
        form => [ grant_type => 'client_credentials', @more ] );
    die 'no decision: ' . $answer->status . ' ' . $answer->text . "\n" if !defined wantarray && $answer->status >= 500;
    return $answer;
}

# The access token itself, or the test is over.
sub token_text {
    my ( $self, @arguments ) = @_;
    my $answer = $self->token(@arguments);
    return $answer->member('access_token') // die 'no token: ' . $answer->text;
}

sub introspect {
    my ( $self, $id, $secret, $token, @more ) = @_;
    return $self->{http}->post(
        "$self->{path}/introspect", headers => [ Authz::Client::basic( $id, $secret ) ],
        form => [ token => $token, @more ] );
}

sub revoke {
    my ( $self, $id, $secret, @form ) = @_;
    return $self->{http}
      ->post( "$self->{path}/revoke", headers => [ Authz::Client::basic( $id, $secret ) ], form => \@form );
}

# Return the log line about an answer, which is written after it; '' if there is none.
sub log_line {
    my ( $self, $answer ) = @_;
    my $id = $answer->header('X-Request-ID');
    my $line;
    Authz::Process::until_true(
        30,
        sub {
            ($line) = grep {/\b\Q$id\E\b/} $self->{service}->log_lines;
            defined $line;
        } );
    return $line // '';
}

# Return how many open connections the workers of a pool have accepted. The kernel calls a connection that waits to be accepted
# `connecting` (2), not `connected` (3).
sub accepted {
    my ( $self, $pool ) = @_;
    open my $in, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    return scalar grep {m{ 0001 03 +\d+ \Q$self->{dir}/$pool.sock\E$}} readline $in;
}

# Pids of the workers of a pool, found by their listening socket; of all pools without a name.
sub workers {
    my ( $self, $pool ) = @_;
    return defined $pool ? $self->_holders( $pool, '01' ) : $self->{service}->children;
}

# Those that have a request in hand.
sub busy { my ( $self, $pool ) = @_; return $self->_holders( $pool, '03' ) }

# Workers with a socket of the pool in that state: 01 it listens, 03 it is an accepted connection.
sub _holders {
    my ( $self, $pool, $state ) = @_;
    my ( %wanted, @found );
    open my $in, '<', '/proc/net/unix' or die "/proc/net/unix: $!";
    while ( my $line = readline $in ) {
        $wanted{"socket:[$1]"} = 1 if $line =~ m{ \d{4} $state +(\d+) \Q$self->{dir}/$pool.sock\E$};
    }
    for my $pid ( $self->{service}->children ) {
        push @found, $pid if grep { $wanted{ readlink($_) // '' } } glob "/proc/$pid/fd/*";
    }
    return @found;
}

sub stop {
    my ($self) = @_;
    $_->stop for grep {defined} $self->{opa}, $self->{server}, $self->{service};
    return;
}

# No secret of the run may be in an audit row or a log line (Authz::Secrets), and no engine may have decided otherwise than the
# other (Authz::Witness). A failed file has been reported already.
END {
    my @ours = grep { $_->{owner} == $$ && $_->{service} } @started;
    if ( @ours && $? == 0 ) {
        Authz::Secrets::note( values %KEY );
        my @place = Authz::Secrets::search(@ours);
        print {*STDERR} "# a secret of this file can be read: $_\n" for @place;
        my @difference = Authz::Witness::differences(@ours);
        print {*STDERR} "# the engines differ in this file: $_\n" for @difference;
        print {*STDERR} '# decided again by OPA: ', Authz::Witness::counts(@ours), "\n" if Authz::Witness::wanted();
        $? = @place || @difference ? 1 : 0;    # waitpid has set it
    }
}

1;

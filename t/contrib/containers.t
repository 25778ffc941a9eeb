#!/usr/bin/perl
# contrib/containers: compose files and manifests follow the schemas of their platforms, the restricted profile of Pod Security, and
# the rules of doc/containers.md, and name images, accounts and settings that exist.
use strict;
use warnings;

use JSON::PP ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my ( $python, $compose_check, $manifest_check ) =
  map { Authz::Path::pypi($_) } qw(python3 check-jsonschema kubernetes-validate);
plan skip_all => 'no Python packages: run contrib/check once' if !$compose_check || !$manifest_check;

# The oldest Kubernetes that the manifests name (preStop.sleep and sidecars), and a new one.
my @KUBERNETES = qw(1.30.0 1.34.0);
my ( $USER, $ENGINE ) = ( 10_001, 10_002 );

my $dir  = Authz::Path::source( 'contrib', 'containers' );
my $json = JSON::PP->new->utf8->canonical->allow_nonref;
sub text_of { return Authz::Web::edit( Authz::Path::source(@_) ) }

sub run_of {
    my (@command) = @_;
    return Authz::Process->run( name => 'check', command => \@command );
}

# The documents of YAML files, by file.
sub documents {
    my (@file) = @_;
    my ( $status, $text ) = run_of(
        $python, '-c', 'import json, sys, yaml
print(json.dumps({name: list(yaml.safe_load_all(open(name))) for name in sys.argv[1:]}))', @file );
    is( $status, 0, 'the files are YAML' ) or BAIL_OUT($text);
    return $json->decode($text);
}

my @manifest = grep { !/kustomization/ } sort glob "$dir/kubernetes/*.yaml";
my @compose  = map  {"$dir/$_"} qw(compose.yml compose.production.yml);
my $of       = documents( @manifest, @compose, "$dir/kubernetes/kustomization.yaml" );
my %object;
for my $document ( map { @{ $of->{$_} } } @manifest ) {
    my $is_owner = $document->{metadata}{name} eq 'authz-owner';
    $object{ $is_owner ? 'Owner' : $document->{kind} } = $document;
}

# ---- schemas

for my $version (@KUBERNETES) {
    my ( $status, $text ) = run_of( $manifest_check, '-k', $version, '--strict', @manifest );
    is( $status, 0, "the manifests follow the schema of Kubernetes $version" ) or diag $text;
}
for my $file (@compose) {
    my ( $status, $text ) = run_of( $compose_check, '--builtin-schema', 'vendor.compose-spec', $file );
    is( $status, 0, ( $file =~ s{.*/}{}r ) . ' follows the schema of compose-spec' ) or diag $text;
}
my $wrong = Authz::Process::directory() . '/wrong.yaml';
for my $case (
    [ 'a name that is not there', "$dir/kubernetes/deployment.yaml", qr/readinessProbe/,     'readynessProbe' ],
    [ 'a number as text',         "$dir/kubernetes/deployment.yaml", qr/replicas: 2/,        'replicas: two' ],
    [ 'a name that is not there', "$dir/compose.yml",                qr/network_mode: none/, 'network_mod: none' ] )
{
    my ( $name, $file, @change ) = @$case;
    Authz::Web::write_file( $wrong, Authz::Web::edit( $file, @change ) );
    my @check =
      $file =~ /compose/
      ? ( $compose_check, '--builtin-schema', 'vendor.compose-spec', $wrong )
      : ( $manifest_check, '-k', $KUBERNETES[0], '--strict', $wrong );
    isnt( ( run_of(@check) )[0], 0, 'refused: ' . ( $file =~ s{.*/}{}r ) . " with $name" );
}

# ---- the manifests agree with each other

my %pod = map { ( $_ => $object{$_}{spec}{template}{spec} ) } qw(Deployment Job);
$pod{CronJob} = $object{CronJob}{spec}{jobTemplate}{spec}{template}{spec};
is_deeply(
    [ sort @{ $of->{"$dir/kubernetes/kustomization.yaml"}[0]{resources} } ],
    [ map {s{.*/}{}r} grep { !/example/ } @manifest ],
    'kustomization.yaml names each manifest but the secrets' );
for my $kind ( grep { $_ ne 'Namespace' } sort keys %object ) {
    is( $object{$kind}{metadata}{namespace}, $object{Namespace}{metadata}{name},
        "$kind is in the namespace, however it is applied" );
}
for my $kind ( sort keys %pod ) {
    my $spec = $pod{$kind};
    is( $spec->{securityContext}{seccompProfile}{type}, 'RuntimeDefault', "$kind: seccomp (restricted profile)" );
    ok( $spec->{securityContext}{runAsNonRoot}, '... not as root' );
    ok( !$spec->{automountServiceAccountToken}, '... without a token for the API of Kubernetes' );
    for my $container ( @{ $spec->{initContainers} // [] }, @{ $spec->{containers} } ) {
        my $own       = $container->{securityContext};
        my $user      = $own->{runAsUser} // $spec->{securityContext}{runAsUser};
        my $is_engine = $container->{image} =~ /authz-opa/;
        is( $user, $is_engine ? $ENGINE : $USER, "$kind, $container->{name}: the account of the image" );
        ok( $own->{readOnlyRootFilesystem} && !$own->{allowPrivilegeEscalation},
            '... read-only, without new privileges' );
        is_deeply( $own->{capabilities}, { drop => ['ALL'] }, '... without capabilities' );
        ok( $container->{resources}{limits}{memory} && $container->{resources}{requests}{cpu}, '... with limits' );
        my %volume = map { ( $_->{name} => $_ ) } @{ $spec->{volumes} };
        is( scalar( grep { !$volume{ $_->{name} } } @{ $container->{volumeMounts} } ), 0,
            '... mounts volumes that are there' );
        my @secret = grep { $volume{ $_->{name} }{secret} } @{ $container->{volumeMounts} };
        is_deeply(
            [ map { $volume{ $_->{name} }{secret}{secretName} } @secret ],
            [ 'authz', $kind eq 'Deployment' ? () : 'authz-owner' ],
            '... has the secrets of the service, and the address of the owner of the tables if it is a job' );
        is_deeply(
            $volume{ $secret[0]{name} }{secret}{items}, [ { key => 'bundle_api_key', path => 'bundle_api_key' } ],
            '... the engine one key and no other' ) if $is_engine;
    }
}
my ($service) = @{ $pod{Deployment}{containers} };
my ($engine)  = @{ $pod{Deployment}{initContainers} };
is( $service->{readinessProbe}{httpGet}{path}, '/health/ready', 'readiness is that of the service' );
is( $service->{$_}{httpGet}{path}, '/health/live', "$_ asks whether it runs" ) for qw(livenessProbe startupProbe);
is( $engine->{restartPolicy},      'Always',       'the engine outlives the service in a stop' );
is( $object{Deployment}{spec}{strategy}{rollingUpdate}{maxUnavailable}, 0, 'a rolling update has no gap' );
cmp_ok(
    $object{Deployment}{spec}{replicas}, '>', $object{PodDisruptionBudget}{spec}{minAvailable},
    'a node can be drained' );
is_deeply( $pod{Job}{containers}[0]{args},     [qw(db migrate --grant authz)], 'the job makes the schema' );
is_deeply( $pod{CronJob}{containers}[0]{args}, ['maintain'],                   '... another one drops old partitions' );
for my $kind (qw(Job CronJob)) {
    my %env = map { ( $_->{name} => $_->{value} ) } @{ $pod{$kind}{containers}[0]{env} };
    is( $env{SVC_DATABASE_URL_FILE}, '/run/secrets/authz-owner/database_url', "$kind: as the owner of the tables" );
}
like( $object{Owner}{stringData}{database_url},  qr{^postgresql://authz-owner:}, '... which is another role' );
like( $object{Secret}{stringData}{database_url}, qr{^postgresql://authz:},       '... than that of the service' );
is( $pod{Job}{containers}[0]{image}, $service->{image}, '... by the image of the service' );
my ($stop)  = text_of(qw(cli serve.c))               =~ /^#define WEB_STOP_MS (\d+)000$/m;
my ($phase) = text_of(qw(doc reference settings.md)) =~ /^\| `SHUTDOWN_PHASE_TIMEOUT` \|[^|]*\|[^|]*\| `?(\d+)s?`? \|/m;
cmp_ok(
    $pod{Deployment}{terminationGracePeriodSeconds},
    '>', $service->{lifecycle}{preStop}{sleep}{seconds} + $stop + $phase,
    'a stop has the time that its parts may take' );
for my $kind (qw(Service PodDisruptionBudget)) {
    my $selector = $object{$kind}{spec}{selector};
    is_deeply(
        $selector->{matchLabels} // $selector,
        $object{Deployment}{spec}{template}{metadata}{labels},
        "$kind selects the pods" );
}

# ---- settings and secrets

my %setting = map { ( $_ => 1 ) } text_of(qw(doc reference settings.md)) =~ /^\| `(S\w+)` \|/mg;
my %key     = map { ( $_ => 1 ) } keys %{ $object{Secret}{stringData} };
my %parts   = map { ( $_ => $of->{"$dir/$_"}[0] ) } qw(compose.yml compose.production.yml);
my %set     = (
    'settings.yaml' => $object{ConfigMap}{data},
    map { ( $_ => $parts{$_}{services}{authz}{environment} ) } sort keys %parts );
for my $file ( sort keys %set ) {
    is( join(
            ' ', grep { my $name = $_ =~ s/_FILE\z//r; !$setting{$_} && !$setting{$name} } sort keys %{ $set{$file} } ),
        '',
        "$file: each name is a setting" );
    is( scalar( grep {/_(?:KEY|PEPPER|TOKEN)\z/} keys %{ $set{$file} } ), 0, '... and no secret stands in it' );
    my @named = map {s{.*/}{}r} grep {m{\A/run/secrets/|\A/trial/}} values %{ $set{$file} };
    cmp_ok( scalar @named, '>=', 4, '... files have them' );
    is( join( ' ', grep { !$key{$_} } @named ), '', '... which secrets.example.yaml has, too' );
}

# ---- the compose files

for my $file ( sort keys %parts ) {
    my $services = $parts{$file}{services};
    for my $name ( sort keys %$services ) {
        my $part = $services->{$name};
        ok( $part->{stop_grace_period}, "$file, $name: has time to stop" ) if $name ne 'migrate';
        next                                                               if $name eq 'database';
        ok( $part->{read_only}, "$file, $name: read-only" );
        is_deeply( $part->{cap_drop}, ['ALL'], '... without capabilities' );
        is( scalar( grep {/\b[ug]id=/} @{ $part->{tmpfs} // [] } ), 0, '... tmpfs with the options that Podman has' );
        is( scalar( grep {/\A(?!127\.0\.0\.1:)/} @{ $part->{ports} // [] } ), 0, '... published on this host alone' );
        my @volume = grep { !m{\A\./} } map {s/:.*//r} @{ $part->{volumes} // [] };
        is( scalar( grep { !exists $parts{$file}{volumes}{$_} } @volume ), 0, '... volumes that are declared' );
        is( scalar( grep { !$parts{$file}{secrets}{$_} } @{ $part->{secrets} // [] } ), 0, '... secrets, too' );
        my $needs = $part->{depends_on} // {};
        is( scalar( grep { !$services->{$_} } ref $needs eq 'HASH' ? keys %$needs : @$needs ), 0,
            '... after services that are there' );
    }
    is_deeply(
        $services->{authz}{group_add}, ["$ENGINE"],
        "$file: the service enters the socket of the engine by its group" );
}
my ( $trial, $production ) = map { $parts{$_}{services} } qw(compose.yml compose.production.yml);

# What stays in the network of a service that has restarted reaches nothing, so it restarts too, or has a network of its own.
my @beside = grep { !$trial->{$_}{depends_on}{instance} && !$trial->{$_}{depends_on}{demo} }
  grep { ( $trial->{$_}{network_mode} // '' ) eq 'service:authz' } sort keys %$trial;
is_deeply( \@beside, [qw(demo opa orders)], 'compose.yml: programs in the network of the service' );
ok( $trial->{$_}{depends_on}{authz}{restart}, "... $_ restarts with it" ) for @beside;
is( scalar( grep { $_->{network_mode} } values %$production ), 0,
    'compose.production.yml: no service has the network of another' );
is_deeply( $production->{opa}{networks}, ['engine'], '... the engine has one of its own' );
ok( $parts{'compose.production.yml'}{networks}{engine}{internal}, '... with no way out' );
is_deeply( $production->{authz}{networks}, [qw(default engine)], '... to the service alone' );
is_deeply(
    [   map {
            scalar grep {/owner/}
              @{ $production->{$_}{secrets} }
        } qw(authz opa migrate) ],
    [ 0, 0, 1 ],
    '... and the address of the owner of the tables is for migrations alone' );
is( $production->{migrate}{environment}{SVC_DATABASE_URL_FILE}, '/run/secrets/database_owner_url', '... which use it' );
my ($port) = text_of(qw(contrib containers web lighttpd.conf)) =~ /^server[.]port = (\d+)$/m;
is( ( grep {/services[.]svc[.]url/} @{ $production->{opa}{command} } )[0],
    "--set=services.svc.url=http://authz:$port/bundles", '... where it fetches its policy by name' );
is_deeply( $production->{opa}{secrets}, ['bundle_api_key'], 'the engine gets one key' );

# ---- limits of memory (doc/sizing.md)

my %unit = ( k => 1, m => 1024, g => 1024 * 1024, Ki => 1, Mi => 1024, Gi => 1024 * 1024 );

sub kilobytes {
    my ( $number, $word ) = ( $_[0] // '' ) =~ /\A(\d+)([kmg]|[KMG]i)\z/ or return 0;
    return $number * $unit{$word};
}
my ($goal) = text_of(qw(contrib lib images.sh)) =~ /--env GOMEMLIMIT=(\d+)MiB /;
my ($room) = $production->{authz}{tmpfs}[0]     =~ /,size=(\w+)\z/;
my ($run)  = map { $_->{emptyDir}{sizeLimit} } grep { $_->{name} eq 'run' } @{ $pod{Deployment}{volumes} };
for my $case (
    [ 'compose.production.yml', kilobytes($room), map { kilobytes( $production->{$_}{mem_limit} ) } qw(authz opa) ],
    [ 'deployment.yaml', kilobytes($run), map { kilobytes( $_->{resources}{limits}{memory} ) } $service, $engine ] )
{
    my ( $file, $files, $all, $engines ) = @$case;
    cmp_ok( $files,   '>', 0,            "$file: the files of the service have a limit" );
    cmp_ok( $all,     '>', $files,       '... below that of its memory, with which they count' );
    cmp_ok( $engines, '>', $goal * 1024, '... the engine collects its garbage below its limit' );
}
ok( $production->{$_}{mem_limit} && $production->{$_}{pids_limit}, "compose.production.yml, $_: limits" )
  for sort keys %$production;

# fcgi/http/fetch/fetch_address.c refuses an address of IPv4 in that of a translator, too.
my %except =
  map { ( $_->{cidr} => $_->{except} ) }
  grep {$_} map { $_->{ipBlock} } map { @{ $_->{to} // [] } } @{ $object{NetworkPolicy}{spec}{egress} };
my @translated =
  map {
    my ( $octets, $bits ) = ( [ split /[.]/, ( split m{/} )[0] ], ( split m{/} )[1] );
    sprintf '64:ff9b::%x:%x/%d', $octets->[0] * 256 + $octets->[1], $octets->[2] * 256 + $octets->[3], 96 + $bits
  } @{ $except{'0.0.0.0/0'} };
cmp_ok( scalar @translated, '>=', 4, 'NetworkPolicy: addresses of IPv4 inside the cluster are left out' );
my %left_out = map { ( $_ => 1 ) } @{ $except{'::/0'} };
is( join( ' ', grep { !$left_out{$_} } @translated, '64:ff9b:1::/48' ),
    '', '... and the same ones by way of NAT64 (RFC 6052 2.1, RFC 8215)' );

# An address of the database in an example is of another machine, so its server is verified (doc/tls.md 7).
for my $file ( [qw(contrib containers kubernetes secrets.example.yaml)], [qw(doc containers.md)] ) {
    my @address = text_of(@$file) =~ m{(postgresql://\S+@\w[^\s`']*)}g;
    is( scalar( grep { !/[?]sslmode=verify-full&sslrootcert=/ } @address ), 0,
        "$file->[-1]: each database is verified" );
    ok( scalar @address, '... and there is one' );
}

# ---- names of one version and of one account everywhere

my ($version) = text_of('configure.ac') =~ /^AC_INIT\(\[authz\], \[([\d.]+)\]/m;
my $images = text_of(qw(contrib lib images.sh));
like( $images, qr/^IMAGE_USER=$USER$/m,          'the account of the images is that of the files' );
like( $images, qr/^IMAGE_ENGINE_USER=$ENGINE$/m, '... and that of the engine' );
for my $file ( @manifest, @compose ) {
    my @tag = Authz::Web::edit($file) =~ m{(?<!//)\bauthz(?:-opa|-demo)?:(\d[\w.]*)}g;
    is( scalar( grep { $_ ne $version } @tag ), 0, ( $file =~ s{.*/}{}r ) . " names images of version $version alone" );
}

# ---- what the images contain

my @row = grep { !/\A(?:#|\z)/ } split /\n/, text_of(qw(contrib containers image-files));
is( scalar( grep { !m{\A(?:authz|authz-opa|web:lighttpd|web:apache)\s+\S+\s+(?!/)\S+\z} } @row ), 0,
    'image-files: each row has three words' );
my %module = map { ( $_ => 1 ) } map { m{mod_(\w+)\.so\z} ? $1 : () } @row;
my $web    = text_of(qw(contrib containers web apache2.conf));
is( join( ' ', grep { !$module{$_} } $web =~ m{/mod_(\w+)\.so$}mg ), '',
    'apache2.conf loads modules that the image has' );
my $lighttpd = join "\n", text_of(qw(contrib containers web lighttpd.conf)),
  map { text_of( 'etc', 'lighttpd', $_ ) } qw(authz.conf authz-limits.conf authz-portal.conf);
my %inside = map { ( $_ => 1 ) } qw(access alias expire fastcgi redirect setenv);    # compiled into Debian's lighttpd
is( join( ' ', grep { !$module{$_} && !$inside{$_} } $lighttpd =~ /"mod_(\w+)"/g ), '',
    '... and so does lighttpd.conf' );

# What strangers send is on no file system that holds shared state, and has a limit (security-operations H1).
my ($uploads) = text_of(qw(contrib containers web lighttpd.conf)) =~ /^server\.upload-dirs = \( "([^"]+)" \)$/m;
my ($shared)  = $images                                           =~ m{--env SVC_RUNTIME_DIR=(/run/authz)/shared };
isnt( $uploads, $shared, 'bodies in transit are not where the shared files are' );
for my $file (qw(compose.yml compose.production.yml)) {
    my $text = text_of( 'contrib', 'containers', $file );
    like( $text, qr{"\Q$_\E:mode=1777,size=\d+m"}, "$file: $_ is a file system of its own with a limit" )
      for $uploads, $shared;
}
my $deployment = text_of(qw(contrib containers kubernetes deployment.yaml));
for my $path ( $uploads, $shared ) {
    my ($volume) = $deployment =~ /\{name: (\w+), mountPath: \Q$path\E\}/;
    like(
        $deployment,
        qr/\{name: $volume, emptyDir: \{medium: Memory, sizeLimit: \d+Mi\}\}/,
        "deployment.yaml: $path is a file system of its own with a limit" );
}
like( text_of(qw(cli serve.c)), qr/"TMPDIR=\Q$uploads\E"/,  'Apache has its bodies there too (apr_temp_dir_get)' );
like( $images,                  qr{\./run/authz-uploads$}m, 'the image has the directory' );

# ---- contrib/check --images

# A build that fails fails the check, whatever archives of an earlier one are there.
my $tree = Authz::Process::directory();
mkdir "$tree/$_" or die "$tree/$_: $!" for qw(contrib contrib/debs);
Authz::Web::write_file( "$tree/contrib/debs/$_", "#!/bin/sh\n" ) for qw(run compose);
Authz::Web::write_file( "$tree/contrib/images", qq{#!/bin/sh\n[ "\$1" = try ]\n} );
chmod 0755, map {"$tree/contrib/$_"} qw(debs/run debs/compose images);
my $checks = Authz::Path::source(qw(contrib lib checks.sh));
for my $case ( [ '', 'a build that fails fails the check' ], [ 'exit 0', 'one that succeeds passes' ] ) {
    my ( $end, $name ) = @$case;
    Authz::Web::write_file( "$tree/contrib/images", qq{#!/bin/sh\n$end\n[ "\$1" = try ]\n} );
    chmod 0755, "$tree/contrib/images";
    my ($status) = run_of( 'bash', '-euc', qq{TOP="\$1" WORK="\$1"; . "\$2"; check_images}, 'images', $tree, $checks );
    is( $status == 0 ? 1 : 0, $end ? 1 : 0, "contrib/check --images: $name" );
}

done_testing;

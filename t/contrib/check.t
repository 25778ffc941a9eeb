# Each mode of contrib/check begins from a clean clone: a tree without configure and without anything that was built. What takes long is
# replaced - the compiler, the tests, and the programs that need root or the network - and says what it was asked; the shell functions
# of contrib/lib run as they are. A run that fails ends with what failed first and the command that repeats it, and keeps its logs.
use strict;
use warnings;

use File::Temp ();
use Test::More;

use Authz::Path    ();
use Authz::Process ();
use Authz::Web     ();

my $top  = Authz::Path::source('.');
my $room = File::Temp->newdir( 'azt-check-XXXXXX', DIR => '/tmp' );
my ( $clone, $bin, $said ) = ( "$room/clone", "$room/bin", "$room/said" );

sub sh {
    my ($line) = @_;
    my ( $status, $text ) = Authz::Process->run(
        name    => 'sh', timeout => 60 * Authz::Process::patience(),
        command => [ 'bash', '-euc', $line ] );
    die "$line: $text" if $status != 0;
    return $text;
}

sub program {
    my ( $path, $text ) = @_;
    sh("rm -f '$path' && mkdir -p \"\$(dirname '$path')\"");
    Authz::Web::write_file( $path, $text );
    chmod 0755, $path or die "$path: $!";
    return;
}

# ---- the clone: the scripts, and the names of tests

sh(<<"END");
mkdir -p $clone/{fcgi,cli,sql,doc/reference,debian,.ci,etc/www/languages,etc/policy,t}
cd $top
cp -r build-aux contrib configure.ac Makefile.am $clone
find t -name '*.t' -o -path t/fuzz/run -o -path t/runs | tar -cf - -T - | tar -xf - -C $clone
END
my $asked = qq(#!/bin/bash\nprintf '%s %s\\n' "\${0#$clone/}" "\$*" >>$said\n);
program( "$clone/$_", $asked )
  for qw(contrib/debs/run contrib/debs/install contrib/debs/compose contrib/images contrib/cluster contrib/quickstart
  contrib/fault/run contrib/fault/soak etc/policy/run-tests);

# ---- what stands for programs of the machine

program(
    "$bin/dpkg-query",
    qq(#!/bin/sh\nawk '/^[^#]/ { sub(/[|].*/, "", \$2); print "ii", \$2 }' $clone/build-aux/packages\n) );
program( "$bin/$_",  qq(#!/bin/sh\nprintf '%s %s\\n' $_ "\$*" >>$said\n) ) for qw(fuzz_good valgrind apt-get sudo);
program( "$bin/git", <<"END");
#!/bin/sh
printf 'git %s\\n' "\$*" >>$said
case "\$*" in
*archive*) tar -C $clone -cf - build-aux contrib configure.ac ;;
esac
END
program( "$room/opa",         qq(#!/bin/sh\necho 'Version: 1.20.2'\n) );
program( "$room/node",        qq(#!/bin/sh\necho v22.1.0\n) );
program( "$room/pgbouncer",   qq(#!/bin/sh\necho 'PgBouncer 1.25.0'\n) );
program( "$room/pypi/bin/$_", qq(#!/bin/sh\n) ) for qw(schemathesis openapi-spec-validator);
sh("mkdir -p $room/modules/puppeteer-core $room/keycloak && : >$room/keycloak/built");

# A program of t/fuzz: it finds an input if the run is to fail, and breaks on that input.
program( "$room/fuzz_bad", <<'END');
#!/bin/bash
for word; do case $word in -artifact_prefix=*) prefix=${word#*=} ;; esac; done
if [ -z "${prefix-}" ]; then grep -q broken "$1" && exit 77; fi
[ "${CHECK_FAILS-}" = fuzz ] || exit 0
echo broken >"${prefix}crash-1"
echo 'bad.c:7: this does not hold'
exit 77
END

# configure, whose Makefile makes nothing and says what it was asked.
Authz::Web::write_file( "$room/Makefile", <<"END" );
.SILENT:
all:
	echo "make all" >>$said
install:
	mkdir -p PREFIX/bin && printf '#!/bin/sh\\n' >PREFIX/bin/authzctl && chmod 755 PREFIX/bin/authzctl
check:
	echo "make check: \$(TESTS)" >>$said
	mkdir -p t/base && printf '#!/bin/sh\\n' >t/base/x-t && chmod 755 t/base/x-t
	if [ "\$\$CHECK_FAILS" = check ]; then echo 'not ok 1 - early'; echo 'not ok 2 - late'; \\
	  printf '# first: the first difference\\n# again: contrib/check --differential 1 --seed 7\\n'; exit 1; fi
	echo '# decided again by OPA: same 3'; echo 'Files=1, Tests=1, 1 wallclock secs'
fuzz:
	echo "make fuzz: \$(FUZZ_SECONDS)" >>$said
	mkdir -p t/fuzz && cp $room/fuzz_bad t/fuzz/fuzz_bad && cp $bin/fuzz_good t/fuzz/fuzz_good
	$clone/t/fuzz/run --seconds "\$(FUZZ_SECONDS)" --found "\$(FUZZ_FOUND)"
END
program( "$bin/autoreconf", <<"END");
#!/bin/bash
cat >configure <<'CONFIGURE'
#!/bin/bash
printf 'configure %s\\n' "\$*" >>$said
for word; do case \$word in --prefix=*) prefix=\${word#*=} ;; esac; done
sed "s|PREFIX|\$prefix|g" $room/Makefile >Makefile
: >config.status
CONFIGURE
chmod 755 configure
END

# Run contrib/check in the clone, made clean again. Return its status and what it printed.
sub check {
    my ( $words, %env ) = @_;
    unlink $said;
    sh( "rm -rf $clone/configure $clone/config.* $clone/sources.am $room/tmp && mkdir -p $room/tmp $room/home && : >$said"
    );
    my %none = map { ( $_ => undef ) } grep {/\A(?:AUTHZ_|MAKE|MFLAGS|TESTS|RUN_OPTIONS|DEBS_)/} keys %ENV;
    delete local @ENV{ keys %none };
    return Authz::Process->run(
        name => 'check',
        env  => {
            PATH           => "$bin:$ENV{PATH}", HOME            => "$room/home", XDG_CACHE_HOME     => "$room/home",
            AUTHZ_OPA      => "$room/opa",       AUTHZ_NODE      => "$room/node", AUTHZ_NODE_MODULES => "$room/modules",
            AUTHZ_PYPI     => "$room/pypi",      AUTHZ_PGBOUNCER => "$room/pgbouncer",
            AUTHZ_KEYCLOAK => "$room/keycloak",  %env },
        command => [ 'bash', '-c', qq(cd $clone && exec contrib/check $words) ],
        timeout => 120 * Authz::Process::patience() );
}
sub said { return Authz::Web::edit($said) }

# ---- each mode

# Its words, and what it asks for.
my @mode = (
    [ '--only gcc,opa,bench', qr{^make check: t/contrib/bench[.]t$}m ],
    [ '--only tests',         qr{^make check: (?!.*t/cli/config[.]t).*t/http/token/token[.]t}m ],
    [ '--only others',        qr{^make check: (?!.*t/http/token/token[.]t).*t/cli/config[.]t}m ],
    [   '--only analyzer,clang,sanitize',
        qr{^configure .*--enable-analyzer.*^configure .*CC=clang.*^configure .*--enable-sanitize}ms ],
    [ 't/base/utf8-t',             qr{^make check: t/base/utf8-t$}m ],
    [ '--sanitize',                qr{^configure .*--enable-sanitize.*^make check}ms ],
    [ '--valgrind',                qr{^valgrind .*t/base/x-t$}m ],
    [ "--fuzz 3 --dir $room/fuzz", qr{^configure .*--enable-fuzz.*^make fuzz: 3$}ms ],
    [ '--cedar',                   qr{^make check: t/cli/cedar[.]t}m ],
    [ '--random t/base/x-t',       qr{^make check: t/base/x-t$}m ],
    [ '--witness',                 qr{^make check: t/http/}m ],
    [ '--differential 5',          qr{^make check: t/rego/differential[.]t$}m ],
    [ '--packages',                qr{^contrib/debs/run }m ],
    [ '--install',                 qr{^contrib/debs/install }m ],
    [ '--cluster 1',       qr{^contrib/cluster up .*^contrib/cluster storm --times 1.*^contrib/cluster down}ms ],
    [ '--strict-database', qr{^make check: t/http/}m ],
    [ '--database-roles',  qr{^make check: t/http/}m ],
    [ '--pooler',          qr{^make check: t/store/pooler[.]t t/http/}m ],
    [ '--faults',          qr{^contrib/fault/run }m ],
    [ '--soak 1',          qr{^contrib/fault/soak --hours 1 }m ],
    [ '--rolling',         qr{^git .*archive.*^make check: t/failure/rolling[.]t$}ms ],
    [ '--site',            qr{^make check: t/contrib/site[.]t$}m ],
    [ '--images',          qr{^contrib/images try --web apache}m ],
);
my %modifier = map { ( $_ => 1 ) } qw(--only --all --rest --seed --suite --dir);
my ( undef, $usage ) = check('--help');
like( $usage, qr/^  \Q$_\E: \S/m, "--help names the check $_" ) for qw(format gcc tests bench);
my ($synopsis) = $usage =~ /\Ausage: (.*?)\n\n/s;
my %taken = map { ( $_ => 1 ) } map { $_->[0] =~ /(--[a-z-]+)/g } @mode;
is( join( ' ', sort grep { !$taken{$_} && !$modifier{$_} } $synopsis =~ /(--[a-z-]+)/g, $usage =~ /^  (--[a-z-]+)/mg ),
    '',
    'each mode is taken' );

for my $mode (@mode) {
    my ( $words,  $wanted ) = @$mode;
    my ( $status, $text )   = check($words);
    is( $status, 0, "contrib/check $words runs from a clean clone" ) or diag $text;
    like( said(), $wanted,                                     '... and does what it says' );
    like( $text,  qr/^checks: [1-9]\d* passed, 0 failed\n\z/m, '... and says so at its end' );
}

# ---- the two runs: each test is in one of them, and the files that t/runs names are there

my $of = q(TOP="$1"; . "$1/contrib/lib/checks.sh"; files_of );
my %in;
push @{ $in{$_} }, 'core' for split /\n/, lists('core');
push @{ $in{$_} }, 'rest' for split /\n/, lists('rest');
is( join( ' ', grep { @{ $in{$_} } != 1 } sort keys %in ), '', 'each file is in one run' );
is( join( ' ', grep { !-e "$top/$_" } sort( keys %in ), split /\n/, lists('sanitize') ), '', '... and is there' );
chomp( my @every = split /^/, sh("cd $top && ls t/*/*.t t/*/*/*.t") );
is( join( ' ', sort keys %in ), join( ' ', sort @every ), '... and no other' );

sub lists {
    my ($run) = @_;
    my ( $ended, $list ) =
      Authz::Process->run( name => 'lists', command => [ 'bash', '-euc', "$of $run", 'lists', $top ] );
    die $list if $ended != 0;
    return $list;
}

ok( !-e "$room/fuzz-found", 'a run that finds nothing leaves no folder for it' );

# ---- runs that fail

my ( $status, $text ) = check( '--fuzz 3', CHECK_FAILS => 'fuzz' );
isnt( $status, 0, 'a program of t/fuzz that breaks fails the run' );
my ( $first, $again ) = $text =~ /^fuzz: first: (.*)\nagain: (.*)\n(?:failed:.*\n)?checks: 0 passed, 1 failed\n\z/m;
like( $first, qr/\Abad: bad[.]c:7: this does not hold; /, '... which ends with what it found first' ) or diag $text;
my ( $program, $input ) = split / /, $again // '';
ok( -s ( $input // '' ), '... and the input, which is kept' );
my ($logs) = $text =~ /logs are in (\S+)$/m;
ok( defined $logs && -s "$logs/fuzz.log", '... and the logs, which are kept' );
( $status, undef ) = Authz::Process->run( name => 'again', command => [ $program, $input ] );
is( $status >> 8 || $status, 77, '... and the command, which repeats it' );
my ($work) = ( $logs // '' ) =~ m{\A(/tmp/authz-check-\w+)/log\z};
isnt( index( $input // '', "$work/" ), 0, '... outside the folder of the run' );
sh("rm -rf $work $work-found") if defined $work;

( $status, $text ) = check( '--differential 5', CHECK_FAILS => 'check' );
isnt( $status, 0, 'a difference fails the run' );
like(
    $text,
    qr/^tests: first: the first difference\nagain: contrib\/check --differential 1 --seed 7\nfailed:.*\nchecks: 1 passed, 1 failed\n\z/m,
    '... which ends with the first difference and the command that repeats it' );
sh("rm -rf $1") if $text =~ m{logs are in (/tmp/authz-check-\w+)/log$}m;

program( "$clone/contrib/fault/run", "#!/bin/sh\necho 'R7: FAILED'\nexit 1\n" );
( $status, $text ) = check("--faults --dir $room/kept");
isnt( $status, 0, 'a fault fails the run' );
like(
    $text, qr/^faults: first: R7: FAILED\nagain: contrib\/check --faults --dir \S+\nfailed:/m,
    '... and a run that says no command is repeated whole' );
( $status, $text ) = check('--fuzz');
ok( $status != 0 && $text =~ /--fuzz requires a number/, 'a mode without its number is refused' );

done_testing;

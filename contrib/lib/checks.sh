# shellcheck shell=bash
# The checks of contrib/check. Each is a function that fails if it finds a fault. It runs in a subshell with errexit, and its
# output goes to a log. The end of the log is printed if the check fails, and always for the tests.

PASSED=0
FAILED=0
FAILED_NAMES=

# Test files at once. They wait for their processes for long: three at once use 60 % of two cores. The database of a run is for eight.
test_jobs() {
    local jobs=$(($(nproc) + 3))
    printf '%s' $((jobs < 8 ? jobs : 8))
}

# Time limit of a test run, in seconds, so that a hanging test does not use up the time of the CI run.
TESTS_SECONDS=2400

# check NAME TEXT FUNCTION [ARGUMENT…]
check() {
    local name=$1 text=$2 log="$UP_DIR/$1.log" began=$SECONDS rc
    shift 2
    printf '== %s\n' "$text"
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    rc=$?
    set -e
    if [ "$rc" -eq 0 ]; then
        PASSED=$((PASSED + 1))
        grep -a '^failed beside other tests' "$log" | sed 's/^/   /' || :
        case $name in tests | others | sanitize | faults | soak) tail -n 60 "$log" ;; debs) grep -E '^(ok|# |[NWE]:)' "$log" || : ;; esac
        printf '   ok (%s s)\n' $((SECONDS - began))
    else
        FAILED=$((FAILED + 1))
        FAILED_NAMES="$FAILED_NAMES $name"
        tail -n 80 "$log" | cut -c1-400 | sed 's/^/   /'
        failed_tests "$log" | tee "$UP_DIR/$name.failed"
        repeat_of "$name" "$log" >"$UP_DIR/$name.again"
        printf '   FAILED (%s s): %s; the whole log is %s\n' $((SECONDS - began)) "$text" "$log"
    fi
}

# repeat_of NAME LOG: print what failed first in a log, and the commands that repeat what failed. Long runs write both into their log, as
# lines that begin with "first:" and "again:"; of others it is the first line that tells of a failure, and the check itself.
repeat_of() {
    local first again
    first=$(sed -nE 's/^[# ]*(first: )/\1/p' "$2" | head -n 1)
    [ -n "$first" ] || first="first: $(grep -aE '^[# ]*(not ok |Failed test )|FAILED|[Ee]rror: ' "$2" | head -n 1)"
    [ "$first" != 'first: ' ] || first="first: $(tail -n 1 "$2")"
    again=$(sed -nE 's/^[# ]*(again: )/\1/p' "$2" | awk '!seen[$0]++' | head -n 20)
    if [ -z "$again" ]; then
        again="again: contrib/check$CALLED"
        [ "$MODE" != all ] || [ ${#TESTS_NAMED[@]} -gt 0 ] || again="again: contrib/check --only $1"
    fi
    printf '%s: %s\n%s\n' "$1" "${first:0:400}" "$again"
}

# Print the failed tests in a log with their messages, the files that failed in the end last; print nothing for a log without
# tests. The logs of the programs, which a failed test prints too, are left out: they would fill the space.
failed_tests() {
    {
        grep -aE '^ *# |Dubious|Wstat: [1-9]|Failed tests?: |Parse errors|^ *not ok ' "$1" | grep -avE '^ *#   [{0-9]|^ *# --- |^ *# *$' |
            cut -c1-300 | head -n 120 || :
        grep -aE '^failed (beside|in) ' "$1" || :
    } | sed 's/^/   | /'
}

# Print the matching files of the source tree, without generated and foreign ones, such as those of autoreconf in build-aux.
sources() {
    (cd "$TOP" && find fcgi cli t build-aux contrib debian etc sql .ci -type f "$@" | sort |
        grep -vE '^build-aux/(ar-lib|compile|config[.](guess|sub)|depcomp|install-sh|ltmain[.]sh|missing|test-driver)$|~$')
}

check_format() {
    local program wrong
    for program in clang-format-14 clang-format; do
        if command -v "$program" >/dev/null && "$program" --version | grep -q 'version 14\.'; then
            cd "$TOP"
            [ -f .clang-format ]
            wrong=$(sources -name '*.[ch]' | xargs -r "$program" --dry-run 2>&1 | sed -n 's/^\([^:]*\):.*warning.*/\1/p' |
                sort | uniq -c)
            [ -n "$wrong" ] || return 0
            printf 'places that %s would change (run it with -i):\n%s\n' "$program" "$wrong"
            return 1
        fi
    done
    printf 'not checked: clang-format 14 is required but not installed\n'
}

# Print the Perl files: modules and tests by name, programs by their first line.
perl_sources() {
    sources | while read -r file; do
        case $file in
        *.pl | *.pm | *.t) printf '%s\n' "$file" ;;
        *) if head -n 1 "$file" | grep -aqE '^#!.*perl'; then printf '%s\n' "$file"; fi ;;
        esac
    done
}

# The version in Debian 12. Another perltidy may format differently with the same .perltidyrc.
PERLTIDY=20220613

check_perl() {
    local wrong
    cd "$TOP"
    if ! perltidy --version 2>/dev/null | grep -q "v$PERLTIDY"; then
        printf 'not checked: perltidy %s is required but not installed\n' "$PERLTIDY"
        return 0
    fi
    wrong=$(perl_sources | xargs -r -P "$(nproc)" -n 8 sh -c \
        'for file; do perltidy -st -se "$file" 2>&1 | cmp -s - "$file" || printf "%s\n" "$file"; done' perltidy)
    [ -n "$wrong" ] || return 0
    printf 'files that perltidy would change (perltidy -b -bext=/ FILE):\n%s\n' "$wrong"
    return 1
}

check_citations() { "$TOP/build-aux/citations" "$TOP"; }

check_house() { "$TOP/build-aux/house" "$TOP"; }

check_shell() {
    local file
    cd "$TOP"
    sources | while read -r file; do
        if head -n 1 "$file" | grep -aqE '^#!/bin/(ba)?sh|^# shellcheck shell='; then printf '%s\n' "$file"; fi
    done | xargs -r shellcheck --severity=warning --exclude=SC2034
}

# check_build NAME [CONFIGURE OPTION…]: build in WORK/build-NAME and install into AUTHZ_PREFIX.
check_build() {
    local name=$1
    shift
    build_into "$(build_source)" "$WORK/build-$name" "$AUTHZ_PREFIX" "$@"
    "$AUTHZ_PREFIX/bin/authzctl" --help
}

# Configure a build that is not installed, and go there. A clean clone has no configure yet.
check_configure() {
    local build=$WORK/build-$1 source
    shift
    source=$(build_source)
    build_autoreconf "$source"
    mkdir -p "$build"
    cd "$build"
    "$source/configure" --prefix="$AUTHZ_PREFIX" "$@"
}

# Compile without installing.
check_programs() {
    check_configure "$@"
    make -j"$(nproc)"
}

# Compile with the test programs.
check_compile() {
    check_programs "$@"
    make -j"$(nproc)" check TESTS=
}

# Analyze only the programs: a test may abort if it runs out of memory.
check_analyzer() { check_programs analyzer --enable-analyzer --disable-hardening CC=gcc CFLAGS=-O1; }

# check_fuzz SECONDS: run each program in t/fuzz for this time, with new seeds. Nothing else of that build is made. What is found is kept
# beside the working directory, which may be deleted.
check_fuzz() {
    check_configure fuzz --enable-fuzz CC=clang CFLAGS='-O1 -g'
    make -j"$(nproc)" fuzz FUZZ_SECONDS="$1" FUZZ_FOUND="$WORK-found"
}

# Check that every program has PIE, full RELRO, a stack protector and fortified calls, and exports no function.
check_hardening() {
    local program
    for program in "$AUTHZ_PREFIX/bin/authzctl" "$AUTHZ_PREFIX/libexec/authz/authz.fcgi"; do
        readelf -hW "$program" | grep -q 'Type: *DYN'
        readelf -lW "$program" | grep -q GNU_RELRO
        readelf -dW "$program" | grep -q BIND_NOW
        readelf -lW "$program" | grep 'GNU_STACK' | grep -vq E
        nm -D "$program" | grep -q __stack_chk_fail
        nm -D "$program" | grep -qE '__(memcpy|snprintf|vsnprintf)_chk'
        if nm -D --defined-only "$program" | grep ' T '; then return 1; fi
    done
}

check_policy() { "$TOP/etc/policy/run-tests" "$AUTHZ_OPA"; }

# Check that the sample names exactly the settings of the program.
check_settings() {
    "$AUTHZ_PREFIX/bin/authzctl" config doc | setting_names >"$UP_DIR/settings.known"
    setting_names <"$TOP/etc/authz.conf" >"$UP_DIR/settings.sample"
    [ -s "$UP_DIR/settings.known" ]
    diff -u "$UP_DIR/settings.known" "$UP_DIR/settings.sample"
}

# Print the setting names at the start of a line, commented out or not.
setting_names() { grep -oE '^#?(SVC_[A-Z0-9_]+|SHUTDOWN_PHASE_TIMEOUT)' | tr -d '#' | sort -u; }

# Print the number of tests in a log of "make check", from the last line of prove or automake.
tests_counted() {
    awk '/^Files=[0-9]+, Tests=[0-9]+/ { sub(/.*Tests=/, ""); n += $0 + 0 }
        /^# TOTAL: / { n += $3 } END { print n + 0 }' "$1"
}

# check_tests BUILD [TEST…]: run the tests, all or the named ones, in WORK/build-BUILD. A file that fails while the machine is
# busy with others runs once more alone; the log names it, and it counts as failed only if it fails again.
check_tests() {
    local build=$WORK/build-$1 log=$UP_DIR/make-check-$1.log rc=0
    shift
    cd "$build"
    if [ $# -gt 0 ]; then set -- TESTS="$*"; fi
    timeout --kill-after=60 "$TESTS_SECONDS" make check RUN_OPTIONS="--again --jobs $(test_jobs)" "$@" >"$log" 2>&1 || rc=$?
    cat "$log"
    if [ "$rc" -eq 124 ]; then printf 'stopped after %s s\n' "$TESTS_SECONDS"; fi
    if [ "$rc" -ne 0 ]; then
        if [ -s test-suite.log ]; then tail -n 60 test-suite.log; fi
        return "$rc"
    fi
    [ "$(tests_counted "$log")" -gt 0 ] || {
        printf 'no test ran\n'
        return 1
    }
}

# Tests in which policy matters, which run with either engine.
ENGINE_TESTS='authzen/authzen authzen/authzen_vectors gateway/gateway_door mcp/mcp gateway/gateway_proxy
policy/cedar_effect policy/controls policy/policy_rules policy/preview register/register token/code token/combinations
token/default_scopes token/denials introspect/introspect introspect/introspect_once token/refresh token/token token/token_exchange uma/uma'

# Run them once more, with OPA asked about each decision: the other tests run with the default engine.
check_opa() {
    local name names=()
    export AUTHZ_TEST_ENGINE=opa
    for name in $ENGINE_TESTS; do names+=("t/http/$name.t"); done
    check_tests gcc "${names[@]}"
}

# check_cluster TIMES: fail over under load. The cluster is stopped, however that ends.
check_cluster() {
    local rc=0
    "$TOP/contrib/cluster" up --dir "$WORK/cluster"
    "$TOP/contrib/cluster" storm --times "$1" --dir "$WORK/cluster" || rc=$?
    "$TOP/contrib/cluster" down --dir "$WORK/cluster" --purge
    return "$rc"
}

# Run each program of contrib/bench. They take some minutes, with the machine for themselves.
check_bench() {
    export AUTHZ_TEST_BENCH=1
    check_tests gcc t/contrib/bench.t
}

# Let OPA decide again whatever the other engine decides in HTTP tests, all or the named ones. A difference fails its file. Print
# the sums.
check_witness() {
    export AUTHZ_TEST_WITNESS=1
    if [ $# -eq 0 ]; then
        cd "$TOP"
        set -- t/http/*.t t/http/*/*.t
    fi
    check_tests gcc "$@" || return 1
    sed -n 's/^# decided again by OPA: //p' "$UP_DIR/make-check-gcc.log" | tr -d , | awk '
        { for (i = 1; i < NF; i += 2) count[$i] += $(i + 1) }
        END { for (name in count) printf "decided again by OPA: %s %d\n", name, count[name]; exit !count["same"] }'
}

# Run the HTTP tests, all or the named ones, on databases of a kind: strict ones refuse what other PostgreSQLs refuse, and with
# roles the service does not own the tables.
check_databases() {
    export AUTHZ_TEST_DATABASE=$1
    shift
    if [ $# -eq 0 ]; then
        cd "$TOP"
        set -- t/http/*.t t/http/*/*.t
    fi
    check_tests gcc "$@"
}

# Run the HTTP tests, all or the named ones, through pgbouncer.
check_pooler() {
    AUTHZ_PGBOUNCER=$(pgbouncer_here)
    export AUTHZ_PGBOUNCER AUTHZ_TEST_DATABASE=pooler
    if [ $# -eq 0 ]; then
        cd "$TOP"
        set -- t/store/pooler.t t/http/*.t t/http/*/*.t
    fi
    check_tests gcc "$@"
}

# Run the programme of faults, with the C programs that it names.
check_faults() {
    local build=$WORK/build-gcc
    make -C "$build" -j"$(nproc)" check TESTS=
    AUTHZ_BUILDDIR=$build "$TOP/contrib/fault/run"
}

check_soak() { AUTHZ_BUILDDIR=$WORK/build-gcc "$TOP/contrib/fault/soak" --hours "$1" --samples "$UP_DIR/soak.samples"; }

# The release before: the last commit with schema 40. The next release names its own predecessor here.
OLDER=63dd2876

# Build it into WORK/older, with its sources in src.
check_older() {
    mkdir -p "$WORK/older/src"
    git -C "$TOP" archive "$OLDER" | tar -x -C "$WORK/older/src"
    build_into "$WORK/older/src" "$WORK/build-older" "$WORK/older" CC=gcc
}

# Upgrade with either engine.
check_rolling() {
    export AUTHZ_TEST_OLDER=$WORK/older
    for AUTHZ_TEST_ENGINE in embedded opa; do
        export AUTHZ_TEST_ENGINE
        check_tests gcc t/failure/rolling.t
    done
}

# Make the images with each web server of the same packages, and run them; let Docker Compose read the files for them.
check_images() {
    local web
    set -o pipefail # a build that fails is not followed by a try of older images
    DEBS_ONLY=yes "$TOP/contrib/debs/run" "$WORK"
    for web in lighttpd apache; do
        "$TOP/contrib/images" build --web "$web" --debs "$WORK/debs" --out "$WORK/images" | sed 's/^/# /'
        "$TOP/contrib/images" try --web "$web" --out "$WORK/images"
    done
    "$TOP/contrib/debs/compose" "$WORK"
}

# Render doc/ as a website, and look at it.
check_site() {
    packages_install site
    check_tests gcc t/contrib/site.t
}

# check_differential N: compare N answers of both engines; the log shows the state of the run.
check_differential() {
    TESTS_SECONDS=172800
    export AUTHZ_DIFFERENTIAL=$1 AUTHZ_REGO_SEED=${AUTHZ_REGO_SEED:-new}
    check_tests gcc t/rego/differential.t
}

# Compare the Cedar compiler with the whole corpus and with cedar-wasm.
check_cedar() {
    export AUTHZ_CEDAR_ALL=1
    check_tests gcc t/cli/cedar.t t/interop/cedar.t
}

# Only the unit tests are checked for leaks, because the processes of the service are not dumpable.
check_sanitized() {
    export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:strict_string_checks=1
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    check_tests sanitize "$@"
}

# Run the sanitizers with a separate build and installed tree.
check_sanitize() {
    export AUTHZ_PREFIX=$WORK/inst-sanitize
    check_build sanitize --enable-sanitize CFLAGS='-O1 -g'
    check_sanitized "$@"
}

# Print the C programs among the tests, as the Makefile names them.
c_tests() { (cd "$TOP" && find t -name '*-t.c' -o -path 't/fuzz/fuzz_*.c' | sed 's/\.c$//' | sort); }

# files_of RUN: print the files that t/runs names for a run; "rest" has each other Perl file.
files_of() {
    (
        cd "$TOP"
        case $1 in
        rest) comm -13 <(files_of core | sort) <(printf '%s\n' t/*/*.t t/*/*/*.t | sort) ;;
        *) awk -v run="$1" '$1 == run { print $2 }' t/runs ;;
        esac
    )
}

# Run the tests of a run: core, with all C tests, or rest.
check_run() {
    local programs=
    if [ "$1" = core ]; then programs=$(c_tests); fi
    # shellcheck disable=SC2046,SC2086 # lists of words
    check_tests gcc $programs $(files_of "$1")
}

# Run the C tests, with the corpora of t/fuzz, and the files of t/runs under the sanitizers. The other files run the same code beside
# programs that take most of the time.
check_sanitize_part() {
    # shellcheck disable=SC2046 # lists of words
    check_sanitize $(c_tests) $(files_of sanitize)
}

check_valgrind() {
    local build=$WORK/build-gcc program count=0
    cd "$build"
    make -j"$(nproc)" check TESTS=
    for program in $(find t -type f -name '*-t' -perm -u+x | sort); do
        printf '== %s\n' "$program"
        srcdir=$TOP valgrind -q --error-exitcode=99 --leak-check=full --show-leak-kinds=definite \
            --errors-for-leak-kinds=definite "$program"
        count=$((count + 1))
    done
    [ "$count" -gt 0 ]
}

# check_demo_pasted OUTPUT: paste the lines that the demonstration has shown into a new shell, twice. Its answers are indented.
check_demo_pasted() {
    local time script answers
    script=$(sed -n '/^Demonstration\. /,/^The service runs at /p' "$1" | sed '1d; $d; /^    /d')
    [ "$(grep -c '^[^#]*curl ' <<<"$script")" -ge 7 ]
    for time in first second; do
        answers=$(bash -eu -c "$script" 2>&1)
        printf '== pasted for the %s time\n%s\n' "$time" "$answers"
        [ "$(grep -c '"access_token":"at_' <<<"$answers")" -eq 1 ]
        [ "$(grep -c '"active":true' <<<"$answers")" -eq 2 ]
        [ "$(grep -c '"active":false,"inactive_reason":"policy_denied"' <<<"$answers")" -eq 1 ]
        if grep '"error":' <<<"$answers"; then return 1; fi
    done
}

# Run the first command of README from nothing, on the installed tree. The demonstration can be pasted, and the second
# run takes at most 15 seconds.
check_quickstart() {
    local dir=$WORK/quickstart-$1 began
    # shellcheck disable=SC2064 # expand now, not when the trap runs
    trap "'$TOP/contrib/quickstart' down --dir '$dir' --purge" EXIT
    "$TOP/contrib/quickstart" up --dir "$dir" --web "$1" >"$UP_DIR/quickstart-$1.out"
    check_demo_pasted "$UP_DIR/quickstart-$1.out"
    began=$SECONDS
    "$TOP/contrib/quickstart" up --dir "$dir" --web "$1"
    [ $((SECONDS - began)) -le 15 ]
    "$TOP/contrib/quickstart" status --dir "$dir"
    "$TOP/contrib/quickstart" test-client --print --dir "$dir" | grep -qx 'alice is signed in\. .*'
    # The shipped configuration with one variable edited, as an administrator does.
    [ "$(diff "$TOP/etc/$1/authz.conf" "$dir/etc/$1-authz.conf" | grep -c '^>')" -eq 1 ]
    "$TOP/contrib/quickstart" down --dir "$dir"
    ! "$TOP/contrib/quickstart" status --dir "$dir"
}

# Check that the archive is complete: the tests run in the unpacked archive, on the programs built from it. All C tests and a
# few Perl tests of the whole service are enough, because the check of the tests has run the others from the same files. The build is that
# of the second compiler, so the archive needs none of its own.
check_distcheck() {
    unset AUTHZ_PREFIX
    make -C "$WORK/build-gcc" -j"$(nproc)" distcheck DISTCHECK_CONFIGURE_FLAGS='--enable-warnings CC=clang' \
        TESTS="$(c_tests | tr '\n' ' ') t/http/token/token.t t/http/introspect/introspect.t t/http/policy/policy_data.t"
    check_dist_again
}

# Check that an archive gives itself: made from its own sources in another directory, at another time and with another umask, it has the same
# octets as the one from the checkout (doc/release.md). The manual pages in it are not made again: distcheck has built their program.
check_dist_again() {
    local archive again=$WORK/dist/in-another-place
    make -C "$WORK/build-gcc" dist
    archive=$(find "$WORK/build-gcc" -maxdepth 1 -name 'authz-*.tar.xz')
    rm -rf "$again"
    mkdir -p "$again/build"
    (
        umask 077
        tar -C "$again" --strip-components=1 -xf "$archive"
        cd "$again/build"
        ../configure -q CC=gcc
        make AM_MAKEFLAGS='-o authzctl -o authzctl.8 -o authz.conf.5' dist-xz
    )
    sha256sum "$archive" "$again"/build/authz-*.tar.xz
    cmp "$archive" "$again"/build/authz-*.tar.xz
    rm -rf "$again"
}

check_summary() {
    printf '\n'
    # Repeat the failures at the end, where a reader of a long log looks first.
    cat "$UP_DIR"/*.failed "$UP_DIR"/*.again 2>/dev/null || :
    if [ "$FAILED" -gt 0 ]; then printf 'failed:%s; logs are in %s\n' "$FAILED_NAMES" "$UP_DIR"; fi
    printf 'checks: %s passed, %s failed\n' "$PASSED" "$FAILED"
    [ "$FAILED" -eq 0 ]
}

# check_clean STATUS: delete the temporary directory if every check passed.
check_clean() {
    local rc=$1
    ticker_stop
    if [ "$rc" -eq 0 ] && [ "$KEEP" = no ]; then
        cd /
        chmod -R u+w "$WORK"
        rm -rf "$WORK"
    fi
}

# shellcheck shell=bash
# The checks of contrib/check. Each is a function that fails when what it looks at is wrong; it runs in a subshell with
# errexit, and its output goes to a log and, at the end of a failure or for the tests themselves, to the reader.

PASSED=0
FAILED=0
FAILED_NAMES=

# The longest a test run may take; a hanging test must not eat the whole of a CI run.
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
        case $name in tests | sanitize) tail -n 40 "$log" ;; esac
        printf '   ok (%s s)\n' $((SECONDS - began))
    else
        FAILED=$((FAILED + 1))
        FAILED_NAMES="$FAILED_NAMES $name"
        tail -n 80 "$log" | cut -c1-400 | sed 's/^/   /'
        failed_tests "$log" | tee "$UP_DIR/$name.failed"
        printf '   FAILED (%s s): %s; the whole log is %s\n' $((SECONDS - began)) "$text" "$log"
    fi
}

# Prints which tests a log tells failed, and with which words; nothing for a log without tests.
failed_tests() {
    grep -aE '^ *# +Failed test|^ *# +at .* line [0-9]+\.|^ *# +(got|expected): |Dubious|Wstat: [1-9]|Failed tests?: |Parse errors|^ *not ok ' "$1" |
        cut -c1-300 | head -n 60 | sed 's/^/   | /' || :
}

# Prints the files of the source tree that match, generated and foreign ones left out.
sources() {
    (cd "$TOP" && find fcgi cli t contrib etc sql .ci -type f "$@" | sort)
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
    printf 'not checked: clang-format 14 is the version that counts, and it is not here\n'
}

# Prints the Perl files: by name, and programs by their first line.
perl_sources() {
    sources | while read -r file; do
        case $file in
        *.pl | *.pm | *.t) printf '%s\n' "$file" ;;
        *) if head -n 1 "$file" | grep -aqE '^#!.*perl'; then printf '%s\n' "$file"; fi ;;
        esac
    done
}

# .perltidyrc says how Perl looks; a newer perltidy than Debian 12's may lay out the same options otherwise.
PERLTIDY=20220613

check_perl() {
    local wrong
    cd "$TOP"
    if ! perltidy --version 2>/dev/null | grep -q "v$PERLTIDY"; then
        printf 'not checked: perltidy %s is the version that counts, and it is not here\n' "$PERLTIDY"
        return 0
    fi
    wrong=$(perl_sources | xargs -r -P "$(nproc)" -n 8 sh -c \
        'for file; do perltidy -st -se "$file" 2>&1 | cmp -s - "$file" || printf "%s\n" "$file"; done' perltidy)
    [ -n "$wrong" ] || return 0
    printf 'files that perltidy would change (perltidy -b -bext=/ FILE):\n%s\n' "$wrong"
    return 1
}

check_citations() { "$TOP/contrib/lib/citations" "$TOP"; }

check_shell() {
    local file
    cd "$TOP"
    sources | while read -r file; do
        if head -n 1 "$file" | grep -aqE '^#!/bin/(ba)?sh|^# shellcheck shell='; then printf '%s\n' "$file"; fi
    done | xargs -r shellcheck --severity=warning --exclude=SC2034
}

# check_build NAME [CONFIGURE OPTION…]: builds in WORK/build-NAME and installs into AUTHZ_PREFIX.
check_build() {
    local name=$1
    shift
    build_into "$(build_source)" "$WORK/build-$name" "$AUTHZ_PREFIX" "$@"
    "$AUTHZ_PREFIX/bin/authzctl" --help
}

# Only compiles; nothing is installed.
check_programs() {
    local build=$WORK/build-$1 source
    shift
    source=$(build_source)
    mkdir -p "$build"
    cd "$build"
    "$source/configure" --prefix="$AUTHZ_PREFIX" "$@"
    make -j"$(nproc)"
}

# The same with the test programs.
check_compile() {
    check_programs "$@"
    make -j"$(nproc)" check TESTS=
}

# The programs alone: a test may stop when memory is out.
check_analyzer() { check_programs analyzer --enable-analyzer --disable-hardening CC=gcc CFLAGS=-O1; }

# check_fuzz SECONDS: each entry of t/fuzz searches for that long.
check_fuzz() {
    check_compile fuzz --enable-fuzz CC=clang CFLAGS='-O1 -g'
    make fuzz FUZZ_SECONDS="$1"
}

# Every program has PIE, full RELRO, a stack protector and fortified calls, and exports no function.
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

# The sample names every setting that the program knows, and none that it does not.
check_settings() {
    "$AUTHZ_PREFIX/bin/authzctl" config doc | setting_names >"$UP_DIR/settings.known"
    setting_names <"$TOP/etc/authz.conf" >"$UP_DIR/settings.sample"
    [ -s "$UP_DIR/settings.known" ]
    diff -u "$UP_DIR/settings.known" "$UP_DIR/settings.sample"
}

# Prints the names that begin a line, commented out or not.
setting_names() { grep -oE '^#?(SVC_[A-Z0-9_]+|SHUTDOWN_PHASE_TIMEOUT)' | tr -d '#' | sort -u; }

# Prints how many tests a log of "make check" tells of: prove's closing line, or automake's.
tests_counted() {
    awk '/^Files=[0-9]+, Tests=[0-9]+/ { sub(/.*Tests=/, ""); n += $0 + 0 }
        /^# TOTAL: / { n += $3 } END { print n + 0 }' "$1"
}

# check_tests BUILD [TEST…]
check_tests() {
    local build=$WORK/build-$1 log=$UP_DIR/make-check-$1.log rc=0
    shift
    cd "$build"
    if [ $# -gt 0 ]; then set -- TESTS="$*"; fi
    timeout --kill-after=60 "$TESTS_SECONDS" make check "$@" >"$log" 2>&1 || rc=$?
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

# Children of the service cannot be examined for leaks (they are not dumpable); the unit tests can, and are.
check_sanitized() {
    export ASAN_OPTIONS=abort_on_error=0:detect_stack_use_after_return=1:strict_string_checks=1
    export UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1
    check_tests sanitize "$@"
}

# As part of the whole: a build and an installed tree of its own.
check_sanitize() {
    export AUTHZ_PREFIX=$WORK/inst-sanitize
    check_build sanitize --enable-sanitize CFLAGS='-O1 -g'
    check_sanitized "$@"
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

# The README's first command, from nothing, on the tree just installed; the second time within its 15 seconds.
check_quickstart() {
    local dir=$WORK/quickstart-$1 began
    # shellcheck disable=SC2064 # the name as it is now
    trap "'$TOP/contrib/quickstart' down --dir '$dir' --purge" EXIT
    "$TOP/contrib/quickstart" up --dir "$dir" --web "$1"
    began=$SECONDS
    "$TOP/contrib/quickstart" up --dir "$dir" --web "$1"
    [ $((SECONDS - began)) -le 15 ]
    "$TOP/contrib/quickstart" status --dir "$dir"
    "$TOP/contrib/quickstart" down --dir "$dir"
    ! "$TOP/contrib/quickstart" status --dir "$dir"
}

# The archive holds what it needs: the tests of the unpacked archive use what was built from it. All the C tests and one way
# through the whole service; every other Perl test has been run by then, from the same files.
check_distcheck() {
    local make=$WORK/build-gcc c_tests
    unset AUTHZ_PREFIX
    c_tests=$(cd "$make" && find t -type f -name '*-t' -perm -u+x | sort | tr '\n' ' ')
    [ -n "$c_tests" ]
    make -C "$make" distcheck TESTS="$c_tests t/http/token.t t/http/introspect.t t/http/policy_data.t"
}

# News for the next reader, not a judgement.
check_news() {
    cd "$TOP"
    printf '== the longest files\n'
    sources -name '*.[ch]' | xargs -r wc -l | awk '$2 != "total"' | sort -rn | head -n 10
    command -v ctags >/dev/null || return 0
    printf '== the longest functions (lines, place, name)\n'
    sources -name '*.c' | xargs -r ctags --languages=C --c-kinds=f --fields=+ne -f - 2>/dev/null | awk -F '\t' '{
        from = to = 0
        for (i = 4; i <= NF; i++) {
            if ($i ~ /^line:/) from = substr($i, 6)
            if ($i ~ /^end:/) to = substr($i, 5)
        }
        printf "%5d %s:%d %s\n", to - from + 1, $2, from, $1 }' | sort -rn | head -n 10
}

check_summary() {
    printf '\n'
    # Once more at the very end, where a reader of a long log looks first.
    cat "$UP_DIR"/*.failed 2>/dev/null || :
    if [ "$FAILED" -gt 0 ]; then printf 'failed:%s; logs are in %s\n' "$FAILED_NAMES" "$UP_DIR"; fi
    printf 'checks: %s passed, %s failed\n' "$PASSED" "$FAILED"
    [ "$FAILED" -eq 0 ]
}

# What succeeded leaves nothing behind.
check_clean() {
    local rc=$?
    if [ "$rc" -eq 0 ] && [ "$KEEP" = no ]; then
        cd /
        chmod -R u+w "$WORK"
        rm -rf "$WORK"
    fi
}

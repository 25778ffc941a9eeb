# shellcheck shell=bash
# Options, working directory and clean-up of the programs in this directory, which set WORK, KEEP and usage().

usage_error() {
    printf '%s: %s\n  what to do: %s --help shows the options\n' "$PROGRAM" "$1" "$PROGRAM" >&2
    exit 2
}

# number NAME LEAST MOST VALUE
number() {
    case $4 in '' | *[!0-9]* | ?????*) usage_error "$1 must be a number from $2 to $3, not '$4'" ;; esac
    if [ "$4" -lt "$2" ] || [ "$4" -gt "$3" ]; then usage_error "$1 must be a number from $2 to $3, not '$4'"; fi
}

# engine_option VALUE: the value of --engine.
engine_option() {
    case $1 in opa | embedded | both) ENGINE=$1 ;; *) usage_error "--engine must be opa, embedded or both, not '$1'" ;; esac
}

# engine_both ARGUMENT…: with --engine both, run the program by either engine, one after the other, with one build, and end.
engine_both() {
    local engine rc=0 dir=$WORK
    [ "$ENGINE" = both ] || return 0
    if [ -z "$dir" ]; then dir=$(mktemp -d /tmp/authz-bench-XXXXXX); fi
    chmod 755 "$dir"
    for engine in opa embedded; do
        printf '\n== %s\n' "$engine"
        "$TOP/$PROGRAM" "$@" --engine "$engine" --dir "$dir" || rc=$?
        if [ "$rc" -ne 0 ]; then break; fi
    done
    if [ "$KEEP" = no ] && [ "$rc" -eq 0 ]; then
        "$TOP/contrib/quickstart" down --dir "$dir" --purge >/dev/null
        rm -rf "$dir"
    fi
    exit "$rc"
}

# Clear the settings in the environment, so that two runs do not differ.
clear_environment() {
    local name
    for name in $(compgen -e | grep -E '^(SVC_|SHUTDOWN_PHASE_TIMEOUT$|PG)'); do unset "$name"; done
    export SVC_RATE_LIMIT_ENABLED=false
}

make_work() {
    if [ -z "$WORK" ]; then WORK=$(mktemp -d /tmp/authz-bench-XXXXXX); fi
    mkdir -p "$WORK"
    WORK=$(cd "$WORK" && pwd -P)
    layout_check_name "$WORK"
    chmod 755 "$WORK"
    DIR=$WORK
    if daemon_pid authz >/dev/null; then die "an instance is running in $DIR" "name another directory, or stop the instance with contrib/quickstart down --dir $DIR"; fi
    stack_forget
    BENCH=$DIR/bench
    rm -rf "$BENCH"
    mkdir -m 700 "$BENCH"
    UP_DIR=$BENCH/log
    mkdir "$UP_DIR"
    case $(stat -f -c %T "$DIR") in
    tmpfs | ramfs) say "warning: $DIR is in memory, where commits cost less than on a disk; name a directory on a disk with --dir" ;;
    esac
}

finish() {
    local rc=$?
    trap - EXIT
    ticker_stop
    if [ "$rc" -ne 0 ] && [ "$rc" -ne 75 ] && [ "$KEEP" = no ]; then
        KEEP=yes
        say "$PROGRAM: the files are kept in $DIR" >&2
    fi
    stack_down
    exit "$rc"
}

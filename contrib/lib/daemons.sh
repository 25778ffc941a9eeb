# shellcheck shell=bash
# Start, find and stop the daemons of one instance. Needs: layout.sh.
#
# DIR/pids has a line per daemon: name, pid, start time of the process (field 22 of /proc/PID/stat, so that a reused pid
# is never mistaken for the daemon), and mark (a checksum of the configuration that it was started with).

# The daemons, as status lists them.
DAEMONS='postgres opa web authz provider'

# Capabilities of a daemon that root starts: none, or ",+name".
DAEMON_CAPS=
# Network namespace in which root starts a daemon; empty: that of the caller.
DAEMON_NET=

# Print the start time of a running process.
process_began() {
    local stat
    stat=$(cat "/proc/$1/stat" 2>/dev/null) || return 1
    stat=${stat##*) }
    # shellcheck disable=SC2086 # fields
    set -- $stat
    [ "$1" != Z ] || return 1
    printf '%s' "${20}"
}

# Print the pid of a running daemon.
daemon_pid() {
    local name pid began mark
    [ -f "$DIR/pids" ] || return 1
    # shellcheck disable=SC2034 # mark
    while read -r name pid began mark; do
        if [ "$name" = "$1" ] && [ "$(process_began "$pid")" = "$began" ]; then
            printf '%s' "$pid"
            return 0
        fi
    done <"$DIR/pids"
    return 1
}

daemon_mark() { awk -v n="$1" '$1 == n { print $4 }' "$DIR/pids" 2>/dev/null; }

daemon_forget() {
    [ -f "$DIR/pids" ] || return 0
    awk -v n="$1" '$1 != n' "$DIR/pids" >"$DIR/pids.new"
    mv "$DIR/pids.new" "$DIR/pids"
}

# daemon_stop NAME SIGNAL SECONDS: stop a daemon; send SIGKILL if it is still running after that time.
daemon_stop() {
    local pid deadline
    if pid=$(daemon_pid "$1"); then
        kill -"$2" "$pid" 2>/dev/null || :
        deadline=$((SECONDS + $3))
        while daemon_pid "$1" >/dev/null && [ "$SECONDS" -lt "$deadline" ]; do sleep 0.05; done
        if daemon_pid "$1" >/dev/null; then
            printf '%s (pid %s) did not stop within %s s; killed\n' "$1" "$pid" "$3"
            kill -KILL "$pid" 2>/dev/null || :
            sleep 0.2
        fi
    fi
    daemon_forget "$1"
}

# Stop a daemon with its own signal and time limit.
daemon_stop_named() {
    case $1 in
    postgres) daemon_stop postgres INT 60 ;;
    authz) daemon_stop authz TERM 35 ;;
    web) daemon_stop web TERM 20 ;; # Apache kills its own children after some 10 s
    *) daemon_stop "$1" TERM 10 ;;
    esac
}

# Print a checksum of the named files and of standard input.
mark_of() { { cat "$@" -; } | sha256sum | cut -c1-16; }

# True if the daemon runs with this mark. Otherwise stop it if it runs.
daemon_current() {
    if daemon_pid "$1" >/dev/null && [ "$(daemon_mark "$1")" = "$2" ]; then return 0; fi
    daemon_stop_named "$1"
    return 1
}

# daemon_start NAME MARK COMMAND…: start a daemon unless it runs with the same mark. Its output goes to LOG_DIR/NAME.log.
# The daemon owns that file but not the directory, so that root never opens a path that the daemon could replace.
daemon_start() {
    local name=$1 mark=$2 log=$LOG_DIR/$1.log pid
    shift 2
    if daemon_current "$name" "$mark"; then
        note 'running already'
        return 0
    fi
    [ -e "$log" ] || : >"$log"
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$log"; fi
    chmod 640 "$log"
    daemon_launch "$name" "$@" >>"$log" 2>&1 &
    pid=$!
    sleep 0.1
    printf '%s %s %s %s\n' "$name" "$pid" "$(process_began "$pid")" "$mark" >>"$DIR/pids"
}

# Become the daemon, keeping the pid: own session, no standard input, none of our locks. Only the service gets the SVC_
# settings; DAEMON_SETTINGS names those that another daemon needs. With DAEMON_ONLY, the daemon gets only the variables
# that it names.
daemon_launch() {
    local name=$1 variable
    shift
    cd /
    exec 8>&- 9>&- </dev/null
    for variable in $(compgen -e SVC_); do
        case "$name ${DAEMON_SETTINGS-} " in
        "authz "* | *" $variable "*) ;;
        *) unset "$variable" ;;
        esac
    done
    if [ -n "${DAEMON_ONLY-}" ]; then
        for variable in $(compgen -e); do
            case " $DAEMON_ONLY PATH HOME LC_ALL " in
            *" $variable "*) ;;
            *) unset "$variable" ;;
            esac
        done
    fi
    if [ -z "$RUN_AS" ]; then exec setsid "$@"; fi
    # shellcheck disable=SC2086 # no word, or a command and its words
    exec ${DAEMON_NET:+ip netns exec "$DAEMON_NET"} setsid setpriv --reuid="$RUN_AS" --regid="$(id -g "$RUN_AS")" --init-groups \
        --inh-caps="-all$DAEMON_CAPS" --ambient-caps="-all$DAEMON_CAPS" -- \
        env -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR HOME=/nonexistent USER="$RUN_AS" LOGNAME="$RUN_AS" "$@"
}

# daemon_await NAME SECONDS TEST…: wait until the test succeeds; fail at once if the daemon has ended.
daemon_await() {
    local name=$1 deadline=$((SECONDS + $2))
    shift 2
    while [ "$SECONDS" -lt "$deadline" ]; do
        if ! daemon_pid "$name" >/dev/null; then
            printf '%s has stopped; the last lines of %s:\n' "$name" "$LOG_DIR/$name.log"
            tail -n 12 "$LOG_DIR/$name.log"
            return 1
        fi
        if "$@"; then return 0; fi
        sleep 0.1
    done
    printf '%s did not become ready in time; the last lines of %s:\n' "$name" "$LOG_DIR/$name.log"
    tail -n 12 "$LOG_DIR/$name.log"
    return 1
}

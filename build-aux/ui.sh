# shellcheck shell=bash
# Messages for the user: steps with their time, and errors with the log file and the remedy.

STEP=0
STEPS=${STEPS:-1}
STEP_NOTE=
TICKER=

say() { printf '%s\n' "$*"; }

# die REASON [REMEDY]: print an error and exit.
die() {
    printf '%s: %s\n' "$PROGRAM" "$1" >&2
    if [ -n "${2-}" ]; then printf '  what to do: %s\n' "$2" >&2; fi
    exit 1
}

# Within a step: set the word that its line ends with ("unchanged").
note() { printf '%s' "$*" >"$UP_DIR/note"; }

# Within a step: set the remedy to print if the step fails from here on.
hint() { printf '%s' "$*" >"$UP_DIR/hint"; }

ticker_loop() {
    local began=$SECONDS
    exec 8>&- 9>&- # its sleep may outlive us by a second and must not keep a lock
    while sleep 1; do
        if [ -t 1 ]; then
            printf '\r%s %d s ' "$1" $((SECONDS - began))
        elif [ $(((SECONDS - began) % 10)) -eq 0 ]; then
            printf '.'
        fi
    done
}

ticker_stop() {
    [ -n "$TICKER" ] || return 0
    kill "$TICKER" 2>/dev/null || :
    wait "$TICKER" 2>/dev/null || :
    TICKER=
}

# step NAME TEXT FUNCTION [ARGUMENT…]: run the function in a subshell with its output in a log. The function passes results
# on in files. Never call step in a condition: that would disable errexit in the function.
step() {
    local name=$1 text=$2 began=$SECONDS label log rc
    shift 2
    STEP=$((STEP + 1))
    label=$(printf '[%2d/%d] %s …' "$STEP" "$STEPS" "$text")
    log="$UP_DIR/$STEP-$name.log"
    rm -f "$UP_DIR/note" "$UP_DIR/hint"
    printf '%s' "$label"
    ticker_loop "$label" &
    TICKER=$!
    set +e
    (
        set -e
        "$@"
    ) >"$log" 2>&1 </dev/null
    rc=$?
    set -e
    ticker_stop
    if [ "$rc" -ne 0 ]; then step_failed "$label" "$text" "$log" $((SECONDS - began)); fi
    STEP_NOTE=$(cat "$UP_DIR/note" 2>/dev/null || :)
    step_line "$label" "${STEP_NOTE:-done} ($((SECONDS - began)) s)"
}

step_line() {
    if [ -t 1 ]; then printf '\r%s %s\033[K\n' "$1" "$2"; else printf ' %s\n' "$2"; fi
}

step_failed() {
    local label=$1 text=$2 log=$3 seconds=$4 advice
    step_line "$label" "FAILED after $seconds s"
    advice=$(cat "$UP_DIR/hint" 2>/dev/null || :)
    {
        printf '\n%s: failed: %s\n' "$PROGRAM" "$text"
        printf '  log: %s; its last lines:\n' "$log"
        tail -n 15 "$log" | cut -c1-300 | sed 's/^/    /'
        printf '  what to do: %s\n' "${advice:-read the log, fix the cause, and run the same command again}"
    } >&2
    exit 1
}

# shellcheck shell=bash
# The embedded engine beside OPA. Needs stack.sh and measure.sh.

# Numbers of bindings with which the memory of a worker is measured.
BINDINGS='10 10000 100000'
# Decisions of /token whose time is measured again by both engines.
DECISIONS=1000
# Seconds of load after which each worker has decided.
SETTLE_SECONDS=1

# engine_prepare NAME: choose the engine of the stack, before it is made.
engine_prepare() {
    if [ "$1" = opa ]; then export SVC_POLICY_ENGINE=opa; fi
}

# engine_use NAME: start the service with this engine, and let every worker decide.
engine_use() {
    export SVC_POLICY_ENGINE=$1
    authz_start >/dev/null
    service_await >/dev/null
    engine_settle
}

engine_settle() {
    local name
    for name in token introspect; do
        "$BENCH/load" "127.0.0.1:$PORT" "$BENCH/$name.http" "$(expected "$name")" "$CONNECTIONS" "$SETTLE_SECONDS" >/dev/null
    done
}

# Measure the service by either engine. The order of a round is turned around in the next.
round_engines() {
    local engine name engines='opa embedded'
    if [ $((ROUND % 2)) -eq 0 ]; then engines='embedded opa'; fi
    for engine in $engines; do
        engine_use "$engine"
        for name in token introspect; do service "$name" "$engine.$name"; done
    done
}

# bindings_save COUNT: save so many bindings besides those of the run. On the database, because the web server refuses a request
# of several megabytes.
bindings_save() {
    perl -e 'print "{\"clients\":{", join( ",", map {"\"bench-$_\":{\"scopes\":[\"orders.read\"]}"} 1 .. $ARGV[0] - 2 ), "}}"' \
        "$1" | authzctl policy data set --patch svc.entitlements.bindings - | grep -w confirmed >/dev/null
}

# A step: let both engines decide stored questions of /token again, and measure the memory of a worker: after a start, when
# the workers share what was loaded before they were forked, and after a save, when they share what one of them read.
engines_compare() {
    local count engine
    authzctl policy compare --limit "$DECISIONS" --json >"$BENCH/compare.json"
    printf 'decision_us %s %s\n' "$(json_get medianUs.embedded <"$BENCH/compare.json")" \
        "$(json_get medianUs.opa <"$BENCH/compare.json")" >"$BENCH/engines"
    engine_use embedded
    for count in $BINDINGS; do
        bindings_save "$count"
        engine_settle
        printf 'memory_saved_%s %s\n' "$count" "$(worker_memory)" >>"$BENCH/engines"
        for engine in opa embedded; do
            engine_use "$engine"
            printf 'memory_%s_%s %s\n' "$engine" "$count" "$(worker_memory)" >>"$BENCH/engines"
        done
    done
}

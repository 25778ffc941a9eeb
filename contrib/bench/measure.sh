# shellcheck shell=bash
# The measurements and the rounds. Needs stack.sh. Results are lines of KEY=VALUE in BENCH/results, for report.pl.

# Connections to the web server. The engine and the database have one per worker, as in the service.
CONNECTIONS=16
# Seconds of each measurement before round 1, which are not recorded.
WARM_SECONDS=2
# Transactions per connection of the run that measures the cost of connecting; after them plans are generic.
PG_FIRST=10

# Most CPU time that other processes may use and that the host may steal, in percent of all processors.
OTHERS_MAX=3
STEAL_MAX=1
QUIET_SECONDS=4

# Print NAME:PID for each daemon of the stack.
stack_pids() {
    local name pid
    for name in web opa postgres; do
        if pid=$(daemon_pid "$name"); then printf '%s:%s ' "$name" "$pid"; fi
    done
    if pid=$(daemon_pid authz); then printf 'worker:%s ' "$pid"; fi
}

# Print the value of NAME in a line NAME=VALUE... on standard input.
value_of() { tr ' ' '\n' | sed -n "s/^$1=//p" | tail -n 1; }

# Stop if the machine is busy, or only warn with --force.
insist_quiet() {
    local line others steal
    # shellcheck disable=SC2046 # a list of words
    line=$(perl "$TOP/contrib/bench/cpu.pl" $(stack_pids) -- sleep "$QUIET_SECONDS")
    read -r others steal < <(awk -v o="$(value_of other <<<"$line")" -v s="$(value_of steal <<<"$line")" \
        -v w="$(value_of looked <<<"$line")" -v n="$(nproc)" 'BEGIN { printf "%.1f %.1f\n", 100 * o / w / n, 100 * s / w / n }')
    if awk -v o="$others" -v om="$OTHERS_MAX" -v s="$steal" -v sm="$STEAL_MAX" 'BEGIN { exit !(o <= om && s <= sm) }'; then return 0; fi
    if [ "$FORCE" = no ]; then
        printf '%s: the machine is busy: other processes use %s %% of it (limit %s), its host takes %s %% (limit %s)\n' \
            "$PROGRAM" "$others" "$OTHERS_MAX" "$steal" "$STEAL_MAX" >&2
        printf '  what to do: stop the other processes, or use --force and do not rely on the figures\n' >&2
        exit 75
    fi
    say "warning: the machine is busy (other processes use $others % of it, its host takes $steal %); do not rely on these figures"
}

# Print the number of tokens and of audit rows.
rows_now() { postgres_sql -d authz -F ' ' -c 'SELECT (SELECT count(*) FROM access_token), (SELECT count(*) FROM audit_log)'; }

# Print the octets of tokens and audit rows with their indexes. Count only table pages with rows: PostgreSQL adds many pages
# at once when several connections insert, and later rows fill them.
octets_now() {
    postgres_sql -d authz -c "WITH used AS (
        SELECT tableoid AS oid, count(DISTINCT (ctid::text::point)[0]) AS pages FROM access_token GROUP BY 1 UNION ALL
        SELECT tableoid, count(DISTINCT (ctid::text::point)[0]) FROM audit_log GROUP BY 1)
        SELECT sum(pg_total_relation_size(oid) - pg_relation_size(oid) + pages * current_setting('block_size')::int)::bigint
        FROM used"
}

# record NAME WORDS…: write a line of results, except in ROUND 0, the warm-up.
record() {
    local name=$1
    shift
    if [ "$ROUND" -gt 0 ]; then printf 'round=%s segment=%s %s\n' "$ROUND" "$name" "$*" >>"$BENCH/results"; fi
}

# Turn the output into one line: keep lines of NAME=VALUE, and convert the figures of pgbench to that form.
words_of() {
    sed -nE -e 's/^number of transactions actually processed: ([0-9]+).*/requests=\1/p' \
        -e 's/^number of failed transactions: ([0-9]+).*/bad=\1/p' -e '/^[a-z0-9]+=/p' | tr '\n' ' '
}

# measured GROUPS -- COMMAND…: run a command on our standard input; set LINE to its output and its CPU time.
LINE=
measured() {
    LINE=$(perl "$TOP/contrib/bench/cpu.pl" "$@" 2>"$BENCH/errors") || {
        tail -n 20 "$BENCH/errors" >&2
        die "a measurement failed in round $ROUND" "see its output above and the logs in $LOG_DIR"
    }
    LINE=$(words_of <<<"$LINE")
    if [ "$(value_of bad <<<"$LINE")" != 0 ]; then
        cat "$BENCH/errors" >&2
        die "$(value_of bad <<<"$LINE") of $(value_of requests <<<"$LINE") answers are wrong" "see the logs in $LOG_DIR"
    fi
}

# insist_rows WHAT BEFORE NAME COUNT: fail unless COUNT audit rows, and for "token" COUNT tokens, were added since BEFORE.
insist_rows() {
    local tokens audit tokens_before audit_before want=0
    read -r tokens_before audit_before <<<"$2"
    read -r tokens audit <<<"$(rows_now)"
    if [ "$3" = token ]; then want=$4; fi
    if [ $((tokens - tokens_before)) -ne "$want" ] || [ $((audit - audit_before)) -ne "$4" ]; then
        die "$1: $4 requests stored $((tokens - tokens_before)) tokens and $((audit - audit_before)) audit rows" \
            "see the logs in $LOG_DIR"
    fi
}

checkpoint() { postgres_sql -d postgres -c CHECKPOINT; }

# service NAME [SEGMENT]: measure requests of a kind; the result is called SEGMENT, or NAME.
service() {
    local before octets requests
    before=$(rows_now) octets=$(octets_now)
    checkpoint
    # shellcheck disable=SC2046 # a list of words
    measured $(stack_pids) -- "$BENCH/load" "127.0.0.1:$PORT" "$BENCH/$1.http" "$(expected "$1")" "$CONNECTIONS" "$SECONDS_EACH"
    requests=$(value_of requests <<<"$LINE")
    insist_rows "/$1" "$before" "$1" "$requests"
    record "${2:-$1}" "$LINE" "octets=$(($(octets_now) - octets))"
}

# floor_noop NAME
floor_noop() {
    measured "web:$(daemon_pid "noopweb-$1")" "worker:$(daemon_pid "noop-$1")" -- \
        "$BENCH/load" "127.0.0.1:$(noop_port "$1")" "$BENCH/$1.http" "$(expected "$1")" "$CONNECTIONS" "$SECONDS_EACH"
    record "noop.$1" "$LINE"
}

# floor_opa NAME: send the question of the service, exactly as it was recorded.
floor_opa() {
    measured "opa:$(daemon_pid opa)" -- \
        "$BENCH/load" "unix:$RUN_DIR/opa.sock" "$BENCH/$1.opa" '"allow":true' "$WORKERS" "$SECONDS_EACH"
    record "opa.$1" "$LINE"
}

# pgbench_command NAME FIRST-ID OPTION: set PGBENCH to a command line with one connection per worker of the service.
PGBENCH=()
pgbench_command() {
    local values account=()
    mapfile -d '' values <"$BENCH/$1.args"
    if [ -n "$RUN_AS" ]; then account=(setpriv "--reuid=$RUN_AS" "--regid=$(id -g "$RUN_AS")" --init-groups --); fi
    PGBENCH=("${account[@]}" env "PGDATABASE=$(conf_get SVC_DATABASE_URL)" "$(postgres_bin)/pgbench" --no-vacuum
        --protocol=prepared --client="$WORKERS" --jobs=1 --file=- -D "i=$2" "${values[@]}" "$3")
}

# Print the script of pgbench with the current time in its ids.
pgbench_script() { sed "s/@NOW@/$(printf '%012x' "$(date +%s%3N)")/g" "$BENCH/$1.sql"; }

# pgbench NAME FIRST-ID OPTION
pgbench() {
    pgbench_command "$@"
    measured "postgres:$(daemon_pid postgres)" -- "${PGBENCH[@]}" < <(pgbench_script "$1")
}

# floor_pg NAME: run the statements of the service. The first run measures only the cost of connecting.
floor_pg() {
    local before first ids=$((ROUND * 1000000))
    before=$(rows_now)
    checkpoint
    pgbench "$1" "$ids" --transactions="$PG_FIRST"
    record "pgfirst.$1" "$LINE"
    first=$(value_of requests <<<"$LINE")
    pgbench "$1" $((ids + 500000)) --time="$SECONDS_EACH"
    record "pg.$1" "$LINE"
    insist_rows "pgbench with the statements of /$1" "$before" "$1" $((first + $(value_of requests <<<"$LINE")))
}

# floors_together NAME RATE: run the floors at the same time and at the rate of the service. Alone and at full speed, a floor
# has the caches and both halves of a core for itself and is woken once for many requests; a composed service has neither.
floors_together() {
    local before
    before=$(rows_now)
    checkpoint
    pgbench_command "$1" $((ROUND * 1000000 + 700000)) --time="$SECONDS_EACH"
    measured "web:$(daemon_pid "noopweb-$1")" "worker:$(daemon_pid "noop-$1")" "opa:$(daemon_pid opa)" \
        "postgres:$(daemon_pid postgres)" -- "$TOP/contrib/bench/together" "$BENCH/load" "$BENCH" "$2" "$SECONDS_EACH" \
        "127.0.0.1:$(noop_port "$1")" "$BENCH/$1.http" "$(expected "$1")" "$CONNECTIONS" \
        "unix:$RUN_DIR/opa.sock" "$BENCH/$1.opa" "$WORKERS" "${PGBENCH[@]}" < <(pgbench_script "$1")
    record "together.$1" "$LINE"
    insist_rows "pgbench with the statements of /$1" "$before" "$1" "$(value_of pgrequests <<<"$LINE")"
}

# Measure the service and its floors in turn, so that changes over time affect all of them.
round_all() {
    local name rate
    for name in token introspect; do
        service "$name"
        rate=$(($(value_of requests <<<"$LINE") * 1000000 / $(value_of us <<<"$LINE")))
        floor_noop "$name"
        floor_opa "$name"
        floor_pg "$name"
        floors_together "$name" "$rate"
    done
}

# Print the private memory of the largest process of the service in kB; nothing without permission to read it.
worker_memory() {
    local parent pid most=0 now
    parent=$(daemon_pid authz)
    for pid in $(sed -n "s/^\([0-9]*\) (.*) . $parent .*/\1/p" /proc/[0-9]*/stat 2>/dev/null); do
        now=$(awk '/^Private_(Clean|Dirty):/ { n += $2 } END { print n + 0 }' "/proc/$pid/smaps_rollup" 2>/dev/null) || return 0
        if [ "$now" -gt "$most" ]; then most=$now; fi
    done
    printf '%s' "$most"
}

# A step: measure the engine alone, with the question of the service.
evaluation() {
    local name
    for name in token introspect; do
        perl -MJSON::PP -0777 -ne 's/\A.*?\r\n\r\n//s; print JSON::PP->new->canonical->encode(decode_json($_)->{input})' \
            "$BENCH/$name.opa" >"$BENCH/$(case $name in token) printf issue ;; *) printf introspect ;; esac).json"
    done
    "$TOP/contrib/bench/policy/run" -n "$1" -i "$BENCH" "$(opa_here)" >"$BENCH/evaluation"
}

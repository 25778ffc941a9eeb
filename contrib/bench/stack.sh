# shellcheck shell=bash
# The stack under load, its taps and the no-op floor. Needs contrib/lib.
#
#   BENCH        directory of requests, recordings and results
#   CLIENT       client that gets tokens; CALLER introspects them. Both names are in the bindings of policy/run.

BENCH=
CLIENT=client-1
CALLER=client-2
SCOPE=orders.read
# Requests that are recorded, by the names of their files.
REQUESTS='token introspect'
# Lifetime of an access token in seconds; the statements of the floors use one, so it must outlive the run.
TOKEN_SECONDS=3600

# A step.
stack_up() {
    hint "read the log; the command that failed is contrib/quickstart up --dir $DIR --no-demo --no-people"
    CFLAGS="${CFLAGS--O2 -g}" "$TOP/contrib/quickstart" up --dir "$DIR" --no-demo --no-people
    note "workers: $WORKERS"
}

# Set the same variables as the steps of quickstart.
stack_find() {
    layout_choose_account
    layout_find || die "$DIR does not exist"
    PORT=$(cat "$DIR/port")
    BASE_URL=$(base_url "$PORT")
    # The Perl programs use parts of the tests, which look for the programs there.
    AUTHZ_PREFIX=$(prefix_dir)
    export AUTHZ_PREFIX
}

# A step: build the load generator and the no-op program, optimized like the service.
tools_build() {
    hint 'install the packages in the section build of build-aux/packages'
    cc -std=gnu11 -O2 -o "$BENCH/load" "$TOP/contrib/bench/load.c"
    cc -std=gnu11 -O2 -o "$BASE/bin/noop" "$TOP/contrib/bench/noop.c" -lfcgi
}

# admin METHOD TARGET TYPE BODY: send a request to the admin API and print the head and body of the answer.
admin() {
    curl -sS -i --fail-with-body --noproxy '*' --max-time 30 -X "$1" -H "Content-Type: $3" -d "$4" \
        -H "X-Admin-API-Key: $(conf_get SVC_ADMIN_API_KEY)" "$BASE_URL$2"
}

# Create a client and print its secret.
client_make() {
    admin POST /admin/api/clients application/json \
        "{\"clientId\":\"$1\",\"clientType\":\"confidential\",\"enabled\":true}" | sed '1,/^\r$/d' | json_get clientSecret
}

# A step: create two clients, their entitlements and the request files.
clients_make() {
    local secret caller_secret
    hint "the service runs at $BASE_URL; its log is $LOG_DIR/authz.log"
    secret=$(client_make "$CLIENT")
    caller_secret=$(client_make "$CALLER")
    admin PATCH '/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings' application/merge-patch+json \
        "{\"clients\":{\"$CLIENT\":{\"grants\":[\"client_credentials\"],\"scopes\":[\"$SCOPE\"]},
          \"$CALLER\":{\"endpoints\":[\"introspect\"]}}}" | grep -i '^X-Policy-Activation: confirmed'
    request_write token "$CLIENT:$secret" "grant_type=client_credentials&scope=$SCOPE"
    request_send token >"$BENCH/first.answer"
    request_write introspect "$CALLER:$caller_secret" "token=$(sed '1,/^\r$/d' "$BENCH/first.answer" | json_get access_token)"
    request_send introspect | grep -F "$(expected introspect)"
}

# Print the text that the body of an answer must contain.
expected() { case $1 in token) printf '"access_token":' ;; introspect) printf '"active":true' ;; esac; }

# request_write PATH CREDENTIALS BODY
request_write() {
    printf 'POST /%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: authz-bench\r\nAuthorization: Basic %s\r\nContent-Type: %s\r\nContent-Length: %s\r\n\r\n%s' \
        "$1" "${BASE_URL#http://}" "$(printf '%s' "$2" | base64 -w 0)" application/x-www-form-urlencoded "${#3}" "$3" \
        >"$BENCH/$1.http"
}

# Send a request to the service and print the head and body of the answer.
request_send() {
    exec 7<>"/dev/tcp/127.0.0.1/$PORT"
    sed '1s/$/\nConnection: close\r/' "$BENCH/$1.http" >&7
    timeout 30 cat <&7
    exec 7>&-
}

# A step: run one worker with taps in front of the database and the engine, and record what each request sends.
probe_all() {
    local name taps=$RUN_DIR/taps
    hint "the logs are $BENCH/taps.log, $LOG_DIR/authz.log and $LOG_DIR/postgres.log"
    mkdir "$taps"
    chmod 711 "$taps"
    postgres_sql -d postgres -c "ALTER ROLE authz SET log_statement = 'all'"
    setsid perl "$TOP/contrib/bench/taps.pl" "$taps" "$RUN_DIR" "$RUN_DIR/opa.sock" >"$BENCH/taps.log" 2>&1 8>&- 9>&- &
    # shellcheck disable=SC2064 # the pid as it is now
    trap "kill $! 2>/dev/null || :" EXIT
    while [ ! -S "$taps/.s.PGSQL.5432" ]; do kill -0 $! && sleep 0.1; done
    chmod 666 "$taps/opa.sock"
    (
        SVC_DATABASE_URL=$(conf_get SVC_DATABASE_URL | sed "s|host=$RUN_DIR|host=$taps|")
        SVC_OPA_URL=unix:$taps/opa.sock
        WORKERS=1
        # The questions to OPA are recorded, so OPA has to be asked.
        SVC_POLICY_ENGINE=opa
        export SVC_DATABASE_URL SVC_OPA_URL SVC_POLICY_ENGINE
        authz_start
        service_await
    )
    for name in $REQUESTS; do probe "$name" "$taps"; done
    postgres_sql -d postgres -c 'ALTER ROLE authz RESET log_statement'
}

size_of() { stat -c %s "$1" 2>/dev/null || printf 0; }

# probe NAME TAPS: send a request until it causes the same round trips twice; then the worker is warm, and no statement of
# another request is among them. Writes NAME.answer, NAME.trips, NAME.log and NAME.opa.
probe() {
    local name=$1 try source at_trips at_opa at_log
    for try in $(seq 1 20); do
        at_trips=$(size_of "$2/pg-trips") at_opa=$(size_of "$2/opa-requests") at_log=$(size_of "$LOG_DIR/postgres.log")
        request_send "$name" >"$BENCH/$name.answer"
        sleep 0.3 # what is sent after the answer counts too
        mv "$BENCH/$name.trips" "$BENCH/$name.trips.before" 2>/dev/null || :
        tail -c "+$((at_trips + 1))" "$2/pg-trips" >"$BENCH/$name.trips"
        tail -c "+$((at_opa + 1))" "$2/opa-requests" >"$BENCH/$name.opa"
        tail -c "+$((at_log + 1))" "$LOG_DIR/postgres.log" >"$BENCH/$name.log"
        if [ "$try" -gt 3 ] && cmp -s "$BENCH/$name.trips" "$BENCH/$name.trips.before" && probe_whole "$BENCH/$name.opa"; then
            grep -qF "$(expected "$name")" "$BENCH/$name.answer"
            perl "$TOP/contrib/bench/statements.pl" "$BENCH/$name.log" "$BENCH/$name.trips" "$BENCH/$name"
            return 0
        fi
    done
    printf '/%s never caused the same database round trips twice with exactly one question to the engine\n' "$name"
    return 1
}

# True if the file contains exactly one complete question.
probe_whole() {
    perl -0777 -ne 'my ($head, $body) = /\A(POST .*?\r\n\r\n)(.*)\z/s or exit 1;
        exit !($head =~ /^Content-Length: (\d+)/im && $1 == length $body)' "$1"
}

# A step: restart the service for the measurements.
stack_restart() {
    authz_start
    service_await
}

# noop_start NAME: start the no-op program with the recorded answer of the service, behind its own web server with the same
# configuration.
noop_start() {
    local name=$1 dir=$RUN_DIR/noop-$1 conf=$BASE/etc/noop-$1
    as_service mkdir -p "$dir"
    perl -pe 'if (!$body) { s/^HTTP\S+ (.*)/Status: $1/; $_ = "" if /^(Date|Server|Connection|Transfer-Encoding):/i; $body = /^\r$/ }' \
        "$BENCH/$name.answer" | as_service tee "$dir/answer" >/dev/null
    sed "s|$RUN_DIR|$dir|g" "$BASE/etc/lighttpd-authz.conf" >"$conf-authz.conf"
    sed -e "s|$RUN_DIR|$dir|g" -e "s|$BASE/etc/lighttpd-authz.conf|$conf-authz.conf|" \
        -e "s|^server.port = .*|server.port = $(noop_port "$name")|" "$BASE/etc/lighttpd.conf" >"$conf.conf"
    daemon_start "noop-$name" - "$BASE/bin/noop" "$dir/core.sock" "$WORKERS" "$dir/answer"
    daemon_await "noop-$name" 10 test -S "$dir/core.sock"
    daemon_start "noopweb-$name" - "$(web_program lighttpd)" -D -f "$conf.conf"
    daemon_await "noopweb-$name" 10 curl -s --noproxy '*' -o /dev/null "http://127.0.0.1:$(noop_port "$name")/$name"
}

# A step.
noop_start_all() {
    local name port=$((PORT + 1))
    for name in token introspect; do
        while ! port_free "$port"; do port=$((port + 1)); done
        printf '%s' "$port" >"$BENCH/noop-$name.port"
        port=$((port + 1))
        noop_start "$name"
    done
}

noop_port() { cat "$BENCH/noop-$1.port"; }

# Stop everything. With --dir keep the build and the logs, and delete the rest.
stack_down() {
    local name
    [ -n "$RUN_DIR" ] || layout_find || return 0
    for name in noopweb-token noopweb-introspect noop-token noop-introspect opa-2 upstream; do daemon_stop "$name" TERM 5; done
    "$TOP/contrib/quickstart" down --dir "$DIR" >/dev/null 2>&1 || :
    if [ "$KEEP" = no ]; then
        rm -rf "$BENCH"
        "$TOP/contrib/quickstart" down --dir "$DIR" --purge >/dev/null
    else
        stack_forget
    fi
}

# Delete the database, the store of the engine and the keys of an earlier run.
stack_forget() {
    layout_find || return 0
    rm -rf "${BASE:?}/data" "${BASE:?}/opa" "${BASE:?}/etc/authz" "${RUN_DIR:?}"/*
}

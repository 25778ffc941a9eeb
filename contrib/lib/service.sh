# shellcheck shell=bash
# The schema, authz.fcgi and OPA. Needs: layout.sh, daemons.sh, build.sh, settings.sh.

# Three per processor (performance.md 3.4); each has one database connection.
WORKERS=${AUTHZ_WORKERS:-$((3 * $(nproc)))}
# As in etc/systemd/authz.service.
SERVICE_MEMORY=GLIBC_TUNABLES=glibc.malloc.tcache_count=128
# Half of them may wait for identity providers and other servers at the same time.
WEB_WORKERS=8
BUNDLE_WORKERS=2
# Each waits for one upstream at a time.
GATEWAY_WORKERS=${AUTHZ_GATEWAY_WORKERS:-4}

# Print the settings in the environment, which the service gets besides those in authz.conf.
service_environment() { env | grep -E '^(SVC_|SHUTDOWN_PHASE_TIMEOUT=)' | sort || :; }

authzctl() { as_service env SVC_CONFIG="$(conf_path)" "$(authzctl_path)" "$@"; }

# A step of quickstart.
schema_migrate() {
    hint "correct the setting in your environment or in $(conf_path), then run contrib/quickstart again"
    authzctl config check --offline
    hint "run SVC_CONFIG=$(conf_path) $(authzctl_path) db status, and see $LOG_DIR/postgres.log"
    if [ "$OWN_DATABASE" = yes ]; then
        (
            SVC_DATABASE_URL=$(postgres_owner_url)
            export SVC_DATABASE_URL
            authzctl db migrate --grant authz
        )
    else
        authzctl db migrate
    fi
}

authz_sockets_there() {
    local pool
    for pool in core web bundles gateway; do [ -S "$RUN_DIR/$pool.sock" ] || return 1; done
}

# A step of quickstart.
authz_start() {
    local mark command
    command=("$(authz_path)" --workers "$WORKERS" --web "$WEB_WORKERS" --bundles "$BUNDLE_WORKERS"
        --gateway "$GATEWAY_WORKERS" --listen "core=unix:$RUN_DIR/core.sock" --listen "web=unix:$RUN_DIR/web.sock"
        --listen "bundles=unix:$RUN_DIR/bundles.sock" --listen "gateway=unix:$RUN_DIR/gateway.sock")
    hint "correct the setting that the log names, in your environment or in $(conf_path); the log is $LOG_DIR/authz.log"
    as_service env SVC_CONFIG="$(conf_path)" "$(authz_path)" --check
    mark=$({
        service_environment
        printf '%s\n' "${command[@]}"
    } | mark_of "$(conf_path)" "$(authz_path)")
    daemon_start authz "$mark" env SVC_CONFIG="$(conf_path)" "$SERVICE_MEMORY" "${command[@]}"
    daemon_await authz 30 authz_sockets_there
}

opa_config() {
    sed -e "s|http://127.0.0.1:8080/bundles|$BASE_URL/bundles|" -e "s|/var/lib/authz-opa|$BASE/opa|" \
        "$TOP/etc/opa/opa.yaml"
}

# Copy the engine into the instance, because the account of the daemons may not be able to read the cache.
opa_place() {
    local found
    found=$(opa_here)
    if [ "$found" -ef "$BASE/bin/opa" ] || cmp -s "$found" "$BASE/bin/opa"; then return 0; fi
    if ln -fL "$found" "$BASE/bin/opa" 2>/dev/null && as_service test -x "$BASE/bin/opa"; then return 0; fi
    cp --remove-destination "$found" "$BASE/bin/opa"
    chmod 755 "$BASE/bin/opa"
}

opa_socket_there() { [ -S "$RUN_DIR/opa.sock" ]; }

# A step of quickstart.
opa_start() {
    local mark
    hint "the log is $LOG_DIR/opa.log; the engine fetches its policy from $BASE_URL/bundles/svc"
    opa_place
    opa_config >"$BASE/etc/opa.yaml"
    SVC_BUNDLE_API_KEY=$(conf_get SVC_BUNDLE_API_KEY)
    OPA_INSTANCE=$(uname -n)-1
    GOGC=400
    GOMEMLIMIT=512MiB
    # Leave half of the processors to the workers and PostgreSQL; more threads would only wake each other.
    GOMAXPROCS=$((($(nproc) + 1) / 2))
    export SVC_BUNDLE_API_KEY OPA_INSTANCE GOGC GOMEMLIMIT GOMAXPROCS
    mark=$(printf '%s %s' "$SVC_BUNDLE_API_KEY" "$RUN_DIR" | mark_of "$BASE/etc/opa.yaml" "$BASE/bin/opa")
    DAEMON_SETTINGS=SVC_BUNDLE_API_KEY
    # A rule can read the engine's environment (opa.runtime()).
    DAEMON_ONLY='SVC_BUNDLE_API_KEY OPA_INSTANCE GOGC GOMEMLIMIT GOMAXPROCS'
    daemon_start opa "$mark" "$BASE/bin/opa" run --server --config-file "$BASE/etc/opa.yaml" \
        --log-level error --skip-version-check --optimize-store-for-read-speed \
        --addr "unix://$RUN_DIR/opa.sock" --unix-socket-perm 660
    daemon_await opa 20 opa_socket_there
}

service_ready() {
    READY_ANSWER=$(curl -s --noproxy '*' --max-time 5 "$BASE_URL/health/ready") || return 1
    # DEGRADED: another server does not answer, and the service is as good as a start can make it.
    case $READY_ANSWER in '{"status":"UP"'* | '{"status":"DEGRADED"'* | *'"status": "UP"'*) return 0 ;; esac
    return 1
}

# A step: wait until the service is ready, with its database, engine and policy.
service_await() {
    hint "run curl -i $BASE_URL/health/ready to see which part is not ready; the logs are in $LOG_DIR"
    if ! daemon_await authz 45 service_ready; then
        tail -n 5 "$LOG_DIR/opa.log" "$LOG_DIR/authz.log" 2>&1 || :
        printf 'the last answer of %s/health/ready: %s\n' "$BASE_URL" "${READY_ANSWER:-none}"
        return 1
    fi
}

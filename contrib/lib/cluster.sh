# shellcheck shell=bash
# The machines of contrib/cluster: etcd, PostgreSQL kept by Patroni, and the hosts of authz with HAProxy. Each runs the examples of etc/
# with addresses and passwords of its own. Needs: layout.sh, daemons.sh, postgres.sh, settings.sh, web.sh, cluster_net.sh.

CLUSTER_WEB_PORT=8080
CLUSTER_FRONT_PORT=8000

cluster_databases() { printf '%s\n' $MACHINES | grep '^db'; }
cluster_hosts() { printf '%s\n' $MACHINES | grep '^app'; }

# Print a password of the cluster, which is made once.
cluster_password() {
    local file=$BASE/etc/$1.password
    [ -s "$file" ] || (
        umask 077
        random_key >"$file"
    )
    cat "$file"
}

# Replace the example's addresses by ours.
cluster_addresses() {
    sed -e "s/192\.0\.2\.0/10.213.$NET_ID.0/g" -e "s/192\.0\.2\.1\([0-3]\)/10.213.$NET_ID.1\1/g" \
        -e "s/192\.0\.2\.2\([12]\)/10.213.$NET_ID.2\1/g"
}

# start_in MACHINE NAME MARK COMMAND…: start a daemon in the network of a machine.
start_in() {
    DAEMON_NET=$(net_space "$1")
    shift
    daemon_start "$@"
    DAEMON_NET=
}

# ---- etcd

etcd_url() { printf 'http://%s:2379' "$(net_address etcd)"; }

# etcd_value KEY: print the value of a key of Patroni.
etcd_value() {
    ETCDCTL_API=2 etcdctl --endpoints "$(etcd_url)" --total-timeout 3s get "/service/authz/$1" 2>/dev/null
}

etcd_healthy() { ETCDCTL_API=3 etcdctl --endpoints "$(etcd_url)" --command-timeout 2s endpoint health >/dev/null 2>&1; }

etcd_start() {
    as_service mkdir -p "$BASE/data/etcd"
    start_in etcd etcd - "$(command -v etcd)" --enable-v2 --name etcd --data-dir "$BASE/data/etcd" --logger zap --log-level error \
        --listen-client-urls "$(etcd_url)" --advertise-client-urls "$(etcd_url)" --listen-peer-urls http://127.0.0.1:2380 \
        --initial-advertise-peer-urls http://127.0.0.1:2380 --initial-cluster etcd=http://127.0.0.1:2380
    daemon_await etcd 20 etcd_healthy
}

# ---- PostgreSQL

# Write the configuration of Patroni. A watchdog would reset this machine.
patroni_config() {
    local name=$1 bin
    bin=$(postgres_bin)
    cluster_addresses <"$TOP/etc/patroni/patroni.yml" | sed -e "s/^name: .*/name: $name/" \
        -e "/^restapi:/,\$s/10\.213\.$NET_ID\.11:/$(net_address "$name"):/" \
        -e "s|data_dir: .*|data_dir: $BASE/data/$name|" -e "s|bin_dir: .*|bin_dir: $bin|" \
        -e "s|pgpass: .*|pgpass: $BASE/data/$name.pgpass|" -e 's/  mode: automatic/  mode: off/' \
        -e "s/SUPERUSER-PASSWORD/$(cluster_password superuser)/" -e "s/REPLICATOR-PASSWORD/$(cluster_password replicator)/" \
        -e "s|  pg_hba:|  parameters:\n    unix_socket_directories: $RUN_DIR/$name\n  pg_hba:|"
}

patroni_start() {
    local name=$1 file=$BASE/etc/$1.yml
    as_service mkdir -p "$RUN_DIR/$name"
    (
        umask 077
        patroni_config "$name" >"$file"
    )
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$file"; fi
    start_in "$name" "$name" "$(mark_of "$file" </dev/null)" "$(command -v patroni)" "$file"
}

# Print the name of the primary, as etcd has it; nothing while there is none.
cluster_primary() { etcd_value leader || :; }

# Print the name of the standby that confirms commits.
cluster_standby() { etcd_value sync | sed -n 's/.*"sync_standby": *"\([a-z0-9]*\)".*/\1/p'; }

cluster_whole() {
    local primary standby
    primary=$(cluster_primary) && standby=$(cluster_standby) || return 1
    [ -n "$primary" ] && [ -n "$standby" ] && [ "$primary" != "$standby" ]
}

# cluster_sql MACHINE [ARGUMENT…]: psql as the superuser at one server.
cluster_sql() {
    local name=$1
    shift
    PGPASSWORD=$(cluster_password superuser) PGCONNECT_TIMEOUT=2 psql -X -q -A -t -v ON_ERROR_STOP=1 \
        -h "$(net_address "$name")" -U postgres "$@"
}

# A step.
databases_start() {
    local name primary
    hint "the logs are $LOG_DIR/db1.log and $LOG_DIR/db2.log"
    for name in $(cluster_databases); do patroni_start "$name"; done
    daemon_await db1 90 cluster_whole
    primary=$(cluster_primary)
    if [ "$(cluster_sql "$primary" -d postgres -c "SELECT count(*) FROM pg_roles WHERE rolname = 'authz'")" = 0 ]; then
        cluster_sql "$primary" -d postgres <<<"CREATE ROLE authz LOGIN PASSWORD '$(cluster_password authz)'"
        cluster_sql "$primary" -d postgres -c 'CREATE DATABASE authz OWNER authz'
    fi
}

# Print the pids of PostgreSQL of a machine: the server and its children.
postgres_pids() {
    local pid
    pid=$(head -n 1 "$BASE/data/$1/postmaster.pid" 2>/dev/null) || return 0
    if [ -d "/proc/$pid" ]; then printf '%s\n' "$pid" && { pgrep -P "$pid" || :; }; fi
}

# Print them and those of Patroni, which would start it again.
machine_pids() {
    local pid
    if pid=$(daemon_pid "$1"); then printf '%s\n' "$pid" && { pgrep -P "$pid" || :; }; fi
    postgres_pids "$1"
}

# signal_pids SIGNAL: send it to the pids that are read, of which some may have ended meanwhile.
signal_pids() {
    local pids
    pids=$(tr '\n' ' ')
    # shellcheck disable=SC2086 # a list of words
    if [ -n "$pids" ]; then kill "-$1" $pids 2>/dev/null || :; fi
}

# ---- the hosts of authz

# Print the address of all databases, or of HAProxy.
servers_url() {
    local name list=
    for name in $(cluster_databases); do list="$list${list:+,}$(net_address "$name"):5432"; done
    printf 'postgresql://authz:%s@%s/authz' "$(cluster_password authz)" "${1-$list}"
}

# Print the address of the database for a host: a list of servers for libpq, or HAProxy.
database_url() {
    case $VIA-$1 in
    libpq-* | both-app1) servers_url ;;
    *) servers_url 127.0.0.1:5432 ;;
    esac
}

haproxy_config() {
    cluster_addresses <"$TOP/etc/haproxy/authz.cfg" |
        sed -e "s|bind :443 ssl crt .*|bind :$CLUSTER_FRONT_PORT|" \
            -e "/server db2 /{ p; s/db2 [0-9.]*:/db3 $(net_address db3):/; }" |
        if [[ $MACHINES == *db3* ]]; then cat; else grep -v 'server db3 '; fi
}

haproxy_start() {
    local file=$BASE/etc/haproxy-$1.cfg
    haproxy_config >"$file"
    haproxy -c -q -f "$file"
    start_in "$1" "haproxy-$1" "$(mark_of "$file" </dev/null)" "$(command -v haproxy)" -db -f "$file"
}

# A step: start a host with quickstart, in its own network. All hosts have the keys of the first one.
host_start() {
    local name=$1 key first reads=
    if [ "$STANDBY_READS" = yes ]; then reads=$(servers_url); fi
    hint "run contrib/quickstart status --dir $DIR/$name, and see $DIR/$name/up"
    haproxy_start "$name"
    first=$DIR/app1/authz.conf
    for key in SVC_ADMIN_API_KEY SVC_ADMIN_PEPPER SVC_CREDENTIAL_KEY SVC_BUNDLE_API_KEY; do
        if [ -f "$first" ]; then export "$key=$(sed -n "s/^$key=//p" "$first")"; fi
    done
    # Each host runs the same programs, built once.
    if [ -z "${AUTHZ_PREFIX-}" ] && [ -f "$DIR/app1/env" ]; then
        AUTHZ_PREFIX=$(sed -n 's/^AUTHZ_PREFIX="\(.*\)"$/\1/p' "$DIR/app1/env")
        export AUTHZ_PREFIX
    fi
    net_in "$name" env SVC_DATABASE_URL="$(database_url "$name")" SVC_DATABASE_READ_URL="$reads" \
        SVC_RATE_LIMIT_ENABLED=false SVC_TRUSTED_PROXY_COUNT=1 SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS=86400 AUTHZ_WEB_BIND=0.0.0.0 \
        "$TOP/contrib/quickstart" up --dir "$DIR/$name" --port "$CLUSTER_WEB_PORT" --no-demo --no-people
}

host_answers() {
    curl -s --noproxy '*' --max-time 5 -o /dev/null -w '%{http_code}' "http://$(net_address "$1"):$CLUSTER_WEB_PORT/health/ready"
}

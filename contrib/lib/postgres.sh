# shellcheck shell=bash
# A private PostgreSQL cluster: UNIX socket only, checksums, durable commits. Needs: layout.sh, daemons.sh.
#
# Roles: the service connects as `authz`, with a password; `authz-owner` owns the tables, and the service can change neither them nor the
# audit log. `postgres` is the superuser. Only root and the account that runs the cluster can connect as these two, by peer credentials.

PG_CONNECTIONS=${AUTHZ_PG_CONNECTIONS:-100}
# Directory with a directory for each version, and the oldest version that the schema works on.
PG_DIR=${AUTHZ_PG_DIR:-/usr/lib/postgresql}
PG_OLDEST=14

# Print the directory of the server programs: of the version that created the cluster, or the newest.
postgres_bin() {
    local want='*' dir found=
    if as_service test -s "$BASE/data/PG_VERSION"; then want=$(as_service cat "$BASE/data/PG_VERSION"); fi
    # shellcheck disable=SC2086 # a pattern
    for dir in $(printf '%s\n' "$PG_DIR"/$want/bin | sort -V); do
        if [ -x "$dir/initdb" ]; then found=$dir; fi
    done
    if [ -z "$found" ] && [ "$want" = '*' ] && command -v initdb >/dev/null; then
        found=$(dirname "$(readlink -f "$(command -v initdb)")")
    fi
    [ -n "$found" ] || {
        printf 'the PostgreSQL server is not installed (version %s)\n' "$want" >&2
        return 1
    }
    printf '%s' "$found"
}

postgres_check_version() {
    local version
    version=$("$1/postgres" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
    if [ "$version" -ge "$PG_OLDEST" ]; then return 0; fi
    hint "install PostgreSQL $PG_OLDEST or newer (Debian 12 has 15: apt-get install postgresql), or set SVC_DATABASE_URL to a database of one"
    printf 'PostgreSQL %s in %s is too old: %s or newer is required\n' "$version" "$1" "$PG_OLDEST"
    return 1
}

postgres_admin_url() { printf 'postgresql://postgres@/authz?host=%s' "$RUN_DIR"; }
postgres_owner_url() { printf 'postgresql://authz-owner@/authz?host=%s' "$RUN_DIR"; }
postgres_url() { printf 'postgresql://authz:%s@/authz?host=%s' "$1" "$RUN_DIR"; }

postgres_initdb() {
    local bin=$1
    # A cluster without authz.complete is unfinished, because the first start was interrupted: create it again.
    if as_service test -e "$BASE/data/authz.complete"; then return 0; fi
    as_service find "$BASE/data" -mindepth 1 -delete
    as_service "$bin/initdb" --pgdata="$BASE/data" --username=postgres --encoding=UTF8 --locale=C.UTF-8 \
        --data-checksums --auth=peer --no-instructions
    as_service tee -a "$BASE/data/postgresql.conf" >/dev/null <<<"include 'authz.conf'"
    as_service touch "$BASE/data/authz.complete"
}

# Print who may connect as which role.
postgres_access() {
    cat <<-END
		local all postgres,authz-owner peer map=admin
		local all all scram-sha-256
	END
}
postgres_accounts() {
    local account role
    for account in "${RUN_AS:-$(id -un)}" root; do
        for role in postgres authz-owner; do printf 'admin %s %s\n' "$account" "$role"; done
    done
}

# Print the configuration. Commits are durable. Memory is a quarter of the machine's, at most 1 GB, because several instances
# may run side by side.
postgres_settings() {
    local shared
    shared=$(awk '/^MemTotal:/ { mb = int($2 / 4096); print (mb > 1024 ? 1024 : mb < 128 ? 128 : mb) }' /proc/meminfo)
    cat <<-END
		listen_addresses = ''
		unix_socket_directories = '$RUN_DIR'
		unix_socket_permissions = 0700
		max_connections = $PG_CONNECTIONS
		shared_buffers = ${shared}MB
		max_wal_size = 2GB
		checkpoint_timeout = 15min
		wal_compression = lz4
		random_page_cost = 1.1
		jit = off
		default_toast_compression = lz4
		synchronous_commit = on
		fsync = on
		full_page_writes = on
		password_encryption = scram-sha-256
		log_destination = stderr
		logging_collector = off
		log_line_prefix = '%m [%p] %q%u@%d '
		timezone = UTC
	END
}

postgres_sql() { as_service psql -X -q -A -t -v ON_ERROR_STOP=1 -h "$RUN_DIR" -U postgres "$@"; }

postgres_ready() { as_service "$1/pg_isready" -q -h "$RUN_DIR" -U postgres -d postgres >/dev/null; }

# Create the roles and the database; set the password of authz.conf at each start. Instances of earlier versions have one role that owns
# the tables.
postgres_database() {
    local have role
    for role in authz authz-owner; do
        have=$(postgres_sql -d postgres -c "SELECT count(*) FROM pg_roles WHERE rolname = '$role'")
        if [ "$have" = 0 ]; then postgres_sql -d postgres -c "CREATE ROLE \"$role\" LOGIN"; fi
    done
    postgres_sql -d postgres <<<"ALTER ROLE authz PASSWORD '$1'"
    have=$(postgres_sql -d postgres -c "SELECT count(*) FROM pg_database WHERE datname = 'authz'")
    if [ "$have" = 0 ]; then postgres_sql -d postgres -c 'CREATE DATABASE authz OWNER "authz-owner"'; fi
    postgres_sql -d authz -c 'REASSIGN OWNED BY authz TO "authz-owner"; ALTER SCHEMA public OWNER TO "authz-owner"' \
        -c 'REVOKE CREATE ON SCHEMA public FROM PUBLIC'
}

# Remove the lock file of a killed server. In a container without init the server stays a zombie, and PostgreSQL takes it for
# running. Remove the file only if its pid is a zombie and no process of that server uses the directory.
postgres_unlock() {
    local pid process
    pid=$(as_service head -n 1 "$BASE/data/postmaster.pid" 2>/dev/null) || return 0
    [ -e "/proc/$pid" ] && ! process_began "$pid" >/dev/null || return 0
    for process in /proc/[0-9]*; do
        if [ "$(readlink "$process/cwd")" = "$BASE/data" ]; then return 0; fi
    done
    as_service rm -f "$BASE/data/postmaster.pid"
}

# A step of quickstart.
postgres_start() {
    local bin password=$1
    hint "see $LOG_DIR/postgres.log; contrib/quickstart down --dir $DIR --purge deletes the instance, to start again with an empty database"
    bin=$(postgres_bin)
    postgres_check_version "$bin"
    postgres_initdb "$bin"
    postgres_settings | as_service tee "$BASE/data/authz.conf" >/dev/null
    postgres_access | as_service tee "$BASE/data/pg_hba.conf" >/dev/null
    postgres_accounts | as_service tee "$BASE/data/pg_ident.conf" >/dev/null
    if ! daemon_pid postgres >/dev/null; then postgres_unlock; fi
    daemon_start postgres "$({ postgres_settings && postgres_access && postgres_accounts; } | mark_of)" "$bin/postgres" -D "$BASE/data"
    daemon_await postgres 60 postgres_ready "$bin"
    postgres_database "$password"
}

# shellcheck shell=bash
# Try the images of contrib/lib/images.sh where no containers run: each is unpacked by buildah and run in a root of its own, with
# read-only files, its own mounts and process ids, as the account and with the command that the image names. TAP on standard
# output. Needs: root, TOP, images.sh, OUT, WORK, WEB.
#
# What a container platform does besides is not tried: its network, its secrets, limits of memory, and its own rules for system calls.

TRY_TESTS=0 TRY_FAILED=0
TRY_DIR=
TRY_PIDS=()
TRY_URL=http://127.0.0.1:8080

# ok TEXT COMMAND…: one test; the output of a failed command is shown.
ok() {
    local text=$1 output
    shift
    TRY_TESTS=$((TRY_TESTS + 1))
    if output=$("$@" 2>&1); then
        echo "ok $TRY_TESTS - $WEB: $text"
    else
        TRY_FAILED=$((TRY_FAILED + 1))
        echo "not ok $TRY_TESTS - $WEB: $text"
        sed 's/^/#   /' <<<"$output"
    fi
}
no() { ! "$@"; }
has() { grep -q -- "$1" <<<"$2" || { echo "no '$1' in: $2"; return 1; }; }
within() {
    local seconds=$1 until=$((SECONDS + $1))
    shift
    until "$@"; do
        [ "$SECONDS" -lt "$until" ] || { echo "not within $seconds s"; return 1; }
        sleep 0.1
    done
}

# try_of IMAGE FIELD: a list of the image's configuration, one word a line.
try_of() { images_buildah inspect --type container --format "{{range .Docker.Config.$2}}{{println .}}{{end}}" "try-$1" | sed '/^$/d'; }
try_user() { images_buildah inspect --type container --format '{{.Docker.Config.User}}' "try-$1"; }

# try_unpack NAME: make a working container of the archive, which checks its digests, and remember its root.
try_unpack() {
    images_buildah rm "try-$1" >/dev/null 2>&1 || :
    images_buildah from --quiet --name "try-$1" "docker-archive:$OUT/$1.tar" >/dev/null
    images_buildah mount "try-$1"
}

# try_run NAME ROOT COMMAND…: run a command in the root of an image. Files of TRY_DIR/NAME.env are its environment, beside that of the
# image; TRY_DIR/NAME.mounts has lines FROM TO of what is mounted.
try_run() {
    local name=$1 root=$2 user
    shift 2
    user=$(try_user "$name")
    {
        try_of "$name" Env
        cat "$TRY_DIR/$name.env"
    } >"$TRY_DIR/$name.all"
    # shellcheck disable=SC2016 # expanded by the inner shell
    exec unshare --mount --pid --fork --kill-child bash -euc '
        root=$1 user=$2 dir=$3 name=$4
        shift 4
        mount --make-rprivate /
        mount --bind "$root" "$root"
        while read -r from to; do mkdir -p "$root$to"; done <"$dir/$name.mounts"
        mount -o remount,bind,ro,nosuid,nodev "$root"
        mount -t proc proc "$root/proc"
        mount -t tmpfs -o mode=755,size=64k tmpfs "$root/dev"
        for device in null zero full random urandom; do
            : >"$root/dev/$device"
            mount --bind "/dev/$device" "$root/dev/$device"
        done
        ln -s /proc/self/fd "$root/dev/fd"
        while read -r from to; do
            if [ "$from" = tmpfs ]; then mount -t tmpfs -o "mode=700,uid=${user%:*},gid=${user#*:}" tmpfs "$root$to"
            else mount --bind "$from" "$root$to"; fi
        done <"$dir/$name.mounts"
        mapfile -t environment <"$dir/$name.all"
        exec env -i "${environment[@]}" /usr/bin/setpriv --bounding-set=-all,+sys_chroot,+setuid,+setgid --inh-caps=-all --no-new-privs \
            /usr/sbin/chroot --userspec="$user" --groups="${user#*:},'"$IMAGE_ENGINE_USER"'" "$root" "$@"' \
        try "$root" "$user" "$TRY_DIR" "$name" "$@"
}

# try_start NAME ROOT LOG: run the image as a container platform does: its entry point with its command.
try_start() {
    local words
    mapfile -t words < <(
        try_of "$1" Entrypoint
        try_of "$1" Cmd
    )
    # Apache opens its standard error again, so it belongs to the account, as container platforms have it.
    : >"$3"
    chown "$(try_user "$1")" "$3"
    (try_run "$1" "$2" "${words[@]}") >>"$3" 2>&1 </dev/null &
    TRY_PIDS+=($!)
    TRY_PID=$!
}

# Wait for the end of a root; TRY_STATUS is its exit status. Call these in this shell alone: a subshell has no children to wait for.
try_wait() {
    TRY_STATUS=0
    wait "$1" || TRY_STATUS=$?
}

# Send SIGTERM to the first process of a root, and wait for its end.
try_stop() {
    local first
    # A root that has ended has no process; its status tells.
    first=$(ps -o pid= --ppid "$1" | tr -d ' ') || :
    if [ -n "$first" ]; then kill -TERM "$first"; fi
    try_wait "$1"
}
status_is() { [ "$TRY_STATUS" -eq "$1" ] || { echo "exit status $TRY_STATUS, expected $1"; return 1; }; }

try_end() {
    local pid
    for pid in "${TRY_PIDS[@]}"; do kill -KILL "$pid" 2>/dev/null || :; done
    wait
    rm -rf "$TRY_DIR"
}

# A database that is reached by its socket alone, with a password.
try_database() {
    local bin
    bin=$(find /usr/lib/postgresql -maxdepth 2 -name bin | sort -V | tail -n 1)
    mkdir -p "$TRY_DIR/postgresql"
    chown postgres "$TRY_DIR/postgresql"
    runuser -u postgres -- "$bin/initdb" -D "$TRY_DIR/postgresql/data" -A trust -E UTF8 --locale=C.UTF-8
    mkdir "$TRY_DIR/postgresql/socket"
    chown postgres "$TRY_DIR/postgresql/socket"
    sed -i '/^local/d; 1i local all postgres trust\nlocal all all scram-sha-256' "$TRY_DIR/postgresql/data/pg_hba.conf"
    runuser -u postgres -- "$bin/postgres" -D "$TRY_DIR/postgresql/data" -k "$TRY_DIR/postgresql/socket" -c listen_addresses= \
        -c fsync=off >"$TRY_DIR/postgresql.log" 2>&1 </dev/null &
    TRY_PIDS+=($!)
    within 60 psql -q -h "$TRY_DIR/postgresql/socket" -U postgres -c "CREATE ROLE authz LOGIN PASSWORD 'of-the-trial'"
    psql -q -h "$TRY_DIR/postgresql/socket" -U postgres -c "CREATE ROLE \"authz-owner\" LOGIN PASSWORD 'of-the-owner'" \
        -c 'CREATE DATABASE authz OWNER "authz-owner"'
}

# Secrets as files, as platforms mount them; the engine gets its own alone.
try_secrets() {
    local name
    mkdir -p "$TRY_DIR/secrets" "$TRY_DIR/engine-secrets" "$TRY_DIR/opa" "$TRY_DIR/opa-data"
    for name in admin_api_key admin_pepper credential_key bundle_api_key; do
        head -c 32 /dev/urandom | od -An -tx1 | tr -d ' \n' >"$TRY_DIR/secrets/$name"
    done
    printf 'postgresql://authz:of-the-trial@/authz?host=/run/postgresql\n' >"$TRY_DIR/secrets/database_url"
    printf 'postgresql://authz-owner:of-the-owner@/authz?host=/run/postgresql\n' >"$TRY_DIR/secrets/database_owner_url"
    cp "$TRY_DIR/secrets/bundle_api_key" "$TRY_DIR/engine-secrets"
    chmod 400 "$TRY_DIR"/*secrets/*
    chown -R "$IMAGE_USER" "$TRY_DIR/secrets"
    chown -R "$IMAGE_ENGINE_USER:$IMAGE_ENGINE_USER" "$TRY_DIR/engine-secrets" "$TRY_DIR/opa" "$TRY_DIR/opa-data"
    chmod 750 "$TRY_DIR/opa"
    {
        printf 'SVC_OIDC_ISSUER=%s\n' "$TRY_URL"
        for name in admin_api_key admin_pepper credential_key bundle_api_key database_url; do
            printf 'SVC_%s_FILE=/run/secrets/%s\n' "$(tr '[:lower:]' '[:upper:]' <<<"$name")" "$name"
        done
    } >"$TRY_DIR/authz-$WEB.env"
    printf '%s\n' "tmpfs /run/authz" "tmpfs /run/authz-uploads" "$TRY_DIR/secrets /run/secrets" "$TRY_DIR/postgresql/socket /run/postgresql" \
        "$TRY_DIR/opa /run/authz-opa" >"$TRY_DIR/authz-$WEB.mounts"
    printf 'HOSTNAME=engine-1\n' >"$TRY_DIR/authz-opa.env"
    printf '%s\n' "$TRY_DIR/engine-secrets /run/secrets" "$TRY_DIR/opa /run/authz-opa" "$TRY_DIR/opa-data /var/lib/authz-opa" \
        >"$TRY_DIR/authz-opa.mounts"
}

ctl() { (try_run "authz-$WEB" "$AUTHZ_ROOT" /usr/bin/authzctl "$@") </dev/null; }
# As the owner of the tables, as the jobs do that migrate.
owner_ctl() {
    local status=0
    sed -i 's|/database_url$|/database_owner_url|' "$TRY_DIR/authz-$WEB.env"
    ctl "$@" || status=$?
    sed -i 's|/database_owner_url$|/database_url|' "$TRY_DIR/authz-$WEB.env"
    return "$status"
}
admin() { ctl --server "$TRY_URL" --key-file /run/secrets/admin_api_key "$@"; }
member() { sed -n "s/.*\"$1\" *: *\"\{0,1\}\([^\",}]*\).*/\1/p" | head -n 1; }

try_token() {
    admin --json client create demo --type confidential --enable | member clientSecret >"$TRY_DIR/secret"
    admin entitle demo --grant client_credentials --endpoint introspect --scope orders.read
    curl -sS --noproxy '*' --max-time 20 -u "demo:$(cat "$TRY_DIR/secret")" -d grant_type=client_credentials -d scope=orders.read \
        "$TRY_URL/token" | tee "$TRY_DIR/answer" | member access_token >"$TRY_DIR/token"
    [ -s "$TRY_DIR/token" ] || { cat "$TRY_DIR/answer"; return 1; }
}
try_active() {
    has '"active" *: *true' "$(curl -sS --noproxy '*' --max-time 20 -u "demo:$(cat "$TRY_DIR/secret")" \
        -d "token=$(cat "$TRY_DIR/token")" "$TRY_URL/introspect")"
}
try_ready() { ctl health --ready "$TRY_URL"; }
try_planned() { curl -sS --noproxy '*' --max-time 20 "$TRY_URL/health/ready" | grep -F '"name":"plan","status":"UP"'; }
try_shells() { find "$1" \( -name sh -o -name bash -o -name dash -o -name busybox -o -name 'perl*' -o -name 'apt*' \) -type f | grep .; }
try_setuid() { find "$1" -perm /6000 -type f | grep .; }

try_copyrights() {
    local package count=0
    for package in "$1"/var/lib/dpkg/status.d/*; do
        [ -s "$1/usr/share/doc/$(basename "$package")/copyright" ] || { echo "$package has none"; return 1; }
        count=$((count + 1))
    done
    [ "$count" -gt 0 ]
}

try_files() {
    local name root
    for name in "authz-$WEB" authz-opa; do
        if [ "$name" = authz-opa ]; then root=$OPA_ROOT; else root=$AUTHZ_ROOT; fi
        ok "$name has no shell, no Perl and no apt" no try_shells "$root/usr"
        ok "$name has no file with the rights of another account" no try_setuid "$root"
        ok "$name names an account that is not root" grep -qE '^[1-9][0-9]*:[1-9]' <<<"$(try_user "$name")"
        ok "$name has the copyright of each package" try_copyrights "$root"
    done
}

# The healthcheck of the image, as a platform calls it.
try_healthcheck() {
    local words
    mapfile -t words < <(images_buildah inspect --type container --format '{{range .Docker.Config.Healthcheck.Test}}{{println .}}{{end}}' \
        "try-authz-$WEB" | sed '/^$/d; /^CMD$/d')
    (try_run "authz-$WEB" "$AUTHZ_ROOT" "${words[@]}") </dev/null
}

# Octets of memory of an account's processes, in MB; what they share counts once.
try_memory() {
    local pid
    for pid in $(pgrep -u "$1"); do cat "/proc/$pid/smaps_rollup"; done | awk '$1 == "Pss:" { n += $2 } END { printf "%d", n / 1024 }'
}

# The status of a body of 100 KB at a path, which waits in a file until it is complete: the service answers, and not the web server.
try_body() {
    local status
    status=$(head -c 100000 /dev/zero | curl -sS --noproxy '*' --max-time 20 -o /dev/null -w '%{http_code}' \
        -H 'Content-Type: application/octet-stream' --data-binary @- "$TRY_URL/$1")
    case $status in 4*) ;; *) echo "status $status"; return 1 ;; esac
}

try_service() {
    local authz path
    ok 'authzctl db migrate makes the schema' owner_ctl db migrate --grant authz
    ok '... which the role of the service does not' no ctl db migrate
    try_start authz-opa "$OPA_ROOT" "$TRY_DIR/opa.log"
    OPA_PID=$TRY_PID
    SECONDS=0
    try_start "authz-$WEB" "$AUTHZ_ROOT" "$TRY_DIR/authz.log"
    authz=$TRY_PID
    ok 'the service is ready, with a policy of the engine' within 60 try_ready
    echo "# $WEB: $SECONDS s from the start of both images to a service that is ready"
    ok '... which decides by its plan' within 60 try_planned
    ok 'the health check of the image passes' try_healthcheck
    ok 'a client gets a token' try_token
    ok '... which is active' try_active
    for path in token admin/api/clients bundles/svc gateway/none; do ok "a body of 100 KB reaches the service: $path" try_body "$path"; done
    echo "# $WEB: $(try_memory "$IMAGE_USER") MB of memory for the service and its web server, $(try_memory "$IMAGE_ENGINE_USER") MB for the engine"
    ok 'the console is there' has 'id="app"' "$(curl -sS --noproxy '*' --max-time 20 "$TRY_URL/portal/")"
    ok 'the log goes to standard error' grep -q '"started"' "$TRY_DIR/authz.log"
    ok 'the owner drops old partitions' owner_ctl maintain
    ok 'no secret is in it' no grep -qf "$TRY_DIR/secrets/credential_key" "$TRY_DIR/authz.log"
    SECONDS=0
    try_stop "$authz"
    ok 'SIGTERM stops it, with status 0' status_is 0
    echo "# $WEB: $SECONDS s for the stop"
    try_start "authz-$WEB" "$AUTHZ_ROOT" "$TRY_DIR/authz-2.log"
    authz=$TRY_PID
    ok 'a second start is ready' within 60 try_ready
    ok '... and knows the token' try_active
    try_stop "$authz"
    ok 'it stops again' status_is 0
    try_stop "$OPA_PID"
    ok 'SIGTERM stops the engine' status_is 0
    printf 'SVC_LOG_LEVEL=loud\n' >>"$TRY_DIR/authz-$WEB.env"
    try_start "authz-$WEB" "$AUTHZ_ROOT" "$TRY_DIR/authz-3.log"
    try_wait "$TRY_PID"
    ok 'a wrong setting ends it with status 78' status_is 78
    ok '... and is named' grep -q '^authz.fcgi: SVC_LOG_LEVEL: must be one of' "$TRY_DIR/authz-3.log"
}

images_try() {
    if [ -z "${IMAGES_INSIDE-}" ]; then
        [ "$(id -u)" -eq 0 ] || die 'try needs root'
        IMAGES_INSIDE=yes exec unshare --net --mount --pid --fork --kill-child --mount-proc "$TOP/contrib/images" try --web "$WEB" \
            --out "$OUT"
    fi
    ip link set lo up
    TRY_DIR=$(mktemp -d /tmp/authz-images-XXXXXX)
    chmod 755 "$TRY_DIR"
    trap try_end EXIT
    AUTHZ_ROOT=$(try_unpack "authz-$WEB")
    OPA_ROOT=$(try_unpack authz-opa)
    try_database >"$TRY_DIR/initdb.log" 2>&1
    try_secrets
    try_files
    try_service
    if [ "$TRY_FAILED" -gt 0 ]; then tail -n 20 "$TRY_DIR"/*.log | sed 's/^/#   /'; fi
    echo "# not run: a container platform, its network, secrets, limits and rules for system calls"
    echo "1..$TRY_TESTS"
    [ "$TRY_FAILED" -eq 0 ]
}

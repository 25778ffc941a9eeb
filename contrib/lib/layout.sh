# shellcheck shell=bash
# Directories and account of one instance. Needs: TOP, ui.sh.
#
#   DIR         the directory that the user named: env, pids, port, build/ and up/ (logs of the steps)
#   BASE        the directory of the daemons: inst/ etc/ log/ data/ opa/ bin/ run; the same as DIR, unless their account
#               cannot reach DIR (a checkout in root's home), then a directory in /var/lib with a link from DIR
#   BASE/run    sockets, mode 0700; a link to a short temporary directory if the path is too long for a socket

DIR=
BASE=
UP_DIR=
LOG_DIR=
RUN_DIR=
RUN_AS=
SERVICE_USER=authz
# struct sockaddr_un holds 107 octets and a NUL; our longest name in run is ".s.PGSQL.5432.lock".
SOCKET_DIR_MAX=$((107 - 20))

# If root calls, every daemon runs under another account: PostgreSQL requires it, and the others need no privileges.
layout_choose_account() {
    if [ "$(id -u)" -ne 0 ]; then return 0; fi
    RUN_AS=${AUTHZ_USER:-$SERVICE_USER}
    if ! getent passwd "$RUN_AS" >/dev/null; then
        useradd --system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin "$RUN_AS" ||
            die "cannot create the system account $RUN_AS" 'create it, or name another account in AUTHZ_USER'
    fi
    if [ "$(id -u "$RUN_AS")" -eq 0 ]; then die 'AUTHZ_USER must not be root' 'set it to an unprivileged account'; fi
}

# Run a command under the account of the daemons, in a directory that it can read, and without our locks.
as_service() {
    (
        cd /
        exec 8>&- 9>&-
        if [ -z "$RUN_AS" ]; then exec "$@"; fi
        exec setpriv --reuid="$RUN_AS" --regid="$(id -g "$RUN_AS")" --init-groups -- \
            env -u XDG_CACHE_HOME -u XDG_RUNTIME_DIR HOME=/nonexistent USER="$RUN_AS" LOGNAME="$RUN_AS" "$@"
    )
}

# Refuse directory names that would need quotes in configure, make, configuration files or a database address.
layout_check_name() {
    case $1 in
    *[!A-Za-z0-9._/+@-]*) die "the directory name '$1' may contain only letters, digits and ._/+@-" \
        'choose another directory with --dir, or move the checkout' ;;
    esac
}

layout_make_dirs() {
    local name
    mkdir -p "$DIR"
    DIR=$(cd "$DIR" && pwd -P)
    layout_check_name "$DIR"
    chmod go-w "$DIR"
    [ -n "$RUN_AS" ] && chmod a+rx "$DIR"
    UP_DIR=$DIR/up
    mkdir -p "$UP_DIR"
    BASE=$(layout_base)
    LOG_DIR=$BASE/log
    for name in inst etc log data opa bin demo; do
        mkdir -p "$BASE/$name"
        if [ "$BASE" != "$DIR" ]; then ln -sfn "$BASE/$name" "$DIR/$name"; fi
    done
    if [ -n "$RUN_AS" ]; then
        chmod 755 "$BASE" "$BASE/inst" "$BASE/etc" "$BASE/log" "$BASE/bin"
        chown "$RUN_AS:" "$BASE/data" "$BASE/opa"
    fi
    chmod 700 "$BASE/data" "$BASE/opa"
    layout_make_run
}

# Print the directory that the daemons can reach.
layout_base() {
    local base
    if as_service test -x "$DIR"; then
        printf '%s' "$DIR"
        return 0
    fi
    base=/var/lib/authz-quickstart/$(printf '%s' "$DIR" | cksum | cut -d ' ' -f 1)
    mkdir -p "$base"
    chmod 755 /var/lib/authz-quickstart "$base"
    ln -sfn "$base" "$DIR/base"
    printf '%s' "$base"
}

layout_make_run() {
    RUN_DIR=$BASE/run
    if [ ${#RUN_DIR} -gt "$SOCKET_DIR_MAX" ]; then
        if [ ! -d "$RUN_DIR/" ]; then
            rm -f "$RUN_DIR"
            ln -s "$(mktemp -d /tmp/authz-XXXXXXXX)" "$RUN_DIR"
        fi
        RUN_DIR=$(readlink "$RUN_DIR")
    fi
    mkdir -p "$RUN_DIR"
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$RUN_DIR"; fi
    chmod 700 "$RUN_DIR"
    if [ "$BASE" != "$DIR" ]; then ln -sfn "$RUN_DIR" "$DIR/run"; fi
}

# Find the directories of an existing instance, for down, status and env.
layout_find() {
    [ -d "$DIR" ] || return 1
    DIR=$(cd "$DIR" && pwd -P)
    UP_DIR=$DIR/up
    BASE=$DIR
    if [ -L "$DIR/base" ]; then BASE=$(readlink "$DIR/base"); fi
    LOG_DIR=$BASE/log
    RUN_DIR=$BASE/run
    if [ -L "$RUN_DIR" ]; then RUN_DIR=$(readlink "$RUN_DIR"); fi
}

# Delete the instance with its data.
layout_purge() {
    local name
    case $RUN_DIR in /tmp/authz-*) rm -rf "$RUN_DIR" ;; esac
    case $BASE in /var/lib/authz-quickstart/*) rm -rf "$BASE" ;; esac
    for name in inst etc log data opa bin demo run build src up base env authz.conf pids port provider-port people lock; do
        rm -rf "${DIR:?}/$name"
    done
    rmdir "$DIR" 2>/dev/null || say "$DIR contains other files and was kept"
}

# Exit status 0: the port is free; 1: another program uses it; 2: this user may not use it.
port_free() {
    perl -MIO::Socket::INET -MErrno -e '
        exit 0 if IO::Socket::INET->new(LocalAddr => "127.0.0.1", LocalPort => shift, Listen => 1, ReuseAddr => 1);
        exit($!{EACCES} ? 2 : 1)' "$1"
}

# port_check DAEMON PORT OLD-PORT REMEDY: fail if another program uses the port. The daemon itself may, at its old port.
port_check() {
    local rc=0
    if [ "$2" = "$3" ] && daemon_pid "$1" >/dev/null; then return 0; fi
    port_free "$2" || rc=$?
    case $rc in
    0) ;;
    2) if [ "$2" -ge 1024 ]; then die "port $2 on 127.0.0.1 cannot be used" "$4"; fi
        die "port $2 is for root alone, as every port below 1024" "run this as root, or choose another port with --port" ;;
    *) die "another program uses port $2 on 127.0.0.1; nothing was installed or changed" "$4" ;;
    esac
}

# Print a free port below the ephemeral range of the kernel.
port_any() {
    local port try
    for try in $(seq 1 50); do
        port=$((20000 + (RANDOM * 32768 + RANDOM + try) % 12000))
        if port_free "$port"; then
            printf '%s' "$port"
            return 0
        fi
    done
    return 1
}

# port_near FILE PORT: print the port in the file, else this one if it is free, else any free one.
port_near() {
    if [ -s "$1" ]; then
        cat "$1"
    elif [ "$2" -ge 1024 ] && [ "$2" -le 65535 ] && port_free "$2"; then
        printf '%s' "$2"
    else
        port_any
    fi
}

# Print the port of this instance: the given one, else the previous one, else 8080 for the default directory, else a free one.
port_choose() {
    if [ -n "$1" ]; then
        printf '%s' "$1"
    elif [ "$DIR" = "$TOP/var" ]; then
        port_near "$DIR/port" 8080
    else
        port_near "$DIR/port" 0
    fi
}

# Print the base URL; the default port of the scheme is left out, as in an issuer.
base_url() { if [ "$1" -eq 80 ]; then printf 'http://127.0.0.1'; else printf 'http://127.0.0.1:%s' "$1"; fi; }

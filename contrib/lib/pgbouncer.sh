# shellcheck shell=bash
# Find pgbouncer 1.21 or newer, or build that of Debian 13. Needs: ui.sh, packages.sh.
#
# AUTHZ_PGBOUNCER  program to use

PGBOUNCER_OLDEST=1.21

# True if the program keeps prepared statements in transaction mode.
pgbouncer_usable() {
    local version
    [ -x "$1" ] || return 1
    version=$("$1" --version 2>/dev/null | awk '$1 == "PgBouncer" { print $2; exit }')
    [ -n "$version" ] && [ "$(printf '%s\n%s\n' "$version" "$PGBOUNCER_OLDEST" | sort -V | head -n 1)" = "$PGBOUNCER_OLDEST" ]
}

pgbouncer_kept() { printf '%s/authz/bin/pgbouncer' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# Print the named program, the one that was built, or the installed one.
pgbouncer_here() {
    local candidate
    for candidate in "${AUTHZ_PGBOUNCER-}" "$(pgbouncer_kept)" /usr/sbin/pgbouncer; do
        if pgbouncer_usable "$candidate"; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

# Fetch the sources of Debian 13 by apt, with lists of their own, and build them in WORK.
pgbouncer_build() {
    local work=$1 apt
    apt="-o Dir::Etc::sourcelist=$work/sources.list -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$work/lists
        -o Dir::Cache=$work/cache -o APT::Sandbox::User=root"
    mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
    printf 'deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian trixie main\n' \
        >"$work/sources.list"
    # shellcheck disable=SC2086 # a list of words
    (cd "$work" && apt-get -q $apt update && apt-get -q $apt source pgbouncer)
    (cd "$work"/pgbouncer-*/ && ./configure --without-cares --without-openssl --without-systemd && make pgbouncer)
    pgbouncer_usable "$work"/pgbouncer-*/pgbouncer
    mkdir -p "$(dirname "$(pgbouncer_kept)")"
    cp "$work"/pgbouncer-*/pgbouncer "$(pgbouncer_kept)"
}

# A step.
pgbouncer_get() {
    local work
    if [ -n "${AUTHZ_PGBOUNCER-}" ] && ! pgbouncer_usable "$AUTHZ_PGBOUNCER"; then
        printf 'AUTHZ_PGBOUNCER: %s is not pgbouncer %s or newer\n' "$AUTHZ_PGBOUNCER" "$PGBOUNCER_OLDEST"
        return 1
    fi
    if pgbouncer_here >/dev/null; then
        note 'there already'
        return 0
    fi
    packages_install pooler
    work=$(mktemp -d)
    pgbouncer_build "$work"
    rm -rf "$work"
}

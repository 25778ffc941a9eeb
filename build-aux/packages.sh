# shellcheck shell=bash
# Install the missing packages in build-aux/packages. Needs: TOP, ui.sh.

# Print the packages of the given sections, with alternatives as in the list.
packages_list() {
    local section
    for section in "$@"; do
        awk -v s="$section" '$1 == s { print $2 }' "$TOP/build-aux/packages"
    done | sort -u
}

# Print the packages of the given sections that are not installed; of alternatives, the first one.
packages_missing() {
    local installed entry
    installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' 2>/dev/null | awk '$1 ~ /^.i/ { print $2 }')
    for entry in $(packages_list "$@"); do
        if ! grep -qxE "${entry//+/\\+}" <<<"$installed"; then printf '%s\n' "${entry%%|*}"; fi
    done
}

# Debian starts a service when its package is installed. quickstart runs its own copies, so services must not start and
# take port 80 or 5432 during the installation. A rule that the machine already has is left alone.
packages_hold_services() {
    local rule=/usr/sbin/policy-rc.d
    [ ! -e "$rule" ] || return 0
    # shellcheck disable=SC2064 # expand now, not when the trap runs
    trap "$1 rm -f $rule" EXIT
    printf '#!/bin/sh\nexit 101\n' | $1 tee "$rule" >/dev/null
    $1 chmod 755 "$rule"
}

# Print the command prefix for root: nothing for root, else sudo. Fail if sudo cannot be used.
packages_root_word() {
    if [ "$(id -u)" -eq 0 ]; then return 0; fi
    if command -v sudo >/dev/null && { sudo -n true 2>/dev/null || [ -t 2 ]; }; then
        printf 'sudo'
        return 0
    fi
    return 1
}

packages_apt() {
    local root=$1 try
    shift
    for try in 1 2 3; do
        if $root env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 "$@"; then return 0; fi
        printf 'apt-get %s: attempt %s failed\n' "$1" "$try"
        sleep "$try"
    done
    return 1
}

# A step: install the packages of the given sections.
packages_install() {
    local missing root
    if ! command -v dpkg-query >/dev/null; then
        note 'not a Debian system: nothing was installed; see build-aux/packages'
        return 0
    fi
    missing=$(packages_missing "$@" | tr '\n' ' ')
    if [ -z "$missing" ]; then
        note 'installed already'
        return 0
    fi
    hint "run as root: apt-get update && apt-get install --no-install-recommends $missing"
    printf 'missing: %s\n' "$missing"
    root=$(packages_root_word)
    packages_hold_services "$root"
    packages_apt "$root" update
    # --no-remove: fail instead of removing a package that the machine needs.
    # shellcheck disable=SC2086 # a list of words
    packages_apt "$root" install --no-install-recommends --no-remove $missing
    note "installed $(wc -w <<<"$missing")"
}

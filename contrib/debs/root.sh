# shellcheck shell=bash
# Clean roots of Debian, or of Ubuntu. Needs: TOP, WORK and root.
#
# A root is used as a directory with process ids of its own (root_run), or booted: systemd is its first process, with the units,
# mounts and control groups of a real machine, and a network of its own (root_boot). Everything in it ends with its first process.

# DEBS_SUITE  the release of Debian, bookworm (12) or trixie (13), or of Ubuntu, noble (24.04)

DEBS_SUITE=${DEBS_SUITE:-bookworm}
BASE_ROOT=$WORK/root-$DEBS_SUITE.tar
UBUNTU=http://archive.ubuntu.com/ubuntu
UBUNTU_KEY=F6ECB3762474EDA9D21B7022871920D1991BC93C # of 2018
UBUNTU_KEYRING=ubuntu-keyring_2023.11.28.1_all.deb
UBUNTU_KEYRING_SHA256=36de43b15853ccae0028e9a767613770c704833f82586f28eb262f0311adb8a8 # by the signed index of noble
BOOTED='' BOOT_PARENT='' BOOT_GROUP=''
BOOT_SECONDS=60
# Programs run with the environment of a shell of root and with no setting of this machine.
ROOT_ENV=(HOME=/root LC_ALL=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
    DEBIAN_FRONTEND=noninteractive)

# Print the key with which Ubuntu signs its archive. Debian 12 has no package of it. Ubuntu's comes without TLS, so it is compared with
# its checksum before anything reads it; the key is chosen by its fingerprint.
root_ubuntu_key() {
    local dir=$WORK/ubuntu-keyring
    rm -rf "$dir"
    mkdir "$dir"
    mkdir -m 700 "$dir/home"
    curl -fsS --max-time 60 -o "$dir/keyring.deb" "$UBUNTU/pool/main/u/ubuntu-keyring/$UBUNTU_KEYRING"
    printf '%s  %s\n' "$UBUNTU_KEYRING_SHA256" "$dir/keyring.deb" | sha256sum --check --quiet >&2 || return 1
    dpkg-deb -x "$dir/keyring.deb" "$dir/files"
    GNUPGHOME=$dir/home gpg --batch --quiet --import "$dir/files/usr/share/keyrings/ubuntu-archive-keyring.gpg"
    GNUPGHOME=$dir/home gpg --batch --export "$UBUNTU_KEY"
    rm -rf "$dir"
}

# A later run with the same directory uses the root of the earlier one. Every installed system has passwd; apt alone does not need it.
root_base() {
    local options=(--format=tar --variant=apt '--include=ca-certificates,curl,procps,iproute2,passwd,systemd-sysv') mirror=()
    if [ -s "$BASE_ROOT" ]; then return 0; fi
    if [ "$DEBS_SUITE" = noble ]; then
        root_ubuntu_key >"$WORK/ubuntu.gpg"
        options+=('--components=main,universe' "--keyring=$WORK/ubuntu.gpg")
        mirror=("$UBUNTU")
    fi
    # Without a mirror, that of Debian.
    mmdebstrap "${options[@]}" "$DEBS_SUITE" "$BASE_ROOT.new" "${mirror[@]}"
    mv "$BASE_ROOT.new" "$BASE_ROOT"
}

# root_make ROOT: unpack a new one, with the way to the network that this machine has: name servers, and the authorities that
# it trusts, because a proxy may have its own.
root_make() {
    rm -rf "$1"
    mkdir -p "$1"
    tar -C "$1" -xf "$BASE_ROOT"
    cp -L /etc/resolv.conf "$1/etc/resolv.conf"
    cp -L /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"
    # Without a name of its own, as in an installed system, the default site of Apache would be the one of 127.0.0.1.
    printf '127.0.0.1 localhost\n127.0.1.1 %s\n' "$(uname -n)" >"$1/etc/hosts"
    # Nothing starts while it is installed: this part has the network of the machine, and ports there may be taken.
    printf '#!/bin/sh\nexit 101\n' >"$1/usr/sbin/policy-rc.d"
    chmod 755 "$1/usr/sbin/policy-rc.d"
}

# root_source ROOT DIR: copy the sources, without what a build has put beside them.
root_source() {
    mkdir -p "$1$2"
    tar -C "$TOP" --exclude=./.git --exclude=./var --exclude='*.o' --exclude='*.a' --exclude=.deps --exclude=./config.status \
        --exclude=./Makefile --exclude=./configure --exclude=./debian/authz --exclude=./debian/tmp -cf - . |
        tar -C "$1$2" --no-same-owner -xf -
}

# root_run ROOT NETWORK COMMAND…: run a command; NETWORK is --net for a network of its own, or empty.
root_run() {
    local root=$1 network=$2
    shift 2
    # shellcheck disable=SC2086 # an option or nothing
    unshare --mount --pid --fork --kill-child $network bash -c '
        root=$1; shift
        mount --make-rprivate / && mount --bind "$root" "$root" && mount -t proc proc "$root/proc" &&
            mount --rbind /dev "$root/dev" && exec env -i "$@"' root_run "$root" "${ROOT_ENV[@]}" /usr/sbin/chroot "$root" "$@"
}

# Mount what the first process of a root expects: the devices of a container, and control groups of its own.
boot_mounts() {
    local root=$1 name
    mount --make-rprivate /
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount -t sysfs -o ro sysfs "$root/sys"
    mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
    mount -t tmpfs -o mode=755 tmpfs "$root/run"
    mount -t tmpfs -o mode=755 tmpfs "$root/dev"
    for name in null zero full random urandom tty; do cp -a "/dev/$name" "$root/dev/$name"; done
    ln -s /proc/self/fd "$root/dev/fd"
    ln -s pts/ptmx "$root/dev/ptmx"
    mkdir "$root/dev/pts" "$root/dev/shm"
    mount -t devpts -o newinstance,ptmxmode=666 devpts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
    ip link set lo up
}

# root_boot ROOT: start systemd in it. Fail if this machine cannot, for example without control groups of version 2, or if
# ROOT_BOOT is no.
root_boot() {
    local root=$1 groups waited=0 state=
    : >"$root.boot.log"
    [ "${ROOT_BOOT-}" != no ] || return 1
    groups=$(findmnt -n -o TARGET -t cgroup2 | head -n 1)
    [ -n "$groups" ] || return 1
    BOOT_GROUP=$groups/authz-check-$$-$(basename "$root")
    mkdir "$BOOT_GROUP" || return 1
    : >"$root/etc/machine-id"
    # shellcheck disable=SC2016 # expanded by the inner shells
    bash -c 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' boot "$BOOT_GROUP" \
        unshare --mount --pid --fork --uts --ipc --net --cgroup --kill-child bash -euc "$(declare -f boot_mounts)"'
            boot_mounts "$1"; exec env -i container=check /usr/sbin/chroot "$1" /lib/systemd/systemd' boot "$root" \
        >"$root.boot.log" 2>&1 </dev/null &
    BOOT_PARENT=$!
    while [ "$waited" -lt "$BOOT_SECONDS" ]; do
        kill -0 "$BOOT_PARENT" 2>/dev/null || return 1
        BOOTED=$(ps -o pid= --ppid "$BOOT_PARENT" | tr -d ' ') || :
        # Before it is systemd, systemctl would ask the systemd of this machine.
        if [ "$(cat "/proc/${BOOTED:-none}/comm" 2>/dev/null)" = systemd ]; then
            state=$(boot_run systemctl is-system-running 2>/dev/null) || :
        fi
        case $state in running | degraded) return 0 ;; esac
        sleep 1
        waited=$((waited + 1))
    done
    return 1
}

# boot_run COMMAND…: run a command in the root that is booted.
boot_run() {
    nsenter --target "$BOOTED" --mount --uts --ipc --net --pid --cgroup --root --wd env -i "${ROOT_ENV[@]}" "$@" </dev/null
}

root_halt() {
    local waited=0
    # With unshare its child ends, and with that every process in the root.
    if [ -n "${BOOT_PARENT-}" ]; then
        kill -KILL "$BOOT_PARENT" 2>/dev/null || :
        wait "$BOOT_PARENT" 2>/dev/null || :
        BOOT_PARENT='' BOOTED=''
    fi
    while [ -d "${BOOT_GROUP:-/nonexistent}" ] && [ "$waited" -lt "$BOOT_SECONDS" ]; do
        find "$BOOT_GROUP" -depth -type d -exec rmdir {} \; 2>/dev/null || :
        if [ -d "$BOOT_GROUP" ]; then sleep 1; fi
        waited=$((waited + 1))
    done
}

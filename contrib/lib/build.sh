# shellcheck shell=bash
# Build the programs out of tree and install them into the instance. Needs: TOP, ui.sh, layout.sh.
#
# AUTHZ_PREFIX  installed tree to use instead of building one (for contrib/check and tests with many instances)

SOURCES='configure.ac Makefile.am fcgi cli sql etc'

prefix_dir() { printf '%s' "${AUTHZ_PREFIX:-$BASE/inst}"; }
authzctl_path() { printf '%s/bin/authzctl' "$(prefix_dir)"; }
authz_path() { printf '%s/libexec/authz/authz.fcgi' "$(prefix_dir)"; }

# Print a checksum of the names, sizes and times of all sources and of the build configuration.
build_stamp() {
    {
        # shellcheck disable=SC2086 # a list of words
        (cd "$TOP" && find $SOURCES -type f -printf '%p %s %T@\n' | sort)
        printf '%s\n' "$TOP" "$BASE" "${CC-}" "${CFLAGS-}" "${CPPFLAGS-}" "${LDFLAGS-}"
    } | sha256sum | cut -c1-32
}

# Print the tree to configure from. Copy a tree that was configured in place, because make would find its objects, and a
# tree that is not writable, because autoreconf could not create configure there.
build_source() {
    local copy=$DIR/src
    if [ ! -e "$TOP/config.status" ] && { [ -w "$TOP" ] || [ -x "$TOP/configure" ]; }; then
        printf '%s' "$TOP"
        return 0
    fi
    rm -rf "$copy"
    mkdir -p "$copy"
    tar -C "$TOP" --exclude=./.git --exclude=./var --exclude='*.o' --exclude='*.a' --exclude='*.lo' \
        --exclude='*.la' --exclude=.libs --exclude=.deps --exclude=./config.status --exclude=./config.h \
        --exclude=./Makefile --exclude=./libtool -cf - . | tar -C "$copy" -xf -
    printf '%s' "$copy"
}

# Run only one autoreconf at a time in a tree that this account may change. The lock is a file that no other account can open: whoever
# can read the tree could hold a lock on it for ever. A new source file changes sources.am.
build_autoreconf() {
    exec 8</dev/null
    if [ -w "$1" ]; then
        (umask 077 && : >>"$1/config.lock" && chmod 600 "$1/config.lock")
        exec 8<"$1/config.lock"
        flock 8
    fi
    if [ -w "$1" ]; then "$1/build-aux/sources" "$1"; fi
    if [ ! -x "$1/configure" ] || [ "$1/configure.ac" -nt "$1/configure" ] || [ "$1/sources.am" -nt "$1/configure" ]; then
        (cd "$1" && autoreconf -i)
    fi
    exec 8<&-
}

# build_into SOURCE BUILD PREFIX [CONFIGURE OPTION…]
build_into() {
    local source=$1 build=$2 prefix=$3
    shift 3
    build_autoreconf "$source"
    mkdir -p "$build"
    (
        cd "$build" || exit
        if [ ! -e config.status ] || [ "$source/configure" -nt config.status ]; then
            "$source/configure" --prefix="$prefix" "$@"
        fi
        make -j"$(nproc)"
        make install
    )
}

# A step of quickstart.
build_install() {
    local stamp source
    if [ -n "${AUTHZ_PREFIX-}" ]; then
        hint "AUTHZ_PREFIX must be an installed tree that the account ${RUN_AS:-$(id -un)} can read"
        as_service test -x "$(authz_path)"
        note "using $AUTHZ_PREFIX"
        return 0
    fi
    stamp=$(build_stamp)
    if [ "$stamp" = "$(cat "$DIR/build/authz.stamp" 2>/dev/null)" ] && [ -x "$(authz_path)" ]; then
        note unchanged
        return 0
    fi
    hint "fix the error that the compiler reports; if a header or a tool is missing, install the packages in build-aux/packages; rm -r $DIR/build restarts the build"
    source=$(build_source)
    build_into "$source" "$DIR/build" "$BASE/inst" --sysconfdir="$BASE/etc" --localstatedir="$BASE"
    printf '%s' "$stamp" >"$DIR/build/authz.stamp"
}

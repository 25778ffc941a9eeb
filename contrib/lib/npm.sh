# shellcheck shell=bash
# Get Node.js and the npm packages in t/npm for the tests. Needs: TOP, ui.sh, packages.sh, opa.sh (version_reaches).
#
# AUTHZ_NODE          Node.js program to use
# AUTHZ_NODE_MODULES  node_modules directory to use

NODE_OLDEST=20
NODE_PACKAGED=20.20.2

npm_cache_dir() { printf '%s/authz/npm' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# Use one directory per list of packages, so that two checkouts do not replace each other's.
npm_modules_dir() { printf '%s/%s' "$(npm_cache_dir)" "$(sha256sum <"$TOP/t/npm/package-lock.json" | cut -c1-16)"; }

node_usable() {
    local version
    [ -x "$1" ] || return 1
    version=$("$1" --version 2>/dev/null | tr -d v)
    [ -n "$version" ] && version_reaches "$version" "$NODE_OLDEST"
}

# Print the installed Node.js: the named one, the one on PATH, or the cached one.
node_here() {
    local candidate
    if [ -n "${AUTHZ_NODE-}" ]; then
        node_usable "$AUTHZ_NODE" && printf '%s' "$AUTHZ_NODE"
        return
    fi
    for candidate in "$(command -v node || :)" "$(npm_cache_dir)/node-$NODE_PACKAGED"/node_modules/node-linux-*/bin/node; do
        if node_usable "$candidate"; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

# Print the directory of the installed packages.
npm_here() {
    local modules=${AUTHZ_NODE_MODULES:-$(npm_modules_dir)/node_modules}
    [ -d "$modules/puppeteer-core" ] && printf '%s' "$modules"
}

npm_quietly() { npm "$@" --ignore-scripts --no-audit --no-fund --no-update-notifier; }

# npm_keep DIRECTORY NAME: move a finished directory into the cache; if another run was faster, keep its directory.
npm_keep() {
    mkdir -p "$(npm_cache_dir)"
    mv -T "$1" "$(npm_cache_dir)/$2" 2>/dev/null || [ -d "$(npm_cache_dir)/$2/node_modules" ]
}

# Get Node.js from npm, because that of Debian 12 is too old.
npm_get_node() {
    local machine
    machine=$(uname -m)
    case $machine in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    esac
    mkdir "$1/node"
    (cd "$1/node" && npm_quietly install --no-save --prefix . "node-linux-$machine@$NODE_PACKAGED")
    npm_keep "$1/node" "node-$NODE_PACKAGED"
}

npm_get_modules() {
    mkdir "$1/modules"
    cp "$TOP/t/npm/package.json" "$TOP/t/npm/package-lock.json" "$1/modules"
    (cd "$1/modules" && npm_quietly ci)
    npm_keep "$1/modules" "$(basename "$(npm_modules_dir)")"
}

# A step; afterwards node_here and npm_here print the paths.
npm_get() {
    local work
    if node_here >/dev/null && npm_here >/dev/null; then
        note "Node.js $("$(node_here)" --version), packages unchanged"
        return 0
    fi
    if [ -n "${AUTHZ_NODE_MODULES-}" ]; then
        hint "AUTHZ_NODE_MODULES=$AUTHZ_NODE_MODULES must contain the packages in t/npm; unset it to download them"
        printf 'the packages in AUTHZ_NODE_MODULES are incomplete\n'
        return 1
    fi
    hint "put npm and Node.js $NODE_OLDEST or newer on PATH, check that npm can reach its registry, and run the same command again"
    command -v npm >/dev/null || (packages_install node)
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # expand now, not when the trap runs
    trap "rm -rf '$work'" EXIT
    node_here >/dev/null || npm_get_node "$work"
    npm_here >/dev/null || npm_get_modules "$work"
    node_here >/dev/null
    npm_here >/dev/null
    note "Node.js $("$(node_here)" --version), packages installed"
}

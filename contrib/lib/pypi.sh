# shellcheck shell=bash
# Get the Python programs in t/pypi for the tests. Needs: TOP, ui.sh, packages.sh.
#
# AUTHZ_PYPI  virtual environment to use

# Use one directory per list of packages, so that two checkouts do not replace each other's.
pypi_dir() {
    printf '%s/authz/pypi/%s' "${XDG_CACHE_HOME:-$HOME/.cache}" "$(sha256sum <"$TOP/t/pypi/requirements.txt" | cut -c1-16)"
}

# Print the directory of the environment with all programs.
pypi_here() {
    local environment=${AUTHZ_PYPI:-$(pypi_dir)}
    [ -x "$environment/bin/schemathesis" ] && [ -x "$environment/bin/openapi-spec-validator" ] && printf '%s' "$environment"
}

# A step; afterwards pypi_here prints the path. The programs name the directory that they are installed in, so the environment
# is made in place; a mark is the last file, and an unfinished directory is made again.
pypi_get() {
    local environment
    if pypi_here >/dev/null; then
        note 'packages unchanged'
        return 0
    fi
    hint 'check that pip can reach its index, and run the same command again'
    python3 -c 'import ensurepip' 2>/dev/null || (packages_install test)
    environment=$(pypi_dir)
    rm -rf "$environment"
    python3 -m venv "$environment"
    "$environment/bin/pip" install -q --no-input --disable-pip-version-check -r "$TOP/t/pypi/requirements.txt"
    pypi_here >/dev/null
    note "installed $(wc -l <"$TOP/t/pypi/requirements.txt")"
}

# shellcheck shell=bash
# The settings of one instance: authz.conf for the service, with keys that are created once, and DIR/env for the user. Needs: layout.sh,
# postgres.sh, build.sh.

BASE_URL=
OWN_DATABASE=yes
OWN_OPA=yes

# Print the path of authz.conf, the default of the programs that quickstart builds.
conf_path() { printf '%s/etc/authz/authz.conf' "$BASE"; }

# Print the value of a name in authz.conf; fail if it has none.
conf_get() {
    [ -f "$(conf_path)" ] || return 1
    awk -v n="$1=" 'index($0, n) == 1 { print substr($0, length(n) + 1); found = 1; exit } END { exit !found }' \
        "$(conf_path)"
}

random_key() { openssl rand -hex 32; }

# setting NAME DEFAULT-COMMAND…: print the value in the environment, else the one in authz.conf, else a new one.
setting() {
    local name=$1
    shift
    if [ -n "${!name+set}" ]; then printf '%s' "${!name}"; else conf_get "$name" || "$@"; fi
}

# Use the database or the engine in the environment instead of our own, unless the address comes from our own env file.
settings_find_foreign() {
    case ${SVC_DATABASE_URL-} in
    '' | *"host=$RUN_DIR") unset SVC_DATABASE_URL ;;
    *) OWN_DATABASE=no ;;
    esac
    case ${SVC_OPA_URL-} in
    '' | "unix:$RUN_DIR/"*) unset SVC_OPA_URL ;;
    *) OWN_OPA=no ;;
    esac
    unset SVC_CONFIG SVC_RUNTIME_DIR
}

# Print the database password of authz.conf, or a new one for a new instance.
database_password() {
    local url
    if url=$(conf_get SVC_DATABASE_URL) && [[ $url =~ ^postgresql://authz:([0-9a-f]+)@/ ]]; then
        printf '%s' "${BASH_REMATCH[1]}"
    else
        random_key
    fi
}

conf_text() {
    local name
    cat <<-END
		# Written by contrib/quickstart at each start. Keep the keys: the secrets in the database cannot be read without
		# SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER. Add your own settings below SVC_BUNDLE_API_KEY; they are kept.
		SVC_OIDC_ISSUER=${SVC_OIDC_ISSUER-$BASE_URL}
		SVC_DATABASE_URL=${SVC_DATABASE_URL-$(postgres_url "$1")}
		SVC_OPA_URL=${SVC_OPA_URL-unix:$RUN_DIR/opa.sock}
		SVC_RUNTIME_DIR=$RUN_DIR
	END
    # The program that plans policies for SVC_POLICY_ENGINE=embedded.
    if [ -x "$BASE/bin/opa" ] && ! conf_extra | grep -q '^SVC_OPA_BINARY='; then
        printf 'SVC_OPA_BINARY=%s\n' "${SVC_OPA_BINARY-$BASE/bin/opa}"
    fi
    for name in SVC_ADMIN_API_KEY SVC_ADMIN_PEPPER SVC_CREDENTIAL_KEY SVC_BUNDLE_API_KEY; do
        printf '%s=%s\n' "$name" "$(setting "$name" random_key)"
    done
    conf_extra
}

# Print the lines that the user added to the file.
conf_extra() {
    [ -f "$(conf_path)" ] || return 0
    awk '/^SVC_BUNDLE_API_KEY=/ { own = 1; next } own' "$(conf_path)"
}

# A step of quickstart.
settings_write() {
    local password text
    mkdir -p "$(dirname "$(conf_path)")"
    password=$(database_password)
    text=$(conf_text "$password")
    if [ -f "$(conf_path)" ] && [ "$text" = "$(cat "$(conf_path)")" ]; then
        note 'unchanged'
    fi
    (
        umask 077
        printf '%s\n' "$text" >"$(conf_path).new"
    )
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$(conf_path).new"; fi
    mv "$(conf_path).new" "$(conf_path)"
    if [ "$BASE" != "$DIR" ] || [ ! -e "$DIR/authz.conf" ]; then ln -sfn "$(conf_path)" "$DIR/authz.conf"; fi
    printf '%s' "$PORT" >"$DIR/port"
}

# Print NAME="value" so that both a shell and a simple parser can read it.
env_line() {
    local value=${2//\\/\\\\}
    value=${value//\"/\\\"}
    value=${value//\$/\\\$}
    printf '%s="%s"\n' "$1" "${value//\`/\\\`}"
}

pids_text() {
    local name pid list=
    for name in postgres opa web authz; do
        if pid=$(daemon_pid "$name"); then list="$list $name:$pid"; fi
    done
    printf '%s' "${list# }"
}

env_write() {
    local name
    (
        umask 077
        {
            env_line BASE_URL "$BASE_URL"
            for name in SVC_ADMIN_API_KEY SVC_BUNDLE_API_KEY SVC_DATABASE_URL SVC_OPA_URL; do
                env_line "$name" "$(conf_get "$name")"
            done
            env_line SVC_CONFIG "$(conf_path)"
            env_line LOG_DIR "$LOG_DIR"
            env_line DATABASE_ADMIN_URL "$(postgres_admin_url)"
            env_line AUTHZ_PREFIX "$(prefix_dir)"
            env_line SERVICE_USER "${RUN_AS:-$(id -un)}"
            env_line PIDS "$(pids_text)"
        } >"$DIR/env.new"
    )
    mv "$DIR/env.new" "$DIR/env"
}

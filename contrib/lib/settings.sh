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

# Settings of authz.conf that quickstart writes itself, and one that is of the environment alone. Others that are in the environment become lines at its end.
SETTINGS_OWN='SVC_OIDC_ISSUER SVC_DATABASE_URL SVC_OPA_URL SVC_RUNTIME_DIR SVC_CONFIG SVC_ADMIN_API_KEY SVC_ADMIN_PEPPER
SVC_CREDENTIAL_KEY SVC_BUNDLE_API_KEY SVC_ALLOW_SHARED_SETTINGS'

# True for a value of a setting that quickstart made itself, for this or an earlier port and socket directory.
setting_is_ours() {
    case $1 in
    SVC_OIDC_ISSUER) [[ $2 =~ ^http://127\.0\.0\.1(:[0-9]+)?$ ]] ;;
    SVC_DATABASE_URL) [[ $2 =~ ^postgresql://authz:[0-9a-f]{64}@/authz\?host=/ ]] ;;
    SVC_OPA_URL) [[ $2 == "unix:$RUN_DIR/"* || $2 == unix:/tmp/authz-*/opa.sock ]] ;;
    esac
}

# Use the issuer, database or engine in the environment in place of our own, else those of an earlier run. An empty value, or
# one of our own env file, means our own.
settings_find_foreign() {
    local name value
    for name in SVC_OIDC_ISSUER SVC_DATABASE_URL SVC_OPA_URL; do
        if [ -n "${!name+set}" ]; then value=${!name}; else value=$(conf_get "$name") || value=; fi
        if [ -z "$value" ] || setting_is_ours "$name" "$value"; then unset "$name"; else export "$name=$value"; fi
    done
    if [ -n "${SVC_DATABASE_URL-}" ]; then OWN_DATABASE=no; fi
    if [ -n "${SVC_OPA_URL-}" ]; then OWN_OPA=no; fi
    unset SVC_CONFIG SVC_RUNTIME_DIR
}

# Print the names of the settings in the environment that become lines of the file.
settings_given() {
    local name
    for name in $(compgen -e SVC_) $(compgen -e SHUTDOWN_PHASE_TIMEOUT); do
        case " ${SETTINGS_OWN//$'\n'/ } " in
        *" $name "*) ;;
        *) printf '%s\n' "$name" ;;
        esac
    done
}

# Print the names of the user's own settings in the file.
settings_kept() { conf_extra_old | sed -n 's/^ *\([A-Z][A-Z0-9_]*\) *=.*/\1/p' | sort -u | tr '\n' ' '; }

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
		# SVC_CREDENTIAL_KEY and SVC_ADMIN_PEPPER. Settings below SVC_BUNDLE_API_KEY are yours: add lines, or give them in the
		# environment of contrib/quickstart up, which writes them here.
		SVC_OIDC_ISSUER=${SVC_OIDC_ISSUER-$BASE_URL}
		SVC_DATABASE_URL=${SVC_DATABASE_URL-$(postgres_url "$1")}
		SVC_OPA_URL=${SVC_OPA_URL-unix:$RUN_DIR/opa.sock}
		SVC_RUNTIME_DIR=$RUN_DIR
	END
    # The program that makes the plans by which the service decides.
    if [ -x "$BASE/bin/opa" ] && ! conf_extra | grep -q '^SVC_OPA_BINARY='; then
        printf 'SVC_OPA_BINARY=%s\n' "${SVC_OPA_BINARY-$BASE/bin/opa}"
    fi
    # The demonstration provider is on http.
    name=SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST
    if [ "$PEOPLE" = yes ] && ! conf_extra | grep -q "^ *$name *="; then printf '%s=true\n' "$name"; fi
    for name in SVC_ADMIN_API_KEY SVC_ADMIN_PEPPER SVC_CREDENTIAL_KEY SVC_BUNDLE_API_KEY; do
        printf '%s=%s\n' "$name" "$(setting "$name" random_key)"
    done
    conf_extra
}

# Print the lines of the file that are the user's.
conf_extra_old() {
    [ -f "$(conf_path)" ] || return 0
    awk '/^SVC_BUNDLE_API_KEY=/ { own = 1; next } own' "$(conf_path)"
}

# Print them with the settings of the environment, which take the place of lines of the same name. An empty value deletes the line.
conf_extra() {
    local given name
    given=$(settings_given | tr '\n' ' ')
    conf_extra_old | awk -v given=" $given" '{ name = $0; sub(/^ */, "", name); sub(/ *=.*/, "", name) }
        index(given, " " name " ") == 0'
    for name in $given; do
        case ${!name} in
        '') ;;
        [\"\']* | *[\"\'] | ' '* | *' ') printf '%s="%s"\n' "$name" "${!name}" ;;
        *) printf '%s=%s\n' "$name" "${!name}" ;;
        esac
    done
}

# The value of a setting is one line of the file.
settings_check_lines() {
    local name
    for name in $(settings_given); do
        case ${!name} in
        *[[:cntrl:]]*) die "$name contains a line break or another control character" 'give it as one line of text' ;;
        esac
    done
}

# A step of quickstart. The new settings are checked before they take the place of the old ones.
settings_write() {
    local password text new
    mkdir -p "$(dirname "$(conf_path)")"
    new=$(conf_path).new
    hint "correct the setting that is named above, in your environment or in $(conf_path); NAME= contrib/quickstart up deletes one"
    password=$(database_password)
    text=$(conf_text "$password")
    if [ -f "$(conf_path)" ] && [ "$text" = "$(cat "$(conf_path)")" ]; then note 'unchanged'; fi
    (
        umask 077
        printf '%s\n' "$text" >"$new"
    )
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$new"; fi
    if ! as_service env SVC_CONFIG="$new" "$(authzctl_path)" config check --offline; then
        rm -f "$new"
        return 1
    fi
    mv "$new" "$(conf_path)"
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
    for name in $DAEMONS; do
        if pid=$(daemon_pid "$name"); then list="$list $name:$pid"; fi
    done
    printf '%s' "${list# }"
}

# Print what puts authzctl and opa on PATH, with this service and its admin key.
env_commands() {
    local dir
    printf 'export BASE_URL SVC_CONFIG AUTHZ_SERVER="$BASE_URL" AUTHZ_ADMIN_KEY="$SVC_ADMIN_API_KEY"\n'
    for dir in "$BASE/bin" "$(prefix_dir)/bin"; do
        printf 'case ":$PATH:" in *":%s:"*) ;; *) export PATH="%s:$PATH" ;; esac\n' "$dir" "$dir"
    done
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
            env_line DATABASE_OWNER_URL "$(postgres_owner_url)"
            env_line AUTHZ_PREFIX "$(prefix_dir)"
            env_line SERVICE_USER "${RUN_AS:-$(id -un)}"
            env_line PIDS "$(pids_text)"
            if [ "$PEOPLE" = yes ]; then env_line DEMO_URL "$(people_url)"; fi
            env_commands
        } >"$DIR/env.new"
    )
    mv "$DIR/env.new" "$DIR/env"
}

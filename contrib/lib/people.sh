# shellcheck shell=bash
# The demonstration provider and its people, and the client to sign in at (contrib/demo). Needs: layout.sh, daemons.sh, settings.sh.

PEOPLE=yes
PEOPLE_PORT=

people_url() { printf 'http://127.0.0.1:%s' "$PEOPLE_PORT"; }

# Decide if this instance has the provider. It serves a service of this machine alone, whose issuer is its own address.
people_choose() {
    if [ "$PEOPLE" = yes ] && [ "${SVC_OIDC_ISSUER-$BASE_URL}" != "$BASE_URL" ]; then
        say "no demonstration provider: SVC_OIDC_ISSUER is $SVC_OIDC_ISSUER, and it serves $BASE_URL alone"
        PEOPLE=no
    fi
    [ "$PEOPLE" = yes ] || return 0
    PEOPLE_PORT=$(port_near "$DIR/provider-port" $((PORT + 1))) || die 'no free port found for the demonstration provider' \
        'stop other programs, or leave it out with --no-people'
    port_check provider "$PEOPLE_PORT" "$PEOPLE_PORT" 'stop that program, or leave the demonstration provider out with --no-people'
}

# Copy the program into the instance, because the account of the daemons may not be able to read the checkout.
people_place() {
    local secret=$BASE/demo/state/secret
    rm -rf "$BASE/demo/program"
    mkdir -p "$BASE/demo/state"
    cp -R "$TOP/contrib/demo" "$BASE/demo/program"
    cp "$TOP/etc/www/head.html" "$BASE/demo/program/head.html"
    chmod -R a+rX "$BASE/demo/program"
    chmod 755 "$BASE/demo"
    if [ ! -s "$secret" ]; then people_keep secret "$(random_key)"; fi
    if [ -n "$RUN_AS" ]; then chown -R "$RUN_AS:" "$BASE/demo/state"; fi
    chmod 700 "$BASE/demo/state"
}

# people_keep NAME TEXT: write a file of the provider's state that its account alone can read.
people_keep() {
    (
        umask 077
        printf '%s\n' "$2" >"$BASE/demo/state/$1.new"
    )
    if [ -n "$RUN_AS" ]; then chown "$RUN_AS:" "$BASE/demo/state/$1.new"; fi
    mv "$BASE/demo/state/$1.new" "$BASE/demo/state/$1"
}

people_answer() { curl -s --noproxy '*' --max-time 5 -o /dev/null "$(people_url)/.well-known/openid-configuration"; }

# authzctl over the admin API of this instance.
people_admin() { AUTHZ_ADMIN_KEY=$(conf_get SVC_ADMIN_API_KEY) "$(authzctl_path)" --server "$BASE_URL" --quiet "$@"; }

# Register the provider and the client, unless that has been done and both are there.
people_register() {
    local mark secret verb=create
    mark="$BASE_URL $(people_url) $(sha256sum <"$BASE/demo/state/secret")"
    if [ "$mark" = "$(cat "$DIR/people" 2>/dev/null)" ] && people_admin idp show demo && people_admin client show demo-web; then
        return 0
    fi
    if people_admin idp show demo; then verb=update; fi
    secret=$(cat "$BASE/demo/state/secret")
    people_admin idp "$verb" demo --name 'Demonstration' --issuer "$(people_url)" --client-id authz --enable --file - \
        <<<"{\"clientSecret\":\"$secret\"}"
    if people_admin client show demo-web; then people_admin client delete --yes demo-web; fi
    secret=$(people_admin --json client create demo-web --type confidential --enable --name 'Demonstration client' \
        --redirect-uri "$(people_url)/client/callback" | json_get clientSecret)
    people_keep client_secret "$secret"
    people_admin entitle demo-web --grant authorization_code --grant refresh_token --endpoint introspect \
        --scope openid --scope profile --scope email --scope orders.read --scope orders.write
    printf '%s' "$mark" >"$DIR/people"
}

# A step of quickstart.
people_start() {
    local command
    if [ "$PEOPLE" = no ]; then
        daemon_stop_named provider
        if people_admin idp show demo; then people_admin idp update demo --disable; fi
        rm -f "$DIR/people"
        note 'left out'
        return 0
    fi
    hint "the log is $LOG_DIR/provider.log; --no-people leaves the demonstration provider out"
    people_place
    command=(/usr/bin/perl "$BASE/demo/program/serve" --port "$PEOPLE_PORT" --service "$BASE_URL" --state "$BASE/demo/state"
        --style "$BASE/demo/program/head.html")
    DAEMON_ONLY=LANG
    daemon_start provider "$(printf '%s ' "${command[@]}" |
        mark_of "$BASE/demo/program/serve" "$BASE/demo/program/lib/Demo/"*.pm "$BASE/demo/program/head.html")" "${command[@]}"
    printf '%s' "$PEOPLE_PORT" >"$DIR/provider-port"
    daemon_await provider 15 people_answer
    people_register
}

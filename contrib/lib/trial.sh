# shellcheck shell=bash
# contrib/quickstart test-client: a whole sign-in, in a browser or printed step by step. Needs: people.sh, demo.sh.

TRIAL_DIR=
TRIAL_PAGE=
TRIAL_TO=

command_test_client() {
    local url
    if ! layout_find || [ ! -f "$DIR/env" ]; then die "no instance in $DIR" 'create one with contrib/quickstart up'; fi
    BASE_URL=$(base_url "$(cat "$DIR/port")")
    PEOPLE_PORT=$(cat "$DIR/provider-port" 2>/dev/null) || die 'this instance has no demonstration provider' \
        'contrib/quickstart up starts it; a service with another issuer needs a provider and a client of its own'
    daemon_pid provider >/dev/null || die 'the demonstration provider does not run' 'start it with contrib/quickstart up'
    service_ready || die "the service at $BASE_URL is not ready" 'run contrib/quickstart status, then contrib/quickstart up'
    if [ "$PRINT" = yes ]; then
        trial_print
        return 0
    fi
    url=$(people_url)/client
    say "Open this address in a browser on this machine, choose Sign in, and then alice, bob or carol:"
    say
    say "    $url"
    trial_browse "$url"
}

# Open an address in the browser of this session, if there is one.
trial_browse() {
    local program
    for program in "${BROWSER-}" xdg-open; do
        if [ -z "$program" ] || ! command -v "$program" >/dev/null; then continue; fi
        if [ "$program" = xdg-open ] && [ -z "${DISPLAY-}${WAYLAND_DISPLAY-}" ]; then continue; fi
        "$program" "$1" >/dev/null 2>&1 &
        return 0
    done
    say
    say 'No browser is at hand here. Without one: contrib/quickstart test-client --print'
}

trial_end() { if [ -n "$TRIAL_DIR" ]; then rm -rf "$TRIAL_DIR"; fi; }

# trial_step TEXT METHOD URL [CURL-ARGUMENT…]: send a request as a browser does, with its cookies, and show it and where it leads.
trial_step() {
    local text=$1 method=$2 url=$3 status
    shift 3
    printf '\n# %s\n%s %s\n' "$text" "$method" "$url"
    status=$(curl -s --noproxy '*' --max-time 30 -c "$TRIAL_DIR/jar" -b "$TRIAL_DIR/jar" -D "$TRIAL_DIR/head" \
        -o "$TRIAL_DIR/page" -w '%{http_code}' "$@" "$url") || die "no answer from $url" 'contrib/quickstart status shows what runs'
    TRIAL_PAGE=$(cat "$TRIAL_DIR/page")
    TRIAL_TO=$(sed -n 's/^[Ll]ocation: *\([^\r]*\).*/\1/p' "$TRIAL_DIR/head")
    case $TRIAL_TO in /*) TRIAL_TO=$(sed 's|^\(http://[^/]*\).*|\1|' <<<"$url")$TRIAL_TO ;; esac
    printf '    %s%s\n' "$status" "${TRIAL_TO:+, go to $TRIAL_TO}"
    case $status in
    2?? | 3??) ;;
    *) trial_wrong "HTTP status $status" ;;
    esac
}

trial_wrong() {
    sed -n 's/.*<dd>\(.*\)<\/dd>.*/    \1/p; s/.*<p>\(.*\)<\/p>.*/    \1/p' "$TRIAL_DIR/page" | sed 's/<[^>]*>//g' | head -n 12 >&2
    die "the sign-in stopped: $1" "the log of the service is $LOG_DIR/authz.log, that of the provider $LOG_DIR/provider.log"
}

# Print the first value of an attribute in the page that matches a pattern.
trial_find() { sed -n "s|.*$1.*|\\1|p" "$TRIAL_DIR/page" | head -n 1 | sed 's/&amp;/\&/g'; }

# Sign a person in: each request that the browser would send.
trial_print() {
    local link
    TRIAL_DIR=$(mktemp -d)
    trap trial_end EXIT
    trial_step 'The person opens the application, which sends the browser to the service: authorization code with PKCE.' \
        GET "$(people_url)/client/login?idp_hint=demo&prompt=login"
    trial_step 'The service checks the client, its redirect URI and scopes, and sends the browser to the provider.' GET "$TRIAL_TO"
    trial_step 'The provider asks who it is.' GET "$TRIAL_TO"
    link=$(trial_find "href=\"\\(/choose?[^\"]*person=$PERSON\\)\"")
    [ -n "$link" ] || trial_wrong "the provider does not know $PERSON; it knows alice, bob and carol"
    trial_step "The person chooses $PERSON. The provider sends the browser back with a code." GET "$(people_url)$link"
    trial_step 'The service takes the code to the provider, checks the ID token, and begins a session.' GET "$TRIAL_TO"
    trial_consent
    trial_step 'The application takes its code to /token. Policy decides (evaluation 1), and there are tokens.' GET "$TRIAL_TO"
    trial_step 'It asks /userinfo and, as an API would, /introspect: policy decides again (evaluation 2).' GET "$TRIAL_TO" \
        -H 'Accept: application/json'
    json_pretty <<<"$TRIAL_PAGE" | sed 's/^/    /'
    say
    say "$PERSON is signed in. The same in a browser: $(people_url)/client"
}

# Follow the service to its question about the access, if it asks one, and allow it.
trial_consent() {
    local id
    case $TRIAL_TO in "$(people_url)/client/"*) return 0 ;; esac
    if [ -n "$TRIAL_TO" ]; then trial_step 'The service shows the next page.' GET "$TRIAL_TO"; fi
    case $TRIAL_TO in "$(people_url)/client/"*) return 0 ;; esac
    id=$(trial_find 'name="id" value="\([^"]*\)"')
    [ -n "$id" ] || trial_wrong 'the page is not the one that asks about the access'
    trial_step 'The person allows the access.' POST "$BASE_URL$(trial_find 'action="\([^"]*\)"')" \
        --data-urlencode "id=$id" -d decision=allow
}

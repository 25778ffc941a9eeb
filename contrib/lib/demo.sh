# shellcheck shell=bash
# The demonstration: show the main job of the service and check every answer. Needs: settings.sh, ui.sh.
#
# The lines that are printed are exactly those that run, so that a reader can paste them, also again after the demonstration.
# Each runs in this shell, because later lines use what it sets.

DEMO_DIR=
DEMO_STATUS=
DEMO_BODY=

# Print one member of the JSON object on standard input; a dot leads to a nested member. Fail if it is absent or null.
json_get() {
    perl -MJSON::PP -0777 -e '
        my $v = decode_json(<STDIN>);
        for (split /\./, $ARGV[0]) { exit 1 unless ref $v eq "HASH" && defined $v->{$_}; $v = $v->{$_} }
        print ref $v ? (JSON::PP::is_bool($v) ? ($v ? "true" : "false") : encode_json($v)) : $v' "$1"
}

json_pretty() { perl -MJSON::PP -0777 -e 'print JSON::PP->new->canonical->pretty->encode(decode_json(<STDIN>))'; }

# Put our own curl options, such as printing the status, into curl's configuration, so that the printed line stays short.
demo_begin() {
    DEMO_DIR=$(mktemp -d)
    printf 'silent\nshow-error\nnoproxy = "*"\nmax-time = 30\nwrite-out = "\\n%%{http_code}"\n' >"$DEMO_DIR/.curlrc"
    CURL_HOME=$DEMO_DIR
    SVC_ADMIN_API_KEY=$(conf_get SVC_ADMIN_API_KEY)
    export BASE_URL CURL_HOME SVC_ADMIN_API_KEY
}

demo_end() { if [ -n "$DEMO_DIR" ]; then rm -rf "$DEMO_DIR"; fi; }

# Run a command line without showing it; sets DEMO_STATUS and DEMO_BODY.
demo_ask() {
    local answer
    eval "$1" >"$DEMO_DIR/answer" 2>&1 || :
    answer=$(cat "$DEMO_DIR/answer")
    DEMO_STATUS=${answer##*$'\n'}
    DEMO_BODY=${answer%"$DEMO_STATUS"}
    DEMO_BODY=${DEMO_BODY%$'\n'}
}

# demo_run TEXT COMMAND-LINE STATUS[|STATUS]: show and run a command line, show the answer, and fail if it has another status.
demo_run() {
    printf '\n# %s\n%s\n' "$1" "$2"
    demo_ask "$2"
    if [ -n "$DEMO_BODY" ]; then
        printf '%s\n' "$DEMO_BODY" | { json_pretty 2>/dev/null || printf '%s\n' "$DEMO_BODY"; } | sed 's/^/    /'
    fi
    case "|$3|" in
    *"|$DEMO_STATUS|"*) ;;
    *) demo_wrong "expected HTTP status $3, got $DEMO_STATUS" ;;
    esac
}

# demo_keep VARIABLE MEMBER: keep a member of the answer that the last command line put into ANSWER, and show how.
demo_keep() {
    local line="$1=\$(sed -n 's/.*\"$2\":\"\([^\"]*\)\".*/\1/p' <<<\"\$ANSWER\")"
    printf '\n%s\n' "$line"
    eval "$line"
    if [ -z "${!1}" ]; then demo_wrong "the answer has no $2"; fi
}

# demo_expect MEMBER VALUE: fail if a member of the last answer has another value.
demo_expect() {
    local have
    have=$(json_get "$1" <<<"$DEMO_BODY" || printf 'absent')
    if [ "$have" != "$2" ]; then demo_wrong "expected $1 to be '$2', got '$have'"; fi
}

demo_expect_scopes() {
    local have
    have=$(json_get scope <<<"$DEMO_BODY" | tr ' ' '\n' | sort | tr '\n' ' ')
    if [ "${have% }" != "$1" ]; then demo_wrong "expected the scopes '$1', got '${have% }'"; fi
}

demo_wrong() {
    printf '\n%s: the demonstration failed: %s\n  the answer of the service is above (HTTP %s); its log is %s\n' \
        "$PROGRAM" "$1" "$DEMO_STATUS" "$LOG_DIR/authz.log" >&2
    printf '  what to do: fix the cause and run contrib/quickstart up again, or skip the demonstration with --no-demo\n' >&2
    exit 1
}

demo_client() {
    local url='"$BASE_URL/admin/api/clients'
    demo_run 'An administrator deletes the client of an earlier demonstration, if there is one (404: there is none).' \
        "curl -s -X DELETE $url/demo\" -H \"X-Admin-API-Key: \$SVC_ADMIN_API_KEY\" -o /dev/null" '204|404'
    demo_run 'An administrator creates a client. The answer shows its secret; it is never shown again.' \
        "ANSWER=\$(curl -s -X POST $url\" -H \"X-Admin-API-Key: \$SVC_ADMIN_API_KEY\" \\
  -H 'Content-Type: application/json' -d '{\"clientId\":\"demo\",\"clientType\":\"confidential\",\"enabled\":true}'); echo \"\$ANSWER\"" 201
    demo_keep DEMO_SECRET clientSecret
}

# demo_entitle TEXT MERGE-PATCH
demo_entitle() {
    demo_run "$1" \
        "curl -X PATCH \"\$BASE_URL/admin/api/policy-data/by-key?dataKey=svc.entitlements.bindings\" \\
  -H \"X-Admin-API-Key: \$SVC_ADMIN_API_KEY\" -H 'Content-Type: application/merge-patch+json' \\
  -d '$2'" 200
}

demo_token() {
    demo_run 'The client requests a token, and policy decides (evaluation 1).' \
        "ANSWER=\$(curl -s -u \"demo:\$DEMO_SECRET\" -d grant_type=client_credentials -d 'scope=orders.read orders.write' \\
  \"\$BASE_URL/token\"); echo \"\$ANSWER\"" 200
    demo_expect token_type Bearer
    demo_expect_scopes 'orders.read orders.write'
    demo_keep TOKEN access_token
}

# demo_introspect TEXT [CURL-ARGUMENTS]
demo_introspect() {
    demo_run "$1" "curl -u \"demo:\$DEMO_SECRET\" -d \"token=\$TOKEN\"${2:+ $2} \"\$BASE_URL/introspect\"" 200
}

demo_all() {
    demo_begin
    printf '\nDemonstration. To repeat these commands by hand, first run:\n\n. %s/env\n' "$DIR"
    demo_client
    demo_entitle 'A new client may do nothing. The administrator allows it two scopes and the introspection of tokens.' \
        '{"clients":{"demo":{"grants":["client_credentials"],"scopes":["orders.read","orders.write"],"endpoints":["introspect"]}}}'
    demo_token
    demo_introspect 'A resource server introspects the token, and policy decides again (evaluation 2).'
    demo_expect active true
    demo_expect_scopes 'orders.read orders.write'
    demo_introspect 'A resource server can pass a context that narrows the token.' \
        "--data-urlencode 'context={\"scopes\":[\"orders.read\"]}'"
    demo_expect active true
    demo_expect_scopes orders.read
    demo_entitle 'The administrator removes the grant and the scopes; the client may still introspect.' \
        '{"clients":{"demo":{"grants":null,"scopes":null}}}'
    demo_introspect 'The token has not expired, but policy now denies it.'
    demo_expect active false
    demo_expect inactive_reason policy_denied
    demo_end
    DEMO_DIR=
}

# Print the id of the configured admin key.
demo_key() {
    authzctl admin-key list --json | perl -MJSON::PP -0777 -e '
        print map { $_->{id} } grep { $_->{managedBy} eq "environment" && !$_->{revokedAt} } @{ decode_json(<STDIN>) }'
}

# demo_link ID: print a one-time link to the console with the rights of an admin key.
demo_link() { authzctl admin-key link "$1" | sed -n 's/^url  *//p'; }

# demo_next AGAIN: tell what to try next; AGAIN is the option that names the instance.
demo_next() {
    local more=${1:+ $1} key link
    key=$(demo_key) && link=$(demo_link "$key") || link=
    cat <<-END

		The service runs at $BASE_URL. Its start page leads to the API reader and the discovery document.

		What to try next:
	END
    if [ "$PEOPLE" = yes ]; then
        cat <<-END
			  - Sign in as alice, bob or carol:      $(people_url)/client
			    or see each step of it:              contrib/quickstart test-client$more --print
		END
    fi
    cat <<-END
		  - Administer in a browser:             $BASE_URL/portal/
		    signed in, once, within 10 minutes:  ${link:-sign in with the admin key of $DIR/env}
		    by another such link:                . $DIR/env; authzctl admin-key link $key
		  - Send requests from a browser:        $BASE_URL/swagger-ui/
		  - Administer on the command line:      . $DIR/env; authzctl client list
		  - Write a rule, test and deploy it:    doc/policy-guide.md, doc/cedar.md
		  - Protect an API or an MCP server:     doc/protect-an-api.md, doc/protect-mcp.md
		  - Do one thing, page by page:          doc/README
		  - Check that the service is ready:     contrib/quickstart status$more
		  - Change a setting:                    SVC_NAME=VALUE contrib/quickstart up$more --no-demo
		  - Read the logs:                       $LOG_DIR
		  - Stop it (the data stays in $DIR):
		                                         contrib/quickstart down$more
	END
    demo_settings
}

# Name the settings that the user gave, in this run or in an earlier one.
demo_settings() {
    local kept
    kept=$(settings_kept)
    [ -n "$kept" ] || return 0
    printf '\nSettings of your own in %s: %s\n' "$(conf_path)" "${kept% }"
}

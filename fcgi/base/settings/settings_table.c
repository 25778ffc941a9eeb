#include "config.h"

#include "base/settings/settings.h"

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};
static const char *const log_formats[] = {"json", "text", NULL};
static const char *const audit_streams[] = {SETTINGS_STREAM_OFF, "otlp", "ocsf", NULL};
static const char *const tool_lists[] = {"auto", "all", "search", NULL};
static const char *const policy_engines[] = {"opa", SETTINGS_EMBEDDED, NULL};
const char *const settings_id_token_algs[] = {ID_TOKEN_ALG_DEFAULT, "ES256", NULL};

const char *const settings_dpop_algs[] = {"ES256", "RS256", "PS256", "ES384", "ES512", "EdDSA",
                                          "RS384", "RS512", "PS384", "PS512", NULL};

#define AT(member) offsetof(struct settings, member)
#define WEEK (7L * 86400)

/* clang-format off */
const struct setting settings_table[] = {
    {"SVC_OIDC_ISSUER", NULL, SETTING_ISSUER, AT(oidc_issuer), "http://localhost:8080", 0, 0, NULL,
     "Issuer URL; all published URLs are built from it"},
    {"SVC_DATABASE_URL", NULL, SETTING_SECRET, AT(database_url), "postgresql:///authz", 0, 0, NULL,
     "Connection string or URI of libpq; several hosts and target_session_attrs are supported"},
    {"SVC_DATABASE_DIRECT_URL", NULL, SETTING_SECRET, AT(database_direct_url), NULL, 0, 0, NULL,
     "Connection string or URI of PostgreSQL itself, if SVC_DATABASE_URL leads to a pooler such as "
       "pgbouncer: for policy saves, exports, housekeeping, migrations and authzctl"},
    {"SVC_DATABASE_READ_URL", NULL, SETTING_SECRET, AT(database_read_url), NULL, 0, 0, NULL,
     "Connection string or URI of a synchronous standby, or a list with it, where introspection "
       "and access decisions are read; set it on all hosts, because revocations wait for the "
       "standby then"},
    {"SVC_OPA_URL", NULL, SETTING_TEXT, AT(opa_url), "unix:/run/authz-opa/opa.sock", 0, 0, NULL,
     "Address of Open Policy Agent: unix:/PATH, http://HOST:PORT or https://HOST:PORT"},
    {"SVC_POLICY_ENGINE", NULL, SETTING_CHOICE, AT(policy_engine), "opa", 0, 0, policy_engines,
     "Engine of decisions: opa asks Open Policy Agent each time; embedded runs its plan of the "
       "policy in process"},
    {"SVC_OPA_BINARY", NULL, SETTING_TEXT, AT(opa_binary), "/usr/bin/opa", 0, 0, NULL,
     "Program opa, which compiles each saved policy and tries it before the engines get it"},
    {"SVC_DATA_DIR", NULL, SETTING_TEXT, AT(data_dir), AUTHZ_DATADIR, 0, 0, NULL,
     "Directory that contains the installed sql, policy, www and connectors directories"},
    {"SVC_RUNTIME_DIR", NULL, SETTING_TEXT, AT(runtime_dir), "/run/authz", 0, 0, NULL,
     "Directory of the counters and rows that the processes share; the service owns it, mode 0700"},
    {"SVC_LOG_LEVEL", NULL, SETTING_CHOICE, AT(log_level), "info", 0, 0, log_levels,
     "Lowest severity that is logged"},
    {"SVC_LOG_FORMAT", NULL, SETTING_CHOICE, AT(log_format), "json", 0, 0, log_formats,
     "Form of the log lines: json for programs, text for people"},
    {"SVC_WWW_DIR", NULL, SETTING_TEXT, AT(www_dir), NULL, 0, 0, NULL,
     "Directory of your own pages; each file replaces the page of the same name in "
       "SVC_DATA_DIR/www"},
    {"SVC_PAGES_NAME", NULL, SETTING_TEXT, AT(pages_name), NULL, 0, 0, NULL,
     "Name of this service on its pages, at most 64 characters; if not set, the host of "
       "SVC_OIDC_ISSUER"},
    {"SVC_PAGES_LOGO", NULL, SETTING_TEXT, AT(pages_logo), NULL, 0, 0, NULL,
     "Logo on the pages: the name of a PNG, SVG or WebP file of at most 32 KiB in SVC_WWW_DIR"},
    {"SVC_LANGUAGES_DIR", NULL, SETTING_TEXT, AT(languages_dir), SETTINGS_LANGUAGES_DIR, 0, 0, NULL,
     "Directory of texts of the pages in further languages, a file for each, such as fr.json; it "
       "may be missing unless it is set"},
    {"SVC_ADMIN_API_KEY", NULL, SETTING_SECRET, AT(admin_api_key), NULL, 0, 0, NULL,
     "First admin key, at least 16 octets, sent in the header X-Admin-API-Key"},
    {"SVC_ADMIN_PEPPER", NULL, SETTING_SECRET, AT(admin_pepper), NULL, 0, 0, NULL,
     "Secret of at least 16 octets for the hashes that are used to look up admin keys"},
    {"SVC_ADMIN_ENABLED", NULL, SETTING_BOOL, AT(admin_enabled), "true", 0, 0, NULL,
     "If false, every request to /admin is answered with 404, even with a valid key"},
    {"SVC_CREDENTIAL_KEY", "SVC_GATEWAY_CREDENTIAL_KEY", SETTING_SECRET, AT(credential_key), NULL,
     0, 0, NULL,
     "Secret of at least 16 octets that encrypts client secrets and private keys in the database"},
    {"SVC_CREDENTIAL_KEY_PREVIOUS", NULL, SETTING_SECRET, AT(credential_old), NULL, 0, 0, NULL,
     "Secret of at least 16 octets that opens what SVC_CREDENTIAL_KEY does not open, while that "
       "key is changed"},
    {"SVC_BUNDLE_API_KEY", NULL, SETTING_SECRET, AT(bundle_api_key), NULL, 0, 0, NULL,
     "Key of at least 16 octets that the policy engine sends to /bundles in the header "
       "X-Bundle-API-Key"},
    {"SVC_ADMIN_NETWORKS", NULL, SETTING_TEXT, AT(admin_networks), NULL, 0, 0, NULL,
     "Networks from which requests to /admin are answered, such as 192.0.2.0/24,2001:db8::/32; if "
       "not set, all"},
    {"SVC_PLAIN_HTTP_NETWORKS", NULL, SETTING_TEXT, AT(plain_http_networks), NULL, 0, 0, NULL,
     "Networks whose requests by plain HTTP are answered although the issuer is https: a proxy "
       "that ends TLS and does not send X-Forwarded-Proto, or an engine in a network of its own"},
    {"SVC_ALLOW_INSECURE_DEV_KEY", NULL, SETTING_BOOL, AT(allow_insecure_dev_key), "false", 0, 0,
     NULL,
     "For development only, with an issuer at this host: opens /admin to all callers of this host "
       "and uses public keys for secrets that are not set"},
    {"SVC_ALLOW_SHARED_SETTINGS", NULL, SETTING_BOOL, AT(allow_shared_settings), "false", 0, 0,
     NULL,
     "Of the environment alone: take authz.conf and the files of NAME_FILE although other accounts "
       "can read or change them, on a host that has no others"},
    {"SVC_RATE_LIMIT_ENABLED", NULL, SETTING_BOOL, AT(rate_limit_enabled), "true", 0, 0, NULL,
     "Limit the requests per client address on the OAuth endpoints"},
    {"SVC_RATE_LIMIT_REQUESTS", NULL, SETTING_NUMBER, AT(rate_limit_requests), "1000", 1, 1048575,
     NULL,
     "Maximum number of requests per client address and window"},
    {"SVC_RATE_LIMIT_WINDOW", NULL, SETTING_DURATION, AT(rate_limit_window), "60", 1, 86400, NULL,
     "Length of the rate limit window"},
    {"SVC_TRUSTED_PROXY_COUNT", NULL, SETTING_NUMBER, AT(trusted_proxy_count), "0", 0, 16, NULL,
     "Number of proxies in front of the web server; the client address is that many entries from "
       "the right in X-Forwarded-For"},
    {"SVC_MAX_REDIRECT_URIS", NULL, SETTING_NUMBER, AT(max_redirect_uris), "25", 1,
     SETTINGS_REDIRECT_URIS_MAX, NULL,
     "Maximum number of redirect URIs of a client"},
    {"SVC_POLICY_TIMEOUT_MS", NULL, SETTING_NUMBER, AT(policy_timeout_ms), "2000", 50, 60000, NULL,
     "Time limit for one policy decision, in milliseconds"},
    {"SVC_POLICY_WITNESS_RATE", NULL, SETTING_NUMBER, AT(policy_witness_rate), "1000", 0,
     1000000000, NULL,
     "With SVC_POLICY_ENGINE=embedded, OPA is asked again about one in this many decisions, chosen "
       "at random, after the answer is sent; if it decides otherwise, it makes the decisions of "
       "that kind until the next change of policy (0: never)"},
    {"SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS", NULL, SETTING_NUMBER,
     AT(access_token_validity), "3600", 1, 86400, NULL,
     "Lifetime of access tokens, in seconds, unless policy sets another one"},
    {"SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS", NULL, SETTING_NUMBER,
     AT(refresh_family_validity), "7776000", 3600, 31536000, NULL,
     "Maximum lifetime of a chain of rotated refresh tokens, in seconds"},
    {"SVC_OIDC_JWKS_CACHE_SECONDS", NULL, SETTING_NUMBER, AT(jwks_cache_seconds), "300", 0, 86400,
     NULL,
     "max-age of the published key set, in seconds; a new signing key is not used before this time "
       "has passed"},
    {"SVC_OIDC_KEY_RETIREMENT_SECONDS", NULL, SETTING_NUMBER, AT(key_retirement_seconds), "86400",
     0, 52 * WEEK, NULL,
     "Time for which a retired signing key stays published, in seconds"},
    {"SVC_BUNDLE_CONFIRM_ACTIVATION", NULL, SETTING_BOOL, AT(bundle_confirm_activation), "true", 0,
     0, NULL,
     "Wait until the policy engine reports that a saved bundle is active"},
    {"SVC_BUNDLE_CONFIRM_POLL_MS", NULL, SETTING_NUMBER, AT(bundle_confirm_poll_ms), "500", 10,
     60000, NULL,
     "Interval between checks of the engine status while waiting, in milliseconds"},
    {"SVC_BUNDLE_CONFIRM_TIMEOUT_MS", NULL, SETTING_NUMBER, AT(bundle_confirm_timeout_ms), "10000",
     100, 120000, NULL,
     "Maximum time to wait for the policy engine, in milliseconds"},
    {"SVC_BUNDLE_FETCH_GRACE_MS", NULL, SETTING_NUMBER, AT(bundle_fetch_grace_ms), "2000", 1500,
     5000, NULL,
     "Time in which an engine must ask for a new bundle, in milliseconds; a save does not wait for "
       "an engine that does not"},
    {"SVC_POLICY_ALLOW_NETWORK_BUILTINS", NULL, SETTING_BOOL, AT(allow_network_builtins), "false",
     0, 0, NULL,
     "Let saved rules reach the network, files and the environment of the policy engine "
       "(http.send, opa.runtime and others)"},
    {"SVC_AUDIT_RETENTION_DAYS", NULL, SETTING_NUMBER, AT(audit_retention_days), "90", 0, 36500,
     NULL,
     "Days for which audit rows are kept; 0 keeps them forever"},
    {"SVC_AUDIT_EXPORT_MAX_ROWS", NULL, SETTING_NUMBER, AT(audit_export_max_rows), "1000000", 1,
     100000000, NULL,
     "Maximum number of rows in one export of the audit log; the export says when there were more"},
    {"SVC_IMPACT_DECISIONS", NULL, SETTING_NUMBER, AT(impact_decisions), "100000", 1000, 5000000,
     NULL,
     "Recorded decisions that a measurement of a policy change looks at, at most"},
    {"SVC_IMPACT_SECONDS", NULL, SETTING_NUMBER, AT(impact_seconds), "60", 5, 600, NULL,
     "Time that a measurement of a policy change may take, in seconds; it then answers what was "
       "looked at"},
    {"SVC_IMPACT_KEEP_DAYS", NULL, SETTING_NUMBER, AT(impact_keep_days), "7", 1, 365, NULL,
     "Days for which results of such measurements are kept, but not longer than audit rows"},
    {"SVC_AUDIT_PROOF_DAYS", NULL, SETTING_NUMBER, AT(audit_proof_days), "400", 0, 36500, NULL,
     "Days for which the log over all audit rows keeps the hash of each row and a checkpoint a "
       "minute; then one checkpoint a day stays (0: all stay)"},
    {"SVC_AUDIT_CHECKPOINT_FILE", NULL, SETTING_TEXT, AT(audit_checkpoint_file), NULL, 0, 0, NULL,
     "File to which each checkpoint of the log over all audit rows is appended; ship it to another "
       "machine (unset: none)"},
    {"SVC_AUDIT_CHECKPOINT_URL", NULL, SETTING_TEXT, AT(audit_checkpoint_url), NULL, 0, 0, NULL,
     "URL to which each checkpoint of the log over all audit rows is posted as text/plain (unset: "
       "none)"},
    {"SVC_AUDIT_PUBLIC", NULL, SETTING_BOOL, AT(audit_public), "false", 0, 0, NULL,
     "Let everyone read the newest checkpoint and the keys of the log over all audit rows, at "
       "/audit/checkpoint and /audit/keys"},
    {"SVC_AUDIT_STREAM", NULL, SETTING_CHOICE, AT(audit_stream), SETTINGS_STREAM_OFF, 0, 0,
     audit_streams,
     "Send audit rows to a collector as they are written: otlp as OpenTelemetry logs, ocsf as "
       "events of OCSF 1.3.0, off not at all"},
    {"SVC_AUDIT_STREAM_URL", NULL, SETTING_TEXT, AT(audit_stream_url), NULL, 0, 0, NULL,
     "URL of the collector, for example https://collector.example/v1/logs"},
    {"SVC_AUDIT_STREAM_HEADER", NULL, SETTING_SECRET, AT(audit_stream_header), NULL, 0, 0, NULL,
     "Header field of each request to the collector, with its credential: NAME: VALUE (unset: "
       "none)"},
    {"SVC_AUDIT_STREAM_DOCUMENTS", NULL, SETTING_BOOL, AT(audit_stream_documents), "false", 0, 0,
     NULL,
     "Send the question to policy and its answer with each row; they have personal data"},
    {"SVC_TRACES_URL", NULL, SETTING_TEXT, AT(traces_url), NULL, 0, 0, NULL,
     "URL of an OpenTelemetry collector that gets the spans of requests, for example "
       "https://collector.example/v1/traces (unset: no spans are kept)"},
    {"SVC_TRACES_ONE_IN", NULL, SETTING_NUMBER, AT(traces_one_in), "100", 1, 1000000, NULL,
     "One request in this many, chosen at random, is traced"},
    {"SVC_OAUTH_TIMING_CODE_VALIDITY_SECONDS", NULL, SETTING_NUMBER, AT(code_validity), "60", 1,
     600, NULL,
     "Lifetime of authorization codes, in seconds"},
    {"SVC_OAUTH_TIMING_PERMISSION_TICKET_VALIDITY_SECONDS", NULL, SETTING_NUMBER,
     AT(ticket_validity), "300", 1, 3600, NULL,
     "Lifetime of UMA permission tickets, in seconds"},
    {"SVC_OAUTH_TIMING_AUTH_REQ_ID_VALIDITY_SECONDS", NULL, SETTING_NUMBER, AT(auth_req_validity),
     "300", SETTINGS_AUTH_REQ_LEAST, SETTINGS_AUTH_REQ_MOST, NULL,
     "Time in seconds within which a person must answer a CIBA request, and the client must "
       "collect the tokens, unless the request names another one"},
    {"SVC_OAUTH_TIMING_CIBA_INTERVAL_SECONDS", NULL, SETTING_NUMBER, AT(ciba_interval), "5", 1, 60,
     NULL,
     "Minimum time between two polls of a CIBA request, in seconds; it grows by 5 seconds with "
       "each poll that comes too early"},
    {"SVC_OAUTH_TIMING_ID_TOKEN_VALIDITY_SECONDS", NULL, SETTING_NUMBER, AT(id_token_validity),
     "3600", 1, 86400, NULL,
     "Lifetime of ID tokens, in seconds"},
    {"SVC_OIDC_ID_TOKEN_ALGS", NULL, SETTING_LIST, AT(id_token_algs), ID_TOKEN_ALG_DEFAULT, 0, 0,
     settings_id_token_algs,
     "Algorithms of ID tokens, separated by commas; RS256 must be one, and signs for every client "
       "that asks for no other"},
    {"SVC_OAUTH_TIMING_REFRESH_TOKEN_VALIDITY_SECONDS", NULL, SETTING_NUMBER,
     AT(refresh_token_validity), "2592000", 60, 31536000, NULL,
     "A refresh token expires when it is not used for this time, in seconds"},
    {"SVC_REFRESH_REUSE_WINDOW_SECONDS", NULL, SETTING_NUMBER, AT(refresh_reuse_window), "30", 0,
     3600, NULL,
     "Time in seconds during which a rotated refresh token is accepted again, at most three times; "
       "0 disables reuse"},
    {"SVC_PKCE_REQUIRED", NULL, SETTING_BOOL, AT(pkce_required), "false", 0, 0, NULL,
     "Demand a code_challenge (PKCE) of confidential clients at /authorize too; public clients "
       "always need one"},
    {"SVC_DPOP_ENABLED", NULL, SETTING_BOOL, AT(dpop_enabled), "true", 0, 0, NULL,
     "Bind tokens to the key of a DPoP proof (RFC 9449); if false, proofs are ignored and bound "
       "tokens are refused"},
    {"SVC_DPOP_IAT_WINDOW_SECONDS", NULL, SETTING_NUMBER, AT(dpop_iat_window), "60", 1, 3600, NULL,
     "The iat of a DPoP proof may differ from the present time by this, in seconds"},
    {"SVC_DPOP_NONCE_ENABLED", NULL, SETTING_BOOL, AT(dpop_nonce_enabled), "false", 0, 0, NULL,
     "Demand a nonce of this service in every DPoP proof"},
    {"SVC_DPOP_NONCE_TTL_SECONDS", NULL, SETTING_NUMBER, AT(dpop_nonce_ttl), "300", 2, 86400, NULL,
     "Maximum lifetime of a DPoP nonce, in seconds; a client gets a new one with every answer"},
    {"SVC_DPOP_SIGNING_ALGS", NULL, SETTING_LIST, AT(dpop_signing_algs), "ES256,RS256", 0, 0,
     settings_dpop_algs,
     "Signature algorithms of DPoP proofs, separated by commas"},
    {"SVC_SESSION_TIMEOUT", NULL, SETTING_DURATION, AT(session_timeout), "30m", 60, 30L * 86400,
     NULL,
     "A browser session ends when it is not used for this time"},
    {"SVC_SESSION_MAX_AGE", NULL, SETTING_DURATION, AT(session_max_age), "12h", 60, 30L * 86400,
     NULL,
     "A browser session ends this long after its sign-in, however much it is used"},
    {"SVC_SESSION_CLEANUP_CRON", NULL, SETTING_TEXT, AT(session_cleanup_cron), "*/5 * * * *", 0, 0,
     NULL,
     "Schedule for removing ended sessions and sign-ins: five cron fields, or six with seconds "
       "first, in UTC"},
    {"SVC_SESSION_COOKIE_SECURE", NULL, SETTING_BOOL, AT(session_cookie_secure), NULL, 0, 0, NULL,
     "Send cookies over HTTPS only; if not set, true for an https issuer and false for an "
       "http one"},
    {"SVC_SUBJECT_HOME_ISSUER", NULL, SETTING_TEXT, AT(subject_home_issuer), NULL, 0, 0, NULL,
     "Issuer whose subjects keep their names unchanged; if not set, that of the provider that was "
       "the oldest one at the first sign-in"},
    {"SVC_DYNAMIC_CLIENT_IDLE_DAYS", NULL, SETTING_NUMBER, AT(dynamic_client_idle_days), "30", 0,
     36500, NULL,
     "Clients that registered themselves are removed after this many days without a token; 0 keeps "
       "them"},
    {"SVC_DYNAMIC_CLIENTS_MAX", NULL, SETTING_NUMBER, AT(dynamic_clients_max), "10000", 1, 1000000,
     NULL,
     "Maximum number of clients of each kind that registered themselves: plain, with a statement, "
       "with a metadata document"},
    {"SVC_CIMD_FETCH_TIMEOUT_SECONDS", NULL, SETTING_NUMBER, AT(cimd_fetch_timeout), "10", 1, 60,
     NULL,
     "Time limit for fetching a client metadata document, in seconds"},
    {"SVC_CIMD_MAX_DOCUMENT_SIZE_BYTES", NULL, SETTING_NUMBER, AT(cimd_max_document_size), "65536",
     1024, 1048576, NULL,
     "Maximum size of a client metadata document, in octets"},
    {"SVC_CIMD_CACHE_TTL_SECONDS", NULL, SETTING_NUMBER, AT(cimd_cache_ttl), "3600", 1, 86400, NULL,
     "Maximum time before a client metadata document is fetched again, in seconds"},
    {"SVC_CIMD_ALLOW_INSECURE_LOCALHOST", NULL, SETTING_BOOL, AT(cimd_allow_insecure), "false", 0,
     0, NULL,
     "For development: accept http client_id URLs on the hosts in SVC_CIMD_ALLOWED_INSECURE_HOSTS"},
    {"SVC_CIMD_ALLOWED_INSECURE_HOSTS", NULL, SETTING_TEXT, AT(cimd_insecure_hosts),
     "localhost,127.0.0.1,[::1]", 0, 0, NULL,
     "Hosts for SVC_CIMD_ALLOW_INSECURE_LOCALHOST, separated by commas, without port"},
    {"SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST", NULL, SETTING_BOOL, AT(safe_http_allow_insecure),
     "false", 0, 0, NULL,
     "Allow http and private addresses for the hosts in SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS"},
    {"SVC_SAFE_HTTP_ALLOWED_INSECURE_HOSTS", NULL, SETTING_TEXT, AT(safe_http_insecure_hosts),
     "localhost,127.0.0.1,[::1]", 0, 0, NULL,
     "Hosts for SVC_SAFE_HTTP_ALLOW_INSECURE_LOCALHOST, separated by commas, without port"},
    {"SVC_SAFE_HTTP_CA_FILE", NULL, SETTING_TEXT, AT(safe_http_ca_file), NULL, 0, 0, NULL,
     "PEM file of certificate authorities for outbound HTTPS, used instead of those of the system"},
    {"SVC_SAFE_HTTP_TIMEOUT_SECONDS", NULL, SETTING_NUMBER, AT(safe_http_timeout), "5", 1, 60, NULL,
     "Time limit for a request to an identity provider or for a key set, in seconds"},
    {"SVC_CLIENT_ASSERTION_STRICT_AUD", NULL, SETTING_BOOL, AT(client_assertion_strict_aud),
     "false", 0, 0, NULL,
     "Accept a client assertion only if its aud is the issuer; if false, the token endpoint and "
       "the called endpoint are accepted too"},
    {"SVC_SPIFFE_AUDIENCE", NULL, SETTING_TEXT, AT(spiffe_audience), NULL, 0, 0, NULL,
     "The aud that a JWT-SVID must have, as its only one; if not set, the issuer"},
    {"SVC_SPIFFE_TRUST_BUNDLE_REFRESH_SECONDS", NULL, SETTING_NUMBER, AT(spiffe_refresh), "300", 1,
     86400, NULL,
     "Maximum time before the SPIFFE trust bundle is fetched again, in seconds; its "
       "spiffe_refresh_hint may shorten it, but not below 30"},
    {"SVC_SOFTWARE_STATEMENT_VERIFY", NULL, SETTING_BOOL, AT(software_statement_verify), "true", 0,
     0, NULL,
     "Verify the signatures of software statements; if false, statements of other issuers are "
       "trusted without verification"},
    {"SVC_SOFTWARE_STATEMENT_LIFETIME_SECONDS", NULL, SETTING_NUMBER,
     AT(software_statement_lifetime), "31536000", 60, 10L * 365 * 86400, NULL,
     "Lifetime of the software statements that are issued for clients, in seconds"},
    {"SVC_OIDC_STATEMENT_KEY_RETIREMENT_SECONDS", NULL, SETTING_NUMBER,
     AT(statement_key_retirement), "34560000", 0, 20L * 365 * 86400, NULL,
     "Time for which a retired software statement key stays published, in seconds"},
    {"SVC_CREDENTIAL_KEY_DISCARD_PER_USER", NULL, SETTING_BOOL, AT(discard_per_user), "false", 0, 0,
     NULL,
     "Set to true for one restart after a compromise: deletes all per-user secrets and browser "
       "sessions"},
    {"SVC_SWAGGER_ENABLED", NULL, SETTING_BOOL, AT(swagger_enabled), "true", 0, 0, NULL,
     "Serve the description of the interface at /openapi.json and its reader at /swagger-ui/"},
    {"SVC_METRICS_ALLOW", NULL, SETTING_TEXT, AT(metrics_allow), "127.0.0.1,::1", 0, 0, NULL,
     "Client addresses that may read /metrics, separated by commas; others need SVC_METRICS_TOKEN"},
    {"SVC_METRICS_TOKEN", NULL, SETTING_SECRET, AT(metrics_token), NULL, 0, 0, NULL,
     "Bearer token of at least 16 octets with which any address may read /metrics"},
    {"SVC_CONNECTORS_DIR", NULL, SETTING_TEXT, AT(connectors_dir), NULL, 0, 0, NULL,
     "Directory of your own manifests of connectors; a file ID.json replaces that of "
       "SVC_DATA_DIR/connectors"},
    {"SVC_GATEWAY_ALLOWED_INSECURE_HOSTS", NULL, SETTING_TEXT, AT(gateway_insecure_hosts), NULL, 0,
     0, NULL,
     "Hosts of upstreams and of their token endpoints that may use http or have private addresses, "
       "separated by commas, without port"},
    {"SVC_GATEWAY_ENABLED", NULL, SETTING_BOOL, AT(gateway_enabled), "true", 0, 0, NULL,
     "Serve the managed resources; if false, every path below /gateway is answered with 404"},
    {"SVC_GATEWAY_ASK_ALL_SCOPES", NULL, SETTING_BOOL, AT(gateway_ask_all_scopes), "false", 0, 0,
     NULL,
     "Tell clients of the gateway to ask at the first sign-in for the scopes of all tools or "
       "routes, for clients that cannot ask for more later"},
    {"SVC_GATEWAY_TOOL_LIST", NULL, SETTING_CHOICE, AT(gateway_tool_list), "auto", 0, 0, tool_lists,
     "Tools that tools/list of /gateway/mcp shows: all, search (two tools that find and call the "
       "others), or auto: search for a caller who may use more than 60"},
    {"SVC_CHECK_PROXY_COUNT", NULL, SETTING_NUMBER, AT(check_proxy_count), "0", 0, 16, NULL,
     "Number of entries of X-Forwarded-For that a web server which asks /auth/check, and proxies "
       "behind it, add; the caller's address is that many from the right, once the credential of "
       "the web server is good (0: the address of the connection)"},
    {"SVC_CHECK_RATE_LIMIT_REQUESTS", NULL, SETTING_NUMBER, AT(check_rate_limit), "6000", 0,
     1048575, NULL,
     "Maximum number of questions to /auth/check per address of a caller and "
       "SVC_RATE_LIMIT_WINDOW, where that address is known (0: no limit)"},
    {"SVC_CHECK_SOCKET_CLIENT", NULL, SETTING_TEXT, AT(check_socket_client), NULL, 0, 0, NULL,
     "Client as which a web server asks about a request by the FastCGI role of an authorizer on a "
       "UNIX socket, without a secret (unset: it needs X-Authz-Proxy-Authorization)"},
    {"SVC_GATEWAY_STREAMS", NULL, SETTING_NUMBER, AT(gateway_streams), "2000", 0, 100000, NULL,
     "Maximum number of streams of MCP clients that wait for changes on this host, each without a "
       "worker (0: no streams are held)"},
    {"SVC_GATEWAY_CONNECT_TIMEOUT", NULL, SETTING_DURATION, AT(gateway_connect_timeout), "5s", 1,
     60, NULL,
     "Time limit for a connection from the gateway to an upstream"},
    {"SVC_GATEWAY_RESPONSE_TIMEOUT", NULL, SETTING_DURATION, AT(gateway_response_timeout), "30s", 1,
     3600, NULL,
     "Time limit for the answer of an upstream of the gateway"},
    {"SVC_GATEWAY_MAX_BODY_SIZE", NULL, SETTING_SIZE, AT(gateway_max_body_size), "10MB", 1024,
     1L << 30, NULL,
     "Maximum size of a body that passes through the gateway, in either direction"},
    {"SVC_GATEWAY_LINK_STATE_SECRET", NULL, SETTING_SECRET, AT(gateway_link_state_secret), NULL, 0,
     0, NULL,
     "Secret of at least 16 octets that signs the state of account links; if not set, it is "
       "derived from SVC_CREDENTIAL_KEY"},
    {"SVC_GATEWAY_LINK_STATE_SECRET_PREVIOUS", NULL, SETTING_SECRET,
     AT(gateway_link_state_previous), NULL, 0, 0, NULL,
     "The secret before SVC_GATEWAY_LINK_STATE_SECRET was changed: links that it signed stay valid "
       "for their ten minutes"},
    {"SVC_GATEWAY_ALLOWED_ORIGINS", NULL, SETTING_TEXT, AT(gateway_allowed_origins), NULL, 0, 0,
     NULL,
     "Origins of web pages that may call /gateway/mcp besides that of SVC_OIDC_ISSUER, separated "
       "by commas"},
    {"SHUTDOWN_PHASE_TIMEOUT", NULL, SETTING_DURATION, AT(shutdown_phase_timeout), "25s", 1, 3600,
     NULL,
     "Time that a stopping process has to finish its request"},
    {NULL, NULL, SETTING_TEXT, 0, NULL, 0, 0, NULL, NULL},
};
/* clang-format on */

#include "config.h"

#include "base/settings.h"

static const char *const log_levels[] = {"debug", "info", "warn", "error", NULL};

#define AT(member) offsetof(struct settings, member)
#define WEEK (7L * 86400)

/* clang-format off */
const struct setting settings_table[] = {
    {"SVC_OIDC_ISSUER", NULL, SETTING_ISSUER, AT(oidc_issuer), "http://localhost:8080", 0, 0, NULL,
     "Issuer address; every published URL is built from it"},
    {"SVC_DATABASE_URL", NULL, SETTING_SECRET, AT(database_url), "postgresql:///authz", 0, 0, NULL,
     "libpq connection string or URI; several hosts and target_session_attrs work"},
    {"SVC_OPA_URL", NULL, SETTING_TEXT, AT(opa_url), "unix:/run/authz/opa.sock", 0, 0, NULL,
     "Open Policy Agent: unix:/PATH or http://HOST:PORT"},
    {"SVC_DATA_DIR", NULL, SETTING_TEXT, AT(data_dir), AUTHZ_DATADIR, 0, 0, NULL,
     "Directory of the installed sql, policy and www folders"},
    {"SVC_RUNTIME_DIR", NULL, SETTING_TEXT, AT(runtime_dir), "/run/authz", 0, 0, NULL,
     "Directory of the counters that processes share; owned by the service, mode 0700"},
    {"SVC_LOG_LEVEL", NULL, SETTING_CHOICE, AT(log_level), "info", 0, 0, log_levels,
     "Least severity that is logged"},
    {"SVC_ADMIN_API_KEY", NULL, SETTING_SECRET, AT(admin_api_key), NULL, 0, 0, NULL,
     "The first admin key (X-Admin-API-Key)"},
    {"SVC_ADMIN_PEPPER", NULL, SETTING_SECRET, AT(admin_pepper), NULL, 0, 0, NULL,
     "Secret under which admin keys are hashed for lookup"},
    {"SVC_ADMIN_ENABLED", NULL, SETTING_BOOL, AT(admin_enabled), "true", 0, 0, NULL,
     "false hides /admin from key holders too (404)"},
    {"SVC_CREDENTIAL_KEY", "SVC_GATEWAY_CREDENTIAL_KEY", SETTING_SECRET, AT(credential_key), NULL, 0, 0, NULL,
     "Secret of at least 16 octets that seals client secrets and private keys at rest"},
    {"SVC_BUNDLE_API_KEY", NULL, SETTING_SECRET, AT(bundle_api_key), NULL, 0, 0, NULL,
     "Key the policy engine shows on /bundles (X-Bundle-API-Key)"},
    {"SVC_ALLOW_INSECURE_DEV_KEY", NULL, SETTING_BOOL, AT(allow_insecure_dev_key), "false", 0, 0, NULL,
     "Development only: opens /admin and uses public fallback keys"},
    {"SVC_RATE_LIMIT_ENABLED", NULL, SETTING_BOOL, AT(rate_limit_enabled), "true", 0, 0, NULL,
     "Limit requests per client address on the OAuth endpoints"},
    {"SVC_RATE_LIMIT_REQUESTS", NULL, SETTING_NUMBER, AT(rate_limit_requests), "1000", 1, 1048575, NULL,
     "Requests per window and client address"},
    {"SVC_RATE_LIMIT_WINDOW", NULL, SETTING_DURATION, AT(rate_limit_window), "60", 1, 86400, NULL,
     "Length of the rate limit window"},
    {"SVC_TRUSTED_PROXY_COUNT", NULL, SETTING_NUMBER, AT(trusted_proxy_count), "0", 0, 16, NULL,
     "Proxies in front of us; the client is that many X-Forwarded-For entries from the right"},
    {"SVC_MAX_REDIRECT_URIS", NULL, SETTING_NUMBER, AT(max_redirect_uris), "25", 1, 1000, NULL,
     "Redirect URIs a client may have"},
    {"SVC_POLICY_TIMEOUT_MS", NULL, SETTING_NUMBER, AT(policy_timeout_ms), "2000", 50, 60000, NULL,
     "Longest wait for one policy decision, in milliseconds"},
    {"SVC_OAUTH_TIMING_ACCESS_TOKEN_VALIDITY_SECONDS", NULL, SETTING_NUMBER, AT(access_token_validity), "3600", 1, 86400, NULL,
     "Lifetime of access tokens when policy names none"},
    {"SVC_OAUTH_TIMING_REFRESH_FAMILY_VALIDITY_SECONDS", NULL, SETTING_NUMBER, AT(refresh_family_validity), "7776000", 3600, 31536000, NULL,
     "Longest life of a chain of refresh tokens"},
    {"SVC_OIDC_JWKS_CACHE_SECONDS", NULL, SETTING_NUMBER, AT(jwks_cache_seconds), "300", 0, 86400, NULL,
     "max-age of the published key set; a new signing key waits so long before use"},
    {"SVC_OIDC_KEY_RETIREMENT_SECONDS", NULL, SETTING_NUMBER, AT(key_retirement_seconds), "86400", 0, 52 * WEEK, NULL,
     "A retired signing key stays published so long"},
    {"SVC_BUNDLE_CONFIRM_ACTIVATION", NULL, SETTING_BOOL, AT(bundle_confirm_activation), "true", 0, 0, NULL,
     "Wait until the policy engine reports a saved bundle active"},
    {"SVC_BUNDLE_CONFIRM_POLL_MS", NULL, SETTING_NUMBER, AT(bundle_confirm_poll_ms), "500", 10, 60000, NULL,
     "Milliseconds between looks at the engine's status while waiting"},
    {"SVC_BUNDLE_CONFIRM_TIMEOUT_MS", NULL, SETTING_NUMBER, AT(bundle_confirm_timeout_ms), "10000", 100, 120000, NULL,
     "Longest wait for the engine's verdict, in milliseconds"},
    {"SVC_AUDIT_RETENTION_DAYS", NULL, SETTING_NUMBER, AT(audit_retention_days), "90", 0, 36500, NULL,
     "Audit rows are kept so long; 0 keeps them for ever"},
    {"SHUTDOWN_PHASE_TIMEOUT", NULL, SETTING_DURATION, AT(shutdown_phase_timeout), "25s", 1, 3600, NULL,
     "A stopping process may finish its request for so long"},
    {NULL, NULL, SETTING_TEXT, 0, NULL, 0, 0, NULL, NULL},
};
/* clang-format on */

/*
 * THE routing table: the whole HTTP surface, one row per endpoint. The dispatcher (http/dispatch.c)
 * does everything a row declares: credential, body, parameters, rate limit, cache headers, audit
 * row, error dialect. Read it as the security review: what is not in a row is not served.
 */
#include "config.h"

#include "admin/admin_keys.h"
#include "admin/bundle_audit.h"
#include "admin/bundles.h"
#include "admin/clients.h"
#include "admin/consents.h"
#include "admin/controls.h"
#include "admin/credential.h"
#include "admin/health.h"
#include "admin/identity_providers.h"
#include "admin/policy_bundle.h"
#include "admin/policy_data.h"
#include "admin/policy_evaluate.h"
#include "admin/policy_rules.h"
#include "http/route.h"
#include "oauth/client_auth.h"
#include "oauth/introspect.h"
#include "oauth/register.h"
#include "oauth/revoke.h"
#include "oauth/token.h"
#include "oidc/authorize.h"
#include "oidc/callback.h"
#include "oidc/consent.h"
#include "oidc/discovery.h"
#include "oidc/logout.h"
#include "oidc/userinfo.h"
#include "policy/decide/engine.h"

static const struct route_credential none = {"none", NULL, false};

#define FORM HTTP_TOKEN_BODY_MAX

/* What every row of the admin API declares alike: the key, JSON faults, no caching, no rate limit;
 * writes are audited. */
#define ADMIN_READ(path, operation, handler, body, params)                                         \
    {                                                                                              \
        "GET", path, operation, &credential_admin, NULL, handler, body, params, 0, DIALECT_ADMIN,  \
            CACHE_PRIVATE, false, false, false                                                     \
    }
#define ADMIN_WRITE(method, path, operation, handler, body, params)                                \
    {                                                                                              \
        method, path, operation, &credential_admin, NULL, handler, body, params,                   \
            HTTP_ADMIN_BODY_MAX, DIALECT_ADMIN, CACHE_PRIVATE, false, true, false                  \
    }
/* A POST that says all in its path. */
#define ADMIN_ACT(path, operation, handler)                                                        \
    {                                                                                              \
        "POST", path, operation, &credential_admin, NULL, handler, BODY_NONE, NULL, 0,             \
            DIALECT_ADMIN, CACHE_PRIVATE, false, true, false                                       \
    }
#define ADMIN_DELETE(path, operation, handler, body, params)                                       \
    {                                                                                              \
        "DELETE", path, operation, &credential_admin, NULL, handler, body, params, 0,              \
            DIALECT_ADMIN, CACHE_PRIVATE, false, true, false                                       \
    }

/* clang-format off */
const struct route routes[] = {
    /* method, path, operation,                   credential,      precheck,       handler,           body,     parameters,   octets, dialect,   cache,      limited, audited, cors */
    {"GET",  "/.well-known/openid-configuration",       "getOpenIdConfiguration", &none, NULL, discovery_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false, true},
    {"GET",  "/.well-known/oauth-authorization-server", "getAuthorizationServerMetadata", &none, NULL, discovery_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false, true},
    {"GET",  "/.well-known/jwks.json",                  "getJwks", &none, NULL, jwks_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false, true},

    {"POST", "/token",      "token",      &credential_client,          token_precheck, token_handle,      BODY_FORM,         token_params,      FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true, true},
    {"POST", "/introspect", "introspect", &credential_introspect,      NULL,           introspect_handle, BODY_FORM,         introspect_params, FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true, false},
    {"POST", "/revoke",     "revoke",     &credential_client_optional, NULL,           revoke_handle,     BODY_FORM_LENIENT, revoke_params,     FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true, true},
    {"POST", "/register",   "register",   &none,                       NULL,           register_handle,   BODY_RAW,          NULL,              FORM, DIALECT_BARE,  CACHE_NO_STORE, true, true, true},

    {"GET",  "/userinfo",   "userinfo",       &none,                   NULL,           userinfo_handle,   BODY_NONE,         NULL,              0,    DIALECT_OAUTH, CACHE_NO_STORE, false, true, true},
    {"POST", "/userinfo",   "userinfoByForm", &none,                   NULL,           userinfo_handle,   BODY_FORM_LENIENT, userinfo_params,   FORM, DIALECT_OAUTH, CACHE_NO_STORE, false, true, true},

    {"GET",  "/authorize",                  "authorize",         &none, NULL, authorize_handle,      BODY_QUERY_FAULTS, authorize_params, 0, DIALECT_PAGE, CACHE_NO_STORE, true, true, false},
    {"POST", "/authorize",                  "authorizeByForm",   &none, NULL, authorize_handle,      BODY_FORM_FAULTS, authorize_params, FORM, DIALECT_PAGE, CACHE_NO_STORE, true, true, false},
    {"GET",  "/authorize/callback/{idpId}", "authorizeCallback", &none, NULL, callback_handle,       BODY_QUERY, callback_params,      0,    DIALECT_PAGE, CACHE_NO_STORE, false, true, false},
    {"GET",  "/authorize/consent",          "showConsent",       &none, NULL, consent_show_handle,   BODY_QUERY, consent_params,       0,    DIALECT_PAGE, CACHE_NO_STORE, false, false, false},
    {"POST", "/authorize/consent",          "answerConsent",     &none, NULL, consent_answer_handle, BODY_FORM,  consent_form_params,  FORM, DIALECT_PAGE, CACHE_NO_STORE, false, true, false},
    {"GET",  "/logout",                     "logout",            &none, NULL, logout_handle,         BODY_QUERY, logout_params,        0,    DIALECT_PAGE, CACHE_NO_STORE, false, true, false},
    {"POST", "/logout",                     "logoutByForm",      &none, NULL, logout_handle,         BODY_FORM,  logout_params,        FORM, DIALECT_PAGE, CACHE_NO_STORE, false, true, false},
    {"GET",  "/logout/return",              "logoutReturn",      &none, NULL, logout_return_handle,  BODY_QUERY, logout_return_params, 0,    DIALECT_PAGE, CACHE_NO_STORE, false, false, false},

    ADMIN_READ("/admin/api/admin-keys", "listAdminKeys", admin_keys_list_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/clients", "listClients", clients_list_handle, BODY_NONE, NULL),
    ADMIN_WRITE("POST", "/admin/api/clients", "createClient", clients_create_handle, BODY_JSON, NULL),
    ADMIN_READ("/admin/api/clients/{clientId}", "getClient", client_get_handle, BODY_NONE, NULL),
    ADMIN_WRITE("PUT", "/admin/api/clients/{clientId}", "updateClient", client_put_handle, BODY_JSON, NULL),
    ADMIN_DELETE("/admin/api/clients/{clientId}", "deleteClient", client_delete_handle, BODY_NONE, NULL),
    ADMIN_WRITE("POST", "/admin/api/clients/{clientId}/rotate-secret", "rotateClientSecret", client_rotate_handle, BODY_JSON_OPTIONAL, NULL),

    ADMIN_READ("/admin/api/identity-providers", "listIdentityProviders", identity_providers_list_handle, BODY_NONE, NULL),
    ADMIN_WRITE("POST", "/admin/api/identity-providers", "createIdentityProvider", identity_providers_create_handle, BODY_JSON, NULL),
    ADMIN_READ("/admin/api/identity-providers/{idpId}", "getIdentityProvider", identity_provider_get_handle, BODY_NONE, NULL),
    ADMIN_WRITE("PUT", "/admin/api/identity-providers/{idpId}", "updateIdentityProvider", identity_provider_put_handle, BODY_JSON, NULL),
    ADMIN_DELETE("/admin/api/identity-providers/{idpId}", "deleteIdentityProvider", identity_provider_delete_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/consents", "listConsents", consents_list_handle, BODY_QUERY, consents_params),
    ADMIN_DELETE("/admin/api/consents/{id}", "deleteConsent", consent_delete_handle, BODY_NONE, NULL),
    ADMIN_READ("/admin/api/sessions", "listSessions", sessions_list_handle, BODY_QUERY, sessions_params),
    ADMIN_DELETE("/admin/api/sessions/{sid}", "deleteSession", session_delete_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/policy-data", "listPolicyData", policy_data_list_handle, BODY_QUERY, policy_data_params),
    ADMIN_WRITE("POST", "/admin/api/policy-data", "createPolicyData", policy_data_create_handle, BODY_JSON, NULL),
    ADMIN_READ("/admin/api/policy-data/schema", "getPolicyDataSchema", policy_data_schema_handle, BODY_QUERY, policy_data_params),
    ADMIN_READ("/admin/api/controls", "listControls", controls_list_handle, BODY_NONE, NULL),
    ADMIN_READ("/admin/api/controls/settings", "listControlSettings", controls_settings_handle, BODY_NONE, NULL),
    ADMIN_READ("/admin/api/controls/{id}", "getControl", control_get_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/policy-data/by-key", "getPolicyDataByKey", policy_data_get_handle, BODY_QUERY, policy_data_params),
    ADMIN_WRITE("PUT", "/admin/api/policy-data/by-key", "putPolicyDataByKey", policy_data_put_handle, BODY_JSON, policy_data_params),
    ADMIN_WRITE("PATCH", "/admin/api/policy-data/by-key", "patchPolicyDataByKey", policy_data_patch_handle, BODY_RAW, policy_data_params),
    ADMIN_DELETE("/admin/api/policy-data/by-key", "deletePolicyDataByKey", policy_data_delete_handle, BODY_QUERY, policy_data_params),
    ADMIN_READ("/admin/api/policy-data/{id}", "getPolicyData", policy_data_row_get_handle, BODY_NONE, NULL),
    ADMIN_WRITE("PUT", "/admin/api/policy-data/{id}", "putPolicyData", policy_data_row_put_handle, BODY_JSON, NULL),
    ADMIN_DELETE("/admin/api/policy-data/{id}", "deletePolicyData", policy_data_row_delete_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/policy-rules", "listPolicyRules", policy_rules_list_handle, BODY_QUERY, policy_rules_params),
    ADMIN_WRITE("POST", "/admin/api/policy-rules", "createPolicyRule", policy_rules_create_handle, BODY_JSON, NULL),
    ADMIN_WRITE("POST", "/admin/api/policy-rules/evaluate", "evaluatePolicy", policy_evaluate_handle, BODY_JSON, NULL),
    ADMIN_WRITE("PUT", "/admin/api/policy-rules/by-path", "putPolicyRuleByPath", policy_rule_put_by_path_handle, BODY_JSON, NULL),
    ADMIN_READ("/admin/api/policy-rules/{id}", "getPolicyRule", policy_rule_get_handle, BODY_NONE, NULL),
    ADMIN_WRITE("PUT", "/admin/api/policy-rules/{id}", "putPolicyRule", policy_rule_put_handle, BODY_JSON, NULL),
    ADMIN_DELETE("/admin/api/policy-rules/{id}", "deletePolicyRule", policy_rule_delete_handle, BODY_NONE, NULL),
    {"POST", "/admin/api/policy-bundle/deploy", "deployPolicyBundle", &credential_admin, NULL, policy_bundle_deploy_handle, BODY_JSON_ENVELOPE, NULL, HTTP_DEPLOY_BODY_MAX, DIALECT_ADMIN, CACHE_PRIVATE, false, true, false},

    /* The fixed names before {id}: the first row that fits answers. */
    ADMIN_READ("/admin/api/bundle-audit", "listBundleAudit", bundle_audit_list_handle, BODY_QUERY, bundle_audit_list_params),
    ADMIN_READ("/admin/api/bundle-audit/latest", "getLatestBundleAudit", bundle_audit_latest_handle, BODY_NONE, NULL),
    ADMIN_READ("/admin/api/bundle-audit/at", "getBundleAuditAt", bundle_audit_at_handle, BODY_QUERY, bundle_audit_at_params),
    ADMIN_READ("/admin/api/bundle-audit/diff", "diffBundleAudit", bundle_audit_diff_handle, BODY_QUERY, bundle_audit_diff_params),
    ADMIN_READ("/admin/api/bundle-audit/{id}", "getBundleAudit", bundle_audit_get_handle, BODY_NONE, NULL),
    ADMIN_READ("/admin/api/bundle-audit/{id}/content", "getBundleAuditContent", bundle_audit_content_handle, BODY_NONE, NULL),
    ADMIN_ACT("/admin/api/bundle-audit/{id}/rollback", "rollbackBundle", bundle_audit_rollback_handle),

    {"GET",  "/bundles/{name}", "getBundle",        &credential_bundle, NULL, bundle_get_handle,    BODY_NONE, NULL, 0,                   DIALECT_BARE, CACHE_NONE,    false, false, false},
    {"POST", "/bundles/status", "pushBundleStatus", &credential_bundle, NULL, bundle_status_handle, BODY_RAW,  NULL, ENGINE_STATUS_MAX,   DIALECT_BARE, CACHE_PRIVATE, false, false, false},
    {"POST", "/bundles/status/", "pushBundleStatus", &credential_bundle, NULL, bundle_status_handle, BODY_RAW,  NULL, ENGINE_STATUS_MAX,   DIALECT_BARE, CACHE_PRIVATE, false, false, false},

    {"GET",  "/health",       "getHealth",      &none, NULL, health_live_handle,  BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false, false},
    {"GET",  "/health/live",  "getHealthLive",  &none, NULL, health_live_handle,  BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false, false},
    {"GET",  "/health/ready", "getHealthReady", &none, NULL, health_ready_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false, false},
    {NULL, NULL, NULL, NULL, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_NONE, false, false, false},
};

const struct route route_guards[] = {
    {NULL, "/admin/", "none", &credential_admin, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_ADMIN, CACHE_PRIVATE, false, false, false},
    {NULL, NULL, NULL, NULL, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_NONE, false, false, false},
};
/* clang-format on */

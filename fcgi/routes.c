/*
 * THE routing table: the whole HTTP surface, one row per endpoint. The dispatcher (http/dispatch.c)
 * does everything a row declares: credential, body, parameters, rate limit, cache headers, audit
 * row, error dialect. The table is the security review: a path without a row is not served.
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
#include "admin/metrics.h"
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

const struct route_credential credential_none = {.check = NULL};

/* clang-format off */
#define ROUTE(verb, pattern, name, handler) .method = verb, .path = pattern, .operation = name, .handle = handler
#define GET(pattern, name, handler) ROUTE("GET", pattern, name, handler)
#define POST(pattern, name, handler) ROUTE("POST", pattern, name, handler)
#define PUT(pattern, name, handler) ROUTE("PUT", pattern, name, handler)
#define PATCH(pattern, name, handler) ROUTE("PATCH", pattern, name, handler)
#define DELETE(pattern, name, handler) ROUTE("DELETE", pattern, name, handler)

/* The members that rows of one kind have in common. A row adds what differs. */
#define PUBLIC .credential = &credential_none
#define METADATA PUBLIC, .cache = CACHE_OWN, .cors = true
#define OAUTH .dialect = DIALECT_OAUTH, .cache = CACHE_NO_STORE, .audited = true
#define LIMITED .rate_limited = true
#define BROWSER PUBLIC, .dialect = DIALECT_PAGE, .cache = CACHE_NO_STORE
#define ADMIN .credential = &credential_admin, .dialect = DIALECT_ADMIN, .cache = CACHE_PRIVATE
#define ADMIN_WRITE ADMIN, .audited = true
#define ENGINE .credential = &credential_bundle
#define HEALTH PUBLIC, .cache = CACHE_PRIVATE

/* Input: a query, a form, or a body with its largest size in octets. */
#define QUERY(accepted) .body = BODY_QUERY, .params = accepted
#define FORM(kind, accepted) .body = kind, .params = accepted, .body_max = HTTP_TOKEN_BODY_MAX
#define BODY(kind, octets) .body = kind, .body_max = octets
#define JSON BODY(BODY_JSON, HTTP_ADMIN_BODY_MAX)

/* The resource whose rows a generic handler works on (admin/resource.h). */
#define OF(resource) .arg = &(resource)

const struct route routes[] = {
    {GET("/.well-known/openid-configuration", "getOpenIdConfiguration", discovery_handle), METADATA},
    {GET("/.well-known/oauth-authorization-server", "getAuthorizationServerMetadata", discovery_handle), METADATA},
    {GET("/.well-known/jwks.json", "getJwks", jwks_handle), METADATA},

    {POST("/token", "token", token_handle), .credential = &credential_client, OAUTH, LIMITED, .cors = true, BODY(BODY_FORM, HTTP_TOKEN_BODY_MAX), .find_param = token_find_param, .precheck = token_precheck},
    {POST("/introspect", "introspect", introspect_handle), .credential = &credential_introspect, OAUTH, LIMITED, FORM(BODY_FORM, introspect_params)},
    {POST("/revoke", "revoke", revoke_handle), .credential = &credential_client_optional, OAUTH, LIMITED, .cors = true, FORM(BODY_FORM_LENIENT, revoke_params)},
    {POST("/register", "register", register_handle), PUBLIC, .cache = CACHE_NO_STORE, .audited = true, LIMITED, .cors = true, BODY(BODY_RAW, HTTP_TOKEN_BODY_MAX)},

    {GET("/userinfo", "userinfo", userinfo_handle), PUBLIC, OAUTH, .cors = true},
    {POST("/userinfo", "userinfoByForm", userinfo_handle), PUBLIC, OAUTH, .cors = true, FORM(BODY_FORM_LENIENT, userinfo_params)},

    {GET("/authorize", "authorize", authorize_handle), BROWSER, LIMITED, .audited = true, .body = BODY_QUERY_FAULTS, .params = authorize_params},
    {POST("/authorize", "authorizeByForm", authorize_handle), BROWSER, LIMITED, .audited = true, FORM(BODY_FORM_FAULTS, authorize_params)},
    {GET("/authorize/callback/{idpId}", "authorizeCallback", callback_handle), BROWSER, .audited = true, QUERY(callback_params)},
    {GET("/authorize/consent", "showConsent", consent_show_handle), BROWSER, QUERY(consent_params)},
    {POST("/authorize/consent", "answerConsent", consent_answer_handle), BROWSER, .audited = true, FORM(BODY_FORM, consent_form_params)},
    {GET("/logout", "logout", logout_handle), BROWSER, .audited = true, QUERY(logout_params)},
    {POST("/logout", "logoutByForm", logout_handle), BROWSER, .audited = true, FORM(BODY_FORM, logout_params)},
    {GET("/logout/return", "logoutReturn", logout_return_handle), BROWSER, QUERY(logout_return_params)},

    {GET("/admin/api/admin-keys", "listAdminKeys", resource_list_handle), ADMIN, OF(admin_keys_resource)},

    {GET("/admin/api/clients", "listClients", resource_list_handle), ADMIN, OF(clients_resource)},
    {POST("/admin/api/clients", "createClient", resource_create_handle), ADMIN_WRITE, JSON, OF(clients_resource)},
    {GET("/admin/api/clients/{clientId}", "getClient", resource_get_handle), ADMIN, OF(clients_resource)},
    {PUT("/admin/api/clients/{clientId}", "updateClient", resource_put_handle), ADMIN_WRITE, JSON, OF(clients_resource)},
    {DELETE("/admin/api/clients/{clientId}", "deleteClient", resource_delete_handle), ADMIN_WRITE, OF(clients_resource)},
    {POST("/admin/api/clients/{clientId}/rotate-secret", "rotateClientSecret", client_rotate_handle), ADMIN_WRITE, BODY(BODY_JSON_OPTIONAL, HTTP_ADMIN_BODY_MAX)},

    {GET("/admin/api/identity-providers", "listIdentityProviders", resource_list_handle), ADMIN, OF(identity_providers_resource)},
    {POST("/admin/api/identity-providers", "createIdentityProvider", resource_create_handle), ADMIN_WRITE, JSON, OF(identity_providers_resource)},
    {GET("/admin/api/identity-providers/{idpId}", "getIdentityProvider", resource_get_handle), ADMIN, OF(identity_providers_resource)},
    {PUT("/admin/api/identity-providers/{idpId}", "updateIdentityProvider", resource_put_handle), ADMIN_WRITE, JSON, OF(identity_providers_resource)},
    {DELETE("/admin/api/identity-providers/{idpId}", "deleteIdentityProvider", resource_delete_handle), ADMIN_WRITE, OF(identity_providers_resource)},

    {GET("/admin/api/consents", "listConsents", resource_list_handle), ADMIN, QUERY(consents_params), OF(consents_resource)},
    {DELETE("/admin/api/consents/{id}", "deleteConsent", resource_delete_handle), ADMIN_WRITE, OF(consents_resource)},
    {GET("/admin/api/sessions", "listSessions", resource_list_handle), ADMIN, QUERY(sessions_params), OF(sessions_resource)},
    {DELETE("/admin/api/sessions/{sid}", "deleteSession", resource_delete_handle), ADMIN_WRITE, OF(sessions_resource)},

    {GET("/admin/api/policy-data", "listPolicyData", policy_data_list_handle), ADMIN, QUERY(policy_data_params)},
    {POST("/admin/api/policy-data", "createPolicyData", policy_data_create_handle), ADMIN_WRITE, JSON},
    {GET("/admin/api/policy-data/schema", "getPolicyDataSchema", policy_data_schema_handle), ADMIN, QUERY(policy_data_params)},
    {GET("/admin/api/controls", "listControls", controls_list_handle), ADMIN},
    {GET("/admin/api/controls/settings", "listControlSettings", controls_settings_handle), ADMIN},
    {GET("/admin/api/controls/{id}", "getControl", control_get_handle), ADMIN},

    {GET("/admin/api/policy-data/by-key", "getPolicyDataByKey", policy_data_get_handle), ADMIN, QUERY(policy_data_params)},
    {PUT("/admin/api/policy-data/by-key", "putPolicyDataByKey", policy_data_put_handle), ADMIN_WRITE, JSON, .params = policy_data_params},
    {PATCH("/admin/api/policy-data/by-key", "patchPolicyDataByKey", policy_data_patch_handle), ADMIN_WRITE, BODY(BODY_RAW, HTTP_ADMIN_BODY_MAX), .params = policy_data_params},
    {DELETE("/admin/api/policy-data/by-key", "deletePolicyDataByKey", policy_data_delete_handle), ADMIN_WRITE, QUERY(policy_data_params)},
    {GET("/admin/api/policy-data/{id}", "getPolicyData", policy_data_row_get_handle), ADMIN},
    {PUT("/admin/api/policy-data/{id}", "putPolicyData", policy_data_row_put_handle), ADMIN_WRITE, JSON},
    {DELETE("/admin/api/policy-data/{id}", "deletePolicyData", policy_data_row_delete_handle), ADMIN_WRITE},

    {GET("/admin/api/policy-rules", "listPolicyRules", policy_rules_list_handle), ADMIN, QUERY(policy_rules_params)},
    {POST("/admin/api/policy-rules", "createPolicyRule", policy_rules_create_handle), ADMIN_WRITE, JSON},
    {POST("/admin/api/policy-rules/evaluate", "evaluatePolicy", policy_evaluate_handle), ADMIN_WRITE, JSON},
    {PUT("/admin/api/policy-rules/by-path", "putPolicyRuleByPath", policy_rule_put_by_path_handle), ADMIN_WRITE, JSON},
    {GET("/admin/api/policy-rules/{id}", "getPolicyRule", policy_rule_get_handle), ADMIN},
    {PUT("/admin/api/policy-rules/{id}", "putPolicyRule", policy_rule_put_handle), ADMIN_WRITE, JSON},
    {DELETE("/admin/api/policy-rules/{id}", "deletePolicyRule", policy_rule_delete_handle), ADMIN_WRITE},
    {POST("/admin/api/policy-bundle/deploy", "deployPolicyBundle", policy_bundle_deploy_handle), ADMIN_WRITE, BODY(BODY_JSON_ENVELOPE, HTTP_DEPLOY_BODY_MAX)},

    /* Fixed names stand before {id}: the first row that matches answers. */
    {GET("/admin/api/bundle-audit", "listBundleAudit", bundle_audit_list_handle), ADMIN, QUERY(bundle_audit_list_params)},
    {GET("/admin/api/bundle-audit/latest", "getLatestBundleAudit", bundle_audit_latest_handle), ADMIN},
    {GET("/admin/api/bundle-audit/at", "getBundleAuditAt", bundle_audit_at_handle), ADMIN, QUERY(bundle_audit_at_params)},
    {GET("/admin/api/bundle-audit/diff", "diffBundleAudit", bundle_audit_diff_handle), ADMIN, QUERY(bundle_audit_diff_params)},
    {GET("/admin/api/bundle-audit/{id}", "getBundleAudit", bundle_audit_get_handle), ADMIN},
    {GET("/admin/api/bundle-audit/{id}/content", "getBundleAuditContent", bundle_audit_content_handle), ADMIN},
    {POST("/admin/api/bundle-audit/{id}/rollback", "rollbackBundle", bundle_audit_rollback_handle), ADMIN_WRITE},

    {GET("/bundles/{name}", "getBundle", bundle_get_handle), ENGINE},
    {POST("/bundles/status", "pushBundleStatus", bundle_status_handle), ENGINE, .cache = CACHE_PRIVATE, BODY(BODY_RAW, ENGINE_STATUS_MAX)},
    {POST("/bundles/status/", "pushBundleStatus", bundle_status_handle), ENGINE, .cache = CACHE_PRIVATE, BODY(BODY_RAW, ENGINE_STATUS_MAX)},

    {GET("/health", "getHealth", health_live_handle), HEALTH},
    {GET("/health/live", "getHealthLive", health_live_handle), HEALTH},
    {GET("/health/ready", "getHealthReady", health_ready_handle), HEALTH},
    {GET("/metrics", "getMetrics", metrics_handle), HEALTH},
};

const struct route route_guards[] = {
    {.path = "/admin/", .operation = "none", ADMIN},
};
/* clang-format on */

const size_t routes_count = sizeof(routes) / sizeof(routes[0]);
const size_t route_guards_count = sizeof(route_guards) / sizeof(route_guards[0]);

/*
 * THE routing table: the whole HTTP surface, one row per endpoint. The dispatcher (http/dispatch.c)
 * does everything a row declares: credential, body, parameters, rate limit, cache headers, audit
 * row, error dialect. Read it as the security review: what is not in a row is not served.
 */
#include "config.h"

#include "admin/admin_keys.h"
#include "admin/bundles.h"
#include "admin/clients.h"
#include "admin/credential.h"
#include "admin/health.h"
#include "admin/policy_data.h"
#include "http/route.h"
#include "oauth/client_auth.h"
#include "oauth/introspect.h"
#include "oauth/revoke.h"
#include "oauth/token.h"
#include "oidc/discovery.h"

static const struct route_credential none = {"none", NULL, false};

#define FORM HTTP_TOKEN_BODY_MAX

/* What every row of the admin API declares alike: the key, JSON faults, no caching, no rate limit;
 * writes are audited. */
#define ADMIN_READ(path, operation, handler, body, params)                                         \
    {                                                                                              \
        "GET", path, operation, &credential_admin, NULL, handler, body, params, 0, DIALECT_ADMIN,  \
            CACHE_PRIVATE, false, false                                                            \
    }
#define ADMIN_WRITE(method, path, operation, handler, body, params)                                \
    {                                                                                              \
        method, path, operation, &credential_admin, NULL, handler, body, params,                   \
            HTTP_ADMIN_BODY_MAX, DIALECT_ADMIN, CACHE_PRIVATE, false, true                         \
    }
#define ADMIN_DELETE(path, operation, handler, body, params)                                       \
    {                                                                                              \
        "DELETE", path, operation, &credential_admin, NULL, handler, body, params, 0,              \
            DIALECT_ADMIN, CACHE_PRIVATE, false, true                                              \
    }

/* clang-format off */
const struct route routes[] = {
    /* method, path, operation,                   credential,      precheck,       handler,           body,     parameters,   octets, dialect,   cache,      limited, audited */
    {"GET",  "/.well-known/openid-configuration",       "getOpenIdConfiguration", &none, NULL, discovery_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false},
    {"GET",  "/.well-known/oauth-authorization-server", "getAuthorizationServerMetadata", &none, NULL, discovery_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false},
    {"GET",  "/.well-known/jwks.json",                  "getJwks", &none, NULL, jwks_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_OWN, false, false},

    {"POST", "/token",      "token",      &credential_client,          token_precheck, token_handle,      BODY_FORM,         token_params,      FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true},
    {"POST", "/introspect", "introspect", &credential_introspect,      NULL,           introspect_handle, BODY_FORM,         introspect_params, FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true},
    {"POST", "/revoke",     "revoke",     &credential_client_optional, NULL,           revoke_handle,     BODY_FORM_LENIENT, revoke_params,     FORM, DIALECT_OAUTH, CACHE_NO_STORE, true, true},

    ADMIN_READ("/admin/api/admin-keys", "listAdminKeys", admin_keys_list_handle, BODY_NONE, NULL),

    ADMIN_READ("/admin/api/clients", "listClients", clients_list_handle, BODY_NONE, NULL),
    ADMIN_WRITE("POST", "/admin/api/clients", "createClient", clients_create_handle, BODY_JSON, NULL),
    ADMIN_READ("/admin/api/clients/{clientId}", "getClient", client_get_handle, BODY_NONE, NULL),
    ADMIN_WRITE("PUT", "/admin/api/clients/{clientId}", "updateClient", client_put_handle, BODY_JSON, NULL),
    ADMIN_DELETE("/admin/api/clients/{clientId}", "deleteClient", client_delete_handle, BODY_NONE, NULL),
    ADMIN_WRITE("POST", "/admin/api/clients/{clientId}/rotate-secret", "rotateClientSecret", client_rotate_handle, BODY_JSON_OPTIONAL, NULL),

    ADMIN_READ("/admin/api/policy-data/by-key", "getPolicyDataByKey", policy_data_get_handle, BODY_QUERY, policy_data_params),
    ADMIN_WRITE("PUT", "/admin/api/policy-data/by-key", "putPolicyDataByKey", policy_data_put_handle, BODY_JSON, policy_data_params),
    ADMIN_WRITE("PATCH", "/admin/api/policy-data/by-key", "patchPolicyDataByKey", policy_data_patch_handle, BODY_JSON, policy_data_params),
    ADMIN_DELETE("/admin/api/policy-data/by-key", "deletePolicyDataByKey", policy_data_delete_handle, BODY_QUERY, policy_data_params),

    {"GET",  "/bundles/{name}", "getBundle",        &credential_bundle, NULL, bundle_get_handle,    BODY_NONE, NULL, 0,                   DIALECT_BARE, CACHE_NONE,    false, false},
    {"POST", "/bundles/status", "pushBundleStatus", &credential_bundle, NULL, bundle_status_handle, BODY_RAW,  NULL, HTTP_ADMIN_BODY_MAX, DIALECT_BARE, CACHE_PRIVATE, false, false},
    {"POST", "/bundles/status/", "pushBundleStatus", &credential_bundle, NULL, bundle_status_handle, BODY_RAW,  NULL, HTTP_ADMIN_BODY_MAX, DIALECT_BARE, CACHE_PRIVATE, false, false},

    {"GET",  "/health",       "getHealth",      &none, NULL, health_live_handle,  BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false},
    {"GET",  "/health/live",  "getHealthLive",  &none, NULL, health_live_handle,  BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false},
    {"GET",  "/health/ready", "getHealthReady", &none, NULL, health_ready_handle, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_PRIVATE, false, false},
    {NULL, NULL, NULL, NULL, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_NONE, false, false},
};

const struct route route_guards[] = {
    {NULL, "/admin/", "none", &credential_admin, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_ADMIN, CACHE_PRIVATE, false, false},
    {NULL, NULL, NULL, NULL, NULL, NULL, BODY_NONE, NULL, 0, DIALECT_BARE, CACHE_NONE, false, false},
};
/* clang-format on */

#include "config.h"

#include "oidc/discovery.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "http/page/page.h"
#include "oauth/client_auth/client_assertion.h"
#include "oauth/grants.h"
#include "oidc/upstream/upstream_endpoints.h"
#include "policy/decide/registry.h"
#include "policy/decide/trust.h"
#include "store/people/identity_providers.h"
#include "store/tokens/signing_keys.h"

/* Member names of the endpoints, and their paths below the issuer. */
static const struct {
    const char *name, *path;
} endpoints[] = {
    {"authorization_endpoint",              "/authorize"                     },
    {"token_endpoint",                      "/token"                         },
    {"registration_endpoint",               "/register"                      },
    {"jwks_uri",                            "/.well-known/jwks.json"         },
    {"userinfo_endpoint",                   "/userinfo"                      },
    {"introspection_endpoint",              "/introspect"                    },
    {"resource_registration_endpoint",      "/resource_registration/resource"},
    {"permission_endpoint",                 "/permission"                    },
    {"revocation_endpoint",                 "/revoke"                        },
    {"end_session_endpoint",                "/logout"                        },
    {"backchannel_authentication_endpoint", "/bc-authorize"                  },
};

/* Lists that never change while the program runs. */
static const struct {
    const char *name;
    const char *const words[8];
} lists[] = {
    {"response_types_supported",                      {"code"}                                                        },
    {"response_modes_supported",                      {"query"}                                                       },
    {"subject_types_supported",                       {"public"}                                                      },
    {"scopes_supported",                              {"openid", "profile", "email"}                                  },
    {"claims_supported",                              {"sub", "name", "email", "preferred_username", "email_verified"}},
    {"code_challenge_methods_supported",              {"S256"}                                                        },
    {"backchannel_token_delivery_modes_supported",    {"poll"}                                                        },
    {"prompt_values_supported",                       {"none", "login", "consent", "select_account"}                  },
    {"token_endpoint_auth_methods_supported",
     {"client_secret_basic", "client_secret_post", PRIVATE_KEY_JWT, "none"}                                           },
    {"introspection_endpoint_auth_methods_supported",
     {"client_secret_basic", "client_secret_post", PRIVATE_KEY_JWT}                                                   },
    {"introspection_signing_alg_values_supported",    {"RS256"}                                                       },
 /* Specification 4.1 fixes this list; the endpoint takes private_key_jwt too. */
    {"revocation_endpoint_auth_methods_supported",    {"client_secret_basic", "client_secret_post"}                   },
};

/* Lists of the algorithms of assertions, required beside private_key_jwt (RFC 8414 2). */
static const char *const signing[] = {
    "token_endpoint_auth_signing_alg_values_supported",
    "introspection_endpoint_auth_signing_alg_values_supported",
};

/* Flags. If request_uri_parameter_supported were missing, it would mean true (OpenID Connect
 * Discovery 3). */
static const struct {
    const char *name;
    bool value;
} flags[] = {
    {"authorization_response_iss_parameter_supported", true }, /* RFC 9207 3 */
    {"client_id_metadata_document_supported",          true },
    {"request_parameter_supported",                    false},
    {"request_uri_parameter_supported",                false},
    {"claims_parameter_supported",                     false},
    {"backchannel_user_code_parameter_supported",      false},
};

/* Lists to which the method of workloads is added while they are trusted. */
static const char *const workload_lists[] = {
    "token_endpoint_auth_methods_supported",
    "introspection_endpoint_auth_methods_supported",
};

/* The parts of the document that change while the program runs. */
struct discovery_parts {
    json_t *details_types; /* array of authorization_details types */
    bool workloads;        /* there is a SPIFFE trust bundle */
    bool create;           /* an enabled provider announces prompt=create */
};

/* Add the tags of the languages of the pages. */
static void
add_languages(const struct pages *pages, struct jsonx_build *document)
{
    json_t *tags = json_array(), *texts;
    const char *tag;
    jsonx_set(document, "ui_locales_supported", tags);
    json_object_foreach ((json_t *) (uintptr_t) pages_texts(pages), tag, texts)
        document->lost |= json_array_append_new(tags, json_string(tag)) != 0;
}

static json_t *
build(struct request *req, const struct discovery_parts *parts)
{
    const char *issuer = req->op.az->cfg->oidc_issuer;
    struct jsonx_build document = {jsonx_own(req->op.mem, json_pack("{s:s}", "issuer", issuer)),
                                   false};
    for (size_t i = 0; i < sizeof(endpoints) / sizeof(endpoints[0]); i++)
        jsonx_set(&document, endpoints[i].name, json_sprintf("%s%s", issuer, endpoints[i].path));
    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
        jsonx_set(&document, lists[i].name, words_array(lists[i].words));
    for (size_t i = 0; i < sizeof(signing) / sizeof(signing[0]); i++)
        jsonx_set(&document, signing[i], words_array(assertion_algs));
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
        jsonx_set(&document, flags[i].name, json_boolean(flags[i].value));
    add_languages(req->op.az->pages, &document);
    jsonx_set(&document, "id_token_signing_alg_values_supported",
              words_array(req->op.az->cfg->id_token_algs));
    jsonx_set(&document, "grant_types_supported", words_array(grant_types(req->op.mem)));
    jsonx_set(&document, "authorization_details_types_supported",
              json_incref(parts->details_types));
    for (size_t i = 0; parts->workloads && i < sizeof(workload_lists) / sizeof(workload_lists[0]);
         i++)
        document.lost |= json_array_append_new(json_object_get(document.value, workload_lists[i]),
                                               json_string(SPIFFE_JWT))
                         != 0;
    if (parts->create)
        document.lost |=
            json_array_append_new(json_object_get(document.value, "prompt_values_supported"),
                                  json_string("create"))
            != 0;
    if (req->op.az->dpop_algs != NULL) /* RFC 9449 5.1 */
        jsonx_set(&document, "dpop_signing_alg_values_supported",
                  words_array(req->op.az->dpop_algs));
    return jsonx_built(&document);
}

/* *ret: a person can make an account at an enabled provider (world.md F5). */
static enum az_status
find_create(struct request *req, bool *ret)
{
    const struct identity_providers *list;
    enum az_status st = identity_providers_get(&req->op, true, &list);
    size_t asked = 0;
    for (size_t i = 0; st == AZ_OK && i < list->count && asked < UPSTREAM_CREATE_MAX && !*ret; i++)
        if (list->provider[i].enabled && ++asked > 0)
            *ret = upstream_creates(&req->op, &list->provider[i]);
    return st;
}

enum az_status
discovery_handle(struct request *req)
{
    struct discovery_parts parts = {.workloads = false};
    struct trust_spiffe trust;
    enum az_status st = registry_type_names(&req->op, &parts.details_types);
    if (st == AZ_OK)
        st = trust_spiffe(&req->op, registry_revision(&req->op), &trust);
    if (st == AZ_OK)
        st = find_create(req, &parts.create);
    if (st != AZ_OK)
        return st;
    parts.workloads = trust.bundle_url != NULL;
    st = respond_json(req, 200, build(req, &parts));
    return st == AZ_OK ? respond_cached(req, req->op.az->cfg->jwks_cache_seconds) : st;
}

enum az_status
jwks_handle(struct request *req)
{
    json_t *keys;
    enum az_status st = signing_keys_public(&req->op, &keys);
    if (st != AZ_OK)
        return st;
    st = respond_json(req, 200, jsonx_own(req->op.mem, json_pack("{s:O}", "keys", keys)));
    return st == AZ_OK ? respond_cached(req, req->op.az->cfg->jwks_cache_seconds) : st;
}

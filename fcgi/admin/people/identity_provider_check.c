#include "config.h"

#include "admin/people/identity_provider_check.h"

#include <string.h>

#include "admin/people/identity_provider_dto.h"
#include "admin/people/identity_provider_warnings.h"
#include "admin/resource/resource.h"
#include "base/uri.h"
#include "crypto/jwk_set.h"
#include "crypto/secret.h"
#include "http/fetch/documents.h"

/* Endpoints that a sign-in uses: the member of the provider, and of the discovery document if that
 * one is left out. */
static const struct {
    const char *member, *discovered;
} endpoints[] = {
    {"authorizationEndpoint", "authorization_endpoint"},
    {"tokenEndpoint",         "token_endpoint"        },
    {"userinfoEndpoint",      "userinfo_endpoint"     },
    {"jwksUri",               "jwks_uri"              },
};
#define ENDPOINTS (sizeof(endpoints) / sizeof(endpoints[0]))

/* clang-format off */
static const struct field check_fields[] = {
    {"ok",                    FIELD_BOOLEAN,   .required = true,
     .help = "A sign-in would find all that it needs: there are no warnings", .example = "true"},
    {"discoveryUrl",          FIELD_TEXT,      .required = true,
     .help = "Address that was asked for the discovery document",
     .example = "\"https://login.example/.well-known/openid-configuration\""},
    {"authorizationEndpoint", FIELD_TEXT,
     .help = "As given, or else as discovered; so are the next three"},
    {"tokenEndpoint",         FIELD_TEXT,      .help = "Absent: neither was found"},
    {"userinfoEndpoint",      FIELD_TEXT,      .help = "Where claims are fetched"},
    {"jwksUri",               FIELD_TEXT,      .help = "Address that was asked for the keys"},
    {"keys",                  FIELD_INTEGER,   .required = true,
     .help = "Keys that this service can use", .example = "2"},
    {"warnings",              FIELD_TEXT_LIST, .required = true,
     .help = "What would not work: MEMBER: what, and which setting allows it", .example = "[]"},
};
/* clang-format on */
const struct field_table answer_provider_check =
    FIELD_TABLE("ProviderCheck", check_fields, FIELDS_ANSWER);

struct provider_check {
    struct op *op;
    const json_t *provider;
    json_t *document; /* of the discovery, or NULL */
    struct jsonx_build answer, warnings;
};

/* Read the body, and wipe the secret that it may have. */
static enum az_status
read_provider(struct request *req)
{
    struct resource_reading reading = {.mem = req->op.mem,
                                       .cfg = req->op.az->cfg,
                                       .object = req->json,
                                       .fault = request_field_fault,
                                       .fault_arg = req};
    enum az_status st = resource_body_read(&identity_provider_body, &reading);
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    const json_t *secret = json_object_get(req->json, identity_provider_body.secret);
    resource_wipe_json(st == AZ_OK ? secret : req->json);
    return st == AZ_INVALID ? op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL) : st;
}

/* Ask the issuer for its discovery document. */
static void
check_discovery(struct provider_check *check, const char *issuer, const char *member,
                const char *url)
{
    jsonx_set(&check->answer, "discoveryUrl", json_string(url));
    if (!identity_provider_address(check->op, &check->warnings, member, url))
        return;
    const char *why = identity_provider_discover(check->op, issuer, url, &check->document);
    if (why != NULL) {
        check->document = NULL;
        identity_provider_warn(&check->warnings, member, why);
    }
}

/* Return the address of an endpoint, and put it into the answer; NULL: there is none, or it is not
 * the address of a web server. */
static const char *
check_endpoint(struct provider_check *check, size_t at)
{
    const char *member = endpoints[at].member;
    const json_t *given = json_object_get(check->provider, member);
    const char *url = json_string_value(
        json_is_string(given) ? given : json_object_get(check->document, endpoints[at].discovered));
    if (url == NULL || uri_web_fault(url) != NULL) {
        if (strcmp(member, "userinfoEndpoint") != 0)
            identity_provider_warn(&check->warnings, member,
                                   url == NULL ? "neither given nor discovered"
                                               : "is not an http or https URL");
        return NULL;
    }
    jsonx_set(&check->answer, member, json_string(url));
    /* The browser goes to the first one, and this service to the others. */
    return at == 0 || identity_provider_address(check->op, &check->warnings, member, url) ? url
                                                                                          : NULL;
}

/* Fetch the keys and count those that this service can use. */
static size_t
check_keys(struct provider_check *check, const char *url)
{
    struct jwk_set *set = NULL;
    json_t *document;
    const char *why = identity_provider_fetch(check->op, url, "key set", &document);
    if (why == NULL && jwk_set_parse(check->op->mem, document, JWK_SET_FETCHED, &set, &why) == AZ_OK
        && set->count == 0)
        why = "its key set has no key that this service can use";
    if (why != NULL)
        identity_provider_warn(&check->warnings, "jwksUri", why);
    return set != NULL ? set->count : 0;
}

enum az_status
identity_provider_check_handle(struct request *req)
{
    struct op *op = &req->op;
    struct provider_check check = {
        .op = op,
        .answer = {jsonx_own(op->mem, json_object()), false},
        .warnings = {jsonx_own(op->mem, json_array()),  false}
    };
    size_t keys = 0;
    enum az_status st = read_provider(req);
    if (st != AZ_OK)
        return st;
    check.provider = req->json;
    const char *issuer = json_string_value(json_object_get(req->json, "issuer"));
    const char *member, *url = identity_provider_document(op->mem, req->json, &member);
    if (url == NULL)
        return op_no_memory(op);
    resource_note(req, "issuer", issuer);
    check_discovery(&check, issuer, member, url);
    for (size_t i = 0; i < ENDPOINTS; i++) {
        url = check_endpoint(&check, i);
        if (url != NULL && strcmp(endpoints[i].member, "jwksUri") == 0)
            keys = check_keys(&check, url);
    }
    json_t *warnings = jsonx_built(&check.warnings);
    jsonx_set(&check.answer, "ok", json_boolean(json_array_size(warnings) == 0));
    jsonx_set(&check.answer, "keys", json_integer((json_int_t) keys));
    jsonx_set(&check.answer, "warnings", json_incref(warnings));
    return respond_json(req, 200, jsonx_built(&check.answer));
}

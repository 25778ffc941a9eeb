/* The body of a registration: an input is the body; a member "claims" in it plays the software
 * statement's. */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "env.h"
#include "fuzz/fuzz.h"
#include "oauth/registration/register_metadata.h"

#define DEPTH 32
#define URIS 3 /* SVC_MAX_REDIRECT_URIS */

/* Every member that may be registered. */
static const char *const members[] = {
    "redirect_uris",
    "client_name",
    "client_uri",
    "logo_uri",
    "tos_uri",
    "policy_uri",
    "contacts",
    "jwks",
    "jwks_uri",
    "scope",
    "software_id",
    "grant_types",
    "software_version",
    "response_types",
    "token_endpoint_auth_method",
    "dpop_bound_access_tokens",
    "id_token_signed_response_alg",
};

static bool
is_member(const char *name)
{
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
        if (strcmp(members[i], name) == 0)
            return true;
    return false;
}

static void
check_good(const struct register_metadata *metadata, const json_t *claims)
{
    const char *name;
    json_t *value;
    size_t index;
    json_object_foreach (metadata->members, name, value)
        MUST(is_member(name) && !json_is_null(value));
    MUST(json_array_size(metadata->redirect_uris) >= 1
         && json_array_size(metadata->redirect_uris) <= URIS);
    json_array_foreach (metadata->redirect_uris, index, value)
        MUST(uri_redirect_fault(json_string_value(value)) == NULL);
    MUST(json_array_size(metadata->grant_types) >= 1);
    MUST(json_object_get(metadata->members, "jwks") == NULL
         || json_object_get(metadata->members, "jwks_uri") == NULL);
    MUST(!json_is_true(json_object_get(metadata->members, "dpop_bound_access_tokens")));
    MUST(metadata->keyed == (strcmp(metadata->auth_method, "private_key_jwt") == 0));
    MUST(!metadata->keyed || json_object_get(metadata->members, "jwks") != NULL
         || uri_https_fault(json_string_value(json_object_get(metadata->members, "jwks_uri")))
                == NULL);
    MUST(metadata->confidential == (strcmp(metadata->auth_method, "none") != 0));
    /* With a statement, software_id and software_version come from the statement alone. */
    if (claims != NULL && !json_is_string(json_object_get(claims, "software_id")))
        MUST(json_object_get(metadata->members, "software_id") == NULL);
}

static void
read_once(TALLOC_CTX *mem, const json_t *plain, const json_t *claims)
{
    static const char *algs[] = {"RS256", NULL};
    static const struct register_rules rules = {URIS, algs, false};
    struct op op = env_op(mem, NULL);
    struct register_metadata metadata = {.members = NULL};
    enum az_status st = register_metadata_read(&op, plain, claims, &rules, &metadata);
    MUST(st == op.fault.status);
    MUST(st == AZ_OK || st == AZ_INVALID_REDIRECT_URI || st == AZ_INVALID_CLIENT_METADATA);
    if (st == AZ_OK)
        check_good(&metadata, claims);
    else
        MUST(metadata.members == NULL && *op.fault.public_text != '\0');
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    json_t *body = NULL;
    if (jsonx_parse(mem, (const char *) data, size, DEPTH, &body, NULL) == AZ_OK
        && json_is_object(body)) {
        const json_t *claims = json_object_get(body, "claims");
        read_once(mem, body, NULL);
        if (json_is_object(claims))
            read_once(mem, body, claims);
    }
    talloc_free(mem);
    return 0;
}

#include "config.h"

#include "oidc/upstream/logout_upstream.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/fields.h"
#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "crypto/keyring.h"
#include "http/page/page.h"
#include "oidc/upstream/upstream.h"

/* Nesting of a sealed target. */
#define TARGET_DEPTH 1
/* Validity of a sealed logout, in seconds: a page may stay open so long. */
#define LOGOUT_VALIDITY 600
/* Longest sealed logout that can come back in a query, in octets: the request target is limited
 * (HTTP_TARGET_MAX). With a longer one the browser skips the provider's logout. */
#define LOGOUT_RETURN_MAX 3500

/* A target and the time at which it was sealed. */
struct sealed {
    struct logout_target target;
    int64_t at; /* seconds since 1970 */
};

/* clang-format off */
static const struct field sealed_fields[] = {
    {"client", FIELD_TEXT,    .may_be_empty = true, FIELD_INTO(struct sealed, target.client_id)},
    {"uri",    FIELD_TEXT,    .may_be_empty = true, FIELD_INTO(struct sealed, target.uri)},
    {"state",  FIELD_TEXT,    .may_be_empty = true, FIELD_INTO(struct sealed, target.state)},
    {"link",   FIELD_BOOLEAN, .required = true,     FIELD_INTO(struct sealed, target.by_link)},
    {"at",     FIELD_INTEGER, .required = true,     FIELD_INTO(struct sealed, at)},
};
/* clang-format on */

static const char *
place_of(TALLOC_CTX *mem, const char *bound)
{
    return talloc_asprintf(mem, "logout/target/%s", bound);
}

enum az_status
logout_seal(struct op *op, const char *bound, const struct logout_target *target, const char **ret)
{
    unsigned char *box;
    size_t length;
    const char *place = place_of(op->mem, bound), *text, *sealed = NULL;
    json_t *object =
        jsonx_own(op->mem, json_pack("{s:s*,s:s*,s:s*,s:b,s:I}", "client", target->client_id, "uri",
                                     target->uri, "state", target->state, "link",
                                     (int) target->by_link, "at", (json_int_t) op_now(op)));
    if (place != NULL && object != NULL && (text = jsonx_dump(op->mem, object)) != NULL
        && keyring_seal(op->mem, op->az->keyring, KEYRING_SIGN_IN, place, text, strlen(text), &box,
                        &length)
               == AZ_OK)
        sealed = b64url_encode(op->mem, box, length);
    if (sealed == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "the logout target cannot be encrypted");
    *ret = sealed;
    return AZ_OK;
}

enum az_status
logout_open(struct op *op, const char *bound, const char *text, struct logout_target *ret)
{
    unsigned char *box, *plain;
    size_t length, plain_length;
    json_t *object;
    struct sealed sealed = {.at = 0};
    const char *place = place_of(op->mem, bound);
    if (place == NULL || b64url_decode(op->mem, text, strlen(text), &box, &length) != AZ_OK
        || keyring_open(op->mem, op->az->keyring, KEYRING_SIGN_IN, place, box, length, &plain,
                        &plain_length)
               != AZ_OK
        || jsonx_parse(op->mem, (const char *) plain, plain_length, TARGET_DEPTH, &object, NULL)
               != AZ_OK
        || fields_read(op->mem, FIELDS(sealed_fields, FIELDS_IGNORE_UNKNOWN), object, NULL, NULL,
                       &sealed, NULL)
               != AZ_OK
        || op_now(op) - sealed.at > LOGOUT_VALIDITY)
        return AZ_INVALID;
    *ret = sealed.target;
    return AZ_OK;
}

enum az_status
logout_finish(struct request *req, const struct logout_target *target)
{
    const struct query_pair state = {"state", target->state};
    const char *url = NULL, *place = NULL;
    if (target->uri != NULL) {
        url = query_append(req->op.mem, target->uri, &state, 1);
        place = uri_place(req->op.mem, target->uri);
        if (url == NULL || place == NULL)
            return op_no_memory(&req->op);
    }
    if (url != NULL && !target->by_link)
        return respond_redirect(req, url);
    return respond_page(
        req, 200, "signed_out",
        jsonx_own(req->op.mem, json_pack("{s:s*,s:s*}", "back_href", url, "back_place", place)),
        NULL);
}

const char *
logout_upstream_endpoint(struct op *op, int64_t idp, const struct identity_provider **ret_provider)
{
    const struct identity_providers *providers;
    /* Read anew: a remembered list does not know a provider that was made since, whose session
     * would go on for whoever uses the computer next. */
    if (idp == 0 || identity_providers_get(op, true, &providers) != AZ_OK)
        return NULL;
    for (size_t i = 0; i < providers->count; i++)
        if (providers->provider[i].id == idp && providers->provider[i].enabled) {
            *ret_provider = &providers->provider[i];
            return upstream_end_session_endpoint(op, *ret_provider);
        }
    return NULL;
}

/* Return the URL of the provider's logout, with us as its client (OpenID Connect RP-Initiated
 * Logout 1.0 section 2); without the hint if the URL would not fit one header line. NULL: it does
 * not fit at all. */
static const char *
make_url(struct op *op, const char *endpoint, const struct identity_provider *provider,
         const struct session_end *end, const char *state)
{
    const char *back = talloc_asprintf(op->mem, "%s/logout/return", op->az->cfg->oidc_issuer);
    for (int hint = 1; hint >= 0; hint--) {
        const struct query_pair pairs[] = {
            {"id_token_hint",            hint ? end->id_token : NULL},
            {"client_id",                provider->client_id        },
            {"post_logout_redirect_uri", back                       },
            {"state",                    state                      },
        };
        const char *url = query_append(op->mem, endpoint, pairs, sizeof(pairs) / sizeof(pairs[0]));
        if (url != NULL && strlen(url) <= HTTP_LOCATION_MAX)
            return url;
    }
    return NULL;
}

enum az_status
logout_continue(struct request *req, const struct session_end *end,
                const struct logout_target *target, const char *bound)
{
    const struct identity_provider *provider = NULL;
    const char *endpoint =
        end->found ? logout_upstream_endpoint(&req->op, end->idp, &provider) : NULL;
    const char *state = NULL, *url = NULL;
    if (endpoint != NULL && bound != NULL && logout_seal(&req->op, bound, target, &state) == AZ_OK
        && strlen(state) <= LOGOUT_RETURN_MAX)
        url = make_url(&req->op, endpoint, provider, end, state);
    if (url != NULL)
        return respond_redirect(req, url);
    az_fault_clear(&req->op.fault); /* our session has ended, whatever happens at the provider */
    return logout_finish(req, target);
}

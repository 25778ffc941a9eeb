#include "config.h"

#include "gateway/credential/token_exchange.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "crypto/token.h"
#include "gateway/credential/client_credentials.h"
#include "gateway/credential/kept_token.h"
#include "managed/managed.h"
#include "store/gateway/upstream_tokens.h"

/* Longest time for which a person's token is kept, in seconds, whatever its server says: rights
 * that the person lost there end at the latest then. */
#define EXCHANGED_SECONDS_MAX 3600

_Static_assert(UPSTREAM_OWNER_OCTETS == SHA256_OCTETS, "the owner is a digest");

/* Make the name of the owner. It includes the client and the actor: the subject token names them,
 * so the server may give one of them less than another. The length before each part keeps the parts
 * apart. */
static enum az_status
name_owner(struct op *op, const struct upstream_caller *caller,
           unsigned char ret[UPSTREAM_OWNER_OCTETS])
{
    const char *idp = caller->idp != NULL ? caller->idp : "";
    const char *act = caller->act != NULL ? jsonx_dump_sorted(op->mem, caller->act) : "";
    const char *text = act != NULL
                           ? talloc_asprintf(op->mem, "%zu:%s %zu:%s %zu:%s%s",
                                             strlen(caller->subject), caller->subject, strlen(idp),
                                             idp, strlen(caller->client_id), caller->client_id, act)
                           : NULL;
    return text != NULL && sha256(text, strlen(text), ret) == AZ_OK ? AZ_OK : op_no_memory(op);
}

/* An exchange for a person. */
struct exchange {
    struct op *op;
    const struct upstream_wish *wish;
    bool client_refused; /* the server refuses this service, not the person */
};

/* Exchange a subject token that is made now. */
static enum az_status
exchange_token(void *arg, struct upstream_token *ret)
{
    struct exchange *exchange = arg;
    const struct upstream_wish *wish = exchange->wish;
    const char *wanted = wish->resource->auth.requested_token_type;
    struct token_text subject = {.text = ""};
    enum az_status st =
        wish->caller->make_token(wish->caller->arg, wish->resource->auth.issuer, &subject);
    if (st != AZ_OK)
        return st;
    struct gateway_grant grant = {
        .pair = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                 {"subject_token", subject.text},
                 {"subject_token_type", TOKEN_TYPE_URN "access_token"},
                 {"requested_token_type", wanted}},
        .issued_type = wanted != NULL ? wanted : "",
    };
    st = gateway_ask_token(exchange->op, wish, &grant, ret);
    token_text_done(&subject);
    exchange->client_refused = grant.client_refused;
    if (ret->seconds > EXCHANGED_SECONDS_MAX)
        ret->seconds = EXCHANGED_SECONDS_MAX;
    return st;
}

enum az_status
gateway_token_exchange(struct op *op, const struct upstream_wish *wish,
                       struct upstream_credential *ret)
{
    const struct managed_resource *resource = wish->resource;
    const struct upstream_caller *caller = wish->caller;
    struct exchange exchange = {.op = op, .wish = wish};
    unsigned char owner[UPSTREAM_OWNER_OCTETS];
    ret->personal = true;
    if (caller == NULL || caller->subject == NULL || caller->make_token == NULL)
        return op_fail(op, AZ_USER_REQUIRED, NULL, "resource %s: the token names no person",
                       resource->name);
    if (wish->again)
        return op_fail(op, AZ_UPSTREAM_AUTH, NULL,
                       "resource %s: the upstream refuses a new token of the person too",
                       resource->name);
    enum az_status st = name_owner(op, caller, owner);
    if (st == AZ_OK)
        st = kept_token_get(op, wish, owner, exchange_token, &exchange, ret);
    ret->personal = st == AZ_OK || !exchange.client_refused;
    return st;
}

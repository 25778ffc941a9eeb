#include "config.h"

#include "gateway/credential/token_exchange.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "crypto/digest.h"
#include "crypto/token.h"
#include "gateway/credential/client_credentials.h"
#include "managed/managed.h"
#include "store/gateway/upstream_tokens.h"

/* Longest time for which a person's token is kept, in seconds, whatever its server says: rights
 * that the person lost there end at the latest then. */
#define EXCHANGED_SECONDS_MAX 3600

_Static_assert(UPSTREAM_OWNER_OCTETS == SHA256_OCTETS, "the owner is a digest");

/* Make the name of the owner. The client counts, and who acts: the subject token names them, so the
 * server may give one less than another. The length before each part keeps the parts apart. */
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
    return text != NULL && sha256(text, strlen(text), ret) == AZ_OK
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

/* Exchange a subject token that is made now. */
static enum az_status
exchange_token(struct op *op, const struct upstream_wish *wish, struct upstream_token *ret,
               bool *ret_personal)
{
    const struct managed_auth *auth = &wish->resource->auth;
    const char *wanted = auth->requested_token_type;
    struct token_text subject = {.text = ""};
    enum az_status st = wish->caller->make_token(wish->caller->arg, auth->issuer, &subject);
    if (st != AZ_OK)
        return st;
    struct gateway_grant grant = {
        .pair = {{"grant_type", "urn:ietf:params:oauth:grant-type:token-exchange"},
                 {"subject_token", subject.text},
                 {"subject_token_type", TOKEN_TYPE_URN "access_token"},
                 {"requested_token_type", wanted}},
        .issued_type = wanted != NULL ? wanted : "",
    };
    st = gateway_ask_token(op, wish, &grant, ret);
    token_text_done(&subject);
    *ret_personal = !grant.client_refused;
    return st;
}

enum az_status
gateway_token_exchange(struct op *op, const struct upstream_wish *wish,
                       struct upstream_credential *ret)
{
    const struct managed_resource *resource = wish->resource;
    const struct upstream_caller *caller = wish->caller;
    struct upstream_token token = {.token = NULL};
    unsigned char owner[UPSTREAM_OWNER_OCTETS];
    bool personal = true;
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
        st = upstream_token_find(op, resource, owner, TOKEN_EARLY_SECONDS, &token);
    if (st == AZ_OK && token.token != NULL)
        st = gateway_fill_token(op, resource, token.token, ret);
    ret->personal = true;
    /* Another worker may have replaced the one that was refused. */
    bool same =
        ret->value != NULL && wish->refused != NULL && strcmp(ret->value, wish->refused) == 0;
    if (st != AZ_OK || (token.token != NULL && !same))
        return st;
    upstream_credential_done(ret);
    if ((st = exchange_token(op, wish, &token, &personal)) == AZ_OK) {
        token.seconds =
            token.seconds < EXCHANGED_SECONDS_MAX ? token.seconds : EXCHANGED_SECONDS_MAX;
        if (token.seconds > TOKEN_EARLY_SECONDS)
            st = upstream_token_store(op, resource, owner, &token);
    }
    if (st == AZ_OK)
        st = gateway_fill_token(op, resource, token.token, ret);
    ret->personal = st == AZ_OK || personal;
    return st;
}

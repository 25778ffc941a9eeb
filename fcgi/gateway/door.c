#include "config.h"

#include "gateway/door_private.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/words.h"
#include "gateway/scope_ask.h"
#include "managed/names.h"
#include "oauth/dpop/dpop.h"
#include "oauth/parameters/audience.h"
#include "store/gateway/resources.h"

/* The well-known place of metadata documents of protected resources (RFC 9728 3). */
#define WELL_KNOWN "/.well-known/oauth-protected-resource"

/* The state of one request while it is let in. */
struct entry {
    struct request *req;
    struct gateway_access *access;
    struct db_step *step; /* the query that reads the resource, or NULL if it was not added */
    const struct gateway_rows *rows; /* other rows, or NULL */
};

bool
gateway_is_on(const struct settings *cfg)
{
    return cfg->gateway_enabled;
}

char *
gateway_metadata_address(TALLOC_CTX *mem, const char *resource)
{
    const char *authority = strstr(resource, "://");
    size_t length =
        authority != NULL ? (size_t) (authority + 3 - resource) + strcspn(authority + 3, "/") : 0;
    return talloc_asprintf(mem, "%.*s%s%s", (int) length, resource, WELL_KNOWN, resource + length);
}

/* ---- the resource */

static void
join_rows(struct db_batch *batch, void *arg)
{
    struct entry *it = arg;
    if (it->access->name != NULL && managed_name_is_good(it->access->name))
        it->step = resource_step(batch, it->access->name);
    if (it->rows != NULL)
        it->rows->join(batch, it->rows->arg);
}

/*
 * Read the resource, in a trip of its own if no token brought it along. A name that no resource can
 * have is refused without a trip. A resource that this endpoint does not serve counts as
 * unknown.
 */
static enum az_status
take_resource(struct entry *it)
{
    struct gateway_access *access = it->access;
    struct op *op = &it->req->op;
    const struct managed_resource *resource = NULL;
    if (access->name == NULL || !managed_name_is_good(access->name))
        return AZ_OK;
    enum az_status st = it->step != NULL ? resource_take(op, it->step, &resource)
                                         : resource_find(op, access->name, &resource);
    if (st == AZ_OK && resource != NULL && resource->enabled
        && (access->place == GATEWAY_MCP || resource->upstream != MANAGED_MCP))
        access->resource = resource;
    return st;
}

/* ---- the token */

/* Find the scopes that a client without a good token should ask for (decisions.md "Gateway"). */
static enum az_status
first_scopes(struct entry *it, const char **ret)
{
    struct op *op = &it->req->op;
    const struct gateway_access *access = it->access;
    bool all = op->az->cfg->gateway_ask_all_scopes;
    struct managed_resources resources = {.count = 0};
    *ret = GATEWAY_BASE_SCOPE;
    if (access->resource == NULL && (access->name != NULL || !all))
        return AZ_OK;
    enum az_status st = access->resource == NULL ? resources_list(op, &resources) : AZ_OK;
    if (st != AZ_OK)
        return st;
    const json_t *scopes = access->resource != NULL
                               ? scope_ask_resource(op->mem, access->resource, access->place, all)
                               : scope_ask_resources(op->mem, resources.item, resources.count, all);
    *ret = scopes != NULL ? scope_ask_text(op->mem, scopes) : NULL;
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

enum az_status
gateway_unknown(struct request *req)
{
    return op_fail(&req->op, AZ_NOT_FOUND,
                   talloc_asprintf(req->op.mem,
                                   "There is no such resource here. Check the name in the address; "
                                   "%s/gateway/mcp has the tools of all that you may use",
                                   req->op.az->cfg->oidc_issuer),
                   "there is no such enabled resource");
}

/*
 * Challenge a caller whose token is missing or bad; `st` is the failure so far. The resource is
 * read first, for its scope. One that is not there has no challenge: a client would follow it to a
 * document that is not there either, register, send its person through a sign-in, and fail then.
 * Strangers learn no more than from those documents, and no name of another resource.
 */
static enum az_status
turn_away(struct entry *it, enum az_status st, const char *error)
{
    struct az_fault fault = it->req->op.fault;
    az_fault_clear(&it->req->op.fault);
    const char *scopes = NULL;
    enum az_status read = take_resource(it);
    if (read == AZ_OK && it->access->name != NULL && it->access->resource == NULL)
        return gateway_unknown(it->req);
    if (read == AZ_OK)
        read = first_scopes(it, &scopes);
    if (read != AZ_OK)
        return read;
    it->req->op.fault = fault;
    gateway_challenge(it->req, it->access, error, scopes);
    return st;
}

static enum az_status
refuse_token(struct entry *it, const char *detail)
{
    return turn_away(it, own_token_refuse(it->req, detail), "invalid_token");
}

/* Find the token, and the resource with it. A client without a token gets a challenge without an
 * error code (RFC 6750 3.1). */
static enum az_status
gateway_find_token(struct entry *it)
{
    struct request *req = it->req;
    struct gateway_access *access = it->access;
    const char *text = access_token_text(req);
    if (text == NULL)
        return turn_away(it,
                         op_fail(&req->op, AZ_INVALID_TOKEN, "The request needs an access token",
                                 "the request has no access token"),
                         NULL);
    access->token->lookup.join = join_rows;
    access->token->lookup.join_arg = it;
    enum az_status st = own_token_find(req, text, access->token);
    access->token->lookup.join = NULL; /* the token may be read again, the others are not */
    if (st == AZ_OK && it->rows != NULL)
        it->rows->take(it->rows->arg);
    if (st == AZ_INVALID_TOKEN)
        return turn_away(it, st, "invalid_token");
    if (st != AZ_OK) /* AZ_DPOP_NONCE_NEEDED keeps its own challenge, for which the client looks */
        return st;
    return take_resource(it);
}

/* Refuse a token for another resource: a server that got it could use it here (MCP authorization,
 * "Access Token Privilege Restriction"). */
static enum az_status
check_audience(struct entry *it)
{
    const struct gateway_access *access = it->access;
    const char *named = access->token->lookup.row.resource;
    if (audience_covers(it->req->op.az->cfg->oidc_issuer, named, access->address))
        return AZ_OK;
    return refuse_token(it, named == NULL ? "the token names no resource"
                                          : "the token names another resource");
}

/* Ask evaluation 2. A token to which policy no longer grants anything is treated as expired. A new
 * token would not help against any other denial, so that is not a 401, which would make the client
 * ask for one. */
static enum az_status
gateway_judge_token(struct entry *it)
{
    struct request *req = it->req;
    struct shown shown;
    enum az_status st = own_token_ask(req, it->access->token, &shown);
    if (st == AZ_INVALID_TOKEN)
        return turn_away(it, st, "invalid_token");
    if (st == AZ_UNAVAILABLE)
        return az_fail_as(&req->op.fault, AZ_POLICY_UNAVAILABLE, "Policy gave no decision");
    if (st != AZ_OK || shown.as == SHOWN_ACTIVE)
        return st;
    if (shown.as == SHOWN_INVALID)
        return refuse_token(it, "the token is not shown to the service");
    if (shown.verdict.decision.allow
        || decision_has_code(&shown.verdict.decision, "policy_changed"))
        return refuse_token(it, "policy grants nothing of the token any more");
    return gateway_forbid(req, shown.verdict.decision.reasons);
}

/* ---- the whole */

static enum az_status
make_access(struct request *req, enum gateway_place place, const char *name,
            struct gateway_access *ret)
{
    bool named = name != NULL && managed_name_is_good(name);
    *ret = (struct gateway_access){
        .place = place,
        .name = name,
        /* A path that names no resource is not copied into a header. */
        .address = talloc_asprintf(req->op.mem, "%s/gateway%s%s%s", req->op.az->cfg->oidc_issuer,
                                   place == GATEWAY_MCP || !named ? "/mcp" : "", named ? "/" : "",
                                   named ? name : ""),
        .token = talloc_zero(req->op.mem, struct own_token),
    };
    return ret->address != NULL && ret->token != NULL ? AZ_OK : op_no_memory(&req->op);
}

enum az_status
gateway_enter(struct request *req, enum gateway_place place, const char *name,
              struct gateway_access *ret)
{
    return gateway_enter_with(req, place, name, NULL, ret);
}

enum az_status
gateway_enter_with(struct request *req, enum gateway_place place, const char *name,
                   const struct gateway_rows *rows, struct gateway_access *ret)
{
    struct entry it = {.req = req, .access = ret, .rows = rows};
    enum az_status st = make_access(req, place, name, ret);
    if (st == AZ_OK)
        st = gateway_find_token(&it);
    if (st == AZ_OK)
        st = check_audience(&it);
    if (st == AZ_OK)
        st = gateway_judge_token(&it);
    if (st != AZ_OK)
        return st;
    req->token = ret->token;
    return name == NULL || ret->resource != NULL ? AZ_OK : gateway_unknown(req);
}

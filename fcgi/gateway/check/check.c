#include "config.h"

#include "gateway/check/check.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "gateway/check/asker.h"
#include "gateway/check/edge_jwt.h"
#include "gateway/check/forwarded.h"
#include "gateway/check/identity.h"
#include "gateway/check/shape.h"
#include "gateway/door_private.h"
#include "gateway/query.h"
#include "gateway/scope_ask.h"
#include "managed/choose.h"
#include "oauth/client_auth/client_auth.h"
#include "oauth/dpop/dpop.h"
#include "oauth/parameters/audience.h"
#include "policy/decide/registry.h"
#include "store/gateway/resources.h"

/* One question of a web server. */
struct check {
    struct request *req;
    struct forwarded asked;
    struct forwarded_match match;
    struct gateway_access access;
    struct managed_choice choice;
    struct shown shown;
    int64_t cache_seconds;     /* that policy lets the web server keep a good answer for */
    struct db_step *resources; /* the query that reads those with public addresses */
};

/* ---- the request that it asks about */

/* Note the question for readers of the audit log. */
static void
note_check(struct check *it)
{
    TALLOC_CTX *mem = it->req->op.mem;
    const struct managed_route *route = it->choice.route;
    const struct check_shape *shape = it->req->route->arg;
    it->req->audit.summary = jsonx_dump(
        mem,
        jsonx_own(mem, json_pack("{s:s,s:s,s:s*,s:s*,s:s*}", "door", it->req->client->client_id,
                                 "shape", shape->word, "resource", it->access.name, "route",
                                 route != NULL ? route->id : NULL, "method", it->asked.method)));
}

static enum az_status
read_question(struct check *it)
{
    struct request *req = it->req;
    struct forwarded_fields fields;
    const char *why, *other = check_shape_other(req);
    if (other != NULL)
        return op_fail(&req->op, AZ_FORBIDDEN,
                       "The request has a field that states another request",
                       "the web server must empty the field of %s in every spelling", other);
    enum az_status st = check_shape_read(req, &fields);
    if (st == AZ_OK)
        st = forwarded_read(req->op.mem, &fields, &it->asked, &why);
    if (st == AZ_INVALID_REQUEST)
        return op_fail(&req->op, st,
                       talloc_asprintf(req->op.mem,
                                       "door_request_incomplete: the web server must send %s once, "
                                       "as the request has it",
                                       why),
                       "/auth/check: %s is missing or malformed", why);
    if (st == AZ_INVALID)
        return op_fail(&req->op, AZ_INVALID_REQUEST,
                       "The path or the query has a character that an address does not have",
                       "a backslash in the path, or a raw octet that RFC 3986 does not allow");
    if (st == AZ_FORBIDDEN)
        return op_fail(&req->op, st, "The path is not valid", "the path is ambiguous");
    return st == AZ_OK ? st : op_fail(&req->op, st, NULL, "out of memory for a question");
}

/* Find the resource of the request. */
static enum az_status
find_resource(struct check *it)
{
    struct op *op = &it->req->op;
    struct managed_resources all;
    struct gateway_access *access = &it->access;
    enum az_status st = resources_public_take(op, it->resources, &all);
    if (st != AZ_OK)
        return st;
    forwarded_find(&it->asked, all.item, all.count, &it->match);
    if (it->match.resource == NULL || !it->match.resource->enabled)
        return op_fail(op, AZ_FORBIDDEN, "No managed resource has this address",
                       "publicUrls of no enabled resource covers %s", it->asked.origin);
    if (it->match.ambiguous)
        return op_fail(op, AZ_FORBIDDEN, "No managed resource has this address",
                       "publicUrls of two resources have %s, or another server may read the path "
                       "as one of a longer address",
                       it->match.url);
    access->name = it->match.resource->name;
    access->resource = it->match.resource;
    access->address = talloc_asprintf(op->mem, "%s/doors/%s/%zu", op->az->cfg->oidc_issuer,
                                      it->match.resource->name, it->match.place);
    return access->address != NULL ? AZ_OK : op_no_memory(op);
}

/* ---- the token */

/* Challenge a caller whose token is missing (error NULL) or bad. */
static enum az_status
turn_away(struct check *it, const char *error, const char *detail)
{
    struct request *req = it->req;
    const json_t *scopes = scope_ask_resource(req->op.mem, it->access.resource, GATEWAY_CHECK,
                                              req->op.az->cfg->gateway_ask_all_scopes);
    gateway_challenge(req, &it->access, error,
                      scopes != NULL ? scope_ask_text(req->op.mem, scopes) : NULL);
    return op_fail(&req->op, AZ_INVALID_TOKEN,
                   error == NULL ? "The request needs an access token" : NULL, "%s", detail);
}

static void
join_resources(struct db_batch *batch, void *arg)
{
    struct check *it = arg;
    it->resources = resources_public_step(batch);
}

/* Find the token and the resources, and make sure in the same trip that the web server's credential
 * is as it was when this process read it. */
static enum az_status
find_token(struct check *it, const char *text)
{
    struct request *req = it->req;
    struct own_token *token = it->access.token;
    enum token_kind kind;
    token->lookup.join = join_resources;
    token->lookup.join_arg = it;
    if (text != NULL && token_parse(text, strlen(text), &kind, &token->parts) == AZ_OK
        && kind == TOKEN_ACCESS)
        token->lookup.token = &token->parts;
    token->lookup.kind = TOKEN_ACCESS;
    for (int pass = 0; pass < CLIENT_ATTEMPTS; pass++) {
        token->lookup.caller = req->client;
        enum az_status st = token_find(&req->op, &token->lookup);
        if (st != AZ_OK || token->lookup.caller_current)
            return st;
        st = asker_take(req, true);
        if (st != AZ_OK)
            return st;
    }
    return op_fail(&req->op, AZ_UNAVAILABLE, NULL, "the client of the web server keeps changing");
}

/* Ask evaluation 2 as the web server, for a token that is not live too: one that may not introspect
 * learns nothing. */
static enum az_status
ask_about_token(struct check *it)
{
    struct request *req = it->req;
    struct own_token *token = it->access.token;
    struct introspect_question question = {
        .frame = {.endpoint = GATEWAY_CHECK_ENDPOINT, .ip = req->ip, .user_agent = req->user_agent},
        .caller = req->client,
        .caller_method = req->client_method,
        .unpacked = true,
    };
    enum az_status st = token_show(&req->op, &token->lookup, &question, &it->shown);
    own_token_note(req, &it->shown);
    if (st == AZ_UNAVAILABLE)
        return az_fail_as(&req->op.fault, AZ_POLICY_UNAVAILABLE, "Policy gave no decision");
    token->scopes = it->shown.verdict.decision.scopes;
    token->baseline = it->shown.baseline;
    token->issued = it->shown.issued;
    if (token->lookup.row.found) {
        req->audit.client_id = token->lookup.row.client.client_id;
        req->audit.subject_id = token->lookup.row.subject;
    }
    return st;
}

/* Say what evaluation 2 means for the caller. */
static enum az_status
judge_shown(struct check *it)
{
    struct request *req = it->req;
    const struct decision *decision = &it->shown.verdict.decision;
    if (!it->access.token->lookup.row.found)
        return turn_away(it, "invalid_token", "the token is unknown, expired or revoked");
    if (decision_has_code(decision, "caller_not_audience"))
        return gateway_forbid(req, decision->reasons);
    if (it->shown.as == SHOWN_INVALID || (it->shown.as != SHOWN_ACTIVE && decision->allow)
        || decision_has_code(decision, "policy_changed"))
        return turn_away(it, "invalid_token", "policy grants nothing of the token");
    if (it->shown.as != SHOWN_ACTIVE)
        return gateway_forbid(req, decision->reasons);
    if (it->access.token->lookup.row.jit || decision->jit)
        return turn_away(it, "invalid_token", "the token is a single-use token");
    return AZ_OK;
}

/* Refuse a token for another resource, and one that the caller cannot prove to hold: its proof is
 * about the public address, whatever host reached us. */
static enum az_status
check_token(struct check *it, const char *text)
{
    struct request *req = it->req;
    TALLOC_CTX *mem = req->op.mem;
    const struct token_row *row = &it->access.token->lookup.row;
    const char *issuer = req->op.az->cfg->oidc_issuer, *why = NULL;
    const char *named = row->resource != NULL ? resource_normal(mem, row->resource) : NULL;
    const char *wanted = resource_normal(mem, it->match.url);
    const char *ours = talloc_asprintf(mem, "%s/gateway/%s", issuer, it->access.name);
    const struct dpop_place place = {it->asked.method,
                                     talloc_asprintf(mem, "%s%s", it->asked.origin, it->asked.raw)};
    if (wanted == NULL || ours == NULL || place.url == NULL)
        return op_no_memory(&req->op);
    if ((named == NULL || strcmp(named, wanted) != 0)
        && !audience_covers(issuer, row->resource, ours))
        return turn_away(it, "invalid_token", "the token names another resource, or none");
    enum az_status st = dpop_check_token_at(req, &place, text, row->jkt, &why);
    return st == AZ_INVALID ? turn_away(it, "invalid_token", why) : st;
}

static enum az_status
judge_token(struct check *it)
{
    const char *text = access_token_text(it->req);
    enum az_status st = find_token(it, text);
    it->access.token->lookup.join = NULL; /* the token may be read again, the resources are not */
    if (st == AZ_OK)
        st = find_resource(it);
    if (st == AZ_OK && text == NULL)
        return turn_away(it, NULL, "the request has no access token");
    if (st == AZ_OK)
        st = ask_about_token(it);
    if (st == AZ_OK)
        st = judge_shown(it);
    if (st == AZ_OK)
        st = check_token(it, text);
    it->req->token = it->access.token;
    return st;
}

/* ---- the decision */

/* Choose the route, and collect what policy sees of path and query. A request without a route is
 * 403, because web servers pass back 401 and 403 only. */
static enum az_status
choose_route(struct check *it, json_t **ret_arguments)
{
    struct op *op = &it->req->op;
    json_t *query = NULL;
    enum az_status st =
        managed_choose(op->mem, it->access.resource, it->asked.method, it->match.rest, &it->choice);
    if (st == AZ_OK
        && (st = gateway_query(op, it->access.resource, it->choice.route, it->asked.query, &query))
               != AZ_OK)
        return st; /* as at the gateway: the answer names the parameter */
    if (st == AZ_OK && !gateway_query_passes(it->choice.route, query))
        return op_fail(op, AZ_FORBIDDEN, "The resource has no such request",
                       "query.allow of route %s does not name a parameter", it->choice.route->id);
    if (st == AZ_OK)
        *ret_arguments =
            jsonx_own(op->mem, json_pack("{s:O,s:O}", "path", it->choice.values, "query", query));
    if (st == AZ_SERVER_ERROR || (st == AZ_OK && *ret_arguments == NULL))
        return op_no_memory(op);
    az_fault_clear(&op->fault);
    return st == AZ_OK ? st
                       : op_fail(op, AZ_FORBIDDEN, "The resource has no such request",
                                 "no route of resource %s takes it", it->access.name);
}

static enum az_status
decide(struct check *it)
{
    struct request *req = it->req;
    json_t *arguments = NULL;
    struct gateway_decision decision = {.allow = false};
    enum az_status st = choose_route(it, &arguments);
    if (st != AZ_OK)
        return st;
    const struct managed_route *route = it->choice.route;
    struct gateway_question question = {
        .resource = gateway_target_of(it->access.resource, NULL),
        .action = {.kind = "http",
                   .name = route->action,
                   .route = route->id,
                   .method = it->asked.method,
                   .path = *it->choice.path != '\0' ? it->choice.path : "/",
                   .scopes = route->scopes},
        .arguments = arguments,
        .always = route->obligations,
        .obligations = 0, /* what it demands of the request or answer is the web server's to do */
    };
    st = gateway_decide(req, &it->access, &question, &decision);
    it->cache_seconds = decision.cache_seconds;
    if (st != AZ_OK || decision.allow)
        return st;
    note_check(it); /* before the row is written */
    return gateway_refuse(req, &it->access, &question, &decision);
}

/*
 * Let the web server keep a good answer, if policy says so. Never one about a token that is bound
 * to a key: each request has a proof of its own. Nor beyond the token, or half the life of the JWT
 * in the answer, so that the upstream gets one that lives. Vary names what decided, for caches that
 * read it.
 */
static void
allow_keeping(const struct check *it)
{
    static const char vary[] =
        "Authorization, DPoP, X-Authz-Proxy-Authorization, X-Forwarded-Method, X-Forwarded-Proto, "
        "X-Forwarded-Host, X-Forwarded-Uri, X-Forwarded-For, User-Agent";
    struct request *req = it->req;
    const struct managed_resource *resource = it->access.resource;
    const struct token_row *row = &it->access.token->lookup.row;
    int64_t seconds = it->cache_seconds, left = row->expires_at - op_now(&req->op);
    seconds = seconds < left ? seconds : left;
    if (resource->edge_audience != NULL && seconds > resource->edge_lifetime / 2)
        seconds = resource->edge_lifetime / 2;
    if (seconds <= 0 || row->jkt != NULL || request_header(req, "HTTP_DPOP") != NULL)
        return;
    respond_kept(req, seconds);
    respond_header(req, "Vary", vary);
}

enum az_status
check_handle(struct request *req)
{
    struct check it = {.req = req, .access.place = GATEWAY_CHECK};
    const char *jwt = NULL;
    enum az_status st = read_question(&it);
    if (st == AZ_OK && (it.access.token = talloc_zero(req->op.mem, struct own_token)) == NULL)
        st = op_no_memory(&req->op);
    if (st == AZ_OK)
        st = judge_token(&it);
    if (st == AZ_OK)
        st = decide(&it);
    note_check(&it);
    if (st == AZ_OK)
        st = edge_jwt_make(req, &it.access, &it.asked, &jwt);
    if (st == AZ_OK)
        st = identity_respond(req, &it.access, it.choice.route, jwt);
    if (st == AZ_OK)
        st = own_token_note_read(req);
    if (st == AZ_OK)
        st = respond_empty(req, 200);
    if (st == AZ_OK)
        allow_keeping(&it);
    return st;
}

#include "config.h"

#include "gateway/mcp/peer/peer.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "base/log.h"
#include "gateway/mcp/message/version.h"
#include "gateway/mcp/peer/peer_exchange.h"
#include "gateway/mcp/peer/peer_memory.h"
#include "gateway/mcp/peer/peer_redirect.h"
#include "managed/managed.h"
#include "store/gateway/resources.h"

/* ---- the way */

/* Return the session id of an answer, or "" if the id is missing or cannot be sent in a header. */
static const char *
answer_session(const struct peer_exchange *it)
{
    for (size_t i = 0; i < it->answer->fields; i++) {
        const struct upstream_field *field = &it->answer->field[i];
        if (strcasecmp(field->name, "Mcp-Session-Id") == 0)
            return strlen(field->value) <= PEER_SESSION_MAX ? field->value : NULL;
    }
    return "";
}

/* Return the address that a redirect names, or NULL. */
static const char *
redirect_of(const struct peer_exchange *it)
{
    for (size_t i = 0; i < it->answer->fields; i++)
        if (it->answer->status / 100 == 3 && strcasecmp(it->answer->field[i].name, "Location") == 0)
            return it->answer->field[i].value;
    return NULL;
}

/* Refuse a redirect, and tell the operator the address that the upstream names. */
static enum az_status
refuse_redirect(struct peer_exchange *it, const char *location)
{
    const struct managed_resource *resource = it->request->resource;
    const char *why = peer_redirect_text(it->op->mem, resource->upstream_url, location);
    if (why == NULL)
        return op_no_memory(it->op);
    if (resource_event(it->op, resource, MANAGED_REDIRECTED, why))
        log_text(AZ_SEV_WARN, "gateway", "%s: %s", resource->name, why);
    return op_fail(it->op, AZ_UPSTREAM_INVALID, NULL, "%s", why);
}

static enum az_status
refuse_peer(struct peer_exchange *it, const char *why)
{
    const char *location = redirect_of(it);
    return location != NULL
               ? refuse_redirect(it, location)
               : op_fail(it->op, AZ_UPSTREAM_INVALID, NULL, "%s, HTTP status %d: resource %s", why,
                         it->answer->status, it->request->resource->name);
}

/* Return what `initialize` announces to an older server, as text: the capabilities of the client,
 * if someone answers for it, and the level of the log. NULL: no memory. */
static const char *
announced_to(struct op *op, const struct peer_request *request)
{
    const struct peer_message *message = &request->message;
    const char *may =
        request->asker != NULL ? jsonx_dump_sorted(op->mem, message->capabilities) : "";
    return may != NULL ? talloc_asprintf(op->mem, "%s%s", may,
                                         message->log_level != NULL ? message->log_level : "")
                       : NULL;
}

/* Set the level of the log of a server that has one. It may refuse: then its log is as it likes. */
static enum az_status
set_level(struct peer_exchange *it, const struct peer_way *way, bool has_log)
{
    TALLOC_CTX *mem = it->op->mem;
    const char *level = it->request->message.log_level;
    const struct peer_message set = {
        .method = "logging/setLevel",
        .params = level != NULL ? jsonx_own(mem, json_pack("{s:s}", "level", level)) : NULL};
    if (!has_log || level == NULL)
        return AZ_OK;
    it->message = &set;
    return peer_exchange_run(it, way);
}

/* Initialize a server of the older revisions: initialize, then notifications/initialized. */
static enum az_status
open_conversation(struct peer_exchange *it, const char *asked, struct peer_way *ret)
{
    struct op *op = it->op;
    json_t *may =
        it->request->asker != NULL ? json_incref(it->request->message.capabilities) : json_object();
    const struct peer_message hello = {
        .method = "initialize",
        .params = jsonx_own(op->mem, json_pack("{s:s,s:o,s:{s:s,s:s}}", "protocolVersion", asked,
                                               "capabilities", may, "clientInfo", "name",
                                               PACKAGE_NAME, "version", PACKAGE_VERSION)),
    };
    const struct peer_message ready = {.method = "notifications/initialized", .notification = true};
    struct peer_way way = {.modern = false};
    const char *session;
    enum az_status st;
    it->message = &hello;
    if ((st = peer_exchange_run(it, &way)) != AZ_OK)
        return st;
    if (!peer_exchange_succeeded(it) || !it->answered || it->rpc.result == NULL)
        return refuse_peer(it, "no answer to initialize");
    if ((way.version = peer_version(it->rpc.result)) == NULL)
        return refuse_peer(it, "initialize names no known version");
    it->reply->hello = it->rpc.result;
    if ((session = answer_session(it)) == NULL)
        return refuse_peer(it, "the session id is too long");
    way.session = *session != '\0' ? talloc_strdup(op->mem, session) : NULL;
    bool has_log =
        json_is_object(json_object_get(json_object_get(it->rpc.result, "capabilities"), "logging"));
    it->message = &ready;
    if ((st = peer_exchange_run(it, &way)) != AZ_OK || (st = set_level(it, &way, has_log)) != AZ_OK)
        return st;
    *ret = way;
    peer_memory_keep(op, it->request->resource, it->request->caller, it->announced, &way);
    return AZ_OK;
}

static enum az_status probe(struct peer_exchange *it, bool again, struct peer_way *ret);

/* Choose the way for a server that refused the modern revision and listed the revisions it supports
 * (MCP 2026-07-28, versioning). The list may contain the modern revision. */
static enum az_status
take_offer(struct peer_exchange *it, bool again, struct peer_way *ret)
{
    const char *version = peer_supported(it->rpc.error);
    if (version == NULL || (again && strcmp(version, MCP_MODERN) == 0))
        return refuse_peer(it, "the upstream speaks no revision of MCP that is known here");
    return strcmp(version, MCP_MODERN) == 0 ? probe(it, true, ret)
                                            : open_conversation(it, version, ret);
}

/* Ask the server for the modern revision. A server of an older one answers with some error, and
 * then a conversation is opened with it. */
static enum az_status
probe(struct peer_exchange *it, bool again, struct peer_way *ret)
{
    static const struct peer_message question = {.method = "server/discover"};
    static const struct peer_way modern = {.modern = true};
    enum az_status st;
    it->message = &question;
    if ((st = peer_exchange_run(it, &modern)) != AZ_OK && st != AZ_UPSTREAM_INVALID)
        return st;
    if (st == AZ_OK && (it->answer->status >= 500 || redirect_of(it) != NULL))
        return refuse_peer(it, "no answer to server/discover");
    if (st == AZ_OK && peer_exchange_succeeded(it) && it->answered
        && peer_is_modern(it->rpc.result)) {
        *ret = modern;
        it->reply->hello = it->rpc.result;
        peer_memory_keep(it->op, it->request->resource, it->request->caller, it->announced,
                         &modern);
        return AZ_OK;
    }
    if (st == AZ_OK && it->answered && peer_error_is(it->rpc.error, RPC_UNSUPPORTED_VERSION))
        return take_offer(it, again, ret);
    az_fault_clear(&it->op->fault);
    return open_conversation(it, MCP_LEGACY_NEWEST, ret);
}

/* True if the server no longer takes the way that was remembered: a session ends when the server
 * wants (MCP 2025-11-25, transports), and a revision may be given up. */
static bool
is_outdated(const struct peer_exchange *it)
{
    if (!it->way->modern)
        return it->way->session != NULL && it->answer->status == 404;
    return it->answered && peer_error_is(it->rpc.error, RPC_UNSUPPORTED_VERSION);
}

/* Take the answer to the request itself. */
static enum az_status
take_reply(struct peer_exchange *it)
{
    if (!it->answered || (!peer_exchange_succeeded(it) && it->rpc.error == NULL)) {
        peer_memory_forget(it->op, it->request->resource, it->request->caller, it->announced);
        return refuse_peer(it, "the answer is not one of MCP");
    }
    /* The server may have become an older one, or a newer one, since it was asked. */
    if (!peer_exchange_succeeded(it) && it->way->modern
        && !peer_error_is(it->rpc.error, RPC_MISSING_CAPABILITY))
        peer_memory_forget(it->op, it->request->resource, it->request->caller, it->announced);
    it->reply->result = it->rpc.result;
    it->reply->error = it->rpc.error;
    it->reply->modern = it->way->modern;
    return AZ_OK;
}

/* Choose the version and the session for a request. *ret_known: peer_memory had them. */
static enum az_status
find_way(struct peer_exchange *it, bool *ret_known, struct peer_way *ret)
{
    const struct peer_request *request = it->request;
    *ret = (struct peer_way){.modern = false};
    *ret_known =
        it->announced != NULL
        && peer_memory_find(it->op, request->resource, request->caller, it->announced, ret);
    if (it->announced == NULL)
        return AZ_SERVER_ERROR;
    if (!*ret_known)
        return probe(it, false, ret);
    return ret->modern || ret->version != NULL ? AZ_OK
                                               : open_conversation(it, MCP_LEGACY_NEWEST, ret);
}

enum az_status
peer_greet(struct op *op, const struct peer_request *request, struct peer_way *ret)
{
    struct peer_reply reply = {.result = NULL};
    struct peer_exchange it = {
        .op = op, .request = request, .reply = &reply, .announced = announced_to(op, request)};
    bool known;
    return find_way(&it, &known, ret);
}

enum az_status
peer_ask(struct op *op, const struct peer_request *request, struct peer_reply *ret)
{
    struct peer_exchange it = {
        .op = op, .request = request, .reply = ret, .announced = announced_to(op, request)};
    struct peer_way way;
    bool known;
    *ret = (struct peer_reply){.result = NULL};
    enum az_status st = find_way(&it, &known, &way);
    it.message = &request->message;
    if (st == AZ_OK)
        st = peer_exchange_run(&it, &way);
    if (st == AZ_OK && known && is_outdated(&it)) {
        peer_memory_forget(op, request->resource, request->caller, it.announced);
        st = way.modern ? probe(&it, false, &way) : open_conversation(&it, MCP_LEGACY_NEWEST, &way);
        it.message = &request->message;
        if (st == AZ_OK)
            st = peer_exchange_run(&it, &way);
    }
    if (st == AZ_OK)
        st = take_reply(&it);
    upstream_note(op, request->resource, st, it.answer);
    if (st == AZ_OK)
        return st;
    return op->fault.status != AZ_OK
               ? st
               : op_fail(op, st, NULL,
                         "the answer of the upstream of %s is not valid, or too large",
                         request->resource->name);
}

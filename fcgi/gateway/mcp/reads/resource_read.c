#include "config.h"

#include <string.h>

#include "base/b64url.h"
#include "base/clock.h"
#include "base/json/jsonx.h"
#include "base/uri.h"
#include "crypto/digest.h"
#include "gateway/caller.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/reads/prompts.h"
#include "gateway/mcp/reads/resources.h"
#include "gateway/mcp/tools/catalogue.h"
#include "store/gateway/resources.h"

bool
mcp_serves_resources(const struct mcp_exchange *it)
{
    return it->visit.resource != NULL && it->visit.resource->live_resources;
}

/* ---- the upstream */

void
resource_ask_begin(struct mcp_exchange *it, const struct managed_resource *resource,
                   const char *method, struct resource_ask *ret)
{
    *ret = (struct resource_ask){
        .holder = {it->req,              it->visit.token              },
        .request = {.resource = resource, .message = {.method = method}},
    };
    ret->caller = gateway_caller(&ret->holder);
    ret->request.caller = &ret->caller;
}

enum az_status
resource_ask_refuse(struct mcp_exchange *it, enum az_status st, const char *text)
{
    const char *message = text != NULL ? text : az_status_row(st)->description;
    op_fail(&it->req->op, st, NULL, "%s", message);
    return mcp_refuse(it, 200, az_status_row(st)->http * 100, message);
}

enum az_status
resource_ask_invalid(struct mcp_exchange *it)
{
    return resource_ask_refuse(it, AZ_UPSTREAM_INVALID, NULL);
}

static enum az_status
ask_failed(struct mcp_exchange *it, const struct resource_ask *ask, enum az_status st)
{
    const struct az_fault *fault = &it->req->op.fault;
    if (st == AZ_SERVER_ERROR || st == AZ_UNAVAILABLE || st == AZ_BUSY)
        return st;
    if (st != AZ_LINK_REQUIRED)
        return resource_ask_refuse(it, st, fault->status == st ? fault->public_text : NULL);
    const char *url = ask->reply.credential.link.url;
    return resource_ask_refuse(
        it, st,
        talloc_asprintf(it->req->op.mem, "Connect your %s account first, at %s",
                        ask->request.resource->display_name, url != NULL ? url : ""));
}

enum az_status
resource_ask_upstream(struct mcp_exchange *it, struct resource_ask *ask)
{
    struct op *op = &it->req->op;
    const struct managed_resource *resource = ask->request.resource;
    if (resource->missing != NULL || resource->status == MANAGED_ERROR)
        return resource_ask_refuse(it, AZ_RESOURCE_UNAVAILABLE, NULL);
    enum az_status st = ask->request.secrets == NULL
                            ? resource_secrets(op, resource, &ask->request.secrets)
                            : AZ_OK;
    if (st != AZ_OK)
        return st;
    if (ask->began_ms == 0)
        ask->began_ms = clock_monotonic_ms();
    st = peer_ask(op, &ask->request, &ask->reply);
    return st == AZ_OK ? st : ask_failed(it, ask, st);
}

/* ---- policy */

void
resource_call_note(struct resource_call *c)
{
    struct request *req = c->it->req;
    char sha256[SHA256_HEX_SIZE];
    const char *name = c->action.name;
    bool hashed = !c->prompt && sha256_hex(name, strlen(name), sha256) == AZ_OK;
    json_t *summary =
        json_pack("{s:s,s:s,s:s*,s:s*,s:s}", "resource", c->ask.request.resource->name, "kind",
                  c->action.kind, "prompt", c->prompt ? name : NULL, "uri_sha256",
                  hashed ? sha256 : NULL, "mcp_version", c->it->era.version);
    if (summary != NULL && c->ask.began_ms != 0) {
        json_t *more = json_pack("{s:i,s:I,s:I}", "upstream_status", c->ask.reply.status, "ms",
                                 (json_int_t) (clock_monotonic_ms() - c->ask.began_ms), "octets",
                                 (json_int_t) c->ask.reply.octets);
        json_object_update(summary, more);
        json_decref(more);
    }
    req->audit.summary = jsonx_dump(req->op.mem, jsonx_own(req->op.mem, summary));
}

/* Ask policy. The obligations that can be met are those of a tool of an MCP server, but for
 * approval: what a person would approve is a call. */
static enum az_status
decide_read(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    struct op *op = &it->req->op;
    bool linked;
    struct gateway_target target;
    enum az_status st = mcp_target(op, &c->ask.caller, c->ask.request.resource, &linked, &target);
    c->action.scopes = mcp_default_scopes(op->mem, c->ask.request.resource);
    if (st == AZ_OK && c->action.scopes == NULL)
        st = op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory for a question");
    if (st != AZ_OK)
        return st;
    struct gateway_question question = {
        .holder = {.mcp_version = it->era.version, .mcp_method = it->message.method},
        .resource = target,
        .action = c->action,
        .arguments = c->arguments,
        .obligations = GATEWAY_RESPONSE_MAX_BYTES | GATEWAY_HEADERS,
    };
    st = gateway_decide(it->req, &it->visit, &question, &c->decision);
    if (st != AZ_OK || c->decision.allow)
        return st;
    if (c->decision.step_up != NULL) {
        resource_call_note(c); /* before the row is written */
        return gateway_refuse(it->req, &it->visit, &question, &c->decision);
    }
    const char *codes = gateway_codes(op->mem, c->decision.reasons);
    return resource_ask_refuse(it, AZ_FORBIDDEN,
                               talloc_asprintf(op->mem, "Denied: %s", codes != NULL ? codes : ""));
}

enum az_status
resource_call_ask(struct resource_call *c, json_t *params)
{
    struct mcp_exchange *it = c->it;
    if (params == NULL)
        return op_fail(&it->req->op, AZ_SERVER_ERROR, NULL, "out of memory for a request");
    enum az_status st = decide_read(c);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    c->ask.request.message.params = params;
    c->ask.request.policy_headers = c->decision.obligations.headers;
    c->ask.request.max_answer = (size_t) c->decision.obligations.response_max_bytes;
    return resource_ask_upstream(it, &c->ask);
}

/* ---- reading */

/* Answer that there is no such resource: MCP 2026-07-28 has no code of its own for that. */
static enum az_status
refuse_uri(struct mcp_exchange *it, const char *uri)
{
    mcp_refuse(it, 200, it->era.modern ? RPC_INVALID_PARAMS : RPC_RESOURCE_NOT_FOUND,
               "Resource not found");
    it->fault.data = jsonx_own(it->req->op.mem, json_pack("{s:s}", "uri", uri));
    return AZ_OK;
}

/* Return one content as clients see it: a new reference, or NULL if it is none. */
static json_t *
shown_content(TALLOC_CTX *mem, const json_t *content)
{
    const char *uri = json_string_value(json_object_get(content, "uri"));
    const char *type = json_string_value(json_object_get(content, "mimeType"));
    const json_t *text = json_object_get(content, "text"), *blob = json_object_get(content, "blob");
    unsigned char *octets = NULL;
    size_t length;
    if (uri == NULL || json_is_string(text) == json_is_string(blob)
        || (json_is_string(blob)
            && b64_decode(mem, json_string_value(blob), json_string_length(blob), &octets, &length)
                   != AZ_OK))
        return NULL;
    talloc_free(octets);
    return json_pack("{s:s,s:s*,s:O}", "uri", uri, "mimeType", type,
                     json_is_string(text) ? "text" : "blob", json_is_string(text) ? text : blob);
}

/* True for a content of another URI than the one that was read. MCP lets a server answer the read
 * of a directory with the files in it, but policy was asked about the directory alone. */
static bool
is_of_another(const json_t *content, const char *uri)
{
    const char *its = json_string_value(json_object_get(content, "uri"));
    return its != NULL && strcmp(its, uri) != 0;
}

static enum az_status
show_contents(struct mcp_exchange *it, const char *uri, const json_t *result)
{
    struct op *op = &it->req->op;
    const json_t *contents = json_object_get(result, "contents"), *content;
    const char *type = json_string_value(json_object_get(result, "resultType"));
    struct jsonx_build shown = {jsonx_own(op->mem, json_array()), false};
    size_t index;
    if (!json_is_array(contents) || json_array_size(contents) > RESOURCE_CONTENTS_MAX
        || (type != NULL && strcmp(type, "complete") != 0))
        return resource_ask_invalid(it);
    json_array_foreach (contents, index, content) {
        if (is_of_another(content, uri))
            return resource_ask_refuse(
                it, AZ_UPSTREAM_INVALID,
                "The upstream returned contents of another URI than the one that was "
                "read; read each URI on its own");
        json_t *one = shown_content(op->mem, content);
        if (one == NULL)
            return resource_ask_invalid(it);
        jsonx_append(&shown, one);
    }
    if (jsonx_built(&shown) != NULL)
        it->result = mcp_list_result(op->mem, "contents", shown.value);
    return AZ_OK;
}

static enum az_status
read_resource(struct resource_call *c, const char *uri)
{
    struct mcp_exchange *it = c->it;
    enum az_status st =
        resource_call_ask(c, jsonx_own(it->req->op.mem, json_pack("{s:s}", "uri", uri)));
    const json_t *error = c->ask.reply.error;
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (peer_error_is(error, RPC_INVALID_PARAMS) || peer_error_is(error, RPC_RESOURCE_NOT_FOUND))
        return refuse_uri(it, uri);
    return error != NULL ? resource_ask_refuse(it, AZ_UPSTREAM_INVALID,
                                               peer_error_text(it->req->op.mem, error))
                         : show_contents(it, uri, c->ask.reply.result);
}

enum az_status
mcp_read_resource(struct mcp_exchange *it)
{
    const char *uri = json_string_value(json_object_get(it->message.params, "uri"));
    struct resource_call c = {.it = it};
    if (uri == NULL || !uri_is_canonical(uri))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.uri is not a URI in its one spelling (RFC 3986 6.2.2)");
    c.action = (struct gateway_action){.kind = "resource", .name = uri, .uri = uri};
    resource_ask_begin(it, it->visit.resource, it->message.method, &c.ask);
    enum az_status st = read_resource(&c, uri);
    resource_call_note(&c);
    return st;
}

/* ---- completion */

/* Show the values of a completion: texts, at most COMPLETIONS_MAX. */
static enum az_status
show_completion(struct mcp_exchange *it, const json_t *result)
{
    const json_t *completion = json_object_get(result, "completion");
    json_t *values = json_object_get(completion, "values");
    const json_t *total = json_object_get(completion, "total"), *value;
    size_t index;
    if (!json_is_array(values) || json_array_size(values) > COMPLETIONS_MAX)
        return resource_ask_invalid(it);
    json_array_foreach (values, index, value)
        if (!json_is_string(value))
            return resource_ask_invalid(it);
    it->result = jsonx_own(it->req->op.mem,
                           json_pack("{s:{s:O,s:O*,s:b}}", "completion", "values", values, "total",
                                     json_is_integer(total) ? total : NULL, "hasMore",
                                     (int) json_is_true(json_object_get(completion, "hasMore"))));
    return AZ_OK;
}

/* Return what policy and upstream see of the params beside the template: the argument, and those
 * that are known already. NULL: a member is malformed, or there is no memory. */
static json_t *
completion_arguments(TALLOC_CTX *mem, const json_t *params)
{
    const json_t *argument = json_object_get(params, "argument");
    json_t *name = json_object_get(argument, "name"), *value = json_object_get(argument, "value");
    json_t *known = json_object_get(json_object_get(params, "context"), "arguments");
    const char *key;
    const json_t *text;
    json_object_foreach (known, key, text)
        if (!json_is_string(text))
            return NULL;
    if (!json_is_string(name) || !json_is_string(value)
        || (known != NULL && !json_is_object(known)))
        return NULL;
    json_t *context = known != NULL ? json_pack("{s:O}", "arguments", known) : NULL;
    return jsonx_own(mem, json_pack("{s:{s:O,s:O},s:o*}", "argument", "name", name, "value", value,
                                    "context", context));
}

/* Return the member `ref` of a completion: a new reference. */
static json_t *
completion_ref(const struct resource_call *c)
{
    return c->prompt ? json_pack("{s:s,s:s}", "type", "ref/prompt", "name", c->action.name)
                     : json_pack("{s:s,s:s}", "type", "ref/resource", "uri", c->action.template);
}

static enum az_status
complete(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    TALLOC_CTX *mem = it->req->op.mem;
    json_t *params = jsonx_own(mem, jsonx_copy(c->arguments));
    if (params != NULL && json_object_set_new(params, "ref", completion_ref(c)) != 0)
        params = NULL;
    enum az_status st = resource_call_ask(c, params);
    const json_t *error = c->ask.reply.error;
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    if (peer_error_is(error, RPC_INVALID_PARAMS))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          c->prompt ? "Unknown prompt or argument"
                                    : "Unknown template or argument");
    return error != NULL ? resource_ask_refuse(it, AZ_UPSTREAM_INVALID, peer_error_text(mem, error))
                         : show_completion(it, c->ask.reply.result);
}

/* Find what a completion is for: a URI template of the endpoint's resource, or a prompt that is
 * served. */
static enum az_status
find_completed(struct resource_call *c)
{
    struct mcp_exchange *it = c->it;
    const json_t *ref = json_object_get(it->message.params, "ref");
    const char *type = json_string_value(json_object_get(ref, "type"));
    const char *template = json_string_value(json_object_get(ref, "uri"));
    c->action.kind = "completion";
    if (type != NULL && strcmp(type, "ref/prompt") == 0)
        return mcp_find_prompt(it, json_string_value(json_object_get(ref, "name")), c);
    if (type == NULL || strcmp(type, "ref/resource") != 0 || template == NULL
        || !mcp_serves_resources(it) || !resource_template_is_sound(template))
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.ref is not of a resource template or prompt");
    c->action.name = c->action.template = template;
    resource_ask_begin(it, it->visit.resource, it->message.method, &c->ask);
    return AZ_OK;
}

enum az_status
mcp_complete(struct mcp_exchange *it)
{
    struct resource_call c = {.it = it};
    enum az_status st = find_completed(&c);
    if (st != AZ_OK || !mcp_goes_on(it))
        return st;
    c.arguments = completion_arguments(it->req->op.mem, it->message.params);
    if (c.arguments == NULL)
        return mcp_refuse(it, 200, RPC_INVALID_PARAMS,
                          "params.argument has no name and value, or params.context other values "
                          "than texts");
    st = complete(&c);
    resource_call_note(&c);
    return st;
}

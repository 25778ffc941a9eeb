#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/mcp/ask/round_private.h"
#include "gateway/mcp/message/result.h"

/* Return the elicitations of an error as requests by name, on mem, or NULL if MCP does not define
 * them or there is no memory. */
static json_t *
requests_of(TALLOC_CTX *mem, const json_t *error)
{
    const json_t *list = json_object_get(json_object_get(error, "data"), "elicitations"), *one;
    struct jsonx_build requests = {jsonx_own(mem, json_object()), false};
    size_t index;
    if (json_array_size(list) == 0 || json_array_size(list) > QUESTIONS_MAX)
        return NULL;
    json_array_foreach (list, index, one) {
        const char *mode = json_string_value(json_object_get(one, "mode"));
        const char *name = talloc_asprintf(mem, "url%zu", index + 1);
        if (mode == NULL || strcmp(mode, "url") != 0 || name == NULL)
            return NULL;
        jsonx_set(&requests, name,
                  json_pack("{s:s,s:O}", "method", "elicitation/create", "params", one));
    }
    return jsonx_built(&requests);
}

/* Decide about the addresses, even if the client cannot open them: it may get them as a text. */
static enum az_status
take_addresses(struct mcp_round *round, const struct gateway_target *target,
               const struct gateway_action *call, const json_t *error, struct asked_questions *ret)
{
    struct op *op = &round->it->req->op;
    json_t *own = round->capabilities, *requests = requests_of(op->mem, error);
    json_t *any = jsonx_own(op->mem, json_pack("{s:{s:{}}}", "elicitation", "url"));
    if (requests == NULL)
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "the upstream of %s wants addresses to be opened, but not as MCP says",
                       round->resource->name);
    round->capabilities = question_capabilities(op->mem, any, &round->resource->interaction,
                                                round->call.subject != NULL);
    enum az_status st = round->capabilities != NULL
                            ? round_take_questions(round, target, call, requests, ret)
                            : op_no_memory(op);
    round->capabilities = own;
    return st;
}

/* True if the person did not open an address that a round before asked for. */
static bool
was_declined(const struct mcp_round *round)
{
    const char *key;
    json_t *answer;
    json_object_foreach (round->answers, key, answer) {
        const char *action = json_string_value(json_object_get(answer, "action"));
        if (action == NULL || strcmp(action, "accept") != 0)
            return true;
    }
    return false;
}

/* Give an older client the error, with the addresses as they were decided. */
static enum az_status
give_error(struct mcp_exchange *it, const struct asked_questions *questions)
{
    struct jsonx_build list = {jsonx_own(it->req->op.mem, json_array()), false};
    for (size_t i = 0; i < questions->count; i++)
        jsonx_append(&list, json_incref(json_object_get(questions->item[i].request, "params")));
    mcp_refuse(it, 200, RPC_URL_ELICITATION, "Open the addresses, then call the tool again");
    if (jsonx_built(&list) != NULL)
        it->fault.data = jsonx_own(it->req->op.mem, json_pack("{s:O}", "elicitations", list.value));
    return AZ_OK;
}

/* Give the addresses as a text to a client that cannot open them. */
static enum az_status
give_text(struct mcp_exchange *it, const struct asked_questions *questions)
{
    TALLOC_CTX *mem = it->req->op.mem;
    char *text = talloc_strdup(mem, "");
    for (size_t i = 0; text != NULL && i < questions->count; i++) {
        const json_t *params = json_object_get(questions->item[i].request, "params");
        text = talloc_asprintf_append(text, "%s Open %s\n",
                                      json_string_value(json_object_get(params, "message")),
                                      json_string_value(json_object_get(params, "url")));
    }
    text = text != NULL ? talloc_strdup_append(text, "Then call the tool again") : NULL;
    it->result = text != NULL ? mcp_text_result(mem, text, true) : NULL;
    return it->result != NULL ? AZ_OK : op_no_memory(&it->req->op);
}

/* True if the client has said that it opens addresses. */
static bool
opens_addresses(const struct mcp_exchange *it)
{
    const json_t *elicitation = json_object_get(it->version.capabilities, "elicitation");
    return json_is_object(json_object_get(elicitation, "url"));
}

enum az_status
mcp_round_ask_addresses(struct mcp_round *round, const struct gateway_target *target,
                        const struct gateway_action *action, const json_t *error)
{
    struct mcp_exchange *it = round->it;
    struct asked_questions questions;
    enum az_status st = take_addresses(round, target, action, error, &questions);
    if (st != AZ_OK)
        return st;
    if (was_declined(round))
        return op_fail(&it->req->op, AZ_FORBIDDEN, "An address of the upstream was not opened",
                       "the person of a call declined");
    if (!opens_addresses(it)
        || (!it->version.modern && mcp_is_before(&it->version, MCP_LEGACY_NEWEST)))
        return give_text(it, &questions);
    if (!it->version.modern)
        return give_error(it, &questions);
    return round->state.round >= ROUNDS_MAX ? round_refuse_more(round)
                                            : round_give_questions(round, &questions, NULL);
}

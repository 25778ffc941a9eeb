#include "config.h"

#include "policy/decide/gateway.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "base/json/schema/schema_failures.h"
#include "base/pack.h"
#include "base/words.h"
#include "policy/decide/gateway_answer.h"
#include "policy/decide/gateway_groups.h"
#include "policy/engine/entrypoints.h"

/* Levels of names in the stored arguments: of a tool its own; of a request to a route also those in
 * `path` and `query`. Names further inside may be the user's data. */
#define TOOL_NAMES 1
#define ROUTE_NAMES 2

static void
gateway_set_text(struct jsonx_build *part, const char *name, const char *text)
{
    if (text != NULL)
        jsonx_set(part, name, json_string(text));
}

static void
gateway_set_value(struct jsonx_build *part, const char *name, json_t *value)
{
    if (value != NULL)
        jsonx_set(part, name, json_incref(value));
}

/* Return what was built, a new reference; NULL: no memory. */
static json_t *
part_done(struct jsonx_build *part)
{
    if (part->lost)
        json_decref(part->value);
    return jsonx_built(part);
}

static json_t *
target_part(const struct gateway_target *target)
{
    struct jsonx_build part = {json_object(), false};
    gateway_set_text(&part, "name", target->name);
    gateway_set_text(&part, "type", target->type);
    gateway_set_text(&part, "upstreamType", target->upstream_type);
    gateway_set_text(&part, "connectorId", target->connector_id);
    if (json_object_size(target->implies) > 0)
        jsonx_set(&part, "implies", json_incref(target->implies));
    gateway_set_text(&part, "status", target->status);
    if (target->linked != NULL)
        jsonx_set(&part, "linked", json_boolean(*target->linked));
    return part_done(&part);
}

static json_t *
action_part(const struct gateway_action *action)
{
    struct jsonx_build part = {json_object(), false};
    gateway_set_text(&part, "kind", action->kind);
    gateway_set_text(&part, "name", action->name);
    gateway_set_text(&part, "route", action->route);
    gateway_set_text(&part, "method", action->method);
    gateway_set_text(&part, "path", action->path);
    gateway_set_text(&part, "uri", action->uri);
    gateway_set_text(&part, "template", action->template);
    gateway_set_value(&part, "annotations", action->annotations);
    jsonx_set(&part, "requiredScopes", json_incref(action->scopes));
    return part_done(&part);
}

static json_t *
token_part(const struct gateway_holder *holder)
{
    return json_pack("{s:O,s:s,s:I,s:I,s:b}", "scopes", holder->scopes, "resource",
                     holder->resource, "iat", (json_int_t) holder->issued_at, "exp",
                     (json_int_t) holder->expires_at, "bound", (int) holder->bound);
}

/* Begin the document: the common part, the token and its holder. */
static struct jsonx_build
begin_question(struct op *op, const struct gateway_holder *holder, const char *evaluation)
{
    struct jsonx_build input = {question_frame(op, &holder->frame, evaluation), false};
    json_t *request = json_object_get(input.value, "request");
    input.lost = input.value == NULL;
    if (holder->mcp_method != NULL)
        input.lost = json_object_set_new(request, "mcp",
                                         json_pack("{s:s*,s:s}", "version", holder->mcp_version,
                                                   "method", holder->mcp_method))
                         != 0
                     || input.lost;
    gateway_set_value(&input, "subject", holder->subject);
    gateway_set_value(&input, "act", holder->act);
    gateway_set_value(&input, "baseline", holder->baseline);
    jsonx_set(&input, "token", token_part(holder));
    return input;
}

/* Set the arguments, or `truncated` in their place: half of them could look like an answer to a
 * rule that does not read the mark. */
static void
set_arguments(struct op *op, struct jsonx_build *input, json_t *arguments)
{
    if (arguments == NULL)
        return;
    const char *text = jsonx_dump(op->mem, arguments);
    input->lost = input->lost || text == NULL;
    if (text != NULL && strlen(text) <= GATEWAY_ARGUMENTS_MAX)
        jsonx_set(input, "arguments", json_incref(arguments));
    else
        jsonx_set(input, "truncated", json_true());
}

/* Return what a question of an upstream is asked for; `name` stands in the place of its own. */
static json_t *
call_part(const struct gateway_action *call, const char *name)
{
    return json_pack("{s:s,s:s}", "kind", call->kind, "name", name);
}

static json_t *
question_gateway(struct op *op, const struct gateway_question *question)
{
    struct jsonx_build input = begin_question(op, &question->holder, "gateway");
    jsonx_set(&input, "resource", target_part(&question->resource));
    jsonx_set(&input, "action", action_part(&question->action));
    if (question->call != NULL)
        jsonx_set(&input, "call", call_part(question->call, question->call->name));
    set_arguments(op, &input, question->arguments);
    gateway_set_value(&input, "answers", question->answers);
    return jsonx_built(&input);
}

static json_t *
question_tools(struct op *op, const struct gateway_tools_question *question)
{
    struct jsonx_build input = begin_question(op, &question->holder, "gateway_tools"),
                       resources = {json_array(), false}, tools = {json_array(), false};
    for (size_t i = 0; i < question->resource_count; i++)
        jsonx_append(&resources, target_part(&question->resources[i]));
    for (size_t i = 0; i < question->tool_count; i++)
        jsonx_append(&tools,
                     json_pack("{s:I,s:o}", "resource", (json_int_t) question->tools[i].resource,
                               "action", action_part(&question->tools[i].action)));
    jsonx_set(&input, "resources", part_done(&resources));
    jsonx_set(&input, "tools", part_done(&tools));
    return jsonx_built(&input);
}

/* ---- the question as it is stored */

/* Return the names of the members of a value, each with null or with names of its own: a new
 * reference. */
static json_t *
names_alone(json_t *value, int levels)
{
    if (!json_is_object(value) || levels == 0)
        return json_null();
    const char *name;
    json_t *inner;
    struct jsonx_build names = {json_object(), false};
    json_object_foreach (value, name, inner)
        jsonx_set(&names, name, names_alone(inner, levels - 1));
    return part_done(&names);
}

/* Set the names of the values of a member in what is stored, or `truncated` in their place. */
static void
set_names(struct op *op, struct jsonx_build *stored, const char *member, json_t *values, int levels)
{
    json_t *names = names_alone(values, levels);
    const char *text = names != NULL ? jsonx_dump(op->mem, names) : NULL;
    stored->lost = stored->lost || text == NULL;
    if (text != NULL && strlen(text) <= GATEWAY_NAMES_MAX)
        jsonx_set(stored, member, json_incref(names));
    else
        jsonx_set(stored, "truncated", json_true());
    json_decref(names);
}

/* Take the URI out of an action, of which it is the name too. */
static void
forget_uri(json_t *action)
{
    json_object_del(action, "uri");
    json_object_set_new(action, "name", json_string(""));
}

/* Store this in place of the question. */
static enum az_status
store_instead(struct op *op, const struct jsonx_build *stored, struct verdict *verdict)
{
    size_t length;
    unsigned char *packed;
    char *text = stored->lost ? NULL : jsonx_dump_around(op->mem, "", stored->value, "", &length);
    if (text == NULL || pack_text(op->mem, text, length, &packed, &verdict->input_length) != AZ_OK)
        return op_no_memory(op);
    verdict->input = packed;
    return AZ_OK;
}

/*
 * Store the question without the values of arguments and answers, unless the answer says `full`.
 * The path has the same values in it, and the URI of an MCP resource may have. Without an answer
 * the values are left out.
 */
static enum az_status
hide_arguments(struct op *op, const struct gateway_question *question, json_t *input,
               enum gateway_arguments mode, struct verdict *verdict)
{
    if (mode == GATEWAY_ARGUMENTS_FULL || !question_was_asked(&verdict->asked))
        return AZ_OK;
    static const char *const hidden[] = {"arguments", "answers"};
    bool route = question->action.kind != NULL && strcmp(question->action.kind, "http") == 0;
    json_t *action = jsonx_copy(json_object_get(input, "action"));
    struct jsonx_build stored = {jsonx_own(op->mem, jsonx_copy(input)), action == NULL};
    json_object_del(action, "path");
    if (question->action.uri != NULL)
        forget_uri(action);
    jsonx_set(&stored, "action", action);
    if (question->call != NULL && question->call->uri != NULL)
        jsonx_set(&stored, "call", call_part(question->call, ""));
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        json_t *values = json_object_get(input, hidden[i]);
        json_object_del(stored.value, hidden[i]);
        if (values != NULL && mode == GATEWAY_ARGUMENTS_KEYS)
            set_names(op, &stored, hidden[i], values, route ? ROUTE_NAMES : TOOL_NAMES);
    }
    return store_instead(op, &stored, verdict);
}

/* Store the question about a list of MCP resources without their URIs, unless the answer says
 * `full`. */
static enum az_status
hide_uris(struct op *op, const struct gateway_tools_question *question, json_t *input,
          struct verdict *verdict)
{
    const char *mode =
        json_string_value(json_object_get(verdict->decision.output, "argument_mode"));
    size_t index;
    json_t *tool;
    if (verdict->input == NULL || question->tool_count == 0 || question->tools[0].action.uri == NULL
        || (mode != NULL && strcmp(mode, "full") == 0))
        return AZ_OK;
    json_t *tools = jsonx_own(op->mem, json_deep_copy(json_object_get(input, "tools")));
    struct jsonx_build stored = {jsonx_own(op->mem, jsonx_copy(input)), tools == NULL};
    json_array_foreach (tools, index, tool) {
        forget_uri(json_object_get(tool, "action"));
    }
    jsonx_set(&stored, "tools", json_incref(tools));
    return store_instead(op, &stored, verdict);
}

/* Add the JSON Pointers of the names whose value was left out. */
static void
add_lacks(TALLOC_CTX *mem, struct jsonx_build *lacks, const char *above, const json_t *names)
{
    const char *name;
    json_t *value;
    json_object_foreach ((json_t *) (uintptr_t) names, name, value) {
        size_t length;
        BUF_AUTO buf;
        buf_init(&buf, mem, 2 * GATEWAY_ARGUMENTS_MAX); /* an escape is two octets for one */
        buf_append_text(&buf, above);
        schema_append_token(&buf, name);
        const char *pointer = buf_take(&buf, &length);
        lacks->lost = lacks->lost || pointer == NULL;
        if (pointer != NULL && json_is_object(value))
            add_lacks(mem, lacks, pointer, value);
        else if (pointer != NULL && json_is_null(value))
            jsonx_append(lacks, json_string(pointer));
    }
}

/* Kinds of actions that are no requests with a path. */
static const char *const pathless[] = {"tool", "prompt", "elicitation", "sampling", "roots", NULL};

json_t *
gateway_not_stored(TALLOC_CTX *mem, const json_t *input, const json_t *decision)
{
    static const char place[] = "/arguments", place_of_answers[] = "/answers";
    const json_t *action = json_object_get(input, "action"),
                 *names = json_object_get(input, "arguments"),
                 *answers = json_object_get(input, "answers");
    const char *evaluation = json_string_value(json_object_get(input, "evaluation")),
               *kind = json_string_value(json_object_get(action, "kind")),
               *call = json_string_value(json_object_get(json_object_get(input, "call"), "name"));
    struct jsonx_build lacks = {jsonx_own(mem, json_array()), false};
    enum gateway_arguments mode = GATEWAY_ARGUMENTS_KEYS;
    gateway_answer_mode(decision, &mode);
    if (evaluation == NULL || strcmp(evaluation, "gateway") != 0 || mode == GATEWAY_ARGUMENTS_FULL)
        return lacks.value;
    if (json_object_get(action, "path") == NULL && (kind == NULL || !words_has(pathless, kind)))
        jsonx_append(&lacks, json_string("/action/path"));
    if (json_is_object(names))
        add_lacks(mem, &lacks, place, names);
    else
        jsonx_append(&lacks, json_string(place));
    if (json_is_object(answers))
        add_lacks(mem, &lacks, place_of_answers, answers);
    if (call != NULL && *call == '\0')
        jsonx_append(&lacks, json_string("/call/name"));
    return jsonx_built(&lacks);
}

/* ---- asking */

enum az_status
gateway_ask(struct op *op, const struct gateway_question *question,
            struct gateway_decision *decision, struct verdict *ret)
{
    static const struct decision_bounds none = {.scopes = NULL};
    enum gateway_arguments mode = GATEWAY_ARGUMENTS_KEYS;
    json_t *input = question_gateway(op, question);
    *decision = (struct gateway_decision){.allow = false};
    enum az_status st = ask_unpacked(op, entrypoint_paths[ENTRYPOINT_GATEWAY], input, &none, ret);
    if (st == AZ_OK)
        st = gateway_answer_read(op, question, ret, decision, &mode);
    enum az_status stored = hide_arguments(op, question, input, mode, ret);
    if (stored == AZ_OK)
        stored = ask_pack(op, ret);
    return st == AZ_OK ? stored : st;
}

/* Ask about tools; if `grouped`, one represents its group. */
static enum az_status
ask_tools(struct op *op, const struct gateway_tools_question *question, bool grouped,
          enum gateway_verdict *verdicts, struct verdict *ret)
{
    static const struct decision_bounds none = {.scopes = NULL};
    json_t *input = question_tools(op, question);
    if (grouped && input != NULL && json_object_set_new(input, "grouped", json_true()) != 0)
        input = NULL;
    enum az_status st =
        ask_entrypoint(op, entrypoint_paths[ENTRYPOINT_GATEWAY_TOOLS], input, &none, ret);
    if (st == AZ_OK)
        st = gateway_answer_read_tools(op, question, ret, verdicts);
    enum az_status stored = hide_uris(op, question, input, ret);
    return st == AZ_OK ? stored : st;
}

static enum az_status
refuse_number(struct op *op, size_t count, const char *what)
{
    return op_fail(op, AZ_SERVER_ERROR,
                   "There are more entries than policy can be asked about at once; the endpoints "
                   "of single resources have fewer",
                   "a question about %zu %s; the limit is %d", count, what, GATEWAY_TOOLS_MAX);
}

/* Ask about so many tools by their groups. Policy says so if it looked at nothing but resource and
 * scopes; one with rules about single tools does not. */
static enum az_status
ask_groups(struct op *op, const struct gateway_tools_question *question,
           enum gateway_verdict *verdicts, struct verdict *ret)
{
    struct gateway_groups groups;
    enum az_status st = gateway_groups_make(op, question, &groups);
    if (st != AZ_OK)
        return st;
    if (groups.count > GATEWAY_TOOLS_MAX)
        return refuse_number(op, groups.count, "pairs of a resource and scopes");
    struct gateway_tools_question fewer = *question;
    enum gateway_verdict *verdict =
        talloc_array(op->mem, enum gateway_verdict, (unsigned) groups.count);
    fewer.tools = groups.group;
    fewer.tool_count = groups.count;
    st = verdict != NULL ? ask_tools(op, &fewer, true, verdict, ret) : AZ_SERVER_ERROR;
    if (st != AZ_OK)
        return st;
    if (!json_is_true(json_object_get(ret->decision.output, "grouped")))
        return refuse_number(op, question->tool_count, "tools by a policy with rules about each");
    for (size_t i = 0; i < question->tool_count; i++)
        verdicts[i] = verdict[groups.of[i]];
    return AZ_OK;
}

enum az_status
gateway_tools_ask(struct op *op, const struct gateway_tools_question *question,
                  enum gateway_verdict *verdicts, struct verdict *ret)
{
    return question->tool_count > GATEWAY_TOOLS_MAX ? ask_groups(op, question, verdicts, ret)
                                                    : ask_tools(op, question, false, verdicts, ret);
}

#include "config.h"

#include "policy/decide/gateway_answer.h"

#include <ctype.h>
#include <string.h>

#include "base/json/json_pointer.h"
#include "base/json/jsonx.h"
#include "base/words.h"
#include "managed/headers.h"
#include "policy/engine/no_decision.h"

/* ---- obligations */

/* True for a name that a rule may set; no shipped API has other characters in its names. */
static bool
gateway_header_may_be_set(const char *name)
{
    if (*name == '\0' || strlen(name) > MANAGED_HEADER_NAME_MAX)
        return false;
    for (const char *c = name; *c != '\0'; c++)
        if (!isalnum((unsigned char) *c) && *c != '-')
            return false;
    return header_may_be(name, HEADER_BY_POLICY);
}

/* True for visible ASCII and inner spaces (RFC 9110 5.5), so that no value begins another header.
 */
static bool
header_value_ok(const char *value)
{
    size_t length = value != NULL ? strlen(value) : 0;
    if (length == 0 || length > GATEWAY_HEADER_VALUE_MAX || *value == ' '
        || value[length - 1] == ' ')
        return false;
    for (const char *c = value; *c != '\0'; c++)
        if (*c < 0x20 || *c > 0x7e)
            return false;
    return true;
}

static bool
read_headers(json_t *value, struct gateway_obligations *ret)
{
    const char *name;
    json_t *text;
    if (!json_is_object(value) || json_object_size(value) > GATEWAY_HEADERS_MAX)
        return false;
    json_object_foreach (value, name, text)
        if (!gateway_header_may_be_set(name) || !header_value_ok(json_string_value(text))
            || json_string_length(text) != strlen(json_string_value(text)))
            return false;
    return json_object_update(ret->headers, value) == 0;
}

/* A pointer (RFC 6901 3) to a place below /body: the whole body cannot be redacted, only denied. */
static bool
is_pointer(const json_t *value)
{
    static const char body[] = "/body/";
    const char *text = json_string_value(value);
    return text != NULL && strncmp(text, body, sizeof(body) - 1) == 0
           && json_string_length(value) == strlen(text) && json_pointer_is_good(text);
}

static bool
read_redact(json_t *value, struct gateway_obligations *ret)
{
    size_t index;
    json_t *pointer;
    if (!json_is_array(value) || json_array_size(value) > GATEWAY_POINTERS_MAX)
        return false;
    json_array_foreach (value, index, pointer)
        if (!is_pointer(pointer))
            return false;
    return json_array_extend(ret->redact, value) == 0;
}

static bool
read_max_bytes(json_t *value, struct gateway_obligations *ret)
{
    int64_t most = json_integer_value(value);
    if (ret->response_max_bytes == 0 || most < ret->response_max_bytes)
        ret->response_max_bytes = most;
    return json_is_integer(value) && most > 0;
}

static bool
read_ciba(json_t *value, struct gateway_obligations *ret)
{
    ret->approve_by_ciba = ret->approve_by_ciba || json_is_true(value);

    return json_is_boolean(value);
}

static const struct obligation_row {
    const char *name;
    enum gateway_obligation bit;
    bool (*read)(json_t *value, struct gateway_obligations *ret);
} obligation_rows[] = {
    {"redact",             GATEWAY_REDACT,             read_redact   },
    {"response_max_bytes", GATEWAY_RESPONSE_MAX_BYTES, read_max_bytes},
    {"approve_by_ciba",    GATEWAY_APPROVE_BY_CIBA,    read_ciba     },
    {"headers",            GATEWAY_HEADERS,            read_headers  },
};

/* Read one obligation. False: it is unknown or malformed, or the asker cannot meet it. */
static bool
obligation_read(const char *name, json_t *value, unsigned able, struct gateway_obligations *ret)
{
    for (size_t i = 0; i < sizeof(obligation_rows) / sizeof(obligation_rows[0]); i++)
        if (strcmp(obligation_rows[i].name, name) == 0) {
            /* approve_by_ciba:false demands nothing. */
            bool able_to =
                (able & obligation_rows[i].bit) != 0
                || (obligation_rows[i].bit == GATEWAY_APPROVE_BY_CIBA && json_is_false(value));
            return able_to && obligation_rows[i].read(value, ret);
        }
    return false;
}

unsigned
gateway_obligations_of(const char *kind, const char *upstream_type)
{
    bool tool = strcmp(kind, "tool") == 0, http = strcmp(kind, "http") == 0,
         fixed = strcmp(upstream_type, "STATIC") == 0, mcp = strcmp(upstream_type, "MCP") == 0;
    return GATEWAY_RESPONSE_MAX_BYTES | (fixed ? 0 : (unsigned) GATEWAY_HEADERS)
           | (http || (tool && !mcp) ? (unsigned) GATEWAY_REDACT : 0)
           | (tool ? (unsigned) GATEWAY_APPROVE_BY_CIBA : 0);
}

/* Turn the decision into a denial because of an obligation. */
static enum az_status
deny_obligation(struct op *op, struct verdict *verdict, struct gateway_decision *decision)
{
    struct jsonx_build reasons = {jsonx_own(op->mem, jsonx_copy(decision->reasons)), false};
    jsonx_append(&reasons, no_decision_reason(NO_DECISION_OBLIGATION));
    if (jsonx_built(&reasons) == NULL)
        return op_no_memory(op);
    *decision = (struct gateway_decision){.allow = false, .reasons = reasons.value};
    verdict->decision.allow = false;
    verdict->decision.reasons = reasons.value;
    return AZ_OK;
}

/* True if a header field is to be set that carries the credential of the upstream: the credential
 * would win, and the obligation would not be met. */
static bool
replaces_credential(const struct gateway_question *question, json_t *headers)
{
    const char *name, *kept = question->resource.credential_header;
    json_t *value;
    json_object_foreach (headers, name, value)
        if (kept != NULL && header_is(name, kept))
            return true;
    return false;
}

enum az_status
gateway_answer_obligations(struct op *op, const struct gateway_question *question,
                           json_t *obligations, struct gateway_obligations *ret, bool *ret_met)
{
    json_t *const sets[] = {question->always, obligations};
    const char *name;
    json_t *value;
    ret->redact = jsonx_own(op->mem, json_array());
    ret->headers = jsonx_own(op->mem, json_object());
    *ret_met = true;
    if (ret->redact == NULL || ret->headers == NULL)
        return op_no_memory(op);
    for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
        json_object_foreach (sets[i], name, value)
            *ret_met = *ret_met && obligation_read(name, value, question->obligations, ret);
    *ret_met = *ret_met && !replaces_credential(question, ret->headers);
    return AZ_OK;
}

json_t *
gateway_obligations_json(TALLOC_CTX *mem, const struct gateway_obligations *obligations)
{
    size_t index;
    json_t *pointer;
    struct jsonx_build all = {jsonx_own(mem, json_object()), false},
                       redact = {jsonx_own(mem, json_object()), false};
    json_array_foreach (obligations->redact, index, pointer)
        jsonx_set(&redact, json_string_value(pointer), json_true());
    all.lost = redact.lost || redact.value == NULL;
    if (json_object_size(redact.value) > 0)
        jsonx_set(&all, "redact", json_incref(redact.value));
    if (obligations->response_max_bytes > 0)
        jsonx_set(&all, "response_max_bytes", json_integer(obligations->response_max_bytes));
    if (obligations->approve_by_ciba)
        jsonx_set(&all, "approve_by_ciba", json_true());
    if (json_object_size(obligations->headers) > 0)
        jsonx_set(&all, "headers", json_incref(obligations->headers));
    return jsonx_built(&all);
}

/* ---- one request */

/* Read step_up. Return false unless it is absent or names scopes of the action, all of which the
 * token lacks: a challenge for other scopes would make clients ask for rights that they do not
 * need. */
static bool
read_step_up(const struct gateway_question *question, const json_t *output, json_t **ret)
{
    const json_t *step_up = json_object_get(output, "step_up");
    json_t *scopes = json_object_get(step_up, "scopes"), *scope;
    size_t index;
    *ret = NULL;
    if (step_up == NULL || json_is_null(step_up))
        return true;
    if (!json_is_array(scopes) || json_array_size(scopes) == 0)
        return false;
    json_array_foreach (scopes, index, scope)
        if (!json_is_string(scope)
            || !words_array_has(question->action.scopes, json_string_value(scope))
            || words_array_has(question->holder.scopes, json_string_value(scope)))
            return false;
    *ret = scopes;
    return true;
}

bool
gateway_answer_mode(const json_t *output, enum gateway_arguments *ret)
{
    static const char *const words[] = {[GATEWAY_ARGUMENTS_KEYS] = "keys",
                                        [GATEWAY_ARGUMENTS_FULL] = "full",
                                        [GATEWAY_ARGUMENTS_NONE] = "none"};
    const char *text = json_string_value(json_object_get(output, "argument_mode"));
    for (size_t i = 0; text != NULL && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(words[i], text) == 0) {
            *ret = (enum gateway_arguments) i;
            return true;
        }
    return false;
}

/* Read cache_seconds. Return false unless it is absent or an integer within its bounds; 30.0 is
 * one.
 */
static bool
read_cache_seconds(const json_t *output, int64_t *ret)
{
    const json_t *seconds = json_object_get(output, "cache_seconds");
    double number = json_number_value(seconds);
    bool good = number >= 0 && number <= GATEWAY_CACHE_SECONDS_MAX;
    *ret = good ? (int64_t) number : 0;
    return seconds == NULL || (json_is_number(seconds) && good && (double) *ret == number);
}

struct gateway_fault
gateway_answer_check(const struct gateway_question *question, const struct decision *read,
                     struct gateway_decision *ret, enum gateway_arguments *mode)
{
    enum gateway_arguments wanted;
    json_t *step_up;
    int64_t cache_seconds;
    if (!gateway_answer_mode(read->output, &wanted))
        return (struct gateway_fault){"argument_mode", "is not known"};
    if (!read_step_up(question, read->output, &step_up))
        return (struct gateway_fault){"step_up", "is malformed or widens the question"};
    if (read->allow && step_up != NULL)
        return (struct gateway_fault){"step_up", "cannot be combined with allow"};
    if (!read_cache_seconds(read->output, &cache_seconds))
        return (struct gateway_fault){"cache_seconds", "is not a number from 0 to 30"};
    *mode = wanted;
    *ret = (struct gateway_decision){.allow = read->allow,
                                     .step_up = step_up,
                                     .reasons = read->reasons,
                                     .cache_seconds = cache_seconds};
    return (struct gateway_fault){NULL, NULL};
}

enum az_status
gateway_answer_read(struct op *op, const struct gateway_question *question, struct verdict *verdict,
                    struct gateway_decision *decision, enum gateway_arguments *mode)
{
    const struct decision *read = &verdict->decision;
    struct gateway_fault fault = gateway_answer_check(question, read, decision, mode);
    bool met;
    if (fault.member != NULL)
        return ask_refuse(op, fault.member, fault.why, verdict);
    if (!read->allow)
        return AZ_OK;
    enum az_status st =
        gateway_answer_obligations(op, question, read->obligations, &decision->obligations, &met);
    return st != AZ_OK || met ? st : deny_obligation(op, verdict, decision);
}

/* ---- tools */

struct gateway_fault
gateway_answer_verdicts(const struct decision *read, size_t count, enum gateway_verdict *verdicts)
{
    static const char *const words[] = {
        [GATEWAY_DENY] = "deny", [GATEWAY_STEP_UP] = "step_up", [GATEWAY_ALLOW] = "allow"};
    const json_t *list = json_object_get(read->output, "verdicts"), *word;
    size_t index;
    for (size_t i = 0; i < count; i++)
        verdicts[i] = GATEWAY_DENY;
    if (!read->allow)
        return (struct gateway_fault){NULL, NULL}; /* none is shown */
    if (!json_is_array(list) || json_array_size(list) != count)
        return (struct gateway_fault){"verdicts", "does not have one verdict for each tool"};
    json_array_foreach (list, index, word) {
        const char *text = json_string_value(word);
        size_t i = 0;
        while (i < sizeof(words) / sizeof(words[0])
               && (text == NULL || strcmp(words[i], text) != 0))
            i++;
        if (i == sizeof(words) / sizeof(words[0]))
            return (struct gateway_fault){"verdicts", "has a word that is no verdict"};
        verdicts[index] = (enum gateway_verdict) i;
    }
    return (struct gateway_fault){NULL, NULL};
}

enum az_status
gateway_answer_read_tools(struct op *op, const struct gateway_tools_question *question,
                          struct verdict *verdict, enum gateway_verdict *verdicts)
{
    struct gateway_fault fault =
        gateway_answer_verdicts(&verdict->decision, question->tool_count, verdicts);
    return fault.member != NULL ? ask_refuse(op, fault.member, fault.why, verdict) : AZ_OK;
}

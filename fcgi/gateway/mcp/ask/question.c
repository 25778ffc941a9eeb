#include "config.h"

#include "gateway/mcp/ask/question.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/uri.h"
#include "base/utf8.h"
#include "base/words.h"
#include "gateway/mcp/ask/form.h"
#include "gateway/mcp/message/block.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/shown_text.h"

/* ---- capabilities */

/* True if a client has the part of elicitation; a client that names none has forms (MCP 2025-11-25,
 * client/elicitation). */
static bool
can_elicit(const json_t *of_client, const char *part)
{
    const json_t *elicitation = json_object_get(of_client, "elicitation");
    return json_is_object(json_object_get(elicitation, part))
           || (json_is_object(elicitation) && json_object_size(elicitation) == 0
               && strcmp(part, "form") == 0);
}

json_t *
question_capabilities(TALLOC_CTX *mem, const json_t *of_client,
                      const struct managed_interaction *may, bool person)
{
    bool form = person && may->form && can_elicit(of_client, "form");
    bool url = person && may->url && can_elicit(of_client, "url");
    struct jsonx_build announced = {jsonx_own(mem, json_object()), false};
    struct jsonx_build modes = {jsonx_own(mem, json_object()), false};
    if (form)
        jsonx_set(&modes, "form", json_object());
    if (url)
        jsonx_set(&modes, "url", json_object());
    if (form || url)
        jsonx_set(&announced, "elicitation", json_incref(jsonx_built(&modes)));
    if (may->sampling && json_is_object(json_object_get(of_client, "sampling")))
        jsonx_set(&announced, "sampling", json_object());
    if (may->roots && json_is_object(json_object_get(of_client, "roots")))
        jsonx_set(&announced, "roots", json_object());
    return jsonx_built(&announced);
}

/* ---- one question */

/* The state of reading one question. */
struct question_reader {
    TALLOC_CTX *mem;
    const struct question_rules *rules;
    const json_t *params;
    struct asked_question *ret;
    const char *why; /* AZ_FORBIDDEN */
};

static enum az_status
forbid(struct question_reader *reader, const char *why)
{
    reader->why = why;
    return AZ_FORBIDDEN;
}

/* Return the message of an elicitation as the person sees it, a text on mem, or NULL if the message
 * is missing or too long or there is no memory. The name of the resource says who asks. */
static const char *
signed_message(const struct question_reader *reader)
{
    const json_t *message = json_object_get(reader->params, "message");
    const char *text = json_string_value(message);
    if (text == NULL || utf8_length(text, json_string_length(message)) > QUESTION_MESSAGE_MAX
        || (text = shown_lines(reader->mem, text)) == NULL)
        return NULL;
    return talloc_asprintf(reader->mem, "%s: %s", reader->rules->name, text);
}

/* Return the names of the members of an object: a new reference. */
static json_t *
names_of(const json_t *object)
{
    const char *name;
    json_t *value;
    struct jsonx_build names = {json_array(), false};
    json_object_foreach ((json_t *) (uintptr_t) object, name, value)
        jsonx_append(&names, json_string(name));
    if (names.lost)
        json_decref(names.value);
    return jsonx_built(&names);
}

static enum az_status
read_form(struct question_reader *reader)
{
    struct asked_question *ret = reader->ret;
    json_t *form = NULL;
    const char *message = signed_message(reader);
    if (message == NULL)
        return AZ_INVALID;
    enum az_status st =
        form_read(reader->mem, json_object_get(reader->params, "requestedSchema"), &form);
    if (st == AZ_FORBIDDEN)
        return forbid(reader, "elicitation_sensitive");
    if (st != AZ_OK)
        return st;
    ret->request =
        json_pack("{s:s,s:s,s:O}", "mode", "form", "message", message, "requestedSchema", form);
    ret->seen = json_pack("{s:s,s:o}", "message", message, "fields",
                          names_of(json_object_get(form, "properties")));
    ret->fits = json_pack("{s:s,s:O}", "kind", "form", "schema", form);
    return AZ_OK;
}

/* True if a person may be sent to an address: https, without a user, at the host of the upstream or
 * one that the operator names, and not ours. */
static bool
may_be_opened(const struct question_rules *rules, const struct uri *uri)
{
    return strcmp(uri->scheme, "https") == 0 && uri->userinfo == NULL && uri->host != NULL
           && strcmp(uri->host, rules->issuer_host) != 0
           && (strcmp(uri->host, rules->host) == 0
               || (rules->hosts != NULL && words_has(rules->hosts, uri->host)));
}

/* True for a name of printable ASCII. */
static bool
is_key(const char *key)
{
    size_t length = strlen(key);
    for (size_t i = 0; i < length; i++)
        if (key[i] < ' ' || key[i] > '~')
            return false;
    return length > 0 && length <= QUESTION_KEY_MAX;
}

static enum az_status
read_url(struct question_reader *reader)
{
    struct asked_question *ret = reader->ret;
    const char *url = json_string_value(json_object_get(reader->params, "url"));
    const json_t *id = json_object_get(reader->params, "elicitationId");
    const char *message = signed_message(reader);
    struct uri uri;
    if (message == NULL || url == NULL || uri_parse(reader->mem, url, &uri) != AZ_OK
        || (id != NULL && (!json_is_string(id) || !is_key(json_string_value(id)))))
        return AZ_INVALID;
    if (!may_be_opened(reader->rules, &uri))
        return forbid(reader, "elicitation_url");
    ret->request = json_pack("{s:s,s:s,s:s,s:O*}", "mode", "url", "message", message, "url", url,
                             "elicitationId", id);
    ret->seen = json_pack("{s:s,s:s,s:s}", "message", message, "url", url, "host", uri.host);
    ret->fits = json_pack("{s:s}", "kind", "url");
    return AZ_OK;
}

/* True for the content of a message to or of a model: a text, an image or a sound. */
static bool
is_said(TALLOC_CTX *mem, const json_t *block)
{
    static const char *const types[] = {"text", "image", "audio", NULL};
    return words_has(types, json_string_value(json_object_get(block, "type")))
           && mcp_content_is_sound(mem, block);
}

static bool
is_message(TALLOC_CTX *mem, const json_t *message)
{
    static const char *const roles[] = {"user", "assistant", NULL};
    const json_t *content = json_object_get(message, "content"), *block;
    size_t index;
    if (!words_has(roles, json_string_value(json_object_get(message, "role"))))
        return false;
    if (!json_is_array(content))
        return is_said(mem, content);
    json_array_foreach (content, index, block)
        if (!is_said(mem, block))
            return false;
    return json_array_size(content) > 0 && json_array_size(content) <= MCP_CONTENT_MAX;
}

/* Return the content of a message as the client gets it: one block, or several. */
static json_t *
shown_said(TALLOC_CTX *mem, const json_t *content)
{
    struct jsonx_build blocks = {jsonx_own(mem, json_array()), false};
    const json_t *block;
    size_t index;
    if (!json_is_array(content))
        return mcp_shown_block(mem, NULL, content);
    json_array_foreach (content, index, block)
        jsonx_append(&blocks, mcp_shown_block(mem, NULL, block));
    return json_incref(jsonx_built(&blocks));
}

static json_t *
shown_messages(TALLOC_CTX *mem, const json_t *messages)
{
    struct jsonx_build shown = {jsonx_own(mem, json_array()), false};
    const json_t *message;
    size_t index;
    json_array_foreach (messages, index, message)
        jsonx_append(&shown,
                     json_pack("{s:O,s:o}", "role", json_object_get(message, "role"), "content",
                               shown_said(mem, json_object_get(message, "content"))));
    return json_incref(jsonx_built(&shown));
}

/* Return the wishes for a model: names of models, and how much cost, speed and intelligence matter.
 */
static json_t *
shown_preferences(TALLOC_CTX *mem, const json_t *preferences)
{
    static const char *const priorities[] = {"costPriority", "speedPriority",
                                             "intelligencePriority"};
    struct jsonx_build shown = {jsonx_own(mem, json_object()), false};
    struct jsonx_build hints = {jsonx_own(mem, json_array()), false};
    const json_t *hint;
    size_t index;
    json_array_foreach (json_object_get(preferences, "hints"), index, hint) {
        const char *name = json_string_value(json_object_get(hint, "name"));
        if (name != NULL)
            jsonx_append(&hints, json_pack("{s:o}", "name", shown_text(mem, name)));
    }
    if (json_array_size(hints.value) > 0)
        jsonx_set(&shown, "hints", json_incref(hints.value));
    for (size_t i = 0; i < sizeof(priorities) / sizeof(priorities[0]); i++) {
        json_t *value = json_object_get(preferences, priorities[i]);
        if (json_is_number(value))
            jsonx_set(&shown, priorities[i], json_incref(value));
    }
    return hints.lost ? NULL : json_incref(jsonx_built(&shown));
}

static json_t *
shown_as_it_is(TALLOC_CTX *mem, const json_t *value)
{
    return shown_value(mem, (json_t *) (uintptr_t) value);
}

static bool
is_number(const json_t *value)
{
    return json_is_number(value);
}

static bool
is_count(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static bool
is_prompt(const json_t *value)
{
    return json_is_string(value);
}

static bool
is_list(const json_t *value)
{
    return json_is_array(value);
}

static bool
is_object(const json_t *value)
{
    return json_is_object(value);
}

/* Collect the members of a sampling that pass, each built from what its type has, without the
 * characters that its model would read and the person does not see. includeContext does not pass:
 * the client would show the upstream what others said. Tools would be called for the upstream by
 * the client. */
static enum az_status
sampling_params(TALLOC_CTX *mem, const json_t *params, json_t **ret)
{
    static const struct {
        const char *name;
        bool (*is_sound)(const json_t *value);
        json_t *(*shown)(TALLOC_CTX *mem, const json_t *value);
    } members[] = {
        {"messages",         is_list,        shown_messages   },
        {"modelPreferences", is_object,      shown_preferences},
        {"systemPrompt",     is_prompt,      shown_as_it_is   },
        {"temperature",      is_number,      shown_as_it_is   },
        {"maxTokens",        is_count,       shown_as_it_is   },
        {"stopSequences",    jsonx_is_texts, shown_as_it_is   },
    };
    struct jsonx_build kept = {json_object(), false};
    bool sound = true;
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        json_t *value = json_object_get(params, members[i].name);
        if (value == NULL)
            continue;
        json_t *shown = members[i].is_sound(value) ? members[i].shown(mem, value) : NULL;
        sound = sound && shown != NULL;
        jsonx_set(&kept, members[i].name, shown);
    }
    *ret = kept.value;
    return !sound ? AZ_INVALID : kept.lost ? AZ_SERVER_ERROR : AZ_OK;
}

static enum az_status
read_sampling(struct question_reader *reader)
{
    struct asked_question *ret = reader->ret;
    const json_t *messages = json_object_get(reader->params, "messages"), *message;
    size_t index;
    if (json_object_get(reader->params, "tools") != NULL)
        return forbid(reader, "sampling_tools");
    if (json_array_size(messages) == 0 || json_array_size(messages) > QUESTION_SAMPLING_MESSAGES_MAX
        || !json_is_integer(json_object_get(reader->params, "maxTokens")))
        return AZ_INVALID;
    json_array_foreach (messages, index, message)
        if (!is_message(reader->mem, message))
            return AZ_INVALID;
    enum az_status st = sampling_params(reader->mem, reader->params, &ret->request);
    if (st != AZ_OK)
        return st;
    const char *text = jsonx_dump(reader->mem, ret->request);
    if (text != NULL && strlen(text) > QUESTION_SAMPLING_MAX)
        return AZ_INVALID;
    ret->seen = json_incref(ret->request);
    ret->fits = json_pack("{s:s}", "kind", "sampling");
    return AZ_OK;
}

static enum az_status
read_roots(struct question_reader *reader)
{
    struct asked_question *ret = reader->ret;
    ret->request = json_object();
    ret->seen = json_object();
    ret->fits = json_pack("{s:s}", "kind", "roots");
    return AZ_OK;
}

/* The questions of MCP. `part` names a part of the capability, or is NULL. */
static const struct question_kind {
    const char *method,
        *mode; /* mode in the params; the first row also matches params without a mode */
    const char *kind, *name; /* for policy */
    const char *capability, *part;
    enum az_status (*read)(struct question_reader *reader);
} question_kinds[] = {
    {"elicitation/create",     "form", "elicitation", "form",    "elicitation", "form", read_form    },
    {"elicitation/create",     "url",  "elicitation", "url",     "elicitation", "url",  read_url     },
    {"sampling/createMessage", NULL,   "sampling",    "message", "sampling",    NULL,   read_sampling},
    {"roots/list",             NULL,   "roots",       "list",    "roots",       NULL,   read_roots   },
};

static const struct question_kind *
kind_of(const json_t *request)
{
    const char *method = json_string_value(json_object_get(request, "method"));
    const json_t *mode = json_object_get(json_object_get(request, "params"), "mode");
    for (size_t i = 0; method != NULL && i < sizeof(question_kinds) / sizeof(question_kinds[0]);
         i++) {
        const struct question_kind *kind = &question_kinds[i];
        bool same = kind->mode == NULL || mode == NULL
                    || (json_is_string(mode) && strcmp(json_string_value(mode), kind->mode) == 0);
        if (strcmp(method, kind->method) == 0 && same)
            return kind;
    }
    return NULL;
}

bool
question_is_known(const char *method)
{
    for (size_t i = 0; i < sizeof(question_kinds) / sizeof(question_kinds[0]); i++)
        if (strcmp(method, question_kinds[i].method) == 0)
            return true;
    return false;
}

/* True if the capabilities that were sent to the upstream allow this question. */
static bool
was_told(const struct question_rules *rules, const struct question_kind *kind)
{
    const json_t *capability = json_object_get(rules->capabilities, kind->capability);
    return kind->part == NULL ? capability != NULL
                              : json_object_get(capability, kind->part) != NULL;
}

/* Read one question into reader->ret, whose JSON is owned by mem. */
static enum az_status
read_question(struct question_reader *reader, const char *key, const json_t *request)
{
    const struct question_kind *kind = kind_of(request);
    struct asked_question *ret = reader->ret;
    TALLOC_CTX *mem = reader->mem;
    *ret = (struct asked_question){.key = key};
    reader->params = json_object_get(request, "params");
    if (kind == NULL || !is_key(key))
        return AZ_INVALID;
    if (!was_told(reader->rules, kind))
        return forbid(reader, "interaction_off");
    ret->kind = kind->kind;
    ret->name = kind->name;
    enum az_status st = kind->read(reader);
    ret->seen = ret->seen != NULL ? jsonx_own(mem, ret->seen) : NULL;
    ret->fits = ret->fits != NULL ? jsonx_own(mem, ret->fits) : NULL;
    if (st == AZ_OK || ret->request != NULL)
        ret->request =
            jsonx_own(mem, json_pack("{s:s,s:o}", "method", kind->method, "params", ret->request));
    if (st == AZ_OK && (ret->request == NULL || ret->seen == NULL || ret->fits == NULL))
        return AZ_SERVER_ERROR;
    return st;
}

/* True if the answers to the questions can be checked against the sealed state. */
static bool
fit_state(TALLOC_CTX *mem, const struct asked_questions *questions)
{
    size_t octets = 0;
    for (size_t i = 0; i < questions->count; i++) {
        const char *text = jsonx_dump(mem, questions->item[i].fits);
        octets += text != NULL ? strlen(text) : QUESTION_FORMS_MAX;
    }
    return octets <= QUESTION_FORMS_MAX;
}

enum az_status
questions_read(TALLOC_CTX *mem, const struct question_rules *rules, const json_t *requests,
               struct asked_questions *ret, const char **ret_why)
{
    const char *key;
    json_t *request;
    struct question_reader reader = {.mem = mem, .rules = rules};
    ret->count = 0;
    if (requests != NULL
        && (!json_is_object(requests) || json_object_size(requests) > QUESTIONS_MAX))
        return AZ_INVALID;
    json_object_foreach ((json_t *) (uintptr_t) requests, key, request) {
        reader.ret = &ret->item[ret->count];
        enum az_status st = read_question(&reader, key, request);
        *ret_why = reader.why;
        if (st != AZ_OK)
            return st;
        ret->count++;
    }
    return fit_state(mem, ret) ? AZ_OK : AZ_INVALID;
}

#include "config.h"

#include "gateway/mcp/ask/answer.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/words.h"
#include "gateway/mcp/message/block.h"
#include "gateway/mcp/message/result.h"
#include "gateway/mcp/message/tool_schema.h"

static bool
is_word(const json_t *value)
{
    return json_is_string(value) && json_string_length(value) <= ANSWER_WORD_MAX;
}

/* ---- elicitations */

static const char *
action_of(const json_t *response)
{
    static const char *const actions[] = {"accept", "decline", "cancel", NULL};
    const char *action = json_string_value(json_object_get(response, "action"));
    return words_has(actions, action) ? action : NULL;
}

/* Return the contents of a form without what it did not ask for: a new reference, or NULL. */
static json_t *
asked_content(const json_t *schema, const json_t *content)
{
    const json_t *properties = json_object_get(schema, "properties");
    const char *name;
    json_t *value;
    struct jsonx_build kept = {json_object(), false};
    json_object_foreach ((json_t *) (uintptr_t) content, name, value)
        if (json_object_get(properties, name) != NULL)
            jsonx_set(&kept, name, json_incref(value));
    if (kept.lost)
        json_decref(kept.value);
    return jsonx_built(&kept);
}

static enum az_status
read_filled(TALLOC_CTX *mem, const json_t *fits, const json_t *response, json_t **ret)
{
    const json_t *schema = json_object_get(fits, "schema");
    const json_t *content = json_object_get(response, "content");
    const char *action = action_of(response), *why;
    if (action == NULL)
        return AZ_INVALID;
    if (strcmp(action, "accept") != 0) {
        *ret = json_pack("{s:s}", "action", action);
        return AZ_OK;
    }
    if (!json_is_object(content))
        return AZ_INVALID;
    json_t *kept = jsonx_own(mem, asked_content(schema, content));
    enum az_status st = kept != NULL ? tool_schema_check(mem, schema, kept, &why) : AZ_SERVER_ERROR;
    if (st == AZ_OK)
        *ret = json_pack("{s:s,s:O}", "action", action, "content", kept);
    return st;
}

static enum az_status
read_opened(TALLOC_CTX *mem, const json_t *fits, const json_t *response, json_t **ret)
{
    const char *action = action_of(response);
    (void) mem;
    (void) fits;
    if (action == NULL)
        return AZ_INVALID;
    *ret = json_pack("{s:s}", "action", action);
    return AZ_OK;
}

/* ---- samplings and roots */

static enum az_status
read_sampled(TALLOC_CTX *mem, const json_t *fits, const json_t *response, json_t **ret)
{
    static const char *const roles[] = {"user", "assistant", NULL};
    static const char *const types[] = {"text", "image", "audio", NULL};
    json_t *content = json_object_get(response, "content");
    json_t *reason = json_object_get(response, "stopReason");
    const char *role = json_string_value(json_object_get(response, "role"));
    const char *type = json_string_value(json_object_get(content, "type"));
    (void) fits;
    if (!words_has(roles, role) || !words_has(types, type) || !mcp_content_is_sound(mem, content)
        || !is_word(json_object_get(response, "model")) || (reason != NULL && !is_word(reason)))
        return AZ_INVALID;
    *ret = json_pack("{s:s,s:O,s:O,s:O*}", "role", role, "content", content, "model",
                     json_object_get(response, "model"), "stopReason", reason);
    return AZ_OK;
}

/* Return one root directory: a new reference, or NULL if the item is not a valid root. */
static json_t *
shown_root(const json_t *root)
{
    static const char scheme[] = "file://";
    const json_t *uri = json_object_get(root, "uri"), *name = json_object_get(root, "name");
    if (!json_is_string(uri) || json_string_length(uri) > ANSWER_URI_MAX
        || strncmp(json_string_value(uri), scheme, sizeof(scheme) - 1) != 0
        || (name != NULL && !is_word(name)))
        return NULL;
    return json_pack("{s:O,s:O*}", "uri", uri, "name", name);
}

static enum az_status
read_rooted(TALLOC_CTX *mem, const json_t *fits, const json_t *response, json_t **ret)
{
    const json_t *roots = json_object_get(response, "roots"), *root;
    struct jsonx_build kept = {jsonx_own(mem, json_array()), false};
    size_t index;
    (void) fits;
    if (!json_is_array(roots) || json_array_size(roots) > ANSWER_ROOTS_MAX)
        return AZ_INVALID;
    json_array_foreach (roots, index, root) {
        json_t *one = shown_root(root);
        if (one == NULL)
            return AZ_INVALID;
        jsonx_append(&kept, one);
    }
    *ret = jsonx_built(&kept) != NULL ? json_pack("{s:O}", "roots", kept.value) : NULL;
    return AZ_OK;
}

/* ---- all */

enum az_status
answer_read(TALLOC_CTX *mem, const json_t *fits, const json_t *response, json_t **ret)
{
    static const struct {
        const char *kind;
        enum az_status (*read)(TALLOC_CTX *mem, const json_t *fits, const json_t *response,
                               json_t **ret);
    } readers[] = {
        {"form",     read_filled },
        {"url",      read_opened },
        {"sampling", read_sampled},
        {"roots",    read_rooted },
    };
    const char *kind = json_string_value(json_object_get(fits, "kind"));
    for (size_t i = 0; kind != NULL && i < sizeof(readers) / sizeof(readers[0]); i++)
        if (strcmp(readers[i].kind, kind) == 0) {
            json_t *made = NULL;
            enum az_status st = readers[i].read(mem, fits, response, &made);
            if (st != AZ_OK)
                return st;
            *ret = jsonx_own(mem, made);
            return *ret != NULL ? AZ_OK : AZ_SERVER_ERROR;
        }
    return AZ_INVALID;
}

enum az_status
answers_read(TALLOC_CTX *mem, const json_t *questions, const json_t *responses, json_t **ret,
             const char **ret_key)
{
    const char *key;
    json_t *fits;
    struct jsonx_build kept = {jsonx_own(mem, json_object()), false};
    *ret_key = NULL;
    if (!json_is_object(responses))
        return AZ_INVALID;
    json_object_foreach ((json_t *) (uintptr_t) questions, key, fits) {
        const json_t *response = json_object_get(responses, key);
        json_t *answer = NULL;
        enum az_status st =
            response != NULL ? answer_read(mem, fits, response, &answer) : AZ_NOT_FOUND;
        *ret_key = key;
        if (st == AZ_OK)
            jsonx_set(&kept, key, json_incref(answer));
        else if (st != AZ_NOT_FOUND)
            return st;
    }
    *ret_key = NULL;
    *ret = jsonx_built(&kept);
    const char *text = *ret != NULL ? jsonx_dump(mem, *ret) : NULL;
    if (text == NULL)
        return AZ_SERVER_ERROR;
    return strlen(text) <= ANSWERS_OCTETS_MAX ? AZ_OK : AZ_INVALID;
}

#include "config.h"

#include "gateway/mcp/tools/arguments.h"

#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/json/jsonx.h"
#include "base/query.h"
#include "base/words.h"

/* The state of placing the arguments of one call. */
struct placing {
    TALLOC_CTX *mem;
    const json_t *arguments;
    const char *why; /* fault for the model */
    struct jsonx_build path, fields;
    struct buf query;
};

/* Return the text of a string, number or boolean, on mem, or NULL if it has another type or out of
 * memory. */
static const char *
scalar_text(struct placing *it, const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    return json_is_number(value) || json_is_boolean(value) ? jsonx_dump(it->mem, value) : NULL;
}

static enum az_status
refuse_argument(struct placing *it, const char *name, const char *why)
{
    it->why = talloc_asprintf(it->mem, "The argument %s %s", name, why);
    return it->why != NULL ? AZ_INVALID : AZ_SERVER_ERROR;
}

static enum az_status
place_path(struct placing *it, const char *name, const json_t *value)
{
    const char *text = scalar_text(it, value);
    if (text == NULL || *text == '\0')
        return refuse_argument(it, name, "must be a text or a number that is not empty");
    jsonx_set(&it->path, name, json_string(text));
    return AZ_OK;
}

static enum az_status
append_pair(struct placing *it, const char *name, const char *text)
{
    const char *left = query_escape(it->mem, name), *right = query_escape(it->mem, text);
    if (left == NULL || right == NULL)
        return AZ_SERVER_ERROR;
    return buf_append_format(&it->query, "%s%s=%s", it->query.len > 0 ? "&" : "", left, right);
}

/* A list is sent as several parameters of the same name. */
static enum az_status
place_query(struct placing *it, const char *name, const json_t *value)
{
    size_t index = 0;
    const json_t *item = value;
    enum az_status st = AZ_OK;
    do {
        const char *text;
        if (json_is_array(value) && (item = json_array_get(value, index++)) == NULL)
            break;
        text = scalar_text(it, item);
        if (text == NULL)
            return refuse_argument(it, name, "must be a text, a number, or a list of them");
        st = append_pair(it, name, text);
    } while (st == AZ_OK && json_is_array(value));
    return st == AZ_INVALID ? refuse_argument(it, name, "makes the address too long") : st;
}

/* A value with a line end would be a second header field, or a second request. */
static enum az_status
place_field(struct placing *it, const char *name, const json_t *value)
{
    const char *text = scalar_text(it, value);
    if (text == NULL)
        return refuse_argument(it, name, "must be a text or a number");
    for (const char *c = text; *c != '\0'; c++)
        if ((unsigned char) *c < ' ' || *c == 0x7f)
            return refuse_argument(it, name, "must not have control characters");
    jsonx_set(&it->fields, name, json_string(text));
    return AZ_OK;
}

/* The lists of `args`, and where the arguments that they name go. */
static const struct {
    const char *list;
    enum az_status (*place)(struct placing *it, const char *name, const json_t *value);
} places[] = {
    {"path",   place_path },
    {"query",  place_query},
    {"header", place_field},
};
#define PLACES (sizeof(places) / sizeof(places[0]))

/* Place the arguments of one list; null counts as absent. The values of a path are needed, and the
 * route finds out if one is missing. */
static enum az_status
place_list(struct placing *it, size_t place, const json_t *names)
{
    size_t index;
    const json_t *name;
    enum az_status st = AZ_OK;
    json_array_foreach (names, index, name) {
        const char *text = json_string_value(name);
        const json_t *value = text != NULL ? json_object_get(it->arguments, text) : NULL;
        if (st == AZ_OK && value != NULL && !json_is_null(value))
            st = places[place].place(it, text, value);
    }
    return st;
}

/* True if an argument goes to the path, the query or the header. */
static bool
stands_elsewhere(const json_t *args, const char *name)
{
    for (size_t i = 0; i < PLACES; i++)
        if (words_array_has(json_object_get(args, places[i].list), name))
            return true;
    return false;
}

/* Build the body: an object of the arguments that it takes. */
static enum az_status
place_body(struct placing *it, const json_t *args, struct tool_request *ret)
{
    const json_t *body = json_object_get(args, "body");
    bool rest = json_is_string(body) && strcmp(json_string_value(body), "*") == 0;
    struct jsonx_build object = {jsonx_own(it->mem, json_object()), false};
    const char *name;
    json_t *value;
    if (!rest && !json_is_array(body))
        return AZ_OK;
    json_object_foreach ((json_t *) (uintptr_t) it->arguments, name, value)
        if (rest ? !stands_elsewhere(args, name) : words_array_has(body, name))
            jsonx_set(&object, name, json_incref(value));
    if ((ret->body = jsonx_dump(it->mem, jsonx_built(&object))) == NULL)
        return AZ_SERVER_ERROR;
    ret->body_length = strlen(ret->body);
    return AZ_OK;
}

enum az_status
arguments_place(TALLOC_CTX *mem, const json_t *args, const json_t *arguments,
                struct tool_request *ret, const char **ret_why)
{
    struct placing it = {
        .mem = mem,
        .arguments = arguments,
        .path = {jsonx_own(mem, json_object()), false},
        .fields = {jsonx_own(mem, json_object()), false}
    };
    struct tool_request request = {.body = NULL};
    enum az_status st = AZ_OK;
    buf_init(&it.query, mem, ARGUMENTS_QUERY_MAX);
    for (size_t i = 0; st == AZ_OK && i < PLACES; i++)
        st = place_list(&it, i, json_object_get(args, places[i].list));
    if (st == AZ_OK)
        st = place_body(&it, args, &request);
    if (st == AZ_INVALID)
        *ret_why = it.why;
    if (st != AZ_OK)
        return st;
    request.path = jsonx_built(&it.path);
    request.fields = jsonx_built(&it.fields);
    request.query = buf_take(&it.query, NULL);
    if (request.path == NULL || request.fields == NULL || request.query == NULL)
        return AZ_SERVER_ERROR;
    *ret = request;
    return AZ_OK;
}

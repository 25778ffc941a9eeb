#include "config.h"

#include <string.h>
#include <strings.h>

#include "base/json/field_rules.h"
#include "base/utf8.h"
#include "base/words.h"
#include "managed/import/openapi_private.h"
#include "managed/pattern.h"

/* Objects that one request body merges with allOf. */
#define BODY_PARTS_MAX 16
/* Properties of a body, and names that it requires; each is looked up in a list. */
#define BODY_PROPERTIES_MAX 500

static const struct {
    const char *in, *style;
} openapi_places[PLACES] = {
    [PLACE_PATH] = {"path",   "simple"},
    [PLACE_QUERY] = {"query",  "form"  },
    [PLACE_HEADER] = {"header", "simple"},
};

/* OpenAPI 3.x: "the parameter definition SHALL be ignored". */
static const char *const ignored_fields[] = {"accept", "content-type", "authorization", NULL};

static bool
is_ignored(const char *name)
{
    for (size_t i = 0; ignored_fields[i] != NULL; i++)
        if (strcasecmp(name, ignored_fields[i]) == 0)
            return true;
    return false;
}

const char *
openapi_place_word(enum place place)
{
    return openapi_places[place].in;
}

json_t *
openapi_cut_text(struct openapi_state *state, const json_t *value, size_t max)
{
    const char *text = json_string_value(value), *end = text;
    unsigned point;
    for (size_t count = 0; text != NULL && *end != '\0' && count < max; count++)
        end += utf8_step(end, &point);
    if (text == NULL || end == text)
        return NULL;
    json_t *cut = json_stringn(text, (size_t) (end - text));
    state->tools.lost = state->tools.lost || cut == NULL;
    return cut;
}

/* ---- parameters */

static bool
build_has(const struct jsonx_build *list, const char *name)
{
    return words_array_has(list->value, name);
}

/* Return the fault of the members of a parameter, or NULL if there is none. */
static const char *
parameter_fault(struct operation *operation, const json_t *parameter, enum place place)
{
    const char *name = json_string_value(json_object_get(parameter, "name"));
    const char *style = json_string_value(json_object_get(parameter, "style"));
    if (name == NULL || *name == '\0' || strlen(name) > MANAGED_WORD_MAX)
        return "must have a name of at most 128 octets";
    if (place == PLACES)
        return "must be in path, query or header; cookies are not imported";
    if ((style != NULL && strcmp(style, openapi_places[place].style) != 0)
        || json_object_get(parameter, "content") != NULL
        || (place == PLACE_QUERY && json_is_false(json_object_get(parameter, "explode"))))
        return "has a style, content or explode that is not imported";
    if (place == PLACE_PATH && !managed_pattern_has(&operation->pattern, name))
        return "is not in the path";
    if (place == PLACE_HEADER)
        return header_forward_rule(operation->state->mem, json_object_get(parameter, "name"));
    return NULL;
}

static enum place
parameter_place(const json_t *parameter)
{
    const char *in = json_string_value(json_object_get(parameter, "in"));
    enum place place = PLACE_PATH;
    while (place < PLACES && (in == NULL || strcmp(in, openapi_places[place].in) != 0))
        place++;
    return place;
}

/* Add a parameter to the arguments of the tool. */
static void
add_parameter(struct operation *operation, const char *member, const json_t *parameter)
{
    struct openapi_schemas *schemas = &operation->state->schemas;
    const char *name = json_string_value(json_object_get(parameter, "name"));
    enum place place = parameter_place(parameter);
    if (place == PLACE_HEADER && name != NULL && is_ignored(name))
        return;
    const char *why = parameter_fault(operation, parameter, place);
    if (why == NULL && json_object_get(operation->properties.value, name) != NULL)
        why = "has the name of another parameter";
    if (why != NULL) {
        openapi_tell_in(operation, member, why);
        return;
    }
    const json_t *given = json_object_get(parameter, "schema");
    json_t *schema = given != NULL ? openapi_schema(schemas, given) : json_object();
    if (schema == NULL) {
        operation->state->tools.lost |= schemas->why == NULL;
        if (schemas->why != NULL)
            openapi_tell_in(operation, member, schemas->why);
        return;
    }
    json_t *description = openapi_cut_text(
        operation->state, json_object_get(parameter, "description"), MANAGED_TEXT_MAX);
    struct jsonx_build described = {schema, false};
    if (json_is_object(schema) && description != NULL
        && json_object_get(schema, "description") == NULL)
        jsonx_set(&described, "description", json_incref(description));
    json_decref(description);
    operation->state->tools.lost |= described.lost;
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (place == PLACE_QUERY && type != NULL && strcmp(type, "array") == 0)
        jsonx_append(&operation->repeat, json_string(name));
    jsonx_set(&operation->properties, name, schema);
    jsonx_append(&operation->args[place], json_string(name));
    if (place == PLACE_PATH || json_is_true(json_object_get(parameter, "required")))
        jsonx_append(&operation->required, json_string(name));
}

/* True if the operation replaces a parameter of its path item. */
static bool
is_replaced(struct operation *operation, const json_t *parameter)
{
    const json_t *own = json_object_get(operation->object, "parameters"), *name;
    json_t *item;
    size_t index;
    json_array_foreach (own, index, item) {
        if (index == OPENAPI_PARAMETERS_MAX)
            break;
        const json_t *other = openapi_follow(&operation->state->schemas, item);
        name = json_object_get(other, "name");
        if (name != NULL && json_equal(name, json_object_get(parameter, "name"))
            && parameter_place(other) == parameter_place(parameter))
            return true;
    }
    return false;
}

/* Read the parameters of the operation, or the shared ones of its path item. */
static void
read_parameters(struct operation *operation, const json_t *list, bool shared)
{
    struct openapi_schemas *schemas = &operation->state->schemas;
    json_t *item;
    size_t index;
    if (list != NULL && (!json_is_array(list) || json_array_size(list) > OPENAPI_PARAMETERS_MAX)) {
        openapi_tell_in(operation, "parameters", "must be an array of at most 100 parameters");
        return;
    }
    json_array_foreach (list, index, item) {
        const char *member = field_fault_text(operation->state->mem, "parameters[%zu]", index);
        const json_t *parameter = openapi_follow(schemas, item);
        if (parameter == NULL)
            openapi_tell_in(operation, member, schemas->why);
        else if (!shared || !is_replaced(operation, parameter))
            add_parameter(operation, member, parameter);
    }
}

static void
check_variables(struct operation *operation)
{
    for (size_t i = 0; i < operation->pattern.count; i++) {
        const struct managed_segment *segment = &operation->pattern.segment[i];
        if (segment->variable && !build_has(&operation->args[PLACE_PATH], segment->text))
            openapi_tell_in(operation, "parameters", "must have each variable of the path");
    }
}

/* ---- the body */

/* Add the members of an object schema without references to the arguments. A member that has the
 * name of a parameter is the same argument: it stands in both places. Return false if the schema is
 * not that of an object. */
static bool
merge_body(struct operation *operation, const json_t *schema, bool required, unsigned *parts)
{
    const json_t *type = json_object_get(schema, "type"), *all = json_object_get(schema, "allOf");
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *more = json_object_get(schema, "additionalProperties");
    const char *word = json_string_value(type), *name;
    json_t *member;
    size_t index;
    if ((*parts)++ == BODY_PARTS_MAX
        || (type != NULL && (word == NULL || strcmp(word, "object") != 0))
        || (type == NULL && all == NULL && properties == NULL)
        || json_array_size(operation->body) + json_object_size(properties) > BODY_PROPERTIES_MAX
        || json_array_size(operation->required.value)
                   + json_array_size(json_object_get(schema, "required"))
               > BODY_PROPERTIES_MAX
        || json_object_get(schema, "oneOf") != NULL || json_object_get(schema, "anyOf") != NULL)
        return false;
    json_array_foreach (all, index, member)
        if (!merge_body(operation, member, required, parts))
            return false;
    json_object_foreach ((json_t *) (uintptr_t) properties, name, member) {
        if (json_object_get(operation->properties.value, name) == NULL)
            jsonx_set(&operation->properties, name, json_incref(member));
        if (!words_array_has(operation->body, name)
            && json_array_append_new(operation->body, json_string(name)) != 0)
            operation->properties.lost = true;
    }
    if (required)
        json_array_foreach (json_object_get(schema, "required"), index, member)
            if (json_is_string(member)
                && !build_has(&operation->required, json_string_value(member)))
                jsonx_append(&operation->required, json_incref(member));
    if (json_is_true(more) || json_is_object(more) || (properties == NULL && all == NULL))
        operation->closed = false;
    return true;
}

static void
read_request_body(struct operation *operation)
{
    struct openapi_schemas *schemas = &operation->state->schemas;
    const json_t *given = json_object_get(operation->object, "requestBody"), *media;
    unsigned parts = 0;
    if (given == NULL)
        return;
    const json_t *body = openapi_follow(schemas, given);
    if (body == NULL) {
        openapi_tell_in(operation, "requestBody", schemas->why);
        return;
    }
    media = json_object_get(json_object_get(body, "content"), "application/json");
    if (media == NULL) {
        openapi_tell_in(operation, "requestBody",
                        "has no content of the type application/json; other "
                        "bodies are not imported");
        return;
    }
    json_t *schema = json_object_get(media, "schema") != NULL
                         ? openapi_schema(schemas, json_object_get(media, "schema"))
                         : json_pack("{s:s}", "type", "object");
    operation->body = json_array();
    if (schema == NULL)
        openapi_tell_in(operation, "requestBody",
                        schemas->why != NULL ? schemas->why : "cannot be read");
    else if (!merge_body(operation, schema, json_is_true(json_object_get(body, "required")),
                         &parts))
        openapi_tell_in(operation, "requestBody",
                        "must be an object with at most 500 properties, without oneOf and anyOf");
    json_decref(schema);
    if (!operation->closed || json_array_size(operation->body) > MANAGED_NAMES_MAX) {
        json_decref(operation->body);
        operation->body = json_string("*");
    }
}

void
openapi_read_arguments(struct operation *operation, const json_t *item)
{
    read_parameters(operation, json_object_get(item, "parameters"), true);
    read_parameters(operation, json_object_get(operation->object, "parameters"), false);
    check_variables(operation);
    read_request_body(operation);
}

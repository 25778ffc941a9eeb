#include "config.h"

#include "managed/openapi.h"

#include <string.h>
#include <strings.h>

#include "base/field_rules.h"
#include "base/jsonx.h"
#include "base/words.h"
#include "managed/names.h"
#include "managed/openapi_schema.h"
#include "managed/pattern.h"

/* Octets of a path that a fault shows. */
#define KEY_SHOWN 200
/* Faults of one document that are told; a person mends these first. */
#define FAULTS_MAX 20
/* Objects that one request body merges with allOf. */
#define BODY_PARTS_MAX 16
/* Properties of one such object; each is looked up in a list. */
#define BODY_PROPERTIES_MAX 500

/* One reading. */
struct openapi_state {
    const struct openapi_reading *reading;
    TALLOC_CTX *mem;
    struct openapi_schemas schemas;
    struct jsonx_build routes, tools;
    struct jsonx_build shapes; /* object: paths with their variables as {} */
    struct jsonx_build ids;    /* object: ids of routes */
    bool faulty;
    size_t faults;
};

/* The operation that is being read. */
struct operation {
    struct openapi_state *state;
    const char *at; /* "paths./pets.get." */
    const char *path;
    struct managed_pattern pattern;
    const json_t *object;
    struct jsonx_build args[3]; /* lists of names, one for each place */
    struct jsonx_build properties, required;
    json_t *body; /* names of its members, or "*"; a new reference; NULL: no body */
    bool closed;  /* no other arguments */
};

/* Methods that are read, and the hint of MCP about a tool. */
static const struct openapi_method {
    const char *member, *method, *hint;
} openapi_methods[] = {
    {"get",    "GET",    "readOnlyHint"   },
    {"put",    "PUT",    "idempotentHint" },
    {"post",   "POST",   NULL             },
    {"delete", "DELETE", "destructiveHint"},
    {"patch",  "PATCH",  NULL             },
};
#define METHODS (sizeof(openapi_methods) / sizeof(openapi_methods[0]))

enum place { PLACE_PATH, PLACE_QUERY, PLACE_HEADER, PLACES };
static const struct {
    const char *in, *style;
} openapi_places[PLACES] = {
    [PLACE_PATH] = {"path",   "simple"},
    [PLACE_QUERY] = {"query",  "form"  },
    [PLACE_HEADER] = {"header", "simple"},
};

/* Members of a path item that mean nothing here. */
static const char *const path_words[] = {"summary", "description", "parameters", NULL};
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

static void
openapi_tell(struct openapi_state *state, const char *place, const char *why)
{
    state->faulty = true;
    if (state->reading->fault != NULL && state->faults++ < FAULTS_MAX)
        state->reading->fault(state->reading->fault_arg, place, why);
}

static void
tell_in(struct operation *operation, const char *member, const char *why)
{
    TALLOC_CTX *mem = operation->state->mem;
    openapi_tell(operation->state, field_fault_text(mem, "%s%s", operation->at, member), why);
}

static bool
is_extension(const char *name)
{
    return strncmp(name, "x-", 2) == 0;
}

/* Return a text cut to a number of code points, a new reference; NULL: it is none. */
static json_t *
cut_text(const json_t *value, size_t max)
{
    const char *text = json_string_value(value), *end = text;
    for (size_t count = 0; text != NULL && *end != '\0'; end++)
        if (((unsigned char) *end & 0xc0) != 0x80 && count++ == max)
            break;
    return text != NULL && end > text ? json_stringn(text, (size_t) (end - text)) : NULL;
}

/* ---- parameters */

static bool
build_has(const struct jsonx_build *list, const char *name)
{
    return words_array_has(list->value, name);
}

/* Return the fault of the members of a parameter; NULL: there is none. */
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
place_of(const json_t *parameter)
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
    enum place place = place_of(parameter);
    if (place == PLACE_HEADER && name != NULL && is_ignored(name))
        return;
    const char *why = parameter_fault(operation, parameter, place);
    if (why == NULL && json_object_get(operation->properties.value, name) != NULL)
        why = "has the name of another parameter";
    if (why != NULL) {
        tell_in(operation, member, why);
        return;
    }
    const json_t *given = json_object_get(parameter, "schema");
    json_t *schema = given != NULL ? openapi_schema(schemas, given) : json_object();
    if (schema == NULL) {
        tell_in(operation, member, schemas->why != NULL ? schemas->why : "cannot be read");
        return;
    }
    json_t *description = cut_text(json_object_get(parameter, "description"), MANAGED_TEXT_MAX);
    if (json_is_object(schema) && description != NULL
        && json_object_get(schema, "description") == NULL)
        json_object_set(schema, "description", description);
    json_decref(description);
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
            && place_of(other) == place_of(parameter))
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
        tell_in(operation, "parameters", "must be an array of at most 100 parameters");
        return;
    }
    json_array_foreach (list, index, item) {
        const char *member = field_fault_text(operation->state->mem, "parameters[%zu]", index);
        const json_t *parameter = openapi_follow(schemas, item);
        if (parameter == NULL)
            tell_in(operation, member, schemas->why);
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
            tell_in(operation, "parameters", "must have each variable of the path");
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
        || json_object_size(properties) > BODY_PROPERTIES_MAX
        || json_array_size(json_object_get(schema, "required")) > BODY_PROPERTIES_MAX
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
read_body(struct operation *operation)
{
    struct openapi_schemas *schemas = &operation->state->schemas;
    const json_t *given = json_object_get(operation->object, "requestBody"), *media;
    unsigned parts = 0;
    if (given == NULL)
        return;
    const json_t *body = openapi_follow(schemas, given);
    if (body == NULL) {
        tell_in(operation, "requestBody", schemas->why);
        return;
    }
    media = json_object_get(json_object_get(body, "content"), "application/json");
    if (media == NULL) {
        tell_in(operation, "requestBody",
                "has no content of the type application/json; other "
                "bodies are not imported");
        return;
    }
    json_t *schema = json_object_get(media, "schema") != NULL
                         ? openapi_schema(schemas, json_object_get(media, "schema"))
                         : json_pack("{s:s}", "type", "object");
    operation->body = json_array();
    if (schema == NULL)
        tell_in(operation, "requestBody", schemas->why != NULL ? schemas->why : "cannot be read");
    else if (!merge_body(operation, schema, json_is_true(json_object_get(body, "required")),
                         &parts))
        tell_in(operation, "requestBody",
                "must be an object with at most 500 properties, without oneOf and anyOf");
    json_decref(schema);
    if (!operation->closed || json_array_size(operation->body) > MANAGED_NAMES_MAX) {
        json_decref(operation->body);
        operation->body = json_string("*");
    }
}

/* ---- the route and the tool */

/* Return the id of an operation, on mem: letters, digits, "_" and "-", at most 64. NULL: no memory.
 */
static const char *
operation_id(struct operation *operation, const struct openapi_method *method)
{
    TALLOC_CTX *mem = operation->state->mem;
    const char *given = json_string_value(json_object_get(operation->object, "operationId"));
    if (given == NULL || *given == '\0')
        given = talloc_asprintf(mem, "%s%s", method->member, operation->path);
    return given != NULL ? managed_exposed_name(mem, NULL, given) : NULL;
}

static void
emit_route(struct operation *operation, const struct openapi_method *method, const char *id)
{
    struct openapi_state *state = operation->state;
    const char *scope = state->reading->write_scope;
    struct jsonx_build route = {json_pack("{s:s,s:s,s:[s],s:s,s:{s:O}}", "id", id, "origin",
                                          "manifest", "methods", method->method, "path",
                                          operation->path, "query", "allow",
                                          operation->args[PLACE_QUERY].value),
                                false};
    if (json_array_size(operation->args[PLACE_HEADER].value) > 0)
        jsonx_set(&route, "forwardHeaders", json_incref(operation->args[PLACE_HEADER].value));
    if (scope != NULL && strcmp(method->method, "GET") != 0)
        jsonx_set(&route, "scopes", json_pack("[s]", scope));
    jsonx_append(&state->routes, route.lost ? NULL : route.value);
}

static void
emit_tool(struct operation *operation, const struct openapi_method *method, const char *id)
{
    struct openapi_state *state = operation->state;
    const json_t *summary = json_object_get(operation->object, "summary");
    json_t *title = cut_text(summary, FIELD_NAME_MAX);
    json_t *description =
        cut_text(json_object_get(operation->object, "description"), MANAGED_TEXT_MAX);
    struct jsonx_build args = {json_object(), false};
    struct jsonx_build schema = {json_pack("{s:s,s:O,s:O}", "type", "object", "properties",
                                           operation->properties.value, "required",
                                           operation->required.value),
                                 false};
    if (description == NULL)
        description = cut_text(summary, MANAGED_TEXT_MAX);
    if (operation->closed)
        jsonx_set(&schema, "additionalProperties", json_false());
    for (size_t i = 0; i < PLACES; i++)
        jsonx_set(&args, openapi_places[i].in, json_incref(operation->args[i].value));
    if (operation->body != NULL)
        jsonx_set(&args, "body", json_incref(operation->body));
    struct jsonx_build tool = {json_pack("{s:s,s:s,s:s,s:o,s:o}", "name", id, "origin", "manifest",
                                         "route", id, "inputSchema", schema.value, "args",
                                         args.value),
                               false};
    if (title != NULL)
        jsonx_set(&tool, "title", title);
    if (description != NULL)
        jsonx_set(&tool, "description", description);
    if (method->hint != NULL)
        jsonx_set(&tool, "annotations", json_pack("{s:b}", method->hint, 1));
    state->tools.lost = state->tools.lost || schema.lost || args.lost || tool.lost;
    jsonx_append(&state->tools, tool.value);
}

/* Check that no other operation has the id, and add the route and the tool. */
static void
emit(struct operation *operation, const struct openapi_method *method)
{
    struct openapi_state *state = operation->state;
    const char *id = operation_id(operation, method);
    if (id == NULL) {
        state->routes.lost = true;
    } else if (json_object_get(state->ids.value, id) != NULL) {
        tell_in(operation, "operationId",
                field_fault_text(state->mem, "makes the id %s, which another operation has", id));
    } else if (json_object_size(state->ids.value) == OPENAPI_OPERATIONS_MAX) {
        if (!state->faulty)
            openapi_tell(state, "paths", "must have at most 500 operations");
    } else {
        jsonx_set(&state->ids, id, json_true());
        emit_route(operation, method, id);
        emit_tool(operation, method, id);
    }
}

static void
refuse_members(struct operation *operation)
{
    static const char *const refused[] = {"callbacks", "servers", NULL};
    for (size_t i = 0; refused[i] != NULL; i++) {
        const json_t *value = json_object_get(operation->object, refused[i]);
        if (json_object_size(value) + json_array_size(value) > 0)
            tell_in(operation, refused[i], "is not imported");
    }
}

static void
read_operation(struct openapi_state *state, struct operation *operation, const json_t *item,
               const struct openapi_method *method)
{
    struct jsonx_build *builds[] = {&operation->args[0], &operation->args[1], &operation->args[2],
                                    &operation->required, &operation->properties};
    for (size_t i = 0; i < 5; i++)
        *builds[i] = (struct jsonx_build){
            jsonx_own(state->mem, i < 4 ? json_array() : json_object()), false};
    operation->closed = true;
    operation->body = NULL;
    if (!json_is_object(operation->object)) {
        tell_in(operation, "operation", "must be an object");
        return;
    }
    refuse_members(operation);
    read_parameters(operation, json_object_get(item, "parameters"), true);
    read_parameters(operation, json_object_get(operation->object, "parameters"), false);
    check_variables(operation);
    read_body(operation);
    if (!state->faulty)
        emit(operation, method);
    for (size_t i = 0; i < 5; i++)
        state->tools.lost = state->tools.lost || jsonx_built(builds[i]) == NULL;
    json_decref(operation->body);
}

/* ---- paths */

/* Return the place of a path, on mem. A key that people cannot read is shown by its number. */
static const char *
path_place(struct openapi_state *state, const char *key, size_t number)
{
    for (const char *c = key; *c != '\0'; c++)
        if ((unsigned char) *c <= ' ' || (unsigned char) *c >= 0x7f)
            return field_fault_text(state->mem, "paths[%zu]", number);
    return field_fault_text(state->mem, "paths.%.*s", KEY_SHOWN, key);
}

/* Check that no other path has the same form: one of the two would never be reached. */
static bool
is_new_shape(struct openapi_state *state, const struct managed_pattern *pattern)
{
    const char *shape = talloc_strdup(state->mem, "");
    for (size_t i = 0; shape != NULL && i < pattern->count; i++)
        shape = talloc_asprintf(state->mem, "%s/%s", shape,
                                pattern->segment[i].variable ? "{}" : pattern->segment[i].text);
    state->shapes.lost = state->shapes.lost || shape == NULL;
    if (shape == NULL || json_object_get(state->shapes.value, shape) != NULL)
        return false;
    jsonx_set(&state->shapes, shape, json_true());
    return true;
}

static const char *
path_fault(struct openapi_state *state, const char *key, const json_t *item,
           struct managed_pattern *ret)
{
    const char *why = NULL;
    if (strlen(key) > MANAGED_PATTERN_MAX)
        return "is longer than 1024 octets";
    if (managed_pattern_read(state->mem, key, ret, &why) != AZ_OK)
        return why != NULL ? why : "cannot be read";
    if (ret->rest)
        return "must not end with /**, which would open every path below it";
    if (!json_is_object(item) || json_object_get(item, "$ref") != NULL)
        return "must be an object without $ref";
    if (json_array_size(json_object_get(item, "servers")) > 0)
        return "has servers of its own, which are not imported";
    return is_new_shape(state, ret) ? NULL : "has the form of another path";
}

/* Tell the members of a path item that are no operations which can be read. */
static void
check_members(struct openapi_state *state, const char *place, const json_t *item)
{
    const char *name;
    json_t *member;
    json_object_foreach ((json_t *) (uintptr_t) item, name, member) {
        bool known = is_extension(name) || words_has(path_words, name)
                     || (strcmp(name, "servers") == 0 && json_array_size(member) == 0);
        for (size_t i = 0; i < METHODS; i++)
            known = known || strcmp(name, openapi_methods[i].member) == 0;
        if (!known)
            openapi_tell(state, place,
                         "has an operation or member that is not imported; get, put, "
                         "post, delete and patch are");
    }
}

static void
read_path(struct openapi_state *state, const char *key, const json_t *item, size_t number)
{
    const char *place = path_place(state, key, number);
    struct operation operation = {.state = state, .path = key};
    const char *why = path_fault(state, key, item, &operation.pattern);
    if (why != NULL) {
        openapi_tell(state, place, why);
        return;
    }
    check_members(state, place, item);
    for (size_t i = 0; i < METHODS; i++) {
        operation.object = json_object_get(item, openapi_methods[i].member);
        operation.at = field_fault_text(state->mem, "%s.%s.", place, openapi_methods[i].member);
        if (operation.object != NULL)
            read_operation(state, &operation, item, &openapi_methods[i]);
    }
}

/* ---- the document */

static const char *
read_server(struct openapi_state *state, const json_t *document)
{
    const json_t *servers = json_object_get(document, "servers");
    const json_t *server = json_array_get(servers, 0);
    const char *url = json_string_value(json_object_get(server, "url"));
    if (servers == NULL)
        return NULL;
    if (json_array_size(servers) != 1 || url == NULL)
        openapi_tell(state, "servers", "must be an array with one server, or be left out");
    else if (strpbrk(url, "{}") != NULL)
        openapi_tell(state, "servers[0].url", "must not have variables");
    return url;
}

static bool
check_head(struct openapi_state *state, const json_t *document)
{
    const char *version = json_string_value(json_object_get(document, "openapi"));
    if (json_dumpb(document, NULL, 0, JSON_COMPACT) > OPENAPI_DOCUMENT_MAX)
        openapi_tell(state, "", "must have at most 524288 octets");
    else if (version == NULL || strncmp(version, "3.", 2) != 0)
        openapi_tell(state, "openapi", "must be version 3");
    else if (json_object_size(json_object_get(document, "paths")) == 0)
        openapi_tell(state, "paths", "must be an object with at least one path");
    return !state->faulty;
}

enum az_status
openapi_read(const struct openapi_reading *reading, struct openapi_import *ret)
{
    TALLOC_CTX *mem = reading->mem;
    struct openapi_state state = {
        .reading = reading,
        .mem = mem,
        .schemas = {.document = reading->document},
        .routes = { jsonx_own(mem, json_array()), false},
        .tools = {                        jsonx_own(mem, json_array()), false},
        .shapes = {                        jsonx_own(mem, json_object()), false},
        .ids = {                        jsonx_own(mem, json_object()), false},
    };
    const char *key;
    json_t *item;
    size_t number = 0;
    if (!check_head(&state, reading->document))
        return AZ_INVALID;
    ret->server = read_server(&state, reading->document);
    json_object_foreach (json_object_get(reading->document, "paths"), key, item) {
        if (!is_extension(key))
            read_path(&state, key, item, number);
        number++;
    }
    if (state.faulty)
        return AZ_INVALID;
    ret->routes = jsonx_built(&state.routes);
    ret->tools = jsonx_built(&state.tools);
    bool lost = state.schemas.lost || jsonx_built(&state.shapes) == NULL
                || jsonx_built(&state.ids) == NULL || ret->routes == NULL || ret->tools == NULL;
    return lost ? AZ_SERVER_ERROR : AZ_OK;
}

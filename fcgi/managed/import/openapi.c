#include "config.h"

#include "managed/import/openapi.h"

#include <string.h>

#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "base/utf8.h"
#include "base/words.h"
#include "managed/import/openapi_private.h"
#include "managed/names.h"
#include "managed/pattern.h"

/* Octets of a path that a fault shows. */
#define KEY_SHOWN 200
/* Maximum of faults of one document that are reported; a person fixes these first. */
#define FAULTS_MAX 20

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

/* Members of a path item that are ignored. */
static const char *const path_words[] = {"summary", "description", "parameters", NULL};

static void
openapi_tell(struct openapi_state *state, const char *place, const char *why)
{
    state->faulty = true;
    if (state->reading->fault != NULL && state->faults++ < FAULTS_MAX)
        state->reading->fault(state->reading->fault_arg, place, why);
}

void
openapi_tell_in(struct operation *operation, const char *member, const char *why)
{
    TALLOC_CTX *mem = operation->state->mem;
    openapi_tell(operation->state, field_fault_text(mem, "%s%s", operation->at, member), why);
}

static bool
is_extension(const char *name)
{
    return strncmp(name, "x-", 2) == 0;
}

/* ---- the route and the tool */

/* Return the id of an operation, on mem: letters, digits, "_" and "-", at most 64, or NULL if out
 * of memory. */
static const char *
operation_id(struct operation *operation, const struct openapi_method *method)
{
    TALLOC_CTX *mem = operation->state->mem;
    const char *given = json_string_value(json_object_get(operation->object, "operationId"));
    if (given == NULL || *given == '\0')
        given = talloc_asprintf(mem, "%s%s", method->member, operation->path);
    return given != NULL ? managed_exposed_name(mem, MANAGED_EXPOSED_MAX, NULL, given) : NULL;
}

static void
emit_route(struct operation *operation, const struct openapi_method *method, const char *id)
{
    struct openapi_state *state = operation->state;
    const char *scope = state->reading->write_scope;
    struct jsonx_build route = {
        jsonx_own(state->mem,
                  json_pack("{s:s,s:s,s:[s],s:s,s:{s:O}}", "id", id, "origin", "manifest",
                            "methods", method->method, "path", operation->path, "query", "allow",
                            operation->args[PLACE_QUERY].value)),
        false};
    if (json_array_size(operation->repeat.value) > 0)
        route.lost |= json_object_set(json_object_get(route.value, "query"), "repeat",
                                      operation->repeat.value)
                      != 0;
    if (json_array_size(operation->args[PLACE_HEADER].value) > 0)
        jsonx_set(&route, "forwardHeaders", json_incref(operation->args[PLACE_HEADER].value));
    if (scope != NULL && strcmp(method->method, "GET") != 0)
        jsonx_set(&route, "scopes", json_pack("[s]", scope));
    jsonx_append(&state->routes, json_incref(jsonx_built(&route)));
}

static void
emit_tool(struct operation *operation, const struct openapi_method *method, const char *id)
{
    struct openapi_state *state = operation->state;
    const json_t *summary = json_object_get(operation->object, "summary");
    json_t *title = openapi_cut_text(state, summary, FIELD_NAME_MAX);
    json_t *description = openapi_cut_text(state, json_object_get(operation->object, "description"),
                                           MANAGED_TEXT_MAX);
    struct jsonx_build args = {json_object(), false};
    struct jsonx_build schema = {json_pack("{s:s,s:O,s:O}", "type", "object", "properties",
                                           operation->properties.value, "required",
                                           operation->required.value),
                                 false};
    if (description == NULL)
        description = openapi_cut_text(state, summary, MANAGED_TEXT_MAX);
    if (operation->closed)
        jsonx_set(&schema, "additionalProperties", json_false());
    for (size_t i = 0; i < PLACES; i++)
        jsonx_set(&args, openapi_place_word((enum place) i), json_incref(operation->args[i].value));
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
        openapi_tell_in(
            operation, "operationId",
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
            openapi_tell_in(operation, refused[i], "is not imported");
    }
}

static void
read_operation(struct openapi_state *state, struct operation *operation, const json_t *item,
               const struct openapi_method *method)
{
    for (size_t i = 0; i < PLACES; i++)
        operation->args[i] = (struct jsonx_build){jsonx_own(state->mem, json_array()), false};
    operation->repeat = (struct jsonx_build){jsonx_own(state->mem, json_array()), false};
    operation->required = (struct jsonx_build){jsonx_own(state->mem, json_array()), false};
    operation->properties = (struct jsonx_build){jsonx_own(state->mem, json_object()), false};
    operation->closed = true;
    operation->body = NULL;
    if (!json_is_object(operation->object)) {
        openapi_tell_in(operation, "operation", "must be an object");
        return;
    }
    refuse_members(operation);
    openapi_read_arguments(operation, item);
    if (!state->faulty)
        emit(operation, method);
    for (size_t i = 0; i < PLACES; i++)
        state->tools.lost |= jsonx_built(&operation->args[i]) == NULL;
    state->tools.lost |= jsonx_built(&operation->required) == NULL
                         || jsonx_built(&operation->repeat) == NULL
                         || jsonx_built(&operation->properties) == NULL;
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
    return field_fault_text(state->mem, "paths.%.*s", UTF8_SHOWN(key, KEY_SHOWN));
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
    if (shape == NULL)
        return true; /* the lack of memory ends the import */
    if (json_object_get(state->shapes.value, shape) != NULL)
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
    if (managed_pattern_read(state->mem, key, ret, &why) != AZ_OK) {
        state->shapes.lost = state->shapes.lost || why == NULL;
        return why; /* NULL: the lack of memory ends the import */
    }
    if (ret->rest)
        return "must not end with /**, which would open every path below it";
    if (!json_is_object(item) || json_object_get(item, "$ref") != NULL)
        return "must be an object without $ref";
    if (json_array_size(json_object_get(item, "servers")) > 0)
        return "has servers of its own, which are not imported";
    return is_new_shape(state, ret) ? NULL : "has the form of another path";
}

/* Report the members of a path item that are neither ignored nor operations that can be read. */
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
    ret->routes = jsonx_built(&state.routes);
    ret->tools = jsonx_built(&state.tools);
    bool lost = state.schemas.lost || jsonx_built(&state.shapes) == NULL
                || jsonx_built(&state.ids) == NULL || ret->routes == NULL || ret->tools == NULL;
    return lost ? AZ_SERVER_ERROR : state.faulty ? AZ_INVALID : AZ_OK;
}

#include "config.h"

#include "http/api/operation.h"

#include <stdio.h>
#include <string.h>

#include "base/words.h"
#include "http/api/api_schema.h"
#include "http/api/failures.h"

#define FORM_TYPE "application/x-www-form-urlencoded"

const char *
api_method(const struct route *route)
{
    static const struct {
        const char *method, *key;
    } methods[] = {
        {"GET",     "get"    },
        {"POST",    "post"   },
        {"PUT",     "put"    },
        {"PATCH",   "patch"  },
        {"DELETE",  "delete" },
        {"HEAD",    "head"   },
        {"OPTIONS", "options"},
    };
    for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
        if (strcmp(methods[i].method, route->method) == 0)
            return methods[i].key;
    return "";
}

/* ---- parameters */

const char *
api_path(TALLOC_CTX *mem, const struct route *route)
{
    size_t length = strcspn(route->path, "*");
    return route->path[length] == '\0'
               ? route->path
               : talloc_asprintf(mem, "%.*s{rest}", (int) length, route->path);
}

/* Append the {name} segments of the path. */
static void
append_path_values(struct jsonx_build *list, const char *path)
{
    for (const char *open = strchr(path, '{'); open != NULL; open = strchr(open + 1, '{')) {
        size_t length = strcspn(open + 1, "}");
        jsonx_append(list, json_pack("{s:s%,s:s,s:b,s:{s:s}}", "name", open + 1, length, "in",
                                     "path", "required", 1, "schema", "type", "string"));
    }
    if (strchr(path, '*') != NULL)
        jsonx_append(list,
                     json_pack("{s:s,s:s,s:b,s:s,s:{s:s}}", "name", "rest", "in", "path",
                               "required", 1, "description",
                               "The rest of the path, which may have several segments or none",
                               "schema", "type", "string"));
}

/* Return the texts that a parameter may have; NULL: any. An empty one counts as none, except at the
 * admin API (oauth.md C4). */
static json_t *
param_words(const struct route_param *param, bool admin)
{
    json_t *words = param->words != NULL ? words_array(param->words) : NULL;
    if (words != NULL && !param->required && !admin
        && json_array_append_new(words, json_string("")) != 0) {
        json_decref(words);
        return NULL;
    }
    return words;
}

/* Return the schema of the value of a parameter, without its meaning. */
static json_t *
param_schema(const struct route_param *param, bool admin)
{
    if (param->repeatable)
        return json_pack("{s:s,s:{s:s}}", "type", "array", "items", "type", "string");
    if (param->max > 0)
        return json_pack("{s:s,s:s,s:I,s:o*}", "type", "integer", "format", "int64", "minimum",
                         (json_int_t) param->min, "maximum",
                         param->max != INT64_MAX ? json_integer((json_int_t) param->max) : NULL);
    return json_pack("{s:s,s:o*,s:o*}", "type", "string", "enum", param_words(param, admin),
                     "minLength", admin && param->words == NULL ? json_integer(1) : NULL);
}

/* Return the schema of a form parameter with its meaning: a new reference; NULL: no memory. */
static json_t *
api_param_schema(const struct route_param *param)
{
    struct jsonx_build schema = {param_schema(param, false), false};
    if (param->help != NULL)
        jsonx_set(&schema, "description", json_string(param->help));
    if (schema.lost)
        json_decref(schema.value);
    return jsonx_built(&schema);
}

static bool
takes_query(const struct route *route)
{
    return route->params != NULL && route->body != BODY_FORM && route->body != BODY_FORM_LENIENT
           && route->body != BODY_FORM_FAULTS;
}

/* Return the parameters of path and query, or NULL if there are none. */
static json_t *
operation_parameters(struct api_parts *parts, const struct route *route)
{
    struct jsonx_build list = {json_array(), false};
    append_path_values(&list, route->path);
    for (const struct route_param *param = takes_query(route) ? route->params : NULL;
         param != NULL && param->name != NULL; param++)
        jsonx_append(&list,
                     json_pack("{s:s,s:s,s:b,s:s*,s:o}", "name", param->name, "in", "query",
                               "required", param->required, "description", param->help, "schema",
                               param_schema(param, route->dialect == DIALECT_ADMIN)));
    parts->schemas.lost = parts->schemas.lost || list.lost;
    if (json_array_size(list.value) > 0)
        return list.value;
    json_decref(list.value);
    return NULL;
}

/* ---- the body */

json_t *
api_form_begin(void)
{
    return json_pack("{s:s,s:{},s:[]}", "type", "object", "properties", "required");
}

void
api_form_add(struct jsonx_build *form, const struct route_param *param)
{
    struct jsonx_build members = {json_object_get(form->value, "properties"), false},
                       required = {json_object_get(form->value, "required"), false};
    jsonx_set(&members, param->name, api_param_schema(param));
    if (param->required)
        jsonx_append(&required, json_string(param->name));
    form->lost = form->lost || members.lost || required.lost;
}

static json_t *
form_schema(const struct route_param *params)
{
    struct jsonx_build form = {api_form_begin(), false};
    for (; params != NULL && params->name != NULL; params++)
        api_form_add(&form, params);
    if (form.lost)
        json_decref(form.value);
    return jsonx_built(&form);
}

/* True if the body may not be left out: a form has a required parameter, which each grant has. */
static bool
needs_form(const struct route *route)
{
    bool needed = route->body_schema != NULL;
    for (const struct route_param *param = takes_query(route) ? NULL : route->params;
         param != NULL && param->name != NULL; param++)
        needed = needed || param->required;
    return needed;
}

static json_t *
body_schema(struct api_parts *parts, const struct route *route)
{
    if (route->body_schema != NULL)
        return route->body_schema();
    if (route->fields != NULL)
        return schema_of_table(&parts->schemas, route->fields);
    return route->params != NULL && !takes_query(route) ? form_schema(route->params)
                                                        : json_object();
}

static json_t *
operation_body(struct api_parts *parts, const struct route *route)
{
    static const struct {
        const char *type;
        bool required;
    } kinds[] = {
        [BODY_FORM] = {FORM_TYPE,          false},
        [BODY_FORM_LENIENT] = {FORM_TYPE,          false},
        [BODY_FORM_FAULTS] = {FORM_TYPE,          false},
        [BODY_JSON] = {"application/json", true },
        [BODY_JSON_OPTIONAL] = {"application/json", false},
        [BODY_JSON_ENVELOPE] = {"application/json", true },
        [BODY_JSON_SCHEMAS] = {"application/json", true },
        [BODY_RAW] = {"application/json", true },
        [BODY_QUERY_FAULTS] = {NULL,               false},
        [BODY_STREAM] = {"*/*",              false},
    };
    const char *type =
        (size_t) route->body < sizeof(kinds) / sizeof(kinds[0]) ? kinds[route->body].type : NULL;
    if (type == NULL)
        return NULL;
    json_t *example = route->fields != NULL ? schema_example(route->fields) : NULL;
    return json_pack("{s:b,s:{s:{s:o,s:o*}}}", "required",
                     kinds[route->body].required || needs_form(route), "content", type, "schema",
                     body_schema(parts, route), "example", example);
}

/* ---- answers */

static json_t *
answer_content(struct api_parts *parts, const struct route_answer *answer)
{
    if (answer->type == NULL)
        return NULL;
    json_t *schema = answer->shape != NULL ? schema_of_table(&parts->schemas, answer->shape)
                                           : json_object(),
           *example = answer->shape != NULL ? schema_example(answer->shape) : NULL;
    if (answer->many) {
        schema = json_pack("{s:s,s:o}", "type", "array", "items", schema);
        example = example != NULL ? json_pack("[o]", example) : NULL;
    }
    return json_pack("{s:{s:o,s:o*}}", answer->type, "schema", schema, "example", example);
}

static json_t *
operation_answers(struct api_parts *parts, const struct route *route)
{
    struct jsonx_build answers = {json_object(), false};
    for (const struct route_answer *answer = route->answers; answer != NULL && answer->status != 0;
         answer++) {
        char status[8] = "default";
        if (answer->status != ROUTE_ANY_STATUS)
            snprintf(status, sizeof(status), "%d", answer->status % 1000);
        json_t *content = answer_content(parts, answer),
               *others = json_object_get(json_object_get(answers.value, status), "content");
        if (others != NULL) { /* another media type of the same answer */
            answers.lost = json_object_update_new(others, content) != 0 || answers.lost;
            continue;
        }
        jsonx_set(&answers, status,
                  json_pack("{s:s,s:o*}", "description", answer->help, "content", content));
    }
    failures_describe(&parts->schemas, &parts->responses, route, &answers);
    if (answers.lost)
        json_decref(answers.value);
    return jsonx_built(&answers);
}

/* ---- the whole */

/* The group of the operation: the first segment of its path, or the second below /admin/api. */
static json_t *
operation_tag(const char *path)
{
    static const char admin[] = "/admin/api/";
    const char *from = strncmp(path, admin, strlen(admin)) == 0 ? path + strlen(admin) : path + 1;
    size_t length = strcspn(from, "/");
    return length > 0 ? json_pack("[s%]", from, length) : json_pack("[s]", "pages");
}

/* Any of the ways of the credential is enough (OpenAPI 3.1.0 section 4.8.30). */
static json_t *
operation_security(const struct route_credential *credential)
{
    struct jsonx_build ways = {json_array(), false};
    for (const char *const *way = credential->schemes; way != NULL && *way != NULL; way++)
        jsonx_append(&ways, **way == '\0' ? json_object() : json_pack("{s:[]}", *way));
    if (ways.lost)
        json_decref(ways.value);
    return jsonx_built(&ways);
}

json_t *
api_operation(struct api_parts *parts, const struct route *route)
{
    json_t *parameters = operation_parameters(parts, route), *body = operation_body(parts, route);
    return json_pack(
        "{s:s,s:s*,s:o,s:o,s:o*,s:o*,s:o,s:b,s:b,s:b,s:I,s:s*}", "operationId", route->operation,
        "summary", route->summary, "tags", operation_tag(route->path), "security",
        operation_security(route->credential), "parameters", parameters, "requestBody", body,
        "responses", operation_answers(parts, route), "x-rate-limited", route->rate_limited,
        "x-audited", route->audited, "x-cors", route->cors != CORS_CLOSED, "x-body-octets-max",
        (json_int_t) route->body_max, "x-least-role", admin_role_word(route->role));
}

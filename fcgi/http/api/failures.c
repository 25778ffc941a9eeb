#include "config.h"

#include "http/api/failures.h"

#include <stdio.h>
#include <string.h>

#include "http/api/api_schema.h"

/* ---- the bodies */

static const struct field error_fields[] = {
    {"error",             FIELD_TEXT, .required = true, .help = "Code for programs"},
    {"error_description", FIELD_TEXT, .required = true, .help = "Text for people"  },
};

/* A row that breaks its schema (specification 7.2). */
static const struct field failure_fields[] = {
    {"path",                  FIELD_TEXT, .required = true, .may_be_empty = true, .help = "JSON Pointer"},
    {"message", FIELD_TEXT,           .required = true                  },
};
static const struct field_table failure_table =
    FIELD_TABLE("SchemaFailure", failure_fields, FIELDS_ANSWER);
static const struct field broken_row_fields[] = {
    {"dataKey",    FIELD_TEXT,       .required = true       },
    { "failures", FIELD_ARRAY, .required = true, .shape = &failure_table},
};
static const struct field_table broken_row_table =
    FIELD_TABLE("BrokenRow", broken_row_fields, FIELDS_ANSWER);

static const struct field_table error_table =
    FIELD_TABLE("Error", error_fields, FIELDS_ANSWER | FIELDS_IGNORE_UNKNOWN);

/* ---- which a row may answer */

static bool
always(const struct route *route)
{
    (void) route;
    return true;
}

static bool
is_cached(const struct route *route)
{
    return route->cache == CACHE_OWN;
}

static bool
has_credential(const struct route *route)
{
    return route->credential->schemes != NULL && *route->credential->schemes != NULL;
}

static bool
is_admin(const struct route *route)
{
    return route->dialect == DIALECT_ADMIN;
}

/* Writes of the admin API may meet what is there already, or be refused as a whole. */
static bool
is_admin_write(const struct route *route)
{
    return is_admin(route) && route->audited;
}

static bool
has_path_value(const struct route *route)
{
    return strchr(route->path, '{') != NULL || is_admin(route) || route->is_on != NULL;
}

/* True if a request of the row that comes by plain HTTP may be refused (http/serve/way.h). */
static bool
is_guarded(const struct route *route)
{
    return !route->in_clear && !is_admin(route);
}

static bool
has_body(const struct route *route)
{
    return route->body_max > 0 || route->body == BODY_STREAM;
}

static bool
has_upstream(const struct route *route)
{
    return route->dialect == DIALECT_GATEWAY;
}

static bool
is_limited(const struct route *route)
{
    return route->rate_limited;
}

static const struct failure_row {
    int status;
    bool (*answers)(const struct route *route);
    const char *help;
} failure_rows[] = {
    {304, is_cached,      "The caller has this content already"                             },
    {400, always,
     "The request is malformed or refused; the web server itself answers a malformed target with a "
     "page"                                                                                 },
    {401, has_credential, "The credential is missing or wrong"                              },
    {403, is_guarded,
     "The caller is not entitled to ask this, or asks by plain HTTP a service whose issuer is "
     "https"                                                                                },
    {403, is_admin,
     "The role of the admin key does not allow this, or the address of the caller, or no page of "
     "this service sent the request of a session"                                           },
    {404, has_path_value, "There is no such thing"                                          },
    {409, is_admin_write, "It exists already, is protected, or a save is running"           },
    {412, is_admin_write, "The stored content differs from If-Match"                        },
    {413, has_body,       "The body is too large; the web server itself answers with a page"},
    {415, has_body,       "The media type of the body is not accepted"                      },
    {422, is_admin_write, "The content was understood but cannot be accepted"               },
    {429, is_limited,     "Too many requests; Retry-After says when to try again"           },
    {500, always,         "The service failed"                                              },
    {502, has_upstream,   "The upstream cannot be reached, or its answer is not valid"      },
    {503, always,         "The database or the policy engine cannot be reached; try again"  },
    {504, has_upstream,   "The upstream did not answer in time"                             },
};

/* ---- the answers */

/* Return the codes that the outcomes of this status have, once each. */
static json_t *
codes_of_status(int status)
{
    struct jsonx_build codes = {json_array(), false};
    for (int i = AZ_OK + 1; i < AZ_STATUS_COUNT; i++) {
        const struct az_status_row *row = az_status_row((enum az_status) i);
        bool known = false;
        size_t index;
        const json_t *code;
        json_array_foreach (codes.value, index, code)
            known = known || strcmp(json_string_value(code), row->error) == 0;
        if (row->http == status && !known)
            jsonx_append(&codes, json_string(row->error));
    }
    if (codes.lost)
        json_decref(codes.value);
    return jsonx_built(&codes);
}

static json_t *
failure_schema(struct jsonx_build *schemas, int status)
{
    json_t *error = schema_of_table(schemas, &error_table);
    if (status == 422)
        return json_pack("{s:[o,o]}", "anyOf", error, schema_of_table(schemas, &broken_row_table));
    json_t *codes = status == 409 ? NULL : codes_of_status(status);
    if (codes == NULL)
        return error;
    return json_pack("{s:[o,{s:{s:{s:o}}}]}", "allOf", error, "properties", "error", "enum", codes);
}

/* Return the body of a failure, or NULL. A 304 has no body, nor has the 404 of the admin API
 * (specification 7.2), and pages are for browsers. */
static json_t *
failure_content(struct jsonx_build *schemas, int status, enum route_dialect dialect)
{
    if (status == 304 || (status == 404 && dialect == DIALECT_ADMIN))
        return NULL;
    json_t *content =
        json_pack("{s:{s:o}}", "application/json", "schema", failure_schema(schemas, status));
    if ((status == 400 || status == 413 || dialect == DIALECT_PAGE) && content != NULL
        && json_object_set_new(content, "text/html",
                               json_pack("{s:{s:s}}", "schema", "type", "string"))
               != 0)
        schemas->lost = true;
    return content;
}

static void
failure_describe(struct jsonx_build *schemas, struct jsonx_build *responses,
                 const struct failure_row *row, enum route_dialect dialect,
                 struct jsonx_build *answers)
{
    static const char *const dialects[] = {[DIALECT_BARE] = "",
                                           [DIALECT_OAUTH] = "",
                                           [DIALECT_ADMIN] = "Admin",
                                           [DIALECT_PAGE] = "Page",
                                           [DIALECT_GATEWAY] = "Gateway"};
    char status[8], name[24];
    snprintf(status, sizeof(status), "%d", row->status);
    snprintf(name, sizeof(name), "%s%s", dialects[dialect], status);
    if (json_object_get(responses->value, name) == NULL)
        jsonx_set(responses, name,
                  json_pack("{s:s,s:o*}", "description", row->help, "content",
                            failure_content(schemas, row->status, dialect)));
    if (json_object_get(answers->value, status) == NULL)
        jsonx_set(answers, status,
                  json_pack("{s:o}", "$ref", json_sprintf("#/components/responses/%s", name)));
}

void
failures_describe(struct jsonx_build *schemas, struct jsonx_build *responses,
                  const struct route *route, struct jsonx_build *answers)
{
    for (size_t i = 0; i < sizeof(failure_rows) / sizeof(failure_rows[0]); i++)
        if (failure_rows[i].answers(route))
            failure_describe(schemas, responses, &failure_rows[i], route->dialect, answers);
}

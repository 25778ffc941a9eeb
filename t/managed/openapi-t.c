/* OpenAPI documents of the connector generic-openapi (gateway-admin.md 3.7). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "managed/import/openapi.h"
#include "scarce.h"
#include "tap.h"

static char fault[512];

static void
note_first(void *arg, const char *path, const char *why)
{
    (void) arg;
    if (fault[0] == '\0')
        snprintf(fault, sizeof(fault), "%s: %s", path, why);
}

static enum az_status
read_text(TALLOC_CTX *mem, const char *text, struct openapi_import *ret)
{
    struct openapi_reading reading = {.mem = mem, .write_scope = "api:write", .fault = note_first};
    json_t *document = NULL;
    fault[0] = '\0';
    if (jsonx_parse(mem, text, strlen(text), 64, &document, NULL) != AZ_OK)
        return AZ_SERVER_ERROR;
    reading.document = document;
    return openapi_read(&reading, ret);
}

#define DOCUMENT(paths) "{\"openapi\":\"3.0.3\",\"paths\":{" paths "}}"
#define OPERATION(members) DOCUMENT("\"/a/{id}\":{\"put\":{" members "}}")
#define ID "{\"name\":\"id\",\"in\":\"path\"}"
#define WITH(parameter) OPERATION("\"parameters\":[" ID "," parameter "]")
#define JSON_BODY(schema)                                                                          \
    OPERATION("\"parameters\":[" ID                                                                \
              "],\"requestBody\":{\"required\":true,\"content\":{\"application/json\":{"           \
              "\"schema\":" schema "}}}")

static const char good[] =
    "{\"openapi\":\"3.1.0\",\"servers\":[{\"url\":\"https://a.example/v1\"}],\"paths\":{\"x-a\":1,"
    "\"/pets/{id}\":{\"parameters\":[{\"$ref\":\"#/p/id\"}],\"get\":{\"operationId\":\"pets/get\","
    "\"summary\":\"Show a pet\",\"parameters\":[{\"name\":\"lang\",\"in\":\"query\",\"schema\":{"
    "\"type\":\"string\"}},{\"name\":\"X-Trace\",\"in\":\"header\"},{\"name\":\"Authorization\","
    "\"in\":\"header\"}]},\"delete\":{},\"put\":{\"operationId\":\"put\",\"requestBody\":{"
    "\"required\":true,\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/s/Pet\"}}}}}}},"
    "\"p\":{\"id\":{\"name\":\"id\",\"in\":\"path\",\"schema\":{\"type\":\"integer\"}}},\"s\":{"
    "\"Pet\":{\"required\":[\"name\"],\"xml\":{},\"allOf\":[{\"properties\":{\"id\":{\"type\":"
    "\"string\"}}}],\"properties\":{\"name\":{\"type\":\"string\",\"nullable\":true,\"x-b\":1}}}}}";

static void
imports(TALLOC_CTX *mem)
{
    struct openapi_import import = {.server = NULL};
    int st = read_text(mem, good, &import);
    is_int(st, AZ_OK, "a document is read: %s", fault);
    if (st != AZ_OK)
        return;
    is_str(import.server, "https://a.example/v1", "... with the URL of its server");
    is_str(jsonx_dump(mem, import.routes),
           "[{\"id\":\"pets_get\",\"origin\":\"manifest\",\"methods\":[\"GET\"],\"path\":\"/pets/"
           "{id}\",\"query\":{\"allow\":[\"lang\"]},\"forwardHeaders\":[\"X-Trace\"]},"
           "{\"id\":\"put\",\"origin\":\"manifest\",\"methods\":[\"PUT\"],\"path\":\"/pets/{id}\","
           "\"query\":{\"allow\":[]},\"scopes\":[\"api:write\"]},"
           "{\"id\":\"delete_pets__id_\",\"origin\":\"manifest\",\"methods\":[\"DELETE\"],\"path\":"
           "\"/pets/{id}\",\"query\":{\"allow\":[]},\"scopes\":[\"api:write\"]}]",
           "... routes: the id from operationId or the method and path, the query that passes, and "
           "the scope for writing");
    is_str(jsonx_dump(mem, json_array_get(import.tools, 0)),
           "{\"name\":\"pets_get\",\"origin\":\"manifest\",\"route\":\"pets_get\",\"inputSchema\":{"
           "\"type\":\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"lang\":{\"type\":"
           "\"string\"},\"X-Trace\":{}},\"required\":[\"id\"],\"additionalProperties\":false},"
           "\"args\":{\"path\":[\"id\"],\"query\":[\"lang\"],\"header\":[\"X-Trace\"]},\"title\":"
           "\"Show a pet\",\"description\":\"Show a pet\",\"annotations\":{\"readOnlyHint\":true}}",
           "... a tool with its arguments, without Authorization (OpenAPI 3.1 4.8.12.1)");
    is_str(
        jsonx_dump(mem, json_array_get(import.tools, 1)),
        "{\"name\":\"put\",\"origin\":\"manifest\",\"route\":\"put\",\"inputSchema\":{\"type\":"
        "\"object\",\"properties\":{\"id\":{\"type\":\"integer\"},\"name\":{\"type\":[\"string\","
        "\"null\"]}},\"required\":[\"id\",\"name\"],\"additionalProperties\":false},\"args\":{"
        "\"path\":[\"id\"],\"query\":[],\"header\":[],\"body\":[\"id\",\"name\"]},"
        "\"annotations\":{\"idempotentHint\":true}}",
        "... a body with its references replaced and other keywords left out");
    ok(json_is_true(json_object_get(json_object_get(json_array_get(import.tools, 2), "annotations"),
                                    "destructiveHint")),
       "... DELETE is destructive");
}

static void
refuses(TALLOC_CTX *mem)
{
    static const struct {
        const char *document, *fault;
    } rows[] = {
        {"[]",                                                                                       "openapi: must be version 3"                                       },
        {"{\"swagger\":\"2.0\",\"paths\":{\"/\":{}}}",                                               "openapi: must be version 3"                                       },
        {DOCUMENT(""),                                                                               "paths: must be an object with at least one path"                  },
        {"{\"openapi\":\"3.0.0\",\"servers\":[{\"url\":\"https://a\"},{\"url\":\"https://b\"}],"
         "\"paths\":{\"/a\":{}}}",                                                          "servers: must be an array with one server"                        },
        {"{\"openapi\":\"3.0.0\",\"servers\":[{\"url\":\"https://{host}\"}],\"paths\":{\"/a\":{}}}",
         "servers[0].url: must not have variables"                                                                                                                      },
        {DOCUMENT("\"/a/../b\":{}"),                                                                 "paths./a/../b: has a segment that is . or .."                     },
        {DOCUMENT("\"/a%2fb\":{}"),                                                                  "paths./a%2fb: may have letters"                                   },
        {DOCUMENT("\"//a\":{}"),                                                                     "paths.//a: has an empty segment"                                  },
        {DOCUMENT("\"a\":{}"),                                                                       "paths.a: must begin with a slash"                                 },
        {DOCUMENT("\"/a b\":{}"),                                                                    "paths[0]: may have letters"                                       },
        {DOCUMENT("\"/**\":{}"),                                                                     "paths./**: must not end with /**"                                 },
        {DOCUMENT("\"/a/{x}.json\":{}"),                                                             "paths./a/{x}.json: may have letters"                              },
        {DOCUMENT("\"/a/{x}\":{},\"/a/{y}\":{}"),                                                    "paths./a/{y}: has the form of another path"                       },
        {DOCUMENT("\"/a\":{\"$ref\":\"#/x\"}"),                                                      "paths./a: must be an object without $ref"                         },
        {DOCUMENT("\"/a\":{\"servers\":[{\"url\":\"https://evil.example\"}]}"),
         "paths./a: has servers of its own"                                                                                                                             },
        {DOCUMENT("\"/a\":{\"trace\":{}}"),                                                          "paths./a: has an operation or member that is not"                 },
        {DOCUMENT("\"/a\":{\"get\":1}"),                                                             "paths./a.get.operation: must be an object"                        },
        {DOCUMENT("\"/a\":{\"get\":{\"operationId\":\"x/y\"},\"put\":{\"operationId\":\"x_y\"}}"),
         "paths./a.put.operationId: makes the id x_y, which another operation has"                                                                                      },
        {OPERATION("\"callbacks\":{\"x\":{}}"),                                                      "paths./a/{id}.put.callbacks: is not imported"                     },
        {OPERATION("\"servers\":[{}]"),                                                              "paths./a/{id}.put.servers: is not imported"                       },
        {OPERATION(""),                                                                              "paths./a/{id}.put.parameters: must have each variable of the path"},
        {WITH("{\"name\":\"x\",\"in\":\"path\"}"),
         "paths./a/{id}.put.parameters[1]: is not in the path"                                                                                                          },
        {WITH("{\"name\":\"x\",\"in\":\"cookie\"}"),
         "paths./a/{id}.put.parameters[1]: must be in path, query or header; cookies"                                                                                   },
        {WITH("{\"name\":\"id\",\"in\":\"query\"}"),
         "paths./a/{id}.put.parameters[1]: has the name of another parameter"                                                                                           },
        {WITH("{\"name\":\"Cookie\",\"in\":\"header\"}"),                                            "paths./a/{id}.put.parameters[1]: "                                },
        {WITH("{\"name\":\"Host\",\"in\":\"header\"}"),                                              "paths./a/{id}.put.parameters[1]: "                                },
        {WITH("{\"name\":\"x\",\"in\":\"query\",\"style\":\"deepObject\"}"),
         "paths./a/{id}.put.parameters[1]: has a style"                                                                                                                 },
        {WITH("{\"$ref\":\"http://127.0.0.1/x\"}"),
         "paths./a/{id}.put.parameters[1]: refers to another document"                                                                                                  },
        {WITH("{\"$ref\":\"file.json#/x\"}"),
         "paths./a/{id}.put.parameters[1]: refers to another document"                                                                                                  },
        {WITH("{\"$ref\":\"#/none\"}"),
         "paths./a/{id}.put.parameters[1]: refers to what the document does not have"                                                                                   },
        {WITH("{\"$ref\":\"#/paths/~1a~1{id}/put/parameters/1\"}"),
         "paths./a/{id}.put.parameters[1]: refers to itself"                                                                                                            },
        {OPERATION("\"parameters\":[" ID "],\"requestBody\":{\"content\":{\"multipart/form-data\":"
                   "{}}}"),
         "paths./a/{id}.put.requestBody: has no content of the type"                                                                                                    },
        {JSON_BODY("{\"type\":\"array\"}"),                                                          "paths./a/{id}.put.requestBody: must be an object"                 },
        {JSON_BODY("{\"oneOf\":[],\"properties\":{}}"),
         "paths./a/{id}.put.requestBody: must be an object"                                                                                                             },
        {JSON_BODY("{\"properties\":{\"a\":{\"$ref\":\"#/paths/~1a~1{id}/put/requestBody/content/"
                   "application~1json/schema\"}}}"),
         "paths./a/{id}.put.requestBody: refers to itself"                                                                                                              },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct openapi_import import;
        enum az_status st = read_text(mem, rows[i].document, &import);
        ok(st == AZ_INVALID && strncmp(fault, rows[i].fault, strlen(rows[i].fault)) == 0,
           "refused: %s (%s)", rows[i].fault, fault);
    }
}

/* True if a document is accepted; `fault` has the reason of a refusal. */
static bool
takes(TALLOC_CTX *mem, const char *text)
{
    struct openapi_import import;
    return read_text(mem, text, &import) == AZ_OK;
}

/* Return a text `count` times with commas; "@" stands for the number, "&" for the next one. */
static char *
repeat(TALLOC_CTX *mem, const char *pattern, unsigned count)
{
    char *text = talloc_strdup(mem, "");
    for (unsigned i = 0; i < count; i++) {
        text = talloc_strdup_append_buffer(text, i > 0 ? "," : "");
        for (const char *c = pattern; *c != '\0'; c++)
            if (*c == '@' || *c == '&')
                text = talloc_asprintf_append_buffer(text, "%u", *c == '@' ? i : i + 1);
            else
                text = talloc_strndup_append_buffer(text, c, 1);
    }
    return text;
}

/* Return a document whose body is the first of `count` schemas in a row, and then a text. */
static char *
chain(TALLOC_CTX *mem, const char *schema, unsigned count)
{
    return talloc_asprintf(
        mem,
        "{\"openapi\":\"3.0.3\",\"paths\":{\"/a\":{\"post\":{\"requestBody\":{\"content\":{"
        "\"application/json\":{\"schema\":{\"properties\":{\"p\":{\"$ref\":\"#/s/s0\"}}}}}}}}},"
        "\"s\":{%s,\"s%u\":{\"type\":\"string\"}}}",
        repeat(mem, schema, count), count);
}

#define NEXT "\"s@\":{\"$ref\":\"#/s/s&\"}"
#define TWICE "\"s@\":{\"properties\":{\"a\":{\"$ref\":\"#/s/s&\"},\"b\":{\"$ref\":\"#/s/s&\"}}}"

#define QUERY DOCUMENT("\"/a\":{\"get\":{\"parameters\":[%s]}}")
#define SIZED "{\"openapi\":\"3.0.3\",\"paths\":{\"/a\":{}},\"x\":\"%s\"}"

static void
bounds(TALLOC_CTX *mem)
{
    const char *path = "\"/p@\":{\"get\":{}}";
    ok(takes(mem, talloc_asprintf(mem, DOCUMENT("%s"), repeat(mem, path, OPENAPI_OPERATIONS_MAX))),
       "500 operations are read: %s", fault);
    ok(!takes(mem,
              talloc_asprintf(mem, DOCUMENT("%s"), repeat(mem, path, OPENAPI_OPERATIONS_MAX + 1)))
           && strstr(fault, "at most 500") != NULL,
       "... 501 are refused: %s", fault);

    const char *item = "{\"name\":\"n@\",\"in\":\"query\"}";
    ok(takes(mem, talloc_asprintf(mem, QUERY, repeat(mem, item, OPENAPI_PARAMETERS_MAX))),
       "100 parameters are read: %s", fault);
    ok(!takes(mem, talloc_asprintf(mem, QUERY, repeat(mem, item, OPENAPI_PARAMETERS_MAX + 1)))
           && strstr(fault, "at most 100") != NULL,
       "... 101 are refused: %s", fault);

    const char *property = "\"m@\":{}";
    ok(takes(mem,
             talloc_asprintf(mem, JSON_BODY("{\"properties\":{%s}}"), repeat(mem, property, 500))),
       "500 properties of a body are read: %s", fault);
    ok(!takes(mem,
              talloc_asprintf(mem, JSON_BODY("{\"properties\":{%s}}"), repeat(mem, property, 501)))
           && strstr(fault, "at most 500") != NULL,
       "... 501 are refused: %s", fault);

    ok(takes(mem, chain(mem, NEXT, OPENAPI_HOPS_MAX - 1)),
       "16 references in a row are followed: %s", fault);
    ok(!takes(mem, chain(mem, NEXT, OPENAPI_HOPS_MAX)) && strstr(fault, "more than 16") != NULL,
       "... 17 are refused: %s", fault);

    /* The text stands below two levels for each schema, the body and the map of its properties. */
    ok(takes(mem, chain(mem, TWICE, 10)), "schemas nested in the limit are read: %s", fault);
    ok(!takes(mem, chain(mem, TWICE, 12)) && strstr(fault, "24 levels") != NULL,
       "... those beyond it are refused: %s", fault);
    char *levels = talloc_strdup(mem, "");
    for (unsigned i = 0; i < 8; i++) {
        levels = talloc_asprintf_append_buffer(levels, "%s\"s%u\":{\"properties\":{",
                                               i > 0 ? "," : "", i);
        for (unsigned k = 0; k < 40; k++)
            levels = talloc_asprintf_append_buffer(levels, "%s\"m%u\":{\"$ref\":\"#/s/s%u\"}",
                                                   k > 0 ? "," : "", k, i + 1);
        levels = talloc_strdup_append_buffer(levels, "}}");
    }
    ok(!takes(mem, talloc_asprintf(
                       mem,
                       "{\"openapi\":\"3.0.3\",\"paths\":{\"/a\":{\"post\":{\"requestBody\":{"
                       "\"content\":{\"application/json\":{\"schema\":{\"$ref\":\"#/s/s0\"}}}}}}},"
                       "\"s\":{%s,\"s8\":{\"type\":\"string\"}}}",
                       levels))
           && strstr(fault, "larger than 1048576 octets") != NULL,
       "a small document whose schemas grow to 40^8 members is refused: %s", fault);

    size_t room = OPENAPI_DOCUMENT_MAX - (strlen(SIZED) - 2);
    char *fill = talloc_array(mem, char, room + 2);
    memset(fill, 'x', room + 1);
    fill[room] = '\0';
    ok(takes(mem, talloc_asprintf(mem, SIZED, fill)), "524288 octets are read: %s", fault);
    fill[room] = 'x';
    fill[room + 1] = '\0';
    ok(!takes(mem, talloc_asprintf(mem, SIZED, fill)) && strstr(fault, "524288") != NULL,
       "... one more is refused: %s", fault);
}

/* A whole import, or AZ_SERVER_ERROR without a fault: want of memory is not the author's fault. */
static enum scarce_outcome
import_once(TALLOC_CTX *mem, void *arg)
{
    struct openapi_import import = {.server = NULL};
    enum az_status st = read_text(mem, good, &import);
    if (st != AZ_OK)
        return st == AZ_SERVER_ERROR ? SCARCE_FAILED : SCARCE_WRONG;
    return json_equal(import.routes, ((const json_t **) arg)[0])
                   && json_equal(import.tools, ((const json_t **) arg)[1])
               ? SCARCE_WHOLE
               : SCARCE_WRONG;
}

static void
memory(TALLOC_CTX *mem)
{
    struct openapi_import import = {.server = NULL};
    if (read_text(mem, good, &import) != AZ_OK)
        return;
    const json_t *whole[] = {import.routes, import.tools};
    struct scarce_count count = scarce_jansson(import_once, whole);
    scarce_is_seen(&count, "an import without memory of Jansson");
    count = scarce_talloc(import_once, whole, 32768, 64);
    scarce_is_seen(&count, "an import without memory of talloc");
}

int
main(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    imports(mem);
    refuses(mem);
    bounds(mem);
    memory(mem);
    talloc_free(mem);
    return done();
}

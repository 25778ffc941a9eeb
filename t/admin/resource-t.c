/* The generic handlers of admin resources, over statements that the test plays: what is answered,
 * and that a secret is wiped from the request whatever becomes of it. */
#include "config.h"

#include "admin/resource/resource.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "env.h"
#include "http/fake_io.h"
#include "http/form.h"
#include "tap.h"

#define SECRET "s3cr3t-of-the-caller"

/* ---- statements ---- */

/* The outcome of the next write to the database, and a record of the last one. */
static struct {
    enum az_status outcome;
    char *columns;
    const char *version;
    bool sealed, sealed_is_plain, replaced;
    const char *filter[2];
    int filters;
} played;

static bool
holds(const void *octets, size_t length, const char *text)
{
    const char *at = octets;
    for (size_t i = 0; i + strlen(text) <= length; i++)
        if (memcmp(at + i, text, strlen(text)) == 0)
            return true;
    return false;
}

static enum az_status
play(struct op *op, const struct json_row *row, struct json_shown *ret)
{
    played.columns = talloc_strdup(op->mem, row->columns);
    played.sealed = row->sealed != NULL;
    played.sealed_is_plain = row->sealed != NULL && holds(row->sealed, row->sealed_length, SECRET);
    played.version = row->version;
    *ret = (struct json_shown){talloc_asprintf(op->mem, "{\"name\":\"%s\"}", row->key), "8"};
    return played.outcome == AZ_OK ? AZ_OK : op_fail(op, played.outcome, NULL, NULL);
}

enum az_status
json_rows_list(struct op *op, const struct json_rows *rows, const char *const *filters, int count,
               const char **ret_array)
{
    (void) op, (void) rows;
    played.filters = count;
    for (int i = 0; i < count && i < 2; i++)
        played.filter[i] = filters[i];
    *ret_array = "[]";
    return AZ_OK;
}

enum az_status
json_rows_fetch(struct op *op, const struct json_rows *rows, const char *key,
                struct json_shown *ret)
{
    (void) op, (void) rows;
    *ret = (struct json_shown){.dto = NULL};
    if (strcmp(key, "unknown") != 0)
        *ret = (struct json_shown){"{}", "7"};
    return AZ_OK;
}

enum az_status
json_rows_insert(struct op *op, const struct json_rows *rows, const struct json_row *row,
                 struct json_shown *ret)
{
    (void) rows;
    played.replaced = false;
    return play(op, row, ret);
}

enum az_status
json_rows_replace(struct op *op, const struct json_rows *rows, const struct json_row *row,
                  struct json_shown *ret)
{
    (void) rows;
    played.replaced = true;
    return play(op, row, ret);
}

enum az_status
json_rows_delete(struct op *op, const struct json_rows *rows, const char *key, const char *version)
{
    (void) rows;
    played.version = version;
    return strcmp(key, "unknown") != 0 ? AZ_OK : op_fail(op, AZ_NOT_FOUND, NULL, NULL);
}

/* ---- a resource ---- */

static int forgotten;   /* calls of `written` */
static bool incomplete; /* `complete` fails */

static const char *
place_of(TALLOC_CTX *mem, const char *key)
{
    return talloc_asprintf(mem, "thing/secret/%s", key);
}

static enum az_status
complete(struct op *op, struct resource_reading *reading)
{
    if (incomplete)
        return op_fail(op, AZ_UNAVAILABLE, NULL, NULL);
    if (reading->key == NULL)
        reading->key = "made";
    return AZ_OK;
}

static void
forget(struct op *op, const char *key)
{
    (void) op, (void) key;
    forgotten++;
}

static const struct field thing_fields[] = {
    {"name",  FIELD_TEXT, .max = 8},
    {"label", FIELD_TEXT, .max = 8, .column = "label"},
    {"secret",       FIELD_TEXT,          .max = 64 },
};
static const struct resource_body thing_body = {
    .fields = FIELDS(thing_fields, 0), .key = "name", .key_fixed = true, .secret = "secret"};
static const struct db_stmt any_stmt = {"any", "", 1};
static const struct json_rows thing_rows = {.noun = "thing", .fetch = &any_stmt};
static const struct resource_secret secret_kept = {KEYRING_CLIENT_SECRET, place_of, false},
                                    secret_shown = {KEYRING_CLIENT_SECRET, place_of, true};
static const struct admin_resource kept = {.rows = &thing_rows,
                                           .body = &thing_body,
                                           .secret = &secret_kept,
                                           .complete = complete,
                                           .written = forget},
                                   shown = {.rows = &thing_rows,
                                            .body = &thing_body,
                                            .secret = &secret_shown,
                                            .complete = complete,
                                            .written = forget},
                                   numbered = {.rows = &thing_rows, .key_is_number = true};

/* Return a request for a row (`key` NULL: for all) with this body, written with ' for ". */
static struct request *
make_request(TALLOC_CTX *mem, const struct admin_resource *resource, const char *key,
             const char *body)
{
    static const char *const set[] = {NULL};
    struct request *req = fake_request(mem, fake_new(mem, set, ""), NULL);
    ((struct route *) (uintptr_t) req->route)->arg = resource;
    req->op.az = env_az(req);
    req->op.az->keyring =
        keyring_new(req, req->op.az->cfg->credential_key, req->op.az->cfg->admin_pepper);
    req->path_value[0] = key;
    if (body != NULL) {
        char *text = talloc_strdup(req, body);
        for (char *c = text; *c != '\0'; c++)
            *c = *c == '\'' ? '"' : *c;
        req->body = text;
        req->body_length = strlen(text);
        req->json = env_json(req, body);
    }
    return req;
}

/* ---- the secret ---- */

static bool
json_holds(const json_t *value, const char *text)
{
    const char *name;
    json_t *member;
    size_t index;
    if (json_is_string(value) && holds(json_string_value(value), json_string_length(value), text))
        return true;
    json_object_foreach ((json_t *) (uintptr_t) value, name, member)
        if (json_holds(member, text))
            return true;
    json_array_foreach (value, index, member)
        if (json_holds(member, text))
            return true;
    return false;
}

static const struct {
    const char *key;        /* PUT; NULL: POST */
    const char *body;       /* with the secret */
    enum az_status outcome; /* of the statement */
    bool incomplete;
    enum az_status status; /* of the handler */
    const char *name;
} paths[] = {
    {NULL,      "{'name':'a','secret':'" SECRET "'}",             AZ_OK,          false, AZ_OK,             "success"            },
    {"a",       "{'secret':'" SECRET "'}",                        AZ_OK,          false, AZ_OK,             "success of a PUT"   },
    {NULL,      "{'name':'a','secret':'" SECRET "'}",             AZ_CONFLICT,    false, AZ_CONFLICT,       "a conflict"         },
    {"a",       "{'secret':'" SECRET "'}",                        AZ_CONFLICT,    false, AZ_CONFLICT,       "a conflict of a PUT"},
    {NULL,      "{'name':'a','secret':'" SECRET "'}",             AZ_UNAVAILABLE, false, AZ_UNAVAILABLE,
     "an outage"                                                                                                                 },
    {NULL,      "{'name':'123456789','secret':'" SECRET "'}",     AZ_OK,          false, AZ_INVALID_FIELDS,
     "a fault of another field"                                                                                                  },
    {"a",       "{'name':'b','secret':'" SECRET "'}",             AZ_OK,          false, AZ_INVALID_FIELDS,
     "another key than in the path"                                                                                              },
    {NULL,      "{'name':'a','Secret':'" SECRET "'}",             AZ_OK,          false, AZ_INVALID_FIELDS,
     "a misspelt member"                                                                                                         },
    {NULL,      "{'name':'a','secret':['x',{'y':'" SECRET "'}]}", AZ_OK,          false, AZ_INVALID_FIELDS,
     "a secret of another kind"                                                                                                  },
    {NULL,      "{'name':'a','secret':'" SECRET "'}",             AZ_OK,          true,  AZ_UNAVAILABLE,
     "a row that is not completed"                                                                                               },
    {"unknown", "{'secret':'" SECRET "'}",                        AZ_OK,          false, AZ_NOT_FOUND,      "an unknown row"     },
};

static void
test_wiped(const struct admin_resource *resource)
{
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        TALLOC_CTX *mem = talloc_new(NULL);
        struct request *req = make_request(mem, resource, paths[i].key, paths[i].body);
        bool there = holds(req->body, req->body_length, SECRET) && json_holds(req->json, SECRET);
        played.outcome = paths[i].outcome;
        incomplete = paths[i].incomplete;
        enum az_status st =
            paths[i].key != NULL ? resource_put_handle(req) : resource_create_handle(req);
        is_int(st, paths[i].status, "after %s", paths[i].name);
        ok(there && !holds(req->body, req->body_length, SECRET),
           "... the secret is wiped from the body");
        ok(!json_holds(req->json, SECRET), "... and from what was parsed");
        ok(req->error_body == NULL || !json_holds(req->error_body, SECRET),
           "... and no answer has it");
        talloc_free(mem);
    }
    incomplete = false;
    played.outcome = AZ_OK;
}

static void
test_sealed(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request *req =
        make_request(mem, &kept, NULL, "{'name':'a','label':'l','secret':'" SECRET "'}");
    resource_create_handle(req);
    ok(played.sealed && !played.sealed_is_plain, "a secret is stored sealed");
    is_str(played.columns, "{\"label\":\"l\"}", "... and not among the columns");
    is_int(req->res.status, 201, "the row is created");
    is_str(req->res.body, "{\"name\":\"a\"}", "... and answered as stored, without its secret");
    is_str(req->audit.summary, "{\"name\":\"a\"}", "the audit row names it");
    req = make_request(mem, &shown, NULL, "{'name':'a','secret':'" SECRET "'}");
    resource_create_handle(req);
    is_str(req->res.body, "{\"name\":\"a\",\"secret\":\"" SECRET "\"}",
           "a secret that is shown once is in the answer to the POST");
    req = make_request(mem, &shown, "a", "{'secret':'" SECRET "'}");
    resource_put_handle(req);
    ok(played.replaced && played.sealed, "a PUT stores it too");
    is_str(req->res.body, "{\"name\":\"a\"}", "... and does not answer with it");
    req = make_request(mem, &shown, "a", "{'name':null}");
    resource_put_handle(req);
    ok(!played.sealed, "without one nothing is sealed: the stored one is kept");
    talloc_free(mem);
}

/* ---- keys ---- */

static void
test_keys(void)
{
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request *req = make_request(mem, &kept, NULL, "{}");
    resource_create_handle(req);
    is_str(req->res.body, "{\"name\":\"made\"}", "a key that is not given is made");
    is_str(req->audit.summary, "{\"name\":\"made\"}", "... and named in the audit row");
    req = make_request(mem, &kept, "unknown", NULL);
    is_int(resource_get_handle(req), AZ_NOT_FOUND, "GET of an unknown row");
    is_int(resource_delete_handle(req), AZ_NOT_FOUND, "DELETE of an unknown row");
    req = make_request(mem, &kept, "a", NULL);
    forgotten = 0;
    ok(resource_delete_handle(req) == AZ_OK && req->res.status == 204, "DELETE: 204");
    is_int(forgotten, 1, "... and what is remembered of the row is forgotten");
    req = make_request(mem, &numbered, "12x", NULL);
    is_int(resource_get_handle(req), AZ_NOT_FOUND, "a key that must be a number and is not");
    is_int(resource_delete_handle(req), AZ_NOT_FOUND, "... is not found, nor deleted");
    req = make_request(mem, &numbered, "12", NULL);
    is_int(resource_get_handle(req), AZ_OK, "a number is looked up");
    talloc_free(mem);
}

static void
test_filters(void)
{
    static const struct route_param params[] = {{.name = "one"}, {.name = "two"}, {.name = NULL}};
    TALLOC_CTX *mem = talloc_new(NULL);
    struct request *req = make_request(mem, &kept, NULL, NULL);
    ok(resource_list_handle(req) == AZ_OK && played.filters == 0, "a list without filters");
    ((struct route *) (uintptr_t) req->route)->params = params;
    request_parse_form(req, "two=2", 5);
    resource_list_handle(req);
    ok(played.filters == 2 && played.filter[0] == NULL && strcmp(played.filter[1], "2") == 0,
       "filters are bound in the order of the route's parameters");
    talloc_free(mem);
}

/* ---- If-Match ---- */

static const struct {
    const char *tag; /* value of If-Match; NULL: it was not sent */
    enum az_status status;
    const char *version; /* that the statement compares */
    const char *name;
} conditions[] = {
    {NULL,          AZ_OK,                  NULL, "without If-Match any version is written"        },
    {"\"7\"",       AZ_OK,                  "7",  "the version of the row is written, and no other"},
    {"\"6\"",       AZ_PRECONDITION_FAILED, "-",  "another version is refused"                     },
    {"W/\"7\"",     AZ_PRECONDITION_FAILED, "-",  "... and a weak tag (RFC 9110 13.1.1)"           },
    {"\"77\"",      AZ_PRECONDITION_FAILED, "-",  "... and a longer one"                           },
    {"7",           AZ_PRECONDITION_FAILED, "-",  "... and one without quotes"                     },
    {"",            AZ_PRECONDITION_FAILED, "-",  "... and an empty one"                           },
    {"\"6\",\"7\"", AZ_OK,                  "7",  "one of several"                                 },
    {"*",           AZ_OK,                  "7",  "any version, if there is a row"                 },
};

static void
test_conditions(void)
{
    for (size_t i = 0; i < 2 * sizeof(conditions) / sizeof(conditions[0]); i++) {
        const bool put = i % 2 == 0;
        const char *const set[] = {"HTTP_IF_MATCH", conditions[i / 2].tag, NULL}, *none[] = {NULL};
        TALLOC_CTX *mem = talloc_new(NULL);
        struct request *req = make_request(mem, &kept, "a", "{'label':'l'}");
        struct fake *fake = fake_new(mem, conditions[i / 2].tag != NULL ? set : none, "");
        req->io = &fake->io;
        played.version = "-";
        is_int(put ? resource_put_handle(req) : resource_delete_handle(req),
               conditions[i / 2].status, "%s: %s", put ? "PUT" : "DELETE", conditions[i / 2].name);
        is_str(played.version, conditions[i / 2].version, "... in the statement too");
        talloc_free(mem);
    }
}

/* ---- warnings ---- */

static bool alarmed;       /* `warn` has something to say */
static bool wiped_before;  /* the secret was wiped when `warn` was called */
static const char *sent;   /* the body of the request */
static size_t sent_length; /* its octets */

static json_t *
alarm_about(struct op *op, json_t *row)
{
    wiped_before = !holds(sent, sent_length, SECRET);
    json_t *list = jsonx_own(op->mem, json_array());
    if (alarmed)
        json_array_append_new(list,
                              json_sprintf("%s!", json_string_value(json_object_get(row, "name"))));
    return list;
}

static void
test_warned(void)
{
    static const struct admin_resource warned = {.rows = &thing_rows,
                                                 .body = &thing_body,
                                                 .secret = &secret_kept,
                                                 .complete = complete,
                                                 .warn = alarm_about};
    TALLOC_CTX *mem = talloc_new(NULL);
    for (int put = 0; put < 2; put++) {
        const char *name = put ? "PUT" : "POST", *key = put ? "a" : NULL;
        enum az_status (*handle)(struct request *) =
            put ? resource_put_handle : resource_create_handle;
        struct request *req = make_request(mem, &warned, key, "{'name':'a','secret':'" SECRET "'}");
        sent = req->body;
        sent_length = req->body_length;
        alarmed = true;
        is_int(handle(req), AZ_OK, "%s: warnings refuse nothing", name);
        is_int(req->res.status, put ? 200 : 201, "... nor change the status");
        is_str(req->res.body, "{\"name\":\"a\",\"warnings\":[\"a!\"]}",
               "... and are in the answer, about the row as stored");
        ok(wiped_before, "... and the secret was wiped before they were looked for");
        alarmed = false;
        req = make_request(mem, &warned, key, "{'name':'a'}");
        handle(req);
        is_str(req->res.body, "{\"name\":\"a\"}", "%s: without warnings there is no such member",
               name);
    }
    talloc_free(mem);
}

int
main(void)
{
    test_wiped(&kept);
    test_wiped(&shown);
    test_sealed();
    test_keys();
    test_filters();
    test_conditions();
    test_warned();
    return done();
}

#include "config.h"

#include "admin/object_owners.h"

#include <string.h>

#include "admin/resource/resource.h"
#include "base/json/field_rules.h"
#include "base/json/jsonx.h"
#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "store/db/rows/object_owners.h"

/* Longest text of the secrets of one object, in octets: eight of the longest. */
#define OBJECT_SECRET_MAX 32768

static const char *const object_kinds[] = {"client", "provider", "resource", "connector",
                                           "rule",   "row",      "entry",    NULL};

/* clang-format off */
struct object_mark {
    const char *kind, *key, *digest, *secret;
};
#define NAMES \
    {"kind", FIELD_TEXT, .required = true, .words = object_kinds, \
     FIELD_INTO(struct object_mark, kind), .help = "Kind of the object", .example = "\"client\""}, \
    {"key",  FIELD_TEXT, .required = true, .max = OBJECT_KEY_MAX, .rule = field_rule_visible, \
     FIELD_INTO(struct object_mark, key), .help = "Its name; of an entry DATAKEY/MEMBER/NAME", \
     .example = "\"shop\""}
static const struct field object_mark_fields[] = {
    NAMES,
    {"digest", FIELD_TEXT, .required = true, .min = SHA256_HEX_SIZE - 1, .max = SHA256_HEX_SIZE - 1,
     FIELD_INTO(struct object_mark, digest), .help = "SHA-256 of the object as it was applied",
     .example = "\"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08\""},
    {"secret", FIELD_TEXT, .max = OBJECT_SECRET_MAX, FIELD_INTO(struct object_mark, secret),
     .help = "Its secrets; a MAC of them is kept"},
};
static const struct field object_secret_fields[] = {
    NAMES,
    {"secret", FIELD_TEXT, .required = true, .max = OBJECT_SECRET_MAX,
     FIELD_INTO(struct object_mark, secret), .help = "Its secrets",
     .example = "\"{\\\"clientSecret\\\":\\\"s3cr3t-of-the-shop\\\"}\""},
};
static const struct field_table object_mark_table = FIELD_TABLE("ObjectMark", object_mark_fields,
                                                                0);
static const struct field_table object_secret_table = FIELD_TABLE("ObjectSecret",
                                                                  object_secret_fields, 0);

struct object_owners {
    const char *owner;
    const json_t *items;
};
static const struct field object_owners_fields[] = {
    {"owner", FIELD_TEXT,  .required = true, .max = FIELD_NAME_MAX, .rule = field_rule_visible,
     FIELD_INTO(struct object_owners, owner), .help = "The owner of instance.json",
     .example = "\"platform\""},
    {"marks", FIELD_ARRAY, .required = true, .max = OBJECT_OWNERS_MAX, .shape = &object_mark_table,
     FIELD_INTO(struct object_owners, items), .help = "The objects"},
};
static const struct field object_secrets_fields[] = {
    {"secrets", FIELD_ARRAY, .required = true, .max = OBJECT_OWNERS_MAX,
     .shape = &object_secret_table, FIELD_INTO(struct object_owners, items),
     .help = "The secrets to compare"},
};
const struct route_param object_owners_params[] = {
    {.name = "owner", .help = "Only objects of this owner"},
    {.name = NULL},
};
const struct route_param object_owner_params[] = {
    {.name = "kind", .required = true, .help = "Kind of the object"},
    {.name = "key", .required = true, .help = "Its name"},
    {.name = NULL},
};
/* clang-format on */
const struct field_table object_owners_table = FIELD_TABLE("ObjectOwners", object_owners_fields, 0);
const struct field_table object_secrets_table =
    FIELD_TABLE("ObjectSecrets", object_secrets_fields, 0);

enum az_status
object_owners_list_handle(struct request *req)
{
    const char *list;
    enum az_status st = object_owners_list(&req->op, request_param(req, "owner"), &list);
    return st == AZ_OK ? respond_json_text(req, 200, list) : st;
}

/* Compute the MAC of the secrets of an object, in hex. */
static enum az_status
mark_mac(struct op *op, const struct object_mark *mark, char ret[SHA256_HEX_SIZE])
{
    unsigned char mac[SHA256_OCTETS];
    char *text = talloc_asprintf(op->mem, "%s\n%s\n%s", mark->kind, mark->key, mark->secret);
    enum az_status st =
        text != NULL ? keyring_mac(op->az->keyring, KEYRING_OBJECT_SECRET, text, strlen(text), mac)
                     : AZ_SERVER_ERROR;
    if (text != NULL)
        secret_wipe(text, strlen(text));
    if (st != AZ_OK)
        return op_fail(op, st, NULL, "cannot compute the MAC of a secret");
    digest_hex(mac, ret);
    return AZ_OK;
}

/* The place of an item, for the names of its faults. */
struct mark_place {
    struct request *req;
    const char *list;
    size_t index;
};

static void
mark_fault(void *arg, const char *path, const char *why)
{
    const struct mark_place *place = arg;
    const char *whole =
        talloc_asprintf(place->req->op.mem, "%s[%zu].%s", place->list, place->index, path);
    request_field_fault(place->req, whole != NULL ? whole : path, why);
}

/* Refuse to compare two secrets with that of one object: each request is one guess. */
static bool
is_named_before(json_t *seen, const struct object_mark *mark, const struct mark_place *place)
{
    char *name = talloc_asprintf(place->req->op.mem, "%s\n%s", mark->kind, mark->key);
    bool before = name == NULL || json_object_get(seen, name) != NULL
                  || json_object_set_new(seen, name, json_true()) != 0;
    if (before)
        mark_fault((void *) (uintptr_t) place, "key", "names an object that is named before");
    return before;
}

/* Read the items of a body, with MACs in place of the secrets. */
static enum az_status
marks_read(struct request *req, const struct field_table *table, const json_t *items, json_t **ret)
{
    struct jsonx_build marks = {jsonx_own(req->op.mem, json_array()), false};
    const bool compares = table == &object_secret_table;
    size_t i;
    json_t *item, *seen = jsonx_own(req->op.mem, json_object());
    enum az_status st = AZ_OK;
    json_array_foreach (items, i, item) {
        char mac[SHA256_HEX_SIZE] = "";
        struct object_mark mark = {.kind = NULL};
        struct mark_place place = {req, compares ? "secrets" : "marks", i};
        if (fields_read(req->op.mem, table, item, mark_fault, &place, &mark, NULL) != AZ_OK
            || (compares && is_named_before(seen, &mark, &place)))
            return op_fail(&req->op, AZ_INVALID_FIELDS, NULL, NULL);
        if (mark.secret != NULL)
            st = mark_mac(&req->op, &mark, mac);
        if (st != AZ_OK)
            return st;
        jsonx_append(&marks,
                     json_pack("{s:s,s:s,s:s*,s:s*}", "kind", mark.kind, "key", mark.key, "digest",
                               mark.digest, "mac", mark.secret != NULL ? mac : NULL));
    }
    *ret = jsonx_built(&marks);
    return *ret != NULL ? AZ_OK : op_no_memory(&req->op);
}

static void
request_wipe(struct request *req)
{
    secret_wipe((void *) (uintptr_t) req->body, req->body_length);
    resource_wipe_json(req->json);
}

enum az_status
object_owners_put_handle(struct request *req)
{
    struct object_owners given = {.owner = NULL};
    json_t *marks = NULL;
    enum az_status st = resource_read_fields(req, &object_owners_table, &given);
    if (st == AZ_OK) {
        resource_note(req, "owner", given.owner);
        st = marks_read(req, &object_mark_table, given.items, &marks);
    }
    if (st == AZ_OK)
        st = object_owners_write(&req->op, given.owner, marks);
    request_wipe(req);
    return st == AZ_OK ? respond_empty(req, 204) : st;
}

enum az_status
object_secrets_handle(struct request *req)
{
    struct object_owners given = {.owner = NULL};
    json_t *items = NULL;
    const char *list = NULL;
    enum az_status st = resource_read_fields(req, &object_secrets_table, &given);
    if (st == AZ_OK)
        st = marks_read(req, &object_secret_table, given.items, &items);
    if (st == AZ_OK)
        st = object_owners_compare(&req->op, items, &list);
    request_wipe(req);
    if (st != AZ_OK)
        return st;
    return respond_json_text(req, 200, talloc_asprintf(req->op.mem, "{\"same\":%s}", list));
}

enum az_status
object_owner_delete_handle(struct request *req)
{
    const char *kind = request_param(req, "kind"), *key = request_param(req, "key");
    if (kind == NULL || key == NULL)
        return op_fail(&req->op, AZ_INVALID, "kind and key are required", NULL);
    /* A key that is none may be anything, so the audit row names one that was found alone. */
    enum az_status st = object_owner_delete(&req->op, kind, key);
    if (st != AZ_OK)
        return st;
    resource_note(req, "key", key);
    return respond_empty(req, 204);
}

/* Entries of data rows that several owners share: each is an object of its own (F3). */
#include "config.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "cli/instance/instance.h"

/* A row whose entries are objects of their own, and their depth below the payload. */
struct shared_row {
    const char *data_key;
    size_t depth;
};

static const struct shared_row shared_rows[] = {
    {"svc.entitlements.bindings",   2}, /* clients, registrations, software, scopes: NAME */
    {"svc.registry.resource_types", 3}, /* resource, rar: types: NAME */
};

/* Return how deep the entries of a row are: 0 if it is kept as a whole. */
static size_t
row_depth(const char *data_key)
{
    for (size_t i = 0; i < sizeof(shared_rows) / sizeof(shared_rows[0]); i++)
        if (strcmp(shared_rows[i].data_key, data_key) == 0)
            return shared_rows[i].depth;
    return 0;
}

/* Put what is below a value into the table, `depth` levels down; the key so far is `key`. */
static bool
split_value(TALLOC_CTX *mem, json_t *table, const char *key, json_t *value, size_t depth)
{
    const char *name;
    json_t *member;
    bool done = true;
    if (depth == 0 || !json_is_object(value))
        return instance_put(table, "entry", key, json_pack("{s:O}", "payload", value));
    json_object_foreach (value, name, member) {
        char *below = talloc_asprintf(mem, "%s/%s", key, name);
        done = below != NULL && split_value(mem, table, below, member, depth - 1) && done;
    }
    return done;
}

bool
instance_split(TALLOC_CTX *mem, json_t *table, const char *data_key, json_t *payload)
{
    size_t depth = row_depth(data_key);
    return depth == 0 || !json_is_object(payload)
               ? instance_put(table, "row", data_key, json_pack("{s:O}", "payload", payload))
               : split_value(mem, table, data_key, payload, depth);
}

char *
instance_row_of(TALLOC_CTX *mem, const char *entry)
{
    return talloc_strndup(mem, entry, strcspn(entry, "/"));
}

bool
instance_merge(TALLOC_CTX *mem, json_t *payload, const char *entry, json_t *value)
{
    char *row = instance_row_of(mem, entry);
    size_t depth = row != NULL ? row_depth(row) : 0;
    const char *rest = row != NULL ? entry + strlen(row) : "", *slash;
    json_t *holder = payload;
    /* The last name may contain slashes: a client id or an address. */
    for (; depth > 1 && *rest == '/' && (slash = strchr(rest + 1, '/')) != NULL; depth--) {
        char *name = talloc_strndup(mem, rest + 1, (size_t) (slash - rest) - 1);
        json_t *next = name != NULL ? json_object_get(holder, name) : NULL;
        if (name != NULL && !json_is_object(next)
            && json_object_set_new(holder, name, next = json_object()) != 0)
            return false;
        holder = next;
        rest = slash;
    }
    if (row == NULL || depth == 0 || holder == NULL || *rest != '/')
        return false;
    if (value == NULL) {
        json_object_del(holder, rest + 1);
        return true;
    }
    return json_object_set(holder, rest + 1, value) == 0;
}

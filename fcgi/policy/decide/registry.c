#include "config.h"

#include "policy/decide/registry.h"

#include <string.h>

#include "base/jsonx.h"
#include "policy/decide/published.h"
#include "store/policy/policy_rows.h"

#define ROW "svc.registry.resource_types"

bool
resource_equal(const char *a, const char *b)
{
    size_t length_a = strlen(a), length_b = strlen(b);
    if (length_a > length_b) {
        const char *swap = a;
        a = b, b = swap;
        size_t size = length_a;
        length_a = length_b, length_b = size;
    }
    if (length_a == length_b)
        return strcmp(a, b) == 0;
    const char *authority = strstr(a, "://");
    bool bare = authority != NULL && strchr(authority + 3, '/') == NULL && strpbrk(a, "?#") == NULL;
    return bare && length_b == length_a + 1 && strncmp(a, b, length_a) == 0 && b[length_a] == '/';
}

/* The row as published with one revision. The process keeps it, and replaces it as a whole. */
struct registry {
    const char *revision; /* NULL: nothing is published yet */
    json_t *row;          /* NULL: the bundle has no such row */
};

static enum az_status
make_registry(struct op *op, const char *revision, const char *payload, struct registry **ret)
{
    struct registry *made = talloc_zero(op->mem, struct registry);
    if (made == NULL
        || (revision != NULL && (made->revision = talloc_strdup(made, revision)) == NULL))
        return op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
    *ret = made;
    return published_parse(op, made, ROW, payload, &made->row);
}

/* Return the registry as it is served now. The row is read only if the process has another
 * revision. */
static enum az_status
fetch_served(struct op *op, const struct registry **ret)
{
    struct registry *kept = op->az->registry, *made = NULL;
    const char *known = kept != NULL ? kept->revision : NULL, *revision, *payload;
    enum az_status st = policy_published_fetch(op, ROW, known, &revision, &payload);
    if (st != AZ_OK)
        return st;
    if (known != NULL && revision != NULL && strcmp(known, revision) == 0) {
        *ret = kept;
        return AZ_OK;
    }
    if ((st = make_registry(op, revision, payload, &made)) != AZ_OK)
        return st;
    if (revision != NULL) {
        /* The old one lives to the end of the operation, which may still use it. */
        if (kept != NULL)
            talloc_steal(op->mem, kept);
        op->az->registry = talloc_steal(op->az, made);
    }
    *ret = made;
    return AZ_OK;
}

/*
 * Return the registry against which an answer of `revision` is checked (policy.md 6.4): the kept
 * one if it has that revision, otherwise the served one, read again.
 *
 * An old registry cannot widen a grant. It is used only for answers of its own revision, so the
 * engine and this check read the same row; and such a grant is written only while its revision is
 * acceptable (token_insert compares the two in the statement that writes). Once a change is
 * confirmed, the old revision is no longer acceptable. An answer of a revision that is not served
 * is checked against the served registry, which is the newest configuration.
 */
static enum az_status
find_registry(struct op *op, const char *revision, const struct registry **ret)
{
    const struct registry *kept = op->az->registry;
    if (kept == NULL || revision == NULL || strcmp(kept->revision, revision) != 0)
        return fetch_served(op, ret);
    *ret = kept;
    return AZ_OK;
}

enum az_status
registry_ties(struct op *op, const char *revision, const char *type, const char *resource,
              bool *ret_tied)
{
    const struct registry *registry;
    enum az_status st = find_registry(op, revision, &registry);
    if (st != AZ_OK)
        return st;
    json_t *types = json_object_get(json_object_get(registry->row, "resource"), "types");
    const char *indicator =
        json_string_value(json_object_get(json_object_get(types, type), "indicator"));
    *ret_tied = indicator != NULL && resource_equal(indicator, resource);
    return AZ_OK;
}

enum az_status
registry_type_names(struct op *op, json_t **ret)
{
    static const char *const parts[] = {"resource", "rar"};
    const struct registry *registry;
    struct jsonx_build names = {jsonx_own(op->mem, json_array()), false};
    json_t *value;
    const char *name;
    enum az_status st = fetch_served(op, &registry);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < 2; i++)
        json_object_foreach (json_object_get(json_object_get(registry->row, parts[i]), "types"),
                             name, value)
            jsonx_append(&names, json_string(name));
    *ret = jsonx_built(&names);
    return *ret != NULL ? AZ_OK : op_fail(op, AZ_SERVER_ERROR, NULL, "out of memory");
}

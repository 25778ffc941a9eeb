#include "config.h"

#include "policy/decide/registry.h"

#include <ctype.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "policy/decide/published.h"

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

char *
resource_normal(TALLOC_CTX *mem, const char *address)
{
    static const struct {
        const char *scheme, *port;
    } defaults[] = {
        {"https://", ":443"},
        {"http://",  ":80" }
    };
    const char *mark = strstr(address, "://");
    if (mark == NULL)
        return NULL;
    size_t authority = (size_t) (mark + 3 - address), end = authority + strcspn(mark + 3, "/?#");
    if (end == authority || memchr(address + authority, '@', end - authority) != NULL)
        return NULL;
    const char *rest = strcmp(address + end, "/") == 0 ? "" : address + end;
    char *text = talloc_strndup(mem, address, end);
    if (text == NULL)
        return NULL;
    for (char *c = text; *c != '\0'; c++)
        *c = (char) tolower((unsigned char) *c);
    for (size_t i = 0; i < sizeof(defaults) / sizeof(defaults[0]); i++) {
        size_t length = strlen(text), port = strlen(defaults[i].port);
        if (strncmp(text, defaults[i].scheme, strlen(defaults[i].scheme)) == 0 && length > port
            && strcmp(text + length - port, defaults[i].port) == 0)
            text[length - port] = '\0';
    }
    return talloc_strdup_append(text, rest);
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
find_registry(struct op *op, const char *revision, const struct published **ret)
{
    return published_keep(op, REGISTRY_ROW, revision, &op->az->registry, ret);
}

bool
registry_row_ties(const json_t *row, const char *type, const char *resource)
{
    const json_t *types = json_object_get(json_object_get(row, "resource"), "types");
    const char *indicator =
        json_string_value(json_object_get(json_object_get(types, type), "indicator"));
    return indicator != NULL && resource_equal(indicator, resource);
}

enum az_status
registry_ties(struct op *op, const char *revision, const char *type, const char *resource,
              bool *ret_tied)
{
    const struct published *registry;
    enum az_status st = find_registry(op, revision, &registry);
    if (st != AZ_OK)
        return st;
    *ret_tied = registry_row_ties(registry->row, type, resource);
    return AZ_OK;
}

enum az_status
registry_type_names(struct op *op, json_t **ret)
{
    static const char *const parts[] = {"resource", "rar"};
    const struct published *registry;
    struct jsonx_build names = {jsonx_own(op->mem, json_array()), false};
    json_t *value;
    const char *name;
    enum az_status st = find_registry(op, NULL, &registry);
    if (st != AZ_OK)
        return st;
    for (size_t i = 0; i < 2; i++)
        json_object_foreach (json_object_get(json_object_get(registry->row, parts[i]), "types"),
                             name, value)
            jsonx_append(&names, json_string(name));
    *ret = jsonx_built(&names);
    return *ret != NULL ? AZ_OK : op_no_memory(op);
}

const char *
registry_revision(const struct op *op)
{
    return op->az->registry != NULL ? op->az->registry->revision : NULL;
}

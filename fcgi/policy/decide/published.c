#include "config.h"

#include "policy/decide/published.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "store/policy/policy_rows.h"

/* Nesting of a row; the schemas of the rows that are read here need far less. */
#define PUBLISHED_DEPTH_MAX 32

/* Parse the payload of such a row, which policy_published_fetch() returned; *ret is owned by mem.
 * A payload of NULL is no row. AZ_SERVER_ERROR: the payload is not JSON. */
static enum az_status
parse_payload(struct op *op, TALLOC_CTX *mem, const char *data_key, const char *payload,
              json_t **ret)
{
    const char *why = NULL;
    *ret = NULL;
    if (payload != NULL
        && jsonx_parse(mem, payload, strlen(payload), PUBLISHED_DEPTH_MAX, ret, &why) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "row %s is not JSON: %s", data_key,
                       why != NULL ? why : "out of memory");
    return AZ_OK;
}

enum az_status
published_row(struct op *op, const char *data_key, json_t **ret)
{
    const char *revision, *payload;
    enum az_status st = policy_published_fetch(op, data_key, NULL, &revision, &payload);
    return st == AZ_OK ? parse_payload(op, op->mem, data_key, payload, ret) : st;
}

static enum az_status
make_published(struct op *op, const char *data_key, const char *revision, const char *payload,
               struct published **ret)
{
    struct published *made = talloc_zero(op->mem, struct published);
    if (made == NULL
        || (revision != NULL && (made->revision = talloc_strdup(made, revision)) == NULL))
        return op_no_memory(op);
    *ret = made;
    return parse_payload(op, made, data_key, payload, &made->row);
}

enum az_status
published_keep(struct op *op, const char *data_key, const char *wanted, struct published **kept,
               const struct published **ret)
{
    struct published *old = *kept, *made = NULL;
    const char *known = old != NULL ? old->revision : NULL, *revision, *payload;
    *ret = old;
    if (known != NULL && wanted != NULL && strcmp(known, wanted) == 0)
        return AZ_OK;
    enum az_status st = policy_published_fetch(op, data_key, known, &revision, &payload);
    if (st != AZ_OK)
        return st;
    if (known != NULL && revision != NULL && strcmp(known, revision) == 0)
        return AZ_OK;
    if ((st = make_published(op, data_key, revision, payload, &made)) != AZ_OK)
        return st;
    if (revision != NULL) {
        /* The old one lives to the end of the operation, which may still use it. */
        if (old != NULL)
            talloc_steal(op->mem, old);
        *kept = talloc_steal(op->az, made);
    }
    *ret = made;
    return AZ_OK;
}

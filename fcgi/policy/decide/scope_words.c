#include "config.h"

#include "policy/decide/scope_words.h"

#include "policy/decide/published.h"

#define ROW "svc.registry.scopes"

enum az_status
scope_words_read(struct op *op, const json_t **ret)
{
    const struct published *kept = NULL;
    enum az_status st = published_keep(op, ROW, NULL, &op->az->scope_words, &kept);
    *ret = st == AZ_OK && kept != NULL ? json_object_get(kept->row, "scopes") : NULL;
    return st;
}

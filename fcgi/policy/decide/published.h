/* Rows of policy data as they are published, for the modules that read one themselves. */
#ifndef AZ_POLICY_DECIDE_PUBLISHED_H
#define AZ_POLICY_DECIDE_PUBLISHED_H

#include <jansson.h>
#include <talloc.h>

#include "base/op.h"

/* Read the row of this key as it is served now; *ret is owned by op->mem. NULL: the bundle has no
 * such row. One trip. */
enum az_status published_row(struct op *op, const char *data_key, json_t **ret);

/* A row as published with one revision. */
struct published {
    const char *revision; /* NULL: nothing is published yet */
    json_t *row;          /* NULL: the bundle has no such row */
};

/*
 * Return the row of this key with a revision: the one that the process keeps in *kept, if it has
 * that revision; otherwise, and for a revision of NULL, the row as it is served now, which takes
 * one trip and brings the row only if it has changed. The process keeps it then, and replaces it as
 * a whole. *ret lives at least to the end of the operation.
 */
enum az_status published_keep(struct op *op, const char *data_key, const char *revision,
                              struct published **kept, const struct published **ret);

#endif

/* Reading audit rows back: the question that policy was asked, and its answer. */
#ifndef AZ_STORE_AUDIT_READ_AUDIT_READ_H
#define AZ_STORE_AUDIT_READ_AUDIT_READ_H

#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/* All on op->mem. */
struct audit_record {
    const char *endpoint;          /* the route's pattern */
    const char *created_at;        /* ISO 8601, UTC */
    const unsigned char *input;    /* packed policy input (base/pack.h), or NULL */
    size_t input_length;           /* octets */
    const unsigned char *decision; /* packed policy answer, or NULL */
    size_t decision_length;        /* octets */
};

/* Fetch the row with this id, of any day. AZ_NOT_FOUND if there is no such row, or no longer. */
enum az_status audit_fetch(struct op *op, int64_t id, struct audit_record *ret);

#endif

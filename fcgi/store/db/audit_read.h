/* Audit rows as they are read again: what policy was asked then, and what it said. */
#ifndef AZ_STORE_DB_AUDIT_READ_H
#define AZ_STORE_DB_AUDIT_READ_H

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

/* The row with this id, of whatever day. AZ_NOT_FOUND when there is none, or none any more. */
enum az_status audit_fetch(struct op *op, int64_t id, struct audit_record *ret);

#endif

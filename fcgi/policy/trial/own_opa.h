/* An Open Policy Agent of one request's own: a process within limits that has one bundle and
 * decides nothing. What does not end in it is felt by nobody, and ends with the process. */
#ifndef AZ_POLICY_TRIAL_OWN_OPA_H
#define AZ_POLICY_TRIAL_OWN_OPA_H

#include "base/op.h"

/* Time in which it must have the bundle, in milliseconds. The shipped policy takes 200 on an idle
 * machine; a bundle of ARCHIVE_MAX takes some seconds. */
#define OWN_OPA_READY_MS 10000

struct own_opa;

/* Outcomes of starting one. */
enum own_opa_start {
    OWN_OPA_READY,
    OWN_OPA_NONE,    /* there is no program, or the host does not let it run: see why */
    OWN_OPA_REFUSED, /* it does not take the bundle in, or not in time and memory: see why */
};

/*
 * Start the program SVC_OPA_BINARY with the archive of a bundle, on mem; freeing the result ends
 * the process. `octets` is the memory that it may write to and `seconds` the processor time.
 * *ret_why (on mem or constant) is for people. The session of the database does not fall silent.
 */
enum own_opa_start own_opa_start(struct op *op, const unsigned char *body, size_t length,
                                 struct own_opa **ret, const char **ret_why);

/* Return an operation beside another that asks this engine. `mem` owns its memory. */
struct op own_opa_op(const struct op *op, TALLOC_CTX *mem, const struct own_opa *own);

#endif

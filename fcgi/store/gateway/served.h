/* A short mark of all that the gateway serves, for programs that look for changes. */
#ifndef AZ_STORE_GATEWAY_SERVED_H
#define AZ_STORE_GATEWAY_SERVED_H

#include <stddef.h>
#include <stdint.h>

#include "base/op.h"

/* An enabled resource. */
struct served_resource {
    int64_t id, version; /* the version changes with its definition and its tools */
    int64_t prompts;     /* a number that changes with what is served of its prompts */
};

struct served {
    const char *revision;             /* revision of the policy that decides, or "" */
    struct served_resource *resource; /* in the order of their ids */
    size_t count;
};

/* Read it, onto `mem`. One trip. */
enum az_status served_read(struct op *op, TALLOC_CTX *mem, struct served *ret);

#endif

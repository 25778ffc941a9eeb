/* Parts that seal.c and drop.c share. */
#ifndef AZ_STORE_AUDIT_PROOF_SEAL_SEAL_PRIVATE_H
#define AZ_STORE_AUDIT_PROOF_SEAL_SEAL_PRIVATE_H

#include <jansson.h>

#include "crypto/jwk.h"
#include "store/audit/proof/tiles.h"

/* A run. */
struct seal {
    struct op *op;
    struct audit_log_state state;
    struct audit_edge *edge;
    bool checked; /* against what was signed last */
};

/* Append a note, in a transaction of its own, with a checkpoint of the log that ends with it if
 * `key` is given. AZ_CONFLICT: another process moved the log. */
enum az_status audit_note_append(struct seal *seal, json_t *note, const char *kid,
                                 const struct jwk *key, const char **ret_checkpoint);

/* Append a note that names the key before it signs for the first time. */
enum az_status audit_key_announce(struct seal *seal, const struct jwk *key);

#endif

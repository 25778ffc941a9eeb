/* Rows of the signing keys, shared by signing_keys.c, which reads them, and signing_keys_turn.c,
 * which changes them. */
#ifndef AZ_STORE_TOKENS_SIGNING_KEYS_PRIVATE_H
#define AZ_STORE_TOKENS_SIGNING_KEYS_PRIVATE_H

#include <libpq-fe.h>

#include "store/db/db.h"
#include "store/tokens/signing_keys.h"

enum signing_key_states_column {
    STATES_STATE,
    STATES_ALG,
    STATES_KID,
    STATES_PRIVATE_SEALED,
    STATES_AGE
};

/* Read the active and the next keys of a use, of all its algorithms. One trip. */
enum az_status signing_key_states(struct op *op, enum signing_use use, PGresult **ret);

/* Return the row of an algorithm and state, or -1. */
int signing_key_row(const PGresult *result, const char *alg, const char *state);

/* End of a retired key's publication: $1 seconds after its retirement for ID tokens, $2 seconds for
 * statements, which live longer. */
#define SIGNING_PUBLISHED_UNTIL                                                                    \
    "retired_at + make_interval(secs => CASE use WHEN 'statement' THEN $2::double precision"       \
    " ELSE $1::double precision END)"

/* Bind both times of SIGNING_PUBLISHED_UNTIL. */
void signing_key_bind_retirement(const struct op *op, struct db_params *params);

/* Return the place that a private key is sealed for. It lives on mem. */
char *signing_key_place(TALLOC_CTX *mem, const char *kid);

#endif

/* Access tokens: issue, revoke, consume. Each is one round trip, with its audit row in the
 * same transaction. */
#ifndef AZ_STORE_TOKENS_TOKENS_H
#define AZ_STORE_TOKENS_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/token.h"
#include "store/clients/clients.h"
#include "store/db/audit.h"

/* What is stored of a token at issue. */
struct token_new {
    const struct token_parts *parts; /* bucket, id, hash of the secret */
    const struct client *client;     /* as cached: the statement re-checks its version */
    const char *revision;            /* bundle revision that decided: must still be acceptable */
    int64_t issued_ms;               /* milliseconds since 1970, the same as in the id */
    int64_t expires_at;              /* seconds since 1970, in the bucket of parts */
    bool jit;                        /* single use */
    const char *subject;             /* NULL: the client itself */
    const char *scope;               /* granted, space-separated */
    const char *resource;            /* or NULL */
};

/*
 * Stores the token and its audit row (whose policy_decision is the token's pdpOutput) in one
 * commit, but only while the client's row has the version we know, is enabled, and the revision may
 * decide. *ret_stored false: one of them does not hold any more, nothing was written. A missing
 * partition is made and the statement tried once more.
 */
enum az_status token_insert(struct op *op, const struct token_new *token,
                            const struct audit_entry *audit, bool *ret_stored);

/* The parameters of a token and its audit row, $1 to $25 of a statement that issues one. */
void token_bind(struct db_params *params, const struct token_new *token,
                const struct audit_entry *audit);

/* Writes the audit row of a refusal by policy, if the revision may decide; *ret_stored false
 * otherwise. */
enum az_status token_insert_denial(struct op *op, const struct client *client, const char *revision,
                                   const struct audit_entry *audit, bool *ret_stored);

/*
 * Deletes a single-use token and writes the audit row, under the advisory lock of its id, in one
 * transaction and one trip. *ret_consumed false: another introspection had it first (the audit row
 * then says rejected).
 */
enum az_status token_consume(struct op *op, const struct token_parts *token,
                             const struct audit_entry *audit, bool *ret_consumed);

/*
 * Revokes an access token, or the family of a refresh token, if it belongs to `client`, or, with
 * client NULL, to a public client (specification 3), and writes the audit row. *ret_current false:
 * the cached client is stale, nothing was done.
 */
enum az_status token_revoke(struct op *op, enum token_kind kind, const struct token_parts *token,
                            const struct client *client, const struct audit_entry *audit,
                            bool *ret_current);

#endif

/* Access tokens: issue, revoke, consume. Each is one round trip, with its audit row in the
 * same transaction. */
#ifndef AZ_STORE_TOKENS_TOKENS_H
#define AZ_STORE_TOKENS_TOKENS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/op.h"
#include "crypto/token.h"
#include "store/clients/clients.h"
#include "store/db/rows/audit.h"

/* A token to be stored. */
struct token_new {
    const struct token_parts *parts; /* bucket, id, hash of the secret */
    const struct client *client;     /* as cached; the statement checks its version */
    const char *revision;            /* bundle revision that decided; it must still be acceptable */
    int64_t issued_ms;               /* milliseconds since 1970, the same as in the id */
    int64_t expires_at;              /* seconds since 1970, in the bucket of parts */
    bool jit;                        /* single use */
    const char *subject;             /* NULL: the client itself */
    const char *scope;               /* granted, space-separated */
    const char *resource;            /* or NULL */
    const char *jkt;                 /* thumbprint of its DPoP key; NULL: a bearer token */
    const char *act;                 /* JSON of its act claim, or NULL */
    const unsigned char
        *grant;  /* family, of UUID7_OCTETS, or NULL. Not for grant_use(), which names it itself */
    int64_t idp; /* provider of a token of a person without a family, or 0 */
};

/*
 * Store the token and its audit row (whose policy_decision is the token's pdpOutput) in one commit,
 * but only while the client has the version we know and is enabled, and the revision may decide.
 * *ret_stored false: one of these no longer holds, and nothing was written. A missing partition is
 * made, and the statement is tried once more.
 */
enum az_status token_insert(struct op *op, const struct token_new *token,
                            const struct audit_entry *audit, bool *ret_stored);

/* Add the parameters of a token and its audit row, $1 to $27 of a statement that issues one. */
void token_bind(struct db_params *params, const struct token_new *token,
                const struct audit_entry *audit);

/* Write the audit row of a refusal by policy if the revision may decide and the client has the
 * version we know (id 0: a client without a row yet); otherwise *ret_stored is false. */
enum az_status token_insert_denial(struct op *op, const struct client *client, const char *revision,
                                   const struct audit_entry *audit, bool *ret_stored);

/* Delete a single-use token and write the audit row, under the advisory lock of its id, in one
 * transaction and one trip. *ret_consumed false: another introspection was first, and the audit row
 * says rejected. */
enum az_status token_consume(struct op *op, const struct token_parts *token,
                             const struct audit_entry *audit, bool *ret_consumed);

/* Revoke an access token, or the family of a refresh token, if it belongs to `client`, or, with
 * client NULL, to a public client (specification 3), and write the audit row, unless the client
 * proved nothing and nothing was revoked (*ret_noted false). *ret_current false: the cached client
 * is out of date, and nothing was done. */
enum az_status token_revoke(struct op *op, enum token_kind kind, const struct token_parts *token,
                            const struct client *client, const struct audit_entry *audit,
                            bool *ret_current, bool *ret_noted);

#endif

/* The software statements that we sign for clients (RFC 7591 section 2.3; decisions.md "Readings").
 */
#ifndef AZ_TOKEN_SOFTWARE_STATEMENT_H
#define AZ_TOKEN_SOFTWARE_STATEMENT_H

#include <jansson.h>

#include "base/op.h"

/* "typ" of ours: what tells them from other tokens that we sign. */
#define SOFTWARE_STATEMENT_TYP "software-statement+jwt"

/* Octets of the claims as text: signed and in base64url they stay below JWS_OCTETS_MAX, so that we
 * take back what we gave out. */
#define SOFTWARE_STATEMENT_CLAIMS_MAX 8192

/* What keeps an object from being claims of a statement for a client, as a text that fits after its
 * name, or NULL: too large, or a claim that is ours to say or that another kind of token has. */
const char *software_statement_fault(TALLOC_CTX *mem, const json_t *claims, const char *client_id);

/* Signs claims for a client with the active statement key: with iss, iat, exp and client_id. *ret
 * lives on op->mem. One trip. */
enum az_status software_statement_sign(struct op *op, const char *client_id, const json_t *claims,
                                       const char **ret);

#endif

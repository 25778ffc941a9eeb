/* The software statements that this service signs for its clients (RFC 7591 2.3). */
#ifndef AZ_TOKEN_SOFTWARE_STATEMENT_H
#define AZ_TOKEN_SOFTWARE_STATEMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "base/op.h"

/* "typ" of the statements: it tells them apart from other tokens that the service signs. */
#define SOFTWARE_STATEMENT_TYP "software-statement+jwt"

/* Longest claims as text, in octets. Signed and in base64url they stay below JWS_OCTETS_MAX, so
 * that the service accepts its own statements. */
#define SOFTWARE_STATEMENT_CLAIMS_MAX 8192

/* Return NULL if an object may be the claims of a statement for a client, or the fault as a text
 * that fits after its name: too large, or a claim that the service sets or that other tokens have.
 */
const char *software_statement_fault(TALLOC_CTX *mem, const json_t *claims, const char *client_id);

/* Sign claims for a client, with iss, iat, exp and client_id, with the active statement key. *ret
 * is on op->mem. One trip. */
enum az_status software_statement_sign(struct op *op, const char *client_id, const json_t *claims,
                                       const char **ret);

/* *ret is true if a statement that this service signed before is still good, as far as its key, its
 * issuer and its end go, and says these claims. One trip, unless it is not. */
enum az_status software_statement_is_good(struct op *op, const char *statement,
                                          const json_t *claims, bool *ret);

#endif

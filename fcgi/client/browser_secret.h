/* Secrets that a browser carries between this service and an authorization server: state, nonce,
 * and the code_verifier of PKCE (RFC 7636). */
#ifndef AZ_CLIENT_BROWSER_SECRET_H
#define AZ_CLIENT_BROWSER_SECRET_H

#include "base/op.h"
#include "crypto/digest.h"

/* Make a secret of 256 random bits as base64url text, on op->mem and wiped with it, and the SHA-256
 * of that text, which a row stores in its place. AZ_SERVER_ERROR: no random numbers or no memory.
 */
enum az_status browser_secret_make(struct op *op, const char **ret,
                                   unsigned char ret_hash[SHA256_OCTETS]);

/* Make a code_verifier (RFC 7636 4.1), wiped with op->mem, and its challenge by S256 (4.2). */
enum az_status browser_secret_verifier(struct op *op, const char **ret_verifier,
                                       const char **ret_challenge);

#endif

/* The service's own key pairs: generated here, stored sealed, published as JWK. */
#ifndef AZ_CRYPTO_KEYPAIR_H
#define AZ_CRYPTO_KEYPAIR_H

#include <stddef.h>
#include <talloc.h>

#include "base/status.h"
#include "crypto/jwk.h"

/*
 * Generate an RSA pair for RS256: use is "sig", alg "RS256", kid the thumbprint (RFC 7638). This
 * takes from a tenth of a second to a few seconds. *ret belongs to mem. AZ_INVALID: bits outside
 * JWK_RSA_BITS_MIN to JWK_RSA_BITS_MAX.
 */
enum az_status keypair_generate_rsa(TALLOC_CTX *mem, unsigned bits, struct jwk **ret);

/* Generate a pair of P-256 for ES256, named in the same way. This takes less than a millisecond. */
enum az_status keypair_generate_p256(TALLOC_CTX *mem, struct jwk **ret);

/*
 * Write the private key as unencrypted PKCS#8 DER (RFC 5958), for sealing. *ret belongs to mem and
 * is wiped when it is freed. AZ_INVALID: the key has no private half.
 */
enum az_status keypair_dump(TALLOC_CTX *mem, const struct jwk *key, unsigned char **ret,
                            size_t *ret_len);

/* Read the output of keypair_dump(); kid, use and alg are set as for a new pair. */
enum az_status keypair_parse(TALLOC_CTX *mem, const void *der, size_t len, struct jwk **ret);

#endif

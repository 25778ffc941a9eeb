#include "config.h"

#include "client/browser_secret.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/random.h"
#include "crypto/secret.h"

/* Random octets of a secret. Their base64url has 43 characters, the least that RFC 7636 4.1 asks of
 * a code_verifier. */
#define SECRET_OCTETS 32

enum az_status
browser_secret_make(struct op *op, const char **ret, unsigned char ret_hash[SHA256_OCTETS])
{
    unsigned char octets[SECRET_OCTETS];
    char *text = secret_alloc(op->mem, B64URL_LENGTH(SECRET_OCTETS) + 1);
    if (text == NULL || random_octets(octets, sizeof(octets)) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL,
                       "the random number generator failed, or out of memory");
    b64url_encode_into(octets, sizeof(octets), text);
    secret_wipe(octets, sizeof(octets));
    if (sha256(text, strlen(text), ret_hash) != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "SHA-256 failed");
    *ret = text;
    return AZ_OK;
}

enum az_status
browser_secret_verifier(struct op *op, const char **ret_verifier, const char **ret_challenge)
{
    unsigned char hash[SHA256_OCTETS];
    enum az_status st = browser_secret_make(op, ret_verifier, hash);
    if (st != AZ_OK)
        return st;
    *ret_challenge = b64url_encode(op->mem, hash, sizeof(hash));
    return *ret_challenge != NULL ? AZ_OK : op_no_memory(op);
}

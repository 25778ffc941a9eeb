#include "config.h"

#include "store/clients/client_secrets.h"

#include <string.h>

#include "crypto/keyring.h"
#include "crypto/secret.h"
#include "crypto/token.h"
#include "store/clients/clients.h"

enum az_status
client_secret_make(struct op *op, const char **ret)
{
    struct token_text text;
    struct token_parts parts;
    const char *secret = NULL;
    if (token_make(TOKEN_CLIENT_SECRET, TOKEN_NO_EXPIRY, op->now_ms, &text, &parts) == AZ_OK) {
        secret = secret_copy(op->mem, text.text, strlen(text.text));
        token_text_done(&text);
    }
    if (secret == NULL)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a client secret cannot be created");
    *ret = secret;
    return AZ_OK;
}

enum az_status
client_secret_seal(struct op *op, const char *client_id, const char *secret,
                   const unsigned char **ret, size_t *ret_length)
{
    unsigned char *box;
    const char *place = client_secret_place(op->mem, client_id);
    if (place == NULL
        || keyring_seal(op->mem, op->az->keyring, KEYRING_CLIENT_SECRET, place, secret,
                        strlen(secret), &box, ret_length)
               != AZ_OK)
        return op_fail(op, AZ_SERVER_ERROR, NULL, "a client secret cannot be encrypted");
    *ret = box;
    return AZ_OK;
}

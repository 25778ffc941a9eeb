#include "config.h"

#include "gateway/upstream/credential.h"

#include <string.h>

#include "crypto/secret.h"

char *
upstream_credential_value(struct op *op, const char *scheme, const char *value)
{
    size_t before = scheme != NULL ? strlen(scheme) : 0, length = strlen(value);
    char *text = secret_alloc(op->mem, before + 1 + length + 1);
    if (text == NULL)
        return NULL;
    if (before > 0) {
        memcpy(text, scheme, before);
        text[before++] = ' ';
    }
    memcpy(text + before, value, length + 1);
    return text;
}

void
upstream_credential_done(struct upstream_credential *credential)
{
    if (credential->value != NULL)
        secret_wipe(credential->value, strlen(credential->value));
    credential->value = NULL;
}

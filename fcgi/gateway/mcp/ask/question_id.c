#include "config.h"

#include "gateway/mcp/ask/question_id.h"

#include <string.h>

#include "base/b64url.h"
#include "crypto/keyring.h"

#define PREFIX "q1."
/* Context that the box is bound to, as that of a row is to its column. */
#define PLACE "mcp/question"

/* The contents, as they stand in memory: the answer comes to a process of the same host. */
struct contents {
    unsigned char box[MAILBOX_OCTETS];
    unsigned char session[GATEWAY_SESSION_OCTETS];
    unsigned char owner[SHA256_OCTETS];
    int64_t until;
};

const char *
question_id_make(struct op *op, const struct gateway_session *session, const struct mailbox *box,
                 int64_t until)
{
    struct contents contents = {.until = until};
    unsigned char *sealed = NULL;
    size_t length;
    memcpy(contents.box, box->id, sizeof(contents.box));
    memcpy(contents.session, session->id, sizeof(contents.session));
    memcpy(contents.owner, session->owner, sizeof(contents.owner));
    if (keyring_seal(op->mem, op->az->keyring, KEYRING_MCP_STATE, PLACE, &contents,
                     sizeof(contents), &sealed, &length)
        != AZ_OK)
        return NULL;
    const char *encoded = b64url_encode(op->mem, sealed, length);
    return encoded != NULL ? talloc_asprintf(op->mem, PREFIX "%s", encoded) : NULL;
}

enum az_status
question_id_read(struct op *op, const struct gateway_session *session, const char *text,
                 unsigned char ret[MAILBOX_OCTETS])
{
    struct contents contents;
    size_t prefix = strlen(PREFIX), length;
    unsigned char *sealed = NULL, *plain = NULL;
    if (strncmp(text, PREFIX, prefix) != 0)
        return AZ_INVALID;
    enum az_status st =
        b64url_decode(op->mem, text + prefix, strlen(text + prefix), &sealed, &length);
    if (st == AZ_OK)
        st = keyring_open(op->mem, op->az->keyring, KEYRING_MCP_STATE, PLACE, sealed, length,
                          &plain, &length);
    if (st != AZ_OK || length != sizeof(contents))
        return st != AZ_OK ? st : AZ_INVALID;
    memcpy(&contents, plain, sizeof(contents));
    if (memcmp(contents.session, session->id, sizeof(contents.session)) != 0
        || memcmp(contents.owner, session->owner, sizeof(contents.owner)) != 0
        || contents.until <= op_now(op))
        return AZ_INVALID;
    memcpy(ret, contents.box, sizeof(contents.box));
    return AZ_OK;
}

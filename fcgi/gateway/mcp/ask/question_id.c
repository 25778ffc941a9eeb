#include "config.h"

#include "gateway/mcp/ask/question_id.h"

#include <string.h>

#include "gateway/mcp/message/sealed_text.h"

#define PREFIX "q1."
/* Context that the box is bound to, as the box of a row is bound to its column. */
#define PLACE "mcp/question"

/* The contents, in the byte order of this host: the answer comes to a process of the same host. */
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
    memcpy(contents.box, box->id, sizeof(contents.box));
    memcpy(contents.session, session->id, sizeof(contents.session));
    memcpy(contents.owner, session->owner, sizeof(contents.owner));
    return mcp_seal_text(op, PREFIX, PLACE, &contents, sizeof(contents));
}

enum az_status
question_id_read(struct op *op, const struct gateway_session *session, const char *text,
                 unsigned char ret[MAILBOX_OCTETS])
{
    struct contents contents;
    unsigned char *plain = NULL;
    size_t length;
    enum az_status st = mcp_open_text(op, PREFIX, PLACE, text, &plain, &length);
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

/*
 * Ids of questions that are sent to older clients as requests (gateway-admin.md 1.12): sealed, and
 * bound to the session, so that an answer of another one, or to a question that was never asked, is
 * none.
 *
 *   q1.<base64url of a box (crypto/seal.h)>
 */
#ifndef AZ_GATEWAY_MCP_ASK_QUESTION_ID_H
#define AZ_GATEWAY_MCP_ASK_QUESTION_ID_H

#include "host/mailbox.h"
#include "store/gateway/sessions.h"

/* Return the id of a question that a mailbox waits for until then (seconds since 1970), on op->mem,
 * or NULL if out of memory. */
const char *question_id_make(struct op *op, const struct gateway_session *session,
                             const struct mailbox *box, int64_t until);

/* Read an id that a client of this session sends back. AZ_INVALID: the id belongs to another
 * session, or has expired. AZ_SERVER_ERROR: out of memory. */
enum az_status question_id_read(struct op *op, const struct gateway_session *session,
                                const char *text, unsigned char ret[MAILBOX_OCTETS]);

#endif

#include "config.h"

#include "gateway/mcp/cancel.h"

#include <string.h>

#include "base/json/jsonx.h"
#include "gateway/calls.h"
#include "gateway/process/gateway_process.h"

/* Make the key of a request of a session: other sessions have no part in it, and so no other
 * person. */
static enum az_status
key_of(const struct mcp_exchange *it, const json_t *id, unsigned char ret[SHA256_OCTETS])
{
    const struct gateway_session *session = &it->session.key;
    TALLOC_CTX *mem = it->req->op.mem;
    const char *text = jsonx_dump(mem, jsonx_own(mem, json_pack("[O]", id)));
    size_t length = text != NULL ? strlen(text) : 0;
    unsigned char *octets = talloc_size(mem, sizeof(session->id) + sizeof(session->owner) + length);
    if (text == NULL || octets == NULL)
        return AZ_SERVER_ERROR;
    memcpy(octets, session->id, sizeof(session->id));
    memcpy(octets + sizeof(session->id), session->owner, sizeof(session->owner));
    memcpy(octets + sizeof(session->id) + sizeof(session->owner), text, length);
    return sha256(octets, sizeof(session->id) + sizeof(session->owner) + length, ret);
}

/* True if a request or notification is one of a session of an older client. */
static bool
is_of_session(const struct mcp_exchange *it)
{
    return !it->version.modern && it->session.named && it->session.opens;
}

void
mcp_cancel_begin(const struct mcp_exchange *it)
{
    unsigned char key[SHA256_OCTETS];
    if (it->req->op.az->gateway->calls != NULL && is_of_session(it) && it->message.id != NULL
        && strcmp(it->message.method, "initialize") != 0
        && key_of(it, it->message.id, key) == AZ_OK)
        calls_begin(it->req->op.az->gateway->calls, key);
}

enum az_status
mcp_take_notification(struct mcp_exchange *it)
{
    const json_t *id = json_object_get(it->message.params, "requestId");
    unsigned char key[SHA256_OCTETS];
    if (is_of_session(it) && strcmp(it->message.method, "notifications/cancelled") == 0
        && (json_is_string(id) || json_is_integer(id)) && key_of(it, id, key) == AZ_OK)
        calls_cancel(it->req->op.az->gateway->calls, key);
    return respond_empty(it->req, 202);
}

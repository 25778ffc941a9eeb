#include "config.h"

#include "gateway/mcp/message/session_id.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "crypto/random.h"
#include "gateway/mcp/message/sealed_text.h"
#include "gateway/mcp/message/version.h"
#include "http/request.h"

#define PREFIX "s1."
/* Context that the box is bound to, as the box of a row is bound to its column. */
#define PLACE "mcp/session"
/* Nesting of the contents. */
#define CONTENTS_DEPTH_MAX 4

/* The client capabilities that questions of upstreams need, as bits. `part` names a part of the
 * capability, or is NULL. */
static const struct {
    unsigned bit;
    const char *name, *part;
} kept_capabilities[] = {
    {1 << 0, "elicitation", "form"},
    {1 << 1, "elicitation", "url" },
    {1 << 2, "sampling",    NULL  },
    {1 << 3, "roots",       NULL  },
};
#define CAPABILITIES (sizeof(kept_capabilities) / sizeof(kept_capabilities[0]))

/* Return the bits of capabilities. An elicitation without parts is one of forms (MCP 2025-06-18,
 * client/elicitation). */
static unsigned
bits_of(const json_t *capabilities)
{
    unsigned bits = 0;
    for (size_t i = 0; i < CAPABILITIES; i++) {
        const json_t *has = json_object_get(capabilities, kept_capabilities[i].name);
        const char *part = kept_capabilities[i].part;
        if (json_is_object(has)
            && (part == NULL || json_is_object(json_object_get(has, part))
                || (json_object_size(has) == 0 && strcmp(part, "form") == 0)))
            bits |= kept_capabilities[i].bit;
    }
    return bits;
}

/* Return the capabilities of bits, on mem, or NULL if out of memory. */
static json_t *
capabilities_of(TALLOC_CTX *mem, unsigned bits)
{
    struct jsonx_build all = {jsonx_own(mem, json_object()), false};
    for (size_t i = 0; i < CAPABILITIES; i++) {
        const char *name = kept_capabilities[i].name, *part = kept_capabilities[i].part;
        if ((bits & kept_capabilities[i].bit) == 0)
            continue;
        if (json_object_get(all.value, name) == NULL)
            jsonx_set(&all, name, json_object());
        if (part != NULL
            && json_object_set_new(json_object_get(all.value, name), part, json_object()) != 0)
            all.lost = true;
    }
    return jsonx_built(&all);
}

/* Hash the person and the client that a session is of. A person whose issuer is no provider is one
 * too, although upstreams know only the client. */
static enum az_status
hash_owner(struct op *op, const struct gateway_access *access, unsigned char ret[SHA256_OCTETS])
{
    const struct token_row *row = &access->token->lookup.row;
    json_t *parts =
        jsonx_own(op->mem, json_pack("[s?,s?,s]", row->subject, row->idp, row->client.client_id));
    const char *text = parts != NULL ? jsonx_dump(op->mem, parts) : NULL;
    return text != NULL ? sha256(text, strlen(text), ret) : AZ_SERVER_ERROR;
}

/* Decode a member of a fixed length. */
static bool
take_octets(const json_t *contents, const char *name, unsigned char *ret, size_t size)
{
    const char *text = json_string_value(json_object_get(contents, name));
    return text != NULL && b64url_decode_into(text, strlen(text), ret, size) == AZ_OK;
}

/* Take the contents of an id. AZ_INVALID: they lack a member, which a later program may leave out.
 */
static enum az_status
take_contents(struct op *op, const json_t *contents, struct mcp_session *ret)
{
    const char *version = json_string_value(json_object_get(contents, "version"));
    if (!take_octets(contents, "id", ret->key.id, sizeof(ret->key.id))
        || !take_octets(contents, "owner", ret->key.owner, sizeof(ret->key.owner))
        || version == NULL || (ret->version = mcp_known_version(version)) == NULL)
        return AZ_INVALID;
    ret->key.until = json_integer_value(json_object_get(contents, "until"));
    ret->at = json_string_value(json_object_get(contents, "at"));
    ret->capabilities = capabilities_of(
        op->mem, (unsigned) json_integer_value(json_object_get(contents, "capabilities")));
    return ret->capabilities != NULL ? AZ_OK : AZ_SERVER_ERROR;
}

enum az_status
mcp_session_read(struct request *req, struct mcp_session *ret)
{
    struct op *op = &req->op;
    const char *text = request_header(req, MCP_SESSION_VARIABLE);
    size_t length;
    unsigned char *plain = NULL;
    json_t *contents = NULL;
    *ret = (struct mcp_session){.named = text != NULL, .row = {.log_level = -1}};
    if (text == NULL)
        return AZ_OK;
    enum az_status st = mcp_open_text(op, PREFIX, PLACE, text, &plain, &length);
    if (st == AZ_OK)
        st =
            jsonx_parse(op->mem, (const char *) plain, length, CONTENTS_DEPTH_MAX, &contents, NULL);
    if (st == AZ_OK)
        st = take_contents(op, contents, ret);
    ret->opens = st == AZ_OK;
    return st == AZ_OK || st == AZ_INVALID
               ? AZ_OK
               : op_fail(op, AZ_SERVER_ERROR, NULL, "the id of a session cannot be opened");
}

static void
join_session(struct db_batch *batch, void *arg)
{
    struct mcp_session *session = arg;
    session->step = session->opens ? session_step(batch, session->key.id) : NULL;
}

static void
take_session(void *arg)
{
    struct mcp_session *session = arg;
    if (session->step != NULL)
        session_take(session->step, &session->row);
}

struct gateway_rows
mcp_session_rows(struct mcp_session *session)
{
    return (struct gateway_rows){join_session, take_session, session};
}

bool
mcp_session_stands(struct op *op, const struct mcp_session *session,
                   const struct gateway_access *access)
{
    unsigned char owner[SHA256_OCTETS];
    const char *at = session->at != NULL ? session->at : "",
               *here = access->name != NULL ? access->name : "";
    return session->opens && session->key.until > op_now(op) && !session->row.ended
           && strcmp(at, here) == 0 && hash_owner(op, access, owner) == AZ_OK
           && memcmp(owner, session->key.owner, sizeof(owner)) == 0;
}

const char *
mcp_session_make(struct op *op, const struct gateway_access *access, const json_t *capabilities,
                 const char *version)
{
    struct gateway_session key = {.until = op_now(op) + MCP_SESSION_SECONDS};
    char id[B64URL_LENGTH(GATEWAY_SESSION_OCTETS) + 1], owner[B64URL_LENGTH(SHA256_OCTETS) + 1];
    if (random_octets(key.id, sizeof(key.id)) != AZ_OK
        || hash_owner(op, access, key.owner) != AZ_OK)
        return NULL;
    b64url_encode_into(key.id, sizeof(key.id), id);
    b64url_encode_into(key.owner, sizeof(key.owner), owner);
    json_t *contents =
        jsonx_own(op->mem, json_pack("{s:s,s:s,s:s*,s:s,s:i,s:I}", "id", id, "owner", owner, "at",
                                     access->name, "version", version, "capabilities",
                                     (int) bits_of(capabilities), "until", (json_int_t) key.until));
    const char *text = contents != NULL ? jsonx_dump(op->mem, contents) : NULL;
    return text != NULL ? mcp_seal_text(op, PREFIX, PLACE, text, strlen(text)) : NULL;
}

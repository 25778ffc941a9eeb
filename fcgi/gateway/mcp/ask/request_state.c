#include "config.h"

#include "gateway/mcp/ask/request_state.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "gateway/mcp/message/sealed_text.h"

#define PREFIX "v2."
/* Context that the box is bound to, as the box of a row is bound to its column. */
#define PLACE "mcp/requestState"
/* Nesting of the contents, which include the schema of a form. */
#define STATE_DEPTH_MAX 16

enum az_status
stated_call_hash(struct op *op, const struct stated_call *call, unsigned char ret[SHA256_OCTETS])
{
    json_t *parts = jsonx_own(op->mem, json_pack("[s?,s?,s,s,s,s?,s,O?]", call->person, call->idp,
                                                 call->client_id, call->method, call->resource,
                                                 call->server, call->name, call->arguments));
    const char *text = parts != NULL ? jsonx_dump_sorted(op->mem, parts) : NULL;
    return text != NULL ? sha256(text, strlen(text), ret) : AZ_SERVER_ERROR;
}

const char *
request_state_make(struct op *op, const struct stated_call *call, const struct request_state *state)
{
    unsigned char hash[SHA256_OCTETS];
    char bound[B64URL_LENGTH(SHA256_OCTETS) + 1];
    if (stated_call_hash(op, call, hash) != AZ_OK)
        return NULL;
    b64url_encode_into(hash, sizeof(hash), bound);
    json_t *contents =
        jsonx_own(op->mem, json_pack("{s:I,s:i,s:s,s:O*,s:s*,s:s*}", "until",
                                     (json_int_t) (op_now(op) + REQUEST_STATE_SECONDS), "round",
                                     state->round, "call", bound, "questions", state->questions,
                                     "own", state->own, "upstream", state->upstream));
    const char *text = contents != NULL ? jsonx_dump(op->mem, contents) : NULL;
    return text != NULL ? mcp_seal_text(op, PREFIX, PLACE, text, strlen(text)) : NULL;
}

/* True if the contents are of this call and have not expired. */
static bool
holds(struct op *op, const json_t *contents, const struct stated_call *call)
{
    unsigned char hash[SHA256_OCTETS], wanted[SHA256_OCTETS];
    const char *bound = json_string_value(json_object_get(contents, "call"));
    return bound != NULL && stated_call_hash(op, call, wanted) == AZ_OK
           && b64url_decode_into(bound, strlen(bound), hash, sizeof(hash)) == AZ_OK
           && memcmp(hash, wanted, sizeof(hash)) == 0
           && json_integer_value(json_object_get(contents, "until")) > op_now(op);
}

enum az_status
request_state_read(struct op *op, const char *text, const struct stated_call *call,
                   struct request_state *ret)
{
    size_t length;
    unsigned char *plain = NULL;
    json_t *contents = NULL;
    *ret = (struct request_state){.round = 0};
    enum az_status st = mcp_open_text(op, PREFIX, PLACE, text, &plain, &length);
    if (st == AZ_OK)
        st = jsonx_parse(op->mem, (const char *) plain, length, STATE_DEPTH_MAX, &contents, NULL);
    if (st != AZ_OK)
        return st;
    if (!holds(op, contents, call))
        return AZ_INVALID;
    *ret = (struct request_state){
        .round = (int) json_integer_value(json_object_get(contents, "round")),
        .questions = json_object_get(contents, "questions"),
        .own = json_string_value(json_object_get(contents, "own")),
        .upstream = json_string_value(json_object_get(contents, "upstream")),
    };
    return AZ_OK;
}

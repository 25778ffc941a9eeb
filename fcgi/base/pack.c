#include "config.h"

#include "base/pack.h"

#include <string.h>
#include <stdint.h>
#include <zlib.h>

/* Raw deflate with a window of 4 KiB: documents are small, and a kept stream then costs 32 KiB
 * instead of 256. */
#define WINDOW_BITS (-12)
#define MEMORY_LEVEL 5
#define LEVEL 1

/* Likely texts, the most frequent at the end (deflate finds near matches cheaper). Number = index
 * + 1. */
static const char *const dictionaries[] = {
    "\"authorization_details\":[],\"claims\":{},\"extensions\":{},\"expires_in_override\":"
    "\"resource_types\":[],\"resource\":"
    "{\"indicator\":\"https://\",\"types\":[\"urn:\"software_id\":\"statement\":{\"iss\":\"https://"
    "\"verified\":true,\"claims\":{"
    "\"dpop\":{\"present\":false,\"valid\":false,\"required\":false}\"subject\":{\"type\":\"user\","
    "\"id\":\"iss\":\"idp\":\"acr\":"
    "\"amr\":[\"pwd\"],\"auth_time\":17\"email\":\"groups\":[\"grant_type\":\"authorization_"
    "code\"refresh_token\""
    "urn:ietf:params:oauth:grant-type:token-exchange\"registration\":"
    "\"DCR\"CIMD\"STATEMENT\"type\":\"public\"auth_method\":\"none\""
    "\"client_secret_post\"{\"code\":\"scope_not_entitled\",\"category\":\"scope\",\"control\":"
    "\"entitlements\",\"message\":\""
    "{\"code\":\"grant_not_entitled\",\"category\":\"grant\",\"control\":\"entitlements\","
    "\"message\":\"The client is not entitled to "
    "\"detail\":{\"scope\":\"}}]\"evaluation\":\"introspect\",\"baseline\":{\"issued\":{\"caller\":"
    "{\"client_id\":\"context\":{"
    "\"jit_single_use\":true,\"obligations\":{\"deny_reasons\":[],\"matched_segments\":[\"binding:"
    "clients/\"],\"allow\":false,"
    "{\"allow\":true,\"authorization_details\":[],\"claims\":{},\"deny_reasons\":[],\"extensions\":"
    "{},\"jit_single_use\":false,"
    "\"matched_segments\":[\"binding:clients/"
    "\"],\"obligations\":{},\"resource_types\":[],\"scopes\":[\"\"],\"revision\":\"r1-\","
    "\"engine\":\"opa\",\"engine_us\":"
    "{\"schema\":1,\"evaluation\":\"issue\",\"issuer\":\"https://"
    "localhost:8080\",\"request\":{\"id\":\"019\",\"endpoint\":\"/token\","
    "\"grant_type\":\"client_credentials\",\"token_type\":\"access_token\",\"default_ttl\":3600,"
    "\"now\":17,\"time\":\"2026-"
    "T00:00:00Z\"},\"client\":{\"id\":\"demo\",\"type\":\"confidential\",\"registration\":"
    "\"ADMIN\",\"auth_method\":"
    "\"client_secret_basic\",\"enabled\":true},\"subject\":{\"type\":\"client\",\"id\":\"demo\"},"
    "\"scopes\":{\"requested\":[\"\"],"
    "\"default\":[]},\"environment\":{\"ip\":\"127.0.0.1\",\"user_agent\":\"curl/"
    "7.88.1\",\"tls\":false},\"baseline\":null}",
};
#define DICTIONARIES (sizeof(dictionaries) / sizeof(dictionaries[0]))

/* Opening a stream costs six times the packing itself, so each process keeps one of each (they hold
 * no request's data). */
static z_stream *
deflater(void)
{
    static z_stream stream;
    static int ready;
    if (!ready)
        ready =
            deflateInit2(&stream, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL, Z_DEFAULT_STRATEGY)
            == Z_OK;
    return ready && deflateReset(&stream) == Z_OK ? &stream : NULL;
}

static z_stream *
inflater(void)
{
    static z_stream stream;
    static int ready;
    if (!ready)
        ready = inflateInit2(&stream, WINDOW_BITS) == Z_OK;
    return ready && inflateReset(&stream) == Z_OK ? &stream : NULL;
}

enum az_status
pack_text(TALLOC_CTX *mem, const char *text, size_t length, unsigned char **ret, size_t *ret_length)
{
    z_stream *stream = length <= PACK_TEXT_MAX ? deflater() : NULL;
    const char *dictionary = dictionaries[DICTIONARIES - 1];
    if (stream == NULL
        || deflateSetDictionary(stream, (const Bytef *) dictionary, (uInt) strlen(dictionary))
               != Z_OK)
        return AZ_SERVER_ERROR;
    size_t bound = deflateBound(stream, length) + 1;
    unsigned char *packed = talloc_array(mem, unsigned char, (unsigned) bound);
    if (packed == NULL)
        return AZ_SERVER_ERROR;
    packed[0] = (unsigned char) DICTIONARIES;
    stream->next_in = (Bytef *) (uintptr_t) text;
    stream->avail_in = (uInt) length;
    stream->next_out = packed + 1;
    stream->avail_out = (uInt) (bound - 1);
    if (deflate(stream, Z_FINISH) != Z_STREAM_END) {
        talloc_free(packed);
        return AZ_SERVER_ERROR;
    }
    *ret_length = bound - stream->avail_out;
    *ret = packed;
    return AZ_OK;
}

enum az_status
unpack_text(TALLOC_CTX *mem, const unsigned char *packed, size_t length, char **ret,
            size_t *ret_length)
{
    if (length < 2 || packed[0] == 0 || packed[0] > DICTIONARIES)
        return AZ_INVALID;
    const char *dictionary = dictionaries[packed[0] - 1];
    z_stream *stream = inflater();
    if (stream == NULL
        || inflateSetDictionary(stream, (const Bytef *) dictionary, (uInt) strlen(dictionary))
               != Z_OK)
        return AZ_SERVER_ERROR;
    size_t size = length * 16 < 4096 ? 4096 : length * 16, used = 0;
    char *text = NULL;
    int outcome = Z_OK;
    stream->next_in = (Bytef *) (uintptr_t) (packed + 1);
    stream->avail_in = (uInt) (length - 1);
    while (outcome == Z_OK && used < PACK_TEXT_MAX) {
        size = size < PACK_TEXT_MAX ? size : PACK_TEXT_MAX;
        char *grown = talloc_realloc(mem, text, char, (unsigned) size + 1);
        if (grown == NULL)
            break;
        text = grown;
        stream->next_out = (Bytef *) text + used;
        stream->avail_out = (uInt) (size - used);
        outcome = inflate(stream, Z_NO_FLUSH);
        used = size - stream->avail_out;
        size *= 4;
    }
    if (outcome != Z_STREAM_END || stream->avail_in != 0) {
        talloc_free(text);
        return AZ_INVALID;
    }
    text[used] = '\0';
    *ret = text;
    *ret_length = used;
    return AZ_OK;
}

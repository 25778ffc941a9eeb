#include "config.h"

#include "gateway/mcp/message/version.h"

#include <string.h>

#include "base/b64url.h"
#include "base/json/jsonx.h"
#include "base/json/schema/schema_value.h"
#include "base/words.h"

#define BASE64_BEGIN "=?base64?"
#define BASE64_END "?="

static const char *const legacy_versions[] = {MCP_LEGACY_NEWEST, "2025-06-18", MCP_LEGACY_OLDEST,
                                              NULL};

/* The methods whose Mcp-Name repeats a member of params. */
static const struct {
    const char *method, *member;
} named_methods[] = {
    {"tools/call",     "name"},
    {"prompts/get",    "name"},
    {"resources/read", "uri" },
};

const char *
mcp_named_member(const char *method)
{
    for (size_t i = 0; i < sizeof(named_methods) / sizeof(named_methods[0]); i++)
        if (strcmp(method, named_methods[i].method) == 0)
            return named_methods[i].member;
    return NULL;
}

static enum az_status
refuse_message(struct json_rpc_fault *ret, int code, const char *message, json_t *data)
{
    *ret = (struct json_rpc_fault){.http = 400, .code = code, .message = message, .data = data};
    return AZ_INVALID;
}

static const char *
find_legacy(const char *name)
{
    for (size_t i = 0; legacy_versions[i] != NULL; i++)
        if (strcmp(legacy_versions[i], name) == 0)
            return legacy_versions[i];
    return NULL;
}

/* The names are dates. */
bool
mcp_is_before(const struct mcp_version *version, const char *name)
{
    return strcmp(version->name, name) < 0;
}

const char *
mcp_known_version(const char *name)
{
    return strcmp(name, MCP_MODERN) == 0 ? MCP_MODERN : find_legacy(name);
}

const char *
mcp_legacy_version(const char *asked)
{
    const char *known = asked != NULL ? find_legacy(asked) : NULL;
    return known != NULL ? known : MCP_LEGACY_NEWEST;
}

const char *
mcp_header_text(TALLOC_CTX *mem, const char *value)
{
    size_t begin = strlen(BASE64_BEGIN), end = strlen(BASE64_END), len = strlen(value), octets;
    unsigned char *text = NULL;
    if (len < begin + end || strncmp(value, BASE64_BEGIN, begin) != 0
        || strcmp(value + len - end, BASE64_END) != 0)
        return value;
    if ((len - begin - end) % 4 != 0
        || b64_decode_lenient(mem, value + begin, len - begin - end, &text, &octets) != AZ_OK
        || memchr(text, '\0', octets) != NULL)
        return NULL;
    return (const char *) text;
}

/* True if a header carries a text unchanged: it is printable ASCII without spaces at its ends, and
 * it does not have the form of a base64 value. */
static bool
fits_header(const char *text)
{
    size_t len = strlen(text);
    if (len == 0 || text[0] == ' ' || text[len - 1] == ' '
        || strncmp(text, BASE64_BEGIN, strlen(BASE64_BEGIN)) == 0)
        return false;
    for (size_t i = 0; i < len; i++)
        if (text[i] < ' ' || text[i] > '~')
            return false;
    return true;
}

const char *
mcp_header_value(TALLOC_CTX *mem, const char *text)
{
    if (fits_header(text))
        return text;
    char *base64 = b64_encode(mem, text, strlen(text));
    return base64 != NULL ? talloc_asprintf(mem, BASE64_BEGIN "%s" BASE64_END, base64) : NULL;
}

json_t *
mcp_versions(void)
{
    json_t *versions = json_pack("[s]", MCP_MODERN);
    struct jsonx_build build = {versions, versions == NULL};
    for (size_t i = 0; legacy_versions[i] != NULL; i++)
        jsonx_append(&build, json_string(legacy_versions[i]));
    if (build.lost)
        json_decref(versions);
    return build.lost ? NULL : versions;
}

static enum az_status
refuse_version(TALLOC_CTX *mem, const char *asked, struct json_rpc_fault *ret)
{
    json_t *data =
        jsonx_own(mem, json_pack("{s:o,s:s}", "supported", mcp_versions(), "requested", asked));
    return data != NULL ? refuse_message(ret, RPC_UNSUPPORTED_VERSION,
                                         "The protocol version is not supported", data)
                        : AZ_SERVER_ERROR;
}

/* Compare Mcp-Name with the member that it repeats: a proxy may have decided by the header. */
static enum az_status
mcp_check_name(TALLOC_CTX *mem, const struct json_rpc *message, const struct mcp_headers *headers,
               struct json_rpc_fault *ret_fault)
{
    const char *member = mcp_named_member(message->method), *text, *name;
    if (member == NULL)
        return AZ_OK;
    text = headers->name != NULL ? mcp_header_text(mem, headers->name) : NULL;
    name = json_string_value(json_object_get(message->params, member));
    return text != NULL && name != NULL && strcmp(text, name) == 0
               ? AZ_OK
               : refuse_message(ret_fault, RPC_HEADER_MISMATCH,
                                "The header Mcp-Name is missing or differs from the body", NULL);
}

static enum az_status
check_modern(TALLOC_CTX *mem, const struct json_rpc *message, const struct mcp_headers *headers,
             const json_t *meta, struct json_rpc_fault *ret_fault)
{
    const char *claim = json_string_value(json_object_get(meta, MCP_META_VERSION));
    if (headers->version == NULL || strcmp(headers->version, claim) != 0)
        return refuse_message(ret_fault, RPC_HEADER_MISMATCH,
                              "The header MCP-Protocol-Version is missing or differs from the body",
                              NULL);
    if (strcmp(claim, MCP_MODERN) != 0)
        return refuse_version(mem, claim, ret_fault);
    if (headers->method == NULL || strcmp(headers->method, message->method) != 0)
        return refuse_message(ret_fault, RPC_HEADER_MISMATCH,
                              "The header Mcp-Method is missing or differs from the body", NULL);
    if (!json_is_object(json_object_get(meta, MCP_META_CAPABILITIES)))
        return refuse_message(ret_fault, RPC_INVALID_PARAMS,
                              "params._meta has no " MCP_META_CAPABILITIES, NULL);
    return mcp_check_name(mem, message, headers, ret_fault);
}

/* Check a request or notification without a version in its body. `initialize` opens a conversation,
 * so its version is the one it asks for. */
static enum az_status
check_legacy(TALLOC_CTX *mem, const struct json_rpc *message, const char *version,
             struct json_rpc_fault *ret_fault)
{
    if (version == NULL || words_has(legacy_versions, version)
        || strcmp(message->method, "initialize") == 0)
        return AZ_OK;
    if (strcmp(version, MCP_MODERN) != 0)
        return refuse_version(mem, version, ret_fault);
    if (message->kind == JSON_RPC_NOTIFICATION)
        return AZ_OK;
    return refuse_message(ret_fault, RPC_INVALID_PARAMS, "params._meta has no " MCP_META_VERSION,
                          NULL);
}

bool
mcp_has_capabilities(const json_t *has, const json_t *needed)
{
    const char *name;
    const json_t *inner;
    json_object_foreach (schema_plain(needed), name, inner)
        if (json_object_get(has, name) == NULL
            || !mcp_has_capabilities(json_object_get(has, name), inner))
            return false;
    return true;
}

static bool
can_open_urls(const json_t *capabilities)
{
    return json_is_object(json_object_get(json_object_get(capabilities, "elicitation"), "url"));
}

enum az_status
mcp_version_find(TALLOC_CTX *mem, const struct json_rpc *message, const struct mcp_headers *headers,
                 struct mcp_version *ret, struct json_rpc_fault *ret_fault)
{
    const json_t *meta = json_object_get(message->params, "_meta");
    const json_t *claim = json_object_get(meta, MCP_META_VERSION);
    enum az_status st;
    if (claim != NULL && !json_is_string(claim))
        return refuse_message(ret_fault, RPC_INVALID_PARAMS, MCP_META_VERSION " is not a text",
                              NULL);
    st = claim != NULL ? check_modern(mem, message, headers, meta, ret_fault)
                       : check_legacy(mem, message, headers->version, ret_fault);
    if (st != AZ_OK)
        return st;
    const json_t *capabilities =
        claim != NULL ? json_object_get(meta, MCP_META_CAPABILITIES) : NULL;
    *ret = (struct mcp_version){
        .modern = claim != NULL,
        .name = claim != NULL              ? MCP_MODERN
                : headers->version != NULL ? headers->version
                                           : MCP_LEGACY_OLDEST,
        .capabilities = capabilities,
        .opens_urls = can_open_urls(capabilities),
    };
    return AZ_OK;
}

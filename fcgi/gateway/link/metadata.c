#include "config.h"

#include "gateway/link/metadata.h"

#include <string.h>

#include "base/settings/settings.h"
#include "base/uri.h"
#include "gateway/upstream/challenge.h"
#include "gateway/upstream/fetch_failed.h"
#include "http/fetch/documents.h"
#include "managed/managed.h"

#define AUTHORIZATION_SERVER "oauth-authorization-server"
#define OPENID_CONFIGURATION "openid-configuration"
#define PROTECTED_RESOURCE "oauth-protected-resource"

/* Longest answer to a request without a credential, in octets; it is not read. */
#define TRIAL_MAX 65536
/* A request that every MCP server answers, or refuses with its challenge. */
#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

/* The well-known addresses of an authorization server's metadata, in the order in which MCP clients
 * ask. */
static const struct place {
    const char *name;
    enum link_well_known where;
} server_places[] = {
    {AUTHORIZATION_SERVER, LINK_INSERTED},
    {OPENID_CONFIGURATION, LINK_INSERTED},
    {OPENID_CONFIGURATION, LINK_APPENDED},
};
#define SERVER_PLACES (sizeof(server_places) / sizeof(server_places[0]))

/* ---- addresses */

/* Parse an http or https address without query and fragment. */
static bool
parse_web(TALLOC_CTX *mem, const char *address, struct uri *ret)
{
    return uri_parse(mem, address, ret) == AZ_OK && ret->host != NULL && ret->userinfo == NULL
           && ret->query == NULL && ret->fragment == NULL
           && (strcmp(ret->scheme, "https") == 0 || strcmp(ret->scheme, "http") == 0);
}

/* Return the length of a path without the slash at its end. */
static int
path_length(const char *path)
{
    size_t length = strlen(path);
    return (int) (length > 0 && path[length - 1] == '/' ? length - 1 : length);
}

const char *
link_well_known_url(TALLOC_CTX *mem, const char *address, const char *name,
                    enum link_well_known where)
{
    struct uri uri;
    const char *origin = parse_web(mem, address, &uri) ? uri_origin(mem, &uri) : NULL;
    if (origin == NULL)
        return NULL;
    int length = path_length(uri.path);
    return where == LINK_INSERTED
               ? talloc_asprintf(mem, "%s/.well-known/%s%.*s", origin, name, length, uri.path)
               : talloc_asprintf(mem, "%s%.*s/.well-known/%s", origin, length, uri.path, name);
}

bool
link_resource_covers(TALLOC_CTX *mem, const char *identifier, const char *address)
{
    struct uri above, below;
    if (!parse_web(mem, identifier, &above) || uri_parse(mem, address, &below) != AZ_OK
        || below.host == NULL)
        return false;
    const char *origin = uri_origin(mem, &above), *other = uri_origin(mem, &below);
    size_t length = (size_t) path_length(above.path);
    return origin != NULL && other != NULL && strcmp(origin, other) == 0
           && strncmp(above.path, below.path, length) == 0
           && (below.path[length] == '\0' || below.path[length] == '/');
}

/* Return the length of an issuer without the lone slash of an empty path. */
static size_t
issuer_length(const char *issuer)
{
    const char *authority = strstr(issuer, "://");
    const char *path = authority != NULL ? strchr(authority + 3, '/') : NULL;
    return path != NULL && path[1] == '\0' ? (size_t) (path - issuer) : strlen(issuer);
}

bool
link_issuer_is_same(const char *one, const char *other)
{
    size_t length = issuer_length(one);
    return length == issuer_length(other) && strncmp(one, other, length) == 0;
}

/* ---- documents */

/* Check that a document comes from one of the well-known addresses of the identifier that it names:
 * otherwise one host could speak for another (RFC 8414 3.3, RFC 9728 3.3). */
static enum az_status
check_place(struct op *op, const char *url, const char *address, const struct place *places,
            size_t count)
{
    for (size_t i = 0; address != NULL && i < count; i++) {
        const char *right = link_well_known_url(op->mem, address, places[i].name, places[i].where);
        if (right != NULL && strcmp(right, url) == 0)
            return AZ_OK;
    }
    return op_fail(op, AZ_UNAVAILABLE, NULL, "metadata %.200s: it is that of another address", url);
}

static enum az_status
check_server(struct op *op, const char *url, const json_t *document)
{
    return check_place(op, url, json_string_value(json_object_get(document, "issuer")),
                       server_places, SERVER_PLACES);
}

static enum az_status
check_resource(struct op *op, const char *url, const json_t *document)
{
    static const struct place place = {PROTECTED_RESOURCE, LINK_INSERTED};
    return check_place(op, url, json_string_value(json_object_get(document, "resource")), &place,
                       1);
}

/* Get a document; NULL: this address has no document, and the next address may be tried. */
static enum az_status
get_if_there(struct op *op, const char *url, int64_t not_before, document_check_fn *check,
             const json_t **ret)
{
    struct document document;
    enum fetch_fault fault = FETCH_OK;
    *ret = NULL;
    if (url == NULL)
        return AZ_OK;
    enum az_status st =
        document_get(op, DOCUMENT_UPSTREAM, url, not_before, check, &document, &fault);
    if (st == AZ_OK)
        *ret = document.json;
    if (st != AZ_UNAVAILABLE)
        return st;
    if (fault != FETCH_OK && fault != FETCH_FAULT_HTTP)
        return upstream_fetch_failed(op, st, fault);
    az_fault_clear(&op->fault);
    return AZ_OK;
}

enum az_status
link_metadata_get(struct op *op, const char *issuer, const json_t **ret)
{
    enum az_status st = AZ_OK;
    *ret = NULL;
    for (size_t i = 0; st == AZ_OK && *ret == NULL && i < SERVER_PLACES; i++)
        st = get_if_there(
            op, link_well_known_url(op->mem, issuer, server_places[i].name, server_places[i].where),
            0, check_server, ret);
    if (st == AZ_OK && *ret == NULL)
        return op_fail(op, AZ_UPSTREAM_UNREACHABLE, NULL,
                       "authorization server %.200s has no metadata", issuer);
    /* Two issuers, with and without a slash behind a path, may have the same well-known address. */
    if (st == AZ_OK
        && !link_issuer_is_same(json_string_value(json_object_get(*ret, "issuer")), issuer))
        return op_fail(op, AZ_UPSTREAM_INVALID, NULL,
                       "authorization server %.200s: its metadata names another issuer", issuer);
    return st;
}

/* The upstream itself named the address, so the document may be anywhere; its resource must cover
 * the upstream (below). */
static enum az_status
check_named_resource(struct op *op, const char *url, const json_t *document)
{
    return json_is_string(json_object_get(document, "resource"))
               ? AZ_OK
               : op_fail(op, AZ_UNAVAILABLE, NULL, "metadata %.200s: it names no resource", url);
}

enum az_status
link_challenge_get(struct op *op, const struct managed_resource *resource, const char **ret)
{
    const struct fetch_request request = {
        .hosts = FETCH_GATEWAY,
        .url = resource->upstream_url,
        .json = resource->upstream == MANAGED_MCP ? PING : NULL,
        .max_octets = TRIAL_MAX,
        .timeout = op->az->cfg->safe_http_timeout,
    };
    struct fetch_answer answer;
    *ret = NULL;
    enum az_status st = fetch(op, &request, &answer);
    if (st == AZ_OK && answer.status == 401 && *answer.challenge != '\0')
        *ret = answer.challenge;
    if (st == AZ_OK || st == AZ_SERVER_ERROR || answer.fault == FETCH_FAULT_SIZE) {
        az_fault_clear(&op->fault);
        return AZ_OK;
    }
    return upstream_fetch_failed(op, st, answer.fault);
}

/* Get the document that the upstream's challenge names (RFC 9728 5.1), or NULL. */
static enum az_status
get_challenged(struct op *op, const struct managed_resource *resource, int64_t not_before,
               const json_t **ret)
{
    const char *challenge;
    enum az_status st = link_challenge_get(op, resource, &challenge);
    if (st != AZ_OK || challenge == NULL)
        return st;
    const char *url = upstream_challenge_param(op->mem, challenge, "resource_metadata");
    return url != NULL && fetch_url_fault(op, FETCH_GATEWAY, url, NULL) == FETCH_OK
               ? get_if_there(op, url, not_before, check_named_resource, ret)
               : AZ_OK;
}

enum az_status
link_resource_metadata_get(struct op *op, const struct managed_resource *resource,
                           int64_t not_before, const json_t **ret)
{
    struct uri uri;
    const char *origin = uri_parse(op->mem, resource->upstream_url, &uri) == AZ_OK
                             ? uri_origin(op->mem, &uri)
                             : NULL;
    const char *bare = origin != NULL ? talloc_asprintf(op->mem, "%s%s", origin, uri.path) : NULL;
    if (bare == NULL)
        return op_no_memory(op);
    enum az_status st =
        get_if_there(op, link_well_known_url(op->mem, bare, PROTECTED_RESOURCE, LINK_INSERTED),
                     not_before, check_resource, ret);
    if (st == AZ_OK && *ret == NULL)
        st = get_if_there(op,
                          link_well_known_url(op->mem, origin, PROTECTED_RESOURCE, LINK_INSERTED),
                          not_before, check_resource, ret);
    if (st == AZ_OK && *ret == NULL)
        st = get_challenged(op, resource, not_before, ret);
    if (st == AZ_OK
        && (*ret == NULL
            || !link_resource_covers(op->mem, json_string_value(json_object_get(*ret, "resource")),
                                     bare)))
        return op_fail(op, AZ_UPSTREAM_UNREACHABLE, NULL,
                       "upstream %.200s has no protected-resource metadata", bare);
    return st;
}

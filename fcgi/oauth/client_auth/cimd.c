#include "config.h"

#include "oauth/client_auth/cimd.h"

#include <stdint.h>
#include <string.h>

#include "base/json/jsonx.h"
#include "base/settings/settings.h"
#include "base/uri.h"
#include "http/fetch/documents.h"
#include "oauth/client_auth/cimd_document.h"
#include "policy/decide/default_scopes.h"
#include "store/clients/client_room.h"
#include "store/clients/clients_cimd.h"
#include "store/db/rows/audit.h"

/* Longest description of a changed document in the audit row, in octets. If it is longer, only
 * the number of redirect URIs is written: the author of the document chooses their length, and
 * this service pays for it. */
#define SUMMARY_MAX 4096

static bool
begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

bool
cimd_is_address(const struct op *op, const char *client_id)
{
    return begins_with(client_id, "https://")
           || (op->az->cfg->cimd_allow_insecure && begins_with(client_id, "http://"));
}

/*
 * Return the fault of an address as a text for users, or NULL: path other than "/", no fragment,
 * userinfo, dot segment (also %2e), at most 256 characters (ClientDto.clientId).
 */
static const char *
cimd_address_fault(struct op *op, const char *client_id)
{
    const struct settings *cfg = op->az->cfg;
    return cimd_document_address_fault(client_id,
                                       cfg->cimd_allow_insecure ? cfg->cimd_insecure_hosts : NULL);
}

/* ---- the row ---- */

/* True for a row that the administrator made, or one of a metadata document that the
 * administrator made confidential. */
static bool
stands_for_itself(const struct client *row)
{
    return strcmp(row->registration, "CIMD") != 0 || !client_is_public(row);
}

static enum az_status
refuse_disabled(struct op *op, const char *client_id)
{
    return op_fail(op, AZ_INVALID_CLIENT, "The client is disabled", "client %s is disabled",
                   client_id);
}

/* Read the row instead of the cached one: the code is issued for its id and version, and the row
 * of a client that was idle for long may be gone. */
static enum az_status
cimd_find_row(struct op *op, const char *client_id, struct client **ret)
{
    struct client *row = NULL;
    enum az_status st = client_fetch(op, client_id, true, &row);
    if (st == AZ_OK && row != NULL && !row->enabled)
        return refuse_disabled(op, client_id);
    if (st == AZ_OK)
        *ret = row;
    return st;
}

/* ---- the document ---- */

static enum az_status
read_document(struct op *op, const char *url, const json_t *document, struct client *ret)
{
    const char *why = NULL;
    enum az_status st =
        cimd_document_read(op->mem, url, document, op->az->cfg->max_redirect_uris, &why, ret);
    if (st == AZ_OK)
        return AZ_OK;
    if (st != AZ_INVALID)
        return op_no_memory(op);
    const char *text = talloc_asprintf(op->mem, "The client's metadata document: %s", why);
    return op_fail(op, AZ_INVALID_CLIENT, text, "metadata document %s: %s", url, why);
}

/* Refuse an address of a private scheme without a dot that the row does not list. */
static enum az_status
check_schemes(struct op *op, const char *url, const json_t *document)
{
    const json_t *uris = json_object_get(document, "redirect_uris");
    json_t *allowed;
    enum az_status st = dotless_schemes_fetch(op, uris, &allowed);
    size_t refused = st == AZ_OK ? dotless_refused(allowed, uris) : SIZE_MAX;
    if (refused == SIZE_MAX)
        return st;
    const char *text = talloc_asprintf(
        op->mem, "The client's metadata document: redirect_uris[%zu] " URI_SCHEME_FAULT, refused);
    return op_fail(op, AZ_INVALID_CLIENT, text, "metadata document %s: redirect_uris[%zu]", url,
                   refused);
}

static enum az_status
check_document(struct op *op, const char *url, const json_t *document)
{
    struct client ignored = {.id = 0};
    return read_document(op, url, document, &ignored);
}

/* Return a text for users. Hosts that do not exist, refuse, or have private addresses get the
 * same text: the page must not reveal the network behind this service. */
static const char *
unavailable_text(enum fetch_fault fault)
{
    switch (fault) {
    case FETCH_FAULT_TIMEOUT:
        return "The client's metadata document took too long";
    case FETCH_FAULT_SIZE:
        return "The client's metadata document is too large";
    case FETCH_FAULT_HTTP:
        return "The client's address does not answer with a JSON document";
    case FETCH_FAULT_URL:
    case FETCH_FAULT_ADDRESS:
    case FETCH_FAULT_CONNECT:
    case FETCH_FAULT_TLS:
        return "The host of the client's metadata document cannot be reached safely";
    default:
        return "The client's metadata document cannot be fetched now";
    }
}

/* Get the document. A fault of the client's host is a page with 400 (oauth.md 3.2, order 1); faults
 * of this service are 503. */
static enum az_status
get_document(struct op *op, const char *url, int64_t not_before, struct document *ret)
{
    enum fetch_fault why = FETCH_OK;
    enum az_status st =
        document_get(op, DOCUMENT_CLIENT_METADATA, url, not_before, check_document, ret, &why);
    if (st != AZ_UNAVAILABLE)
        return st;
    return az_fail_as(&op->fault, fetch_fault_of_host(why) ? AZ_INVALID_CLIENT : AZ_UNAVAILABLE,
                      unavailable_text(why));
}

/* Return the changes as JSON text. */
static const char *
change_summary(struct op *op, const struct document *document)
{
    const json_t *uris = json_object_get(document->json, "redirect_uris");
    json_t *summary =
        jsonx_own(op->mem, json_pack("{s:s, s:O}", "document", "changed", "redirect_uris", uris));
    const char *text = summary != NULL ? jsonx_dump(op->mem, summary) : NULL;
    if (text == NULL || strlen(text) <= SUMMARY_MAX)
        return text;
    return talloc_asprintf(op->mem, "{\"document\":\"changed\",\"redirect_uris\":%zu}",
                           json_array_size(uris));
}

/*
 * Accept the new document, and write an audit row (oauth.md 3.2): an attacker who controls the host
 * could have codes sent elsewhere, so the administrator must be able to see since when.
 */
static enum az_status
audit_change(struct op *op, const char *url, const char *method, const char *endpoint,
             const struct document *document)
{
    const struct audit_entry entry = {
        .request_id = op->request_id != NULL ? op->request_id : "-",
        .client_id = url,
        .endpoint = endpoint,
        .operation = "clientMetadataChanged",
        .method = method,
        .http_status = 200,
        .outcome = "allowed",
        .summary = change_summary(op, document),
    };
    if (entry.summary == NULL)
        return op_no_memory(op);
    return audit_insert(op, &entry);
}

enum az_status
cimd_resolve(struct op *op, const char *client_id, struct client **ret)
{
    struct client *row = NULL;
    struct document document;
    enum az_status st = cimd_find_row(op, client_id, &row);
    if (st != AZ_OK)
        return st;
    if (row != NULL && stands_for_itself(row)) {
        *ret = row;
        return AZ_OK;
    }
    const char *why = cimd_address_fault(op, client_id);
    if (why != NULL)
        return op_fail(op, AZ_INVALID_CLIENT, talloc_asprintf(op->mem, "client_id %s", why),
                       "client_id %s %s", client_id, why);
    struct client *client = talloc_zero(op->mem, struct client);
    if (client == NULL)
        return op_no_memory(op);
    if ((st = get_document(op, client_id, 0, &document)) != AZ_OK
        || (st = read_document(op, client_id, document.json, client)) != AZ_OK
        || (st = check_schemes(op, client_id, document.json)) != AZ_OK)
        return st;
    if (document.changed
        && (st = audit_change(op, client_id, "GET", "/authorize", &document)) != AZ_OK)
        return st;
    client->id = row != NULL ? row->id : 0;
    client->version = row != NULL ? row->version : 0;
    client->client_id = client_id;
    client->type = "public";
    client->registration = "CIMD";
    client->enabled = true;
    *ret = client;
    return AZ_OK;
}

enum az_status
cimd_keys(struct op *op, const char *client_id, int64_t not_before, const char *endpoint,
          const json_t **ret_jwks, const char **ret_uri)
{
    struct document document;
    enum az_status st = get_document(op, client_id, not_before, &document);
    if (st == AZ_OK && document.changed)
        st = audit_change(op, client_id, "POST", endpoint, &document);
    if (st != AZ_OK)
        return st;
    *ret_jwks = json_object_get(document.json, "jwks");
    *ret_uri = json_string_value(json_object_get(document.json, "jwks_uri"));
    return AZ_OK;
}

/* ---- keeping it ---- */

static bool
same_text(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool
same_list(const char *const *a, const char *const *b)
{
    if (a == NULL || b == NULL)
        return a == b;
    while (*a != NULL && *b != NULL && strcmp(*a, *b) == 0)
        a++, b++;
    return *a == *b;
}

/* True if the cached row equals the document, so that there is nothing to write. If the row has
 * changed meanwhile, the code is issued for an old version. */
static bool
is_kept(struct op *op, const struct client *client)
{
    struct client *row;
    return client->id != 0 && client_is_cached(op, client->client_id)
           && client_fetch(op, client->client_id, false, &row) == AZ_OK && row->id == client->id
           && row->version == client->version && same_text(row->name, client->name)
           && same_text(row->uri, client->uri) && same_text(row->logo, client->logo)
           && same_text(row->scope, client->scope)
           && same_text(row->auth_method, client->auth_method)
           && same_text(row->id_token_alg, client->id_token_alg)
           && same_list(row->redirect_uris, client->redirect_uris)
           && same_list(row->grant_types, client->grant_types);
}

enum az_status
cimd_store(struct op *op, struct client *client)
{
    struct client_cimd_row row;
    if (stands_for_itself(client) || is_kept(op, client))
        return AZ_OK;
    enum az_status st = client_cimd_put(op, client, &row);
    if (st != AZ_OK)
        return st;
    client_forget(op, client->client_id);
    if (row.taken)
        return op_fail(
            op, AZ_INVALID_CLIENT, "This client_id is already in use",
            "client_id %s is the name of a subject, or of a resource with JWT access tokens",
            client->client_id);
    if (row.id == 0 && row.full)
        return op_fail(op, AZ_UNAVAILABLE, CLIENT_ROOM_FULL,
                       "no row for client %s: there are SVC_DYNAMIC_CLIENTS_MAX clients with a "
                       "metadata document, and each had a token or is younger than an hour",
                       client->client_id);
    if (row.id == 0)
        return op_fail(op, AZ_UNAVAILABLE, NULL,
                       "the row of client %s is created and deleted repeatedly", client->client_id);
    if (!row.ours)
        return op_fail(op, AZ_INVALID_CLIENT,
                       "The client was changed during the request; try again",
                       "client %s is registered by the administrator now", client->client_id);
    if (!row.enabled)
        return refuse_disabled(op, client->client_id);
    client->id = row.id;
    client->version = row.version;
    return AZ_OK;
}
